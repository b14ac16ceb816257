//! Arguments: to the bytes of parameter memory.

use vop_ptx::module::Scalar;

use crate::code::{Kernel, Parameter};
use crate::error::{RunError, RunErrorKind, RunErrors};
use crate::memory::{BufferId, Memory};
use crate::symbol::shown;
use crate::types::Kind;

/// One argument of a launch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Arg {
    /// The address of a buffer, for a 64-bit integer parameter; for one of 32 bits in kernels that keep addresses so.
    Buffer(BufferId),
    /// A value with its type: the low bits of the word.
    Scalar(Scalar, u64),
    /// The bytes of an array or structure passed by value.
    Bytes(Vec<u8>),
}

impl From<BufferId> for Arg {
    fn from(buffer: BufferId) -> Arg {
        Arg::Buffer(buffer)
    }
}

macro_rules! arg {
    ($($rust:ident $ty:ident $value:ident => $bits:expr;)*) => { $(
        impl From<$rust> for Arg {
            fn from($value: $rust) -> Arg {
                Arg::Scalar(Scalar::$ty, $bits)
            }
        }
    )* };
}
arg! {
    u8 U8 v => u64::from(v);
    u16 U16 v => u64::from(v);
    u32 U32 v => u64::from(v);
    u64 U64 v => v;
    i8 S8 v => u64::from(v as u8);
    i16 S16 v => u64::from(v as u16);
    i32 S32 v => u64::from(v as u32);
    i64 S64 v => v as u64;
    f32 F32 v => u64::from(v.to_bits());
    f64 F64 v => v.to_bits();
}

impl Arg {
    fn describe(&self) -> String {
        match self {
            Arg::Buffer(_) => "a buffer".to_owned(),
            Arg::Scalar(ty, _) => format!("a .{} value", ty.name()),
            Arg::Bytes(bytes) => format!("a list of {} bytes", bytes.len()),
        }
    }

    /// The bytes to store for a parameter, if the argument fits it.
    fn bytes_for(&self, parameter: &Parameter, memory: &Memory, short: bool) -> Option<Vec<u8>> {
        let scalar = parameter.bytes == parameter.ty.size();
        match self {
            Arg::Buffer(buffer) if scalar && !parameter.ty.is_float() => match parameter.ty.width() {
                64 if parameter.ty.bits().is_some() => Some(memory.address(*buffer).to_le_bytes().to_vec()),
                32 if short => memory.short_address(*buffer).map(|address| address.to_le_bytes().to_vec()),
                _ => None,
            },
            Arg::Buffer(_) => None,
            Arg::Scalar(ty, value) => {
                // Compilers declare every integer `.u32` or `.b32`: width and floatness are what a parameter type tells.
                let untyped = matches!(parameter.ty, Scalar::B8 | Scalar::B16 | Scalar::B32 | Scalar::B64);
                let fits = ty.width() == parameter.ty.width() && (untyped || ty.is_float() == parameter.ty.is_float());
                (scalar && fits).then(|| value.to_le_bytes().into_iter().take(ty.size()).collect())
            }
            Arg::Bytes(bytes) => (bytes.len() == parameter.bytes).then(|| bytes.clone()),
        }
    }
}

impl Kernel {
    /// What is wrong with these arguments, each error with the argument's index: too few or too many, or one of the wrong size or
    /// kind.
    pub fn argument_errors(&self, args: &[Arg], memory: &Memory) -> Vec<(usize, RunError)> {
        let mut errors = Vec::new();
        let mut report = |i, message: String| errors.push((i, RunError::new(RunErrorKind::Argument, message)));
        for (i, parameter) in self.parameters.iter().enumerate() {
            let wanted = format!("parameter {} of {}: {parameter}", i + 1, shown(&self.name));
            match args.get(i) {
                None => report(i, format!("there is no argument for {wanted}")),
                Some(arg) if arg.bytes_for(parameter, memory, self.short).is_none() => {
                    let why = match arg {
                        Arg::Buffer(_) if self.short && parameter.bytes == 4 && !parameter.ty.is_float() => {
                            ": together with those before, it is larger than 32-bit addresses reach"
                        }
                        _ => "",
                    };
                    report(i, format!("{} does not fit {wanted}{why}", arg.describe()));
                }
                Some(_) => {}
            }
        }
        for i in self.parameters.len()..args.len() {
            report(
                i,
                format!(
                    "argument {} is one too many: {} has {} parameter{}",
                    i + 1,
                    shown(&self.name),
                    self.parameters.len(),
                    if self.parameters.len() == 1 { "" } else { "s" }
                ),
            );
        }
        errors
    }

    /// Lays arguments out in parameter memory.
    pub(super) fn pack(&self, args: &[Arg], memory: &Memory) -> Result<Vec<u8>, RunErrors> {
        let errors = self.argument_errors(args, memory);
        if !errors.is_empty() {
            return Err(RunErrors(errors.into_iter().map(|(_, error)| error).collect()));
        }
        let mut bytes = vec![0; self.parameter_bytes];
        for (parameter, arg) in self.parameters.iter().zip(args) {
            let value = arg.bytes_for(parameter, memory, self.short).unwrap_or_default();
            if let Some(place) = bytes.get_mut(parameter.offset..parameter.offset + value.len()) {
                place.copy_from_slice(&value);
            }
        }
        Ok(bytes)
    }
}
