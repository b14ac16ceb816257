//! Launches of kernels on files: from launch files and from command lines.
//!
//! ```toml
//! ptx = "motion.ptx"                       # paths are relative to this file
//!
//! [buffers]
//! frame   = { file = "frame0.png" }        # .npy, .png, or raw bytes with a type (and a shape)
//! motion  = { type = "i32", shape = [23, 40, 2], save = "motion.npy", expect = "right.npy" }
//! scratch = { type = "u32", shape = [920], fill = 7 }
//! weights = { type = "f32", values = [0.25, 0.5, 0.25] }
//!
//! [[launch]]                               # one or more, in order, on the same buffers
//! entry  = "motion_search"                 # may be left out if the module has no other
//! grid   = [40, 23]                        # x, then y, then z; a number is x alone
//! block  = 64
//! shared = 0                               # bytes of dynamic shared memory; may be left out
//! check  = ["races", "uninit"]             # or "all"; may be left out
//! args   = ["frame", "motion", { i32 = 640 }, { f32 = 0.5 }, { u8 = [1, 2, 3, 4] }]
//! ```
//!
//! A string argument is the address of that buffer; `{ type = value }` a scalar; a list of values an array or structure passed by
//! value. Types are u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64. [`CommandLine`] has the same for one launch.
//!
//! Both become a [`Job`], which is checked, run, saved and compared here.

mod compare;
mod file;
mod line;
mod number;
mod value;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use vop::Severity;
use vop_arrays::{Array, Description, Element, Format, write_atomically};

use crate::code::{Kernel, Parameter};
use crate::decode::Program;
use crate::engine::launch::{Arg, Check, LaunchOptions, Report};
use crate::error::{Place, RunError, RunErrorKind, RunErrors, ThreadId};
use crate::memory::{BufferId, Memory};
use crate::types::Kind;
pub use compare::{Comparison, Difference, Tolerance};
pub use line::CommandLine;
pub use number::{parse_bytes, parse_count};

/// How to run a [`Job`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The folder that outputs are relative to; the launch file's, or the current one, where there is none.
    pub output: Option<PathBuf>,
    /// The options of every launch. Dynamic shared memory is the job's. A check is made if the options or the launch ask for it. A thread
    /// is traced in the launches that have it.
    pub launch: LaunchOptions,
    /// The tolerance of comparisons without one of their own.
    pub tolerance: Tolerance,
}

impl RunOptions {
    /// Sets [`RunOptions::output`].
    #[must_use]
    pub fn with_output(self, output: impl Into<PathBuf>) -> RunOptions {
        RunOptions { output: Some(output.into()), ..self }
    }

    /// Sets [`RunOptions::launch`].
    #[must_use]
    pub fn with_launch(self, launch: LaunchOptions) -> RunOptions {
        RunOptions { launch, ..self }
    }

    /// Sets [`RunOptions::tolerance`].
    #[must_use]
    pub fn with_tolerance(self, tolerance: Tolerance) -> RunOptions {
        RunOptions { tolerance, ..self }
    }
}

/// The results of a job.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Its launches in order.
    pub launches: Vec<LaunchSummary>,
    /// The files written.
    pub files: Vec<PathBuf>,
    /// The comparisons, in the order of the buffers.
    pub comparisons: Vec<Comparison>,
}

/// The results of one launch.
#[derive(Clone, Debug)]
pub struct LaunchSummary {
    /// The kernel.
    pub entry: String,
    /// Blocks: x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block: x, y, z.
    pub block: [u32; 3],
    /// What was executed.
    pub report: Report,
    /// The checks that were made.
    pub checks: Vec<Check>,
    /// How long it took.
    pub time: Duration,
}

/// Launches of a module's kernels, and the buffers they share.
#[derive(Clone, Debug)]
pub struct Job {
    source: Text,
    /// What outputs are relative to.
    folder: PathBuf,
    ptx: At<PathBuf>,
    buffers: Vec<BufferSpec>,
    launches: Vec<LaunchSpec>,
}

