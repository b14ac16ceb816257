//! A faulty instruction written out so that its operands fit: a block with registers of its own, which can be pasted in the
//! instruction's place.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::instruction::Guard;
use super::lex::{Lexer, TokenKind};
use super::opcode::Opcode;
use super::operand::Operands;
use super::reader::Reader;
use super::registers::RegisterType;
use crate::diagnostic::{Diagnostic, Edit, Patch};
use crate::isa::scalar::ScalarType;
use crate::isa::special;

/// What an operand, or the guard, needs to fit. In its lines and in `instead`, `{t}` stands for the new register, `{w}` for a
/// second one.
#[derive(Debug, Clone)]
pub(super) struct Need {
    /// What is done, in words.
    pub(super) what: String,
    /// The new registers: types of `{t}` and of `{w}`.
    pub(super) types: &'static [&'static str],
    /// The instructions before the faulty one.
    pub(super) before: Vec<String>,
    /// The instructions after it, which its guard guards too.
    pub(super) behind: Vec<String>,
    /// What stands in the place of the operand, or the guard's predicate.
    pub(super) instead: String,
}

impl Need {
    /// What fills a new register of 32 bits, which is the operand.
    pub(super) fn filled(what: impl Into<String>, line: String) -> Need {
        Need {
            what: what.into(),
            types: &["b32"],
            before: alloc::vec![line],
            behind: Vec::new(),
            instead: "{t}".into(),
        }
    }

    /// What fills it by way of a second register.
    fn filled_by_way(what: &str, types: &'static [&'static str], lines: [String; 2]) -> Need {
        Need { types, before: lines.into(), ..Need::filled(what, String::new()) }
    }

    /// What takes the result from a new register of 32 bits to the one that was meant.
    fn emptied(what: &str, line: String) -> Need {
        Need { before: Vec::new(), behind: alloc::vec![line], ..Need::filled(what, String::new()) }
    }

    /// How a register of a type that video instructions do not take is read; `None` if there is no one way.
    pub(super) fn to_read(name: &str, ty: RegisterType) -> Option<Need> {
        let RegisterType::Scalar(ty) = ty else { return None };
        Some(match ty {
            ScalarType::F32 | ScalarType::F16x2 => {
                Need::filled("move its bits first", format!("mov.b32 {{t}}, {name}"))
            }
            ScalarType::Pred => Need::filled("make a number of it first", format!("selp.u32 {{t}}, 1, 0, {name}")),
            ScalarType::U64 | ScalarType::S64 | ScalarType::B64 => {
                Need::filled("take its lower half first", format!("cvt.u32.u64 {{t}}, {name}"))
            }
            ScalarType::F64 => Need::filled("convert it first", format!("cvt.rzi.s32.f64 {{t}}, {name}")),
            ScalarType::F16 => {
                let lines = [format!("mov.b16 {{w}}, {name}"), "cvt.u32.u16 {t}, {w}".into()];
                Need::filled_by_way("move its bits first", &["b32", "b16"], lines)
            }
            ScalarType::S8 | ScalarType::S16 => {
                Need::filled("convert it first", format!("cvt.s32.{} {{t}}, {name}", ty.name()))
            }
            ScalarType::U8 | ScalarType::B8 => Need::filled("convert it first", format!("cvt.u32.u8 {{t}}, {name}")),
            ScalarType::U16 | ScalarType::B16 => Need::filled("convert it first", format!("cvt.u32.u16 {{t}}, {name}")),
            _ => return None,
        })
    }

    /// How a register of a type that video instructions do not take gets a result.
    pub(super) fn to_write(name: &str, ty: RegisterType) -> Option<Need> {
        let RegisterType::Scalar(ty) = ty else { return None };
        Some(match ty {
            ScalarType::F32 | ScalarType::F16x2 => {
                Need::emptied("move the bits of the result to it", format!("mov.b32 {name}, {{t}}"))
            }
            ScalarType::Pred => Need::emptied("compare the result", format!("setp.ne.u32 {name}, {{t}}, 0")),
            ScalarType::S64 => Need::emptied("convert the result", format!("cvt.s64.s32 {name}, {{t}}")),
            ScalarType::U64 | ScalarType::B64 => {
                Need::emptied("convert the result", format!("cvt.u64.u32 {name}, {{t}}"))
            }
            ScalarType::F64 => Need::emptied("convert the result", format!("cvt.rn.f64.s32 {name}, {{t}}")),
            ScalarType::F16 => Need {
                types: &["b32", "b16"],
                behind: alloc::vec!["cvt.u16.u32 {w}, {t}".into(), format!("mov.b16 {name}, {{w}}")],
                ..Need::emptied("move the lower bits of the result to it", String::new())
            },
            ScalarType::U8 | ScalarType::B8 | ScalarType::S8 => {
                Need::emptied("convert the result", format!("cvt.u8.u32 {name}, {{t}}"))
            }
            ScalarType::U16 | ScalarType::B16 | ScalarType::S16 => {
                Need::emptied("convert the result", format!("cvt.u16.u32 {name}, {{t}}"))
            }
            _ => return None,
        })
    }

    /// How a special register, `text` with its element, is read.
    pub(super) fn to_read_special(name: &str, text: &str) -> Option<Need> {
        const WHAT: &str = "move it to a register first";
        if special::is_vector(name) && !text.trim_start_matches(name).starts_with('.') {
            return None;
        }
        let through_64_bits = || {
            let lines = [format!("mov.u64 {{w}}, {text}"), "cvt.u32.u64 {t}, {w}".into()];
            Need::filled_by_way(WHAT, &["b32", "b64"], lines)
        };
        Some(match name {
            "%is_explicit_cluster" => {
                let lines = [format!("mov.pred {{w}}, {text}"), "selp.u32 {t}, 1, 0, {w}".into()];
                Need::filled_by_way(WHAT, &["b32", "pred"], lines)
            }
            _ if special::is_wide(name) => through_64_bits(),
            _ if name.starts_with("%envreg") || name.starts_with("%reserved_smem") => {
                Need::filled(WHAT, format!("mov.b32 {{t}}, {text}"))
            }
            _ => Need::filled(WHAT, format!("mov.u32 {{t}}, {text}")),
        })
    }

    /// How a register of another type becomes the predicate of a guard.
    pub(super) fn to_guard(name: &str, ty: RegisterType) -> Option<Need> {
        let RegisterType::Scalar(ty) = ty else { return None };
        let compare = match ty {
            ScalarType::F32 => format!("setp.neu.f32 {{t}}, {name}, 0f00000000"),
            ScalarType::F64 => format!("setp.neu.f64 {{t}}, {name}, 0d0000000000000000"),
            ScalarType::U16 | ScalarType::S16 | ScalarType::B16 => format!("setp.ne.b16 {{t}}, {name}, 0"),
            ScalarType::U32 | ScalarType::S32 | ScalarType::B32 => format!("setp.ne.b32 {{t}}, {name}, 0"),
            ScalarType::U64 | ScalarType::S64 | ScalarType::B64 => format!("setp.ne.b64 {{t}}, {name}, 0"),
            _ => return None,
        };
        Some(Need { types: &["pred"], ..Need::filled("compare it first", compare) })
    }
}

