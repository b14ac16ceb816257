//! Textures and surfaces: a thread after another, each by its own handle.

#![allow(unsafe_code, reason = "columns and the kernel's memory are raw memory")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use half::f16;

use super::access::{Reach, peek};
use super::block::{Failure, Worker, threads};
use super::findings::{AccessKind, Spot};
use super::shadow::Touch;
use crate::code::{Order, OrderSemantics, Pc, Scope};
use crate::column::{Slot, WARP, Width};
use crate::error::{RunError, RunErrorKind};
use crate::memory::{Memory, plural};
use crate::symbol::shown;
use crate::texture::fetch::{Coordinates, Fetch, Geometry, Lod, Reader, Value};
use crate::texture::op::{
    Action, Attribute, FetchOp, Handle, LodSlots, Outside, Results, SurfaceAccess, SurfaceOp, TextureOp,
};
use crate::texture::table::{Known, Sampled, Table, Texels, is_handle};
use crate::texture::{AddressMode, Filter, Format, Sampler, Shape};

/// What a launch knows of textures and surfaces.
#[derive(Debug)]
pub(super) struct Textures {
    table: Arc<Table>,
    /// What is bound to references, by their addresses.
    references: Vec<(u64, Arc<Known>)>,
}

impl Textures {
    pub(super) fn of(memory: &Memory) -> Textures {
        let table = Arc::clone(&memory.textures);
        let bound = table.bound().map(|(buffer, known)| (memory.address(buffer), Arc::clone(known)));
        Textures { references: bound.collect(), table }
    }

    fn find(&self, handle: u64) -> Option<&Known> {
        let bound = || self.references.iter().find(|(address, _)| *address == handle).map(|(_, known)| known);
        self.table.by_handle(handle).or_else(bound).map(|known| &**known)
    }
}

/// An image's memory while threads read it.
struct Pointer {
    start: *mut u8,
    /// What was read, if that is to be checked: bytes from the image's start, and their number.
    seen: Option<Vec<(u64, u64)>>,
}

impl Reader for Pointer {
    #[inline(always)]
    fn channel(&mut self, at: u64, bytes: u64) -> u32 {
        // SAFETY: images are found within their allocations when they are made and at each launch, at multiples of a channel's bytes, and a
        // fetch reads within the image.
        unsafe { peek(self.start.add(at as usize), bytes) as u32 }
    }

    #[inline(always)]
    fn texel(&mut self, at: u64, bytes: u64) {
        if let Some(seen) = &mut self.seen {
            seen.push((at, bytes));
        }
    }
}

/// What went wrong for a thread.
type Fault = RunError;

fn wrong(kind: RunErrorKind, message: String) -> Fault {
    RunError::new(kind, message)
}

/// The error where a handle is not what an instruction takes.
#[cold]
fn stranger(handle: u64, name: Option<&str>, found: Option<&Known>, wanted: &str) -> Fault {
    let what = match name {
        Some(name) => shown(name),
        None => format!("handle {handle:#x}"),
    };
    let (message, help) = match found {
        Some(found) => (format!("{what} is {}, and the instruction takes {wanted}", found.name()), None),
        None if name.is_some() => (
            format!("nothing is bound to the reference {what}"),
            Some("bind a texture or surface to it before the launch"),
        ),
        None if is_handle(handle) => (
            format!("{what} is not that of {wanted} any more, or of another memory"),
            Some("it may have been destroyed"),
        ),
        None => (format!("{what} is not that of {wanted}"), None),
    };
    let error = RunError { address: Some(handle), ..wrong(RunErrorKind::Forbidden, message) };
    match help {
        Some(help) => error.with_help(help),
        None => error,
    }
}

/// The error where the shape of an image is not that of an instruction.
#[cold]
fn misfit(geometry: Geometry, shape: Shape, what: &str) -> Fault {
    let message = format!("a {} {what} is read as {}", shape.name(), geometry.name());
    wrong(RunErrorKind::Forbidden, message)
}

