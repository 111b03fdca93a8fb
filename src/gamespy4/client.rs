//! The client's conversations: a challenge, then the data.

use bytes::Bytes;

use super::answer::{Answer, Assembly, Form};
use super::request::{Command, Request, RequestId};
use super::response::{Challenge, Framing, Part, Response};
use super::selection::Selection;
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::Detail;
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// The habits of a server that a client must know before it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// GameSpy's own: a challenge of 0, or none at all, means that the data request has no challenge.
    #[default]
    Standard,
    /// Minecraft: the data request always has a challenge, 0 is one like any other, and the reply is one datagram
    /// of any size.
    Minecraft,
    /// Just Cause 2 Multiplayer: another flag, and one datagram without the mark of the last one.
    JustCause2,
}

/// Asks for everything: keys, players and teams.
///
/// Every attempt begins at the challenge, which GameSpy's own code takes back at its first use, and has an id of
/// its own, so that parts of two replies are never mixed. A reply to an earlier attempt still counts.
///
/// ```
/// use queryport::gamespy4::StatusQuery;
/// use queryport::Limits;
/// use queryport::session::{Conversation, Verdict};
///
/// let mut query = StatusQuery::new(42, Limits::default());
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
/// assert_eq!(answer.to_status().name.unwrap().plain(), "Srv");
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery {
    nonce: u64,
    limits: Limits,
    dialect: Dialect,
    detail: Detail,
    /// Number of the current attempt; its id is made from it.
    attempt: u8,
    step: Step,
    /// The latest attempt whose challenge reply was used.
    used: Option<u8>,
    /// Attempts for which data was asked, one bit each.
    asked: u32,
    /// Challenge requests without a reply, in a row.
    unanswered: u8,
    /// Whether data was asked for without any challenge reply.
    tried_bare: bool,
    /// Incomplete replies, at most two: to the current attempt and to the one before.
    assemblies: Vec<Assembly>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Challenge,
    Data { attempt: u8, challenge: Option<i32>, then_zeros: bool },
}

/// Attempts that have a bit in [`StatusQuery::asked`]; sessions make at most 21.
const MAX_ATTEMPT: u8 = 31;

impl StatusQuery {
    /// `nonce`: a number the server cannot guess; the request ids are made from it.
    #[must_use]
    pub const fn new(nonce: u64, limits: Limits) -> Self {
        Self {
            nonce,
            limits,
            dialect: Dialect::Standard,
            detail: Detail::Full,
            attempt: 0,
            step: Step::Challenge,
            used: None,
            asked: 0,
            unanswered: 0,
            tried_bare: false,
            assemblies: Vec::new(),
        }
    }

    /// Another dialect.
    #[must_use]
    pub const fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// How much to ask for. The short answer exists in [`Dialect::Minecraft`] only; other servers are asked for
    /// everything.
    #[must_use]
    pub const fn with_detail(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }

    /// Whether Minecraft's short answer is asked for.
    fn is_short(&self) -> bool {
        self.dialect == Dialect::Minecraft && self.detail == Detail::Short
    }

    fn take_challenge(&mut self, challenge: Challenge<'_>) -> Result<Verdict<Answer>, ParseError> {
        let attempt = self.attempt_of(challenge.id())?;
        if self.used.is_some_and(|used| attempt <= used) {
            // A copy of one that was used.
            return Ok(Verdict::Partial(Wait::Reply));
        }
        self.used = Some(attempt);
        self.unanswered = 0;
        let value = challenge.value();
        if value == 0 && self.dialect != Dialect::Minecraft {
            self.ask(attempt, None, true);
        } else {
            self.ask(attempt, Some(value), false);
        }
        Ok(Verdict::Next)
    }

    fn take_part(&mut self, part: Part<'_>) -> Result<Verdict<Answer>, ParseError> {
        let attempt = self.attempt_of(part.id())?;
        if self.asked & 1_u32.checked_shl(u32::from(attempt)).unwrap_or(0) == 0 {
            return Err(ParseError::new(ParseErrorKind::Unexpected("a challenge reply"), 0));
        }
        let datagram = Bytes::copy_from_slice(part.raw());
        match (part.framing(), self.is_short()) {
            (Framing::Single, short) => {
                let answer = Answer::single(part.id(), datagram, &self.limits)?;
                match (short, answer.form()) {
                    (true, Form::Basic) | (false, Form::Legacy) => Ok(Verdict::Done(answer)),
                    (false, Form::Basic) => Ok(Verdict::Done(answer.into_half())),
                    _ => Err(ParseError::new(ParseErrorKind::Unexpected("the short answer"), 0)),
                }
            }
            (Framing::Split { .. }, true) => {
                Err(ParseError::new(ParseErrorKind::Unexpected("the short answer"), 0))
            }
            (Framing::Split { number, last }, false) => self.collect(part.id(), number, last, datagram),
        }
    }

