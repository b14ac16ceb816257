//! Symbols of a shared object that jump to this library's functions.

/// The symbol `$symbol`, which jumps to a function.
#[doc(hidden)]
#[macro_export]
#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($symbol:expr, $to:path) => {
        ::std::arch::global_asm!(
            concat!(".globl ", $symbol), concat!(".type ", $symbol, ",@function"), concat!($symbol, ": jmp {}"),
            concat!(".size ", $symbol, ", .-", $symbol), sym $to
        );
    };
    (per_thread $symbol:expr, $to:path) => {
        ::std::arch::global_asm!(
            concat!(".globl ", $symbol), concat!(".type ", $symbol, ",@function"), concat!($symbol, ":"),
            // All registers that arguments may be in; the stack is then a multiple of 16.
            "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "sub rsp, 8",
            "call {}",
            "add rsp, 8", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
            "jmp {}", concat!(".size ", $symbol, ", .-", $symbol), sym $crate::per_thread_default_stream, sym $to
        );
    };
}

/// The symbol `$symbol`, which jumps to a function.
#[doc(hidden)]
#[macro_export]
#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    ($symbol:expr, $to:path) => {
        ::std::arch::global_asm!(
            concat!(".globl ", $symbol), concat!(".type ", $symbol, ",@function"), concat!($symbol, ": b {}"),
            concat!(".size ", $symbol, ", .-", $symbol), sym $to
        );
    };
    (per_thread $symbol:expr, $to:path) => {
        ::std::arch::global_asm!(
            concat!(".globl ", $symbol), concat!(".type ", $symbol, ",@function"), concat!($symbol, ":"),
            "stp x29, x30, [sp, -80]!", "stp x0, x1, [sp, 16]", "stp x2, x3, [sp, 32]", "stp x4, x5, [sp, 48]",
            "stp x6, x7, [sp, 64]",
            "bl {}",
            "ldp x6, x7, [sp, 64]", "ldp x4, x5, [sp, 48]", "ldp x2, x3, [sp, 32]", "ldp x0, x1, [sp, 16]",
            "ldp x29, x30, [sp], 80",
            "b {}", concat!(".size ", $symbol, ", .-", $symbol), sym $crate::per_thread_default_stream, sym $to
        );
    };
}

/// The symbol `$symbol` of a version that is not the default, which jumps to a function.
#[doc(hidden)]
#[macro_export]
macro_rules! jump_old {
    (per_thread $version:literal, $symbol:expr, $to:path) => {
        $crate::jump!(per_thread concat!("vop_12_", $symbol), $to);
        $crate::jump_old!(symver $version, $symbol);
    };
    (symver $version:literal, $symbol:expr) => {
        ::std::arch::global_asm!(concat!(".symver vop_12_", $symbol, ", ", $symbol, "@", $version, ", remove"));
    };
    ($version:literal, $symbol:expr, $to:path) => {
        $crate::jump!(concat!("vop_12_", $symbol), $to);
        $crate::jump_old!(symver $version, $symbol);
    };
}

/// Symbols of a list of functions.
#[doc(hidden)]
#[macro_export]
macro_rules! export_driver {
    (functions { $($name:ident)* } ptsz { $($z:ident)* } ptds { $($d:ident)* } unsupported { $($no:ident)* }) => {
        $($crate::jump!(stringify!($name), $crate::driver::$name);)*
        $($crate::jump!(per_thread concat!(stringify!($z), "_ptsz"), $crate::driver::$z);)*
        $($crate::jump!(per_thread concat!(stringify!($d), "_ptds"), $crate::driver::$d);)*
        $($crate::jump!(stringify!($no), $crate::driver::unsupported::$no);)*
    };
}

/// Makes a symbol of each function of CUDA's interfaces. To be called once, in what becomes the shared object.
#[macro_export]
macro_rules! export {
    () => {
        $crate::driver_functions!($crate::export_driver);
        $crate::runtime_functions!($crate::export_runtime);
        $crate::entry_point!();
    };
}

/// Symbols of the lists of `runtime_functions!`.
#[doc(hidden)]
#[macro_export]
macro_rules! export_runtime {
    (
        both { $($name:ident)* } both_ptsz { $($z:ident)* } both_ptds { $($d:ident)* }
        only_13 { $($new:ident)* } only_13_ptsz { $($new_z:ident)* }
        only_12 { $($old:ident = $to:ident,)* } only_12_ptsz { $($old_z:ident = $to_z:ident,)* }
        no { $($no:ident)* } no_13 { $($no_13:ident)* } no_12 { $($no_12:ident)* }
    ) => {
        $($crate::jump!(stringify!($name), $crate::runtime::$name);)*
        $($crate::jump_old!("libcudart.so.12", stringify!($name), $crate::runtime::$name);)*
        $($crate::jump!(per_thread concat!(stringify!($z), "_ptsz"), $crate::runtime::$z);)*
        $($crate::jump_old!(per_thread "libcudart.so.12", concat!(stringify!($z), "_ptsz"), $crate::runtime::$z);)*
        $($crate::jump!(per_thread concat!(stringify!($d), "_ptds"), $crate::runtime::$d);)*
        $($crate::jump_old!(per_thread "libcudart.so.12", concat!(stringify!($d), "_ptds"), $crate::runtime::$d);)*
        $($crate::jump!(stringify!($new), $crate::runtime::$new);)*
        $($crate::jump!(per_thread concat!(stringify!($new_z), "_ptsz"), $crate::runtime::$new_z);)*
        $($crate::jump_old!("libcudart.so.12", stringify!($old), $crate::runtime::$to);)*
        $($crate::jump_old!(per_thread "libcudart.so.12", concat!(stringify!($old_z), "_ptsz"), $crate::runtime::$to_z);)*
        $($crate::jump!(stringify!($no), $crate::runtime::unsupported::$no);)*
        $($crate::jump_old!("libcudart.so.12", stringify!($no), $crate::runtime::unsupported::$no);)*
        $($crate::jump!(stringify!($no_13), $crate::runtime::unsupported::$no_13);)*
        $($crate::jump_old!("libcudart.so.12", stringify!($no_12), $crate::runtime::unsupported::$no_12);)*
    };
}

/// The entry point of the shared object as a program, and the name of the loader, without which it could not be executed.
#[doc(hidden)]
#[macro_export]
#[cfg(target_arch = "x86_64")]
macro_rules! entry_point {
    () => {
        ::std::arch::global_asm!(
            ".globl vop_cuda_executed", ".hidden vop_cuda_executed", "vop_cuda_executed:", "xor ebp, ebp",
            "and rsp, -16", "call {}", "ud2",
            sym $crate::executed
        );
        #[used]
        #[unsafe(link_section = ".interp")]
        static LOADER: [u8; 28] = *b"/lib64/ld-linux-x86-64.so.2\0";
    };
}

/// The entry point of the shared object as a program, and the name of the loader, without which it could not be executed.
#[doc(hidden)]
#[macro_export]
#[cfg(target_arch = "aarch64")]
macro_rules! entry_point {
    () => {
        ::std::arch::global_asm!(
            ".globl vop_cuda_executed", ".hidden vop_cuda_executed", "vop_cuda_executed:", "mov x29, xzr", "bl {}",
            "brk 1",
            sym $crate::executed
        );
        #[used]
        #[unsafe(link_section = ".interp")]
        static LOADER: [u8; 27] = *b"/lib/ld-linux-aarch64.so.1\0";
    };
}
