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
//! [textures]                               # of a buffer, or a .png
//! picture = { file = "frame0.png", read = "normalized", filter = "linear" }
//!
//! [[launch]]                               # one or more, in order, on the same buffers
//! entry  = "motion_search"                 # may be left out if the module has no other
//! grid   = [40, 23]                        # x, then y, then z; a number is x alone
//! block  = 64
//! shared = 0                               # bytes of dynamic shared memory; may be left out
//! cooperative = true                       # blocks may wait for one another (`grid.sync()`); may be left out
//! check  = ["races", "uninit"]             # or "all"; may be left out
//! timeout = "90s"                          # seconds, or with a unit; may be left out
//! args   = ["frame", "motion", { i32 = 640 }, { f32 = 0.5 }, { u8 = [1, 2, 3, 4] }]
//! ```
//!
//! A string argument is the address of that buffer, or the handle of that texture or surface (`[surfaces]`); `{ type = value }` a scalar; a list of values an array or structure passed by
//! value. Types are u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64. [`CommandLine`] has the same for one launch.
//!
//! Both become a [`Job`], which is checked, run, saved and compared here.

mod compare;
mod file;
mod line;
mod number;
mod repeat;
mod texture;
mod value;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use vop::Severity;
use vop_arrays::{Array, Description, Element, Format, write_atomically};
use vop_ptx::module::Scalar;

use crate::clock::Instant;
use crate::code::{Kernel, Parameter};
use crate::decode::{FoundVariable, Program};
use crate::engine::launch::{Arg, Check, LaunchOptions, Report};
use crate::error::{Place, RunError, RunErrorKind, RunErrors, ThreadId};
use crate::memory::{BufferId, Memory, size};
use crate::symbol::{self, shown};
use crate::types::Kind;
pub use compare::{Comparison, Difference, Tolerance};
pub use line::{CommandLine, parse_type, parse_values};
pub use number::{parse_bytes, parse_count, parse_time};
use texture::{Handles, TextureSpec};
pub use value::{parse as parse_element, show as show_element};

/// How to run a [`Job`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The folder that outputs are relative to; the launch file's, or the current one, where there is none.
    pub output: Option<PathBuf>,
    /// The options of every launch. Dynamic shared memory is the job's. A check is made if the options or the launch ask for it. A thread
    /// is traced in the launches that have it. A timeout replaces that of a launch. Memory is what the job may take, with its buffers.
    pub launch: LaunchOptions,
    /// The tolerance of comparisons without one of their own.
    pub tolerance: Tolerance,
    /// Whether [`Summary::outputs`] has what buffers and variables hold in the end.
    pub keep: bool,
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

    /// Sets [`RunOptions::keep`].
    #[must_use]
    pub fn with_keep(self, keep: bool) -> RunOptions {
        RunOptions { keep, ..self }
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
    /// What the buffers, and the variables that the job names, hold in the end, by name; empty unless [`RunOptions::keep`] asks for it.
    pub outputs: Vec<(String, Array)>,
}

/// The results of one launch.
#[derive(Clone, Debug)]
pub struct LaunchSummary {
    /// The kernel, as PTX names it; [`demangled`](crate::demangled) has the name of C++.
    pub entry: String,
    /// Which `[[launch]]` of the launch file it is, from 0.
    pub index: usize,
    /// The changing numbers of a repeated launch: name and value.
    pub round: Vec<(String, String)>,
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
    /// Variables of the module that are filled, saved or compared.
    variables: Vec<BufferSpec>,
    textures: Vec<TextureSpec>,
    launches: Vec<LaunchSpec>,
    /// The errors of buffers that nothing uses. They are reported where there are no others: what a wrong launch would use is not known.
    unused: Vec<RunError>,
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
    home: Home,
    /// Type and shape as they are declared; a file may tell them as well.
    ty: Option<Element>,
    shape: Option<Vec<u64>>,
    content: Content,
    save: Option<At<PathBuf>>,
    expect: Option<At<PathBuf>>,
    tolerance: Option<Tolerance>,
}

/// What is filled, saved and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// A buffer of the job.
    Buffer,
    /// A variable of the module: all of it, or a part behind an offset in bytes.
    Variable { offset: Option<u64> },
}

/// The address of a buffer or a variable, and an offset in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    name: String,
    offset: u64,
}

