// How many ways are there to place n queens? Backtracking, with a stack in local memory (no recursion) and with recursion; each thread
// begins with other queens.
//
// nvcc -arch=sm_75
// clang-22 --cuda-gpu-arch=sm_75 -O2 # clang-22
// launch queens grid=1 block=64
// buffer counts u32 *64
// buffer again u32 *64
// value s32 8
#include "kernel.h"

__device__ __noinline__ unsigned place(int n, unsigned columns, unsigned left, unsigned right) {
    unsigned all = (1u << n) - 1, count = 0;
    if (columns == all)
        return 1;
    for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
        unsigned bit = free & (0u - free);
        count += place(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}

extern "C" __global__ void queens(unsigned *counts, unsigned *again, int n) {
    int first = threadIdx.x / n, second = threadIdx.x % n;
    counts[threadIdx.x] = again[threadIdx.x] = 0;
    if (first == second || first - second == 1 || second - first == 1)
        return;
    int rows[16];
    rows[0] = first;
    rows[1] = second;
    int depth = 2;
    rows[2] = -1;
    unsigned count = 0;
    while (depth >= 2) {
        int column = ++rows[depth];
        if (column == n) {
            depth--;
            continue;
        }
        bool attacked = false;
        for (int i = 0; i < depth && !attacked; i++) {
            int difference = rows[i] - column;
            attacked = difference == 0 || difference == depth - i || difference == i - depth;
        }
        if (attacked)
            continue;
        if (depth == n - 1) {
            count++;
            continue;
        }
        rows[++depth] = -1;
    }
    counts[threadIdx.x] = count;
    unsigned a = 1u << first, b = 1u << second;
    again[threadIdx.x] = place(n, a | b, (a << 1 | b) << 1, (a >> 1 | b) >> 1);
}
EACH_THREAD(queens)
