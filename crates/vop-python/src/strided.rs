//! A plan over words that lie anywhere: with any stride, and over one another.

use vop::bulk::{Plan, Source};

/// The words that are computed at a time where they must be gathered: a buffer for each operand stays in the L1 cache.
const BLOCK: usize = 512;

/// The words that a plan computes in one call.
const CHUNK: usize = 32;

/// The bytes of a cache line, and so many words that aligning them is worth a call.
const LINE: usize = 64;
const LONG: usize = 512;

/// So few are computed one by one, which costs less than a plan's last chunk does.
const FEW: usize = 4;

/// Words at equal distances, as NumPy names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strided {
    start: *mut u32,
    /// In bytes; 0 if it is one word for all, negative if it goes down.
    step: isize,
}

/// How the words of a source lie to those of the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overlap {
    /// No word is in both.
    None,
    /// Each is read where its result is written.
    Same,
    /// Some result is written where another's source is.
    Shifted,
}

impl Strided {
    pub(crate) fn new(start: *mut u32, step: isize) -> Strided {
        Strided { start, step }
    }

    /// Whether all its words are one.
    pub(crate) fn is_one_word(self) -> bool {
        self.step == 0
    }

    fn is_contiguous(self) -> bool {
        self.step == size_of::<u32>() as isize
    }

    fn at(self, i: usize) -> *mut u32 {
        self.start.wrapping_byte_offset(self.step * i as isize)
    }

    /// # Safety
    ///
    /// It must have more than `i` words.
    unsafe fn read(self, i: usize) -> u32 {
        // SAFETY: the caller's.
        unsafe { self.at(i).read() }
    }

    /// # Safety
    ///
    /// It must have more than `i` words, of which nobody has a reference.
    unsafe fn write(self, i: usize, word: u32) {
        // SAFETY: the caller's.
        unsafe { self.at(i).write(word) }
    }

    /// Its words from `i` on, in the buffer.
    ///
    /// # Safety
    ///
    /// It must have so many.
    unsafe fn gather(self, i: usize, buffer: &mut [u32]) {
        let mut from = self.at(i);
        for word in buffer {
            // SAFETY: the caller's.
            *word = unsafe { from.read() };
            from = from.wrapping_byte_offset(self.step);
        }
    }

    /// The addresses from its first byte to its last one.
    fn extent(self, len: usize) -> (isize, isize) {
        let (first, last) = (self.start as isize, self.at(len - 1) as isize);
        (first.min(last), first.max(last) + size_of::<u32>() as isize)
    }

    /// Whether a plan cannot take its words where they are, block by block.
    fn needs_gathering(self, overlap: Overlap) -> bool {
        !self.is_one_word() && (overlap == Overlap::Same || !self.is_contiguous())
    }

    fn overlap(self, d: Strided, len: usize) -> Overlap {
        let ((start, end), (d_start, d_end)) = (self.extent(len), d.extent(len));
        if end <= d_start || d_end <= start {
            return Overlap::None;
        }
        if self == d && self.step != 0 {
            return Overlap::Same;
        }
        // Words of equal steps can lie between one another.
        if self.step == d.step && self.step != 0 {
            let distance = (self.start as isize - d.start as isize).rem_euclid(self.step);
            if distance >= 4 && self.step.abs() - distance >= 4 {
                return Overlap::None;
            }
        }
        Overlap::Shifted
    }
}

/// d\[i\] = plan(a\[i\], b\[i\], c\[i\]), one after the other: what is written counts for what is read after it.
///
/// # Safety
///
/// Each must have `len` words, aligned, of which nobody has a reference.
pub(crate) unsafe fn map(plan: &Plan, sources: [Option<Strided>; 3], d: Strided, len: usize) {
    if len == 0 {
        return;
    }
    let overlaps = sources.map(|source| source.map_or(Overlap::None, |source| source.overlap(d, len)));
    // SAFETY: the caller's.
    unsafe {
        if len <= FEW || d.is_one_word() || overlaps.contains(&Overlap::Shifted) {
            one_by_one(plan, sources, d, len);
        } else if d.is_contiguous() && sources.iter().flatten().all(|source| source.step == 0 || source.is_contiguous())
        {
            // Vectors that cross the ends of cache lines cost twice. NumPy's large arrays all begin at the same distance from
            // one, so what aligns the destination mostly aligns the sources.
            let head = if len < LONG { 0 } else { d.start.align_offset(LINE) };
            for (start, len) in [(0, head), (head, len - head)] {
                // A source that overlaps at all is the destination.
                let words = |i: usize| direct(sources[i], overlaps[i], start, len);
                plan.run(words(0), words(1), words(2), std::slice::from_raw_parts_mut(d.at(start), len));
            }
        } else {
            in_blocks(plan, sources, overlaps, d, len);
        }
    }
}

