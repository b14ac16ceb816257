//! Templates of video instructions: those on all lanes of whole registers that CPUs have an instruction for, absolute differences and their
//! sums, and scalar ones on whole words of the same type, with their secondary operations.
//!
//! What ptxas's code computes for these forms is what the manual says (a test asks), so one template serves both.

use super::assembler::{Code, Operand, code};
use super::emit::*;

/// How a video instruction is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Video {
    /// As one instruction of two operands.
    Two(Code),
    /// The absolute differences of four bytes without a sign, or their sum and the third operand.
    Differences { add: bool },
    /// The greater one minus the smaller one: what these are, and the subtraction.
    Distance([Code; 3]),
    /// A scalar instruction, and its secondary operation with the third operand.
    Words(Words, Option<Code>),
    /// `vmad` without a shift: the low words.
    MultiplyAdd,
}

/// What a scalar instruction does with two words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Words {
    Two(Code),
    Distance([Code; 3]),
    /// Shifts by the low five bits.
    Wraps(Code),
}

const SUBTRACT_TO_ZERO: Code = code(1, 1, 0, 0xd8);
/// Sums of two products each, of bytes without a sign and bytes with one; and of shorts.
const PRODUCTS_OF_BYTES: Code = code(2, 1, 0, 0x04);
const PRODUCTS_OF_SHORTS: Code = code(1, 1, 0, 0xf5);
const SUBTRACT_BYTES: Code = code(1, 1, 0, 0xf8);
const SUBTRACT_SHORTS: Code = code(1, 1, 0, 0xf9);
const MAX_BYTES_SIGNED: Code = code(2, 1, 0, 0x3c);
const MIN_BYTES_SIGNED: Code = code(2, 1, 0, 0x38);
const MAX_SHORTS: Code = code(2, 1, 0, 0x3e);
const MIN_SHORTS: Code = code(2, 1, 0, 0x3a);
const MAX_SHORTS_SIGNED: Code = code(1, 1, 0, 0xee);
const MIN_SHORTS_SIGNED: Code = code(1, 1, 0, 0xea);

/// The template of a form.
pub(super) fn video(form: vop::Form) -> Option<Video> {
    // No selector, no mask: text that is nothing but the mnemonic and the types.
    let text = form.to_string();
    let (opcode, operands) = text.split_once(' ')?;
    match operands {
        "d, a, b, c" => lanes(opcode).or_else(|| words(opcode)),
        "d, a, b" => words(opcode),
        _ => None,
    }
}

fn lanes(opcode: &str) -> Option<Video> {
    let two = |byte| Some(Video::Two(code(1, 1, 0, byte)));
    match opcode {
        "vadd4.u32.u32.u32" | "vadd4.s32.s32.s32" => two(0xfc),
        "vsub4.u32.u32.u32" | "vsub4.s32.s32.s32" => two(0xf8),
        "vadd4.u32.u32.u32.sat" => two(0xdc),
        "vadd4.s32.s32.s32.sat" => two(0xec),
        "vsub4.u32.u32.u32.sat" => two(0xd8),
        "vsub4.s32.s32.s32.sat" => two(0xe8),
        "vavrg4.u32.u32.u32" => two(0xe0),
        "vmin4.u32.u32.u32" => two(0xda),
        "vmax4.u32.u32.u32" => two(0xde),
        "vmin4.s32.s32.s32" => Some(Video::Two(MIN_BYTES_SIGNED)),
        "vmax4.s32.s32.s32" => Some(Video::Two(MAX_BYTES_SIGNED)),
        "vadd2.u32.u32.u32" | "vadd2.s32.s32.s32" => two(0xfd),
        "vsub2.u32.u32.u32" | "vsub2.s32.s32.s32" => two(0xf9),
        "vadd2.u32.u32.u32.sat" => two(0xdd),
        "vadd2.s32.s32.s32.sat" => two(0xed),
        "vsub2.u32.u32.u32.sat" => two(0xd9),
        "vsub2.s32.s32.s32.sat" => two(0xe9),
        "vavrg2.u32.u32.u32" => two(0xe3),
        "vmin2.s32.s32.s32" => Some(Video::Two(MIN_SHORTS_SIGNED)),
        "vmax2.s32.s32.s32" => Some(Video::Two(MAX_SHORTS_SIGNED)),
        "vmin2.u32.u32.u32" => Some(Video::Two(MIN_SHORTS)),
        "vmax2.u32.u32.u32" => Some(Video::Two(MAX_SHORTS)),
        "vabsdiff4.u32.u32.u32" => Some(Video::Differences { add: false }),
        "vabsdiff4.u32.u32.u32.add" => Some(Video::Differences { add: true }),
        "vabsdiff4.u32.s32.s32" | "vabsdiff4.s32.s32.s32" => {
            Some(Video::Distance([MAX_BYTES_SIGNED, MIN_BYTES_SIGNED, SUBTRACT_BYTES]))
        }
        "vabsdiff2.u32.u32.u32" => Some(Video::Distance([MAX_SHORTS, MIN_SHORTS, SUBTRACT_SHORTS])),
        "vabsdiff2.u32.s32.s32" | "vabsdiff2.s32.s32.s32" => {
            Some(Video::Distance([MAX_SHORTS_SIGNED, MIN_SHORTS_SIGNED, SUBTRACT_SHORTS]))
        }
        _ => None,
    }
}

