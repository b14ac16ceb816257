s = "a" * f("vsub4.u32.u32.s33 %r1, %r2, %r3, %r4;")
s = "vmin4" * sfx[t] * " %r1, %r2, %r3, %r4;"
s = "\t" * pad("vmin4.u32.u32") * ".u32 %r1, %r2, %r3, %r4;"
