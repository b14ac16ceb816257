//! One function: its statements to steps.

use std::ops::Range;
use std::sync::Arc;

use vop_ptx::module::{
    FoundRegister, Function, FunctionKind, Scalar, ScopeId, Space as Declared, StatementKind, Variable as Declaration,
    lex,
};

use super::allocate::allocate;
use super::operand::Operand;
use super::{Builder, HashMap, MAX_LOCAL, RESERVED_SHARED, numbered_bytes, numbered_offset};
use crate::code::{Access, ComputeEither, Formal, GRANULE, Guard, Linear, Op, Pc, Role, Step};
use crate::column::{Area, Operands, Slot, Width};
use crate::error::{RunError, RunErrorKind};
use crate::lanes::{Compute, binary, unary};
use crate::memory::Space;
use crate::pure;
use crate::special::{Named, Special};
use crate::types::{Kind, mask};

/// The numbers of registers that are looked up in tables are less than this.
const MANY: usize = 1 << 17;

/// Steps without a label after which the engine looks at limits all the same.
const STRETCH: usize = 512;

/// A register before it has a column: a slot whose offset is the register's number, and the second slot of a `.b128`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    pub(super) slot: Slot,
    pub(super) high: Option<Slot>,
    pub(super) ty: Scalar,
}

/// Where a variable stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    /// At an address of a state space that is known now.
    At(Space, u64),
    /// On the function's part of the stack.
    Stack(u64),
    /// At the start of dynamic shared memory.
    DynamicShared,
}

/// The state of decoding one function.
pub(super) struct Decoder<'b, 'p> {
    pub(super) builder: &'b mut Builder<'p>,
    function: &'p Function,
    /// The function's index among the module's, and among the kernel's.
    index: usize,
    dense: u32,
    by_register: HashMap<(ScopeId, usize, Option<u32>), Register>,
    /// Registers of counted declarations (`%r<100>`) by their numbers, where the numbers are small.
    by_number: HashMap<(ScopeId, usize), Vec<Option<Register>>>,
    /// The components of vectors.
    by_component: HashMap<(ScopeId, usize, Option<u32>, usize), Register>,
    /// The number of registers of each width.
    pub(super) counts: [u32; 3],
    carry: Option<Slot>,
    /// Offsets of parameters and of variables on the stack by where their names stand.
    offsets: HashMap<usize, u64>,
    stack: u64,
    start: Pc,
    /// Atomics of which only the old value depends on the order of blocks.
    ordered_results: Vec<Pc>,
    /// Branches by step, with the statements they go to.
    branches: Vec<(Pc, Vec<usize>)>,
    /// The statement that is being decoded.
    pub(super) scope: ScopeId,
    pub(super) span: Range<usize>,
    statement: u32,
    guard: Option<Guard>,
    counted: bool,
}

impl<'b, 'p> Decoder<'b, 'p> {
    pub(super) fn new(builder: &'b mut Builder<'p>, index: usize) -> Decoder<'b, 'p> {
        let function = &builder.module.functions()[index];
        let dense = builder.function(index);
        let start = builder.kernel.steps.len() as Pc;
        Decoder {
            builder,
            function,
            index,
            dense,
            by_register: HashMap::default(),
            by_number: HashMap::default(),
            by_component: HashMap::default(),
            counts: [0; 3],
            carry: None,
            offsets: HashMap::default(),
            stack: 0,
            start,
            ordered_results: Vec::new(),
            branches: Vec::new(),
            scope: function.scope.unwrap_or(ScopeId::MODULE),
            span: function.header.clone(),
            statement: 0,
            guard: None,
            counted: false,
        }
    }

    pub(super) fn error(&self, kind: RunErrorKind, message: impl Into<String>) -> RunError {
        RunError::new(kind, message).at(self.builder.program.place(&self.span))
    }

    pub(super) fn malformed(&self, message: impl Into<String>) -> RunError {
        self.error(RunErrorKind::Malformed, message)
    }

    pub(super) fn unsupported(&self, message: impl Into<String>) -> RunError {
        self.error(RunErrorKind::Unsupported, message)
    }

