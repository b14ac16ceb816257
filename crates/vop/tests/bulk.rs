//! Plans give what `Form::eval_as` gives: every kernel, at every level that this processor has.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use vop::bulk::{Level, Plan, Source};
use vop::isa::form::Finish;
use vop::isa::types::{Mask, Selector};
use vop::{Deviations, Form, Mnemonic, Semantics};

/// xorshift64*, the same numbers every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, end: u64) -> u64 {
        (u64::from(self.next()) << 32 | u64::from(self.next())) % end
    }

    /// Where stages turn: the ends of words, half-words and bytes, shift amounts, and words that are anything.
    fn word(&mut self) -> u32 {
        const BYTES: [u8; 8] = [0x00, 0x01, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0x40];
        const WORDS: [u32; 8] = [0, 1, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_ffff, 0xffff_fffe, 0x4000_0000];
        let (kind, bits) = (self.next() % 5, self.next());
        match kind {
            0 => u32::from_le_bytes([0, 8, 16, 24].map(|shift| BYTES[(bits >> shift) as usize % 8])),
            1 => WORDS[bits as usize % 8],
            2 => bits % 70,
            3 => (bits as i32 >> (bits % 32)) as u32,
            _ => bits,
        }
    }

    fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.word()).collect()
    }
}

/// Inputs for many forms: each takes some that lie together, another place each time.
struct Inputs {
    words: Vec<u32>,
    at: usize,
}

/// Three chunks, and a few words that are none.
const WORDS: usize = 3 * 32 + 7;

impl Inputs {
    fn new() -> Inputs {
        Inputs { words: Random(1).words(1 << 14), at: 0 }
    }

    fn next(&mut self) -> [&[u32]; 3] {
        [0, 1, 2].map(|i| {
            self.at = (self.at + 1009 * (i + 1)) % (self.words.len() - WORDS);
            &self.words[self.at..self.at + WORDS]
        })
    }
}

#[track_caller]
fn check(form: Form, semantics: Semantics, [a, b, c]: [&[u32]; 3]) {
    let expected: Vec<u32> = (0..WORDS).map(|i| form.eval_as(semantics, a[i], b[i], c[i])).collect();
    for level in Level::available() {
        let plan = Plan::with_level(form, semantics, level).expect("available");
        let mut d = [0; WORDS];
        plan.run(a.into(), b.into(), c.into(), &mut d);
        if d != expected[..] {
            let i = (0..WORDS).find(|&i| d[i] != expected[i]).expect("they differ");
            panic!(
                "{form}, {semantics}, {level:?}: for {:#x}, {:#x}, {:#x} it gives {:#x}, eval {:#x}",
                a[i], b[i], c[i], d[i], expected[i]
            );
        }
    }
}

/// Whether all is tested, as before a release, and not a part of what takes long.
fn full() -> bool {
    std::env::var_os("VOP_FULL").is_some()
}

/// Of forms that all semantics compute alike, one of the semantics in turn; of the others all.
#[test]
fn all_scalar_forms() {
    let (mut inputs, full) = (Inputs::new(), full());
    for (number, form) in vop::scalar_forms().enumerate() {
        let all = full || Semantics::ALL.iter().any(|by| by.deviations().concerning(form) != Deviations::NONE);
        for (i, semantics) in Semantics::ALL.into_iter().enumerate() {
            if all || number % Semantics::ALL.len() == i {
                check(form, semantics, inputs.next());
            }
        }
    }
}

#[test]
fn all_forms_on_half_words() {
    let mut inputs = Inputs::new();
    for mnemonic in Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().lanes() == 2) {
        for form in mnemonic.forms() {
            check(form, Semantics::Isa, inputs.next());
        }
    }
}

#[test]
fn forms_on_bytes() {
    let (mut inputs, mut random) = (Inputs::new(), Random(2));
    for mnemonic in Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().lanes() == 4) {
        for form in mnemonic.forms_with_default_selectors() {
            check(form, Semantics::Isa, inputs.next());
        }
        let forms = mnemonic.forms();
        for _ in 0..20_000 {
            let form = forms.get(random.below(forms.count_left())).expect("below their number");
            check(form, Semantics::Ptxas, inputs.next());
        }
    }
}

