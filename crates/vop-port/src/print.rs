//! [`Syntax`]: how a language writes operations and functions, and the printer that all languages share.

use vop::isa::types::Comparison;
use vop::lower::{Op as Base, PackedOp, Value};
use vop_ptx::find::Language;

use crate::amdgcn;
use crate::code::{Code, Extra, Op, Sort, Width, byte};
pub(crate) use crate::llvm::LLVM;
use crate::machine::{self, Machine};

/// An expression, and whether it stands beside an operator without parentheses.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub(crate) text: String,
    pub(crate) is_atom: bool,
}

impl Expression {
    pub(crate) fn atom(text: impl Into<String>) -> Expression {
        Expression { text: text.into(), is_atom: true }
    }

    pub(crate) fn operator(text: String) -> Expression {
        Expression { text, is_atom: false }
    }

    /// As an operand.
    pub(crate) fn inner(&self) -> String {
        if self.is_atom { self.text.clone() } else { format!("({})", self.text) }
    }
}

/// A function to be written.
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    /// What it does: lines of text.
    pub(crate) words: &'a [String],
    pub(crate) code: &'a Code,
    /// The template of an `asm` that computes it on NVIDIA's GPUs, if the function is to hold one.
    pub(crate) ptx: Option<&'a str>,
    /// The operations on devices that have others.
    pub(crate) device: Option<&'a Code>,
}

/// Devices of a language that have operations beside those of the language.
pub(crate) struct Device {
    pub(crate) machine: &'static Machine,
    /// The macro that tells that code is compiled for one.
    pub(crate) is_defined: &'static str,
    /// What defines that macro.
    pub(crate) prelude: &'static str,
    /// The definition of what an operation is written as.
    pub(crate) helper: fn(Extra) -> Option<String>,
}

/// How a language writes things. A language is a value of this trait and a row in `target.rs`.
pub(crate) trait Syntax {
    /// A constant.
    fn literal(&self, value: u64, width: Width) -> String;

    /// An operation on operands. Those of one operation are all numbers, except the first of [`Op::Select`] and that of
    /// [`Op::Number`], which are truth values.
    fn operation(&self, op: Op, at: &[Expression]) -> Expression;

    /// A statement that names a value.
    fn name(&self, name: &str, sort: Sort, value: &str) -> String;

    /// A function of the statements and the value that it returns. A function that is alone is visible outside of its file.
    fn function(&self, function: &Function<'_>, statements: &[String], result: &str, alone: bool) -> String;

    /// What stands before all functions of a file.
    fn prelude(&self) -> &'static str;

    /// The types of integers without and with sign, of 32 and of 64 bits, if functions can be called from sources in C's syntax.
    fn types(&self) -> Option<[[&'static str; 2]; 2]> {
        None
    }

    /// The language of the files in which calls of functions can stand for an `asm`; [`Language::Cuda`] for all that have C's syntax.
    fn language(&self) -> Option<Language> {
        self.types().map(|_| Language::Cuda)
    }

    /// How a parameter and a named value are written where they are read.
    fn read(&self, name: &str) -> String {
        name.to_string()
    }

    /// Whether every value has a name, as an operation takes no others.
    fn names_all(&self) -> bool {
        false
    }

    /// The macro that tells NVIDIA's GPUs, if functions can hold an `asm`.
    fn nvidia(&self) -> Option<&'static str> {
        None
    }

    /// A constant by which something is shifted.
    fn amount(&self, word: u32) -> String {
        let literal = self.literal(word.into(), Width::Word);
        // Where literals are written as hexadecimal digits with a suffix, amounts are decimal.
        let digits = literal.strip_prefix("0x");
        match digits.and_then(|rest| rest.find(|c: char| !c.is_ascii_hexdigit()).map(|i| &rest[i..])) {
            Some(suffix) => format!("{word}{suffix}"),
            None if literal.starts_with("0x") => word.to_string(),
            None => literal,
        }
    }

    /// Devices that have other operations.
    fn device(&self) -> Option<&'static Device> {
        None
    }

    /// What a file says of the parameters.
    fn parameters(&self) -> &'static str {
        "Each function takes the registers a, b and c as words of 32 bits, and returns d."
    }

    /// A whole file: the prelude and the functions, after words about it.
    fn file(&self, words: &[String], functions: &[String]) -> String;
}

