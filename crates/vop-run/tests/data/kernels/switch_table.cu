// A small machine of bytecode: a dense switch in a loop, which clang 22 makes a table of branch targets of (brx.idx).
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 -G # debug
// clang --cuda-gpu-arch=sm_75 -O2 # clang
// clang-22 --cuda-gpu-arch=sm_75 -O2 # clang-22
// launch switch_table grid=1 block=64
// buffer code u8 @lcg 2048 seed 9
// buffer out u32 *64
#include "kernel.h"

extern "C" __global__ void switch_table(const unsigned char *code, unsigned *out) {
    unsigned thread = threadIdx.x;
    unsigned a = thread, b = 1;
    // Each thread starts elsewhere and jumps about, so that they part.
    unsigned at = thread * 32;
    for (int step = 0; step < 100; step++) {
        unsigned char op = code[at % 2048];
        at++;
        switch (op % 18) {
        case 0: a += b; break;
        case 1: a -= b; break;
        case 2: a *= b | 1; break;
        case 3: a ^= b; break;
        case 4: b = a >> 3; break;
        case 5: b += op; break;
        case 6: at += a % 7; break;
        case 7: a = ~a; break;
        case 8: b = a; a = op; break;
        case 9: a <<= b & 7; break;
        case 10: a = a / (b | 1); break;
        case 11: at ^= 64; break;
        case 12: b ^= a << 5; // and on
        case 13: b *= 3; break;
        case 14: a = (a << 9) | (a >> 23); break;
        case 15: if (a & 1) at += 5; break;
        case 16: a %= (b | 3); break;
        default: a += 0x9e3779b9u; break;
        }
        if (op == 255)
            break;
    }
    out[thread] = a ^ b;
}
EACH_THREAD(switch_table)
