//! What is told: faults when they happen, and all together when the process ends.

#![allow(unsafe_code, reason = "the system is told what to call at the end")]

use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vop_run::{Finding, RunError, RunErrorKind, RunErrors, StatementProfile};

use super::{MACHINE, Machine};
use crate::status::Status;

/// Errors, findings and leaks of each kind that are kept; the others are counted.
const MAX_KEPT: usize = 1000;

/// What there is to tell.
#[derive(Default)]
pub struct Report {
    told: Mutex<Told>,
    /// When it was last written, and how long that took: nothing yet if it was never.
    saved: Mutex<Option<(Instant, Duration)>>,
}

/// How long launches are only counted until the report is written again, at least, and how many times as long as writing takes.
const PAUSE: Duration = Duration::from_millis(250);
const SHARE: u32 = 50;

#[derive(Default)]
struct Told {
    kernels: BTreeMap<String, Kernel>,
    errors: Vec<Value>,
    errors_left_out: u64,
    findings: Vec<(String, Finding)>,
    findings_left_out: u64,
    unsupported: BTreeMap<String, u64>,
}

/// All launches of a kernel.
#[derive(Default)]
struct Kernel {
    launches: u64,
    instructions: u64,
    time: Duration,
    profile: Vec<StatementProfile>,
}

/// Writes to standard error, where nothing can be done about a failure.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Where in the program a call came from.
#[derive(Clone)]
pub struct Caller(Arc<Backtrace>);

/// Calls that tell one place of the program from another, with those of this library.
const DEPTH: usize = 16;
/// Places that are known at most: a program that launches from more has forgotten ones looked up again.
const MAX_PLACES: usize = 1 << 14;

impl Caller {
    /// The calls that are running in this thread.
    ///
    /// To describe all of them takes as long as a small launch. So it is done once for each place, which the addresses of the innermost
    /// calls tell.
    pub fn now() -> Option<Caller> {
        static PLACES: Mutex<BTreeMap<[usize; DEPTH], Caller>> = Mutex::new(BTreeMap::new());
        let place = return_addresses();
        if let Some(known) = PLACES.lock().unwrap_or_else(PoisonError::into_inner).get(&place) {
            return Some(known.clone());
        }
        let caller = Caller(Arc::new(Backtrace::force_capture()));
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= MAX_PLACES {
            places.clear();
        }
        places.insert(place, caller.clone());
        Some(caller)
    }

    /// The frames of the program, the innermost first, a line each.
    fn frames(&self) -> Vec<String> {
        frames(&self.0.to_string())
    }
}

/// What `return_addresses` has found.
struct Found {
    addresses: [usize; DEPTH],
    count: usize,
}

