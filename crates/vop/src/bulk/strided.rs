//! A plan applied to words in memory at any distance from one another, whose operands may overlap.
//!
//! C and NumPy give operands as a pointer, a distance in bytes and a number of elements. "Valid words" below means three things:
//! each element is allocated, initialised and aligned; nothing else writes to the elements while the plan runs; and no Rust
//! reference to them exists. Operands may share elements.
#![allow(unsafe_code, reason = "the words are the caller's, and known by pointers")]

use core::num::NonZeroUsize;

use super::{CHUNK, Plan, Source};

/// The number of words that are gathered and computed at a time: a buffer for each operand fits the L1 cache.
const BLOCK: usize = 512;

/// The bytes of a cache line.
const LINE: usize = 64;

/// The number of words from which on it pays to align the destination by a call of its own.
const LONG: usize = 512;

/// The number of words up to which it is cheaper to compute one by one than to run a plan.
const FEW: usize = 4;

/// The number of words that a thread has at least.
const SHARE: usize = 1 << 15;

/// Words at equal distances in memory: an operand of [`Plan::run_strided`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strided {
    start: *mut u32,
    /// The distance of two words in bytes: 0 if all are the same word, negative if addresses decrease.
    step: isize,
}

/// How the words of a source overlap those of the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overlap {
    /// No byte is in both.
    None,
    /// Each word is read at the address where its result is written.
    Same,
    /// Some result is written over a word that another result is computed from.
    Shifted,
}

impl Strided {
    /// Words from an address on. The step is the distance of two words in bytes: 0 if all are the same word, negative if addresses
    /// decrease.
    pub fn new(start: *mut u32, step: isize) -> Strided {
        Strided { start, step }
    }

    /// Whether all its words are the same word.
    pub fn is_one_word(self) -> bool {
        self.step == 0
    }

    fn is_contiguous(self) -> bool {
        self.step == size_of::<u32>() as isize
    }

    /// Its words from `i` on.
    fn behind(self, i: usize) -> Strided {
        Strided { start: self.at(i), ..self }
    }

    fn at(self, i: usize) -> *mut u32 {
        self.start.wrapping_byte_offset(self.step * i as isize)
    }

    /// Word `i`.
    ///
    /// # Safety
    ///
    /// Word `i` must be a valid word.
    unsafe fn read(self, i: usize) -> u32 {
        // SAFETY: a valid word is allocated, initialised and aligned.
        unsafe { self.at(i).read() }
    }

    /// Changes word `i`.
    ///
    /// # Safety
    ///
    /// Word `i` must be a valid word.
    unsafe fn write(self, i: usize, word: u32) {
        // SAFETY: a valid word is allocated and aligned, and no reference to it exists that this could change.
        unsafe { self.at(i).write(word) }
    }

    /// Copies its words from `i` on to the buffer.
    ///
    /// # Safety
    ///
    /// It must have valid words from `i` on, one for each word of the buffer.
    unsafe fn gather(self, i: usize, buffer: &mut [u32]) {
        let mut from = self.at(i);
        for word in buffer {
            // SAFETY: the loop reads one word for each word of the buffer, and that many are valid.
            *word = unsafe { from.read() };
            from = from.wrapping_byte_offset(self.step);
        }
    }

    /// The address of its first byte, and that behind its last one.
    fn extent(self, len: usize) -> (isize, isize) {
        let (first, last) = (self.start as isize, self.at(len - 1) as isize);
        (first.min(last), first.max(last) + size_of::<u32>() as isize)
    }

    /// Whether a plan cannot read its words in place, block by block, and they must be copied to a buffer.
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
        // Words at equal distances can lie in the gaps of one another.
        if self.step == d.step && self.step != 0 {
            let distance = (self.start as isize - d.start as isize).rem_euclid(self.step);
            if distance >= 4 && self.step.abs() - distance >= 4 {
                return Overlap::None;
            }
        }
        Overlap::Shifted
    }
}

