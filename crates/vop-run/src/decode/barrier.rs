//! Barriers of a block: `bar`, `barrier` and `mbarrier`.

use vop_ptx::module::Scalar;

use super::function::Decoder;
use super::instruction::Known;
use super::memory::order;
use crate::code::{
    Access, Atomic, AtomicKind, Barrier, BarrierKind, Fold, MbarrierUse, MemoryWidth, Op, OrderSemantics, Scope, Store,
};
use crate::column::{Slot, Width};
use crate::lanes::{binary, unary};
use crate::opcode::Opcode;
use crate::pure::mbarrier;

impl Decoder<'_, '_> {
    pub(super) fn barrier(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        opcode.take("cta");
        // `bar` is short for `barrier.aligned`.
        let aligned = opcode.take("aligned") || opcode.name == "bar";
        let word = Scalar::B32;
        let (id, rest, kind) = match opcode.take_of(&["sync", "arrive", "red"]) {
            Some("sync") => {
                self.count(operands, 1..=2)?;
                (operands[0], &operands[1..], BarrierKind::Sync)
            }
            Some("arrive") => {
                self.count(operands, 2..=2)?;
                (operands[0], &operands[1..], BarrierKind::Arrive)
            }
            Some(_) => {
                let Some(operation) = opcode.take_of(&["popc", "and", "or"]) else { return Ok(false) };
                let ty = if operation == "popc" { Scalar::U32 } else { Scalar::Pred };
                if !opcode.take(ty.name()) {
                    return Ok(false);
                }
                self.count(operands, 3..=4)?;
                let d = self.destination(operands[0], ty)?;
                let p = self.source(operands[operands.len() - 1], Scalar::Pred)?;
                let kind = match operation {
                    "popc" => BarrierKind::Count { d, p },
                    "and" => BarrierKind::All { d, p },
                    _ => BarrierKind::Any { d, p },
                };
                (operands[1], &operands[2..operands.len() - 1], kind)
            }
            None => return Ok(false),
        };
        let id = self.source(id, word)?;
        let count = rest.first().map(|text| self.source(text, word)).transpose()?;
        self.emit(Op::Barrier(Box::new(Barrier { id, count, kind, aligned })));
        Ok(true)
    }

    /// `mbarrier` on arrivals of threads; transactions are counted for TMA alone.
    pub(super) fn mbarrier(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        if opcode.has("shared::cluster") {
            return Ok(false);
        }
        const OPERATIONS: [&str; 7] =
            ["init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait", "pending_count"];
        let Some(operation) = opcode.take_of(&OPERATIONS) else { return Ok(false) };
        let semantics = match operation {
            "arrive" | "arrive_drop" => OrderSemantics::Release,
            "test_wait" | "try_wait" => OrderSemantics::Acquire,
            _ => OrderSemantics::Weak,
        };
        let order = order(opcode, semantics, Scope::Block);
        let (space, ..) = self.memory_modifiers(opcode);
        let parity = operation.ends_with("wait") && opcode.take("parity");
        if operation.starts_with("arrive") {
            opcode.take("noComplete");
        }
        if !opcode.take("b64") || opcode.rest().is_some() {
            return Ok(false);
        }
        let (word, double) = (Scalar::B32, Scalar::B64);
        match operation {
            "init" => {
                self.count(operands, 2..=2)?;
                let access = self.access(operands[0], space, 8)?;
                let count = self.source(operands[1], word)?;
                let object = self.fresh(Width::Double);
                self.compute(&unary(mbarrier::new), &[object], &[count]);
                let store = Store { access, memory: MemoryWidth::Bits64, sources: [object].into() };
                self.emit(Op::Store(Box::new(store)));
            }
            // Its place may be used for something else from now on.
            "inval" => {
                self.count(operands, 1..=1)?;
                self.access(operands[0], space, 8)?;
                self.emit(Op::Nothing);
            }
            "pending_count" => {
                self.count(operands, 2..=2)?;
                let d = self.destination(operands[0], word)?;
                let state = self.source(operands[1], double)?;
                self.compute(&unary(mbarrier::pending), &[d], &[state]);
            }
            "arrive" | "arrive_drop" => {
                self.count(operands, 2..=3)?;
                let d = if operands[0] == "_" { None } else { Some(self.destination(operands[0], double)?) };
                let mut access = self.access(operands[1], space, 8)?;
                access.order = order;
                let count = match operands.get(2) {
                    Some(text) => {
                        let (count, wide) = (self.source(text, word)?, self.fresh(Width::Double));
                        self.compute(&unary(|count: u32| u64::from(count)), &[wide], &[count]);
                        wide
                    }
                    None => self.builder.constant(1, Width::Double),
                };
                let fold = if operation == "arrive" { mbarrier::arrive } else { mbarrier::arrive_drop };
                self.emit_fold(access, fold, d, count, MbarrierUse::Arrive);
            }
            _ => {
                // The last operand of `try_wait` says how long to wait.
                self.count(operands, 3..=if operation == "try_wait" { 4 } else { 3 })?;
                let d = self.destination(operands[0], Scalar::Pred)?;
                let mut access = self.access(operands[1], space, 8)?;
                access.order = order;
                let phase = self.source(operands[2], if parity { word } else { double })?;
                let (object, none) = (self.fresh(Width::Double), self.none());
                self.emit_poll(Some(access));
                self.emit_fold(access, |object, _| object, Some(object), none, MbarrierUse::Wait);
                let complete =
                    if parity { binary(mbarrier::is_parity_complete) } else { binary(mbarrier::is_complete) };
                self.compute(&complete, &[d], &[object, phase]);
            }
        }
        Ok(true)
    }

    /// `cp.async.mbarrier.arrive`: the thread's copies have been made, so it arrives now. Without `.noinc` one more arrival is asked
    /// for at the same time, and nothing changes.
    pub(super) fn copy_arrival(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let counts = opcode.take("noinc");
        let (space, ..) = self.memory_modifiers(opcode);
        if !opcode.take("arrive") || !opcode.take("b64") {
            return Ok(false);
        }
        self.count(operands, 1..=1)?;
        let mut access = self.access(operands[0], space, 8)?;
        (access.order.semantics, access.order.scope) = (OrderSemantics::Release, Scope::Block);
        let one = self.builder.constant(u64::from(counts), Width::Double);
        let fold = if counts { mbarrier::arrive } else { |object, _| object };
        self.emit_fold(access, fold, None, one, MbarrierUse::CopiesArrive);
        Ok(true)
    }

    /// An atomic step on 64 bits.
    fn emit_fold(&mut self, access: Access, fold: Fold, d: Option<Slot>, source: Slot, mbarrier: MbarrierUse) {
        let none = self.none();
        let (kind, d, sources) = (AtomicKind::Fold(fold), d.map(|d| [d, none]), [[source, none], [none; 2]]);
        let atomic = Atomic { access, kind, width: Width::Double, d, sources, mbarrier: Some(mbarrier) };
        self.emit(Op::Atomic(Box::new(atomic)));
    }
}
