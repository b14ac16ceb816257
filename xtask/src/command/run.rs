//! `cargo xtask sass run`.

use std::io::Write;

use vop::{Instruction, Operand};

use super::{Compilation, Compiled, Failure};

/// Compute d with the machine code that ptxas makes of a form, and as the manual says.
#[derive(clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Example:
  cargo xtask sass run 'vadd.u32.s32.s32.sat d.b0, a, b, c' -16 5 0x100"
)]
pub(crate) struct Args {
    #[command(flatten)]
    compilation: Compilation,
    /// The value of register a, decimal or hexadecimal, perhaps negative.
    #[arg(value_parser = value)]
    a: u32,
    /// The value of register b.
    #[arg(value_parser = value)]
    b: u32,
    /// The value of register c.
    #[arg(value_parser = value, default_value = "0")]
    c: u32,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let Compiled { text, code, by, version } = args.compilation.compile()?;
    let mut rows = vec![(by, code.run(args.a, args.b, args.c)?)];
    if let Some((instruction, [a, b, c])) = understood(&text, [args.a, args.b, args.c]) {
        if let Ok(semantics) = format!("ptxas-{version}").parse() {
            rows.push((format!("vop, --semantics {semantics}"), instruction.form.eval_as(semantics, a, b, c)));
        }
        rows.push(("the manual".to_owned(), instruction.form.eval(a, b, c)));
    }
    let width = rows.iter().map(|(source, _)| source.len()).max().unwrap_or(0);
    let mut out = std::io::stdout().lock();
    for (source, d) in rows {
        writeln!(out, "{source:<width$}   {d:#010x}")?;
    }
    Ok(())
}

/// The text as the library reads it, if it does, and the values of its operands.
fn understood(text: &str, registers: [u32; 3]) -> Option<(Instruction<'_>, [u32; 3])> {
    let instruction = vop::parse(text).ok().filter(|instruction| instruction.guard.is_none())?;
    let register = |name| ["a", "b", "c"].iter().position(|&known| known == name).map(|i| registers[i]);
    let value = |operand| match operand {
        Operand::Register(name) => register(name),
        Operand::Sum { register: name, addend } => Some(register(name)?.wrapping_add(addend)),
        Operand::Immediate { value, .. } => Some(value),
    };
    let c = instruction.c.map_or(Some(0), value)?;
    Some((instruction, [value(instruction.a)?, value(instruction.b)?, c]))
}

/// A register's value: 32 bits, decimal or hexadecimal, perhaps with a minus.
fn value(text: &str) -> Result<u32, String> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let magnitude = match digits.strip_prefix("0x") {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16),
        None => digits.parse(),
    };
    let magnitude = magnitude.ok().filter(|_| !digits.contains(['+', '-'])).ok_or("write it like -16 or 0xfffffff0")?;
    let value = if negative { -magnitude } else { magnitude };
    u32::try_from(value)
        .or(i32::try_from(value).map(|value| value as u32))
        .map_err(|_| "it has more than 32 bits".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (text, expected) in [("255", 255), ("0xff", 255), ("-16", 0xffff_fff0), ("-0x80000000", 1 << 31)] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        for text in ["", "-", "--1", "+1", "0x", "0x+1", "4294967296", "-2147483649", "c"] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn operands_have_their_values() {
        let values = |text| understood(text, [1, 2, 3]).map(|(_, values)| values);
        assert_eq!(values("vadd.u32.u32.u32.add d, b, 7, c"), Some([2, 7, 3]));
        assert_eq!(values("vadd.u32.u32.u32 d, a, a"), Some([1, 1, 0]));
        assert_eq!(values("{ add.u32 d, a, b; }"), None);
        assert_eq!(values("vadd.u32.u32.u32 d, a, x"), None);
    }
}
