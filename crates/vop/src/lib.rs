//! PTX video instructions, exactly: `vadd vsub vabsdiff vmin vmax vshl vshr vmad vset`, and the SIMD ones on half-words
//! and bytes, `vadd2 … vset2` and `vadd4 … vset4` (PTX ISA manual, section 9.7.18).
//!
//! ```text
//! text ──parse──► Instruction { guard, form, operands }
//!                      │ form: all the meaning
//!                ┌─────┴──────┐
//!              eval        explain
//! ```
//!
//! - [`parse`](parse()) takes what ptxas takes and refuses what it refuses, with every fault of the text as a
//!   [`Diagnostic`]; [`Parser`] also judges register types.
//! - [`Form`] is an instruction without its operands: 16 bytes, `Copy`, valid by construction.
//! - [`Form::eval`] computes d; [`Form::explain`] returns every stage on the way as data.
//! - Both have a variant for other [`Semantics`]: what the code that ptxas emits computes, which is not always what the
//!   manual says. [`Form::divergence`] tells whether, with an input that shows it.
//! - `bulk::Plan`, with the feature `bulk`, applies a form to many inputs in the processor's vector registers.
//! - [`lint`](lint()) says what is strange about an instruction that is legal.
//! - [`Mnemonic::forms`] iterates over all forms there are; [`Mnemonic::row`] is the [table](isa::table) from which
//!   everything follows.
//!
//! What most programs need is at the root. The modules have the rest: [`isa`] the table, the values of modifiers, ranges and
//! scalar types; [`eval`] the stages of evaluation as data; [`interval`] which results a form can have; [`intrinsic`] CUDA's
//! intrinsics; [`semantics`] the manual and ptxas; [`lower`] base instructions in the place of video instructions, and what there is
//! to prove of them; [`smt`] terms for a solver; [`cost`] and [`target`] what ptxas spends on an instruction, and for which GPUs;
//! `bulk` (a feature) many inputs at once. All of them are public API: structs that can grow are `non_exhaustive`.
//!
//! ```
//! let instruction = vop::parse("vabsdiff4.u32.u32.u32.add d, a, b, c;").unwrap();
//! assert_eq!(instruction.form.eval(0x10_20_30_40, 0x11_1e_33_3c, 100), 100 + 1 + 2 + 3 + 4);
//!
//! let faults = vop::parse("vmin4.u32.u32.u32.add d.b00, a, b, c").unwrap_err();
//! assert_eq!(faults[0].code, vop::Code::V0304);
//! assert_eq!(faults[0].span, 23..27);
//! ```
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(feature = "bulk")]
extern crate std;

#[cfg(feature = "bulk")]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what registers of x86 need beside words"))]
pub mod bulk;
pub mod cost;
mod describe;
mod deviation;
mod diagnostic;
mod divergence;
pub mod eval;
mod fold;
mod instead;
pub mod interval;
pub mod intrinsic;
pub mod isa;
mod lint;
pub mod lower;
mod samples;
pub mod semantics;
pub mod smt;
pub mod target;
mod term;
mod text;

pub use diagnostic::{Code, Diagnostic, Edit, Patch, RunErrorKind, Severity, grouped, patched};
pub use divergence::Divergence;
pub use intrinsic::Intrinsic;
pub use isa::form::Form;
pub use isa::forms::scalar_forms;
pub use isa::scalar::ScalarType;
pub use isa::table::Mnemonic;
pub use lint::{Linter, lint};
pub use semantics::{Deviation, Deviations, Semantics};
pub use target::{ModuleTarget, Target};
pub use text::{
    Declarations, Guard, InputError, Instruction, Operand, OperandPlace, Parser, Places, RegisterType, Registers,
    is_name_of_lanes, parse, register_number,
};
