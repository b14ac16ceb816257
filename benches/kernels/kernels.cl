// The kernels of `cargo run --release -- kernels`, in OpenCL C: see `kernels.cu`.

#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void hash(global uint *out, uint rounds)
{
    uint i = get_global_id(0);
    uint h = i;
    for (uint r = 0; r < rounds; r++) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h ^= h >> 16;
        h += r;
    }
    out[i] = h;
}

kernel void mandelbrot(global uint *out, uint width, uint turns)
{
    uint px = get_global_id(0), py = get_global_id(1);
    float cx = fma((float)px, 3.0f / 1024.0f, -2.0f), cy = fma((float)py, 2.5f / 1024.0f, -1.25f);
    float x = 0, y = 0;
    uint n = 0;
    while (n < turns) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = fma(x + x, y, cy);
        x = xx - yy + cx;
        n++;
    }
    out[py * width + px] = n;
}

kernel void add(global const float *a, global const float *b, global float *c, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}

#define TILE 16
kernel void matmul(global const float *a, global const float *b, global float *c, uint n)
{
    local float as[TILE][TILE], bs[TILE][TILE];
    uint tx = get_local_id(0), ty = get_local_id(1);
    uint row = get_global_id(1), column = get_global_id(0);
    float sum = 0;
    for (uint t = 0; t < n; t += TILE) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum = fma(as[ty][k], bs[k][tx], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

#define BODIES 256
kernel void nbody(global const float4 *bodies, global float4 *forces, uint n)
{
    local float4 tile[BODIES];
    uint i = get_global_id(0);
    float4 own = bodies[i];
    float fx = 0, fy = 0, fz = 0;
    for (uint t = 0; t < n; t += BODIES) {
        tile[get_local_id(0)] = bodies[t + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < BODIES; k++) {
            float4 other = tile[k];
            float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            float square = fma(dx, dx, fma(dy, dy, fma(dz, dz, 0.01f)));
            float inverse = rsqrt(square);
            float s = other.w * inverse * inverse * inverse;
            fx = fma(dx, s, fx);
            fy = fma(dy, s, fy);
            fz = fma(dz, s, fz);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    forces[i] = (float4)(fx, fy, fz, 0);
}

kernel void histogram(global const uint *words, global uint *counts, uint n)
{
    local uint bins[256];
    bins[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        uint word = words[i];
        atomic_inc(&bins[word & 255]);
        atomic_inc(&bins[word >> 8 & 255]);
        atomic_inc(&bins[word >> 16 & 255]);
        atomic_inc(&bins[word >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[get_local_id(0)], bins[get_local_id(0)]);
}

kernel void tree(global const uint4 *nodes, global const uint *queries, global uint *out, uint none)
{
    uint i = get_global_id(0);
    uint query = queries[i], at = 0, found = 0, steps = 0;
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

kernel void match(global const uchar *text, global const uchar *pattern, global uchar *out, uint length)
{
    uint i = get_global_id(0);
    uint k = 0;
    while (k < length && text[i + k] == pattern[k])
        k++;
    out[i] = (uchar)k;
}

// The low nine bits of a word, from the lowest to the highest.
inline uint reversed(uint x)
{
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    x = (x & 0x00ff00ffu) << 8 | (x >> 8 & 0x00ff00ffu);
    return (x << 16 | x >> 16) >> 23;
}

kernel void fft(global const float2 *in, global const float2 *roots, global float2 *out)
{
    local float2 points[512];
    uint t = get_local_id(0), base = get_group_id(0) * 512;
    points[reversed(t)] = in[base + t];
    points[reversed(t + 256)] = in[base + t + 256];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_ = 1, stride = 256; half_ < 512; half_ *= 2, stride /= 2) {
        uint k = t & (half_ - 1), i = 2 * t - k, j = i + half_;
        float2 w = roots[k * stride], a = points[i], b = points[j];
        float re = fma(b.x, w.x, -(b.y * w.y)), im = fma(b.x, w.y, b.y * w.x);
        points[i] = (float2)(a.x + re, a.y + im);
        points[j] = (float2)(a.x - re, a.y - im);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[base + t] = points[t];
    out[base + t + 256] = points[t + 256];
}

kernel void stencil(global const double *in, global double *out, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1)
        return;
    for (uint z = 1; z < n - 1; z++) {
        uint i = (z * n + y) * n + x;
        double sides = (in[i - 1] + in[i + 1]) + (in[i - n] + in[i + n]) + (in[i - n * n] + in[i + n * n]);
        out[i] = fma(in[i], 0.4, sides * 0.1);
    }
}

// Sub-groups are not everywhere: the sums of 32 items stand in local memory.
kernel void scan(global const uint *in, global uint *out)
{
    local uint lanes[2][256];
    uint i = get_global_id(0), t = get_local_id(0), lane = t & 31, warp = t >> 5;
    uint sum = in[i], from = 0;
    for (uint d = 1; d < 32; d *= 2) {
        lanes[from][t] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane >= d)
            sum += lanes[from][t - d];
        from ^= 1;
    }
    lanes[from][t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint ahead = 0;
    for (uint w = 0; w < 8; w++)
        if (w < warp)
            ahead += lanes[from][w * 32 + 31];
    out[i] = sum + ahead;
}

constant uint K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline uint turned(uint x, int n)
{
    return x >> n | x << (32 - n);
}

inline void compress(uint s[8], uint w[16])
{
    uint a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma unroll
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            uint x = w[(i + 1) & 15], y = w[(i + 14) & 15];
            w[i & 15] += (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + w[(i + 9) & 15] + (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
        }
        uint t = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (g ^ (e & (f ^ g))) + K[i] + w[i & 15];
        uint u = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) | (c & (a | b)));
        h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

kernel void sha256(global const uint *messages, global uint *out, uint n)
{
    uint i = get_global_id(0);
    uint s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, w[16];
    for (int k = 0; k < 16; k++)
        w[k] = messages[k * n + i];
    compress(s, w);
    for (int k = 0; k < 16; k++)
        w[k] = k == 0 ? 0x80000000u : k == 15 ? 512 : 0;
    compress(s, w);
    for (int k = 0; k < 8; k++)
        out[k * n + i] = s[k];
}
