//! The words of the [verdict](super::verdict): each fault as a diagnostic, with its place and what to write instead.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::habits;
use super::instruction::Guard;
use super::lex::Span;
use super::opcode::Opcode;
use super::operand::{Operands, Raw, Written};
use super::patch::{Need, edited};
use super::reader::Reader;
use super::registers::RegisterType;
use super::selector::{digits, mask};
use super::suggest::{listed, nearest};
use crate::diagnostic::{Code, Diagnostic};
use crate::isa::form::Violation;
use crate::isa::scalar::ScalarType;
use crate::isa::special;
use crate::isa::table::{Axis, Mnemonic};
use crate::isa::types::{Part, Secondary, Shape};

/// The operand that a selector stands on.
#[derive(Clone, Copy)]
pub(super) enum Side {
    D,
    A,
    B,
}

impl Reader<'_, '_> {
    fn text_at(&self, span: &Range<usize>) -> String {
        self.text().get(span.clone()).unwrap_or_default().to_string()
    }

    #[cold]
    pub(super) fn unknown_mnemonic(
        &mut self,
        guard: Option<Guard<'_>>,
        opcode: &Opcode,
        operands: &Operands,
        name: &str,
    ) {
        let fault =
            Diagnostic::new(Code::V0102, opcode.mnemonic.span(), format!("`{name}` is not a video instruction"));
        if let Some(instead) = self.habit(guard, opcode, operands, name) {
            // What is said of the types and of a call's brackets would be said of another language.
            self.faults.retain(|fault| fault.span.start < opcode.mnemonic.span().start);
            let mut fault = fault.label(format!("did you mean `{}`?", instead.mnemonic)).help(instead.help);
            if let Some(text) = instead.text {
                fault = fault.edit(self.statement_start(opcode)..operands.end, text);
            }
            return self.fault(fault);
        }
        if let Some(advice) = habits::advice(name) {
            return self.fault(fault.help(advice));
        }
        if let Some(advice) = habits::base_instruction(name) {
            return self.fault(fault.help(advice));
        }
        let mut is_certain = true;
        let meant = match name {
            "varvg2" => Some(("vavrg2", "the manual's Target ISA notes (9.7.18.2.1) misspell it `varvg2`")),
            "varvg4" => Some(("vavrg4", "the manual's Target ISA notes (9.7.18.2.3) misspell it `varvg4`")),
            // `vsum4` is near `vsub4`, and does not subtract.
            _ if name.to_ascii_lowercase().starts_with("vsum") => {
                return self.fault(fault.help(
                    "no video instruction adds only the lanes of one register: with `.add` behind its types, a SIMD instruction adds \
                     its results in all lanes to c",
                ));
            }
            _ => nearest(name, Mnemonic::ALL.map(Mnemonic::name)).map(|(meant, certain)| {
                is_certain = certain;
                (meant, "")
            }),
        };
        if let Some(help) = other_lanes(name) {
            return self.fault(fault.help(help));
        }
        let place = opcode.mnemonic.span();
        let fault = match meant {
            Some((meant, "")) => {
                let fault = fault.label(format!("did you mean `{meant}`?")).help(format!("write `{meant}`"));
                if is_certain { fault.edit(place, meant) } else { fault }
            }
            Some((meant, why)) => {
                let help = format!("write `{meant}`: {why}");
                fault.label(format!("did you mean `{meant}`?")).help(help).edit(place, meant)
            }
            None => {
                let names = Mnemonic::ALL.into_iter().map(Mnemonic::name);
                fault.help(format!("the video instructions are {}", listed(names, "")))
            }
        };
        self.fault(fault);
    }

