// Cooperative groups: tiles of a warp of several sizes, their shuffles, votes and ranks, coalesced groups in divergent code.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 # sm_120
// launch tiles grid=2 block=64
// buffer in s32 @lcg 128 seed 51 range -500 500
// buffer out s32 *768
#include "kernel.h"

#ifndef HOST
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <class Tile> __device__ int sum(const Tile &tile, int value) {
    for (int step = tile.size() / 2; step > 0; step /= 2)
        value += tile.shfl_xor(value, step);
    return value;
}

extern "C" __global__ void tiles(const int *in, int *out) {
    __shared__ int shared[64];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    auto four = cg::tiled_partition<4>(block);
    int at = blockIdx.x * blockDim.x + block.thread_rank();
    int value = in[at];
    int *to = out + 6 * at;
    to[0] = sum(warp, value);
    to[1] = sum(eight, value);
    to[2] = sum(four, value) * 10 + four.meta_group_rank();
    to[3] = eight.any(value > 400) + 2 * eight.all(value > -400) + 4 * (int)eight.ballot(value > 0);
    to[4] = 0;
    if (value % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        to[4] = active.size() * 1000 + active.thread_rank() * 10 + active.shfl(value, 0) % 10;
    }
    shared[block.thread_rank()] = eight.shfl(value, 2);
    block.sync();
    to[5] = shared[63 - block.thread_rank()];
}
#else
void tiles(const int *in, int *out) {
    for (int at = 0; at < 128; at++) {
        int thread = at % 64, *to = out + 6 * at;
        auto group = [&](int size) { return std::vector<int>(in + at / size * size, in + at / size * size + size); };
        auto sum = [&](int size) {
            int total = 0;
            for (int value : group(size))
                total += value;
            return total;
        };
        to[0] = sum(32);
        to[1] = sum(8);
        to[2] = sum(4) * 10 + thread / 4;
        int any = 0, all = 1, ballot = 0;
        for (int i = 0; i < 8; i++) {
            int value = group(8)[i];
            any |= value > 400;
            all &= value > -400;
            ballot |= (value > 0) << i;
        }
        to[3] = any + 2 * all + 4 * ballot;
        to[4] = 0;
        if (in[at] % 3 == 0) {
            int size = 0, rank = 0, first = 0;
            for (int i = at / 32 * 32; i < at / 32 * 32 + 32; i++)
                if (in[i] % 3 == 0) {
                    if (size == 0)
                        first = in[i];
                    size++;
                    rank += i < at;
                }
            to[4] = size * 1000 + rank * 10 + first % 10;
        }
        int mirrored = at / 64 * 64 + 63 - thread;
        to[5] = in[mirrored / 8 * 8 + 2];
    }
}
#endif
ONCE(tiles)
