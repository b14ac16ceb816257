// A block leaves the kernel instead of waiting for the others.
//
// nvcc -arch=sm_75
// launch leaves grid=6 block=64 cooperative=64
// buffer out u32 *6
// fails this thread waits in a loop for the barrier of the grid (`grid.sync()`), to which 1 of the 6 blocks have not come
#include "kernel.h"

#ifndef HOST
#include <cooperative_groups.h>

extern "C" __global__ void leaves(unsigned *out) {
    if (blockIdx.x == 4)
        return;
    cooperative_groups::this_grid().sync();
    out[blockIdx.x] = 1;
}
#else
void leaves(unsigned *) {}
#endif
ONCE(leaves)
