//! From text to [`Instruction`]s and back.

mod constant;
mod inputs;
mod judge;
mod lex;
mod operand;
mod parse;
mod places;
mod print;
mod registers;
mod suggest;

pub use inputs::InputError;
pub use parse::{Guard, Instruction, Operand, Parser, parse};
pub use places::{OperandPlace, Places};
pub use registers::{Declarations, RegisterType, Registers, register_number};
