//! `vop lower`.

mod source;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use vop::lower::{LowerOptions, Lowering, Needs};
use vop::{Code, Diagnostic, Form, Instruction, Parser, Places, Registers, Semantics, Target};
use vop_draw::{Lines, SourceText};
use vop_ptx::module::Module;
use vop_ptx::rewrite::{Rewrite, RewriteError, RewriteOptions, Rewritten, rewrite};

use crate::output::Format;
use crate::progress::Progress;
use crate::{Failure, Outcome, instruction, output};

/// Rewrite video instructions as ordinary PTX that takes fewer machine instructions.
///
/// Of a module: writes the PTX module with each video instruction as a comment, followed by a block that computes the same value for every
/// input. An instruction that is cheapest as it is stays, and no other byte changes. A table on standard error shows the
/// savings, in machine instructions of ptxas 13.5.
///
/// Only what the module's `.version` and `.target` allow is used. With --raise both are raised where a cheaper sequence
/// needs that: the result then needs a newer ptxas, or runs on newer GPUs only. (A newer `.version` also refuses a few
/// old instructions that the module may hold, such as `shfl` without `.sync`.)
///
/// Of sources in CUDA C++, OpenCL, Python, Rust and LLVM IR: a block of ordinary PTX takes the place of each video instruction in its
/// string. The changes are printed as a diff, or with --write are made. What cannot be rewritten stays, and is reported with the reason.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  vop lower kernel.ptx --target sm_90 -o lowered.ptx
  nvcc -ptx kernel.cu -o - | vop lower - --target sm_120f --raise > lowered.ptx
  vop lower src/ --target sm_90 --write
  vop lower --instr 'vabsdiff4.u32.s32.s32.add d, a, b, c' --target sm_75
  vop lower --batch forms.txt --target sm_90 --format json")]
pub(crate) struct Args {
    /// A PTX module, or `-` for one from standard input; or sources, files and folders.
    #[arg(value_name = "FILE", required_unless_present_any = ["instr", "batch"], conflicts_with_all = ["instr", "batch"])]
    files: Vec<PathBuf>,
    /// The GPU: sm_75 … sm_121; sm_120f and the like allow instructions that only GPUs of that family have.
    #[arg(long, value_name = "TARGET")]
    target: Target,
    /// Write the module to this file instead of standard output (`-`).
    #[arg(short, long, value_name = "OUT", conflicts_with_all = ["instr", "batch"])]
    output: Option<PathBuf>,
    /// Allow the module's `.version` and `.target` to be raised where cheaper instructions need it.
    #[arg(long, conflicts_with_all = ["instr", "batch"])]
    raise: bool,
    #[command(flatten)]
    semantics: instruction::SemanticsArg,
    /// Print no table and no notes; warnings and errors stay.
    #[arg(short, long)]
    quiet: bool,
    /// Lower this one instruction, with or without operands, and print the result.
    #[arg(long, value_name = "INSTR", conflicts_with = "batch")]
    instr: Option<String>,
    /// Lower the instruction of each line of a file (`-` for standard input) and print a line for each: form, block and
    /// cost, or an error. Exit status 1 if there is an error.
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// Of sources: write the changed files instead of a diff. Nothing is written if one of them cannot be.
    #[arg(long, conflicts_with_all = ["instr", "batch"])]
    write: bool,
    /// With --instr and --batch: `text`, or `json`. Of sources `json` is an object for each file, one a line.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The output language.
    #[arg(long, value_enum, default_value_t)]
    emit: Emit,
}

impl Args {
    /// The file that is lowered.
    pub(crate) fn input(&self) -> Option<&Path> {
        match &self.files[..] {
            [only] => Some(only),
            _ => self.batch.as_deref(),
        }
    }
}

/// An output language.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Emit {
    /// PTX.
    #[default]
    Ptx,
}

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    // The one language there is.
    let Emit::Ptx = args.emit;
    let semantics = args.semantics.semantics;
    let mut lowerer =
        Lowerer { options: LowerOptions::new(args.target).with_semantics(semantics), known: HashMap::new() };
    match (&args.instr, &args.batch, &args.files[..]) {
        (Some(text), ..) => one(text, &mut lowerer, args.format),
        (_, Some(path), _) => batch(output::Lines::open(path)?, &mut lowerer, args.format),
        (_, _, [path]) if !source::is_source(path) => {
            if args.write {
                return Err(Failure::Misuse("--write is for sources: a module is written by --output".into()));
            }
            if let Format::Json = args.format {
                return Err(Failure::Misuse("--format json is for sources, --instr and --batch".into()));
            }
            let options = RewriteOptions::new(args.target).semantics(semantics).may_raise(args.raise);
            module(path, args.output.as_deref(), options, args.quiet)
        }
        _ => source::run(&args),
    }
}

