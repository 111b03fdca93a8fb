//! The challenge of `getinfo` and `getstatus`, which a reply quotes.

use crate::error::EncodeError;

/// Longest challenge that ioquake3, Quake3e and ET: Legacy answer, in bytes (code/server/sv_main.c; id's 1.32 has no limit).
pub(crate) const MAX_CHALLENGE: usize = 128;
/// Length of our challenges: what dpmaster sends at most, and every server accepts.
pub(crate) const LENGTH: usize = 11;

/// A challenge made from a number. It holds letters and digits only: no server refuses, replaces or splits them.
pub(crate) fn from_number(number: u64) -> [u8; LENGTH] {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = number;
    [(); LENGTH].map(|()| {
        let digit = usize::try_from(rest % 62).unwrap_or_default();
        rest /= 62;
        ALPHABET.get(digit).copied().unwrap_or(b'0')
    })
}

/// Checks that every server quotes a challenge unchanged.
pub(crate) fn check(challenge: &[u8]) -> Result<(), EncodeError> {
    if challenge.is_empty() {
        return Err(EncodeError::Empty("challenge"));
    }
    if challenge.len() > MAX_CHALLENGE {
        return Err(EncodeError::TooLong { field: "challenge", limit: MAX_CHALLENGE });
    }
    let is_safe = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'/' | b';' | b'"' | b'%');
    match challenge.iter().find(|&&byte| !is_safe(byte)) {
        Some(&byte) => Err(EncodeError::Forbidden { field: "challenge", byte }),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_safe_and_hold_all_bits_of_their_number() {
        let digit = |byte: &u8| match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            _ => byte - b'a' + 36,
        };
        for number in [0, 1, 2, 61, 62, u64::MAX] {
            let challenge = from_number(number);
            assert!(check(&challenge).is_ok() && challenge.iter().all(u8::is_ascii_alphanumeric));
            let value =
                challenge.iter().rev().fold(0_u128, |value, byte| value * 62 + u128::from(digit(byte)));
            assert_eq!(value, u128::from(number));
        }
    }

    #[test]
    fn a_challenge_that_would_not_come_back_is_refused() {
        for bad in [&b""[..], b"a b", b"a\\", b"a/b", b"a;", b"\"", b"50%", b"\xfc", b"a\n", &[b'x'; 129]] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
        assert!(check(&[b'x'; 128]).is_ok());
    }
}
