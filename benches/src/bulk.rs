//! The bulk engine: in the cache against intrinsics written by hand, and beyond the cache against the speed of memory.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Instant;

use vop::bulk::{Level, Plan};
use vop::{Form, Mnemonic, Semantics};

use crate::measure::{Subject, compare};

/// d from a, b and c, all equally long.
type Loop = unsafe fn(&[u32], &[u32], &[u32], &mut [u32]);

struct Rivals {
    text: &'static str,
    avx2: Loop,
    avx512: Loop,
}

/// A loop over registers for each of two instruction sets.
macro_rules! rivals {
    ($($text:literal $name:ident |$a:ident, $b:ident, $c:ident| $avx2:expr, $avx512:expr;)*) => {
        mod avx2 {
            use std::arch::x86_64::*;
            $(#[target_feature(enable = "avx2")]
            #[allow(unused_variables)]
            pub fn $name(a: &[u32], b: &[u32], c: &[u32], d: &mut [u32]) {
                for (((a, b), c), d) in a.chunks_exact(8).zip(b.chunks_exact(8)).zip(c.chunks_exact(8)).zip(d.chunks_exact_mut(8)) {
                    // SAFETY: each has the 32 bytes of a register.
                    unsafe {
                        let $a = _mm256_loadu_si256(a.as_ptr().cast());
                        let $b = _mm256_loadu_si256(b.as_ptr().cast());
                        let $c = _mm256_loadu_si256(c.as_ptr().cast());
                        _mm256_storeu_si256(d.as_mut_ptr().cast(), $avx2);
                    }
                }
            })*
        }
        mod avx512 {
            use std::arch::x86_64::*;
            $(#[target_feature(enable = "avx512f,avx512bw")]
            #[allow(unused_variables)]
            pub fn $name(a: &[u32], b: &[u32], c: &[u32], d: &mut [u32]) {
                for (((a, b), c), d) in a.chunks_exact(16).zip(b.chunks_exact(16)).zip(c.chunks_exact(16)).zip(d.chunks_exact_mut(16)) {
                    // SAFETY: each has the 64 bytes of a register.
                    unsafe {
                        let $a = _mm512_loadu_si512(a.as_ptr().cast());
                        let $b = _mm512_loadu_si512(b.as_ptr().cast());
                        let $c = _mm512_loadu_si512(c.as_ptr().cast());
                        _mm512_storeu_si512(d.as_mut_ptr().cast(), $avx512);
                    }
                }
            })*
        }
        const RIVALS: &[Rivals] = &[$(Rivals { text: $text, avx2: avx2::$name, avx512: avx512::$name }),*];
    };
}

