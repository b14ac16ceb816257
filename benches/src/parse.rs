//! Instructions parsed a second: against ptx-syntax, a public Rust parser, on texts that it takes.

use std::fmt::Write;

use crate::measure::{Subject, compare};

/// Ten spellings that real kernels use, with registers as compilers name them.
const TEXTS: [&str; 10] = [
    "vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r1;",
    "vadd.u32.u32.u32.add %r14, %r2, %r3, %r4;",
    "vmax.s32.s32.s32.max %r1, %r2, %r3, %r4;",
    "vmax4.s32.s32.s32 %r1, %r2, %r3, %r4;",
    "vsub4.s32.s32.s32.sat %r1, %r2, %r3, %r4;",
    "vadd4.s32.s32.s32.sat %r101, %r102, %r103, %r104;",
    "vmin.s32.s32.s32.min %r1, %r2, %r3, %r4;",
    "vset2.u32.u32.eq %r1, %r2, %r3, %r4;",
    "vmad.u32.u32.u32 %r1, %r2.b3, %r3.b3, %r4;",
    "vshl.u32.u32.u32.clamp.add %r1, %r2, %r3, %r4;",
];

pub fn bench() {
    const COUNT: usize = 20_000;
    let mut body = String::new();
    for i in 0..COUNT {
        body.push_str(TEXTS[i % TEXTS.len()]);
        body.push('\n');
    }
    let mut module =
        String::from(".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<200>;\n");
    let _ = write!(module, "{body}ret;\n}}\n");
    // The rival reads a module; the few lines around the instructions do not count.
    assert!(ptx_syntax::parse_ptx(&module).is_ok(), "ptx-syntax refuses the texts: the comparison means nothing");
    let lines: Vec<&str> = body.lines().collect();
    let registers: vop::Registers = ".reg .b32 %r<200>;".parse().expect("legal");
    let judging = vop::Parser::new().with_registers(&registers);
    compare(
        &format!("Parsing {COUNT} instructions of 10 spellings"),
        "instructions",
        &mut [
            Subject::new("ptx-syntax 0.5", COUNT, || {
                ptx_syntax::parse_ptx(&module).map_or(0, |m| m.directives.len() as u64)
            }),
            Subject::new("vop::parse, an instruction a call", COUNT, || {
                lines.iter().map(|line| vop::parse(line).map_or(0, |one| one.d.len() as u64)).sum()
            }),
            Subject::new("vop::parse, register types judged", COUNT, || {
                lines.iter().map(|line| judging.parse(line).map_or(0, |one| one.d.len() as u64)).sum()
            }),
            Subject::new("Parser::parse_all, one text", COUNT, || {
                vop::Parser::new().parse_all(&body).map_or(0, |all| all.len() as u64)
            }),
        ],
    );
}