    /// The error for something that is legal, and that this construct of PTX or CUDA makes unsupported.
    pub(super) fn unsupported_construct(&mut self, what: &str, construct: &'static str) -> RunError {
        self.builder.construct = Some(construct);
        self.unsupported(format!("{what} is not supported by vop run: {construct} are not"))
    }

    pub(super) fn kind(&self) -> FunctionKind {
        self.function.kind
    }

    pub(super) fn decode(mut self) {
        if let Err(error) = self.decode_body() {
            self.builder.report(error);
        }
    }

    fn decode_body(&mut self) -> Result<(), RunError> {
        let (parameters, results) = self.lay_out()?;
        let module = self.builder.module;
        let body = self.function.body.clone().unwrap_or_default();
        // Where each statement of the body starts among the steps.
        let mut starts = Vec::with_capacity(body.len());
        let mut look = self.builder.kernel.steps.len() + STRETCH;
        for index in body.clone() {
            let statement = &module.statements()[index];
            if self.builder.kernel.steps.len() >= look {
                (self.guard, self.counted) = (None, true);
                self.emit(Op::Join);
                look = self.builder.kernel.steps.len() + STRETCH;
            }
            starts.push(self.builder.kernel.steps.len() as Pc);
            (self.scope, self.span) = (statement.scope, statement.span.clone());
            match &statement.kind {
                StatementKind::Instruction { guard, opcode, operands } => {
                    self.begin(index);
                    if let Err(error) = self.instruction(guard.as_ref(), opcode, operands) {
                        self.builder.report(error);
                    }
                }
                StatementKind::Label { .. } => {
                    self.begin(index);
                    self.counted = true;
                    self.emit(Op::Join);
                }
                StatementKind::Other => {
                    let error = self.malformed("this statement is not understood");
                    self.builder.report(error);
                }
                _ => {}
            }
        }
        self.span = self.function.header.clone();
        if body.is_empty() {
            // Errors of steps need a statement to point at.
            self.begin(self.function.statement);
        }
        (self.guard, self.counted) = (None, true);
        self.emit(Op::Return);
        for (step, targets) in std::mem::take(&mut self.branches) {
            let mut found = Vec::new();
            for target in targets {
                match target.checked_sub(body.start).and_then(|i| starts.get(i)) {
                    Some(start) => found.push(*start),
                    None => {
                        let error = self.malformed("a branch leaves the function");
                        self.builder.report(error);
                        found.push(self.start);
                    }
                }
            }
            match &mut self.builder.kernel.steps[step as usize].op {
                Op::Branch(target) => *target = found[0],
                Op::BranchIndexed { targets, .. } => *targets = found.into(),
                _ => {}
            }
        }
        if !self.builder.errors.is_empty() {
            return Ok(());
        }
        self.mark_ordered_results();
        let code = &mut self.builder.kernel.functions[self.dense as usize];
        (code.start, code.parameters, code.results) = (self.start, parameters, results);
        code.stack = self.stack.next_multiple_of(GRANULE as u64) as u32;
        let kernel = &mut self.builder.kernel;
        let code = &mut kernel.functions[self.dense as usize];
        super::active::mark(&mut kernel.steps[self.start as usize..], code);
        let (ranks, entry) = allocate(&mut kernel.steps[self.start as usize..], self.start, code, self.counts);
        kernel.ranks.extend(ranks);
        kernel.entry = kernel.entry.take().or(entry.map(Arc::new));
        Ok(())
    }

    /// Lays out every parameter and every variable of the function.
    fn lay_out(&mut self) -> Result<(Vec<Formal>, Vec<Formal>), RunError> {
        let (module, function) = (self.builder.module, self.function);
        let is_entry = function.kind == FunctionKind::Entry;
        let mut formals = [Vec::new(), Vec::new()];
        if is_entry {
            self.offsets = self.builder.lay_out_parameters(function)?;
            self.lay_out_locals_of_module();
        } else {
            for (formals, list) in formals.iter_mut().zip([&function.parameters, &function.results]) {
                for variable in list {
                    self.formal(variable, formals)?;
                }
            }
        }
        let index = self.index;
        // Its scopes follow one another.
        let first = function.scope.map_or(usize::MAX, ScopeId::index);
        let own = module.scopes().iter().skip(first).take_while(|scope| scope.function == Some(index));
        for variable in own.flat_map(|scope| scope.variables()) {
            match variable.space {
                Declared::Local | Declared::Param => {
                    self.on_stack(variable)?;
                }
                Declared::Shared => {
                    self.builder.shared_offset(variable)?;
                }
                _ => {}
            }
        }
        if self.stack > MAX_LOCAL {
            return Err(
                self.unsupported(format!("{} bytes of local memory a thread: {MAX_LOCAL} are supported", self.stack))
            );
        }
        let [parameters, results] = formals;
        Ok((parameters, results))
    }