/// The text that a job was read from: a launch file's, or a command line's, which has no path.
#[derive(Clone, Debug)]
struct Text {
    path: Option<PathBuf>,
    text: String,
}

/// A value, and where it stands in the text.
#[derive(Clone, Debug)]
struct At<T> {
    value: T,
    span: Option<Range<usize>>,
}

impl<T> At<T> {
    fn map<U>(self, f: impl FnOnce(T) -> U) -> At<U> {
        At { value: f(self.value), span: self.span }
    }
}

#[derive(Clone, Debug)]
struct BufferSpec {
    name: String,
    span: Option<Range<usize>>,
    /// Type and shape as they are declared; a file may tell them as well.
    ty: Option<Element>,
    shape: Option<Vec<u64>>,
    content: Content,
    save: Option<At<PathBuf>>,
    expect: Option<At<PathBuf>>,
    tolerance: Option<Tolerance>,
}

/// What a buffer holds at the start.
#[derive(Clone, Debug)]
enum Content {
    File(At<PathBuf>),
    /// Zeros that count as not written; type and shape are declared.
    Nothing,
    /// The bits of every element; type and shape are declared.
    Fill(u64),
    /// All of its bytes; type and shape are declared.
    Values(Vec<u8>),
    /// The addresses of the buffers of these names, which there are; type and shape are declared.
    Addresses(Vec<String>),
}

#[derive(Clone, Debug)]
struct LaunchSpec {
    entry: Option<At<String>>,
    grid: At<[u32; 3]>,
    block: At<[u32; 3]>,
    shared: usize,
    args: At<Vec<At<ArgSpec>>>,
    checks: Vec<Check>,
}

#[derive(Clone, Debug, PartialEq)]
enum ArgSpec {
    /// The address of the buffer of this name, which there is.
    Buffer(String),
    Value(Arg),
    /// A structure passed by value: its members, and what their places are multiples of.
    Structure(Vec<(ArgSpec, usize)>),
}

impl ArgSpec {
    /// The argument, when it is known which buffer has a name; `None` where that is not known.
    fn resolve(&self, memory: &Memory, find: &dyn Fn(&str) -> Option<BufferId>) -> Option<Arg> {
        match self {
            ArgSpec::Value(arg) => Some(arg.clone()),
            ArgSpec::Buffer(name) => find(name).map(Arg::Buffer),
            ArgSpec::Structure(members) => {
                // As C lays it out.
                let mut bytes = Vec::new();
                for (member, align) in members {
                    bytes.resize(bytes.len().next_multiple_of(*align), 0);
                    match member.resolve(memory, find)? {
                        Arg::Buffer(buffer) => bytes.extend(memory.address(buffer).to_le_bytes()),
                        Arg::Scalar(ty, bits) => bytes.extend(&bits.to_le_bytes()[..ty.size()]),
                        Arg::Bytes(member) => bytes.extend(member),
                    }
                }
                let align = members.iter().map(|(_, align)| *align).max().unwrap_or(1);
                bytes.resize(bytes.len().next_multiple_of(align), 0);
                Some(Arg::Bytes(bytes))
            }
        }
    }
}

/// The buffer of a name.
fn find(buffers: &[Buffer<'_>], name: &str) -> Option<BufferId> {
    buffers.iter().find(|buffer| buffer.name == name).map(|buffer| buffer.id)
}

/// A buffer that exists, and what becomes of it.
struct Buffer<'j> {
    name: &'j str,
    id: BufferId,
    description: Description,
    save: Option<At<PathBuf>>,
    expected: Option<(&'j At<PathBuf>, Array, Tolerance)>,
}

/// A launch that has been checked.
struct Launch<'j> {
    spec: &'j LaunchSpec,
    kernel: Kernel,
    args: Vec<Arg>,
}

/// Runs the launch file at `path`: validates it, runs its launches in order, writes the outputs and compares them. What the kernels print
/// is dropped; [`Job::run`] reports it.
///
/// Everything is validated before the first launch. Files are written atomically, after every launch has succeeded.
///
/// # Errors
/// As [`Job::read`] and [`Job::run`].
pub fn run_launch_file(path: &Path, options: &RunOptions) -> Result<Summary, RunErrors> {
    Job::read(path)?.run(options, &mut |_| ())
}

