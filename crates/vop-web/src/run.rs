//! `run`: one launch of a kernel, with what threads of a block did, statement by statement.
//!
//! | member | |
//! | --- | --- |
//! | `text` | the PTX |
//! | `entry` | the kernel, by its name in PTX or C++; the only one where it is left out |
//! | `grid`, `block` | x, y, z; `[1, 1, 1]` and `[32, 1, 1]` |
//! | `arguments` | what the kernel gets, in order; see below |
//! | `shared` | bytes of dynamic shared memory; 0 |
//! | `semantics` | `isa`, `ptxas` or `ptxas-13.2`; the manual's |
//! | `check` | a list of `races`, `uninit`, `warp`, `heap`, or `["all"]` |
//! | `watch` | the threads whose steps are told: `{"block": [0, 0, 0], "first": 0, "threads": 32}`, by their index in the block; at most 64 |
//! | `steps` | the number of steps that are told; 200, at most 10,000 |
//! | `work` | the limit of thread-instructions; 20 million, at most 2 billion |
//! | `columns` | the columns of drawings; 80 |
//!
//! An argument has a `type` as the command's `--arg` has it. `{"type": "u32", "value": "7"}` is a number, `{"type": "f32", "value": "1,2"}` a
//! structure or an array by value. With a shape, `u32[64]`, it is a buffer: `values` says what its first elements are, or `fill` what all
//! are: `zero`, `index`, `random` (always the same), or `nothing`, zeros that count as not written.
//!
//! The answer has `arguments`, `steps`, `counts`, `findings`, `printed`, and `fault`: what ended the launch early, or null. Numbers that a
//! kernel computes are texts, as JavaScript has no integers of 64 bits. If nothing could be run, it has `diagnostics` alone.

use serde::Deserialize;
use serde_json::{Value, json};
use vop::Semantics;
use vop_arrays::{Description, Element};
use vop_ptx::module::lex;
use vop_run::job::{parse_element, parse_type, parse_values, show_element};
use vop_run::{
    Arg, BufferId, Check, Kernel, LaunchOptions, Memory, Program, Report, RunErrorKind, RunErrors, Watch,
    WatchedResult, WatchedStep,
};

use crate::fault::Faults;

/// The threads that are watched at most.
const MOST_THREADS: usize = 64;
/// The steps that are told: by default, and at most.
const STEPS: (usize, usize) = (200, 10_000);
/// The limit of thread-instructions: by default, and at most.
const WORK: (u64, u64) = (20_000_000, 2_000_000_000);
/// Bytes that buffers and the launch may take.
const MEMORY: u64 = 256 << 20;
/// Elements of a buffer that are told.
const MOST_VALUES: usize = 256;

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    text: String,
    entry: Option<String>,
    #[serde(default = "one_block")]
    grid: [u32; 3],
    #[serde(default = "one_warp")]
    block: [u32; 3],
    #[serde(default)]
    arguments: Vec<Argument>,
    #[serde(default)]
    shared: usize,
    semantics: Option<String>,
    #[serde(default)]
    check: Vec<String>,
    watch: Option<Watched>,
    steps: Option<usize>,
    work: Option<u64>,
    columns: Option<usize>,
}

fn one_block() -> [u32; 3] {
    [1; 3]
}

