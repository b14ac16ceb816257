uint f(uint a, uint b, uint c) { return __asm!uint("vadd4.u32.u32.u32 $0, $1, $2, $3;", "=r,r,r,f", a, b, c); }
uint g(uint a, uint b) { return __asm!uint("vadd4.u32.u32.u32 $0, $1, $2, $4;", "=r,r,r,r", a, b, c); }
uint h(uint a, uint b) { return __asmtrusted!uint("vadd4.u32.u32.u32.add $0, $1, $2, $0;", "=r,r,r", a, b); }
void k() {
    asm @nogc nothrow { "vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r" (d) : "r" (a), "r" (b), "f" (c); }
    asm { "vadd4.u32.u32.u32 %[d], %[a], %[b], %[a];" : [d] "=r" (d) : [a] "r" (a), [c] "r" (b) : "memory"; }
}
