//! Modules in a memory that they share with others: where their variables and functions stand there, and which variable a name that
//! several modules declare means (manual, "Linking Directives").

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use vop_ptx::module::{Linkage, Scalar, Variable};

use super::{GlobalVariable, HashMap, Program, initializer};
use crate::error::{RunError, RunErrorKind, RunErrors};
use crate::memory::{BufferId, Memory};
use crate::symbol::{self, shown};
use crate::texture::Sampler;
use crate::texture::table::Known;
use crate::types::Kind;

/// Where a program's variables and functions stand in its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// Which of all programs it is: each that is read or loaded has a number of its own.
    pub(super) id: u64,
    /// The number of functions that precede its own.
    pub(super) functions: usize,
    /// The index of the heap of `malloc` among the allocations.
    pub(super) heap: usize,
}

impl Origin {
    /// The start of a memory that is the program's alone.
    pub(super) fn first() -> Origin {
        Origin { id: next_id(), ..Origin::default() }
    }
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Where a variable is in the memory of its program.
#[derive(Clone, Copy, Debug)]
pub(super) struct VariablePlace {
    /// Its index among the allocations.
    pub(super) index: usize,
    pub(super) address: u64,
    /// Its address in 32 bits, if they reach it.
    pub(super) short: Option<u32>,
    /// Whether it is another module's.
    pub(super) is_elsewhere: bool,
}

/// A `.global` or `.const` variable that was found by name.
#[derive(Clone, Debug)]
pub(crate) struct FoundVariable<'p> {
    /// Its name in PTX.
    pub(crate) symbol: &'p str,
    /// Where it is in the memory of its program.
    pub(crate) id: BufferId,
    /// The type of an element, and the length of each axis if all are declared.
    pub(crate) scalar: Scalar,
    pub(crate) shape: Option<Vec<u64>>,
}

impl Program {
    /// The `.global` or `.const` variable of this name, in the memory that [`Program::memory`] makes or that [`Memory::load`] has loaded
    /// the program into. The name is that of PTX or of C++, `ns::table`; its last part, `table`, suffices if no other variable has it.
    /// `None` if no variable has the name, or several have.
    ///
    /// ```
    /// use vop_run::Program;
    ///
    /// let program = Program::read(".version 8.0 .target sm_75 .address_size 64 .const .u32 _ZN2ns5tableE[2];");
    /// let mut memory = program.memory();
    /// let table = program.variable("ns::table").expect("the module has it");
    /// memory.bytes_mut(table).copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
    /// ```
    pub fn variable(&self, name: &str) -> Option<BufferId> {
        match self.find_variables(name)[..] {
            [ref found] => Some(found.id),
            _ => None,
        }
    }

