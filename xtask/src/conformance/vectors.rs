//! The vectors: which rows the large and the small set have.
//!
//! Rows are chosen for each mnemonic by itself, from a fixed seed. The large set has every scalar form, and every SIMD form
//! with default selectors beside others with random ones. Of some candidates for a row, that one is taken which shows the most
//! behaviours that no earlier row of the same modifiers has shown. The small set is chosen from the large one: it covers all
//! pairs of modifiers, all behaviours, and those mutants that it is shown.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use vop::isa::form::{Finish, MadMode, Variant};
use vop::isa::forms::Forms;
use vop::isa::types::{Operation, Selector, Shape};
use vop::{Form, Mnemonic, Semantics};
use vop_tests::{Random, transcription};

use super::evaluator::{Trace, cut, evaluate, trace};
use super::fault::{Fault, Sign, faults};

/// Rows of each scalar form in the large set.
const ROWS_OF_SCALAR: usize = 2;
/// Rows of each scalar form without selectors on a and b: many implementations have no others.
const ROWS_OF_WORDS: usize = 8;
/// Rows of each combination of modifiers and mask of a SIMD mnemonic in the large set.
const ROWS_OF_SIMD: usize = 10;
/// Inputs among which each row is chosen.
const CANDIDATES: usize = 12;
/// Inputs among which each row of a scalar form without selectors is chosen.
const CANDIDATES_OF_WORDS: usize = 64;
/// How many rows of the small set shall kill each mutant that it is shown.
const KILLS: u8 = 3;

/// The number of rows of the small set.
pub const SMALL: usize = 10_000;

/// A form, values of a, b and c, and of d by the manual, by ptxas 13.3 and later, and by earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The form.
    pub form: Form,
    /// a, b and c.
    pub inputs: [u32; 3],
    /// d by each of [`Semantics::ALL`].
    pub d: [u32; 3],
}

impl Row {
    fn new(form: Form, inputs: [u32; 3]) -> Row {
        let [a, b, c] = inputs;
        Row { form, inputs, d: Semantics::ALL.map(|semantics| form.eval_as(semantics, a, b, c)) }
    }

    /// Whether the transcription of the manual computes the same d, and the evaluator of this module, too.
    pub fn has_witnesses(&self) -> bool {
        let [a, b, c] = self.inputs;
        transcription::evaluate(&self.form.to_string(), a, b, c) == self.d[0]
            && evaluate(self.form, None, self.inputs) == self.d[0]
    }
}

/// The heading of a file of vectors.
pub const HEADING: &str = "form\ta\tb\tc\tmanual\tptxas\tptxas-13.2\n";

/// Rows as text, below [`HEADING`].
pub fn text(rows: &[Row]) -> String {
    let mut text = String::from(HEADING);
    for Row { form, inputs: [a, b, c], d: [manual, ptxas, earlier] } in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{form}\t{a:08x}\t{b:08x}\t{c:08x}\t{manual:08x}\t{ptxas:08x}\t{earlier:08x}");
    }
    text
}

fn random_of(mnemonic: Mnemonic) -> Random {
    Random::of(0x636f_6e66 + mnemonic as u64)
}

/// The rows of a mnemonic in the large set.
pub fn large(mnemonic: Mnemonic) -> Vec<Row> {
    let mut random = random_of(mnemonic);
    let mut rows = Vec::new();
    // How many pairs of selectors there are; they are the last digits of a form's index.
    let (selectors, step) = match mnemonic.shape() {
        Shape::Scalar => (49, 1),
        Shape::Halves => (1 << 8, 1 << 8),
        Shape::Bytes => (1 << 24, 1 << 24),
    };
    let mut seen = HashSet::new();
    let forms = mnemonic.forms();
    for first in (0..forms.count_left()).step_by(step) {
        let (each, candidates) = match mnemonic.shape() {
            Shape::Scalar if first % selectors == 0 => (ROWS_OF_WORDS, CANDIDATES_OF_WORDS),
            Shape::Scalar => (ROWS_OF_SCALAR, CANDIDATES),
            Shape::Halves | Shape::Bytes => (ROWS_OF_SIMD, CANDIDATES),
        };
        for row in 0..each {
            let Some(form) = form_of(&mut random, &forms, first, row) else { continue };
            let group = first / selectors;
            let candidates = (0..candidates).map(|_| {
                let inputs = inputs(&mut random, form);
                let shown = behaviours(form, &trace(form, None, inputs));
                let new = shown.iter().filter(|&&behaviour| !seen.contains(&(group, behaviour))).count();
                (new, inputs, shown)
            });
            // The first of the best.
            let best = candidates.reduce(|best, other| if other.0 > best.0 { other } else { best });
            let Some((_, inputs, shown)) = best else { continue };
            seen.extend(shown.into_iter().map(|behaviour| (group, behaviour)));
            rows.push(Row::new(form, inputs));
        }
    }
    rows
}