impl Plan {
    /// Applies the plan to words at any distance from one another: d\[i\] = plan(a\[i\], b\[i\], c\[i\]), in ascending order of i.
    /// A source that is read after a result was written over it is that result. A source that is `None` is zero.
    ///
    /// `threads` is the number of threads that share the work at most. Where the order matters, one computes.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    ///
    /// use vop::bulk::{Plan, Strided};
    ///
    /// let plan = Plan::new("vadd4.u32.u32.u32 d, a, b, c".parse().unwrap(), vop::Semantics::Isa);
    /// // Every second word of one array, in reverse order, and one word for all.
    /// let (mut a, mut b, mut d) = ([1, 0, 2, 0, 3, 0], 0x10, [0; 3]);
    /// let sources = [Some(Strided::new(&raw mut a[4], -8)), Some(Strided::new(&raw mut b, 0)), None];
    /// // SAFETY: a has a word at each of the three places, b and d have theirs, and nothing else uses them.
    /// unsafe { plan.run_strided(sources, Strided::new(d.as_mut_ptr(), 4), 3, NonZeroUsize::MIN) };
    /// assert_eq!(d, [0x13, 0x12, 0x11]);
    /// ```
    ///
    /// # Safety
    ///
    /// Each operand must have `len` valid words: allocated, initialised and aligned; nothing else may write to them meanwhile, and no
    /// reference to them may exist.
    pub unsafe fn run_strided(&self, sources: [Option<Strided>; 3], d: Strided, len: usize, threads: NonZeroUsize) {
        let threads = threads.get().min(len / SHARE);
        if threads < 2
            || d.is_one_word()
            || sources.iter().flatten().any(|source| source.overlap(d, len) == Overlap::Shifted)
        {
            // SAFETY: the caller promises what is asked for.
            return unsafe { map(self, sources, d, len) };
        }
        // In whole lines of the cache, so that no two threads write to one.
        let share = len.div_ceil(threads).next_multiple_of(LINE);
        std::thread::scope(|scope| {
            for start in (0..len).step_by(share) {
                let part = Part { sources: sources.map(|source| source.map(|s| s.behind(start))), d: d.behind(start) };
                let len = share.min(len - start);
                // SAFETY: the words of the part are among those that the caller promises. No other part has a word of this part's
                // destination: a source that overlaps the destination has each word where its result is written.
                scope.spawn(move || unsafe { part.run(self, len) });
            }
        });
    }

    /// d = plan(… plan(plan(d, b\[0\]), b\[1\]) …). If there is an [identity](crate::Form::identity), it may be folded in any order.
    ///
    /// # Safety
    ///
    /// b must have `len` valid words, as for [`Plan::run_strided`], and d one; its step must be 0.
    pub unsafe fn fold_strided(&self, identity: Option<u32>, d: Strided, b: Strided, len: usize) {
        // SAFETY: the caller promises what is asked for.
        unsafe { fold(self, identity, d, b, len) };
    }
}

/// What one thread computes.
struct Part {
    sources: [Option<Strided>; 3],
    d: Strided,
}

// SAFETY: the words belong to no thread; `Part::run` says who may use them.
unsafe impl Send for Part {}

impl Part {
    /// # Safety
    ///
    /// Each operand must have `len` valid words.
    unsafe fn run(self, plan: &Plan, len: usize) {
        // SAFETY: the caller promises it.
        unsafe { map(plan, self.sources, self.d, len) };
    }
}

/// d\[i\] = plan(a\[i\], b\[i\], c\[i\]), in ascending order of i: a source that is read after a result was written over it
/// is that result.
///
/// # Safety
///
/// Each operand must have `len` valid words.
unsafe fn map(plan: &Plan, sources: [Option<Strided>; 3], d: Strided, len: usize) {
    if len == 0 {
        return;
    }
    let overlaps = sources.map(|source| source.map_or(Overlap::None, |source| source.overlap(d, len)));
    // SAFETY: all operands have `len` valid words, which is what the three functions ask for. `in_blocks` also asks that no
    // source is `Shifted`, and the first branch takes those. In the second branch every source is contiguous or one word, as
    // `direct` asks, and the slice of the destination is the only reference to its words: `direct` makes none to a source
    // that overlaps it.
    unsafe {
        if len <= FEW || d.is_one_word() || overlaps.contains(&Overlap::Shifted) {
            one_by_one(plan, sources, d, len);
        } else if d.is_contiguous() && sources.iter().flatten().all(|source| source.step == 0 || source.is_contiguous())
        {
            // A vector that crosses the end of a cache line costs twice as much. NumPy's large arrays all start at the same
            // distance from one, so a start that aligns the destination mostly aligns the sources, too.
            let head = if len < LONG { 0 } else { d.start.align_offset(LINE) };
            for (start, len) in [(0, head), (head, len - head)] {
                // A source that overlaps the destination at all has its very words.
                let words = |i: usize| direct(sources[i], overlaps[i], start, len);
                plan.run(words(0), words(1), words(2), std::slice::from_raw_parts_mut(d.at(start), len));
            }
        } else {
            in_blocks(plan, sources, overlaps, d, len);
        }
    }
}

