//! Whether a block of base instructions computes what an instruction does by the manual: both are computed on many rows.

use std::fmt::Write as _;

use vop::{Instruction, Operand};
use vop_ptx::fix::rows;
use vop_run::{LaunchOptions, Program};

/// What d holds before, where it is no operand.
const BEFORE: u32 = 0x5a5a_1234;

/// The threads of a block of the launch.
const THREADS: u32 = 128;

/// Compares them. An error is a part of a sentence.
pub(super) fn check(instruction: &Instruction<'_>, block: &str) -> Result<(), String> {
    let operands = [Some(instruction.a), Some(instruction.b), instruction.c];
    // The registers, each once, and which operand says what it holds; names that no block declares.
    let mut registers: Vec<(&str, Option<usize>)> = Vec::new();
    for (i, operand) in operands.iter().enumerate() {
        if let Some(name) = operand.and_then(Operand::register)
            && registers.iter().all(|(known, _)| *known != name)
        {
            registers.push((name, Some(i)));
        }
    }
    if registers.iter().all(|(known, _)| *known != instruction.d) {
        registers.push((instruction.d, None));
    }
    let guard = instruction.guard.map(|guard| guard.predicate);
    let own = |name: &str| registers.iter().position(|(known, _)| *known == name);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    let mut body = String::new();
    for part in block.split_inclusive(|c| !is_name(c)) {
        let word = part.trim_end_matches(|c| !is_name(c));
        match own(word) {
            Some(number) => body.push_str(&format!("operand_{number}")),
            None if guard == Some(word) => body.push_str("guard_of_it"),
            None => body.push_str(word),
        }
        body.push_str(&part[word.len()..]);
    }
    let rows: Vec<[u32; 3]> = rows(instruction).collect();
    let added = |i: usize| if let Some(Operand::Sum { addend, .. }) = operands[i] { addend } else { 0 };
    // Each row is computed with the guard and without it.
    let (mut input, mut expected) = (Vec::new(), Vec::new());
    for (number, row) in rows.iter().enumerate() {
        let holds = number % 2 == 0;
        let words = registers.iter().map(|(_, of)| of.map_or(BEFORE, |i| row[i].wrapping_sub(added(i))));
        let words: Vec<u32> = words.collect();
        let is_executed = instruction.guard.is_none_or(|guard| holds != guard.negated);
        let old = own(instruction.d).map_or(BEFORE, |number| words[number]);
        let [a, b, c] = *row;
        expected.push(if is_executed { instruction.form.eval(a, b, c) } else { old });
        input.extend(words.iter().chain([&u32::from(holds)]).flat_map(|word| word.to_le_bytes()));
    }
    let mut text = String::from(
        ".version 8.0\n.target sm_75\n.address_size 64\n.entry compare(.param .u64 input, .param .u64 output) {\n\
         .reg .pred guard_of_it;\n.reg .b32 row_of_it, block_of_it, thread_of_it;\n.reg .b64 from_it, to_it;\n\
         mov.u32 block_of_it, %ctaid.x;\nmov.u32 thread_of_it, %tid.x;\n",
    );
    let width = 4 * (registers.len() + 1);
    // Writing to a String does not fail.
    let _ = writeln!(text, "mad.lo.u32 row_of_it, block_of_it, {THREADS}, thread_of_it;");
    let _ = writeln!(text, "ld.param.u64 from_it, [input];\nld.param.u64 to_it, [output];");
    let _ =
        writeln!(text, "mad.wide.u32 from_it, row_of_it, {width}, from_it;\nmad.wide.u32 to_it, row_of_it, 4, to_it;");
    for number in 0..registers.len() {
        let _ =
            writeln!(text, ".reg .b32 operand_{number};\nld.global.b32 operand_{number}, [from_it+{}];", 4 * number);
    }
    let _ = writeln!(text, "ld.global.b32 row_of_it, [from_it+{}];\nsetp.ne.b32 guard_of_it, row_of_it, 0;", width - 4);
    let d = own(instruction.d).unwrap_or_default();
    let _ = writeln!(text, "{body}\nst.global.b32 [to_it], operand_{d};\nret;\n}}");

    let why = |error: &dyn std::fmt::Display| format!("its block cannot be computed: {error}");
    let program = Program::read(&text);
    let kernel = program.kernel("compare").map_err(|error| why(&error))?;
    let mut memory = program.memory();
    let blocks = rows.len().div_ceil(THREADS as usize);
    let threads = blocks * THREADS as usize;
    input.resize(threads * width, 0);
    let input = memory.allocate("input", input);
    let output = memory.allocate("output", vec![0; threads * 4]);
    let grid = [u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1];
    let arguments = [input.into(), output.into()];
    kernel
        .launch(grid, [THREADS, 1, 1], &arguments, &mut memory, &LaunchOptions::default())
        .map_err(|error| why(&error))?;
    let found =
        memory.bytes(output).chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    match rows.iter().zip(expected).zip(found).find(|((_, expected), found)| expected != found) {
        Some((([a, b, c], expected), found)) => Err(format!(
            "for a = {a:#x}, b = {b:#x} and c = {c:#x} its block computes {found:#x}, and the manual says {expected:#x}"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manuals_value_is_asked_for() {
        for text in [
            "vadd.u32.s32.s32.sat d.b0, a, b, c",
            "@!q vadd.u32.s32.s32.sat %1.h1, %2, -16, %1",
            "@p vsub.s32.u32.u32.sat.max r, r, r, c+5",
        ] {
            let instruction = vop::parse(text).unwrap();
            let block = instruction.in_base_ptx().unwrap();
            assert_eq!(check(&instruction, &block), Ok(()), "{text}");
            // A block that is wrong in one place is told.
            let wrong = block.replace("min.s64", "max.s64");
            assert_ne!(wrong, block);
            assert!(check(&instruction, &wrong).unwrap_err().contains("the manual says"), "{text}");
            assert!(
                check(&instruction, "{ ex2.approx.f99 d, a; }")
                    .unwrap_err()
                    .starts_with("its block cannot be computed")
            );
        }
    }
}
