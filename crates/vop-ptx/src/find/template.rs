//! Templates that make source or PTX: Jinja's `{% if %}`, and in strings also Go's and Handlebars' `{{if}}`, Mako's lines `% if` and
//! ERB's `<% if %>`.
//!
//! The branches of a condition are alternatives. A template is read in versions that show each branch once, as the branches of `#if`
//! are. Which conditions hold together is not known: where one instruction depends on two of them, it is not judged.

use std::ops::Range;

use super::cursor::{Cursor, is_ident};
use super::mapped::{Mapped, Paste};
use super::prefilter::may_begin;

/// The versions that are read of a condition with all that it holds.
const MOST_VERSIONS: usize = 32;
/// The bytes of all versions together.
const MOST_BYTES: usize = 1 << 26;
/// The depth of conditions and loops inside each other.
const DEEPEST: usize = 32;
/// The bytes that a tag of a string may have, and an expression of a file.
const LONGEST_EXPRESSION: usize = 256;
const LONGEST_FIELD: usize = 1 << 12;

/// What a template makes.
pub(super) struct Made {
    pub(super) versions: Vec<Mapped>,
    /// The parts, in bytes of the template, that are in none of the versions though an instruction may begin there.
    pub(super) unread: Vec<Range<usize>>,
}

/// What a Jinja file makes: comments and statements are gone, and an expression is a text that is filled in.
pub(super) fn of_file(source: &[u8]) -> Made {
    let mut pieces = Vec::new();
    let mut cursor = Cursor::new(source, 0);
    let mut raw_ends = true;
    // Behind the last sign that closes one nothing is searched for.
    let last = |sign: &[u8]| memchr::memmem::rfind(source, sign).unwrap_or(0);
    let (statements, remarks) = (last(b"%}"), last(b"#}"));
    while let Some(ahead) = memchr::memchr(b'{', cursor.rest()) {
        cursor.advance(ahead);
        let start = cursor.pos;
        let closes = match cursor.peek(1) {
            b'%' => start < statements,
            b'#' => start < remarks,
            _ => true,
        };
        match Some(()).filter(|()| closes).and_then(|()| jinja(&mut cursor, true).or_else(|| expression(&mut cursor))) {
            Some(tag) => push(&mut pieces, start, &mut cursor, tag, &mut raw_ends),
            None => cursor.advance(if cursor.peek(1) == b'{' { 2 } else { 1 }),
        }
    }
    made(&Mapped::whole(source), &pieces)
}

/// What a string makes if it is a template; `None` where it has no condition that is closed.
pub(super) fn of_text(text: &Mapped) -> Option<Made> {
    let bytes = text.bytes();
    let has = |sign: &[u8]| memchr::memmem::find(bytes, sign).is_some();
    let signs: [&[u8]; 5] = [b"{%", b"{{", b"<%", b"% if", b"%if"];
    if !may_begin(bytes) || !signs.into_iter().any(has) {
        return None;
    }
    let mut pieces = Vec::new();
    let mut cursor = Cursor::new(bytes, 0);
    let mut raw_ends = true;
    while let Some(ahead) = memchr::memchr3(b'{', b'<', b'%', cursor.rest()) {
        cursor.advance(ahead);
        let mut start = cursor.pos;
        let tag = match cursor.peek(0) {
            b'{' => jinja(&mut cursor, false).or_else(|| moustache(&mut cursor)),
            b'<' => angled(&mut cursor),
            _ => {
                let line = line_start(bytes, start);
                let tag = line.and_then(|_| mako(&mut cursor));
                start = line.filter(|_| tag.is_some()).unwrap_or(start);
                tag
            }
        };
        match tag {
            Some(tag) => push(&mut pieces, start, &mut cursor, tag, &mut raw_ends),
            None => cursor.advance(1),
        }
    }
    is_closed(&pieces).then(|| made(text, &pieces))
}

