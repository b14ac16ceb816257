// Suppressions: in comments of C++ and in the PTX inside strings. NO marks what is about nothing.
__device__ void own_line(unsigned &d, unsigned a, unsigned b)
{
    asm("vmax4.u32.u32.u32.sat %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b)); // vop: allow(V0702)
    asm("vmax4.u32.u32.u32.sat %0, %1, %2, %0;" /* vop: allow(V0702) a reason */ : "+r"(d) : "r"(a), "r"(b));
    // Not this one: the comment above is about its own line.
    asm("vmax4.u32.u32.u32.sat %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
    const char *s = "// vop: allow(V0702) is text of a string here, and about nothing (NO)";
}
__device__ void next_line(unsigned &d, unsigned a, unsigned b)
{
    // vop: allow(V0702)

    // and a comment between
    asm("vmax4.u32.u32.u32.sat %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
    /* vop: allow(V0702, V0704)
       on two lines */
    asm("vmax4.u32.u32.u32.sat %0.b3210, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
    // vop: allow(V0702) (NO: the instruction is two lines below)
    asm volatile(
        "vmax4.u32.u32.u32.sat %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
    asm volatile(
        // vop: allow(V0702)
        "vmax4.u32.u32.u32.sat %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
}
__device__ void in_ptx(unsigned &d, unsigned a, unsigned b)
{
    asm("// vop: allow(V0702)\n\t"
        "vmax4.u32.u32.u32.sat %0, %1, %2, %0;\n\t"
        "vmin4.u32.u32.u32.sat %0, %1, %2, %0; // vop: allow(V0702)\n\t"
        "vmax4.u32.u32.u32.sat %0, %1, %2, %0;\n\t"
        "/* vop: allow(V0702) */ vmin4.u32.u32.u32.sat %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
    asm("vmax4.u32.u32.u32.sat %0, %1, %2, %0;\n" // vop: allow(V0702)
        "vmin4.u32.u32.u32.sat %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
    asm(R"(
        // vop: allow(V0702)
        vmax4.u32.u32.u32.sat %0, %1, %2, %0;
        vmin4.u32.u32.u32.sat %0, %1, %2, %0;)" : "+r"(d) : "r"(a), "r"(b));
    asm("vmax4.u32.u32.u32.sat %0, \n"
        "%1, %2, %0; // vop: allow(V0702)" : "+r"(d) : "r"(a), "r"(b));
#ifdef A
    asm("// vop: allow(V0702)\n"
#if B
        "vmax4.u32.u32.u32.sat %0, %1, %2, %0;"
#else
        "vmin4.u32.u32.u32.sat %0, %1, %2, %0;"
#endif
        : "+r"(d) : "r"(a), "r"(b));
#endif
}
#define MAX "vmax4.u32.u32.u32.sat %0, %1, %2, %0;" /* vop: allow(V0702) */
// Errors, at the statement only.
const char *wrong = "vadd4.u32.u32.u32 d, a, b.b9, c;\n"; // vop: allow(V0303) wanted so
// vop: allow-file(V0303)
// Faults and other tools' comments.
// vop: allow V0702
// vop: allow(V0702
// vop: allow(, V9999, V0601, V0711)
// vop: allow()
// vop: disable(V0702)
// vop: a vector operation
// see vop: allow(V0702)
//! vop: allow(V0701) about the end of the file (NO)
