// A mistake: recursion without end, with an array in each frame.
//
// nvcc -arch=sm_75
// launch stack_overflow grid=1 block=2
// buffer out u32 *2
// value u32 5
// fails stack
#include "kernel.h"

__device__ __noinline__ unsigned deeper(unsigned n, volatile unsigned *above) {
    volatile unsigned frame[64];
    for (unsigned i = 0; i < 64; i++)
        frame[i] = above ? above[i] + n : i;
    return n == 0 ? frame[7] : deeper(n + 2, frame) + frame[n % 64];
}

extern "C" __global__ void stack_overflow(unsigned *out, unsigned n) { out[threadIdx.x] = deeper(n, nullptr); }
EACH_THREAD(stack_overflow)
