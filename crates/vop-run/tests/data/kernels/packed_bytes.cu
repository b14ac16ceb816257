// Dot products of bytes (dp4a, dp2a) and CUDA's functions for packed bytes and halves, which nvcc writes out in base instructions or
// as video instructions.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 # sm_90
// nvcc -arch=sm_120 # sm_120
// launch packed_bytes grid=1 block=128
// buffer a u32 @lcg 128 seed 95
// buffer b u32 @lcg 128 seed 96
// buffer out u32 *3328
#include "kernel.h"

#ifdef HOST
// Lane by lane, from the descriptions of CUDA's mathematics.
template <int LANES, bool SIGNED, class F> static unsigned lanes(unsigned a, unsigned b, F f) {
    constexpr int BITS = 32 / LANES;
    unsigned result = 0;
    for (int lane = 0; lane < LANES; lane++) {
        auto part = [=](unsigned word) {
            int value = word >> BITS * lane & ((1u << BITS) - 1);
            return SIGNED && value >> (BITS - 1) ? value - (1 << BITS) : value;
        };
        result |= ((unsigned)f(part(a), part(b)) & ((1u << BITS) - 1)) << BITS * lane;
    }
    return result;
}
#define LANEWISE(name, count, is_signed, expression) \
    static unsigned name(unsigned a, unsigned b) { return lanes<count, is_signed>(a, b, [](int x, int y) { return expression; }); }
static int limit(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
LANEWISE(__vadd4, 4, false, x + y)
LANEWISE(__vsub4, 4, false, x - y)
LANEWISE(__vaddss4, 4, true, limit(x + y, -128, 127))
LANEWISE(__vsubus4, 4, false, limit(x - y, 0, 255))
LANEWISE(__vabsdiffu4, 4, false, x > y ? x - y : y - x)
LANEWISE(__vabsdiffs4, 4, true, x > y ? x - y : y - x)
LANEWISE(__vavgu4, 4, false, (x + y + 1) / 2)
LANEWISE(__vmaxs4, 4, true, x > y ? x : y)
LANEWISE(__vminu4, 4, false, x < y ? x : y)
LANEWISE(__vcmpgts4, 4, true, x > y ? 255 : 0)
LANEWISE(__vseteq4, 4, false, x == y)
LANEWISE(__vadd2, 2, false, x + y)
LANEWISE(__vsubss2, 2, true, limit(x - y, -32768, 32767))
LANEWISE(__vmaxu2, 2, false, x > y ? x : y)
LANEWISE(__vmins2, 2, true, x < y ? x : y)
LANEWISE(__vcmpleu2, 2, false, x <= y ? 0xffff : 0)
static unsigned __vabs4(unsigned a) { return lanes<4, true>(a, 0, [](int x, int) { return x < 0 ? -x : x; }); }
static unsigned __vneg2(unsigned a) { return lanes<2, true>(a, 0, [](int x, int) { return -x; }); }
static unsigned __vsadu4(unsigned a, unsigned b) {
    unsigned d = __vabsdiffu4(a, b);
    return (d & 255) + (d >> 8 & 255) + (d >> 16 & 255) + (d >> 24);
}
static unsigned __vsads2(unsigned a, unsigned b) {
    unsigned d = lanes<2, true>(a, b, [](int x, int y) { return x > y ? x - y : y - x; });
    return (d & 65535) + (d >> 16);
}
static int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; i++)
        c += (signed char)(a >> 8 * i) * (signed char)(b >> 8 * i);
    return c;
}
static unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; i++)
        c += (a >> 8 * i & 255) * (b >> 8 * i & 255);
    return c;
}
static int __dp2a_lo(int a, int b, int c) { return c + (short)a * (signed char)b + (a >> 16) * (signed char)(b >> 8); }
static unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return c + (a & 65535) * (b >> 16 & 255) + (a >> 16) * (b >> 24); }
#endif

extern "C" __global__ void packed_bytes(const unsigned *as, const unsigned *bs, unsigned *out) {
    int i = threadIdx.x;
    // Every fourth pair has equal bytes.
    unsigned a = as[i], b = i % 4 == 3 ? (bs[i] & 0xffff00ffu) | (a & 0xff00u) : bs[i];
    unsigned *to = out + 26 * i;
    to[0] = __vadd4(a, b);
    to[1] = __vsub4(a, b);
    to[2] = __vaddss4(a, b);
    to[3] = __vsubus4(a, b);
    to[4] = __vabsdiffu4(a, b);
    to[5] = __vabsdiffs4(a, b);
    to[6] = __vavgu4(a, b);
    to[7] = __vmaxs4(a, b);
    to[8] = __vminu4(a, b);
    to[9] = __vcmpgts4(a, b);
    to[10] = __vseteq4(a, b);
    to[11] = __vadd2(a, b);
    to[12] = __vsubss2(a, b);
    to[13] = __vmaxu2(a, b);
    to[14] = __vmins2(a, b);
    to[15] = __vcmpleu2(a, b);
    to[16] = __vabs4(a);
    to[17] = __vneg2(b);
    to[18] = __vsadu4(a, b);
    to[19] = __vsads2(a, b);
    to[20] = (unsigned)__dp4a((int)a, (int)b, -5);
    to[21] = __dp4a(a, b, 7u);
    to[22] = (unsigned)__dp2a_lo((int)a, (int)b, 9);
    to[23] = __dp2a_hi(a, b, 1u);
    to[24] = __vaddss4(__vmaxs4(a, b), __vsub4(b, a));
    to[25] = __vadd2(__vadd4(a, 0x01010101), b);
}
EACH_THREAD(packed_bytes)
