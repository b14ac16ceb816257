// Votes, matches, the mask of active lanes, in whole and divergent warps.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 -lineinfo # sm_90
// launch votes grid=1 block=80
// buffer in u32 @lcg 80 seed 29 range 0 6
// buffer out u32 *560
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void votes(const unsigned *in, unsigned *out) {
    int thread = threadIdx.x;
    unsigned full = thread / 32 == 2 ? 0xffffu : 0xffffffffu;
    unsigned value = in[thread];
    unsigned *to = out + 7 * thread;
    to[0] = __ballot_sync(full, value > 3);
    to[1] = __any_sync(full, value == 6) + 2 * __all_sync(full, value < 6) + 4 * __all_sync(full, value < 7);
    to[2] = __match_any_sync(full, value);
    int same;
    to[3] = __match_all_sync(full, value / 7, &same) + same;
    to[4] = __match_any_sync(full, (unsigned long long)(value & 1) << 40);
    if (value % 2) {
        unsigned odd = __activemask();
        to[5] = __ballot_sync(odd, value == 3);
        to[6] = __popc(odd);
    } else {
        to[5] = __match_any_sync(__activemask(), value);
        to[6] = __any_sync(__activemask(), value == 2) ? 1000 : 2000;
    }
}
#else
void votes(const unsigned *in, unsigned *out) {
    for (int thread = 0; thread < 80; thread++) {
        int first = thread / 32 * 32, last = std::min(first + 32, 80);
        auto mask = [&](std::function<bool(unsigned)> holds) {
            unsigned result = 0;
            for (int i = first; i < last; i++)
                result |= (unsigned)holds(in[i]) << (i - first);
            return result;
        };
        unsigned full = mask([](unsigned) { return true; });
        unsigned value = in[thread], *to = out + 7 * thread;
        to[0] = mask([](unsigned v) { return v > 3; });
        to[1] = (mask([](unsigned v) { return v == 6; }) != 0) + 2 * (mask([](unsigned v) { return v < 6; }) == full) + 4;
        to[2] = mask([=](unsigned v) { return v == value; });
        to[3] = full + 1;
        to[4] = mask([=](unsigned v) { return v % 2 == value % 2; });
        if (value % 2) {
            to[5] = mask([](unsigned v) { return v == 3; });
            to[6] = __builtin_popcount(mask([](unsigned v) { return v % 2 == 1; }));
        } else {
            to[5] = to[2];
            to[6] = mask([](unsigned v) { return v == 2; }) ? 1000 : 2000;
        }
    }
}
#endif
ONCE(votes)
