//! `printf`: a format and its arguments, in the kernel's memory, to text.

use super::access::Reach;
use super::decimal;
use crate::error::RunError;
use crate::memory::{Fault, Space};

/// Bytes of a string that a kernel names or that one call prints, about: a pointer to something else is noticed.
const MAX_STRING: u64 = 1 << 20;

/// What a byte that is read costs, one that is made, a digit of a float, and what a conversion does beside them, in thread-instructions.
const BYTE: u64 = 8;
const MADE: u64 = 2;
const DIGIT: u64 = 32;
const CONVERSION: u64 = 128;
/// Bytes between two looks at what they cost.
const PIECE: u64 = 1 << 12;

/// Why a text is not made.
#[derive(Debug)]
pub(super) enum Halt {
    /// Memory that cannot be read.
    Fault(Fault),
    /// The launch ends, with this error; with none, if it has failed elsewhere.
    Ended(Option<RunError>),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Halt {
        Halt::Fault(fault)
    }
}

/// Counts what formatting costs.
pub(super) type Charge<'c> = &'c mut dyn FnMut(u64) -> Result<(), Halt>;

impl Reach {
    /// A string of the kernel, up to its zero byte or a number of bytes.
    pub(super) fn string(
        &self,
        address: u64,
        most: Option<usize>,
        thread: usize,
        charge: Charge<'_>,
    ) -> Result<Vec<u8>, Halt> {
        let mut bytes = Vec::new();
        let most = most.map_or(MAX_STRING, |most| MAX_STRING.min(most as u64));
        let mut charged = 0;
        for i in 0..most {
            if i - charged == PIECE {
                charge(PIECE * BYTE)?;
                charged = i;
            }
            // Behind the last address comes none: a string at -1 is read there, and is no empty one.
            let at = address.checked_add(i).ok_or(Fault::OutOfBounds {
                space: Space::Generic,
                address: u64::MAX,
                bytes: 1,
            })?;
            match self.read(Space::Generic, at, 1, thread)? as u8 {
                0 => break,
                byte => bytes.push(byte),
            }
        }
        charge((bytes.len() as u64 - charged) * BYTE)?;
        Ok(bytes)
    }