/// Adds a tag; behind `{% raw %}` goes to its end. `raw_ends` says whether another end may follow.
fn push(pieces: &mut Vec<(Range<usize>, Tag)>, start: usize, cursor: &mut Cursor<'_>, tag: Tag, raw_ends: &mut bool) {
    if tag != Tag::Raw {
        return pieces.push((start..cursor.pos, tag));
    }
    pieces.push((start..cursor.pos, Tag::Nothing));
    let mut end = *cursor;
    while *raw_ends && end.skip_past(b"{%") {
        let word = end.src[end.pos..].trim_ascii_start();
        let word = word.strip_prefix(b"-").unwrap_or(word).trim_ascii_start();
        if word.starts_with(b"endraw") || word.starts_with(b"endverbatim") {
            cursor.pos = end.pos - 2;
            return;
        }
    }
    *raw_ends = false;
}

/// A part of a template that is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tag {
    /// A condition, and whether it is the opposite of what it names: `not x`.
    If(bool),
    /// `else if`, or a case.
    ElseIf,
    Else,
    /// The end of a condition; of a loop or the like; of either.
    EndIf,
    EndGroup,
    End,
    /// What holds text and is no condition.
    Group,
    /// Something that makes no text.
    Nothing,
    /// `{% raw %}`, whose text is read as it stands.
    Raw,
    /// An expression: its name, and whether it is all of it.
    Field(Vec<u8>, bool),
}

/// Whether something of these is a condition or an expression, and all that is opened is closed.
fn is_closed(pieces: &[(Range<usize>, Tag)]) -> bool {
    let mut depth = 0_usize;
    for (_, tag) in pieces {
        match tag {
            Tag::If(_) | Tag::Group => depth += 1,
            Tag::EndIf | Tag::EndGroup | Tag::End => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            Tag::ElseIf | Tag::Else if depth == 0 => return false,
            _ => {}
        }
    }
    depth == 0 && pieces.iter().any(|(_, tag)| matches!(tag, Tag::If(_) | Tag::Group | Tag::Field(..)))
}

/// Steps over `{% … %}` and `{# … #}`. In a string, which may hold PTX (`{%r1, %r2}`), only a statement of Jinja's is one.
fn jinja(cursor: &mut Cursor<'_>, in_file: bool) -> Option<Tag> {
    let mut ahead = *cursor;
    if in_file && ahead.eat(b"{#") {
        ahead.skip_past(b"#}").then(|| *cursor = ahead)?;
        return Some(Tag::Nothing);
    }
    if !ahead.eat(b"{%") {
        return None;
    }
    let inside = until(&mut ahead, b"%}", if in_file { usize::MAX } else { LONGEST_EXPRESSION })?;
    let text = statement(inside, in_file)?;
    let word = &text[..text.iter().take_while(|&&b| is_ident(b)).count()];
    let tag = match word {
        b"if" | b"unless" | b"case" => Tag::If(is_opposite(text)),
        b"elif" | b"elsif" | b"elseif" | b"when" => Tag::ElseIf,
        b"else" => Tag::Else,
        b"endif" | b"endunless" | b"endcase" => Tag::EndIf,
        b"raw" | b"verbatim" => Tag::Raw,
        b"endraw" | b"endverbatim" => Tag::Nothing,
        b"for" | b"macro" | b"call" | b"filter" | b"block" | b"with" | b"autoescape" => Tag::Group,
        b"set" if !text.contains(&b'=') => Tag::Group,
        b"set" | b"include" | b"import" | b"from" | b"extends" | b"do" | b"break" | b"continue" | b"assign" => {
            Tag::Nothing
        }
        _ if word.starts_with(b"end") => Tag::EndGroup,
        _ if in_file => Tag::Nothing,
        _ => return None,
    };
    *cursor = ahead;
    Some(tag)
}

/// Steps to behind `close`, if it stands within `limit` bytes; yields what is before it.
fn until<'a>(cursor: &mut Cursor<'a>, close: &[u8], limit: usize) -> Option<&'a [u8]> {
    let rest = cursor.rest();
    let at = memchr::memmem::find(&rest[..rest.len().min(limit)], close)?;
    cursor.advance(at + close.len());
    Some(&rest[..at])
}

