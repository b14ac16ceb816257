// What does not depend on a macro's or a template's arguments is said once.
#define BAD(d, a) asm("vadd4.u32.u32.u32.bad %0, %1, %1, %1;" : "=r"(d) : "r"(a))
#define LINT(d, a) asm("vmax4.u32.u32.u32.sat %0, %1, %1, %1;" : "=r"(d) : "r"(a))
#define WIDE(d, a) asm("vmin4.u32.u32.u32 %0, %1, %1, %1;" : "=l"(d) : "r"(a))
#define ANY(op, d, a) asm("v" #op "4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(d) : "r"(a))
#define REGISTERS(d, a) asm("vsub4.u32.u32.u32.bad " #d ", " #a ", " #a ", " #a ";")
void f(unsigned x, float y) {
    REGISTERS(%r1, %r2);
    REGISTERS(%r2, %r1);
    REGISTERS(%r3, %r1);
    BAD(x, x);
    BAD(x, y);
    LINT(x, x);
    LINT(x, y);
    WIDE(x, x);
    WIDE(x, y);
    ANY(mul, x, x);
    ANY(add, x, y);
}
template <int I> void g(unsigned &d, unsigned a) {
    asm("vmax.u32.u32.u32.sat %0, %1.b%2, %1;" : "=r"(d) : "r"(a), "n"(I));
    asm("vadd.u32.u32.u32.bad %0, %1.b%2, %1;" : "=r"(d) : "r"(a), "n"(I));
    asm("vadd.u32.u32.u32 %0, %1.b%2, %1;" : "=r"(d) : "r"(a), "n"(I + 2));
}
void h(unsigned d) { g<0>(d, d); g<1>(d, d); g<2>(d, d); }
