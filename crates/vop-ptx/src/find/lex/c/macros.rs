//! The macros that a file defines, and what the preprocessor makes of their uses.
//!
//! A definition of another file is not known; its uses stay as they are. Where `#if` gives a name several definitions, each is
//! tried. The work is bounded: a file has a budget of tokens, and what exceeds it is not expanded.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::super::super::mapped::{Mapped, Paste};
use super::super::super::prefilter::may_begin;
use super::token::{Kind, Lexer, Token};

/// The number of definitions of one name that are tried.
pub(super) const MOST_VERSIONS: usize = 4;
/// The depth of macros that call each other, and of calls in the arguments of calls.
const DEEPEST: usize = 64;
/// The tokens that a macro's body may become, however much has been expanded before.
const LEAST_FOR_BODY: usize = 64;
/// The tokens that a call's arguments may have.
const LONGEST_CALL: usize = 1 << 16;

/// A `#define`.
struct Definition<'a> {
    number: u32,
    name: Range<usize>,
    /// The names of its parameters, if it is called with brackets.
    parameters: Option<Vec<&'a [u8]>>,
    /// Whether the last parameter takes all arguments that are left.
    variadic: bool,
    body: Rc<[Token]>,
    /// From behind its line to the `#undef` or the definition that ends it; the last such part.
    live: Range<usize>,
    /// The parts before that, which `pop_macro` goes on with.
    lived: Vec<Range<usize>>,
    /// The branches of `#if` that it stands in.
    branch: Vec<(u32, u32)>,
    /// Whether a string may come of it.
    makes_strings: bool,
}

impl Definition<'_> {
    fn counts_at(&self, at: usize) -> bool {
        self.live.contains(&at) || self.lived.iter().any(|part| part.contains(&at))
    }

    /// Makes it count again from a place on.
    fn goes_on(&mut self, at: usize) {
        if self.live.end != usize::MAX {
            self.lived.push(std::mem::replace(&mut self.live, at..usize::MAX));
        }
    }
}

/// A use of a macro.
#[derive(Debug, Clone)]
pub(super) struct Site {
    /// From the macro's name to the bracket that closes its arguments.
    pub(super) place: Range<usize>,
    /// The macro's name in its definition.
    pub(super) definition: Range<usize>,
}

/// The macros of a file.
pub(super) struct Macros<'a> {
    source: &'a [u8],
    by_name: HashMap<&'a [u8], Vec<usize>, RandomState>,
    all: Vec<Definition<'a>>,
    /// The uses that have been expanded.
    pub(super) sites: Vec<Site>,
    /// The tokens that may still be made.
    budget: usize,
    /// The most definitions that a name of the expansion has.
    most: usize,
    /// Which definition is taken.
    version: usize,
    /// Whether a use was left as it is because of a limit, since the last question.
    stopped: bool,
    /// For each definition, whether a part of a video instruction may come of it; read when it is first asked for.
    writes_parts: Option<Vec<bool>>,
}

impl<'a> Macros<'a> {
    pub(super) fn of(source: &'a [u8]) -> Self {
        let mut macros = Macros {
            source,
            by_name: HashMap::default(),
            all: Vec::new(),
            sites: Vec::new(),
            budget: (1 << 20) + source.len().saturating_mul(2).min(1 << 24),
            most: 1,
            version: 0,
            stopped: false,
            writes_parts: None,
        };
        if memchr::memmem::find(source, b"define").is_some() {
            macros.read();
            macros.find_strings();
        }
        macros
    }

