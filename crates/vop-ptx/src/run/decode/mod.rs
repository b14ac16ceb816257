//! From a module to kernels: variables get addresses, registers slots, statements operations.

mod initializer;
mod instruction;
pub(in crate::run) mod opcode;
mod operand;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::compute::Compute;
use super::error::{Place, RunError, RunErrorKind, RunErrors};
use super::kernel::{Guard, Kernel, Op, Parameter, Slot, Special, Step};
use super::memory::{Memory, Space, address_of};
use super::types::{Kind, mask};
use crate::module::{
    Function, FunctionKind, Linkage, Module, Scalar, ScopeId, Space as Declared, StatementKind, Variable, lex,
};

/// A module to run kernels of: its text read, its variables laid out.
#[derive(Clone, Debug)]
pub struct Program {
    module: Module,
    source: Arc<str>,
    /// The module's `.global` and `.const` variables by where their names stand, in the order of their addresses.
    variables: Vec<GlobalVariable>,
}

#[derive(Clone, Debug)]
struct GlobalVariable {
    name: Range<usize>,
    read_only: bool,
    /// The content at load, or why there is none; that matters only to a kernel that uses the variable.
    content: Result<Vec<u8>, RunError>,
}

/// Bytes that a module's variables may take together: a declaration that asks for more is an error, not an attempt.
const MAX_VARIABLES: u64 = 4 << 30;
/// Local memory of a thread that the architecture allows.
const MAX_LOCAL: usize = 512 * 1024;

impl Program {
    /// Reads PTX. Nothing is judged yet: [`Program::kernel`] reports what is wrong with an entry.
    pub fn read(ptx: &str) -> Program {
        let module = Module::parse(ptx);
        let mut program = Program { module, source: ptx.into(), variables: Vec::new() };
        program.variables = program.lay_out_variables();
        program
    }

    /// The module that was read.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The names of the entries that have a body, in order.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        let entries = self.module.functions().iter().filter(|f| f.kind == FunctionKind::Entry && f.body.is_some());
        entries.map(|function| self.module.slice(&function.name))
    }

    /// Fresh device memory that holds the module's variables with their initial values.
    pub fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        for variable in &self.variables {
            let bytes = variable.content.as_ref().map_or_else(|_| Vec::new(), Clone::clone);
            memory.push(self.module.slice(&variable.name), bytes, variable.read_only);
        }
        memory
    }

    /// Decodes an entry.
    pub fn kernel(&self, entry: &str) -> Result<Kernel, RunErrors> {
        let functions = self.module.functions().iter().enumerate();
        let mut found = functions.filter(|(_, f)| f.kind == FunctionKind::Entry && self.module.slice(&f.name) == entry);
        let Some((index, function)) = found.find(|(_, f)| f.body.is_some()) else {
            let entries: Vec<String> = self.entries().map(|name| format!("`{name}`")).collect();
            let help =
                if entries.is_empty() { "it has none".to_owned() } else { format!("it has {}", entries.join(", ")) };
            return Err(RunError::new(RunErrorKind::UnknownEntry, format!("the module has no entry `{entry}`"))
                .with_help(help)
                .into());
        };
        Decoder::new(self, index, function)?.decode()
    }

    fn place(&self, span: &Range<usize>) -> Place {
        Place::new(&self.source, span.clone())
    }

    /// The address of a module variable.
    fn address(&self, variable: &Variable) -> Result<u64, RunError> {
        match self.variables.iter().position(|v| v.name == variable.name) {
            Some(index) => self.variables[index].content.as_ref().map(|_| address_of(index)).map_err(Clone::clone),
            None => {
                let message = format!("variables in .{} are not supported by vop run", variable.space.name());
                Err(RunError::new(RunErrorKind::Unsupported, message).at(self.place(&variable.name)))
            }
        }
    }

    /// Every `.global` and `.const` variable, wherever it is declared: functions may have their own.
    fn lay_out_variables(&self) -> Vec<GlobalVariable> {
        let variables = || {
            let all = self.module.scopes().iter().flat_map(|scope| scope.variables());
            all.filter(|v| matches!(v.space, Declared::Global | Declared::Const))
        };
        // Addresses follow from the order alone, so an initialiser may name a variable that comes later.
        let addresses: HashMap<&str, u64> =
            variables().enumerate().map(|(i, v)| (self.module.slice(&v.name), address_of(i))).collect();
        let mut total = 0u64;
        variables()
            .map(|variable| GlobalVariable {
                name: variable.name.clone(),
                read_only: variable.space == Declared::Const,
                content: initializer::content(&self.module, variable, &addresses, &mut total)
                    .map_err(|error| error.at(self.place(&variable.name))),
            })
            .collect()
    }
}

