//! A file with its findings mended: what `vop fix` writes.
//!
//! Each help that is an edit is applied, and the file is judged again. An edit stays if the finding is gone, nothing new is found, and
//! an instruction that was legal computes what it computed:
//!
//! ```text
//! findings with a Patch ──► edits ──► the file after them ──read again──► accepted, and the next round
//!                             ▲                               └─ refused: half of them at a time
//!                             └── until nothing is left to edit
//! ```
//!
//! ```
//! use vop_ptx::find::Language;
//! use vop_ptx::fix::{FixOptions, fix};
//!
//! let source = b"asm(\"vadd4.u32.u32.u32 %0, %1, %2.b0;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));";
//! let fixed = fix(source, Language::Cuda, &FixOptions::default());
//! assert_eq!(
//!     String::from_utf8_lossy(fixed.text()),
//!     "asm(\"vadd4.u32.u32.u32 %0, %1, %2.b4444, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));"
//! );
//! assert_eq!((fixed.done.len(), fixed.left.len()), (2, 0));
//! ```

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::Range;

use vop::{Code, Diagnostic, Edit, Form, Instruction, Operand, Parser, Patch, Semantics, Severity};

use crate::edits::{self, Written};
use crate::find::Language;
use crate::uses::{self, FileUses, Use, Verdict};

/// What is mended.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct FixOptions<'o> {
    /// The compiler that matters. Under the semantics of a ptxas, what its code computes differently (V0701, V0709) is replaced by base
    /// instructions that compute the manual's value.
    pub semantics: Semantics,
    /// Findings less severe than this stay; `None` for the less severe than warnings.
    pub level: Option<Severity>,
    /// Findings with these codes stay.
    pub allow: &'o [Code],
    /// Says whether a block of base instructions computes what an instruction does by the manual; without it, such blocks are not
    /// written.
    pub check: Option<CheckBlock<'o>>,
}

/// Compares a block of base instructions, the second text, with an instruction. An error is a part of a sentence.
pub type CheckBlock<'o> = &'o dyn Fn(&Instruction<'_>, &str) -> Result<(), String>;

impl fmt::Debug for FixOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FixOptions { semantics, level, allow, check } = self;
        let fields = (semantics, level, allow, check.is_some());
        f.debug_tuple("FixOptions").field(&fields).finish()
    }
}

impl<'o> FixOptions<'o> {
    /// With another semantics.
    #[must_use]
    pub const fn semantics(self, semantics: Semantics) -> FixOptions<'o> {
        FixOptions { semantics, ..self }
    }

    /// With another least severity.
    #[must_use]
    pub const fn level(self, level: Severity) -> FixOptions<'o> {
        FixOptions { level: Some(level), ..self }
    }

    /// With codes that are allowed.
    #[must_use]
    pub const fn allow(self, allow: &'o [Code]) -> FixOptions<'o> {
        FixOptions { allow, ..self }
    }

    /// With what compares blocks.
    #[must_use]
    pub const fn check(self, check: CheckBlock<'o>) -> FixOptions<'o> {
        FixOptions { check: Some(check), ..self }
    }

    fn concerns(&self, finding: &Diagnostic) -> bool {
        let of_older = finding.code == Code::V0709 && self.semantics == Semantics::Ptxas;
        finding.code.severity() <= self.level.unwrap_or(Severity::Warning)
            && !self.allow.contains(&finding.code)
            && !of_older
    }

    /// Why a finding about ptxas's code is not mended under this semantics.
    fn withheld(&self, code: Code) -> Option<&'static str> {
        match (code, self.semantics) {
            (Code::V0701, Semantics::Isa) => Some("`--semantics ptxas` replaces it"),
            (Code::V0709, Semantics::Isa) => Some("`--semantics ptxas-13.2` replaces it"),
            _ => None,
        }
    }
}

/// A file with its findings mended, as far as that is possible.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fixed {
    /// What was mended, in the file's order.
    pub done: Vec<Done>,
    /// The findings that stay, in the file's order.
    pub left: Vec<Left>,
    text: Vec<u8>,
}

/// A finding that was mended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Done {
    /// Its code.
    pub code: Code,
    /// Where it was, in bytes of the file before all edits.
    pub span: Range<usize>,
    /// Its message.
    pub message: String,
    /// The instruction before it was mended.
    pub instruction: String,
}

/// A finding that stays.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// Its code.
    pub code: Code,
    /// Where it is, in bytes of the file before all edits.
    pub span: Range<usize>,
    /// Its message.
    pub message: String,
    /// Why it stays: a part of a sentence.
    pub why: String,
}

