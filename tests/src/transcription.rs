//! The manual's pseudo code, written down a second time.
//!
//! PTX ISA, section 9.7.18 "Video Instructions", transcribed line by line under the pseudo code's own
//! names, so that it can be compared with the manual line by line: one function for each section. It shares nothing with the
//! library, so that each can show a fault of the other. It is neither fast nor clever, and it panics on a text that is not legal.
//!
//! A number is an exact integer (`i128`). No intermediate value wraps unless the pseudo code masks it, and "the
//! lower 32-bits are then written to the destination operand" (9.7.18.1).

// ---------------------------------------------------------------------------------------------------
// The text
// ---------------------------------------------------------------------------------------------------

/// An instruction text, cut at blanks, commas and dots.
struct Text<'a> {
    mnemonic: &'a str,
    /// What follows the mnemonic; each section takes from the front what its syntax names.
    modifiers: Vec<&'a str>,
    d: Operand<'a>,
    a: Operand<'a>,
    b: Operand<'a>,
    /// Absent where the form has none.
    c: Option<Operand<'a>>,
}

/// `{-}name{.selector}`
#[derive(Clone, Copy)]
struct Operand<'a> {
    negate: bool,
    /// `""` where the text has none.
    selector: &'a str,
}

impl<'a> Text<'a> {
    fn parse(text: &'a str) -> Text<'a> {
        let (opcode, operands) = text.split_once(' ').expect("operands after a blank");
        let mut modifiers = opcode.split('.');
        let mnemonic = modifiers.next().expect("a mnemonic");
        let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
        assert!((3..=4).contains(&operands.len()), "{text}: operands");
        Text {
            mnemonic,
            modifiers: modifiers.collect(),
            d: Operand::parse(operands[0], "d"),
            a: Operand::parse(operands[1], "a"),
            b: Operand::parse(operands[2], "b"),
            c: operands.get(3).map(|c| Operand::parse(c, "c")),
        }
    }

    /// Takes a modifier that the syntax demands.
    fn one_of(&mut self, choices: &[&str]) -> &'a str {
        assert!(!self.modifiers.is_empty(), "one of {choices:?} is missing");
        let taken = self.modifiers.remove(0);
        assert!(choices.contains(&taken), "{taken}: not in {choices:?}");
        taken
    }

    /// Takes a modifier that the syntax allows; `""` where the text has none.
    fn maybe(&mut self, choices: &[&str]) -> &'a str {
        match self.modifiers.first() {
            Some(first) if choices.contains(first) => self.modifiers.remove(0),
            _ => "",
        }
    }

    /// After the last modifier of a syntax.
    fn end_of_modifiers(&self) {
        assert!(self.modifiers.is_empty(), "left: {:?}", self.modifiers);
    }

    fn no_operand_is_negated(&self) {
        let c = self.c.is_some_and(|c| c.negate);
        assert!(!(self.a.negate || self.b.negate || c), "a negated operand");
    }
}

impl<'a> Operand<'a> {
    fn parse(text: &'a str, name: &str) -> Operand<'a> {
        let (negate, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (found, selector) = rest.split_once('.').unwrap_or((rest, ""));
        assert_eq!(found, name, "the operands are d, a, b and c");
        Operand { negate, selector }
    }
}

const TYPES: &[&str] = &["u32", "s32"];
const CMP: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];
const OP2: &[&str] = &["add", "min", "max"];

/// The value of `text` by the manual's pseudo code (9.7.18), where the registers `a`, `b` and `c` hold
/// these bits.
///
/// The operands of `text` are named `d`, `a`, `b` and `c`: `vadd.u32.s32.s32.sat d.b0, a, b, c`. A form
/// without `c` ignores the last argument. Panics where `text` is not legal.
pub fn evaluate(text: &str, a: u32, b: u32, c: u32) -> u32 {
    let text = Text::parse(text);
    let d = match text.mnemonic {
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" => vadd_vsub_vabsdiff_vmin_vmax(text, a, b, c),
        "vshl" | "vshr" => vshl_vshr(text, a, b, c),
        "vmad" => vmad(text, a, b, c),
        "vset" => vset(text, a, b, c),
        "vadd2" | "vsub2" | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" => {
            vadd2_vsub2_vavrg2_vabsdiff2_vmin2_vmax2(text, a, b, c)
        }
        "vset2" => vset2(text, a, b, c),
        "vadd4" | "vsub4" | "vavrg4" | "vabsdiff4" | "vmin4" | "vmax4" => {
            vadd4_vsub4_vavrg4_vabsdiff4_vmin4_vmax4(text, a, b, c)
        }
        "vset4" => vset4(text, a, b, c),
        other => panic!("{other}: no video instruction"),
    };
    // The lower 32-bits are then written to the destination operand.
    d as u32
}

