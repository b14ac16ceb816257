//! Where a file includes the header.

use std::collections::HashSet;
use std::ops::Range;

/// Where the `#include` is written, and which lines that include something all places see.
pub(super) struct Place {
    pub(super) at: usize,
    pub(super) visible: Vec<Range<usize>>,
}

/// The start of the line before which the `#include` of the header is written, so that all places see it.
///
/// It stands behind the last `#include` before the first place that no `#if` hides from one of the places; otherwise behind what begins
/// a header (`#pragma once`, the guard); otherwise behind the comments that begin the file.
pub(super) fn place(source: &[u8], first: usize, places: &[usize]) -> Place {
    // The `#if`s that are open, by the start of their line, and of each place those around it.
    let mut open: Vec<usize> = Vec::new();
    let mut found: Vec<(Range<usize>, Vec<usize>)> = Vec::new();
    let outside = lines_outside(source);
    let mut around: Vec<Vec<usize>> = Vec::new();
    let mut start = None;
    let mut places = places.iter().peekable();
    let mut comment = false;
    let mut code = false;
    let mut at = 0;
    let mut guard: Option<&[u8]> = None;
    let mut continued = false;
    for line in source.split_inclusive(|b| *b == b'\n') {
        let next = at + line.len();
        while let Some(&&place) = places.peek()
            && place < next
        {
            around.push(open.clone());
            places.next();
        }
        let text = line.trim_ascii();
        let was_comment = comment;
        if comment {
            comment = !contains(text, b"*/");
        } else if !continued && !text.starts_with(b"//") && !text.is_empty() {
            if text.starts_with(b"/*") {
                comment = !contains(&text[2..], b"*/");
            } else if let Some(directive) = text.strip_prefix(b"#").map(<[u8]>::trim_ascii) {
                let words: Vec<&[u8]> =
                    directive.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty()).collect();
                match words.first().copied().unwrap_or_default() {
                    b"if" | b"ifdef" | b"ifndef" => {
                        if words[0] == b"ifndef" && !code && open.is_empty() {
                            guard = words.get(1).copied();
                        }
                        open.push(at);
                    }
                    // Another branch is as another `#if`.
                    b"else" | b"elif" | b"elifdef" | b"elifndef" => {
                        if let Some(last) = open.last_mut() {
                            *last = at;
                        }
                    }
                    b"endif" => _ = open.pop(),
                    b"pragma" if words.get(1) == Some(&&b"once"[..]) && at < first => {
                        start = Some((next, open.clone()))
                    }
                    b"define" if guard.is_some() && words.get(1).copied() == guard && at < first => {
                        start = Some((next, open.clone()));
                    }
                    word if word.starts_with(b"include") && at < first && outside.contains(&at) => {
                        found.push((at..next, open.clone()));
                    }
                    _ => {}
                }
                code = true;
            } else {
                code = true;
            }
        }
        continued = text.ends_with(b"\\");
        let ends_comment = was_comment || text.starts_with(b"/*") || text.starts_with(b"//");
        if !code && !comment && ends_comment {
            start = Some((next, Vec::new()));
        }
        at = next;
    }
    let is_seen = |ifs: &[usize]| around.iter().all(|around| around.starts_with(ifs));
    let visible: Vec<Range<usize>> = found.into_iter().filter(|(_, ifs)| is_seen(ifs)).map(|(line, _)| line).collect();
    let last = visible.last().map(|line| line.end);
    let start = || start.filter(|(place, ifs)| is_seen(ifs) && *place <= first).map(|(place, _)| place);
    let mark = if source.starts_with(super::BYTE_ORDER_MARK) { super::BYTE_ORDER_MARK.len() } else { 0 };
    Place { at: last.or_else(start).unwrap_or(0).max(mark), visible }
}

