// What constraints say of operands.
__device__ unsigned refused(unsigned a, double x, float y, long long l, short h, unsigned *p, double *q)
{
    unsigned r;
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "f"(y), "r"(a), "r"(0));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(a));
    asm("vadd4.u32.u32.u32 %0, %[a], %[b], %[a];" : "=r"(r) : [a] "r"(a), [c] "r"(a));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(a), "n"(4));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(p[0]), "r"(q[1]), "r"((double)a));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(p), "r"(h), "r"(l));
    asm("vadd.u32.u32.u32 %0, %1, %2.b0;" : "=r"(r) : "r"(a), "n"(4));
    asm("@%3 vadd4.u32.u32.u32 %0, %1, %2, %1;" : "=r"(r) : "r"(a), "r"(a), "r"(a));
    asm("vadd.u32.u32.u32 %0, %1.b%3, %2;" : "=r"(r) : "r"(a), "r"(a), "r"(2));
    asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=l"(l) : "h"(h));
    asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(r) : "r"(1.0f));
    { float a = y; asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(r) : "r"(a)); }
    return r;
}

__device__ unsigned silent(unsigned a, double x, short h, unsigned *p, long n, REAL y, struct S s)
{
    unsigned r, b = a < 3, c = f(a, x);
    unsigned short t[4];
    asm("vadd.u32.u32.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "n"(4));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(n), "r"(y), "r"(s.x));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"((unsigned)x), "r"(-h), "r"(h + 1));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(p[2]), "r"(*p), "r"(static_cast<int>(x)));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(b), "r"(c), "r"(t[0] * 2));
    asm("vadd4.u32.u32.u32 %0, %%r1, %1, %1;" : "=r"(r) : "r"(a));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : OPERANDS);
    { int x = 2; asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(r) : "r"(x)); }
    { auto x = a; asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(r) : "r"(x)); }
    for (unsigned x = 0; x < 2; ++x) { asm("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(r) : "r"(x)); }
    asm("vadd4.u32.u32.u32 %0, %1, %1, %1;");
    return r;
}

// Who writes an output first.
__device__ unsigned accumulates(unsigned a, unsigned b)
{
    unsigned r;
    asm("vmad.u32.u32.u32 %0, %1.b0, %2.b0, %0;" : "=r"(r) : "r"(a), "r"(b));
    asm("vadd4.u32.u32.u32.add %0, %1, %2, %0;" : "=r"(r) : "r"(a), "r"(b));
    asm("vadd.u32.u32.u32 %0.b0, %1, %2, %0;" "vadd.u32.u32.u32 %0.b1, %1, %2, %0;" : "=&r"(r) : "r"(a), "r"(b));
    asm("vadd4.u32.u32.u32 %0.b10, %1, %2, %0;" : "=r"(r) : "r"(a), "r"(b));
    asm("vmax.s32.s32.s32.max %0, %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    asm("{ .reg .pred p; setp.eq.u32 p, %1, 0; @p mov.b32 %0, 0; vmad.u32.u32.u32 %0, %1, %2, %0; }" : "=r"(r) : "r"(a), "r"(b));
    asm("L: vmad.u32.u32.u32 %0, %1, %2, %0; @p bra L;" : "=r"(r) : "r"(a), "r"(b));
    asm volatile("vadd4.u32.u32.u32 %0, %1, %2, %1;" :: "r"(r), "r"(a), "r"(b));
    return r;
}

__device__ unsigned writes_first(unsigned a, unsigned b)
{
    unsigned r;
    asm("vmad.u32.u32.u32 %0, %1.b0, %2.b0, %0;" : "+r"(r) : "r"(a), "r"(b));
    asm("vmad.u32.u32.u32 %0, %1.b0, %2.b0, %0;" : "=r"(r) : "r"(a), "r"(b), "0"(r));
    asm("mov.b32 %0, 0; vmad.u32.u32.u32 %0, %1.b0, %2.b0, %0;" : "=r"(r) : "r"(a), "r"(b));
    asm("vadd.u32.u32.u32 %0, %1, %2; vadd4.u32.u32.u32.add %0, %1, %2, %0;" : "=r"(r) : "r"(a), "r"(b));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %0;" : "=r"(r) : "r"(a), "r"(b));
    asm("@p mov.b32 %0, 0; @!p mov.b32 %0, 1; vmad.u32.u32.u32 %0, %1, %2, %0;" : "=r"(r) : "r"(a), "r"(b));
    asm("@p mov.b32 %0, 0; @p vmad.u32.u32.u32 %0, %1, %2, %0;" : "=r"(r) : "r"(a), "r"(b));
    asm("bra M; L: vmad.u32.u32.u32 %0, %1, %2, %0; bra N; M: mov.b32 %0, 0; bra L; N:" : "=r"(r) : "r"(a), "r"(b));
    asm(ZERO "vmad.u32.u32.u32 %0, %1, %2, %0;" : "=r"(r) : "r"(a), "r"(b));
    asm("ld.global.u32 %0, [%3]; vmad.u32.u32.u32 %0, %1, %2, %0;" : "=r"(r) : "r"(a), "r"(b), "l"(&a));
    return r;
}

// Operands that complete a selector or a modifier.
enum Part { First, Second, Fifth = 5 };
enum class Scoped { Third = 2 };
constexpr int NEXT = Second + 1;
static const unsigned LAST = 3u;
#define HIGH 1
template <int I, int J = 2> __device__ unsigned parts(unsigned a)
{
    unsigned r;
    asm("vadd.u32.u32.u32 %0, %1.b%2, %1.b%3;" : "=r"(r) : "r"(a), "n"(I), "n"(J));
    return r;
}
template <bool Upper> struct Halves {
    template <typename T> static __device__ unsigned of(T a)
    {
        unsigned r;
        asm("vadd.u32.u32.u32 %0, %1.h%2, 0;" : "=r"(r) : "r"(a), "n"(Upper ? 1 : 0));
        return r;
    }
};
template <int S> __device__ unsigned unused(unsigned a)
{
    unsigned r;
    asm("vmad.u32.u32.u32.shr%3 %0, %1, %1, %2;" : "=r"(r) : "r"(a), "r"(a), "n"(S));
    asm("vadd9.u32.u32.u32 %0, %1.b%2, %1;" : "=r"(r) : "r"(a), "n"(S));
    return r;
}
__device__ unsigned uses(unsigned a)
{
    unsigned r;
    asm("vadd.u32.u32.u32 %0, %1.b%2, %1.b%3;" : "=r"(r) : "r"(a), "n"(NEXT), "n"(LAST));
    asm("vadd.u32.u32.u32 %0, %1.b%2, %1.h%3;" : "=r"(r) : "r"(a), "n"(Scoped::Third), "n"(HIGH));
    asm("vmad.u32.u32.u32.shr%3 %0, %1, %1, %2;" : "=r"(r) : "r"(a), "r"(a), "n"(8 - 1));
    asm("vmad.u32.u32.u32.shr%3 %0, %1, %1, %2;" : "=r"(r) : "r"(a), "r"(a), "n"(Fifth));
    for (int i = 0; i < 4; ++i) asm("vadd.u32.u32.u32 %0, %1.b%2, %1;" : "=r"(r) : "r"(a), "n"(i));
    asm("vmax4.u32.u32.u32.add%0, %1, %1, %1;" : "=r"(r) : "r"(a));
    return parts<First>(a) + parts<1, LAST>(a) + parts<Fifth>(a) + Halves<true>::of(a) + Halves<HIGH - 1>::of(a);
}

// A macro's use has operands of its own.
#define ADD(d, a, b) asm("vadd4.u32.u32.u32 %0, %1, %2, %1;" : "=r"(d) : "r"(a), "r"(b))
#define SUM(d, a) asm("vmad.u32.u32.u32 %0, %1, %1, %0;" : "=r"(d) : "r"(a))
__device__ void macros(unsigned &d, unsigned a, double x) { ADD(d, a, a); ADD(d, a, x); SUM(d, a); }

// Names, and what is assembled.
void labels(const char *k)
{
    checkResult("vmax4.u32.u32.s32.sat", 1);
    const char *names[] = {"vadd8.u32.u32.u32", "vset4.u32.u32.eq"};
    emit("vadd4.u32.u32.s32 %r1, %r2, %r3, %r4;");
    emit("vabsdiff4.u32.u32.u32.sat ", "%r1, %r2, %r3, %r4;");
    sprintf(buffer, "vmin4.u32.u32.u32 %s, %s, %s, %s;", k, k, k, k);
}

// Special registers.
__device__ void special(unsigned &d, unsigned a, unsigned tid)
{
    asm("vadd4.u32.u32.u32 %0, %%laneid, %1, %1;" : "=r"(d) : "r"(a));
    asm("vadd4.u32.u32.u32 %0, %1, %%tid.x, %1;" : "=r"(d) : "r"(a));
    asm("@%%p vadd.u32.u32.u32 %0, %1.b0, %%ntid.x;" : "=r"(d) : "r"(a));
    asm("vadd.u32.u32.u32.add %0, %1, %1, %%laneid+1;" : "=r"(d) : "r"(a));
    // Names of operands and of registers.
    asm("vadd4.u32.u32.u32 %[d], %[tid], %[a], %[a];" : [d] "=r"(d) : [tid] "r"(tid), [a] "r"(a));
    asm("{ .reg .b32 %%clock; mov.b32 %%clock, 1; vadd4.u32.u32.u32 %0, %%clock, %1, %1; }" : "=r"(d) : "r"(a));
}
