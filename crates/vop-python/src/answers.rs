//! The library's functions for Python. They take texts and numbers, and return dictionaries and texts.

use std::ops::Range;
use std::path::Path;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use vop::RunErrorKind;
use vop::isa::form::{Finish, Variant};
use vop::isa::types::{Selector, Type};
use vop::lower::{LowerOptions, Needs};
use vop::{Code, Diagnostic, Form, Instruction, Mnemonic, Operand, Parser, Registers, Semantics, Severity, Target};
use vop_draw::{Lines, SourceText};
use vop_port::{Request, RequestError};
use vop_ptx::find::{Language, PartialReason, may_contain};
use vop_ptx::module::Module;
use vop_ptx::rewrite::{RewriteError, RewriteOptions, rewrite};
use vop_ptx::uses::{self, Verdict};

use crate::ufunc as ufuncs;

/// An exception of the package, of a class of `vop._errors` and the arguments of its constructor.
pub(crate) fn raise<'py>(py: Python<'py>, class: &str, args: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let raised = py.import("vop._errors").and_then(|module| module.getattr(class)?.call1(args));
    match raised {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A `VopError` that concerns no text: what is wrong, and what to do.
pub(crate) fn error(py: Python<'_>, message: &str, help: Option<&str>) -> PyErr {
    raise(py, "VopError", (message, help))
}

/// Offsets into a source as Python counts them: characters of a `str`, bytes of `bytes`.
pub(crate) struct Offsets {
    /// The offsets of the bytes that do not begin a character, in ascending order.
    continuations: Vec<usize>,
}

impl Offsets {
    pub(crate) fn of_characters(text: &str) -> Offsets {
        let bytes = text.bytes().enumerate();
        Offsets { continuations: bytes.filter(|&(_, byte)| byte & 0xc0 == 0x80).map(|(at, _)| at).collect() }
    }

    fn of_bytes() -> Offsets {
        Offsets { continuations: Vec::new() }
    }

    pub(crate) fn of(&self, span: &Range<usize>) -> (usize, usize) {
        let count = |offset: usize| offset - self.continuations.partition_point(|&at| at < offset);
        (count(span.start), count(span.end))
    }
}

fn diagnostic<'py>(
    py: Python<'py>,
    diagnostic: &Diagnostic,
    source: SourceText<'_>,
    offsets: &Offsets,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("code", diagnostic.code.name())?;
    dict.set_item("severity", diagnostic.code.severity().name())?;
    dict.set_item("message", &diagnostic.message)?;
    dict.set_item("span", offsets.of(&diagnostic.span))?;
    let place = source.lines.range(&diagnostic.span);
    dict.set_item("line", place.line)?;
    dict.set_item("column", place.column)?;
    dict.set_item("label", &diagnostic.label)?;
    dict.set_item("help", diagnostic.help.as_deref())?;
    dict.set_item("notes", PyTuple::new(py, &diagnostic.notes)?)?;
    let related = diagnostic.related.iter().map(|(span, label)| (offsets.of(span), label));
    dict.set_item("related", PyTuple::new(py, related.collect::<Vec<_>>())?)?;
    dict.set_item("ansi", vop_draw::diagnostic(diagnostic, source).trim_end())?;
    Ok(dict)
}

/// An exception of the class that holds all faults of a text.
fn faults(py: Python<'_>, class: &str, faults: &[Diagnostic], text: &str, path: Option<&str>) -> PyErr {
    let lines = Lines::new(text);
    let (source, offsets) = (SourceText { lines: &lines, path }, Offsets::of_characters(text));
    let dicts: PyResult<Vec<_>> = faults.iter().map(|fault| diagnostic(py, fault, source, &offsets)).collect();
    match dicts {
        Ok(dicts) => raise(py, class, (dicts,)),
        Err(error) => error,
    }
}

fn read<'t>(py: Python<'_>, text: &'t str) -> PyResult<Instruction<'t>> {
    Parser::new().allow_bare().parse(text).map_err(|found| faults(py, "ParseError", &found, text, None))
}

