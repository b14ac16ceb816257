// A reduction as it was written before shuffles: volatile shared memory without barriers within a warp, and one with __syncwarp.
//
// nvcc -arch=sm_75
// clang --cuda-gpu-arch=sm_75 -O2 -Xclang -target-feature -Xclang +ptx64 # clang
// launch warp_synchronous grid=4 block=128
// buffer in s32 @lcg 512 seed 127
// buffer out s32 *8
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void warp_synchronous(const int *in, int *out) {
    __shared__ int values[128];
    __shared__ int careful[32];
    int thread = threadIdx.x;
    values[thread] = in[blockIdx.x * 128 + thread];
    __syncthreads();
    if (thread < 64)
        values[thread] += values[thread + 64];
    __syncthreads();
    if (thread < 32) {
        volatile int *quick = values;
        careful[thread] = values[thread] ^ values[thread + 32];
        // The threads of a warp that have not parted take these steps together.
        quick[thread] += quick[thread + 32];
        int value = quick[thread];
        for (int step = 16; step > 0; step /= 2) {
            __syncwarp();
            value += quick[(thread + step) & 31];
            __syncwarp();
            quick[thread] = value;
        }
        for (int step = 16; step > 0; step /= 2) {
            __syncwarp();
            if (thread < step)
                careful[thread] ^= careful[thread + step];
        }
        if (thread == 0) {
            out[2 * blockIdx.x] = quick[0];
            out[2 * blockIdx.x + 1] = careful[0];
        }
    }
}
#else
void warp_synchronous(const int *in, int *out) {
    for (int block = 0; block < 4; block++) {
        int sum = 0, parity = 0;
        for (int i = 0; i < 64; i++) {
            int pair = in[128 * block + i] + in[128 * block + 64 + i];
            sum += pair;
            parity ^= pair;
        }
        out[2 * block] = sum;
        out[2 * block + 1] = parity;
    }
}
#endif
ONCE(warp_synchronous)
