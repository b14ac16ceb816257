//! The `asm` statements of C, C++, CUDA, HIP, OpenCL, Rust and LLVM IR with their operands: what a rewriter of sources needs.

use std::collections::HashMap;
use std::ops::Range;

use crate::find;
use crate::find::Language;
pub use crate::find::{Access, Class, SourceString};

/// An `asm` statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AsmStatement {
    /// From its keyword to its closing bracket, in bytes of the file; the `;` is not a part. In Rust from the path of the macro.
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
    /// The constraint, with quotes, `"=r"`; or as Rust writes it, `in(reg32)`.
    pub constraint: String,
    /// What holds it.
    pub class: Class,
    /// Who writes it. An output that an input is tied to, as by `"0"`, is [`Access::InOut`].
    pub access: Access,
    /// The output, by its number, that a tied input begins as.
    pub tied_to: Option<usize>,
    /// The expression between its brackets, in bytes of the file; an argument of LLVM IR with its type. Empty for a result of LLVM IR.
    pub expression: Range<usize>,
    /// The place that gets the value, if it is not the expression: Rust's `inout(reg32) a => b`.
    pub result: Option<Range<usize>>,
}

/// The `asm` statements of a file, in their order, of whatever machine. In C's syntax a statement that a macro's use makes is not among
/// them; one in the macro's body is. So is none without operands. In Rust they are uses of `asm!`, and in LLVM IR calls of an `asm`. Files of
/// other languages have none.
///
/// ```
/// use vop_ptx::{asm, find::Language};
/// let source = br#"asm volatile("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d[i]) : "r"(a), "r"(b), "r"(0));"#;
/// let statements = asm::statements(source, Language::Cuda);
/// assert_eq!(statements[0].template, "vadd4.u32.u32.u32 %0, %1, %2, %3;");
/// assert_eq!(&source[statements[0].operands[0].expression.clone()], b"d[i]");
/// assert_eq!(source[statements[0].span.end], b';');
///
/// let source = br#"asm!("vmin.u32.u32.u32 {d}, {0}, {0};", in(reg32) a + 1, d = inout(reg32) x => y);"#;
/// let statements = asm::statements(source, Language::Rust);
/// assert_eq!(statements[0].template, "vmin.u32.u32.u32 %d, %0, %0;\n");
/// assert_eq!(&source[statements[0].operands[0].expression.clone()], b"a + 1");
/// assert_eq!(&source[statements[0].operands[1].result.clone().unwrap()], b"y");
/// ```
pub fn statements(source: &[u8], language: Language) -> Vec<AsmStatement> {
    let mut all: Vec<AsmStatement> = Vec::new();
    let mut known: HashMap<usize, usize> = HashMap::new();
    for text in find::asm_texts(source, language) {
        let asm = &text.asm;
        let mut span = asm.at..asm.end.unwrap_or(asm.at);
        let mut unknown = None;
        let mut in_macro = text.in_macro;
        if language == Language::Rust {
            match rust_macro(source, span.clone()) {
                Ok(start) => span.start = start,
                Err(why) => unknown = Some(why),
            }
            in_macro |= source[span.clone()].contains(&b'$');
        }
        if asm.end.is_none() {
            unknown = unknown.or(Some("a macro writes a part of the statement"));
        } else if !asm.complete && language == Language::Rust {
            unknown = unknown.or(Some("it has an operand that is not known"));
        } else if !text.is_whole {
            let why = "a macro, a format or an operand writes a part of the instruction or of the operands";
            unknown = unknown.or(Some(why));
        }
        let mut operands = Vec::new();
        let output = |name: &str| {
            asm.operands.iter().position(|one| one.access != Access::In && one.name.as_deref() == Some(name))
        };
        for operand in &asm.operands {
            let place = match language {
                Language::Rust => Some(with_result(source, operand.expression_place.clone())),
                Language::LlvmIr if operand.access != Access::In => {
                    Some((operand.place.start..operand.place.start, None))
                }
                Language::LlvmIr => Some((operand.expression_place.clone(), None)),
                // What the file has in the brackets; a macro that writes the operand leaves no brackets there.
                _ => bracketed(source, operand.whole.clone()).map(|place| (place, None)),
            };
            let Some((expression, result)) = place else {
                unknown = unknown.or(Some("a macro writes an operand"));
                break;
            };
            // A place in memory that LLVM's text writes.
            let is_place = language == Language::LlvmIr && operand.written.contains('*');
            let class = if is_place { Class::Memory } else { operand.class };
            operands.push(AsmOperand {
                name: operand.name.clone(),
                constraint: operand.written.clone(),
                class,
                access: operand.access,
                tied_to: match operand.tied_name() {
                    Some(name) => output(name),
                    None => operand.written.trim_matches('"').trim_start_matches(['&', '%']).parse().ok(),
                },
                expression,
                result,
            });
        }
        let statement = AsmStatement { span, template: text.template, operands, in_macro, unknown };
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

/// The strings of a file in C's syntax or Python that hold source in C's syntax with an `asm`, in their order.
///
/// ```
/// use vop_ptx::{asm, find::Language};
/// let source = br#"KERNEL = """uint f(uint a) { uint d; asm("brev.b32 %0, %1;" : "=r"(d) : "r"(a)); return d; }""""#;
/// let strings = asm::strings(source, Language::Python);
/// let statements = asm::statements(strings[0].text(), Language::Cuda);
/// assert_eq!(strings[0].editable(source, statements[0].span.clone()), Some(37..79));
/// ```
pub fn strings(source: &[u8], language: Language) -> Vec<SourceString> {
    find::source_strings(source, language)
}

/// Where the path of an `asm!` begins, `core::arch::asm!`, or why the use of a macro is no such statement.
fn rust_macro(source: &[u8], span: Range<usize>) -> Result<usize, &'static str> {
    let text = source.get(span.clone()).unwrap_or_default();
    if !text.starts_with(b"asm") {
        return Err("it is no statement in a function: only `asm!` is");
    }
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, b"options(") {
        rest = &rest[at + b"options(".len()..];
        let list = &rest[..memchr::memchr(b')', rest).unwrap_or(rest.len())];
        let mut options = list.split(|&b| b == b',').map(<[u8]>::trim_ascii);
        if options.any(|option| matches!(option, b"raw" | b"noreturn")) {
            return Err("its options say `raw` or `noreturn`");
        }
    }
    let mut start = span.start;
    while let Some(before) = source[..start].strip_suffix(b"::") {
        let name = before.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        start = before.len() - name;
    }
    Ok(start)
}

/// The parts of Rust's `a => b`.
fn with_result(source: &[u8], place: Range<usize>) -> (Range<usize>, Option<Range<usize>>) {
    let text = &source[place.clone()];
    // No other arrow can stand outside brackets of an expression.
    match memchr::memmem::rfind(text, b"=>") {
        Some(arrow) if !text[arrow..].iter().any(|b| matches!(b, b'}' | b')')) => {
            let value = place.start..place.start + text[..arrow].trim_ascii_end().len();
            let behind = &text[arrow + 2..];
            let start = place.end - behind.trim_ascii_start().len();
            (value, Some(start..place.end))
        }
        _ => (place, None),
    }
}
