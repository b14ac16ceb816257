//! Lowering changes nothing but video instructions, what it writes is read again, and for a form it computes what the form computes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vop::lower::LowerOptions;
use vop::{Form, Semantics, Target};
use vop_ptx::module::Module;
use vop_ptx::rewrite::{RewriteOptions, rewrite};
use vop_ptx::uses::{self, Verdict};

const TARGETS: [&str; 6] = ["sm_75", "sm_86", "sm_90", "sm_100", "sm_120", "sm_120f"];

fuzz_target!(|input: (u8, [u32; 3], &str)| {
    let (choices, [a, b, c], text) = input;
    let target: Target = TARGETS[usize::from(choices) % TARGETS.len()].parse().expect("a target");
    let semantics = if choices & 64 == 0 { Semantics::Isa } else { Semantics::Ptxas };
    if let Ok(form) = text.parse::<Form>() {
        let version = [(7, 0), (8, 0), (9, 4)][usize::from(choices >> 3) % 3];
        let options = LowerOptions::new(target).with_semantics(semantics).with_version(version);
        for options in [options, options.with_keeping(false), options.with_carry(false)] {
            let lowering = form.lower(options);
            let Some(sequence) = lowering.sequence.filter(|_| lowering.exact) else { continue };
            assert_eq!(
                sequence.eval(a, b, c),
                form.eval_as(semantics, a, b, c),
                "{form} {target} {a:#x} {b:#x} {c:#x}"
            );
        }
        return;
    }
    let module = Module::parse(text);
    let options = RewriteOptions::new(target).semantics(semantics).may_raise(choices & 128 != 0);
    let Ok(rewritten) = rewrite(&module, &options) else { return };
    let bytes = rewritten.apply(text.as_bytes());
    let after = String::from_utf8(bytes).expect("text stays text");
    if rewritten.is_empty() {
        assert_eq!(after, text);
    }
    let again = Module::parse(after.as_str());
    assert_eq!(again.to_string(), after);
    let legal = |module: &Module| {
        uses::in_module(module).iter().filter(|found| matches!(found.verdict, Verdict::Legal(_))).count()
    };
    let replaced = rewritten.instructions.iter().filter(|one| one.block.is_some()).count();
    let video = |block: &vop::lower::Block| block.one_line().contains("vabsdiff");
    // A block may itself hold a video instruction that is cheap.
    let kept = rewritten.instructions.iter().filter_map(|one| one.block.as_ref()).filter(|block| video(block)).count();
    let (before, left) = (legal(&module), legal(&again));
    assert!(
        left >= before - replaced && left <= before - replaced + kept,
        "{before} {replaced} {kept} {left}\n{after}"
    );
});
