// What `#if 0` leaves out is not compiled; an `#else` and an `#elif` of it are.
#define OPERANDS : "=r"(d) : "r"(a), "r"(b), "r"(0)
#if 0
void f() { asm("vmul4.u32.u32.u32 %0, %1, %2, %3;" OPERANDS); } // vop: allow(V0102)
#define LATER "vmul4"
double a;
#else
#define LATER "vadd4"
#endif
void g(unsigned d, unsigned a, unsigned b) {
    asm(LATER ".u32.u32.u32.bad %0, %1, %2, %3;" OPERANDS);
#if false
    asm("vmul4.u32.u32.u32 %0, %1, %2, %3;" OPERANDS);
#elif FAST
    asm("vadd4.u32.u32.u32.elif %0, %1, %2, %3;" OPERANDS);
#elif (0)
    asm("vmul4.u32.u32.u32 %0, %1, %2, %3;" OPERANDS);
#else
    asm("vadd4.u32.u32.u32.else %0, %1, %2, %3;" OPERANDS);
#endif
#if 1
    asm("vadd4.u32.u32.u32.one %0, %1, %2, %3;" OPERANDS);
#else
    asm("vmul4.u32.u32.u32 %0, %1, %2, %3;" OPERANDS);
#endif
#if 0 && defined(X) || !1L // never
    asm("vmul4.u32.u32.u32 %0, %1, %2, %3;" OPERANDS);
#ifdef Y
    asm("vmul4.u32.u32.u32 %0, %1, %2, %3;" OPERANDS);
#else
    asm("vmul4.u32.u32.u32 %0, %1, %2, %3;" OPERANDS);
#endif
#endif
    // Not known: macros of compilers, and what is not 0 alone.
#ifdef __HIPCC__
    asm("vadd4.u32.u32.u32.hip %0, %1, %2, %3;" OPERANDS);
#endif
#if 0 || defined(X)
    asm("vadd4.u32.u32.u32.or %0, %1, %2, %3;" OPERANDS);
#endif
#if 0 == ZERO
    asm("vadd4.u32.u32.u32.equal %0, %1, %2, %3;" OPERANDS);
#endif
    // Inside one instruction.
    asm("vmax4.u32.u32.u32"
#if 0 /* off */
        ".bad"
#else
        ".sat"
#endif
        " %0, %1, %2, %3;" OPERANDS);
}
// Each branch inside a branch is read.
unsigned nested(unsigned a) {
    unsigned d;
    asm("vadd4.u32.u32.u32"
#if A
#ifdef B
        ".ab"
#else
        ".a"
#endif
#elif C
#ifdef D
        ".cd"
#elif E
        ".ce"
#else
        ".c"
#endif
#endif
        " %0, %1, %1, %1;" : "=r"(d) : "r"(a));
    return d;
}
"a string" asm("vadd4.u32.u32.u32.behind %0, %0, %0, %0;" : "+r"(d));
#if 0
the rest isn't closed: asm("vmul4.u32.u32.u32 %0, %1, %2, %3;" OPERANDS);
