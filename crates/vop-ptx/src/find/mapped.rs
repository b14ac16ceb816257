//! Text put together from places of a source file, each byte with the place it came from.

use std::ops::Range;

use super::found::Braces;

/// Who fills in a text that the file does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paste {
    /// The preprocessor, or a macro of the language.
    Macro,
    /// A format string's field, or an operator that joins strings.
    Field,
    /// An operator that joins a string to a call, whose first argument is a string that goes on with modifiers: `"vadd4" + f(".u32…")`.
    Call,
    /// An operand of the `asm`, whose value is not known.
    Operand,
}

/// A run of text from one place. Where text and source are equally long they correspond byte for byte; otherwise
/// (escape sequences, placeholders) the run stands for the source as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    text: usize,
    source: (usize, usize),
    /// Where the literal that holds the source ends; tells the literals of a text apart.
    literal_end: usize,
    paste: Option<Paste>,
    /// Where the definition of the macro that writes it spells it; the source is then the macro's use.
    origin: Option<(usize, usize)>,
}

/// A run of a text that comes from one place.
pub(super) struct Piece {
    pub(super) text: Range<usize>,
    /// Where it is spelled: in a macro's definition, or in the source.
    pub(super) source: Range<usize>,
    pub(super) paste: Option<Paste>,
}

/// Maps byte offsets of a text to byte offsets of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OffsetMap {
    segments: Vec<Segment>,
    text_len: usize,
}

impl OffsetMap {
    fn index(&self, offset: usize) -> Option<usize> {
        self.segments.partition_point(|s| s.text <= offset).checked_sub(1)
    }

    fn text_range(&self, index: usize) -> Range<usize> {
        let end = self.segments.get(index + 1).map_or(self.text_len, |s| s.text);
        self.segments[index].text..end
    }

    /// The source of the byte at `offset`: one byte, or the whole escape sequence or placeholder it came from.
    fn byte_span(&self, offset: usize) -> Range<usize> {
        let Some(index) = self.index(offset.min(self.text_len.saturating_sub(1))) else { return 0..0 };
        let (text, (start, end)) = (self.text_range(index), self.segments[index].source);
        if text.len() == end - start && offset < text.end && self.segments[index].origin.is_none() {
            let at = start + (offset - text.start);
            at..at + 1
        } else {
            start..end
        }
    }

    pub(super) fn source_offset(&self, offset: usize) -> usize {
        if offset < self.text_len {
            self.byte_span(offset).start
        } else {
            self.text_len.checked_sub(1).map_or(0, |last| self.byte_span(last).end)
        }
    }

    pub(super) fn source_span(&self, span: Range<usize>) -> Range<usize> {
        let start = self.source_offset(span.start);
        let last = span.end.min(self.text_len).saturating_sub(1);
        if span.is_empty() || last < span.start {
            return start..start;
        }
        let (Some(first), Some(final_)) = (self.index(span.start), self.index(last)) else { return start..start };
        let literal_end = self.segments[first].literal_end;
        let end = if self.segments[final_].literal_end == literal_end { self.byte_span(last).end } else { literal_end };
        start..end.max(start)
    }

