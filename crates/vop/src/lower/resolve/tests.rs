//! Resolving is decided here, not sampled.
//!
//! What `resolve` writes depends on selectors, placements and types, never on values, and all it writes moves bytes, fills with
//! signs and zeros, or sums lanes. So a sequence is run on symbols: a byte is byte n of the inputs, its sign, or zero, and a
//! sum is a weight for each lane. Two sequences that end in the same symbols compute the same for all values. The selectors are
//! gone through in full wherever they act together:
//!
//! - A picked word depends on four wants, each one of eight bytes, of eight signs, zero or any: all 18^4 are tried, and apart from
//!   that, that each selector and placement gives the wants it should.
//! - A dot product depends on how often each lane is taken, not on the order: all pairs of multisets of lanes. The styles that
//!   gather lanes or chain them take at most four terms: all selections of up to four lanes, split in all ways between both
//!   inputs. The style that selects first treats each input apart: all selectors of each.
//! - A merge depends on the register and the byte that each byte of d comes from: all 16^4, and all placements.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::resolve;
use crate::isa::form::{DestinationSelector, Finish, Form, Modifiers};
use crate::isa::table::Mnemonic;
use crate::isa::types::{Mask, Part, Secondary, Selector, Shape, Type};
use crate::lower::base::Op;
use crate::lower::candidate::{BytePlace, Candidate, Output, Pick, Placement, Step, Value};
use crate::lower::sequence::Sequence;
use crate::target::Target;

/// A byte: one of a (0 to 3), b (4 to 7), c (8 to 11) or of a word that stands for itself (12 to 15), its sign, or zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Byte {
    Of(u8),
    Sign(u8),
    Zero,
}

impl Byte {
    fn sign(self) -> Byte {
        match self {
            Byte::Of(n) => Byte::Sign(n),
            other => other,
        }
    }
}

/// A lane as a number: its first byte, how many it has, and whether it is read signed.
type Lane = (u8, u8, bool);

/// A word: four bytes, or a sum of lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Bytes([Byte; 4]),
    Sum(BTreeMap<Lane, i32>),
}

const C: Lane = (8, 4, false);

fn register(first: u8) -> Word {
    Word::Bytes([0, 1, 2, 3].map(|i| Byte::Of(first + i)))
}

impl Word {
    fn bytes(&self) -> [Byte; 4] {
        match self {
            Word::Bytes(bytes) => *bytes,
            Word::Sum(_) => panic!("{self:?} has no bytes"),
        }
    }

    /// As a number: a sum, or a lane that is extended.
    fn sum(&self) -> BTreeMap<Lane, i32> {
        let bytes = match self {
            Word::Sum(sum) => return sum.clone(),
            Word::Bytes(bytes) => bytes,
        };
        if *bytes == [Byte::Zero; 4] {
            return BTreeMap::new();
        }
        let Byte::Of(first) = bytes[0] else { panic!("{self:?} is no lane") };
        let count = (0..4).take_while(|&i| bytes[usize::from(i)] == Byte::Of(first + i)).count() as u8;
        let fill = bytes.get(usize::from(count)).copied().unwrap_or(Byte::Zero);
        assert!(bytes[usize::from(count)..].iter().all(|&byte| byte == fill), "{self:?} is no lane");
        let signed = fill == Byte::Sign(first + count - 1);
        assert!(signed || fill == Byte::Zero, "{self:?} is no lane");
        BTreeMap::from([((first, count, signed), 1)])
    }
}

fn add(sum: &mut BTreeMap<Lane, i32>, lane: Lane, weight: i32) {
    *sum.entry(lane).or_default() += weight;
    sum.retain(|_, weight| *weight != 0);
}

/// What the steps of a sequence are, and its result.
fn run(sequence: &Sequence) -> Word {
    let mut words: Vec<Word> = Vec::new();
    for (op, operands) in &sequence.steps {
        let word = step(*op, operands, &words);
        words.push(word);
    }
    of(sequence.result.expect("a result"), &words)
}

fn of(value: Value, words: &[Word]) -> Word {
    match value {
        Value::A => register(0),
        Value::B => register(4),
        Value::C => register(8),
        Value::Word(0) => Word::Bytes([Byte::Zero; 4]),
        Value::Step(number) => words[number].clone(),
        other => panic!("{other:?} is no symbol"),
    }
}

