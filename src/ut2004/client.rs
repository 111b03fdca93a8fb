//! The client's conversation.

use std::time::Duration;

use bytes::Bytes;

use super::answer::answer::Answer;
use super::answer::lists::{List, Lists};
use super::wire::request::{Command, Request};
use super::wire::response::{Body, Response};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::Detail;
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// Asks for everything: the info, then rules and players.
///
/// A list is complete when its own bytes or the info's count of players prove it (see the [module](super)). Where they
/// cannot, it is requested again, until three readings have brought each part of it. What stays unknown is in
/// [`Answer::completeness`].
///
/// ```
/// use queryport::Limits;
/// use queryport::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};
/// use queryport::ut2004::StatusQuery;
///
/// let mut query = StatusQuery::new(0, Limits::default());
/// let mut request = Vec::new();
/// query.request(&mut request);
/// assert_eq!(request, [0x79, 0, 0, 0, 0]);
///
/// let info = b"\x80\0\0\0\0\0\0\0\0\0\x61\x1e\0\0\0\0\0\0\x04Srv\0\x03DM\0\x0cxDeathMatch\0\
///              \x01\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\x022\0\0\0";
/// assert!(matches!(query.receive(info), Verdict::Next));
/// query.request(&mut request);
/// assert_eq!(request[5..], [0x79, 0, 0, 0, 3]);
///
/// let rules = b"\x80\0\0\0\x01\x0bServerMode\0\x0adedicated\0";
/// assert!(matches!(query.receive(rules), Verdict::Partial(_)));
/// let players = b"\x80\0\0\0\x02\x05\0\0\0\x04abc\0\x1c\0\0\0\xfd\xff\xff\xff\0\0\0\x20";
/// assert!(matches!(query.receive(players), Verdict::Partial(Wait::Grace)), "as many as are counted");
/// let OnTimeout::Done(answer) = query.timeout(Remaining::Retry) else { panic!() };
/// assert!(answer.completeness().is_complete());
/// assert_eq!(answer.players().count(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery {
    limits: Limits,
    dialect: Dialect,
    detail: Detail,
    readings: u8,
    step: Step,
    info: Option<Bytes>,
    lists: Lists,
    /// The info was requested a second time, for a newer count of players.
    has_recounted: bool,
}

/// The habits of a server that a client must know before it asks.
///
/// ```
/// use queryport::ut2004::Dialect;
/// use queryport::{Protocol, QueryOptions, StatusQuery};
///
/// let options = QueryOptions::default().with_dialect(Dialect::SeparateLists);
/// let query = StatusQuery::new(Protocol::Ut2004, 42, &options);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// Sends both lists for one request, type 3, as the game's own browser asks. A server that does not answer it is
    /// asked for each list.
    #[default]
    Standard,
    /// Knows only the requests for one list each, types 1 and 2.
    SeparateLists,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Info,
    Lists,
    /// The lists look complete; a late datagram may still show that they are not.
    Grace,
}

impl StatusQuery {
    /// The default of [`Self::with_readings`].
    pub(crate) const READINGS: u8 = 3;

    /// The protocol has nothing to quote, so the nonce is not used: the sender's address is all that ties a reply to
    /// its request.
    #[must_use]
    pub fn new(_nonce: u64, limits: Limits) -> Self {
        Self {
            limits,
            dialect: Dialect::default(),
            detail: Detail::Full,
            readings: Self::READINGS,
            step: Step::Info,
            info: None,
            lists: Lists::default(),
            has_recounted: false,
        }
    }

    /// Another dialect.
    #[must_use]
    pub const fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// How much to ask for: [`Detail::Short`] is the info alone.
    #[must_use]
    pub const fn with_detail(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }

    /// How many readings must bring each datagram of a list where nothing proves it complete: 1–4, default 3. A reading is
    /// what one request for the list brings. An answer marked complete lacks something only if the same datagram was lost
    /// from every reading, of which there are at least so many, and more where some were incomplete. With 1, nothing is
    /// asked twice, a list of as many players as are counted is taken at once, and one datagram lost from the middle goes
    /// unnoticed: for scans that want counts.
    #[must_use]
    pub fn with_readings(mut self, readings: u8) -> Self {
        self.readings = readings.clamp(1, 4);
        self
    }

    /// What the next request asks for; `None` when nothing is open.
    fn next_command(&self) -> Option<Command> {
        let (rules, players) = (&self.lists.rules, &self.lists.players);
        let is_separate = self.dialect == Dialect::SeparateLists;
        // A server that counts no player is expected to list none. The rules of the same reply show that it arrived.
        let with_rules = is_separate && players.is_counted_empty() && rules.is_requested();
        match (rules.is_open(), players.is_open()) {
            (true, true) if !is_separate => Some(Command::RulesAndPlayers),
            (true, _) => Some(Command::Rules),
            (false, true) if with_rules => Some(Command::RulesAndPlayers),
            (false, true) => Some(Command::Players),
            (false, false) => None,
        }
    }

