//! `vop map`.

mod input;
mod layout;
mod reduce;
mod sink;
mod work;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use vop::bulk::Plan;
use vop::{Instruction, Operand};
use vop_arrays::{Error, Format as FileFormat, Named};

use crate::output::Format;
use crate::run::progress::{self, Watched};
use crate::{Failure, Outcome, instruction, output};
use input::{Array, FORMATS, Input};
use layout::Layout;
use reduce::Reduce;
use sink::Sink;
use work::Work;

/// Apply an instruction to whole arrays.
///
/// A, B and C are files or values. Files are .npy, .png, FILE.parquet:COLUMN, .raw or .bin (little-endian 32-bit words).
/// Values are decimal, hexadecimal (0x) or binary (0b). Shapes must agree. A value stands for all words. The result has
/// the shape of the files.
///
/// Elements of 32 bits are words. Smaller elements are lanes of words, the first in the lowest bits. No word holds lanes
/// of two rows: a pixel of up to four 8-bit channels is a word. Files may be larger than memory. docs/map.md has the
/// details.
#[derive(clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  vop map vadd4.u32.u32.u32.sat day.png night.png -o both.png
  vop map vabsdiff4.u32.u32.u32.add a.npy b.npy 0 --reduce add
  vop map vmax2.s32.s32.s32 log.parquet:left log.parquet:right -o most.parquet:most
  vop map 'vshr.u32.u32.u32.clamp d, a.b3, 2' words.raw -o d.raw

Exit status: 0 fine, 1 failure, 2 what cannot be done: wrong use, or a file that
is missing, damaged, or does not fit."
)]
pub(crate) struct Args {
    /// The instruction, with or without operands.
    instr: String,
    /// Files or values for a, b and c. Leave out immediates of INSTR, and c if d does not depend on it.
    #[arg(value_name = "A B [C]", num_args = 0..=3)]
    sources: Vec<String>,
    /// Write the result here. The suffix is the format.
    #[arg(short, long, value_name = "D")]
    output: Option<String>,
    /// Print the sum, the minimum or the maximum of the result's elements. They are signed if the instruction's type is.
    #[arg(long, value_enum, value_name = "OPERATION")]
    reduce: Option<Reduce>,
    #[command(flatten)]
    semantics: instruction::SemanticsArg,
    /// How many cores to use; all of them by default.
    #[arg(long, value_name = "COUNT", value_parser = crate::instruction::cores)]
    cores: Option<NonZeroUsize>,
    /// `text` for people, `json` for programs.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Whether the user has interrupted the command.
static STOP: AtomicBool = AtomicBool::new(false);

pub(crate) fn run(args: Args) -> Result<Outcome, Failure> {
    let instruction = instruction::read(&args.instr)?;
    if args.output.is_none() && args.reduce.is_none() {
        let why = "the result goes nowhere: `-o D` writes it, `--reduce add` prints its sum";
        return Err(Failure::Misuse(why.to_owned()));
    }
    let plan = Plan::new(instruction.form, args.semantics.semantics);
    let mut inputs = open(&instruction, &plan, &args.sources)?;
    let output = args.output.as_deref().map(|name| match Named::parse(name) {
        Some(Named { format: FileFormat::Parquet, column: None, .. }) => {
            Err(Failure::Misuse(format!("{name}: write FILE.parquet:COLUMN, the column that gets the result")))
        }
        Some(found) => Ok((name, found)),
        None => Err(Failure::Misuse(format!("{name}: no format is known by this name; {FORMATS}"))),
    });
    let output = output.transpose()?;
    let arrays: Vec<&Array> = inputs.iter().filter_map(Input::array).collect();
    agree(&arrays)?;
    let Some(words) = arrays.first().map(|array| array.layout.words()) else {
        let why = "no file among a, b and c: `vop eval` computes single values";
        return Err(Failure::Misuse(why.to_owned()));
    };
    let layouts: Vec<&Layout> = arrays.iter().map(|array| &array.layout).collect();
    let result = Layout::of_result(plan.form(), &layouts);
    if words == 0 && matches!(args.reduce, Some(Reduce::Min | Reduce::Max)) {
        return Err(Failure::Misuse("there are no elements, so there is no minimum and no maximum".to_owned()));
    }

    // From here on there is a temporary file beside the output. It is removed when this function ends.
    let interrupt = || STOP.store(true, Ordering::Relaxed);
    ctrlc::set_handler(interrupt).map_err(|error| Failure::Failed(error.to_string()))?;
    let sink = match output {
        Some((_, file)) => Some(Sink::create(file, &result).map_err(cannot)?),
        None => None,
    };
    let blocks = Arc::default();
    let work = Work {
        plan: &plan,
        words,
        result: &result,
        reduce: args.reduce,
        sink: sink.as_ref(),
        progress: Arc::clone(&blocks),
        stop: &STOP,
    };
    let one = NonZeroUsize::MIN;
    let threads = args.cores.unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(one));
    let reduced = progress::watch(Watched { done: blocks, blocks: work::blocks(words), launches: None }, |_| {
        work.run(&mut inputs, threads)
    });
    // A file that is damaged, or cannot be written.
    let reduced = reduced.map_err(Failure::Misuse)?;
    if STOP.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted);
    }
    let reduced = args.reduce.map(|reduce| (reduce, reduced.unwrap_or(0)));
    let number = |value: i128| {
        let number = i64::try_from(value).map(Into::into).or_else(|_| u64::try_from(value).map(Into::into));
        number.map_err(|_| Failure::Failed(format!("the sum is {value}, which does not fit 64 bits")))
    };
    let reduced: Option<(Reduce, serde_json::Number)> =
        reduced.map(|(reduce, value)| Ok::<_, Failure>((reduce, number(value)?))).transpose()?;
    let written = sink.as_ref().map(|sink| sink.layout.clone());
    sink.map_or(Ok(()), Sink::finish).map_err(Failure::Misuse)?;
    report(&args, &plan, &result, output.map(|(name, _)| name).zip(written), reduced)
}

