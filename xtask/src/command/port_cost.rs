//! `cargo xtask port-cost`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use vop::isa::form::Finish;
use vop::isa::range::Range;
use vop::isa::types::{Comparison, Mask, Operation, Secondary, Selector, Shape};
use vop::{Form, Mnemonic, Semantics};
use vop_tests::golden;

use super::Failure;
use super::process::{output, succeed};

/// Count the machine instructions of what `vop port` writes, beside plain C that computes lane by lane.
///
/// Both are compiled by gcc -O2 for x86-64 without vectorisation, and counted without `ret`, in the listing of objdump. The forms are golden
/// ones, without vshl, vshr and vmad. The plain C is written from the manual's pseudo code, and is run against evaluation first.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Take each N-th golden form.
    #[arg(long, default_value_t = 10)]
    every: usize,
    /// Take forms with default selectors that write all lanes instead.
    #[arg(long)]
    default_selectors: bool,
    /// The compiler.
    #[arg(long, default_value = "gcc")]
    cc: String,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let mut texts: Vec<String> = if args.default_selectors {
        let forms = Mnemonic::ALL.into_iter().flat_map(|mnemonic| mnemonic.forms_with_default_selectors());
        let whole = |form: &Form| match form.finish() {
            Finish::Merge(_) => false,
            Finish::Lanes(mask) | Finish::Accumulate(mask) => mask == Mask::full(form.mnemonic().shape()),
            Finish::Plain | Finish::Secondary(_) => true,
        };
        forms.filter(whole).map(|form| form.to_string()).collect()
    } else {
        golden::rows(golden::VALUES).map(|(_, row)| row[0].to_string()).collect()
    };
    texts.dedup();
    let target = "c".parse().map_err(|_| "there is no target c")?;
    let mut source = String::from("#include <stdint.h>\n");
    let mut compared: Vec<(Form, String, usize)> = Vec::new();
    for text in texts.into_iter().step_by(args.every.max(1)) {
        let form: Form = text.parse().map_err(|_| format!("{text} is not legal"))?;
        if let Some(body) = plain(form) {
            let port = vop_port::port(form, target, Semantics::Isa).map_err(|error| error.to_string())?;
            let _ = write!(source, "{}", port.text());
            let name = port.name();
            let _ = writeln!(
                source,
                "uint32_t plain_{name}(uint32_t a, uint32_t b, uint32_t c)\n{{\n    (void)c;\n{body}}}"
            );
            compared.push((form, name.to_string(), port.operations()));
        }
    }
    let path = folder.path().join("both.c");
    std::fs::write(&path, &source)?;
    check(folder.path(), &args.cc, &compared)?;
    let object = folder.path().join("both.o");
    succeed(
        Command::new(&args.cc)
            .args([
                "-std=c99",
                "-O2",
                "-fno-tree-vectorize",
                "-fno-tree-slp-vectorize",
                "-fcf-protection=none",
                "-c",
                "-o",
            ])
            .args([&object, &path]),
    )?;
    let listing = output(Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(&object))?;
    let counts = counts(&listing);
    let mut families: BTreeMap<&str, Vec<(f64, f64, f64)>> = BTreeMap::new();
    for (form, name, operations) in &compared {
        let of = |name: &str| counts.get(name).copied().filter(|count| *count > 0);
        let (Some(port), Some(plain)) = (of(name), of(&format!("plain_{name}"))) else {
            return Err(format!("{name} is not in the listing").into());
        };
        let row = (port as f64, plain as f64, *operations as f64);
        families.entry(form.mnemonic().name()).or_default().push(row);
        families.entry("all").or_default().push(row);
    }
    let mut out = std::io::stdout();
    writeln!(
        out,
        "| mnemonic | forms | operations | instructions | lane by lane | ratio |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for (name, rows) in &families {
        let mean = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
            (rows.iter().map(|row| of(row).ln()).sum::<f64>() / rows.len() as f64).exp()
        };
        let (port, plain) = (mean(&|row| row.0), mean(&|row| row.1));
        let operations = mean(&|row| row.2.max(1.0));
        writeln!(out, "| {name} | {} | {operations:.1} | {port:.1} | {plain:.1} | {:.2} |", rows.len(), port / plain)?;
    }
    Ok(())
}

/// The instructions of each function of a listing, without those that return or align.
fn counts(listing: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut name = String::new();
    for line in listing.lines() {
        if let Some(label) = line.strip_suffix(">:").and_then(|line| line.split_once('<')) {
            name = label.1.to_string();
        } else if let Some((_, instruction)) = line.split_once(":\t") {
            let opcode = instruction.split_whitespace().next().unwrap_or_default();
            if !(opcode.starts_with("ret")
                || opcode.starts_with("nop")
                || opcode == "data16"
                || opcode == "xchg"
                || opcode.starts_with("cs"))
            {
                *counts.entry(name.clone()).or_default() += 1;
            }
        }
    }
    counts
}

/// Runs the plain functions on edge values: what is compared must be right.
fn check(folder: &Path, compiler: &str, compared: &[(Form, String, usize)]) -> Result<(), Failure> {
    let mut random = vop_tests::Random::of(3);
    let mut text = String::from("#include \"both.c\"\n#include <stdio.h>\nint main(void)\n{\n    int wrong = 0;\n");
    for (form, name, _) in compared {
        for [a, b, c] in vop_tests::edge_rows(&mut random, 12) {
            let d = form.eval(a, b, c);
            let _ = writeln!(
                text,
                "    if (plain_{name}({a:#x}u, {b:#x}u, {c:#x}u) != {d:#x}u) {{ puts(\"{name}\"); wrong = 1; }}"
            );
        }
    }
    text.push_str("    return wrong;\n}\n");
    std::fs::write(folder.join("check.c"), text)?;
    let program = folder.join("check");
    succeed(Command::new(compiler).current_dir(folder).args(["-std=c99", "-O0", "-o"]).arg(&program).arg("check.c"))?;
    succeed(&mut Command::new(program))
}