// ---------------------------------------------------------------------------------------------------
// 9.7.18.1. Scalar Video Instructions
// ---------------------------------------------------------------------------------------------------

const S8_MAX: i128 = 0x7f;
const S8_MIN: i128 = -0x80;
const U8_MAX: i128 = 0xff;
const U8_MIN: i128 = 0;
const S16_MAX: i128 = 0x7fff;
const S16_MIN: i128 = -0x8000;
const U16_MAX: i128 = 0xffff;
const U16_MIN: i128 = 0;
const S32_MAX: i128 = 0x7fff_ffff;
const S32_MIN: i128 = -0x8000_0000;
const U32_MAX: i128 = 0xffff_ffff;
const U32_MIN: i128 = 0;

/// The manual's argument order: the upper bound comes first.
fn clamp(x: i128, max: i128, min: i128) -> i128 {
    if x > max {
        max
    } else if x < min {
        min
    } else {
        x
    }
}

fn is_signed(ty: &str) -> bool {
    ty == "s32"
}

/// The lower `bits` bits of `x`, read as a signed number.
fn sext(x: i128, bits: u32) -> i128 {
    let low = x & ((1 << bits) - 1);
    if low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}

/// The lower `bits` bits of `x`, read as an unsigned number.
fn zext(x: i128, bits: u32) -> i128 {
    x & ((1 << bits) - 1)
}

/// 9.7.18.1: "Extract and sign- or zero-extend byte, half-word, or word values".
fn part_select_sign_extend(x: u32, ty: &str, sel: &str) -> i128 {
    let x = i128::from(x);
    let (part, bits) = match sel {
        "b0" => (x, 8),
        "b1" => (x >> 8, 8),
        "b2" => (x >> 16, 8),
        "b3" => (x >> 24, 8),
        "h0" => (x, 16),
        "h1" => (x >> 16, 16),
        "" => (x, 32),
        other => panic!(".{other}: no selector of a scalar source"),
    };
    if is_signed(ty) { sext(part, bits) } else { zext(part, bits) }
}

/// 9.7.18.1: `.s33 optSaturate( .s34 tmp, Bool sat, Bool sign, Modifier dsel )`.
///
/// Without `sat` the pseudo code returns an `.s34` as an `.s33`. Read as the exact integer, as the manual's
/// column of the golden rows has it; only MIN and MAX can tell.
fn opt_saturate(tmp: i128, sat: bool, sign: bool, dsel: &str) -> i128 {
    if !sat {
        return tmp;
    }
    match dsel {
        "b0" | "b1" | "b2" | "b3" => {
            if sign {
                clamp(tmp, S8_MAX, S8_MIN)
            } else {
                clamp(tmp, U8_MAX, U8_MIN)
            }
        }
        "h0" | "h1" => {
            if sign {
                clamp(tmp, S16_MAX, S16_MIN)
            } else {
                clamp(tmp, U16_MAX, U16_MIN)
            }
        }
        _ => {
            if sign {
                clamp(tmp, S32_MAX, S32_MIN)
            } else {
                clamp(tmp, U32_MAX, U32_MIN)
            }
        }
    }
}

/// 9.7.18.1: `.s33 optSecOp(Modifier secop, .s33 tmp, .s33 c)`, which the sections below call
/// optSecondaryOp.
fn opt_secondary_op(secop: &str, tmp: i128, c: i128) -> i128 {
    match secop {
        "add" => tmp + c,
        "min" => tmp.min(c),
        "max" => tmp.max(c),
        _ => tmp,
    }
}

/// 9.7.18.1: `.s33 optMerge( Modifier dsel, .s33 tmp, .s33 c )`, with the parentheses balanced.
fn opt_merge(dsel: &str, tmp: i128, c: i128) -> i128 {
    match dsel {
        "h0" => (tmp & 0xffff) | (0xffff_0000 & c),
        "h1" => ((tmp & 0xffff) << 16) | (0x0000_ffff & c),
        "b0" => (tmp & 0xff) | (0xffff_ff00 & c),
        "b1" => ((tmp & 0xff) << 8) | (0xffff_00ff & c),
        "b2" => ((tmp & 0xff) << 16) | (0xff00_ffff & c),
        "b3" => ((tmp & 0xff) << 24) | (0x00ff_ffff & c),
        "" => tmp,
        other => panic!(".{other}: no selector of a scalar destination"),
    }
}

