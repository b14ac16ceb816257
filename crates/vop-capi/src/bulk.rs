//! A form applied to arrays.

#![allow(unsafe_code, reason = "the arrays are C's")]

use std::num::NonZeroUsize;

use vop::bulk::{Plan, Strided};

use crate::diagnostic::vop_diagnostics;
use crate::guard::{Failure, answer, free, object, produce, vop_status};
use crate::{vop_instruction, vop_semantics};

/// A form, ready to be applied to arrays. It never changes, so threads may share it.
pub struct vop_plan(Plan);

/// Prepares the form of an instruction. Its operands are not looked at: each source is an array. The instruction may be freed afterwards.
/// `semantics` is a `vop_semantics`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_plan_new(
    instruction: *const vop_instruction,
    semantics: i32,
    out: *mut *mut vop_plan,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed.
        let form = unsafe { object(instruction, "instruction")? }.form;
        Ok(vop_plan(Plan::new(form, vop_semantics::read(semantics)?)))
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, work) }
}

/// Frees a plan; null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_plan_free(plan: *mut vop_plan) {
    // SAFETY: C gives up a handle of this library.
    unsafe { free(plan) };
}

/// The words of an operand, if they are aligned and can all be there.
fn operand(start: *const u32, stride: isize, len: usize, name: &str) -> Result<Strided, Failure> {
    let wrong = |message: String| Failure::new(vop_status::VOP_ERROR_ARGUMENT, message);
    if start.is_null() {
        return Err(Failure::null(name));
    }
    if !start.is_aligned() || !stride.cast_unsigned().is_multiple_of(align_of::<u32>()) {
        return Err(wrong(format!("the words of `{name}` are not aligned: address and stride must be multiples of 4")));
    }
    let extent =
        stride.unsigned_abs().checked_mul(len.saturating_sub(1)).filter(|extent| *extent <= isize::MAX as usize);
    let fits = extent.is_some_and(|extent| match stride < 0 {
        true => start.addr() >= extent,
        false => start.addr().checked_add(extent).is_some_and(|last| last <= usize::MAX - size_of::<u32>()),
    });
    if !fits {
        return Err(wrong(format!(
            "{len} words of `{name}` with a stride of {stride} bytes go beyond the address space"
        )));
    }
    Ok(Strided::new(start.cast_mut(), stride))
}

/// `d[i] = plan(a[i], b[i], c[i])` for `count` words, in the processor's vector registers.
///
/// A stride is the distance of two words in bytes: 4 for an array, 0 if one word stands for all, negative for an array from its end. `c` may
/// be null if the form does not read it. Arrays may overlap: the words are computed in ascending order, and a source that is read after a
/// result was written over it is that result. `threads` is the number of threads that share the work at most; 0 stands for all of the
/// machine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_plan_run(
    plan: *const vop_plan,
    a: *const u32,
    a_stride: isize,
    b: *const u32,
    b_stride: isize,
    c: *const u32,
    c_stride: isize,
    d: *mut u32,
    d_stride: isize,
    count: usize,
    threads: usize,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed.
        let plan = &unsafe { object(plan, "plan")? }.0;
        let c = match c.is_null() && !plan.form().reads_c() {
            true => None,
            false => Some(operand(c, c_stride, count, "c")?),
        };
        let sources = [Some(operand(a, a_stride, count, "a")?), Some(operand(b, b_stride, count, "b")?), c];
        let d = operand(d, d_stride, count, "d")?;
        let threads = NonZeroUsize::new(threads)
            .unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        // SAFETY: C gives operands that have these words, and leaves them alone meanwhile; they are aligned, and no reference to them exists.
        unsafe { plan.run_strided(sources, d, count, threads) };
        Ok(())
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}
