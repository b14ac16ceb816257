//! What the program's host code registers before `main`: fat binaries, and the addresses that stand for their kernels and variables.
//!
//! Nothing is read then. A fat binary is loaded when one of its kernels or variables is first used.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use super::types::Dim3;
use super::{context, driver, put, runtime};
use crate::abi;
use crate::fatbin::{self, ErrorKind};
use crate::status::{Answer, Status};

/// A registered fat binary.
struct Binary {
    /// Its images: one, or all that are to be linked.
    images: Result<Vec<&'static [u8]>, fatbin::Error>,
    /// The library that they are loaded as.
    library: OnceLock<Answer<usize>>,
    /// Managed variables, by the place of the host's pointer to each.
    managed: Mutex<Vec<Managed>>,
}

/// A managed variable.
struct Managed {
    /// Where the host has a pointer to it.
    pointer: usize,
    name: CString,
    /// Its address and size, once it is loaded.
    place: Option<(usize, usize)>,
}

/// A kernel by the address of its host function.
struct Function {
    binary: Arc<Binary>,
    name: CString,
    kernel: OnceLock<Answer<usize>>,
}

/// A variable by the address of its shadow in the host.
struct Variable {
    binary: Arc<Binary>,
    name: CString,
}

#[derive(Default)]
struct Registry {
    /// By the handles that the program got.
    binaries: HashMap<usize, Arc<Binary>>,
    functions: HashMap<usize, Arc<Function>>,
    variables: HashMap<usize, Arc<Variable>>,
}

static REGISTRY: RwLock<Option<Registry>> = RwLock::new(None);

fn with<T>(use_it: impl FnOnce(&Registry) -> T) -> Option<T> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(use_it)
}

