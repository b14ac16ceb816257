//! The stages of an instruction, drawn or as data.

use serde_json::{Value, json};
use vop::eval::{End, Lane, Trace};
use vop::interval::OperandValue;
use vop::isa::form::{MadMode, Variant};
use vop::isa::types::{Mask, Operation, Selector, Shape, ShiftMode, Type};
use vop::{Deviation, Form, Semantics, Severity};

/// The widest that anything is drawn, and the narrowest.
const WIDE: usize = 80;
const NARROW: usize = 26;

/// What a diagnostic's code means: its title, and an explanation whose indented lines are examples.
pub fn code(code: &str, severity: Severity, title: &str, explanation: &str) -> String {
    code_within(code, severity, title, explanation, WIDE)
}

/// [`code`] for a terminal of `width` columns.
pub fn code_within(code: &str, severity: Severity, title: &str, explanation: &str, width: usize) -> String {
    let width = width.clamp(NARROW, WIDE);
    let grade = if severity == Severity::Error { String::new() } else { format!(" ({severity})") };
    let paragraph = |line: &str| if line.starts_with(' ') { line.to_owned() } else { crate::wrapped(line, width) };
    let paragraphs: Vec<String> = explanation.split('\n').map(paragraph).collect();
    format!(
        "{}\n\n{}\n",
        bold(&crate::wrapped(&format!("{code}{grade}: {title}"), if width == WIDE { usize::MAX } else { width })),
        paragraphs.join("\n")
    )
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

/// The stages of an instruction, drawn for 80 columns: select, operate, saturate and the last stage, lane by lane.
///
/// `sources` is what is known of a, b and c ([`Instruction::operand_values`](vop::Instruction::operand_values)). It decides whether
/// ptxas's code can differ from the manual, which the drawing then says.
pub fn explanation(trace: &Trace, sources: [OperandValue; 3]) -> String {
    explanation_within(trace, sources, WIDE)
}

/// [`explanation`] for a terminal of `width` columns: lanes that do not fit beside each other stand below each other.
pub fn explanation_within(trace: &Trace, sources: [OperandValue; 3], width: usize) -> String {
    let form = trace.form;
    let width = width.clamp(NARROW, WIDE);
    let row = form.mnemonic().row();
    let ((major, minor), target) = (row.version, row.target);
    let body = match (form.mnemonic().shape().is_simd(), width) {
        (true, _) => draw_lanes(trace, width),
        // Long remarks go beyond 80 columns, where only a terminal of exactly that width breaks them.
        (false, WIDE) => draw_scalar(trace),
        (false, _) => narrowed(&draw_scalar(trace), width),
    };
    let foot = format!("PTX ISA {}, .version {major}.{minor}, .target sm_{target} and up", row.section);
    let whose = match trace.semantics.releases() {
        None => String::new(),
        Some(releases) => format!("   as the code of ptxas {releases} computes it"),
    };
    let name = form.to_string();
    let name = if width == WIDE { name } else { crate::wrapped(&name, width) };
    // The longest of these lines may be longer than 80 columns, which only narrower terminals break.
    let fits = width == WIDE || name.chars().count() + whose.chars().count() <= width;
    let whose = if fits { whose } else { format!("\n{}", crate::wrapped(whose.trim_start(), width)) };
    format!(
        "{}{}\n{}\n\n{body}\n{}{}\n",
        bold(&name),
        dim(&whose),
        crate::wrapped(&form.describe(), width),
        draw_semantics(trace, sources, width),
        dim(&crate::wrapped(&foot, width))
    )
}

/// What the other semantics has to say.
fn draw_semantics(trace: &Trace, sources: [OperandValue; 3], width: usize) -> String {
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
        return format!("{}\n\n", yellow(&crate::wrapped(&text, width)));
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
        text.push_str(&format!("{}\n", crate::wrapped(&reason, width)));
    }
    if isa != trace.d {
        text.push_str(&format!("{}\n\n", yellow(&format!("By the manual d = {isa:#010x}."))));
    } else if let Some(divergence) = form.divergence_of(trace.semantics, sources) {
        let note = format!("The manual's d is the same here, but not always: {divergence}.");
        text.push_str(&format!("{}\n\n", crate::wrapped(&note, width)));
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

/// A row of a drawing of lanes: a label, a cell for each lane, as wide as a column, and a note.
struct Row {
    label: String,
    cells: Vec<String>,
    note: String,
    dim: bool,
}

impl Row {
    fn new(label: impl Into<String>, cells: impl Iterator<Item = String>) -> Row {
        Row { label: label.into(), cells: cells.collect(), note: String::new(), dim: false }
    }

    fn dim(self) -> Row {
        Row { dim: true, ..self }
    }

    fn note(self, note: impl Into<String>) -> Row {
        Row { note: note.into(), ..self }
    }

    /// A line with the cells of these lanes, from the highest down.
    fn line(&self, lanes: std::ops::Range<usize>, note: &str) -> String {
        let mut text = format!("{:<LABEL$}", self.label);
        for cell in self.cells.get(lanes).unwrap_or_default().iter().rev() {
            text.push_str(cell);
        }
        if !note.is_empty() {
            text.push_str("   ");
            text.push_str(note);
        }
        let mut text = text.trim_end().to_string();
        text.push('\n');
        if self.dim { dim(&text) } else { text }
    }
}

/// Rows as text: lanes that do not fit are drawn below the others, and notes that do not fit, below their rows.
fn laid_out(rows: &[Row], lanes: usize, width: usize) -> String {
    let fit = ((width - LABEL) / COLUMN).clamp(1, lanes);
    if fit == lanes {
        let lines = rows.iter().map(|row| {
            let columns = LABEL + COLUMN * row.cells.len() + 3 + visible(&row.note);
            let has_room = row.note.is_empty() || columns <= width;
            if has_room { row.line(0..lanes, &row.note) } else { row.line(0..lanes, "") + &below(&row.note, width) }
        });
        return lines.collect();
    }
    let mut text = String::new();
    let mut end = lanes;
    while end > 0 {
        let start = end.saturating_sub(fit);
        text.extend(rows.iter().filter(|row| !row.cells.is_empty()).map(|row| row.line(start..end, "")));
        text.push('\n');
        end = start;
    }
    for row in rows.iter().filter(|row| !row.note.is_empty()) {
        text.push_str(&format!("{:<4}{}\n", row.label, below(&row.note, width).trim_start().trim_end()));
    }
    text
}

/// A note on lines of its own.
fn below(note: &str, width: usize) -> String {
    let lines: String = crate::wrapped(note, width - 4).lines().map(|line| format!("    {line}\n")).collect();
    lines
}

/// How many columns a text takes, without its escape sequences.
fn visible(text: &str) -> usize {
    let mut in_escape = false;
    let shown = text.chars().filter(|&c| {
        let hidden = in_escape || c == '\x1b';
        in_escape = hidden && c != 'm';
        !hidden
    });
    shown.count()
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

fn draw_lanes(trace: &Trace, width: usize) -> String {
    let form = trace.form;
    let shape = form.mnemonic().shape();
    let (lanes, bits, letter) = (0..shape.lanes(), shape.bits(), shape.letter());
    let [a, b, c] = trace.inputs;
    let gap = if width < 42 { "\n" } else { "   " };
    let text = dim(&format!("a {a:#010x}{gap}b {b:#010x}{gap}c {c:#010x}\n"));
    let mut rows = vec![Row::new("lane", lanes.clone().map(|i| right(&format!("{letter}{i}")))).dim()];
    for (second, name, ty) in [(false, "a", form.atype()), (true, "b", form.btype())] {
        let selector = if second { form.bsel() } else { form.asel() };
        let input = |lane: &Lane| lane.inputs[usize::from(second)];
        if selector != Selector::default_for(shape, second) {
            let sources = trace.lanes.iter().map(|lane| {
                let input = input(lane);
                right(&format!("{}.{letter}{}", if input.from_b { "b" } else { "a" }, input.shift / bits))
            });
            rows.push(Row::new(format!("{name}{selector}"), sources).dim());
        }
        let values = trace.lanes.iter().map(|lane| bits_and_value(input(lane).pattern, bits, input(lane).value));
        rows.push(Row::new(format!("{name}  {}", type_name(ty, bits)), values));
    }
    rows.push(Row::new(operation_name(form), trace.lanes.iter().map(|lane| right(&lane.raw.to_string()))));
    if let Some(range) = trace.saturation {
        let name = format!("sat {}{}", if range.signed { 's' } else { 'u' }, range.bits);
        let values = trace.lanes.iter().map(|lane| clamped(lane.unsaturated(), lane.saturated, COLUMN));
        rows.push(Row::new(name, values));
    }
    let star = |mask: Mask| lanes.clone().map(move |i| right(if mask.has(i) { "*" } else { "." }));
    let mut foot = String::new();
    match trace.end {
        End::Lanes(mask) if mask == Mask::full(shape) => {
            rows.push(draw_d(trace));
            foot = dim(&format!("{}\n", crate::wrapped("c has no effect: every lane is written", width)));
        }
        End::Accumulate { mask, sum } => {
            if mask != Mask::full(shape) {
                rows.push(Row::new("mask", star(mask)));
            }
            let c_value = if form.is_signed() { i128::from(c as i32) } else { i128::from(c) };
            rows.push(Row::new("c", std::iter::empty()).note(format!("{c:#010x}  {c_value}")));
            let terms: String = (0..shape.lanes())
                .rev()
                .filter(|&i| mask.has(i))
                .map(|i| match trace.lanes[i].saturated {
                    negative if negative < 0 => format!(" - {}", -negative),
                    term => format!(" + {term}"),
                })
                .collect();
            let exact = c_value + sum;
            let d = bold(&format!("{:#010x}", trace.d));
            let note = format!("{d}  c{terms} = {exact}{}", lower_bits_of(exact));
            rows.push(Row::new("d", std::iter::empty()).note(note));
        }
        End::Lanes(mask) => {
            rows.push(Row::new("mask", star(mask)));
            let kept = lanes.clone().map(|i| {
                let cell = right(&format!("{:0width$x}", lane_bits(c, i, shape), width = bits as usize / 4));
                if mask.has(i) { dim(&cell) } else { cell }
            });
            rows.push(Row::new("c", kept));
            rows.push(draw_d(trace));
        }
        End::Truncate | End::Secondary { .. } | End::Merge { .. } => {}
    }
    text + &laid_out(&rows, shape.lanes(), width) + &foot
}

fn draw_d(trace: &Trace) -> Row {
    let shape = trace.form.mnemonic().shape();
    let digits = shape.bits() as usize / 4;
    let cells = (0..shape.lanes()).map(|i| bold(&right(&format!("{:0digits$x}", lane_bits(trace.d, i, shape)))));
    Row::new("d", cells).note(bold(&format!("{:#010x}", trace.d)))
}

/// A result after saturation, with an arrow where it was moved: down to the greatest value or up to the least.
fn clamped(before: i128, after: i128, width: usize) -> String {
    if before == after {
        return format!("{after:>width$}");
    }
    yellow(&format!("{:>width$}", format!("{}{after}", if after < before { '↓' } else { '↑' })))
}

/// A word on a value whose lower 32 bits are not the whole of it.
fn lower_bits_of(value: i128) -> String {
    let fits = (-(1 << 31)..1 << 32).contains(&value);
    if fits { String::new() } else { ", of which the lower 32 bits".into() }
}

// Scalar forms: a line a stage.

/// The columns of stage, bits and value; a remark follows.
const STAGE: usize = 14;
const BITS: usize = STAGE + 12;
const VALUE: usize = BITS + 22;

/// The lines of [`stage`] for a narrower terminal: remarks that do not fit stand below, and so do values.
fn narrowed(text: &str, width: usize) -> String {
    let mut narrow = String::new();
    for line in text.lines() {
        if visible(line) <= width {
            narrow.push_str(line);
            narrow.push('\n');
            continue;
        }
        let (values, remark) = cut(line, VALUE);
        let (stage, value) = cut(values, BITS);
        let value = value.trim_start();
        if visible(values) <= width {
            narrow.push_str(values.trim_end());
        } else if BITS + 1 + visible(value) <= width {
            let blanks = width - BITS - visible(value);
            narrow.push_str(&format!("{stage}{:blanks$}{value}", ""));
        } else {
            let blanks = width.saturating_sub(visible(value));
            narrow.push_str(&format!("{}\n{:blanks$}{value}", stage.trim_end(), ""));
        }
        narrow.push('\n');
        if !remark.trim_start().is_empty() {
            narrow.push_str(&below(remark.trim_start(), width));
        }
    }
    narrow
}

/// A text in two at a column, escape sequences left out of the count and left whole.
fn cut(text: &str, column: usize) -> (&str, &str) {
    let (mut in_escape, mut count) = (false, 0);
    for (at, c) in text.char_indices() {
        let hidden = in_escape || c == '\x1b';
        in_escape = hidden && c != 'm';
        if !hidden {
            if count == column {
                return text.split_at(at);
            }
            count += 1;
        }
    }
    (text, "")
}

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