    fn read(&mut self) {
        let source = self.source;
        let mut branch: Vec<(u32, u32)> = Vec::new();
        let mut conditions = 0_u32;
        // The branch inside which nothing is compiled, by its depth.
        let mut dead: Option<usize> = None;
        // The definitions that `push_macro` keeps, by name.
        let mut kept: HashMap<Vec<u8>, Vec<Vec<usize>>, RandomState> = HashMap::default();
        let keeps = memchr::memmem::find(source, b"push_macro").is_some();
        // `_Pragma("push_macro(\"X\")")` and `__pragma(push_macro("X"))`: the word, when its string has not been read.
        let mut operator: Option<usize> = None;
        for token in Lexer::new(source) {
            let text = &source[token.at.clone()];
            if keeps && dead.is_none() {
                let pragma = match token.kind {
                    Kind::Directive => Some(text),
                    Kind::Word if matches!(text, b"_Pragma" | b"__pragma") => {
                        operator = Some(token.at.start);
                        None
                    }
                    Kind::Text { .. } => operator.take().map(|start| &source[start..token.at.end]),
                    Kind::Sign(b';') => {
                        operator = None;
                        None
                    }
                    _ => None,
                };
                if let Some((pushes, name)) = pragma.and_then(pushed_or_popped) {
                    if pushes {
                        let live = self.by_name.get(name.as_slice()).into_iter().flatten().copied();
                        let live = live.filter(|&i| self.all[i].live.end == usize::MAX).collect();
                        kept.entry(name).or_default().push(live);
                    } else if let Some(live) = kept.get_mut(&name).and_then(Vec::pop) {
                        self.end(&name, &branch, token.at.start);
                        live.into_iter().for_each(|i| self.all[i].goes_on(token.at.end));
                    }
                }
            }
            match token.kind {
                Kind::If => {
                    conditions += 1;
                    branch.push((conditions, 0));
                    if dead.is_none() && self.is_never(text, &branch) {
                        dead = Some(branch.len());
                    }
                }
                Kind::Else { .. } => {
                    if dead == Some(branch.len()) {
                        dead = None;
                    }
                    if let Some(last) = branch.last_mut() {
                        last.1 += 1;
                    }
                }
                Kind::EndIf => {
                    if dead == Some(branch.len()) {
                        dead = None;
                    }
                    branch.pop();
                }
                Kind::Define if dead.is_none() && branch.len() <= DEEPEST => self.define(token.at, &branch),
                Kind::Undef if dead.is_none() => {
                    let name = undefined(text);
                    self.end(name, &branch, token.at.start);
                }
                _ => {}
            }
        }
    }

    /// `#ifndef` of a macro that is certainly defined.
    fn is_never(&self, directive: &[u8], branch: &[(u32, u32)]) -> bool {
        let Some(name) = directive[1..].trim_ascii().strip_prefix(b"ifndef") else { return false };
        let outside = &branch[..branch.len() - 1];
        let defined = self.by_name.get(name.trim_ascii()).into_iter().flatten();
        defined
            .map(|&i| &self.all[i])
            .any(|definition| definition.live.end == usize::MAX && outside.starts_with(&definition.branch))
    }

    fn define(&mut self, at: Range<usize>, branch: &[(u32, u32)]) {
        let source = self.source;
        let mut lexer = Lexer::of_body(source, at.start + 1..at.end);
        lexer.next();
        let Some(name) = lexer.next().filter(|token| token.kind == Kind::Word) else { return };
        let mut ahead = lexer.clone();
        let called = ahead.next().is_some_and(|token| token.is(b'(') && !token.blank);
        let (mut parameters, mut variadic) = (None, false);
        if called {
            lexer = ahead;
            let Some((names, takes_all)) = parameters_of(&mut lexer, source) else { return };
            (parameters, variadic) = (Some(names), takes_all);
        }
        self.end(&source[name.at.clone()], branch, at.start);
        let number = self.all.len() as u32;
        self.by_name.entry(&source[name.at.clone()]).or_default().push(self.all.len());
        self.all.push(Definition {
            number,
            name: name.at,
            parameters,
            variadic,
            body: lexer.collect(),
            live: at.end..usize::MAX,
            lived: Vec::new(),
            branch: branch.to_vec(),
            makes_strings: false,
        });
    }

    /// Ends the definitions of a name that a directive in this branch certainly ends.
    fn end(&mut self, name: &[u8], branch: &[(u32, u32)], at: usize) {
        // Names with many definitions in branches that exclude each other are not met; the last ones count.
        let of_name = self.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        for &i in of_name.iter().rev().take(16) {
            let definition = &mut self.all[i];
            if definition.live.end == usize::MAX && definition.branch.starts_with(branch) {
                definition.live.end = at;
            }
        }
    }

