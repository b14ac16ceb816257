//! The content of a variable when its module is loaded (manual, "Initializers").

use std::borrow::Cow;

use vop_ptx::module::{Linkage, Module, Space, Variable, lex};

use super::operand::{Operand, constant};
use super::{HashMap, MAX_VARIABLES, Symbol};
use crate::error::{RunError, RunErrorKind};
use crate::texture::table::reference_kind;
use crate::texture::{AddressMode, Filter, Sampler};
use crate::types::Kind;

/// Bytes that a texture, sampler or surface reference takes.
const REFERENCE: usize = 8;

/// The content of a variable: some bytes, and zeros behind them. Most large variables are all zeros, which take no memory here.
#[derive(Clone, Debug)]
pub(super) struct Content {
    start: Vec<u8>,
    len: usize,
}

impl Content {
    /// That of a variable which is elsewhere.
    pub(super) fn nothing() -> Content {
        Content { start: Vec::new(), len: 0 }
    }

    /// The number of its bytes, and the first of them; the others are zeros.
    pub(super) fn parts(&self) -> (u64, &[u8]) {
        (self.len as u64, &self.start)
    }
}

/// What a variable is a reference to, if it is one: `texref`, `samplerref`, `surfref`, or `tex` as old modules declare textures.
pub(super) fn reference_of(variable: &Variable) -> Option<&'static str> {
    if variable.space == Space::Tex { Some("tex") } else { reference_kind(variable.ty.scalar) }
}

/// The sampler that an initialiser describes: `{ addr_mode_0 = clamp_to_edge, filter_mode = linear }` (manual, "Texture Sampler and
/// Surface Types").
pub(super) fn sampler(text: &str) -> Option<Sampler> {
    let mut sampler = Sampler::default().with_normalized_coordinates();
    let inside = braced(text)?;
    for field in lex::split_operands(inside).map(|range| &inside[range]).filter(|field| !field.trim().is_empty()) {
        let (name, value) = field.split_once('=')?;
        let value = value.trim();
        match (name.trim(), value) {
            ("filter_mode", "nearest") => sampler.filter = Filter::Point,
            ("filter_mode", "linear") => sampler.filter = Filter::Linear,
            ("force_unnormalized_coords", _) => sampler.normalized_coordinates = lex::integer(value)? == 0,
            (name, mode) => {
                let axis = ["addr_mode_0", "addr_mode_1", "addr_mode_2"].iter().position(|axis| *axis == name)?;
                sampler.address[axis] = match mode {
                    "wrap" => AddressMode::Wrap,
                    "mirror" => AddressMode::Mirror,
                    "clamp_ogl" | "clamp_to_edge" => AddressMode::Clamp,
                    "clamp_to_border" => AddressMode::Border,
                    _ => return None,
                };
            }
        }
    }
    Some(sampler)
}

/// The dimensions of a variable, and the number of its bytes. `total` sums up the sizes of a module's variables.
pub(super) fn size(module: &Module, variable: &Variable, total: &mut u64) -> Result<usize, RunError> {
    let name = module.slice(&variable.name);
    let unsupported = |why: &str| RunError::new(RunErrorKind::Unsupported, format!("variable `{name}` {why}"));
    if variable.linkage == Some(Linkage::Extern) {
        return Err(unsupported("is declared .extern: its definition is in another module"));
    }
    if reference_of(variable).is_some() {
        // A reference: nothing is stored there, and its address stands for what is bound to it.
        return match variable.dimensions.is_empty() {
            true => Ok(REFERENCE),
            false => Err(unsupported("is an array of textures, samplers or surfaces, which vop run does not support")),
        };
    }
    let element =
        variable.ty.bytes().ok_or_else(|| unsupported("is of an opaque type, which vop run does not support"))?;
    let dimensions = dimensions(module, variable).ok_or_else(|| unsupported("has no size"))?;
    let scalar = variable.ty.scalar;
    let bytes = dimensions.iter().try_fold(scalar.size() as u64, |product, n| product.checked_mul(*n));
    let bytes = bytes.filter(|bytes| *bytes <= MAX_VARIABLES - *total && element > 0);
    let Some(bytes) = bytes.and_then(|bytes| usize::try_from(bytes).ok()) else {
        return Err(unsupported("is larger than vop run supports"));
    };
    *total += bytes as u64;
    Ok(bytes)
}

/// The number of elements in each dimension, the components of a vector last; `None` if one is left open.
fn dimensions(module: &Module, variable: &Variable) -> Option<Vec<u64>> {
    let text = variable.initializer.as_ref().map(|range| module.slice(range));
    let mut dimensions = Vec::new();
    for (i, dimension) in variable.dimensions.iter().enumerate() {
        dimensions.push(match (dimension, text) {
            (Some(n), _) => *n,
            // An open first dimension is as long as its initialiser.
            (None, Some(text)) if i == 0 => braced(text).map_or(1, |inside| lex::split_operands(inside).count() as u64),
            (None, _) => return None,
        });
    }
    if variable.ty.vector > 1 {
        dimensions.push(u64::from(variable.ty.vector));
    }
    Some(dimensions)
}