pub(crate) fn semantics_named(py: Python<'_>, name: &str) -> PyResult<Semantics> {
    name.parse().map_err(|why: vop::semantics::UnknownSemantics| {
        error(py, &format!("there is no semantics `{name}`"), Some(&why.to_string()))
    })
}

fn target_named(py: Python<'_>, name: &str) -> PyResult<Target> {
    name.parse().map_err(|why: vop::target::UnknownTarget| {
        error(py, &format!("there is no target `{name}`"), Some(&why.to_string()))
    })
}

/// The word of a Python integer from -2³¹ to 2³² - 1.
fn word(value: &Bound<'_, PyAny>, name: &str) -> PyResult<u32> {
    let py = value.py();
    if value.hasattr("__array_ufunc__")?
        && value.getattr("ndim").and_then(|ndim| ndim.extract::<usize>()).unwrap_or(0) > 0
    {
        return Err(PyTypeError::new_err(format!("{name} is an array: `vop.ufunc` applies an instruction to arrays")));
    }
    let index = py.import("operator")?.getattr("index")?.call1((value,))?;
    let fits = |value: i64| u32::try_from(value).ok().or_else(|| i32::try_from(value).ok().map(|value| value as u32));
    index.extract::<i64>().ok().and_then(fits).ok_or_else(|| {
        error(py, &format!("{name} is {index}, which does not fit 32 bits"), Some("write -2**31 to 2**32 - 1"))
    })
}

fn words(values: Vec<Option<Bound<'_, PyAny>>>) -> PyResult<Vec<Option<u32>>> {
    let names = ["a", "b", "c"].into_iter().chain(std::iter::repeat("a value"));
    values.iter().zip(names).map(|(value, name)| value.as_ref().map(|value| word(value, name)).transpose()).collect()
}

fn inputs(py: Python<'_>, instruction: &Instruction<'_>, values: Vec<Option<Bound<'_, PyAny>>>) -> PyResult<[u32; 3]> {
    instruction.inputs(&words(values)?).map_err(|why| error(py, &why.to_string(), None))
}

fn form_dict(py: Python<'_>, form: Form) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let selector = |selector: Selector, second: bool| {
        let default = Selector::default_for(form.mnemonic().shape(), second);
        (selector != default).then(|| selector.to_string().trim_start_matches('.').to_owned())
    };
    let shape = form.mnemonic().shape();
    let mask = |mask: vop::isa::types::Mask| {
        let lanes = (0..shape.lanes()).rev().filter(|&lane| mask.has(lane)).map(|lane| lane.to_string());
        format!("{}{}", shape.letter(), lanes.collect::<String>())
    };
    let full = |of: vop::isa::types::Mask| of == vop::isa::types::Mask::full(shape);
    let (dsel, secondary) = match form.finish() {
        Finish::Plain => (None, None),
        Finish::Secondary(secondary) => (None, Some(secondary.name())),
        Finish::Merge(part) => (Some(part.name().to_owned()), None),
        Finish::Lanes(of) => ((!full(of)).then(|| mask(of)), None),
        Finish::Accumulate(of) => ((!full(of)).then(|| mask(of)), Some("add")),
    };
    let (mode, scale) = match form.variant() {
        Variant::Shift(mode) => (Some(mode.name()), None),
        Variant::Mad(_, scale) => (None, scale.map(|scale| scale.name())),
        _ => (None, None),
    };
    dict.set_item("text", form.to_string())?;
    dict.set_item("name", ufuncs::name(form))?;
    dict.set_item("mnemonic", form.mnemonic().name())?;
    dict.set_item("dtype", form.dtype().map(Type::name))?;
    dict.set_item("atype", form.atype().name())?;
    dict.set_item("btype", form.btype().name())?;
    dict.set_item("sat", form.sat())?;
    dict.set_item("op2", secondary)?;
    dict.set_item("cmp", form.comparison().map(|comparison| comparison.name()))?;
    dict.set_item("mode", mode)?;
    dict.set_item("scale", scale)?;
    dict.set_item("dsel", dsel)?;
    dict.set_item("asel", selector(form.asel(), false))?;
    dict.set_item("bsel", selector(form.bsel(), true))?;
    dict.set_item("nin", if form.reads_c() { 3 } else { 2 })?;
    dict.set_item("identity", form.identity())?;
    dict.set_item("meaning", form.describe())?;
    dict.set_item("section", form.mnemonic().row().section)?;
    Ok(dict)
}

