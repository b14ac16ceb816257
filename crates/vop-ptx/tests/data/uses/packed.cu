// V0705: which sums of lanes are mistaken for packed lanes, and which are not.
__device__ void fires(unsigned &d, unsigned a, unsigned b, unsigned c)
{
    // The accumulator holds lanes.
    asm("{ .reg .u32 t;\n\t"
        "vabsdiff4.u32.u32.u32 t, %1, %2, %3;\n\t"
        "add.u32 %3, %3, t; // t is read\n\t"
        "vadd4.u32.u32.u32.add %0, %1, %2, t; }" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    // The sum is read as lanes.
    asm("vabsdiff2.u32.u32.u32.add %0, %1, %2, %3;"
        "@p bar.sync 0; st.global.u32 [%0], %1;"
        "vmax2.u32.u32.u32 %0, %2, %0, %3;" : "+r"(d) : "r"(a), "r"(b), "r"(c));
    // Through two literals, under one guard.
    asm("@p vset4.u32.u32.ne t, %1, %2, %3;" "@p vadd4.u32.u32.u32"
        ".add %0, %1, %2, t;" : "+r"(d) : "r"(a), "r"(b), "r"(c));
}

__device__ void silent(unsigned &d, unsigned a, unsigned b, unsigned c)
{
    // Written in between.
    asm("vabsdiff4.u32.u32.u32 t, %1, %2, %3; mov.u32 t, 0; vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vabsdiff4.u32.u32.u32 t, %1, %2, %3; mov.b64 {t, u}, %4; vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vabsdiff4.u32.u32.u32 t, %1, %2, %3; ld.global.u32\n t, [%4]; vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vabsdiff4.u32.u32.u32 t, %1, %2, %3; setp.eq.u32 p|t, a, b; vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    // Another register of the name.
    asm("{ .reg .u32 t; vabsdiff4.u32.u32.u32 t, %1, %2, %3; } vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vabsdiff4.u32.u32.u32 t, %1, %2, %3; { .reg .u32 t; vadd4.u32.u32.u32.add %0, %1, %2, t; }" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    // Not in a straight line.
    asm("vabsdiff4.u32.u32.u32 t, %1, %2, %3; L: vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vabsdiff4.u32.u32.u32 t, %1, %2, %3; @p bra L; vadd4.u32.u32.u32.add %0, %1, %2, t; L:" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vabsdiff4.u32.u32.u32 t, %1, %2, %3;" MORE "vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vabsdiff4.u32.u32.u32 t, %1, %2, %3;" "vadd4." T "%0, %1, %2, t;" "vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    // In two asm statements: what happens between is the compiler's.
    asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vadd4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
    // A chain of sums, one lane alone, a sum that is broadcast, a scalar instruction, zero for both.
    asm("vadd4.u32.u32.u32.add t, %1, %2, %3; vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vadd4.u32.u32.u32 t.b0, %1, %2, %3; vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vset4.u32.u32.ne.add t, %1, %2, %3; vmax4.u32.u32.u32 %0, %1, t.b4444, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vset4.u32.u32.ne.add t, %1, %2, %3; vmax.u32.u32.u32 %0, %1, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vadd4.s32.s32.s32.add %0, %1, %2, z; vmax4.s32.s32.s32 %1, %1, z, z;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    // One of two that are never executed both; one that may not be; another value of the guard.
    asm("@p vset4.u32.u32.ne t, %1, %2, %3; @!p vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("@p vset4.u32.u32.ne t, %1, %2, %3; vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("@p vset4.u32.u32.ne t, %1, %2, %3; setp.eq.u32 p, %1, 0; @p vadd4.u32.u32.u32.add %0, %1, %2, t;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("@p vadd4.u32.u32.u32.add t, %1, %2, %3; @!p vmax4.u32.u32.u32 %0, %1, t, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    // Zero, all ones.
    asm("vsub4.u32.u32.u32 z, %1, %1, %1; vabsdiff4.u32.u32.u32.add %0, %1, %2, z;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vset4.u32.u32.eq z, %1, %1, %1; vabsdiff4.u32.u32.u32.add %0, %1, %2, z;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    // The sum of four bytes in a half-word.
    asm("vabsdiff4.u32.u32.u32.add t, %1, %2, %3; vmax2.u32.u32.u32 %0, %1, t, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
}
