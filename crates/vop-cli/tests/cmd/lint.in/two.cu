__device__ void f(unsigned &d, unsigned a, unsigned b)
{
    asm("vsub.u32.u32.u32.sat %0.b0, %1.b0, %2.b0, %0;" : "+r"(d) : "r"(a), "r"(b));
    asm("vsub.u32.u32.u32.sat %0.b0, %1.b0, %2.b0, %0;" : "+r"(d) : "r"(a), "r"(b));
    asm("vmax4.u32.u32.u32 %0.b3210, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
}