/// Reads an instruction, and judges its operands by the declared registers if there are any.
#[pyfunction]
#[pyo3(signature = (text, declare = None))]
pub(crate) fn parse<'py>(py: Python<'py>, text: &str, declare: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
    let declared = declare
        .map(|text| text.parse::<Registers>().map_err(|found| faults(py, "ParseError", &found, text, Some("declare"))));
    let declared = declared.transpose()?;
    let mut parser = Parser::new().allow_bare();
    if let Some(registers) = &declared {
        parser = parser.with_registers(registers);
    }
    let instruction = parser.parse(text).map_err(|found| faults(py, "ParseError", &found, text, None))?;
    let dict = PyDict::new(py);
    dict.set_item("text", instruction.to_string())?;
    dict.set_item("form", form_dict(py, instruction.form)?)?;
    dict.set_item("guard", instruction.guard.map(|guard| guard.to_string()))?;
    dict.set_item("d", instruction.d)?;
    dict.set_item("a", instruction.a.to_string())?;
    dict.set_item("b", instruction.b.to_string())?;
    dict.set_item("c", instruction.c.as_ref().map(Operand::to_string))?;
    Ok(dict)
}

/// The value of d.
#[pyfunction]
pub(crate) fn eval(
    py: Python<'_>,
    text: &str,
    values: Vec<Option<Bound<'_, PyAny>>>,
    semantics: &str,
) -> PyResult<u32> {
    let instruction = read(py, text)?;
    let semantics = semantics_named(py, semantics)?;
    let [a, b, c] = inputs(py, &instruction, values)?;
    Ok(instruction.form.eval_as(semantics, a, b, c))
}

/// The stages, drawn with ANSI escapes and as JSON. Where no values are given, the library chooses some that show every
/// stage.
#[pyfunction]
pub(crate) fn explain(
    py: Python<'_>,
    text: &str,
    values: Vec<Option<Bound<'_, PyAny>>>,
    semantics: &str,
) -> PyResult<(String, String)> {
    let instruction = read(py, text)?;
    let semantics = semantics_named(py, semantics)?;
    let [a, b, c] =
        if values.is_empty() { instruction.telling_inputs(semantics) } else { inputs(py, &instruction, values)? };
    let trace = instruction.form.explain_as(semantics, a, b, c);
    Ok((vop_draw::explanation(&trace, instruction.operand_values()), vop_draw::stages(&trace).to_string()))
}

/// What a diagnostic's code means; `None` if there is no such code.
#[pyfunction]
pub(crate) fn explain_code(name: &str) -> Option<String> {
    let of_text = || {
        let code = Code::from_name(name)?;
        Some(vop_draw::code(code.name(), code.severity(), code.title(), code.explanation()))
    };
    let of_run = || {
        let kind = RunErrorKind::from_code(name)?;
        Some(vop_draw::code(kind.code(), Severity::Error, kind.title(), kind.explanation()))
    };
    of_text().or_else(of_run)
}

/// The names of the languages.
const LANGUAGES: [(&str, Language); 6] = [
    ("ptx", Language::Ptx),
    ("cuda", Language::Cuda),
    ("opencl", Language::OpenCl),
    ("python", Language::Python),
    ("llvm", Language::LlvmIr),
    ("rust", Language::Rust),
];

const GIVE_A_LANGUAGE: &str = "give language=\"ptx\", \"cuda\", \"opencl\", \"python\", \"llvm\" or \"rust\"";

