//! The secret from which nonces and tokens are derived.

use std::fmt;
use std::hash::Hasher;
use std::net::{IpAddr, SocketAddr};

use siphasher::sip::SipHasher24;

/// Sixteen secret bytes that nonces and tokens are derived from. `Debug` hides them.
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
    /// Makes a secret of these bytes, which must be cryptographically random except in tests.
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
    /// If the operating system provides no random bytes.
    #[cfg(feature = "os-entropy")]
    pub fn from_os() -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// A number that only the holder of the secret can compute.
    ///
    /// It depends on a purpose, an address with its port, and a counter, such as an attempt or a
    /// time window.
    ///
    /// ```
    /// use queryport::{Protocol, QueryOptions, Secret, StatusQuery};
    ///
    /// let secret = Secret::new([7; 16]); // in a program: random bytes
    /// let server = "192.0.2.2:27960".parse()?;
    /// let nonce = secret.number("query", server, 1); // another counter in the next attempt
    /// let query = StatusQuery::new(Protocol::Quake3, nonce, &QueryOptions::default());
    /// # Ok::<(), std::net::AddrParseError>(())
    /// ```
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
        // The IPv6 address has the bytes `abcdefghijkl`, then those of the IPv4 address.
        let longer = at("[6162:6364:6566:6768:696a:6b6c:c000:201]:1000");
        assert_ne!(
            secret.number("token", longer, 5),
            secret.number("tokenabcdefghijkl", at("192.0.2.1:1000"), 5),
            "a purpose and an address are told apart"
        );
    }

    #[test]
    fn debug_does_not_show_the_secret() {
        assert_eq!(format!("{:?}", Secret::new([0x41; 16])), "Secret(..)");
    }
}
