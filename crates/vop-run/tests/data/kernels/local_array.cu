// Arrays in local memory with indices known only at run time, two-dimensional ones and arrays of structures among them.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 -Xcicc -O0 # O0
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// clang-22 --cuda-gpu-arch=sm_75 -O2 # clang-22
// launch local_array grid=2 block=32
// buffer in u8 @lcg 1024 seed 8
// buffer out u32 *64
#include "kernel.h"

struct Item {
    unsigned char key;
    unsigned short count;
    unsigned sum;
};

extern "C" __global__ void local_array(const unsigned char *in, unsigned *out) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned grid[4][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    Item items[8];
    for (int i = 0; i < 8; i++)
        items[i] = {(unsigned char)i, 0, 0};
    for (int i = 0; i < 32; i++) {
        unsigned value = in[(thread * 16 + i) % 1024];
        grid[value >> 6][value & 3] += value;
        Item &item = items[value >> 3 & 7];
        item.count += 3;
        item.sum = item.sum * 31 + value;
        if (value % 16 == 0) {
            Item other = items[value >> 5];
            items[value >> 5] = item;
            item = other;
        }
    }
    unsigned result = 0;
    for (int i = 0; i < 8; i++)
        result = result * 17 + items[i].key * 5 + items[i].count + items[i].sum;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            result = result * 3 + grid[i][j];
    out[thread] = result;
}
EACH_THREAD(local_array)
