//! Kernels: modules that are loaded, launches on NumPy's arrays, and launch files.
#![allow(unsafe_code, reason = "kernels work on the memory of NumPy's arrays")]

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use numpy::npyffi::NPY_ARRAY_WRITEABLE;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use vop::Severity;
use vop_arrays::Format;
use vop_draw::{Drawing, Lines, SourceText};
use vop_run::job::Job;
use vop_run::{Arg, Check, Kernel, LaunchOptions, Memory, Program, Report, RunError, RunErrors, RunOptions};

use crate::answers::{Offsets, error, raise, semantics_named};

/// How often a launch looks whether the user has pressed Ctrl-C.
const MOMENT: Duration = Duration::from_millis(50);

/// An error or a finding of a run as the fields of `Finding`.
fn finding<'py>(
    py: Python<'py>,
    of: &RunError,
    severity: Severity,
    count: u64,
    ptx: Option<(&Lines<'_>, &Offsets)>,
) -> PyResult<Bound<'py, PyDict>> {
    let place = of.place.as_deref();
    let path = place.and_then(|place| place.file.as_deref()).map(|file| file.to_string_lossy());
    // A file's text is not here. Its place stands before the message.
    let source = ptx.filter(|_| path.is_none()).filter(|_| place.is_some());
    let here = place.filter(|_| source.is_none());
    let at = here.map(|place| {
        let file = path.as_ref().map(|path| format!("{path}:")).unwrap_or_default();
        format!("{file}{}:{}: `{}`", place.line, place.column, place.text)
    });
    let compiled = place.and_then(|place| place.source.as_ref());
    let often = (count > 1).then(|| format!("{} times at this place", vop::grouped(count)));
    let notes = at.into_iter().chain(compiled.map(|source| format!("compiled from {source}")));
    let notes = notes.chain(of.thread.map(|thread| format!("in {thread}"))).chain(often);
    let drawn = Drawing {
        severity,
        title: &of.message,
        code: of.kind.code(),
        source: source.map(|(lines, _)| SourceText { lines, path: None }),
        primary: (place.map_or(0..0, |place| place.span.clone()), ""),
        related: Vec::new(),
        notes: notes.collect(),
        help: of.help.as_deref(),
    }
    .draw();
    let dict = PyDict::new(py);
    dict.set_item("code", of.kind.code())?;
    dict.set_item("severity", severity.name())?;
    dict.set_item("message", &of.message)?;
    dict.set_item("help", of.help.as_deref())?;
    dict.set_item("file", path.as_deref())?;
    dict.set_item("line", place.map(|place| place.line))?;
    dict.set_item("column", place.map(|place| place.column))?;
    dict.set_item("span", source.and_then(|(_, offsets)| Some(offsets.of(&place?.span))))?;
    dict.set_item("statement", place.map(|place| &place.text))?;
    dict.set_item("source", compiled.map(|source| (&source.file, source.line)))?;
    dict.set_item("block", of.thread.map(|thread| thread.block).map(<(u32, u32, u32)>::from))?;
    dict.set_item("thread", of.thread.map(|thread| thread.thread).map(<(u32, u32, u32)>::from))?;
    dict.set_item("address", of.address)?;
    dict.set_item("count", count)?;
    dict.set_item("ansi", drawn.trim_end())?;
    Ok(dict)
}

/// The errors of a run.
fn failures<'py>(py: Python<'py>, errors: &RunErrors, ptx: Option<&str>) -> PyResult<Bound<'py, PyList>> {
    let known = ptx.map(|text| (Lines::new(text), Offsets::of_characters(text)));
    let known = known.as_ref().map(|(lines, offsets)| (lines, offsets));
    let all: PyResult<Vec<_>> = errors.0.iter().map(|one| finding(py, one, Severity::Error, 1, known)).collect();
    PyList::new(py, all?)
}

/// A `RunError` of Python.
fn run_error(py: Python<'_>, errors: &RunErrors, ptx: Option<&str>) -> PyErr {
    match failures(py, errors, ptx) {
        Ok(all) => raise(py, "RunError", (all,)),
        Err(error) => error,
    }
}

/// What a launch did, as the fields of `Report`, without what it found.
fn counts<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("instructions", report.instructions)?;
    dict.set_item("video", report.video)?;
    dict.set_item("blocks", report.blocks)?;
    dict.set_item("order_dependent", &report.order_dependent)?;
    dict.set_item("findings_left_out", report.findings_left_out)?;
    Ok(dict)
}

