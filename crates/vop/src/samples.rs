//! Inputs that show what a form does.

use crate::eval::{End, Trace};
use crate::isa::form::Form;
use crate::isa::types::Secondary;
use crate::semantics::Semantics;
use crate::text::{Instruction, Operand, add_constants, twin};

impl Form {
    /// Values for a, b and c under which every stage can be seen: some lane clamped and some not, a secondary operation
    /// that matters, bits of c that stay. The same for a form every time.
    pub fn telling_inputs(self) -> [u32; 3] {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut best = ([0; 3], i32::MIN);
        for _ in 0..3000 {
            let inputs = [0; 3].map(|_| value(&mut state));
            let score = score(&self.explain(inputs[0], inputs[1], inputs[2]));
            if score > best.1 {
                best = (inputs, score);
            }
        }
        best.0
    }
}

impl Instruction<'_> {
    /// Values that show every stage, and what ptxas does otherwise if that is asked for, as far as the text leaves a choice:
    /// immediates are what they are, and operands that are one register have one value.
    pub fn telling_inputs(&self, semantics: Semantics) -> [u32; 3] {
        if let Some(divergence) = self.divergence(semantics) {
            return divergence.inputs;
        }
        let mut values = self.form.telling_inputs();
        let operands = [Some(self.a), Some(self.b), self.c];
        for i in 0..3 {
            if let Some(Operand::Immediate { value, .. }) = operands[i] {
                values[i] = value;
            }
            if let Some((j, _)) = twin(&operands, i) {
                values[i] = values[j];
            }
        }
        add_constants(&operands, &mut values);
        values
    }
}

/// A random word, one in two made of edge values.
fn value(state: &mut u64) -> u32 {
    const EDGES: [u32; 8] = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x40, 0xc0, 0x10];
    let mut random = || {
        // xorshift64
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 32) as u32
    };
    let (bits, kind) = (random(), random() % 4);
    match kind {
        0 => (0..4).fold(0, |word, i| word << 8 | EDGES[(bits >> (8 * i)) as usize % 8]),
        1 => bits & 0xff,
        2 => bits | 0xffff_ff00,
        _ => bits,
    }
}

fn score(trace: &Trace) -> i32 {
    let clamped = trace.lanes.iter().filter(|lane| lane.saturated != lane.unsaturated()).count() as i32;
    let lanes = trace.lanes.len() as i32;
    let mut score = 0;
    if trace.saturation.is_some() {
        score += match clamped {
            0 => -20,
            _ if lanes == 1 => 10,
            _ if clamped < lanes => 20,
            _ => 0,
        };
    }
    let up = trace.lanes.iter().any(|lane| lane.saturated > lane.unsaturated());
    let down = trace.lanes.iter().any(|lane| lane.saturated < lane.unsaturated());
    score += 4 * i32::from(up && down);
    for (i, lane) in trace.lanes.iter().enumerate() {
        for (side, input) in lane.inputs.iter().enumerate() {
            score += 2 * i32::from(input.value != 0) + i32::from(input.value < 0);
            // Whole words are easier to follow when they are small.
            score += i32::from(input.bits == 32 && input.value.unsigned_abs() < 1000);
            // Lanes that look alike tell nothing apart.
            score -= 2 * i32::from(trace.lanes[..i].iter().any(|other| other.inputs[side].value == input.value));
        }
        score -= 2 * i32::from(trace.lanes[..i].iter().any(|other| other.raw == lane.raw));
        score += i32::from(lane.raw != 0) + i32::from(lane.saturated != 0);
    }
    let c = trace.inputs[2];
    score += match trace.end {
        End::Truncate => 0,
        End::Secondary { operation: Secondary::Add, outcome, c, .. } => 8 * i32::from(outcome != c && c != 0),
        // c wins, but not because the other side is all zeros.
        End::Secondary { outcome, c, .. } => {
            let t = trace.lanes[0].saturated;
            4 * i32::from(outcome == c && outcome != t) + 8 * i32::from(t != 0)
        }
        End::Merge { .. } | End::Lanes(_) => 2 * i32::from(c != trace.d && c > 0xffff && c != u32::MAX),
        End::Accumulate { sum, .. } => 2 * i32::from(sum != 0) + 2 * i32::from(c != 0 && c < 0x1000),
    };
    score + i32::from(trace.d != 0) * 2
}
