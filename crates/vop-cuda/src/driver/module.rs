//! Modules, libraries and the linker.

#![allow(unsafe_code, reason = "callers pass pointers")]

use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use super::launch::{attribute_of, kept_text, set_attribute_of};
use super::types::{DeviceNumber, DevicePointer, Handle, handle, list, number, put, put_if_asked, text};
use crate::abi::api;
use crate::fatbin;
use crate::machine::module::{Function, Module, Refusal, Texts};
use crate::machine::{Context, Machine, handles, machine, report};
use crate::status::{Answer, Status};

/// What `cuLinkComplete` makes begins with this. A number of texts follows, and for each its length and its bytes.
const LINKED: &[u8; 8] = b"\x7fVOPLNK\0";

/// Bytes of a file at most.
const MAX_FILE: u64 = 1 << 30;

/// A library: a module for each context that uses it.
struct Library {
    handle: u64,
    texts: Texts,
    modules: Mutex<HashMap<u64, Arc<Module>>>,
    /// Kernels by their names.
    kernels: Mutex<HashMap<String, u64>>,
}

/// A kernel of a library, in no context.
struct LibraryKernel {
    handle: u64,
    library: Arc<Library>,
    name: String,
}

/// What is being linked.
struct LinkState {
    texts: Mutex<Vec<String>>,
    image: Mutex<Vec<u8>>,
    log: Mutex<Log>,
}

/// The logs that a caller has asked for. Its buffers stay until the call, or the linker, ends.
#[derive(Default)]
struct Log {
    info: Buffer,
    error: Buffer,
}

/// A buffer, and where its length is told.
#[derive(Default)]
struct Buffer {
    start: usize,
    len: usize,
    written: usize,
    /// The address of the option's value, which becomes the number of bytes written.
    told: Option<usize>,
}

impl Buffer {
    /// Appends a text, as much as there is room for.
    ///
    /// # Safety
    /// The buffer is as long as the caller said.
    unsafe fn write(&mut self, text: &str) {
        if self.start != 0 && self.len > self.written + 1 {
            let count = text.len().min(self.len - self.written - 1);
            let to: *mut u8 = std::ptr::with_exposed_provenance_mut(self.start);
            // SAFETY: so many bytes are left, with one for the end.
            unsafe {
                std::ptr::copy_nonoverlapping(text.as_ptr(), to.add(self.written), count);
                to.add(self.written + count).write(0);
            }
            self.written += count;
        }
        if let Some(told) = self.told {
            let told: *mut usize = std::ptr::with_exposed_provenance_mut(told);
            // SAFETY: the caller's list of values has it.
            unsafe { told.write_unaligned(self.written) };
        }
    }
}

impl Log {
    /// Reads options: `CU_JIT_INFO_LOG_BUFFER` and its size, `CU_JIT_ERROR_LOG_BUFFER` and its size. Others are about the machine code
    /// that a card would get, and have no effect.
    ///
    /// # Safety
    /// There are so many options and values.
    unsafe fn of(count: u32, options: *const u32, values: *mut *mut c_void) -> Answer<Log> {
        let mut log = Log::default();
        // SAFETY: as the caller says.
        let (keys, all) = unsafe { (list(options, count as usize)?, list(values, count as usize)?) };
        for (i, (key, value)) in keys.into_iter().zip(all).enumerate() {
            let told = Some(values.wrapping_add(i).expose_provenance());
            match key {
                2 => {
                    // The time that compiling took is a number in the place of the pointer.
                    let place: *mut f32 = values.wrapping_add(i).cast();
                    // SAFETY: the caller's list of values has it.
                    unsafe { place.write_unaligned(0.0) };
                }
                3 => log.info.start = value.expose_provenance(),
                4 => (log.info.len, log.info.told) = (value.addr() & 0xffff_ffff, told),
                5 => log.error.start = value.expose_provenance(),
                6 => (log.error.len, log.error.told) = (value.addr() & 0xffff_ffff, told),
                _ => {}
            }
        }
        // SAFETY: the buffers are as long as the values say.
        unsafe {
            log.info.write("");
            log.error.write("");
        }
        Ok(log)
    }

