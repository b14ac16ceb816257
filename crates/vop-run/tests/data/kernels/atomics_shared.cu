// Atomics in shared memory and on floats: a histogram, sums of whole numbers in float32 and float64 (exact in any order), and a list
// that threads append to.
//
// nvcc -arch=sm_80
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// launch atomics_shared grid=2 block=128
// buffer in u32 @lcg 256 seed 19 range 0 1000
// buffer histogram u32 *32
// buffer sums f32 *2
// buffer found u32 *2
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void atomics_shared(const unsigned *in, unsigned *histogram, float *sums, unsigned *found) {
    __shared__ unsigned bins[16];
    __shared__ float sum;
    __shared__ int count;
    __shared__ unsigned list[128];
    int thread = threadIdx.x;
    if (thread < 16)
        bins[thread] = 0;
    if (thread == 0) {
        sum = 0;
        count = 0;
    }
    __syncthreads();
    unsigned value = in[blockIdx.x * blockDim.x + thread];
    atomicAdd(&bins[value % 16], 1u);
    atomicAdd(&sum, (float)value);
    if (value % 5 == 0)
        list[atomicAdd(&count, 1)] = value;
    __syncthreads();
    if (thread < 16)
        histogram[blockIdx.x * 16 + thread] = bins[thread];
    if (thread == 0) {
        atomicAdd(&sums[blockIdx.x], sum);
        unsigned total = 0;
        for (int i = 0; i < count; i++)
            total += list[i] * list[i];
        found[blockIdx.x] = total;
    }
}
#else
void atomics_shared(const unsigned *in, unsigned *histogram, float *sums, unsigned *found) {
    for (int i = 0; i < 256; i++) {
        histogram[i / 128 * 16 + in[i] % 16]++;
        sums[i / 128] += in[i];
        if (in[i] % 5 == 0)
            found[i / 128] += in[i] * in[i];
    }
}
#endif
ONCE(atomics_shared)
