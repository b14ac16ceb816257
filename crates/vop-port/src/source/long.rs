//! Base instructions of 64-bit integers, and those that put registers together or take them apart, as operators of C.
//!
//! A function has parameters of 32 bits, so these have no functions. All values are without sign; `{L}` and `{W}` are the types of 64 and
//! 32 bits without sign, `{SL}` and `{SW}` those with one, and `{0}` is an operand, which is a name or a constant of its type.

use super::body::Kind;

/// What an instruction is in C: the kinds of its result and its operands, and an expression.
pub(super) struct Long {
    pub(super) to: Kind,
    pub(super) from: Vec<Kind>,
    pub(super) expression: String,
}

fn of(to: Kind, from: &[Kind], expression: &str) -> Option<Long> {
    Some(Long { to, from: from.to_vec(), expression: expression.into() })
}

const L: Kind = Kind::Long;
const W: Kind = Kind::Word;

/// An integer type of PTX: whether it has a sign, and its bits.
fn integer(name: &str) -> Option<(bool, u32)> {
    let bits = name.get(1..)?.parse().ok().filter(|bits| [8, 16, 32, 64].contains(bits))?;
    match &name[..1] {
        "u" | "b" => Some((false, bits)),
        "s" => Some((true, bits)),
        _ => None,
    }
}

/// The register of a type that is at least as wide.
fn kind(bits: u32) -> Kind {
    match bits {
        64 => Kind::Long,
        16 => Kind::Half,
        _ => Kind::Word,
    }
}

/// An instruction of 64-bit integers. `amount` is the second operand, if it is a constant.
pub(super) fn read(opcode: &str, amount: Option<u64>) -> Option<Long> {
    let parts: Vec<&str> = opcode.split('.').collect();
    let (name, modifiers) = (parts[0], &parts[1..]);
    let (signed, bits) = integer(modifiers.last()?)?;
    if name == "cvt" {
        return converted(modifiers);
    }
    if let [.., "wide", "u32" | "s32"] = modifiers
        && bits == 32
    {
        let product = if signed { "({L})({SL})({SW}){0} * ({L})({SL})({SW}){1}" } else { "({L}){0} * {1}" };
        return match name {
            "mul" => of(L, &[W, W], product),
            "mad" => of(L, &[W, W, L], &format!("{product} + {{2}}")),
            _ => None,
        };
    }
    if bits != 64 {
        return None;
    }
    let has_sign = |x: &str| if signed { format!("({{SL}}){x}") } else { x.to_string() };
    let (x, y) = (has_sign("{0}"), has_sign("{1}"));
    match (name, &modifiers[..modifiers.len() - 1]) {
        ("mov", []) => of(L, &[L], "{0}"),
        ("add", []) => of(L, &[L, L], "{0} + {1}"),
        ("sub", []) => of(L, &[L, L], "{0} - {1}"),
        ("mul", ["lo"]) => of(L, &[L, L], "{0} * {1}"),
        ("mad", ["lo"]) => of(L, &[L, L, L], "{0} * {1} + {2}"),
        ("and", []) => of(L, &[L, L], "{0} & {1}"),
        ("or", []) => of(L, &[L, L], "{0} | {1}"),
        ("xor", []) => of(L, &[L, L], "{0} ^ {1}"),
        ("not", []) => of(L, &[L], "~{0}"),
        ("neg", []) if signed => of(L, &[L], "0u - {0}"),
        ("min", []) => of(L, &[L, L], &format!("{x} < {y} ? {{0}} : {{1}}")),
        ("max", []) => of(L, &[L, L], &format!("{x} > {y} ? {{0}} : {{1}}")),
        ("selp", []) => of(L, &[L, L, Kind::Predicate], "{2} ? {0} : {1}"),
        ("setp", [by]) => {
            let (relation, signed) = match *by {
                "eq" => ("==", signed),
                "ne" => ("!=", signed),
                "lt" => ("<", signed),
                "le" => ("<=", signed),
                "gt" => (">", signed),
                "ge" => (">=", signed),
                "lo" => ("<", false),
                "ls" => ("<=", false),
                "hi" => (">", false),
                "hs" => (">=", false),
                _ => return None,
            };
            let (x, y) = if signed { (x, y) } else { ("{0}".into(), "{1}".into()) };
            of(Kind::Predicate, &[L, L], &format!("{x} {relation} {y}"))
        }
        // An amount of 64 and more gives 0, or copies of the sign.
        ("shl", []) => of(L, &[L, W], &shifted("{0} << {1}", amount)),
        ("shr", []) if !signed => of(L, &[L, W], &shifted("{0} >> {1}", amount)),
        ("shr", []) => {
            let amount = match amount {
                Some(amount) => format!("{}", amount.min(63)),
                None => "({1} < 64u ? {1} : 63u)".into(),
            };
            of(L, &[L, W], &format!("({{L}})(({{SL}}){{0}} >> {amount})"))
        }
        _ => None,
    }
}

