// A transposition through shared memory with two dimensions of blocks and threads; each thread moves several rows.
//
// nvcc -arch=sm_75
// clang-22 --cuda-gpu-arch=sm_75 -O2 # clang-22
// launch transpose grid=3,2 block=32,8
// buffer in u16 @lcg 3431 seed 103
// buffer out u16 *3431
// value s32 73
// value s32 47
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void transpose(const unsigned short *in, unsigned short *out, int width, int height) {
    __shared__ unsigned short tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < width && y + i < height)
            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < height && y + i < width)
            out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}
#else
void transpose(const unsigned short *in, unsigned short *out, int width, int height) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            out[x * height + y] = in[y * width + x];
}
#endif
ONCE(transpose)