/// Whether a condition is the opposite of what it names.
fn is_opposite(text: &[u8]) -> bool {
    let word = text.iter().take_while(|&&b| is_ident(b)).count();
    let condition = text[word..].trim_ascii_start();
    let one = [&b"not"[..], b"!"].iter().find_map(|sign| condition.strip_prefix(*sign));
    // Of a part of the condition it says nothing.
    let negated = one.is_some_and(|rest| !rest.first().is_some_and(|&b| is_ident(b) || b == b'='))
        && ![&b" and "[..], b" or ", b"&&", b"||"].iter().any(|sign| memchr::memmem::find(condition, sign).is_some());
    negated != (&text[..word] == b"unless")
}

/// The text of a tag without the signs of white space around it; `None` where no tag of a string holds it.
fn statement(inside: &[u8], in_file: bool) -> Option<&[u8]> {
    if !in_file && inside.iter().any(|b| matches!(b, b';' | b'{' | b'}')) {
        return None;
    }
    let text = inside.strip_prefix(b"-").or_else(|| inside.strip_prefix(b"+")).unwrap_or(inside).trim_ascii_start();
    Some(text.strip_suffix(b"-").unwrap_or(text).trim_ascii_end())
}

/// Steps over `{{ … }}` of a Jinja file. Two braces of the language itself hold lines or semicolons.
fn expression(cursor: &mut Cursor<'_>) -> Option<Tag> {
    let mut ahead = *cursor;
    if !ahead.eat(b"{{") {
        return None;
    }
    let text = until(&mut ahead, b"}}", LONGEST_FIELD)?;
    let expression = text.trim_ascii_start();
    let is_field = expression.first().is_some_and(|&b| is_ident(b) || matches!(b, b'(' | b'"' | b'\'' | b'-'));
    if !is_field || text.iter().any(|b| matches!(b, b';' | b'\n')) {
        return None;
    }
    *cursor = ahead;
    let expression = expression.strip_prefix(b"-").unwrap_or(expression).trim_ascii_start();
    Some(field(expression.strip_suffix(b"-").unwrap_or(expression)))
}

fn field(expression: &[u8]) -> Tag {
    let len = expression.iter().take_while(|&&b| is_ident(b)).count();
    let lone = len > 0 && expression[len..].trim_ascii_end().is_empty();
    Tag::Field(if len > 0 { &expression[..len] } else { b"field" }.to_vec(), lone)
}

/// Steps over a statement of Go's templates, `{{if .Sat}}`, or of Handlebars', `{{#if sat}}`.
fn moustache(cursor: &mut Cursor<'_>) -> Option<Tag> {
    let mut ahead = *cursor;
    if !ahead.eat(b"{{") {
        return None;
    }
    let text = until(&mut ahead, b"}}", LONGEST_EXPRESSION)?;
    if text.contains(&b'\n') {
        return None;
    }
    let text = statement(text, false)?;
    let sign = text.first().copied().filter(|b| matches!(b, b'#' | b'/'));
    let text = if sign.is_some() { text[1..].trim_ascii_start() } else { text };
    let word = &text[..text.iter().take_while(|&&b| is_ident(b)).count()];
    let tag = match (sign, word) {
        (None | Some(b'#'), b"if") | (Some(b'#'), b"unless") => Tag::If(is_opposite(text)),
        (None, b"else") => {
            if text[word.len()..].trim_ascii_start().starts_with(b"if") {
                Tag::ElseIf
            } else {
                Tag::Else
            }
        }
        (None, b"end") if text.len() == word.len() => Tag::End,
        (None, b"range" | b"with" | b"block" | b"define") | (Some(b'#'), b"each" | b"with") => Tag::Group,
        (None, b"template") => Tag::Nothing,
        (Some(b'/'), b"if" | b"unless") => Tag::EndIf,
        (Some(b'/'), b"each" | b"with") => Tag::EndGroup,
        _ => return None,
    };
    *cursor = ahead;
    Some(tag)
}

