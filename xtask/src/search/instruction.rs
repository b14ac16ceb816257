//! The machine instructions that are enumerated, and what undoes them.

use vop::isa::range::Range;
use vop::isa::types::Type;
use vop::lower::PackedOp;
use vop::lower::{Op, Sequence, Value};

/// A machine instruction without its operands: a base instruction, or two that ptxas makes one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// A base instruction on two or three words.
    Base(Op),
    /// A shift by a constant: a base instruction whose second operand is that.
    Shift(Op, u32),
    /// A shift to the right by a constant, and a sum: LEA.HI.
    ShiftedSum(Type, u32),
    /// A sum of three words, some of them negated: IADD3.
    Sum3([bool; 3]),
    /// The difference of half-words, written as a sum with what is negated.
    PackedSub,
}

/// Groups of instructions that a search may use, by name.
pub const GROUPS: [(&str, &str); 8] = [
    ("logic", "lop3, with any table"),
    ("sum", "add, sub, and sums of three"),
    ("shift", "shifts by constants, and with sum those that are added"),
    ("bound", "min and max of words"),
    ("spread", "prmt that spreads the sign of each lane"),
    ("bytes", "prmt that joins even and odd bytes, or halves"),
    ("packed", "packed add, sub, min and max that the target has"),
    ("absdiff", "vabsdiff4"),
];

const SHIFTS: [u32; 7] = [1, 7, 8, 15, 16, 24, 31];

/// The instructions of some groups, except `lop3`, on lanes of `bits` bits.
pub(super) fn instructions(groups: &[String], bits: u32, packed: &[Range]) -> Vec<Instruction> {
    let has = |name: &str| groups.iter().any(|group| group == name);
    let types = [Type::U32, Type::S32];
    let mut all = Vec::new();
    if has("sum") {
        all.extend([Op::Add, Op::Sub].map(Instruction::Base));
        all.extend([0, 1, 3].map(|signs| Instruction::Sum3([false, signs & 1 != 0, signs & 2 != 0])));
    }
    if has("shift") {
        for amount in SHIFTS {
            all.push(Instruction::Shift(Op::Shl, amount));
            all.extend(types.map(|ty| Instruction::Shift(Op::Shr(ty), amount)));
            if has("sum") {
                all.extend(types.map(|ty| Instruction::ShiftedSum(ty, amount)));
            }
        }
    }
    if has("bound") {
        all.extend(types.map(|ty| Instruction::Base(Op::Min(ty))));
        all.extend(types.map(|ty| Instruction::Base(Op::Max(ty))));
    }
    if has("spread") {
        all.push(Instruction::Base(Op::Prmt(if bits == 8 { 0xba98 } else { 0xbb99 })));
    }
    if has("bytes") {
        all.extend([0x7351, 0x6240, 0x7250, 0x5410, 0x7632].map(|selector| Instruction::Base(Op::Prmt(selector))));
    }
    for &lanes in packed.iter().filter(|_| has("packed")) {
        if !lanes.signed {
            all.push(Instruction::Base(Op::Packed(PackedOp::Add, lanes)));
            all.push(if lanes.bits == 16 {
                Instruction::PackedSub
            } else {
                Instruction::Base(Op::Packed(PackedOp::Sub, lanes))
            });
        }
        all.extend([PackedOp::Min, PackedOp::Max].map(|op| Instruction::Base(Op::Packed(op, lanes))));
        if lanes.bits == 8 {
            all.extend([PackedOp::AddSat, PackedOp::SubSat].map(|op| Instruction::Base(Op::Packed(op, lanes))));
        }
    }
    if has("absdiff") {
        all.extend(types.map(|ty| Instruction::Base(Op::Absdiff4(ty))));
    }
    all
}

/// What an operand must be so that the result is a wanted one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// The word.
    pub(super) word: u32,
    /// Which bits of it matter.
    pub(super) care: u32,
}

impl Instruction {
    /// How many words it reads.
    pub(super) fn arity(self) -> usize {
        match self {
            Instruction::Base(Op::Lop3(_)) | Instruction::Sum3(_) => 3,
            Instruction::Base(Op::Prmt(0xba98 | 0xbb99)) | Instruction::Shift(..) => 1,
            _ => 2,
        }
    }

    /// Whether it makes no difference which of the first two operands is which.
    pub(super) fn commutes(self) -> bool {
        match self {
            Instruction::Base(op) => match op {
                Op::Add | Op::Min(_) | Op::Max(_) | Op::Absdiff4(_) => true,
                Op::Packed(op, _) => !matches!(op, PackedOp::Sub | PackedOp::SubSat),
                _ => false,
            },
            Instruction::Sum3([x, y, _]) => x == y,
            _ => false,
        }
    }

    /// Whether two operands may change places.
    pub(super) fn are_alike(self, one: usize, other: usize) -> bool {
        match self {
            Instruction::Sum3(signs) => signs[one] == signs[other],
            _ => one.max(other) < 2 && self.commutes(),
        }
    }