/// The form of a row: that of an index, or a SIMD form with other selectors. ptxas reads it (it cannot read `.b1024`).
fn form_of(random: &mut Random, forms: &Forms, first: u64, row: usize) -> Option<Form> {
    let form = forms.get(first)?;
    let shape = form.mnemonic().shape();
    if !shape.is_simd() {
        return Some(form);
    }
    if row.is_multiple_of(4) {
        return Some(form.with_default_selectors());
    }
    loop {
        let form = forms.get(first + selectors_of(random, shape, row))?;
        if vop::parse(&form.to_string()).is_ok() {
            return Some(form);
        }
    }
}

/// The digits of an index that are a SIMD form's selectors: of a, of b, or of both at random. A scalar form's index has its own.
fn selectors_of(random: &mut Random, shape: Shape, row: usize) -> u64 {
    let bits = match shape {
        Shape::Scalar => return 0,
        Shape::Halves => 4,
        Shape::Bytes => 12,
    };
    // The order of `Forms`: the selector of b is the last digit, and the lowest lane is its lowest one.
    let default = if bits == 4 { [0b01_00, 0b11_10] } else { [0o3210, 0o7654] };
    let [a, b] = [(); 2].map(|()| random.next() >> 20 & ((1 << bits) - 1));
    match row % 4 {
        1 => a << bits | default[1],
        2 => default[0] << bits | b,
        _ => a << bits | b,
    }
}

// Inputs.

/// A word whose bytes differ, so that reading the wrong one shows.
fn noise(random: &mut Random) -> u32 {
    loop {
        let word = (random.next() >> 16) as u32;
        let bytes = word.to_le_bytes();
        if (0..4).all(|i| (0..i).all(|j| bytes[i] != bytes[j])) {
            return word;
        }
    }
}

/// A pattern of some bits: mostly one at a boundary.
fn pattern(random: &mut Random, bits: u32) -> i128 {
    let top = 1i128 << (bits - 1);
    let random_bits = i128::from((random.next() >> 16) as u32) & (2 * top - 1);
    random.pick(&[
        0,
        1,
        2,
        top - 2,
        top - 1,
        top,
        top + 1,
        2 * top - 2,
        2 * top - 1,
        random_bits,
        random_bits,
        random_bits,
    ])
}

/// The amount of a shift.
fn amount(random: &mut Random, bits: u32) -> i128 {
    let any = random.below(31) as i128 + 1;
    // Small in the lower byte or half, and large as a whole.
    let small_in_part = random.pick(&[0x100, 0x1_0000, 0x8000_0000]) + random.pick(&[0, any, 32]);
    let most = (1i128 << bits) - 1;
    let fixed = random.pick(&[
        0,
        1,
        7,
        8,
        15,
        16,
        24,
        30,
        31,
        32,
        33,
        47,
        63,
        64,
        65,
        95,
        128,
        255,
        256,
        0xffff,
        most,
        most - 31,
    ]);
    random.pick(&[fixed, fixed, fixed, any, small_in_part]).min(most)
}

/// The width of a source's lane, and how it is read.
fn source(form: Form, second: bool) -> (u32, Sign) {
    let (selector, ty) = if second { (form.bsel(), form.btype()) } else { (form.asel(), form.atype()) };
    let bits = match selector {
        Selector::Part(part) => part.bits(),
        Selector::Word => 32,
        Selector::Halves(_) => 16,
        Selector::Bytes(_) => 8,
    };
    (bits, if ty.is_signed() { Sign::Signed } else { Sign::Unsigned })
}

