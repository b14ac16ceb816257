//! Runs of steps without branches, as machine code: a register that nothing reads afterwards never comes to its column.
//!
//! A block executes a step as a loop over columns, so each step reads its operands from the first-level cache and writes its result to it.
//! In a run of such steps most results are read by the next steps alone. Where a launch is long enough, its runs are translated: a
//! function goes over the threads of the block by as many as a vector register has words, and keeps everything in registers on the way.
//!
//! ```text
//! Steps ──Found::all──► runs ──Live──► what must be stored ──Writer──► machine code ──► Op::Run in place of the first step
//! ```
//!
//! - [`known`]: the instructions that have a template. What each computes is defined in `pure/`; a test compares every template with it.
//! - [`live`]: which registers are read later. [`emit`]: templates of what computes, and which values stay in registers.
//! - [`load`]: where threads reach memory, checked; loads. [`index`]: addresses that are indexes. [`fixed`]: addresses that are known.
//! - [`steady`]: accesses of loops whose threads stay in a row.
//! - [`store`], [`video`]: stores, and video instructions. [`phases`]: stores of shared memory behind loads of it.
//! - [`stream`]: stores that go past the caches.
//! - [`region`]: whole loops as one function.
//! - [`vectors`]: what differs between AVX2 and AVX-512. [`assembler`], [`executable`]: bytes, and pages for them; `elsewhere.rs` is in place
//!   of these pages on other systems.
//!
//! Where a check of an address fails, the function returns early, and `engine/block/runs.rs` executes the rest of the run step by step.
//!
//! The other steps of a run stay at their places, so a jump into a run executes them one by one. Nothing of this changes what a kernel
//! computes or what is counted; observed launches and checked ones execute every step by itself.

#![allow(unsafe_code, reason = "machine code")]

mod assembler;
mod emit;
#[cfg_attr(not(all(unix, target_arch = "x86_64")), path = "elsewhere.rs")]
mod executable;
mod fixed;
mod index;
pub(crate) mod known;
mod live;
mod load;
mod phases;
pub(crate) mod region;
pub(crate) mod steady;
mod store;
mod stream;
mod vectors;
mod video;

pub(crate) use load::Site;
pub(crate) use phases::phases;
pub(crate) use stream::{put, settle};

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::code::{Kernel, Op, Region, Run, Step};
use crate::column::File;
use crate::level::Level;
use crate::memory::Space;
use emit::Writer;
use executable::Executable;
use live::Live;
use vectors::Vectors;

/// Thread-instructions after which a kernel's runs are worth a translation, which takes about as long as a million of them.
const HOT: u64 = 1 << 21;
/// Kernels of more steps are not looked at: liveness would take longer than they do.
const MAX_STEPS: usize = 1 << 15;
/// Steps of one run.
const MAX_RUN: usize = 1 << 10;
/// Thread-instructions of a call of a region, about: whoever wants to end a launch waits for so many.
const ROUND_WORK: usize = 1 << 20;
/// Rounds of loops in a call of a region, at least.
const MIN_ROUNDS: usize = 64;
/// Translations that a kernel keeps: for so many shapes of blocks. Those of running launches stay until they end.
const MAX_TRANSLATIONS: usize = 8;

/// The steps of a kernel with runs among them, for blocks of one number of warps.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) steps: Vec<Step>,
    /// Runs in place of those that cannot be used: see [`Run::otherwise`].
    pub(crate) others: Vec<Run>,
    pub(crate) regions: Vec<Region>,
    /// The number of sites that the runs and regions have, and of those with accesses.
    pub(crate) sites: usize,
    /// Bytes of the words of a turn.
    pub(crate) row: u64,
    pub(crate) loading: usize,
    /// The shape of the blocks that it is for, if it is for those of one shape only: see [`fixed`].
    block: Option<[u32; 3]>,
    #[allow(dead_code, reason = "the runs are in it")]
    code: Option<Executable>,
}

type Key = (usize, usize, u64);

