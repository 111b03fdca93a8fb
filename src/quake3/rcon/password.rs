//! A password that no output shows, and DarkPlaces' signatures with it.

use std::fmt;

use bytes::Bytes;
#[cfg(feature = "secure-rcon")]
use hmac::{Hmac, KeyInit, Mac};
#[cfg(feature = "secure-rcon")]
use md4::Md4;

#[cfg(feature = "secure-rcon")]
use crate::quake3::wire::rcon::{MAC, SecureRconRequest};

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

#[cfg(feature = "secure-rcon")]
impl<'a> SecureRconRequest<'a> {
    /// Signs. `timed`, `signed`: see the fields. The password up to its first blank is the key, as on
    /// DarkPlaces. Feature `secure-rcon`.
    #[must_use]
    pub fn sign(timed: bool, password: &Password, signed: &'a [u8]) -> Self {
        Self { timed, mac: hmac_md4(password, signed), signed }
    }

    /// Whether the signature was made with this password. Whether the time or the challenge is valid is for the caller to
    /// check, see [`verify_challenge`](crate::quake3::server::verify_challenge). Feature `secure-rcon`.
    #[must_use]
    pub fn verify(&self, password: &Password) -> bool {
        !password.as_bytes().is_empty()
            && Password::new(hmac_md4(password, self.signed).to_vec()).matches(&self.mac)
    }
}

#[cfg(feature = "secure-rcon")]
fn hmac_md4(password: &Password, signed: &[u8]) -> [u8; MAC] {
    let key = password.as_bytes().split(|&byte| byte == b' ').next().unwrap_or_default();
    // HMAC takes keys of every length: there is no error.
    Hmac::<Md4>::new_from_slice(key)
        .map_or([0; MAC], |mac| mac.chain_update(signed).finalize().into_bytes().into())
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

    /// Computed with an independent MD4 (RFC 1320) and HMAC (RFC 2104).
    #[cfg(feature = "secure-rcon")]
    #[test]
    fn known_signatures() {
        let password = Password::new("secret");
        for (timed, signed, mac) in [
            (true, "1700000000.000123 status", "c6cf6c6ad27c18f387566c17a6039f2f"),
            (false, "ABCDEFGHIJK status", "9f0a54dcdcfb759e140ff546bcd26696"),
        ] {
            let request = SecureRconRequest::sign(timed, &password, signed.as_bytes());
            assert_eq!(hex::encode(request.mac), mac);
            assert!(request.verify(&password) && request.verify(&Password::new("secret and more")));
            assert!(!request.verify(&Password::new("Secret")) && !request.verify(&Password::new("")));
            let other = SecureRconRequest { signed: b"1700000000.000123 quit", ..request };
            assert!(!other.verify(&password));
        }
    }
}
