//! SIMD instructions of the host that loops are compiled for.

pub use vop::bulk::Level;

/// Which of the compiled loops a level runs. Every level below AVX2 runs the loops that are compiled without further instructions: the
/// compiler uses what the target has.
pub(crate) const BASELINE: usize = 0;
pub(crate) const AVX2: usize = 1;
pub(crate) const AVX512: usize = 2;

/// The number of compiled loops of one operation.
pub(crate) const COUNT: usize = 3;

/// The index of a level's loops.
pub(crate) fn index(level: Level) -> usize {
    match level {
        Level::Avx512 => AVX512,
        Level::Avx2 => AVX2,
        _ => BASELINE,
    }
}

/// Compiles a function for each index of loops: declares `fn name(level) -> unsafe fn(…) -> …`, which picks one. The body may use the
/// constant `LEVEL`, the index.
macro_rules! leveled {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name(level: $crate::level::Level) -> unsafe fn($($ty),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            use $crate::level::Level;
            unsafe fn portable($($arg: $ty),*) $(-> $result)? {
                #[allow(dead_code)]
                const LEVEL: usize = $crate::level::BASELINE;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
            unsafe fn avx2($($arg: $ty),*) $(-> $result)? {
                #[allow(dead_code)]
                const LEVEL: usize = $crate::level::AVX2;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(
                enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
            )]
            unsafe fn avx512($($arg: $ty),*) $(-> $result)? {
                #[allow(dead_code)]
                const LEVEL: usize = $crate::level::AVX512;
                $body
            }
            match level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => avx512,
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => avx2,
                _ => portable,
            }
        }
    };
}
pub(crate) use leveled;
