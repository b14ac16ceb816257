//! [`Intrinsic`]: CUDA's SIMD intrinsics, as the CUDA Math API's manual lists them.
//!
//! The names are regular: an operation, `s` or `u` for the lanes' sign, `ss` or `us` for saturation, and 2 or 4 for the lanes; or for
//! the newer ones a type, `s16x2`, and `_relu`. [`Intrinsic::all`] writes them all. `__vibmax_…` and `__vibmin_…` are left out, as they
//! have results by reference.

use core::fmt;

use vop::Form;
use vop::isa::range::Range;
use vop::isa::types::Comparison;
use vop::lower::{PackedOp, Value};

use crate::code::{Code, Op, Width};
use crate::lanes::{Lanes, Term, Written, greatest, splat};
use crate::machine::{Machine, PLAIN};

/// What an intrinsic computes in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Meaning {
    Binary(PackedOp),
    Absdiff,
    /// The average of two, rounded away from zero if it is not negative, and down otherwise.
    Average,
    /// The average of two, rounded down.
    AverageDown,
    Absolute {
        saturates: bool,
    },
    Negative {
        saturates: bool,
    },
    /// 1 where the comparison holds, or all bits.
    Compare(Comparison, bool),
    SumOfDifferences,
    /// The greatest or the least of two or three, and then the greatest of that and 0.
    Extreme {
        greater: bool,
        three: bool,
        relu: bool,
    },
    /// The greatest or the least of a sum, modulo the lane's size, and a third, and then the greatest of that and 0.
    SumExtreme {
        greater: bool,
        relu: bool,
    },
}

/// A SIMD intrinsic of CUDA.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Intrinsic {
    name: String,
    meaning: Meaning,
    lanes: Range,
}

impl Intrinsic {
    /// All of them, in the order of their operations.
    pub fn all() -> Vec<Intrinsic> {
        let mut all = Vec::new();
        let mut add = |name: String, meaning: Meaning, signed: bool, bits: u32| {
            all.push(Intrinsic { name, meaning, lanes: Range::new(signed, bits) });
        };
        let shapes = [(2, 16), (4, 8)];
        let plain = [
            ("abs", Meaning::Absolute { saturates: false }, true),
            ("absss", Meaning::Absolute { saturates: true }, true),
            ("neg", Meaning::Negative { saturates: false }, true),
            ("negss", Meaning::Negative { saturates: true }, true),
            ("add", Meaning::Binary(PackedOp::Add), false),
            ("addss", Meaning::Binary(PackedOp::AddSat), true),
            ("addus", Meaning::Binary(PackedOp::AddSat), false),
            ("sub", Meaning::Binary(PackedOp::Sub), false),
            ("subss", Meaning::Binary(PackedOp::SubSat), true),
            ("subus", Meaning::Binary(PackedOp::SubSat), false),
            ("absdiffs", Meaning::Absdiff, true),
            ("absdiffu", Meaning::Absdiff, false),
            ("sads", Meaning::SumOfDifferences, true),
            ("sadu", Meaning::SumOfDifferences, false),
            ("avgs", Meaning::Average, true),
            ("avgu", Meaning::Average, false),
            ("haddu", Meaning::AverageDown, false),
            ("maxs", Meaning::Binary(PackedOp::Max), true),
            ("maxu", Meaning::Binary(PackedOp::Max), false),
            ("mins", Meaning::Binary(PackedOp::Min), true),
            ("minu", Meaning::Binary(PackedOp::Min), false),
        ];
        for (stem, meaning, signed) in plain {
            for (count, bits) in shapes {
                add(format!("__v{stem}{count}"), meaning, signed, bits);
            }
        }
        for (stem, fills) in [("cmp", true), ("set", false)] {
            for &comparison in Comparison::ALL {
                let signs: &[(&str, bool)] = match comparison {
                    Comparison::Eq | Comparison::Ne => &[("", false)],
                    _ => &[("s", true), ("u", false)],
                };
                for &(sign, signed) in signs {
                    for (count, bits) in shapes {
                        let name = format!("__v{stem}{}{sign}{count}", comparison.name());
                        add(name, Meaning::Compare(comparison, fills), signed, bits);
                    }
                }
            }
        }
        for (extreme, greater) in [("max", true), ("min", false)] {
            for (ty, signed, bits) in [("s16x2", true, 16), ("u16x2", false, 16), ("s32", true, 32), ("u32", false, 32)]
            {
                for relu in [false, true].into_iter().filter(|relu| signed || !relu) {
                    let end = if relu { "_relu" } else { "" };
                    if relu {
                        let meaning = Meaning::Extreme { greater, three: false, relu };
                        add(format!("__vi{extreme}_{ty}{end}"), meaning, signed, bits);
                    }
                    let meaning = Meaning::Extreme { greater, three: true, relu };
                    add(format!("__vi{extreme}3_{ty}{end}"), meaning, signed, bits);
                    add(format!("__viadd{extreme}_{ty}{end}"), Meaning::SumExtreme { greater, relu }, signed, bits);
                }
            }
        }
        all
    }

