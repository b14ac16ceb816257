//! Comments that allow findings: `// vop: allow(V0701)`.

use std::collections::BTreeMap;
use std::ops::Range;

use vop::{Code, Diagnostic, RunErrorKind, Severity};

use super::Use;
use crate::find::{self, Comment, Language};

/// A comment that allows findings, such as `// vop: allow(V0701, V0702) the sum is never negative`.
///
/// It is a comment of the file's language, or of PTX in a string literal, and begins with `vop: allow`. Words behind the
/// bracket may say why.
///
/// - `vop: allow(…)` is about the instructions of its own line. If nothing but comments stands there, it is about the next
///   line that holds more. It allows lints and errors. In a macro's body it is about what the macro's uses write there.
/// - `vop: allow-file(…)` is about all instructions of the file. It allows lints.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suppression {
    /// Where the comment stands, in bytes of the file.
    pub span: Range<usize>,
    /// Whether it is about all instructions of the file.
    pub whole_file: bool,
    /// The codes that it allows, in order.
    pub codes: Vec<AllowedCode>,
    /// The lines that it is about, in bytes of the file.
    lines: Vec<Range<usize>>,
}

/// A code that a [`Suppression`] allows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllowedCode {
    /// The code.
    pub code: Code,
    /// Where it stands, in bytes of the file.
    pub span: Range<usize>,
    /// Whether something has this code that is allowed by it.
    pub used: bool,
}

/// Reads the suppressions of a file, takes what they allow out of its uses, and returns them with what is wrong with them:
/// V0711 and V0712, in order.
pub(super) fn apply(source: &[u8], language: Language, uses: &mut [Use]) -> (Vec<Suppression>, Vec<Diagnostic>) {
    let mut lints = Vec::new();
    let mut suppressions: Vec<Suppression> =
        find::comments(source, language).iter().filter_map(|comment| read(comment, &mut lints)).collect();
    if !suppressions.is_empty() {
        let mut rules = Rules::new(&suppressions);
        uses.iter_mut().for_each(|found| rules.apply(found));
        suppressions.iter_mut().for_each(|suppression| rules.mark(suppression));
    }
    for suppression in &suppressions {
        lints.extend(suppression.codes.iter().filter(|allowed| !allowed.used).map(|unused| {
            let place = if suppression.whole_file { "in this file" } else { "on the line that this comment is about" };
            let message = format!("nothing {place} has the code {}", unused.code);
            Diagnostic::new(Code::V0711, unused.span.clone(), message).label("allows nothing").help("delete it")
        }));
    }
    lints.sort_by_key(|lint| lint.span.start);
    (suppressions, lints)
}

/// What the suppressions of a file allow, by place: many comments may be about one line, and many findings may stand there.
struct Rules {
    /// Lines and a code that is allowed there, each once, by where the lines begin; and whether something has the code.
    local: Vec<(Range<usize>, Code, bool)>,
    /// For each of them, the furthest end of its lines and of those before it.
    furthest: Vec<usize>,
    /// The codes that are allowed everywhere, and whether something has them.
    file: BTreeMap<Code, bool>,
}

impl Rules {
    fn new(suppressions: &[Suppression]) -> Rules {
        let (mut local, mut file) = (Vec::new(), BTreeMap::new());
        for suppression in suppressions {
            for allowed in &suppression.codes {
                if suppression.whole_file {
                    file.insert(allowed.code, false);
                } else {
                    local.extend(suppression.lines.iter().map(|lines| (lines.clone(), allowed.code, false)));
                }
            }
        }
        local.sort_by_key(|(lines, code, _)| (lines.start, lines.end, *code));
        local.dedup();
        let furthest = local.iter().scan(0, |furthest, (lines, _, _)| {
            *furthest = lines.end.max(*furthest);
            Some(*furthest)
        });
        Rules { furthest: furthest.collect(), local, file }
    }

    /// Moves what is allowed from the lints of a use to [`Use::allowed`], and copies its faults there.
    fn apply(&mut self, found: &mut Use) {
        let statement = found.extent.clone();
        let definition = found.definition.clone();
        let mut is_allowed = |finding: &Diagnostic| {
            let everywhere = self.file.get_mut(&finding.code).map(|used| *used = true).is_some();
            let at_statement = self.allows(&statement, finding.code);
            let at_finding = self.allows(&finding.span, finding.code);
            let at_definition = definition.as_ref().is_some_and(|place| self.allows(place, finding.code));
            everywhere || at_statement || at_finding || at_definition
        };
        let mut allowed: Vec<Diagnostic> =
            found.all_faults().iter().filter(|fault| is_allowed(fault)).cloned().collect();
        allowed.extend(found.lints.extract_if(.., |lint| is_allowed(lint)));
        found.allowed = allowed;
    }

