// Threads that end before a barrier: the others must not wait for them. Whole warps end, and parts of one.
//
// nvcc -arch=sm_75
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// launch early_exit grid=2 block=128
// buffer in s32 @lcg 256 seed 47 range -100 100
// buffer out s32 *256
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void early_exit(const int *in, int *out) {
    __shared__ int values[128];
    int thread = threadIdx.x, at = blockIdx.x * 128 + thread;
    values[thread] = in[at];
    __syncthreads();
    // The third warp ends, and every fifth thread of the others.
    if (thread / 32 == 2 || thread % 5 == 4)
        return;
    for (int turn = 0; turn < 3; turn++) {
        int sum = values[thread] + values[(thread + 1) % 128];
        __syncthreads();
        values[thread] = sum;
        __syncthreads();
    }
    out[at] = values[thread];
}
#else
void early_exit(const int *in, int *out) {
    for (int block = 0; block < 2; block++) {
        int values[128];
        auto gone = [](int thread) { return thread / 32 == 2 || thread % 5 == 4; };
        std::copy(in + block * 128, in + block * 128 + 128, values);
        for (int turn = 0; turn < 3; turn++) {
            int next[128];
            for (int i = 0; i < 128; i++)
                next[i] = gone(i) ? values[i] : values[i] + values[(i + 1) % 128];
            std::copy(next, next + 128, values);
        }
        for (int i = 0; i < 128; i++)
            if (!gone(i))
                out[block * 128 + i] = values[i];
    }
}
#endif
ONCE(early_exit)
