// A mistake: a word is read at an odd address in one thread. The launch must fail, whatever the CPU would do.
//
// nvcc -arch=sm_75
// launch misaligned grid=1 block=32
// buffer in u8 @lcg 200 seed 151
// buffer out u32 *32
// fails V0607
#include "kernel.h"

extern "C" __global__ void misaligned(const unsigned char *in, unsigned *out) {
    out[threadIdx.x] = *(const unsigned *)(in + 4 * threadIdx.x + (threadIdx.x == 19));
}
EACH_THREAD(misaligned)
