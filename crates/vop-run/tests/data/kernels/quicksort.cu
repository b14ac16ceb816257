// Quicksort by recursion on an array in local memory: pointers into the caller's frame are handed down.
//
// nvcc -arch=sm_80
// nvcc -arch=sm_90 -G # debug
// clang --cuda-gpu-arch=sm_75 -O0 # clang-O0
// launch quicksort grid=2 block=16
// buffer in s32 @lcg 736 seed 11
// buffer out s32 *736
// buffer swaps u32 *32
#include "kernel.h"

constexpr int COUNT = 23;

__device__ __noinline__ unsigned sort(int *first, int *last) {
    if (last - first < 2)
        return 0;
    int pivot = first[(last - first) / 2];
    int *low = first, *high = last - 1;
    unsigned swaps = 0;
    while (low <= high) {
        while (*low < pivot)
            low++;
        while (*high > pivot)
            high--;
        if (low > high)
            break;
        int value = *low;
        *low++ = *high;
        *high-- = value;
        swaps++;
    }
    swaps += sort(first, high + 1);
    swaps += sort(low, last);
    return swaps;
}

extern "C" __global__ void quicksort(const int *in, int *out, unsigned *swaps) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = in[thread * COUNT + i];
    swaps[thread] = sort(values, values + COUNT);
    for (int i = 0; i < COUNT; i++)
        out[thread * COUNT + i] = values[i];
}
EACH_THREAD(quicksort)
