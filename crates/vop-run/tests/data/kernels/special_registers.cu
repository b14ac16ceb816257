// What a thread can ask about itself: masks of lanes, numbers of warps, clocks that don't run backwards, sizes of shared memory.
//
// nvcc -arch=sm_75
// launch special_registers grid=2 block=70 shared=512
// buffer out u32 *1120
#include "kernel.h"

#ifndef HOST
extern __shared__ unsigned dynamic[];

extern "C" __global__ void special_registers(unsigned *out) {
    unsigned *to = out + 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    dynamic[threadIdx.x] = 1;
    long long before = clock64();
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(to[0]));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(to[1]));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(to[2]));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(to[3]));
    asm("mov.u32 %0, %%laneid;" : "=r"(to[4]));
    unsigned static_size, dynamic_size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic_size));
    asm("mov.u32 %0, %%total_smem_size;" : "=r"(static_size));
    to[5] = dynamic_size;
    // Rounded up by the hardware: at least what was asked for.
    to[6] = static_size >= 512;
    unsigned long long timer;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    __nanosleep(20);
    to[7] = clock64() >= before && gridDim.x == 2;
}
#else
void special_registers(unsigned *out) {
    for (int i = 0; i < 140; i++) {
        unsigned thread = i % 70, lane = thread % 32;
        unsigned results[8] = {(1u << lane) - 1, ~0u << lane, 1u << lane, thread / 32, lane, 512, 1, 1};
        std::copy(results, results + 8, out + 8 * i);
    }
}
#endif
ONCE(special_registers)
