// GCC's PTX of this, openacc.ptx:
//     gcc -O2 -fopenacc -foffload=nvptx-none -foffload-options=nvptx-none="-O2 -save-temps" -save-temps openacc.c
//     mv *.xnvptx-none.mkoffload.s openacc.ptx        (GCC 12.2)
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#define N 1000
static int collatz(uint32_t n) { int k = 0; while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; k++; } return k; }
int main(void) {
    static float x[N], y[N]; static int k[N]; static uint64_t h[N];
    for (int i = 0; i < N; i++) { x[i] = i * 0.5f; y[i] = N - i; }
    float s = 0;
    #pragma acc parallel loop copyin(x) copy(y, k, h) reduction(+:s)
    for (int i = 0; i < N; i++) {
        y[i] = 2.5f * x[i] + y[i];
        k[i] = collatz(i + 1);
        uint64_t z = i; for (int j = 0; j < 8; j++) { z ^= z >> 7; z *= 0x9e3779b97f4a7c15ull; z += z % 1000003; }
        h[i] = z;
        s += y[i];
    }
    printf("%f %d %llu\n", s, k[N - 1], (unsigned long long)h[N-1]);
}