/// The text of a function.
///
/// Each function reads as a person would write it: what is read once stands in its place, unless the line became too long.
pub(crate) fn function(syntax: &dyn Syntax, function: &Function<'_>, alone: bool) -> String {
    let (statements, result) = body(syntax, function.code);
    syntax.function(function, &statements, &result, alone)
}

/// The statements of a function, and the value that it returns.
pub(crate) fn body(syntax: &dyn Syntax, code: &Code) -> (Vec<String>, String) {
    let steps = code.steps();
    let mut uses = vec![0usize; steps.len()];
    let read = steps.iter().flat_map(|(_, operands)| operands.iter().copied()).chain([code.result()]);
    read.filter_map(Value::as_step).for_each(|number| uses[number] += 1);
    let mut statements = Vec::new();
    // The text of each step, and how many operations it holds.
    let mut texts: Vec<(Expression, usize)> = Vec::new();
    for (number, (op, operands)) in steps.iter().enumerate() {
        let given: Vec<Expression> = operands
            .iter()
            .enumerate()
            .map(|(i, &operand)| match operand {
                Value::Step(number) => texts[number].0.clone(),
                other => leaf(syntax, *op, i, other),
            })
            .collect();
        let expression = match negative(*op, operands) {
            Some((op, literal)) => syntax.operation(op, &[given[0].clone(), leaf(syntax, op, 1, literal)]),
            None => syntax.operation(*op, &given),
        };
        let size = 1 + operands.iter().filter_map(|value| value.as_step()).map(|n| texts[n].1).sum::<usize>();
        // A name for what is read more than once, and for what would make a line too long.
        let is_last = code.result() == Value::Step(number);
        let is_short = is_last || uses[number] == 1 && size < INLINED && expression.text.len() < LONGEST;
        if is_short && !syntax.names_all() {
            texts.push((expression, size));
            continue;
        }
        let name = format!("t{}", statements.len() + 1);
        statements.push(syntax.name(&name, op.sort(), &expression.text));
        texts.push((Expression::atom(syntax.read(&name)), 0));
    }
    let result = match code.result() {
        Value::Step(number) => texts[number].0.text.clone(),
        Value::Word(word) => syntax.literal(word.into(), Width::Word),
        other => syntax.read(register(other)),
    };
    (statements, result)
}

/// A sum with a negative constant as a difference.
fn negative(op: Op, operands: &[Value]) -> Option<(Op, Value)> {
    match (op, operands.get(1)?) {
        (Op::Add(width), Value::Word(word)) if *word > i32::MAX as u32 => {
            Some((Op::Sub(width), Value::Word(word.wrapping_neg())))
        }
        (Op::Add(width), Value::Long(long)) if *long > i64::MAX as u64 => {
            Some((Op::Sub(width), Value::Long(long.wrapping_neg())))
        }
        _ => None,
    }
}

/// This many operations have a name.
const INLINED: usize = 4;
/// An expression of this many bytes has a name.
const LONGEST: usize = 60;

fn register(value: Value) -> &'static str {
    match value {
        Value::A => "a",
        Value::B => "b",
        _ => "c",
    }
}

/// A register or a constant.
fn leaf(syntax: &dyn Syntax, op: Op, operand: usize, value: Value) -> Expression {
    match value {
        Value::Word(word) => {
            let is_amount =
                operand == 1 && matches!(op, Op::Shl(_) | Op::Shr(_) | Op::Sar(_) | Op::Extra(Extra::Shift(_)));
            let text = match is_amount {
                true => syntax.amount(word),
                false => syntax.literal(word.into(), Width::Word),
            };
            Expression::atom(text)
        }
        Value::Long(long) => Expression::atom(syntax.literal(long, Width::Long)),
        other => Expression::atom(syntax.read(register(other))),
    }
}

/// The operator of a comparison, in all languages here.
fn relation(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "==",
        Comparison::Ne => "!=",
        Comparison::Lt => "<",
        Comparison::Le => "<=",
        Comparison::Gt => ">",
        Comparison::Ge => ">=",
    }
}

/// The operator between two operands, in all languages here.
pub(crate) fn operator(op: Op) -> &'static str {
    match op {
        Op::And(_) => "&",
        Op::Or(_) => "|",
        Op::Xor(_) => "^",
        Op::Add(_) => "+",
        Op::Sub(_) => "-",
        Op::Mul(_) => "*",
        Op::Shl(_) => "<<",
        Op::Shr(_) | Op::Sar(_) => ">>",
        Op::Compare(comparison, _) | Op::CompareSigned(comparison, _) => relation(comparison),
        _ => "",
    }
}

