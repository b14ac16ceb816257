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
mod load;
mod memory;
mod merge;
mod moves;
mod operand;
mod sample;
mod texture;
mod warp;

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use vop_ptx::module::{
    Function, FunctionKind, Linkage, Module, Scalar, Space as Declared, StatementKind, Variable, lex,
};

use crate::code::{FunctionCode, Kernel, Parameter};
use crate::column::{Area, Slot, WARP, Width};
use crate::error::{Place, RunError, RunErrorKind, RunErrors};
use crate::level::Level;
use crate::memory::{FUNCTION_BASE, Memory, SHORT_FUNCTION_BASE, SHORT_FUNCTIONS, ShortAddresses, address_of};
use crate::pure::{Dialect, Pure};
use crate::special::Special;
use crate::symbol;
use function::Decoder;
use initializer::Content;
pub(crate) use load::FoundVariable;
use load::{Origin, VariablePlace};

/// Long kernels look up each name: a hash that is faster than the standard one, and seeded as that is.
type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// A module whose kernels can be run: its text is read, its variables are laid out.
#[derive(Clone, Debug)]
pub struct Program {
    module: Arc<Module>,
    /// The module's `.global` and `.const` variables by where their names stand, in the order of their addresses.
    variables: Vec<GlobalVariable>,
    /// Indexes of `variables` by where the name stands: the first of those that `x<n>` declares.
    by_name: HashMap<usize, usize>,
    /// The module's functions by name: the definition, else the first declaration. An alias stands for what it names.
    functions: HashMap<String, usize>,
    /// Whether it declares vectors of registers.
    vectors: bool,
    /// Where it stands in its memory.
    origin: Origin,
}

#[derive(Clone, Debug)]
struct GlobalVariable {
    name: Range<usize>,
    /// Its name, with its number if it is one of those that `x<n>` declares.
    symbol: String,
    /// Its index among the allocations of its memory, and whether that is another module's variable.
    index: usize,
    is_elsewhere: bool,
    /// Which of those that `x<n>` declares.
    number: Option<u32>,
    read_only: bool,
    /// What it is a reference to, if it is one.
    reference: Option<&'static str>,
    address: u64,
    /// Its address in 32 bits, if they reach it.
    short: Option<u32>,
    /// The content at load, or the error that a kernel gets which uses the variable.
    content: Result<Content, RunError>,
}

/// Bytes that a module's variables may take together: a declaration that asks for more is an error, not an attempt.
const MAX_VARIABLES: u64 = 4 << 30;
/// Variables that one declaration `x<n>` may make.
const MAX_NUMBERED: u32 = 1 << 16;
/// Bytes that one function's variables may take of a thread's stack, or a block's shared variables.
const MAX_LOCAL: u64 = 512 * 1024;

/// Bytes of a block's shared variables: more than any target has, so that a launch says what is wrong.
const MAX_SHARED: u64 = 1 << 24;

/// Errors of one kernel that are kept. Each takes some time, as its line is looked for.
const MAX_ERRORS: usize = 200;

/// Bytes of a kernel's constants: each constant takes one element for every thread of a warp.
const MAX_CONSTANTS: usize = 64 << 20;

/// Bytes of shared memory that sm_80 and later keep for system software. CUDA's cooperative groups have their barriers there.
const RESERVED_SHARED: u64 = 1024;

impl Program {
    /// Reads PTX. [`Program::kernel`] reports what is wrong with an entry.
    pub fn read(ptx: &str) -> Program {
        let module = Module::parse(ptx);
        let functions = functions_by_name(&module);
        let mut registers = module.scopes().iter().flat_map(|scope| scope.registers());
        let vectors = registers.any(|register| register.ty.vector > 1);
        let (module, variables, by_name) = (Arc::new(module), Vec::new(), HashMap::default());
        let mut program = Program { module, variables, by_name, functions, vectors, origin: Origin::first() };
        program.variables = program.lay_out_variables(None);
        // Behind the variables, where calls of `malloc` look for it.
        program.origin.heap = program.variables.len();
        // The first of those of one declaration is seen last.
        program.by_name = program.variables.iter().enumerate().rev().map(|(i, v)| (v.name.start, i)).collect();
        program
    }

    /// The module that was read.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The names of the entries that have a body, in order, as PTX has them; [`demangled`](crate::demangled) has those of C++.
    pub fn entries(&self) -> impl Iterator<Item = &str> + Clone {
        let entries = self.module.functions().iter().filter(|f| f.kind == FunctionKind::Entry && f.body.is_some());
        entries.map(|function| self.module.slice(&function.name))
    }

