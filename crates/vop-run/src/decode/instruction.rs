//! One instruction: opcode and operands to steps.
//!
//! What only computes is described in [`pure`]; here are its operands, and everything else: memory, control,
//! barriers, what warps do together, calls.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use vop_ptx::module::{FunctionKind, RegistersAt, Scalar, StatementKind, lex};

use super::function::{Decoder, Home, Register, width_of};
use super::opcode::Opcode;
use super::operand::{Operand, constant};
use crate::code::{
    Access, Atomic, AtomicKind, Barrier, BarrierKind, Call, CallTarget, Collective, CollectiveKind, Copy, Fold, Load,
    Op, Special, Store, System, SystemFunction, Transfer, Video,
};
use crate::engine::access;
use crate::engine::lanes::{Linear, Slot, Width, binary, quaternary, ternary, unary};
use crate::error::{RunError, RunErrorKind};
use crate::memory::{REGION_BITS, Space};
use crate::pure::fold::fold;
use crate::pure::{self, Pure, mbarrier};
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
type Known = Result<bool, RunError>;

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
        let operands: Vec<&str> = lex::split_operands(list).map(|range| &list[range]).collect();
        // As it stands in the module, which most do.
        let whole = match text {
            Cow::Borrowed(text) => Some(text),
            Cow::Owned(_) => None,
        };
        if let Some(text) = whole
            && let Some(pure) = self.builder.pures.get(&(text, operands.len()))
            // `mov` to or from a vector is another instruction.
            && !operands.iter().any(|text| text.starts_with('{'))
        {
            let pure = Rc::clone(pure);
            return self.emit_pure(&pure, &flat(&operands));
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

    fn unknown(&self, opcode: &str, name: &str) -> RunError {
        let kind = match name {
            "wmma" | "mma" | "wgmma" | "tcgen05" | "ldmatrix" | "stmatrix" | "movmatrix" => {
                "tensor-core instructions are"
            }
            "tex" | "tld4" | "txq" | "istypep" | "suld" | "sust" | "sured" | "suq" => "textures and surfaces are",
            "mapa" | "getctarank" | "clusterlaunchcontrol" => "clusters are",
            "cp" | "mbarrier" | "multimem" | "tensormap" => "bulk copies and transaction counts (TMA) are",
            _ => {
                return self.unsupported(format!("instruction `{opcode}` is not supported by vop run"));
            }
        };
        self.unsupported(format!("instruction `{opcode}` is not supported by vop run: {kind} not"))
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
            "cp" if opcode.has("async") && !opcode.has("bulk") => self.copy(opcode, operands),
            "mbarrier" => self.mbarrier(opcode, operands),
            // Every write is seen at once and nothing runs ahead: there is nothing to order and nothing to wait for.
            "membar" | "nanosleep" | "prefetch" | "prefetchu" | "pmevent" | "discard" | "applypriority"
            | "griddepcontrol" | "setmaxnreg" => {
                opcode.drop_all(|_| true);
                self.emit(Op::Nothing);
                Ok(true)
            }
            "fence" => {
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

    fn count(&self, operands: &[&str], expected: std::ops::RangeInclusive<usize>) -> Result<(), RunError> {
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
        let Some(pure) = pure::pure(opcode, flat.len(), &immediates) else { return Ok(false) };
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
        let Pure { compute, results, sources, wide, carry_in, carry_out, divisor, then, .. } = pure;
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
        for then in then {
            let taken = last.sources.iter().filter(|width| **width != Width::None).count();
            let between: Vec<Slot> =
                last.results.into_iter().filter(|width| *width != Width::None).map(|w| self.fresh(w)).collect();
            self.compute(last, &between, &slots);
            slots = between.into_iter().chain(slots.drain(taken..)).collect();
            last = then;
        }
        if destinations.len() == 1 && last.results[1] != Width::None {
            let unused = self.fresh(last.results[1]);
            destinations.push(unused);
        }
        self.compute(last, &destinations, &slots);
        if let Some((register, narrow, ty)) = extend {
            match pure::extend(ty, register.ty.width()) {
                Some(extend) => self.compute(&extend, &[register.slot], &[narrow]),
                None => self.copy_register(register.slot, narrow, width_of(register.ty)),
            }
        }
        Ok(())
    }

    fn copy_register(&mut self, d: Slot, a: Slot, width: Width) {
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
                Some(vop::Operand::Sum { .. }) => {
                    return Err(self.unsupported(format!("the sum in operand c of `{text}` is not supported")));
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

    fn mov_vector(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let Some(ty) = opcode.take_type() else { return Ok(false) };
        self.count(operands, 2..=2)?;
        match (Operand::parse(operands[0]), Operand::parse(operands[1])) {
            (Some(Operand::Vector(parts)), Some(Operand::Vector(_))) => {
                Err(self.malformed(format!("`mov` of {} parts to parts", parts.len())))
            }
            (Some(Operand::Vector(parts)), _) => self.unpack(ty, &parts, operands[1]),
            (_, Some(Operand::Vector(parts))) => self.pack(ty, operands[0], &parts),
            _ => Ok(false),
        }
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
    fn wide_register(&mut self, name: &str) -> Result<[Slot; 2], RunError> {
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
    fn wide(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
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

    /// The modifiers of a memory access but its type: the space, and how many elements.
    fn memory_modifiers(&self, opcode: &mut Opcode<'_>) -> (Space, usize, bool) {
        // How an access is cached and ordered does not show where every write is seen at once.
        const IGNORED: [&str; 20] = [
            "volatile", "relaxed", "acquire", "release", "acq_rel", "weak", "mmio", "cta", "cluster", "gpu", "sys",
            "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "noftz",
        ];
        let policy = opcode.take("L2::cache_hint");
        opcode.drop_all(|word| IGNORED.contains(&word) || word.starts_with("L1::") || word.starts_with("L2::"));
        let space = opcode.take_if(|word| match word {
            "param::func" => Some(Space::Param),
            _ => Space::parse(word),
        });
        let count = opcode.take_if(|word| match word {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        });
        (space.unwrap_or(Space::Generic), count.unwrap_or(1), policy)
    }

    fn access(&mut self, text: &str, space: Space, bytes: u32) -> Result<Access, RunError> {
        if bytes as usize > access::GRANULE {
            return Err(self.malformed(format!("an access of {bytes} bytes: the widest has {}", access::GRANULE)));
        }
        let Some(Operand::Memory(name, offset)) = Operand::parse(text) else {
            return Err(self
                .malformed(format!("`{text}` is no address: it is written [register], [variable] or with an offset")));
        };
        let none = self.none();
        let mut access = Access { space, bytes, width: Width::None, base: none, offset, in_frame: false, stride: None };
        if let Some(Operand::Integer(address)) = constant(name) {
            access.offset = address.wrapping_add(offset);
        } else if let Some(Register { slot, ty, .. }) = self.lookup(name) {
            let near = matches!(space, Space::Shared | Space::Local | Space::Param);
            if !ty.is_integer() || !(ty.width() == 64 || ty.width() == 32 && near) {
                return Err(self.malformed(format!("register `{name}` (.{}) cannot hold the address", ty.name())));
            }
            (access.base, access.width) = (slot, width_of(ty));
            // Parameters of functions stand on the stack.
            if space == Space::Param && self.in_function() {
                access.space = Space::Local;
            }
        } else {
            let Some(home) = self.variable(name)? else { return Err(self.undeclared(name)) };
            let (found, stack) = match home {
                Home::At(found, address) => {
                    access.offset = address.wrapping_add(offset);
                    (found, false)
                }
                Home::DynamicShared => {
                    access.base = self.builder.special(Special::DynamicShared, Width::Word);
                    access.width = Width::Word;
                    (Space::Shared, false)
                }
                Home::Stack(at) => {
                    access.offset = at.wrapping_add(offset);
                    access.in_frame = true;
                    (Space::Local, true)
                }
            };
            let same = found == space
                || stack && space == Space::Param
                || matches!(
                    (space, found),
                    (Space::Global, Space::Const) | (Space::Generic, Space::Global | Space::Const)
                );
            if !same {
                return Err(self.malformed(format!("`{name}` is not in the state space that the instruction reaches")));
            }
            access.space = if space == Space::Generic { space } else { found };
        }
        Ok(access)
    }

    fn in_function(&self) -> bool {
        self.kind() == FunctionKind::Func
    }

    /// The texts of a vector operand's elements, or of the one operand.
    fn elements<'t>(&self, text: &'t str, count: usize) -> Result<Vec<&'t str>, RunError> {
        let elements = match Operand::parse(text) {
            Some(Operand::Vector(parts)) => parts,
            _ => vec![text],
        };
        if elements.len() != count {
            return Err(
                self.malformed(format!("`{text}` has {} elements, the instruction takes {count}", elements.len()))
            );
        }
        Ok(elements)
    }

    /// The type of a load or store: of an element of at least a byte.
    fn memory_type(opcode: &mut Opcode<'_>) -> Option<Scalar> {
        opcode.take_type().filter(|ty| ty.bits().is_some_and(|bits| bits >= 8))
    }

    fn load(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let (space, count, policy) = self.memory_modifiers(opcode);
        let Some(ty) = Self::memory_type(opcode) else { return Ok(false) };
        self.count(operands, if policy { 3..=3 } else { 2..=2 })?;
        let access = self.access(operands[1], space, ty.size() as u32 * count as u32)?;
        let mut d = Vec::with_capacity(count);
        let mut transfer = None;
        for text in self.elements(operands[0], count)? {
            if ty == Scalar::B128 {
                d.extend(if text == "_" {
                    [0, 1].map(|_| self.fresh(Width::Double))
                } else {
                    self.wide_register(text)?
                });
                continue;
            }
            let register = match text {
                "_" => None,
                _ => Some(self.wider_register(text, ty)?),
            };
            // All registers of a vector are of one width.
            let width = register.map_or(ty.width(), |register| register.ty.width());
            transfer = transfer.or(register.map(|_| width));
            d.push(match register {
                Some(register) => register.slot,
                None => self.fresh(width_of(ty)),
            });
        }
        let transfer = load_transfer(ty, transfer.unwrap_or(ty.width()));
        if d.iter().any(|slot| slot.register_width() != Some(transfer.width())) {
            return Err(self.malformed(format!("the registers of `{}` are of different widths", operands[0])));
        }
        let gather = transfer.gather(self.builder.level);
        self.emit(Op::Load(Box::new(Load { access, gather, d: d.into() })));
        Ok(true)
    }

    fn store(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        if opcode.has("async") || opcode.has("bulk") {
            return Ok(false);
        }
        let (space, count, policy) = self.memory_modifiers(opcode);
        let Some(ty) = Self::memory_type(opcode) else { return Ok(false) };
        self.count(operands, if policy { 3..=3 } else { 2..=2 })?;
        let access = self.access(operands[0], space, ty.size() as u32 * count as u32)?;
        let mut sources = Vec::with_capacity(count);
        for text in self.elements(operands[1], count)? {
            if ty == Scalar::B128 {
                sources.extend(self.wide_register(text)?);
            } else {
                sources.push(self.wider_source(text, ty)?);
            }
        }
        let scatter = load_transfer(ty, ty.width()).scatter(self.builder.level);
        self.emit(Op::Store(Box::new(Store { access, scatter, sources: sources.into() })));
        Ok(true)
    }

    fn atomic(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let returns = opcode.name == "atom";
        let (space, count, policy) = self.memory_modifiers(opcode);
        let name = opcode.take_of(&["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"]);
        let rounded = opcode.take("rn");
        let packed = opcode.take_of(&["f16x2", "bf16x2", "bf16"]);
        let (Some(name), Some(ty)) = (name, packed.map_or_else(|| opcode.take_type(), |_| Some(Scalar::B32))) else {
            return Ok(false);
        };
        let ty = if packed == Some("bf16") { Scalar::B16 } else { ty };
        let type_name = packed.unwrap_or(ty.name());
        let kind = match name {
            "exch" => Some(AtomicKind::Exchange),
            "cas" => Some(AtomicKind::CompareAndSwap),
            // In global memory sums of single precision flush subnormals (manual, "atom").
            "add" if ty == Scalar::F32 && space != Space::Shared => fold("add.ftz", type_name).map(AtomicKind::Fold),
            _ => fold(name, type_name).map(AtomicKind::Fold),
        };
        let wide = ty == Scalar::B128;
        let Some(kind) = kind.filter(|_| ty.bits().is_some_and(|bits| bits >= 16)) else { return Ok(false) };
        let floats = matches!(type_name, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f64");
        if (rounded && !floats) || (wide && !matches!(name, "exch" | "cas")) || (count > 1 && returns && !floats) {
            return Ok(false);
        }
        let (values, first) = (if name == "cas" { 2 } else { 1 }, usize::from(returns));
        let expected = first + 1 + values + usize::from(policy);
        self.count(operands, expected..=expected)?;
        let at = self.access(operands[first], space, ty.size() as u32)?;
        let mut texts: Vec<Vec<&str>> =
            vec![if returns { self.elements(operands[0], count)? } else { vec!["_"; count] }];
        for operand in &operands[first + 1..first + 1 + values] {
            texts.push(self.elements(operand, count)?);
        }
        let mut results = Vec::new();
        for i in 0..count {
            let mut access = at;
            access.offset = access.offset.wrapping_add(i as u64 * ty.size() as u64);
            let none = self.none();
            let mut sources = [[none; 2]; 2];
            for (slots, texts) in sources.iter_mut().zip(&texts[1..]) {
                *slots = if wide { self.wide_register(texts[i])? } else { [self.source(texts[i], ty)?, none] };
            }
            let d = match texts[0][i] {
                "_" => None,
                text if wide => Some(self.wide_register(text)?),
                text => Some([self.destination(text, ty)?, none]),
            };
            // A destination of one element may be the source of the next: all are written at the end.
            let d = match d {
                Some([d, none]) if count > 1 => {
                    let between = self.fresh(width_of(ty));
                    results.push((d, between));
                    Some([between, none])
                }
                d => d,
            };
            let returns = d.is_some();
            let step = self.emit(Op::Atomic(Box::new(Atomic { access, kind, width: width_of(ty), d, sources })));
            let commutes = matches!(kind, AtomicKind::Fold(_)) && (!floats || name != "add");
            match at.space {
                Space::Shared | Space::Local => {}
                _ if !commutes => self.mark_ordered(),
                _ if returns => self.mark_ordered_result(step),
                _ => {}
            }
        }
        for (i, (d, between)) in results.into_iter().enumerate() {
            self.copy_register(d, between, width_of(ty));
            if i > 0 {
                self.mark_part();
            }
        }
        Ok(true)
    }

    /// `cp.async` without TMA: the copy is made at once, so that groups of them have nothing to wait for.
    fn copy(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        opcode.take("async");
        if opcode.take_of(&["commit_group", "wait_group", "wait_all"]).is_some() {
            self.emit(Op::Nothing);
            return Ok(true);
        }
        if opcode.take("mbarrier") {
            return self.copy_arrival(opcode, operands);
        }
        opcode.drop_all(|word| matches!(word, "ca" | "cg") || word.starts_with("L2::"));
        let to = opcode.take_if(Space::parse);
        let from = opcode.take_if(Space::parse);
        let (Some(Space::Shared), Some(Space::Global)) = (to, from) else { return Ok(false) };
        self.count(operands, 3..=5)?;
        let size = match Operand::parse(operands[2]) {
            Some(Operand::Integer(size @ (4 | 8 | 16))) => size as u32,
            _ => return Err(self.malformed(format!("`{}` bytes: a copy is of 4, 8 or 16", operands[2]))),
        };
        let to = self.access(operands[0], Space::Shared, size)?;
        let from = self.access(operands[1], Space::Global, size)?;
        // The third operand may also be a predicate that asks for zeros.
        let source_bytes = match operands.get(3).map(|text| (text, self.is_predicate(text))) {
            None => None,
            Some((text, false)) => Some(self.source(text, Scalar::B32)?),
            Some((text, true)) => {
                let p = self.source(text, Scalar::Pred)?;
                let d = self.fresh(Width::Word);
                let size = self.builder.constant(u64::from(size), Width::Word);
                self.compute(&binary(|p: bool, size: u32| if p { 0 } else { size }), &[d], &[p, size]);
                Some(d)
            }
        };
        self.emit(Op::Copy(Box::new(Copy { from, to, source_bytes })));
        Ok(true)
    }

    /// `cp.async.mbarrier.arrive`: the thread's copies have been made, so it arrives now. Without `.noinc` one more arrival is asked
    /// for at the same time, and nothing changes.
    fn copy_arrival(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let counts = opcode.take("noinc");
        let (space, ..) = self.memory_modifiers(opcode);
        if !opcode.take("arrive") || !opcode.take("b64") {
            return Ok(false);
        }
        self.count(operands, 1..=1)?;
        let access = self.access(operands[0], space, 8)?;
        let one = self.builder.constant(u64::from(counts), Width::Double);
        let fold = if counts { mbarrier::arrive } else { |object, _| object };
        self.emit_fold(access, fold, None, one);
        Ok(true)
    }

    /// An atomic step on 64 bits.
    fn emit_fold(&mut self, access: Access, fold: Fold, d: Option<Slot>, source: Slot) {
        let none = self.none();
        let (kind, d, sources) = (AtomicKind::Fold(fold), d.map(|d| [d, none]), [[source, none], [none; 2]]);
        self.emit(Op::Atomic(Box::new(Atomic { access, kind, width: Width::Double, d, sources })));
    }

    /// `mbarrier` on arrivals of threads; transactions are counted for TMA alone.
    fn mbarrier(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        if opcode.has("shared::cluster") {
            return Ok(false);
        }
        const OPERATIONS: [&str; 7] =
            ["init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait", "pending_count"];
        let Some(operation) = opcode.take_of(&OPERATIONS) else { return Ok(false) };
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
                let scatter = load_transfer(double, 64).scatter(self.builder.level);
                self.emit(Op::Store(Box::new(Store { access, scatter, sources: [object].into() })));
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
                let access = self.access(operands[1], space, 8)?;
                let count = match operands.get(2) {
                    Some(text) => {
                        let (count, wide) = (self.source(text, word)?, self.fresh(Width::Double));
                        self.compute(&unary(|count: u32| u64::from(count)), &[wide], &[count]);
                        wide
                    }
                    None => self.builder.constant(1, Width::Double),
                };
                let fold = if operation == "arrive" { mbarrier::arrive } else { mbarrier::arrive_drop };
                self.emit_fold(access, fold, d, count);
            }
            _ => {
                // The last operand of `try_wait` says how long to wait.
                self.count(operands, 3..=if operation == "try_wait" { 4 } else { 3 })?;
                let d = self.destination(operands[0], Scalar::Pred)?;
                let access = self.access(operands[1], space, 8)?;
                let phase = self.source(operands[2], if parity { word } else { double })?;
                let (object, none) = (self.fresh(Width::Double), self.none());
                self.emit_fold(access, |object, _| object, Some(object), none);
                let complete =
                    if parity { binary(mbarrier::is_parity_complete) } else { binary(mbarrier::is_complete) };
                self.compute(&complete, &[d], &[object, phase]);
            }
        }
        Ok(true)
    }

    fn is_predicate(&mut self, text: &str) -> bool {
        self.lookup(text.trim_start_matches('!')).is_some_and(|register| register.ty == Scalar::Pred)
    }

    fn cvta(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let to = opcode.take("to");
        let (Some(space), true) = (opcode.take_if(Space::parse), opcode.take("u64")) else { return Ok(false) };
        self.count(operands, 2..=2)?;
        let ty = Scalar::B64;
        let d = self.destination(operands[0], ty)?;
        let a = self.source(operands[1], ty)?;
        let base = if to { space.base().wrapping_neg() } else { space.base() };
        if base == 0 {
            self.copy_register(d, a, Width::Double);
        } else {
            let base = self.builder.constant(base, Width::Double);
            self.compute(&binary(|a: u64, b: u64| a.wrapping_add(b)).linear(Linear::Sum), &[d], &[a, base]);
        }
        Ok(true)
    }

    fn isspacep(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let space = opcode.take_if(|word| match word {
            "shared::cluster" => Some(Space::Shared),
            _ => Space::parse(word),
        });
        let Some(space) = space else { return Ok(false) };
        self.count(operands, 2..=2)?;
        let d = self.destination(operands[0], Scalar::Pred)?;
        let a = self.source(operands[1], Scalar::B64)?;
        let compute = match space {
            // Every address that is in none of the windows is global; constants are there as well.
            Space::Global | Space::Const | Space::Generic => unary(|a: u64| !matches!(a >> REGION_BITS, 1..=3)),
            Space::Shared => unary(|a: u64| a >> REGION_BITS == 1),
            Space::Local => unary(|a: u64| a >> REGION_BITS == 2),
            Space::Param => unary(|a: u64| a >> REGION_BITS == 3),
        };
        self.compute(&compute, &[d], &[a]);
        Ok(true)
    }

    fn label(&self, name: &str) -> Result<usize, RunError> {
        let found = self.builder.module.label(self.scope, name);
        found.ok_or_else(|| self.malformed(format!("there is no label `{name}` here")))
    }

    fn branch(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        opcode.take("uni");
        self.count(operands, 1..=1)?;
        let statement = self.label(operands[0])?;
        let step = self.emit(Op::Branch(0));
        self.branch_to(step, vec![statement]);
        Ok(true)
    }

    /// The directive that a label stands before: `.branchtargets`, `.callprototype`.
    fn labelled_directive(&self, name: &str, directive: &str) -> Option<&str> {
        let module = self.builder.module;
        let label = module.label(self.scope, name)?;
        match &module.statements().get(label + 1)?.kind {
            StatementKind::Directive { name, arguments } if module.slice(name) == directive => {
                Some(module.slice(arguments))
            }
            _ => None,
        }
    }

    fn branch_indexed(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        if !opcode.take("idx") {
            return Ok(false);
        }
        opcode.take("uni");
        self.count(operands, 2..=2)?;
        let index = self.source(operands[0], Scalar::B32)?;
        let Some(targets) = self.labelled_directive(operands[1], ".branchtargets") else {
            return Err(self.malformed(format!("`{}` is no list of branch targets", operands[1])));
        };
        let targets = targets.to_owned();
        let mut statements = Vec::new();
        for range in lex::split_operands(&targets) {
            statements.push(self.label(&targets[range])?);
        }
        let step = self.emit(Op::BranchIndexed { index, targets: Box::default() });
        self.branch_to(step, statements);
        Ok(true)
    }

    /// `call (results), name, (arguments), prototype`: all but the name may be left out.
    fn call(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        opcode.take("uni");
        let inside = |text: &str| Some(text.strip_prefix('(')?.strip_suffix(')')?.to_owned());
        let mut rest = operands.iter().copied().peekable();
        let list = |text: Option<String>| -> Vec<String> {
            let text = text.unwrap_or_default();
            lex::split_operands(&text).map(|range| text[range].to_owned()).collect()
        };
        let results = rest.next_if(|text| text.starts_with('(')).and_then(inside);
        let Some(name) = rest.next() else { return Err(self.malformed("a call without a function")) };
        let arguments = rest.next_if(|text| text.starts_with('(')).and_then(inside);
        let (results, arguments) = (list(results), list(arguments));
        if let Some(Register { slot, ty, .. }) = self.lookup(name) {
            if ty.width() != 64 {
                return Err(self.malformed(format!("register `{name}` (.{}) cannot hold the address", ty.name())));
            }
            self.builder.calls_by_address = true;
            let results = self.transfers(&results, None, true)?;
            let arguments = self.transfers(&arguments, None, false)?;
            let target = CallTarget::Indirect(slot);
            self.emit(Op::Call(Box::new(Call { target, arguments: arguments.into(), results: results.into() })));
            self.emit_join();
            return Ok(true);
        }
        let Some((index, function)) = self.callee(name) else { return Err(self.undeclared(name)) };
        if function.kind != FunctionKind::Func {
            return Err(self.malformed(format!("`{name}` is an entry: only functions can be called")));
        }
        let formals =
            |list: &[vop_ptx::module::Variable]| list.iter().map(|formal| formal.ty.scalar).collect::<Vec<_>>();
        let (parameter_types, result_types) = (formals(&function.parameters), formals(&function.results));
        if (results.len(), arguments.len()) != (result_types.len(), parameter_types.len()) {
            return Err(self.malformed(format!(
                "`{name}` has {} parameters and {} results, the call {} and {}",
                parameter_types.len(),
                result_types.len(),
                arguments.len(),
                results.len()
            )));
        }
        let results = self.transfers(&results, Some(&result_types), true)?;
        let arguments = self.transfers(&arguments, Some(&parameter_types), false)?;
        if function.body.is_none() {
            let function = match name {
                "vprintf" => SystemFunction::Vprintf,
                "__assertfail" => SystemFunction::AssertFail,
                "malloc" => SystemFunction::Malloc { heap: self.builder.program.variables.len() as u32 },
                "free" => SystemFunction::Free { heap: self.builder.program.variables.len() as u32 },
                _ => {
                    let error = self.unsupported(format!("function `{name}` has no body in this module"));
                    return Err(error.with_help("link the modules first; of the CUDA runtime vop run knows vprintf, __assertfail, malloc and free"));
                }
            };
            let result = results.first().copied().unwrap_or(Transfer::Nothing);
            self.emit(Op::System(Box::new(System { function, arguments: arguments.into(), result })));
            return Ok(true);
        }
        let target = CallTarget::Function(self.builder.function(index));
        self.emit(Op::Call(Box::new(Call { target, arguments: arguments.into(), results: results.into() })));
        self.emit_join();
        Ok(true)
    }

    /// The arguments or results of a call: `.param` variables, or registers and immediates.
    fn transfers(
        &mut self,
        texts: &[String],
        types: Option<&[Scalar]>,
        results: bool,
    ) -> Result<Vec<Transfer>, RunError> {
        let mut transfers = Vec::new();
        for (i, text) in texts.iter().enumerate() {
            if text == "_" && results {
                transfers.push(Transfer::Nothing);
                continue;
            }
            if let Some(register) = self.lookup(text) {
                let expected = types.and_then(|types| types.get(i)).map_or(register.ty.width(), |ty| ty.width());
                if register.high.is_some() || register.ty.width() != expected {
                    return Err(self.malformed(format!(
                        "register `{text}` is declared .{}, which is not what the function takes",
                        register.ty.name()
                    )));
                }
                transfers.push(Transfer::Register(register.slot, width_of(register.ty)));
                continue;
            }
            if let Some(Home::Stack(offset)) = self.variable(text)? {
                let module = self.builder.module;
                let bytes = module.variable(self.scope, text, self.span.start).and_then(|v| v.bytes());
                transfers.push(Transfer::Stack { offset: offset as u32, bytes: bytes.unwrap_or(0) as u32 });
                continue;
            }
            let ty = types.and_then(|types| types.get(i)).copied().filter(|_| !results);
            let Some(ty) = ty else { return Err(self.undeclared(text)) };
            let slot = self.source(text, ty)?;
            transfers.push(Transfer::Register(slot, width_of(ty)));
        }
        Ok(transfers)
    }

    fn warp_barrier(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        opcode.take("warp");
        if !opcode.take("sync") {
            return Ok(false);
        }
        self.count(operands, 1..=1)?;
        let members = self.source(operands[0], Scalar::B32)?;
        self.emit_collective(CollectiveKind::Sync, None, None, &[], Some(members));
        Ok(true)
    }

    fn barrier(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
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

    fn emit_collective(
        &mut self,
        kind: CollectiveKind,
        d: Option<Slot>,
        p: Option<Slot>,
        sources: &[Slot],
        members: Option<Slot>,
    ) {
        let none = self.none();
        // A result that nobody wants has a register all the same.
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
        self.emit(Op::Warp(Box::new(Collective { kind, d, p, sources, members })));
    }

    /// `d|p`, or `d` alone.
    fn pair(&mut self, text: &str, ty: Scalar) -> Result<(Slot, Option<Slot>), RunError> {
        match Operand::parse(text) {
            Some(Operand::Pair(d, p)) => Ok((self.destination(d, ty)?, Some(self.destination(p, Scalar::Pred)?))),
            _ => Ok((self.destination(text, ty)?, None)),
        }
    }

    fn collective(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
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
}

/// How a type of memory goes into a register of so many bits.
fn load_transfer(ty: Scalar, register: u32) -> access::Transfer {
    use access::Transfer::*;
    match (ty.width(), ty.is_signed(), register) {
        (8, false, ..=32) => U8_W,
        (8, true, ..=16) => S8_H,
        (8, true, ..=32) => S8_W,
        (8, false, _) => U8_D,
        (8, true, _) => S8_D,
        (16, true, 32) => S16_W,
        (16, _, ..=32) => U16_W,
        (16, false, _) => U16_D,
        (16, true, _) => S16_D,
        (32, _, ..=32) => U32_W,
        (32, false, _) => U32_D,
        (32, true, _) => S32_D,
        _ => U64_D,
    }
}
