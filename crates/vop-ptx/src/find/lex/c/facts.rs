//! What the names in an `asm`'s operands mean: constants, the types of variables, and the arguments of templates.
//!
//! This reads declarations as far as they have one meaning; everything else is unknown, and nothing is said about it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::macros::Macros;
use super::token::{Kind, Lexer, Token};
use crate::find::operand::{Lexeme, LexemeKind, Scalar};

/// The declarations of a file that are kept.
const MOST_NAMES: usize = 1 << 20;
/// The tokens of an initialiser or a template argument.
const LONGEST: usize = 32;
/// The uses of a template that are looked at.
const MOST_USES: usize = 64;
/// The bytes that are searched for uses of templates.
const SEARCHED: usize = 1 << 27;
/// The depth of constants that are defined by each other.
const DEEPEST: usize = 16;

/// What a name is declared as.
#[derive(Debug, Clone)]
enum Meaning {
    /// A variable; its type with the number of `*` and `[]`.
    Variable(Option<Scalar>, usize),
    /// A constant with its initialiser.
    Constant(Vec<Lexeme>, Option<Scalar>),
    /// An enumerator: the one before it with a known value, and its distance from it.
    Enumerator(Vec<Lexeme>, i128),
}

#[derive(Debug, Clone)]
struct Declaration {
    at: usize,
    /// The bytes of the file in which the name means this.
    scope: Range<usize>,
    meaning: Meaning,
}

#[derive(Debug, Clone)]
struct Template {
    entity: Vec<u8>,
    /// The names of its parameters and their defaults; a type has no name here.
    parameters: Vec<(Vec<u8>, Vec<Lexeme>)>,
    body: Range<usize>,
}

/// The names of a file.
pub(in crate::find) struct Facts<'a> {
    source: &'a [u8],
    macros: Macros<'a>,
    names: HashMap<Vec<u8>, Vec<Declaration>, RandomState>,
    templates: Vec<Template>,
    /// The uses of templates that have been looked for, by where the template's body begins.
    searched: RefCell<Vec<(usize, Vec<Arguments>)>>,
    /// The bytes that may still be searched for uses.
    budget: Cell<usize>,
}

/// The values that the parameters of a template have in one of its uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::find) struct Arguments {
    values: Vec<(Vec<u8>, i128)>,
    /// The use, in bytes of the file.
    pub(in crate::find) place: Range<usize>,
}

impl<'a> Facts<'a> {
    pub(in crate::find) fn read(source: &'a [u8]) -> Self {
        let mut pass = Pass {
            source,
            names: HashMap::default(),
            count: 0,
            templates: Vec::new(),
            blocks: vec![Block::default()],
            history: Vec::new(),
            specifiers: Specifiers::default(),
            initialiser: false,
            angles: 0,
            header: None,
        };
        let mut lexer = Lexer::new(source);
        while let Some(token) = lexer.next() {
            pass.token(&token, &mut lexer);
        }
        pass.close_all(source.len());
        pass.names.values_mut().for_each(|all| all.sort_by_key(|one| one.at));
        Facts {
            source,
            macros: Macros::of(source),
            names: pass.names,
            templates: pass.templates,
            searched: RefCell::default(),
            budget: Cell::new(SEARCHED.max(source.len())),
        }
    }

    /// The declaration of a name that counts at a place.
    fn declaration(&self, name: &[u8], at: usize) -> Option<&Declaration> {
        let all = self.names.get(name)?;
        let before = all.partition_point(|one| one.at <= at);
        // A declaration stands in its scope, and scopes around one place hold each other: the last one is the innermost.
        all[..before].iter().rev().find(|one| one.scope.contains(&at))
    }

    /// The value of an integral constant expression.
    pub(in crate::find) fn value(&self, expression: &[Lexeme], arguments: Option<&Arguments>) -> Option<i128> {
        self.evaluate(expression, arguments, 0)
    }

    fn evaluate(&self, expression: &[Lexeme], arguments: Option<&Arguments>, depth: usize) -> Option<i128> {
        if depth > DEEPEST || expression.is_empty() || expression.len() > 2 * LONGEST {
            return None;
        }
        let mut reader = Evaluator { facts: self, tokens: expression, at: 0, arguments, depth };
        let value = reader.conditional()?;
        (reader.at == expression.len()).then_some(value)
    }

