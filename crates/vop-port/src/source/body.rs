//! The statements of an `asm` template: what is computed, of which operands and registers.

use std::collections::HashMap;

use vop::{Mnemonic, Operand, Parser, Patch};
use vop_ptx::asm::{Access, AsmOperand, AsmStatement, Class};

use super::long::{self, Long};
use crate::base::{Base, constant};

/// What a template computes, step by step.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// The names of the registers that the template declares, as variables are called.
    pub(crate) locals: Vec<Local>,
    pub(crate) steps: Vec<Step>,
    /// The number of instructions, of which one may be several steps.
    pub(crate) instructions: usize,
}

/// A register that the template declares.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// What a register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 32 bits.
    Word,
    /// 64 bits.
    Long,
    /// 16 bits. As a variable it is a word whose upper half is 0.
    Half,
    Predicate,
    Other,
}

impl Kind {
    /// The kind of an operand of an `asm`.
    pub(crate) fn of(operand: &AsmOperand) -> Kind {
        match (operand.class, operand.constraint.trim_matches(['"', '=', '+', '&', '%'])) {
            (Class::Word | Class::Immediate, _) => Kind::Word,
            (Class::Other(_), "l") => Kind::Long,
            (Class::Other(_), "h") => Kind::Half,
            _ => Kind::Other,
        }
    }
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
    /// A constant of 64 bits.
    Long(u64),
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
    /// An expression of C; see [`Long`].
    Expression(String),
}

impl Body {
    /// Reads a template, or says why it cannot be carried over. Registers of other widths than 32 bits are read if `has_widths`.
    pub(crate) fn read(statement: &AsmStatement, has_widths: bool) -> Result<Body, String> {
        let text = without_comments(&statement.template);
        let mut reader = Reader { statement, has_widths, body: Body::default(), names: HashMap::new() };
        for part in text.split([';', '\u{1}']) {
            reader.part(part.trim())?;
        }
        if reader.body.steps.is_empty() {
            return Err("it holds no instruction".into());
        }
        reader.is_written_before_read()?;
        // The place of an output has 16 bits itself.
        let is_cut = |step: &Step| {
            let is_of_itself = matches!(step.to, Place::Operand(_)) && step.from == [Source::Place(step.to)];
            is_of_itself && matches!(&step.what, What::Expression(text) if text == CUT)
        };
        while reader.body.steps.last().is_some_and(is_cut) {
            reader.body.steps.pop();
        }
        Ok(reader.body)
    }
}

