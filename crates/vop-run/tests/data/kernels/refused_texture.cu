// What cannot be run must be refused by name, before anything runs: textures.
//
// nvcc -arch=sm_75
// launch refused_texture grid=1 block=32
// value u64 0
// buffer out f32 *32
// fails tex.
#include "kernel.h"

#ifndef HOST
extern "C" __global__ void refused_texture(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);
}
#endif
