//! NVIDIA's ptxas and nvdisasm: finds them, runs them and reads what they print.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::code::Code;
use super::cubin;

/// Kernels of one call of ptxas: enough that starting it costs little, few enough that it needs little memory.
const BATCH: usize = 1000;

/// The variable that names the folder of the tools.
const CUDA_BIN: &str = "CUDA_BIN";

/// A ptxas and an nvdisasm that reads its output.
#[derive(Debug, Clone)]
pub struct Toolchain {
    pub(super) ptxas: PathBuf,
    nvdisasm: PathBuf,
    version: String,
}

/// Why there is no machine code.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolchainError {
    /// A tool is neither in the folder that `CUDA_BIN` names nor, without that variable, on the `PATH`.
    Absent {
        /// `ptxas` or `nvdisasm`.
        tool: &'static str,
        /// What `CUDA_BIN` says.
        folder: Option<PathBuf>,
    },
    /// A file cannot be written, or a tool not started.
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// ptxas refuses a text.
    Refused {
        /// The first that it refuses.
        text: String,
        /// Its words.
        message: String,
    },
    /// A tool fails, and not because of a text.
    Failed {
        /// Which.
        tool: PathBuf,
        /// Its words.
        message: String,
    },
    /// The output of a tool does not have the form that is read here.
    Unreadable {
        /// Which.
        tool: PathBuf,
        /// What is missing in its output.
        missing: String,
    },
}

impl fmt::Display for ToolchainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolchainError::Absent { tool, folder: None } => {
                write!(f, "no {tool}; set {CUDA_BIN} to the folder that holds ptxas and nvdisasm")
            }
            ToolchainError::Absent { tool, folder: Some(folder) } => {
                write!(
                    f,
                    "no {tool} in {}; set {CUDA_BIN} to the folder that holds ptxas and nvdisasm",
                    folder.display()
                )
            }
            ToolchainError::Io { path, error } => write!(f, "{}: {error}", path.display()),
            ToolchainError::Refused { text, message } => write!(f, "ptxas refuses `{text}`: {message}"),
            ToolchainError::Failed { tool, message } => write!(f, "{} fails: {message}", tool.display()),
            ToolchainError::Unreadable { tool, missing } => {
                write!(f, "{} prints no {missing}; is it another release than this reads?", tool.display())
            }
        }
    }
}

impl std::error::Error for ToolchainError {}

pub(super) type Result<T> = std::result::Result<T, ToolchainError>;

impl Toolchain {
    /// The tools of the folder that the environment variable `CUDA_BIN` names; where it is not set, those on the `PATH`.
    ///
    /// # Errors
    /// A tool is not there, or ptxas does not tell its release.
    pub fn find() -> Result<Toolchain> {
        Toolchain::new(find("ptxas")?, find("nvdisasm")?)
    }

    /// This ptxas, with the nvdisasm beside it, or else the one that [`find`](Toolchain::find) finds: a newer one reads
    /// what an older ptxas writes.
    ///
    /// # Errors
    /// As of `find`.
    pub fn with_ptxas(ptxas: PathBuf) -> Result<Toolchain> {
        let beside = ptxas.with_file_name(executable("nvdisasm"));
        let nvdisasm = if beside.is_file() { beside } else { find("nvdisasm")? };
        Toolchain::new(ptxas, nvdisasm)
    }

    fn new(ptxas: PathBuf, nvdisasm: PathBuf) -> Result<Toolchain> {
        let output = run(&ptxas, ["--version"])?;
        let words = String::from_utf8_lossy(&output.stdout);
        let version = words.split_once("release ").and_then(|(_, rest)| rest.split([',', '\n']).next());
        match version.map(str::to_owned) {
            Some(version) => Ok(Toolchain { ptxas, nvdisasm, version }),
            None => Err(ToolchainError::Unreadable { tool: ptxas, missing: "release".into() }),
        }
    }

