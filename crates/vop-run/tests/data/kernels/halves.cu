// Half floats, alone and in pairs: arithmetic with one rounding each, fused products, comparisons, minima, conversions.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 # sm_90
// launch halves grid=2 block=32
// buffer a u16 @lcg 64 seed 91
// buffer b u16 @lcg 64 seed 92
// buffer out u16 *1280
#include "kernel.h"

#ifndef HOST
#include <cuda_fp16.h>

__device__ unsigned short bits_of(__half x) { return __hisnan(x) ? 0x7fff : __half_as_ushort(x); }

extern "C" __global__ void halves(const unsigned short *as, const unsigned short *bs, unsigned short *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Of all sizes, some of them subnormal, infinite or no number.
    __half a = __ushort_as_half(as[i]), b = __ushort_as_half(i % 2 ? bs[i] : (bs[i] & 0x83ff) | 0x3800);
    unsigned short *to = out + 20 * i;
    to[0] = bits_of(__hadd_rn(a, b));
    to[1] = bits_of(__hsub_rn(a, b));
    to[2] = bits_of(__hmul_rn(a, b));
    to[3] = bits_of(__hdiv(a, b));
    to[4] = bits_of(__hfma(a, b, __float2half(-1.5f)));
    to[5] = bits_of(__hneg(a)) ^ bits_of(__habs(b)) >> 1;
    to[6] = __hlt(a, b) + 2 * __hle(a, b) + 4 * __heq(a, b) + 8 * __hne(a, b) + 16 * __hge(a, b) + 32 * __hgt(a, b) + 64 * __hltu(a, b);
    to[7] = bits_of(__hadd_sat(a, b));
    to[8] = bits_of(hsqrt(b));
    __half2 pair = __halves2half2(a, b), other = __halves2half2(b, __float2half(0.25f));
    __half2 sum = __hadd2_rn(pair, other), product = __hmul2_rn(pair, other), fused = __hfma2(pair, other, pair);
    to[9] = bits_of(__low2half(sum));
    to[10] = bits_of(__high2half(sum));
    to[11] = bits_of(__low2half(product));
    to[12] = bits_of(__high2half(product));
    to[13] = bits_of(__low2half(fused));
    to[14] = bits_of(__high2half(fused));
    to[15] = bits_of(__float2half_rn(__half2float(a) * 0.7f));
    to[16] = bits_of(__float2half_rz(__half2float(b) * 0.7f)) ^ bits_of(__float2half_ru(__half2float(b) * 0.3f)) >> 1;
    to[17] = bits_of(__int2half_rn(as[i] * 3 - 60000)) ^ (unsigned short)__half2int_rz(b);
    to[18] = bits_of(__hmin(a, b)) ^ bits_of(__hmax(a, b)) >> 1;
    to[19] = bits_of(hfloor(b)) ^ bits_of(hrint(b)) >> 1;
}
#else
// A half float as the number that it is.
static double value_of(unsigned short bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
    return bits >> 15 ? -magnitude : magnitude;
}
enum { NEAREST, ZERO, UP };
// The half float nearest to a number, which is exact in float64 where it is called.
static unsigned short half_of(double x, int mode = NEAREST) {
    if (std::isnan(x))
        return 0x7fff;
    unsigned short sign = std::signbit(x) ? 0x8000 : 0;
    double magnitude = std::fabs(x);
    if (std::isinf(x))
        return sign | 0x7c00;
    int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
    double steps = std::ldexp(magnitude, 10 - exponent);
    double whole = mode == NEAREST ? std::nearbyint(steps) : mode == UP && !sign ? std::ceil(steps) : std::floor(steps);
    double rounded = std::ldexp(whole, exponent - 10);
    if (rounded > 65504)
        return sign | (mode == NEAREST || (mode == UP && !sign) ? 0x7c00 : 0x7bff);
    if (rounded == 0)
        return sign;
    exponent = std::max(std::ilogb(rounded), -14);
    int fraction = (int)std::ldexp(rounded, 10 - exponent);
    return sign | (fraction < 1024 ? fraction : (exponent + 15) << 10 | (fraction - 1024));
}

void halves(const unsigned short *as, const unsigned short *bs, unsigned short *out) {
    for (int i = 0; i < 64; i++) {
        unsigned short ha = as[i], hb = i % 2 ? bs[i] : (bs[i] & 0x83ff) | 0x3800;
        double a = value_of(ha), b = value_of(hb);
        auto canonical = [](unsigned short bits) { return std::isnan(value_of(bits)) ? (unsigned short)0x7fff : bits; };
        unsigned short *to = out + 20 * i;
        to[0] = half_of(a + b);
        to[1] = half_of(a - b);
        to[2] = half_of(a * b);
        to[3] = half_of(a / b);
        to[4] = half_of(a * b - 1.5);
        to[5] = canonical(ha ^ 0x8000) ^ canonical(hb & 0x7fff) >> 1;
        to[6] = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (!std::isnan(a) && !std::isnan(b) && a != b) + 16 * (a >= b) + 32 * (a > b) + 64 * !(a >= b);
        to[7] = std::isnan(a + b) ? 0 : half_of(std::min(std::max(value_of(half_of(a + b)), 0.0), 1.0));
        to[8] = half_of(std::sqrt(b));
        to[9] = half_of(a + b);
        to[10] = half_of(b + 0.25);
        to[11] = half_of(a * b);
        to[12] = half_of(b * 0.25);
        to[13] = half_of(a * b + a);
        to[14] = half_of(b * 0.25 + b);
        to[15] = half_of((float)a * 0.7f);
        to[16] = half_of((float)b * 0.7f, ZERO) ^ half_of((float)b * 0.3f, UP) >> 1;
        int whole = std::isnan(b) ? 0 : (int)std::trunc(std::min(std::max(b, -2147483648.0), 2147483647.0));
        to[17] = half_of(ha * 3 - 60000) ^ (unsigned short)whole;
        auto least = [](double x, double y) { return std::isnan(x) ? y : std::isnan(y) ? x : x == y ? (std::signbit(x) ? x : y) : std::min(x, y); };
        to[18] = half_of(least(a, b)) ^ half_of(-least(-a, -b)) >> 1;
        to[19] = half_of(std::floor(b)) ^ half_of(std::nearbyint(b)) >> 1;
    }
}
#endif
ONCE(halves)
