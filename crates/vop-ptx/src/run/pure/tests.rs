//! Each row of `tests/data/run/*.tsv` (see `tests/run.rs`) at every level, and properties that no row can hold.

use std::path::Path;

use super::{Pure, extend, fold::fold, low_word, pure};
use crate::module::{Scalar, lex};
use crate::run::decode::opcode::Opcode;
use crate::run::engine::lanes::Width;
use crate::run::engine::level::Level;

/// The opcode, taken whole.
fn known(opcode: &str, operands: usize, immediates: &[Option<u64>]) -> Option<Pure> {
    let mut parts = Opcode::new(opcode);
    pure(&mut parts, operands, immediates).filter(|_| parts.rest().is_none())
}

fn count(widths: &[Width]) -> usize {
    widths.iter().filter(|width| **width != Width::None).count()
}

/// One thread's results: sources are registers' bits, with the carry last where there is one.
fn run(instruction: &Pure, level: Level, sources: &[u64]) -> [u64; 2] {
    let mut sources = sources.iter().copied();
    let mut results: Vec<u64> = Vec::new();
    for step in [instruction.compute].iter().chain(&instruction.then) {
        let mut values = [0; 4];
        for (value, given) in values[..count(&step.sources)].iter_mut().zip(results.drain(..).chain(&mut sources)) {
            *value = given;
        }
        results.extend(&step.once(level, values)[..count(&step.results)]);
    }
    assert_eq!(sources.next(), None);
    [results[0], results.get(1).copied().unwrap_or(0)]
}

fn bits(text: &str, ty: Scalar) -> u64 {
    let text = text.strip_prefix('#').unwrap_or(text);
    if !text.contains('.') && !matches!(text, "inf" | "-inf") {
        return u64::from_str_radix(text, 16).unwrap_or_else(|_| panic!("{text}"));
    }
    match ty {
        Scalar::F32 => u64::from(text.parse::<f32>().unwrap().to_bits()),
        _ => text.parse::<f64>().unwrap().to_bits(),
    }
}

fn written(value: u64, ty: Scalar) -> String {
    match ty {
        Scalar::F32 if !f32::from_bits(value as u32).is_nan() => format!("{:?}", f32::from_bits(value as u32)),
        Scalar::F64 if !f64::from_bits(value).is_nan() => format!("{:?}", f64::from_bits(value)),
        _ => format!("{value:x}"),
    }
}

/// The value of a `#` source, which stands in the instruction.
fn immediate(text: &str) -> (u64, Option<u64>) {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    if let Some(float) = digits.strip_prefix("0f").or(digits.strip_prefix("0d")) {
        return (u64::from_str_radix(float, 16).unwrap(), None);
    }
    let value = lex::integer(digits).unwrap();
    let value = if negative { value.wrapping_neg() } else { value };
    (value, Some(value))
}

fn found(opcode: &str, types: &[Vec<Scalar>], sources: &[&str], level: Level) -> String {
    let results = &types[0];
    let parsed: Vec<(u64, Option<u64>)> = sources
        .iter()
        .zip(&types[1..])
        .map(|(text, ty)| match text.strip_prefix('#') {
            Some(text) => immediate(text),
            None => (bits(text, ty[0]), None),
        })
        .collect();
    let mut immediates = vec![None; results.len()];
    immediates.extend(parsed.iter().map(|(_, immediate)| *immediate));
    let Some(instruction) = known(opcode, results.len() + sources.len(), &immediates) else {
        return "unknown".to_owned();
    };
    assert_eq!(instruction.results.len(), results.len(), "{opcode}");
    assert_eq!(instruction.sources.len(), sources.len(), "{opcode}");
    let mut values = Vec::new();
    for ((value, _), (register, ty)) in parsed.iter().zip(types[1..].iter().zip(&instruction.sources)) {
        let wider = register[0].bits() > ty.bits();
        assert!(register[0].bits() == ty.bits() || wider && instruction.wide, "{opcode}: {ty:?} in {register:?}");
        let narrow = wider && register[0].bits() == Some(64);
        values.push(if narrow { low_word().once(level, [*value, 0, 0, 0])[0] } else { *value });
    }
    let outcome = run(&instruction, level, &values);
    let mut texts = Vec::new();
    for (i, (register, ty)) in results.iter().zip(&instruction.results).enumerate() {
        let wider = register.bits() > ty.bits();
        assert!(register.bits() == ty.bits() || wider && instruction.wide, "{opcode}: {ty:?} in {register:?}");
        let extended = if wider { extend(*ty, register.bits().unwrap()) } else { None };
        let value = extended.map_or(outcome[i], |extend| extend.once(level, [outcome[i], 0, 0, 0])[0]);
        texts.push(written(value, *register));
    }
    texts.join("|")
}

#[test]
fn rows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run");
    let mut failures = String::new();
    let mut rows = 0;
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "tsv") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let [opcode, types, sources, result] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            // What is refused is refused by the decoder, and video instructions are the library's.
            if result.starts_with("refused") || opcode.starts_with('v') {
                continue;
            }
            let types: Vec<Vec<Scalar>> = types
                .split(' ')
                .map(|types| types.split('|').map(|ty| Scalar::from_name(ty).unwrap()).collect())
                .collect();
            let sources: Vec<&str> = sources.split(' ').collect();
            rows += 1;
            for level in Level::available() {
                let found = found(opcode, &types, &sources, level);
                if found != result {
                    failures += &format!("{opcode} {}: {found}, expected {result} ({level:?})\n", sources.join(" "));
                }
            }
        }
    }
    assert!(rows > 200, "{rows}");
    assert!(failures.is_empty(), "{failures}");
}
