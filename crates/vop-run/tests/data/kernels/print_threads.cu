// printf by many threads in divergent code; the order among threads is left open.
//
// nvcc -arch=sm_75 -lineinfo
// clang --cuda-gpu-arch=sm_75 -O0 # clang-O0
// launch print_threads grid=2,2 block=5,2
// buffer in s32 @lcg 40 seed 6 range 0 99
// printed in any order
#include "kernel.h"
#ifdef HOST
using std::printf;
#endif

extern "C" __global__ void print_threads(const int *in) {
    int block = blockIdx.y * gridDim.x + blockIdx.x, thread = threadIdx.y * blockDim.x + threadIdx.x;
    int value = in[block * 10 + thread];
    if (value % 3 == 0)
        printf("block (%u, %u) thread (%u, %u): %d is a multiple of 3\n", blockIdx.x, blockIdx.y, threadIdx.x, threadIdx.y, value);
    else
        for (int i = 0; i < value % 3; i++)
            printf("block %d thread %d: %d, turn %d\n", block, thread, value, i);
}
EACH_THREAD(print_threads)
