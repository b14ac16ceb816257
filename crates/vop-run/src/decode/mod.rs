//! From a module to kernels: variables get addresses, registers slots, statements operations.
//!
//! ```text
//! statements ──function──► steps over registers without places ──allocate──► columns, ranks
//! ```
//!
//! A kernel is decoded with all functions that it may call. What cannot be run is refused here, before anything runs, and all errors
//! are reported.

mod active;
mod allocate;
mod barrier;
mod control;
mod function;
mod initializer;
mod instruction;
mod memory;
mod moves;
mod operand;
mod sample;
mod warp;

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use vop_ptx::module::{Function, FunctionKind, Linkage, Module, Space as Declared, Variable};

use crate::code::{FunctionCode, Kernel, Parameter};
use crate::column::{Area, Slot, WARP, Width};
use crate::error::{Place, RunError, RunErrorKind, RunErrors};
use crate::heap;
use crate::level::Level;
use crate::memory::{Bytes, FUNCTION_BASE, Memory, address_of};
use crate::pure::Pure;
use crate::special::Special;
use function::Decoder;
use initializer::Content;

/// Long kernels look up each name: a hash that is faster than the standard one, and seeded as that is.
type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// A module whose kernels can be run: its text is read, its variables are laid out.
#[derive(Clone, Debug)]
pub struct Program {
    module: Arc<Module>,
    /// The module's `.global` and `.const` variables by where their names stand, in the order of their addresses.
    variables: Vec<GlobalVariable>,
    /// Indexes of `variables` by where the name stands.
    by_name: HashMap<usize, usize>,
}

#[derive(Clone, Debug)]
struct GlobalVariable {
    name: Range<usize>,
    read_only: bool,
    /// The content at load, or the error that a kernel gets which uses the variable.
    content: Result<Content, RunError>,
}

/// Bytes that a module's variables may take together: a declaration that asks for more is an error, not an attempt.
const MAX_VARIABLES: u64 = 4 << 30;
/// Bytes that one function's variables may take of a thread's stack, or a block's shared variables.
const MAX_LOCAL: u64 = 512 * 1024;

/// Bytes of a kernel's constants: each constant takes one element for every thread of a warp.
const MAX_CONSTANTS: usize = 64 << 20;

/// Bytes of shared memory that sm_80 and later keep for system software. CUDA's cooperative groups have their barriers there.
const RESERVED_SHARED: u64 = 1024;

impl Program {
    /// Reads PTX. [`Program::kernel`] reports what is wrong with an entry.
    pub fn read(ptx: &str) -> Program {
        let mut program =
            Program { module: Arc::new(Module::parse(ptx)), variables: Vec::new(), by_name: HashMap::default() };
        program.variables = program.lay_out_variables();
        program.by_name = program.variables.iter().enumerate().map(|(i, v)| (v.name.start, i)).collect();
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

    /// Fresh device memory that holds the module's variables with their initial values, and a heap of 64 MiB if the module calls
    /// `malloc` or `free`.
    pub fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        for variable in &self.variables {
            let bytes = variable.content.as_ref().map_or_else(|_| Bytes::default(), Content::bytes);
            memory.push(self.module.slice(&variable.name), bytes, variable.read_only);
        }
        // Behind the variables, where calls of `malloc` look for it.
        let mut declared = self.module.functions().iter().filter(|function| function.body.is_none());
        if declared.any(|function| matches!(self.module.slice(&function.name), "malloc" | "free")) {
            let mut bytes = Bytes::zeros(heap::HEAP);
            heap::seal(bytes.as_mut_slice());
            memory.push_heap(bytes);
        }
        memory
    }

    /// Decodes an entry, for the best SIMD instructions of this CPU.
    ///
    /// # Errors
    /// If there is no such entry, or if the entry or a function that it may call cannot be run: every such statement is reported.
    pub fn kernel(&self, entry: &str) -> Result<Kernel, RunErrors> {
        self.kernel_at(entry, Level::best())
    }