fn report_dict<'py>(py: Python<'py>, report: &Report, ptx: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
    let dict = counts(py, report)?;
    let known = ptx.map(|text| (Lines::new(text), Offsets::of_characters(text)));
    let known = known.as_ref().map(|(lines, offsets)| (lines, offsets));
    let found = report.findings.iter().map(|one| finding(py, &one.error, one.severity, one.count, known));
    dict.set_item("findings", found.collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}

/// Does work without Python's lock, in a thread of its own, so that Ctrl-C ends it: it sets `stop`, and is raised when the work has ended.
fn interruptibly<T: Send>(py: Python<'_>, stop: &AtomicBool, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let worker = scope.spawn(move || {
                let _done = done;
                work()
            });
            let mut interrupted = Ok(());
            while let Err(mpsc::RecvTimeoutError::Timeout) = is_done.recv_timeout(MOMENT) {
                if interrupted.is_ok() {
                    interrupted = Python::attach(|py| py.check_signals());
                    stop.store(interrupted.is_err(), Ordering::Relaxed);
                }
            }
            let ended = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            interrupted.map(|()| ended)
        })
    })
}

/// The options that Python's keywords name.
#[derive(FromPyObject)]
pub(crate) struct Options {
    #[pyo3(item)]
    check: Vec<String>,
    #[pyo3(item)]
    semantics: String,
    #[pyo3(item)]
    cores: Option<usize>,
    #[pyo3(item)]
    limit: Option<u64>,
    #[pyo3(item)]
    timeout: Option<f64>,
    #[pyo3(item)]
    memory: Option<u64>,
    #[pyo3(item)]
    dynamic_shared: usize,
}

impl Options {
    fn launch(&self, py: Python<'_>, stop: &Arc<AtomicBool>) -> PyResult<LaunchOptions> {
        let mut options = LaunchOptions::default();
        for name in &self.check {
            let checks = Check::named(name).ok_or_else(|| {
                let all = Check::ALL.iter().map(|check| format!("\"{}\"", check.name())).collect::<Vec<_>>().join(", ");
                error(py, &format!("there is no check `{name}`"), Some(&format!("there are {all} and \"all\"")))
            })?;
            checks.iter().for_each(|check| options.check(*check));
        }
        options.semantics = semantics_named(py, &self.semantics)?;
        options.cores = self.cores;
        options.instructions = self.limit.unwrap_or(options.instructions);
        let time = |seconds: f64| {
            let time = Duration::try_from_secs_f64(seconds);
            time.map_err(|_| error(py, &format!("timeout={seconds} is no time"), Some("give a number of seconds")))
        };
        options.timeout = self.timeout.map(time).transpose()?;
        options.memory = self.memory;
        options.dynamic_shared = self.dynamic_shared;
        // Another thread of Python may change an array, but hardly does.
        options.patience = Duration::from_secs(1);
        options.stop = Some(Arc::clone(stop));
        Ok(options)
    }
}

/// A module in a memory of its own.
struct Loaded {
    program: Program,
    memory: Mutex<Memory>,
    /// Held by a launch: the arrays of two could overlap.
    launch: Mutex<()>,
}

impl Loaded {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ptx(&self) -> &str {
        self.program.module().text()
    }
}

/// A PTX module that was loaded.
#[pyclass(frozen, module = "vop._vop")]
pub(crate) struct LoadedModule(Arc<Loaded>);

/// Reads a PTX module.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, ptx: &str) -> PyResult<LoadedModule> {
    let loaded = py.detach(|| {
        let mut memory = Memory::at_host_addresses();
        let loaded = memory.load(&[&Program::read(ptx)])?;
        Ok((memory, loaded))
    });
    let (memory, programs) = loaded.map_err(|errors| run_error(py, &errors, Some(ptx)))?;
    let program = programs.into_iter().next().ok_or_else(|| error(py, "no module was loaded", None))?;
    if program.module().version().is_none() && program.module().functions().is_empty() {
        let message = "the text is no PTX module: it has neither `.version` nor a function";
        return Err(error(py, message, Some("`nvcc -ptx` compiles CUDA source to a PTX module")));
    }
    Ok(LoadedModule(Arc::new(Loaded { program, memory: Mutex::new(memory), launch: Mutex::new(()) })))
}

#[pymethods]
impl LoadedModule {
    /// The names of the kernels in the PTX.
    fn entries(&self) -> Vec<String> {
        self.0.program.entries().map(str::to_owned).collect()
    }