/// The patterns of one lane of a and b: boundaries, or such that the result is at a boundary.
fn lane(random: &mut Random, form: Form, c: &mut u32) -> [i128; 2] {
    use Operation::{Absdiff, Add, Avrg, Mad, Max, Min, Set, Shl, Shr, Sub};
    let (bits_a, _) = source(form, false);
    let (bits_b, sign_b) = source(form, true);
    let operation = form.mnemonic().operation();
    let shifts = matches!(operation, Shl | Shr);
    let mut b = if shifts { amount(random, bits_b) } else { pattern(random, bits_b) };
    let mut a = pattern(random, bits_a);
    if random.below(2) == 0 {
        return [a, b];
    }
    let bits = match form.finish() {
        Finish::Merge(part) => part.bits(),
        _ => form.mnemonic().shape().bits(),
    };
    let (least, greatest) = super::evaluator::range(bits, if form.is_signed() { Sign::Signed } else { Sign::Unsigned });
    let wanted = random.pick(&[least - 1, least, least + 1, -1, 0, 1, greatest - 1, greatest, greatest + 1]);
    let value_b = cut(b, bits_b, sign_b);
    a = match operation {
        Add => wanted - value_b,
        Sub => wanted + value_b,
        Absdiff => value_b + random.pick(&[wanted, -wanted]),
        Min | Max => wanted,
        Set => value_b + random.pick(&[-1, 0, 0, 1]),
        Avrg => 2 * wanted - value_b + random.pick(&[-1, 0, 1]),
        Shl => wanted >> value_b.min(32),
        Shr => wanted << value_b.min(32),
        Mad => {
            let Variant::Mad(mode, scale) = form.variant() else { return [a, b] };
            // The product stays, and c takes what is missing.
            if random.below(2) == 0 {
                b = pattern(random, bits_b) & 0xff;
            }
            let [value_a, value_b] = [false, true].map(|second| {
                let (bits, sign) = source(form, second);
                cut(if second { b } else { a }, bits, sign)
            });
            let product = value_a * value_b * if mode.negates_product() { -1 } else { 1 };
            let sum = (wanted << scale.map_or(0, |scale| scale.bits())) + random.pick(&[0, 0, 1, -1, 64]);
            let missing = sum - product - i128::from(mode == MadMode::PlusOne);
            *c = (if mode.negates_c() { -missing } else { missing }) as u32;
            a
        }
    };
    // What a cannot hold becomes some other pattern.
    [a & ((1 << bits_a) - 1), b]
}

/// Inputs for a form.
fn inputs(random: &mut Random, form: Form) -> [u32; 3] {
    let mut c = noise(random);
    let mut sources = u64::from(noise(random)) << 32 | u64::from(noise(random));
    let shape = form.mnemonic().shape();
    for i in 0..shape.lanes() {
        let patterns = lane(random, form, &mut c);
        for (second, pattern) in [false, true].into_iter().zip(patterns) {
            let selector = if second { form.bsel() } else { form.asel() };
            let own = if second { 32 } else { 0 };
            let (shift, bits) = match selector {
                Selector::Word => (own, 32),
                Selector::Part(part) => (own + part.shift(), part.bits()),
                Selector::Halves(digits) => (u32::from(digits[i]) * 16, 16),
                Selector::Bytes(digits) => (u32::from(digits[i]) * 8, 8),
            };
            sources = sources & !(((1 << bits) - 1) << shift) | (pattern as u64) << shift;
        }
    }
    let [a, b] = [sources as u32, (sources >> 32) as u32];
    // c beside the result, where it is compared with it or added to it.
    if !matches!(form.finish(), Finish::Plain) {
        let t = trace(form, None, [a, b, c]).t[0] as u32;
        let edge = pattern(random, 32) as u32;
        let beside = [t, t.wrapping_add(1), t.wrapping_sub(1), t.wrapping_neg(), !t, edge];
        c = random.pick(&[c, c, c, beside[0], beside[1], beside[2], beside[3], beside[4], edge, edge]);
    }
    [a, b, c]
}

// Behaviours.

