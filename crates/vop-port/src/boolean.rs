//! Functions of three bits as `and`, `or`, `xor` and `not`, in the fewest operations.

use std::sync::OnceLock;

use vop::lower::{Op as Base, Value};

use crate::code::{Code, Extra, Op, Width};
use crate::machine::Machine;

/// How a function is made.
#[derive(Debug, Clone, Copy)]
enum Formula {
    /// One of the three operands, or for a constant its complement.
    Leaf(u8, bool),
    /// The exclusive or of a pair, which is there.
    Difference(u8),
    Zero,
    Ones,
    Not(u8),
    Both(Op, u8, u8),
}

/// The formula of each truth table.
type Formulas = [Formula; 256];

/// The columns of the three operands in a truth table.
const COLUMNS: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// What costs nothing, as it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Free {
    /// The operands that are constants: their complements.
    constants: u8,
    /// The pairs of [`PAIRS`] whose exclusive or was computed before.
    differences: u8,
}

/// Pairs of operands.
const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// The formulas, by what is free.
fn formulas(free: Free) -> &'static Formulas {
    static KNOWN: [OnceLock<Formulas>; 64] = [const { OnceLock::new() }; 64];
    KNOWN[usize::from(free.constants | free.differences << 3)].get_or_init(|| find(free))
}

/// Finds the shortest formulas: those of each length from all shorter ones.
fn find(free: Free) -> Formulas {
    let mut found: [Option<(u8, Formula)>; 256] = [None; 256];
    found[0x00] = Some((0, Formula::Zero));
    found[0xff] = Some((0, Formula::Ones));
    for (i, column) in COLUMNS.into_iter().enumerate() {
        found[usize::from(column)] = Some((0, Formula::Leaf(i as u8, false)));
        if free.constants >> i & 1 != 0 {
            found[usize::from(!column)] = Some((0, Formula::Leaf(i as u8, true)));
        }
    }
    for (pair, (i, j)) in PAIRS.into_iter().enumerate() {
        if free.differences >> pair & 1 != 0 {
            found[usize::from(COLUMNS[i] ^ COLUMNS[j])].get_or_insert((0, Formula::Difference(pair as u8)));
        }
    }
    for length in 1..u8::MAX {
        if found.iter().all(Option::is_some) {
            break;
        }
        let known: Vec<(u8, u8)> =
            (0..=255u8).filter_map(|table| Some((table, found[usize::from(table)].as_ref()?.0))).collect();
        let mut offer = |table: u8, formula: Formula| {
            found[usize::from(table)].get_or_insert((length, formula));
        };
        for &(x, x_length) in &known {
            for &(y, _) in known.iter().filter(|(y, of)| *y > x && of + x_length + 1 == length) {
                offer(x & y, Formula::Both(Op::And(Width::Word), x, y));
                offer(x | y, Formula::Both(Op::Or(Width::Word), x, y));
                offer(x ^ y, Formula::Both(Op::Xor(Width::Word), x, y));
            }
        }
        for &(x, _) in known.iter().filter(|(_, of)| of + 1 == length) {
            offer(!x, Formula::Not(x));
        }
    }
    found.map(|formula| formula.map_or(Formula::Zero, |(_, formula)| formula))
}

/// Any function of three bits in each bit: bit `4x + 2y + z` of the table is its value.
pub(crate) fn lop3(code: &mut Code, machine: &Machine, table: u8, operands: [Value; 3]) -> Value {
    let mut plain = code.clone();
    let value = lop3_of_plain(&mut plain, table, operands);
    let (before, after) = (code.steps().len(), plain.steps().len());
    // One operation of three operands, if the machine has it, and two operands are not enough.
    if after > before + 1 {
        for order in ORDERS {
            let table = reordered(table, order);
            let extra = Extra::Base(Base::Lop3(table));
            if (machine.cost)(Op::Extra(extra)).is_some_and(|cost| cost < (after - before) as u32) {
                return code.push(Op::Extra(extra), &order.map(|i| operands[i]));
            }
        }
    }
    *code = plain;
    value
}

/// The orders of three operands.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The table of a function whose operands are given in another order.
fn reordered(table: u8, order: [usize; 3]) -> u8 {
    (0..8u8).fold(0, |all, row| {
        let old = (0..3).filter(|&i| row & COLUMN_BIT[i] != 0).fold(0, |old, i| old | COLUMN_BIT[order[i]]);
        all | (table >> old & 1) << row
    })
}

fn lop3_of_plain(code: &mut Code, table: u8, operands: [Value; 3]) -> Value {
    // Operands that are one, or zeros or ones: rows of the table that never occur are as their neighbours.
    let mut table = table;
    let columns = |table: u8, i: usize| {
        let shift = [4, 2, 1][i];
        (table & !COLUMNS[i], (table & COLUMNS[i]) >> shift, shift)
    };
    for (i, operand) in operands.into_iter().enumerate() {
        let (clear, set, shift) = columns(table, i);
        match operand {
            Value::Word(0) => table = clear | clear << shift,
            Value::Word(u32::MAX) => table = set | set << shift,
            _ => {}
        }
    }
    for (i, j) in PAIRS {
        if operands[i] == operands[j] {
            let old = table;
            table = (0..8).fold(0, |all, row| {
                let is_set = row & COLUMN_BIT[i] != 0;
                let same = if is_set { row | COLUMN_BIT[j] } else { row & !COLUMN_BIT[j] };
                all | (old >> same & 1) << row
            });
        }
    }
    let constants = (0..3).filter(|&i| matches!(operands[i], Value::Word(_))).fold(0, |all, i| all | 1 << i);
    let is_there = |&pair: &usize| {
        let (i, j) = PAIRS[pair];
        operands[i] != operands[j] && code.find(Op::Xor(Width::Word), &[operands[i], operands[j]]).is_some()
    };
    let differences = (0..3).filter(is_there).fold(0, |all, pair| all | 1 << pair);
    built(code, formulas(Free { constants, differences }), table, operands)
}

/// The bit of a row's number that an operand is.
const COLUMN_BIT: [u8; 3] = [4, 2, 1];

fn built(code: &mut Code, formulas: &Formulas, table: u8, operands: [Value; 3]) -> Value {
    match formulas[usize::from(table)] {
        Formula::Leaf(i, false) => operands[usize::from(i)],
        Formula::Leaf(i, true) => match operands[usize::from(i)] {
            Value::Word(word) => Value::Word(!word),
            other => code.push(Op::Not(Width::Word), &[other]),
        },
        Formula::Difference(pair) => {
            let (i, j) = PAIRS[usize::from(pair)];
            code.push(Op::Xor(Width::Word), &[operands[i], operands[j]])
        }
        Formula::Zero => Value::Word(0),
        Formula::Ones => Value::Word(u32::MAX),
        Formula::Not(x) => {
            let x = built(code, formulas, x, operands);
            code.push(Op::Not(Width::Word), &[x])
        }
        Formula::Both(op, x, y) => {
            let x = built(code, formulas, x, operands);
            let y = built(code, formulas, y, operands);
            code.push(op, &[x, y])
        }
    }
}
