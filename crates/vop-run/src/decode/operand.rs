//! The text of an operand, before any name is looked up.

use vop_ptx::module::lex;

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
    /// `x[2]`, `x[%r1+2]`: an element of an array, by a register if there is one and a number.
    Element(&'a str, Option<&'a str>, u64),
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
        if let Some(name) = text.strip_prefix('!').map(str::trim)
            && is_name(name)
        {
            return Some(Operand::Not(name));
        }
        if let Some((p, q)) = text.split_once('|') {
            let (p, q) = (p.trim(), q.trim());
            if is_name(p) && is_name(q) {
                return Some(Operand::Pair(p, q));
            }
        }
        if is_name(text) {
            return Some(Operand::Name(text));
        }
        constant(text).or_else(|| element(text)).or_else(|| match memory(text)? {
            Operand::Memory(name, offset) if is_name(name) => Some(Operand::Sum(name, offset)),
            _ => None,
        })
    }
}

fn element(text: &str) -> Option<Operand<'_>> {
    let (name, index) = text.strip_suffix(']')?.split_once('[')?;
    let name = name.trim_end();
    if !is_name(name) {
        return None;
    }
    if let Some(Operand::Integer(index)) = constant(index.trim()) {
        return Some(Operand::Element(name, None, index));
    }
    match memory(index)? {
        Operand::Memory(register, offset) if is_name(register) => Some(Operand::Element(name, Some(register), offset)),
        _ => None,
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
            let signed = inside[at..].trim_start_matches(['+', ' ', '\t']);
            match constant(signed)? {
                Operand::Integer(offset) => (inside[..at].trim(), offset),
                _ => return None,
            }
        }
    };
    (is_name(name) || constant(name).is_some()).then_some(Operand::Memory(name, offset))
}

/// A numeric constant: a number with its sign, or an expression of integers.
pub(super) fn constant<'a>(text: &str) -> Option<Operand<'a>> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits.trim_start()),
        None => (false, text),
    };
    if let Some(value) = lex::integer(digits) {
        return Some(Operand::Integer(if negative { value.wrapping_neg() } else { value }));
    }
    match hexadecimal(digits) {
        Some(Operand::Single(bits)) => return Some(Operand::Single(bits ^ u32::from(negative) << 31)),
        Some(Operand::Double(value)) => return Some(Operand::Double(if negative { -value } else { value })),
        _ => {}
    }
    if let Some(value) = decimal(digits) {
        return Some(Operand::Double(if negative { -value } else { value }));
    }
    let expression = Expression::value(text).map(Operand::Integer);
    expression.or_else(|| FloatExpression::value(text).map(Operand::Double))
}

/// `0f3f800000`, `0d3ff0000000000000`
fn hexadecimal<'a>(text: &str) -> Option<Operand<'a>> {
    let hex = |prefix: [&str; 2], len: usize| {
        let digits = prefix.iter().find_map(|prefix| text.strip_prefix(prefix))?;
        let all_hex = digits.len() == len && digits.bytes().all(|b| b.is_ascii_hexdigit());
        all_hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
    };
    if let Some(bits) = hex(["0f", "0F"], 8) {
        return Some(Operand::Single(bits as u32));
    }
    hex(["0d", "0D"], 16).map(|bits| Operand::Double(f64::from_bits(bits)))
}

/// `1.5`, `.5`, `1e3`. Rust reads more as a float (`inf`, `nan`, `1`) than PTX writes.
fn decimal(text: &str) -> Option<f64> {
    let starts = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let is_float = starts && text.contains(['.', 'e', 'E']);
    if is_float { text.parse().ok() } else { None }
}

/// A constant expression of floating point: sums, differences, products and quotients in double precision.
struct FloatExpression<'a> {
    rest: &'a str,
    depth: usize,
}

impl FloatExpression<'_> {
    fn value(text: &str) -> Option<f64> {
        let mut expression = FloatExpression { rest: text, depth: 0 };
        let value = expression.sum()?;
        expression.rest.trim_start().is_empty().then_some(value)
    }

    fn take(&mut self, tokens: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let token = rest.chars().next().filter(|token| tokens.contains(token))?;
        self.rest = &rest[1..];
        Some(token)
    }

    fn sum(&mut self) -> Option<f64> {
        let mut a = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let b = self.product()?;
            a = if operator == '+' { a + b } else { a - b };
        }
        Some(a)
    }

    fn product(&mut self) -> Option<f64> {
        let mut a = self.unary()?;
        while let Some(operator) = self.take(&['*', '/']) {
            let b = self.unary()?;
            a = if operator == '*' { a * b } else { a / b };
        }
        Some(a)
    }

    fn unary(&mut self) -> Option<f64> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = match self.take(&['+', '-', '(']) {
            Some('+') => self.unary()?,
            Some('-') => -self.unary()?,
            Some(_) => {
                let value = self.sum()?;
                self.take(&[')'])?;
                value
            }
            None => {
                let rest = self.rest.trim_start();
                let (number, after) = rest.split_at(number_length(rest));
                self.rest = after;
                match number {
                    "" => return None,
                    number => decimal(number).or_else(|| match hexadecimal(number)? {
                        Operand::Single(bits) => Some(f64::from(f32::from_bits(bits))),
                        Operand::Double(value) => Some(value),
                        _ => None,
                    })?,
                }
            }
        };
        self.depth -= 1;
        Some(value)
    }
}

