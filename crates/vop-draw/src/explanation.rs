//! The stages of an instruction, drawn or as data.

use serde_json::{Value, json};
use vop::eval::{End, Lane, Trace};
use vop::interval::OperandValue;
use vop::isa::form::{MadMode, Variant};
use vop::isa::types::{Mask, Operation, Selector, Shape, ShiftMode, Type};
use vop::{Deviation, Form, Semantics, Severity};

/// What a diagnostic's code means: its title, and an explanation whose indented lines are examples.
pub fn code(code: &str, severity: Severity, title: &str, explanation: &str) -> String {
    let grade = if severity == Severity::Error { String::new() } else { format!(" ({severity})") };
    let paragraph = |line: &str| if line.starts_with(' ') { line.to_owned() } else { crate::wrapped(line, 80) };
    let paragraphs: Vec<String> = explanation.split('\n').map(paragraph).collect();
    format!("{}\n\n{}\n", bold(&format!("{code}{grade}: {title}")), paragraphs.join("\n"))
}

fn bold(text: &str) -> String {
    format!("\x1b[1m{text}\x1b[0m")
}

fn dim(text: &str) -> String {
    format!("\x1b[2m{text}\x1b[0m")
}

fn yellow(text: &str) -> String {
    format!("\x1b[33m{text}\x1b[0m")
}

/// The stages of an instruction, drawn: select, operate, saturate and the last stage, lane by lane.
///
/// `sources` is what is known of a, b and c ([`Instruction::sources`](vop::Instruction::sources)): what the code of ptxas
/// does otherwise is said where it can be.
pub fn explanation(trace: &Trace, sources: [OperandValue; 3]) -> String {
    let form = trace.form;
    let row = form.mnemonic().row();
    let ((major, minor), target) = (row.version, row.target);
    let body = if form.mnemonic().shape().is_simd() { draw_lanes(trace) } else { draw_scalar(trace) };
    let foot = format!("PTX ISA {}, .version {major}.{minor}, .target sm_{target} and up", row.section);
    let whose = match trace.semantics.releases() {
        None => String::new(),
        Some(releases) => format!("   as the code of ptxas {releases} computes it"),
    };
    format!(
        "{}{}\n{}\n\n{body}\n{}{}\n",
        bold(&form.to_string()),
        dim(&whose),
        crate::wrapped(&form.describe(), 80),
        draw_semantics(trace, sources),
        dim(&foot)
    )
}

/// What the other semantics has to say.
fn draw_semantics(trace: &Trace, sources: [OperandValue; 3]) -> String {
    let form = trace.form;
    let [a, b, c] = trace.inputs;
    if trace.semantics == Semantics::Isa {
        let others = [Semantics::Ptxas, Semantics::PtxasTo13_2];
        let found = others.into_iter().find_map(|semantics| form.divergence_of(semantics, sources));
        let Some(divergence) = found else { return String::new() };
        let semantics = divergence.semantics;
        let ptxas = form.eval_as(semantics, a, b, c);
        let whose = match semantics.releases() {
            Some(releases) if semantics != Semantics::Ptxas => format!("ptxas {releases}"),
            _ => "ptxas".to_owned(),
        };
        let text = if ptxas == trace.d {
            format!("The code that {whose} emits computes the same here, but not always: {divergence}.")
        } else {
            format!("The code that {whose} emits computes d = {ptxas:#010x} here; --semantics {semantics} shows why.")
        };
        return format!("{}\n\n", yellow(&crate::wrapped(&text, 80)));
    }
    let isa = form.eval(a, b, c);
    let mut text = String::new();
    for deviation in trace.deviations.iter() {
        let reason = format!(
            "{}: the code of ptxas {}. By the manual {}.",
            deviation.stage(),
            deviation.ptxas(),
            deviation.manual()
        );
        text.push_str(&format!("{}\n", crate::wrapped(&reason, 80)));
    }
    if isa != trace.d {
        text.push_str(&format!("{}\n\n", yellow(&format!("By the manual d = {isa:#010x}."))));
    } else if let Some(divergence) = form.divergence_of(trace.semantics, sources) {
        let note = format!("The manual's d is the same here, but not always: {divergence}.");
        text.push_str(&format!("{}\n\n", crate::wrapped(&note, 80)));
    }
    text
}

/// `s8`, `u32`.
fn type_name(ty: Type, bits: u32) -> String {
    format!("{}{bits}", if ty == Type::S32 { 's' } else { 'u' })
}

