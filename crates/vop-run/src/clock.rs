//! The time, and waiting. WebAssembly has no clock of its own and no threads to wait for: there no time passes, and a launch ends by its
//! limit of thread-instructions.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use std::{thread::sleep, time::Instant};

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) use still::{Instant, sleep};

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod still {
    use std::time::Duration;

    /// A moment: all are one.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Instant;

    impl Instant {
        pub(crate) fn now() -> Instant {
            Instant
        }

        pub(crate) fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }

    pub(crate) fn sleep(_time: Duration) {}
}