/// Steps over `<% … %>` of ERB and Mako, on one line.
fn angled(cursor: &mut Cursor<'_>) -> Option<Tag> {
    let mut ahead = *cursor;
    if !ahead.eat(b"<%") {
        return None;
    }
    let text = until(&mut ahead, b"%>", LONGEST_EXPRESSION)?;
    if text.contains(&b'\n') {
        return None;
    }
    if let Some(expression) = text.strip_prefix(b"=") {
        *cursor = ahead;
        return Some(field(expression.trim_ascii()));
    }
    let text = statement(text, true)?;
    let tag = match &text[..text.iter().take_while(|&&b| is_ident(b)).count()] {
        b"if" | b"unless" | b"case" => Tag::If(is_opposite(text)),
        b"elsif" | b"when" => Tag::ElseIf,
        b"else" => Tag::Else,
        b"end" => Tag::End,
        _ if text.ends_with(b" do") || text.ends_with(b"|") => Tag::Group,
        _ => Tag::Nothing,
    };
    *cursor = ahead;
    Some(tag)
}

/// Where the line begins of which only blanks stand before `at`.
fn line_start(bytes: &[u8], at: usize) -> Option<usize> {
    let blanks = bytes[..at].iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let start = at - blanks;
    (start == 0 || bytes[start - 1] == b'\n').then_some(start)
}

/// Steps over a line of Mako's, `% if sat:`, with its line break.
fn mako(cursor: &mut Cursor<'_>) -> Option<Tag> {
    let mut ahead = *cursor;
    ahead.advance(1);
    let start = ahead.pos;
    ahead.skip_to(b'\n');
    let text = ahead.src[start..ahead.pos].trim_ascii();
    let word = &text[..text.iter().take_while(|&&b| is_ident(b)).count()];
    let opens = text.ends_with(b":");
    let tag = match word {
        b"if" if opens => Tag::If(is_opposite(text)),
        b"elif" if opens => Tag::ElseIf,
        b"else" if opens => Tag::Else,
        b"for" | b"while" if opens => Tag::Group,
        b"endif" if text.len() == word.len() => Tag::EndIf,
        b"endfor" | b"endwhile" if text.len() == word.len() => Tag::EndGroup,
        _ => return None,
    };
    ahead.eat(b"\n");
    *cursor = ahead;
    Some(tag)
}

/// A part of a template with what it holds.
#[derive(Debug)]
enum Node {
    Text(Range<usize>),
    Field(Range<usize>, Vec<u8>, bool),
    /// The branches of a condition, one of which is empty if it has no `else`.
    Choice(Range<usize>, Vec<Vec<Node>>),
    /// What stands there whatever it depends on.
    Group(Vec<Node>),
    /// A part of which nothing is known.
    Opaque(Range<usize>),
}

impl Node {
    fn range(&self) -> Range<usize> {
        match self {
            Node::Text(at) | Node::Field(at, ..) | Node::Choice(at, _) | Node::Opaque(at) => at.clone(),
            Node::Group(nodes) => match nodes.as_slice() {
                [first, .., last] => first.range().start..last.range().end,
                [one] => one.range(),
                [] => 0..0,
            },
        }
    }

    /// The number of versions that show each of its branches.
    fn width(&self) -> usize {
        match self {
            Node::Choice(_, arms) => arms.iter().map(|arm| width(arm)).sum(),
            Node::Group(nodes) => width(nodes),
            _ => 1,
        }
    }
}

fn width(nodes: &[Node]) -> usize {
    nodes.iter().map(Node::width).max().unwrap_or(1)
}

/// What is open while the parts are put into each other.
struct Frame {
    /// Where it begins, and the branches that have ended; none for a loop.
    arms: Option<(usize, Vec<Vec<Node>>)>,
    has_else: bool,
    opposite: bool,
    nodes: Vec<Node>,
}

