// Arrays on the stack whose lengths differ between threads (`alloca`), in the kernel and in a function that it calls.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 # sm_90
// launch arrays grid=2 block=70
// buffer out u32 *140
// value u32 9
#include "kernel.h"

#ifdef HOST
#include <alloca.h>
#endif

__noinline__ __device__ unsigned weights(unsigned count, unsigned seed) {
    unsigned *all = (unsigned *)alloca(count * 4);
    for (unsigned i = 0; i < count; i++)
        all[i] = seed * 7 + i * i;
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum = sum * 3 + all[(i * 5) % count];
    return sum;
}

extern "C" __global__ void arrays(unsigned *out, unsigned rounds) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    unsigned *kept = (unsigned *)alloca((at % 5 + rounds) * 4);
    for (unsigned r = 0; r < rounds; r++) {
        unsigned count = (at + r) % 4 + 1;
        kept[r] = weights(count, at + r);
        unsigned short *mine = (unsigned short *)alloca(count * 2);
        for (unsigned i = 0; i < count; i++)
            mine[i] = at * i;
        sum += weights(count + 1, r) + mine[count - 1];
    }
    for (unsigned r = 0; r < rounds; r++)
        sum = sum * 5 + kept[r];
    out[at] = sum;
}
EACH_THREAD(arrays)
