//! `vop explain`: instructions, mnemonics and codes.

use std::io::Write;

use serde_json::json;
use vop::{Code, Intrinsic, Mnemonic, RunErrorKind, Semantics, Severity};
use vop_port::{Base, Request, RequestError, Source};

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
  vop explain prmt
  vop explain V0207
  vop explain --list"
)]
pub(crate) struct Args {
    /// The instruction, with or without operands, a mnemonic such as vadd4, an intrinsic of CUDA such as __vsubss4, or a code
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
                Format::Text => vop_draw::mnemonic::page_within(mnemonic, width),
                Format::Json => format!("{:#}\n", vop_draw::mnemonic::data(mnemonic)),
            },
            Some(mnemonic) => {
                let why = format!("values need an instruction with its types, and `{mnemonic}` is a mnemonic alone");
                return Err(Failure::Misuse(format!("{why}; `vop explain {mnemonic}` shows an example")));
            }
            None => match base_instructions(name)? {
                bases if bases.is_empty() => explain_instruction(name, &args, width)?,
                bases => explain_bases(name.trim(), &bases, &args, width)?,
            },
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

/// Sentences, each on lines of its own.
struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn titled(title: &str, width: usize) -> Page {
        Page { text: format!("\x1b[1m{title}\x1b[0m\n\n"), width }
    }

    fn say(&mut self, sentence: &str) {
        self.text.push_str(&vop_draw::wrapped(sentence, self.width));
        self.text.push('\n');
    }
}

/// An intrinsic of CUDA, and the instruction that computes it or most of it.
fn explain_intrinsic(name: &str, args: &Args, width: usize) -> Result<String, Failure> {
    let Some(intrinsic) = Intrinsic::from_name(name) else { return Ok(String::new()) };
    let instruction = intrinsic.instruction();
    if !args.values.is_empty() {
        let takes = intrinsic.form().map(|form| format!("; `vop explain {}` takes them", form.opcode()));
        return Err(Failure::Misuse(format!("an intrinsic takes no values here{}", takes.unwrap_or_default())));
    }
    let difference = intrinsic.difference();
    Ok(match args.format {
        Format::Json => {
            let value = json!({
                "intrinsic": intrinsic.to_string(),
                "words": intrinsic.describe(),
                "parameters": intrinsic.parameters(),
                "form": instruction,
                "difference": difference,
                "operations": vop_port::code_of_intrinsic(&intrinsic, true).operations(),
            });
            format!("{value:#}\n")
        }
        Format::Text => {
            let parameters = match intrinsic.types() {
                Some(_) => "",
                None => ["(a)", "(a, b)", "(a, b, c)"][intrinsic.parameters().clamp(1, 3) - 1],
            };
            let mut page = Page::titled(&format!("{intrinsic}{parameters}"), width);
            page.say(&intrinsic.describe());
            if let Some(instruction) = instruction {
                page.say(&format!("\nIn PTX: `{instruction}`"));
                let same = match intrinsic.is_simd() {
                    true => "It computes the intrinsic as it is; c may be any register.",
                    false => "It computes the intrinsic as it is.",
                };
                page.say(&difference.unwrap_or_else(|| same.into()));
                if let Some(form) = intrinsic.form().filter(|form| form.to_string() != instruction) {
                    page.say(&format!("`{form}` computes it, too."));
                }
            }
            let others = intrinsic.overloads().into_iter().filter(|other| *other != intrinsic);
            let others: Vec<String> = others.map(|other| format!("`{other}`")).collect();
            if !others.is_empty() {
                page.say(&format!("\nIt is overloaded: there are {} as well.", others.join(", ")));
            }
            let quoted = if intrinsic.types().is_some() { format!("'{intrinsic}'") } else { intrinsic.to_string() };
            page.say(&format!("\n`vop port {quoted} --to c` writes it in plain operations."));
            page.text
        }
    })
}

/// The base instructions that a text names: a mnemonic, or an instruction. None if it is a video instruction.
fn base_instructions(text: &str) -> Result<Vec<Base>, Failure> {
    let name = text.trim();
    if Base::is_mnemonic(name) {
        return Ok(Base::opcodes(Some(name)).iter().filter_map(|opcode| Base::sample(opcode)).collect());
    }
    // One that needs a constant, or more registers than functions have.
    if let Some(base) = Base::sample(name) {
        return Ok(vec![base]);
    }
    match Request::read(text, Semantics::Isa) {
        Ok(Request { source: Source::Base(base), .. }) => Ok(vec![base]),
        Err(error @ RequestError::Other { .. }) if !name.starts_with("__") => {
            instruction::say_refused(&error, text);
            Err(Failure::Said)
        }
        _ => Ok(Vec::new()),
    }
}

/// The intrinsics of which a base instruction computes most.
fn similar(base: &Base) -> Vec<Intrinsic> {
    let is_like = |one: &Intrinsic| {
        let instruction = one.instruction().unwrap_or_default();
        one.difference().is_some() && instruction.split(' ').next() == Some(base.opcode())
    };
    Intrinsic::all().into_iter().filter(is_like).collect()
}

/// Base instructions, which `vop port` writes, and which are no video instructions.
fn explain_bases(text: &str, bases: &[Base], args: &Args, width: usize) -> Result<String, Failure> {
    if !args.values.is_empty() {
        return Err(Failure::Misuse("a base instruction takes no values here".into()));
    }
    let intrinsics = |base: &Base| Intrinsic::of_opcode(base.opcode());
    Ok(match args.format {
        Format::Json => {
            let all = bases.iter().map(|base| {
                json!({
                    "instruction": base.text(),
                    "words": base.describe(),
                    "section": base.section(),
                    "intrinsics": intrinsics(base).iter().map(|one| one.to_string()).collect::<Vec<_>>(),
                    "operations": base.code().operations(),
                })
            });
            format!("{:#}\n", serde_json::Value::from_iter(all))
        }
        Format::Text => {
            let title = if bases.len() > 1 { text.to_owned() } else { bases[0].text() };
            let mut page = Page::titled(&title, width);
            page.say(&format!(
                "A base instruction of PTX, and no video instruction. PTX ISA manual, section {}.\n",
                bases[0].section()
            ));
            for base in bases {
                let before = if bases.len() > 1 { format!("`{}`: ", base.text()) } else { String::new() };
                page.say(&format!("{before}{}", base.describe()));
            }
            let names: Vec<String> = bases.iter().flat_map(intrinsics).map(|one| format!("`{one}`")).collect();
            if !names.is_empty() {
                page.say(&format!("\nCUDA C has {}.", names.join(", ")));
            }
            for other in bases.iter().flat_map(similar) {
                page.say(&format!("\nCUDA C has `{other}`, which differs: `vop explain {other}` says how."));
            }
            let first = bases[0].text();
            let quoted = match bases[0].parameters().count() == bases[0].arity() {
                true => bases[0].opcode().to_owned(),
                false => format!("'{first}'"),
            };
            page.say(&format!("\n`vop port {quoted} --to c` writes it in plain operations."));
            page.text
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