    /// What `printf` makes of a format and the list of arguments that the compiler laid out for it, up to about `room` bytes; and the number
    /// of arguments that it took.
    ///
    /// The list holds each argument at a multiple of its size: `int` and what is narrower in four bytes, `double`, `long long` and
    /// pointers in eight (CUDA C++ Programming Guide, "Formatted Output").
    pub(super) fn format(
        &self,
        room: usize,
        format: u64,
        list: u64,
        thread: usize,
        charge: Charge<'_>,
    ) -> Result<(Vec<u8>, u64), Halt> {
        let room = room.min(MAX_STRING as usize);
        let format = if room == 0 { Vec::new() } else { self.string(format, None, thread, charge)? };
        let mut out = Vec::new();
        let mut charged = 0;
        let (mut at, mut taken) = (list, 0);
        let mut argument = |bytes: u64| {
            // No list ends at the end of all addresses.
            let start = at.checked_next_multiple_of(bytes).unwrap_or(u64::MAX - bytes + 1);
            taken += 1;
            at = start.saturating_add(bytes);
            self.read(Space::Generic, start, bytes, thread)
        };
        let mut rest = &format[..];
        while let Some(start) = rest.iter().position(|b| *b == b'%') {
            charge(CONVERSION + (out.len() - charged) as u64 * MADE)?;
            charged = out.len();
            if out.len() > room {
                return Ok((out, taken));
            }
            out.extend_from_slice(&rest[..start]);
            rest = &rest[start..];
            let Some((spec, length)) = Spec::parse(rest) else {
                // No conversion: printed as it is.
                out.push(b'%');
                rest = &rest[1..];
                continue;
            };
            rest = &rest[length..];
            if spec.conversion == b'%' {
                out.push(b'%');
                continue;
            }
            let width = match spec.width {
                Amount::Given(n) => i64::from(n),
                Amount::Argument => i64::from(argument(4)? as i32),
                Amount::None => 0,
            };
            let precision = match spec.precision {
                Amount::Given(n) => Some(n as usize),
                Amount::Argument => usize::try_from(argument(4)? as i32).ok(),
                Amount::None => None,
            };
            let left = spec.left || width < 0;
            let width = width.unsigned_abs().min(1 << 16) as usize;
            let bytes = if spec.long
                || matches!(spec.conversion, b'p' | b's' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A')
            {
                8
            } else {
                4
            };
            let value = argument(bytes)?;
            let (sign, digits, numeric) = match spec.conversion {
                b'd' | b'i' => {
                    let value = spec.signed(value, bytes);
                    let digits = least_digits(value.unsigned_abs().to_string(), precision, value == 0);
                    (spec.sign(value < 0), digits, precision.is_none())
                }
                b'u' | b'o' | b'x' | b'X' => {
                    let value = spec.unsigned(value, bytes);
                    let digits = match spec.conversion {
                        b'u' => value.to_string(),
                        b'o' => format!("{value:o}"),
                        b'x' => format!("{value:x}"),
                        _ => format!("{value:X}"),
                    };
                    let mut digits = least_digits(digits, precision, value == 0);
                    let prefix = match spec.conversion {
                        b'x' if spec.alternate && value != 0 => "0x",
                        b'X' if spec.alternate && value != 0 => "0X",
                        b'o' if spec.alternate && !digits.starts_with('0') => {
                            digits.insert(0, '0');
                            ""
                        }
                        _ => "",
                    };
                    (prefix.to_owned(), digits, precision.is_none())
                }
                b'c' => {
                    let byte = [value as u8];
                    pad(&mut out, "", &byte, width, left, false);
                    continue;
                }
                b's' => {
                    let bytes = self.string(value, precision, thread, charge)?;
                    pad(&mut out, "", &bytes, width, left, false);
                    continue;
                }
                b'p' => (String::new(), format!("{value:#x}"), false),
                conversion => {
                    let value = f64::from_bits(value);
                    let digits = decimal::format(value.abs(), conversion, precision, spec.alternate);
                    charge(digits.len() as u64 * DIGIT)?;
                    (spec.sign(value.is_sign_negative()), digits, value.is_finite())
                }
            };
            pad(&mut out, &sign, digits.as_bytes(), width, left, spec.zero && numeric);
        }
        out.extend_from_slice(rest);
        charge((out.len() - charged) as u64 * MADE)?;
        Ok((out, taken))
    }
}

/// Digits padded with zeros to a precision; none at all for a zero of precision 0.
fn least_digits(digits: String, precision: Option<usize>, zero: bool) -> String {
    match precision {
        Some(0) if zero => String::new(),
        Some(precision) => format!("{digits:0>width$}", width = precision.min(1 << 16)),
        None => digits,
    }
}

fn pad(out: &mut Vec<u8>, sign: &str, digits: &[u8], width: usize, left: bool, zeros: bool) {
    let missing = width.saturating_sub(sign.len() + digits.len());
    let blanks = |out: &mut Vec<u8>, byte| out.extend(std::iter::repeat_n(byte, missing));
    if !left && !zeros {
        blanks(out, b' ');
    }
    out.extend_from_slice(sign.as_bytes());
    if !left && zeros {
        blanks(out, b'0');
    }
    out.extend_from_slice(digits);
    if left {
        blanks(out, b' ');
    }
}

enum Amount {
    None,
    Given(u32),
    Argument,
}

/// A conversion of a format.
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: Amount,
    precision: Amount,
    /// `l`, `ll`, `j`, `z`, `t`: eight bytes.
    long: bool,
    /// `h`, `hh`: how many bits the value is cut to.
    short: u32,
    conversion: u8,
}

impl Spec {
    /// Reads a conversion from its `%` on, with its length.
    fn parse(text: &[u8]) -> Option<(Spec, usize)> {
        let mut spec = Spec {
            left: false,
            plus: false,
            space: false,
            alternate: false,
            zero: false,
            width: Amount::None,
            precision: Amount::None,
            long: false,
            short: 32,
            conversion: 0,
        };
        let mut at = 1;
        while let Some(flag) = text.get(at) {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            at += 1;
        }
        let amount = |at: &mut usize| {
            if text.get(*at) == Some(&b'*') {
                *at += 1;
                return Amount::Argument;
            }
            let digits = text[*at..].iter().take_while(|b| b.is_ascii_digit()).count();
            let number = text[*at..*at + digits]
                .iter()
                .fold(0u32, |n, d| n.saturating_mul(10).saturating_add(u32::from(d - b'0')));
            *at += digits;
            if digits == 0 { Amount::None } else { Amount::Given(number.min(1 << 16)) }
        };
        spec.width = amount(&mut at);
        if text.get(at) == Some(&b'.') {
            at += 1;
            spec.precision = match amount(&mut at) {
                Amount::None => Amount::Given(0),
                given => given,
            };
        }
        while let Some(size) = text.get(at) {
            match size {
                b'l' | b'j' | b'z' | b't' => spec.long = true,
                b'h' => spec.short /= 2,
                b'L' => {}
                _ => break,
            }
            at += 1;
        }
        spec.conversion = *text.get(at)?;
        b"diouxXcspeEfFgGaA%".contains(&spec.conversion).then_some((spec, at + 1))
    }

    fn sign(&self, negative: bool) -> String {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
        .to_owned()
    }

    fn bits(&self, bytes: u64) -> u32 {
        if bytes == 8 { 64 } else { self.short.max(8) }
    }

    fn signed(&self, value: u64, bytes: u64) -> i64 {
        let unused = 64 - self.bits(bytes);
        (value << unused) as i64 >> unused
    }

    fn unsigned(&self, value: u64, bytes: u64) -> u64 {
        let unused = 64 - self.bits(bytes);
        value << unused >> unused
    }
}
