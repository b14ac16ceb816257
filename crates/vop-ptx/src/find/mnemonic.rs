//! Words that are, or were meant to be, a video instruction's mnemonic and modifiers.

use vop::Mnemonic;
use vop::isa::table::Axis;
use vop::isa::types::Type;

/// The mnemonics without the number of lanes.
pub(super) fn stems() -> impl Iterator<Item = &'static str> {
    Mnemonic::ALL.into_iter().map(|mnemonic| mnemonic.name().trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// Misspelt mnemonics that are found in programs, and operations that never existed.
pub(super) const NEAR_STEMS: [&str; 15] = [
    "varvg", "vavg", "vabsdif", "vabsdiv", "vabs", "vmul", "vsad", "vcmp", "vneg", "vhadd", "vdot", "vabd", "vand",
    "vxor", "vnot",
];

/// Other words that begin with a `v` at the start of a PTX or C statement.
const OTHERS: [&str; 4] = ["vote", "volatile", "void", "vprintf"];

/// What a word at a statement's start is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// A mnemonic, in any case and with any number of lanes.
    Video,
    /// Perhaps meant as one; its modifiers decide.
    Near,
    /// Something else.
    Other,
}

/// Judges a word without its modifiers.
pub(super) fn classify(word: &[u8]) -> Word {
    let is_one_of = |stems: &[&str], word: &[u8]| stems.iter().any(|s| word.eq_ignore_ascii_case(s.as_bytes()));
    let stem = word.trim_ascii_digits();
    if stems().any(|s| stem.eq_ignore_ascii_case(s.as_bytes())) {
        Word::Video
    } else if is_one_of(&NEAR_STEMS, stem) || (starts_like_one(word) && !is_one_of(&OTHERS, stem)) {
        Word::Near
    } else {
        Word::Other
    }
}

/// How many operands an instruction has at least: `d, a, b`, and c where its mnemonic always takes one.
pub(super) fn operands_needed(word: &[u8]) -> usize {
    let known = std::str::from_utf8(word).ok().and_then(|word| Mnemonic::from_name(&word.to_ascii_lowercase()));
    let optional = known.is_some_and(|mnemonic| mnemonic.allows(Axis::OptionalC));
    if optional { 3 } else { 4 }
}

fn starts_like_one(word: &[u8]) -> bool {
    word.len() >= 4 && matches!(word.first(), Some(b'v' | b'V')) && word.iter().all(|&b| b.is_ascii_alphanumeric())
}

trait TrimDigits {
    fn trim_ascii_digits(&self) -> &[u8];
}

impl TrimDigits for [u8] {
    fn trim_ascii_digits(&self) -> &[u8] {
        let len = self.iter().rposition(|b| !b.is_ascii_digit()).map_or(0, |last| last + 1);
        &self[..len]
    }
}

/// Whether a word that is no mnemonic is one that stands for lanes, `vcmpeq4`, as CUDA's intrinsics are called: what is said of it
/// needs no modifiers to be right.
pub(super) fn is_other_name(word: &[u8]) -> bool {
    std::str::from_utf8(word).is_ok_and(vop::is_name_of_lanes)
}

/// Whether a word ends with the number of lanes, as no mnemonic of x86 or Arm with a type does.
pub(super) fn has_lanes(word: &[u8]) -> bool {
    let stem = word.trim_ascii_digits();
    let of_lanes = matches!(&word[stem.len()..], b"2" | b"4") && stem.iter().all(u8::is_ascii_alphabetic);
    of_lanes && !["vld", "vst"].iter().any(|other| stem.eq_ignore_ascii_case(other.as_bytes()))
}

/// Whether a modifier is one of the types that video instructions take.
pub(super) fn is_video_type(modifier: &[u8]) -> bool {
    Type::ALL.iter().any(|ty| modifier.eq_ignore_ascii_case(ty.name().as_bytes()))
}

/// Whether PTX has this modifier and somebody may have put it on a video instruction, legally or not.
pub(super) fn is_modifier(modifier: &[u8]) -> bool {
    is_type(modifier) || vop::isa::types::modifier_names().any(|name| modifier.eq_ignore_ascii_case(name.as_bytes()))
}

fn is_type(modifier: &[u8]) -> bool {
    let Some((kind, width)) = modifier.split_first() else { return false };
    matches!(kind.to_ascii_lowercase(), b'u' | b's' | b'b' | b'f') && matches!(width, b"8" | b"16" | b"32" | b"64")
}

/// Whether an opcode begins as those that [`is_meant`] accepts, which few others do.
pub(crate) fn may_be_meant(opcode: &str) -> bool {
    opcode.starts_with(['v', 'V'])
}

/// Whether an opcode of a PTX module is, or was meant to be, a video instruction's: by its mnemonic, or by two of its
/// modifiers where the mnemonic is only nearly one.
pub(crate) fn is_meant(opcode: &str) -> bool {
    let mut words = opcode.split('.');
    let mnemonic = words.next().unwrap_or_default().trim_ascii_end();
    match classify(mnemonic.as_bytes()) {
        Word::Video => true,
        // In PTX nothing else begins so.
        Word::Near => {
            words.any(|word| is_video_type(word.trim_ascii_end().as_bytes())) || is_other_name(mnemonic.as_bytes())
        }
        Word::Other => false,
    }
}
