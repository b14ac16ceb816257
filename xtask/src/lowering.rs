//! What lowered sequences cost, measured: forms and their sequences compiled by ptxas, and the page that says so.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{self, Write as _};

use vop::lower::{Choice, LowerOptions, Lowering};
use vop::{Form, Mnemonic, Target};
use vop_tests::golden;

use crate::sass::{Toolchain, ToolchainError};

/// The targets that are measured.
pub const TARGETS: [&str; 9] = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_120f"];

/// The geometric mean that SIMD forms may have at most, where there is a goal.
const SIMD_GOALS: [(&str, f64); 3] = [("sm_75", 0.40), ("sm_90", 0.35), ("sm_120f", 0.20)];

/// The geometric mean that scalar forms may have at most.
const SCALAR_GOAL: f64 = 0.70;

/// The texts that are compiled in one go.
const BATCH: usize = 500;

/// One form in `THOROUGH` is measured thoroughly: the form itself is compiled too (for the others the library's table says what it
/// costs), and all sequences that the rules have for it.
const THOROUGH: usize = 10;

/// A form on a target, measured.
#[derive(Debug, Clone)]
pub struct Row {
    /// The form.
    pub form: Form,
    /// The rule whose sequence was chosen, or `keep`.
    pub rule: &'static str,
    /// Machine instructions of what was chosen.
    pub ours: u32,
    /// The least of all sequences that the rules have, where those were measured.
    pub least: Option<u32>,
    /// Machine instructions of the form itself, by the library's table.
    pub ptxas: u32,
    /// Whether both compute the same for all inputs.
    pub same: bool,
}

/// How many sequences the model of costs is right about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accuracy {
    /// It is right.
    pub exact: usize,
    /// ptxas makes more instructions of them.
    pub below: usize,
    /// ptxas makes fewer.
    pub above: usize,
}

/// A target, measured.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// Its forms.
    pub rows: Vec<Row>,
    /// Of the different sequences that each rule has for every tenth form.
    pub model: BTreeMap<&'static str, Accuracy>,
    /// Sequences about which the model is wrong: text, its count, the measured one.
    pub misjudged: Vec<(&'static str, Form, String, u32, u32)>,
    /// Forms that cost something else than the library's table says, and what.
    pub wrong: Vec<(Form, u32)>,
}

/// Compiles what forms are lowered to on a target; of every tenth also the form itself and all sequences that the rules have.
///
/// # Errors
/// ptxas refuses a text, or a tool fails.
pub fn measure(toolchain: &Toolchain, forms: &[Form], name: &str) -> Result<Measured, ToolchainError> {
    let Ok(target) = name.parse::<Target>() else { return Ok(Measured::default()) };
    let options = LowerOptions::new(target);
    let mut texts: Vec<String> = Vec::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut number = |text: String| {
        *numbers.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            texts.len() - 1
        })
    };
    // For each form: its own text, what was chosen, and all that there is, with the model's cost.
    let registers: vop::Registers = ".reg .b32 a, b, c, d;".parse().unwrap_or_default();
    let mut asked = Vec::with_capacity(forms.len());
    for (i, &form) in forms.iter().enumerate() {
        let lowering = form.lower(options);
        let text = form.to_string();
        let Ok(instruction) = vop::parse(&text) else { continue };
        let is_thorough = i % THOROUGH == 0;
        let own = is_thorough.then(|| number(text.clone()));
        let mut block = |lowering: &Lowering| number(lowering.block(&instruction, &registers).one_line());
        let chosen = lowering.sequence.is_some().then(|| block(&lowering));
        let choices = if is_thorough { form.choices(options) } else { Vec::new() };
        let choices: Vec<(usize, &'static str, u32)> = choices
            .into_iter()
            .map(|Choice { candidate, sequence, cost }| {
                let lowering = Lowering { form, rule: candidate.rule, sequence: Some(sequence), cost, exact: true };
                (block(&lowering), lowering.rule, cost)
            })
            .collect();
        asked.push((form, lowering.rule, own, chosen, choices));
    }
    let mut costs: Vec<u32> = Vec::with_capacity(texts.len());
    for batch in texts.chunks(BATCH) {
        costs.extend(toolchain.costs(batch, name)?.into_iter().map(|cost| u32::try_from(cost).unwrap_or(0)));
    }
    let mut measured = Measured::default();
    let mut judged = HashSet::new();
    for (form, rule, own, chosen, choices) in asked {
        for &(number, rule, cost) in &choices {
            if !judged.insert(number) {
                continue;
            }
            let accuracy = measured.model.entry(rule).or_default();
            match cost.cmp(&costs[number]) {
                std::cmp::Ordering::Equal => accuracy.exact += 1,
                std::cmp::Ordering::Less => accuracy.below += 1,
                std::cmp::Ordering::Greater => accuracy.above += 1,
            }
            if cost != costs[number] {
                measured.misjudged.push((rule, form, texts[number].clone(), cost, costs[number]));
            }
        }
        let same = form.divergence().is_none();
        let ptxas = form.cost(target);
        if let Some(own) = own.map(|own| costs[own]).filter(|own| *own != ptxas) {
            measured.wrong.push((form, own));
        }
        let ours = chosen.map_or(ptxas, |chosen| costs[chosen]);
        let all = choices.iter().map(|&(number, ..)| costs[number]);
        let least = own.and_then(|_| all.chain(same.then_some(ptxas)).min());
        measured.rows.push(Row { form, rule, ours, least, ptxas, same });
    }
    Ok(measured)
}

