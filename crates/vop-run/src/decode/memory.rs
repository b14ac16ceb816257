//! Loads, stores, atomics, `cp.async`, and what asks about addresses.

use vop_ptx::module::{FunctionKind, Scalar, Space as Declared};

use super::function::{Decoder, Register, Variable, width_of};
use super::instruction::Known;
use super::operand::{Operand, constant};
use crate::code::{
    Access, AsyncCopy, Atomic, AtomicKind, Extension, Fence, GRANULE, Linear, Load, MemoryWidth, Op, Order,
    OrderSemantics, Scope, StackChange, Store,
};
use crate::column::{Slot, Width};
use crate::error::RunError;
use crate::lanes::{binary, unary};
use crate::memory::{REGION_BITS, SHORT_BITS, Space};
use crate::opcode::Opcode;
use crate::pure::{self, fold::fold};
use crate::special::Special;
use crate::types::{Kind, mask};

/// What `alloca` aligns to at least, and at most.
const ALLOCA_ALIGN: u32 = 8;
const MAX_ALLOCA_ALIGN: u64 = 1 << 23;

impl Decoder<'_, '_> {
    /// The modifiers of a memory access but its type: the space, and how many elements.
    pub(super) fn memory_modifiers(&self, opcode: &mut Opcode<'_>) -> (Space, usize, bool) {
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

    pub(super) fn access(&mut self, text: &str, space: Space, bytes: u32) -> Result<Access, RunError> {
        if bytes as usize > GRANULE {
            return Err(self.malformed(format!("an access of {bytes} bytes: the widest has {}", GRANULE)));
        }
        let (name, index, offset) = match Operand::parse(text) {
            Some(Operand::Memory(name, offset)) => (name, None, offset),
            Some(Operand::Element(name, index, offset)) => (name, Some(index), offset),
            // A variable that is no array is named in brackets.
            Some(_) => {
                return Err(self.malformed(format!(
                    "`{text}` is no address: it is written [register], [variable] or with an offset"
                )));
            }
            None => return Err(self.odd_operand(text)),
        };
        let none = self.none();
        let mut access = Access {
            space,
            bytes,
            width: Width::None,
            base: none,
            offset,
            in_frame: false,
            stride: None,
            order: Order::default(),
        };
        if let Some(Operand::Integer(address)) = constant(name).filter(|_| index.is_none()) {
            access.offset = address.wrapping_add(offset);
        } else if let Some(Register { slot, ty, .. }) = self.lookup(name).filter(|_| index.is_none()) {
            (access.base, access.width) = self.base(name, slot, ty, space)?;
            // Parameters of functions stand on the stack.
            if space == Space::Param && self.in_function() {
                access.space = Space::Local;
            }
        } else {
            self.access_of_variable(&mut access, name, index)?;
        }
        Ok(access)
    }

    /// The column of a register that holds an address.
    fn base(&mut self, name: &str, slot: Slot, ty: Scalar, space: Space) -> Result<(Slot, Width), RunError> {
        if !ty.is_integer() || !matches!(ty.width(), 32 | 64) {
            return Err(self.malformed(format!("register `{name}` (.{}) cannot hold the address", ty.name())));
        }
        let is_short = self.builder.program.is_short();
        if ty.width() == 64 && is_short {
            // Wider registers are cut off.
            return Ok((self.as_wide(slot, Width::Double, Width::Word), Width::Word));
        }
        self.builder.kernel.short |= ty.width() == 32 && matches!(space, Space::Global | Space::Generic);
        Ok((slot, width_of(ty)))
    }

    /// Fills in where a variable stands, or an element of one: `index` is there for an element, with its register if it has one.
    fn access_of_variable(
        &mut self,
        access: &mut Access,
        name: &str,
        index: Option<Option<&str>>,
    ) -> Result<(), RunError> {
        let (declaration, space) = (self.declaration(name), access.space);
        let (Some(declaration), Some(variable)) = (declaration, self.variable(name, false)?) else {
            if index.is_some() && self.lookup(name).is_some() {
                return Err(self.malformed(format!("`{name}` is a register: only an array has elements")));
            }
            return Err(self.undeclared(name));
        };
        // Indexes count elements, also those of vectors and of inner dimensions.
        let mut scaled = None;
        if let Some(register) = index {
            let size = declaration.ty.scalar.size() as u64;
            access.offset = access.offset.wrapping_mul(size);
            if let Some(register) = register {
                scaled = Some(self.scaled(register, size)?);
            }
        }
        if let Some((base, width)) = scaled {
            (access.base, access.width) = (base, width);
        }
        let (found, stack) = match variable {
            Variable::At(found, address) => {
                access.offset = access.offset.wrapping_add(address);
                if access.width == Width::Word && matches!(found, Space::Global | Space::Const) {
                    access.base = self.as_wide(access.base, Width::Word, Width::Double);
                    access.width = Width::Double;
                }
                (found, false)
            }
            Variable::DynamicShared => {
                let start = self.builder.special(Special::DynamicShared, Width::Word);
                access.base = match access.width {
                    Width::None => start,
                    width => {
                        let ahead = self.as_wide(access.base, width, Width::Word);
                        self.sum(start, ahead, Width::Word)
                    }
                };
                access.width = Width::Word;
                (Space::Shared, false)
            }
            Variable::Stack(at) => {
                access.offset = access.offset.wrapping_add(at);
                access.in_frame = true;
                (Space::Local, true)
            }
        };
        let is_parameter = declaration.space == Declared::Param;
        let same = match space {
            // The variable tells the space.
            Space::Generic => !is_parameter,
            Space::Param => is_parameter,
            Space::Global => matches!(found, Space::Global | Space::Const),
            Space::Local => found == Space::Local,
            _ => found == space,
        };
        if !same {
            return Err(self.malformed(format!(
                "`{name}` is in the .{} state space, and the instruction reaches {} memory",
                declaration.space.name(),
                space.name()
            )));
        }
        let far = matches!(found, Space::Global | Space::Const);
        access.space = if space == Space::Generic && far { space } else { found };
        debug_assert!(!stack || access.space == Space::Local);
        Ok(())
    }

    /// The bytes before an element: the register of its index times the bytes of an element, in the register's width.
    pub(super) fn scaled(&mut self, name: &str, size: u64) -> Result<(Slot, Width), RunError> {
        let Some(Register { slot, ty, high: None }) = self.lookup(name) else { return Err(self.undeclared(name)) };
        if !ty.is_integer() || ty.width() < 16 {
            return Err(self.malformed(format!("register `{name}` (.{}) cannot hold an index", ty.name())));
        }
        let width = width_of(ty);
        let (d, size) = (self.fresh(width), self.builder.constant(size, width));
        let product = match width {
            Width::Double => binary(|a: u64, b: u64| a.wrapping_mul(b)),
            _ => binary(|a: u32, b: u32| a.wrapping_mul(b)),
        };
        self.compute(&product, &[d], &[slot, size]);
        Ok((d, width))
    }

    fn in_function(&self) -> bool {
        self.kind() == FunctionKind::Func
    }

    /// The texts of a vector operand's elements, or of the one operand.
    pub(super) fn elements<'t>(&self, text: &'t str, count: usize) -> Result<Vec<&'t str>, RunError> {
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

