//! `.target sm_90a`: which devices run a PTX text.

use std::fmt;

/// What the name of an architecture ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suffix {
    /// `f`: this one, and the later ones of its family.
    Family,
    /// `a`: this one only.
    Specific,
}

impl Suffix {
    /// The bit in the header of an entry.
    pub(super) fn flag(self) -> u64 {
        match self {
            Suffix::Specific => 0x10_0000,
            Suffix::Family => 0x20_0000,
        }
    }
}

/// An architecture: `sm_90`, `sm_90a`, `sm_100f`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// 90 of `sm_90a`.
    pub arch: u32,
    /// What follows the number.
    pub suffix: Option<Suffix>,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.suffix {
            None => "",
            Some(Suffix::Family) => "f",
            Some(Suffix::Specific) => "a",
        };
        write!(f, "sm_{}{suffix}", self.arch)
    }
}

impl Target {
    /// Reads `sm_90a`.
    pub fn parse(name: &str) -> Option<Target> {
        let rest = name.strip_prefix("sm_")?;
        let (number, suffix) = match rest.as_bytes().last()? {
            b'a' => (&rest[..rest.len() - 1], Some(Suffix::Specific)),
            b'f' => (&rest[..rest.len() - 1], Some(Suffix::Family)),
            _ => (rest, None),
        };
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        Some(Target { arch: number.parse().ok().filter(|_| is_number)?, suffix })
    }

    /// What the `.target` directive of a PTX text says.
    pub fn of_ptx(text: &str) -> Option<Target> {
        let arguments = directive(text, ".target")?;
        let names = arguments.split(|c: char| c == ',' || c.is_ascii_whitespace());
        names.take(8).find_map(Target::parse)
    }

    /// Whether a device runs code for this target.
    pub fn runs_on(self, device: u32) -> bool {
        match self.suffix {
            None => self.arch <= device,
            Some(Suffix::Family) => self.arch <= device && self.arch / 10 == device / 10,
            Some(Suffix::Specific) => self.arch == device,
        }
    }
}

/// The `.version` of a PTX text.
pub(super) fn version(text: &str) -> Option<(u16, u16)> {
    let (major, minor) = directive(text, ".version")?.split_ascii_whitespace().next()?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The text behind a directive at a module's head. Comments may be before it and hold anything.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').map(|end| &comment[end..])?;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map(|end| &comment[end + 2..])?;
        } else if let Some(found) = rest.strip_prefix(name).filter(|rest| rest.starts_with(char::is_whitespace)) {
            return Some(found);
        } else if rest.starts_with('.') {
            // `.version 9.1` stands before `.target`, in words without a blank.
            let word = |text: &'a str| text.find(|c: char| c.is_whitespace()).map(|end| text[end..].trim_start());
            rest = word(rest).and_then(word)?;
        } else {
            return None;
        }
    }
}
