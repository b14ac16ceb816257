// Indirect calls: virtual functions through tables that the kernel sets up, and a table of function pointers indexed by the data, so
// that the threads of a warp call different functions at once.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 -lineinfo # sm_120
// clang --cuda-gpu-arch=sm_75 -O1 # clang
// clang-22 --cuda-gpu-arch=sm_90 -O2 # clang-22
// launch virtual_calls grid=2 block=40
// buffer in s32 @lcg 80 seed 3 range -1000 1000
// buffer areas s32 *80
// buffer applied s32 *80
#include "kernel.h"

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual int scaled(int factor) const { return area() * factor; }
};

struct Rectangle : Shape {
    int width, height;
    __device__ Rectangle(int width, int height) : width(width), height(height) {}
    __device__ int area() const override { return width * height; }
};

struct Square : Rectangle {
    __device__ Square(int side) : Rectangle(side, side) {}
    __device__ int scaled(int factor) const override { return area() * factor * factor; }
};

struct Dot : Shape {
    __device__ int area() const override { return 1; }
};

typedef int (*Operation)(int, int);

__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int larger(int a, int b) { return a > b ? a : b; }

__device__ Operation operations[4] = {add, subtract, multiply, larger};

__device__ __noinline__ int measure(const Shape *shape, int factor) { return shape->area() + shape->scaled(factor); }

extern "C" __global__ void virtual_calls(const int *in, int *areas, int *applied) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int value = in[thread];
    Rectangle rectangle(value, thread + 1);
    Square square(value);
    Dot dot;
    const Shape *shapes[3] = {&rectangle, &square, &dot};
    areas[thread] = measure(shapes[(value & 0x7fffffff) % 3], thread);
    applied[thread] = operations[value & 3](value, thread) + operations[(value >> 2) & 3](thread, value);
}
EACH_THREAD(virtual_calls)
