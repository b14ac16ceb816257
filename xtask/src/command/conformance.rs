//! `cargo xtask conformance`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use vop::{Mnemonic, Semantics};
use xtask::conformance::Suite;
use xtask::conformance::fault::Stage;
use xtask::conformance::quality::Mutant;
use xtask::conformance::vectors::{Row, shown_mutants};
use xtask::sass::Toolchain;

use super::dist::version;
use super::process::{archive, root};
use super::{Failure, Tools};

/// Write the conformance suite, an archive for authors of emulators, translators and compilers.
///
/// It has vectors of all instructions, kernels that check themselves, and programs that run them through a libcuda. Two runs write
/// the same bytes. Then mutants of an evaluator tell how good the vectors are; docs/conformance.md has the result.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where it is written [default: target/vop-conformance-VERSION.tar.gz].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compile the forms of the small set with ptxas, execute the machine code on its rows, and compare.
    #[arg(long)]
    ask_ptxas: bool,
    #[command(flatten)]
    tools: Tools,
    /// Do not count mutants.
    #[arg(long)]
    no_mutants: bool,
}

/// A file may have no more: it is read whole, and kept in repositories.
const MOST_BYTES: usize = 20_000_000;

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let root = root()?;
    let version = version(&root)?;
    let suite = Suite::of(&Mnemonic::ALL);
    let rows = || suite.large.iter().flat_map(|(_, rows)| rows);
    if let Some(row) = rows().find(|row| !row.has_witnesses()) {
        return Err(format!("the evaluators disagree: {} on {:08x?}", row.form, row.inputs).into());
    }
    let name = format!("vop-conformance-{version}");
    let output = args.output.unwrap_or_else(|| root.join(format!("target/{name}.tar.gz")));
    let staging = tempfile::tempdir()?;
    let folder = staging.path().join(&name);
    std::fs::create_dir_all(folder.join("kernels"))?;
    let files = suite.files(&version);
    if let Some((file, text)) = files.iter().find(|(_, text)| text.len() > MOST_BYTES) {
        return Err(format!("{file} has {} bytes, more than {MOST_BYTES}", text.len()).into());
    }
    for (file, text) in &files {
        std::fs::write(folder.join(file), text)?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        std::fs::copy(root.join(licence), folder.join(licence))?;
    }
    archive(&output, staging.path(), &name)?;
    let mut out = io::stdout().lock();
    for (file, text) in files.iter().filter(|(file, _)| file.starts_with("vectors")) {
        writeln!(out, "{file}: {} rows, {} bytes", text.lines().count() - 1, text.len())?;
    }
    writeln!(out, "wrote {}", output.display())?;
    if args.ask_ptxas {
        let toolchain = args.tools.find()?;
        let rows: Vec<&Row> = suite.small.iter().flat_map(|(_, rows)| rows).collect();
        let agree = ask_ptxas(&toolchain, &rows)?;
        writeln!(
            out,
            "the code of ptxas {} computes what its column says in {agree} of {} rows",
            toolchain.version(),
            rows.len()
        )?;
        if agree < rows.len() {
            return Err("the column of ptxas is wrong".into());
        }
    }
    if args.no_mutants {
        return Ok(());
    }
    let quality = Quality::of(&suite)?;
    write!(out, "\n{quality}")?;
    let Tally { mutants, equivalent, by_large, by_small } = quality.all;
    let others = mutants - equivalent;
    if by_large * 100 < others * 99 || by_small * 100 < others * 95 {
        return Err(
            "the sets kill too few mutants: 99 % by the large one and 95 % by the small one are promised".into()
        );
    }
    Ok(())
}

/// In how many rows the machine code of ptxas computes what the column of its release says.
fn ask_ptxas(toolchain: &Toolchain, rows: &[&Row]) -> Result<usize, Failure> {
    let semantics: Semantics = format!("ptxas-{}", toolchain.version()).parse().map_err(|error| format!("{error}"))?;
    let column = Semantics::ALL.iter().position(|&other| other == semantics).ok_or("no column has this ptxas")?;
    let texts: Vec<String> = rows.iter().map(|row| row.form.to_string()).collect();
    let codes = toolchain.compile(&texts, "sm_90")?;
    let mut agree = 0;
    for (row, code) in rows.iter().zip(codes) {
        let [a, b, c] = row.inputs;
        agree += usize::from(code.run(a, b, c)? == row.d[column]);
    }
    Ok(agree)
}