/// The starts of the lines that begin outside of braces, literals and comments. The braces of `extern "C" { … }` count for nothing.
fn lines_outside(source: &[u8]) -> HashSet<usize> {
    let mut lines = HashSet::from([0]);
    // Whether each open brace encloses something.
    let mut braces: Vec<bool> = Vec::new();
    let mut at = 0;
    let find = |from: usize, part: &[u8]| {
        let rest = source.get(from..).unwrap_or_default();
        rest.windows(part.len())
            .position(|window| window == part)
            .map_or(source.len(), |found| from + found + part.len())
    };
    while at < source.len() {
        let before = &source[..at];
        match source[at] {
            b'\n' if !braces.contains(&true) => _ = lines.insert(at + 1),
            b'{' => braces.push(!before.trim_ascii_end().ends_with(b"\"C\"")),
            b'}' => _ = braces.pop(),
            b'/' if source[at..].starts_with(b"//") => {
                // Up to the line's end.
                at = find(at, b"\n") - 1;
                continue;
            }
            b'/' if source[at..].starts_with(b"/*") => {
                at = find(at + 2, b"*/");
                continue;
            }
            b'"' if before.ends_with(b"R") => {
                let end = source[at + 1..].iter().position(|b| *b == b'(').map_or(source.len(), |open| at + 1 + open);
                let name = source.get(at + 1..end).unwrap_or_default();
                at = find(end, &[b")", name, b"\""].concat());
                continue;
            }
            // The mark between digits is no quote.
            b'\'' if before.last().is_some_and(u8::is_ascii_hexdigit) => {}
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < source.len() && source[at] != quote && source[at] != b'\n' {
                    at += 1 + usize::from(source[at] == b'\\');
                }
                // A text that is not closed ends with its line.
                if source.get(at) == Some(&b'\n') {
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    lines
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Whether lines end as in DOS.
pub(super) fn has_crlf(source: &[u8]) -> bool {
    source.iter().position(|b| *b == b'\n').is_some_and(|end| end > 0 && source[end - 1] == b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str) {
        let source = format!("{before}{after}");
        let first = source.find("ASM").expect("a place");
        let places: Vec<usize> = source.match_indices("ASM").map(|(at, _)| at).collect();
        assert_eq!(place(source.as_bytes(), first, &places).at, before.len(), "{source}");
    }

    #[test]
    fn the_include_stands_where_all_places_see_it() {
        check("", "int f() { ASM; }");
        check("// Licence\n// of two lines\n", "\nint f() { ASM; }");
        check("/* Licence\n */\n", "int f() { ASM; }");
        check("#include <a>\n#include <b>\n", "int f() { ASM; }\n#include <late>\n");
        check("#pragma once\n", "int f() { ASM; }");
        check("#ifndef X_H\n#define X_H\n", "int f() { ASM; }\n#endif\n");
        check("#ifndef X_H\n#define X_H\n#include <a>\n", "int f() { ASM; }\n#endif\n");
        // What an `#if` hides is no place, unless all calls stand in the same branch.
        check("#include <a>\n", "#ifdef W\n#include <w>\n#endif\nint f() { ASM; }");
        check("#include <a>\n", "#ifdef W\n#include <w>\n#else\nint f() { ASM; }\n#endif\n");
        check("#include <a>\n#ifdef W\n#include <w>\n", "int f() { ASM; }\n#endif\n");
        check("#include <a>\n", "#ifdef W\n#include <w>\nint f() { ASM; }\n#else\nint f() { ASM; }\n#endif\n");
        // What begins inside something is no place.
        check("#include <a>\n", "enum e {\n#include <b>\n};\nint f() { ASM; }");
        check("", "namespace n {\n#include <b>\nint f() { ASM; }\n}");
        check("extern \"C\" {\n#include <b>\n", "int f() { ASM; }\n}");
        check("#include <a>\n", "const char *s = R\"x(\n#include <b>\n)x\";\nint f() { ASM; }");
        check("#include <a>\n", "int g; /* old:\n#include <b>\n*/\nint f() { ASM; }");
        check("\u{feff}", "int f() { ASM; }");
        check("", "/*\n#include <a>\n*/ int f() { ASM; }".replace("/*\n", "int g;\n/*\n").as_str());
    }
}
