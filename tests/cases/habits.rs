//! What is said of names of other families computes what they compute: CUDA's SIMD intrinsics as CUDA defines them, and others.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use vop::{Code, Parser};
use vop_run::{LaunchOptions, Program};
use vop_tests::Random;

/// What a function computes in a lane, on exact values; the lower bits are kept.
type Lane = fn(i64, i64) -> i64;

fn clamp(value: i64, bits: u32, signed: bool) -> i64 {
    let (least, most) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    value.clamp(least, most)
}

/// The function `name`, by its lanes, as its family defines it.
fn by_lanes(bits: u32, signed: bool, saturates: bool, lane: Lane) -> impl Fn([u32; 3]) -> u32 {
    move |[a, b, _]| {
        let mut result = 0;
        for i in 0..32 / bits {
            let value = |word: u32| {
                let value = i64::from(word >> (i * bits)) & ((1 << bits) - 1);
                if signed && value >> (bits - 1) == 1 { value - (1 << bits) } else { value }
            };
            let exact = lane(value(a), value(b));
            let kept = if saturates { clamp(exact, bits, signed) } else { exact };
            result |= ((kept & ((1 << bits) - 1)) as u32) << (i * bits);
        }
        result
    }
}

/// Names, the width of a lane, whether it is signed, whether it saturates, and the function.
fn lanes() -> Vec<(String, u32, bool, bool, Lane)> {
    let average_away: Lane = |a, b| if a + b >= 0 { (a + b + 1) >> 1 } else { (a + b) >> 1 };
    let mut all: Vec<(String, u32, bool, bool, Lane)> = Vec::new();
    for (digit, bits) in [("2", 16), ("4", 8)] {
        // CUDA Math API, "SIMD Intrinsics".
        let cuda: [(&str, bool, bool, Lane); 44] = [
            ("abs", true, false, |a, _| a.abs()),
            ("absss", true, true, |a, _| a.abs()),
            ("absdiffs", true, false, |a, b| (a - b).abs()),
            ("absdiffu", false, false, |a, b| (a - b).abs()),
            ("add", false, false, |a, b| a + b),
            ("addss", true, true, |a, b| a + b),
            ("addus", false, true, |a, b| a + b),
            ("avgs", true, false, average_away),
            ("avgu", false, false, |a, b| (a + b + 1) >> 1),
            ("cmpeq", false, false, |a, b| -i64::from(a == b)),
            ("cmpne", false, false, |a, b| -i64::from(a != b)),
            ("cmpges", true, false, |a, b| -i64::from(a >= b)),
            ("cmpgeu", false, false, |a, b| -i64::from(a >= b)),
            ("cmpgts", true, false, |a, b| -i64::from(a > b)),
            ("cmpgtu", false, false, |a, b| -i64::from(a > b)),
            ("cmples", true, false, |a, b| -i64::from(a <= b)),
            ("cmpleu", false, false, |a, b| -i64::from(a <= b)),
            ("cmplts", true, false, |a, b| -i64::from(a < b)),
            ("cmpltu", false, false, |a, b| -i64::from(a < b)),
            ("haddu", false, false, |a, b| (a + b) >> 1),
            ("maxs", true, false, i64::max),
            ("maxu", false, false, i64::max),
            ("mins", true, false, i64::min),
            ("minu", false, false, i64::min),
            ("neg", true, false, |a, _| -a),
            ("negss", true, true, |a, _| -a),
            ("seteq", false, false, |a, b| i64::from(a == b)),
            ("setne", false, false, |a, b| i64::from(a != b)),
            ("setges", true, false, |a, b| i64::from(a >= b)),
            ("setgeu", false, false, |a, b| i64::from(a >= b)),
            ("setgts", true, false, |a, b| i64::from(a > b)),
            ("setgtu", false, false, |a, b| i64::from(a > b)),
            ("setles", true, false, |a, b| i64::from(a <= b)),
            ("setleu", false, false, |a, b| i64::from(a <= b)),
            ("setlts", true, false, |a, b| i64::from(a < b)),
            ("setltu", false, false, |a, b| i64::from(a < b)),
            ("sub", false, false, |a, b| a - b),
            ("subss", true, true, |a, b| a - b),
            ("subus", false, true, |a, b| a - b),
            // No intrinsics, but written all the same.
            ("hadds", true, false, |a, b| (a + b) >> 1),
            ("avg", false, false, |a, b| (a + b + 1) >> 1),
            ("abd", false, false, |a, b| (a - b).abs()),
            ("addsat", false, true, |a, b| a + b),
            ("cmpgt", false, false, |a, b| -i64::from(a > b)),
        ];
        for (name, signed, saturates, lane) in cuda {
            all.push((format!("__v{name}{digit}"), bits, signed, saturates, lane));
            // As if it were an instruction. Those with the names of instructions are.
            if !matches!(name, "add" | "sub") {
                all.push((format!("v{name}{digit}"), bits, signed, saturates, lane));
                all.push((format!("V{}{digit}", name.to_uppercase()), bits, signed, saturates, lane));
                if !name.contains("hadd") && !matches!(name, "abs" | "absss" | "neg" | "negss") {
                    let ty = if signed { ".s32" } else { ".u32" };
                    all.push((format!("v{name}{digit}{ty}{ty}"), bits, signed, saturates, lane));
                }
            }
        }
        let letter = if bits == 8 { "b" } else { "w" };
        let of_signed = [("i", true), ("u", false)];
        let operations: [(&str, bool, Lane); 5] = [
            ("adds", true, |a, b| a + b),
            ("subs", true, |a, b| a - b),
            ("max", false, i64::max),
            ("min", false, i64::min),
            ("avg", false, |a, b| (a + b + 1) >> 1),
        ];
        for (operation, saturates, lane) in operations {
            for (sign, signed) in of_signed {
                if operation != "avg" || !signed {
                    all.push((format!("_mm_{operation}_ep{sign}{bits}"), bits, signed, saturates, lane));
                    all.push((format!("_mm256_{operation}_ep{sign}{bits}"), bits, signed, saturates, lane));
                }
                let x86 = match (operation, signed) {
                    ("avg", true) => continue,
                    ("avg", false) => format!("pavg{letter}"),
                    ("adds" | "subs", false) => format!("p{}us{letter}", &operation[..3]),
                    ("adds" | "subs", true) => format!("p{operation}{letter}"),
                    _ => format!("p{operation}{}{letter}", if signed { "s" } else { "u" }),
                };
                all.push((x86.clone(), bits, signed, saturates, lane));
                all.push((format!("v{x86}"), bits, signed, saturates, lane));
            }
        }
        let signed_only: [(&str, &str, Lane); 6] = [
            ("_mm_add_epi", "padd", |a, b| a + b),
            ("_mm_sub_epi", "psub", |a, b| a - b),
            ("_mm_abs_epi", "pabs", |a, _| a.abs()),
            ("_mm_cmpeq_epi", "pcmpeq", |a, b| -i64::from(a == b)),
            ("_mm_cmpgt_epi", "pcmpgt", |a, b| -i64::from(a > b)),
            ("_mm_cmplt_epi", "", |a, b| -i64::from(a < b)),
        ];
        for (intrinsic, instruction, lane) in signed_only {
            all.push((format!("{intrinsic}{bits}"), bits, true, false, lane));
            if !instruction.is_empty() {
                all.push((format!("v{instruction}{letter}"), bits, true, false, lane));
            }
        }
        let neon: [(&str, bool, Lane); 13] = [
            ("add", false, |a, b| a + b),
            ("sub", false, |a, b| a - b),
            ("qadd", true, |a, b| a + b),
            ("qsub", true, |a, b| a - b),
            ("abd", false, |a, b| (a - b).abs()),
            ("max", false, i64::max),
            ("min", false, i64::min),
            ("hadd", false, |a, b| (a + b) >> 1),
            ("rhadd", false, |a, b| (a + b + 1) >> 1),
            ("ceq", false, |a, b| -i64::from(a == b)),
            ("cgt", false, |a, b| -i64::from(a > b)),
            ("cge", false, |a, b| -i64::from(a >= b)),
            ("clt", false, |a, b| -i64::from(a < b)),
        ];
        for (operation, saturates, lane) in neon {
            for (sign, signed) in [("s", true), ("u", false)] {
                all.push((format!("v{operation}_{sign}{bits}"), bits, signed, saturates, lane));
                all.push((format!("v{operation}q_{sign}{bits}"), bits, signed, saturates, lane));
            }
        }
        let unary: [(&str, bool, Lane); 4] = [
            ("abs", false, |a, _| a.abs()),
            ("qabs", true, |a, _| a.abs()),
            ("neg", false, |a, _| -a),
            ("qneg", true, |a, _| -a),
        ];
        for (operation, saturates, lane) in unary {
            all.push((format!("v{operation}q_s{bits}"), bits, true, saturates, lane));
            all.push((format!("v{operation}.s{bits}"), bits, true, saturates, lane));
        }
        // Other PTX, and what is nearly PTX.
        let count = 32 / bits;
        for (sign, signed) in [("s", true), ("u", false)] {
            let ty = format!("{sign}{bits}x{count}");
            all.push((format!("add.{ty}"), bits, signed, false, |a, b| a + b));
            all.push((format!("sub.sat.{ty}"), bits, signed, true, |a, b| a - b));
            all.push((format!("max.{ty}"), bits, signed, false, i64::max));
            all.push((format!("vmin.{ty}"), bits, signed, false, i64::min));
            all.push((format!("vadd.{ty}.sat"), bits, signed, true, |a, b| a + b));
            all.push((format!("vabsdiff{digit}.{ty}"), bits, signed, false, |a, b| (a - b).abs()));
            all.push((format!("vset.{ty}.le"), bits, signed, false, |a, b| i64::from(a <= b)));
        }
        all.push((format!("vadd.{bits}"), bits, false, false, |a, b| a + b));
        all.push((format!("vmin.x{count}"), bits, false, false, i64::min));
    }
    for (sign, signed) in [("i", true), ("u", false)] {
        all.push((format!("v_pk_add_{sign}16"), 16, signed, false, |a, b| a + b));
        all.push((format!("v_pk_max_{sign}16"), 16, signed, false, i64::max));
    }
    for (name, saturates, lane) in [
        ("add_sat", true, (|a, b| a + b) as Lane),
        ("sub_sat", true, |a, b| a - b),
        ("abs_diff", false, |a, b| (a - b).abs()),
        ("hadd", false, |a, b| (a + b) >> 1),
        ("rhadd", false, |a, b| (a + b + 1) >> 1),
    ] {
        all.push((name.to_owned(), 8, false, saturates, lane));
    }
    all
}