    /// What to write for a name of another family.
    fn habit(
        &self,
        guard: Option<Guard<'_>>,
        opcode: &Opcode,
        operands: &Operands,
        name: &str,
    ) -> Option<habits::Instead> {
        let list = &operands.list[..operands.count.min(4)];
        let is_plain = |operand: &Written| {
            operand.raw == Raw::Register && !operand.minus && !operand.sink && operand.selector.is_empty()
        };
        let plain = operands.complete && operands.count <= 4 && list.iter().all(is_plain);
        let registers: Vec<&str> =
            if plain { list.iter().map(|operand| self.text_of(operand.name)).collect() } else { Vec::new() };
        let guard = guard.map(|guard| format!("{guard} ")).unwrap_or_default();
        let modifiers = &self.text()[opcode.mnemonic.span().end..opcode.end.range().end];
        habits::instead(name, modifiers, &habits::Given { guard, registers: &registers, others: operands.count > 0 })
    }

    /// The instruction is legal in lower case, or its other faults are told.
    #[cold]
    pub(super) fn upper_case(&mut self, mnemonic: Mnemonic, opcode: &Opcode, operands: &Operands) {
        let span = opcode.mnemonic.span().start..opcode.end.range().end;
        let text = self.text_at(&span);
        let code = if self.slice(opcode.mnemonic) == mnemonic.name() { Code::V0201 } else { Code::V0102 };
        let is_upper = |span: Span| self.text_of(span).bytes().any(|byte| byte.is_ascii_uppercase());
        let selectors = if operands.list.iter().any(|operand| is_upper(operand.selector)) {
            ", and selectors in lower case"
        } else {
            ""
        };
        let fault = Diagnostic::new(code, span, format!("`{text}` is not in lower case, as PTX is"))
            .label("write it in lower case")
            .help(format!("write `{}`{selectors}", text.to_ascii_lowercase()));
        // Between the parts a comment may stand.
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
        let place = fault.span.clone();
        let mut fault = if is_plain { fault.edit(place, text.to_ascii_lowercase()) } else { fault };
        for operand in operands.list.iter().filter(|operand| is_plain && is_upper(operand.selector)) {
            fault = fault.edit(operand.selector.range(), self.text_of(operand.selector).to_ascii_lowercase());
        }
        self.fault(fault);
    }

    #[cold]
    pub(super) fn wrong_selector(&mut self, mnemonic: Mnemonic, name: &str, span: Range<usize>, side: Side) {
        let shape = mnemonic.shape();
        let known = Part::from_name(name).is_some()
            || digits::<2>(name, 'h', 3).is_some()
            || digits::<4>(name, 'b', 7).is_some()
            || mask(name, Shape::Bytes).is_some()
            || mask(name, Shape::Halves).is_some();
        let operand = match side {
            Side::D => "d",
            Side::A => "a",
            Side::B => "b",
        };
        let legal = match (shape, side) {
            (Shape::Scalar, Side::D) if !mnemonic.allows(Axis::Merge) => "none".to_string(),
            (Shape::Scalar, _) => "`.b0`, `.b1`, `.b2`, `.b3`, `.h0` and `.h1`".to_string(),
            (Shape::Halves, Side::D) => "the masks `.h0`, `.h1` and `.h10`".to_string(),
            (Shape::Bytes, Side::D) => {
                "masks that name each byte once, the highest first: `.b0`, `.b1`, `.b10` … `.b3210`".to_string()
            }
            (Shape::Halves, _) => {
                "`.hxy` with x and y from 0 to 3 (0 and 1 are a's half-words, 2 and 3 b's)".to_string()
            }
            (Shape::Bytes, _) => "`.bxyzw` with digits from 0 to 7 (0 to 3 are a's bytes, 4 to 7 b's)".to_string(),
        };
        let mut help = format!("legal selectors on {operand} of `{mnemonic}`: {legal}");
        let meant = meant_selector(name, shape, side);
        if let Some(meant) = &meant {
            help = format!("write `.{meant}`; {help}");
        }
        if shape.is_simd() && matches!(side, Side::D) && name == "b00" {
            help.push_str("; the mask `.b00` in the manual's example (9.7.18.2.3) is wrong");
        }
        if matches!(name, "x" | "y" | "z" | "w" | "r" | "g" | "b" | "a") {
            help = format!("move an element of a vector to a `.b32` register first; {help}");
        }
        let fault = if known || shape.is_simd() && matches!(side, Side::D) {
            Diagnostic::new(Code::V0304, span, format!("`.{name}` is not a selector for {operand} of `{mnemonic}`"))
        } else {
            Diagnostic::new(Code::V0303, span, format!("unknown selector `.{name}`"))
        };
        let place = fault.span.clone();
        let fault = fault.help(help);
        self.fault(match meant {
            Some(meant) => fault.edit(place, format!(".{meant}")),
            None => fault,
        });
    }