impl Job {
    /// Reads a launch file. The files that it names are read when it runs.
    ///
    /// # Errors
    /// The file cannot be read, or everything that is wrong in it.
    pub fn read(path: &Path) -> Result<Job, RunErrors> {
        file::read(path)
    }

    /// The PTX file.
    pub fn ptx(&self) -> &Path {
        &self.ptx.value
    }

    /// The blocks of all launches: what [`LaunchOptions::progress`] has counted in the end.
    pub fn blocks(&self) -> u64 {
        let blocks = self.launches.iter().map(|launch| product(launch.grid.value));
        blocks.fold(0, u64::saturating_add)
    }

    /// How many launches there are.
    pub fn launches(&self) -> usize {
        self.launches.len()
    }

    /// Whether a launch has such a thread.
    pub fn has_thread(&self, thread: ThreadId) -> bool {
        self.launches.iter().any(|launch| launch.has_thread(thread))
    }

    /// Compares a buffer with a file after the run: `NAME=FILE`, or `FILE` if there is one buffer that is saved.
    pub fn expect(&mut self, comparison: &str) -> Result<(), RunError> {
        let (name, file) = match comparison.split_once('=') {
            Some((name, file)) => (Some(name), file),
            None => (None, comparison),
        };
        let saved: Vec<&str> = self.buffers.iter().filter(|b| b.save.is_some()).map(|b| b.name.as_str()).collect();
        let problem = |message: String| RunError::new(RunErrorKind::CommandLine, message);
        let name = match (name, &saved[..]) {
            (Some(name), _) => name,
            (None, [name]) => name,
            (None, _) => {
                let count = match saved.len() {
                    0 => "no buffer is saved".to_owned(),
                    count => format!("{count} buffers are saved"),
                };
                let error = problem(format!("{count}: which one to compare with `{comparison}` is not said"));
                return Err(error.with_help("write NAME=FILE"));
            }
        }
        .to_owned();
        let names: Vec<String> = self.buffers.iter().map(|buffer| format!("`{}`", buffer.name)).collect();
        let Some(buffer) = self.buffers.iter_mut().find(|buffer| buffer.name == name) else {
            let error = problem(format!("there is no buffer `{name}` to compare with `{file}`"));
            return Err(error.with_help(format!("the buffers are {}", names.join(", "))));
        };
        // What a launch file expects has a place in it, and is replaced; a comparison that was asked for is not dropped silently.
        if buffer.expect.as_ref().is_some_and(|expect| expect.span.is_none()) {
            let error = problem(format!("`{name}` is compared twice"));
            return Err(error.with_help("run once for each file"));
        }
        buffer.expect = Some(At { value: file.into(), span: None });
        Ok(())
    }

