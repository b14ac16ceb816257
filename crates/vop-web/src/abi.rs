//! What JavaScript calls: [`vop_web_allocate`], which gives space for a request, [`vop_web_answer`], which answers it, and what tells where
//! a text is that was left to be read. No function takes a pointer. After a panic only the message may be read: the loader then starts
//! another instance.

#![allow(unsafe_code, reason = "functions are exported under their own names")]

use std::cell::RefCell;
use std::panic;

/// What is left for JavaScript to fill and to read.
#[derive(Debug, Default)]
struct Left {
    request: Vec<u8>,
    answer: String,
    panic: String,
}

thread_local! {
    static LEFT: RefCell<Left> = RefCell::default();
}

/// Space for a request of this length. It stays until [`vop_web_answer`] has returned.
// SAFETY: no other function has the name, which is true of all of them.
#[unsafe(no_mangle)]
pub extern "C" fn vop_web_allocate(length: usize) -> *mut u8 {
    LEFT.with_borrow_mut(|left| {
        left.request = vec![0; length];
        left.request.as_mut_ptr()
    })
}

/// Answers the request that stands in the space; the answer stays until [`vop_web_release`].
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vop_web_answer() {
    panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        // Borrowed only if this module itself panics.
        let _ = LEFT.try_with(|left| left.try_borrow_mut().map(|mut left| left.panic = text));
    }));
    let request = LEFT.with_borrow_mut(|left| std::mem::take(&mut left.request));
    let answer = crate::answer(&String::from_utf8_lossy(&request));
    LEFT.with_borrow_mut(|left| left.answer = answer);
}

/// Where the answer begins.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vop_web_answer_start() -> *const u8 {
    LEFT.with_borrow(|left| left.answer.as_ptr())
}

/// The bytes of the answer.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vop_web_answer_length() -> usize {
    LEFT.with_borrow(|left| left.answer.len())
}

/// Frees the answer.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vop_web_release() {
    LEFT.with_borrow_mut(|left| left.answer = String::new());
}

/// Where the message of a panic begins.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vop_web_panic_start() -> *const u8 {
    LEFT.with_borrow(|left| left.panic.as_ptr())
}

/// The bytes of the message of a panic; none if there was no panic.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vop_web_panic_length() -> usize {
    LEFT.with_borrow(|left| left.panic.len())
}
