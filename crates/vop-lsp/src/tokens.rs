//! Semantic tokens of a module.

use std::collections::HashSet;
use std::ops::Range;

use vop_ptx::module::lex::{self, TokenKind};
use vop_ptx::module::{Module, StatementKind};

use crate::reference;

/// What a token is; the order is that of [`TokenType::NAMES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum TokenType {
    /// A comment.
    Comment,
    /// A string.
    String,
    /// A number.
    Number,
    /// A mnemonic, or a directive.
    Keyword,
    /// What follows a mnemonic or a directive.
    Modifier,
    /// A type.
    Type,
    /// A register or a variable.
    Variable,
    /// A parameter.
    Parameter,
    /// A special register.
    Special,
    /// A function.
    Function,
    /// A label.
    Label,
    /// A line of a preprocessor.
    Macro,
}

impl TokenType {
    /// The names in the protocol. What it has no name for has that of something that looks alike.
    pub const NAMES: [&str; 12] = [
        "comment",
        "string",
        "number",
        "keyword",
        "modifier",
        "type",
        "variable",
        "parameter",
        "enumMember",
        "function",
        "label",
        "macro",
    ];
}

/// A token and what it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// Where it stands; on one line.
    pub span: Range<usize>,
    /// What it is.
    pub ty: TokenType,
}

/// The tokens of a module that have a meaning, in order.
pub fn tokens(module: &Module) -> Vec<Token> {
    let text = module.text();
    let mut tokens: Vec<Token> = Vec::new();
    let functions: HashSet<&str> = module.functions().iter().map(|function| module.slice(&function.name)).collect();
    let formals = module.functions().iter().flat_map(|function| function.results.iter().chain(&function.parameters));
    let formals: HashSet<&str> = formals.map(|formal| module.slice(&formal.name)).collect();
    let labels = module.scopes().iter().flat_map(|scope| scope.labels());
    let labels: HashSet<&str> = labels.map(|label| module.slice(&label.name)).collect();
    let mut statements = module.statements().iter().peekable();
    for lex::Token { kind, range } in lex::tokens(text) {
        while statements.next_if(|statement| statement.span.end <= range.start).is_some() {}
        let statement = statements.peek().filter(|statement| statement.span.start <= range.start);
        let word = &text[range.clone()];
        let kind_of = statement.map(|statement| &statement.kind);
        let opcode = match kind_of {
            Some(StatementKind::Instruction { opcode, .. }) => Some(opcode),
            _ => None,
        };
        let in_opcode = opcode.is_some_and(|opcode| opcode.start <= range.start && range.end <= opcode.end);
        let ty = match (kind, kind_of) {
            (TokenKind::Comment, _) => TokenType::Comment,
            (_, Some(StatementKind::Preprocessor)) => TokenType::Macro,
            (TokenKind::String, _) => TokenType::String,
            (TokenKind::Number, _) => TokenType::Number,
            (TokenKind::Sign, _) => continue,
            // The fraction of a number.
            (TokenKind::Dotted, _) if word[1..].starts_with(|c: char| c.is_ascii_digit()) => TokenType::Number,
            (TokenKind::Dotted, _) => match reference::dotted(word).map(|row| row.kind) {
                Some(reference::Kind::Type) => TokenType::Type,
                Some(_) if !in_opcode => TokenType::Keyword,
                _ => TokenType::Modifier,
            },
            (TokenKind::Name, _) if opcode.is_some_and(|opcode| opcode.start == range.start) => TokenType::Keyword,
            // `L1::evict_last`.
            (TokenKind::Name, _) if in_opcode => TokenType::Modifier,
            (TokenKind::Name, Some(StatementKind::Label { .. })) => TokenType::Label,
            (TokenKind::Name, Some(_)) => match word {
                word if functions.contains(word) => TokenType::Function,
                word if labels.contains(word) => TokenType::Label,
                word if formals.contains(word) => TokenType::Parameter,
                word if reference::register(word).is_some() => TokenType::Special,
                _ => TokenType::Variable,
            },
            (TokenKind::Name, None) => continue,
        };
        // The protocol's tokens end with their line.
        let mut start = range.start;
        for line in word.split_inclusive(['\n', '\r']) {
            let length = line.trim_end_matches(['\n', '\r']).len();
            if length > 0 {
                tokens.push(Token { span: start..start + length, ty });
            }
            start += line.len();
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_kinds() {
        let text = "#line 1\n.version 8.0 /* a\nb */\n.visible .entry k(.param .u64 p)\n{\nL: @q ld.global.L1::evict_last.u32 r, [p+4];\n\
                    mov.u32 r, %tid.x; bra L;\n}\n.file 1 \"x\"";
        let module = Module::parse(text);
        let tokens = tokens(&module);
        let of = |word: &str| {
            let token = tokens.iter().find(|token| &text[token.span.clone()] == word);
            token.unwrap_or_else(|| panic!("{word}: {tokens:?}")).ty
        };
        for (word, ty) in [
            ("line", TokenType::Macro),
            (".version", TokenType::Keyword),
            ("8", TokenType::Number),
            (".0", TokenType::Number),
            ("/* a", TokenType::Comment),
            ("b */", TokenType::Comment),
            (".entry", TokenType::Keyword),
            ("k", TokenType::Function),
            (".u64", TokenType::Type),
            ("p", TokenType::Parameter),
            ("L", TokenType::Label),
            ("ld", TokenType::Keyword),
            (".global", TokenType::Modifier),
            ("evict_last", TokenType::Modifier),
            (".u32", TokenType::Type),
            ("r", TokenType::Variable),
            ("%tid", TokenType::Special),
            (".x", TokenType::Modifier),
            ("\"x\"", TokenType::String),
        ] {
            assert_eq!(of(word), ty, "{word}");
        }
        assert!(tokens.windows(2).all(|two| two[0].span.end <= two[1].span.start));
        assert_eq!(TokenType::NAMES.len(), TokenType::Macro as usize + 1);
    }
}
