// Division and remainder, signed and unsigned, of 8 to 64 bits, by variables and by constants.
//
// nvcc -arch=sm_75
// clang --cuda-gpu-arch=sm_75 -O1 # clang
// clang-22 --cuda-gpu-arch=sm_75 -O0 # clang-22
// launch divide64 grid=4 block=32
// buffer a u64 @lcg 128 seed 21
// buffer b u64 @lcg 128 seed 22
// buffer wide u64 *768
// buffer narrow s32 *768
#include "kernel.h"

extern "C" __global__ void divide64(const unsigned long long *as, const unsigned long long *bs, unsigned long long *wide, int *narrow) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long a = as[i], b = bs[i] >> (i % 64) | 1;
    long long sa = (long long)a, sb = (long long)b * (i % 3 == 0 ? -1 : 1);
    // The one quotient that does not fit is undefined in C++.
    if (sb == -1)
        sa >>= 1;
    wide[6 * i] = a / b;
    wide[6 * i + 1] = a % b;
    wide[6 * i + 2] = (unsigned long long)(sa / sb);
    wide[6 * i + 3] = (unsigned long long)(sa % sb);
    wide[6 * i + 4] = a / 1000000007 + a % 10;
    wide[6 * i + 5] = (unsigned long long)(sa / -7 + sa % 4096);
    int na = (int)a >> 1, nb = (int)(b >> 20 | 1);
    short ha = (short)a, hb = (short)((short)b >> 4 | 1);
    signed char ca = (signed char)a, cb = (signed char)((signed char)b >> 2 | 1);
    narrow[6 * i] = na / nb;
    narrow[6 * i + 1] = na % nb;
    narrow[6 * i + 2] = (int)((unsigned)na / (unsigned)nb) + (int)((unsigned)na % (unsigned)nb);
    narrow[6 * i + 3] = ha / hb * 1000 + ha % hb;
    narrow[6 * i + 4] = ca / cb * 1000 + ca % cb;
    narrow[6 * i + 5] = na / 10 + na % 60 + (int)((unsigned)na / 3600u);
}
EACH_THREAD(divide64)
