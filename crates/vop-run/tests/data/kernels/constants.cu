// Tables in constant memory and initialised global variables: of all sizes, with pointers to each other and into the middle of an
// array, structures and strings.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 -lineinfo # sm_90
// launch constants grid=1 block=32
// buffer out s64 *32
// buffer text u8 *160
// launch constants grid=1 block=32
// buffer out
// buffer text
#include "kernel.h"

struct Entry {
    const int *values;
    const char *name;
    short count;
    double weight;
};

__constant__ int primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ unsigned char small[5] = {250, 1, 2, 3, 4};
__constant__ double halves[3] = {0.5, 1.5, -2.5};
__device__ int squares[6] = {0, 1, 4, 9, 16, 25};
__device__ int counter = 100;
__device__ int *middle = &squares[2];
__device__ int **indirect = &middle;
__device__ const Entry entries[3] = {{squares, "all", 6, 0.25}, {squares + 3, "late", 3, -8}, {&squares[5], "last", 1, 1024}};
__device__ short signed_half = -5;
__device__ long long huge = 0x7fffffffffffffffll;
__device__ float zeroed[4];

#ifndef HOST
extern "C" __global__ void constants(long long *out, char *text) {
    int thread = threadIdx.x;
    const Entry &entry = entries[thread % 3];
    long long sum = primes[thread % 8] + small[thread % 5] + (long long)(halves[thread % 3] * 4);
    for (int i = 0; i < entry.count; i++)
        sum += entry.values[i] * (long long)(entry.weight * 4);
    sum += middle[thread % 3] + (*indirect)[-1] + signed_half + (huge >> 40) + (long long)zeroed[thread % 4];
    int n = 0;
    for (; entry.name[n]; n++)
        text[thread * 5 + n] = entry.name[n];
    // The second launch sees what the first left in the module's variables.
    sum += (long long)n * 1000000 + counter;
    out[thread] = sum;
    __syncthreads();
    if (thread == 0) {
        counter += 11;
        *middle = 400;
    }
}
#else
void constants(long long *out, char *text) {
    for (int thread = 0; thread < 32; thread++) {
        const Entry &entry = entries[thread % 3];
        long long sum = primes[thread % 8] + small[thread % 5] + (long long)(halves[thread % 3] * 4);
        for (int i = 0; i < entry.count; i++)
            sum += entry.values[i] * (long long)(entry.weight * 4);
        sum += squares[2 + thread % 3] + squares[1] - 5 + (huge >> 40);
        std::memcpy(text + thread * 5, entry.name, std::strlen(entry.name));
        out[thread] = sum + (long long)std::strlen(entry.name) * 1000000 + counter;
    }
    counter += 11;
    squares[2] = 400;
}
#endif
ONCE(constants)
