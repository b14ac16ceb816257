//! LLVM IR: an instruction for each operation, and a name for each value.

use vop::isa::types::Comparison;
use vop_ptx::find::Language;

use crate::code::{Op, Sort, Width};
use crate::print::{Expression, Function, Syntax, line_comments, no_extra};

/// LLVM IR, without pointers and without attributes that some versions lack.
pub(crate) struct Llvm;

pub(crate) static LLVM: Llvm = Llvm;

/// What stands for the value of an instruction's first line in the second.
const FIRST: &str = "%_";

fn ty(width: Width) -> &'static str {
    match width {
        Width::Word => "i32",
        Width::Long => "i64",
    }
}

fn relation(comparison: Comparison, signed: bool) -> &'static str {
    match (comparison, signed) {
        (Comparison::Eq, _) => "eq",
        (Comparison::Ne, _) => "ne",
        (Comparison::Lt, false) => "ult",
        (Comparison::Le, false) => "ule",
        (Comparison::Gt, false) => "ugt",
        (Comparison::Ge, false) => "uge",
        (Comparison::Lt, true) => "slt",
        (Comparison::Le, true) => "sle",
        (Comparison::Gt, true) => "sgt",
        (Comparison::Ge, true) => "sge",
    }
}

impl Syntax for Llvm {
    fn literal(&self, value: u64, width: Width) -> String {
        // A constant must be a number of its type, which is signed in writing.
        match width {
            Width::Word => (value as u32 as i32).to_string(),
            Width::Long => (value as i64).to_string(),
        }
    }

    fn operation(&self, op: Op, at: &[Expression]) -> Expression {
        let binary = |name: &str, width: Width| format!("{name} {} {}, {}", ty(width), at[0].text, at[1].text);
        let shift = |name: &str, width: Width| {
            let is_constant = !at[1].text.starts_with('%');
            match width {
                Width::Long if !is_constant => {
                    format!("zext i32 {} to i64\n{name} i64 {}, {FIRST}", at[1].text, at[0].text)
                }
                width => binary(name, width),
            }
        };
        let convert = |name: &str, from: &str, to: &str| format!("{name} {from} {} to {to}", at[0].text);
        Expression::atom(match op {
            Op::And(width) => binary("and", width),
            Op::Or(width) => binary("or", width),
            Op::Xor(width) => binary("xor", width),
            Op::Not(width) => format!("xor {} {}, -1", ty(width), at[0].text),
            Op::Add(width) => binary("add", width),
            Op::Sub(width) => binary("sub", width),
            Op::Mul(width) => binary("mul", width),
            Op::Shl(width) => shift("shl", width),
            Op::Shr(width) => shift("lshr", width),
            Op::Sar(width) => shift("ashr", width),
            Op::Compare(comparison, width) => binary(&format!("icmp {}", relation(comparison, false)), width),
            Op::CompareSigned(comparison, width) => binary(&format!("icmp {}", relation(comparison, true)), width),
            Op::Select(width) => {
                let ty = ty(width);
                format!("select i1 {}, {ty} {}, {ty} {}", at[0].text, at[1].text, at[2].text)
            }
            Op::Number => convert("zext", "i1", "i32"),
            Op::Widen => convert("zext", "i32", "i64"),
            Op::WidenSigned => convert("sext", "i32", "i64"),
            Op::Narrow => convert("trunc", "i64", "i32"),
            Op::Extra(extra) => return no_extra(extra, at),
        })
    }

    fn name(&self, name: &str, _: Sort, value: &str) -> String {
        match value.split_once('\n') {
            Some((first, second)) => {
                let before = format!("%{name}.n");
                format!("{before} = {first}\n  %{name} = {}", second.replace(FIRST, &before))
            }
            None => format!("%{name} = {value}"),
        }
    }

    fn function(&self, function: &Function<'_>, statements: &[String], result: &str, alone: bool) -> String {
        let (linkage, inlined) = if alone { ("", "") } else { ("internal ", " alwaysinline") };
        let lines: String = statements.iter().map(|statement| format!("  {statement}\n")).collect();
        format!(
            "{}define {linkage}i32 @{}(i32 %a, i32 %b, i32 %c) nounwind{inlined} {{\n{lines}  ret i32 {result}\n}}\n",
            line_comments("; ", function.words),
            function.name,
        )
    }

    fn prelude(&self) -> &'static str {
        ""
    }

    fn language(&self) -> Option<Language> {
        Some(Language::LlvmIr)
    }

    fn read(&self, name: &str) -> String {
        format!("%{name}")
    }

    fn names_all(&self) -> bool {
        true
    }

    fn file(&self, words: &[String], functions: &[String]) -> String {
        format!("{}\n{}", line_comments("; ", words), functions.join("\n"))
    }
}
