//! Launches that are repeated with changing numbers:
//!
//! ```toml
//! [[launch]]
//! for  = { size = [2, 4, 4], half = { from = 4, to = 1, times = 2 } }    # lists of one length, or ranges, which go together
//! grid = "size"
//! args = ["data", { u32 = "half" }]
//! ```
//!
//! A name of a number stands where a number is wanted, as a string.

use std::collections::BTreeMap;

use toml::{Spanned, Value};

use crate::error::RunError;

/// Numbers of one range; more are no sensible file.
const MAX_NUMBERS: usize = 100_000;

/// By name the numbers of all repetitions: lists of one length.
#[derive(Debug)]
pub(super) struct Numbers<'a>(Vec<(&'a String, &'a Spanned<Value>, Vec<Value>)>);

impl<'a> Numbers<'a> {
    /// Reads `for`. An error is made of a place and what is wrong there.
    pub(super) fn read(
        table: &'a Spanned<BTreeMap<String, Spanned<Value>>>,
        wrong: impl Fn(&Spanned<Value>, String) -> RunError,
    ) -> Result<Numbers<'a>, RunError> {
        let mut all: Vec<(&String, &Spanned<Value>, Vec<Value>)> = Vec::new();
        for (name, spec) in table.get_ref() {
            let mut letters = name.chars();
            let is_name = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
                && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
            // These are numbers themselves.
            let is_number = ["inf", "infinity", "nan"].iter().any(|number| name.eq_ignore_ascii_case(number));
            if !is_name || is_number {
                let message = format!("`{name}` is no name of a number: write letters, digits and `_`");
                return Err(wrong(spec, message));
            }
            let numbers = list(spec.get_ref()).map_err(|why| wrong(spec, why))?;
            if let Some((other, _, first)) = all.first()
                && first.len() != numbers.len()
            {
                let (one, two) = (first.len(), numbers.len());
                return Err(wrong(spec, format!("`{name}` has {two} numbers and `{other}` {one}: they go together")));
            }
            all.push((name, spec, numbers));
        }
        Ok(Numbers(all))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (&'a String, &'a Spanned<Value>)> {
        self.0.iter().map(|(name, at, _)| (*name, *at))
    }

    /// The number of repetitions.
    pub(super) fn len(&self) -> usize {
        self.0.first().map_or(1, |(_, _, numbers)| numbers.len())
    }

    /// The numbers of one repetition.
    pub(super) fn round(&self, round: usize) -> Vec<(String, Value)> {
        let one = self.0.iter().filter_map(|(name, _, numbers)| Some(((*name).clone(), numbers.get(round)?.clone())));
        one.collect()
    }
}

/// The numbers of `[1, 2, 4]`, `{ from = 0, to = 9 }`, `{ from = 9, to = 0, step = -3 }` or `{ from = 1, to = 1024, times = 2 }`.
fn list(spec: &Value) -> Result<Vec<Value>, String> {
    const WANTED: &str =
        "numbers are a list, `[1, 2, 4]`, or a range, `{ from = 0, to = 9 }`, perhaps with `step` or `times`";
    match spec {
        Value::Array(list) => {
            let numbers = !list.is_empty() && list.iter().all(|value| value.is_integer() || value.is_float());
            if numbers { Ok(list.clone()) } else { Err(WANTED.to_owned()) }
        }
        Value::Table(range) => {
            let number = |key: &str| range.get(key).map(|value| value.as_integer().ok_or(WANTED)).transpose();
            let known = range.keys().all(|key| matches!(key.as_str(), "from" | "to" | "step" | "times"));
            let (Some(from), Some(to), true) = (number("from")?, number("to")?, known) else {
                return Err(WANTED.to_owned());
            };
            let next: Box<dyn Fn(i64) -> Option<i64>> = match (number("step")?, number("times")?) {
                (Some(_), Some(_)) => return Err("a range has `step` or `times`, not both".to_owned()),
                (None, Some(times)) => {
                    if times < 2 || from < 1 || to < 1 {
                        return Err(
                            "with `times`, which is 2 or more, a range goes from one positive number to another"
                                .to_owned(),
                        );
                    }
                    // Down where the end is smaller.
                    if from > to { Box::new(move |n| Some(n / times)) } else { Box::new(move |n| n.checked_mul(times)) }
                }
                (step, None) => {
                    let step = step.unwrap_or(if from > to { -1 } else { 1 });
                    if step == 0 || (step > 0) != (from <= to) && from != to {
                        return Err(format!("steps of {step} do not lead from {from} to {to}"));
                    }
                    Box::new(move |n| n.checked_add(step))
                }
            };
            let inside = |n: &i64| if from <= to { (from..=to).contains(n) } else { (to..=from).contains(n) };
            let numbers: Vec<i64> =
                std::iter::successors(Some(from), |n| next(*n).filter(inside)).take(MAX_NUMBERS + 1).collect();
            if numbers.len() > MAX_NUMBERS {
                return Err(format!("more than {MAX_NUMBERS} launches"));
            }
            Ok(numbers.into_iter().map(Value::Integer).collect())
        }
        _ => Err(WANTED.to_owned()),
    }
}