    /// Local variables of the module, which each thread has: at the start of its stack, where every function finds them.
    fn lay_out_locals_of_module(&mut self) {
        let module = self.builder.module;
        let variables = module.scope(ScopeId::MODULE).variables().iter();
        for variable in variables.filter(|variable| variable.space == Declared::Local) {
            let before = self.stack;
            if let Ok(offset) = self.on_stack(variable) {
                if self.stack <= MAX_LOCAL {
                    self.builder.locals.insert(variable.name.start, offset);
                } else {
                    self.stack = before;
                }
            }
        }
    }

    fn formal(&mut self, variable: &Declaration, formals: &mut Vec<Formal>) -> Result<(), RunError> {
        if variable.space != Declared::Reg {
            let offset = self.on_stack(variable)?;
            let bytes = variable.bytes().unwrap_or(0) as u32;
            formals.push(Formal::Stack { offset: offset as u32, bytes });
            return Ok(());
        }
        let name = self.builder.module.slice(&variable.name);
        let scope = self.scope;
        // The body begins with those formal parameters that are registers.
        let at = self.builder.module.scope(scope).span.end;
        let found = self.builder.module.find_register(scope, name, at);
        for component in 0..usize::from(variable.ty.vector) {
            match found.and_then(|found| self.component_of(&found, component)) {
                Some(Register { slot, ty, high: None }) => formals.push(Formal::Register(slot, width_of(ty))),
                _ => {
                    return Err(
                        self.unsupported(format!("parameter `{name}` is of a kind that vop run does not support"))
                    );
                }
            }
        }
        Ok(())
    }

    fn on_stack(&mut self, variable: &Declaration) -> Result<u64, RunError> {
        let align = Some(variable.alignment()).filter(|align| align.is_power_of_two() && *align <= 4096);
        // `.param .b8 x[]` of a variable number of arguments has no size: nothing of it can be reached.
        let bytes = match variable.bytes() {
            None if variable.space == Declared::Param && variable.dimensions == [None] => Some(0),
            bytes => numbered_bytes(variable, bytes, align.unwrap_or(1)),
        };
        let (Some(align), Some(bytes)) = (align, bytes) else {
            let name = self.builder.module.slice(&variable.name);
            return Err(
                self.unsupported(format!("variable `{name}` has a size or alignment that vop run does not support"))
            );
        };
        let offset = self.stack.next_multiple_of(align);
        self.stack = offset + bytes;
        self.offsets.insert(variable.name.start, offset);
        Ok(offset)
    }

    /// A statement starts.
    fn begin(&mut self, index: usize) {
        self.statement = self.builder.kernel.statements.len() as u32;
        self.builder.kernel.statements.push(index as u32);
        (self.guard, self.counted) = (None, false);
    }

    fn instruction(
        &mut self,
        guard: Option<&Range<usize>>,
        opcode: &Range<usize>,
        operands: &Range<usize>,
    ) -> Result<(), RunError> {
        self.guard = guard.map(|range| self.guard_of(range)).transpose()?;
        self.decode_instruction(opcode, operands)
    }

    fn guard_of(&mut self, range: &Range<usize>) -> Result<Guard, RunError> {
        let text = lex::without_trivia(self.builder.module.slice(range));
        let name = text.trim_start_matches('@');
        let (when, name) = name.strip_prefix('!').map_or((true, name), |name| (false, name));
        Ok(Guard { slot: self.register(name, Scalar::Pred)?, when })
    }

