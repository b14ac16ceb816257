//! Register declarations: what an operand's name stands for.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::lex::{Integer, Kind};
use super::parse::{Fault, Parser, Run};
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
    /// `%r<10>` declares %r0 to %r9: prefix, count, type.
    ranges: Vec<(String, u64, RegisterType)>,
}

impl Registers {
    /// Adds one register.
    pub fn declare(&mut self, name: impl Into<String>, ty: RegisterType) {
        self.names.insert(name.into(), ty);
    }

    /// Adds `count` registers, named by the prefix and a number from 0.
    pub fn declare_range(&mut self, prefix: impl Into<String>, count: u64, ty: RegisterType) {
        self.ranges.push((prefix.into(), count, ty));
    }
}

impl Declarations for Registers {
    fn register(&self, name: &str) -> Option<RegisterType> {
        let in_range = |(prefix, count, ty): &(String, u64, RegisterType)| {
            let number = name.strip_prefix(prefix.as_str())?;
            let canonical = number == "0" || (!number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit()));
            (canonical && number.parse().is_ok_and(|number: u64| number < *count)).then_some(*ty)
        };
        self.names.get(name).copied().or_else(|| self.ranges.iter().find_map(in_range))
    }
}

/// Reads declarations: `.reg .pred p; .reg .b32 a, b, %r<10>;`.
impl core::str::FromStr for Registers {
    type Err = Vec<Diagnostic>;

    fn from_str(text: &str) -> Result<Registers, Vec<Diagnostic>> {
        let parser = Parser::new();
        let mut run = Run::new(&parser, text);
        let mut registers = Registers::default();
        while run.token.kind != Kind::End {
            let read = match run.token.kind {
                Kind::Dot if run.slice(run.token) == ".reg" => run.reg(&mut registers),
                _ => Err(run.unexpected("`.reg`")),
            };
            if read.is_err() {
                run.skip_statement();
            }
        }
        if run.faults.is_empty() { Ok(registers) } else { Err(run.faults) }
    }
}

impl Run<'_, '_> {
    /// Reads one `.reg` declaration with its semicolon (which may be left out at the end of the text).
    pub(super) fn reg(&mut self, registers: &mut Registers) -> Result<(), Fault> {
        self.advance();
        let mut ty = None;
        let mut vector = false;
        while self.token.kind == Kind::Dot {
            let name = &self.slice(self.token)[1..];
            match RegisterType::from_name(name) {
                Some(found) => ty = Some(found),
                None if matches!(name, "v2" | "v4" | "v8") => vector = true,
                None => {
                    self.fault(
                        Diagnostic::new(
                            Code::V0402,
                            self.token.span(),
                            alloc::format!("`.{name}` is not a type of registers"),
                        )
                        .help("write `.b32`, `.u32`, `.s32`, `.pred` or another type of PTX ISA 5.2"),
                    );
                    return Err(Fault);
                }
            }
            self.advance();
        }
        let ty = match ty {
            Some(_) if vector => RegisterType::Vector,
            Some(ty) => ty,
            None => return Err(self.unexpected("a type such as `.b32`")),
        };
        loop {
            if self.token.kind != Kind::Word {
                return Err(self.unexpected("a register name"));
            }
            let name = self.slice(self.token);
            self.advance();
            if self.token.kind == Kind::Punctuation(b'<') {
                self.advance();
                if self.token.kind != Kind::Integer {
                    return Err(self.unexpected("a count"));
                }
                let count = Integer::read(self.slice(self.token)).value;
                self.advance();
                self.expect(b'>')?;
                registers.declare_range(name, count, ty);
            } else {
                registers.declare(name, ty);
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
}
