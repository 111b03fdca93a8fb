//! The client's conversations.

use bytes::Bytes;

use super::answer::{Answer, missing};
use super::progress::Progress;
use super::reading::Kind;
use super::request::{Ask, Request};
use super::response::{Body, Response};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Detail, Missing};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// Asks for everything: the info, then rules and players.
///
/// A list ends when its own bytes or the info's count of players prove it whole (see the [module](super)). Where
/// they cannot, it is read again, until three readings in a row bring the same. What no reading could settle is
/// in [`Answer::completeness`].
///
/// ```
/// use queryport::Limits;
/// use queryport::session::{Conversation, Verdict};
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
/// let Verdict::Done(answer) = query.receive(players) else { panic!() };
/// assert!(answer.completeness().is_complete());
/// assert_eq!(answer.players().count(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery {
    limits: Limits,
    dialect: Dialect,
    detail: Detail,
    readings: Readings,
    step: Step,
    info: Option<Bytes>,
    /// Players as the server counts them.
    count: Option<usize>,
    rules: Progress,
    players: Progress,
    /// The lists that the latest request asked for.
    asked: (bool, bool),
    /// The info was asked for a second time, for a newer count.
    recounted: bool,
}

/// The habits of a server that a client must know before it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// Sends both lists for one request, type 3, as the game's own browser asks. A server that does not answer it is asked
    /// for each list.
    #[default]
    Standard,
    /// Knows only the requests for one list each, types 1 and 2.
    SeparateLists,
}

/// How many readings of a list must agree where nothing proves it whole: 1–4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Readings(u8);

impl Default for Readings {
    fn default() -> Self {
        Self(3)
    }
}

impl Readings {
    /// The number, 1–4.
    pub(crate) const fn number(self) -> u8 {
        self.0
    }
}

