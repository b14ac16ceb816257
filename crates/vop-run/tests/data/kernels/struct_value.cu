// Structures by value: as a kernel's parameter, as parameters and results of functions that are not inlined, with members of every
// size and padding between them.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_86 -Xcicc -O0 # O0
// clang --cuda-gpu-arch=sm_75 -O1 # clang
// clang-22 --cuda-gpu-arch=sm_75 -O2 # clang-22
// launch struct_value grid=1 block=24
// struct u8 7 s16 -300 f32 1.5 f64 0.25 u64 0x123456789abcdef0 s32 10 20 30 40 50 u8 1 2 3
// buffer out f64 *24
// buffer words u32 *240
#include "kernel.h"

struct Settings {
    unsigned char kind;
    short offset;
    float scale;
    double bias;
    unsigned long long seed;
    int table[5];
    unsigned char tail[3];
};

struct Vector {
    float x, y, z;
};

struct Big {
    unsigned word[10];
};

__device__ __noinline__ Vector cross(Vector a, Vector b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

__device__ __noinline__ Big stir(Big big, Settings settings, unsigned char salt) {
    for (int i = 0; i < 10; i++)
        big.word[i] = big.word[(i + 3) % 10] * 5 + settings.table[i % 5] + settings.tail[i % 3] + salt;
    return big;
}

extern "C" __global__ void struct_value(const Settings settings, double *out, unsigned *words) {
    int thread = threadIdx.x;
    Vector a = {(float)thread, settings.scale, 2};
    Vector b = {(float)settings.kind, 1, (float)settings.offset};
    Vector c = cross(a, cross(b, a));
    out[thread] = (double)c.x + c.y * settings.bias - c.z;
    Big big;
    for (int i = 0; i < 10; i++)
        big.word[i] = (unsigned)(settings.seed >> (i + thread)) + i;
    big = stir(stir(big, settings, thread), settings, 200);
    for (int i = 0; i < 10; i++)
        words[thread * 10 + i] = big.word[i];
}
EACH_THREAD(struct_value)
