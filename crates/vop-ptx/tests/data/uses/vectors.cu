// A vector of operands is written, or read, as a part of its statement.
void f(unsigned d, unsigned e, unsigned long long x, unsigned *p) {
    asm("mov.b64 {%0, %1}, %2; vadd4.u32.u32.u32 %0, %0, %1, %1;" : "=r"(d), "=r"(e) : "l"(x));
    asm("ld.global.v2.u32 {%0,%1}, [%2];\n\tvadd4.u32.u32.u32 %0, %0, %1, %1;" : "=r"(d), "=r"(e) : "l"(p));
    asm("{ .reg .u32 t; mov.b64 {t, %0}, %1; vadd4.u32.u32.u32 %0, %0, t, t; }" : "=r"(d) : "l"(x));
    asm("ld.v4.u32 {%0, t,\n u, v}, [%1]; vadd4.u32.u32.u32 %0, %0, %0, %0;" : "=r"(d) : "l"(p));
    // Read, not written.
    asm("mov.b64 %1, {%0, %0}; vadd4.u32.u32.u32 %0, %0, %0, %0;" : "=r"(d), "=l"(x));
    asm("st.global.v2.u32 [%1], {%0, %0}; vadd4.u32.u32.u32 %0, %0, %0, %0;" : "=r"(d) : "l"(p));
    asm("{ .reg .u32 t; mov.u32 t, 0; } vadd4.u32.u32.u32 %0, %0, %0, %0;" : "=r"(d) : "l"(p));
    asm("mov.b64 {%1, t}, %2; vadd4.u32.u32.u32 %0, %0, %1, %1;" : "=r"(d), "=r"(e) : "l"(x));
}
