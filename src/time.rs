//! The time type of the state machines.

pub(crate) use std::time::Duration;

/// `now` plus a wait. Waits are clamped far below the range of [`Instant`].
pub(crate) fn after(now: Instant, wait: Duration) -> Instant {
    now.checked_add(wait).unwrap_or(now)
}

/// The earlier of two times that may be missing; `None` if both are missing.
pub(crate) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

/// The time type of the state machines: [`std::time::Instant`] if the standard library has a clock.
///
/// On `wasm32-unknown-unknown`, which has none, it is a type of this crate: the time since any
/// fixed moment, for example from JavaScript's `performance.now()`. Make it by
/// `Instant::from(Duration::from_secs_f64(milliseconds / 1000.0))`.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;

/// The time type of the state machines: the time since any fixed moment, because this target has no
/// clock.
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
    /// This time plus a duration; `None` on overflow.
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// This time minus a duration; `None` on overflow.
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }

    /// The time since an earlier one; zero if that one is later.
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}
