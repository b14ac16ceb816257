__device__ unsigned pack(int a, int b, unsigned c) {
    unsigned d;
    asm("vadd.u32.s32.s32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("{\n\t.reg .u32 t;\n\t"
        "vabsdiff4.u32.u32.u32.sat t, %1, %2, %3;\n\t"
        "vadd4.u32.u32.u32.add %0, %1, %2, t;\n\t"
        "vmax4.u32.u32.u32 %0.b3210, %0, %2.b3210, t;\n\t}"
        : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vset.u32.u32.lt %0, %1, 0;" : "=r"(d) : "r"(a));
    asm("vadd.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vadd.u32.u32.u32 %0.h1, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
    asm("vadd4.u32.u32.u32 %0.b10, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
    return d;
}
