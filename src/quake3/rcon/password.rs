//! A password that no output shows.

use std::fmt;

use bytes::Bytes;

/// A password. `Debug` does not show it.
///
/// ```
/// use queryport::quake3::Password;
///
/// let password = Password::new("secret");
/// assert!(password.matches(b"secret") && !password.matches(b"Secret"));
/// assert_eq!(format!("{password:?}"), "Password(..)");
/// ```
#[derive(Clone)]
pub struct Password(Bytes);

impl Password {
    /// Takes a password.
    #[must_use]
    pub fn new(password: impl Into<Bytes>) -> Self {
        Self(password.into())
    }

    /// The bytes, for sending.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether the given bytes are the password, in time that does not depend on how much of it is right.
    #[must_use]
    pub fn matches(&self, given: &[u8]) -> bool {
        let differing = self.0.iter().zip(given).fold(0_u8, |differing, (a, b)| differing | (a ^ b));
        differing == 0 && self.0.len() == given.len() && !given.is_empty()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_match_in_full_length_only() {
        let password = Password::new("secret");
        assert!(password.matches(b"secret"));
        for wrong in [&b""[..], b"secre", b"secrets", b"Secret"] {
            assert!(!password.matches(wrong));
        }
        assert!(!Password::new("").matches(b""), "no password lets nobody in");
    }
}
