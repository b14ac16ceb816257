//! Arithmetic and conversions of floats in every rounding mode, with and without `.ftz`, against exact numbers that are rounded once.
//!
//! `VOP_SEEDS=0..1000` tries more inputs than the tests do by themselves.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod number;
#[path = "../random/mod.rs"]
mod random;

use number::{BRAIN, DOUBLE, Exact, Format, HALF, Mode, SINGLE};
use random::{Random, seeds};
use vop_run::Level;
use vop_run::internals::Instruction;

const MODES: [(&str, Mode); 4] = [(".rn", Mode::Nearest), (".rz", Mode::Zero), (".rm", Mode::Down), (".rp", Mode::Up)];

/// Inputs for each opcode and seed.
const INPUTS: usize = 400;

/// A number: one of the edges of the format, or anything, often with few bits or with an exponent near 1.
fn number(format: Format, random: &mut Random) -> u64 {
    let sign = if random.percent(50) { format.sign() } else { 0 };
    let infinity = format.infinity();
    let near = |random: &mut Random, bits: u64| bits.wrapping_add(random.below(7) as u64).wrapping_sub(3);
    let magnitude = match random.below(20) {
        0 => 0,
        1 => 1 + random.below(4) as u64,
        2 => infinity - random.below(4) as u64,
        3 if random.percent(20) => infinity | random.next() & (format.normal() - 1),
        3 | 4 => near(random, format.normal()),
        5 => random.next() & (format.normal() - 1),
        6 => 1 << random.below(format.fraction as usize + 1),
        // A power of two, or a neighbour.
        7..10 => {
            let power = random_exponent(format, random) << format.fraction;
            near(random, power)
        }
        10..13 => random_exponent(format, random) << format.fraction | (random.next() & random.next() & random.next()),
        13..17 => {
            let bias = infinity >> format.fraction >> 1;
            (bias + random.below(9) as u64 - 4) << format.fraction | random.next() & (format.normal() - 1)
        }
        _ => random_exponent(format, random) << format.fraction | random.next() & (format.normal() - 1),
    };
    magnitude & (format.sign() - 1) | sign
}

fn random_exponent(format: Format, random: &mut Random) -> u64 {
    random.next() % (format.infinity() >> format.fraction)
}

/// As bits of a format, for choosing inputs: rounded to the nearest.
fn rounded(format: Format, value: f64) -> u64 {
    if value.is_nan() || value.is_infinite() {
        return format.infinity() - 1;
    }
    format.rounded(&DOUBLE.exact(value.to_bits()), Mode::Nearest, false)
}

fn value(format: Format, bits: u64) -> f64 {
    match format.is_finite(bits) {
        true => f64::from_bits(DOUBLE.rounded(&format.exact(bits), Mode::Nearest, false)),
        false if format.is_nan(bits) => f64::NAN,
        false if bits & format.sign() == 0 => f64::INFINITY,
        false => f64::NEG_INFINITY,
    }
}

/// Near a number: at most some units in the last place away.
fn beside(format: Format, bits: u64, random: &mut Random) -> u64 {
    let moved = bits.wrapping_add(random.below(5) as u64).wrapping_sub(2);
    if format.is_finite(moved) { moved } else { bits }
}

/// Operands: independent ones, or such that the result is near the limits of the format, or that a sum cancels.
fn operands(name: &str, format: Format, random: &mut Random) -> Vec<u64> {
    let any = |random: &mut Random| number(format, random);
    let [a, b, c] = [any(random), any(random), any(random)];
    // Numbers at the limits, of which the result is to be one.
    let limits = [format.normal(), format.infinity() - 1, 1, format.normal() - 1, format.normal() / 2];
    let limit = beside(format, random.pick(&limits), random);
    let (va, vb) = (value(format, a), value(format, b));
    let shaped = random.percent(60);
    match name {
        "add" | "sub" if shaped => vec![a, beside(format, a ^ format.sign(), random)],
        "add" | "sub" => vec![a, b],
        "mul" if shaped => vec![a, beside(format, rounded(format, value(format, limit) / va), random)],
        "mul" => vec![a, b],
        "div" if shaped => vec![beside(format, rounded(format, value(format, limit) * vb), random), b],
        "div" => vec![a, b],
        "fma" => match random.below(4) {
            0 => vec![a, b, c],
            1 => vec![a, b, beside(format, rounded(format, -va * vb), random)],
            2 => {
                let b = beside(format, rounded(format, value(format, limit) / va), random);
                let c = if random.percent(50) { random.pick(&[0, format.sign(), 1, format.sign() | 1]) } else { c };
                vec![a, b, c]
            }
            // One of the addends far below the other, or at the edge of its last place.
            _ => {
                let product = va * vb;
                let down = random.below(2 * format.fraction as usize + 8) as i32 - 3;
                let c = rounded(format, product * 2f64.powi(if random.percent(50) { down } else { -down }));
                vec![a, b, beside(format, c, random)]
            }
        },
        "rcp" if shaped => vec![beside(format, rounded(format, 1.0 / value(format, limit)), random)],
        _ => vec![a],
    }
}

