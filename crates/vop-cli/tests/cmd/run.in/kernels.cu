// nvcc -lineinfo -arch=sm_75 -ptx kernels.cu, with the path in `.file` shortened
#include <cstdio>
#include <cuda_fp16.h>

extern "C" __global__ void scale(const float *in, float *out, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = factor * in[i];
}

extern "C" __global__ void halve(__half *values) {
    values[threadIdx.x] = __hmul(values[threadIdx.x], __float2half(0.5f));
}

// The barrier is missing.
extern "C" __global__ void reverse(int *data) {
    extern __shared__ int staged[];
    staged[threadIdx.x] = data[threadIdx.x];
    data[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void enqueue(unsigned *queue, unsigned *length) {
    queue[atomicAdd(length, 1)] = blockIdx.x;
}

extern "C" __global__ void hello(int *data, int n) {
    printf("thread %d of %d\n", threadIdx.x, n);
    data[threadIdx.x] = n;
}
