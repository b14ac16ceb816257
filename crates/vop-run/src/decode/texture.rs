//! Textures and surfaces: `tex`, `tld4`, `txq`, `suld`, `sust`, `sured`, `suq`, `istypep`.

use vop_ptx::module::{Scalar, Space as Declared, lex};

use super::function::{Decoder, Variable, width_of};
use super::initializer::reference_of;
use super::instruction::Known;
use super::operand::Operand;
use crate::code::{Extension, Fold, Load, MemoryWidth, Op};
use crate::column::{Slot, Width};
use crate::error::RunError;
use crate::memory::Space;
use crate::opcode::Opcode;
use crate::pure::fold::fold;
use crate::texture::fetch::Geometry;
use crate::texture::op::{
    Action, Attribute, FetchOp, Handle, LodSlots, Outside, Results, SurfaceAccess, SurfaceOp, TextureOp,
};
use crate::types::Kind;

/// What is left unsupported, as a construct.
const MULTISAMPLED: &str = "multi-sample textures";
const DEPTH_COMPARE: &str = "depth comparisons of textures";

/// `[a, b, c]` without its brackets: the operands in it.
fn inside(text: &str) -> Option<Vec<&str>> {
    let inside = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    Some(lex::split_operands(inside).map(|range| &inside[range]).collect())
}

impl Decoder<'_, '_> {
    fn emit_texture(&mut self, handle: Handle, sampler: Option<Handle>, action: Action) {
        self.emit(Op::Texture(Box::new(TextureOp { handle, sampler, action })));
    }

    /// The operand that names a texture, sampler or surface: a register or a constant, a reference, or a parameter.
    fn handle(&mut self, text: &str) -> Result<Handle, RunError> {
        if self.lookup(text).is_none()
            && let Some(declaration) = self.declaration(text)
        {
            if declaration.space == Declared::Param {
                let ty = Scalar::U64;
                let access = self.access(&format!("[{text}]"), Space::Param, ty.size() as u32)?;
                let d = self.fresh(Width::Double);
                let load = Load { access, memory: MemoryWidth::Bits64, extension: Extension::ZEROS, d: Box::new([d]) };
                self.emit(Op::Load(Box::new(load)));
                return Ok(Handle { slot: d, name: None });
            }
            if reference_of(declaration).is_none() {
                return Err(self.malformed(format!("`{text}` is no texture, sampler or surface reference")));
            }
            if let Some(Variable::At(_, address)) = self.variable(text, false)? {
                let slot = self.builder.constant(address, Width::Double);
                return Ok(Handle { slot, name: Some(text.into()) });
            }
        }
        Ok(Handle { slot: self.source(text, Scalar::B64)?, name: None })
    }

    /// The elements of a vector of this type, of which the first `count` are used: `{a, b}`, a vector of registers, or one operand.
    fn vector(&mut self, text: &str, types: &[Scalar]) -> Result<Box<[Slot]>, RunError> {
        let whole = self.with_components(&[text], false);
        let text = whole.as_ref().map_or(text, |texts| texts[0].as_str());
        let parts = match Operand::parse(text) {
            Some(Operand::Vector(parts)) => parts,
            _ => vec![text],
        };
        if parts.len() < types.len() {
            return Err(self.malformed(format!(
                "`{text}` has {} elements, the instruction takes {}",
                parts.len(),
                types.len()
            )));
        }
        parts.iter().zip(types).map(|(text, ty)| self.source(text, *ty)).collect()
    }

    /// The layer and the coordinates.
    fn coordinates(
        &mut self,
        text: &str,
        geometry: Geometry,
        ty: Scalar,
    ) -> Result<(Option<Slot>, Box<[Slot]>), RunError> {
        let layer = geometry.has_layer().then_some(Scalar::U32);
        let types: Vec<Scalar> = layer.into_iter().chain(std::iter::repeat_n(ty, geometry.axes())).collect();
        let all = self.vector(text, &types)?;
        match (geometry.has_layer(), &all[..]) {
            (true, [layer, rest @ ..]) => Ok((Some(*layer), rest.into())),
            (_, all) => Ok((None, all.into())),
        }
    }

