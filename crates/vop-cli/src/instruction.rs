//! One instruction and the values of its operands, as the command line gives them.

use std::num::NonZeroUsize;

use vop::{Instruction, Parser, Places, Semantics};
use vop_port::RequestError;

use crate::{Failure, output};

/// Whether the manual or a release of ptxas decides the result.
#[derive(clap::Args)]
pub(crate) struct SemanticsArg {
    /// Whose result: `isa` is the manual's, `ptxas` that of the newest ptxas's code, `ptxas-12.4` that of an older one's.
    #[arg(long, default_value_t)]
    pub(crate) semantics: Semantics,
}

/// Reads the one instruction of an argument; its operands may be left out. Its faults are drawn.
pub(crate) fn read(text: &str) -> Result<Instruction<'_>, Failure> {
    read_with_places(text).map(|(instruction, _)| instruction)
}

/// As [`read`], with the places of the instruction's parts, which lints need.
pub(crate) fn read_with_places(text: &str) -> Result<(Instruction<'_>, Places), Failure> {
    Parser::new().allow_bare().parse_with_places(text).map_err(|faults| {
        output::diagnostics(&faults, text);
        Failure::Said
    })
}

/// Says what is wrong with a text that was to be ported: drawn, if it was read as a video instruction.
pub(crate) fn say_refused(error: &RequestError, text: &str) {
    match error {
        RequestError::Faults(faults) => output::diagnostics(faults, text),
        other => {
            let help = other.help().map(|help| format!("; {help}")).unwrap_or_default();
            output::error(&format!("{other}{help}"));
        }
    }
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
        _ => Err(format!(
            "`{text}` is not a number: write decimal, hexadecimal or binary, such as -5, 0xfffffffb or 0b101"
        )),
    }
}

/// A number of cores.
pub(crate) fn cores(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a number of cores is a whole number from 1".to_owned())
}

/// The values of a, b and c: those given, in order, and the immediates of the text ([`Instruction::inputs`]); `-` is none.
pub(crate) fn inputs(instruction: &Instruction<'_>, given: &[&str]) -> Result<[u32; 3], String> {
    let given: Result<Vec<Option<u32>>, String> =
        given.iter().map(|&text| if text == "-" { Ok(None) } else { value(text).map(Some) }).collect();
    instruction.inputs(&given?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_is_optional_where_it_is_not_read() {
        let read = |text, given: &[&str]| {
            let instruction = Parser::new().allow_bare().parse(text).expect("legal");
            inputs(&instruction, given)
        };
        for given in [&["1", "2"][..], &["1", "2", "-"]] {
            assert_eq!(read("vadd4.u32.u32.u32", given), Ok([1, 2, 0]));
            assert_eq!(read("vadd4.u32.u32.u32 d, x, y, y", given), Ok([1, 2, 2]));
            assert_eq!(read("vadd4.u32.u32.u32 d, x, y, x", given), Ok([1, 2, 1]));
            assert!(read("vadd4.u32.u32.u32.add", given).is_err());
            assert!(read("vadd4.u32.u32.u32 d.b0, a, b, c", given).is_err());
        }
        assert_eq!(read("vadd4.u32.u32.u32", &["1", "2", "3"]), Ok([1, 2, 3]));
        assert_eq!(read("vadd.u32.u32.u32 d, a, 7", &["1"]), Ok([1, 7, 0]));
        assert!(read("vadd4.u32.u32.u32", &["1"]).is_err());
    }

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
}
