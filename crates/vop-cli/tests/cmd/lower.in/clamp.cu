__device__ unsigned f(int a, int b, unsigned c) {
    unsigned d;
    asm("vadd.u32.s32.s32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