    /// The bytes of `source` that an edit of `span` replaces; for an empty span, the place behind what stands before it. `owns_fields`
    /// says that the fields of the text are its own placeholders, not a format's.
    ///
    /// # Errors
    /// Why an edit of the file is no edit of the text alone, or of all of it.
    pub(super) fn edit_place(
        &self,
        span: Range<usize>,
        source: &[u8],
        owns_fields: bool,
    ) -> Result<Range<usize>, &'static str> {
        let is_insertion = span.is_empty();
        let span = if is_insertion { span.start.saturating_sub(1)..span.end.max(1) } else { span };
        let (Some(first), Some(last)) = (self.index(span.start), self.index(span.end - 1)) else {
            return Err("its place in the file is not known");
        };
        for segment in &self.segments[first..=last] {
            match segment.paste {
                Some(Paste::Macro) => return Err("a macro or an operator writes a part of it"),
                Some(Paste::Field) if owns_fields => {}
                Some(Paste::Field | Paste::Call) => return Err("a format writes a part of it"),
                Some(Paste::Operand) => return Err("an operand of the asm writes a part of it"),
                None if segment.origin.is_some() => {
                    return Err("a macro writes it; the macro's definition has it once for all uses");
                }
                None => {}
            }
        }
        let literal_end = self.segments[first].literal_end;
        let mut place: Option<Range<usize>> = None;
        for piece in self.pieces_within(first, last) {
            let Range { start, end } = piece.source;
            let text = piece.text;
            let is_comment = || matches!(source.get(start..end), Some([b'/', b'/' | b'*', ..]));
            let part = if text.len() == end - start {
                start + (span.start.max(text.start) - text.start)..end - (text.end - span.end.min(text.end))
            } else if is_insertion && text.end == span.end {
                start..end
            } else if is_comment() {
                return Err("a comment stands in it");
            } else if text.start < span.start || text.end > span.end {
                return Err("an escape sequence or a placeholder holds a part of it");
            } else {
                start..end
            };
            place = match place {
                None => Some(part),
                Some(before) if before.end == part.start => Some(before.start..part.end),
                Some(_) => return Err("it does not stand in one piece in one string literal"),
            };
        }
        if self.segments[first..=last].iter().any(|segment| segment.literal_end != literal_end) {
            return Err("it does not stand in one piece in one string literal");
        }
        let place = place.ok_or("its place in the file is not known")?;
        Ok(if is_insertion { place.end..place.end } else { place })
    }

    /// The runs from one segment to another; what stands for one placeholder or escape sequence is one run, also where it begins before.
    fn pieces_within(&self, first: usize, last: usize) -> Vec<Piece> {
        let segment = |index: usize| (self.segments[index].source, self.segments[index].paste);
        let is_unit = |index: usize| self.text_range(index).len() != segment(index).0.1 - segment(index).0.0;
        let joins = |index: usize| {
            index > 0
                && index < self.segments.len()
                && segment(index - 1) == segment(index)
                && is_unit(index)
                && is_unit(index - 1)
        };
        let (mut begin, mut end) = (first, last);
        while joins(begin) {
            begin -= 1;
        }
        while joins(end + 1) {
            end += 1;
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for index in begin..=end {
            let (text, ((start, stop), paste)) = (self.text_range(index), segment(index));
            match pieces.last_mut().filter(|_| index > begin && joins(index)) {
                Some(piece) => piece.text.end = text.end,
                None => pieces.push(Piece { text, source: start..stop, paste }),
            }
        }
        pieces
    }

    /// Where the literal ends that holds the byte at `offset`.
    pub(super) fn literal_end(&self, offset: usize) -> Option<usize> {
        self.index(offset).map(|index| self.segments[index].literal_end)
    }

    /// How braces of the text are written in its source, as far as both show it. `is_asm` says that the text is known to be assembly
    /// language, and no format's.
    pub(super) fn braces(&self, text: &[u8], source: &[u8], is_asm: bool) -> Braces {
        let (mut has_fields, mut doubles) = (false, false);
        // The lengths of the runs of equal braces that the text has as the file has them.
        let mut runs: Vec<usize> = Vec::new();
        let mut last = 0;
        for index in 0..self.segments.len() {
            let (segment, range) = (self.segments[index], self.text_range(index));
            let (start, end) = segment.source;
            let spelled = source.get(start..end).unwrap_or_default();
            let part = text.get(range).unwrap_or_default();
            let is_raw = segment.paste.is_none() && part.len() == spelled.len();
            match spelled {
                // What reads formats makes one of two.
                [b'{', b'{'] | [b'}', b'}'] if !is_raw && matches!(part, b"{" | b"}") => return Braces::Doubled,
                [b'{', b'{', ..] if !is_raw => doubles = true,
                [b'{', b'$' | b'%', ..] => {}
                [b'{', ..] if !is_raw => has_fields = true,
                _ => {}
            }
            for &byte in if is_raw { part } else { b" " } {
                match (byte, runs.last_mut()) {
                    (b'{' | b'}', Some(run)) if byte == last => *run += 1,
                    (b'{' | b'}', _) => runs.push(1),
                    _ => {}
                }
                last = byte;
            }
        }
        let singles = runs.iter().any(|run| !run.is_multiple_of(2));
        doubles |= !runs.is_empty();
        match (singles, has_fields, doubles) {
            // A format would take one for a field.
            (true, ..) => Braces::Single,
            (false, false, false) if is_asm => Braces::Single,
            (false, true, true) => Braces::Doubled,
            _ => Braces::Unknown,
        }
    }

    /// Where the definition of a macro spells the first byte of `span` that one writes, to the end of its run.
    pub(super) fn origin(&self, span: Range<usize>) -> Option<Range<usize>> {
        let first = self.index(span.start.min(self.text_len.saturating_sub(1)))?;
        let found = (first..self.segments.len())
            .take_while(|&i| i == first || self.segments[i].text < span.end)
            .find(|&i| self.segments[i].origin.is_some())?;
        let (segment, text) = (self.segments[found], self.text_range(found));
        let (start, end) = segment.origin?;
        if text.len() != end - start {
            return Some(start..end);
        }
        let from = span.start.max(text.start);
        let to = span.end.min(text.end).max(from);
        Some(start + (from - text.start)..start + (to - text.start))
    }

    /// The place where each run of the text is spelled: in a macro's definition, or in the source.
    pub(super) fn spelled(&self) -> impl Iterator<Item = Range<usize>> {
        self.segments.iter().map(|segment| segment.origin.unwrap_or(segment.source)).map(|(start, end)| start..end)
    }

    /// The places in macros' definitions that spell parts of the text.
    pub(super) fn origins(&self) -> impl Iterator<Item = Range<usize>> {
        self.segments.iter().filter_map(|segment| segment.origin).map(|(start, end)| start..end)
    }

    /// The places where the runs of the text are spelled that are not filled in later.
    pub(super) fn literals(&self) -> impl Iterator<Item = Range<usize>> {
        let known = self.segments.iter().filter(|segment| segment.paste.is_none());
        known.map(|segment| segment.origin.unwrap_or(segment.source)).map(|(start, end)| start..end)
    }

    /// The place where the byte at `offset` is spelled.
    pub(super) fn spelled_offset(&self, offset: usize) -> usize {
        self.origin(offset..offset + 1)
            .filter(|_| self.has_origin(offset))
            .map_or_else(|| self.source_offset(offset), |place| place.start)
    }

    fn has_origin(&self, offset: usize) -> bool {
        self.index(offset).is_some_and(|i| self.segments[i].origin.is_some())
    }

    /// The runs of the text, in order; what stands for one placeholder is one run.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (index, segment) in self.segments.iter().enumerate() {
            let (start, end) = segment.origin.unwrap_or(segment.source);
            let text = self.text_range(index);
            match pieces.last_mut().filter(|last| last.source == (start..end) && last.paste == segment.paste) {
                Some(last) => last.text.end = text.end,
                None => pieces.push(Piece { text, source: start..end, paste: segment.paste }),
            }
        }
        pieces
    }

    /// From the first byte of the source to the last; `None` where a macro writes a part.
    pub(super) fn written_span(&self) -> Option<Range<usize>> {
        let is_plain = self.segments.iter().all(|segment| segment.origin.is_none());
        let (first, last) = (self.segments.first()?, self.segments.last()?);
        is_plain.then_some(first.source.0..last.source.1)
    }

    /// Where each of the literals ends, in order.
    pub(super) fn literal_ends(&self) -> Vec<usize> {
        let mut ends: Vec<usize> = self.segments.iter().map(|segment| segment.literal_end).collect();
        ends.dedup();
        ends
    }

    /// What stands in the source between the literals of a part of the text: from the end of each to the next one's first byte.
    pub(super) fn gaps(&self, span: Range<usize>) -> Vec<Range<usize>> {
        let first = self.index(span.start).unwrap_or(0);
        let within = self.segments.iter().skip(first).take_while(|segment| segment.text < span.end);
        let within: Vec<&Segment> = within.collect();
        let pairs = within.windows(2).filter(|pair| pair[0].literal_end != pair[1].literal_end);
        pairs.map(|pair| pair[0].literal_end..pair[1].source.0).collect()
    }

    /// Whether a part of the text is filled in later.
    pub(super) fn has_pastes(&self) -> bool {
        self.segments.iter().any(|segment| segment.paste.is_some())
    }

    /// Whether a byte of `span` is filled in later.
    pub(super) fn is_pasted(&self, span: Range<usize>) -> bool {
        let first = self.index(span.start).unwrap_or(0);
        let within = self.segments.iter().skip(first).take_while(|segment| segment.text < span.end);
        within.into_iter().any(|segment| segment.paste.is_some())
    }

    /// Whether the definitions of macros spell all of `span`.
    pub(super) fn is_of_macros(&self, span: Range<usize>) -> bool {
        let first = self.index(span.start).unwrap_or(0);
        let mut within = self.segments.iter().skip(first).take_while(|segment| segment.text < span.end);
        !span.is_empty() && within.all(|segment| segment.origin.is_some())
    }

    /// The same text, all of it written by a macro's use.
    pub(super) fn at_use(mut self, place: &Range<usize>) -> Self {
        for segment in &mut self.segments {
            segment.origin = segment.origin.or(Some(segment.source));
            segment.source = (place.start, place.end);
            segment.literal_end = place.end;
        }
        self
    }
}

