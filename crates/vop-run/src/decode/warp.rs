//! What the lanes of a warp do together.

use vop_ptx::module::Scalar;

use super::function::{Decoder, width_of};
use super::instruction::Known;
use super::operand::Operand;
use crate::code::{Collective, CollectiveKind, FromActive, Op};
use crate::column::{Slot, Width};
use crate::error::RunError;
use crate::opcode::Opcode;
use crate::pure::fold::fold;
use crate::types::Kind;

impl Decoder<'_, '_> {
    pub(super) fn warp_barrier(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        opcode.take("warp");
        if !opcode.take("sync") {
            return Ok(false);
        }
        self.count(operands, 1..=1)?;
        let members = self.source(operands[0], Scalar::B32)?;
        self.emit_collective(CollectiveKind::Sync, None, None, &[], Some(members));
        Ok(true)
    }

    pub(super) fn collective(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        // Before sm_70 the lanes that are there take part.
        let sync = opcode.take("sync");
        let (pred, word) = (Scalar::Pred, Scalar::B32);
        let extra = usize::from(sync);
        let members = |decoder: &mut Self| match operands.last() {
            Some(text) if sync => decoder.source(text, word).map(Some),
            _ => Ok(None),
        };
        match opcode.name {
            "activemask" => {
                if !opcode.take("b32") {
                    return Ok(false);
                }
                self.count(operands, 1..=1)?;
                let d = self.destination(operands[0], word)?;
                self.emit_collective(CollectiveKind::Active, Some(d), None, &[], None);
            }
            "shfl" => {
                let kind = match opcode.take_of(&["up", "down", "bfly", "idx"]) {
                    Some("up") => CollectiveKind::ShuffleUp,
                    Some("down") => CollectiveKind::ShuffleDown,
                    Some("bfly") => CollectiveKind::ShuffleButterfly,
                    Some(_) => CollectiveKind::ShuffleIndex,
                    None => return Ok(false),
                };
                if !opcode.take("b32") {
                    return Ok(false);
                }
                self.count(operands, 4 + extra..=4 + extra)?;
                let (d, p) = self.pair(operands[0], word)?;
                let mut sources = Vec::new();
                for text in &operands[1..4] {
                    sources.push(self.source(text, word)?);
                }
                let members = members(self)?;
                self.emit_collective(kind, Some(d), p, &sources, members);
            }
            "vote" => {
                let (kind, result) = match opcode.take_of(&["all", "any", "uni", "ballot"]) {
                    Some("all") => (CollectiveKind::All, pred),
                    Some("any") => (CollectiveKind::Any, pred),
                    Some("uni") => (CollectiveKind::Uniform, pred),
                    Some(_) => (CollectiveKind::Ballot, word),
                    None => return Ok(false),
                };
                if !opcode.take(result.name()) {
                    return Ok(false);
                }
                self.count(operands, 2 + extra..=2 + extra)?;
                let d = self.destination(operands[0], result)?;
                let a = self.source(operands[1], pred)?;
                let members = members(self)?;
                self.emit_collective(kind, Some(d), None, &[a], members);
            }
            "match" if sync => {
                let Some(which) = opcode.take_of(&["any", "all"]) else { return Ok(false) };
                let Some(ty) = opcode.take_type().filter(|ty| matches!(ty, Scalar::B32 | Scalar::B64)) else {
                    return Ok(false);
                };
                self.count(operands, 3..=3)?;
                let (d, p) = self.pair(operands[0], word)?;
                let a = self.source(operands[1], ty)?;
                let members = members(self)?;
                let width = width_of(ty);
                let kind =
                    if which == "any" { CollectiveKind::MatchAny(width) } else { CollectiveKind::MatchAll(width) };
                self.emit_collective(kind, Some(d), p, &[a], members);
            }
            "redux" if sync => {
                let Some(name) = opcode.take_of(&["add", "min", "max", "and", "or", "xor"]) else { return Ok(false) };
                let (abs, nan) = (opcode.take("abs"), opcode.take("NaN"));
                let Some(ty) = opcode.take_type().filter(|ty| ty.width() == 32) else { return Ok(false) };
                let suffix = [(abs, ".abs"), (nan, ".NaN")].map(|(on, suffix)| if on { suffix } else { "" }).concat();
                let Some(folds) = fold(&format!("{name}{suffix}"), ty.name()) else { return Ok(false) };
                self.count(operands, 3..=3)?;
                let d = self.destination(operands[0], ty)?;
                let a = self.source(operands[1], ty)?;
                let members = members(self)?;
                self.emit_collective(CollectiveKind::Reduce(folds), Some(d), None, &[a], members);
            }
            "elect" if sync => {
                self.count(operands, 2..=2)?;
                let (d, p) = self.pair(operands[0], word)?;
                let members = members(self)?;
                self.emit_collective(CollectiveKind::Elect, Some(d), p, &[], members);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn emit_collective(
        &mut self,
        kind: CollectiveKind,
        d: Option<Slot>,
        p: Option<Slot>,
        sources: &[Slot],
        members: Option<Slot>,
    ) {
        let none = self.none();
        // A result that is not asked for has a register as well.
        let p = match (kind, p) {
            (_, Some(p)) => p,
            (
                CollectiveKind::ShuffleUp
                | CollectiveKind::ShuffleDown
                | CollectiveKind::ShuffleButterfly
                | CollectiveKind::ShuffleIndex
                | CollectiveKind::MatchAll(_)
                | CollectiveKind::Elect,
                None,
            ) => self.fresh(Width::Predicate),
            _ => none,
        };
        let sources = std::array::from_fn(|i| sources.get(i).copied().unwrap_or(none));
        let d = d.unwrap_or(none);
        self.emit(Op::Warp(Box::new(Collective { kind, d, p, sources, members, from_active: FromActive::default() })));
    }

    /// `d|p`, or `d` alone.
    fn pair(&mut self, text: &str, ty: Scalar) -> Result<(Slot, Option<Slot>), RunError> {
        match Operand::parse(text) {
            Some(Operand::Pair(d, p)) => Ok((self.destination(d, ty)?, Some(self.destination(p, Scalar::Pred)?))),
            _ => Ok((self.destination(text, ty)?, None)),
        }
    }
}
