//! Rules that use packed instructions of the lanes' own width.

use crate::eval::Range;
use crate::isa::types::Operation;
use crate::lower::base::PackedOp;
use crate::lower::candidate::{Builder, NotApplicable, Written};

/// Sums and differences, modulo the lane's size or clamped to a range that both operands have.
pub(super) fn add_sub(b: &mut Builder) -> Written {
    let form = b.form;
    let (bits, signed) = (b.bits(), form.atype().is_signed());
    let op = match (form.mnemonic().operation(), form.sat()) {
        (Operation::Add, false) => PackedOp::Add,
        (Operation::Add, true) => PackedOp::AddSat,
        (Operation::Sub, false) => PackedOp::Sub,
        (Operation::Sub, true) => PackedOp::SubSat,
        _ => return Err(NotApplicable),
    };
    let same = form.atype() == form.btype() && form.dtype() == Some(form.atype());
    if b.accumulates() || form.sat() && !same || bits == 16 && op != PackedOp::Add && op != PackedOp::AddSat {
        return Err(NotApplicable);
    }
    let (x, y) = (b.source(false), b.source(true));
    let result = b.packed(op, Range::new(signed, bits), x, y);
    Ok(b.in_positions(result))
}
