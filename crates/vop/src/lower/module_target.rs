//! [`ModuleTarget`]: what a module's `.target` says.

use core::fmt;
use core::str::FromStr;

use crate::cost::Target;

/// The architecture that the `.target` of a PTX module names: what its instructions may need, and on which GPUs it runs.
///
/// Other than a [`Target`] it may be any, also an old one that ptxas 13.5 makes no machine code for and yet reads.
///
/// ```
/// use vop::lower::ModuleTarget;
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
    pub(super) const fn family(self) -> u16 {
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
    use super::*;

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
