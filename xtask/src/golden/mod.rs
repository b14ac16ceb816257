//! The files of `tests/golden`: checked against NVIDIA's tools and z3, and made again.
//!
//! Every file is a list of rows, and every row has cells that are given (a form, its inputs) and cells that a tool answers (a
//! verdict, a value, a count). [`check`] asks the tools for the second of some or all rows, [`draw`] makes rows with given cells
//! chosen by a seed.
//!
//! Nothing here asks the library for an answer. Values by the manual come from `vop_tests::transcription`, values of ptxas's code
//! from the simulator in [`sass`](crate::sass), verdicts and costs from ptxas and nvcc, proofs from z3. The library chooses forms
//! only, and [`disagreement`] compares its answers with those of the tools.

mod costs;
mod mutate;
mod proofs;
mod texts;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use vop::{Form, Semantics, Target};
use vop_tests::Random;
use vop_tests::golden::value;

use crate::sass::Toolchain;

/// A file of `tests/golden`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "README.md beside the files describes each")]
pub enum File {
    Values,
    Accept,
    SyntaxForms,
    Uses,
    Device,
    PtxasCost,
    IntrinsicsCost,
    PtxasHashes,
    CostMore,
    Proofs,
}

/// The first cells of headings.
const HEADINGS: [&str; 4] = ["form", "text", "opcode", "intrinsic"];

impl File {
    /// All files, in the order of the README.
    pub const ALL: [File; 10] = [
        File::Values,
        File::Accept,
        File::SyntaxForms,
        File::Uses,
        File::Device,
        File::PtxasCost,
        File::IntrinsicsCost,
        File::PtxasHashes,
        File::CostMore,
        File::Proofs,
    ];

    /// The name in the folder.
    pub fn name(self) -> &'static str {
        match self {
            File::Values => "values.tsv",
            File::Accept => "accept.tsv",
            File::SyntaxForms => "syntax-forms.tsv",
            File::Uses => "uses.tsv",
            File::Device => "device.tsv",
            File::PtxasCost => "ptxas-cost.tsv",
            File::IntrinsicsCost => "intrinsics-cost.tsv",
            File::PtxasHashes => "ptxas-hashes.tsv",
            File::CostMore => "cost-more.tsv",
            File::Proofs => "proofs.txt",
        }
    }

    /// Where the file lies.
    pub fn path(self) -> PathBuf {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden")).join(self.name())
    }

    /// Whether [`check`] asks ptxas, so that it needs a [`Toolchain`].
    pub fn needs_ptxas(self) -> bool {
        self != File::Proofs
    }

    /// Why rows of the file cannot be drawn by a seed; nothing where they can.
    pub fn cannot_be_drawn(self) -> Option<&'static str> {
        match self {
            File::Values | File::Accept | File::PtxasCost | File::CostMore => None,
            File::SyntaxForms | File::Uses => Some("its texts were collected from sources in public"),
            File::Device => Some("its values were collected from a public test suite"),
            File::IntrinsicsCost => Some("it has a row for each intrinsic of CUDA that equals a form"),
            File::PtxasHashes => Some("it has a row for each opcode of scalar forms"),
            File::Proofs => Some("it has a line for each query that the rules of `vop lower` ask"),
        }
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A file's name, with or without folder and extension.
impl FromStr for File {
    type Err = String;

    fn from_str(text: &str) -> Result<File, String> {
        let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
        let is_named = |file: &File| file.name() == name || file.name().split('.').next() == Some(name);
        File::ALL.into_iter().find(is_named).ok_or_else(|| {
            let names: Vec<&str> = File::ALL.iter().map(|file| file.name()).collect();
            format!("`{text}` is no golden file; the files are {}", names.join(", "))
        })
    }
}

/// What the tools say of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The row, with the cells that tools answer as they answer them now.
    Row(String),
    /// The row answers a question that nothing asks any more.
    Obsolete,
    /// The row cannot be right, for this reason.
    Fault(String),
}

