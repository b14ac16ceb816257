//! `vop prove` where the feature `prove` is off.

use std::ffi::OsString;

use crate::{Failure, Outcome};

/// Prove with an SMT solver (z3) that lowered sequences compute what the instructions do (needs the feature `prove`).
///
/// This `vop` was built without it. Released binaries have it, and so has one that is built by
/// `cargo install vop-cli --features prove`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What `vop prove` takes with the feature.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    drop(args.arguments);
    Err(Failure::Misuse(
        "this `vop` was built without proofs: `cargo install vop-cli --features prove` builds one with them".to_owned(),
    ))
}