/// Forms whose kernels differ in what they read: c or not, selectors or not, 64 bits or not.
const KINDS: [&str; 8] = [
    "vadd4.s32.s32.s32.sat d, a, b, c",
    "vabsdiff4.u32.u32.u32.add d, a, b, c",
    "vset2.s32.u32.le.add d.h1, a.h12, b.h03, c",
    "vmax4.u32.s32.u32.sat d.b20, a.b7314, b.b0123, c",
    "vadd.u32.u32.u32 d, a, b",
    "vmax.s32.s32.s32.max d, a, b, c",
    "vsub.s32.u32.s32.sat d.h1, a.b3, b, c",
    "vmad.u32.s32.u32.sat.shr7 d, a, -b, c",
];

fn plans() -> impl Iterator<Item = Plan> {
    let forms = KINDS.map(|text| text.parse::<Form>().expect("legal"));
    forms.into_iter().flat_map(|form| {
        Level::available().map(move |level| Plan::with_level(form, Semantics::Isa, level).expect("available"))
    })
}

/// A form of each family: an operation with one of its last stages, saturated or not, with selectors or without.
fn families() -> Vec<Form> {
    let mut random = Random(7);
    let mut families = BTreeMap::new();
    for mnemonic in Mnemonic::ALL {
        let forms = mnemonic.forms();
        for _ in 0..2000 {
            let form = forms.get(random.below(forms.count_left())).expect("below their number");
            let end = match form.finish() {
                Finish::Plain => "plain".to_owned(),
                Finish::Merge(_) => "merge".to_owned(),
                Finish::Secondary(secondary) => format!("{secondary:?}"),
                Finish::Lanes(mask) => format!("lanes {}", mask == Mask::full(mnemonic.shape())),
                Finish::Accumulate(_) => "accumulate".to_owned(),
            };
            let in_place = [(form.asel(), false), (form.bsel(), true)]
                .into_iter()
                .all(|(selector, second)| selector == Selector::default_for(mnemonic.shape(), second));
            families.entry((mnemonic.name(), end, form.sat(), in_place)).or_insert(form);
        }
    }
    families.into_values().collect()
}

/// Words of which the first is `offset` words behind the beginning of a cache line.
struct Placed {
    memory: Vec<u32>,
    start: usize,
}

impl Placed {
    fn new(words: &[u32], offset: usize) -> Placed {
        let mut memory = vec![0xdead_beef; words.len() + 64];
        let start = memory.as_ptr().align_offset(64) + offset;
        memory[start..][..words.len()].copy_from_slice(words);
        Placed { memory, start }
    }

    fn words(&self, len: usize) -> &[u32] {
        &self.memory[self.start..][..len]
    }
}

#[test]
fn every_length_at_every_alignment() {
    const MOST: usize = 257;
    let mut random = Random(3);
    let [a, b, c] = [0; 3].map(|_| random.words(MOST));
    // The offsets of the four against one another are all different as well.
    let places: Vec<[Placed; 3]> = (0..16)
        .map(|offset| [Placed::new(&a, offset), Placed::new(&b, offset * 3 % 16), Placed::new(&c, offset * 5 % 16)])
        .collect();
    let families = families();
    assert!(families.len() > 200, "only {} families", families.len());
    let full = full();
    for (number, form) in families.into_iter().enumerate() {
        let expected: Vec<u32> = (0..MOST).map(|i| form.eval(a[i], b[i], c[i])).collect();
        // A quarter of the offsets for each form, another one for the next.
        let (first, step) = if full { (0, 1) } else { (number % 4, 4) };
        for level in Level::available() {
            let plan = Plan::with_level(form, Semantics::Isa, level).expect("available");
            for (offset, [a, b, c]) in places.iter().enumerate().skip(first).step_by(step) {
                let mut d = Placed::new(&[0xdead_beef; MOST], offset * 7 % 16);
                for len in 0..=MOST {
                    let start = d.start;
                    let [a, b, c] = [a.words(len).into(), b.words(len).into(), c.words(len).into()];
                    plan.run(a, b, c, &mut d.memory[start..start + len]);
                    assert_eq!(d.words(len), &expected[..len], "{form}, {level:?}, {len} words, offset {offset}");
                    // Nothing is written beside them.
                    assert_eq!(d.memory[start + len], 0xdead_beef, "{form}, {level:?}, {len} words, offset {offset}");
                    if start > 0 {
                        assert_eq!(d.memory[start - 1], 0xdead_beef, "{form}, {level:?}, {len} words, offset {offset}");
                    }
                    d.memory[start..start + len].fill(0xdead_beef);
                }
                assert!(d.memory.iter().all(|&word| word == 0xdead_beef), "{form}, {level:?}, offset {offset}");
            }
        }
    }
}

