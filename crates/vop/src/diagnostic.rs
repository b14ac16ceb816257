//! Diagnostics: what is wrong with a text, as data. Rendering is the caller's.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// One thing that is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of fault it is; stable.
    pub code: Code,
    /// Where, in bytes of the text. Empty at a place where something is missing.
    pub span: Range<usize>,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// Two or three words to stand at the span; empty where the message says it all.
    pub label: String,
    /// Other places that have to do with it, each with a word on how.
    pub related: Vec<(Range<usize>, String)>,
    /// What to write instead.
    pub help: Option<String>,
}

/// The code and the message: `V0203: …`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl core::error::Error for Diagnostic {}

macro_rules! codes {
    ($($code:ident $title:literal $explanation:literal;)*) => {
        /// The kinds of faults, with stable codes: V01xx syntax, V02xx modifiers, V03xx operands and selectors,
        /// V04xx registers, V05xx the module's version and target.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!($title, ".")] $code,)*
        }

        impl Code {
            /// All of them, in order.
            pub const ALL: &'static [Code] = &[$(Code::$code),*];

            /// As it is written, `V0203`.
            pub const fn name(self) -> &'static str {
                match self { $(Code::$code => stringify!($code),)* }
            }

            /// What the fault is, in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$code => $title,)* }
            }

            /// Why it is one, with an example of what to write.
            pub const fn explanation(self) -> &'static str {
                match self { $(Code::$code => $explanation,)* }
            }
        }
    };
}