/// C's choice.
fn conditional(at: &[Expression]) -> Expression {
    Expression::operator(format!("{} ? {} : {}", at[0].inner(), at[1].inner(), at[2].inner()))
}

fn hexadecimal(value: u64) -> String {
    if value < 10 { value.to_string() } else { format!("{value:#x}") }
}

/// A comment of many lines in languages with `/* … */`.
pub(crate) fn block_comment(words: &[String]) -> String {
    format!("/* {} */\n", words.join("\n   "))
}

pub(crate) fn line_comments(marker: &str, words: &[String]) -> String {
    words.iter().map(|line| format!("{marker}{line}\n")).collect()
}

pub(crate) fn indented(statements: &[String]) -> String {
    statements.iter().map(|statement| format!("    {statement}\n")).collect()
}

/// Languages with C's operators.
pub(crate) struct CLike {
    /// Unsigned and signed types, of 32 and 64 bits.
    types: [[&'static str; 2]; 2],
    /// The type of a truth value.
    truth: &'static str,
    /// What stands before and behind the digits of constants of 32 and of 64 bits. Where the type of 64 bits is `long` on one machine and
    /// `long long` on another, no suffix has its type.
    constants: [[&'static str; 2]; 2],
    /// What stands before a function in a file, and before one that is alone.
    before: [&'static str; 2],
    /// What stands between the parameters and the body.
    after: &'static str,
    /// What makes an unused parameter, if there is a way at the parameter.
    unused: Option<&'static str>,
    /// Whether conversions are written `static_cast<…>(…)`.
    static_cast: bool,
    /// The macro that tells that code is compiled for NVIDIA's GPUs.
    nvidia: Option<&'static str>,
    prelude: &'static str,
    /// Whether a file has an include guard of C, or `#pragma once`, or none.
    guard: Guard,
    /// How operations beside the plain ones are written.
    extra: fn(Extra, &[Expression]) -> Expression,
    device: Option<&'static Device>,
}

enum Guard {
    Macro,
    Pragma,
}

pub(crate) static C: CLike = CLike {
    types: [["uint32_t", "int32_t"], ["uint64_t", "int64_t"]],
    truth: "int",
    constants: [["", "u"], ["UINT64_C(", ")"]],
    before: ["static inline ", ""],
    after: "",
    unused: None,
    static_cast: false,
    nvidia: None,
    prelude: "#include <stdint.h>\n",
    guard: Guard::Macro,
    extra: no_extra,
    device: None,
};

pub(crate) static CPP: CLike = CLike {
    types: [["std::uint32_t", "std::int32_t"], ["std::uint64_t", "std::int64_t"]],
    truth: "bool",
    constants: [["", "u"], ["UINT64_C(", ")"]],
    before: ["constexpr ", "constexpr "],
    after: " noexcept",
    unused: Some("[[maybe_unused]] "),
    static_cast: true,
    nvidia: None,
    prelude: "#include <cstdint>\n",
    guard: Guard::Pragma,
    extra: no_extra,
    device: None,
};

pub(crate) static CUDA: CLike = CLike {
    types: [["unsigned", "int"], ["unsigned long long", "long long"]],
    truth: "bool",
    constants: [["", "u"], ["", "ull"]],
    before: ["static __host__ __device__ __forceinline__ ", "static __host__ __device__ __forceinline__ "],
    after: "",
    unused: None,
    static_cast: false,
    nvidia: Some("__CUDA_ARCH__"),
    prelude: "",
    guard: Guard::Pragma,
    extra: no_extra,
    device: None,
};

pub(crate) static HIP: CLike = CLike {
    types: [["unsigned", "int"], ["unsigned long long", "long long"]],
    truth: "bool",
    constants: [["", "u"], ["", "ull"]],
    before: ["static inline __host__ __device__ ", "static inline __host__ __device__ "],
    after: "",
    unused: None,
    static_cast: false,
    nvidia: Some("__CUDA_ARCH__"),
    prelude: "",
    guard: Guard::Pragma,
    extra: amdgcn::extra,
    device: Some(&amdgcn::DEVICE),
};

pub(crate) static METAL: CLike = CLike {
    types: [["uint", "int"], ["ulong", "long"]],
    truth: "bool",
    constants: [["", "u"], ["", "ul"]],
    before: ["static inline ", "static inline "],
    after: "",
    unused: None,
    static_cast: false,
    nvidia: None,
    prelude: "#include <metal_stdlib>\n",
    guard: Guard::Pragma,
    extra: no_extra,
    device: None,
};

pub(crate) static OPENCL: CLike = CLike {
    types: [["uint", "int"], ["ulong", "long"]],
    truth: "int",
    constants: [["", "u"], ["", "ul"]],
    before: ["static inline ", ""],
    after: "",
    unused: None,
    static_cast: false,
    nvidia: Some("__NV_CL_C_VERSION"),
    prelude: "",
    guard: Guard::Macro,
    extra: opencl,
    device: Some(&OPENCL_DOT),
};

/// Devices with dot products of bytes.
static OPENCL_DOT: Device = Device {
    machine: &machine::OPENCL_DOT,
    is_defined: "__opencl_c_integer_dot_product_input_4x8bit_packed",
    prelude: "",
    helper: |_| None,
};

/// A machine of plain operations alone has no others.
pub(crate) fn no_extra(extra: Extra, _: &[Expression]) -> Expression {
    Expression::atom(format!("{extra:?}"))
}

/// OpenCL's dot product of bytes; of bytes without sign it is a word.
fn dot(x_signed: bool, y_signed: bool, x: &str, y: &str) -> String {
    let letter = |signed: bool| if signed { 's' } else { 'u' };
    match x_signed || y_signed {
        false => format!("dot_4x8packed_uu_uint({x}, {y})"),
        true => format!("as_uint(dot_4x8packed_{}{}_int({x}, {y}))", letter(x_signed), letter(y_signed)),
    }
}

/// Built-in functions of OpenCL C on vectors in a word.
fn opencl(extra: Extra, at: &[Expression]) -> Expression {
    let word = "as_uint(";
    // The vector that was made a word is as it was.
    let text = |x: &Expression| match x.text.strip_prefix(word) {
        Some(rest) if encloses(&x.text, word.len() - 1) => rest[..rest.len() - 1].to_string(),
        _ => x.text.clone(),
    };
    let vector = |signed: bool, bits: u32| match (bits, signed) {
        (8, true) => "char4",
        (8, false) => "uchar4",
        (16, true) => "short2",
        (16, false) => "ushort2",
        (_, true) => "int",
        (_, false) => "uint",
    };
    let of = |signed: bool, bits: u32, i: usize| match vector(signed, bits) {
        "uint" => at[i].text.clone(),
        vector => format!("as_{vector}({})", text(&at[i])),
    };
    let call = |name: &str, signed: bool, bits: u32| {
        Expression::atom(format!("{word}{name}({}, {}))", of(signed, bits, 0), of(signed, bits, 1)))
    };
    let between = |operator: &str, signed: bool, bits: u32| {
        Expression::atom(format!("{word}{} {operator} {})", of(signed, bits, 0), of(signed, bits, 1)))
    };
    match extra {
        Extra::Base(Base::Packed(op, lanes)) => match op {
            PackedOp::Add => between("+", false, lanes.bits),
            PackedOp::Sub => between("-", false, lanes.bits),
            PackedOp::AddSat => call("add_sat", lanes.signed, lanes.bits),
            PackedOp::SubSat => call("sub_sat", lanes.signed, lanes.bits),
            PackedOp::Min | PackedOp::MinRelu => call("min", lanes.signed, lanes.bits),
            PackedOp::Max | PackedOp::MaxRelu => call("max", lanes.signed, lanes.bits),
        },
        Extra::Base(Base::AddSat) => call("add_sat", true, 32),
        Extra::Base(Base::SubSat) => call("sub_sat", true, 32),
        Extra::Base(Base::AddSatUnsigned) => call("add_sat", false, 32),
        Extra::Base(Base::Min(ty)) => call("min", ty.is_signed(), 32),
        Extra::Base(Base::Max(ty)) => call("max", ty.is_signed(), 32),
        Extra::Absdiff(lanes) => call("abs_diff", lanes.signed, lanes.bits),
        Extra::Average(bits) => call("rhadd", false, bits),
        Extra::Compare(comparison, lanes) => between(relation(comparison), lanes.signed, lanes.bits),
        Extra::Base(Base::Dp4a(x, y)) => {
            let dot = dot(x.is_signed(), y.is_signed(), &at[0].text, &at[1].text);
            Expression::operator(format!("{} + {dot}", at[2].inner()))
        }
        Extra::Sum(lanes) => Expression::atom(dot(lanes.signed, false, &at[0].text, "0x1010101u")),
        Extra::Bytes(places) if at.len() == 1 && places.iter().all(|place| *place < 4) => {
            let digits: String = places.iter().map(u8::to_string).collect();
            Expression::atom(format!("{word}{}.s{digits})", of(false, 8, 0)))
        }
        Extra::Bytes(places) => {
            let taken = places.map(|place| match place {
                byte::ZERO => "0".to_string(),
                place => format!("{}.s{}", of(false, 8, usize::from(place >> 2)), place & 3),
            });
            Expression::atom(format!("{word}(uchar4)({}))", taken.join(", ")))
        }
        other => no_extra(other, at),
    }
}

/// A header of C with an include guard.
pub(crate) fn header(words: &[String], prelude: &str, functions: &[String]) -> String {
    let guard = "VOP_PORT_H";
    let blank = if prelude.is_empty() { "" } else { "\n" };
    let functions = functions.join("\n");
    let words = block_comment(words);
    format!("{words}#ifndef {guard}\n#define {guard}\n\n{prelude}{blank}{functions}\n#endif\n")
}

/// Whether the parenthesis at a place is closed by the last byte.
pub(crate) fn encloses(text: &str, open: usize) -> bool {
    let mut depth = 0;
    for (i, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1 == text.len();
        }
    }
    false
}

impl CLike {
    fn ty(&self, width: Width, signed: bool) -> &'static str {
        self.types[usize::from(width == Width::Long)][usize::from(signed)]
    }

    fn cast(&self, ty: &str, x: &Expression) -> Expression {
        // A signed value that was made unsigned is as it was.
        if let Some(width) = [Width::Word, Width::Long].into_iter().find(|&width| self.ty(width, true) == ty) {
            let unsigned = self.ty(width, false);
            let (outer, inner) = match self.static_cast {
                true => (format!("static_cast<{unsigned}>("), format!("static_cast<{ty}>(")),
                false => (format!("({unsigned})("), format!("({ty})")),
            };
            if let Some(rest) = x.text.strip_prefix(&outer)
                && rest.starts_with(&inner)
                && encloses(&x.text, outer.len() - 1)
            {
                return Expression::atom(format!("({rest}"));
            }
        }
        if self.static_cast {
            return Expression::atom(format!("static_cast<{ty}>({})", x.text));
        }
        Expression::atom(format!("({ty}){}", x.inner()))
    }
}

impl Syntax for CLike {
    fn literal(&self, value: u64, width: Width) -> String {
        let [before, behind] = self.constants[usize::from(width == Width::Long)];
        format!("{before}{}{behind}", hexadecimal(value))
    }

    fn operation(&self, op: Op, at: &[Expression]) -> Expression {
        let binary = |x: &Expression, y: &Expression| {
            Expression::operator(format!("{} {} {}", x.inner(), operator(op), y.inner()))
        };
        match op {
            Op::Extra(extra) => (self.extra)(extra, at),
            Op::Not(_) => Expression::atom(format!("~{}", at[0].inner())),
            Op::Sar(width) => {
                let shifted = binary(&self.cast(self.ty(width, true), &at[0]), &at[1]);
                self.cast(self.ty(width, false), &shifted)
            }
            Op::CompareSigned(_, width) => {
                let [x, y] = [0, 1].map(|i| self.cast(self.ty(width, true), &at[i]));
                binary(&x, &y)
            }
            Op::Select(_) => conditional(at),
            Op::Number | Op::Narrow => self.cast(self.ty(Width::Word, false), &at[0]),
            Op::Widen => self.cast(self.ty(Width::Long, false), &at[0]),
            Op::WidenSigned => {
                let signed = self.cast(self.ty(Width::Word, true), &at[0]);
                let long = self.cast(self.ty(Width::Long, true), &signed);
                self.cast(self.ty(Width::Long, false), &long)
            }
            _ => binary(&at[0], &at[1]),
        }
    }

    fn name(&self, name: &str, sort: Sort, value: &str) -> String {
        let ty = match sort {
            Sort::Truth => self.truth,
            Sort::Number(width) => self.ty(width, false),
        };
        format!("const {ty} {name} = {value};")
    }

    fn function(&self, function: &Function<'_>, statements: &[String], result: &str, alone: bool) -> String {
        let word = self.ty(Width::Word, false);
        let registers = [(Value::A, "a"), (Value::B, "b"), (Value::C, "c")];
        let parameters = registers.map(|(register, name)| {
            let unused = self.unused.filter(|_| !function.code.reads(register)).unwrap_or_default();
            format!("{unused}{word} {name}")
        });
        let unread = |code: &Code| {
            let unread = registers.iter().filter(|(register, _)| self.unused.is_none() && !code.reads(*register));
            indented(&unread.map(|(_, name)| format!("(void){name};")).collect::<Vec<_>>())
        };
        let before = self.before[usize::from(alone)];
        let mut text = block_comment(function.words);
        text.push_str(&format!("{before}{word} {}({}){}\n{{\n", function.name, parameters.join(", "), self.after));
        let nvidia = self.nvidia.zip(function.ptx);
        if let Some((nvidia, template)) = nvidia {
            let asm = [
                format!("{word} d;"),
                format!("asm(\"{template}\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));"),
                "return d;".to_string(),
            ];
            text.push_str(&format!("#ifdef {nvidia}\n{}", indented(&asm)));
        }
        let device = self.device.zip(function.device);
        if let Some((device, code)) = device {
            let condition = if nvidia.is_some() { "#elif defined " } else { "#ifdef " };
            let (statements, result) = body(self, code);
            let statements = format!("{}{}", indented(&statements), unread(code));
            text.push_str(&format!("{condition}{}\n{statements}    return {result};\n", device.is_defined));
        }
        let has_choice = nvidia.is_some() || device.is_some();
        if has_choice {
            text.push_str("#else\n");
        }
        text.push_str(&indented(statements));
        text.push_str(&unread(function.code));
        let end = if has_choice { "#endif\n" } else { "" };
        text.push_str(&format!("    return {result};\n{end}}}\n"));
        text
    }

    fn prelude(&self) -> &'static str {
        self.prelude
    }

    fn types(&self) -> Option<[[&'static str; 2]; 2]> {
        Some(self.types)
    }

    fn nvidia(&self) -> Option<&'static str> {
        self.nvidia
    }

    fn device(&self) -> Option<&'static Device> {
        self.device
    }

    fn file(&self, words: &[String], functions: &[String]) -> String {
        match self.guard {
            Guard::Macro => header(words, self.prelude, functions),
            Guard::Pragma => {
                let blank = if self.prelude.is_empty() { "" } else { "\n" };
                let functions = functions.join("\n");
                format!("{}#pragma once\n\n{}{blank}{functions}", block_comment(words), self.prelude)
            }
        }
    }
}

/// Rust.
pub(crate) struct Rust;

pub(crate) static RUST: Rust = Rust;

fn rust_type(width: Width, signed: bool) -> &'static str {
    match (width, signed) {
        (Width::Word, false) => "u32",
        (Width::Word, true) => "i32",
        (Width::Long, false) => "u64",
        (Width::Long, true) => "i64",
    }
}

