// The preprocessor between the literals of one asm.
__device__ unsigned sad(unsigned a, unsigned b, unsigned c)
{
    unsigned d;
    asm("{\n\t"

#if __CUDA_ARCH__ >= 300
        "vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;\n\t"   // Kepler
#else
        "vabsdiff.u32.u32.u32.add %0, %1.b0, %2.b0, %3;\n\t"
        "vabsdiff.u32.u32.u32.add %0, %1.b1, %2.b1, %0;\n\t"
#endif

        "}" : "=r"(d) : "r"(a), "r"(b), "r"(c));

    asm("vadd2.s32.s32.s32"
#ifdef SATURATE
        ".sat"
#endif
        " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));

    asm(
#if A
        "vmin2"
#elif B
        "vmax2"
#else
        "vavrg2"
#endif
        ".s32.s32.s32 %0, %1, %2, %3;"
        : "=r"(d) : "r"(a), "r"(b), "r"(c));

    asm("vshr.u32.u32.u32.clamp %0, %1, %2;"
#if DEBUG
        : "=r"(d) : "r"(a), "r"(b));
#else
        : "=r"(d) : "r"(a), "r"(c));
#endif
    return d;
}
