//! Tokens that prove a client's address.

use std::net::SocketAddr;

use crate::secret::Secret;
use crate::time::{Duration, Instant};

/// The default time window.
const WINDOW: Duration = Duration::from_secs(15);

/// Issues and verifies tokens bound to an address with its port, a purpose and a time window.
///
/// A token is a keyed hash, so no table is needed, and a flood of requests uses no memory. A client
/// cannot compute the token of an address, so it must receive there. A token is valid in its own
/// window and the next one: for one to two windows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenIssuer {
    /// The secret from which tokens are derived.
    pub(crate) secret: Secret,
    /// In whole seconds.
    pub(crate) window: Duration,
    /// The start of the first window.
    pub(crate) started: Instant,
}

impl TokenIssuer {
    /// Issues tokens that are valid for 15 to 30 seconds. The first window starts now.
    pub(crate) const fn new(secret: Secret, now: Instant) -> Self {
        Self {
            secret,
            window: WINDOW,
            started: now,
        }
    }

    /// The token of this address and port for a purpose in the current window: 64 bits, which each
    /// protocol shortens or writes in its own form.
    pub(crate) fn issue(&self, now: Instant, address: SocketAddr, purpose: u16) -> u64 {
        let mut newest_first = self.valid(now, address, purpose);
        newest_first.next().unwrap_or_default()
    }

    /// The valid tokens of this address and port for a purpose: first that of the current window,
    /// then that of the one before.
    pub(crate) fn valid(
        &self,
        now: Instant,
        address: SocketAddr,
        purpose: u16,
    ) -> impl Iterator<Item = u64> {
        let passed = now.saturating_duration_since(self.started).as_secs();
        let window = passed
            .checked_div(self.window.as_secs())
            .unwrap_or_default();
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
#[allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "virtual time in tests"
)]
mod tests {
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
            assert!(!verify(at(last + 1), 3, token));
            for other in [4, 3 | 1 << 8, 3 | 1 << 15] {
                assert!(!verify(at(issued), other, token), "purpose {other}");
            }
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
