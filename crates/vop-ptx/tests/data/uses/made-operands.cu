// Numbers and constraints that macros write are compared; what another file's macros write is not known.
#define OUT(d) "=l"(d)
#define BY(constraint, d) constraint(d)
#define REG "l"
#define STR(x) #x
#define S(x) STR(x)
#define NUMBER 7
#define AT(i, d) asm("vadd4.u32.u32.u32 %" #i ", %1, %1, %1;" : "=r"(d) : "r"(d))
#define NAMED(x, d) asm("vadd4.u32.u32.u32 %0, %[" #x "], %1, %1;" : "=r"(d) : [in] "r"(d))
#define WITH(c, d) asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : c(d) : "r"(d))
void f(unsigned d, unsigned a) {
    asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : OUT(d) : "r"(a));
    asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : BY("=l", d) : "r"(a));
    asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=" REG(d) : "r"(a));
    asm("vadd4.u32.u32.u32 %" S(NUMBER) ", %1, %1, %1;" : "=r"(d) : "r"(a));
    AT(9, d);
    AT(0, d);
    NAMED(in, d);
    NAMED(out, d);
    WITH("=l", d);
    WITH("=r", d);
    // One operand, of which the constraint is not known.
    asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=" THEIRS(d) : "l"(a));
    asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=" THEIRS(32)(d) : "l"(a));
    asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : EARLY "r"(d) : "l"(a));
    // One or more: names are known behind it, numbers are not.
    asm("vadd4.u32.u32.u32 %0, %1, %2, %[b];" : THEIRS(d) : "l"(a), [b] "l"(a));
    asm("vadd4.u32.u32.u32 %0, %9, %[a], %[a];" : THEIRS(d) : [a] "r"(a));
}