/// What a kernel's launches have executed, and its translations.
#[derive(Debug, Default)]
pub(crate) struct Heat {
    executed: AtomicU64,
    /// The number of translations that were made.
    translations: AtomicUsize,
    /// By whether the steps rely on samples, on which, by the number of warps, and by the bytes of shared memory. A translation may be for blocks
    /// of one shape only.
    compiled: Mutex<Vec<(Key, Arc<Compiled>)>>,
}

impl Heat {
    /// Adds what a launch has executed.
    pub(crate) fn add(&self, executed: u64) {
        self.executed.fetch_add(executed, Ordering::Relaxed);
    }

    /// How many runs the translations have, and how many steps are in them.
    pub(crate) fn runs(&self) -> (usize, usize) {
        let all = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = all.iter().flat_map(|(_, compiled)| &compiled.steps);
        steps.fold((0, 0), |(runs, executed), step| match step.op {
            Op::Run(run) => (runs + 1, executed + run.executed as usize),
            _ => (runs, executed),
        })
    }

    /// How many regions the translations have.
    pub(crate) fn regions(&self) -> usize {
        let all = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|(_, compiled)| compiled.regions.len()).sum()
    }

    /// Whether a translation pays, after this much of the running launch. Of a kernel that has been launched in many shapes each launch must be
    /// long enough by itself, as its shape may not come again.
    pub(crate) fn is_hot(&self, executed: u64) -> bool {
        let before = match self.translations.load(Ordering::Relaxed) < MAX_TRANSLATIONS {
            true => self.executed.load(Ordering::Relaxed),
            false => 0,
        };
        before.saturating_add(executed) >= HOT
    }

    /// The translation of steps: `variant` tells them from the kernel's others.
    pub(crate) fn compiled(
        &self,
        kernel: &Kernel,
        steps: &[Step],
        variant: usize,
        file: &File,
        shared_len: u64,
        block: [u32; 3],
    ) -> Arc<Compiled> {
        let key = (variant, file.warps, shared_len);
        let mut all = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let serves = |of: &Compiled| of.block.is_none_or(|of| of == block);
        if let Some((_, found)) = all.iter().find(|(other, of)| *other == key && serves(of)) {
            return Arc::clone(found);
        }
        let compiled = Arc::new(compile(kernel, steps, file, shared_len, block));
        self.translations.fetch_add(1, Ordering::Relaxed);
        if all.len() == MAX_TRANSLATIONS {
            all.remove(0);
        }
        all.push((key, Arc::clone(&compiled)));
        compiled
    }
}

/// Whether there are templates for the machine, and pages for them.
pub(crate) const IS_SERVED: bool = cfg!(all(unix, target_arch = "x86_64"));

/// Whether kernels for this level can be translated on this machine.
pub(crate) fn serves(level: Level) -> bool {
    IS_SERVED && Vectors::of(level).is_some()
}

/// Whether each loop of a kernel becomes one function.
pub(crate) fn all_loops_are_regions(kernel: &Kernel) -> bool {
    region::Region::cover(kernel, &kernel.steps)
}

/// Whether a step has a template.
fn is_served(kernel: &Kernel, step: &Step) -> bool {
    match &step.op {
        Op::Compute { known, operands, .. } => emit::can_write(kernel, *known, operands),
        Op::Video(step) => video::video(kernel.videos[step.form as usize]).is_some(),
        Op::Load(load) => load::can_access(kernel, &load.access, load.memory, load.d.len()),
        Op::Store(store) => load::can_access(kernel, &store.access, store.memory, store.sources.len()),
        _ => false,
    }
}

/// Steps that follow one another and can be one function.
#[derive(Clone, Copy, Debug)]
struct Found {
    start: usize,
    /// The step after it.
    end: usize,
}

/// What some steps amount to.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    /// Those that the engine would execute.
    executed: u32,
    /// Those that count.
    counts: u32,
    /// Video instructions.
    videos: u32,
}

impl Found {
    /// The number of loads that have a site of their own.
    fn sites(&self, steps: &[Step]) -> usize {
        let mut sites = 0;
        each(steps, self.start..self.end, |_, step| {
            let access = match &step.op {
                Op::Load(load) => Some(&load.access),
                Op::Store(store) => Some(&store.access),
                _ => None,
            };
            sites += usize::from(access.is_some_and(|access| access.space != Space::Shared));
        });
        sites
    }