// The forms that are used most in public code.
rivals! {
    "vabsdiff4.u32.u32.u32.add d, a, b, c" vabsdiff4_add |a, b, c|
        {
            let lanes = _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
            let pairs = _mm256_maddubs_epi16(lanes, _mm256_set1_epi8(1));
            _mm256_add_epi32(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)), c)
        },
        {
            let lanes = _mm512_or_si512(_mm512_subs_epu8(a, b), _mm512_subs_epu8(b, a));
            let pairs = _mm512_maddubs_epi16(lanes, _mm512_set1_epi8(1));
            _mm512_add_epi32(_mm512_madd_epi16(pairs, _mm512_set1_epi16(1)), c)
        };
    "vadd.u32.u32.u32.add d, a, b, c" vadd_add |a, b, c|
        _mm256_add_epi32(_mm256_add_epi32(a, b), c), _mm512_add_epi32(_mm512_add_epi32(a, b), c);
    "vmax.s32.s32.s32.max d, a, b, c" vmax_max |a, b, c|
        _mm256_max_epi32(_mm256_max_epi32(a, b), c), _mm512_max_epi32(_mm512_max_epi32(a, b), c);
    "vmax4.s32.s32.s32 d, a, b, c" vmax4_signed |a, b, c| _mm256_max_epi8(a, b), _mm512_max_epi8(a, b);
    "vmax4.u32.u32.u32 d, a, b, c" vmax4_unsigned |a, b, c| _mm256_max_epu8(a, b), _mm512_max_epu8(a, b);
    "vsub4.s32.s32.s32.sat d, a, b, c" vsub4_sat |a, b, c| _mm256_subs_epi8(a, b), _mm512_subs_epi8(a, b);
    "vabsdiff4.u32.u32.u32 d, a, b, c" vabsdiff4 |a, b, c|
        _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a)),
        _mm512_or_si512(_mm512_subs_epu8(a, b), _mm512_subs_epu8(b, a));
    "vadd4.s32.s32.s32.sat d, a, b, c" vadd4_sat |a, b, c| _mm256_adds_epi8(a, b), _mm512_adds_epi8(a, b);
    "vmin.s32.s32.s32.min d, a, b, c" vmin_min |a, b, c|
        _mm256_min_epi32(_mm256_min_epi32(a, b), c), _mm512_min_epi32(_mm512_min_epi32(a, b), c);
    "vset2.u32.u32.eq d, a, b, c" vset2_eq |a, b, c|
        _mm256_and_si256(_mm256_cmpeq_epi16(a, b), _mm256_set1_epi16(1)),
        _mm512_maskz_set1_epi16(_mm512_cmpeq_epi16_mask(a, b), 1);
    "vshl.u32.u32.u32.clamp.add d, a, b, c" vshl_add |a, b, c|
        _mm256_add_epi32(_mm256_sllv_epi32(a, b), c), _mm512_add_epi32(_mm512_sllv_epi32(a, b), c);
    "vadd4.s32.s32.s32 d, a, b, c" vadd4 |a, b, c| _mm256_add_epi8(a, b), _mm512_add_epi8(a, b);
}

pub fn bench() {
    in_the_cache();
    in_parallel();
    beyond_the_cache();
}

fn words(state: &mut u64, count: usize) -> Vec<u32> {
    (0..count)
        .map(|_| {
            *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (*state >> 32) as u32
        })
        .collect()
}

/// Four arrays of 8 KiB, which fit today's first-level caches together. Each begins with a cache line, at another offset in its page
/// than the others, so that the addresses do not influence the figures.
fn in_the_cache() {
    const WORDS: usize = 2048;
    const TIMES: usize = 2000;
    const STRIDE: usize = WORDS + 64;
    let mut memory = words(&mut 1, 4 * STRIDE + 16);
    let start = memory.as_ptr().align_offset(64);
    let (sources, d) = memory[start..].split_at_mut(3 * STRIDE);
    let [a, b, c] = [0, 1, 2].map(|i| &sources[i * STRIDE..][..WORDS]);
    let d = std::cell::RefCell::new(&mut d[..WORDS]);
    for rivals in RIVALS {
        let form: Form = rivals.text.parse().expect("legal");
        for (level, rival) in [(Level::Avx2, rivals.avx2), (Level::Avx512, rivals.avx512)] {
            let Some(plan) = Plan::with_level(form, Semantics::Isa, level) else { continue };
            let by_hand = || {
                // SAFETY: the processor has the level.
                unsafe { rival(black_box(a), b, c, *d.borrow_mut()) }
            };
            let by_plan = || plan.run(black_box(a).into(), b.into(), c.into(), *d.borrow_mut());
            by_hand();
            let expected = d.borrow().to_vec();
            d.borrow_mut().fill(0);
            by_plan();
            assert_eq!(**d.borrow(), expected, "{form}");
            let title = format!("Bulk {form}, {level:?}, {WORDS} words in the cache");
            let repeated = |run: &dyn Fn()| {
                (0..TIMES).for_each(|_| run());
                0
            };
            compare(
                &title,
                "words",
                &mut [
                    Subject::new("intrinsics written by hand", WORDS * TIMES, || repeated(&by_hand)),
                    Subject::new("Plan::run", WORDS * TIMES, || repeated(&by_plan)),
                ],
            );
        }
    }
}

