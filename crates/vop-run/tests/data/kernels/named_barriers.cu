// Named barriers for parts of a block: one warp makes what the others take, by bar.arrive and bar.sync with counts, turn by turn.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 # sm_120
// launch named_barriers grid=2 block=96
// buffer in s32 @lcg 256 seed 61 range 0 1000
// buffer out s32 *128
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void named_barriers(const int *in, int *out) {
    __shared__ int slot[32];
    int thread = threadIdx.x, lane = thread % 32;
    // Barrier 1: the slot is full. Barrier 2: it is free. 32 threads of the maker and 64 takers meet at each.
    if (thread < 32) {
        for (int turn = 0; turn < 4; turn++) {
            if (turn > 0)
                asm volatile("bar.sync 2, 96;" ::: "memory");
            slot[lane] = in[blockIdx.x * 128 + turn * 32 + lane] * (turn + 1);
            __threadfence_block();
            asm volatile("bar.arrive 1, 96;" ::: "memory");
        }
    } else {
        int sum = 0;
        for (int turn = 0; turn < 4; turn++) {
            asm volatile("bar.sync 1, 96;" ::: "memory");
            sum += thread < 64 ? slot[lane] : slot[31 - lane] * 10;
            if (turn < 3)
                asm volatile("bar.arrive 2, 96;" ::: "memory");
        }
        out[blockIdx.x * 64 + thread - 32] = sum;
    }
}
#else
void named_barriers(const int *in, int *out) {
    for (int i = 0; i < 128; i++)
        for (int turn = 0; turn < 4; turn++) {
            int lane = i % 64 < 32 ? i % 32 : 31 - i % 32;
            out[i] += in[i / 64 * 128 + turn * 32 + lane] * (turn + 1) * (i % 64 < 32 ? 1 : 10);
        }
}
#endif
ONCE(named_barriers)
