// Products of all widths and halves: mul.wide, mad.hi, 64-bit high halves, modular powers, and shifts of 64 bits by anything.
//
// nvcc -arch=sm_75
// clang-22 --cuda-gpu-arch=sm_90 -O2 # clang-22
// launch wide_products grid=2 block=48
// buffer in u64 @lcg 96 seed 123
// buffer out u64 *864
#include "kernel.h"

extern "C" __global__ void wide_products(const uint64_t *in, uint64_t *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t x = in[i], y = in[(i + 1) % (gridDim.x * blockDim.x)];
    uint64_t *to = out + 9 * i;
    to[0] = (uint64_t)(uint32_t)x * (uint32_t)y;
    to[1] = (uint64_t)((int64_t)(int32_t)x * (int32_t)y);
    to[2] = (uint32_t)((uint32_t)(uint16_t)x * (uint16_t)y) + (uint64_t)(int64_t)((int32_t)(int16_t)(x >> 16) * (int16_t)(y >> 16));
    to[3] = (uint64_t)((unsigned __int128)x * y >> 64);
    to[4] = (uint64_t)((__int128)(int64_t)x * (int64_t)y >> 64);
    to[5] = x * y + (x >> 32) * (y & 0xffffffff);
    // A power modulo a prime below 2^31.
    uint64_t power = 1, base = x % 2147483647;
    for (uint32_t e = (uint32_t)y & 0xffff; e; e >>= 1) {
        if (e & 1)
            power = power * base % 2147483647;
        base = base * base % 2147483647;
    }
    to[6] = power;
    to[7] = (x << (y & 63)) ^ (x >> (y >> 6 & 63)) ^ (uint64_t)((int64_t)x >> (y >> 12 & 63));
    to[8] = (x << (i % 64)) | (x >> ((64 - i % 64) & 63));
}
EACH_THREAD(wide_products)
