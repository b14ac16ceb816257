//! From the text of a machine instruction to what it does.
//!
//! The arm of the [table](Line::operation) that knows a modifier or an operand takes it. One that no arm took is an error, so no part
//! of an instruction can be overlooked.

use std::collections::HashMap;

use super::operation::{
    Choice, Compared, Comparison, Join, Lanes, Modifier, Operation, Pair, PairSource, SINK, Shift, Slot, Source, TRUE,
    Test, ZERO,
};

/// A value, or why the instruction is not supported.
type Result<T> = std::result::Result<T, String>;

/// What a line of code means.
pub(super) enum Decoded {
    /// An operation, and the predicate that it is done under.
    Step(Option<Test>, Operation),
    /// Nothing is done.
    Nothing,
    /// The code ends.
    Exit,
}

/// A register that can be written; `RZ` and `PT` cannot.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Register {
    /// `R0`: a value of this thread's.
    Vector(u8),
    /// `UR0`: a value that all threads share.
    Uniform(u8),
    /// `P0`
    Predicate(u8),
    /// `UP0`
    UniformPredicate(u8),
}

impl Register {
    fn parse(name: &str) -> Option<Register> {
        let digits = name.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let number = digits.parse().ok().filter(|_| !digits.starts_with('+'))?;
        match &name[..name.len() - digits.len()] {
            "R" => Some(Register::Vector(number)),
            "UR" => Some(Register::Uniform(number)),
            "P" => Some(Register::Predicate(number)),
            "UP" => Some(Register::UniformPredicate(number)),
            _ => None,
        }
    }

    fn is_predicate(self) -> bool {
        matches!(self, Register::Predicate(_) | Register::UniformPredicate(_))
    }

    /// The register that holds the upper half of a pair.
    fn next(self) -> Option<Register> {
        match self {
            Register::Vector(number) => number.checked_add(1).map(Register::Vector),
            Register::Uniform(number) => number.checked_add(1).map(Register::Uniform),
            Register::Predicate(_) | Register::UniformPredicate(_) => None,
        }
    }
}

/// Numbers the registers and constants of one kernel while its lines are decoded.
pub(super) struct Decoder<'b> {
    /// The kernel's constant bank 2, where ptxas puts some literals.
    bank: &'b [u8],
    registers: HashMap<Register, Slot>,
    constants: HashMap<u32, Slot>,
    /// What the slots hold before the first instruction.
    pub(super) initial: Vec<u32>,
    /// Whether a slot has surely been written, in the order of slots.
    written: Vec<bool>,
    /// Slots that are read though perhaps nothing has written them.
    pub(super) unwritten: Vec<Slot>,
}

