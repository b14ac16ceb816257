//! What can go wrong, as data: the command renders it, a test matches on it.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

pub use vop::RunErrorKind;
use vop_ptx::module::Module;

/// A line of the source code that PTX was compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Place {
    /// The file, if there is one: PTX may come from memory, and [`CommandLine::text`](crate::job::CommandLine::text) is no file.
    pub file: Option<PathBuf>,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// Line of the span's start, from 1.
    pub line: usize,
    /// Column of the span's start in characters, from 1.
    pub column: usize,
    /// The statement, or the piece of the launch file, blanks collapsed. What is long is cut off.
    pub text: String,
    /// Where PTX came from, if it says so (`.loc`).
    pub source: Option<SourcePlace>,
}

/// Characters of a statement that a place keeps.
const MAX_TEXT: usize = 240;

impl Place {
    pub(crate) fn new(source: &str, span: Range<usize>) -> Place {
        let before = source.get(..span.start).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.get(line_start..).unwrap_or("").chars().count() + 1;
        let text = summary(source.get(span.clone()).unwrap_or(""));
        Place { file: None, line, column, text, source: None, span }
    }

    /// A place in a module, which knows where its lines start.
    pub(crate) fn in_module(module: &Module, span: Range<usize>) -> Place {
        let (line, column) = module.line_col(span.start);
        let text = summary(module.text().get(span.clone()).unwrap_or(""));
        Place { file: None, line, column, text, source: None, span }
    }
}

/// A text with its blanks collapsed, cut off where it is long.
fn summary(text: &str) -> String {
    let mut all = String::new();
    let mut kept = 0;
    for word in text.split_whitespace() {
        if !all.is_empty() {
            all.push(' ');
            kept += 1;
        }
        for c in word.chars() {
            if kept == MAX_TEXT {
                all.push('…');
                return all;
            }
            all.push(c);
            kept += 1;
        }
    }
    all
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

/// One error, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// What the thread that was [traced](crate::LaunchOptions::trace) had executed until then.
    pub trace: Box<[String]>,
}

impl RunError {
    #[cold]
    pub(crate) fn new(kind: RunErrorKind, message: impl Into<String>) -> RunError {
        RunError {
            kind,
            message: message.into(),
            help: None,
            place: None,
            thread: None,
            address: None,
            trace: Box::default(),
        }
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

/// One or more errors: reading a kernel or a launch file reports all that it finds.
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
