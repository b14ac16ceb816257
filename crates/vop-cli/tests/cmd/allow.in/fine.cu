// vop: allow-file(V0704)
__device__ void f(unsigned &d, unsigned a, unsigned b)
{
    asm("vmax4.u32.u32.u32.sat %0.b3210, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b)); // vop: allow(V0702)
    asm("// vop: allow(V0701) what the device computes is wanted\n\t"
        "vsub.u32.u32.u32.sat %0.b0, %1.b0, %2.b0, %0;" : "+r"(d) : "r"(a), "r"(b));
}
// A test of an assembler. vop: this is no suppression.
const char *wrong = "vadd4.u32.u32.u32 d, a, b.b9, c;\n"; // vop: allow(V0303)
