//! What can go wrong, as data: the command renders it, a test matches on it.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

macro_rules! kinds {
    ($($kind:ident $code:literal $title:literal $explanation:literal;)*) => {
        /// The kinds of failure, each with a stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum RunErrorKind {
            $(#[doc = concat!($title, ".")] $kind,)*
            /// A video instruction that the library refuses, with the library's own code.
            Video(vop::Code),
        }

        impl RunErrorKind {
            /// The stable code.
            pub fn code(self) -> &'static str {
                match self {
                    $(RunErrorKind::$kind => $code,)*
                    RunErrorKind::Video(code) => code.name(),
                }
            }

            /// What it is, in a few words.
            pub fn title(self) -> &'static str {
                match self {
                    $(RunErrorKind::$kind => $title,)*
                    RunErrorKind::Video(code) => code.title(),
                }
            }

            /// What it means and what to do.
            pub fn explanation(self) -> &'static str {
                match self {
                    $(RunErrorKind::$kind => $explanation,)*
                    RunErrorKind::Video(code) => code.explanation(),
                }
            }

            /// The kind with this code, in either case; of the library's own codes see [`vop::Code::from_name`].
            pub fn from_code(code: &str) -> Option<RunErrorKind> {
                $(if code.eq_ignore_ascii_case($code) {
                    return Some(RunErrorKind::$kind);
                })*
                None
            }
        }
    };
}

kinds! {
    Unsupported "V0601" "not supported by the executor"
        "The kernel is perhaps right, but the executor does not know an instruction, a modifier or a declaration of it. Nothing has been run.";
    Malformed "V0602" "a statement that makes no sense"
        "No reading of the statement is right: it has the wrong operands, or registers that are not declared or have another width.";
    UnknownEntry "V0603" "no such kernel"
        "The module has no `.entry` of this name. C++ kernels have mangled names unless they are declared `extern \"C\"`.";
    Argument "V0604" "arguments that do not fit the kernel"
        "A launch gives one argument for each `.param` of the entry, in order: a buffer for a pointer (`.u64`), a scalar of the parameter's size for others, such as `{ u32 = 640 }`.";
    LaunchShape "V0605" "grid, block or shared memory too large"
        "A launch has at least one block and one thread, at most what CUDA allows, and what the kernel's own directives (`.maxntid`, `.reqntid`) say.";
    OutOfBounds "V0606" "an access outside every buffer"
        "The address belongs to no buffer or variable, or the access goes beyond its end. The message names the nearest. On a GPU such an access may go unnoticed.";
    Misaligned "V0607" "a misaligned address"
        "An access of n bytes needs an address that is a multiple of n; a vector access one that is a multiple of the whole vector's size.";
    Forbidden "V0608" "an access that is not allowed"
        "A write to memory that may only be read, or an access through another state space than that of the address.";
    Limit "V0609" "limit of instructions reached"
        "A launch may execute so many thread-instructions and no more, so that a loop without end is noticed. `--limit` sets the number.";
    Deadlock "V0610" "threads wait for each other"
        "Some threads of a block wait at a barrier that others will never reach, or for their warp.";
    DivisionByZero "V0614" "division by zero"
        "An integer `div` or `rem` by zero: the manual leaves the result to the machine.";
    DivergentBarrier "V0615" "a barrier in divergent code"
        "`bar.sync`, as `__syncthreads()` compiles to, must be executed by all threads of a warp together. Some of a warp went another way: on a GPU the kernel might hang or go on too early. `barrier.sync` without `.aligned` has no such rule.";
    StackOverflow "V0616" "stack overflow"
        "Calls within one another take more than a thread's stack holds. It is 512 KiB, the most that a GPU gives, or what `--stack` says; on a GPU it is 1 KiB unless the program asks for more (`cudaLimitStackSize`).";
    Race "V0617" "a race on shared memory"
        "Two threads reach one byte of shared memory, one of them writes, and no barrier stands between: which is first is chance. `--check races` looks for them.";
    Uninitialized "V0618" "shared memory read before it is written"
        "Shared memory holds anything when a block starts. `--check uninit` looks for such reads; without it what was never written is zero.";
    Trap "V0611" "the kernel trapped"
        "The kernel executed `trap`, as `assert` and `__trap()` do.";
    LaunchFile "V0612" "a launch file that does not say what it must"
        "A launch file is TOML: `ptx`, a table `[buffers]`, and one `[[launch]]` or more, each with `grid`, `block` and `args`:\n\n    ptx = \"kernel.ptx\"\n\n    [buffers]\n    # .npy, .png, or raw with `type` and perhaps `shape`\n    input  = { file = \"input.npy\" }\n    # zeros, saved to .npy or .png\n    output = { type = \"i32\", shape = [23, 40], save = \"output.npy\" }\n    best   = { type = \"u32\", shape = [4], fill = 99 }\n    weight = { type = \"f32\", values = [0.25, 0.5, 0.25] }\n    # compared after the run\n    right  = { type = \"f32\", shape = [9], expect = \"right.npy\", ulps = 2 }\n\n    [[launch]]\n    entry = \"kernel\"              # not needed if the module has no other\n    grid  = [40, 23]\n    block = 64\n    shared = 0                    # bytes of dynamic shared memory\n    check = [\"races\", \"uninit\"]   # as with `--check`\n    args  = [\"input\", \"output\", { i32 = 640 }, { f32 = [0.5, 1] }]\n\nElement types are i8 to i64, u8 to u64, f16, f32 and f64. What is expected may be missed by `tolerance`, or for floats by `ulps`.";
    CommandLine "V0619" "an option that cannot be read"
        "`vop run kernel.ptx` takes `--grid`, `--block` and an `--arg` for each parameter of the kernel, in order:\n\n    --arg in=a.npy                  a buffer from a .npy or .png file\n    --arg in=u8[100]@a.raw          one from a raw file, with or without shape\n    --arg out=i32[920,2]            a buffer of zeros\n    --arg out=i32[920,2]:out.npy    the same, saved after the run\n    --arg in=a.npy:out.npy          read, and saved after the run\n    --arg out                       a buffer of an argument before, again\n    --arg u32=640                   a number\n    --arg f32=0.5,1                 an array or structure passed by value\n\nTypes are i8 to i64, u8 to u64, f16, f32 and f64. `--compare out=right.npy` compares a buffer with a file after the run.";
    File "V0613" "a file that cannot be read or written"
        "The file is missing or unreadable, holds something else than its name or its declaration says, or cannot be written. Output is written beside its place first and renamed, so that no half of it is left.";
}