fn step(op: Op, operands: &[Value], words: &[Word]) -> Word {
    let at = |i: usize| of(operands[i], words);
    let constant = |i: usize| match operands[i] {
        Value::Word(word) => word,
        other => panic!("{op:?} has {other:?} where a constant is expected"),
    };
    let shifted = |by: i32, fill: Byte| {
        let bytes = at(0).bytes();
        Word::Bytes(core::array::from_fn(|i| {
            usize::try_from(i as i32 + by).ok().and_then(|i| bytes.get(i)).copied().unwrap_or(fill)
        }))
    };
    let amount = |i: usize| {
        assert!(constant(i).is_multiple_of(8) && constant(i) < 32);
        (constant(i) / 8) as i32
    };
    // Weighted lanes of the first operand, summed onto the third.
    let dot = |bytes: u8, signed: bool, weights: &[i8]| {
        let mut sum = at(2).sum();
        for (i, &weight) in weights.iter().enumerate().filter(|&(_, &weight)| weight != 0) {
            let lane = &at(0).bytes()[i * usize::from(bytes)..][..usize::from(bytes)];
            let Byte::Of(first) = lane[0] else { panic!("{op:?} sums {lane:?}") };
            assert!(lane.iter().zip(first..).all(|(byte, n)| *byte == Byte::Of(n)), "{op:?} sums {lane:?}");
            add(&mut sum, (first, bytes, signed), weight.into());
        }
        Word::Sum(sum)
    };
    match op {
        Op::Prmt(selector) => {
            let bytes = [at(0).bytes(), at(1).bytes()].concat();
            Word::Bytes(core::array::from_fn(|i| {
                let nibble = usize::from(selector >> (4 * i) & 15);
                let byte = bytes[nibble % 8];
                if nibble < 8 { byte } else { byte.sign() }
            }))
        }
        Op::Lop3(0xc0) => {
            let mask = constant(1).to_le_bytes();
            let bytes = at(0).bytes();
            Word::Bytes(core::array::from_fn(|i| match mask[i] {
                0 => Byte::Zero,
                0xff => bytes[i],
                other => panic!("{other:#x} is half a byte"),
            }))
        }
        Op::Shr(ty) => {
            let sign = at(0).bytes()[3].sign();
            shifted(amount(1), if ty.is_signed() { sign } else { Byte::Zero })
        }
        Op::Shl => shifted(-amount(1), Byte::Zero),
        Op::Dp4a(x, Type::S32) => dot(1, x.is_signed(), &constant(1).to_le_bytes().map(|byte| byte as i8)),
        Op::Dp2a { high, x, y: Type::S32 } => {
            let weights = constant(1).to_le_bytes().map(|byte| byte as i8);
            dot(2, x.is_signed(), &weights[if high { 2 } else { 0 }..][..2])
        }
        Op::Absdiff4Add(Type::U32) if constant(1) == 0 => dot(1, false, &[1; 4]),
        Op::Add | Op::Sub => {
            let mut sum = at(0).sum();
            for (lane, weight) in at(1).sum() {
                add(&mut sum, lane, if op == Op::Add { weight } else { -weight });
            }
            Word::Sum(sum)
        }
        // A word that stands for itself.
        Op::Mul => register(12),
        _ => panic!("{op:?} is not what resolving writes"),
    }
}

/// A form of `vadd4` or `vadd2`.
fn form(shape: Shape, types: [Type; 2], accumulates: bool, asel: Selector, bsel: Selector) -> Form {
    let name = if shape == Shape::Bytes { "vadd4" } else { "vadd2" };
    let wanted = Modifiers {
        types: &[Type::U32, types[0], types[1]],
        secondary: accumulates.then_some(Secondary::Add),
        asel: Some(asel),
        bsel: Some(bsel),
        ..Modifiers::default()
    };
    Form::new(Mnemonic::from_name(name).expect("known"), &wanted).expect("legal")
}

fn bytes(asel: [u8; 4], bsel: [u8; 4]) -> Form {
    form(Shape::Bytes, [Type::U32; 2], false, Selector::Bytes(asel), Selector::Bytes(bsel))
}