fn language_named(py: Python<'_>, name: &str) -> PyResult<Language> {
    let named = LANGUAGES.iter().find(|(of, _)| *of == name).map(|(_, language)| *language);
    named.ok_or_else(|| error(py, &format!("there is no language `{name}`"), Some(GIVE_A_LANGUAGE)))
}

/// The name of the language that the extension of a file's name tells; `None` if it tells none.
#[pyfunction]
pub(crate) fn language_of(path: &str) -> Option<&'static str> {
    let language = Language::from_path(Path::new(path))?;
    LANGUAGES.iter().find(|(_, of)| *of == language).map(|(name, _)| *name)
}

/// Every video instruction of a source, with its verdict. Spans count characters if `is_text`, otherwise bytes.
#[pyfunction]
#[pyo3(signature = (source, is_text, language = None, path = None))]
pub(crate) fn check<'py>(
    py: Python<'py>,
    source: &[u8],
    is_text: bool,
    language: Option<&str>,
    path: Option<&str>,
) -> PyResult<Bound<'py, PyList>> {
    let named = match (language, path) {
        (Some(name), _) => Some(language_named(py, name)?),
        (None, Some(path)) => Some(Language::from_path(Path::new(path)).ok_or_else(|| {
            error(py, &format!("the extension of {path} is unknown, so its language is, too"), Some(GIVE_A_LANGUAGE))
        })?),
        (None, None) => None,
    };
    // A large source takes seconds, in which other threads can run Python.
    let (found, text) = py.detach(|| (uses::uses(source, named.unwrap_or(Language::Ptx)), uses::text(source)));
    if named.is_none() && found.is_empty() && may_contain(source) {
        let message = "the text names video instructions, but read as PTX it has no statement that is one";
        return Err(error(py, message, Some(GIVE_A_LANGUAGE)));
    }
    let lines = Lines::new(&text);
    let (drawn_on, offsets) =
        (SourceText { lines: &lines, path }, if is_text { Offsets::of_characters(&text) } else { Offsets::of_bytes() });
    let list = PyList::empty(py);
    for found in found {
        let dict = PyDict::new(py);
        let (verdict, form, reason) = match &found.verdict {
            Verdict::Legal(form) => ("legal", Some(*form), None),
            Verdict::LegalFragment(form) => ("fragment", Some(*form), None),
            Verdict::Illegal(_) => ("illegal", None, None),
            Verdict::Unjudged(reason) => ("unjudged", None, Some(PartialReason::to_string(reason))),
            Verdict::Label => ("label", None, None),
        };
        let place = lines.range(&found.span);
        dict.set_item("text", &found.text)?;
        dict.set_item("span", offsets.of(&found.span))?;
        dict.set_item("line", place.line)?;
        dict.set_item("column", place.column)?;
        dict.set_item("verdict", verdict)?;
        dict.set_item("form", form.map(|form| form_dict(py, form)).transpose()?)?;
        dict.set_item("reason", reason)?;
        let all = found.faults().chain(&found.lints);
        let dicts: PyResult<Vec<_>> = all.map(|one| diagnostic(py, one, drawn_on, &offsets)).collect();
        dict.set_item("diagnostics", dicts?)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// The number of machine instructions that ptxas 13.5 makes of a form.
#[pyfunction]
pub(crate) fn cost(py: Python<'_>, text: &str, target: &str) -> PyResult<u32> {
    Ok(read(py, text)?.form.cost(target_named(py, target)?))
}

fn needs_pair(needs: Needs) -> (String, String) {
    (format!("{}.{}", needs.version.0, needs.version.1), needs.module_target().to_string())
}

/// One instruction rewritten as the cheapest ordinary PTX.
#[pyfunction]
pub(crate) fn lower<'py>(py: Python<'py>, text: &str, target: &str, semantics: &str) -> PyResult<Bound<'py, PyDict>> {
    let instruction = read(py, text)?;
    let options = LowerOptions::new(target_named(py, target)?).with_semantics(semantics_named(py, semantics)?);
    let lowering = instruction.form.lower(options);
    if !lowering.exact {
        let message = format!(
            "ptxas's code for `{}` disagrees with the semantics asked for, and no rule computes its results",
            instruction.form
        );
        return Err(raise(py, "LowerError", (message, Some("semantics=\"ptxas\" keeps what ptxas's code computes"))));
    }
    let dict = PyDict::new(py);
    dict.set_item("instruction", instruction.to_string())?;
    dict.set_item("ptx", lowering.block(&instruction, &Registers::default()).to_string())?;
    dict.set_item("rule", lowering.rule)?;
    dict.set_item("cost", lowering.cost)?;
    dict.set_item("before", instruction.form.cost(options.target))?;
    dict.set_item("target", options.target.to_string())?;
    let needs = lowering.sequence.as_ref().map(|sequence| sequence.needs()).filter(|needs| *needs != Needs::NOTHING);
    dict.set_item("needs", needs.map(needs_pair))?;
    dict.set_item("writes_carry", lowering.sequence.as_ref().is_some_and(|sequence| sequence.writes_carry()))?;
    Ok(dict)
}

