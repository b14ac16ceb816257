//! Code computes what the form does.

use std::time::SystemTime;

use vop::{Form, Intrinsic, Mnemonic, Semantics};
use vop_port::{Base, Request, Source, Target};

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

/// Every form, or half of them, the other ones each second day; with `VOP_FULL` all.
#[test]
fn every_form_with_default_selectors() {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is right");
    let day = (since.as_secs() / 86400) as usize;
    let (first, step) = if std::env::var_os("VOP_FULL").is_some() { (0, 1) } else { (day % 2, 2) };
    for mnemonic in Mnemonic::ALL {
        for (seed, form) in mnemonic.forms_with_default_selectors().enumerate().skip(first).step_by(step) {
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
    let all = Intrinsic::all();
    // 21 on one or two operands, 20 comparisons, each for half-words and bytes; those of three operands or with `_relu`; and 31 on words.
    assert_eq!(all.len(), 2 * (21 + 20) + 2 * (2 * (3 + 2) + 2 * 2) + 31);
    for intrinsic in all {
        let words = vop_port::code_of_intrinsic(&intrinsic, false);
        assert!(!words.steps().iter().any(|(op, _)| op.is_long()), "{intrinsic}");
        let ports: Vec<_> = Target::all().map(|target| vop_port::port_intrinsic(&intrinsic, target)).collect();
        let of_ports = ports.iter().flat_map(|port| [Some(port.code()), port.device_code()]).flatten();
        let codes: Vec<_> = of_ports.chain([&words]).collect();
        for seed in 0..8 {
            for [a, b, c] in inputs(seed).flat_map(|[a, b, c]| [[a, b, c], [a, b, c % 40]]) {
                let wanted = intrinsic.eval(a, b, c);
                for code in &codes {
                    let given = code.eval(a, b, c);
                    assert_eq!(given, wanted, "{intrinsic} of {a:#x}, {b:#x}, {c:#x}: {code:#x?}");
                }
            }
        }
    }
}

/// The definition of integer intrinsics, beside what the manual says of them.
#[test]
fn integer_intrinsics_are_what_the_manual_says() {
    let value = |name: &str, a: u32, b: u32, c: u32| {
        Intrinsic::from_name(name).unwrap_or_else(|| panic!("{name}")).eval(a, b, c)
    };
    for seed in 0..40 {
        for [a, b, c] in inputs(seed).flat_map(|[a, b, c]| [[a, b, c], [a, b, c % 40]]) {
            let (x, y) = (a as i32, b as i32);
            let signed = |word: u32| word.to_le_bytes().map(|byte| i32::from(byte as i8));
            let unsigned = |word: u32| word.to_le_bytes().map(u32::from);
            let dot = |p: &[i32], q: &[i32]| p.iter().zip(q).map(|(p, q)| p * q).sum::<i32>();
            let udot = |p: &[u32], q: &[u32]| p.iter().zip(q).map(|(p, q)| p * q).fold(0u32, u32::wrapping_add);
            let halves = [i32::from(a as i16), x >> 16];
            let uhalves = [a & 0xffff, a >> 16];
            let long = u64::from(b) << 32 | u64::from(a);
            let average = |round: i64| ((i64::from(x) + i64::from(y) + round) >> 1) as u32;
            let uaverage = |round: u64| ((u64::from(a) + u64::from(b) + round) >> 1) as u32;
            let low = |x: i32| x << 8 >> 8;
            for (name, expected) in [
                ("__dp4a", (dot(&signed(a), &signed(b)) as u32).wrapping_add(c)),
                ("__dp4a(int, int, int)", (dot(&signed(a), &signed(b)) as u32).wrapping_add(c)),
                ("__dp4a(char4, char4, int)", (dot(&signed(a), &signed(b)) as u32).wrapping_add(c)),
                ("__dp4a(unsigned, unsigned, unsigned)", udot(&unsigned(a), &unsigned(b)).wrapping_add(c)),
                ("__dp4a(uchar4,uchar4,unsigned int)", udot(&unsigned(a), &unsigned(b)).wrapping_add(c)),
                ("__dp2a_lo", (dot(&halves, &signed(b)[..2]) as u32).wrapping_add(c)),
                ("__dp2a_hi", (dot(&halves, &signed(b)[2..]) as u32).wrapping_add(c)),
                ("__dp2a_lo(short2, char4, int)", (dot(&halves, &signed(b)[..2]) as u32).wrapping_add(c)),
                ("__dp2a_lo(ushort2, uchar4, unsigned)", udot(&uhalves, &unsigned(b)[..2]).wrapping_add(c)),
                ("__dp2a_hi(unsigned, unsigned, unsigned)", udot(&uhalves, &unsigned(b)[2..]).wrapping_add(c)),
                ("__funnelshift_l", (long << (c & 31) >> 32) as u32),
                ("__funnelshift_lc", ((long << c.min(32)) >> 32) as u32),
                ("__funnelshift_r", (long >> (c & 31)) as u32),
                ("__funnelshift_rc", (long >> c.min(32)) as u32),
                ("__sad", x.abs_diff(y).wrapping_add(c)),
                ("__usad", a.abs_diff(b).wrapping_add(c)),
                ("__brev", (0..32).fold(0, |word, i| word << 1 | a >> i & 1)),
                ("__popc", (0..32).map(|i| a >> i & 1).sum()),
                ("__clz", (0..32).take_while(|i| a << i >> 31 == 0).count() as u32),
                ("__ffs", (0..32).find(|i| a >> i & 1 != 0).map_or(0, |i| i + 1)),
                ("__mulhi", ((i64::from(x) * i64::from(y)) >> 32) as u32),
                ("__umulhi", ((u64::from(a) * u64::from(b)) >> 32) as u32),
                ("__mul24", low(x).wrapping_mul(low(y)) as u32),
                ("__umul24", (a << 8 >> 8).wrapping_mul(b << 8 >> 8)),
                ("__hadd", average(0)),
                ("__rhadd", average(1)),
                ("__uhadd", uaverage(0)),
                ("__urhadd", uaverage(1)),
            ] {
                assert_eq!(value(name, a, b, c), expected, "{name} of {a:#x}, {b:#x}, {c:#x}");
            }
            let selected = (0..4).map(|i| long >> (8 * (c >> (4 * i) & 7)) & 0xff);
            let bytes = selected.rev().fold(0, |word, byte| word << 8 | byte as u32);
            assert_eq!(value("__byte_perm", a, b, c), bytes, "{a:#x} {b:#x} {c:#x}");
        }
    }
}

/// The form that computes an intrinsic alone does.
#[test]
fn forms_compute_their_intrinsics() {
    for intrinsic in Intrinsic::all() {
        let Some(form) = intrinsic.form() else {
            assert!(!intrinsic.is_simd(), "{intrinsic}");
            continue;
        };
        let alone = Intrinsic::of_form(form).contains(&intrinsic);
        assert_eq!(intrinsic.difference().is_none() || intrinsic.name().starts_with("__vsad"), alone, "{intrinsic}");
        let adds = form.uses_c() && !intrinsic.is_simd();
        for [a, b, c] in inputs(1).filter(|_| alone) {
            let c = if adds { c } else { 0 };
            assert_eq!(form.eval(a, b, c), intrinsic.eval(a, b, c), "{intrinsic} and {form}");
        }
    }
}

/// The instruction that a page names for an intrinsic is one that is ported, and computes it where nothing else is said.
#[test]
fn instructions_compute_their_intrinsics() {
    let mut base_instructions = 0;
    for intrinsic in Intrinsic::all().into_iter().filter(|intrinsic| intrinsic.difference().is_none()) {
        let Some(text) = intrinsic.instruction() else { continue };
        let Source::Base(base) = Request::read(&text, Semantics::Isa).expect(&text).source else { continue };
        base_instructions += 1;
        for [a, b, c] in inputs(3) {
            assert_eq!(base.code().eval(a, b, c), intrinsic.eval(a, b, c), "{intrinsic} and {text}");
        }
    }
    // All integer intrinsics but `__byte_perm`, `__ffs` and the averages.
    assert_eq!(base_instructions, 31 - 6);
}

#[test]
fn names_are_read_back() {
    for intrinsic in Intrinsic::all() {
        assert_eq!(Intrinsic::from_name(&intrinsic.to_string()), Some(intrinsic.clone()), "{intrinsic}");
        assert!(intrinsic.overloads().contains(&intrinsic), "{intrinsic}");
    }
    for name in
        ["", "__", "__v", "__v4", "__vadd", "__vadd3", "__vcmplt4", "__vcmpeqs4", "__vimax_s32", "__vimax3_u32_relu"]
    {
        assert_eq!(Intrinsic::from_name(name), None, "{name}");
    }
    for name in ["__dp4a(int, int)", "__dp4a(int, int, unsigned)", "__sad(int, int, unsigned)", "__dp4a(int, int, int"]
    {
        assert_eq!(Intrinsic::from_name(name), None, "{name}");
    }
}

/// Two functions have two names, which no language or library has.
#[test]
fn functions_have_names_of_their_own() {
    let c = "c".parse().expect("a target");
    let intrinsics = Intrinsic::all().into_iter().map(|intrinsic| vop_port::port_intrinsic(&intrinsic, c));
    let bases = Base::samples().into_iter().map(|base| vop_port::port_base(&base, c));
    let ports: Vec<_> = intrinsics.chain(bases).collect();
    let mut names: Vec<&str> = ports.iter().map(|port| port.name()).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.iter().all(|name| ["v", "cuda_", "ptx_"].iter().any(|start| name.starts_with(start))));
    // A header is read back as it was written.
    let file = vop_port::file(&ports);
    assert_eq!(vop_port::read_file(&file, c), Some((ports, false)));
}

/// What is said of a name where an instruction is expected names what computes it.
#[test]
fn diagnostics_name_what_computes_an_intrinsic() {
    let mut unknown = Vec::new();
    for intrinsic in Intrinsic::all() {
        let faults = vop::parse(intrinsic.name()).expect_err("no instruction");
        let help = faults[0].help.clone().unwrap_or_default();
        if !intrinsic.is_simd() {
            let opcode = intrinsic.instruction().map(|text| text.split('.').next().unwrap_or_default().to_owned());
            assert!(opcode.is_none_or(|opcode| help.contains(&format!("`{opcode}."))), "{intrinsic}: {help}");
            continue;
        }
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

fn read(text: &str) -> Result<Request, String> {
    Request::read(text, Semantics::Isa).map_err(|error| {
        let place = error.span().and_then(|span| text.get(span)).unwrap_or_default().to_owned();
        format!("{error} [{place}] {}", error.help().unwrap_or_default())
    })
}

#[test]
fn requests_are_read() {
    for (text, original, notes) in [
        ("prmt.b32", "prmt.b32 d, a, b, c", 0),
        ("  prmt.b32.rc8 %r1, %r2, %r3, %r4; ", "prmt.b32.rc8 d, a, b, c", 0),
        ("prmt.b32 d, a, b, 0x5410", "prmt.b32 d, a, b, 0x5410", 0),
        ("lop3.b32 d, a, b, c, 0x96", "lop3.b32 d, a, b, c, 0x96", 0),
        ("bfe.u32 d, a, 8, 4", "bfe.u32 d, a, b, c", 2),
        ("bfi.b32 d, a, b, 8, c", "bfi.b32 d, a, b, 8, c", 0),
        ("bfi.b32 d, a, b, c, 8", "bfi.b32 d, a, b, c, 8", 0),
        ("@!p add.s32 d, a, -1", "add.s32 d, a, b", 2),
        ("sad.u32 d, x, y, z", "sad.u32 d, a, b, c", 0),
        ("selp.b32 d, a, b, p", "selp.b32 d, a, b, c", 0),
        ("__byte_perm", "__byte_perm", 0),
        ("__dp4a", "__dp4a(int, int, int)", 1),
        ("__dp2a_hi(ushort2, uchar4, unsigned)", "__dp2a_hi(ushort2, uchar4, unsigned)", 0),
        ("vadd.u32.u32.u32 d, a, 5", "vadd.u32.u32.u32 d, a, b", 1),
    ] {
        let request = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let port = request.port("c".parse().expect("a target")).expect("it is ported");
        assert_eq!((port.original().as_str(), request.notes.len()), (original, notes), "{text}: {:?}", request.notes);
    }
    let note = &read("@!p add.s32 d, a, -1").expect("it is read").notes;
    assert!(note[0].contains("call it with b = -1") && note[1].contains("`@!p`"), "{note:?}");
}

#[test]
fn what_cannot_be_read_is_said() {
    for (text, message) in [
        ("prmt", "`prmt` is a mnemonic without its types [prmt] of `prmt` there are `prmt.b32`, "),
        ("prmt.b64", "`prmt.b64` is not among the base instructions that are ported [prmt.b64] of `prmt`"),
        ("add.u64 d, a, b", "`add.u64` is not among"),
        ("prmt.b32 d, a, b", "`prmt.b32` has 4 operands, of which d is one; here are 3 [prmt.b32 d, a, b] "),
        ("prmt.b32 d, a, [b], c", "`[b]` is neither a register nor an integer [[b]] "),
        ("prmt.b32 7, a, b, c", "`7` is no register [7] "),
        ("add.u32 d|p, a, b", "`d|p` is no register [d|p] "),
        ("add.u32 d, a, 1.5", "`1.5` is neither"),
        ("add.u32 d, a, ", "`` is neither"),
        ("lop3.b32", "the last operand of `lop3.b32` must be a constant from 0 to 255 [lop3.b32] write its table"),
        ("lop3.b32 d, a, b, c, 256", "the last operand of `lop3.b32` must be"),
        ("bfi.b32", "`bfi.b32` reads four registers, and functions have three parameters [bfi.b32] give the field's"),
        ("abs.s8x4 d, a", "V0102: `abs` is not a video instruction [abs] write"),
        ("__vfoo4", "`__vfoo4` is none of the intrinsics of CUDA that are known"),
        (
            "__dp4a(int, int)",
            "`__dp4a(int, int)` is no signature of `__dp4a` [__dp4a(int, int)] write `__dp4a(int, int, int)` or",
        ),
        (
            "__vibmax_s32",
            "`__vibmax_s32` has results by reference, and a function returns one word [__vibmax_s32] port `max.s32`",
        ),
        (
            " __vibmin_u16x2",
            "`__vibmin_u16x2` has results by reference, and a function returns one word [__vibmin_u16x2] port `__vminu2`",
        ),
        ("vadd4.u32.u32", "V0203"),
        ("ld.global.u32 d, [a]", "V0102"),
        ("@p", "V0101"),
        ("", "V0103"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.starts_with(message), "{text}: {error}");
    }
}
