//! Textures and surfaces of launch files: what is said of them, and what becomes of it when the buffers are there.
//!
//! ```toml
//! [textures]
//! left   = { file = "left.png", read = "normalized", filter = "linear" }
//! volume = { buffer = "samples", kind = "3d", channels = 1, address = "border", normalized = true }
//!
//! [surfaces]
//! out = { buffer = "picture", channels = 4 }
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;
use vop_arrays::{Description, Element, Format as Extension};

use super::{At, Buffer, Job, Loaded};
use crate::error::RunError;
use crate::memory::Memory;
use crate::texture::{AddressMode, Filter, Format, Image, Sampler, Shape, Surface, Texture};

/// A texture or a surface as a launch file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, such as { buffer = \"in\", filter = \"linear\" }")]
pub(super) struct TextureFile {
    pub(super) buffer: Option<Spanned<String>>,
    pub(super) file: Option<Spanned<PathBuf>>,
    kind: Option<Kind>,
    channels: Option<Spanned<u64>>,
    address: Option<Spanned<Modes>>,
    filter: Option<FilterName>,
    read: Option<ReadName>,
    normalized: Option<bool>,
    srgb: Option<bool>,
    border: Option<[f32; 4]>,
}

/// As a surface, of which nothing is said but where it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, such as { buffer = \"out\" }")]
pub(super) struct SurfaceFile {
    pub(super) buffer: Spanned<String>,
    kind: Option<Kind>,
    channels: Option<Spanned<u64>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum Kind {
    #[serde(rename = "linear")]
    Linear,
    #[serde(rename = "1d")]
    D1,
    #[serde(rename = "2d")]
    D2,
    #[serde(rename = "3d")]
    D3,
    #[serde(rename = "layered 1d")]
    Layered1D,
    #[serde(rename = "layered 2d")]
    Layered2D,
    #[serde(rename = "cube")]
    Cube,
    #[serde(rename = "layered cube")]
    LayeredCube,
}

impl Kind {
    /// The shape, and the number of axes without the channels.
    fn shape(self) -> (Shape, usize) {
        match self {
            Kind::Linear => (Shape::Linear, 1),
            Kind::D1 => (Shape::D1, 1),
            Kind::D2 => (Shape::D2, 2),
            Kind::D3 => (Shape::D3, 3),
            Kind::Layered1D => (Shape::Layered1D, 2),
            Kind::Layered2D => (Shape::Layered2D, 3),
            Kind::Cube => (Shape::Cube, 3),
            Kind::LayeredCube => (Shape::LayeredCube, 3),
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModeName {
    Wrap,
    Clamp,
    Mirror,
    Border,
}

impl From<ModeName> for AddressMode {
    fn from(name: ModeName) -> AddressMode {
        match name {
            ModeName::Wrap => AddressMode::Wrap,
            ModeName::Clamp => AddressMode::Clamp,
            ModeName::Mirror => AddressMode::Mirror,
            ModeName::Border => AddressMode::Border,
        }
    }
}

/// `"clamp"`, or one for each axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "`wrap`, `clamp`, `mirror` or `border`, or a list of one for each axis: x, y, z")]
enum Modes {
    All(ModeName),
    Each(Vec<ModeName>),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FilterName {
    Point,
    Linear,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ReadName {
    Element,
    Normalized,
}

/// A texture or a surface of a job.
#[derive(Clone, Debug)]
pub(super) struct TextureSpec {
    pub(super) name: String,
    pub(super) span: Option<Range<usize>>,
    /// The buffer that holds the texels: its name, and where it is named. A file has a buffer of the texture's name.
    pub(super) buffer: At<String>,
    kind: Option<Kind>,
    channels: Option<At<u64>>,
    /// None for a surface.
    sampler: Option<Sampler>,
}

impl TextureSpec {
    /// What it is called.
    pub(super) fn what(&self) -> &'static str {
        if self.sampler.is_some() { "texture" } else { "surface" }
    }

    /// Of a launch file; `wrong` makes an error at a place.
    pub(super) fn texture(
        name: String,
        spec: &Spanned<TextureFile>,
        wrong: impl Fn(Range<usize>, String) -> RunError,
    ) -> Result<TextureSpec, RunError> {
        let file = spec.get_ref();
        let buffer = match (&file.buffer, &file.file) {
            (Some(buffer), None) => At::from(buffer.clone()),
            (None, Some(file)) => At { value: name.clone(), span: Some(file.span()) },
            _ => {
                let message = format!("texture `{name}` has neither a `buffer` nor a `file`, or both");
                let help = "write { buffer = \"NAME\" } for texels of a buffer, or { file = \"picture.png\" }";
                return Err(wrong(spec.span(), message).with_help(help));
            }
        };
        let mut sampler = Sampler::default();
        match file.address.as_ref().map(Spanned::get_ref) {
            None => {}
            Some(Modes::All(mode)) => sampler.address = [(*mode).into(); 3],
            Some(Modes::Each(modes)) if (1..=3).contains(&modes.len()) => {
                sampler.address.iter_mut().zip(modes).for_each(|(to, mode)| *to = (*mode).into());
            }
            Some(Modes::Each(modes)) => {
                let span = file.address.as_ref().map_or(spec.span(), Spanned::span);
                return Err(wrong(span, format!("{} address modes: there are one to three axes", modes.len())));
            }
        }
        if let Some(FilterName::Linear) = file.filter {
            sampler.filter = Filter::Linear;
        }
        sampler.normalized_float = matches!(file.read, Some(ReadName::Normalized));
        sampler.normalized_coordinates = file.normalized.unwrap_or(false);
        sampler.srgb = file.srgb.unwrap_or(false);
        sampler.border = file.border.unwrap_or_default();
        // A picture has two axes, and perhaps channels.
        let picture = file.file.as_ref().filter(|path| Extension::of(path.get_ref()) == Some(Extension::Png));
        let kind = file.kind.or(picture.map(|_| Kind::D2));
        let channels = file.channels.clone().map(At::from);
        Ok(TextureSpec { name, span: Some(spec.span()), buffer, kind, channels, sampler: Some(sampler) })
    }

    pub(super) fn surface(name: String, spec: &Spanned<SurfaceFile>) -> TextureSpec {
        let SurfaceFile { buffer, kind, channels } = spec.get_ref().clone();
        let (buffer, channels) = (At::from(buffer), channels.map(At::from));
        TextureSpec { name, span: Some(spec.span()), buffer, kind, channels, sampler: None }
    }

    /// The image that a buffer of this type and shape is; what is wrong, otherwise.
    fn image(&self, address: u64, description: &Description) -> Result<Image, String> {
        let Description { element, shape } = description;
        let format = match element {
            Element::U8 => Format::U8,
            Element::I8 => Format::S8,
            Element::U16 => Format::U16,
            Element::I16 => Format::S16,
            Element::U32 => Format::U32,
            Element::I32 => Format::S32,
            Element::F16 => Format::F16,
            Element::F32 => Format::F32,
            other => return Err(format!("the texels of a {} are no {other}", self.what())),
        };
        let named = self.kind.map(Kind::shape);
        // Channels are the last axis, if there is one more than the image has.
        let given = self.channels.as_ref().map(|channels| channels.value);
        let has_channels = match (given, named) {
            (Some(channels), named) => channels > 1 || named.is_some_and(|(_, axes)| shape.len() == axes + 1),
            (None, Some((_, axes))) => shape.len() == axes + 1,
            (None, None) => false,
        };
        let (axes, channels) = match shape.split_last() {
            Some((last, axes)) if has_channels => (axes, *last),
            _ => (&shape[..], 1),
        };
        if given.is_some_and(|given| given != channels) || !matches!(channels, 1 | 2 | 4) {
            let wanted = given.unwrap_or(channels);
            return Err(format!("{description} has no last axis of {wanted} channels: texels have 1, 2 or 4"));
        }
        let by_axes = || match axes.len() {
            1 => Some((Shape::D1, 1)),
            2 => Some((Shape::D2, 2)),
            3 => Some((Shape::D3, 3)),
            _ => None,
        };
        let Some((shape, _)) = named.or_else(by_axes).filter(|(_, wanted)| *wanted == axes.len()) else {
            let kind = named.map_or("an image", |(shape, _)| shape.name());
            return Err(format!("{description} has {} axes, too few or too many for {kind}", axes.len()));
        };
        // The last axis of an array is x.
        let extent = match (shape, axes) {
            (Shape::Layered1D, [layers, width]) => [*width, 0, *layers],
            (_, [width]) => [*width, 0, 0],
            (_, [height, width]) => [*width, *height, 0],
            (_, [depth, height, width]) => [*width, *height, *depth],
            _ => return Err(format!("{description} is no image")),
        };
        Ok(Image::new(address, format, channels as u32, shape, extent))
    }
}

/// All textures and surfaces of a launch file.
pub(super) type Files<T> = BTreeMap<String, Spanned<T>>;

/// Handles by name.
pub(super) type Handles = Vec<(String, u64)>;

impl Job {
    /// Makes the textures and surfaces, and binds those whose name is that of a reference of the module.
    pub(super) fn make_textures(
        &self,
        buffers: &[Buffer<'_>],
        loaded: &Loaded<'_>,
        memory: &mut Memory,
    ) -> (Handles, Vec<RunError>) {
        let (mut handles, mut errors) = (Vec::new(), Vec::new());
        for spec in &self.textures {
            let Some(buffer) = buffers.iter().find(|buffer| buffer.name == spec.buffer.value) else { continue };
            match self.make_texture(spec, buffer, loaded, memory) {
                Ok(handle) => handles.push((spec.name.clone(), handle)),
                Err(error) => errors.push(error),
            }
        }
        (handles, errors)
    }

    fn make_texture(
        &self,
        spec: &TextureSpec,
        buffer: &Buffer<'_>,
        loaded: &Loaded<'_>,
        memory: &mut Memory,
    ) -> Result<u64, RunError> {
        let wrong = |message: String| self.source.wrong(spec.span.as_ref(), message);
        let image = spec.image(memory.address(buffer.id), &buffer.description).map_err(|message| {
            let at = spec.channels.as_ref().and_then(|channels| channels.span.as_ref()).or(spec.span.as_ref());
            let help = "`kind` and `channels` say what the axes of the buffer are; the last are y, x and the channels";
            self.source.wrong(at, message).with_help(help)
        })?;
        // An error of the memory says what is wrong with the image or the sampler.
        let place = |error: RunError| RunError { help: error.help.clone(), ..wrong(error.message) };
        let program = loaded.program;
        let is_bound = !program.find_references(&spec.name).is_empty();
        if !is_bound && !self.is_argument(&spec.name) {
            let message = format!("nothing uses {} `{}`", spec.what(), spec.name);
            let help = "name it among the `args` of a launch, or give it the name of a reference of the module";
            return Err(wrong(message).with_help(help));
        }
        match spec.sampler {
            Some(sampler) => {
                let texture = Texture::new(image, sampler);
                if is_bound {
                    memory.bind_texture(program, &spec.name, texture).map_err(place)?;
                }
                memory.create_texture(texture).map_err(place)
            }
            None => {
                let surface = Surface::new(image);
                if is_bound {
                    memory.bind_surface(program, &spec.name, surface).map_err(place)?;
                }
                memory.create_surface(surface).map_err(place)
            }
        }
    }

    fn is_argument(&self, name: &str) -> bool {
        self.launches.iter().any(|launch| launch.args.value.iter().any(|arg| arg.value.names_texture(name)))
    }
}