/// The rows that check evaluation: values by the manual's pseudo code, and by the code of ptxas.
#[test]
fn golden_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/values.tsv");
    let text = std::fs::read_to_string(path).expect("the golden rows are there");
    let mut by_form: BTreeMap<&str, Vec<[u32; 5]>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (form, values) = line.split_once('\t').expect("a form and its values");
        let value = |text: &str| match text {
            "-" => 0,
            text => u32::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal"),
        };
        let values: Vec<u32> = values.split('\t').map(value).collect();
        by_form.entry(form).or_default().push(values.try_into().expect("a, b, c and d twice"));
    }
    assert_eq!(by_form.len(), 6258);
    for (text, rows) in by_form {
        let form: Form = text.parse().expect("legal");
        let [a, b, c, manual, ptxas] = [0, 1, 2, 3, 4].map(|i| rows.iter().map(|row| row[i]).collect::<Vec<_>>());
        for (semantics, expected) in [(Semantics::Isa, manual), (Semantics::Ptxas, ptxas)] {
            for level in Level::available() {
                let mut d = vec![0; rows.len()];
                let plan = Plan::with_level(form, semantics, level).expect("available");
                plan.run((&a).into(), (&b).into(), (&c).into(), &mut d);
                assert_eq!(d, expected, "{form}, {semantics}, {level:?}");
            }
        }
    }
}

/// Each source as words, as one value and as the destination, in all combinations.
#[test]
fn every_kind_of_source() {
    let mut random = Random(4);
    for plan in plans() {
        let form = plan.form();
        for kinds in 0..27 {
            for len in [1, 31, 32, 100, 511, 512, 1500] {
                let words = [0; 3].map(|_| random.words(len));
                let before = random.words(len);
                let value = random.word();
                let kind = |i: usize| kinds / [1, 3, 9][i] % 3;
                let [a, b, c] = [0, 1, 2].map(|i| match kind(i) {
                    0 => Source::Words(&words[i]),
                    1 => Source::All(value.rotate_left(i as u32)),
                    _ => Source::Destination,
                });
                let mut d = before.clone();
                plan.run(a, b, c, &mut d);
                let at = |i: usize, at: usize| match kind(i) {
                    0 => words[i][at],
                    1 => value.rotate_left(i as u32),
                    _ => before[at],
                };
                let expected: Vec<u32> = (0..len).map(|i| form.eval(at(0, i), at(1, i), at(2, i))).collect();
                assert_eq!(d, expected, "{form}, {:?}, sources {kinds}, {len} words", plan.level());
            }
        }
    }
}

/// Enough words that memory is prefetched, also beyond the ends of the slices.
#[test]
fn long_runs() {
    const LEN: usize = (1 << 15) + 100;
    let mut random = Random(6);
    let [a, b, c] = [0; 3].map(|_| random.words(LEN));
    for plan in plans() {
        let form = plan.form();
        let mut d = c.clone();
        plan.run((&a).into(), (&b).into(), Source::Destination, &mut d);
        for i in 0..LEN {
            assert_eq!(d[i], form.eval(a[i], b[i], c[i]), "{form}, {:?}, word {i}", plan.level());
        }
    }
}

