//! `cargo xtask sass cost-table`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use vop::Target;
use vop::cost::Entry;
use vop::isa::types::Shape;
use vop::{Form, Mnemonic};
use vop_tests::Random;
use xtask::sass::Toolchain;

use super::{Failure, Tools};

/// The table that the library is built with.
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/vop/src/cost/table.tsv");

/// The release whose costs the library tells.
const RELEASE: &str = "13.5";

/// Measure the table of costs that the library has, and write it.
///
/// For every place of the table that forms have (see vop's module `cost`) some of the forms that have it are chosen at
/// random and measured. Should their costs differ, the table has too few places: that is an error, and nothing is written.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask sass cost-table
  cargo xtask sass cost-table --check --target sm_89 --samples 5000 --seed 7")]
pub(crate) struct Args {
    /// Measure random forms and compare them with the table, instead of writing it.
    #[arg(long)]
    check: bool,
    /// The number of forms to measure: for each place, or with --check in total [default: 2, or 2000].
    #[arg(long, value_name = "N")]
    samples: Option<usize>,
    /// Chooses the random forms.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A GPU to check; may be given several times [default: those that are columns of the table].
    #[arg(long = "target", value_name = "TARGET", requires = "check")]
    targets: Vec<Target>,
    #[command(flatten)]
    tools: Tools,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let toolchain = args.tools.find()?;
    if toolchain.version() != RELEASE {
        return Err(format!("the table is of ptxas {RELEASE}, this is {}", toolchain.version()).into());
    }
    let mut random = Random(args.seed);
    if args.check {
        let targets = if args.targets.is_empty() { Target::MEASURED.to_vec() } else { args.targets };
        check(&toolchain, &targets, args.samples.unwrap_or(2000), &mut random)
    } else {
        write(&toolchain, args.samples.unwrap_or(2), &mut random)
    }
}

fn write(toolchain: &Toolchain, samples: usize, random: &mut Random) -> Result<(), Failure> {
    let places = members(samples, random);
    let forms: Vec<Form> = places.values().flat_map(|sample| &sample.forms).copied().collect();
    // A row of numbers for each target.
    let mut rows: BTreeMap<&str, [Vec<i64>; Target::MEASURED.len()]> = BTreeMap::new();
    for (column, target) in Target::MEASURED.into_iter().enumerate() {
        let mut costs = measure(toolchain, &forms, target)?.into_iter();
        for (place, sample) in &places {
            let costs: Vec<i64> = costs.by_ref().take(sample.forms.len()).collect();
            if let Some(i) = costs.iter().position(|&cost| cost != costs[0]) {
                let [one, other] = [0, i].map(|i| format!("{} on `{}`", costs[i], sample.forms[i]));
                return Err(format!("for {target} ptxas spends {one} but {other}, which have one place").into());
            }
            let numbers = &mut rows.entry(&place.row).or_default()[column];
            if numbers.len() != place.number {
                return Err(format!("`{}` has a number {} but no {}", place.row, place.number, numbers.len()).into());
            }
            numbers.extend(costs.first());
        }
    }
    let table = format(&rows)?;
    let new = format!("{PATH}.new");
    std::fs::write(&new, table)?;
    std::fs::rename(&new, PATH)?;
    Ok(())
}

/// The text of the table.
fn format(rows: &BTreeMap<&str, [Vec<i64>; Target::MEASURED.len()]>) -> Result<String, std::fmt::Error> {
    let mut table = format!(
        "# Machine instructions that ptxas {RELEASE} spends on every form. mod.rs beside this file says how a form finds its number.\n\
         # Written by `cargo xtask sass cost-table`. A cell that is empty or missing repeats the one before it.\n\
         row"
    );
    for target in Target::MEASURED {
        write!(table, "\t{target}")?;
    }
    table.push('\n');
    for (row, cells) in rows {
        let mut line = (*row).to_owned();
        for (i, cell) in cells.iter().enumerate() {
            line.push('\t');
            if i == 0 || *cell != cells[i - 1] {
                let numbers: Vec<String> = cell.iter().map(i64::to_string).collect();
                line.push_str(&numbers.join(" "));
            }
        }
        table.push_str(line.trim_end_matches('\t'));
        table.push('\n');
    }
    Ok(table)
}

