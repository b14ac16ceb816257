// float64: exponentials, logarithms, powers, sines, division and roots, which nvcc writes out from polynomials and halves of words.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 # sm_120
// launch double_functions grid=1 block=16
// buffer in f64 @lcg 16 seed 79 range -5 5
// buffer out f64 *256
// within 4ulp|1e-14 out
#include "kernel.h"

extern "C" __global__ void double_functions(const double *in, double *out) {
    double x = in[threadIdx.x], y = fabs(x) + 0.125, *to = out + 16 * threadIdx.x;
    to[0] = exp(x);
    to[1] = log(y);
    to[2] = pow(y, x);
    to[3] = sin(x * 100);
    to[4] = cos(x);
    to[5] = x / y;
    to[6] = sqrt(y);
    to[7] = atan(x);
    to[8] = fma(x, y, 1e-9);
    to[9] = floor(x) + ceil(y) + trunc(x * 10) + rint(x * 3);
    to[10] = fmin(x, y) - fmax(x, 0.5);
    to[11] = cbrt(x);
    to[12] = exp2(x) + log2(y);
    to[13] = 1 / sqrt(y);
    to[14] = tanh(x);
    to[15] = (double)(float)x + (double)(long long)(x * 1e15) * 1e-15 + (double)(unsigned)(y * 1e8);
}
EACH_THREAD(double_functions)
