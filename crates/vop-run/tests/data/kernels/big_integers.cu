// Integers of 256 bits: chains of carries (add.cc, addc.cc, subc, madc) in inline assembly, and products of all words.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 -Xcicc -O0 # O0
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// launch big_integers grid=1 block=48
// buffer a u32 @lcg 384 seed 121
// buffer b u32 @lcg 384 seed 122
// buffer sum u32 *384
// buffer difference u32 *432
// buffer product u32 *768
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void big_integers(const unsigned *as, const unsigned *bs, unsigned *sum, unsigned *difference, unsigned *product) {
    const unsigned *a = as + 8 * threadIdx.x, *b = bs + 8 * threadIdx.x;
    unsigned s[8], d[9], p[16];
    asm("add.cc.u32 %0, %8, %16;\n\taddc.cc.u32 %1, %9, %17;\n\taddc.cc.u32 %2, %10, %18;\n\taddc.cc.u32 %3, %11, %19;\n\t"
        "addc.cc.u32 %4, %12, %20;\n\taddc.cc.u32 %5, %13, %21;\n\taddc.cc.u32 %6, %14, %22;\n\taddc.u32 %7, %15, %23;"
        : "=&r"(s[0]), "=&r"(s[1]), "=&r"(s[2]), "=&r"(s[3]), "=&r"(s[4]), "=&r"(s[5]), "=&r"(s[6]), "=&r"(s[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]), "r"(b[2]),
          "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
    // The borrow that is left is the ninth word.
    asm("sub.cc.u32 %0, %9, %17;\n\tsubc.cc.u32 %1, %10, %18;\n\tsubc.cc.u32 %2, %11, %19;\n\tsubc.cc.u32 %3, %12, %20;\n\t"
        "subc.cc.u32 %4, %13, %21;\n\tsubc.cc.u32 %5, %14, %22;\n\tsubc.cc.u32 %6, %15, %23;\n\tsubc.cc.u32 %7, %16, %24;\n\t"
        "subc.u32 %8, 0, 0;"
        : "=&r"(d[0]), "=&r"(d[1]), "=&r"(d[2]), "=&r"(d[3]), "=&r"(d[4]), "=&r"(d[5]), "=&r"(d[6]), "=&r"(d[7]), "=&r"(d[8])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]), "r"(b[2]),
          "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
    for (int i = 0; i < 16; i++)
        p[i] = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        unsigned carry = 0;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            // p[i + j] += low half; the carry and the high half go into the next.
            asm("{\n\t.reg .u32 high;\n\tmad.hi.u32 high, %2, %3, 0;\n\tmad.lo.cc.u32 %0, %2, %3, %0;\n\taddc.u32 high, high, 0;\n\t"
                "add.cc.u32 %0, %0, %1;\n\taddc.u32 %1, high, 0;\n\t}"
                : "+r"(p[i + j]), "+r"(carry)
                : "r"(a[i]), "r"(b[j]));
        }
        p[i + 8] = carry;
    }
    for (int i = 0; i < 8; i++)
        sum[8 * threadIdx.x + i] = s[i];
    for (int i = 0; i < 9; i++)
        difference[9 * threadIdx.x + i] = d[i];
    for (int i = 0; i < 16; i++)
        product[16 * threadIdx.x + i] = p[i];
}
#else
void big_integers(const unsigned *as, const unsigned *bs, unsigned *sum, unsigned *difference, unsigned *product) {
    for (int thread = 0; thread < 48; thread++) {
        const unsigned *a = as + 8 * thread, *b = bs + 8 * thread;
        unsigned long long carry = 0;
        long long borrow = 0;
        for (int i = 0; i < 8; i++) {
            carry += (unsigned long long)a[i] + b[i];
            sum[8 * thread + i] = (unsigned)carry;
            carry >>= 32;
            borrow += (long long)a[i] - b[i];
            difference[9 * thread + i] = (unsigned)borrow;
            borrow >>= 32;
        }
        difference[9 * thread + 8] = (unsigned)borrow;
        for (int i = 0; i < 8; i++) {
            carry = 0;
            for (int j = 0; j < 8; j++) {
                carry += (unsigned long long)a[i] * b[j] + product[16 * thread + i + j];
                product[16 * thread + i + j] = (unsigned)carry;
                carry >>= 32;
            }
            product[16 * thread + i + 8] = (unsigned)carry;
        }
    }
}
#endif
ONCE(big_integers)