    /// Finds the macros that strings may come of: by their own bodies, or by the macros that they call.
    fn find_strings(&mut self) {
        let source = self.source;
        let mut callers: HashMap<&[u8], Vec<usize>, RandomState> = HashMap::default();
        let mut found = Vec::new();
        for (i, definition) in self.all.iter().enumerate() {
            let own = |token: &Token| match token.kind {
                Kind::Text { .. } | Kind::Join | Kind::Sign(b'#') => true,
                Kind::Word => is_asm(&source[token.at.clone()]),
                _ => false,
            };
            if definition.body.iter().any(own) {
                found.push(i);
                continue;
            }
            for token in definition.body.iter().filter(|token| token.kind == Kind::Word) {
                let name = &source[token.at.clone()];
                if self.by_name.contains_key(name) {
                    callers.entry(name).or_default().push(i);
                }
            }
        }
        while let Some(i) = found.pop() {
            if !std::mem::replace(&mut self.all[i].makes_strings, true) {
                found.extend(callers.remove(&source[self.all[i].name.clone()]).unwrap_or_default());
            }
        }
    }

    /// Whether strings may come of the macro of this name.
    pub(super) fn makes_strings(&self, name: &[u8]) -> bool {
        self.by_name.get(name).into_iter().flatten().any(|&i| self.all[i].makes_strings)
    }

    /// The body of a macro without parameters, if it has one definition.
    pub(super) fn constant(&self, name: &[u8]) -> Option<&[Token]> {
        match self.by_name.get(name)?.as_slice() {
            [one] if self.all[*one].parameters.is_none() => Some(&self.all[*one].body),
            _ => None,
        }
    }

    /// The definitions of a name that count at a place, the last first.
    fn live_at(&self, name: &[u8], at: usize) -> impl Iterator<Item = usize> {
        let of_name = self.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        let before = of_name.partition_point(|&i| self.all[i].name.start < at);
        of_name[..before].iter().rev().take(16).copied().filter(move |&i| self.all[i].counts_at(at))
    }

    /// The definition of a name at a place of the file that is to be taken in this version.
    fn definition(&mut self, name: &[u8], at: usize) -> Option<usize> {
        let live: Vec<usize> = self.live_at(name, at).take(MOST_VERSIONS).collect();
        if live.is_empty() {
            return None;
        }
        self.most = self.most.max(live.len());
        // The earliest first, as branches are read.
        live.iter().rev().nth(self.version.min(live.len().saturating_sub(1))).copied()
    }

    /// What the preprocessor makes of tokens of the file, with the definitions of this version; and the number of versions.
    /// `None` where that exceeds a limit.
    pub(super) fn expand(&mut self, tokens: &[Token], version: usize) -> Option<(Vec<Token>, usize)> {
        (self.most, self.version, self.stopped) = (1, version, false);
        let expanded = self.expanded(tokens, None, 0);
        (!self.stopped).then_some((expanded, self.most))
    }

    /// The uses among tokens of the file of macros that may write a part of a video instruction: the name, and the place of all of
    /// the use.
    pub(super) fn uses(&mut self, tokens: &[Token]) -> Vec<(Vec<u8>, Site)> {
        let writes = self.writes_parts.take().unwrap_or_else(|| self.find_parts());
        let mut uses = Vec::new();
        let mut behind = 0;
        for (i, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
            let name = token.bytes(self.source);
            let writing = self.live_at(name, token.at.start).find(|&of| writes[of]);
            let Some(definition) = writing.map(|of| &self.all[of]).filter(|_| i >= behind) else { continue };
            let called = tokens.get(i + 1).is_some_and(|next| next.is(b'('));
            if definition.parameters.is_some() && !called {
                continue;
            }
            let last = if definition.parameters.is_some() { matching(tokens, i + 1).min(tokens.len() - 1) } else { i };
            behind = last + 1;
            let place = token.at.start..tokens[last].at.end.max(token.at.end);
            uses.push((name.to_vec(), Site { place, definition: definition.name.clone() }));
        }
        self.writes_parts = Some(writes);
        uses
    }