impl Syntax for Rust {
    fn literal(&self, value: u64, width: Width) -> String {
        let suffix = rust_type(width, false);
        format!("{}_{suffix}", hexadecimal(value))
    }

    fn operation(&self, op: Op, at: &[Expression]) -> Expression {
        let cast = |x: &Expression, ty: &str| Expression::operator(format!("{} as {ty}", x.inner()));
        let binary = |x: &Expression, y: &Expression| {
            Expression::operator(format!("{} {} {}", x.inner(), operator(op), y.inner()))
        };
        let method = |name: &str| Expression::atom(format!("{}.{name}({})", at[0].inner(), at[1].text));
        match op {
            Op::Not(_) => Expression::atom(format!("!{}", at[0].inner())),
            Op::Add(_) => method("wrapping_add"),
            Op::Sub(_) => method("wrapping_sub"),
            Op::Mul(_) => method("wrapping_mul"),
            Op::Sar(width) => {
                let shifted = binary(&cast(&at[0], rust_type(width, true)), &at[1]);
                cast(&shifted, rust_type(width, false))
            }
            Op::CompareSigned(_, width) => {
                let [x, y] = [0, 1].map(|i| cast(&at[i], rust_type(width, true)));
                binary(&x, &y)
            }
            Op::Select(_) => {
                Expression::operator(format!("if {} {{ {} }} else {{ {} }}", at[0].text, at[1].text, at[2].text))
            }
            Op::Number | Op::Narrow => cast(&at[0], "u32"),
            Op::Widen => cast(&at[0], "u64"),
            Op::WidenSigned => Expression::operator(format!("{} as i32 as i64 as u64", at[0].inner())),
            _ => binary(&at[0], &at[1]),
        }
    }

