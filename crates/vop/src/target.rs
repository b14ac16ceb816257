//! Targets: [`Target`], a GPU that machine code is made for, and [`ModuleTarget`], what a module's `.target` says.

use core::fmt;
use core::str::FromStr;

/// A GPU that machine code is made for, by the name that ptxas's `-arch` gives it: `sm_90`, `sm_90a`, `sm_120f`.
///
/// The virtual architectures' names are read too: `compute_90` is the GPU of the same number. Targets older than those
/// of ptxas 13.5 are refused: nothing was measured there.
///
/// ```
/// use vop::Target;
/// let target: Target = "compute_120f".parse().unwrap();
/// assert_eq!(target.to_string(), "sm_120f");
/// assert_eq!(target.measured().to_string(), "sm_120");
/// assert!("sm_70".parse::<Target>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    number: u16,
    /// `a` or `f`: code that may use what not every GPU of that number has.
    suffix: Option<char>,
}

/// The targets of ptxas 13.5: number, the suffixes it may have, and the number of the target whose costs it has, which
/// is the table's column.
const KNOWN: [(u16, &str, u16); 13] = [
    (75, "", 75),
    (80, "", 80),
    (86, "", 80),
    (87, "", 80),
    (88, "", 80),
    (89, "", 80),
    (90, "a", 90),
    (100, "af", 90),
    (103, "af", 90),
    (107, "af", 107),
    (110, "af", 90),
    (120, "af", 120),
    (121, "af", 120),
];

impl Target {
    /// The targets that were measured in full, in the order of the table's columns; every other has one's costs.
    pub const MEASURED: [Target; 5] =
        [Target::plain(75), Target::plain(80), Target::plain(90), Target::plain(107), Target::plain(120)];

    const fn plain(number: u16) -> Target {
        Target { number, suffix: None }
    }

    /// All targets without a suffix, in ascending order.
    pub fn all() -> impl Iterator<Item = Target> {
        KNOWN.iter().map(|&(number, ..)| Target::plain(number))
    }

    /// The one of [`MEASURED`](Target::MEASURED) whose costs this target has. Suffixes change nothing.
    pub fn measured(self) -> Target {
        Target::MEASURED[self.column()]
    }

    /// Its number: 90 of `sm_90a`.
    pub const fn number(self) -> u16 {
        self.number
    }

    /// Its suffix: `a` of `sm_90a`.
    pub const fn suffix(self) -> Option<char> {
        self.suffix
    }

    /// Whether it has the instructions of its family, or its own: the suffix `f` or `a`.
    pub const fn has_family(self) -> bool {
        self.suffix.is_some()
    }

    /// The column of the table, counted from the first target's.
    pub(crate) fn column(self) -> usize {
        let known = KNOWN.iter().find(|&&(number, ..)| number == self.number);
        let column = known.and_then(|&(.., like)| Target::MEASURED.iter().position(|target| target.number == like));
        column.expect("a target is one of `KNOWN`, and each of those is like one that was measured")
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

/// What [`Target`] says to a name that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownTarget;

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write one of ")?;
        for (i, target) in Target::all().enumerate() {
            let gap = match i {
                0 => "",
                _ if i + 1 == KNOWN.len() => " or ",
                _ => ", ",
            };
            write!(f, "{gap}{target}")?;
        }
        f.write_str(", the targets of ptxas 13.5 (sm_90 also as sm_90a, sm_100 and later also with a or f)")
    }
}

impl core::error::Error for UnknownTarget {}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(text: &str) -> Result<Target, UnknownTarget> {
        let name = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_")).ok_or(UnknownTarget)?;
        let suffix = name.chars().next_back().filter(char::is_ascii_lowercase);
        let digits = suffix.map_or(name, |suffix| &name[..name.len() - suffix.len_utf8()]);
        // A number is written in one way alone: no sign, no zeros before it.
        let number = digits.parse().ok().filter(|_| digits.starts_with(|c| matches!(c, '1'..='9')));
        let known = KNOWN.iter().find(|&&(known, ..)| Some(known) == number).ok_or(UnknownTarget)?;
        if suffix.is_some_and(|suffix| !known.1.contains(suffix)) {
            return Err(UnknownTarget);
        }
        Ok(Target { number: known.0, suffix })
    }
}