/// A row that the tools answer otherwise than the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its line, from 1; nothing where the file lacks the row.
    pub line: Option<usize>,
    /// The row in the file, or the given cells of one that it lacks.
    pub committed: String,
    /// What the tools say.
    pub answer: Answer,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.committed)?,
            None => write!(f, "missing: {}", self.committed)?,
        }
        match &self.answer {
            Answer::Row(row) => write!(f, "\n    the tools say: {row}"),
            Answer::Obsolete => f.write_str("\n    nothing asks this any more"),
            Answer::Fault(why) => write!(f, "\n    {why}"),
        }
    }
}

/// What [`check`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows of the file.
    pub rows: usize,
    /// Rows that the tools were asked about.
    pub asked: usize,
    /// Rows that differ, in the order of the file; rows that it lacks are last.
    pub differences: Vec<Difference>,
    /// The text of the file with the answers of the tools in it. Rows keep their order. Rows that the file lacks are appended,
    /// except in `proofs.txt`, which is in ascending order.
    pub text: String,
}

/// Asks tools about rows of one file.
struct Asker<'a> {
    file: File,
    /// The release of ptxas, and its tools; absent for [`File::Proofs`].
    toolchain: Option<&'a Toolchain>,
    /// The heading, split at tabs.
    heading: Vec<&'a str>,
    /// What there is to ask at all, for files that are complete.
    catalogue: Catalogue,
}

/// The questions of a file that has a row for each.
enum Catalogue {
    /// The file has only some rows of many.
    Open,
    Opcodes(BTreeMap<String, Vec<Form>>),
    Proofs(proofs::Items),
}

impl Catalogue {
    fn of(file: File) -> Result<Catalogue, String> {
        Ok(match file {
            File::PtxasHashes => Catalogue::Opcodes(values::opcodes()),
            File::Proofs => Catalogue::Proofs(proofs::items()?),
            _ => Catalogue::Open,
        })
    }

    /// Whether a row with this first cell answers something that is asked.
    fn asks(&self, first: &str) -> bool {
        match self {
            Catalogue::Open => true,
            Catalogue::Opcodes(opcodes) => opcodes.contains_key(first),
            Catalogue::Proofs(items) => items.contains_key(first),
        }
    }

    /// The given cells of rows that a file with these first cells lacks.
    fn missing(&self, present: &BTreeSet<&str>) -> Vec<String> {
        match self {
            Catalogue::Open => Vec::new(),
            Catalogue::Opcodes(opcodes) => {
                opcodes.keys().filter(|opcode| !present.contains(opcode.as_str())).cloned().collect()
            }
            Catalogue::Proofs(items) => items.keys().filter(|hash| !present.contains(hash.as_str())).cloned().collect(),
        }
    }
}

