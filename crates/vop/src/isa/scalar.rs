//! [`ScalarType`]: the types of PTX (PTX ISA 5.2 and 5.3), the one list of them.

use core::fmt;

macro_rules! scalar_types {
    (
        registers { $($register:ident $register_name:literal $bits:literal,)* }
        opaque { $($opaque:ident $opaque_name:literal,)* }
        formats { $($format:ident $format_name:literal $held:ident,)* }
    ) => {
        /// A type of PTX: of registers and variables, or a format that only instructions name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ScalarType {
            $(#[doc = concat!("`.", $register_name, "`.")] $register,)*
            $(#[doc = concat!("`.", $opaque_name, "`, opaque: of variables alone.")] $opaque,)*
            $(#[doc = concat!("`.", $format_name, "`: of instructions alone, whose registers are `.", stringify!($held), "`.")] $format,)*
        }

        impl ScalarType {
            /// All of them: those of registers, the opaque ones, and the formats of instructions.
            pub const ALL: &'static [ScalarType] =
                &[$(ScalarType::$register,)* $(ScalarType::$opaque,)* $(ScalarType::$format,)*];

            /// How PTX writes it, without the dot.
            pub const fn name(self) -> &'static str {
                match self {
                    $(ScalarType::$register => $register_name,)*
                    $(ScalarType::$opaque => $opaque_name,)*
                    $(ScalarType::$format => $format_name,)*
                }
            }

            /// The type of a register or a variable with this name (without the dot); `None` for a format that only
            /// instructions name.
            pub fn from_name(name: &str) -> Option<ScalarType> {
                match name {
                    $($register_name => Some(ScalarType::$register),)*
                    $($opaque_name => Some(ScalarType::$opaque),)*
                    _ => None,
                }
            }

            /// The type with this name (without the dot) as a modifier of an instruction: any but the opaque ones.
            pub fn of_instruction(name: &str) -> Option<ScalarType> {
                match name {
                    $($register_name => Some(ScalarType::$register),)*
                    $($format_name => Some(ScalarType::$format),)*
                    _ => None,
                }
            }

            /// The type of the registers that hold such a value: the type itself, or the bits that a format stands in. An
            /// opaque type is in no register.
            pub const fn register(self) -> Option<ScalarType> {
                match self {
                    $(ScalarType::$register => Some(self),)*
                    $(ScalarType::$opaque => None,)*
                    $(ScalarType::$format => Some(ScalarType::$held),)*
                }
            }

            /// How many bits a value has: 1 for `.pred`, `None` for the opaque types.
            pub const fn bits(self) -> Option<u32> {
                match self {
                    $(ScalarType::$register => Some($bits),)*
                    $(ScalarType::$opaque => None,)*
                    $(ScalarType::$format => ScalarType::$held.bits(),)*
                }
            }
        }
    };
}

scalar_types! {
    registers {
        Pred "pred" 1,
        B8 "b8" 8,
        B16 "b16" 16,
        B32 "b32" 32,
        B64 "b64" 64,
        B128 "b128" 128,
        U8 "u8" 8,
        U16 "u16" 16,
        U32 "u32" 32,
        U64 "u64" 64,
        S8 "s8" 8,
        S16 "s16" 16,
        S32 "s32" 32,
        S64 "s64" 64,
        F16 "f16" 16,
        F16x2 "f16x2" 32,
        F32 "f32" 32,
        F64 "f64" 64,
    }
    opaque {
        TexRef "texref",
        SamplerRef "samplerref",
        SurfRef "surfref",
    }
    formats {
        Bf16 "bf16" B16,
        Bf16x2 "bf16x2" B32,
        Tf32 "tf32" B32,
        F32x2 "f32x2" B64,
        U16x2 "u16x2" B32,
        S16x2 "s16x2" B32,
        U8x4 "u8x4" B32,
        S8x4 "s8x4" B32,
        E4m3x2 "e4m3x2" B16,
        E5m2x2 "e5m2x2" B16,
        E2m3x2 "e2m3x2" B16,
        E3m2x2 "e3m2x2" B16,
        E2m1x2 "e2m1x2" B8,
        Ue8m0x2 "ue8m0x2" B16,
    }
}

impl ScalarType {
    /// Whether it is a signed integer of one lane: `.s8` to `.s64`.
    pub const fn is_signed(self) -> bool {
        matches!(self, ScalarType::S8 | ScalarType::S16 | ScalarType::S32 | ScalarType::S64)
    }

    /// Whether it is an unsigned integer of one lane: `.u8` to `.u64`.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64)
    }

    /// Whether a value is an integer of one lane and up to 64 bits, or bits that can be read as one: `.u8` to `.u64`, `.s8` to
    /// `.s64`, `.b8` to `.b64`.
    pub const fn is_integer(self) -> bool {
        self.is_signed() || self.is_unsigned() || self.is_bits() && !matches!(self, ScalarType::B128)
    }

    /// Whether it is bits without a meaning as a number: `.b8` to `.b128`.
    pub const fn is_bits(self) -> bool {
        matches!(self, ScalarType::B8 | ScalarType::B16 | ScalarType::B32 | ScalarType::B64 | ScalarType::B128)
    }
}

/// As PTX writes it, with its dot.
impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(".")?;
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_registers() {
        for &ty in ScalarType::ALL {
            let named = [ScalarType::from_name(ty.name()), ScalarType::of_instruction(ty.name())];
            assert!(named.contains(&Some(ty)) && named.into_iter().flatten().all(|named| named == ty), "{ty}");
            let register = ty.register();
            assert_eq!(register.and_then(ScalarType::register), register, "{ty}");
            assert_eq!(register.and_then(ScalarType::bits), ty.bits(), "{ty}");
        }
        assert_eq!(ScalarType::from_name("u16x2"), None);
        assert_eq!(ScalarType::of_instruction("texref"), None);
        assert_eq!(ScalarType::of_instruction("bf16x2").and_then(ScalarType::bits), Some(32));
    }
}