impl<'b> Decoder<'b> {
    pub(super) fn new(bank: &'b [u8]) -> Decoder<'b> {
        const { assert!(ZERO == 0 && TRUE == 1 && SINK == 2) }
        Decoder {
            bank,
            registers: HashMap::new(),
            constants: HashMap::from([(0, ZERO)]),
            initial: vec![0, 1, 0],
            written: vec![true; 3],
            unwritten: Vec::new(),
        }
    }

    /// Decodes the next line, without its semicolon.
    pub(super) fn line(&mut self, text: &str) -> Result<Decoded> {
        let (guard, instruction) = match text.strip_prefix('@') {
            Some(guarded) => {
                let (guard, instruction) = guarded.split_once(' ').unwrap_or((guarded, ""));
                (Some(guard), instruction.trim_start())
            }
            None => (None, text),
        };
        let (opcode, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
        let mut modifiers = opcode.split('.');
        let mnemonic = modifiers.next().unwrap_or_default();
        let operands = operands.split(',').map(str::trim).filter(|operand| !operand.is_empty()).collect();
        let mut line = Line { decoder: self, modifiers: modifiers.collect(), operands, results: Vec::new() };

        let decoded = match mnemonic {
            "NOP" => Decoded::Nothing,
            "EXIT" if guard.is_none() => Decoded::Exit,
            "EXIT" => return Err("it ends the code under a condition".into()),
            _ => {
                let guard = guard.map(|guard| line.test_named(guard)).transpose()?;
                Decoded::Step(guard, line.operation(mnemonic)?)
            }
        };
        line.nothing_left()?;
        if guard.is_none() {
            for slot in line.results {
                self.written[usize::from(slot)] = true;
            }
        }
        Ok(decoded)
    }

    fn add(&mut self, value: u32, written: bool) -> Result<Slot> {
        let slot = Slot::try_from(self.initial.len()).map_err(|_| "the kernel has too many registers and constants")?;
        self.initial.push(value);
        self.written.push(written);
        Ok(slot)
    }

    fn register(&mut self, register: Register) -> Result<Slot> {
        if let Some(&slot) = self.registers.get(&register) {
            return Ok(slot);
        }
        let slot = self.add(0, false)?;
        self.registers.insert(register, slot);
        Ok(slot)
    }

    /// A register as a source.
    fn read(&mut self, register: Register) -> Result<Slot> {
        let slot = self.register(register)?;
        if !self.written[usize::from(slot)] && !self.unwritten.contains(&slot) {
            self.unwritten.push(slot);
        }
        Ok(slot)
    }

    fn constant(&mut self, value: u32) -> Result<Slot> {
        if let Some(&slot) = self.constants.get(&value) {
            return Ok(slot);
        }
        let slot = self.add(value, true)?;
        self.constants.insert(value, slot);
        Ok(slot)
    }

    /// Two words of a constant bank, the lower one named.
    fn bank_pair(&self, name: &str) -> Option<[u32; 2]> {
        let (bank, offset) = name.strip_suffix(']')?.rsplit_once('[')?;
        let next = format!("{bank}[{:#x}]", immediate(offset)? + 4);
        let low = self.bank_word(name)?;
        // Where bank 0 is known it is 0, and what is known of it are pairs.
        Some([low, if bank == "c[0x0]" { 0 } else { self.bank_word(&next)? }])
    }

    /// The word of a constant bank that `c[0x0][0x160]` names, if it is one that is known.
    fn bank_word(&self, name: &str) -> Option<u32> {
        let (bank, offset) = name.strip_prefix("c[")?.strip_suffix(']')?.split_once("][")?;
        let offset = usize::try_from(immediate(offset)?).ok()?;
        match immediate(bank)? {
            0 => match offset {
                // Where the stack is and how global memory is reached: sm_75 to sm_89, sm_90, sm_100 and up.
                0x28 | 0x37c | 0x118 | 0x208 | 0x358 => Some(0),
                // The kernel's parameter, a pointer, in the same order; this machine's memory starts at 0.
                0x160 | 0x164 | 0x210 | 0x214 | 0x380 | 0x384 => Some(0),
                _ => None,
            },
            2 => {
                let bytes = self.bank.get(offset..)?.first_chunk()?;
                Some(u32::from_le_bytes(*bytes))
            }
            _ => None,
        }
    }
}

/// An instruction that is being taken apart: what is taken is gone.
struct Line<'d, 'b, 't> {
    decoder: &'d mut Decoder<'b>,
    modifiers: Vec<&'t str>,
    operands: std::collections::VecDeque<&'t str>,
    /// The slots that it writes. They count as written only when all of its sources have been read.
    results: Vec<Slot>,
}

impl<'t> Line<'_, '_, 't> {
    /// The table of machine instructions: how each is written. What they do stands at [`Operation`].
    fn operation(&mut self, mnemonic: &str) -> Result<Operation> {
        Ok(match mnemonic {
            // d, a
            "MOV" | "UMOV" => {
                if self.flag("64") {
                    let zero = PairSource { pair: Pair { low: ZERO, high: ZERO }, negated: false };
                    Operation::AddPair { d: self.result_pair()?, a: self.pair()?, b: zero }
                } else {
                    Operation::Move { d: self.result()?, a: self.word()? }
                }
            }
            // d, -RZ, RZ, upper half, lower half: an addition of half-precision numbers, which ptxas makes of a constant
            // where other units are busy.
            "HFMA2" => {
                self.flag("MMA");
                let d = self.result()?;
                self.expect(&["-RZ"])?;
                self.expect(&["RZ"])?;
                let (upper, lower) = (self.half()?, self.half()?);
                let slot = self.decoder.constant(u32::from(upper) << 16 | u32::from(lower))?;
                Operation::Move { d, a: Source { slot, modifier: Modifier::Plain } }
            }
            // d, SR_TID.X: the code runs as thread 0.
            "S2R" => {
                let d = self.result()?;
                self.expect(&["SR_TID.X"])?;
                Operation::Move { d, a: Source { slot: ZERO, modifier: Modifier::Plain } }
            }
            // d, SRZ: a special register that is zero.
            "CS2R" => {
                let operation = if self.flag("32") {
                    let a = Source { slot: ZERO, modifier: Modifier::Plain };
                    Operation::Move { d: self.result()?, a }
                } else {
                    let zero = PairSource { pair: Pair { low: ZERO, high: ZERO }, negated: false };
                    Operation::AddPair { d: self.result_pair()?, a: zero, b: zero }
                };
                self.expect(&["SRZ"])?;
                operation
            }
            // d, c[bank][offset]
            "LDC" | "ULDC" | "LDCU" => {
                if self.flag("64") {
                    let zero = PairSource { pair: Pair { low: ZERO, high: ZERO }, negated: false };
                    Operation::AddPair { d: self.result_pair()?, a: self.pair()?, b: zero }
                } else {
                    Operation::Move { d: self.result()?, a: self.word()? }
                }
            }
            // d, a, b, test
            "SEL" | "USEL" => {
                Operation::Select { d: self.result()?, a: self.word()?, b: self.word()?, test: self.test()? }
            }
            // d, a
            "IABS" => Operation::Absolute { d: self.result()?, a: self.word()? },
            // d, a, selector, b
            "PRMT" | "UPRMT" => {
                let (d, a, selector, b) = (self.result()?, self.word()?, self.word()?, self.word()?);
                Operation::Permute { d, a, selector, b }
            }
            // [p,] d, a, b, c, table, !PT
            "LOP3" | "ULOP3" => {
                self.require("LUT")?;
                let p = if self.at_predicate() { self.result_test()? } else { SINK };
                let (d, a, b, c) = (self.result()?, self.word()?, self.word()?, self.word()?);
                let table = self.table()?;
                self.expect(&["!PT", "!UPT"])?;
                Operation::Logic { d, p, a, b, c, table }
            }
            // p, PT, a, b, c, table, the other result's table
            "PLOP3" => {
                self.require("LUT")?;
                let p = self.result_test()?;
                self.expect(&["PT", "UPT"])?;
                let (a, b, c, table) = (self.test()?, self.test()?, self.test()?, self.table()?);
                self.table()?;
                Operation::LogicOfTests { p, a, b, c, table }
            }
            // d, a, b, c [, carry]
            "IMAD" | "UIMAD" => {
                // These say what it is used for.
                let _ = self.flag("MOV") || self.flag("IADD") || self.flag("SHL");
                let signed = !self.flag("U32");
                if self.flag("WIDE") {
                    let (d, a, b, c) = (self.result_pair()?, self.word()?, self.word()?, self.pair()?);
                    Operation::MultiplyAddPair { d, a, b, c, signed }
                } else if self.flag("HI") {
                    let d = Pair { low: SINK, high: self.result()? };
                    let (a, b, c) = (self.word()?, self.word()?, self.pair()?);
                    Operation::MultiplyAddPair { d, a, b, c, signed }
                } else {
                    let (d, a, b, c) = (self.result()?, self.term()?, self.term()?, self.term()?);
                    let carry = if self.flag("X") { self.test()? } else { Test::NEVER };
                    Operation::MultiplyAdd { d, a, b, c, carry }
                }
            }
            // d, a, b of 64 bits; else d [, p [, p]], a, b [, c] [, carry [, carry]]
            "IADD" => {
                if self.flag("64") {
                    Operation::AddPair { d: self.result_pair()?, a: self.pair()?, b: self.pair()? }
                } else {
                    self.add(2)?
                }
            }
            "IADD3" | "UIADD3" => self.add(3)?,
            // A sum as well. With lanes its operands are d, a, b.
            "VIADD" => match self.lanes()? {
                None => self.add(2)?,
                Some(lanes) => {
                    let saturates = self.flag("ISAT");
                    let (d, a, b) = (self.result()?, self.lane_term()?, self.lane_term()?);
                    Operation::AddLanes { d, a, b, lanes, saturates }
                }
            },
            // PT, PT, d, a, b, minimum, !PT of 64 bits; else d [, PT, PT], a, b, minimum
            "IMNMX" | "VIMNMX" | "UIMNMX" => {
                if let Some(signed) = self.flags([("S64", true), ("U64", false)]) {
                    self.expect(&["PT", "UPT"])?;
                    self.expect(&["PT", "UPT"])?;
                    let (d, a, b, minimum) = (self.result_pair()?, self.pair()?, self.pair()?, self.test()?);
                    self.expect(&["!PT", "!UPT"])?;
                    return Ok(Operation::MinMaxPair { d, a, b, minimum, signed });
                }
                let (lanes, relu) = (self.lanes_or_word()?, self.flag("RELU"));
                let d = self.result()?;
                while self.at_predicate() {
                    self.expect(&["PT", "UPT"])?;
                }
                let (a, b) = (self.word()?, self.word()?);
                Operation::MinMax { d, a, b, choice: Choice { lanes, minimum: self.test()?, relu } }
            }
            // d, a, b, c, minimum
            "VIMNMX3" => {
                let (lanes, relu) = (self.lanes_or_word()?, self.flag("RELU"));
                let (d, a, b, c) = (self.result()?, self.word()?, self.word()?, self.word()?);
                Operation::MinMax3 { d, a, b, c, choice: Choice { lanes, minimum: self.test()?, relu } }
            }
            "VIADDMNMX" => {
                let (lanes, relu) = (self.lanes_or_word()?, self.flag("RELU"));
                let (d, a, b, c) = (self.result()?, self.lane_term()?, self.lane_term()?, self.word()?);
                Operation::AddMinMax { d, a, b, c, choice: Choice { lanes, minimum: self.test()?, relu } }
            }
            // p, PT, a, b, with [, low]
            "ISETP" | "UISETP" => {
                let comparison = self.flags([
                    ("EQ", Comparison::Eq),
                    ("NE", Comparison::Ne),
                    ("LT", Comparison::Lt),
                    ("LE", Comparison::Le),
                    ("GT", Comparison::Gt),
                    ("GE", Comparison::Ge),
                ]);
                let comparison = comparison.ok_or("it has no comparison")?;
                let join = self.flags([("AND", Join::And), ("OR", Join::Or), ("XOR", Join::Xor)]);
                let join = join.ok_or("what it is joined by is missing")?;
                let p = self.result_test()?;
                self.expect(&["PT", "UPT"])?;
                let compared = match self.flags([("S64", true), ("U64", false)]) {
                    Some(signed) => Compared::Pairs { a: self.pair()?, b: self.pair()?, signed },
                    None => {
                        let signed = !self.flag("U32");
                        Compared::Words { a: self.word()?, b: self.word()?, signed }
                    }
                };
                let with = self.test()?;
                let low = if self.flag("EX") { Some(self.test()?) } else { None };
                Operation::Compare { p, compared, comparison, low, join, with }
            }
            // d, low, amount, high
            "SHF" | "USHF" => {
                let left = self.flags([("L", true), ("R", false)]).ok_or("neither `.L` nor `.R`")?;
                let kinds = [("U32", (32, false)), ("S32", (32, true)), ("U64", (64, false)), ("S64", (64, true))];
                let (bits, signed) = self.flags(kinds).ok_or("it has no type")?;
                let shift = Shift { left, signed, bits, wraps: self.flag("W"), upper: self.flag("HI") };
                let (d, low, amount, high) = (self.result()?, self.word()?, self.word()?, self.word()?);
                Operation::Shift { d, low, amount, high, shift }
            }
            // d, low, addend, [high,] amount [, carry]: `high` with .HI, where .SX32 does not make it the sign
            "LEA" | "ULEA" => {
                let (upper, sign, extended) = (self.flag("HI"), self.flag("SX32"), self.flag("X"));
                let (d, low, addend) = (self.result()?, self.word()?, self.term()?);
                let high = match (upper, sign) {
                    (true, true) => None,
                    (true, false) => Some(self.word()?),
                    (false, _) => Some(Source { slot: ZERO, modifier: Modifier::Plain }),
                };
                let amount = self.number(31)?;
                let carry = if extended { self.test()? } else { Test::NEVER };
                Operation::ShiftAdd { d, low, addend, high, amount, upper, carry }
            }
            // d, a, width
            "SGXT" => {
                let signed = !self.flag("U32");
                Operation::Extend { d: self.result()?, a: self.word()?, width: self.word()?, signed }
            }
            // d, a: from .S32 to the other type. ptxas takes only the lower bits of what becomes of a negative .S8 or .S16.
            "I2I" => {
                let lanes = self.saturated_lanes()?;
                Operation::Saturate { d: self.result()?, a: self.word()?, lanes }
            }
            // d, a, b, c
            "I2IP" => {
                let lanes = self.saturated_lanes()?;
                let (d, a, b, c) = (self.result()?, self.word()?, self.word()?, self.word()?);
                Operation::SaturateAndPack { d, a, b, c, lanes }
            }
            "VABSDIFF" => {
                let signed = !self.flag("U32");
                let (d, a, b, c) = (self.result()?, self.word()?, self.word()?, self.word()?);
                Operation::AbsoluteDifference { d, a, b, c, signed }
            }
            "VABSDIFF4" => {
                let (signed, accumulates) = (!self.flag("U8"), self.flag("ACC"));
                let (d, a, b, c) = (self.result()?, self.word()?, self.word()?, self.word()?);
                Operation::AbsoluteDifferenceOfBytes { d, a, b, c: accumulates.then_some(c), signed }
            }
            // d, a, b, c: .4A multiplies bytes by bytes; .2A half-words by the lower or upper two bytes. The modifiers are
            // a's type and b's, in this order.
            "IDP" => {
                let (a_bits, first) = if self.flag("4A") {
                    (8, 0)
                } else {
                    self.require("2A")?;
                    (16, self.flags([("LO", 0), ("HI", 2)]).ok_or("neither `.LO` nor `.HI`")?)
                };
                let &[a_type, b_type] = self.modifiers.as_slice() else { return Err("it has not two types".into()) };
                self.modifiers.clear();
                let (a_lanes, b_lanes) = (lanes_of(a_type)?, lanes_of(b_type)?);
                if (a_lanes.bits, b_lanes.bits) != (a_bits, 8) {
                    return Err(format!("`.{a_type}.{b_type}` is not known here"));
                }
                let (d, a, b, c) = (self.result()?, self.word()?, self.word()?, self.word()?);
                Operation::DotProduct { d, a, b, c, a_lanes, b_lanes, first }
            }
            // d, [address + 0, 4 or 8]
            "LDG" => {
                self.global_word()?;
                let d = self.result()?;
                let (address, offset) = self.address()?;
                let index = [0, 4, 8].iter().position(|&known| known == offset);
                Operation::Load { d, address, index: index.ok_or("it loads neither a nor b nor c")? }
            }
            // [address + 12], a
            "STG" => {
                self.global_word()?;
                let (address, offset) = self.address()?;
                if offset != 12 {
                    return Err("it does not store d".into());
                }
                Operation::Store { address, a: self.word()? }
            }
            _ => return Err(format!("the simulator does not know `{mnemonic}`")),
        })
    }