/// The geometric mean of ours over ptxas's, a count of 0 as 1; 1 if there is none.
pub fn geometric_mean<'a>(rows: impl Iterator<Item = &'a Row>) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for row in rows {
        sum += (f64::from(row.ours.max(1)) / f64::from(row.ptxas.max(1))).ln();
        count += 1;
    }
    if count == 0 { 1.0 } else { (sum / f64::from(count)).exp() }
}

fn is_simd(row: &&Row) -> bool {
    row.form.mnemonic().shape().is_simd()
}

fn is_scalar(row: &&Row) -> bool {
    !is_simd(row)
}

/// An intrinsic of CUDA C on a target.
#[derive(Debug, Clone)]
pub struct Intrinsic {
    /// `__vadd4`.
    pub name: &'static str,
    /// The form that it equals.
    pub form: Form,
    /// For each of [`TARGETS`] what the intrinsic costs: measured on four of them, and taken from the nearest on the others.
    pub counts: Vec<u32>,
}

/// The intrinsics of `tests/golden/intrinsics-cost.tsv`.
///
/// # Panics
/// If that file is damaged.
pub fn intrinsics() -> Vec<Intrinsic> {
    let rows = golden::rows(golden::INTRINSICS_COST).map(|(line, row)| {
        let count = |column: usize| row[column].parse().unwrap_or_else(|_| panic!("line {line} has no counts"));
        let counts = [count(2), count(3), count(4), count(5)];
        Intrinsic {
            name: row[0],
            form: row[1].parse().unwrap_or_else(|_| panic!("line {line} has no form")),
            counts: TARGETS.iter().map(|target| counts[intrinsic_column(target)]).collect(),
        }
    });
    rows.collect()
}

/// The column of the intrinsics' counts that a target is compared with.
fn intrinsic_column(target: &str) -> usize {
    match target {
        "sm_75" | "sm_80" | "sm_86" | "sm_89" => 0,
        "sm_90" => 1,
        "sm_100" | "sm_103" => 2,
        _ => 3,
    }
}

/// The forms of `tests/golden/ptxas-cost.tsv`.
///
/// # Panics
/// If that file is damaged.
pub fn golden_forms() -> Vec<Form> {
    let form = |(line, row): (usize, Vec<&str>)| {
        row[0].parse().unwrap_or_else(|_| panic!("line {line} of ptxas-cost.tsv has no form"))
    };
    golden::rows(golden::PTXAS_COST).map(form).collect()
}

/// What was measured on all targets, in their order; the rows of the intrinsics' forms stand apart.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Which targets, by name.
    pub targets: Vec<&'static str>,
    /// The golden forms.
    pub forms: Vec<Measured>,
    /// The forms of [`intrinsics`], in their order.
    pub intrinsics: Vec<Measured>,
}

