//! Floating point as `printf` writes it: `%e`, `%f`, `%g`, `%a`.

/// A value that is not negative.
pub(super) fn format(value: f64, conversion: u8, precision: Option<usize>, alternate: bool) -> String {
    let upper = conversion.is_ascii_uppercase();
    let text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        let precision = precision.map(|p| p.min(1 << 10));
        match conversion.to_ascii_lowercase() {
            b'f' => with_point(format!("{value:.*}", precision.unwrap_or(6)), alternate),
            b'e' => exponential(value, precision.unwrap_or(6), alternate),
            b'a' => hexadecimal(value, precision),
            _ => general(value, precision.unwrap_or(6).max(1), alternate),
        }
    };
    if upper { text.to_uppercase() } else { text }
}

fn with_point(text: String, alternate: bool) -> String {
    if alternate && !text.contains('.') { text + "." } else { text }
}

/// `1.500000e+00`: at least two digits of exponent.
fn exponential(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{}e{sign}{digits:0>2}", with_point(mantissa.to_owned(), alternate))
}

/// `%g`: the shorter of the two, without zeros at the end.
fn general(value: f64, precision: usize, alternate: bool) -> String {
    let scientific = format!("{value:.*e}", precision - 1);
    let exponent: i64 = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if exponent < -4 || exponent >= precision as i64 {
        let text = exponential(value, precision - 1, alternate);
        match text.split_once('e') {
            Some((mantissa, exponent)) if !alternate && mantissa.contains('.') => {
                format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => text,
        }
    } else {
        let text = format!("{value:.*}", (precision as i64 - 1 - exponent) as usize);
        if alternate {
            with_point(text, true)
        } else if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    }
}

/// `0x1.8p+0`
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let (exponent, mut fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    let (mut lead, exponent) = match exponent {
        0 if fraction == 0 => (0, 0),
        0 => (0, -1022),
        _ => (1, exponent - 1023),
    };
    let mut digits = 13;
    if let Some(precision) = precision.filter(|p| *p < 13) {
        // To nearest, ties to even.
        let drop = 4 * (13 - precision) as u32;
        let whole = (lead << 52) | fraction;
        let (kept, rest) = (whole >> drop, whole & ((1 << drop) - 1));
        let half = 1 << (drop - 1);
        let rounded = kept + u64::from(rest > half || rest == half && kept & 1 == 1);
        (lead, fraction) = (rounded << drop >> 52, rounded << drop & ((1 << 52) - 1));
        digits = precision;
    }
    let text = format!("{fraction:013x}");
    let text = match precision {
        None => text.trim_end_matches('0').to_owned(),
        Some(precision) => format!("{:0<precision$}", &text[..digits.min(13)]),
    };
    let point = if text.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{text}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn as_c_prints_it() {
        // What glibc's printf gives.
        let cases = [
            (1.5, b'f', None, "1.500000"),
            (1.5, b'f', Some(0), "2"),
            (2.5, b'f', Some(0), "2"),
            (0.1, b'e', None, "1.000000e-01"),
            (1e100, b'e', Some(2), "1.00e+100"),
            (0.0001, b'g', None, "0.0001"),
            (0.00001, b'g', None, "1e-05"),
            (100000.0, b'g', None, "100000"),
            (1000000.0, b'g', None, "1e+06"),
            (123456789.0, b'g', Some(3), "1.23e+08"),
            (0.0, b'g', None, "0"),
            (1.0, b'a', None, "0x1p+0"),
            (0.1, b'a', None, "0x1.999999999999ap-4"),
            (1.999, b'a', Some(1), "0x2.0p+0"),
            (f64::INFINITY, b'F', None, "INF"),
            (f64::NAN, b'f', None, "nan"),
        ];
        for (value, conversion, precision, text) in cases {
            assert_eq!(format(value, conversion, precision, false), text, "{value} {}", conversion as char);
        }
        assert_eq!(format(1.0, b'g', None, true), "1.00000");
    }
}