/// A line of the source code that PTX was compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file as `.file` names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A place in the PTX, in the launch file or in a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, where there is one: PTX may come from memory, and [`CommandLine::text`](super::launch::CommandLine::text) is none.
    pub file: Option<PathBuf>,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// Line of the span's start, from 1.
    pub line: usize,
    /// Column of the span's start in characters, from 1.
    pub column: usize,
    /// The statement, or the piece of the launch file, blanks collapsed.
    pub text: String,
    /// Where PTX came from, if it says so (`.loc`).
    pub source: Option<SourcePlace>,
}

impl Place {
    pub(crate) fn new(source: &str, span: Range<usize>) -> Place {
        let before = source.get(..span.start).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let words: Vec<&str> = source.get(span.clone()).unwrap_or("").split_whitespace().collect();
        Place {
            file: None,
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before.get(line_start..).unwrap_or("").chars().count() + 1,
            text: words.join(" "),
            source: None,
            span,
        }
    }
}

/// One thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId {
    /// `%ctaid`: x, y, z.
    pub block: [u32; 3],
    /// `%tid`: x, y, z.
    pub thread: [u32; 3],
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [x, y, z]) = (self.block, self.thread);
        write!(f, "thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz})")
    }
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// Its kind, which has the stable code.
    pub kind: RunErrorKind,
    /// A plain sentence.
    pub message: String,
    /// What to write or do instead.
    pub help: Option<String>,
    /// Where in the PTX or the launch file.
    pub place: Option<Box<Place>>,
    /// The thread that failed.
    pub thread: Option<ThreadId>,
    /// The address that an access failed at.
    pub address: Option<u64>,
    /// What the thread that was [traced](super::LaunchOptions::trace) had executed until then.
    pub trace: Vec<String>,
}

impl RunError {
    #[cold]
    pub(crate) fn new(kind: RunErrorKind, message: impl Into<String>) -> RunError {
        RunError { kind, message: message.into(), help: None, place: None, thread: None, address: None, trace: Vec::new() }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> RunError {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn at(mut self, place: Place) -> RunError {
        self.place = Some(Box::new(place));
        self
    }

    /// Names the file of places that have none yet.
    pub(crate) fn in_file(mut self, file: &std::path::Path) -> RunError {
        if let Some(place) = &mut self.place {
            place.file.get_or_insert_with(|| file.to_owned());
        }
        self
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            match &place.file {
                Some(file) => write!(f, "{}:{}:{}: ", file.display(), place.line, place.column)?,
                None => write!(f, "line {}: ", place.line)?,
            }
        }
        write!(f, "{} [{}]", self.message, self.kind.code())?;
        if let Some(place) = &self.place
            && !place.text.is_empty()
        {
            write!(f, "\n  at `{}`", place.text)?;
        }
        if let Some(source) = self.place.as_ref().and_then(|place| place.source.as_ref()) {
            write!(f, "\n  compiled from {source}")?;
        }
        if let Some(thread) = self.thread {
            write!(f, "\n  in {thread}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RunError {}

/// One or more failures: reading a kernel or a launch file reports all it finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunErrors(pub Vec<RunError>);

impl From<RunError> for RunErrors {
    fn from(error: RunError) -> RunErrors {
        RunErrors(vec![error])
    }
}

impl fmt::Display for RunErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RunErrors {}
