//! `vop parse`.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use vop::{Diagnostic, Instruction, Parser, Registers};

use crate::output::Format;
use crate::{Failure, Outcome, json, output};

/// Read instructions, and print their canonical text or what is wrong with them.
///
/// Each text gives one line, in order: OK, a tab and the canonical text; or ERR, a tab, the code of its first error, a
/// tab and its message. A text is one instruction, or several with declarations, labels and blocks between them, exactly
/// as ptxas accepts it. Exit status 1 if any is refused.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  vop parse 'vadd4.sat.u32.s32.s32 d, a.b3210, b, c'
  vop parse --declare '.reg .b32 %r<9>; .reg .f32 %f1;' 'vadd.u32.u32.u32 %r1, %f1, %r2;'
  grep -h vset kernels/*.ptx | vop parse -")]
pub(crate) struct Args {
    /// Instruction texts; `-` reads one a line from standard input.
    #[arg(default_value = "-")]
    text: Vec<String>,
    /// Check operands against these declarations, `.reg .b32 a, b; .reg .pred p;`. Without, any identifier is a 32-bit register.
    #[arg(long, value_name = "REGS")]
    declare: Option<String>,
    /// `text`, or `json`: one object per line with all errors.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let registers = match &args.declare {
        Some(text) => Some(text.parse::<Registers>().map_err(|faults| {
            output::diagnostics(&faults, text);
            Failure::Misuse("--declare: not register declarations".into())
        })?),
        None => None,
    };
    let mut parser = Parser::new().allow_bare();
    if let Some(registers) = &registers {
        parser = parser.with_registers(registers);
    }
    let mut out = output::stdout();
    let mut refused = false;
    for text in &args.text {
        if text != "-" {
            refused |= !one(&parser, text, args.format, &mut out)?;
            continue;
        }
        let mut lines = output::Lines::open(Path::new("-"))?;
        let mut succession = output::Refused::default();
        while let Some(line) = lines.next_bytes()? {
            // A line that cannot be taken is no instruction.
            let line = line.unwrap_or_default();
            let is_refused = !one(&parser, &vop_ptx::uses::text(line), args.format, &mut out)?;
            refused |= is_refused;
            succession.count(is_refused)?;
        }
    }
    out.flush()?;
    Ok(if refused { Outcome::Findings } else { Outcome::Fine })
}

fn one(parser: &Parser<'_>, text: &str, format: Format, out: &mut impl Write) -> Result<bool, Failure> {
    let parsed = match parser.parse_all(text) {
        // None at all: `parse` says so.
        Ok(instructions) if instructions.is_empty() => parser.parse(text).map(|one| vec![one]),
        parsed => parsed,
    };
    // Through a string, since a formatter's many small pieces each cost a call to the output.
    let line = match format {
        Format::Text => as_text(&parsed),
        Format::Json => as_json(&parsed, text).to_string(),
    };
    out.write_all(line.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(parsed.is_ok())
}

type Parsed<'t> = Result<Vec<Instruction<'t>>, Vec<Diagnostic>>;

fn as_text(parsed: &Parsed<'_>) -> String {
    match parsed {
        Ok(instructions) => {
            let mut line = String::with_capacity(80);
            line.push_str("OK\t");
            for (i, instruction) in instructions.iter().enumerate() {
                line.push_str(if i > 0 { "; " } else { "" });
                // Writing to a String does not fail.
                let _ = write!(line, "{instruction}");
            }
            line
        }
        Err(faults) => match faults.first() {
            Some(first) => format!("ERR\t{}\t{}", first.code, output::field(&first.message)),
            None => String::new(),
        },
    }
}

fn as_json(parsed: &Parsed<'_>, text: &str) -> Value {
    match parsed {
        Ok(instructions) => {
            let canonical: Vec<String> = instructions.iter().map(Instruction::to_string).collect();
            let forms: Vec<String> = instructions.iter().map(|one| one.form.to_string()).collect();
            json!({ "text": text, "ok": true, "canonical": canonical.join("; "), "forms": forms, "diagnostics": [] })
        }
        Err(faults) => {
            let faults: Vec<_> = faults.iter().map(json::diagnostic).collect();
            json!({ "text": text, "ok": false, "diagnostics": faults })
        }
    }
}