/// Scalar forms that use nothing beyond the low 32 bits of what they compute: they neither saturate nor scale.
fn words(opcode: &str) -> Option<Video> {
    let mut parts = opcode.split('.');
    let name = parts.next()?;
    let mut signed = || match parts.next()? {
        "u32" => Some(false),
        "s32" => Some(true),
        _ => None,
    };
    let [d, a, b] = [signed()?, signed()?, signed()?];
    let (least, greatest) = if a { (MIN_SIGNED, MAX_SIGNED) } else { (MIN, MAX) };
    let alike = a == b;
    let what = match name {
        "vmad" => return parts.next().is_none().then_some(Video::MultiplyAdd),
        "vadd" => Words::Two(ADD),
        "vsub" => Words::Two(SUB),
        "vmin" if alike => Words::Two(least),
        "vmax" if alike => Words::Two(greatest),
        "vabsdiff" if alike => Words::Distance([greatest, least, SUB]),
        "vshl" | "vshr" => {
            let shift = match (name, a) {
                ("vshl", _) => SHIFT_LEFT,
                (_, false) => SHIFT_RIGHT,
                (_, true) => SHIFT_RIGHT_SIGNED,
            };
            match parts.next()? {
                "clamp" => Words::Two(shift),
                "wrap" => Words::Wraps(shift),
                _ => return None,
            }
        }
        _ => return None,
    };
    // Minima and maxima of others look at bits above the word, and here ptxas's code does something else than the manual says.
    let whole = matches!(name, "vmin" | "vmax") && d == a;
    let second = match parts.next() {
        None => None,
        Some("add") => Some(ADD),
        Some("min") if whole => Some(least),
        Some("max") if whole => Some(greatest),
        _ => return None,
    };
    parts.next().is_none().then_some(Video::Words(what, second))
}