fn one_warp() -> [u32; 3] {
    [32, 1, 1]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Argument {
    r#type: String,
    value: Option<Value>,
    fill: Option<Fill>,
    values: Option<Vec<Value>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Fill {
    Zero,
    Index,
    Random,
    Nothing,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Watched {
    #[serde(default)]
    block: [u32; 3],
    #[serde(default)]
    first: usize,
    threads: Option<usize>,
}

/// The answer.
///
/// # Errors
/// What is wrong with the request, in a sentence.
pub fn answer(request: &Request) -> Result<Value, String> {
    let program = Program::read(&request.text);
    let faults = Faults::new(&request.text, request.columns);
    let options = options(request)?;
    let entry = match &request.entry {
        Some(entry) => entry.as_str(),
        None => only_entry(&program)?,
    };
    let kernel = match program.kernel(entry) {
        Ok(kernel) => kernel,
        Err(errors) => return Ok(json!({ "diagnostics": faults.all(&errors) })),
    };
    let mut memory = program.memory();
    memory.set_limit(MEMORY).map_err(|error| error.message)?;
    let mut given = Vec::new();
    for (index, argument) in request.arguments.iter().enumerate() {
        let name = kernel.parameters().get(index).map_or_else(|| format!("argument {}", index + 1), |p| p.name.clone());
        let one = Given::new(argument, name.clone(), index as u64, &mut memory);
        given.push(one.map_err(|why| format!("argument {}, `{name}`: {why}", index + 1))?);
    }
    let wrong = wrong_launch(&kernel, request, &given, &memory);
    if !wrong.0.is_empty() {
        return Ok(json!({ "diagnostics": faults.all(&wrong) }));
    }
    let args: Vec<Arg> = given.iter().map(|one| one.arg.clone()).collect();
    let done = kernel.launch(request.grid, request.block, &args, &mut memory, &options);
    let watched = options.watch.as_ref().map(Watch::take).unwrap_or_default();
    let mut answer = json!({
        "entry": kernel.name(),
        "arguments": given.iter().map(|one| one.told(&memory)).collect::<Vec<Value>>(),
        "steps": watched.steps.iter().map(|step| told_step(step, &request.text, &faults)).collect::<Vec<Value>>(),
        "steps_left_out": watched.left_out,
        "printed": memory.take_printed(),
    });
    match done {
        Ok(report) => {
            answer["counts"] = counts(&report);
            let findings = report.findings.iter().map(|finding| faults.finding(finding));
            answer["findings"] = findings.collect();
            answer["findings_left_out"] = json!(report.findings_left_out);
            answer["fault"] = Value::Null;
            answer["limited"] = json!(false);
        }
        Err(errors) => {
            answer["counts"] = Value::Null;
            let first = errors.0.first();
            // What checks had found before.
            answer["findings"] = errors.0.iter().skip(1).map(|error| faults.one(error)).collect();
            answer["findings_left_out"] = json!(0);
            answer["fault"] = json!(first.map(|error| faults.one(error)));
            answer["limited"] = json!(first.is_some_and(|error| error.kind == RunErrorKind::Limit));
        }
    }
    Ok(answer)
}

fn options(request: &Request) -> Result<LaunchOptions, String> {
    let semantics: Semantics = match &request.semantics {
        Some(name) => name.parse().map_err(|why| format!("`{name}`: {why}"))?,
        None => Semantics::Isa,
    };
    let work = request.work.unwrap_or(WORK.0).min(WORK.1);
    let mut options = LaunchOptions::default().with_cores(1).with_instructions(work).with_semantics(semantics);
    options = options.with_memory(MEMORY).with_dynamic_shared(request.shared);
    for name in &request.check {
        let checks = Check::named(name).ok_or_else(|| format!("there is no check `{name}`"))?;
        checks.iter().for_each(|check| options.check(*check));
    }
    let steps = request.steps.unwrap_or(STEPS.0).min(STEPS.1);
    let is_empty = request.grid.iter().chain(&request.block).any(|axis| *axis == 0);
    // An empty launch is refused for what it is.
    if steps > 0 && !is_empty {
        let watched = request.watch.as_ref();
        let first = watched.map_or(0, |watched| watched.first);
        let all = request.block.iter().fold(1usize, |product, axis| product.saturating_mul(*axis as usize));
        let threads = watched.and_then(|watched| watched.threads).unwrap_or(MOST_THREADS).min(MOST_THREADS);
        let end = first.saturating_add(threads).min(all);
        let block = watched.map_or([0; 3], |watched| watched.block);
        if first >= end || block.iter().zip(request.grid).any(|(at, size)| *at >= size) {
            return Err("`watch` names no thread of this launch".to_owned());
        }
        options = options.with_watch(Watch::new(block, first..end, steps));
    }
    Ok(options)
}

fn only_entry(program: &Program) -> Result<&str, String> {
    let entries: Vec<&str> = program.entries().collect();
    match entries[..] {
        [entry] => Ok(entry),
        [] => Err("the text has no entry: a kernel is `.entry name(…) { … }`".to_owned()),
        _ => {
            Err(format!("the text has {} entries, and which to run is not said: {}", entries.len(), entries.join(", ")))
        }
    }
}

/// What is wrong with the shape or the arguments.
fn wrong_launch(kernel: &Kernel, request: &Request, given: &[Given], memory: &Memory) -> RunErrors {
    let args: Vec<Arg> = given.iter().map(|one| one.arg.clone()).collect();
    let shape = kernel.check_shape(request.grid, request.block, request.shared).err();
    let arguments = kernel.argument_errors(&args, memory).into_iter().map(|(_, error)| error);
    RunErrors(shape.into_iter().chain(arguments).collect())
}

/// An argument of the launch.
struct Given {
    name: String,
    ty: String,
    element: Element,
    arg: Arg,
    /// The buffer, and what it held before.
    buffer: Option<(BufferId, Vec<u8>)>,
}

/// A number of a request as arguments write it.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    }
}

impl Given {
    fn new(argument: &Argument, name: String, index: u64, memory: &mut Memory) -> Result<Given, String> {
        let ty = argument.r#type.trim().to_owned();
        let (element, shape) = parse_type(&ty)?;
        let Some(shape) = shape else {
            if argument.fill.is_some() || argument.values.is_some() {
                return Err(format!("`fill` and `values` are for buffers, which have a shape: {ty}[64]"));
            }
            let value = argument.value.as_ref().ok_or("its `value` is not given")?;
            let arg = parse_values(element, &written(value))?;
            return Ok(Given { name, ty, element, arg, buffer: None });
        };
        if argument.value.is_some() {
            return Err("`value` is for numbers; a buffer has `fill` or `values`".to_owned());
        }
        let description = Description { element, shape };
        let bytes = description.byte_len().filter(|bytes| *bytes <= MEMORY);
        let bytes = bytes.ok_or_else(|| format!("all buffers together may have {} MiB", MEMORY >> 20))?;
        let fill = argument.fill.unwrap_or(Fill::Zero);
        let buffer = match fill {
            Fill::Nothing => memory.allocate_uninitialized(&name, bytes),
            Fill::Zero | Fill::Index | Fill::Random => memory.allocate_zeros(&name, bytes),
        };
        let buffer = buffer.map_err(|error| error.message)?;
        let content = memory.bytes_mut(buffer);
        let elements = content.chunks_exact_mut(element.size());
        match (&argument.values, fill) {
            (Some(values), _) => {
                if values.len() > elements.len() {
                    return Err(format!("there are {} values for {} elements", values.len(), elements.len()));
                }
                for (to, value) in elements.zip(values) {
                    let text = written(value);
                    let bits = parse_element(&text, element).ok_or_else(|| format!("`{text}` is no {element}"))?;
                    to.copy_from_slice(&bits.to_le_bytes()[..element.size()]);
                }
            }
            (None, Fill::Index) => {
                for (to, index) in elements.zip(0u64..) {
                    to.copy_from_slice(&number(element, index).to_le_bytes()[..element.size()]);
                }
            }
            (None, Fill::Random) => {
                // Its first values are no multiples of one another.
                let mut state = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                for to in elements {
                    to.copy_from_slice(&random(element, &mut state).to_le_bytes()[..element.size()]);
                }
            }
            (None, Fill::Zero | Fill::Nothing) => {}
        }
        let before = memory.bytes(buffer).to_vec();
        Ok(Given { name, ty, element, arg: Arg::Buffer(buffer), buffer: Some((buffer, before)) })
    }

    fn told(&self, memory: &Memory) -> Value {
        let size = self.element.size();
        let (now, before): (Vec<u8>, &[u8]) = match (&self.arg, &self.buffer) {
            (_, Some((buffer, before))) => (memory.bytes(*buffer).to_vec(), before),
            (Arg::Scalar(_, bits), _) => (bits.to_le_bytes()[..size].to_vec(), &[]),
            (Arg::Bytes(bytes), _) => (bytes.clone(), &[]),
            _ => (Vec::new(), &[]),
        };
        let values: Vec<String> =
            now.chunks_exact(size).take(MOST_VALUES).map(|element| show_element(self.element, element)).collect();
        let pairs = now.chunks_exact(size).zip(before.chunks_exact(size));
        let changed: Vec<usize> =
            pairs.enumerate().filter(|(_, (now, before))| now != before).map(|(at, _)| at).collect();
        json!({
            "name": self.name,
            "type": self.ty,
            "buffer": self.buffer.is_some(),
            "elements": now.len() / size,
            "values": values,
            "changes": changed.len(),
            "changed": changed.into_iter().take_while(|at| *at < MOST_VALUES).collect::<Vec<usize>>(),
        })
    }
}

/// The bits of an element that is this number; of an integer the lower bits.
fn number(element: Element, number: u64) -> u64 {
    match element.is_float() {
        true => parse_element(&number.to_string(), element).unwrap_or(0),
        false => number,
    }
}

/// The bits of the next element of a series that looks random: any integer, or a float from 0 up to 1.
fn random(element: Element, state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    let bits = state.wrapping_mul(0x2545_f491_4f6c_dd1d);
    match element {
        Element::F64 => ((bits >> 11) as f64 / (1u64 << 53) as f64).to_bits(),
        Element::F32 => u64::from(((bits >> 40) as f32 / (1u32 << 24) as f32).to_bits()),
        // Exact in half precision, and so is its text.
        Element::F16 => parse_element(&((bits >> 53) as f32 / 2048.0).to_string(), element).unwrap_or(0),
        _ => bits,
    }
}

fn counts(report: &Report) -> Value {
    json!({ "instructions": report.instructions, "video": report.video, "blocks": report.blocks })
}

/// A row of the table.
fn told_step(step: &WatchedStep, text: &str, faults: &Faults<'_>) -> Value {
    let place = &step.place;
    let statement = text.get(place.span.clone()).unwrap_or(&place.text);
    let (opcode, operands) = parts(statement);
    let shown: Vec<Shown> = step.results.iter().map(|result| Shown::of(opcode, result.bits)).collect();
    let values = step.active.iter().enumerate().map(|(thread, active)| {
        let of_thread =
            |(result, shown): (&WatchedResult, &Shown)| shown.show(result.values.get(thread).copied().unwrap_or(0));
        active.then(|| step.results.iter().zip(&shown).map(of_thread).collect::<Vec<String>>().join(", "))
    });
    let values: Vec<Option<String>> = values.collect();
    json!({
        "line": place.line,
        "column": place.column,
        "start": faults.places().utf16(place.span.start),
        "end": faults.places().utf16(place.span.end),
        "text": place.text,
        "register": registers(operands, step.results.len()),
        "type": shown.first().map(|shown| shown.name()),
        "values": values,
    })
}

/// The opcode of a statement, and its operands.
fn parts(statement: &str) -> (&str, &str) {
    let statement = statement.trim().trim_end_matches(';');
    let unguarded = match statement.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start()),
        None => statement,
    };
    unguarded.split_once(char::is_whitespace).unwrap_or((unguarded, ""))
}