// One instruction, or one a line.

/// Lowers instructions, each form once.
struct Lowerer {
    options: LowerOptions,
    known: HashMap<Form, Lowering>,
}

/// More than this is not kept: a list of all forms would take gigabytes.
const KEPT: usize = 1 << 16;

impl Lowerer {
    /// The lowering of a form, if one is known that computes the wanted values.
    fn lower(&mut self, form: Form) -> Result<&Lowering, String> {
        if self.known.len() >= KEPT && !self.known.contains_key(&form) {
            self.known.clear();
        }
        let lowering = self.known.entry(form).or_insert_with(|| form.lower(self.options));
        if lowering.exact {
            Ok(lowering)
        } else {
            Err(format!("ptxas's code for `{form}` computes other values, and no rule computes the wanted ones"))
        }
    }
}

fn one(text: &str, lowerer: &mut Lowerer, format: Format) -> Result<Outcome, Failure> {
    let (instruction, places) = instruction::read_with_places(text)?;
    let LowerOptions { target, semantics, .. } = lowerer.options;
    let lowering = lowerer.lower(instruction.form).map_err(Failure::Failed)?;
    let block = lowering.block(&instruction, &Registers::default());
    let before = instruction.form.cost(target);
    let needs = lowering.sequence.as_ref().map(|sequence| sequence.needs());
    warn(text, &instruction, &places, semantics);
    let text = match format {
        Format::Text => {
            let needs = needs.filter(|needs| *needs != Needs::NOTHING);
            let mut needs = needs.map(|needs| format!("; needs {}", named(needs))).unwrap_or_default();
            if writes_carry(lowering) {
                needs.push_str("; writes the carry flag");
            }
            let rule = lowering.rule;
            let costs = match &lowering.sequence {
                Some(_) => {
                    format!("{rule}: {} on {target}, {before} as it is{needs}", machine_instructions(lowering.cost))
                }
                None => format!("{rule}: {} on {target}, and nothing known is cheaper", machine_instructions(before)),
            };
            format!("// {instruction};\n// {costs}\n{block}\n")
        }
        Format::Json => {
            let mut value = row(&instruction, lowering);
            value["rule"] = json!(lowering.rule);
            value["before"] = json!(before);
            value["target"] = json!(target.to_string());
            value["semantics"] = json!(semantics.to_string());
            format!("{value:#}\n")
        }
    };
    let mut out = output::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Outcome::Fine)
}

fn batch(mut lines: output::Lines, lowerer: &mut Lowerer, format: Format) -> Result<Outcome, Failure> {
    let mut out = output::stdout();
    let mut outcome = Outcome::Fine;
    let parser = Parser::new().allow_bare();
    let mut progress = Progress::beside_output(lines.count, "lines");
    let (mut done, mut refused) = (0, output::Refused::default());
    while let Some(line) = lines.next()? {
        progress.at(done);
        done += 1;
        let lowered = line.and_then(|line| {
            let instruction = parser.parse(line).map_err(|faults| match faults.first() {
                Some(first) => first.to_string(),
                None => "not an instruction".to_owned(),
            })?;
            Ok((instruction, lowerer.lower(instruction.form)?))
        });
        let is_refused = lowered.is_err();
        let line = match (lowered, format) {
            (Ok((instruction, lowering)), Format::Json) => row(&instruction, lowering).to_string(),
            (Ok((instruction, lowering)), Format::Text) => {
                let block = lowering.block(&instruction, &Registers::default()).one_line();
                format!("{}\t{}\t{block}", lowering.form, lowering.cost)
            }
            (Err(why), format) => {
                outcome = Outcome::Findings;
                match format {
                    Format::Json => json!({ "error": why }).to_string(),
                    Format::Text => format!("error: {}", output::field(&why)),
                }
            }
        };
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")?;
        refused.count(is_refused)?;
    }
    out.flush()?;
    Ok(outcome)
}

fn row(instruction: &Instruction<'_>, lowering: &Lowering) -> Value {
    let block = lowering.block(instruction, &Registers::default()).one_line();
    let mut value = json!({ "form": lowering.form.to_string(), "ptx": block, "cost": lowering.cost });
    if let Some(needs) = lowering.sequence.as_ref().map(|sequence| sequence.needs()) {
        value["needs"] = json!({
            "version": format!("{}.{}", needs.version.0, needs.version.1),
            "target": needs.module_target().to_string(),
        });
    }
    if writes_carry(lowering) {
        value["writes_carry"] = json!(true);
    }
    value
}