    /// A step of the statement.
    pub(super) fn emit(&mut self, op: Op) -> Pc {
        let step = Step {
            op,
            guard: self.guard,
            statement: self.statement,
            counts: !std::mem::replace(&mut self.counted, true),
            is_part: false,
        };
        self.builder.kernel.steps.push(step);
        self.builder.kernel.steps.len() as Pc - 1
    }

    /// A step that is taken whatever the guard says: where paths meet.
    pub(super) fn emit_join(&mut self) {
        let guard = self.guard.take();
        self.emit(Op::Join);
        self.guard = guard;
    }

    /// The step that follows reads memory as a loop does that waits for others; `None` is a pause in such a loop.
    pub(super) fn emit_poll(&mut self, access: Option<Access>) {
        if access.is_some_and(|access| matches!(access.space, Space::Local | Space::Param | Space::Const)) {
            return;
        }
        // It is the step behind that counts.
        let counted = std::mem::replace(&mut self.counted, access.is_some());
        self.emit(Op::Poll(access.map(Box::new)));
        self.counted = counted || access.is_none();
    }

    pub(super) fn mark_part(&mut self) {
        if let Some(step) = self.builder.kernel.steps.last_mut() {
            step.is_part = true;
        }
    }

    /// The branch at a step goes to these statements.
    pub(super) fn branch_to(&mut self, step: Pc, statements: Vec<usize>) {
        self.branches.push((step, statements));
    }

    /// Statements whose atomics make the result depend on the order of blocks.
    pub(super) fn mark_ordered(&mut self) {
        self.builder.kernel.ordered.push(self.statement);
    }

    /// The step depends on the order of blocks if anything reads its result. Compilers leave `atom` where `red` would do.
    pub(super) fn mark_ordered_result(&mut self, step: Pc) {
        self.ordered_results.push(step);
    }

    fn mark_ordered_results(&mut self) {
        let steps = &mut self.builder.kernel.steps;
        let mut read = std::collections::HashSet::new();
        if !self.ordered_results.is_empty() {
            for step in &mut steps[self.start as usize..] {
                read.extend(step.guard.map(|guard| guard.slot));
                step.op.slots(&mut |slot, role| {
                    if role == Role::Source {
                        read.insert(*slot);
                    }
                });
            }
        }
        for step in &self.ordered_results {
            let step = &steps[*step as usize];
            if step.op.results().iter().any(|(slot, _)| read.contains(slot)) {
                self.builder.kernel.ordered.push(step.statement);
            }
        }
    }

    /// The computation's step.
    pub(super) fn compute(&mut self, compute: &Compute, results: &[Slot], sources: &[Slot]) {
        let operands = self.operands(compute, results, sources);
        let run = compute.at(self.builder.level);
        self.emit(Op::Compute { run, operands, linear: compute.linear, known: compute.known });
    }

    /// A step that computes by the manual, or what ptxas's code does.
    pub(super) fn compute_either(
        &mut self,
        compute: &Compute,
        by_ptxas: Option<&Compute>,
        results: &[Slot],
        sources: &[Slot],
    ) {
        let Some(by_ptxas) = by_ptxas else { return self.compute(compute, results, sources) };
        let operands = self.operands(compute, results, sources);
        debug_assert_eq!((compute.sources, compute.results), (by_ptxas.sources, by_ptxas.results));
        let [manual, ptxas] = [compute, by_ptxas].map(|compute| compute.at(self.builder.level));
        self.emit(Op::ComputeEither(Box::new(ComputeEither { manual, ptxas, operands })));
    }

    fn operands(&mut self, compute: &Compute, results: &[Slot], sources: &[Slot]) -> Operands {
        let none = self.none();
        let pick = |list: &[Slot], i: usize| list.get(i).copied().unwrap_or(none);
        debug_assert!(compute.sources.iter().filter(|w| **w != Width::None).count() <= sources.len());
        Operands {
            sources: std::array::from_fn(|i| pick(sources, i)),
            results: std::array::from_fn(|i| pick(results, i)),
        }
    }

    /// The slot that stands for an operand that is not there.
    pub(super) fn none(&mut self) -> Slot {
        self.builder.constant(0, Width::Double)
    }

