//! Code computes what the form does.

use vop::{Form, Mnemonic, Semantics};

/// Inputs: values at the edges of bytes and half-words, and others from a small generator.
fn inputs(seed: u64) -> impl Iterator<Item = [u32; 3]> {
    let edges = [0u8, 1, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0x40, 0xc0];
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..24).map(move |i| {
        core::array::from_fn(|_| {
            let random = next() as u32;
            if i % 3 == 0 {
                return random;
            }
            let picks = random.to_le_bytes().map(|byte| edges[usize::from(byte) % edges.len()]);
            // Shift amounts near the width.
            if i % 7 == 0 { random % 40 } else { u32::from_le_bytes(picks) }
        })
    })
}

fn check(form: Form, semantics: Semantics, seed: u64) {
    // Operations that only some targets have are looked at for each third form.
    let codes = match seed % 3 {
        0 => vop_port::codes(form, semantics),
        _ => vop_port::code(form, semantics, true).into_iter().collect(),
    };
    assert!(!codes.is_empty(), "there are rules for every form");
    for [a, b, c] in inputs(seed) {
        let wanted = form.eval_as(semantics, a, b, c);
        for code in &codes {
            let given = code.eval(a, b, c);
            assert_eq!(given, wanted, "{form} as {semantics} of {a:#x}, {b:#x}, {c:#x}: {code:#x?}");
        }
    }
}

#[test]
fn every_form_with_default_selectors() {
    for mnemonic in Mnemonic::ALL {
        for (seed, form) in mnemonic.forms_with_default_selectors().enumerate() {
            check(form, Semantics::Isa, seed as u64);
        }
    }
}

#[test]
fn forms_with_any_selectors() {
    for mnemonic in Mnemonic::ALL {
        let all = mnemonic.forms();
        let count = all.count_left();
        for i in 0..60 {
            let index = (count / 60 * i).wrapping_add(i * 7919 % (count / 60).max(1));
            let form = all.get(index % count).expect("the index is less than the count");
            for semantics in Semantics::ALL {
                check(form, semantics, i);
            }
        }
    }
}

#[test]
fn intrinsics_compute_what_they_say() {
    let all = vop_port::Intrinsic::all();
    // 23 on one or two operands, 20 comparisons, each for half-words and bytes; and those of three operands or with `_relu`.
    assert_eq!(all.len(), 2 * (21 + 20) + 2 * (2 * (3 + 2) + 2 * 2));
    for intrinsic in all {
        let ports: Vec<_> =
            vop_port::Target::all().map(|target| vop_port::port_intrinsic(&intrinsic, target)).collect();
        let codes: Vec<_> = ports.iter().flat_map(|port| [Some(port.code()), port.device_code()]).flatten().collect();
        for seed in 0..8 {
            for [a, b, c] in inputs(seed) {
                let wanted = intrinsic.eval(a, b, c);
                for code in &codes {
                    let given = code.eval(a, b, c);
                    assert_eq!(given, wanted, "{intrinsic} of {a:#x}, {b:#x}, {c:#x}: {code:#x?}");
                }
            }
        }
    }
}

/// The form that computes an intrinsic alone does.
#[test]
fn forms_compute_their_intrinsics() {
    for intrinsic in vop_port::Intrinsic::all() {
        let form = intrinsic.form().expect("every intrinsic names a form");
        let alone = vop_port::Intrinsic::of_form(form).contains(&intrinsic);
        assert_eq!(intrinsic.difference().is_none() || intrinsic.name().starts_with("__vsad"), alone, "{intrinsic}");
        for [a, b, _] in inputs(1).filter(|_| alone) {
            assert_eq!(form.eval(a, b, 0), intrinsic.eval(a, b, 0), "{intrinsic} and {form}");
        }
    }
}

/// The table of names of other families in the crate `vop` says the mnemonic of this crate's table.
#[test]
fn names_of_other_families_have_the_same_mnemonics() {
    let mut unknown = Vec::new();
    for intrinsic in vop_port::Intrinsic::all() {
        let faults = vop::parse(intrinsic.name()).expect_err("no instruction");
        let Some(form) = intrinsic.form() else { continue };
        match faults[0].label.as_str() {
            "" => unknown.push(intrinsic.name().to_owned()),
            label => assert_eq!(label, format!("did you mean `{}`?", form.mnemonic()), "{}", intrinsic.name()),
        }
    }
    // No video instruction computes these, and its neighbours do not help.
    unknown.retain(|name| !name.starts_with("__vi"));
    assert!(unknown.is_empty(), "{unknown:?}");
}
