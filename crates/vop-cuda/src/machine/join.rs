//! Several PTX texts as one: what a linker makes of modules that call each other's functions (`nvcc -rdc=true`).
//!
//! The engine loads several modules together and finds their variables, but a kernel calls functions of its own text only.

use std::borrow::Cow;
use std::collections::HashSet;

use vop_run::Program;

/// Whether a text declares a function that it does not define, and another one does.
pub(super) fn is_needed(programs: &[Program]) -> bool {
    programs.iter().enumerate().any(|(index, program)| {
        let module = program.module();
        let declared = module.functions().iter().filter(|function| function.body.is_none());
        let names: HashSet<&str> = declared.map(|function| module.slice(&function.name)).collect();
        let others = programs.iter().enumerate().filter(|(other, _)| *other != index);
        others.into_iter().any(|(_, other)| {
            let module = other.module();
            let mut defined = module.functions().iter().filter(|function| function.body.is_some());
            defined.any(|function| names.contains(module.slice(&function.name)))
        })
    })
}

/// The texts one after the other. Names that no other text may see, and that others have too, get a number; declarations of variables that
/// another text defines are left out; and files of `.loc` keep their lines apart.
pub(super) fn joined(texts: &[String]) -> String {
    let parts: Vec<Vec<Item<'_>>> = texts.iter().map(|text| items(text)).collect();
    let mut joined = String::new();
    let versions = texts.iter().filter_map(|text| directive(text, ".version")).max_by_key(|version| number(version));
    for (name, value) in [
        (".version", versions),
        (".target", texts.iter().find_map(|text| directive(text, ".target"))),
        (".address_size", texts.iter().find_map(|text| directive(text, ".address_size"))),
    ] {
        if let Some(value) = value {
            joined.push_str(&format!("{name} {value}\n"));
        }
    }
    let mut written = HashSet::new();
    for (index, part) in parts.iter().enumerate() {
        let elsewhere = |name: &str| {
            let others = parts.iter().enumerate().filter(|(other, _)| *other != index);
            others.into_iter().flat_map(|(_, items)| items).any(|item| item.name == Some(name) && !item.is_external)
        };
        let local: HashSet<&str> = part
            .iter()
            .filter(|item| item.is_local)
            .filter_map(|item| item.name)
            .filter(|name| elsewhere(name))
            .collect();
        for item in part {
            let is_header = [".version", ".target", ".address_size"].iter().any(|name| item.text.starts_with(name));
            let is_declaration = item.is_external && !item.is_function;
            let is_there =
                is_declaration && item.name.is_some_and(|name| elsewhere(name) || !written.insert(name.to_owned()));
            // Debugging information is not read, and its labels would be there twice.
            if !is_header && !is_there && !item.text.starts_with(".section") {
                joined.push_str(&renamed(item.text, &local, index));
                joined.push('\n');
            }
        }
    }
    joined
}

/// A directive or a definition at the outermost level of a text.
struct Item<'a> {
    text: &'a str,
    name: Option<&'a str>,
    is_function: bool,
    is_external: bool,
    /// Whether no other text sees it.
    is_local: bool,
}

/// `.version 9.1` of a text.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().map(str::trim).find(|line| line.starts_with(name))?;
    Some(line[name.len()..].split("//").next().unwrap_or_default().trim())
}

