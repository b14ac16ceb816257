// CRC-32 by tables that the block makes in shared memory, four bytes a step, and bit by bit.
//
// nvcc -arch=sm_75
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// launch crc32 grid=2 block=64
// buffer data u8 @lcg 3000 seed 117
// buffer out u32 *128
// buffer slow u32 *128
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void crc32(const unsigned char *data, unsigned *out, unsigned *slow) {
    __shared__ unsigned table[4][256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
        table[0][i] = crc;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        for (int t = 1; t < 4; t++)
            table[t][i] = table[t - 1][i] >> 8 ^ table[0][table[t - 1][i] & 255];
    __syncthreads();
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *bytes = data + 16 * thread;
    int length = 3 + thread * 7;
    unsigned crc = ~0u;
    int at = 0;
    for (; at + 4 <= length; at += 4) {
        crc ^= *(const unsigned *)(bytes + at);
        crc = table[3][crc & 255] ^ table[2][crc >> 8 & 255] ^ table[1][crc >> 16 & 255] ^ table[0][crc >> 24];
    }
    for (; at < length; at++)
        crc = crc >> 8 ^ table[0][(crc ^ bytes[at]) & 255];
    out[thread] = ~crc;
    crc = ~0u;
    for (at = 0; at < length % 50; at++) {
        crc ^= bytes[at];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    slow[thread] = ~crc;
}
#else
static unsigned checksum(const unsigned char *bytes, int length) {
    unsigned crc = ~0u;
    for (int i = 0; i < 8 * length; i++) {
        unsigned bit = bytes[i / 8] >> i % 8 & 1;
        crc = crc >> 1 ^ ((crc ^ bit) & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}
void crc32(const unsigned char *data, unsigned *out, unsigned *slow) {
    for (int i = 0; i < 128; i++) {
        out[i] = checksum(data + 16 * i, 3 + i * 7);
        slow[i] = checksum(data + 16 * i, (3 + i * 7) % 50);
    }
}
#endif
ONCE(crc32)
