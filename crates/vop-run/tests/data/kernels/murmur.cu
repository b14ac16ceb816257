// MurmurHash3 (32 and 64 bits): multiplications, rotations, a switch that falls through, unaligned ends read byte by byte.
//
// nvcc -arch=sm_75
// clang-22 --cuda-gpu-arch=sm_80 -O2 # clang-22
// launch murmur grid=2 block=32
// buffer data u8 @lcg 1024 seed 98
// buffer out u32 *64
// buffer wide u64 *64
#include "kernel.h"

extern "C" __global__ void murmur(const unsigned char *data, unsigned *out, unsigned long long *wide) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *key = data + 4 * thread;
    int length = thread * 11;
    if (4 * thread + length > 1024)
        length = 1024 - 4 * thread;
    unsigned h = thread * 0x1234567;
    for (int i = 0; i + 4 <= length; i += 4) {
        unsigned k = *(const unsigned *)(key + i) * 0xcc9e2d51u;
        k = (k << 15 | k >> 17) * 0x1b873593u;
        h ^= k;
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
    }
    const unsigned char *tail = key + length / 4 * 4;
    unsigned k = 0;
    switch (length & 3) {
    case 3: k ^= tail[2] << 16; // and on
    case 2: k ^= tail[1] << 8; // and on
    case 1:
        k ^= tail[0];
        k *= 0xcc9e2d51u;
        k = k << 15 | k >> 17;
        h ^= k * 0x1b873593u;
    }
    h ^= length;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    out[thread] = h ^ h >> 16;

    unsigned long long x = h * 0x9e3779b97f4a7c15ull + length;
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    wide[thread] = x ^ x >> 33;
}
EACH_THREAD(murmur)
