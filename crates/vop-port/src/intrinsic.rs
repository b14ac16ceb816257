//! CUDA's intrinsics as plain operations. [`vop::Intrinsic`] says what each computes.

use vop::Intrinsic;
use vop::intrinsic::Meaning;
use vop::isa::range::Range;
use vop::lower::Value;

use crate::base::{Base, Idiom, idiom};
use crate::code::{Code, Op, Width};
use crate::lanes::{Lanes, Term, Written, greatest, splat};
use crate::machine::{self, Machine};

/// The plain operations that compute an intrinsic, without long words if `has_long` is false.
///
/// ```
/// let intrinsic = vop::Intrinsic::from_name("__vhaddu4").unwrap();
/// assert_eq!(vop_port::code_of_intrinsic(&intrinsic, true).operations(), 5);
/// ```
pub fn code_of_intrinsic(intrinsic: &Intrinsic, has_long: bool) -> Code {
    code_on(intrinsic, machine::plain_with(has_long))
}

/// The operations that compute an intrinsic on a machine.
pub(crate) fn code_on(intrinsic: &Intrinsic, machine: &'static Machine) -> Code {
    let lanes = intrinsic.lanes();
    let bits = lanes.bits;
    // What a form computes is as short as the form's.
    if intrinsic.is_form()
        && intrinsic.is_simd()
        && intrinsic.meaning() != Meaning::SumOfDifferences
        && let Some(code) = intrinsic.form().and_then(|form| crate::code_on(form, vop::Semantics::Isa, machine))
    {
        return code;
    }
    let (a, b, c, zero) = (Value::A, Value::B, Value::C, Value::Word(0));
    let mut code = Code::default();
    let mut write = Written { code: &mut code, machine };
    let result = match intrinsic.meaning() {
        Meaning::Base(_)
        | Meaning::FunnelShift { .. }
        | Meaning::Reversed
        | Meaning::Ones
        | Meaning::LeadingZeros
        | Meaning::HighProduct
        | Meaning::Product24 => {
            let base = intrinsic.instruction().and_then(|text| Base::from_text(&text));
            return base.map_or_else(Code::default, |base| base.code_on(machine));
        }
        Meaning::BytePermutation => return of_idiom(Idiom::Bytes, machine),
        Meaning::FirstOne => return of_idiom(Idiom::FirstOne, machine),
        Meaning::Binary(op) => write.packed(op, lanes, a, b),
        Meaning::Absdiff => write.absdiff_lanes(a, b, lanes),
        Meaning::Average => zero,
        Meaning::AverageDown => {
            let both = write.word(Op::And, a, b);
            let half = write.half_of_difference(a, b, lanes);
            write.word(Op::Add, both, half)
        }
        Meaning::AverageUp => {
            let either = write.word(Op::Or, a, b);
            let half = write.half_of_difference(a, b, lanes);
            write.word(Op::Sub, either, half)
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
            let ones = intrinsic.form().and_then(|form| crate::code_on(form, vop::Semantics::Isa, machine));
            let ones = ones.map_or(zero, |ones| write.appended(&ones));
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

/// The function's name: the intrinsic's without underscores in front, as such names belong to compilers. Other languages have functions
/// of their own that are called `clz` or `hadd`; so an integer intrinsic has `cuda_` in front, and its first type behind if it is
/// overloaded.
pub(crate) fn function_name(intrinsic: &Intrinsic) -> String {
    let bare = intrinsic.name().trim_start_matches('_');
    if intrinsic.is_simd() {
        return bare.to_string();
    }
    let first = intrinsic.types().and_then(|types| types.split(',').next());
    let ty = first.map(|ty| format!("_{ty}")).unwrap_or_default();
    format!("cuda_{bare}{ty}")
}

/// The cheaper of the ways with long words and without.
fn of_idiom(of: Idiom, machine: &'static Machine) -> Code {
    crate::cheapest(&[idiom(of, true), idiom(of, false)], machine).unwrap_or_default()
}

impl Written<'_> {
    /// The greater or the lesser, of words or of lanes.
    fn extreme(&mut self, greater: bool, x: Value, y: Value, lanes: Range) -> Value {
        match lanes.bits {
            32 => self.bound(greater, Width::Word, lanes.signed, x, y),
            _ => self.bound_lanes(greater, x, y, lanes),
        }
    }

    /// Half of the bits that differ, in each lane: words, or lanes without sign.
    fn half_of_difference(&mut self, x: Value, y: Value, lanes: Range) -> Value {
        let differ = self.word(Op::Xor, x, y);
        if lanes.signed && lanes.bits == 32 {
            return self.sar(differ, 1);
        }
        let upper = self.and(differ, splat(!1, lanes.bits));
        self.shr(upper, 1)
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
