//! The reader: one pass over the text, a statement at a time.

use std::ops::Range;

use super::declaration::{Label, Linkage, Pointer, Register, Scalar, Space, Type, Variable};
use super::lex::{Cursor, Ending, skip_trivia};
use super::parts::{File, Function, FunctionKind, Location, Pieces, Scope, ScopeId, Statement, StatementKind};

pub(super) fn read(text: &str) -> Pieces {
    let mut reader = Reader {
        text,
        cursor: Cursor::new(text, 0),
        pieces: Pieces::default(),
        scope: ScopeId::MODULE,
        awaiting_body: None,
        depth: 0,
        too_deep: 0,
        others: 0,
    };
    reader.pieces.scopes.push(Scope::new(None, 0..text.len(), None));
    // Editors on Windows put a byte order mark in front.
    reader.cursor.at = text.len() - text.trim_start_matches('\u{feff}').len();
    loop {
        reader.cursor.skip_trivia();
        if reader.cursor.at_end() {
            break;
        }
        reader.statement();
    }
    reader.close_unclosed();
    for scope in &mut reader.pieces.scopes {
        scope.sort(text);
    }
    reader.pieces
}

struct Reader<'a> {
    text: &'a str,
    cursor: Cursor<'a>,
    pieces: Pieces,
    scope: ScopeId,
    /// The function whose header has just been read: the `{` that is next opens its body.
    awaiting_body: Option<usize>,
    /// The number of open scopes, and of opened braces within the last that is allowed.
    depth: usize,
    too_deep: usize,
    /// The number of statements that were not understood.
    others: usize,
}

/// Scopes may be nested this deep: each is looked at for each name. What is beyond is text that is not understood.
const MAX_DEPTH: usize = 1000;
/// More statements that are not understood are joined where they follow one another: text that is no PTX at all may be long.
const MANY_OTHERS: usize = 10_000;

/// What is said in front of the names of a declaration.
struct Head {
    linkage: Option<Linkage>,
    space: Space,
    align: Option<u64>,
    ty: Type,
    pointer: Option<Pointer>,
}