fn change<T>(use_it: impl FnOnce(&mut Registry) -> T) -> T {
    use_it(REGISTRY.write().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

impl Binary {
    /// Loads the images, the first time.
    fn library(&self) -> Answer<*mut c_void> {
        let library = self.library.get_or_init(|| {
            let images = self.images.as_ref().map_err(refused)?;
            let image = match images[..] {
                [image] => image.as_ptr(),
                _ => return linked(images),
            };
            load(image.cast())
        });
        library.map(|library| library as *mut c_void)
    }

    /// Loads the images, and tells the host where its managed variables are.
    fn initialize(&self) -> Answer {
        let mut managed = self.managed.lock().unwrap_or_else(PoisonError::into_inner);
        if managed.iter().all(|variable| variable.place.is_some()) {
            return Ok(());
        }
        context::ensure()?;
        let library = self.library()?;
        for variable in managed.iter_mut().filter(|variable| variable.place.is_none()) {
            let (mut address, mut size) = (0u64, 0usize);
            driver!(cuLibraryGetManaged(&raw mut address, &raw mut size, library.cast(), variable.name.as_ptr()))?;
            variable.place = Some((address as usize, size));
            // SAFETY: the place is a pointer of the program that registered it for this.
            unsafe { (variable.pointer as *mut usize).write(address as usize) };
        }
        Ok(())
    }
}

/// Says why an image cannot be used, and gives the error code.
fn refused(error: &fatbin::Error) -> Status {
    crate::machine::report::refused(&format!("device code of the program cannot be used: {error}"));
    match error.kind {
        ErrorKind::Invalid => Status::INVALID_IMAGE,
        ErrorKind::NoCode => Status::NO_BINARY_FOR_GPU,
    }
}

fn load(image: *const c_void) -> Answer<usize> {
    let mut library: *mut c_void = std::ptr::null_mut();
    let none = std::ptr::null_mut::<c_void>();
    driver!(cuLibraryLoadData(
        (&raw mut library).cast(),
        image.cast(),
        none.cast(),
        none.cast(),
        0,
        none.cast(),
        none.cast(),
        0
    ))?;
    Ok(library as usize)
}

/// Links the PTX of several images (`nvcc -rdc=true`) and loads the result.
fn linked(images: &[&[u8]]) -> Answer<usize> {
    let (mut major, mut minor) = (0, 0);
    let device = context::device()?;
    driver!(cuDeviceGetAttribute(&raw mut major, 75 as _, device))?;
    driver!(cuDeviceGetAttribute(&raw mut minor, 76 as _, device))?;
    let arch = (10 * major + minor) as u32;
    let mut texts = Vec::new();
    let mut without = None;
    for image in images {
        match fatbin::ptx(image, arch) {
            Ok(text) => texts.push(CString::new(text).map_err(|_| Status::INVALID_IMAGE)?),
            // What nothing links to need not be there, such as the library of device-side launches. Linking tells what is missing.
            Err(error) if error.kind == ErrorKind::NoCode => _ = without.get_or_insert(error),
            Err(error) => return Err(refused(&error)),
        }
    }
    match (&texts[..], without) {
        ([], Some(error)) => return Err(refused(&error)),
        ([text], _) => return load(text.as_ptr().cast()),
        _ => {}
    }
    let mut state: *mut c_void = std::ptr::null_mut();
    let none = std::ptr::null_mut::<c_void>();
    driver!(cuLinkCreate_v2(0, none.cast(), none.cast(), (&raw mut state).cast()))?;
    let link = || {
        for (index, text) in texts.iter().enumerate() {
            let name = CString::new(format!("module {}", index + 1)).map_err(|_| Status::UNKNOWN)?;
            let length = text.as_bytes_with_nul().len();
            let data = text.as_ptr().cast_mut().cast::<c_void>();
            driver!(cuLinkAddData_v2(
                state.cast(),
                PTX as _,
                data,
                length,
                name.as_ptr(),
                0,
                none.cast(),
                none.cast()
            ))?;
        }
        let (mut made, mut size) = (none, 0usize);
        driver!(cuLinkComplete(state.cast(), &raw mut made, &raw mut size))?;
        load(made)
    };
    let library = link();
    _ = driver!(cuLinkDestroy(state.cast()));
    library
}

/// `CU_JIT_INPUT_PTX`.
const PTX: u32 = 1;

/// The kernel that an address stands for: that of a host function, or the handle of a kernel.
pub(super) fn kernel(function: *const c_void) -> Answer<*mut c_void> {
    if function.is_null() {
        return Err(Status::INVALID_DEVICE_FUNCTION);
    }
    let Some(found) = with(|registry| registry.functions.get(&(function as usize)).cloned()).flatten() else {
        // A handle, which the driver knows or does not.
        return Ok(function.cast_mut());
    };
    let kernel = found.kernel.get_or_init(|| {
        let library = found.binary.library()?;
        let mut kernel: *mut c_void = std::ptr::null_mut();
        driver!(cuLibraryGetKernel((&raw mut kernel).cast(), library.cast(), found.name.as_ptr())).map_err(
            |status| {
                if status == Status::NOT_FOUND { Status::INVALID_DEVICE_FUNCTION } else { status }
            },
        )?;
        Ok(kernel as usize)
    });
    kernel.map(|kernel| kernel as *mut c_void)
}

/// The host function of the kernel that has been used and that `is_it`, or else the function itself.
pub(super) fn host_function(function: *mut c_void, is_it: impl Fn(*mut c_void) -> bool) -> *mut c_void {
    let used = with(|registry| {
        let kernels =
            registry.functions.iter().filter_map(|(host, function)| Some((*host, (*function.kernel.get()?).ok()?)));
        kernels.collect::<Vec<_>>()
    });
    let found = used.into_iter().flatten().find(|(_, kernel)| is_it(*kernel as *mut c_void));
    found.map_or(function, |(host, _)| host as *mut c_void)
}

/// The address and the size of the variable that an address of the host stands for, in the current context.
pub(super) fn variable(symbol: *const c_void) -> Answer<(*mut c_void, usize)> {
    let found = with(|registry| registry.variables.get(&(symbol as usize)).cloned()).flatten();
    let Some(found) = found else { return managed(symbol as usize) };
    let library = found.binary.library()?;
    let (mut address, mut size) = (0u64, 0usize);
    driver!(cuLibraryGetGlobal(&raw mut address, &raw mut size, library.cast(), found.name.as_ptr())).map_err(
        |status| {
            if status == Status::NOT_FOUND { Status::INVALID_SYMBOL } else { status }
        },
    )?;
    Ok((address as *mut c_void, size))
}

/// A managed variable: by its own address, which the host's code has, or by the place of the host's pointer.
fn managed(address: usize) -> Answer<(*mut c_void, usize)> {
    let binaries: Vec<Arc<Binary>> = with(|registry| registry.binaries.values().cloned().collect()).unwrap_or_default();
    for binary in binaries {
        let is_pointer = |variable: &Managed| variable.pointer == address;
        if binary.managed.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_pointer) {
            binary.initialize()?;
        }
        let variables = binary.managed.lock().unwrap_or_else(PoisonError::into_inner);
        let places = variables.iter().filter_map(|variable| variable.place.map(|place| (variable, place)));
        let found = places.into_iter().find(|(variable, (at, _))| *at == address || is_pointer(variable));
        if let Some((_, (at, size))) = found {
            return Ok((at as *mut c_void, size));
        }
    }
    Err(Status::INVALID_SYMBOL)
}

/// The binary of a handle.
fn binary(handle: *mut *mut c_void) -> Option<Arc<Binary>> {
    with(|registry| registry.binaries.get(&(handle as usize)).cloned()).flatten()
}

/// # Safety
/// It is a string of C.
unsafe fn name(name: *const c_char) -> CString {
    // SAFETY: as the caller says.
    unsafe { CStr::from_ptr(name) }.to_owned()
}

/// Registers a fat binary; the handle names it.
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *mut c_void) -> *mut *mut c_void {
    let mut handle = std::ptr::null_mut();
    abi::guarded("__cudaRegisterFatBinary", |_| {
        // SAFETY: compilers pass a wrapper, which is a constant of the program; it is forgotten when the program takes it away.
        let images = unsafe { fatbin::in_memory(wrapper.cast()) };
        let binary = Binary { images, library: OnceLock::new(), managed: Mutex::default() };
        // The program passes the handle back, and does not look behind it.
        handle = Box::into_raw(Box::new(wrapper));
        change(|registry| registry.binaries.insert(handle as usize, Arc::new(binary)));
        Ok(())
    });
    handle
}

