//! As much of OpenCL as timing a kernel takes, by the library that the system has, if it has one.

use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};

use libloading::Library;

type Handle = *mut c_void;
type Code = i32;

const DEVICE_TYPE_ALL: u64 = 0xffff_ffff;
const DEVICE_NAME: u32 = 0x102b;
const DEVICE_VERSION: u32 = 0x102f;
const PROGRAM_BUILD_LOG: u32 = 0x1183;
const READ_WRITE: u64 = 1;

/// A device that computes.
pub struct Device {
    library: Library,
    device: Handle,
    context: Handle,
    queue: Handle,
    /// What it calls itself.
    pub name: String,
}

pub struct Buffer(Handle);

pub struct Kernel {
    kernel: Handle,
    dimensions: [[usize; 3]; 2],
}

/// Calls a function of the library by its name; its first argument's type stands for the signature.
macro_rules! call {
    ($library:expr, $name:literal, ($($ty:ty),*) -> $result:ty, $($arg:expr),* $(,)?) => {{
        // SAFETY: the signature is that of OpenCL's headers, and the arguments are what it asks for.
        unsafe {
            let function = $library.get::<unsafe extern "C" fn($($ty),*) -> $result>($name).expect("a function of OpenCL");
            function($($arg),*)
        }
    }};
}

impl Device {
    /// The first device of the platform of this name.
    pub fn find(platform_name: &str) -> Option<Device> {
        // SAFETY: the library is the system's.
        let library = unsafe { Library::new("libOpenCL.so.1") }.ok()?;
        let mut platforms: [Handle; 16] = [null_mut(); 16];
        let mut count = 0u32;
        let ids = platforms.as_mut_ptr();
        let code = call!(library, b"clGetPlatformIDs", (u32, *mut Handle, *mut u32) -> Code, 16, ids, &mut count);
        if code != 0 {
            return None;
        }
        const PLATFORM_NAME: u32 = 0x0902;
        let text = |name: &[u8], of: Handle, what: u32| {
            let mut bytes = vec![0u8; 1024];
            let at = bytes.as_mut_ptr().cast::<c_void>();
            // SAFETY: as for `call`.
            unsafe {
                type Info = unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> Code;
                library.get::<Info>(name).expect("a function of OpenCL")(of, what, 1024, at, null_mut());
            }
            String::from_utf8_lossy(bytes.split(|b| *b == 0).next().unwrap_or(&[])).into_owned()
        };
        let platform = platforms[..count as usize]
            .iter()
            .copied()
            .find(|platform| text(b"clGetPlatformInfo", *platform, PLATFORM_NAME).contains(platform_name))?;
        let mut device = null_mut();
        let code = call!(library, b"clGetDeviceIDs", (Handle, u64, u32, *mut Handle, *mut u32) -> Code,
            platform, DEVICE_TYPE_ALL, 1, &mut device, null_mut());
        if code != 0 {
            return None;
        }
        let name = [DEVICE_NAME, DEVICE_VERSION].map(|what| text(b"clGetDeviceInfo", device, what)).join(", ");
        let mut code = 0;
        let context = call!(library, b"clCreateContext",
            (*const isize, u32, *const Handle, *const c_void, *const c_void, *mut Code) -> Handle,
            null(), 1, &device, null(), null(), &mut code);
        let queue = call!(library, b"clCreateCommandQueue", (Handle, Handle, u64, *mut Code) -> Handle,
            context, device, 0, &mut code);
        assert_eq!(code, 0, "a queue of commands");
        Some(Device { library, device, context, queue, name })
    }