    /// ptxas's release, such as `13.5`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The machine code for a target such as `sm_90` of each text, in order.
    ///
    /// A text is an instruction, or a block `{ … }` of some, on 32-bit registers a, b, c and d. Each becomes a kernel that
    /// loads a, b and c, sets d to 0, executes the text and stores d.
    ///
    /// # Errors
    /// ptxas refuses a text or does not know the target, or a tool fails.
    pub fn compile(&self, texts: &[impl AsRef<str>], target: &str) -> Result<Vec<Code>> {
        let mut codes = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let (_folder, cubin) = self.compile_batch(batch, target)?;
            codes.extend(self.disassemble(&cubin, batch.len())?);
        }
        Ok(codes)
    }

    /// The number of machine instructions that each text costs on a target: the size of its kernel less the size of a kernel with
    /// `mov.b32 d, a`.
    ///
    /// # Errors
    /// As of [`compile`](Toolchain::compile).
    pub fn costs(&self, texts: &[impl AsRef<str>], target: &str) -> Result<Vec<i64>> {
        let all: Vec<&str> = std::iter::once("mov.b32 d, a").chain(texts.iter().map(AsRef::as_ref)).collect();
        let mut sizes = Vec::with_capacity(all.len());
        for batch in all.chunks(BATCH) {
            let (_folder, cubin) = self.compile_batch(batch, target)?;
            sizes.extend(self.sizes(&cubin, batch.len(), target)?);
        }
        Ok(sizes[1..].iter().map(|size| size - sizes[0]).collect())
    }

    /// Assembles a module for a target, without optimising it, which would take longer and refuse nothing more. Returns the words of
    /// ptxas, which has none if all is well.
    ///
    /// # Errors
    /// ptxas refuses the module or does not know the target.
    pub fn assemble(&self, module: &[u8], target: &str) -> Result<String> {
        let folder = tempfile::tempdir().map_err(|error| io_error(&std::env::temp_dir(), error))?;
        let (ptx, cubin) = (folder.path().join("module.ptx"), folder.path().join("module.cubin"));
        std::fs::write(&ptx, module).map_err(|error| io_error(&ptx, error))?;
        let arch = format!("-arch={target}");
        let arguments = [OsStr::new("-O0"), OsStr::new(&arch), ptx.as_os_str(), OsStr::new("-o"), cubin.as_os_str()];
        let output = run(&self.ptxas, arguments)?;
        Ok([output.stdout, output.stderr].iter().map(|words| String::from_utf8_lossy(words)).collect())
    }

    /// Compiles kernels `k0`, `k1`, … of texts: the file that ptxas writes, and the folder that goes with its last use.
    fn compile_batch(&self, texts: &[impl AsRef<str>], target: &str) -> Result<(TempDir, PathBuf)> {
        let folder = tempfile::tempdir().map_err(|error| io_error(&std::env::temp_dir(), error))?;
        let (ptx, cubin) = (folder.path().join("texts.ptx"), folder.path().join("texts.cubin"));
        let mut module = self.header(texts, target)?;
        let mut lines = module.lines().count();
        // How many lines stand before each kernel, to tell which text an error is about.
        let mut before = Vec::with_capacity(texts.len());
        for (i, text) in texts.iter().enumerate() {
            let kernel = kernel(i, text.as_ref());
            before.push(lines);
            lines += kernel.lines().count();
            module.push_str(&kernel);
        }
        std::fs::write(&ptx, module).map_err(|error| io_error(&ptx, error))?;

        let arch = format!("-arch={target}");
        let arguments = [OsStr::new(&arch), ptx.as_os_str(), OsStr::new("-o"), cubin.as_os_str()];
        let output = start(&self.ptxas, arguments)?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            let error = first_error(&words).and_then(|(line, message)| {
                let i = before.iter().rposition(|&lines| line > lines)?;
                Some(ToolchainError::Refused { text: texts[i].as_ref().to_owned(), message: message.to_owned() })
            });
            return Err(error.unwrap_or_else(|| failed(&self.ptxas, &output)));
        }
        Ok((folder, cubin))
    }

    /// How many instructions the kernels `k0`, `k1`, … of a file have that ptxas wrote for a target, `count` of them.
    pub(super) fn sizes(&self, cubin: &Path, count: usize, target: &str) -> Result<Vec<i64>> {
        // Older GPUs have shorter instructions, of which some are no instructions.
        if number(target).is_none_or(|number| number < 70) {
            return Ok(self.disassemble(cubin, count)?.iter().map(|code| code.size() as i64).collect());
        }
        let file = std::fs::read(cubin).map_err(|error| io_error(cubin, error))?;
        let unreadable = |missing| ToolchainError::Unreadable { tool: self.ptxas.clone(), missing };
        Ok(cubin::sizes(&file, count).map_err(unreadable)?.into_iter().map(|size| size as i64).collect())
    }

    /// The machine code of the kernels `k0`, `k1`, … of a file that ptxas wrote, `count` of them.
    pub(super) fn disassemble(&self, cubin: &Path, count: usize) -> Result<Vec<Code>> {
        // Where branches lead does not matter, and finding it takes time.
        let output = run(&self.nvdisasm, [OsStr::new("--no-dataflow"), cubin.as_os_str()])?;
        let listings = listings(&String::from_utf8_lossy(&output.stdout), count);
        let missing = |i| ToolchainError::Unreadable { tool: self.nvdisasm.clone(), missing: format!("code of k{i}") };
        let found = |(i, listing): (usize, String)| if listing.is_empty() { Err(missing(i)) } else { Ok(listing) };
        listings.into_iter().enumerate().map(found).map(|listing| Ok(Code::parse(&listing?))).collect()
    }

    /// The first lines of a module. Video instructions need little, and every ptxas that knows the target takes it (the code
    /// is the same with more); blocks may hold anything that the target and this ptxas have.
    fn header(&self, texts: &[impl AsRef<str>], target: &str) -> Result<String> {
        let old = number(target).is_some_and(|number| number < 75);
        let (version, least) = if texts.iter().any(|text| text.as_ref().trim_start().starts_with('{')) {
            (self.newest_isa()?, target)
        } else {
            ("7.0".into(), if old { target } else { "sm_75" })
        };
        Ok(format!(".version {version}\n.target {least}\n.address_size 64\n"))
    }

    /// The newest `.version` that this ptxas takes: it tells when it is asked for more.
    pub(crate) fn newest_isa(&self) -> Result<String> {
        let folder = tempfile::tempdir().map_err(|error| io_error(&std::env::temp_dir(), error))?;
        let ptx = folder.path().join("version.ptx");
        std::fs::write(&ptx, ".version 99.9\n.target sm_75\n").map_err(|error| io_error(&ptx, error))?;
        let output = start(&self.ptxas, [ptx.as_os_str()])?;
        let words = String::from_utf8_lossy(&output.stderr);
        let version = words.split_once("current version is '").and_then(|(_, rest)| rest.split_once('\''));
        version.map(|(version, _)| version.to_owned()).ok_or_else(|| ToolchainError::Unreadable {
            tool: self.ptxas.clone(),
            missing: "version of PTX that is current".into(),
        })
    }
}

