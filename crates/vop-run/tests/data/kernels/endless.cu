// A mistake: a loop that never ends for one thread. The launch must fail at its limit of instructions.
//
// nvcc -arch=sm_75
// launch endless grid=1 block=32 limit=100000
// buffer out u32 *32
// fails V0609
#include "kernel.h"

extern "C" __global__ void endless(volatile unsigned *out) {
    unsigned n = threadIdx.x;
    while (n != 7) {
        if (n == 20)
            n = 40;
        n = n == 63 ? 20 : n > 32 ? n + 1 : 7;
        out[threadIdx.x] = n;
    }
}
EACH_THREAD(endless)
