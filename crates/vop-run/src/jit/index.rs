//! Addresses that are indexes: an address that is the same for all threads, plus a word times the size of an element, as nvcc writes `a[i]`.
//!
//! Where an access of a run reads such an address, its line takes the word and the address instead: to compare words takes half as many
//! instructions, and the address of each thread is computed only where threads are in no row.

use std::collections::HashMap;

use super::emit::{Line, Value, What, Writer, is_of_block};
use super::known::Known;
use super::load;

/// How the bytes from the address of all threads follow from the word. These are the first two sources of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Index {
    /// The word is shifted to the left.
    pub(super) shift: u8,
    pub(super) signed: bool,
}

/// The largest shift: of elements of 64 KiB.
const MAX_SHIFT: u32 = 16;

impl Writer<'_> {
    /// Finds such addresses, and leaves out what nothing reads any more.
    pub(super) fn find_indexes(&mut self, lines: &mut [Line<'_>]) {
        let results =
            lines.iter().enumerate().flat_map(|(at, line)| line.results.iter().map(move |value| (*value, at)));
        let made: HashMap<usize, usize> = results.collect();
        for at in 0..lines.len() {
            let access = match lines[at].what {
                What::Load(load, _) => &load.access,
                What::Store(store, _) => &store.access,
                _ => continue,
            };
            if !load::is_of_doubles(access) {
                continue;
            }
            let address = lines[at].sources[0];
            let Some((index, word, base)) = self.index(lines, &made, address) else { continue };
            lines[at].index = Some(index);
            lines[at].sources.splice(..1, [word, base]);
            for value in [word, base] {
                let uses = &mut self.values[value].uses;
                uses.push(at);
                uses.sort_unstable();
            }
            self.forget_use(lines, &made, address, at);
        }
    }

    /// What an address is made of: the word, and the address of all threads.
    fn index(&self, lines: &[Line<'_>], made: &HashMap<usize, usize>, address: usize) -> Option<(Index, usize, usize)> {
        let sum = &lines[*made.get(&address)?];
        let of_block = |value: &usize| is_of_block(&self.values[*value]);
        let (product, signed, base) = match sum.what {
            What::Compute(Known::WideAdd { signed }) => (sum, signed, sum.sources[2]),
            What::Compute(Known::AddDouble) => {
                let (base, other) = match (of_block(&sum.sources[0]), of_block(&sum.sources[1])) {
                    (true, false) => (sum.sources[0], sum.sources[1]),
                    (false, true) => (sum.sources[1], sum.sources[0]),
                    _ => return None,
                };
                let product = &lines[*made.get(&other)?];
                match product.what {
                    What::Compute(Known::Wide { signed }) => (product, signed, base),
                    // Of bytes.
                    What::Compute(Known::Extend { signed }) => {
                        let word = product.sources[0];
                        return (!of_block(&word)).then_some((Index { shift: 0, signed }, word, base));
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        let by = product.constant(self.kernel, 1)?;
        let fits = by.is_power_of_two() && by.trailing_zeros() <= MAX_SHIFT && of_block(&base);
        let word = product.sources[0];
        (fits && !of_block(&word)).then(|| (Index { shift: by.trailing_zeros() as u8, signed }, word, base))
    }

    /// A line does not read a value any more. Leaves out the line that gives it, if nothing reads it.
    fn forget_use(&mut self, lines: &mut [Line<'_>], made: &HashMap<usize, usize>, value: usize, line: usize) {
        let Value { uses, lives, .. } = &mut self.values[value];
        if let Some(at) = uses.iter().position(|at| *at == line) {
            uses.remove(at);
        }
        if !uses.is_empty() || *lives {
            return;
        }
        let Some(at) = made.get(&value) else { return };
        if !matches!(lines[*at].what, What::Compute(_)) {
            return;
        }
        lines[*at].what = What::Compute(Known::No);
        lines[*at].results.clear();
        for source in std::mem::take(&mut lines[*at].sources) {
            self.forget_use(lines, made, source, *at);
        }
    }
}