fn writes_carry(lowering: &Lowering) -> bool {
    lowering.sequence.as_ref().is_some_and(|sequence| sequence.writes_carry())
}

/// Tells where ptxas's code computes something else than the manual says, which is what is lowered.
fn warn(text: &str, instruction: &Instruction<'_>, places: &Places, semantics: Semantics) {
    let lints = if semantics == Semantics::Isa { vop::lint(text, instruction, places) } else { Vec::new() };
    for mut lint in lints.into_iter().filter(|lint| lint.code == Code::V0701) {
        lint.help = Some("`--semantics ptxas` keeps what ptxas's code computes".into());
        let lines = Lines::new(text);
        output::diagnostic(&lint, SourceText { lines: &lines, path: None });
    }
}

/// `.version 8.0 and .target sm_90`.
fn named(needs: Needs) -> String {
    let ((major, minor), target) = (needs.version, needs.module_target());
    format!("`.version {major}.{minor}` and `.target {target}`")
}

fn machine_instructions(count: u32) -> String {
    output::plural(count as usize, "machine instruction")
}

// A module.

fn module(path: &Path, to: Option<&Path>, options: RewriteOptions, quiet: bool) -> Result<Outcome, Failure> {
    let bytes = output::read(path)?;
    let text = vop_ptx::uses::text(&bytes);
    let module = Module::parse(text.as_ref());
    let lines = Lines::new(&text);
    let name = if path.as_os_str() == "-" { "stdin".to_owned() } else { path.display().to_string() };
    let source = SourceText { lines: &lines, path: Some(&name) };
    let rewritten = rewrite(&module, &options).map_err(|error| failure(&error, source, options))?;
    if rewritten.instructions.is_empty() && module.version().is_none() && module.functions().is_empty() {
        return Err(Failure::Misuse(format!(
            "{name}: no PTX module, as there is neither `.version` nor a function; `nvcc -ptx` makes one from CUDA source"
        )));
    }
    warn_of(&rewritten.warnings, source);
    let bytes = rewritten.apply(&bytes);
    match to.filter(|to| to.as_os_str() != "-") {
        Some(to) => output::write(to, &bytes)?,
        None => {
            let mut out = output::stdout();
            out.write_all(&bytes)?;
            out.flush()?;
        }
    }
    if !quiet {
        output::notice(&summary(&rewritten, options));
    }
    Ok(Outcome::Fine)
}

/// Says where the replacement computes something else than ptxas's code for the instruction.
fn warn_of(warnings: &[Diagnostic], source: SourceText<'_>) {
    let mut notes = HashSet::new();
    // What is said of one use is said of all that are alike, at the first.
    let mut alike: Vec<(Diagnostic, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for warning in warnings {
        let place = *places.entry(&warning.message).or_insert(alike.len());
        match alike.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => alike.push((warning.clone(), 0)),
        }
    }
    for (mut warning, more) in alike {
        // The reasons are said once.
        warning.notes.retain(|note| notes.insert(note.clone()));
        if more > 0 {
            warning.notes.push(format!("the same applies to {more} more"));
        }
        output::diagnostic(&warning, source);
    }
}

fn failure(error: &RewriteError, source: SourceText<'_>, options: RewriteOptions) -> Failure {
    match error {
        RewriteError::Illegal(faults) => {
            for fault in faults {
                output::diagnostic(fault, source);
            }
            Failure::Said
        }
        RewriteError::Target { module, span, .. } => {
            let place = source.locate(span);
            let write = match (module.suffix, module.to_string().parse::<Target>()) {
                (_, Err(_)) => String::new(),
                (None, Ok(target)) => format!("`--target {target}` or higher, or "),
                (Some('f'), Ok(target)) => format!("`--target {target}` or a later one of its family, or "),
                (Some(_), Ok(target)) => format!("`--target {target}`, or "),
            };
            Failure::Failed(format!("{place}: {error}; write {write}another `.target`"))
        }
        RewriteError::UnknownTarget { span } => Failure::Failed(format!("{}: {error}", source.locate(span))),
        RewriteError::NoRule { needs, span, .. } => {
            let place = source.locate(span);
            let raise = if needs.is_some() && !options.may_raise { "--raise allows that; " } else { "" };
            Failure::Failed(format!("{place}: {error}; {raise}`--semantics ptxas` keeps what it computes"))
        }
        error => Failure::Failed(error.to_string()),
    }
}

