//! One instruction: opcode and operands to an operation.

use std::ops::Range;

use super::opcode::Opcode;
use super::operand::Operand;
use super::{Decoder, NONE, SINK};
use crate::module::{RegistersAt, Scalar, lex};
use crate::run::compute::{self, Compute, convert, float, integer};
use crate::run::error::{RunError, RunErrorKind};
use crate::run::kernel::{Access, Collective, CollectiveKind, Op, Slot};
use crate::run::memory::Space;
use crate::run::types::{Kind, mask};

type Decoded = Result<Op, RunError>;

impl Decoder<'_> {
    /// Decodes an instruction, without its guard.
    pub(super) fn instruction(&mut self, opcode_range: &Range<usize>, operands: &Range<usize>) -> Decoded {
        let module = self.module;
        let text = lex::without_trivia(module.slice(opcode_range));
        let list = module.slice(operands);
        let operands: Vec<&str> = lex::split_operands(list).map(|range| &list[range]).collect();
        let mut opcode = Opcode::new(&text);
        if opcode.name.starts_with('v') && opcode.name != "vote" {
            return self.video(opcode_range.start..self.span.end);
        }
        let op = self.decode_opcode(&mut opcode, &operands)?.ok_or_else(|| self.unknown(&text))?;
        match opcode.rest() {
            Some(modifier) => Err(self.unsupported(format!(
                "instruction `{text}` is not supported by vop run: its modifier `.{modifier}` is not known"
            ))),
            None => Ok(op),
        }
    }

    fn unknown(&self, opcode: &str) -> RunError {
        self.unsupported(format!("instruction `{opcode}` is not supported by vop run"))
    }

    /// The operation of an opcode; `None` if nothing here knows it.
    fn decode_opcode(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        match opcode.name {
            "mov" => self.mov(opcode, operands),
            "ld" | "ldu" => self.load(opcode, operands),
            "st" => self.store(opcode, operands),
            "atom" | "red" => self.atomic(opcode, operands),
            "add" | "sub" | "mul" | "mad" | "fma" | "addc" | "subc" | "madc" => self.arithmetic(opcode, operands),
            "mul24" | "mad24" => self.mul24(opcode, operands),
            "div" | "rem" | "sad" | "abs" | "neg" | "min" | "max" | "sqrt" | "rcp" | "copysign" => {
                self.plain(opcode, operands)
            }
            "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "popc" | "clz" | "brev" | "bfind" | "bfe"
            | "bfi" => self.bits(opcode, operands),
            "prmt" | "shf" | "lop3" | "dp4a" | "dp2a" => self.bits32(opcode, operands),
            "setp" => self.setp(opcode, operands),
            "set" => self.set(opcode, operands),
            "selp" | "slct" => self.select(opcode, operands),
            "cvt" => self.cvt(opcode, operands),
            "cvta" => self.cvta(opcode, operands),
            "bra" => self.branch(opcode, operands),
            "exit" | "ret" => {
                opcode.take("uni");
                self.count(operands, 0..=0)?;
                Ok(Some(Op::Exit))
            }
            "bar" | "barrier" => self.barrier(opcode, operands),
            // One thread runs after the other and sees all earlier writes: there is nothing to order and nothing to wait for.
            "membar" | "fence" | "nanosleep" => {
                opcode.drop_all(|_| true);
                Ok(Some(Op::Sequence(Box::default())))
            }
            "shfl" | "vote" | "redux" => self.collective(opcode, operands),
            "trap" => {
                self.count(operands, 0..=0)?;
                Ok(Some(Op::Trap))
            }
            _ => Ok(None),
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

    /// `d = f(sources)` with one type an operand.
    fn pure(
        &mut self,
        f: Option<Compute>,
        operands: &[&str],
        d: Scalar,
        sources: &[Scalar],
    ) -> Result<Option<Op>, RunError> {
        let Some(f) = f else { return Ok(None) };
        self.count(operands, sources.len() + 1..=sources.len() + 1)?;
        let d = self.destination(operands[0], d)?;
        let mut slots = [NONE; 4];
        for (slot, (text, ty)) in slots.iter_mut().zip(operands[1..].iter().zip(sources)) {
            *slot = self.source(text, *ty)?;
        }
        Ok(Some(Self::compute(f, d, &slots)))
    }

    /// A predicate source that may be negated with `!`: its slot, and the operation that makes it first.
    fn predicate(&mut self, text: &str, scratch: usize, ops: &mut Vec<Op>) -> Result<Slot, RunError> {
        match Operand::parse(text) {
            Some(Operand::Not(name)) => {
                let p = self.register(name, Scalar::Pred)?;
                let d = self.scratch(scratch);
                ops.push(Self::compute(integer::not_pred, d, &[p]));
                Ok(d)
            }
            _ => self.source(text, Scalar::Pred),
        }
    }

    /// Through the library: it is the judge of what is legal.
    fn video(&mut self, range: Range<usize>) -> Decoded {
        let module = self.module;
        let text = module.slice(&range);
        let declared = RegistersAt { module, scope: self.scope, at: self.span.start };
        let instruction = match vop::Parser::new().with_registers(&declared).parse(text) {
            Ok(instruction) => instruction,
            Err(faults) => {
                let mut errors = faults.into_iter().map(|fault| {
                    let span = range.start + fault.span.start..range.start + fault.span.end;
                    let error =
                        RunError::new(RunErrorKind::Video(fault.code), fault.message).at(self.program.place(&span));
                    RunError { help: fault.help, ..error }
                });
                let first = errors.next().unwrap_or_else(|| self.unknown(text));
                self.errors.extend(errors.collect::<Vec<_>>());
                return Err(first);
            }
        };
        let form = instruction.form;
        let d = self.destination(instruction.d, Scalar::B32)?;
        let mut sources = [NONE; 3];
        for (slot, operand) in sources.iter_mut().zip([Some(instruction.a), Some(instruction.b), instruction.c]) {
            *slot = match operand {
                Some(vop::Operand::Register(name)) => self.source(name, Scalar::B32)?,
                Some(vop::Operand::Immediate { value, .. }) => self.constant(u64::from(value)),
                Some(vop::Operand::Sum { .. }) => {
                    return Err(self.unsupported(format!("the sum in operand c of `{text}` is not supported")));
                }
                None => NONE,
            };
        }
        Ok(Op::Video { form, d, sources })
    }

    fn mov(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let Some(ty) = opcode.take_type() else { return Ok(None) };
        self.count(operands, 2..=2)?;
        match (Operand::parse(operands[0]), Operand::parse(operands[1])) {
            (Some(Operand::Vector(parts)), _) => self.unpack(ty, &parts, operands[1]),
            (_, Some(Operand::Vector(parts))) => self.pack(ty, operands[0], &parts),
            _ => self.pure(Some(compute::copy), operands, ty, &[ty]),
        }
    }

    /// The untyped type of one of `count` equal parts.
    fn part(&self, ty: Scalar, count: usize) -> Result<Scalar, RunError> {
        let bits = ty.width() as usize;
        match (count, bits.checked_div(count)) {
            (2 | 4, Some(8)) => Ok(Scalar::B8),
            (2 | 4, Some(16)) => Ok(Scalar::B16),
            (2, Some(32)) => Ok(Scalar::B32),
            _ => Err(self.malformed(format!("a .{} does not split into {count} parts", ty.name()))),
        }
    }

    fn unpack(&mut self, ty: Scalar, parts: &[&str], source: &str) -> Result<Option<Op>, RunError> {
        let part = self.part(ty, parts.len())?;
        let source = self.source(source, ty)?;
        // A part may be the source's own register, so all is read from a copy.
        let whole = self.scratch(0);
        let mut ops = vec![Self::compute(compute::copy, whole, &[source])];
        let (size, zeros) = (self.constant(u64::from(part.width())), self.constant(mask(part.width())));
        for (i, text) in parts.iter().enumerate() {
            let d = self.destination(text, part)?;
            if i > 0 {
                ops.push(Self::compute(compute::shift_down, whole, &[whole, size]));
            }
            ops.push(Self::compute(integer::and, d, &[whole, zeros]));
        }
        Ok(Some(Op::Sequence(ops.into())))
    }

    fn pack(&mut self, ty: Scalar, d: &str, parts: &[&str]) -> Result<Option<Op>, RunError> {
        let part = self.part(ty, parts.len())?;
        let d = self.destination(d, ty)?;
        let mut slots = [NONE; 4];
        for (slot, text) in slots.iter_mut().zip(parts) {
            *slot = self.source(text, part)?;
        }
        let pack: Compute = match part {
            Scalar::B8 => compute::pack::<8>,
            Scalar::B16 => compute::pack::<16>,
            _ => compute::pack::<32>,
        };
        Ok(Some(Self::compute(pack, d, &slots)))
    }

    /// The modifiers of a memory access but its type: the space, and how many elements.
    fn memory_modifiers(&self, opcode: &mut Opcode<'_>) -> (Space, usize) {
        // How an access is cached and ordered does not show where threads run one after the other.
        const IGNORED: [&str; 19] = [
            "volatile", "relaxed", "acquire", "release", "acq_rel", "weak", "mmio", "cta", "cluster", "gpu", "sys",
            "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt",
        ];
        opcode.drop_all(|word| {
            IGNORED.contains(&word)
                || word.starts_with("L1::")
                || (word.starts_with("L2::") && word != "L2::cache_hint")
        });
        let space = opcode.take_if(|word| match word {
            "shared::cta" => Some(Space::Shared),
            "param::entry" => Some(Space::Param),
            _ => Space::parse(word),
        });
        let count = opcode.take_if(|word| match word {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        });
        (space.unwrap_or(Space::Generic), count.unwrap_or(1))
    }

    fn access(&mut self, text: &str, space: Space, ty: Scalar) -> Result<Access, RunError> {
        let Some(Operand::Memory(name, offset)) = Operand::parse(text) else {
            return Err(self
                .malformed(format!("`{text}` is no address: it is written [register], [variable] or with an offset")));
        };
        let bytes = ty.size() as u8;
        let mut access = Access { space, bytes, extend: 0, narrow: false, base: NONE, offset: NONE };
        if let Some(Operand::Integer(address)) = super::operand::constant(name) {
            access.base = self.constant(address);
        } else if let Some((slot, declared)) = self.lookup(name) {
            let near = matches!(space, Space::Shared | Space::Local | Space::Param);
            access.narrow = declared.width() == 32;
            if !declared.is_integer() || !(declared.width() == 64 || access.narrow && near) {
                return Err(self.malformed(format!("register `{name}` (.{}) cannot hold the address", declared.name())));
            }
            access.base = slot;
        } else {
            let (home, address) = self.variable(name)?;
            let same = home == space
                || matches!(
                    (space, home),
                    (Space::Global, Space::Const) | (Space::Generic, Space::Global | Space::Const)
                );
            if !same {
                return Err(self.malformed(format!("`{name}` is not in the state space that the instruction reaches")));
            }
            access.base = self.constant(address);
        }
        access.offset = self.constant(offset);
        Ok(access)
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

    fn load(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let (space, count) = self.memory_modifiers(opcode);
        let Some(ty) = opcode.take_type().filter(|ty| ty.size() > 0 && ty.width() <= 64 && *ty != Scalar::Pred) else {
            return Ok(None);
        };
        self.count(operands, 2..=2)?;
        let mut access = self.access(operands[1], space, ty)?;
        let mut d = Vec::with_capacity(count);
        for text in self.elements(operands[0], count)? {
            if text == "_" {
                d.push(SINK);
                continue;
            }
            let (slot, width) = self.wider_register(text, ty)?;
            if ty.is_signed() && width > ty.width() {
                access.extend = width as u8;
            }
            d.push(slot);
        }
        Ok(Some(Op::Load { access, d: d.into() }))
    }

    fn store(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let (space, count) = self.memory_modifiers(opcode);
        let Some(ty) = opcode.take_type().filter(|ty| ty.size() > 0 && ty.width() <= 64 && *ty != Scalar::Pred) else {
            return Ok(None);
        };
        self.count(operands, 2..=2)?;
        let access = self.access(operands[0], space, ty)?;
        let mut sources = Vec::with_capacity(count);
        for text in self.elements(operands[1], count)? {
            sources.push(self.wider_source(text, ty)?.0);
        }
        Ok(Some(Op::Store { access, sources: sources.into() }))
    }

    /// A source whose register may be wider than the type; with the register's width.
    fn wider_source(&mut self, text: &str, ty: Scalar) -> Result<(Slot, u32), RunError> {
        match Operand::parse(text) {
            Some(Operand::Name(name)) if self.lookup(name).is_some() => self.wider_register(name, ty),
            _ => Ok((self.source(text, ty)?, ty.width())),
        }
    }

    fn atomic(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let returns = opcode.name == "atom";
        let (space, count) = self.memory_modifiers(opcode);
        let name = opcode.take_of(&["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"]);
        let (Some(name), Some(ty), 1) = (name, opcode.take_type(), count) else { return Ok(None) };
        let f = match name {
            "exch" => Some(compute::second as Compute),
            "cas" => Some(compute::compare_and_swap as Compute),
            "inc" if ty == Scalar::U32 => Some(compute::increment as Compute),
            "dec" if ty == Scalar::U32 => Some(compute::decrement as Compute),
            "inc" | "dec" => None,
            _ if ty.is_float() => float::arithmetic(name, ty, false, false).filter(|_| name == "add"),
            _ => integer::arithmetic(name, ty),
        };
        let Some(f) = f.filter(|_| matches!(ty.width(), 32 | 64)) else { return Ok(None) };
        let (values, first) = (if name == "cas" { 2 } else { 1 }, usize::from(returns));
        self.count(operands, first + 1 + values..=first + 1 + values)?;
        let d = if returns { self.destination(operands[0], ty)? } else { SINK };
        let access = self.access(operands[first], space, ty)?;
        let b = self.source(operands[first + 1], ty)?;
        let c = if values == 2 { self.source(operands[first + 2], ty)? } else { NONE };
        Ok(Some(Op::Atomic { f, access, d, sources: [b, c] }))
    }

    /// `add sub mul mad fma` in all their kinds, and those that take or give a carry.
    fn arithmetic(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let name = opcode.name;
        if let Some(lanes) = opcode.take_of(&PACKED) {
            let ty = Scalar::B32;
            let full = if opcode.take("sat") { format!("{name}.sat") } else { name.to_owned() };
            return self.pure(integer::packed(&full, lanes), operands, ty, &[ty, ty]);
        }
        let Some(ty) = opcode.take_type() else { return Ok(None) };
        if ty.is_float() {
            return self.float(opcode, operands, ty);
        }
        let part = if name.starts_with('m') { opcode.take_of(&["lo", "hi", "wide"]) } else { None };
        let (carry_in, carry_out) = (name.len() > 3 && name.ends_with('c'), opcode.take("cc"));
        if carry_in || carry_out {
            return self.extended(name, part, ty, carry_in, carry_out, operands);
        }
        let saturate = opcode.take("sat");
        let full = match (name, part, saturate) {
            ("add" | "sub", None, false) => name.to_owned(),
            ("add" | "sub", None, true) => format!("{name}.sat"),
            ("mul" | "mad", Some(part), false) => format!("{name}.{part}"),
            ("mad", Some("hi"), true) => "mad.hi.sat".to_owned(),
            _ => return Ok(None),
        };
        let wide = match (part, ty) {
            (Some("wide"), Scalar::U16 | Scalar::S16) => Scalar::B32,
            (Some("wide"), _) => Scalar::B64,
            _ => ty,
        };
        let sources: &[Scalar] = if name == "mad" { &[ty, ty, wide] } else { &[ty, ty] };
        self.pure(integer::arithmetic(&full, ty), operands, wide, sources)
    }

    /// Sums through the condition code: `t = product`, `d = t + c + carry`, `carry = …`.
    fn extended(
        &mut self,
        name: &str,
        part: Option<&str>,
        ty: Scalar,
        carry_in: bool,
        carry_out: bool,
        operands: &[&str],
    ) -> Result<Option<Op>, RunError> {
        let Some((sum, flag)) = integer::extended(name.starts_with("sub"), ty) else { return Ok(None) };
        let multiplies = name.starts_with("mad");
        self.count(operands, if multiplies { 4..=4 } else { 3..=3 })?;
        let d = self.destination(operands[0], ty)?;
        let mut sources = Vec::with_capacity(3);
        for text in &operands[1..] {
            sources.push(self.source(text, ty)?);
        }
        let mut ops = Vec::new();
        if multiplies {
            let product = match part {
                Some("lo") => integer::arithmetic("mul.lo", ty),
                Some("hi") => integer::arithmetic("mul.hi", ty),
                _ => None,
            };
            let Some(product) = product else { return Ok(None) };
            let t = self.scratch(0);
            ops.push(Self::compute(product, t, &sources[..2]));
            sources = vec![t, sources[2]];
        }
        let code = self.carry();
        sources.push(if carry_in { code } else { NONE });
        let (value, new_code) = (self.scratch(1), self.scratch(2));
        ops.push(Self::compute(sum, value, &sources));
        ops.push(Self::compute(flag, new_code, &sources));
        ops.push(Self::compute(compute::copy, d, &[value]));
        if carry_out {
            ops.push(Self::compute(compute::copy, code, &[new_code]));
        }
        Ok(Some(Op::Sequence(ops.into())))
    }

    /// IEEE arithmetic rounds to the nearest; what the manual calls approximate has no defined bits, so it is refused.
    fn float(&mut self, opcode: &mut Opcode<'_>, operands: &[&str], ty: Scalar) -> Result<Option<Op>, RunError> {
        let (ftz, sat, nan) = (opcode.take("ftz"), opcode.take("sat"), opcode.take("NaN"));
        if let Some(modifier) = opcode.take_of(&["approx", "full", "rz", "rm", "rp"]) {
            let name = opcode.name;
            let message = format!(
                "instruction `{name}.{modifier}` is not supported by vop run: of floating point it knows what rounds to nearest (.rn)"
            );
            return Err(self.unsupported(message));
        }
        let rounded = opcode.take("rn");
        let name = match opcode.name {
            // Without `.rn` these are approximate, and no legal PTX.
            "div" | "sqrt" | "rcp" | "fma" | "mad" if !rounded => return Ok(None),
            "mad" => "fma",
            "min" if nan => "min.NaN",
            "max" if nan => "max.NaN",
            _ if nan => return Ok(None),
            name => name,
        };
        let sources = match name {
            "abs" | "neg" | "sqrt" | "rcp" => 1,
            "fma" => 3,
            _ => 2,
        };
        self.pure(float::arithmetic(name, ty, ftz, sat), operands, ty, &[ty; 3][..sources])
    }

    fn mul24(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let (part, saturate) = (opcode.take_of(&["lo", "hi"]), opcode.take("sat"));
        let (Some(part), Some(ty)) = (part, opcode.take_type()) else { return Ok(None) };
        let sources = if opcode.name == "mad24" { 3 } else { 2 };
        let f = integer::mul24(ty, part == "hi", saturate).filter(|_| sources == 3 || !saturate);
        self.pure(f, operands, ty, &[ty; 3][..sources])
    }

    /// Arithmetic named by its opcode alone, in integers or floats.
    fn plain(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let name = opcode.name;
        if matches!(name, "min" | "max") {
            let relu = opcode.take("relu");
            let ty = Scalar::B32;
            if let Some(lanes) = opcode.take_of(&PACKED) {
                let full = if relu { format!("{name}.relu") } else { name.to_owned() };
                return self.pure(integer::packed(&full, lanes), operands, ty, &[ty, ty]);
            }
            if relu {
                return match opcode.take_type() {
                    Some(Scalar::S32) => self.pure(integer::relu(name), operands, ty, &[ty, ty]),
                    _ => Ok(None),
                };
            }
        }
        let Some(ty) = opcode.take_type() else { return Ok(None) };
        if ty.is_float() {
            return self.float(opcode, operands, ty);
        }
        let sources = match name {
            "abs" | "neg" => 1,
            "sad" => 3,
            _ => 2,
        };
        self.pure(integer::arithmetic(name, ty), operands, ty, &[ty; 3][..sources])
    }

    fn bits(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let shift_amount = opcode.name == "bfind" && opcode.take("shiftamt");
        let Some(ty) = opcode.take_type().filter(|ty| ty.is_integer() || *ty == Scalar::Pred) else { return Ok(None) };
        if ty == Scalar::Pred && !matches!(opcode.name, "and" | "or" | "xor" | "not") || ty.width() == 8 {
            return Ok(None);
        }
        let u32 = Scalar::B32;
        let name = if shift_amount { "bfind.shiftamt" } else { opcode.name };
        let f = integer::arithmetic(name, ty);
        match name {
            "not" | "cnot" => self.pure(f, operands, ty, &[ty]),
            "popc" | "clz" | "bfind" | "bfind.shiftamt" => {
                self.pure(f.filter(|_| ty.width() >= 32), operands, u32, &[ty])
            }
            "brev" => self.pure(f, operands, ty, &[ty]),
            "shl" | "shr" => self.pure(f, operands, ty, &[ty, u32]),
            "bfe" => self.pure(f, operands, ty, &[ty, u32, u32]),
            "bfi" => self.pure(f, operands, ty, &[ty, ty, u32, u32]),
            _ => self.pure(f, operands, ty, &[ty, ty]),
        }
    }

    /// Instructions on 32-bit words alone.
    fn bits32(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let word = Scalar::B32;
        match opcode.name {
            "prmt" => {
                let mode = opcode.take_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
                opcode.take("b32");
                self.pure(integer::permute(mode), operands, word, &[word; 3])
            }
            "shf" => {
                let (direction, mode) = (opcode.take_of(&["l", "r"]), opcode.take_of(&["wrap", "clamp"]));
                let (Some(direction), Some(mode), true) = (direction, mode, opcode.take("b32")) else {
                    return Ok(None);
                };
                self.pure(Some(integer::shf(direction == "l", mode == "wrap")), operands, word, &[word; 3])
            }
            "lop3" => self.lop3(opcode, operands),
            name => {
                let high = if name == "dp2a" { opcode.take_of(&["lo", "hi"]) } else { Some("lo") };
                let (Some(high), Some(a), Some(b)) = (high, opcode.take_type(), opcode.take_type()) else {
                    return Ok(None);
                };
                let f = if name == "dp4a" { integer::dp4a(a, b) } else { integer::dp2a(a, b, high == "hi") };
                self.pure(f, operands, word, &[word; 3])
            }
        }
    }

    fn lop3(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let word = Scalar::B32;
        let (combine, true) = (opcode.take_of(&["and", "or"]), opcode.take("b32")) else { return Ok(None) };
        let Some(combine) = combine else { return self.pure(Some(integer::lop3), operands, word, &[word; 4]) };
        self.count(operands, 6..=6)?;
        let Some(Operand::Pair(d, p)) = Operand::parse(operands[0]) else {
            return Err(self.malformed("this form of lop3 takes `d|p`"));
        };
        let (d, p) = (self.destination(d, word)?, self.destination(p, Scalar::Pred)?);
        let mut slots = [NONE; 4];
        for (slot, text) in slots.iter_mut().zip(&operands[1..5]) {
            *slot = self.source(text, word)?;
        }
        let mut ops = Vec::new();
        let q = self.predicate(operands[5], 0, &mut ops)?;
        let (value, truth) = (self.scratch(1), self.scratch(2));
        ops.push(Self::compute(integer::lop3, value, &slots));
        ops.push(Self::compute(integer::nonzero, truth, &[value]));
        ops.push(Self::compute(if combine == "and" { integer::and } else { integer::or }, p, &[truth, q]));
        ops.push(Self::compute(compute::copy, d, &[value]));
        Ok(Some(Op::Sequence(ops.into())))
    }

    /// The comparison of `set` and `setp`: its function, and the function that combines with a predicate.
    fn comparison(&self, opcode: &mut Opcode<'_>, ty: Scalar, operator: &str) -> Option<(Compute, Option<Compute>)> {
        let combine = opcode.take_of(&["and", "or", "xor"]).map(|name| match name {
            "and" => integer::and as Compute,
            "or" => integer::or,
            _ => integer::xor,
        });
        let ftz = opcode.take("ftz");
        let compare = if ty.is_float() {
            float::compare(operator, ty, ftz)
        } else if ty.width() == 8 || ftz {
            None
        } else if !matches!(ty, Scalar::B16 | Scalar::B32 | Scalar::B64) || matches!(operator, "eq" | "ne") {
            integer::compare(operator, ty)
        } else {
            None
        };
        Some((compare?, combine))
    }

    fn setp(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let (Some(operator), Some(ty)) = (opcode.take_of(&COMPARISONS), opcode.take_type()) else { return Ok(None) };
        let Some((compare, combine)) = self.comparison(opcode, ty, operator) else { return Ok(None) };
        let count = if combine.is_some() { 4 } else { 3 };
        self.count(operands, count..=count)?;
        let (p, q) = match Operand::parse(operands[0]) {
            Some(Operand::Pair(p, q)) => (p, Some(q)),
            _ => (operands[0], None),
        };
        let p = self.destination(p, Scalar::Pred)?;
        let q = q.map(|q| self.destination(q, Scalar::Pred)).transpose()?;
        let (a, b) = (self.source(operands[1], ty)?, self.source(operands[2], ty)?);
        if combine.is_none() && q.is_none() {
            return Ok(Some(Self::compute(compare, p, &[a, b])));
        }
        let mut ops = Vec::new();
        let (truth, opposite) = (self.scratch(0), self.scratch(1));
        ops.push(Self::compute(compare, truth, &[a, b]));
        ops.push(Self::compute(integer::not_pred, opposite, &[truth]));
        if let Some(combine) = combine {
            let c = self.predicate(operands[3], 2, &mut ops)?;
            ops.push(Self::compute(combine, truth, &[truth, c]));
            ops.push(Self::compute(combine, opposite, &[opposite, c]));
        }
        ops.push(Self::compute(compute::copy, p, &[truth]));
        if let Some(q) = q {
            ops.push(Self::compute(compute::copy, q, &[opposite]));
        }
        Ok(Some(Op::Sequence(ops.into())))
    }

    fn set(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let (Some(operator), Some(to), Some(ty)) =
            (opcode.take_of(&COMPARISONS), opcode.take_type(), opcode.take_type())
        else {
            return Ok(None);
        };
        let Some((compare, combine)) = self.comparison(opcode, ty, operator) else { return Ok(None) };
        let finish = match to {
            Scalar::U32 | Scalar::S32 => integer::truth_mask,
            Scalar::F32 => float::truth_float,
            _ => return Ok(None),
        };
        let count = if combine.is_some() { 4 } else { 3 };
        self.count(operands, count..=count)?;
        let d = self.destination(operands[0], to)?;
        let (a, b) = (self.source(operands[1], ty)?, self.source(operands[2], ty)?);
        let truth = self.scratch(0);
        let mut ops = vec![Self::compute(compare, truth, &[a, b])];
        if let Some(combine) = combine {
            let c = self.predicate(operands[3], 1, &mut ops)?;
            ops.push(Self::compute(combine, truth, &[truth, c]));
        }
        ops.push(Self::compute(finish, d, &[truth]));
        Ok(Some(Op::Sequence(ops.into())))
    }

    fn select(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let Some(ty) = opcode.take_type().filter(|ty| ty.width() >= 16) else { return Ok(None) };
        if opcode.name == "selp" {
            return self.pure(Some(integer::select), operands, ty, &[ty, ty, Scalar::Pred]);
        }
        match opcode.take_type() {
            Some(Scalar::S32) => self.pure(Some(integer::select_sign), operands, ty, &[ty, ty, Scalar::S32]),
            Some(Scalar::F32) => self.pure(Some(float::select_sign), operands, ty, &[ty, ty, Scalar::F32]),
            _ => Ok(None),
        }
    }

    fn cvt(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        if opcode.take("pack") {
            let (true, Some(to), Some(Scalar::S32)) = (opcode.take("sat"), opcode.take_type(), opcode.take_type())
            else {
                return Ok(None);
            };
            let Some((f, sources)) = integer::pack(to).filter(|(_, sources)| *sources == 2 || opcode.take("b32"))
            else {
                return Ok(None);
            };
            return self.pure(Some(f), operands, Scalar::B32, &[Scalar::B32; 3][..sources]);
        }
        let integral = opcode.take_if(convert::Rounding::parse);
        let rounding = opcode.take_of(&["rn", "rz", "rm", "rp"]);
        let (ftz, sat) = (opcode.take("ftz"), opcode.take("sat"));
        let (Some(to), Some(from)) = (opcode.take_type(), opcode.take_type()) else { return Ok(None) };
        let f = match (to.is_float(), from.is_float()) {
            (false, false) if integral.is_none() && rounding.is_none() && !ftz => convert::integers(to, from, sat),
            // A flushed subnormal rounds to zero as before, unless the direction is fixed.
            (false, true) => match integral {
                Some(convert::Rounding::Down | convert::Rounding::Up) if ftz => None,
                Some(integral) => convert::to_integer(to, from, integral),
                None => None,
            },
            (true, false) if integral.is_none() && !sat => {
                let exact = from.width() < if to == Scalar::F32 { 24 } else { 53 };
                convert::from_integer(to, from).filter(|_| exact || rounding == Some("rn"))
            }
            (true, true) if !ftz && (rounding == Some("rn") || rounding.is_none()) => {
                convert::floats(to, from, integral, sat)
            }
            _ => None,
        };
        let Some(f) = f else { return Ok(None) };
        self.count(operands, 2..=2)?;
        let (d, width) = self.wider_register(operands[0], to)?;
        let (a, _) = self.wider_source(operands[1], from)?;
        let register = self.constant(mask(width));
        Ok(Some(Self::compute(f, d, &[a, register])))
    }

    fn cvta(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        let to = opcode.take("to");
        let space = opcode.take_if(|word| match word {
            "shared::cta" => Some(Space::Shared),
            "param::entry" => Some(Space::Param),
            _ => Space::parse(word),
        });
        let (Some(space), true) = (space, opcode.take("u64")) else { return Ok(None) };
        self.count(operands, 2..=2)?;
        let ty = Scalar::B64;
        let d = self.destination(operands[0], ty)?;
        let a = self.source(operands[1], ty)?;
        let base = self.constant(space.base());
        let f = if to { compute::difference } else { compute::sum };
        Ok(Some(Self::compute(f, d, &[a, base])))
    }

    fn branch(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        opcode.take("uni");
        self.count(operands, 1..=1)?;
        let Some(statement) = self.module.label(self.scope, operands[0]) else {
            return Err(self.malformed(format!("there is no label `{}` here", operands[0])));
        };
        self.branches.push((self.steps.len(), statement));
        Ok(Some(Op::Branch(0)))
    }

    fn barrier(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        opcode.take("aligned");
        if opcode.take("warp") {
            if !opcode.take("sync") {
                return Ok(None);
            }
            self.count(operands, 1..=1)?;
            let members = self.source(operands[0], Scalar::B32)?;
            let sync = Collective { kind: CollectiveKind::Sync, d: SINK, p: SINK, sources: [NONE; 3], members };
            return Ok(Some(Op::Warp(Box::new(sync))));
        }
        opcode.take("cta");
        if !opcode.take("sync") {
            return Ok(None);
        }
        if operands.len() == 2 {
            return Err(self.unsupported("barriers of fewer threads than the block's are not supported by vop run"));
        }
        self.count(operands, 1..=1)?;
        Ok(Some(Op::Barrier(self.source(operands[0], Scalar::B32)?)))
    }

    fn collective(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Result<Option<Op>, RunError> {
        if !opcode.take("sync") {
            return Ok(None);
        }
        let (pred, word) = (Scalar::Pred, Scalar::B32);
        match opcode.name {
            "shfl" => {
                let kind = match opcode.take_of(&["up", "down", "bfly", "idx"]) {
                    Some("up") => CollectiveKind::ShuffleUp,
                    Some("down") => CollectiveKind::ShuffleDown,
                    Some("bfly") => CollectiveKind::ShuffleButterfly,
                    Some(_) => CollectiveKind::ShuffleIndex,
                    None => return Ok(None),
                };
                if !opcode.take("b32") {
                    return Ok(None);
                }
                self.count(operands, 5..=5)?;
                let (d, p) = match Operand::parse(operands[0]) {
                    Some(Operand::Pair(d, p)) => (self.destination(d, word)?, self.destination(p, pred)?),
                    _ => (self.destination(operands[0], word)?, SINK),
                };
                let mut slots = [NONE; 4];
                for (slot, text) in slots.iter_mut().zip(&operands[1..]) {
                    *slot = self.source(text, word)?;
                }
                let [a, b, c, members] = slots;
                Ok(Some(Op::Warp(Box::new(Collective { kind, d, p, sources: [a, b, c], members }))))
            }
            "vote" => {
                let (kind, result) = match opcode.take_of(&["all", "any", "uni", "ballot"]) {
                    Some("all") => (CollectiveKind::All, pred),
                    Some("any") => (CollectiveKind::Any, pred),
                    Some("uni") => (CollectiveKind::Uniform, pred),
                    Some(_) => (CollectiveKind::Ballot, word),
                    None => return Ok(None),
                };
                if !opcode.take(result.name()) {
                    return Ok(None);
                }
                self.count(operands, 3..=3)?;
                let d = self.destination(operands[0], result)?;
                let (name, negated) = match Operand::parse(operands[1]) {
                    Some(Operand::Not(name)) => (name, true),
                    _ => (operands[1], false),
                };
                let a = self.source(name, pred)?;
                let members = self.source(operands[2], word)?;
                // `!p` is the comparison with one.
                let flip = if negated { self.constant(1) } else { NONE };
                Ok(Some(Op::Warp(Box::new(Collective { kind, d, p: SINK, sources: [a, flip, NONE], members }))))
            }
            _ => {
                let Some(name) = opcode.take_of(&["add", "min", "max", "and", "or", "xor"]) else { return Ok(None) };
                let Some(ty) = opcode.take_type().filter(|ty| ty.width() == 32 && ty.is_integer()) else {
                    return Ok(None);
                };
                let Some(f) = integer::arithmetic(name, ty) else { return Ok(None) };
                self.count(operands, 3..=3)?;
                let d = self.destination(operands[0], ty)?;
                let a = self.source(operands[1], ty)?;
                let members = self.source(operands[2], word)?;
                let kind = CollectiveKind::Reduce(f);
                Ok(Some(Op::Warp(Box::new(Collective { kind, d, p: SINK, sources: [a, NONE, NONE], members }))))
            }
        }
    }
}

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

/// The types of packed instructions.
const PACKED: [&str; 4] = ["u16x2", "s16x2", "u8x4", "s8x4"];
