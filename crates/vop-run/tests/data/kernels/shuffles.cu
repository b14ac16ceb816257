// Shuffles of all four kinds, whole warps and parts of one, 32 and 64 bits, and a scan that is made of them. The last warp of a block
// is not full.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 # sm_120
// clang --cuda-gpu-arch=sm_75 -O2 -Xclang -target-feature -Xclang +ptx64 # clang
// launch shuffles grid=2 block=72
// buffer in s32 @lcg 144 seed 23
// buffer out s32 *1440
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void shuffles(const int *in, int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    unsigned full = threadIdx.x / 32 == 2 ? 0xffu : 0xffffffffu;
    int value = in[at];
    int *to = out + 10 * at;
    to[0] = __shfl_sync(full, value, 5);
    to[1] = __shfl_sync(full, value, (lane * 7 + 1) % 8);
    to[2] = __shfl_up_sync(full, value, 3);
    to[3] = __shfl_down_sync(full, value, 1);
    to[4] = __shfl_xor_sync(full, value, 4);
#ifdef __clang__
    // In groups of eight lanes.
    to[5] = __nvvm_shfl_sync_up_i32(full, value, 2, 0x1800);
    to[6] = __nvvm_shfl_sync_down_i32(full, value, 2, 0x181f);
    to[7] = __nvvm_shfl_sync_idx_i32(full, value, 3, 0x181f);
#else
    to[5] = __shfl_up_sync(full, value, 2, 8);
    to[6] = __shfl_down_sync(full, value, 2, 8);
    to[7] = __shfl_sync(full, value, 3, 8);
#endif
    long long wide = (long long)value * value;
    int low = __shfl_sync(full, (int)wide, 2), high = __shfl_sync(full, (int)(wide >> 32), 2);
    to[8] = low ^ high;
    // Only the odd lanes take part.
    to[9] = 0;
    if (lane % 2)
        to[9] = __shfl_xor_sync(full & 0xaaaaaaaau, value, 2);
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(full, value, step);
        if (lane >= step)
            value += other;
    }
    to[9] += value;
}
#else
void shuffles(const int *in, int *out) {
    for (int at = 0; at < 144; at++) {
        int thread = at % 72, lane = thread % 32, lanes = thread / 32 == 2 ? 8 : 32;
        const int *warp = in + at - lane;
        int *to = out + 10 * at;
        // What a lane reads beyond the warp's active lanes is undefined: none does, except for the last lane of a warp that is not full,
        // which gets 0. The last lane of a full warp keeps its own.
        to[0] = warp[5];
        to[1] = warp[(lane * 7 + 1) % 8];
        to[2] = lane >= 3 ? warp[lane - 3] : warp[lane];
        to[3] = lane + 1 < lanes ? warp[lane + 1] : lanes == 32 ? warp[lane] : 0;
        to[4] = warp[lane ^ 4];
        to[5] = lane % 8 >= 2 ? warp[lane - 2] : warp[lane];
        to[6] = lane % 8 + 2 < 8 ? warp[lane + 2] : warp[lane];
        to[7] = warp[lane / 8 * 8 + 3];
        long long wide = (long long)warp[2] * warp[2];
        to[8] = (int)wide ^ (int)(wide >> 32);
        to[9] = lane % 2 ? warp[lane ^ 2] : 0;
        for (int i = 0; i <= lane; i++)
            to[9] = (int)((unsigned)to[9] + (unsigned)warp[i]);
    }
}
#endif
ONCE(shuffles)
