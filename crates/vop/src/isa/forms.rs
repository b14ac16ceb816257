//! Iteration over all forms of a mnemonic, in a fixed order that any index can be asked of.

use super::form::{DestinationSelector, Form, MadMode, Modifiers};
use super::table::{Axis, Mnemonic};
use super::types::{Comparison, Mask, Part, Scale, Secondary, Selector, Shape, ShiftMode, Type};

/// All forms of a mnemonic, by [`Mnemonic::forms`]: an iterator whose [`nth`](Iterator::nth) and
/// [`get`](Forms::get) take constant time, so that a SIMD mnemonic's billions can be sampled.
#[derive(Debug, Clone)]
pub struct Forms {
    mnemonic: Mnemonic,
    next: u64,
    end: u64,
}

impl Mnemonic {
    /// All its forms, each once.
    ///
    /// Counts: 7,840 for `vadd` and its like and for the shifts, 16,464 for `vmad`, 11,760 for `vset`; 18,432 for
    /// `vadd2` and its like, 36,864 for `vset2`; 6,039,797,760 for `vadd4` and its like, 12,079,595,520 for `vset4`.
    pub fn forms(self) -> Forms {
        Forms { mnemonic: self, next: 0, end: Axes::new(self).count() }
    }

    /// Its forms that have default selectors on a and b, each once.
    pub fn forms_with_default_selectors(self) -> impl Iterator<Item = Form> {
        let selectors = Axes::new(self).selector.pow(2);
        // Selectors are the last digits of the index.
        self.forms().step_by(usize::try_from(selectors).unwrap_or(usize::MAX)).map(Form::with_default_selectors)
    }
}

/// All 83,104 scalar forms.
pub fn scalar_forms() -> impl Iterator<Item = Form> {
    Mnemonic::ALL.into_iter().filter(|mnemonic| !mnemonic.shape().is_simd()).flat_map(Mnemonic::forms)
}

impl Forms {
    /// The `index`-th form of the mnemonic, counted from the first whatever the iterator has yielded.
    pub fn get(&self, index: u64) -> Option<Form> {
        let axes = Axes::new(self.mnemonic);
        (index < axes.count()).then(|| axes.form(self.mnemonic, index))
    }

    /// How many are left; like `len`, which a 32-bit `usize` could not hold.
    pub fn count_left(&self) -> u64 {
        self.end - self.next
    }
}

impl Iterator for Forms {
    type Item = Form;

    fn next(&mut self) -> Option<Form> {
        self.nth(0)
    }

    fn nth(&mut self, n: usize) -> Option<Form> {
        let index = self.next.checked_add(n as u64).filter(|&index| index < self.end);
        self.next = index.map_or(self.end, |index| index + 1);
        index.and_then(|index| self.get(index))
    }

    fn count(self) -> usize {
        usize::try_from(self.count_left()).unwrap_or(usize::MAX)
    }

    fn last(self) -> Option<Form> {
        self.get(self.end.checked_sub(1)?).filter(|_| self.next < self.end)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.count_left());
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

/// How many values each independent choice has; their product is the number of forms.
struct Axes {
    types: u64,
    /// `.sat`, and in SIMD forms `.add`, which excludes it.
    saturation: u64,
    /// Comparison, shift mode, or `vmad`'s signs and scale.
    variant: u64,
    /// Scalar: no c, three secondary operations, six merges. SIMD: the masks.
    finish: u64,
    selector: u64,
}

impl Axes {
    fn new(mnemonic: Mnemonic) -> Axes {
        let shape = mnemonic.shape();
        let accumulate = mnemonic.allows(Axis::Accumulate);
        Axes {
            types: (if mnemonic.allows(Axis::Dtype) { 2 } else { 1 })
                * 2
                * (if mnemonic.allows(Axis::Btype) { 2 } else { 1 }),
            saturation: 1 + u64::from(mnemonic.allows(Axis::Sat)) + u64::from(accumulate),
            variant: if mnemonic.allows(Axis::Comparison) {
                Comparison::ALL.len() as u64
            } else if mnemonic.allows(Axis::ShiftMode) {
                ShiftMode::ALL.len() as u64
            } else if mnemonic.allows(Axis::Scale) {
                (MadMode::ALL.len() * (1 + Scale::ALL.len())) as u64
            } else {
                1
            },
            finish: if shape.is_simd() {
                (1 << shape.lanes()) - 1
            } else if mnemonic.allows(Axis::Secondary) {
                (1 + Secondary::ALL.len() + Part::ALL.len()) as u64
            } else {
                1
            },
            selector: match shape {
                Shape::Scalar => 1 + Part::ALL.len() as u64,
                Shape::Halves => 4u64.pow(2),
                Shape::Bytes => 8u64.pow(4),
            },
        }
    }

