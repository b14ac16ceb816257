//! The machine code of one kernel, and running it.

use std::fmt;

use super::decode::{Decoded, Decoder};
use super::operation::{Machine, Operation, Slot, Test};

/// The machine code that ptxas makes of one text: a kernel that loads a, b and c, computes d and stores it.
#[derive(Debug, Clone)]
pub struct Code {
    /// Constants, as [`Code::parse`] reads them.
    constants: Vec<String>,
    /// Instructions.
    lines: Vec<String>,
    program: Result<Program, Unsupported>,
}

/// Code, decoded once.
#[derive(Debug, Clone)]
struct Program {
    steps: Vec<Step>,
    /// The slots before the first step.
    initial: Vec<u32>,
    /// Slots that are read though perhaps no step has written them: those of registers of which only half a word matters.
    unwritten: Vec<Slot>,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    /// Executed only if this holds.
    guard: Option<Test>,
    operation: Operation,
    /// The number of its line.
    line: usize,
}

/// A machine instruction that the simulator does not know, or knows too little of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The instruction as nvdisasm prints it; empty where the whole of the code is meant.
    pub instruction: String,
    /// What is wrong, as a clause that follows a colon.
    pub why: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.instruction.as_str() {
            "" => write!(f, "the machine code cannot be simulated: {}", self.why),
            instruction => write!(f, "`{instruction}` cannot be simulated: {}", self.why),
        }
    }
}

impl std::error::Error for Unsupported {}

/// The listing, without what fills the section up behind the code.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.constants.iter().chain(&self.lines).try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// How a line of constants starts.
const BYTES: &str = ".byte";

impl Code {
    /// Reads a listing: an instruction a line, as nvdisasm prints them. Lines `.byte 0x01, 0x02` are the kernel's constant
    /// bank 2.
    pub fn parse(listing: &str) -> Code {
        let lines = listing.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
        let (constants, mut lines): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with(BYTES));
        // The section is filled up, behind the end of the code.
        while lines.pop_if(|line| line.starts_with("NOP") || line.starts_with("BRA")).is_some() {}
        let bank: Option<Vec<u8>> =
            constants.iter().flat_map(|line| line[BYTES.len()..].split(',').map(byte)).collect();
        let program = match bank {
            Some(bank) => Program::decode(&lines, &bank),
            None => Err(whole("its constants are not bytes")),
        };
        Code { constants, lines, program }
    }

    /// The instructions, without what fills the section up behind them.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// The number of instructions up to the end of the code, including the loads and the store.
    pub fn size(&self) -> usize {
        let end = self.lines.iter().position(|line| line.starts_with("EXIT"));
        let code = &self.lines[..end.map_or(self.lines.len(), |end| end + 1)];
        code.iter().filter(|line| !line.starts_with("NOP")).count()
    }

    /// Executes it: the value of d.
    ///
    /// # Errors
    /// An instruction is not known, or the value is not determined by a, b and c.
    pub fn run(&self, a: u32, b: u32, c: u32) -> Result<u32, Unsupported> {
        let program = self.program.as_ref().map_err(Clone::clone)?;
        let inputs = [a, b, c];
        let d = self.execute(program, program.initial.clone(), inputs)?;
        if !program.unwritten.is_empty() {
            let mut slots = program.initial.clone();
            for &slot in &program.unwritten {
                slots[usize::from(slot)] = u32::MAX;
            }
            if self.execute(program, slots, inputs)? != d {
                return Err(whole("its result depends on a register that it has not written"));
            }
        }
        Ok(d)
    }

    fn execute(&self, program: &Program, slots: Vec<u32>, inputs: [u32; 3]) -> Result<u32, Unsupported> {
        let mut machine = Machine::new(slots, inputs);
        for step in &program.steps {
            if step.guard.is_none_or(|guard| machine.test(guard)) {
                let done = step.operation.execute(&mut machine);
                done.map_err(|why| Unsupported { instruction: self.lines[step.line].clone(), why: why.into() })?;
            }
        }
        machine.result.ok_or_else(|| whole("it ends without storing d"))
    }
}

impl Program {
    fn decode(lines: &[String], bank: &[u8]) -> Result<Program, Unsupported> {
        let mut decoder = Decoder::new(bank);
        let mut steps = Vec::new();
        for (i, line) in lines.iter().enumerate() {
            match decoder.line(line).map_err(|why| Unsupported { instruction: line.clone(), why })? {
                Decoded::Step(guard, operation) => steps.push(Step { guard, operation, line: i }),
                Decoded::Nothing => {}
                Decoded::Exit => return Ok(Program { steps, initial: decoder.initial, unwritten: decoder.unwritten }),
            }
        }
        Err(whole("it has no end"))
    }
}

fn whole(why: &str) -> Unsupported {
    Unsupported { instruction: String::new(), why: why.into() }
}

fn byte(text: &str) -> Option<u8> {
    u8::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}
