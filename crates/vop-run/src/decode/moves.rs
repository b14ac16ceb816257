//! Moves that pack and unpack vectors, and those of 128 bits.

use vop_ptx::module::Scalar;

use super::function::{Decoder, Register, width_of};
use super::instruction::Known;
use super::operand::Operand;
use crate::code::Op;
use crate::column::{Slot, Width};
use crate::error::RunError;
use crate::lanes::{binary, quaternary, ternary, unary};
use crate::opcode::Opcode;
use crate::types::Kind;

impl Decoder<'_, '_> {
    pub(super) fn mov_vector(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let Some(ty) = opcode.take_type() else { return Ok(false) };
        self.count(operands, 2..=2)?;
        let count = opcode.take_if(|word| ["v2", "v4"].iter().find(|count| **count == word));
        if let Some(count) = count {
            return self.mov_components(ty, if *count == "v2" { 2 } else { 4 }, operands);
        }
        match (Operand::parse(operands[0]), Operand::parse(operands[1])) {
            (Some(Operand::Vector(parts)), Some(Operand::Vector(_))) => {
                Err(self.malformed(format!("`mov` of {} parts to parts", parts.len())))
            }
            (Some(Operand::Vector(parts)), _) => self.unpack(ty, &parts, operands[1]),
            (_, Some(Operand::Vector(parts))) => self.pack(ty, operands[0], &parts),
            _ => Ok(false),
        }
    }

    /// `mov.v4.u32`: each part of the source to that of the destination.
    fn mov_components(&mut self, ty: Scalar, count: usize, operands: &[&str]) -> Known {
        let [to, from] = [self.elements(operands[0], count)?, self.elements(operands[1], count)?];
        let width = width_of(ty);
        let mut moves = Vec::new();
        for (to, from) in to.into_iter().zip(from) {
            let from = self.source(from, ty)?;
            if to != "_" {
                moves.push((self.register(to, ty)?, from));
            }
        }
        // A destination may be the source of a later part: all are read before any is written.
        let overlaps = moves.iter().enumerate().any(|(i, (to, _))| moves[i + 1..].iter().any(|(_, from)| from == to));
        if overlaps {
            for (_, from) in &mut moves {
                let between = self.fresh(width);
                self.copy_register(between, *from, width);
                *from = between;
            }
        }
        if moves.is_empty() {
            self.emit(Op::Nothing);
        }
        for (to, from) in moves {
            self.copy_register(to, from, width);
            self.mark_part();
        }
        Ok(true)
    }

    /// The untyped type of one of `count` equal parts.
    fn part(&self, ty: Scalar, count: usize) -> Result<Scalar, RunError> {
        let bits = ty.width() as usize;
        match (count, bits.checked_div(count)) {
            (2 | 4, Some(8)) => Ok(Scalar::B8),
            (2 | 4, Some(16)) => Ok(Scalar::B16),
            (2 | 4, Some(32)) => Ok(Scalar::B32),
            (2, Some(64)) => Ok(Scalar::B64),
            _ => Err(self.malformed(format!("a .{} does not split into {count} parts", ty.name()))),
        }
    }

    /// The register of a `.b128` by its name.
    pub(super) fn wide_register(&mut self, name: &str) -> Result<[Slot; 2], RunError> {
        match self.lookup(name) {
            Some(Register { slot, high: Some(high), .. }) => Ok([slot, high]),
            Some(Register { ty, .. }) => {
                Err(self
                    .malformed(format!("register `{name}` is declared .{}, the instruction takes .b128", ty.name())))
            }
            None => Err(self.undeclared(name)),
        }
    }

