//! Assembly of other machines in an `asm`: the vector instructions of Arm, RISC-V and LoongArch have mnemonics that read like PTX's,
//! `vadd.u8 q0, q0, q1`, `vmax.vx v1, v2, a0`, `vsub.w $vr0, $vr1, $vr2`.

use super::cursor::is_ident;
use super::lex::Text;
use super::mnemonic::{self, Word};
use super::placeholder::Dialect;

/// Whether the template of an `asm` is another machine's: by an operand that no NVIDIA GPU has, by registers and signs of Arm's
/// (`q0`, `d31`, `#1`, `]!`), or by the modifiers of all instructions that could be PTX's. One that declares registers, or has a
/// video instruction with two types or with lanes, is PTX whatever its names are.
pub(super) fn is_foreign(text: &Text) -> bool {
    if !matches!(text.dialect, Dialect::GccAsm | Dialect::LlvmAsm | Dialect::RustAsm) {
        return false;
    }
    let template = text.mapped.bytes();
    if memchr::memmem::find(template, b".reg").is_some() {
        return false;
    }
    let (mut others, mut registers) = (0, false);
    for at in (Words { text: template, at: 0 }) {
        let word = &template[at.clone()];
        match judge(word, &template[at.end..]) {
            Suffix::Ptx => return false,
            Suffix::Other => others += 1,
            Suffix::Unknown => {}
        }
        let before = at.start.checked_sub(1).map(|before| template[before]);
        let is_name = !matches!(before, Some(b'%' | b'$' | b'.')) && text.mapped.paste_at(at.start).is_none();
        registers |= is_name && is_register(word);
        // `%q0`: an operand as a register of another size.
        registers |= before == Some(b'%') && text.asm.is_some() && matches!(word, [b'q' | b'P', b'0'..=b'9', ..]);
    }
    let immediate = |at: usize| template.get(at + 1).is_some_and(|b| b.is_ascii_digit() || *b == b'-');
    let operands = text.asm.iter().flat_map(|asm| &asm.operands);
    registers
        || others > 0
        || memchr::memchr_iter(b'#', template).any(immediate)
        || memchr::memmem::find(template, b"]!").is_some()
        || operands.into_iter().any(|operand| is_foreign_constraint(&operand.written))
}

/// Whether an instruction that may be PTX or NEON is NEON by the names of its registers.
pub(super) fn is_neon(instruction: &str) -> bool {
    let bytes = instruction.as_bytes();
    let mut registers = false;
    for at in (Words { text: bytes, at: 0 }) {
        if judge(&bytes[at.clone()], &bytes[at.end..]) == Suffix::Ptx {
            return false;
        }
        let before = at.start.checked_sub(1).map(|before| bytes[before]);
        registers |= !matches!(before, Some(b'%' | b'$' | b'.')) && is_register(&bytes[at]);
    }
    registers
}

/// What the modifiers of a word say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suffix {
    Ptx,
    Other,
    Unknown,
}

fn judge(word: &[u8], rest: &[u8]) -> Suffix {
    let kind = mnemonic::classify(word);
    if kind == Word::Other || rest.first() != Some(&b'.') {
        return Suffix::Unknown;
    }
    let end = rest.iter().position(|&b| !is_ident(b) && b != b'.').unwrap_or(rest.len());
    let mut modifiers = rest[1..end].split(|&b| b == b'.');
    let types = modifiers.clone().filter(|modifier| mnemonic::is_video_type(modifier)).count();
    if types >= 2 || (types == 1 && kind == Word::Video && mnemonic::has_lanes(word)) {
        return Suffix::Ptx;
    }
    let one = modifiers.next().filter(|_| modifiers.next().is_none());
    match one {
        // RISC-V says what each source is, LoongArch the width, NEON an integer without a sign.
        Some(
            b"vv" | b"vx" | b"vi" | b"vf" | b"wv" | b"wx" | b"wi" | b"vvm" | b"vxm" | b"vim" | b"b" | b"h" | b"w"
            | b"d" | b"bu" | b"hu" | b"wu" | b"du" | b"i8" | b"i16" | b"i32" | b"i64",
        ) if kind == Word::Video && !mnemonic::has_lanes(word) && types == 0 => Suffix::Other,
        _ => Suffix::Unknown,
    }
}

