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
/// The versions of a statement that show every branch of its `#if`s.
const MOST_VERSIONS: usize = 8;

pub(super) fn texts(source: &[u8]) -> Vec<Text> {
    let mut reader =
        Reader { source, macros: Macros::of(source), statement: Vec::new(), relevant: false, texts: Vec::new() };
    reader.read();
    reader.texts
}

/// The comments of a file, in order.
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
        let branches = branches(statement);
        let mut versions = branches.min(MOST_VERSIONS);
        let mut version = 0;
        while version < versions {
            let tokens = version_of(statement, version);
            let (expanded, definitions) = self.macros.expand(&tokens, version);
            versions = versions.max(definitions);
            let mut extractor = Extractor::new(self.source, &self.macros, &mut self.texts, false);
            extractor.extract(&expanded);
            version += 1;
        }
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

/// The number of versions of a statement that show every branch: the branches of the longest `#if`, with a missing `#else`
/// counted.
fn branches(tokens: &[Token]) -> usize {
    let mut open: Vec<usize> = Vec::new();
    let mut most = 1;
    for token in tokens {
        match token.kind {
            Kind::If => open.push(2),
            Kind::Else { .. } if open.is_empty() => open.push(2),
            Kind::Else { last: false } => open.iter_mut().next_back().into_iter().for_each(|branches| *branches += 1),
            Kind::EndIf => most = most.max(open.pop().unwrap_or(2)),
            _ => {}
        }
    }
    // An `#if` around the statement's end is left open.
    most.max(open.into_iter().max().unwrap_or(1))
}

/// The statement that takes the branch `version` of every `#if`, or its last one.
fn version_of(tokens: &[Token], version: usize) -> Vec<Token> {
    struct Branch {
        number: usize,
        taken: bool,
    }
    // The `#if`s that the statement began inside of: `asm(`, `#if A`, `"vmin2"`, `#else` …
    let (mut depth, mut missing) = (0_usize, 0_usize);
    for token in tokens {
        match token.kind {
            Kind::If => depth += 1,
            Kind::Else { .. } if depth == 0 => (depth, missing) = (1, missing + 1),
            Kind::EndIf if depth == 0 => missing += 1,
            Kind::EndIf => depth -= 1,
            _ => {}
        }
    }
    let first = || Branch { number: 0, taken: version == 0 };
    let mut open: Vec<Branch> = std::iter::repeat_with(first).take(missing).collect();
    let mut skipping = open.iter().filter(|branch| !branch.taken).count();
    let mut out = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token.kind {
            Kind::If => {
                skipping += usize::from(version != 0);
                open.push(first());
            }
            Kind::Else { last } => {
                if let Some(branch) = open.last_mut() {
                    let was = branch.taken;
                    branch.number += 1;
                    branch.taken = version == branch.number || (last && version > branch.number);
                    skipping = skipping + usize::from(was) - usize::from(branch.taken);
                }
            }
            Kind::EndIf => skipping -= usize::from(open.pop().is_some_and(|branch| !branch.taken)),
            _ if skipping > 0 => {}
            _ => out.push(token.clone()),
        }
    }
    out
}
