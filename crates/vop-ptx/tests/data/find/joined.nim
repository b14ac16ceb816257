s = "a" & "vsub4.u32.u32.s33 %r1, %r2, %r3, %r4;".dedent
s = "\t" & "vmin4.u32.u32".pad(8) & ".u32 %r1, %r2, %r3, %r4;"
