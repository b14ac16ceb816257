//! A text that a client has opened, and what is read from it.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::path::{Path, PathBuf};

use gen_lsp_types::{Position, Range as LspRange};
use vop::Linter;
use vop_ptx::find::Language;
use vop_ptx::module::Module;
use vop_ptx::uses::{self, FileUses, Use, Verdict};

use crate::position::{Encoding, Lines};

/// A text in a language. What is read from it is read once, when it is first asked for.
#[derive(Debug)]
pub struct Document {
    language: Language,
    text: String,
    lines: Lines,
    module: OnceCell<Module>,
    uses: OnceCell<FileUses>,
}

impl Document {
    /// A text in a language.
    pub fn new(text: impl Into<String>, language: Language) -> Document {
        let text = text.into();
        Document { language, lines: Lines::new(&text), text, module: OnceCell::new(), uses: OnceCell::new() }
    }

    /// The document with a part of its text replaced; all of it, if there is no range.
    pub fn change(&mut self, range: Option<LspRange>, with: &str, encoding: Encoding) {
        match range {
            Some(range) => {
                let start = self.offset(range.start, encoding);
                let end = self.offset(range.end, encoding).max(start);
                self.text.replace_range(start..end, with);
            }
            None => with.clone_into(&mut self.text),
        }
        self.lines = Lines::new(&self.text);
        self.module.take();
        self.uses.take();
    }

    /// Its language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The lines of its text.
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// The text of a range of bytes; empty if it is none of this text.
    pub fn slice(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The module that it is; none if it is no file of PTX.
    pub fn module(&self) -> Option<&Module> {
        let is_ptx = self.language == Language::Ptx;
        is_ptx.then(|| self.module.get_or_init(|| Module::parse(self.text.as_str())))
    }

    /// Its video instructions and comments that allow findings.
    pub fn file_uses(&self) -> &FileUses {
        thread_local! {
            // What is found out about a form is true of it in every document.
            static LINTER: RefCell<Linter> = RefCell::default();
        }
        self.uses.get_or_init(|| {
            LINTER.with_borrow_mut(|linter| match self.module() {
                Some(module) => uses::read_module(module, linter),
                None => uses::read_with(self.text.as_bytes(), self.language, linter),
            })
        })
    }

    /// The video instruction that stands at a byte: of several the first that is judged.
    pub fn use_at(&self, offset: usize) -> Option<&Use> {
        let here = || self.file_uses().uses.iter().filter(|one| one.span.start <= offset && offset <= one.span.end);
        here().find(|one| one.verdict != Verdict::Label).or_else(|| here().next())
    }

    /// The byte of a position.
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        self.lines.offset(&self.text, position, encoding)
    }

    /// The range of bytes as the protocol has it.
    pub fn range(&self, span: &Range<usize>, encoding: Encoding) -> LspRange {
        self.lines.range(&self.text, span, encoding)
    }
}

/// The language of a document: PTX if the client says so, else that of the file's name, else what the client says.
pub fn language(path: Option<&Path>, language_id: &str) -> Option<Language> {
    let id = language_id.to_ascii_lowercase();
    let said = match id.as_str() {
        "cuda-cpp" | "cuda-c++" | "objective-cpp" => Some(Language::Cuda),
        "llvm ir" => Some(Language::LlvmIr),
        id => Language::from_fence(id),
    };
    if said == Some(Language::Ptx) {
        return said;
    }
    path.and_then(Language::from_path).or(said)
}

/// The path that a URI names, if it names a file.
pub fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // A host may stand before the path: `file://localhost/`.
    let rest = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let [first, behind @ ..] = left {
        let digits = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let escaped = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        left = if escaped.is_some() { &behind[2..] } else { behind };
    }
    let path = String::from_utf8(bytes).ok()?;
    // `/c:/folder` of Windows.
    let is_drive = matches!(path.as_bytes(), [b'/', drive, b':', ..] if drive.is_ascii_alphabetic());
    Some(PathBuf::from(if is_drive && cfg!(windows) { &path[1..] } else { &path[..] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        assert_eq!(path("file:///tmp/a%20b/%C3%A9.ptx"), Some(PathBuf::from("/tmp/a b/é.ptx")));
        assert_eq!(path("file://localhost/x%"), Some(PathBuf::from("/x%")));
        assert_eq!(path("untitled:Untitled-1"), None);
        assert_eq!(path("file://"), None);
    }

    #[test]
    fn languages() {
        let of = |path: &str, id| language(Some(Path::new(path)), id);
        assert_eq!(of("a.h", "cpp"), Some(Language::Cuda));
        assert_eq!(of("a.txt", "ptx"), Some(Language::Ptx));
        assert_eq!(of("a.cl", "cpp"), Some(Language::OpenCl));
        assert_eq!(of("a", "cuda-cpp"), Some(Language::Cuda));
        assert_eq!(of("a.txt", "plaintext"), None);
        assert_eq!(language(None, "llvm"), Some(Language::LlvmIr));
    }

    #[test]
    fn changes() {
        let mut document = Document::new("vadd.u32.u32.u32 é, a, b;", Language::Ptx);
        assert_eq!(document.file_uses().uses.len(), 1);
        let at = |character| Position { line: 0, character };
        // Two units for the name and its comma; the name has two bytes.
        document.change(Some(LspRange { start: at(17), end: at(19) }), "d,\r\n", Encoding::Utf16);
        assert_eq!(document.text(), "vadd.u32.u32.u32 d,\r\n a, b;");
        assert_eq!(document.file_uses().uses[0].text, "vadd.u32.u32.u32 d, a, b");
        document.change(None, "", Encoding::Utf16);
        assert!(document.file_uses().uses.is_empty());
        // A range that is none of the text.
        document.change(Some(LspRange { start: at(7), end: at(3) }), "x", Encoding::Utf8);
        assert_eq!(document.text(), "x");
    }
}