/// What the three syntax lines of a scalar section say together: `c` is there where it is used, and a
/// destination selector excludes a secondary operation. A `c` that nothing uses, which no syntax line has,
/// is let pass: the pseudo code ignores it.
fn scalar_operands_fit(text: &Text, op2: &str) {
    text.no_operand_is_negated();
    let merge = !text.d.selector.is_empty();
    let secondary = !op2.is_empty();
    assert!(!(merge && secondary), "merge and secondary operation");
    assert!(text.c.is_some() || !(merge || secondary), "operand c");
    assert!(text.c.is_none_or(|c| c.selector.is_empty()), "a selector of c");
}

/// 9.7.18.1: "The sign of the third operand is based on dtype", so `c` is an `.s33` like the others.
fn third_operand(c: u32, dtype: &str) -> i128 {
    part_select_sign_extend(c, dtype, "")
}

/// 9.7.18.1.1. vadd, vsub, vabsdiff, vmin, vmax
fn vadd_vsub_vabsdiff_vmin_vmax(mut text: Text, a: u32, b: u32, c: u32) -> i128 {
    // vop.dtype.atype.btype{.sat}{.op2}  d{.dsel}, a{.asel}, b{.bsel}{, c}
    let dtype = text.one_of(TYPES);
    let atype = text.one_of(TYPES);
    let btype = text.one_of(TYPES);
    let sat = text.maybe(&["sat"]) == "sat";
    let op2 = text.maybe(OP2);
    text.end_of_modifiers();
    scalar_operands_fit(&text, op2);
    let (dsel, asel, bsel) = (text.d.selector, text.a.selector, text.b.selector);
    let c = third_operand(c, dtype);

    // extract byte/half-word/word and sign- or zero-extend
    // based on source operand type
    let ta = part_select_sign_extend(a, atype, asel);
    let tb = part_select_sign_extend(b, btype, bsel);

    let mut tmp = match text.mnemonic {
        "vadd" => ta + tb,
        "vsub" => ta - tb,
        "vabsdiff" => (ta - tb).abs(),
        "vmin" => ta.min(tb),
        "vmax" => ta.max(tb),
        _ => unreachable!(),
    };
    // saturate, taking into account destination type and merge operations
    tmp = opt_saturate(tmp, sat, is_signed(dtype), dsel);
    // The manual assigns to d twice; the second line would undo the first if both did something, but no
    // form has a secondary operation and a merge.
    tmp = opt_secondary_op(op2, tmp, c); // optional secondary operation
    opt_merge(dsel, tmp, c) // optional merge with c operand
}

/// 9.7.18.1.2. vshl, vshr
fn vshl_vshr(mut text: Text, a: u32, b: u32, c: u32) -> i128 {
    // vop.dtype.atype.u32{.sat}.mode{.op2}  d{.dsel}, a{.asel}, b{.bsel}{, c}
    let dtype = text.one_of(TYPES);
    let atype = text.one_of(TYPES);
    text.one_of(&["u32"]);
    let sat = text.maybe(&["sat"]) == "sat";
    let mode = text.one_of(&["clamp", "wrap"]);
    let op2 = text.maybe(OP2);
    text.end_of_modifiers();
    scalar_operands_fit(&text, op2);
    let (dsel, asel, bsel) = (text.d.selector, text.a.selector, text.b.selector);
    let c = third_operand(c, dtype);

    // extract byte/half-word/word and sign- or zero-extend
    // based on source operand type
    let ta = part_select_sign_extend(a, atype, asel);
    let mut tb = part_select_sign_extend(b, "u32", bsel);
    if mode == "clamp" && tb > 32 {
        tb = 32;
    }
    if mode == "wrap" {
        tb &= 0x1f;
    }
    // A left shift by 32 needs 65 bits, where 9.7.18.1 speaks of an .s34 result. Read here as everywhere: the
    // exact integer, which saturates instead of losing bits first, as the manual's column of the golden rows has
    // it. `>>` of an exact integer fills with the sign, which an unsigned a never has.
    let mut tmp = match text.mnemonic {
        "vshl" => ta << tb,
        "vshr" => ta >> tb,
        _ => unreachable!(),
    };
    // saturate, taking into account destination type and merge operations
    tmp = opt_saturate(tmp, sat, is_signed(dtype), dsel);
    tmp = opt_secondary_op(op2, tmp, c); // optional secondary operation
    opt_merge(dsel, tmp, c) // optional merge with c operand
}

