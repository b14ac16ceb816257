#define A(d) asm("vadd2.u32.u32.u32 %0, " \
    "%1, %2, %3;" \
    : "=r"(d))
void f() {
    asm("vsub2.u32.u32.u32 %0,\
 %1, %2, %3;");
}
