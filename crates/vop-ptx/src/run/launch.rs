//! Launch files: which kernels to run on which data.
//!
//! ```toml
//! ptx = "motion.ptx"                       # paths are relative to this file
//!
//! [buffers]
//! frame   = { file = "frame0.png" }        # .npy, .png, or raw bytes with a type (and a shape)
//! motion  = { type = "i32", shape = [23, 40, 2], save = "motion.npy" }
//! scratch = { type = "u32", shape = [920] }
//!
//! [[launch]]                               # one or more, in order, on the same buffers
//! entry  = "motion_search"
//! grid   = [40, 23]                        # x, then y, then z; a number is x alone
//! block  = 64
//! shared = 0                               # bytes of dynamic shared memory; may be left out
//! args   = ["frame", "motion", { i32 = 640 }, { f32 = 0.5 }, { u8 = [1, 2, 3, 4] }]
//! ```
//!
//! A string argument is the address of that buffer; `{ type = value }` a scalar; a list of values an array or structure passed by
//! value. Types are u8 i8 u16 i16 u32 i32 u64 i64 f32 f64.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use toml::{Spanned, Value};

use super::array::{self, Array, element, element_name, element_names};
use super::decode::Program;
use super::error::{Place, RunError, RunErrorKind, RunErrors};
use super::code::Kernel;
use super::engine::launch::{Arg, LaunchOptions, Report};
use super::memory::{BufferId, Memory};
use super::types::Kind;
use crate::module::Scalar;

/// How to run a launch file.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The folder that outputs are relative to; the launch file's where there is none.
    pub output: Option<PathBuf>,
    /// Thread-instructions that each launch may execute; [`LaunchOptions::default`]'s where there is none.
    pub instructions: Option<u64>,
    /// What video instructions compute.
    pub semantics: vop::Semantics,
}

/// What a launch file did.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Its launches in order.
    pub launches: Vec<LaunchSummary>,
    /// The files written.
    pub files: Vec<PathBuf>,
}

