// Dynamic shared memory, whose size the launch gives, divided by hand into two arrays of different types, beside a static array.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 -lineinfo # lineinfo
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// clang-22 --cuda-gpu-arch=sm_90 -O2 # clang-22
// launch dynamic_shared grid=3 block=64 shared=768
// buffer in s32 @lcg 192 seed 5
// buffer out s64 *192
// buffer sums s32 *3
#include "kernel.h"

#ifndef HOST
extern __shared__ long long memory[];

extern "C" __global__ void dynamic_shared(const int *in, long long *out, int *sums) {
    __shared__ int sum[64];
    int n = blockDim.x, thread = threadIdx.x;
    long long *wide = memory;
    int *narrow = (int *)(wide + n);
    int value = in[blockIdx.x * n + thread];
    narrow[thread] = value;
    wide[n - 1 - thread] = (long long)value * value;
    sum[thread] = value;
    __syncthreads();
    out[blockIdx.x * n + thread] = wide[thread] - narrow[(thread + 1) % n];
    for (int half = 32; half > 0; half /= 2) {
        if (thread < half)
            sum[thread] += sum[thread + half];
        __syncthreads();
    }
    if (thread == 0)
        sums[blockIdx.x] = sum[0];
}
#else
void dynamic_shared(const int *in, long long *out, int *sums) {
    for (int block = 0; block < 3; block++)
        for (int i = 0; i < 64; i++) {
            long long mirrored = in[block * 64 + 63 - i];
            out[block * 64 + i] = mirrored * mirrored - in[block * 64 + (i + 1) % 64];
            sums[block] += in[block * 64 + i];
        }
}
#endif
ONCE(dynamic_shared)