    /// The names of all variables in PTX. References are none: nothing is stored in them.
    pub(crate) fn variable_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.variables.iter().filter(|variable| variable.reference.is_none()).map(|variable| variable.symbol.as_str())
    }

    /// The variables that a name may mean, see [`symbol::find`].
    pub(crate) fn find_variables(&self, name: &str) -> Vec<FoundVariable<'_>> {
        let mut symbols = symbol::find(name, self.variable_names());
        symbols.dedup();
        symbols.into_iter().filter_map(|symbol| self.found_variable(symbol)).collect()
    }

    /// The texture, sampler and surface references that a name may mean: name in PTX, place in the program's memory, and kind.
    pub(crate) fn find_references(&self, name: &str) -> Vec<(&str, BufferId, &'static str)> {
        let references = self.variables.iter().filter(|variable| variable.reference.is_some());
        let symbols = references.clone().map(|variable| variable.symbol.as_str());
        let found = symbol::find(name, symbols);
        let of = |variable: &GlobalVariable| Some((BufferId(variable.index), variable.reference?));
        let find = |symbol: &str| references.clone().find(|variable| variable.symbol == symbol).and_then(of);
        found.into_iter().filter_map(|symbol| find(symbol).map(|(id, kind)| (symbol, id, kind))).collect()
    }

    /// Whether a memory holds its variables.
    pub(crate) fn is_in(&self, memory: &Memory) -> bool {
        memory.modules.contains(&self.origin.id)
    }

    fn found_variable<'p>(&'p self, symbol: &'p str) -> Option<FoundVariable<'p>> {
        let found = self.variables.iter().find(|variable| variable.symbol == symbol)?;
        let Variable { ty, .. } = self.declaration(found)?;
        Some(FoundVariable { symbol, id: BufferId(found.index), scalar: ty.scalar, shape: self.shape(found) })
    }

    fn declaration(&self, found: &GlobalVariable) -> Option<&Variable> {
        let mut declared = self.module.scopes().iter().flat_map(|scope| scope.variables());
        declared.find(|variable| variable.name.start == found.name.start)
    }

    /// The length of each axis, if all are declared.
    fn shape(&self, found: &GlobalVariable) -> Option<Vec<u64>> {
        let Variable { ty, dimensions, .. } = self.declaration(found)?;
        let mut shape = dimensions.iter().copied().collect::<Option<Vec<u64>>>()?;
        if ty.vector > 1 {
            shape.push(ty.vector.into());
        }
        Some(shape)
    }

    /// Whether it declares `malloc` or `free`.
    fn uses_heap(&self) -> bool {
        let mut declared = self.module.functions().iter().filter(|function| function.body.is_none());
        declared.any(|function| matches!(self.module.slice(&function.name), "malloc" | "free"))
    }

    /// Adds room for the variables to a memory, but for those that are elsewhere.
    pub(super) fn push_variables(&self, memory: &mut Memory, is_elsewhere: impl Fn(usize) -> bool) -> Vec<BufferId> {
        let variables = self.variables.iter().enumerate().map(|(i, variable)| {
            let len = variable.content.as_ref().map_or(0, |content| content.parts().0);
            // What is elsewhere has no name here.
            let (name, len) = if is_elsewhere(i) { ("", 0) } else { (&*variable.symbol, len) };
            let made = memory.push_zeros(name, len, variable.read_only);
            let made = memory.or_empty(name, made, variable.read_only);
            memory.reserve(made);
            made
        });
        let made = variables.collect();
        memory.functions += self.module.functions().len();
        made
    }

    /// Gives the variables their initial values. Now kernels of the program can be launched on the memory.
    pub(super) fn fill_variables(&self, memory: &mut Memory) {
        for variable in self.variables.iter().filter(|variable| !variable.is_elsewhere) {
            let start = variable.content.as_ref().map_or(&[][..], |content| content.parts().1);
            // It is empty if there was no memory for it.
            if let Some(place) = memory.bytes_mut(BufferId(variable.index)).get_mut(..start.len()) {
                place.copy_from_slice(start);
            }
            if let Some(sampler) = self.initial_sampler(variable) {
                memory.bind(BufferId(variable.index), Known::Sampler(sampler));
            }
        }
        memory.modules.push(self.origin.id);
    }

    /// What the module says of a sampler reference.
    fn initial_sampler(&self, variable: &GlobalVariable) -> Option<Sampler> {
        if variable.reference != Some("samplerref") {
            return None;
        }
        let text = self.declaration(variable)?.initializer.clone()?;
        initializer::sampler(self.module.slice(&text))
    }

    /// Adds the place of the heap of `malloc`, behind the variables, if there is none and the program may need one.
    pub(super) fn push_heap(&self, memory: &mut Memory) {
        if self.uses_heap() && memory.heap_index().is_none() {
            memory.push_heap();
        }
    }

    /// The program at another place.
    fn at(&self, origin: Origin, places: Option<&[VariablePlace]>) -> Program {
        let mut program = Program { origin, ..self.clone() };
        program.variables = program.lay_out_variables(places);
        program
    }

    /// The program without the variables of other modules.
    fn alone(&self) -> Cow<'_, Program> {
        match self.variables.iter().any(|variable| variable.is_elsewhere) {
            true => Cow::Owned(self.at(Origin::default(), None)),
            false => Cow::Borrowed(self),
        }
    }

    /// The module's own variables, with their indexes, that a linking directive makes known to other modules.
    fn linked(&self) -> impl Iterator<Item = (usize, &GlobalVariable, &Variable, Linkage)> {
        let of_module = self.module.scopes().first().into_iter().flat_map(|scope| scope.variables());
        of_module.filter_map(|variable| {
            let index = *self.by_name.get(&variable.name.start)?;
            let found = self.variables.get(index).filter(|found| found.number.is_none())?;
            Some((index, found, variable, variable.linkage?))
        })
    }
}

