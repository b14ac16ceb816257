// A handle that is that of no texture is an error, which names the instruction.
//
// nvcc -arch=sm_75
// launch texture_of_nothing grid=1 block=32
// value u64 0
// buffer out f32 *32
// fails tex.
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void texture_of_nothing(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);
}
#endif