/// 9.7.18.1.3. vmad
fn vmad(mut text: Text, a: u32, b: u32, c: u32) -> i128 {
    // vmad.dtype.atype.btype{.sat}{.scale}     d, {-}a{.asel}, {-}b{.bsel}, {-}c
    // vmad.dtype.atype.btype.po{.sat}{.scale}  d, a{.asel}, b{.bsel}, c
    // The pseudo code never looks at dtype: the final sign decides.
    let _dtype = text.one_of(TYPES);
    let atype = text.one_of(TYPES);
    let btype = text.one_of(TYPES);
    let po = text.maybe(&["po"]) == "po";
    let sat = text.maybe(&["sat"]) == "sat";
    let scale = text.maybe(&["shr7", "shr15"]);
    text.end_of_modifiers();
    let c_negate = text.c.expect("operand c").negate;
    if po {
        text.no_operand_is_negated();
    }
    assert!(text.d.selector.is_empty(), "a destination selector");
    assert!(text.c.is_some_and(|c| c.selector.is_empty()), "a selector of c");
    let product_negate = text.a.negate ^ text.b.negate;
    // "PTX allows negation of either (a*b) or c": not of both.
    assert!(!(product_negate && c_negate), "product and c negated");
    let mut c = i128::from(c);

    // extract byte/half-word/word and sign- or zero-extend
    // based on source operand type
    let ta = part_select_sign_extend(a, atype, text.a.selector);
    let tb = part_select_sign_extend(b, btype, text.b.selector);
    let signed_final = is_signed(atype) || is_signed(btype) || product_negate || c_negate;
    // tmp[127:0]: the product is less than 2^65 in size, so an i128 holds it and each sum below.
    let mut tmp = ta * tb;

    let mut lsb = 0;
    if po {
        lsb = 1;
    } else if product_negate {
        tmp = !tmp;
        lsb = 1;
    } else if c_negate {
        // c is a 32-bit register, and so is ~c: sext32 and zext below read its lower 32 bits. The prose
        // and its table say that the c of (u32 * u32) - u32 is unsigned; the pseudo code, and with it both
        // columns of the golden rows, sign-extend its complement.
        c = !c;
        lsb = 1;
    }

    let c128 = if signed_final { sext(c, 32) } else { zext(c, 32) };
    tmp = tmp + c128 + lsb;
    // The switch has no default. Without .scale the result is tmp.
    let mut result = match scale {
        "shr7" => (tmp >> 7) & 0xffff_ffff_ffff_ffff,
        "shr15" => (tmp >> 15) & 0xffff_ffff_ffff_ffff,
        _ => tmp,
    };
    // "this result is sign-extended if the final result is signed, and zero-extended otherwise": the mask
    // keeps 64 bits, and CLAMP below has to see the sign again.
    if !scale.is_empty() && signed_final {
        result = sext(result, 64);
    }
    if sat {
        if signed_final {
            result = clamp(result, S32_MAX, S32_MIN);
        } else {
            result = clamp(result, U32_MAX, U32_MIN);
        }
    }
    // The pseudo code ends without a word of d.
    result
}

fn compare(ta: i128, tb: i128, cmp: &str) -> bool {
    match cmp {
        "eq" => ta == tb,
        "ne" => ta != tb,
        "lt" => ta < tb,
        "le" => ta <= tb,
        "gt" => ta > tb,
        "ge" => ta >= tb,
        _ => unreachable!(),
    }
}

/// 9.7.18.1.4. vset
fn vset(mut text: Text, a: u32, b: u32, c: u32) -> i128 {
    // vset.atype.btype.cmp{.op2}  d{.dsel}, a{.asel}, b{.bsel}{, c}
    let atype = text.one_of(TYPES);
    let btype = text.one_of(TYPES);
    let cmp = text.one_of(CMP);
    let op2 = text.maybe(OP2);
    text.end_of_modifiers();
    scalar_operands_fit(&text, op2);
    let (dsel, asel, bsel) = (text.d.selector, text.a.selector, text.b.selector);
    // "destination d and operand c are also unsigned"
    let c = third_operand(c, "u32");

    // extract byte/half-word/word and sign- or zero-extend
    // based on source operand type
    let ta = part_select_sign_extend(a, atype, asel);
    let tb = part_select_sign_extend(b, btype, bsel);
    let mut tmp = if compare(ta, tb, cmp) { 1 } else { 0 };
    tmp = opt_secondary_op(op2, tmp, c); // optional secondary operation
    opt_merge(dsel, tmp, c) // optional merge with c operand
}