    /// The sums of words, after their mnemonic.
    fn add(&mut self, count: usize) -> Result<Operation> {
        let extended = self.flag("X");
        let d = self.result()?;
        let mut carries = [SINK; 2];
        for carry in &mut carries {
            if self.at_predicate() {
                *carry = self.result_test()?;
            }
        }
        if carries[0] == SINK && carries[1] != SINK {
            return Err("only the second carry is taken".into());
        }
        let mut terms = [Source { slot: ZERO, modifier: Modifier::Plain }; 3];
        for term in &mut terms[..count] {
            *term = self.term()?;
            if term.slot == ZERO && term.modifier == Modifier::Negated && carries[0] != SINK {
                return Err("whether `-RZ` carries is not known".into());
            }
        }
        let mut carried = [Test::NEVER; 2];
        if extended {
            carried[0] = self.test()?;
            if !self.operands.is_empty() {
                carried[1] = self.test()?;
            }
        }
        Ok(Operation::Add { d, carries, terms, carried })
    }

    // Modifiers.

    /// Takes a modifier, if it is there.
    fn flag(&mut self, name: &str) -> bool {
        let place = self.modifiers.iter().position(|&modifier| modifier == name);
        place.map(|i| self.modifiers.remove(i)).is_some()
    }

    /// Takes one of several modifiers, and returns what it stands for.
    fn flags<T: Copy>(&mut self, known: impl IntoIterator<Item = (&'static str, T)>) -> Option<T> {
        known.into_iter().find(|(name, _)| self.flag(name)).map(|(_, meaning)| meaning)
    }

    fn require(&mut self, name: &str) -> Result<()> {
        if self.flag(name) { Ok(()) } else { Err(format!("it has no `.{name}`")) }
    }

    /// The lanes that a modifier tells.
    fn lanes(&mut self) -> Result<Option<Lanes>> {
        const NAMES: [&str; 7] = ["S32", "U32", "S16x2", "U16x2", "16x2", "S8x4", "U8x4"];
        self.flags(NAMES.map(|name| (name, name))).map(lanes_of).transpose()
    }

    /// The same; signed words where nothing tells.
    fn lanes_or_word(&mut self) -> Result<Lanes> {
        Ok(self.lanes()?.unwrap_or(Lanes::new(32, true)))
    }

    /// A saturating conversion's result, from `.S32`.
    fn saturated_lanes(&mut self) -> Result<Lanes> {
        self.require("SAT")?;
        self.require("S32")?;
        let name = self.flags(["S8", "U8", "S16", "U16"].map(|name| (name, name)));
        lanes_of(name.ok_or("it has no type of 8 or 16 bits")?)
    }

    /// The modifiers of a volatile access to a word.
    fn global_word(&mut self) -> Result<()> {
        ["E", "STRONG", "SYS"].into_iter().try_for_each(|name| self.require(name))
    }

    // Operands.

    fn operand(&mut self) -> Result<&'t str> {
        self.operands.pop_front().ok_or_else(|| "operands are missing".into())
    }

