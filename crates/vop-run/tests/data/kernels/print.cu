// printf with all kinds of conversions, widths, precisions and flags, one thread after the other in the order of their numbers.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_80 -G # debug
// clang --cuda-gpu-arch=sm_75 -O1 # clang
// clang-22 --cuda-gpu-arch=sm_90 -O2 # clang-22
// launch print grid=1 block=1
// value s32 -42
// value f64 3.14159
// launch print grid=1 block=1
// value s32 2147483647
// value f64 -0.000012345
// printed
#include "kernel.h"
#ifdef HOST
using std::printf;
#endif

extern "C" __global__ void print(int n, double x) {
    printf("plain text, 100%%\n");
    printf("%d %i %u %x %X %o\n", n, n, (unsigned)n, (unsigned)n, (unsigned)n, (unsigned)n);
    printf("[%8d] [%-8d] [%08d] [%+d] [% d] [%.3d]\n", n, n, n, n, n, 7);
    printf("[%#x] [%#o] [%5s] [%-5s] [%.2s]\n", 255u, 8u, "ab", "ab", "abc");
    printf("%f %.2f %10.3f %-10.1f| %e %E %g %G\n", x, x, x, x, x, x, x, x);
    printf("%+.0f %#.0f %g %g %g\n", x, x, 1e10, 100000.0, 0.0001);
    printf("%lld %llu %llx %ld\n", (long long)n * 1000000007, ~0ull, 0x123456789abcdefull, 1l << 40);
    printf("%c%c%c %s %s\n", 'v', 'o', 'p', "one", n < 0 ? "negative" : "positive");
    printf("%hd %hu\n", 70000, 70000);
    printf("[%*d] [%-*d] [%.*f]\n", 6, 1, 6, 2, 2, x);
    printf("%a\n", 0.5);
    printf("%f %f %f\n", 1.0 / 0.0, -1.0 / 0.0, (double)(float)n);
    for (int i = 0; i < 3; i++)
        printf("%d%s", i, i < 2 ? ", " : "\n");
    printf("no end of line");
    printf("\n");
}
EACH_THREAD(print)
