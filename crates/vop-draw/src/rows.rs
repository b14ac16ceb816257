//! The stages of an instruction as rows, which text and HTML are made of.

use vop::Deviation;
use vop::eval::{End, Lane, Mad, Trace};
use vop::isa::form::{MadMode, Variant};
use vop::isa::types::{Mask, Operation, Selector, Shape, ShiftMode, Type};

use vop::Form;

/// A row: a stage's name, a cell for each lane, and a remark.
pub(crate) struct Row {
    pub(crate) label: String,
    /// Lane 0 first. There are none where only a note says what happens to all lanes together.
    pub(crate) cells: Vec<Cell>,
    pub(crate) note: String,
    pub(crate) kind: Kind,
}

/// What a row is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Names of lanes, or of the places that lanes come from.
    Heading,
    /// A value of a stage.
    Value,
    /// d.
    Result,
}

/// What stands in a lane: digits, a value, or both.
#[derive(Default)]
pub(crate) struct Cell {
    /// In hexadecimal; of a scalar instruction with brackets around the part that is meant.
    pub(crate) digits: String,
    pub(crate) value: String,
    pub(crate) emphasis: Emphasis,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Emphasis {
    #[default]
    None,
    /// It has no effect on d.
    Dim,
    /// Saturation moved it.
    Clamped,
    /// It is of d.
    Strong,
}

impl Cell {
    fn value(value: impl ToString) -> Cell {
        Cell { value: value.to_string(), ..Cell::default() }
    }

    fn digits(digits: String) -> Cell {
        Cell { digits, ..Cell::default() }
    }

    fn with(self, emphasis: Emphasis) -> Cell {
        Cell { emphasis, ..self }
    }

    /// A result after saturation, with an arrow where it was moved: down to the greatest value or up to the least.
    fn clamped(before: i128, after: i128) -> Cell {
        if before == after {
            return Cell::value(after);
        }
        Cell::value(format!("{}{after}", if after < before { '↓' } else { '↑' })).with(Emphasis::Clamped)
    }
}

impl Row {
    fn new(label: impl Into<String>, cells: impl IntoIterator<Item = Cell>) -> Row {
        let cells = cells.into_iter().collect();
        Row { label: label.into(), cells, note: String::new(), kind: Kind::Value }
    }

    fn kind(self, kind: Kind) -> Row {
        Row { kind, ..self }
    }

