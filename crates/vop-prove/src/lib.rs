//! Proofs that what [`vop::lower`] writes computes what the instruction does, by an SMT solver.
//!
//! - [`Solver`] gives a [`Query`](vop::lower::Query) to z3.
//! - [`Cache`] remembers, by the hash of its text, what was proved.
//! - [`everything`] lists all that there is to prove.
//! - [`queries`] says what is to be proved of one lowering.
#![forbid(unsafe_code)]

mod cache;
mod everything;
mod lowering;
mod solver;

pub use cache::{Cache, Hash};
pub use everything::{Item, TARGETS, everything, of_form};
pub use lowering::{Answer, ask, chosen, is_proved, queries};
pub use solver::{Counterexample, Solver, Verdict};