/// The names of the registers that a statement wrote: `%r1`, `p|q`, `%r1, %r2`.
fn registers(operands: &str, results: usize) -> Option<String> {
    let first = lex::split_operands(operands).next().map(|range| &operands[range]).filter(|_| results > 0)?;
    let names = first.trim_matches(['{', '}', '(', ')']).split([',', '|']).map(str::trim).filter(|name| *name != "_");
    Some(names.collect::<Vec<&str>>().join(", "))
}

/// How a result is shown.
#[derive(Clone, Copy)]
enum Shown {
    Predicate,
    Element(Element),
    /// As a hexadecimal number of this many bits.
    Bits(u32),
}

impl Shown {
    /// As the first type of the opcode says, if it is as wide.
    fn of(opcode: &str, bits: u32) -> Shown {
        if bits == 1 {
            return Shown::Predicate;
        }
        let words = opcode.split('.');
        let mnemonic = opcode.split('.').next().unwrap_or_default();
        let is_type = |word: &&str| {
            let (kind, width) = word.split_at_checked(1).unwrap_or_default();
            let is_plain = matches!(kind, "u" | "s" | "b" | "f") && width.starts_with(|c: char| c.is_ascii_digit());
            is_plain || ["bf16", "tf32", "e4m3", "e5m2"].iter().any(|other| word.starts_with(other))
        };
        let is_simd = mnemonic.starts_with('v') && mnemonic.ends_with(['2', '4']);
        let Some(ty) = words.skip(1).find(is_type).filter(|_| !is_simd) else { return Shown::Bits(bits) };
        let name = ty.replacen('s', "i", 1);
        let signed = name.starts_with('i');
        match name.parse::<Element>() {
            Ok(element) if element.is_float() && 8 * element.size() as u32 <= bits => Shown::Element(element),
            // `mul.wide.s32` has a result of 64 bits.
            Ok(element) if !element.is_float() => Shown::Element(match (bits, signed) {
                (64, true) => Element::I64,
                (64, false) => Element::U64,
                (_, true) if element.size() < 4 => element,
                (_, true) => Element::I32,
                (_, false) => Element::U32,
            }),
            _ => Shown::Bits(bits),
        }
    }