/// A text and where it came from.
#[derive(Debug, Clone, Default)]
pub(super) struct Mapped {
    text: Vec<u8>,
    map: OffsetMap,
    /// How many names [`Self::distinct`] has given.
    distinct: usize,
}

impl Mapped {
    /// An empty text that will be put together from pieces of another: it gives no name that the other has given.
    pub(super) fn from_pieces_of(other: &Self) -> Self {
        Self { distinct: other.distinct, ..Self::default() }
    }

    /// A new name for a placeholder that may stand for any text: `%s`, `{}`, `{x[0]}`. Equal names mean one register, so two
    /// placeholders must not share one. In an opcode or a selector the name stays, as no register is named there.
    pub(super) fn distinct(&mut self, name: &[u8]) -> Vec<u8> {
        match self.text.last() {
            None | Some(b'.') => name.to_vec(),
            Some(_) => {
                self.distinct += 1;
                [name, format!("${}", self.distinct).as_bytes()].concat()
            }
        }
    }

    /// The whole of a file, unchanged.
    pub(super) fn whole(source: &[u8]) -> Self {
        let mut mapped = Self::default();
        mapped.push_raw(source, 0..source.len(), source.len());
        mapped
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.text
    }

    /// Where the byte at `offset` stands in the file; for an offset behind the text, where its last byte ends there.
    pub(super) fn source_offset(&self, offset: usize) -> usize {
        self.map.source_offset(offset)
    }