unsafe extern "C" {
    /// Of the library that unwinds, which the Rust library needs as well: Itanium's C++ ABI describes both.
    fn _Unwind_Backtrace(each: extern "C" fn(*mut c_void, *mut c_void) -> c_int, data: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

extern "C" fn note_address(context: *mut c_void, data: *mut c_void) -> c_int {
    // SAFETY: `data` is what was passed beside this function, and the context is that of a frame.
    unsafe {
        let found = &mut *data.cast::<Found>();
        let Some(place) = found.addresses.get_mut(found.count) else { return 4 };
        *place = _Unwind_GetIP(context);
        found.count += 1;
    }
    0
}

/// Where the innermost calls of this thread return to.
fn return_addresses() -> [usize; DEPTH] {
    let mut found = Found { addresses: [0; DEPTH], count: 0 };
    // SAFETY: the function takes what it is given here.
    unsafe { _Unwind_Backtrace(note_address, (&raw mut found).cast()) };
    found.addresses
}

/// Frames that are shown: the innermost ones say where.
const MAX_FRAMES: usize = 12;

/// Frames that a backtrace shows: `  4: main` and perhaps `             at ./app.c:12:5` below it. Those of this library, of the Rust
/// library and of the start of the program are left out.
fn frames(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    // Whether the last line was a frame that is left out.
    let mut is_out = true;
    for line in text.lines() {
        let line = line.trim();
        if let Some(place) = line.strip_prefix("at ") {
            if let Some(last) = all.last_mut().filter(|_| !is_out) {
                last.push_str(&format!(" at {place}"));
            }
            continue;
        }
        let Some((number, name)) = line.split_once(": ") else { continue };
        if number.parse::<u32>().is_err() {
            continue;
        }
        let internal =
            ["vop_cuda::", "vop_run::", "std::", "core::", "alloc::", "<", "__rust", "_start", "__libc_start"];
        is_out = internal.iter().any(|prefix| name.starts_with(prefix))
            || name == "clone3"
            || name == "start_thread"
            || name.starts_with("cu") && name.chars().nth(2).is_some_and(char::is_uppercase)
            || name.starts_with("cuda") && name.chars().nth(4).is_some_and(char::is_uppercase)
            // What nvcc puts between a launch and the function that launches.
            || ["__cudaLaunchKernel_helper", "__device_stub__", "__wrapper__device_stub"].iter().any(|part| name.contains(part))
            || name == "<unknown>";
        if !is_out {
            all.push(vop_run::demangled(name).into_owned());
        }
    }
    all
}

impl Report {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what there is to tell until now, for processes that end without a word.
    pub fn save(&self, machine: &Machine) {
        if let Some(folder) = &machine.settings.report {
            let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            let start = Instant::now();
            self.write(folder, &[], false);
            *saved = Some((Instant::now(), start.elapsed()));
        }
    }

    /// As [`Report::save`], unless it was done just now.
    fn save_sometimes(&self, machine: &Machine) {
        // Another thread may be at it.
        let is_due = self.saved.try_lock().is_ok_and(|saved| {
            saved.is_some_and(|(when, took)| when.elapsed() > PAUSE.max(took.saturating_mul(SHARE)))
        });
        if is_due {
            self.save(machine);
        }
    }

    /// Writes it to a file of the folder.
    fn write(&self, folder: &Path, leaks: &[String], is_complete: bool) {
        let name = format!("{}.json", std::process::id());
        let (path, beside) = (folder.join(&name), folder.join(format!(".{name}")));
        let text = self.value(leaks, is_complete).to_string();
        let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &path));
        // Once is enough: at the end.
        if let (Err(error), true) = (written, is_complete) {
            say(&format!("vop: error: the report {} cannot be written: {error}\n", path.display()));
        }
    }

    /// Code of the program cannot be used. It is told at once, and counts as an error.
    pub fn refused(&self, what: &str) {
        say(&format!("vop: error: {what}\n"));
        let mut told = self.told();
        if told.errors.len() < MAX_KEPT {
            told.errors.push(json!({ "message": what }));
        } else {
            told.errors_left_out += 1;
        }
    }

    /// Something was asked for that is not there.
    pub fn unsupported(&self, what: &str) {
        let mut told = self.told();
        match told.unsupported.get_mut(what) {
            Some(count) => *count += 1,
            None => _ = told.unsupported.insert(what.to_owned(), 1),
        }
    }

    /// A kernel has run.
    pub fn launch(&self, machine: &Machine, name: &str, time: Duration, report: &vop_run::Report) {
        let mut told = self.told();
        let known = told.findings.len();
        let kernel = told.kernel(name, time);
        kernel.instructions += report.instructions;
        if let Some(profile) = &report.profile {
            add_profile(&mut kernel.profile, &profile.statements);
        }
        for finding in &report.findings {
            told.find(name, finding);
        }
        told.findings_left_out += report.findings_left_out;
        let is_new = told.findings.len() > known;
        drop(told);
        if is_new {
            self.save(machine);
        } else {
            self.save_sometimes(machine);
        }
    }

    /// A kernel has failed.
    pub fn fault(
        &self,
        machine: &Machine,
        name: &str,
        time: Duration,
        errors: &RunErrors,
        status: Status,
        caller: Option<&Caller>,
    ) {
        let mut frames = caller.map_or(Vec::new(), Caller::frames);
        frames.truncate(MAX_FRAMES);
        let shown = vop_run::demangled(name);
        let mut text = String::new();
        for (i, error) in errors.0.iter().enumerate() {
            // What checks had found before stands behind the fault.
            let what = if i == 0 { format!("the kernel `{shown}` failed") } else { format!("in the kernel `{shown}`") };
            text.push_str(&format!("vop: error: {what}: {}\n", message(error)));
        }
        if !frames.is_empty() {
            text.push_str("  launched by\n");
            frames.iter().for_each(|frame| text.push_str(&format!("    {frame}\n")));
        }
        text.push_str(&format!("  the program gets {status:?}\n"));
        say(&text);
        let mut told = self.told();
        told.kernel(name, time);
        for (i, error) in errors.0.iter().enumerate() {
            if told.errors.len() < MAX_KEPT {
                let mut value = as_value(error);
                value["kernel"] = json!(name);
                if i == 0 {
                    value["status"] = json!(status.0);
                    value["stack"] = json!(frames);
                }
                told.errors.push(value);
            } else {
                told.errors_left_out += 1;
            }
        }
        drop(told);
        self.save(machine);
    }

    /// All of it, as data.
    fn value(&self, leaks: &[String], is_complete: bool) -> Value {
        let told = self.told();
        let kernels = told.kernels.iter().map(|(name, kernel)| {
            let profile: Vec<Value> = kernel.profile.iter().map(statement).collect();
            json!({
                "name": name,
                "launches": kernel.launches,
                "thread_instructions": kernel.instructions,
                "seconds": kernel.time.as_secs_f64(),
                "profile": profile,
            })
        });
        let findings = told.findings.iter().map(|(kernel, finding)| {
            let mut value = as_value(&finding.error);
            value["kernel"] = json!(kernel);
            value["severity"] = json!(finding.severity.to_string());
            value["count"] = json!(finding.count);
            value
        });
        let kept = &leaks[..leaks.len().min(MAX_KEPT)];
        json!({
            "process": std::process::id(),
            "complete": is_complete,
            "kernels": kernels.collect::<Vec<_>>(),
            "errors": told.errors,
            "errors_left_out": told.errors_left_out,
            "findings": findings.collect::<Vec<_>>(),
            "findings_left_out": told.findings_left_out,
            "leaks": kept.iter().map(|leak| json!({ "message": leak })).collect::<Vec<_>>(),
            "leaks_left_out": leaks.len() - kept.len(),
            "unsupported": told.unsupported,
        })
    }
}