    fn name(self) -> String {
        match self {
            Shown::Predicate => "pred".to_owned(),
            Shown::Element(element) => element.name().to_owned(),
            Shown::Bits(bits) => format!("b{bits}"),
        }
    }

    fn show(self, value: u64) -> String {
        match self {
            Shown::Predicate => (value != 0).to_string(),
            // An address, as messages have it.
            Shown::Element(Element::U64) if value >> 32 != 0 => format!("{value:#x}"),
            Shown::Element(element) => show_element(element, &value.to_le_bytes()[..element.size()]),
            Shown::Bits(bits) => format!("{value:#0width$x}", width = bits as usize / 4 + 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(opcode: &str, bits: u32, value: u64) -> String {
        let shown = Shown::of(opcode, bits);
        format!("{} {}", shown.name(), shown.show(value))
    }

    #[test]
    fn results_are_shown_by_their_type() {
        for (opcode, bits, value, expected) in [
            ("add.u32", 32, 0xffff_ffff, "u32 4294967295"),
            ("add.s32", 32, 0xffff_ffff, "i32 -1"),
            ("mul.wide.s32", 64, u64::MAX, "i64 -1"),
            ("mul.wide.u32", 64, u64::MAX, "u64 0xffffffffffffffff"),
            ("popc.b64", 32, 64, "b32 0x00000040"),
            ("cvt.s64.s32", 64, u64::MAX, "i64 -1"),
            ("ld.global.s8", 32, 0x80, "i8 -128"),
            ("ld.global.f32", 32, 0x3f00_0000, "f32 0.5"),
            ("cvt.f64.f32", 64, 0x3fe0_0000_0000_0000, "f64 0.5"),
            ("cvt.rn.f16.f32", 32, 0x3800, "f16 0.5"),
            ("cvt.rn.bf16.f32", 32, 0x3f00, "b32 0x00003f00"),
            ("cvt.rn.f16x2.f32", 32, 0x3800_3800, "b32 0x38003800"),
            ("mov.b64", 64, 16, "b64 0x0000000000000010"),
            ("vadd4.u32.u32.u32", 32, 0x102, "b32 0x00000102"),
            ("vadd.u32.u32.u32", 32, 0x102, "u32 258"),
            ("setp.lt.u32", 1, 1, "pred true"),
        ] {
            assert_eq!(shown(opcode, bits, value), expected, "{opcode}");
        }
    }

    #[test]
    fn registers_of_statements() {
        for (statement, results, expected) in [
            ("add.u32 %r1, %r2, 1;", 1, Some("%r1")),
            ("@!%p1 ld.global.v2.u32 {%r1, _}, [%rd1];", 1, Some("%r1")),
            ("setp.lt.u32 %p1|%p2, %r1, %r2;", 2, Some("%p1, %p2")),
            ("st.global.u32 [%rd1], %r1;", 0, None),
            ("ret;", 0, None),
        ] {
            let (_, operands) = parts(statement);
            assert_eq!(registers(operands, results).as_deref(), expected, "{statement}");
        }
    }
}