/// A fault that waits for the end of its instruction, where its help can be written.
pub(super) struct Waiting {
    /// Which of the reader's faults; none where a fault of another operand takes this one along.
    fault: Option<usize>,
    /// What is replaced: the operand, a part of it, or the guard's predicate.
    place: Range<usize>,
    need: Need,
}

impl Waiting {
    /// Whether a part of this operand is replaced.
    pub(super) fn is_in(&self, operand: &Range<usize>) -> bool {
        operand.start <= self.place.start && self.place.end <= operand.end
    }
}

impl<'t> Reader<'t, '_> {
    /// Where an instruction begins, with its guard.
    pub(super) fn statement_start(&self, opcode: &Opcode) -> usize {
        self.guard_start.map_or(opcode.mnemonic.span().start, |start| start as usize)
    }

    /// Records a fault whose help is the block that [`Reader::write_patch`] writes.
    #[cold]
    pub(super) fn patched_fault(&mut self, fault: Diagnostic, place: Range<usize>, need: Need) {
        // Where the instruction cannot be read, the words stay.
        let fault = fault.help(need.what.clone());
        self.waiting.push(Waiting { fault: Some(self.faults.len()), place, need });
        self.fault(fault);
    }

    /// Records what is replaced along with the operand of another fault.
    #[cold]
    pub(super) fn patched_along(&mut self, place: Range<usize>, need: Need) {
        self.waiting.push(Waiting { fault: None, place, need });
    }

    /// Writes the helps of the faults of this instruction that wait for it: all of them are mended by one block,
    /// if nothing else is wrong.
    #[cold]
    pub(super) fn write_patch(&mut self, guard: Option<Guard<'t>>, opcode: &Opcode, operands: &Operands) {
        let mut waiting = core::mem::take(&mut self.waiting);
        waiting.sort_by_key(|one| one.place.start);
        let start = opcode.mnemonic.span().start;
        // A block that has another fault is no mend.
        let mended = waiting.iter().filter(|one| one.fault.is_some()).count();
        let all = self.faults.len() - self.faults_before == mended;
        let whole = operands.complete && operands.count > 0 && all;
        let statement = self.text().get(start..operands.end).filter(|_| whole);
        let block = statement.map(|statement| block(&waiting, guard, statement, start));
        let place = self.statement_start(opcode)..operands.end;
        let first = waiting.iter().find(|one| one.fault.is_some());
        let first = first.and_then(|one| self.text().get(one.place.clone())).unwrap_or_default().to_string();
        let shown = waiting.iter().position(|one| one.fault.is_some());
        for (i, one) in waiting.iter().enumerate() {
            let what = &one.need.what;
            let help = match &block {
                Some(block) if Some(i) == shown => format!("{what}:\n{block}"),
                Some(_) => format!("{what}, as the block for `{first}` does"),
                None => what.clone(),
            };
            if let Some(fault) = one.fault.and_then(|fault| self.faults.get_mut(fault)) {
                fault.help = Some(help);
                if let Some(block) = block.as_ref().filter(|_| Some(i) == shown) {
                    fault.patch = Patch::Edits(Vec::from([Edit::new(place.clone(), block.as_str())]));
                }
            }
        }
    }
}

