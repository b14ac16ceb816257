fn f(a: u32, b: u32, c: f32) u32 {
    return asm volatile ("vadd4.u32.u32.u32 %[ret], %[a], %[b], %[c];"
        : [ret] "=r" (-> u32),
        : [a] "r" (a), [b] "r" (b), [c] "f" (c),
    );
}
fn g(a: u32, b: u32) u32 {
    return asm ("vadd4.u32.u32.u32 %[ret], %[a], %[b], %[x];"
        : [ret] "=r" (-> u32),
        : [a] "r" (a), [b] "r" (b),
    );
}
fn h(a: u32, b: u32) void {
    var out: u32 = undefined;
    asm volatile (
        \\ vadd4.u32.u32.u32.add %[ret], %[a], %[b], %[ret];
        : [ret] "=r" (out),
        : [a] "r" (a), // the first
          [b] "r" (b)
        : "memory");
    asm volatile ("vadd4.u32.u32.u32.add %[ret], %[a], %[b], %[ret];"
        : [ret] "+r" (out),
        : [a] "r" (a), [b] "r" (b)
        : .{ .memory = true });
    asm volatile ("vadd4.u32.u32.u32 %0, %1, %2, %2;"
        : [ret] "=r" (out),
        : [a] "r" (a), [b] "r" (b));
    asm volatile ("vadd.u32.u32.u32 %[d], %[a].b%[i], %[a];"
        : [d] "=r" (out),
        : [a] "r" (a), [i] "n" (4));
    asm volatile ("bar.sync 0;");
}
