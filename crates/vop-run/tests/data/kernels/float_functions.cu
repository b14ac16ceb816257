// The functions of float32's mathematics as nvcc writes them out: polynomials, reduction of large arguments, special cases.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 # sm_120
// launch float_functions grid=1 block=20
// buffer in f32 @lcg 20 seed 73 range -8 8
// buffer out f32 *400
// within 4ulp|1e-6 out
#include "kernel.h"
#ifdef HOST
// In float64, rounded once.
#define sinf(x) (float)std::sin((double)(x))
#define cosf(x) (float)std::cos((double)(x))
#define tanf(x) (float)std::tan((double)(x))
#define expf(x) (float)std::exp((double)(x))
#define exp2f(x) (float)std::exp2((double)(x))
#define expm1f(x) (float)std::expm1((double)(x))
#define logf(x) (float)std::log((double)(x))
#define log1pf(x) (float)std::log1p((double)(x))
#define log10f(x) (float)std::log10((double)(x))
#define powf(x, y) (float)std::pow((double)(x), (double)(y))
#define atanf(x) (float)std::atan((double)(x))
#define atan2f(x, y) (float)std::atan2((double)(x), (double)(y))
#define asinf(x) (float)std::asin((double)(x))
#define cbrtf(x) (float)std::cbrt((double)(x))
#define hypotf(x, y) (float)std::hypot((double)(x), (double)(y))
#define erff(x) (float)std::erf((double)(x))
#define tanhf(x) (float)std::tanh((double)(x))
#define sinhf(x) (float)std::sinh((double)(x))
#define fmodf(x, y) (float)std::fmod((double)(x), (double)(y))
#endif

extern "C" __global__ void float_functions(const float *in, float *out) {
    float x = in[threadIdx.x], y = fabsf(x) + 0.25f, *to = out + 20 * threadIdx.x;
    to[0] = sinf(x * 1000);
    to[1] = cosf(x * 123456.789f); // needs a reduction with many bits of pi
    to[2] = tanf(x * 0.18f);
    to[3] = expf(x);
    to[4] = exp2f(x * 9);
    to[5] = expm1f(x * 0.01f);
    to[6] = logf(y);
    to[7] = log1pf(y);
    to[8] = log10f(y);
    to[9] = powf(y, x);
    to[10] = atanf(x);
    to[11] = atan2f(x, y - 2);
    to[12] = asinf(x * 0.125f);
    to[13] = cbrtf(x);
    to[14] = hypotf(x, y);
    to[15] = erff(x * 0.5f);
    to[16] = tanhf(x);
    to[17] = sinhf(x * 0.5f);
    to[18] = fmodf(x * 100, 0.75f);
    to[19] = 1 / x + x / y;
}
EACH_THREAD(float_functions)
