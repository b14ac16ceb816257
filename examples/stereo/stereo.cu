// Stereo matching: how far away are the things that two cameras side by side see? Computes for each pixel how far it moved from the
// left picture to the right one (its disparity: the nearer, the larger), and draws a depth map.
//
// Compiled to stereo.ptx with:  nvcc -arch=sm_75 -ptx stereo.cu
// Run on the CPU with:          vop run stereo.toml

typedef unsigned char byte;
typedef unsigned int word; // four pixels

// The video instructions.

// c plus the sum of the absolute differences of four pixels: the heart of the search.
__device__ __forceinline__ word sad4(word a, word b, word c) {
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
    return c;
}

// |a - b|
__device__ __forceinline__ word apart(int a, int b) {
    word d;
    asm("vabsdiff.u32.s32.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

// a * 256 + c
__device__ __forceinline__ word shift8_add(word a, word c) {
    word d;
    asm("vshl.u32.u32.u32.clamp.add %0, %1, 8, %2;" : "=r"(d) : "r"(a), "r"(c));
    return d;
}

__device__ __forceinline__ word least(word a, word b) {
    word d;
    asm("vmin.u32.u32.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

// min(max(a, low), high)
__device__ __forceinline__ int clamp(int a, int low, int high) {
    int d;
    asm("vmax.s32.s32.s32.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(low), "r"(high));
    return d;
}

// Windows of 11 x 9 pixels are compared, at disparities from 0 to 47.
constexpr int HALF_WIDTH = 5, HALF_HEIGHT = 4, DISPARITIES = 48;
// A block of threads handles this many pixels; each thread handles one column.
constexpr int COLUMNS = 64, ROWS = 16;
// The parts of the pictures that a block needs. Tiles start 8 pixels further left, so that windows lie within.
constexpr int MARGIN = 8;
constexpr int TILE_ROWS = ROWS + 2 * HALF_HEIGHT, TILE_WIDTH = COLUMNS + 2 * MARGIN, OTHER_WIDTH = TILE_WIDTH + 2 * DISPARITIES;
constexpr int NOTHING = 255;

// A window's row of 11 pixels from `offset` on: three words, the last byte of which is 0.
__device__ __forceinline__ void window(const byte *row, int offset, word *pixels) {
    const word *words = (const word *)row + (offset >> 2);
    int shift = 8 * (offset & 3);
    word a = words[0], b = words[1], c = words[2], d = words[3];
    pixels[0] = __funnelshift_r(a, b, shift);
    pixels[1] = __funnelshift_r(b, c, shift);
    pixels[2] = __funnelshift_r(c, d, shift) & 0xffffff;
}

// Finds for each pixel of `image` the disparity at which its window differs least from the window of `other` that is `direction` *
// disparity pixels to the right: 1 if `other` was taken from the left, -1 if from the right. The least sum of absolute differences wins,
// of equal ones the least disparity. The centre of a window stays inside the picture; beyond the edges, the edge pixels repeat.
extern "C" __global__ void match(const byte *image, const byte *other, int width, int height, int direction, byte *disparity) {
    // One more word each, which `window` reads and does not use.
    __shared__ __align__(4) byte tile[TILE_ROWS][TILE_WIDTH + 4];
    __shared__ __align__(4) byte wide[TILE_ROWS][OTHER_WIDTH + 4];
    int left = blockIdx.x * COLUMNS, top = blockIdx.y * ROWS;
    for (int row = 0; row < TILE_ROWS; row++) {
        int line = clamp(top + row - HALF_HEIGHT, 0, height - 1) * width;
        for (int i = threadIdx.x; i < OTHER_WIDTH + 4; i += COLUMNS) {
            if (i < TILE_WIDTH + 4)
                tile[row][i] = image[line + clamp(left + i - MARGIN, 0, width - 1)];
            wide[row][i] = other[line + clamp(left + i - MARGIN - DISPARITIES, 0, width - 1)];
        }
    }
    __syncthreads();

    int x = left + threadIdx.x;
    if (x >= width)
        return;
    word best[ROWS];
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        best[row] = ~0u;
    for (int d = 0; d < DISPARITIES; d++) {
        int there = x + direction * d;
        if (there < 0 || there >= width)
            break;
        int offset = threadIdx.x + MARGIN - HALF_WIDTH;
        word sums[TILE_ROWS];
        word sum = 0;
#pragma unroll
        for (int row = 0; row < TILE_ROWS; row++) {
            word a[3], b[3];
            window(tile[row], offset, a);
            window(wide[row], offset + DISPARITIES + direction * d, b);
            sums[row] = sad4(a[2], b[2], sad4(a[1], b[1], sad4(a[0], b[0], 0)));
            // The window moves down by one row: add the new row, subtract the old one.
            sum += sums[row];
            if (row >= 2 * HALF_HEIGHT) {
                best[row - 2 * HALF_HEIGHT] = least(best[row - 2 * HALF_HEIGHT], shift8_add(sum, d));
                sum -= sums[row - 2 * HALF_HEIGHT];
            }
        }
    }
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        if (top + row < height)
            disparity[(top + row) * width + x] = best[row] & 255;
}

// Keeps a disparity of the left picture if the right one agrees, within 1. Otherwise writes NOTHING: the pixel is hidden from one
// camera, or was not found. One row of blocks for each row of pixels.
extern "C" __global__ void confirm(const byte *left, const byte *right, int width, byte *confirmed) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    int d = left[y * width + x];
    bool agrees = apart(d, right[y * width + x - d]) <= 1;
    confirmed[y * width + x] = agrees ? d : NOTHING;
}

// The colour of 0 (far: dark blue) to 255 (near: red), by way of cyan, green and yellow.
__device__ void colour(int value, byte *rgb) {
    rgb[0] = clamp(4 * value - 480, 24, 235);
    rgb[1] = clamp(value < 128 ? 4 * value - 60 : 900 - 4 * value, 24, 225);
    rgb[2] = clamp(value < 96 ? 110 + 2 * value : 620 - 4 * value, 30, 240);
}

// Draws the left picture, and beside it the disparities. For NOTHING it draws the smaller of the nearest disparities on both sides,
// darkened: a hidden pixel belongs to the thing that is farther away.
extern "C" __global__ void draw(const byte *image, const byte *confirmed, int width, byte *picture) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    byte *grey = picture + 3 * (y * 2 * width + x), *map = grey + 3 * width;
    grey[0] = grey[1] = grey[2] = image[y * width + x];
    const byte *row = confirmed + y * width;
    int value = row[x];
    bool hidden = value == NOTHING;
    for (int distance = 1; value == NOTHING && distance < width; distance++) {
        int to_left = x >= distance ? row[x - distance] : NOTHING;
        int to_right = x + distance < width ? row[x + distance] : NOTHING;
        value = min(to_left, to_right);
    }
    byte rgb[3];
    colour(min(value * 255 / (DISPARITIES - 1), 255), rgb);
    for (int i = 0; i < 3; i++)
        map[i] = hidden ? rgb[i] * 3 / 4 : rgb[i];
}
