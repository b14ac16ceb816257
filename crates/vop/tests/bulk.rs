//! Plans give what `Form::eval_as` gives: every kernel, at every level that this processor has.

use vop::bulk::{Level, Plan, Source};
use vop::{Form, Mnemonic, Semantics};

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

#[test]
fn all_scalar_forms() {
    let mut inputs = Inputs::new();
    for form in vop::scalar_forms() {
        for semantics in Semantics::ALL {
            check(form, semantics, inputs.next());
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

#[test]
fn every_length_at_every_alignment() {
    const MOST: usize = 257;
    let words = Random(3).words(4 * (MOST + 16));
    for plan in plans() {
        let form = plan.form();
        let expected = |a: &[u32], b: &[u32], c: &[u32]| -> Vec<u32> {
            (0..a.len()).map(|i| form.eval(a[i], b[i], c[i])).collect()
        };
        for len in 0..=MOST {
            // The offsets of the four against one another are all different as well.
            let offset = len % 16;
            let place = |i: usize| i * (MOST + 16) + (offset * (i + 1)) % 16;
            let [a, b, c] = [0, 1, 2].map(|i| &words[place(i)..place(i) + len]);
            let expected = expected(a, b, c);
            for offset in if len % 32 < 2 || len < 3 { 0..16 } else { offset..offset + 1 } {
                let mut d = vec![0xdead_beef; MOST + 32];
                plan.run(a.into(), b.into(), c.into(), &mut d[offset..offset + len]);
                assert_eq!(d[offset..offset + len], expected, "{form}, {:?}, {len} words", plan.level());
                // Nothing is written beside them.
                let (before, after) = (&d[..offset], &d[offset + len..]);
                assert!(before.iter().chain(after).all(|&word| word == 0xdead_beef), "{form}, {len} words");
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

/// So many that memory is asked for ahead, beyond the ends of the slices as well.
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
    assert!(Level::Portable.is_available());
    assert_eq!(Plan::new(form, Semantics::Isa).level(), Level::available().last().expect("one"));
}