    /// Runs the launches in order, writes the outputs and makes the comparisons. `print` gets what each launch has printed, also the one
    /// that fails.
    ///
    /// Everything is validated before the first launch. Files are written atomically, after every launch has succeeded, and also if a
    /// comparison finds a difference.
    ///
    /// # Errors
    /// All faults that the validation finds, or the first failure of a launch.
    pub fn run(&self, options: &RunOptions, print: &mut dyn FnMut(&str)) -> Result<Summary, RunErrors> {
        let ptx_path = &self.ptx.value;
        let ptx = read_file(ptx_path)
            .map_err(|error| self.source.error(RunErrorKind::File, self.ptx.span.as_ref(), error.message))?;
        // As in `vop check`, a comment in another encoding does no harm.
        let ptx = vop_ptx::uses::text(&ptx);
        let program = Program::read(&ptx);
        let mut memory = program.memory();
        let output = options.output.as_deref().unwrap_or(&self.folder);
        let mut errors = Vec::new();
        let mut buffers = Vec::new();
        for spec in &self.buffers {
            match self.buffer(spec, output, options.tolerance, &mut memory) {
                Ok(buffer) => buffers.push(buffer),
                Err(error) => errors.push(error),
            }
        }
        errors.extend(self.colliding_saves(&buffers));
        for spec in &self.buffers {
            if let (Content::Addresses(names), Some(table)) = (&spec.content, find(&buffers, &spec.name)) {
                let addresses = names.iter().filter_map(|name| Some(memory.address(find(&buffers, name)?)));
                let bytes: Vec<u8> = addresses.flat_map(u64::to_le_bytes).collect();
                // Where a buffer is missing nothing runs.
                memory.bytes_mut(table)[..bytes.len()].copy_from_slice(&bytes);
            }
        }
        let mut launches = Vec::new();
        for spec in &self.launches {
            // Without all buffers the arguments cannot be judged.
            let known = errors.is_empty().then_some(&buffers[..]);
            match self.launch(spec, &program, known, &memory) {
                Ok(launch) => launches.push(launch),
                Err(found) => errors.extend(found.0),
            }
        }
        if !errors.is_empty() {
            return Err(RunErrors(errors));
        }

        let mut summary = Summary { launches: Vec::new(), files: Vec::new(), comparisons: Vec::new() };
        for Launch { spec, kernel, args } in &launches {
            let mut launch = options.launch.clone();
            launch.dynamic_shared = spec.shared;
            spec.checks.iter().for_each(|check| launch.check(*check));
            launch.trace = launch.trace.filter(|thread| spec.has_thread(*thread));
            let (grid, block) = (spec.grid.value, spec.block.value);
            let start = Instant::now();
            let result = kernel.launch(grid, block, args, &mut memory, &launch);
            let time = start.elapsed();
            let printed = memory.take_printed();
            if !printed.is_empty() {
                print(&printed);
            }
            match result {
                Ok(mut report) => {
                    for finding in &mut report.findings {
                        let error = finding.error.clone();
                        finding.error = error.in_file(ptx_path);
                    }
                    let (entry, checks) = (kernel.name().to_owned(), launch.checks());
                    summary.launches.push(LaunchSummary { entry, grid, block, report, checks, time });
                }
                Err(errors) => {
                    // What checks found before is not lost.
                    let mut errors = in_file(errors, ptx_path);
                    let found = summary.launches.iter().flat_map(|launch| &launch.report.findings);
                    let found = found.filter(|finding| finding.severity == Severity::Error);
                    errors.0.extend(found.map(|finding| finding.error.clone()));
                    return Err(errors);
                }
            }
        }
        // A later launch may free what an earlier one allocated.
        if let Some((_, earlier)) = summary.launches.split_last_mut() {
            for launch in earlier {
                launch.report.findings.retain(|finding| finding.error.kind != RunErrorKind::Leak);
            }
        }

        let mut files = Vec::new();
        for buffer in &buffers {
            let Some(save) = &buffer.save else { continue };
            let array = Array { description: buffer.description.clone(), bytes: memory.bytes(buffer.id).to_vec() };
            // `check_save` has found the format.
            let format = Format::of(&save.value).unwrap_or(Format::Raw);
            let content = array.encode(format).map_err(|why| {
                let message = format!("cannot write {}: {why}", save.value.display());
                self.source.error(RunErrorKind::File, save.span.as_ref(), message)
            })?;
            files.push((save.value.clone(), content));
        }
        write_atomically(&files).map_err(|error| RunError::new(RunErrorKind::File, error.to_string()))?;
        summary.files = files.into_iter().map(|(path, _)| path).collect();
        for buffer in &buffers {
            if let Some((file, expected, tolerance)) = &buffer.expected {
                let (found, file) = (memory.bytes(buffer.id), file.value.clone());
                summary.comparisons.push(compare::compare(buffer.name, found, file, expected, *tolerance));
            }
        }
        Ok(summary)
    }