fn tree(bytes: &[u8], pieces: &[(Range<usize>, Tag)]) -> Vec<Node> {
    let frame = |arms| Frame { arms, has_else: false, opposite: false, nodes: Vec::new() };
    let mut open = vec![frame(None)];
    // What is too deep inside, from its beginning, and how many are open there.
    let mut skipped: Option<(usize, usize)> = None;
    let mut copied = 0;
    for (at, tag) in pieces {
        if let Some((start, depth)) = &mut skipped {
            match tag {
                Tag::If(_) | Tag::Group => *depth += 1,
                Tag::EndIf | Tag::EndGroup | Tag::End => *depth -= 1,
                _ => {}
            }
            if *depth > 0 {
                continue;
            }
            let opaque = Node::Opaque(*start..at.end);
            open.last_mut().into_iter().for_each(|frame| frame.nodes.push(Node::Opaque(opaque.range())));
            (skipped, copied) = (None, at.end);
            continue;
        }
        let too_deep = open.len() > DEEPEST;
        let Some(last) = open.last_mut() else { break };
        if copied < at.start {
            last.nodes.push(Node::Text(copied..at.start));
        }
        copied = at.end;
        match tag {
            Tag::If(_) | Tag::Group if too_deep => skipped = Some((at.start, 1)),
            Tag::If(opposite) => open.push(Frame { opposite: *opposite, ..frame(Some((at.start, Vec::new()))) }),
            Tag::Group => open.push(frame(None)),
            Tag::ElseIf | Tag::Else => {
                let ended = std::mem::take(&mut last.nodes);
                match &mut last.arms {
                    Some((_, arms)) => {
                        arms.push(settled(bytes, ended));
                        last.has_else |= *tag == Tag::Else;
                    }
                    // A loop's `else`.
                    None => last.nodes = ended,
                }
            }
            Tag::EndIf | Tag::EndGroup | Tag::End => close(bytes, &mut open, at.end, tag),
            Tag::Nothing | Tag::Raw => {}
            Tag::Field(name, lone) => last.nodes.push(Node::Field(at.clone(), name.clone(), *lone)),
        }
    }
    if let Some((start, _)) = skipped {
        open.last_mut().into_iter().for_each(|frame| frame.nodes.push(Node::Opaque(start..bytes.len())));
    } else if copied < bytes.len() {
        open.last_mut().into_iter().for_each(|frame| frame.nodes.push(Node::Text(copied..bytes.len())));
    }
    while open.len() > 1 {
        close(bytes, &mut open, bytes.len(), &Tag::End);
    }
    open.pop().map_or_else(Vec::new, |frame| settled(bytes, frame.nodes))
}

/// Ends the innermost condition or loop; those inside that are not closed end with it.
fn close(bytes: &[u8], open: &mut Vec<Frame>, end: usize, tag: &Tag) {
    let fits = |frame: &Frame| match tag {
        Tag::EndIf => frame.arms.is_some(),
        Tag::EndGroup => frame.arms.is_none(),
        _ => true,
    };
    let Some(found) = open.iter().skip(1).rposition(fits).map(|i| i + 1) else { return };
    while open.len() > found {
        let Some(frame) = open.pop() else { return };
        let nodes = settled(bytes, frame.nodes);
        let node = match frame.arms {
            Some((start, mut arms)) => {
                arms.push(nodes);
                if !frame.has_else {
                    arms.push(Vec::new());
                }
                // In one version `x` and `not x` are not both true.
                if frame.opposite && arms.len() == 2 {
                    arms.swap(0, 1);
                }
                Node::Choice(start..end, arms)
            }
            None => Node::Group(nodes),
        };
        if let Some(outer) = open.last_mut() {
            outer.nodes.push(node);
        }
    }
}

