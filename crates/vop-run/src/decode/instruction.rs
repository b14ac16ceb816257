//! One instruction: opcode and operands to steps.
//!
//! What only computes is described in [`pure`]; its operands are decoded here. Everything else has a file a family, named as the
//! engine's: moves, memory, control, barrier, warp.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use vop_ptx::module::{RegistersAt, Scalar, lex};

use super::function::{Decoder, width_of};
use super::memory::named_scope;
use super::operand::Operand;
use crate::code::{Fence, Linear, Op, Scope, Video};
use crate::column::{Slot, Width};
use crate::error::{RunError, RunErrorKind};
use crate::lanes::unary;
use crate::opcode::Opcode;
use crate::pure::{self, Pure};
use crate::types::Kind;

/// Operands, `d|p` as two: an instruction's results come first.
fn flat<'a>(operands: &[&'a str]) -> Vec<&'a str> {
    let mut flat = Vec::with_capacity(operands.len() + 1);
    match operands.first().filter(|text| text.contains('|')).and_then(|text| Operand::parse(text)) {
        Some(Operand::Pair(d, p)) => flat.extend([d, p]),
        _ => flat.extend(operands.first()),
    }
    flat.extend(operands.iter().skip(1));
    flat
}

/// Whether the opcode was one of those that a function of the decoder knows.
pub(super) type Known = Result<bool, RunError>;