/// The name of the operate stage.
fn operation_name(form: Form) -> String {
    match form.mnemonic().operation() {
        Operation::Add => "a + b".into(),
        Operation::Sub => "a - b".into(),
        Operation::Avrg => "(a + b) / 2".into(),
        Operation::Absdiff => "|a - b|".into(),
        Operation::Min => "min".into(),
        Operation::Max => "max".into(),
        Operation::Shl => "a << b".into(),
        Operation::Shr => "a >> b".into(),
        Operation::Mad => match form.variant() {
            Variant::Mad(mode, _) if mode.negates_product() => "-(a * b)".into(),
            _ => "a * b".into(),
        },
        Operation::Set => format!("a {} b", form.comparison().map_or("", |comparison| comparison.name())),
    }
}

// SIMD forms: a column a lane.

// Label, four columns and d in full fit a terminal of 80 characters.
const LABEL: usize = 12;
const COLUMN: usize = 13;

/// One row: a label and, from the highest lane down, cells already as wide as a column.
fn line(label: &str, cells: impl DoubleEndedIterator<Item = String>, note: &str) -> String {
    let mut text = format!("{label:<LABEL$}");
    for cell in cells.rev() {
        text.push_str(&cell);
    }
    if !note.is_empty() {
        text.push_str("   ");
        text.push_str(note);
    }
    let mut text = text.trim_end().to_string();
    text.push('\n');
    text
}

fn right(text: &str) -> String {
    format!("{text:>COLUMN$}")
}

/// `ff   255` in a column.
fn bits_and_value(pattern: u32, bits: u32, value: impl ToString) -> String {
    let (digits, value) = (bits as usize / 4, value.to_string());
    format!("{:>width$}{value:>7}", format!("{pattern:0digits$x}"), width = COLUMN - 7)
}

fn lane_bits(word: u32, i: usize, shape: Shape) -> u32 {
    word >> (i as u32 * shape.bits()) & (u32::MAX >> (32 - shape.bits()))
}

fn draw_lanes(trace: &Trace) -> String {
    let form = trace.form;
    let shape = form.mnemonic().shape();
    let (lanes, bits, letter) = (0..shape.lanes(), shape.bits(), shape.letter());
    let [a, b, c] = trace.inputs;
    let mut text = dim(&format!("a {a:#010x}   b {b:#010x}   c {c:#010x}\n"));
    text.push_str(&dim(&line("lane", lanes.clone().map(|i| right(&format!("{letter}{i}"))), "")));
    for (second, name, ty) in [(false, "a", form.atype()), (true, "b", form.btype())] {
        let selector = if second { form.bsel() } else { form.asel() };
        let input = |lane: &Lane| lane.inputs[usize::from(second)];
        if selector != Selector::default_for(shape, second) {
            let sources = trace.lanes.iter().map(|lane| {
                let input = input(lane);
                right(&format!("{}.{letter}{}", if input.from_b { "b" } else { "a" }, input.shift / bits))
            });
            text.push_str(&dim(&line(&format!("{name}{selector}"), sources, "")));
        }
        let values = trace.lanes.iter().map(|lane| bits_and_value(input(lane).pattern, bits, input(lane).value));
        text.push_str(&line(&format!("{name}  {}", type_name(ty, bits)), values, ""));
    }
    text.push_str(&line(&operation_name(form), trace.lanes.iter().map(|lane| right(&lane.raw.to_string())), ""));
    if let Some(range) = trace.saturation {
        let name = format!("sat {}{}", if range.signed { 's' } else { 'u' }, range.bits);
        let values = trace.lanes.iter().map(|lane| clamped(lane.unsaturated(), lane.saturated, COLUMN));
        text.push_str(&line(&name, values, ""));
    }
    let star = |mask: Mask| lanes.clone().map(move |i| right(if mask.has(i) { "*" } else { "." }));
    match trace.end {
        End::Lanes(mask) if mask == Mask::full(shape) => {
            text.push_str(&draw_d(trace));
            text.push_str(&dim("c has no effect: every lane is written\n"));
        }
        End::Accumulate { mask, .. } => {
            if mask != Mask::full(shape) {
                text.push_str(&line("mask", star(mask), ""));
            }
            let c_value = if form.is_signed() { i128::from(c as i32) } else { i128::from(c) };
            text.push_str(&line("c", std::iter::empty(), &format!("{c:#010x}  {c_value}")));
            let terms: String = (0..shape.lanes())
                .rev()
                .filter(|&i| mask.has(i))
                .map(|i| match trace.lanes[i].saturated {
                    negative if negative < 0 => format!(" - {}", -negative),
                    term => format!(" + {term}"),
                })
                .collect();
            let exact = match trace.end {
                End::Accumulate { sum, .. } => c_value + sum,
                _ => 0,
            };
            let label = format!("c{terms} =");
            text.push_str(&line(
                "d",
                std::iter::empty(),
                &format!("{}  {label} {exact}{}", bold(&format!("{:#010x}", trace.d)), wrapped(exact)),
            ));
        }
        End::Lanes(mask) => {
            text.push_str(&line("mask", star(mask), ""));
            let kept = lanes.clone().map(|i| {
                let cell = right(&format!("{:0width$x}", lane_bits(c, i, shape), width = bits as usize / 4));
                if mask.has(i) { dim(&cell) } else { cell }
            });
            text.push_str(&line("c", kept, ""));
            text.push_str(&draw_d(trace));
        }
        End::Truncate | End::Secondary { .. } | End::Merge { .. } => {}
    }
    text
}