impl Reach {
    /// Where an image's memory is now.
    fn image(&self, texels: &Texels, write: bool) -> Result<*mut u8, Fault> {
        let place = texels.place;
        let region = self.region(place.buffer.index()).filter(|region| place.offset + place.len <= region.len);
        let region = region.filter(|_| !place.freed);
        let Some(region) = region else {
            let message = format!("the {} of an image are not there any more", plural(place.len));
            let error = wrong(RunErrorKind::OutOfBounds, message);
            return Err(error.with_help("its memory was freed before the texture or surface was destroyed"));
        };
        if write && region.read_only {
            return Err(wrong(RunErrorKind::Forbidden, "a surface of memory that may only be read".to_owned()));
        }
        Ok(region.start.wrapping_add(place.offset as usize))
    }

    /// Tells the shadow memory of a thread's access to an image.
    fn touch_image(&mut self, texels: &Texels, at: u64, bytes: u64, thread: usize, kind: AccessKind) -> Option<Touch> {
        self.shadow.as_ref()?;
        let spot = Spot::Global(texels.place.address + at);
        let order = match kind {
            AccessKind::Atomic => Order { semantics: OrderSemantics::Relaxed, scope: Scope::Device },
            _ => Order::default(),
        };
        let touch =
            Touch { spot, bytes, element: bytes, thread, kind, order, copy: None, same_value: false, swaps: false };
        self.observe(&touch);
        Some(touch)
    }
}

impl<'l> Worker<'l> {
    pub(super) fn texture(&mut self, pc: Pc, op: &TextureOp, mask: &[u8]) -> Result<(), Failure> {
        self.reach.tell_shadow(self.launch.kernel.steps[pc as usize].statement);
        let mut last = Last::default();
        let mut failed = None;
        // Threads of warps whose fetches were made together.
        let mut made = 0..0;
        for thread in threads(mask) {
            if made.contains(&thread) {
                continue;
            }
            if let Action::Fetch(fetch) = &op.action
                && thread >= made.end
            {
                // The first of a warp that takes part.
                made = thread / WARP * WARP..(thread / WARP + 1) * WARP;
                if self.fetch_warp(op, fetch, &mut last, thread, &mask[made.clone()]) {
                    continue;
                }
                made = made.end..made.end;
            }
            let done = match &op.action {
                Action::Fetch(fetch) => self.fetch(op, fetch, &mut last, thread),
                Action::Surface(surface) => self.surface(op, surface, &mut last, thread),
                Action::Query { attribute, level, d } => self.query(op, *attribute, *level, *d, thread),
                Action::IsType { wanted, d } => {
                    let found = match self.launch.textures.find(self.word(op.handle.slot, Width::Double, thread)) {
                        Some(Known::Texture(_)) => "texref",
                        Some(Known::Surface(..)) => "surfref",
                        Some(Known::Sampler(_)) => "samplerref",
                        None => "",
                    };
                    self.write(*d, Width::Predicate, thread, u64::from(found == *wanted));
                    Ok(())
                }
            };
            if let Err(error) = done {
                failed = Some((error, thread));
                break;
            }
        }
        match failed {
            Some((error, thread)) => Err(self.fail(error, thread, pc)),
            None => Ok(()),
        }
    }

    fn word(&self, slot: Slot, width: Width, thread: usize) -> u64 {
        // SAFETY: the decoder laid the slots of these instructions out for the widths that are asked for.
        unsafe { self.reach.file.element(slot, width, thread) }
    }

    fn write(&self, slot: Slot, width: Width, thread: usize, value: u64) {
        // SAFETY: as above.
        unsafe { self.reach.file.set_element(slot, width, thread, value) };
    }

