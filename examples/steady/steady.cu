// Steadying a shaken camera: by how much did a picture move since the one before, in quarters of a pixel? Finds the shift at which both
// differ least, and writes the second picture as it would be without it.
//
// Compiled to steady.ptx with:  nvcc -arch=sm_75 -ptx steady.cu
// Run on the CPU with:          vop run steady.toml

typedef unsigned char byte;
typedef unsigned int word; // four pixels

// c plus the sum of the absolute differences of four pixels.
__device__ __forceinline__ word sad4(word a, word b, word c) {
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
    return c;
}

// The shifts that are compared: 9 x 9 around a centre. Pixels nearer to the edge than MARGIN are not compared.
constexpr int SIDE = 9, MARGIN = 8, THREADS = 128;

// The pixel of `moved` that stands at x, y of the other picture, if it moved by dx, dy quarters: between pixels, the texture filters.
__device__ __forceinline__ word moved_pixel(cudaTextureObject_t moved, int x, int y, int dx, int dy) {
    float pixel = tex2D<float>(moved, x + 0.5f + dx * 0.25f, y + 0.5f + dy * 0.25f);
    return __float2uint_rn(pixel * 255.0f);
}

// Sums up how much both pictures differ, for one shift a block: `step` quarters from shift to shift.
extern "C" __global__ void score(cudaTextureObject_t still, cudaTextureObject_t moved, int width, int height, const int *centre, int step, word *scores) {
    __shared__ word sums[THREADS];
    int dx = centre[0] + ((int)blockIdx.x - SIDE / 2) * step, dy = centre[1] + ((int)blockIdx.y - SIDE / 2) * step;
    int quads = (width - 2 * MARGIN) / 4, rows = height - 2 * MARGIN;
    word sum = 0;
    for (int i = threadIdx.x; i < quads * rows; i += THREADS) {
        int x = MARGIN + i % quads * 4, y = MARGIN + i / quads;
        word a = 0, b = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            a |= (word)tex2D<byte>(still, x + k + 0.5f, y + 0.5f) << 8 * k;
            b |= moved_pixel(moved, x + k, y, dx, dy) << 8 * k;
        }
        sum = sad4(a, b, sum);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        scores[blockIdx.y * SIDE + blockIdx.x] = sums[0];
}

// Moves the centre to the shift of the least score, of equal ones the first.
extern "C" __global__ void choose(const word *scores, int step, int *centre) {
    int best = 0;
    for (int i = 1; i < SIDE * SIDE; i++)
        if (scores[i] < scores[best])
            best = i;
    centre[0] += (best % SIDE - SIDE / 2) * step;
    centre[1] += (best / SIDE - SIDE / 2) * step;
}

// Writes the second picture where it would be if the camera had not moved. What it does not show is the pixel at its edge.
extern "C" __global__ void steady(cudaTextureObject_t moved, const int *shift, int width, int height, cudaSurfaceObject_t picture) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        surf2Dwrite<byte>(moved_pixel(moved, x, y, shift[0], shift[1]), picture, x, y);
}
