//! `vop check`.
use crate::{Failure, Outcome};
/// x
#[derive(clap::Args)]
pub(crate) struct Args {}
pub(crate) fn run(_: Args) -> Result<Outcome, Failure> {
    Ok(Outcome::Fine)
}
