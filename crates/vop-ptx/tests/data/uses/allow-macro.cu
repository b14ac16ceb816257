// Comments at a macro's use, and in its definition.
#define DIFF(n) asm("vabsdiff" #n ".u32.u32.u32.sat %0, %1, %2, %1;" : "=r"(d) : "r"(a), "r"(b)) /* vop: allow(V0702) */
#define OTHER(n) asm("vabsdiff" #n ".u32.u32.u32.sat %0, %1, %2, %1;" : "=r"(d) : "r"(a), "r"(b))
__device__ void f(unsigned &d, unsigned a, unsigned b)
{
    DIFF(2);
    DIFF(4);
    OTHER(2); // vop: allow(V0702)
    OTHER(4);
}
