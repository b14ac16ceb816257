//! What a help says to write is right: applied, it leaves fewer faults, computes what was meant, and changes no other register.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod corpus;

use std::collections::BTreeMap;

use corpus::{Case, SLOTS, Value, applied, case, judged, module, slot};
use vop::isa::form::Finish;
use vop::isa::types::Shape;
use vop::{Code, Form};
use vop_run::{LaunchOptions, Program};
use vop_tests::Random;

/// The registers after a text was executed; `None` for a sum in operand c that `vop run` does not have: of a wider or narrower register.
fn executed(text: &str, registers: &[u8]) -> Option<Vec<u8>> {
    let source = module(text);
    let program = Program::read(&source);
    let kernel = match program.kernel("k") {
        Ok(kernel) => kernel,
        Err(error) if error.to_string().contains("the sum in operand c") => return None,
        Err(error) => panic!("{text}\n{error}"),
    };
    let mut memory = program.memory();
    let io = memory.allocate("io", registers);
    let launched = kernel.launch([1, 1, 1], [1, 1, 1], &[io.into()], &mut memory, &LaunchOptions::default());
    launched.unwrap_or_else(|error| panic!("{text}\n{error}"));
    Some(memory.bytes(io).to_vec())
}

fn word(registers: &[u8], name: &str) -> u32 {
    u32::from_le_bytes(registers[slot(name)..slot(name) + 4].try_into().unwrap())
}

fn long(registers: &[u8], name: &str) -> u64 {
    u64::from_le_bytes(registers[slot(name)..slot(name) + 8].try_into().unwrap())
}

/// Registers by chance. Those that hold other types have values that mean something.
fn registers(random: &mut Random) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..SLOTS * 8).map(|_| (random.next() >> 33) as u8).collect();
    bytes[slot("fd")..slot("fd") + 8].copy_from_slice(&(f64::from(random.next() as i32) + 0.5).to_le_bytes());
    for predicate in ["p", "q"] {
        let value = (random.next() >> 40) as u32 & 1;
        bytes[slot(predicate)..slot(predicate) + 8].copy_from_slice(&u64::from(value).to_le_bytes());
    }
    bytes
}

/// What an operand of a form is worth. One that is a number has no lanes.
fn value(operand: Value, is_number: bool, form: Form, registers: &[u8]) -> Option<u32> {
    Some(match operand {
        Value::Word(name) => word(registers, name),
        Value::Number(number) => number,
        Value::Sum(name, number) => word(registers, name).wrapping_add(number),
        // `vmad` negates by itself.
        Value::Negated(_) if form.mnemonic().name() == "vmad" => return None,
        Value::Negated(name) => {
            let value = word(registers, name);
            match form.mnemonic().shape() {
                _ if is_number => value.wrapping_neg(),
                Shape::Scalar => value.wrapping_neg(),
                Shape::Halves => {
                    (0..2).fold(0, |all, i| all | u32::from(((value >> (16 * i)) as u16).wrapping_neg()) << (16 * i))
                }
                Shape::Bytes => u32::from_le_bytes(value.to_le_bytes().map(u8::wrapping_neg)),
            }
        }
        Value::Other(name) => match name {
            "f" => word(registers, name),
            "w" | "wide" | "bits" => long(registers, name) as u32,
            "h" | "uh" | "hf" => word(registers, name) & 0xffff,
            "sh" => word(registers, name) as u16 as i16 as u32,
            "byte" | "ubyte" => word(registers, name) & 0xff,
            "sbyte" => word(registers, name) as u8 as i8 as u32,
            "p" => u32::from(word(registers, name) != 0),
            "fd" => f64::from_bits(long(registers, name)) as i32 as u32,
            _ => panic!("{name}"),
        },
        Value::Unknown => return None,
    })
}

/// Whether the guard holds.
fn holds(guard: &str, registers: &[u8]) -> bool {
    let name = guard.trim().trim_start_matches(['@', '!']);
    let holds = match name {
        "" => return true,
        "f" => f32::from_bits(word(registers, name)) != 0.0,
        "fd" => f64::from_bits(long(registers, name)) != 0.0,
        "w" | "bits" => long(registers, name) != 0,
        "h" => word(registers, name) & 0xffff != 0,
        _ => word(registers, name) != 0,
    };
    holds != guard.contains('!')
}

