//! V0705: sums of lanes that the instructions around treat as packed lanes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use foldhash::fast::RandomState;
use vop::isa::form::Finish;
use vop::isa::types::Shape;
use vop::{Code, Diagnostic, Form, Instruction, Parser, Places, register_number};

use crate::module::lex;

/// A legal video instruction.
pub(super) struct Video<'t> {
    /// Which statement of the text it is.
    pub(super) statement: usize,
    text: &'t str,
    instruction: Instruction<'t>,
    places: Places,
}

/// What a statement does that is no legal video instruction.
pub(super) enum Effect<'t> {
    /// It writes the registers whose [`names`] are in this part of it.
    Writes(&'t str),
    /// Execution may come from elsewhere, or go elsewhere.
    Break,
}

/// All statements of a text, in the order of execution.
pub(super) trait Statements<'t> {
    /// Tells registers apart that are called the same. Names of one register are the same to [`register_number`].
    type Register: PartialEq;

    /// What a statement does that is none of the legal video instructions.
    fn effect(&self, statement: usize) -> Effect<'t>;

    /// The register that a statement calls so.
    fn register(&self, statement: usize, name: &'t str) -> Self::Register;
}

impl<'t> Video<'t> {
    /// One that has been read, with its text.
    pub(super) fn new(statement: usize, text: &'t str, instruction: Instruction<'t>, places: Places) -> Self {
        Video { statement, text, instruction, places }
    }

    /// Reads one; `None` if it is not legal.
    pub(super) fn read(statement: usize, text: &'t str) -> Option<Self> {
        let (instruction, places) = Parser::new().parse_with_places(text).ok()?;
        Some(Self::new(statement, text, instruction, places))
    }

    fn form(&self) -> Form {
        self.instruction.form
    }

    fn sums_lanes(&self) -> bool {
        matches!(self.form().finish(), Finish::Accumulate(_))
    }

    fn is_halves(&self) -> bool {
        self.form().mnemonic().shape() == Shape::Halves
    }

    /// The register that a sum of lanes is added to.
    fn summand(&self) -> Option<&'t str> {
        self.instruction.c.filter(|_| self.sums_lanes())?.register()
    }

    /// The registers of a and b, if it computes lane by lane.
    fn read_by_lanes(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        let by_lanes = matches!(self.form().finish(), Finish::Lanes(_));
        let operands = [self.instruction.a, self.instruction.b].into_iter().filter(move |_| by_lanes);
        operands.filter_map(|operand| operand.register())
    }

    /// Whether it writes more than one lane of d, and not always the same: `vsub4 z, a, a, a` makes a zero.
    fn packs(&self) -> bool {
        let varies = || {
            let results = self.form().result_range(self.instruction.operand_values());
            results.min < results.max
        };
        matches!(self.form().finish(), Finish::Lanes(mask) if mask.bits().count_ones() > 1) && varies()
    }

    /// Its guard's register, and whether it is negated.
    fn guard<S: Statements<'t>>(&self, statements: &S) -> Option<(S::Register, bool)> {
        let guard = self.instruction.guard?;
        Some((statements.register(self.statement, guard.predicate), guard.negated))
    }

    /// Whether what it writes is there wherever another is executed.
    fn precedes<S: Statements<'t>>(&self, other: &Video<'t>, statements: &S) -> bool {
        let guard = self.guard(statements);
        guard.is_none() || guard == other.guard(statements)
    }

    /// The operand in which a SIMD instruction without `.add` reads several lanes of a register. One lane is
    /// no mistake: programs broadcast a sum that is known to be small in this way.
    fn unpacks<S: Statements<'t>>(&self, name: &'t str, statements: &S) -> Option<usize> {
        let Finish::Lanes(mask) = self.form().finish() else { return None };
        let register = |name| statements.register(self.statement, name);
        let operands = [self.instruction.a, self.instruction.b];
        let reads = operands.map(|operand| operand.register().map(register) == Some(register(name)));
        let mut parts: Vec<(bool, u32)> = Vec::new();
        for (_, lane) in self.form().explain(0, 0, 0).lanes.iter().enumerate().filter(|&(i, _)| mask.has(i)) {
            let inputs = lane.inputs.iter().filter(|input| reads[usize::from(input.from_b)]);
            parts.extend(inputs.map(|i| (i.from_b, i.shift)));
        }
        let &(from_b, shift) = parts.first()?;
        parts.iter().any(|part| part.1 != shift).then_some(1 + usize::from(from_b))
    }
}