    /// What it computes.
    pub(super) fn compute(self, [x, y, z]: [u32; 3]) -> u32 {
        let signed = |negated: bool, x: u32| if negated { x.wrapping_neg() } else { x };
        match self {
            Instruction::Base(Op::Add) => x.wrapping_add(y),
            Instruction::Base(Op::Sub) => x.wrapping_sub(y),
            Instruction::Base(Op::Min(Type::U32)) => x.min(y),
            Instruction::Base(Op::Max(Type::U32)) => x.max(y),
            Instruction::Shift(Op::Shl, amount) => x << amount,
            Instruction::Shift(Op::Shr(Type::S32), amount) => (x as i32 >> amount) as u32,
            Instruction::Shift(_, amount) => x >> amount,
            Instruction::ShiftedSum(Type::S32, amount) => ((x as i32 >> amount) as u32).wrapping_add(y),
            Instruction::ShiftedSum(_, amount) => (x >> amount).wrapping_add(y),
            Instruction::Sum3(signs) => {
                signed(signs[0], x).wrapping_add(signed(signs[1], y)).wrapping_add(signed(signs[2], z))
            }
            Instruction::PackedSub => x.wrapping_sub(y) & 0xffff | (x >> 16).wrapping_sub(y >> 16) << 16,
            Instruction::Base(op) => op.eval(&[x.into(), y.into(), z.into()][..op.operands().len()]) as u32,
        }
    }

    /// Appends it to a sequence.
    pub(super) fn write(self, sequence: &mut Sequence, [x, y, z]: [Value; 3]) -> Value {
        let zero = Value::Word(0);
        match self {
            Instruction::Base(op @ Op::Prmt(0xba98 | 0xbb99)) => sequence.push(op, &[x, zero]),
            Instruction::Base(op) => sequence.push(op, &[x, y, z][..op.operands().len()]),
            Instruction::Shift(op, amount) => sequence.push(op, &[x, Value::Word(amount)]),
            Instruction::ShiftedSum(ty, amount) => {
                let shifted = sequence.push(Op::Shr(ty), &[x, Value::Word(amount)]);
                sequence.push(Op::Add, &[shifted, y])
            }
            Instruction::Sum3(signs) => {
                // The first is never negated.
                let first = sequence.push(if signs[1] { Op::Sub } else { Op::Add }, &[x, y]);
                sequence.push(if signs[2] { Op::Sub } else { Op::Add }, &[first, z])
            }
            Instruction::PackedSub => {
                let negated = sequence.push(Op::Negate16x2, &[y]);
                sequence.push(Op::Packed(PackedOp::Add, Range::new(false, 16)), &[x, negated])
            }
        }
    }

    /// The value that the operand at a place must have for a wanted result, where the other operands are known. `Err` if no value
    /// will do, `None` if the values that will do cannot be described bit by bit.
    pub(super) fn invert(self, hole: usize, [x, y, z]: [u32; 3], d: u32) -> Option<Result<Wanted, ()>> {
        let exact = |word: u32| Some(Ok(Wanted { word, care: u32::MAX }));
        let bounded = |d: u32, other: u32, below: bool, nothing: bool| {
            // The other operand is the result where both are equal; then this one may be anything on its far side.
            if d == other {
                Some(Ok(Wanted { word: 0, care: 0 }))
            } else if below || nothing {
                Some(Err(()))
            } else {
                exact(d)
            }
        };
        let other = if hole == 0 { y } else { x };
        match self {
            Instruction::Base(Op::Add) => exact(d.wrapping_sub(other)),
            Instruction::Base(Op::Sub) => exact(if hole == 0 { d.wrapping_add(y) } else { x.wrapping_sub(d) }),
            Instruction::Sum3(signs) => {
                let words = [x, y, z];
                let others = (0..3).filter(|&i| i != hole).fold(d, |rest, i| {
                    if signs[i] { rest.wrapping_add(words[i]) } else { rest.wrapping_sub(words[i]) }
                });
                exact(if signs[hole] { others.wrapping_neg() } else { others })
            }
            Instruction::Base(Op::Min(Type::U32)) => bounded(d, other, d > other, false),
            Instruction::Base(Op::Max(Type::U32)) => bounded(d, other, d < other, false),
            Instruction::Base(Op::Min(Type::S32)) => bounded(d, other, d as i32 > other as i32, false),
            Instruction::Base(Op::Max(Type::S32)) => bounded(d, other, (d as i32) < (other as i32), false),
            Instruction::Shift(Op::Shl, amount) => match d & ((1 << amount) - 1) {
                0 => Some(Ok(Wanted { word: d >> amount, care: u32::MAX >> amount })),
                _ => Some(Err(())),
            },
            Instruction::Shift(Op::Shr(ty), amount) => unshifted(ty, amount, d),
            Instruction::ShiftedSum(ty, amount) if hole == 0 => unshifted(ty, amount, d.wrapping_sub(y)),
            Instruction::ShiftedSum(..) => exact(d.wrapping_sub(self.compute([x, 0, 0]))),
            Instruction::PackedSub if hole == 1 => exact(self.compute([x, d, 0])),
            Instruction::PackedSub => {
                exact(Op::Packed(PackedOp::Add, Range::new(false, 16)).eval(&[d.into(), y.into()]) as u32)
            }
            Instruction::Base(Op::Packed(op, lanes)) => packed(op, lanes, hole, other, d),
            Instruction::Base(Op::Prmt(selector)) => permuted(selector, hole, other, d),
            _ => None,
        }
    }
}