fn candidate(steps: Vec<Step>, output: Output, placement: Placement) -> Candidate {
    Candidate { rule: "test", steps, output, placement, cut: None }
}

const IN_PLACE: Placement = [Some(0), Some(1), Some(2), Some(3)];

fn target(name: &str) -> Target {
    name.parse().expect("a target")
}

fn selectors() -> impl Iterator<Item = [u8; 4]> {
    (0..4096u16).map(|number| [0, 3, 6, 9].map(|shift| (number >> shift) as u8 & 7))
}

/// All ways to place some lanes in positions.
fn placements(lanes: u8) -> Vec<Placement> {
    let mut all = vec![[None; 4]];
    for position in 0..usize::from(lanes) {
        for placement in all.clone() {
            for lane in (0..lanes).filter(|&lane| !placement.contains(&Some(lane))) {
                let mut more = placement;
                more[position] = Some(lane);
                all.push(more);
            }
        }
    }
    all.retain(|placement| *placement != [None; 4]);
    all
}

fn byte(second: bool, position: u8, byte: u8) -> Pick {
    Pick::Byte { second, position, byte }
}

/// Resolves one picked word.
fn picked(picks: [Pick; 4], form: Form, placement: Placement) -> [Byte; 4] {
    let candidate = candidate(vec![Step::Pick(picks)], Output::Value(Value::Step(0)), placement);
    let sequences = resolve(&candidate, form, target("sm_75"));
    assert_eq!(sequences.len(), 1);
    run(&sequences[0]).bytes()
}

#[test]
fn all_picked_words() {
    for number in 0..18u32.pow(4) {
        let digits = [0, 1, 2, 3].map(|i| number / 18u32.pow(i) % 18);
        let form = bytes(digits.map(|digit| digit as u8 % 8), [0; 4]);
        let picks = core::array::from_fn(|i| match digits[i] {
            0..8 => byte(false, i as u8, 0),
            8..16 => Pick::Sign { second: false, position: i as u8, byte: 0 },
            16 => Pick::Zero,
            _ => Pick::Any,
        });
        let word = picked(picks, form, IN_PLACE);
        for (digit, byte) in digits.into_iter().zip(word) {
            let wanted = match digit {
                0..8 => Byte::Of(digit as u8),
                8..16 => Byte::Sign(digit as u8 - 8),
                16 => Byte::Zero,
                _ => byte,
            };
            assert_eq!(byte, wanted, "{digits:?}: {word:?}");
        }
    }
}

#[test]
fn all_selectors_and_placements() {
    let check = |form: Form, placement: Placement, second: bool, bytes: u8, source: &dyn Fn(u8) -> u8| {
        let picks = core::array::from_fn(|i| match placement[i / usize::from(bytes)] {
            Some(_) => byte(second, i as u8 / bytes, i as u8 % bytes),
            None => Pick::Any,
        });
        let word = picked(picks, form, placement);
        for (i, byte) in (0..).zip(word) {
            if let Some(lane) = placement[usize::from(i / bytes)] {
                assert_eq!(byte, Byte::Of(source(lane) * bytes + i % bytes), "{form} {placement:?}");
            }
        }
    };
    let placements_of_bytes = placements(4);
    assert_eq!(placements_of_bytes.len(), 208);
    for selector in selectors() {
        // Selectors of the other input play no part.
        let other = selector.map(|lane| 7 - lane);
        for placement in &placements_of_bytes {
            check(bytes(selector, other), *placement, false, 1, &|lane| selector[usize::from(lane)]);
            check(bytes(other, selector), *placement, true, 1, &|lane| selector[usize::from(lane)]);
        }
    }
    for number in 0..16 {
        let (selector, other) = ([number % 4, number / 4], [3 - number % 4, 3 - number / 4]);
        let [x, y] = [selector, other].map(Selector::Halves);
        for placement in placements(2) {
            let types = [Type::U32; 2];
            let source = |lane: u8| selector[usize::from(lane)];
            check(form(Shape::Halves, types, false, x, y), placement, false, 2, &source);
            check(form(Shape::Halves, types, false, y, x), placement, true, 2, &source);
        }
    }
}

