//! Fat binaries: the containers in which compilers embed device code, and all other forms in which a program hands a module over.
//!
//! ```text
//! wrapper ──► container ──entries──► PTX, plain or compressed ──► the text of the best one for a device
//! ```
//!
//! A container is a header of 16 bytes and a row of entries. An entry has a header that says what it is, for which architecture, and
//! how it is compressed: not at all, as one LZ4 block, or as one zstd frame. `nvcc --concat` puts the PTX of several architectures
//! into one compressed payload. Machine code is never run: a container without PTX is an error that names nvcc's flag.
//!
//! Lengths and offsets come from files that may be damaged: each is checked, and what a payload says about its size is not believed.

#![allow(unsafe_code, reason = "images come as pointers without a length")]

mod target;

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::ops::Range;

use crate::machine::host::{self, Access};

pub use target::{Suffix, Target};

/// The first word of a container.
const CONTAINER: u32 = 0xba55_ed50;
/// The first word of `__fatBinC_Wrapper_t` (fatbinary_section.h).
const WRAPPER: u32 = 0x4662_43b1;
/// The first word of an ELF file.
const ELF: u32 = u32::from_le_bytes(*b"\x7fELF");
/// Machine code for NVIDIA's processors, in an ELF header.
const EM_CUDA: u16 = 190;

const CONTAINER_HEADER: usize = 16;
/// Bytes of an entry's header that every version has.
const ENTRY_HEADER: usize = 64;

/// Bytes that one PTX text may have.
const MAX_TEXT: u64 = 256 << 20;
/// Bytes of a container in memory: what a damaged header cannot exceed.
const MAX_CONTAINER: u64 = 4 << 30;
/// Entries of a container.
const MAX_ENTRIES: usize = 1 << 16;

/// Why there is no PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// It is no module, or a damaged one.
    Invalid,
    /// It holds no PTX, or none that the device runs.
    NoCode,
}

/// Why an image gives no PTX for a device, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Its kind, which decides the error code.
    pub kind: ErrorKind,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Error {
    fn invalid(message: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Invalid, message: message.into(), help: None }
    }

    fn no_code(message: impl Into<String>, help: impl Into<String>) -> Error {
        Error { kind: ErrorKind::NoCode, message: message.into(), help: Some(help.into()) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl std::error::Error for Error {}

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A PTX text.
    Ptx,
    /// Machine code (SASS), as an ELF file.
    MachineCode,
    /// NVVM code for link-time optimisation (`-dlto`).
    Lto,
    /// Something else, by its number.
    Other(u16),
}

impl Kind {
    fn new(number: u16) -> Kind {
        match number {
            1 => Kind::Ptx,
            2 => Kind::MachineCode,
            8 => Kind::Lto,
            other => Kind::Other(other),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    None,
    Lz4,
    Zstd,
}

/// One piece of code in a container.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// What it holds.
    pub kind: Kind,
    /// The architecture in its header: 90 for `sm_90` and `sm_90a`.
    pub arch: u32,
    /// The name of the source file, if the compiler kept it (`-g`).
    pub name: Option<Cow<'a, str>>,
    payload: &'a [u8],
    compression: Compression,
    /// Bytes after decompression, by the header.
    size: u64,
    /// Which of the bytes after decompression are its own, if it shares the payload.
    part: Option<Range<usize>>,
}

/// A little-endian number at an offset.
fn number<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    number(bytes, offset).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    number(bytes, offset).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    number(bytes, offset).map(u64::from_le_bytes)
}

const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
/// The kind of an entry that holds several, compressed as one (`nvcc --concat`).
const CONCATENATED: u16 = 0x100;

/// The fields of an entry's header.
struct Header<'a> {
    kind: u16,
    /// Bytes of the header, or for an entry that shares a payload, where its own begins.
    length: usize,
    /// Bytes of the payload, with padding.
    size: u64,
    /// Bytes of the compressed payload, without padding.
    compressed: usize,
    arch: u32,
    name: Option<Cow<'a, str>>,
    flags: u64,
    /// Bytes of the payload after decompression.
    decompressed: u64,
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Option<Header<'a>> {
        let name = u32_at(bytes, 32)? as usize;
        let name = name..name.checked_add(u32_at(bytes, 36)? as usize)?;
        Some(Header {
            kind: u16_at(bytes, 0)?,
            length: u32_at(bytes, 4)? as usize,
            size: u64_at(bytes, 8)?,
            compressed: u32_at(bytes, 16)? as usize,
            arch: u32_at(bytes, 28)?,
            name: bytes.get(name).filter(|name| !name.is_empty()).map(String::from_utf8_lossy),
            flags: u64_at(bytes, 40)?,
            decompressed: u64_at(bytes, 56)?,
        })
    }

    fn compression(&self) -> Compression {
        match self.flags {
            flags if flags & FLAG_ZSTD != 0 => Compression::Zstd,
            flags if flags & FLAG_LZ4 != 0 => Compression::Lz4,
            _ => Compression::None,
        }
    }
}

