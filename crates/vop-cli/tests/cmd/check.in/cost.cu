__device__ int cost(int a, int b, int c) {
    int d;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vadd4.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(d));
    return d;
}

#define FRAGMENT "vadd4.u32.u32.u32.sat "