/// The registers that a case should leave, if it has a meaning.
fn expected(case: &Case, before: &[u8]) -> Option<Vec<u8>> {
    let form = case.form()?;
    let mut values = [0; 3];
    for (i, (place, operand)) in values.iter_mut().zip(&case.operands[1..]).enumerate() {
        let is_number = i == 2 && matches!(form.finish(), Finish::Accumulate(_));
        *place = value(operand.value, is_number, form, before)?;
    }
    let result = form.eval(values[0], values[1], values[2]);
    let mut after = before.to_vec();
    // What the epilogue stores: of `%r2` its own value.
    for name in ["p", "q"] {
        after[slot(name)..slot(name) + 4].copy_from_slice(&u32::from(word(before, name) != 0).to_le_bytes());
    }
    if holds(case.guard, before) {
        let (name, bytes) = match case.operands[0].value {
            Value::Word(name) | Value::Other(name @ "f") => (name, result.to_le_bytes().to_vec()),
            Value::Other(name @ ("w" | "bits")) => (name, u64::from(result).to_le_bytes().to_vec()),
            Value::Other(name @ "wide") => (name, i64::from(result as i32).to_le_bytes().to_vec()),
            Value::Other(name @ "fd") => (name, f64::from(result as i32).to_le_bytes().to_vec()),
            Value::Other(name @ ("h" | "uh" | "sh" | "hf")) => (name, (result as u16).to_le_bytes().to_vec()),
            Value::Other(name @ "q") => (name, u32::from(result != 0).to_le_bytes().to_vec()),
            _ => return None,
        };
        after[slot(name)..slot(name) + bytes.len()].copy_from_slice(&bytes);
    }
    Some(after)
}

/// Applies helps to a text until none is left that is a patch; the codes whose helps were.
fn mended(text: &str, lints: bool) -> (String, Vec<Code>, usize) {
    let (mut text, mut codes) = (text.to_owned(), Vec::new());
    loop {
        let (faults, warnings) = judged(&text);
        let open = if lints && faults.is_empty() { warnings } else { faults.clone() };
        let Some((code, next)) = open.iter().find_map(|one| Some((one.code, applied(&text, one)?))) else {
            return (text, codes, faults.len());
        };
        let (after, warnings_after) = judged(&next);
        let left = if lints && faults.is_empty() { after.len() + warnings_after.len() } else { after.len() };
        assert!(left < open.len(), "{code} of\n{text}\nleaves {after:?} in\n{next}");
        codes.push(code);
        text = next;
        assert!(codes.len() < 20, "{text}");
    }
}

#[test]
fn helps_for_operands_mend_them_and_change_nothing_else() {
    let mut random = Random::of(1);
    let mut seen: BTreeMap<Code, usize> = BTreeMap::new();
    let mut evaluated = 0;
    for _ in 0..4000 {
        let case = case(&mut random);
        let (text, codes, left) = mended(&case.text(), false);
        codes.iter().for_each(|code| *seen.entry(*code).or_default() += 1);
        if codes.is_empty() || left > 0 {
            continue;
        }
        for _ in 0..2 {
            let before = registers(&mut random);
            let Some(expected) = expected(&case, &before) else { continue };
            let Some(after) = executed(&text, &before) else { continue };
            assert_eq!(differing(&after, &expected), Vec::<String>::new(), "{}\n{text}", case.text());
            evaluated += 1;
        }
    }
    assert!(evaluated > 1000, "{evaluated}");
    for code in [Code::V0302, Code::V0307, Code::V0310, Code::V0311, Code::V0402, Code::V0403] {
        assert!(seen.get(&code).is_some_and(|count| *count > 20), "{code}: {seen:?}");
    }
}

#[test]
fn helps_of_lints_do_not_change_the_value() {
    let mut random = Random::of(2);
    let mut seen: BTreeMap<Code, usize> = BTreeMap::new();
    for _ in 0..6000 {
        let case = case(&mut random);
        let text = case.text();
        let (faults, lints) = judged(&text);
        if !faults.is_empty() {
            continue;
        }
        for lint in lints {
            let Some(instead) = applied(&text, &lint) else { continue };
            let (faults, _) = judged(&instead);
            assert!(faults.is_empty(), "{text}\n{instead}\n{faults:?}");
            let before = registers(&mut random);
            if let (Some(expected), Some(after)) = (expected(&case, &before), executed(&instead, &before)) {
                assert_eq!(differing(&after, &expected), Vec::<String>::new(), "{} {text}\n{instead}", lint.code);
            }
            *seen.entry(lint.code).or_default() += 1;
        }
    }
    for code in [Code::V0701, Code::V0702, Code::V0704, Code::V0709] {
        assert!(seen.get(&code).is_some_and(|count| *count > 5), "{code}: {seen:?}");
    }
}

/// The registers that differ, with both values.
fn differing(found: &[u8], expected: &[u8]) -> Vec<String> {
    let names = corpus::WORDS.into_iter().chain(corpus::OTHERS.map(|(name, _)| name)).chain(["p", "q"]);
    let names = names.filter(|name| found[slot(name)..slot(name) + 8] != expected[slot(name)..slot(name) + 8]);
    names.map(|name| format!("{name} {:x} {:x}", long(found, name), long(expected, name))).collect()
}

/// The witness: `t` is in use.
#[test]
fn a_register_in_use_is_not_written() {
    let (text, codes, left) = mended("vadd4.u32.u32.u32 d, t, 0, t;", false);
    assert_eq!((codes, left), (vec![Code::V0302], 0));
    assert!(text.contains("v_t"), "{text}");
    let mut random = Random::of(3);
    let before = registers(&mut random);
    let after = executed(&text, &before).unwrap();
    assert_eq!(word(&after, "d"), word(&before, "t"));
    assert_eq!(word(&after, "t"), word(&before, "t"));
}
