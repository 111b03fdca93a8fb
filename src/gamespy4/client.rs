//! The client's conversation: a challenge, then the data.

use std::time::Duration;

use bytes::Bytes;

use super::answer::{Answer, Assembly, Form};
use super::wire::request::{Command, Request, RequestId, Selection};
use super::wire::response::{Response, raw_challenge};
use crate::error::{ParseError, ParseErrorKind};
use crate::options::{Detail, Dialect, QueryOptions};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// Asks for everything: keys, players and teams.
///
/// Every attempt begins at the challenge, because GameSpy's own code accepts each challenge once. After two challenge requests
/// without a reply, requests for data without a challenge alternate with them, until a part of the data comes: then only data
/// is requested. Every data request has an id of its own, so that parts of two replies are not mixed. A reply to an earlier
/// attempt still counts.
///
/// The network can deliver a data request twice, and a server that accepts a challenge more than once then sends two replies
/// with one id. Where two datagrams of one number differ, nothing of that id becomes a complete answer, and the next attempt
/// follows soon.
///
/// ```
/// use queryport::gamespy4::StatusQuery;
/// use queryport::session::{Conversation, Verdict};
/// use queryport::{QueryOptions, ToStatus, Verification};
///
/// let mut query = StatusQuery::new(42, &QueryOptions::default());
/// let mut request = Vec::new();
/// query.request(&mut request);
/// let id = &request[3..7];
///
/// let challenge = [b"\x09", id, b"-1\0"].concat();
/// assert!(matches!(query.receive(&challenge), Verdict::Next));
/// let mut request = Vec::new();
/// query.request(&mut request);
/// assert!(request.ends_with(b"\xff\xff\xff\xff\xff\xff\xff\x01"));
///
/// let reply = [b"\0", id, b"splitnum\0\x80\0hostname\0Srv\0\0\x01\0\x02\0"].concat();
/// let Verdict::Done(answer) = query.receive(&reply) else { panic!() };
/// assert_eq!(answer.to_status().name.unwrap(), "Srv");
/// assert_eq!(answer.verification(), Verification::Verified);
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery {
    nonce: u64,
    options: QueryOptions,
    /// Number of the current attempt; its id is made from it.
    attempt: u8,
    step: Step,
    /// The first attempt whose challenge reply can still be used.
    open: u8,
    /// Whether the server sends its token as raw bytes, as Nukkit does.
    has_raw_token: bool,
    /// Attempts for which data was requested, one bit each.
    requested: u32,
    /// Incomplete replies, at most two: to the current attempt and to the one before.
    assemblies: Vec<Assembly>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Challenge,
    Data {
        attempt: u8,
        challenge: Option<i32>,
        then_zeros: bool,
    },
}

/// The verdict on a datagram, or why it is rejected.
type Taken = Result<Verdict<Answer>, ParseError>;

/// Attempts that have a bit in [`StatusQuery::requested`]; sessions make at most 21.
const MAX_ATTEMPT: u8 = 31;

impl StatusQuery {
    /// `nonce`: a number the server cannot guess; the request ids are made from it.
    pub fn new(nonce: u64, options: &QueryOptions) -> Self {
        Self {
            nonce,
            options: *options,
            attempt: 0,
            step: Step::Challenge,
            open: 0,
            has_raw_token: false,
            requested: 0,
            assemblies: Vec::new(),
        }
    }

    /// Whether Minecraft's basic reply is requested.
    fn is_basic(&self) -> bool {
        self.options.dialect == Dialect::Minecraft && self.options.detail == Detail::Short
    }

    fn take_challenge(&mut self, id: RequestId, value: i32) -> Taken {
        let attempt = self.attempt_of(id)?;
        if attempt < self.open {
            // A copy of one that was used.
            return Ok(Verdict::Partial(Wait::Reply));
        }
        self.open = attempt.saturating_add(1);
        let is_unused = value == 0 && self.options.dialect != Dialect::Minecraft;
        self.request_data(attempt, (!is_unused).then_some(value), is_unused);
        Ok(Verdict::Next)
    }

