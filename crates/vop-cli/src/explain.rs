//! `vop explain`.

use std::io::Write;

use serde_json::json;
use vop::RunErrorKind;
use vop::{Code, Severity};

use crate::output::Format;
use crate::{Failure, Outcome, instruction};

/// Show what an instruction does, stage by stage, or what a diagnostic's code means.
///
/// Draws select, operate, saturate and the last stage lane by lane, on the values given or on ones that show every stage.
#[derive(clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  vop explain vadd4.s32.s32.u32.sat
  vop explain 'vadd4.s32.s32.u32.sat d.b20, a, b, c' 0x12f48056 0xff7f8001 0x64
  vop explain V0207"
)]
pub(crate) struct Args {
    /// The instruction, with or without operands, or a code such as V0207.
    instr: String,
    /// The values of registers a, b and, if the form uses it, c.
    #[arg(value_name = "A B [C]")]
    values: Vec<String>,
    /// `text`, or `json`: the stages as data.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    semantics: instruction::SemanticsArg,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let text = if is_code(&args.instr) {
        if !args.values.is_empty() {
            return Err(Failure::Misuse("a code takes no values".into()));
        }
        explain_code(&args.instr, args.format)?
    } else {
        let instruction = instruction::read(&args.instr)?;
        let form = instruction.form;
        let semantics = args.semantics.semantics;
        let values: Vec<&str> = args.values.iter().map(String::as_str).collect();
        let [a, b, c] = if values.is_empty() {
            instruction.telling_inputs(semantics)
        } else {
            instruction::inputs(&instruction, &values).map_err(Failure::Misuse)?
        };
        let trace = form.explain_as(semantics, a, b, c);
        match args.format {
            Format::Text => vop_draw::explanation(&trace, instruction.operand_values()),
            Format::Json => format!("{:#}\n", vop_draw::stages(&trace)),
        }
    };
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Outcome::Fine)
}

/// Whether it looks like a diagnostic's code, `V0207`.
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix(['V', 'v']).unwrap_or_default();
    digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn explain_code(name: &str, format: Format) -> Result<String, Failure> {
    let of_text = Code::from_name(name).map(|code| (code.name(), code.severity(), code.title(), code.explanation()));
    let of_run = || {
        let kind = RunErrorKind::from_code(name)?;
        Some((kind.code(), Severity::Error, kind.title(), kind.explanation()))
    };
    let Some((code, severity, title, explanation)) = of_text.or_else(of_run) else {
        return Err(Failure::Misuse(format!("there is no code `{name}`")));
    };
    Ok(match format {
        Format::Text => vop_draw::code(code, severity, title, explanation),
        Format::Json => {
            let data = json!({ "code": code, "severity": severity.name(), "title": title, "explanation": explanation });
            format!("{data:#}\n")
        }
    })
}
