//! [`Block`]: a lowering written over the operands of an instruction.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::base::{Op, Sort};
use super::candidate::Value;
use super::sequence::Sequence;
use super::{LowerOptions, Lowering};
use crate::isa::scalar::ScalarType;
use crate::text::{Declarations, Instruction, Operand, RegisterType};

/// A lowered instruction as PTX: statements over the operands that the instruction names, and registers of their own.
///
/// Only the last statement writes d, and it alone carries the instruction's guard. The names that the block declares are none
/// of the instruction's: in a block a name may be declared again, and would hide an operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Declarations first; each with its semicolon.
    pub statements: Vec<String>,
}

impl Block {
    /// The block with a statement a line: the first line as it is, the others behind `indent`, and statements four blanks (or
    /// a tab if `indent` has one) further in. `newline` ends each line but the last.
    pub fn indented(&self, indent: &str, newline: &str) -> String {
        let step = if indent.contains('\t') { "\t" } else { "    " };
        let mut text = String::from("{");
        for statement in &self.statements {
            for piece in [newline, indent, step, statement] {
                text.push_str(piece);
            }
        }
        for piece in [newline, indent, "}"] {
            text.push_str(piece);
        }
        text
    }

    /// The block on one line.
    pub fn one_line(&self) -> String {
        format!("{{ {} }}", self.statements.join(" "))
    }
}

/// A statement a line.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.indented("", "\n"))
    }
}

impl Op {
    /// Whether ptxas takes a 32-bit register of this type as an operand or as d, by a type check that is each instruction's own:
    /// packed ones want `.b32`, dot products and shifts no floating-point type.
    const fn takes(self, ty: RegisterType) -> bool {
        match self {
            Op::Packed(..) => matches!(ty, RegisterType::Scalar(ScalarType::B32)),
            Op::Dp4a(..) | Op::Dp2a { .. } | Op::Shl | Op::Shr(_) | Op::ShlLong | Op::ShrLong(_) => {
                !matches!(ty, RegisterType::Scalar(ScalarType::F16x2))
            }
            _ => true,
        }
    }
}

impl Lowering {
    /// The lowering as a block over an instruction's operands. An instruction that stays is a block of itself alone.
    ///
    /// `registers` knows the types of the operands, as not every base instruction takes all that a video instruction takes;
    /// what it does not know is a `.b32`.
    ///
    /// ```
    /// use vop::lower::LowerOptions;
    /// let sum = vop::parse("@p vadd4.s32.s32.s32.sat r1, r2, r3, r1;").unwrap();
    /// let lowering = sum.form.lower(LowerOptions::new("sm_120f".parse().unwrap()));
    /// let registers = ".reg .pred p; .reg .b32 r1, r2; .reg .s32 r3;".parse::<vop::Registers>().unwrap();
    /// assert_eq!(
    ///     lowering.block(&sum, &registers).to_string(),
    ///     "{
    ///     .reg .b32 t<2>;
    ///     mov.b32 t1, r3;
    ///     @p add.sat.s8x4 r1, r2, t1;
    /// }"
    /// );
    /// ```
    pub fn block(&self, instruction: &Instruction<'_>, registers: &dyn Declarations) -> Block {
        let Some(sequence) = &self.sequence else {
            return Block { statements: Vec::from([format!("{instruction};")]) };
        };
        let mut sequence = sequence.clone();
        let mut names = Names::new(instruction);
        let mut lines: Vec<String> = Vec::new();
        let mut words = [String::new(), String::new(), String::new()];
        let operands = [Some(instruction.a), Some(instruction.b), instruction.c];
        for ((word, operand), value) in words.iter_mut().zip(operands).zip([Value::A, Value::B, Value::C]) {
            match operand {
                Some(Operand::Immediate { value: constant, .. }) => sequence = sequence.with(value, constant),
                Some(Operand::Register(name)) => {
                    *word = name.to_owned();
                    if sequence.refuses(value, registers.register(name)) {
                        *word = names.fresh(Sort::Word);
                        lines.push(format!("mov.b32 {word}, {name}"));
                    }
                }
                Some(Operand::Sum { register, addend }) if sequence.reads(value) => {
                    *word = names.fresh(Sort::Word);
                    lines.push(format!("add.u32 {word}, {register}, {}", addend as i32));
                }
                Some(Operand::Sum { .. }) | None => {}
            }
        }
        let [a, b, c] = &words;
        let d = if sequence.result_refuses(registers.register(instruction.d)) {
            names.fresh(Sort::Word)
        } else {
            instruction.d.to_owned()
        };
        lines.extend(sequence.ptx([&d, a, b, c], |sort| names.fresh(sort)));
        if d != instruction.d {
            lines.push(format!("mov.b32 {}, {d}", instruction.d));
        }
        if let (Some(guard), Some(last)) = (instruction.guard, lines.last_mut()) {
            *last = format!("{guard} {last}");
        }
        let mut statements = names.declarations();
        statements.extend(lines.into_iter().map(|line| line + ";"));
        Block { statements }
    }
}