impl Told {
    fn kernel(&mut self, name: &str, time: Duration) -> &mut Kernel {
        if !self.kernels.contains_key(name) {
            self.kernels.insert(name.to_owned(), Kernel::default());
        }
        let kernel = self.kernels.entry(name.to_owned()).or_default();
        kernel.launches += 1;
        kernel.time += time;
        kernel
    }

    /// A check has found something: it is told when it is new.
    fn find(&mut self, name: &str, finding: &Finding) {
        let same = self.findings.iter_mut().find(|(kernel, known)| kernel == name && known.is_like(finding));
        if let Some((_, known)) = same {
            known.count += finding.count;
            return;
        }
        if self.findings.len() == MAX_KEPT {
            self.findings_left_out += 1;
            return;
        }
        let shown = vop_run::demangled(name);
        say(&format!("vop: {}: in the kernel `{shown}`: {}\n", finding.severity, message(&finding.error)));
        self.findings.push((name.to_owned(), finding.clone()));
    }
}

/// The error as a text: its place is one in the PTX of the module.
fn message(error: &RunError) -> String {
    let mut text = format!("{} [{}]", error.message, error.kind.code());
    if let Some(place) = &error.place {
        text.push_str(&format!("\n  at line {} of its PTX: `{}`", place.line, place.text));
        if let Some(source) = &place.source {
            text.push_str(&format!("\n  compiled from {source}"));
        }
    }
    if let Some(thread) = error.thread {
        text.push_str(&format!("\n  in {thread}"));
    }
    if let Some(help) = help(error) {
        text.push_str(&format!("\n  help: {help}"));
    }
    text
}

/// What the user can do: by means that a program has.
fn help(error: &RunError) -> Option<&str> {
    match error.kind {
        RunErrorKind::StackOverflow => Some(
            "check that every recursion and every `alloca` ends; `cudaDeviceSetLimit(cudaLimitStackSize, BYTES)` sets the limit",
        ),
        _ => error.help.as_deref(),
    }
}

fn as_value(error: &RunError) -> Value {
    let place = error.place.as_deref();
    json!({
        "code": error.kind.code(),
        "message": error.message,
        "help": help(error),
        "line": place.map(|place| place.line),
        "text": place.map(|place| &place.text),
        "source": place.and_then(|place| place.source.as_ref()).map(|source| json!({
            "file": source.file,
            "line": source.line,
        })),
        "thread": error.thread.map(|thread| thread.thread),
        "block": error.thread.map(|thread| thread.block),
        "address": error.address.map(|address| format!("{address:#x}")),
    })
}

