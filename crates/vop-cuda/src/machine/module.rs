//! Modules: PTX in the memory of a device.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use vop_run::texture::{Surface, Texture};
use vop_run::{Kernel, Program, RunError, RunErrorKind, RunErrors};

use super::context::Context;
use super::handles;
use super::join;
use super::memory::Allocation;
use super::report;
use crate::fatbin;
use crate::status::{Answer, Status};

/// A module of a context.
pub struct Module {
    /// Its handle.
    pub handle: u64,
    /// Its context.
    pub context: &'static Context,
    programs: Vec<Arc<Program>>,
    functions: Mutex<HashMap<String, Arc<Function>>>,
    variables: Mutex<HashMap<String, Arc<Allocation>>>,
    /// Handles of texture and surface references.
    references: Mutex<HashMap<String, u64>>,
    is_unloaded: AtomicBool,
}

/// A kernel of a module.
pub struct Function {
    /// Its handle.
    pub handle: u64,
    /// Its name in PTX.
    pub name: String,
    /// Its context.
    pub context: &'static Context,
    /// The handle of its module.
    pub module: u64,
    /// The handle of the `CUkernel` that it was made for, or 0.
    pub kernel_handle: AtomicUsize,
    program: Arc<Program>,
    kernel: OnceLock<Result<Arc<Kernel>, Status>>,
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
    pub max_dynamic_shared: AtomicU32,
    /// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`, which has no effect.
    pub carveout: std::sync::atomic::AtomicI32,
    /// The threads of the last launch, and what they executed.
    pub last: Mutex<(u64, u64)>,
    /// Whether its module is gone.
    is_unloaded: AtomicBool,
}

/// Why a module was not loaded.
#[derive(Debug)]
pub struct Refusal {
    /// What the program gets.
    pub status: Status,
    /// What is wrong, for the log.
    pub message: String,
}

impl From<fatbin::Error> for Refusal {
    fn from(error: fatbin::Error) -> Refusal {
        let status = match error.kind {
            fatbin::ErrorKind::NoCode => Status::NO_BINARY_FOR_GPU,
            _ => Status::INVALID_IMAGE,
        };
        let help = error.help.map_or(String::new(), |help| format!("\n  help: {help}"));
        Refusal { status, message: format!("{}{help}", error.message) }
    }
}

impl From<RunErrors> for Refusal {
    fn from(errors: RunErrors) -> Refusal {
        let status = errors.0.first().map_or(Status::INVALID_IMAGE, Status::from);
        Refusal { status, message: errors.to_string() }
    }
}

/// The static shared memory that a kernel may have, with the dynamic part, unless it asks for more.
pub const SHARED: u32 = 48 << 10;

/// Texts of at most so many bytes are read in full when they are loaded, so that errors are told then. Of others, kernels are read one by
/// one, when they are asked for.
const EAGER: usize = 256 << 10;

/// Texts that have been read, and are not loaded.
pub struct Texts {
    programs: Vec<Program>,
    /// Bytes of all of them.
    len: usize,
}

impl Texts {
    /// Reads texts, which are one module together.
    ///
    /// # Errors
    /// A text is no PTX, or is for another device.
    pub fn read(texts: &[String], architecture: u32) -> Result<Texts, Refusal> {
        let programs: Vec<Program> = texts.iter().map(|text| Program::read(text)).collect();
        programs.iter().try_for_each(|program| check(program, architecture))?;
        let programs = if join::is_needed(&programs) { vec![Program::read(&join::joined(texts))] } else { programs };
        Ok(Texts { programs, len: texts.iter().map(String::len).sum() })
    }

    /// The names of the kernels.
    pub fn kernels(&self) -> Vec<String> {
        self.programs.iter().flat_map(|program| program.entries().map(str::to_owned)).collect()
    }

    /// Whether texts can be one module.
    ///
    /// # Errors
    /// They do not fit one another.
    pub fn check_link(&self) -> Result<(), Refusal> {
        let programs: Vec<&Program> = self.programs.iter().collect();
        vop_run::Memory::at_host_addresses().load(&programs)?;
        Ok(())
    }
}