#[test]
fn all_parts_of_scalar_forms() {
    let parts = Part::ALL.iter().map(|&part| Selector::Part(part)).chain([Selector::Word]);
    for selector in parts {
        let (shift, bits) = selector.place();
        for (second, first) in [(false, 0), (true, 4)] {
            let mut wanted = Modifiers { types: &[Type::U32; 3], ..Modifiers::default() };
            *(if second { &mut wanted.bsel } else { &mut wanted.asel }) = Some(selector);
            let form = Form::new(Mnemonic::from_name("vadd").expect("known"), &wanted).expect("legal");
            let top = bits as u8 / 8 - 1;
            for fill in [Pick::Zero, Pick::Sign { second, position: 0, byte: top }] {
                let picks = core::array::from_fn(|i| if i as u8 <= top { byte(second, 0, i as u8) } else { fill });
                let word = picked(picks, form, [Some(0), None, None, None]);
                let low = first + shift as u8 / 8;
                for (i, byte) in (0..).zip(word) {
                    let wanted = match fill {
                        _ if i <= top => Byte::Of(low + i),
                        Pick::Zero => Byte::Zero,
                        _ => Byte::Sign(low + top),
                    };
                    assert_eq!(byte, wanted, "{form}");
                }
            }
        }
    }
}

/// Whichever byte is taken for picks that must be the same, it is one for all of them: there is one table, and every pick asks
/// it. Here two words ask for four, beside all selectors of the one and of the other.
#[test]
fn bytes_that_must_be_the_same_are() {
    for (number, selector) in (0u16..).zip(selectors()) {
        let other = selector.map(|lane| (lane + (number % 8) as u8) % 8);
        for (asel, bsel) in [(selector, other), (other, selector), (selector, selector), (selector, [4, 5, 6, 7])] {
            for mask in 0..16u8 {
                let placement: Placement = core::array::from_fn(|i| (mask >> i & 1 != 0).then_some(i as u8));
                let picks = |second: bool| {
                    Step::Pick(core::array::from_fn(|i| match placement[i] {
                        Some(_) => byte(second, i as u8, 0),
                        None => Pick::Same(i as u8),
                    }))
                };
                let both = Step::Base(Op::Mul, vec![Value::Step(0), Value::Step(1)]);
                let steps = vec![picks(false), picks(true), both];
                let candidate = candidate(steps, Output::Value(Value::Step(2)), placement);
                for sequence in resolve(&candidate, bytes(asel, bsel), target("sm_90")) {
                    let mut words: Vec<Word> = Vec::new();
                    for (op, operands) in &sequence.steps {
                        let word = step(*op, operands, &words);
                        words.push(word);
                    }
                    let (_, operands) = sequence.steps.last().expect("the product");
                    let [a, b] = [0, 1].map(|i| of(operands[i], &words).bytes());
                    for i in 0..4 {
                        match placement[i] {
                            Some(_) => assert_eq!((a[i], b[i]), (Byte::Of(asel[i]), Byte::Of(bsel[i]))),
                            None => assert_eq!(a[i], b[i], "{asel:?} {bsel:?} {mask:#b}"),
                        }
                    }
                }
            }
        }
    }
}

/// Resolves a sum in all its styles, and checks it.
fn summed(form: Form, placement: Placement, weights: [[i8; 4]; 2], target: Target) {
    let step = Step::Sum { addend: Value::C, weights };
    let candidate = candidate(vec![step], Output::Value(Value::Step(0)), placement);
    let size = form.mnemonic().shape().bits() as u8 / 8;
    let mut wanted = BTreeMap::from([(C, 1)]);
    for ((selector, ty), weights) in [(form.asel(), form.atype()), (form.bsel(), form.btype())].iter().zip(weights) {
        for (position, weight) in weights.into_iter().enumerate().filter(|(_, weight)| *weight != 0) {
            let lane = usize::from(placement[position].expect("a live position"));
            let source = match selector {
                Selector::Halves(lanes) => lanes[lane],
                Selector::Bytes(lanes) => lanes[lane],
                _ => panic!("{form} has lanes"),
            };
            add(&mut wanted, (source * size, size, ty.is_signed()), weight.into());
        }
    }
    let sequences = resolve(&candidate, form, target);
    assert!(!sequences.is_empty());
    for sequence in sequences {
        assert_eq!(run(&sequence).sum(), wanted, "{form} {placement:?} {weights:?}: {sequence:?}");
    }
}

