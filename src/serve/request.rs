//! A request in one of the protocols that a responder answers in, and the statuses that requests are answered from.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::model::ServerStatus;
use crate::options::Service;
use crate::protocol::Protocol;
use crate::reply::{Patched, Requester, Templates};
use crate::secret::LONGEST;
use crate::time::Instant;
use crate::{gamespy1, gamespy4, quake3, ut2004};

/// Most statuses that are kept. With fewer changes in 30 s, every token can name its status for as long as it is valid.
const MAX_KEPT: usize = 64;

pub(super) enum Request<'a> {
    GameSpy1(gamespy1::Request<'a>),
    GameSpy4(gamespy4::Request<'a>),
    Quake3(quake3::Request<'a>),
    Ut2004(ut2004::Request),
}

impl<'a> Request<'a> {
    /// The datagram as a request to this service.
    pub(super) fn parse(service: &Service, datagram: &'a [u8]) -> Option<Self> {
        Some(match service.engine.protocol() {
            Protocol::GameSpy1 => Self::GameSpy1(gamespy1::Request::parse(datagram).ok()?),
            Protocol::GameSpy4 => Self::GameSpy4(gamespy4::server::parse(datagram, service.engine).ok()?),
            Protocol::Quake3 => Self::Quake3(quake3::Request::parse(datagram).ok()?),
            Protocol::Ut2004 => Self::Ut2004(ut2004::Request::parse(datagram).ok()?),
        })
    }

    /// The token of GameSpy v4 that this request quotes. Only a client that can receive at its address has one.
    pub(super) const fn token(&self) -> Option<i32> {
        use gamespy4::{Command::Data, Request};
        match self {
            Self::GameSpy4(Request { command: Data { challenge, .. }, .. }) => *challenge,
            _ => None,
        }
    }

    /// The status to answer from, and its number; `None` if the request quotes an invalid token.
    pub(super) fn status(
        &self,
        history: &mut History,
        requester: &Requester,
    ) -> Option<(u64, Arc<ServerStatus>)> {
        let Some(token) = self.token() else { return Some(history.current(requester.now)) };
        let find = |name| history.find(requester.now, |number| gamespy4::server::token_name(number) == name);
        gamespy4::server::token_names(requester, token).find_map(find)
    }

    /// The reply to this request, made from the status of this number.
    pub(super) fn reply(
        &self,
        (number, status): (u64, &ServerStatus),
        service: &Service,
        requester: &Requester,
        templates: &mut Templates<'_>,
    ) -> Option<Patched> {
        match self {
            Self::GameSpy1(request) => {
                gamespy1::server::reply(request, status, service, requester, templates)
            }
            Self::GameSpy4(request) => {
                gamespy4::server::reply(request, (number, status), service, requester, templates)
            }
            Self::Quake3(request) => quake3::server::reply(request, status, service, requester, templates),
            Self::Ut2004(request) => ut2004::server::reply(request, status, service, requester, templates),
        }
    }
}

/// The status being served, and the statuses that replies were made from while a token for them is valid.
///
/// Nothing is kept for a client. Each status kept makes one more token value valid, so few are kept.
#[derive(Debug, Clone)]
pub(super) struct History {
    pub(super) current: Arc<ServerStatus>,
    /// Each with its number, and the time of the latest reply. Their numbers rise by one.
    kept: VecDeque<(u64, Arc<ServerStatus>, Instant)>,
    /// Whether tokens name statuses; otherwise one is kept.
    pub(super) has_tokens: bool,
}

impl History {
    pub(super) const fn new(current: Arc<ServerStatus>) -> Self {
        Self { current, kept: VecDeque::new(), has_tokens: false }
    }

    /// The status being served and its number, which no other status has.
    pub(super) fn current(&mut self, now: Instant) -> (u64, Arc<ServerStatus>) {
        let number = match self.kept.back_mut() {
            Some((number, latest, used)) if Arc::ptr_eq(latest, &self.current) => {
                *used = now;
                return (*number, Arc::clone(latest));
            }
            latest => latest.map_or(0, |(number, ..)| number.wrapping_add(1)),
        };
        let most = if self.has_tokens { MAX_KEPT } else { 1 };
        while self.kept.front().is_some_and(|(.., used)| !is_valid(now, *used)) || self.kept.len() >= most {
            self.kept.pop_front();
        }
        self.kept.push_back((number, Arc::clone(&self.current), now));
        (number, Arc::clone(&self.current))
    }

    /// The latest status whose number passes, if a token for it can still be valid.
    pub(super) fn find(
        &self,
        now: Instant,
        passes: impl Fn(u64) -> bool,
    ) -> Option<(u64, Arc<ServerStatus>)> {
        let (number, status, used) = self.kept.iter().rev().find(|(number, ..)| passes(*number))?;
        is_valid(now, *used).then(|| (*number, Arc::clone(status)))
    }
}

/// Whether a token can still be valid that was issued then.
fn is_valid(now: Instant, issued: Instant) -> bool {
    now.saturating_duration_since(issued) < LONGEST
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::disallowed_methods, reason = "virtual time in tests")]
mod tests {
    use std::time::Duration;

    use super::*;

    fn statuses(count: usize) -> Vec<Arc<ServerStatus>> {
        (0..count).map(|_| Arc::default()).collect()
    }

    #[test]
    fn a_number_names_its_status_as_long_as_that_is_kept() {
        let (now, statuses) = (Instant::now(), statuses(5000));
        for (has_tokens, most) in [(true, MAX_KEPT), (false, 1)] {
            let mut history = History { has_tokens, ..History::new(Arc::default()) };
            let mut numbers = Vec::new();
            for (index, status) in statuses.iter().enumerate() {
                history.current = Arc::clone(status);
                let (number, current) = history.current(now);
                assert!(Arc::ptr_eq(&current, status));
                assert_eq!(history.current(now).0, number, "one number for one status");
                numbers.push(number);
                for age in [0, 1, 62, 63, 64, 65, 200] {
                    let Some(at) = index.checked_sub(age) else { continue };
                    // As a token has it: the last 12 bits.
                    let found = history.find(now, |number| number & 0xFFF == numbers[at] & 0xFFF);
                    assert_eq!(found.is_some(), age < most, "{index} {age}");
                    let is_the_same =
                        |(number, status)| number == numbers[at] && Arc::ptr_eq(&status, &statuses[at]);
                    assert!(found.is_none_or(is_the_same));
                }
                assert!(history.kept.len() <= most);
            }
        }
    }

    #[test]
    fn a_status_is_kept_no_longer_than_tokens_for_it_are_valid() {
        let start = Instant::now();
        let at = |second| start + Duration::from_secs(second);
        let mut history = History { has_tokens: true, ..History::new(Arc::default()) };
        for (second, status) in (0..).zip(statuses(50)) {
            history.current = status;
            assert_eq!(history.current(at(second)).0, second);
            assert!(history.kept.len() <= 30, "{} are kept", history.kept.len());
        }
        let is_held = |second, now| history.find(at(now), |number| number == second).is_some();
        assert!(is_held(20, 49) && is_held(49, 78));
        assert!(!is_held(19, 49) && !is_held(20, 50) && !is_held(49, 79));
    }
}
