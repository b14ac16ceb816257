//! [`Form::result_range`] by brute force: no input leaves the range, and its ends are reached.

use vop::eval::{Exact, Selected};
use vop::interval::OperandValue;
use vop::{Form, Mnemonic};

/// xorshift64, the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The results that count, before saturation.
fn results(form: Form, [a, b, c]: [u32; 3]) -> impl Iterator<Item = Exact> {
    let lanes = form.explain(a, b, c).lanes.into_iter().enumerate();
    lanes.filter(move |&(i, _)| form.mask().is_none_or(|mask| mask.has(i))).map(|(_, lane)| lane.unsaturated())
}

/// The words whose selected part is at an end of a type, or next to one; shift amounts are among them.
fn corners(input: Selected) -> impl Iterator<Item = u32> {
    let half = 1u64 << (input.bits - 1);
    let values = [0, 1, half - 1, half, 2 * half - 1, 31, 32];
    values.into_iter().map(move |value| (value as u32 & (u32::MAX >> (32 - input.bits))) << input.shift)
}

/// All inputs that put corner values into both inputs of a lane that counts.
fn corner_inputs(form: Form) -> Vec<[u32; 3]> {
    let mut all = Vec::new();
    for lane in form.explain(0, 0, 0).lanes {
        let [x, y] = lane.inputs;
        for first in corners(x) {
            for second in corners(y) {
                let mut words = [0; 2];
                words[usize::from(x.from_b)] |= first;
                words[usize::from(y.from_b)] |= second;
                all.extend([0, 0x7fff_ffff, 0x8000_0000, u32::MAX].map(|c| [words[0], words[1], c]));
            }
        }
    }
    all
}

fn check(form: Form, sources: [OperandValue; 3], inputs: impl Iterator<Item = [u32; 3]>) {
    let range = form.result_range(sources);
    let (mut least, mut greatest) = (false, false);
    for inputs in inputs {
        for result in results(form, inputs) {
            assert!(range.contains(result), "{form} {sources:?} on {inputs:x?}: {result} is not in {range}");
            least |= result == range.min;
            greatest |= result == range.max;
        }
    }
    assert!(least && greatest, "{form} {sources:?}: an end of {range} is not reached");
}

#[test]
fn ranges_of_forms() {
    let mut random = Random(1);
    for mnemonic in Mnemonic::ALL {
        let forms = mnemonic.forms();
        for _ in 0..600 {
            let form = forms.get(random.next() % forms.count_left()).expect("in range");
            let mut inputs = corner_inputs(form);
            inputs.extend((0..100).map(|_| [0; 3].map(|_| random.next() as u32)));
            check(form, [OperandValue::Free; 3], inputs.into_iter());
        }
    }
}

/// Immediates, which scalar forms alone have.
#[test]
fn ranges_with_immediates() {
    let mut random = Random(2);
    for mnemonic in Mnemonic::ALL.into_iter().filter(|mnemonic| !mnemonic.shape().is_simd()) {
        let forms = mnemonic.forms();
        for _ in 0..600 {
            let form = forms.get(random.next() % forms.count_left()).expect("in range");
            let corner = corner_inputs(form);
            let values = corner[random.next() as usize % corner.len()];
            let known = random.next();
            let sources = [0, 1, 2]
                .map(|i| if known >> i & 1 != 0 { OperandValue::Known(values[i]) } else { OperandValue::Free });
            let fixed = |inputs: [u32; 3]| {
                [0, 1, 2].map(|i| if let OperandValue::Known(value) = sources[i] { value } else { inputs[i] })
            };
            // Also the known value's part in the other operand: only there are both the same.
            let [a, b, c] = values;
            let [x, y] = form.explain(a, b, c).lanes[0].inputs;
            let fits = |value: u32, input: Selected| (value & (u32::MAX >> (32 - input.bits))) << input.shift;
            let same = [0, 1, u32::MAX].map(|c| [fits(y.value as u32, x), fits(x.value as u32, y), c]);
            check(form, sources, corner.into_iter().chain(same).map(fixed));
        }
    }
}

/// One register for a and b: all its values, of those that matter. Shifts and `vmad` have bounds there.
#[test]
fn ranges_of_one_register() {
    let mut random = Random(3);
    let sources = [OperandValue::Free, OperandValue::SameAs { operand: 0, plus: 0 }, OperandValue::Free];
    // Each byte of the register has a value at an end.
    let bytes = [0u32, 1, 0x7f, 0x80, 0xff];
    let words: Vec<u32> = (0..5usize.pow(4))
        .map(|choice| (0..4).fold(0, |word, i| word << 8 | bytes[choice / 5usize.pow(i) % 5]))
        .collect();
    for mnemonic in Mnemonic::ALL {
        let forms = mnemonic.forms();
        let bound = ["vshl", "vshr", "vmad"].contains(&mnemonic.name());
        for _ in 0..120 {
            let form = forms.get(random.next() % forms.count_left()).expect("in range");
            let inputs = words.iter().map(|&word| [word, word, 0]);
            if bound {
                let range = form.result_range(sources);
                assert!(inputs.flat_map(|inputs| results(form, inputs)).all(|result| range.contains(result)), "{form}");
            } else {
                check(form, sources, inputs);
            }
        }
    }
}

/// `.sat` is said to be without effect exactly where dropping it changes no result, secondary operation included.
#[test]
fn saturation_without_effect() {
    let mut random = Random(4);
    let (mut without, mut with, mut swallowed, mut exceptions) = (0, 0, 0, 0);
    for mnemonic in Mnemonic::ALL {
        let forms = mnemonic.forms();
        for _ in 0..2000 {
            let form = forms.get(random.next() % forms.count_left()).expect("in range");
            let Some(range) = form.saturation() else { continue };
            let mut inputs = corner_inputs(form);
            // All lanes at once, and c in the middle.
            inputs.extend((0..100).map(|_| [0; 3].map(|_| random.next() as u32)));
            let differs = |&[a, b, c]: &[u32; 3]| form.eval(a, b, c) != form.without_sat().eval(a, b, c);
            let found = inputs.iter().any(differs);
            // The exception: a part of a register as signed less itself as unsigned is 0 or the negative of what is just
            // too much for the part, which has only zeros there and is clamped to 0.
            let beyond = Exact::from(range.max()) + 1;
            let results_range = form.result_range([OperandValue::Free; 3]);
            if !found
                && form.mnemonic().name().starts_with("vsub")
                && (results_range.min, results_range.max) == (-beyond, 0)
            {
                exceptions += 1;
                continue;
            }
            assert_eq!(form.can_saturate([OperandValue::Free; 3]), found, "{form}");
            if found {
                with += 1
            } else {
                without += 1
            }
            let clamps = |result: Exact| !(Exact::from(range.min())..=range.max().into()).contains(&result);
            if !found && inputs.into_iter().flat_map(|inputs| results(form, inputs)).any(clamps) {
                swallowed += 1;
            }
        }
    }
    assert!(without > 1000 && with > 1000, "{without} without effect, {with} with");
    assert!(exceptions < 30, "{exceptions} exceptions");
    assert!(swallowed > 100, "{swallowed} where .min or .max hides what is clamped");
}
