fn f() { unsafe {
  asm!("vadd4.u32.u32.u32 {0}, {1}, {2}, {2};", out(reg32) d, in(reg32) a, in(reg64) b);
  asm!("vadd4.u32.u32.u32 {}, {}, {}, {};", out(reg32) d, in(reg32) a, in(reg16) b, in(reg32) c, options(pure, nomem));
  asm!("vmad.u32.u32.u32 {d}, {a}, {b}, {d};", d = out(reg32) d, a = in(reg32) a, b = in(reg32) b);
  asm!("vmad.u32.u32.u32 {d}, {a}, {b}, {d};", d = inout(reg32) d, a = in(reg32) a, b = in(reg32) b);
  asm!("vmad.u32.u32.u32 {d}, {a}, {b}, {e};", d = inout(reg32) d, a = in(reg32) a, b = in(reg32) b);
  asm!("vadd4.u32.u32.u32 {0}, {1}, {2}, {5};", out(reg32) d, in(reg32) a, in(reg32) f(a, b));
  asm!("vadd.u32.u32.u32 {0}, {1}.b{2}, {1};", out(reg32) d, in(reg32) a, const 3);
  asm!("vadd4.u32.u32.u32 {0}, {1}, {2}, {1};", out(reg32) d, in(reg32) a, const 3);
}}