impl<'p> Decoder<'_, 'p> {
    /// Decodes an instruction; its guard has been.
    pub(super) fn decode_instruction(
        &mut self,
        opcode_range: &Range<usize>,
        operands: &Range<usize>,
    ) -> Result<(), RunError> {
        let module = self.builder.module;
        let text = lex::without_trivia(module.slice(opcode_range));
        let list = module.slice(operands);
        let mut operands: Vec<&str> = lex::split_operands(list).map(|range| &list[range]).collect();
        // As it stands in the module, which most do.
        let whole = match text {
            Cow::Borrowed(text) => Some(text),
            Cow::Owned(_) => None,
        };
        // Few modules have vectors of registers, and `%tid` is one of special registers.
        let of_specials = text.starts_with("mov.v");
        let components;
        if (self.builder.program.vectors || of_specials)
            && let Some(texts) = self.with_components(&operands, of_specials)
        {
            components = texts;
            operands = components.iter().map(String::as_str).collect();
        }
        if let Some(text) = whole
            // `d|p` are two results, which is another instruction.
            && !operands.first().is_some_and(|text| text.contains('|'))
            && let Some(pure) = self.builder.pures.get(&(text, operands.len()))
            // `mov` to or from a vector is another instruction.
            && !operands.iter().any(|text| text.starts_with('{'))
        {
            let pure = Rc::clone(pure);
            return self.emit_pure(&pure, &operands);
        }
        let mut opcode = Opcode::new(&text);
        if opcode.name.starts_with('v') && opcode.name != "vote" {
            return self.video(opcode_range.start..self.span.end);
        }
        if !self.by_name(&mut opcode, whole, &operands)? {
            return Err(self.unknown(&text, opcode.name));
        }
        match opcode.rest() {
            Some(modifier) => Err(self.unsupported(format!(
                "instruction `{text}` is not supported by vop run: its modifier `.{modifier}` is not known"
            ))),
            None => Ok(()),
        }
    }

    fn unknown(&mut self, opcode: &str, name: &str) -> RunError {
        let kind = match name {
            "wmma" | "mma" | "wgmma" | "tcgen05" | "ldmatrix" | "stmatrix" | "movmatrix" => "tensor-core instructions",
            "mapa" | "getctarank" | "clusterlaunchcontrol" | "barrier" => "clusters",
            "cp" | "mbarrier" | "multimem" | "tensormap" | "st" | "red" => "bulk copies and transaction counts (TMA)",
            "mad" if matches!(opcode, "mad.f32" | "mad.ftz.f32" | "mad.sat.f32" | "mad.ftz.sat.f32") => {
                let message = format!("`{opcode}` has no rounding mode, which it needs from sm_20 and version 3.2 on");
                return self.malformed(message).with_help("write `mad.rn.f32` for rounding to the nearest");
            }
            _ => {
                return self.unsupported(format!("instruction `{opcode}` is not supported by vop run"));
            }
        };
        self.unsupported_construct(&format!("instruction `{opcode}`"), kind)
    }

    fn by_name(&mut self, opcode: &mut Opcode<'_>, text: Option<&'p str>, operands: &[&str]) -> Known {
        match opcode.name {
            "mov" if operands.iter().any(|text| text.starts_with('{')) => self.mov_vector(opcode, operands),
            "mov" | "selp" if opcode.has("b128") => self.wide(opcode, operands),
            "ld" | "ldu" => self.load(opcode, operands),
            "st" => self.store(opcode, operands),
            "atom" | "red" if !opcode.has("async") => self.atomic(opcode, operands),
            "cvta" => self.cvta(opcode, operands),
            "isspacep" => self.isspacep(opcode, operands),
            "alloca" | "stacksave" | "stackrestore" => self.stack_change(opcode, operands),
            "bra" => self.branch(opcode, operands),
            "brx" => self.branch_indexed(opcode, operands),
            "call" => self.call(opcode, operands),
            "ret" | "exit" => {
                opcode.take("uni");
                self.count(operands, 0..=0)?;
                self.emit(if opcode.name == "ret" { Op::Return } else { Op::Exit });
                Ok(true)
            }
            "bar" | "barrier" if opcode.has("warp") => self.warp_barrier(opcode, operands),
            "bar" | "barrier" if !opcode.has("cluster") => self.barrier(opcode, operands),
            "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => self.collective(opcode, operands),
            "cp" if opcode.has("async") && !opcode.has("bulk") => self.async_copy(opcode, operands),
            "mbarrier" => self.mbarrier(opcode, operands),
            "tex" | "tld4" => self.texture(opcode, operands),
            "suld" | "sust" | "sured" => self.surface(opcode, operands),
            "txq" | "suq" => self.texture_query(opcode, operands),
            "istypep" => self.is_type(opcode, operands),
            // Every write is seen at once and nothing runs ahead: there is nothing to order and nothing to wait for.
            "nanosleep" => {
                opcode.drop_all(|_| true);
                self.emit_poll(None);
                Ok(true)
            }
            "membar" | "fence" => {
                // Fences between proxies order nothing among the accesses that vop run knows.
                let proxy = opcode.modifiers().iter().any(|word| word.starts_with("proxy"));
                let scope = named_scope(opcode).unwrap_or(Scope::Device);
                opcode.drop_all(|_| true);
                self.emit(if proxy { Op::Nothing } else { Op::Fence(Fence::Memory(scope)) });
                Ok(true)
            }
            "prefetch" | "prefetchu" | "pmevent" | "discard" | "applypriority" | "griddepcontrol" | "setmaxnreg" => {
                opcode.drop_all(|_| true);
                self.emit(Op::Nothing);
                Ok(true)
            }
            "createpolicy" => {
                opcode.drop_all(|_| true);
                let d = self.destination(operands.first().copied().unwrap_or(""), Scalar::B64)?;
                let zero = self.builder.constant(0, Width::Double);
                self.copy_register(d, zero, Width::Double);
                Ok(true)
            }
            "trap" | "brkpt" => {
                self.count(operands, 0..=0)?;
                self.emit(Op::Trap(if opcode.name == "trap" { "trap" } else { "brkpt" }));
                Ok(true)
            }
            _ => self.pure(opcode, text, operands),
        }
    }

    pub(super) fn count(&self, operands: &[&str], expected: std::ops::RangeInclusive<usize>) -> Result<(), RunError> {
        if expected.contains(&operands.len()) {
            return Ok(());
        }
        let wanted = match (expected.start(), expected.end()) {
            (a, b) if a == b => a.to_string(),
            (a, b) => format!("{a} to {b}"),
        };
        Err(self.malformed(format!("the instruction has {} operands, and takes {wanted}", operands.len())))
    }

    /// What only computes.
    fn pure(&mut self, opcode: &mut Opcode<'_>, text: Option<&'p str>, operands: &[&str]) -> Known {
        let flat = flat(operands);
        let immediates: Vec<Option<u64>> = flat
            .iter()
            .map(|text| match Operand::parse(text) {
                Some(Operand::Integer(value)) => Some(value),
                _ => None,
            })
            .collect();
        let Some(pure) = pure::pure(opcode, flat.len(), &immediates, self.builder.dialect) else { return Ok(false) };
        if opcode.rest().is_some() {
            // The caller names the modifier.
            return Ok(true);
        }
        let pure = Rc::new(pure);
        // Kernels have few opcodes and many instructions.
        if !pure.by_immediates
            && let Some(text) = text
            && flat.len() == operands.len()
        {
            self.builder.pures.insert((text, operands.len()), Rc::clone(&pure));
        }
        self.emit_pure(&pure, &flat)?;
        Ok(true)
    }

    /// The steps of what only computes, for operands of which `p|q` are two.
    fn emit_pure(&mut self, pure: &Pure, flat: &[&str]) -> Result<(), RunError> {
        let Pure { compute, results, sources, wide, carry_in, carry_out, divisor, then, by_ptxas, .. } = pure;
        let (wide, carry_in, carry_out, divisor) = (*wide, *carry_in, *carry_out, *divisor);
        let count = results.len() + sources.len();
        self.count(flat, count..=count)?;
        let (to, from) = flat.split_at(results.len());
        let mut slots = Vec::with_capacity(sources.len() + 1);
        for (text, ty) in from.iter().zip(sources) {
            slots.push(if wide { self.wider_source(text, *ty)? } else { self.source(text, *ty)? });
        }
        if let Some(divisor) = divisor {
            self.emit(Op::Divisor(slots[divisor], width_of(sources[divisor])));
        }
        if carry_in {
            let carry = self.carry();
            slots.push(carry);
        }
        let mut destinations = Vec::with_capacity(results.len() + 1);
        // A narrow result in a wide register is extended by its type.
        let mut extend = None;
        for (text, ty) in to.iter().zip(results) {
            if !wide || *text == "_" {
                destinations.push(self.destination(text, *ty)?);
                continue;
            }
            let register = self.wider_register(text, *ty)?;
            if register.ty.width() == ty.width() {
                destinations.push(register.slot);
            } else {
                let narrow = self.fresh(width_of(*ty));
                destinations.push(narrow);
                extend = Some((register, narrow, *ty));
            }
        }
        if carry_out {
            let carry = self.carry();
            destinations.push(carry);
        }
        let mut last = compute;
        let mut by_ptxas = by_ptxas.as_ref();
        for then in then {
            let taken = last.sources.iter().filter(|width| **width != Width::None).count();
            let between: Vec<Slot> =
                last.results.into_iter().filter(|width| *width != Width::None).map(|w| self.fresh(w)).collect();
            self.compute_either(last, by_ptxas.take(), &between, &slots);
            slots = between.into_iter().chain(slots.drain(taken..)).collect();
            last = then;
        }
        if destinations.len() == 1 && last.results[1] != Width::None {
            let unused = self.fresh(last.results[1]);
            destinations.push(unused);
        }
        self.compute_either(last, by_ptxas, &destinations, &slots);
        if let Some((register, narrow, ty)) = extend {
            match pure::extend(ty, register.ty.width()) {
                Some(extend) => self.compute(&extend, &[register.slot], &[narrow]),
                None => self.copy_register(register.slot, narrow, width_of(register.ty)),
            }
        }
        Ok(())
    }

    pub(super) fn copy_register(&mut self, d: Slot, a: Slot, width: Width) {
        let copy = match width {
            Width::Predicate => unary(|x: bool| x),
            Width::Double => unary(|x: u64| x),
            _ => unary(|x: u32| x),
        };
        self.compute(&copy.linear(Linear::Sum), &[d], &[a]);
    }

    /// Through the library: it is the judge of what is legal.
    fn video(&mut self, range: Range<usize>) -> Result<(), RunError> {
        let module = self.builder.module;
        let text = module.slice(&range);
        let declared = RegistersAt { module, scope: self.scope, at: self.span.start };
        let instruction = match vop::Parser::new().with_registers(&declared).parse(text) {
            Ok(instruction) => instruction,
            Err(faults) => {
                let program = self.builder.program;
                let mut errors = faults.into_iter().map(|fault| {
                    let span = range.start + fault.span.start..range.start + fault.span.end;
                    let error = RunError::new(RunErrorKind::Video(fault.code), fault.message).at(program.place(&span));
                    RunError { help: fault.help, ..error }
                });
                let first = errors.next().unwrap_or_else(|| self.unsupported(format!("`{text}` is not understood")));
                self.builder.errors.extend(errors);
                return Err(first);
            }
        };
        let d = self.destination(instruction.d, Scalar::B32)?;
        let mut sources = [self.none(); 3];
        for (slot, operand) in sources.iter_mut().zip([Some(instruction.a), Some(instruction.b), instruction.c]) {
            *slot = match operand {
                Some(vop::Operand::Register(name)) => self.source(name, Scalar::B32)?,
                Some(vop::Operand::Immediate { value, .. }) => self.builder.constant(u64::from(value), Width::Word),
                Some(vop::Operand::Sum { register, addend }) => {
                    // ptxas takes other widths, too, and adds in them.
                    let register = self.source(register, Scalar::B32).map_err(|error| match self.lookup(register) {
                        Some(_) => self.unsupported(format!(
                            "the sum in operand c is not supported by vop run where the register, `{register}`, has not 32 bits"
                        )),
                        None => error,
                    })?;
                    let addend = self.builder.constant(u64::from(addend), Width::Word);
                    self.sum(register, addend, Width::Word)
                }
                None => continue,
            };
        }
        let videos = &mut self.builder.kernel.videos;
        let form = videos.iter().position(|form| *form == instruction.form).unwrap_or_else(|| {
            videos.push(instruction.form);
            videos.len() - 1
        });
        self.emit(Op::Video(Box::new(Video { form: form as u32, d, sources })));
        Ok(())
    }
}
