// CUB's radix sort of a block: keys alone, and pairs in descending order.
//
// nvcc -arch=sm_75
// launch cub_sort grid=1 block=64
// buffer keys s32 @lcg 192 seed 59
// buffer sorted s32 *192
// buffer order u32 *192
#include "kernel.h"

#ifndef HOST
#include <cub/block/block_radix_sort.cuh>

extern "C" __global__ void cub_sort(const int *keys, int *sorted, unsigned *order) {
    typedef cub::BlockRadixSort<int, 64, 3> Keys;
    typedef cub::BlockRadixSort<int, 64, 3, unsigned> Pairs;
    __shared__ union {
        typename Keys::TempStorage keys;
        typename Pairs::TempStorage pairs;
    } memory;
    int key[3];
    unsigned value[3];
    for (int i = 0; i < 3; i++)
        key[i] = keys[3 * threadIdx.x + i];
    Keys(memory.keys).Sort(key);
    for (int i = 0; i < 3; i++)
        sorted[3 * threadIdx.x + i] = key[i];
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        // Few different keys, by the lower twelve bits alone: equal ones keep their order.
        key[i] = keys[3 * threadIdx.x + i] & 0x7ff00f;
        value[i] = 3 * threadIdx.x + i;
    }
    Pairs(memory.pairs).SortDescending(key, value, 0, 12);
    for (int i = 0; i < 3; i++)
        order[3 * threadIdx.x + i] = value[i];
}
#else
void cub_sort(const int *keys, int *sorted, unsigned *order) {
    std::copy(keys, keys + 192, sorted);
    std::sort(sorted, sorted + 192);
    for (int i = 0; i < 192; i++)
        order[i] = i;
    std::stable_sort(order, order + 192, [=](unsigned a, unsigned b) { return (keys[a] & 15) > (keys[b] & 15); });
}
#endif
ONCE(cub_sort)