    fn name(&self, name: &str, sort: Sort, value: &str) -> String {
        let ty = match sort {
            Sort::Truth => "bool",
            Sort::Number(width) => rust_type(width, false),
        };
        format!("let {name}: {ty} = {value};")
    }

    fn function(&self, function: &Function<'_>, statements: &[String], result: &str, _: bool) -> String {
        let parameters = [(Value::A, "a"), (Value::B, "b"), (Value::C, "c")].map(|(register, name)| {
            let unused = if function.code.reads(register) { "" } else { "_" };
            format!("{unused}{name}: u32")
        });
        format!(
            "{}#[inline]\n#[must_use]\npub const fn {}({}) -> u32 {{\n{}    {result}\n}}\n",
            line_comments("/// ", function.words),
            function.name,
            parameters.join(", "),
            indented(statements),
        )
    }

    fn prelude(&self) -> &'static str {
        ""
    }

    fn language(&self) -> Option<Language> {
        Some(Language::Rust)
    }

    fn file(&self, words: &[String], functions: &[String]) -> String {
        format!("{}\n{}", line_comments("//! ", words), functions.join("\n"))
    }
}

/// Python with NumPy.
pub(crate) struct Numpy;

pub(crate) static NUMPY: Numpy = Numpy;

fn numpy_type(width: Width, signed: bool) -> &'static str {
    match (width, signed) {
        (Width::Word, false) => "np.uint32",
        (Width::Word, true) => "np.int32",
        (Width::Long, false) => "np.uint64",
        (Width::Long, true) => "np.int64",
    }
}