    #[cold]
    pub(super) fn unreadable_selector(&mut self, opcode: &Opcode, operands: &Operands, side: Side) {
        let [_, a, b, _] = &operands.list;
        let (own, other) = if matches!(side, Side::A) { (a, b) } else { (b, a) };
        let message = "ptxas cannot read the selector `.b1024`, though it is legal";
        let fault = Diagnostic::new(Code::V0311, own.selector.range(), message).label("read as a type");
        let is_plain = |operand: &Written| operand.raw == Raw::Register && !operand.minus && !operand.sink;
        let mended = self.waiting.iter().any(|one| one.is_in(&a.span()) || one.is_in(&b.span()));
        if mended || !(operands.complete && is_plain(a) && is_plain(b)) {
            let help = "exchange a and b, and in both selectors the digits 0 to 3 with 4 to 7: `.b5460` selects the same bytes";
            return self.fault(fault.help(help));
        }
        let written = |operand: &Written, second: bool| match self.text_of(operand.selector) {
            "" if second => ".b7654",
            "" => ".b3210",
            selector => selector,
        };
        let [of_a, of_b] = [written(a, false), written(b, true)];
        // `.b5460` on the other would become what cannot be read.
        if self.text_of(other.selector) == ".b5460" {
            let (first, second) = (self.text_of(a.name), self.text_of(b.name));
            let permuted = |selector: &str| {
                let line = format!("prmt.b32 {{t}}, {first}, {second}, 0x{}", &selector[2..]);
                Need::filled("permute the bytes first", line)
            };
            let [need_a, need_b] = [permuted(of_a), permuted(of_b)];
            let (need, along) = if matches!(side, Side::A) { (need_a, need_b) } else { (need_b, need_a) };
            self.patched_fault(fault, own.span(), need);
            return self.patched_along(other.span(), along);
        }
        let exchanged = |selector: &str| -> String {
            let other = |c: char| c.to_digit(8).and_then(|digit| char::from_digit(digit ^ 4, 8)).unwrap_or(c);
            selector[2..].chars().map(other).collect()
        };
        let start = opcode.mnemonic.span().start;
        let statement = &self.text()[start..operands.end];
        let place = |operand: &Written| operand.span().start - start..operand.span().end - start;
        let edits = [
            (place(a), format!("{}.b{}", self.text_of(b.name), exchanged(of_a))),
            (place(b), format!("{}.b{}", self.text_of(a.name), exchanged(of_b))),
        ];
        let instead = edited(statement, &edits);
        let mut fault = fault.help(format!("name the registers in the other order: write `{instead}`"));
        for (place, text) in edits {
            fault = fault.edit(start + place.start..start + place.end, text);
        }
        self.fault(fault);
    }

    #[cold]
    pub(super) fn selector_on_c(&mut self, mnemonic: Mnemonic, name: &str, span: Range<usize>) {
        let fault = Diagnostic::new(Code::V0305, span.clone(), format!("operand c of `{mnemonic}` has no selector"))
            .help(format!("drop `.{name}`: c is a whole register"))
            .edit(span, "");
        self.fault(fault);
    }

    /// `.f16x2` registers are taken for 32 bits, but not for a number that is negated, nor for d and c of `vset`.
    #[cold]
    pub(super) fn not_half_precision(&mut self, mnemonic: Mnemonic, i: usize, operand: &Written) {
        let name = self.text_of(operand.name);
        let span = operand.name.range();
        let message = match operand.minus {
            true => format!("`{name}` is a `.f16x2` register, and `-{name}` would negate half-precision numbers"),
            false => format!("`{name}` is a `.f16x2` register; d and c of `{mnemonic}` are integer ones"),
        };
        let fault = Diagnostic::new(Code::V0402, span.clone(), message).label("declared `.f16x2`");
        let ty = RegisterType::Scalar(ScalarType::F16x2);
        let need = if i == 0 { Need::to_write(name, ty) } else { Need::to_read(name, ty) };
        match need {
            Some(need) => self.patched_fault(fault, span, need),
            None => self.fault(fault),
        }
    }