impl Asker<'_> {
    fn ptxas(&self) -> Result<&Toolchain, String> {
        self.toolchain.ok_or_else(|| format!("{} needs ptxas", self.file))
    }

    /// What the tools say of each row.
    fn answers(&self, rows: &[Vec<&str>]) -> Result<Vec<Answer>, String> {
        match (self.file, &self.catalogue) {
            (File::Proofs, Catalogue::Proofs(items)) => proofs::answers(items, rows),
            (File::PtxasHashes, Catalogue::Opcodes(opcodes)) => values::hashes(self.ptxas()?, opcodes, rows),
            (File::Values, _) => values::values(self.ptxas()?, rows),
            (File::Device, _) => values::device(self.ptxas()?, rows),
            (File::Accept, _) => texts::accept(self.ptxas()?, rows),
            (File::SyntaxForms, _) => texts::syntax_forms(self.ptxas()?, rows),
            (File::Uses, _) => texts::uses(self.ptxas()?, rows),
            (File::PtxasCost | File::CostMore, _) => costs::forms(self.ptxas()?, &self.heading, rows),
            (File::IntrinsicsCost, _) => costs::intrinsics(self.ptxas()?, &self.heading, rows),
            (File::Proofs | File::PtxasHashes, _) => Err(format!("{} has no catalogue", self.file)),
        }
    }

    /// As [`answers`](Asker::answers), on all cores, some rows at a time; `progress` is told the number of rows done.
    fn all_answers(&self, rows: &[Vec<&str>], progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Answer>, String> {
        // Few enough rows that a core is never long alone at the end, many enough that starting a tool costs little.
        let size = match self.file {
            File::PtxasHashes => 4,
            File::Proofs => 100,
            _ => 1000,
        };
        let chunks: Vec<&[Vec<&str>]> = rows.chunks(size).collect();
        let answers: Mutex<BTreeMap<usize, Result<Vec<Answer>, String>>> = Mutex::default();
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            while let Some(chunk) = {
                let i = next.fetch_add(1, Ordering::Relaxed);
                chunks.get(i).map(|chunk| (i, *chunk))
            } {
                let (i, chunk) = chunk;
                let found = self.answers(chunk);
                if found.is_err() {
                    // Nobody takes another chunk.
                    next.store(chunks.len(), Ordering::Relaxed);
                }
                answers.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(i, found);
                progress(done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len());
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(chunks.len());
        std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
        let answers = answers.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let answers: Vec<Vec<Answer>> = answers.into_values().collect::<Result<_, _>>()?;
        Ok(answers.into_iter().flatten().collect())
    }
}

/// A row is neither empty nor a comment nor a heading.
fn is_row(line: &str) -> bool {
    let first = line.split('\t').next().unwrap_or_default();
    !line.is_empty() && !line.starts_with('#') && !HEADINGS.contains(&first)
}

fn heading(text: &str) -> Vec<&str> {
    let first: Vec<&str> = text.lines().next().unwrap_or_default().split('\t').collect();
    if HEADINGS.contains(&first[0]) { first } else { Vec::new() }
}

/// Asks the tools about rows of a file, whose text is given: about all, or about `sample.0` of them, chosen by the seed `sample.1`.
/// Rows that the file lacks, and rows that nothing asks any more, are found in any case.
/// `progress` is told the number of rows done, of how many.
///
/// # Errors
/// A tool is absent or fails. That a row is wrong is no error, but a [`Difference`].
pub fn check(
    file: File,
    text: &str,
    toolchain: Option<&Toolchain>,
    sample: Option<(usize, u64)>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Report, String> {
    let lines: Vec<&str> = text.lines().collect();
    let rows: Vec<usize> = (0..lines.len()).filter(|&i| is_row(lines[i])).collect();
    let asker = Asker { file, toolchain, heading: heading(text), catalogue: Catalogue::of(file)? };
    let first = |i: usize| lines[i].split('\t').next().unwrap_or_default();
    // What the file lacks, and what nothing asks, costs nothing to find: a sample is one of the others.
    let (mut asked, obsolete): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&i| asker.catalogue.asks(first(i)));
    if let Some((count, seed)) = sample {
        choose(&mut asked, count, &mut Random::of(seed));
    }
    asked.extend(obsolete);
    asked.sort_unstable();
    let present: BTreeSet<&str> = rows.iter().map(|&i| first(i)).collect();
    let missing = asker.catalogue.missing(&present);
    let questions = asked.iter().map(|&i| lines[i]).chain(missing.iter().map(String::as_str));
    let questions: Vec<Vec<&str>> = questions.map(|line| line.split('\t').collect()).collect();
    let answers = asker.all_answers(&questions, &|done| progress(done, questions.len()))?;

    let mut report = Report { rows: rows.len(), asked: questions.len(), ..Report::default() };
    let mut new: Vec<Option<String>> = lines.iter().map(|line| Some((*line).to_owned())).collect();
    let places = asked.iter().copied().map(Some).chain(missing.iter().map(|_| None));
    for ((place, question), answer) in places.zip(&questions).zip(answers) {
        let committed = question.join("\t");
        if place.is_some() && answer == Answer::Row(committed.clone()) {
            continue;
        }
        match (place, &answer) {
            (Some(i), Answer::Row(row)) => new[i] = Some(row.clone()),
            (Some(i), Answer::Obsolete) => new[i] = None,
            (None, Answer::Row(row)) => new.push(Some(row.clone())),
            _ => {}
        }
        report.differences.push(Difference { line: place.map(|i| i + 1), committed, answer });
    }
    let mut new: Vec<String> = new.into_iter().flatten().collect();
    if file == File::Proofs {
        let comments = new.iter().filter(|line| !is_row(line)).cloned();
        let mut hashes: Vec<String> = new.iter().filter(|line| is_row(line)).cloned().collect();
        hashes.sort();
        new = comments.chain(hashes).collect();
    }
    report.text = new.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    Ok(report)
}

/// Keeps `count` elements of a list, in their order, each with the same chance.
fn choose<T>(list: &mut Vec<T>, count: usize, random: &mut Random) {
    let (mut left, mut wanted) = (list.len(), count.min(list.len()));
    list.retain(|_| {
        let take = random.below(left) < wanted;
        left -= 1;
        wanted -= usize::from(take);
        take
    });
}

/// Draws rows of a file by a seed and has tools answer them. `heading` is the file's text or its first line.
///
/// # Errors
/// A tool is absent or fails, or rows of the file [cannot be drawn](File::cannot_be_drawn).
pub fn draw(
    file: File,
    text: &str,
    toolchain: &Toolchain,
    (count, seed): (usize, u64),
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<String>, String> {
    if let Some(why) = file.cannot_be_drawn() {
        return Err(format!("rows of {file} cannot be drawn: {why}"));
    }
    let mut random = Random::of(seed);
    let questions = match file {
        File::Values => values::questions(&mut random, count),
        File::Accept => mutate::texts(&mut random, count).into_iter().map(|text| format!("\t{text}\t")).collect(),
        _ => values::random_forms(&mut random, count),
    };
    let asker = Asker { file, toolchain: Some(toolchain), heading: heading(text), catalogue: Catalogue::Open };
    let rows: Vec<Vec<&str>> = questions.iter().map(|row| row.split('\t').collect()).collect();
    let answers = asker.all_answers(&rows, &|done| progress(done, rows.len()))?;
    let row = |(question, answer): (&String, Answer)| match answer {
        Answer::Row(row) => Ok(row),
        Answer::Fault(why) => Err(format!("{question}: {why}")),
        Answer::Obsolete => Err(format!("{question}: nothing asks this")),
    };
    questions.iter().zip(answers).map(row).collect()
}

/// How the library answers a row otherwise than the tools: a sentence. Nothing where both agree. `text` is the file's text or its
/// first line.
///
/// # Errors
/// The row is not one of the file, or rows of the file [cannot be drawn](File::cannot_be_drawn).
pub fn disagreement(file: File, text: &str, row: &str) -> Result<Option<String>, String> {
    let cells: Vec<&str> = row.split('\t').collect();
    let form = |text: &str| text.parse::<Form>().map_err(|_| format!("{file}: `{text}` is no form"));
    let (ours, theirs) = match (file, cells.as_slice()) {
        (File::Accept, [verdict, text, _]) => (texts::library_verdict(text).to_owned(), (*verdict).to_owned()),
        (File::Values, [text, a, b, c, manual, ptxas]) => {
            let form = form(text)?;
            let [a, b, c] = [*a, *b, *c].map(value);
            let ours = [Semantics::Isa, Semantics::Ptxas].map(|by| format!("{:#010x}", form.eval_as(by, a, b, c)));
            (ours.join(" "), format!("{manual} {ptxas}"))
        }
        (File::PtxasCost | File::CostMore, [text_of_form, costs @ ..]) => {
            let form = form(text_of_form)?;
            let cost = |name: &&str| {
                let target: Target = name.parse().map_err(|_| format!("{file}: `{name}` is no target"))?;
                Ok(form.cost(target).to_string())
            };
            let ours: Result<Vec<String>, String> = heading(text).iter().skip(1).map(cost).collect();
            (ours?.join(" "), costs.join(" "))
        }
        _ => return Err(format!("{file}: `{row}` is no row that can be drawn")),
    };
    Ok((ours != theirs).then(|| format!("{row}\n    the library says: {ours}")))
}
