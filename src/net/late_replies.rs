//! Late replies to a fixed local port.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::io::Io;
use crate::time::after;

/// Until when servers may reply to earlier conversations over a fixed local port.
///
/// Most protocols have no number that ties a reply to its request, so a late reply would be the
/// answer of the next conversation over the same pair of addresses. After a conversation, the pair
/// therefore rests for as long as the conversation took: this is the longest round trip of a
/// request that was repeated and then answered. The port is closed meanwhile, and the system drops
/// what arrives.
///
/// Not recognised: a reply that takes longer than that, and a reply to another process or client
/// that had the same port.
#[derive(Debug, Clone, Default)]
pub(super) struct LateReplies {
    /// The ends of these rests. Expired ones are removed with each new one.
    rests: Arc<Mutex<BTreeMap<SocketAddr, Instant>>>,
}

impl LateReplies {
    /// The end of the rest of this server; `None` if it is over.
    pub(super) fn rest(&self, peer: SocketAddr, now: Instant) -> Option<Instant> {
        let until = self.lock().get(&peer).copied()?;
        (now < until).then_some(until)
    }

    /// Waits until no reply to an earlier conversation with this server is expected.
    pub(super) async fn wait<I: Io>(&self, peer: SocketAddr) {
        while let Some(until) = self.rest(peer, I::now()) {
            I::receive(&[], until, &mut Vec::new()).await;
        }
    }

    /// Records the end of a conversation that took this long.
    pub(super) fn expect(&self, peer: SocketAddr, now: Instant, took: Duration) {
        let mut rests = self.lock();
        rests.retain(|_, until| now < *until);
        rests.insert(peer, after(now, took));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SocketAddr, Instant>> {
        self.rests
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
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
    fn a_rest_ends_on_time_and_is_not_kept() {
        let (replies, mut now) = (LateReplies::default(), Instant::now());
        for port in 1..1000 {
            let peer = ([192, 0, 2, 1], port).into();
            let took = Duration::from_secs(1);
            replies.expect(peer, now, took);
            let end = now + took;
            assert_eq!(replies.rest(peer, now), Some(end));
            assert_eq!(replies.rest(peer, end), None);
            now = end;
        }
        assert_eq!(replies.lock().len(), 1);
    }
}