    /// A register that the program does not name.
    pub(super) fn fresh(&mut self, width: Width) -> Slot {
        let (area, index) = match width {
            Width::Predicate => (Area::Predicates, 0),
            Width::Double => (Area::Doubles, 2),
            _ => (Area::Words, 1),
        };
        let slot = Slot::new(area, self.counts[index]);
        self.counts[index] += 1;
        slot
    }

    /// The condition code's carry flag.
    pub(super) fn carry(&mut self) -> Slot {
        match self.carry {
            Some(slot) => slot,
            None => {
                let slot = self.fresh(Width::Predicate);
                *self.carry.insert(slot)
            }
        }
    }

    fn register_of(&mut self, key: (ScopeId, usize, Option<u32>), ty: Scalar) -> Option<Register> {
        let (scope, index, number) = key;
        // Those of `%r<1000>` by their numbers, unless somebody declares a billion and uses the last.
        let number = number.map(|number| number as usize).filter(|number| *number < MANY);
        let known = match number {
            Some(number) => self.by_number.get(&(scope, index)).and_then(|all| *all.get(number)?),
            None => self.by_register.get(&key).copied(),
        };
        if known.is_some() {
            return known;
        }
        let register = self.new_register(ty)?;
        match number {
            Some(number) => {
                let all = self.by_number.entry((scope, index)).or_default();
                all.resize(all.len().max(number + 1), None);
                all[number] = Some(register);
            }
            None => {
                self.by_register.insert(key, register);
            }
        }
        Some(register)
    }

    fn new_register(&mut self, ty: Scalar) -> Option<Register> {
        let (slot, high) = match ty {
            Scalar::B128 => (self.fresh(Width::Double), Some(self.fresh(Width::Double))),
            _ if ty.bits().is_none() => return None,
            _ => (self.fresh(width_of(ty)), None),
        };
        Some(Register { slot, high, ty })
    }

    /// A register, or a component of a vector, by its name.
    pub(super) fn lookup(&mut self, name: &str) -> Option<Register> {
        match self.builder.module.find_register(self.scope, name, self.span.start) {
            Some(found) => self.found(&found),
            None if self.builder.program.vectors => self.component(name),
            None => None,
        }
    }

    fn found(&mut self, found: &FoundRegister) -> Option<Register> {
        if found.ty.vector != 1 {
            return None;
        }
        self.register_of((found.scope, found.index, found.number), found.ty.scalar)
    }

    /// `v.x`, `v.r`, …
    fn component(&mut self, name: &str) -> Option<Register> {
        let (vector, component) = name.rsplit_once('.')?;
        let index = ["xyzw", "rgba"].iter().find_map(|names| names.find(component).filter(|_| component.len() == 1))?;
        let found = self.builder.module.find_register(self.scope, vector, self.span.start)?;
        if found.ty.vector > 1 { self.component_of(&found, index) } else { None }
    }

    /// A component of a vector, or the one register where it is none.
    fn component_of(&mut self, found: &FoundRegister, component: usize) -> Option<Register> {
        if found.ty.vector == 1 {
            return self.found(found);
        }
        if component >= usize::from(found.ty.vector) {
            return None;
        }
        let key = (found.scope, found.index, found.number, component);
        if let Some(register) = self.by_component.get(&key) {
            return Some(*register);
        }
        let register = self.new_register(found.ty.scalar)?;
        self.by_component.insert(key, register);
        Some(register)
    }

