// Atomics with scopes and orders: cuda::atomic_ref, atomics of the block and the system, float64 sums, 64-bit exchanges, 16-bit compare
// and swap.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 # sm_120
// launch atomic_scopes grid=4 block=64
// buffer in u32 @lcg 256 seed 141 range 0 1000
// buffer sums f64 *4
// buffer words u32 *6
// buffer narrow u16 *4
#include "kernel.h"

#ifndef HOST
#include <cuda/atomic>

extern "C" __global__ void atomic_scopes(const unsigned *in, double *sums, unsigned *words, unsigned short *narrow) {
    __shared__ unsigned long long slot;
    unsigned value = in[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 0)
        slot = 0;
    __syncthreads();
    atomicAdd(&sums[blockIdx.x], (double)value + 0.5);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> total(words[0]);
    total.fetch_add(value, cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> most(words[1]);
    most.fetch_max(value, cuda::memory_order_acq_rel);
    atomicOr_system(&words[2], 1u << value % 32);
    atomicAdd_block(&slot, (unsigned long long)value << 20);
    // Counts in 16 bits by compare and swap.
    unsigned short *counter = &narrow[value % 4], seen = *(volatile unsigned short *)counter;
    while (true) {
        unsigned short before = atomicCAS(counter, seen, (unsigned short)(seen + 3));
        if (before == seen)
            break;
        seen = before;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long before = atomicExch(&slot, 77);
        atomicXor(&words[3], (unsigned)(before >> 20));
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> last(words[4]);
        // The last block to come marks it.
        if (last.fetch_add(1, cuda::memory_order_seq_cst) == gridDim.x - 1) {
            cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
            words[5] = total.load(cuda::memory_order_acquire) + (unsigned)slot;
        }
    }
}
#else
void atomic_scopes(const unsigned *in, double *sums, unsigned *words, unsigned short *narrow) {
    for (int block = 0; block < 4; block++) {
        unsigned sum = 0;
        for (int i = 64 * block; i < 64 * block + 64; i++) {
            sum += in[i];
            sums[block] += in[i] + 0.5;
            words[1] = std::max(words[1], in[i]);
            words[2] |= 1u << in[i] % 32;
            narrow[in[i] % 4] += 3;
        }
        words[0] += sum;
        words[3] ^= sum;
    }
    words[4] = 4;
    words[5] = words[0] + 77;
}
#endif
ONCE(atomic_scopes)