impl Syntax for Numpy {
    fn literal(&self, value: u64, width: Width) -> String {
        format!("{}({})", numpy_type(width, false), hexadecimal(value))
    }

    fn operation(&self, op: Op, at: &[Expression]) -> Expression {
        let view = |x: &Expression, ty: &str| Expression::atom(format!("{}.view({ty})", x.inner()));
        let cast = |x: &Expression, ty: &str| Expression::atom(format!("{}.astype({ty})", x.inner()));
        // NumPy shifts integers of one type alone.
        let amount = |width: Width, signed: bool| match (width, signed) {
            (Width::Word, false) => at[1].clone(),
            (width, signed) => cast(&at[1], numpy_type(width, signed)),
        };
        let binary = |x: &Expression, y: &Expression| {
            Expression::operator(format!("{} {} {}", x.inner(), operator(op), y.inner()))
        };
        match op {
            Op::Not(_) => Expression::atom(format!("~{}", at[0].inner())),
            Op::Shl(width) | Op::Shr(width) => binary(&at[0], &amount(width, false)),
            Op::Sar(width) => {
                let shifted = binary(&view(&at[0], numpy_type(width, true)), &amount(width, true));
                view(&shifted, numpy_type(width, false))
            }
            Op::CompareSigned(_, width) => {
                let [x, y] = [0, 1].map(|i| view(&at[i], numpy_type(width, true)));
                binary(&x, &y)
            }
            Op::Select(_) => Expression::atom(format!("np.where({}, {}, {})", at[0].text, at[1].text, at[2].text)),
            Op::Number | Op::Narrow => cast(&at[0], "np.uint32"),
            Op::Widen => cast(&at[0], "np.uint64"),
            Op::WidenSigned => {
                let long = cast(&view(&at[0], "np.int32"), "np.int64");
                view(&long, "np.uint64")
            }
            _ => binary(&at[0], &at[1]),
        }
    }