/// How long a number is that a text starts with: a sign behind an `e` belongs to it.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_hexadecimal = ["0f", "0F", "0d", "0D", "0x", "0X"].iter().any(|prefix| text.starts_with(prefix));
    let belongs = |at: usize| match bytes[at] {
        b'+' | b'-' => at > 0 && matches!(bytes[at - 1], b'e' | b'E') && !is_hexadecimal,
        b => b.is_ascii_alphanumeric() || b == b'.',
    };
    (0..bytes.len()).position(|at| !belongs(at)).unwrap_or(bytes.len())
}

/// An integer constant expression, as assembly in CUDA C++ has them (`32-2`): the operators of C on 64 bits, which are unsigned if
/// an operand is (manual, "Constant Expressions").
struct Expression<'a> {
    rest: &'a str,
    /// The number of operands that enclose this one.
    depth: usize,
}

/// Operands nested deeper than this are refused: each takes a nested call.
const MAX_DEPTH: usize = 64;

/// Binary operators by precedence, the weakest first; a longer operator stands before a shorter one that it starts with.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

#[derive(Clone, Copy)]
struct Number {
    bits: u64,
    unsigned: bool,
}

impl Expression<'_> {
    fn value(text: &str) -> Option<u64> {
        let mut expression = Expression { rest: text, depth: 0 };
        let number = expression.choice()?;
        expression.rest.trim_start().is_empty().then_some(number.bits)
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// `a ? b : c`
    fn choice(&mut self) -> Option<Number> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let condition = self.binary(0)?;
        let value = if self.take("?") {
            let yes = self.choice()?;
            let no = if self.take(":") { self.choice()? } else { return None };
            let chosen = if condition.bits != 0 { yes } else { no };
            Number { unsigned: yes.unsigned || no.unsigned, ..chosen }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    fn binary(&mut self, level: usize) -> Option<Number> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut a = self.binary(level + 1)?;
        loop {
            let rest = self.rest.trim_start();
            let Some(operator) = operators.iter().find(|operator| rest.starts_with(**operator)) else { return Some(a) };
            // What starts like this operator may be a longer one of another level: `a || b`, `a << b`.
            let longer = LEVELS.iter().copied().flatten().any(|o| o.len() > operator.len() && rest.starts_with(o));
            if longer {
                return Some(a);
            }
            self.rest = &rest[operator.len()..];
            let b = self.binary(level + 1)?;
            a = apply(operator, a, b)?;
        }
    }

    fn unary(&mut self) -> Option<Number> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let number = if self.take("+") {
            self.unary()?
        } else if self.take("-") {
            let a = self.unary()?;
            Number { bits: a.bits.wrapping_neg(), ..a }
        } else if self.take("~") {
            let a = self.unary()?;
            Number { bits: !a.bits, ..a }
        } else if self.take("!") {
            Number { bits: u64::from(self.unary()?.bits == 0), unsigned: false }
        } else if self.take("(") {
            let cast = [(".s64", false), (".u64", true)].into_iter().find(|(name, _)| self.take(name));
            match cast {
                Some((_, unsigned)) => {
                    let a = if self.take(")") { self.unary()? } else { return None };
                    Number { unsigned, ..a }
                }
                None => {
                    let a = self.choice()?;
                    if !self.take(")") {
                        return None;
                    }
                    a
                }
            }
        } else {
            let rest = self.rest.trim_start();
            let (word, after) =
                rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len()));
            self.rest = after;
            let bits = if word == "WARP_SZ" { 32 } else { lex::integer(word)? };
            Number { bits, unsigned: word.ends_with(['U', 'u']) || bits >> 63 != 0 }
        };
        self.depth -= 1;
        Some(number)
    }
}

