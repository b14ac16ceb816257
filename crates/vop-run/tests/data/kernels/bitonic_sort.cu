// A bitonic sort in shared memory: a barrier in each turn of two loops, and half of the threads idle in each.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 -lineinfo # sm_90
// clang --cuda-gpu-arch=sm_75 -O1 # clang
// launch bitonic_sort grid=3 block=256
// buffer data s32 @lcg 768 seed 111
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void bitonic_sort(int *data) {
    __shared__ int values[256];
    int i = threadIdx.x;
    values[i] = data[blockIdx.x * 256 + i];
    for (int size = 2; size <= 256; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int j = i ^ step;
            if (j > i) {
                int a = values[i], b = values[j];
                if ((a > b) == ((i & size) == 0)) {
                    values[i] = b;
                    values[j] = a;
                }
            }
        }
    __syncthreads();
    data[blockIdx.x * 256 + i] = values[i];
}
#else
void bitonic_sort(int *data) {
    for (int block = 0; block < 3; block++)
        std::sort(data + 256 * block, data + 256 * block + 256);
}
#endif
ONCE(bitonic_sort)
