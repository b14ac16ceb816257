//! Base instructions of PTX, by their text, as plain operations: what stands beside video instructions in an `asm`.
//!
//! An instruction becomes a [`Sequence`] of the rows of the table of base instructions ([`vop::lower::Op`]), and that becomes plain
//! operations as a lowered form does. So one translation, which is proved, serves both.

use vop::isa::range::Range;
use vop::isa::types::{Comparison, Type};
use vop::lower::{Op, PackedOp, Sequence, Value};

use crate::code::Code;
use crate::machine::{Machine, PLAIN};
use crate::translate::translate;

const A: Value = Value::A;
const B: Value = Value::B;
const C: Value = Value::C;

/// A base instruction: what it computes of the registers a, b and c. A predicate is a word, 1 or 0.
///
/// ```
/// use vop_port::Base;
/// let base = Base::read("bfe.u32", &[None, Some(8), Some(8)]).unwrap();
/// assert_eq!(base.code().eval(0x1234_5678, 8, 8), 0x56);
/// assert!(Base::read("ld.global.u32", &[None]).is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    opcode: String,
    sequence: Sequence,
    arity: usize,
    /// The source operands that are constants of the function, and their values.
    fixed: Vec<(usize, u32)>,
}

impl Base {
    /// The instruction of an opcode with its modifiers, `shf.l.wrap.b32`, and of source operands of which some are constants. `None` if it
    /// has no such source operands, or is none of those that are known: those of 32-bit integers and of predicates.
    pub fn read(opcode: &str, constants: &[Option<u32>]) -> Option<Base> {
        let parts: Vec<&str> = opcode.split('.').collect();
        let mut reader = Reader { sequence: Sequence::default(), constants, fixed: Vec::new() };
        let (arity, result) = reader.read(parts[0], &parts[1..])?;
        if arity != constants.len() {
            return None;
        }
        let Reader { mut sequence, fixed, .. } = reader;
        sequence.set_result(result);
        Some(Base { opcode: opcode.to_string(), sequence, arity, fixed })
    }

    /// The instruction of a text as [`Base::text`] gives it.
    pub fn from_text(text: &str) -> Option<Base> {
        let (opcode, operands) = text.split_once(" d, ")?;
        let constants = operands.split(", ").map(|operand| match operand.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => operand.parse().ok(),
        });
        let constants: Vec<Option<u32>> = constants.collect();
        Base::read(opcode, &constants).filter(|base| base.text() == text)
    }

    /// The opcode with its modifiers.
    pub fn opcode(&self) -> &str {
        &self.opcode
    }

    /// The number of source operands.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// The source operands that the function has as parameters: the others are a part of it.
    pub fn parameters(&self) -> impl Iterator<Item = usize> {
        (0..self.arity).filter(|i| self.fixed.iter().all(|(at, _)| at != i))
    }

    /// The instruction with its operands as the function has them: `lop3.b32 d, a, b, c, 0x96`.
    pub fn text(&self) -> String {
        let mut text = format!("{} d", self.opcode);
        let mut names = ["a", "b", "c"].into_iter();
        for i in 0..self.arity {
            match self.fixed.iter().find(|(at, _)| *at == i) {
                Some((_, value)) if *value < 10 => text.push_str(&format!(", {value}")),
                Some((_, value)) => text.push_str(&format!(", {value:#x}")),
                None => text.push_str(&format!(", {}", names.next().unwrap_or("?"))),
            }
        }
        text
    }

    /// The function's name: `ptx_lop3_b32_96`.
    pub fn name(&self) -> String {
        let fixed: String = self.fixed.iter().map(|(_, value)| format!("_{value:x}")).collect();
        format!("ptx_{}{fixed}", self.opcode.replace('.', "_"))
    }

    /// Whether all of its operands are words, none a predicate.
    pub(crate) fn is_of_words(&self) -> bool {
        !(self.opcode.starts_with("setp.") || self.opcode.starts_with("selp.") || self.opcode.ends_with(".pred"))
    }

    /// The plain operations.
    pub fn code(&self) -> Code {
        self.code_on(&PLAIN)
    }

    /// The operations on a machine.
    pub(crate) fn code_on(&self, machine: &'static Machine) -> Code {
        translate(&self.sequence, machine)
    }

    /// The rows of the table of base instructions that it is.
    pub fn sequence(&self) -> &Sequence {
        &self.sequence
    }
}