/// `None` for a division by zero.
fn apply(operator: &str, a: Number, b: Number) -> Option<Number> {
    let unsigned = a.unsigned || b.unsigned;
    let (x, y) = (a.bits, b.bits);
    let (s, t) = (x as i64, y as i64);
    let truth = |value: bool| Some(Number { bits: u64::from(value), unsigned: false });
    let shift = u32::try_from(y).unwrap_or(u32::MAX);
    let bits = match operator {
        "||" => return truth(x != 0 || y != 0),
        "&&" => return truth(x != 0 && y != 0),
        "==" => return truth(x == y),
        "!=" => return truth(x != y),
        "<=" => return truth(if unsigned { x <= y } else { s <= t }),
        ">=" => return truth(if unsigned { x >= y } else { s >= t }),
        "<" => return truth(if unsigned { x < y } else { s < t }),
        ">" => return truth(if unsigned { x > y } else { s > t }),
        // The type of a shift is that of what is shifted.
        "<<" => return Some(Number { bits: x.checked_shl(shift).unwrap_or(0), ..a }),
        ">>" if a.unsigned => return Some(Number { bits: x.checked_shr(shift).unwrap_or(0), ..a }),
        ">>" => return Some(Number { bits: (s >> shift.min(63)) as u64, ..a }),
        "|" => x | y,
        "^" => x ^ y,
        "&" => x & y,
        "+" => x.wrapping_add(y),
        "-" => x.wrapping_sub(y),
        "*" => x.wrapping_mul(y),
        _ if y == 0 => return None,
        "/" if unsigned => x / y,
        "/" => s.wrapping_div(t) as u64,
        _ if unsigned => x % y,
        _ => s.wrapping_rem(t) as u64,
    };
    Some(Number { bits, unsigned })
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
            ("table[2]", Operand::Element("table", None, 2)),
            ("table [ 1 + 1 ]", Operand::Element("table", None, 2)),
            ("table[-1]", Operand::Element("table", None, -1i64 as u64)),
            ("table[%r1]", Operand::Element("table", Some("%r1"), 0)),
            ("table[%r1 + 2]", Operand::Element("table", Some("%r1"), 2)),
            ("%v1.x", Operand::Name("%v1.x")),
            ("1e3", Operand::Double(1000.0)),
            (".5", Operand::Double(0.5)),
            ("5.", Operand::Double(5.0)),
            ("-1.5e-3", Operand::Double(-0.0015)),
            ("1.0+2.0*3.0", Operand::Double(7.0)),
            ("-(1.5)", Operand::Double(-1.5)),
            ("1e-1+0f3f800000", Operand::Double(1.1)),
            ("(1.0 - 2.5) / 2.0", Operand::Double(-0.75)),
        ];
        for (text, operand) in cases {
            assert_eq!(Operand::parse(text), Some(operand), "{text}");
        }
        for text in [
            "", "[", "[]", "1.5.5", "%r1 %r2", "table[]", "table[1", "[1]table", "1.0 2.0", "(1.0", "1.0+", "x[1][2]",
            "0f3F80", "(1+%r2)", "[%rd1*2]", "1.5+x", "!", "!|", "a|1",
        ] {
            assert_eq!(Operand::parse(text), None, "{text}");
        }
    }

    #[test]
    fn constant_expressions_are_those_of_c() {
        let minus = |n: i64| -n as u64;
        let cases = [
            ("32-2", 30),
            ("(1+2)*3-4/2", 7),
            ("1+2*3", 7),
            ("10-4-3", 3),
            ("-7/2", minus(3)),
            ("-7%4", minus(3)),
            ("-7U/2", (minus(7)) / 2),
            ("~0", u64::MAX),
            ("!0 + !5", 1),
            ("1<<4|1", 17),
            ("1 << 65", 0),
            ("-16>>2", minus(4)),
            ("-16>>100", u64::MAX),
            ("(.u64)-16>>60", 15),
            ("-1 < 0", 1),
            ("-1 < 0U", 0),
            ("1 ? 2 : 3", 2),
            ("0 ? 2 : 0 ? 4 : 5", 5),
            ("3 & 5 ^ 1", 0),
            ("2 == 2 && 3 != 3 || 4 >= 4", 1),
            ("WARP_SZ - 1", 31),
            ("0x10 + 010 + 0b11", 27),
            ("- - 5", 5),
        ];
        for (text, value) in cases {
            assert_eq!(Operand::parse(text), Some(Operand::Integer(value)), "{text}");
        }
        assert_eq!(Operand::parse("[%rd1+4*(2+1)-1]"), Some(Operand::Memory("%rd1", 11)));
        assert_eq!(Operand::parse("[%rd1-4*2]"), Some(Operand::Memory("%rd1", minus(8))));
        let (deep, long) = ("(".repeat(10_000) + "1", "-".repeat(10_000) + "1");
        for text in ["1/0", "1%0", "1 +", "(1", "1)", "1 2", "1 ? 2", "< 1", "(.u32)1", "1 < < 2", &deep, &long] {
            assert_eq!(Operand::parse(text), None, "{text}");
        }
    }
}
