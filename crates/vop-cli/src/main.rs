//! The `vop` command.
fn main() {}
