#define SUM(op, d, a, b) asm("v" #op "4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b))

__device__ unsigned tile(unsigned a, unsigned b, unsigned c) {
    unsigned d;
    asm volatile("{\n\t"
                 ".reg .b32 t1;\n\t"
                 "vavrg4.u32.u32.u32 t1, %1, %2, %2;\n\t"
                 "@%%p vmin.u32.u32.u32 %0, t1, %3;\n\t"
                 "}"
                 : "=r"(d)
                 : "r"(a), "r"(b), "r"(c));
    SUM(absdiff, d, a, b);
    asm("vmin4.u32.u32.u32 %0, %1, 5, %1;" : "=r"(d) : "r"(a));
    return d;
}
