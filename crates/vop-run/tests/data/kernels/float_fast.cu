// The approximate functions that -use_fast_math puts everywhere: sines, powers, logarithms, roots, division; within what the manual
// allows them.
//
// nvcc -arch=sm_75 -use_fast_math
// nvcc -arch=sm_90 -use_fast_math -lineinfo # sm_90
// launch float_fast grid=1 block=24
// buffer in f32 @lcg 24 seed 71 range 0.1 6
// buffer out f32 *216
// buffer rough f32 *24
// within 1e-5 out
// within 5e-4 rough
#include "kernel.h"
#ifdef HOST
#define __sinf(x) (float)(std::sin((double)(x)))
#define __cosf(x) (float)(std::cos((double)(x)))
#define __expf(x) (float)(std::exp((double)(x)))
#define __logf(x) (float)(std::log((double)(x)))
#define rsqrtf(x) (float)(1 / std::sqrt((double)(x)))
#define __fdividef(a, b) (float)((double)(a) / (b))
#define __saturatef(x) (float)(std::min(std::max((x), 0.f), 1.f))
#define __powf(x, y) (float)(std::pow((double)(x), (double)(y)))
#endif

extern "C" __global__ void float_fast(const float *in, float *out, float *rough) {
    float x = in[threadIdx.x], *to = out + 9 * threadIdx.x;
    to[0] = __sinf(x - 3);
    to[1] = __cosf(x - 3);
    to[2] = __expf(-x);
    to[3] = __logf(x);
    to[4] = rsqrtf(x);
    to[5] = __fdividef(1, x + 1);
    to[6] = __powf(x, 0.5f);
    to[7] = __saturatef(x - 2);
    to[8] = sqrtf(x) * 0.5f + 1 / (x + 2);
    rough[threadIdx.x] = tanhf(x - 2); // one instruction, to 11 bits
}
EACH_THREAD(float_fast)
