// `push_macro` keeps the definition that `pop_macro` goes back to.
#define OP "vadd4"
#pragma push_macro("OP")
#undef OP
#define OP "vmul4"
#define RUN(d) asm(OP ".u32.u32.u32 %0, %0, %0, %0;" : "+r"(d))
void f(unsigned d) { asm(OP ".u32.u32.u32 %0, %0, %0, %0;" : "+r"(d)); }
#pragma pop_macro("OP")
void g(unsigned d) { asm(OP ".u32.u32.u32 %0, %0, %0, %0;" : "+r"(d)); RUN(d); }
_Pragma("push_macro(\"OP\")")
#undef OP
#define OP "vsub9"
_Pragma("pop_macro(\"OP\")")
void h(unsigned d) { asm(OP ".u32.u32.u32 %0, %0, %0, %0;" : "+r"(d)); }
#pragma push_macro("NONE")
#define NONE "vmul4"
#pragma pop_macro("NONE")
void i(unsigned d) { asm(NONE ".u32.u32.u32 %0, %0, %0, %0;" : "+r"(d)); }
