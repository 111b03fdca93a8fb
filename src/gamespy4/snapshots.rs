//! Which status a token stands for.

use std::collections::VecDeque;
use std::sync::Arc;

use super::wire::request::Command;
use crate::model::ServerStatus;

/// Most statuses that are kept. With fewer changes in 30 s, every token serves for as long as it is valid.
const MAX_SNAPSHOTS: usize = 64;

/// The statuses that tokens were issued for, so that every reply to one token is made from one status.
///
/// A data request that is delivered twice has two replies with one request id. Made from two statuses, their datagrams
/// could be put together to what never was. GameSpy's own code (QR2 SDK, qr2.c) takes each challenge once, which also
/// refuses a client that asks again because the reply was lost. Here the token names the status that was current when it
/// was issued: asking again with it brings the same reply.
///
/// Nothing is kept for a client. The memory is that of the last 64 statuses that a challenge, or a reply without one, was sent
/// for; a token for an older one is not accepted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshots {
    /// The latest stands last. Their numbers rise by one.
    held: VecDeque<Arc<ServerStatus>>,
    /// The number of the latest.
    latest: u64,
}

impl Snapshots {
    /// The number of the snapshot to answer this command from, and its status where that is not the current one.
    pub(crate) fn choose(
        &mut self,
        command: Command<'_>,
        current: &Arc<ServerStatus>,
    ) -> (u64, Option<Arc<ServerStatus>>) {
        match command {
            // A reply without a token is made from the current status, which needs a number too.
            Command::Challenge | Command::Data { challenge: None, .. } => {
                if !self.held.back().is_some_and(|latest| Arc::ptr_eq(latest, current)) {
                    if self.held.len() >= MAX_SNAPSHOTS {
                        self.held.pop_front();
                    }
                    self.held.push_back(Arc::clone(current));
                    self.latest = self.latest.wrapping_add(1);
                }
                (self.latest, None)
            }
            Command::Data { challenge: Some(challenge), .. } => {
                let age = self.latest.wrapping_sub(low_bits(challenge).into()) & u64::from(LOW_BITS);
                let back = usize::try_from(age).ok().and_then(|age| age.checked_add(1));
                let at = back.and_then(|back| self.held.len().checked_sub(back));
                match at.and_then(|at| self.held.get(at)) {
                    Some(status) => (self.latest.wrapping_sub(age), Some(Arc::clone(status))),
                    // No token was issued for the next number.
                    None => (self.latest.wrapping_add(1), None),
                }
            }
        }
    }
}

/// The number of a snapshot as tokens are bound to it, of 12 bits: one recurs only when its tokens are long out of date.
pub(crate) fn bound(number: u64) -> u16 {
    u16::try_from(number & 0xFFF).unwrap_or_default()
}

/// A token holds the lowest bits of its snapshot's number: as many as tell those that are kept apart.
pub(super) const LOW_BITS: u16 = 63;

/// The part of a snapshot's number that a token holds.
pub(super) fn low_bits(token: i32) -> u16 {
    u16::try_from(token & i32::from(LOW_BITS)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gamespy4::wire::request::Selection;

    fn data(snapshot: u64) -> Command<'static> {
        let challenge = Some(1 << 20 | i32::from(bound(snapshot) & LOW_BITS));
        Command::Data { challenge, selection: Selection::ALL }
    }

    #[test]
    fn a_token_stands_for_its_status_as_long_as_that_is_kept() {
        let mut snapshots = Snapshots::default();
        let statuses: Vec<_> = (0..5000).map(|_| Arc::new(ServerStatus::default())).collect();
        let mut numbers = Vec::new();
        for (index, status) in statuses.iter().enumerate() {
            let (number, other) = snapshots.choose(Command::Challenge, status);
            assert!(other.is_none());
            assert_eq!(snapshots.choose(Command::Challenge, status).0, number, "one number for one status");
            numbers.push(number);
            for age in [0, 1, 62, 63, 64, 65, 200] {
                let Some(at) = index.checked_sub(age) else { continue };
                let (found, chosen) = snapshots.choose(data(numbers[at]), status);
                let is_kept = chosen.is_some_and(|chosen| Arc::ptr_eq(&chosen, &statuses[at]));
                assert_eq!(is_kept, age < MAX_SNAPSHOTS, "{index} {age}");
                assert_eq!(found == numbers[at], age < MAX_SNAPSHOTS, "{index} {age}");
            }
            assert!(snapshots.held.len() <= MAX_SNAPSHOTS);
        }
    }
}
