//! [`Extra`]: operations that only some targets have, each with its meaning.

use vop::isa::range::Range;
use vop::isa::types::Comparison;
use vop::lower::{Op as Base, Value};

/// An operation on words that only some targets have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extra {
    /// A base instruction of PTX that gives a word: the table of base instructions has its meaning.
    Base(Base),
    /// |x - y| in each lane, modulo the lane's size.
    Absdiff(Range),
    /// The average of x and y in each unsigned lane of this many bits, rounded up.
    Average(u32),
    /// All ones in each lane in which x and y compare so, else zeros.
    Compare(Comparison, Range),
    /// Bytes of one word or two: see [`byte`].
    Bytes([u8; 4]),
    /// Each half-word shifted by the second operand, a constant below 16.
    Shift(Shift),
    /// The sum of all lanes, extended.
    Sum(Range),
    /// The sum of |x - y| of all unsigned lanes of this many bits, and z.
    Sad(u32),
}

/// How lanes are shifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shift {
    /// Left.
    Left,
    /// Right, zeros from above.
    Right,
    /// Right, copies of the lane's highest bit from above.
    RightSigned,
}

/// What a byte of [`Extra::Bytes`] is: 0 to 3 are the bytes of the first word and 4 to 7 those of the second.
pub mod byte {
    /// Added to a byte's number: its sign in all bits.
    pub const SIGN: u8 = 8;
    /// Zero.
    pub const ZERO: u8 = 16;
    /// All ones.
    pub const ONES: u8 = 17;
}

impl Extra {
    /// Its value for these words.
    pub(crate) fn eval(self, at: &[u64]) -> u64 {
        let word = |i: usize| at.get(i).map_or(0, |&value| value as u32);
        let lane = |i: usize, lanes: Range, k: u32| lanes.value_of(word(i) >> (k * lanes.bits));
        let each = |lanes: Range, of: &dyn Fn(i64, i64) -> i64| -> u64 {
            (0..32 / lanes.bits).fold(0, |all, k| {
                let t = of(lane(0, lanes, k), lane(1, lanes, k)) as u64 & (u64::MAX >> (64 - lanes.bits));
                all | t << (k * lanes.bits)
            })
        };
        match self {
            Extra::Base(base) => base.eval(&at[..base.operands().len()]),
            Extra::Absdiff(lanes) => each(lanes, &|x, y| (x - y).abs()),
            Extra::Average(bits) => each(Range::new(false, bits), &|x, y| (x + y + 1) >> 1),
            Extra::Compare(comparison, lanes) => each(lanes, &|x, y| -i64::from(comparison.holds(x.cmp(&y)))),
            Extra::Bytes(places) => u64::from(u32::from_le_bytes(places.map(|place| match place {
                byte::ZERO => 0,
                byte::ONES => 0xff,
                place => {
                    let taken = word(usize::from(place >> 2 & 1)).to_le_bytes()[usize::from(place & 3)];
                    if place < byte::SIGN { taken } else { (taken >> 7) * 0xff }
                }
            }))),
            Extra::Shift(shift) => {
                let signed = shift == Shift::RightSigned;
                let amount = word(1);
                (0..2).fold(0, |all, k| {
                    let x = lane(0, Range::new(signed, 16), k);
                    let t = if shift == Shift::Left { x << amount } else { x >> amount };
                    all | (t as u64 & 0xffff) << (16 * k)
                })
            }
            Extra::Sum(lanes) => (0..32 / lanes.bits).map(|k| lane(0, lanes, k)).sum::<i64>() as u32 as u64,
            Extra::Sad(bits) => {
                let lanes = Range::new(false, bits);
                let sum: i64 = (0..32 / bits).map(|k| (lane(0, lanes, k) - lane(1, lanes, k)).abs()).sum();
                (sum as u32).wrapping_add(word(2)).into()
            }
        }
    }

