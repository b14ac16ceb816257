//! [`Level`]: which vector instructions a processor has.

/// The vector instructions that a loop may use: levels of what processors have.
///
/// [`Plan`](super::Plan) has loops for each of them, and so may whatever else is compiled for several processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// What the compiler makes of plain code, on any processor.
    Portable,
    /// SSE2, which every x86-64 processor has.
    Sse2,
    /// x86-64-v3: AVX2, FMA, BMI1, BMI2, LZCNT, POPCNT and F16C.
    Avx2,
    /// x86-64-v4: AVX-512 with its F, BW, CD, DQ and VL parts, and all of [`Level::Avx2`].
    Avx512,
    /// NEON, which every AArch64 processor has that has floating point.
    Neon,
}

impl Level {
    /// All of them. Of those that one processor has, the last is the best.
    pub const ALL: [Level; 5] = [Level::Portable, Level::Sse2, Level::Avx2, Level::Avx512, Level::Neon];

    /// The best one that every processor has for which the program was compiled.
    pub const BASELINE: Level = if cfg!(target_arch = "x86_64") {
        Level::Sse2
    } else if cfg!(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")) {
        Level::Neon
    } else {
        Level::Portable
    };

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            Level::Sse2 | Level::Neon => self == Level::BASELINE,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                std::is_x86_feature_detected!("avx2")
                    && std::is_x86_feature_detected!("fma")
                    && std::is_x86_feature_detected!("bmi1")
                    && std::is_x86_feature_detected!("bmi2")
                    && std::is_x86_feature_detected!("lzcnt")
                    && std::is_x86_feature_detected!("popcnt")
                    && std::is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512bw")
                    && std::is_x86_feature_detected!("avx512cd")
                    && std::is_x86_feature_detected!("avx512dq")
                    && std::is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        }
    }

    /// The levels that this processor has, the best one last.
    pub fn available() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }

    /// The best level that this processor has.
    pub fn best() -> Level {
        Level::available().last().unwrap_or(Level::BASELINE)
    }
}