    fn note(self, note: impl Into<String>) -> Row {
        Row { note: note.into(), ..self }
    }
}

/// The rows of an instruction, and a sentence below them, which may be empty.
pub(crate) fn rows(trace: &Trace) -> (Vec<Row>, &'static str) {
    if trace.form.mnemonic().shape().is_simd() { of_lanes(trace) } else { (of_scalar(trace), "") }
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

/// A word on a value whose lower 32 bits are not the whole of it.
fn lower_bits_of(value: i128) -> String {
    let fits = (-(1 << 31)..1 << 32).contains(&value);
    if fits { String::new() } else { ", of which the lower 32 bits".into() }
}

// SIMD forms: a column a lane.

fn lane_bits(word: u32, i: usize, shape: Shape) -> u32 {
    word >> (i as u32 * shape.bits()) & (u32::MAX >> (32 - shape.bits()))
}

fn of_lanes(trace: &Trace) -> (Vec<Row>, &'static str) {
    let form = trace.form;
    let shape = form.mnemonic().shape();
    let (lanes, bits, letter) = (0..shape.lanes(), shape.bits(), shape.letter());
    let digits = |pattern: u32| format!("{pattern:0width$x}", width = bits as usize / 4);
    let c = trace.inputs[2];
    let heading = lanes.clone().map(|i| Cell::value(format!("{letter}{i}")));
    let mut rows = vec![Row::new("lane", heading).kind(Kind::Heading)];
    for (second, name, ty) in [(false, "a", form.atype()), (true, "b", form.btype())] {
        let selector = if second { form.bsel() } else { form.asel() };
        let input = |lane: &Lane| lane.inputs[usize::from(second)];
        if selector != Selector::default_for(shape, second) {
            let sources = trace.lanes.iter().map(|lane| {
                let input = input(lane);
                Cell::value(format!("{}.{letter}{}", if input.from_b { "b" } else { "a" }, input.shift / bits))
            });
            rows.push(Row::new(format!("{name}{selector}"), sources).kind(Kind::Heading));
        }
        let values = trace.lanes.iter().map(|lane| {
            let input = input(lane);
            Cell { digits: digits(input.pattern), ..Cell::value(input.value) }
        });
        rows.push(Row::new(format!("{name}  {}", type_name(ty, bits)), values));
    }
    rows.push(Row::new(operation_name(form), trace.lanes.iter().map(|lane| Cell::value(lane.raw))));
    if let Some(range) = trace.saturation {
        let name = format!("sat {}{}", if range.signed { 's' } else { 'u' }, range.bits);
        rows.push(Row::new(name, trace.lanes.iter().map(|lane| Cell::clamped(lane.unsaturated(), lane.saturated))));
    }
    let star = |mask: Mask| lanes.clone().map(move |i| Cell::value(if mask.has(i) { "*" } else { "." }));
    let mut foot = "";
    match trace.end {
        End::Lanes(mask) if mask == Mask::full(shape) => {
            rows.push(result(trace));
            foot = "c has no effect: every lane is written";
        }
        End::Accumulate { mask, sum } => {
            if mask != Mask::full(shape) {
                rows.push(Row::new("mask", star(mask)));
            }
            let c_value = if form.is_signed() { i128::from(c as i32) } else { i128::from(c) };
            rows.push(Row::new("c", []).note(format!("{c:#010x}  {c_value}")));
            let terms: String = (0..shape.lanes())
                .rev()
                .filter(|&i| mask.has(i))
                .map(|i| match trace.lanes[i].saturated {
                    negative if negative < 0 => format!(" - {}", -negative),
                    term => format!(" + {term}"),
                })
                .collect();
            let exact = c_value + sum;
            let d = Row::new("d", []).kind(Kind::Result);
            rows.push(d.note(format!("{:#010x}  c{terms} = {exact}{}", trace.d, lower_bits_of(exact))));
        }
        End::Lanes(mask) => {
            rows.push(Row::new("mask", star(mask)));
            let kept = lanes.map(|i| {
                let cell = Cell::digits(digits(lane_bits(c, i, shape)));
                cell.with(if mask.has(i) { Emphasis::Dim } else { Emphasis::None })
            });
            rows.push(Row::new("c", kept));
            rows.push(result(trace));
        }
        End::Truncate | End::Secondary { .. } | End::Merge { .. } => {}
    }
    (rows, foot)
}

fn result(trace: &Trace) -> Row {
    let shape = trace.form.mnemonic().shape();
    let width = shape.bits() as usize / 4;
    let cells = (0..shape.lanes()).map(|i| format!("{:0width$x}", lane_bits(trace.d, i, shape)));
    let cells = cells.map(|digits| Cell::digits(digits).with(Emphasis::Strong));
    Row::new("d", cells).kind(Kind::Result).note(format!("{:#010x}", trace.d))
}

// Scalar forms: a line a stage.

/// The word in hexadecimal with brackets around a part: `1234[fff0]`.
fn bracketed(word: u32, shift: u32, bits: u32) -> String {
    let digits = format!("{word:08x}");
    if bits == 32 {
        return digits;
    }
    let (start, end) = ((32 - shift - bits) as usize / 4, (32 - shift) as usize / 4);
    format!("{}[{}]{}", &digits[..start], &digits[start..end], &digits[end..])
}

/// A row with digits, a value and a remark, each perhaps empty.
fn stage(label: impl Into<String>, digits: impl Into<String>, value: impl ToString, note: impl Into<String>) -> Row {
    Row::new(label, [Cell { digits: digits.into(), ..Cell::value(value) }]).note(note)
}

fn of_scalar(trace: &Trace) -> Vec<Row> {
    let form = trace.form;
    let lane = &trace.lanes[0];
    let mut rows = Vec::new();
    for (i, (name, selector)) in [("a", form.asel()), ("b", form.bsel())].into_iter().enumerate() {
        let input = lane.inputs[i];
        let label = format!("{name}{selector}  {}", type_name(input.ty, input.bits));
        let note = if i == 1 { shift_note(form, input.value) } else { String::new() };
        rows.push(stage(label, bracketed(trace.inputs[i], input.shift, input.bits), input.value, note));
    }
    rows.push(stage(operation_name(form), "", lane.raw, ""));
    if let (Some(mad), Variant::Mad(mode, scale)) = (lane.mad, form.variant()) {
        rows.extend(of_mad(trace, mad, mode));
        if let Some(scale) = scale {
            rows.push(stage(format!(">> {}", scale.bits()), "", mad.scaled, ""));
        }
    }
    if let Some(range) = trace.saturation {
        let name = format!("sat {}{}", if range.signed { 's' } else { 'u' }, range.bits);
        let (mut before, after) = (lane.unsaturated(), lane.saturated);
        if trace.semantics.deviations().concerning(form).has(Deviation::KeepsLow34) {
            let lower = before << (128 - 34) >> (128 - 34);
            if lower != before {
                rows.push(stage("lower 34 bits", "", lower, ""));
            }
            before = lower;
        }
        let note = match after {
            _ if before != after => format!("clamped from {before}"),
            _ if (range.min().into()..=range.max().into()).contains(&after) => "fits".into(),
            _ => "not clamped".into(),
        };
        rows.push(Row::new(name, [Cell::clamped(before, after)]).note(note));
    }
    rows.extend(end(trace, lane.saturated));
    rows
}

fn shift_note(form: Form, amount: i64) -> String {
    match form.variant() {
        Variant::Shift(ShiftMode::Clamp) if amount > 32 => "clamp: 32".into(),
        Variant::Shift(ShiftMode::Wrap) if amount > 31 => format!("wrap: {}", amount & 31),
        _ => String::new(),
    }
}

fn of_mad(trace: &Trace, mad: Mad, mode: MadMode) -> [Row; 2] {
    let c = trace.inputs[2];
    let value = if mode.negates_c() { -mad.addend } else { mad.addend };
    let name = match (mode.negates_c(), mad.plus_one) {
        (true, _) => "- c",
        (false, 0) => "+ c",
        (false, _) => "+ c + 1",
    };
    [stage(format!("c  {}", type_name(trace.c_type, 32)), format!("{c:08x}"), value, ""), stage(name, "", mad.sum, "")]
}

fn end(trace: &Trace, result: i128) -> Vec<Row> {
    let form = trace.form;
    let c = trace.inputs[2];
    let (mut rows, exact) = match trace.end {
        End::Secondary { operation, t, c: value, outcome } => {
            let mut rows = Vec::new();
            if t != result {
                rows.push(stage("lower 32 bits", format!("{:08x}", t as u32), t, ""));
            }
            rows.push(stage(format!("c  {}", type_name(trace.c_type, 32)), format!("{c:08x}"), value, ""));
            rows.push(stage(operation.name(), "", outcome, ""));
            (rows, outcome)
        }
        End::Merge { shift, bits, .. } => {
            let wrong = trace.semantics.deviations().concerning(form).has(Deviation::MergesWrongHalf);
            let which = if wrong { "upper" } else { "lower" };
            let merged = format!("the {which} {bits} bits of {result}");
            let rows = vec![
                stage("c", bracketed(c, shift, bits), "", "the part that is replaced"),
                stage("merge", bracketed(trace.d, shift, bits), "", merged),
            ];
            (rows, i128::from(trace.d))
        }
        End::Truncate | End::Lanes(_) | End::Accumulate { .. } => (Vec::new(), result),
    };
    let value = if form.is_signed() { i64::from(trace.d as i32) } else { i64::from(trace.d) };
    let d = Cell { digits: format!("{:08x}", trace.d), ..Cell::value(value) };
    let differs = exact != i128::from(trace.d) && exact != i128::from(trace.d as i32);
    let note = if differs { format!("the lower 32 bits of {exact}") } else { String::new() };
    rows.push(Row::new("d", [d.with(Emphasis::Strong)]).kind(Kind::Result).note(note));
    rows
}