    /// Decodes an entry for a level of SIMD.
    ///
    /// # Errors
    /// As for [`Program::kernel`], and if this CPU does not have the level.
    pub fn kernel_at(&self, entry: &str, level: Level) -> Result<Kernel, RunErrors> {
        if !level.is_available() {
            let message = format!("this CPU does not have the instructions of {level:?}");
            return Err(RunError::new(RunErrorKind::Unsupported, message).into());
        }
        let functions = self.module.functions().iter().enumerate();
        let mut found = functions.filter(|(_, f)| f.kind == FunctionKind::Entry && self.module.slice(&f.name) == entry);
        let Some((index, _)) = found.find(|(_, f)| f.body.is_some()) else {
            let entries: Vec<String> = self.entries().map(|name| format!("`{name}`")).collect();
            let help =
                if entries.is_empty() { "it has none".to_owned() } else { format!("it has {}", entries.join(", ")) };
            return Err(RunError::new(RunErrorKind::UnknownEntry, format!("the module has no entry `{entry}`"))
                .with_help(help)
                .into());
        };
        Builder::new(self, level).build(index)
    }

    fn place(&self, span: &Range<usize>) -> Place {
        Place::new(self.module.text(), span.clone())
    }

    /// The address of a module variable.
    fn address(&self, variable: &Variable) -> Result<u64, RunError> {
        match self.by_name.get(&variable.name.start) {
            Some(&index) => self.variables[index].content.as_ref().map(|_| address_of(index)).map_err(Clone::clone),
            None => {
                let message = format!("variables in .{} are not supported by vop run", variable.space.name());
                Err(RunError::new(RunErrorKind::Unsupported, message).at(self.place(&variable.name)))
            }
        }
    }

    /// The address of a function: of its definition, else of its declaration.
    fn function_address(&self, name: &str) -> Option<u64> {
        let functions = self.module.functions();
        let named = |(i, f): (usize, &Function)| (self.module.slice(&f.name) == name).then_some((i, f.body.is_some()));
        let mut found = functions.iter().enumerate().filter_map(named);
        let first = found.clone().next();
        let (index, _) = found.find(|(_, body)| *body).or(first)?;
        Some(FUNCTION_BASE + 16 * index as u64)
    }

    /// Every `.global` and `.const` variable, wherever it is declared: functions may have their own.
    fn lay_out_variables(&self) -> Vec<GlobalVariable> {
        let variables = || {
            let all = self.module.scopes().iter().flat_map(|scope| scope.variables());
            all.filter(|v| matches!(v.space, Declared::Global | Declared::Const))
        };
        // Addresses follow from the order alone, so an initialiser may name a variable that comes later.
        let mut addresses: HashMap<&str, u64> = HashMap::default();
        for function in self.module.functions() {
            let name = self.module.slice(&function.name);
            addresses.extend(self.function_address(name).map(|address| (name, address)));
        }
        addresses.extend(variables().enumerate().map(|(i, v)| (self.module.slice(&v.name), address_of(i))));
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

/// What all functions of a kernel share while they are decoded.
struct Builder<'p> {
    program: &'p Program,
    module: &'p Module,
    level: Level,
    kernel: Kernel,
    by_constant: HashMap<(u64, bool), Slot>,
    /// What only computes, by opcode and number of operands.
    pures: HashMap<(&'p str, usize), Rc<Pure>>,
    by_special: HashMap<(Special, u32), Slot>,
    /// Offsets of shared variables by where their names stand; none for those whose size the launch gives.
    shared: HashMap<usize, Option<u64>>,
    /// Where the reserved part of shared memory starts, in kernels that ask for it.
    reserved_shared: Option<u64>,
    /// Alignment that the dynamic part of shared memory needs.
    dynamic_align: u64,
    /// Dense indexes of functions by their indexes in the module, and those that are still to be decoded.
    functions: HashMap<usize, u32>,
    queue: Vec<usize>,
    /// Whether a function may be called by its address.
    calls_by_address: bool,
    errors: Vec<RunError>,
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program, level: Level) -> Builder<'p> {
        Builder {
            program,
            module: &program.module,
            level,
            kernel: Kernel::empty(Arc::clone(&program.module), level),
            by_constant: HashMap::default(),
            pures: HashMap::default(),
            by_special: HashMap::default(),
            shared: HashMap::default(),
            reserved_shared: None,
            dynamic_align: 1,
            functions: HashMap::default(),
            queue: Vec::new(),
            calls_by_address: false,
            errors: Vec::new(),
        }
    }

