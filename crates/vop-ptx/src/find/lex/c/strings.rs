//! From expanded tokens to the strings that they form.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::super::super::mapped::{Mapped, Paste};
use super::super::super::mnemonic::{self, Word};
use super::super::super::operand::Asm;
use super::super::super::placeholder::Dialect;
use super::super::joined::{Rest, paste_of};
use super::super::llvm;
use super::super::text::Text;
use super::asm;
use super::macros::{Macros, is_asm, matching, stringised};
use super::token::{Kind, Token};

/// Puts the strings of a list of tokens together.
pub(super) struct Extractor<'a, 'm> {
    source: &'a [u8],
    macros: &'m Macros<'a>,
    texts: &'m mut Vec<Text>,
    /// Whether the tokens are a macro's body.
    definition: bool,
    /// Where each round or square bracket of the tokens is closed; the number of tokens where it is not.
    closes: Vec<usize>,
    /// The brackets of unknown operands, by their tokens, which are read for strings of their own.
    inside: Vec<(Range<usize>, Option<Rest>)>,
}

impl<'a, 'm> Extractor<'a, 'm> {
    pub(super) fn new(source: &'a [u8], macros: &'m Macros<'a>, texts: &'m mut Vec<Text>, definition: bool) -> Self {
        Self { source, macros, texts, definition, closes: Vec::new(), inside: Vec::new() }
    }

    pub(super) fn extract(&mut self, tokens: &[Token]) {
        self.closes = closes(tokens);
        self.extract_part(tokens, 0, None);
        while let Some((part, rest)) = self.inside.pop() {
            self.extract_part(&tokens[..part.end], part.start, rest.as_ref());
        }
    }

    /// The strings from a token to the last. `rest` is what may follow one inside an unknown operand.
    fn extract_part(&mut self, tokens: &[Token], begin: usize, rest: Option<&Rest>) {
        // The brackets that are open, and the last that was closed: where it begins and where it ends.
        let mut open: Vec<usize> = Vec::new();
        let mut closed: Option<(usize, usize)> = None;
        let mut i = begin;
        while i < tokens.len() {
            let token = &tokens[i];
            match token.kind {
                Kind::Word if is_asm(token.bytes(self.source)) => {
                    if let Some(end) = self.asm(tokens, i) {
                        i = end;
                        continue;
                    }
                }
                Kind::Word if self.is_instruction(tokens, i) => {
                    i = self.bare(tokens, i);
                    continue;
                }
                Kind::Sign(b'@') if self.is_guarded(tokens, i) => {
                    i = self.bare(tokens, i);
                    continue;
                }
                Kind::Sign(b'(') => open.push(i),
                Kind::Sign(b')') => closed = open.pop().map(|begin| (begin, i)),
                Kind::Text { .. } | Kind::Made => {
                    let begin = match i.checked_sub(1).filter(|before| *before >= begin).map(|before| &tokens[before]) {
                        Some(before) if self.is_paste(before) => i - 1,
                        Some(before) if before.is(b')') => match closed {
                            // `STR(op) "4.u32…"`
                            Some((begin, end)) if end == i - 1 && begin > 0 && self.is_paste(&tokens[begin - 1]) => {
                                begin - 1
                            }
                            _ => i,
                        },
                        _ => i,
                    };
                    // What stands before the literal may end before it, as a parameter does in `name() "…"`.
                    let mut end = self.run(tokens, begin, i, rest);
                    if end <= i {
                        end = self.run(tokens, i, i, rest);
                    }
                    i = end;
                    continue;
                }
                _ => {}
            }
            i += 1;
        }
    }

    /// Whether a token before a literal can only be a macro, or is unknown.
    fn is_paste(&self, token: &Token) -> bool {
        let keyword = || {
            matches!(
                token.bytes(self.source),
                b"return"
                    | b"case"
                    | b"else"
                    | b"throw"
                    | b"co_return"
                    | b"co_yield"
                    | b"if"
                    | b"while"
                    | b"for"
                    | b"switch"
                    | b"extern"
                    | b"sizeof"
            )
        };
        token.kind == Kind::Hole || (token.kind == Kind::Word && !keyword())
    }