/// The architecture that the `.target` of a PTX module names: what its instructions may need, and on which GPUs it runs.
///
/// Other than a [`Target`] it may be any, also an old one that ptxas 13.5 makes no machine code for and yet reads.
///
/// ```
/// use vop::ModuleTarget;
/// let module: ModuleTarget = "sm_120f".parse().unwrap();
/// assert!(module.runs_on("sm_121".parse().unwrap()));
/// assert!(!module.runs_on("sm_90".parse().unwrap()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleTarget {
    /// Its number: 90 of `sm_90a`.
    pub number: u16,
    /// `a`: for that GPU alone; `f`: for its family from that GPU on.
    pub suffix: Option<char>,
}

impl ModuleTarget {
    /// Whether ptxas makes machine code for a GPU of a module with this `.target`.
    pub fn runs_on(self, target: Target) -> bool {
        match self.suffix {
            None => self.number <= target.number(),
            Some('f') => self.number <= target.number() && self.family() == ModuleTarget::from(target).family(),
            Some(_) => self == target.into(),
        }
    }

    /// What targets of a family have in common.
    pub(crate) const fn family(self) -> u16 {
        self.number / 10
    }
}

impl From<Target> for ModuleTarget {
    fn from(target: Target) -> ModuleTarget {
        ModuleTarget { number: target.number(), suffix: target.suffix() }
    }
}

impl fmt::Display for ModuleTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

/// What [`ModuleTarget`] says to a text that names no architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoArchitecture;

impl fmt::Display for NoArchitecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an architecture such as sm_90, sm_90a or sm_120f")
    }
}

impl core::error::Error for NoArchitecture {}

impl FromStr for ModuleTarget {
    type Err = NoArchitecture;

    fn from_str(text: &str) -> Result<ModuleTarget, NoArchitecture> {
        let name = text.strip_prefix("sm_").ok_or(NoArchitecture)?;
        let suffix = name.chars().next_back().filter(|suffix| matches!(suffix, 'a' | 'f'));
        let digits = if suffix.is_some() { &name[..name.len() - 1] } else { name };
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NoArchitecture);
        }
        Ok(ModuleTarget { number: digits.parse().map_err(|_| NoArchitecture)?, suffix })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn names() {
        for (text, expected) in
            [("sm_75", "sm_75"), ("compute_86", "sm_86"), ("sm_90a", "sm_90a"), ("sm_121f", "sm_121f")]
        {
            assert_eq!(text.parse::<Target>().map(|target| target.to_string()), Ok(expected.into()), "{text}");
        }
        let wrong =
            ["", "sm_", "90", "sm_70", "sm_75a", "sm_90f", "sm_100x", "sm_+90", "sm_090", "sm_90aa", "SM_90", "sm_9é"];
        for text in wrong {
            assert_eq!(text.parse::<Target>(), Err(UnknownTarget), "{text}");
        }
    }

    #[test]
    fn every_target_is_like_one_that_was_measured() {
        for target in Target::all() {
            assert!(target.measured() <= target);
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        assert_eq!(Target::MEASURED.map(Target::measured), Target::MEASURED);
    }

    /// As ptxas 13.5 was seen to do.
    #[test]
    fn runs_where_ptxas_compiles_it() {
        for (module, runs, not) in [
            ("sm_30", "sm_75 sm_90 sm_90a sm_120f", ""),
            ("sm_90", "sm_90 sm_90a sm_100 sm_120f", "sm_75 sm_89"),
            ("sm_90a", "sm_90a", "sm_75 sm_90 sm_100 sm_100a"),
            ("sm_100f", "sm_100 sm_100f sm_100a sm_103 sm_103f", "sm_90 sm_110 sm_120f"),
            ("sm_120f", "sm_120 sm_120f sm_120a sm_121 sm_121a", "sm_103 sm_110"),
            ("sm_121f", "sm_121", "sm_120 sm_120f"),
            ("sm_120a", "sm_120a", "sm_120 sm_120f sm_121a"),
        ] {
            let parsed: ModuleTarget = module.parse().unwrap();
            for (targets, expected) in [(runs, true), (not, false)] {
                for target in targets.split_whitespace() {
                    assert_eq!(parsed.runs_on(target.parse().unwrap()), expected, "{module} {target}");
                }
            }
        }
        for text in ["", "sm_", "sm_x", "sm_+9", "sm_99999", "debug", "sm_90b", "90"] {
            assert!(text.parse::<ModuleTarget>().is_err(), "{text}");
        }
    }
}
