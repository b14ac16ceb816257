// Instructions that C++ rarely leads to, in inline assembly: permutations in all modes, bits found and masks made, selections by sign,
// sums of differences, halves of 24-bit products, predicates combined in one comparison.
//
// nvcc -arch=sm_75
// clang-22 --cuda-gpu-arch=sm_80 -O1 -Xclang -target-feature -Xclang +ptx76 # clang-22
// launch inline_assembly grid=2 block=48
// buffer a u32 @lcg 96 seed 161
// buffer b u32 @lcg 96 seed 162
// buffer out u32 *1920
#include "kernel.h"

extern "C" __global__ void inline_assembly(const unsigned *as, const unsigned *bs, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = as[i] >> (i % 32), b = bs[i], *to = out + 20 * i;
#ifndef HOST
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(to[0]) : "r"(a), "r"(b), "r"(i & 3));
    asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(to[1]) : "r"(a), "r"(b), "r"(i & 3));
    asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(to[2]) : "r"(a), "r"(b), "r"(i & 3));
    asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(to[3]) : "r"(a), "r"(b), "r"(i & 3));
    asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(to[4]) : "r"(a), "r"(b), "r"(i & 3));
    asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(to[5]) : "r"(a), "r"(b), "r"(i & 3));
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(to[6]) : "r"(a), "r"(b), "r"(b ^ a)); // a selector's highest bit repeats the sign
    asm("bfind.u32 %0, %1;" : "=r"(to[7]) : "r"(a));
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(to[8]) : "r"(b));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(to[9]) : "r"(b), "r"(a & 63), "r"(a >> 6 & 63));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(to[10]) : "r"(a), "r"(b), "r"(i & 31), "r"(a >> 4 & 31));
    asm("lop3.b32 %0, %1, %2, %3, 0x1b;" : "=r"(to[11]) : "r"(a), "r"(b), "r"(a * 3));
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(to[12]) : "r"(a), "r"(b), "r"(a));
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(to[13]) : "r"(a), "r"(b), "r"(i));
    asm("slct.s32.s32 %0, %1, %2, %3;" : "=r"(to[14]) : "r"(a), "r"(i), "r"(b));
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(to[15]) : "r"(a), "r"(b), "r"(i));
    asm("mul24.hi.u32 %0, %1, %2;" : "=r"(to[16]) : "r"(a), "r"(b));
    asm("{ .reg .pred p, q, r; setp.lt.u32 r, %1, 0x40000000; setp.gt.and.s32 p|q, %2, 0, r; selp.u32 %0, 1, 2, p; @q add.u32 %0, %0, 10; }"
        : "=r"(to[17]) : "r"(a), "r"(b));
    asm("{ .reg .u32 t; cnot.b32 t, %1; set.le.u32.s32 %0, %2, %3; sub.u32 %0, %0, t; }" : "=r"(to[18]) : "r"(a & 3), "r"(b), "r"(a));
    asm("{ .reg .b16 lo, hi; .reg .b32 t; mov.b32 {lo, hi}, %1; mov.b32 t, {hi, lo}; vadd2.u32.u32.u32.add %0, t, %2, %1; }"
        : "=r"(to[19]) : "r"(a), "r"(b));
#else
    unsigned long long both = (unsigned long long)b << 32 | a;
    auto bytes = [&](int b0, int b1, int b2, int b3) {
        unsigned result = 0;
        int order[4] = {b0, b1, b2, b3};
        for (int k = 0; k < 4; k++)
            result |= (unsigned)(both >> 8 * order[k] & 255) << 8 * k;
        return result;
    };
    int n = i & 3;
    to[0] = bytes(n, n + 1, n + 2, n + 3);
    to[1] = bytes(n, (n + 7) % 8, (n + 6) % 8, (n + 5) % 8);
    to[2] = bytes(n, n, n, n);
    to[3] = bytes(std::max(n, 0), std::max(n, 1), std::max(n, 2), 3);
    to[4] = bytes(0, std::min(n, 1), std::min(n, 2), std::min(n, 3));
    to[5] = n % 2 ? bytes(2, 3, 2, 3) : bytes(0, 1, 0, 1);
    to[6] = 0;
    for (int k = 0; k < 4; k++) {
        unsigned selector = (b ^ a) >> 4 * k & 15, byte = both >> 8 * (selector & 7) & 255;
        to[6] |= (selector & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * k;
    }
    to[7] = ~0u;
    for (int k = 0; k < 32; k++)
        if (a >> k & 1)
            to[7] = k;
    unsigned magnitude = (int)b < 0 ? ~b : b;
    to[8] = ~0u;
    for (int k = 0; k < 32; k++)
        if (magnitude >> k & 1)
            to[8] = 31 - k;
    unsigned position = a & 63, length = a >> 6 & 63;
    to[9] = 0;
    unsigned last = std::min(position + length - 1, 31u), sign = length == 0 ? 0 : b >> last & 1;
    for (unsigned k = 0; k < 32; k++)
        to[9] |= (k < length && position + k <= 31 ? b >> (position + k) & 1 : sign) << k;
    to[10] = b;
    for (unsigned k = 0; k < (a >> 4 & 31) && k + (i & 31) < 32; k++)
        to[10] = (to[10] & ~(1u << (k + (i & 31)))) | (a >> k & 1) << (k + (i & 31));
    to[11] = 0;
    for (int k = 0; k < 32; k++)
        to[11] |= (0x1bu >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (a * 3 >> k & 1)) & 1) << k;
    to[12] = (unsigned)(both << (a & 31) >> 32);
    to[13] = (unsigned)(both >> std::min(i, 32));
    to[14] = (int)b >= 0 ? a : i;
    to[15] = (unsigned)(std::llabs((long long)(int)a - (int)b) + i);
    to[16] = (unsigned)((unsigned long long)(a & 0xffffff) * (b & 0xffffff) >> 16);
    bool small = a < 0x40000000, positive = (int)b > 0;
    to[17] = (positive && small ? 1 : 2) + (!positive && small ? 10 : 0);
    to[18] = ((int)b <= (int)a ? ~0u : 0) - ((a & 3) == 0);
    unsigned swapped = a >> 16 | a << 16;
    to[19] = (swapped & 0xffff) + (b & 0xffff) + (swapped >> 16) + (b >> 16) + a;
#endif
}
EACH_THREAD(inline_assembly)
