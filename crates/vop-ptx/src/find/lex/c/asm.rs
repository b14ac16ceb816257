//! The operands of an `asm` of C: `: [name] "=r"(d) : "r"(a), "n"(I) : "memory"`.

use super::super::super::mapped::{Mapped, Paste};
use super::super::super::operand::{Access, Asm, AsmOperand, Class, Lexeme, LexemeKind, class_of};
use super::macros::{Site, matching};
use super::token::{Kind, Token};

/// The tokens of an expression that are looked at.
const LONGEST_EXPRESSION: usize = 64;

/// Where the template ends that begins behind the bracket `open`: at the first colon, or at `close`.
pub(super) fn template_end(tokens: &[Token], open: usize, close: usize) -> usize {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().take(close).skip(open + 1) {
        match token.kind {
            Kind::Sign(b'(') => depth += 1,
            Kind::Sign(b')') => depth = depth.saturating_sub(1),
            Kind::Sign(b':') if depth == 0 => return i,
            _ => {}
        }
    }
    close
}

/// The operands between the template's end and the closing bracket; `None` where there is no colon: then `%0` is no operand.
pub(super) fn operands(source: &[u8], sites: &[Site], tokens: &[Token], from: usize, close: usize) -> Option<Asm> {
    if from >= close {
        return None;
    }
    let mut asm = Asm { at: 0, end: None, operands: Vec::new(), uncounted: 0, complete: true, numbered: true };
    let mut ties = Vec::new();
    let mut section = 0;
    let mut i = from;
    let reader = Reader { source, sites, tokens, close };
    while i < close && section <= 2 {
        match tokens[i].kind {
            Kind::Sign(b':') => {
                section += 1;
                i += 1;
            }
            Kind::Sign(b',') => i += 1,
            _ if section > 2 => break,
            _ => match reader.operand(i, section == 1, &mut ties) {
                Some((operand, next)) => {
                    // Behind one that is not known a name says which one it is, and a number does not.
                    if asm.complete || operand.name.is_some() {
                        asm.uncounted += usize::from(!asm.complete);
                        asm.operands.push(operand);
                    }
                    i = next;
                }
                None => {
                    asm.complete = false;
                    i = reader.behind_unknown(i);
                }
            },
        }
    }
    asm.tie(&ties);
    Some(asm)
}

struct Reader<'a> {
    source: &'a [u8],
    sites: &'a [Site],
    tokens: &'a [Token],
    close: usize,
}

impl Reader<'_> {
    /// The comma or colon behind what is not read: a macro that may stand for several operands.
    fn behind_unknown(&self, from: usize) -> usize {
        let mut depth = 0_usize;
        for (i, token) in self.tokens.iter().enumerate().take(self.close).skip(from) {
            match token.kind {
                Kind::Sign(b'(' | b'[' | b'{') => depth += 1,
                Kind::Sign(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                Kind::Sign(b',' | b':') if depth == 0 => return i,
                _ => {}
            }
        }
        self.close
    }

    fn operand(&self, from: usize, output: bool, ties: &mut Vec<usize>) -> Option<(AsmOperand, usize)> {
        let Self { source, tokens, close, .. } = *self;
        let mut i = from;
        let mut name = None;
        if tokens[i].is(b'[') {
            let word = tokens[..close].get(i + 1).filter(|token| token.kind == Kind::Word)?;
            name = Some(String::from_utf8_lossy(word.bytes(source)).into_owned());
            i += 2;
            tokens[..close].get(i).filter(|token| token.is(b']'))?;
            i += 1;
        }
        let first = i;
        let mut constraint = Mapped::default();
        let is_string = |i: usize| tokens[..close].get(i).is_some_and(Token::is_string);
        while i < close {
            let piece = &tokens[i];
            let place = piece.site.map(|site| &self.sites[site as usize].place);
            if piece.is_string() || piece.kind == Kind::Hole {
                constraint.push_written(&piece.content(source), place);
            } else if piece.kind == Kind::Word && (i > first || is_string(i + 1)) {
                // A macro of another file: `"=" REG (d)`, `EARLY "r"(d)`.
                let mut paste = Mapped::default();
                paste.push_paste(piece.bytes(source), piece.at.clone(), piece.at.end, Paste::Macro);
                constraint.push_written(&paste, place);
            } else {
                break;
            }
            i += 1;
        }
        if i == first || !tokens[..close].get(i)?.is(b'(') {
            return None;
        }
        let mut end = matching(&tokens[..close], i);
        // `"=" REG(32)(d)`
        if constraint.has_pastes() && tokens[..close].get(end + 1).is_some_and(|next| next.is(b'(')) {
            i = end + 1;
            end = matching(&tokens[..close], i);
        }
        if end >= close {
            return None;
        }
        let known = !constraint.has_pastes();
        let text = String::from_utf8_lossy(constraint.bytes()).replace(' ', "");
        let (mut class, tied) = if known { class_of(&text) } else { (Class::Unknown, None) };
        if let Some(tied) = tied.filter(|_| !output) {
            ties.push(tied);
        } else if tied.is_some() {
            class = Class::Unknown;
        }
        let access = match (output, text.as_bytes().first()) {
            (true, Some(b'=')) if known => Access::Out,
            (true, _) => Access::InOut,
            (false, _) => Access::In,
        };
        let place = self.place(&tokens[first]);
        let last = self.place(&tokens[i - 1]);
        let expression = tokens[i + 1..end].iter().take(LONGEST_EXPRESSION + 1);
        let expression: Vec<Lexeme> = expression.map(|token| self.lexeme(token)).collect();
        let expression_place = match tokens.get(i + 1).filter(|_| end > i + 1) {
            Some(token) => {
                let start = self.place(token);
                let stop = self.place(&tokens[end - 1]);
                start.start..stop.end.max(start.end)
            }
            None => place.clone(),
        };
        let expression = if expression.len() > LONGEST_EXPRESSION { Vec::new() } else { expression };
        let operand = AsmOperand {
            name,
            written: format!("\"{text}\""),
            place: place.start..last.end.max(place.end),
            whole: place.start..self.place(&tokens[end]).end.max(place.end),
            class,
            access,
            expression,
            expression_place,
            scalar: None,
        };
        Some((operand, end + 1))
    }

    /// Where a token stands; one that a macro writes, where the macro is used.
    fn place(&self, token: &Token) -> std::ops::Range<usize> {
        match token.site.map(|site| &self.sites[site as usize].place) {
            Some(place) if token.at.start < place.start || token.at.end > place.end => place.clone(),
            _ => token.at.clone(),
        }
    }

    fn lexeme(&self, token: &Token) -> Lexeme {
        let kind = match token.kind {
            Kind::Word => LexemeKind::Word,
            Kind::Number => LexemeKind::Number,
            Kind::Sign(_) => LexemeKind::Sign,
            _ => LexemeKind::Other,
        };
        Lexeme { text: token.bytes(self.source).to_vec(), at: self.place(token).start, kind }
    }
}