    /// Compiles a program; returns it to be asked for kernels.
    pub fn program(&self, source: &str) -> *mut c_void {
        let (text, length, mut code) = (source.as_ptr().cast::<c_char>(), source.len(), 0);
        let program = call!(self.library, b"clCreateProgramWithSource",
            (Handle, u32, *const *const c_char, *const usize, *mut Code) -> Handle,
            self.context, 1, &text, &length, &mut code);
        let options = CString::new("-cl-std=CL1.2").expect("no zero");
        let built = call!(self.library, b"clBuildProgram",
            (Handle, u32, *const Handle, *const c_char, *const c_void, *const c_void) -> Code,
            program, 1, &self.device, options.as_ptr(), null(), null());
        if built != 0 {
            let mut log = vec![0u8; 1 << 16];
            call!(self.library, b"clGetProgramBuildInfo", (Handle, Handle, u32, usize, *mut c_void, *mut usize) -> Code,
                program, self.device, PROGRAM_BUILD_LOG, log.len(), log.as_mut_ptr().cast(), null_mut());
            panic!("{}", String::from_utf8_lossy(&log));
        }
        program
    }

    pub fn buffer(&self, bytes: &[u8]) -> Buffer {
        let mut code = 0;
        let buffer = call!(self.library, b"clCreateBuffer", (Handle, u64, usize, *const c_void, *mut Code) -> Handle,
            self.context, READ_WRITE, bytes.len(), null(), &mut code);
        assert_eq!(code, 0, "a buffer");
        let buffer = Buffer(buffer);
        self.write(&buffer, bytes);
        buffer
    }

    pub fn write(&self, buffer: &Buffer, bytes: &[u8]) {
        let code = call!(self.library, b"clEnqueueWriteBuffer",
            (Handle, Handle, u32, usize, usize, *const c_void, u32, *const Handle, *mut Handle) -> Code,
            self.queue, buffer.0, 1, 0, bytes.len(), bytes.as_ptr().cast(), 0, null(), null_mut());
        assert_eq!(code, 0, "a copy to a buffer");
    }

    pub fn read(&self, buffer: &Buffer, bytes: &mut [u8]) {
        let code = call!(self.library, b"clEnqueueReadBuffer",
            (Handle, Handle, u32, usize, usize, *mut c_void, u32, *const Handle, *mut Handle) -> Code,
            self.queue, buffer.0, 1, 0, bytes.len(), bytes.as_mut_ptr().cast(), 0, null(), null_mut());
        assert_eq!(code, 0, "a copy from a buffer");
    }

    /// A kernel of a program with its arguments: buffers, then words.
    pub fn kernel(
        &self,
        program: *mut c_void,
        name: &str,
        grid: [u32; 3],
        block: [u32; 3],
        buffers: &[Buffer],
        words: &[u32],
    ) -> Kernel {
        let (name, mut code) = (CString::new(name).expect("no zero"), 0);
        let kernel = call!(self.library, b"clCreateKernel", (Handle, *const c_char, *mut Code) -> Handle,
            program, name.as_ptr(), &mut code);
        assert_eq!(code, 0, "a kernel");
        let mut arguments: Vec<(usize, *const c_void)> =
            buffers.iter().map(|buffer| (size_of::<Handle>(), std::ptr::from_ref(&buffer.0).cast())).collect();
        arguments.extend(words.iter().map(|word| (size_of::<u32>(), std::ptr::from_ref(word).cast())));
        for (i, (bytes, at)) in arguments.into_iter().enumerate() {
            let code = call!(self.library, b"clSetKernelArg", (Handle, u32, usize, *const c_void) -> Code,
                kernel, i as u32, bytes, at);
            assert_eq!(code, 0, "argument {i}");
        }
        let block = block.map(|n| n as usize);
        let threads = std::array::from_fn(|i| grid[i] as usize * block[i]);
        Kernel { kernel, dimensions: [threads, block] }
    }

    /// Runs a kernel to its end.
    pub fn run(&self, kernel: &Kernel) {
        let [threads, block] = &kernel.dimensions;
        let code = call!(self.library, b"clEnqueueNDRangeKernel",
            (Handle, Handle, u32, *const usize, *const usize, *const usize, u32, *const Handle, *mut Handle) -> Code,
            self.queue, kernel.kernel, 3, null(), threads.as_ptr(), block.as_ptr(), 0, null(), null_mut());
        assert_eq!(code, 0, "a kernel starts");
        assert_eq!(call!(self.library, b"clFinish", (Handle) -> Code, self.queue), 0, "a kernel ends");
    }
}