    fn buffer<'j>(
        &self,
        spec: &'j BufferSpec,
        output: &Path,
        tolerance: Tolerance,
        memory: &mut Memory,
    ) -> Result<Buffer<'j>, RunError> {
        let problem =
            |span: &Option<Range<usize>>, message| self.source.error(RunErrorKind::File, span.as_ref(), message);
        let array = match &spec.content {
            Content::File(file) => {
                Array::read(&file.value, spec.ty, spec.shape.as_deref(), MAX_BYTES).map_err(|why| {
                    let error = problem(&file.span, why.to_string());
                    if self.source.path.is_none() && spec.ty.is_none() && is_raw(&file.value) {
                        let help = format!("write the type before it: {}=u8@{}", spec.name, file.value.display());
                        return error.with_help(help);
                    }
                    error
                })?
            }
            content => {
                let (Some(element), Some(shape)) = (spec.ty, spec.shape.clone()) else {
                    return Err(self.source.wrong(spec.span.as_ref(), "no type and shape"));
                };
                let description = Description { element, shape };
                let bytes = match content {
                    Content::Values(bytes) => Some(bytes.clone()),
                    Content::Nothing => filled(&description, 0),
                    Content::Fill(bits) => filled(&description, *bits),
                    // They are known when all buffers are.
                    Content::Addresses(names) => Some(vec![0; 8 * names.len()]),
                    Content::File(_) => None,
                };
                let too_large =
                    || self.source.wrong(spec.span.as_ref(), format!("buffer `{}` is too large", spec.name));
                Array { description, bytes: bytes.ok_or_else(too_large)? }
            }
        };
        let save = spec.save.clone().map(|save| {
            let save = save.map(|path| output.join(path));
            check_save(&save.value, &array.description)
                .map_err(|message| self.source.wrong(save.span.as_ref(), message))?;
            Ok(save)
        });
        let expected = spec.expect.as_ref().map(|file| {
            // A raw file has the buffer's type and shape. Other files say themselves what they hold.
            let declared = is_raw(&file.value).then_some(&array.description);
            let element = declared.map(|declared| declared.element);
            let expected = Array::read(&file.value, element, declared.map(|declared| &declared.shape[..]), MAX_BYTES)
                .map_err(|why| problem(&file.span, why.to_string()))?;
            let (found, wanted) = (&expected.description, &array.description);
            if found != wanted {
                let path = file.value.display();
                let message = format!("{path} holds {found}, and buffer `{}` is {wanted}", spec.name);
                let error = problem(&file.span, message);
                return Err(match how_to_convert(found, wanted) {
                    Some(call) => error.with_help(format!(
                        "NumPy converts it, if no value is lost: numpy.save(\"new.npy\", numpy.load(\"{path}\").{call})"
                    )),
                    None => error,
                });
            }
            Ok((file, expected, spec.tolerance.unwrap_or(tolerance)))
        });
        let Array { description, bytes } = array;
        Ok(Buffer {
            name: &spec.name,
            save: save.transpose()?,
            expected: expected.transpose()?,
            id: match spec.content {
                Content::Nothing => memory.allocate_uninitialized(&spec.name, bytes.len()),
                _ => memory.allocate(&spec.name, &bytes),
            },
            description,
        })
    }

    /// Buffers that would be saved over each other, or over what the run is made of.
    fn colliding_saves(&self, buffers: &[Buffer<'_>]) -> Vec<RunError> {
        let same =
            |a: &Path, b: &Path| a == b || a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
        let mut seen: Vec<&Path> = vec![&self.ptx.value];
        seen.extend(self.source.path.as_deref());
        seen.extend(buffers.iter().filter_map(|buffer| Some(buffer.expected.as_ref()?.0.value.as_path())));
        let mut errors = Vec::new();
        for save in buffers.iter().filter_map(|buffer| buffer.save.as_ref()) {
            if seen.iter().any(|other| same(other, &save.value)) {
                let message = format!("`{}` would be overwritten", save.value.display());
                errors.push(self.source.wrong(save.span.as_ref(), message).with_help("save to another file"));
            }
            seen.push(&save.value);
        }
        errors
    }

    /// Decodes the kernel and judges the arguments, if the buffers are known.
    fn launch<'j>(
        &self,
        spec: &'j LaunchSpec,
        program: &Program,
        buffers: Option<&[Buffer<'_>]>,
        memory: &Memory,
    ) -> Result<Launch<'j>, RunErrors> {
        let entry = self.entry(spec, program)?;
        let kernel = program.kernel(entry).map_err(|errors| {
            // An unknown entry is the launch's fault; all others are the PTX's.
            let place = |error: RunError| match error.kind {
                RunErrorKind::UnknownEntry => {
                    self.source.place(error, spec.entry.as_ref().and_then(|entry| entry.span.as_ref()))
                }
                _ => error.in_file(&self.ptx.value),
            };
            RunErrors(errors.0.into_iter().map(place).collect())
        })?;
        let (grid, block) = (spec.grid.value, spec.block.value);
        kernel.check_shape(grid, block, spec.shared).map_err(|error| {
            let grid_alone = kernel.check_shape([1; 3], block, spec.shared).is_ok();
            let at = if grid_alone { &spec.grid } else { &spec.block };
            self.source.place(error, at.span.as_ref())
        })?;
        let mut args = Vec::new();
        for arg in &spec.args.value {
            let find = |name: &str| buffers.and_then(|buffers| find(buffers, name));
            args.extend(arg.value.resolve(memory, &find));
        }
        if buffers.is_some() {
            let errors = kernel.argument_errors(&args, memory).into_iter().map(|(index, error)| {
                let arg = spec.args.value.get(index);
                let error = match kernel.parameters().get(index) {
                    Some(parameter) if arg.is_none() => error.with_help(self.how_to_give(parameter)),
                    _ => error,
                };
                self.source.place(error, arg.map_or(spec.args.span.as_ref(), |arg| arg.span.as_ref()))
            });
            let errors: Vec<RunError> = errors.collect();
            if !errors.is_empty() {
                return Err(RunErrors(errors));
            }
        }
        Ok(Launch { spec, kernel, args })
    }

    /// The name of the kernel to launch: the one that is named, or the module's only one.
    fn entry<'p>(&self, spec: &'p LaunchSpec, program: &'p Program) -> Result<&'p str, RunError> {
        if let Some(entry) = &spec.entry {
            return Ok(&entry.value);
        }
        let entries: Vec<&str> = program.entries().collect();
        match entries[..] {
            [entry] => Ok(entry),
            [] => Err(RunError::new(RunErrorKind::UnknownEntry, "the module has no entry").in_file(&self.ptx.value)),
            _ => {
                let names: Vec<String> = entries.iter().map(|name| format!("`{name}`")).collect();
                let error = self.source.error(
                    RunErrorKind::UnknownEntry,
                    spec.grid.span.as_ref().filter(|_| self.source.path.is_some()),
                    format!("the module has {} entries, and which to launch is not said", entries.len()),
                );
                let option = if self.source.path.is_some() { "`entry = …`" } else { "`--entry …`" };
                Err(error.with_help(format!("write {option}: {}", names.join(", "))))
            }
        }
    }

    /// What to write for a parameter.
    fn how_to_give(&self, parameter: &Parameter) -> String {
        let element = value::element(parameter.ty);
        let name = element.map_or("u8", Element::name);
        let bytes = parameter.bytes;
        let on_line = self.source.path.is_none();
        match (element.is_none() || bytes != parameter.ty.size(), on_line) {
            (true, true) => format!(
                "it is a structure or an array: `--arg u8=…,…` gives its {bytes} bytes, `--arg f32=…,…` members of one type; \
                 a launch file takes members of any types: [[\"in\", {{ i32 = 8 }}]]"
            ),
            (true, false) => format!(
                "it is a structure or an array of {bytes} bytes: write its members in brackets, [\"in\", {{ i32 = 8 }}], or \
                 members of one type as {{ f32 = [1, 2] }}"
            ),
            (false, true) if name == "u64" => {
                "`--arg NAME=FILE` gives a buffer, `--arg NAME=TYPE[SHAPE]` one of zeros, `--arg u64=…` a number"
                    .to_owned()
            }
            (false, false) if name == "u64" => {
                "the name of a buffer gives its address, `{ u64 = … }` a number".to_owned()
            }
            (false, true) => format!("`--arg {name}=…` gives one"),
            (false, false) => format!("`{{ {name} = … }}` gives one"),
        }
    }
}

