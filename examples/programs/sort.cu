// A sort and a sum of CUB.

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include "check.h"

constexpr int COUNT = 5000;

int main() {
    unsigned *keys, *sorted, *values, *moved;
    unsigned long long *sum, expected = 0;
    CHECK(cudaMallocManaged(&keys, COUNT * sizeof(unsigned)));
    CHECK(cudaMallocManaged(&sorted, COUNT * sizeof(unsigned)));
    CHECK(cudaMallocManaged(&values, COUNT * sizeof(unsigned)));
    CHECK(cudaMallocManaged(&moved, COUNT * sizeof(unsigned)));
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    unsigned state = 12345;
    for (unsigned i = 0; i < COUNT; i++) {
        state = state * 1664525 + 1013904223;
        keys[i] = state >> 8;
        values[i] = i;
        expected += keys[i];
    }
    size_t size = 0;
    void *scratch = nullptr;
    CHECK(cub::DeviceRadixSort::SortPairs(scratch, size, keys, sorted, values, moved, COUNT));
    CHECK(cudaMalloc(&scratch, size));
    CHECK(cub::DeviceRadixSort::SortPairs(scratch, size, keys, sorted, values, moved, COUNT));
    CHECK(cudaDeviceSynchronize());
    bool is_sorted = true, is_moved = true;
    for (int i = 0; i < COUNT; i++) {
        is_sorted &= i == 0 || sorted[i - 1] <= sorted[i];
        is_moved &= moved[i] < COUNT && keys[moved[i]] == sorted[i];
    }
    expect("keys are sorted", is_sorted);
    expect("values moved with them", is_moved);
    CHECK(cudaFree(scratch));

    scratch = nullptr;
    CHECK(cub::DeviceReduce::Sum(scratch, size, sorted, sum, COUNT));
    CHECK(cudaMalloc(&scratch, size));
    CHECK(cub::DeviceReduce::Sum(scratch, size, sorted, sum, COUNT));
    CHECK(cudaDeviceSynchronize());
    // CUB adds in the type of the result.
    expect("sum", *sum == expected);
    for (void *pointer : {(void *)keys, (void *)sorted, (void *)values, (void *)moved, (void *)sum, scratch}) CHECK(cudaFree(pointer));
    return wrong;
}