    fn name(&self, name: &str, _: Sort, value: &str) -> String {
        format!("{name} = {value}")
    }

    fn function(&self, function: &Function<'_>, statements: &[String], result: &str, _: bool) -> String {
        let read: Vec<&str> = [(Value::A, "a"), (Value::B, "b"), (Value::C, "c")]
            .into_iter()
            .filter(|(register, _)| function.code.reads(*register))
            .map(|(_, name)| name)
            .collect();
        let words: String = function.words.join("\n    ");
        let mut body = format!("    \"\"\"{words}\n    \"\"\"\n");
        for name in read {
            body.push_str(&format!("    {name} = np.asarray({name}, np.uint32)\n"));
        }
        body.push_str("    with np.errstate(over=\"ignore\"):\n");
        let inner: Vec<String> = statements.iter().map(|statement| format!("    {statement}")).collect();
        body.push_str(&indented(&inner));
        body.push_str(&format!("        return {result}\n"));
        format!("def {}(a, b, c=0):\n{body}", function.name)
    }

    fn prelude(&self) -> &'static str {
        "import numpy as np\n\n\n"
    }

    fn file(&self, words: &[String], functions: &[String]) -> String {
        format!("\"\"\"{}\n\"\"\"\n\n{}{}", words.join("\n"), self.prelude(), functions.join("\n\n"))
    }
}

