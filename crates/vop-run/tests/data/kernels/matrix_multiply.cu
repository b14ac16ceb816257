// A product of matrices by tiles in shared memory; sizes that are no multiples of the tile's. Small whole numbers in float32: exact.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 -lineinfo # sm_90
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// launch matrix_multiply grid=3,2 block=16,16
// buffer a f32 @lcg 630 seed 101 range -8 8
// buffer b f32 @lcg 840 seed 102 range -8 8
// buffer c f32 *1200
// value s32 30
// value s32 40
// value s32 21
#include "kernel.h"

// Rounds to a whole number without a function of the library.
__device__ __forceinline__ float whole(float x) { return (float)(int)x; }

#ifndef HOST
constexpr int TILE = 16;

extern "C" __global__ void matrix_multiply(const float *a, const float *b, float *c, int rows, int columns, int inner) {
    __shared__ float left[TILE][TILE], right[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < inner; k += TILE) {
        left[threadIdx.y][threadIdx.x] = row < rows && k + threadIdx.x < inner ? whole(a[row * inner + k + threadIdx.x]) : 0;
        right[threadIdx.y][threadIdx.x] = column < columns && k + threadIdx.y < inner ? whole(b[(k + threadIdx.y) * columns + column]) : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
}
#else
void matrix_multiply(const float *a, const float *b, float *c, int rows, int columns, int inner) {
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++)
            for (int k = 0; k < inner; k++)
                c[row * columns + column] += whole(a[row * inner + k]) * whole(b[k * columns + column]);
}
#endif
ONCE(matrix_multiply)