fn shifted(shift: &str, amount: Option<u64>) -> String {
    match amount {
        Some(0..64) => shift.to_string(),
        Some(_) => "0".to_string(),
        None => format!("{{1}} < 64u ? {shift} : 0"),
    }
}

/// `cvt` from or to 64 bits. What is narrower than its register is its lowest part.
fn converted(modifiers: &[&str]) -> Option<Long> {
    let [to, from] = modifiers else { return None };
    let ((to_signed, to_bits), (from_signed, from_bits)) = (integer(to)?, integer(from)?);
    let up = 32 - from_bits.min(32);
    match (to_bits, from_bits) {
        (64, 64) => of(L, &[L], "{0}"),
        (64, 32) if from_signed => of(L, &[W], "({L})({SL})({SW}){0}"),
        (64, 32) => of(L, &[W], "({L}){0}"),
        (64, bits) if from_signed => {
            of(L, &[kind(bits)], &format!("({{L}})({{SL}})(({{SW}})({{0}} << {up}u) >> {up})"))
        }
        (64, bits) => of(L, &[kind(bits)], &format!("({{L}})({{0}} & {:#x}u)", (1_u32 << bits) - 1)),
        (32, 64) => of(W, &[L], "({W}){0}"),
        (16, 64) => of(Kind::Half, &[L], "({W}){0} & 0xffffu"),
        (8, 64) if !to_signed => of(W, &[L], "({W}){0} & 0xffu"),
        _ => None,
    }
}

/// `mov.b64 d, {a, b}`: the parts of a register, from the lowest.
pub(super) fn joined(opcode: &str, parts: usize) -> Option<Long> {
    match (opcode, parts) {
        ("mov.b64", 2) => of(L, &[W, W], "({L}){1} << 32 | {0}"),
        ("mov.b32", 2) => of(W, &[Kind::Half, Kind::Half], "{1} << 16 | {0}"),
        ("mov.b64", 4) => of(L, &[Kind::Half; 4], "({L})({3} << 16 | {2}) << 32 | ({1} << 16 | {0})"),
        _ => None,
    }
}

/// `mov.b64 {a, b}, d`: a part of a register, by its number.
pub(super) fn part(opcode: &str, parts: usize, number: usize) -> Option<Long> {
    let moved = |bits: usize| match number {
        0 => "{0}".to_string(),
        _ => format!("({{0}} >> {})", bits * number),
    };
    match (opcode, parts) {
        ("mov.b64", 2) => of(W, &[L], &format!("({{W}}){}", moved(32))),
        ("mov.b64", 4) => of(Kind::Half, &[L], &format!("({{W}}){} & 0xffffu", moved(16))),
        ("mov.b32", 2) => of(Kind::Half, &[W], &format!("{} & 0xffffu", moved(16))),
        _ => None,
    }
}
