//! What `vop port` writes for base instructions, beside what the engine of `vop run` computes of them.

use vop_port::Base;
use vop_run::{LaunchOptions, Memory, Program};
use vop_tests::{Random, edge_rows};

use self::kernel::module;

mod kernel;

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
        let words = rows.iter().flat_map(|[a, b, c]| [*a, *b, *c, 0]).flat_map(u32::to_le_bytes);
        let mut memory: Memory = program.memory();
        let place = memory.allocate("rows", words.collect::<Vec<u8>>());
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