    /// The bytes of the file that a part of the text came from.
    pub(super) fn source_span(&self, span: Range<usize>) -> Range<usize> {
        self.map.source_span(span)
    }

    /// Adds bytes that stand in the file as they are.
    pub(super) fn push_raw(&mut self, file: &[u8], range: Range<usize>, literal_end: usize) {
        self.push(&file[range.clone()], range, literal_end, None, None);
    }

    /// Adds a text that stands for `source` as a whole.
    pub(super) fn push_unit(&mut self, text: &[u8], source: Range<usize>, literal_end: usize) {
        self.push(text, source, literal_end, None, None);
    }

    /// Adds the name of a text that is filled in later.
    pub(super) fn push_paste(&mut self, name: &[u8], source: Range<usize>, literal_end: usize, by: Paste) {
        self.push(name, source, literal_end, Some(by), None);
    }

    fn push(
        &mut self,
        text: &[u8],
        source: Range<usize>,
        literal_end: usize,
        paste: Option<Paste>,
        origin: Option<(usize, usize)>,
    ) {
        if text.is_empty() {
            return;
        }
        let next = Segment { text: self.text.len(), source: (source.start, source.end), literal_end, paste, origin };
        if !self.extends_last(&next, text.len()) {
            self.map.segments.push(next);
        } else if let Some(last) = self.map.segments.last_mut() {
            match (&mut last.origin, next.origin) {
                (Some(origin), Some(next)) => origin.1 = next.1,
                _ => last.source.1 = source.end,
            }
        }
        self.text.extend_from_slice(text);
        self.map.text_len = self.text.len();
    }

    fn extends_last(&self, next: &Segment, text_len: usize) -> bool {
        self.map.segments.last().is_some_and(|last| {
            let one_to_one = |text: usize, source: (usize, usize)| text == source.1 - source.0;
            let is_adjacent = match (last.origin, next.origin) {
                (None, None) => {
                    last.source.1 == next.source.0
                        && one_to_one(self.text.len() - last.text, last.source)
                        && one_to_one(text_len, next.source)
                }
                // Written by one use of a macro, and spelled side by side.
                (Some(origin), Some(next_origin)) => {
                    last.source == next.source
                        && origin.1 == next_origin.0
                        && one_to_one(self.text.len() - last.text, origin)
                        && one_to_one(text_len, next_origin)
                }
                _ => false,
            };
            last.paste.is_none() && next.paste.is_none() && last.literal_end == next.literal_end && is_adjacent
        })
    }

    /// Adds a piece of `other`, with its places.
    pub(super) fn push_slice(&mut self, other: &Self, range: Range<usize>) {
        self.push_slice_within(other, range, usize::MAX);
    }

    /// As [`Self::push_slice`], for a literal inside a literal: the inner one ends at `literal_end`.
    fn push_slice_within(&mut self, other: &Self, range: Range<usize>, literal_end: usize) {
        let mut at = range.start;
        while at < range.end {
            let Some(index) = other.map.index(at) else { return };
            let (whole, segment) = (other.map.text_range(index), other.map.segments[index]);
            let part = at..whole.end.min(range.end);
            let (start, end) = segment.source;
            let source = if whole.len() == end - start && segment.origin.is_none() {
                start + (part.start - whole.start)..start + (part.end - whole.start)
            } else {
                start..end
            };
            let literal_end = segment.literal_end.min(literal_end).max(source.end);
            let origin = segment.origin.map(|(start, end)| {
                let one_to_one = whole.len() == end - start;
                let from = start + (part.start - whole.start);
                if one_to_one { (from, from + part.len()) } else { (start, end) }
            });
            self.push(&other.text[part.clone()], source, literal_end, segment.paste, origin);
            at = part.end;
        }
    }