    /// Whether a code is allowed on a line that a span touches.
    fn allows(&mut self, span: &Range<usize>, code: Code) -> bool {
        // A finding about something that is missing has an empty span.
        let end = span.end.max(span.start + 1);
        let begun = self.local.partition_point(|(lines, _, _)| lines.start < end);
        let mut is_allowed = false;
        for i in (0..begun).rev().take_while(|&i| self.furthest[i] > span.start) {
            let (lines, allowed, used) = &mut self.local[i];
            if *allowed == code && lines.end > span.start {
                *used = true;
                is_allowed = true;
            }
        }
        is_allowed
    }

    /// Says of each code of a suppression whether something has it.
    fn mark(&self, suppression: &mut Suppression) {
        for allowed in &mut suppression.codes {
            let code = allowed.code;
            let is_used = |lines: &Range<usize>| {
                let key = (lines.start, lines.end, code);
                let at = self.local.binary_search_by_key(&key, |(lines, code, _)| (lines.start, lines.end, *code));
                at.is_ok_and(|at| self.local[at].2)
            };
            allowed.used = if suppression.whole_file {
                self.file.get(&code).is_some_and(|used| *used)
            } else {
                suppression.lines.iter().any(is_used)
            };
        }
    }
}

/// What a suppression is to look like.
const SYNTAX: &str = "write `vop: allow(V0701)` or `vop: allow-file(V0701, V0702)`";

/// The suppression that a comment is, if it is one. What cannot be read of it is reported.
fn read(comment: &Comment, lints: &mut Vec<Diagnostic>) -> Option<Suppression> {
    let text = comment.text.as_str();
    let opening = |c: char| c.is_whitespace() || matches!(c, '/' | '*' | '#' | ';' | '!');
    let address = text.trim_start_matches(opening);
    // In any case: `VOP:` is meant.
    let (name, address) = address.split_at_checked(4)?;
    if !name.eq_ignore_ascii_case("vop:") {
        return None;
    }
    let order = address.trim_start();
    let word = order.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_')).next().unwrap_or_default();
    let start = text.len() - order.len();
    let mut report = |part: Range<usize>, message: String, help: &str| {
        let lint = Diagnostic::new(Code::V0712, comment.source_span(part), message);
        lints.push(if help.is_empty() { lint } else { lint.help(help) });
    };
    let whole_file = match word {
        "allow" => false,
        "allow-file" => true,
        // Another tool may have the same name; what names a code is meant for this one.
        _ if names_a_code(order) => {
            report(
                start..start + word.len().max(1),
                format!("`{word}` is not something that a comment can ask of vop"),
                SYNTAX,
            );
            return None;
        }
        _ => return None,
    };
    let behind = order[word.len()..].trim_start();
    let list = behind.strip_prefix('(').and_then(|list| list.split_once(')')).map(|(list, _)| list);
    let Some(list) = list else {
        report(start..start + word.len(), format!("`{word}` is followed by codes in round brackets"), SYNTAX);
        return None;
    };
    let mut at = text.len() - behind.len() + 1;
    let mut codes = Vec::new();
    for part in list.split(',') {
        let name = part.trim();
        let name_start = at + part.len() - part.trim_start().len();
        let place = name_start..name_start + name.len();
        at += part.len() + 1;
        match judge(name, whole_file) {
            Ok(code) => codes.push(AllowedCode { code, span: comment.source_span(place), used: false }),
            Err((message, help)) => {
                let place = if place.is_empty() { place.start - 1..place.start } else { place };
                report(place, message, &help);
            }
        }
    }
    let span = comment.source_span(0..text.len());
    Some(Suppression { span, whole_file, codes, lines: comment.lines.clone() })
}

/// The code of this name, if a comment may allow it; else why not, and what to do.
fn judge(name: &str, whole_file: bool) -> Result<Code, (String, String)> {
    match Code::from_name(name) {
        Some(Code::V0711 | Code::V0712) => {
            let help = format!("use `--allow {name}` or the configuration file");
            Err((format!("{name} is about comments such as this one, which cannot allow it"), help))
        }
        Some(code) if code.severity() == Severity::Error && whole_file => {
            let help = "write `vop: allow(…)` at the statement, or exclude the file".to_owned();
            Err((format!("{code} is an error, which can be allowed for single statements only"), help))
        }
        Some(code) => Ok(code),
        None if name.is_empty() => Err(("a code is missing here".to_owned(), SYNTAX.to_owned())),
        None if RunErrorKind::from_code(name).is_some() => {
            Err((format!("{name} is reported by `vop run`, which obeys no comments"), "delete it".to_owned()))
        }
        None => Err((format!("there is no code `{name}`"), "`vop explain --list` prints all codes".to_owned())),
    }
}

/// Whether a word of the text looks like a code, `V0701`.
fn names_a_code(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| {
        let digits = word.strip_prefix(['V', 'v']).unwrap_or_default();
        digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}
