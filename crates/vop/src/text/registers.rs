//! Register declarations: what an operand's name stands for.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Bound;

use super::lex::{Integer, Kind};
use super::parse::{Fault, Parser, Run, Scope};
use crate::diagnostic::{Code, Diagnostic};

macro_rules! register_types {
    ($($variant:ident $name:literal,)*) => {
        /// The type a register is declared with (PTX ISA 5.2).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum RegisterType {
            $(#[doc = concat!("`.", $name, "`.")] $variant,)*
            /// A vector declaration, `.reg .v4 .b32 v;`, whatever its element type.
            Vector,
        }

        impl RegisterType {
            /// The type written so, without its dot.
            pub fn from_name(name: &str) -> Option<RegisterType> {
                match name { $($name => Some(RegisterType::$variant),)* _ => None }
            }

            /// As it is written, without its dot.
            pub const fn name(self) -> &'static str {
                match self { $(RegisterType::$variant => $name,)* RegisterType::Vector => "v" }
            }
        }
    };
}

register_types! {
    Pred "pred",
    B8 "b8", B16 "b16", B32 "b32", B64 "b64", B128 "b128",
    U8 "u8", U16 "u16", U32 "u32", U64 "u64",
    S8 "s8", S16 "s16", S32 "s32", S64 "s64",
    F16 "f16", F16x2 "f16x2", F32 "f32", F64 "f64",
}

impl RegisterType {
    /// Its width; of a vector not known.
    const fn bits(self) -> u32 {
        use RegisterType::*;
        match self {
            Pred => 1,
            B8 | U8 | S8 => 8,
            B16 | U16 | S16 | F16 => 16,
            B32 | U32 | S32 | F16x2 | F32 => 32,
            B64 | U64 | S64 | F64 => 64,
            B128 | Vector => 128,
        }
    }

    /// Whether its bits are an integer.
    pub(super) const fn is_integer(self) -> bool {
        use RegisterType::*;
        matches!(self, B8 | B16 | B32 | B64 | U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
    }

    /// Whether a video instruction takes such a register, as ptxas has it.
    pub const fn is_operand(self) -> bool {
        matches!(self, RegisterType::B32 | RegisterType::U32 | RegisterType::S32 | RegisterType::F16x2)
    }
}

/// Something that knows the registers in scope.
pub trait Declarations {
    /// The type of the register with this name, if there is one.
    fn register(&self, name: &str) -> Option<RegisterType>;
}

/// A set of declared registers.
///
/// ```
/// use vop::{Declarations, RegisterType, Registers};
/// let registers: Registers = ".reg .pred p; .reg .b32 a, b, %r<4>;".parse().unwrap();
/// assert_eq!(registers.register("%r3"), Some(RegisterType::B32));
/// assert_eq!(registers.register("%r4"), None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registers {
    names: BTreeMap<String, RegisterType>,
    /// `%r<10>` declares %r0 to %r9: count and type by prefix.
    ranges: BTreeMap<String, (u64, RegisterType)>,
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

/// Reads declarations: `.reg .pred p; .reg .b32 a, b, %r<10>;`.
impl core::str::FromStr for Registers {
    type Err = Vec<Diagnostic>;

