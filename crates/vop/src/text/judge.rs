//! Judges what was read: modifiers and operands become a [`Form`], or diagnostics.
//!
//! What is legal is [`Form::new`]'s to say; here its verdict gets places and words, and what a form does not know,
//! the number and kinds of operands, is judged.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::lex::{Span, Token};
use super::operand::{Operands, Raw, Written};
use super::parse::Run;
use super::registers::RegisterType;
use super::suggest::nearest;
use crate::diagnostic::{Code, Diagnostic};
use crate::isa::form::{DestinationSelector, Form, Modifiers, Violation};
use crate::isa::table::{Axis, Mnemonic};
use crate::isa::types::{
    Comparison, Mask, PLUS_ONE, Part, SAT, Scale, Secondary, Selector, Shape, ShiftMode, Type, modifier_names,
};

/// A mnemonic with its modifiers, as far as they make sense by themselves.
pub(super) struct Opcode {
    pub(super) mnemonic: Token,
    /// Where it ends.
    pub(super) end: Span,
    /// The first four: one more than any instruction has is enough to tell.
    types: [Type; 4],
    type_count: usize,
    /// From the first type to the last.
    type_span: Span,
    /// The fourth type and others that are too many.
    extra_types: Span,
    last_type: Span,
    wanted: Modifiers<'static>,
    pub(super) sat: Span,
    secondary: Span,
    pub(super) comparison: Span,
    shift_mode: Span,
    scale: Span,
    plus_one: Span,
    /// A type that is none of video instructions' took the place of one.
    wrong_type: bool,
    /// Something unknown may have been meant for what is missing.
    unknown: bool,
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
        }
    }

    fn types(&self) -> &[Type] {
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

impl<'t> Run<'t, '_> {
    /// Takes the modifier at the current token into account.
    pub(super) fn modifier(&mut self, opcode: &mut Opcode) {
        let span = self.token.at;
        // Bytes, since a string would be checked for character boundaries each time.
        let name = &self.text().as_bytes()[span.start as usize + 1..span.end as usize];
        opcode.end = span.behind();
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
            self.strange_modifier(&self.text_of(span)[1..], span, opcode);
        }
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
        let fault = if FOREIGN_TYPES.contains(&name) {
            opcode.push_type(Type::U32, span);
            opcode.wrong_type = true;
            Diagnostic::new(Code::V0204, span.range(), format!("`.{name}` is not a type of video instructions"))
                .label("`.u32` or `.s32`")
                .help(match name {
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
            Diagnostic::new(
                Code::V0210,
                span.range(),
                format!("`.{name}` does not compare 32-bit integers of given types"),
            )
            .help(format!("write {meant}; the types `.u32` and `.s32` say whether a and b are signed"))
        } else {
            opcode.unknown = true;
            let fault = Diagnostic::new(Code::V0201, span.range(), format!("unknown modifier `.{name}`"));
            let glued = modifier_names().find(|modifier| name.len() > modifier.len() && name.starts_with(modifier));
            match nearest(name, modifier_names()) {
                _ if glued.is_some() => {
                    let modifier = glued.unwrap_or_default();
                    let rest = &name[modifier.len()..];
                    fault.help(format!("if `{rest}` is an operand, a blank is missing before it: `.{modifier} {rest}`"))
                }
                Some(meant) => fault.label(format!("did you mean `.{meant}`?")).help(format!("write `.{meant}`")),
                None => {
                    fault.help(format!("the modifiers of video instructions are {}", listed(modifier_names(), ".")))
                }
            }
        };
        self.fault(fault);
    }

    fn text_at(&self, span: &Range<usize>) -> String {
        self.text().get(span.clone()).unwrap_or_default().to_string()
    }

    /// The form that was written, `None` if there is none such. Faults are recorded, also where there is one.
    pub(super) fn judge(&mut self, opcode: &Opcode, operands: &Operands) -> Option<Form> {
        let name = self.slice(opcode.mnemonic);
        let Some(mnemonic) = Mnemonic::from_name(name) else {
            self.unknown_mnemonic(opcode, name);
            return None;
        };
        let mut wanted = opcode.wanted;
        wanted.types = opcode.types();
        let bare = self.parser.bare && operands.complete && operands.count == 0;
        if !bare {
            if !operands.plain || self.knows_registers() {
                self.operand_kinds(mnemonic, operands);
            }
            let [d, a, b, c] = &operands.list;
            wanted.minuses = [a.minus, b.minus, c.minus];
            if !mnemonic.allows(Axis::Negation) && wanted.minuses == CANCELLED {
                wanted.minuses = [false; 3];
            }
            wanted.dsel = self.destination_selector(mnemonic, d);
            wanted.asel = self.source_selector(mnemonic, a, false);
            wanted.bsel = self.source_selector(mnemonic, b, true);
            self.no_selector_on_c(mnemonic, c, operands.count);
            // Where the form is legal this is what `Form::uses_c` says.
            let uses_c = wanted.secondary.is_some() || wanted.dsel.is_some() || !mnemonic.allows(Axis::OptionalC);
            self.operand_count(mnemonic, uses_c, operands);
        }
        match Form::new(mnemonic, &wanted) {
            Ok(form) => Some(form),
            Err(violations) => {
                for violation in violations {
                    self.violation(mnemonic, opcode, operands, violation);
                }
                None
            }
        }
    }

    #[cold]
    fn unknown_mnemonic(&mut self, opcode: &Opcode, name: &str) {
        let fault =
            Diagnostic::new(Code::V0102, opcode.mnemonic.span(), format!("`{name}` is not a video instruction"));
        let meant = match name {
            "vavrg" => Some(("vavrg2` or `vavrg4", "the average has no scalar form")),
            "varvg2" => Some(("vavrg2", "the manual's Target ISA notes (9.7.18.2.1) misspell it `varvg2`")),
            "varvg4" => Some(("vavrg4", "the manual's Target ISA notes (9.7.18.2.3) misspell it `varvg4`")),
            _ => nearest(name, Mnemonic::ALL.map(Mnemonic::name))
                .map(|meant| (meant, if meant.eq_ignore_ascii_case(name) { "mnemonics are lower case" } else { "" })),
        };
        let fault = match meant {
            Some((meant, "")) => fault.label(format!("did you mean `{meant}`?")).help(format!("write `{meant}`")),
            Some((meant, why)) => {
                fault.label(format!("did you mean `{meant}`?")).help(format!("write `{meant}`: {why}"))
            }
            None => {
                let names = Mnemonic::ALL.into_iter().map(Mnemonic::name);
                fault.help(format!("the video instructions are {}", listed(names, "")))
            }
        };
        self.fault(fault);
    }

    fn destination_selector(&mut self, mnemonic: Mnemonic, d: &Written) -> Option<DestinationSelector> {
        if d.selector.is_empty() {
            return None;
        }
        let name = &self.text_of(d.selector)[1..];
        let shape = mnemonic.shape();
        if !shape.is_simd() {
            if let Some(part) = Part::from_name(name) {
                return Some(DestinationSelector::Part(part));
            }
            if is_void(name) {
                return None;
            }
        } else if let Some(mask) = mask(name, shape) {
            return Some(DestinationSelector::Mask(mask));
        }
        self.wrong_selector(mnemonic, name, d.selector.range(), Place::D);
        None
    }

    fn source_selector(&mut self, mnemonic: Mnemonic, operand: &Written, second: bool) -> Option<Selector> {
        if operand.selector.is_empty() {
            return None;
        }
        let name = &self.text_of(operand.selector)[1..];
        let selector = match mnemonic.shape() {
            Shape::Scalar => Part::from_name(name).map(Selector::Part),
            Shape::Halves => digits::<2>(name, 'h', 3).map(Selector::Halves),
            Shape::Bytes => digits::<4>(name, 'b', 7).map(Selector::Bytes),
        };
        if selector.is_none() {
            let place = if second { Place::B } else { Place::A };
            // Of `%tid.x` all is said with the register.
            let special =
                operand.raw == Raw::Register && self.knows_registers() && is_special(self.text_of(operand.name));
            if !special {
                self.wrong_selector(mnemonic, name, operand.selector.range(), place);
            }
        } else if name == "b1024" && !self.parser.lenient {
            let fault = Diagnostic::new(Code::V0311, operand.selector.range(), "ptxas cannot read the selector `.b1024`, though it is legal")
                .label("read as a type")
                .help("exchange a and b and swap the digits 0-3 with 4-7: `.b5460` on the other operand selects the same bytes");
            self.fault(fault);
        }
        selector
    }

    fn no_selector_on_c(&mut self, mnemonic: Mnemonic, c: &Written, count: usize) {
        if c.selector.is_empty() {
            return;
        }
        let name = &self.text_of(c.selector)[1..];
        // The fourth of five operands may be meant as another.
        if !mnemonic.shape().is_simd() && is_void(name) || count > 4 {
            return;
        }
        let fault =
            Diagnostic::new(Code::V0305, c.selector.range(), format!("operand c of `{mnemonic}` has no selector"))
                .help(format!("drop `.{name}`: c is a whole register"));
        self.fault(fault);
    }

    #[cold]
    fn wrong_selector(&mut self, mnemonic: Mnemonic, name: &str, span: Range<usize>, place: Place) {
        let shape = mnemonic.shape();
        let known = Part::from_name(name).is_some()
            || digits::<2>(name, 'h', 3).is_some()
            || digits::<4>(name, 'b', 7).is_some()
            || mask(name, Shape::Bytes).is_some()
            || mask(name, Shape::Halves).is_some();
        let operand = match place {
            Place::D => "d",
            Place::A => "a",
            Place::B => "b",
        };
        let legal = match (shape, place) {
            (Shape::Scalar, Place::D) if !mnemonic.allows(Axis::Merge) => "none".to_string(),
            (Shape::Scalar, _) => "`.b0`, `.b1`, `.b2`, `.b3`, `.h0` and `.h1`".to_string(),
            (Shape::Halves, Place::D) => "the masks `.h0`, `.h1` and `.h10`".to_string(),
            (Shape::Bytes, Place::D) => {
                "masks that name each byte once, the highest first: `.b0`, `.b1`, `.b10` … `.b3210`".to_string()
            }
            (Shape::Halves, _) => {
                "`.hxy` with x and y from 0 to 3 (0 and 1 are a's half-words, 2 and 3 b's)".to_string()
            }
            (Shape::Bytes, _) => "`.bxyzw` with digits from 0 to 7 (0 to 3 are a's bytes, 4 to 7 b's)".to_string(),
        };
        let mut help = format!("legal selectors on {operand} of `{mnemonic}`: {legal}");
        if let Some(meant) = meant_selector(name, shape, place) {
            help = format!("write `.{meant}`; {help}");
        }
        if shape.is_simd() && matches!(place, Place::D) && name == "b00" {
            help.push_str("; the mask `.b00` in the manual's example (9.7.18.2.3) is wrong");
        }
        let fault = if known || shape.is_simd() && matches!(place, Place::D) {
            Diagnostic::new(Code::V0304, span, format!("`.{name}` is not a selector for {operand} of `{mnemonic}`"))
        } else {
            Diagnostic::new(Code::V0303, span, format!("unknown selector `.{name}`"))
        };
        self.fault(fault.help(help));
    }

    /// Judges what kinds of things the operands are.
    fn operand_kinds(&mut self, mnemonic: Mnemonic, operands: &Operands) {
        let simd = mnemonic.shape().is_simd();
        let [_, a, b, c] = &operands.list;
        let negates = mnemonic.allows(Axis::Negation) || [a.minus, b.minus, c.minus] == CANCELLED;
        for (i, operand) in operands.list.iter().enumerate().take(operands.count) {
            match operand.raw {
                Raw::Register => {
                    if self.knows_registers() {
                        let name = self.text_of(operand.name);
                        let span = operand.name.start as usize..operand.at.end as usize;
                        // What has no dtype is stricter with the registers that dtype would be of.
                        let counts = operand.minus || matches!(i, 0 | 3) && !mnemonic.allows(Axis::Dtype);
                        if counts && self.register_type(name) == Some(RegisterType::F16x2) {
                            self.not_half_precision(mnemonic, name, span, operand.minus);
                        } else {
                            self.register_kind(mnemonic, name, span);
                        }
                    }
                    if operand.minus && (i == 0 || !negates) {
                        self.negation(mnemonic, i, operand);
                    }
                    if operand.sink && i > 0 {
                        self.wrong_kind(mnemonic, i, &Written { raw: Raw::Pair, ..*operand });
                    }
                }
                Raw::Sum if !simd => self.sum_kind(mnemonic, operand),
                Raw::Immediate if i > 0 && !simd => {}
                Raw::Absent => {}
                _ => self.wrong_kind(mnemonic, i, operand),
            }
        }
    }

    /// `.f16x2` registers are taken for 32 bits, but not for a number that is negated, nor for d and c of `vset`.
    #[cold]
    fn not_half_precision(&mut self, mnemonic: Mnemonic, name: &str, span: Range<usize>, minus: bool) {
        let message = match minus {
            true => format!("`{name}` is a `.f16x2` register, and `-{name}` would negate half-precision numbers"),
            false => format!("`{name}` is a `.f16x2` register; d and c of `{mnemonic}` are integer ones"),
        };
        let fault = Diagnostic::new(Code::V0402, span, message).label("declared `.f16x2`");
        self.fault(fault.help(format!("use a `.b32` register: `mov.b32 t, {name};`")));
    }

    fn register_kind(&mut self, mnemonic: Mnemonic, name: &str, span: Range<usize>) {
        let fault = match self.register_type(name) {
            Some(ty) if ty.is_operand() => return,
            Some(RegisterType::Vector) => Diagnostic::new(
                Code::V0310,
                span,
                format!("`{name}` is a vector register; `{mnemonic}` takes single ones"),
            )
            .help("move the element to a `.b32` register first"),
            Some(ty) => Diagnostic::new(
                Code::V0402,
                span,
                format!("`{name}` is a `.{}` register; `{mnemonic}` takes 32-bit integer ones", ty.name()),
            )
            .label(format!("declared `.{}`", ty.name()))
            .help(match ty {
                RegisterType::F32 => format!("move its bits first: `mov.b32 t, {name};`"),
                RegisterType::Pred => format!("make a number of it first: `selp.u32 t, 1, 0, {name};`"),
                RegisterType::U64 | RegisterType::S64 | RegisterType::B64 => {
                    format!("take its lower half first: `cvt.u32.u64 t, {name};`")
                }
                _ => format!(
                    "convert it first: `cvt.u32.{} t, {name};`",
                    if ty.name().starts_with('s') { ty.name() } else { "u16" }
                ),
            }),
            None if is_special(name) => {
                let text = self.text_at(&span);
                let message = format!("`{mnemonic}` takes no special register, and `{text}` is one");
                Diagnostic::new(Code::V0310, span, message)
                    .help(format!("move it to a register first: `mov.u32 t, {text};`"))
            }
            None => undeclared(span, name, ".b32"),
        };
        self.fault(fault);
    }

    /// Judges the register of `c+1`: any integer one, also a special one, but of 32 bits for `vset`.
    #[cold]
    fn sum_kind(&mut self, mnemonic: Mnemonic, operand: &Written) {
        let register = self.text_of(operand.name);
        let vector = VECTOR_SPECIALS.contains(&register.trim_start_matches('%'));
        if !self.knows_registers() || is_special(register) && !vector {
            return;
        }
        match self.register_type(register) {
            Some(ty) if ty.is_integer() && (ty.is_operand() || mnemonic.allows(Axis::Dtype)) => {}
            Some(RegisterType::F16x2) if !mnemonic.allows(Axis::Dtype) => {
                self.not_half_precision(mnemonic, register, operand.name.range(), false);
            }
            _ => self.register_kind(mnemonic, register, operand.name.range()),
        }
    }

    #[cold]
    fn negation(&mut self, mnemonic: Mnemonic, i: usize, operand: &Written) {
        let span = operand.minus_span();
        let fault = if i == 0 {
            Diagnostic::new(Code::V0307, span, "the destination cannot be negated").help("drop the minus")
        } else {
            Diagnostic::new(Code::V0307, span, format!("`{mnemonic}` does not negate its operands"))
                .label("only `vmad` does")
                .help("negate first: `neg.s32 t, …;`, or use `vsub` for a difference")
        };
        self.fault(fault);
    }

    #[cold]
    fn wrong_kind(&mut self, mnemonic: Mnemonic, i: usize, operand: &Written) {
        let span = operand.span();
        let text = self.text_at(&span);
        let place = ["d", "a", "b", "c"][i.min(3)];
        let fault = match operand.raw {
            Raw::Immediate if i == 0 => {
                Diagnostic::new(Code::V0310, span, "the destination must be a register").label("a number")
            }
            Raw::Immediate => Diagnostic::new(Code::V0302, span, format!("`{mnemonic}` takes no immediate operands"))
                .label("must be a register")
                .help(format!("move it to a register first: `mov.b32 t, {:#x};`", operand.value)),
            Raw::Float => Diagnostic::new(Code::V0310, span, format!("`{text}` is a floating-point number"))
                .help("write an integer"),
            Raw::Vector => Diagnostic::new(Code::V0310, span, format!("`{mnemonic}` takes no vector operands"))
                .help("write one register"),
            Raw::Address => {
                Diagnostic::new(Code::V0310, span, format!("operand {place} must be a register, not an address"))
                    .help("load it first: `ld.global.u32 t, …;`")
            }
            Raw::Discard => Diagnostic::new(Code::V0310, span, format!("`{mnemonic}` does not take `_`"))
                .help(if i == 0 { "name a register, if one that nobody reads" } else { "name a register" }),
            Raw::Not => {
                Diagnostic::new(Code::V0310, span, "a negated predicate is not an operand of video instructions")
            }
            Raw::Sum => {
                Diagnostic::new(Code::V0310, span, format!("`{mnemonic}` takes no sum of a register and a number"))
                    .help("add first: `add.u32 t, …;`")
            }
            Raw::Pair => Diagnostic::new(Code::V0310, span, format!("`{mnemonic}` has no second destination"))
                .help("write one register"),
            Raw::Absent | Raw::Register => return,
        };
        self.fault(fault);
    }

    fn operand_count(&mut self, mnemonic: Mnemonic, needs_c: bool, operands: &Operands) {
        let right = if needs_c { operands.count == 4 } else { matches!(operands.count, 3 | 4) };
        if right || !operands.complete {
            return;
        }
        self.wrong_count(mnemonic, needs_c, operands);
    }

    #[cold]
    fn wrong_count(&mut self, mnemonic: Mnemonic, needs_c: bool, operands: &Operands) {
        let count = operands.count;
        let selector = operands.list[0].selector;
        let merges = !selector.is_empty() && !mnemonic.shape().is_simd() && mnemonic.allows(Axis::Merge);
        if merges && count == 3 && needs_c {
            let text = self.text_of(selector);
            let fault = Diagnostic::new(
                Code::V0306,
                selector.range(),
                format!("`{text}` on d needs operand c, whose other bits d takes"),
            )
            .help("name the register to merge into as the fourth operand, or drop the selector");
            self.fault(fault);
            return;
        }
        let expected = if needs_c { "d, a, b and c" } else { "d, a and b" };
        let span = if count > 4 { operands.fifth..operands.end } else { operands.end..operands.end };
        let plural = if count == 1 { "" } else { "s" };
        let mut help = match count {
            5.. => String::from("drop what is too much"),
            _ => format!("write {expected}"),
        };
        if mnemonic.shape().is_simd() && count == 3 {
            help = String::from(
                "SIMD forms always have c, from which the lanes outside the mask come: with all lanes written any register does",
            );
        }
        let fault = Diagnostic::new(
            Code::V0301,
            span,
            format!("`{mnemonic}` takes {expected} here, not {count} operand{plural}"),
        )
        .help(help);
        self.fault(fault);
    }

    #[cold]
    fn violation(&mut self, mnemonic: Mnemonic, opcode: &Opcode, operands: &Operands, violation: Violation) {
        let behind = opcode.end.range();
        let fault = match violation {
            Violation::TypeCount { expected, .. } => {
                let found = opcode.type_count;
                if found == expected || opcode.wrong_type || opcode.unknown && found < expected {
                    return;
                }
                let order = if expected == 2 { "two types, of a and b" } else { "three types, of d, a and b" };
                let span = match found {
                    0 => opcode.mnemonic.at,
                    3 if expected == 2 => opcode.last_type,
                    4.. => opcode.extra_types,
                    _ => opcode.type_span,
                };
                let example = if expected == 2 { ".u32.u32" } else { ".u32.u32.u32" };
                Diagnostic::new(
                    Code::V0203,
                    span.range(),
                    format!("`{mnemonic}` has {order}; here {} {found}", if found == 1 { "is" } else { "are" }),
                )
                .help(format!("write `{mnemonic}{example}`, with `.s32` for what is signed"))
            }
            Violation::SignedShiftAmount if opcode.wrong_type => return,
            Violation::SignedShiftAmount => Diagnostic::new(
                Code::V0209,
                opcode.last_type.range(),
                format!("the shift amount of `{mnemonic}` is `.u32`"),
            )
            .label("must be `.u32`")
            .help("write `.u32` as the third type"),
            // Said where the minus stands.
            Violation::NotAllowed(Axis::Negation) => return,
            Violation::NotAllowed(axis) => {
                let span = self.axis_span(opcode, axis);
                let text = self.text_of(span);
                let help = match axis {
                    Axis::Sat => format!("drop `{text}`: the result of `{mnemonic}` is 0 or 1 in each lane"),
                    Axis::Secondary => format!("drop `{text}`: `{mnemonic}` adds c by itself"),
                    Axis::Comparison => format!("drop `{text}`: comparisons belong to `vset`, `vset2` and `vset4`"),
                    Axis::ShiftMode => format!("drop `{text}`: it belongs to `vshl` and `vshr`"),
                    _ => format!("drop `{text}`: it belongs to `vmad`"),
                };
                Diagnostic::new(Code::V0202, span.range(), format!("`{mnemonic}` does not take `{text}`")).help(help)
            }
            // It may be the unknown one, or stand behind what could not be read.
            Violation::Missing(_) if opcode.unknown || !operands.complete => return,
            Violation::Missing(axis) => {
                let (what, legal, example) = match axis {
                    Axis::Comparison => ("a comparison", "`.eq`, `.ne`, `.lt`, `.le`, `.gt` or `.ge`", ".u32.u32.eq"),
                    _ => ("a shift mode", "`.clamp` or `.wrap`", ".u32.u32.u32.clamp"),
                };
                Diagnostic::new(Code::V0206, behind, format!("`{mnemonic}` needs {what}"))
                    .label(format!("{legal} goes here"))
                    .help(format!("add {legal}, as in `{mnemonic}{example}`"))
            }
            Violation::SimdSecondary(secondary) => {
                let mut help = format!("drop `{secondary}`; `.add` alone is legal in SIMD forms");
                if mnemonic == Mnemonic::Vset4 && secondary == Secondary::Max {
                    help.push_str("; the manual's example `vset4.u32.u32.ne.max` (9.7.18.2.4) is wrong");
                }
                Diagnostic::new(
                    Code::V0208,
                    opcode.secondary.range(),
                    format!("`{secondary}` is not a secondary operation of SIMD forms"),
                )
                .help(help)
            }
            Violation::SaturatedAccumulate => {
                let (first, second) = order(opcode.sat.range(), opcode.secondary.range());
                Diagnostic::new(Code::V0207, second, "`.sat` cannot be combined with `.add` in SIMD forms")
                    .related(first, "with this")
                    .help("drop one")
            }
            Violation::MergeWithSecondary => {
                let selector = operands.list[0].selector;
                let (text, operation) = (self.text_of(selector), self.text_of(opcode.secondary));
                Diagnostic::new(
                    Code::V0211,
                    selector.range(),
                    format!("a selector on d cannot be combined with a secondary operation, `{operation}`"),
                )
                .related(opcode.secondary.range(), "the secondary operation")
                .help(format!("drop `{operation}` to merge into a part of c, or `{text}` to combine the result with c"))
            }
            Violation::DestinationSelector => {
                let selector = operands.list[0].selector;
                let text = self.text_of(selector);
                Diagnostic::new(Code::V0306, selector.range(), format!("`{mnemonic}` has no selector on d"))
                    .help(format!("drop `{text}`; to merge the result use another instruction, such as `prmt.b32`"))
            }
            // Selectors are read by the mnemonic's shape, so that a wrong one never gets here.
            Violation::SourceSelector { .. } => return,
            Violation::NegatedProductAndC => {
                let [_, a, b, c] = &operands.list;
                let product = if a.minus { a } else { b };
                Diagnostic::new(Code::V0308, c.minus_span(), "`vmad` negates the product or c, not both")
                    .related(product.minus_span(), "the product is negated here")
                    .help("drop one minus, or negate c first: `neg.s32 t, c;`")
            }
            Violation::PlusOneNegation => {
                let minus = operands.list[1..].iter().find(|operand| operand.minus);
                let span = minus.map_or(behind, Written::minus_span);
                Diagnostic::new(Code::V0309, span, "operands cannot be negated with `.po`")
                    .related(opcode.plus_one.range(), "with this")
                    .help("drop the minus or `.po`")
            }
        };
        self.fault(fault);
    }

    fn axis_span(&self, opcode: &Opcode, axis: Axis) -> Span {
        match axis {
            Axis::Sat => opcode.sat,
            Axis::Comparison => opcode.comparison,
            Axis::ShiftMode => opcode.shift_mode,
            Axis::Scale => opcode.scale,
            Axis::PlusOne => opcode.plus_one,
            _ => opcode.secondary,
        }
    }
}

/// Minuses before both a and b and not c. ptxas counts only whether the product is negated, of any instruction, and so
/// takes these two everywhere; outside `vmad` they have no effect (`vadd.u32.u32.u32 d, -a, -b` computes a + b).
const CANCELLED: [bool; 3] = [true, true, false];

/// The operand that a selector stands on.
#[derive(Clone, Copy)]
enum Place {
    D,
    A,
    B,
}

/// `.b01`, `.b12` and `.b23`, which ptxas takes on d and c of scalar forms and ignores. They are of another
/// instruction family; no code is known that writes them.
fn is_void(name: &str) -> bool {
    matches!(name, "b01" | "b12" | "b23")
}

/// The digits of `.hxy` or `.bxyzw`, by lane: the last digit is lane 0's.
fn digits<const N: usize>(name: &str, letter: char, highest: u8) -> Option<[u8; N]> {
    let digits: &[u8; N] = name.strip_prefix(letter)?.as_bytes().try_into().ok()?;
    let mut lanes = [0; N];
    for (lane, digit) in lanes.iter_mut().zip(digits.iter().rev()) {
        *lane = digit.wrapping_sub(b'0');
        if *lane > highest {
            return None;
        }
    }
    Some(lanes)
}

/// The mask of `.b310`: digits from the highest down, each once.
fn mask(name: &str, shape: Shape) -> Option<Mask> {
    let mut bits = 0u8;
    let mut below = shape.lanes() as u8;
    for digit in name.strip_prefix(shape.letter())?.bytes() {
        let lane = digit.wrapping_sub(b'0');
        if lane >= below {
            return None;
        }
        below = lane;
        bits |= 1 << lane;
    }
    Mask::new(bits, shape)
}

/// What a wrong selector was probably meant to be.
fn meant_selector(name: &str, shape: Shape, place: Place) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let letter = shape.letter();
    let digits: Vec<u8> = lower.get(1..)?.bytes().filter(u8::is_ascii_digit).collect();
    if digits.len() + 1 != lower.len() || digits.is_empty() {
        return None;
    }
    match (shape, place) {
        (Shape::Scalar, _) => Part::from_name(&lower).map(|part| part.name().to_string()),
        (_, Place::D) => {
            let mut lanes = digits;
            lanes.sort_unstable_by(|a, b| b.cmp(a));
            lanes.dedup();
            let meant = format!("{letter}{}", String::from_utf8(lanes).ok()?);
            mask(&meant, shape).map(|_| meant)
        }
        // A scalar's selector: the same byte in every lane is what one reaches for.
        (_, Place::A | Place::B) if digits.len() == 1 && lower.starts_with(letter) => {
            let digit = char::from(digits[0]);
            let most = if shape == Shape::Bytes { '7' } else { '3' };
            (digit <= most).then(|| format!("{letter}{}", String::from(digit).repeat(shape.lanes())))
        }
        _ => None,
    }
}

