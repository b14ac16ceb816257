//! C, C++, CUDA and OpenCL: literals and what the preprocessor does between them.
//!
//! A string may be spread over adjacent literals, over macros and stringised parameters between them, over the branches of
//! `#if`, over `+` and `<<`; and a whole instruction may be the argument of a macro that stringises it. So a file is read as
//! the preprocessor reads it:
//!
//! ```text
//! file ──token──► tokens ──► statements ──macros──► expanded, in each version of `#if` ──strings──► Text
//!                    └── #define ──► Macros                                                 asm: operands
//! ```
//!
//! A macro's body is read too, with its parameters unknown, and [`find`](super::super::find) prefers what its uses make of it.

mod asm;
mod facts;
mod macros;
mod strings;
mod token;

use std::ops::Range;

use self::macros::Macros;
use self::strings::Extractor;
use self::token::{Kind, Lexer, Token, skip_comment, skip_number, string};
use super::super::cursor::{Cursor, is_ident};
use super::super::mnemonic::{self, Word};
use super::text::Text;

pub(in super::super) use self::facts::{Arguments, Facts};

/// The tokens of a statement that are read together.
const LONGEST_STATEMENT: usize = 1 << 17;
/// The versions of a statement that show every branch of its `#if`s; of a long one fewer.
const MOST_VERSIONS: usize = 64;
const LEAST_VERSIONS: usize = 8;
/// The tokens of all these versions.
const MOST_TOKENS: usize = 1 << 16;

pub(super) fn texts(source: &[u8]) -> Vec<Text> {
    let mut reader =
        Reader { source, macros: Macros::of(source), statement: Vec::new(), relevant: false, texts: Vec::new() };
    reader.read();
    reader.texts
}

/// The comments of a file, in order; those in code that is never compiled are left out.
pub(super) fn comments(source: &[u8]) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    while !cursor.at_end() {
        let start = cursor.pos;
        if skip_comment(&mut cursor) {
            comments.push(start..cursor.pos);
            continue;
        }
        match cursor.peek(0) {
            b'\'' => {
                cursor.skip_quoted(b'\'');
                cursor.advance(1);
            }
            b if b.is_ascii_digit() => skip_number(&mut cursor),
            b if is_ident(b) || b == b'"' => {
                if string(&mut cursor).is_none() && cursor.take_while(is_ident).is_empty() {
                    cursor.advance(1);
                }
            }
            _ => cursor.advance(1),
        }
    }
    let left_out = if comments.is_empty() { Vec::new() } else { Lexer::left_out(source) };
    comments.retain(|comment| {
        let next = left_out.partition_point(|part| part.end <= comment.start);
        left_out.get(next).is_none_or(|part| comment.start < part.start)
    });
    comments
}

struct Reader<'a> {
    source: &'a [u8],
    macros: Macros<'a>,
    /// The tokens of the statement that is being read.
    statement: Vec<Token>,
    /// Whether a string may come of it.
    relevant: bool,
    texts: Vec<Text>,
}

impl Reader<'_> {
    fn read(&mut self) {
        // Open brackets; what was open at each `#if`; and what was open outside of each brace inside brackets.
        let mut depth = 0_usize;
        let mut at_if: Vec<usize> = Vec::new();
        for token in Lexer::new(self.source) {
            match token.kind {
                Kind::Define => {
                    self.definition(&token.at);
                    continue;
                }
                Kind::Directive | Kind::Undef => continue,
                Kind::If => at_if.push(depth),
                Kind::Else { .. } => depth = at_if.last().copied().unwrap_or(depth),
                Kind::EndIf => _ = at_if.pop(),
                Kind::Sign(b'(') => depth += 1,
                Kind::Sign(b')') => depth = depth.saturating_sub(1),
                Kind::Text { .. } => self.relevant = true,
                Kind::Word => {
                    let word = &self.source[token.at.clone()];
                    self.relevant |= mnemonic::classify(word) == Word::Video || self.macros.makes_strings(word);
                }
                _ => {}
            }
            let ends = depth == 0 && matches!(token.kind, Kind::Sign(b';' | b'{' | b'}'));
            self.statement.push(token);
            if ends || self.statement.len() >= LONGEST_STATEMENT {
                self.end_statement();
            }
        }
        self.end_statement();
    }

    fn end_statement(&mut self) {
        let mut statement = std::mem::take(&mut self.statement);
        if std::mem::take(&mut self.relevant) {
            // A statement begins behind the directives before it.
            let begins = statement.iter().position(|token| !token.is_conditional()).unwrap_or(statement.len());
            self.extract_versions(&statement[begins..]);
        }
        statement.clear();
        self.statement = statement;
    }

    /// The texts of a statement of the program, in each version that `#if` and the definitions of macros give it.
    fn extract_versions(&mut self, statement: &[Token]) {
        let branches = Branches::of(statement);
        let most = (MOST_TOKENS / statement.len().max(1)).clamp(LEAST_VERSIONS, MOST_VERSIONS);
        let mut versions = branches.versions.min(most);
        let mut version = 0;
        while version < versions {
            let tokens = branches.version(statement, version);
            let Some((expanded, definitions)) = self.macros.expand(&tokens, version) else {
                self.unexpanded(&tokens);
                version += 1;
                continue;
            };
            versions = versions.max(definitions);
            let mut extractor = Extractor::new(self.source, &self.macros, &mut self.texts, false);
            extractor.extract(&expanded);
            version += 1;
        }
    }

    /// The texts of a statement whose expansion exceeds a limit: macros stay as those of other files do.
    fn unexpanded(&mut self, tokens: &[Token]) {
        for (name, site) in self.macros.uses(tokens) {
            self.texts.push(Text::unread(&name, site.place, site.definition));
        }
        Extractor::new(self.source, &self.macros, &mut self.texts, false).extract(tokens);
    }

    /// The texts of a macro's body, with its parameters unknown.
    fn definition(&mut self, define: &Range<usize>) {
        let mut version = 0;
        while let Some((body, versions)) = self.macros.body(define, version) {
            let mut extractor = Extractor::new(self.source, &self.macros, &mut self.texts, true);
            extractor.extract(&body);
            version += 1;
            if version >= versions {
                return;
            }
        }
    }
}