    /// What stands for a register is none that a video instruction takes; `found` is its declared type.
    #[cold]
    pub(super) fn wrong_register(
        &mut self,
        mnemonic: Mnemonic,
        i: usize,
        operand: &Written,
        span: Range<usize>,
        found: Option<RegisterType>,
    ) {
        let name = self.text_of(operand.name);
        let mut place = operand.name.range();
        let (fault, need) = match found {
            Some(RegisterType::Vector) => {
                let message = format!("`{name}` is a vector register; `{mnemonic}` takes single ones");
                let help =
                    if i == 0 { "write to a `.b32` register" } else { "move the element to a `.b32` register first" };
                (Diagnostic::new(Code::V0310, span, message).help(help), None)
            }
            Some(ty) => {
                let message =
                    format!("`{name}` is a `.{}` register; `{mnemonic}` takes 32-bit integer ones", ty.name());
                let fault = Diagnostic::new(Code::V0402, span, message).label(format!("declared `.{}`", ty.name()));
                let need = if i == 0 { Need::to_write(name, ty) } else { Need::to_read(name, ty) };
                (fault.help("use a `.b32` register"), need)
            }
            None if special::is_special(name) => {
                let text = self.text_at(&span);
                let message = format!("`{mnemonic}` takes no special register, and `{text}` is one");
                place = span.clone();
                let fault = Diagnostic::new(Code::V0310, span, message);
                if i == 0 {
                    (fault.help("write to a register of your own: special registers can only be read"), None)
                } else if special::is_vector(name) && text == name {
                    (fault.help(format!("name an element, such as `{text}.x`, and move it to a register first")), None)
                } else {
                    (fault.help("move it to a register first"), Need::to_read_special(name, &text))
                }
            }
            None if self.is_variable(name) => {
                let message = format!("`{name}` is a variable, and `{mnemonic}` takes registers");
                let help = if i == 0 {
                    "write to a register, and store that with the `st` of the variable's state space"
                } else {
                    "load its value to a register first, with the `ld` of its state space"
                };
                (Diagnostic::new(Code::V0310, span, message).help(help), None)
            }
            None => (undeclared(span, name, ".b32"), None),
        };
        match need {
            Some(need) => self.patched_fault(fault, place, need),
            None => self.fault(fault),
        }
    }

    #[cold]
    pub(super) fn negation(&mut self, mnemonic: Mnemonic, i: usize, operand: &Written, is_number: bool) {
        let span = operand.minus_span();
        let fault = if i == 0 {
            Diagnostic::new(Code::V0307, span, "the destination cannot be negated").help("drop the minus")
        } else {
            let fault = Diagnostic::new(Code::V0307, span, format!("`{mnemonic}` does not negate its operands"))
                .label("only `vmad` does");
            let name = self.text_of(operand.name);
            let minus_and_name = operand.minus_span().start..operand.name.range().end;
            let simd = mnemonic.shape().is_simd();
            // A selector takes a part of the register, not of the negated one.
            let need = match mnemonic.shape() {
                _ if operand.raw != Raw::Register || !operand.selector.is_empty() => None,
                _ if is_number => Some(Need::filled("negate it first", format!("neg.s32 {{t}}, {name}"))),
                shape => {
                    let subtract = if shape == Shape::Bytes { "vsub4" } else { "vsub2" };
                    let lanes = if shape == Shape::Bytes { "bytes" } else { "half-words" };
                    let mut need = Need::filled(format!("negate its {lanes} first"), "mov.b32 {t}, 0".into());
                    need.before.push(format!("{subtract}.s32.s32.s32 {{t}}, {{t}}, {name}, {{t}}"));
                    Some(need)
                }
            };
            match need {
                Some(need) => return self.patched_fault(fault, minus_and_name, need),
                None if simd => fault.help("negate the lanes first, or subtract instead of adding"),
                None => fault.help("negate the value first, or use `vsub` for a difference"),
            }
        };
        self.fault(fault);
    }