/// A source whose words need no buffer.
///
/// # Safety
///
/// As for [`map`], and it must be contiguous or one word. What is returned must not outlive the words, nor be there when
/// they are written.
unsafe fn direct<'a>(source: Option<Strided>, overlap: Overlap, start: usize, len: usize) -> Source<'a> {
    match source {
        None => Source::All(0),
        // SAFETY: the caller's.
        Some(source) if source.is_one_word() => Source::All(unsafe { source.read(0) }),
        Some(_) if overlap == Overlap::Same => Source::Destination,
        // SAFETY: the caller's; it does not overlap the destination.
        Some(source) => Source::Words(unsafe { std::slice::from_raw_parts(source.at(start), len) }),
    }
}

/// # Safety
///
/// As for [`map`], and no result may be written where another's source is.
unsafe fn in_blocks(plan: &Plan, sources: [Option<Strided>; 3], overlaps: [Overlap; 3], d: Strided, len: usize) {
    let mut buffers = [[0; BLOCK]; 3];
    let mut results = [0; BLOCK];
    let mut start = 0;
    while start < len {
        let count = BLOCK.min(len - start);
        let [a, b, c] = &mut buffers;
        // Where words lie as the destination's do, which are not contiguous, they are gathered.
        let words = |i: usize, buffer: &mut [u32; BLOCK]| match sources[i] {
            Some(source) if source.needs_gathering(overlaps[i]) => {
                // SAFETY: the caller's.
                unsafe { source.gather(start, &mut buffer[..count]) };
                None
            }
            // SAFETY: the caller's, and it need not be gathered.
            source => Some(unsafe { direct(source, overlaps[i], start, count) }),
        };
        let direct = [words(0, a), words(1, b), words(2, c)];
        let source = |i: usize| direct[i].unwrap_or(Source::Words(&buffers[i][..count]));
        let [a, b, c] = [source(0), source(1), source(2)];
        if d.is_contiguous() {
            // SAFETY: the caller's; no source overlaps it, as those that lie as it does were gathered.
            plan.run(a, b, c, unsafe { std::slice::from_raw_parts_mut(d.at(start), count) });
        } else {
            plan.run(a, b, c, &mut results[..count]);
            for (i, &word) in results[..count].iter().enumerate() {
                // SAFETY: the caller's.
                unsafe { d.write(start + i, word) };
            }
        }
        start += count;
    }
}

/// # Safety
///
/// As for [`map`].
unsafe fn one_by_one(plan: &Plan, sources: [Option<Strided>; 3], d: Strided, len: usize) {
    let (form, semantics) = (plan.form(), plan.semantics());
    for i in 0..len {
        // SAFETY: the caller's.
        unsafe {
            let [a, b, c] = sources.map(|source| source.map_or(0, |source| source.read(i)));
            d.write(i, form.eval_as(semantics, a, b, c));
        }
    }
}

/// d = plan(… plan(plan(d, b\[0\]), b\[1\]) …), in any order if the plan's form has an identity.
///
/// # Safety
///
/// b must have `len` words, aligned, and d one, of which nobody has a reference.
pub(crate) unsafe fn fold(plan: &Plan, identity: Option<u32>, d: Strided, b: Strided, len: usize) {
    let Some(identity) = identity.filter(|_| len >= CHUNK / 2 && b.overlap(d, len) == Overlap::None) else {
        // SAFETY: the caller's.
        return unsafe { one_by_one(plan, [Some(d), Some(b), None], d, len) };
    };
    // So many words are folded side by side, and then with one another.
    let width = if len >= 2 * BLOCK { BLOCK } else { CHUNK };
    let (mut sums, mut buffer) = ([identity; BLOCK], [0; BLOCK]);
    let mut start = 0;
    while len - start >= width {
        // SAFETY: the caller's.
        let words = unsafe {
            if b.is_contiguous() {
                std::slice::from_raw_parts(b.at(start), width)
            } else {
                b.gather(start, &mut buffer[..width]);
                &buffer[..width]
            }
        };
        plan.run(Source::Destination, words.into(), 0.into(), &mut sums[..width]);
        start += width;
    }
    let mut half = width / 2;
    while half >= CHUNK {
        let (lower, upper) = sums.split_at_mut(half);
        plan.run(Source::Destination, Source::Words(&upper[..half]), 0.into(), lower);
        half /= 2;
    }
    let mut fold_chunk = |words: &[u32]| {
        let (mut lower, mut upper) = ([0; CHUNK], [identity; CHUNK]);
        lower.copy_from_slice(&sums[..CHUNK]);
        upper[..words.len()].copy_from_slice(words);
        let mut folded = [0; CHUNK];
        plan.run_chunk(&lower, &upper, &[0; CHUNK], &mut folded);
        sums[..CHUNK].copy_from_slice(&folded);
        folded
    };
    // What is left, and the word that is there already.
    while start < len {
        let count = CHUNK.min(len - start);
        // SAFETY: the caller's.
        unsafe { b.gather(start, &mut buffer[..count]) };
        fold_chunk(&buffer[..count]);
        start += count;
    }
    // SAFETY: the caller's.
    let mut folded = fold_chunk(&[unsafe { d.read(0) }]);
    let mut half = CHUNK / 2;
    while half > 0 {
        let upper = folded;
        folded = fold_chunk(&upper[half..2 * half]);
        half /= 2;
    }
    // SAFETY: the caller's.
    unsafe { d.write(0, folded[0]) };
}
