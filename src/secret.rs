//! The secret that random-looking numbers follow from, and the tokens that prove an address.

use std::fmt;
use std::hash::Hasher;
use std::net::{IpAddr, SocketAddr};

use siphasher::sip::SipHasher24;

use crate::time::{Duration, Instant};

/// Sixteen secret bytes, from which nonces and tokens derive. `Debug` does not show them.
///
/// ```
/// use queryport::Secret;
///
/// let secret = Secret::new([7; 16]);
/// let peer = "192.0.2.1:27960".parse().unwrap();
/// assert_eq!(
///     secret.number("challenge", peer, 0),
///     secret.number("challenge", peer, 0)
/// );
/// assert_ne!(
///     secret.number("challenge", peer, 0),
///     secret.number("challenge", peer, 1)
/// );
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret([u8; 16]);

impl Secret {
    /// A secret of these bytes. They must come from a cryptographic random source, except in tests.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// A secret from the operating system's random source, feature `os-entropy` (part of `tokio`).
    ///
    /// ```
    /// # #[cfg(feature = "os-entropy")] {
    /// let secret = queryport::Secret::from_os()?;
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// The operating system's error when it has no entropy.
    #[cfg(feature = "os-entropy")]
    pub fn from_os() -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// A number that only the holder of the secret can compute, bound to a purpose, to an address with its port, and to a
    /// counter (an attempt, a time window).
    pub fn number(&self, purpose: &str, address: SocketAddr, counter: u64) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        // The length comes first, so that no two inputs hash the same bytes.
        hasher.write_usize(purpose.len());
        hasher.write(purpose.as_bytes());
        match address.ip().to_canonical() {
            IpAddr::V4(ip) => hasher.write(&ip.octets()),
            IpAddr::V6(ip) => hasher.write(&ip.octets()),
        }
        hasher.write_u16(address.port());
        hasher.write_u64(counter);
        hasher.finish()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The default time window.
pub(crate) const WINDOW: Duration = Duration::from_secs(15);

/// Issues tokens bound to an address, its port, a purpose and a time window, and verifies them without a table: each token is
/// a keyed hash. A flood of requests costs no memory, and a client cannot compute the token of an address at which it does not
/// receive.
///
/// A token is valid in the window in which it was issued and in the next one: for one to two windows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenIssuer {
    /// The secret that tokens derive from.
    pub(crate) secret: Secret,
    pub(crate) window: Duration,
    /// The start of the first window.
    pub(crate) started: Instant,
}

impl TokenIssuer {
    /// The token of this address and port for a purpose in the current window: 64 bits, which a protocol shortens or formats as
    /// its wire format requires.
    pub(crate) fn issue(&self, now: Instant, address: SocketAddr, purpose: u16) -> u64 {
        self.valid(now, address, purpose).next().unwrap_or_default()
    }

    /// The valid tokens of this address and port for a purpose: of the current window, and of the one before.
    pub(crate) fn valid(
        &self,
        now: Instant,
        address: SocketAddr,
        purpose: u16,
    ) -> impl Iterator<Item = u64> {
        let passed = now.saturating_duration_since(self.started).as_nanos();
        let windows = passed
            .checked_div(self.window.as_nanos())
            .unwrap_or_default();
        let window = u64::try_from(windows).unwrap_or(u64::MAX);
        let number = move |window: u64| {
            self.secret.number(
                "token",
                address,
                window.wrapping_shl(16) | u64::from(purpose),
            )
        };
        [Some(window), window.checked_sub(1)]
            .into_iter()
            .flatten()
            .map(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_changes_the_number() {
        let secret = Secret::new([1; 16]);
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let base = secret.number("token", at("192.0.2.1:1000"), 5);
        assert_ne!(
            base,
            Secret::new([2; 16]).number("token", at("192.0.2.1:1000"), 5)
        );
        assert_ne!(base, secret.number("nonce", at("192.0.2.1:1000"), 5));
        assert_ne!(base, secret.number("token", at("192.0.2.2:1000"), 5));
        assert_ne!(base, secret.number("token", at("192.0.2.1:1001"), 5));
        assert_ne!(base, secret.number("token", at("192.0.2.1:1000"), 6));
        assert_eq!(
            base,
            secret.number("token", at("[::ffff:192.0.2.1]:1000"), 5),
            "v4-mapped is v4"
        );
    }

    #[test]
    fn debug_does_not_show_the_secret() {
        assert_eq!(format!("{:?}", Secret::new([0x41; 16])), "Secret(..)");
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "virtual time in tests"
)]
mod token_tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_one_to_two_windows_and_for_one_purpose() {
        let start = Instant::now();
        let tokens = TokenIssuer {
            secret: Secret::new([1; 16]),
            window: Duration::from_secs(2),
            started: start,
        };
        let client = "192.0.2.1:5".parse().unwrap();
        let at = |ms| start + Duration::from_millis(ms);
        let verify = |now, purpose, token| {
            tokens
                .valid(now, client, purpose)
                .any(|valid| valid == token)
        };
        for (issued, last) in [(0, 3999), (1999, 3999), (2000, 5999)] {
            let token = tokens.issue(at(issued), client, 3);
            assert!(verify(at(issued), 3, token) && verify(at(last), 3, token));
            assert!(!verify(at(last + 1), 3, token) && !verify(at(issued), 4, token));
            let other = "192.0.2.1:6".parse().unwrap();
            assert!(
                !tokens
                    .valid(at(issued), other, 3)
                    .any(|valid| valid == token),
                "another port"
            );
        }
    }
}
