//! Statements: guards, labels, blocks, and the instructions among them.

use alloc::format;
use alloc::vec::Vec;

use super::instruction::{Guard, Instruction, Operand};
use super::lex::{Token, TokenKind};
use super::operand::{Operands, Raw};
use super::patch::Need;
use super::places::Places;
use super::reader::{Fault, Reader, Scope, Settings};
use super::registers::{Declarations, RegisterType};
use super::wording::undeclared;
use crate::diagnostic::{Code, Diagnostic};
use crate::isa::scalar::ScalarType;

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
    settings: Settings<'r>,
}

impl<'r> Parser<'r> {
    /// One that takes what ptxas takes, and any identifier as a 32-bit register.
    pub fn new() -> Parser<'r> {
        Parser::default()
    }

    /// Judges operands by these declarations, and by those in the text's own blocks.
    pub fn with_registers(mut self, registers: &'r dyn Declarations) -> Parser<'r> {
        self.settings.registers = Some(registers);
        self
    }

    /// Also takes a mnemonic with its modifiers alone, `vadd4.s32.s32.s32.sat`; operands d, a, b and c are meant.
    pub fn allow_bare(mut self) -> Parser<'r> {
        self.settings.bare = true;
        self
    }

    /// For the `FromStr` of [`Form`](crate::Form).
    pub(super) fn for_forms() -> Parser<'r> {
        Parser { settings: Settings { bare: true, lenient: true, ..Settings::default() } }
    }

    /// Reads one instruction; see [`parse`](parse()).
    ///
    /// # Errors
    /// All faults of the text up to about a thousand, in its order; [`Code::V0103`] if it is faultless but holds none or several.
    pub fn parse<'t>(&self, text: &'t str) -> Result<Instruction<'t>, Vec<Diagnostic>> {
        self.read_one(text, self.settings).map(|(instruction, _)| instruction)
    }

    /// Reads one instruction, and where its parts stand in the text: what [`Linter::lint`](crate::Linter::lint) takes.
    ///
    /// # Errors
    /// Those of [`parse`](Parser::parse).
    ///
    /// ```
    /// let text = "@p vadd4.u32.u32.u32.sat d.b10, a, b, c;";
    /// let (instruction, places) = vop::Parser::new().parse_with_places(text).unwrap();
    /// assert_eq!(instruction.d, "d");
    /// assert_eq!(&text[places.sat.unwrap()], ".sat");
    /// assert_eq!(&text[places.operands[0].selector.clone().unwrap()], ".b10");
    /// ```
    pub fn parse_with_places<'t>(&self, text: &'t str) -> Result<(Instruction<'t>, Places), Vec<Diagnostic>> {
        let settings = Settings { places: true, ..self.settings };
        self.read_one(text, settings).map(|(instruction, places)| (instruction, places.unwrap_or_default()))
    }

    #[inline]
    fn read_one<'t>(
        &self,
        text: &'t str,
        settings: Settings<'_>,
    ) -> Result<(Instruction<'t>, Option<Places>), Vec<Diagnostic>> {
        let mut reader = Reader::new(settings, text);
        let mut first = None;
        let mut count = 0;
        reader.statements(|instruction| {
            first.get_or_insert(instruction);
            count += 1;
        });
        match first {
            Some(instruction) if reader.faults.is_empty() && count == 1 => Ok((instruction, reader.places)),
            _ => Err(reader.finish_one(count)),
        }
    }

    /// Reads all instructions of a text; `.reg` declarations, labels and blocks between them are taken into account.
    ///
    /// # Errors
    /// All faults of the text, in its order.
    pub fn parse_all<'t>(&self, text: &'t str) -> Result<Vec<Instruction<'t>>, Vec<Diagnostic>> {
        let mut reader = Reader::new(self.settings, text);
        let mut all = Vec::new();
        reader.statements(|instruction| all.push(instruction));
        if reader.faults.is_empty() { Ok(all) } else { Err(reader.finish()) }
    }
}

/// The faults of a text that are looked for.
const MOST_FAULTS: usize = 1000;
/// Blocks that may be nested: each is looked at for each name.
const MOST_BLOCKS: usize = 1000;