/// The bound: three arrays read, one written.
fn copy_add(a: &[u32], b: &[u32], c: &[u32], d: &mut [u32]) {
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        *d = a.wrapping_add(*b).wrapping_add(*c);
    }
}

/// Four arrays of 128 MiB.
fn beyond_the_cache() {
    const WORDS: usize = 1 << 25;
    let mut state = 2;
    let [a, b, c] = [0; 3].map(|_| words(&mut state, WORDS));
    let mut d = vec![0; WORDS];
    // The medians of rounds that alternate between the two.
    let mut ratio = |plan: &Plan| {
        let mut ratios: Vec<f64> = (0..5)
            .map(|_| {
                let start = Instant::now();
                copy_add(&a, &b, &c, black_box(&mut d));
                let bound = start.elapsed();
                let start = Instant::now();
                plan.run((&a).into(), (&b).into(), (&c).into(), black_box(&mut d));
                bound.as_secs_f64() / start.elapsed().as_secs_f64()
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios[2]
    };
    println!("\nBulk, four arrays of 128 MiB: speed against d = a + b + c, by the instructions that are used");
    let levels: Vec<Level> = Level::available().filter(|level| *level != Level::Portable).collect();
    for mnemonic in Mnemonic::ALL {
        let form = plain(mnemonic);
        print!("  {:<44}", form.to_string());
        for &level in &levels {
            let plan = Plan::with_level(form, Semantics::Isa, level).expect("available");
            print!(" {level:?} x{:.2}", ratio(&plan));
        }
        println!();
    }
    for &level in &levels {
        let mut random: Vec<(f64, Form, Semantics)> = (0..200)
            .map(|i| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let forms = Mnemonic::ALL[i % Mnemonic::ALL.len()].forms();
                let form = forms.get((state >> 16) % forms.count_left()).expect("below their number");
                let semantics = [Semantics::Isa, Semantics::Ptxas][i / Mnemonic::ALL.len() % 2];
                (ratio(&Plan::with_level(form, semantics, level).expect("available")), form, semantics)
            })
            .collect();
        random.sort_by(|a, b| a.0.total_cmp(&b.0));
        println!("  {level:?}, 200 forms at random, in both semantics: the median x{:.2}, the slowest", random[100].0);
        for (ratio, form, semantics) in &random[..5] {
            println!("    {:<42} x{ratio:.2}", format!("{form} ({semantics})"));
        }
    }
}

/// One thread against two, on pieces that fit the cores' caches: the sizes from which a second thread is started.
fn in_parallel() {
    const TIMES: usize = 40;
    let form: Form = "vabsdiff4.u32.u32.u32.add d, a, b, c".parse().expect("legal");
    let plan = Plan::new(form, Semantics::Isa);
    for shift in 20..=23 {
        let len = 1 << shift;
        let mut state = 3;
        let [a, b, c] = [0; 3].map(|_| words(&mut state, len));
        let d = std::cell::RefCell::new(vec![0; len]);
        let run = |threads: usize| {
            let threads = NonZeroUsize::new(threads).expect("not 0");
            for _ in 0..TIMES {
                let d = &mut *d.borrow_mut();
                plan.run_parallel(black_box(&a).into(), (&b).into(), (&c).into(), d, threads);
            }
            0
        };
        compare(
            &format!("Bulk {form}, {len} words in the shared cache"),
            "words",
            &mut [
                Subject::new("one thread", len * TIMES, || run(1)),
                Subject::new("two threads", len * TIMES, || run(2)),
            ],
        );
    }
}

/// The plain form of a mnemonic: no selector, mask or last stage, `.s32` throughout.
fn plain(mnemonic: Mnemonic) -> Form {
    ["s32.s32.s32", "s32.s32.u32.clamp", "s32.s32.lt"]
        .iter()
        .find_map(|modifiers| format!("{mnemonic}.{modifiers}").parse().ok())
        .expect("one of them is how it is written")
}
