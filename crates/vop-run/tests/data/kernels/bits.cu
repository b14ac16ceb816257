// Bit tricks: population counts, leading and trailing zeros, reversal, permuted bytes, funnel shifts, fields; 32 and 64 bits.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_120 # sm_120
// launch bits grid=2 block=64
// buffer in u64 @lcg 128 seed 41
// buffer out u32 *2048
#include "kernel.h"

#ifdef HOST
// Written from the CUDA programming guide, bit by bit.
static int __popcll(unsigned long long x) {
    int n = 0;
    for (; x; x >>= 1)
        n += x & 1;
    return n;
}
static int __popc(unsigned x) { return __popcll(x); }
static int __clzll(long long x) {
    int n = 0;
    while (n < 64 && !((unsigned long long)x >> (63 - n) & 1))
        n++;
    return n;
}
static int __clz(int x) { return __clzll((unsigned)x) - 32; }
static int __ffsll(long long x) {
    for (int n = 0; n < 64; n++)
        if ((unsigned long long)x >> n & 1)
            return n + 1;
    return 0;
}
static int __ffs(int x) { return __ffsll((unsigned)x); }
static unsigned long long __brevll(unsigned long long x) {
    unsigned long long y = 0;
    for (int n = 0; n < 64; n++)
        y |= (x >> n & 1) << (63 - n);
    return y;
}
static unsigned __brev(unsigned x) { return __brevll(x) >> 32; }
static unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
    unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int n = 0; n < 4; n++)
        result |= (unsigned)(both >> 8 * (s >> 4 * n & 7) & 255) << 8 * n;
    return result;
}
static unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
    return ((unsigned long long)hi << 32 | lo) << (s & 31) >> 32;
}
static unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
    return ((unsigned long long)hi << 32 | lo) >> (s & 31);
}
static unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) {
    return s >= 32 ? lo : ((unsigned long long)hi << 32 | lo) << s >> 32;
}
static unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) {
    return s >= 32 ? hi : ((unsigned long long)hi << 32 | lo) >> s;
}
static int __mulhi(int a, int b) { return (long long)a * b >> 32; }
static unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
static unsigned __sad(int a, int b, unsigned c) { return (a > b ? (unsigned)a - b : (unsigned)b - a) + c; }
static unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
static int __mul24(int a, int b) { return (int)((unsigned)((a << 8 >> 8)) * (unsigned)(b << 8 >> 8)); }
static int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
static unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
#endif

extern "C" __global__ void bits(const unsigned long long *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long wide = in[i] >> (i % 65 == 64 ? 63 : i % 65);
    unsigned a = (unsigned)in[i] >> (i % 32), b = (unsigned)(in[i] >> 32);
    unsigned *to = out + 16 * i;
    to[0] = __popc(a) + 100 * __popcll(wide);
    to[1] = __clz((int)a) + 100 * __clzll((long long)wide);
    to[2] = __ffs((int)a) + 100 * __ffsll((long long)wide);
    to[3] = __brev(a) ^ (unsigned)__brevll(wide);
    to[4] = __byte_perm(a, b, b >> 7);
    to[5] = __funnelshift_l(a, b, i) + __funnelshift_r(a, b, i);
    to[6] = __funnelshift_lc(a, b, i % 40) ^ __funnelshift_rc(a, b, i % 40);
    to[7] = (b >> 5 & 0x3ff) + (unsigned)((int)b << 7 >> 20);
    to[8] = (unsigned)__mulhi((int)a, (int)b);
    to[9] = __umulhi(a, b);
    to[10] = __sad((int)a, (int)b, 17) + __usad(a, b, 4);
    to[11] = (unsigned)__mul24((int)a, (int)b);
    to[12] = (unsigned)__hadd((int)a, (int)b) + __urhadd(a, b);
    to[13] = (a & ~0xff0u) | (b & 0xff) << 4;
    to[14] = (a & b) | (~a & wide) ^ (a << 1);
    to[15] = (unsigned)((long long)wide >> 7 ^ (wide << (b & 63)) >> (a & 63));
}
EACH_THREAD(bits)
