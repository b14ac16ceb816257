//! A scalar instruction written out in base PTX: what to write where the code that ptxas emits for it is not what the manual
//! says.
//!
//! It is the manual's pseudo code over 64-bit registers, each stage in a line or two: made to be read and pasted, not to be
//! short. 64 bits hold every intermediate value but those of two operations: an unsigned a shifted left is compared as
//! unsigned; of `vmad`'s negated products, which need 65 bits, as much is kept as the result depends on.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::isa::form::{Finish, MadMode, Variant};
use crate::isa::range::Range;
use crate::isa::scalar::ScalarType;
use crate::isa::special::{is_special, is_wide};
use crate::isa::types::{Operation, Scale, Secondary, Selector, ShiftMode, Type};
use crate::text::{Declarations, Instruction, Operand, RegisterType};

impl Instruction<'_> {
    /// A block of base PTX instructions that computes what the manual says, on every target and by every ptxas; `None` for
    /// SIMD instructions, which ptxas gets right.
    ///
    /// ```
    /// let instruction = vop::parse("@!q vadd.u32.s32.s32.sat r0.b1, r1, -16, r2;").unwrap();
    /// assert_eq!(
    ///     instruction.in_base_ptx().unwrap(),
    ///     "{
    ///     .reg .b64 t, va, vb;
    ///     .reg .b32 r;
    ///     cvt.s64.s32 va, r1;
    ///     mov.b64 vb, -16;
    ///     add.s64 t, va, vb;
    ///     max.s64 t, t, 0;
    ///     min.s64 t, t, 255;
    ///     cvt.u32.u64 r, t;
    ///     @!q bfi.b32 r0, r, r2, 8, 8;
    /// }"
    /// );
    /// ```
    pub fn in_base_ptx(&self) -> Option<String> {
        self.in_base_ptx_among(None)
    }

    /// As [`Instruction::in_base_ptx`], where the types of the registers are known: base instructions are stricter with them.
    pub(crate) fn in_base_ptx_among(&self, registers: Option<&dyn Declarations>) -> Option<String> {
        if self.form.mnemonic().shape().is_simd() {
            return None;
        }
        // In a block a name may be declared again, and would then hide an operand.
        let mut prefix = String::new();
        while self.registers().any(|name| name.strip_prefix(&prefix).is_some_and(|rest| NAMES.contains(&rest))) {
            prefix.push_str("v_");
        }
        let mut block = Writer { instruction: self, registers, prefix, lines: Vec::new() };
        block.write();
        Some(block.finish())
    }
}

/// The registers of a block: 64 bits, 32 bits, and a predicate.
const NAMES: [&str; 7] = ["t", "va", "vb", "vc", "r", "n", "p"];

struct Writer<'a> {
    instruction: &'a Instruction<'a>,
    registers: Option<&'a dyn Declarations>,
    prefix: String,
    lines: Vec<String>,
}

