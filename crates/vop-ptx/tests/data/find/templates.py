"""Kernel templates.

Uses vadd4 and vabsdiff4.  vmin. and vmax. are mentioned here.
"""
import cupy as cp

# asm("vadd4.u32.u32.u32 %0, %1, %2, %3;") in a comment
SAD = cp.RawKernel(r'''
extern "C" __global__
void sad(const unsigned* a, const unsigned* b, unsigned* out) {
    unsigned acc = 0;
    // asm("vsub4.u32.u32.u32 %0, %1, %2, %3;" ...);
    asm volatile("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;\n\t"
                 "vadd4.u32.u32.u32 %0, %0, %1, %2; vsub4.u32.u32.u32 %0, %0, %1, %2;"
                 : "=r"(acc) : "r"(a[0]), "r"(b[0]), "r"(acc));
    out[0] = acc;
}
''', 'sad')

PLAIN = """
    vadd4.u32.u32.u32 %r1, %r2, %r3, %r4;
    @%p1 vmin4.s32.s32.s32 %r1, %r2, %r3, %r4;
"""

DOUBLED = '''
__device__ int f(int a) {
    asm("vmax.s32.s32.s32.max %%0, %%1, %%2, %%3;\\n" : "=r"(a) : "r"(a));
    asm("vmin.%(type)s.%(type)s.%(type)s %%0, %%1, %%2;" : "=r"(a) : "r"(a));
}
''' % {"type": "s32"}


def fstring(t, d, a, i, sel):
    return (
        f"vadd4.{t}.{t}.{t} {d}, {a}, {a}, {a};\n"
        f"vsub4.u32.u32.u32 {d}, {a[0]}, {a!r:>4}, {d};\n"
        f"{{ .reg .u32 t; vmin2.u32.u32.u32 %r{i}, %r{i + 1}, t, t; }}"
        rf"vshl.u32.u32.u32.wrap.add {d}, {a}.b{sel}, {a}.b0, {d};"
        f"vmax2.s32.s32.s32 {', '.join([d, a])};"
    )


def fstring_source(op):
    return f"""
__global__ void k(int* p) {{
    int r;
    asm("vset2.u32.u32.{op}.add %0, %1, %2, %3;" : "=r"(r) : "r"(p[0]), "r"({op}), "r"(0));
    asm("vset2.u32.u32.lt.add %0, %1, %2, %3;" : "=r"(r));
}}
"""


def formats(dst, n):
    yield "vadd.{0}.{0}.{0} {1}, {2}, {3};".format("u32", dst, "a", "b")
    yield "vadd.u32.u32.u32 {}, {}, {};".format(dst, "a", "b")
    yield "vadd.u32.u32.u32 %s, %s, %s;" % (dst, "a", "b")
    yield "vsub.%s.%s.%s %s, %s, %s;" % ("u32", "u32", "u32", dst, "a", "b")
    yield "vmad.u32.u32.u32 %%r%d, %%r%d, %%r%d, %%r%d;" % (n, n, n, n)
    yield "vavrg4." + dst + ".u32.u32 %r1, %r2, %r3, %r4;"
    yield b"vavrg2.u32.u32.u32 %r1, %r2, %r3, %r4;"
    yield ("vmin2.u32.u32.u32 "  # joined
           '%r1, %r2, '
           "%r3, %r4;")
    yield "vset4.u32.u32.{{ cmp }} %r1, %r2, %r3, %r4;"
    yield "vset4.u32.u32.${cmp} %r1, %r2, %r3, %r4;"
    print("vadd4.u32 is", "vmin.x", 'it\'s "vadd4.u32.u32.u32"', f"vmin.{n}", f"vmax{n}")
    op = "vabsdiff4.u32.u32.u32.add"
    return f"{op} %0, %1, %2, %3;"


def triton(tl, x, y):
    return tl.inline_asm_elementwise(
        """
        {
            .reg .b32 t;
            vabsdiff4.u32.u32.u32.add t, $1, $2, $3;
            mov.b32 $0, t;
        }
        """, "=r,r,r,r", [x, y], dtype=tl.int32, is_pure=True, pack=1)
