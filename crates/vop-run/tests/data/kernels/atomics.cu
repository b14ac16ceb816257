// Atomic operations of all kinds on integers in global memory, with results that don't depend on the order.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 # sm_120
// launch atomics grid=4 block=96
// buffer in u32 @lcg 384 seed 17
// buffer words u32 0 0xffffffff 0 0x7fffffff 0x80000000 0xffffffff 0 0 0 0 0
// buffer wide u64 0 0xffffffffffffffff 0 0xffffffffffffffff 0 0
// buffer tickets u32 *384
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void atomics(const unsigned *in, unsigned *words, unsigned long long *wide, unsigned *tickets) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = in[i];
    atomicAdd(&words[0], value);
    atomicMin(&words[1], value);
    atomicMax(&words[2], value);
    atomicMin((int *)&words[3], (int)value);
    atomicMax((int *)&words[4], (int)value);
    atomicAnd(&words[5], value | 0x00010001u << i % 16);
    atomicOr(&words[6], value & 0x01010101);
    atomicXor(&words[7], value);
    // Who draws which ticket is open; that each is drawn once is not.
    unsigned ticket = atomicInc(&words[8], 1000000);
    tickets[ticket] = ticket * 3 + 1;
    atomicSub(&words[9], value >> 8);
    // Counts down and starts again at 99: after 384 steps it is where 384 % 100 steps lead.
    atomicDec(&words[10], 99);
    unsigned long long large = (unsigned long long)value * value;
    atomicAdd(&wide[0], large);
    atomicMin(&wide[1], large);
    atomicMax(&wide[2], large);
    atomicAnd(&wide[3], ~(large & 0xff00ff0000ull) | 1ull << 63);
    atomicXor(&wide[4], large << 7);
    // A maximum by compare and swap.
    unsigned long long seen = wide[5];
    while (seen < large) {
        unsigned long long before = atomicCAS(&wide[5], seen, large);
        if (before == seen)
            break;
        seen = before;
    }
}
#else
void atomics(const unsigned *in, unsigned *words, unsigned long long *wide, unsigned *tickets) {
    for (int i = 0; i < 384; i++) {
        unsigned value = in[i];
        unsigned long long large = (unsigned long long)value * value;
        words[0] += value;
        words[1] = std::min(words[1], value);
        words[2] = std::max(words[2], value);
        words[3] = (unsigned)std::min((int)words[3], (int)value);
        words[4] = (unsigned)std::max((int)words[4], (int)value);
        words[5] &= value | 0x00010001u << i % 16;
        words[6] |= value & 0x01010101;
        words[7] ^= value;
        words[8]++;
        words[9] -= value >> 8;
        words[10] = words[10] == 0 || words[10] > 99 ? 99 : words[10] - 1;
        tickets[i] = i * 3 + 1;
        wide[0] += large;
        wide[1] = std::min(wide[1], large);
        wide[2] = std::max(wide[2], large);
        wide[3] &= ~(large & 0xff00ff0000ull) | 1ull << 63;
        wide[4] ^= large << 7;
        wide[5] = std::max(wide[5], large);
    }
}
#endif
ONCE(atomics)
