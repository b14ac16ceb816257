// Loads and stores of two and four elements at once, of all types, through the read-only cache and with cache hints.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_100 # sm_100
// launch vector_loads grid=1 block=32
// buffer floats f32 @lcg 128 seed 131 range -4 4
// buffer bytes u8 @lcg 128 seed 132
// buffer wide u64 @lcg 64 seed 133
// buffer out f32 *128
// buffer mixed s32 *128
// buffer pairs u64 *64
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void vector_loads(const float4 *floats, const uchar4 *bytes, const ulonglong2 *wide, float4 *out, int4 *mixed, ulonglong2 *pairs) {
    int i = threadIdx.x;
    float4 a = __ldg(&floats[i]), b = floats[31 - i];
    out[i] = make_float4(a.x - b.w, a.y * b.z, fmaxf(a.z, b.y), -a.w);
    uchar4 c = bytes[i];
    char4 d = *(const char4 *)&bytes[i ^ 1];
    short2 e = __ldcs((const short2 *)&bytes[i ^ 2]);
    int2 whole = __ldcg((const int2 *)bytes + i / 2);
    __stcs(&mixed[i], make_int4(c.x + d.w, c.y * d.z, e.x - e.y, whole.x ^ whole.y));
    ulonglong2 f = __ldlu(&wide[i]);
    pairs[i] = make_ulonglong2(f.y + 1, f.x ^ f.y);
}
#else
void vector_loads(const float *floats, const unsigned char *bytes, const uint64_t *wide, float *out, int *mixed, uint64_t *pairs) {
    for (int i = 0; i < 32; i++) {
        const float *a = floats + 4 * i, *b = floats + 4 * (31 - i);
        float results[4] = {a[0] - b[3], a[1] * b[2], std::max(a[2], b[1]), -a[3]};
        std::copy(results, results + 4, out + 4 * i);
        auto at = [=](int k) { return bytes + 4 * k; };
        short e[2];
        int whole[2];
        std::memcpy(e, at(i ^ 2), 4);
        std::memcpy(whole, at(i / 2 * 2), 8);
        int results2[4] = {at(i)[0] + (signed char)at(i ^ 1)[3], at(i)[1] * (signed char)at(i ^ 1)[2], e[0] - e[1], whole[0] ^ whole[1]};
        std::copy(results2, results2 + 4, mixed + 4 * i);
        pairs[2 * i] = wide[2 * i + 1] + 1;
        pairs[2 * i + 1] = wide[2 * i] ^ wide[2 * i + 1];
    }
}
#endif
ONCE(vector_loads)
