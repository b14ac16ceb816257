// A grid that waits for all its blocks between rounds: each block reads what others wrote in the round before. The first round is split
// into arriving and waiting.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 # sm_90
// launch rounds grid=5,3 block=32,2 cooperative=64
// buffer a u32 @lcg 2000 seed 77
// buffer b u32 *2000
// value u32 2000
// value u32 6
#include "kernel.h"

#ifndef HOST
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void rounds(unsigned *a, unsigned *b, unsigned n, unsigned times) {
    cg::grid_group grid = cg::this_grid();
    for (unsigned t = 0; t < times; t++) {
        for (unsigned long long i = grid.thread_rank(); i < n; i += grid.num_threads())
            b[i] = 3 * a[i] + a[(i + 1037) % n];
        if (t == 0) {
            auto token = grid.barrier_arrive();
            grid.barrier_wait(static_cast<decltype(token) &&>(token));
        } else {
            grid.sync();
        }
        unsigned *c = a;
        a = b;
        b = c;
    }
}
#else
void rounds(unsigned *a, unsigned *b, unsigned n, unsigned times) {
    for (unsigned t = 0; t < times; t++) {
        for (unsigned i = 0; i < n; i++)
            b[i] = 3 * a[i] + a[(i + 1037) % n];
        unsigned *c = a;
        a = b;
        b = c;
    }
}
#endif
ONCE(rounds)
