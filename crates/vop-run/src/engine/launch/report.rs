//! What a launch did, from what its cores did.

use std::sync::atomic::Ordering;

use vop::Severity;

use super::{Kernel, LaunchOptions, Work};
use crate::engine::block::Failure;
use crate::engine::findings::{Absence, AccessKind, Findings, Found, Key, Near, Race, Spot, What};
use crate::engine::observer::{Observer, Profile};
use crate::engine::shadow::Common;
use crate::error::{RunError, RunErrorKind, RunErrors, ThreadId};
use crate::heap::Site;
use crate::memory::{Memory, Places, plural, shown_allocation};
use crate::special::Shape;
use crate::symbol::shown;

/// Findings of a launch that are reported.
const MAX_FINDINGS: usize = 100;

/// What a launch did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Statements executed, one for each thread that executed it. A statement whose guard was false is not counted.
    pub instructions: u64,
    /// Video instructions among them.
    pub video: u64,
    /// The number of blocks that ran.
    pub blocks: u64,
    /// Lines of the PTX whose atomics may make results depend on the order of blocks, which differs from run to run on more than
    /// one core: sums of floating point, `exch` and `cas`, and those whose old value is used. Empty where there is one block or one
    /// core.
    pub order_dependent: Vec<usize>,
    /// What checks found, and what is worth a note, by place: of the first block first. At most 100.
    pub findings: Vec<Finding>,
    /// The number of findings that are not among [`Report::findings`], as these are at too many places.
    pub findings_left_out: u64,
    /// What was executed by statement, if [`LaunchOptions::profile`] asked for it.
    pub profile: Option<Profile>,
    /// What the thread of [`LaunchOptions::trace`] executed, a line for each statement.
    pub trace: Vec<String>,
}

/// What was found at one place of a kernel while it ran on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// An error, or a note: something to know about a kernel that may be right.
    pub severity: Severity,
    /// What was found, where, and by which thread of the first block that had it.
    pub error: RunError,
    /// How often it was found there, over all threads and blocks.
    pub count: u64,
    /// What else is this finding; none for what no statement has.
    key: Option<Key>,
}

impl Finding {
    /// Whether another launch of the kernel has found the same: the same kind of fault, at the same statement, and if it takes two, at the
    /// same two. Threads, addresses and counts may differ.
    pub fn is_like(&self, other: &Finding) -> bool {
        let place = |finding: &Finding| finding.error.place.as_ref().map(|place| place.span.clone());
        self.key.is_some() && self.key == other.key && self.severity == other.severity && place(self) == place(other)
    }
}

impl Report {
    /// Whether a check has found an error.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// The launch was to run on several cores, whether or not all of them came in time.
    pub(super) fn note_order(&mut self, kernel: &Kernel) {
        let lines = kernel.ordered.iter().filter_map(|statement| Some(kernel.place(*statement)?.line));
        self.order_dependent = lines.collect();
        self.order_dependent.dedup();
    }

    /// Sums up what the cores did; what blocks printed goes to memory, in the order of the blocks. Of several failures the one of the
    /// first block is returned, and the errors that checks had found.
    pub(super) fn new(
        kernel: &Kernel,
        options: &LaunchOptions,
        shape: &Shape,
        work: Vec<Work>,
        places: &Places,
        memory: &mut Memory,
        common: Option<&Common>,
    ) -> Result<Report, RunErrors> {
        let mut report = Report { blocks: shape.blocks(), ..Report::default() };
        let mut printed = Vec::new();
        let mut failure: Option<(u64, Failure)> = None;
        let mut observers: Vec<Box<Observer>> = Vec::new();
        let mut findings: Vec<Findings> = Vec::new();
        for work in work {
            report.instructions += work.executed;
            report.video += work.video;
            printed.extend(work.printed);
            observers.extend(work.observers);
            findings.extend(work.findings);
            if let Some(found) = work.failure
                && failure.as_ref().is_none_or(|(index, _)| found.0 < *index)
            {
                failure = Some(found);
            }
        }
        printed.sort_by_key(|(index, _)| *index);
        let last = failure.as_ref().map_or(u64::MAX, |(index, _)| *index);
        // It may be much.
        for (_, text) in printed.into_iter().filter(|(index, _)| *index <= last) {
            match memory.printed.is_empty() {
                true => memory.printed = text,
                false => memory.printed.extend_from_slice(&text),
            }
        }
        if options.profile && failure.is_none() {
            report.profile = Some(Profile::new(kernel, &observers));
        }
        let trace: Vec<String> = observers.into_iter().flat_map(|observer| observer.into_trace()).collect();
        let explain = Explain { kernel, shape, places, options };
        report.add_findings(&explain, findings, common);
        match failure {
            Some((_, error)) => {
                let mut errors = vec![RunError { trace: trace.into(), ..*error }];
                let found = report.findings.into_iter().filter(|finding| finding.severity == Severity::Error);
                errors.extend(found.map(|finding| finding.error));
                Err(RunErrors(errors))
            }
            None => Ok(Report { trace, ..report }),
        }
    }