    /// The definitions that a part of a video instruction may come of: by their own bodies, or by the macros that they name.
    fn find_parts(&self) -> Vec<bool> {
        let mut writes = vec![false; self.all.len()];
        let mut callers: HashMap<&[u8], Vec<usize>, RandomState> = HashMap::default();
        let mut found = Vec::new();
        for (i, definition) in self.all.iter().enumerate() {
            let body = match definition.body.as_ref() {
                [first, .., last] => first.at.start..last.at.end,
                [one] => one.at.clone(),
                [] => continue,
            };
            if definition.makes_strings && may_begin(&self.source[body]) {
                found.push(i);
                continue;
            }
            for token in definition.body.iter().filter(|token| token.kind == Kind::Word) {
                callers.entry(&self.source[token.at.clone()]).or_default().push(i);
            }
        }
        while let Some(i) = found.pop() {
            if !std::mem::replace(&mut writes[i], true) {
                found.extend(callers.remove(&self.source[self.all[i].name.clone()]).unwrap_or_default());
            }
        }
        writes
    }

    /// What a macro's body becomes where its arguments are not known. `at` is the place of the `#define`.
    pub(super) fn body(&mut self, define: &Range<usize>, version: usize) -> Option<(Vec<Token>, usize)> {
        let found = self.all.partition_point(|definition| definition.name.start < define.start);
        let definition = self.all.get(found).filter(|definition| define.contains(&definition.name.start))?;
        if !definition.makes_strings && !may_stringise(&definition.body) {
            return None;
        }
        let holes = definition.parameters.iter().flatten().map(|name| {
            let shown = if *name == b"__VA_ARGS__" { b"arguments".as_slice() } else { name };
            vec![hole(shown, definition.name.clone())]
        });
        let arguments: Vec<Vec<Token>> = holes.collect();
        (self.most, self.version, self.stopped) = (1, version, false);
        // Whatever has been expanded before: each body is read once for each version.
        self.budget = self.budget.max(LEAST_FOR_BODY + 4 * self.all[found].body.len());
        let mut substituted = self.substitute(found, &arguments, None, define.end, 0);
        let hidden: Rc<[u32]> = Rc::new([found as u32]);
        substituted.iter_mut().for_each(|token| token.hidden = Some(hidden.clone()));
        let expanded = self.expanded(&substituted, Some(define.end), 0);
        // What exceeds a limit stays as the uses of macros of other files do.
        let is_cut = std::mem::take(&mut self.stopped);
        Some((if is_cut { substituted } else { expanded }, self.most))
    }

