//! `vop explain`: instructions, mnemonics (page.rs) and codes.

mod page;

use std::io::Write;

use serde_json::json;
use vop::{Code, Mnemonic, RunErrorKind, Severity};
use vop_port::Intrinsic;

use crate::output::Format;
use crate::{Failure, Outcome, instruction, output};

/// Show what an instruction does, stage by stage, what a mnemonic has, or what a diagnostic's code means.
///
/// Of an instruction it draws select, operate, saturate and the last stage lane by lane, on the values given or on values that
/// show every stage. Of a mnemonic it shows the syntax, each modifier and operand, and an example.
#[derive(clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  vop explain vadd4.s32.s32.u32.sat
  vop explain vadd4
  vop explain 'vadd4.s32.s32.u32.sat d.b20, a, b, c' 0x12f48056 0xff7f8001 0x64
  vop explain __vsubss4
  vop explain V0207
  vop explain --list"
)]
pub(crate) struct Args {
    /// The instruction, with or without operands, a mnemonic such as vadd4, a SIMD intrinsic of CUDA such as __vsubss4, or a code
    /// such as V0207.
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    instr: Option<String>,
    /// The values of registers a, b and, if the form reads it, c.
    #[arg(value_name = "A B [C]", conflicts_with = "list")]
    values: Vec<String>,
    /// List all codes, with severity and title.
    #[arg(long)]
    list: bool,
    /// `text`, or `json`: the stages as data.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    semantics: instruction::SemanticsArg,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let width = output::width();
    let text = match args.instr.as_deref() {
        None => list(args.format, width),
        Some(name) if is_code(name) => {
            if !args.values.is_empty() {
                return Err(Failure::Misuse("a code takes no values".into()));
            }
            explain_code(name, args.format, width)?
        }
        Some(name) if Intrinsic::from_name(name.trim()).is_some() => explain_intrinsic(name.trim(), &args, width)?,
        Some(name) => match Mnemonic::from_name(name.trim()) {
            Some(mnemonic) if args.values.is_empty() => match args.format {
                Format::Text => page::drawn(mnemonic, width),
                Format::Json => format!("{:#}\n", page::data(mnemonic)),
            },
            Some(mnemonic) => {
                let why = format!("values need an instruction with its types, and `{mnemonic}` is a mnemonic alone");
                return Err(Failure::Misuse(format!("{why}; `vop explain {mnemonic}` shows an example")));
            }
            None => explain_instruction(name, &args, width)?,
        },
    };
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Outcome::Fine)
}

fn explain_instruction(text: &str, args: &Args, width: usize) -> Result<String, Failure> {
    let instruction = instruction::read(text)?;
    let semantics = args.semantics.semantics;
    let values: Vec<&str> = args.values.iter().map(String::as_str).collect();
    let [a, b, c] = if values.is_empty() {
        instruction.telling_inputs(semantics)
    } else {
        instruction::inputs(&instruction, &values).map_err(Failure::Misuse)?
    };
    let trace = instruction.form.explain_as(semantics, a, b, c);
    // What ptxas's code computes is no intrinsic's business.
    let intrinsics = Intrinsic::of_form(instruction.form);
    Ok(match args.format {
        Format::Text => {
            let mut text = vop_draw::explanation_within(&trace, instruction.operand_values(), width);
            if !intrinsics.is_empty() {
                let names: Vec<String> = intrinsics.iter().map(|one| format!("`{one}`")).collect();
                let with = match intrinsics.iter().find_map(Intrinsic::difference) {
                    Some(_) => ", if c is 0",
                    None => "",
                };
                let sentence = format!("CUDA C has {} for it{with}.", names.join(" and "));
                text.push_str(&format!("\n{}\n", vop_draw::wrapped(&sentence, width)));
            }
            text
        }
        Format::Json => {
            let mut stages = json!(vop_draw::stages(&trace));
            if !intrinsics.is_empty() {
                stages["intrinsics"] = intrinsics.iter().map(|one| one.name()).collect();
            }
            format!("{stages:#}\n")
        }
    })
}