impl Module {
    /// Loads texts into the memory of the context's device, as one module.
    ///
    /// # Errors
    /// Texts do not fit one another, or there is no memory. Of small modules, kernels are read at once, and a kernel that is no PTX is an
    /// error.
    pub fn load(context: &'static Context, texts: &Texts) -> Result<Arc<Module>, Refusal> {
        let programs: Vec<&Program> = texts.programs.iter().collect();
        let loaded = context.device.memory().load(&programs)?;
        let module = Arc::new(Module {
            handle: handles::next(),
            context,
            programs: loaded.into_iter().map(Arc::new).collect(),
            functions: Mutex::default(),
            variables: Mutex::default(),
            references: Mutex::default(),
            is_unloaded: AtomicBool::new(false),
        });
        if texts.len <= EAGER {
            let names: Vec<String> = module.names();
            for name in names {
                let function = module.function(&name).map_err(|status| Refusal { status, message: String::new() })?;
                if let Err(errors) = function.decode()
                    && errors
                        .0
                        .iter()
                        .any(|error| matches!(error.kind, RunErrorKind::Malformed | RunErrorKind::Video(_)))
                {
                    module.unload();
                    return Err(Refusal { status: Status::INVALID_PTX, message: errors.to_string() });
                }
            }
        }
        context.machine().handles.set(module.handle, Arc::clone(&module));
        context.add_module(&module);
        Ok(module)
    }

    /// The names of its kernels.
    pub fn names(&self) -> Vec<String> {
        self.programs.iter().flat_map(|program| program.entries().map(str::to_owned)).collect()
    }

    /// A kernel by its name in PTX.
    ///
    /// # Errors
    /// [`Status::NOT_FOUND`].
    pub fn function(&self, name: &str) -> Answer<Arc<Function>> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = functions.get(name) {
            return Ok(Arc::clone(function));
        }
        let program = self.programs.iter().find(|program| program.entries().any(|entry| entry == name));
        let function = Arc::new(Function {
            handle: handles::next(),
            name: name.to_owned(),
            context: self.context,
            module: self.handle,
            kernel_handle: AtomicUsize::new(0),
            program: Arc::clone(program.ok_or(Status::NOT_FOUND)?),
            kernel: OnceLock::new(),
            max_dynamic_shared: AtomicU32::new(0),
            carveout: std::sync::atomic::AtomicI32::new(-1),
            last: Mutex::new((0, 0)),
            is_unloaded: AtomicBool::new(false),
        });
        self.context.machine().handles.set(function.handle, Arc::clone(&function));
        functions.insert(name.to_owned(), Arc::clone(&function));
        Ok(function)
    }

    /// A variable by its name in PTX.
    ///
    /// # Errors
    /// [`Status::NOT_FOUND`].
    pub fn variable(&self, name: &str) -> Answer<Arc<Allocation>> {
        let mut variables = self.variables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(variable) = variables.get(name) {
            return Ok(Arc::clone(variable));
        }
        let mut memory = self.context.device.memory();
        let found = self.programs.iter().find_map(|program| {
            let id = program.variable(name)?;
            let len = memory.len_of(id);
            // One that another program defines is empty here.
            (memory.name(id) == Some(name) && len > 0).then_some((id, len, is_managed(program, name)))
        });
        let (id, len, managed) = found.ok_or(Status::NOT_FOUND)?;
        let start = memory.pointer(id) as u64;
        drop(memory);
        let machine = self.context.machine();
        let variable = machine.add_variable(self.context.device, name, start, len, self.context.handle, managed);
        variables.insert(name.to_owned(), Arc::clone(&variable));
        Ok(variable)
    }

    /// Whether it has a texture or surface reference of this name.
    pub fn has_reference(&self, name: &str) -> bool {
        self.programs.iter().any(|program| {
            let module = program.module();
            module.scopes().iter().flat_map(|scope| scope.variables()).any(|variable| {
                matches!(variable.ty.scalar.name(), "texref" | "surfref" | "samplerref")
                    && module.slice(&variable.name) == name
            })
        })
    }

    /// The handle of a reference, which is made when it is first asked for.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn reference(&self, name: &str, make: impl FnOnce() -> u64) -> Answer<u64> {
        if !self.has_reference(name) {
            return Err(Status::NOT_FOUND);
        }
        let mut references = self.references.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(*references.entry(name.to_owned()).or_insert_with(make))
    }

    /// Binds a texture to a reference.
    ///
    /// # Errors
    /// It does not fit, or there is no such reference.
    pub fn bind_texture(&self, name: &str, texture: Texture) -> Result<(), RunError> {
        let mut memory = self.context.device.memory();
        self.try_each(|program| memory.bind_texture(program, name, texture))
    }

    /// Binds a surface to a reference.
    ///
    /// # Errors
    /// It does not fit, or there is no such reference.
    pub fn bind_surface(&self, name: &str, surface: Surface) -> Result<(), RunError> {
        let mut memory = self.context.device.memory();
        self.try_each(|program| memory.bind_surface(program, name, surface))
    }

    /// The program of the module that has something; the error of the last one if none has.
    fn try_each(&self, mut bind: impl FnMut(&Program) -> Result<(), RunError>) -> Result<(), RunError> {
        let mut result = Ok(());
        for program in &self.programs {
            result = bind(program);
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// Whether it was taken out of the device.
    pub fn is_unloaded(&self) -> bool {
        self.is_unloaded.load(Ordering::Acquire)
    }

    /// Takes it out of the device. Nothing runs any more that needs it.
    pub fn unload(&self) {
        if self.is_unloaded.swap(true, Ordering::AcqRel) {
            return;
        }
        let machine = self.context.machine();
        for (_, variable) in self.variables.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            let _ = machine.release(&variable);
        }
        for (_, function) in self.functions.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            function.is_unloaded.store(true, Ordering::Release);
            machine.handles.remove::<Function>(function.handle);
        }
        for (_, reference) in self.references.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            machine.handles.forget(reference);
        }
        let mut memory = self.context.device.memory();
        for program in &self.programs {
            let _ = memory.unload(program);
        }
        drop(memory);
        self.context.remove_module(self.handle);
        machine.handles.remove::<Module>(self.handle);
    }
}