    /// A kernel, decoded.
    fn kernel(&self, py: Python<'_>, name: &str) -> PyResult<LoadedKernel> {
        let kernel = py.detach(|| self.0.program.kernel(name));
        let kernel = kernel.map_err(|errors| run_error(py, &errors, Some(self.0.ptx())))?;
        Ok(LoadedKernel { kernel, module: Arc::clone(&self.0) })
    }

    /// The address and the size of a variable; `None` if there is none of the name, or several.
    fn variable(&self, name: &str) -> Option<(usize, u64)> {
        let found = self.0.program.variable(name)?;
        let mut memory = self.0.memory();
        Some((memory.pointer(found) as usize, memory.len_of(found)))
    }
}

/// A kernel that was decoded.
#[pyclass(frozen, module = "vop._vop")]
pub(crate) struct LoadedKernel {
    kernel: Kernel,
    module: Arc<Loaded>,
}

/// The memory of an array that a kernel may reach.
struct Reach {
    addresses: Range<u64>,
    writable: bool,
    name: String,
}

impl Reach {
    /// The memory of an argument.
    fn of(array: &Bound<'_, PyUntypedArray>, number: usize) -> PyResult<Reach> {
        let py = array.py();
        let name = format!("argument {number}");
        if !array.is_contiguous() {
            let message = format!("{name} is an array whose elements are not contiguous, and a kernel reads memory");
            return Err(error(py, &message, Some("`numpy.ascontiguousarray` makes a copy that is")));
        }
        if array.dtype().has_object() {
            return Err(PyTypeError::new_err(format!(
                "{name} is an array of Python objects, which kernels cannot use"
            )));
        }
        let bytes = array.len() as u64 * array.dtype().itemsize() as u64;
        // SAFETY: the pointer is that of an array object that is alive; Python's lock is held, so nobody changes its fields.
        let (data, flags) = unsafe {
            let fields = &(*array.as_array_ptr()).fields;
            (fields.data as u64, fields.flags)
        };
        Ok(Reach { addresses: data..data + bytes, writable: flags & NPY_ARRAY_WRITEABLE != 0, name })
    }

    /// Memory that overlaps is one.
    fn join(mut all: Vec<Reach>) -> Vec<Reach> {
        all.retain(|reach| !reach.addresses.is_empty());
        all.sort_by_key(|reach| reach.addresses.start);
        let mut joined: Vec<Reach> = Vec::new();
        for reach in all {
            match joined.last_mut() {
                Some(last) if reach.addresses.start < last.addresses.end => {
                    last.addresses.end = last.addresses.end.max(reach.addresses.end);
                    last.writable |= reach.writable;
                    if last.name != reach.name {
                        last.name = format!("{} and {}", last.name, reach.name);
                    }
                }
                _ => joined.push(reach),
            }
        }
        joined
    }
}

#[pymethods]
impl LoadedKernel {
    /// The kernel's name in the PTX, and that of C++.
    fn names(&self) -> (String, String) {
        (self.kernel.name().to_owned(), vop_run::demangled(self.kernel.name()).into_owned())
    }

    /// Name, type and size of each parameter.
    fn parameters(&self) -> Vec<(String, &'static str, usize)> {
        self.kernel.parameters().iter().map(|one| (one.name.clone(), one.ty.name(), one.bytes)).collect()
    }

    /// Runs the kernel on arguments that are arrays, whose address a kernel gets, or the bytes of a parameter. Returns what it printed, and
    /// what it did or why it failed.
    #[allow(clippy::type_complexity, reason = "a tuple of Python's")]
    fn launch<'py>(
        &self,
        py: Python<'py>,
        grid: [u32; 3],
        block: [u32; 3],
        arguments: Vec<Bound<'py, PyAny>>,
        options: Options,
    ) -> PyResult<(String, Option<Bound<'py, PyDict>>, Option<Bound<'py, PyList>>)> {
        let mut reached = Vec::new();
        let mut packed = Vec::new();
        for (i, argument) in arguments.iter().enumerate() {
            packed.push(match argument.cast::<PyUntypedArray>() {
                Ok(array) => {
                    let reach = Reach::of(array, i + 1)?;
                    let address = reach.addresses.start;
                    reached.push(reach);
                    Arg::from(address)
                }
                Err(_) => Arg::Bytes(argument.extract::<Vec<u8>>()?),
            });
        }
        let stop = Arc::new(AtomicBool::new(false));
        let options = options.launch(py, &stop)?;
        let reached = Reach::join(reached);
        let (done, printed) = interruptibly(py, &stop, || {
            // After a panic there is nothing behind this lock that could be wrong.
            let _alone = self.module.launch.lock().unwrap_or_else(PoisonError::into_inner);
            let mut held = Vec::new();
            let done = self
                .with_arrays(&reached, &mut held)
                .and_then(|()| self.kernel.launch_shared(grid, block, &packed, &self.module.memory, &options));
            let mut memory = self.module.memory();
            for buffer in held {
                // It was registered above, and is freed once.
                let _ = memory.free(buffer);
            }
            (done, memory.take_printed())
        })?;
        let ptx = Some(self.module.ptx());
        match done {
            Ok(report) => Ok((printed, Some(report_dict(py, &report, ptx)?), None)),
            Err(errors) => Ok((printed, None, Some(failures(py, &errors, ptx)?))),
        }
    }
}

