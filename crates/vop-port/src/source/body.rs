//! The statements of an `asm` template: what is computed, of which operands and registers.

use std::collections::HashMap;

use vop::{Mnemonic, Operand, Parser};
use vop_ptx::asm::{Access, AsmStatement, Class};

use crate::base::{Base, constant};

/// What a template computes, step by step.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// The names of the registers that the template declares, as variables are called.
    pub(crate) locals: Vec<Local>,
    pub(crate) steps: Vec<Step>,
}

/// A register that the template declares.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Predicate,
    Other,
}

/// A place for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// An operand of the `asm`, by its number.
    Operand(usize),
    /// A register of the template, by its number.
    Local(usize),
}

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Place(Place),
    Constant(u32),
}

/// A predicate, and whether it must not hold (`true`).
pub(crate) type Guard = (bool, Place);

/// One instruction.
#[derive(Debug)]
pub(crate) struct Step {
    /// The condition under which it is carried out.
    pub(crate) guard: Option<Guard>,
    pub(crate) to: Place,
    pub(crate) what: What,
    /// What its function is given.
    pub(crate) from: Vec<Source>,
}

#[derive(Debug)]
pub(crate) enum What {
    /// A video instruction. Its function has three parameters.
    Form(vop::Form),
    Base(Base),
}

impl Body {
    /// Reads a template, or says why it cannot be carried over.
    pub(crate) fn read(statement: &AsmStatement) -> Result<Body, String> {
        let text = without_comments(&statement.template);
        let mut reader = Reader { statement, body: Body::default(), names: HashMap::new() };
        for part in text.split([';', '\u{1}']) {
            reader.part(part.trim())?;
        }
        if reader.body.steps.is_empty() {
            return Err("it holds no instruction".into());
        }
        reader.is_written_before_read()?;
        Ok(reader.body)
    }
}

/// The length of a comment that a text begins with.
pub(crate) fn comment(text: &str) -> Option<usize> {
    match text.get(..2)? {
        "//" => Some(text.find('\n').unwrap_or(text.len())),
        "/*" => Some(text[2..].find("*/").map_or(text.len(), |end| end + 4)),
        _ => None,
    }
}

/// Comments as blanks, and the braces of blocks, which stand where a statement begins, as ends of statements.
fn without_comments(template: &str) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    let mut begins = true;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = comment(rest) {
            text.push(' ');
            rest = &rest[length..];
            continue;
        }
        if begins && matches!(c, '{' | '}') {
            text.push('\u{1}');
        } else {
            begins = c == ';' || begins && c.is_whitespace();
            text.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    text
}

struct Reader<'s> {
    statement: &'s AsmStatement,
    body: Body,
    names: HashMap<String, usize>,
}

fn shown(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.len() <= 60 { text } else { format!("{}…", text.chars().take(59).collect::<String>()) }
}