/// The entries of a container, in order.
///
/// # Errors
/// If it is no container, or its lengths lead out of it.
pub fn entries(container: &[u8]) -> Result<Vec<Entry<'_>>, Error> {
    let damaged =
        |offset: usize, what: &str| Error::invalid(format!("the fat binary is damaged: {what} at byte {offset}"));
    if u32_at(container, 0) != Some(CONTAINER) {
        return Err(Error::invalid("it is no fat binary: its first word is not BA55ED50"));
    }
    let start = u16_at(container, 6).map_or(0, usize::from);
    let size = u64_at(container, 8).and_then(|size| usize::try_from(size).ok());
    let end = size.and_then(|size| start.checked_add(size));
    let Some(bytes) = end.and_then(|end| container.get(..end)).filter(|_| start >= CONTAINER_HEADER) else {
        return Err(damaged(0, "the header claims more than there is"));
    };
    let mut found = Vec::new();
    let mut at = start;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let header = Header::read(rest).filter(|header| header.length >= ENTRY_HEADER);
        let Some(header) = header else { return Err(damaged(at, "an entry has no whole header")) };
        let payload = usize::try_from(header.size).ok().and_then(|size| header.length.checked_add(size));
        let Some(whole) = payload.and_then(|end| rest.get(..end)) else {
            return Err(damaged(at, "an entry claims more than there is"));
        };
        let (head, payload) = whole.split_at(header.length);
        let compression = header.compression();
        let payload = match compression {
            Compression::None => payload,
            _ => payload.get(..header.compressed).ok_or_else(|| damaged(at, "an entry claims more than there is"))?,
        };
        if header.kind == CONCATENATED {
            let parts = parts(head, payload, compression, header.decompressed);
            found.extend(parts.ok_or_else(|| damaged(at, "an entry of several parts is not whole"))?);
        } else {
            let (kind, size) = (Kind::new(header.kind), header.decompressed);
            let name = Header::read(head).and_then(|header| header.name);
            found.push(Entry { kind, arch: header.arch, name, payload, compression, size, part: None });
        }
        if found.len() > MAX_ENTRIES {
            return Err(damaged(at, "too many entries"));
        }
        // The header is not empty, so that this ends.
        at += whole.len();
    }
    Ok(found)
}

/// The parts of an entry with one payload: their number, the length of this block, and a header each.
fn parts<'a>(head: &'a [u8], payload: &'a [u8], compression: Compression, size: u64) -> Option<Vec<Entry<'a>>> {
    let block = head.get(u32_at(head, 20)? as usize..)?;
    let count = u32_at(block, 0)? as usize;
    let block = block.get(..u32_at(block, 4)? as usize)?.get(8..)?;
    let length = block.len().checked_div(count)?;
    let headers = block.chunks_exact(length.max(ENTRY_HEADER)).take(count);
    let entries = headers.map(|bytes| {
        let header = Header::read(bytes)?;
        let end = header.length.checked_add(usize::try_from(header.size).ok()?)?;
        let (kind, part) = (Kind::new(header.kind), Some(header.length..end));
        Some(Entry { kind, arch: header.arch, name: header.name, payload, compression, size, part })
    });
    let entries: Vec<_> = entries.collect::<Option<_>>()?;
    (entries.len() == count).then_some(entries)
}