/// A module whose video instructions are rewritten as ordinary PTX.
#[pyfunction]
pub(crate) fn lower_module<'py>(
    py: Python<'py>,
    source: &str,
    target: &str,
    semantics: &str,
    may_raise: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let options =
        RewriteOptions::new(target_named(py, target)?).semantics(semantics_named(py, semantics)?).may_raise(may_raise);
    let module = Module::parse(source);
    let rewritten = py.detach(|| rewrite(&module, &options));
    let lines = Lines::new(source);
    let (drawn_on, offsets) = (SourceText { lines: &lines, path: None }, Offsets::of_characters(source));
    let rewritten = rewritten.map_err(|why| {
        let span = match &why {
            RewriteError::Illegal(found) => return faults(py, "LowerError", found, source, None),
            RewriteError::Target { span, .. } | RewriteError::UnknownTarget { span } => Some(span),
            RewriteError::NoRule { span, .. } => Some(span),
            _ => None,
        };
        let help = match &why {
            RewriteError::Target { .. } | RewriteError::UnknownTarget { .. } => {
                "write another `.target`, or give another target"
            }
            RewriteError::NoRule { needs: Some(_), .. } if !may_raise => {
                "may_raise=True raises them; semantics=\"ptxas\" keeps what ptxas's code computes"
            }
            _ => "semantics=\"ptxas\" keeps what ptxas's code computes",
        };
        let place = span.map(|span| format!("{}: ", drawn_on.locate(span))).unwrap_or_default();
        raise(py, "LowerError", (format!("{place}{why}"), Some(help), span.map(|span| offsets.of(span))))
    })?;
    if rewritten.instructions.is_empty() && module.version().is_none() && module.functions().is_empty() {
        let message = "the text is no PTX module: it has neither `.version` nor a function";
        return Err(raise(py, "LowerError", (message, Some("`nvcc -ptx` compiles CUDA source to a PTX module"))));
    }
    let dict = PyDict::new(py);
    let ptx = String::from_utf8(rewritten.apply(source.as_bytes()))
        .map_err(|_| PyValueError::new_err("the lowered module is not UTF-8"))?;
    dict.set_item("ptx", ptx)?;
    let rewrites = PyList::empty(py);
    for one in &rewritten.instructions {
        let rewrite = PyDict::new(py);
        rewrite.set_item("span", offsets.of(&one.span))?;
        rewrite.set_item("form", form_dict(py, one.form)?)?;
        rewrite.set_item("ptx", one.block.as_ref().map(ToString::to_string))?;
        rewrite.set_item("rule", one.rule)?;
        rewrite.set_item("before", one.before)?;
        rewrite.set_item("cost", one.after)?;
        rewrites.append(rewrite)?;
    }
    dict.set_item("instructions", rewrites)?;
    let raised = rewritten.raised.iter().map(|raised| (raised.directive, &raised.from, &raised.to));
    dict.set_item("raised", raised.collect::<Vec<_>>())?;
    let warnings: PyResult<Vec<_>> =
        rewritten.warnings.iter().map(|one| diagnostic(py, one, drawn_on, &offsets)).collect();
    dict.set_item("warnings", warnings?)?;
    Ok(dict)
}