// ---------------------------------------------------------------------------------------------------
// 9.7.18.2. SIMD Video Instructions
// ---------------------------------------------------------------------------------------------------

/// The digits of a selector or a mask, the lowest lane's first: the leftmost digit of `.h32` and `.b7654` stands
/// for the highest lane. The manual never says so, but its defaults do: `.asel` is `.b3210`, which is a itself.
fn digits(modifier: &str, kind: char) -> Vec<usize> {
    let digits = modifier.strip_prefix(kind).expect("the right kind of selector");
    digits.bytes().rev().map(|digit| usize::from(digit - b'0')).collect()
}

/// 9.7.18.2.1: pairs of half-words out of the four of `a` (0 and 1) and `b` (2 and 3).
fn extract_and_sign_ext_2(a: u32, b: u32, sel: &str, ty: &str) -> [i128; 2] {
    let half_words = [
        part_select_sign_extend(a, ty, "h0"),
        part_select_sign_extend(a, ty, "h1"),
        part_select_sign_extend(b, ty, "h0"),
        part_select_sign_extend(b, ty, "h1"),
    ];
    let sel = digits(sel, 'h');
    assert_eq!(sel.len(), 2, "digits of a selector");
    [half_words[sel[0]], half_words[sel[1]]]
}

/// 9.7.18.2.3: quads of bytes out of the eight of `a` (0 to 3) and `b` (4 to 7).
fn extract_and_sign_ext_4(a: u32, b: u32, sel: &str, ty: &str) -> [i128; 4] {
    let bytes = [
        part_select_sign_extend(a, ty, "b0"),
        part_select_sign_extend(a, ty, "b1"),
        part_select_sign_extend(a, ty, "b2"),
        part_select_sign_extend(a, ty, "b3"),
        part_select_sign_extend(b, ty, "b0"),
        part_select_sign_extend(b, ty, "b1"),
        part_select_sign_extend(b, ty, "b2"),
        part_select_sign_extend(b, ty, "b3"),
    ];
    let sel = digits(sel, 'b');
    assert_eq!(sel.len(), 4, "digits of a selector");
    [bytes[sel[0]], bytes[sel[1]], bytes[sel[2]], bytes[sel[3]]]
}

/// `extractMaskBits( .mask )` of 9.7.18.2.1: whether a lane is named.
fn extract_mask_bits_2(mask: &str) -> [bool; 2] {
    assert!(MASK_2.contains(&mask), ".{mask}: no mask");
    let named = digits(mask, 'h');
    [named.contains(&0), named.contains(&1)]
}

/// `extractMaskBits( .mask )` of 9.7.18.2.3: whether a lane is named.
fn extract_mask_bits_4(mask: &str) -> [bool; 4] {
    assert!(MASK_4.contains(&mask), ".{mask}: no mask");
    let named = digits(mask, 'b');
    [named.contains(&0), named.contains(&1), named.contains(&2), named.contains(&3)]
}

const MASK_2: &[&str] = &["h0", "h1", "h10"];
const MASK_4: &[&str] = &[
    "b0", //
    "b1", "b10", //
    "b2", "b20", "b21", "b210", //
    "b3", "b30", "b31", "b310", "b32", "b320", "b321", "b3210",
];

/// A selector or mask, or its default.
fn or_default<'a>(selector: &'a str, default: &'a str) -> &'a str {
    if selector.is_empty() { default } else { selector }
}

/// Both syntax lines of a SIMD section have `c`, and it takes no selector.
fn simd_operands_fit(text: &Text) {
    text.no_operand_is_negated();
    assert_eq!(text.c.expect("operand c").selector, "", "a selector of c");
}

/// 9.7.18.2.1: "secondary accumulate or SIMD merge".
///
/// The pseudo code's merge is `d |= mask[i] ? t[i] : Vc[i]`. That needs each lane at its place, cut to its
/// width: "the selected half-word results are copied into destination d".
fn accumulate_or_merge_2(add: bool, mask: &str, t: [i128; 2], c: u32) -> i128 {
    // No type is given for Vc, and none is needed: a lane is copied.
    let vc = extract_and_sign_ext_2(c, c, "h10", "u32");
    let mask = extract_mask_bits_2(mask);
    let mut d;
    if add {
        // Accumulated are the exact integers, not the lower half-words of t[i].
        d = i128::from(c);
        for i in 0..2 {
            d += if mask[i] { t[i] } else { 0 };
        }
    } else {
        d = 0;
        for i in 0..2 {
            d |= ((if mask[i] { t[i] } else { vc[i] }) & 0xffff) << (16 * i);
        }
    }
    d
}