    fn add_findings(&mut self, explain: &Explain<'_>, findings: Vec<Findings>, common: Option<&Common>) {
        let (found, left_out) = Findings::merge(findings.into_iter());
        self.findings_left_out = left_out;
        for (i, found) in found.iter().enumerate() {
            if i < MAX_FINDINGS {
                self.findings.push(explain.finding(found));
            } else {
                self.findings_left_out += found.count;
            }
        }
        let Some(common) = common else { return };
        if common.exhausted.load(Ordering::Relaxed) {
            let message = "the check for races looks at the first 64 MiB of global memory that a launch reaches, and this launch reaches more";
            self.findings.push(note(RunError::new(RunErrorKind::Race, message), 1));
        }
        if common.starved.load(Ordering::Relaxed) {
            let message = "there was no memory to look at all accesses, so races may be missed";
            let error = RunError::new(RunErrorKind::Race, message).with_help("`--memory` sets the limit");
            self.findings.push(note(error, 1));
        }
        if let Some((_, log)) = &common.heap {
            let log = log.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let leaks = log.leaks();
            self.findings_left_out += leaks.iter().skip(MAX_FINDINGS).map(|(_, count, _)| count).sum::<u64>();
            self.findings.extend(leaks.into_iter().take(MAX_FINDINGS).map(|leak| explain.leak(leak)));
        }
    }
}

fn note(error: RunError, count: u64) -> Finding {
    Finding { severity: Severity::Note, error, count, key: None }
}

/// What it takes to put findings into words.
struct Explain<'e> {
    kernel: &'e Kernel,
    shape: &'e Shape,
    places: &'e Places,
    options: &'e LaunchOptions,
}