/// Names behind each other, each with a prefix.
fn listed(names: impl Iterator<Item = &'static str>, prefix: &str) -> String {
    names.map(|name| format!("{prefix}{name}")).collect::<Vec<_>>().join(" ")
}

fn order(a: Range<usize>, b: Range<usize>) -> (Range<usize>, Range<usize>) {
    if a.start <= b.start { (a, b) } else { (b, a) }
}

#[cold]
pub(super) fn undeclared(span: Range<usize>, name: &str, ty: &str) -> Diagnostic {
    Diagnostic::new(Code::V0401, span, format!("`{name}` is not declared"))
        .help(format!("declare it: `.reg {ty} {name};`"))
}

/// The special registers that are vectors: what `.x` and the like stand behind.
const VECTOR_SPECIALS: [&str; 8] =
    ["tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"];

/// Whether a name is one of PTX's special registers (PTX ISA 10).
fn is_special(name: &str) -> bool {
    let Some(name) = name.strip_prefix('%') else { return false };
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    matches!(
        name,
        "laneid"
            | "warpid"
            | "nwarpid"
            | "smid"
            | "nsmid"
            | "gridid"
            | "cluster_ctarank"
            | "cluster_nctarank"
            | "is_explicit_cluster"
            | "clock"
            | "clock_hi"
            | "clock64"
            | "globaltimer"
            | "globaltimer_lo"
            | "globaltimer_hi"
            | "lanemask_eq"
            | "lanemask_le"
            | "lanemask_lt"
            | "lanemask_ge"
            | "lanemask_gt"
            | "total_smem_size"
            | "aggr_smem_size"
            | "dynamic_smem_size"
            | "current_graph_exec"
    ) || VECTOR_SPECIALS.contains(&name)
        || numbered("pm")
        || numbered("envreg")
        || name.starts_with("reserved_smem_offset_")
}