    fn collect(
        &mut self,
        id: RequestId,
        number: u8,
        last: bool,
        datagram: Bytes,
    ) -> Result<Verdict<Answer>, ParseError> {
        let place = match self.assemblies.iter().position(|assembly| assembly.id() == id) {
            Some(place) => place,
            None => {
                if self.assemblies.len() >= 2 {
                    self.assemblies.remove(0);
                }
                self.assemblies.push(Assembly::new(id, &self.limits));
                self.assemblies.len().saturating_sub(1)
            }
        };
        let Some(assembly) = self.assemblies.get_mut(place) else { return Ok(Verdict::Partial(Wait::Reply)) };
        assembly.insert(number, last, datagram)?;
        let minecraft = self.dialect == Dialect::Minecraft;
        let may_be_one = self.dialect != Dialect::Standard && number == 0;
        if assembly.is_complete() || may_be_one {
            match assembly.finish(&self.limits, minecraft) {
                Ok(answer) if assembly.is_complete() || answer.form() != Form::Sections => {
                    return Ok(Verdict::Done(answer));
                }
                Ok(_) => {}
                Err(error) => {
                    self.assemblies.remove(place);
                    return Err(error);
                }
            }
        }
        let wait = if assembly.is_at_senders_limit() { Wait::Grace } else { Wait::Reply };
        Ok(Verdict::Partial(wait))
    }

    /// The better of the incomplete replies.
    fn what_is_here(&self) -> Option<Answer> {
        let minecraft = self.dialect == Dialect::Minecraft;
        let most = self.assemblies.iter().max_by_key(|assembly| assembly.len())?;
        most.finish(&self.limits, minecraft).ok()
    }

    fn ask(&mut self, attempt: u8, challenge: Option<i32>, then_zeros: bool) {
        self.step = Step::Data { attempt, challenge, then_zeros };
        self.asked |= 1_u32.checked_shl(u32::from(attempt)).unwrap_or(0);
    }

    fn id(&self, attempt: u8) -> RequestId {
        RequestId::for_attempt(self.nonce, attempt)
    }

    /// Which of our attempts has this id.
    fn attempt_of(&self, id: RequestId) -> Result<u8, ParseError> {
        (0..=self.attempt)
            .find(|&attempt| self.id(attempt) == id)
            .ok_or(ParseError::new(ParseErrorKind::Mismatch("request id"), 1))
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        let request = match self.step {
            Step::Challenge => Request { id: self.id(self.attempt), command: Command::Challenge },
            Step::Data { attempt, challenge, .. } => {
                let selection = match self.dialect {
                    Dialect::Minecraft if self.is_short() => Selection::BASIC,
                    Dialect::Standard => Selection::ALL,
                    Dialect::Minecraft => Selection::MINECRAFT_FULL,
                    Dialect::JustCause2 => Selection::JUST_CAUSE_2,
                };
                Request { id: self.id(attempt), command: Command::Data { challenge, selection } }
            }
        };
        request.encode(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        let verdict = match Response::parse(datagram) {
            Ok(Response::Challenge(challenge)) => self.take_challenge(challenge),
            Ok(Response::Data(part)) => self.take_part(part),
            Err(error) => Err(error),
        };
        verdict.unwrap_or_else(Verdict::Rejected)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        let may_go_on = remaining != Remaining::Nothing;
        match self.step {
            Step::Challenge if may_go_on => {
                self.unanswered = self.unanswered.saturating_add(1);
                // Some servers of Battlefield 2's kind know no challenge.
                let last_chance = remaining == Remaining::Step || self.unanswered >= 2;
                let may_be_bare = self.dialect != Dialect::Minecraft && self.assemblies.is_empty();
                if last_chance && may_be_bare && !std::mem::replace(&mut self.tried_bare, true) {
                    self.ask(self.attempt, None, false);
                    return OnTimeout::Next;
                }
            }
            Step::Data { attempt, then_zeros: true, .. } if may_go_on && self.assemblies.is_empty() => {
                self.ask(attempt, Some(0), false);
                return OnTimeout::Next;
            }
            _ => {}
        }
        let no_more_will_come = self.assemblies.iter().any(Assembly::is_at_senders_limit);
        if remaining != Remaining::Retry || no_more_will_come {
            return self.what_is_here().map_or(OnTimeout::Retry, OnTimeout::Done);
        }
        self.attempt = self.attempt.saturating_add(1).min(MAX_ATTEMPT);
        self.step = Step::Challenge;
        OnTimeout::Retry
    }
}
