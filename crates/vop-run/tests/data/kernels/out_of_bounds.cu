// A mistake: one thread of the last block writes behind the end of a buffer. The launch must fail and say which buffer it was.
//
// nvcc -arch=sm_75 -lineinfo
// launch out_of_bounds grid=3 block=32
// buffer in s32 @lcg 96 seed 143
// buffer out s32 *96
// fails of `out`
#include "kernel.h"

extern "C" __global__ void out_of_bounds(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i + (i == 95)] = in[i];
}
EACH_THREAD(out_of_bounds)