struct Reader<'c> {
    sequence: Sequence,
    constants: &'c [Option<u32>],
    fixed: Vec<(usize, u32)>,
}

fn signed(name: &str) -> Option<Type> {
    match name {
        "u32" | "b32" => Some(Type::U32),
        "s32" => Some(Type::S32),
        _ => None,
    }
}

fn comparison(name: &str, ty: Type) -> Option<(Comparison, Type)> {
    Some(match name {
        "eq" => (Comparison::Eq, ty),
        "ne" => (Comparison::Ne, ty),
        "lt" => (Comparison::Lt, ty),
        "le" => (Comparison::Le, ty),
        "gt" => (Comparison::Gt, ty),
        "ge" => (Comparison::Ge, ty),
        // As numbers without sign, whatever the type.
        "lo" => (Comparison::Lt, Type::U32),
        "ls" => (Comparison::Le, Type::U32),
        "hi" => (Comparison::Gt, Type::U32),
        "hs" => (Comparison::Ge, Type::U32),
        _ => return None,
    })
}

fn lanes(name: &str) -> Option<Range> {
    Some(match name {
        "u8x4" => Range::new(false, 8),
        "s8x4" => Range::new(true, 8),
        "u16x2" => Range::new(false, 16),
        "s16x2" => Range::new(true, 16),
        _ => return None,
    })
}

fn word(value: u32) -> Value {
    Value::Word(value)
}

const AND: u8 = 0xf0 & 0xcc;
const OR: u8 = 0xf0 | 0xcc;
const XOR: u8 = 0xf0 ^ 0xcc;

