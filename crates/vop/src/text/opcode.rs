//! [`Opcode`]: a mnemonic with its modifiers, as they are written.

use alloc::format;

use super::habits;
use super::lex::{Span, Token, TokenKind};
use super::reader::Reader;
use super::suggest::{listed, nearest};
use crate::diagnostic::{Code, Diagnostic};
use crate::isa::form::Modifiers;
use crate::isa::table::Mnemonic;
use crate::isa::types::{Comparison, PLUS_ONE, SAT, Scale, Secondary, ShiftMode, Type, modifier_names};

/// A mnemonic with its modifiers, as far as they make sense by themselves.
pub(super) struct Opcode {
    pub(super) mnemonic: Token,
    /// Where it ends.
    pub(super) end: Span,
    /// The first four: one more than any instruction has is enough to tell.
    pub(super) types: [Type; 4],
    pub(super) type_count: usize,
    /// From the first type to the last.
    pub(super) type_span: Span,
    /// The fourth type and others that are too many.
    pub(super) extra_types: Span,
    pub(super) last_type: Span,
    pub(super) wanted: Modifiers<'static>,
    pub(super) sat: Span,
    pub(super) secondary: Span,
    pub(super) comparison: Span,
    pub(super) shift_mode: Span,
    pub(super) scale: Span,
    pub(super) plus_one: Span,
    /// A type that is none of video instructions' took the place of one.
    pub(super) wrong_type: bool,
    /// Something unknown may have been meant for what is missing.
    pub(super) unknown: bool,
    /// Some modifier is in upper case, and taken for the one in lower case. One fault for the whole instruction says so.
    pub(super) capitals: bool,
}

impl Opcode {
    pub(super) fn new(mnemonic: Token) -> Opcode {
        Opcode {
            mnemonic,
            end: mnemonic.at.behind(),
            types: [Type::U32; 4],
            type_count: 0,
            type_span: Span::default(),
            extra_types: Span::default(),
            last_type: Span::default(),
            wanted: Modifiers::default(),
            sat: Span::default(),
            secondary: Span::default(),
            comparison: Span::default(),
            shift_mode: Span::default(),
            scale: Span::default(),
            plus_one: Span::default(),
            wrong_type: false,
            unknown: false,
            capitals: false,
        }
    }

    pub(super) fn types(&self) -> &[Type] {
        &self.types[..self.type_count.min(self.types.len())]
    }

    fn push_type(&mut self, ty: Type, span: Span) {
        if let Some(place) = self.types.get_mut(self.type_count) {
            *place = ty;
        }
        match self.type_count {
            0..3 => {}
            3 => self.extra_types = span,
            _ => self.extra_types.end = span.end,
        }
        if self.type_count == 0 {
            self.type_span = span;
        }
        self.type_span.end = span.end;
        self.last_type = span;
        self.type_count += 1;
    }
}

/// Types of other instructions: they stand where one of ours should.
const FOREIGN_TYPES: [&str; 24] = [
    "u8", "u16", "u64", "s8", "s16", "s64", "b8", "b16", "b32", "b64", "b128", "f16", "f16x2", "f32", "f64", "bf16",
    "bf16x2", "tf32", "u16x2", "s16x2", "u8x4", "s8x4", "pred", "x2",
];