impl Writer<'_> {
    pub(super) fn video(&mut self, line: &Line<'_>, video: Video) {
        match video {
            Video::Two(code) => self.two(line, code),
            Video::Differences { add } => {
                let ([a, _], [b, _]) = (self.read(line.sources[0]), self.read(line.sources[1]));
                let c = self.operands(line.sources[2])[0];
                let [d, _] = self.give(line.results[0]);
                // One of the differences is zero.
                self.vector(SUBTRACT_TO_ZERO, T0, a, Operand::Register(b));
                self.vector(SUBTRACT_TO_ZERO, T1, b, Operand::Register(a));
                self.vector(OR, if add { T0 } else { d }, T0, Operand::Register(T1));
                if add {
                    // Instructions of bytes and shorts read no single element.
                    let ones = [0x0101_0101, 0x0001_0001].map(|ones| self.asm.vector([ones; 16]));
                    self.vector(PRODUCTS_OF_BYTES, T0, T0, ones[0]);
                    self.vector(PRODUCTS_OF_SHORTS, T0, T0, ones[1]);
                    self.vector(ADD, d, T0, c);
                }
            }
            Video::Distance(codes) => {
                let ([a, _], [b, _]) = (self.read(line.sources[0]), self.read(line.sources[1]));
                let [d, _] = self.give(line.results[0]);
                self.distance_of(codes, d, a, Operand::Register(b));
            }
            Video::Words(what, second) => {
                let ([a, _], [b, _]) = (self.read(line.sources[0]), self.operands(line.sources[1]));
                let c = second.map(|code| (code, self.operands(line.sources[2])[0]));
                let [d, _] = self.give(line.results[0]);
                let to = if c.is_some() { T0 } else { d };
                match what {
                    Words::Two(code) => self.vector(code, to, a, b),
                    Words::Distance(codes) => self.distance_of(codes, to, a, b),
                    Words::Wraps(code) => {
                        let low = self.asm.word(31);
                        self.copy(T1, b);
                        self.vector(AND, T1, T1, low);
                        self.vector(code, to, a, Operand::Register(T1));
                    }
                }
                if let Some((code, c)) = c {
                    self.vector(code, d, T0, c);
                }
            }
            Video::MultiplyAdd => {
                let [a, _] = self.read(line.sources[0]);
                let ([b, _], [c, _]) = (self.operands(line.sources[1]), self.operands(line.sources[2]));
                let [d, _] = self.give(line.results[0]);
                self.vector(MUL, d, a, b);
                self.vector(ADD, d, d, c);
            }
        }
    }

    /// The greater one minus the smaller one.
    fn distance_of(&mut self, [greater, smaller, subtract]: [Code; 3], d: u8, a: u8, b: Operand) {
        self.vector(greater, T1, a, b);
        self.vector(smaller, d, a, b);
        self.vector(subtract, d, T1, Operand::Register(d));
    }
}

#[cfg(test)]
mod tests {
    use vop::{Form, Semantics};

    use super::video;

    /// What decides at which bits a form is looked at.
    const EDGES: [u32; 16] =
        [0, 1, 2, 15, 31, 32, 33, 63, 64, 0x7f, 0x80, 0x7fff_ffff, 0x8000_0000, 0x8080_8080, 0x7f80_01ff, u32::MAX];

    /// Each form with a template computes the same by each of the semantics, as there is one template for all.
    #[test]
    fn templates_are_of_forms_that_all_read_alike() {
        let mut forms = 0;
        let types = ["u32", "s32"];
        let lanes = ["vadd", "vsub", "vavrg", "vmin", "vmax", "vabsdiff"];
        let scalars = ["vadd", "vsub", "vmin", "vmax", "vabsdiff", "vmad", "vshl", "vshr"];
        let mut texts = Vec::new();
        for d in types {
            for a in types {
                for b in types {
                    for ending in ["", ".sat", ".add"] {
                        let of_lanes = |lanes: u32| move |name| format!("{name}{lanes}.{d}.{a}.{b}{ending} d, a, b, c");
                        texts.extend(lanes.map(of_lanes(2)));
                        texts.extend(lanes.map(of_lanes(4)));
                    }
                    for ending in ["", ".sat", ".shr7", ".clamp", ".wrap"] {
                        for second in ["", ".add", ".min", ".max"] {
                            let c = if second.is_empty() { "" } else { ", c" };
                            texts.extend(scalars.map(|name| format!("{name}.{d}.{a}.{b}{ending}{second} d, a, b{c}")));
                        }
                        texts.push(format!("vmad.{d}.{a}.{b}{ending} d, a, b, c"));
                    }
                }
            }
        }
        for form in texts.iter().filter_map(|text| text.parse::<Form>().ok()) {
            if video(form).is_none() {
                continue;
            }
            forms += 1;
            for a in EDGES {
                for b in EDGES {
                    for c in EDGES {
                        let all = Semantics::ALL.map(|semantics| form.eval_as(semantics, a, b, c));
                        assert!(all.iter().all(|d| *d == all[0]), "{form} of {a:#x}, {b:#x}, {c:#x}: {all:x?}");
                    }
                }
            }
        }
        assert!(forms > 100, "{forms} forms");
    }
}
