// Reductions of a warp in one instruction (redux.sync), whole warps and parts that the data choose.
//
// nvcc -arch=sm_80
// nvcc -arch=sm_120 # sm_120
// launch warp_reduce grid=1 block=64
// buffer in u32 @lcg 64 seed 37
// buffer out u32 *576
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void warp_reduce(const unsigned *in, unsigned *out) {
    unsigned value = in[threadIdx.x];
    unsigned *to = out + 9 * threadIdx.x;
    to[0] = __reduce_add_sync(~0u, value);
    to[1] = __reduce_min_sync(~0u, value);
    to[2] = __reduce_max_sync(~0u, value);
    to[3] = (unsigned)__reduce_min_sync(~0u, (int)value);
    to[4] = (unsigned)__reduce_max_sync(~0u, (int)value);
    to[5] = __reduce_and_sync(~0u, value | 0xff);
    to[6] = __reduce_or_sync(~0u, value & 0xf0f);
    to[7] = __reduce_xor_sync(~0u, value);
    unsigned peers = __match_any_sync(~0u, value % 3);
    to[8] = __reduce_add_sync(peers, value >> 4);
}
#else
void warp_reduce(const unsigned *in, unsigned *out) {
    for (int thread = 0; thread < 64; thread++) {
        const unsigned *warp = in + thread / 32 * 32;
        unsigned r[9] = {0, ~0u, 0, INT_MAX, (unsigned)INT_MIN, ~0u, 0, 0, 0};
        for (int i = 0; i < 32; i++) {
            unsigned value = warp[i];
            r[0] += value;
            r[1] = std::min(r[1], value);
            r[2] = std::max(r[2], value);
            r[3] = (unsigned)std::min((int)r[3], (int)value);
            r[4] = (unsigned)std::max((int)r[4], (int)value);
            r[5] &= value | 0xff;
            r[6] |= value & 0xf0f;
            r[7] ^= value;
            if (value % 3 == in[thread] % 3)
                r[8] += value >> 4;
        }
        std::copy(r, r + 9, out + 9 * thread);
    }
}
#endif
ONCE(warp_reduce)
