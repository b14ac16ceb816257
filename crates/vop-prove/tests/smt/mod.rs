//! A small evaluator of SMT-LIB terms: it tells what a term's value is, without a solver.

#![allow(dead_code, reason = "each test uses some of it")]

use std::collections::HashMap;

use vop::lower::Query;

/// A value: a word of a given number of bits, or a truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    Bool(bool),
    Vector { bits: u32, value: u128 },
}

/// A vector of the lower bits of a value.
pub(crate) fn vector(bits: u32, value: u128) -> Value {
    Value::Vector { bits, value: value & ones(bits) }
}

fn ones(bits: u32) -> u128 {
    if bits == 128 { u128::MAX } else { (1 << bits) - 1 }
}

impl Value {
    pub(crate) fn bool(self) -> bool {
        match self {
            Value::Bool(value) => value,
            Value::Vector { .. } => panic!("{self:?} is no truth value"),
        }
    }

    fn parts(self) -> (u32, u128) {
        match self {
            Value::Vector { bits, value } => (bits, value),
            Value::Bool(_) => panic!("{self:?} is no vector"),
        }
    }

    /// Its bits as an unsigned number; of a truth value 0 or 1.
    pub(crate) fn number(self) -> u128 {
        match self {
            Value::Bool(value) => value.into(),
            Value::Vector { value, .. } => value,
        }
    }

    fn signed(self) -> i128 {
        let (bits, value) = self.parts();
        (value << (128 - bits)) as i128 >> (128 - bits)
    }
}

/// What names stand for.
pub(crate) type Names = HashMap<String, Value>;

#[derive(Debug, Clone)]
enum Tree<'t> {
    Atom(&'t str),
    List(Vec<Tree<'t>>),
}

fn read<'t>(text: &'t str) -> Vec<Tree<'t>> {
    let mut stack: Vec<Vec<Tree<'t>>> = vec![Vec::new()];
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { break };
        let end = match first {
            '(' => {
                stack.push(Vec::new());
                1
            }
            ')' => {
                let list = stack.pop().expect("a list ends that began");
                stack.last_mut().expect("and not the outermost").push(Tree::List(list));
                1
            }
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(rest.len());
                stack.last_mut().expect("never empty").push(Tree::Atom(&rest[..end]));
                end
            }
        };
        rest = &rest[end..];
    }
    assert_eq!(stack.len(), 1, "all lists end");
    stack.remove(0)
}

/// The value of a term.
pub(crate) fn value(term: &str, names: &Names) -> Value {
    match &read(term)[..] {
        [one] => of(one, names),
        other => panic!("{other:?} is not one term"),
    }
}

/// Whether an assignment of a query's constants is a counterexample: all its assertions hold.
pub(crate) fn refutes(query: &Query, mut names: Names) -> bool {
    let mut holds = true;
    for command in query.commands() {
        let trees = read(&command);
        let [Tree::List(parts)] = &trees[..] else { panic!("{command} is no command") };
        match &parts[..] {
            [Tree::Atom("declare-const"), Tree::Atom(name), _] => {
                assert!(names.contains_key(*name), "{name} has a value");
            }
            [Tree::Atom("define-fun"), Tree::Atom(name), Tree::List(none), sort, term] if none.is_empty() => {
                let value = of(term, &names);
                let sorts_agree = match (sort, value) {
                    (Tree::Atom("Bool"), Value::Bool(_)) => true,
                    (Tree::List(list), Value::Vector { bits, .. }) => {
                        matches!(list[..], [_, _, Tree::Atom(number)] if number == bits.to_string())
                    }
                    _ => false,
                };
                assert!(sorts_agree, "{command}");
                names.insert(name.to_string(), value);
            }
            [Tree::Atom("assert"), term] => holds &= of(term, &names).bool(),
            _ => panic!("{command}"),
        }
    }
    holds
}