fn check(toolchain: &Toolchain, targets: &[Target], samples: usize, random: &mut Random) -> Result<(), Failure> {
    let mut forms: Vec<Form> = members(1, random).into_values().flat_map(|sample| sample.forms).collect();
    let count = samples.min(forms.len());
    for i in 0..count {
        let other = i + below(random, (forms.len() - i) as u64) as usize;
        forms.swap(i, other);
    }
    forms.truncate(count);
    let mut out = std::io::stdout().lock();
    let mut wrong = 0;
    for &target in targets {
        for (&form, cost) in forms.iter().zip(measure(toolchain, &forms, target)?) {
            if i64::from(form.cost(target)) != cost {
                wrong += 1;
                writeln!(out, "{form}\t{target}: the table has {}, measured {cost}", form.cost(target))?;
            }
        }
    }
    let measured = forms.len() * targets.len();
    match wrong {
        0 => Ok(writeln!(out, "{measured} measured, all as in the table")?),
        _ => Err(format!("{wrong} of {measured} are not as in the table").into()),
    }
}

/// The costs of forms for a target. It takes minutes: progress goes to standard error.
fn measure(toolchain: &Toolchain, forms: &[Form], target: Target) -> Result<Vec<i64>, Failure> {
    let texts: Vec<String> = forms.iter().map(Form::to_string).collect();
    let mut costs = Vec::with_capacity(forms.len());
    for batch in texts.chunks(1000) {
        costs.extend(toolchain.costs(batch, &target.to_string())?);
        // Nothing can be done where standard error is closed.
        let _ = writeln!(std::io::stderr(), "{target}: {} of {} forms", costs.len(), forms.len());
    }
    Ok(costs)
}

/// Some of the forms that have one place.
#[derive(Default)]
struct Sample {
    forms: Vec<Form>,
    seen: u64,
}

impl Sample {
    /// Adds a form, such that every form seen is kept with the same chance.
    fn add(&mut self, form: Form, size: usize, random: &mut Random) {
        self.seen += 1;
        if self.forms.len() < size {
            self.forms.push(form);
        } else if let Some(place) = self.forms.get_mut(below(random, self.seen) as usize) {
            *place = form;
        }
    }
}

/// All places, with up to `size` forms of each.
fn members(size: usize, random: &mut Random) -> BTreeMap<Entry, Sample> {
    let mut places: BTreeMap<Entry, Sample> = BTreeMap::new();
    for mnemonic in Mnemonic::ALL {
        let mut add = |form: Form, random: &mut Random| {
            // A selector `.b1024` is legal, but ptxas cannot read it, and the parser does as ptxas does.
            if vop::parse(&form.to_string()).is_ok() {
                places.entry(Entry::of(form)).or_default().add(form, size, random);
            }
        };
        let forms = mnemonic.forms();
        if mnemonic.shape() != Shape::Bytes {
            forms.for_each(|form| add(form, random));
            continue;
        }
        // Billions: for each opcode and mask the default selectors, some that are equal, and any. Selectors are the
        // fastest digits of an index, written in octal as in the text.
        const SELECTORS: u64 = 0o1_0000_0000;
        for first in (0..forms.count_left()).step_by(SELECTORS as usize) {
            let mut selectors = vec![0o3210_7654, 0o7654_3210];
            for _ in 0..2 * size {
                selectors.extend([below(random, 0o1_0000) * 0o1_0001, below(random, SELECTORS)]);
            }
            selectors
                .into_iter()
                .filter_map(|selectors| forms.get(first + selectors))
                .for_each(|form| add(form, random));
        }
    }
    places
}

/// A number from 0 to `limit - 1`.
fn below(random: &mut Random, limit: u64) -> u64 {
    random.next() % limit.max(1)
}