    fn take_data(&mut self, id: RequestId, number: Option<u8>, last: bool, raw: &[u8]) -> Taken {
        let attempt = self.attempt_of(id)?;
        let unexpected = |what| Err(ParseError::new(ParseErrorKind::Unexpected(what), 0));
        if self.requested & bit(attempt) == 0 {
            return unexpected("a challenge reply");
        }
        let datagram = Bytes::copy_from_slice(raw);
        match number {
            // To the short request too: Geyser has no other reply (github.com/GeyserMC/Geyser, QueryPacketHandler.java).
            Some(number) => self.collect(id, number, last, datagram),
            // Datagrams of this id have numbers: this one lost its own on its way.
            None if self.assemblies.iter().any(|assembly| assembly.id == id) => {
                unexpected("a datagram with a number")
            }
            None => {
                let mut answer = Answer::single(id, datagram, &self.options.limits)?;
                match (self.is_basic(), answer.form()) {
                    (true, Form::MinecraftBasic) | (false, Form::Legacy) => {}
                    // Everything was asked for.
                    (false, Form::MinecraftBasic) => {
                        (answer.missing.rules, answer.missing.players) = (true, true);
                    }
                    _ => return unexpected("the basic reply"),
                }
                Ok(Verdict::Done(answer))
            }
        }
    }

    fn collect(&mut self, id: RequestId, number: u8, last: bool, datagram: Bytes) -> Taken {
        let known = self
            .assemblies
            .iter()
            .position(|assembly| assembly.id == id);
        let new = || Assembly::new(id, &self.options.limits);
        let mut assembly = known.map_or_else(new, |index| self.assemblies.remove(index));
        let inserted = assembly.fragments.insert(number.into(), datagram, last);
        if known.is_none() {
            // Without a datagram it would pass for an empty answer.
            inserted?;
        }
        let fragments = &assembly.fragments;
        let is_complete = fragments.is_complete(0);
        let is_only = number == 0 && fragments.len() == 1 && !fragments.is_mixed();
        let may_be_only = is_only
            && matches!(
                self.options.dialect,
                Dialect::Minecraft | Dialect::JustCause2
            );
        if inserted.is_ok() && (is_complete || may_be_only) {
            let answer = assembly.finish(self.options.dialect == Dialect::Minecraft)?;
            if is_complete || answer.form() != Form::Sections {
                return Ok(Verdict::Done(answer));
            }
        }
        // Of a mixed reply nothing more is worth waiting for.
        let is_over = assembly.is_at_senders_limit() || assembly.fragments.is_mixed();
        if known.is_none() && self.assemblies.len() >= 2 {
            // What else comes of the dropped one could be contradicted by what is forgotten.
            let dropped = self.assemblies.remove(0);
            self.requested &= !bit(self.attempt_of(dropped.id)?);
        }
        self.assemblies
            .insert(known.unwrap_or(self.assemblies.len()), assembly);
        inserted.map(|()| Verdict::Partial(if is_over { Wait::Grace } else { Wait::Reply }))
    }

    fn request_data(&mut self, attempt: u8, challenge: Option<i32>, then_zeros: bool) {
        let is_second = self.requested & bit(attempt) != 0;
        if is_second {
            self.attempt = self.attempt.saturating_add(1).min(MAX_ATTEMPT);
        }
        let attempt = if is_second { self.attempt } else { attempt };
        self.step = Step::Data {
            attempt,
            challenge,
            then_zeros,
        };
        self.requested |= bit(attempt);
    }

    /// The id of an attempt: another one for each, and every byte at most 0x7F, see [`RequestId`].
    fn id(&self, attempt: u8) -> RequestId {
        let [a, b, c, d, ..] = self.nonce.to_le_bytes();
        RequestId([a, b, c, d.wrapping_add(attempt)].map(|byte| byte & 0x7F))
    }

