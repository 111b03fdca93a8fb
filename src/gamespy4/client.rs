//! The client's conversations: a challenge, then the data.

use bytes::Bytes;

use super::answer::{Answer, Assembly, Form};
use super::request::{Command, Request, RequestId};
use super::response::{Challenge, Framing, Part, Response};
use super::selection::Selection;
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::session::{Conversation, Patience, Silence, Verdict, Wait};

/// Which habits a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
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
/// use queryport::limits::Limits;
/// use queryport::session::{Conversation, Verdict};
///
/// let mut query = StatusQuery::new(42, Limits::default());
/// let mut request = Vec::new();
/// query.request(0, &mut request);
/// let id = &request[3..7];
///
/// let challenge = [b"\x09", id, b"-1\0"].concat();
/// assert!(matches!(query.receive(&challenge), Verdict::Next));
/// let mut request = Vec::new();
/// query.request(0, &mut request);
/// assert!(request.ends_with(b"\xff\xff\xff\xff\xff\xff\xff\x01"));
///
/// let reply = [b"\0", id, b"splitnum\0\x80\0hostname\0Srv\0\0\x01\0\x02\0"].concat();
/// let Verdict::Done(answer) = query.receive(&reply) else { panic!() };
/// assert_eq!(answer.to_status().name.unwrap().plain(), "Srv");
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery(Exchange);

/// Asks a Minecraft server for its short answer: title, map and counts.
#[derive(Debug, Clone)]
pub struct InfoQuery(Exchange);

impl StatusQuery {
    /// `nonce`: a number the server cannot guess; the request ids are made from it.
    #[must_use]
    pub const fn new(nonce: u64, limits: Limits) -> Self {
        Self(Exchange::new(nonce, limits, Dialect::Standard, Question::Full))
    }

    /// Another kind of server.
    #[must_use]
    pub const fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.0.dialect = dialect;
        self
    }
}

impl InfoQuery {
    /// `nonce`: a number the server cannot guess; the request ids are made from it.
    #[must_use]
    pub const fn new(nonce: u64, limits: Limits) -> Self {
        Self(Exchange::new(nonce, limits, Dialect::Minecraft, Question::Basic))
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, _retry: u8, out: &mut Vec<u8>) {
        self.0.request(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        self.0.receive(datagram)
    }

    fn silence(&mut self, patience: Patience) -> Silence<Answer> {
        self.0.silence(patience)
    }
}

impl Conversation for InfoQuery {
    type Answer = Answer;

    fn request(&mut self, _retry: u8, out: &mut Vec<u8>) {
        self.0.request(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        self.0.receive(datagram)
    }

    fn silence(&mut self, patience: Patience) -> Silence<Answer> {
        self.0.silence(patience)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Question {
    Full,
    Basic,
}

/// What both conversations are made of.
#[derive(Debug, Clone)]
struct Exchange {
    nonce: u64,
    limits: Limits,
    dialect: Dialect,
    question: Question,
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
    held: Vec<Assembly>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Challenge,
    Data { attempt: u8, challenge: Option<i32>, then_zeros: bool },
}

/// Attempts that have a bit in [`Exchange::asked`]; sessions make at most 21.
const MAX_ATTEMPT: u8 = 31;

impl Exchange {
    const fn new(nonce: u64, limits: Limits, dialect: Dialect, question: Question) -> Self {
        Self {
            nonce,
            limits,
            dialect,
            question,
            attempt: 0,
            step: Step::Challenge,
            used: None,
            asked: 0,
            unanswered: 0,
            tried_bare: false,
            held: Vec::new(),
        }
    }

    fn request(&mut self, out: &mut Vec<u8>) {
        let request = match self.step {
            Step::Challenge => Request { id: self.id(self.attempt), command: Command::Challenge },
            Step::Data { attempt, challenge, .. } => {
                let selection = match (self.question, self.dialect) {
                    (Question::Basic, _) => Selection::BASIC,
                    (Question::Full, Dialect::Standard) => Selection::ALL,
                    (Question::Full, Dialect::Minecraft) => Selection::MINECRAFT_FULL,
                    (Question::Full, Dialect::JustCause2) => Selection::JUST_CAUSE_2,
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

    fn silence(&mut self, patience: Patience) -> Silence<Answer> {
        let may_go_on = patience != Patience::Over;
        match self.step {
            Step::Challenge if may_go_on => {
                self.unanswered = self.unanswered.saturating_add(1);
                // Some servers of Battlefield 2's kind know no challenge.
                let last_chance = patience == Patience::Step || self.unanswered >= 2;
                let may_be_bare = self.dialect != Dialect::Minecraft && self.held.is_empty();
                if last_chance && may_be_bare && !std::mem::replace(&mut self.tried_bare, true) {
                    self.ask(self.attempt, None, false);
                    return Silence::Next;
                }
            }
            Step::Data { attempt, then_zeros: true, .. } if may_go_on && self.held.is_empty() => {
                self.ask(attempt, Some(0), false);
                return Silence::Next;
            }
            _ => {}
        }
        let no_more_will_come = self.held.iter().any(Assembly::is_at_senders_limit);
        if patience != Patience::Retry || no_more_will_come {
            return self.what_is_here().map_or(Silence::Retry, Silence::Done);
        }
        self.attempt = self.attempt.saturating_add(1).min(MAX_ATTEMPT);
        self.step = Step::Challenge;
        Silence::Retry
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
        match (part.framing(), self.question) {
            (Framing::Single, question) => {
                let answer = Answer::single(part.id(), datagram, &self.limits)?;
                match (question, answer.form()) {
                    (Question::Basic, Form::Basic) | (Question::Full, Form::Legacy) => {
                        Ok(Verdict::Done(answer))
                    }
                    (Question::Full, Form::Basic) => Ok(Verdict::Done(answer.into_half())),
                    _ => Err(ParseError::new(ParseErrorKind::Unexpected("the short answer"), 0)),
                }
            }
            (Framing::Split { .. }, Question::Basic) => {
                Err(ParseError::new(ParseErrorKind::Unexpected("the short answer"), 0))
            }
            (Framing::Split { number, last }, Question::Full) => {
                self.collect(part.id(), number, last, datagram)
            }
        }
    }

    fn collect(
        &mut self,
        id: RequestId,
        number: u8,
        last: bool,
        datagram: Bytes,
    ) -> Result<Verdict<Answer>, ParseError> {
        let place = match self.held.iter().position(|assembly| assembly.id() == id) {
            Some(place) => place,
            None => {
                if self.held.len() >= 2 {
                    self.held.remove(0);
                }
                self.held.push(Assembly::new(id, &self.limits));
                self.held.len().saturating_sub(1)
            }
        };
        let Some(assembly) = self.held.get_mut(place) else { return Ok(Verdict::Partial(Wait::Reply)) };
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
                    self.held.remove(place);
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
        let most = self.held.iter().max_by_key(|assembly| assembly.len())?;
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