fn types() -> impl Iterator<Item = [Type; 2]> {
    [Type::U32, Type::S32].into_iter().flat_map(|x| [Type::U32, Type::S32].map(|y| [x, y]))
}

/// Weights of all lanes.
const WEIGHTS: [[[i8; 4]; 2]; 4] =
    [[[1; 4], [1; 4]], [[1; 4], [-1; 4]], [[-1; 4], [1; 4]], [[1, -1, 1, -1], [1, 1, -1, 1]]];

#[test]
fn sums_of_all_multisets_of_bytes() {
    let multisets: Vec<[u8; 4]> = selectors().filter(|lanes| lanes.is_sorted()).collect();
    assert_eq!(multisets.len(), 330);
    let targets = [target("sm_75"), target("sm_120f")];
    let mut count = 0;
    for &asel in &multisets {
        for &bsel in &multisets {
            for types in types() {
                count += 1;
                let form = form(Shape::Bytes, types, true, Selector::Bytes(asel), Selector::Bytes(bsel));
                summed(form, IN_PLACE, WEIGHTS[count / 4 % 4], targets[count / 16 % 2]);
            }
        }
    }
}

#[test]
fn sums_of_all_selections_of_bytes() {
    let targets = [target("sm_75"), target("sm_120f")];
    for selector in selectors() {
        for types in types() {
            // All lanes of one input; the other's in an order of their own.
            let other = [selector[2], 7 - selector[0], selector[3], selector[1]];
            let [x, y] = [selector, other].map(Selector::Bytes);
            for (asel, bsel) in [(x, y), (y, x)] {
                let form = form(Shape::Bytes, types, true, asel, bsel);
                summed(form, IN_PLACE, WEIGHTS[usize::from(selector[0]) % 4], targets[0]);
                summed(form, IN_PLACE, [[1; 4], [0; 4]], targets[usize::from(selector[1]) % 2]);
                summed(form, IN_PLACE, [[0; 4], [-1; 4]], targets[1]);
            }
            // Up to four lanes: some of the first input, the others of the second.
            for of_first in 0..=4 {
                for total in of_first.max(1)..=4 {
                    let mut lanes = selector.into_iter();
                    let mut selectors = [[0; 4]; 2];
                    let mut weights = [[0; 4]; 2];
                    for term in 0..total {
                        let (input, position) = if term < of_first { (0, term) } else { (1, term - of_first) };
                        selectors[input][position] = lanes.next().expect("four");
                        weights[input][position] = if term % 2 == usize::from(types[0].is_signed()) { 1 } else { -1 };
                    }
                    let [asel, bsel] = selectors.map(Selector::Bytes);
                    summed(form(Shape::Bytes, types, true, asel, bsel), IN_PLACE, weights, targets[total % 2]);
                }
            }
        }
    }
}

#[test]
fn sums_with_all_placements() {
    for placement in placements(4) {
        let live = placement.map(|lane| i8::from(lane.is_some()));
        for (asel, bsel) in [([0, 1, 2, 3], [4, 5, 6, 7]), ([3, 5, 0, 6], [1, 7, 2, 4]), ([7, 7, 1, 1], [0, 2, 0, 2])] {
            for types in types() {
                let form = form(Shape::Bytes, types, true, Selector::Bytes(asel), Selector::Bytes(bsel));
                summed(form, placement, [live, live.map(|weight| -weight)], target("sm_75"));
            }
        }
    }
}

#[test]
fn all_sums_of_half_words() {
    let weights: Vec<[[i8; 4]; 2]> = (1..81i8)
        .map(|number| {
            let [a, b, c, d] = [1, 3, 9, 27].map(|place| number / place % 3 - 1);
            [[a, b, 0, 0], [c, d, 0, 0]]
        })
        .collect();
    for number in 0..256u16 {
        let [a, b, c, d] = [0, 2, 4, 6].map(|shift| (number >> shift) as u8 & 3);
        for types in types() {
            for placement in [[Some(0), Some(1), None, None], [Some(1), Some(0), None, None]] {
                for weights in &weights {
                    let [asel, bsel] = [[a, b], [c, d]].map(Selector::Halves);
                    summed(form(Shape::Halves, types, true, asel, bsel), placement, *weights, target("sm_90"));
                }
            }
        }
    }
}