impl Reader<'_> {
    fn push(&mut self, op: Op, operands: &[Value]) -> Value {
        self.sequence.push(op, operands)
    }

    fn logic(&mut self, table: u8, x: Value, y: Value) -> Value {
        self.push(Op::Lop3(table), &[x, y, word(0)])
    }

    fn and(&mut self, x: Value, k: u32) -> Value {
        self.logic(AND, x, word(k))
    }

    /// An operand that must be a constant, which becomes a part of the function.
    fn constant(&mut self, at: usize) -> Option<u32> {
        let value = self.constants.get(at).copied().flatten()?;
        self.fixed.push((at, value));
        Some(value)
    }

    /// Whether a word is not zero.
    fn holds(&mut self, x: Value) -> Value {
        self.push(Op::Setp(Comparison::Ne, Type::U32), &[x, word(0)])
    }

    fn number(&mut self, predicate: Value, yes: u32) -> Value {
        self.push(Op::Selp, &[word(yes), word(0), predicate])
    }

    /// The number of source operands, and the result.
    fn read(&mut self, name: &str, modifiers: &[&str]) -> Option<(usize, Value)> {
        let found = match (name, modifiers) {
            ("mov", ["b32" | "u32" | "s32"]) => (1, A),
            ("mov", ["pred"]) => (1, A),
            ("add", ["u32" | "s32" | "b32"]) => (2, self.push(Op::Add, &[A, B])),
            ("sub", ["u32" | "s32" | "b32"]) => (2, self.push(Op::Sub, &[A, B])),
            ("add", ["sat", "s32"]) => (2, self.push(Op::AddSat, &[A, B])),
            ("sub", ["sat", "s32"]) => (2, self.push(Op::SubSat, &[A, B])),
            ("mul", ["lo", "u32" | "s32"]) => (2, self.push(Op::Mul, &[A, B])),
            ("mul", ["hi", ty]) => {
                let product = self.push(Op::MulWide(signed(ty).filter(|_| *ty != "b32")?), &[A, B]);
                (2, self.push(Op::High, &[product]))
            }
            ("mad", ["lo", "u32" | "s32"]) => (3, self.push(Op::Mad, &[A, B, C])),
            ("mad", ["hi", ty]) => {
                let product = self.push(Op::MulWide(signed(ty).filter(|_| *ty != "b32")?), &[A, B]);
                let high = self.push(Op::High, &[product]);
                (3, self.push(Op::Add, &[high, C]))
            }
            ("min", [ty @ ("u32" | "s32")]) => (2, self.push(Op::Min(signed(ty)?), &[A, B])),
            ("max", [ty @ ("u32" | "s32")]) => (2, self.push(Op::Max(signed(ty)?), &[A, B])),
            ("abs", ["s32"]) => (1, self.push(Op::Abs, &[A])),
            ("neg", ["s32"]) => (1, self.push(Op::Sub, &[word(0), A])),
            ("sad", [ty @ ("u32" | "s32")]) => (3, self.push(Op::Sad(signed(ty)?), &[A, B, C])),
            ("and", ["b32" | "pred"]) => (2, self.logic(AND, A, B)),
            ("or", ["b32" | "pred"]) => (2, self.logic(OR, A, B)),
            ("xor", ["b32" | "pred"]) => (2, self.logic(XOR, A, B)),
            ("not", ["b32"]) => (1, self.logic(XOR, A, word(u32::MAX))),
            ("not", ["pred"]) => (1, self.logic(XOR, A, word(1))),
            ("lop3", ["b32"]) => {
                let table = self.constant(3)?;
                (4, self.push(Op::Lop3(u8::try_from(table).ok()?), &[A, B, C]))
            }
            ("shl", ["b32"]) => (2, self.push(Op::Shl, &[A, B])),
            ("shr", [ty]) => (2, self.push(Op::Shr(signed(ty)?), &[A, B])),
            ("shf", [direction @ ("l" | "r"), mode @ ("wrap" | "clamp"), "b32"]) => {
                let amount = match *mode {
                    "wrap" => self.and(C, 31),
                    _ => self.push(Op::Min(Type::U32), &[C, word(32)]),
                };
                let long = self.push(Op::Join, &[A, B]);
                let shifted = match *direction {
                    "l" => self.push(Op::ShlLong, &[long, amount]),
                    _ => self.push(Op::ShrLong(Type::U32), &[long, amount]),
                };
                (3, self.push(if *direction == "l" { Op::High } else { Op::Low }, &[shifted]))
            }
            ("prmt", ["b32"]) if self.constants.get(2).copied().flatten().is_none() => (3, self.permuted()),
            ("prmt", ["b32"]) => {
                let selector = self.constant(2)?;
                (3, self.push(Op::Prmt(selector as u16), &[A, B]))
            }
            ("slct", ["b32" | "u32" | "s32", "s32"]) => {
                let holds = self.push(Op::Setp(Comparison::Ge, Type::S32), &[C, word(0)]);
                (3, self.push(Op::Selp, &[A, B, holds]))
            }
            ("bfe", [ty @ ("u32" | "s32")]) => (3, self.extracted(signed(ty)? == Type::S32)),
            ("bfi", ["b32"]) => {
                // What the manual says of bits, pos and len being the lowest bytes of words.
                let (at, count) = (self.constant(2)? & 255, self.constant(3)? & 255);
                let ones = if count >= 32 { u32::MAX } else { (1 << count) - 1 };
                let mask = ones.checked_shl(at).unwrap_or(0);
                let shifted = self.push(Op::Shl, &[A, word(at)]);
                (4, self.push(Op::Lop3(AND | (0xaa & !0xcc)), &[shifted, word(mask), B]))
            }
            ("selp", ["b32" | "u32" | "s32"]) => {
                let holds = self.holds(C);
                (3, self.push(Op::Selp, &[A, B, holds]))
            }
            ("setp", [by, ty]) => {
                let (by, ty) = comparison(by, signed(ty)?)?;
                let holds = self.push(Op::Setp(by, ty), &[A, B]);
                (2, self.number(holds, 1))
            }
            ("set", [by, "u32" | "s32", ty]) => {
                let (by, ty) = comparison(by, signed(ty)?)?;
                let holds = self.push(Op::Setp(by, ty), &[A, B]);
                (2, self.number(holds, u32::MAX))
            }
            ("cvt", ["pack", "sat", to, "s32"]) => self.packed(to, false)?,
            ("cvt", ["pack", "sat", to, "s32", "b32"]) => self.packed(to, true)?,
            ("cvt", [to, from]) => (1, self.converted(to, from, false)?),
            ("cvt", ["sat", to, from]) => (1, self.converted(to, from, true)?),
            ("dp4a", [x, y]) => (3, self.push(Op::Dp4a(typed(x)?, typed(y)?), &[A, B, C])),
            ("dp2a", [half @ ("lo" | "hi"), x, y]) => {
                let op = Op::Dp2a { high: *half == "hi", x: typed(x)?, y: typed(y)? };
                (3, self.push(op, &[A, B, C]))
            }
            ("popc", ["b32"]) => (1, self.ones(A)),
            ("clz", ["b32"]) => {
                let bits = self.length();
                (1, self.push(Op::Sub, &[word(32), bits]))
            }
            ("bfind", ["u32"]) => {
                let bits = self.length();
                (1, self.push(Op::Sub, &[bits, word(1)]))
            }
            ("brev", ["b32"]) => (1, self.reversed()),
            ("add" | "sub" | "min" | "max", [.., ty]) if lanes(ty).is_some() => {
                let op = match (name, &modifiers[..modifiers.len() - 1]) {
                    ("add", []) => PackedOp::Add,
                    ("add", ["sat"]) => PackedOp::AddSat,
                    ("sub", []) => PackedOp::Sub,
                    ("sub", ["sat"]) => PackedOp::SubSat,
                    ("min", []) => PackedOp::Min,
                    ("max", []) => PackedOp::Max,
                    _ => return None,
                };
                (2, self.push(Op::Packed(op, lanes(ty)?), &[A, B]))
            }
            _ => return None,
        };
        Some(found)
    }

    /// `bfe`: bits of a from b on, as many as c says; both are bytes. If signed, the highest of them, or of a, stands above.
    fn extracted(&mut self, signed: bool) -> Value {
        let (at, count) = (self.and(B, 255), self.and(C, 255));
        let ty = if signed { Type::S32 } else { Type::U32 };
        let moved = self.push(Op::Shr(ty), &[A, at]);
        let above = self.push(Op::Shl, &[word(1), count]);
        let mask = self.push(Op::Sub, &[above, word(1)]);
        if !signed {
            return self.logic(AND, moved, mask);
        }
        // The sign: bit min(at + count - 1, 31) of a, or 0 if there are no bits.
        let last = self.push(Op::Add, &[at, count]);
        let last = self.push(Op::Sub, &[last, word(1)]);
        let last = self.push(Op::Min(Type::S32), &[last, word(31)]);
        let up = self.push(Op::Sub, &[word(31), last]);
        let top = self.push(Op::Shl, &[A, up]);
        let sign = self.push(Op::Shr(Type::S32), &[top, word(31)]);
        let any = self.holds(count);
        let sign = self.push(Op::Selp, &[sign, word(0), any]);
        // mask ? moved : sign
        self.push(Op::Lop3((0xf0 & 0xcc) | (0xaa & !0xcc)), &[moved, mask, sign])
    }

    fn packed(&mut self, to: &str, three: bool) -> Option<(usize, Value)> {
        let to = match to {
            "u8" if three => Range::new(false, 8),
            "s8" if three => Range::new(true, 8),
            "u16" if !three => Range::new(false, 16),
            "s16" if !three => Range::new(true, 16),
            _ => return None,
        };
        let operands = [A, B, C];
        let count = if three { 3 } else { 2 };
        Some((count, self.push(Op::Pack { to }, &operands[..count])))
    }

    /// `cvt` between integers of at most 32 bits, of which the narrower is the lowest part of its register.
    fn converted(&mut self, to: &str, from: &str, saturate: bool) -> Option<Value> {
        let range = |name: &str| -> Option<Range> {
            let bits = name.get(1..)?.parse().ok().filter(|bits| [8, 16, 32].contains(bits))?;
            match &name[..1] {
                "u" => Some(Range::new(false, bits)),
                "s" => Some(Range::new(true, bits)),
                _ => None,
            }
        };
        let (to, from) = (range(to)?, range(from)?);
        let mut value = self.narrowed(A, from);
        if saturate {
            // As numbers of the source's type; a bound that is no such number does not bind.
            let ty = if from.signed { Type::S32 } else { Type::U32 };
            if from.signed {
                let least = to.min().max(i64::from(i32::MIN));
                value = self.push(Op::Max(ty), &[value, word(least as u32)]);
            }
            let most = if from.signed { i64::from(i32::MAX) } else { i64::from(u32::MAX) };
            if to.max() < most {
                value = self.push(Op::Min(ty), &[value, word(to.max() as u32)]);
            }
            return Some(value);
        }
        Some(self.narrowed(value, to))
    }

    /// The lowest part of a word, extended by its sign or by zeros.
    fn narrowed(&mut self, x: Value, to: Range) -> Value {
        match (to.bits, to.signed) {
            (32, _) => x,
            (bits, false) => self.and(x, u32::MAX >> (32 - bits)),
            (bits, true) => {
                let top = self.push(Op::Shl, &[x, word(32 - bits)]);
                self.push(Op::Shr(Type::S32), &[top, word(32 - bits)])
            }
        }
    }

    /// The number of bits up to the highest one: all below it are made one, and counted.
    fn length(&mut self) -> Value {
        let mut x = A;
        for by in [1, 2, 4, 8, 16] {
            let below = self.push(Op::Shr(Type::U32), &[x, word(by)]);
            x = self.logic(OR, x, below);
        }
        self.ones(x)
    }

    /// `brev`: neighbours are exchanged, then pairs and nibbles, and the bytes.
    fn reversed(&mut self) -> Value {
        let mut x = A;
        for (by, mask) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f)] {
            let right = self.push(Op::Shr(Type::U32), &[x, word(by)]);
            let (right, left) = (self.and(right, mask), self.and(x, mask));
            let left = self.push(Op::Shl, &[left, word(by)]);
            x = self.logic(OR, left, right);
        }
        self.push(Op::Prmt(0x0123), &[x, word(0)])
    }

    /// `prmt` with a selector in c: each nibble picks a byte of the eight, or, if its highest bit is set, that byte's sign.
    fn permuted(&mut self) -> Value {
        let bytes = self.push(Op::Join, &[A, B]);
        let mut d = word(0);
        for i in 0..4 {
            let nibble = self.push(Op::Shr(Type::U32), &[C, word(4 * i)]);
            let number = self.and(nibble, 7);
            let down = self.push(Op::Shl, &[number, word(3)]);
            let byte = self.push(Op::ShrLong(Type::U32), &[bytes, down]);
            let byte = self.push(Op::Low, &[byte]);
            let top = self.push(Op::Shl, &[byte, word(24)]);
            let sign = self.push(Op::Shr(Type::S32), &[top, word(31)]);
            let wants = self.and(nibble, 8);
            let wants = self.holds(wants);
            let byte = self.push(Op::Selp, &[sign, byte, wants]);
            let byte = self.and(byte, 255);
            let byte = self.push(Op::Shl, &[byte, word(8 * i)]);
            d = self.logic(OR, d, byte);
        }
        d
    }

    /// `popc`: sums of neighbours, in pairs, nibbles and bytes, and the bytes added by a product.
    fn ones(&mut self, x: Value) -> Value {
        let half = self.push(Op::Shr(Type::U32), &[x, word(1)]);
        let half = self.and(half, 0x5555_5555);
        let pairs = self.push(Op::Sub, &[x, half]);
        let upper = self.push(Op::Shr(Type::U32), &[pairs, word(2)]);
        let (lower, upper) = (self.and(pairs, 0x3333_3333), self.and(upper, 0x3333_3333));
        let nibbles = self.push(Op::Add, &[lower, upper]);
        let upper = self.push(Op::Shr(Type::U32), &[nibbles, word(4)]);
        let bytes = self.push(Op::Add, &[nibbles, upper]);
        let bytes = self.and(bytes, 0x0f0f_0f0f);
        let sum = self.push(Op::Mul, &[bytes, word(0x0101_0101)]);
        self.push(Op::Shr(Type::U32), &[sum, word(24)])
    }
}

