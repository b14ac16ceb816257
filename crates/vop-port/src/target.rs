//! [`Target`]: the languages, a row each.

use core::fmt;
use core::str::FromStr;

use vop_ptx::find::Language;

use crate::print::{self, Syntax};

/// A language that functions are written in.
///
/// It reads and prints as the command's `--to` does.
#[derive(Clone, Copy)]
pub struct Target(&'static Row);

/// What a language is, and how its text is written.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Whether there are integers of 64 bits.
    pub(crate) has_long: bool,
    pub(crate) syntax: &'static (dyn Syntax + Sync),
}

/// One row a language.
#[rustfmt::skip]
static ROWS: [Row; 12] = [
    Row { name: "c",      has_long: true,  syntax: &print::C,      description: "C99: portable, without undefined behaviour" },
    Row { name: "cpp",    has_long: true,  syntax: &print::CPP,    description: "C++17: constexpr functions" },
    Row { name: "cuda",   has_long: true,  syntax: &print::CUDA,   description: "CUDA C++: plain operations, for host and device" },
    Row { name: "hip",    has_long: true,  syntax: &print::HIP,    description: "HIP C++: plain operations, for host and device" },
    Row { name: "sycl",   has_long: true,  syntax: &print::CPP,    description: "SYCL: constexpr functions of C++17, which kernels call" },
    Row { name: "metal",  has_long: true,  syntax: &print::METAL,  description: "Metal Shading Language" },
    Row { name: "opencl", has_long: true,  syntax: &print::OPENCL, description: "OpenCL C 1.2" },
    Row { name: "rust",   has_long: true,  syntax: &print::RUST,   description: "Rust: const functions, without the standard library" },
    Row { name: "llvm",   has_long: true,  syntax: &print::LLVM,   description: "LLVM IR: functions that are inlined" },
    Row { name: "numpy",  has_long: true,  syntax: &print::NUMPY,  description: "Python with NumPy: functions of whole arrays" },
    Row { name: "wgsl",   has_long: false, syntax: &print::WGSL,   description: "WGSL: what needs no integers of 64 bits" },
    Row { name: "glsl",   has_long: false, syntax: &print::GLSL,   description: "GLSL: what needs no integers of 64 bits" },
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
    pub const fn has_long(self) -> bool {
        self.0.has_long
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