    /// An operand that must read like one of these.
    fn expect(&mut self, texts: &[&str]) -> Result<()> {
        let operand = self.operand()?;
        if texts.contains(&operand) { Ok(()) } else { Err(format!("`{operand}` stands where `{}` is known", texts[0])) }
    }

    /// Whether the next operand is a predicate.
    fn at_predicate(&self) -> bool {
        self.operands.front().is_some_and(|&name| {
            matches!(name, "PT" | "UPT") || Register::parse(name).is_some_and(Register::is_predicate)
        })
    }

    fn write(&mut self, register: Register) -> Result<Slot> {
        let slot = self.decoder.register(register)?;
        self.results.push(slot);
        Ok(slot)
    }

    fn result(&mut self) -> Result<Slot> {
        match self.operand()? {
            "RZ" | "URZ" => Ok(SINK),
            name => self.write(value_register(name)?),
        }
    }

    fn result_pair(&mut self) -> Result<Pair> {
        match self.operand()? {
            "RZ" | "URZ" => Ok(Pair { low: SINK, high: SINK }),
            name => {
                let low = value_register(name)?;
                let high = low.next().ok_or_else(|| not_known(name))?;
                Ok(Pair { low: self.write(low)?, high: self.write(high)? })
            }
        }
    }

    fn result_test(&mut self) -> Result<Slot> {
        match self.operand()? {
            "PT" | "UPT" => Ok(SINK),
            name => self.write(predicate(name)?),
        }
    }