    /// `asm volatile ( "template" : operands )`, from the keyword; yields where it ends, `None` where it is none.
    fn asm(&mut self, tokens: &[Token], keyword: usize) -> Option<usize> {
        let mut open = keyword + 1;
        while tokens.get(open).is_some_and(|token| {
            token.kind == Kind::Word
                && matches!(
                    token.bytes(self.source),
                    b"volatile" | b"__volatile__" | b"__volatile" | b"goto" | b"inline" | b"__inline__"
                )
        }) {
            open += 1;
        }
        if !tokens.get(open)?.is(b'(') {
            return None;
        }
        // One that is not closed ends before the next.
        let next = tokens[open..].iter().position(|token| token.kind == Kind::Word && is_asm(token.bytes(self.source)));
        let limit = next.map_or(tokens.len(), |next| open + next);
        let close = open + matching(&tokens[open..limit], 0);
        let template_end = asm::template_end(tokens, open, close);
        let mut mapped = Mapped::default();
        let mut i = open + 1;
        while i < template_end {
            i = self.piece(tokens, i, template_end, Paste::Macro, &mut mapped).unwrap_or(i + 1);
        }
        let place = tokens[keyword].at.start;
        let operands =
            (close < limit).then(|| asm::operands(self.source, &self.macros.sites, tokens, template_end, close));
        let written_here = |token: &&Token| token.site.is_none();
        let end = tokens.get(close).filter(written_here).filter(|_| tokens[keyword].site.is_none());
        let asm = operands.flatten().map(|operands| Asm {
            at: self.use_of(&tokens[keyword]).unwrap_or(place),
            end: end.map(|token| token.at.end),
            ..operands
        });
        self.push(mapped, Dialect::GccAsm, &tokens[keyword], asm);
        Some((close + 1).min(limit))
    }

    fn use_of(&self, token: &Token) -> Option<usize> {
        token.site.map(|site| self.macros.sites[site as usize].place.start)
    }

    fn push(&mut self, mapped: Mapped, dialect: Dialect, first: &Token, asm: Option<Asm>) {
        let site = first.site.map(|site| &self.macros.sites[site as usize]);
        self.texts.push(Text {
            mapped,
            dialect,
            asm: asm.map(Arc::new),
            definition: self.definition,
            macro_name: site.map(|site| site.definition.clone()),
            unread: None,
        });
    }