    /// What its steps amount to.
    fn totals(&self, steps: &[Step]) -> Totals {
        let mut totals = Totals::default();
        each_place(steps, self.start..self.end, |at, _| {
            totals.executed += 1;
            totals.counts += u32::from(steps[at].counts);
            totals.videos += u32::from(matches!(steps[at].op, Op::Video(_)));
            if let Op::Skip { counts, .. } = steps[at].op {
                totals.counts += counts;
            }
        });
        totals
    }

    /// Whether it is more than a step that computes.
    fn is_worth_it(&self, steps: &[Step]) -> bool {
        self.end - self.start > 1 || self.end > self.start && matches!(steps[self.start].op, Op::Store(_))
    }

    /// The steps before a store of global memory, if loads of it are among them: see [`store`].
    fn before_store(&self, steps: &[Step]) -> Option<Found> {
        let (mut loads, mut last) = (false, None);
        each(steps, self.start..self.end, |at, step| match &step.op {
            Op::Load(load) => loads |= load.access.space != Space::Shared,
            Op::Store(store) if store.access.space != Space::Shared => last = Some(at),
            _ => {}
        });
        last.filter(|_| loads).map(|at| Found { start: self.start, end: at })
    }

    /// All runs of at least two instructions.
    fn all(kernel: &Kernel, steps: &[Step]) -> Vec<Found> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < steps.len() {
            // Not what a skip would jump over at the start.
            if let Op::Skip { steps, .. } = &steps[at].op {
                at += *steps as usize;
                continue;
            }
            let (start, mut computes, mut end, mut loads_shared) = (at, 0, at, false);
            while at < steps.len() && at - start < MAX_RUN && steps[at].guard.is_none() {
                match &steps[at].op {
                    // What samples have computed counts all the same.
                    Op::Skip { steps, .. } => {
                        at += *steps as usize;
                        continue;
                    }
                    Op::Load(load) => loads_shared |= load.access.space == Space::Shared,
                    _ => {}
                }
                if !is_served(kernel, &steps[at]) {
                    break;
                }
                let store = match &steps[at].op {
                    Op::Store(store) => Some(store),
                    _ => None,
                };
                computes += 1 + usize::from(store.is_some());
                at += 1;
                end = at;
                if let Some(store) = store {
                    // See `store`, and `phases`.
                    if loads_shared && store.access.space == Space::Shared {
                        end = phases::end(kernel, steps, start..at);
                    }
                    break;
                }
            }
            if computes > 1 {
                found.push(Found { start, end });
            }
            at = if computes > 0 { end } else { at.max(start + 1) };
        }
        found
    }
}

/// The places of a range, also of steps that say what is left out, in order; and where each leads to.
fn each_place(steps: &[Step], range: Range<usize>, mut see: impl FnMut(usize, usize)) {
    let mut at = range.start;
    while at < range.end {
        let behind = match &steps[at].op {
            Op::Skip { steps, .. } => at + *steps as usize,
            _ => at + 1,
        };
        see(at, behind);
        at = behind;
    }
}

/// The steps of a range that are executed, in order, with their places.
pub(crate) fn each<'s>(steps: &'s [Step], range: Range<usize>, mut see: impl FnMut(usize, &'s Step)) {
    each_place(steps, range, |at, _| {
        if !matches!(steps[at].op, Op::Skip { .. }) {
            see(at, &steps[at]);
        }
    });
}

/// The places of these steps.
pub(crate) fn places(steps: &[Step], range: Range<usize>) -> Vec<usize> {
    let mut places = Vec::new();
    each(steps, range, |at, _| places.push(at));
    places
}