/// The words of a text, each by its place.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl Iterator for Words<'_> {
    type Item = std::ops::Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at + self.text.get(self.at..)?.iter().position(|&b| is_ident(b))?;
        let len = self.text[start..].iter().position(|&b| !is_ident(b)).unwrap_or(self.text.len() - start);
        self.at = start + len;
        Some(start..self.at)
    }
}

/// NEON's `q0` to `q15`, `d0` to `d31`, `s0` to `s31`.
fn is_register(word: &[u8]) -> bool {
    let [kind, number @ ..] = word else { return false };
    let number = std::str::from_utf8(number).ok().filter(|number| number.bytes().all(|b| b.is_ascii_digit()));
    let number = number.and_then(|number| number.parse::<u8>().ok());
    match kind {
        b'q' => number.is_some_and(|number| number < 16),
        b'd' | b's' => number.is_some_and(|number| number < 32),
        _ => false,
    }
}

/// Whether a constraint names registers that GPUs do not have: `"=w"` of Arm, `"vr"` of RISC-V, `"x"` of x86, Rust's `qreg`.
fn is_foreign_constraint(written: &str) -> bool {
    if let Some(constraint) = written.strip_prefix('"') {
        let letters = constraint.trim_end_matches('"').trim_start_matches(['=', '+', '&', '%', '*']);
        return matches!(letters, "w" | "t" | "x" | "y" | "v" | "vr" | "vm" | "vd" | "Yz" | "Q" | "Um");
    }
    ["qreg", "dreg", "sreg", "vreg", "xmm_reg", "ymm_reg", "zmm_reg"].iter().any(|class| {
        let class = written.find(class).map(|at| at.checked_sub(1).and_then(|before| written.as_bytes().get(before)));
        class.is_some_and(|before| before.is_none_or(|b| !is_ident(*b)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Language, find};

    fn count(template: &str) -> usize {
        find(format!("void f(void) {{ asm(\"{template}\"); }}").as_bytes(), Language::Cuda).len()
    }

    #[test]
    fn assembly_of_other_machines_is_silent() {
        for template in [
            "vadd.i16 q0, q1, q2",
            "vmin.u8 d0, d1, d2",
            "vadd.u32 d0, d1, d2",
            "vld1.8 {d0}, [r0]!\\n vadd.u8 d0, d0, d1",
            "vshl.s32 r0, r1, #3",
            "vadd.i16 %q0, %q1, %q2\" : \"=w\"(a) : \"w\"(b), \"w\"(c) : \"memory",
            "vsub.s32 %0, %1, %2\" : \"=w\"(a) : \"w\"(b), \"w\"(c) : \"memory",
            "vmax.s32 %q0, %q1, %q2\" : \"=r\"(a) : \"r\"(b), \"r\"(c) : \"memory",
            "vadd.vv v0, v1, v2",
            "vmax.vx %0, %1, %2\" : \"=vr\"(a) : \"vr\"(b), \"r\"(c) : \"memory",
            "vsub.w $vr0, $vr1, $vr2",
        ] {
            assert_eq!(count(template), 0, "{template}");
        }
        assert_eq!(find(b"CODE = \"vadd.u32 q0, q1, q2; vmin.u8 d0, d1, d2;\"", Language::Python).len(), 0);
        let rust = b"asm!(\"vadd.u32 {0}, {1}, {2}\", out(qreg) a, in(qreg) b, in(qreg) c)";
        assert_eq!(find(rust, Language::Rust).len(), 0);
    }

    #[test]
    fn ptx_with_such_names_is_found() {
        for template in [
            "vadd.u32.u32.u32 d0, d1, d2;",
            "vadd.u32.u32 d0, d1, d2;",
            "vadd4.u32 d0, d1, d2, d3;",
            "vmax.s32.s32.s32 %[d0], %1, %2;",
            "{ .reg .u32 d0; vadd.u32 d0, %0, %1; }",
            "vadd.u32 %0, %1, %2;\" : \"=r\"(a) : \"r\"(b), \"r\"(c) : \"memory",
            "vadd.w %0, %1, %2; vadd4.u32.u32.u32 %0, %1, %2, %3;",
            "vadd.uu32.u32.u32 %0, %1, %2;",
            "vadd.i32.i32.i32 %0, %1, %2;",
        ] {
            assert!(count(template) > 0, "{template}");
        }
        let rust =
            b"asm!(\"vadd.u32.u32.u32 {d0}, {d1}, {d2};\", d0 = out(reg32) a, d1 = in(reg32) b, d2 = in(reg32) c)";
        assert_eq!(find(rust, Language::Rust).len(), 1);
    }
}