    /// A register, a constant or an immediate, as it is.
    fn word(&mut self) -> Result<Source> {
        let text = self.operands.front().copied().unwrap_or_default();
        let source = self.term()?;
        if source.modifier == Modifier::Plain { Ok(source) } else { Err(not_known(text)) }
    }

    /// The same where the machine can negate or invert it.
    fn term(&mut self) -> Result<Source> {
        let text = self.operand()?;
        if let Some(value) = immediate(text) {
            let value = u32::try_from(value).or(i32::try_from(value).map(|value| value as u32));
            let slot = self.decoder.constant(value.map_err(|_| format!("`{text}` has more than 32 bits"))?)?;
            return Ok(Source { slot, modifier: Modifier::Plain });
        }
        let (modifier, name) = if let Some(name) = text.strip_prefix('-') {
            (Modifier::Negated, name)
        } else if let Some(name) = text.strip_prefix('~') {
            (Modifier::Inverted, name)
        } else {
            (Modifier::Plain, text)
        };
        let slot = match without_reuse(name) {
            "RZ" | "URZ" => ZERO,
            name if name.starts_with('c') => {
                let value = self.decoder.bank_word(name).ok_or_else(|| not_known(name))?;
                self.decoder.constant(value)?
            }
            name => self.decoder.read(value_register(name)?)?,
        };
        Ok(Source { slot, modifier })
    }