impl LowerOptions {
    /// Whether a sequence may be written under these options.
    pub(super) fn permits(&self, sequence: &Sequence) -> bool {
        let needs = sequence.needs();
        needs.met_by(self.target)
            && needs.version <= self.version
            && self.module.is_none_or(|module| needs.met_by(module))
            && (self.may_write_carry || !sequence.writes_carry())
    }
}

impl Sequence {
    /// The instructions as lines without semicolons over registers d, a, b and c, and new ones named `t1`, `q1`, `p1`, `h1` and so
    /// on by their sort.
    pub fn lines(&self) -> Vec<String> {
        let mut names = Names::default();
        self.ptx(["d", "a", "b", "c"], |sort| names.fresh(sort))
    }

    /// Whether an instruction that reads the value does not take a register of this type.
    fn refuses(&self, value: Value, ty: Option<RegisterType>) -> bool {
        let Some(ty) = ty else { return false };
        self.steps.iter().any(|(op, operands)| operands.contains(&value) && !op.takes(ty))
    }

    /// Whether the instruction that makes the result does not take a register of this type.
    fn result_refuses(&self, ty: Option<RegisterType>) -> bool {
        let (Some(ty), Some(Value::Step(number))) = (ty, self.result) else { return false };
        self.steps.get(number).is_some_and(|(op, _)| !op.takes(ty))
    }
}

/// Names for new registers.
#[derive(Debug, Default)]
struct Names {
    /// What all begin with.
    prefix: String,
    /// How many were given away, by sort.
    counts: BTreeMap<Sort, u32>,
}

impl Names {
    /// Names that are none of an instruction's.
    fn new(instruction: &Instruction<'_>) -> Names {
        let hides = |prefix: &str| {
            instruction.registers().any(|name| {
                let rest = name.strip_prefix(prefix).and_then(|name| name.strip_prefix(['t', 'q', 'p', 'h']));
                rest.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
            })
        };
        let mut prefix = String::new();
        while hides(&prefix) {
            prefix.push_str("v_");
        }
        Names { prefix, counts: BTreeMap::new() }
    }

    fn fresh(&mut self, sort: Sort) -> String {
        let count = self.counts.entry(sort).or_default();
        *count += 1;
        format!("{}{}{count}", self.prefix, letter(sort))
    }

    /// A declaration of all that were given away, a statement for each sort.
    fn declarations(&self) -> Vec<String> {
        let declaration = |(&sort, count): (&Sort, &u32)| {
            format!(".reg {} {}{}<{}>;", sort.register_type(), self.prefix, letter(sort), count + 1)
        };
        self.counts.iter().map(declaration).collect()
    }
}

