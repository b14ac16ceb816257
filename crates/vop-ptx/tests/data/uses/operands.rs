fn f() { unsafe {
  asm!("vadd4.u32.u32.u32 {0}, {1}, {2}, {2};", out(reg32) d, in(reg32) a, in(reg64) b);
  asm!("vadd4.u32.u32.u32 {}, {}, {}, {};", out(reg32) d, in(reg32) a, in(reg16) b, in(reg32) c, options(pure, nomem));
  asm!("vmad.u32.u32.u32 {d}, {a}, {b}, {d};", d = out(reg32) d, a = in(reg32) a, b = in(reg32) b);
  asm!("vmad.u32.u32.u32 {d}, {a}, {b}, {d};", d = inout(reg32) d, a = in(reg32) a, b = in(reg32) b);
  asm!("vmad.u32.u32.u32 {d}, {a}, {b}, {e};", d = inout(reg32) d, a = in(reg32) a, b = in(reg32) b);
  asm!("vadd4.u32.u32.u32 {0}, {1}, {2}, {5};", out(reg32) d, in(reg32) a, in(reg32) f(a, b));
  asm!("vadd.u32.u32.u32 {0}, {1}.b{2}, {1};", out(reg32) d, in(reg32) a, const 3);
  asm!("vadd4.u32.u32.u32 {0}, {1}, {2}, {1};", out(reg32) d, in(reg32) a, const 3);
  // Another instruction has written it.
  asm!("mov.u32 {0}, 0; vadd4.u32.u32.u32.add {0}, {1}, {2}, {0};", out(reg32) d, in(reg32) a, in(reg32) b);
  asm!("ld.global.u32 {d}, [{p}];", "vmad.u32.u32.u32 {d}, {a}, {a}, {d};", d = out(reg32) d, a = in(reg32) a, p = in(reg64) p);
  asm!("mov.b64 {{{0}, {1}}}, {2};", "vmad.u32.u32.u32 {0}, {1}, {1}, {0};", out(reg32) d, out(reg32) e, in(reg64) p);
  // It has written another operand, or read this one.
  asm!("mov.u32 {1}, {0}; vmad.u32.u32.u32 {0}, {2}, {2}, {0};", out(reg32) d, out(reg32) e, in(reg32) a);
  // Special registers, and an operand of such a name.
  asm!("vadd4.u32.u32.u32 {0}, %laneid, {1}, {1};", out(reg32) d, in(reg32) a);
  asm!("vadd4.u32.u32.u32 {d}, {tid}, {a}, {a};", d = out(reg32) d, tid = in(reg32) t, a = in(reg32) a);
}}