    /// Prosser's algorithm. `at` is where a name is looked up, for tokens that no use has written.
    fn expanded(&mut self, tokens: &[Token], at: Option<usize>, depth: usize) -> Vec<Token> {
        let mut rest: Vec<Token> = tokens.iter().rev().cloned().collect();
        let mut out = Vec::with_capacity(tokens.len());
        while let Some(token) = rest.pop() {
            if token.kind != Kind::Word || self.stopped {
                out.push(token);
                continue;
            }
            let place = match token.site {
                Some(site) => self.sites[site as usize].place.start,
                None => at.unwrap_or(token.at.start),
            };
            let name = token.bytes(self.source).to_vec();
            let found = self.definition(&name, place);
            let hidden = |number: u32| token.hidden.as_ref().is_some_and(|hidden| hidden.contains(&number));
            let Some(found) = found.filter(|&found| !hidden(self.all[found].number)) else {
                out.push(token);
                continue;
            };
            if self.budget == 0 || depth > DEEPEST {
                self.stopped = true;
                out.push(token);
                continue;
            }
            let mut end = token.at.end;
            let mut by_bracket = None;
            let arguments = if let Some(parameters) = &self.all[found].parameters {
                let count = parameters.len();
                match arguments(&mut rest, count, self.all[found].variadic) {
                    Some((arguments, bracket)) => {
                        end = bracket.at.end;
                        by_bracket = Some(bracket.hidden);
                        arguments
                    }
                    None => {
                        out.push(token);
                        continue;
                    }
                }
            } else {
                Vec::new()
            };
            let outer = |set: &Option<Rc<[u32]>>| set.as_ref().map_or(0, |set| set.len());
            if outer(&token.hidden) >= DEEPEST {
                self.stopped = true;
                out.push(token);
                continue;
            }
            // A name is hidden where it was before the call and, for a call, at its closing bracket.
            let mut set: Vec<u32> = token.hidden.as_ref().map(|set| set.to_vec()).unwrap_or_default();
            if let Some(bracket) = by_bracket {
                set.retain(|number| bracket.as_ref().is_some_and(|set| set.contains(number)));
            }
            set.push(self.all[found].number);
            let set: Rc<[u32]> = set.into();
            let site = token.site.or_else(|| {
                let place = token.at.start..end.max(token.at.end);
                self.sites.push(Site { place, definition: self.all[found].name.clone() });
                Some(self.sites.len() as u32 - 1)
            });
            let mut written = self.substitute(found, &arguments, site, place, depth);
            if let Some(first) = written.first_mut() {
                first.blank = token.blank;
            }
            for token in &mut written {
                token.site = token.site.or(site);
                token.hidden = Some(match &token.hidden {
                    None => set.clone(),
                    Some(own) => {
                        let mut both = own.to_vec();
                        both.extend(set.iter().filter(|number| !own.contains(number)));
                        both.into()
                    }
                });
            }
            self.budget = self.budget.saturating_sub(written.len() + 1);
            rest.extend(written.into_iter().rev());
        }
        out
    }

    /// A macro's body with its arguments.
    fn substitute(
        &mut self,
        found: usize,
        arguments: &[Vec<Token>],
        site: Option<u32>,
        at: usize,
        depth: usize,
    ) -> Vec<Token> {
        let source = self.source;
        let body = self.all[found].body.clone();
        let parameters = self.all[found].parameters.clone().unwrap_or_default();
        let variadic = self.all[found].variadic;
        let is_call = self.all[found].parameters.is_some();
        let parameter = |token: &Token| {
            (token.kind == Kind::Word).then(|| parameters.iter().position(|name| *name == &source[token.at.clone()]))?
        };
        // A parameter that is not known is shown where it stands.
        let name = self.all[found].name.clone();
        let argument = |of: usize, at: &Range<usize>| -> Vec<Token> {
            let shown = |token: &Token| match token.kind {
                Kind::Hole if token.at == name => hole(token.bytes(source), at.clone()),
                _ => token.clone(),
            };
            arguments[of].iter().map(shown).collect()
        };
        let mut whole: Vec<Option<Vec<Token>>> = vec![None; parameters.len()];
        let mut out: Vec<Token> = Vec::with_capacity(body.len());
        let mut i = 0;
        while i < body.len() {
            if self.budget == 0 {
                self.stopped = true;
                break;
            }
            let token = &body[i];
            // `#parameter`
            if is_call
                && token.is(b'#')
                && let Some(of) = body.get(i + 1).and_then(parameter)
            {
                let cost = arguments[of].iter().map(|token| token.bytes(source).len() / 8 + 1).sum();
                self.budget = self.budget.saturating_sub(cost);
                let mut made = Token::new(Kind::Made, body[i + 1].at.clone(), token.blank);
                made.made = Some(Rc::new(stringised(source, &argument(of, &body[i + 1].at))));
                out.push(made);
                i += 2;
                continue;
            }
            if token.kind == Kind::Join && !out.is_empty() && i + 1 < body.len() {
                let next = &body[i + 1];
                i += 2;
                let right: Vec<Token> = match parameter(next) {
                    Some(of) => argument(of, &next.at),
                    // `a ## #b`
                    None if is_call && next.is(b'#') && body.get(i).and_then(parameter).is_some() => {
                        i -= 1;
                        continue;
                    }
                    None => vec![next.clone()],
                };
                // `, ## __VA_ARGS__`
                let is_rest = variadic && parameter(next) == Some(parameters.len() - 1);
                if is_rest && out.last().is_some_and(|last| last.is(b',')) {
                    if right.is_empty() {
                        out.pop();
                    }
                    out.extend(right);
                    continue;
                }
                join(source, &mut out, right);
                continue;
            }
            if variadic && token.is_word(source, b"__VA_OPT__") && body.get(i + 1).is_some_and(|next| next.is(b'(')) {
                let close = matching(&body, i + 1);
                // What it holds is substituted as the body is, without `#` and `##`.
                if arguments.last().is_some_and(|rest| !rest.is_empty()) {
                    for inner in &body[(i + 2).min(close)..close] {
                        match parameter(inner) {
                            Some(of) => out.extend(argument(of, &inner.at)),
                            None => out.push(inner.clone()),
                        }
                    }
                }
                i = close + 1;
                continue;
            }
            if let Some(of) = parameter(token) {
                let joins = body.get(i + 1).is_some_and(|next| next.kind == Kind::Join);
                let mut argument = if joins || matches!(arguments[of].as_slice(), [one] if one.kind == Kind::Hole) {
                    argument(of, &token.at)
                } else {
                    if whole[of].is_none() {
                        whole[of] = Some(self.expanded(&arguments[of], site.is_none().then_some(at), depth + 1));
                    }
                    whole[of].clone().unwrap_or_default()
                };
                self.budget = self.budget.saturating_sub(argument.len());
                if argument.is_empty() && joins {
                    // Joined with nothing: an empty token.
                    let mut empty = Token::new(Kind::Sign(b' '), token.at.clone(), token.blank);
                    empty.made = Some(Rc::new(Mapped::default()));
                    argument.push(empty);
                }
                if let Some(first) = argument.first_mut() {
                    first.blank = token.blank;
                }
                out.extend(argument);
            } else {
                out.push(token.clone());
            }
            i += 1;
        }
        out
    }
}

