//! Values of d: by the manual, from the transcription of its pseudo code, and of ptxas's code, from the simulator.

use std::collections::BTreeMap;

use vop::{Form, scalar_forms};
use vop_tests::golden::value;
use vop_tests::{HASHED, Random, edge_rows, fnv1a, transcription};

use super::Answer;
use crate::sass::{Code, Toolchain};

/// The target whose code is executed. What the code computes does not depend on the target (docs/ptxas.md).
const TARGET: &str = "sm_90";

/// Rows of each form of `values.tsv`.
const ROWS_PER_FORM: usize = 5;

/// The code of each form, once.
fn codes<'a>(toolchain: &Toolchain, forms: impl Iterator<Item = &'a str>) -> Result<BTreeMap<&'a str, Code>, String> {
    let mut texts: Vec<&str> = forms.collect();
    texts.sort_unstable();
    texts.dedup();
    let codes = toolchain.compile(&texts, TARGET).map_err(|error| error.to_string())?;
    Ok(texts.into_iter().zip(codes).collect())
}

/// Whether the transcription reads a text: a form's, with modifiers in the order of the manual.
fn is_in_order(text: &str) -> bool {
    let Ok(form) = text.parse::<Form>() else { return false };
    let has_order = text.split(' ').next() == Some(form.opcode().to_string().as_str());
    has_order && (!text.contains('-') || form.mnemonic().name() == "vmad")
}

/// A value as the files write it.
fn word(cell: &str) -> Option<u32> {
    let digits = cell.strip_prefix("0x").filter(|digits| digits.len() == 8)?;
    u32::from_str_radix(digits, 16).ok()
}

/// The answers to rows whose first cells are form, a, b and c; `finish` makes a row from these and the value of ptxas's code.
fn executed(
    toolchain: &Toolchain,
    rows: &[Vec<&str>],
    finish: impl Fn(&[&str], [u32; 3], u32) -> String,
) -> Result<Vec<Answer>, String> {
    let has_inputs = |row: &[&str]| {
        row.len() >= 4 && row[1..3].iter().all(|cell| word(cell).is_some()) && (row[3] == "-" || word(row[3]).is_some())
    };
    let is_right = |row: &[&str]| is_in_order(row[0]) && has_inputs(row);
    let right = rows.iter().filter(|row| is_right(row)).map(|row| row[0]);
    let codes = codes(toolchain, right)?;
    let answer = |row: &Vec<&str>| {
        if !is_right(row) {
            return Answer::Fault(
                "it does not begin with a form, its modifiers in the order of the manual, and its inputs".into(),
            );
        }
        let inputs = [row[1], row[2], row[3]].map(value);
        match codes[row[0]].run(inputs[0], inputs[1], inputs[2]) {
            Ok(d) => Answer::Row(finish(row, inputs, d)),
            Err(why) => Answer::Fault(why.to_string()),
        }
    };
    Ok(rows.iter().map(answer).collect())
}

/// Of `values.tsv`: form, a, b, c, d by the manual, d by ptxas's code.
pub(super) fn values(toolchain: &Toolchain, rows: &[Vec<&str>]) -> Result<Vec<Answer>, String> {
    executed(toolchain, rows, |row, [a, b, c], d| {
        let manual = transcription::evaluate(row[0], a, b, c);
        // The operand c is written where the form uses it.
        let c = if row[0].parse::<Form>().is_ok_and(|form| form.uses_c()) { format!("{c:#010x}") } else { "-".into() };
        format!("{}\t{a:#010x}\t{b:#010x}\t{c}\t{manual:#010x}\t{d:#010x}", row[0])
    })
}

/// Of `device.tsv`: form, a, b, c, d, where. A GPU gave d; it must be what ptxas's code computes.
pub(super) fn device(toolchain: &Toolchain, rows: &[Vec<&str>]) -> Result<Vec<Answer>, String> {
    executed(toolchain, rows, |row, _, d| {
        let from = row.get(5).copied().unwrap_or_default();
        format!("{}\t{}\t{}\t{}\t{d:#010x}\t{from}", row[0], row[1], row[2], row[3])
    })
}

/// The scalar forms of each opcode, in the order of `scalar_forms`.
pub(super) fn opcodes() -> BTreeMap<String, Vec<Form>> {
    let mut opcodes: BTreeMap<String, Vec<Form>> = BTreeMap::new();
    scalar_forms().for_each(|form| opcodes.entry(form.opcode().to_string()).or_default().push(form));
    opcodes
}

/// Of `ptxas-hashes.tsv`: opcode, number of its forms, hash of what ptxas's code computes for them.
pub(super) fn hashes(
    toolchain: &Toolchain,
    opcodes: &BTreeMap<String, Vec<Form>>,
    rows: &[Vec<&str>],
) -> Result<Vec<Answer>, String> {
    let (seed, count) = HASHED;
    let inputs = edge_rows(&mut Random(seed), count);
    let forms = |row: &Vec<&str>| opcodes.get(row[0]).into_iter().flatten();
    let texts: Vec<String> = rows.iter().flat_map(forms).map(Form::to_string).collect();
    let mut codes = toolchain.compile(&texts, TARGET).map_err(|error| error.to_string())?.into_iter();
    let answer = |row: &Vec<&str>| {
        let Some(forms) = opcodes.get(row[0]) else { return Answer::Obsolete };
        let mut results = Vec::with_capacity(forms.len() * count);
        for (form, code) in forms.iter().zip(codes.by_ref().take(forms.len())) {
            for &[a, b, c] in &inputs {
                match code.run(a, b, c) {
                    Ok(d) => results.push(d),
                    Err(why) => return Answer::Fault(format!("{form}: {why}")),
                }
            }
        }
        Answer::Row(format!("{}\t{}\t{:016x}", row[0], forms.len(), fnv1a(results)))
    };
    Ok(rows.iter().map(answer).collect())
}

/// Texts of forms, half of them scalar and half SIMD, from the transcription's list and not from the library's. Those that ptxas
/// cannot read (the selector `.b1024`) are left out.
pub(super) fn random_forms(random: &mut Random, count: usize) -> Vec<String> {
    let scalar = transcription::all_scalar_forms();
    let mut forms = Vec::with_capacity(count);
    while forms.len() < count {
        let text = match forms.len() % 2 {
            0 => scalar[random.below(scalar.len())].clone(),
            _ => transcription::random_simd_form(&mut || random.next()),
        };
        // Selectors that are the default ones are not written.
        let form = vop::parse(&text).map(|instruction| instruction.form.to_string());
        forms.extend(form.ok());
    }
    forms
}

/// Form, a, b and c of `count` new rows of `values.tsv`.
pub(super) fn questions(random: &mut Random, count: usize) -> Vec<String> {
    let forms = random_forms(random, count.div_ceil(ROWS_PER_FORM));
    let mut rows: Vec<String> = Vec::new();
    for form in forms {
        for [a, b, c] in edge_rows(random, ROWS_PER_FORM) {
            rows.push(format!("{form}\t{a:#010x}\t{b:#010x}\t{c:#010x}"));
        }
    }
    rows.truncate(count);
    rows
}
