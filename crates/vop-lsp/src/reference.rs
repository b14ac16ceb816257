//! What PTX has beside video instructions: a sentence and the sections of the manual, a row each in reference.tsv.

use std::collections::HashMap;
use std::sync::OnceLock;

/// A row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// What it is.
    pub kind: Kind,
    /// As it is written: `add`, `cp.async.bulk`, `%tid`, `.entry`.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub sentence: &'static str,
    sections: &'static str,
}

/// What a row is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An instruction, or the opcodes that begin so.
    Instruction,
    /// A special register.
    Register,
    /// A directive or a state space.
    Directive,
    /// A type.
    Type,
}

impl Kind {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Kind::Instruction => "instruction",
            Kind::Register => "special register",
            Kind::Directive => "directive",
            Kind::Type => "type",
        }
    }
}

/// Sections of the PTX ISA manual, version 9.x.
const SECTIONS: [(&str, &str); 32] = [
    ("5.1", "State Spaces"),
    ("5.2", "Types"),
    ("5.3", "Texture Sampler and Surface Types"),
    ("5.4", "Variables"),
    ("9.7.1", "Integer Arithmetic Instructions"),
    ("9.7.2", "Extended-Precision Integer Arithmetic Instructions"),
    ("9.7.3", "Floating-Point Instructions"),
    ("9.7.4", "Half Precision Floating-Point Instructions"),
    ("9.7.5", "Mixed Precision Floating-Point Instructions"),
    ("9.7.6", "Comparison and Selection Instructions"),
    ("9.7.7", "Half Precision Comparison Instructions"),
    ("9.7.8", "Logic and Shift Instructions"),
    ("9.7.9", "Data Movement and Conversion Instructions"),
    ("9.7.10", "Texture Instructions"),
    ("9.7.11", "Surface Instructions"),
    ("9.7.12", "Control Flow Instructions"),
    ("9.7.13", "Parallel Synchronization and Communication Instructions"),
    ("9.7.14", "Warp Level Matrix Multiply-Accumulate Instructions"),
    ("9.7.15", "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions"),
    ("9.7.16", "TensorCore 5th Generation Family Instructions"),
    ("9.7.17", "Stack Manipulation Instructions"),
    ("9.7.18", "Video Instructions"),
    ("9.7.19", "Miscellaneous Instructions"),
    ("10", "Special Registers"),
    ("11.1", "PTX Module Directives"),
    ("11.2", "Specifying Kernel Entry Points and Functions"),
    ("11.3", "Control Flow Directives"),
    ("11.4", "Performance-Tuning Directives"),
    ("11.5", "Debugging Directives"),
    ("11.6", "Linking Directives"),
    ("11.7", "Cluster Dimension Directives"),
    ("11.8", "Miscellaneous Directives"),
];

impl Row {
    /// Its sections, each with its title: `9.7.8 Logic and Shift Instructions`.
    pub fn sections(&self) -> String {
        let titled = |number: &str| {
            let title = SECTIONS.iter().find(|(known, _)| *known == number).map_or("", |(_, title)| title);
            format!("{number} {title}")
        };
        self.sections.split(' ').map(titled).collect::<Vec<_>>().join("; ")
    }
}

/// All rows.
pub fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let lines = include_str!("reference.tsv").lines().filter(|line| !line.starts_with('#'));
        let row = |line: &'static str| {
            let mut cells = line.split('\t');
            let kind = match cells.next()? {
                "instruction" => Kind::Instruction,
                "register" => Kind::Register,
                "directive" => Kind::Directive,
                "type" => Kind::Type,
                _ => return None,
            };
            Some(Row { kind, name: cells.next()?, sections: cells.next()?, sentence: cells.next()? })
        };
        lines.filter_map(row).collect()
    })
}

fn by_name(name: &str) -> Option<&'static Row> {
    static NAMES: OnceLock<HashMap<&'static str, usize>> = OnceLock::new();
    let names = NAMES.get_or_init(|| rows().iter().enumerate().map(|(i, row)| (row.name, i)).collect());
    names.get(name).map(|&row| &rows()[row])
}

