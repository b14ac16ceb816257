//! The names of a module: what each stands for, where it is declared and used, and how it is renamed.

use std::collections::HashMap;
use std::ops::Range;

use vop::Edit;
use vop_ptx::module::lex::{self, TokenKind};
use vop_ptx::module::{FunctionKind, Linkage, Module, ScopeId, Space, StatementKind, Variable};

use crate::reference;

/// What a name stands for: its declaration.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Symbol {
    /// Where its declaration spells it.
    declared: (usize, usize),
    /// Which of the registers that `%r<n>` declares.
    number: Option<u32>,
}

/// A name at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Occurrence {
    span: Range<usize>,
    /// None if it is declared nowhere.
    symbol: Option<Symbol>,
    declares: bool,
}

/// All names that are declared or used in statements, in order.
fn occurrences(module: &Module) -> Vec<Occurrence> {
    let mut found: HashMap<usize, Occurrence> = HashMap::new();
    let mut declare = |span: &Range<usize>, of: &Range<usize>| {
        let symbol = Some(Symbol { declared: (of.start, of.end), number: None });
        found.insert(span.start, Occurrence { span: span.clone(), symbol, declares: true });
    };
    for function in module.functions() {
        let of = module.function(module.slice(&function.name)).map_or(&function.name, |first| &first.name);
        declare(&function.name, of);
        for formal in function.results.iter().chain(&function.parameters) {
            declare(&formal.name, &formal.name);
        }
    }
    for scope in module.scopes() {
        scope.registers().iter().for_each(|register| declare(&register.name, &register.name));
        scope.variables().iter().for_each(|variable| declare(&variable.name, &variable.name));
        scope.labels().iter().for_each(|label| declare(&label.name, &label.name));
    }
    let mut uses: Vec<Occurrence> = Vec::new();
    for statement in module.statements() {
        let mut read = |part: &Range<usize>, labels_first: bool| {
            for span in words(module, part) {
                let symbol = resolve(module, statement.scope, &span, statement.span.start, labels_first);
                uses.push(Occurrence { span, symbol, declares: false });
            }
        };
        match &statement.kind {
            StatementKind::Instruction { guard, opcode, operands } => {
                guard.iter().for_each(|guard| read(guard, false));
                let branches = module.slice(opcode).starts_with("br");
                read(operands, branches);
            }
            StatementKind::Variables { declared } => {
                let variables = module.scope(statement.scope).variables().get(declared.clone()).unwrap_or_default();
                variables.iter().filter_map(|one| one.initializer.as_ref()).for_each(|initial| read(initial, false));
            }
            StatementKind::Directive { name, arguments }
                if matches!(module.slice(name), ".branchtargets" | ".calltargets") =>
            {
                read(arguments, true);
            }
            _ => {}
        }
    }
    uses.retain(|one| !found.contains_key(&one.span.start));
    let mut all: Vec<Occurrence> = found.into_values().chain(uses).collect();
    all.sort_by_key(|one| (one.span.start, one.span.end));
    all
}

/// The words of a part of a statement that may be names.
fn words<'m>(module: &'m Module, part: &Range<usize>) -> impl Iterator<Item = Range<usize>> + 'm {
    let start = part.start;
    let names = lex::tokens(module.slice(part)).filter(|token| token.kind == TokenKind::Name);
    names.map(move |token| start + token.range.start..start + token.range.end)
}

fn resolve(module: &Module, scope: ScopeId, span: &Range<usize>, at: usize, labels_first: bool) -> Option<Symbol> {
    let name = module.slice(span);
    let symbol = |declared: &Range<usize>, number| Symbol { declared: (declared.start, declared.end), number };
    let label = || {
        let StatementKind::Label { name } = &module.statements().get(module.label(scope, name)?)?.kind else {
            return None;
        };
        Some(symbol(name, None))
    };
    if let Some(found) = labels_first.then(label).flatten() {
        return Some(found);
    }
    if let Some(found) = module.find_register(scope, name, at) {
        let register = module.scope(found.scope).registers().get(found.index)?;
        return Some(symbol(&register.name, found.number));
    }
    if let Some(variable) = module.variable(scope, name, at) {
        return Some(symbol(&variable.name, None));
    }
    label().or_else(|| module.function(name).map(|function| symbol(&function.name, None)))
}

