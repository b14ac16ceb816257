extern __shared__ float dynamic[];
template <int N> __global__ void reduce(const float *in, float *out) {
    __shared__ float tile[N];
    tile[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int s = N / 2; s; s >>= 1) {
        if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];
        __syncthreads();
    }
    if (!threadIdx.x) out[blockIdx.x] = tile[0] + dynamic[0];
}
template __global__ void reduce<128>(const float *, float *);