fn of(tree: &Tree<'_>, names: &Names) -> Value {
    let list = match tree {
        Tree::Atom("true") => return Value::Bool(true),
        Tree::Atom("false") => return Value::Bool(false),
        Tree::Atom(text) => {
            let constant = |digits: &str, radix, bits| {
                vector(digits.len() as u32 * bits, u128::from_str_radix(digits, radix).expect("digits"))
            };
            return match (text.strip_prefix("#x"), text.strip_prefix("#b")) {
                (Some(digits), _) => constant(digits, 16, 4),
                (_, Some(digits)) => constant(digits, 2, 1),
                _ => *names.get(*text).unwrap_or_else(|| panic!("{text} is not declared")),
            };
        }
        Tree::List(list) => list,
    };
    let number = |tree: &Tree<'_>| match tree {
        Tree::Atom(text) => text.parse::<u32>().expect("a number"),
        Tree::List(_) => panic!("{tree:?} is no number"),
    };
    match &list[0] {
        Tree::List(indexed) => {
            let (bits, value) = of(&list[1], names).parts();
            match (&indexed[1], &indexed[2..]) {
                (Tree::Atom("extract"), [high, low]) => {
                    let (high, low) = (number(high), number(low));
                    assert!(high >= low && high < bits, "{tree:?}");
                    vector(high - low + 1, value >> low)
                }
                (Tree::Atom("zero_extend"), [more]) => vector(bits + number(more), value),
                (Tree::Atom("sign_extend"), [more]) => {
                    vector(bits + number(more), vector(bits, value).signed() as u128)
                }
                other => panic!("{other:?}"),
            }
        }
        Tree::Atom("let") => {
            let Tree::List(bindings) = &list[1] else { panic!("{tree:?}") };
            let mut inner = names.clone();
            for binding in bindings {
                let Tree::List(pair) = binding else { panic!("{tree:?}") };
                let Tree::Atom(name) = pair[0] else { panic!("{tree:?}") };
                inner.insert(name.to_string(), of(&pair[1], names));
            }
            of(&list[2], &inner)
        }
        Tree::Atom(name) => {
            let values: Vec<Value> = list[1..].iter().map(|tree| of(tree, names)).collect();
            apply(name, &values)
        }
    }
}

fn apply(name: &str, values: &[Value]) -> Value {
    let same = || {
        let (bits, _) = values[0].parts();
        assert!(values.iter().all(|value| value.parts().0 == bits), "{name} of {values:?}");
        bits
    };
    let fold = |function: fn(u128, u128) -> u128| {
        let bits = same();
        let all = values.iter().map(|value| value.number()).reduce(|x, y| function(x, y) & ones(bits));
        vector(bits, all.expect("operands"))
    };
    let compare = |function: fn(&i128, &i128) -> bool, signed: bool| {
        same();
        let of = |value: Value| if signed { value.signed() } else { value.number() as i128 };
        Value::Bool(function(&of(values[0]), &of(values[1])))
    };
    match name {
        "concat" => values.iter().fold(vector(0, 0), |all, value| {
            let ((high, x), (low, y)) = (all.parts(), value.parts());
            Value::Vector { bits: high + low, value: x << low | y }
        }),
        "bvand" => fold(|x, y| x & y),
        "bvor" => fold(|x, y| x | y),
        "bvxor" => fold(|x, y| x ^ y),
        "bvadd" => fold(u128::wrapping_add),
        "bvsub" => fold(u128::wrapping_sub),
        "bvmul" => fold(u128::wrapping_mul),
        "bvnot" => vector(same(), !values[0].number()),
        "bvneg" => vector(same(), values[0].number().wrapping_neg()),
        "bvshl" => {
            let (bits, amount) = (same(), values[1].number());
            vector(bits, if amount >= bits.into() { 0 } else { values[0].number() << amount })
        }
        "bvlshr" => {
            let (bits, amount) = (same(), values[1].number());
            vector(bits, if amount >= bits.into() { 0 } else { values[0].number() >> amount })
        }
        "bvashr" => {
            let (bits, amount) = (same(), values[1].number());
            vector(bits, (values[0].signed() >> amount.min(127)) as u128)
        }
        "bvult" => compare(i128::lt, false),
        "bvule" => compare(i128::le, false),
        "bvugt" => compare(i128::gt, false),
        "bvuge" => compare(i128::ge, false),
        "bvslt" => compare(i128::lt, true),
        "bvsle" => compare(i128::le, true),
        "bvsgt" => compare(i128::gt, true),
        "bvsge" => compare(i128::ge, true),
        "=" => {
            if let Value::Vector { .. } = values[0] {
                same();
            }
            Value::Bool(values[0] == values[1])
        }
        "not" => Value::Bool(!values[0].bool()),
        "and" => Value::Bool(values.iter().all(|value| value.bool())),
        "or" => Value::Bool(values.iter().any(|value| value.bool())),
        "ite" => {
            let [_, yes, no] = values else { panic!("ite of {values:?}") };
            if let (Value::Vector { bits: x, .. }, Value::Vector { bits: y, .. }) = (yes, no) {
                assert_eq!(x, y, "ite of {values:?}");
            }
            if values[0].bool() { *yes } else { *no }
        }
        _ => panic!("{name} is not known"),
    }
}
