// CUB's reductions of a warp and of a block, by its two algorithms, with operators of our own.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 # sm_90
// launch cub_reduce grid=2 block=128
// buffer in s32 @lcg 512 seed 53 range -1000000 1000000
// buffer out s32 *8
// buffer warps s32 *8
#include "kernel.h"

#ifndef HOST
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>

struct Largest {
    __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

extern "C" __global__ void cub_reduce(const int *in, int *out, int *warps) {
    typedef cub::BlockReduce<int, 128> Shuffling;
    typedef cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_RAKING> Raking;
    typedef cub::WarpReduce<int> Warp;
    __shared__ union {
        typename Shuffling::TempStorage shuffling;
        typename Raking::TempStorage raking;
        typename Warp::TempStorage warp[4];
    } memory;
    int thread = threadIdx.x, values[2] = {in[blockIdx.x * 256 + 2 * thread], in[blockIdx.x * 256 + 2 * thread + 1]};
    int sum = Shuffling(memory.shuffling).Sum(values);
    __syncthreads();
    int largest = Raking(memory.raking).Reduce(values, Largest());
    __syncthreads();
    int odd = Shuffling(memory.shuffling).Sum(values[0] & 1, 100); // of the first hundred threads
    __syncthreads();
    int warp = Warp(memory.warp[thread / 32]).Reduce(values[1], Largest());
    if (thread % 32 == 0)
        warps[blockIdx.x * 4 + thread / 32] = warp;
    if (thread == 0) {
        out[4 * blockIdx.x] = sum;
        out[4 * blockIdx.x + 1] = largest;
        out[4 * blockIdx.x + 2] = odd;
        out[4 * blockIdx.x + 3] = 12345;
    }
}
#else
void cub_reduce(const int *in, int *out, int *warps) {
    for (int block = 0; block < 2; block++) {
        const int *values = in + 256 * block;
        int sum = 0, odd = 0;
        for (int i = 0; i < 256; i++)
            sum += values[i];
        for (int i = 0; i < 200; i += 2)
            odd += values[i] & 1;
        out[4 * block] = sum;
        out[4 * block + 1] = *std::max_element(values, values + 256);
        out[4 * block + 2] = odd;
        out[4 * block + 3] = 12345;
        for (int warp = 0; warp < 4; warp++) {
            int largest = INT_MIN;
            for (int i = 0; i < 32; i++)
                largest = std::max(largest, values[64 * warp + 2 * i + 1]);
            warps[4 * block + warp] = largest;
        }
    }
}
#endif
ONCE(cub_reduce)