/// Comparisons of other instructions.
const FOREIGN_COMPARISONS: [&str; 12] =
    ["lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

/// Comparisons as other languages abbreviate them, and those that are meant: `.neq` is nearest to `.eq`.
const ABBREVIATIONS: [(&str, &str); 5] = [("neq", "ne"), ("lte", "le"), ("leq", "le"), ("gte", "ge"), ("geq", "ge")];

impl Reader<'_, '_> {
    /// Reads the modifiers behind a mnemonic.
    #[inline]
    pub(super) fn opcode(&mut self, mnemonic: Token) -> Opcode {
        let mut opcode = Opcode::new(mnemonic);
        // `.16` reads as a number, which no operand can be without a blank before it.
        let is_bits = |reader: &Self| {
            let text = reader.slice(reader.token);
            reader.token.kind == TokenKind::Float
                && reader.last_end() == reader.token.span().start
                && text.strip_prefix('.').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        };
        while self.token.kind == TokenKind::Dot || is_bits(self) {
            self.modifier(&mut opcode);
            self.advance();
        }
        opcode
    }

    /// Takes the modifier at the current token into account.
    fn modifier(&mut self, opcode: &mut Opcode) {
        let span = self.token.at;
        // Bytes, since a string would be checked for character boundaries each time.
        let name = &self.text().as_bytes()[span.start as usize + 1..span.end as usize];
        opcode.end = span.behind();
        if !self.known_modifier(name, span, opcode) {
            self.strange_modifier(&self.text_of(span)[1..], span, opcode);
        }
    }

    /// Takes a modifier of video instructions into account; `false` if the name is none.
    #[inline]
    fn known_modifier(&mut self, name: &[u8], span: Span, opcode: &mut Opcode) -> bool {
        if let Some(ty) = Type::from_bytes(name) {
            opcode.push_type(ty, span);
        } else if name == SAT.as_bytes() {
            opcode.wanted.sat = true;
            opcode.sat = span;
        } else if let Some(secondary) = Secondary::from_bytes(name) {
            self.once("secondary operation", &mut opcode.secondary, span);
            opcode.wanted.secondary.get_or_insert(secondary);
        } else if let Some(comparison) = Comparison::from_bytes(name) {
            self.once("comparison", &mut opcode.comparison, span);
            opcode.wanted.comparison.get_or_insert(comparison);
        } else if let Some(mode) = ShiftMode::from_bytes(name) {
            self.once("shift mode", &mut opcode.shift_mode, span);
            opcode.wanted.shift_mode.get_or_insert(mode);
        } else if let Some(scale) = Scale::from_bytes(name) {
            self.once("scale", &mut opcode.scale, span);
            opcode.wanted.scale.get_or_insert(scale);
        } else if name == PLUS_ONE.as_bytes() {
            self.once("`.po`", &mut opcode.plus_one, span);
            opcode.wanted.plus_one = true;
        } else {
            return false;
        }
        true
    }

    /// Remembers where a modifier stands that may stand once.
    #[inline]
    fn once(&mut self, what: &str, first: &mut Span, span: Span) {
        if first.is_empty() {
            *first = span;
        } else {
            self.more_than_one(what, *first, span);
        }
    }

    #[cold]
    fn more_than_one(&mut self, what: &str, first: Span, span: Span) {
        let text = self.text_of(span);
        let fault = Diagnostic::new(Code::V0205, span.range(), format!("more than one {what}: `{text}` is too many"))
            .related(first.range(), "the first is here")
            .help("keep one of them");
        self.fault(fault);
    }

    #[cold]
    fn strange_modifier(&mut self, name: &str, span: Span, opcode: &mut Opcode) {
        if name.bytes().any(|byte| byte.is_ascii_uppercase())
            && self.known_modifier(name.to_ascii_lowercase().as_bytes(), span, opcode)
        {
            opcode.capitals = true;
            return;
        }
        let mnemonic = self.slice(opcode.mnemonic);
        let behind = &self.text()[opcode.mnemonic.span().end..];
        let modifiers = behind.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
        let has_operands = !matches!(behind[modifiers.len()..].trim_start().chars().next(), None | Some(';'));
        let packed = match Mnemonic::from_name(mnemonic) {
            Some(_) if modifiers.len() < 100 => habits::instead_of_packed(mnemonic, modifiers, has_operands),
            _ => None,
        };
        let fault = if FOREIGN_TYPES.contains(&name) {
            opcode.push_type(Type::U32, span);
            opcode.wrong_type = true;
            Diagnostic::new(Code::V0204, span.range(), format!("`.{name}` is not a type of video instructions"))
                .label("`.u32` or `.s32`")
                .help(match name {
                    _ if packed.is_some() => packed.as_deref().unwrap_or_default(),
                    "u8" | "s8" | "b8" | "u8x4" | "s8x4" => {
                        "write `.u32` or `.s32`; bytes are chosen by selectors (`a.b0`) or by the mnemonic (`vadd4`)"
                    }
                    "u16" | "s16" | "b16" | "u16x2" | "s16x2" => {
                        "write `.u32` or `.s32`; half-words are chosen by selectors (`a.h0`) or by the mnemonic (`vadd2`)"
                    }
                    "b32" => "write `.u32` or `.s32`: the type says how bits are extended",
                    _ => "write `.u32` or `.s32`",
                })
        } else if FOREIGN_COMPARISONS.contains(&name) {
            if opcode.comparison.is_empty() {
                opcode.comparison = span;
                // Keeps "the comparison is missing" and "no comparison allowed" right.
                opcode.wanted.comparison = Some(Comparison::Eq);
            }
            let meant = match name {
                "lo" | "ltu" => "`.lt`",
                "ls" | "leu" => "`.le`",
                "hi" | "gtu" => "`.gt`",
                "hs" | "geu" => "`.ge`",
                "equ" => "`.eq`",
                "neu" => "`.ne`",
                _ => "`.eq`, `.ne`, `.lt`, `.le`, `.gt` or `.ge`",
            };
            let fault = Diagnostic::new(
                Code::V0210,
                span.range(),
                format!("`.{name}` does not compare 32-bit integers of given types"),
            )
            .help(format!("write {meant}; the types `.u32` and `.s32` say whether a and b are signed"));
            // These compare unsigned numbers.
            let unsigned = matches!(name, "lo" | "ls" | "hi" | "hs");
            if unsigned && opcode.types().iter().all(|ty| *ty == Type::U32) {
                fault.edit(span.range(), meant.trim_matches('`'))
            } else {
                fault
            }
        } else {
            opcode.unknown = true;
            let fault = Diagnostic::new(Code::V0201, span.range(), format!("unknown modifier `.{name}`"));
            let glued = modifier_names().find(|modifier| name.len() > modifier.len() && name.starts_with(modifier));
            let known = ABBREVIATIONS.iter().find(|(other, _)| *other == name).map(|(_, meant)| (*meant, true));
            let meant = known.or_else(|| nearest(name, modifier_names()));
            // A comparison that is nearest to a name may be another than the one that is meant.
            let is_comparison = |meant: &str| known.is_none() && Comparison::from_bytes(meant.as_bytes()).is_some();
            match meant {
                _ if packed.is_some() => fault.help(packed.unwrap_or_default()),
                _ if glued.is_some() && known.is_none() => {
                    let modifier = glued.unwrap_or_default();
                    let rest = &name[modifier.len()..];
                    fault.help(format!("if `{rest}` is an operand, a blank is missing before it: `.{modifier} {rest}`"))
                }
                Some((meant, is_certain)) => {
                    let fault = fault.label(format!("did you mean `.{meant}`?")).help(format!("write `.{meant}`"));
                    if is_certain && !is_comparison(meant) {
                        fault.edit(span.range(), format!(".{meant}"))
                    } else {
                        fault
                    }
                }
                None => {
                    fault.help(format!("the modifiers of video instructions are {}", listed(modifier_names(), ".")))
                }
            }
        };
        self.fault(fault);
    }
}
