// vadd4.u32 in a comment is no use
__device__ unsigned sad(unsigned a, unsigned b, unsigned c) {
    unsigned d;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("{\n\t"
        ".reg .u32 t;\n\t"
        "vmin4.u32.u32.u32.sat.add t, %1, %2, %3;\n\t"
        "vadd.u32.u32.u32 %0, t.b0, t.b4;\n\t"
        "}" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
#define OP(T) asm("vadd4." #T "." #T "." #T " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))
