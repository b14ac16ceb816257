//! Logic and moves.

use super::{Call, Pure, Ty};
use crate::lanes::Compute;

pub(super) fn logic(name: &str, call: Call<'_, '_>) -> Option<Pure> {
    let ty = call.ty;
    if name == "lop3" {
        return lop3(call);
    }
    if name == "mov" {
        let compute = match ty {
            Ty::Pred => compute!(|a: bool| a),
            Ty::F32 => compute!(|a: u32| a),
            Ty::F64 => compute!(|a: u64| a),
            _ => by_width!(ty, compute!(|a: T| a)),
        };
        return Pure::of(compute, ty, &[ty]);
    }
    if !ty.is_bits() && ty != Ty::Pred {
        return None;
    }
    let compute = match (name, ty) {
        ("and", Ty::Pred) => compute!(|a: bool, b: bool| a & b),
        ("or", Ty::Pred) => compute!(|a: bool, b: bool| a | b),
        ("xor", Ty::Pred) => compute!(|a: bool, b: bool| a ^ b),
        ("not", Ty::Pred) => compute!(|a: bool| !a),
        ("and", _) => by_width!(ty, compute!(|a: T, b: T| a & b)),
        ("or", _) => by_width!(ty, compute!(|a: T, b: T| a | b)),
        ("xor", _) => by_width!(ty, compute!(|a: T, b: T| a ^ b)),
        ("not", _) => by_width!(ty, compute!(|a: T| !a)),
        ("cnot", _) => by_width!(ty, compute!(|a: T| T::from(a == 0))),
        _ => return None,
    };
    Pure::of(compute, ty, &[ty; 2][..if matches!(name, "not" | "cnot") { 1 } else { 2 }])
}

/// Bit `4a + 2b + c` of the table answers for each position of the words.
#[inline(always)]
fn by_table(a: u32, b: u32, c: u32, table: u32) -> u32 {
    // All ones where the row is in the table.
    let row = |row: u32| (table >> row & 1).wrapping_neg();
    // With c, without it; then with b, and so on: seven choices.
    let choose = |x: u32, yes: u32, no: u32| no ^ (x & (yes ^ no));
    let pair = |low: u32| choose(c, row(low + 1), row(low));
    choose(a, choose(b, pair(6), pair(4)), choose(b, pair(2), pair(0)))
}

/// The loop for a table that compilers write often: a few operations instead of two dozen.
fn common_table(table: u64) -> Option<Compute> {
    macro_rules! tables {
        ($($table:literal: |$a:ident, $b:ident, $c:ident| $f:expr;)*) => {
            match table {
                $($table => compute!(|$a: u32, $b: u32, $c: u32, _table: u32| $f),)*
                _ => return None,
            }
        };
    }
    Some(tables! {
        0x80: |a, b, c| a & b & c;
        0xfe: |a, b, c| a | b | c;
        0x96: |a, b, c| a ^ b ^ c;
        0xe8: |a, b, c| (a & b) | (c & (a | b));
        0xca: |a, b, c| (a & b) | (!a & c);
        0xe2: |a, b, c| (b & a) | (!b & c);
        0xac: |a, b, c| (a & c) | (!a & b);
        0xb8: |a, b, c| (b & c) | (!b & a);
        0xd8: |a, b, c| (c & b) | (!c & a);
        0xe4: |a, b, c| (c & a) | (!c & b);
        0xc0: |a, b, _c| a & b;
        0xfc: |a, b, _c| a | b;
        0x3c: |a, b, _c| a ^ b;
        0x30: |a, b, _c| a & !b;
        0x0c: |a, b, _c| !a & b;
        0x0f: |a, _b, _c| !a;
        0xf8: |a, b, c| a | (b & c);
        0xea: |a, b, c| (a & b) | c;
        0xec: |a, b, c| (a & c) | b;
        0xe0: |a, b, c| a & (b | c);
        0xa8: |a, b, c| (a | b) & c;
        0xc8: |a, b, c| (a | c) & b;
        0x78: |a, b, c| a ^ (b & c);
        0x6c: |a, b, c| (a & c) ^ b;
        0x6a: |a, b, c| (a & b) ^ c;
        0x1e: |a, b, c| a ^ (b | c);
        0x56: |a, b, c| (a | b) ^ c;
        0x60: |a, b, c| a & (b ^ c);
        0x28: |a, b, c| (a ^ b) & c;
        0x48: |a, b, c| (a ^ c) & b;
        0xf6: |a, b, c| a | (b ^ c);
        0xbe: |a, b, c| (a ^ b) | c;
        0x40: |a, b, c| a & b & !c;
        0x10: |a, b, c| a & !b & !c;
    })
}

/// `lop3.b32 d, a, b, c, table`; and with `d|p` and `q`, where `p` is whether `d` is not zero, combined with `q`.
fn lop3(call: Call<'_, '_>) -> Option<Pure> {
    if call.ty != Ty::B32 {
        return None;
    }
    const WORD: Ty = Ty::B32;
    let combine = call.opcode.take_of(&["and", "or"]);
    let table = call.immediate_from_end(usize::from(combine.is_some()));
    let compute = match table.and_then(common_table) {
        Some(compute) => compute,
        None => compute!(|a: u32, b: u32, c: u32, table: u32| by_table(a, b, c, table)),
    };
    let then = match combine {
        None => return Pure::of(compute, WORD, &[WORD, WORD, WORD, Ty::U32]),
        Some("and") => compute!(|d: u32, q: bool| (d, (d != 0) & q)),
        Some(_) => compute!(|d: u32, q: bool| (d, (d != 0) | q)),
    };
    let sources = [WORD, WORD, WORD, Ty::U32, Ty::Pred];
    Some(Pure::new(compute, &[WORD, Ty::Pred], &sources).then(then))
}
