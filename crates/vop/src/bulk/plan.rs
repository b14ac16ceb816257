//! [`Plan`]: a form made ready, and how the words of its sources come to the kernels.

#![allow(unsafe_code, reason = "kernels take pointers to words")]

use alloc::vec::Vec;
use core::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use super::choose::Compiled;
use super::{CHUNK, Level};
use crate::isa::form::Form;
use crate::semantics::Semantics;

/// The words of a source that is one value for all, at a time.
const BLOCK: usize = 512;

/// The words that a thread takes at a time.
const PIECE: usize = 1 << 15;

/// The words for which one more thread is started.
const WORTH_A_THREAD: usize = 1 << 19;

/// A form made ready to be applied to many inputs.
///
/// Making one takes about a microsecond; [`run`](Plan::run) takes words in any number, [`run_chunk`](Plan::run_chunk) 32.
#[derive(Debug, Clone)]
pub struct Plan {
    form: Form,
    semantics: Semantics,
    level: Level,
    /// Whether d depends on c.
    reads_c: bool,
    compiled: Compiled,
}

/// Where a plan reads a, b or c.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// A word for every result.
    Words(&'a [u32]),
    /// One value for all.
    All(u32),
    /// What was in the destination before.
    Destination,
}

impl Source<'_> {
    /// Its words, as many as the destination's; `None` if it is one value for all.
    #[inline(always)]
    #[track_caller]
    fn words(self, name: &str, len: usize, destination: *mut u32) -> Option<*const u32> {
        match self {
            Source::Words(words) => {
                if words.len() != len {
                    lengths_differ(name, words.len(), len);
                }
                Some(words.as_ptr())
            }
            Source::Destination => Some(destination.cast_const()),
            Source::All(_) => None,
        }
    }

    /// The words that belong to `len` words of the destination, from `start` on.
    fn part(self, start: usize, len: usize) -> Self {
        match self {
            Source::Words(words) => Source::Words(&words[start..][..len]),
            Source::All(_) | Source::Destination => self,
        }
    }

    fn value(self) -> Option<u32> {
        match self {
            Source::All(value) => Some(value),
            Source::Words(_) | Source::Destination => None,
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn lengths_differ(name: &str, words: usize, destination: usize) -> ! {
    panic!("{name} has {words} words, the destination {destination}")
}

impl<'a> From<&'a [u32]> for Source<'a> {
    fn from(words: &'a [u32]) -> Source<'a> {
        Source::Words(words)
    }
}

impl<'a> From<&'a Vec<u32>> for Source<'a> {
    fn from(words: &'a Vec<u32>) -> Source<'a> {
        Source::Words(words)
    }
}

impl<'a, const N: usize> From<&'a [u32; N]> for Source<'a> {
    fn from(words: &'a [u32; N]) -> Source<'a> {
        Source::Words(words)
    }
}

impl From<u32> for Source<'_> {
    fn from(value: u32) -> Self {
        Source::All(value)
    }
}

impl Plan {
    /// The plan for this processor.
    pub fn new(form: Form, semantics: Semantics) -> Plan {
        Plan::at(form, semantics, Level::best())
    }

    /// The plan that keeps to the instructions of a level; `None` if this processor lacks them.
    pub fn with_level(form: Form, semantics: Semantics, level: Level) -> Option<Plan> {
        level.is_available().then(|| Plan::at(form, semantics, level))
    }

    fn at(form: Form, semantics: Semantics, level: Level) -> Plan {
        let compiled = Compiled::new(form, semantics.deviations(), level);
        Plan { form, semantics, level, reads_c: form.reads_c(), compiled }
    }

    /// The form.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Whose answers it gives.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// The instructions that it uses.
    pub fn level(&self) -> Level {
        self.level
    }

    /// d\[i\] = form(a\[i\], b\[i\], c\[i\]), as [`Form::eval_as`] has it, for every i.
    ///
    /// A source may be one value for all, or [`Source::Destination`]: the value that d\[i\] had. Where d does not depend on
    /// c ([`Form::reads_c`]), c is not read.
    ///
    /// # Panics
    ///
    /// If the words of a source that is read are not as many as the destination's.
    #[inline]
    #[track_caller]
    pub fn run(&self, a: Source<'_>, b: Source<'_>, c: Source<'_>, d: &mut [u32]) {
        let (len, destination) = (d.len(), d.as_mut_ptr());
        let (a_words, b_words) = (a.words("a", len, destination), b.words("b", len, destination));
        // Kernels read c in any case: another source stands in.
        let c_words = if self.reads_c { c.words("c", len, destination) } else { a_words };
        if let (Some(a_words), Some(b_words), Some(c_words)) = (a_words, b_words, c_words) {
            // SAFETY: there are `len` words in each, and none but the destination itself overlaps it.
            unsafe { self.compiled.run([a_words, b_words, c_words], destination, len / CHUNK) }
            if len % CHUNK != 0 {
                self.run_rest([a, b, if self.reads_c { c } else { a }], d);
            }
        } else {
            self.run_blocks([a, b, if self.reads_c { c } else { a }], d);
        }
    }

    /// Some source is one value for all.
    #[inline(never)]
    fn run_blocks(&self, sources: [Source<'_>; 3], d: &mut [u32]) {
        let filled = sources.map(|source| [source.value().unwrap_or(0); BLOCK]);
        let whole = d.len() - d.len() % CHUNK;
        for (i, d) in d[..whole].chunks_mut(BLOCK).enumerate() {
            let (len, destination) = (d.len(), d.as_mut_ptr());
            let words = |source: usize| match sources[source] {
                Source::Words(words) => words[i * BLOCK..][..len].as_ptr(),
                Source::All(_) => filled[source][..len].as_ptr(),
                Source::Destination => destination.cast_const(),
            };
            // SAFETY: each has `len` words, and none but the destination itself overlaps it.
            unsafe { self.compiled.run([words(0), words(1), words(2)], destination, len / CHUNK) }
        }
        self.run_rest(sources, d);
    }

    /// The words after the last whole chunk.
    #[inline(never)]
    fn run_rest(&self, sources: [Source<'_>; 3], d: &mut [u32]) {
        let start = d.len() - d.len() % CHUNK;
        let d = &mut d[start..];
        let chunk = |source: &Source<'_>| {
            let mut words = [source.value().unwrap_or(0); CHUNK];
            match source {
                Source::Words(rest) => words[..d.len()].copy_from_slice(&rest[start..]),
                Source::Destination => words[..d.len()].copy_from_slice(d),
                Source::All(_) => {}
            }
            words
        };
        let [a, b, c] = [chunk(&sources[0]), chunk(&sources[1]), chunk(&sources[2])];
        let mut results = [0; CHUNK];
        self.run_chunk(&a, &b, &c, &mut results);
        d.copy_from_slice(&results[..d.len()]);
    }

    /// [`run`](Plan::run) on up to `threads` threads; the caller's is one of them.
    ///
    /// Threads take pieces of 128 KiB until none is left, so that one which the system holds up does not hold up the
    /// others. A thread is started for 2^19 words or more: starting one takes as long as some ten thousand words, and much
    /// longer where the system is busy.
    ///
    /// # Panics
    ///
    /// As [`run`](Plan::run) does.
    #[track_caller]
    pub fn run_parallel(&self, a: Source<'_>, b: Source<'_>, c: Source<'_>, d: &mut [u32], threads: NonZeroUsize) {
        let threads = threads.get().min(d.len() / WORTH_A_THREAD);
        if threads < 2 {
            return self.run(a, b, c, d);
        }
        // The caller, and no other thread, panics about lengths.
        for (name, source) in [("a", a), ("b", b), ("c", c)] {
            if name != "c" || self.reads_c {
                source.words(name, d.len(), d.as_mut_ptr());
            }
        }
        let pieces = Mutex::new(d.chunks_mut(PIECE).enumerate());
        let work = || {
            loop {
                // No thread panics while it holds the lock.
                let piece = pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((i, d)) = piece else { break };
                let (start, len) = (i * PIECE, d.len());
                let c = if self.reads_c { c.part(start, len) } else { c };
                self.run(a.part(start, len), b.part(start, len), c, d);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // If the system gives no more threads, those that run do all the work.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
    }

    /// [`run`](Plan::run) for 32 words, at the cost of one call.
    #[inline]
    pub fn run_chunk(&self, a: &[u32; CHUNK], b: &[u32; CHUNK], c: &[u32; CHUNK], d: &mut [u32; CHUNK]) {
        // SAFETY: one chunk is there in each.
        unsafe { self.compiled.run([a.as_ptr(), b.as_ptr(), c.as_ptr()], d.as_mut_ptr(), 1) }
    }
}
