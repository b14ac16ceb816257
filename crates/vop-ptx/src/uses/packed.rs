//! V0705: sums of lanes that the instructions around treat as packed lanes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use vop::isa::form::Finish;
use vop::isa::types::Shape;
use vop::{Code, Diagnostic, Form, Instruction, Operand, Parser, Places};

use crate::module::lex;

/// A statement in the order of execution.
pub(super) enum Step {
    /// A legal video instruction.
    Video(Box<Video>),
    /// Another that writes these registers.
    Writes(Vec<String>),
    /// Execution may come from elsewhere, or go elsewhere.
    Break,
}

pub(super) struct Video {
    /// As it was read.
    text: String,
    places: Places,
    form: Form,
    /// d, a, b and c by names that no other register has; none for what is no register.
    registers: [Option<String>; 4],
    /// The predicate's name as those of `registers`, and whether it is negated.
    guard: Option<(String, bool)>,
    /// Whether it writes more than one lane of d, and not always the same: `vsub4 z, a, a, a` makes a zero.
    packs: bool,
}

impl Video {
    /// Reads a legal one; `name` tells registers apart that are called the same.
    pub(super) fn read(text: &str, name: impl Fn(&str) -> String) -> Step {
        let Ok((instruction, places)) = Parser::new().parse_with_places(text) else { return Step::Break };
        let Instruction { guard, form, d, a, b, c } = instruction;
        let of = |operand: Operand<'_>| operand.register().map(&name);
        let several = matches!(form.finish(), Finish::Lanes(mask) if mask.bits().count_ones() > 1);
        let varies = || {
            let results = form.result_range(instruction.operand_values());
            results.min < results.max
        };
        Step::Video(Box::new(Video {
            text: text.to_owned(),
            places,
            form,
            registers: [Some(name(d)), of(a), of(b), c.and_then(of)],
            guard: guard.map(|guard| (name(guard.predicate), guard.negated)),
            packs: several && varies(),
        }))
    }

    /// d and c, if it sums lanes.
    fn sum(&self) -> Option<[Option<&str>; 2]> {
        let [d, .., c] = &self.registers;
        matches!(self.form.finish(), Finish::Accumulate(_)).then(|| [d.as_deref(), c.as_deref()])
    }

    fn is_halves(&self) -> bool {
        self.form.mnemonic().shape() == Shape::Halves
    }

    /// Whether what it writes is there wherever another is executed.
    fn precedes(&self, other: &Video) -> bool {
        self.guard.is_none() || self.guard == other.guard
    }

    fn is_guarded_by(&self, register: &str) -> bool {
        self.guard.as_ref().is_some_and(|(name, _)| name == register)
    }

    /// The operand in which a SIMD instruction without `.add` reads several lanes of a register. One lane is
    /// no mistake: programs broadcast a sum that is known to be small in this way.
    fn unpacks(&self, register: &str) -> Option<usize> {
        let Finish::Lanes(mask) = self.form.finish() else { return None };
        let operands = [&self.registers[1], &self.registers[2]];
        let mut parts: Vec<(bool, u32)> = Vec::new();
        for (_, lane) in self.form.explain(0, 0, 0).lanes.iter().enumerate().filter(|&(i, _)| mask.has(i)) {
            let of_register = |from_b: bool| operands[usize::from(from_b)].as_deref() == Some(register);
            parts.extend(lane.inputs.iter().filter(|input| of_register(input.from_b)).map(|i| (i.from_b, i.shift)));
        }
        let &(from_b, shift) = parts.first()?;
        parts.iter().any(|part| part.1 != shift).then_some(1 + usize::from(from_b))
    }
}

/// A sum of lanes and the instruction beside it that takes it for packed lanes; steps by their index.
pub(super) struct Mistaken {
    pub(super) sum: usize,
    /// Which of the sum's operands: 0 for d, 3 for c.
    operand: usize,
    pub(super) other: usize,
    /// Which of the other's: 0 where it writes the lanes, 1 for a or 2 for b where it reads them.
    other_operand: usize,
}

