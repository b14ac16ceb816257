// The kernels of `cargo run --release -- kernels`, in CUDA. `kernels.cl` has them in OpenCL; both compute the same bits, as every fused
// multiplication is written as one and contraction is off.
//
//     nvcc -ptx -arch=sm_80 -fmad=false -o kernels.ptx kernels.cu
//
// What differs: `scan` shuffles here, and uses local memory in OpenCL; `rsqrtf` is approximate.

#include <stdint.h>

// Arithmetic of integers: rounds of a hash.
extern "C" __global__ void hash(uint32_t *out, uint32_t rounds)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t h = i;
    for (uint32_t r = 0; r < rounds; r++) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h ^= h >> 16;
        h += r;
    }
    out[i] = h;
}

// Arithmetic of floats, with loops of different lengths.
extern "C" __global__ void mandelbrot(uint32_t *out, uint32_t width, uint32_t turns)
{
    uint32_t px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float cx = fmaf((float)px, 3.0f / 1024.0f, -2.0f), cy = fmaf((float)py, 2.5f / 1024.0f, -1.25f);
    float x = 0, y = 0;
    uint32_t n = 0;
    while (n < turns) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = fmaf(x + x, y, cy);
        x = xx - yy + cx;
        n++;
    }
    out[py * width + px] = n;
}

// Memory.
extern "C" __global__ void add(const float *a, const float *b, float *c, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

// Tiles of matrices in shared memory.
#define TILE 16
extern "C" __global__ void matmul(const float *a, const float *b, float *c, uint32_t n)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    uint32_t tx = threadIdx.x, ty = threadIdx.y;
    uint32_t row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (uint32_t t = 0; t < n; t += TILE) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum = fmaf(as[ty][k], bs[k][tx], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// All pairs of bodies.
#define BODIES 256
extern "C" __global__ void nbody(const float4 *bodies, float4 *forces, uint32_t n)
{
    __shared__ float4 tile[BODIES];
    uint32_t i = blockIdx.x * BODIES + threadIdx.x;
    float4 own = bodies[i];
    float fx = 0, fy = 0, fz = 0;
    for (uint32_t t = 0; t < n; t += BODIES) {
        tile[threadIdx.x] = bodies[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < BODIES; k++) {
            float4 other = tile[k];
            float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            float square = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f)));
            float inverse = rsqrtf(square);
            float s = other.w * inverse * inverse * inverse;
            fx = fmaf(dx, s, fx);
            fy = fmaf(dy, s, fy);
            fz = fmaf(dz, s, fz);
        }
        __syncthreads();
    }
    forces[i] = make_float4(fx, fy, fz, 0);
}

// Atomics in shared memory.
extern "C" __global__ void histogram(const uint32_t *words, uint32_t *counts, uint32_t n)
{
    __shared__ uint32_t bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint32_t word = words[i];
        atomicAdd(&bins[word & 255], 1);
        atomicAdd(&bins[word >> 8 & 255], 1);
        atomicAdd(&bins[word >> 16 & 255], 1);
        atomicAdd(&bins[word >> 24], 1);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// Loops of different lengths, and loads from anywhere: a search in a tree that nobody has balanced. A node is key, left, right, value;
// the last one is no node.
extern "C" __global__ void tree(const uint4 *nodes, const uint32_t *queries, uint32_t *out, uint32_t none)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t query = queries[i], at = 0, found = 0, steps = 0;
    while (at != none) {
        uint4 node = nodes[at];
        steps++;
        if (query == node.x) {
            found = node.w;
            break;
        }
        if (query < node.x)
            at = node.y;
        else {
            found ^= node.w;
            at = node.z;
        }
    }
    out[i] = found * 64 + steps;
}

// Bytes: how much of a pattern stands at each place of a text.
extern "C" __global__ void match(const uint8_t *text, const uint8_t *pattern, uint8_t *out, uint32_t length)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t k = 0;
    while (k < length && text[i + k] == pattern[k])
        k++;
    out[i] = (uint8_t)k;
}

// A transform of 512 complex numbers by each block of 256 threads, in shared memory.
extern "C" __global__ void fft(const float2 *in, const float2 *roots, float2 *out)
{
    __shared__ float2 points[512];
    uint32_t t = threadIdx.x, base = blockIdx.x * 512;
    points[__brev(t) >> 23] = in[base + t];
    points[__brev(t + 256) >> 23] = in[base + t + 256];
    __syncthreads();
    for (uint32_t half = 1, stride = 256; half < 512; half *= 2, stride /= 2) {
        uint32_t k = t & (half - 1), i = 2 * t - k, j = i + half;
        float2 w = roots[k * stride], a = points[i], b = points[j];
        float re = fmaf(b.x, w.x, -(b.y * w.y)), im = fmaf(b.x, w.y, b.y * w.x);
        points[i] = make_float2(a.x + re, a.y + im);
        points[j] = make_float2(a.x - re, a.y - im);
        __syncthreads();
    }
    out[base + t] = points[t];
    out[base + t + 256] = points[t + 256];
}

// Doubles: seven points of a cube of n x n x n, whose border stays.
extern "C" __global__ void stencil(const double *in, double *out, uint32_t n)
{
    uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1)
        return;
    for (uint32_t z = 1; z < n - 1; z++) {
        uint32_t i = (z * n + y) * n + x;
        double sides = (in[i - 1] + in[i + 1]) + (in[i - n] + in[i + n]) + (in[i - n * n] + in[i + n * n]);
        out[i] = fma(in[i], 0.4, sides * 0.1);
    }
}

// Prefix sums of blocks of 256 words, by shuffles.
extern "C" __global__ void scan(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t sums[8];
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    uint32_t sum = in[i];
    for (int d = 1; d < 32; d *= 2) {
        uint32_t before = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d)
            sum += before;
    }
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    uint32_t ahead = 0;
    for (uint32_t w = 0; w < 8; w++)
        if (w < warp)
            ahead += sums[w];
    out[i] = sum + ahead;
}

// SHA-256 of one message of 64 bytes a thread, with the block of its padding. Words stand at a stride, so that rows are read.
__constant__ uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ __forceinline__ uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

__device__ __forceinline__ void compress(uint32_t s[8], uint32_t w[16])
{
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma unroll
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            uint32_t x = w[(i + 1) & 15], y = w[(i + 14) & 15];
            w[i & 15] += (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[(i + 9) & 15] + (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
        }
        uint32_t t = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + K[i] + w[i & 15];
        uint32_t u = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
        h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

extern "C" __global__ void sha256(const uint32_t *messages, uint32_t *out, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, w[16];
    for (int k = 0; k < 16; k++)
        w[k] = messages[k * n + i];
    compress(s, w);
    for (int k = 0; k < 16; k++)
        w[k] = k == 0 ? 0x80000000u : k == 15 ? 512 : 0;
    compress(s, w);
    for (int k = 0; k < 8; k++)
        out[k * n + i] = s[k];
}