/// What a buffer holds at the start.
#[derive(Clone, Debug)]
enum Content {
    /// What the module says of its variable.
    Kept,
    File(At<PathBuf>),
    /// Zeros that count as not written; type and shape are declared.
    Nothing,
    /// The bits of every element; type and shape are declared.
    Fill(u64),
    /// All of its bytes; type and shape are declared.
    Values(Vec<u8>),
    /// Addresses of buffers and variables; type and shape are declared.
    Addresses(Vec<At<Address>>),
    /// Values of a variable, or what each element of it is: their type is that which the module declares.
    Untyped {
        values: Vec<At<toml::Value>>,
        is_fill: bool,
    },
}

#[derive(Clone, Debug)]
struct LaunchSpec {
    /// Which `[[launch]]` it is, and the changing numbers if that is repeated.
    index: usize,
    round: Vec<(String, String)>,
    entry: Option<At<String>>,
    grid: At<[u32; 3]>,
    block: At<[u32; 3]>,
    shared: usize,
    cooperative: bool,
    args: At<Vec<At<ArgSpec>>>,
    checks: Vec<Check>,
    timeout: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
enum ArgSpec {
    /// The address of the buffer of this name, which there is.
    Buffer(String),
    /// An address, perhaps of a variable, and perhaps behind the first byte.
    Address(Address),
    Value(Arg),
    /// The handle of a texture or a surface, which there is.
    Texture(String),
    /// A structure passed by value: its members, and what their places are multiples of.
    Structure(Vec<(ArgSpec, usize)>),
}

impl ArgSpec {
    /// The argument, when it is known which buffer has a name; `None` where that is not known.
    fn resolve(&self, memory: &Memory, handles: &Handles, find: &dyn Fn(&str) -> Option<BufferId>) -> Option<Arg> {
        let address = |address: &Address| Some(memory.address(find(&address.name)?) + address.offset);
        match self {
            ArgSpec::Value(arg) => Some(arg.clone()),
            ArgSpec::Buffer(name) => find(name).map(Arg::Buffer),
            ArgSpec::Texture(name) => {
                let (_, handle) = handles.iter().find(|(other, _)| other == name)?;
                Some(Arg::Scalar(Scalar::U64, *handle))
            }
            ArgSpec::Address(place) => address(place).map(|address| Arg::Scalar(Scalar::U64, address)),
            ArgSpec::Structure(members) => {
                // As C lays it out.
                let mut bytes = Vec::new();
                for (member, align) in members {
                    bytes.resize(bytes.len().next_multiple_of(*align), 0);
                    match member.resolve(memory, handles, find)? {
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

impl ArgSpec {
    /// Whether it is or contains the handle of a texture or surface of this name.
    fn names_texture(&self, name: &str) -> bool {
        match self {
            ArgSpec::Texture(texture) => texture == name,
            ArgSpec::Structure(members) => members.iter().any(|(member, _)| member.names_texture(name)),
            ArgSpec::Buffer(_) | ArgSpec::Address(_) | ArgSpec::Value(_) => false,
        }
    }
}

/// The buffer of a name.
fn find(buffers: &[Buffer<'_>], name: &str) -> Option<BufferId> {
    buffers.iter().find(|buffer| buffer.name == name).map(|buffer| buffer.id)
}

/// What a buffer should hold after the run: the file, its content, and how far elements may be off.
type Expected<'j> = (&'j At<PathBuf>, Array, Tolerance);

/// A buffer or a variable that exists, and what becomes of it.
struct Buffer<'j> {
    name: &'j str,
    id: BufferId,
    /// Where its elements stand in the allocation: all of it, or a part of a variable.
    start: usize,
    description: Description,
    save: Option<At<PathBuf>>,
    expected: Option<Expected<'j>>,
}

/// What a buffer holds at the start.
enum Start<'j> {
    Bytes(std::borrow::Cow<'j, [u8]>),
    /// Elements of these bits, in this number of bytes.
    Fill(u64, u64),
    /// A number of bytes.
    Nothing(u64),
}

/// A launch that has been checked.
struct Launch<'j> {
    spec: &'j LaunchSpec,
    kernel: Rc<Kernel>,
    args: Vec<Arg>,
}

/// The module while a job is checked: what was found in it by name is not looked for again.
struct Loaded<'p> {
    program: &'p Program,
    /// The kernels that were decoded, by the names that launches give.
    kernels: RefCell<HashMap<String, Rc<Kernel>>>,
    variables: RefCell<HashMap<String, Rc<[FoundVariable<'p>]>>>,
}

impl<'p> Loaded<'p> {
    fn new(program: &'p Program) -> Loaded<'p> {
        Loaded { program, kernels: RefCell::default(), variables: RefCell::default() }
    }

    /// The variables that a name may mean.
    fn variables(&self, name: &str) -> Rc<[FoundVariable<'p>]> {
        let mut known = self.variables.borrow_mut();
        let found = known.entry(name.to_owned()).or_insert_with(|| self.program.find_variables(name).into());
        Rc::clone(found)
    }

    /// The kernel of a name.
    fn kernel(&self, name: &str) -> Result<Rc<Kernel>, RunErrors> {
        if let Some(known) = self.kernels.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let kernel = Rc::new(self.program.kernel(name)?);
        self.kernels.borrow_mut().insert(name.to_owned(), Rc::clone(&kernel));
        Ok(kernel)
    }
}

impl Buffer<'_> {
    /// What it holds, or what says that there is no memory for it.
    fn array(&self, memory: &Memory) -> Result<Array, impl Fn(&str) -> RunError + use<>> {
        let found = self.bytes(memory);
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(found.len()).is_err() {
            let len = found.len() as u64;
            return Err(move |what: &str| crate::memory::refused(len, what));
        }
        bytes.extend_from_slice(found);
        Ok(Array { description: self.description.clone(), bytes })
    }

    fn bytes<'m>(&self, memory: &'m Memory) -> &'m [u8] {
        let len = self.description.byte_len().and_then(|len| usize::try_from(len).ok()).unwrap_or(0);
        memory.bytes(self.id).get(self.start..).and_then(|bytes| bytes.get(..len)).unwrap_or_default()
    }
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
        let blocks = self.launches.iter().map(|launch| product(&launch.grid.value.map(u64::from)).unwrap_or(u64::MAX));
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

    /// Whether a buffer or a variable is compared with a file after the run.
    pub fn compares(&self) -> bool {
        self.buffers.iter().chain(&self.variables).any(|buffer| buffer.expect.is_some())
    }

    /// Compares a buffer with a file after the run: `NAME=FILE`, or `FILE` if there is one buffer that is saved.
    pub fn expect(&mut self, comparison: &str) -> Result<(), RunError> {
        let (name, file) = match comparison.split_once('=') {
            Some((name, file)) => (Some(name), file),
            None => (None, comparison),
        };
        let all = || self.buffers.iter().chain(&self.variables);
        let saved: Vec<&str> = all().filter(|b| b.save.is_some()).map(|b| b.name.as_str()).collect();
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
        let names: Vec<String> = all().map(|buffer| format!("`{}`", buffer.name)).collect();
        let mut all = self.buffers.iter_mut().chain(&mut self.variables);
        let Some(buffer) = all.find(|buffer| buffer.name == name) else {
            let error = problem(format!("there is no buffer `{name}` to compare with `{file}`"));
            return Err(error.with_help(match names.is_empty() {
                true => "there are none: an argument NAME=… makes one, and `--variable NAME=:SAVE` names a variable"
                    .to_owned(),
                false => format!("there are {}", names.join(", ")),
            }));
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
        let loaded = Loaded::new(&program);
        let mut memory = program.memory();
        if let Some(bytes) = options.launch.memory {
            memory.set_limit(bytes)?;
        }
        if let Some(error) = memory.refused() {
            return Err(error.in_file(ptx_path).into());
        }
        let output = options.output.as_deref().unwrap_or(&self.folder);
        let mut errors = Vec::new();
        let mut buffers = Vec::new();
        for spec in &self.buffers {
            match self.buffer(spec, output, options.tolerance, &mut memory) {
                Ok(buffer) => buffers.push(buffer),
                Err(error) => errors.push(error),
            }
        }
        errors.extend(self.named_like_variables(&program));
        let mut variables = Vec::new();
        for spec in &self.variables {
            match self.variable(spec, output, options.tolerance, &loaded, &mut memory) {
                Ok(variable) => variables.push(variable),
                Err(error) => errors.push(error),
            }
        }
        errors.extend(self.colliding_saves(buffers.iter().chain(&variables)));
        for (spec, table) in self.buffers.iter().zip(&buffers).chain(self.variables.iter().zip(&variables)) {
            // Where a buffer is missing nothing runs.
            if let (Content::Addresses(addresses), true) = (&spec.content, errors.is_empty()) {
                let mut bytes = Vec::new();
                for address in addresses {
                    match self.address(address, &buffers, &loaded, &memory) {
                        Ok(address) => bytes.extend(address.to_le_bytes()),
                        Err(error) => errors.push(error),
                    }
                }
                if let Some(place) =
                    memory.bytes_mut(table.id).get_mut(table.start..).and_then(|b| b.get_mut(..bytes.len()))
                {
                    place.copy_from_slice(&bytes);
                }
            }
        }
        let (handles, wrong) = self.make_textures(&buffers, &loaded, &mut memory);
        errors.extend(wrong);
        let mut launches = Vec::new();
        let mut failed = Vec::new();
        for spec in &self.launches {
            // Without all buffers the arguments cannot be judged.
            let known = errors.is_empty().then_some(&buffers[..]);
            match self.launch(spec, &loaded, known, &handles, &memory) {
                Ok(launch) => launches.push(launch),
                Err(found) => failed.extend(found.0.into_iter().map(|error| (spec, error))),
            }
        }
        errors.extend(self.of_launches(failed));
        if errors.is_empty() {
            errors.extend(self.unused.iter().cloned());
        }
        if !errors.is_empty() {
            return Err(RunErrors(errors));
        }

        if launches.iter().any(|launch| launch.kernel.uses_heap) {
            memory.make_heap(None)?;
        }
        let mut summary =
            Summary { launches: Vec::new(), files: Vec::new(), comparisons: Vec::new(), outputs: Vec::new() };
        for Launch { spec, kernel, args } in &launches {
            let mut launch = options.launch.clone();
            launch.dynamic_shared = spec.shared;
            if spec.cooperative {
                launch.cooperative = Some(kernel.resident_blocks(spec.block.value, spec.shared));
            }
            spec.checks.iter().for_each(|check| launch.check(*check));
            launch.timeout = launch.timeout.or(spec.timeout);
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
                    let (index, round) = (spec.index, spec.round.clone());
                    summary.launches.push(LaunchSummary { entry, index, round, grid, block, report, checks, time });
                }
                Err(errors) => {
                    // What checks found before is not lost.
                    let mut errors = in_file(errors, ptx_path);
                    if let Some(error) = errors.0.first_mut() {
                        error.message += &in_round(spec);
                    }
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
        for buffer in buffers.iter().chain(&variables) {
            let Some(save) = &buffer.save else { continue };
            let array = buffer.array(&memory).map_err(|refused| {
                let error = refused(&format!("writing {}", save.value.display()));
                self.source.place(error, save.span.as_ref())
            })?;
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
        if options.keep {
            for buffer in buffers.iter().chain(&variables) {
                let array =
                    buffer.array(&memory).map_err(|refused| refused(&format!("a copy of `{}`", buffer.name)))?;
                summary.outputs.push((buffer.name.to_owned(), array));
            }
        }
        for buffer in buffers.iter().chain(&variables) {
            if let Some((file, expected, tolerance)) = &buffer.expected {
                let (found, file) = (buffer.bytes(&memory), file.value.clone());
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
        // What is too large is refused before it is read.
        let limit = memory.left().min(MAX_BYTES);
        let (description, start) = match &spec.content {
            Content::File(file) => {
                let array = Array::read(&file.value, spec.ty, spec.shape.as_deref(), limit).map_err(|why| {
                    let error = self.unread(file, &why, limit, memory);
                    if self.source.path.is_none() && spec.ty.is_none() && is_raw(&file.value) {
                        let help = format!("write the type before it: {}=u8@{}", spec.name, file.value.display());
                        return error.with_help(help);
                    }
                    error
                })?;
                (array.description, Start::Bytes(array.bytes.into()))
            }
            content => {
                let (Some(element), Some(shape)) = (spec.ty, spec.shape.clone()) else {
                    return Err(self.source.wrong(spec.span.as_ref(), "no type and shape"));
                };
                let description = Description { element, shape };
                let Some(len) = description.byte_len().filter(|len| *len <= MAX_BYTES) else {
                    let has = description.byte_len().map_or("more bytes than 64 bits count".to_owned(), size);
                    let limit = size(MAX_BYTES);
                    let message =
                        format!("buffer `{}` of {description} has {has}: a buffer has {limit} at most", spec.name);
                    return Err(self.source.wrong(spec.span.as_ref(), message));
                };
                let start = match content {
                    Content::Values(bytes) => Start::Bytes(bytes[..].into()),
                    Content::Nothing => Start::Nothing(len),
                    Content::Fill(bits) => Start::Fill(*bits, len),
                    // Addresses are known when all buffers are.
                    Content::Addresses(_) | Content::File(_) | Content::Kept | Content::Untyped { .. } => {
                        Start::Fill(0, len)
                    }
                };
                (description, start)
            }
        };
        let save = self.save(spec, output, &description)?;
        let expected = self.expected(spec, tolerance, &description, memory)?;
        let made = match start {
            Start::Bytes(bytes) => memory.try_allocate(&spec.name, &bytes),
            Start::Nothing(len) => memory.allocate_uninitialized(&spec.name, len),
            Start::Fill(bits, len) => memory.allocate_zeros(&spec.name, len).inspect(|buffer| {
                // Pages of zeros take no memory as long as nothing is written to them.
                if bits != 0 {
                    let element = &bits.to_le_bytes()[..description.element.size()];
                    memory
                        .bytes_mut(*buffer)
                        .chunks_exact_mut(element.len())
                        .for_each(|to| to.copy_from_slice(element));
                }
            }),
        };
        let id = made.map_err(|error| self.source.place(error, spec.span.as_ref()))?;
        Ok(Buffer { name: &spec.name, id, start: 0, save, expected, description })
    }

    /// The error for a file of elements that was not read, of which `limit` bytes were allowed.
    fn unread(&self, file: &At<PathBuf>, why: &vop_arrays::Error, limit: u64, memory: &Memory) -> RunError {
        if why.kind() != vop_arrays::ErrorKind::TooLarge || limit == MAX_BYTES {
            return self.source.error(RunErrorKind::File, file.span.as_ref(), why.to_string());
        }
        let help = format!(
            "so much is left of the limit of {} for all buffers: `--memory` sets it; a part of the machine's memory is the default",
            size(memory.limit())
        );
        self.source.error(RunErrorKind::Memory, file.span.as_ref(), why.to_string()).with_help(help)
    }

    /// Where a buffer or a variable is saved.
    fn save(
        &self,
        spec: &BufferSpec,
        output: &Path,
        description: &Description,
    ) -> Result<Option<At<PathBuf>>, RunError> {
        let save = spec.save.clone().map(|save| {
            let save = save.map(|path| output.join(path));
            check_save(&save.value, description).map_err(|message| self.source.wrong(save.span.as_ref(), message))?;
            Ok(save)
        });
        save.transpose()
    }

    /// What a buffer or a variable should be.
    fn expected<'j>(
        &self,
        spec: &'j BufferSpec,
        tolerance: Tolerance,
        wanted: &Description,
        memory: &Memory,
    ) -> Result<Option<Expected<'j>>, RunError> {
        let problem =
            |span: &Option<Range<usize>>, message| self.source.error(RunErrorKind::File, span.as_ref(), message);
        // A variable that it is compared with has been counted.
        let limit = memory.left().max(wanted.byte_len().unwrap_or(0)).min(MAX_BYTES);
        let expected = spec.expect.as_ref().map(|file| {
            // A raw file has the buffer's type and shape. Other files say themselves what they hold.
            let declared = is_raw(&file.value).then_some(wanted);
            let element = declared.map(|declared| declared.element);
            let expected = Array::read(&file.value, element, declared.map(|declared| &declared.shape[..]), limit)
                .map_err(|why| self.unread(file, &why, limit, memory))?;
            let found = &expected.description;
            if found != wanted {
                let path = file.value.display();
                let what = if spec.home == Home::Buffer { "buffer" } else { "variable" };
                let message = format!("{path} holds {found}, and {what} `{}` is {wanted}", spec.name);
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
        expected.transpose()
    }

    /// Fills a variable of the module.
    fn variable<'j>(
        &self,
        spec: &'j BufferSpec,
        output: &Path,
        tolerance: Tolerance,
        loaded: &Loaded<'_>,
        memory: &mut Memory,
    ) -> Result<Buffer<'j>, RunError> {
        let name = &spec.name;
        let wrong = |message: String| self.source.wrong(spec.span.as_ref(), message);
        let program = loaded.program;
        let found = match &loaded.variables(name)[..] {
            [found] => found.clone(),
            [] => {
                let error = wrong(format!("the module has no variable `{name}`"));
                let names = symbol::listed(program.variable_names());
                return Err(error.with_help(match names.is_empty() {
                    true => "it has no `.global` and no `.const` variables".to_owned(),
                    false => format!("it has {names}"),
                }));
            }
            several => {
                let names: Vec<String> = several.iter().map(|found| format!("`{}`", found.symbol)).collect();
                let error = wrong(format!("`{name}` may be any of {} variables", several.len()));
                return Err(error.with_help(format!("write which: {}", names.join(", "))));
            }
        };
        let len = memory.bytes(found.id).len() as u64;
        if len == 0 {
            let message = format!(
                "variable {} has no bytes here: it is declared `.extern`, or vop run does not support it",
                shown(found.symbol)
            );
            return Err(wrong(message));
        }
        let offset = match spec.home {
            Home::Variable { offset } => offset,
            Home::Buffer => None,
        };
        let start = offset.unwrap_or(0);
        let left = len.saturating_sub(start);
        let bytes_word = |bytes: u64| format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" });
        // What is not said is what the module declares.
        let declared = value::element(found.scalar);
        let element = spec.ty.or(declared).unwrap_or(Element::U8);
        let whole = || match (&found.shape, Some(element) == declared, offset) {
            (Some(shape), true, None) => shape.clone(),
            _ => vec![left / element.size() as u64],
        };
        let typed = self.typed(spec, &found)?;
        let read = match typed.as_ref().unwrap_or(&spec.content) {
            Content::File(file) => {
                let ty = spec.ty.or_else(|| is_raw(&file.value).then_some(element));
                // The variable has been counted.
                let limit = memory.left().max(len).min(MAX_BYTES);
                let read = Array::read(&file.value, ty, spec.shape.as_deref(), limit);
                Some(read.map_err(|why| self.unread(file, &why, limit, memory))?)
            }
            Content::Values(bytes) => {
                let count = (bytes.len() / element.size()) as u64;
                let declared = Some(whole()).filter(|shape| product(shape) == Some(count));
                let shape = spec.shape.clone().or(declared).unwrap_or_else(|| vec![count]);
                Some(Array { description: Description { element, shape }, bytes: bytes.clone() })
            }
            Content::Addresses(addresses) => {
                let description = Description { element: Element::U64, shape: vec![addresses.len() as u64] };
                Some(Array { description, bytes: vec![0; 8 * addresses.len()] })
            }
            Content::Fill(bits) => {
                let description = Description { element, shape: spec.shape.clone().unwrap_or_else(whole) };
                let count = description.byte_len().filter(|len| *len <= left).map(|len| len as usize / element.size());
                let bytes = count.map(|count| bits.to_le_bytes()[..element.size()].repeat(count));
                let too_large =
                    || wrong(format!("{description} is more than the {} of variable `{name}`", bytes_word(left)));
                Some(Array { bytes: bytes.ok_or_else(too_large)?, description })
            }
            Content::Kept | Content::Nothing | Content::Untyped { .. } => None,
        };
        let description = match &read {
            Some(array) => array.description.clone(),
            None => Description { element, shape: spec.shape.clone().unwrap_or_else(whole) },
        };
        let given = description.byte_len().unwrap_or(u64::MAX);
        if start > len || given > left || (offset.is_none() && given < len) {
            let behind = if start > 0 { format!(" behind the offset {start}") } else { String::new() };
            let message =
                format!("{description} has {}, and variable `{name}` {}{behind}", bytes_word(given), bytes_word(left));
            let error = wrong(message);
            return Err(match (&typed, given < left && self.source.path.is_some()) {
                (Some(_), _) => error.with_help(declared_type(name, found.scalar)),
                (None, true) => error.with_help("`offset = 0` fills the first bytes and leaves the others"),
                (None, false) => error,
            });
        }
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        if let Some(array) = read
            && let Some(place) =
                memory.bytes_mut(found.id).get_mut(start..).and_then(|b| b.get_mut(..array.bytes.len()))
        {
            place.copy_from_slice(&array.bytes);
        }
        let save = self.save(spec, output, &description)?;
        let expected = self.expected(spec, tolerance, &description, memory)?;
        Ok(Buffer { name, id: found.id, start, description, save, expected })
    }

    /// The content of a variable whose `type` is not given: of the type that the module declares.
    fn typed(&self, spec: &BufferSpec, found: &FoundVariable<'_>) -> Result<Option<Content>, RunError> {
        let Content::Untyped { values, is_fill } = &spec.content else { return Ok(None) };
        let (name, help) = (&spec.name, declared_type(&spec.name, found.scalar));
        let Some(ty) = value::element(found.scalar) else {
            let message = format!("the type of what fills variable `{name}` is not said");
            return Err(self.source.wrong(spec.span.as_ref(), message).with_help(help));
        };
        let bits = values.iter().map(|value| {
            let wrong = || {
                let error = self.source.wrong(value.span.as_ref(), format!("{} is no {ty}", value.value));
                error.with_help(help.clone())
            };
            value::of_toml(&value.value, ty).ok_or_else(wrong)
        });
        let bits = bits.collect::<Result<Vec<u64>, RunError>>()?;
        Ok(Some(match (is_fill, &bits[..]) {
            (true, [bits]) => Content::Fill(*bits),
            _ => Content::Values(value::bytes(ty, bits)),
        }))
    }

    /// Buffers that a variable of the module is named like: who wrote one meant to fill the variable.
    fn named_like_variables(&self, program: &Program) -> Vec<RunError> {
        let mut names: HashMap<String, &str> = HashMap::new();
        for symbol in program.variable_names() {
            names.insert(symbol::demangled(symbol).into_owned(), symbol);
            names.insert(symbol.to_owned(), symbol);
        }
        let named = self.buffers.iter().filter(|buffer| names.contains_key(&buffer.name)).map(|buffer| {
            let name = &buffer.name;
            let message = format!("buffer `{name}` has the name of a variable of the module, which it does not fill");
            let help = match self.source.path {
                Some(_) => {
                    format!("`[variables]` fills it; give the buffer another name if you mean one: \"{name}_buffer\"")
                }
                None => format!("`--variable {name}=…` fills it; give the buffer another name if you mean one"),
            };
            self.source.wrong(buffer.span.as_ref(), message).with_help(help)
        });
        named.collect()
    }

    /// An address, which must be one of a buffer or a variable.
    fn address(
        &self,
        address: &At<Address>,
        buffers: &[Buffer<'_>],
        loaded: &Loaded<'_>,
        memory: &Memory,
    ) -> Result<u64, RunError> {
        let Address { name, offset } = &address.value;
        let wrong = |message: String| self.source.wrong(address.span.as_ref(), message);
        let found = match find(buffers, name) {
            Some(buffer) => buffer,
            None => match &loaded.variables(name)[..] {
                [found] => found.id,
                [] => {
                    let program = loaded.program;
                    let buffers = self.buffers.iter().map(|buffer| buffer.name.as_str());
                    let known = symbol::listed(buffers.chain(program.variable_names()));
                    let error = wrong(format!("there is no buffer and no variable `{name}`"));
                    return Err(error.with_help(match known.is_empty() {
                        true => "there are none".to_owned(),
                        false => format!("there are {known}"),
                    }));
                }
                several => {
                    let names: Vec<String> = several.iter().map(|found| format!("`{}`", found.symbol)).collect();
                    let error = wrong(format!("`{name}` may be any of {} variables", several.len()));
                    return Err(error.with_help(format!("write which: {}", names.join(", "))));
                }
            },
        };
        let len = memory.bytes(found).len() as u64;
        if *offset > len {
            return Err(wrong(format!("byte {offset} is beyond the end of `{name}`, which has {len}")));
        }
        Ok(memory.address(found) + offset)
    }

    /// What is wrong with the addresses in an argument.
    fn address_errors(
        &self,
        arg: &ArgSpec,
        span: Option<&Range<usize>>,
        buffers: &[Buffer<'_>],
        loaded: &Loaded<'_>,
        memory: &Memory,
    ) -> Vec<RunError> {
        match arg {
            ArgSpec::Address(address) => {
                let address = At { value: address.clone(), span: span.cloned() };
                self.address(&address, buffers, loaded, memory).err().into_iter().collect()
            }
            ArgSpec::Structure(members) => {
                let of = |(member, _): &(ArgSpec, usize)| self.address_errors(member, span, buffers, loaded, memory);
                members.iter().flat_map(of).collect()
            }
            ArgSpec::Buffer(_) | ArgSpec::Value(_) | ArgSpec::Texture(_) => Vec::new(),
        }
    }

    /// Buffers that would be saved over each other, or over what the run is made of.
    fn colliding_saves<'b>(&self, buffers: impl Iterator<Item = &'b Buffer<'b>> + Clone) -> Vec<RunError> {
        let same =
            |a: &Path, b: &Path| a == b || a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
        let mut seen: Vec<&Path> = vec![&self.ptx.value];
        seen.extend(self.source.path.as_deref());
        seen.extend(buffers.clone().filter_map(|buffer| Some(buffer.expected.as_ref()?.0.value.as_path())));
        let mut errors = Vec::new();
        for save in buffers.filter_map(|buffer| buffer.save.as_ref()) {
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
        loaded: &Loaded<'_>,
        buffers: Option<&[Buffer<'_>]>,
        handles: &Handles,
        memory: &Memory,
    ) -> Result<Launch<'j>, RunErrors> {
        let program = loaded.program;
        let entry = self.entry(spec, program)?;
        let kernel = loaded.kernel(entry).map_err(|errors| {
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
        if spec.cooperative {
            let resident = kernel.resident_blocks(block, spec.shared);
            kernel
                .check_cooperative(grid, resident)
                .map_err(|error| self.source.place(error, spec.grid.span.as_ref()))?;
        }
        let mut args = Vec::new();
        let mut errors = Vec::new();
        for arg in &spec.args.value {
            let variable = |name: &str| match &loaded.variables(name)[..] {
                [found] => Some(found.id),
                _ => None,
            };
            let find = |name: &str| buffers.and_then(|buffers| find(buffers, name).or_else(|| variable(name)));
            args.extend(arg.value.resolve(memory, handles, &find));
            if let Some(buffers) = buffers {
                errors.extend(self.address_errors(&arg.value, arg.span.as_ref(), buffers, loaded, memory));
            }
        }
        if !errors.is_empty() {
            return Err(RunErrors(errors));
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

    /// The errors of launches. What several have in common, as those that `for` makes, is one error with their number.
    fn of_launches(&self, failed: Vec<(&LaunchSpec, RunError)>) -> Vec<RunError> {
        type Key = (RunErrorKind, Option<(Option<PathBuf>, Range<usize>)>, Option<String>);
        let mut all: Vec<(&LaunchSpec, RunError, usize)> = Vec::new();
        let mut known: HashMap<Key, usize> = HashMap::new();
        for (spec, error) in failed {
            let place = error.place.as_ref().map(|place| (place.file.clone(), place.span.clone()));
            // Launches of too large a shape are many, and wrong for one reason.
            let key = match (error.kind, place) {
                (RunErrorKind::LaunchShape, _) if spec.round.is_empty() => {
                    (error.kind, None, Some(error.message.clone()))
                }
                (_, None) => (error.kind, None, Some(error.message.clone())),
                (_, place) => (error.kind, place, None),
            };
            match known.get(&key).and_then(|index| all.get_mut(*index)) {
                Some((.., count)) => *count += 1,
                None => {
                    known.insert(key, all.len());
                    all.push((spec, error, 1));
                }
            }
        }
        let one = |(spec, mut error, count): (&LaunchSpec, RunError, usize)| {
            // Of what is wrong with the PTX it does not matter how many launches need it.
            if error.place.as_ref().is_none_or(|place| place.file == self.source.path) {
                error.message += &in_round(spec);
                let more = count - 1;
                let launches = if more == 1 { "launch" } else { "launches" };
                match (more, spec.round.is_empty()) {
                    (0, _) => {}
                    (_, false) => error.message += &format!(", and in {more} more"),
                    (_, true) => error.message += &format!(" (and in {more} more {launches})"),
                }
            }
            error
        };
        all.into_iter().map(one).collect()
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
                let names = symbol::listed(entries.iter().copied());
                let error = self.source.error(
                    RunErrorKind::UnknownEntry,
                    spec.grid.span.as_ref().filter(|_| self.source.path.is_some()),
                    format!("the module has {} entries, and which to launch is not said", entries.len()),
                );
                let option = if self.source.path.is_some() { "`entry = …`" } else { "`--entry …`" };
                Err(error.with_help(format!("write {option}: {names}")))
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

/// How many elements a shape has.
fn product(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1, |product: u64, n| product.checked_mul(*n))
}

/// How many bytes one buffer may have.
const MAX_BYTES: u64 = 4 << 30;

/// What to write where the type that the module declares is not the one of the values.
fn declared_type(name: &str, scalar: Scalar) -> String {
    let bytes = if value::element(scalar) == Some(Element::U8) { ", as compilers declare most arrays" } else { "" };
    format!(
        "the module declares `{name}` as .{}{bytes}: write the `type` of the values, as type = \"f32\"",
        scalar.name()
    )
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

/// Which repetition of a launch fails; nothing for one that is not repeated.
fn in_round(spec: &LaunchSpec) -> String {
    let round: Vec<String> = spec.round.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if round.is_empty() { String::new() } else { format!(", in the launch with {}", round.join(", ")) }
}

fn in_file(errors: RunErrors, path: &Path) -> RunErrors {
    RunErrors(errors.0.into_iter().map(|error| error.in_file(path)).collect())
}
