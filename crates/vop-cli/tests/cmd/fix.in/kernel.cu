__global__ void blend(unsigned *d, const unsigned *a, const unsigned *b) {
    unsigned i = threadIdx.x, x = a[i], y = b[i], s, t;
    asm("VADD4.U32.U32.U32.SAT %0, %1, %2;" : "=r"(s) : "r"(x), "r"(y));
    asm("vabsdiff4.u32.u32.u32.sat %0, %1, %2.b0, %1;" : "=r"(t) : "r"(x), "r"(y));
    asm("vavrg4.u32.u32.u32.add %0, %1, %2, %0;" : "=r"(s) : "r"(t), "r"(y));
    asm("vadd.u32.s32.s32.sat %0.b0, %1, %2, %1;" : "=r"(d[i]) : "r"(s), "r"(t));
    asm("vmin4.u32.u32.u32.sat.add %0, %1, %2, %1;" : "=r"(d[i]) : "r"(s), "r"(t));
}
