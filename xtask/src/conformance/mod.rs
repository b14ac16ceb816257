//! The conformance suite: vectors and self-checking kernels for authors of emulators, translators and compilers, and how good
//! they are.

pub mod evaluator;
pub mod fault;
mod kernels;
pub mod quality;
pub mod vectors;

use vop::{Deviation, Mnemonic, Semantics};

pub use kernels::module;
use vectors::Row;

/// The rows of all mnemonics.
pub struct Suite {
    /// The rows of each mnemonic in the large set, in the table's order.
    pub large: Vec<(Mnemonic, Vec<Row>)>,
    /// Those in the small set.
    pub small: Vec<(Mnemonic, Vec<Row>)>,
}

impl Suite {
    /// Chooses the rows of some mnemonics. They are the same each time, whatever the others are.
    pub fn of(mnemonics: &[Mnemonic]) -> Suite {
        let quotas = vectors::quotas();
        let chosen = quotas.into_iter().filter(|(mnemonic, _)| mnemonics.contains(mnemonic));
        let rows = |(mnemonic, quota)| {
            let large = vectors::large(mnemonic);
            let small = vectors::small(&large, quota);
            ((mnemonic, large), (mnemonic, small))
        };
        let (large, small) = chosen.map(rows).unzip();
        Suite { large, small }
    }

    /// The files of the archive, by name.
    pub fn files(&self, version: &str) -> Vec<(String, String)> {
        let [large, small] = [&self.large, &self.small]
            .map(|set| vectors::text(&set.iter().flat_map(|(_, rows)| rows).copied().collect::<Vec<Row>>()));
        let count = with_commas(self.large.iter().map(|(_, rows)| rows.len()).sum());
        let mut files = vec![
            ("README.md".to_owned(), include_str!("suite/README.md").replace("@LARGE@", &count)),
            ("HOW-TO-READ.md".to_owned(), include_str!("suite/HOW-TO-READ.md").replace("@DEVIATIONS@", &deviations())),
            ("VERSION".to_owned(), format!("{version}\n")),
            ("run.c".to_owned(), include_str!("suite/run.c").to_owned()),
            ("run.py".to_owned(), include_str!("suite/run.py").to_owned()),
            ("vectors-large.tsv".to_owned(), large),
            ("vectors-small.tsv".to_owned(), small),
        ];
        files.extend(
            self.small.iter().map(|(mnemonic, rows)| (format!("kernels/{mnemonic}.ptx"), module(*mnemonic, rows))),
        );
        files
    }
}

/// The rows of a table of what ptxas's code does.
fn deviations() -> String {
    let row = |&deviation: &Deviation| {
        let is_new = Semantics::Ptxas.deviations().has(deviation);
        let scope = deviation.scope().trim_end_matches(", to 13.2");
        format!("| {} | {scope}{} |", deviation.ptxas(), if is_new { "" } else { "; only to ptxas 13.2" })
    };
    Deviation::ALL.iter().map(row).collect::<Vec<_>>().join("\n")
}

/// A number with commas between its groups of three digits.
pub fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = {
        let first = digits.len() % 3;
        let rest = (first..digits.len()).step_by(3).map(|start| &digits[start..start + 3]);
        std::iter::once(&digits[..first]).filter(|group| !group.is_empty()).chain(rest).collect()
    };
    groups.join(",")
}