/// A sum of lanes and the instruction beside it that takes it for packed lanes; both by their index among the video instructions.
pub(super) struct Mistaken {
    pub(super) sum: usize,
    /// Which of the sum's operands: 0 for d, 3 for c.
    operand: usize,
    pub(super) other: usize,
    /// Which of the other's: 0 where it writes the lanes, 1 for a or 2 for b where it reads them.
    other_operand: usize,
}

/// All of a text, at most one for each sum, in order. The video instructions are those of the statements that are legal, in order.
///
/// Most statements are not looked at: only those behind or before an instruction of which a sum may have a register.
pub(super) fn find<'t, S: Statements<'t>>(videos: &[Video<'t>], statements: &S) -> Vec<Mistaken> {
    let spelled = |names: &mut dyn Iterator<Item = &'t str>| -> Names<'t> { names.map(register_number).collect() };
    let sums = || videos.iter().filter(|video| video.sums_lanes());
    let written_by_sums = spelled(&mut sums().map(|sum| sum.instruction.d));
    let summands = spelled(&mut sums().filter_map(Video::summand));
    let guards = spelled(&mut videos.iter().filter_map(|video| video.instruction.guard).map(|guard| guard.predicate));
    let mut found = BTreeMap::new();
    // Backwards, with the next instruction that reads a register as packed lanes, and in which operand.
    let mut read = Tracked::new(videos, &guards, statements);
    let mut behind = 0;
    for (i, video) in videos.iter().enumerate().rev() {
        read.pass((video.statement + 1..behind).rev());
        behind = video.statement;
        if video.sums_lanes()
            && let Some((other, other_operand)) = read.get(video.statement, video.instruction.d)
        {
            // The sum of four bytes fits a half-word.
            let fits = videos[other].is_halves() && !video.is_halves();
            if video.precedes(&videos[other], statements) && !fits {
                found.insert(i, Mistaken { sum: i, operand: 0, other, other_operand });
            }
        }
        read.remove(video.statement, video.instruction.d);
        for name in video.read_by_lanes().filter(|name| written_by_sums.contains(&register_number(name))) {
            if let Some(operand) = video.unpacks(name, statements) {
                read.insert(name, i, operand);
            }
        }
    }
    // Forwards, with the instruction that wrote packed lanes to a register last.
    let mut written = Tracked::new(videos, &guards, statements);
    let mut before = 0;
    for (i, video) in videos.iter().enumerate() {
        written.pass(before..video.statement);
        before = video.statement + 1;
        if let Some((other, other_operand)) = video.summand().and_then(|c| written.get(video.statement, c))
            && videos[other].precedes(video, statements)
        {
            found.insert(i, Mistaken { sum: i, operand: 3, other, other_operand });
        }
        let d = video.instruction.d;
        written.remove(video.statement, d);
        if summands.contains(&register_number(d)) && video.packs() {
            written.insert(d, i, 0);
        }
    }
    found.into_values().collect()
}

/// A register's name as [`register_number`] reads it.
type Name<'t> = (&'t str, Option<u32>);
type Names<'t> = HashSet<Name<'t>, RandomState>;

/// A register, the video instruction that wrote it or will read it, and in which operand.
struct Entry<R> {
    register: R,
    video: usize,
    operand: usize,
}

/// Registers that video instructions wrote or will read.
struct Tracked<'v, 't, S: Statements<'t>> {
    /// By the registers' names: few are called the same.
    entries: HashMap<Name<'t>, Vec<Entry<S::Register>>, RandomState>,
    videos: &'v [Video<'t>],
    /// The names of all guards: only where one of them is written are those searched that have a guard.
    guards: &'v Names<'t>,
    statements: &'v S,
}