/// The exact result; `None` where it is an infinity or a NaN, or comes of one: then no rounding takes place.
fn exact(name: &str, sources: &[Exact], down: bool) -> Option<Exact> {
    let one = Exact::integer(1);
    let [a, b, c] = std::array::from_fn(|i| sources.get(i).unwrap_or(&one));
    Some(match name {
        "add" => a.plus(b, down),
        "sub" => a.plus(&b.clone().negated(), down),
        "mul" => a.times(b),
        "fma" => a.times(b).plus(c, down),
        "div" if !b.is_zero() => a.over(b),
        "rcp" if !a.is_zero() => one.over(a),
        "sqrt" if !a.negative || a.is_zero() => a.root(),
        "cvt" => a.clone(),
        _ => return None,
    })
}

/// The result where no rounding takes place.
fn special(name: &str, sources: &[f64]) -> f64 {
    let [a, b, c] = std::array::from_fn(|i| sources.get(i).copied().unwrap_or(1.0));
    match name {
        "add" => a + b,
        "sub" => a - b,
        "mul" => a * b,
        "fma" => a.mul_add(b, c),
        "div" => a / b,
        "rcp" => 1.0 / a,
        "sqrt" => a.sqrt(),
        _ => a,
    }
}

struct Case<'a> {
    name: &'a str,
    opcode: &'a str,
    from: Format,
    to: Format,
    mode: Mode,
    /// Of operands, and of results.
    ftz: [bool; 2],
}

impl Case<'_> {
    fn expected(&self, sources: &[u64]) -> Option<u64> {
        let sources: Vec<u64> = sources.iter().map(|bits| self.from.flushed(*bits, self.ftz[0])).collect();
        let down = self.mode == Mode::Down;
        if sources.iter().all(|bits| self.from.is_finite(*bits)) {
            let numbers: Vec<Exact> = sources.iter().map(|bits| self.from.exact(*bits)).collect();
            if let Some(exact) = exact(self.name, &numbers, down) {
                return Some(self.to.rounded(&exact, self.mode, self.ftz[1]));
            }
        }
        let values: Vec<f64> = sources.iter().map(|bits| value(self.from, *bits)).collect();
        let special = special(self.name, &values);
        // Which NaN it is, other tests tell.
        (!special.is_nan()).then(|| match special.is_infinite() {
            true => self.to.infinity() | if special < 0.0 { self.to.sign() } else { 0 },
            false => self.to.rounded(&DOUBLE.exact(special.to_bits()), self.mode, false),
        })
    }

    fn check(&self, instruction: &Instruction, sources: &[u64]) {
        let expected = self.expected(sources);
        for level in Level::available() {
            let found = instruction.run(level, sources)[0];
            let right = expected.map_or(self.to.is_nan(found), |expected| found == expected);
            assert!(right, "{} {sources:x?} ({level:?}): {found:x}, not {expected:x?}", self.opcode);
        }
    }
}

fn instruction(opcode: &str, operands: usize) -> Instruction {
    Instruction::new(opcode, operands, &[]).unwrap_or_else(|| panic!("{opcode}"))
}

/// All modes of arithmetic of a type.
fn arithmetic(names: &[&str], ty: &str, format: Format, modes: &[(&str, Mode)], flushes: &[&str]) {
    for seed in seeds(0..2) {
        let mut random = Random(seed);
        for name in names {
            for (rounding, mode) in modes {
                for ftz in flushes {
                    let opcode = format!("{name}{rounding}{ftz}.{ty}");
                    let flushes = !ftz.is_empty();
                    let case = Case { name, opcode: &opcode, from: format, to: format, mode: *mode, ftz: [flushes; 2] };
                    let count = operands(name, format, &mut random).len();
                    let instruction = instruction(&opcode, count + 1);
                    for _ in 0..INPUTS {
                        case.check(&instruction, &operands(name, format, &mut random));
                    }
                }
            }
        }
    }
}

const NAMES: [&str; 7] = ["add", "sub", "mul", "fma", "div", "rcp", "sqrt"];

#[test]
fn double_precision() {
    arithmetic(&NAMES, "f64", DOUBLE, &MODES, &[""]);
}

#[test]
fn single_precision() {
    arithmetic(&NAMES, "f32", SINGLE, &MODES, &["", ".ftz"]);
}

#[test]
fn half_precision() {
    arithmetic(&NAMES[..4], "f16", HALF, &MODES[..1], &["", ".ftz"]);
    arithmetic(&NAMES[..4], "bf16", BRAIN, &MODES[..1], &[""]);
}

