extern "C" __global__ void sad(const unsigned *a, const unsigned *b, unsigned *out) {
    unsigned d;
    asm volatile("{\n\t.reg .b32 zero, %%tmp<4>;\n\t.reg .pred p;\n\tmov.u32 zero, 0;\n\t"
        "vabsdiff4.u32.u32.u32.add %0, %1, %2, zero;\n\tsetp.ne.u32 p, %0, 0;\n\t@!p bra $done%=;\n\tadd.u32 %0, %0, 1;\n$done%=:\n}"
        : "=r"(d) : "r"(a[threadIdx.x]), "r"(b[threadIdx.x]));
    unsigned e;
    asm("{ .reg .v4 .b32 q; vadd2.s32.s32.s32.sat %0, %1.h10, %2.h32, %3; }" : "=r"(e) : "r"(d), "r"(b[1]), "r"(0));
    out[threadIdx.x] = d + e;
}