    /// Tells a refusal: in the log, or on standard error if there is none.
    ///
    /// # Safety
    /// The buffers are still there.
    unsafe fn refuse(&mut self, refusal: Refusal) -> Status {
        if self.error.start != 0 && self.error.len > 0 {
            // SAFETY: as the caller says.
            unsafe { self.error.write(&format!("{}\n", refusal.message)) };
        } else {
            report::refused(&format!("a module cannot be loaded: {}", refusal.message));
        }
        if refusal.status == Status::NOT_SUPPORTED {
            report::not_supported("a module with something that cannot be run");
        }
        refusal.status
    }
}

/// The texts of an image: PTX, a fat binary, its wrapper, or what the linker has made.
///
/// # Safety
/// It is one of these, and stays until the call ends.
unsafe fn texts_of(machine: &Machine, image: *const c_void) -> Result<Vec<String>, Refusal> {
    let image: *const u8 = image.cast();
    // SAFETY: an image has at least a byte, and what begins so goes on.
    unsafe {
        if !image.is_null() && (0..LINKED.len()).all(|i| image.add(i).read() == LINKED[i]) {
            return Ok(linked_texts(image.add(LINKED.len())));
        }
        let images = fatbin::in_memory(image)?;
        Ok(images
            .into_iter()
            .map(|image| fatbin::ptx(image, machine.settings.architecture))
            .collect::<Result<_, _>>()?)
    }
}

/// # Safety
/// What `cuLinkComplete` has made, behind its first bytes.
unsafe fn linked_texts(mut at: *const u8) -> Vec<String> {
    let mut number = || {
        // SAFETY: as the caller says.
        unsafe {
            let number = at.cast::<u64>().read_unaligned();
            at = at.add(8);
            number as usize
        }
    };
    let lengths: Vec<usize> = (0..number()).map(|_| number()).collect();
    let mut texts = Vec::new();
    for len in lengths {
        // SAFETY: as the caller says.
        let bytes = unsafe { std::slice::from_raw_parts(at, len) };
        texts.push(String::from_utf8_lossy(bytes).into_owned());
        at = at.wrapping_add(len);
    }
    texts
}

fn file_texts(machine: &Machine, path: &str) -> Result<Vec<String>, Refusal> {
    let refuse = |error: std::io::Error| {
        let status = match error.kind() {
            std::io::ErrorKind::NotFound => Status::FILE_NOT_FOUND,
            _ => Status::OPERATING_SYSTEM,
        };
        Refusal { status, message: format!("{path}: {error}") }
    };
    let metadata = std::fs::metadata(path).map_err(refuse)?;
    if !metadata.is_file() || metadata.len() > MAX_FILE {
        return Err(Refusal { status: Status::INVALID_IMAGE, message: format!("{path}: no file, or too large a one") });
    }
    let mut bytes = std::fs::read(path).map_err(refuse)?;
    if bytes.starts_with(LINKED) {
        let message = || format!("{path}: the file is damaged");
        let is_whole = linked_len(&bytes) == Some(bytes.len());
        if !is_whole {
            return Err(Refusal { status: Status::INVALID_IMAGE, message: message() });
        }
        // Whoever reads behind the end finds a zero.
        bytes.push(0);
        // SAFETY: its lengths are right.
        return Ok(unsafe { linked_texts(bytes.as_ptr().add(LINKED.len())) });
    }
    Ok(vec![fatbin::ptx(&bytes, machine.settings.architecture)?])
}

/// How long the numbers in it say that it is.
fn linked_len(bytes: &[u8]) -> Option<usize> {
    let number = |i: usize| {
        let at = LINKED.len() + 8 * i;
        Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
    };
    let count = usize::try_from(number(0)?).ok().filter(|count| *count <= bytes.len() / 8)?;
    let mut len = (LINKED.len() + 8 * (count + 1)) as u64;
    for i in 0..count {
        len = len.checked_add(number(i + 1)?)?;
    }
    usize::try_from(len).ok()
}

