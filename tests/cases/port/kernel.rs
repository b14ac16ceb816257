//! Kernels of one base instruction.

use vop_port::Base;

/// A kernel that executes an instruction on a thread's words a, b and c.
pub(crate) fn module(base: &Base) -> String {
    let name = base.opcode().split('.').next().unwrap_or_default();
    let (predicate, of_predicates) = (base.opcode().ends_with(".pred"), name == "selp");
    let has_halves = name != "cvt" && ["u16", "s16", "b16"].iter().any(|ty| base.opcode().ends_with(ty));
    let is_wide = base.opcode().contains(".wide.");
    // Words that are predicates: those of `.pred` and the last of `selp`. Of an instruction of 16 bits the amount of a shift and what a wide
    // product is added to are words.
    let operand = |i: usize, register: &str| {
        if predicate || of_predicates && i == 2 {
            register.replace("%r", "%p")
        } else if has_halves && !(matches!(name, "shl" | "shr") && i == 1 || is_wide && i == 2) {
            register.replace("%r", "%h")
        } else {
            register.to_owned()
        }
    };
    let mut registers = ["%r1", "%r2", "%r3"].into_iter();
    let operands: Vec<String> = (0..base.arity())
        .map(|i| match base.constant(i) {
            Some(value) => value.to_string(),
            None => operand(i, registers.next().expect("a function has three parameters")),
        })
        .collect();
    let makes_predicate = predicate || name == "setp";
    let (to, number) = if makes_predicate {
        ("%p4", "selp.b32 %r4, 1, 0, %p4;")
    } else if has_halves && !is_wide {
        ("%h4", "cvt.u32.u16 %r4, %h4;")
    } else {
        ("%r4", "")
    };
    format!(
        ".version 9.2
.target sm_120f
.address_size 64
.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<8>;
    .reg .b16 %h<8>;
    .reg .b64 %rd<4>;
    .reg .pred %p<8>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r5, %tid.x;
    mul.wide.u32 %rd2, %r5, 16;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r1, [%rd1];
    ld.global.u32 %r2, [%rd1+4];
    ld.global.u32 %r3, [%rd1+8];
    setp.ne.u32 %p1, %r1, 0;
    setp.ne.u32 %p2, %r2, 0;
    setp.ne.u32 %p3, %r3, 0;
    cvt.u16.u32 %h1, %r1;
    cvt.u16.u32 %h2, %r2;
    cvt.u16.u32 %h3, %r3;
    {} {to}, {};
    {number}
    st.global.u32 [%rd1+12], %r4;
    ret;
}}
",
        base.opcode(),
        operands.join(", ")
    )
}