/// All of a list of steps, at most one for each sum, in order.
pub(super) fn find(steps: &[Step]) -> Vec<Mistaken> {
    let mut found = BTreeMap::new();
    // Few registers are guards; only where one of them is written are the others searched.
    let guards = steps.iter().filter_map(|step| match step {
        Step::Video(video) => video.guard.as_ref().map(|(name, _)| name),
        _ => None,
    });
    let guards: HashSet<&String> = guards.collect();
    // Backwards, with the next step that reads a register as packed lanes, and in which operand.
    let mut read: HashMap<&str, (usize, usize, &Video)> = HashMap::new();
    for (i, step) in steps.iter().enumerate().rev() {
        match step {
            Step::Video(video) => {
                let video: &Video = video;
                if let Some(&(other, other_operand, reader)) = video.sum().and_then(|[d, _]| read.get(d?)) {
                    // The sum of four bytes fits a half-word.
                    let fits = reader.is_halves() && !video.is_halves();
                    if video.precedes(reader) && !fits {
                        found.insert(i, Mistaken { sum: i, operand: 0, other, other_operand });
                    }
                }
                if let Some(d) = &video.registers[0] {
                    read.remove(d.as_str());
                }
                for register in video.registers[1..3].iter().flatten() {
                    read.extend(video.unpacks(register).map(|operand| (register.as_str(), (i, operand, video))));
                }
            }
            Step::Writes(registers) => {
                for register in registers {
                    read.remove(register.as_str());
                    if guards.contains(register) {
                        read.retain(|_, (.., reader)| !reader.is_guarded_by(register));
                    }
                }
            }
            Step::Break => read.clear(),
        }
    }
    // Forwards, with the step that wrote packed lanes to a register last.
    let mut written: HashMap<&str, (usize, &Video)> = HashMap::new();
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::Video(video) => {
                let video: &Video = video;
                let writer = video.sum().and_then(|[_, c]| written.get(c?));
                if let Some(&(other, _)) = writer.filter(|(_, writer)| writer.precedes(video)) {
                    found.insert(i, Mistaken { sum: i, operand: 3, other, other_operand: 0 });
                }
                if let Some(d) = &video.registers[0] {
                    written.remove(d.as_str());
                    written.extend(video.packs.then_some((d.as_str(), (i, video))));
                }
            }
            Step::Writes(registers) => {
                for register in registers {
                    written.remove(register.as_str());
                    if guards.contains(register) {
                        written.retain(|_, (_, writer)| !writer.is_guarded_by(register));
                    }
                }
            }
            Step::Break => written.clear(),
        }
    }
    found.into_values().collect()
}

impl Mistaken {
    /// The diagnostic; `place` and `other_place` take positions in the texts of the sum and of the other to the file's.
    pub(super) fn diagnostic(
        &self,
        steps: &[Step],
        place: impl Fn(Range<usize>) -> Range<usize>,
        other_place: impl Fn(Range<usize>) -> Range<usize>,
    ) -> Option<Diagnostic> {
        let (Step::Video(sum), Step::Video(other)) = (&steps[self.sum], &steps[self.other]) else { return None };
        let operand = |video: &Video, i: usize| Some(video.places.operands.get(i)?.whole.clone());
        let span = operand(sum, self.operand)?;
        let name = sum.text.get(span.clone()).unwrap_or_default();
        let (message, how) = match self.other_operand {
            0 => (format!("the sum of all lanes is added to `{name}`, which holds packed lanes"), "written"),
            _ => (format!("`{name}` gets the sum of all lanes, and is read as packed lanes"), "read"),
        };
        let opcode = sum.form.opcode().to_string();
        let opcode = opcode.strip_suffix(".add").unwrap_or(&opcode);
        let add = if sum.is_halves() { "vadd2" } else { "vadd4" };
        let help = format!(
            "to accumulate lane by lane, write `{opcode} t, …` and then `{add}.u32.u32.u32` with `t` and the accumulator"
        );
        let related = other_place(operand(other, self.other_operand)?);
        let lint = Diagnostic::new(Code::V0705, place(span), message).label("one 32-bit number").help(help);
        let lint = lint.note("`.add` adds the results of all lanes to one 32-bit number.");
        Some(lint.related(related, format!("{how} as packed lanes here")))
    }
}

/// What a statement that is no video instruction does to registers.
pub(super) fn effect(text: &str, name: impl Fn(&str) -> String) -> Step {
    let text = &text[lex::skip_trivia(text, 0)..];
    let text = match text.strip_prefix('@') {
        // A branch is taken for one even if it may not be taken.
        Some(rest) => rest.trim_start_matches(['!', ' ', '\t']).trim_start_matches(is_name).trim_start(),
        None => text,
    };
    let end = text.find(|c: char| !is_name(c) && c != '.' && c != ':').unwrap_or(text.len());
    let (opcode, operands) = (&text[..end], &text[end..]);
    let names = |text: &str| text.split(|c| !is_name(c)).filter(|word| !word.is_empty()).map(&name).collect();
    match opcode.split('.').next() {
        // A directive: `.reg` declares, and what had the name before cannot be told apart.
        Some("") if opcode == ".reg" => Step::Writes(names(operands)),
        Some("") if opcode.len() > 1 => Step::Writes(Vec::new()),
        Some("bra" | "brx" | "call" | "ret" | "exit" | "trap") => Step::Break,
        Some(word) if word.starts_with(|c: char| c.is_ascii_lowercase()) => {
            let first = lex::split_operands(operands).next().map_or("", |first| &operands[first]);
            // An address is read.
            Step::Writes(if first.contains('[') { Vec::new() } else { names(first) })
        }
        _ => Step::Break,
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}
