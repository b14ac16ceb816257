//! Diagnostics: faults of a text and warnings about it, as data. The caller renders them.

mod patch;
mod run;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

pub use patch::{Edit, Patch, patched};
pub use run::RunErrorKind;

/// A number as messages write it, with a comma between each three digits: 6039797760 as 6,039,797,760.
///
/// ```
/// assert_eq!(vop::grouped(6_039_797_760), "6,039,797,760");
/// assert_eq!(vop::grouped(999), "999");
/// ```
pub fn grouped(number: u64) -> String {
    let digits = alloc::format!("{number}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How severe a diagnostic is, the most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The text is refused.
    Error,
    /// The text is legal but is probably a mistake.
    Warning,
    /// The text is legal and may be intended.
    Note,
}

impl Severity {
    /// As it is written, `warning`.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One fault of a text, or one warning or note about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What kind it is; stable.
    pub code: Code,
    /// Where, in bytes of the text. Empty at a place where something is missing.
    pub span: Range<usize>,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// Two or three words to stand at the span; empty where the message says it all.
    pub label: String,
    /// Other places that belong to it, each with words that say how.
    pub related: Vec<(Range<usize>, String)>,
    /// More about the reason, in sentences.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// The same as edits, where it is one change of the text.
    pub patch: Patch,
}

/// The code and the message: `V0203: …`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl core::error::Error for Diagnostic {}

macro_rules! codes {
    ($($code:ident $severity:ident $title:literal $explanation:literal;)*) => {
        /// The kinds of diagnostics, with stable codes: V01xx syntax, V02xx modifiers, V03xx operands and selectors,
        /// V04xx registers, V05xx the module's version and target; V07xx lints, which are about legal texts.
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

            /// How severe it is.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$code => Severity::$severity,)* }
            }

            /// What it is, in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$code => $title,)* }
            }

            /// Why it is a fault, with an example of what to write; for lints, under three headings.
            pub const fn explanation(self) -> &'static str {
                match self { $(Code::$code => $explanation,)* }
            }
        }
    };
}