/// Languages of shaders, whose integers have 32 bits and are converted by calls.
pub(crate) struct Shader {
    /// The calls that make a signed number of a word, and a word of a signed number.
    signed: [&'static str; 2],
    /// The type of a word, which is also the call that makes one of a truth value.
    word: &'static str,
    /// Names a value: of a truth value, and of a word.
    names: [&'static str; 2],
    /// What stands between a function's name and its body.
    parameters: &'static str,
    /// What stands before a function's name.
    before: &'static str,
    /// Whether `select(y, x, truth)` chooses, and not `truth ? x : y`.
    has_select: bool,
    /// What a file says of itself, if more than others.
    words: &'static str,
}

pub(crate) static WGSL: Shader = Shader {
    signed: ["bitcast<i32>", "bitcast<u32>"],
    word: "u32",
    names: ["let", "let"],
    parameters: "(a: u32, b: u32, c: u32) -> u32 {",
    before: "fn",
    has_select: true,
    words: "",
};

pub(crate) static GLSL: Shader = Shader {
    signed: ["int", "uint"],
    word: "uint",
    names: ["bool", "uint"],
    parameters: "(uint a, uint b, uint c)\n{",
    before: "uint",
    has_select: false,
    words: "For GLSL 1.30 and ESSL 3.00 or later; a shader includes it behind its #version.",
};

impl Syntax for Shader {
    fn literal(&self, value: u64, _: Width) -> String {
        format!("{}u", hexadecimal(value))
    }

    fn operation(&self, op: Op, at: &[Expression]) -> Expression {
        let call = |name: &str, x: &Expression| Expression::atom(format!("{name}({})", x.text));
        let binary = |x: &Expression, y: &Expression| {
            Expression::operator(format!("{} {} {}", x.inner(), operator(op), y.inner()))
        };
        let [signed, unsigned] = self.signed;
        match op {
            Op::Not(_) => Expression::atom(format!("~{}", at[0].inner())),
            Op::Sar(_) => call(unsigned, &binary(&call(signed, &at[0]), &at[1])),
            Op::CompareSigned(..) => {
                let [x, y] = [0, 1].map(|i| call(signed, &at[i]));
                binary(&x, &y)
            }
            Op::Select(_) if self.has_select => {
                Expression::atom(format!("select({}, {}, {})", at[2].text, at[1].text, at[0].text))
            }
            Op::Select(_) => conditional(at),
            Op::Number => call(self.word, &at[0]),
            _ => binary(&at[0], &at[1]),
        }
    }

    fn name(&self, name: &str, sort: Sort, value: &str) -> String {
        format!("{} {name} = {value};", self.names[usize::from(sort != Sort::Truth)])
    }

    fn function(&self, function: &Function<'_>, statements: &[String], result: &str, _: bool) -> String {
        format!(
            "{}{} {}{}\n{}    return {result};\n}}\n",
            line_comments("// ", function.words),
            self.before,
            function.name,
            self.parameters,
            indented(statements),
        )
    }

    fn prelude(&self) -> &'static str {
        ""
    }

    fn file(&self, words: &[String], functions: &[String]) -> String {
        let mut words = words.to_vec();
        words.extend(Some(self.words).filter(|more| !more.is_empty()).map(str::to_string));
        format!("{}\n{}", line_comments("// ", &words), functions.join("\n"))
    }
}
