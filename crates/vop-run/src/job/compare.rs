//! Compares buffers with files that hold what they should be.

use std::path::PathBuf;

use vop_arrays::{Array, Element};

use super::value::{self, Number};
use crate::types::mask;

/// How far an element may be from the expected one. It is right if it is within either bound. NaN equals NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// The greatest absolute difference.
    pub absolute: f64,
    /// The greatest number of steps from one float to the next between the two; integers have none.
    pub ulps: u64,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The buffer.
    pub buffer: String,
    /// The file of the expected elements.
    pub file: PathBuf,
    /// How many elements both have.
    pub elements: usize,
    /// How many of them are not within the tolerance.
    pub differing: usize,
    /// The first that is not.
    pub first: Option<Difference>,
    /// The greatest absolute difference of an element, within the tolerance or not; NaN if one of the two is NaN.
    pub greatest: f64,
}

/// Two elements at the same place that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The place: an index for each axis.
    pub index: Vec<usize>,
    /// The buffer's element.
    pub found: String,
    /// The file's element.
    pub expected: String,
}

/// Compares a buffer's bytes with an array of the same type and shape.
pub(super) fn compare(buffer: &str, found: &[u8], file: PathBuf, expected: &Array, tolerance: Tolerance) -> Comparison {
    let ty = expected.description.element;
    let size = ty.size();
    let mut comparison = Comparison {
        buffer: buffer.to_owned(),
        file,
        elements: expected.bytes.len() / size,
        differing: 0,
        first: None,
        greatest: 0.0,
    };
    let pairs = found.chunks_exact(size).zip(expected.bytes.chunks_exact(size)).enumerate();
    for (at, (found, expected_element)) in pairs.filter(|(_, (found, expected))| found != expected) {
        let distance = distance(ty, found, expected_element);
        // A NaN stays.
        if distance.absolute > comparison.greatest || distance.absolute.is_nan() {
            comparison.greatest = distance.absolute;
        }
        if distance.absolute <= tolerance.absolute || distance.ulps <= tolerance.ulps {
            continue;
        }
        comparison.differing += 1;
        comparison.first.get_or_insert_with(|| Difference {
            index: index(at, &expected.description.shape),
            found: value::show(ty, found),
            expected: value::show(ty, expected_element),
        });
    }
    comparison
}

/// How far two elements are from each other.
fn distance(ty: Element, a: &[u8], b: &[u8]) -> Tolerance {
    match (value::read(ty, a), value::read(ty, b)) {
        (Number::Float(x), Number::Float(y)) => {
            if x == y || (x.is_nan() && y.is_nan()) {
                return Tolerance::default();
            }
            let ulps = if x.is_finite() && y.is_finite() { rank(a).abs_diff(rank(b)) } else { u64::MAX };
            Tolerance { absolute: (x - y).abs(), ulps }
        }
        (Number::Integer(x), Number::Integer(y)) => {
            Tolerance { absolute: Number::Integer((x - y).abs()).to_f64(), ulps: u64::MAX }
        }
        _ => Tolerance { absolute: f64::NAN, ulps: u64::MAX },
    }
}

/// The place of a float among all of its type, 0 being that of zero.
fn rank(bytes: &[u8]) -> i64 {
    let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    let sign = 8 * bytes.len() as u32 - 1;
    let magnitude = (bits & mask(sign)) as i64;
    if bits >> sign == 0 { magnitude } else { -magnitude }
}

/// The indexes, axis by axis, of an element in C order.
fn index(mut at: usize, shape: &[u64]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (axis, len) in index.iter_mut().zip(shape).rev() {
        // An array with elements has no axis of length 0, and its lengths fit memory.
        let len = *len as usize;
        *axis = at % len;
        at /= len;
    }
    index
}

#[cfg(test)]
mod tests {
    use vop_arrays::Description;

    use super::*;

    fn compared(ty: Element, found: &[&str], expected: &[&str], absolute: f64, ulps: u64) -> Comparison {
        let bytes = |texts: &[&str]| value::bytes(ty, texts.iter().map(|text| value::parse(text, ty).unwrap()));
        let description = Description { element: ty, shape: vec![expected.len() as u64 / 2, 2] };
        let expected = Array { description, bytes: bytes(expected) };
        compare("out", &bytes(found), "expected.npy".into(), &expected, Tolerance { absolute, ulps })
    }

    #[test]
    fn the_first_difference_is_told_and_all_are_counted() {
        let found = compared(Element::I16, &["1", "2", "3", "-4", "5", "6"], &["1", "2", "3", "4", "5", "7"], 0.0, 0);
        assert_eq!((found.elements, found.differing, found.greatest), (6, 2, 8.0));
        let first = Difference { index: vec![1, 1], found: "-4".into(), expected: "4".into() };
        assert_eq!(found.first, Some(first));
    }

    #[test]
    fn an_element_within_either_bound_is_right() {
        let one = "1.0000001"; // the single after 1
        for (ty, found, expected, absolute, ulps, differing) in [
            (Element::F32, one, "1", 0.0, 0, 1),
            (Element::F32, one, "1", 0.0, 1, 0),
            (Element::F32, one, "1", 1e-6, 0, 0),
            (Element::F32, "-1e-45", "1e-45", 0.0, 1, 1),
            (Element::F32, "-1e-45", "1e-45", 0.0, 2, 0),
            (Element::F32, "-0", "0", 0.0, 0, 0),
            (Element::F32, "nan", "nan", 0.0, 0, 0),
            (Element::F32, "nan", "1", f64::MAX, u64::MAX - 1, 1),
            (Element::F32, "inf", "3.4028235e38", 0.0, 1, 1),
            (Element::F16, "1.001", "1", 0.0, 1, 0),
            (Element::F64, "1.0000000000000002", "1", 0.0, 1, 0),
            (Element::U8, "7", "9", 2.0, 0, 0),
            (Element::U8, "7", "9", 1.0, 5, 1),
            (Element::U64, "18446744073709551615", "0", 1.0, 0, 1),
        ] {
            let found_element = compared(ty, &[found, found], &[expected, expected], absolute, ulps);
            assert_eq!(found_element.differing, 2 * differing, "{found} and {expected} as {ty:?}");
        }
    }
}
