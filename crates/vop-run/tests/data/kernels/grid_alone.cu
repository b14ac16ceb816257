// `grid.sync()` where the launch is not cooperative.
//
// nvcc -arch=sm_75
// launch waits grid=2 block=64
// buffer out u32 *2
// fails `grid.sync()` traps where the launch is not cooperative
#include "kernel.h"

#ifndef HOST
#include <cooperative_groups.h>

extern "C" __global__ void waits(unsigned *out) {
    cooperative_groups::this_grid().sync();
    out[blockIdx.x] = 1;
}
#else
void waits(unsigned *) {}
#endif
ONCE(waits)
