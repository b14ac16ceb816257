//! Whole sources and modules.

#![allow(unsafe_code, reason = "the pointers are C's")]

use std::ffi::c_char;
use std::path::Path;

use vop_draw::{Lines, SourceText};
use vop_ptx::find::Language;
use vop_ptx::module::Module;
use vop_ptx::rewrite::{RewriteError, RewriteOptions, rewrite};
use vop_ptx::uses::{self, Verdict};

use crate::diagnostic::{Item, faults, vop_diagnostics};
use crate::guard::{Failure, produce, vop_status};
use crate::text::{bytes_of, produce_text, target_of, text_of, vop_text};
use crate::vop_semantics;

/// Judges every video instruction of a source: PTX, or a language whose strings have PTX. `path` is the name of its file: the extension tells
/// the language, such as `kernel.cu` or `.ptx`, and the name stands in the rendered text. No file is opened.
///
/// The list has what `vop check` reports. `vop_diagnostics_instructions(*out)` is the number of instructions that were found. The status is
/// `VOP_OK` whatever is found. The source need not be UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_check(
    source: *const c_char,
    source_len: usize,
    path: *const c_char,
    path_len: usize,
    out: *mut *mut vop_diagnostics,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives texts of these lengths.
        let (source, path) = unsafe { (bytes_of(source, source_len, "source")?, text_of(path, path_len, "path")?) };
        // A bare `.ptx` has no extension: it is the name of a hidden file.
        let name = if path.starts_with('.') { format!("source{path}") } else { path.to_owned() };
        let language = Language::from_path(Path::new(&name)).ok_or_else(|| {
            let message = format!("the extension of `{path}` is unknown, so its language is, too");
            Failure::with_help(
                vop_status::VOP_ERROR_ARGUMENT,
                message,
                "give a name such as `kernel.ptx` or `kernel.cu`",
            )
        })?;
        let (found, text) = (uses::uses(source, language), uses::text(source));
        let lines = Lines::new(&text);
        let drawn_on = SourceText { lines: &lines, path: Some(path) };
        let all = found.iter().flat_map(|one| one.faults().chain(&one.lints));
        let mut list = vop_diagnostics::new(all.map(|one| Item::of_text(one, drawn_on)).collect());
        list.instructions = found.iter().filter(|one| !matches!(one.verdict, Verdict::Label)).count();
        list.unjudged = found.iter().filter(|one| matches!(one.verdict, Verdict::Unjudged(_))).count();
        Ok(list)
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, work) }
}

/// A PTX module whose video instructions are rewritten as ordinary PTX, where that is cheaper for a target, such as `sm_90`, or where ptxas's
/// code disagrees with `semantics`. All else stays as it is, byte for byte. `may_raise` says whether `.version` and `.target` may be raised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_lower_module(
    ptx: *const c_char,
    ptx_len: usize,
    target: *const c_char,
    target_len: usize,
    semantics: i32,
    may_raise: bool,
    out: *mut *mut vop_text,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives texts of these lengths.
        let (ptx, target) = unsafe { (text_of(ptx, ptx_len, "ptx")?, target_of(target, target_len)?) };
        let options = RewriteOptions::new(target).semantics(vop_semantics::read(semantics)?).may_raise(may_raise);
        let module = Module::parse(ptx);
        let rewritten = rewrite(&module, &options).map_err(|why| {
            if let RewriteError::Illegal(found) = &why {
                return faults(vop_status::VOP_ERROR_LOWER, found, ptx);
            }
            let (span, help) = match &why {
                RewriteError::Target { span, .. } | RewriteError::UnknownTarget { span } => {
                    (Some(span), "write another `.target`, or give another target")
                }
                RewriteError::NoRule { span, needs: Some(_), .. } if !may_raise => {
                    (Some(span), "`may_raise` raises them; VOP_SEMANTICS_PTXAS keeps what ptxas's code computes")
                }
                RewriteError::NoRule { span, .. } => {
                    (Some(span), "VOP_SEMANTICS_PTXAS keeps what ptxas's code computes")
                }
                _ => (None, "VOP_SEMANTICS_PTXAS keeps what ptxas's code computes"),
            };
            let lines = Lines::new(ptx);
            let place = span.map(|span| format!("{}: ", SourceText { lines: &lines, path: None }.locate(span)));
            let message = format!("{}{why}", place.unwrap_or_default());
            Failure::with_help(vop_status::VOP_ERROR_LOWER, message, help)
        })?;
        if rewritten.instructions.is_empty() && module.version().is_none() && module.functions().is_empty() {
            let message = "the text is no PTX module: it has neither `.version` nor a function";
            let help = "`nvcc -ptx` compiles CUDA source to a PTX module";
            return Err(Failure::with_help(vop_status::VOP_ERROR_LOWER, message, help));
        }
        let lowered = String::from_utf8(rewritten.apply(ptx.as_bytes()));
        lowered.map_err(|_| Failure::new(vop_status::VOP_ERROR_BUG, "the lowered module is not UTF-8"))
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce_text(out, diagnostics, work) }
}