/// The branches of `#if` in a statement, those inside others too.
struct Branches {
    /// For each token that begins a branch the number of versions that show all of it; behind them the same for the `#if`s that the
    /// statement began inside of: `asm(`, `#if A`, `"vmin2"`, `#else` …
    widths: Vec<usize>,
    /// For each `#if` the number of versions that show all its branches, with a missing `#else` counted; in the same order.
    totals: Vec<usize>,
    /// Those for the whole statement.
    versions: usize,
}

/// An `#if` that is open.
struct OpenIf {
    /// The index of it, and of the branch that is read.
    index: usize,
    branch: usize,
    /// The versions of the branches before, and of this one so far.
    before: usize,
    here: usize,
    has_last: bool,
}

impl OpenIf {
    fn new(index: usize) -> Self {
        Self { index, branch: index, before: 0, here: 1, has_last: false }
    }
}

impl Branches {
    fn of(tokens: &[Token]) -> Self {
        let (mut depth, mut outside) = (0_usize, 0_usize);
        for token in tokens {
            match token.kind {
                Kind::If => depth += 1,
                Kind::Else { .. } if depth == 0 => (depth, outside) = (1, outside + 1),
                Kind::EndIf if depth == 0 => outside += 1,
                Kind::EndIf => depth -= 1,
                _ => {}
            }
        }
        let count = tokens.len() + outside;
        let mut all = Self { widths: vec![1; count], totals: vec![1; count], versions: 1 };
        let mut open: Vec<OpenIf> = (tokens.len()..count).map(OpenIf::new).collect();
        for (i, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::If => open.push(OpenIf::new(i)),
                Kind::Else { last } => {
                    if let Some(one) = open.last_mut() {
                        all.widths[one.branch] = one.here;
                        one.before += one.here;
                        (one.branch, one.here) = (i, 1);
                        one.has_last |= last;
                    }
                }
                Kind::EndIf => all.close(&mut open),
                _ => {}
            }
        }
        // An `#if` around the statement's end is left open.
        while !open.is_empty() {
            all.close(&mut open);
        }
        all
    }

    fn close(&mut self, open: &mut Vec<OpenIf>) {
        let Some(one) = open.pop() else { return };
        self.widths[one.branch] = one.here;
        let total = one.before + one.here + usize::from(!one.has_last);
        self.totals[one.index] = total;
        let outer = open.last_mut().map_or(&mut self.versions, |outer| &mut outer.here);
        *outer = total.max(*outer);
    }

    /// The tokens of a version: each of its `#if`s takes a branch, the last one where it has fewer.
    fn version(&self, tokens: &[Token], version: usize) -> Vec<Token> {
        struct Taken {
            /// The branch that is read, where its versions begin, and the version of the `#if`.
            branch: usize,
            from: usize,
            version: usize,
            taken: bool,
        }
        let enter = |index: usize, version: usize| {
            let version = version.min(self.totals[index] - 1);
            Taken { branch: index, from: 0, version, taken: version < self.widths[index] }
        };
        let mut open: Vec<Taken> = Vec::new();
        let mut skipping = 0_usize;
        let inner = |open: &[Taken]| open.last().map_or(version, |one| one.version.saturating_sub(one.from));
        for index in tokens.len()..self.totals.len() {
            let next = enter(index, inner(&open));
            skipping += usize::from(!next.taken);
            open.push(next);
        }
        let mut out = Vec::with_capacity(tokens.len());
        for (i, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::If => {
                    let next = enter(i, inner(&open));
                    skipping += usize::from(!next.taken);
                    open.push(next);
                }
                Kind::Else { .. } => {
                    if let Some(one) = open.last_mut() {
                        let was = one.taken;
                        one.from += self.widths[one.branch];
                        one.branch = i;
                        one.taken = (one.from..one.from + self.widths[i]).contains(&one.version);
                        skipping = skipping + usize::from(was) - usize::from(one.taken);
                    }
                }
                Kind::EndIf => skipping -= usize::from(open.pop().is_some_and(|one| !one.taken)),
                _ if skipping > 0 => {}
                _ => out.push(token.clone()),
            }
        }
        out
    }
}
