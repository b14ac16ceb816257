# vop: allow-file(V0702, V0704)  (NO for the second)
A = "vmax4.u32.u32.u32.sat d, a, b, c;"
B = """
    vmax4.u32.u32.u32.sat d, a, b, c;
    vadd.u32.s32.s32.sat d.b0, a, b, c; // vop: allow(V0701)
    vadd.u32.s32.s32.sat d.b0, a, b, c;
"""
C = "vadd.u32.s32.s32.sat d.b0, a, b, c;"  # vop: allow(V0701)
D = ("vadd.u32.s32.s32.sat d.b0, a, b, c;\n"  # vop: allow(V0701)
     "vadd.u32.s32.s32.sat d.b1, a, b, c;\n")
# vop: allow(V0701)
E = f"vadd.u32.s32.s32.sat {d}.b0, {a}, {b}, {c};"
SOURCE = '''
__global__ void k() {
    // vop: allow(V0701)
    asm("vadd.u32.s32.s32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vadd.u32.s32.s32.sat %0.b0, %1, %2, %3; // vop: allow(V0701)\\n" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vadd.u32.s32.s32.sat %0.b0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
}
'''