fn typed(name: &str) -> Option<Type> {
    signed(name).filter(|_| name != "b32")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(opcode: &str, constants: &[Option<u32>], at: [u32; 3]) -> u32 {
        let base = Base::read(opcode, constants).unwrap_or_else(|| panic!("{opcode}"));
        let [a, b, c] = at;
        let value = base.code().eval(a, b, c);
        assert_eq!(base.sequence().eval(a, b, c), value, "{opcode} {at:x?}");
        for machine in crate::machine::ALL {
            assert_eq!(base.code_on(machine).eval(a, b, c), value, "{opcode} {at:x?}");
        }
        value
    }

    /// What the manual's loop says of `bfe.s32`.
    fn bfe_s32(a: u32, b: u32, c: u32) -> u32 {
        let (pos, len) = (b & 255, c & 255);
        let bit = |i: u32| a >> i & 1;
        let sign = if len == 0 { 0 } else { bit((pos + len - 1).min(31)) };
        (0..32).fold(0, |d, i| d | (if i < len && pos + i <= 31 { bit(pos + i) } else { sign }) << i)
    }

    #[test]
    fn base_instructions_compute_what_the_manual_says() {
        let three = [None; 3];
        let edges =
            [0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678];
        for a in edges {
            for b in edges {
                for c in edges {
                    assert_eq!(run("bfe.s32", &three, [a, b, c]), bfe_s32(a, b, c), "bfe.s32 {a:x} {b:x} {c:x}");
                    let (pos, len) = (b & 255, c & 255);
                    let moved = if pos > 31 { 0 } else { a >> pos };
                    let mask = if len > 31 { u32::MAX } else { (1 << len) - 1 };
                    assert_eq!(run("bfe.u32", &three, [a, b, c]), moved & mask);
                    let long = u64::from(b) << 32 | u64::from(a);
                    assert_eq!(run("shf.l.wrap.b32", &three, [a, b, c]), (long << (c & 31) >> 32) as u32);
                    assert_eq!(run("shf.r.wrap.b32", &three, [a, b, c]), (long >> (c & 31)) as u32);
                    assert_eq!(run("shf.l.clamp.b32", &three, [a, b, c]), ((long << c.min(32)) >> 32) as u32);
                    assert_eq!(run("shf.r.clamp.b32", &three, [a, b, c]), (long >> c.min(32)) as u32);
                    let bytes = long.to_le_bytes();
                    let permuted = (0..4).fold(0, |d, i| {
                        let byte = bytes[(c >> (4 * i) & 7) as usize];
                        let byte = if c >> (4 * i) & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
                        d | u32::from(byte) << (8 * i)
                    });
                    assert_eq!(run("prmt.b32", &three, [a, b, c]), permuted);
                    assert_eq!(run("slct.u32.s32", &three, [a, b, c]), if (c as i32) >= 0 { a } else { b });
                    assert_eq!(run("selp.b32", &three, [a, b, c & 1]), if c & 1 == 1 { a } else { b });
                    assert_eq!(run("mad.lo.s32", &three, [a, b, c]), a.wrapping_mul(b).wrapping_add(c));
                    let high = (i64::from(a as i32) * i64::from(b as i32)) >> 32;
                    assert_eq!(run("mad.hi.s32", &three, [a, b, c]), (high as u32).wrapping_add(c));
                }
                let pair = [None, None];
                assert_eq!(run("setp.lt.s32", &pair, [a, b, 0]), u32::from((a as i32) < b as i32));
                assert_eq!(run("setp.lo.s32", &pair, [a, b, 0]), u32::from(a < b));
                assert_eq!(run("set.ge.u32.u32", &pair, [a, b, 0]), if a >= b { u32::MAX } else { 0 });
                assert_eq!(run("add.sat.s32", &pair, [a, b, 0]), (a as i32).saturating_add(b as i32) as u32);
                assert_eq!(run("shr.s32", &pair, [a, b, 0]), ((a as i32) >> b.min(31)) as u32);
                assert_eq!(run("and.b32", &pair, [a, b, 0]), a & b);
                assert_eq!(run("mul.hi.u32", &pair, [a, b, 0]), ((u64::from(a) * u64::from(b)) >> 32) as u32);
                let inserted = run("bfi.b32", &[None, None, Some(8), Some(4)], [a, b, 0]);
                assert_eq!(inserted, b & !0xf00 | (a & 15) << 8);
            }
            assert_eq!(run("popc.b32", &[None], [a, 0, 0]), a.count_ones());
            assert_eq!(run("clz.b32", &[None], [a, 0, 0]), a.leading_zeros());
            assert_eq!(run("bfind.u32", &[None], [a, 0, 0]), 31u32.wrapping_sub(a.leading_zeros()));
            assert_eq!(run("brev.b32", &[None], [a, 0, 0]), a.reverse_bits());
            assert_eq!(run("cvt.s32.s8", &[None], [a, 0, 0]), a as i8 as i32 as u32);
            assert_eq!(run("cvt.u16.u32", &[None], [a, 0, 0]), a & 0xffff);
            assert_eq!(run("cvt.sat.u8.s32", &[None], [a, 0, 0]), (a as i32).clamp(0, 255) as u32);
            assert_eq!(run("cvt.sat.s8.u32", &[None], [a, 0, 0]), a.min(127));
            assert_eq!(run("cvt.sat.s16.s32", &[None], [a, 0, 0]), (a as i32).clamp(-32768, 32767) as u32);
            assert_eq!(run("cvt.sat.u32.s32", &[None], [a, 0, 0]), (a as i32).max(0) as u32);
            assert_eq!(run("cvt.sat.s32.u32", &[None], [a, 0, 0]), a.min(0x7fff_ffff));
        }
    }

    #[test]
    fn what_is_not_known_is_none() {
        for (opcode, count) in [
            ("add.cc.u32", 2),
            ("addc.u32", 2),
            ("add.u64", 2),
            ("add.u32", 3),
            ("mul.wide.u32", 2),
            ("prmt.b32.f4e", 3),
            ("cvt.rn.f32.s32", 1),
            ("cvt.u64.u32", 1),
            ("dp4a.b32.u32", 3),
            ("setp.lt.and.s32", 3),
            ("mov.u64", 1),
            ("", 0),
        ] {
            assert_eq!(Base::read(opcode, &vec![None; count]), None, "{opcode}");
        }
        assert_eq!(
            Base::read("lop3.b32", &[None, None, None, Some(0x96)]).map(|base| base.name()).as_deref(),
            Some("ptx_lop3_b32_96")
        );
    }
}
