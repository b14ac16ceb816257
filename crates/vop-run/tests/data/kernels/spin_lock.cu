// A lock by compare and swap that all threads of all blocks want, those of one warp too: each must come to its turn, whichever way the
// warp's threads part and meet.
//
// nvcc -arch=sm_75
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// launch spin_lock grid=4 block=40
// buffer lock s32 *1
// buffer state u32 1 0 0
// buffer turns u32 *160
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void spin_lock(int *lock, volatile unsigned *state, unsigned *turns) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            // Several steps that would go wrong if two threads took them at once.
            unsigned before = state[0];
            state[0] = before + 2;
            state[1] = state[1] + thread;
            state[2] = state[2] ^ (before * 2654435761u);
            turns[before / 2] = 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
#else
void spin_lock(int *, volatile unsigned *state, unsigned *turns) {
    for (unsigned thread = 0; thread < 160; thread++) {
        turns[state[0] / 2] = 1;
        state[2] = state[2] ^ (state[0] * 2654435761u);
        state[0] = state[0] + 2;
        state[1] = state[1] + thread;
    }
}
#endif
ONCE(spin_lock)