/// What an evaluation shows, as numbers that mean the same in all rows of one combination of modifiers.
fn behaviours(form: Form, trace: &Trace) -> Vec<u16> {
    let mut shown = Vec::with_capacity(24);
    let mut show = |kind: u16, value: u16| shown.push(kind * 32 + value);
    let (bits_a, _) = source(form, false);
    let (bits_b, _) = source(form, true);
    let d_bits = match form.finish() {
        Finish::Merge(part) => part.bits(),
        _ => form.mnemonic().shape().bits(),
    };
    for lane in 0..trace.lanes {
        let at = 8 * lane as u16;
        let (a, b, raw, t) = (trace.a[lane], trace.b[lane], trace.raw[lane], trace.t[lane]);
        show(at, order(a, b));
        // Signs, and the upper bits of what was read.
        let tops = [a >> (bits_a - 1) & 1, b >> (bits_b - 1) & 1];
        show(at + 1, (u16::from(a < 0) | u16::from(b < 0) << 1) * 4 + tops[0] as u16 + 2 * tops[1] as u16);
        match trace.range {
            Some((least, greatest)) => show(at + 2, order(raw, least) * 5 + order(raw, greatest)),
            None => {
                let [unsigned, signed] = [Sign::Unsigned, Sign::Signed].map(|sign| cut(raw, d_bits, sign) == raw);
                show(at + 2, u16::from(unsigned) + 2 * u16::from(signed) + 4 * u16::from(raw < 0));
            }
        }
        match form.mnemonic().operation() {
            Operation::Shl | Operation::Shr => {
                show(at + 3, shift_class(b));
                // What a register of 32 or 64 bits loses.
                let fits = [32, 64].map(|bits| u16::from(cut(raw, bits, Sign::Signed) == raw));
                show(at + 7, fits[0] + fits[1] + 3 * order(t, trace.c));
            }
            Operation::Avrg => show(at + 3, (((a + b) & 1) as u16) * 2 + u16::from(a + b < 0)),
            Operation::Mad => {
                let fits = [32, 64].map(|bits| u16::from(cut(raw, bits, Sign::Signed) == raw));
                let signs = u16::from(raw < 0) + 2 * u16::from(trace.c < 0) + 4 * u16::from(a * b < 0);
                show(at + 3, signs + 8 * (fits[0] + fits[1]));
            }
            _ => {}
        }
        if let Finish::Secondary(_) = form.finish() {
            show(at + 4, order(t, trace.c) + 5 * u16::from(trace.c < 0) + 10 * u16::from(t < 0));
            // Where c lies by either sign, since one of them is wrong.
            let [unsigned, signed] = [Sign::Unsigned, Sign::Signed].map(|sign| order(t, cut(trace.c, 32, sign)));
            show(at + 6, unsigned * 5 + signed);
            let sum = t + trace.c;
            show(at + 5, u16::from(sum < 0) + 2 * u16::from(cut(sum, 32, Sign::Signed) == sum));
        }
    }
    if let Finish::Accumulate(mask) = form.finish() {
        let lanes = (0..trace.lanes).filter(|&lane| mask.has(lane));
        let sum: i128 = lanes.map(|lane| trace.t[lane]).sum();
        // Whether the sum leaves 32 bits, as an unsigned and as a signed number.
        let leaves = |sign| {
            let sum = sum + cut(trace.c, 32, sign);
            u16::from(cut(sum, 32, sign) != sum)
        };
        show(38, leaves(Sign::Unsigned) + 2 * leaves(Sign::Signed) + 4 * u16::from(sum < 0));
    }
    show(39, u16::from(trace.d >> 31 == 1));
    shown
}

/// Much less, less by one, equal, greater by one, much greater.
fn order(a: i128, b: i128) -> u16 {
    ((a - b).clamp(-2, 2) + 2) as u16
}

fn shift_class(amount: i128) -> u16 {
    let class = match amount {
        0 => 0,
        1..=7 => 1,
        8..=14 => 2,
        15 => 3,
        16..=29 => 4,
        30 => 5,
        31 => 6,
        32 => 7,
        33 => 8,
        34..=62 => 9,
        63 => 10,
        64 => 11,
        65..=255 => 12,
        256..=0xffff => 13,
        _ => 14,
    };
    // With a small number in the lower bits.
    if class >= 13 && amount & 0xff < 32 { class + 2 } else { class }
}

// The small set.

/// The mutants that the choice of the small set is shown: every second one.
pub fn shown_mutants(mnemonic: Mnemonic) -> impl Iterator<Item = Fault> {
    faults(mnemonic).into_iter().step_by(2)
}

/// How many rows of the small set each mnemonic has: by the number of its mutants.
pub fn quotas() -> Vec<(Mnemonic, usize)> {
    let counts: Vec<usize> = Mnemonic::ALL.iter().map(|&mnemonic| faults(mnemonic).len()).collect();
    let all: usize = counts.iter().sum();
    let mut before = 0;
    let mut quota = |count: &usize| {
        let start = before * SMALL / all;
        before += count;
        before * SMALL / all - start
    };
    Mnemonic::ALL.iter().copied().zip(counts.iter().map(&mut quota)).collect()
}

