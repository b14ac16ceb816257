//! The stages of an instruction, drawn or as data.

use serde_json::{Value, json};
use vop::eval::{End, Trace};
use vop::interval::OperandValue;
use vop::{Deviation, Semantics, Severity};

use crate::rows::{Cell, Emphasis, Kind, Row, rows};

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

// SIMD forms: a column a lane.

// Label, four columns and d in full fit a terminal of 80 characters.
const LABEL: usize = 12;
const COLUMN: usize = 13;

/// A cell of a lane, as wide as a column.
fn in_column(cell: &Cell) -> String {
    let text = match (&cell.digits[..], &cell.value[..]) {
        ("", value) => format!("{value:>COLUMN$}"),
        (digits, "") => format!("{digits:>COLUMN$}"),
        (digits, value) => format!("{digits:>width$}{value:>7}", width = COLUMN - 7),
    };
    emphasised(text, cell.emphasis)
}

fn emphasised(text: String, emphasis: Emphasis) -> String {
    match emphasis {
        Emphasis::None => text,
        Emphasis::Dim => dim(&text),
        Emphasis::Clamped => yellow(&text),
        Emphasis::Strong => bold(&text),
    }
}

/// A line with the cells of these lanes, from the highest down.
fn line(row: &Row, lanes: std::ops::Range<usize>, note: &str) -> String {
    let mut text = format!("{:<LABEL$}", row.label);
    for cell in row.cells.get(lanes).unwrap_or_default().iter().rev() {
        text.push_str(&in_column(cell));
    }
    if !note.is_empty() {
        text.push_str("   ");
        text.push_str(note);
    }
    let mut text = text.trim_end().to_string();
    text.push('\n');
    if row.kind == Kind::Heading { dim(&text) } else { text }
}

/// The remark on a row: that on d begins with its value, which is bold.
fn note_of(row: &Row) -> String {
    match (row.kind, row.note.split_once(' ')) {
        (Kind::Result, Some((d, rest))) => format!("{} {rest}", bold(d)),
        (Kind::Result, None) if !row.note.is_empty() => bold(&row.note),
        _ => row.note.clone(),
    }
}

/// Rows as text: lanes that do not fit are drawn below the others, and notes that do not fit, below their rows.
fn laid_out(rows: &[Row], lanes: usize, width: usize) -> String {
    let fit = ((width - LABEL) / COLUMN).clamp(1, lanes);
    if fit == lanes {
        let lines = rows.iter().map(|row| {
            let columns = LABEL + COLUMN * row.cells.len() + 3 + visible(&row.note);
            let has_room = row.note.is_empty() || columns <= width;
            let note = note_of(row);
            if has_room { line(row, 0..lanes, &note) } else { line(row, 0..lanes, "") + &below(&note, width) }
        });
        return lines.collect();
    }
    let mut text = String::new();
    let mut end = lanes;
    while end > 0 {
        let start = end.saturating_sub(fit);
        text.extend(rows.iter().filter(|row| !row.cells.is_empty()).map(|row| line(row, start..end, "")));
        text.push('\n');
        end = start;
    }
    for row in rows.iter().filter(|row| !row.note.is_empty()) {
        text.push_str(&format!("{:<4}{}\n", row.label, below(&note_of(row), width).trim_start().trim_end()));
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

fn draw_lanes(trace: &Trace, width: usize) -> String {
    let [a, b, c] = trace.inputs;
    let gap = if width < 42 { "\n" } else { "   " };
    let text = dim(&format!("a {a:#010x}{gap}b {b:#010x}{gap}c {c:#010x}\n"));
    let (rows, foot) = rows(trace);
    let foot = if foot.is_empty() { String::new() } else { dim(&format!("{}\n", crate::wrapped(foot, width))) };
    text + &laid_out(&rows, trace.lanes.len(), width) + &foot
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
fn draw_scalar(trace: &Trace) -> String {
    let lines = rows(trace).0.into_iter().flat_map(|row| {
        let line = |cell: &Cell| {
            let strong = |text: String| if row.kind == Kind::Result { bold(&text) } else { text };
            let clamped = |text: String| if cell.emphasis == Emphasis::Clamped { yellow(&text) } else { text };
            let bits = strong(format!("{:>12}", cell.digits));
            let value = clamped(format!("{:>22}", cell.value));
            let note = if row.note.is_empty() { String::new() } else { format!("   {}", dim(&row.note)) };
            format!("{:<14}{bits}{value}{note}", row.label).trim_end().to_owned() + "\n"
        };
        row.cells.iter().map(line).collect::<Vec<_>>()
    });
    lines.collect()
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
