//! One instruction and the values of its operands, as the command line gives them.

use vop::{Form, Instruction, Operand, Parser, Semantics};

use crate::{Failure, output, render};

/// Whose answer is asked for.
#[derive(clap::Args)]
pub(crate) struct SemanticsArg {
    /// Whose answer: `isa`, the manual's; `ptxas`, what the code of the newest ptxas computes; `ptxas-12.4`, an older one's.
    #[arg(long, default_value_t)]
    pub(crate) semantics: Semantics,
}

/// Reads the one instruction of an argument; its operands may be left out. Its faults are drawn.
pub(crate) fn read(text: &str) -> Result<Instruction<'_>, Failure> {
    Parser::new().allow_bare().parse(text).map_err(|faults| {
        output::notice(&render::all(&faults, text));
        Failure::Said
    })
}

/// A register value: decimal, also negative, or hexadecimal (`0x`) or binary (`0b`), of 32 bits; `_` may group digits.
pub(crate) fn value(text: &str) -> Result<u32, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let plain = digits.replace('_', "");
    let lower = plain.to_ascii_lowercase();
    let parsed = if let Some(hex) = lower.strip_prefix("0x") {
        u64::from_str_radix(hex, 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else {
        lower.parse()
    };
    let signed = !digits.starts_with(['+', '-']);
    match parsed {
        Ok(value) if signed && negative && value <= 1 << 31 => Ok((value as u32).wrapping_neg()),
        Ok(value) if signed && !negative && value <= u32::MAX.into() => Ok(value as u32),
        Ok(_) if signed => Err(format!("`{text}` does not fit 32 bits")),
        _ => Err(format!("`{text}` is not a number: write decimal or hexadecimal, such as -5 or 0xfffffffb")),
    }
}

/// The values of a, b and c: those given, in order, and the immediates of the text. Where an operand is an immediate
/// its value may be left out, or be given as `-`, or again.
pub(crate) fn inputs(instruction: &Instruction<'_>, given: &[&str]) -> Result<[u32; 3], String> {
    let form = instruction.form;
    let operands = [Some(instruction.a), Some(instruction.b), instruction.c.filter(|_| form.uses_c())];
    let immediates = operands.map(|operand| match operand {
        Some(Operand::Immediate { value, .. }) => Some(value),
        _ => None,
    });
    let wanted = operands.iter().flatten().count();
    let registers = wanted - immediates.iter().flatten().count();
    // One value for each operand, or one for each register.
    let skip_immediates = given.len() < wanted && given.len() == registers;
    let mut given = given.iter();
    let mut values = [0; 3];
    for (i, name) in ["a", "b", "c"].into_iter().enumerate() {
        let next = if skip_immediates && immediates[i].is_some() { None } else { given.next() };
        values[i] = match (next, immediates[i]) {
            (None | Some(&"-"), Some(immediate)) => immediate,
            (Some(text), Some(immediate)) => match value(text)? {
                same if same == immediate => same,
                _ => {
                    return Err(format!(
                        "operand {name} is the immediate {immediate:#x}, yet its value is given as {text}"
                    ));
                }
            },
            (Some(&"-") | None, None) if operands[i].is_none() => 0,
            (Some(&"-") | None, None) => return Err(format!("the value of {name} is missing: {}", needs(form))),
            (Some(text), None) => value(text)?,
        };
    }
    // A register that stands for two operands has one value, whatever is added to it.
    for i in 1..3 {
        if let Some((j, name)) = twin(&operands, i)
            && values[i] != values[j]
        {
            return Err(format!(
                "`{name}` stands for two operands, yet has two values, {:#x} and {:#x}",
                values[j], values[i]
            ));
        }
    }
    add_constants(&operands, &mut values);
    if given.next().is_some() {
        return Err(format!("too many values: {}", needs(form)));
    }
    Ok(values)
}

/// The operand before operand `i` that is the same register, and the register's name.
fn twin<'t>(operands: &[Option<Operand<'t>>; 3], i: usize) -> Option<(usize, &'t str)> {
    let register = |i: usize| operands[i].and_then(Operand::register);
    let name = register(i)?;
    (0..i).find(|&j| register(j) == Some(name)).map(|j| (j, name))
}

/// Makes values of operands out of those of registers.
fn add_constants(operands: &[Option<Operand<'_>>; 3], values: &mut [u32; 3]) {
    for (operand, value) in operands.iter().zip(values) {
        if let Some(Operand::Sum { addend, .. }) = operand {
            *value = value.wrapping_add(*addend);
        }
    }
}

/// Values that show every stage, and what ptxas does otherwise if that is asked for, as far as the text leaves a choice:
/// immediates are what they are, and operands that are one register have one value.
pub(crate) fn telling(instruction: &Instruction<'_>, semantics: Semantics) -> [u32; 3] {
    if let Some(divergence) = instruction.divergence(semantics) {
        return divergence.inputs;
    }
    let mut values = instruction.form.telling_inputs();
    let operands = [Some(instruction.a), Some(instruction.b), instruction.c];
    for i in 0..3 {
        if let Some(Operand::Immediate { value, .. }) = operands[i] {
            values[i] = value;
        }
        if let Some((j, _)) = twin(&operands, i) {
            values[i] = values[j];
        }
    }
    add_constants(&operands, &mut values);
    values
}

fn needs(form: Form) -> String {
    format!("`{form}` needs values for {}", if form.uses_c() { "a, b and c" } else { "a and b" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (text, value) in [
            ("0", 0),
            ("-1", u32::MAX),
            ("0xFF", 255),
            ("-0x80000000", 1 << 31),
            ("0b11", 3),
            ("4294967295", u32::MAX),
            ("1_000", 1000),
        ] {
            assert_eq!(self::value(text), Ok(value), "{text}");
        }
        for text in ["", "-", "--1", "+-1", "x", "0x", "4294967296", "-2147483649", "1.5", "0x1_0000_0000"] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn immediates_have_their_values() {
        let inputs = |text, given: &[&str]| inputs(&vop::parse(text).unwrap(), given);
        let text = "vadd.u32.u32.u32.add d, a, 7, c";
        assert_eq!(inputs(text, &["1", "2"]), Ok([1, 7, 2]));
        assert_eq!(inputs(text, &["1", "-", "2"]), Ok([1, 7, 2]));
        assert_eq!(inputs(text, &["1", "7", "2"]), Ok([1, 7, 2]));
        assert!(inputs(text, &["1", "8", "2"]).is_err());
        assert!(inputs(text, &["1"]).is_err());
        assert!(inputs(text, &["1", "7", "2", "3"]).is_err());
        assert_eq!(inputs("vadd.u32.u32.u32 d, a, b", &["1", "2", "-"]), Ok([1, 2, 0]));
        assert_eq!(inputs("vadd.u32.u32.u32 d, a, b", &["1", "2", "9"]), Ok([1, 2, 9]));
        assert_eq!(inputs("vadd.u32.u32.u32 d, a, a", &["2", "2"]), Ok([2, 2, 0]));
        assert!(inputs("vadd.u32.u32.u32 d, a, a", &["1", "2"]).is_err());
    }
}
