//! What a sequence costs: how many machine instructions ptxas 13.5 makes of it on a target.

use super::base::{Op, PackedOp};
use super::sequence::Sequence;
use crate::cost::Target;
use crate::eval::Range;

/// The cost, counted as [`Form::cost`](crate::Form::cost) counts.
pub(super) fn cost(sequence: &Sequence, target: Target) -> u32 {
    sequence.steps.iter().map(|(op, _)| alone(*op, target)).sum::<u32>().max(u32::from(sequence.result.is_some()))
}

/// What an instruction costs that nothing is fused with.
fn alone(op: Op, target: Target) -> u32 {
    match op {
        Op::Absdiff4(_) if !super::has_native_absdiff(target) => 3,
        Op::Absdiff4Add(_) if !super::has_native_absdiff(target) => 6,
        Op::Packed(PackedOp::Add, Range { bits: 16, .. }) => 1,
        _ => 1,
    }
}