    fn name(&self, name: &Lexeme, qualified: bool, arguments: Option<&Arguments>, depth: usize) -> Option<i128> {
        match name.text.as_slice() {
            b"true" => return Some(1),
            b"false" => return Some(0),
            _ => {}
        }
        let template = self.template_of(&name.text, name.at);
        let declared = self.declaration(&name.text, name.at);
        let parameter = template.filter(|template| declared.is_none_or(|one| one.scope.start < template.body.start));
        if let (Some(_), false) = (parameter, qualified) {
            return arguments?.values.iter().find(|(of, _)| *of == name.text).map(|&(_, value)| value);
        }
        let declared = match (declared, qualified) {
            (Some(one), false) => one,
            // `Kind::Name`: if there is one in the file.
            _ => match self.names.get(&name.text).map(Vec::as_slice) {
                Some([one]) if qualified || matches!(one.meaning, Meaning::Enumerator(..)) => one,
                Some(_) => return None,
                None => {
                    let body = self.macros.constant(&name.text)?;
                    let body: Vec<Lexeme> = body.iter().map(|token| lexeme(self.source, token, name.at)).collect();
                    return self.evaluate(&body, arguments, depth + 1);
                }
            },
        };
        match &declared.meaning {
            Meaning::Constant(expression, scalar) => {
                let value = self.evaluate(expression, arguments, depth + 1)?;
                // A value that its type does not hold is another number.
                let bits = match scalar {
                    Some(Scalar::Integer(size)) => u32::from(*size) * 8,
                    Some(Scalar::Float(_)) => return None,
                    None => 32,
                };
                (value.unsigned_abs() < 1 << (bits - 1)).then_some(value)
            }
            Meaning::Enumerator(expression, more) => {
                let first = if expression.is_empty() { 0 } else { self.evaluate(expression, arguments, depth + 1)? };
                Some(first + more)
            }
            Meaning::Variable(..) => None,
        }
    }

    /// The innermost template around a place that has a parameter of this name.
    fn template_of(&self, parameter: &[u8], at: usize) -> Option<&Template> {
        let around = self.templates.iter().filter(|template| template.body.contains(&at));
        let with = around.filter(|template| template.parameters.iter().any(|(name, _)| name == parameter));
        with.max_by_key(|template| template.body.start)
    }

    /// The uses of the template whose parameters an expression names, with the values that its parameters have there; `None`
    /// if it names none. What is not known of a use has no value.
    pub(in crate::find) fn uses(&self, expression: &[Lexeme]) -> Option<Vec<Arguments>> {
        self.uses_within(expression, 0)
    }

    fn uses_within(&self, expression: &[Lexeme], depth: usize) -> Option<Vec<Arguments>> {
        let words = expression.iter().filter(|lexeme| lexeme.kind == LexemeKind::Word);
        let template = words.filter_map(|word| self.template_of(&word.text, word.at)).max_by_key(|of| of.body.start)?;
        // Functions of one name may have different parameters.
        let is_one = self.templates.iter().filter(|other| other.entity == template.entity).count() == 1;
        if !is_one {
            return Some(Vec::new());
        }
        if let Some((_, uses)) = self.searched.borrow().iter().find(|(body, _)| *body == template.body.start) {
            return Some(uses.clone());
        }
        let left = self.budget.get().checked_sub(self.source.len());
        self.budget.set(left.unwrap_or(0));
        if left.is_none() {
            return Some(Vec::new());
        }
        let mut uses: Vec<Arguments> = Vec::new();
        let mut lexer = Lexer::new(self.source);
        while let Some(token) = lexer.next() {
            if !token.is_word(self.source, &template.entity) || template.body.contains(&token.at.start) {
                continue;
            }
            let mut ahead = lexer.clone();
            if !ahead.next().is_some_and(|sign| sign.is(b'<')) {
                continue;
            }
            let Some((given, end)) = template_arguments(&mut ahead, self.source) else { continue };
            let given: Vec<&[Lexeme]> = template
                .parameters
                .iter()
                .enumerate()
                .map(|(i, (_, default))| given.get(i).unwrap_or(default).as_slice())
                .collect();
            // A use in another template has the values that the other's uses have.
            let around = given.iter().filter(|given| self.evaluate(given, None, 1).is_none());
            let around = around.filter_map(|given| (depth < 4).then(|| self.uses_within(given, depth + 1))?).next();
            let around = around.filter(|around| !around.is_empty());
            let environments = around.map_or_else(|| vec![None], |around| around.into_iter().map(Some).collect());
            for outer in environments {
                let place = outer.as_ref().map_or(token.at.start..end, |outer: &Arguments| outer.place.clone());
                let mut arguments = Arguments { values: Vec::new(), place };
                for ((name, _), given) in template.parameters.iter().zip(&given) {
                    if let Some(value) = self.evaluate(given, outer.as_ref(), 1).filter(|_| !name.is_empty()) {
                        arguments.values.push((name.clone(), value));
                    }
                }
                if uses.iter().all(|other| other.values != arguments.values) {
                    uses.push(arguments);
                }
            }
            if uses.len() >= MOST_USES {
                break;
            }
        }
        self.searched.borrow_mut().push((template.body.start, uses.clone()));
        Some(uses)
    }