/// The table of forms, and what was raised or left out.
fn summary(rewritten: &Rewritten, options: RewriteOptions) -> String {
    let instructions = &rewritten.instructions;
    if instructions.is_empty() {
        return "no video instructions: nothing to do\n".to_owned();
    }
    let columns = output::terminal_of_stderr().unwrap_or(usize::MAX);
    let mut text = table(instructions, options.target, columns);
    // Writing to a String does not fail.
    for raised in &rewritten.raised {
        let _ = writeln!(text, "note: `{}` is raised from {} to {}", raised.directive, raised.from, raised.to);
    }
    let left_out: Vec<(&Rewrite, (u32, Needs))> =
        instructions.iter().filter_map(|one| Some((one, one.cheaper?))).collect();
    if let Some((_, (_, first))) = left_out.first() {
        let needs = left_out.iter().fold(*first, |all, (_, (_, needs))| all.and(*needs));
        let now: u32 = left_out.iter().map(|(one, _)| one.after).sum();
        let then: u32 = left_out.iter().map(|(_, (cost, _))| cost).sum();
        let mut missing = Vec::new();
        let (major, minor) = needs.version;
        if let Some((has_major, has_minor)) = rewritten.version.filter(|version| *version < needs.version) {
            missing.push(format!("`.version {major}.{minor}` (it is {has_major}.{has_minor})"));
        }
        if let Some(target) = rewritten.target.filter(|target| !needs.met_by(*target)) {
            missing.push(format!("`.target {}` (it is {target})", needs.module_target()));
        }
        let note = format!(
            "note: {} of {} would cost {} instead of {now} with {}: --raise allows it",
            left_out.len(),
            instructions.len(),
            machine_instructions(then),
            missing.join(" and "),
        );
        let _ = writeln!(text, "{}", vop_draw::wrapped(&note, columns));
    }
    text
}

/// The columns of the numbers in a row of the table.
const NUMBERS: usize = 44;

/// By form, the most used first: uses, cost before and after of one and of all, and the rule. Where rows are longer than
/// `columns`, the numbers stand in a sentence below each form.
fn table(instructions: &[Rewrite], target: Target, columns: usize) -> String {
    let mut forms: BTreeMap<(String, &str, u32, u32), u32> = BTreeMap::new();
    for one in instructions {
        *forms.entry((one.form.to_string(), one.rule, one.before, one.after)).or_default() += 1;
    }
    let mut rows: Vec<_> = forms.into_iter().collect();
    rows.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let sum = |of: fn(&Rewrite) -> u32| instructions.iter().map(of).map(u64::from).sum::<u64>();
    let (before, after) = (sum(|one| one.before), sum(|one| one.after));
    let width = rows.iter().map(|((form, ..), _)| form.chars().count()).max().unwrap_or(0).max(5);
    let longest = rows.iter().map(|((_, rule, ..), _)| rule.chars().count()).max().unwrap_or(0);
    fn kept(rule: &str) -> &str {
        if rule == "keep" { "kept" } else { rule }
    }
    if width + NUMBERS + longest.max(4) > columns {
        let mut text = String::new();
        for ((form, rule, before, after), count) in &rows {
            let uses = output::plural(*count as usize, "use");
            let line = format!("{uses}, each {before} before and {after} after: {}", kept(rule));
            let line = vop_draw::wrapped(&line, columns - 4).replace('\n', "\n    ");
            text.push_str(&format!("{form}\n    {line}\n"));
        }
        let uses = output::plural(instructions.len(), "use");
        let sum = format!("sum on {target}: {uses}, {before} before and {after} after");
        return text + &vop_draw::wrapped(&sum, columns) + "\n";
    }
    let mut text = String::new();
    let mut line = |form: &str, cells: [String; 5], rule: &str| {
        let [uses, before, after, all_before, all_after] = cells;
        let line = format!("{form:<width$} {uses:>5}  {before:>6} {after:>5}  {all_before:>10} {all_after:>9}  {rule}");
        text.push_str(line.trim_end());
        text.push('\n');
    };
    let heading = ["uses", "before", "after", "all before", "all after"].map(str::to_owned);
    line(&target.to_string(), heading, "rule");
    for ((form, rule, before, after), count) in &rows {
        let all = [u64::from(*before), u64::from(*after)].map(|cost| cost * u64::from(*count));
        let cells = [count.to_string(), before.to_string(), after.to_string(), all[0].to_string(), all[1].to_string()];
        line(form, cells, kept(rule));
    }
    let uses = instructions.len().to_string();
    line("sum", [uses, String::new(), String::new(), before.to_string(), after.to_string()], "");
    text
}
