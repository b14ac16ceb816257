//! `cargo xtask sass lowering`.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use xtask::lowering::{HAND_WRITTEN, Page, Report, TARGETS, golden_forms};

use super::{Failure, Tools};

/// The page.
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/lowering-cost.md");

/// Measure what lowered forms cost, and compare it with ptxas and CUDA's intrinsics.
///
/// Compiles what `vop lower` makes of the forms of tests/golden/ptxas-cost.tsv (and every tenth form itself, with all sequences
/// that the rules have for it), and counts machine instructions. Prints docs/lowering-cost.md, except its end, which is written by hand.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask sass lowering --write
  cargo xtask sass lowering --check --every 20 --target sm_90 --misjudged")]
pub(crate) struct Args {
    /// Write the page to docs/ instead of printing it.
    #[arg(long, conflicts_with_all = ["every", "targets"])]
    write: bool,
    /// Print the promises that are broken instead of the page, and fail if there are any.
    #[arg(long)]
    check: bool,
    /// Take only every Nth form.
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: usize,
    /// A GPU to measure; may be given several times [default: all nine].
    #[arg(long = "target", value_name = "TARGET", value_parser = clap::builder::PossibleValuesParser::new(TARGETS))]
    targets: Vec<String>,
    /// Print the sequences whose cost the model gets wrong, instead of the page.
    #[arg(long)]
    misjudged: bool,
    #[command(flatten)]
    tools: Tools,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let toolchain = args.tools.find()?;
    let is_asked = |name: &&str| args.targets.is_empty() || args.targets.iter().any(|target| target == name);
    let targets: Vec<&'static str> = TARGETS.into_iter().filter(is_asked).collect();
    let forms: Vec<_> = golden_forms().into_iter().step_by(args.every.max(1)).collect();
    // Nothing can be done where standard error is closed.
    let said = |target: &str| drop(writeln!(std::io::stderr(), "{target} is measured"));
    let report = Report::measure(&toolchain, &targets, &forms, said)?;
    let mut out = std::io::stdout().lock();
    if args.misjudged {
        for (target, measured) in targets.iter().zip(&report.forms) {
            for (rule, form, text, model, real) in &measured.misjudged {
                writeln!(out, "{target}\t{rule}\t{form}\tmodel {model}\tptxas {real}\t{text}")?;
            }
        }
    }
    if args.check {
        let broken = report.broken();
        broken.iter().try_for_each(|sentence| writeln!(out, "{sentence}"))?;
        return match broken.len() {
            0 => Ok(writeln!(out, "{} forms on {} targets: all promises hold", forms.len(), targets.len())?),
            count => Err(format!("{count} promises are broken").into()),
        };
    }
    if args.misjudged {
        return Ok(());
    }
    let page = Page { report: &report, version: toolchain.version(), date: &today() }.to_string();
    if !args.write {
        return Ok(write!(out, "{page}")?);
    }
    let old = std::fs::read_to_string(PATH).unwrap_or_default();
    let by_hand = old.split_once(HAND_WRITTEN).map_or("", |(_, end)| end);
    let new = format!("{PATH}.new");
    std::fs::write(&new, format!("{page}{HAND_WRITTEN}{by_hand}"))?;
    std::fs::rename(&new, PATH)?;
    Ok(())
}

/// The day, in UTC, as 2026-11-28.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    // Days since 1 March of year 0; years then end with the day that leaps.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    format!("{:04}-{month:02}-{day:02}", 400 * era + year + u64::from(month <= 2))
}
