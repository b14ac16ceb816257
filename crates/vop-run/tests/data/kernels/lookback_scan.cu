// A scan over many blocks in one launch: each block publishes its sum and looks back at those before it, waiting where they have not
// got that far (decoupled lookback). Blocks take their number from a counter, so that those waited for have started.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 # sm_120
// launch lookback_scan grid=20 block=64
// buffer in u32 @lcg 1280 seed 107 range 0 99999
// buffer out u32 *1280
// buffer ticket u32 *1
// buffer status u64 *20
#include "kernel.h"

#ifndef HOST
constexpr unsigned SUM = 1, PREFIX = 2;

extern "C" __global__ void lookback_scan(const unsigned *in, unsigned *out, unsigned *ticket, volatile unsigned long long *status) {
    __shared__ unsigned number, before, scan[64];
    if (threadIdx.x == 0)
        number = atomicAdd(ticket, 1);
    __syncthreads();
    int at = number * 64 + threadIdx.x;
    scan[threadIdx.x] = in[at];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        unsigned other = threadIdx.x >= step ? scan[threadIdx.x - step] : 0;
        __syncthreads();
        scan[threadIdx.x] += other;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        unsigned long long sum = scan[63];
        status[number] = (unsigned long long)(number == 0 ? PREFIX : SUM) << 32 | sum;
        __threadfence();
        unsigned prefix = 0;
        for (int i = (int)number - 1; i >= 0; i--) {
            unsigned long long word;
            do {
                word = status[i];
            } while (word >> 32 == 0);
            prefix += (unsigned)word;
            if (word >> 32 == PREFIX)
                break;
        }
        before = prefix;
        status[number] = (unsigned long long)PREFIX << 32 | (prefix + sum);
    }
    __syncthreads();
    out[at] = before + scan[threadIdx.x];
}
#else
void lookback_scan(const unsigned *in, unsigned *out, unsigned *ticket, volatile unsigned long long *status) {
    unsigned sum = 0;
    for (int i = 0; i < 1280; i++) {
        out[i] = sum += in[i];
        if (i % 64 == 63)
            status[i / 64] = 2ull << 32 | sum;
    }
    *ticket = 20;
}
#endif
ONCE(lookback_scan)