    /// The components of the operands that name whole vectors: `v` is `{v.x, v.y}`. `None` where no operand does.
    pub(super) fn with_components(&self, operands: &[&str], specials: bool) -> Option<Vec<String>> {
        let components = |text: &str| {
            let vector = match self.builder.module.find_register(self.scope, text, self.span.start) {
                Some(found) => usize::from(found.ty.vector),
                None if specials && Special::is_vector(text) => 4,
                None => 1,
            };
            (vector > 1).then(|| {
                let names: Vec<String> = "xyzw".chars().take(vector).map(|name| format!("{text}.{name}")).collect();
                names.join(", ")
            })
        };
        let mut any = false;
        let mut all = Vec::with_capacity(operands.len());
        for text in operands {
            if let Some(names) = components(text) {
                all.push(format!("{{{names}}}"));
                any = true;
            } else if let Some(inside) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
                // Arguments and results of a call.
                let each = lex::split_operands(inside).map(|range| &inside[range]);
                let each: Vec<String> = each
                    .map(|text| components(text).inspect(|_| any = true).unwrap_or_else(|| text.to_owned()))
                    .collect();
                all.push(format!("({})", each.join(", ")));
            } else {
                all.push((*text).to_owned());
            }
        }
        any.then_some(all)
    }

    pub(super) fn undeclared(&self, name: &str) -> RunError {
        if name.starts_with('%') && name.contains('.') {
            return self.malformed(format!("`{name}` is no special register and no part of a declared vector"));
        }
        self.malformed(format!("`{name}` is not declared here"))
    }

    /// The error for an operand of no known shape, which may well be legal.
    pub(super) fn odd_operand(&self, text: &str) -> RunError {
        self.unsupported(format!("an operand of the form `{text}` is not supported by vop run"))
    }

    /// The slot of a register whose width must be the type's.
    pub(super) fn register(&mut self, name: &str, ty: Scalar) -> Result<Slot, RunError> {
        let register = self.lookup(name).ok_or_else(|| self.undeclared(name))?;
        self.slot_of(&register, name, ty)
    }

    fn slot_of(&self, register: &Register, name: &str, ty: Scalar) -> Result<Slot, RunError> {
        if register.ty.width() != ty.width() || register.high.is_some() {
            return Err(self.malformed(format!(
                "register `{name}` is declared .{}, the instruction takes .{}",
                register.ty.name(),
                ty.name()
            )));
        }
        Ok(register.slot)
    }

    /// A register that may be wider than the type.
    pub(super) fn wider_register(&mut self, name: &str, ty: Scalar) -> Result<Register, RunError> {
        let register = self.lookup(name).ok_or_else(|| self.undeclared(name))?;
        let declared = register.ty;
        if declared.width() < ty.width() || (declared == Scalar::Pred) != (ty == Scalar::Pred) || declared.width() > 64
        {
            return Err(self.malformed(format!(
                "register `{name}` is declared .{}, too narrow for .{}",
                declared.name(),
                ty.name()
            )));
        }
        Ok(register)
    }

    /// A special register, read at a width.
    pub(super) fn special(&mut self, name: &str, width: Width) -> Result<Option<Slot>, RunError> {
        let Some(bare) = name.strip_prefix('%') else { return Ok(None) };
        let special = match Special::named(bare) {
            None => return Ok(None),
            Some(Named::Special(special)) => special,
            Some(Named::ReservedShared { end }) => {
                let start = self.builder.reserved_shared();
                let offset = if end { start + RESERVED_SHARED } else { start };
                return Ok(Some(self.builder.constant(offset, width)));
            }
            Some(Named::Clock { high }) => {
                let d = self.fresh(width);
                self.emit(Op::Clock { d, width, high });
                return Ok(Some(d));
            }
        };
        let slot = self.builder.special(special, width);
        if special.is_of_thread() && width == Width::Double {
            let d = self.fresh(width);
            self.compute(&unary(|x: u32| u64::from(x)), &[d], &[slot]);
            return Ok(Some(d));
        }
        Ok(Some(slot))
    }

    /// The declaration of a variable or parameter.
    pub(super) fn declaration(&self, name: &str) -> Option<&'p Declaration> {
        self.builder.module.variable(self.scope, name, self.span.start)
    }

    /// Where a variable or parameter stands; an address of global memory in 32 bits if it is to be `short`.
    pub(super) fn variable(&mut self, name: &str, short: bool) -> Result<Option<Variable>, RunError> {
        let Some(variable) = self.declaration(name) else { return Ok(None) };
        let number = variable.count.and_then(|_| vop::register_number(name).1);
        let ahead = numbered_offset(variable, number);
        let is_parameter = self.function.kind == FunctionKind::Entry
            && self.function.parameters.iter().any(|parameter| parameter.name == variable.name);
        let start = variable.name.start;
        let local = self.builder.locals.get(&start).copied();
        Ok(Some(match variable.space {
            Declared::Shared => match self.builder.shared_offset(variable)? {
                Some(offset) => Variable::At(Space::Shared, offset + ahead),
                None => Variable::DynamicShared,
            },
            Declared::Local | Declared::Param => match (self.offsets.get(&start), local) {
                (_, Some(offset)) => Variable::At(Space::Local, offset + ahead),
                (Some(offset), _) if is_parameter => Variable::At(Space::Param, *offset),
                (Some(offset), _) => Variable::Stack(*offset + ahead),
                (None, None) => {
                    return Err(self.unsupported(format!(
                        "variable `{name}` of the .{} space is declared where, or has a size that, vop run does not support",
                        variable.space.name()
                    )));
                }
            },
            Declared::Const => Variable::At(Space::Const, self.builder.program.address(variable, number, short)?),
            _ => Variable::At(Space::Global, self.builder.program.address(variable, number, short)?),
        }))
    }

    /// The bits of a numeric operand for a type, if it has that kind.
    fn constant_bits(&self, constant: &Operand<'_>, ty: Scalar) -> Option<u64> {
        use Operand::*;
        Some(match (constant, ty) {
            (Integer(value), Scalar::Pred) => u64::from(*value != 0),
            (Integer(value), _) if ty.is_integer() || matches!(ty, Scalar::F16 | Scalar::F16x2) => {
                value & mask(ty.width())
            }
            (Single(bits), Scalar::F32 | Scalar::B32 | Scalar::U32 | Scalar::S32) => u64::from(*bits),
            (Single(bits), Scalar::F64) => f64::from(f32::from_bits(*bits)).to_bits(),
            (Double(value), Scalar::F64 | Scalar::B64 | Scalar::U64 | Scalar::S64) => value.to_bits(),
            (Double(value), Scalar::F32) => u64::from((*value as f32).to_bits()),
            _ => return None,
        })
    }

    /// The slot of a source operand of this type.
    pub(super) fn source(&mut self, text: &str, ty: Scalar) -> Result<Slot, RunError> {
        // Most are registers.
        if let Some(found) = self.builder.module.find_register(self.scope, text, self.span.start) {
            let register = self.found(&found).ok_or_else(|| self.undeclared(text))?;
            return self.slot_of(&register, text, ty);
        }
        if self.builder.program.vectors
            && let Some(register) = self.component(text)
        {
            return self.slot_of(&register, text, ty);
        }
        let width = width_of(ty);
        let bad = |decoder: &Self| decoder.malformed(format!("`{text}` is no operand of type .{}", ty.name()));
        match Operand::parse(text).ok_or_else(|| self.odd_operand(text))? {
            Operand::Name(name) => {
                if name == "WARP_SZ" {
                    return Ok(self.builder.constant(32, width));
                }
                if let Some(slot) = self.special(name, width)? {
                    return Ok(slot);
                }
                self.address_of(name, 0, ty)?.ok_or_else(|| self.undeclared(name))
            }
            Operand::Element(name, register, index) => {
                let size = self.declaration(name).map_or(1, |variable| variable.ty.scalar.size() as u64);
                let start = self.address_of(name, index.wrapping_mul(size), ty)?.ok_or_else(|| bad(self))?;
                let Some(register) = register else { return Ok(start) };
                let (ahead, of_index) = self.scaled(register, size)?;
                let ahead = self.as_wide(ahead, of_index, width);
                Ok(self.sum(start, ahead, width))
            }
            // ptxas adds a constant to a register where a number is taken.
            Operand::Sum(name, offset) if ty.is_integer() && self.lookup(name).is_some() => {
                let register = self.register(name, ty)?;
                let offset = self.builder.constant(offset & mask(ty.width()), width);
                let sum = self.sum(register, offset, width);
                Ok(self.in_width(sum, ty))
            }
            Operand::Sum(name, offset) => self.address_of(name, offset, ty)?.ok_or_else(|| bad(self)),
            Operand::Not(name) if ty == Scalar::Pred => {
                let p = self.register(name, ty)?;
                let d = self.fresh(width);
                self.compute(&unary(|p: bool| !p), &[d], &[p]);
                Ok(d)
            }
            constant @ (Operand::Integer(_) | Operand::Single(_) | Operand::Double(_)) => {
                let bits = self.constant_bits(&constant, ty).ok_or_else(|| bad(self))?;
                Ok(self.builder.constant(bits, width))
            }
            _ => Err(bad(self)),
        }
    }

    /// The address of a variable, parameter or function, plus an offset.
    fn address_of(&mut self, name: &str, offset: u64, ty: Scalar) -> Result<Option<Slot>, RunError> {
        if !matches!(ty.width(), 32 | 64) || ty.is_float() {
            return Ok(None);
        }
        let width = width_of(ty);
        let short = ty.width() == 32;
        let variable = match self.variable(name, short || self.builder.program.is_short())? {
            Some(variable) => variable,
            None => match self.builder.program.function_address(name, short) {
                Some(address) => Variable::At(Space::Generic, address),
                None => return Ok(None),
            },
        };
        Ok(Some(match variable {
            Variable::At(space, address) => {
                // What keeps an address of global memory in 32 bits passes it on so.
                self.builder.kernel.short |= short && space == Space::Global;
                self.builder.constant(address.wrapping_add(offset) & mask(ty.width()), width)
            }
            Variable::DynamicShared => {
                let start = self.builder.special(Special::DynamicShared, width);
                if offset == 0 {
                    start
                } else {
                    let offset = self.builder.constant(offset & mask(ty.width()), width);
                    self.sum(start, offset, width)
                }
            }
            Variable::Stack(at) => {
                let d = self.fresh(width);
                self.emit(Op::StackAddress { d, width, offset: at.wrapping_add(offset) });
                d
            }
        }))
    }

    /// A word or double in this width: extended by zeros, or its low word.
    pub(super) fn as_wide(&mut self, slot: Slot, from: Width, to: Width) -> Slot {
        let change = match (from, to) {
            (Width::Word, Width::Double) => unary(|x: u32| u64::from(x)).linear(Linear::Extension),
            (Width::Double, Width::Word) => pure::low_word(),
            _ => return slot,
        };
        let d = self.fresh(to);
        self.compute(&change, &[d], &[slot]);
        d
    }

    /// The bits of a type in its column, which are those of a word for narrow types.
    fn in_width(&mut self, slot: Slot, ty: Scalar) -> Slot {
        let change = match ty.width() {
            8 => unary(|x: u8| x),
            16 => unary(|x: u16| x),
            _ => return slot,
        };
        let d = self.fresh(width_of(ty));
        self.compute(&change, &[d], &[slot]);
        d
    }

    pub(super) fn sum(&mut self, a: Slot, b: Slot, width: Width) -> Slot {
        let d = self.fresh(width);
        let add = match width {
            Width::Double => binary(|a: u64, b: u64| a.wrapping_add(b)),
            _ => binary(|a: u32, b: u32| a.wrapping_add(b)),
        };
        self.compute(&add.linear(Linear::Sum), &[d], &[a, b]);
        d
    }

    /// The slot of a destination register; `_` stands for one that is never read.
    pub(super) fn destination(&mut self, text: &str, ty: Scalar) -> Result<Slot, RunError> {
        if text == "_" { Ok(self.fresh(width_of(ty))) } else { self.register(text, ty) }
    }

    /// A source whose register may be wider than the type, as a column of the type's width; immediates are of the type.
    pub(super) fn wider_source(&mut self, text: &str, ty: Scalar) -> Result<Slot, RunError> {
        if let Some(Operand::Name(name)) = Operand::parse(text)
            && self.lookup(name).is_some()
        {
            let register = self.wider_register(name, ty)?;
            if width_of(register.ty) == width_of(ty) {
                return Ok(register.slot);
            }
            let d = self.fresh(width_of(ty));
            self.compute(&pure::low_word(), &[d], &[register.slot]);
            return Ok(d);
        }
        self.source(text, ty)
    }

    /// The function of this name, its definition if there is one: its index in the module.
    pub(super) fn callee(&self, name: &str) -> Option<(usize, &'p Function)> {
        let index = *self.builder.program.functions.get(name)?;
        Some((index, &self.builder.module.functions()[index]))
    }
}

/// How wide the column of a register of this type is.
pub(super) fn width_of(ty: Scalar) -> Width {
    match ty {
        Scalar::Pred => Width::Predicate,
        _ if ty.width() > 32 => Width::Double,
        _ => Width::Word,
    }
}
