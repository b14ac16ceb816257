//! What an operand's name stands for.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::isa::scalar::ScalarType;

/// The type that a register is declared with (PTX ISA 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegisterType {
    /// One value.
    Scalar(ScalarType),
    /// A vector declaration, `.reg .v4 .b32 v;`, whatever its element type.
    Vector,
}

impl RegisterType {
    /// The type of registers with this name, without its dot; `None` for a type that no register has.
    pub fn from_name(name: &str) -> Option<RegisterType> {
        ScalarType::from_name(name).and_then(RegisterType::of)
    }

    /// Registers of a type; `None` if no register has it.
    pub fn of(ty: ScalarType) -> Option<RegisterType> {
        (ty.register() == Some(ty)).then_some(RegisterType::Scalar(ty))
    }

    /// As it is written, without its dot; `v` for a vector.
    pub const fn name(self) -> &'static str {
        match self {
            RegisterType::Scalar(ty) => ty.name(),
            RegisterType::Vector => "v",
        }
    }

    /// Whether the register can be the one of `c+1`: integers and bits of up to 64 bits.
    pub(super) const fn is_integer(self) -> bool {
        matches!(self, RegisterType::Scalar(ty) if ty.is_integer())
    }

    /// Whether a video instruction takes such a register, as ptxas has it.
    pub const fn is_operand(self) -> bool {
        use ScalarType::{B32, F16x2, S32, U32};
        matches!(self, RegisterType::Scalar(B32 | U32 | S32 | F16x2))
    }
}

/// Something that knows the registers in scope.
pub trait Declarations {
    /// The type of the register with this name, if there is one.
    fn register(&self, name: &str) -> Option<RegisterType>;

    /// Whether the name, which is no register's, is that of a variable or a parameter in memory.
    fn is_variable(&self, _name: &str) -> bool {
        false
    }
}

/// A set of declared registers.
///
/// ```
/// use vop::isa::scalar::ScalarType;
/// use vop::{Declarations, RegisterType, Registers};
/// let registers: Registers = ".reg .pred p; .reg .b32 a, b, %r<4>;".parse().unwrap();
/// assert_eq!(registers.register("%r3"), Some(RegisterType::Scalar(ScalarType::B32)));
/// assert_eq!(registers.register("%r4"), None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registers {
    pub(super) names: BTreeMap<String, RegisterType>,
    /// `%r<10>` declares %r0 to %r9: count and type by prefix.
    pub(super) ranges: BTreeMap<String, (u64, RegisterType)>,
}

impl Registers {
    /// Adds one register.
    pub fn declare(&mut self, name: impl Into<String>, ty: RegisterType) {
        self.names.insert(name.into(), ty);
    }

    /// Adds `count` registers, named by the prefix and a number from 0.
    pub fn declare_range(&mut self, prefix: impl Into<String>, count: u64, ty: RegisterType) {
        self.ranges.insert(prefix.into(), (count, ty));
    }
}

impl Declarations for Registers {
    fn register(&self, name: &str) -> Option<RegisterType> {
        let (prefix, number) = register_number(name);
        let in_range = |number: u32| {
            let (count, ty) = self.ranges.get(prefix)?;
            (u64::from(number) < *count).then_some(*ty)
        };
        number.and_then(in_range).or_else(|| self.names.get(name).copied())
    }
}

/// A register's name as one of a range that `%r<10>` declares: the prefix, and the number if it has one.
///
/// As ptxas has it: all digits at the end are the number, leading zeros and all, modulo 2^32.
pub fn register_number(name: &str) -> (&str, Option<u32>) {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[prefix.len()..];
    let number =
        digits.bytes().fold(0u32, |number, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
    (prefix, (!digits.is_empty()).then_some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As measured on ptxas 13.5.
    #[test]
    fn numbers_of_ranges() {
        for (name, expected) in [
            ("%r120", ("%r", Some(120))),
            ("%r007", ("%r", Some(7))),
            ("%r4294967297", ("%r", Some(1))),
            ("%r", ("%r", None)),
            ("12", ("", Some(12))),
        ] {
            assert_eq!(register_number(name), expected, "{name}");
        }
        let registers: Registers = ".reg .b32 %r<120>; .reg .f32 %f1<5>;".parse().expect("legal");
        assert_eq!(registers.register("%r119"), Some(RegisterType::Scalar(ScalarType::B32)));
        assert_eq!(registers.register("%r120"), None);
        assert_eq!(registers.register("%f12"), None);
    }

    #[test]
    fn faulty_declarations_end() {
        for (text, faults) in
            [("}", 1), (".reg .b32 a; } } .reg .b32 b", 2), ("{a}, {b", 2), ("/*", 1), (".reg .b32 a /*", 1)]
        {
            assert_eq!(text.parse::<Registers>().map_err(|found| found.len()), Err(faults), "{text}");
        }
    }
}
