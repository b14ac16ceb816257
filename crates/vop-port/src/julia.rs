//! Julia: functions of `UInt32`, which a dot applies to arrays.

use vop::lower::Value;

use crate::code::{Op, Sort, Width};
use crate::print::{Expression, Function, Syntax, indented, operator};

pub(crate) struct Julia;

pub(crate) static JULIA: Julia = Julia;

fn julia_type(width: Width, signed: bool) -> &'static str {
    match (width, signed) {
        (Width::Word, false) => "UInt32",
        (Width::Word, true) => "Int32",
        (Width::Long, false) => "UInt64",
        (Width::Long, true) => "Int64",
    }
}

impl Syntax for Julia {
    /// The number of digits says the type: eight are a word.
    fn literal(&self, value: u64, width: Width) -> String {
        match width {
            Width::Word => format!("0x{value:08x}"),
            Width::Long => format!("0x{value:016x}"),
        }
    }

    fn amount(&self, word: u32) -> String {
        word.to_string()
    }

    fn operation(&self, op: Op, at: &[Expression]) -> Expression {
        let call = |name: &str, text: &str| Expression::atom(format!("{name}({text})"));
        let reinterpreted = |ty: &str, text: &str| Expression::atom(format!("reinterpret({ty}, {text})"));
        let binary = |x: &Expression, y: &Expression| {
            Expression::operator(format!("{} {} {}", x.inner(), operator(op), y.inner()))
        };
        match op {
            Op::Not(_) => Expression::atom(format!("~{}", at[0].inner())),
            Op::Xor(_) => call("xor", &format!("{}, {}", at[0].text, at[1].text)),
            Op::Sar(width) => {
                let shifted = binary(&reinterpreted(julia_type(width, true), &at[0].text), &at[1]);
                reinterpreted(julia_type(width, false), &shifted.text)
            }
            Op::CompareSigned(_, width) => {
                let [x, y] = [0, 1].map(|i| reinterpreted(julia_type(width, true), &at[i].text));
                binary(&x, &y)
            }
            Op::Select(_) => call("ifelse", &format!("{}, {}, {}", at[0].text, at[1].text, at[2].text)),
            Op::Number => call("UInt32", &at[0].text),
            Op::Narrow => Expression::operator(format!("{} % UInt32", at[0].inner())),
            Op::Widen => call("UInt64", &at[0].text),
            Op::WidenSigned => {
                let signed = reinterpreted("Int32", &at[0].text);
                reinterpreted("UInt64", &call("Int64", &signed.text).text)
            }
            _ => binary(&at[0], &at[1]),
        }
    }

    fn name(&self, name: &str, _: Sort, value: &str) -> String {
        format!("{name} = {value}")
    }

    fn function(&self, function: &Function<'_>, statements: &[String], result: &str, _: bool) -> String {
        let parameters = [(Value::A, "a"), (Value::B, "b"), (Value::C, "c")].map(|(register, name)| {
            let default = if register == Value::C && !function.code.reads(register) { " = 0x00000000" } else { "" };
            format!("{name}::UInt32{default}")
        });
        format!(
            "\"\"\"\n    {}(a, b, c)\n\n{}\n\"\"\"\n@inline function {}({})::UInt32\n{}    return {result}\nend\n",
            function.name,
            function.words.join("\n"),
            function.name,
            parameters.join(", "),
            indented(statements),
        )
    }

    fn prelude(&self) -> &'static str {
        ""
    }

    fn file(&self, words: &[String], functions: &[String]) -> String {
        let words: String = words.iter().map(|line| format!("# {line}\n")).collect();
        format!("{words}\n{}", functions.join("\n"))
    }
}