    #[cold]
    pub(super) fn wrong_kind(&mut self, mnemonic: Mnemonic, i: usize, operand: &Written) {
        let span = operand.span();
        let text = self.text_at(&span);
        let place = ["d", "a", "b", "c"][i.min(3)];
        let fault = match operand.raw {
            Raw::Immediate if i == 0 => {
                Diagnostic::new(Code::V0310, span, "the destination must be a register").label("a number")
            }
            Raw::Immediate => {
                let message = format!("`{mnemonic}` takes no immediate operands");
                let fault = Diagnostic::new(Code::V0302, span.clone(), message).label("must be a register");
                let fill = format!("mov.b32 {{t}}, {:#x}", operand.value);
                return self.patched_fault(fault, span, Need::filled("move it to a register first", fill));
            }
            Raw::Float => Diagnostic::new(Code::V0310, span, format!("`{text}` is a floating-point number"))
                .help("write an integer"),
            Raw::Vector => Diagnostic::new(Code::V0310, span, format!("`{mnemonic}` takes no vector operands"))
                .help("write one register"),
            Raw::Address => {
                Diagnostic::new(Code::V0310, span, format!("operand {place} must be a register, not an address")).help(
                    if i == 0 {
                        "write to a register, and store that"
                    } else {
                        "load it to a register first, with the `ld` of its state space"
                    },
                )
            }
            Raw::Discard => Diagnostic::new(Code::V0310, span, format!("`{mnemonic}` does not take `_`"))
                .help(if i == 0 { "name a register, if one that nobody reads" } else { "name a register" }),
            Raw::Not => {
                Diagnostic::new(Code::V0310, span, "a negated predicate is not an operand of video instructions")
            }
            Raw::Sum => {
                let message = format!("`{mnemonic}` takes no sum of a register and a number");
                let fault = Diagnostic::new(Code::V0310, span.clone(), message);
                let name = self.text_of(operand.name);
                let is_halves = self.register_type(name) == Some(RegisterType::Scalar(ScalarType::F16x2));
                // ptxas takes a special register or one of another type here, in scalar forms.
                let read = if special::is_special(name) {
                    Need::to_read_special(name, name)
                } else {
                    let declared = self.register_type(name).filter(|ty| !ty.is_operand());
                    match declared {
                        Some(ty) => Need::to_read(name, ty),
                        None => Some(Need::filled("", format!("mov.b32 {{t}}, {name}"))),
                    }
                };
                let Some(mut need) = read else {
                    return self.fault(fault.help("add first, in a register"));
                };
                need.what = "add first".into();
                let plain =
                    !is_halves && need.before.last().is_some_and(|line| *line == format!("mov.b32 {{t}}, {name}"));
                match need.before.last_mut() {
                    Some(line) if plain => *line = format!("add.u32 {{t}}, {name}, {:#x}", operand.value),
                    _ => need.before.push(format!("add.u32 {{t}}, {{t}}, {:#x}", operand.value)),
                }
                return self.patched_fault(fault, span, need);
            }
            Raw::Pair => Diagnostic::new(Code::V0310, span, format!("`{mnemonic}` has no second destination"))
                .help("write one register"),
            Raw::Absent | Raw::Register => return,
        };
        self.fault(fault);
    }