    /// `mov.b128` and `selp.b128` between registers.
    pub(super) fn wide(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        opcode.take("b128");
        let selects = opcode.name == "selp";
        self.count(operands, if selects { 4..=4 } else { 2..=2 })?;
        let d = self.wide_register(operands[0])?;
        let a = self.wide_register(operands[1])?;
        if !selects {
            for (d, a) in d.into_iter().zip(a) {
                self.copy_register(d, a, Width::Double);
                self.mark_part();
            }
            return Ok(true);
        }
        let b = self.wide_register(operands[2])?;
        let p = self.source(operands[3], Scalar::Pred)?;
        for ((d, a), b) in d.into_iter().zip(a).zip(b) {
            self.compute(&ternary(|a: u64, b: u64, p: bool| if p { a } else { b }), &[d], &[a, b, p]);
            self.mark_part();
        }
        Ok(true)
    }

    /// Registers may be wider than their parts: the upper bits are zero.
    fn unpack(&mut self, ty: Scalar, parts: &[&str], source: &str) -> Known {
        let part = self.part(ty, parts.len())?;
        let wholes = match ty {
            Scalar::B128 => self.wide_register(source)?.to_vec(),
            _ => vec![self.source(source, ty)?],
        };
        // A part may be the source's own register, so that one is written last.
        let mut moves = Vec::new();
        for (i, text) in parts.iter().enumerate() {
            if *text == "_" {
                continue;
            }
            let d = self.register(text, part)?;
            let at = i as u32 * part.width();
            let whole = wholes[(at / 64) as usize];
            moves.push((d, whole, at % 64));
        }
        if moves.is_empty() {
            self.emit(Op::Nothing);
        }
        moves.sort_by_key(|(d, ..)| wholes.contains(d));
        let whole = if ty.width() > 32 { Width::Double } else { Width::Word };
        for (d, from, shift) in moves {
            let compute = match (whole, width_of(part)) {
                (Width::Double, Width::Double) => unary(|x: u64| x),
                (Width::Double, _) if part == Scalar::B32 => binary(|x: u64, s: u64| (x >> s) as u32),
                (Width::Double, _) => binary(|x: u64, s: u64| (x >> s) as u16),
                _ if part == Scalar::B8 => binary(|x: u32, s: u32| (x >> s) as u8),
                _ => binary(|x: u32, s: u32| (x >> s) as u16),
            };
            let shift = self.builder.constant(u64::from(shift), whole);
            self.compute(&compute, &[d], &[from, shift]);
            self.mark_part();
        }
        Ok(true)
    }

    fn pack(&mut self, ty: Scalar, d: &str, parts: &[&str]) -> Known {
        let part = self.part(ty, parts.len())?;
        let mut slots = Vec::new();
        for text in parts {
            slots.push(self.source(text, part)?);
        }
        if ty == Scalar::B128 {
            let [low, high] = self.wide_register(d)?;
            // The parts may be the destination's own registers: both halves are made before either is written.
            let mut halves = Vec::new();
            for pair in slots.chunks(slots.len() / 2) {
                let half = self.fresh(Width::Double);
                match pair {
                    [one] => self.copy_register(half, *one, Width::Double),
                    _ => self.compute(&binary(|a: u32, b: u32| u64::from(a) | u64::from(b) << 32), &[half], pair),
                }
                halves.push(half);
            }
            for (d, half) in [low, high].into_iter().zip(halves) {
                self.copy_register(d, half, Width::Double);
                self.mark_part();
            }
            return Ok(true);
        }
        let d = self.destination(d, ty)?;
        let compute = match (ty.width(), part) {
            (64, Scalar::B32) => binary(|a: u32, b: u32| u64::from(a) | u64::from(b) << 32),
            (64, _) => quaternary(|a: u16, b: u16, c: u16, d: u16| {
                u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48
            }),
            (32, Scalar::B16) => binary(|a: u16, b: u16| u32::from(a) | u32::from(b) << 16),
            (32, _) => quaternary(|a: u8, b: u8, c: u8, d: u8| u32::from_le_bytes([a, b, c, d])),
            _ => binary(|a: u8, b: u8| u16::from_le_bytes([a, b])),
        };
        self.compute(&compute, &[d], &slots);
        Ok(true)
    }
}
