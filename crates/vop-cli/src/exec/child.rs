//! Runs the program as if vop were not there: signals reach it, and its end is vop's end.

#![allow(unsafe_code, reason = "signals and the end of processes are C functions")]

use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use super::folder::Folder;
use crate::Failure;

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With this status.
    Code(u8),
    /// By this signal.
    Signal(i32),
}

impl Ended {
    /// Ends vop as the program ended.
    pub(super) fn pass_on(self) -> Failure {
        match self {
            Ended::Code(code) => Failure::Code(code),
            Ended::Signal(signal) => {
                // SAFETY: no memory is passed but a structure that lives long enough. The program has dumped its core, if at all.
                unsafe {
                    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                    libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
                    libc::signal(signal, libc::SIG_DFL);
                    libc::raise(signal);
                }
                // A signal that does not end a process cannot have ended the program: as shells say it.
                Failure::Code(128u8.wrapping_add(signal as u8))
            }
        }
    }
}

/// The program's process, while it runs.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// Signals that came before it ran, a bit each.
static EARLY: AtomicU64 = AtomicU64::new(0);

/// Signals that others send to vop and mean for the program.
const FORWARDED: [i32; 7] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGALRM];

/// Passes a signal on.
extern "C" fn forward(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes it. What a terminal sends, it sends to the program too.
    if unsafe { (*info).si_code } == libc::SI_KERNEL {
        return;
    }
    match CHILD.load(Ordering::SeqCst) {
        0 => _ = EARLY.fetch_or(1 << signal, Ordering::SeqCst),
        // SAFETY: the process is not waited for before it has ended, so that the number is its own. `errno` stays as it was.
        child => unsafe {
            let errno = *libc::__errno_location();
            libc::kill(child, signal);
            *libc::__errno_location() = errno;
        },
    }
}

/// Runs the program to its end.
pub(super) fn run(command: &[OsString], folder: &Folder, environment: &[(&str, OsString)]) -> Result<Ended, Failure> {
    let (program, arguments) = command.split_first().expect("clap asks for a program");
    let mut process = Command::new(program);
    process.args(arguments).env("LD_LIBRARY_PATH", folder.search_path()).env("VOP_CUDA_REPORT", folder.reports());
    process.envs(environment.iter().map(|(name, value)| (name, value)));
    // SAFETY: a system call, which may be made between fork and exec.
    unsafe {
        // If vop is killed, nobody is left who waits for the program or removes its folder.
        process.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    for signal in FORWARDED {
        // SAFETY: the handler does what handlers may do. What was ignored stays ignored, as `nohup` wants; the new process has
        // what stood before for signals with handlers.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut old);
            if old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = forward as extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &raw const new, std::ptr::null_mut());
        }
    }
    let mut child = process.spawn().map_err(|error| cannot_run(program, &error))?;
    let id = child.id() as i32;
    CHILD.store(id, Ordering::SeqCst);
    let early = EARLY.load(Ordering::SeqCst);
    for signal in FORWARDED.into_iter().filter(|signal| early & 1 << signal != 0) {
        // SAFETY: the process is not waited for yet.
        _ = unsafe { libc::kill(id, signal) };
    }
    // First only until it has ended: the number is another process's once it is waited for.
    // SAFETY: the structure is written by the call.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        while libc::waitid(libc::P_PID, id as u32, &raw mut info, libc::WEXITED | libc::WNOWAIT) != 0
            && *libc::__errno_location() == libc::EINTR
        {}
    }
    CHILD.store(0, Ordering::SeqCst);
    let status = child.wait().map_err(|error| Failure::Failed(format!("the program cannot be waited for: {error}")))?;
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code as u8),
        (None, signal) => Ended::Signal(signal.unwrap_or(libc::SIGKILL)),
    })
}

fn cannot_run(program: &OsStr, error: &std::io::Error) -> Failure {
    let program = program.display();
    Failure::Misuse(match error.kind() {
        std::io::ErrorKind::NotFound => format!("cannot run `{program}`: there is no such program"),
        _ => format!("cannot run `{program}`: {error}"),
    })
}
