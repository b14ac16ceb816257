//! A script for a machine with a GPU: it checks there that lowered instructions are right, and times them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vop::lower::{LowerOptions, Needs};
use vop::{Form, Registers, Semantics, Target};
use vop_tests::golden;

/// The script, with marks for the target and for its data.
const SCRIPT: &str = include_str!("script.py");

/// A Python script that needs nothing but NVIDIA's driver.
pub fn script(target: Target) -> String {
    let data = data(target).to_string();
    // Forms and PTX hold neither quotes nor backslashes, so that JSON can stand in a raw string.
    SCRIPT.replace("@TARGET@", &target.to_string()).replace("@DATA@", &data)
}

fn data(target: Target) -> Value {
    let mut rows: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (_, row) in golden::rows(golden::VALUES) {
        let form: Form = row[0].parse().expect("golden forms are legal");
        let [a, b, c] = [1, 2, 3].map(|column| golden::value(row[column]));
        let values = [Semantics::Isa, Semantics::Ptxas, Semantics::PtxasTo13_2].map(|by| form.eval_as(by, a, b, c));
        rows.entry(row[0]).or_default().push(json!([a, b, c, values[0], values[1], values[2]]));
    }
    let forms: Vec<Value> = rows
        .into_iter()
        .map(|(text, rows)| {
            let form: Form = text.parse().expect("golden forms are legal");
            let [isa, ptxas] = [Semantics::Isa, Semantics::Ptxas].map(|semantics| lowered(form, target, semantics));
            json!({ "form": text, "rows": rows, "as_is": as_is(form), "isa": isa, "ptxas": ptxas })
        })
        .collect();
    let used: Vec<Value> = most_used()
        .into_iter()
        .map(|form| {
            let lowered = lowered(form, target, Semantics::Isa);
            json!({ "form": form.to_string(), "as_is": as_is(form), "lowered": lowered })
        })
        .collect();
    let (major, minor) = version(target);
    json!({ "target": target.to_string(), "version": format!("{major}.{minor}"), "forms": forms, "used": used })
}

/// The ten forms that most public projects use, with operands that are registers.
pub fn most_used() -> Vec<Form> {
    golden::rows(golden::USES).filter_map(|(_, row)| row[0].parse().ok()).take(10).collect()
}

/// The instruction with its semicolon, over d, a, b and c.
fn as_is(form: Form) -> String {
    format!("{form};")
}

/// The block that replaces the instruction, over d, a, b and c.
fn lowered(form: Form, target: Target, semantics: Semantics) -> String {
    let options = LowerOptions::new(target).with_semantics(semantics).with_version(version(target));
    let text = form.to_string();
    let instruction = vop::parse(&text).expect("a form prints what is read again");
    form.lower(options).block(&instruction, &Registers::default()).one_line()
}

/// The PTX version that the target came with, or that its packed instructions need.
fn version(target: Target) -> (u8, u8) {
    let came_with = match target.number() {
        75 => (6, 3),
        80 => (7, 0),
        86 | 87 => (7, 4),
        89 | 90 => (7, 8),
        100 => (8, 6),
        120 => (8, 7),
        _ => (8, 8),
    };
    let packed = match (target.number(), target.has_family()) {
        (120.., true) => (9, 2),
        (90.., _) => (8, 0),
        _ => (6, 5),
    };
    let least: (u8, u8) = Needs::NOTHING.version;
    came_with.max(packed).max(least)
}
