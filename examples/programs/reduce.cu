// A sum with cooperative groups: lanes of a tile, the threads of a block, and blocks of a grid that wait for each other.

#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

constexpr int THREADS = 128;

__global__ void sum(const int *values, int count, long long *parts, long long *total) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    __shared__ long long of_tiles[THREADS / 32];

    long long mine = 0;
    for (unsigned long long i = grid.thread_rank(); i < count; i += grid.size()) mine += values[i];
    for (int distance = tile.size() / 2; distance > 0; distance /= 2) mine += tile.shfl_down(mine, distance);
    if (tile.thread_rank() == 0) of_tiles[tile.meta_group_rank()] = mine;
    block.sync();
    if (block.thread_rank() == 0) {
        long long of_block = 0;
        for (long long of_tile : of_tiles) of_block += of_tile;
        parts[blockIdx.x] = of_block;
    }
    // Every block has written its part before the first one reads them all.
    grid.sync();
    if (grid.thread_rank() == 0) {
        *total = 0;
        for (unsigned i = 0; i < gridDim.x; i++) *total += parts[i];
    }
}

int main() {
    int supported = 0, per_processor = 0, processors = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    expect("cooperative launches are supported", supported);
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, sum, THREADS, 0));
    expect("blocks fit a multiprocessor", per_processor > 0);
    int blocks = per_processor * processors < 24 ? per_processor * processors : 24;

    int count = 100000, *values;
    long long *parts, *total, expected = 0;
    CHECK(cudaMallocManaged(&values, count * sizeof(int)));
    CHECK(cudaMallocManaged(&parts, blocks * sizeof(long long)));
    CHECK(cudaMallocManaged(&total, sizeof(long long)));
    for (int i = 0; i < count; i++) expected += values[i] = (i * 7919) % 1000 - 300;
    void *arguments[] = {&values, &count, &parts, &total};
    CHECK(cudaLaunchCooperativeKernel((const void *)sum, dim3(blocks), dim3(THREADS), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    expect("sum", *total == expected);

    // More blocks than run at once can never meet.
    cudaError_t error = cudaLaunchCooperativeKernel((const void *)sum, dim3(1 << 20), dim3(THREADS), arguments, 0, 0);
    expect("a grid that is too large is refused", error == cudaErrorCooperativeLaunchTooLarge);
    expect("and it is the last error", cudaGetLastError() == error && cudaGetLastError() == cudaSuccess);
    CHECK(cudaFree(values));
    CHECK(cudaFree(parts));
    CHECK(cudaFree(total));
    return wrong;
}
