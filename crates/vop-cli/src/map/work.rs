//! Blocks to threads: each takes the next block, reads its words, computes, reduces and writes.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use vop::bulk::{self, Plan};
use vop_run::Progress;

use super::layout::Layout;
use super::reduce::Reduce;
use super::sink::Sink;
use super::source::{Array, Content, Source, Stream};

/// The words of a block: with four of them a core's second-level cache is half full.
const BLOCK: u64 = 1 << 16;

/// What is to be done.
pub(super) struct Work<'a> {
    pub(super) plan: &'a Plan,
    pub(super) words: u64,
    /// How elements of the result lie for a reduction.
    pub(super) result: &'a Layout,
    pub(super) reduce: Option<Reduce>,
    pub(super) sink: Option<&'a Sink>,
    pub(super) progress: Progress,
    /// Set from outside when nobody wants the result any more.
    pub(super) stop: &'static AtomicBool,
}

pub(super) fn blocks(words: u64) -> u64 {
    words.div_ceil(BLOCK)
}

/// A block, and what went wrong with it.
type BlockError = (u64, String);

/// One of a, b and c as a thread finds it.
enum Input<'a> {
    Value(u32),
    Mapped {
        array: &'a Layout,
        bytes: &'a [u8],
        big_endian: bool,
    },
    /// Its place among the streams.
    Stream {
        array: &'a Layout,
        index: usize,
    },
}

/// What threads do one after the other: take a number, and read as much of each stream.
struct Turn<'a> {
    next: u64,
    streams: Vec<(&'a std::path::Path, &'a mut dyn Stream)>,
}

/// A thread's room for a block of one input: its bytes, and its words where those are something else.
#[derive(Default)]
struct Room {
    bytes: Vec<u8>,
    words: Vec<u32>,
}

impl Work<'_> {
    /// Does it on up to so many threads. The reduction, `None` if there are no elements or none is wanted.
    pub(super) fn run(&self, sources: &mut [Source; 3], threads: NonZeroUsize) -> Result<Option<i128>, String> {
        let mut streams: Vec<(&std::path::Path, &mut dyn Stream)> = Vec::new();
        let inputs = sources.each_mut().map(|source| match source {
            Source::None => Input::Value(0),
            Source::Value(value) => Input::Value(*value),
            Source::Array(Array { path, layout, content }) => match content {
                Content::Mapped { map, start, big_endian } => {
                    Input::Mapped { array: layout, bytes: &map[*start..], big_endian: *big_endian }
                }
                Content::Stream(stream) => {
                    streams.push((path, stream.as_mut()));
                    Input::Stream { array: layout, index: streams.len() - 1 }
                }
            },
        });
        let turn = Mutex::new(Turn { next: 0, streams });
        let failed = AtomicBool::new(false);
        // The reduction, and of what went wrong that of the first block.
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
                // Where the system gives no more threads, those that are there do all of it.
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
        inputs: &[Input<'_>; 3],
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
                if let Input::Stream { array, index } = input {
                    room.bytes.resize((array.offset(end) - array.offset(first)) as usize, 0);
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

impl Input<'_> {
    fn words<'r>(&'r self, first: u64, end: u64, room: &'r mut Room) -> bulk::Source<'r> {
        match self {
            Input::Value(value) => bulk::Source::All(*value),
            Input::Mapped { array, bytes, big_endian } => {
                let bytes = &bytes[array.offset(first) as usize..array.offset(end) as usize];
                let bytes = if *big_endian {
                    room.bytes.clear();
                    room.bytes.extend_from_slice(bytes);
                    array.element.swap(&mut room.bytes);
                    &room.bytes
                } else {
                    bytes
                };
                bulk::Source::Words(array.pack(first, bytes, &mut room.words))
            }
            Input::Stream { array, .. } => bulk::Source::Words(array.pack(first, &room.bytes, &mut room.words)),
        }
    }
}