/// 9.7.18.2.3: "secondary accumulate or SIMD merge"; see [`accumulate_or_merge_2`].
fn accumulate_or_merge_4(add: bool, mask: &str, t: [i128; 4], c: u32) -> i128 {
    let vc = extract_and_sign_ext_4(c, c, "b3210", "u32");
    let mask = extract_mask_bits_4(mask);
    let mut d;
    if add {
        d = i128::from(c);
        for i in 0..4 {
            d += if mask[i] { t[i] } else { 0 };
        }
    } else {
        d = 0;
        for i in 0..4 {
            d |= ((if mask[i] { t[i] } else { vc[i] }) & 0xff) << (8 * i);
        }
    }
    d
}

/// 9.7.18.2.1. vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2
fn vadd2_vsub2_vavrg2_vabsdiff2_vmin2_vmax2(mut text: Text, a: u32, b: u32, c: u32) -> i128 {
    // vop2.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c
    // vop2.dtype.atype.btype.add    d{.mask}, a{.asel}, b{.bsel}, c
    let dtype = text.one_of(TYPES);
    let atype = text.one_of(TYPES);
    let btype = text.one_of(TYPES);
    let sat_or_add = text.maybe(&["sat", "add"]);
    let (sat, add) = (sat_or_add == "sat", sat_or_add == "add");
    text.end_of_modifiers();
    simd_operands_fit(&text);
    let mask = or_default(text.d.selector, "h10");
    let asel = or_default(text.a.selector, "h10");
    let bsel = or_default(text.b.selector, "h32");

    // extract pairs of half-words and sign- or zero-extend
    // based on operand type
    let va = extract_and_sign_ext_2(a, b, asel, atype);
    let vb = extract_and_sign_ext_2(a, b, bsel, btype);
    let mut t = [0; 2];
    for i in 0..2 {
        t[i] = match text.mnemonic {
            "vadd2" => va[i] + vb[i],
            "vsub2" => va[i] - vb[i],
            "vavrg2" => {
                if va[i] + vb[i] >= 0 {
                    (va[i] + vb[i] + 1) >> 1
                } else {
                    (va[i] + vb[i]) >> 1
                }
            }
            "vabsdiff2" => (va[i] - vb[i]).abs(),
            "vmin2" => va[i].min(vb[i]),
            "vmax2" => va[i].max(vb[i]),
            _ => unreachable!(),
        };
        if sat {
            if dtype == "s32" {
                t[i] = clamp(t[i], S16_MAX, S16_MIN);
            } else {
                t[i] = clamp(t[i], U16_MAX, U16_MIN);
            }
        }
    }
    // secondary accumulate or SIMD merge
    accumulate_or_merge_2(add, mask, t, c)
}

/// 9.7.18.2.2. vset2
fn vset2(mut text: Text, a: u32, b: u32, c: u32) -> i128 {
    // vset2.atype.btype.cmp{.add}  d{.mask}, a{.asel}, b{.bsel}, c
    let atype = text.one_of(TYPES);
    let btype = text.one_of(TYPES);
    let cmp = text.one_of(CMP);
    let add = text.maybe(&["add"]) == "add";
    text.end_of_modifiers();
    simd_operands_fit(&text);
    let mask = or_default(text.d.selector, "h10");
    let asel = or_default(text.a.selector, "h10");
    let bsel = or_default(text.b.selector, "h32");

    // extract pairs of half-words and sign- or zero-extend
    // based on operand type
    let va = extract_and_sign_ext_2(a, b, asel, atype);
    let vb = extract_and_sign_ext_2(a, b, bsel, btype);
    let mut t = [0; 2];
    for i in 0..2 {
        t[i] = if compare(va[i], vb[i], cmp) { 1 } else { 0 };
    }
    // secondary accumulate or SIMD merge
    // The prose takes the lanes outside the mask from b, the pseudo code and the golden rows from c.
    accumulate_or_merge_2(add, mask, t, c)
}

