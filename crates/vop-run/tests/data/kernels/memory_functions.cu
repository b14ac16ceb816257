// memcpy, memset and structures copied whole: loops over bytes that compilers write in their own ways; generic pointers to global,
// shared and local memory chosen at run time, and what they point to.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_90 -lineinfo # sm_90
// launch memory_functions grid=2 block=32
// buffer in u8 @lcg 2560 seed 139
// buffer out u8 *2560
// buffer sums u32 *64
// buffer spaces u32 *64
#include "kernel.h"

#ifndef HOST
struct Packet {
    unsigned char header[6];
    unsigned short length;
    unsigned words[3];
    char tail[20];
};

__device__ __noinline__ unsigned sum(const unsigned char *bytes, int n) {
    unsigned result = 0;
    for (int i = 0; i < n; i++)
        result = result * 31 + bytes[i];
    return result;
}

extern "C" __global__ void memory_functions(const unsigned char *in, unsigned char *out, unsigned *sums, unsigned *spaces) {
    __shared__ Packet shared[32];
    int thread = threadIdx.x, at = blockIdx.x * 32 + thread;
    Packet own;
    memcpy(&own, in + 40 * at, sizeof own);
    memset(own.header, 0x5a, sizeof own.header);
    own.words[thread % 3] += thread;
    shared[thread] = own;
    __syncthreads();
    Packet other = shared[31 - thread];
    memset(other.tail + 3, at, thread % 17);
    memcpy(out + 40 * at, &other, sizeof other);
    // A pointer that leads to another space in each thread.
    const unsigned char *from = thread % 3 == 0 ? in + at : thread % 3 == 1 ? (const unsigned char *)&shared[thread] : (const unsigned char *)&other;
    sums[at] = sum(from, 7 + thread % 9);
    spaces[at] = __isGlobal(from) + 2 * __isShared(from) + 4 * __isLocal(from);
}
#else
void memory_functions(const unsigned char *in, unsigned char *out, unsigned *sums, unsigned *spaces) {
    for (int block = 0; block < 2; block++) {
        std::vector<std::vector<unsigned char>> packets;
        for (int thread = 0; thread < 32; thread++) {
            const unsigned char *bytes = in + 40 * (block * 32 + thread);
            packets.emplace_back(bytes, bytes + 40);
            std::fill_n(packets[thread].begin(), 6, 0x5a);
            unsigned word;
            std::memcpy(&word, &packets[thread][8 + thread % 3 * 4], 4);
            word += thread;
            std::memcpy(&packets[thread][8 + thread % 3 * 4], &word, 4);
        }
        for (int thread = 0; thread < 32; thread++) {
            int at = block * 32 + thread;
            std::vector<unsigned char> other = packets[31 - thread];
            std::fill_n(other.begin() + 23, thread % 17, (unsigned char)at);
            std::copy(other.begin(), other.end(), out + 40 * at);
            const unsigned char *from = thread % 3 == 0 ? in + at : thread % 3 == 1 ? packets[thread].data() : other.data();
            for (int i = 0; i < 7 + thread % 9; i++)
                sums[at] = sums[at] * 31 + from[i];
            spaces[at] = 1 << thread % 3;
        }
    }
}
#endif
ONCE(memory_functions)
