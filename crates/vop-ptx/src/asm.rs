//! The `asm` statements of C, C++, CUDA, HIP and OpenCL with their operands: what a rewriter of sources needs.

use std::collections::HashMap;
use std::ops::Range;

use crate::find;
pub use crate::find::{Access, Class};

/// An `asm` statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AsmStatement {
    /// From its keyword to its closing bracket, in bytes of the file; the `;` is not a part.
    pub span: Range<usize>,
    /// The template as plain PTX: escape sequences decoded, adjacent literals joined, and every placeholder (`%0`, `%[x]`) written as
    /// `%0` or `%x`.
    pub template: String,
    /// The operands, in the order of their numbers.
    pub operands: Vec<AsmOperand>,
    /// Whether it stands in a macro's body, so that expressions may name the macro's parameters.
    pub in_macro: bool,
    /// Why its text is not known from the file alone, if it is not.
    pub unknown: Option<&'static str>,
}

impl AsmStatement {
    /// Whether the template mentions a video instruction.
    pub fn is_video(&self) -> bool {
        find::may_contain(self.template.as_bytes())
    }
}

/// An operand of an `asm` statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AsmOperand {
    /// `%[name]`, without brackets.
    pub name: Option<String>,
    /// The constraint, with quotes: `"=r"`.
    pub constraint: String,
    /// What holds it.
    pub class: Class,
    /// Who writes it. An output that an input is tied to, as by `"0"`, is [`Access::InOut`].
    pub access: Access,
    /// The output, by its number, that a tied input begins as.
    pub tied_to: Option<usize>,
    /// The expression between its brackets, in bytes of the file.
    pub expression: Range<usize>,
}

/// The `asm` statements of a file in C's syntax, in their order, of whatever machine. A statement that a macro's use makes is not among them;
/// one in the macro's body is. So is none without operands.
///
/// ```
/// let source = br#"asm volatile("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d[i]) : "r"(a), "r"(b), "r"(0));"#;
/// let statements = vop_ptx::asm::statements(source);
/// assert_eq!(statements[0].template, "vadd4.u32.u32.u32 %0, %1, %2, %3;");
/// assert_eq!(&source[statements[0].operands[0].expression.clone()], b"d[i]");
/// assert_eq!(source[statements[0].span.end], b';');
/// ```
pub fn statements(source: &[u8]) -> Vec<AsmStatement> {
    let mut all: Vec<AsmStatement> = Vec::new();
    let mut known: HashMap<usize, usize> = HashMap::new();
    for text in find::asm_texts(source) {
        let asm = &text.asm;
        let span = asm.at..asm.end.unwrap_or(asm.at);
        let mut unknown = None;
        if asm.end.is_none() {
            unknown = Some("a macro writes a part of the statement");
        } else if !text.is_whole {
            unknown = Some("a macro, a format or an operand writes a part of the instruction or of the operands");
        }
        let mut operands = Vec::new();
        for operand in &asm.operands {
            // The expression is what the file has in the brackets; a macro that writes the operand leaves no brackets there.
            let Some(expression) = bracketed(source, operand.whole.clone()) else {
                unknown = unknown.or(Some("a macro writes an operand"));
                break;
            };
            operands.push(AsmOperand {
                name: operand.name.clone(),
                constraint: operand.written.clone(),
                class: operand.class,
                access: operand.access,
                tied_to: operand.written.trim_matches('"').trim_start_matches(['&', '%']).parse().ok(),
                expression,
            });
        }
        let statement = AsmStatement { span, template: text.template, operands, in_macro: text.in_macro, unknown };
        // Another branch of an `#if` inside it.
        match *known.entry(statement.span.start).or_insert(all.len()) {
            number if number == all.len() => all.push(statement),
            number if all[number] == statement => {}
            number => {
                all[number].unknown = Some("`#if` or two definitions of a macro give the statement more than one text");
            }
        }
    }
    all.sort_by_key(|statement| statement.span.start);
    all
}

/// What stands between the last brackets of an operand, `[name] "=r" (…)`, if it is written so.
fn bracketed(source: &[u8], whole: Range<usize>) -> Option<Range<usize>> {
    let text = source.get(whole.clone())?;
    if !matches!(text.first()?, b'"' | b'[') || *text.last()? != b')' {
        return None;
    }
    // Behind the constraint, whose text has no quotes or brackets in it.
    let quotes: Vec<usize> = text.iter().enumerate().filter(|(_, b)| **b == b'"').map(|(i, _)| i).take(2).collect();
    let &second = quotes.get(1)?;
    let open = second + 1 + text[second + 1..].iter().position(|b| !b.is_ascii_whitespace())?;
    if text[open] != b'(' {
        return None;
    }
    let inner = whole.start + open + 1..whole.end - 1;
    let trimmed = source[inner.clone()].trim_ascii_start();
    let start = inner.end - trimmed.len();
    Some(start..start + trimmed.trim_ascii_end().len())
}
