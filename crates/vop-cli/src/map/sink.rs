//! The file of the result, which appears when it is complete.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::sync::{Condvar, Mutex, PoisonError};

use vop_arrays::{Created, Description, Element, Error, Format, Named, Output, Staged, WriteElements};

use super::layout::Layout;

pub(super) struct Sink {
    staged: Staged,
    /// The layout of the elements in the file.
    pub(super) layout: Layout,
    order: Order,
}

/// In which order blocks are written.
enum Order {
    /// In any order: elements have their places behind a header of this length. A lock orders the threads, since concurrent writes to
    /// one file are slower than writes one after the other.
    Any(u64, Mutex<File>),
    /// By their numbers: the number of the next block, and the file.
    Ascending(Mutex<(u64, Box<dyn WriteElements>)>, Condvar),
}

/// How a result is written in a format: in a picture, words are pixels of four channels.
fn written(format: Format, result: &Layout) -> Result<Layout, String> {
    match format {
        Format::Raw => Ok(Layout::raw(result.words())),
        Format::Png => {
            let Description { element, mut shape } = result.description();
            let element = match (element.size(), shape.len()) {
                (4, 2) => {
                    shape.push(4);
                    Element::U8
                }
                // There are no signed pictures: they hold the same bits.
                (size, _) => Element::integer(size, false).unwrap_or(element),
            };
            let picture = Description { element, shape };
            let unfit = |why| format!("{why}; the result is {}", result.describe());
            format.check(&picture).map_err(unfit)?;
            Layout::new(picture)
        }
        _ => Ok(result.clone()),
    }
}

impl Sink {
    /// Creates a file for a result.
    pub(super) fn create(file: Named<'_>, result: &Layout) -> Result<Sink, Error> {
        let layout = written(file.format, result).map_err(|why| file.cannot_write(why))?;
        let Created { staged, output } = file.create(&layout.description())?;
        let order = match output {
            Output::Anywhere { start, file } => Order::Any(start, Mutex::new(file)),
            Output::InOrder(writer) => Order::Ascending(Mutex::new((0, writer)), Condvar::new()),
        };
        Ok(Sink { staged, layout, order })
    }

    /// Wakes the threads that wait for their turn, which may never come.
    pub(super) fn wake(&self) {
        if let Order::Ascending(turn, changed) = &self.order {
            // While the lock is held, no thread is between its look at the turn and its wait.
            drop(turn.lock().unwrap_or_else(PoisonError::into_inner));
            changed.notify_all();
        }
    }

    /// Puts the file in its place.
    pub(super) fn finish(self) -> Result<(), String> {
        if let Order::Ascending(turn, _) = self.order {
            let written = turn.into_inner().unwrap_or_else(PoisonError::into_inner).1.finish();
            written.map_err(|why| format!("cannot write {}: {why}", self.staged.path().display()))?;
        }
        self.staged.commit().map_err(|error| error.to_string())
    }

    /// Writes a block's words; `first` is the index of the first. When `stop` becomes true, blocks are no longer written.
    pub(super) fn write(&self, block: u64, first: u64, words: &[u32], stop: impl Fn() -> bool) -> Result<(), String> {
        let bytes = self.layout.unpack(first, words);
        let result = match &self.order {
            Order::Any(start, file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let place = file.seek(SeekFrom::Start(start + self.layout.offset(first)));
                place.and_then(|_| file.write_all(&bytes)).map_err(|error| error.to_string())
            }
            Order::Ascending(turn, changed) => {
                let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                let waiting = |(next, _): &mut (u64, Box<dyn WriteElements>)| *next != block && !stop();
                let mut turn = changed.wait_while(turn, waiting).unwrap_or_else(PoisonError::into_inner);
                if turn.0 != block {
                    return Ok(());
                }
                let result = turn.1.write(&bytes);
                turn.0 += 1;
                changed.notify_all();
                result
            }
        };
        result.map_err(|why| format!("cannot write {}: {why}", self.staged.path().display()))
    }
}
