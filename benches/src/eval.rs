//! Forms evaluated a second. The bound is a function written by hand for each form.

use crate::measure::{Subject, compare};

type ByHand = fn(u32, u32, u32) -> u32;

/// Forms that real kernels use, each with a function written by hand.
const FORMS: [(&str, ByHand); 6] = [
    ("vabsdiff4.u32.u32.u32.add d, a, b, c", |a, b, c| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        (0..4).fold(c, |d, i| d.wrapping_add(a[i].abs_diff(b[i]).into()))
    }),
    ("vadd4.s32.s32.s32.sat d, a, b, c", |a, b, _| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        u32::from_le_bytes(std::array::from_fn(|i| (a[i] as i8).saturating_add(b[i] as i8) as u8))
    }),
    ("vmax2.s32.s32.s32 d, a, b, c", |a, b, _| {
        let high = (a as i32 >> 16).max(b as i32 >> 16) as u32;
        let low = (a as i16).max(b as i16) as u16;
        high << 16 | u32::from(low)
    }),
    ("vmax.s32.s32.s32.max d, a, b, c", |a, b, c| (a as i32).max(b as i32).max(c as i32) as u32),
    ("vmad.u32.u32.u32 d, a.b3, b.b3, c", |a, b, c| (a >> 24).wrapping_mul(b >> 24).wrapping_add(c)),
    ("vadd.u32.s32.s32.sat d.b0, a, b, c", |a, b, c| {
        let sum = i64::from(a as i32) + i64::from(b as i32);
        c & !0xff | sum.clamp(0, 255) as u32
    }),
];

pub fn bench() {
    const COUNT: usize = 1 << 20;
    let mut state = 1u64;
    let mut words = || {
        (0..COUNT)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 32) as u32
            })
            .collect::<Vec<u32>>()
    };
    let (a, b, c) = (words(), words(), words());
    for (text, by_hand) in FORMS {
        let form: vop::Form = text.parse().expect("legal");
        for i in 0..1000 {
            assert_eq!(form.eval(a[i], b[i], c[i]), by_hand(a[i], b[i], c[i]), "{text}");
        }
        let sum = |f: &dyn Fn(u32, u32, u32) -> u32| (0..COUNT).map(|i| u64::from(f(a[i], b[i], c[i]))).sum();
        compare(
            &format!("Evaluating {text}, {COUNT} inputs, one a call"),
            "evaluations",
            &mut [
                Subject::new("written by hand, called by pointer", COUNT, || sum(&by_hand)),
                Subject::new("Form::eval", COUNT, || sum(&|a, b, c| std::hint::black_box(form).eval(a, b, c))),
            ],
        );
    }
}