    /// What a handle means, or an error.
    fn known(&self, handle: &Handle, thread: usize, wanted: &str) -> Result<&'l Known, Fault> {
        let value = self.word(handle.slot, Width::Double, thread);
        let launch = self.launch;
        launch.textures.find(value).ok_or_else(|| stranger(value, handle.name.as_deref(), None, wanted))
    }

    /// A thread's texture and sampler: those of the thread before, if the handles are the same.
    fn sampled(&mut self, op: &TextureOp, last: &mut Last<'l>, thread: usize) -> Result<Sampling<'l>, Fault> {
        let handle = self.word(op.handle.slot, Width::Double, thread);
        let other = op.sampler.as_ref().map_or(0, |sampler| self.word(sampler.slot, Width::Double, thread));
        if let Some((before, sampling)) = last.sampling
            && before == [handle, other]
        {
            return Ok(sampling);
        }
        let sampled = match self.known(&op.handle, thread, "a texture")? {
            Known::Texture(sampled) => sampled,
            found => return Err(stranger(handle, op.handle.name.as_deref(), Some(found), "a texture")),
        };
        let sampler = match &op.sampler {
            None => &sampled.sampler,
            Some(named) => match self.known(named, thread, "a sampler")? {
                Known::Sampler(sampler) => sampler,
                // A texture has a sampler as well.
                Known::Texture(sampled) => &sampled.sampler,
                found => return Err(stranger(other, named.name.as_deref(), Some(found), "a sampler")),
            },
        };
        let sampling = Sampling { sampled, sampler, start: self.reach.image(&sampled.texels, false)? };
        last.sampling = Some(([handle, other], sampling));
        Ok(sampling)
    }

    /// Makes the fetches of a warp together, where that is possible: `first` is its first thread that takes part. False if each thread must
    /// make its own, and find what is wrong.
    fn fetch_warp(&mut self, op: &TextureOp, fetch: &FetchOp, last: &mut Last<'l>, first: usize, mask: &[u8]) -> bool {
        let is_common = fetch.layer.is_none()
            && fetch.offset.is_empty()
            && fetch.gather.is_none()
            && fetch.resident.is_none()
            && fetch.results == Results::Words
            && matches!(fetch.lod, LodSlots::Base)
            && self.reach.shadow.is_none();
        if !is_common {
            return false;
        }
        let (file, warp) = (self.reach.file, first / WARP);
        let is_same = |slot: Slot| {
            // SAFETY: handles are words of 64 bits.
            let handles = unsafe { &*file.column::<u64>(slot).warp(warp) };
            let wanted = handles[first % WARP];
            handles.iter().zip(mask).all(|(handle, active)| *handle == wanted || *active == 0)
        };
        if !is_same(op.handle.slot) || op.sampler.as_ref().is_some_and(|sampler| !is_same(sampler.slot)) {
            return false;
        }
        let Ok(Sampling { sampled, sampler, start }) = self.sampled(op, last, first) else { return false };
        let shape = sampled.texels.shape;
        let how = Fetch::new(sampled, sampler, fetch.geometry);
        let fits = fetch.geometry.fits(shape) && (shape != Shape::Linear || fetch.whole);
        if !fits || !super::fetch::is_possible(&how, fetch.whole) {
            return false;
        }
        let mut at = [[0; WARP]; 2];
        for (at, slot) in at.iter_mut().zip(&fetch.at) {
            // SAFETY: coordinates are words.
            *at = unsafe { *file.column::<u32>(*slot).warp(warp) };
        }
        let mut out = [[0; WARP]; 4];
        // SAFETY: the launch's level is the CPU's; the image's memory was found just now.
        unsafe { super::fetch::fetch(self.launch.kernel.level, &how, fetch.whole, start, &at, &mut out) };
        #[cfg(debug_assertions)]
        for lane in threads(mask) {
            let mut reader = Pointer { start, seen: None };
            let value = super::fetch::one(&how, fetch.whole, &mut reader, at.map(|at| at[lane]));
            // Memory that others write at the same time may differ.
            let again = super::fetch::one(&how, fetch.whole, &mut reader, at.map(|at| at[lane]));
            let is_equal = |channel: usize| {
                let [one, other] = [value[channel], out[channel][lane]].map(f32::from_bits);
                one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()
            };
            debug_assert!(value != again || (0..4).all(is_equal), "{value:x?}, {:x?}", out.map(|out| out[lane]));
        }
        for (slot, words) in fetch.d.iter().zip(&out) {
            // SAFETY: results are words. The mask has a byte for each thread.
            unsafe {
                let column = &mut *file.column::<u32>(*slot).warp(warp);
                for lane in 0..WARP {
                    column[lane] = if mask[lane] == 0 { column[lane] } else { words[lane] };
                }
            }
        }
        true
    }

    fn fetch(&mut self, op: &TextureOp, fetch: &FetchOp, last: &mut Last<'l>, thread: usize) -> Result<(), Fault> {
        let Sampling { sampled, sampler, start } = self.sampled(op, last, thread)?;
        let shape = sampled.texels.shape;
        if !fetch.geometry.fits(shape) {
            return Err(misfit(fetch.geometry, shape, "texture"));
        }
        if shape == Shape::Linear && !fetch.whole {
            let message = "a texture of linear memory is read by coordinates that are floats".to_owned();
            return Err(wrong(RunErrorKind::Forbidden, message).with_help("use tex1Dfetch, or an array"));
        }
        let how = Fetch::new(sampled, sampler, fetch.geometry);
        let mut reader = Pointer { start, seen: self.reach.shadow.is_some().then(Vec::new) };
        let integer = |worker: &Self, slot: Slot| worker.word(slot, Width::Word, thread) as u32 as i32;
        let layer = fetch.layer.map_or(0, |slot| self.word(slot, Width::Word, thread) as u32);
        let mut offset = [0; 3];
        for (offset, slot) in offset.iter_mut().zip(&fetch.offset) {
            // Four bits, with a sign.
            *offset = integer(self, *slot) << 28 >> 28;
        }
        let value = if fetch.whole {
            let mut at = [0; 3];
            for ((at, slot), offset) in at.iter_mut().zip(&fetch.at).zip(offset) {
                *at = integer(self, *slot).saturating_add(offset);
            }
            let level = match fetch.lod {
                LodSlots::Level(slot) => integer(self, slot),
                _ => 0,
            };
            how.whole(&mut reader, layer, at, level)
        } else {
            let float = |slot: &Slot| f32::from_bits(self.word(*slot, Width::Word, thread) as u32);
            let floats = |slots: &[Slot]| {
                let mut at = [0.0; 3];
                at.iter_mut().zip(slots).for_each(|(at, slot)| *at = float(slot));
                at
            };
            let lod = match &fetch.lod {
                LodSlots::Base => Lod::Base,
                LodSlots::Level(slot) => Lod::Level(float(slot)),
                LodSlots::Gradient([dx, dy]) => Lod::Gradient([floats(dx), floats(dy)]),
            };
            let coordinates = Coordinates { layer, at: floats(&fetch.at), offset };
            match fetch.gather {
                Some(channel) => how.gather(&mut reader, &coordinates, channel),
                None => {
                    if sampler.filter == Filter::Linear && !how.floats {
                        let message = "a linear filter of integers".to_owned();
                        return Err(wrong(RunErrorKind::Forbidden, message));
                    }
                    how.at(&mut reader, &coordinates, lod)
                }
            }
        };
        for (at, bytes) in reader.seen.unwrap_or_default() {
            self.reach.touch_image(&sampled.texels, at, bytes, thread, AccessKind::Read);
        }
        self.put_value(fetch, value, how.floats, thread)
    }

    fn put_value(&mut self, fetch: &FetchOp, value: Value, floats: bool, thread: usize) -> Result<(), Fault> {
        if fetch.results != Results::Words && !floats {
            let message = "a texture of integers is read as .f16".to_owned();
            return Err(wrong(RunErrorKind::Forbidden, message));
        }
        let halves = || value.map(|bits| u32::from(f16::from_f32(f32::from_bits(bits)).to_bits()));
        let words = match fetch.results {
            Results::Words => value,
            Results::Halves => halves(),
            Results::HalfPairs => {
                let [r, g, b, a] = halves();
                [r | g << 16, b | a << 16, 0, 0]
            }
        };
        for (slot, word) in fetch.d.iter().zip(words) {
            self.write(*slot, Width::Word, thread, u64::from(word));
        }
        if let Some(slot) = fetch.resident {
            self.write(slot, Width::Predicate, thread, 1);
        }
        Ok(())
    }

    fn surface(
        &mut self,
        op: &TextureOp,
        surface: &SurfaceOp,
        last: &mut Last<'l>,
        thread: usize,
    ) -> Result<(), Fault> {
        let handle = self.word(op.handle.slot, Width::Double, thread);
        let (texels, start) = match last.surface {
            Some((before, texels, start)) if before == handle => (texels, start),
            _ => {
                let texels = match self.known(&op.handle, thread, "a surface")? {
                    Known::Surface(texels, _) => texels,
                    found => return Err(stranger(handle, op.handle.name.as_deref(), Some(found), "a surface")),
                };
                let start = self.reach.image(texels, op.writes())?;
                last.surface = Some((handle, texels, start));
                (texels, start)
            }
        };
        let Some(at) = self.place(surface, texels, thread)? else {
            // What is outside is zero, and a store to it is dropped.
            if matches!(surface.access, SurfaceAccess::Load) {
                for (slot, width) in &surface.elements {
                    self.write(*slot, *width, thread, 0);
                }
            }
            return Ok(());
        };
        match surface.access {
            SurfaceAccess::Load => self.surface_load(surface, texels, start, at, thread),
            SurfaceAccess::Store => self.surface_store(surface, texels, start, at, thread),
            SurfaceAccess::Reduce { unsigned, signed } => {
                let is_signed = matches!(texels.format, Format::S8 | Format::S16 | Format::S32);
                let fold = if surface.formatted && is_signed { signed } else { unsigned };
                let bytes = u64::from(surface.bytes);
                self.reach.touch_image(texels, at, bytes, thread, AccessKind::Atomic);
                let [(slot, width), ..] = surface.elements[..] else { return Ok(()) };
                let value = self.word(slot, width, thread);
                let pointer = start.wrapping_add(at as usize);
                let order = Ordering::SeqCst;
                // SAFETY: `place` has found the bytes within the image, at a multiple of their number.
                unsafe {
                    if bytes == 8 {
                        let _ = AtomicU64::from_ptr(pointer.cast())
                            .fetch_update(order, order, |old| Some(fold(old, value)));
                    } else {
                        let _ = AtomicU32::from_ptr(pointer.cast())
                            .fetch_update(order, order, |old| Some(fold(u64::from(old), value) as u32));
                    }
                }
                Ok(())
            }
        }
    }

    /// Where a thread reaches in a surface, in bytes from the image's start; none where it is outside and the instruction takes zero.
    fn place(&self, surface: &SurfaceOp, texels: &Texels, thread: usize) -> Result<Option<u64>, Fault> {
        let (geometry, shape) = (surface.geometry, texels.shape);
        // Faces of cubes are layers here.
        if !(geometry.fits(shape) || geometry == Geometry::Layered2D && shape.is_cube()) {
            return Err(misfit(geometry, shape, "surface"));
        }
        let level = &texels.levels[0];
        let texel = u64::from(texels.texel_bytes);
        let reduces = matches!(surface.access, SurfaceAccess::Reduce { .. });
        let bytes = match (surface.formatted, reduces) {
            (true, false) => texel,
            (true, true) => u64::from(surface.bytes),
            (false, _) => u64::from(surface.bytes) * surface.elements.len() as u64,
        };
        let row = u64::from(level.extent[0]) * texel;
        let integer = |slot: &Slot| i64::from(self.word(*slot, Width::Word, thread) as u32 as i32);
        let mut at = [0i64; 3];
        at.iter_mut().zip(&surface.at).for_each(|(at, slot)| *at = integer(slot));
        if let Some(slot) = surface.layer {
            at[2] = self.word(slot, Width::Word, thread) as i64;
        }
        let given = at;
        if surface.formatted {
            at[0] = at[0].saturating_mul(bytes as i64);
        }
        let last = |axis: usize| i64::from(level.extent[axis]) - 1;
        let lasts = [row as i64 - bytes as i64, last(1), last(2)];
        let is_inside = at.iter().zip(lasts).all(|(at, last)| (0..=last).contains(at));
        if !is_inside {
            match surface.outside {
                Outside::Zero => return Ok(None),
                Outside::Clamp if lasts[0] >= 0 => {
                    for (at, last) in at.iter_mut().zip(lasts) {
                        *at = (*at).clamp(0, last);
                    }
                    at[0] -= at[0] % bytes as i64;
                }
                _ => return Err(outside(surface, texels, given, bytes)),
            }
        }
        let [x, y, z] = at.map(|n| n as u64);
        let offset = level.start + z * level.slice + y * level.row + x;
        let alignment = if surface.formatted && !reduces { texels.format.bytes() } else { bytes };
        // What a whole access starts at is a multiple of its bytes; the image may start anywhere.
        let element = if surface.formatted { alignment } else { u64::from(surface.bytes) };
        if !(x.is_multiple_of(alignment) && (texels.place.address + offset).is_multiple_of(element)) {
            let message = format!("a surface access of {} at byte {x} of a row", plural(bytes));
            let error = wrong(RunErrorKind::Misaligned, message);
            return Err(error.with_help("the first coordinate counts bytes: it is a multiple of the access's size"));
        }
        Ok(Some(offset))
    }

    fn surface_load(
        &mut self,
        surface: &SurfaceOp,
        texels: &Texels,
        start: *mut u8,
        at: u64,
        thread: usize,
    ) -> Result<(), Fault> {
        if surface.formatted {
            let sampler = Sampler::default();
            let floats = !texels.format.is_integer();
            let how = Fetch { texels, sampler: &sampler, geometry: surface.geometry, floats };
            let mut reader = Pointer { start, seen: None };
            let value = how.texel(&mut reader, at);
            self.reach.touch_image(texels, at, u64::from(texels.texel_bytes), thread, AccessKind::Read);
            for ((slot, width), word) in surface.elements.iter().zip(value) {
                self.write(*slot, *width, thread, u64::from(word));
            }
            return Ok(());
        }
        let bytes = u64::from(surface.bytes);
        self.reach.touch_image(texels, at, bytes * surface.elements.len() as u64, thread, AccessKind::Read);
        for (i, (slot, width)) in surface.elements.iter().enumerate() {
            // SAFETY: `place` has found all elements within the image, at multiples of their bytes.
            let value = unsafe { peek(start.wrapping_add(at as usize + i * bytes as usize), bytes) };
            self.write(*slot, *width, thread, value);
        }
        Ok(())
    }

    fn surface_store(
        &mut self,
        surface: &SurfaceOp,
        texels: &Texels,
        start: *mut u8,
        at: u64,
        thread: usize,
    ) -> Result<(), Fault> {
        let words: Vec<u64> = surface.elements.iter().map(|(slot, width)| self.word(*slot, *width, thread)).collect();
        let (bytes, count) = match surface.formatted {
            true => (texels.format.bytes(), texels.channels as usize),
            false => (u64::from(surface.bytes), words.len()),
        };
        self.reach.touch_image(texels, at, bytes * count as u64, thread, AccessKind::Write);
        for i in 0..count {
            let word = words.get(i).copied().unwrap_or(0);
            let value = if surface.formatted { to_format(texels.format, word as u32) } else { word };
            let pointer = start.wrapping_add(at as usize + i * bytes as usize);
            // SAFETY: `place` has found all elements within the image, at multiples of their bytes.
            unsafe { poke(pointer, bytes, value) };
        }
        Ok(())
    }

    fn query(
        &mut self,
        op: &TextureOp,
        attribute: Attribute,
        level: Option<Slot>,
        d: Slot,
        thread: usize,
    ) -> Result<(), Fault> {
        let level = level.map_or(0, |slot| self.word(slot, Width::Word, thread) as usize);
        let known = self.known(&op.handle, thread, "a texture or surface")?;
        let value = match known {
            Known::Texture(sampled) => attribute_of(&sampled.texels, Some(&sampled.sampler), attribute, level),
            Known::Surface(texels, _) => attribute_of(texels, None, attribute, level),
            Known::Sampler(sampler) => attribute_of_sampler(sampler, attribute),
        };
        let Some(value) = value else {
            let message = match known {
                Known::Texture(_) | Known::Surface(..) if level > 0 => format!("mip level {level} is not there"),
                known => format!("{} has no such attribute", known.name()),
            };
            return Err(wrong(RunErrorKind::Forbidden, message));
        };
        self.write(d, Width::Word, thread, u64::from(value));
        Ok(())
    }
}