impl LaunchSpec {
    fn has_thread(&self, id: ThreadId) -> bool {
        let inside = |place: [u32; 3], size: [u32; 3]| place.iter().zip(size).all(|(n, len)| *n < len);
        inside(id.block, self.grid.value) && inside(id.thread, self.block.value)
    }
}

impl Text {
    fn error(&self, kind: RunErrorKind, span: Option<&Range<usize>>, message: impl Into<String>) -> RunError {
        self.place(RunError::new(kind, message), span)
    }

    /// Something that the text says wrongly.
    fn wrong(&self, span: Option<&Range<usize>>, message: impl Into<String>) -> RunError {
        let kind = if self.path.is_some() { RunErrorKind::LaunchFile } else { RunErrorKind::CommandLine };
        self.error(kind, span, message)
    }

    fn place(&self, error: RunError, span: Option<&Range<usize>>) -> RunError {
        let Some(span) = span else { return error };
        let error = error.at(Place::new(&self.text, span.clone()));
        match &self.path {
            Some(path) => error.in_file(path),
            None => error,
        }
    }
}

fn product(size: [u32; 3]) -> u64 {
    size.iter().fold(1, |product: u64, n| product.saturating_mul(u64::from(*n)))
}

/// How many bytes one buffer may have.
const MAX_BYTES: u64 = 4 << 30;

