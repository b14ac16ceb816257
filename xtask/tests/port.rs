//! The base instructions that `vop port` takes are instructions.

use vop_port::Base;

use self::kernel::module;
use crate::tools;

#[path = "../../tests/cases/port/kernel.rs"]
mod kernel;

#[test]
fn ptxas_takes_every_base_instruction() {
    let Some(toolchain) = tools::ptxas() else { return };
    // One kernel of all, with the entries' names told apart.
    let mut all = String::new();
    let samples: Vec<Base> = Base::opcodes(None).iter().filter_map(|opcode| Base::sample(opcode)).collect();
    assert!(samples.len() > 200, "{}", samples.len());
    for (number, base) in samples.iter().enumerate() {
        let text = module(base);
        let (head, entry) = text.split_at(text.find(".visible").expect("an entry"));
        if number == 0 {
            all.push_str(head);
        }
        all.push_str(&entry.replacen(" k(", &format!(" k{number}("), 1));
    }
    if let Err(error) = toolchain.assemble(all.as_bytes(), "sm_120f") {
        panic!("{error}");
    }
}

/// What the table leaves out is no instruction, where its neighbours are.
#[test]
fn ptxas_refuses_what_is_left_out() {
    let Some(toolchain) = tools::ptxas() else { return };
    let base = Base::sample("add.u32").expect("it is known");
    for opcode in ["add.b32", "sub.s16x2", "mul.lo.b32", "min.b32", "sad.b32", "min.relu.u32", "cvt.sat.u32.u16"] {
        assert!(Base::opcodes(None).iter().all(|known| known != opcode), "{opcode}");
        let text = module(&base).replace("add.u32 %r4, %r1, %r2", &format!("{opcode} %r4, %r1, %r2"));
        assert!(toolchain.assemble(text.as_bytes(), "sm_120f").is_err(), "{opcode}");
    }
}