    fn count(&self) -> u64 {
        self.types * self.saturation * self.variant * self.finish * self.selector * self.selector
    }

    fn form(&self, mnemonic: Mnemonic, mut index: u64) -> Form {
        let mut digit = |base: u64| {
            let digit = (index % base) as usize;
            index /= base;
            digit
        };
        let shape = mnemonic.shape();
        let bsel = selector(shape, digit(self.selector));
        let asel = selector(shape, digit(self.selector));
        let finish = digit(self.finish);
        let variant = digit(self.variant);
        let saturation = digit(self.saturation);
        let types = digit(self.types);

        let mut wanted = Modifiers { asel: Some(asel), bsel: Some(bsel), ..Modifiers::default() };
        // Where b's type is fixed it is the last, and stays `.u32`.
        let mut list = [Type::U32; 3];
        let free = mnemonic.types() - usize::from(!mnemonic.allows(Axis::Btype));
        for (i, place) in list[..free].iter_mut().enumerate() {
            *place = Type::ALL[types >> i & 1];
        }
        wanted.types = &list[..mnemonic.types()];

        if mnemonic.allows(Axis::Comparison) {
            wanted.comparison = Some(Comparison::ALL[variant]);
        } else if mnemonic.allows(Axis::ShiftMode) {
            wanted.shift_mode = Some(ShiftMode::ALL[variant]);
        } else if mnemonic.allows(Axis::Scale) {
            let mode = MadMode::ALL[variant / (1 + Scale::ALL.len())];
            wanted.plus_one = mode == MadMode::PlusOne;
            wanted.minuses = mode.minuses();
            wanted.scale = (variant % (1 + Scale::ALL.len())).checked_sub(1).map(|i| Scale::ALL[i]);
        }
        if shape.is_simd() {
            wanted.dsel = Mask::new(finish as u8 + 1, shape).map(DestinationSelector::Mask);
            // The last value is the accumulation, also where there is no saturation before it.
            let accumulate = saturation + 1 == self.saturation as usize;
            wanted.secondary = accumulate.then_some(Secondary::Add);
            wanted.sat = saturation == 1 && !accumulate;
        } else {
            wanted.sat = saturation == 1;
            wanted.secondary = finish.checked_sub(1).and_then(|i| Secondary::ALL.get(i)).copied();
            wanted.dsel = finish.checked_sub(1 + Secondary::ALL.len()).map(|i| DestinationSelector::Part(Part::ALL[i]));
        }
        Form::new(mnemonic, &wanted).expect("the axes combine to legal forms alone")
    }
}

fn selector(shape: Shape, index: usize) -> Selector {
    match shape {
        Shape::Scalar => index.checked_sub(1).map_or(Selector::Word, |i| Selector::Part(Part::ALL[i])),
        Shape::Halves => Selector::Halves([index as u8 & 3, (index >> 2) as u8 & 3]),
        Shape::Bytes => Selector::Bytes([0, 3, 6, 9].map(|shift| (index >> shift) as u8 & 7)),
    }
}