/// What one launch did.
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
    /// How long it took.
    pub time: Duration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchFile {
    ptx: Spanned<PathBuf>,
    #[serde(default)]
    buffers: BTreeMap<String, Spanned<BufferSpec>>,
    launch: Vec<LaunchSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BufferSpec {
    file: Option<Spanned<PathBuf>>,
    #[serde(rename = "type")]
    ty: Option<Spanned<String>>,
    shape: Option<Spanned<Vec<usize>>>,
    save: Option<Spanned<PathBuf>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchSpec {
    entry: Spanned<String>,
    grid: Spanned<Value>,
    block: Spanned<Value>,
    #[serde(default)]
    shared: usize,
    args: Spanned<Vec<Spanned<Value>>>,
}

/// A buffer that exists, and where it is to be saved.
struct Buffer {
    id: BufferId,
    ty: Scalar,
    shape: Vec<usize>,
    save: Option<(PathBuf, Range<usize>)>,
}

/// A launch that has been checked.
struct Launch {
    kernel: Kernel,
    grid: [u32; 3],
    block: [u32; 3],
    shared: usize,
    args: Vec<Arg>,
}

/// Runs the launch file at `path`: checks all of it, runs its launches in order, then writes the outputs.
///
/// Nothing runs unless everything checks, and no file is written unless everything ran.
pub fn run_launch_file(path: &Path, options: &RunOptions) -> Result<Summary, RunErrors> {
    let text = read_text(path)?;
    let reader = Reader { path, text: &text };
    let file = reader.parse()?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let ptx_path = folder.join(file.ptx.get_ref());
    let ptx = std::fs::read_to_string(&ptx_path).map_err(|error| {
        let message = format!("`{}` cannot be read: {error}", ptx_path.display());
        reader.error(RunErrorKind::File, file.ptx.span(), message)
    })?;
    let program = Program::read(&ptx);
    let mut memory = program.memory();

    let mut errors = Vec::new();
    let output = options.output.as_deref().unwrap_or(folder);
    let mut buffers = BTreeMap::new();
    for (name, spec) in &file.buffers {
        match reader.buffer(name, spec, folder, output, &mut memory) {
            Ok(buffer) => drop(buffers.insert(name.as_str(), buffer)),
            Err(error) => errors.push(error),
        }
    }
    errors.extend(reader.colliding_saves(&buffers, &[path, &ptx_path]));
    let mut launches = Vec::new();
    for spec in &file.launch {
        // A buffer that failed would only be reported again as unknown.
        let known = errors.is_empty().then_some(&buffers);
        match reader.launch(spec, &program, &ptx_path, known, &memory) {
            Ok(launch) => launches.push(launch),
            Err(found) => errors.extend(found.0),
        }
    }
    if file.launch.is_empty() {
        errors.push(RunError::new(RunErrorKind::LaunchFile, "nothing to run: there is no `[[launch]]`"));
    }
    if !errors.is_empty() {
        return Err(RunErrors(errors));
    }

    let mut summary = Summary { launches: Vec::new(), files: Vec::new() };
    for launch in &launches {
        let defaults = LaunchOptions::default();
        let launch_options = LaunchOptions {
            instructions: options.instructions.unwrap_or(defaults.instructions),
            dynamic_shared: launch.shared,
            semantics: options.semantics,
            ..defaults
        };
        let start = Instant::now();
        let result = launch.kernel.launch(launch.grid, launch.block, &launch.args, &mut memory, &launch_options);
        let report = result.map_err(|errors| in_file(errors, &ptx_path))?;
        summary.launches.push(LaunchSummary {
            entry: launch.kernel.name().to_owned(),
            grid: launch.grid,
            block: launch.block,
            report,
            time: start.elapsed(),
        });
    }

    let mut files = Vec::new();
    for buffer in buffers.into_values() {
        let Some((path, span)) = buffer.save else { continue };
        let array = Array { ty: buffer.ty, shape: buffer.shape, bytes: memory.bytes(buffer.id).to_vec() };
        let content =
            array::encode(&path, &array).map_err(|message| reader.error(RunErrorKind::File, span, message))?;
        files.push((path, content));
    }
    array::write_atomically(&files).map_err(|message| RunError::new(RunErrorKind::File, message))?;
    summary.files = files.into_iter().map(|(path, _)| path).collect();
    Ok(summary)
}

fn read_text(path: &Path) -> Result<String, RunError> {
    let problem = |error| RunError::new(RunErrorKind::File, format!("`{}` cannot be read: {error}", path.display()));
    std::fs::read_to_string(path).map_err(problem)
}

fn in_file(errors: RunErrors, path: &Path) -> RunErrors {
    RunErrors(errors.0.into_iter().map(|error| error.in_file(path)).collect())
}

/// The launch file's text, for errors that point into it.
struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Reader<'_> {
    fn error(&self, kind: RunErrorKind, span: Range<usize>, message: impl Into<String>) -> RunError {
        RunError::new(kind, message).at(Place::new(self.text, span)).in_file(self.path)
    }

    fn parse(&self) -> Result<LaunchFile, RunErrors> {
        toml::from_str(self.text).map_err(|error| {
            let message = error.message().trim().to_owned();
            self.error(RunErrorKind::LaunchFile, error.span().unwrap_or(0..0), message).into()
        })
    }

    fn buffer(
        &self,
        name: &str,
        spec: &Spanned<BufferSpec>,
        folder: &Path,
        output: &Path,
        memory: &mut Memory,
    ) -> Result<Buffer, RunError> {
        let wrong = |span, message: String| self.error(RunErrorKind::LaunchFile, span, message);
        let (span, spec) = (spec.span(), spec.get_ref());
        let ty = spec.ty.as_ref().map(|ty| {
            let unknown =
                || wrong(ty.span(), format!("`{}` is no element type: they are {}", ty.get_ref(), element_names()));
            element(ty.get_ref()).ok_or_else(unknown)
        });
        let ty = ty.transpose()?;
        let shape = spec.shape.as_ref().map(|shape| shape.get_ref().as_slice());
        let array = match (&spec.file, ty, shape) {
            (Some(file), ..) => array::read(&folder.join(file.get_ref()), ty, shape)
                .map_err(|message| self.error(RunErrorKind::File, file.span(), message))?,
            (None, Some(ty), Some(shape)) => {
                let zeros = array::byte_len(ty, shape).and_then(|len| {
                    let mut bytes = Vec::new();
                    bytes.try_reserve_exact(len).ok()?;
                    bytes.resize(len, 0);
                    Some(bytes)
                });
                let bytes = zeros.ok_or_else(|| wrong(span, format!("buffer `{name}` is too large")))?;
                Array { ty, shape: shape.to_vec(), bytes }
            }
            _ => return Err(wrong(span, format!("buffer `{name}` has neither a `file` nor both `type` and `shape`"))),
        };
        let save = spec.save.as_ref().map(|save| {
            let path = output.join(save.get_ref());
            array::check_save(&path, array.ty, &array.shape).map_err(|message| wrong(save.span(), message))?;
            Ok((path, save.span()))
        });
        let Array { ty, shape, bytes } = array;
        Ok(Buffer { save: save.transpose()?, id: memory.allocate(name, &bytes), ty, shape })
    }

    /// Buffers that would be saved over each other, or over what the run is made of.
    fn colliding_saves(&self, buffers: &BTreeMap<&str, Buffer>, sources: &[&Path]) -> Vec<RunError> {
        let same =
            |a: &Path, b: &Path| a == b || a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
        let mut seen: Vec<&Path> = sources.to_vec();
        let mut errors = Vec::new();
        for (path, span) in buffers.values().filter_map(|buffer| buffer.save.as_ref()) {
            if seen.iter().any(|other| same(other, path)) {
                let message = format!("`{}` would be overwritten", path.display());
                let error = self.error(RunErrorKind::LaunchFile, span.clone(), message);
                errors.push(RunError { help: Some("save to another file".to_owned()), ..error });
            }
            seen.push(path);
        }
        errors
    }

    fn launch(
        &self,
        spec: &LaunchSpec,
        program: &Program,
        ptx_path: &Path,
        buffers: Option<&BTreeMap<&str, Buffer>>,
        memory: &Memory,
    ) -> Result<Launch, RunErrors> {
        let kernel = program.kernel(spec.entry.get_ref()).map_err(|errors| {
            // An unknown entry is the launch file's fault; all others are the PTX's.
            let place = |error: RunError| match error.kind {
                RunErrorKind::UnknownEntry => {
                    let error = error.at(Place::new(self.text, spec.entry.span()));
                    error.in_file(self.path)
                }
                _ => error.in_file(ptx_path),
            };
            RunErrors(errors.0.into_iter().map(place).collect())
        })?;
        let (grid, block) = (self.size(&spec.grid)?, self.size(&spec.block)?);
        kernel
            .check_shape(grid, block, spec.shared)
            .map_err(|error| error.at(Place::new(self.text, spec.grid.span())).in_file(self.path))?;
        let mut errors = Vec::new();
        let mut args = Vec::new();
        for arg in spec.args.get_ref() {
            match self.arg(arg, buffers) {
                Ok(arg) => args.extend(arg),
                Err(error) => errors.push(error),
            }
        }
        // Arguments that could not be read leave gaps: what follows would be judged against the wrong parameters.
        if errors.is_empty() && buffers.is_some() {
            for (index, error) in kernel.argument_errors(&args, memory) {
                let span = spec.args.get_ref().get(index).map_or_else(|| spec.args.span(), Spanned::span);
                errors.push(error.at(Place::new(self.text, span)).in_file(self.path));
            }
        }
        if !errors.is_empty() {
            return Err(RunErrors(errors));
        }
        Ok(Launch { kernel, grid, block, shared: spec.shared, args })
    }

    /// `64`, `[64]`, `[64, 2]` or `[64, 2, 1]`.
    fn size(&self, value: &Spanned<Value>) -> Result<[u32; 3], RunError> {
        let wrong = || {
            let message = "a size is a number or a list of one to three: x, y, z";
            self.error(RunErrorKind::LaunchFile, value.span(), message)
        };
        let number = |value: &Value| value.as_integer().and_then(|n| u32::try_from(n).ok()).ok_or_else(wrong);
        match value.get_ref() {
            Value::Array(list) if (1..=3).contains(&list.len()) => {
                let mut size = [1; 3];
                for (axis, value) in size.iter_mut().zip(list) {
                    *axis = number(value)?;
                }
                Ok(size)
            }
            value => Ok([number(value)?, 1, 1]),
        }
    }

    /// One argument; none if it is a buffer and buffers are not known.
    fn arg(&self, arg: &Spanned<Value>, buffers: Option<&BTreeMap<&str, Buffer>>) -> Result<Option<Arg>, RunError> {
        let wrong = |message: String| self.error(RunErrorKind::LaunchFile, arg.span(), message);
        match arg.get_ref() {
            Value::String(name) => {
                let Some(buffers) = buffers else { return Ok(None) };
                match buffers.get(name.as_str()) {
                    Some(buffer) => Ok(Some(Arg::Buffer(buffer.id))),
                    None => {
                        let names: Vec<String> = buffers.keys().map(|name| format!("`{name}`")).collect();
                        let error = wrong(format!("there is no buffer `{name}`"));
                        Err(error.with_help(format!("the buffers are {}", names.join(", "))))
                    }
                }
            }
            Value::Table(table) if table.len() == 1 => {
                let Some((name, value)) = table.iter().next() else { return Ok(None) };
                let Some(ty) = element(name) else {
                    return Err(wrong(format!("`{name}` is no type of an argument: they are {}", element_names())));
                };
                let unfit = |value: &Value| wrong(format!("{value} is no {}", element_name(ty)));
                match value {
                    Value::Array(list) => {
                        let mut bytes = Vec::new();
                        for value in list {
                            let bits = scalar(value, ty).ok_or_else(|| unfit(value))?;
                            bytes.extend(bits.to_le_bytes().into_iter().take(ty.size()));
                        }
                        Ok(Some(Arg::Bytes(bytes)))
                    }
                    value => Ok(Some(Arg::Scalar(ty, scalar(value, ty).ok_or_else(|| unfit(value))?))),
                }
            }
            _ => Err(wrong("an argument is the name of a buffer, or a value with its type: { i32 = 640 }".to_owned())),
        }
    }
}

/// The bits of a value, if it is in the type's range.
fn scalar(value: &Value, ty: Scalar) -> Option<u64> {
    match (ty, value) {
        (Scalar::F32, Value::Float(value)) => Some(u64::from((*value as f32).to_bits())),
        (Scalar::F32, Value::Integer(value)) => Some(u64::from((*value as f32).to_bits())),
        (Scalar::F64, Value::Float(value)) => Some(value.to_bits()),
        (Scalar::F64, Value::Integer(value)) => Some((*value as f64).to_bits()),
        // TOML's integers end at i64: a string holds what is larger.
        (Scalar::U64, Value::String(text)) => crate::module::lex::integer(text),
        (_, Value::Integer(value)) if ty.is_integer() => {
            let bits = ty.width();
            let fits = if ty.is_signed() {
                *value >> (bits - 1) == 0 || *value >> (bits - 1) == -1
            } else {
                *value >= 0 && (bits == 64 || *value >> bits == 0)
            };
            fits.then_some(*value as u64 & super::types::mask(bits))
        }
        _ => None,
    }
}