impl Explain<'_> {
    fn thread(&self, block: u64, thread: usize) -> ThreadId {
        ThreadId { block: self.shape.ctaid(block), thread: self.shape.tid(thread) }
    }

    /// `byte 3 of shared memory`, ``byte 3 of `out` ``.
    fn spot(&self, spot: Spot) -> String {
        match spot {
            Spot::Shared(offset) => format!("byte {offset} of shared memory"),
            Spot::Global(address) => {
                let Some((index, offset)) = self.places.locate(address) else { return "global memory".to_owned() };
                let name = self.places.names.get(index).map(|name| shown_allocation(name));
                format!("byte {offset} of {}", name.unwrap_or("global memory".to_owned()))
            }
        }
    }

    fn finding(&self, found: &Found) -> Finding {
        let mut severity = Severity::Error;
        let mut address = None;
        let error = match &found.what {
            What::Race(race) => {
                if race.same_value || race.guess {
                    severity = Severity::Note;
                }
                address = Some(race.spot);
                self.race(found, race)
            }
            What::Uninitialized(spot) => {
                address = Some(*spot);
                let message = format!("{} is read, and nothing has written it", self.spot(*spot));
                RunError::new(RunErrorKind::Uninitialized, message)
            }
            What::MissingLane(lane) => {
                if !self.options.check_warp {
                    severity = Severity::Note;
                }
                let message = format!(
                    "`shfl` reads lane {lane}, which does not take part: it gives 0 here, and by the manual anything"
                );
                RunError::new(RunErrorKind::MissingLane, message).with_help(
                    "a lane takes part if the mask names it and it has not ended; read only such lanes, or ignore the result",
                )
            }
            What::Member(lane, absence) => member(*lane, *absence),
            What::TakenForGranted(lane) => {
                let message = format!(
                    "`shfl` reads lane {lane} by the mask that `activemask` gave, which need not name it: lanes may run apart at any time"
                );
                RunError::new(RunErrorKind::ActiveMask, message)
                    .with_help("take the mask from `vote.sync.ballot` (`__ballot_sync`) before the branch, or number the lanes of the mask")
            }
            What::MetByLuck { is_error } => {
                if !is_error {
                    severity = Severity::Note;
                }
                let message = "the mask is what `activemask` gave, and its lanes had parted before: that they are together again is luck";
                RunError::new(RunErrorKind::ActiveMask, message).with_help(
                    "let the lanes meet by `bar.warp.sync` (`__syncwarp`) with a mask that is known, and use that mask",
                )
            }
            What::Heap { address: at, near } => {
                address = Some(Spot::Global(*at));
                self.heap(*at, near.as_ref())
            }
            What::DoubleFree { address: at, near } => {
                address = Some(Spot::Global(*at));
                let message = format!("address {at:#x} is freed again{}", history(near));
                RunError::new(RunErrorKind::Free, message)
            }
        };
        let address = address.map(|spot| match spot {
            Spot::Shared(offset) => offset,
            Spot::Global(address) => address,
        });
        let error = RunError { thread: Some(self.thread(found.block, found.thread)), address, ..error };
        let error = match self.kernel.place(found.statement) {
            Some(place) => error.at(place),
            None => error,
        };
        Finding { severity, error, count: found.count, key: Some(Key::of(&found.what, found.statement)) }
    }

    fn race(&self, found: &Found, race: &Race) -> RunError {
        let other = self.thread(race.block, race.thread);
        let place = self.kernel.place(race.statement);
        let place =
            place.map_or(String::new(), |place| format!(" at {}: `{}`", self.kernel.line_of(&place), place.text));
        let verb = match race.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "wrote",
            AccessKind::Atomic => "changed",
        };
        let spot = self.spot(race.spot);
        if race.same_value {
            let message = if race.statement == found.statement && race.block == found.block {
                format!("several threads write the same value to {spot}, and nothing orders them; {other} did as well")
            } else {
                format!("{other} {verb} the same value to {spot}{place}, and nothing orders the two")
            };
            return RunError::new(RunErrorKind::Race, message);
        }
        if race.guess {
            let message = format!(
                "a plain read of {spot} races with compare-and-swap: {other} {verb} it{place}; right only if the compare-and-swap checks what was read"
            );
            return RunError::new(RunErrorKind::Race, message).with_help("read it as `ld.relaxed` or `ld.volatile`");
        }
        let other_block = race.block != found.block;
        let (end, help) = if race.is_copy {
            (
                "with `cp.async`, and nothing has waited for the copy",
                "wait for the copy (`cp.async.wait_group`, an `mbarrier`), and let a barrier follow if another thread reads",
            )
        } else if race.narrow {
            (
                "and the scope of one of the two has only its own block",
                "make both accesses with the scope `.gpu` or `.sys`",
            )
        } else if other_block {
            (
                "and nothing orders the two blocks",
                "blocks are ordered by a release and an acquire of the scope `.gpu` (`__threadfence()` and a flag); atomics do not race",
            )
        } else {
            (
                "and nothing orders the two accesses",
                "a barrier (`__syncthreads()`, `__syncwarp()` within a warp) between the two orders them",
            )
        };
        let message = format!("a race on {spot}: {other} {verb} it{place}, {end}");
        RunError::new(RunErrorKind::Race, message).with_help(help)
    }

    fn heap(&self, address: u64, near: Option<&Near>) -> RunError {
        let message = match near {
            Some(near) if near.freed.is_some() && near.offset < near.size.max(1) => {
                let (offset, size) = (near.offset, plural(near.size));
                format!("byte {offset} of an allocation of {size} is accessed after it was freed{}", history(near))
            }
            Some(near) => format!(
                "an access at byte {} of an allocation of {} of `malloc` goes beyond its end{}",
                near.offset,
                plural(near.size),
                history(near)
            ),
            None => format!("an access at address {address:#x} of the heap, where `malloc` has allocated nothing"),
        };
        RunError::new(RunErrorKind::HeapUse, message)
    }

    fn leak(&self, (site, count, bytes): (std::sync::Arc<Site>, u64, u64)) -> Finding {
        let what = match count {
            1 => format!("an allocation of {} is", plural(bytes)),
            _ => format!("{} allocations of {} bytes in sum are", vop::grouped(count), vop::grouped(bytes)),
        };
        let message = format!(
            "{what} not freed when the launch ends: `malloc` at {} of {}{}",
            site.line,
            shown(&site.kernel),
            site.source.as_ref().map_or(String::new(), |source| format!(" ({source})"))
        );
        let error = RunError::new(RunErrorKind::Leak, message);
        note(RunError { thread: Some(site.thread), ..error }, count)
    }
}

fn member(lane: usize, absence: Absence) -> RunError {
    let (message, help) = match absence {
        Absence::Ended => (
            format!("the mask names lane {lane}, which ended without coming here"),
            "name only lanes that come: take the mask from `vote.sync.ballot` (`__ballot_sync`) before some end",
        ),
        Absence::OtherMask => (
            format!("the mask names lane {lane}, which came here with another mask"),
            "all lanes of a mask must give the same mask",
        ),
        Absence::NotNamed => (
            format!("lane {lane} executes this, and its own mask does not name it"),
            "the mask must name the lane that executes the instruction",
        ),
    };
    RunError::new(RunErrorKind::MaskMember, message).with_help(help)
}

/// Where an allocation was made, and where it was freed.
fn history(near: &Near) -> String {
    let site = |verb: &str, site: &Site| {
        let source = site.source.as_ref().map_or(String::new(), |source| format!(", {source}"));
        format!("; {verb} at {} of {}{source} by {}", site.line, shown(&site.kernel), site.thread)
    };
    let allocated = near.allocated.as_ref().map_or(String::new(), |at| site("allocated", at));
    let freed = near.freed.as_ref().map_or(String::new(), |at| site("freed", at));
    allocated + &freed
}