/// A variable that other modules may mean.
struct Definition<'p> {
    program: usize,
    index: usize,
    variable: &'p Variable,
    linkage: Linkage,
    bytes: u64,
}

/// The definition that each name means: the one that is `.visible`, else the first that is `.weak`, else the largest that is `.common`.
fn definitions<'p>(programs: &[&'p Program]) -> Result<HashMap<&'p str, Definition<'p>>, RunErrors> {
    let rank = |linkage: Linkage, bytes: u64| match linkage {
        Linkage::Visible => (2, 0),
        Linkage::Weak => (1, 0),
        _ => (0, bytes),
    };
    let mut definitions: HashMap<&str, Definition<'_>> = HashMap::default();
    let mut errors = Vec::new();
    for (program, one) in programs.iter().enumerate() {
        for (index, found, variable, linkage) in one.linked().filter(|(.., linkage)| *linkage != Linkage::Extern) {
            let bytes = found.content.as_ref().map_or(0, |content| content.parts().0);
            let definition = Definition { program, index, variable, linkage, bytes };
            match definitions.get(found.symbol.as_str()) {
                Some(known) if known.linkage == Linkage::Visible && linkage == Linkage::Visible => {
                    // Of one module it is another error.
                    if known.program != program {
                        let message =
                            format!("{} is defined by two modules that are loaded together", shown(&found.symbol));
                        let error = RunError::new(RunErrorKind::Link, message).at(one.place(&variable.name));
                        errors.push(error.with_help("leave `.visible` out of one of them, or write `.weak`"));
                    }
                }
                Some(known) if rank(known.linkage, known.bytes) >= rank(linkage, bytes) => {}
                _ => drop(definitions.insert(&found.symbol, definition)),
            }
        }
    }
    if errors.is_empty() { Ok(definitions) } else { Err(RunErrors(errors)) }
}

/// Why a declaration and a definition are not of one variable.
fn misfit(
    program: &Program,
    found: &GlobalVariable,
    declared: &Variable,
    defined: &Definition<'_>,
) -> Option<RunError> {
    let name = shown(&found.symbol);
    let fail = |message: String| Some(RunError::new(RunErrorKind::Link, message).at(program.place(&declared.name)));
    if declared.space != defined.variable.space {
        let (one, other) = (declared.space.name(), defined.variable.space.name());
        return fail(format!("{name} is declared .{one}, and defined .{other} in another module"));
    }
    let size = declared.ty.scalar.size() as u64;
    let bytes = program.shape(found)?.iter().try_fold(size, |product, n| product.checked_mul(*n))?;
    let fits = match declared.linkage {
        // Storage of `.common` is as large as the largest.
        _ if defined.linkage == Linkage::Common => bytes <= defined.bytes,
        Some(Linkage::Common) => bytes <= defined.bytes,
        // The variable of a definition that does not count is gone.
        Some(Linkage::Weak) => true,
        _ => bytes == defined.bytes,
    };
    match fits {
        true => None,
        false => {
            fail(format!("{name} has {bytes} bytes here and {} where it is defined, in another module", defined.bytes))
        }
    }
}

