//! A door for this crate's tests: single instructions without a kernel around them. It is no part of the API and may change in any
//! release.

use vop_ptx::module::Scalar;

use crate::code::Kernel;
use crate::column::Width;
use crate::level::Level;
use crate::opcode::Opcode;
use crate::pure::{self, Pure};

/// An instruction that only computes.
#[derive(Clone, Debug)]
pub struct Instruction(Pure);

impl Instruction {
    /// The instruction of an opcode with `operands` operands, `p|q` counted as two, and the values of those that are integer constants;
    /// `None` if it is none, or a modifier is not one of it.
    pub fn new(opcode: &str, operands: usize, immediates: &[Option<u64>]) -> Option<Instruction> {
        let mut parts = Opcode::new(opcode);
        let dialect = pure::Dialect::default();
        pure::pure(&mut parts, operands, immediates, dialect).filter(|_| parts.rest().is_none()).map(Instruction)
    }

    /// What ptxas's code makes of it, if that is not what the manual says.
    pub fn by_ptxas(&self) -> Option<Instruction> {
        let compute = self.0.by_ptxas?;
        Some(Instruction(Pure { compute, ..self.0.clone() }))
    }

    /// The types of its results.
    pub fn results(&self) -> &[Scalar] {
        &self.0.results
    }

    /// The types of its sources, without the carry flag.
    pub fn sources(&self) -> &[Scalar] {
        &self.0.sources
    }

    /// Whether its registers may be wider than its types.
    pub fn is_wide(&self) -> bool {
        self.0.wide
    }

    /// Whether it reads the carry flag, and whether it writes it.
    pub fn carries(&self) -> (bool, bool) {
        (self.0.carry_in, self.0.carry_out)
    }

    /// The source that must not be zero.
    pub fn divisor(&self) -> Option<usize> {
        self.0.divisor
    }

    /// One thread's results at a level that this CPU has. Sources are registers' bits, with the carry flag last if it is read.
    pub fn run(&self, level: Level, sources: &[u64]) -> [u64; 2] {
        let count = |widths: &[Width]| widths.iter().filter(|width| **width != Width::None).count();
        let mut sources = sources.iter().copied();
        let mut results: Vec<u64> = Vec::new();
        for step in [self.0.compute].iter().chain(&self.0.then) {
            let mut values = [0; 4];
            for (value, given) in values[..count(&step.sources)].iter_mut().zip(results.drain(..).chain(&mut sources)) {
                *value = given;
            }
            results.extend(&step.once(level, values)[..count(&step.results)]);
        }
        debug_assert_eq!(sources.next(), None);
        std::array::from_fn(|i| results.get(i).copied().unwrap_or(0))
    }
}

/// How many runs of a kernel have been translated to machine code so far, and how many steps are in them.
pub fn runs(kernel: &Kernel) -> (usize, usize) {
    kernel.heat.runs()
}

/// How many loops of a kernel are one function of machine code each.
pub fn loops(kernel: &Kernel) -> usize {
    kernel.heat.regions()
}

/// A result of a narrow type in a register of `register` bits, at a level that this CPU has.
pub fn extend(ty: Scalar, register: u32, level: Level, value: u64) -> u64 {
    pure::extend(ty, register).map_or(value, |extend| extend.once(level, [value, 0, 0, 0])[0])
}

/// The low word of a wider register, at a level that this CPU has.
pub fn low_word(level: Level, value: u64) -> u64 {
    pure::low_word().once(level, [value, 0, 0, 0])[0]
}

/// What an atomic or a reduction does with two values of a type, as bits.
pub fn fold(operation: &str, ty: &str) -> Option<fn(u64, u64) -> u64> {
    pure::fold::fold(operation, ty)
}
