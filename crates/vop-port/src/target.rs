//! [`Target`]: the languages, a row each.

use core::fmt;
use core::str::FromStr;

use vop_ptx::find::Language;

use crate::code::{Op, Width};
use crate::machine::{self, Machine};
use crate::print::{self, Syntax};
use crate::{julia, vector};

/// A language that functions are written in.
///
/// It reads and prints as the command's `--to` does.
#[derive(Clone, Copy)]
pub struct Target(&'static Row);

/// What a language is, and how its text is written.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Its operations.
    pub(crate) machine: &'static Machine,
    pub(crate) syntax: &'static (dyn Syntax + Sync),
}

/// One row a language.
#[rustfmt::skip]
static ROWS: [Row; 16] = [
    Row { name: "c",      machine: &machine::PLAIN,  syntax: &print::C,        description: "C99: portable, without undefined behaviour" },
    Row { name: "cpp",    machine: &machine::PLAIN,  syntax: &print::CPP,      description: "C++17: constexpr functions" },
    Row { name: "avx2",   machine: &machine::AVX2,   syntax: &vector::AVX2,    description: "C with AVX2: functions of eight words (`__m256i`)" },
    Row { name: "avx512", machine: &machine::AVX512, syntax: &vector::AVX512,  description: "C with AVX-512BW: functions of sixteen words (`__m512i`)" },
    Row { name: "neon",   machine: &machine::NEON,   syntax: &vector::NEON,    description: "C with NEON of AArch64: functions of four words (`uint32x4_t`)" },
    Row { name: "cuda",   machine: &machine::PLAIN,  syntax: &print::CUDA,     description: "CUDA C++: plain operations, for host and device" },
    Row { name: "hip",    machine: &machine::PLAIN,  syntax: &print::HIP,      description: "HIP C++: plain operations, and on AMD's GPUs built-in functions" },
    Row { name: "sycl",   machine: &machine::PLAIN,  syntax: &print::CPP,      description: "SYCL: constexpr functions of C++17, which kernels call" },
    Row { name: "metal",  machine: &machine::PLAIN,  syntax: &print::METAL,    description: "Metal Shading Language" },
    Row { name: "opencl", machine: &machine::OPENCL, syntax: &print::OPENCL,   description: "OpenCL C 1.2: with its built-in functions on vectors" },
    Row { name: "rust",   machine: &machine::PLAIN,  syntax: &print::RUST,     description: "Rust: const functions, without the standard library" },
    Row { name: "llvm",   machine: &machine::PLAIN,  syntax: &print::LLVM,     description: "LLVM IR: functions that are inlined" },
    Row { name: "numpy",  machine: &machine::PLAIN,  syntax: &print::NUMPY,    description: "Python with NumPy: functions of whole arrays" },
    Row { name: "julia",  machine: &machine::PLAIN,  syntax: &julia::JULIA,    description: "Julia: functions of UInt32, for values and by a dot for arrays" },
    Row { name: "wgsl",   machine: &machine::WORDS,  syntax: &print::WGSL,     description: "WGSL: without integers of 64 bits" },
    Row { name: "glsl",   machine: &machine::WORDS,  syntax: &print::GLSL,     description: "GLSL: without integers of 64 bits" },
];

impl Target {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Target> {
        ROWS.iter().map(Target)
    }

    /// Its name: `c`, `cpp`.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// What it is, in a few words.
    pub const fn description(self) -> &'static str {
        self.0.description
    }

    /// Whether the language has integers of 64 bits.
    pub fn has_long(self) -> bool {
        (self.0.machine.cost)(Op::Add(Width::Long)).is_some()
    }

    /// Whether its functions can be called from sources in C's syntax.
    pub fn is_c(self) -> bool {
        self.0.syntax.types().is_some()
    }

    /// Whether functions can be called in the place of `asm` statements of files in this language: of C's relatives in C's syntax, and in
    /// strings of Python that hold it; of Rust and LLVM IR in their own files.
    pub fn is_called_from(self, language: Language) -> bool {
        match (self.0.syntax.language(), language) {
            (Some(Language::Cuda), Language::Cuda | Language::OpenCl | Language::Python) => true,
            (Some(own), other) => own == other,
            (None, _) => false,
        }
    }

    /// Whether files of some language can call its functions.
    pub fn is_called(self) -> bool {
        self.0.syntax.language().is_some()
    }

    /// Whether its functions can hold the instructions themselves for NVIDIA's GPUs: not constexpr functions, and not other languages.
    pub fn can_keep_ptx(self) -> bool {
        self.0.syntax.nvidia().is_some()
    }

    pub(crate) const fn machine(self) -> &'static Machine {
        self.0.machine
    }

    pub(crate) const fn syntax(self) -> &'static (dyn Syntax + Sync) {
        self.0.syntax
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Target) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Target {}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({})", self.0.name)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// What [`Target`] says to a name that it does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTarget(String);

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        write!(f, "`{}` is not a target; these are: {}", self.0, names.join(", "))
    }
}

impl core::error::Error for UnknownTarget {}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(text: &str) -> Result<Target, UnknownTarget> {
        ROWS.iter().find(|row| row.name == text).map(Target).ok_or_else(|| UnknownTarget(text.to_string()))
    }
}
