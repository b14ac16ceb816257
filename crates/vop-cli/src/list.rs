//! `vop list`.

use std::fmt::Write as _;
use std::io::Write;

use serde_json::{Value, json};
use vop::Mnemonic;
use vop::isa::table::Axis;
use vop::isa::types::{Comparison, PLUS_ONE, Part, SAT, Scale, Secondary, Shape, ShiftMode, Type};

use crate::output::Format;
use crate::{Failure, Outcome, output};

/// List the instructions, or all modifiers and selectors that one of them takes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  vop list
  vop list vadd4
  vop list --intrinsics")]
pub(crate) struct Args {
    /// A mnemonic, whose modifiers and selectors are shown.
    mnemonic: Option<String>,
    /// List CUDA's intrinsics, SIMD and integer ones, each with the instruction that computes it or most of it.
    #[arg(long, conflicts_with = "mnemonic")]
    intrinsics: bool,
    /// `text` or `json`.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// CUDA's intrinsics. `*` marks those that need something beside the instruction.
fn intrinsics(format: Format) -> Result<Outcome, Failure> {
    let mut out = output::stdout();
    let all = vop::Intrinsic::all();
    // A form without operands, which are those of every form.
    let short = |one: &vop::Intrinsic| {
        let text = one.instruction().unwrap_or_default();
        text.split(' ').next().unwrap_or_default().to_owned()
    };
    match format {
        Format::Json => {
            let all: Vec<Value> = all
                .iter()
                .map(|one| {
                    json!({
                        "intrinsic": one.to_string(),
                        "form": one.instruction().map(|_| short(one)),
                        "difference": one.difference(),
                    })
                })
                .collect();
            writeln!(out, "{:#}", Value::Array(all))?;
        }
        Format::Text => {
            for one in &all {
                let mark = if one.difference().is_some() { " *" } else { "" };
                let line = format!("{:<25} {}{mark}", one.to_string(), short(one));
                writeln!(out, "{}", line.trim_end())?;
            }
            writeln!(out, "\n* and something beside it: `vop explain` says what.")?;
        }
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    if args.intrinsics {
        return intrinsics(args.format);
    }
    let shown: Vec<Mnemonic> = match &args.mnemonic {
        None => Mnemonic::ALL.to_vec(),
        Some(name) => {
            // What is said of an unknown name is what `vop explain` says, with its exit status.
            let known = Mnemonic::from_name(name);
            vec![match known {
                Some(mnemonic) => mnemonic,
                None if name.contains(['.', ' ']) => {
                    return Err(Failure::Misuse(format!("`{name}` is not a mnemonic alone, such as `vadd4`")));
                }
                None => {
                    crate::instruction::read(name)?;
                    return Err(Failure::Misuse(format!("`{name}` is not a mnemonic; `vop list` prints them")));
                }
            }]
        }
    };
    let mut out = output::stdout();
    match args.format {
        Format::Json => {
            let all: Vec<Value> = shown.iter().map(|&mnemonic| data(mnemonic)).collect();
            writeln!(out, "{:#}", Value::Array(all))?;
        }
        Format::Text => match (&args.mnemonic, &shown[..]) {
            (Some(_), [one]) => out.write_all(full(*one).as_bytes())?,
            _ => {
                let width = output::width();
                for mnemonic in shown {
                    let row = mnemonic.row();
                    if width < 80 {
                        let rest = vop_draw::wrapped(&format!("{} ({})", row.summary, row.section), width - 11);
                        writeln!(out, "{:<10} {}", row.name, rest.replace('\n', &format!("\n{:11}", "")))?;
                    } else {
                        writeln!(out, "{:<10} {:<55} {}", row.name, row.summary, row.section)?;
                    }
                }
            }
        },
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

/// What a mnemonic takes, axis by axis: a heading and the spellings.
fn axes(mnemonic: Mnemonic) -> Vec<(&'static str, String)> {
    let shape = mnemonic.shape();
    let spell = |names: Vec<String>| names.join(" ");
    let mut axes = Vec::new();
    let types = spell(Type::ALL.iter().map(Type::to_string).collect());
    if mnemonic.allows(Axis::Dtype) {
        axes.push(("dtype", types.clone()));
    }
    axes.push(("atype", types.clone()));
    axes.push(("btype", if mnemonic.allows(Axis::Btype) { types } else { Type::U32.to_string() }));
    for (axis, heading, names) in [
        (Axis::Sat, "sat", vec![format!(".{SAT}")]),
        (Axis::PlusOne, "po", vec![format!(".{PLUS_ONE}")]),
        (Axis::Comparison, "cmp", Comparison::ALL.iter().map(Comparison::to_string).collect()),
        (Axis::ShiftMode, "mode", ShiftMode::ALL.iter().map(ShiftMode::to_string).collect()),
        (Axis::Scale, "scale", Scale::ALL.iter().map(Scale::to_string).collect()),
        (Axis::Secondary, "op2", Secondary::ALL.iter().map(Secondary::to_string).collect()),
        (Axis::Accumulate, "add", vec![Secondary::Add.to_string()]),
        (Axis::Merge, "dsel", Part::ALL.iter().map(Part::to_string).collect()),
    ] {
        if mnemonic.allows(axis) {
            axes.push((heading, spell(names)));
        }
    }
    let selectors = match shape {
        Shape::Scalar => spell(Part::ALL.iter().map(Part::to_string).collect()),
        Shape::Halves => ".hxy, x and y from 0 to 3; default .h10 on a, .h32 on b".into(),
        Shape::Bytes => ".bxyzw, each from 0 to 7; default .b3210 on a, .b7654 on b".into(),
    };
    match shape {
        Shape::Scalar => {}
        Shape::Halves => axes.push(("mask", ".h0 .h1 .h10; default .h10".into())),
        Shape::Bytes => axes.push(("mask", ".b0 .b1 .b10 .b2 .b20 … .b3210, highest first; default .b3210".into())),
    }
    axes.push(("asel", selectors.clone()));
    axes.push(("bsel", selectors));
    axes
}

fn full(mnemonic: Mnemonic) -> String {
    let row = mnemonic.row();
    let (major, minor) = mnemonic.row().version;
    let width = output::width();
    let wrapped =
        |text: &str, indent: usize| vop_draw::wrapped(text, width - indent).replace('\n', &format!("\n{:indent$}", ""));
    let syntax = wrapped(&format!("{}{}", row.name, row.syntax), 4);
    let mut text = format!("{}\n\n    {syntax}\n\n", wrapped(&format!("{}: {}", row.name, row.summary), 0));
    for (heading, spellings) in axes(mnemonic) {
        // Writing to a String does not fail.
        let _ = writeln!(text, "    {heading:<6} {}", wrapped(&spellings, 11));
    }
    let count = mnemonic.forms().count_left();
    let foot = format!(
        "{} forms. PTX ISA {}, .version {major}.{minor}, .target sm_{} and up.",
        vop::grouped(count),
        row.section,
        mnemonic.row().target
    );
    let _ = writeln!(text, "\n{}", wrapped(&foot, 0));
    text
}

fn data(mnemonic: Mnemonic) -> Value {
    let row = mnemonic.row();
    let (major, minor) = mnemonic.row().version;
    json!({
        "mnemonic": row.name,
        "summary": row.summary,
        "syntax": format!("{}{}", row.name, row.syntax),
        "section": row.section,
        "version": format!("{major}.{minor}"),
        "target": format!("sm_{}", mnemonic.row().target),
        "forms": mnemonic.forms().count_left(),
        "axes": axes(mnemonic).into_iter().map(|(heading, spellings)| (heading.to_string(), json!(spellings))).collect::<serde_json::Map<_, _>>(),
    })
}