/// Ends the registration of a fat binary's parts.
pub unsafe extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

/// How long streams are waited for at the end while no kernel runs.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// Takes a fat binary away: the program ends, or a library that it had loaded is closed.
pub unsafe extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    abi::guarded("__cudaUnregisterFatBinary", |_| {
        let removed = change(|registry| {
            let removed = registry.binaries.remove(&(handle as usize))?;
            registry.functions.retain(|_, function| !Arc::ptr_eq(&function.binary, &removed));
            registry.variables.retain(|_, variable| !Arc::ptr_eq(&variable.binary, &removed));
            Some(removed)
        });
        if let Some(removed) = removed {
            // SAFETY: the handle was made by `Box::into_raw`, and was still registered.
            drop(unsafe { Box::from_raw(handle) });
            if let Some(Ok(library)) = removed.library.get() {
                // At the end of the process nobody is left for what the streams wait for, and all goes with the process.
                if !crate::machine::machine()?.drain_patiently(PATIENCE) {
                    crate::machine::report::say(
                        "vop: warning: the program ends while a stream waits for a function of the program, or for a value in memory; \
                         what was given to the stream behind that is not done\n",
                    );
                    return Ok(());
                }
                driver!(cuLibraryUnload((*library as *mut c_void).cast()))?;
            }
        }
        Ok(())
    });
}

/// Registers a kernel.
#[allow(clippy::too_many_arguments, reason = "the function of CUDA has as many")]
pub unsafe extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    host_function: *const c_char,
    _device_function: *mut c_char,
    device_name: *const c_char,
    _thread_limit: i32,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_size: *mut Dim3,
    _grid_size: *mut Dim3,
    _warp_size: *mut i32,
) {
    abi::guarded("__cudaRegisterFunction", |_| {
        let binary = binary(handle).ok_or(Status::INVALID_HANDLE)?;
        // SAFETY: the caller passes a string.
        let name = unsafe { name(device_name) };
        let function = Function { binary, name, kernel: OnceLock::new() };
        change(|registry| registry.functions.insert(host_function as usize, Arc::new(function)));
        Ok(())
    });
}

/// Registers a variable.
#[allow(clippy::too_many_arguments, reason = "the function of CUDA has as many")]
pub unsafe extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    host_variable: *mut c_char,
    _device_address: *mut c_char,
    device_name: *const c_char,
    _external: i32,
    _size: usize,
    _constant: i32,
    _global: i32,
) {
    abi::guarded("__cudaRegisterVar", |_| {
        let binary = binary(handle).ok_or(Status::INVALID_HANDLE)?;
        // SAFETY: the caller passes a string.
        let name = unsafe { name(device_name) };
        change(|registry| registry.variables.insert(host_variable as usize, Arc::new(Variable { binary, name })));
        Ok(())
    });
}

/// Registers a managed variable.
#[allow(clippy::too_many_arguments, reason = "the function of CUDA has as many")]
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: *mut *mut c_void,
    host_pointer: *mut *mut c_void,
    _device_address: *mut c_char,
    device_name: *const c_char,
    _external: i32,
    _size: usize,
    _constant: i32,
    _global: i32,
) {
    abi::guarded("__cudaRegisterManagedVar", |_| {
        let binary = binary(handle).ok_or(Status::INVALID_HANDLE)?;
        // SAFETY: the caller passes a string.
        let name = unsafe { name(device_name) };
        let variable = Managed { pointer: host_pointer as usize, name, place: None };
        binary.managed.lock().unwrap_or_else(PoisonError::into_inner).push(variable);
        Ok(())
    });
}

/// Loads a fat binary, so that the host can use its managed variables. Not zero if that is done.
pub unsafe extern "C" fn __cudaInitModule(handle: *mut *mut c_void) -> c_char {
    let status = abi::guarded("__cudaInitModule", |_| binary(handle).ok_or(Status::INVALID_HANDLE)?.initialize());
    super::error::kept(status);
    c_char::from(status == Status::SUCCESS)
}

runtime! {
    /// The address of a variable.
    fn cudaGetSymbolAddress(pointer: *mut *mut c_void, symbol: *const c_void) {
        context::ensure()?;
        unsafe { put(pointer, variable(symbol)?.0) }
    }

    /// The size of a variable.
    fn cudaGetSymbolSize(size: *mut usize, symbol: *const c_void) {
        context::ensure()?;
        unsafe { put(size, variable(symbol)?.1) }
    }
}