    /// The attempt with this id.
    fn attempt_of(&self, id: RequestId) -> Result<u8, ParseError> {
        (0..=self.attempt)
            .find(|&attempt| self.id(attempt) == id)
            .ok_or(ParseError::new(ParseErrorKind::Mismatch("request id"), 1))
    }
}

fn bit(attempt: u8) -> u32 {
    1_u32.checked_shl(u32::from(attempt)).unwrap_or(0)
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        let request = match self.step {
            Step::Challenge => Request::new(self.id(self.attempt), Command::Challenge),
            Step::Data {
                attempt, challenge, ..
            } => {
                let selection = match self.options.dialect {
                    Dialect::Minecraft if self.is_basic() => Selection::MINECRAFT_BASIC,
                    Dialect::Minecraft if self.has_raw_token => Selection(&[0; 8]),
                    Dialect::Minecraft => Selection::MINECRAFT_FULL,
                    Dialect::JustCause2 => Selection::JUST_CAUSE_2,
                    _ => Selection::ALL,
                };
                Request::new(
                    self.id(attempt),
                    Command::Data {
                        challenge,
                        selection,
                    },
                )
            }
        };
        // Every request of this protocol can be written.
        let _ = request.encode(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        let raw = raw_challenge(datagram).filter(|_| self.options.dialect == Dialect::Minecraft);
        let verdict = match (raw, Response::parse(datagram, &self.options.limits)) {
            (Some((id, token)), _) => self
                .take_challenge(id, token)
                .inspect(|_| self.has_raw_token = true),
            (_, Ok(Response::Challenge { id, value, .. })) => self.take_challenge(id, value),
            (
                _,
                Ok(Response::Data {
                    id,
                    number,
                    last,
                    raw,
                }),
            ) => self.take_data(id, number, last, raw),
            (_, Err(error)) => Err(error),
        };
        verdict.unwrap_or_else(Verdict::Rejected)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        let is_minecraft = self.options.dialect == Dialect::Minecraft;
        let has_data = !self.assemblies.is_empty();
        let is_late = remaining == Remaining::Step || self.attempt > 0;
        let next = match self.step {
            // Some servers of Battlefield 2's kind know no challenge.
            Step::Challenge if is_late && !is_minecraft && self.requested == 0 => {
                Some((self.attempt, None))
            }
            Step::Data {
                attempt,
                then_zeros: true,
                ..
            } if !has_data => Some((attempt, Some(0))),
            _ => None,
        };
        if let Some((attempt, challenge)) = next.filter(|_| remaining != Remaining::Nothing) {
            self.request_data(attempt, challenge, false);
            return OnTimeout::Next;
        }
        let is_over =
            |assembly: &Assembly| !assembly.fragments.is_mixed() && assembly.is_at_senders_limit();
        let nothing_follows = self.assemblies.iter().any(is_over);
        if remaining != Remaining::Retry || nothing_follows {
            let worth =
                |assembly: &&Assembly| (!assembly.fragments.is_mixed(), assembly.fragments.len());
            let best = self.assemblies.iter().max_by_key(worth);
            let answer = best.and_then(|best| best.finish(is_minecraft).ok());
            return answer.map_or(OnTimeout::Retry, OnTimeout::Done);
        }
        self.attempt = self.attempt.saturating_add(1).min(MAX_ATTEMPT);
        let omits =
            self.open == 0 && self.requested != 0 && (has_data || self.step == Step::Challenge);
        self.step = Step::Challenge;
        if omits {
            self.request_data(self.attempt, None, false);
        }
        OnTimeout::Retry
    }

    /// None: GameSpy's SDK answers every request, and each attempt begins with a new challenge.
    fn retry_spacing(&self) -> Duration {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_unchanged_from_every_server_and_differ_by_attempt() {
        let query = StatusQuery::new(u64::MAX, &QueryOptions::default());
        for attempt in 0..21 {
            assert!(
                query.id(attempt).0.iter().all(|&byte| byte <= 0x7F),
                "{:?}",
                query.id(attempt)
            );
            assert_ne!(query.id(attempt), query.id(attempt + 1));
        }
    }
}