/// Whether a name stands in a value.
pub(super) fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text == name,
        Value::Array(list) => list.iter().any(|value| mentions(value, name)),
        Value::Table(table) => table.values().any(|value| mentions(value, name)),
        _ => false,
    }
}

/// A value with numbers in the places of their names.
pub(super) fn put(value: &Value, round: &[(String, Value)]) -> Value {
    match value {
        Value::String(text) => round.iter().find(|(name, _)| name == text).map_or(value, |(_, number)| number).clone(),
        Value::Array(list) => Value::Array(list.iter().map(|value| put(value, round)).collect()),
        Value::Table(table) => {
            Value::Table(table.iter().map(|(key, value)| (key.clone(), put(value, round))).collect())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (text, expected) in [
            ("[3, 1, 2]", Some(vec![3, 1, 2])),
            ("{ from = 0, to = 3 }", Some(vec![0, 1, 2, 3])),
            ("{ from = 3, to = 1 }", Some(vec![3, 2, 1])),
            ("{ from = -2, to = 5, step = 3 }", Some(vec![-2, 1, 4])),
            ("{ from = 5, to = -2, step = -3 }", Some(vec![5, 2, -1])),
            ("{ from = 1, to = 9, times = 2 }", Some(vec![1, 2, 4, 8])),
            ("{ from = 9, to = 1, times = 2 }", Some(vec![9, 4, 2, 1])),
            ("{ from = 7, to = 7 }", Some(vec![7])),
            ("{ from = 7, to = 7, step = -1 }", Some(vec![7])),
            ("{ from = 9223372036854775806, to = 9223372036854775807, step = 1 }", Some(vec![i64::MAX - 1, i64::MAX])),
            ("{ from = 4611686018427387904, to = 9223372036854775807, times = 2 }", Some(vec![1 << 62])),
            ("{ from = 0, to = 9, step = 0 }", None),
            ("{ from = 0, to = 9, step = -1 }", None),
            ("{ from = 9, to = 0, step = 1 }", None),
            ("{ from = 0, to = 9, times = 2 }", None),
            ("{ from = 1, to = 9, times = 1 }", None),
            ("{ from = 1, to = 9, times = 2, step = 1 }", None),
            ("{ from = 1, to = 9223372036854775807 }", None),
            ("{ from = 1, too = 9 }", None),
            ("{ from = 1 }", None),
            ("{ from = 1.5, to = 9 }", None),
            ("[]", None),
            ("[1, \"x\"]", None),
            ("8", None),
        ] {
            let table: toml::Table = toml::from_str(&format!("n = {text}")).unwrap();
            let found = list(&table["n"]).ok();
            let expected = expected.map(|list| list.into_iter().map(Value::Integer).collect::<Vec<_>>());
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn numbers_take_the_places_of_their_names() {
        let table: toml::Table =
            toml::from_str(r#"v = ["i", { u32 = "i" }, [{ f32 = ["j", "k"] }], { address = "b", offset = "i" }]"#)
                .unwrap();
        let round = [("i".to_owned(), Value::Integer(4)), ("j".to_owned(), Value::Float(0.5))];
        let put = put(&table["v"], &round);
        let expected: toml::Table =
            toml::from_str(r#"v = [4, { u32 = 4 }, [{ f32 = [0.5, "k"] }], { address = "b", offset = 4 }]"#).unwrap();
        assert_eq!(put, expected["v"]);
        assert!(mentions(&table["v"], "k") && !mentions(&table["v"], "f32"));
    }
}