/// The number of a target, 120 of `sm_120f`.
fn number(target: &str) -> Option<u32> {
    target.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_lowercase()).parse().ok()
}

/// The kernel of a text. Its loads and its store are volatile, so that all are there whatever the text does.
fn kernel(number: usize, text: &str) -> String {
    let text = text.trim().trim_end_matches(';');
    let end = if text.ends_with('}') { "" } else { ";" };
    format!(
        "\
.visible .entry k{number}(.param .u64 p)
{{
 .reg .u64 %rd<9>; .reg .b32 a,b,c,d,tid;
 ld.param.u64 %rd1,[p]; cvta.to.global.u64 %rd1,%rd1;
 mov.u32 tid,%tid.x; mul.wide.u32 %rd2,tid,16; add.u64 %rd3,%rd1,%rd2;
 ld.volatile.global.b32 a,[%rd3]; ld.volatile.global.b32 b,[%rd3+4]; ld.volatile.global.b32 c,[%rd3+8];
 mov.b32 d, 0;
 {text}{end}
 st.volatile.global.b32 [%rd3+12], d; ret;
}}
"
    )
}

/// Line and words of ptxas's first error: `ptxas FILE, line 11; error   : WORDS`.
fn first_error(words: &str) -> Option<(usize, &str)> {
    words.lines().find_map(|line| {
        let (line, message) = line.split_once(", line ")?.1.split_once(';')?;
        Some((line.parse().ok()?, message.split_once(':')?.1.trim()))
    })
}