impl Writer<'_> {
    fn line(&mut self, text: String) {
        self.lines.push(text);
    }

    fn write(&mut self) {
        let instruction = self.instruction;
        let form = instruction.form;
        let [t, va, vb, vc, r, _, p] = NAMES.map(|name| format!("{}{name}", self.prefix));
        let operation = form.mnemonic().operation();

        self.select(&va, instruction.a, form.asel(), form.atype());
        if !matches!(operation, Operation::Shl | Operation::Shr) {
            self.select(&vb, instruction.b, form.bsel(), form.btype());
        }

        // Whether t is to be read as unsigned.
        let unsigned = match operation {
            Operation::Shl => form.atype() == Type::U32,
            Operation::Mad => !form.is_signed(),
            _ => false,
        };
        match (operation, form.variant()) {
            (Operation::Add, _) => self.line(format!("add.s64 {t}, {va}, {vb}")),
            (Operation::Sub, _) => self.line(format!("sub.s64 {t}, {va}, {vb}")),
            (Operation::Absdiff, _) => {
                self.line(format!("sub.s64 {t}, {va}, {vb}"));
                self.line(format!("abs.s64 {t}, {t}"));
            }
            (Operation::Min, _) => self.line(format!("min.s64 {t}, {va}, {vb}")),
            (Operation::Max, _) => self.line(format!("max.s64 {t}, {va}, {vb}")),
            (Operation::Set, Variant::Comparison(comparison)) => {
                self.line(format!("setp{comparison}.s64 {p}, {va}, {vb}"));
                self.line(format!("selp.b64 {t}, 1, 0, {p}"));
            }
            (Operation::Shl | Operation::Shr, Variant::Shift(mode)) => self.shift(operation, mode),
            (Operation::Mad, Variant::Mad(mode, scale)) => self.mad(mode, scale, unsigned),
            // The table has no other scalar forms.
            _ => {}
        }
        if let Some(range) = form.saturation() {
            self.saturate(range, unsigned);
        }

        // The last line alone writes d, and so it alone is guarded.
        let guard = instruction.guard.map(|guard| format!("{guard} ")).unwrap_or_default();
        let d = instruction.d;
        match form.finish() {
            Finish::Merge(part) => {
                self.line(format!("cvt.u32.u64 {r}, {t}"));
                let c = self.word(instruction.c);
                if self.is_half_precision(d) {
                    self.line(format!("bfi.b32 {r}, {r}, {c}, {}, {}", part.shift(), part.bits()));
                    self.line(format!("{guard}mov.b32 {d}, {r}"));
                } else {
                    self.line(format!("{guard}bfi.b32 {d}, {r}, {c}, {}, {}", part.shift(), part.bits()));
                }
            }
            Finish::Secondary(secondary) => {
                if let Some(c) = instruction.c {
                    self.select(&vc, c, Selector::Word, if form.is_signed() { Type::S32 } else { Type::U32 });
                }
                match secondary {
                    Secondary::Add => self.line(format!("add.s64 {t}, {t}, {vc}")),
                    // An unsigned t of 64 bits compares with a negative c as with 0.
                    _ if unsigned && !form.sat() => {
                        self.line(format!("max.s64 {vb}, {vc}, 0"));
                        self.line(format!("setp.lo.u64 {p}, {t}, {vb}"));
                        let (less, other) = if secondary == Secondary::Min { (&t, &vc) } else { (&vc, &t) };
                        self.line(format!("selp.b64 {t}, {less}, {other}, {p}"));
                    }
                    Secondary::Min => self.line(format!("min.s64 {t}, {t}, {vc}")),
                    Secondary::Max => self.line(format!("max.s64 {t}, {t}, {vc}")),
                }
                self.lower_half_to(d, &guard);
            }
            Finish::Plain | Finish::Lanes(_) | Finish::Accumulate(_) => self.lower_half_to(d, &guard),
        }
    }

    /// The lower half of t to d.
    fn lower_half_to(&mut self, d: &str, guard: &str) {
        let [t, _, _, _, r, ..] = NAMES.map(|name| format!("{}{name}", self.prefix));
        if self.is_half_precision(d) {
            self.line(format!("cvt.u32.u64 {r}, {t}"));
            self.line(format!("{guard}mov.b32 {d}, {r}"));
        } else {
            self.line(format!("{guard}cvt.u32.u64 {d}, {t}"));
        }
    }

    fn type_of(&self, name: &str) -> Option<RegisterType> {
        self.registers.and_then(|registers| registers.register(name))
    }

    /// Whether a register is `.f16x2`, of which integer instructions take none.
    fn is_half_precision(&self, name: &str) -> bool {
        self.type_of(name) == Some(RegisterType::Scalar(ScalarType::F16x2))
    }

    /// Select: a 64-bit register gets an operand's part by its type.
    fn select(&mut self, to: &str, operand: Operand<'_>, selector: Selector, ty: Type) {
        if let Operand::Immediate { value, .. } = operand {
            let (shift, bits) = selector.place();
            let value = Range { signed: ty.is_signed(), bits }.value_of(value >> shift);
            return self.line(format!("mov.b64 {to}, {value}"));
        }
        let word = self.word(Some(operand));
        match selector.place() {
            (_, 32) => self.line(format!("cvt.s64{ty} {to}, {word}")),
            (shift, bits) => {
                let r = format!("{}r", self.prefix);
                self.line(format!("bfe{ty} {r}, {word}, {shift}, {bits}"));
                self.line(format!("cvt.s64{ty} {to}, {r}"));
            }
        }
    }

    /// What stands for an operand where a 32-bit one may stand.
    fn word(&mut self, operand: Option<Operand<'_>>) -> String {
        match operand {
            Some(Operand::Sum { register, addend }) => {
                let [_, _, wide, _, _, n, _] = NAMES.map(|name| format!("{}{name}", self.prefix));
                let known = self.type_of(register);
                // Of what is no 32-bit integer register the sum has the lower bits. b has been read.
                let lower = match known {
                    None if is_special(register) && is_wide(register) => {
                        self.line(format!("mov.u64 {wide}, {register}"));
                        Some(format!("cvt.u32.u64 {n}, {wide}"))
                    }
                    None if is_special(register) => Some(format!("mov.u32 {n}, {register}")),
                    Some(RegisterType::Scalar(ty)) => match ty.bits() {
                        Some(64) => Some(format!("cvt.u32.u64 {n}, {register}")),
                        Some(bits @ (8 | 16)) if ty.is_signed() => Some(format!("cvt.s32.s{bits} {n}, {register}")),
                        Some(bits @ (8 | 16)) => Some(format!("cvt.u32.u{bits} {n}, {register}")),
                        _ if ty == ScalarType::F16x2 => Some(format!("mov.b32 {n}, {register}")),
                        _ => None,
                    },
                    _ => None,
                };
                match lower {
                    Some(line) => {
                        self.line(line);
                        self.line(format!("add.u32 {n}, {n}, {addend}"));
                    }
                    None => self.line(format!("add.u32 {n}, {register}, {addend}")),
                }
                n
            }
            Some(Operand::Register(name)) if self.is_half_precision(name) => {
                let n = format!("{}n", self.prefix);
                self.line(format!("mov.b32 {n}, {name}"));
                n
            }
            Some(Operand::Register(name)) => name.to_string(),
            Some(Operand::Immediate { value, .. }) => value.to_string(),
            None => 0.to_string(),
        }
    }

    fn shift(&mut self, operation: Operation, mode: ShiftMode) {
        let [t, va, _, _, _, n, _] = NAMES.map(|name| format!("{}{name}", self.prefix));
        let (shift, bits) = self.instruction.form.bsel().place();
        let limit = |amount: u32| if mode == ShiftMode::Wrap { amount & 31 } else { amount.min(32) };
        let amount = match self.instruction.b {
            Operand::Immediate { value, .. } => {
                limit(Range { signed: false, bits }.value_of(value >> shift) as u32).to_string()
            }
            b => {
                let mut word = self.word(Some(b));
                if bits < 32 {
                    self.line(format!("bfe.u32 {n}, {word}, {shift}, {bits}"));
                    word.clone_from(&n);
                }
                match mode {
                    ShiftMode::Wrap => self.line(format!("and.b32 {n}, {word}, 31")),
                    ShiftMode::Clamp => self.line(format!("min.u32 {n}, {word}, 32")),
                }
                n
            }
        };
        let opcode = if operation == Operation::Shl { "shl.b64" } else { "shr.s64" };
        self.line(format!("{opcode} {t}, {va}, {amount}"));
    }

    fn mad(&mut self, mode: MadMode, scale: Option<Scale>, unsigned: bool) {
        let [t, va, vb, vc, ..] = NAMES.map(|name| format!("{}{name}", self.prefix));
        let form = self.instruction.form;
        self.line(format!("mul.lo.s64 {t}, {va}, {vb}"));
        if !unsigned && form.sat() && form.atype() == Type::U32 && form.btype() == Type::U32 {
            // The sum with its sign needs 65 bits. Products from 2^62 on saturate in any case.
            self.line(format!("min.u64 {t}, {t}, {}", 1u64 << 62));
        }
        if let Some(c) = self.instruction.c {
            self.select(&vc, c, Selector::Word, if unsigned { Type::U32 } else { Type::S32 });
        }
        match (mode.negates_product(), mode.negates_c()) {
            (true, _) => self.line(format!("sub.s64 {t}, {vc}, {t}")),
            (_, true) => self.line(format!("sub.s64 {t}, {t}, {vc}")),
            _ => self.line(format!("add.s64 {t}, {t}, {vc}")),
        }
        if mode == MadMode::PlusOne {
            self.line(format!("add.s64 {t}, {t}, 1"));
        }
        if let Some(scale) = scale {
            self.line(format!("shr.{} {t}, {t}, {}", if unsigned { "u64" } else { "s64" }, scale.bits()));
        }
    }

    fn saturate(&mut self, range: Range, unsigned: bool) {
        let t = format!("{}t", self.prefix);
        if unsigned {
            self.line(format!("min.u64 {t}, {t}, {}", range.max()));
        } else {
            self.line(format!("max.s64 {t}, {t}, {}", range.min()));
            self.line(format!("min.s64 {t}, {t}, {}", range.max()));
        }
    }

    /// The lines between braces, behind declarations of the registers that they use.
    fn finish(self) -> String {
        let names = NAMES.map(|name| format!("{}{name}", self.prefix));
        let used = |name: &String| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '%';
            self.lines.iter().any(|line| line.split(|c| !is_part(c)).skip(1).any(|word| word == name))
        };
        let mut text = String::from("{\n");
        for (ty, names) in [("b64", &names[..4]), ("b32", &names[4..6]), ("pred", &names[6..])] {
            let names: Vec<&str> = names.iter().filter(|name| used(name)).map(String::as_str).collect();
            if !names.is_empty() {
                text.push_str(&format!("    .reg .{ty} {};\n", names.join(", ")));
            }
        }
        for line in &self.lines {
            text.push_str(&format!("    {line};\n"));
        }
        text.push('}');
        text
    }
}