#[test]
fn chunks() {
    let mut random = Random(5);
    for plan in plans() {
        let [a, b, c] = [0; 3].map(|_| std::array::from_fn(|_| random.word()));
        let mut d = [0; 32];
        plan.run_chunk(&a, &b, &c, &mut d);
        for i in 0..32 {
            assert_eq!(d[i], plan.form().eval(a[i], b[i], c[i]), "{}, {:?}", plan.form(), plan.level());
        }
    }
}

/// Where d does not depend on c it need not be there.
#[test]
fn without_c() {
    for text in ["vadd.u32.u32.u32 d, a, b", "vavrg4.u32.u32.u32 d, a, a, c", "vadd4.u32.u32.u32 d, a, b, c"] {
        let plan = Plan::new(text.parse().expect("legal"), Semantics::Isa);
        let mut d = [0; 3];
        assert!(!plan.form().reads_c());
        plan.run((&[1, 2, 3]).into(), 4.into(), (&[]).into(), &mut d);
        assert_eq!(d, [1, 2, 3].map(|a| plan.form().eval(a, 4, 9)));
    }
}

#[test]
#[should_panic(expected = "b has 2 words, the destination 3")]
fn lengths_that_differ() {
    let plan = Plan::new("vadd.u32.u32.u32 d, a, b".parse().expect("legal"), Semantics::Isa);
    plan.run((&[1, 2, 3]).into(), (&[1, 2]).into(), 0.into(), &mut [0; 3]);
}

/// As many threads as one likes, at lengths around those where one more is started and where pieces end.
#[test]
fn in_parallel() {
    const MOST: usize = 5 << 18;
    let mut random = Random(8);
    let [a, b, c] = [0; 3].map(|_| random.words(MOST));
    for text in &KINDS[..3] {
        let form: Form = text.parse().expect("legal");
        let plan = Plan::new(form, Semantics::Isa);
        let mut expected = c.clone();
        plan.run((&a).into(), (&b).into(), Source::Destination, &mut expected);
        for len in [0, 1, 100, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (1 << 20) + (1 << 15) + 33, MOST] {
            for threads in [1, 2, 3, 64] {
                let threads = NonZeroUsize::new(threads).expect("not 0");
                let mut d = vec![0; len];
                plan.run_parallel((&a[..len]).into(), (&b[..len]).into(), (&c[..len]).into(), &mut d, threads);
                assert_eq!(d, expected[..len], "{form}, {len} words, {threads} threads");
                let mut d = c[..len].to_vec();
                plan.run_parallel((&a[..len]).into(), (&b[..len]).into(), Source::Destination, &mut d, threads);
                assert_eq!(d, expected[..len], "{form} in place, {len} words, {threads} threads");
            }
        }
        let mut d = vec![0; MOST];
        plan.run_parallel((&a).into(), 7.into(), 9.into(), &mut d, NonZeroUsize::MAX);
        let i = MOST - 1;
        assert_eq!(d[i], form.eval(a[i], 7, 9), "{form}");
    }
}

#[test]
#[should_panic(expected = "b has 1048575 words, the destination 1048576")]
fn lengths_that_differ_in_parallel() {
    let plan = Plan::new("vadd.u32.u32.u32 d, a, b".parse().expect("legal"), Semantics::Isa);
    let (b, mut d) = (vec![0; (1 << 20) - 1], vec![0; 1 << 20]);
    plan.run_parallel(1.into(), (&b).into(), 0.into(), &mut d, NonZeroUsize::MAX);
}

/// A level is available if and only if plans can be made for it; the first always is, and the best is the last.
#[test]
fn levels() {
    fn threads<T: Send + Sync>() {}
    threads::<Plan>();
    let form = "vadd.u32.u32.u32 d, a, b".parse().expect("legal");
    for level in Level::ALL {
        let plan = Plan::with_level(form, Semantics::Isa, level);
        assert_eq!(plan.map(|plan| plan.level()), level.is_available().then_some(level));
    }
    assert!(Level::Portable.is_available() && Level::BASELINE.is_available());
    // Here registers are there without being asked for.
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        assert_ne!(Level::BASELINE, Level::Portable);
    }
    assert_eq!(Plan::new(form, Semantics::Isa).level(), Level::available().last().expect("one"));
}