    /// A word whose lanes the machine can negate.
    fn lane_term(&mut self) -> Result<Source> {
        let text = self.operands.front().copied().unwrap_or_default();
        let source = self.term()?;
        if source.modifier == Modifier::Inverted { Err(not_known(text)) } else { Ok(source) }
    }

    /// Two registers in a row, named by the lower one, two words of a constant bank, or an immediate of 32 bits.
    fn pair(&mut self) -> Result<PairSource> {
        let text = self.operand()?;
        if let Some(value) = immediate(text) {
            let value = i32::try_from(value).map_err(|_| format!("whether `{text}` is negative is not known"))?;
            let (low, high) = (value as u32, (value >> 31) as u32);
            let pair = Pair { low: self.decoder.constant(low)?, high: self.decoder.constant(high)? };
            return Ok(PairSource { pair, negated: false });
        }
        let (negated, name) = text.strip_prefix('-').map_or((false, text), |name| (true, name));
        let pair = match without_reuse(name) {
            "RZ" | "URZ" => Pair { low: ZERO, high: ZERO },
            name if name.starts_with("c[") => {
                let words = self.decoder.bank_pair(name).ok_or_else(|| not_known(name))?;
                let [low, high] = words.map(|word| self.decoder.constant(word));
                Pair { low: low?, high: high? }
            }
            name => {
                let low = value_register(name)?;
                let high = low.next().ok_or_else(|| not_known(name))?;
                Pair { low: self.decoder.read(low)?, high: self.decoder.read(high)? }
            }
        };
        Ok(PairSource { pair, negated })
    }

