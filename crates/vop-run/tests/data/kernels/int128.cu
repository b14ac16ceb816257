// 128-bit integers: products, sums with carries, shifts, comparisons; the quotient is a function of the compiler's own.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_100 # sm_100
// launch int128 grid=1 block=64
// buffer a u64 @lcg 64 seed 31
// buffer b u64 @lcg 64 seed 32
// buffer out u64 *512
#include "kernel.h"

typedef unsigned __int128 wide;

extern "C" __global__ void int128(const uint64_t *as, const uint64_t *bs, uint64_t *out) {
    int i = threadIdx.x;
    wide a = as[i], b = bs[i];
    wide product = a * b;
    wide shifted = product << i | product >> (127 - i);
    wide sum = product + (shifted ^ b << 64);
    __int128 negative = -(__int128)sum >> 3;
    wide quotient = sum / (a + 1), rest = product % (b >> i | 1);
    out[8 * i] = (uint64_t)(product >> 64);
    out[8 * i + 1] = (uint64_t)shifted;
    out[8 * i + 2] = (uint64_t)(sum >> 64);
    out[8 * i + 3] = (uint64_t)(negative >> 64);
    out[8 * i + 4] = (uint64_t)negative + (negative < -(__int128)product);
    out[8 * i + 5] = (uint64_t)quotient;
    out[8 * i + 6] = (uint64_t)(quotient >> 64) + (sum > shifted);
    out[8 * i + 7] = (uint64_t)rest;
}
EACH_THREAD(int128)