/// A part of a text that is not known, called so.
pub(super) fn hole(name: &[u8], at: Range<usize>) -> Token {
    let mut mapped = Mapped::default();
    mapped.push_paste(name, at.clone(), at.end, Paste::Macro);
    let mut hole = Token::new(Kind::Hole, at, false);
    hole.made = Some(Rc::new(mapped));
    hole
}

/// Whether an instruction may stand in a body outside any literal.
fn may_stringise(body: &[Token]) -> bool {
    body.iter().any(|token| token.kind == Kind::Word)
}

/// The keyword of an `asm`.
pub(super) fn is_asm(word: &[u8]) -> bool {
    matches!(word, b"asm" | b"__asm__" | b"__asm")
}

/// The name that `push_macro("NAME")` keeps, with `true`, or that `pop_macro` goes back to.
fn pushed_or_popped(pragma: &[u8]) -> Option<(bool, Vec<u8>)> {
    let at = memchr::memmem::find(pragma, b"push_macro").or_else(|| memchr::memmem::find(pragma, b"pop_macro"))?;
    let pushes = pragma[at..].starts_with(b"push");
    let open = at + memchr::memchr(b'"', &pragma[at..])? + 1;
    let name = pragma[open..].trim_ascii_start();
    let len = name.iter().take_while(|&&b| super::super::super::cursor::is_ident(b)).count();
    (len > 0).then(|| (pushes, name[..len].to_vec()))
}

fn undefined(directive: &[u8]) -> &[u8] {
    let text = directive[1..].trim_ascii_start().strip_prefix(b"undef").unwrap_or_default().trim_ascii_start();
    let end = text.iter().position(|&b| !super::super::super::cursor::is_ident(b)).unwrap_or(text.len());
    &text[..end]
}

