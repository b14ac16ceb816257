//! The outline of a module: its functions with their parameters, registers, variables and labels.

use std::ops::Range;

use vop_ptx::module::{Function, FunctionKind, Linkage, Module, Scope, ScopeId, Variable};

/// An entry of the outline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its name; `%r<4>` for several registers.
    pub name: String,
    /// Its type or its linkage.
    pub detail: String,
    /// What it is.
    pub kind: Kind,
    /// All of it.
    pub span: Range<usize>,
    /// Its name.
    pub name_span: Range<usize>,
    /// What it holds.
    pub children: Vec<Symbol>,
}

/// What a [`Symbol`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A kernel or a function.
    Function,
    /// A register, a parameter or a variable.
    Variable,
    /// A variable that cannot be written.
    Constant,
    /// A label.
    Label,
}

/// The outline of a module.
pub fn symbols(module: &Module) -> Vec<Symbol> {
    let mut symbols = declared(module, module.scope(ScopeId::MODULE));
    symbols.extend(module.functions().iter().map(|function| of_function(module, function)));
    symbols.sort_by_key(|symbol| symbol.span.start);
    symbols
}

fn of_function(module: &Module, function: &Function) -> Symbol {
    let kind = match function.kind {
        FunctionKind::Entry => ".entry",
        FunctionKind::Func => ".func",
    };
    let linkage = function.linkage.map(Linkage::name);
    let detail = linkage.map_or_else(|| kind.to_owned(), |linkage| format!(".{linkage} {kind}"));
    let formals = function.results.iter().chain(&function.parameters);
    let mut children: Vec<Symbol> = formals.map(|formal| of_variable(module, formal)).collect();
    let body = function.scope.map(|scope| module.scope(scope).span.clone());
    let number = module.functions().iter().position(|other| other.name == function.name);
    for scope in module.scopes().iter().filter(|scope| number.is_some() && scope.function == number) {
        children.extend(declared(module, scope));
    }
    children.sort_by_key(|symbol| symbol.span.start);
    // A formal parameter may be a register of the body, too.
    children.dedup_by(|second, first| second.span == first.span);
    let end = body.map_or(function.header.end, |body| body.end.max(function.header.end));
    Symbol {
        name: named(module, &function.name),
        detail,
        kind: Kind::Function,
        span: function.header.start.min(function.name.start)..end.max(function.name.end),
        name_span: function.name.clone(),
        children,
    }
}

fn declared(module: &Module, scope: &Scope) -> Vec<Symbol> {
    let registers = scope.registers().iter().map(|register| {
        let count = register.count.map(|count| format!("<{count}>")).unwrap_or_default();
        let vector = if register.ty.vector > 1 { format!(".v{} ", register.ty.vector) } else { String::new() };
        leaf(
            format!("{}{count}", named(module, &register.name)),
            format!(".reg {vector}.{}", register.ty.scalar.name()),
            Kind::Variable,
            &register.name,
        )
    });
    let variables = scope.variables().iter().map(|variable| of_variable(module, variable));
    let labels =
        scope.labels().iter().map(|label| leaf(named(module, &label.name), String::new(), Kind::Label, &label.name));
    registers.chain(variables).chain(labels).collect()
}

fn of_variable(module: &Module, variable: &Variable) -> Symbol {
    let space = variable.space.name();
    let kind = if space == "const" { Kind::Constant } else { Kind::Variable };
    let detail = format!(".{space} .{}", variable.ty.scalar.name());
    leaf(named(module, &variable.name), detail, kind, &variable.name)
}

fn leaf(name: String, detail: String, kind: Kind, span: &Range<usize>) -> Symbol {
    Symbol { name, detail, kind, span: span.clone(), name_span: span.clone(), children: Vec::new() }
}

/// A name; clients refuse an empty one.
fn named(module: &Module, span: &Range<usize>) -> String {
    let name = module.slice(span);
    if name.is_empty() { "?".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outline() {
        let text = ".const .f32 pi;\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>;\n{ .shared .b8 s[4]; }\nL: ret;\n}\n\
                    .extern .func f;";
        let module = Module::parse(text);
        let symbols = symbols(&module);
        let names: Vec<(&str, &str)> = symbols.iter().map(|one| (one.name.as_str(), one.detail.as_str())).collect();
        assert_eq!(names, [("pi", ".const .f32"), ("k", ".visible .entry"), ("f", ".extern .func")]);
        let inner: Vec<(&str, Kind)> = symbols[1].children.iter().map(|one| (one.name.as_str(), one.kind)).collect();
        let (variable, label) = (Kind::Variable, Kind::Label);
        assert_eq!(inner, [("p", variable), ("%r<3>", variable), ("s", variable), ("L", label)]);
        assert!(text[symbols[1].span.clone()].starts_with(".visible") && text[symbols[1].span.clone()].ends_with('}'));
        for symbol in symbols.iter().chain(symbols.iter().flat_map(|one| &one.children)) {
            assert!(symbol.span.start <= symbol.name_span.start && symbol.name_span.end <= symbol.span.end);
        }
    }
}