/// The names of the languages that instructions are ported to, and what each is.
#[pyfunction]
pub(crate) fn port_targets() -> Vec<(&'static str, &'static str)> {
    vop_port::Target::all().map(|target| (target.name(), target.description())).collect()
}

/// An instruction or an intrinsic of CUDA as a function of another language.
#[pyfunction]
pub(crate) fn port<'py>(py: Python<'py>, text: &str, to: &str, semantics: &str) -> PyResult<Bound<'py, PyDict>> {
    let semantics = semantics_named(py, semantics)?;
    let target = to.parse::<vop_port::Target>().map_err(|why| {
        // Which there are.
        let there_are = why.to_string();
        let help = there_are.split_once("; ").map_or(&there_are[..], |(_, help)| help);
        error(py, &format!("there is no language `{to}`"), Some(help))
    })?;
    let request = Request::read(text, semantics).map_err(|why| match &why {
        RequestError::Faults(found) => faults(py, "ParseError", found, text, None),
        other => {
            let span = other.span().map(|span| Offsets::of_characters(text).of(&span));
            raise(py, "ParseError", (other.to_string(), other.help(), span))
        }
    })?;
    let ported = request.port(target).map_err(|why| raise(py, "PortError", (why.to_string(), None::<&str>)))?;
    let dict = PyDict::new(py);
    dict.set_item("form", ported.original())?;
    dict.set_item("name", ported.name())?;
    dict.set_item("code", ported.text())?;
    dict.set_item("operations", ported.operations())?;
    dict.set_item("notes", PyTuple::new(py, &request.notes)?)?;
    dict.set_item("target", target.name())?;
    Ok(dict)
}

/// The name, syntax, summary and section of the manual of every mnemonic.
#[pyfunction]
pub(crate) fn mnemonics() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    Mnemonic::ALL.map(Mnemonic::row).map(|row| (row.name, row.syntax, row.summary, row.section)).to_vec()
}

/// The canonical names of a form and a semantics, as [`ufunc`] takes them: equal for all texts of one form. The operands
/// of the text must be distinct registers.
#[pyfunction]
pub(crate) fn ufunc_key(py: Python<'_>, text: &str, semantics: &str) -> PyResult<(String, String)> {
    let instruction = read(py, text)?;
    let semantics = semantics_named(py, semantics)?;
    let operands = [Some(instruction.a), Some(instruction.b), instruction.c];
    let names: Vec<&str> = operands.into_iter().flatten().filter_map(name_alone).collect();
    let distinct = (1..names.len()).all(|i| !names[..i].contains(&names[i]));
    if names.len() != operands.iter().flatten().count() || !distinct || instruction.guard.is_some() {
        let message = format!("`{instruction}` fixes operands, and a ufunc takes every operand from an array");
        let help = format!("write `{}`, and give a number in the place of an array", instruction.form);
        return Err(error(py, &message, Some(&help)));
    }
    Ok((ufuncs::name(instruction.form), semantics.to_string()))
}

/// The name of the register, if the operand is a register alone.
fn name_alone(operand: Operand<'_>) -> Option<&str> {
    if let Operand::Register(name) = operand { Some(name) } else { None }
}

/// The ufunc of a form.
#[pyfunction]
pub(crate) fn ufunc<'py>(py: Python<'py>, form: &str, semantics: &str) -> PyResult<Bound<'py, PyAny>> {
    ufuncs::new(py, read(py, form)?.form, semantics_named(py, semantics)?)
}

/// The names of the form and the semantics of a ufunc of this package; `None` for any other object.
#[pyfunction]
pub(crate) fn ufunc_form(object: &Bound<'_, PyAny>) -> PyResult<Option<(String, String)>> {
    let body = ufuncs::body_of(object)?;
    Ok(body.map(|(form, semantics)| (ufuncs::name(form), semantics.to_string())))
}
