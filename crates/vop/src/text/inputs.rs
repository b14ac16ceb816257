//! The values of a, b and c, from those of the registers that an instruction's text names.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

use super::instruction::{Instruction, Operand};
use crate::isa::form::Form;

/// Why values do not fit an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputError {
    /// An operand has no value.
    Missing {
        /// The operand, `a`, `b` or `c`.
        operand: &'static str,
        /// The form, which needs it.
        form: Form,
    },
    /// There are more than three values, or more than there are operands without values.
    TooMany {
        /// The form, which needs fewer.
        form: Form,
    },
    /// The text says another value.
    Immediate {
        /// The operand, `a`, `b` or `c`.
        operand: &'static str,
        /// What the text says.
        immediate: u32,
        /// What was given.
        value: u32,
    },
    /// One register was given two values.
    OneRegister {
        /// Its name.
        register: String,
        /// The values.
        values: [u32; 2],
    },
}

/// What is wrong and what is needed, in a sentence without a full stop.
impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needs = |f: &mut fmt::Formatter<'_>, form: &Form| {
            write!(f, "`{form}` needs values for {}", if form.reads_c() { "a, b and c" } else { "a and b" })
        };
        match self {
            InputError::Missing { operand, form } => {
                write!(f, "the value of {operand} is missing: ")?;
                needs(f, form)
            }
            InputError::TooMany { form } => {
                f.write_str("too many values: ")?;
                needs(f, form)
            }
            InputError::Immediate { operand, immediate, value } => {
                write!(f, "operand {operand} is the immediate {immediate:#x}, but its value is given as {value:#x}")
            }
            InputError::OneRegister { register, values: [one, other] } => {
                write!(f, "`{register}` stands for two operands, but has two values, {one:#x} and {other:#x}")
            }
        }
    }
}

impl core::error::Error for InputError {}

impl<'t> Instruction<'t> {
    /// Which of a, b and c need a value to be given: those that d depends on and that are no immediates. The values of the others
    /// may be left out: the text has them, or d does not depend on them ([`Form::reads_c`]), as with c of a SIMD form that
    /// writes all its lanes.
    ///
    /// ```
    /// let needed = |text| vop::parse(text).unwrap().needed_inputs();
    /// assert_eq!(needed("vadd.u32.u32.u32.add d, a, 7, c"), [true, false, true]);
    /// assert_eq!(needed("vadd4.u32.u32.u32 d, a, b, c"), [true, true, false]);
    /// ```
    pub fn needed_inputs(&self) -> [bool; 3] {
        self.read_operands().map(|operand| operand.is_some_and(|operand| operand.register().is_some()))
    }

    /// The values of a, b and c: those given, in order, and the immediates of the text. Where an operand is an immediate its
    /// value may be left out, or be `None`, or be given again. A value of c is optional where d does not depend on c:
    /// see [`needed_inputs`](Instruction::needed_inputs). What the text adds to a register is added.
    ///
    /// ```
    /// let instruction = vop::parse("vadd.u32.u32.u32.add d, a, 7, c+1").unwrap();
    /// assert_eq!(instruction.inputs(&[Some(1), Some(2)]), Ok([1, 7, 3]));
    /// assert!(instruction.inputs(&[Some(1)]).is_err());
    /// ```
    pub fn inputs(&self, given: &[Option<u32>]) -> Result<[u32; 3], InputError> {
        let form = self.form;
        let operands = self.read_operands();
        let immediates = operands.map(|operand| match operand {
            Some(Operand::Immediate { value, .. }) => Some(value),
            _ => None,
        });
        let wanted = operands.iter().flatten().count();
        let registers = wanted - immediates.iter().flatten().count();
        // One value for each operand, or one for each register.
        let skip_immediates = given.len() < wanted && given.len() == registers;
        let mut given = given.iter();
        let mut values = [0; 3];
        for (i, operand) in ["a", "b", "c"].into_iter().enumerate() {
            let next = if skip_immediates && immediates[i].is_some() { None } else { given.next() };
            values[i] = match (next.copied().flatten(), immediates[i]) {
                (None, Some(immediate)) => immediate,
                (Some(value), Some(immediate)) if value == immediate => value,
                (Some(value), Some(immediate)) => return Err(InputError::Immediate { operand, immediate, value }),
                (None, None) if operands[i].is_none() => {
                    // A c that is not read has the value of a or b if it is the same register.
                    twin(&[Some(self.a), Some(self.b), self.c], i).map_or(0, |(j, _)| values[j])
                }
                (None, None) => return Err(InputError::Missing { operand, form }),
                (Some(value), None) => value,
            };
        }
        // A register that stands for two operands has one value, whatever is added to it.
        for i in 1..3 {
            if let Some((j, register)) = twin(&operands, i)
                && values[i] != values[j]
            {
                return Err(InputError::OneRegister { register: register.to_owned(), values: [values[j], values[i]] });
            }
        }
        add_constants(&operands, &mut values);
        if given.next().is_some() { Err(InputError::TooMany { form }) } else { Ok(values) }
    }