/// The texture and sampler of a thread.
#[derive(Clone, Copy)]
struct Sampling<'l> {
    sampled: &'l Sampled,
    sampler: &'l Sampler,
    start: *mut u8,
}

/// What the thread before had.
#[derive(Default)]
struct Last<'l> {
    sampling: Option<([u64; 2], Sampling<'l>)>,
    surface: Option<(u64, &'l Texels, *mut u8)>,
}

#[cold]
fn outside(surface: &SurfaceOp, texels: &Texels, [x, y, z]: [i64; 3], bytes: u64) -> Fault {
    let [width, height, depth] = texels.levels[0].extent;
    let unit = if surface.formatted { "texel" } else { "byte" };
    let mut place = format!("{unit} {x}");
    if surface.geometry.axes() > 1 {
        place += &format!(" of row {y}");
    }
    match (surface.geometry.has_layer(), surface.geometry.axes()) {
        (true, _) => place += &format!(" of layer {z}"),
        (_, 3) => place += &format!(" of slice {z}"),
        _ => {}
    }
    let size = match texels.shape.axes() {
        1 if depth == 1 => format!("{width}"),
        2 if depth == 1 => format!("{width} x {height}"),
        1 => format!("{depth} x {width}"),
        _ => format!("{width} x {height} x {depth}"),
    };
    let message = format!(
        "a surface access of {} at {place}: the surface has {size} texels of {}",
        plural(bytes),
        plural(texels.texel_bytes.into())
    );
    wrong(RunErrorKind::OutOfBounds, message)
}

/// Writes 1, 2, 4 or 8 bytes.
///
/// # Safety
/// The bytes must be writable, and the pointer a multiple of their number.
unsafe fn poke(pointer: *mut u8, bytes: u64, value: u64) {
    // SAFETY: the caller promises aligned bytes. The kernel's memory may change at any time, and is reached by atomics here.
    unsafe {
        match bytes {
            1 => AtomicU8::from_ptr(pointer).store(value as u8, Ordering::Relaxed),
            2 => AtomicU16::from_ptr(pointer.cast()).store(value as u16, Ordering::Relaxed),
            4 => AtomicU32::from_ptr(pointer.cast()).store(value as u32, Ordering::Relaxed),
            _ => AtomicU64::from_ptr(pointer.cast()).store(value, Ordering::Relaxed),
        }
    }
}

/// What `sust.p` writes of a word: numbers that the format has not become the nearest that it has.
fn to_format(format: Format, word: u32) -> u64 {
    let float = f32::from_bits(word);
    // A NaN becomes zero.
    let scaled = |least: f32, greatest: f32| (float.clamp(least, 1.0) * greatest).round_ties_even() as i32 as u32;
    let signed = |least: i32, greatest: i32| (word as i32).clamp(least, greatest) as u32;
    u64::from(match format {
        Format::U8 => word.min(0xff),
        Format::U16 => word.min(0xffff),
        Format::S8 => signed(-128, 127) & 0xff,
        Format::S16 => signed(-32768, 32767) & 0xffff,
        Format::U32 | Format::S32 | Format::F32 => word,
        Format::F16 => u32::from(f16::from_f32(float).to_bits()),
        Format::Unorm8 => scaled(0.0, 255.0),
        Format::Unorm16 => scaled(0.0, 65535.0),
        Format::Snorm8 => scaled(-1.0, 127.0) & 0xff,
        Format::Snorm16 => scaled(-1.0, 32767.0) & 0xffff,
    })
}

/// The numbers of OpenCL's `cl_channel_type` and `cl_channel_order`: it is the language whose kernels ask.
fn data_type(format: Format, normalized: bool) -> u32 {
    match format {
        Format::Snorm8 => 0x10d0,
        Format::Snorm16 => 0x10d1,
        Format::Unorm8 => 0x10d2,
        Format::Unorm16 => 0x10d3,
        Format::S8 => {
            if normalized {
                0x10d0
            } else {
                0x10d7
            }
        }
        Format::S16 => {
            if normalized {
                0x10d1
            } else {
                0x10d8
            }
        }
        Format::S32 => 0x10d9,
        Format::U8 => {
            if normalized {
                0x10d2
            } else {
                0x10da
            }
        }
        Format::U16 => {
            if normalized {
                0x10d3
            } else {
                0x10db
            }
        }
        Format::U32 => 0x10dc,
        Format::F16 => 0x10dd,
        Format::F32 => 0x10de,
    }
}

fn attribute_of(texels: &Texels, sampler: Option<&Sampler>, attribute: Attribute, level: usize) -> Option<u32> {
    let extent = texels.levels.get(level)?.extent;
    let axes = texels.shape.axes();
    Some(match attribute {
        // Layers and faces are no depth.
        Attribute::Extent(axis) => {
            if axis < axes {
                extent[axis]
            } else {
                0
            }
        }
        Attribute::DataType => data_type(texels.format, sampler.is_some_and(|sampler| sampler.normalized_float)),
        Attribute::Order => match texels.channels {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        Attribute::ArraySize => match texels.shape {
            Shape::LayeredCube => extent[2] / 6,
            Shape::Layered1D | Shape::Layered2D => extent[2],
            _ => 0,
        },
        Attribute::Levels => {
            if texels.mipmapped {
                texels.levels.len() as u32
            } else {
                0
            }
        }
        Attribute::Samples => 0,
        Attribute::Linear => u32::from(texels.shape == Shape::Linear),
        _ => return attribute_of_sampler(sampler?, attribute),
    })
}

fn attribute_of_sampler(sampler: &Sampler, attribute: Attribute) -> Option<u32> {
    Some(match attribute {
        Attribute::Normalized => u32::from(sampler.normalized_coordinates),
        Attribute::ForceUnnormalized => u32::from(!sampler.normalized_coordinates),
        Attribute::Filter => u32::from(sampler.filter == Filter::Linear),
        Attribute::Address(axis) => match sampler.address[axis] {
            AddressMode::Wrap => 0,
            AddressMode::Mirror => 1,
            AddressMode::Clamp => 3,
            AddressMode::Border => 4,
        },
        _ => return None,
    })
}
