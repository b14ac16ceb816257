//! Panics: each is a bug, is reported as one, and ends no more than the work on one file.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What the last panic said, and where.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// From now on panics are kept for [`caught`] instead of being printed; with `RUST_BACKTRACE` they are printed as well.
pub(crate) fn keep_panics() {
    let print = std::panic::take_hook();
    let backtrace = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    std::panic::set_hook(Box::new(move |panic| {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        // What follows the first is its consequence: another thread that waits for the one that panicked.
        last.get_or_insert_with(|| describe(panic));
        drop(last);
        if backtrace {
            print(panic);
        }
    }));
}

fn describe(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("it panicked").replace('\n', " ");
    match panic.location() {
        Some(place) => format!("{text} ({}:{})", place.file(), place.line()),
        None => text,
    }
}

/// Works on something, a file for example; a panic becomes a report of a bug.
pub(crate) fn caught<T>(what: &str, work: impl FnOnce() -> T) -> Result<T, String> {
    // What the work has changed when it panics is still whole: values are added at once, and a lock that is poisoned is taken.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let said = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        report(what, &said.unwrap_or_else(|| "it panicked".to_owned()))
    })
}

fn report(what: &str, said: &str) -> String {
    let (version, system, processor) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    format!(
        "{what}: this is a bug in vop, not in your file: {said}\n  please report it, with this message, the file or the part of it that \
         causes this, the command line, and `vop {version} {system} {processor}`; RUST_BACKTRACE=1 shows more to send"
    )
}

/// Panics in builds for tests if `VOP_PANIC` names this file.
pub(crate) fn trip(path: &Path) {
    if cfg!(debug_assertions) && std::env::var_os("VOP_PANIC").is_some_and(|name| path.ends_with(name)) {
        panic!("VOP_PANIC names {}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_report_and_work_goes_on() {
        keep_panics();
        let done = ["a", "b", "c"].map(|name| {
            caught(name, || {
                let parts: Vec<&str> = if name == "b" { Vec::new() } else { vec![name] };
                parts[0].len()
            })
        });
        assert_eq!((&done[0], &done[2]), (&Ok(1), &Ok(1)));
        let report = done[1].as_ref().unwrap_err();
        assert!(report.starts_with("b: this is a bug in vop, not in your file: index out of bounds"), "{report}");
        assert!(report.contains("bug.rs:") && report.contains(env!("CARGO_PKG_VERSION")), "{report}");
        // In a thread that the work waits for.
        let report = caught("d", || {
            std::thread::scope(|scope| {
                let _ = scope.spawn(|| panic!("first\nof {}", 2)).join();
                panic!("second");
            })
        });
        assert!(report.as_ref().is_err_and(|report: &String| report.contains("first of 2 (")), "{report:?}");
    }
}