    fn build(mut self, entry: usize) -> Result<Kernel, RunErrors> {
        let module = self.module;
        let function = &module.functions()[entry];
        let place = self.program.place(&function.header);
        if let Some(bits) = module.address_size()
            && bits != 64
        {
            let message = format!("modules of {bits}-bit addresses are not supported by vop run");
            return Err(RunError::new(RunErrorKind::Unsupported, message).at(place).into());
        }
        self.kernel.name = module.slice(&function.name).to_owned();
        // The first constant is zero: it stands for operands that are not there.
        self.constant(0, Width::Double);
        self.function(entry);
        let mut next = 0;
        while next < self.queue.len() {
            let index = self.queue[next];
            next += 1;
            Decoder::new(&mut self, index).decode();
            if self.calls_by_address && next == self.queue.len() {
                // The address may be that of any function.
                let defined = module.functions().iter().enumerate();
                let defined = defined.filter(|(_, f)| f.kind == FunctionKind::Func && f.body.is_some());
                for (index, _) in defined {
                    self.function(index);
                }
            }
        }
        (self.kernel.required_block, self.kernel.max_threads) = self.block_limits(function);
        self.kernel.by_address = vec![None; module.functions().len()];
        for (index, dense) in &self.functions {
            self.kernel.by_address[*index] = Some(*dense);
        }
        self.kernel.shared_bytes = self.kernel.shared_bytes.next_multiple_of(self.dynamic_align as usize);
        if !self.errors.is_empty() {
            self.errors.sort_by_key(|error| error.place.as_ref().map(|place| place.span.start));
            return Err(RunErrors(self.errors));
        }
        Ok(self.kernel)
    }

    /// The dense index of a function; decodes it if it is met for the first time.
    fn function(&mut self, index: usize) -> u32 {
        let next = self.functions.len() as u32;
        *self.functions.entry(index).or_insert_with(|| {
            self.queue.push(index);
            self.kernel.functions.push(FunctionCode {
                name: self.module.slice(&self.module.functions()[index].name).to_owned(),
                ..FunctionCode::default()
            });
            next
        })
    }