    /// Fresh device memory that holds the module's variables with their initial values. The first launch of a kernel that calls `malloc` or
    /// `free` adds a heap of 64 MiB. Of a program that [`Memory::load`] returned, the memory is the one that it was loaded into.
    pub fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        self.push_variables(&mut memory, |_| false);
        self.fill_variables(&mut memory);
        self.push_heap(&mut memory);
        memory
    }

    /// Decodes an entry, for the best SIMD instructions of this CPU. A C++ kernel is found by its mangled name and by the name of the
    /// source: `ns::scale<float>(float*, int)`, and where no other has it also by an end of that, `scale<float>` or `scale`.
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
        let symbol = match symbol::find(entry, self.entries())[..] {
            [symbol] => symbol,
            [] => entry,
            ref several => {
                let message = format!("`{entry}` may be any of {} entries", several.len());
                let error = RunError::new(RunErrorKind::UnknownEntry, message);
                let help = format!("write which: {}", symbol::listed(several.iter().copied()));
                return Err(error.with_help(help).into());
            }
        };
        let functions = self.module.functions().iter().enumerate();
        let mut found =
            functions.filter(|(_, f)| f.kind == FunctionKind::Entry && self.module.slice(&f.name) == symbol);
        let Some((index, _)) = found.find(|(_, f)| f.body.is_some()) else {
            let entries = symbol::listed(self.entries());
            let help = if entries.is_empty() { "it has none".to_owned() } else { format!("it has {entries}") };
            return Err(RunError::new(RunErrorKind::UnknownEntry, format!("the module has no entry `{entry}`"))
                .with_help(help)
                .into());
        };
        Builder::new(self, level).build(index)
    }

    fn place(&self, span: &Range<usize>) -> Place {
        Place::in_module(&self.module, span.clone())
    }

    /// The address of a module variable, or of one of those that `x<n>` declares; in 32 bits if it is to be `short`.
    fn address(&self, variable: &Variable, number: Option<u32>, short: bool) -> Result<u64, RunError> {
        let unsupported =
            |message: String| Err(RunError::new(RunErrorKind::Unsupported, message).at(self.place(&variable.name)));
        let name = self.module.slice(&variable.name);
        let first = self.by_name.get(&variable.name.start);
        let index = first.and_then(|first| first.checked_add(number.unwrap_or(0) as usize));
        let Some(found) = index.and_then(|index| self.variables.get(index)) else {
            return unsupported(format!("variables in .{} are not supported by vop run", variable.space.name()));
        };
        found.content.as_ref().map_err(Clone::clone)?;
        match found.short {
            _ if !short => Ok(found.address),
            Some(short) => Ok(u64::from(short)),
            None => unsupported(format!("`{name}` stands beyond what 32-bit addresses reach")),
        }
    }

    /// Whether addresses have 32 bits throughout the module.
    fn is_short(&self) -> bool {
        self.module.address_size() == Some(32)
    }

    /// The address of a function: of its definition, else of its declaration.
    fn function_address(&self, name: &str, short: bool) -> Option<u64> {
        let index = (self.origin.functions + *self.functions.get(name)?) as u64;
        match short {
            false => Some(FUNCTION_BASE + 16 * index),
            true => (index < SHORT_FUNCTIONS).then_some(SHORT_FUNCTION_BASE + 16 * index),
        }
    }

    /// Every `.global` and `.const` variable, wherever it is declared: functions may have their own. Without places, they are the first
    /// allocations of a memory with addresses of its own.
    fn lay_out_variables(&self, places: Option<&[VariablePlace]>) -> Vec<GlobalVariable> {
        let all = self.module.scopes().iter().flat_map(|scope| scope.variables());
        let declared = all.filter(|v| matches!(v.space, Declared::Global | Declared::Const | Declared::Tex));
        let numbers = |variable: &Variable| match variable.count {
            Some(count) => (0..count.min(MAX_NUMBERED)).map(Some).collect(),
            None => vec![None],
        };
        let each: Vec<(&Variable, Option<u32>)> =
            declared.flat_map(|v| numbers(v).into_iter().map(move |number| (v, number))).collect();
        // Addresses follow from the sizes alone, so an initialiser may name a variable that comes later.
        let mut total = 0u64;
        let mut shorts = ShortAddresses::default();
        let mut symbols: HashMap<Cow<'_, str>, Symbol> = HashMap::default();
        for name in self.functions.keys() {
            let addresses = self.function_address(name, self.is_short()).zip(self.function_address(name, true));
            symbols.extend(addresses.map(|(whole, short)| (Cow::from(name), Symbol { whole, short: Some(short) })));
        }
        let mut sized = Vec::with_capacity(each.len());
        for (i, (variable, number)) in each.into_iter().enumerate() {
            let given = places.and_then(|places| places.get(i)).copied();
            let is_elsewhere = given.is_some_and(|place| place.is_elsewhere);
            let size = if is_elsewhere { Ok(0) } else { initializer::size(&self.module, variable, &mut total) };
            let place = given.unwrap_or_else(|| VariablePlace {
                index: i,
                address: address_of(i),
                short: shorts.place(size.as_ref().map_or(0, |size| *size as u64)),
                is_elsewhere,
            });
            let name = self.module.slice(&variable.name);
            let name = number.map_or(Cow::from(name), |number| Cow::from(format!("{name}{number}")));
            let short = place.short.map(u64::from);
            let whole = short.filter(|_| self.is_short()).unwrap_or(place.address);
            let symbol = name.clone().into_owned();
            symbols.insert(name, Symbol { whole, short });
            sized.push((variable, number, size, symbol, place));
        }
        let variables = sized.into_iter().map(|(variable, number, size, symbol, place)| GlobalVariable {
            name: variable.name.clone(),
            symbol,
            index: place.index,
            is_elsewhere: place.is_elsewhere,
            number,
            read_only: variable.space == Declared::Const,
            reference: initializer::reference_of(variable),
            address: place.address,
            short: place.short,
            content: size
                .and_then(|size| match place.is_elsewhere {
                    true => Ok(Content::nothing()),
                    false => initializer::content(&self.module, variable, size, &symbols),
                })
                .map_err(|error| error.at(self.place(&variable.name))),
        });
        variables.collect()
    }
}

