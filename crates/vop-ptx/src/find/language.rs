//! The languages that the finder reads, by file name and by the name of a code block.

use std::path::Path;

/// A language that holds PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// CUDA C++, C++ and C, headers and preprocessed files included.
    Cuda,
    /// OpenCL C.
    OpenCl,
    /// Python, and Mojo.
    Python,
    /// LLVM's intermediate representation as text.
    LlvmIr,
    /// MLIR as text.
    Mlir,
    /// Rust.
    Rust,
    /// Julia.
    Julia,
    /// Go.
    Go,
    /// D.
    D,
    /// Zig.
    Zig,
    /// Nim.
    Nim,
    /// PTX itself.
    Ptx,
    /// Markdown: its code blocks, each in the language that its fence names.
    Markdown,
    /// A Jinja template that makes CUDA C++ or another language like C.
    JinjaCuda,
    /// A Jinja template that makes PTX.
    JinjaPtx,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 15] = [
        Language::Cuda,
        Language::OpenCl,
        Language::Python,
        Language::LlvmIr,
        Language::Mlir,
        Language::Rust,
        Language::Julia,
        Language::Go,
        Language::D,
        Language::Zig,
        Language::Nim,
        Language::Ptx,
        Language::Markdown,
        Language::JinjaCuda,
        Language::JinjaPtx,
    ];

    /// The language of a file, judged by its extension in any case; `None` for an extension that no language here has.
    /// A template has the extension of what it makes before its own: `kernel.ptx.j2`.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "cu" | "cuh" | "h" | "hh" | "hpp" | "hxx" | "inl" | "ipp" | "tpp" | "cpp" | "cc" | "cxx" | "c" | "hip"
            | "ii" | "inc" => Self::Cuda,
            "cl" | "clh" => Self::OpenCl,
            "py" | "pyi" | "pyx" | "mojo" | "🔥" => Self::Python,
            "ll" => Self::LlvmIr,
            "mlir" => Self::Mlir,
            "rs" => Self::Rust,
            "jl" => Self::Julia,
            "go" => Self::Go,
            "d" | "di" => Self::D,
            "zig" => Self::Zig,
            "nim" | "nims" => Self::Nim,
            "ptx" => Self::Ptx,
            "md" | "markdown" | "mdx" | "qmd" | "rmd" => Self::Markdown,
            "j2" | "jinja" | "jinja2" => {
                return Some(match path.file_stem().and_then(|made| Self::from_path(Path::new(made))) {
                    Some(Self::Ptx) => Self::JinjaPtx,
                    // What a template adds to these is no string of theirs.
                    Some(other) if !matches!(other, Self::Cuda | Self::OpenCl) => other,
                    _ => Self::JinjaCuda,
                });
            }
            _ => return None,
        })
    }

    /// The language that the fence of a code block names: the words behind its backticks, such as `cuda`, `rust,ignore`,
    /// `{.cpp .numberLines}` or `{code-cell} ipython3`; `None` where it names none, or another.
    #[must_use]
    pub fn from_fence(info: &str) -> Option<Self> {
        let words = info.split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | '='));
        let mut words =
            words.map(|word| word.trim_matches(['.', '"', '\'']).to_ascii_lowercase()).filter(|word| !word.is_empty());
        let first = words.next()?;
        let name = if matches!(first.as_str(), "code" | "code-cell" | "code-block") { words.next()? } else { first };
        Some(match name.as_str() {
            "cuda" | "cu" | "c++" | "cpp" | "cxx" | "cc" | "c" | "h" | "hpp" | "hip" | "nvcc" => Self::Cuda,
            "opencl" | "cl" => Self::OpenCl,
            "python" | "py" | "python3" | "ipython" | "ipython3" | "pycon" | "mojo" => Self::Python,
            "llvm" | "ll" | "llvm-ir" | "llvmir" => Self::LlvmIr,
            "mlir" => Self::Mlir,
            "rust" | "rs" => Self::Rust,
            "julia" | "jl" | "jldoctest" => Self::Julia,
            "go" | "golang" => Self::Go,
            "d" | "dlang" => Self::D,
            "zig" => Self::Zig,
            "nim" => Self::Nim,
            "ptx" | "nvptx" => Self::Ptx,
            _ => return None,
        })
    }
}
