// Blocks and grids of three dimensions, their special registers, warps and lanes; loops that stride over the grid.
//
// nvcc -arch=sm_75
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// launch dimensions grid=2,3,4 block=5,3,2
// buffer out u32 *1000
// buffer lanes u32 *720
#include "kernel.h"

#ifdef HOST
#define special(name) ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)
#else
// %laneid is what the manual does not promise; it is the place in the warp on all targets.
__device__ __forceinline__ unsigned lane() {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
#define special(name) lane()
#endif

extern "C" __global__ void dimensions(unsigned *out, unsigned *lanes) {
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned threads = blockDim.x * blockDim.y * blockDim.z, all = threads * gridDim.x * gridDim.y * gridDim.z;
    for (unsigned i = block * threads + thread; i < 1000; i += all)
        out[i] = i * 7 + blockIdx.x * 1000 + blockIdx.y * 10000 + blockIdx.z * 100000 + threadIdx.x * 3 + threadIdx.y * 5 + threadIdx.z * 11 + gridDim.z;
    lanes[block * threads + thread] = special(laneid);
}
EACH_THREAD(dimensions)