impl From<u8> for Readings {
    fn from(readings: u8) -> Self {
        Self(readings.clamp(1, 4))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Info,
    Lists,
    /// The lists look whole; a late datagram may still show that they are not.
    Grace,
}

impl StatusQuery {
    /// The protocol has nothing to quote, so the nonce is not used: the sender's address is all that ties a reply to its
    /// request.
    #[must_use]
    pub fn new(_nonce: u64, limits: Limits) -> Self {
        Self {
            limits,
            dialect: Dialect::default(),
            detail: Detail::Full,
            readings: Readings::default(),
            step: Step::Info,
            info: None,
            count: None,
            rules: Progress::new(Kind::Rules),
            players: Progress::new(Kind::Players),
            asked: (false, false),
            recounted: false,
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

    /// How many readings of a list must agree where nothing proves it whole: 1–4, default 3. With `n`, an answer
    /// marked complete lacks something only if the same datagram was lost `n` times in a row: at one lost in
    /// twenty, from a server with 300 rules, about one answer in 70 with 2 and none in 800 with 3. With 1, nothing
    /// is asked twice, and one datagram lost from the middle goes unnoticed: for scans that want counts.
    #[must_use]
    pub fn with_readings(mut self, readings: u8) -> Self {
        self.readings = readings.into();
        self
    }

    /// What the next request asks for.
    fn next_ask(&self) -> Option<Ask> {
        // Players that may be nobody are asked for with the rules: silence would tell nothing.
        let fence = self.count == Some(0) && self.dialect == Dialect::SeparateLists && self.rules.is_asked();
        match (self.rules.is_open(), self.players.is_open()) {
            (true, true) if self.dialect == Dialect::Standard => Some(Ask::RulesAndPlayers),
            (true, _) => Some(Ask::Rules),
            (false, true) if fence => Some(Ask::RulesAndPlayers),
            (false, true) => Some(Ask::Players),
            (false, false) => None,
        }
    }

    fn asked_lists(&mut self) -> impl Iterator<Item = &mut Progress> {
        let (rules, players) = self.asked;
        [(rules, &mut self.rules), (players, &mut self.players)]
            .into_iter()
            .filter_map(|(asked, list)| asked.then_some(list))
    }

    fn take_info(&mut self, datagram: &[u8], players: i32) -> Verdict<Answer> {
        self.info = Some(Bytes::copy_from_slice(datagram));
        if self.detail == Detail::Short {
            let lists = (Progress::new(Kind::Rules), Progress::new(Kind::Players));
            return Verdict::Done(Answer::new(self.info.take(), lists, Missing::NOTHING, self.limits));
        }
        self.count = usize::try_from(players).ok();
        self.step = Step::Lists;
        match self.judge() {
            // The first info, or one that does not explain the list.
            Verdict::Partial(Wait::Reply | Wait::Quiet) => Verdict::Next,
            verdict => verdict,
        }
    }

    fn take_list(&mut self, datagram: &[u8], response: &Response<'_>) -> Verdict<Answer> {
        let list = if matches!(response.body, Body::Rules(_)) { &mut self.rules } else { &mut self.players };
        if !list.is_asked() {
            return Verdict::Rejected(ParseError::new(ParseErrorKind::Unexpected("the list asked for"), 4));
        }
        if let Err(error) = list.add(datagram, response, &self.limits) {
            return Verdict::Rejected(error);
        }
        self.judge()
    }

    /// What the lists are worth after another datagram.
    fn judge(&mut self) -> Verdict<Answer> {
        let (count, wanted) = (self.count, self.readings.0);
        let is_short = |list: &mut Progress| list.is_open() && !list.looks_whole(count);
        if self.asked_lists().any(is_short) {
            self.step = Step::Lists;
            let nothing_yet = self.asked_lists().all(|list| list.is_silent());
            return Verdict::Partial(if nothing_yet { Wait::Reply } else { Wait::Quiet });
        }
        let is_doubtful = |list: &mut Progress| list.is_open() && !list.is_proof(count);
        if !self.asked_lists().any(is_doubtful) {
            for list in self.asked_lists().filter(|list| list.is_open()) {
                list.close(count, wanted);
            }
            if self.next_ask().is_some() {
                self.step = Step::Lists;
                return Verdict::Next;
            }
            if self.rules.is_proven_by_datagrams() && self.players.is_proven_by_datagrams() {
                return Verdict::Done(self.answer());
            }
        }
        self.step = Step::Grace;
        Verdict::Partial(Wait::Grace)
    }

    /// Nothing more comes for the latest request.
    fn quiet(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        let (count, wanted) = (self.count, self.readings.0);
        // A list that looked whole needs no remaining: reading it again is a step of its own.
        let looked_whole = self.step == Step::Grace;
        self.step = Step::Lists;
        let heard = !self.rules.is_silent() || !self.players.is_silent();
        if heard && self.asked.1 && !self.players.has_count(count) && !self.recounted {
            // Fewer are listed than the info counts: somebody may have left since.
            self.recounted = true;
            self.step = Step::Info;
            return OnTimeout::Next;
        }
        if !heard {
            // Some servers and filters know only the single lists.
            self.dialect = Dialect::SeparateLists;
        } else {
            for list in self.asked_lists().filter(|list| list.is_open()) {
                list.close(count, wanted);
            }
        }
        if remaining == Remaining::Step && !looked_whole {
            for list in self.asked_lists() {
                list.give_up();
            }
        }
        match self.next_ask() {
            Some(_) if looked_whole || remaining == Remaining::Step => OnTimeout::Next,
            Some(_) => OnTimeout::Retry,
            None => OnTimeout::Done(self.answer()),
        }
    }

    fn answer(&mut self) -> Answer {
        let missing = missing(self.info.is_some(), self.count, &self.rules, &self.players);
        let rules = std::mem::replace(&mut self.rules, Progress::new(Kind::Rules));
        let players = std::mem::replace(&mut self.players, Progress::new(Kind::Players));
        Answer::new(self.info.take(), (rules, players), missing, self.limits)
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        if self.step == Step::Info {
            return Request::new(Ask::Info).encode(out);
        }
        let ask = self.next_ask().unwrap_or(Ask::RulesAndPlayers);
        self.asked = match ask {
            Ask::Rules => (true, false),
            Ask::Players => (false, true),
            _ => (self.rules.is_open(), self.players.is_open()),
        };
        for list in self.asked_lists() {
            list.begin();
        }
        Request::new(ask).encode(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        let response = match Response::parse_lenient(datagram, &self.limits) {
            Ok(response) => response,
            Err(error) => return Verdict::Rejected(error),
        };
        match (response.body, self.step) {
            (Body::Info(info), Step::Info) => self.take_info(datagram, info.current_players),
            (Body::Rules(_) | Body::Players(_), Step::Lists | Step::Grace) => {
                self.take_list(datagram, &response)
            }
            (_, Step::Info) => Verdict::Rejected(ParseError::new(ParseErrorKind::Unexpected("the info"), 4)),
            _ => Verdict::Rejected(ParseError::new(ParseErrorKind::Unexpected("rules or players"), 4)),
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        match (self.step, remaining) {
            (Step::Info, _) if self.info.is_none() => OnTimeout::Retry,
            (_, Remaining::Nothing) => OnTimeout::Done(self.answer()),
            _ => self.quiet(remaining),
        }
    }
}