fn at(all: &[Occurrence], offset: usize) -> Option<&Occurrence> {
    // A cursor behind a name is at it, too.
    let here = |one: &&Occurrence| one.span.start <= offset && offset <= one.span.end;
    all.iter().filter(here).max_by_key(|one| one.span.start)
}

/// The name at a position, declared or not.
pub fn word_at(module: &Module, offset: usize) -> Option<Range<usize>> {
    let all = occurrences(module);
    at(&all, offset).map(|one| one.span.clone()).filter(|span| span.contains(&offset))
}

/// Where the name at a position is declared.
pub fn definition(module: &Module, offset: usize) -> Option<Range<usize>> {
    let all = occurrences(module);
    let symbol = at(&all, offset)?.symbol.as_ref()?;
    Some(symbol.declared.0..symbol.declared.1)
}

/// Where what the name at a position stands for is used, in order, with its declaration if that is asked for. At the declaration of several
/// registers, `%r<10>`, all of them are meant.
pub fn references(module: &Module, offset: usize, with_declaration: bool) -> Vec<Range<usize>> {
    let all = occurrences(module);
    let Some(symbol) = at(&all, offset).and_then(|one| one.symbol.as_ref()) else { return Vec::new() };
    let is_meant = |one: &&Occurrence| {
        let Some(other) = &one.symbol else { return false };
        let same = other == symbol || other.declared == symbol.declared && (symbol.number.is_none() || one.declares);
        same && (with_declaration || !one.declares)
    };
    all.iter().filter(is_meant).map(|one| one.span.clone()).collect()
}

/// The declaration of a name in words, in Markdown.
pub fn described(module: &Module, word: &Range<usize>) -> Option<String> {
    let all = occurrences(module);
    let symbol = at(&all, word.start)?.symbol.clone()?;
    let (start, end) = symbol.declared;
    let name = module.slice(&(start..end));
    let line = module.line_col(start).0;
    for scope in module.scopes() {
        if let Some(register) = scope.registers().iter().find(|one| one.name.start == start) {
            let vector = if register.ty.vector > 1 { format!(".v{} ", register.ty.vector) } else { String::new() };
            let ty = register.ty.scalar.name();
            let of = match (register.count, symbol.number) {
                (Some(count), Some(number)) => {
                    format!("`{name}{number}`: register {vector}.{ty}, one of `{name}<{count}>`")
                }
                (Some(count), None) => format!("`{name}<{count}>`: {count} registers {vector}.{ty}"),
                (None, _) => format!("`{name}`: register {vector}.{ty}"),
            };
            return Some(format!("{of}, declared in line {line}"));
        }
        if let Some(variable) = scope.variables().iter().find(|one| one.name.start == start) {
            return Some(format!("`{name}`: {}, declared in line {line}", variable_words(variable)));
        }
        if scope.labels().iter().any(|label| label.name.start == start) {
            return Some(format!("`{name}`: label in line {line}"));
        }
    }
    for function in module.functions() {
        if function.name.start == start {
            let kind = match function.kind {
                FunctionKind::Entry => "kernel",
                FunctionKind::Func => "function",
            };
            return Some(format!("`{name}`: {kind}, in line {line}"));
        }
        let formals = || function.results.iter().chain(&function.parameters);
        if let Some(formal) = formals().find(|one| one.name.start == start) {
            let of = module.slice(&function.name);
            return Some(format!("`{name}`: {} of `{of}`, declared in line {line}", variable_words(formal)));
        }
    }
    None
}

fn variable_words(variable: &Variable) -> String {
    let space = match variable.space {
        Space::Param => "parameter".to_owned(),
        space => format!("variable in .{}", space.name()),
    };
    let vector = if variable.ty.vector > 1 { format!(".v{} ", variable.ty.vector) } else { String::new() };
    let bytes = variable.bytes().map(|bytes| format!(" ({bytes} bytes)")).unwrap_or_default();
    format!("{space}, {vector}.{}{bytes}", variable.ty.scalar.name())
}