fn differences(bits: u32, signed: bool, a: u32, b: u32) -> u32 {
    let mut sum = 0;
    for i in 0..32 / bits {
        let value = |word: u32| {
            let value = i64::from(word >> (i * bits)) & ((1 << bits) - 1);
            if signed && value >> (bits - 1) == 1 { value - (1 << bits) } else { value }
        };
        sum += (value(a) - value(b)).unsigned_abs() as u32;
    }
    sum
}

fn halves(values: [u32; 3], signed: bool, lane: impl Fn(i64, i64, i64) -> i64) -> u32 {
    (0..2).fold(0, |all, i| {
        let value = |word: u32| match signed {
            true => i64::from((word >> (16 * i)) as u16 as i16),
            false => i64::from((word >> (16 * i)) as u16),
        };
        all | u32::from(lane(value(values[0]), value(values[1]), value(values[2])) as u16) << (16 * i)
    })
}

/// What a function computes.
type Function = fn([u32; 3]) -> u32;

/// Functions that are not one operation in each lane.
fn others() -> Vec<(&'static str, Function)> {
    vec![
        ("__vsads4", |[a, b, _]| differences(8, true, a, b)),
        ("__vsadu4", |[a, b, _]| differences(8, false, a, b)),
        ("vsadu4.u32.u32", |[a, b, _]| differences(8, false, a, b)),
        ("__vsads2", |[a, b, _]| differences(16, true, a, b)),
        ("__vsadu2", |[a, b, _]| differences(16, false, a, b)),
        ("_mm_sad_epu8", |[a, b, _]| differences(8, false, a, b)),
        ("vpsadbw", |[a, b, _]| differences(8, false, a, b)),
        ("amd_sad", |[a, b, c]| differences(8, false, a, b).wrapping_add(c)),
        ("__builtin_amdgcn_sad_u8", |[a, b, c]| differences(8, false, a, b).wrapping_add(c)),
        ("v_sad_u16", |[a, b, c]| differences(16, false, a, b).wrapping_add(c)),
        ("vsad.u32", |[a, b, c]| a.abs_diff(b).wrapping_add(c)),
        ("vabs.s32.s32", |[a, ..]| (a as i32).wrapping_abs() as u32),
        ("vneg.s32.s32", |[a, ..]| a.wrapping_neg()),
        ("vcmpgt.s32.s32", |[a, b, _]| u32::from((a as i32) > b as i32)),
        ("vaddss", |[a, b, _]| (a as i32).saturating_add(b as i32) as u32),
        ("vaddus", |[a, b, _]| a.saturating_add(b)),
        ("vmul.u32.u32", |[a, b, _]| a.wrapping_mul(b)),
        ("vmla.u32.u32", |[a, b, c]| a.wrapping_mul(b).wrapping_add(c)),
        ("vdot4.u32.u32", |[a, b, c]| {
            (0..4).fold(c, |sum, i| sum.wrapping_add((a >> (8 * i) & 255) * (b >> (8 * i) & 255)))
        }),
        ("vnot4", |[a, ..]| !a),
        ("__vimax3_s32", |[a, b, c]| (a as i32).max(b as i32).max(c as i32) as u32),
        ("__vimin3_u32", |[a, b, c]| a.min(b).min(c)),
        ("__vimax_s32_relu", |[a, b, _]| (a as i32).max(b as i32).max(0) as u32),
        ("__vimax3_s16x2", |all| halves(all, true, |a, b, c| a.max(b).max(c))),
        ("__vimin3_u16x2", |all| halves(all, false, |a, b, c| a.min(b).min(c))),
        ("__vimax3_s16x2_relu", |all| halves(all, true, |a, b, c| a.max(b).max(c).max(0))),
        ("__vimin_s16x2_relu", |all| halves(all, true, |a, b, _| a.min(b).max(0))),
        ("__viaddmax_s16x2", |all| halves(all, true, |a, b, c| i64::from((a + b) as i16).max(c))),
        ("__viaddmin_u16x2", |all| halves(all, false, |a, b, c| i64::from((a + b) as u16).min(c))),
        ("__viaddmax_s16x2_relu", |all| halves(all, true, |a, b, c| i64::from((a + b) as i16).max(c).max(0))),
    ]
}

