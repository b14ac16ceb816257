/+ vadd4.u32.u32.u32 %0, %1, %2, %3; /+ nested +/ still +/
uint add4(uint a, uint b)
{
    return __asm!uint("vadd4.u32.u32.u32 $0, $1, $2, $1;", "=r,r,r", a, b);
}
immutable one = r"vmax4.u32.u32.u32 %r1, %r2, %r3, %r4;";
immutable two = q"END
vmin4.u32.u32.u32 %r1, %r2, %r3, %r4;
END";
immutable three = q"(vsub2.u32.u32.u32 %r1, %r2, %r3, %r4;)" ~ "\n" ~ `vadd2.u32.u32.u32 %r1, %r2, %r3, %r4;`;
auto made = "vset4." ~ T ~ ".u32.eq %r1, %r2, %r3, %r4;";