/// A source whose words need no buffer, from `start` on. No source (`None`) is a zero.
///
/// # Safety
///
/// The source must have `start + len` valid words, and must be one word, or `Same`, or contiguous without an overlap.
/// What is returned must not outlive the words, nor exist when they are written.
unsafe fn direct<'a>(source: Option<Strided>, overlap: Overlap, start: usize, len: usize) -> Source<'a> {
    match source {
        None => Source::All(0),
        // SAFETY: its word is valid.
        Some(source) if source.is_one_word() => Source::All(unsafe { source.read(0) }),
        Some(_) if overlap == Overlap::Same => Source::Destination,
        // SAFETY: it is contiguous, so `len` valid words follow one another from here on. Only the destination is written
        // meanwhile, which it does not overlap.
        Some(source) => Source::Words(unsafe { std::slice::from_raw_parts(source.at(start), len) }),
    }
}

/// [`map`] in blocks, with buffers for the operands that are not contiguous.
///
/// # Safety
///
/// Each operand must have `len` valid words, and no source may be `Shifted`.
unsafe fn in_blocks(plan: &Plan, sources: [Option<Strided>; 3], overlaps: [Overlap; 3], d: Strided, len: usize) {
    let mut buffers = [[0; BLOCK]; 3];
    let mut results = [0; BLOCK];
    let mut start = 0;
    while start < len {
        let count = BLOCK.min(len - start);
        let [a, b, c] = &mut buffers;
        // None of a source that is gathered.
        let words = |i: usize, buffer: &mut [u32; BLOCK]| match sources[i] {
            Some(source) if source.needs_gathering(overlaps[i]) => {
                // SAFETY: `start + count` is at most `len`, up to which all words are valid.
                unsafe { source.gather(start, &mut buffer[..count]) };
                None
            }
            // SAFETY: `start + count` is at most `len`. A source that is not gathered is one word, or contiguous and does not
            // overlap the destination, and none of these references outlives this block.
            source => Some(unsafe { direct(source, overlaps[i], start, count) }),
        };
        let direct = [words(0, a), words(1, b), words(2, c)];
        let source = |i: usize| direct[i].unwrap_or(Source::Words(&buffers[i][..count]));
        let [a, b, c] = [source(0), source(1), source(2)];
        if d.is_contiguous() {
            // SAFETY: the destination is contiguous and has `len` valid words. This is the only reference to them: sources
            // that overlap it (`Same`) were copied to buffers.
            plan.run(a, b, c, unsafe { std::slice::from_raw_parts_mut(d.at(start), count) });
        } else {
            plan.run(a, b, c, &mut results[..count]);
            for (i, &word) in results[..count].iter().enumerate() {
                // SAFETY: `i` is less than `count`, so this is one of the `len` valid words.
                unsafe { d.write(start + i, word) };
            }
        }
        start += count;
    }
}

/// [`map`] without vectors, which is right for every overlap.
///
/// # Safety
///
/// Each operand must have `len` valid words.
unsafe fn one_by_one(plan: &Plan, sources: [Option<Strided>; 3], d: Strided, len: usize) {
    let (form, semantics) = (plan.form(), plan.semantics());
    for i in 0..len {
        // SAFETY: `i` is less than `len`, and all operands have `len` valid words.
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
/// b must have `len` valid words, and d one valid word (its distance is 0).
unsafe fn fold(plan: &Plan, identity: Option<u32>, d: Strided, b: Strided, len: usize) {
    let Some(identity) = identity.filter(|_| len >= CHUNK / 2 && b.overlap(d, len) == Overlap::None) else {
        // SAFETY: b has `len` valid words. The distance of d's words is 0, so all of them are its one valid word.
        return unsafe { one_by_one(plan, [Some(d), Some(b), None], d, len) };
    };
    // `width` words are folded side by side, and in the end with one another.
    let width = if len >= 2 * BLOCK { BLOCK } else { CHUNK };
    let (mut sums, mut buffer) = ([identity; BLOCK], [0; BLOCK]);
    let mut start = 0;
    while len - start >= width {
        // SAFETY: `start + width` is at most `len`, up to which all words of b are valid. Nothing writes to them while the
        // slice exists: results go to `sums`.
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
    // The words that are left, and the word of d.
    while start < len {
        let count = CHUNK.min(len - start);
        // SAFETY: `start + count` is at most `len`, up to which all words of b are valid.
        unsafe { b.gather(start, &mut buffer[..count]) };
        fold_chunk(&buffer[..count]);
        start += count;
    }
    // SAFETY: d has a valid word.
    let mut folded = fold_chunk(&[unsafe { d.read(0) }]);
    let mut half = CHUNK / 2;
    while half > 0 {
        let upper = folded;
        folded = fold_chunk(&upper[half..2 * half]);
        half /= 2;
    }
    // SAFETY: d has a valid word.
    unsafe { d.write(0, folded[0]) };
}
