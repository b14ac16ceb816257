// CUB's scans of a block, inclusive and exclusive, and of a warp.
//
// nvcc -arch=sm_80
// launch cub_scan grid=2 block=96
// buffer in u32 @lcg 192 seed 57
// buffer out u32 *768
#include "kernel.h"

#ifndef HOST
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_scan.cuh>

struct Xor {
    __device__ unsigned operator()(unsigned a, unsigned b) const { return a ^ b; }
};

extern "C" __global__ void cub_scan(const unsigned *in, unsigned *out) {
    typedef cub::BlockScan<unsigned, 96> Scan;
    typedef cub::BlockScan<unsigned, 96, cub::BLOCK_SCAN_WARP_SCANS> ByWarps;
    typedef cub::WarpScan<unsigned> Warp;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename ByWarps::TempStorage by_warps;
    __shared__ typename Warp::TempStorage warp[3];
    int at = blockIdx.x * 96 + threadIdx.x;
    unsigned value = in[at], total, *to = out + 4 * at;
    Scan(scan).ExclusiveSum(value, to[0], total);
    ByWarps(by_warps).InclusiveScan(value, to[1], Xor());
    Warp(warp[threadIdx.x / 32]).InclusiveSum(value >> 8, to[2]);
    to[3] = total;
}
#else
void cub_scan(const unsigned *in, unsigned *out) {
    for (int at = 0; at < 192; at++) {
        unsigned r[4] = {};
        for (int i = at / 96 * 96; i < at / 96 * 96 + 96; i++) {
            if (i < at)
                r[0] += in[i];
            if (i <= at)
                r[1] ^= in[i];
            if (i <= at && i % 96 / 32 == at % 96 / 32)
                r[2] += in[i] >> 8;
            r[3] += in[i];
        }
        std::copy(r, r + 4, out + 4 * at);
    }
}
#endif
ONCE(cub_scan)
