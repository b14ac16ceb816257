//! Distributes blocks to threads: each thread takes the next block, reads its words, computes, reduces and writes.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use vop::bulk::{self, Plan};
use vop_arrays::{Content, Mapped, ReadElements};
use vop_run::Progress;

use super::input::{Array, Input};
use super::layout::Layout;
use super::reduce::Reduce;
use super::sink::Sink;

/// How many words a block has. Four blocks fill half of a core's second-level cache.
const BLOCK: u64 = 1 << 16;

/// What is to be done.
pub(super) struct Work<'a> {
    pub(super) plan: &'a Plan,
    pub(super) words: u64,
    /// The layout of the elements that are reduced.
    pub(super) result: &'a Layout,
    pub(super) reduce: Option<Reduce>,
    pub(super) sink: Option<&'a Sink>,
    pub(super) progress: Progress,
    /// Set when the user has interrupted the command.
    pub(super) stop: &'static AtomicBool,
}

pub(super) fn blocks(words: u64) -> u64 {
    words.div_ceil(BLOCK)
}

/// A block, and what went wrong with it.
type BlockError = (u64, String);

/// An operand as threads share it.
enum Shared<'a> {
    Value(u32),
    Mapped {
        layout: &'a Layout,
        mapped: &'a Mapped,
    },
    /// A stream: its index in [`Turn::streams`].
    Stream {
        layout: &'a Layout,
        index: usize,
    },
}

/// What threads do one after the other: they take the number of the next block, and read this block of each stream.
struct Turn<'a> {
    next: u64,
    streams: Vec<(&'a Path, &'a mut dyn ReadElements)>,
}

/// A thread's buffers for a block of one operand: its bytes, and its words if those differ from the bytes.
#[derive(Default)]
struct Room {
    bytes: Vec<u8>,
    words: Vec<u32>,
}

impl Work<'_> {
    /// Works on at most `threads` threads. Returns the reduction; `None` if there are no elements or no reduction is wanted.
    pub(super) fn run(&self, inputs: &mut [Input; 3], threads: NonZeroUsize) -> Result<Option<i128>, String> {
        let mut streams: Vec<(&Path, &mut dyn ReadElements)> = Vec::new();
        let inputs = inputs.each_mut().map(|input| match input {
            Input::None => Shared::Value(0),
            Input::Value(value) => Shared::Value(*value),
            Input::Array(Array { path, layout, content }) => match content {
                Content::Mapped(mapped) => Shared::Mapped { layout, mapped },
                Content::InOrder(stream) => {
                    streams.push((path, stream.as_mut()));
                    Shared::Stream { layout, index: streams.len() - 1 }
                }
            },
        });
        let turn = Mutex::new(Turn { next: 0, streams });
        let failed = AtomicBool::new(false);
        // The reduction, and the error of the first block that failed.
        let outcome: Mutex<(Option<i128>, Option<BlockError>)> = Mutex::default();
        let work = || {
            let ended = self.thread(&inputs, &turn, &failed);
            let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            match ended {
                Ok(reduced) => {
                    if let Some(reduce) = self.reduce {
                        outcome.0 = reduce.both(outcome.0, reduced);
                    }
                }
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    if let Some(sink) = self.sink {
                        sink.wake();
                    }
                    if outcome.1.as_ref().is_none_or(|first| error.0 < first.0) {
                        outcome.1 = Some(error);
                    }
                }
            }
        };
        let threads = threads.get().min(usize::try_from(blocks(self.words)).unwrap_or(usize::MAX));
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // If the system gives no more threads, those that run do all of the work.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let (reduced, error) = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok(reduced), |(_, why)| Err(why))
    }

    /// What one thread does.
    fn thread(
        &self,
        inputs: &[Shared<'_>; 3],
        turn: &Mutex<Turn<'_>>,
        failed: &AtomicBool,
    ) -> Result<Option<i128>, BlockError> {
        let stop = || failed.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed);
        let mut rooms: [Room; 3] = Default::default();
        let mut d = Vec::new();
        let mut reduced = None;
        while !stop() {
            let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            let block = turn.next;
            let first = block * BLOCK;
            if first >= self.words {
                break;
            }
            turn.next += 1;
            let end = (first + BLOCK).min(self.words);
            for (input, room) in inputs.iter().zip(&mut rooms) {
                if let Shared::Stream { layout, index } = input {
                    room.bytes.resize((layout.offset(end) - layout.offset(first)) as usize, 0);
                    let (path, stream) = &mut turn.streams[*index];
                    let read = stream.read(&mut room.bytes);
                    read.map_err(|why| (block, format!("cannot read {}: {why}", path.display())))?;
                }
            }
            drop(turn);
            d.resize((end - first) as usize, 0);
            let [room_a, room_b, room_c] = &mut rooms;
            let [a, b, c] = [(0, room_a), (1, room_b), (2, room_c)].map(|(i, room)| inputs[i].words(first, end, room));
            self.plan.run(a, b, c, &mut d);
            if let Some(reduce) = self.reduce {
                let block = reduce.of(self.result.element, &self.result.unpack(first, &d));
                reduced = reduce.both(reduced, block);
            }
            if let Some(sink) = self.sink {
                sink.write(block, first, &d, stop).map_err(|why| (block, why))?;
            }
            self.progress.fetch_add(1, Ordering::Relaxed);
        }
        Ok(reduced)
    }
}

impl Shared<'_> {
    fn words<'r>(&'r self, first: u64, end: u64, room: &'r mut Room) -> bulk::Source<'r> {
        match self {
            Shared::Value(value) => bulk::Source::All(*value),
            Shared::Mapped { layout, mapped } => {
                let bytes = &mapped.bytes()[layout.offset(first) as usize..layout.offset(end) as usize];
                let bytes = if mapped.is_big_endian() {
                    room.bytes.clear();
                    room.bytes.extend_from_slice(bytes);
                    layout.element.swap_bytes(&mut room.bytes);
                    &room.bytes
                } else {
                    bytes
                };
                bulk::Source::Words(layout.pack(first, bytes, &mut room.words))
            }
            Shared::Stream { layout, .. } => bulk::Source::Words(layout.pack(first, &room.bytes, &mut room.words)),
        }
    }
}