impl Entry<'_> {
    /// What the entry holds, decompressed.
    ///
    /// # Errors
    /// If the payload is damaged, or is longer than any text that is read.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, Error> {
        if self.size > MAX_TEXT {
            return Err(Error::invalid(format!("an entry of {} bytes is too large: {MAX_TEXT} are read", self.size)));
        }
        let whole = match self.compression {
            Compression::None => Cow::Borrowed(self.payload),
            Compression::Lz4 => Cow::Owned(self.decompressed_lz4()?),
            Compression::Zstd => Cow::Owned(self.decompressed_zstd()?),
        };
        let Some(part) = self.part.clone() else { return Ok(whole) };
        let inside = |bytes: &[u8]| bytes.get(part.clone()).is_some();
        if !inside(&whole) {
            return Err(Error::invalid("the fat binary is damaged: a part stands outside of its payload"));
        }
        Ok(match whole {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[part]),
            Cow::Owned(mut bytes) => {
                bytes.truncate(part.end);
                bytes.drain(..part.start);
                Cow::Owned(bytes)
            }
        })
    }

    fn decompressed_lz4(&self) -> Result<Vec<u8>, Error> {
        // A byte of an LZ4 block gives at most 255.
        let most = (self.payload.len() as u64).saturating_mul(255);
        let mut bytes = vec![0; self.size.min(most) as usize];
        let length = lz4_flex::block::decompress_into(self.payload, &mut bytes)
            .map_err(|error| Error::invalid(format!("the fat binary is damaged: LZ4: {error}")))?;
        bytes.truncate(length);
        self.whole(bytes)
    }

    fn decompressed_zstd(&self) -> Result<Vec<u8>, Error> {
        let damaged = |error: String| Error::invalid(format!("the fat binary is damaged: zstd: {error}"));
        let decoder = ruzstd::decoding::StreamingDecoder::new_with_max_window_size(self.payload, MAX_TEXT);
        let decoder = decoder.map_err(|error| damaged(error.to_string()))?;
        let mut bytes = Vec::new();
        // One byte more shows a frame that is longer than its entry says.
        decoder.take(self.size + 1).read_to_end(&mut bytes).map_err(|error| damaged(error.to_string()))?;
        self.whole(bytes)
    }

    fn whole(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
        if bytes.len() as u64 != self.size {
            return Err(Error::invalid(format!(
                "the fat binary is damaged: an entry of {} bytes decompresses to another length",
                self.size
            )));
        }
        Ok(bytes)
    }

    /// The PTX text of an entry that holds one.
    ///
    /// # Errors
    /// As for [`Entry::bytes`].
    pub fn text(&self) -> Result<String, Error> {
        self.bytes().map(|bytes| text(&bytes))
    }
}

