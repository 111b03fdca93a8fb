//! Numbers and booleans as text.

use std::io::Write;
use std::time::Duration;

use bytes::BufMut;

use super::{MAX_WORD, lower_case};

/// Parses a decimal integer with an optional sign. White space around it is ignored; `None` for any
/// other byte.
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    // The usual case, which needs no checks for overflow.
    short_number(text).or_else(|| std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok())
}

/// A number of digits only, and of so few that it cannot overflow.
fn short_number(text: &[u8]) -> Option<i64> {
    const MAX_DIGITS: usize = 18;
    if text.is_empty() || text.len() > MAX_DIGITS {
        return None;
    }
    let mut number = 0_i64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.wrapping_mul(10).wrapping_add(digit.into());
    }
    Some(number)
}

/// Parses a decimal integer like [`integer`]; `None` if it does not fit the type.
pub(crate) fn number<T: TryFrom<i64>>(text: &[u8]) -> Option<T> {
    integer(text).and_then(|value| T::try_from(value).ok())
}

/// Parses a ping. A negative number means that it is not known.
pub(crate) fn ping(text: &[u8]) -> Option<i32> {
    number(text).filter(|ping| *ping >= 0)
}

/// A whole number, or the whole part of a fraction.
pub(crate) fn whole(text: &[u8]) -> Option<i64> {
    integer(text).or_else(|| whole_part(text))
}

/// The number before the point of a fraction.
fn whole_part(text: &[u8]) -> Option<i64> {
    let point = text.iter().position(|&byte| byte == b'.')?;
    let (before_point, fraction) = text.split_at_checked(point)?;
    let mut decimals = fraction.iter().skip(1);
    if !decimals.all(u8::is_ascii_digit) {
        return None;
    }
    integer(before_point)
}

/// The digits that a text begins with, as a number.
pub(crate) fn leading(text: &[u8]) -> Option<u32> {
    number(text.split(|byte| !byte.is_ascii_digit()).next()?)
}

/// Minutes with a fraction or without, as a duration in milliseconds; `None` for anything else.
pub(crate) fn minutes(text: &[u8]) -> Option<Duration> {
    let text = text.trim_ascii();
    if !text
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    {
        return None;
    }
    let minutes: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    Duration::try_from_secs_f64((minutes * 60_000.0).round() / 1000.0).ok()
}

/// Appends a decimal number, cut where the space ends.
pub(crate) fn put(value: i64, out: &mut impl BufMut) {
    let _ = write!(out.writer(), "{value}");
}

/// Parses a boolean as servers spell it: `0`/`1`, `true`/`false`, `yes`/`no`, `y`/`n`, `on`/`off`,
/// any case. Numbers other than 0 are true.
pub(crate) fn boolean(text: &[u8]) -> Option<bool> {
    match lower_case(text.trim_ascii(), &mut [0; MAX_WORD]) {
        b"true" | b"yes" | b"y" | b"on" => Some(true),
        b"false" | b"no" | b"n" | b"off" => Some(false),
        number => integer(number).map(|value| value != 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_decimal_with_an_optional_sign() {
        assert_eq!(integer(b" 152"), Some(152));
        assert_eq!(integer(b"-9999"), Some(-9999));
        assert_eq!(integer(b"+7"), Some(7));
        assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
        for bad in [
            &b""[..],
            b"-",
            b"5.00",
            b"1 2",
            b"9223372036854775808",
            b"0x10",
            b"12a",
        ] {
            assert_eq!(integer(bad), None, "{bad:?}");
        }
        assert_eq!(number::<u16>(b"65536"), None);
        assert_eq!(number::<u16>(b"65535"), Some(65535));
    }

    #[test]
    fn minutes_may_have_a_fraction() {
        assert_eq!(minutes(b" 20 "), Some(Duration::from_secs(1200)));
        assert_eq!(minutes(b"7.5"), Some(Duration::from_secs(450)));
        assert_eq!(minutes(b"0"), Some(Duration::ZERO));
        for bad in [
            "",
            "-1",
            "1e3",
            "inf",
            ".",
            "20 min",
            "1.2.3",
            "99999999999999999999999999",
        ] {
            assert_eq!(minutes(bad.as_bytes()), None, "{bad}");
        }
    }

    /// A text, and its value as an integer, a ping, a whole number, a number with anything after it,
    /// minutes in seconds, and a boolean.
    type Readings = (
        &'static str,
        Option<i64>,
        Option<i32>,
        Option<i64>,
        Option<u32>,
        Option<u64>,
        Option<bool>,
    );

    /// Spaces, signs, fractions and letters.
    const READINGS: [Readings; 18] = [
        (
            "3",
            Some(3),
            Some(3),
            Some(3),
            Some(3),
            Some(180),
            Some(true),
        ),
        (
            "0",
            Some(0),
            Some(0),
            Some(0),
            Some(0),
            Some(0),
            Some(false),
        ),
        (
            "26",
            Some(26),
            Some(26),
            Some(26),
            Some(26),
            Some(1560),
            Some(true),
        ),
        (" 3", Some(3), Some(3), Some(3), None, Some(180), Some(true)),
        (
            "\t3",
            Some(3),
            Some(3),
            Some(3),
            None,
            Some(180),
            Some(true),
        ),
        (
            "3 \n",
            Some(3),
            Some(3),
            Some(3),
            Some(3),
            Some(180),
            Some(true),
        ),
        ("3 0", None, None, None, Some(3), None, None),
        ("+3", Some(3), Some(3), Some(3), None, None, Some(true)),
        ("-3", Some(-3), None, Some(-3), None, None, Some(true)),
        ("- 3", None, None, None, None, None, None),
        ("3.5", None, None, Some(3), Some(3), Some(210), None),
        (" 3.5", None, None, Some(3), None, Some(210), None),
        ("3.5 ", None, None, None, Some(3), Some(210), None),
        ("-3.5", None, None, Some(-3), None, None, None),
        (".5", None, None, None, None, Some(30), None),
        ("3wnd", None, None, None, Some(3), None, None),
        ("d3", None, None, None, None, None, None),
        ("", None, None, None, None, None, None),
    ];

    #[test]
    fn each_reading_has_its_own_spaces_signs_and_ends() {
        for (text, as_integer, as_ping, as_whole, as_leading, as_minutes, as_boolean) in READINGS {
            let bytes = text.as_bytes();
            assert_eq!(integer(bytes), as_integer, "integer {text:?}");
            assert_eq!(ping(bytes), as_ping, "ping {text:?}");
            assert_eq!(whole(bytes), as_whole, "whole {text:?}");
            assert_eq!(leading(bytes), as_leading, "leading {text:?}");
            let as_minutes = as_minutes.map(Duration::from_secs);
            assert_eq!(minutes(bytes), as_minutes, "minutes {text:?}");
            assert_eq!(boolean(bytes), as_boolean, "boolean {text:?}");
        }
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        for value in [0, 7, -1, 10, 99, 1_000_000_007, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            put(value, &mut out);
            assert_eq!(out, value.to_string().into_bytes());
        }
    }
}