impl<'t> Reader<'t, '_> {
    fn statements(&mut self, mut sink: impl FnMut(Instruction<'t>)) {
        let mut open = Vec::new();
        loop {
            // A text that is no PTX at all may be long.
            if self.faults.len() >= MOST_FAULTS {
                break;
            }
            match self.token.kind {
                TokenKind::End => break,
                TokenKind::Punctuation(b'{') if open.len() == MOST_BLOCKS => {
                    let message = format!("more than {MOST_BLOCKS} blocks, one within the other");
                    self.fault(
                        Diagnostic::new(Code::V0105, self.token.span(), message).help("close some of them with `}`"),
                    );
                    break;
                }
                TokenKind::Punctuation(b'{') => {
                    open.push(self.token.span());
                    self.scopes.push(Scope::default());
                    self.advance();
                }
                TokenKind::Punctuation(b'}') if open.pop().is_some() => {
                    self.scopes.pop();
                    self.advance();
                }
                TokenKind::Punctuation(b'}') => {
                    // A fault that ended here has said so.
                    if self.faults.last().is_none_or(|fault| fault.span != self.token.span()) {
                        self.unexpected("an instruction");
                    }
                    self.advance();
                }
                _ => match self.statement() {
                    Ok(Some(instruction)) => sink(instruction),
                    Ok(None) => {}
                    Err(Fault) if self.token.kind == TokenKind::OpenComment => {
                        if self.faults.last().is_none_or(|fault| fault.code != Code::V0105) {
                            self.unexpected("");
                        }
                        break;
                    }
                    Err(Fault) => {
                        self.waiting.clear();
                        self.skip_statement();
                    }
                },
            }
        }
        // The last fault may be one of a long text.
        for span in open.into_iter().take(MOST_FAULTS) {
            let fault = Diagnostic::new(Code::V0105, span, "this block has no end").help("close it with `}`");
            self.fault(fault);
        }
    }

    fn statement(&mut self) -> Result<Option<Instruction<'t>>, Fault> {
        self.faults_before = self.faults.len();
        self.guard_start = None;
        match self.head()? {
            Some((guard, mnemonic)) => self.instruction(guard, mnemonic),
            None => Ok(None),
        }
    }

    /// Reads an instruction's guard and mnemonic, or a whole declaration or label.
    #[inline]
    fn head(&mut self) -> Result<Option<(Option<Guard<'t>>, Token)>, Fault> {
        let mut guard = None;
        // ptxas takes one backslash before a mnemonic: what is left of a line that was continued.
        let mut continued = false;
        match self.token.kind {
            TokenKind::Dot if self.slice(self.token) == ".reg" => {
                let mut scope = self.scopes.pop().unwrap_or_default();
                let read = self.reg(&mut scope);
                self.scopes.push(scope);
                return read.map(|()| None);
            }
            TokenKind::Punctuation(b'\\') => {
                continued = true;
                self.advance();
            }
            TokenKind::Punctuation(b'@') => {
                self.guard_start = Some(self.token.at.start);
                guard = Some(self.guard()?);
                continued = self.token.kind == TokenKind::Punctuation(b'\\');
                if continued {
                    self.advance();
                }
            }
            TokenKind::Word => {}
            _ => return Err(self.unexpected("an instruction")),
        }
        if self.token.kind != TokenKind::Word {
            return Err(match self.token.kind {
                TokenKind::Punctuation(b'@') => {
                    let again = Diagnostic::new(Code::V0106, self.token.span(), "an instruction has one guard")
                        .help("combine the predicates first, with `and.pred`");
                    self.fault(again);
                    Fault
                }
                _ => self.unexpected("an instruction"),
            });
        }
        let mnemonic = self.token;
        self.advance();
        if self.token.kind == TokenKind::Punctuation(b':') && guard.is_none() && !continued {
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

    fn guard(&mut self) -> Result<Guard<'t>, Fault> {
        self.advance();
        let negated = self.token.kind == TokenKind::Punctuation(b'!');
        if negated {
            self.advance();
        }
        if self.token.kind != TokenKind::Word {
            return Err(self.unexpected("a predicate register"));
        }
        let token = self.token;
        let predicate = self.slice(token);
        if self.knows_registers() {
            match self.register_type(predicate) {
                Some(RegisterType::Scalar(ScalarType::Pred)) => {}
                Some(ty) => {
                    let message = format!("guard `{predicate}` is a `.{}` register", ty.name());
                    let fault = Diagnostic::new(Code::V0403, token.span(), message);
                    match Need::to_guard(predicate, ty) {
                        Some(need) => self.patched_fault(fault, token.span(), need),
                        None => self.fault(fault.help("compare it first, which makes a predicate of it")),
                    }
                }
                None => self.fault(undeclared(token.span(), predicate, ".pred")),
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
        let form = self.judge(guard, &opcode, &operands);
        if !self.waiting.is_empty() {
            self.write_patch(guard, &opcode, &operands);
        }
        read?;
        let Some(form) = form else {
            return Ok(None);
        };
        if self.settings.places {
            let start = self.guard_start.map_or(opcode.mnemonic.span().start, |start| start as usize);
            self.places = Some(Places::new(start, &opcode, &operands));
        }
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
}