fn unshifted(ty: Type, amount: u32, d: u32) -> Option<Result<Wanted, ()>> {
    let word = d << amount;
    let back = if ty.is_signed() { (word as i32 >> amount) as u32 } else { word >> amount };
    Some(if back == d { Ok(Wanted { word, care: u32::MAX << amount }) } else { Err(()) })
}

fn packed(op: PackedOp, lanes: Range, hole: usize, other: u32, d: u32) -> Option<Result<Wanted, ()>> {
    let sum = |op: PackedOp, x: u32, y: u32| {
        Some(Ok(Wanted { word: Op::Packed(op, lanes).eval(&[x.into(), y.into()]) as u32, care: u32::MAX }))
    };
    match op {
        PackedOp::Add => sum(PackedOp::Sub, d, other),
        PackedOp::Sub if hole == 0 => sum(PackedOp::Add, d, other),
        PackedOp::Sub => sum(PackedOp::Sub, other, d),
        PackedOp::Min | PackedOp::Max => {
            let mut wanted = Wanted { word: 0, care: 0 };
            for shift in (0..32).step_by(lanes.bits as usize) {
                let [d, other] = [d, other].map(|word| lanes.value_of(word >> shift));
                let mask = (u32::MAX >> (32 - lanes.bits)) << shift;
                if d == other {
                    continue;
                }
                if (d > other) == (op == PackedOp::Min) {
                    return Some(Err(()));
                }
                wanted.word |= (d as u32) << shift & mask;
                wanted.care |= mask;
            }
            Some(Ok(wanted))
        }
        _ => None,
    }
}

fn permuted(selector: u16, hole: usize, other: u32, d: u32) -> Option<Result<Wanted, ()>> {
    let mut wanted = Wanted { word: 0, care: 0 };
    for i in 0..4 {
        let nibble = u32::from(selector >> (4 * i) & 15);
        let byte = d >> (8 * i) & 0xff;
        let (from, shift) = ((nibble >> 2 & 1) as usize, 8 * (nibble & 3));
        let is_sign = nibble & 8 != 0;
        if is_sign && byte != 0 && byte != 0xff {
            return Some(Err(()));
        }
        let (word, care) = if is_sign { (byte & 0x80, 0x80) } else { (byte, 0xff) };
        let (word, care) = (word << shift, care << shift);
        if from != hole {
            if other & care != word {
                return Some(Err(()));
            }
            continue;
        }
        if wanted.care & care & (wanted.word ^ word) != 0 {
            return Some(Err(()));
        }
        wanted.word |= word;
        wanted.care |= care;
    }
    Some(Ok(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vop_tests::Random;

    /// Whatever an operand was, the result can be had from what its inversion wants.
    #[test]
    fn inversions_want_what_was_there() {
        let groups: Vec<String> = GROUPS.iter().map(|(name, _)| (*name).to_owned()).collect();
        let lanes = [8, 16].map(|bits| [Range::new(false, bits), Range::new(true, bits)]).concat();
        let mut random = Random(5);
        let mut inverted = 0;
        for instruction in instructions(&groups, 8, &lanes) {
            for _ in 0..200 {
                let words = [(); 3].map(|()| random.value());
                let d = instruction.compute(words);
                for hole in 0..instruction.arity() {
                    let Some(wanted) = instruction.invert(hole, words, d) else { continue };
                    let wanted = wanted.unwrap_or_else(|()| panic!("{instruction:?} {words:x?}"));
                    assert_eq!((words[hole] ^ wanted.word) & wanted.care, 0, "{instruction:?} {words:x?}");
                    inverted += 1;
                }
            }
        }
        assert!(inverted > 10_000);
    }

    /// What is written computes what is enumerated.
    #[test]
    fn sequences_compute_the_same() {
        let groups: Vec<String> = GROUPS.iter().map(|(name, _)| (*name).to_owned()).collect();
        let lanes = [8, 16].map(|bits| [Range::new(false, bits), Range::new(true, bits)]).concat();
        let mut random = Random(9);
        for instruction in instructions(&groups, 16, &lanes) {
            let mut sequence = Sequence::default();
            let result = instruction.write(&mut sequence, [Value::A, Value::B, Value::C]);
            sequence.set_result(result);
            for _ in 0..100 {
                let words @ [a, b, c] = [(); 3].map(|()| random.value());
                assert_eq!(sequence.eval(a, b, c), instruction.compute(words), "{instruction:?}");
            }
        }
    }
}