/// The lower half of a word.
const CUT: &str = "{0} & 0xffffu";

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
    has_widths: bool,
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
        let steps = match Mnemonic::from_name(first) {
            Some(_) => vec![self.video(instruction)?],
            None => self.base(opcode, instruction[opcode.len()..].trim())?,
        };
        self.body.instructions += 1;
        self.body.steps.extend(steps.into_iter().map(|step| Step { guard, ..step }));
        Ok(())
    }

    /// `.u32 a, b<3>`, behind `.reg`.
    fn declaration(&mut self, text: &str) -> Result<(), String> {
        let text = text.trim();
        let (ty, names) = text.split_once(char::is_whitespace).ok_or(format!("it declares `.reg {text}`"))?;
        let kind = match ty {
            ".u32" | ".s32" | ".b32" => Kind::Word,
            ".pred" => Kind::Predicate,
            ".u64" | ".s64" | ".b64" if self.has_widths => Kind::Long,
            ".u16" | ".s16" | ".b16" if self.has_widths => Kind::Half,
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
        // `%%x` and `%[x]` are the same word in the template.
        let operands = &self.statement.operands;
        let is_operand = |bare: &str| {
            operands.iter().any(|operand| operand.name.as_deref() == Some(bare))
                || bare.parse::<usize>().is_ok_and(|number| number < operands.len())
        };
        if name.strip_prefix('%').is_some_and(is_operand) {
            return Err(format!("register `{name}` has the name of an operand"));
        }
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

    fn base(&self, opcode: &str, operands: &str) -> Result<Vec<Step>, String> {
        let text = format!("{opcode} {operands}");
        let unknown = || {
            let faults = Parser::new().parse(&text).err().unwrap_or_default();
            match faults.into_iter().next() {
                // A name that is nearly that of a video instruction, as `vop check` says.
                Some(fault) if opcode.starts_with('v') && matches!(fault.patch, Patch::Edits(_)) => {
                    format!("`{}` is illegal: {fault}", shown(&text))
                }
                _ => format!("`{}` has no plain equivalent here", shown(&text)),
            }
        };
        if operands.contains(['[', '|']) {
            return Err(unknown());
        }
        if operands.contains('{') {
            return if self.has_widths { self.of_parts(opcode, operands).ok_or_else(unknown)? } else { Err(unknown()) };
        }
        let mut operands = operands.split(',').map(str::trim);
        let to = operands.next().filter(|to| !to.is_empty()).ok_or_else(unknown)?;
        let from: Vec<&str> = operands.collect();
        let amount = from.get(1).and_then(|text| constant(text));
        if let Some(long) = long::read(opcode, amount).filter(|_| self.has_widths) {
            return Ok(vec![self.expression(long, to, &from)?.ok_or_else(unknown)?]);
        }
        let mut sources = Vec::new();
        for operand in &from {
            sources.push(match constant(operand) {
                Some(value) => Source::Constant(value as u32),
                None => Source::Place(self.known(operand)?),
            });
        }
        let constants: Vec<Option<u32>> = sources
            .iter()
            .map(|source| match source {
                Source::Constant(value) => Some(*value),
                _ => None,
            })
            .collect();
        let base = Base::read(opcode, &constants).ok_or_else(unknown)?;
        let to = self.known(to)?;
        let (result, operands) = kinds(opcode, sources.len());
        // `cvt` takes registers that are wider than its types.
        let is_cvt = opcode.starts_with("cvt.");
        let fits = |kind: Kind, wanted: Kind| kind == wanted || is_cvt && kind == Kind::Word && wanted == Kind::Half;
        if !fits(self.kind(to), result) {
            return Err(unknown());
        }
        for (source, &wanted) in sources.iter_mut().zip(&operands) {
            match source {
                Source::Place(place) if !fits(self.kind(*place), wanted) => return Err(unknown()),
                // As a variable of 16 bits has it.
                Source::Constant(value) if wanted == Kind::Half => *value &= 0xffff,
                _ => {}
            }
        }
        let from = base.parameters().map(|i| sources[i]).collect();
        let what = What::Base(base);
        let step = Step { guard: None, to, what, from };
        // A number with sign, of which a register of 16 bits has the lower half.
        let is_signed = opcode.split('.').rev().nth(1).is_some_and(|ty| ty.starts_with('s'));
        let what = What::Expression(CUT.into());
        let cut = Step { guard: None, to, what, from: vec![Source::Place(to)] };
        let is_cut = is_cvt && is_signed && self.kind(to) == Kind::Half;
        Ok([step].into_iter().chain(is_cut.then_some(cut)).collect())
    }

    /// An instruction that is an expression of C; `None` if its registers are of other kinds.
    fn expression(&self, long: Long, to: &str, from: &[&str]) -> Result<Option<Step>, String> {
        let to = self.known(to)?;
        if self.kind(to) != long.to || from.len() != long.from.len() {
            return Ok(None);
        }
        let mut sources = Vec::new();
        for (operand, &kind) in from.iter().zip(&long.from) {
            sources.push(match (constant(operand), kind) {
                (Some(value), Kind::Long) => Source::Long(value),
                (Some(value), Kind::Word) => Source::Constant(value as u32),
                (Some(value), Kind::Half) => Source::Constant(value as u32 & 0xffff),
                (Some(_), _) => return Ok(None),
                (None, _) => Source::Place(self.known(operand)?),
            });
        }
        let is_wrong =
            |(source, kind): (&Source, &Kind)| matches!(source, Source::Place(of) if self.kind(*of) != *kind);
        if sources.iter().zip(&long.from).any(is_wrong) {
            return Ok(None);
        }
        Ok(Some(Step { guard: None, to, what: What::Expression(long.expression), from: sources }))
    }

    /// `mov.b64 {a, b}, d` and `mov.b64 d, {a, b}`.
    fn of_parts(&self, opcode: &str, operands: &str) -> Option<Result<Vec<Step>, String>> {
        let list = |text: &str| -> Option<Vec<String>> {
            let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
            Some(inner.split(',').map(|name| name.trim().to_string()).collect())
        };
        let steps = |long: Option<Long>, to: &str, from: &[&str]| self.expression(long?, to, from).transpose();
        if let Some((to, from)) = operands.split_once(',').filter(|(to, _)| !to.contains('{')) {
            let from = list(from)?;
            let from: Vec<&str> = from.iter().map(String::as_str).collect();
            return Some(steps(long::joined(opcode, from.len()), to.trim(), &from)?.map(|step| vec![step]));
        }
        let (to, from) = operands.rsplit_once(',')?;
        let (to, from) = (list(to)?, from.trim());
        // A part that is the register itself would change it before the others are taken.
        if to.iter().any(|to| to == from) {
            return None;
        }
        let mut all = Vec::new();
        for (number, one) in to.iter().enumerate().filter(|(_, to)| *to != "_") {
            all.push(steps(long::part(opcode, to.len(), number), one, &[from])?);
        }
        Some(all.into_iter().collect())
    }

    fn kind(&self, place: Place) -> Kind {
        match place {
            Place::Local(number) => self.body.locals[number].kind,
            Place::Operand(number) => Kind::of(&self.statement.operands[number]),
        }
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

    /// A register whose kind is known.
    fn known(&self, name: &str) -> Result<Place, String> {
        let place = self.register(name)?;
        match place {
            Place::Local(number) if self.body.locals[number].kind == Kind::Other => Err(match self.has_widths {
                true => format!("register `{name}` holds neither integers nor a predicate"),
                false => format!("register `{name}` is not of integers of 32 bits"),
            }),
            Place::Operand(number) => match self.statement.operands[number].class {
                Class::Word | Class::Immediate => Ok(place),
                Class::Other(_) if self.has_widths && Kind::of(&self.statement.operands[number]) != Kind::Other => {
                    Ok(place)
                }
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
        let place = self.known(name)?;
        match (self.kind(place), place) {
            (Kind::Word, place) => Ok(place),
            (Kind::Predicate, _) => Err(format!("`{name}` is a predicate")),
            (_, Place::Operand(number)) => match self.statement.operands[number].class {
                Class::Other(what) => Err(format!("operand `{name}` is {what}")),
                _ => Err(format!("operand `{name}` has not 32 bits")),
            },
            (_, Place::Local(_)) => Err(format!("register `{name}` has not 32 bits")),
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
            // An operand c that nothing depends on need not be written: the function gets 0.
            let is_read = |number: usize| !matches!(step.what, What::Form(form) if number == 2 && !form.reads_c());
            let sources = step.from.iter().enumerate().filter(|(number, _)| is_read(*number)).map(|(_, source)| source);
            for source in sources.chain(&guard) {
                if let Source::Place(place) = *source
                    && !is_given(place)
                    && !written.contains(&place)
                {
                    return Err(match place {
                        Place::Operand(number) => {
                            let name = &self.statement.operands[number].name;
                            let name = name.clone().unwrap_or_else(|| number.to_string());
                            // Rust and LLVM IR write other constraints.
                            let help = if self.has_widths { "; write `\"+r\"`" } else { "" };
                            format!("operand `%{name}` is read before it is written{help}")
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

/// The kinds of the result and of the operands of a base instruction that has a function.
fn kinds(opcode: &str, count: usize) -> (Kind, Vec<Kind>) {
    let parts: Vec<&str> = opcode.split('.').collect();
    let kind = |ty: &str| match ty {
        "pred" => Kind::Predicate,
        "u16" | "s16" | "b16" => Kind::Half,
        _ => Kind::Word,
    };
    let ty = kind(parts.last().copied().unwrap_or_default());
    let mut from = vec![ty; count];
    let to = match parts[0] {
        "setp" => Kind::Predicate,
        "selp" => {
            from[2..].fill(Kind::Predicate);
            ty
        }
        "shl" | "shr" => {
            from[1..].fill(Kind::Word);
            ty
        }
        "mul" | "mad" if parts.contains(&"wide") => {
            from.iter_mut().skip(2).for_each(|kind| *kind = Kind::Word);
            Kind::Word
        }
        "cvt" if parts.get(1) != Some(&"pack") => kind(parts[parts.len() - 2]),
        _ => ty,
    };
    (to, from)
}
