// A picture's histogram and statistics, and the picture with equalised brightness (histogram equalisation). Uses shared memory,
// shuffles and atomics.
//
// Compiled to histogram.ptx with:  nvcc -arch=sm_75 -ptx histogram.cu
// Run on the CPU with:             vop run histogram.toml

typedef unsigned char byte;
typedef unsigned int word; // four pixels
typedef unsigned long long wide;

constexpr int LEVELS = 256, WARP = 32;
constexpr word ALL = ~0u;

// Counts how often each of 256 levels of brightness occurs. Each warp counts in a table of its own, so that fewer threads update
// one counter at a time. `count` pixels are a multiple of 4; `histogram` starts as zeros.
constexpr int COUNTERS = 256, TABLES = COUNTERS / WARP;
extern "C" __global__ void histogram(const word *pixels, int count, word *histogram) {
    __shared__ word tables[TABLES][LEVELS];
    for (int i = threadIdx.x; i < TABLES * LEVELS; i += COUNTERS)
        tables[0][i] = 0;
    __syncthreads();
    word *table = tables[threadIdx.x / WARP];
    for (int i = blockIdx.x * COUNTERS + threadIdx.x; i < count / 4; i += gridDim.x * COUNTERS) {
        word four = pixels[i];
        atomicAdd(&table[four & 255], 1);
        atomicAdd(&table[four >> 8 & 255], 1);
        atomicAdd(&table[four >> 16 & 255], 1);
        atomicAdd(&table[four >> 24], 1);
    }
    __syncthreads();
    for (int level = threadIdx.x; level < LEVELS; level += COUNTERS) {
        word sum = 0;
        for (int i = 0; i < TABLES; i++)
            sum += tables[i][level];
        if (sum)
            atomicAdd(&histogram[level], sum);
    }
}

// Adds up over a warp: the first lane has the sum.
__device__ __forceinline__ word warp_sum(word value) {
    for (int step = WARP / 2; step > 0; step /= 2)
        value += __shfl_down_sync(ALL, value, step);
    return value;
}

// The sum of all pixels, the sum of squares, 255 minus the darkest pixel, and the brightest pixel. `found` starts as zeros.
extern "C" __global__ void statistics(const word *pixels, int count, wide *found) {
    word sum = 0, squares = 0, least = ~0u, greatest = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count / 4; i += gridDim.x * blockDim.x) {
        word four = pixels[i];
        // The dot product of bytes and ones is their sum; the dot product with themselves is the sum of their squares.
        sum = __dp4a(four, 0x01010101u, sum);
        squares = __dp4a(four, four, squares);
        least = __vminu4(least, four);
        greatest = __vmaxu4(greatest, four);
    }
    sum = warp_sum(sum);
    squares = warp_sum(squares);
    for (int step = WARP / 2; step > 0; step /= 2) {
        least = __vminu4(least, __shfl_xor_sync(ALL, least, step));
        greatest = __vmaxu4(greatest, __shfl_xor_sync(ALL, greatest, step));
    }
    if (threadIdx.x % WARP == 0) {
        atomicAdd(&found[0], (wide)sum);
        atomicAdd(&found[1], (wide)squares);
        for (int i = 0; i < 4; i++) {
            atomicMax(&found[2], (wide)(255 - (least >> 8 * i & 255)));
            atomicMax(&found[3], (wide)(greatest >> 8 * i & 255));
        }
    }
}

// The sum over a block's threads up to this one, by scans of the warps and a scan of their sums.
__device__ word block_scan(word value) {
    __shared__ word totals[WARP];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int step = 1; step < WARP; step *= 2) {
        word other = __shfl_up_sync(ALL, value, step);
        value += lane >= step ? other : 0;
    }
    if (lane == WARP - 1)
        totals[warp] = value;
    __syncthreads();
    if (warp == 0) {
        word total = lane < blockDim.x / WARP ? totals[lane] : 0;
        for (int step = 1; step < WARP; step *= 2) {
            word other = __shfl_up_sync(ALL, total, step);
            total += lane >= step ? other : 0;
        }
        totals[lane] = total;
    }
    __syncthreads();
    return value + (warp > 0 ? totals[warp - 1] : 0);
}

// The new level of each level, so that all new levels are about equally frequent. Launch one block of 256 threads.
extern "C" __global__ void equalise(const word *histogram, int count, byte *levels) {
    __shared__ word darkest;
    word own = histogram[threadIdx.x];
    word up_to = block_scan(own);
    // The first level that occurs becomes 0.
    if (own > 0 && up_to == own)
        darkest = own;
    __syncthreads();
    word above = up_to > darkest ? up_to - darkest : 0, span = max(count - darkest, 1);
    levels[threadIdx.x] = (above * 255 + span / 2) / span;
}

// Replaces each pixel's level.
extern "C" __global__ void apply(const word *pixels, int count, const byte *levels, word *out) {
    __shared__ byte table[LEVELS];
    for (int i = threadIdx.x; i < LEVELS; i += blockDim.x)
        table[i] = levels[i];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count / 4; i += gridDim.x * blockDim.x) {
        word four = pixels[i];
        out[i] = table[four & 255] | table[four >> 8 & 255] << 8 | table[four >> 16 & 255] << 16 | table[four >> 24] << 24;
    }
}

// Draws a histogram as columns, two pixels each: a block of 256 threads draws its part, HEIGHT rows, of `picture`, which is 512 pixels
// wide; rows from `top` on. The highest column is as high as the part; a thin line shows the sum up to each level.
constexpr int HEIGHT = 160;
extern "C" __global__ void draw(const word *histogram, byte *picture, int top) {
    __shared__ word highest, all;
    int level = threadIdx.x;
    if (level == 0)
        highest = 0;
    __syncthreads();
    word own = histogram[level], most = own;
    for (int step = WARP / 2; step > 0; step /= 2)
        most = max(most, __shfl_xor_sync(ALL, most, step));
    if (level % WARP == 0)
        atomicMax(&highest, most);
    word up_to = block_scan(own);
    if (level == LEVELS - 1)
        all = up_to;
    __syncthreads();

    int column = (own * (wide)(HEIGHT - 8) + highest - 1) / max(highest, 1);
    int line = up_to * (wide)(HEIGHT - 8) / max(all, 1);
    for (int row = 0; row < HEIGHT; row++) {
        int height = HEIGHT - 1 - row;
        byte red = 250, green = 250, blue = 247;
        if (height < column) {
            // Columns have the brightness that they count, over a little blue.
            red = level * 3 / 4;
            green = level * 3 / 4 + 12;
            blue = level * 3 / 4 + 48;
        } else if (height % 38 == 0) {
            red = green = blue = 228;
        }
        if (height == line || height == line + 1) {
            red = 222;
            green = 92;
            blue = 40;
        }
        byte *pixel = picture + 3 * ((top + row) * 2 * LEVELS + 2 * level);
        for (int i = 0; i < 2; i++) {
            pixel[3 * i] = red;
            pixel[3 * i + 1] = green;
            pixel[3 * i + 2] = blue;
        }
    }
}