    /// `.reqntid` and `.maxntid`.
    fn block_limits(&self, function: &Function) -> (Option<[u32; 3]>, Option<u64>) {
        let sizes = |wanted: &str| {
            let mut directives = function.directives.iter().map(|range| self.module.slice(range));
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

    /// A place in the block's area, for a warp's elements.
    fn reserve(&mut self, width: Width) -> Slot {
        let constants = &mut self.kernel.constants;
        let mut place = constants.len().next_multiple_of(64);
        if place + width.bytes() as usize * WARP > MAX_CONSTANTS {
            if self.errors.is_empty() {
                let message = "a kernel of more than 64 MiB of constants is not supported by vop run";
                self.errors.push(RunError::new(RunErrorKind::Unsupported, message));
            }
            place = 0;
        }
        let end = place + width.bytes() as usize * WARP;
        if constants.len() < end {
            constants.resize(end, 0);
        }
        Slot::new(Area::Block, place as u32)
    }

    /// The slot that always holds this value, in elements of this width.
    fn constant(&mut self, value: u64, width: Width) -> Slot {
        let bytes = match width {
            Width::Predicate => u64::from(value != 0).wrapping_neg().to_le_bytes(),
            _ => value.to_le_bytes(),
        };
        // Predicates are too rare to be looked up.
        let key = (u64::from_le_bytes(bytes), width == Width::Double);
        if width != Width::Predicate
            && let Some(slot) = self.by_constant.get(&key)
        {
            return *slot;
        }
        let slot = self.reserve(width);
        let size = width.bytes() as usize;
        let elements = &mut self.kernel.constants[slot.offset() as usize..][..size * WARP];
        for element in elements.chunks_exact_mut(size.max(1)) {
            element.copy_from_slice(&bytes[..size]);
        }
        if width != Width::Predicate {
            self.by_constant.insert(key, slot);
        }
        slot
    }

    /// The slot of a special register.
    fn special(&mut self, special: Special, width: Width) -> Slot {
        // Those of threads are words, whatever reads them.
        let width = if special.is_of_thread() { Width::Word } else { width };
        let key = (special, width.bytes());
        if let Some(slot) = self.by_special.get(&key) {
            return *slot;
        }
        let slot = if special.is_of_thread() {
            let place = self.kernel.thread_bytes;
            self.kernel.thread_bytes += Width::Word.bytes();
            Slot::new(Area::Thread, place)
        } else {
            self.reserve(width)
        };
        self.kernel.specials.push((special, slot, width));
        self.by_special.insert(key, slot);
        slot
    }

    /// Where the reserved part of shared memory starts. It stands among the variables, so a kernel that does not ask has none.
    fn reserved_shared(&mut self) -> u64 {
        let shared_bytes = &mut self.kernel.shared_bytes;
        *self.reserved_shared.get_or_insert_with(|| {
            let start = (*shared_bytes as u64).next_multiple_of(16);
            *shared_bytes = (start + RESERVED_SHARED) as usize;
            start
        })
    }

    /// Where a shared variable stands; none for the dynamic part.
    fn shared_offset(&mut self, variable: &Variable) -> Result<Option<u64>, RunError> {
        if let Some(offset) = self.shared.get(&variable.name.start) {
            return Ok(*offset);
        }
        let name = self.module.slice(&variable.name);
        let align = variable.alignment();
        let align = Some(align).filter(|align| align.is_power_of_two() && *align <= 4096);
        let unsupported = || {
            let message = format!("variable `{name}` has a size or alignment that vop run does not support");
            RunError::new(RunErrorKind::Unsupported, message).at(self.program.place(&variable.name))
        };
        let align = align.ok_or_else(unsupported)?;
        let offset = match variable.bytes() {
            // All dynamic shared variables are one: they start where the static ones end.
            None | Some(0) if variable.linkage == Some(Linkage::Extern) => {
                self.dynamic_align = self.dynamic_align.max(align);
                None
            }
            bytes => {
                let bytes = bytes.filter(|bytes| *bytes <= MAX_LOCAL && variable.count.is_none());
                let bytes = bytes.ok_or_else(unsupported)?;
                let offset = (self.kernel.shared_bytes as u64).next_multiple_of(align);
                self.kernel.shared_bytes = (offset + bytes) as usize;
                Some(offset)
            }
        };
        self.shared.insert(variable.name.start, offset);
        Ok(offset)
    }

    /// The entry's parameters, in parameter memory.
    fn lay_out_parameters(&mut self, function: &Function) -> Result<HashMap<usize, u64>, RunError> {
        let mut offsets = HashMap::default();
        for variable in &function.parameters {
            let name = self.module.slice(&variable.name).to_owned();
            let error = |kind, message: String| RunError::new(kind, message).at(self.program.place(&variable.name));
            // Kernel parameters end at 32,764 bytes on every target.
            let bytes = variable
                .bytes()
                .filter(|bytes| *bytes > 0 && *bytes <= 32764)
                .and_then(|bytes| usize::try_from(bytes).ok());
            let (Some(bytes), Declared::Param) = (bytes, variable.space) else {
                return Err(error(
                    RunErrorKind::Unsupported,
                    format!("parameter `{name}` is of a kind that vop run does not support"),
                ));
            };
            let align =
                usize::try_from(variable.alignment()).ok().filter(|align| align.is_power_of_two() && *align <= 4096);
            let Some(align) = align else {
                return Err(error(
                    RunErrorKind::Malformed,
                    format!("parameter `{name}` has an alignment that is no power of two"),
                ));
            };
            let offset = self.kernel.parameter_bytes.next_multiple_of(align);
            self.kernel.parameter_bytes = offset + bytes;
            offsets.insert(variable.name.start, offset as u64);
            self.kernel.parameters.push(Parameter { name, ty: variable.ty.scalar, bytes, offset });
        }
        Ok(offsets)
    }
}

impl Kernel {
    fn empty(module: Arc<Module>, level: Level) -> Kernel {
        Kernel {
            name: String::new(),
            module,
            level,
            steps: Vec::new(),
            ranks: Vec::new(),
            statements: Vec::new(),
            functions: Vec::new(),
            videos: Vec::new(),
            by_address: Vec::new(),
            parameters: Vec::new(),
            parameter_bytes: 0,
            constants: Vec::new(),
            specials: Vec::new(),
            thread_bytes: 0,
            shared_bytes: 0,
            ordered: Vec::new(),
            required_block: None,
            max_threads: None,
            entry: None,
            sampled: Default::default(),
        }
    }
}