/// A part of a register as a number.
fn field(register: &str, low: u32, range: Range) -> String {
    let shifted = if low == 0 { register.to_string() } else { format!("({register} >> {low})") };
    format!("({}int{}_t){shifted}", if range.signed { "" } else { "u" }, range.bits)
}

/// The body of a function that computes a form lane by lane; `None` for shifts and `vmad`.
fn plain(form: Form) -> Option<String> {
    let shape = form.mnemonic().shape();
    let operation = form.mnemonic().operation();
    let input = |second: bool, lane: usize| {
        let ty = if second { form.btype() } else { form.atype() };
        let selector = if second { form.bsel() } else { form.asel() };
        let own = if second { "b" } else { "a" };
        let of = |number: u8, count: u8| (if number < count { "a" } else { "b" }, u32::from(number % count));
        match selector {
            Selector::Word | Selector::Part(_) => {
                let (low, bits) = selector.place();
                field(own, low, Range::new(ty.is_signed(), bits))
            }
            Selector::Halves(lanes) => {
                let (register, number) = of(lanes[lane], 2);
                field(register, 16 * number, Range::new(ty.is_signed(), 16))
            }
            Selector::Bytes(lanes) => {
                let (register, number) = of(lanes[lane], 4);
                field(register, 8 * number, Range::new(ty.is_signed(), 8))
            }
        }
    };
    // Lanes fit an int, words do not.
    let ty = if shape == Shape::Scalar { "int64_t" } else { "int32_t" };
    let clamped = |t: &str| match form.saturation() {
        Some(range) => {
            let (least, most) = (range.min(), range.max());
            format!("    {t} = {t} < {least}LL ? ({ty}){least}LL : {t} > {most}LL ? ({ty}){most}LL : {t};\n")
        }
        None => String::new(),
    };
    let computed = |x: &str, y: &str| {
        Some(match operation {
            Operation::Add => format!("{x} + {y}"),
            Operation::Sub => format!("{x} - {y}"),
            Operation::Absdiff => format!("{x} < {y} ? {y} - {x} : {x} - {y}"),
            Operation::Min => format!("{x} < {y} ? {x} : {y}"),
            Operation::Max => format!("{x} > {y} ? {x} : {y}"),
            Operation::Avrg => format!("({x} + {y} + ({x} + {y} >= 0)) >> 1"),
            Operation::Set => {
                let relation = match form.comparison()? {
                    Comparison::Eq => "==",
                    Comparison::Ne => "!=",
                    Comparison::Lt => "<",
                    Comparison::Le => "<=",
                    Comparison::Gt => ">",
                    Comparison::Ge => ">=",
                };
                format!("{x} {relation} {y}")
            }
            Operation::Shl | Operation::Shr | Operation::Mad => return None,
        })
    };
    let mut text = String::new();
    let mut lane = |number: usize| -> Option<()> {
        let (x, y, t) = (format!("x{number}"), format!("y{number}"), format!("t{number}"));
        let _ = writeln!(text, "    const {ty} {x} = {}, {y} = {};", input(false, number), input(true, number));
        let _ = writeln!(text, "    {ty} {t} = {};", computed(&x, &y)?);
        text.push_str(&clamped(&t));
        Some(())
    };
    let end = match form.finish() {
        Finish::Plain => {
            lane(0)?;
            "    return (uint32_t)t0;\n".to_string()
        }
        Finish::Merge(part) => {
            lane(0)?;
            let mask = (u32::MAX >> (32 - part.bits())) << part.shift();
            format!("    return (c & ~{mask:#x}u) | ((uint32_t)t0 << {} & {mask:#x}u);\n", part.shift())
        }
        Finish::Secondary(secondary) => {
            lane(0)?;
            let c = if form.is_signed() { "(int64_t)(int32_t)c" } else { "(int64_t)c" };
            match secondary {
                Secondary::Add => "    return (uint32_t)t0 + c;\n".to_string(),
                Secondary::Min => format!("    return (uint32_t)(t0 < {c} ? t0 : {c});\n"),
                Secondary::Max => format!("    return (uint32_t)(t0 > {c} ? t0 : {c});\n"),
            }
        }
        Finish::Lanes(mask) => {
            let bits = shape.bits();
            let mut d = Vec::new();
            for number in 0..shape.lanes() {
                let place = (u32::MAX >> (32 - bits)) << (bits * number as u32);
                if mask.has(number) {
                    lane(number)?;
                    d.push(format!("((uint32_t)t{number} << {} & {place:#x}u)", bits * number as u32));
                } else {
                    d.push(format!("(c & {place:#x}u)"));
                }
            }
            format!("    return {};\n", d.join(" | "))
        }
        Finish::Accumulate(mask) => {
            let mut d = String::from("c");
            for number in (0..shape.lanes()).filter(|&number| mask.has(number)) {
                lane(number)?;
                let _ = write!(d, " + (uint32_t)t{number}");
            }
            format!("    return {d};\n")
        }
    };
    text.push_str(&end);
    Some(text)
}