/// An intrinsic of CUDA, and the form that computes it or most of it.
fn explain_intrinsic(name: &str, args: &Args, width: usize) -> Result<String, Failure> {
    let Some(intrinsic) = Intrinsic::from_name(name) else { return Ok(String::new()) };
    if !args.values.is_empty() {
        let form = intrinsic.form().map(|form| form.opcode().to_string()).unwrap_or_default();
        return Err(Failure::Misuse(format!("an intrinsic takes no values here; `vop explain {form}` takes them")));
    }
    let form = intrinsic.form().map(|form| form.to_string());
    let difference = intrinsic.difference();
    Ok(match args.format {
        Format::Json => {
            let value = json!({
                "intrinsic": name,
                "words": intrinsic.describe(),
                "parameters": intrinsic.parameters(),
                "form": form,
                "difference": difference,
                "operations": intrinsic.code().operations(),
            });
            format!("{value:#}\n")
        }
        Format::Text => {
            let parameters = ["a", "a, b", "a, b, c"][intrinsic.parameters().clamp(1, 3) - 1];
            let mut text = format!("\x1b[1m{name}({parameters})\x1b[0m\n\n");
            let mut say = |sentence: &str| {
                text.push_str(&vop_draw::wrapped(sentence, width));
                text.push('\n');
            };
            say(&intrinsic.describe());
            if let Some(form) = form {
                say(&format!("\nIn PTX: `{form}`"));
                say(&difference.unwrap_or_else(|| "It computes the intrinsic as it is; c may be any register.".into()));
            }
            say(&format!("\n`vop port {name} --to c` writes it in plain operations."));
            text
        }
    })
}

/// All codes: of texts and files, then of runs, in order.
fn codes() -> Vec<(&'static str, Severity, &'static str)> {
    let of_texts = Code::ALL.iter().map(|code| (code.name(), code.severity(), code.title()));
    let of_runs = RunErrorKind::ALL.iter().map(|kind| (kind.code(), Severity::Error, kind.title()));
    let mut codes: Vec<_> = of_texts.chain(of_runs).collect();
    codes.sort_unstable_by_key(|(code, ..)| *code);
    codes
}

fn list(format: Format, width: usize) -> String {
    const INDENT: usize = 17;
    match format {
        Format::Text => {
            let line = |(code, severity, title): (&str, Severity, &str)| {
                let title = vop_draw::wrapped(title, width - INDENT).replace('\n', &format!("\n{:INDENT$}", ""));
                format!("{code}   {:<9}{title}\n", severity.name())
            };
            codes().into_iter().map(line).collect()
        }
        Format::Json => {
            let all = codes()
                .into_iter()
                .map(|(code, severity, title)| json!({ "code": code, "severity": severity.name(), "title": title }));
            format!("{:#}\n", serde_json::Value::from_iter(all))
        }
    }
}

/// Whether it looks like a diagnostic's code, `V0207`.
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix(['V', 'v']).unwrap_or_default();
    // One with too few digits is meant as a code, too: no mnemonic has the form.
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The code that was probably meant: a digit is missing or too many, or it is the nearest number.
fn nearest_code(name: &str) -> Option<&'static str> {
    let digits = &name[1..];
    let one_off = |code: &str| {
        let (short, long) = if digits.len() < code.len() { (digits, code) } else { (code, digits) };
        long.len() == short.len() + 1 && (0..long.len()).any(|i| long[..i] == short[..i] && long[i + 1..] == short[i..])
    };
    let number: u32 = digits.parse().ok()?;
    let codes = codes();
    let one = codes.iter().map(|(code, ..)| *code).filter(|code| one_off(&code[1..]));
    let distance = |code: &&str| code[1..].parse::<u32>().map_or(u32::MAX, |other| other.abs_diff(number));
    let near = codes.iter().map(|(code, ..)| *code).min_by_key(distance).filter(|code| distance(code) <= 100);
    one.min_by_key(distance).or(near)
}

fn explain_code(name: &str, format: Format, width: usize) -> Result<String, Failure> {
    let of_text = Code::from_name(name).map(|code| (code.name(), code.severity(), code.title(), code.explanation()));
    let of_run = || {
        let kind = RunErrorKind::from_code(name)?;
        Some((kind.code(), Severity::Error, kind.title(), kind.explanation()))
    };
    let Some((code, severity, title, explanation)) = of_text.or_else(of_run) else {
        let meant = nearest_code(name).map_or(String::new(), |code| format!(" did you mean {code}?"));
        return Err(Failure::Misuse(format!(
            "there is no code `{name}`;{meant} `vop explain --list` prints all codes"
        )));
    };
    Ok(match format {
        Format::Text => vop_draw::code_within(code, severity, title, explanation, width),
        Format::Json => {
            let data = json!({ "code": code, "severity": severity.name(), "title": title, "explanation": explanation });
            format!("{data:#}\n")
        }
    })
}
