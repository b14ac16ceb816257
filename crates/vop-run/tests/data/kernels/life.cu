// Conway's game of life on a torus, 32 cells in a word: logic of three inputs in place of counting. Two launches a generation pair, there
// and back.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 # sm_120
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// launch life grid=2,6 block=2,8
// buffer a u32 @lcg 192 seed 113
// buffer b u32 *192
// value s32 4
// value s32 48
// launch life grid=2,6 block=2,8
// buffer b
// buffer a
// value s32 4
// value s32 48
#include "kernel.h"

extern "C" __global__ void life(const unsigned *from, unsigned *to, int words, int rows) {
    int word = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    // Sums of neighbours as columns of bits.
    unsigned ones = 0, twos = 0, fours = 0, own = 0;
    for (int dy = -1; dy <= 1; dy++) {
        const unsigned *line = from + (row + dy + rows) % rows * words;
        unsigned here = line[word], before = line[(word + words - 1) % words], after = line[(word + 1) % words];
        unsigned west = here << 1 | before >> 31, east = here >> 1 | after << 31;
        if (dy == 0)
            own = here;
        unsigned cells[3] = {west, east, dy == 0 ? 0 : here};
        for (int i = 0; i < 3; i++) {
            unsigned carry = ones & cells[i];
            ones ^= cells[i];
            fours |= twos & carry;
            twos ^= carry;
        }
    }
    to[row * words + word] = twos & ~fours & (ones | own);
}
EACH_THREAD(life)
