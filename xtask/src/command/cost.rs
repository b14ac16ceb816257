//! `cargo xtask sass cost`.

use std::io::{BufWriter, Write};

use super::{Failure, Tools, full_text};

/// Forms whose costs are printed together.
const BATCH: usize = 1000;

/// Count the machine instructions that ptxas spends on forms.
///
/// The count is the size of a kernel that loads a, b and c, computes d and stores it, less the size of the same kernel with
/// `mov.b32 d, a`. Prints a row for each form and a column for each target, separated by tabs.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask sass cost vadd4.u32.u32.u32 '{ add.u32 d, a, b; }'
  cut -f1 tests/golden/values.tsv | uniq | cargo xtask sass cost - --target sm_90")]
pub(crate) struct Args {
    /// The instructions or blocks; `-` reads them from standard input, one a line.
    #[arg(required = true)]
    forms: Vec<String>,
    /// A GPU to compile for; may be given several times.
    #[arg(long = "target", value_name = "TARGET", default_values = ["sm_75", "sm_90", "sm_100", "sm_120"])]
    targets: Vec<String>,
    #[command(flatten)]
    tools: Tools,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let toolchain = args.tools.find()?;
    let mut texts = Vec::new();
    for form in &args.forms {
        if form == "-" {
            let lines = std::io::read_to_string(std::io::stdin().lock())?;
            texts.extend(lines.lines().filter(|line| !line.trim().is_empty()).map(full_text));
        } else {
            texts.push(full_text(form));
        }
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    writeln!(out, "form\t{}", args.targets.join("\t"))?;
    for batch in texts.chunks(BATCH) {
        let costs = args.targets.iter().map(|target| toolchain.costs(batch, target));
        let costs = costs.collect::<Result<Vec<_>, _>>()?;
        for (i, text) in batch.iter().enumerate() {
            write!(out, "{text}")?;
            for column in &costs {
                write!(out, "\t{}", column[i])?;
            }
            writeln!(out)?;
        }
        out.flush()?;
    }
    Ok(())
}
