//! Lossless reader of PTX modules.
//!
//! [`Module::parse`] finds the statements of a PTX file: directives, declarations, labels, instructions, scopes. It never
//! fails. What it does not understand it keeps as [`StatementKind::Other`], so that a tool can change one instruction of a
//! file and leave every other byte as it was.
//!
//! - A statement is a span of the text, without the blanks and comments (the *trivia*) around it. Statements and the trivia
//!   between them tile the text: [`Module`]'s `Display` prints exactly what was read.
//! - Nothing is copied: names, opcodes and operands are byte ranges of [`Module::text`]; [`Module::slice`] gives their text.
//! - Nothing is judged: an instruction with an unknown opcode is an instruction, and names may be declared twice.
//! - Braces inside an operand list belong to a vector; all others open and close a [`Scope`].
//!
//! ```
//! use vop_ptx::module::{Module, Scalar, StatementKind, Type};
//!
//! let module = Module::parse(".version 8.0\n.target sm_90\n.entry k() { .reg .b32 %r<3>; add.u32 %r1, %r2, 1; ret; }");
//! let kernel = &module.functions()[0];
//! let body = kernel.body.clone().expect("the kernel has a body");
//! let StatementKind::Instruction { opcode, .. } = &module.statements()[body][1].kind else { panic!() };
//! assert_eq!(module.slice(opcode), "add.u32");
//! let scope = kernel.scope.expect("as it has a body");
//! assert_eq!(module.register(scope, "%r2", opcode.start), Some(Type::scalar(Scalar::B32)));
//! ```

mod declaration;
pub mod lex;
mod parts;
mod read;

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

pub use declaration::{Label, Linkage, Pointer, Register, Scalar, Space, Type, Variable};
use parts::Pieces;
pub use parts::{Function, FunctionKind, Scope, ScopeId, Statement, StatementKind};

/// A PTX file: its text and where everything in it stands.
#[derive(Clone, Debug)]
pub struct Module {
    text: String,
    pieces: Pieces,
    /// Where lines start; made when a line is first asked for.
    lines: OnceLock<Vec<usize>>,
}

/// The registers that a statement sees, for judging its operands.
#[derive(Clone, Copy, Debug)]
pub struct RegistersAt<'m> {
    /// The module.
    pub module: &'m Module,
    /// The braces that the statement stands in.
    pub scope: ScopeId,
    /// Where the statement begins, in bytes: what is declared after it does not count.
    pub at: usize,
}

impl vop::Declarations for RegistersAt<'_> {
    fn register(&self, name: &str) -> Option<vop::RegisterType> {
        let Type { scalar, vector } = self.module.register(self.scope, name, self.at)?;
        if vector == 1 { vop::RegisterType::of(scalar) } else { Some(vop::RegisterType::Vector) }
    }

    fn is_variable(&self, name: &str) -> bool {
        self.module.variable(self.scope, name, self.at).is_some()
    }
}

/// The declaration that the name of a register stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FoundRegister {
    /// The scope that declares it.
    pub scope: ScopeId,
    /// The declaration, an index of that scope's [`Scope::registers`].
    pub index: usize,
    /// Which of the registers that `%r<n>` declares; none where the declaration names one register.
    pub number: Option<u32>,
    /// Its type.
    pub ty: Type,
}

/// A place in the source code that a module was compiled from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SourceLine<'a> {
    /// The file as `.file` names it; escapes are left as they are.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if the compiler did not say.
    pub column: u32,
}

impl Module {
    /// Reads a module. Every text is accepted, see the [module documentation](self).
    pub fn parse(text: impl Into<String>) -> Module {
        let text = text.into();
        let pieces = read::read(&text);
        Module { text, pieces, lines: OnceLock::new() }
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a range that this module gave out.
    ///
    /// # Panics
    /// If the range is not one of this module's text.
    pub fn slice(&self, range: &Range<usize>) -> &str {
        &self.text[range.clone()]
    }

    /// All statements in order.
    pub fn statements(&self) -> &[Statement] {
        &self.pieces.statements
    }

    /// All functions and declarations of functions, in order of their headers.
    pub fn functions(&self) -> &[Function] {
        &self.pieces.functions
    }

    /// The function of this name: its definition, else its first declaration.
    pub fn function(&self, name: &str) -> Option<&Function> {
        let mut named = self.pieces.functions.iter().filter(|function| self.slice(&function.name) == name);
        let first = named.clone().next();
        named.find(|function| function.body.is_some()).or(first)
    }

    /// All scopes, in order of their opening braces. The first is the module.
    pub fn scopes(&self) -> &[Scope] {
        &self.pieces.scopes
    }

    /// The scope of this name.
    ///
    /// # Panics
    /// If the name is another module's and this one has fewer scopes.
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.pieces.scopes[id.index()]
    }

    /// What `.version` says: major and minor.
    pub fn version(&self) -> Option<(u32, u32)> {
        self.pieces.version
    }

