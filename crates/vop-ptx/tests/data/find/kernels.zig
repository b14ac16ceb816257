// vadd4.u32.u32.u32 %0, %1, %2, %3;
fn add4(a: u32, b: u32) u32 {
    return asm ("vadd4.u32.u32.u32 %[d], %[a], %[b], %[a];"
        : [d] "=r" (-> u32),
        : [a] "r" (a),
          [b] "r" (b),
    );
}
fn sad(a: u32, b: u32, c: u32) u32 {
    return asm volatile (
        \\{ .reg .b32 t;
        \\  vabsdiff4.u32.u32.u32.add %[d], %[a], %[b], %[c];
        \\}
        : [d] "=r" (-> u32),
        : [a] "r" (a), [b] "r" (b), [c] "r" (c),
    );
}
const text = "vmin4.u32.u32.u32 " ++ "%r1, %r2, %r3, %r4;";
const quote = '"';
