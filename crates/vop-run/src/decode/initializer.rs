//! The content of a variable when its module is loaded (manual, "Initializers").

use vop_ptx::module::{Linkage, Module, Variable, lex};

use super::HashMap;
use super::MAX_VARIABLES;
use super::operand::{Operand, constant};
use crate::error::{RunError, RunErrorKind};
use crate::types::Kind;

/// The content of a variable: some bytes, and zeros behind them. Most large variables are all zeros, which take no memory here.
#[derive(Clone, Debug)]
pub(super) struct Content {
    start: Vec<u8>,
    len: usize,
}

impl Content {
    /// The number of its bytes, and the first of them; the others are zeros.
    pub(super) fn parts(&self) -> (u64, &[u8]) {
        (self.len as u64, &self.start)
    }
}

/// The bytes of a variable: those of its initialiser, then zeros. `total` sums up the sizes of a module's variables.
pub(super) fn content(
    module: &Module,
    variable: &Variable,
    addresses: &HashMap<&str, u64>,
    total: &mut u64,
) -> Result<Content, RunError> {
    let name = module.slice(&variable.name);
    let unsupported = |why: &str| RunError::new(RunErrorKind::Unsupported, format!("variable `{name}` {why}"));
    if variable.linkage == Some(Linkage::Extern) {
        return Err(unsupported("is declared .extern: its definition is in another module"));
    }
    let text = variable.initializer.as_ref().map(|range| module.slice(range));
    let element = variable.ty.bytes().ok_or_else(|| unsupported("is of an opaque type"))?;
    let mut dimensions = Vec::new();
    for (i, dimension) in variable.dimensions.iter().enumerate() {
        dimensions.push(match (dimension, text) {
            (Some(n), _) => *n,
            // An open first dimension is as long as its initialiser.
            (None, Some(text)) if i == 0 => braced(text).map_or(1, |inside| lex::split_operands(inside).count() as u64),
            (None, _) => return Err(unsupported("has no size")),
        });
    }
    if variable.ty.vector > 1 {
        dimensions.push(u64::from(variable.ty.vector));
    }
    let scalar = variable.ty.scalar;
    let bytes = dimensions.iter().try_fold(scalar.size() as u64, |product, n| product.checked_mul(*n));
    let bytes = bytes.filter(|bytes| *bytes <= MAX_VARIABLES - *total && element > 0);
    let Some(bytes) = bytes.and_then(|bytes| usize::try_from(bytes).ok()) else {
        return Err(unsupported("is larger than vop run supports"));
    };
    *total += bytes as u64;
    let mut start = Vec::new();
    if let Some(text) = text {
        let mut fill = Fill { start: &mut start, len: bytes, size: scalar.size(), addresses };
        fill.level(text, 0, &dimensions)
            .map_err(|text| unsupported(&format!("has an initialiser that is not understood: `{text}`")))?;
    }
    Ok(Content { start, len: bytes })
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
    addresses: &'a HashMap<&'a str, u64>,
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
            (None, 8) => self.address(text).ok_or(text)?,
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

    /// `x`, `x+4`, `generic(x)`, `generic(x)+4`: global addresses are generic ones.
    fn address(&self, text: &str) -> Option<u64> {
        let (text, offset) = match text.rsplit_once('+') {
            Some((text, offset)) if !offset.contains(')') => (text.trim(), lex::integer(offset.trim())?),
            _ => (text, 0),
        };
        let inside = text.strip_prefix("generic").map_or(text, str::trim_start);
        let inside = inside.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(inside).trim();
        if inside != text {
            return Some(self.address(inside)?.wrapping_add(offset));
        }
        Some(self.addresses.get(inside)?.wrapping_add(offset))
    }
}
