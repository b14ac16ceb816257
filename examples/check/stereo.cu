// The inner loop of stereo matching, with two mistakes: modifiers that exclude each other, and a selector of scalar instructions.
// nvcc reports them without a line of this file. `vop check examples/check/stereo.cu` names the line.
__device__ unsigned cost(unsigned left, unsigned right, unsigned sum) {
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(left), "r"(right));
    return sum;
}

__device__ unsigned clamped(unsigned a, unsigned b, unsigned c) {
    unsigned d;
    asm("{ "
        ".reg .u32 t; "
        "vadd4.u32.s32.s32.sat t, %1, %2, %3; "
        "vmin4.u32.u32.u32.sat.add %0, t, %3.b0, %3; "
        "}" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