/// The row of an opcode: that with the most words of it, `cp.async.bulk` for `cp.async.bulk.shared::cluster.global`. Words between those of
/// a row may be others: `ld.global.nc` is `ld.global.relaxed.nc`, too.
pub fn instruction(opcode: &str) -> Option<&'static Row> {
    let mut words = opcode.split('.');
    let mnemonic = words.next()?;
    let words: Vec<&str> = words.collect();
    let fits = |row: &&Row| {
        let mut rest = words.iter();
        let mut wanted = row.name.split('.');
        row.kind == Kind::Instruction
            && wanted.next() == Some(mnemonic)
            && wanted.all(|word| rest.any(|other| *other == word))
    };
    rows().iter().filter(fits).max_by_key(|row| row.name.split('.').count())
}

/// The row of a special register: `%tid`, `%envreg3`.
pub fn register(name: &str) -> Option<&'static Row> {
    let row = by_name(name).filter(|row| row.kind == Kind::Register);
    row.or_else(|| {
        // Of those that are numbered the first has a row.
        let numbered = |prefix: &str, suffix: &str, count: u32| {
            let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
            let number: u32 = digits.parse().ok()?;
            (digits == number.to_string() && number < count).then(|| by_name(&format!("{prefix}0{suffix}")))?
        };
        numbered("%envreg", "", 32).or_else(|| numbered("%pm", "", 8)).or_else(|| numbered("%pm", "_64", 8))
    })
}

/// The row of a directive, a state space or a type, with its dot.
pub fn dotted(name: &str) -> Option<&'static Row> {
    by_name(name).filter(|row| matches!(row.kind, Kind::Directive | Kind::Type))
}

/// The mnemonics of base instructions: the first words of opcodes.
pub fn mnemonics() -> impl Iterator<Item = &'static Row> {
    rows().iter().filter(|row| row.kind == Kind::Instruction && !row.name.contains('.'))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn rows_are_whole() {
        let lines = include_str!("reference.tsv").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(rows().len(), lines);
        let mut names = HashSet::new();
        let mnemonics: HashSet<&str> = mnemonics().map(|row| row.name).collect();
        for row in rows() {
            assert!(names.insert(row.name), "{} twice", row.name);
            assert!(row.sentence.ends_with('.') && row.sentence.len() > 8, "{}", row.name);
            for number in row.sections.split(' ') {
                assert!(SECTIONS.iter().any(|(known, _)| *known == number), "{}: {number}", row.name);
            }
            let begins = |first: char| row.name.starts_with(first);
            match row.kind {
                Kind::Instruction => {
                    assert!(mnemonics.contains(row.name.split('.').next().unwrap()), "{}", row.name);
                    assert!(vop::Mnemonic::from_name(row.name).is_none());
                }
                Kind::Register => assert!(begins('%'), "{}", row.name),
                Kind::Directive => assert!(begins('.') || begins('@'), "{}", row.name),
                Kind::Type => assert!(begins('.'), "{}", row.name),
            }
        }
    }

    #[test]
    fn the_longest_row() {
        let name = |opcode| instruction(opcode).map(|row| row.name);
        assert_eq!(name("add.s32"), Some("add"));
        assert_eq!(name("add.cc.u32"), Some("add.cc"));
        assert_eq!(name("cp.async.bulk.tensor.2d.shared::cluster.global"), Some("cp.async.bulk.tensor"));
        assert_eq!(name("ld.global.relaxed.nc.v4.f32"), Some("ld.global.nc"));
        assert_eq!(name("ld.shared.f32"), Some("ld"));
        assert_eq!(name("cvt.pack.sat.u16.s32"), Some("cvt.pack"));
        assert_eq!(name("vadd.u32"), None);
        assert_eq!(name(""), None);
        assert_eq!(register("%envreg31").map(|row| row.name), Some("%envreg0"));
        assert_eq!(register("%envreg32"), None);
        assert_eq!(register("%pm3_64").map(|row| row.name), Some("%pm0_64"));
        assert_eq!(register("%r1"), None);
    }
}