    /// The same as a term for a solver.
    pub(crate) fn term(self, at: &[String]) -> String {
        let part = |i: usize, low: u32, bits: u32| format!("((_ extract {} {low}) {})", low + bits - 1, at[i]);
        let concat = |parts: &mut dyn DoubleEndedIterator<Item = String>| {
            let parts: Vec<String> = parts.rev().collect();
            format!("(concat {})", parts.join(" "))
        };
        let lanes_of = |bits: u32, of: &dyn Fn(String, String) -> String| {
            concat(&mut (0..32 / bits).map(|k| of(part(0, k * bits, bits), part(1, k * bits, bits))))
        };
        let extended = |x: &str, more: u32, signed: bool| {
            format!("((_ {}_extend {more}) {x})", if signed { "sign" } else { "zero" })
        };
        let absdiff = |x: &str, y: &str, signed: bool| {
            let less = if signed { "bvslt" } else { "bvult" };
            format!("(ite ({less} {x} {y}) (bvsub {y} {x}) (bvsub {x} {y}))")
        };
        let hex = |value: u64, bits: u32| format!("#x{value:0width$x}", width = bits as usize / 4);
        match self {
            Extra::Base(base) => {
                let at: Vec<&str> = at.iter().map(String::as_str).collect();
                base.smt(&at)
            }
            Extra::Absdiff(lanes) => lanes_of(lanes.bits, &|x, y| absdiff(&x, &y, lanes.signed)),
            Extra::Average(bits) => lanes_of(bits, &|x, y| {
                let [x, y] = [x, y].map(|x| extended(&x, 1, false));
                format!("((_ extract {bits} 1) (bvadd {x} {y} (_ bv1 {})))", bits + 1)
            }),
            Extra::Compare(comparison, lanes) => lanes_of(lanes.bits, &|x, y| {
                let holds = crate::proof::compared(comparison, if lanes.signed { "s" } else { "u" }, &[x, y]);
                format!("(ite {holds} {} {})", hex(u64::MAX >> (64 - lanes.bits), lanes.bits), hex(0, lanes.bits))
            }),
            Extra::Bytes(places) => concat(&mut places.into_iter().map(|place| match place {
                byte::ZERO => hex(0, 8),
                byte::ONES => hex(0xff, 8),
                place => {
                    let low = 8 * u32::from(place & 3);
                    let of = usize::from(place >> 2 & 1);
                    if place < byte::SIGN {
                        return part(of, low, 8);
                    }
                    format!("(ite (= {} #b1) #xff #x00)", part(of, low + 7, 1))
                }
            })),
            Extra::Shift(shift) => {
                let name = match shift {
                    Shift::Left => "bvshl",
                    Shift::Right => "bvlshr",
                    Shift::RightSigned => "bvashr",
                };
                let amount = part(1, 0, 16);
                concat(&mut (0..2).map(|k| format!("({name} {} {amount})", part(0, 16 * k, 16))))
            }
            Extra::Sum(lanes) => {
                let lanes_of = 0..32 / lanes.bits;
                let terms =
                    lanes_of.map(|k| extended(&part(0, k * lanes.bits, lanes.bits), 32 - lanes.bits, lanes.signed));
                format!("(bvadd {})", terms.collect::<Vec<_>>().join(" "))
            }
            Extra::Sad(bits) => {
                let terms = (0..32 / bits).map(|k| {
                    let [x, y] = [0, 1].map(|i| part(i, k * bits, bits));
                    extended(&absdiff(&x, &y, false), 32 - bits, false)
                });
                format!("(bvadd {} {})", terms.collect::<Vec<_>>().join(" "), at[2])
            }
        }
    }

    /// The bits of its result that may be one; `possible` are those of its operands.
    pub(crate) fn possible(self, possible: &[u64]) -> u64 {
        match self {
            Extra::Bytes(places) => (0..4).fold(0, |all, i| {
                let place = places[i];
                let bits = match place {
                    byte::ZERO => 0,
                    byte::ONES => 0xff,
                    place => {
                        let taken = possible[usize::from(place >> 2 & 1)] >> (8 * (place & 3)) & 0xff;
                        match place < byte::SIGN {
                            true => taken,
                            false => (taken >> 7) * 0xff,
                        }
                    }
                };
                all | bits << (8 * i)
            }),
            Extra::Sum(Range { signed: false, bits }) => {
                let most = (32 / bits) as u64 * (u64::MAX >> (64 - bits));
                u64::MAX >> most.leading_zeros()
            }
            Extra::Base(Base::Lop3(table)) => (0..8u8).filter(|row| table >> row & 1 != 0).fold(0, |all, row| {
                let taken = (0..3).filter(|i| row >> (2 - i) & 1 != 0).map(|i| possible[i]);
                all | taken.fold(u64::from(u32::MAX), |both, bits| both & bits)
            }),
            _ => u32::MAX.into(),
        }
    }

    /// An equal value that needs no operation, or an operation that does more: what [`Code::push`](crate::code::Code) asks.
    pub(crate) fn is_symmetric(self) -> bool {
        use vop::lower::PackedOp::{Add, AddSat, Max, Min};
        matches!(
            self,
            Extra::Base(
                Base::Packed(Add | AddSat | Min | Max, _)
                    | Base::Min(_)
                    | Base::Max(_)
                    | Base::AddSat
                    | Base::AddSatUnsigned
            ) | Extra::Absdiff(_)
                | Extra::Average(_)
                | Extra::Compare(Comparison::Eq | Comparison::Ne, _)
        )
    }
}

/// Whether a value is a constant of lanes that a code reads as bytes: zero or all ones.
pub(crate) fn constant_byte(value: Value, k: u8) -> Option<u8> {
    let Value::Word(word) = value else { return None };
    match word.to_le_bytes()[usize::from(k)] {
        0 => Some(byte::ZERO),
        0xff => Some(byte::ONES),
        _ => None,
    }
}
