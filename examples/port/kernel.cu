// One thread for each word of two pictures.
#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#endif
#include "pixels.h"

__global__ void compare(const unsigned *a, const unsigned *b, unsigned *out, unsigned *sums, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    unsigned sum = 0;
    add_difference(sum, a[i], b[i]);
    unsigned half;
    HALF_SUM(half, a[i], b[i], sum);
    atomicAdd(sums, half);
    out[i] = mask_of_mean(brighter(a[i], 16), b[i], 100);
}