    /// The destination of a fetch: its text without the predicate, and the predicate.
    fn with_predicate<'t>(&mut self, text: &'t str) -> Result<(&'t str, Option<Slot>), RunError> {
        match text.rsplit_once('|') {
            Some((d, p)) => Ok((d.trim(), Some(self.destination(p.trim(), Scalar::Pred)?))),
            None => Ok((text, None)),
        }
    }

    pub(super) fn texture(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let gathers = opcode.name == "tld4";
        let gather = if gathers {
            let Some(channel) = opcode.take_of(&["r", "g", "b", "a"]) else { return Ok(false) };
            "rgba".find(channel)
        } else {
            None
        };
        let mip = if gathers { None } else { opcode.take_of(&["base", "level", "grad"]) };
        if opcode.has("2dms") || opcode.has("a2dms") {
            return Err(self.unsupported_construct(&format!("instruction `{}`", opcode.name), MULTISAMPLED));
        }
        let Some(geometry) = opcode.take_if(Geometry::parse) else { return Ok(false) };
        let Some(count) = opcode.take_of(&["v4", "v2"]).map(|word| if word == "v4" { 4 } else { 2 }) else {
            return Ok(false);
        };
        let Some(ty) = opcode.take_type() else { return Ok(false) };
        let Some(coordinate) = opcode.take_type() else { return Ok(false) };
        let (results, ty) = match (ty, count) {
            (Scalar::F16x2, 2) => (Results::HalfPairs, Scalar::B32),
            (Scalar::F16, 4) => (Results::Halves, Scalar::B16),
            (Scalar::U32 | Scalar::S32 | Scalar::F32 | Scalar::B32, 4) => (Results::Words, Scalar::B32),
            _ => return Ok(false),
        };
        let whole = match coordinate {
            Scalar::F32 => false,
            Scalar::S32 | Scalar::U32 if !gathers && !geometry.is_cube() => true,
            _ => return Ok(false),
        };
        let level_operands = match mip {
            Some("level") => 1,
            Some("grad") => 2,
            _ => 0,
        };
        self.count(operands, 2 + level_operands..=4 + level_operands)?;
        let (d, resident) = self.with_predicate(operands[0])?;
        let d = self.elements(d, count)?;
        let d = d.into_iter().map(|text| self.destination(text, ty)).collect::<Result<Box<[Slot]>, _>>()?;
        let (handle, sampler, place) = match inside(operands[1]).as_deref() {
            Some([handle, place]) => (self.handle(handle)?, None, *place),
            Some([handle, sampler, place]) => {
                let handle = self.handle(handle)?;
                (handle, Some(self.handle(sampler)?), *place)
            }
            _ => {
                let text = operands[1];
                return Err(
                    self.malformed(format!("`{text}` is no texture with coordinates: write [texture, {{x, y}}]"))
                );
            }
        };
        let (layer, at) = self.coordinates(place, geometry, coordinate)?;
        let lod = match mip {
            Some("level") => LodSlots::Level(self.source(operands[2], coordinate)?),
            Some("grad") => {
                let types = vec![Scalar::F32; geometry.axes()];
                LodSlots::Gradient([self.vector(operands[2], &types)?, self.vector(operands[3], &types)?])
            }
            _ => LodSlots::Base,
        };
        let mut offset = Box::default();
        for (i, text) in operands[2 + level_operands..].iter().enumerate() {
            // A vector of integers is an offset, a float is what depths are compared with.
            if i > 0 || !self.is_offset(text) {
                return Err(self.unsupported_construct(&format!("operand `{text}`"), DEPTH_COMPARE));
            }
            if geometry.is_cube() {
                return Err(self.malformed(format!("`{text}`: a cube has no offset")));
            }
            offset = self.vector(text, &vec![Scalar::S32; geometry.axes()])?;
        }
        let fetch = FetchOp { geometry, whole, layer, at, offset, lod, gather, results, d, resident };
        self.emit_texture(handle, sampler, Action::Fetch(fetch));
        Ok(true)
    }

    /// Whether an operand is a vector, or an integer.
    fn is_offset(&mut self, text: &str) -> bool {
        if self.with_components(&[text], false).is_some() {
            return true;
        }
        match Operand::parse(text) {
            Some(Operand::Vector(_) | Operand::Integer(_)) => true,
            Some(Operand::Name(name)) => {
                self.lookup(name).is_some_and(|register| matches!(register.ty, Scalar::S32 | Scalar::U32))
            }
            _ => false,
        }
    }

    pub(super) fn surface(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let Some(formatted) = opcode.take_of(&["b", "p"]).map(|word| word == "p") else { return Ok(false) };
        let operation = match opcode.name {
            "sured" => opcode.take_of(&["add", "min", "max", "and", "or"]),
            _ => None,
        };
        let Some(geometry) = opcode.take_if(Geometry::parse).filter(|geometry| !geometry.is_cube()) else {
            return Ok(false);
        };
        opcode.drop_all(|word| matches!(word, "ca" | "cg" | "cs" | "cv" | "wb" | "wt"));
        let outside = opcode.take_if(|word| match word {
            "trap" => Some(Outside::Trap),
            "clamp" => Some(Outside::Clamp),
            "zero" => Some(Outside::Zero),
            _ => None,
        });
        // Old modules write none where it is to trap.
        let outside = outside.unwrap_or(Outside::Trap);
        let count = opcode.take_of(&["v2", "v4"]).map_or(1, |word| if word == "v2" { 2 } else { 4 });
        let Some(ty) = opcode.take_type() else { return Ok(false) };
        let wanted = match (opcode.name, formatted) {
            ("sured", _) => ty.is_integer() && matches!(ty.width(), 32 | 64) && count == 1,
            (_, true) => ty.width() == 32,
            (_, false) => matches!(ty, Scalar::B8 | Scalar::B16 | Scalar::B32 | Scalar::B64),
        };
        // An access has 16 bytes at most.
        if !wanted || ty.size() * count > 16 {
            return Ok(false);
        }
        let access = match (opcode.name, operation) {
            ("suld", _) => SurfaceAccess::Load,
            ("sust", _) => SurfaceAccess::Store,
            (_, Some(operation)) => {
                let of = |name: &str| -> Option<Fold> { fold(operation, name) };
                let folds = match (formatted, ty) {
                    (true, Scalar::B32) => of("u32").zip(of("s32")),
                    (true, Scalar::B64) => of("u64").zip(of("s64")),
                    (false, _) => of(ty.name()).map(|fold| (fold, fold)),
                    _ => None,
                };
                let Some((unsigned, signed)) = folds else { return Ok(false) };
                SurfaceAccess::Reduce { unsigned, signed }
            }
            _ => return Ok(false),
        };
        self.count(operands, 2..=2)?;
        let (place, values) = match access {
            SurfaceAccess::Load => (operands[1], operands[0]),
            _ => (operands[0], operands[1]),
        };
        let Some([handle, at]) = inside(place).as_deref().and_then(|parts| <[&str; 2]>::try_from(parts).ok()) else {
            return Err(self.malformed(format!("`{place}` is no surface with coordinates: write [surface, {{x, y}}]")));
        };
        let mut elements = Vec::with_capacity(count);
        let handle = self.handle(handle)?;
        let (layer, at) = self.coordinates(at, geometry, Scalar::S32)?;
        for text in self.elements(values, count)? {
            elements.push(match access {
                SurfaceAccess::Load if text == "_" => (self.fresh(width_of(ty)), width_of(ty)),
                SurfaceAccess::Load => {
                    let register = self.wider_register(text, ty)?;
                    (register.slot, width_of(register.ty))
                }
                _ => (self.wider_source(text, ty)?, width_of(ty)),
            });
        }
        let (bytes, elements) = (ty.size() as u32, elements.into());
        let surface = SurfaceOp { geometry, outside, formatted, layer, at, bytes, elements, access };
        self.emit_texture(handle, None, Action::Surface(surface));
        Ok(true)
    }

    pub(super) fn texture_query(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let has_level = opcode.take("level");
        let of_surface = opcode.name == "suq";
        let Some(attribute) = opcode.take_if(|word| Attribute::parse(word, of_surface)) else { return Ok(false) };
        if !opcode.take("b32") || has_level && !matches!(attribute, Attribute::Extent(_)) {
            return Ok(false);
        }
        let count = if has_level { 3 } else { 2 };
        self.count(operands, count..=count)?;
        let d = self.destination(operands[0], Scalar::B32)?;
        let Some([handle]) = inside(operands[1]).as_deref().and_then(|parts| <[&str; 1]>::try_from(parts).ok()) else {
            return Err(self.malformed(format!("`{}` is no texture or surface: write [name]", operands[1])));
        };
        let handle = self.handle(handle)?;
        let level = if has_level { Some(self.source(operands[2], Scalar::B32)?) } else { None };
        self.emit_texture(handle, None, Action::Query { attribute, level, d });
        Ok(true)
    }

    pub(super) fn is_type(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let known = ["texref", "samplerref", "surfref"];
        let Some(wanted) = opcode.take_if(|word| known.into_iter().find(|known| *known == word)) else {
            return Ok(false);
        };
        self.count(operands, 2..=2)?;
        let d = self.destination(operands[0], Scalar::Pred)?;
        let handle = self.handle(operands[1])?;
        self.emit_texture(handle, None, Action::IsType { wanted, d });
        Ok(true)
    }
}
