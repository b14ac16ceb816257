// assert that fails in one thread: the launch must end with an error that gives the condition.
//
// nvcc -arch=sm_75
// launch assert_fails grid=1 block=64
// buffer in s32 @lcg 64 seed 2 range 0 50
// buffer out s32 *64
// fails value > 0 && "values are positive"
#include "kernel.h"
#include <cassert>

extern "C" __global__ void assert_fails(const int *in, int *out) {
    int value = in[threadIdx.x] - (threadIdx.x == 37 ? 1000 : -1);
    assert(value > 0 && "values are positive");
    out[threadIdx.x] = 1000 / value;
}
EACH_THREAD(assert_fails)