impl LoadedKernel {
    /// Lets kernels reach arrays.
    fn with_arrays(&self, reached: &[Reach], held: &mut Vec<vop_run::BufferId>) -> Result<(), RunErrors> {
        let mut memory = self.module.memory();
        for Reach { addresses, writable, name } in reached {
            // An array over a variable of the module: the memory has it.
            if let Some((known, at)) = memory.locate(addresses.start)
                && at + (addresses.end - addresses.start) <= memory.len_of(known)
            {
                continue;
            }
            let start = std::ptr::with_exposed_provenance_mut(addresses.start as usize);
            // SAFETY: the arguments of `launch` keep the arrays alive until the ranges are freed, which is when it has ended. NumPy does
            // not move the memory of an array that others refer to. No Rust reference to it exists; what other threads of Python do with
            // it meanwhile is the caller's, as for every function of NumPy that releases the lock.
            held.push(unsafe { memory.register(name, start, addresses.end - addresses.start, !writable) }?);
        }
        Ok(())
    }
}

/// Runs a launch file. Returns launches, files, comparisons, and what each buffer holds in the end, as files in the format .npy.
#[pyfunction]
pub(crate) fn run<'py>(
    py: Python<'py>,
    path: PathBuf,
    output: Option<PathBuf>,
    options: Options,
) -> PyResult<Bound<'py, PyDict>> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut run = RunOptions::default().with_launch(options.launch(py, &stop)?).with_keep(true);
    run.output = output;
    let mut unprinted = Ok(());
    let done = interruptibly(py, &stop, || {
        let mut print = |text: &str| {
            let printed =
                Python::attach(|py| py.import("sys")?.getattr("stdout")?.call_method1("write", (text,)).map(drop));
            if let (Err(error), Ok(())) = (printed, &unprinted) {
                unprinted = Err(error);
            }
        };
        Job::read(&path)?.run(&run, &mut print)
    })?;
    let summary = done.map_err(|errors| run_error(py, &errors, None))?;
    unprinted?;
    let dict = PyDict::new(py);
    let launches = PyList::empty(py);
    for launch in &summary.launches {
        let one = PyDict::new(py);
        one.set_item("kernel", &launch.entry)?;
        one.set_item("grid", <(u32, u32, u32)>::from(launch.grid))?;
        one.set_item("block", <(u32, u32, u32)>::from(launch.block))?;
        one.set_item("seconds", launch.time.as_secs_f64())?;
        one.set_item("report", report_dict(py, &launch.report, None)?)?;
        launches.append(one)?;
    }
    dict.set_item("launches", launches)?;
    dict.set_item("files", &summary.files)?;
    let comparisons = PyList::empty(py);
    for comparison in &summary.comparisons {
        let one = PyDict::new(py);
        one.set_item("buffer", &comparison.buffer)?;
        one.set_item("file", &comparison.file)?;
        one.set_item("elements", comparison.elements)?;
        one.set_item("differing", comparison.differing)?;
        let first = comparison.first.as_ref();
        one.set_item("first", first.map(|first| (&first.index, &first.found, &first.expected)))?;
        comparisons.append(one)?;
    }
    dict.set_item("comparisons", comparisons)?;
    let outputs = PyDict::new(py);
    for (name, array) in &summary.outputs {
        let file = array.encode(Format::Npy).map_err(|why| error(py, &format!("`{name}`: {why}"), None))?;
        outputs.set_item(name, PyBytes::new(py, &file))?;
    }
    dict.set_item("outputs", outputs)?;
    Ok(dict)
}