    /// The architecture that `.target` names: `sm_90a`.
    pub fn target(&self) -> Option<&str> {
        self.targets().next()
    }

    /// All that the first `.target` lists: the architecture, then `debug`, `texmode_independent`, ….
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.pieces.targets.iter().map(|range| self.slice(range))
    }

    /// What `.address_size` says, in bits.
    pub fn address_size(&self) -> Option<u32> {
        self.pieces.address_size
    }

    /// The type of the register that `name` means at the position `at` in a scope, see [`Module::find_register`].
    pub fn register(&self, scope: ScopeId, name: &str, at: usize) -> Option<Type> {
        self.find_register(scope, name, at).map(|found| found.ty)
    }

    /// The register that `name` means at the position `at` in a scope: the last declaration before `at` in that scope, else in
    /// the scopes around it, from the inside out. `%r<10>` declares `%r0` to `%r9`. A variable hides the registers of scopes around it.
    pub fn find_register(&self, scope: ScopeId, name: &str, at: usize) -> Option<FoundRegister> {
        for (id, scope) in self.outward(scope) {
            let Some(declared) = &scope.declared else { continue };
            if let Some((index, number)) = declared.registers.find(&self.text, name, at) {
                return Some(FoundRegister { scope: id, index, number, ty: declared.registers.items[index].ty });
            }
            if declared.variables.find(&self.text, name, at).is_some() {
                return None;
            }
        }
        None
    }

    /// The variable or formal parameter that `name` means at the position `at` in a scope, found like a register. The name of
    /// one of the variables that `x<n>` declares finds that declaration.
    pub fn variable(&self, scope: ScopeId, name: &str, at: usize) -> Option<&Variable> {
        self.outward(scope).find_map(|(id, scope)| {
            let variables = scope.declared.as_ref().map(|declared| &declared.variables);
            if let Some((variables, (index, _))) =
                variables.and_then(|all| Some((all, all.find(&self.text, name, at)?)))
            {
                return Some(&variables.items[index]);
            }
            let function = &self.pieces.functions[scope.function?];
            let is_body = function.scope == Some(id);
            function.formals().rev().find(|formal| is_body && self.slice(&formal.name) == name)
        })
    }

    /// The statement of the label that `name` means in a scope: one of that scope, else of those around it. A label may
    /// stand behind its use.
    pub fn label(&self, scope: ScopeId, name: &str) -> Option<usize> {
        self.outward(scope).find_map(|(_, scope)| {
            let labels = &scope.declared.as_ref()?.labels;
            let (index, _) = labels.find(&self.text, name, usize::MAX)?;
            Some(labels.items[index].statement)
        })
    }

    /// A scope and those around it.
    fn outward(&self, scope: ScopeId) -> impl Iterator<Item = (ScopeId, &Scope)> {
        let scopes = &self.pieces.scopes;
        let ids = std::iter::successors(Some(scope), |id| scopes.get(id.index())?.parent);
        ids.filter_map(|id| Some((id, scopes.get(id.index())?)))
    }

    /// Line and column of a byte offset, both from 1; the column counts characters. An offset behind the end means the end.
    pub fn line_col(&self, offset: usize) -> (usize, usize) {
        let lines = self.lines.get_or_init(|| line_starts(&self.text));
        let line = lines.partition_point(|&start| start <= offset);
        let start = lines[line - 1];
        let end = offset.clamp(start, self.text.len());
        // Every byte but those that continue a character.
        let column = self.text.as_bytes()[start..end].iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        // An offset inside a character means that character.
        let inside = offset < self.text.len() && !self.text.is_char_boundary(offset);
        (line, column + usize::from(!inside))
    }

    /// The source line that the compiler made a statement (an index of [`Module::statements`]) for: the last `.loc` before it in
    /// its function. None if there is none, if it names line 0 (code without a line), or if its file has no `.file`.
    pub fn source_line(&self, statement: usize) -> Option<SourceLine<'_>> {
        let function = self.pieces.statements.get(statement)?.function?;
        let locations = &self.pieces.locations;
        let behind = locations.partition_point(|location| location.statement <= statement);
        let location = locations[..behind].last()?;
        let same = self.pieces.statements[location.statement].function == Some(function);
        if !same || location.line == 0 {
            return None;
        }
        let file = self.pieces.files.iter().find(|file| file.index == location.file)?;
        Some(SourceLine { file: self.slice(&file.path), line: location.line, column: location.column })
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let behind = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(behind).collect()
}

/// Prints the statements and what stands between them, which is the text as it was read.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printed = 0;
        for statement in &self.pieces.statements {
            let span = &statement.span;
            f.write_str(&self.text[printed..span.start])?;
            f.write_str(&self.text[span.clone()])?;
            printed = span.end;
        }
        f.write_str(&self.text[printed..])
    }
}
