//! Templates of video instructions: those on all lanes of whole registers that CPUs have an instruction for, and sums of absolute differences
//! of bytes.
//!
//! What ptxas's code computes for forms of lanes is what the manual says, so one template serves both.

use super::assembler::{Code, Operand, code};
use super::emit::*;

/// How a video instruction is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Video {
    /// As one instruction of two operands.
    Two(Code),
    /// The absolute differences of four bytes without a sign, or their sum and the third operand.
    Differences { add: bool },
}

const SUBTRACT_TO_ZERO: Code = code(1, 1, 0, 0xd8);
/// Sums of two products each, of bytes without a sign and bytes with one; and of shorts.
const PRODUCTS_OF_BYTES: Code = code(2, 1, 0, 0x04);
const PRODUCTS_OF_SHORTS: Code = code(1, 1, 0, 0xf5);

/// The template of a form.
pub(super) fn video(form: vop::Form) -> Option<Video> {
    // No selector, no mask: text that is nothing but the mnemonic and the types.
    let text = form.to_string();
    let opcode = text.strip_suffix(" d, a, b, c")?;
    Some(Video::Two(code(
        1,
        1,
        0,
        match opcode {
            "vadd4.u32.u32.u32" | "vadd4.s32.s32.s32" => 0xfc,
            "vsub4.u32.u32.u32" | "vsub4.s32.s32.s32" => 0xf8,
            "vadd4.u32.u32.u32.sat" => 0xdc,
            "vadd4.s32.s32.s32.sat" => 0xec,
            "vsub4.u32.u32.u32.sat" => 0xd8,
            "vsub4.s32.s32.s32.sat" => 0xe8,
            "vavrg4.u32.u32.u32" => 0xe0,
            "vmin4.u32.u32.u32" => 0xda,
            "vmax4.u32.u32.u32" => 0xde,
            "vadd2.u32.u32.u32" | "vadd2.s32.s32.s32" => 0xfd,
            "vsub2.u32.u32.u32" | "vsub2.s32.s32.s32" => 0xf9,
            "vadd2.u32.u32.u32.sat" => 0xdd,
            "vadd2.s32.s32.s32.sat" => 0xed,
            "vsub2.u32.u32.u32.sat" => 0xd9,
            "vsub2.s32.s32.s32.sat" => 0xe9,
            "vavrg2.u32.u32.u32" => 0xe3,
            "vmin2.s32.s32.s32" => 0xea,
            "vmax2.s32.s32.s32" => 0xee,
            "vabsdiff4.u32.u32.u32" => return Some(Video::Differences { add: false }),
            "vabsdiff4.u32.u32.u32.add" => return Some(Video::Differences { add: true }),
            _ => return None,
        },
    )))
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
        }
    }
}
