// bfloat16: sums, products, fused products, pairs, conversions with rounding to nearest, and a dot product in float32.
//
// nvcc -arch=sm_90
// nvcc -arch=sm_80 # sm_80
// launch bfloat16 grid=1 block=64
// buffer a f32 @lcg 64 seed 93 range -100 100
// buffer b f32 @lcg 64 seed 94 range -2 2
// buffer out u16 *512
// buffer dots f32 *64
#include "kernel.h"

#ifndef HOST
#include <cuda_bf16.h>

extern "C" __global__ void bfloat16(const float *as, const float *bs, unsigned short *out, float *dots) {
    int i = threadIdx.x;
    __nv_bfloat16 a = __float2bfloat16(as[i]), b = __float2bfloat16(bs[i]);
    unsigned short *to = out + 8 * i;
    to[0] = __bfloat16_as_ushort(a);
    to[1] = __bfloat16_as_ushort(__hadd(a, b));
    to[2] = __bfloat16_as_ushort(__hmul(a, b));
    to[3] = __bfloat16_as_ushort(__hfma(a, b, b));
    __nv_bfloat162 pair = __halves2bfloat162(a, b), other = __float2bfloat162_rn(0.3f);
    __nv_bfloat162 fused = __hfma2(pair, other, pair), difference = __hsub2(pair, other);
    to[4] = __bfloat16_as_ushort(__low2bfloat16(fused));
    to[5] = __bfloat16_as_ushort(__high2bfloat16(fused));
    to[6] = __bfloat16_as_ushort(__low2bfloat16(difference));
    to[7] = __bfloat16_as_ushort(__hmax(a, b)) + __hlt(a, b);
    float dot = 0;
    for (int j = 0; j < 8; j++)
        dot = fmaf(__bfloat162float(__float2bfloat16(as[(i + j) % 64])), __bfloat162float(__float2bfloat16(bs[(i * 3 + j) % 64])), dot);
    dots[i] = dot;
}
#else
// The bfloat16 nearest to a number, which is exact in float64 where it is called, as the number that it is.
static double nearest(double x) {
    int exponent = x == 0 ? 0 : std::max(std::ilogb(x), -126);
    return std::ldexp(std::nearbyint(std::ldexp(x, 7 - exponent)), exponent - 7);
}
static unsigned short bits_of(double x) {
    float value = (float)x;
    return *(unsigned *)&value >> 16;
}

void bfloat16(const float *as, const float *bs, unsigned short *out, float *dots) {
    for (int i = 0; i < 64; i++) {
        double a = nearest(as[i]), b = nearest(bs[i]), c = nearest(0.3f);
        unsigned short *to = out + 8 * i;
        to[0] = bits_of(a);
        to[1] = bits_of(nearest(a + b));
        to[2] = bits_of(nearest(a * b));
        to[3] = bits_of(nearest(a * b + b));
        to[4] = bits_of(nearest(a * c + a));
        to[5] = bits_of(nearest(b * c + b));
        to[6] = bits_of(nearest(a - c));
        to[7] = bits_of(std::max(a, b)) + (a < b);
        for (int j = 0; j < 8; j++)
            dots[i] = std::fma((float)nearest(as[(i + j) % 64]), (float)nearest(bs[(i * 3 + j) % 64]), dots[i]);
    }
}
#endif
ONCE(bfloat16)