/// The words of a statement, each once.
fn words(text: &str) -> BTreeSet<&str> {
    let mut lexer = Lexer::new(text);
    let mut words = BTreeSet::new();
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End | TokenKind::OpenComment => return words,
            TokenKind::Word => _ = words.insert(&text[token.span()]),
            _ => {}
        }
    }
}

/// A name that is none of these: it hides a register of the same name, which the instruction may need.
pub(super) fn fresh(wanted: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = wanted.to_string();
    while taken.contains(&name) {
        name.insert_str(0, "v_");
    }
    taken.insert(name.clone());
    name
}

/// The block that mends what is waiting. The statement, without its guard, begins at `start`.
fn block(waiting: &[Waiting], guard: Option<Guard<'_>>, statement: &str, start: usize) -> String {
    let mut taken: BTreeSet<String> = words(statement).into_iter().map(String::from).collect();
    taken.extend(guard.map(|guard| guard.predicate.to_string()));
    let (mut declared, mut before, mut behind, mut edits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut guard_text = guard.map(|guard| format!("{guard} ")).unwrap_or_default();
    for Waiting { place, need, .. } in waiting {
        let names: Vec<String> = need
            .types
            .iter()
            .map(|&ty| {
                let name = fresh(if ty == "pred" { "p" } else { "t" }, &mut taken);
                declared.push((ty, name.clone()));
                name
            })
            .collect();
        let named = |text: &String| {
            let text = text.replace("{t}", &names[0]);
            names.get(1).map_or(text.clone(), |second| text.replace("{w}", second))
        };
        before.extend(need.before.iter().map(named));
        behind.extend(need.behind.iter().map(named));
        let instead = named(&need.instead);
        match guard {
            Some(guard) if place.start < start => {
                guard_text = format!("@{}{instead} ", if guard.negated { "!" } else { "" });
            }
            _ => edits.push((place.start.saturating_sub(start)..place.end.saturating_sub(start), instead)),
        }
    }
    let mut text = String::from("{\n");
    for ty in ["b32", "b64", "b16", "pred"] {
        let names: Vec<&str> = declared.iter().filter(|(of, _)| *of == ty).map(|(_, name)| name.as_str()).collect();
        if !names.is_empty() {
            text.push_str(&format!("    .reg .{ty} {};\n", names.join(", ")));
        }
    }
    before.iter().for_each(|line| text.push_str(&format!("    {line};\n")));
    text.push_str(&format!("    {guard_text}{};\n", edited(statement, &edits)));
    behind.iter().for_each(|line| text.push_str(&format!("    {guard_text}{line};\n")));
    text.push('}');
    text
}

/// A statement on one line, without comments, with some of its parts replaced.
pub(super) fn edited(statement: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut lexer = Lexer::new(statement);
    let (mut text, mut end) = (String::new(), 0);
    loop {
        let token = lexer.next();
        if matches!(token.kind, TokenKind::End | TokenKind::OpenComment) {
            return text;
        }
        let Range { start, end: token_end } = token.span();
        // Blanks and comments; what is dropped leaves one blank.
        if start > end && !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
        end = token_end;
        match edits.iter().find(|(place, _)| place.start <= start && token_end <= place.end) {
            Some((place, instead)) if place.start == start => text.push_str(instead),
            Some(_) => {}
            None => text.push_str(&statement[start..token_end]),
        }
    }
}
