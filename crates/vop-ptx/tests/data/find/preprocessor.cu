// What the preprocessor makes of the macros of a file: judged at the use, or not judged.
#define VOP2(op,t) asm("v" #op "2." #t "." #t "." #t " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
__device__ unsigned f(unsigned a, unsigned b){ unsigned d; VOP2(add,u32); VOP2(avg,u32); return d; }
#define STR_(x) #x
#define STR(x) STR_(x)
#define OP4(op) asm(STR(op) "4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
__device__ unsigned g(unsigned a, unsigned b){ unsigned d; OP4(vadd); OP4(vmul); return d; }
#define OP5(op) asm(STR(v##op##4.u32.u32.u32) " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
__device__ unsigned h(unsigned a, unsigned b){ unsigned d; OP5(add); OP5(shl); return d; }
#define OP6(op) asm("v" op "2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
__device__ unsigned i(unsigned a, unsigned b){ unsigned d; OP6("add"); OP6("div"); return d; }
#define MNE "vsub4"
__device__ unsigned j(unsigned a, unsigned b){ unsigned d; asm(MNE ".u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0)); return d; }

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define XSTR(...) #__VA_ARGS__
#undef STR
#define STR(...) XSTR(__VA_ARGS__)
#define EMIT(op, ...) asm(STR(op) " " __VA_ARGS__ ";" : "=r"(d) : "r"(a), "r"(b), "r"(0))
__device__ unsigned a1(unsigned a, unsigned b) { unsigned d; EMIT(CAT(vadd, 4).u32.u32.u32, "%0, %1, %2, %3"); return d; }
__device__ unsigned a2(unsigned a, unsigned b) { unsigned d; EMIT(CAT(vadd, 8).u32.u32.u32, "%0, %1", ", %2, %3"); return d; }
#define ARCH 300
#if ARCH >= 300
#define MNE "vsub4"
#define N "4"
#else
#define MNE "vsub"
#define N ""
#endif
__device__ unsigned a3(unsigned a, unsigned b) { unsigned d; asm(MNE ".u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0)); return d; }
#undef MNE
#define MNE "vmul"
__device__ unsigned a4(unsigned a, unsigned b) { unsigned d; asm(MNE N ".u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0)); return d; }
#define FN(name, op, T) __device__ unsigned name(unsigned a, unsigned b) { \
  unsigned d; asm("v" #op "2." #T "." #T "." #T " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0)); return d; }
FN(f1, add, u32)
FN(f2, max, s32)
FN(f3, abs, s32)   // no such
FN(f4, add, u16)
#define LIST(X) X(add) X(sub) X(div)
#define GEN(op) __device__ unsigned gen_##op(unsigned a, unsigned b) { unsigned d; asm("v" #op "4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0)); return d; }
LIST(GEN)
#define SELF SELF "x"
#define A1 B1
#define B1 A1
const char *s = SELF A1 "vadd4.u32.u32.u32 %r1, %r2, %r3, %r4;";
#define OUTSIDE(op) asm("v" #op "4.u32.u32.u32 %0, %1, %2, %3;")
#define WITH(op) asm(STR(op) "4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
__device__ unsigned a5(unsigned a, unsigned b) { unsigned d; WITH(MY_OP); return d; }
#define SAT(s) asm("vadd4.u32.u32.u32" s " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
__device__ unsigned a6(unsigned a, unsigned b) { unsigned d; SAT(); SAT(".sat"); SAT(".bad"); return d; }
#define D(x) asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(b), "r"(0))
__device__ unsigned a7(double a, unsigned b) { unsigned d; D(b); D(a); D(1.0); return d; }
#define OPN vmax
#define TY s32
__device__ unsigned a8(unsigned a, unsigned b) { unsigned d; asm(STR(OPN.TY.TY.TY) " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); asm(STR(vadd.TY.TY.u16 %0, %1, %2;) : "=r"(d) : "r"(a), "r"(b)); return d; }
#define UNUSED2(op,t) asm("v" #op "2." #t "." #t "." #t " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
#define UNUSED_SET(op,c) asm(STR(v##op) "." c " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
#define VSE4(op) asm("v" #op "4.u32.u32.eq %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
#define VSE5(op) asm(#op "4.u32.u32.eq %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