/// What the names of registers of a sort begin with.
fn letter(sort: Sort) -> char {
    match sort {
        Sort::Predicate => 'p',
        Sort::Half => 'h',
        Sort::Word => 't',
        Sort::Long => 'q',
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::isa::range::Range;
    use crate::lower::base::PackedOp;

    /// The block of an instruction if `add.sat.s8x4 d, a, b` and then c added to it computed it.
    fn block(text: &str, declared: &str) -> String {
        let instruction = crate::parse(text).unwrap();
        let mut sequence = Sequence::default();
        let packed = Op::Packed(PackedOp::AddSat, Range::new(true, 8));
        let mut result = sequence.push(packed, &[Value::A, Value::B]);
        if instruction.c.is_some() {
            result = sequence.push(Op::Add, &[result, Value::C]);
        }
        sequence.result = Some(result);
        let lowering =
            Lowering { form: instruction.form, rule: "test", sequence: Some(sequence), cost: 1, exact: true };
        lowering.block(&instruction, &declared.parse::<crate::Registers>().unwrap()).one_line()
    }

    #[test]
    fn immediates_and_sums() {
        let text = "vadd.s32.s32.s32.add d, a, 5, c+-1";
        assert_eq!(
            block(text, ""),
            "{ .reg .b32 t<4>; add.u32 t1, c, -1; mov.b32 t2, 5; add.sat.s8x4 t3, a, t2; add.u32 d, t3, t1; }"
        );
    }

    #[test]
    fn the_guard_stands_before_the_one_line_that_writes_d() {
        let text = "@!p vadd.s32.s32.s32.add r, r, r, r";
        assert_eq!(block(text, ""), "{ .reg .b32 t<2>; add.sat.s8x4 t1, r, r; @!p add.u32 r, t1, r; }");
    }

    #[test]
    fn names_of_operands_are_not_declared() {
        let text = "vadd.s32.s32.s32 t1, a, 5";
        assert_eq!(block(text, ""), "{ .reg .b32 v_t<2>; mov.b32 v_t1, 5; add.sat.s8x4 t1, a, v_t1; }");
        // As ptxas has it: `t01` is `t1`.
        assert!(block("@!v_p1 vadd.s32.s32.s32 d, t01, 5", "").contains("v_v_t1"));
        assert!(block("@t vadd.s32.s32.s32 d, t1x, 5", "").contains(" t1,"));
    }

    #[test]
    fn types_that_a_base_instruction_refuses_are_moved() {
        let declared = ".reg .s32 d, a; .reg .b32 b, c; .reg .pred p;";
        assert_eq!(
            block("@!p vadd.s32.s32.s32 d, a, b", declared),
            "{ .reg .b32 t<3>; mov.b32 t1, a; add.sat.s8x4 t2, t1, b; @!p mov.b32 d, t2; }"
        );
        assert_eq!(block("vadd.s32.s32.s32 b, c, b", declared), "{ add.sat.s8x4 b, c, b; }");
        // Only where it is refused.
        assert_eq!(
            block("vadd.s32.s32.s32.add d, b, c, a", declared),
            "{ .reg .b32 t<2>; add.sat.s8x4 t1, b, c; add.u32 d, t1, a; }"
        );
    }

    #[test]
    fn options_permit_what_they_say() {
        let of = |op: Op, operands: &[Value]| {
            let mut sequence = Sequence::default();
            sequence.result = Some(sequence.push(op, operands));
            sequence
        };
        let options = LowerOptions::new("sm_120f".parse().unwrap());
        let carry = of(Op::AddSatUnsigned, &[Value::A, Value::B]);
        assert!(options.permits(&carry));
        assert!(!LowerOptions { may_write_carry: false, ..options }.permits(&carry));
        let packed = of(Op::Packed(PackedOp::AddSat, Range::new(true, 8)), &[Value::A, Value::B]);
        assert!(options.permits(&packed));
        assert!(!LowerOptions { version: (9, 1), ..options }.permits(&packed));
        for (module, permitted) in [("sm_120", false), ("sm_75", false), ("sm_120f", true), ("sm_120a", true)] {
            let module = Some(module.parse().unwrap());
            assert_eq!(LowerOptions { module, ..options }.permits(&packed), permitted, "{module:?}");
        }
    }

    #[test]
    fn one_statement_a_line() {
        let block = Block { statements: Vec::from(["x;".to_string(), "y;".to_string()]) };
        assert_eq!(block.indented("  ", "\r\n"), "{\r\n      x;\r\n      y;\r\n  }");
        assert_eq!(block.indented("\t", "\n"), "{\n\t\tx;\n\t\ty;\n\t}");
        assert_eq!(block.to_string(), "{\n    x;\n    y;\n}");
    }
}
