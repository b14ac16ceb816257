// Source without a video instruction, and with much that looks like one.
#include "vadd4.u32.u32.u32.h"
#define vadd4 __vadd4
struct vmin { int x; }; vmin vmax; int vset = vmax.x, vadd2 = vset;
const char* help = "usage: vadd4 a, b\n vmin4 is an instruction; vmax.\n the vsub4.u32.u32.u32 a, b, c, d form";
const char* list = "vadd4.u32.u32.u32, vsub4.u32.u32.u32";
void f() { asm("mov.u32 %0, vmin4;"); asm volatile("vote.ballot.b32 %0, p;"); asm("add.u32 vadd.x, 1, 2;"); }
void g() { vadd4.u32.value = 1; vmin.u32(3); g("my_vadd4.u32.u32.u32 a, b, c, d;", "xvmin.u32.u32.u32 a, b, c"); }
void h() { asm("call vadd4, (a, b); st.global.v2.u32 [vmin4], {a, b};"); }
