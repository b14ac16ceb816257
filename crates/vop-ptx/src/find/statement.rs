//! From a text to the video instructions at the starts of its statements.

use std::ops::Range;

use super::cursor::{Cursor, is_ident, is_space};
use super::found::{Context, Found, FoundKind, PartialReason, Step};
use super::lex::{Text, ptx::skip_comment};
use super::mapped::{Mapped, Paste};
use super::mnemonic::{self, Word, is_modifier, is_video_type};

pub(super) fn statements(text: &Text) -> Vec<Found> {
    let mut found = Vec::new();
    walk(text, |_, statement| found.extend(statement.ok()));
    found
}

/// All statements, also those that are no video instructions, and where a straight line of them ends.
pub(super) fn steps(text: &Text) -> Vec<Step> {
    let bytes = text.mapped.bytes();
    let mut steps = Vec::new();
    let mut end = 0;
    // Whether the braces of a vector are open: `mov.b64 {%0, %1}, %2;`.
    let mut vector = false;
    walk(text, |place, statement| {
        // What a macro pastes, a label, or the end of a block.
        let pasted = |i: usize| text.mapped.paste_at(i).is_some();
        let between = end..place.start;
        end = place.end;
        let ended = bytes[between.clone()].iter().any(|b| matches!(b, b';' | b'{' | b'}'));
        if between.clone().any(pasted) || pasted(place.start) {
            steps.push(Step::Unknown);
        } else {
            let between = &bytes[between];
            let (opens, closes) = (between.contains(&b'{'), between.contains(&b'}'));
            let goes_on = !between.contains(&b';') && (if vector { closes || !opens } else { opens && !closes });
            if let (true, Some(Step::Other(before)), Err(more)) = (goes_on, steps.last_mut(), &statement) {
                before.push_str(&String::from_utf8_lossy(between));
                before.push_str(&plain(&text.mapped, more.clone()));
                // `…}, {…`
                vector = between.iter().rposition(|b| *b == b'{') > between.iter().rposition(|b| *b == b'}')
                    || vector && !closes;
                return;
            }
            if between.contains(&b':') || closes && !vector {
                steps.push(Step::Break);
            }
            vector = false;
        }
        let step = match statement {
            Ok(found) => Step::Video(found),
            Err(other) => Step::Other(plain(&text.mapped, other)),
        };
        match (steps.last_mut(), step) {
            // A statement on several lines.
            (Some(Step::Other(before)), Step::Other(more)) if !ended => {
                before.push(' ');
                before.push_str(&more);
            }
            (_, step) => steps.push(step),
        }
    });
    steps
}