/// The bytes of elements that are all equal, if there is memory for them.
fn filled(description: &Description, bits: u64) -> Option<Vec<u8>> {
    let len = description.byte_len().filter(|len| *len <= MAX_BYTES).and_then(|len| usize::try_from(len).ok())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    if bits == 0 {
        bytes.resize(len, 0);
    } else {
        let size = description.element.size();
        bytes.extend(std::iter::repeat_n(&bits.to_le_bytes()[..size], len / size).flatten());
    }
    Some(bytes)
}

/// Whether a file of this name does not say what it holds.
fn is_raw(path: &Path) -> bool {
    !matches!(Format::of(path), Some(Format::Npy | Format::Png))
}

/// Says why an array cannot be saved under this name.
fn check_save(path: &Path, description: &Description) -> Result<(), String> {
    if path.is_dir() {
        return Err(format!("`{}` is a folder", path.display()));
    }
    match Format::of(path) {
        Some(format @ (Format::Npy | Format::Png)) => format.check(description),
        _ => Err(format!("`{}` cannot be saved: output is written to .npy and .png", path.display())),
    }
}

/// The NumPy call that makes an array of one description one of another.
fn how_to_convert(found: &Description, wanted: &Description) -> Option<String> {
    let name = match wanted.element.name().split_at(1) {
        ("u", bits) => format!("uint{bits}"),
        ("i", bits) => format!("int{bits}"),
        (_, bits) => format!("float{bits}"),
    };
    let len = |description: &Description| Element::U8.byte_len(&description.shape);
    match (found.element == wanted.element, found.shape == wanted.shape) {
        (false, true) => Some(format!("astype(numpy.{name})")),
        (true, false) if len(found) == len(wanted) => {
            let shape: Vec<String> = wanted.shape.iter().map(u64::to_string).collect();
            Some(format!("reshape({})", shape.join(", ")))
        }
        _ => None,
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, RunError> {
    let read = vop_arrays::read_text_file(path, vop_arrays::MAX_TEXT);
    read.map_err(|error| RunError::new(RunErrorKind::File, error.to_string()))
}

fn read_text(path: &Path) -> Result<String, RunError> {
    String::from_utf8(read_file(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        RunError::new(RunErrorKind::File, format!("cannot read {}: byte {at} is not UTF-8", path.display()))
    })
}

fn in_file(errors: RunErrors, path: &Path) -> RunErrors {
    RunErrors(errors.0.into_iter().map(|error| error.in_file(path)).collect())
}
