// Corners of the language, an asm each.
asm("vadd4.u32.u32.u32 %0, %1, %2, %3; // one\n vsub4.u32.u32.u32 %0, %1, %2, %3" : );
asm ("vmin2.u32.u32.u32"
     /* between */ " %0," // literals
     " %1, %2, %3;");
asm("vadd4.u32.u32.u32 %0, %1, %2, %3\nvsub4.u32.u32.u32 %0, %1, %2, %3;"); // a forgotten semicolon
asm("{.reg .pred p;setp.ne.u32 p,%1,0;@p vadd2.u32.u32.u32 %0,%1,%2,%3;}");
asm("Vadd.u32.u32.u32 %0,%1,%2;" "vadd.x.y %0,%1,%2;" "vadd4.u32.u32 %0, %1;" "vadd8.u32.u32.u32 %0, %1, %2, %3;");
asm("vadd4.u32.u32.u32"); asm("vadd4;"); asm("vmnmx.u32.u32.u32 %0, %1, %2;"); asm("vadd4 .u32 .u32 .u32 %0, %1, %2, %3;");
asm("vabsdiff4.u32.u32.u32.add" " " "%0" "," "%1" "," "%2" "," "%3" ";" : "=r"(x));
#define HEAD(x) "vadd4." x ".u32.u32"
#define LANES(op) asm(op "4.u32.u32.u32 %0, %1, %2, %3;")
#define BOTH(op, n) asm("v" #op #n ".s32.s32.s32 %0, %1, %2, %3;")
#define CALL(op) asm(STR(op) ".u32.u32.u32 %0, %1, %2, %3;")
#define BLOCK(op) asm("{" #op ".u32.u32.u32 %0, %1, %2, %3;}")
const char *t = "\tvadd2.u32.u32.u32 %r1, %r2, %r3, %r4;\n", *u = "vadd4.u32.u32.u32 \0";
extern "C" __global__ void f(const char* s = "vmin4.s32.s32.s32 a, b, c, d;");
g(u8"vadd2.u32.u32.u32 a, b, c, d;", L"vadd2.s32.u32.u32 a, b, c, d;", uR"(vsub2.s32.s32.s32 a, b, c, d)", "vsub2.u32.u32.u32 a, b, c, d"_ptx);
STR(  { .reg .u32 t; vadd4.u32.u32.u32 t, %1, %2, %3; } )
asm("say \"vadd4.u32.u32.u32\"; vset.u32.u32.lt %0, %1, %2;");
asm("vadd4.u32.u32.u32 never, closed, at, all;
asm("vsub4.u32.u32.u32 %0, %1, %2, %3
