// float32 as IEEE has it, to the last bit: fused products, division, square roots, all four roundings, subnormals and infinities,
// comparisons with what is no number.
//
// nvcc -arch=sm_75 -fmad=false
// nvcc -arch=sm_120 -fmad=false # sm_120
// host -frounding-math
// launch float_ieee grid=1 block=96
// buffer a u32 @lcg 96 seed 63
// buffer b u32 @lcg 96 seed 64
// buffer c u32 @lcg 96 seed 65
// buffer out u32 *1824
#include "kernel.h"

#ifdef HOST
#include <cfenv>
using std::isinf, std::isnan;
template <class F> static float rounded(int mode, F f) {
    std::fesetround(mode);
    volatile float result = f();
    std::fesetround(FE_TONEAREST);
    return result;
}
// volatile keeps the compiler from computing before the mode is set.
#define ROUNDINGS(name, parameters, expression) \
    static float __##name##_rn parameters { return rounded(FE_TONEAREST, [&] { return expression; }); } \
    static float __##name##_rz parameters { return rounded(FE_TOWARDZERO, [&] { return expression; }); } \
    static float __##name##_ru parameters { return rounded(FE_UPWARD, [&] { return expression; }); } \
    static float __##name##_rd parameters { return rounded(FE_DOWNWARD, [&] { return expression; }); }
ROUNDINGS(fadd, (volatile float a, volatile float b), a + b)
ROUNDINGS(fmul, (volatile float a, volatile float b), a *b)
ROUNDINGS(fdiv, (volatile float a, volatile float b), a / b)
ROUNDINGS(fmaf, (volatile float a, volatile float b, volatile float c), std::fma((float)a, (float)b, (float)c))
ROUNDINGS(fsqrt, (volatile float a), std::sqrt((float)a))
static float __int_as_float(int x) { return *(float *)&x; }
static unsigned __float_as_uint(float x) { return *(unsigned *)&x; }
#endif

// Every NaN as one: which of them comes out is not defined.
__device__ static unsigned bits_of(float x) { return x != x ? 0x7fffffffu : __float_as_uint(x); }

extern "C" __global__ void float_ieee(const unsigned *as, const unsigned *bs, const unsigned *cs, unsigned *out) {
    int i = threadIdx.x;
    // A third are of any size, the others close enough to meet; some are special.
    unsigned mask = i % 3 == 0 ? 0xffffffffu : 0x83ffffffu, exponent = i % 3 == 0 ? 0 : i % 3 == 1 ? 0x3c000000u : 0;
    float a = __int_as_float((as[i] & mask) | exponent), b = __int_as_float((bs[i] & mask) | exponent);
    float c = __int_as_float((cs[i] & mask) | exponent);
    if (i % 16 == 7)
        a = __int_as_float(i & 32 ? 0x7f800000 : 0x80000000);
    if (i % 32 == 9)
        b = __int_as_float(i & 32 ? 0x7fc00000 : 0);
    unsigned *to = out + 19 * i;
    to[0] = bits_of(a + b);
    to[1] = bits_of(a * b - c);
    to[2] = bits_of(a / b);
    to[3] = bits_of(sqrtf(a));
    to[4] = bits_of(fmaf(a, b, c));
    to[5] = bits_of(__fadd_rz(a, b)) ^ bits_of(__fadd_ru(a, c));
    to[6] = bits_of(__fadd_rd(a, b));
    to[7] = bits_of(__fmul_rz(a, b)) ^ bits_of(__fmul_ru(b, c));
    to[8] = bits_of(__fmul_rd(a, b));
    to[9] = bits_of(__fdiv_rz(a, b));
    to[10] = bits_of(__fdiv_ru(a, b));
    to[11] = bits_of(__fdiv_rd(a, b)) ^ bits_of(__fdiv_rn(b, a));
    to[12] = bits_of(__fmaf_rz(a, b, c)) ^ bits_of(__fmaf_ru(a, b, c));
    to[13] = bits_of(__fmaf_rd(a, b, c));
    to[14] = bits_of(__fsqrt_rz(b)) ^ bits_of(__fsqrt_ru(b)) ^ bits_of(__fsqrt_rd(c));
    to[15] = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a >= b) + 32 * (a > b) + 64 * !(a < b);
    to[16] = bits_of(fminf(a, b)) ^ (bits_of(fmaxf(b, c)) >> 1);
    to[17] = bits_of(floorf(a)) ^ (bits_of(ceilf(b)) >> 1) ^ (bits_of(truncf(c)) >> 2) ^ (bits_of(rintf(a)) >> 3);
    to[18] = bits_of(fabsf(a)) ^ (bits_of(-b) >> 1) ^ (bits_of(copysignf(c, b)) >> 2) ^ (isinf(a) ? 5 : 0) ^ (isnan(b) ? 3 : 0);
}
EACH_THREAD(float_ieee)