    /// The intrinsic of a name: `__vsubss4`.
    pub fn from_name(name: &str) -> Option<Intrinsic> {
        // Most texts that are asked about are none.
        name.strip_prefix("__v")?;
        Intrinsic::all().into_iter().find(|intrinsic| intrinsic.name == name)
    }

    /// The intrinsics that a form computes alone, with its operands a and b (and c, where the form adds to it).
    pub fn of_form(form: Form) -> Vec<Intrinsic> {
        Intrinsic::all().into_iter().filter(|one| one.is_form() && one.form() == Some(form)).collect()
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of parameters: words of 32 bits.
    pub fn parameters(&self) -> usize {
        match self.meaning {
            Meaning::Absolute { .. } | Meaning::Negative { .. } => 1,
            Meaning::Extreme { three: true, .. } | Meaning::SumExtreme { .. } => 3,
            _ => 2,
        }
    }

    /// The form that computes it, or most of it; see [`difference`](Intrinsic::difference). None for some on whole words.
    pub fn form(&self) -> Option<Form> {
        let count = match self.lanes.bits {
            8 => "4",
            16 => "2",
            _ => "",
        };
        let ty = if self.lanes.signed { ".s32" } else { ".u32" };
        let text = match self.meaning {
            Meaning::Binary(op) => {
                let (stem, sat) = match op {
                    PackedOp::Add => ("vadd", ""),
                    PackedOp::AddSat => ("vadd", ".sat"),
                    PackedOp::Sub => ("vsub", ""),
                    PackedOp::SubSat => ("vsub", ".sat"),
                    PackedOp::Min | PackedOp::MinRelu => ("vmin", ""),
                    PackedOp::Max | PackedOp::MaxRelu => ("vmax", ""),
                };
                format!("{stem}{count}{ty}{ty}{ty}{sat}")
            }
            Meaning::Absdiff => format!("vabsdiff{count}{ty}{ty}{ty}"),
            Meaning::Average | Meaning::AverageDown => format!("vavrg{count}{ty}{ty}{ty}"),
            Meaning::Absolute { saturates } => format!("vabsdiff{count}{ty}{ty}{ty}{}", sat(saturates)),
            Meaning::Negative { saturates } => format!("vsub{count}{ty}{ty}{ty}{}", sat(saturates)),
            Meaning::Compare(comparison, _) => format!("vset{count}{ty}{ty}{comparison}"),
            Meaning::SumOfDifferences => format!("vabsdiff{count}.u32{ty}{ty}.add"),
            Meaning::Extreme { greater, .. } | Meaning::SumExtreme { greater, .. } => {
                format!("{}{count}{ty}{ty}{ty}", if greater { "vmax" } else { "vmin" })
            }
        };
        text.parse().ok()
    }

    /// Whether the form computes the intrinsic from the same operands, c being 0 where it is added to.
    fn is_form(&self) -> bool {
        matches!(
            self.meaning,
            Meaning::Binary(_)
                | Meaning::Absdiff
                | Meaning::Average
                | Meaning::Compare(_, false)
                | Meaning::SumOfDifferences
        )
    }

    /// What is to be done beside the form, in a sentence; `None` if the form computes the intrinsic as it is.
    pub fn difference(&self) -> Option<String> {
        let fill = greatest(self.lanes.bits);
        Some(match self.meaning {
            Meaning::Binary(_) | Meaning::Absdiff | Meaning::Average | Meaning::Compare(_, false) => return None,
            Meaning::AverageDown => {
                "The form rounds up, and the intrinsic down: the average of the complements, complemented, is rounded down.".into()
            }
            Meaning::Absolute { .. } => "b of the form is a register that holds 0.".into(),
            Meaning::Negative { .. } => "a of the form is a register that holds 0, and b the operand.".into(),
            Meaning::Compare(_, true) => {
                format!("The form gives 1 in a lane where the intrinsic has all bits set: multiply by {fill:#x}.")
            }
            Meaning::SumOfDifferences => "The form adds the sum to c, which must be 0.".into(),
            Meaning::Extreme { three, relu, .. } => match (three, relu) {
                (true, true) => "The form is applied again to its result and the third, and negative results become 0.".into(),
                (true, false) => "The form is applied again to its result and the third.".into(),
                (false, _) => "Negative results become 0.".into(),
            },
            Meaning::SumExtreme { relu, .. } => {
                let relu = if relu { ", and negative results become 0" } else { "" };
                format!("Its first operand is the sum of the first two, modulo the lane's size{relu}.")
            }
        })
    }

    /// What it does, in one sentence.
    pub fn describe(&self) -> String {
        let sign = if self.lanes.signed { "signed" } else { "unsigned" };
        let lanes = match self.lanes.bits {
            8 => format!("four {sign} bytes"),
            16 => format!("two {sign} half-words"),
            _ => format!("{sign} words"),
        };
        let each = if self.lanes.bits == 32 { "of" } else { "in each lane of" };
        let range = |saturates: bool| match saturates {
            true => format!(", clamped to {} to {}", self.lanes.min(), self.lanes.max()),
            false => String::new(),
        };
        let relu = |relu: bool| if relu { ", but no less than 0" } else { "" };
        match self.meaning {
            Meaning::Binary(op) => {
                let what = match op {
                    PackedOp::Add | PackedOp::AddSat => "The sum",
                    PackedOp::Sub | PackedOp::SubSat => "The difference",
                    PackedOp::Min | PackedOp::MinRelu => "The lesser",
                    PackedOp::Max | PackedOp::MaxRelu => "The greater",
                };
                format!("{what} {each} {lanes}{}.", range(matches!(op, PackedOp::AddSat | PackedOp::SubSat)))
            }
            Meaning::Absdiff => format!("The absolute difference {each} {lanes}."),
            Meaning::Average => format!("The average {each} {lanes}, rounded away from zero if it is not negative."),
            Meaning::AverageDown => format!("The average {each} {lanes}, rounded down."),
            Meaning::Absolute { saturates } => format!("The absolute value {each} {lanes}{}.", range(saturates)),
            Meaning::Negative { saturates } => format!("The negative {each} {lanes}{}.", range(saturates)),
            Meaning::Compare(comparison, fills) => {
                let set = if fills { "all bits set" } else { "1" };
                format!("Compares {lanes}: {set} where a is {} b, else 0.", relation(comparison))
            }
            Meaning::SumOfDifferences => format!("The sum of the absolute differences of {lanes}."),
            Meaning::Extreme { greater, three, relu: clamps } => {
                let what = match (greater, three) {
                    (true, true) => "The greatest of three",
                    (true, false) => "The greater",
                    (false, true) => "The least of three",
                    (false, false) => "The lesser",
                };
                format!("{what} {each} {lanes}{}.", relu(clamps))
            }
            Meaning::SumExtreme { greater, relu: clamps } => {
                let what = if greater { "greater" } else { "lesser" };
                format!("The {what} of a + b, modulo the size, and c {each} {lanes}{}.", relu(clamps))
            }
        }
    }

    /// The plain operations that compute it.
    pub fn code(&self) -> Code {
        self.code_on(&PLAIN)
    }

    /// The operations that compute it on a machine.
    pub(crate) fn code_on(&self, machine: &'static Machine) -> Code {
        let lanes = self.lanes;
        let bits = lanes.bits;
        // What a form computes is as short as the form's.
        if let (true, Some(form)) = (self.is_form() && self.meaning != Meaning::SumOfDifferences, self.form())
            && let Some(code) = crate::code_on(form, vop::Semantics::Isa, machine)
        {
            return code;
        }
        let (a, b, c, zero) = (Value::A, Value::B, Value::C, Value::Word(0));
        let mut code = Code::default();
        let mut write = Written { code: &mut code, machine };
        let result = match self.meaning {
            Meaning::Binary(op) => write.packed(op, lanes, a, b),
            Meaning::Absdiff => write.absdiff_lanes(a, b, lanes),
            Meaning::Average => zero,
            Meaning::AverageDown => {
                let both = write.word(Op::And, a, b);
                let differ = write.word(Op::Xor, a, b);
                let upper = write.and(differ, splat(!1, bits));
                let half = write.shr(upper, 1);
                write.word(Op::Add, both, half)
            }
            Meaning::Absolute { saturates } => {
                // Turned where it is negative, and 1 more; nothing is carried, as what is turned is less than half of a lane.
                let down = write.shr(a, bits - 1);
                let one = write.and(down, splat(1, bits));
                let negative = write.word(Op::Mul, one, Value::Word(greatest(bits)));
                let turned = write.word(Op::Xor, a, negative);
                let size = write.word(Op::Add, turned, one);
                if saturates {
                    // 1 less where the highest bit is set, as it is of the least's.
                    let down = write.shr(size, bits - 1);
                    let over = write.and(down, splat(1, bits));
                    write.word(Op::Sub, size, over)
                } else {
                    size
                }
            }
            Meaning::Negative { saturates } => match saturates {
                true => write.saturated_lanes(true, zero, a, lanes),
                false => write.sub_lanes(zero, a, bits),
            },
            Meaning::Compare(..) => {
                let ones = match self.form().and_then(|form| crate::code_on(form, vop::Semantics::Isa, machine)) {
                    Some(ones) => write.appended(&ones),
                    None => zero,
                };
                write.word(Op::Mul, ones, Value::Word(greatest(bits)))
            }
            Meaning::SumOfDifferences => {
                let word = write.absdiff_lanes(a, b, lanes);
                let weights = if bits == 8 { [1; 4] } else { [1, 1, 0, 0] };
                write.dot(&[Term { word, lanes: Range::new(false, bits), weights }])
            }
            Meaning::Extreme { greater, three, relu } => {
                let first = write.extreme(greater, a, b, lanes);
                let all = if three { write.extreme(greater, first, c, lanes) } else { first };
                if relu { write.extreme(true, all, zero, lanes) } else { all }
            }
            Meaning::SumExtreme { greater, relu } => {
                let sum = if bits == 32 { write.word(Op::Add, a, b) } else { write.add_lanes(a, b, bits) };
                let all = write.extreme(greater, sum, c, lanes);
                if relu { write.extreme(true, all, zero, lanes) } else { all }
            }
        };
        code.finish(result)
    }

    /// Its value, lane by lane: a second definition, which tests compare with the first.
    pub fn eval(&self, a: u32, b: u32, c: u32) -> u32 {
        let Range { bits, .. } = self.lanes;
        let lane = |word: u32, i: u32| self.lanes.value_of(word >> (i * bits));
        let clamp = |value: i64| value.clamp(self.lanes.min(), self.lanes.max());
        let wrap = |value: i64| self.lanes.value_of(value as u32 & greatest(bits));
        let relu = |value: i64, relu: bool| if relu { value.max(0) } else { value };
        let mut word = 0u32;
        let mut sum = 0u32;
        for i in 0..32 / bits {
            let (x, y, z) = (lane(a, i), lane(b, i), lane(c, i));
            let extreme = |greater: bool, x: i64, y: i64| if greater { x.max(y) } else { x.min(y) };
            let value = match self.meaning {
                Meaning::Binary(op) => match op {
                    PackedOp::Add => x + y,
                    PackedOp::AddSat => clamp(x + y),
                    PackedOp::Sub => x - y,
                    PackedOp::SubSat => clamp(x - y),
                    PackedOp::Min | PackedOp::MinRelu => x.min(y),
                    PackedOp::Max | PackedOp::MaxRelu => x.max(y),
                },
                Meaning::Absdiff | Meaning::SumOfDifferences => (x - y).abs(),
                Meaning::Average => (x + y + i64::from(x + y >= 0)) >> 1,
                Meaning::AverageDown => (x + y) >> 1,
                Meaning::Absolute { saturates } => {
                    if saturates {
                        clamp(x.abs())
                    } else {
                        x.abs()
                    }
                }
                Meaning::Negative { saturates } => {
                    if saturates {
                        clamp(-x)
                    } else {
                        -x
                    }
                }
                Meaning::Compare(comparison, fills) => match (comparison.holds(x.cmp(&y)), fills) {
                    (false, _) => 0,
                    (true, false) => 1,
                    (true, true) => -1,
                },
                Meaning::Extreme { greater, three, relu: clamps } => {
                    let first = extreme(greater, x, y);
                    relu(if three { extreme(greater, first, z) } else { first }, clamps)
                }
                Meaning::SumExtreme { greater, relu: clamps } => relu(extreme(greater, wrap(x + y), z), clamps),
            };
            word |= (value as u32 & greatest(bits)) << (i * bits);
            sum = sum.wrapping_add(value as u32);
        }
        if self.meaning == Meaning::SumOfDifferences { sum } else { word }
    }
}

impl fmt::Display for Intrinsic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn sat(saturates: bool) -> &'static str {
    if saturates { ".sat" } else { "" }
}

fn relation(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "equal to",
        Comparison::Ne => "not",
        Comparison::Lt => "less than",
        Comparison::Le => "at most",
        Comparison::Gt => "greater than",
        Comparison::Ge => "at least",
    }
}

impl Written<'_> {
    /// The greater or the lesser, of words or of lanes.
    fn extreme(&mut self, greater: bool, x: Value, y: Value, lanes: Range) -> Value {
        match lanes.bits {
            32 => self.bound(greater, Width::Word, lanes.signed, x, y),
            _ => self.bound_lanes(greater, x, y, lanes),
        }
    }

    /// The operations of other code, and its result.
    fn appended(&mut self, other: &Code) -> Value {
        let mut values: Vec<Value> = Vec::new();
        let of = |value: Value, values: &[Value]| value.as_step().map_or(value, |number| values[number]);
        for (op, operands) in other.steps() {
            let operands: Vec<Value> = operands.iter().map(|&operand| of(operand, &values)).collect();
            values.push(self.code.push(*op, &operands));
        }
        of(other.result(), &values)
    }
}