/// Checks what a text says of itself.
fn check(program: &Program, architecture: u32) -> Result<(), Refusal> {
    let refuse = |status, message: String| Err(Refusal { status, message });
    let module = program.module();
    if module.version().is_none() {
        return refuse(Status::INVALID_PTX, "the module has no `.version`: it is no PTX".to_owned());
    }
    let Some(target) = module.target() else {
        return refuse(Status::INVALID_PTX, "the module has no `.target`".to_owned());
    };
    let digits: String = target.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    if digits.parse::<u32>().is_ok_and(|number| number > architecture) {
        let message = format!(
            "the module is for {target}, and the device is an sm_{architecture}\n  help: choose another device \
             (`vop exec --device {target}`), or compile for this one"
        );
        return refuse(Status::NO_BINARY_FOR_GPU, message);
    }
    Ok(())
}

impl Function {
    /// The number of the architecture that its module was compiled for: 75 for `sm_75`.
    pub fn architecture(&self) -> Option<u32> {
        Some(fatbin::Target::parse(self.program.module().target()?)?.arch)
    }

    fn decode(&self) -> Result<(), RunErrors> {
        if self.kernel.get().is_some() {
            return Ok(());
        }
        let kernel = self.program.kernel(&self.name)?;
        let _ = self.kernel.set(Ok(Arc::new(kernel)));
        Ok(())
    }

    /// Its code.
    ///
    /// # Errors
    /// It has something that cannot be run, which is reported the first time.
    pub fn kernel(&self) -> Answer<Arc<Kernel>> {
        if self.is_unloaded.load(Ordering::Acquire) {
            return Err(Status::INVALID_HANDLE);
        }
        let kernel = self.kernel.get_or_init(|| match self.program.kernel(&self.name) {
            Ok(kernel) => Ok(Arc::new(kernel)),
            Err(errors) => {
                let status = errors.0.first().map_or(Status::INVALID_IMAGE, Status::from);
                if status == Status::NOT_SUPPORTED {
                    self.context.machine().report.unsupported(&format!("kernel {}", vop_run::demangled(&self.name)));
                }
                let text = format!("the kernel `{}` cannot be run\n{errors}", vop_run::demangled(&self.name));
                report::refused(&text);
                Err(status)
            }
        });
        kernel.clone()
    }
}

/// Whether a variable is declared with `.attribute(.managed)`, which stands before its name.
fn is_managed(program: &Program, name: &str) -> bool {
    let module = program.module();
    let mut variables = module.scopes().iter().flat_map(|scope| scope.variables());
    variables.find(|variable| module.slice(&variable.name) == name).is_some_and(|variable| {
        let before = module.slice(&(0..variable.name.start));
        let start = before.rfind([';', '{', '}']).unwrap_or(0);
        before[start..].contains(".managed")
    })
}