impl Reader<'_> {
    fn part(&mut self, part: &str) -> Result<(), String> {
        if part.is_empty() {
            return Ok(());
        }
        if let Some(declaration) = part.strip_prefix(".reg") {
            return self.declaration(declaration);
        }
        if part.starts_with('.') {
            return Err(format!("it has a directive, `{}`", shown(part)));
        }
        let (guard, instruction) = self.guard(part)?;
        let opcode = instruction.split(char::is_whitespace).next().unwrap_or_default();
        if opcode.ends_with(':') || instruction.contains(':') && !instruction.contains('"') {
            return Err(format!("it has a label, `{}`", shown(instruction)));
        }
        let first = opcode.split('.').next().unwrap_or_default();
        let step = match Mnemonic::from_name(first) {
            Some(_) => self.video(instruction)?,
            None => self.base(opcode, instruction[opcode.len()..].trim())?,
        };
        self.body.steps.push(Step { guard, ..step });
        Ok(())
    }

    /// `.u32 a, b<3>`, behind `.reg`.
    fn declaration(&mut self, text: &str) -> Result<(), String> {
        let text = text.trim();
        let (ty, names) = text.split_once(char::is_whitespace).ok_or(format!("it declares `.reg {text}`"))?;
        let kind = match ty {
            ".u32" | ".s32" | ".b32" => Kind::Word,
            ".pred" => Kind::Predicate,
            _ => Kind::Other,
        };
        for name in names.split(',').map(str::trim) {
            match name.split_once('<') {
                Some((stem, count)) => {
                    let count: usize = match count.trim_end_matches('>').trim().parse() {
                        Ok(count) if count <= 1024 => count,
                        _ => return Err(format!("it declares `{}`", shown(name))),
                    };
                    for number in 0..count {
                        self.declare(&format!("{stem}{number}"), kind)?;
                    }
                }
                None => self.declare(name, kind)?,
            }
        }
        Ok(())
    }

    fn declare(&mut self, name: &str, kind: Kind) -> Result<(), String> {
        let number = self.body.locals.len();
        if self.names.insert(name.to_string(), number).is_some() {
            return Err(format!("two blocks declare `{name}`"));
        }
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        self.body.locals.push(Local { name: plain.trim_start_matches('_').to_string(), kind });
        Ok(())
    }

    /// `@p`, `@!p`, and what follows.
    fn guard<'t>(&self, part: &'t str) -> Result<(Option<Guard>, &'t str), String> {
        let Some(guard) = part.strip_prefix('@') else { return Ok((None, part)) };
        let guard = guard.trim_start();
        let (negated, guard) = guard.strip_prefix('!').map_or((false, guard), |guard| (true, guard.trim_start()));
        let (name, rest) =
            guard.split_once(char::is_whitespace).ok_or(format!("it cannot be read at `{}`", shown(part)))?;
        let place = self.register(name)?;
        match place {
            Place::Local(number) if self.body.locals[number].kind == Kind::Predicate => {}
            _ => return Err(format!("the guard `{name}` is no predicate that the asm declares")),
        }
        Ok((Some((negated, place)), rest.trim_start()))
    }

    fn video(&self, instruction: &str) -> Result<Step, String> {
        let parsed = Parser::new().parse(instruction).map_err(|faults| match faults.first() {
            Some(fault) => format!("`{}` is illegal: {fault}", shown(instruction)),
            None => format!("`{}` is illegal", shown(instruction)),
        })?;
        let form = parsed.form;
        let source = |operand: Operand<'_>| match operand {
            Operand::Register(name) => self.word(name).map(Source::Place),
            Operand::Immediate { value, .. } => Ok(Source::Constant(value)),
            Operand::Sum { .. } => Err(format!("operand c of `{}` is a sum", shown(instruction))),
        };
        // What is not read need not be known.
        let read = |operand: Option<Operand<'_>>, is_read: bool| match operand {
            Some(operand) if is_read => source(operand),
            _ => Ok(Source::Constant(0)),
        };
        let from = vec![source(parsed.a)?, source(parsed.b)?, read(parsed.c, form.uses_c())?];
        Ok(Step { guard: None, to: self.word(parsed.d)?, what: What::Form(form), from })
    }

    fn base(&self, opcode: &str, operands: &str) -> Result<Step, String> {
        let text = format!("{opcode} {operands}");
        let unknown = || format!("`{}` has no plain equivalent here", shown(&text));
        if operands.contains(['{', '[', '|']) {
            return Err(unknown());
        }
        let mut operands = operands.split(',').map(str::trim);
        let to = operands.next().filter(|to| !to.is_empty()).ok_or_else(unknown)?;
        let mut from = Vec::new();
        for operand in operands {
            from.push(match constant(operand) {
                Some(value) => Source::Constant(value),
                None => Source::Place(self.known(operand)?),
            });
        }
        let constants: Vec<Option<u32>> = from
            .iter()
            .map(|source| match source {
                Source::Constant(value) => Some(*value),
                Source::Place(_) => None,
            })
            .collect();
        let base = Base::read(opcode, &constants).ok_or_else(unknown)?;
        let to = self.known(to)?;
        // Where predicates stand.
        let makes_predicate = opcode.starts_with("setp.") || opcode.ends_with(".pred");
        let is_predicate =
            |place: Place| matches!(place, Place::Local(n) if self.body.locals[n].kind == Kind::Predicate);
        if is_predicate(to) != makes_predicate {
            return Err(unknown());
        }
        for (i, source) in from.iter().enumerate() {
            let wants = opcode.ends_with(".pred") || opcode.starts_with("selp.") && i == 2;
            if matches!(source, Source::Place(place) if is_predicate(*place) != wants) {
                return Err(unknown());
            }
        }
        let from = base.parameters().map(|i| from[i]).collect();
        Ok(Step { guard: None, to, what: What::Base(base), from })
    }

    fn register(&self, name: &str) -> Result<Place, String> {
        if let Some(&number) = self.names.get(name) {
            return Ok(Place::Local(number));
        }
        let operands = &self.statement.operands;
        let number = name.strip_prefix('%').and_then(|name| match name.parse::<usize>() {
            Ok(number) => Some(number).filter(|&number| number < operands.len()),
            Err(_) => operands.iter().position(|operand| operand.name.as_deref() == Some(name)),
        });
        number
            .map(Place::Operand)
            .ok_or_else(|| format!("`{name}` is no operand and no register that the asm declares"))
    }

    /// A register of 32 bits or a predicate.
    fn known(&self, name: &str) -> Result<Place, String> {
        let place = self.register(name)?;
        match place {
            Place::Local(number) if self.body.locals[number].kind == Kind::Other => {
                Err(format!("register `{name}` has not 32 bits"))
            }
            Place::Operand(number) => match self.statement.operands[number].class {
                Class::Word | Class::Immediate => Ok(place),
                Class::Other(what) => Err(format!("operand `{name}` is {what}")),
                Class::Memory => Err(format!("operand `{name}` is in memory")),
                _ => Err(format!(
                    "the constraint of operand `{name}`, {}, is not known",
                    self.statement.operands[number].constraint
                )),
            },
            Place::Local(_) => Ok(place),
        }
    }

    /// A register of 32 bits.
    fn word(&self, name: &str) -> Result<Place, String> {
        match self.known(name)? {
            Place::Local(number) if self.body.locals[number].kind == Kind::Predicate => {
                Err(format!("`{name}` is a predicate"))
            }
            place => Ok(place),
        }
    }

    /// An error if an output or a register is read before it is written, or an input is written.
    fn is_written_before_read(&self) -> Result<(), String> {
        let mut written: Vec<Place> = Vec::new();
        let is_given = |place: Place| match place {
            Place::Operand(number) => self.statement.operands[number].access != Access::Out,
            Place::Local(_) => false,
        };
        for step in &self.body.steps {
            let guard = step.guard.map(|(_, place)| Source::Place(place));
            for source in step.from.iter().chain(&guard) {
                if let Source::Place(place) = *source
                    && !is_given(place)
                    && !written.contains(&place)
                {
                    return Err(match place {
                        Place::Operand(number) => {
                            format!("operand `%{number}` is read before it is written; write `\"+r\"`")
                        }
                        Place::Local(number) => {
                            format!("register `{}` is read before it is written", self.body.locals[number].name)
                        }
                    });
                }
            }
            if let Place::Operand(number) = step.to
                && self.statement.operands[number].access == Access::In
            {
                return Err(format!("operand `%{number}`, which is an input, is written"));
            }
            written.push(step.to);
        }
        Ok(())
    }
}