/// The names of a macro's parameters, behind the opening bracket, and whether the last takes all that is left.
fn parameters_of<'a>(lexer: &mut Lexer<'_>, source: &'a [u8]) -> Option<(Vec<&'a [u8]>, bool)> {
    let (mut names, mut variadic, mut dots) = (Vec::new(), false, 0);
    loop {
        let token = lexer.next()?;
        match token.kind {
            Kind::Word => names.push(&source[token.at]),
            Kind::Sign(b'.') => {
                dots += 1;
                variadic = true;
            }
            Kind::Sign(b')') => break,
            Kind::Sign(b',') => {}
            _ => return None,
        }
    }
    // `args...` names the rest itself; `a, ...` and `...` do not.
    let named = dots > 0 && {
        let before = lexer.cursor.src[..lexer.cursor.pos - 1].trim_ascii_end();
        let before = before.strip_suffix(b"...").unwrap_or(before).trim_ascii_end();
        !matches!(before.last(), Some(b',' | b'('))
    };
    if variadic && !named {
        names.push(b"__VA_ARGS__");
    }
    (names.len() <= 256).then_some((names, variadic))
}

/// Takes the arguments of a call from the tokens that follow its name, the next last; with the closing bracket.
fn arguments(rest: &mut Vec<Token>, count: usize, variadic: bool) -> Option<(Vec<Vec<Token>>, Token)> {
    let conditionals = rest.iter().rev().take_while(|token| token.is_conditional()).count();
    if !rest.get(rest.len().checked_sub(conditionals + 1)?)?.is(b'(') {
        return None;
    }
    let mut depth = 0_usize;
    let mut length = 0;
    for token in rest.iter().rev() {
        length += 1;
        match token.kind {
            Kind::Sign(b'(') => depth += 1,
            Kind::Sign(b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 || length > LONGEST_CALL {
            break;
        }
    }
    if depth > 0 {
        return None;
    }
    let call = rest.split_off(rest.len() - length);
    let mut call: Vec<Token> = call.into_iter().rev().skip(1 + conditionals).collect();
    let bracket = call.pop()?;
    let mut arguments = vec![Vec::new()];
    let mut depth = 0_usize;
    for token in call {
        match token.kind {
            Kind::Sign(b'(') => depth += 1,
            Kind::Sign(b')') => depth = depth.saturating_sub(1),
            Kind::Sign(b',') if depth == 0 && !(variadic && arguments.len() >= count) => {
                arguments.push(Vec::new());
                continue;
            }
            _ if token.is_conditional() => continue,
            _ => {}
        }
        if let Some(last) = arguments.last_mut() {
            last.push(token);
        }
    }
    // A call that does not fit is an error of the program, and what is left out is empty.
    arguments.resize(count.max(1), Vec::new());
    Some((arguments, bracket))
}

/// The index of the bracket that closes the one at `open`, or the end.
pub(super) fn matching(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Sign(b'(') => depth += 1,
            Kind::Sign(b')') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i;
        }
    }
    tokens.len()
}

/// The text that `#` makes of an argument: its spelling, with one blank where white space stands.
pub(super) fn stringised(source: &[u8], argument: &[Token]) -> Mapped {
    let mut text = Mapped::default();
    let mut before: Option<&Token> = None;
    for token in argument {
        if let Some(before) = before.filter(|_| token.blank) {
            let gap = if before.at.end <= token.at.start { before.at.end..token.at.start } else { token.at.clone() };
            text.push_unit(b" ", gap.clone(), gap.end);
        }
        text.push_written(&token.spelling(source), None);
        before = Some(token);
    }
    text
}

/// `##`: the last token and the first of `right` become one.
fn join(source: &[u8], out: &mut Vec<Token>, mut right: Vec<Token>) {
    let Some(left) = out.pop() else { return out.extend(right) };
    if right.is_empty() {
        if !left.bytes(source).is_empty() {
            out.push(left);
        }
        return;
    }
    let first = right.remove(0);
    let mut text = left.spelling(source);
    text.push_written(&first.spelling(source), None);
    let kind = match text.bytes().first() {
        _ if text.has_pastes() => Kind::Hole,
        Some(b) if b.is_ascii_digit() => Kind::Number,
        Some(_) if left.is_string() || first.is_string() => Kind::Made,
        Some(&b) if super::super::super::cursor::is_ident(b) => Kind::Word,
        Some(&b) => Kind::Sign(b),
        None => Kind::Sign(b' '),
    };
    let mut joined = Token::new(kind, left.at, left.blank);
    joined.made = Some(Rc::new(text));
    out.push(joined);
    out.extend(right);
}