/// What a rename would change at a position: the name that is there.
///
/// # Errors
/// Why it cannot be renamed, in a sentence.
pub fn renamable(module: &Module, offset: usize) -> Result<Range<usize>, String> {
    let all = occurrences(module);
    let one = at(&all, offset).ok_or("Here is no name of a register, a label, a variable or a function.")?;
    let name = module.slice(&one.span);
    let Some(symbol) = &one.symbol else {
        return Err(match reference::register(name) {
            Some(_) => format!("`{name}` is a special register."),
            None => format!("`{name}` is not declared in this module."),
        });
    };
    let declared = symbol.declared.0..symbol.declared.1;
    if symbol.number.is_some() {
        let family = module.slice(&declared);
        let line = module.line_col(declared.start).0;
        return Err(format!(
            "`{name}` is one of the registers that `{family}<…>` declares in line {line}; rename `{family}` there, and all of them are renamed."
        ));
    }
    let linkage = linkage(module, declared.start);
    if let Some(linkage) = linkage {
        return Err(format!("`{name}` is .{}: other modules and the host know it by this name.", linkage.name()));
    }
    let in_debug = module.statements().iter().any(|statement| {
        let part = match &statement.kind {
            StatementKind::Section { contents, .. } => contents,
            StatementKind::Other => &statement.span,
            _ => return false,
        };
        words(module, part).any(|word| module.slice(&word) == name)
    });
    if in_debug {
        return Err(format!("`{name}` is also named in debug information, or in text that is not understood."));
    }
    Ok(one.span.clone())
}

/// How other modules see what is declared at a place, if they do. An entry is seen by the host.
fn linkage(module: &Module, declared: usize) -> Option<Linkage> {
    let function = module.functions().iter().find(|function| function.name.start == declared);
    let variables = module.scope(ScopeId::MODULE).variables();
    let variable = variables.iter().find(|variable| variable.name.start == declared);
    let of_function = function.and_then(|function| match function.kind {
        FunctionKind::Entry => Some(function.linkage.unwrap_or(Linkage::Visible)),
        FunctionKind::Func => function.linkage,
    });
    of_function.or_else(|| variable.and_then(|variable| variable.linkage))
}

/// The edits that give what is named at a position another name.
///
/// # Errors
/// Why that cannot be done, in a sentence.
pub fn rename(module: &Module, offset: usize, new_name: &str) -> Result<Vec<Edit>, String> {
    let here = renamable(module, offset)?;
    check_name(new_name)?;
    let all = occurrences(module);
    let symbol = at(&all, here.start).and_then(|one| one.symbol.clone()).ok_or("The name is not known.")?;
    let is_meant = |one: &&Occurrence| one.symbol.as_ref().is_some_and(|other| other.declared == symbol.declared);
    let edits: Vec<Edit> = all
        .iter()
        .filter(is_meant)
        .map(|one| {
            let number = one.symbol.as_ref().and_then(|symbol| symbol.number);
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            Edit::new(one.span.clone(), format!("{new_name}{number}"))
        })
        .collect();
    // Every name must stand for what it stood for.
    let after = Module::parse(vop::patched(module.text(), &edits));
    if links(&occurrences(&after)) != links(&all) {
        let old = module.slice(&here);
        return Err(format!(
            "`{new_name}` is a name in this module already: names would mean something else if `{old}` had it."
        ));
    }
    Ok(edits)
}

/// For each name in order, the place in this order of its declaration.
fn links(all: &[Occurrence]) -> Vec<Option<(usize, Option<u32>)>> {
    let places: HashMap<usize, usize> = all.iter().enumerate().map(|(i, one)| (one.span.start, i)).collect();
    let link = |symbol: &Symbol| Some((*places.get(&symbol.declared.0)?, symbol.number));
    all.iter().map(|one| one.symbol.as_ref().and_then(link)).collect()
}