impl<'v, 't, S: Statements<'t>> Tracked<'v, 't, S> {
    fn new(videos: &'v [Video<'t>], guards: &'v Names<'t>, statements: &'v S) -> Self {
        Tracked { entries: HashMap::default(), videos, guards, statements }
    }

    /// The instruction that has the register which a statement calls so, and the operand.
    fn get(&self, statement: usize, name: &'t str) -> Option<(usize, usize)> {
        if self.entries.is_empty() {
            return None;
        }
        let entries = self.entries.get(&register_number(name))?;
        let register = self.statements.register(statement, name);
        entries.iter().find(|entry| entry.register == register).map(|entry| (entry.video, entry.operand))
    }

    fn insert(&mut self, name: &'t str, video: usize, operand: usize) {
        let statement = self.videos[video].statement;
        self.remove(statement, name);
        let register = self.statements.register(statement, name);
        self.entries.entry(register_number(name)).or_default().push(Entry { register, video, operand });
    }

    fn remove(&mut self, statement: usize, name: &'t str) {
        if self.entries.is_empty() {
            return;
        }
        let name_of = register_number(name);
        let Some(entries) = self.entries.get_mut(&name_of) else { return };
        let register = self.statements.register(statement, name);
        entries.retain(|entry| entry.register != register);
        if entries.is_empty() {
            self.entries.remove(&name_of);
        }
    }

    /// Goes past statements that are no legal video instructions.
    fn pass(&mut self, statements: impl Iterator<Item = usize>) {
        for statement in statements {
            if self.entries.is_empty() {
                return;
            }
            match self.statements.effect(statement) {
                Effect::Break => self.entries.clear(),
                Effect::Writes(registers) => names(registers).for_each(|name| self.written(statement, name)),
            }
        }
    }

    /// A statement writes a register: what was or will be in it is another value, and guards by it are others.
    fn written(&mut self, statement: usize, name: &'t str) {
        self.remove(statement, name);
        if !self.guards.contains(&register_number(name)) {
            return;
        }
        let register = self.statements.register(statement, name);
        self.entries.retain(|_, entries| {
            entries.retain(|entry| {
                let guard = self.videos[entry.video].guard(self.statements);
                guard.is_none_or(|(guard, _)| guard != register)
            });
            !entries.is_empty()
        });
    }
}

impl Mistaken {
    /// The diagnostic; `place` and `other_place` take positions in the texts of the sum and of the other to the file's.
    pub(super) fn diagnostic(
        &self,
        videos: &[Video<'_>],
        place: impl Fn(Range<usize>) -> Range<usize>,
        other_place: impl Fn(Range<usize>) -> Range<usize>,
    ) -> Option<Diagnostic> {
        let (sum, other) = (&videos[self.sum], &videos[self.other]);
        let operand = |video: &Video<'_>, i: usize| Some(video.places.operands.get(i)?.whole.clone());
        let span = operand(sum, self.operand)?;
        let name = sum.text.get(span.clone()).unwrap_or_default();
        let (message, how) = match self.other_operand {
            0 => (format!("the sum of all lanes is added to `{name}`, which holds packed lanes"), "written"),
            _ => (format!("`{name}` gets the sum of all lanes, and is read as packed lanes"), "read"),
        };
        let opcode = sum.form().opcode().to_string();
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
pub(super) fn effect(text: &str) -> Effect<'_> {
    let text = &text[lex::skip_trivia(text, 0)..];
    let text = match text.strip_prefix('@') {
        // A branch is taken for one even if it may not be taken.
        Some(rest) => rest.trim_start_matches(['!', ' ', '\t']).trim_start_matches(is_name).trim_start(),
        None => text,
    };
    let end = text.find(|c: char| !is_name(c) && c != '.' && c != ':').unwrap_or(text.len());
    let (opcode, operands) = (&text[..end], &text[end..]);
    match opcode.split('.').next() {
        // A directive: `.reg` declares, and what had the name before cannot be told apart.
        Some("") if opcode == ".reg" => Effect::Writes(operands),
        Some("") if opcode.len() > 1 => Effect::Writes(""),
        Some("bra" | "brx" | "call" | "ret" | "exit" | "trap") => Effect::Break,
        Some(word) if word.starts_with(|c: char| c.is_ascii_lowercase()) => {
            let first = lex::split_operands(operands).next().map_or("", |first| &operands[first]);
            // An address is read.
            Effect::Writes(if first.contains('[') { "" } else { first })
        }
        _ => Effect::Break,
    }
}

/// The names in a part of a statement.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_name(c)).filter(|word| !word.is_empty())
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements, a line each. `%r1` is another register in those of which the number is in `within`.
    struct Lines<'t> {
        lines: Vec<&'t str>,
        within: Range<usize>,
    }

    impl<'t> Statements<'t> for Lines<'t> {
        type Register = (bool, &'t str, Option<u32>);

        fn effect(&self, statement: usize) -> Effect<'t> {
            effect(self.lines[statement])
        }

