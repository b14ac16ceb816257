//! The parts of a module, as the reader finds them: statements, functions and scopes, by their places in the text.

use std::ops::Range;

use super::declaration::{Declarations, Label, Linkage, Register, Space, Variable};

/// What the reader finds.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    pub(super) statements: Vec<Statement>,
    pub(super) functions: Vec<Function>,
    pub(super) scopes: Vec<Scope>,
    pub(super) locations: Vec<Location>,
    pub(super) files: Vec<File>,
    pub(super) version: Option<(u32, u32)>,
    pub(super) targets: Vec<Range<usize>>,
    pub(super) address_size: Option<u32>,
}

/// A `.loc`.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub(super) statement: usize,
    pub(super) file: u64,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A `.file`.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) index: u64,
    pub(super) path: Range<usize>,
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
    /// The function that it belongs to, an index of [`Module::functions`](super::Module::functions). A header belongs to its function.
    pub function: Option<usize>,
}

/// The kind of a statement. Ranges are byte ranges of [`Module::text`](super::Module::text) unless something else is said.
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
        /// The opcode with its modifiers: `ld.global.nc.v4.u32`. It may hold blanks, see [`lex::without_trivia`](super::lex::without_trivia).
        opcode: Range<usize>,
        /// The operands, see [`lex::split_operands`](super::lex::split_operands). Empty if there is none.
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

/// Names a [`Scope`] of one module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ScopeId(pub(super) u32);

impl ScopeId {
    /// The module scope, which is outside all braces.
    pub const MODULE: ScopeId = ScopeId(0);

    /// Its index in [`Module::scopes`](super::Module::scopes).
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
    /// The function that it belongs to, an index of [`Module::functions`](super::Module::functions).
    pub function: Option<usize>,
    /// What it declares: most scopes of odd texts declare nothing, and there may be many of these.
    pub(super) declared: Option<Box<Declared>>,
}

/// What a scope declares.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    pub(super) registers: Declarations<Register>,
    pub(super) variables: Declarations<Variable>,
    pub(super) labels: Declarations<Label>,
}

impl Scope {
    pub(super) fn new(parent: Option<ScopeId>, span: Range<usize>, function: Option<usize>) -> Scope {
        Scope { parent, span, function, declared: None }
    }

    /// To declare something in it.
    pub(super) fn declared(&mut self) -> &mut Declared {
        self.declared.get_or_insert_default()
    }

    pub(super) fn sort(&mut self, text: &str) {
        if let Some(declared) = &mut self.declared {
            declared.registers.sort(text);
            declared.variables.sort(text);
            declared.labels.sort(text);
        }
    }

    /// The registers that it declares itself, in order of position. The body of a function begins with those formal
    /// parameters that are registers.
    pub fn registers(&self) -> &[Register] {
        self.declared.as_ref().map_or(&[], |declared| &declared.registers.items)
    }

    /// The variables that it declares itself, in order of position. Formal parameters are in [`Function::parameters`].
    pub fn variables(&self) -> &[Variable] {
        self.declared.as_ref().map_or(&[], |declared| &declared.variables.items)
    }

    /// The labels that stand in it, in order of position.
    pub fn labels(&self) -> &[Label] {
        self.declared.as_ref().map_or(&[], |declared| &declared.labels.items)
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
    /// The statements between the braces, as indexes of [`Module::statements`](super::Module::statements). None for a declaration.
    pub body: Option<Range<usize>>,
    /// The scope that the body is. None for a declaration.
    pub scope: Option<ScopeId>,
}

impl Function {
    /// Results and parameters.
    pub(super) fn formals(&self) -> impl DoubleEndedIterator<Item = &Variable> {
        self.results.iter().chain(&self.parameters)
    }

    pub(super) fn register_parameters(&self) -> impl Iterator<Item = Register> {
        let registers = self.formals().filter(|formal| formal.space == Space::Reg);
        registers.map(|formal| Register { ty: formal.ty, name: formal.name.clone(), count: formal.count })
    }
}