    fn test(&mut self) -> Result<Test> {
        let text = self.operand()?;
        self.test_named(text)
    }

    /// A predicate, or a register's sign.
    fn test_named(&mut self, text: &str) -> Result<Test> {
        let (negated, name) = text.strip_prefix('!').map_or((false, text), |name| (true, name));
        if matches!(name, "PT" | "UPT") {
            return Ok(Test { negated, ..Test::ALWAYS });
        }
        let (sign, register) = match name.strip_suffix(".SIGN") {
            Some(name) => (true, value_register(without_reuse(name))?),
            None => (false, predicate(name)?),
        };
        Ok(Test { slot: self.decoder.read(register)?, negated, sign })
    }

    /// An immediate up to `greatest` that is no source.
    fn number(&mut self, greatest: u32) -> Result<u32> {
        let text = self.operand()?;
        let value = immediate(text).and_then(|value| u32::try_from(value).ok());
        value.filter(|&value| value <= greatest).ok_or_else(|| not_known(text))
    }

    /// A truth table of three inputs.
    fn table(&mut self) -> Result<u8> {
        Ok(self.number(u8::MAX.into())? as u8)
    }

    /// A number of half precision, by its bits.
    fn half(&mut self) -> Result<u16> {
        let text = self.operand()?;
        text.parse().ok().and_then(half_bits).ok_or_else(|| not_known(text))
    }