        fn register(&self, statement: usize, name: &'t str) -> Self::Register {
            let (prefix, number) = register_number(name);
            (number == Some(1) && self.within.contains(&statement), prefix, number)
        }
    }

    /// What a sum is mistaken for, found by going from it to each side: what [`find`] is to find, in a time that grows with the square
    /// of the text.
    fn mistaken(sum: usize, videos: &[Video<'_>], lines: &Lines<'_>) -> Option<(usize, usize, usize)> {
        let at = videos[sum].statement;
        let video_at = |statement: usize| videos.iter().position(|video| video.statement == statement);
        let writes = |between: Range<usize>, register: (bool, &str, Option<u32>)| {
            between.into_iter().filter(|&i| video_at(i).is_none()).any(|i| match lines.effect(i) {
                Effect::Break => true,
                Effect::Writes(text) => names(text).any(|name| lines.register(i, name) == register),
            })
        };
        let keeps_guard = |between: Range<usize>, video: &Video<'_>| {
            video.guard(lines).is_none_or(|(guard, _)| !writes(between, guard))
        };
        let is_d =
            |video: usize, register| lines.register(videos[video].statement, videos[video].instruction.d) == register;
        if let Some(c) = videos[sum].summand() {
            let c = lines.register(at, c);
            // The last video instruction before that writes it.
            let writer = (0..sum).rev().find(|&i| is_d(i, c)).filter(|&i| {
                let between = videos[i].statement + 1..at;
                !writes(between.clone(), c) && keeps_guard(between, &videos[i]) && videos[i].packs()
            });
            if let Some(writer) = writer.filter(|&i| videos[i].precedes(&videos[sum], lines)) {
                return Some((3, writer, 0));
            }
        }
        let d = videos[sum].instruction.d;
        for other in sum + 1..videos.len() {
            let reader = &videos[other];
            let between = at + 1..reader.statement;
            if writes(between.clone(), lines.register(at, d)) {
                return None;
            }
            let operand = reader.read_by_lanes().find_map(|name| {
                let same = lines.register(reader.statement, name) == lines.register(at, d);
                same.then(|| reader.unpacks(name, lines)).flatten()
            });
            if let Some(operand) = operand {
                let fits = reader.is_halves() && !videos[sum].is_halves();
                let found = keeps_guard(between, reader) && videos[sum].precedes(reader, lines) && !fits;
                return found.then_some((0, other, operand));
            }
            if is_d(other, lines.register(at, d)) {
                return None;
            }
        }
        None
    }

    #[test]
    fn sums_are_found_as_by_looking_at_each() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        const REGISTERS: [&str; 7] = ["%r1", "%r2", "%r01", "%r3", "%r3", "%x", "%r1"];
        const GUARDS: [&str; 8] = ["", "", "", "", "@p ", "@!p ", "@q ", "@%r1 "];
        const VIDEOS: [&str; 8] = [
            "vabsdiff4.u32.u32.u32.add",
            "vadd4.u32.u32.u32.add",
            "vsub2.s32.s32.s32.add",
            "vadd4.u32.u32.u32",
            "vsub4.u32.u32.u32",
            "vavrg2.s32.s32.s32",
            "vmin4.u32.u32.u32",
            "vadd.u32.u32.u32",
        ];
        let mut kinds = [0; 2];
        for _ in 0..4000 {
            let mut text = String::new();
            for _ in 0..2 + random(14) {
                let mut register = || REGISTERS[random(REGISTERS.len())];
                let [d, a, b, c] = std::array::from_fn(|_| register());
                let guard = GUARDS[random(GUARDS.len())];
                text += &match random(12) {
                    0 => format!("{guard}add.u32 {d}, {a}, {b};\n"),
                    1 => format!("setp.eq.u32 p|q, {a}, {b};\n"),
                    2 => format!("setp.eq.u32 p, {a}, {b};\n"),
                    3 => format!("st.u32 [{d}], {a};\n"),
                    4 if random(3) == 0 => format!("{guard}bra L;\n"),
                    5 if random(3) == 0 => format!("vadd.u32.u32.u32 {d}, {a};\n"),
                    6 => format!("vadd4.u32.u32.u32 {d}.b0, {a}, {b}, {c};\n"),
                    _ => format!("{guard}{} {d}, {a}, {b}, {c};\n", VIDEOS[random(VIDEOS.len())]),
                };
            }
            let lines: Vec<&str> = text.lines().collect();
            let (start, end) = (random(lines.len()), random(lines.len()));
            let videos: Vec<Video<'_>> =
                lines.iter().enumerate().filter_map(|(i, line)| Video::read(i, line)).collect();
            let lines = Lines { lines, within: start..end };
            let found: Vec<_> = find(&videos, &lines)
                .iter()
                .map(|found| (found.sum, (found.operand, found.other, found.other_operand)))
                .collect();
            let sums = (0..videos.len()).filter(|&i| videos[i].sums_lanes());
            let expected: Vec<_> = sums.filter_map(|i| Some((i, mistaken(i, &videos, &lines)?))).collect();
            assert_eq!(found, expected, "{}..{}\n{text}", lines.within.start, lines.within.end);
            expected.iter().for_each(|(_, (operand, ..))| kinds[usize::from(*operand == 3)] += 1);
        }
        assert!(kinds.iter().all(|&count| count > 500), "{kinds:?}");
    }
}
