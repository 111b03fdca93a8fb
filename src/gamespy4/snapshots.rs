//! The token in a challenge: it proves an address, and names the status that replies to it are made from.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::wire::request::Command;
use crate::model::ServerStatus;
use crate::reply::Requester;
use crate::secret::LONGEST;

/// Most statuses that are kept. With fewer changes in 30 s, every token serves for as long as it is valid.
const MAX_SNAPSHOTS: usize = 64;

/// The statuses that tokens were issued for, so that every reply to one token is made from one status.
///
/// A data request that is delivered twice has two replies with one request id. Made from two statuses, their datagrams
/// could be put together to what never was. GameSpy's own code (QR2 SDK, qr2.c) takes each challenge once, which also
/// refuses a client that asks again because the reply was lost. Here the token names the status that was current when it
/// was issued: asking again with it brings the same reply.
///
/// Nothing is kept for a client. The memory is that of the statuses that a challenge, or a reply without one, was sent for
/// in the last 30 s, 64 at most; a token for an older one is not accepted. Each status kept makes one
/// more token value valid, so keep few.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshots {
    /// The statuses, and when the last challenge was sent for each. The latest stands last. Their numbers rise by one.
    held: VecDeque<(Arc<ServerStatus>, Instant)>,
    /// The number of the latest.
    latest: u64,
}

impl Snapshots {
    /// The snapshot to answer this command from. `current`: the status that is being served.
    pub(crate) fn choose(
        &mut self,
        command: Command<'_>,
        requester: &Requester,
        current: &Arc<ServerStatus>,
    ) -> Chosen {
        match command {
            // A reply without a token is made from the current status, whose number is that of its templates too.
            Command::Challenge | Command::Data { challenge: None, .. } => {
                self.keep(requester.now, current);
                Chosen { number: self.latest, status: None, verified: None }
            }
            Command::Data { challenge: Some(challenge), .. } => {
                let mut found = None;
                let verified = verify(requester, challenge, |name| {
                    found = self.find(requester.now, name);
                    found.is_some()
                });
                let number = found.map_or(self.latest, |(number, _)| number);
                let status = found.map(|(_, status)| Arc::clone(status));
                Chosen { number, status, verified: Some(verified) }
            }
        }
    }

    /// Keeps the current status, and drops those whose tokens have run out.
    fn keep(&mut self, now: Instant, current: &Arc<ServerStatus>) {
        // The current one keeps its number, however old.
        let is_current = match self.held.back_mut().filter(|(latest, _)| Arc::ptr_eq(latest, current)) {
            Some((_, issued)) => {
                *issued = now;
                true
            }
            None => false,
        };
        while self.held.front().is_some_and(|(_, issued)| !is_valid(now, *issued)) {
            self.held.pop_front();
        }
        if is_current {
            return;
        }
        if self.held.len() >= MAX_SNAPSHOTS {
            self.held.pop_front();
        }
        self.held.push_back((Arc::clone(current), now));
        self.latest = self.latest.wrapping_add(1);
    }

    /// The snapshot of this name, and its number.
    fn find(&self, now: Instant, name: u16) -> Option<(u64, &Arc<ServerStatus>)> {
        let age = self.latest.wrapping_sub(name.into()) & NAMES;
        let back = usize::try_from(age).ok()?.checked_add(1)?;
        let (status, issued) = self.held.get(self.held.len().checked_sub(back)?)?;
        is_valid(now, *issued).then_some((self.latest.wrapping_sub(age), status))
    }
}

/// A snapshot to answer from.
pub(crate) struct Chosen {
    /// No two statuses have the same number.
    pub(crate) number: u64,
    /// The status where it may not be the current one.
    pub(crate) status: Option<Arc<ServerStatus>>,
    /// Whether the quoted token is valid, where the request quotes one.
    pub(crate) verified: Option<bool>,
}

/// Whether a token can still be valid that was issued then.
fn is_valid(now: Instant, issued: Instant) -> bool {
    now.saturating_duration_since(issued) < LONGEST
}

/// Tokens name a snapshot by the last 12 bits of its number: one recurs only when its tokens are long out of date.
const NAMES: u64 = 0xFFF;

/// The name of a snapshot in tokens.
pub(crate) fn name(number: u64) -> u16 {
    u16::try_from(number & NAMES).unwrap_or_default()
}

/// Tells this protocol's tokens from those of others that follow from the same secret.
const PURPOSE: u16 = 4;
/// The bits of a token that name a status, hidden by the random bits of the address: nobody else can read them.
const NAME: u32 = 0xFFF;

/// The token of a requester for a status.
pub(super) fn issue(requester: &Requester, status: u16) -> i32 {
    token(requester.tokens.issue_for(requester.now, requester.address, PURPOSE), status)
}