    /// `[R2+0x4]` or `desc[UR4][R2.64+0x4]`: two registers and an offset.
    fn address(&mut self) -> Result<(Pair, i64)> {
        let text = self.operand()?;
        let parse = || {
            let place = match text.strip_prefix("desc[") {
                // How memory is reached, not where.
                Some(described) => described.split_once(']')?.1,
                None => text,
            };
            let place = place.strip_prefix('[')?.strip_suffix(']')?;
            let (base, offset) = place.split_once('+').unwrap_or((place, "0x0"));
            let low = Register::parse(base.strip_suffix(".64").unwrap_or(base))?;
            Some((low, low.next()?, immediate(offset)?))
        };
        let (low, high, offset) = parse().ok_or_else(|| not_known(text))?;
        Ok((Pair { low: self.decoder.read(low)?, high: self.decoder.read(high)? }, offset))
    }

    fn nothing_left(&self) -> Result<()> {
        if let Some(modifier) = self.modifiers.first() {
            return Err(format!("the simulator does not know `.{modifier}` here"));
        }
        match self.operands.front() {
            Some(operand) => Err(format!("the simulator does not know the operand `{operand}` here")),
            None => Ok(()),
        }
    }
}

fn not_known(operand: &str) -> String {
    format!("the simulator does not know the operand `{operand}`")
}

/// A register's name without `.reuse`, which keeps its value at hand for the next instruction and changes nothing.
fn without_reuse(name: &str) -> &str {
    name.strip_suffix(".reuse").unwrap_or(name)
}

fn value_register(name: &str) -> Result<Register> {
    Register::parse(name).filter(|register| !register.is_predicate()).ok_or_else(|| not_known(name))
}

fn predicate(name: &str) -> Result<Register> {
    Register::parse(name).filter(|register| register.is_predicate()).ok_or_else(|| not_known(name))
}

/// `0x1f`, `-0x1`.
fn immediate(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value =
        i64::from_str_radix(digits.strip_prefix("0x").filter(|digits| !digits.starts_with(['+', '-']))?, 16).ok()?;
    Some(if negative { -value } else { value })
}

/// `S8`, `U16x2`: lanes by their type. Without a letter they are unsigned.
fn lanes_of(name: &str) -> Result<Lanes> {
    let element = name.split_once('x').map_or(name, |(element, _)| element);
    let (signed, digits) = match element.strip_prefix('S') {
        Some(digits) => (true, digits),
        None => (false, element.strip_prefix('U').unwrap_or(element)),
    };
    match digits {
        "8" => Ok(Lanes::new(8, signed)),
        "16" => Ok(Lanes::new(16, signed)),
        "32" => Ok(Lanes::new(32, signed)),
        _ => Err(format!("the simulator does not know `.{name}` here")),
    }
}

/// The bits of a number of half precision, if it is one exactly.
fn half_bits(value: f64) -> Option<u16> {
    /// 52 bits of a mantissa against 10.
    const MORE: u32 = 42;
    let sign = u16::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    let bits = magnitude.to_bits();
    let exponent = i64::try_from(bits >> 52).ok()? - 1023;
    match exponent {
        // Multiples of 2^-24, without an exponent.
        ..-14 => {
            let steps = magnitude * f64::from(1 << 24);
            (steps.fract() == 0.0).then_some(sign | steps as u16)
        }
        -14..=15 => {
            let exact = bits.trailing_zeros() >= MORE;
            let exponent = u16::try_from(exponent + 15).ok()?;
            exact.then_some(sign | exponent << 10 | (bits >> MORE) as u16 & 0x3ff)
        }
        _ if value.is_infinite() => Some(sign | 0x7c00),
        _ => None,
    }
}