/// The instructions that the help for a name says to write, on d, a, b and c.
fn written(name: &str) -> String {
    let faults = Parser::new().allow_bare().parse(name).expect_err(name);
    assert_eq!(faults.len(), 1, "{name}: {faults:?}");
    assert!(matches!(faults[0].code, Code::V0102 | Code::V0201 | Code::V0204), "{name}: {faults:?}");
    instructions(name, faults[0].help.as_deref().unwrap_or_else(|| panic!("{name}")))
}

fn instructions(name: &str, help: &str) -> String {
    match help.split_once(":\n") {
        Some((_, block)) => block.to_owned(),
        None => {
            let quoted = help.split('`').nth(1).filter(|quoted| quoted.contains(", "));
            format!("{};", quoted.unwrap_or_else(|| panic!("{name}: {help}")))
        }
    }
}

/// d for each row, by instructions on registers d, a, b and c among others that stay as they are.
fn computed(name: &str, text: &str, rows: &[[u32; 3]]) -> Vec<u32> {
    let source = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 buffer)\n{{\n\
         .reg .b32 a, b, c, d, t, u, i; .reg .b64 p, o; .reg .pred q;\n\
         ld.param.u64 p, [buffer]; mov.u32 i, %tid.x; mul.wide.u32 o, i, 24; add.u64 p, p, o;\n\
         ld.global.u32 a, [p]; ld.global.u32 b, [p+4]; ld.global.u32 c, [p+8]; mov.b32 t, 77; mov.b32 u, 78;\n\
         {text}\n\
         st.global.u32 [p+12], d; st.global.u32 [p+16], t; st.global.u32 [p+20], u;\n}}\n"
    );
    let program = Program::read(&source);
    let kernel = program.kernel("k").unwrap_or_else(|error| panic!("{name}: {text}\n{error}"));
    let mut memory = program.memory();
    let words: Vec<u8> = rows.iter().flat_map(|[a, b, c]| [*a, *b, *c, 0, 0, 0]).flat_map(u32::to_le_bytes).collect();
    let buffer = memory.allocate("rows", words);
    let threads = [rows.len() as u32, 1, 1];
    kernel.launch([1, 1, 1], threads, &[buffer.into()], &mut memory, &LaunchOptions::default()).expect(name);
    let words = memory.bytes(buffer).chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    let words: Vec<u32> = words.collect();
    words.chunks(6).for_each(|row| assert_eq!(row[4..], [77, 78], "{name}: {text}"));
    words.chunks(6).map(|row| row[3]).collect()
}