/// The parts of a list, with conditions on which one instruction depends together made one of which nothing is known.
fn settled(bytes: &[u8], nodes: Vec<Node>) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    // The last condition, if the statement goes on behind it.
    let mut last: Option<usize> = None;
    for node in nodes {
        match &node {
            Node::Choice(at, arms) => {
                let range = at.clone();
                if let Some(before) = last {
                    let start = out[before].range().start;
                    out.truncate(before);
                    out.push(Node::Opaque(start..range.end));
                } else if node.width() > MOST_VERSIONS {
                    out.push(Node::Opaque(range));
                } else {
                    let ends = ends_statements(bytes, arms);
                    out.push(node);
                    if ends {
                        continue;
                    }
                }
                last = Some(out.len() - 1);
            }
            Node::Opaque(_) => {
                last = Some(out.len());
                out.push(node);
            }
            Node::Text(_) | Node::Group(_) | Node::Field(..) => {
                let text = &bytes[node.range()];
                if text.iter().any(|b| matches!(b, b';' | b'{' | b'}')) && !matches!(node, Node::Field(..)) {
                    last = None;
                }
                out.push(node);
            }
        }
    }
    out
}

/// Whether each branch ends where a statement or a directive does.
fn ends_statements(bytes: &[u8], arms: &[Vec<Node>]) -> bool {
    let mut some = false;
    let each = arms.iter().all(|arm| {
        let mut text = match (arm.first(), arm.last()) {
            (Some(first), Some(last)) => bytes[first.range().start..last.range().end].trim_ascii(),
            _ => return true,
        };
        // The end of a literal.
        while let Some(shorter) = [&b"\""[..], b"\\n", b"\\t", b"\\"].iter().find_map(|end| text.strip_suffix(*end)) {
            text = shorter.trim_ascii_end();
        }
        if text.is_empty() {
            return true;
        }
        some = true;
        let line = text.iter().rposition(|&b| b == b'\n').map_or(text, |at| &text[at + 1..]).trim_ascii_start();
        matches!(text.last(), Some(b';' | b'{' | b'}' | b':')) || line.starts_with(b"#") || line.starts_with(b"//")
    });
    some && each
}

fn made(text: &Mapped, pieces: &[(Range<usize>, Tag)]) -> Made {
    let mut nodes = tree(text.bytes(), pieces);
    if width(&nodes).saturating_mul(text.bytes().len()) > MOST_BYTES {
        for node in &mut nodes {
            if node.width() > 1 {
                *node = Node::Opaque(node.range());
            }
        }
    }
    let versions = (0..width(&nodes)).map(|version| {
        let mut out = Mapped::from_pieces_of(text);
        write(&nodes, version, text, &mut out);
        out
    });
    let mut unread = Vec::new();
    opaque(&nodes, &mut |at| {
        if may_begin(&text.bytes()[at.clone()]) {
            unread.push(at);
        }
    });
    Made { versions: versions.collect(), unread }
}

fn opaque(nodes: &[Node], found: &mut impl FnMut(Range<usize>)) {
    for node in nodes {
        match node {
            Node::Opaque(at) => found(at.clone()),
            Node::Choice(_, arms) => arms.iter().for_each(|arm| opaque(arm, found)),
            Node::Group(nodes) => opaque(nodes, found),
            Node::Text(_) | Node::Field(..) => {}
        }
    }
}

/// Writes the version of a list that this number has.
fn write(nodes: &[Node], version: usize, text: &Mapped, out: &mut Mapped) {
    for node in nodes {
        match node {
            Node::Text(at) => out.push_slice(text, at.clone()),
            Node::Field(at, name, lone) => {
                let name = if *lone { name.clone() } else { out.distinct(name) };
                out.push_instead(&name, text, at.clone(), Some(Paste::Field));
            }
            Node::Opaque(at) => {
                let name = out.distinct(b"condition");
                out.push_instead(&name, text, at.clone(), Some(Paste::Field));
            }
            Node::Group(nodes) => write(nodes, version, text, out),
            Node::Choice(_, arms) => {
                // A condition with fewer versions stays at its last.
                let mut left = version.min(node.width() - 1);
                for arm in arms {
                    let width = width(arm);
                    if left < width {
                        write(arm, left, text, out);
                        break;
                    }
                    left -= width;
                }
            }
        }
    }
}