/// The bytes of a variable of this size: those of its initialiser, then zeros.
pub(super) fn content(
    module: &Module,
    variable: &Variable,
    size: usize,
    symbols: &HashMap<Cow<'_, str>, Symbol>,
) -> Result<Content, RunError> {
    let mut start = Vec::new();
    let text = variable.initializer.as_ref().map(|range| module.slice(range));
    let unreadable = |text: &str| {
        let name = module.slice(&variable.name);
        let message = format!("variable `{name}` has an initialiser that vop run does not understand: `{text}`");
        RunError::new(RunErrorKind::Unsupported, message)
    };
    if let (Some(kind), Some(text)) = (reference_of(variable), text) {
        // What a texture is like, the host says when it binds one.
        return match kind == "samplerref" && sampler(text).is_none() {
            true => Err(unreadable(text)),
            false => Ok(Content { start, len: size }),
        };
    }
    if let Some(text) = text {
        let dimensions = dimensions(module, variable).unwrap_or_default();
        let mut fill = Fill { start: &mut start, len: size, size: variable.ty.scalar.size(), symbols };
        fill.level(text, 0, &dimensions).map_err(|text| unreadable(&text))?;
    }
    Ok(Content { start, len: size })
}

fn braced(text: &str) -> Option<&str> {
    text.trim().strip_prefix('{')?.strip_suffix('}')
}

/// Arrays of more dimensions are refused: each dimension takes a nested call.
const MAX_DIMENSIONS: usize = 64;

struct Fill<'a> {
    /// The variable's bytes up to the last that has been written.
    start: &'a mut Vec<u8>,
    /// The number of all its bytes.
    len: usize,
    /// Bytes of one element.
    size: usize,
    symbols: &'a HashMap<Cow<'a, str>, Symbol>,
}

impl Fill<'_> {
    /// Writes a braced list of one dimension, or one value; the error is the text that cannot be read.
    fn level(&mut self, text: &str, offset: usize, dimensions: &[u64]) -> Result<(), String> {
        if dimensions.len() > MAX_DIMENSIONS {
            return Err(format!("{} dimensions", dimensions.len()));
        }
        let (Some(inside), [count, inner @ ..]) = (braced(text), dimensions) else {
            return self.value(text.trim(), offset);
        };
        let stride = inner.iter().fold(self.size, |product, n| product.saturating_mul(*n as usize));
        for (i, range) in lex::split_operands(inside).enumerate() {
            // Without inner braces the elements follow one another.
            let item = &inside[range];
            let step = if braced(item).is_some() { stride } else { self.size };
            if step == stride && i as u64 >= *count {
                return Err(item.to_owned());
            }
            self.level(item, offset.saturating_add(i.saturating_mul(step)), inner)?;
        }
        Ok(())
    }

    fn value(&mut self, text: &str, offset: usize) -> Result<(), String> {
        let bits = match (constant(text), self.size) {
            (Some(Operand::Integer(bits)), _) => bits,
            (Some(Operand::Single(bits)), 4) => u64::from(bits),
            (Some(Operand::Single(bits)), 8) => f64::from(f32::from_bits(bits)).to_bits(),
            (Some(Operand::Double(value)), 4) => u64::from((value as f32).to_bits()),
            (Some(Operand::Double(value)), 8) => value.to_bits(),
            (None, _) => self.address(text).ok_or(text)?,
            _ => return Err(text.to_owned()),
        };
        let end = offset.checked_add(self.size).filter(|end| *end <= self.len).ok_or(text)?;
        if self.start.len() < end {
            self.start.resize(end, 0);
        }
        let place = self.start.get_mut(offset..end).ok_or(text)?;
        place.copy_from_slice(bits.to_le_bytes().get(..self.size).ok_or(text)?);
        Ok(())
    }

    /// `x`, `x+4`, `generic(x)`, `generic(x)+4`, and a byte of these, `0xff00(x)`. Global addresses are generic ones.
    fn address(&self, text: &str) -> Option<u64> {
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            let (mask, address) = text.split_once('(')?;
            let (mask, address) = (lex::integer(mask.trim())?, address.trim_end().strip_suffix(')')?);
            let is_byte = (0..8).any(|byte| mask == 0xff << (8 * byte));
            let address = self.sum(address.trim(), 8).filter(|_| self.size == 1 && is_byte)?;
            return Some((address & mask) >> mask.trailing_zeros());
        }
        self.sum(text, self.size)
    }

    /// An address of this many bytes, perhaps with an offset.
    fn sum(&self, text: &str, size: usize) -> Option<u64> {
        let (name, rest) =
            match text.strip_prefix("generic").map(str::trim_start).and_then(|rest| rest.strip_prefix('(')) {
                Some(inside) => inside.split_once(')')?,
                None => text.split_at(text.find(['+', '-']).unwrap_or(text.len())),
            };
        let symbol = self.symbols.get(name.trim())?;
        let address = match size {
            4 => symbol.short?,
            8 => symbol.whole,
            _ => return None,
        };
        match rest.trim() {
            "" => Some(address),
            rest => match constant(rest)? {
                Operand::Integer(offset) => Some(address.wrapping_add(offset)),
                _ => None,
            },
        }
    }
}
