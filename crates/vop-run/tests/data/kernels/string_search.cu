// Searches texts for a pattern that lies in constant memory, ends at the first hit, and counts all of them with atomics.
//
// nvcc -arch=sm_75
// clang-22 --cuda-gpu-arch=sm_75 -O1 # clang-22
// launch string_search grid=4 block=50
// buffer text u8 @lcg 5000 seed 119 range 97 99
// buffer first s32 *4 100000
// buffer found s32 *200 -1
// buffer count u32 *1
#include "kernel.h"

__constant__ char pattern[] = "abcab";

#ifdef HOST
static int atomicMin(int *p, int v) { int before = *p; *p = std::min(*p, v); return before; }
static unsigned atomicAdd(unsigned *p, unsigned v) { unsigned before = *p; *p += v; return before; }
#elif defined(__clang__)
__device__ __forceinline__ int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
#endif

__device__ __noinline__ int length_of(const char *text) {
    int n = 0;
    while (text[n])
        n++;
    return n;
}

extern "C" __global__ void string_search(const char *text, int *first, int *found, unsigned *count) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, n = length_of(pattern);
    const char *start = text + 25 * thread;
    for (int i = 0; i < 25; i++) {
        if (25 * thread + i + n > 5000)
            return;
        int j = 0;
        while (j < n && start[i + j] == pattern[j])
            j++;
        if (j == n) {
            if (found[thread] < 0)
                found[thread] = i;
            atomicMin(&first[blockIdx.x], 25 * thread + i);
            atomicAdd(count, 1u);
        }
    }
}
EACH_THREAD(string_search)
