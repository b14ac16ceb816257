//! The languages that the finder reads, by file name.

use std::path::Path;

/// A language that holds PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// CUDA C++, C++ and C, headers included.
    Cuda,
    /// OpenCL C.
    OpenCl,
    /// Python.
    Python,
    /// LLVM's intermediate representation as text.
    LlvmIr,
    /// Rust.
    Rust,
    /// PTX itself.
    Ptx,
}

impl Language {
    /// The language of a file, judged by its extension in any case; `None` for an extension that no language here has.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "cu" | "cuh" | "h" | "hh" | "hpp" | "hxx" | "inl" | "ipp" | "tpp" | "cpp" | "cc" | "cxx" | "c" | "hip" => {
                Self::Cuda
            }
            "cl" | "clh" => Self::OpenCl,
            "py" | "pyi" | "pyx" => Self::Python,
            "ll" => Self::LlvmIr,
            "rs" => Self::Rust,
            "ptx" => Self::Ptx,
            _ => return None,
        })
    }
}
