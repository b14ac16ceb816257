//! The instruction set: the [table], the values its axes take, and [`Form`](form::Form).

pub mod form;
pub mod forms;
pub mod range;
pub mod scalar;
pub mod special;
pub mod table;
pub mod types;