/// The addresses of what an initialiser may name: as wide as the module's are, and in 32 bits.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    whole: u64,
    short: Option<u64>,
}

fn functions_by_name(module: &Module) -> HashMap<String, usize> {
    let mut functions: HashMap<String, usize> = HashMap::default();
    let defined = |index: usize| module.functions()[index].body.is_some();
    for (index, function) in module.functions().iter().enumerate() {
        let known = functions.entry(module.slice(&function.name).to_owned()).or_insert(index);
        if !defined(*known) && function.body.is_some() {
            *known = index;
        }
    }
    for statement in module.statements() {
        if let StatementKind::Directive { name, arguments } = &statement.kind
            && module.slice(name) == ".alias"
        {
            let names: Vec<&str> =
                lex::split_operands(module.slice(arguments)).map(|r| &module.slice(arguments)[r]).collect();
            let [alias, aliasee] = names[..] else { continue };
            let aliasee = functions.get(aliasee).copied().filter(|index| defined(*index));
            if let (Some(index), Some(known)) = (aliasee, functions.get_mut(alias))
                && !defined(*known)
            {
                *known = index;
            }
        }
    }
    functions
}

/// What all functions of a kernel share while they are decoded.
struct Builder<'p> {
    program: &'p Program,
    module: &'p Module,
    dialect: Dialect,
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
    /// Where the module's local variables stand on each thread's stack, by where their names stand.
    locals: HashMap<usize, u64>,
    errors: Vec<RunError>,
    /// The construct that the next error is about, if it is one that many statements share.
    construct: Option<&'static str>,
    /// By construct or message of what is not supported: the index of the first error, and the number of statements like it.
    alike: HashMap<Cow<'static, str>, (usize, usize)>,
    /// The number of errors that were not kept.
    dropped: usize,
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program, level: Level) -> Builder<'p> {
        Builder {
            program,
            module: &program.module,
            dialect: Dialect::new(program.module.version(), program.module.target()),
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
            locals: HashMap::default(),
            errors: Vec::new(),
            construct: None,
            alike: HashMap::default(),
            dropped: 0,
        }
    }

    /// Keeps an error. One of what is not supported stands for all statements like it.
    fn report(&mut self, error: RunError) {
        let construct = self.construct.take();
        if error.kind == RunErrorKind::Unsupported {
            let key = construct.map_or_else(|| Cow::from(error.message.clone()), Cow::from);
            let (_, count) = self.alike.entry(key).or_insert((self.errors.len(), 0));
            *count += 1;
            if *count > 1 {
                return;
            }
        }
        if self.errors.len() < MAX_ERRORS { self.errors.push(error) } else { self.dropped += 1 }
    }

    /// All errors in the order of their places.
    fn into_errors(mut self) -> RunErrors {
        for (index, count) in self.alike.into_values().filter(|(_, count)| *count > 1) {
            if let Some(error) = self.errors.get_mut(index) {
                let others = count - 1;
                let (are, statements) = if others == 1 { ("is", "statement") } else { ("are", "statements") };
                error.message += &format!(" (nor {are} {others} more {statements} like it)");
            }
        }
        self.errors.sort_by_key(|error| error.place.as_ref().map(|place| place.span.start));
        if self.dropped > 0 {
            let message = format!("{} more errors are not shown", self.dropped);
            self.errors.push(RunError::new(RunErrorKind::Malformed, message));
        }
        RunErrors(self.errors)
    }

    fn build(mut self, entry: usize) -> Result<Kernel, RunErrors> {
        let module = self.module;
        let function = &module.functions()[entry];
        let place = self.program.place(&function.header);
        if let Some(bits) = module.address_size()
            && !matches!(bits, 32 | 64)
        {
            let message = format!("addresses of {bits} bits are not supported by vop run");
            return Err(RunError::new(RunErrorKind::Unsupported, message).at(place).into());
        }
        self.kernel.name = module.slice(&function.name).to_owned();
        self.kernel.home = Some(self.program.origin.id).filter(|_| !self.program.variables.is_empty());
        self.kernel.short = self.program.is_short();
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
        let before = self.program.origin.functions;
        self.kernel.by_address = vec![None; before + module.functions().len()];
        for (index, dense) in &self.functions {
            self.kernel.by_address[before + *index] = Some(*dense);
        }
        self.kernel.shared_bytes = self.kernel.shared_bytes.next_multiple_of(self.dynamic_align as usize);
        if !self.errors.is_empty() {
            return Err(self.into_errors());
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
                let bytes = numbered_bytes(variable, bytes, align).ok_or_else(unsupported)?;
                let offset = (self.kernel.shared_bytes as u64).next_multiple_of(align);
                let end = Some(offset + bytes).filter(|end| *end <= MAX_SHARED).ok_or_else(unsupported)?;
                self.kernel.shared_bytes = end as usize;
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
            // The handle of a texture, sampler or surface, which nothing can use here.
            let handle = variable.ty.scalar.bits().is_none() && variable.dimensions.is_empty();
            let bytes = if handle { Some(8) } else { variable.bytes() };
            let bytes =
                bytes.filter(|bytes| *bytes > 0 && *bytes <= 32764).and_then(|bytes| usize::try_from(bytes).ok());
            let (Some(bytes), Declared::Param) = (bytes, variable.space) else {
                return Err(error(
                    RunErrorKind::Unsupported,
                    format!("parameter `{name}` is of a kind that vop run does not support"),
                ));
            };
            let alignment = if handle { 8 } else { variable.alignment() };
            let align = usize::try_from(alignment).ok().filter(|align| align.is_power_of_two() && *align <= 4096);
            let Some(align) = align else {
                return Err(error(
                    RunErrorKind::Malformed,
                    format!("parameter `{name}` has an alignment that is no power of two"),
                ));
            };
            let offset = self.kernel.parameter_bytes.next_multiple_of(align);
            self.kernel.parameter_bytes = offset + bytes;
            offsets.insert(variable.name.start, offset as u64);
            let ty = if handle { Scalar::U64 } else { variable.ty.scalar };
            self.kernel.parameters.push(Parameter { name, ty, bytes, offset });
        }
        Ok(offsets)
    }
}

