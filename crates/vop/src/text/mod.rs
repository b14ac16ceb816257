//! From text to [`Instruction`]s and back.
//!
//! Imports go one way, from the last of these lines to the first:
//!
//! ```text
//! lex, suggest, selector, registers, instruction     tokens and names; what an operand's name stands for; what is read
//! reader                                             one reading of a text: its tokens, scopes and faults
//! constant, declaration, opcode, operand             what a statement consists of, as it is written
//! places, patch, habits, wording                     where that stands; the words of faults, and what to write instead
//! verdict                                            whether it is legal, and which form it is
//! parse                                              statements
//! form, inputs, print                                conveniences over all of it
//! ```

mod constant;
mod declaration;
mod form;
mod habits;
mod inputs;
mod instruction;
mod lex;
mod opcode;
mod operand;
mod parse;
mod patch;
mod places;
mod print;
mod reader;
mod registers;
mod selector;
mod suggest;
mod verdict;
mod wording;

pub use habits::is_name_of_lanes;
pub use inputs::InputError;
pub(crate) use inputs::{add_constants, twin};
pub use instruction::{Guard, Instruction, Operand};
pub use parse::{Parser, parse};
pub use places::{OperandPlace, Places};
pub use registers::{Declarations, RegisterType, Registers, register_number};