impl Report {
    /// Measures some of the golden forms, and all intrinsics, on targets; `said` is given the name of each target that is done.
    ///
    /// # Errors
    /// ptxas refuses a text, or a tool fails.
    pub fn measure(
        toolchain: &Toolchain,
        targets: &[&'static str],
        forms: &[Form],
        said: impl Fn(&str) + Sync,
    ) -> Result<Report, ToolchainError> {
        let equal: Vec<Form> = intrinsics().into_iter().map(|intrinsic| intrinsic.form).collect();
        let one = |target: &&'static str| {
            let measured = measure(toolchain, forms, target);
            let both = measured.and_then(|forms| Ok((forms, measure(toolchain, &equal, target)?)));
            said(target);
            both
        };
        // Two at a time: ptxas uses one processor.
        let (first, second) = targets.split_at(targets.len().div_ceil(2));
        let all = |targets: &[&'static str]| targets.iter().map(one).collect::<Result<Vec<_>, _>>();
        let (first, second) = std::thread::scope(|scope| {
            let second = scope.spawn(|| all(second));
            (all(first), second.join())
        });
        let mut both = first?;
        both.extend(second.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        let (forms, intrinsics) = both.into_iter().unzip();
        Ok(Report { targets: targets.to_vec(), forms, intrinsics })
    }

    /// The promises that are broken, a sentence each.
    pub fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for ((target, forms), equal) in self.targets.iter().zip(&self.forms).zip(&self.intrinsics) {
            let simd = geometric_mean(forms.rows.iter().filter(is_simd));
            if let Some((_, goal)) = SIMD_GOALS.iter().find(|(name, _)| name == target)
                && simd > *goal
            {
                broken.push(format!("{target}: the mean of SIMD forms is {simd:.3}, above {goal:.2}"));
            }
            let scalar = geometric_mean(forms.rows.iter().filter(is_scalar));
            if scalar > SCALAR_GOAL {
                broken.push(format!("{target}: the mean of scalar forms is {scalar:.3}, above {SCALAR_GOAL:.2}"));
            }
            for row in forms.rows.iter().filter(|row| row.same && row.ours > row.ptxas) {
                broken.push(format!("{target}: `{}` costs {}, and {} by ptxas", row.form, row.ours, row.ptxas));
            }
            for (form, count) in &forms.wrong {
                broken.push(format!("{target}: the library's table is wrong: `{form}` costs {count} by ptxas"));
            }
            for (row, intrinsic) in equal.rows.iter().zip(intrinsics()) {
                let count = intrinsic.counts[place(target)];
                if row.ours > count {
                    broken.push(format!("{target}: `{}` costs {}, and {} {count}", row.form, row.ours, intrinsic.name));
                }
            }
        }
        broken
    }
}

fn place(target: &str) -> usize {
    TARGETS.iter().position(|name| *name == target).unwrap_or_default()
}

/// The line behind which the page is written by hand.
pub const HAND_WRITTEN: &str = "<!-- What follows is written by hand. -->\n";

/// The page `docs/lowering-cost.md`, except the part that is written by hand.
pub struct Page<'a> {
    /// What was measured.
    pub report: &'a Report,
    /// The release of ptxas.
    pub version: &'a str,
    /// The day, as 2026-11-28.
    pub date: &'a str,
}

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { targets, forms, intrinsics: equal } = self.report;
        let count = forms.first().map_or(0, |measured| measured.rows.len());
        write!(
            f,
            "<!-- Written by `cargo xtask sass lowering --write`, except the end. -->\n\n\
             # What lowered forms cost\n\n\
             This page counts the machine instructions that ptxas {} makes of `vop lower`'s sequences, and of the video instructions \
             themselves. The {count} [forms](glossary.md#form) are those of tests/golden/ptxas-cost.tsv: chosen at random, with random \
             selectors and masks. Measured on {}.\n\n\
             Each form is compiled in a kernel that loads a, b and c, computes d and stores it. The size of the same kernel with \
             `mov.b32 d, a` is subtracted. The counts of video instructions are from the library's table; one form in ten was \
             compiled to check that table. A mean is the geometric mean of the ratios (lowered / ptxas), where a count of 0 \
             counts as 1. Forms are lowered by the manual's semantics. They are compared even if ptxas's code computes another \
             value.\n\n\
             Instruction counts do not predict GPU time.\n\n",
            self.version, self.date
        )?;
        heading(f, "## Summary\n\n| |", targets)?;
        let mut line = |name: &str, value: &dyn Fn(usize) -> String| {
            write!(f, "| {name} |")?;
            (0..targets.len()).try_for_each(|i| write!(f, " {} |", value(i)))?;
            f.write_char('\n')
        };
        let mean = |rows: &Vec<Row>, which: &dyn Fn(&&Row) -> bool| {
            format!("{:.3}", geometric_mean(rows.iter().filter(which)))
        };
        line("mean of SIMD forms", &|i| mean(&forms[i].rows, &is_simd))?;
        line("at most", &|i| {
            SIMD_GOALS
                .iter()
                .find(|(name, _)| *name == targets[i])
                .map_or(String::new(), |(_, goal)| format!("{goal:.2}"))
        })?;
        line("mean of scalar forms", &|i| mean(&forms[i].rows, &is_scalar))?;
        line("at most", &|_| format!("{SCALAR_GOAL:.2}"))?;
        line("forms that are kept as they are", &|i| {
            forms[i].rows.iter().filter(|row| row.rule == "keep").count().to_string()
        })?;
        line("more expensive than ptxas's code, which computes the same value", &|i| {
            forms[i].rows.iter().filter(|row| row.same && row.ours > row.ptxas).count().to_string()
        })?;
        line("more expensive than ptxas's code, which computes another value", &|i| {
            forms[i].rows.iter().filter(|row| !row.same && row.ours > row.ptxas).count().to_string()
        })?;
        line("one form in ten: a cheaper sequence is known", &|i| {
            forms[i].rows.iter().filter(|row| row.least.is_some_and(|least| least < row.ours)).count().to_string()
        })?;
        line("CUDA intrinsics that are cheaper", &|i| {
            let counts = intrinsics();
            let rows = equal[i].rows.iter().zip(&counts);
            rows.filter(|(row, intrinsic)| row.ours > intrinsic.counts[place(targets[i])]).count().to_string()
        })?;

        heading(
            f,
            "\n## By mnemonic\n\nThe geometric mean of the ratios, then the mean counts: lowered / ptxas.\n\n| | forms |",
            targets,
        )?;
        for mnemonic in Mnemonic::ALL {
            let of = |i: usize| forms[i].rows.iter().filter(|row| row.form.mnemonic() == mnemonic);
            let count = if forms.is_empty() { 0 } else { of(0).count() };
            if count == 0 {
                continue;
            }
            write!(f, "| `{mnemonic}` | {count} |")?;
            for i in 0..targets.len() {
                let mean =
                    |count: fn(&Row) -> u32| of(i).map(|row| f64::from(count(row))).sum::<f64>() / of(i).count() as f64;
                write!(
                    f,
                    " {:.2}: {:.1} / {:.1} |",
                    geometric_mean(of(i)),
                    mean(|row| row.ours),
                    mean(|row| row.ptxas)
                )?;
            }
            f.write_char('\n')?;
        }

        heading(
            f,
            "\n## CUDA's intrinsics\n\nCounts: lowered / CUDA intrinsic / the video instruction by ptxas, which all compute the same value. The intrinsics were measured \
             on sm_75, sm_90, sm_100 and sm_120. The other columns repeat the count of the nearest older target.\n\n| | form |",
            targets,
        )?;
        for (k, intrinsic) in intrinsics().iter().enumerate() {
            write!(f, "| `{}` | `{}` |", intrinsic.name, intrinsic.form.opcode())?;
            for (i, target) in targets.iter().enumerate() {
                let row = &equal[i].rows[k];
                write!(f, " {} / {} / {} |", row.ours, intrinsic.counts[place(target)], row.ptxas)?;
            }
            f.write_char('\n')?;
        }

        f.write_str("\n## Broken promises\n\n")?;
        let broken = self.report.broken();
        if broken.is_empty() {
            f.write_str("None.\n")?;
        }
        for sentence in broken.iter().take(40) {
            writeln!(f, "- {sentence}")?;
        }
        if broken.len() > 40 {
            writeln!(f, "- and {} more", broken.len() - 40)?;
        }

        heading(
            f,
            "\n## The model of costs\n\nA model of ptxas (crates/vop/src/lower/cost) decides which sequence is chosen. For one form in ten, all different sequences of \
             each rule were compiled and compared with the model. A cell holds the number of sequences, the percentage that the \
             model predicts exactly, and in brackets how many cost more and how many cost less than it predicts.\n\n| rule |",
            targets,
        )?;
        let rules: std::collections::BTreeSet<&str> =
            forms.iter().flat_map(|measured| measured.model.keys().copied()).collect();
        let cell = |accuracy: Accuracy| {
            let Accuracy { exact, below, above } = accuracy;
            let all = exact + below + above;
            match all {
                0 => String::new(),
                _ => format!("{all}: {:.1} ({below}, {above})", 100.0 * exact as f64 / all as f64),
            }
        };
        write!(f, "| all |")?;
        for measured in forms {
            let sum = |which: fn(&Accuracy) -> usize| measured.model.values().map(which).sum();
            let all = Accuracy { exact: sum(|a| a.exact), below: sum(|a| a.below), above: sum(|a| a.above) };
            write!(f, " {} |", cell(all))?;
        }
        f.write_char('\n')?;
        for rule in rules {
            write!(f, "| {rule} |")?;
            for measured in forms {
                write!(f, " {} |", cell(measured.model.get(rule).copied().unwrap_or_default()))?;
            }
            f.write_char('\n')?;
        }
        f.write_char('\n')
    }
}

/// Text before a table, the first cells of its heading, and a column for each target.
fn heading(f: &mut fmt::Formatter<'_>, text: &str, targets: &[&str]) -> fmt::Result {
    f.write_str(text)?;
    targets.iter().try_for_each(|target| write!(f, " {target} |"))?;
    let first = text.lines().last().unwrap_or_default().matches('|').count() - 1;
    writeln!(f, "\n|{}{}", " --- |".repeat(first), " ---: |".repeat(targets.len()))
}