/// The rows of a mnemonic in the small set, of those in the large set.
pub fn small(rows: &[Row], quota: usize) -> Vec<Row> {
    let Some(mnemonic) = rows.first().map(|row| row.form.mnemonic()) else { return Vec::new() };
    let mut items = HashMap::new();
    let mut number = |item: Item| {
        let next = items.len() as u32;
        *items.entry(item).or_insert(next)
    };
    let mut covers: Vec<Vec<u32>> = Vec::with_capacity(rows.len());
    for row in rows {
        let axes = axes(row.form);
        let mut covered = Vec::new();
        for (i, &first) in axes.iter().enumerate() {
            covered.extend(axes[i + 1..].iter().map(|&second| number(Item::Pair(first, second))));
        }
        // A behaviour counts with each modifier that can change what becomes of it.
        for behaviour in behaviours(row.form, &trace(row.form, None, row.inputs)) {
            covered.push(number(Item::Behaviour(axes[0], axes[1], behaviour)));
            covered.push(number(Item::Behaviour(axes[1], axes[2], behaviour)));
        }
        covered.push(number(Item::Differs(axes[0], axes[1], axes[2], row.d[0] != row.d[1])));
        covers.push(covered);
    }
    let others = items.len();
    for (i, fault) in shown_mutants(mnemonic).enumerate() {
        for (row, covered) in rows.iter().zip(&mut covers) {
            if evaluate(row.form, Some(fault), row.inputs) != row.d[0] {
                covered.push((others + i) as u32);
            }
        }
    }
    let mut left: Vec<u8> = vec![1; others];
    left.resize(others + faults(mnemonic).len(), KILLS);
    let mut taken = vec![false; rows.len()];
    let mut count = 0;
    // Rows that cover much come first. Each pass takes less for enough, and starts at another place.
    for least in [64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1] {
        for i in 0..rows.len() {
            let i = (i * 7919 + least) % rows.len();
            if taken[i] || count == quota {
                continue;
            }
            let new = covers[i].iter().filter(|&&item| left[item as usize] > 0).count();
            if new >= least {
                taken[i] = true;
                count += 1;
                covers[i].iter().for_each(|&item| left[item as usize] = left[item as usize].saturating_sub(1));
            }
        }
    }
    // The rest of the quota is spread evenly over the rows that are left.
    let free: Vec<usize> = (0..rows.len()).filter(|&i| !taken[i]).collect();
    let wanted = quota.min(rows.len()) - count;
    (0..wanted).for_each(|i| taken[free[i * free.len() / wanted]] = true);
    rows.iter().zip(taken).filter(|&(_, taken)| taken).map(|(row, _)| *row).collect()
}

/// Something that the small set shall have.
#[derive(PartialEq, Eq, Hash)]
enum Item {
    /// Two modifiers together.
    Pair(u32, u32),
    /// A behaviour with two modifiers.
    Behaviour(u32, u32, u16),
    /// Whether ptxas's code gives another d, with three modifiers.
    Differs(u32, u32, u32, bool),
}

/// The modifiers of a form, each as a number that tells the axis and the value. The first three are types and `.sat`, the rest of
/// the opcode, and what becomes of the result.
fn axes(form: Form) -> Vec<u32> {
    let variant = match form.variant() {
        Variant::None => 0,
        Variant::Comparison(comparison) => 1 + comparison as u32,
        Variant::Shift(mode) => 11 + mode as u32,
        Variant::Mad(mode, scale) => 21 + mode as u32 + 10 * scale.map_or(0, |scale| scale.bits()),
    };
    let finish = match form.finish() {
        Finish::Plain => 0,
        Finish::Secondary(secondary) => 1 + secondary as u32,
        Finish::Merge(part) => 11 + part as u32,
        Finish::Lanes(mask) => 20 + u32::from(mask.bits()),
        Finish::Accumulate(mask) => 40 + u32::from(mask.bits()),
    };
    let types = [form.dtype(), Some(form.atype()), Some(form.btype())]
        .iter()
        .fold(0, |types, ty| types << 1 | u32::from(ty.is_some_and(|ty| ty.is_signed())));
    let mut axes = vec![types << 1 | u32::from(form.sat()), 1000 + variant, 2000 + finish];
    for (place, selector) in [(3000, form.asel()), (4000, form.bsel())] {
        match selector {
            Selector::Word => axes.push(place),
            Selector::Part(part) => axes.push(place + 1 + part as u32),
            Selector::Halves(digits) => {
                axes.extend(digits.iter().zip(0..).map(|(&digit, lane)| place + 100 * lane + u32::from(digit)));
            }
            Selector::Bytes(digits) => {
                axes.extend(digits.iter().zip(0..).map(|(&digit, lane)| place + 100 * lane + u32::from(digit)));
            }
        }
    }
    axes
}