    fn take_info(&mut self, datagram: &[u8], players: i32) -> Verdict<Answer> {
        self.info = Some(Bytes::copy_from_slice(datagram));
        if self.detail == Detail::Short {
            return Verdict::Done(self.take_answer());
        }
        let is_settled = self.next_command().is_none();
        self.lists.players.set_count(players);
        self.step = Step::Lists;
        if is_settled && self.next_command().is_none() {
            return Verdict::Done(self.take_answer());
        }
        match self.check_lists() {
            // The first info, or one that does not explain the list.
            Verdict::Partial(Wait::Reply | Wait::Quiet) => Verdict::Next,
            verdict => verdict,
        }
    }

    fn take_list(&mut self, datagram: &[u8], response: &Response<'_>) -> Verdict<Answer> {
        let is_rules = matches!(response.body, Body::Rules(_));
        let list = if is_rules { &self.lists.rules } else { &self.lists.players };
        if !list.is_requested() {
            return Verdict::Rejected(ParseError::new(ParseErrorKind::Unexpected("the list asked for"), 4));
        }
        match self.lists.add(datagram, response, &self.limits) {
            // What comes late, while a newer count is awaited, is judged with it.
            Ok(()) if self.step == Step::Info => Verdict::Partial(Wait::Reply),
            Ok(()) => self.check_lists(),
            Err(error) => Verdict::Rejected(error),
        }
    }

    /// What to do after another datagram.
    fn check_lists(&mut self) -> Verdict<Answer> {
        if !self.lists.awaited().all(|list| !list.is_open() || list.looks_complete()) {
            self.step = Step::Lists;
            let is_silent = self.lists.awaited().all(|list| list.is_silent());
            return Verdict::Partial(if is_silent { Wait::Reply } else { Wait::Quiet });
        }
        let readings = self.readings;
        if self.lists.awaited().all(|list| !list.is_open() || list.is_certain(readings)) {
            self.lists.end_reading(readings);
            self.step = Step::Lists;
            return if self.has_next() { Verdict::Next } else { Verdict::Done(self.take_answer()) };
        }
        self.step = Step::Grace;
        Verdict::Partial(Wait::Grace)
    }

    /// Nothing more comes for the latest request.
    fn end_reply(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        // Lists that looked complete need no retry: requesting them again is a step of its own.
        let looked_complete = self.step == Step::Grace;
        self.step = Step::Lists;
        let Lists { rules, players } = &self.lists;
        if rules.is_silent() && players.is_silent() {
            // Some servers and filters know only the requests for one list.
            self.dialect = Dialect::SeparateLists;
        } else if players.is_awaited && !players.has_count() && !self.has_recounted {
            // Fewer are listed than the info counts: somebody may have left since.
            self.has_recounted = true;
            self.step = Step::Info;
            return OnTimeout::Next;
        } else {
            self.lists.end_reading(self.readings);
        }
        let is_step = looked_complete || remaining == Remaining::Step;
        if remaining == Remaining::Step && !looked_complete {
            self.lists.awaited().for_each(List::give_up);
        }
        let is_open = self.next_command().is_some();
        match self.has_next() {
            true if is_step || !is_open => OnTimeout::Next,
            true => OnTimeout::Retry,
            false => OnTimeout::Done(self.take_answer()),
        }
    }

    /// Whether there is another request to send: for a list that is open, or, behind them, for a newer count of
    /// players.
    fn has_next(&mut self) -> bool {
        let is_open = self.next_command().is_some();
        if !is_open && self.readings > 1 && self.lists.players.needs_newer_count() {
            self.step = Step::Info;
            return true;
        }
        is_open
    }

    fn take_answer(&mut self) -> Answer {
        Answer::new(self.info.take(), std::mem::take(&mut self.lists), self.detail, self.limits)
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        let command = if self.step == Step::Info {
            Command::Info
        } else {
            let command = self.next_command().unwrap_or(Command::RulesAndPlayers);
            let (rules, players) = (self.lists.rules.is_open(), self.lists.players.is_open());
            self.lists
                .start_request(rules && command != Command::Players, players && command != Command::Rules);
            command
        };
        // Cannot fail: every request has a form on the wire.
        let _ = Request::new(command).encode(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        let response = match Response::parse(datagram, &self.limits) {
            Ok(response) => response,
            Err(error) => {
                self.lists.refuse(datagram, error.kind);
                return Verdict::Rejected(error);
            }
        };
        let unexpected = |what| Verdict::Rejected(ParseError::new(ParseErrorKind::Unexpected(what), 4));
        match (response.body, self.step) {
            (Body::Info(info), Step::Info) => self.take_info(datagram, info.current_players),
            (Body::Rules(_) | Body::Players(_), _) if self.info.is_some() => {
                self.take_list(datagram, &response)
            }
            (_, Step::Info) => unexpected("the info"),
            _ => unexpected("rules or players"),
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        match (self.step, remaining) {
            (Step::Info, _) if self.info.is_none() => OnTimeout::Retry,
            // The lists agree, and the count that should explain them does not come.
            (Step::Info, Remaining::Retry) if self.next_command().is_none() => OnTimeout::Retry,
            (Step::Info, _) if self.next_command().is_none() => {
                self.lists.players.give_up_count();
                OnTimeout::Done(self.take_answer())
            }
            (_, Remaining::Nothing) => OnTimeout::Done(self.take_answer()),
            _ => self.end_reply(remaining),
        }
    }

    /// None: the game's server answers every request.
    fn retry_spacing(&self) -> Duration {
        Duration::ZERO
    }
}