    fn from_str(text: &str) -> Result<Registers, Vec<Diagnostic>> {
        let parser = Parser::new();
        let mut run = Run::new(&parser, text);
        let mut scope = Scope::default();
        while run.token.kind != Kind::End {
            let read = match run.token.kind {
                Kind::Dot if run.slice(run.token) == ".reg" => run.reg(&mut scope),
                _ => Err(run.unexpected("`.reg`")),
            };
            if read.is_err() {
                run.skip_statement();
                // Where it stops without a semicolon it has not moved on.
                if matches!(run.token.kind, Kind::Punctuation(b'}') | Kind::OpenComment) {
                    run.advance();
                }
            }
        }
        if run.faults.is_empty() { Ok(scope.registers) } else { Err(run.faults) }
    }
}

impl<'t> Run<'t, '_> {
    /// Reads one `.reg` declaration with its semicolon (which may be left out at the end of the text).
    pub(super) fn reg(&mut self, scope: &mut Scope<'t>) -> Result<(), Fault> {
        self.advance();
        if self.token.kind == Kind::Dot && self.slice(self.token) == ".align" {
            self.advance();
            let token = self.token;
            if !self.count()?.is_power_of_two() {
                let fault = Diagnostic::new(Code::V0405, token.span(), "an alignment is a power of two");
                self.fault(fault.help("leave `.align` out: it has no effect on registers"));
            }
        }
        let mut lanes = 1;
        if self.token.kind == Kind::Dot
            && let ".v2" | ".v4" = self.slice(self.token)
        {
            lanes = if self.slice(self.token) == ".v2" { 2 } else { 4 };
            self.advance();
        }
        if self.token.kind != Kind::Dot {
            return Err(self.unexpected("a type such as `.b32`"));
        }
        let ty = self.register_type_here(lanes)?;
        self.advance();
        if self.token.kind == Kind::Punctuation(b';') {
            self.advance();
            return Ok(());
        }
        loop {
            if self.token.kind != Kind::Word {
                return Err(self.unexpected("a register name"));
            }
            let token = self.token;
            let name = self.slice(token);
            self.name(token)?;
            self.advance();
            if self.token.kind == Kind::Punctuation(b'<') {
                self.advance();
                let count = self.count()?;
                self.expect(b'>')?;
                // One of the range that has been declared by itself comes to ptxas as the same name twice.
                let after = scope.registers.names.range::<str, _>((Bound::Included(name), Bound::Unbounded));
                let named = after.take_while(|(known, _)| known.starts_with(name));
                let named = named.map(|(known, _)| &known[name.len()..]).any(|digits| is_counted(digits, count));
                if scope.registers.ranges.contains_key(name) || named {
                    self.twice(token);
                }
                scope.registers.declare_range(name, count, ty);
            } else {
                if scope.registers.register(name).is_some() || scope.declares_label(name) {
                    self.twice(token);
                }
                scope.registers.declare(name, ty);
            }
            match self.token.kind {
                Kind::Punctuation(b',') => self.advance(),
                Kind::Punctuation(b';') => {
                    self.advance();
                    return Ok(());
                }
                Kind::End => return Ok(()),
                _ => return Err(self.unexpected("`,` or `;`")),
            }
        }
    }

    /// The type at the current token, of so many lanes.
    fn register_type_here(&mut self, lanes: u32) -> Result<RegisterType, Fault> {
        let span = self.token.span();
        let name = &self.slice(self.token)[1..];
        let fault = match RegisterType::from_name(name) {
            Some(ty) if lanes == 1 => return Ok(ty),
            Some(RegisterType::Pred) => Diagnostic::new(Code::V0405, span, "there are no vectors of predicates")
                .help("declare the predicates one by one"),
            Some(ty) if lanes * ty.bits() > 128 => Diagnostic::new(
                Code::V0405,
                span,
                alloc::format!("a vector of {lanes} `.{name}` has more than 128 bits"),
            )
            .help("declare the registers one by one"),
            Some(_) => return Ok(RegisterType::Vector),
            None => Diagnostic::new(Code::V0405, span, alloc::format!("`.{name}` is not a type of registers"))
                .help("write `.b32`, `.u32`, `.s32`, `.pred` or another type of PTX ISA 5.2"),
        };
        self.fault(fault);
        Err(Fault)
    }

    /// A plain number below 2^32.
    fn count(&mut self) -> Result<u64, Fault> {
        if self.token.kind != Kind::Integer {
            return Err(self.unexpected("a number"));
        }
        let token = self.token;
        let Integer { value, overflow, .. } = Integer::read(self.slice(token));
        self.advance();
        if overflow || value > u32::MAX.into() {
            let fault =
                Diagnostic::new(Code::V0104, token.span(), alloc::format!("`{}` is too large", self.slice(token)));
            self.fault(fault.help("write a number below 2^32"));
            return Err(Fault);
        }
        Ok(value)
    }
}

/// Whether a name's digits are the number, without leading zeros, of one of so many registers.
fn is_counted(digits: &str, count: u64) -> bool {
    (digits == "0" || !digits.starts_with('0')) && digits.parse().is_ok_and(|number: u64| number < count)
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
        assert_eq!(registers.register("%r119"), Some(RegisterType::B32));
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
