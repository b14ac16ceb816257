ADD = "vadd4.u32.u32.u32.sat "       # clamps
DIFF = "vabsdiff4.u32.u32.u32.sat "  # does not
SOURCE = r"""
__device__ unsigned f(unsigned a, unsigned b, unsigned t) {
    asm("vavrg4.u32.u32.u32 %0, %1, %2, %2;"
        "vadd4.u32.u32.u32.add %2, %1, %1, %0;" : "=r"(t) : "r"(a), "r"(b));
    return t;
}
"""