codes! {
    V0101 Error "unexpected text"
        "The text does not follow PTX's syntax at this place. An instruction is an optional guard, a mnemonic with its modifiers, operands separated by commas, and a semicolon:\n\n    @!p vadd4.u32.u32.u32.sat d.b10, a.b3210, b.b7654, c;";
    V0102 Error "not a video instruction"
        "The mnemonic is none of the 23 video instructions. `vop list` prints them. They are written in lower case, with their modifiers. SIMD forms have two or four lanes: there is `vadd4`, and no `vadd8`. `vavrg2` and `vavrg4` have no scalar counterpart and are misspelt `varvg2` and `varvg4` in the manual's Target ISA notes.";
    V0103 Error "not one instruction"
        "One instruction is expected here, and the text holds none, or several.";
    V0104 Error "invalid number"
        "An immediate is an integer constant expression: decimal, octal (leading 0), hexadecimal (0x…) or binary (0b…) numbers, U behind an unsigned one, and the operators of C. ptxas keeps its lower 32 bits.";
    V0105 Error "unclosed"
        "A comment or a block begins here and has no end.";
    V0106 Error "faulty guard"
        "A guard is `@p` or `@!p` with a predicate register, before the mnemonic. One is allowed.";
    V0201 Error "unknown modifier"
        "PTX's video instructions have no such modifier. Modifiers are written in lower case, without a blank behind the dot.";
    V0202 Error "modifier not allowed"
        "The modifier exists, but this instruction does not take it. `vop list MNEMONIC` prints what it takes.";
    V0203 Error "wrong number of types"
        "`vset`, `vset2` and `vset4` have two types (of a and b), all other video instructions three: of d, a and b in this order.\n\n    vadd.s32.u32.u32 d, a, b;\n    vset.u32.u32.eq d, a, b;";
    V0204 Error "wrong type"
        "The types of video instructions are `.u32` and `.s32`, also where an operand is a byte or a half-word: the type then says how it is extended, and a selector which part it is.\n\n    vadd.s32.s32.s32 d, a.b0, b.h1;";
    V0205 Error "modifier repeated"
        "A secondary operation, comparison, shift mode, scale or `.po` may be given once. (`.sat` may be repeated, without effect.)";
    V0206 Error "modifier missing"
        "`vset`, `vset2` and `vset4` must have a comparison, `vshl` and `vshr` a mode:\n\n    vset.u32.u32.lt d, a, b;\n    vshl.u32.u32.u32.wrap d, a, b;";
    V0207 Error "`.sat` with `.add` in a SIMD form"
        "SIMD forms either saturate each lane or accumulate the lanes. The manual: \"Saturation cannot be used with the secondary accumulate operation.\"";
    V0208 Error "no such secondary operation in SIMD forms"
        "The only secondary operation of SIMD forms is `.add`, which adds the sum of the lanes to c; `.min` and `.max` belong to scalar forms. The manual's example `vset4.u32.u32.ne.max` (9.7.18.2.4) is wrong.";
    V0209 Error "shift amount is not `.u32`"
        "The third type of `vshl` and `vshr` is `.u32`:\n\n    vshl.s32.s32.u32.clamp d, a, b;";
    V0210 Error "comparison of another instruction"
        "Video instructions compare with `.eq`, `.ne`, `.lt`, `.le`, `.gt` and `.ge`, and compare the exact values that the types give. The unsigned comparisons (`.lo`, `.ls`, `.hi`, `.hs`) and those of floating-point numbers belong to `setp`.";
    V0211 Error "destination selector with a secondary operation"
        "A scalar form either merges its result into a part of c (`d.b0`) or combines it with c (`.add`, `.min`, `.max`).";
    V0301 Error "wrong number of operands"
        "Scalar forms have d, a, b, and c where a secondary operation or a selector on d uses it; `vmad` and all SIMD forms have d, a, b and c. (A fourth operand that a scalar form does not use is accepted and ignored.)";
    V0302 Error "immediate in a SIMD form"
        "The operands of SIMD forms are registers:\n\n    .reg .b32 t;\n    mov.b32 t, 0x01010101;\n    vadd4.u32.u32.u32 d, a, t, c;";
    V0303 Error "unknown selector"
        "Selectors are `.b0` to `.b3`, `.h0` and `.h1` on scalar operands; `.hxy` with digits 0 to 3 on half-word forms; `.bxyzw` with digits 0 to 7 on byte forms.";
    V0304 Error "wrong selector for this operand"
        "The selector exists, but not on this operand. Scalar operands take `.b0` to `.b3`, `.h0`, `.h1`. On SIMD forms a and b take `.hxy` (two digits 0 to 3) or `.bxyzw` (four digits 0 to 7), and d a mask: each lane once, the highest first, as in `.b31`. The manual's mask `.b00` (9.7.18.2.3) is wrong.";
    V0305 Error "selector on c"
        "Operand c is always a whole register.";
    V0306 Error "destination selector not allowed"
        "`vmad` has no selector on d, and a scalar form with one needs operand c, whose other bits it keeps:\n\n    vadd.u32.u32.u32 d.b0, a, b, c;";
    V0307 Error "negation not allowed"
        "Only the operands a, b and c of `vmad` may be negated, registers by a minus before the name. (Elsewhere ptxas takes a minus before a and b together, and ignores both; so does vop.)";
    V0308 Error "both product and c negated"
        "`vmad` negates the product (a minus before either a or b) or c, not both.";
    V0309 Error "`.po` with a negated operand"
        "`.po` adds one through the carry of the adder, which a negation needs too. Only one of them can use it.";
    V0310 Error "not an operand of video instructions"
        "The operands of video instructions are 32-bit registers and, in scalar forms, integer immediates for a, b and c: no vectors, addresses, special registers, floating-point numbers, and no `_`.";
    V0311 Error "selector that ptxas cannot read"
        "`.b1024` on a or b of a byte form is legal by the manual, but ptxas (13.5 and before) reads it as a type of other instructions and reports a parsing error. It is the only one of the 4,096. Exchange the operands and swap each digit with its counterpart, 0 with 4, 1 with 5, 2 with 6, 3 with 7:\n\n    vmin4.u32.u32.u32 d, a.b1024, b, c;         // refused\n    vmin4.u32.u32.u32 d, b.b5460, a.b3210, c;   // the same, where types and operation allow the exchange";
    V0401 Error "undeclared register"
        "No `.reg` declaration in scope names this register.";
    V0402 Error "register of the wrong type"
        "Operands are 32-bit registers: `.b32`, `.u32`, `.s32` (or `.f16x2`), whatever the instruction's types say.";
    V0403 Error "guard is not a predicate"
        "A guard is a register declared `.pred`.";
    V0404 Error "declared twice"
        "The name has been declared in this block already. Registers and labels share their names; an inner block may declare a name again.";
    V0405 Error "faulty declaration"
        "A declaration of registers is `.reg`, perhaps `.v2` or `.v4`, one type, and names:\n\n    .reg .pred p;\n    .reg .b32 a, b, %r<10>;   // %r<10> stands for %r0 to %r9\n    .reg .v2 .b32 v;";
    V0406 Error "operand that is not there"
        "The template of an `asm` names an operand that the `asm` does not have. Operands are numbered from 0, first the outputs and then the inputs, in their order:\n\n    asm(\"vadd4.u32.u32.u32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));";
    V0407 Error "constraint of another register"
        "The operands of video instructions are 32-bit registers, whose constraint is `r` (`reg32` in Rust). `h` is a 16-bit register, `l` a 64-bit one, `f` and `d` are floating-point registers, `m` is memory. ptxas refuses the instruction:\n\n    asm(\"vmin.u32.u32.u32 %0, %1, %2;\" : \"=r\"(d) : \"h\"(a), \"r\"(b));             // refused\n    asm(\"vmin.u32.u32.u32 %0, %1, %2;\" : \"=r\"(d) : \"r\"((unsigned)a), \"r\"(b));   // after";
    V0408 Error "immediate where a register is needed, or the reverse"
        "The constraints `n` and `i` put a number into the text. The operands of SIMD forms, operand d, and an operand with a selector are registers: their constraint is `r`. A modifier or selector is a part of the text: an operand that completes one has the constraint `n`.\n\n    asm(\"vadd4.u32.u32.u32 %0, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"n\"(1));     // refused\n    asm(\"vadd4.u32.u32.u32 %0, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(1));     // after\n    asm(\"vadd.u32.u32.u32 %0, %1.b%2, 0;\" : \"=r\"(d) : \"r\"(a), \"n\"(1));       // `.b1`";
    V0409 Error "expression of another size than its constraint"
        "The constraint `r` is for integers of 32 bits. nvcc refuses an expression of another size, and one of floating point: \"asm operand type size(8) does not match type/size implied by constraint 'r'\". Nothing is said where the type cannot be read from the file.\n\n    double x;\n    asm(\"vadd4.u32.u32.u32 %0, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(x));             // refused\n    asm(\"vadd4.u32.u32.u32 %0, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"((unsigned)x));   // after";
    V0501 Error "PTX version too low"
        "The module's `.version` is lower than the one that introduced the instruction: 2.0 for scalar video instructions, 3.0 for SIMD ones.";
    V0502 Error "target too low"
        "The module's `.target` is lower than the first that has the instruction: sm_20 for scalar video instructions, sm_30 for SIMD ones.";
    V0701 Warning "ptxas's code differs from the manual"
        "What it does\n\nThe machine code that ptxas 13.3 to 13.5 emits for this instruction gives d another value than the manual's pseudo code, for some values of the operands. The message has such values and both results.\n\nWhy it matters\n\nThe device executes what ptxas emits. Code that follows the manual, or was tested on values that do not show the difference, is wrong there. All such forms are scalar. `vop explain` with `--semantics ptxas` shows where the two differ.\n\nExample\n\n    vadd.u32.s32.s32.sat d.b0, a.h0, b.h0, c;   // before: ptxas's code gives 255 for a negative sum, not 0\n\n    vadd.s32.s32.s32 t, a.h0, b.h0;             // after: clamped by instructions without such faults\n    max.s32 t, t, 0;\n    min.s32 t, t, 255;\n    vadd.u32.u32.u32 d.b0, t, 0, c;";
    V0702 Warning "`.sat` without effect"
        "What it does\n\nWhatever values the operands have, the result lies in the range that `.sat` clamps to. This follows from the types, selectors and immediates. Or values outside the range become c in any case, by `.min` or `.max`. The lint is exact, except that it is silent where ptxas's code would be wrong without `.sat`, where V0701 says to drop it, and where an operand of a shift or of `vmad` is the same register as another one.\n\nWhy it matters\n\n`.sat` tells a reader that something can overflow. Either nothing can, and `.sat` may be dropped; or something should be clamped, and the type of d or its selector is wrong. On some forms ptxas's code computes a wrong value because of `.sat`: V0701 reports those.\n\nExample\n\n    vabsdiff4.u32.u32.u32.sat d, a, b, c;   // before: a difference of bytes is a byte\n\n    vabsdiff4.u32.u32.u32 d, a, b, c;       // after";
    V0703 Warning "fourth operand is ignored"
        "What it does\n\nA scalar instruction without a secondary operation and without a selector on d does not read operand c. ptxas accepts one there and ignores it.\n\nWhy it matters\n\nThe author meant c to be used: most often `.add`, `.min` or `.max` is missing, or the selector on d.\n\nExample\n\n    vadd.u32.u32.u32 d, a, b, c;            // before: a + b\n\n    vadd.u32.u32.u32.add d, a, b, c;        // after: a + b + c\n    vadd.u32.u32.u32 d, a, b;               // or a + b, as before";
    V0704 Note "mask or selector spells the default"
        "What it does\n\nA mask on d that names all lanes, `.b3210` or `.h10`, and the selectors `.b3210` or `.h10` on a and `.b7654` or `.h32` on b mean what an operand without a selector means.\n\nWhy it matters\n\nIt is harmless, but a reader has to compare digits to see that nothing is selected.\n\nExample\n\n    vmax4.u32.u32.u32 d.b3210, a.b3210, b.b7654, c;   // before\n\n    vmax4.u32.u32.u32 d, a, b, c;                     // after";
    V0705 Warning "sum of lanes treated as packed lanes"
        "What it does\n\nThe accumulator of a SIMD instruction with `.add` is treated as packed lanes by another instruction: c is written by a SIMD instruction without `.add`, or d is read by one in several lanes. It is reported only where no branch or label is between the two and the register is not written between them.\n\nWhy it matters\n\n`.add` does not accumulate lane by lane. It adds the results of all lanes to c as one 32-bit number.\n\nExample\n\n    vabsdiff4.u32.u32.u32.add sums, a, b, sums;   // before: one sum of four differences\n    vmax4.u32.u32.u32 d, sums, x, zero;\n\n    vabsdiff4.u32.u32.u32 t, a, b, zero;          // after: four sums of one difference each\n    vadd4.u32.u32.u32 sums, sums, t, zero;\n    vmax4.u32.u32.u32 d, sums, x, zero;";
    V0706 Warning "selectors that leave an operand out, or pair a lane with itself"
        "What it does\n\nIn the lanes that are written or summed, both selectors pick from the same register, so that the other is not read; or the two inputs of a lane are the same byte or half-word. Lanes 0 to 3 of a byte form's selector (0 and 1 of a half-word form's) are a's and lanes 4 to 7 (2 and 3) are b's, on either operand. It is not reported where a and b are one register.\n\nWhy it matters\n\nMost often the digits were meant to count from the operand that they stand on.\n\nExample\n\n    vadd4.u32.u32.u32 d, a.b3210, b.b3210, c;   // before: a + a\n\n    vadd4.u32.u32.u32 d, a.b3210, b.b7654, c;   // after: a + b";
    V0707 Warning "comparison is always true or always false"
        "What it does\n\nThe comparison of `vset`, `vset2` or `vset4` has the same outcome for all values of the operands. This follows from their types, selectors and immediates, or from both being the same. The decision is exact.\n\nWhy it matters\n\nThe outcome was meant to depend on something. Comparisons are on exact values: an unsigned value is never negative, and a byte never over 255.\n\nExample\n\n    vset.u32.u32.lt d, a, 0;                // before: never\n\n    vset.s32.u32.lt d, a, 0;                // after: a is read as signed";
    V0708 Note "lanes outside the mask keep d's old value"
        "What it does\n\nOperand c is the destination register: the lanes that the mask leaves out keep what d held.\n\nWhy it matters\n\nThis is often intended. In inline assembly d must then be declared as read and written.\n\nExample\n\n    asm(\"vadd4.u32.u32.u32 %0.b10, %1, %2, %0;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));   // before: d may hold anything\n\n    asm(\"vadd4.u32.u32.u32 %0.b10, %1, %2, %0;\" : \"+r\"(d) : \"r\"(a), \"r\"(b));   // after";
    V0709 Warning "the code of ptxas up to 13.2 differs from the manual"
        "What it does\n\nThe machine code that ptxas 11.7 to 13.2 emits for this instruction gives d another value than the manual's pseudo code, for some values of the operands; the code of the newest ptxas does not. All such forms are scalar ones with the selector `.h1` on d: bits 31 to 16 of the result are inserted in place of its lower 16 bits.\n\nWhy it matters\n\nMany installations have such a version. Code that was tested with a newer one is wrong there.\n\nExample\n\n    vadd.u32.u32.u32 d.h1, a, b, c;         // before\n\n    vadd.u32.u32.u32 t, a, b;               // after: right with every version\n    prmt.b32 d, c, t, 0x5410;";
    V0710 Note "selector repeats a byte or half-word"
        "What it does\n\nA selector picks the same byte or half-word for more than one of the lanes that are written or summed.\n\nWhy it matters\n\nIt is right where a byte is to be broadcast. Otherwise a digit may be a typing error.\n\nExample\n\n    vset4.u32.u32.eq d, a.b3200, b, c;      // before: byte 1 of a is not compared\n\n    vset4.u32.u32.eq d, a.b3210, b, c;      // after";
    V0711 Warning "suppression without effect"
        "What it does\n\nA comment allows a code, `// vop: allow(V0701)`, and nothing that it is about has this code. `allow` is about the instructions of the comment's own line or, where only comments stand on that line, of the next line that holds more; `allow-file` is about all of the file.\n\nWhy it matters\n\nThe code has changed, or the comment stands in the wrong place. Left there it would hide a finding that nobody has looked at.\n\nExample\n\n    // vop: allow(V0702)                    // before: `.sat` clamps, so there is nothing to allow\n    vadd4.u32.u32.u32.sat d, a, b, c;\n\n    vadd4.u32.u32.u32.sat d, a, b, c;       // after";
    V0712 Warning "suppression that cannot be read"
        "What it does\n\nA comment begins like a suppression, `vop: allow`, and names no codes, or one that does not exist or that cannot be allowed there. Errors can be allowed for single statements only; V0711 and V0712 only with --allow or in the configuration file.\n\nWhy it matters\n\nThe comment has no effect, and the findings that it was to allow are reported.\n\nExample\n\n    vadd.u32.s32.s32.sat d.b0, a, b, c;   // vop: allow V0701     before\n\n    vadd.u32.s32.s32.sat d.b0, a, b, c;   // vop: allow(V0701)    after";
    V0713 Warning "output is read before it is written"
        "What it does\n\nAn instruction reads an operand of its `asm` that is declared as an output only, `\"=r\"`, and no statement of the `asm` before it writes that operand. Most often it is operand c, where d accumulates, or where a mask or a selector on d keeps a part of it. It is silent where a statement before writes the operand whole, where another operand is tied to it, and where a macro pastes text before.\n\nWhy it matters\n\nThe compiler gives an output a register with any content. The code may work until the compiler assigns another register.\n\nExample\n\n    asm(\"vmad.u32.u32.u32 %0, %1.b0, %2.b0, %0;\" : \"=r\"(sum) : \"r\"(a), \"r\"(b));   // before\n\n    asm(\"vmad.u32.u32.u32 %0, %1.b0, %2.b0, %0;\" : \"+r\"(sum) : \"r\"(a), \"r\"(b));   // after";
    V0714 Warning "input is written"
        "What it does\n\nThe instruction's destination is an operand that the `asm` declares as an input.\n\nWhy it matters\n\nThe compiler takes it that an input keeps its value: the result is lost, or another variable that shares the register changes.\n\nExample\n\n    asm volatile(\"vadd4.u32.u32.u32 %0, %1, %2, %1;\" :: \"r\"(d), \"r\"(a), \"r\"(b));   // before\n\n    asm(\"vadd4.u32.u32.u32 %0, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));            // after";
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
    /// The same diagnostic with each of its spans translated: from positions in an instruction to those in a file.
    #[must_use]
    pub fn moved(mut self, translate: impl Fn(Range<usize>) -> Range<usize>) -> Diagnostic {
        self.span = translate(self.span);
        for (span, _) in &mut self.related {
            *span = translate(span.clone());
        }
        if let Patch::Edits(edits) = &mut self.patch {
            edits.iter_mut().for_each(|edit| edit.span = translate(edit.span.clone()));
        }
        self
    }

    /// A diagnostic with a message and nothing else.
    #[cold]
    pub fn new(code: Code, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        let (label, related, notes, patch) = Default::default();
        Diagnostic { code, span, message: message.into(), label, related, notes, help: None, patch }
    }

    /// With words at the span.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// With another place and a word on it, unless it has these already.
    #[must_use]
    pub fn related(mut self, span: Range<usize>, label: impl Into<String>) -> Diagnostic {
        let place = (span, label.into());
        if !self.related.contains(&place) {
            self.related.push(place);
        }
        self
    }

    /// With one more note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// With what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// With an edit that its help asks for. Edits are added in ascending order.
    #[must_use]
    pub fn edit(mut self, span: Range<usize>, text: impl Into<String>) -> Diagnostic {
        let edit = Edit::new(span, text);
        match &mut self.patch {
            Patch::Edits(edits) => edits.push(edit),
            other => *other = Patch::Edits(Vec::from([edit])),
        }
        self
    }
}
