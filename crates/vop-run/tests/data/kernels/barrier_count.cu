// Barriers that count, and and or a condition over the block.
//
// nvcc -arch=sm_75
// launch barrier_count grid=2 block=70
// buffer in s32 @lcg 140 seed 43 range 0 9
// buffer out s32 *140
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void barrier_count(const int *in, int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int value = in[at];
    int result = 0;
    for (int limit = 0; limit < 10; limit++)
        result = result * 3 + __syncthreads_count(value < limit);
    result += 1000 * (__syncthreads_and(value < 10) != 0) + 2000 * (__syncthreads_and(value < 9) != 0);
    result += 4000 * (__syncthreads_or(value == 9) != 0) + 8000 * (__syncthreads_or(value > 9) != 0);
    out[at] = result;
}
#else
void barrier_count(const int *in, int *out) {
    for (int at = 0; at < 140; at++) {
        const int *block = in + at / 70 * 70;
        int result = 0;
        for (int limit = 0; limit < 10; limit++)
            result = result * 3 + (int)std::count_if(block, block + 70, [=](int v) { return v < limit; });
        bool nine = std::count(block, block + 70, 9) > 0;
        out[at] = result + 1000 + 2000 * !nine + 4000 * nine;
    }
}
#endif
ONCE(barrier_count)
