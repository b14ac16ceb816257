//! What a form does, in a sentence.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::isa::form::{Finish, Form, MadMode, Variant};
use crate::isa::types::{Comparison, Mask, Operation, Part, Secondary, Selector, Shape, ShiftMode, Type};

impl Form {
    /// What it does, in one sentence: "Adds a's signed bytes and b's unsigned bytes, clamps each sum to -128…127.".
    pub fn describe(self) -> String {
        let mut text = self.describe_operation();
        if let Some(range) = self.saturation() {
            let noun = self.result_noun();
            let what = if self.mnemonic().shape().is_simd() { format!("each {noun}") } else { format!("the {noun}") };
            text.push_str(&format!(", and clamps {what} to {}…{}", range.min(), range.max()));
        }
        text.push_str(&self.describe_end());
        text.push('.');
        text
    }

    fn describe_operation(self) -> String {
        let simd = self.mnemonic().shape().is_simd();
        let (a, b) = (self.describe_source(false), self.describe_source(true));
        match self.mnemonic().operation() {
            Operation::Add => format!("Adds {a} and {b}"),
            Operation::Sub => format!("Subtracts {b} from {a}"),
            Operation::Avrg => {
                format!("Averages {a} and {b}, rounding halves away from zero")
            }
            Operation::Absdiff => format!("Takes the absolute difference of {a} and {b}"),
            Operation::Min => format!("Takes the lesser of {a} and {b}"),
            Operation::Max => format!("Takes the greater of {a} and {b}"),
            Operation::Shl | Operation::Shr => {
                let left = self.mnemonic().operation() == Operation::Shl;
                let large = match self.variant() {
                    Variant::Shift(ShiftMode::Wrap) => "of which the lower five bits count",
                    _ => "at most 32",
                };
                format!("Shifts {a} {} by {b}, {large}", if left { "left" } else { "right" })
            }
            Operation::Mad => self.describe_mad(&a, &b),
            Operation::Set => {
                let relation = match self.comparison() {
                    Some(Comparison::Ne) => "they differ",
                    Some(Comparison::Lt) => "the first is less",
                    Some(Comparison::Le) => "the first is less or equal",
                    Some(Comparison::Gt) => "the first is greater",
                    Some(Comparison::Ge) => "the first is greater or equal",
                    _ => "they are equal",
                };
                format!("Compares {a} with {b}: 1 {} {relation}, else 0", if simd { "where" } else { "if" })
            }
        }
    }

    fn result_noun(self) -> &'static str {
        match self.mnemonic().operation() {
            Operation::Add => "sum",
            Operation::Sub | Operation::Absdiff => "difference",
            Operation::Avrg => "average",
            _ => "result",
        }
    }

    fn describe_mad(self, a: &str, b: &str) -> String {
        let Variant::Mad(mode, scale) = self.variant() else { return String::new() };
        let signed = if self.is_signed() { "signed" } else { "unsigned" };
        let mut text = match mode {
            MadMode::NegateA | MadMode::NegateB => {
                format!("Subtracts the product of {a} and {b} from c ({signed})")
            }
            MadMode::NegateC | MadMode::NegateABC => {
                format!("Multiplies {a} and {b} and subtracts c ({signed})")
            }
            MadMode::PlusOne => format!("Multiplies {a} and {b} and adds c ({signed}) and one"),
            MadMode::Plain | MadMode::NegateAB => format!("Multiplies {a} and {b} and adds c ({signed})"),
        };
        if let Some(scale) = scale {
            text.push_str(&format!(", shifts the result right by {}", scale.bits()));
        }
        text
    }

    /// "the signed byte 2 of a", "a's unsigned half-words", "signed bytes chosen from a and b".
    fn describe_source(self, second: bool) -> String {
        let (selector, ty, own) =
            if second { (self.bsel(), self.btype(), "b") } else { (self.asel(), self.atype(), "a") };
        let sign = if ty == Type::S32 { "signed" } else { "unsigned" };
        match selector {
            Selector::Word => format!("{own} ({sign})"),
            Selector::Part(part) => format!("the {sign} {} of {own}", part_name(part)),
            Selector::Halves(lanes) => lanes_of(&lanes, 2, sign, "half-word"),
            Selector::Bytes(lanes) => lanes_of(&lanes, 4, sign, "byte"),
        }
    }

    fn describe_end(self) -> String {
        let shape = self.mnemonic().shape();
        match self.finish() {
            Finish::Plain => String::new(),
            Finish::Secondary(secondary) => {
                let sign = if self.is_signed() { "signed" } else { "unsigned" };
                match secondary {
                    Secondary::Add => ", and adds c".to_string(),
                    Secondary::Min => format!(", and takes the lesser of that and c ({sign})"),
                    Secondary::Max => format!(", and takes the greater of that and c ({sign})"),
                }
            }
            Finish::Merge(part) => format!(", and puts the lower {} bits into {} of c", part.bits(), part_name(part)),
            Finish::Lanes(mask) if mask == Mask::full(shape) => String::new(),
            Finish::Lanes(mask) => format!("; d takes {} of the results, and the rest of c", lane_list(mask, shape)),
            Finish::Accumulate(mask) if mask == Mask::full(shape) => ", and adds all of them to c".to_string(),
            Finish::Accumulate(mask) => format!(", and adds those of {} to c", lane_list(mask, shape)),
        }
    }
}

fn part_name(part: Part) -> String {
    let (unit, bits) = if part.bits() == 16 { ("half-word", 16) } else { ("byte", 8) };
    format!("{unit} {}", part.shift() / bits)
}

fn lanes_of(lanes: &[u8], per_register: u8, sign: &str, unit: &str) -> String {
    let register = |lane: &u8| if *lane < per_register { "a" } else { "b" };
    let name = |lane: &u8| format!("{} of {}", lane % per_register, register(lane));
    let in_order = lanes.iter().enumerate().all(|(i, lane)| usize::from(lane % per_register) == i);
    let first = &lanes[0];
    if lanes.iter().all(|lane| lane == first) {
        format!("the {sign} {unit} {} in every lane", name(first))
    } else if in_order && lanes.iter().all(|lane| register(lane) == register(first)) {
        format!("{}'s {sign} {unit}s", register(first))
    } else {
        let names: Vec<String> = lanes.iter().rev().map(name).collect();
        format!("the {sign} {unit}s ({})", names.join(", "))
    }
}

fn lane_list(mask: Mask, shape: Shape) -> String {
    let numbers: Vec<String> = (0..shape.lanes()).rev().filter(|&i| mask.has(i)).map(|i| i.to_string()).collect();
    let unit = if shape == Shape::Halves { "half-word" } else { "byte" };
    match numbers.split_last() {
        Some((last, [])) => format!("{unit} {last}"),
        Some((last, rest)) => format!("{unit}s {} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