/// 9.7.18.2.3. vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4
fn vadd4_vsub4_vavrg4_vabsdiff4_vmin4_vmax4(mut text: Text, a: u32, b: u32, c: u32) -> i128 {
    // vop4.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c
    // vop4.dtype.atype.btype.add    d{.mask}, a{.asel}, b{.bsel}, c
    let dtype = text.one_of(TYPES);
    let atype = text.one_of(TYPES);
    let btype = text.one_of(TYPES);
    let sat_or_add = text.maybe(&["sat", "add"]);
    let (sat, add) = (sat_or_add == "sat", sat_or_add == "add");
    text.end_of_modifiers();
    simd_operands_fit(&text);
    let mask = or_default(text.d.selector, "b3210");
    let asel = or_default(text.a.selector, "b3210");
    let bsel = or_default(text.b.selector, "b7654");

    // extract quads of bytes and sign- or zero-extend
    // based on operand type
    let va = extract_and_sign_ext_4(a, b, asel, atype);
    let vb = extract_and_sign_ext_4(a, b, bsel, btype);
    let mut t = [0; 4];
    for i in 0..4 {
        t[i] = match text.mnemonic {
            "vadd4" => va[i] + vb[i],
            "vsub4" => va[i] - vb[i],
            "vavrg4" => {
                if va[i] + vb[i] >= 0 {
                    (va[i] + vb[i] + 1) >> 1
                } else {
                    (va[i] + vb[i]) >> 1
                }
            }
            "vabsdiff4" => (va[i] - vb[i]).abs(),
            "vmin4" => va[i].min(vb[i]),
            "vmax4" => va[i].max(vb[i]),
            _ => unreachable!(),
        };
        if sat {
            if dtype == "s32" {
                t[i] = clamp(t[i], S8_MAX, S8_MIN);
            } else {
                t[i] = clamp(t[i], U8_MAX, U8_MIN);
            }
        }
    }
    // secondary accumulate or SIMD merge
    accumulate_or_merge_4(add, mask, t, c)
}

/// 9.7.18.2.4. vset4
fn vset4(mut text: Text, a: u32, b: u32, c: u32) -> i128 {
    // vset4.atype.btype.cmp{.add}  d{.mask}, a{.asel}, b{.bsel}, c
    let atype = text.one_of(TYPES);
    let btype = text.one_of(TYPES);
    let cmp = text.one_of(CMP);
    let add = text.maybe(&["add"]) == "add";
    text.end_of_modifiers();
    simd_operands_fit(&text);
    let mask = or_default(text.d.selector, "b3210");
    let asel = or_default(text.a.selector, "b3210");
    let bsel = or_default(text.b.selector, "b7654");

    // extract quads of bytes and sign- or zero-extend
    // based on operand type
    let va = extract_and_sign_ext_4(a, b, asel, atype);
    let vb = extract_and_sign_ext_4(a, b, bsel, btype);
    let mut t = [0; 4];
    for i in 0..4 {
        t[i] = if compare(va[i], vb[i], cmp) { 1 } else { 0 };
    }
    // secondary accumulate or SIMD merge
    // The prose takes the lanes outside the mask from b, the pseudo code and the golden rows from c.
    accumulate_or_merge_4(add, mask, t, c)
}

// ---------------------------------------------------------------------------------------------------
// The forms
// ---------------------------------------------------------------------------------------------------

/// `{.asel}` and `{.bsel}` of 9.7.18.1.
const SELECTORS: [&str; 7] = ["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"];

/// The three syntax lines of a scalar section as (`.op2`, `d{.dsel}`, `, c`).
const SCALAR_TAILS: [(&str, &str, &str); 10] = [
    ("", "d", ""),
    (".add", "d", ", c"),
    (".min", "d", ", c"),
    (".max", "d", ", c"),
    ("", "d.b0", ", c"),
    ("", "d.b1", ", c"),
    ("", "d.b2", ", c"),
    ("", "d.b3", ", c"),
    ("", "d.h0", ", c"),
    ("", "d.h1", ", c"),
];

