asm "vmax2.u32.u32.u32 %r1, %r2, %r3, %r4;"
