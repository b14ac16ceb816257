#include <cstdio>
__constant__ unsigned char table[16] = {1, 2, 3, 4};
__device__ float scale = 2.5f;
__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
extern "C" __global__ void shout(const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) printf("%d \"quoted\" {brace; \\ %f\n", i, in[i] * scale + table[i & 15]);
    if (i == 0) printf("five! = %d\n", factorial(n));
}
