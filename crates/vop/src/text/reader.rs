//! [`Reader`]: one reading of one text, token by token, with what the text declares and the faults that were found.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::lex::{LONGEST, Lexer, Span, Token, TokenKind};
use super::patch::Waiting;
use super::places::Places;
use super::registers::{Declarations, RegisterType, Registers};
use crate::diagnostic::{Code, Diagnostic};
use crate::isa::table::Mnemonic;

/// How a text is read.
#[derive(Clone, Copy, Default)]
pub(super) struct Settings<'r> {
    /// What judges operands; without it, any name is a 32-bit register.
    pub(super) registers: Option<&'r dyn Declarations>,
    /// Whether a mnemonic with its modifiers alone is taken.
    pub(super) bare: bool,
    /// Whether what the manual has and ptxas cannot read is taken, so that every form's own text can be read back.
    pub(super) lenient: bool,
    /// Whether the places of the parts of an instruction are kept.
    pub(super) places: bool,
}

/// A fault that has been recorded and ends what was being read.
pub(super) struct Fault;

/// One reading of one text.
pub(super) struct Reader<'t, 'r> {
    lexer: Lexer<'t>,
    pub(super) token: Token,
    /// Where the last token ended: where something missing is missed.
    last_end: u32,
    pub(super) settings: Settings<'r>,
    /// What the text itself declares: at its top, if anything, and in its open blocks.
    pub(super) scopes: Vec<Scope<'t>>,
    /// Where the parts of the last instruction stand, if [`Settings::places`] asks for it.
    pub(super) places: Option<Places>,
    pub(super) faults: Vec<Diagnostic>,
    /// The faults of the current instruction whose help is a block that holds all of it.
    pub(super) waiting: Vec<Waiting>,
    /// How many faults there were before the current instruction.
    pub(super) faults_before: usize,
    /// Where the guard of the current instruction begins.
    pub(super) guard_start: Option<u32>,
}

/// The names of a block. Registers and labels share them.
#[derive(Default)]
pub(super) struct Scope<'t> {
    pub(super) registers: Registers,
    pub(super) labels: BTreeSet<&'t str>,
}

impl Scope<'_> {
    pub(super) fn declares_label(&self, name: &str) -> bool {
        self.labels.contains(&name)
    }
}

impl<'t, 'r> Reader<'t, 'r> {
    pub(super) fn new(settings: Settings<'r>, text: &'t str) -> Reader<'t, 'r> {
        let mut faults = Vec::new();
        if text.len() > LONGEST {
            faults.push(Diagnostic::new(Code::V0101, 0..0, "the text is longer than 4 GiB"));
        }
        let mut lexer = Lexer::new(if faults.is_empty() { text } else { "" });
        let token = lexer.next();
        Reader {
            lexer,
            token,
            last_end: 0,
            settings,
            scopes: Vec::new(),
            places: None,
            faults,
            waiting: Vec::new(),
            faults_before: 0,
            guard_start: None,
        }
    }

    // A call a token costs less than what inlining this everywhere does to the code around.
    #[inline(never)]
    pub(super) fn advance(&mut self) {
        self.last_end = self.token.at.end;
        self.token = self.lexer.next();
    }

    pub(super) fn slice(&self, token: Token) -> &'t str {
        self.text_of(token.at)
    }

    #[inline]
    pub(super) fn text_of(&self, span: Span) -> &'t str {
        &self.lexer.text()[span.range()]
    }

    /// The first byte of the current token, which is not the end.
    pub(super) fn first_byte(&self) -> u8 {
        self.lexer.text().as_bytes()[self.token.at.start as usize]
    }

    pub(super) fn text(&self) -> &'t str {
        self.lexer.text()
    }

    /// The text from the current token on.
    pub(super) fn rest(&self) -> &'t str {
        &self.lexer.text()[self.token.at.start as usize..]
    }

    pub(super) fn last_end(&self) -> usize {
        self.last_end as usize
    }

    #[cold]
    pub(super) fn fault(&mut self, diagnostic: Diagnostic) {
        self.faults.push(diagnostic);
    }

    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.token.kind == TokenKind::Punctuation(byte) {
            self.advance();
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}`", byte as char)))
    }

    /// Records that the current token is not what is expected here.
    #[cold]
    pub(super) fn unexpected(&mut self, expected: &str) -> Fault {
        let token = self.token;
        let diagnostic = match token.kind {
            TokenKind::End => Diagnostic::new(
                Code::V0101,
                self.last_end()..self.last_end(),
                format!("expected {expected}, found the end of the text"),
            ),
            TokenKind::OpenComment => {
                Diagnostic::new(Code::V0105, token.span(), "this comment has no end").help("close it with `*/`")
            }
            _ => {
                let found = self.slice(token);
                let fault = Diagnostic::new(
                    Code::V0101,
                    token.span(),
                    format!("expected {expected}, found `{}`", found.escape_debug()),
                )
                .label(format!("expected {expected}"));
                match found.strip_prefix('%').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
                    Some(rest) if self.last_end == token.at.start => {
                        fault.help(format!("`{found}` reads as a register; for a remainder write `% {rest}`"))
                    }
                    _ if Mnemonic::from_name(found).is_some() => {
                        fault.help("if an instruction begins here, `;` is missing before it")
                    }
                    _ => fault,
                }
            }
        };
        self.fault(diagnostic);
        Fault
    }

    /// Goes on behind the next semicolon, or before the brace that ends the block.
    pub(super) fn skip_statement(&mut self) {
        loop {
            match self.token.kind {
                TokenKind::End | TokenKind::OpenComment | TokenKind::Punctuation(b'}') => return,
                TokenKind::Punctuation(b';') => return self.advance(),
                _ => self.advance(),
            }
        }
    }

    /// The type that the text's own blocks or the caller's declarations give a name.
    pub(super) fn register_type(&self, name: &str) -> Option<RegisterType> {
        for scope in self.scopes.iter().rev() {
            if scope.declares_label(name) {
                return None;
            }
            if let Some(ty) = scope.registers.register(name) {
                return Some(ty);
            }
        }
        self.settings.registers.and_then(|registers| registers.register(name))
    }

    /// Whether a name that is no register's is a variable's.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        !self.scopes.iter().any(|scope| scope.declares_label(name))
            && self.settings.registers.is_some_and(|registers| registers.is_variable(name))
    }

    /// Whether names are judged at all.
    pub(super) fn knows_registers(&self) -> bool {
        self.settings.registers.is_some()
    }

    /// Judges a name that is declared.
    pub(super) fn name(&mut self, token: Token) -> Result<(), Fault> {
        match self.slice(token) {
            name @ ("_" | "WARP_SZ") => {
                let fault = Diagnostic::new(Code::V0101, token.span(), format!("`{name}` is not a name"));
                self.fault(fault.help("choose another name"));
                Err(Fault)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn twice(&mut self, token: Token) {
        let name = self.slice(token);
        let fault = Diagnostic::new(Code::V0404, token.span(), format!("`{name}` is declared twice"));
        self.fault(fault.help("choose another name; registers and labels of a block share theirs"));
    }

    #[cold]
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.faults.sort_by_key(|fault| fault.span.start);
        core::mem::take(&mut self.faults)
    }

    #[cold]
    pub(super) fn finish_one(mut self, count: usize) -> Vec<Diagnostic> {
        if self.faults.is_empty() {
            let end = self.lexer.text().len();
            let message = match count {
                0 => "no instruction in this text".into(),
                _ => format!("{count} instructions in this text where one is expected"),
            };
            self.fault(Diagnostic::new(Code::V0103, 0..end, message));
        }
        self.finish()
    }
}
