//! Instructions on textures and surfaces, decoded.

use super::fetch::Geometry;
use crate::code::{Fold, Role};
use crate::column::{Slot, Width};

/// A handle: the slot that holds it, and the name of the reference if the instruction names one.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    pub(crate) slot: Slot,
    pub(crate) name: Option<Box<str>>,
}

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct TextureOp {
    pub(crate) handle: Handle,
    /// The sampler, where the instruction has one of its own.
    pub(crate) sampler: Option<Handle>,
    pub(crate) action: Action,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// `tex`, `tld4`
    Fetch(FetchOp),
    /// `suld`, `sust`, `sured`
    Surface(SurfaceOp),
    /// `txq`, `suq`
    Query { attribute: Attribute, level: Option<Slot>, d: Slot },
    /// `istypep`
    IsType { wanted: &'static str, d: Slot },
}

#[derive(Clone, Debug)]
pub(crate) struct FetchOp {
    pub(crate) geometry: Geometry,
    /// Whether coordinates are integers.
    pub(crate) whole: bool,
    pub(crate) layer: Option<Slot>,
    /// As many as the geometry has.
    pub(crate) at: Box<[Slot]>,
    pub(crate) offset: Box<[Slot]>,
    pub(crate) lod: LodSlots,
    /// `tld4`: the channel.
    pub(crate) gather: Option<usize>,
    pub(crate) results: Results,
    pub(crate) d: Box<[Slot]>,
    /// Whether the texel is there, which it always is.
    pub(crate) resident: Option<Slot>,
}

#[derive(Clone, Debug)]
pub(crate) enum LodSlots {
    Base,
    /// An integer where coordinates are.
    Level(Slot),
    Gradient([Box<[Slot]>; 2]),
}

/// How channels stand in the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// A word each.
    Words,
    /// `.f16`
    Halves,
    /// `.f16x2`: two in a word.
    HalfPairs,
}

#[derive(Clone, Debug)]
pub(crate) struct SurfaceOp {
    pub(crate) geometry: Geometry,
    pub(crate) outside: Outside,
    /// Whether the first coordinate counts texels, not bytes.
    pub(crate) formatted: bool,
    pub(crate) layer: Option<Slot>,
    pub(crate) at: Box<[Slot]>,
    /// Bytes of an element, and their slots with the width of their columns.
    pub(crate) bytes: u32,
    pub(crate) elements: Box<[(Slot, Width)]>,
    pub(crate) access: SurfaceAccess,
}

/// What is done where coordinates are outside a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    Trap,
    Clamp,
    Zero,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum SurfaceAccess {
    Load,
    Store,
    /// The operation on unsigned integers, or bits, and on signed ones; a formatted reduction takes that of the surface's format.
    Reduce {
        unsigned: Fold,
        signed: Fold,
    },
}

/// What `txq` and `suq` ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attribute {
    Extent(usize),
    DataType,
    Order,
    Normalized,
    ForceUnnormalized,
    Filter,
    Address(usize),
    ArraySize,
    Levels,
    Samples,
    Linear,
}

impl Attribute {
    /// By the modifier of `txq`, or of `suq`.
    pub(crate) fn parse(word: &str, of_surface: bool) -> Option<Attribute> {
        Some(match word {
            "width" => Attribute::Extent(0),
            "height" => Attribute::Extent(1),
            "depth" => Attribute::Extent(2),
            "channel_data_type" => Attribute::DataType,
            "channel_order" => Attribute::Order,
            "array_size" => Attribute::ArraySize,
            "memory_layout" if of_surface => Attribute::Linear,
            _ if of_surface => return None,
            "normalized_coords" => Attribute::Normalized,
            "force_unnormalized_coords" => Attribute::ForceUnnormalized,
            "filter_mode" => Attribute::Filter,
            "addr_mode_0" => Attribute::Address(0),
            "addr_mode_1" => Attribute::Address(1),
            "addr_mode_2" => Attribute::Address(2),
            "num_mipmap_levels" => Attribute::Levels,
            "num_samples" => Attribute::Samples,
            _ => return None,
        })
    }
}

impl TextureOp {
    /// Shows every slot, sources before results.
    pub(crate) fn slots(&mut self, see: &mut dyn FnMut(&mut Slot, Role)) {
        use Role::{Result, Source};
        see(&mut self.handle.slot, Source);
        self.sampler.iter_mut().for_each(|sampler| see(&mut sampler.slot, Source));
        match &mut self.action {
            Action::Fetch(fetch) => {
                let gradient = match &mut fetch.lod {
                    LodSlots::Gradient(by) => Some(by.iter_mut().flatten()),
                    _ => None,
                };
                gradient.into_iter().flatten().for_each(|slot| see(slot, Source));
                if let LodSlots::Level(slot) = &mut fetch.lod {
                    see(slot, Source);
                }
                let sources = fetch.layer.iter_mut().chain(&mut fetch.at).chain(&mut fetch.offset);
                sources.for_each(|slot| see(slot, Source));
                fetch.d.iter_mut().chain(&mut fetch.resident).for_each(|slot| see(slot, Result));
            }
            Action::Surface(surface) => {
                surface.layer.iter_mut().chain(&mut surface.at).for_each(|slot| see(slot, Source));
                let role = if matches!(surface.access, SurfaceAccess::Load) { Result } else { Source };
                surface.elements.iter_mut().for_each(|(slot, _)| see(slot, role));
            }
            Action::Query { level, d, .. } => {
                level.iter_mut().for_each(|slot| see(slot, Source));
                see(d, Result);
            }
            Action::IsType { d, .. } => see(d, Result),
        }
    }

    /// What it takes for one thread, about, in thread-instructions.
    pub(crate) fn cost(&self) -> u64 {
        match &self.action {
            Action::Fetch(fetch) if matches!(fetch.lod, LodSlots::Base) => 32,
            Action::Fetch(_) => 64,
            Action::Surface(_) => 16,
            Action::Query { .. } | Action::IsType { .. } => 4,
        }
    }

    /// Whether it changes memory.
    pub(crate) fn writes(&self) -> bool {
        matches!(&self.action, Action::Surface(surface) if !matches!(surface.access, SurfaceAccess::Load))
    }
}