fn rows() -> Vec<[u32; 3]> {
    let edges = [0, 1, 0x7f80_ff01, 0x8080_8080, 0x7fff_8000, 0xffff_ffff, 0x8000_0000, 0x0001_fffe];
    let mut rows: Vec<[u32; 3]> = edges.iter().flat_map(|&a| edges.iter().map(move |&b| [a, b, a ^ b])).collect();
    let mut random = Random::of(9);
    rows.extend((0..64).map(|_| [0; 3].map(|_: u32| (random.next() >> 16) as u32)));
    rows
}

#[test]
fn hints_compute_what_the_names_do() {
    let rows = rows();
    let mut names = 0;
    for (name, bits, signed, saturates, lane) in lanes() {
        let function = by_lanes(bits, signed, saturates, lane);
        let expected: Vec<u32> = rows.iter().map(|row| function(*row)).collect();
        let text = written(&name);
        assert_eq!(computed(&name, &text, &rows), expected, "{name}: {text}");
        names += 1;
    }
    for (name, function) in others() {
        let expected: Vec<u32> = rows.iter().map(|row| function(*row)).collect();
        let text = written(name);
        assert_eq!(computed(name, &text, &rows), expected, "{name}: {text}");
        names += 1;
    }
    assert!(names > 500, "{names}");
}