fn report(
    args: &Args,
    plan: &Plan,
    result: &Layout,
    written: Option<(&str, Layout)>,
    reduced: Option<(Reduce, serde_json::Number)>,
) -> Result<Outcome, Failure> {
    let mut out = output::stdout();
    match args.format {
        Format::Text => {
            if let Some((name, layout)) = &written {
                writeln!(out, "wrote {name}: {}", layout.describe())?;
            }
            if let Some((_, number)) = &reduced {
                writeln!(out, "{number}")?;
            }
        }
        Format::Json => {
            let output = written.map(|(file, layout)| {
                let description = layout.description();
                json!({ "file": file, "type": description.element.name(), "shape": description.shape })
            });
            let reduced = reduced.map(|(reduce, number)| json!({ "operation": reduce.name(), "value": number }));
            let object = json!({
                "form": plan.form().to_string(),
                "semantics": plan.semantics().to_string(),
                "words": result.words(),
                "elements": result.elements(),
                "output": output,
                "reduced": reduced,
            });
            writeln!(out, "{object:#}")?;
        }
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

/// As `vop run`: the exit status is 2 for a file that is missing, damaged, or does not fit.
fn cannot(error: Error) -> Failure {
    Failure::Misuse(error.to_string())
}

/// The operands a, b and c: those given, in order, and the immediates of the text.
fn open(instruction: &Instruction<'_>, plan: &Plan, given: &[String]) -> Result<[Input; 3], Failure> {
    let form = instruction.form;
    let operands = [Some(instruction.a), Some(instruction.b), instruction.c.filter(|_| form.uses_c())];
    let immediate = |i: usize| match operands[i] {
        Some(Operand::Immediate { value, .. }) => Some(value),
        _ => None,
    };
    let mut wanted: Vec<usize> = (0..3).filter(|i| operands[*i].is_some()).collect();
    // Immediates may be left out, and so may c if the form does not read it.
    if given.len() < wanted.len() {
        wanted.retain(|i| immediate(*i).is_none());
    }
    if given.len() < wanted.len() && !plan.form().reads_c() {
        wanted.retain(|i| *i != 2);
    }
    let names = ["a", "b", "c"];
    if given.len() != wanted.len() {
        let which: Vec<&str> = wanted.iter().map(|i| names[*i]).collect();
        let (which, count) = (which.join(", "), given.len());
        return Err(Failure::Misuse(format!(
            "`{form}` needs {}, for {which}: {count} given",
            if wanted.len() == 1 { "a file or value".to_owned() } else { format!("{} files or values", wanted.len()) },
        )));
    }
    let mut inputs = [Input::None, Input::None, Input::None];
    let mut texts = [None; 3];
    for i in 0..3 {
        if let Some(value) = immediate(i) {
            inputs[i] = Input::Value(value);
        }
        if let Some(Operand::Sum { .. }) = operands[i] {
            let name = names[i];
            return Err(Failure::Misuse(format!("{name} is a register plus a constant: write the register alone")));
        }
    }
    for (&i, text) in wanted.iter().zip(given) {
        let name = names[i];
        let input = input(text)?;
        match (immediate(i), &input) {
            (Some(immediate), Input::Value(value)) if *value == immediate => {}
            (Some(immediate), _) => {
                return Err(Failure::Misuse(format!(
                    "operand {name} is the immediate {immediate:#x}, yet {text} is given"
                )));
            }
            (None, _) => inputs[i] = input,
        }
        texts[i] = Some(text);
    }
    // One register that is two operands has the same words in both.
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let [one, other] = [i, j].map(|i| operands[i].and_then(Operand::register));
        if let (Some(name), Some(text), Some(other_text)) = (one.filter(|_| one == other), texts[i], texts[j])
            && text != other_text
        {
            return Err(Failure::Misuse(format!(
                "`{name}` stands for two operands, yet {text} and {other_text} are given"
            )));
        }
    }
    if !plan.form().reads_c() && !matches!(inputs[2], Input::Array(_)) {
        inputs[2] = Input::None;
    }
    Ok(inputs)
}

/// A file or a value.
fn input(text: &str) -> Result<Input, Failure> {
    if let Ok(value) = instruction::value(text) {
        return Ok(Input::Value(value));
    }
    match Named::parse(text) {
        Some(file) => Array::open(file).map(Input::Array).map_err(cannot),
        None if Path::new(text).exists() => {
            Err(Failure::Misuse(format!("{text}: no format is known by this name; {FORMATS}")))
        }
        None => Err(Failure::Misuse(format!("`{text}` is neither a number nor the name of a file: {FORMATS}"))),
    }
}

impl Input {
    fn array(&self) -> Option<&Array> {
        match self {
            Input::Array(array) => Some(array),
            Input::None | Input::Value(_) => None,
        }
    }
}

/// Checks that arrays have the same shape: in elements if these have one size, otherwise in words.
fn agree(arrays: &[&Array]) -> Result<(), Failure> {
    for (i, one) in arrays.iter().enumerate() {
        for other in &arrays[i + 1..] {
            let (a, b) = (&one.layout, &other.layout);
            let same = match (&a.shape, &b.shape) {
                (Some(one), Some(other)) if a.element.size() == b.element.size() => one == other,
                (Some(_), Some(_)) => a.word_shape() == b.word_shape(),
                (None, _) | (_, None) => a.words() == b.words(),
            };
            if !same {
                let describe = |array: &Array| format!("{} is {}", array.path.display(), array.layout.describe());
                let words = if a.element.size() == b.element.size() {
                    String::new()
                } else {
                    format!(", which makes {} and {} words", of_words(a), of_words(b))
                };
                let (one, other) = (describe(one), describe(other));
                return Err(Failure::Misuse(format!("shapes differ: {one}, {other}{words}")));
            }
        }
    }
    Ok(())
}

fn of_words(layout: &Layout) -> String {
    layout.word_shape().map_or_else(|| layout.words().to_string(), |shape| format!("{shape:?}"))
}
