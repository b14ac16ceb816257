// A kernel that gives up: __trap in one thread of a divergent warp.
//
// nvcc -arch=sm_75
// clang --cuda-gpu-arch=sm_75 -O1 # clang
// launch trapped grid=1 block=64
// buffer in u32 @lcg 64 seed 153 range 0 99
// buffer out u32 *64
// fails V0611
#include "kernel.h"

extern "C" __global__ void trapped(const unsigned *in, unsigned *out) {
    if (in[threadIdx.x] > 50)
        out[threadIdx.x] = 1;
    else if (threadIdx.x == 45 || in[threadIdx.x] == 50)
#ifdef __clang__
        __builtin_trap();
#else
        asm("trap;");
#endif
    out[threadIdx.x] += 2;
}
EACH_THREAD(trapped)