/// Every legal text of a scalar video instruction (9.7.18.1.1 to 9.7.18.1.4), 83,104 of them, with the
/// modifiers in the order of the manual and the operands `d`, `a`, `b` and `c`.
pub fn all_scalar_forms() -> Vec<String> {
    let mut forms = Vec::new();

    // 9.7.18.1.1
    for vop in ["vadd", "vsub", "vabsdiff", "vmin", "vmax"] {
        for [dtype, atype, btype] in three_types() {
            for sat in ["", ".sat"] {
                for asel in SELECTORS {
                    for bsel in SELECTORS {
                        for (op2, d, c) in SCALAR_TAILS {
                            forms.push(format!("{vop}.{dtype}.{atype}.{btype}{sat}{op2} {d}, a{asel}, b{bsel}{c}"));
                        }
                    }
                }
            }
        }
    }

    // 9.7.18.1.2
    for vop in ["vshl", "vshr"] {
        for [dtype, atype] in two_types() {
            for sat in ["", ".sat"] {
                for mode in [".clamp", ".wrap"] {
                    for asel in SELECTORS {
                        for bsel in SELECTORS {
                            for (op2, d, c) in SCALAR_TAILS {
                                forms.push(format!(
                                    "{vop}.{dtype}.{atype}.u32{sat}{mode}{op2} {d}, a{asel}, b{bsel}{c}"
                                ));
                            }
                        }
                    }
                }
            }
        }
    }

    // 9.7.18.1.3. Of the eight ways to negate the operands, "PTX allows negation of either (a*b) or c" forbids
    // two, which negate the product and c: -a with -c, and -b with -c.
    let negations = [
        ("", "", "", ""),
        (".po", "", "", ""),
        ("", "-", "", ""),
        ("", "", "-", ""),
        ("", "", "", "-"),
        ("", "-", "-", ""),
        ("", "-", "-", "-"),
    ];
    for [dtype, atype, btype] in three_types() {
        for (po, a_negate, b_negate, c_negate) in negations {
            for sat in ["", ".sat"] {
                for scale in ["", ".shr7", ".shr15"] {
                    for asel in SELECTORS {
                        for bsel in SELECTORS {
                            forms.push(format!(
                                "vmad.{dtype}.{atype}.{btype}{po}{sat}{scale} \
                                 d, {a_negate}a{asel}, {b_negate}b{bsel}, {c_negate}c"
                            ));
                        }
                    }
                }
            }
        }
    }

    // 9.7.18.1.4
    for [atype, btype] in two_types() {
        for cmp in CMP {
            for asel in SELECTORS {
                for bsel in SELECTORS {
                    for (op2, d, c) in SCALAR_TAILS {
                        forms.push(format!("vset.{atype}.{btype}.{cmp}{op2} {d}, a{asel}, b{bsel}{c}"));
                    }
                }
            }
        }
    }

    forms
}

fn two_types() -> [[&'static str; 2]; 4] {
    [["u32", "u32"], ["u32", "s32"], ["s32", "u32"], ["s32", "s32"]]
}

fn three_types() -> [[&'static str; 3]; 8] {
    let [uu, us, su, ss] = two_types();
    [("u32", uu), ("u32", us), ("u32", su), ("u32", ss), ("s32", uu), ("s32", us), ("s32", su), ("s32", ss)]
        .map(|(dtype, [atype, btype])| [dtype, atype, btype])
}

/// A legal text of a SIMD video instruction (9.7.18.2), drawn by `rng`, which gives 64 random bits a call: any
/// mnemonic, types, comparison, `.sat` or `.add`, mask and selectors; each of the last three is absent one
/// time in four.
pub fn random_simd_form(rng: &mut impl FnMut() -> u64) -> String {
    let vop = pick(rng, &["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"]);
    let lanes = pick(rng, &["2", "4"]);
    let (atype, btype) = (pick(rng, TYPES), pick(rng, TYPES));
    let modifiers = if vop == "vset" {
        format!("{atype}.{btype}.{}{}", pick(rng, CMP), pick(rng, &["", ".add"]))
    } else {
        format!("{}.{atype}.{btype}{}", pick(rng, TYPES), pick(rng, &["", ".sat", ".add"]))
    };
    let mask = match below(rng, 4) {
        0 => String::new(),
        _ => format!(".{}", pick(rng, if lanes == "2" { MASK_2 } else { MASK_4 })),
    };
    let asel = random_simd_selector(rng, lanes);
    let bsel = random_simd_selector(rng, lanes);
    format!("{vop}{lanes}.{modifiers} d{mask}, a{asel}, b{bsel}, c")
}

/// `.hxy` with x and y from 0 to 3, `.bxyzw` with x, y, z and w from 0 to 7, or nothing.
fn random_simd_selector(rng: &mut impl FnMut() -> u64, lanes: &str) -> String {
    if below(rng, 4) == 0 {
        return String::new();
    }
    if lanes == "2" {
        let [x, y] = [(); 2].map(|()| below(rng, 4));
        format!(".h{x}{y}")
    } else {
        let [x, y, z, w] = [(); 4].map(|()| below(rng, 8));
        format!(".b{x}{y}{z}{w}")
    }
}

fn pick<'a>(rng: &mut impl FnMut() -> u64, choices: &[&'a str]) -> &'a str {
    choices[below(rng, choices.len())]
}

/// The upper bits of a draw, because the lower ones of a simple generator are poor.
fn below(rng: &mut impl FnMut() -> u64, n: usize) -> usize {
    (rng() >> 32) as usize % n
}