/// Constants of half-word dot products are put together in pairs; each instruction still reads its own.
#[test]
fn shared_constants_are_what_they_were() {
    for count in 1..=6u32 {
        let mut sequence = Sequence::default();
        let mut sum = Value::C;
        for i in 0..count {
            // Some constants occur twice, some have something in the half that is not read.
            let constant = (0x0101 * (i % 4 + 1)) | ((i % 3) << 16);
            let op = Op::Dp2a { high: i == 4, x: Type::S32, y: Type::S32 };
            sum = sequence.push(op, &[if i % 2 == 0 { Value::A } else { Value::B }, Value::Word(constant), sum]);
        }
        sequence.result = Some(sum);
        let mut shared = sequence.clone();
        super::share_constants(&mut shared);
        assert_eq!(run(&shared), run(&sequence), "{sequence:?} {shared:?}");
    }
}

/// Merges lanes and checks where each byte comes from. The words are a, b, c and one that stands for itself.
fn merged(form: Form, placement: Placement, sources: [Option<(u8, u8)>; 4]) {
    let values = [Value::A, Value::B, Value::C, Value::Step(0)];
    let places =
        sources.map(|source| source.map(|(register, byte)| BytePlace { value: values[usize::from(register)], byte }));
    let steps = vec![Step::Base(Op::Mul, vec![Value::A, Value::B])];
    let candidate = candidate(steps, Output::Lanes(places), placement);
    let sequences = resolve(&candidate, form, target("sm_75"));
    let bytes = form.mnemonic().shape().bits() as usize / 8;
    let mut wanted = [0, 1, 2, 3].map(|i| Byte::Of(8 + i));
    for (lane, source) in placement.into_iter().zip(sources) {
        let (Some(lane), Some((register, byte))) = (lane, source) else { continue };
        for i in 0..bytes {
            wanted[usize::from(lane) * bytes + i] = Byte::Of(4 * register + byte + i as u8);
        }
    }
    assert_eq!(sequences.len(), 1);
    assert_eq!(run(&sequences[0]).bytes(), wanted, "{form} {placement:?} {sources:?}");
}

fn masked(shape: Shape, placement: Placement) -> Form {
    let bits = placement.iter().flatten().fold(0, |mask, lane| mask | 1 << lane);
    let name = if shape == Shape::Bytes { "vadd4" } else { "vadd2" };
    let wanted = Modifiers {
        types: &[Type::U32; 3],
        dsel: Mask::new(bits, shape).map(DestinationSelector::Mask),
        ..Modifiers::default()
    };
    let form = Form::new(Mnemonic::from_name(name).expect("known"), &wanted).expect("legal");
    assert!(matches!(form.finish(), Finish::Lanes(mask) if mask.bits() == bits));
    form
}

#[test]
fn all_merges() {
    let form = masked(Shape::Bytes, IN_PLACE);
    for number in 0..1u32 << 16 {
        let nibbles = [0, 4, 8, 12].map(|shift| (number >> shift) as u8 & 15);
        merged(form, IN_PLACE, nibbles.map(|nibble| Some((nibble / 4, nibble % 4))));
    }
    // Every placement and mask, the sources being in many ways alike and different.
    for placement in placements(4) {
        let form = masked(Shape::Bytes, placement);
        for number in (0..1u32 << 16).step_by(257).chain((0..1 << 16).step_by(4097)) {
            let nibbles = [0, 4, 8, 12].map(|shift| (number >> shift) as u8 & 15);
            let mut sources = nibbles.map(|nibble| Some((nibble / 4, nibble % 4)));
            for (source, lane) in sources.iter_mut().zip(placement) {
                *source = source.filter(|_| lane.is_some());
            }
            merged(form, placement, sources);
        }
    }
    for placement in placements(2) {
        let form = masked(Shape::Halves, placement);
        for number in 0..144u8 {
            let source = |digit: u8| Some((digit / 3, digit % 3));
            let [x, y] =
                [(number % 12, 0), (number / 12, 1)].map(|(digit, i)| source(digit).filter(|_| placement[i].is_some()));
            merged(form, placement, [x, y, None, None]);
        }
    }
}
