//! Proofs, by an SMT solver, that the sequences of [`vop::lower`] compute the instructions' values.
//!
//! - [`Solver`] gives a [`Query`](vop::lower::Query) to z3.
//! - [`Cache`] remembers which queries were proved, by the hash of their text.
//! - [`everything`] lists all queries.
//! - [`queries`] gives the queries of one lowering.
#![forbid(unsafe_code)]

mod cache;
mod everything;
mod lowering;
mod solver;

pub use cache::{Cache, Hash};
pub use everything::{Item, TARGETS, everything, of_form};
pub use lowering::{Answer, ask, chosen, is_proved, queries};
pub use solver::{Counterexample, Solver, Verdict};