/// Steps with a run in place of the first step of each.
fn compile(kernel: &Kernel, steps: &[Step], file: &File, shared_len: u64, block: [u32; 3]) -> Compiled {
    // Shared memory is the first site.
    let mut compiled = Compiled {
        steps: steps.to_vec(),
        others: Vec::new(),
        regions: Vec::new(),
        sites: 1,
        row: 0,
        loading: 0,
        block: None,
        code: None,
    };
    let Some(vectors) = Vectors::of(kernel.level) else { return compiled };
    compiled.row = vectors.bytes() as u64;
    if steps.len() > MAX_STEPS {
        return compiled;
    }
    let found = Found::all(kernel, steps);
    if found.is_empty() {
        return compiled;
    }
    let Some(live) = Live::new(steps, &kernel.functions) else { return compiled };
    let mut writer = Writer::new(kernel, file, shared_len, vectors);
    let mut runs = Vec::new();
    for Found { mut start, end } in found {
        let mut run = Found { start, end };
        while run.is_worth_it(steps) {
            let first = compiled.sites;
            let mut entries = |run: &Found| {
                let [all, some] = [false, true].map(|masked| {
                    let function = writer.function(steps, run, &live, masked, first);
                    function.map(|function| (function, writer.phases as u32))
                });
                Some([all?, some?])
            };
            if let Some(own) = entries(&run) {
                let before = run.before_store(steps).filter(|before| before.is_worth_it(steps));
                let other = before.and_then(|before| Some((before, entries(&before)?)));
                compiled.sites += run.sites(steps);
                start = run.end;
                runs.push((first, (run, own), other));
                run = Found { start, end };
            } else {
                // Half of it may fit into registers.
                let places = places(steps, run.start..run.end);
                run = Found { start, end: places[places.len() / 2] };
            }
        }
    }
    let mut regions = Vec::new();
    for region in region::Region::all(kernel, steps) {
        if let Some(written) = writer.region(steps, &region, &live, compiled.sites) {
            let first = compiled.sites;
            compiled.sites += region.sites(steps);
            regions.push((region, written, first));
        }
    }
    compiled.block = writer.fixed.found.then_some(block);
    let Some(code) = Executable::new(writer.code()) else { return compiled };
    for (site, own, other) in runs {
        let mut describe = |(found, functions): (Found, [(usize, u32); 2]), otherwise| {
            let range = &steps[found.start..found.end];
            let Totals { executed, counts, videos } = found.totals(steps);
            let loads = range.iter().any(|step| matches!(step.op, Op::Load(_) | Op::Store(_)));
            let stores = range.iter().any(|step| matches!(step.op, Op::Store(_)));
            let loading = loads.then_some(compiled.loading as u32);
            compiled.loading += usize::from(loads);
            let own = u32::from(range[0].counts);
            // SAFETY: the writer put functions there, of this type.
            let [all, some] = functions.map(|(at, phases)| (unsafe { code.function(at) }, phases));
            let (steps, counts, site) = (range.len() as u32, counts - own, site as u32);
            let lanes = vectors.lanes() as u32;
            Run { all, some, lanes, steps, counts, executed, loading, site, stores, videos, otherwise }
        };
        let other = other.map(|other| describe(other, None));
        let number = other.is_some().then_some(compiled.others.len() as u32);
        let run = describe(own, number);
        compiled.others.extend(other);
        compiled.steps[own.0.start].op = Op::Run(run);
    }
    for (found, region::Written { function, columns, straight, steady }, site) in regions {
        let loading = found.loads(steps).then_some(compiled.loading as u32);
        compiled.loading += usize::from(loading.is_some());
        let (entry, lanes) = (found.entry(steps), vectors.lanes());
        let region = compiled.regions.len() as u32;
        let step = Step { op: Op::Region(region), guard: None, counts: false, ..compiled.steps[entry].clone() };
        let instead = std::mem::replace(&mut compiled.steps[entry], step);
        compiled.regions.push(Region {
            // SAFETY: the writer put a function there, of this type.
            function: unsafe { code.region(function) },
            lanes: lanes as u32,
            parts: found.describe(steps, site, straight),
            loading,
            written: columns,
            straight,
            steady: steady as u32,
            rounds: (ROUND_WORK / (lanes * found.len())).max(MIN_ROUNDS) as u64,
            exits: found.exits,
            instead,
        });
    }
    compiled.code = Some(code);
    compiled
}
