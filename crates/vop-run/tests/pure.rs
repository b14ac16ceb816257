//! Each row of `tests/data/run/*.tsv` (see `tests/run.rs`) and of the file that `VOP_ROWS` names, at every level, and properties that no
//! row can hold.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use vop_ptx::module::{Scalar, lex};
use vop_run::Level;
use vop_run::internals::{Instruction, extend, fold, low_word};

fn bits(text: &str, ty: Scalar) -> u64 {
    let text = text.strip_prefix('#').unwrap_or(text);
    if !text.contains(['.', '-']) && text != "inf" {
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

fn found(opcode: &str, types: &[Vec<Scalar>], sources: &[&str], level: Level, by_ptxas: bool) -> String {
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
    let Some(instruction) = Instruction::new(opcode, results.len() + sources.len(), &immediates) else {
        return "unknown".to_owned();
    };
    let instruction = instruction.by_ptxas().filter(|_| by_ptxas).unwrap_or(instruction);
    assert_eq!(instruction.results().len(), results.len(), "{opcode}");
    assert_eq!(instruction.sources().len(), sources.len(), "{opcode}");
    let mut values = Vec::new();
    for ((value, _), (register, ty)) in parsed.iter().zip(types[1..].iter().zip(instruction.sources())) {
        let wider = register[0].bits() > ty.bits();
        assert!(register[0].bits() == ty.bits() || wider && instruction.is_wide(), "{opcode}: {ty:?} in {register:?}");
        let narrow = wider && register[0].bits() == Some(64);
        values.push(if narrow { low_word(level, *value) } else { *value });
    }
    let outcome = instruction.run(level, &values);
    let mut texts = Vec::new();
    for (i, (register, ty)) in results.iter().zip(instruction.results()).enumerate() {
        let wider = register.bits() > ty.bits();
        assert!(register.bits() == ty.bits() || wider && instruction.is_wide(), "{opcode}: {ty:?} in {register:?}");
        let bits = register.bits().unwrap();
        let value = if wider { extend(*ty, bits, level, outcome[i]) } else { outcome[i] };
        texts.push(written(value, *register));
    }
    texts.join("|")
}

#[test]
fn rows() {
    let mut failures = String::new();
    let mut rows = 0;
    let more = std::env::var_os("VOP_ROWS").map(std::path::PathBuf::from);
    for path in common::data("run", "tsv").into_iter().chain(more) {
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let row: Vec<&str> = line.split('\t').collect();
            let ([opcode, types, sources, result] | [opcode, types, sources, result, _]) = row[..] else {
                panic!("{line}")
            };
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
            for (level, by_ptxas) in Level::available().flat_map(|level| [(level, false), (level, true)]) {
                let found = found(opcode, &types, &sources, level, by_ptxas);
                let expected = row.get(4).filter(|_| by_ptxas).unwrap_or(&result);
                // A float may be written as bits.
                let same = |found: &str| bits(found, types[0][0]) == bits(expected, types[0][0]);
                if found != *expected && (types[0].len() > 1 || found == "unknown" || !same(&found)) {
                    let by = if by_ptxas { "by ptxas" } else { "by the manual" };
                    failures +=
                        &format!("{opcode} {}: {found}, expected {expected} ({by}, {level:?})\n", sources.join(" "));
                }
            }
        }
    }
    assert!(rows > 200, "{rows}");
    assert!(failures.is_empty(), "{failures}");
}

/// The examples of docs/run.md where ptxas's code disagrees with the manual.
#[test]
fn documented_disagreements() {
    let page = include_str!("../../../docs/run.md");
    let (_, section) = page.split_once("## Where ptxas's code disagrees").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let mut rows = 0;
    for line in section.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [opcode, sources, manual, ptxas] = cells[..] else { continue };
        let Some(opcode) = opcode.strip_prefix('`').and_then(|opcode| opcode.strip_suffix('`')) else { continue };
        let sources: Vec<u64> = sources.split(' ').map(|source| u64::from_str_radix(source, 16).unwrap()).collect();
        let instruction = Instruction::new(opcode, sources.len() + 1, &vec![None; sources.len() + 1]).unwrap();
        for level in Level::available() {
            let found =
                [&instruction, &instruction.by_ptxas().unwrap()].map(|i| format!("{:x}", i.run(level, &sources)[0]));
            assert_eq!(found, [manual, ptxas], "{opcode} {sources:x?}");
        }
        rows += 1;
    }
    assert_eq!(rows, 9);
}