/// The module of a handle.
fn module_of(module: Handle) -> Answer<Arc<Module>> {
    machine()?.handles.get(number(module)).ok_or(Status::INVALID_HANDLE)
}

/// The kernel of a handle: of a `CUfunction`, or of a `CUkernel` in the current context.
pub(super) fn function_of(function: Handle) -> Answer<Arc<Function>> {
    let machine = machine()?;
    if let Some(found) = machine.handles.get::<Function>(number(function)) {
        found.context.check_sticky()?;
        return Ok(found);
    }
    let kernel: Arc<LibraryKernel> = machine.handles.get(number(function)).ok_or(Status::INVALID_HANDLE)?;
    kernel.function(Context::current()?)
}

fn library_of(library: Handle) -> Answer<Arc<Library>> {
    machine()?.handles.get(number(library)).ok_or(Status::INVALID_HANDLE)
}

fn kernel_of(kernel: Handle) -> Answer<Arc<LibraryKernel>> {
    machine()?.handles.get(number(kernel)).ok_or(Status::INVALID_HANDLE)
}

impl LibraryKernel {
    fn function(&self, context: &'static Context) -> Answer<Arc<Function>> {
        let function = self.library.module(context)?.function(&self.name)?;
        function.kernel_handle.store(self.handle as usize, Ordering::Relaxed);
        Ok(function)
    }

    /// In the primary context of a device.
    fn on(&self, device: DeviceNumber) -> Answer<Arc<Function>> {
        let machine = machine()?;
        let device = machine.device(device)?;
        match Context::current_any().filter(|context| std::ptr::eq(context.device, device)) {
            Some(context) => self.function(context),
            None => self.function(device.retain_primary(machine)),
        }
    }
}

impl Library {
    /// Its module in a context, which is loaded when it is first needed.
    fn module(&self, context: &'static Context) -> Answer<Arc<Module>> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&context.handle).filter(|module| !module.is_unloaded()) {
            return Ok(Arc::clone(module));
        }
        let module = Module::load(context, &self.texts).map_err(|refusal| {
            report::refused(&format!("a library cannot be loaded: {}", refusal.message));
            refusal.status
        })?;
        modules.insert(context.handle, Arc::clone(&module));
        Ok(module)
    }

    fn kernel(self: &Arc<Self>, name: &str) -> Answer<u64> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kernels.get(name) {
            return Ok(*known);
        }
        if !self.texts.kernels().iter().any(|kernel| kernel == name) {
            return Err(Status::NOT_FOUND);
        }
        let handle = handles::next();
        let kernel = Arc::new(LibraryKernel { handle, library: Arc::clone(self), name: name.to_owned() });
        machine()?.handles.set(handle, kernel);
        kernels.insert(name.to_owned(), handle);
        Ok(handle)
    }
}

/// Reads an image and loads it.
///
/// # Safety
/// As for [`texts_of`], and there are so many options.
unsafe fn load(
    module: *mut Handle,
    image: *const c_void,
    count: u32,
    options: *const u32,
    values: *mut *mut c_void,
) -> Answer {
    let context = Context::current()?;
    if module.is_null() || image.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let machine = context.machine();
    // SAFETY: as the caller says.
    unsafe {
        let mut log = Log::of(count, options, values)?;
        let texts = texts_of(machine, image).and_then(|texts| Texts::read(&texts, machine.settings.architecture));
        let loaded = texts.and_then(|texts| Module::load(context, &texts)).map_err(|refusal| log.refuse(refusal))?;
        put(module, handle(loaded.handle))
    }
}