impl Fixed {
    /// The file after all edits.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

/// The rounds of edits: a finding may hide another, but not without end.
const MOST_ROUNDS: usize = 32;

/// A finding and its edits.
struct Candidate<'u> {
    finding: &'u Diagnostic,
    of: &'u Use,
    edits: &'u [Edit],
}

/// A finding by its place in the first text.
type Key = (Code, usize, String);

/// Applies the helps of a file's findings that are edits, until there is none left that may be applied.
pub fn fix(source: &[u8], language: Language, options: &FixOptions<'_>) -> Fixed {
    let mut text = source.to_vec();
    // The edits of each round.
    let mut rounds: Vec<Vec<Edit>> = Vec::new();
    let original = |rounds: &[Vec<Edit>], place: usize| {
        rounds.iter().rev().fold(place, |place, edits| edits::before(edits, place))
    };
    let (mut done, mut refused): (Vec<Done>, BTreeMap<Key, String>) = (Vec::new(), BTreeMap::new());
    loop {
        let file = uses::read(&text, language);
        let key = |finding: &Diagnostic| (finding.code, original(&rounds, finding.span.start), finding.message.clone());
        let mut chosen: Vec<Candidate<'_>> = Vec::new();
        if rounds.len() < MOST_ROUNDS {
            for one in &file.uses {
                let findings = one.faults().chain(&one.lints).filter(|finding| options.concerns(finding));
                let candidate = findings.into_iter().find_map(|finding| {
                    let Patch::Edits(edits) = &finding.patch else { return None };
                    let is_open = options.withheld(finding.code).is_none() && !refused.contains_key(&key(finding));
                    let apart = |edit: &Edit| {
                        let mut taken = chosen.iter().flat_map(|other: &Candidate<'_>| other.edits);
                        !taken.any(|other| edits::meet(&edit.span, &other.span))
                    };
                    (is_open && edits.iter().all(apart)).then_some(Candidate { finding, of: one, edits })
                });
                chosen.extend(candidate);
            }
        }
        let mut judge =
            Judge { text: &text, language, options, file: &file, accepted: Vec::new(), refused: Vec::new() };
        judge.divide(&chosen.iter().collect::<Vec<_>>());
        let Judge { accepted, refused: now, .. } = judge;
        for (candidate, why) in now {
            refused.insert(key(candidate.finding), why);
        }
        for candidate in &accepted {
            let Diagnostic { code, span, message, .. } = candidate.finding;
            let span = original(&rounds, span.start)..original(&rounds, span.end);
            let instruction = candidate.of.text.clone();
            done.push(Done { code: *code, span, message: message.clone(), instruction });
        }
        let is_over = accepted.is_empty() && (chosen.is_empty() || rounds.len() >= MOST_ROUNDS);
        if is_over {
            let left = left(&file, options, |finding| {
                let span = original(&rounds, finding.span.start)..original(&rounds, finding.span.end);
                (span, refused.get(&key(finding)).cloned())
            });
            done.sort_by_key(|one| one.span.start);
            return Fixed { done, left, text };
        }
        let edits = sorted(&accepted);
        let after = edits::applied(&text, &edits);
        drop(chosen);
        text = after;
        rounds.push(edits);
    }
}

/// What stays of a file's findings. `known` has the place of a finding in the first text, and why it was refused, if it was.
fn left(
    file: &FileUses,
    options: &FixOptions<'_>,
    known: impl Fn(&Diagnostic) -> (Range<usize>, Option<String>),
) -> Vec<Left> {
    let of_uses = file.uses.iter().flat_map(|one| one.faults().chain(&one.lints));
    let mut seen = HashSet::new();
    let mut left: Vec<Left> = Vec::new();
    for finding in of_uses.chain(&file.lints).filter(|finding| options.concerns(finding)) {
        let (span, refused) = known(finding);
        let why = match (&finding.patch, refused, options.withheld(finding.code)) {
            (_, Some(why), _) => why,
            (Patch::OutOfReach(why), ..) => (*why).to_owned(),
            (Patch::Edits(_), None, Some(why)) => why.to_owned(),
            (Patch::Edits(_), None, None) => "another edit at its place came first".to_owned(),
            _ if finding.help.is_none() => "what is meant cannot be known".to_owned(),
            _ => "its help leaves a choice, or is more than one change of the text".to_owned(),
        };
        if seen.insert((finding.code, span.clone(), finding.message.clone())) {
            left.push(Left { code: finding.code, span, message: finding.message.clone(), why });
        }
    }
    left.sort_by_key(|one| one.span.start);
    left
}

/// The edits of candidates, in ascending order.
fn sorted(candidates: &[&Candidate<'_>]) -> Vec<Edit> {
    let mut edits: Vec<Edit> = candidates.iter().flat_map(|candidate| candidate.edits).cloned().collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    edits
}

/// Which edits of a round stay.
struct Judge<'a> {
    text: &'a [u8],
    language: Language,
    options: &'a FixOptions<'a>,
    file: &'a FileUses,
    accepted: Vec<&'a Candidate<'a>>,
    refused: Vec<(&'a Candidate<'a>, String)>,
}

impl<'a> Judge<'a> {
    /// Accepts all candidates, or judges each half.
    fn divide(&mut self, candidates: &[&'a Candidate<'a>]) {
        if candidates.is_empty() {
            return;
        }
        let together: Vec<&Candidate<'_>> = self.accepted.iter().chain(candidates).copied().collect();
        match self.judged(&together) {
            Ok(()) => self.accepted.extend(candidates),
            Err(why) => match candidates {
                [only] => self.refused.push((only, why)),
                several => {
                    let (first, second) = several.split_at(several.len() / 2);
                    self.divide(first);
                    self.divide(second);
                }
            },
        }
    }

    /// Judges the file after the edits of candidates.
    fn judged(&self, candidates: &[&Candidate<'_>]) -> Result<(), String> {
        let edits = sorted(candidates);
        let after = edits::applied(self.text, &edits);
        self.blocks(candidates)?;
        let file = uses::read(&after, self.language);
        if file.lints.len() > self.file.lints.len() {
            return Err("a comment would then allow nothing".into());
        }
        // The instructions that begin at one place, before and after.
        let mut places: BTreeMap<usize, (Vec<&Use>, Vec<&Use>)> = BTreeMap::new();
        for one in &self.file.uses {
            places.entry(one.span.start).or_default().0.push(one);
        }
        for one in &file.uses {
            places.entry(edits::before(&edits, one.span.start)).or_default().1.push(one);
        }
        for (place, (old, new)) in &places {
            let is_block =
                candidates.iter().any(|one| one.is_block() && one.edits.iter().any(|e| e.span.start == *place));
            if old.len() != new.len() && !is_block {
                return Err("instructions would then be found that are not there, or not found".into());
            }
            for (i, old) in old.iter().enumerate() {
                let mended: Vec<Code> = candidates
                    .iter()
                    .filter(|candidate| std::ptr::eq(candidate.of, *old))
                    .map(|candidate| candidate.finding.code)
                    .collect();
                match new.get(i) {
                    Some(new) => self.pair(old, new, &mended)?,
                    None if !mended.is_empty() => {}
                    None => return Err("an instruction would then not be found".into()),
                }
            }
            // A block may hold more than one instruction.
            for new in new.iter().skip(old.len()) {
                let finding = new.faults().chain(&new.lints).find(|finding| finding.code.severity() < Severity::Note);
                if let Some(finding) = finding {
                    return Err(format!("its block would then have {finding}"));
                }
            }
        }
        Ok(())
    }

    /// Judges blocks that stand for instructions.
    fn blocks(&self, candidates: &[&Candidate<'_>]) -> Result<(), String> {
        let mut written = Vec::new();
        let blocks: Vec<&Candidate<'_>> = candidates.iter().filter(|candidate| candidate.is_block()).copied().collect();
        for candidate in &blocks {
            let (Some(edit), Some(ptx)) = (candidate.edits.first(), candidate.of.block(candidate.edits)) else {
                return Err("its block is not known".into());
            };
            if let Verdict::Legal(form) = candidate.of.verdict {
                let check = self.options.check.ok_or("nothing here compares what it computes")?;
                let instruction =
                    Parser::new().parse(&candidate.of.text).map_err(|_| format!("`{form}` is not read"))?;
                check(&instruction, ptx)?;
            }
            written.push(Written { edit, ptx });
        }
        if written.is_empty() || self.language == Language::Ptx {
            return Ok(());
        }
        // Without the other edits, which change what is read.
        let after = edits::applied(self.text, &sorted(&blocks));
        match edits::unread(self.text, self.language, &after, &written).first() {
            Some(_) => Err("its block would not be read as it is written".into()),
            None => Ok(()),
        }
    }

    /// Judges an instruction after the edits. `mended` are the codes of the findings whose edits are of this one.
    fn pair(&self, old: &Use, new: &Use, mended: &[Code]) -> Result<(), String> {
        let was_legal = matches!(old.verdict, Verdict::Legal(_) | Verdict::LegalFragment(_));
        match (&old.verdict, &new.verdict) {
            (Verdict::Legal(_), Verdict::Legal(_)) => same(&old.text, &new.text, self.options.semantics)?,
            (Verdict::LegalFragment(one), Verdict::LegalFragment(other)) => {
                same_forms(*one, *other, self.options.semantics)?
            }
            (Verdict::Illegal(_), Verdict::Legal(_) | Verdict::LegalFragment(_) | Verdict::Illegal(_)) => {}
            (one, other) if one == other && mended.is_empty() => {}
            (_, Verdict::Illegal(faults)) => {
                return Err(match faults.first() {
                    Some(fault) => format!("the instruction would then be illegal: {fault}"),
                    None => "the instruction would then be illegal".into(),
                });
            }
            _ => return Err("the instruction could then not be judged".into()),
        }
        let count =
            |one: &Use, code: Code| one.faults().chain(&one.lints).filter(|finding| finding.code == code).count();
        for code in mended {
            let edits = mended.iter().filter(|other| *other == code).count();
            if count(new, *code) + edits > count(old, *code) {
                return Err("the finding would stay".into());
            }
        }
        for finding in new.faults().chain(&new.lints) {
            // What is said of legal instructions alone was not asked before: of it remains what its own help mends, and what ptxas does.
            let is_of_legal = finding.code.severity() > Severity::Error
                && !was_legal
                && (matches!(finding.patch, Patch::Edits(_)) || matches!(finding.code, Code::V0701 | Code::V0709));
            let is_old = count(new, finding.code) <= count(old, finding.code);
            if !is_old && !is_of_legal && finding.code.severity() < Severity::Note {
                return Err(format!("it would then have {finding}"));
            }
        }
        Ok(())
    }
}

impl Candidate<'_> {
    fn is_block(&self) -> bool {
        self.of.block(self.edits).is_some()
    }
}

/// Whether two legal instructions write the same value to the same register.
fn same(one: &str, other: &str, semantics: Semantics) -> Result<(), String> {
    if one == other {
        return Ok(());
    }
    let differs = || "it would then compute another value".to_owned();
    let (Ok(one), Ok(other)) = (Parser::new().parse(one), Parser::new().parse(other)) else { return Err(differs()) };
    // c matters where it is read.
    let c = [one, other].map(|instruction| instruction.c.filter(|_| instruction.form.reads_c()));
    if (one.guard, one.d, one.a, one.b, c[0]) != (other.guard, other.d, other.a, other.b, c[1]) {
        return Err(differs());
    }
    for inputs in rows(&one).chain(rows(&other)) {
        let [a, b, c] = inputs;
        // ptxas's code may become the manual's, which is what is asked for.
        let value = one.form.eval(a, b, c);
        let other_value = other.form.eval_as(semantics, a, b, c);
        let before = one.form.eval_as(semantics, a, b, c);
        if value != other.form.eval(a, b, c) || other_value != before && other_value != value {
            return Err(format!("for a = {a:#x}, b = {b:#x} and c = {c:#x} it would then compute another value"));
        }
    }
    Ok(())
}

fn same_forms(one: Form, other: Form, semantics: Semantics) -> Result<(), String> {
    same(&one.to_string(), &other.to_string(), semantics)
}

/// The random rows that are tried beside the edges.
const RANDOM_ROWS: usize = 4096;

/// Values of a, b and c: all triples of edges, and random words; what the text fixes has its value.
pub fn rows(instruction: &Instruction<'_>) -> impl Iterator<Item = [u32; 3]> + use<> {
    const EDGES: [u32; 16] = [
        0,
        1,
        2,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x0102_7f80,
        0x7f80_ff01,
        0x8000_7fff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_fffe,
        0xffff_ffff,
    ];
    let edges = EDGES.into_iter().flat_map(|a| EDGES.into_iter().flat_map(move |b| EDGES.map(|c| [a, b, c])));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let (word, kind) = ((state >> 32) as u32, state as u32 % 4);
        // Of half of them, all bytes but one are all zeros or all ones.
        match kind {
            0 => word & 0xff,
            1 => word | 0xffff_ff00,
            _ => word,
        }
    };
    let random = std::iter::repeat_with(move || [random(), random(), random()]).take(RANDOM_ROWS);
    let operands = [Some(instruction.a), Some(instruction.b), instruction.c];
    // What each operand is: a number, or the register of another with a number added.
    let fixed: [(Option<u32>, usize, u32); 3] = [0, 1, 2].map(|i| match operands[i] {
        Some(Operand::Immediate { value, .. }) => (Some(value), i, 0),
        Some(operand) => {
            let first = operands.iter().position(|other| other.and_then(Operand::register) == operand.register());
            let added = if let Operand::Sum { addend, .. } = operand { addend } else { 0 };
            (None, first.unwrap_or(i), added)
        }
        None => (None, i, 0),
    });
    edges
        .chain(random)
        .map(move |words| fixed.map(|(value, of, added)| value.unwrap_or_else(|| words[of].wrapping_add(added))))
}