/// A part of a text with the names of what is pasted as [`Scanner::extract`] writes those of operands, `%name`: a register has one
/// name in all statements.
fn plain(text: &Mapped, range: Range<usize>) -> String {
    let bytes = text.bytes();
    let mut out: Vec<u8> = Vec::new();
    let mut pos = range.start;
    while pos < range.end {
        let Some((_, end)) = text.paste_at(pos) else {
            out.push(bytes[pos]);
            pos += 1;
            continue;
        };
        if !out.last().is_some_and(|&last| is_ident(last) || matches!(last, b'%' | b'$')) {
            out.push(b'%');
        }
        let end = end.min(range.end);
        out.extend(&bytes[pos..end]);
        pos = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Calls back with each statement's place and, for a video instruction, the instruction; for another, its place again.
fn walk(text: &Text, mut sink: impl FnMut(Range<usize>, Result<Found, Range<usize>>)) {
    let mut scanner =
        Scanner { text: &text.mapped, cursor: Cursor::new(text.mapped.bytes(), 0), in_asm: text.dialect.is_asm() };
    loop {
        scanner.skip_separators();
        if scanner.cursor.at_end() {
            return;
        }
        let (start, found) = scanner.statement();
        let place = start..scanner.cursor.pos;
        sink(place.clone(), found.ok_or(place));
    }
}

struct Scanner<'a> {
    text: &'a Mapped,
    cursor: Cursor<'a>,
    in_asm: bool,
}

/// A mnemonic with its modifiers, by their places in the text.
struct Head {
    word: Range<usize>,
    modifiers: Vec<Range<usize>>,
    end: usize,
    /// Who pastes the first part that is pasted.
    pasted: Option<Paste>,
}

/// What follows the head.
struct Operands {
    range: Range<usize>,
    /// Whether a `;`, a `}` or another statement ends them, rather than the text.
    ended: bool,
}

impl<'a> Scanner<'a> {
    fn bytes(&self) -> &'a [u8] {
        self.cursor.src
    }

    fn at(&self, pos: usize) -> Cursor<'a> {
        Cursor::new(self.bytes(), pos)
    }

    fn paste_end(&self, pos: usize) -> Option<usize> {
        self.text.paste_at(pos).map(|(_, end)| end)
    }

    fn skip_separators(&mut self) {
        loop {
            self.cursor.take_while(|b| is_space(b) || matches!(b, b';' | b'{' | b'}'));
            if !skip_comment(&mut self.cursor) {
                return;
            }
        }
    }

    /// Reads one statement and steps over it. Returns where it starts, and the instruction if it is a video instruction.
    fn statement(&mut self) -> (usize, Option<Found>) {
        let start = self.skip_to_guard();
        let head = self.head(self.skip_guard(start));
        let found = self.instruction(start, &head);
        if found.is_none() {
            self.skip_statement();
        }
        (start, found)
    }

    /// Steps over labels and over pasted text before a mnemonic, which can only be a guard or white space.
    fn skip_to_guard(&mut self) -> usize {
        loop {
            if let Some(end) = self.label_end() {
                self.cursor.pos = end;
            } else if let Some(end) = self.paste_end(self.cursor.pos)
                && self.is_mnemonic(self.at(end).pos)
            {
                self.cursor.pos = end;
            } else {
                return self.cursor.pos;
            }
            self.skip_separators();
        }
    }

    fn label_end(&self) -> Option<usize> {
        let mut ahead = self.cursor;
        let name = ahead.take_while(|b| is_ident(b) || matches!(b, b'%' | b'$' | b'='));
        ahead.take_while(|b| b == b' ');
        (!name.is_empty() && ahead.eat(b":") && ahead.peek(0) != b':').then_some(ahead.pos)
    }

    /// Behind `@p`, `@!%p1` or `@{p}`, if one stands at `pos`.
    fn skip_guard(&self, pos: usize) -> usize {
        let mut ahead = self.at(pos);
        if !ahead.eat(b"@") {
            return pos;
        }
        ahead.take_while(is_space);
        ahead.eat(b"!");
        ahead.take_while(is_space);
        let predicate = ahead.pos;
        ahead.take_while(|b| is_ident(b) || matches!(b, b'%' | b'$'));
        if ahead.pos == predicate {
            return pos;
        }
        ahead.take_while(is_space);
        ahead.pos
    }

    /// Whether a mnemonic and a dot stand at `pos`, with nothing of the mnemonic pasted.
    fn is_mnemonic(&self, pos: usize) -> bool {
        // Most positions are told apart by their first word, before the head is read through all that is pasted behind.
        let own =
            (pos..self.bytes().len()).take_while(|&i| is_ident(self.bytes()[i]) && self.text.paste_at(i).is_none());
        if mnemonic::classify(&self.bytes()[pos.min(self.bytes().len())..][..own.count()]) != Word::Video {
            return false;
        }
        let head = self.head(pos);
        let own = (head.word.clone()).all(|i| self.paste_end(i).is_none());
        own && !head.modifiers.is_empty() && mnemonic::classify(&self.bytes()[head.word]) == Word::Video
    }

    fn head(&self, start: usize) -> Head {
        let mut ends = Vec::new();
        let mut pasted = None;
        let mut ahead = self.at(start);
        let mut begins = vec![start];
        loop {
            let blanks = self.blanks_before_modifier(ahead.pos);
            if let Some((by, end)) = self.text.paste_at(ahead.pos) {
                pasted = pasted.or(Some(by));
                ahead.pos = end;
            } else if is_ident(ahead.peek(0)) {
                ahead.advance(1);
            } else if ahead.peek(blanks) == b'.' && self.paste_end(ahead.pos + blanks).is_none() {
                // PTX allows blanks before a dot.
                ends.push(ahead.pos);
                ahead.advance(blanks + 1);
                begins.push(ahead.pos);
            } else {
                break;
            }
        }
        ends.push(ahead.pos);
        let mut words = begins.into_iter().zip(ends).map(|(begin, end)| begin..end);
        let word = words.next().unwrap_or(start..start);
        Head { word, modifiers: words.collect(), end: ahead.pos, pasted }
    }

    /// The blanks here, which PTX allows before a dot. Behind a line break they count if no directive follows.
    fn blanks_before_modifier(&self, pos: usize) -> usize {
        let blanks = self.at(pos).take_while(|b| matches!(b, b' ' | b'\t')).len();
        if !matches!(self.at(pos).peek(blanks), b'\n' | b'\r') {
            return blanks;
        }
        let mut ahead = self.at(pos);
        let all = ahead.take_while(is_space).len();
        let word = if ahead.eat(b".") { ahead.take_while(is_ident) } else { b"" };
        let is_directive = matches!(
            word,
            b"reg"
                | b"loc"
                | b"file"
                | b"pragma"
                | b"param"
                | b"local"
                | b"shared"
                | b"global"
                | b"const"
                | b"visible"
                | b"weak"
                | b"extern"
                | b"entry"
                | b"func"
                | b"version"
                | b"target"
                | b"address_size"
                | b"align"
        );
        if word.is_empty() || is_directive { blanks } else { all }
    }

    /// The instruction of this head, or `None` where it is none.
    fn instruction(&mut self, start: usize, head: &Head) -> Option<Found> {
        if !self.is_video(head) {
            return None;
        }
        let head = &self.without_pasted_operands(head);
        let operands = self.operands(head.end);
        let kind = self.judge(head, &operands)?;
        let found = match kind {
            FoundKind::Statement => self.extract(start..operands.range.end, head),
            FoundKind::Fragment | FoundKind::Label => self.extract(head.word.start..head.end, head),
            FoundKind::Partial(_) => self.extract(start..operands.range.end, head),
        };
        self.cursor.pos = operands.range.end.max(head.end);
        let mut behind = Self { text: self.text, cursor: self.cursor, in_asm: self.in_asm };
        behind.skip_blanks();
        let has_semicolon = behind.cursor.peek(0) == b';' || self.paste_end(behind.cursor.pos).is_some();
        let (text, map) = found.into_parts();
        Some(Found { text, kind, map, context: Context::default(), has_semicolon })
    }

    /// `"vadd4.u32.u32.u32" OPERANDS ";"`: where nothing else can hold the operands, the paste behind the last modifier does.
    fn without_pasted_operands(&self, head: &Head) -> Head {
        let last = head.modifiers.last().unwrap_or(&head.word).clone();
        let paste = last.clone().find_map(|i| self.text.paste_at(i).map(|(by, end)| (i, by, end)));
        let mut modifiers = head.modifiers.clone();
        let (mut end, mut pasted) = (head.end, head.pasted);
        if let (Some((at, Paste::Macro, paste_end)), Some(last)) = (paste, modifiers.last_mut())
            && at > last.start
            && paste_end == head.end
            && matches!(self.after_blanks(head.end), 0 | b';' | b',')
        {
            last.end = at;
            end = at;
            let before = head.word.start..at;
            pasted = before.clone().find_map(|i| self.text.paste_at(i).map(|(by, _)| by));
        }
        Head { word: head.word.clone(), modifiers, end, pasted }
    }

    fn after_blanks(&self, pos: usize) -> u8 {
        let mut ahead = self.at(pos);
        ahead.take_while(is_space);
        ahead.peek(0)
    }

    /// From the head to the statement's end, without blanks around.
    fn operands(&self, head_end: usize) -> Operands {
        let mut ahead = self.at(head_end);
        let mut depth = 0_usize;
        // Behind the last byte that is neither blank nor comment.
        let mut end = head_end;
        let ended = loop {
            if skip_comment(&mut ahead) {
                continue;
            }
            match ahead.peek(0) {
                _ if ahead.at_end() => break false,
                b';' => break true,
                b'}' if depth == 0 => break true,
                b'}' => depth -= 1,
                b'{' if depth > 0 => break true,
                b'{' => depth += 1,
                b'\n' if self.line_ends_statement(head_end..end, ahead.pos) => break true,
                b'\n' => {
                    // Empty lines are judged once.
                    ahead.take_while(is_space);
                    continue;
                }
                _ if self.paste_before_mnemonic(ahead.pos) => break true,
                _ => {}
            }
            if !is_space(ahead.peek(0)) {
                end = ahead.pos + 1;
            }
            ahead.advance(1);
        };
        self.without_pasted_terminator(head_end, Operands { range: head_end..end, ended })
    }

    /// `EOL` in `"… %3" EOL "vsub4…"`.
    fn paste_before_mnemonic(&self, pos: usize) -> bool {
        let begins = pos.checked_sub(1).is_none_or(|before| self.paste_end(before) != self.paste_end(pos));
        begins && self.text.paste_at(pos).is_some_and(|(by, end)| by == Paste::Macro && self.is_mnemonic(end))
    }

    /// Whether a statement without `;` ends at a line break: at the next instruction, and in a text that may be prose,
    /// where the line does not call for more.
    fn line_ends_statement(&self, so_far: Range<usize>, line_break: usize) -> bool {
        let mut next = Self { text: self.text, cursor: self.at(line_break), in_asm: self.in_asm };
        next.skip_blanks();
        if next.is_mnemonic(next.skip_guard(next.cursor.pos)) {
            return true;
        }
        let (last, first) = (self.at(so_far.end).before(), next.cursor.peek(0));
        if self.in_asm || matches!(first, b',' | b';') {
            return false;
        }
        if so_far.is_empty() {
            let mut operand = next.cursor;
            operand.take_while(|b| is_ident(b) || b == b'.');
            operand.take_while(|b| matches!(b, b' ' | b'\t'));
            let lists = is_ident(first) && operand.peek(0) == b',';
            return !(lists || matches!(first, b'%' | b'$') || next.paste_end(next.cursor.pos).is_some());
        }
        last != b','
    }

    fn skip_blanks(&mut self) {
        loop {
            self.cursor.take_while(is_space);
            if !skip_comment(&mut self.cursor) {
                return;
            }
        }
    }

    /// A macro behind the last operand holds the `;`, if the text does not.
    fn without_pasted_terminator(&self, head_end: usize, operands: Operands) -> Operands {
        if matches!(self.after_blanks(operands.range.end), b';' | b'}') {
            return operands;
        }
        let last = operands.range.end.checked_sub(1).and_then(|last| self.text.paste_at(last));
        let Some((Paste::Macro, _)) = last else { return operands };
        let mut before = self.at(operands.range.end);
        while before.pos > head_end && self.paste_end(before.pos - 1) == Some(operands.range.end) {
            before.pos -= 1;
        }
        while before.pos > head_end && is_space(before.before()) {
            before.pos -= 1;
        }
        if before.pos == head_end || before.before() == b',' {
            return operands;
        }
        Operands { range: head_end..before.pos, ended: true }
    }

    /// Whether a head begins with a mnemonic, or has modifiers that only video instructions have. The text behind it is not
    /// read, so that a statement's end is searched for once.
    fn is_video(&self, head: &Head) -> bool {
        let types = self.modifier_bytes(head).take_while(|m| is_video_type(m)).count();
        if head.word.is_empty() {
            // `asm(STR(op) ".u32.u32.u32 %0, …")`: nothing else has three types.
            return self.in_asm && types >= 3;
        }
        if let Some(at) = self.paste_in(&head.word) {
            // `"vadd" #N ".u32…"` begins as a mnemonic; `#OP ".u32.u32.u32"` has the types, and `#OP "4.u32.u32.eq"` the lanes.
            let before = &self.bytes()[head.word.start..at];
            let begins = mnemonic::classify(before) == Word::Video;
            let pasted_types = head.modifiers.iter().take_while(|part| self.is_type_or_paste(part)).count();
            let has_lanes = matches!(self.bytes()[head.word.clone()].last(), Some(b'2' | b'4'))
                && head.word.end.checked_sub(1).is_some_and(|last| self.paste_end(last).is_none());
            return match before {
                // `"vadd4" + types`: the operands decide.
                _ if begins => self.in_asm || types > 0 || self.is_called(at) || mnemonic::has_lanes(before),
                // `"v" #op "2." #t "." #t`, `"v" + op + "4." + types`
                _ if starts_like_video(before) => pasted_types >= 2 || (has_lanes && pasted_types == 1),
                [] if has_lanes => types >= 2 || pasted_types >= 3,
                _ => types >= 3,
            };
        }
        let word = &self.bytes()[head.word.clone()];
        let Some(first) = self.modifier_bytes(head).next() else {
            return self.in_asm && mnemonic::has_lanes(word) && mnemonic::is_other_name(word);
        };
        match mnemonic::classify(word) {
            Word::Video => self.in_asm || self.is_cut_short(head) || is_modifier(first) || head.pasted.is_some(),
            Word::Near => types >= 2 || (types == 1 && self.in_asm && mnemonic::has_lanes(word)),
            Word::Other => false,
        }
    }

    /// Whether what is pasted at `at` is a call of which an argument goes on with modifiers.
    fn is_called(&self, at: usize) -> bool {
        self.text.paste_at(at).is_some_and(|(by, _)| by == Paste::Call)
    }

    /// Whether all types of a mnemonic that is pasted in part are pasted too, and at one place: a version `v{x}.2.{y}` reads as well like that.
    fn is_vague(&self, head: &Head) -> bool {
        let Some(at) = self.paste_in(&head.word).filter(|_| !self.in_asm) else { return false };
        let before = &self.bytes()[head.word.start..at];
        let known = self.modifier_bytes(head).any(is_video_type);
        !known && !before.is_empty() && head.modifiers.iter().filter(|part| self.is_type_or_paste(part)).count() < 2
    }

    /// The start of the first paste in a part of the head.
    fn paste_in(&self, part: &Range<usize>) -> Option<usize> {
        part.clone().find(|&i| self.paste_end(i).is_some())
    }

    /// Whether a modifier is a type, or all of it is pasted.
    fn is_type_or_paste(&self, part: &Range<usize>) -> bool {
        is_video_type(&self.bytes()[part.clone()]) || self.paste_end(part.start) == Some(part.end)
    }

    fn is_cut_short(&self, head: &Head) -> bool {
        head.end == self.bytes().len() && head.modifiers.last().is_some_and(Range::is_empty)
    }

    /// How much of the instruction is here; `None` where the text behind the head is not PTX.
    fn judge(&self, head: &Head, operands: &Operands) -> Option<FoundKind> {
        if head.word.is_empty() {
            return Some(FoundKind::Partial(PartialReason::Macro));
        }
        if let Some(by) = head.pasted {
            let reads_as_head = head.modifiers.len() >= 3 || self.modifier_bytes(head).any(is_modifier);
            let in_asm = self.in_asm && !head.modifiers.is_empty();
            // Of a call that makes the first modifiers an argument begins with one.
            let called = by == Paste::Call;
            let certain = if self.is_vague(head) {
                self.reads_as_operands(operands) && self.count(operands) >= 3
            } else {
                in_asm || reads_as_head || self.reads_as_operands(operands)
            };
            let certain = certain || called;
            return certain.then_some(FoundKind::Partial(reason(by)));
        }
        if self.is_cut_short(head) {
            return Some(FoundKind::Partial(PartialReason::CutShort));
        }
        self.judge_operands(head, operands)
    }

    fn modifier_bytes(&self, head: &Head) -> impl Iterator<Item = &'a [u8]> {
        let bytes = self.bytes();
        head.modifiers.clone().into_iter().map(move |m| &bytes[m])
    }

    fn judge_operands(&self, head: &Head, operands: &Operands) -> Option<FoundKind> {
        let cut_off = !self.in_asm && !operands.ended;
        if cut_off && self.ends_in_selector(&operands.range) {
            return Some(FoundKind::Partial(PartialReason::CutShort));
        }
        if operands.range.clone().any(|i| self.text.paste_at(i).is_some_and(|(by, _)| by == Paste::Operand)) {
            return Some(FoundKind::Partial(PartialReason::Operand));
        }
        if operands.range.is_empty() {
            // A lone `vadd.u32` is a name in some table as likely as a fragment.
            let whole = self.modifier_bytes(head).filter(|m| is_modifier(m)).count() >= 2;
            let ends = matches!(self.after_blanks(head.end), b';' | b'}');
            return match (cut_off, self.in_asm || whole) {
                // A name: all of the string. A blank behind it is for operands.
                (_, true) if !self.in_asm && !ends && self.is_name(head) => Some(FoundKind::Label),
                (true, true) => Some(FoundKind::Fragment),
                (false, true) => Some(FoundKind::Statement),
                (_, false) => None,
            };
        }
        let enough = self.count(operands) >= mnemonic::operands_needed(&self.bytes()[head.word.clone()]);
        if !self.in_asm && !self.reads_as_operands(operands) {
            return None;
        }
        if let Some(by) = self.hides_part(&operands.range, enough) {
            return Some(FoundKind::Partial(reason(by)));
        }
        let pasted = operands.range.clone().any(|i| self.paste_end(i).is_some());
        let fragment = (pasted || cut_off) && !enough;
        Some(if fragment { FoundKind::Fragment } else { FoundKind::Statement })
    }

    /// Whether the text ends in an operand's selector, before its digits: `"… %1.b"`.
    fn ends_in_selector(&self, operands: &Range<usize>) -> bool {
        let bytes = &self.bytes()[operands.clone()];
        let last = bytes.rsplit(|&b| is_space(b) || b == b',').next().unwrap_or_default();
        let selector = last.iter().rposition(|&b| b == b'.').filter(|&dot| dot > 0).map(|dot| &last[dot + 1..]);
        operands.end == self.bytes().len() && matches!(selector, Some(b"" | b"b" | b"h"))
    }

    /// Whether a head is the whole text, or a line of it.
    fn is_name(&self, head: &Head) -> bool {
        let bytes = self.bytes();
        let begins = head.word.start == 0 || bytes[head.word.start - 1] == b'\n';
        let ends =
            matches!(self.at(head.end).peek(0), 0 | b'\n') && (self.at(head.end).at_end() || bytes[head.end] != 0);
        begins && ends && !(0..bytes.len()).any(|i| self.paste_end(i).is_some())
    }

    fn count(&self, operands: &Operands) -> usize {
        1 + memchr::memchr_iter(b',', &self.bytes()[operands.range.clone()]).count()
    }

    fn begins_as_operand(&self, pos: usize) -> bool {
        let blanks = self.at(pos).take_while(is_space).len();
        matches!(self.at(pos).peek(blanks), b'%' | b'$') || self.paste_end(pos + blanks).is_some()
    }

    /// Whether a first operand and a comma stand here, or one operand that no prose begins with.
    fn reads_as_operands(&self, operands: &Operands) -> bool {
        let mut ahead = self.at(operands.range.start);
        let apart = is_space(ahead.peek(0)) || self.begins_as_operand(ahead.pos) || ahead.starts_with(b"/");
        let mut skipper = Self { text: self.text, cursor: ahead, in_asm: self.in_asm };
        skipper.skip_blanks();
        ahead = skipper.cursor;
        let operand = ahead.take_while(|b| is_ident(b) || b"%$.[]+-:<>~!".contains(&b));
        ahead.take_while(is_space);
        let alone = ahead.pos >= operands.range.end && self.begins_as_operand(operands.range.start);
        apart && !operand.is_empty() && (alone || ahead.peek(0) == b',')
    }

    /// Who pastes what may hold a selector: what stands behind a dot, behind a placeholder (`%1{sel}`), or behind another paste, unless
    /// these two hold all operands.
    fn hides_part(&self, operands: &Range<usize>, enough: bool) -> Option<Paste> {
        let mut pos = operands.start;
        while pos < operands.end {
            let Some((by, end)) = self.text.paste_at(pos) else {
                pos += 1;
                continue;
            };
            let token = self.bytes()[operands.start..pos].rsplit(|&b| is_space(b) || b == b',').next();
            let in_selector = token.is_some_and(|token| token.contains(&b'.'));
            let behind_placeholder = token.is_some_and(|token| {
                let is_unit = || self.paste_end(pos - 1).is_none() && self.text.is_unit(pos - 1);
                is_number_of_operand(token) || !token.is_empty() && pos > operands.start && is_unit()
            });
            let another = (end < operands.end).then(|| self.text.paste_at(end)).flatten();
            if in_selector || behind_placeholder {
                return Some(by);
            }
            if let (Some((by, _)), true) = (another, enough) {
                return Some(by);
            }
            pos = end;
        }
        None
    }

    /// A part of the text without comments, and with what is pasted written as PTX writes identifiers, in the head in
    /// braces.
    fn extract(&self, range: Range<usize>, head: &Head) -> Mapped {
        let mut out = Mapped::default();
        let mut ahead = self.at(range.start);
        while ahead.pos < range.end {
            let from = ahead.pos;
            if let Some((by, end)) = self.text.paste_at(from) {
                let name = &self.bytes()[from..end];
                let last = out.bytes().last().copied().unwrap_or(0);
                let spelled = if head.word.start <= from && from < head.end {
                    // Without the number that tells it from others: no register is named here.
                    let end = name.iter().position(|&b| b == b'$').filter(|&end| end > 0).unwrap_or(name.len());
                    [b"{", &name[..end], b"}"].concat()
                } else if is_ident(last) || matches!(last, b'%' | b'$') {
                    name.to_vec()
                } else {
                    [b"%", name].concat()
                };
                out.push_instead(&spelled, self.text, from..end, Some(by));
                ahead.pos = end;
            } else if skip_comment(&mut ahead) {
                out.push_instead(b" ", self.text, from..ahead.pos, None);
            } else {
                ahead.advance(1);
                out.push_slice(self.text, from..ahead.pos);
            }
        }
        out
    }

    /// Goes to where the next statement may start: behind `;`, a brace, or the line.
    fn skip_statement(&mut self) {
        while !self.cursor.at_end() && !matches!(self.cursor.peek(0), b';' | b'{' | b'}' | b'\n') {
            if !skip_comment(&mut self.cursor) {
                self.cursor.advance(1);
            }
        }
    }
}

/// Whether a text is `%1` or `$1`.
fn is_number_of_operand(text: &[u8]) -> bool {
    let number = text.strip_prefix(b"%").or_else(|| text.strip_prefix(b"$"));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

/// Whether a word that is pasted to its end may be a video instruction's mnemonic: `v`, `vs`, `vabs`.
fn starts_like_video(word: &[u8]) -> bool {
    let word = word.to_ascii_lowercase();
    !word.is_empty() && mnemonic::stems().any(|stem| stem.as_bytes().starts_with(&word))
}

fn reason(by: Paste) -> PartialReason {
    match by {
        Paste::Macro => PartialReason::Macro,
        Paste::Field | Paste::Call => PartialReason::Format,
        Paste::Operand => PartialReason::Operand,
    }
}
