// Block-matching motion estimation between two frames, and a picture of the motion field.
//
// Compiled to motion.ptx with:  nvcc -arch=sm_75 -ptx motion.cu
// Run on the CPU with:          vop run motion.toml

typedef unsigned char byte;
typedef unsigned int word; // four pixels

// The video instructions. Each function is one PTX instruction that C++ cannot express.

// c plus the sum of the absolute differences of four pixels: the heart of the search.
__device__ __forceinline__ word sad4(word a, word b, word c) {
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
    return c;
}

// |a| + c
__device__ __forceinline__ word add_abs(int a, word c) {
    asm("vabsdiff.u32.s32.s32.add %0, %1, 0, %0;" : "+r"(c) : "r"(a));
    return c;
}

// a * b + c
__device__ __forceinline__ word mad(word a, word b, word c) {
    asm("vmad.u32.u32.u32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
    return c;
}

// (a << 15) + c
__device__ __forceinline__ word shift15_add(word a, word c) {
    asm("vshl.u32.u32.u32.clamp.add %0, %1, 15, %0;" : "+r"(c) : "r"(a));
    return c;
}

__device__ __forceinline__ word least(word a, word b) {
    word d;
    asm("vmin.u32.u32.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

// a within low and high: the larger of a and low, then the smaller of that and high.
__device__ __forceinline__ int clamp(int a, int low, int high) {
    int d;
    asm("vmax.s32.s32.s32.min %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(low), "r"(high));
    return d;
}

// The rounded average of four pixels and four others.
__device__ __forceinline__ word average(word a, word b) {
    word d;
    asm("vavrg4.u32.u32.u32 %0, %1, %2, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

// A block is SIZE x SIZE pixels and may have moved by up to REACH pixels along each axis.
constexpr int SIZE = 16, REACH = 12, CANDIDATES = 2 * REACH + 1;
// Each pixel of a displacement's length costs this much difference of brightness, so that flat regions do not move at random.
constexpr word PRICE = 32;
// The part of the previous frame in which a block may be found, in words; an unaligned row ends one word later.
constexpr int TILE_ROWS = SIZE + 2 * REACH, TILE_WORDS = TILE_ROWS / 4 + 1;
constexpr int THREADS = 64;

// Finds where each block of `current` was in `previous`.
//
// One block of threads handles one block of pixels. Each thread tries its share of the displacements (dx, dy), |dx|, |dy| <= REACH,
// for which the block lies within the previous frame. The cost of a displacement is the sum of absolute differences plus PRICE *
// (|dx| + |dy|). The cheapest wins; of equal costs the shorter |dx| + |dy| wins, then the first by dy, then the first by dx.
//
// motion: dx, dy of each block, the direction in which its content moved. cost: the remaining sum of absolute differences.
// width and the frames' addresses are multiples of 4; the last row of blocks may be cut off by the frame's end.
extern "C" __global__ void motion_search(const byte *previous, const byte *current, int *motion, word *cost, int width, int height) {
    __shared__ word tile[TILE_ROWS][TILE_WORDS];
    __shared__ word block[SIZE][SIZE / 4];
    __shared__ word best[THREADS];
    int thread = threadIdx.x;
    int left = blockIdx.x * SIZE, top = blockIdx.y * SIZE;
    int rows = min(SIZE, height - top);

    for (int i = thread; i < TILE_ROWS * TILE_WORDS; i += THREADS) {
        int row = i / TILE_WORDS, column = i % TILE_WORDS;
        int x = left - REACH + 4 * column, y = top - REACH + row;
        bool inside = x >= 0 && x < width && y >= 0 && y < height;
        tile[row][column] = inside ? *(const word *)(previous + y * width + x) : 0;
    }
    for (int i = thread; i < SIZE * SIZE / 4; i += THREADS) {
        int row = i / (SIZE / 4), column = i % (SIZE / 4);
        if (row < rows)
            block[row][column] = *(const word *)(current + (top + row) * width + left + 4 * column);
    }
    __syncthreads();

    word found = ~0u;
    for (int candidate = thread; candidate < CANDIDATES * CANDIDATES; candidate += THREADS) {
        int dy = candidate / CANDIDATES - REACH, dx = candidate % CANDIDATES - REACH;
        int x = left - dx, y = top - dy;
        if (x < 0 || x + SIZE > width || y < 0 || y + rows > height)
            continue;
        // The block's rows start anywhere in a word: two neighbours, shifted, give four pixels.
        const word *row = &tile[REACH - dy][(REACH - dx) / 4];
        int shift = 8 * ((REACH - dx) & 3);
        word sad = 0;
        for (int r = 0; r < rows; r++, row += TILE_WORDS) {
            word low = row[0];
#pragma unroll
            for (int i = 0; i < SIZE / 4; i++) {
                word high = row[i + 1];
                sad = sad4(__funnelshift_r(low, high, shift), block[r][i], sad);
                low = high;
            }
        }
        // Cost (17 bits), length (5) and index (10) in one word, the most important first: the least word is the best displacement.
        word length = add_abs(dy, add_abs(dx, 0));
        found = least(found, shift15_add(mad(length, PRICE, sad), (length << 10) + candidate));
    }

    best[thread] = found;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half)
            best[thread] = least(best[thread], best[thread + half]);
    }
    if (thread == 0) {
        word key = best[0];
        int candidate = key & 1023;
        int at = blockIdx.y * gridDim.x + blockIdx.x;
        motion[2 * at] = candidate % CANDIDATES - REACH;
        motion[2 * at + 1] = candidate / CANDIDATES - REACH;
        cost[at] = (key >> 15) - PRICE * (key >> 10 & 31);
    }
}

// The picture. It is twice as large as the frame; lengths are in sixteenths of its pixels.

constexpr int UNIT = 16;
// An arrow is this many times as long as the motion in the picture.
constexpr int STRETCH = 2;
constexpr int CELL = 2 * SIZE;
// Arrows of the cells up to this far away can reach into a cell.
constexpr int NEAR = 2, NEIGHBOURS = 2 * NEAR + 1;

struct Arrow {
    int x, y;           // its tail
    int ux, uy;         // its direction: a vector of length 4096
    int length;         // 0 for a block that did not move
    word red, green, blue; // four times the same byte
};

__device__ __forceinline__ word repeat(int channel) { return 0x01010101u * (word)channel; }

__device__ word root(word n) {
    word result = 0;
    for (word bit = 1u << 15; bit; bit /= 2)
        if ((result + bit) * (result + bit) <= n)
            result += bit;
    return result;
}

// The colour of a direction: once around the circle through red, yellow, green, cyan, blue and magenta, a little pale.
__device__ void colour(int dx, int dy, int *rgb) {
    int across = abs(dx), down = abs(dy), sum = max(across + down, 1);
    // The angle without trigonometry: where the direction meets a square that stands on its tip, 0 to 1535.
    int part = 384 * down / sum;
    int angle = dx >= 0 ? (dy >= 0 ? part : 1535 - part) : (dy >= 0 ? 768 - part : 768 + part);
    for (int i = 0; i < 3; i++) {
        int offset = (angle + 1536 - 512 * i) % 1536;
        int distance = min(offset, 1536 - offset); // from this channel's own direction
        rgb[i] = clamp(512 - distance, 0, 255) * 3 / 4 + 64;
    }
}

// How much of a pixel a shape covers, if its edge is `distance` away (negative inside): 0 to 15.
__device__ __forceinline__ int coverage(int distance) { return clamp(8 - distance, 0, 15); }

// The signed distance of a point from an arrow's edge.
__device__ int distance(const Arrow &arrow, int x, int y) {
    int px = x - arrow.x, py = y - arrow.y;
    int along = (px * arrow.ux + py * arrow.uy) >> 12, aside = abs(px * arrow.uy - py * arrow.ux) >> 12;
    int head = min(12 * UNIT, arrow.length * 3 / 4);
    int base = arrow.length - head;
    // The sides of the head have a slope of 1/2: 229/256 is the cosine of their angle.
    int sides = ((2 * aside - (arrow.length - along)) * 229) >> 9;
    int in_head = max(sides, base - along);
    int in_shaft = max(aside - 3 * UNIT / 2, max(-along, along - base));
    return min(in_head, in_shaft);
}

// Blends four pixels with a colour, `cover` sixteenths of it in each: one average for each bit, the lowest bit first, because each
// average halves the weight of the earlier ones.
__device__ word mix(word pixels, word colour, word cover) {
    word result = pixels;
#pragma unroll
    for (int bit = 0; bit < 4; bit++) {
        word mask = (cover >> bit & 0x01010101u) * 255;
        result = average(result, (colour & mask) | (pixels & ~mask));
    }
    return result;
}

// Draws the motion field over the frame, dimmed. One block of 8 x 32 threads a cell, four pixels a thread.
// picture: width * 2 by height * 2 pixels of red, green, blue.
extern "C" __global__ void draw(const byte *frame, const int *motion, byte *picture, int width, int height) {
    __shared__ Arrow arrows[NEIGHBOURS * NEIGHBOURS];
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    if (thread < NEIGHBOURS * NEIGHBOURS) {
        int column = (int)blockIdx.x + thread % NEIGHBOURS - NEAR, row = (int)blockIdx.y + thread / NEIGHBOURS - NEAR;
        Arrow arrow = {};
        arrow.length = -1;
        if (column >= 0 && column < gridDim.x && row >= 0 && row < gridDim.y) {
            const int *vector = motion + 2 * (row * gridDim.x + column);
            int dx = vector[0] * 2 * STRETCH * UNIT, dy = vector[1] * 2 * STRETCH * UNIT;
            int rgb[3];
            colour(dx, dy, rgb);
            arrow.length = root(dx * dx + dy * dy);
            int divisor = max(arrow.length, 1);
            arrow.ux = dx * 4096 / divisor;
            arrow.uy = dy * 4096 / divisor;
            // The arrow's middle is the block's.
            arrow.x = (column * CELL + CELL / 2) * UNIT - dx / 2;
            arrow.y = (row * CELL + min(CELL, 2 * height - row * CELL) / 2) * UNIT - dy / 2;
            arrow.red = repeat(rgb[0]);
            arrow.green = repeat(rgb[1]);
            arrow.blue = repeat(rgb[2]);
        }
        arrows[thread] = arrow;
    }
    __syncthreads();

    int x = blockIdx.x * CELL + 4 * threadIdx.x, y = blockIdx.y * CELL + threadIdx.y;
    if (x >= 2 * width || y >= 2 * height)
        return;

    // Twice as large: a pixel between two pixels is their average.
    word rows[2];
    for (int i = 0; i < 2; i++) {
        const byte *line = frame + min((y + i) / 2, height - 1) * width;
        word a = line[x / 2], b = line[x / 2 + 1], c = line[min(x / 2 + 2, width - 1)];
        rows[i] = average(a * 0x0101 + b * 0x01010000, a + b * 0x010100 + c * 0x01000000);
    }
    word grey = average(rows[0], rows[1]);
    // Dimmed towards a dark blue, so that the arrows stand out.
    word red = average(grey, repeat(8)), green = average(grey, repeat(14)), blue = average(grey, repeat(36));

    for (int i = 0; i < NEIGHBOURS * NEIGHBOURS; i++) {
        const Arrow &arrow = arrows[i];
        if (arrow.length < 0)
            continue;
        // Too far away for any of the four pixels?
        int px = (x + 2) * UNIT - arrow.x, py = y * UNIT + UNIT / 2 - arrow.y;
        if (max(abs(px), abs(py)) > arrow.length + 12 * UNIT)
            continue;
        word cover = 0, shadow = 0;
#pragma unroll
        for (int lane = 0; lane < 4; lane++) {
            int cx = (x + lane) * UNIT + UNIT / 2, cy = y * UNIT + UNIT / 2;
            if (arrow.length == 0) {
                // A faint dot.
                int dx = cx - arrow.x, dy = cy - arrow.y;
                int away = (int)root(dx * dx + dy * dy) - 3 * UNIT / 2;
                cover |= coverage(away) * 2 / 5 << (8 * lane);
            } else {
                int away = distance(arrow, cx, cy);
                cover |= coverage(away) << (8 * lane);
                shadow |= coverage((away - UNIT) / 2) * 2 / 3 << (8 * lane);
            }
        }
        if (arrow.length == 0) {
            red = mix(red, repeat(200), cover);
            green = mix(green, repeat(210), cover);
            blue = mix(blue, repeat(225), cover);
        } else if (shadow) {
            red = mix(mix(red, 0, shadow), arrow.red, cover);
            green = mix(mix(green, 0, shadow), arrow.green, cover);
            blue = mix(mix(blue, 0, shadow), arrow.blue, cover);
        }
    }

    // Four pixels are three words: r0 g0 b0 r1, g1 b1 r2 g2, b2 r3 g3 b3.
    word *out = (word *)(picture + (y * 2 * width + x) * 3);
    word rg = __byte_perm(red, green, 0x5140), rg2 = __byte_perm(red, green, 0x7362);
    out[0] = __byte_perm(rg, blue, 0x2410);
    out[1] = __byte_perm(__byte_perm(rg, blue, 0x0053), rg2, 0x5410);
    out[2] = __byte_perm(rg2, blue, 0x7326);
}