    #[cold]
    pub(super) fn wrong_count(&mut self, mnemonic: Mnemonic, needs_c: bool, accumulates: bool, operands: &Operands) {
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
        let lacks_c = mnemonic.shape().is_simd() && count == 3;
        if lacks_c {
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
        // c is not read where all lanes are written and none is summed.
        let any = operands.list[1..3].iter().find(|operand| operand.raw == Raw::Register && !operand.minus);
        let fault = match any.filter(|_| lacks_c && selector.is_empty() && !accumulates) {
            Some(any) => fault.edit(operands.end..operands.end, format!(", {}", self.text_of(any.name))),
            None => fault,
        };
        self.fault(fault);
    }

    #[cold]
    pub(super) fn violation(&mut self, mnemonic: Mnemonic, opcode: &Opcode, operands: &Operands, violation: Violation) {
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
            .help("write `.u32` as the third type")
            .edit(opcode.last_type.range(), ".u32"),
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
                let message = format!("`{mnemonic}` does not take `{text}`");
                let fault = Diagnostic::new(Code::V0202, span.range(), message).help(help);
                // What is dropped has been meant, except where the instruction does it by itself.
                match (axis, text) {
                    (Axis::Sat, _) | (Axis::Secondary, ".add") => fault.edit(span.range(), ""),
                    _ => fault,
                }
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
                let fault = Diagnostic::new(Code::V0308, c.minus_span(), "`vmad` negates the product or c, not both")
                    .related(product.minus_span(), "the product is negated here");
                let name = self.text_of(c.name);
                let place = c.minus_span().start..c.name.range().end;
                let need = Need::filled("drop one minus, or negate c first", format!("neg.s32 {{t}}, {name}"));
                return self.patched_fault(fault, place, need);
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

/// What to write for a name that would be a mnemonic with another number of lanes, as `vadd8` would.
fn other_lanes(name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
    let of_stem = |mnemonic: &Mnemonic| mnemonic.name().trim_end_matches(['2', '4']) == stem;
    let there: Vec<Mnemonic> = Mnemonic::ALL.into_iter().filter(of_stem).collect();
    if stem.len() == name.len() || there.is_empty() {
        return None;
    }
    let each = there.iter().map(|mnemonic| match mnemonic.shape() {
        Shape::Scalar => format!("`{mnemonic}` for one value"),
        shape => format!(
            "`{mnemonic}` for {} {}",
            shape.lanes(),
            if shape == Shape::Halves { "half-words" } else { "bytes" }
        ),
    });
    let each: Vec<String> = each.collect();
    let there = match each.as_slice() {
        [one] => one.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
        [] => return None,
    };
    Some(format!("write {there}"))
}

/// What a wrong selector was probably meant to be.
fn meant_selector(name: &str, shape: Shape, side: Side) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let letter = shape.letter();
    let digits: Vec<u8> = lower.get(1..)?.bytes().filter(u8::is_ascii_digit).collect();
    if digits.len() + 1 != lower.len() || digits.is_empty() {
        return None;
    }
    match (shape, side) {
        (Shape::Scalar, _) => Part::from_name(&lower).map(|part| part.name().to_string()),
        (_, Side::D) => {
            let mut lanes = digits;
            lanes.sort_unstable_by(|a, b| b.cmp(a));
            lanes.dedup();
            let meant = format!("{letter}{}", String::from_utf8(lanes).ok()?);
            mask(&meant, shape).map(|_| meant)
        }
        // A scalar's selector: the same byte in every lane is what one reaches for.
        (_, Side::A | Side::B) if digits.len() == 1 && lower.starts_with(letter) => {
            let (digit, lanes) = (digits[0] - b'0', shape.lanes() as u8);
            // On b its own lanes come behind those of a.
            let own = digit < lanes && matches!(side, Side::B);
            let digit = if own { digit + lanes } else { digit };
            (digit < 2 * lanes).then(|| format!("{letter}{}", digit.to_string().repeat(shape.lanes())))
        }
        _ => None,
    }
}

fn order(a: Range<usize>, b: Range<usize>) -> (Range<usize>, Range<usize>) {
    if a.start <= b.start { (a, b) } else { (b, a) }
}

#[cold]
pub(super) fn undeclared(span: Range<usize>, name: &str, ty: &str) -> Diagnostic {
    Diagnostic::new(Code::V0401, span, format!("`{name}` is not declared"))
        .help(format!("declare it: `.reg {ty} {name};`"))
}
