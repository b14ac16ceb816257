//! One operand's text: what it says before anything is looked up.

use crate::module::lex;

/// An operand as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand<'a> {
    /// A register, special register, variable, parameter, label or named constant.
    Name(&'a str),
    /// An integer constant: two's complement.
    Integer(u64),
    /// `0f…`: the bits.
    Single(u32),
    /// `0d…` or decimal: the value.
    Double(f64),
    /// `x+4`: the address of a variable, and an offset.
    Sum(&'a str, u64),
    /// `{a, b}`
    Vector(Vec<&'a str>),
    /// `[a]`, `[a+8]`
    Memory(&'a str, u64),
    /// `!p`
    Not(&'a str),
    /// `p|q`
    Pair(&'a str, &'a str),
}

impl<'a> Operand<'a> {
    /// Reads an operand; `None` if it is of no known shape.
    pub(super) fn parse(text: &'a str) -> Option<Operand<'a>> {
        let text = text.trim();
        if let Some(inside) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            return Some(Operand::Vector(lex::split_operands(inside).map(|range| &inside[range]).collect()));
        }
        if let Some(inside) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return memory(inside);
        }
        if let Some(name) = text.strip_prefix('!') {
            return is_name(name.trim()).then(|| Operand::Not(name.trim()));
        }
        if let Some((p, q)) = text.split_once('|') {
            let (p, q) = (p.trim(), q.trim());
            return (is_name(p) && is_name(q)).then_some(Operand::Pair(p, q));
        }
        if is_name(text) {
            return Some(Operand::Name(text));
        }
        constant(text).or_else(|| match memory(text)? {
            Operand::Memory(name, offset) if is_name(name) => Some(Operand::Sum(name, offset)),
            _ => None,
        })
    }
}

/// Letters, digits, `_`, `$`, `%` and the dot of a special register's component; not starting with a digit.
fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
    text.chars().all(word) && text.starts_with(|c: char| !c.is_ascii_digit() && c != '.')
}

fn memory(inside: &str) -> Option<Operand<'_>> {
    let inside = inside.trim();
    let (name, offset) = match inside.find(['+', '-']) {
        // `[%rd1+-8]` and `[%rd1-8]` mean the same.
        Some(0) | None => (inside, 0),
        Some(at) => {
            let sign = inside[at..].trim_start_matches(['+', ' ', '\t']);
            match constant(sign)? {
                Operand::Integer(offset) => (inside[..at].trim(), offset),
                _ => return None,
            }
        }
    };
    (is_name(name) || constant(name).is_some()).then_some(Operand::Memory(name, offset))
}

/// A numeric constant with its sign.
pub(super) fn constant<'a>(text: &str) -> Option<Operand<'a>> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits.trim_start()),
        None => (false, text),
    };
    if let Some(value) = lex::integer(digits) {
        return Some(Operand::Integer(if negative { value.wrapping_neg() } else { value }));
    }
    let hex = |prefix: [&str; 2], len: usize| {
        let digits = prefix.iter().find_map(|prefix| digits.strip_prefix(prefix))?;
        let all_hex = digits.len() == len && digits.bytes().all(|b| b.is_ascii_hexdigit());
        all_hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
    };
    if let Some(bits) = hex(["0f", "0F"], 8) {
        return Some(Operand::Single(bits as u32 ^ u32::from(negative) << 31));
    }
    if let Some(bits) = hex(["0d", "0D"], 16) {
        let value = f64::from_bits(bits);
        return Some(Operand::Double(if negative { -value } else { value }));
    }
    // Rust reads more as a float (`inf`, `nan`) than PTX writes.
    if digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.') {
        let value: f64 = digits.parse().ok()?;
        return Some(Operand::Double(if negative { -value } else { value }));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_read_by_their_shape() {
        let cases = [
            ("%r1", Operand::Name("%r1")),
            ("%tid.x", Operand::Name("%tid.x")),
            ("-5", Operand::Integer(-5i64 as u64)),
            ("0x10U", Operand::Integer(16)),
            ("0f3F800000", Operand::Single(0x3f80_0000)),
            ("-1.5", Operand::Double(-1.5)),
            ("[%rd1+-8]", Operand::Memory("%rd1", -8i64 as u64)),
            ("[ %rd1 + 0x10 ]", Operand::Memory("%rd1", 16)),
            ("[x-4]", Operand::Memory("x", -4i64 as u64)),
            ("{%r1, _}", Operand::Vector(vec!["%r1", "_"])),
            ("!%p1", Operand::Not("%p1")),
            ("%p1|%p2", Operand::Pair("%p1", "%p2")),
            ("table+16", Operand::Sum("table", 16)),
            ("table-4", Operand::Sum("table", -4i64 as u64)),
        ];
        for (text, operand) in cases {
            assert_eq!(Operand::parse(text), Some(operand), "{text}");
        }
        for text in ["", "[", "[]", "1.5.5", "%r1 %r2", "0f3F80", "(1+2)", "[%rd1*2]"] {
            assert_eq!(Operand::parse(text), None, "{text}");
        }
    }
}