impl Memory {
    /// Loads modules, and links them with each other: returns the programs whose kernels run on this memory, in the same order. Each call
    /// adds their variables with their initial values; what the memory holds stays.
    ///
    /// Modules of one call see each other's variables as a linker of PTX has it. A variable that is declared `.extern` is the one that
    /// another module defines `.visible` or `.weak`. Of several `.weak` definitions the first counts, if none is `.visible`; `.common` ones
    /// are one variable. Modules of different calls do not see each other's variables by name, as with the driver. Functions are always
    /// the module's own.
    ///
    /// ```
    /// use vop_run::{LaunchOptions, Memory, Program};
    ///
    /// const HEAD: &str = ".version 8.0 .target sm_75 .address_size 64";
    /// let table = Program::read(&format!("{HEAD} .visible .global .u32 table[4] = {{10, 20, 30, 40}};"));
    /// let double = Program::read(&format!(
    ///     "{HEAD} .extern .global .u32 table[4];
    ///      .visible .entry double(.param .u64 place) {{
    ///          .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ///          ld.param.u64 %rd1, [place];
    ///          ld.global.u32 %r1, [table+4];
    ///          add.u32 %r2, %r1, %r1;
    ///          st.global.u32 [%rd1], %r2;
    ///          ret;
    ///      }}"
    /// ));
    /// let mut memory = Memory::default();
    /// let loaded = memory.load(&[&table, &double])?;
    /// // By name, and by address.
    /// let table = memory.find("table").expect("a module has it");
    /// assert_eq!(memory.locate(memory.address(table) + 8), Some((table, 8)));
    /// // A pointer to the last element.
    /// let last = memory.address(table) + 12;
    /// loaded[1].kernel("double")?.launch([1; 3], [1; 3], &[last.into()], &mut memory, &LaunchOptions::default())?;
    /// assert_eq!(memory.bytes(table)[12..], [40, 0, 0, 0]);
    /// # Ok::<(), vop_run::RunErrors>(())
    /// ```
    ///
    /// # Errors
    /// Two modules define a `.visible` variable of one name, or a declaration does not fit the definition ([`RunErrorKind::Link`]), or
    /// there is no memory for the variables. The memory is as before then. A variable that is declared `.extern`, and that no module
    /// defines, is an error of the kernels that use it.
    pub fn load(&mut self, programs: &[&Program]) -> Result<Vec<Program>, RunErrors> {
        // One that is loaded elsewhere is taken as its module says.
        let taken: Vec<Cow<'_, Program>> = programs.iter().map(|program| program.alone()).collect();
        let programs: Vec<&Program> = taken.iter().map(|program| &**program).collect();
        let definitions = definitions(&programs)?;
        let mut errors = Vec::new();
        // By program: which of its variables mean which definition.
        let mut meant: Vec<HashMap<usize, (usize, usize)>> = Vec::new();
        for (number, program) in programs.iter().enumerate() {
            let mut others = HashMap::default();
            for (index, found, variable, _) in program.linked() {
                let Some(definition) = definitions.get(found.symbol.as_str()) else { continue };
                if (definition.program, definition.index) != (number, index) {
                    errors.extend(misfit(program, found, variable, definition));
                    others.insert(index, (definition.program, definition.index));
                }
            }
            meant.push(others);
        }
        if !errors.is_empty() {
            return Err(RunErrors(errors));
        }
        let before = self.mark();
        let mut origins = Vec::new();
        let mut made: Vec<Vec<BufferId>> = Vec::new();
        for (program, others) in programs.iter().zip(&meant) {
            origins.push(Origin { id: next_id(), functions: self.functions, heap: 0 });
            made.push(program.push_variables(self, |index| others.contains_key(&index)));
        }
        programs.iter().for_each(|program| program.push_heap(self));
        let heap = self.heap_index().unwrap_or(0);
        let loaded: Vec<Program> = (programs.iter().enumerate().zip(origins).zip(&meant))
            .map(|(((number, program), origin), others)| {
                let place = |index: usize| {
                    let other = others.get(&index).copied();
                    let (program, variable) = other.unwrap_or((number, index));
                    let id = made[program][variable];
                    let (address, short) = (self.address(id), self.short_address(id));
                    VariablePlace { index: id.0, address, short, is_elsewhere: other.is_some() }
                };
                let places: Vec<VariablePlace> = (0..program.variables.len()).map(place).collect();
                program.at(Origin { heap, ..origin }, Some(&places))
            })
            .collect();
        loaded.iter().for_each(|program| program.fill_variables(self));
        match self.refused() {
            Some(error) if !before.refused => {
                self.undo(before);
                Err(error.into())
            }
            _ => Ok(loaded),
        }
    }

    /// Takes a program out that [`Memory::load`] has returned: its variables are freed, and its kernels cannot be launched any more.
    ///
    /// # Errors
    /// The program is not in this memory.
    pub fn unload(&mut self, program: &Program) -> Result<(), RunError> {
        let Some(at) = self.modules.iter().position(|id| *id == program.origin.id) else {
            return Err(RunError::new(RunErrorKind::Argument, "the program has not been loaded into this memory"));
        };
        self.modules.remove(at);
        for variable in program.variables.iter().filter(|variable| !variable.is_elsewhere) {
            self.free_any(BufferId(variable.index))?;
        }
        Ok(())
    }
}
