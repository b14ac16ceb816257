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
mod read;

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use declaration::Declarations;
pub use declaration::{Label, Linkage, Pointer, Register, Scalar, Space, Type, Variable};

/// A PTX file: its text and where everything in it stands.
#[derive(Clone, Debug)]
pub struct Module {
    text: String,
    pieces: Pieces,
    /// Where lines start; made when a line is first asked for.
    lines: OnceLock<Vec<usize>>,
}

/// What the reader finds.
#[derive(Clone, Debug, Default)]
struct Pieces {
    statements: Vec<Statement>,
    functions: Vec<Function>,
    scopes: Vec<Scope>,
    locations: Vec<Location>,
    files: Vec<File>,
    version: Option<(u32, u32)>,
    targets: Vec<Range<usize>>,
    address_size: Option<u32>,
}

/// A `.loc`.
#[derive(Clone, Debug)]
struct Location {
    statement: usize,
    file: u64,
    line: u32,
    column: u32,
}

/// A `.file`.
#[derive(Clone, Debug)]
struct File {
    index: u64,
    path: Range<usize>,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where it stands: from its first token to its last (its `;` if it has one).
    pub span: Range<usize>,
    /// The scope that it is in. A brace is in the scope that it opens or closes.
    pub scope: ScopeId,
    /// The function that it belongs to, an index of [`Module::functions`]. A header belongs to its function.
    pub function: Option<usize>,
}

/// The kind of a statement. Ranges are byte ranges of [`Module::text`] unless something else is said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StatementKind {
    /// `.version`, `.target`, `.loc`, `.pragma`, … and directives that are not known.
    Directive {
        /// The name with its dot.
        name: Range<usize>,
        /// The text that follows, up to the `;` if there is one.
        arguments: Range<usize>,
    },
    /// A `.reg` declaration.
    Registers {
        /// The names, as indexes of [`Scope::registers`].
        declared: Range<usize>,
    },
    /// A declaration of variables: `.global`, `.shared`, `.const`, `.local`, `.param`.
    Variables {
        /// The names, as indexes of [`Scope::variables`].
        declared: Range<usize>,
    },
    /// `name:`. What it labels is the next statement.
    Label {
        /// The name without the colon.
        name: Range<usize>,
    },
    /// An instruction.
    Instruction {
        /// `@p` or `@!p`, with the `@`.
        guard: Option<Range<usize>>,
        /// The opcode with its modifiers: `ld.global.nc.v4.u32`. It may hold blanks, see [`lex::without_trivia`].
        opcode: Range<usize>,
        /// The operands, see [`lex::split_operands`]. Empty if there is none.
        operands: Range<usize>,
    },
    /// `.entry` or `.func` with all that stands before the body, or up to the `;` of a declaration. See [`Function`].
    FunctionHeader,
    /// `{`
    ScopeOpen,
    /// `}`
    ScopeClose,
    /// A `.section` of debug information.
    Section {
        /// Its name: `.debug_str`.
        name: Range<usize>,
        /// What stands between its braces.
        contents: Range<usize>,
    },
    /// A line that starts with `#`.
    Preprocessor,
    /// Text that was not understood.
    Other,
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
}

/// Names a [`Scope`] of one module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ScopeId(u32);

impl ScopeId {
    /// The module scope, which is outside all braces.
    pub const MODULE: ScopeId = ScopeId(0);

    /// Its index in [`Module::scopes`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The module, or what a pair of braces holds.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The scope around it; none for the module.
    pub parent: Option<ScopeId>,
    /// Where it stands, with its braces. A scope that is not closed reaches to the end of the text.
    pub span: Range<usize>,
    /// The function that it belongs to, an index of [`Module::functions`].
    pub function: Option<usize>,
    registers: Declarations<Register>,
    variables: Declarations<Variable>,
    labels: Declarations<Label>,
}

impl Scope {
    fn new(parent: Option<ScopeId>, span: Range<usize>, function: Option<usize>) -> Scope {
        let (registers, variables, labels) = Default::default();
        Scope { parent, span, function, registers, variables, labels }
    }

    fn sort(&mut self, text: &str) {
        self.registers.sort(text);
        self.variables.sort(text);
        self.labels.sort(text);
    }

    /// The registers that it declares itself, in order of position. The body of a function begins with those formal
    /// parameters that are registers.
    pub fn registers(&self) -> &[Register] {
        &self.registers.items
    }

    /// The variables that it declares itself, in order of position. Formal parameters are in [`Function::parameters`].
    pub fn variables(&self) -> &[Variable] {
        &self.variables.items
    }

    /// The labels that stand in it, in order of position.
    pub fn labels(&self) -> &[Label] {
        &self.labels.items
    }
}

/// Whether a function is a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FunctionKind {
    /// `.entry`
    Entry,
    /// `.func`
    Func,
}

/// A function, or its declaration without a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Whether it is a kernel.
    pub kind: FunctionKind,
    /// The linking directive in front.
    pub linkage: Option<Linkage>,
    /// Where its name stands.
    pub name: Range<usize>,
    /// What it returns: the parameters in front of the name.
    pub results: Vec<Variable>,
    /// Its parameters.
    pub parameters: Vec<Variable>,
    /// The directives behind the parameters, such as `.maxntid 256, 1, 1`.
    pub directives: Vec<Range<usize>>,
    /// Where the header stands, from its linking directive to the token before the body.
    pub header: Range<usize>,
    /// The index of the header's statement.
    pub statement: usize,
    /// The statements between the braces, as indexes of [`Module::statements`]. None for a declaration.
    pub body: Option<Range<usize>>,
    /// The scope that the body is. None for a declaration.
    pub scope: Option<ScopeId>,
}

impl Function {
    /// Results and parameters.
    fn formals(&self) -> impl DoubleEndedIterator<Item = &Variable> {
        self.results.iter().chain(&self.parameters)
    }

    fn register_parameters(&self) -> impl Iterator<Item = Register> {
        let registers = self.formals().filter(|formal| formal.space == Space::Reg);
        registers.map(|formal| Register { ty: formal.ty, name: formal.name.clone(), count: formal.count })
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
    /// the scopes around it, from the inside out. `%r<10>` declares `%r0` to `%r9`.
    pub fn find_register(&self, scope: ScopeId, name: &str, at: usize) -> Option<FoundRegister> {
        self.outward(scope).find_map(|(id, scope)| {
            let (index, number) = scope.registers.find(&self.text, name, at)?;
            Some(FoundRegister { scope: id, index, number, ty: scope.registers.items[index].ty })
        })
    }

    /// The variable or formal parameter that `name` means at the position `at` in a scope, found like a register. The name of
    /// one of the variables that `x<n>` declares finds that declaration.
    pub fn variable(&self, scope: ScopeId, name: &str, at: usize) -> Option<&Variable> {
        self.outward(scope).find_map(|(id, scope)| {
            if let Some((index, _)) = scope.variables.find(&self.text, name, at) {
                return Some(&scope.variables.items[index]);
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
            let (index, _) = scope.labels.find(&self.text, name, usize::MAX)?;
            Some(scope.labels.items[index].statement)
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
        let column = self.text[start..].char_indices().take_while(|&(at, _)| start + at < offset).count();
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
