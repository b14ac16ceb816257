// Divergence in nested loops with break, continue, and a return out of the middle; each thread runs its own number of turns.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 -Xcicc -O0 # O0
// clang --cuda-gpu-arch=sm_75 -O1 # clang
// clang-22 --cuda-gpu-arch=sm_75 -O2 # clang-22
// launch nested_loops grid=3 block=50
// buffer out u32 *150
// buffer returned u32 *150
#include "kernel.h"

extern "C" __global__ void nested_loops(unsigned *out, unsigned *returned) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (unsigned i = 0; i < 8; i++) {
        unsigned n = thread * 13 + i * 7 + 1;
        // The Collatz sequence; those that grow too large give up.
        while (n != 1) {
            if (n % 4 == 2) {
                n /= 2;
                sum++;
                continue;
            }
            if (n > 5000)
                break;
            n = n % 2 ? 3 * n + 1 : n / 2;
            sum += 2;
            for (unsigned j = 0; j < n % 4; j++) {
                if ((sum + j) % 7 == 0)
                    break;
                sum += j;
                if (sum > 700) {
                    out[thread] = sum;
                    returned[thread] = i * 1000 + n % 1000;
                    return;
                }
            }
        }
        sum ^= n & 3;
    }
    out[thread] = sum + 100000;
}
EACH_THREAD(nested_loops)
