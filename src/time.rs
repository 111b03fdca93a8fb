//! The time that the state machines take as an argument.

pub(crate) use std::time::Duration;

/// `now` plus a wait. Waits are clamped far below the range of an [`Instant`].
pub(crate) fn after(now: Instant, wait: Duration) -> Instant {
    now.checked_add(wait).unwrap_or(now)
}

/// The time that the state machines take as an argument: [`std::time::Instant`] where the standard
/// library has a clock.
///
/// On `wasm32-unknown-unknown`, which has none, it is a type of this crate, made from the time
/// since any fixed moment, such as JavaScript's `performance.now()`:
/// `Instant::from(Duration::from_secs_f64(milliseconds / 1000.0))`.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;

/// The time that the state machines take as an argument: a time since any fixed moment, because the
/// target has no clock.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
impl From<Duration> for Instant {
    fn from(since: Duration) -> Self {
        Self(since)
    }
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
impl Instant {
    /// This time and a duration; `None` if that is too much.
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// This time without a duration; `None` if that is too much.
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }

    /// The time since an earlier one; zero if it is later.
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}