unsafe fn load_library(library: *mut Handle, texts: Result<Vec<String>, Refusal>, mut log: Log) -> Answer {
    let machine = machine()?;
    if library.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let read = texts.and_then(|texts| Texts::read(&texts, machine.settings.architecture));
    // SAFETY: the caller's buffers.
    let texts = read.map_err(|refusal| unsafe { log.refuse(refusal) })?;
    let made = handles::next();
    let new = Library { handle: made, texts, modules: Mutex::default(), kernels: Mutex::default() };
    machine.handles.set(made, Arc::new(new));
    // SAFETY: a place for a handle.
    unsafe { put(library, handle(made)) }
}

unsafe fn put_variable(to: *mut DevicePointer, size: *mut usize, module: &Module, name: *const c_char) -> Answer {
    // SAFETY: a text, or null.
    let variable = module.variable(unsafe { text(name) }?)?;
    // SAFETY: places for a pointer and a number, or null.
    unsafe {
        put_if_asked(to, variable.start);
        put_if_asked(size, variable.len as usize);
    }
    Ok(())
}

fn link_of(state: Handle) -> Answer<Arc<LinkState>> {
    machine()?.handles.get(number(state)).ok_or(Status::INVALID_HANDLE)
}

/// Adds to what is linked.
fn add(state: &LinkState, kind: u32, texts: Result<Vec<String>, Refusal>) -> Answer {
    let texts = match kind {
        // Machine code; PTX; a fat binary; an object or a library of the host with device code; NVVM.
        0 => Err(Refusal {
            status: Status::NO_BINARY_FOR_GPU,
            message:
                "machine code (a cubin) cannot be linked: vop runs PTX only\n  help: add PTX, or a fat binary with PTX"
                    .to_owned(),
        }),
        1 | 2 => texts,
        3 | 4 => {
            return Err(report::not_supported("objects and libraries of the host as inputs of cuLinkAddData"));
        }
        5 => return Err(report::not_supported("NVVM as an input of cuLinkAddData")),
        _ => return Err(Status::INVALID_VALUE),
    };
    match texts {
        Ok(texts) => {
            state.texts.lock().unwrap_or_else(PoisonError::into_inner).extend(texts);
            Ok(())
        }
        Err(refusal) => {
            let mut log = state.log.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: the program keeps its buffers until the linker ends, as CUDA demands.
            Err(unsafe { log.refuse(refusal) })
        }
    }
}

unsafe fn link_create(count: u32, options: *const u32, values: *mut *mut c_void, state: *mut Handle) -> Answer {
    let context = Context::current()?;
    // SAFETY: so many options, and a place for a handle, or null.
    unsafe {
        let log = Mutex::new(Log::of(count, options, values)?);
        let made = Arc::new(LinkState { texts: Mutex::default(), image: Mutex::default(), log });
        put(state, handle(context.machine().handles.add(made)))
    }
}

unsafe fn link_add_data(state: Handle, kind: u32, data: *const c_void, size: usize) -> Answer {
    let state = link_of(state)?;
    if data.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the caller passes so many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) };
    let texts = fatbin::ptx(bytes, machine()?.settings.architecture);
    add(&state, kind, texts.map(|text| vec![text]).map_err(Refusal::from))
}

unsafe fn link_add_file(state: Handle, kind: u32, path: *const c_char) -> Answer {
    let state = link_of(state)?;
    // SAFETY: a text, or null.
    let path = unsafe { text(path) }?;
    add(&state, kind, file_texts(machine()?, path))
}

