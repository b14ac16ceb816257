// The same on the CPU, when pixels.h is ported.
#include <cstdio>

#include "pixels.h"

int main()
{
    unsigned sums = 0, mixed = 0, state = 1;
    for (int i = 0; i < 1000000; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned a = state, b = state ^ (state << 7);
        unsigned sum = 0;
        add_difference(sum, a, b);
        unsigned half;
        HALF_SUM(half, a, b, sum);
        sums += half;
        mixed = mixed * 31 + mask_of_mean(brighter(a, 16), b, 100);
    }
    std::printf("%u %u\n", sums, mixed);
    return 0;
}
