// A mistake: two warps wait for each other at different barriers.
//
// nvcc -arch=sm_75
// launch deadlock grid=2 block=64
// buffer out u32 *128
// fails V0610
#include "kernel.h"

extern "C" __global__ void deadlock(unsigned *out) {
#ifndef HOST
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
#endif
    out[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
}
EACH_THREAD(deadlock)