api! {
    /// Loads a file.
    fn cuModuleLoad(module: *mut Handle, path: *const c_char) {
        let context = Context::current()?;
        // SAFETY: a text, or null.
        let path = unsafe { text(path) }?;
        if module.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let architecture = context.machine().settings.architecture;
        let texts = file_texts(context.machine(), path).and_then(|texts| Texts::read(&texts, architecture));
        let loaded = texts.and_then(|texts| Module::load(context, &texts));
        // SAFETY: there is no buffer.
        let loaded = loaded.map_err(|refusal| unsafe { Log::default().refuse(refusal) })?;
        // SAFETY: a place for a handle.
        unsafe { put(module, handle(loaded.handle)) }
    }

    /// Loads PTX, or a fat binary with PTX.
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) {
        // SAFETY: an image, or null.
        unsafe { load(module, image, 0, std::ptr::null(), std::ptr::null_mut()) }
    }

    /// Loads PTX, or a fat binary with PTX. Errors are in the log.
    fn cuModuleLoadDataEx(
        module: *mut Handle, image: *const c_void, count: u32, options: *const u32, values: *mut *mut c_void
    ) {
        // SAFETY: an image, or null, and so many options.
        unsafe { load(module, image, count, options, values) }
    }

    /// Loads a fat binary with PTX.
    fn cuModuleLoadFatBinary(module: *mut Handle, image: *const c_void) {
        // SAFETY: an image, or null.
        unsafe { load(module, image, 0, std::ptr::null(), std::ptr::null_mut()) }
    }

    /// Takes a module away.
    fn cuModuleUnload(module: Handle) {
        let module = module_of(module)?;
        module.context.drain();
        module.unload();
        module.context.check_sticky()
    }

    /// Kernels are read when they are needed.
    fn cuModuleGetLoadingMode(mode: *mut u32) {
        machine()?;
        // SAFETY: a place for a number, or null.
        unsafe { put(mode, 2) }
    }

    /// A kernel by its name.
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) {
        let module = module_of(module)?;
        // SAFETY: a text, or null.
        let found = module.function(unsafe { text(name) }?)?;
        // SAFETY: a place for a handle, or null.
        unsafe { put(function, handle(found.handle)) }
    }

    /// The number of kernels.
    fn cuModuleGetFunctionCount(count: *mut u32, module: Handle) {
        let names = module_of(module)?.names();
        // SAFETY: a place for a number, or null.
        unsafe { put(count, names.len() as u32) }
    }

    /// All kernels.
    fn cuModuleEnumerateFunctions(functions: *mut Handle, count: u32, module: Handle) {
        let module = module_of(module)?;
        for (i, name) in module.names().iter().take(count as usize).enumerate() {
            let found = module.function(name)?;
            if functions.is_null() {
                return Err(Status::INVALID_VALUE);
            }
            // SAFETY: places for so many handles.
            unsafe { functions.add(i).write_unaligned(handle(found.handle)) };
        }
        Ok(())
    }

    /// A variable by its name.
    fn cuModuleGetGlobal_v2(to: *mut DevicePointer, size: *mut usize, module: Handle, name: *const c_char) {
        // SAFETY: the caller's arguments.
        unsafe { put_variable(to, size, &*module_of(module)?, name) }
    }

    /// Loads a library, for all contexts.
    fn cuLibraryLoadData(
        library: *mut Handle, code: *const c_void, options: *const u32, values: *mut *mut c_void, count: u32,
        library_options: *const u32, library_values: *const *mut c_void, library_count: u32
    ) {
        let _ = (library_options, library_values, library_count);
        let machine = machine()?;
        if code.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: an image, and so many options.
        unsafe { load_library(library, texts_of(machine, code), Log::of(count, options, values)?) }
    }

    /// Loads a file, for all contexts.
    fn cuLibraryLoadFromFile(
        library: *mut Handle, path: *const c_char, options: *const u32, values: *mut *mut c_void, count: u32,
        library_options: *const u32, library_values: *const *mut c_void, library_count: u32
    ) {
        let _ = (library_options, library_values, library_count);
        let machine = machine()?;
        // SAFETY: a text, or null, and so many options.
        unsafe { load_library(library, file_texts(machine, text(path)?), Log::of(count, options, values)?) }
    }

    /// Takes a library away.
    fn cuLibraryUnload(library: Handle) {
        let machine = machine()?;
        let library = machine.handles.remove::<Library>(number(library)).ok_or(Status::INVALID_HANDLE)?;
        for (_, module) in library.modules.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            if !module.is_unloaded() {
                module.context.drain();
                module.unload();
            }
        }
        for (_, kernel) in library.kernels.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            machine.handles.remove::<LibraryKernel>(kernel);
        }
        Ok(())
    }

    /// A kernel by its name.
    fn cuLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char) {
        // SAFETY: a text, or null.
        let found = library_of(library)?.kernel(unsafe { text(name) }?)?;
        // SAFETY: a place for a handle, or null.
        unsafe { put(kernel, handle(found)) }
    }

    /// The number of kernels.
    fn cuLibraryGetKernelCount(count: *mut u32, library: Handle) {
        let names = library_of(library)?.texts.kernels();
        // SAFETY: a place for a number, or null.
        unsafe { put(count, names.len() as u32) }
    }

    /// All kernels.
    fn cuLibraryEnumerateKernels(kernels: *mut Handle, count: u32, library: Handle) {
        let library = library_of(library)?;
        for (i, name) in library.texts.kernels().iter().take(count as usize).enumerate() {
            let found = library.kernel(name)?;
            if kernels.is_null() {
                return Err(Status::INVALID_VALUE);
            }
            // SAFETY: places for so many handles.
            unsafe { kernels.add(i).write_unaligned(handle(found)) };
        }
        Ok(())
    }

    /// The module of a library in the current context.
    fn cuLibraryGetModule(module: *mut Handle, library: Handle) {
        let found = library_of(library)?.module(Context::current()?)?;
        // SAFETY: a place for a handle, or null.
        unsafe { put(module, handle(found.handle)) }
    }

    /// The kernel in the current context.
    fn cuKernelGetFunction(function: *mut Handle, kernel: Handle) {
        let found = kernel_of(kernel)?.function(Context::current()?)?;
        // SAFETY: a place for a handle, or null.
        unsafe { put(function, handle(found.handle)) }
    }

    /// The library of a kernel.
    fn cuKernelGetLibrary(library: *mut Handle, kernel: Handle) {
        let found = kernel_of(kernel)?.library.handle;
        // SAFETY: a place for a handle, or null.
        unsafe { put(library, handle(found)) }
    }

    /// A variable in the current context.
    fn cuLibraryGetGlobal(to: *mut DevicePointer, size: *mut usize, library: Handle, name: *const c_char) {
        // SAFETY: the caller's arguments.
        unsafe { put_variable(to, size, &*library_of(library)?.module(Context::current()?)?, name) }
    }

    /// A managed variable.
    fn cuLibraryGetManaged(to: *mut DevicePointer, size: *mut usize, library: Handle, name: *const c_char) {
        // SAFETY: the caller's arguments.
        unsafe { put_variable(to, size, &*library_of(library)?.module(Context::current()?)?, name) }
    }

    /// What a kernel says of itself on a device.
    fn cuKernelGetAttribute(value: *mut i32, attribute: i32, kernel: Handle, device: DeviceNumber) {
        let is = attribute_of(&*kernel_of(kernel)?.on(device)?, attribute)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(value, is) }
    }

    /// Sets what a kernel may use on a device.
    fn cuKernelSetAttribute(attribute: i32, value: i32, kernel: Handle, device: DeviceNumber) {
        set_attribute_of(&*kernel_of(kernel)?.on(device)?, attribute, value)
    }

    /// Prefers shared memory or the cache, which has no effect.
    fn cuKernelSetCacheConfig(kernel: Handle, config: i32, device: DeviceNumber) {
        kernel_of(kernel)?;
        machine()?.device(device)?;
        if (0..=3).contains(&config) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// The name of a kernel.
    fn cuKernelGetName(name: *mut *const c_char, kernel: Handle) {
        let text = kept_text(&kernel_of(kernel)?.name)?;
        // SAFETY: a place for a pointer, or null.
        unsafe { put(name, text) }
    }

    /// The place and size of a parameter.
    fn cuKernelGetParamInfo(kernel: Handle, index: usize, offset: *mut usize, size: *mut usize) {
        let kernel = kernel_of(kernel)?.on(0)?.kernel()?;
        let parameter = kernel.parameters().get(index).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: places for numbers, or null.
        unsafe {
            put(offset, parameter.offset())?;
            put_if_asked(size, parameter.bytes);
        }
        Ok(())
    }

    /// The number of parameters.
    fn cuKernelGetParamCount(kernel: Handle, count: *mut usize) {
        let kernel = kernel_of(kernel)?.on(0)?.kernel()?;
        // SAFETY: a place for a number, or null.
        unsafe { put(count, kernel.parameters().len()) }
    }

    /// Begins to link.
    fn cuLinkCreate_v2(count: u32, options: *const u32, values: *mut *mut c_void, state: *mut Handle) {
        // SAFETY: the caller's arguments.
        unsafe { link_create(count, options, values, state) }
    }

    /// Begins to link.
    fn cuLinkCreate(count: u32, options: *const u32, values: *mut *mut c_void, state: *mut Handle) {
        // SAFETY: the caller's arguments.
        unsafe { link_create(count, options, values, state) }
    }

    /// Adds PTX, or a fat binary with PTX.
    fn cuLinkAddData_v2(
        state: Handle, kind: u32, data: *const c_void, size: usize, name: *const c_char, count: u32,
        options: *const u32, values: *mut *mut c_void
    ) {
        let _ = (name, count, options, values);
        // SAFETY: the caller's arguments.
        unsafe { link_add_data(state, kind, data, size) }
    }

    /// Adds PTX, or a fat binary with PTX.
    fn cuLinkAddData(
        state: Handle, kind: u32, data: *const c_void, size: usize, name: *const c_char, count: u32,
        options: *const u32, values: *mut *mut c_void
    ) {
        let _ = (name, count, options, values);
        // SAFETY: the caller's arguments.
        unsafe { link_add_data(state, kind, data, size) }
    }

    /// Adds a file.
    fn cuLinkAddFile_v2(
        state: Handle, kind: u32, path: *const c_char, count: u32, options: *const u32, values: *mut *mut c_void
    ) {
        let _ = (count, options, values);
        // SAFETY: the caller's arguments.
        unsafe { link_add_file(state, kind, path) }
    }

    /// Adds a file.
    fn cuLinkAddFile(
        state: Handle, kind: u32, path: *const c_char, count: u32, options: *const u32, values: *mut *mut c_void
    ) {
        let _ = (count, options, values);
        // SAFETY: the caller's arguments.
        unsafe { link_add_file(state, kind, path) }
    }

    /// Links: the image holds all texts, for `cuModuleLoadData`.
    fn cuLinkComplete(state: Handle, image: *mut *mut c_void, size: *mut usize) {
        let state = link_of(state)?;
        let texts = state.texts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let read = Texts::read(&texts, machine()?.settings.architecture);
        if let Err(refusal) = read.and_then(|read| read.check_link()) {
            // SAFETY: the program keeps its buffers until the linker ends, as CUDA demands.
            return Err(unsafe { state.log.lock().unwrap_or_else(PoisonError::into_inner).refuse(refusal) });
        }
        let mut made = LINKED.to_vec();
        made.extend_from_slice(&(texts.len() as u64).to_le_bytes());
        texts.iter().for_each(|text| made.extend_from_slice(&(text.len() as u64).to_le_bytes()));
        texts.iter().for_each(|text| made.extend_from_slice(text.as_bytes()));
        let mut kept = state.image.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = made;
        // SAFETY: places for a pointer and a number, or null. The image stays until the linker ends.
        unsafe {
            put(image, kept.as_mut_ptr().cast())?;
            put_if_asked(size, kept.len());
        }
        Ok(())
    }

    /// Ends the linker.
    fn cuLinkDestroy(state: Handle) {
        machine()?.handles.remove::<LinkState>(number(state)).map(|_| ()).ok_or(Status::INVALID_HANDLE)
    }
}
