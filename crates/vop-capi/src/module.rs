//! Modules and their kernels.

#![allow(unsafe_code, reason = "the pointers are C's")]

use std::ffi::c_char;
use std::sync::Arc;

use vop_run::{Kernel, Program};

use crate::diagnostic::{run_failure, vop_diagnostics, write};
use crate::guard::{Failure, answer, ask, free, object, produce, vop_status};
use crate::memory::{Shared, lock, vop_memory};
use crate::text::{Text, text_of, view_of, vop_str};

/// A PTX module that is loaded into a memory. It never changes, so threads may share it.
pub struct vop_module {
    loaded: Arc<Loaded>,
    entries: Vec<Text>,
}

/// A program that is in a memory for as long as its module or a function of it is there.
pub(crate) struct Loaded {
    program: Program,
    pub(crate) memory: Shared,
}

impl Loaded {
    /// The text of the module.
    pub(crate) fn ptx(&self) -> &str {
        self.program.module().text()
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // A memory that a fault has left is not touched.
        if let Ok(mut memory) = self.memory.lock() {
            // It was loaded into this memory, and is unloaded once.
            let _ = memory.unload(&self.program);
        }
    }
}

/// Reads a PTX module and puts its variables into a memory. The memory may be freed afterwards.
///
/// A kernel that cannot be run is an error of `vop_module_function`, not of this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_module_load(
    memory: *mut vop_memory,
    ptx: *const c_char,
    ptx_len: usize,
    out: *mut *mut vop_module,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed, and a text of this length.
        let (memory, ptx) = unsafe { (object(memory, "memory")?, text_of(ptx, ptx_len, "ptx")?) };
        let program = Program::read(ptx);
        let module = program.module();
        if module.version().is_none() && module.functions().is_empty() {
            let message = "the text is no PTX module: it has neither `.version` nor a function";
            let help = "`nvcc -ptx` compiles CUDA source to a PTX module";
            return Err(Failure::with_help(vop_status::VOP_ERROR_MODULE, message, help));
        }
        let loaded = lock(memory.shared())?.load(&[&program]);
        let loaded = loaded.map_err(|errors| run_failure(vop_status::VOP_ERROR_MODULE, &errors, ptx))?;
        let missing = || Failure::new(vop_status::VOP_ERROR_BUG, "a module that was loaded is not there");
        let program = loaded.into_iter().next().ok_or_else(missing)?;
        let entries = program.entries().map(Text::new).collect();
        Ok(vop_module { loaded: Arc::new(Loaded { program, memory: Arc::clone(memory.shared()) }), entries })
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, work) }
}

/// Frees a module; null is nothing to free. Its functions stay valid. When the last of them is freed, its variables are taken out of the
/// memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_module_free(module: *mut vop_module) {
    // SAFETY: C gives up a handle of this library.
    unsafe { free(module) };
}

/// The number of kernels that the module has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_module_entries(module: *const vop_module) -> usize {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(module, 0, |module| module.entries.len()) }
}

/// The name of a kernel in the PTX, from 0; empty if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_module_entry(module: *const vop_module, index: usize) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(module, vop_str::EMPTY, |module| view_of(module.entries.get(index))) }
}

/// Finds a `.global` or `.const` variable by its name in PTX or C++, and tells its address and size. Either place may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_module_variable(
    module: *const vop_module,
    name: *const c_char,
    name_len: usize,
    address: *mut u64,
    bytes: *mut u64,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed, and a text of this length.
        let (module, name) = unsafe { (object(module, "module")?, text_of(name, name_len, "name")?) };
        let found = module.loaded.program.variable(name).ok_or_else(|| {
            let message = format!("the module has no variable `{name}`, or several have the name");
            Failure::with_help(vop_status::VOP_ERROR_ARGUMENT, message, "write the name as the PTX has it")
        })?;
        let memory = lock(&module.loaded.memory)?;
        // SAFETY: C gives places that are null or valid for a write.
        unsafe {
            write(address, memory.address(found));
            write(bytes, memory.len_of(found));
        }
        Ok(())
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}

/// A kernel, decoded and ready to launch. It never changes, so threads may share it.
pub struct vop_function {
    pub(crate) kernel: Kernel,
    pub(crate) loaded: Arc<Loaded>,
    name: Text,
    /// Names and types.
    parameters: Vec<(Text, Text)>,
}

/// Decodes a kernel, by its name in PTX or C++: `ns::scale<float>(float*, int)`, or an end of that which no other kernel has, such as
/// `scale`. If something in it cannot be run, there is a diagnostic for each such statement. The module may be freed afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_module_function(
    module: *const vop_module,
    name: *const c_char,
    name_len: usize,
    out: *mut *mut vop_function,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed, and a text of this length.
        let (module, name) = unsafe { (object(module, "module")?, text_of(name, name_len, "name")?) };
        let loaded = &module.loaded;
        let kernel = loaded.program.kernel(name);
        let kernel = kernel.map_err(|errors| run_failure(vop_status::VOP_ERROR_MODULE, &errors, loaded.ptx()))?;
        let parameters = kernel.parameters().iter();
        let parameters = parameters.map(|one| (Text::new(&*one.name), Text::new(one.ty.name()))).collect();
        let name = Text::new(kernel.name());
        Ok(vop_function { kernel, loaded: Arc::clone(loaded), name, parameters })
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, work) }
}

/// Frees a function; null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_function_free(function: *mut vop_function) {
    // SAFETY: C gives up a handle of this library.
    unsafe { free(function) };
}

/// The kernel's name in the PTX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_function_name(function: *const vop_function) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(function, vop_str::EMPTY, |function| function.name.view()) }
}

/// The number of its parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_function_parameters(function: *const vop_function) -> usize {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(function, 0, |function| function.parameters.len()) }
}

/// The name of a parameter in the PTX, from 0; empty if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_function_parameter_name(function: *const vop_function, index: usize) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(function, vop_str::EMPTY, |function| view_of(function.parameters.get(index).map(|(name, _)| name))) }
}

/// The PTX type of a parameter, or of its elements if it is an array: `u64`, `f32`, `b8`. Empty if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_function_parameter_type(function: *const vop_function, index: usize) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(function, vop_str::EMPTY, |function| view_of(function.parameters.get(index).map(|(_, ty)| ty))) }
}

/// The size of a parameter in bytes; 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_function_parameter_size(function: *const vop_function, index: usize) -> usize {
    let size = |function: &vop_function| function.kernel.parameters().get(index).map_or(0, |one| one.bytes);
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(function, 0, size) }
}
