// Operands that complete a selector or a modifier.
const SHIFT: u32 = 7;
const TWICE: u32 = 1;
mod other { const TWICE: u32 = 9; }
fn f<const N: u32>() { unsafe {
  asm!("vadd.u32.u32.u32 {0}, {1}.b{i}, {2};", out(reg32) d, in(reg32) a, in(reg32) b, i = const 5);
  asm!("vadd.u32.u32.u32 {0}, {1}.b{i}, {2};", out(reg32) d, in(reg32) a, in(reg32) b, i = const 2u32);
  asm!("vadd.u32.u32.u32 {}, {}.b{}, {};", out(reg32) d, in(reg32) a, const 0x7, in(reg32) b);
  asm!("vadd.u32.u32.u32 {0}, {1}.b{i}, {2};", out(reg32) d, in(reg32) a, in(reg32) b, i = const N);
  asm!("vadd.u32.u32.u32 {0}, {1}.b{i}, {2};", out(reg32) d, in(reg32) a, in(reg32) b, i = const TWICE);
  asm!("vadd.u32.u32.u32 {0}, {1}.b{i}, {2};", out(reg32) d, in(reg32) a, in(reg32) b, i = const { -1 });
  asm!("vadd.u32.u32.u32 {0}, {1}.b{3}, {2};", out(reg32) d, in(reg32) a, in(reg32) b, in(reg32) c);
  asm!("vmad.u32.u32.u32.shr{m} {0}, {1}, {2}, {1};", out(reg32) d, in(reg32) a, in(reg32) b, m = const SHIFT);
  asm!("vmad.u32.u32.u32.shr{m} {0}, {1}, {2}, {1};", out(reg32) d, in(reg32) a, in(reg32) b, m = const (8));
  asm!("vmax{}.u32.u32.u32 {}, {}, {}, {};", const 4, out(reg32) d, in(reg32) a, in(reg32) b, in(reg32) c);
  asm!("vmax4.u32.u32.{} {}, {}, {}, {};", sym K, out(reg32) d, in(reg32) a, in(reg64) b, in(reg32) c);
  asm!("vadd.u32.u32.u32 {0}, {1}{i}, {2};", out(reg32) d, in(reg32) a, in(reg32) b, i = const 2);
}}
// Terms of Rust.
fn g() { unsafe {
  asm!("vadd4.u32.u32.u32.add {0}, {1}, {1}, {0};", lateout(reg32) d, in(reg32) a);
  asm!("vadd4.u32.u32.u32 {d}, {a}, {a}, {a};", d = in(reg32) d, a = in(reg32) a);
  asm!("vadd4.u32.u32.u32 {d}, {a}, {b}, {a};", d = out(reg32) d, a = in(reg32) a);
  asm!("vadd4.u32.u32.u32 {d}, {a}, {1}, {a};", d = out(reg32) d, a = in(reg32) a);
  asm!("vadd4.u32.u32.u32 {0}, {a}, {3}, {a};", out(reg32) d, a = in(reg32) a);
  asm!("@{p} vadd.u32.u32.u32 {0}, {1}, {1};", out(reg32) d, in(reg32) a, p = in(reg32) p);
}}