    fn place(&self, token: &Token) -> Option<&'m Range<usize>> {
        token.site.map(|site| &self.macros.sites[site as usize].place)
    }

    /// Adds the literal or the paste at `i`; yields what follows it.
    fn piece(&self, tokens: &[Token], i: usize, end: usize, by: Paste, out: &mut Mapped) -> Option<usize> {
        let token = &tokens[i];
        if token.is_string() || token.kind == Kind::Hole {
            out.push_written(&token.content(self.source), self.place(token));
            return Some(i + 1);
        }
        if token.kind != Kind::Word || is_asm(token.bytes(self.source)) {
            return None;
        }
        let mut next = i + 1;
        let mut name = token;
        if by == Paste::Field {
            next = self.members(&tokens[..end], next);
        }
        let mut by = by;
        if tokens[..end].get(next).is_some_and(|token| token.is(b'(')) {
            // `STR(T)`, `std::to_string(n)`: the argument says more than the function.
            let close = self.closes[next];
            let argument = tokens[..end].get(next + 1);
            if let Some(literal) = argument.filter(|argument| by == Paste::Field && argument.is_string()) {
                by = paste_of(out, literal.content(self.source).bytes());
            }
            name = argument.filter(|argument| matches!(argument.kind, Kind::Word | Kind::Hole)).unwrap_or(token);
            next = (close + 1).min(end);
        }
        // `names[i]`, `f(x).str()`
        while by != Paste::Macro && tokens[..end].get(next).is_some_and(|token| token.is(b'(') || token.is(b'[')) {
            next = self.members(&tokens[..end], (self.closes[next] + 1).min(end));
        }
        let bytes = name.bytes(self.source);
        // `REG(a)` and `REG(b)`, `x.lo` and `x.hi` are not one register.
        let shown = if next == i + 1 { bytes.into() } else { Cow::from(out.distinct(bytes)) };
        let whole = token.at.start..tokens[next - 1].at.end.max(token.at.end);
        let mut paste = Mapped::default();
        paste.push_paste(&shown, whole.clone(), whole.end, by);
        out.push_written(&paste, self.place(token));
        Some(next)
    }

    /// Behind `.name`, `->name` and `::name`.
    fn members(&self, tokens: &[Token], mut next: usize) -> usize {
        let is = |i: usize, sign: u8| tokens.get(i).is_some_and(|token| token.is(sign));
        loop {
            let len = 1 + usize::from(is(next, b'-') && is(next + 1, b'>'));
            let selects = len == 2 || is(next, b':') || is(next, b'.');
            match tokens.get(next + len).map(|token| token.kind) {
                Some(Kind::Word) if selects => next += len + 1,
                Some(Kind::Sign(b':')) if selects => next += len,
                _ => return next,
            }
        }
    }

    /// Keeps the brackets of the operand between two tokens for strings of their own.
    fn keep_inside(&mut self, tokens: &[Token], operand: Range<usize>) {
        let goes_on = self.joined(tokens, operand.end).is_some()
            || tokens.get(operand.end).is_some_and(|token| token.is_string() || token.kind == Kind::Hole);
        let last = &tokens[operand.end - 1];
        let rest =
            goes_on.then(|| Rest { name: tokens[operand.start].bytes(self.source).to_vec(), at: last.at.clone() });
        let mut i = operand.start;
        while i < operand.end {
            if tokens[i].is(b'(') || tokens[i].is(b'[') {
                let close = self.closes[i].min(operand.end);
                self.inside.push((i + 1..close, rest.clone()));
                i = close;
            }
            i += 1;
        }
    }

    /// The string that begins here: literals and pastes side by side, and around `+` and `<<`. Yields what follows it.
    /// The brackets before the literal have been read.
    fn run(&mut self, tokens: &[Token], begin: usize, literal: usize, rest: Option<&Rest>) -> usize {
        let mut mapped = Mapped::default();
        let mut i = begin;
        let mut by = Paste::Macro;
        // In `extern "C" int f()` the names that follow are no paste.
        let is_linkage = |token: &Token| matches!(token.bytes(self.source), b"\"C\"" | b"\"C++\"");
        while let Some(next) =
            (i < tokens.len()).then(|| self.piece(tokens, i, tokens.len(), by, &mut mapped)).flatten()
        {
            let last = &tokens[i];
            if last.is_string() && is_linkage(last) {
                i = next;
                break;
            }
            if next > i + 1 && i >= literal {
                self.keep_inside(tokens, i..next);
            }
            i = next;
            // `"…"_ptx`: a user-defined literal's suffix, unless a string goes on behind it.
            if last.is_string()
                && tokens.get(i).is_some_and(|token| {
                    token.kind == Kind::Word
                        && !token.blank
                        && matches!(token.bytes(self.source).first(), Some(b'_' | b's'))
                })
                && !tokens.get(i + 1).is_some_and(Token::is_string)
            {
                i += 1;
            }
            match self.joined(tokens, i) {
                Some(after) => (i, by) = (after, Paste::Field),
                // A name behind another is no paste: `MACRO("x") int`.
                None if tokens.get(i).is_some_and(|token| token.kind == Kind::Word) && !last.is_string() => {
                    if last.kind != Kind::Hole && by == Paste::Macro {
                        break;
                    }
                    by = Paste::Macro;
                }
                None => by = Paste::Macro,
            }
        }
        if !mapped.bytes().is_empty() {
            let first = &tokens[begin];
            let first = tokens[begin..i.max(begin + 1)].iter().find(|token| token.is_string()).unwrap_or(first);
            // `InlineAsm::get(type, "vadd4… $0, $1;", "=r,r", …)`
            let asm = self.constraints(tokens, i);
            let dialect = if asm.is_some() { Dialect::LlvmAsm } else { Dialect::Free };
            if let Some(paste) = rest.and_then(|rest| rest.paste(&mapped)) {
                mapped.push_written(&paste, self.place(first));
            }
            self.push(mapped, dialect, first, asm);
        }
        i.max(begin + 1)
    }

    /// The operands, if a string is followed by a list of LLVM's constraints.
    fn constraints(&self, tokens: &[Token], i: usize) -> Option<Asm> {
        tokens.get(i).filter(|token| token.is(b','))?;
        let list = tokens.get(i + 1).filter(|token| token.site.is_none())?;
        let Kind::Text { start, end, .. } = list.kind else { return None };
        llvm::is_constraints(&self.source[start..end])
            .then(|| llvm::listed(self.source, start..end, Vec::new(), list.at.start))
    }

    /// `+`, `<<`, and either behind the bracket of `std::string("…")`: what stands behind it.
    fn joined(&self, tokens: &[Token], i: usize) -> Option<usize> {
        let i = i + usize::from(tokens.get(i)?.is(b')'));
        let (first, second) = (tokens.get(i)?, tokens.get(i + 1)?);
        let adjacent = second.at.start == first.at.end;
        let continues = |token: &Token| token.is_string() || matches!(token.kind, Kind::Word | Kind::Hole);
        if first.is(b'+') && !(adjacent && (second.is(b'=') || second.is(b'+'))) && continues(second) {
            return Some(i + 1);
        }
        (first.is(b'<') && second.is(b'<') && adjacent && tokens.get(i + 2).is_some_and(continues)).then_some(i + 2)
    }

    /// Whether a mnemonic and two types stand here, outside any literal: no expression of C reads like that.
    fn is_instruction(&self, tokens: &[Token], i: usize) -> bool {
        let is_type = |token: &Token| {
            token.kind == Kind::Word && mnemonic::is_video_type(token.bytes(self.source)) && !token.blank
        };
        mnemonic::classify(tokens[i].bytes(self.source)) == Word::Video
            && [1, 3].into_iter().all(|dot| {
                tokens.get(i + dot).is_some_and(|token| token.is(b'.')) && tokens.get(i + dot + 1).is_some_and(is_type)
            })
    }

    /// Whether a guard and an instruction stand here, outside any literal.
    fn is_guarded(&self, tokens: &[Token], at: usize) -> bool {
        let mut i = at + 1;
        while tokens.get(i).is_some_and(|token| matches!(token.kind, Kind::Sign(b'!' | b'%'))) {
            i += 1;
        }
        i += usize::from(tokens.get(i).is_some_and(|token| matches!(token.kind, Kind::Word | Kind::Number)));
        i < tokens.len() && self.is_instruction(tokens, i)
    }

    /// `PTX(vadd4.u32.u32.u32 %0, %1, %2, %3;)`: from the mnemonic to the bracket that closes the argument.
    fn bare(&mut self, tokens: &[Token], begin: usize) -> usize {
        let mut depth = 0_usize;
        let mut end = begin;
        while end < tokens.len() {
            match tokens[end].kind {
                Kind::Sign(b'(') => depth += 1,
                Kind::Sign(b')') if depth == 0 => break,
                Kind::Sign(b')') => depth -= 1,
                _ => {}
            }
            end += 1;
        }
        let text = stringised(self.source, &tokens[begin..end]);
        let mut mapped = Mapped::default();
        mapped.push_written(&text, self.place(&tokens[begin]));
        self.push(mapped, Dialect::Free, &tokens[begin], None);
        end
    }
}

/// Where each round or square bracket is closed; the number of tokens where it is not.
fn closes(tokens: &[Token]) -> Vec<usize> {
    let mut closes = vec![tokens.len(); tokens.len()];
    let (mut round, mut square) = (Vec::new(), Vec::new());
    for (i, token) in tokens.iter().enumerate() {
        let opened = match token.kind {
            Kind::Sign(b'(') => {
                round.push(i);
                continue;
            }
            Kind::Sign(b'[') => {
                square.push(i);
                continue;
            }
            Kind::Sign(b')') => round.pop(),
            Kind::Sign(b']') => square.pop(),
            _ => None,
        };
        if let Some(opened) = opened {
            closes[opened] = i;
        }
    }
    closes
}