    /// Adds a text in place of a piece of `other`.
    pub(super) fn push_instead(&mut self, text: &[u8], other: &Self, range: Range<usize>, paste: Option<Paste>) {
        let source = other.map.source_span(range.clone());
        let literal_end = other.map.index(range.start).map_or(source.end, |i| other.map.segments[i].literal_end);
        let origin = other.map.origin(range).map(|place| (place.start, place.end));
        self.push(text, source, literal_end, paste, origin);
    }

    /// Adds a piece that a macro may have written. What is spelled inside `place`, the macro's use, keeps its place; the rest
    /// is at the use.
    pub(super) fn push_written(&mut self, piece: &Self, place: Option<&Range<usize>>) {
        for (index, segment) in piece.map.segments.iter().enumerate() {
            let text = &piece.text[piece.map.text_range(index)];
            let (start, end) = segment.source;
            match place.filter(|place| start < place.start || end > place.end) {
                Some(place) => {
                    self.push(text, place.clone(), place.end, segment.paste, segment.origin.or(Some((start, end))));
                }
                None => self.push(text, start..end, segment.literal_end, segment.paste, segment.origin),
            }
        }
        self.distinct = self.distinct.max(piece.distinct);
    }

    /// Whether a part of the text is filled in later.
    pub(super) fn has_pastes(&self) -> bool {
        self.map.has_pastes()
    }

    /// Whether the source writes a brace of the text twice, as formatting does.
    pub(super) fn has_doubled_braces(&self, source: &[u8]) -> bool {
        let mut pieces = self.map.pieces().into_iter();
        pieces.any(|piece| matches!(source.get(piece.source), Some(b"{{" | b"}}")) && piece.text.len() == 1)
    }

    pub(super) fn map(&self) -> &OffsetMap {
        &self.map
    }

    /// This text with its places, which are offsets of the text of `outer`, replaced by the places that `outer` has for them.
    pub(super) fn through(&self, outer: &Self) -> Self {
        let mut result = Self { distinct: self.distinct.max(outer.distinct), ..Self::default() };
        for (index, segment) in self.map.segments.iter().enumerate() {
            let (text, (start, end)) = (self.map.text_range(index), segment.source);
            let literal_end = outer.map.source_span(start..segment.literal_end).end;
            let origin =
                segment.origin.map(|(start, end)| outer.map.source_span(start..end)).map(|at| (at.start, at.end));
            if segment.paste.is_none() && origin.is_none() && text.len() == end - start {
                result.push_slice_within(outer, start..end, literal_end);
            } else {
                let source = outer.map.source_span(start..end);
                result.push(&self.text[text], source.clone(), literal_end.max(source.end), segment.paste, origin);
            }
        }
        result
    }

    /// Whether the byte at `offset` is of a text that stands for a placeholder as a whole, such as `%x` for `%[x]`.
    pub(super) fn is_unit(&self, offset: usize) -> bool {
        self.map.index(offset).is_some_and(|index| {
            let (start, end) = self.map.segments[index].source;
            self.map.text_range(index).len() != end - start
        })
    }

    /// The places of what is filled in later by this, in order.
    pub(super) fn pasted_by(&self, by: Paste) -> Vec<Range<usize>> {
        let segments = self.map.segments.iter().enumerate();
        segments.filter(|(_, segment)| segment.paste == Some(by)).map(|(index, _)| self.map.text_range(index)).collect()
    }

    /// Who fills in the byte at `offset`, if the file does not hold it, and where that text ends.
    pub(super) fn paste_at(&self, offset: usize) -> Option<(Paste, usize)> {
        let index = self.map.index(offset).filter(|_| offset < self.text.len())?;
        self.map.segments[index].paste.map(|by| (by, self.map.text_range(index).end))
    }

    /// The text and its places. A byte that is not UTF-8 becomes a `?`, so that offsets stay.
    pub(super) fn into_parts(self) -> (String, OffsetMap) {
        let text = String::from_utf8(self.text).unwrap_or_else(|error| {
            let mut text = String::new();
            for chunk in error.as_bytes().utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(chunk.invalid().iter().map(|_| '?'));
            }
            text
        });
        (text, self.map)
    }
}