/// Whether a quoted token is the requester's. `is_known` says whether there is a status of this name; it is called at most
/// once for each time window in which the token can have been issued.
pub(super) fn verify(requester: &Requester, quoted: i32, mut is_known: impl FnMut(u16) -> bool) -> bool {
    let Requester { address, now, tokens, .. } = *requester;
    tokens.verify_for(now, address, PURPOSE, |number| named(number, quoted).is_some_and(&mut is_known))
}

/// The token as the wire spells it: 1–2,147,483,647. 0 would say that no token is demanded, and some tools misread a sign.
fn token(number: u64, status: u16) -> i32 {
    i32::try_from(random(number) ^ (u32::from(status) & NAME)).unwrap_or(i32::MAX)
}

/// The status that a token names if it is of this number.
fn named(number: u64, token: i32) -> Option<u16> {
    let name = random(number) ^ u32::try_from(token).ok()?;
    u16::try_from(name).ok().filter(|&name| u32::from(name) <= NAME)
}

/// 31 bits, of which those above the name are not all 0: so no name makes a token of 0.
fn random(number: u64) -> u32 {
    let bits = u32::try_from(number & u64::from(i32::MAX.unsigned_abs())).unwrap_or_default();
    if bits > NAME { bits } else { bits | 1 << 30 }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::disallowed_methods, reason = "virtual time in tests")]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::gamespy4::wire::request::Selection;
    use crate::secret::Secret;

    /// A data request that quotes a token, on its way through the snapshots.
    fn data(
        snapshots: &mut Snapshots,
        requester: &Requester,
        token: i32,
        current: &Arc<ServerStatus>,
    ) -> Chosen {
        let command = Command::Data { challenge: Some(token), selection: Selection::ALL };
        snapshots.choose(command, requester, current)
    }

    fn requester(now: Instant) -> Requester {
        Requester::new("192.0.2.1:5000".parse().unwrap(), now, Secret::new([7; 16]))
    }

    #[test]
    fn a_token_stands_for_its_status_as_long_as_that_is_kept() {
        let (mut snapshots, requester) = (Snapshots::default(), requester(Instant::now()));
        let statuses: Vec<_> = (0..5000).map(|_| Arc::new(ServerStatus::default())).collect();
        let mut tokens = Vec::new();
        for (index, status) in statuses.iter().enumerate() {
            let number = snapshots.choose(Command::Challenge, &requester, status).number;
            let again = snapshots.choose(Command::Challenge, &requester, status).number;
            assert_eq!(again, number, "one number for one status");
            tokens.push((number, issue(&requester, name(number))));
            for age in [0, 1, 62, 63, 64, 65, 200] {
                let Some(at) = index.checked_sub(age) else { continue };
                let chosen = data(&mut snapshots, &requester, tokens[at].1, status);
                let is_kept = chosen.status.is_some_and(|status| Arc::ptr_eq(&status, &statuses[at]));
                assert_eq!(is_kept, age < MAX_SNAPSHOTS, "{index} {age}");
                assert_eq!(chosen.verified, Some(is_kept), "{index} {age}");
                assert!(!is_kept || chosen.number == tokens[at].0);
            }
            assert!(snapshots.held.len() <= MAX_SNAPSHOTS);
        }
    }

    #[test]
    fn a_status_is_kept_no_longer_than_tokens_for_it_are_valid() {
        let (mut snapshots, mut requester) = (Snapshots::default(), requester(Instant::now()));
        let statuses: Vec<_> = (0..50).map(|_| Arc::new(ServerStatus::default())).collect();
        let start = requester.now;
        for (second, status) in (0..).zip(&statuses) {
            requester.now = start + Duration::from_secs(second);
            snapshots.choose(Command::Challenge, &requester, status);
            assert!(snapshots.held.len() <= 30, "{} are kept", snapshots.held.len());
        }
        // The status of second n has number n + 1.
        let is_held =
            |second: u16, now| snapshots.find(start + Duration::from_secs(now), second + 1).is_some();
        assert!(is_held(20, 49) && is_held(49, 78));
        assert!(!is_held(19, 49) && !is_held(20, 50) && !is_held(49, 79));
    }

    #[test]
    fn a_token_is_positive_and_names_its_status() {
        for number in (0..10_000).chain([u64::MAX, 1 << 31, 1 << 63, 0x7FFF_FFFF]) {
            for status in [0, 1, 63, 64, 0xFFF] {
                let token = token(number, status);
                assert!(token > 0, "{number}");
                assert_eq!(named(number, token), Some(status));
                assert_eq!(named(number, token ^ 1 << 12), None, "of another number");
                assert_eq!(named(number, -token), None);
            }
        }
    }
}
