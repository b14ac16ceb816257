// The ways macros have of putting an instruction together.
#define OP3(name, ins)                                                   \
    __device__ int name(int a, int b, int c)                             \
    {                                                                    \
        int d;                                                           \
        asm(ins " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));  \
        return d;                                                        \
    }
OP3(add4_sat, "vadd4.s32.s32.s32.sat")
OP3(min_add, "vmin4.s32.s32.s32.add")
OP3(shl, "vshl.u32.u32.u32.wrap.add")

#define OPERANDS " %0, %1, %2, %3;"
#define MIN4(d) asm("vmin4.s32.s32.s32.add" "%0, %1, %2, %3;" : "=r"(d) : "r"(a))
#define MIN4_OPERANDS(d) asm("vmin4.s32.s32.s32.add" OPERANDS : "=r"(d))

#define TYPED(T, d) asm("vadd4." #T "." #T "." #T " %0, %1, %2, %3;" : "=r"(d))
#define SUFFIX(d, sat) asm("vsub2.s32.s32.s32" sat " %0, %1, %2, %3;" : "=r"(d))
#define LANES(N, d) asm("vmax" #N ".u32.u32.u32 %0, %1, %2, %3;" : "=r"(d))
#define ANY(OP, d) asm(#OP ".u32.u32.u32 %0, %1, %2, %3;" : "=r"(d))
#define SELECT(n, d) asm("vshl.u32.u32.u32.wrap.add %0, %1.b" #n ", %2.b" #n ", %3;" : "=r"(d))
#define NAMED(d, a, b) asm("vadd.u32.u32.u32 " #d ", " #a ", " #b ";")

#define EOL "\n\t"
#define TWO(d)                                  \
    asm volatile("vadd2.u32.u32.u32 %0, %1, %2, %3;" EOL   \
                 "vsub2.u32.u32.u32 %0, %1, %2, %3;" EOL)

#define END ";\n"
#define TWO_ENDS(d)                                          \
    asm volatile("vadd2.u32.u32.u32 %0, %1, %2, %3" END      \
                 "vsub2.u32.u32.u32 %0, %1, %2, %3" END)

#define IF_P "@%%p1 "
inline void guarded(int d) { asm(IF_P "vmin2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d)); }

#define PTX(...) asm(#__VA_ARGS__)
inline void stringised() {
    PTX(vadd4.u32.u32.u32 %0, %1, %2, %3; vsub4.u32.u32.u32 %0, %1, %2, %3;);
    PTX(@%p vabsdiff4.u32.u32.u32.add %0, %1,
        %2, %3;);
}
#error don't "vadd4.u32.u32.u32 %0, %1, %2, %3;" stop reading here
inline void last() { asm("vset2.u32.u32.lt.add %0, %1, %2, %3;"); }
