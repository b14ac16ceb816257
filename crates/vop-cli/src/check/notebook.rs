//! Jupyter notebooks: each cell is a text of its own, with lines of its own.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use vop_ptx::find::{Language, mentions};

/// A cell that may hold instructions.
pub(super) struct Cell {
    /// Its number among all cells, from 1.
    pub(super) number: usize,
    pub(super) language: Language,
    pub(super) text: String,
    /// For each of its lines, the line of the file that holds it.
    pub(super) lines: Vec<usize>,
}

/// The cells of a notebook.
pub(super) struct Cells {
    pub(super) read: Vec<Cell>,
    /// The numbers of those that mention a video instruction, and whose language is not read.
    pub(super) skipped: Vec<usize>,
}

#[derive(Deserialize)]
struct Notebook<'a> {
    #[serde(borrow)]
    cells: Vec<RawCell<'a>>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct RawCell<'a> {
    cell_type: String,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    language_info: Option<Named>,
    kernelspec: Option<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: Option<String>,
    language: Option<String>,
}

/// The cells of a notebook whose languages are read: code in the language of its kernel or of its magic (`%%cuda`,
/// `%%writefile kernel.cu`), and Markdown.
pub(super) fn cells(bytes: &[u8]) -> Result<Cells, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let text = text.trim_start_matches('\u{feff}');
    let notebook: Notebook<'_> = serde_json::from_str(text).map_err(|error| format!("it is no notebook: {error}"))?;
    let of_kernel = notebook.metadata.language();
    let (mut line, mut counted) = (1, 0);
    // Cells stand in the order of the file.
    let mut line_of = |part: &str| {
        let at = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
        if at >= counted {
            line += text.as_bytes()[counted..at].iter().filter(|&&byte| byte == b'\n').count();
            counted = at;
        }
        line
    };
    let mut cells = Cells { read: Vec::new(), skipped: Vec::new() };
    for (i, cell) in notebook.cells.iter().enumerate() {
        let Some(source) = cell.source else { continue };
        let mut read = Cell { number: i + 1, language: Language::Markdown, text: String::new(), lines: Vec::new() };
        // A list of lines, or one string, which stands on one line of the file.
        let parts: Vec<&RawValue> = serde_json::from_str(source.get()).unwrap_or_else(|_| vec![source]);
        for part in parts {
            let piece: Cow<'_, str> =
                serde_json::from_str(part.get()).map_err(|error| format!("cell {}: {error}", i + 1))?;
            let at = line_of(part.get());
            let begins_line = read.text.is_empty() || read.text.ends_with('\n');
            read.text.push_str(&piece);
            let lines = read.text.matches('\n').count() + usize::from(!read.text.ends_with('\n'));
            if begins_line || lines > read.lines.len() {
                read.lines.resize(lines, at);
            }
        }
        let language = match cell.cell_type.as_str() {
            "code" => match of_magic(&read.text) {
                Some(language) => {
                    // The magic's line is in another language.
                    let end = read.text.find("%%").and_then(|at| Some(at + read.text[at..].find('\n')?));
                    let end = end.unwrap_or(read.text.len());
                    read.text.replace_range(..end, &" ".repeat(end));
                    language
                }
                None => of_kernel,
            },
            "markdown" => Some(Language::Markdown),
            _ => None,
        };
        match language {
            Some(language) => cells.read.push(Cell { language, ..read }),
            None if mentions(read.text.as_bytes()) => cells.skipped.push(read.number),
            None => {}
        }
    }
    Ok(cells)
}

impl Metadata {
    /// The language of the code cells; `None` for one that is not read.
    fn language(&self) -> Option<Language> {
        let info = self.language_info.iter().filter_map(|info| info.name.as_deref());
        let kernel = self.kernelspec.iter().filter_map(|kernel| kernel.language.as_deref().or(kernel.name.as_deref()));
        let name = info.chain(kernel).next().unwrap_or("python").to_ascii_lowercase();
        // `C++17`, `python3`.
        Language::from_fence(name.trim_end_matches(|c: char| c.is_ascii_digit()))
    }
}

/// The language that a cell's magic names; `Some(None)` where it is one that is not read.
fn of_magic(text: &str) -> Option<Option<Language>> {
    let magic = text.trim_start().strip_prefix("%%")?.lines().next()?;
    let mut words = magic.split_whitespace();
    Some(match words.next()? {
        "writefile" | "file" => {
            let file = words.find(|word| !word.starts_with('-'))?;
            Language::from_path(Path::new(file.trim_matches(['"', '\''])))
        }
        name if name.starts_with("cu") || name.starts_with("nvcc") => Some(Language::Cuda),
        // What measures or hides a cell does not change its language.
        "time" | "timeit" | "capture" | "prun" => return None,
        name => Language::from_fence(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_languages_and_lines() {
        let text = r#"{
 "cells": [
  {"cell_type": "markdown", "source": ["a\n", "b"]},
  {"cell_type": "raw", "source": "x"},
  {"cell_type": "code", "source": [
    "%%cuda -n k\n",
    "one();\n",
    "two();"
  ]},
  {"cell_type": "code", "source": "x = 1\ny = 2\n"},
  {"cell_type": "code", "source": ["%%writefile a.ptx\n", "vadd4"]},
  {"cell_type": "code", "source": ["%%bash\n", "ls"]},
  {"cell_type": "code", "source": ["%%bash\n", "cat <<X > k.cu\n", "vadd4.u32.u32.u32 d, a, b, c;\n", "X"]},
  {"cell_type": "raw", "source": "vadd4.u32.u32.u32 d, a, b, c;"},
  {"cell_type": "code", "source": ["%%writefile -a 'src/k.cu'\n", "f();"]},
  {"cell_type": "code", "source": ["%%writefile Makefile\n", "vadd4.u32.u32.u32"]}
 ],
 "metadata": {"kernelspec": {"name": "python3", "language": "python"}}
}"#;
        let cells = cells(text.as_bytes()).expect("a notebook");
        assert_eq!(cells.skipped, [7, 8, 10]);
        let found: Vec<_> = cells.read.iter().map(|cell| (cell.number, cell.language, cell.lines.clone())).collect();
        assert_eq!(
            found,
            [
                (1, Language::Markdown, vec![3, 3]),
                (3, Language::Cuda, vec![6, 7, 8]),
                (4, Language::Python, vec![10, 10]),
                (5, Language::Ptx, vec![11, 11]),
                (9, Language::Cuda, vec![15, 15]),
            ]
        );
        assert!(super::cells(b"[]").is_err() && super::cells(b"{\"cells\": [{}]}").is_err());
    }
}
