//! Tokens that prove an address: a client that quotes one can receive at the address that it was sent to.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::secret::Secret;

/// The default time window.
pub(crate) const WINDOW: Duration = Duration::from_secs(15);
/// The longest time for which a token of the default window is valid.
pub(crate) const LONGEST: Duration = Duration::from_secs(WINDOW.as_secs().saturating_mul(2));

/// Issues tokens bound to an address, its port and a time window, and verifies them without a table: each token is a keyed
/// hash. A flood of requests costs no memory, and a client cannot compute the token of an address at which it does not
/// receive.
///
/// A token is valid in the window in which it was issued and in the next one: for one to two windows.
///
/// ```
/// use std::time::{Duration, Instant};
/// use queryport::{Secret, TokenIssuer};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let tokens = TokenIssuer::new(Secret::new([7; 16]), Duration::from_secs(15), now);
/// let client = "192.0.2.1:5000".parse()?;
/// let token = tokens.issue(now, client);
/// assert!(tokens.verify(now + Duration::from_secs(15), client, |valid| valid == token));
/// assert!(!tokens.verify(now + Duration::from_secs(30), client, |valid| valid == token), "too old");
/// assert!(!tokens.verify(now, "192.0.2.1:5001".parse()?, |valid| valid == token), "another port");
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TokenIssuer {
    secret: Secret,
    window: Duration,
    started: Instant,
}

impl TokenIssuer {
    /// An issuer whose tokens derive from `secret`. `window`: 1 s–1 h, clamped. `now`: the start of the first window.
    #[must_use]
    pub fn new(secret: Secret, window: Duration, now: Instant) -> Self {
        let window = window.clamp(Duration::from_secs(1), Duration::from_secs(3600));
        Self { secret, window, started: now }
    }

    /// The token of this address and port in the current window: 64 bits, which a protocol shortens or formats as its wire
    /// format requires.
    #[must_use]
    pub fn issue(&self, now: Instant, address: SocketAddr) -> u64 {
        self.issue_for(now, address, 0)
    }

    /// Whether a quoted token is valid. `matches` compares it with each valid token and returns whether they are equal.
    pub fn verify(&self, now: Instant, address: SocketAddr, matches: impl FnMut(u64) -> bool) -> bool {
        self.verify_for(now, address, 0, matches)
    }

    /// [`Self::issue`], bound to a purpose as well.
    pub(crate) fn issue_for(&self, now: Instant, address: SocketAddr, purpose: u16) -> u64 {
        self.number(self.window_at(now), address, purpose)
    }

    /// [`Self::verify`], bound to a purpose as well.
    pub(crate) fn verify_for(
        &self,
        now: Instant,
        address: SocketAddr,
        purpose: u16,
        mut matches: impl FnMut(u64) -> bool,
    ) -> bool {
        let window = self.window_at(now);
        let windows = [Some(window), window.checked_sub(1)];
        windows.into_iter().flatten().any(|window| matches(self.number(window, address, purpose)))
    }

    fn number(&self, window: u64, address: SocketAddr, purpose: u16) -> u64 {
        self.secret.number("token", address, window.wrapping_shl(16) | u64::from(purpose))
    }

    fn window_at(&self, now: Instant) -> u64 {
        let passed = now.saturating_duration_since(self.started).as_nanos();
        let windows = passed.checked_div(self.window.as_nanos()).unwrap_or_default();
        u64::try_from(windows).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::disallowed_methods, reason = "virtual time in tests")]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_one_to_two_windows_and_for_one_purpose() {
        let start = Instant::now();
        let tokens = TokenIssuer::new(Secret::new([1; 16]), Duration::from_secs(2), start);
        let client = "192.0.2.1:5".parse().unwrap();
        let at = |ms| start + Duration::from_millis(ms);
        let verify =
            |now, purpose, token| tokens.verify_for(now, client, purpose, |valid: u64| valid == token);
        for (issued, last) in [(0, 3999), (1999, 3999), (2000, 5999)] {
            let token = tokens.issue_for(at(issued), client, 3);
            assert!(verify(at(issued), 3, token) && verify(at(last), 3, token));
            assert!(!verify(at(last + 1), 3, token) && !verify(at(issued), 4, token));
            // Without a purpose of its own it is that of none.
            assert!(!tokens.verify(at(issued), client, |valid| valid == token));
            let token = tokens.issue(at(issued), client);
            let other = "192.0.2.1:6".parse().unwrap();
            assert!(tokens.verify(at(last), client, |valid| valid == token));
            assert!(!tokens.verify(at(issued), other, |valid| valid == token), "another port");
        }
    }
}