    pub(super) fn load(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let order = order(opcode, OrderSemantics::Weak, Scope::Device);
        // `.cv` asks for memory anew each time, as loops do that wait.
        let is_anew = order.semantics != OrderSemantics::Weak || opcode.has("cv");
        let (space, count, policy) = self.memory_modifiers(opcode);
        let Some(ty) = Self::memory_type(opcode) else { return Ok(false) };
        self.count(operands, if policy { 3..=3 } else { 2..=2 })?;
        let mut access = self.access(operands[1], space, ty.size() as u32 * count as u32)?;
        access.order = order;
        if is_anew {
            self.emit_poll(Some(access));
        }
        let mut d = Vec::with_capacity(count);
        let mut register_bits = None;
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
            d.push(match register {
                Some(register) => {
                    let bits = register.ty.width();
                    if *register_bits.get_or_insert(bits) != bits {
                        return Err(
                            self.malformed(format!("the registers of `{}` are of different widths", operands[0]))
                        );
                    }
                    register.slot
                }
                None => self.fresh(width_of(ty)),
            });
        }
        let memory = MemoryWidth::of_bits(ty.width());
        let register_bits = register_bits.unwrap_or(ty.width());
        match pure::extend(ty, register_bits).filter(|_| register_bits > 32) {
            // Words, which become doubles in steps of their own: few loads are such.
            Some(extend) => {
                let words: Vec<Slot> = d.iter().map(|_| self.fresh(Width::Word)).collect();
                let load = Load { access, memory, extension: Extension::ZEROS, d: words.clone().into() };
                self.emit(Op::Load(Box::new(load)));
                let extend = if ty.width() == 32 { extend.linear(Linear::Extension) } else { extend };
                // An element `_` is a word already.
                let doubles = d.into_iter().zip(words).filter(|(d, _)| d.register_width() == Some(Width::Double));
                for (i, (d, word)) in doubles.enumerate() {
                    self.compute(&extend, &[d], &[word]);
                    if i > 0 {
                        self.mark_part();
                    }
                }
            }
            None => {
                let load = Load { access, memory, extension: extension(ty, register_bits), d: d.into() };
                self.emit(Op::Load(Box::new(load)));
            }
        }
        Ok(true)
    }

    pub(super) fn store(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        if opcode.has("async") || opcode.has("bulk") {
            return Ok(false);
        }
        let order = order(opcode, OrderSemantics::Weak, Scope::Device);
        let (space, count, policy) = self.memory_modifiers(opcode);
        let Some(ty) = Self::memory_type(opcode) else { return Ok(false) };
        self.count(operands, if policy { 3..=3 } else { 2..=2 })?;
        let mut access = self.access(operands[0], space, ty.size() as u32 * count as u32)?;
        access.order = order;
        let mut sources = Vec::with_capacity(count);
        for text in self.elements(operands[1], count)? {
            if ty == Scalar::B128 {
                sources.extend(self.wide_register(text)?);
            } else {
                sources.push(self.wider_source(text, ty)?);
            }
        }
        let memory = MemoryWidth::of_bits(ty.width());
        self.emit(Op::Store(Box::new(Store { access, memory, sources: sources.into() })));
        Ok(true)
    }

    pub(super) fn atomic(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let returns = opcode.name == "atom";
        let order = order(opcode, OrderSemantics::Relaxed, Scope::Device);
        let (space, count, policy) = self.memory_modifiers(opcode);
        let name = opcode.take_of(&["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"]);
        let rounded = opcode.take("rn");
        let packed = opcode.take_of(&["f16x2", "bf16x2", "bf16"]);
        let (Some(name), Some(ty)) = (name, packed.map_or_else(|| opcode.take_type(), |_| Some(Scalar::B32))) else {
            return Ok(false);
        };
        let ty = if packed == Some("bf16") { Scalar::B16 } else { ty };
        let type_name = packed.unwrap_or(ty.name());
        // A variable tells the space where the instruction does not.
        let first = usize::from(returns);
        let named = operands.get(first).and_then(|text| match Operand::parse(text) {
            Some(Operand::Memory(name, _) | Operand::Element(name, ..)) => self.declaration(name),
            _ => None,
        });
        let is_shared = space == Space::Shared || named.is_some_and(|variable| variable.space == Declared::Shared);
        let kind = match name {
            "exch" => Some(AtomicKind::Exchange),
            "cas" => Some(AtomicKind::CompareAndSwap),
            // In global memory sums of single precision flush subnormals, in shared memory they do not (manual, "atom").
            "add" if ty == Scalar::F32 && !is_shared => match (fold(name, type_name), fold("add.ftz", type_name)) {
                (Some(shared), Some(global)) if space == Space::Generic => {
                    Some(AtomicKind::FoldByPlace { shared, global })
                }
                (_, global) => global.map(AtomicKind::Fold),
            },
            _ => fold(name, type_name).map(AtomicKind::Fold),
        };
        let wide = ty == Scalar::B128;
        let Some(kind) = kind.filter(|_| ty.bits().is_some_and(|bits| bits >= 16)) else { return Ok(false) };
        let floats = matches!(type_name, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f64");
        if (rounded && !floats) || (wide && !matches!(name, "exch" | "cas")) || (count > 1 && returns && !floats) {
            return Ok(false);
        }
        let values = if name == "cas" { 2 } else { 1 };
        let expected = first + 1 + values + usize::from(policy);
        self.count(operands, expected..=expected)?;
        let mut at = self.access(operands[first], space, ty.size() as u32)?;
        at.order = order;
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
            if returns {
                self.emit_poll(Some(access));
            }
            let atomic = Atomic { access, kind, width: width_of(ty), d, sources, mbarrier: None };
            let step = self.emit(Op::Atomic(Box::new(atomic)));
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
    pub(super) fn async_copy(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        opcode.take("async");
        let fence = match opcode.take_of(&["commit_group", "wait_group", "wait_all"]) {
            Some("commit_group") => Some(Fence::CommitGroup),
            Some("wait_all") => Some(Fence::WaitGroup { pending: 0, all: true }),
            Some(_) => {
                // A number that is not an immediate is none that ptxas takes.
                let pending = match operands.first().and_then(|text| Operand::parse(text)) {
                    Some(Operand::Integer(pending)) => u32::try_from(pending).unwrap_or(u32::MAX),
                    _ => 0,
                };
                Some(Fence::WaitGroup { pending, all: false })
            }
            None => None,
        };
        if let Some(fence) = fence {
            self.emit(Op::Fence(fence));
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
        self.emit(Op::AsyncCopy(Box::new(AsyncCopy { from, to, source_bytes })));
        Ok(true)
    }

    fn is_predicate(&mut self, text: &str) -> bool {
        self.lookup(text.trim_start_matches('!')).is_some_and(|register| register.ty == Scalar::Pred)
    }

    pub(super) fn cvta(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let to = opcode.take("to");
        let Some(space) = opcode.take_if(Space::parse) else { return Ok(false) };
        let Some(ty) = opcode.take_of(&["u32", "u64"]) else { return Ok(false) };
        self.count(operands, 2..=2)?;
        let (ty, base) = match ty {
            "u64" => (Scalar::B64, space.base()),
            _ => (Scalar::B32, space.short_base()),
        };
        let width = width_of(ty);
        let d = self.destination(operands[0], ty)?;
        let a = self.source(operands[1], ty)?;
        if base == 0 {
            self.copy_register(d, a, width);
            return Ok(true);
        }
        // Generic addresses of these spaces in 32 bits are short ones.
        self.builder.kernel.short |= width == Width::Word;
        let base = if to { base.wrapping_neg() } else { base };
        let base = self.builder.constant(base & mask(ty.width()), width);
        let add = match width {
            Width::Double => binary(|a: u64, b: u64| a.wrapping_add(b)),
            _ => binary(|a: u32, b: u32| a.wrapping_add(b)),
        };
        self.compute(&add.linear(Linear::Sum), &[d], &[a, base]);
        Ok(true)
    }

    /// `alloca`, `stacksave`, `stackrestore`.
    pub(super) fn stack_change(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let ty = match opcode.take_of(&["u32", "u64"]) {
            Some("u32") => Scalar::B32,
            Some(_) => Scalar::B64,
            None => return Ok(false),
        };
        let width = width_of(ty);
        let change = match opcode.name {
            "alloca" => {
                self.count(operands, 2..=3)?;
                let align = match operands.get(2).map(|text| (text, Operand::parse(text))) {
                    None => ALLOCA_ALIGN,
                    Some((_, Some(Operand::Integer(align))))
                        if align.is_power_of_two() && align <= MAX_ALLOCA_ALIGN =>
                    {
                        align as u32
                    }
                    Some((text, _)) => {
                        let message = format!("`{text}` is no alignment: it is a power of two, at most 2^23");
                        return Err(self.malformed(message));
                    }
                };
                let bytes = self.source(operands[1], ty)?;
                StackChange::Grow { d: self.destination(operands[0], ty)?, bytes, width, align }
            }
            "stacksave" => {
                self.count(operands, 1..=1)?;
                StackChange::Save { d: self.destination(operands[0], ty)?, width }
            }
            _ => {
                self.count(operands, 1..=1)?;
                StackChange::Restore { saved: self.source(operands[0], ty)?, width }
            }
        };
        self.emit(Op::Stack(Box::new(change)));
        Ok(true)
    }

    pub(super) fn isspacep(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        let Some(space) = opcode.take_if(Space::parse) else { return Ok(false) };
        self.count(operands, 2..=2)?;
        let d = self.destination(operands[0], Scalar::Pred)?;
        // Every address that is in none of the windows is global; constants are there as well.
        let window = (space.base() >> REGION_BITS) as u32;
        let short = self.lookup(operands[1]).is_some_and(|register| register.ty.width() == 32);
        if short {
            self.builder.kernel.short = true;
            let a = self.source(operands[1], Scalar::B32)?;
            let window = self.builder.constant(u64::from(window), Width::Word);
            let within = |a: u32, window: u32| {
                let found = a >> SHORT_BITS;
                found == window || window == 0 && !matches!(found, 1..=3)
            };
            self.compute(&binary(within), &[d], &[a, window]);
            return Ok(true);
        }
        let a = self.source(operands[1], Scalar::B64)?;
        let compute = match space {
            Space::Global | Space::Const | Space::Generic => unary(|a: u64| !matches!(a >> REGION_BITS, 1..=3)),
            Space::Shared => unary(|a: u64| a >> REGION_BITS == 1),
            Space::Local => unary(|a: u64| a >> REGION_BITS == 2),
            Space::Param => unary(|a: u64| a >> REGION_BITS == 3),
        };
        self.compute(&compute, &[d], &[a]);
        Ok(true)
    }
}

/// The order that an opcode's modifiers ask for. Without them it is that of `semantics`, and the scope of `scope`.
pub(super) fn order(opcode: &Opcode<'_>, semantics: OrderSemantics, scope: Scope) -> Order {
    if opcode.has("volatile") || opcode.has("mmio") {
        return Order { semantics: OrderSemantics::Relaxed, scope: Scope::Device };
    }
    let named = [
        ("weak", OrderSemantics::Weak),
        ("relaxed", OrderSemantics::Relaxed),
        ("acquire", OrderSemantics::Acquire),
        ("release", OrderSemantics::Release),
        ("acq_rel", OrderSemantics::AcquireRelease),
    ];
    let semantics = named.iter().find(|(name, _)| opcode.has(name)).map_or(semantics, |(_, semantics)| *semantics);
    Order { semantics, scope: named_scope(opcode).unwrap_or(scope) }
}

/// The scope that an opcode's modifiers name.
pub(super) fn named_scope(opcode: &Opcode<'_>) -> Option<Scope> {
    if opcode.has("cta") || opcode.has("cluster") {
        Some(Scope::Block)
    } else if opcode.has("gpu") || opcode.has("sys") || opcode.has("gl") {
        Some(Scope::Device)
    } else {
        None
    }
}

/// What fills the word of a register of `register` bits when a narrower type is loaded.
fn extension(ty: Scalar, register: u32) -> Extension {
    let is_extended = ty.is_signed() && ty.width() < register.min(32);
    Extension { sign: if is_extended { 1 << (ty.width() - 1) } else { 0 }, mask: mask(register.min(32)) as u32 }
}