/// With operands the help has them, a guard too, and new registers have other names.
#[test]
fn hints_have_the_operands() {
    for (text, expected) in [
        ("vcmpeq4.u32 d, x, y;", "vset4.u32.u32.eq d, x, y, x"),
        ("vcmpeq4.u32 d, x, y, z;", "vset4.u32.u32.eq d, x, y, z"),
        ("@!p __vaddus4 d, x, y;", "`@!p vadd4.u32.u32.u32.sat d, x, y, x`"),
        ("vabs4.s32 t, t;", "vabsdiff4.s32.s32.s32 t, t, v_t, v_t"),
        // What is no plain register is not written in other words.
        ("vsad.u32 d, a, b, 7;", "`vabsdiff.u32.u32.u32.add`"),
        ("vcmpeq4.u32 d.b1, a, b, c;", "fill these lanes"),
        ("vmin.u8x4 x, y, z;", "`vmin4.u32.u32.u32`"),
        ("__vcmpeq4(x, y);", "vset4.u32.u32.eq d, a, b, c"),
        ("vmad4.u32.u32.u32 d, a, b, c;", "dp4a.u32.u32 d, a, b, c"),
        ("vavg.u32.u32.u32 d, a, b;", "`vavrg2` or `vavrg4`"),
    ] {
        let faults = vop::parse(text).expect_err(text);
        assert_eq!(faults.len(), 1, "{faults:?}");
        let help = faults[0].help.as_deref().unwrap();
        assert!(help.contains(expected), "{text}: {help}");
    }
    // What has nothing to do with lanes is no habit.
    for text in
        ["mov.u32 d, a;", "add.u32 d, a, b;", "_mm_shuffle_epi8", "vld1q_u8", "vmovl_u8", "__vfoo4", "_mm_add_pd"]
    {
        let faults = Parser::new().allow_bare().parse(text).expect_err(text);
        let help = faults[0].help.as_deref().unwrap_or_default();
        assert!(help == "write `vadd`" || help.starts_with("the video instructions are"), "{text}: {faults:?}");
    }
}