/// Slot of the source that an operation does not use; always zero.
const NONE: Slot = 0;
/// Slot of the result that nobody wants.
const SINK: Slot = 1;

/// The state of decoding one entry.
struct Decoder<'p> {
    program: &'p Program,
    module: &'p Module,
    function: &'p Function,
    parameters: Vec<Parameter>,
    parameter_bytes: usize,
    /// Initial values; grows as slots are given out.
    registers: Vec<u64>,
    by_register: HashMap<(ScopeId, usize, Option<u32>), Slot>,
    by_constant: HashMap<u64, Slot>,
    by_special: HashMap<Special, Slot>,
    scratch: Vec<Slot>,
    carry: Option<Slot>,
    /// Offsets of shared and local variables by where their names stand.
    offsets: HashMap<usize, u64>,
    shared_bytes: usize,
    local_bytes: usize,
    steps: Vec<Step>,
    statements: Vec<Range<usize>>,
    errors: Vec<RunError>,
    /// Branches whose target statement is known but not its step.
    branches: Vec<(usize, usize)>,
    /// The statement that is being decoded.
    scope: ScopeId,
    span: Range<usize>,
}

impl<'p> Decoder<'p> {
    fn new(program: &'p Program, index: usize, function: &'p Function) -> Result<Decoder<'p>, RunErrors> {
        let mut decoder = Decoder {
            program,
            module: &program.module,
            function,
            parameters: Vec::new(),
            parameter_bytes: 0,
            registers: vec![0; 2],
            by_register: HashMap::new(),
            by_constant: HashMap::from([(0, NONE)]),
            by_special: HashMap::new(),
            scratch: Vec::new(),
            carry: None,
            offsets: HashMap::new(),
            shared_bytes: 0,
            local_bytes: 0,
            steps: Vec::new(),
            statements: Vec::new(),
            errors: Vec::new(),
            branches: Vec::new(),
            scope: function.scope.unwrap_or(ScopeId::MODULE),
            span: function.header.clone(),
        };
        if let Some(bits) = program.module.address_size()
            && bits != 64
        {
            return Err(decoder
                .unsupported(format!("modules of {bits}-bit addresses are not supported by vop run"))
                .into());
        }
        decoder.lay_out_parameters()?;
        decoder.lay_out_shared_and_local(index)?;
        Ok(decoder)
    }

    fn error(&self, kind: RunErrorKind, message: impl Into<String>) -> RunError {
        RunError::new(kind, message).at(self.program.place(&self.span))
    }

    fn malformed(&self, message: impl Into<String>) -> RunError {
        self.error(RunErrorKind::Malformed, message)
    }

    fn unsupported(&self, message: impl Into<String>) -> RunError {
        self.error(RunErrorKind::Unsupported, message)
    }

    fn lay_out_parameters(&mut self) -> Result<(), RunError> {
        for variable in &self.function.parameters {
            let name = self.module.slice(&variable.name).to_owned();
            // Kernel parameters end at 32,764 bytes on every target.
            let bytes = variable
                .bytes()
                .filter(|bytes| *bytes > 0 && *bytes <= 32764)
                .and_then(|bytes| usize::try_from(bytes).ok());
            let (Some(bytes), Declared::Param) = (bytes, variable.space) else {
                return Err(self.unsupported(format!("parameter `{name}` is of a kind that vop run does not support")));
            };
            let align =
                usize::try_from(variable.alignment()).ok().filter(|align| align.is_power_of_two() && *align <= 4096);
            let Some(align) = align else {
                return Err(self.malformed(format!("parameter `{name}` has an alignment that is no power of two")));
            };
            let offset = self.parameter_bytes.next_multiple_of(align);
            self.parameter_bytes = offset + bytes;
            self.offsets.insert(variable.name.start, offset as u64);
            self.parameters.push(Parameter { name, ty: variable.ty.scalar, bytes, offset });
        }
        Ok(())
    }

    fn lay_out_shared_and_local(&mut self, index: usize) -> Result<(), RunError> {
        let module = self.module;
        let text = self.function.body.as_ref().and_then(|body| {
            let statements = module.statements().get(body.clone())?;
            Some(module.slice(&(statements.first()?.span.start..statements.last()?.span.end)))
        });
        let text = text.unwrap_or("");
        let own =
            module.scopes().iter().filter(|scope| scope.function == Some(index)).flat_map(|scope| scope.variables());
        // A module's shared variable takes memory from the kernels that name it.
        let outer = module.scope(ScopeId::MODULE).variables().iter();
        let outer = outer.filter(|v| v.space == Declared::Shared && names(text, module.slice(&v.name)));
        let mut dynamic = Vec::new();
        for variable in outer.chain(own) {
            let name = module.slice(&variable.name);
            let total = match variable.space {
                Declared::Shared => &mut self.shared_bytes,
                Declared::Local => &mut self.local_bytes,
                _ => continue,
            };
            let align =
                usize::try_from(variable.alignment()).ok().filter(|align| align.is_power_of_two() && *align <= 4096);
            let bytes = match variable.bytes() {
                _ if variable.count.is_some() => None,
                None | Some(0) if variable.linkage == Some(Linkage::Extern) => {
                    dynamic.push((variable.name.start, align.unwrap_or(16)));
                    continue;
                }
                bytes => bytes.and_then(|bytes| usize::try_from(bytes).ok()).filter(|bytes| *bytes <= MAX_LOCAL),
            };
            let (Some(align), Some(bytes)) = (align, bytes) else {
                return Err(self
                    .unsupported(format!("variable `{name}` has a size or alignment that vop run does not support")));
            };
            let offset = total.next_multiple_of(align);
            *total = offset + bytes;
            self.offsets.insert(variable.name.start, offset as u64);
        }
        // All dynamic shared variables are one: they start where the static ones end.
        let align = dynamic.iter().map(|(_, align)| *align).max().unwrap_or(1);
        self.shared_bytes = self.shared_bytes.next_multiple_of(align);
        self.offsets.extend(dynamic.iter().map(|(start, _)| (*start, self.shared_bytes as u64)));
        self.local_bytes = self.local_bytes.next_multiple_of(16);
        if self.local_bytes > MAX_LOCAL {
            return Err(self.unsupported(format!(
                "{} bytes of local memory a thread: {MAX_LOCAL} are supported",
                self.local_bytes
            )));
        }
        Ok(())
    }

    fn decode(mut self) -> Result<Kernel, RunErrors> {
        let body = self.function.body.clone().unwrap_or_default();
        // Where each statement of the body starts among the steps.
        let mut starts = Vec::with_capacity(body.len());
        for statement in self.module.statements().get(body.clone()).unwrap_or_default() {
            starts.push(self.steps.len());
            (self.scope, self.span) = (statement.scope, statement.span.clone());
            match &statement.kind {
                StatementKind::Instruction { guard, opcode, operands } => {
                    if let Err(error) = self.statement(guard.as_ref(), opcode, operands) {
                        self.errors.push(error);
                    }
                }
                StatementKind::Other => self.errors.push(self.malformed("this statement is not understood")),
                _ => {}
            }
        }
        for (step, target) in std::mem::take(&mut self.branches) {
            let start = target.checked_sub(body.start).and_then(|i| starts.get(i));
            match (start.and_then(|start| u32::try_from(*start).ok()), self.steps.get_mut(step)) {
                (Some(start), Some(step)) => step.op = Op::Branch(start),
                _ => self.errors.push(self.malformed("a branch leaves the kernel")),
            }
        }
        let (required_block, max_threads) = self.block_limits();
        if !self.errors.is_empty() {
            return Err(RunErrors(self.errors));
        }
        Ok(Kernel {
            name: self.module.slice(&self.function.name).to_owned(),
            source: Arc::clone(&self.program.source),
            steps: self.steps,
            statements: self.statements,
            parameters: self.parameters,
            parameter_bytes: self.parameter_bytes,
            registers: self.registers,
            specials: self.by_special.into_iter().map(|(special, slot)| (slot, special)).collect(),
            shared_bytes: self.shared_bytes,
            local_bytes: self.local_bytes,
            required_block,
            max_threads,
        })
    }

    /// `.reqntid` and `.maxntid`.
    fn block_limits(&self) -> (Option<[u32; 3]>, Option<u64>) {
        let sizes = |wanted: &str| {
            let mut directives = self.function.directives.iter().map(|range| self.module.slice(range));
            let numbers = directives.find_map(|text| text.strip_prefix(wanted))?;
            let mut size = [1; 3];
            for (axis, number) in size.iter_mut().zip(numbers.split(',')) {
                *axis = number.trim().parse().ok()?;
            }
            Some(size)
        };
        let product = |size: [u32; 3]| size.iter().map(|n| u64::from(*n)).product();
        (sizes(".reqntid"), sizes(".maxntid").map(product))
    }

    fn statement(
        &mut self,
        guard: Option<&Range<usize>>,
        opcode: &Range<usize>,
        operands: &Range<usize>,
    ) -> Result<(), RunError> {
        let guard = guard.map(|range| self.guard(range)).transpose()?;
        let op = self.instruction(opcode, operands)?;
        let statement = u32::try_from(self.statements.len()).map_err(|_| self.unsupported("the kernel is too long"))?;
        self.statements.push(self.span.clone());
        self.steps.push(Step { guard, op, statement });
        Ok(())
    }

    fn guard(&mut self, range: &Range<usize>) -> Result<Guard, RunError> {
        let text = lex::without_trivia(self.module.slice(range));
        let name = text.trim_start_matches('@');
        let (when, name) = name.strip_prefix('!').map_or((true, name), |name| (false, name));
        Ok(Guard { slot: self.register(name, Scalar::Pred)?, when })
    }

    fn new_slot(&mut self, initial: u64) -> Slot {
        self.registers.push(initial);
        (self.registers.len() - 1) as Slot
    }

    /// The slot that always holds this value.
    fn constant(&mut self, value: u64) -> Slot {
        if let Some(slot) = self.by_constant.get(&value) {
            return *slot;
        }
        let slot = self.new_slot(value);
        self.by_constant.insert(value, slot);
        slot
    }

    /// A slot for a value that lives within one statement.
    fn scratch(&mut self, index: usize) -> Slot {
        while self.scratch.len() <= index {
            let slot = self.new_slot(0);
            self.scratch.push(slot);
        }
        self.scratch[index]
    }

    /// The slot of the condition code's carry flag.
    fn carry(&mut self) -> Slot {
        match self.carry {
            Some(slot) => slot,
            None => *self.carry.insert({
                self.registers.push(0);
                (self.registers.len() - 1) as Slot
            }),
        }
    }

    /// A register's slot and type.
    fn lookup(&mut self, name: &str) -> Option<(Slot, Scalar)> {
        let found = self.module.find_register(self.scope, name, self.span.start)?;
        if found.ty.vector != 1 {
            return None;
        }
        let key = (found.scope, found.index, found.number);
        let slot = match self.by_register.get(&key) {
            Some(slot) => *slot,
            None => {
                let slot = self.new_slot(0);
                self.by_register.insert(key, slot);
                slot
            }
        };
        Some((slot, found.ty.scalar))
    }

    fn undeclared(&self, name: &str) -> RunError {
        self.malformed(format!("`{name}` is not declared here"))
    }

    /// The slot of a register whose width must be the type's.
    fn register(&mut self, name: &str, ty: Scalar) -> Result<Slot, RunError> {
        let (slot, declared) = self.lookup(name).ok_or_else(|| self.undeclared(name))?;
        if declared.width() != ty.width() {
            return Err(self.malformed(format!(
                "register `{name}` is declared .{}, the instruction takes .{}",
                declared.name(),
                ty.name()
            )));
        }
        Ok(slot)
    }

    /// The slot of a register that may be wider than the type, and the register's width in bits.
    fn wider_register(&mut self, name: &str, ty: Scalar) -> Result<(Slot, u32), RunError> {
        let (slot, declared) = self.lookup(name).ok_or_else(|| self.undeclared(name))?;
        if declared.width() < ty.width() || (declared == Scalar::Pred) != (ty == Scalar::Pred) || declared.width() > 64
        {
            return Err(self.malformed(format!(
                "register `{name}` is declared .{}, too narrow for .{}",
                declared.name(),
                ty.name()
            )));
        }
        Ok((slot, declared.width()))
    }

    /// A special register of 32 bits.
    fn special(&mut self, name: &str) -> Result<Option<Slot>, RunError> {
        let Some(bare) = name.strip_prefix('%') else { return Ok(None) };
        let axis = |suffix: &str| ["x", "y", "z"].iter().position(|axis| *axis == suffix);
        let special = match bare.split_once('.') {
            Some(("tid", suffix)) => axis(suffix).map(Special::Tid),
            Some(("ntid", suffix)) => axis(suffix).map(Special::Ntid),
            Some(("ctaid", suffix)) => axis(suffix).map(Special::Ctaid),
            Some(("nctaid", suffix)) => axis(suffix).map(Special::Nctaid),
            _ => match bare {
                "laneid" => Some(Special::Laneid),
                "warpid" => Some(Special::Warpid),
                "nwarpid" => Some(Special::Nwarpid),
                "lanemask_eq" => Some(Special::LaneMaskEq),
                "lanemask_le" => Some(Special::LaneMaskLe),
                "lanemask_lt" => Some(Special::LaneMaskLt),
                "lanemask_ge" => Some(Special::LaneMaskGe),
                "lanemask_gt" => Some(Special::LaneMaskGt),
                "dynamic_smem_size" => Some(Special::DynamicSharedSize),
                "total_smem_size" => Some(Special::TotalSharedSize),
                "gridid" => Some(Special::GridId),
                _ => None,
            },
        };
        let Some(special) = special else {
            const KNOWN: [&str; 11] = [
                "clock",
                "clock64",
                "clock_hi",
                "globaltimer",
                "globaltimer_lo",
                "globaltimer_hi",
                "smid",
                "nsmid",
                "tid",
                "ntid",
                "ctaid",
            ];
            let known = KNOWN.contains(&bare)
                || ["pm", "envreg", "cluster", "is_", "reserved_", "current_", "aggr_"]
                    .iter()
                    .any(|p| bare.starts_with(p));
            return if known {
                Err(self.unsupported(format!("special register `{name}` is not supported by vop run")))
            } else {
                Ok(None)
            };
        };
        if let Some(slot) = self.by_special.get(&special) {
            return Ok(Some(*slot));
        }
        let slot = self.new_slot(0);
        self.by_special.insert(special, slot);
        Ok(Some(slot))
    }

    /// The space and address (within the space) of a variable or parameter.
    fn variable(&self, name: &str) -> Result<(Space, u64), RunError> {
        let Some(variable) = self.module.variable(self.scope, name, self.span.start) else {
            return Err(self.undeclared(name));
        };
        let space = match variable.space {
            Declared::Shared => Space::Shared,
            Declared::Local => Space::Local,
            Declared::Param => Space::Param,
            Declared::Const => Space::Const,
            _ => Space::Global,
        };
        if variable.count.is_some() {
            return Err(self.unsupported(format!("variables declared as `{name}<n>` are not supported by vop run")));
        }
        let address = match space {
            Space::Global | Space::Const => self.program.address(variable)?,
            _ => match self.offsets.get(&variable.name.start) {
                Some(offset) => *offset,
                None => {
                    return Err(
                        self.unsupported(format!("variable `{name}` is of a kind that vop run does not support"))
                    );
                }
            },
        };
        Ok((space, address))
    }

    /// The bits of a numeric operand for a type, if it has that kind.
    fn constant_bits(&self, constant: &operand::Operand<'_>, ty: Scalar) -> Option<u64> {
        use operand::Operand::*;
        Some(match (constant, ty) {
            (Integer(value), Scalar::Pred) => u64::from(*value != 0),
            (Integer(value), _) if ty.is_integer() => value & mask(ty.width()),
            (Single(bits), Scalar::F32 | Scalar::B32 | Scalar::U32) => u64::from(*bits),
            (Single(bits), Scalar::F64) => f64::from(f32::from_bits(*bits)).to_bits(),
            (Double(value), Scalar::F64 | Scalar::B64 | Scalar::U64) => value.to_bits(),
            (Double(value), Scalar::F32) => u64::from((*value as f32).to_bits()),
            _ => return None,
        })
    }

    /// The slot of a source operand of this type.
    fn source(&mut self, text: &str, ty: Scalar) -> Result<Slot, RunError> {
        use operand::Operand;
        let bad = |decoder: &Self| decoder.malformed(format!("`{text}` is no operand of type .{}", ty.name()));
        match Operand::parse(text).ok_or_else(|| bad(self))? {
            Operand::Name(name) => {
                if self.module.find_register(self.scope, name, self.span.start).is_some() {
                    return self.register(name, ty);
                }
                if name == "WARP_SZ" {
                    return Ok(self.constant(32));
                }
                if let Some(slot) = self.special(name)? {
                    // `%gridid` may be read at 64 bits; all others are 32 wide and may be read narrower.
                    return Ok(slot);
                }
                if self.module.variable(self.scope, name, self.span.start).is_some() && matches!(ty.width(), 32 | 64) {
                    let (space, address) = self.variable(name)?;
                    if matches!(space, Space::Global | Space::Const) && ty.width() == 32 {
                        return Err(self.malformed(format!("the address of `{name}` takes 64 bits")));
                    }
                    return Ok(self.constant(address));
                }
                Err(self.undeclared(name))
            }
            constant @ (Operand::Integer(_) | Operand::Single(_) | Operand::Double(_)) => {
                let bits = self.constant_bits(&constant, ty).ok_or_else(|| bad(self))?;
                Ok(self.constant(bits))
            }
            _ => Err(bad(self)),
        }
    }

    /// The slot of a destination register; `_` is the sink.
    fn destination(&mut self, text: &str, ty: Scalar) -> Result<Slot, RunError> {
        if text == "_" { Ok(SINK) } else { self.register(text, ty) }
    }

    /// An operation of one pure function.
    fn compute(f: Compute, d: Slot, sources: &[Slot]) -> Op {
        let source = |i: usize| sources.get(i).copied().unwrap_or(NONE);
        Op::Compute { f, d, sources: [source(0), source(1), source(2), source(3)] }
    }
}

/// Whether a text holds a name as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let follows = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(follows) && !text[at + name.len()..].starts_with(follows))
}
