//! What `vop port` writes for base instructions, beside what the engine of `vop run` computes of them.

use vop_port::Base;
use vop_run::{LaunchOptions, Memory, Program};
use vop_tests::{Random, edge_rows};

/// A kernel that executes an instruction on a thread's words a, b and c.
fn module(base: &Base) -> String {
    let name = base.opcode().split('.').next().unwrap_or_default();
    let (predicate, of_predicates) = (base.opcode().ends_with(".pred"), name == "selp");
    // Words that are predicates: those of `.pred` and the last of `selp`.
    let operand = |i: usize, register: &str| {
        if predicate || of_predicates && i == 2 { register.replace("%r", "%p") } else { register.to_owned() }
    };
    let mut registers = ["%r1", "%r2", "%r3"].into_iter();
    let operands: Vec<String> = (0..base.arity())
        .map(|i| match base.constant(i) {
            Some(value) => value.to_string(),
            None => operand(i, registers.next().expect("a function has three parameters")),
        })
        .collect();
    let makes_predicate = predicate || name == "setp";
    let to = if makes_predicate { "%p4" } else { "%r4" };
    let number = if makes_predicate { "selp.b32 %r4, 1, 0, %p4;" } else { "" };
    format!(
        ".version 9.2
.target sm_120f
.address_size 64
.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<8>;
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

/// Inputs with values at edges, and with small last operands, as amounts and selectors are.
fn rows(random: &mut Random) -> Vec<[u32; 3]> {
    let rows = edge_rows(random, 80).into_iter();
    rows.flat_map(|[a, b, c]| [[a, b, c], [a, b, c % 40], [a, b % 40, c % 40]]).collect()
}

#[test]
fn base_instructions_are_what_the_engine_computes() {
    let mut random = Random::of(7);
    let mut unknown = Vec::new();
    let mut compared = 0;
    for base in Base::samples() {
        let program = Program::read(&module(&base));
        let kernel = match program.kernel("k") {
            Ok(kernel) => kernel,
            Err(_) => {
                unknown.push(base.opcode().to_owned());
                continue;
            }
        };
        let is_predicate = base.opcode().ends_with(".pred");
        let rows: Vec<[u32; 3]> =
            rows(&mut random).into_iter().map(|row| if is_predicate { row.map(|x| x & 1) } else { row }).collect();
        let words: Vec<u32> = rows.iter().flat_map(|[a, b, c]| [*a, *b, *c, 0]).collect();
        let mut memory: Memory = program.memory();
        let place = memory.allocate("rows", words);
        kernel
            .launch([1; 3], [rows.len() as u32, 1, 1], &[place.into()], &mut memory, &LaunchOptions::default())
            .unwrap_or_else(|error| panic!("{}: {error}", base.text()));
        let given = memory.bytes(place).to_vec();
        let (long, words) = (base.code_with(true), base.code_with(false));
        assert!(!words.steps().iter().any(|(op, _)| op.is_long()), "{}", base.text());
        for ([a, b, c], row) in rows.into_iter().zip(given.chunks_exact(16)) {
            let d = u32::from_le_bytes([row[12], row[13], row[14], row[15]]);
            for code in [&long, &words] {
                assert_eq!(code.eval(a, b, c), d, "{} of {a:#x}, {b:#x}, {c:#x}", base.text());
            }
            compared += 1;
        }
    }
    assert_eq!(unknown, [""; 0], "the engine does not know them");
    assert!(compared > 50_000, "{compared}");
}