codes! {
    V0101 "unexpected text"
        "The text does not follow PTX's syntax at this place. An instruction is an optional guard, a mnemonic with its modifiers, operands separated by commas, and a semicolon:\n\n    @!p vadd4.u32.u32.u32.sat d.b10, a.b3210, b.b7654, c;";
    V0102 "not a video instruction"
        "The mnemonic is none of the 23 video instructions. `vop list` prints them. Mnemonics are lower case; `vavrg2` and `vavrg4` have no scalar counterpart and are misspelt `varvg2` and `varvg4` in the manual's Target ISA notes.";
    V0103 "not one instruction"
        "One instruction is expected here, and the text holds none, or several.";
    V0104 "invalid number"
        "An immediate is an integer constant expression: decimal, octal (leading 0), hexadecimal (0x…) or binary (0b…) numbers, U behind an unsigned one, and the operators of C. ptxas keeps its lower 32 bits.";
    V0105 "unclosed"
        "A comment or a block begins here and does not end.";
    V0106 "faulty guard"
        "A guard is `@p` or `@!p` with a predicate register, before the mnemonic. One is allowed.";
    V0201 "unknown modifier"
        "PTX's video instructions have no such modifier. Modifiers are lower case, without a blank behind the dot.";
    V0202 "modifier not allowed"
        "The modifier exists, but this instruction does not take it. `vop list MNEMONIC` prints what it takes.";
    V0203 "wrong number of types"
        "`vset`, `vset2` and `vset4` have two types (of a and b), all other video instructions three: of d, a and b in this order.\n\n    vadd.s32.u32.u32 d, a, b;\n    vset.u32.u32.eq d, a, b;";
    V0204 "wrong type"
        "The types of video instructions are `.u32` and `.s32`, also where an operand is a byte or a half-word: the type then says how it is extended, and a selector which part it is.\n\n    vadd.s32.s32.s32 d, a.b0, b.h1;";
    V0205 "modifier repeated"
        "A secondary operation, comparison, shift mode, scale or `.po` may be given once. (`.sat` may be repeated, to no effect.)";
    V0206 "modifier missing"
        "`vset`, `vset2` and `vset4` must have a comparison, `vshl` and `vshr` a mode:\n\n    vset.u32.u32.lt d, a, b;\n    vshl.u32.u32.u32.wrap d, a, b;";
    V0207 "`.sat` with `.add` in a SIMD form"
        "SIMD forms either saturate each lane or accumulate the lanes. The manual: \"Saturation cannot be used with the secondary accumulate operation.\"";
    V0208 "no such secondary operation in SIMD forms"
        "SIMD forms have `.add` alone, the sum of the lanes onto c; `.min` and `.max` belong to scalar forms. The manual's example `vset4.u32.u32.ne.max` (9.7.18.2.4) is wrong.";
    V0209 "shift amount is not `.u32`"
        "The third type of `vshl` and `vshr` is `.u32`:\n\n    vshl.s32.s32.u32.clamp d, a, b;";
    V0210 "comparison not for integers of unknown sign"
        "Video comparisons are `.eq`, `.ne`, `.lt`, `.le`, `.gt` and `.ge`, on the exact values that the types give. The unsigned (`.lo`, `.ls`, `.hi`, `.hs`) and floating-point ones are `setp`'s.";
    V0211 "destination selector with a secondary operation"
        "A scalar form either merges its result into a part of c (`d.b0`) or combines it with c (`.add`, `.min`, `.max`).";
    V0301 "wrong number of operands"
        "Scalar forms have d, a, b, and c where a secondary operation or a selector on d uses it; `vmad` and all SIMD forms have d, a, b and c. (A fourth operand that a scalar form does not use is accepted and ignored.)";
    V0302 "immediate in a SIMD form"
        "The operands of SIMD forms are registers:\n\n    mov.b32 t, 0x01010101;\n    vadd4.u32.u32.u32 d, a, t, c;";
    V0303 "unknown selector"
        "Selectors are `.b0` to `.b3`, `.h0` and `.h1` on scalar operands; `.hxy` with digits 0 to 3 on half-word forms; `.bxyzw` with digits 0 to 7 on byte forms.";
    V0304 "wrong selector for this operand"
        "The selector exists, but not on this operand. Scalar operands take `.b0` to `.b3`, `.h0`, `.h1`. On SIMD forms a and b take `.hxy` (two digits 0 to 3) or `.bxyzw` (four digits 0 to 7), and d a mask: each lane once, the highest first, as in `.b31`. The manual's mask `.b00` (9.7.18.2.3) is wrong.";
    V0305 "selector on c"
        "Operand c is always a whole register.";
    V0306 "destination selector not allowed"
        "`vmad` has no selector on d, and a scalar form with one needs operand c, whose other bits it keeps:\n\n    vadd.u32.u32.u32 d.b0, a, b, c;";
    V0307 "negation not allowed"
        "Only the operands a, b and c of `vmad` may be negated, registers by a minus before the name. (Elsewhere ptxas takes a minus before a and b together, and ignores both; so does vop.)";
    V0308 "both product and c negated"
        "`vmad` negates the product (a minus before either a or b) or c, not both.";
    V0309 "`.po` with a negated operand"
        "The plus-one mode uses the adder's carry that negation needs: it has none of its own.";
    V0310 "not an operand of video instructions"
        "The operands of video instructions are 32-bit registers and, in scalar forms, integer immediates for a, b and c: no vectors, addresses, special registers, floating-point numbers, and no `_`.";
    V0311 "selector that ptxas cannot read"
        "`.b1024` on a or b of a byte form is legal by the manual, but ptxas (13.5 and before) reads it as a type of other instructions and reports a parsing error. It is the only one of the 4,096. Exchange the operands and swap each digit with its counterpart, 0 with 4, 1 with 5, 2 with 6, 3 with 7:\n\n    vmin4.u32.u32.u32 d, a.b1024, b, c;         // refused\n    vmin4.u32.u32.u32 d, b.b5460, a.b3210, c;   // the same, where types and operation allow the exchange";
    V0401 "undeclared register"
        "No `.reg` declaration in scope names this register.";
    V0402 "register of the wrong type"
        "Operands are 32-bit registers: `.b32`, `.u32`, `.s32` (or `.f16x2`), whatever the instruction's types say.";
    V0403 "guard is not a predicate"
        "A guard is a register declared `.pred`.";
    V0404 "declared twice"
        "The name has been declared in this block already. Registers and labels share their names; an inner block may declare a name again.";
    V0405 "faulty declaration"
        "A declaration of registers is `.reg`, perhaps `.v2` or `.v4`, one type, and names:\n\n    .reg .pred p;\n    .reg .b32 a, b, %r<10>;   // %r<10> stands for %r0 to %r9\n    .reg .v2 .b32 v;";
    V0501 "PTX version too low"
        "The module's `.version` is lower than the one that introduced the instruction: 2.0 for scalar video instructions, 3.0 for SIMD ones.";
    V0502 "target too low"
        "The module's `.target` is lower than the first that has the instruction: sm_20 for scalar video instructions, sm_30 for SIMD ones.";
}

impl Code {
    /// The code that is written so, `V0203`, in either case.
    pub fn from_name(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Diagnostic {
    #[cold]
    pub(crate) fn new(code: Code, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, span, message: message.into(), label: String::new(), related: Vec::new(), help: None }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    pub(crate) fn related(mut self, span: Range<usize>, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}
