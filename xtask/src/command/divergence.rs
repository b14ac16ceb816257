//! `cargo xtask divergence`.

use std::io::Write;

use vop::{Deviation, Deviations, Semantics};
use xtask::divergence::{Proved, prove};

use super::Failure;

/// Prove with z3 on which forms ptxas's code and the manual can differ, and which forms each deviation touches.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(Args {}: Args) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut say = |what: String, one, other| -> Result<(), Failure> {
        let Proved { separated, equal, questions } = prove(one, other, 1)?;
        writeln!(out, "{what:<28}{separated:>7} forms differ, {equal:>6} are proved equal ({questions} questions)")?;
        Ok(out.flush()?)
    };
    for semantics in [Semantics::Ptxas, Semantics::PtxasTo13_2] {
        say(semantics.to_string(), Deviations::NONE, semantics.deviations())?;
    }
    for &deviation in Deviation::ALL {
        let all = xtask::docs::semantics(deviation).deviations();
        say(format!("without {deviation}"), all.without(deviation), all)?;
    }
    Ok(())
}
