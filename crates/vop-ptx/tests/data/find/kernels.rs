//! Kernels. `vadd4.u32.u32.u32 a, b, c, d` in a comment.
/* nested /* "vadd4.u32.u32.u32 a, b, c, d;" */ "vsub4.u32.u32.u32 a, b, c, d;" */
use core::arch::asm;

/// asm!("vmin4.u32.u32.u32 {0}, {1}, {2}, {3};")
pub unsafe fn sad<'a>(a: &'a u32, b: u32) -> u32 {
    let mut d: u32;
    let quote = '"';
    unsafe {
        asm!("vabsdiff4.u32.u32.u32.add {0}, {1}, {2}, {3};", out(reg32) d, in(reg32) *a, in(reg32) b, in(reg32) 0);
        core::arch::asm!(
            "{{",
            ".reg .u32 t;",
            "vadd4.u32.u32.u32 t, {x}, {y:e}, {z}", // the comma is the line's end
            #[cfg(feature = "max")]
            "vmax4.u32.u32.u32 {d}, t, {x}, {y};",
            r#"@%p1 vsub4.u32.u32.u32 %r1, %r2, %r3, %r4;"#,
            "}}",
            d = out(reg32) d, x = in(reg32) *a, y = in(reg32) b, z = in(reg32) 0,
            options(pure, nomem, nostack),
        );
    }
    d
}

macro_rules! video {
    ($op:literal, $t:ident, $d:expr) => {
        asm!(concat!($op, ".u32.u32.u32 {}, {}, {}, {};"), out(reg32) $d);
        asm!(concat!("vset4.", stringify!($t), ".u32.eq", " {0}, {1}, {2}, {3};"), out(reg32) $d);
        asm!(concat!("vset4.u32.u32.eq", " {0}, {1}, {2}, {3};"), out(reg32) $d)
    };
}
video!("vmin4", u32, d);

const PTX: &str = r##"
.visible .entry k() {
    vavrg4.u32.u32.u32 %r1, %r2, %r3, %r4;
    { .reg .u32 t; vavrg2.s32.s32.s32 t, %r2, %r3, %r4; }
}
"##;
const SOURCE: &str = "extern \"C\" __global__ void k(int *p) { \
    asm(\"vmad.s32.s32.u32.shr7 %0, %1.h0, %2.h1, %3;\" : \"=r\"(p[0])); }";

fn emit(t: &str, d: u32) -> String {
    format!("vadd.{t}.{t}.{} %r1, %r2, %r3;", t) + &format!("vsub.u32.u32.u32 %r{d}, %r{}, {name};", d + 1, name = "a")
}
