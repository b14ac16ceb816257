//! What stands between a C caller and a Rust function: nothing unwinds, and the default stream is the one that the symbol means.

use std::cell::Cell;

use crate::status::{Answer, Status};

thread_local! {
    /// Whether the call that begins came through a symbol whose default stream is the thread's own.
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// What symbols that end in `_ptsz` and `_ptds` call before they jump to their function.
pub extern "C" fn per_thread_default_stream() {
    PER_THREAD.set(true);
}

/// A call of a C function, while it runs.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    /// The function's name.
    pub(crate) name: &'static str,
    /// Whether a null stream stands for the thread's own default stream.
    pub(crate) per_thread: bool,
}

/// Runs the body of a function that C calls.
pub(crate) fn guarded(name: &'static str, body: impl FnOnce(Call) -> Answer) -> Status {
    let call = Call { name, per_thread: PER_THREAD.take() };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(call)));
    match result {
        Ok(Ok(())) => Status::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => {
            report_bug(name);
            Status::UNKNOWN
        }
    }
}

/// Something has panicked, which has told where.
pub(crate) fn report_bug(what: &str) {
    crate::machine::report::say(&format!(
        "vop: error: {what}: this is a bug in vop, not in your program; please report it, with what stands above and \
         `vop {} {} {}`\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    ));
}

/// Declares functions that C calls. A body is that of a closure that returns [`Answer`]; `call` names the [`Call`].
macro_rules! api {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(|$call:ident|)? $body:block)*) => { $(
        $(#[$meta])*
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> i32 {
            $crate::abi::guarded(stringify!($name), move |_call| { $(let $call = _call;)? $body }).0
        }
    )* };
}
pub(crate) use api;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_unwinds_into_c() {
        assert_eq!(guarded("cuTest", |_| panic!("this is a test")), Status::UNKNOWN);
        assert_eq!(guarded("cuTest", |_| Err(Status::NOT_FOUND)), Status::NOT_FOUND);
    }

    #[test]
    fn a_symbol_of_the_own_stream_counts_for_one_call() {
        per_thread_default_stream();
        let inner = |_: Call| {
            assert_eq!(
                guarded("cuInner", |call| if call.per_thread { Err(Status::UNKNOWN) } else { Ok(()) }),
                Status::SUCCESS
            );
            Ok(())
        };
        let outer = guarded("cuOuter", |call| {
            assert!(call.per_thread);
            inner(call)
        });
        assert_eq!(outer, Status::SUCCESS);
        assert_eq!(
            guarded("cuNext", |call| if call.per_thread { Err(Status::UNKNOWN) } else { Ok(()) }),
            Status::SUCCESS
        );
    }
}