fn statement(statement: &StatementProfile) -> Value {
    json!({
        "line": statement.line,
        "opcode": statement.opcode,
        "text": statement.text,
        "source": statement.source.as_ref().map(|(file, line)| json!({ "file": file, "line": line })),
        "threads": statement.threads,
        "warps": statement.warps,
        "parted": statement.parted,
        "bytes": statement.bytes,
    })
}

/// Adds the counts of a launch to those of others of the same kernel.
fn add_profile(all: &mut Vec<StatementProfile>, new: &[StatementProfile]) {
    for statement in new {
        let same = all.iter_mut().find(|known| {
            (known.line, known.column, &known.text) == (statement.line, statement.column, &statement.text)
        });
        match same {
            Some(known) => {
                known.threads += statement.threads;
                known.warps += statement.warps;
                known.parted += statement.parted;
                known.bytes += statement.bytes;
            }
            None => all.push(statement.clone()),
        }
    }
}

static FORKED: OnceLock<fn()> = OnceLock::new();

extern "C" fn in_child() {
    if let Some(forked) = FORKED.get() {
        forked();
    }
}

/// Called when this library ends. Then all that the program has registered for its end is done: destructors of its variables, which may
/// free memory, come before; functions that `atexit` takes now would be called before them.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = ended;

extern "C" fn ended() {
    // Nothing may go up from here.
    let _ = std::panic::catch_unwind(end);
}

/// From now on the report is made when the process ends; `forked` is called in children of the process.
pub(super) fn at_exit(forked: fn()) {
    let _ = FORKED.set(forked);
    // SAFETY: the functions stay where they are, as the library is not unloaded.
    unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
        __cxa_at_quick_exit(quickly_ended, std::ptr::null_mut());
    }
}

unsafe extern "C" {
    /// What `at_quick_exit` calls, which is no function of the shared library of C.
    fn __cxa_at_quick_exit(function: extern "C" fn(*mut c_void), library: *mut c_void) -> c_int;
}

extern "C" fn quickly_ended(_: *mut c_void) {
    ended();
}

/// The process ends, in order: after `main`, by `exit` or by `quick_exit`.
fn end() {
    let Some(machine) = super::machine_at_end() else { return };
    let leaks: Vec<String> = if machine.settings.leaks { leaks(machine) } else { Vec::new() };
    match &machine.settings.report {
        Some(folder) => machine.report.write(folder, &leaks, true),
        None => {
            leaks.iter().for_each(|leak| say(&format!("vop: leak: {leak}\n")));
            for (what, count) in &machine.report.told().unsupported {
                say(&format!(
                    "vop: not supported: {what}, asked for {count} time{}\n",
                    if *count == 1 { "" } else { "s" }
                ));
            }
        }
    }
}

fn leaks(machine: &Machine) -> Vec<String> {
    use super::memory::Kind;
    let is_leak = |kind: Kind| !matches!(kind, Kind::Variable | Kind::ManagedVariable | Kind::Registered);
    let is_leaving = |allocation: &super::memory::Allocation| allocation.is_leaving.load(Ordering::Relaxed);
    let all = machine.space.filtered(|allocation| is_leak(allocation.kind) && !is_leaving(allocation));
    all.iter().map(|allocation| allocation.described()).collect()
}

/// Code of the program cannot be used: see [`Report::refused`].
pub fn refused(what: &str) {
    match MACHINE.get() {
        Some(Ok(machine)) => {
            machine.report.refused(what);
            machine.report.save(machine);
        }
        _ => say(&format!("vop: error: {what}\n")),
    }
}

/// Something that was asked for is not there: the answer, and a line at the end.
pub fn not_supported(what: &str) -> Status {
    if let Some(Ok(machine)) = MACHINE.get() {
        machine.report.unsupported(what);
    }
    Status::NOT_SUPPORTED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_those_of_the_program() {
        let text = "   0: vop_cuda::machine::report::Caller::now\n             at ./crates/report.rs:1:2\n   \
                    1: cuLaunchKernel\n   2: _Z25__device_stub__Z6boundsPiPi\n   2: _Z3runi\n             at ./app.c:12:5\n   3: main\n   4: __libc_start_call_main\n   5: _start\n";
        assert_eq!(frames(text), ["run(int) at ./app.c:12:5", "main"]);
    }
}