/// PTX up to its first NUL. Bytes that are no UTF-8 can only be in comments and strings of names.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The best PTX of a row of entries for a device: of the highest architecture that the device has, and of several for that one, the
/// most special.
///
/// # Errors
/// If there is none, with what there is instead.
pub fn best(entries: &[Entry<'_>], device: u32) -> Result<String, Error> {
    let of = |kind: Kind| entries.iter().filter(move |entry| entry.kind == kind);
    let mut archs: Vec<u32> = of(Kind::Ptx).map(|entry| entry.arch).filter(|&arch| arch <= device).collect();
    archs.sort_unstable();
    archs.dedup();
    let mut refused = Vec::new();
    for &arch in archs.iter().rev() {
        let mut found: Option<(Target, String)> = None;
        for entry in of(Kind::Ptx).filter(|entry| entry.arch == arch) {
            let text = entry.text()?;
            let target = Target::of_ptx(&text).unwrap_or(Target { arch, suffix: None });
            if !target.runs_on(device) {
                refused.push(target.to_string());
            } else if found.as_ref().is_none_or(|(best, _)| (target.arch, target.suffix) > (best.arch, best.suffix)) {
                found = Some((target, text));
            }
        }
        if let Some((_, text)) = found {
            return Ok(text);
        }
    }
    Err(no_ptx(entries, device, refused))
}

fn no_ptx(entries: &[Entry<'_>], device: u32, mut refused: Vec<String>) -> Error {
    let of = |kind: Kind| {
        let mut archs: Vec<u32> = entries.iter().filter(|entry| entry.kind == kind).map(|entry| entry.arch).collect();
        archs.sort_unstable();
        archs.dedup();
        archs
    };
    let listed = |names: &[String]| names.join(", ");
    let newer = of(Kind::Ptx).into_iter().filter(|&arch| arch > device);
    refused.extend(newer.map(|arch| format!("sm_{arch}")));
    if !refused.is_empty() {
        return Error::no_code(
            format!("its PTX is for {}, which sm_{device} does not run", listed(&refused)),
            format!("compile with `-arch=compute_{device}`, or choose the device with `vop exec --device`"),
        );
    }
    let machine_code = of(Kind::MachineCode);
    let names: Vec<String> = machine_code.iter().map(|arch| format!("sm_{arch}")).collect();
    if let Some(&first) = machine_code.first() {
        return machine_code_only(&format!("machine code for {}", listed(&names)), first.min(device));
    }
    if !of(Kind::Lto).is_empty() {
        return machine_code_only("code for link-time optimisation", device);
    }
    Error::no_code(
        "the fat binary is empty: it holds no PTX",
        format!("compile with `-arch=compute_{device}`, without `-rdc=true` for a file that has no device code"),
    )
}

fn machine_code_only(what: &str, arch: u32) -> Error {
    Error::no_code(
        format!("it holds {what}, and no PTX: vop runs PTX only"),
        format!("compile with `-arch=compute_{arch}`, or add `-gencode arch=compute_{arch},code=compute_{arch}`"),
    )
}

/// The best PTX for a device of an image of any form: a container, a PTX text with or without a NUL, or an ELF file, which is an error.
///
/// # Errors
/// If the image is damaged or of no known form, or holds no PTX that the device runs.
pub fn ptx(image: &[u8], device: u32) -> Result<String, Error> {
    match u32_at(image, 0) {
        Some(CONTAINER) => best(&entries(image)?, device),
        Some(ELF) => Err(elf(image, device)),
        _ => {
            let end = image.iter().position(|&byte| byte == 0).unwrap_or(image.len());
            let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace() && *byte != 0x0b;
            let text = text(&image[..end]);
            if text.trim().is_empty() {
                return Err(Error::invalid("the module is empty"));
            }
            if image[..end].iter().any(is_control) {
                let message = "the module is neither PTX nor a fat binary";
                let help = "pass a PTX text, or a file that `nvcc -ptx` or `nvcc -fatbin` writes".to_owned();
                return Err(Error { help: Some(help), ..Error::invalid(message) });
            }
            Ok(text)
        }
    }
}

fn elf(image: &[u8], device: u32) -> Error {
    if u16_at(image, 18) != Some(EM_CUDA) {
        return Error::invalid("the module is an ELF file of a host: a program or a library, and no device code");
    }
    machine_code_only("machine code (a cubin)", device)
}

/// The images that a pointer leads to. `__fatBinC_Wrapper_t` of version 2 leads to a container and to those that are to be linked with
/// it; everything else is one image.
///
/// # Errors
/// If a header is damaged.
///
/// # Safety
/// `image` points to one of: a wrapper, a container, an ELF file, or a text that ends with NUL. All of it stays there, unchanged, for
/// `'a`.
pub unsafe fn in_memory<'a>(image: *const u8) -> Result<Vec<&'a [u8]>, Error> {
    if image.is_null() {
        return Err(Error::invalid("the module is a null pointer"));
    }
    // SAFETY: as the caller says.
    let first = unsafe { first_word(image) };
    if first != Some(WRAPPER) {
        // SAFETY: as the caller says.
        return Ok(vec![unsafe { one_in_memory(image, first) }?]);
    }
    // SAFETY: it is a wrapper.
    let wrapper = unsafe { image.cast::<Wrapper>().read_unaligned() };
    let mut pointers = vec![wrapper.data];
    if wrapper.version == WRAPPER_OF_LINKED {
        let mut next = wrapper.linked;
        // SAFETY: a wrapper of this version has a row of pointers, which ends with a null pointer.
        while let Some(container) = unsafe { next.as_ref() }.filter(|container| !container.is_null()) {
            pointers.push(*container);
            // SAFETY: this one is not the last.
            next = unsafe { next.add(1) };
        }
    }
    let images = pointers.into_iter().map(|pointer| {
        if pointer.is_null() {
            return Err(Error::invalid("the fat binary has no data"));
        }
        // SAFETY: a wrapper leads to containers.
        unsafe { one_in_memory(pointer, first_word(pointer)) }
    });
    images.collect()
}

/// `__fatBinC_Wrapper_t`.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    /// In version 1 a file's name.
    linked: *const *const u8,
}

/// `FATBINC_LINK_VERSION`.
const WRAPPER_OF_LINKED: u32 = 2;

/// The first four bytes, if none of the first three is 0: a text that is shorter ends there.
///
/// # Safety
/// As for [`in_memory`].
unsafe fn first_word(image: *const u8) -> Option<u32> {
    let mut word = [0; 4];
    for (index, byte) in word.iter_mut().enumerate() {
        // SAFETY: no byte before this one is 0, so that neither a text nor a header has ended.
        *byte = unsafe { image.add(index).read() };
        if *byte == 0 {
            return None;
        }
    }
    Some(u32::from_le_bytes(word))
}

/// # Safety
/// As for [`in_memory`], but the image is no wrapper, and `first` are its first four bytes.
unsafe fn one_in_memory<'a>(image: *const u8, first: Option<u32>) -> Result<&'a [u8], Error> {
    let length = match first {
        Some(CONTAINER) => {
            // SAFETY: a container has a header of this length.
            let header: [u8; CONTAINER_HEADER] = unsafe { image.cast::<[u8; CONTAINER_HEADER]>().read() };
            let length =
                u64_at(&header, 8).zip(u16_at(&header, 6)).map(|(size, start)| size.saturating_add(start.into()));
            let length = length.filter(|&length| length <= MAX_CONTAINER);
            length.ok_or_else(|| Error::invalid("the fat binary is damaged: its header claims too much"))? as usize
        }
        // The header: machine code is refused.
        Some(ELF) => 64,
        _ => {
            let mut length = 0;
            // SAFETY: the text ends with NUL, and this byte is not beyond it.
            while unsafe { image.add(length).read() } != 0 {
                length += 1;
                if length as u64 > MAX_TEXT {
                    return Err(Error::invalid(format!("the module is a text of more than {MAX_TEXT} bytes")));
                }
            }
            length
        }
    };
    // The header may be damaged.
    if host::check(image.expose_provenance() as u64, length as u64, Access::Read).is_err() {
        return Err(Error::invalid("the device code is damaged: its header claims more than there is"));
    }
    // SAFETY: so many bytes are there, and they stay.
    Ok(unsafe { std::slice::from_raw_parts(image, length) })
}

/// A container with PTX texts, not compressed: what `nvcc -fatbin --compress-mode=none` writes.
pub fn container(texts: &[&str]) -> Vec<u8> {
    let mut entries = Vec::new();
    for text in texts {
        let target = Target::of_ptx(text).unwrap_or_default();
        let length = (text.len() + 1).next_multiple_of(8);
        let flags: u64 = 0x11 | target.suffix.map_or(0, Suffix::flag);
        let (major, minor) = target::version(text).unwrap_or_default();
        entries.extend_from_slice(&1u16.to_le_bytes());
        entries.extend_from_slice(&0x101u16.to_le_bytes());
        entries.extend_from_slice(&(ENTRY_HEADER as u32).to_le_bytes());
        entries.extend_from_slice(&(length as u64).to_le_bytes());
        entries.extend_from_slice(&[0; 8]);
        entries.extend_from_slice(&minor.to_le_bytes());
        entries.extend_from_slice(&major.to_le_bytes());
        entries.extend_from_slice(&target.arch.to_le_bytes());
        entries.extend_from_slice(&[0; 8]);
        entries.extend_from_slice(&flags.to_le_bytes());
        entries.extend_from_slice(&[0; 16]);
        entries.extend_from_slice(text.as_bytes());
        entries.resize(entries.len() + length - text.len(), 0);
    }
    let mut container = Vec::with_capacity(CONTAINER_HEADER + entries.len());
    container.extend_from_slice(&CONTAINER.to_le_bytes());
    container.extend_from_slice(&1u16.to_le_bytes());
    container.extend_from_slice(&(CONTAINER_HEADER as u16).to_le_bytes());
    container.extend_from_slice(&(entries.len() as u64).to_le_bytes());
    container.extend(entries);
    container
}

#[cfg(test)]
mod tests;
