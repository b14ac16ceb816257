// Functions that are not inlined, called by some threads of a warp, which shuffle, vote and wait inside; a barrier in a function that all
// call, from different places.
//
// nvcc -arch=sm_75
// clang --cuda-gpu-arch=sm_75 -O1 -Xclang -target-feature -Xclang +ptx64 # clang
// launch divergent_calls grid=2 block=64
// buffer in s32 @lcg 128 seed 167 range 0 999
// buffer out s32 *384
#include "kernel.h"

#ifndef HOST
__device__ __noinline__ int neighbours(unsigned mask, int value) {
    int sum = value;
    for (int step = 2; step < 8; step *= 2)
        sum += __shfl_xor_sync(mask, value, step);
    return sum + __popc(__ballot_sync(mask, value % 2));
}

__device__ __noinline__ int exchange(int *shared, int at, int value) {
    shared[threadIdx.x] = value;
    __syncthreads();
    int result = shared[at];
    __syncthreads();
    return result;
}

extern "C" __global__ void divergent_calls(const int *in, int *out) {
    __shared__ int shared[64];
    int thread = threadIdx.x, at = blockIdx.x * 64 + thread, value = in[at];
    int *to = out + 3 * at;
    // Even and odd lanes come at different times.
    if (thread % 2)
        to[0] = neighbours(0xaaaaaaaau, value);
    else
        to[0] = -neighbours(0x55555555u, value + 1);
    __syncwarp();
    // Whole warps take either call of the same function: the barrier is one.
    if (thread < 32)
        to[1] = exchange(shared, 63 - thread, value);
    else
        to[1] = exchange(shared, thread - 32, value * 2);
    int turns = 0;
    for (int i = 0; i < 1 + (int)blockIdx.x; i++)
        turns += exchange(shared, thread ^ 1, value + i);
    to[2] = turns;
}
#else
void divergent_calls(const int *in, int *out) {
    for (int at = 0; at < 128; at++) {
        int thread = at % 64, block = at / 64 * 64, warp = at / 32 * 32, odd = 0, *to = out + 3 * at;
        auto own = [=](int i) { return in[i] + (i % 2 ? 0 : 1); };
        for (int i = warp + at % 2; i < warp + 32; i += 2)
            odd += own(i) % 2;
        int sum = own(at) + own(at ^ 2) + own(at ^ 4) + odd;
        to[0] = at % 2 ? sum : -sum;
        to[1] = thread < 32 ? in[block + 63 - thread] * 2 : in[at - 32];
        for (int i = 0; i < 1 + at / 64; i++)
            to[2] += in[at ^ 1] + i;
    }
}
#endif
ONCE(divergent_calls)