/// Where one of the variables that `x<n>` declares stands behind the first.
fn numbered_offset(variable: &Variable, number: Option<u32>) -> u64 {
    let step = variable.bytes().map_or(0, |bytes| bytes.next_multiple_of(variable.alignment().max(1)));
    u64::from(number.unwrap_or(0)).saturating_mul(step)
}

/// The bytes of a variable, or of all that `x<n>` declares; none if they are more than a function's variables may take.
fn numbered_bytes(variable: &Variable, bytes: Option<u64>, align: u64) -> Option<u64> {
    let one = bytes.filter(|bytes| *bytes <= MAX_LOCAL)?;
    let all = match variable.count {
        None => one,
        Some(count) => one.next_multiple_of(align).checked_mul(u64::from(count))?,
    };
    Some(all).filter(|bytes| *bytes <= MAX_LOCAL)
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
            home: None,
            short: false,
            parameters: Vec::new(),
            parameter_bytes: 0,
            constants: Vec::new(),
            specials: Vec::new(),
            thread_bytes: 0,
            shared_bytes: 0,
            uses_heap: false,
            ordered: Vec::new(),
            required_block: None,
            max_threads: None,
            entry: None,
            sampled: Default::default(),
            merged: Default::default(),
            apart: Default::default(),
            heat: Default::default(),
        }
    }
}
