//! Statements: guards, labels, blocks, and the instructions among them.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

use super::judge::Opcode;
use super::lex::{Kind, LONGEST, Lexer, Span, Token};
use super::operand::{Operands, Raw};
use super::registers::{Declarations, RegisterType, Registers};
use crate::diagnostic::{Code, Diagnostic};
use crate::isa::form::Form;
use crate::isa::table::Mnemonic;

/// A video instruction: a form and what it is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction<'t> {
    /// `@p` or `@!p`, if there is one.
    pub guard: Option<Guard<'t>>,
    /// What it computes.
    pub form: Form,
    /// The destination register.
    pub d: &'t str,
    /// The first operand.
    pub a: Operand<'t>,
    /// The second operand.
    pub b: Operand<'t>,
    /// The third operand. A scalar form [may not use](Form::uses_c) it.
    pub c: Option<Operand<'t>>,
}

/// The predicate under which an instruction is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Guard<'t> {
    /// `@!p`.
    pub negated: bool,
    /// The predicate register's name.
    pub predicate: &'t str,
}

/// A source operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand<'t> {
    /// A register, by name.
    Register(&'t str),
    /// `c+1`: a register and a constant that is added to it modulo 2^32. ptxas takes it for operand c of scalar forms;
    /// the manual does not have it.
    Sum {
        /// The register, by name.
        register: &'t str,
        /// What is added.
        addend: u32,
    },
    /// A constant expression.
    Immediate {
        /// Its lower 32 bits.
        value: u32,
        /// As it is written; in canonical text its value stands instead if it holds blanks or comments.
        text: &'t str,
    },
}

/// Reads one instruction, exactly as ptxas would: any identifier is a 32-bit register. Comments, a label, a block
/// `{ … }` around it and the semicolon are optional. To judge register types see [`Parser`].
///
/// # Errors
/// All faults of the text, in its order.
///
/// ```
/// let instruction = vop::parse("@!p vmax4.u32.u32.u32.sat d.b3, a, b.b4567, c;").unwrap();
/// assert_eq!(instruction.d, "d");
/// let faults = vop::parse("vadd4.u32.u32.sat.add d, a, 7, c;").unwrap_err();
/// let codes: Vec<_> = faults.iter().map(|fault| fault.code.name()).collect();
/// assert_eq!(codes, ["V0203", "V0207", "V0302"]);
/// ```
pub fn parse(text: &str) -> Result<Instruction<'_>, Vec<Diagnostic>> {
    Parser::new().parse(text)
}

/// A parser with settings.
#[derive(Clone, Copy, Default)]
pub struct Parser<'r> {
    registers: Option<&'r dyn Declarations>,
    pub(super) bare: bool,
    /// Takes what the manual has and ptxas cannot read, so that every form's own text can be read back.
    pub(super) lenient: bool,
}

impl<'r> Parser<'r> {
    /// One that takes what ptxas takes, and any identifier as a 32-bit register.
    pub fn new() -> Parser<'r> {
        Parser::default()
    }

    /// Judges operands by these declarations, and by those in the text's own blocks.
    pub fn with_registers(mut self, registers: &'r dyn Declarations) -> Parser<'r> {
        self.registers = Some(registers);
        self
    }

    /// Also takes a mnemonic with its modifiers alone, `vadd4.s32.s32.s32.sat`; operands d, a, b and c are meant.
    pub fn allow_bare(mut self) -> Parser<'r> {
        self.bare = true;
        self
    }

    /// For [`Form`]'s `FromStr`.
    pub(crate) fn for_forms() -> Parser<'r> {
        Parser { registers: None, bare: true, lenient: true }
    }

    /// Reads one instruction; see [`parse`](parse()).
    ///
    /// # Errors
    /// All faults of the text, in its order; [`Code::V0103`] if it is faultless but holds none or several.
    pub fn parse<'t>(&self, text: &'t str) -> Result<Instruction<'t>, Vec<Diagnostic>> {
        let mut run = Run::new(self, text);
        let mut first = None;
        let mut count = 0;
        run.statements(|instruction| {
            first.get_or_insert(instruction);
            count += 1;
        });
        match first {
            Some(instruction) if run.faults.is_empty() && count == 1 => Ok(instruction),
            _ => Err(run.finish_one(count)),
        }
    }

    /// Reads all instructions of a text; `.reg` declarations, labels and blocks between them are taken into account.
    ///
    /// # Errors
    /// All faults of the text, in its order.
    pub fn parse_all<'t>(&self, text: &'t str) -> Result<Vec<Instruction<'t>>, Vec<Diagnostic>> {
        let mut run = Run::new(self, text);
        let mut all = Vec::new();
        run.statements(|instruction| all.push(instruction));
        if run.faults.is_empty() { Ok(all) } else { Err(run.finish()) }
    }
}