fn draw_d(trace: &Trace) -> String {
    let shape = trace.form.mnemonic().shape();
    let digits = shape.bits() as usize / 4;
    let cells = (0..shape.lanes()).map(|i| bold(&right(&format!("{:0digits$x}", lane_bits(trace.d, i, shape)))));
    line("d", cells, &bold(&format!("{:#010x}", trace.d)))
}

/// A result after saturation, with an arrow where it was moved: down to the greatest value or up to the least.
fn clamped(before: i128, after: i128, width: usize) -> String {
    if before == after {
        return format!("{after:>width$}");
    }
    yellow(&format!("{:>width$}", format!("{}{after}", if after < before { '↓' } else { '↑' })))
}

/// A word on a value whose lower 32 bits are not the whole of it.
fn wrapped(value: i128) -> String {
    let fits = (-(1 << 31)..1 << 32).contains(&value);
    if fits { String::new() } else { ", of which the lower 32 bits".into() }
}

// Scalar forms: a line a stage.

/// Stage, bits, value, remark.
fn stage(name: &str, bits: &str, value: &str, note: &str) -> String {
    let text = format!("{name:<14}{bits:>12}{value:>22}   {}", dim(note));
    let mut text = if note.is_empty() { format!("{name:<14}{bits:>12}{value:>22}") } else { text };
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The word in hexadecimal with brackets around a part: `1234[fff0]`.
fn bracketed(word: u32, shift: u32, bits: u32) -> String {
    let digits = format!("{word:08x}");
    if bits == 32 {
        return digits;
    }
    let (start, end) = ((32 - shift - bits) as usize / 4, (32 - shift) as usize / 4);
    format!("{}[{}]{}", &digits[..start], &digits[start..end], &digits[end..])
}

fn draw_scalar(trace: &Trace) -> String {
    let form = trace.form;
    let lane = &trace.lanes[0];
    let mut text = String::new();
    for (i, (name, selector)) in [("a", form.asel()), ("b", form.bsel())].into_iter().enumerate() {
        let input = lane.inputs[i];
        let label = format!("{name}{selector}  {}", type_name(input.ty, input.bits));
        let note = if i == 1 { shift_note(form, input.value) } else { String::new() };
        let bits = bracketed(trace.inputs[i], input.shift, input.bits);
        text.push_str(&stage(&label, &bits, &input.value.to_string(), &note));
    }
    text.push_str(&stage(&operation_name(form), "", &lane.raw.to_string(), ""));
    if let (Some(mad), Variant::Mad(mode, scale)) = (lane.mad, form.variant()) {
        text.push_str(&draw_mad(trace, mad, mode));
        if let Some(scale) = scale {
            text.push_str(&stage(&format!(">> {}", scale.bits()), "", &mad.scaled.to_string(), ""));
        }
    }
    if let Some(range) = trace.saturation {
        let name = format!("sat {}{}", if range.signed { 's' } else { 'u' }, range.bits);
        let (mut before, after) = (lane.unsaturated(), lane.saturated);
        if trace.semantics.deviations().concerning(form).has(Deviation::KeepsLow34) {
            let lower = before << (128 - 34) >> (128 - 34);
            if lower != before {
                text.push_str(&stage("lower 34 bits", "", &lower.to_string(), ""));
            }
            before = lower;
        }
        let note = match after {
            _ if before != after => format!("clamped from {before}"),
            _ if (range.min().into()..=range.max().into()).contains(&after) => "fits".into(),
            _ => "not clamped".into(),
        };
        text.push_str(&stage(&name, "", &clamped(before, after, 22), &note));
    }
    text.push_str(&draw_end(trace, lane.saturated));
    text
}

fn shift_note(form: Form, amount: i64) -> String {
    match form.variant() {
        Variant::Shift(ShiftMode::Clamp) if amount > 32 => "clamp: 32".into(),
        Variant::Shift(ShiftMode::Wrap) if amount > 31 => format!("wrap: {}", amount & 31),
        _ => String::new(),
    }
}

fn draw_mad(trace: &Trace, mad: vop::eval::Mad, mode: MadMode) -> String {
    let c = trace.inputs[2];
    let ty = trace.c_type;
    let value = if mode.negates_c() { -mad.addend } else { mad.addend };
    let mut text = stage(&format!("c  {}", type_name(ty, 32)), &format!("{c:08x}"), &value.to_string(), "");
    let name = match (mode.negates_c(), mad.plus_one) {
        (true, _) => "- c",
        (false, 0) => "+ c",
        (false, _) => "+ c + 1",
    };
    text.push_str(&stage(name, "", &mad.sum.to_string(), ""));
    text
}

fn draw_end(trace: &Trace, result: i128) -> String {
    let form = trace.form;
    let c = trace.inputs[2];
    let d = bold(&format!("{:>12}", format!("{:08x}", trace.d)));
    let signed = form.is_signed();
    let d_value = if signed { (trace.d as i32).to_string() } else { trace.d.to_string() };
    let (mut text, exact) = match trace.end {
        End::Secondary { operation, t, c: value, outcome } => {
            let mut text = String::new();
            if t != result {
                text.push_str(&stage("lower 32 bits", &format!("{:08x}", t as u32), &t.to_string(), ""));
            }
            let label = format!("c  {}", type_name(trace.c_type, 32));
            text.push_str(&stage(&label, &format!("{c:08x}"), &value.to_string(), ""));
            text.push_str(&stage(operation.name(), "", &outcome.to_string(), ""));
            (text, outcome)
        }
        End::Merge { shift, bits, .. } => {
            let wrong = trace.semantics.deviations().concerning(form).has(Deviation::MergesWrongHalf);
            let which = if wrong { "upper" } else { "lower" };
            let mut text = stage("c", &bracketed(c, shift, bits), "", "the part that is replaced");
            text.push_str(&stage(
                "merge",
                &bracketed(trace.d, shift, bits),
                "",
                &format!("the {which} {bits} bits of {result}"),
            ));
            (text, i128::from(trace.d))
        }
        End::Truncate | End::Lanes(_) | End::Accumulate { .. } => (String::new(), result),
    };
    let differs = exact != i128::from(trace.d) && exact != i128::from(trace.d as i32);
    let note = if differs { format!("the lower 32 bits of {exact}") } else { String::new() };
    text.push_str(&stage("d", &d, &d_value, &note));
    text
}

/// The stages as data, as `vop explain --format json` prints them.
pub fn stages(trace: &Trace) -> Value {
    let form = trace.form;
    let lanes: Vec<Value> = trace
        .lanes
        .iter()
        .map(|lane| {
            let inputs = lane.inputs.map(|input| {
                json!({
                    "register": if input.from_b { "b" } else { "a" },
                    "bit": input.shift,
                    "bits": input.bits,
                    "pattern": input.pattern,
                    "value": input.value,
                })
            });
            let mut value = json!({ "a": inputs[0], "b": inputs[1], "raw": number(lane.raw), "saturated": number(lane.saturated) });
            if let Some(mad) = lane.mad {
                value["mad"] = json!({ "addend": number(mad.addend), "plus_one": number(mad.plus_one), "sum": number(mad.sum), "scaled": number(mad.scaled) });
            }
            value
        })
        .collect();
    let end = match trace.end {
        End::Truncate => json!({ "stage": "truncate" }),
        End::Secondary { operation, t, c, outcome } => {
            json!({ "stage": operation.name(), "t": number(t), "c": number(c), "outcome": number(outcome) })
        }
        End::Merge { shift, bits, inserted } => {
            json!({ "stage": "merge", "bit": shift, "bits": bits, "inserted": inserted })
        }
        End::Lanes(mask) => json!({ "stage": "lanes", "mask": mask.bits() }),
        End::Accumulate { mask, sum } => json!({ "stage": "accumulate", "mask": mask.bits(), "sum": number(sum) }),
    };
    json!({
        "form": form.to_string(),
        "meaning": form.describe(),
        "section": form.mnemonic().row().section,
        "semantics": trace.semantics.to_string(),
        "deviations": trace.deviations.iter().map(Deviation::name).collect::<Vec<_>>(),
        "inputs": { "a": trace.inputs[0], "b": trace.inputs[1], "c": trace.inputs[2] },
        "lanes": lanes,
        "saturation": trace.saturation.map(|range| json!([range.min(), range.max()])),
        "end": end,
        "d": trace.d,
    })
}

/// As a JSON number, or a string where it has more than 53 bits and readers would round it.
fn number(value: i128) -> Value {
    match i64::try_from(value) {
        Ok(small) if small.unsigned_abs() < 1 << 53 => json!(small),
        _ => json!(value.to_string()),
    }
}
