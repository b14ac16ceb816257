//! Counts, sizes and times as people write them.

use std::time::Duration;

/// Reads a count: `1000000`, `1_000_000`, `1e6`, `2.5e9`, or with a unit, `64K`, `10M`, `10G`, `1T`, in powers of 1000.
///
/// # Errors
/// The text is no such number, it is no integer, or it does not fit 64 bits.
pub fn parse_count(text: &str) -> Result<u64, String> {
    parse(text, 1000)
}

/// Reads a number of bytes: as [`parse_count`], and units are powers of 1024, also as `64KiB`.
///
/// # Errors
/// As [`parse_count`].
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    parse(text.strip_suffix("iB").unwrap_or(text), 1024)
}

/// Reads a time: `90`, `1.5` in seconds, or with a unit, `500ms`, `90s`, `10m`, `2h`.
///
/// # Errors
/// The text is no such time, or it is zero.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time: write 90, 1.5s, 500ms, 10m or 2h");
    let plain = text.trim();
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let unit = units.iter().find_map(|(unit, seconds)| Some((plain.strip_suffix(unit)?, *seconds)));
    let (number, unit) = unit.unwrap_or((plain, 1.0));
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = number.parse::<f64>().ok().filter(|_| is_number).ok_or_else(wrong)? * unit;
    let time = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
    if time.is_zero() { Err(format!("`{text}` is no time for anything")) } else { Ok(time) }
}

fn parse(text: &str, thousand: u128) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no number: write 1000000, 1_000_000, 1e6 or 1M");
    let plain = text.trim().replace('_', "");
    let upper = plain.to_ascii_uppercase();
    let unit = ['K', 'M', 'G', 'T'].iter().position(|unit| upper.ends_with(*unit));
    let (digits, unit) = match unit {
        Some(power) => (&upper[..upper.len() - 1], thousand.pow(power as u32 + 1)),
        None => (&upper[..], 1),
    };
    let (mantissa, exponent) = digits.split_once('E').map_or((digits, "0"), |(digits, exponent)| (digits, exponent));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: u32 = exponent.strip_prefix('+').unwrap_or(exponent).parse().map_err(|_| wrong())?;
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || fraction.len() > 18 {
        return Err(wrong());
    }
    let too_large = || format!("`{text}` does not fit 64 bits");
    let digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| too_large())?;
    let power = 10u128.checked_pow(exponent).and_then(|power| power.checked_mul(unit));
    let scaled = power.and_then(|power| power.checked_mul(digits)).ok_or_else(too_large)?;
    let divisor = 10u128.pow(fraction.len() as u32);
    if !scaled.is_multiple_of(divisor) {
        return Err(format!("`{text}` is no integer"));
    }
    u64::try_from(scaled / divisor).map_err(|_| too_large())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_write_them() {
        for (text, milliseconds) in [
            ("90", 90_000),
            ("1.5", 1500),
            ("1.5s", 1500),
            ("500ms", 500),
            ("10m", 600_000),
            ("2h", 7_200_000),
            (" 3 ", 3000),
        ] {
            assert_eq!(parse_time(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "s", "-1", "+1", "1e3", "inf", "nan", "1 s", "1d", "0", "0ms", "1..5", ".", &"9".repeat(400)] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_as_people_write_them() {
        for (text, count) in [
            ("0", 0),
            ("640", 640),
            ("1_000_000", 1_000_000),
            ("1e9", 1_000_000_000),
            ("1E+3", 1000),
            ("2.5e9", 2_500_000_000),
            ("1.50", 0),
            ("10G", 10_000_000_000),
            ("64k", 64_000),
            ("1.5M", 1_500_000),
            ("18446744073709551615", u64::MAX),
        ] {
            let expected = if text == "1.50" { Err("`1.50` is no integer".to_owned()) } else { Ok(count) };
            assert_eq!(parse_count(text), expected, "{text}");
        }
        assert_eq!(parse_bytes("64K"), Ok(65536));
        assert_eq!(parse_bytes("512KiB"), Ok(524_288));
        assert_eq!(parse_bytes("1e3"), Ok(1000));
        for text in
            ["", "_", "K", "e9", "1e", "1e-3", "-1", "+1", ".5", "1.", "0x10", "1 000", "1KK", "١", "1e1e1", "é"]
        {
            let wrong = parse_count(text).is_err();
            assert_eq!(wrong, text != "1.", "{text}");
        }
        for text in ["18446744073709551616", "1e20", "1e40", "1e4294967295", "99999999999999999999T", &"9".repeat(50)] {
            assert!(parse_count(text).unwrap_err().contains("64 bits"), "{text}");
        }
    }
}
