void f(){ sprintf(b, "vset.u32.u32.eq %s, %s, %s;", a, b, c); sprintf(b, "vset.u32.u32.eq %%r%d, %%r%d, %%r%d;", 1,2,3);
 snprintf(b, 9, "vabsdiff4.u32.u32.u32 %%r%u, %%r%u, %%r%u, %%r%u; vabsdiff4.u32.u32.u32.add %%r%u, %%r%u, %%r%u, %%r%u;", 1,2,3,4);
 ss << "vset.u32.u32.eq " << d << ", " << a << ", " << b << ";";
}
#define VS(r) asm("vset.u32.u32.eq %" #r ", %" #r "1, %2;")
#define VT(d,a,b) asm("vset.u32.u32.eq " d ", " a ", " b ";")
#define VU(d,a,b) asm("vset.u32.u32.eq " #d ", " #a ", " #b ";")
#define VW(d,a,b) asm("vset.u32.u32.eq %r" #d ", %r" #a ", %r" #b ";")
void g(){ asm("vset.u32.u32.eq %0, %[x], %[y];"); asm("vset.u32.u32.eq %0, " A1 ", " A2 ";"); asm("vset.u32.u32.eq %0, %r" A1 ", %r" A2 ";");}
