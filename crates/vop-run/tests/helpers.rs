//! Launches that share threads: many at once, in children of the process, and with signals.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use vop_run::{Arg, Kernel, LaunchOptions, Memory, Program};

/// Each thread of each block writes its number.
const COUNT: &str = ".version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 out) {
    .reg .b32 %r<5>; .reg .b64 %rd<3>;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r4;
    ret;
}";

fn options() -> LaunchOptions {
    LaunchOptions::default().with_cores(4)
}

/// Launches and tells whether all blocks have run.
fn counts(kernel: &Kernel, mut memory: Memory, blocks: u32) -> bool {
    let out = memory.allocate("out", vec![0; 4 * 64 * blocks as usize]);
    let args: [Arg; 1] = [out.into()];
    let report = kernel.launch([blocks, 1, 1], [64, 1, 1], &args, &mut memory, &options()).unwrap();
    let words = memory.bytes(out).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    report.instructions == u64::from(blocks) * 64 * 9 && words.eq(0..64 * blocks)
}

#[test]
fn launches_of_many_threads_run_at_once() {
    let program = Program::read(COUNT);
    let kernel = program.kernel("k").unwrap();
    std::thread::scope(|scope| {
        for host in 0..8 {
            let (program, kernel) = (&program, &kernel);
            scope.spawn(move || {
                for round in 0..200 {
                    assert!(counts(kernel, program.memory(), 1 + (host * 7 + round) % 50));
                }
            });
        }
    });
}

#[test]
fn an_error_of_a_helper_is_that_of_the_first_block() {
    // Blocks from 5 on fail.
    let ptx = COUNT.replace("ret;", ".reg .pred %p; setp.ge.u32 %p, %r1, 5; @%p trap; ret;");
    let program = Program::read(&ptx);
    let kernel = program.kernel("k").unwrap();
    for _ in 0..50 {
        let mut memory = program.memory();
        let out = memory.allocate("out", vec![0; 4 * 64 * 64]);
        let errors = kernel.launch([64, 1, 1], [64, 1, 1], &[out.into()], &mut memory, &options()).unwrap_err();
        assert!(errors.to_string().contains("block (5, 0, 0)"), "{errors}");
    }
    assert!(counts(&Program::read(COUNT).kernel("k").unwrap(), Program::read(COUNT).memory(), 64));
}

#[cfg(target_os = "linux")]
mod linux {
    #![allow(unsafe_code, reason = "processes are forked, and signals masked")]

    use super::*;

    /// How a child process ended that does this, or 1000 if it has not after a minute.
    fn in_child(child: impl FnOnce() -> bool) -> i32 {
        // SAFETY: the child only computes, and ends without the destructors of the parent's values. It ends by a signal if it hangs.
        unsafe {
            match libc::fork() {
                0 => {
                    libc::alarm(60);
                    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
                    libc::_exit(if matches!(done, Ok(true)) { 0 } else { 1 });
                }
                child => {
                    let mut status = 0;
                    assert_eq!(libc::waitpid(child, &mut status, 0), child);
                    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 1000 }
                }
            }
        }
    }

    #[test]
    fn a_forked_process_has_helpers_of_its_own() {
        let program = Program::read(COUNT);
        let kernel = program.kernel("k").unwrap();
        assert!(counts(&kernel, program.memory(), 64));
        for _ in 0..10 {
            assert_eq!(in_child(|| (0..20).all(|_| counts(&kernel, program.memory(), 64))), 0);
        }
        // A child of a child.
        assert_eq!(
            in_child(|| counts(&kernel, program.memory(), 64) && in_child(|| counts(&kernel, program.memory(), 9)) == 0),
            0
        );
        assert!(counts(&kernel, program.memory(), 64));
    }

    #[test]
    fn helpers_take_no_signals() {
        use std::sync::atomic::{AtomicI32, Ordering};
        static TAKEN_BY: AtomicI32 = AtomicI32::new(0);
        extern "C" fn taken(_: libc::c_int) {
            // SAFETY: the call asks for nothing.
            TAKEN_BY.store(unsafe { libc::gettid() }, Ordering::SeqCst);
        }
        // In a child, as a signal is for all threads of a process: there the helpers are the only others.
        let program = Program::read(COUNT);
        let kernel = program.kernel("k").unwrap();
        let child = in_child(|| {
            // SAFETY: the handler only stores a number, and the signal is the child's own.
            unsafe {
                libc::signal(libc::SIGUSR1, taken as extern "C" fn(libc::c_int) as usize);
                if !counts(&kernel, program.memory(), 64) {
                    return false;
                }
                // Blocked here, the signal would go to a helper that does not block it.
                let mut set = std::mem::zeroed::<libc::sigset_t>();
                libc::sigemptyset(&mut set);
                libc::sigaddset(&mut set, libc::SIGUSR1);
                libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
                libc::kill(libc::getpid(), libc::SIGUSR1);
                std::thread::sleep(std::time::Duration::from_millis(50));
                let waited = TAKEN_BY.load(Ordering::SeqCst) == 0;
                libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
                waited && TAKEN_BY.load(Ordering::SeqCst) == libc::gettid()
            }
        });
        assert_eq!(child, 0);
    }
}
