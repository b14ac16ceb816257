// assert that holds: the code for its failure is there and must not be run.
//
// nvcc -arch=sm_75
// launch assert_holds grid=1 block=64
// buffer in s32 @lcg 64 seed 2 range 1 50
// buffer out s32 *64
#include "kernel.h"
#include <cassert>

extern "C" __global__ void assert_holds(const int *in, int *out) {
    int value = in[threadIdx.x];
    assert(value > 0 && "values are positive");
    out[threadIdx.x] = 1000 / value;
    assert(out[threadIdx.x] * value <= 1000);
}
EACH_THREAD(assert_holds)