fn at_every_level(opcode: &str, operands: usize, sources: &[u64]) -> [u64; 2] {
    let instruction = Instruction::new(opcode, operands, &[]).unwrap_or_else(|| panic!("{opcode}"));
    let mut results = Level::available().map(|level| instruction.run(level, sources));
    let first = results.next().unwrap();
    assert!(results.all(|result| result == first), "{opcode} {sources:x?}");
    first
}

/// The flag in, where there is one, is the last source; the flag out the second result.
#[test]
fn carries() {
    const TOP: u64 = u64::MAX;
    let cases: &[(&str, &[u64], [u64; 2])] = &[
        ("add.cc.u32", &[0xffff_ffff, 1], [0, 1]),
        ("add.cc.s32", &[0x7fff_ffff, 1], [0x8000_0000, 0]),
        ("add.cc.u64", &[TOP, 2], [1, 1]),
        ("addc.u32", &[0xffff_ffff, 0, 1], [0, 0]),
        ("addc.cc.u32", &[0xffff_ffff, 0, 1], [0, 1]),
        ("addc.cc.u32", &[0xffff_ffff, 0xffff_ffff, 1], [0xffff_ffff, 1]),
        ("addc.cc.s64", &[TOP, 0, 0], [TOP, 0]),
        ("sub.cc.u32", &[0, 1], [0xffff_ffff, 0]),
        ("sub.cc.u64", &[5, 5], [0, 1]),
        ("subc.u32", &[5, 4, 0], [0, 0]),
        ("subc.cc.u32", &[0, 0xffff_ffff, 0], [0, 0]),
        ("subc.cc.u64", &[1 << 63, 1, 1], [(1 << 63) - 1, 1]),
        ("mad.lo.cc.u32", &[0x1_0000, 0x1_0000, 5], [5, 0]),
        ("mad.lo.cc.u32", &[0xffff_ffff, 1, 1], [0, 1]),
        ("mad.hi.cc.s32", &[0xffff_ffff, 1, 1], [0, 1]),
        ("mad.hi.cc.u64", &[TOP, TOP, 2], [0, 1]),
        ("madc.lo.u32", &[3, 5, 7, 1], [23, 0]),
        ("madc.lo.cc.u64", &[TOP, 1, 0, 1], [0, 1]),
        ("madc.hi.u32", &[0xffff_ffff, 0xffff_ffff, 1, 1], [0, 0]),
        ("madc.hi.cc.u32", &[0xffff_ffff, 0xffff_ffff, 1, 1], [0, 1]),
        ("madc.hi.s64", &[1 << 63, 2, 1, 1], [1, 0]),
        ("madc.hi.cc.s64", &[1 << 63, 2, 1, 0], [0, 1]),
    ];
    for (opcode, sources, expected) in cases {
        let operands = if opcode.starts_with("mad") { 4 } else { 3 };
        assert_eq!(at_every_level(opcode, operands, sources), *expected, "{opcode} {sources:x?}");
        let instruction = Instruction::new(opcode, operands, &[]).unwrap();
        assert_eq!(instruction.carries(), (sources.len() == operands, opcode.contains(".cc")));
    }
}

/// Numbers that are not random, and not regular either.
fn numbers() -> impl Iterator<Item = u64> {
    let mut state = 1u64;
    std::iter::from_fn(move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        Some(state.rotate_right((state >> 59) as u32) >> (state >> 40 & 31))
    })
}