/// Whether PTX takes a name: a letter, or one of `_$%` and something behind it; then letters, digits, `_` and `$`.
fn check_name(name: &str) -> Result<(), String> {
    let mut chars = name.chars();
    let follows = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
    let first = chars.next();
    let rest = chars.as_str();
    let is_legal = match first {
        Some(first) if first.is_ascii_alphabetic() => true,
        Some('_' | '$' | '%') => !rest.is_empty(),
        _ => false,
    };
    if !is_legal || !rest.chars().all(follows) {
        return Err(format!(
            "`{name}` is no name: one begins with a letter, or with `_`, `$` or `%` and more; letters, digits, `_` and `$` follow."
        ));
    }
    if reference::register(name).is_some() || name == "WARP_SZ" {
        return Err(format!("`{name}` is a name of PTX itself."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.version 8.0
.target sm_90
.global .u32 table[2] = {1, 2};
.global .u64 where = table;
.func (.reg .b32 out) helper(.reg .b32 in) { add.u32 out, in, 1; ret; }
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<4>;
    .reg .b32 x;
    .reg .pred q;
    ld.param.u32 %r1, [p];
    mov.u32 x, %tid.y;
L:
    {
        .reg .b32 x;
        mov.b32 x, %r1;
        @!q bra L;
    }
    add.u32 x, x, %r3;
    call (x), helper, (x);
    ret;
}
";

    fn place(needle: &str, nth: usize) -> usize {
        TEXT.match_indices(needle).nth(nth).expect("it is there").0
    }

    fn module() -> Module {
        Module::parse(TEXT)
    }

    #[test]
    fn definitions() {
        let module = module();
        let of = |offset| definition(&module, offset).map(|span| span.start);
        assert_eq!(of(place("%r1", 0)), Some(place("%r<", 0)));
        assert_eq!(of(place("x, %tid", 0)), Some(place("x;", 0)));
        assert_eq!(of(place("x, %r1", 0)), Some(place("x;", 1)));
        assert_eq!(of(place("x, x", 0)), Some(place("x;", 0)));
        assert_eq!(of(place("L;", 0)), Some(place("L:", 0)));
        assert_eq!(of(place("p]", 0)), Some(place("p)", 0)));
        assert_eq!(of(place("helper,", 0)), Some(place("helper(", 0)));
        assert_eq!(of(place("table;", 0)), Some(place("table[", 0)));
        assert_eq!(of(place("q bra", 0)), Some(place("q;", 0)));
        assert_eq!(of(place("%tid", 0)), None);
        assert_eq!(of(place("add", 0)), None);
    }

    #[test]
    fn all_references() {
        let module = module();
        let count = |offset, with| references(&module, offset, with).len();
        // The outer x: its declaration, mov, twice in add, twice in call.
        assert_eq!(count(place("x;", 0), true), 6);
        assert_eq!(count(place("x;", 0), false), 5);
        assert_eq!(count(place("x;", 1), true), 2);
        assert_eq!(count(place("%r1", 0), true), 3);
        assert_eq!(count(place("%r1", 0), false), 2);
        // All of `%r<4>`.
        assert_eq!(count(place("%r<", 0), false), 3);
        assert_eq!(count(place("%tid", 0), true), 0);
        assert_eq!(count(place("out,", 0), true), 2);
    }

    fn renamed(offset: usize, name: &str) -> Result<String, String> {
        rename(&module(), offset, name).map(|edits| vop::patched(TEXT, &edits))
    }

    #[test]
    fn renames() {
        let text = renamed(place("x, %r1", 0), "inner").expect("it can be renamed");
        assert!(text.contains(".reg .b32 inner;\n        mov.b32 inner, %r1;") && text.contains("add.u32 x, x, %r3;"));
        let text = renamed(place("%r<", 0), "%v").expect("all of them");
        assert!(
            text.contains("%v<4>")
                && text.contains("[p]")
                && text.contains("add.u32 x, x, %v3")
                && !text.contains("%r")
        );
        let text = renamed(place("L;", 0), "$loop").expect("a label");
        assert!(text.contains("$loop:\n") && text.contains("bra $loop;"));
        assert!(renamed(place("helper,", 0), "help").expect("a function").contains("call (x), help, (x);"));
        // `p` is declared by nothing else in the kernel.
        assert!(renamed(place("p]", 0), "param_0").is_ok());
    }

    #[test]
    fn refused() {
        let why = |offset, name| renamed(offset, name).expect_err("it cannot be renamed");
        assert!(why(place("%r1", 0), "%v1").contains("one of the registers that `%r<…>` declares in line 8"));
        assert!(why(place("k(", 0), "kernel").contains(".visible"));
        assert!(why(place("%tid", 0), "a").contains("special register"));
        assert!(why(place("x;", 0), "%tid").contains("PTX itself"));
        for name in ["", "1a", "%", "a b", "a.b", "é"] {
            assert!(why(place("x;", 0), name).contains("is no name"), "{name}");
        }
        // Taken in its scope; captured by a scope inside; one of a family.
        for name in ["q", "%r2", "%r1"] {
            assert!(why(place("x;", 0), name).contains("already"), "{name}");
        }
        assert!(why(place("q;", 0), "x").contains("already"));
        // The inner x would hide the predicate that its scope uses.
        assert!(why(place("x;", 1), "q").contains("already"));
        assert!(renamed(place("x;", 1), "p").is_ok());
    }
}