/// The listings of kernels `k0`, `k1`, …, as [`Code::parse`] reads them, in nvdisasm's output.
fn listings(output: &str, count: usize) -> Vec<String> {
    let mut constants = vec![String::new(); count];
    let mut codes = vec![String::new(); count];
    let mut current = None;
    for line in output.lines() {
        if let Some(section) = line.trim_start().strip_prefix(".section\t") {
            let name = section.split(',').next().unwrap_or_default();
            let kernel = |prefix| name.strip_prefix(prefix)?.parse().ok().filter(|&i: &usize| i < count);
            let constant = kernel(".nv.constant2.k").map(|i| (i, true));
            current = kernel(".text.k").map(|i| (i, false)).or(constant);
            continue;
        }
        let Some((i, constant)) = current else { continue };
        // `/*0010*/   @P0 IADD3 R7, R7, 0x1, RZ ;`
        let Some((_, content)) = line.trim_start().strip_prefix("/*").and_then(|line| line.split_once("*/")) else {
            continue;
        };
        let content = content.split(';').next().unwrap_or_default().trim();
        let listing = if constant { &mut constants[i] } else { &mut codes[i] };
        // A tab stands between `.byte` and its values.
        listing.push_str(&content.replace('\t', " "));
        listing.push('\n');
    }
    codes
        .into_iter()
        .zip(constants)
        .map(|(code, constants)| if code.is_empty() { code } else { constants + &code })
        .collect()
}

pub(super) fn executable(tool: &str) -> String {
    format!("{tool}{}", std::env::consts::EXE_SUFFIX)
}

fn find(tool: &'static str) -> Result<PathBuf> {
    let folder = std::env::var_os(CUDA_BIN).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let found = match &folder {
        Some(folder) => Some(folder.join(executable(tool))).filter(|path| path.is_file()),
        None => std::env::var_os("PATH").and_then(|path| {
            std::env::split_paths(&path).map(|folder| folder.join(executable(tool))).find(|path| path.is_file())
        }),
    };
    found.ok_or(ToolchainError::Absent { tool, folder })
}

/// Runs a tool to its end, whatever that is.
pub(super) fn start(tool: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Output> {
    Command::new(tool).args(arguments).output().map_err(|error| io_error(tool, error))
}

/// Runs a tool that must succeed.
pub(super) fn run(tool: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Output> {
    let output = start(tool, arguments)?;
    if output.status.success() { Ok(output) } else { Err(failed(tool, &output)) }
}

pub(super) fn failed(tool: &Path, output: &Output) -> ToolchainError {
    let words = String::from_utf8_lossy(&output.stderr);
    let message = if words.trim().is_empty() { output.status.to_string() } else { words.trim().to_owned() };
    ToolchainError::Failed { tool: tool.to_owned(), message }
}

pub(super) fn io_error(path: &Path, error: io::Error) -> ToolchainError {
    ToolchainError::Io { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_nvdisasm_prints() {
        let output = "\
//--------------------- .nv.constant2.k1          --------------------------
	.section	.nv.constant2.k1,\"a\",@progbits
	.sectionflags	@\"\"
.nv.constant2.k1:
        /*0000*/ 	.byte	0x01, 0x01, 0x01, 0x01
	.section	.nv.constant0.k1,\"a\",@progbits
.nv.constant0.k1:
	.zero		360
	.section	.text.k1,\"ax\",@progbits
	.sectioninfo	@\"SHI_REGISTERS=10\"
.text.k1:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/               @P0 EXIT ;
.L_x_0:
        /*0020*/                   BRA `(.L_x_0);
	.section	.text.k0,\"ax\",@progbits
        /*0000*/                   EXIT ;
";
        let expected = ["EXIT\n", ".byte 0x01, 0x01, 0x01, 0x01\nMOV R1, c[0x0][0x28]\n@P0 EXIT\nBRA `(.L_x_0)\n", ""];
        assert_eq!(listings(output, 3), expected);
    }

    #[test]
    fn finds_the_text_that_an_error_is_about() {
        let words = "ptxas /tmp/x.ptx, line 24; error   : Arguments mismatch for instruction 'add'\n\
                     ptxas fatal   : Ptx assembly aborted due to errors\n";
        assert_eq!(first_error(words), Some((24, "Arguments mismatch for instruction 'add'")));
        assert_eq!(first_error("ptxas fatal   : SM version 'sm_1' not supported"), None);
    }
}