#[test]
fn division_is_exact() {
    let mut numbers = numbers();
    let edges = [1u32, 2, 3, 7, 10, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];
    let mut pairs: Vec<(u32, u32)> = edges.iter().flat_map(|a| edges.map(|b| (*a, b))).collect();
    pairs.extend((0..3000).map(|_| (numbers.next().unwrap() as u32, (numbers.next().unwrap() as u32).max(1))));
    // The quotients nearest to an integer from below.
    pairs.extend((0..500).map(|i| (0xffff_ffff - i, 3 + i % 5)));
    let [div, rem, divs, rems] =
        ["div.u32", "rem.u32", "div.s32", "rem.s32"].map(|opcode| Instruction::new(opcode, 3, &[]).unwrap());
    assert_eq!(div.divisor(), Some(1));
    for (a, b) in pairs {
        let sources = [u64::from(a), u64::from(b)];
        for level in Level::available() {
            assert_eq!(div.run(level, &sources)[0], u64::from(a / b), "{a} / {b}");
            assert_eq!(rem.run(level, &sources)[0], u64::from(a % b), "{a} % {b}");
            let (a, b) = (a as i32, b as i32);
            assert_eq!(divs.run(level, &sources)[0], u64::from(a.wrapping_div(b) as u32), "{a} / {b}");
            assert_eq!(rems.run(level, &sources)[0], u64::from(a.wrapping_rem(b) as u32), "{a} % {b}");
        }
    }
}

/// As a constant and in a register, for sources that make a table show itself.
#[test]
fn every_table_of_lop3() {
    for table in 0..256u64 {
        let constant = Instruction::new("lop3.b32", 5, &[None, None, None, None, Some(table)]).unwrap();
        let sources = [0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaa, table];
        for level in Level::available() {
            assert_eq!(constant.run(level, &sources)[0], table * 0x0101_0101, "{table:x}");
        }
        assert_eq!(at_every_level("lop3.b32", 5, &sources)[0], table * 0x0101_0101, "{table:x}");
    }
}

/// Every half is what its value says, and every value near it rounds as comparing exact values says.
#[test]
fn halves_round_to_the_nearest() {
    for (to_single, to_half, to_half_zero, largest) in [
        ("cvt.f32.f16", "cvt.rn.f16.f32", "cvt.rz.f16.f32", 0x7bffu64),
        ("cvt.f32.bf16", "cvt.rn.bf16.f32", "cvt.rz.bf16.f32", 0x7f7f),
    ] {
        let [to_single, to_half, to_half_zero] =
            [to_single, to_half, to_half_zero].map(|opcode| Instruction::new(opcode, 2, &[]).unwrap());
        for level in Level::available() {
            let single = |half: u64| f32::from_bits(to_single.run(level, &[half])[0] as u32);
            let half = |single: f32| to_half.run(level, &[u64::from(single.to_bits())])[0];
            for bits in 0..largest {
                let (low, high) = (single(bits), single(bits + 1));
                assert!(low < high);
                assert_eq!(half(low), bits);
                let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
                if middle > low && middle < high {
                    assert_eq!(half(middle), bits + (bits & 1), "{bits:x}");
                    assert_eq!(half(middle.next_up()), bits + 1, "{bits:x}");
                    assert_eq!(half(middle.next_down()), bits, "{bits:x}");
                    let below = to_half_zero.run(level, &[u64::from(high.next_down().to_bits())])[0];
                    assert_eq!(below, bits, "{bits:x}");
                }
            }
        }
    }
}