/// How many mutants there are, and how many are killed.
#[derive(Default, Clone, Copy)]
struct Tally {
    mutants: usize,
    equivalent: usize,
    by_large: usize,
    by_small: usize,
}

impl Tally {
    fn cells(&self) -> String {
        let rate = |killed: usize| 100.0 * killed as f64 / (self.mutants - self.equivalent).max(1) as f64;
        format!(
            "{} | {} | {} ({:.2} %) | {} ({:.2} %)",
            self.mutants,
            self.equivalent,
            self.by_large,
            rate(self.by_large),
            self.by_small,
            rate(self.by_small)
        )
    }
}

#[derive(Default)]
struct Quality {
    /// By stage, in order; those of ptxas's code come last.
    stages: BTreeMap<(bool, Option<Stage>), Tally>,
    all: Tally,
    /// Those that the choice of the small set was not shown.
    unseen: Tally,
    narrow: Tally,
    survivors: Vec<String>,
}

impl Quality {
    fn of(suite: &Suite) -> Result<Quality, Failure> {
        let mut quality = Quality::default();
        for ((mnemonic, large), (_, small)) in suite.large.iter().zip(&suite.small) {
            let shown: Vec<Mutant> = shown_mutants(*mnemonic).map(Mutant::Manual).collect();
            for mutant in Mutant::all(*mnemonic) {
                let why = mutant.why_equivalent(*mnemonic);
                let [by_large, by_small] = killed(mutant, large, small);
                if by_large && why.is_some() {
                    return Err(format!("{mnemonic}: {mutant:?} is killed, though {}", why.unwrap_or_default()).into());
                }
                if why.is_none() && !(by_large && by_small) {
                    quality
                        .survivors
                        .push(format!("{mnemonic}, {} set: {mutant:?}", if by_large { "small" } else { "large" }));
                }
                let stage = mutant.stage();
                let of_stage = quality.stages.entry((stage.is_none(), stage)).or_default();
                let mut tallies = vec![of_stage, &mut quality.all];
                if !shown.contains(&mutant) {
                    tallies.push(&mut quality.unseen);
                }
                for tally in tallies {
                    tally.mutants += 1;
                    tally.equivalent += usize::from(why.is_some());
                    tally.by_large += usize::from(by_large);
                    tally.by_small += usize::from(by_small);
                }
            }
            for mutant in Mutant::narrow(*mnemonic) {
                let [by_large, by_small] = killed(mutant, large, small);
                quality.narrow.mutants += 1;
                quality.narrow.by_large += usize::from(by_large);
                quality.narrow.by_small += usize::from(by_small);
            }
        }
        Ok(quality)
    }
}

/// Whether each set kills a mutant. The small set is part of the large one.
fn killed(mutant: Mutant, large: &[Row], small: &[Row]) -> [bool; 2] {
    let by_small = mutant.is_killed(small);
    [by_small || mutant.is_killed(large), by_small]
}

impl std::fmt::Display for Quality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "| stage | mutants | equivalent | killed by the large set | by the small set |")?;
        writeln!(f, "| --- | ---: | ---: | ---: | ---: |")?;
        for ((_, stage), tally) in &self.stages {
            let name = stage.map_or("ptxas".to_owned(), |stage| format!("{stage:?}").to_lowercase());
            writeln!(f, "| {name} | {} |", tally.cells())?;
        }
        writeln!(f, "| all | {} |", self.all.cells())?;
        writeln!(f, "| not shown to the choice | {} |", self.unseen.cells())?;
        let Tally { mutants, by_large, by_small, .. } = self.narrow;
        let rate = 100.0 * by_small as f64 / by_large.max(1) as f64;
        writeln!(
            f,
            "\nOf {mutants} faults in one combination of types and .sat, the large set shows {by_large}, and the small set {by_small} \
             ({rate:.2} % of these)."
        )?;
        self.survivors.iter().try_for_each(|survivor| writeln!(f, "survives {survivor}"))
    }
}
