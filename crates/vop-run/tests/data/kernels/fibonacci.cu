// Recursion of two kinds: Fibonacci numbers, and Ackermann's function, whose depth is not known beforehand.
//
// nvcc -arch=sm_75
// clang --cuda-gpu-arch=sm_75 -O1 # clang
// clang --cuda-gpu-arch=sm_70 -O0 # clang-O0
// clang-22 --cuda-gpu-arch=sm_75 -O0 # clang-22
// launch fibonacci grid=2 block=9
// buffer fib u32 *18
// buffer ack u32 *18
#include "kernel.h"

__device__ __noinline__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void fibonacci(unsigned *out, unsigned *ack) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fib(i);
    ack[i] = ackermann(i % 3, i / 3);
}
EACH_THREAD(fibonacci)