impl Reader<'_> {
    fn statement(&mut self) {
        let start = self.cursor.at;
        let understood = match self.cursor.peek() {
            b'{' => self.open_scope(),
            b'}' => self.close_scope(),
            b'.' => self.directive(start),
            b'@' => self.guarded(start),
            b'#' => self.preprocessor(start),
            _ if self.cursor.starts_name() => self.label_or_instruction(start),
            _ => None,
        };
        if understood.is_none() {
            self.other(start);
        }
    }

    fn push(&mut self, kind: StatementKind, span: Range<usize>) {
        let function = self.scope().function;
        self.pieces.statements.push(Statement { kind, span, scope: self.scope, function });
    }

    fn scope(&mut self) -> &mut Scope {
        &mut self.pieces.scopes[self.scope.index()]
    }

    /// Text that is not understood: up to the next `;` or brace from where understanding failed. Never to look back is what
    /// keeps the reader linear on any text.
    fn other(&mut self, start: usize) {
        let end = self.cursor.find_end();
        let span = match end.ending {
            Ending::Semicolon => start..end.at + 1,
            Ending::Odd => start..self.trim_end(start, end.at),
        };
        // A `}` that closes nothing is a statement of its own.
        let span = start..span.end.max(start + 1);
        self.cursor.at = end.at.max(span.end);
        self.push_other(span);
    }

    fn push_other(&mut self, span: Range<usize>) {
        self.others += 1;
        if self.others > MANY_OTHERS
            && let Some(last) = self.pieces.statements.last_mut()
            && last.kind == StatementKind::Other
            && last.scope == self.scope
        {
            last.span.end = span.end;
            return;
        }
        self.push(StatementKind::Other, span);
    }

    /// A directive that should end with its line and is not understood: the next line is not to suffer.
    fn other_line(&mut self, start: usize) -> Option<()> {
        self.cursor.skip_line();
        let end = self.trim_end(start, self.cursor.at);
        self.push_other(start..end);
        Some(())
    }

    // Scopes

    fn open_scope(&mut self) -> Option<()> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        if self.depth == MAX_DEPTH {
            self.too_deep += 1;
            self.awaiting_body = None;
            self.push_other(start..start + 1);
            return Some(());
        }
        self.depth += 1;
        let function = self.awaiting_body.take();
        let id = ScopeId(self.pieces.scopes.len() as u32);
        let mut scope = Scope::new(Some(self.scope), start..self.text.len(), function.or(self.scope().function));
        if let Some(index) = function {
            let opens = self.pieces.statements.len();
            let function = &mut self.pieces.functions[index];
            function.body = Some(opens + 1..opens + 1);
            function.scope = Some(id);
            let parameters: Vec<Register> = function.register_parameters().collect();
            if !parameters.is_empty() {
                scope.declared().registers.items.extend(parameters);
            }
        }
        self.pieces.scopes.push(scope);
        self.scope = id;
        self.push(StatementKind::ScopeOpen, start..start + 1);
        Some(())
    }

    fn close_scope(&mut self) -> Option<()> {
        let parent = self.scope().parent?;
        let start = self.cursor.at;
        self.cursor.at += 1;
        if self.too_deep > 0 {
            self.too_deep -= 1;
            self.push_other(start..start + 1);
            return Some(());
        }
        self.depth -= 1;
        self.end_scope(start + 1);
        self.push(StatementKind::ScopeClose, start..start + 1);
        self.scope = parent;
        Some(())
    }

    fn end_scope(&mut self, end: usize) {
        let id = self.scope;
        let scope = self.scope();
        scope.span.end = end;
        let Some(index) = scope.function else { return };
        let function = &mut self.pieces.functions[index];
        if function.scope == Some(id)
            && let Some(body) = &mut function.body
        {
            body.end = self.pieces.statements.len();
        }
    }

    fn close_unclosed(&mut self) {
        while let Some(parent) = self.scope().parent {
            self.end_scope(self.text.len());
            self.scope = parent;
        }
    }

    // Labels and instructions

    fn label_or_instruction(&mut self, start: usize) -> Option<()> {
        let name = self.cursor.name()?;
        if self.cursor.peek() != b'.' {
            let end = self.cursor.at;
            self.cursor.skip_trivia();
            if self.cursor.peek() == b':' && self.cursor.peek_at(1) != b':' {
                self.cursor.at += 1;
                let statement = self.pieces.statements.len();
                self.scope().declared().labels.items.push(Label { name: name.clone(), statement });
                self.push(StatementKind::Label { name }, start..self.cursor.at);
                return Some(());
            }
            self.cursor.at = end;
        }
        self.instruction(start, name.start, None)
    }

    fn guarded(&mut self, start: usize) -> Option<()> {
        self.cursor.at += 1;
        // Debug information of PTX 1.x, a line each: `@@DWARF .section .debug_info`.
        if self.cursor.peek() == b'@' {
            self.cursor.at += 1;
            let name = start..self.cursor.name()?.end;
            self.cursor.skip_line();
            let end = self.trim_end(start, self.cursor.at);
            return self.directive_until(start, name, end);
        }
        self.cursor.eat(b'!');
        let guard = start..self.cursor.name()?.end;
        self.cursor.skip_trivia();
        let opcode = self.cursor.at;
        if !self.cursor.starts_name() {
            return None;
        }
        self.instruction(start, opcode, Some(guard))
    }

    fn instruction(&mut self, start: usize, opcode: usize, guard: Option<Range<usize>>) -> Option<()> {
        // `$L` and `%r` start a name, but no opcode.
        if !self.text.as_bytes()[opcode].is_ascii_alphabetic() {
            return None;
        }
        self.cursor.skip_opcode();
        let opcode = opcode..self.cursor.at;
        let operands = self.until_semicolon()?;
        self.push(StatementKind::Instruction { guard, opcode, operands }, start..self.cursor.at);
        Some(())
    }

    /// What stands before the next `;`, without the trivia around it. The cursor goes behind the `;`.
    fn until_semicolon(&mut self) -> Option<Range<usize>> {
        let end = self.cursor.find_end();
        if end.ending != Ending::Semicolon {
            return None;
        }
        self.cursor.skip_trivia();
        let range = self.cursor.at..self.cursor.trim_end(end.at, end.comments);
        self.cursor.at = end.at + 1;
        Some(range)
    }

    // Directives

    fn preprocessor(&mut self, start: usize) -> Option<()> {
        self.cursor.skip_line();
        let end = Cursor::new(self.text, start).trim_end(self.cursor.at, false);
        self.push(StatementKind::Preprocessor, start..end);
        Some(())
    }

    fn directive(&mut self, start: usize) -> Option<()> {
        let mut word = self.cursor.dot_name()?;
        let mut name = start..self.cursor.at;
        let mut linkage = None;
        while let Some(found) = Linkage::from_name(word) {
            linkage = Some(found);
            word = self.cursor.dot_name()?;
            name = self.cursor.at - word.len() - 1..self.cursor.at;
        }
        let understood = match word {
            "loc" => self.loc(start, name),
            "file" => self.file(start, name),
            "version" => self.version(start, name),
            "target" => self.target(start, name),
            "address_size" => self.address_size(start, name),
            _ => return self.directive_with_end(start, name, word, linkage),
        };
        understood.or_else(|| self.other_line(start))
    }

    fn directive_with_end(
        &mut self,
        start: usize,
        name: Range<usize>,
        word: &str,
        linkage: Option<Linkage>,
    ) -> Option<()> {
        match word {
            "reg" => self.registers(start),
            "entry" => self.header(start, FunctionKind::Entry, linkage),
            "func" => self.header(start, FunctionKind::Func, linkage),
            "section" => self.section(start),
            "pragma" | "alias" | "branchtargets" | "calltargets" | "callprototype" => self.plain_directive(start, name),
            _ => match Space::from_name(word) {
                Some(space) => self.variables(start, linkage, space),
                None => self.unknown_directive(start, name),
            },
        }
    }

    /// A directive without a `;` whose last token ends at `end`.
    fn directive_until(&mut self, start: usize, name: Range<usize>, end: usize) -> Option<()> {
        let arguments = skip_trivia(self.text, name.end).min(end)..end;
        self.push(StatementKind::Directive { name, arguments }, start..end);
        Some(())
    }

    /// The end of the last token in `start..end`.
    fn trim_end(&self, start: usize, end: usize) -> usize {
        Cursor::new(self.text, start).trim_end(end, true)
    }

    fn plain_directive(&mut self, start: usize, name: Range<usize>) -> Option<()> {
        let arguments = self.until_semicolon()?;
        self.push(StatementKind::Directive { name, arguments }, start..self.cursor.at);
        Some(())
    }

    /// A directive of a PTX version to come. It ends at its `;` or, as some have none, before a line that starts with a dot.
    fn unknown_directive(&mut self, start: usize, name: Range<usize>) -> Option<()> {
        if name.len() < 2 {
            return None;
        }
        let mut end = self.cursor.at;
        loop {
            let before = self.cursor.at;
            self.cursor.skip_trivia();
            let new_line = self.text.as_bytes()[before..self.cursor.at].contains(&b'\n');
            match self.cursor.peek() {
                b';' => {
                    self.cursor.at = name.end;
                    return self.plain_directive(start, name);
                }
                b'{' | b'}' => break,
                b'.' if new_line => break,
                _ if self.cursor.at_end() => break,
                _ => self.cursor.skip_token(),
            }
            end = self.cursor.at;
        }
        // A string that does not close ends with its line, blanks and all.
        let end = self.trim_end(start, end);
        self.directive_until(start, name, end)
    }

    fn version(&mut self, start: usize, name: Range<usize>) -> Option<()> {
        let major = self.cursor.integer()?;
        if !self.cursor.eat(b'.') {
            return None;
        }
        let minor = self.cursor.integer()?;
        if self.pieces.version.is_none() {
            self.pieces.version = Some((u32::try_from(major).ok()?, u32::try_from(minor).ok()?));
        }
        self.directive_until(start, name, self.cursor.at)
    }

    fn target(&mut self, start: usize, name: Range<usize>) -> Option<()> {
        let mut targets = vec![self.cursor.name()?];
        let mut end = self.cursor.at;
        while self.cursor.eat(b',') {
            targets.push(self.cursor.name()?);
            end = self.cursor.at;
        }
        if self.pieces.targets.is_empty() {
            self.pieces.targets = targets;
        }
        self.directive_until(start, name, end)
    }

    fn address_size(&mut self, start: usize, name: Range<usize>) -> Option<()> {
        let bits = u32::try_from(self.cursor.integer()?).ok()?;
        self.pieces.address_size.get_or_insert(bits);
        self.directive_until(start, name, self.cursor.at)
    }

    /// `.file 1 "name"`, with an optional `, timestamp, size`.
    fn file(&mut self, start: usize, name: Range<usize>) -> Option<()> {
        let index = self.cursor.integer()?;
        let path = self.cursor.string()?;
        let mut end = self.cursor.at;
        while self.cursor.eat(b',') {
            self.cursor.integer()?;
            end = self.cursor.at;
        }
        self.pieces.files.push(File { index, path });
        self.directive_until(start, name, end)
    }

    /// `.loc file line column`, with an optional `, function_name label+offset, inlined_at file line column`.
    fn loc(&mut self, start: usize, name: Range<usize>) -> Option<()> {
        let file = self.cursor.integer()?;
        let line = u32::try_from(self.cursor.integer()?).ok()?;
        let column = u32::try_from(self.cursor.integer()?).ok()?;
        let mut end = self.cursor.at;
        while self.cursor.eat(b',') {
            match &self.text[self.cursor.name()?] {
                "function_name" => {
                    self.cursor.name()?;
                    end = self.cursor.at;
                    if self.cursor.eat(b'+') {
                        self.cursor.integer()?;
                        end = self.cursor.at;
                    }
                }
                "inlined_at" => {
                    for _ in 0..3 {
                        self.cursor.integer()?;
                    }
                    end = self.cursor.at;
                }
                _ => return None,
            }
        }
        let statement = self.pieces.statements.len();
        self.pieces.locations.push(Location { statement, file, line, column });
        self.directive_until(start, name, end)
    }

    fn section(&mut self, start: usize) -> Option<()> {
        self.cursor.skip_trivia();
        let name = self.cursor.at..{
            self.cursor.skip_opcode();
            self.cursor.at
        };
        self.cursor.skip_trivia();
        let contents = self.cursor.at;
        if self.cursor.peek() != b'{' || !self.cursor.skip_block() {
            return None;
        }
        let contents = contents + 1..self.cursor.at - 1;
        self.push(StatementKind::Section { name, contents }, start..self.cursor.at);
        Some(())
    }

    // Declarations

    fn registers(&mut self, start: usize) -> Option<()> {
        let head = self.head(None, Space::Reg)?;
        let first = self.scope().declared().registers.items.len();
        let complete = self.register_names(head.ty);
        if complete.is_none() {
            self.scope().declared().registers.items.truncate(first);
            return None;
        }
        let declared = first..self.scope().declared().registers.items.len();
        self.push(StatementKind::Registers { declared }, start..self.cursor.at);
        Some(())
    }

    fn register_names(&mut self, ty: Type) -> Option<()> {
        loop {
            let name = self.cursor.name()?;
            let count = self.count()?;
            self.scope().declared().registers.items.push(Register { ty, name, count });
            if self.cursor.eat(b';') {
                return Some(());
            }
            if !self.cursor.eat(b',') {
                return None;
            }
        }
    }

    fn variables(&mut self, start: usize, linkage: Option<Linkage>, space: Space) -> Option<()> {
        let head = self.head(linkage, space)?;
        let first = self.scope().declared().variables.items.len();
        let complete = self.variable_names(&head);
        if complete.is_none() {
            self.scope().declared().variables.items.truncate(first);
            return None;
        }
        let declared = first..self.scope().declared().variables.items.len();
        self.push(StatementKind::Variables { declared }, start..self.cursor.at);
        Some(())
    }

    fn variable_names(&mut self, head: &Head) -> Option<()> {
        loop {
            let mut variable = self.variable(head)?;
            if self.cursor.eat(b'=') {
                variable.initializer = Some(self.initializer()?);
            }
            self.scope().declared().variables.items.push(variable);
            if self.cursor.eat(b';') {
                return Some(());
            }
            if !self.cursor.eat(b',') {
                return None;
            }
        }
    }

    /// `.align 8 .v2 .b32 .ptr .global .align 4`, from behind the space.
    fn head(&mut self, linkage: Option<Linkage>, space: Space) -> Option<Head> {
        let mut scalar = None;
        let mut vector = 1;
        let mut align = None;
        let mut pointer: Option<Pointer> = None;
        // The bank of `.const[2]`, from before PTX 2.2.
        if self.cursor.eat(b'[') {
            self.cursor.integer()?;
            self.cursor.eat(b']').then_some(())?;
        }
        while let Some(word) = self.cursor.dot_name() {
            match (word, &mut pointer) {
                ("align", None) => align = Some(self.cursor.integer()?),
                ("align", Some(pointer)) => pointer.alignment = Some(self.cursor.integer()?),
                ("attribute", _) => self.cursor.skip_parentheses().then_some(())?,
                ("ptr", _) => pointer = Some(Pointer { space: None, alignment: None }),
                ("v2", _) => vector = 2,
                ("v4", _) => vector = 4,
                ("v8", _) => vector = 8,
                (_, Some(pointer)) => pointer.space = Some(Space::from_name(word)?),
                (_, None) => scalar = Some(Scalar::from_name(word)?),
            }
        }
        Some(Head { linkage, space, align, ty: Type { scalar: scalar?, vector }, pointer })
    }

    fn variable(&mut self, head: &Head) -> Option<Variable> {
        let name = self.cursor.name()?;
        let count = self.count()?;
        let mut dimensions = Vec::new();
        while self.cursor.eat(b'[') {
            if self.cursor.eat(b']') {
                dimensions.push(None);
                continue;
            }
            dimensions.push(Some(self.cursor.integer()?));
            self.cursor.eat(b']').then_some(())?;
        }
        Some(Variable {
            linkage: head.linkage,
            space: head.space,
            align: head.align,
            ty: head.ty,
            pointer: head.pointer,
            name,
            count,
            dimensions,
            initializer: None,
        })
    }

    /// The `<n>` behind a name: nothing if it is odd, nothing inside if it is absent.
    fn count(&mut self) -> Option<Option<u32>> {
        if !self.cursor.eat(b'<') {
            return Some(None);
        }
        let count = u32::try_from(self.cursor.integer()?).ok()?;
        self.cursor.eat(b'>').then_some(Some(count))
    }

    /// Up to the `,` or `;` that stands outside all brackets.
    fn initializer(&mut self) -> Option<Range<usize>> {
        self.cursor.skip_trivia();
        let start = self.cursor.at;
        let mut end = start;
        let mut depth = 0usize;
        while !self.cursor.at_end() {
            match self.cursor.peek() {
                b',' | b';' if depth == 0 => return (end > start).then_some(start..end),
                b';' => return None,
                b'{' | b'(' => depth += 1,
                b'}' | b')' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            self.cursor.skip_token();
            end = self.cursor.at;
            self.cursor.skip_trivia();
        }
        None
    }

    // Functions

    fn header(&mut self, start: usize, kind: FunctionKind, linkage: Option<Linkage>) -> Option<()> {
        while let Some(word) = self.cursor.dot_name() {
            if word == "attribute" {
                self.cursor.skip_parentheses().then_some(())?;
            }
        }
        let results = self.parameters()?;
        let name = self.cursor.name()?;
        let parameters = self.parameters()?;
        let directives = self.header_directives()?;
        let has_body = self.cursor.peek() == b'{';
        // A declaration may do without its `;`, see `header_directives`.
        let end = self.cursor.at + usize::from(self.cursor.peek() == b';');
        self.cursor.at = end;
        let header = start..self.trim_end(start, end);
        let statement = self.pieces.statements.len();
        let function = Some(self.pieces.functions.len());
        if has_body {
            self.awaiting_body = function;
        }
        let (kind_of_statement, span) = (StatementKind::FunctionHeader, header.clone());
        self.pieces.statements.push(Statement { kind: kind_of_statement, span, scope: self.scope, function });
        let (body, scope) = (None, None);
        let function =
            Function { kind, linkage, name, results, parameters, directives, header, statement, body, scope };
        self.pieces.functions.push(function);
        Some(())
    }

    /// A list in parentheses, or nothing at all.
    fn parameters(&mut self) -> Option<Vec<Variable>> {
        let mut parameters = Vec::new();
        if !self.cursor.eat(b'(') || self.cursor.eat(b')') {
            return Some(parameters);
        }
        loop {
            let space = Space::from_name(self.cursor.dot_name()?)?;
            let head = self.head(None, space)?;
            parameters.push(self.variable(&head)?);
            if self.cursor.eat(b')') {
                return Some(parameters);
            }
            self.cursor.eat(b',').then_some(())?;
        }
    }

    /// The directives between the parameters and what ends the header, where the cursor stays: the body, the `;`, or, as ptxas
    /// asks for no `;` behind a declaration, what can only be the next statement of the module.
    fn header_directives(&mut self) -> Option<Vec<Range<usize>>> {
        let mut directives = Vec::new();
        self.cursor.skip_trivia();
        while self.cursor.peek() == b'.' {
            let start = self.cursor.at;
            let word = self.cursor.dot_name()?;
            if starts_statement_of_module(word) {
                self.cursor.at = start;
                return Some(directives);
            }
            let pragma = word == "pragma";
            let end = self.header_arguments()?;
            directives.push(start..end);
            if pragma && self.cursor.peek() == b';' {
                self.skip_semicolon_of_pragma();
            }
        }
        let ends = match self.cursor.peek() {
            b'{' | b';' => true,
            // `#line 3` and `@@DWARF`, or nothing more.
            b'#' | b'@' => true,
            _ => self.cursor.at_end() && directives.is_empty(),
        };
        ends.then_some(directives)
    }

    /// Up to the next directive, the body or the `;`; answers where the last argument ends.
    fn header_arguments(&mut self) -> Option<usize> {
        let mut end = self.cursor.at;
        loop {
            self.cursor.skip_trivia();
            match self.cursor.peek() {
                b'.' | b'{' | b';' => return Some(end),
                b'(' => self.cursor.skip_parentheses().then_some(())?,
                b'}' => return None,
                _ if self.cursor.at_end() => return None,
                _ => self.cursor.skip_token(),
            }
            end = self.cursor.at;
        }
    }

    /// `.entry k .pragma "nounroll"; {`: this `;` ends the pragma, the header goes on.
    fn skip_semicolon_of_pragma(&mut self) {
        let semicolon = self.cursor.at;
        self.cursor.at += 1;
        self.cursor.skip_trivia();
        let rest = &self.text[self.cursor.at..];
        if !["{", ".pragma", ".max", ".min", ".req"].iter().any(|next| rest.starts_with(next)) {
            self.cursor.at = semicolon;
        }
    }
}

/// Whether a directive with this name stands in a module and never in the header of a function.
fn starts_statement_of_module(word: &str) -> bool {
    let other = ["reg", "entry", "func", "file", "section", "alias", "version", "target", "address_size"];
    Linkage::from_name(word).is_some() || Space::from_name(word).is_some() || other.contains(&word)
}