    /// The type of an expression, as far as it is plain: a variable, its element, a literal, a cast.
    pub(in crate::find) fn scalar(&self, expression: &[Lexeme]) -> Option<Scalar> {
        let is = |i: usize, sign: &[u8]| expression.get(i).is_some_and(|one| one.text == sign);
        // `(double)x` and `(x)`
        if is(0, b"(") {
            let close = closing(expression, 0)?;
            let inner = &expression[1..close];
            if close + 1 == expression.len() {
                return self.scalar(inner);
            }
            let ty = type_of(inner)?;
            let operand = &expression[close + 1..];
            let single = operand.len() == 1
                || (operand.first()?.text == b"(" && closing(operand, 0)? + 1 == operand.len())
                || (operand.len() == 2 && operand[0].text == b"-");
            return ty.filter(|_| single);
        }
        // `double(x)` and `static_cast<double>(x)`
        let call = expression.iter().position(|one| one.text == b"(");
        if let Some(open) = call.filter(|&open| open > 0 && closing(expression, open) == Some(expression.len() - 1)) {
            let head = &expression[..open];
            if head[0].text == b"static_cast" || head[0].text == b"reinterpret_cast" {
                let inner = head.get(2..head.len() - 1)?;
                return type_of(inner)?;
            }
            return type_of(head)?;
        }
        let (expression, negative) = match expression.first()?.text.as_slice() {
            b"-" | b"+" => (&expression[1..], true),
            _ => (expression, false),
        };
        match expression {
            [one] if one.kind == LexemeKind::Number => literal_type(&one.text),
            [one] if one.kind == LexemeKind::Other && one.text.starts_with(b"'") && !negative => {
                Some(Scalar::Integer(1))
            }
            [one] if matches!(one.text.as_slice(), b"true" | b"false") && !negative => Some(Scalar::Integer(1)),
            [one] if one.kind == LexemeKind::Word => {
                let scalar = match &self.declaration(&one.text, one.at)?.meaning {
                    Meaning::Variable(scalar, 0) | Meaning::Constant(_, scalar) => *scalar,
                    Meaning::Variable(Some(_), _) if !negative => Some(Scalar::Integer(8)),
                    _ => None,
                }?;
                // `-x` of a short is an int.
                Some(match scalar {
                    Scalar::Integer(size) if negative => Scalar::Integer(size.max(4)),
                    other => other,
                })
            }
            [one, open, .., close]
                if one.kind == LexemeKind::Word && open.text == b"[" && close.text == b"]" && !negative =>
            {
                let brackets = expression.iter().filter(|one| one.text == b"[").count();
                match &self.declaration(&one.text, one.at)?.meaning {
                    Meaning::Variable(scalar, depth) if *depth == brackets && brackets == 1 => *scalar,
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn lexeme(source: &[u8], token: &Token, at: usize) -> Lexeme {
    let kind = match token.kind {
        Kind::Word => LexemeKind::Word,
        Kind::Number => LexemeKind::Number,
        Kind::Sign(_) => LexemeKind::Sign,
        _ => LexemeKind::Other,
    };
    Lexeme { text: token.bytes(source).to_vec(), at, kind }
}

/// The index of the bracket that closes the one at `open`.
fn closing(tokens: &[Lexeme], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_slice() {
            b"(" => depth += 1,
            b")" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

/// The arguments behind `<`, and where `>` ends.
fn template_arguments(lexer: &mut Lexer<'_>, source: &[u8]) -> Option<(Vec<Vec<Lexeme>>, usize)> {
    let mut arguments = vec![Vec::new()];
    let mut depth = 0_usize;
    for _ in 0..4 * LONGEST {
        let token = lexer.next()?;
        match token.kind {
            Kind::Sign(b'>') if depth == 0 => {
                if arguments.len() == 1 && arguments[0].is_empty() {
                    arguments.clear();
                }
                return Some((arguments, token.at.end));
            }
            Kind::Sign(b',') if depth == 0 => {
                arguments.push(Vec::new());
                continue;
            }
            Kind::Sign(b'(' | b'<' | b'[') => depth += 1,
            Kind::Sign(b')' | b'>' | b']') => depth = depth.saturating_sub(1),
            Kind::Sign(b';' | b'{' | b'}') => return None,
            _ => {}
        }
        arguments.last_mut()?.push(lexeme(source, &token, token.at.start));
    }
    None
}

/// The type that a list of specifiers is: `Some(None)` where it is a type of unknown size, `None` where it is no type.
fn type_of(tokens: &[Lexeme]) -> Option<Option<Scalar>> {
    let mut specifiers = Specifiers::default();
    let mut pointers = 0;
    for token in tokens {
        match token.text.as_slice() {
            b"*" => pointers += 1,
            b"&" | b"const" | b"volatile" | b"std" | b":" => {}
            word if token.kind == LexemeKind::Word && specifiers.add(word) => {}
            _ => return None,
        }
    }
    let scalar = specifiers.scalar()?;
    Some(if pointers > 0 { Some(Scalar::Integer(8)) } else { scalar })
}

/// The type of a number, as the devices of CUDA have it; `long` is as wide as the host's.
fn literal_type(text: &[u8]) -> Option<Scalar> {
    let text: Vec<u8> = text.iter().filter(|&&b| b != b'\'').map(u8::to_ascii_lowercase).collect();
    let hexadecimal = text.starts_with(b"0x") || text.starts_with(b"0b");
    if !hexadecimal && text.iter().any(|b| matches!(b, b'.' | b'e')) {
        return match text.last()? {
            b'f' => Some(Scalar::Float(4)),
            b'l' => None,
            _ => Some(Scalar::Float(8)),
        };
    }
    if text.ends_with(b"ll") || text.ends_with(b"llu") || text.ends_with(b"ull") {
        return Some(Scalar::Integer(8));
    }
    let digits = text.strip_suffix(b"u").unwrap_or(&text);
    let value = integer(digits)?;
    let limit = if digits.len() < text.len() || hexadecimal { 1 << 32 } else { 1 << 31 };
    Some(Scalar::Integer(if value < limit { 4 } else { 8 }))
}

/// The value of an integer literal.
fn integer(text: &[u8]) -> Option<i128> {
    let text: Vec<u8> = text.iter().filter(|&&b| b != b'\'').map(u8::to_ascii_lowercase).collect();
    let text = std::str::from_utf8(&text).ok()?;
    let text = text.trim_end_matches(['u', 'l']);
    let (digits, radix) = if let Some(digits) = text.strip_prefix("0x") {
        (digits, 16)
    } else if let Some(digits) = text.strip_prefix("0b") {
        (digits, 2)
    } else if text.len() > 1 && text.starts_with('0') {
        (&text[1..], 8)
    } else {
        (text, 10)
    };
    u64::from_str_radix(digits, radix).ok().map(i128::from)
}

/// The words of a type that have been read.
#[derive(Debug, Clone, Default)]
struct Specifiers {
    words: Vec<&'static str>,
    /// A type that is not known has been named.
    other: bool,
    constant: bool,
}

const TYPES: [(&str, Scalar); 27] = [
    ("double", Scalar::Float(8)),
    ("float", Scalar::Float(4)),
    ("char", Scalar::Integer(1)),
    ("bool", Scalar::Integer(1)),
    ("short", Scalar::Integer(2)),
    ("int", Scalar::Integer(4)),
    ("unsigned", Scalar::Integer(4)),
    ("signed", Scalar::Integer(4)),
    ("__int64", Scalar::Integer(8)),
    ("int8_t", Scalar::Integer(1)),
    ("uint8_t", Scalar::Integer(1)),
    ("int16_t", Scalar::Integer(2)),
    ("uint16_t", Scalar::Integer(2)),
    ("int32_t", Scalar::Integer(4)),
    ("uint32_t", Scalar::Integer(4)),
    ("int64_t", Scalar::Integer(8)),
    ("uint64_t", Scalar::Integer(8)),
    ("size_t", Scalar::Integer(8)),
    ("ptrdiff_t", Scalar::Integer(8)),
    ("uintptr_t", Scalar::Integer(8)),
    ("intptr_t", Scalar::Integer(8)),
    ("uchar", Scalar::Integer(1)),
    ("ushort", Scalar::Integer(2)),
    ("uint", Scalar::Integer(4)),
    ("long", Scalar::Integer(0)),
    ("auto", Scalar::Integer(0)),
    ("void", Scalar::Integer(0)),
];

impl Specifiers {
    /// Adds a word of a type; `false` where it is none.
    fn add(&mut self, word: &[u8]) -> bool {
        let known = TYPES.iter().find(|(name, _)| name.as_bytes() == word);
        if let Some((name, _)) = known.filter(|_| self.words.len() < 4) {
            self.words.push(name);
        }
        known.is_some()
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && !self.other
    }

    /// The type; `Some(None)` for one whose size is not known, `None` where no type is named.
    fn scalar(&self) -> Option<Option<Scalar>> {
        if self.other {
            return Some(None);
        }
        let has = |word: &str| self.words.contains(&word);
        let longs = self.words.iter().filter(|word| **word == "long").count();
        let scalar = match self.words.as_slice() {
            [] => return None,
            _ if has("auto") || has("void") => None,
            _ if longs >= 2 => Some(Scalar::Integer(8)),
            // 4 bytes or 8, as the host has it; `long double` is no type of the device.
            _ if longs == 1 => None,
            _ if has("short") => Some(Scalar::Integer(2)),
            words => {
                let main = words.iter().find(|word| !matches!(**word, "unsigned" | "signed")).unwrap_or(&words[0]);
                TYPES.iter().find(|(name, _)| name == main).map(|(_, scalar)| *scalar)
            }
        };
        Some(scalar)
    }
}

/// A pair of braces that is open.
#[derive(Debug, Default)]
struct Block {
    start: usize,
    /// The names that are declared in it: their declarations get their end with the block's.
    names: Vec<(Vec<u8>, usize)>,
    /// The names of the parameters of a function whose block may follow.
    parameters: Vec<(Vec<u8>, Declaration)>,
    /// Open round brackets.
    brackets: usize,
    /// The number of the template whose body it is.
    template: Option<usize>,
}

/// A template's parameters, and what it is a template of, before its body.
struct Header {
    parameters: Vec<(Vec<u8>, Vec<Lexeme>)>,
    entity: Option<Vec<u8>>,
    is_class: bool,
}

struct Pass<'a> {
    source: &'a [u8],
    names: HashMap<Vec<u8>, Vec<Declaration>, RandomState>,
    count: usize,
    templates: Vec<Template>,
    blocks: Vec<Block>,
    /// The last tokens.
    history: Vec<Token>,
    specifiers: Specifiers,
    /// Whether an initialiser is being read.
    initialiser: bool,
    /// Open angle brackets, as far as they may be those of template arguments.
    angles: usize,
    header: Option<Header>,
}

impl Pass<'_> {
    fn block(&mut self) -> &mut Block {
        if self.blocks.is_empty() {
            self.blocks.push(Block::default());
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    fn token(&mut self, token: &Token, lexer: &mut Lexer<'_>) {
        match token.kind {
            Kind::Word => self.word(token, lexer),
            Kind::Sign(sign) => self.sign(sign, token, lexer),
            _ => self.specifiers = Specifiers::default(),
        }
        if self.history.len() >= 4 {
            self.history.remove(0);
        }
        self.history.push(token.clone());
    }

    fn word(&mut self, token: &Token, lexer: &mut Lexer<'_>) {
        if self.initialiser || self.angles > 0 {
            return;
        }
        let word = token.bytes(self.source);
        match word {
            b"const" | b"constexpr" => {
                self.specifiers.constant = true;
                return;
            }
            b"static" | b"inline" | b"volatile" | b"register" | b"extern" | b"mutable" | b"__restrict__"
            | b"__shared__" | b"__device__" | b"__constant__" | b"struct" | b"class" | b"typename" | b"restrict"
            | b"__restrict" | b"__global__" | b"__host__" | b"__forceinline__" => {
                if let Some(header) = &mut self.header {
                    header.is_class |=
                        matches!(word, b"struct" | b"class") && self.blocks.last().is_none_or(|b| b.brackets == 0);
                }
                return;
            }
            b"return" | b"else" | b"case" | b"goto" | b"new" | b"delete" | b"throw" | b"using" | b"namespace"
            | b"operator" | b"sizeof" | b"typedef" | b"friend" | b"do" | b"asm" | b"if" | b"for" | b"while"
            | b"switch" => {
                self.specifiers = Specifiers::default();
                return;
            }
            b"template" => {
                let mut ahead = lexer.clone();
                if ahead.next().is_some_and(|sign| sign.is(b'<')) {
                    self.header = template_parameters(&mut ahead, self.source);
                    *lexer = ahead;
                }
                self.specifiers = Specifiers::default();
                return;
            }
            b"enum" => return self.enumeration(lexer),
            _ => {}
        }
        if self.specifiers.add(word) {
            return;
        }
        if let Some(header) = self.header.as_mut().filter(|header| header.is_class && header.entity.is_none()) {
            header.entity = Some(word.to_vec());
        }
        // A name behind a type, or a type that is not known.
        let next = lexer.clone().next();
        let ends = next
            .as_ref()
            .is_some_and(|next| matches!(next.kind, Kind::Sign(b',' | b';' | b'=' | b')' | b'[' | b'(' | b'{' | b':')));
        let is_scope = next.as_ref().is_some_and(|next| next.is(b':'))
            && lexer.clone().nth(1).is_some_and(|second| second.is(b':'));
        if self.specifiers.is_empty() || !ends || is_scope {
            self.specifiers.other = true;
            self.specifiers.words.clear();
            return;
        }
        self.declare(token, next.as_ref(), lexer);
    }

    fn declare(&mut self, token: &Token, next: Option<&Token>, lexer: &Lexer<'_>) {
        if self.count >= MOST_NAMES {
            return;
        }
        self.count += 1;
        // `double f(` is a function or a variable.
        let may_be_function = next.is_some_and(|next| next.is(b'('));
        let scalar = self.specifiers.scalar().flatten().filter(|_| !may_be_function);
        let stars = self.history.iter().rev().take_while(|token| {
            matches!(token.kind, Kind::Sign(b'*' | b'&'))
                || token.is_word(self.source, b"const")
                || token.is_word(self.source, b"__restrict__")
        });
        let pointers = stars.filter(|token| token.is(b'*')).count();
        let dimensions = usize::from(next.is_some_and(|next| next.is(b'[')));
        let is_constant = self.specifiers.constant && pointers + dimensions == 0;
        let opens = next.is_some_and(|next| next.is(b'=') || next.is(b'{'));
        let meaning = if is_constant && opens {
            Meaning::Constant(initialiser(lexer.clone(), self.source), scalar)
        } else {
            Meaning::Variable(scalar, pointers + dimensions)
        };
        let name = token.bytes(self.source).to_vec();
        let block = self.block();
        let declaration = Declaration { at: token.at.start, scope: block.start..usize::MAX, meaning };
        if block.brackets > 0 {
            block.parameters.push((name, declaration));
            return;
        }
        let number = self.names.get(&name).map_or(0, Vec::len);
        self.block().names.push((name.clone(), number));
        self.names.entry(name).or_default().push(declaration);
    }

    fn sign(&mut self, sign: u8, token: &Token, lexer: &Lexer<'_>) {
        match sign {
            b';' | b'{' | b'}' | b'(' | b')' => (self.initialiser, self.angles) = (false, 0),
            b',' if self.angles > 0 => return,
            b',' => self.initialiser = false,
            b'<' => self.angles += 1,
            b'>' => self.angles = self.angles.saturating_sub(1),
            _ => {}
        }
        match sign {
            b'*' | b'&' | b'<' | b'>' | b':' | b'[' | b']' | b'~' => {
                if matches!(sign, b'<') {
                    // `vector<double> x`: what is named is the template.
                    self.specifiers.other = true;
                    self.specifiers.words.clear();
                }
            }
            b',' => {
                // `double a, b;`, but `f(double a, b)` is none.
                let next = lexer.clone().nth(1);
                let goes_on = self.block().brackets == 0
                    && next.is_some_and(|next| matches!(next.kind, Kind::Sign(b',' | b';' | b'=' | b'[' | b'{')));
                if !goes_on {
                    self.specifiers = Specifiers::default();
                }
            }
            b'(' => {
                let is_attribute = |word: &[u8]| {
                    word.starts_with(b"__") || matches!(word, b"decltype" | b"noexcept" | b"alignas" | b"requires")
                };
                if let Some(name) = self.history.last().filter(|token| token.kind == Kind::Word)
                    && self.blocks.last().is_none_or(|block| block.brackets == 0)
                    && !is_attribute(name.bytes(self.source))
                    && let Some(header) = self.header.as_mut().filter(|header| !header.is_class)
                {
                    header.entity = Some(name.bytes(self.source).to_vec());
                }
                self.block().brackets += 1;
                self.specifiers = Specifiers::default();
            }
            b')' => {
                let block = self.block();
                block.brackets = block.brackets.saturating_sub(1);
                self.specifiers = Specifiers::default();
            }
            b';' => {
                self.specifiers = Specifiers::default();
                let block = self.block();
                if block.brackets == 0 {
                    block.parameters.clear();
                    self.header = None;
                }
            }
            b'{' => {
                self.specifiers = Specifiers::default();
                let parameters = std::mem::take(&mut self.block().parameters);
                let template = self.header.take().and_then(|header| {
                    let body = token.at.start..usize::MAX;
                    self.templates.push(Template { entity: header.entity?, parameters: header.parameters, body });
                    Some(self.templates.len() - 1)
                });
                let mut block = Block { start: token.at.start, template, ..Block::default() };
                for (name, mut declaration) in parameters {
                    declaration.scope = token.at.start..usize::MAX;
                    declaration.at = token.at.start;
                    block.names.push((name.clone(), self.names.get(&name).map_or(0, Vec::len)));
                    self.names.entry(name).or_default().push(declaration);
                }
                self.blocks.push(block);
            }
            b'}' => {
                self.specifiers = Specifiers::default();
                if self.blocks.len() > 1 {
                    self.close(token.at.end);
                }
            }
            b'=' => {
                self.initialiser = self.block().brackets == 0;
                if !self.initialiser {
                    self.specifiers = Specifiers::default();
                }
            }
            _ => self.specifiers = Specifiers::default(),
        }
    }

    fn close(&mut self, end: usize) {
        let Some(block) = self.blocks.pop() else { return };
        for (name, number) in block.names {
            if let Some(declaration) = self.names.get_mut(&name).and_then(|all| all.get_mut(number)) {
                declaration.scope.end = end;
            }
        }
        if let Some(template) = block.template {
            self.templates[template].body.end = end;
        }
    }

    fn close_all(&mut self, end: usize) {
        while !self.blocks.is_empty() {
            self.close(end);
        }
    }

    /// `enum class Name : int { A, B = 3, C }`: each enumerator by the last that has a value of its own.
    fn enumeration(&mut self, lexer: &mut Lexer<'_>) {
        self.specifiers = Specifiers::default();
        let mut ahead = lexer.clone();
        for _ in 0..LONGEST {
            let Some(token) = ahead.next() else { return };
            match token.kind {
                Kind::Sign(b'{') => break,
                Kind::Word | Kind::Sign(b':') | Kind::Number => {}
                _ => {
                    self.specifiers.other = true;
                    return;
                }
            }
        }
        let mut base: Vec<Lexeme> = Vec::new();
        let mut distance = 0;
        while let Some(token) = ahead.next() {
            match token.kind {
                Kind::Sign(b'}') => break,
                Kind::Word => {}
                _ => continue,
            }
            let mut depth = 0_usize;
            let mut own: Vec<Lexeme> = Vec::new();
            let mut ends = false;
            for _ in 0..=LONGEST {
                let Some(part) = ahead.next() else { break };
                match part.kind {
                    Kind::Sign(b',') if depth == 0 => break,
                    Kind::Sign(b'}') if depth == 0 => {
                        ends = true;
                        break;
                    }
                    Kind::Sign(b'(') => depth += 1,
                    Kind::Sign(b')') => depth = depth.saturating_sub(1),
                    Kind::Sign(b'=') if depth == 0 && own.is_empty() => continue,
                    _ if part.is_conditional() => continue,
                    _ => {}
                }
                own.push(lexeme(self.source, &part, part.at.start));
            }
            if !own.is_empty() {
                (base, distance) = (own, 0);
            }
            if self.count < MOST_NAMES {
                self.count += 1;
                let name = token.bytes(self.source).to_vec();
                let number = self.names.get(&name).map_or(0, Vec::len);
                let start = self.block().start;
                self.block().names.push((name.clone(), number));
                let meaning = Meaning::Enumerator(base.clone(), distance);
                let declaration = Declaration { at: token.at.start, scope: start..usize::MAX, meaning };
                self.names.entry(name).or_default().push(declaration);
            }
            distance += 1;
            if ends {
                break;
            }
        }
        *lexer = ahead;
    }
}

/// The parameters of a template, behind `<`.
fn template_parameters(lexer: &mut Lexer<'_>, source: &[u8]) -> Option<Header> {
    let (arguments, _) = template_arguments(lexer, source)?;
    let parameters = arguments.into_iter().map(|argument| {
        let equals = argument.iter().position(|lexeme| lexeme.text == b"=").unwrap_or(argument.len());
        let is_type =
            argument.first().is_none_or(|first| matches!(first.text.as_slice(), b"typename" | b"class" | b"template"));
        let name = argument[..equals].last().filter(|last| last.kind == LexemeKind::Word && !is_type);
        let default = argument.get(equals + 1..).unwrap_or_default().to_vec();
        (name.map(|name| name.text.clone()).unwrap_or_default(), default)
    });
    Some(Header { parameters: parameters.collect(), entity: None, is_class: false })
}

/// The initialiser behind a constant's name: `= 2`, `{2}`.
fn initialiser(mut lexer: Lexer<'_>, source: &[u8]) -> Vec<Lexeme> {
    let Some(first) = lexer.next() else { return Vec::new() };
    let closes = if first.is(b'{') { b'}' } else { b';' };
    let mut tokens = Vec::new();
    let mut depth = 0_usize;
    for token in lexer.take(LONGEST + 1) {
        match token.kind {
            Kind::Sign(b',') if depth == 0 => return tokens,
            Kind::Sign(sign) if depth == 0 && sign == closes => return tokens,
            Kind::Sign(b'(' | b'{') => depth += 1,
            Kind::Sign(b')' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        tokens.push(lexeme(source, &token, token.at.start));
    }
    Vec::new()
}

/// Evaluates an integral constant expression of C.
struct Evaluator<'f, 'a> {
    facts: &'f Facts<'a>,
    tokens: &'f [Lexeme],
    at: usize,
    arguments: Option<&'f Arguments>,
    depth: usize,
}

/// The binary operators by their binding, the loosest first.
const OPERATORS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Evaluator<'_, '_> {
    fn sign(&self, ahead: usize) -> u8 {
        match self.tokens.get(self.at + ahead) {
            Some(token) if token.kind == LexemeKind::Sign => token.text.first().copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// The operator here, of those of one binding.
    fn operator(&self, of: &[&'static str]) -> Option<&'static str> {
        let (first, second) = (self.sign(0), self.sign(1));
        of.iter().copied().find(|operator| match operator.as_bytes() {
            [one] => {
                first == *one
                    && match one {
                        b'|' | b'&' => second != *one,
                        b'<' | b'>' => second != *one && second != b'=',
                        _ => true,
                    }
            }
            [one, two] => first == *one && second == *two,
            _ => false,
        })
    }

    fn conditional(&mut self) -> Option<i128> {
        let condition = self.binary(0)?;
        if self.sign(0) != b'?' {
            return Some(condition);
        }
        self.at += 1;
        let yes = self.conditional()?;
        if self.sign(0) != b':' {
            return None;
        }
        self.at += 1;
        let no = self.conditional()?;
        Some(if condition != 0 { yes } else { no })
    }

    fn binary(&mut self, level: usize) -> Option<i128> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut value = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            self.at += operator.len();
            let right = self.binary(level + 1)?;
            let truth = |truth: bool| Some(i128::from(truth));
            value = match operator {
                "||" => truth(value != 0 || right != 0),
                "&&" => truth(value != 0 && right != 0),
                "|" => Some(value | right),
                "^" => Some(value ^ right),
                "&" => Some(value & right),
                "==" => truth(value == right),
                "!=" => truth(value != right),
                "<=" => truth(value <= right),
                ">=" => truth(value >= right),
                "<" => truth(value < right),
                ">" => truth(value > right),
                "<<" => u32::try_from(right).ok().filter(|&by| by < 64).and_then(|by| value.checked_mul(1 << by)),
                ">>" => u32::try_from(right).ok().filter(|&by| by < 64).map(|by| value >> by),
                "+" => value.checked_add(right),
                "-" => value.checked_sub(right),
                "*" => value.checked_mul(right),
                "/" => value.checked_div(right),
                _ => value.checked_rem(right),
            }?;
        }
        Some(value)
    }

    fn unary(&mut self) -> Option<i128> {
        self.depth += 1;
        if self.depth > 4 * DEEPEST {
            return None;
        }
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        let value = match (token.kind, token.text.as_slice()) {
            (LexemeKind::Number, text) => integer(text),
            (LexemeKind::Sign, b"-") => self.unary()?.checked_neg(),
            (LexemeKind::Sign, b"+") => self.unary(),
            (LexemeKind::Sign, b"~") => Some(!self.unary()?),
            (LexemeKind::Sign, b"!") => Some(i128::from(self.unary()? == 0)),
            (LexemeKind::Sign, b"(") => {
                let close = closing(self.tokens, self.at - 1)?;
                if let Some(Some(Scalar::Integer(4 | 8))) = type_of(&self.tokens[self.at..close]) {
                    // A cast that keeps the value.
                    self.at = close + 1;
                    let value = self.unary()?;
                    (0..1 << 31).contains(&value).then_some(value)
                } else {
                    let value = self.conditional()?;
                    (self.sign(0) == b')').then(|| self.at += 1)?;
                    Some(value)
                }
            }
            (LexemeKind::Word, _) => {
                let mut name = token;
                let mut qualified = false;
                while self.sign(0) == b':' && self.sign(1) == b':' {
                    name = self.tokens.get(self.at + 2).filter(|next| next.kind == LexemeKind::Word)?;
                    self.at += 3;
                    qualified = true;
                }
                self.facts.name(name, qualified, self.arguments, self.depth / 4)
            }
            _ => None,
        };
        self.depth -= 1;
        value
    }
}