fn number(version: &str) -> (u32, u32) {
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

/// Whether a byte is of an identifier.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

/// Divides a text: a definition of a function ends with its brace, other definitions with a semicolon, and directives with their line.
fn items(text: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut push = |start: usize, end: usize| {
        let text = without_comments_before(&text[start..end]);
        if !text.is_empty() {
            items.push(item(text));
        }
    };
    while at < bytes.len() {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            continue;
        }
        if rest.starts_with('"') {
            at += rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            continue;
        }
        match bytes[at] {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                // An initialiser's brace is followed by a semicolon.
                let next = text[at + 1..].trim_start();
                if depth == 0 && !next.starts_with(';') && !next.starts_with(',') {
                    push(start, at + 1);
                    start = at + 1;
                }
            }
            b';' if depth == 0 => {
                push(start, at + 1);
                start = at + 1;
            }
            b'\n' if depth == 0 => {
                let line = without_comments_before(&text[start..at]);
                let ends = [".version", ".target", ".address_size", ".file", ".loc"];
                if ends.iter().any(|name| line.starts_with(name)) {
                    push(start, at);
                    start = at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    push(start, text.len());
    items
}

fn without_comments_before(mut text: &str) -> &str {
    loop {
        text = text.trim();
        text = if text.starts_with("//") {
            text.find('\n').map_or("", |end| &text[end..])
        } else if text.starts_with("/*") {
            text.find("*/").map_or("", |end| &text[end + 2..])
        } else {
            return text;
        };
    }
}

fn item(text: &str) -> Item<'_> {
    let head = text.split(['{', ';', '=']).next().unwrap_or_default();
    let words = || head.split(|c: char| c.is_whitespace() || "()[],".contains(c)).filter(|word| !word.is_empty());
    let has = |word: &str| words().any(|found| found == word);
    let is_function = has(".func") || has(".entry");
    // The name of a function stands behind its results, and before its parameters.
    let name = if is_function {
        let after =
            head.split_once(if has(".entry") { ".entry" } else { ".func" }).map_or("", |(_, rest)| rest).trim_start();
        let after =
            after.strip_prefix('(').map_or(after, |results| results.split_once(')').map_or("", |(_, rest)| rest));
        after.split(|c: char| c.is_whitespace() || c == '(').find(|word| !word.is_empty())
    } else {
        head.split('[').next().unwrap_or_default().split_ascii_whitespace().last().filter(|word| !word.starts_with('.'))
    };
    let is_external = has(".extern");
    let is_local = !is_external && [".visible", ".weak", ".common"].iter().all(|linkage| !has(linkage));
    Item { text, name, is_function, is_external, is_local }
}

/// The text of an item with its local names and its files numbered.
fn renamed<'a>(text: &'a str, local: &HashSet<&str>, index: usize) -> Cow<'a, str> {
    let has_files = text.contains(".loc") || text.contains(".file");
    if index == 0 || local.is_empty() && !has_files {
        return Cow::Borrowed(text);
    }
    let mut new = String::with_capacity(text.len() + 64);
    let mut is_file = false;
    let mut rest = text;
    while let Some(first) = rest.bytes().next() {
        if !is_word(first) {
            let end = rest.bytes().position(is_word).unwrap_or(rest.len());
            new.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let end = rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        let word = &rest[..end];
        match word.parse::<u64>() {
            Ok(file) if is_file => new.push_str(&(file + FILES * index as u64).to_string()),
            _ if local.contains(word) => new.push_str(&format!("{word}$module{index}")),
            _ => new.push_str(word),
        }
        is_file = matches!(word, ".loc" | ".file" | "inlined_at");
        rest = &rest[end..];
    }
    Cow::Owned(new)
}

/// Files that a module may have.
const FILES: u64 = 100_000;

#[cfg(test)]
mod tests {
    use vop_run::LaunchOptions;

    use super::*;

    const HEAD: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";

    #[test]
    fn functions_and_variables_of_other_texts_are_found() {
        let texts = [
            format!(
                "// first\n{HEAD}.extern .func (.param .b32 r) scaled\n(\n.param .b32 x\n)\n;\n.extern .global .align 4 .u32 factor;\n\
                 .global .u32 own = 7;\n.visible .entry k(.param .u64 out) {{ .reg .b32 %r<4>; .reg .b64 %d;\n.loc 1 3 0\n\
                 ld.param.u64 %d, [out]; ld.global.u32 %r1, [own]; {{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1;\n\
                 call.uni (r), scaled, (a); ld.param.b32 %r2, [r]; }} st.global.u32 [%d], %r2; ret; }}\n.file 1 \"a.cu\"\n"
            ),
            format!(
                "{HEAD}.visible .global .align 4 .u32 factor = 3;\n.global .u32 own[2] = {{1, 10}};\n\
                 .visible .func (.param .b32 r) scaled(.param .b32 x) {{ .reg .b32 %r<4>;\n.loc 1 9 0\n ld.param.b32 %r1, [x];\n\
                 ld.global.u32 %r2, [factor]; ld.global.u32 %r3, [own+4]; mad.lo.s32 %r1, %r1, %r2, %r3;\n\
                 st.param.b32 [r], %r1; ret; }}\n.file 1 \"b.cu\"\n"
            ),
        ];
        let programs: Vec<Program> = texts.iter().map(|text| Program::read(text)).collect();
        assert!(is_needed(&programs));
        assert!(!is_needed(&programs[1..]));
        let text = joined(&texts);
        let program = Program::read(&text);
        let kernel = program.kernel("k").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let mut memory = program.memory();
        let out = memory.allocate("out", [0; 4]);
        kernel.launch([1, 1, 1], [1, 1, 1], &[out.into()], &mut memory, &LaunchOptions::default()).expect("it runs");
        // 7 * 3 + 10: each text has its own variable `own`.
        assert_eq!(memory.bytes(out), 31u32.to_le_bytes(), "{text}");
        assert_eq!(text.matches(".version").count(), 1);
    }
}
