//! Values of constant expressions, as ptxas 13.5 puts them into machine code.

use vop::Operand;

fn value(expression: &str) -> u32 {
    let text = format!("vadd.u32.u32.u32 d, a, {expression}");
    match vop::parse(&text).unwrap_or_else(|faults| panic!("{text}: {faults:?}")).b {
        Operand::Immediate { value, .. } => value,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn values() {
    for (expression, expected) in [
        ("5", 5),
        ("-5", 0xffff_fffb),
        ("--5", 5),
        ("- -5", 5),
        ("~5", 0xffff_fffa),
        ("!5", 0),
        ("!0", 1),
        ("017", 15),
        ("0b101", 5),
        ("0xFFU", 255),
        ("0x100000005", 5),
        ("0x1ffffffffffffffff", u32::MAX),
        ("WARP_SZ", 32),
        ("-WARP_SZ+1", 0xffff_ffe1),
        ("2+3*4", 14),
        ("(2+3)*4", 20),
        ("7-2-1", 4),
        ("1<<4|1", 17),
        ("1?2:3", 2),
        ("0?2:1?4:5", 4),
        ("-7/2", 0xffff_fffd),
        ("-7>>1", 0xffff_fffc),
        ("-1<0U", 0),
        ("-1<0", 1),
        ("1<2<3", 1),
        // The remainder is of the 64-bit patterns, and unsigned.
        ("-1 % 2", 1),
        ("(7) % (-3)", 7),
        ("(-7) % (-3)", 0xffff_fff9),
        ("-9223372036854775807 % 10", 9),
        ("(8 % 5)/-1", 0),
        // `&`, `|` and `^` are signed unless a side is not.
        ("(7&2)-100<0", 1),
        ("(7&2U)-100<0", 0),
        ("(-1&-1)>>60", u32::MAX),
        // Floating-point numbers may be compared.
        ("1.5<2.0", 1),
        ("0.1+0.2==0.3", 0),
        ("16777217.0==16777216.0", 0),
        ("0.0==-0.0", 1),
        ("(1.5<2.0)*3", 3),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}