/// A fault that has been recorded and ends what was being read.
pub(super) struct Fault;

/// One reading of one text.
pub(super) struct Run<'t, 'p> {
    lexer: Lexer<'t>,
    pub(super) token: Token,
    /// Where the last token ended: where something missing is missed.
    last_end: u32,
    pub(super) parser: &'p Parser<'p>,
    /// What the text itself declares: at its top, if anything, and in its open blocks.
    scopes: Vec<Scope<'t>>,
    pub(super) faults: Vec<Diagnostic>,
}

/// The names of a block. Registers and labels share them.
#[derive(Default)]
pub(super) struct Scope<'t> {
    pub(super) registers: Registers,
    labels: BTreeSet<&'t str>,
}

impl Scope<'_> {
    pub(super) fn declares_label(&self, name: &str) -> bool {
        self.labels.contains(&name)
    }
}

impl<'t, 'p> Run<'t, 'p> {
    pub(super) fn new(parser: &'p Parser<'p>, text: &'t str) -> Run<'t, 'p> {
        let mut faults = Vec::new();
        if text.len() > LONGEST {
            faults.push(Diagnostic::new(Code::V0101, 0..0, "the text is longer than 4 GiB"));
        }
        let mut lexer = Lexer::new(if faults.is_empty() { text } else { "" });
        let token = lexer.next();
        Run { lexer, token, last_end: 0, parser, scopes: Vec::new(), faults }
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
        if self.token.kind == Kind::Punctuation(byte) {
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
            Kind::End => Diagnostic::new(
                Code::V0101,
                self.last_end()..self.last_end(),
                format!("expected {expected}, found the end of the text"),
            ),
            Kind::OpenComment => {
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
                Kind::End | Kind::OpenComment | Kind::Punctuation(b'}') => return,
                Kind::Punctuation(b';') => return self.advance(),
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
        self.parser.registers.and_then(|registers| registers.register(name))
    }

    /// Whether names are judged at all.
    pub(super) fn knows_registers(&self) -> bool {
        self.parser.registers.is_some()
    }

    fn statements(&mut self, mut sink: impl FnMut(Instruction<'t>)) {
        let mut open = Vec::new();
        loop {
            match self.token.kind {
                Kind::End => break,
                Kind::Punctuation(b'{') => {
                    open.push(self.token.span());
                    self.scopes.push(Scope::default());
                    self.advance();
                }
                Kind::Punctuation(b'}') if open.pop().is_some() => {
                    self.scopes.pop();
                    self.advance();
                }
                Kind::Punctuation(b'}') => {
                    // A fault that ended here has said so.
                    if self.faults.last().is_none_or(|fault| fault.span != self.token.span()) {
                        self.unexpected("an instruction");
                    }
                    self.advance();
                }
                _ => match self.statement() {
                    Ok(Some(instruction)) => sink(instruction),
                    Ok(None) => {}
                    Err(Fault) if self.token.kind == Kind::OpenComment => {
                        if self.faults.last().is_none_or(|fault| fault.code != Code::V0105) {
                            self.unexpected("");
                        }
                        break;
                    }
                    Err(Fault) => self.skip_statement(),
                },
            }
        }
        for span in open {
            let fault = Diagnostic::new(Code::V0105, span, "this block has no end").help("close it with `}`");
            self.fault(fault);
        }
    }

    fn statement(&mut self) -> Result<Option<Instruction<'t>>, Fault> {
        match self.head()? {
            Some((guard, mnemonic)) => self.instruction(guard, mnemonic),
            None => Ok(None),
        }
    }

    /// Reads an instruction's guard and mnemonic, or a whole declaration or label.
    #[inline]
    pub(super) fn head(&mut self) -> Result<Option<(Option<Guard<'t>>, Token)>, Fault> {
        let mut guard = None;
        // ptxas takes one backslash before a mnemonic: what is left of a line that was continued.
        let mut continued = false;
        match self.token.kind {
            Kind::Dot if self.slice(self.token) == ".reg" => {
                let mut scope = self.scopes.pop().unwrap_or_default();
                let read = self.reg(&mut scope);
                self.scopes.push(scope);
                return read.map(|()| None);
            }
            Kind::Punctuation(b'\\') => {
                continued = true;
                self.advance();
            }
            Kind::Punctuation(b'@') => {
                guard = Some(self.guard()?);
                continued = self.token.kind == Kind::Punctuation(b'\\');
                if continued {
                    self.advance();
                }
            }
            Kind::Word => {}
            _ => return Err(self.unexpected("an instruction")),
        }
        if self.token.kind != Kind::Word {
            return Err(match self.token.kind {
                Kind::Punctuation(b'@') => {
                    let again = Diagnostic::new(Code::V0106, self.token.span(), "an instruction has one guard")
                        .help("combine the predicates first: `and.pred p, q, r;`");
                    self.fault(again);
                    Fault
                }
                _ => self.unexpected("an instruction"),
            });
        }
        let mnemonic = self.token;
        self.advance();
        if self.token.kind == Kind::Punctuation(b':') && guard.is_none() && !continued {
            return self.label(mnemonic).map(|()| None);
        }
        Ok(Some((guard, mnemonic)))
    }

    fn label(&mut self, token: Token) -> Result<(), Fault> {
        let name = self.slice(token);
        self.name(token)?;
        self.advance();
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let taken = self.scopes.last_mut().is_some_and(|scope| {
            let taken = scope.declares_label(name) || scope.registers.register(name).is_some();
            scope.labels.insert(name);
            taken
        });
        if taken {
            self.twice(token);
        }
        Ok(())
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

    fn guard(&mut self) -> Result<Guard<'t>, Fault> {
        self.advance();
        let negated = self.token.kind == Kind::Punctuation(b'!');
        if negated {
            self.advance();
        }
        if self.token.kind != Kind::Word {
            return Err(self.unexpected("a predicate register"));
        }
        let token = self.token;
        let predicate = self.slice(token);
        if self.knows_registers() {
            match self.register_type(predicate) {
                Some(RegisterType::Pred) => {}
                Some(ty) => self.fault(
                    Diagnostic::new(
                        Code::V0403,
                        token.span(),
                        format!("guard `{predicate}` is a `.{}` register", ty.name()),
                    )
                    .help(format!("compare it first: `setp.ne.u32 p, {predicate}, 0;`, then write `@p`")),
                ),
                None => self.fault(super::judge::undeclared(token.span(), predicate, ".pred")),
            }
        }
        self.advance();
        Ok(Guard { negated, predicate })
    }

    /// Reads an instruction behind its mnemonic, and its semicolon.
    fn instruction(&mut self, guard: Option<Guard<'t>>, mnemonic: Token) -> Result<Option<Instruction<'t>>, Fault> {
        let opcode = self.opcode(mnemonic);
        let mut operands = Operands::default();
        let read = self.operands(&mut operands);
        operands.complete = read.is_ok();
        let form = self.judge(&opcode, &operands);
        read?;
        let Some(form) = form else {
            return Ok(None);
        };
        let [d, a, b, c] = &operands.list;
        let instruction = match (d.raw, self.source(a), self.source(b)) {
            (Raw::Register, Some(a), Some(b)) => {
                Instruction { guard, form, d: self.text_of(d.name), a, b, c: self.source(c) }
            }
            // Without operands: what is meant has the names of the form's own text.
            _ => Instruction {
                guard,
                form,
                d: "d",
                a: Operand::Register("a"),
                b: Operand::Register("b"),
                c: form.uses_c().then_some(Operand::Register("c")),
            },
        };
        Ok(Some(instruction))
    }

    /// Reads the modifiers behind a mnemonic.
    #[inline]
    pub(super) fn opcode(&mut self, mnemonic: Token) -> Opcode {
        let mut opcode = Opcode::new(mnemonic);
        while self.token.kind == Kind::Dot {
            self.modifier(&mut opcode);
            self.advance();
        }
        opcode
    }

    #[cold]
    fn finish(mut self) -> Vec<Diagnostic> {
        self.faults.sort_by_key(|fault| fault.span.start);
        core::mem::take(&mut self.faults)
    }

    #[cold]
    fn finish_one(mut self, count: usize) -> Vec<Diagnostic> {
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
