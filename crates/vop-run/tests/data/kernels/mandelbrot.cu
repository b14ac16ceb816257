// The Mandelbrot set in float64 and float32 without fused products: loops of very different length side by side.
//
// nvcc -arch=sm_75 -fmad=false
// clang-22 --cuda-gpu-arch=sm_80 -O2 -ffp-contract=off # clang-22
// launch mandelbrot grid=4,3 block=16,8
// buffer turns u16 *1536
// buffer single u16 *1536
// value f64 -0.75
// value f64 0.05
#include "kernel.h"

template <class T> __device__ int escape(T re, T im) {
    T x = 0, y = 0;
    int turn = 0;
    for (; turn < 300 && x * x + y * y < 4; turn++) {
        T next = x * x - y * y + re;
        y = 2 * x * y + im;
        x = next;
    }
    return turn;
}

extern "C" __global__ void mandelbrot(unsigned short *turns, unsigned short *single, double x, double y) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int at = row * (gridDim.x * blockDim.x) + column;
    double re = x + (column - 32) * 0.04, im = y + (row - 12) * 0.09;
    turns[at] = escape<double>(re, im);
    single[at] = escape<float>((float)re, (float)im);
}
EACH_THREAD(mandelbrot)