    /// The operands that d depends on.
    fn read_operands(&self) -> [Option<Operand<'t>>; 3] {
        [Some(self.a), Some(self.b), self.c.filter(|_| self.form.reads_c())]
    }
}

/// The operand before operand `i` that is the same register, and the register's name.
pub(crate) fn twin<'t>(operands: &[Option<Operand<'t>>; 3], i: usize) -> Option<(usize, &'t str)> {
    let register = |i: usize| operands[i].and_then(Operand::register);
    let name = register(i)?;
    (0..i).find(|&j| register(j) == Some(name)).map(|j| (j, name))
}

/// Makes values of operands out of those of registers.
pub(crate) fn add_constants(operands: &[Option<Operand<'_>>; 3], values: &mut [u32; 3]) {
    for (operand, value) in operands.iter().zip(values) {
        if let Some(Operand::Sum { addend, .. }) = operand {
            *value = value.wrapping_add(*addend);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_may_be_left_out_where_it_is_not_read() {
        let inputs = |text, given: &[Option<u32>]| crate::parse(text).unwrap().inputs(given);
        for (text, given, values) in [
            ("vadd4.u32.u32.u32 d, a, b, c", &[1, 2][..], [1, 2, 0]),
            ("vadd4.u32.u32.u32 d, a, b, c", &[1, 2, 3], [1, 2, 3]),
            ("vadd4.u32.u32.u32 d, a, b, a", &[1, 2], [1, 2, 1]),
            ("vadd.u32.u32.u32 d, a, b", &[1, 2], [1, 2, 0]),
        ] {
            let given = given.iter().copied().map(Some).collect::<alloc::vec::Vec<_>>();
            assert_eq!(inputs(text, &given), Ok(values), "{text} {given:?}");
        }
        for text in
            ["vadd4.u32.u32.u32 d.b0, a, b, c", "vadd4.u32.u32.u32.add d, a, b, c", "vmad.u32.u32.u32 d, a, b, c"]
        {
            let found = inputs(text, &[Some(1), Some(2)]);
            assert!(matches!(found, Err(InputError::Missing { operand: "c", .. })), "{text}");
        }
        let found = inputs("vadd4.u32.u32.u32 d, a, b, c", &[Some(1)]);
        assert!(matches!(found, Err(InputError::Missing { operand: "b", .. })));
    }

    #[test]
    fn immediates_have_their_values() {
        let inputs = |text, given: &[Option<u32>]| crate::parse(text).unwrap().inputs(given);
        let text = "vadd.u32.u32.u32.add d, a, 7, c";
        assert_eq!(inputs(text, &[Some(1), Some(2)]), Ok([1, 7, 2]));
        assert_eq!(inputs(text, &[Some(1), None, Some(2)]), Ok([1, 7, 2]));
        assert_eq!(inputs(text, &[Some(1), Some(7), Some(2)]), Ok([1, 7, 2]));
        assert!(matches!(inputs(text, &[Some(1), Some(8), Some(2)]), Err(InputError::Immediate { operand: "b", .. })));
        assert!(matches!(inputs(text, &[Some(1)]), Err(InputError::Missing { operand: "c", .. })));
        let four = [Some(1), Some(7), Some(2), Some(3)];
        assert!(matches!(inputs(text, &four), Err(InputError::TooMany { .. })));
    }

    #[test]
    fn registers_have_one_value() {
        let inputs = |text, given: &[Option<u32>]| crate::parse(text).unwrap().inputs(given);
        assert_eq!(inputs("vadd.u32.u32.u32 d, a, b", &[Some(1), Some(2), None]), Ok([1, 2, 0]));
        assert_eq!(inputs("vadd.u32.u32.u32 d, a, b", &[Some(1), Some(2), Some(9)]), Ok([1, 2, 9]));
        assert_eq!(inputs("vadd.u32.u32.u32 d, a, a", &[Some(2), Some(2)]), Ok([2, 2, 0]));
        // d does not depend on c where all lanes are written.
        assert_eq!(inputs("vadd4.u32.u32.u32 d, a, b, c", &[Some(1), Some(2)]), Ok([1, 2, 0]));
        assert_eq!(inputs("vadd4.u32.u32.u32 d, a, b, a", &[Some(1), Some(2), Some(3)]), Ok([1, 2, 3]));
        assert!(matches!(
            inputs("vadd4.u32.u32.u32 d.b0, a, b, c", &[Some(1), Some(2)]),
            Err(InputError::Missing { operand: "c", .. })
        ));
        assert!(matches!(
            inputs("vadd.u32.u32.u32 d, a, a", &[Some(1), Some(2)]),
            Err(InputError::OneRegister { values: [1, 2], .. })
        ));
    }
}
