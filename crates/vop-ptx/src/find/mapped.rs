//! Text put together from places of a source file, each byte with the place it came from.

use std::ops::Range;

/// Who fills in a text that the file does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paste {
    /// The preprocessor, or a macro of the language.
    Macro,
    /// A format string's field, or an operator that joins strings.
    Field,
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
        if text.len() == end - start && offset < text.end {
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

    /// Adds bytes that stand in the file as they are.
    pub(super) fn push_raw(&mut self, file: &[u8], range: Range<usize>, literal_end: usize) {
        self.push(&file[range.clone()], range, literal_end, None);
    }

    /// Adds a text that stands for `source` as a whole.
    pub(super) fn push_unit(&mut self, text: &[u8], source: Range<usize>, literal_end: usize) {
        self.push(text, source, literal_end, None);
    }

    /// Adds the name of a text that is filled in later.
    pub(super) fn push_paste(&mut self, name: &[u8], source: Range<usize>, literal_end: usize, by: Paste) {
        self.push(name, source, literal_end, Some(by));
    }

    fn push(&mut self, text: &[u8], source: Range<usize>, literal_end: usize, paste: Option<Paste>) {
        if text.is_empty() {
            return;
        }
        let next = Segment { text: self.text.len(), source: (source.start, source.end), literal_end, paste };
        if !self.extends_last(&next, text.len()) {
            self.map.segments.push(next);
        } else if let Some(last) = self.map.segments.last_mut() {
            last.source.1 = source.end;
        }
        self.text.extend_from_slice(text);
        self.map.text_len = self.text.len();
    }

    fn extends_last(&self, next: &Segment, text_len: usize) -> bool {
        self.map.segments.last().is_some_and(|last| {
            let one_to_one = |text: usize, source: (usize, usize)| text == source.1 - source.0;
            last.paste.is_none()
                && next.paste.is_none()
                && last.literal_end == next.literal_end
                && last.source.1 == next.source.0
                && one_to_one(self.text.len() - last.text, last.source)
                && one_to_one(text_len, next.source)
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
            let source = if whole.len() == end - start {
                start + (part.start - whole.start)..start + (part.end - whole.start)
            } else {
                start..end
            };
            let literal_end = segment.literal_end.min(literal_end).max(source.end);
            self.push(&other.text[part.clone()], source, literal_end, segment.paste);
            at = part.end;
        }
    }

    /// Adds a text in place of a piece of `other`.
    pub(super) fn push_instead(&mut self, text: &[u8], other: &Self, range: Range<usize>, paste: Option<Paste>) {
        let source = other.map.source_span(range.clone());
        let literal_end = other.map.index(range.start).map_or(source.end, |i| other.map.segments[i].literal_end);
        self.push(text, source, literal_end, paste);
    }

    /// This text with its places, which are offsets of the text of `outer`, replaced by the places that `outer` has for them.
    pub(super) fn through(&self, outer: &Self) -> Self {
        let mut result = Self { distinct: self.distinct.max(outer.distinct), ..Self::default() };
        for (index, segment) in self.map.segments.iter().enumerate() {
            let (text, (start, end)) = (self.map.text_range(index), segment.source);
            let literal_end = outer.map.source_span(start..segment.literal_end).end;
            if segment.paste.is_none() && text.len() == end - start {
                result.push_slice_within(outer, start..end, literal_end);
            } else {
                let source = outer.map.source_span(start..end);
                result.push(&self.text[text], source.clone(), literal_end.max(source.end), segment.paste);
            }
        }
        result
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