#[test]
fn folds() {
    let single = |value: f32| u64::from(value.to_bits());
    let cases = [
        ("add", "u32", 0xffff_ffff, 2, 1),
        ("add", "u64", u64::MAX, 2, 1),
        ("min", "s32", 0xffff_ffff, 1, 0xffff_ffff),
        ("min", "u32", 0xffff_ffff, 1, 1),
        ("max", "s64", u64::MAX, 1, 1),
        ("max", "u64", u64::MAX, 1, u64::MAX),
        ("and", "b32", 0xff, 0x0f, 0x0f),
        ("or", "b64", 1 << 63, 1, 1 << 63 | 1),
        ("xor", "u32", 0xff, 0x0f, 0xf0),
        ("exch", "b64", 1, 2, 2),
        ("inc", "u32", 5, 5, 0),
        ("inc", "u32", 4, 5, 5),
        ("dec", "u32", 0, 5, 5),
        ("dec", "u32", 6, 5, 5),
        ("dec", "u32", 3, 5, 2),
        ("add", "f32", 1, 1, 2),
        ("add.ftz", "f32", 1, 0x8000_0001, 0),
        ("add.ftz", "f32", 0x8000_0001, 0x8000_0001, 0x8000_0000),
        ("min", "f32", single(f32::NAN), single(1.0), single(1.0)),
        ("max.NaN", "f32", single(f32::NAN), single(1.0), 0x7fff_ffff),
        ("max.abs", "f32", single(-2.0), single(1.0), single(2.0)),
        ("min.abs.NaN", "f32", single(-2.0), single(-1.0), single(1.0)),
        ("add", "f64", 1.5f64.to_bits(), 2.0f64.to_bits(), 3.5f64.to_bits()),
        ("add", "f16", 0x3c00, 0x3c00, 0x4000),
        ("max", "bf16", 0x3f80, 0xbf80, 0x3f80),
        ("add", "f16x2", 0x3c00_0001, 0x3c00_0001, 0x4000_0002),
        ("min", "bf16x2", 0x3f80_7fc0, 0xbf80_3f80, 0xbf80_3f80),
    ];
    for (operation, ty, a, b, expected) in cases {
        let found = fold(operation, ty).unwrap_or_else(|| panic!("{operation} {ty}"))(a, b);
        assert_eq!(found, expected, "{operation}.{ty} {a:x} {b:x}");
    }
    for (operation, ty) in [("inc", "s32"), ("min", "b32"), ("and", "f32"), ("sub", "u32"), ("add", "pred")] {
        assert!(fold(operation, ty).is_none(), "{operation} {ty}");
    }
}

/// What is no instruction here, and what leaves a modifier for the decoder to refuse.
#[test]
fn refused() {
    let opcodes = [
        ("add.b32", 3),
        ("add.foo.u32", 3),
        ("add.sat.u64", 3),
        ("mul.u32", 3),
        ("mul.wide.u64", 3),
        ("popc.u32", 2),
        ("and.u32", 3),
        ("neg.u32", 2),
        ("fma.f32", 4),
        ("div.f32", 3),
        ("sqrt.f32", 2),
        ("sin.f32", 2),
        ("rcp.approx.f64", 2),
        ("setp.lo.s32", 3),
        ("setp.num.s32", 3),
        ("setp.lt.b32", 3),
        ("cvt.f32.s32", 2),
        ("cvt.s32.f32", 2),
        ("cvt.sat.u32.u8", 2),
        ("neg.sat.s8x4", 2),
        ("cvt.rs.f16x2.f32", 4),
        ("cvt.rn.f64.f32", 2),
        ("cvt.rn.e4m3x2.f32", 3),
        ("fma.rn.oob.f16", 4),
        ("fma.rn.ftz.bf16", 4),
        ("add.sat.bf16", 3),
        ("ex2.approx.bf16", 2),
        ("shf.l.b32", 4),
        ("bra", 1),
        ("ld.global.u32", 2),
        ("mov.f16", 2),
    ];
    for (opcode, operands) in opcodes {
        assert!(Instruction::new(opcode, operands, &[]).is_none(), "{opcode}");
    }
}