/// Two numbers in a register are as one in each of two.
#[test]
fn pairs_are_two_numbers() {
    let mut random = Random(5);
    for (name, ty, half, format) in [
        ("add", "f32x2", "f32", SINGLE),
        ("sub", "f32x2", "f32", SINGLE),
        ("mul", "f32x2", "f32", SINGLE),
        ("fma", "f32x2", "f32", SINGLE),
        ("add", "f16x2", "f16", HALF),
        ("mul", "f16x2", "f16", HALF),
        ("fma", "f16x2", "f16", HALF),
        ("fma", "bf16x2", "bf16", BRAIN),
    ] {
        let modes = if ty == "f32x2" { &MODES[..] } else { &MODES[..1] };
        for (rounding, _) in modes {
            for ftz in ["", ".ftz"] {
                if ftz == ".ftz" && ty == "bf16x2" {
                    continue;
                }
                let count = operands(name, format, &mut random).len();
                let pair = instruction(&format!("{name}{rounding}{ftz}.{ty}"), count + 1);
                let one = instruction(&format!("{name}{rounding}{ftz}.{half}"), count + 1);
                for _ in 0..INPUTS {
                    let low = operands(name, format, &mut random);
                    let high = operands(name, format, &mut random);
                    let both: Vec<u64> = low.iter().zip(&high).map(|(low, high)| low | high << format.bits).collect();
                    for level in Level::available() {
                        let [low, high] = [&low, &high].map(|sources| one.run(level, sources)[0]);
                        let found = pair.run(level, &both)[0];
                        assert_eq!(found, low | high << format.bits, "{name}{rounding}{ftz}.{ty} {both:x?} {level:?}");
                    }
                }
            }
        }
    }
}

/// To narrower formats. With `.ftz`, operands and results of single precision are flushed.
#[test]
fn conversions() {
    let conversions = [
        ("f32.f64", DOUBLE, SINGLE, true),
        ("f16.f32", SINGLE, HALF, true),
        ("bf16.f32", SINGLE, BRAIN, true),
        ("f16.f64", DOUBLE, HALF, false),
        ("bf16.f64", DOUBLE, BRAIN, false),
    ];
    for seed in seeds(0..3) {
        let mut random = Random(seed);
        for (types, from, to, has_ftz) in conversions {
            for (rounding, mode) in MODES {
                for ftz in [false, true] {
                    if ftz && !has_ftz {
                        continue;
                    }
                    let opcode = format!("cvt{rounding}{}.{types}", if ftz { ".ftz" } else { "" });
                    let instruction = instruction(&opcode, 2);
                    let flushes = [ftz && from == SINGLE, ftz && to == SINGLE];
                    let case = Case { name: "cvt", opcode: &opcode, from, to, mode, ftz: flushes };
                    for _ in 0..INPUTS {
                        // Anything, or near a number of the other format or the middle between two.
                        let source = if random.percent(50) {
                            number(from, &mut random)
                        } else {
                            let near = number(to, &mut random);
                            let middle = (value(to, near) + value(to, beside(to, near, &mut random))) / 2.0;
                            beside(from, rounded(from, middle), &mut random)
                        };
                        case.check(&instruction, &[source]);
                    }
                }
            }
        }
    }
}

/// From integers. `.ftz` changes nothing, and `.sat` clamps to 0 to 1.
#[test]
fn from_integers() {
    for seed in seeds(0..3) {
        let mut random = Random(seed);
        for (to, format) in [("f16", HALF), ("bf16", BRAIN), ("f32", SINGLE), ("f64", DOUBLE)] {
            for from in ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"] {
                let bits: u32 = from[1..].parse().unwrap();
                for (rounding, mode) in MODES {
                    for modifiers in ["", ".ftz", ".sat", ".ftz.sat"] {
                        if modifiers.contains("ftz") && to != "f32" || modifiers.contains("sat") && to == "bf16" {
                            continue;
                        }
                        let opcode = format!("cvt{rounding}{modifiers}.{to}.{from}");
                        let instruction = instruction(&opcode, 2);
                        for _ in 0..INPUTS / 8 {
                            let shift = random.below(64);
                            let near = 1u64 << random.below(64);
                            let any = match random.below(3) {
                                0 => random.next() >> shift,
                                1 => near.wrapping_add(random.below(5) as u64).wrapping_sub(2),
                                _ => (random.next() >> shift & !0xfff) | random.pick(&[0, 1, 0x800, 0x400, 0xfff]),
                            };
                            let any = if bits == 64 { any } else { any & ((1 << bits) - 1) };
                            let signed = from.starts_with('s');
                            let unused = 64 - bits;
                            let number =
                                if signed { i128::from((any << unused) as i64 >> unused) } else { i128::from(any) };
                            let number = if modifiers.contains("sat") { number.clamp(0, 1) } else { number };
                            let expected = format.rounded(&Exact::integer(number), mode, false);
                            for level in Level::available() {
                                let found = instruction.run(level, &[any])[0];
                                assert_eq!(found, expected, "{opcode} {any:x} ({level:?})");
                            }
                        }
                    }
                }
            }
        }
    }
}
