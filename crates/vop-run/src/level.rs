//! SIMD instructions of the host that loops are compiled for.

/// A set of SIMD instructions, chosen when a kernel is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// What every CPU of the architecture has.
    Portable,
    /// x86-64 with AVX2, FMA, BMI and F16C.
    Avx2,
    /// x86-64 with AVX-512 F, BW, CD, DQ and VL.
    Avx512,
}

impl Level {
    pub(crate) const COUNT: usize = 3;

    /// Whether this CPU has it.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = || {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
                    && is_x86_feature_detected!("f16c")
            };
            match self {
                Level::Portable => true,
                Level::Avx2 => avx2(),
                Level::Avx512 => {
                    avx2()
                        && is_x86_feature_detected!("avx512f")
                        && is_x86_feature_detected!("avx512bw")
                        && is_x86_feature_detected!("avx512cd")
                        && is_x86_feature_detected!("avx512dq")
                        && is_x86_feature_detected!("avx512vl")
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Level::Portable
        }
    }

    /// The best that this CPU has.
    pub fn best() -> Level {
        [Level::Avx512, Level::Avx2].into_iter().find(|level| level.is_available()).unwrap_or(Level::Portable)
    }

    /// All that this CPU has, the plainest first.
    pub fn available() -> Vec<Level> {
        [Level::Portable, Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available()).collect()
    }
}

/// Compiles a function for each [`Level`]: declares `fn name(level) -> unsafe fn(…) -> …`, which picks one. The body may ask for
/// the constant `LEVEL`.
macro_rules! leveled {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        fn $name(level: $crate::level::Level) -> unsafe fn($($ty),*) $(-> $result)? {
            use $crate::level::Level;
            unsafe fn portable($($arg: $ty),*) $(-> $result)? {
                #[allow(dead_code)]
                const LEVEL: Level = Level::Portable;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
            unsafe fn avx2($($arg: $ty),*) $(-> $result)? {
                #[allow(dead_code)]
                const LEVEL: Level = Level::Avx2;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(
                enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
            )]
            unsafe fn avx512($($arg: $ty),*) $(-> $result)? {
                #[allow(dead_code)]
                const LEVEL: Level = Level::Avx512;
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
