//! The client's conversation.

use std::time::Duration;

use super::answer::Answer;
use super::lists::{List, Lists, State};
use super::wire::{Command, Request};
use crate::error::ParseErrorKind;
use crate::options::{Detail, Dialect, QueryOptions};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// Asks for everything: rules and players, then the info, whose round trip leaves time for what is late of the lists.
///
/// A list is complete when its own bytes or the info's count of players prove it (see the [module](super)). Where they
/// cannot, it is requested again, until three readings have brought each part of it. What stays unknown is in
/// [`Answer::completeness`].
///
/// ```
/// use queryport::QueryOptions;
/// use queryport::session::{Conversation, Verdict};
/// use queryport::ut2004::StatusQuery;
///
/// let mut query = StatusQuery::new(0, &QueryOptions::default());
/// let mut request = Vec::new();
/// query.request(&mut request);
/// assert_eq!(request, [0x79, 0, 0, 0, 3]);
///
/// let rules = b"\x80\0\0\0\x01\x0bServerMode\0\x0adedicated\0";
/// assert!(matches!(query.receive(rules), Verdict::Next));
/// query.request(&mut request);
/// assert_eq!(request[5..], [0x79, 0, 0, 0, 0]);
///
/// let players =
///     b"\x80\0\0\0\x02\x05\0\0\0\x04abc\0\x1c\0\0\0\xfd\xff\xff\xff\0\0\0\x20";
/// assert!(matches!(query.receive(players), Verdict::Earlier));
/// let info =
///     b"\x80\0\0\0\0\0\0\0\0\0\x61\x1e\0\0\0\0\0\0\x04Srv\0\x03DM\0\x0cxDeathMatch\0\
///              \x01\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\x022\0\0\0";
/// let Verdict::Done(answer) = query.receive(info) else { panic!() };
/// assert!(answer.completeness().is_complete(), "as many as are counted");
/// assert_eq!(answer.players().count(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery {
    options: QueryOptions,
    lists: Lists,
    /// Whether the server may know the request for both lists.
    knows_both: bool,
}

impl StatusQuery {
    /// The protocol has nothing to quote, so the nonce is not used: the sender's address is all that ties a reply to
    /// its request.
    pub fn new(_nonce: u64, options: &QueryOptions) -> Self {
        let knows_both = options.dialect != Dialect::SeparateLists;
        Self {
            options: *options,
            lists: Lists::default(),
            knows_both,
        }
    }

    /// The command of the next request; `None` when nothing is open. The info is requested when the first list begins to come:
    /// its round trip is the pause for the rest.
    fn next_command(&self) -> Option<Command> {
        let Lists {
            info,
            rules,
            players,
            asked,
            ..
        } = &self.lists;
        let is_split = self.options.dialect == Dialect::SeparateLists;
        let is_empty = if is_split {
            players.expects_nothing()
        } else {
            players.sections.is_empty()
        };
        match (rules.state == State::Open, players.state == State::Open) {
            _ if self.options.detail == Detail::Short => info.is_none().then_some(Command::Info),
            _ if players.state == State::Counting || info.is_none() && asked.is_some() => {
                Some(Command::Info)
            }
            (true, true) if !is_split => Some(Command::RulesAndPlayers),
            (true, _) => Some(Command::Rules),
            // Nobody may be listed: the rules of the same reply show that the request has arrived.
            (false, true) if self.knows_both && is_empty => Some(Command::RulesAndPlayers),
            (false, true) => Some(Command::Players),
            (false, false) => None,
        }
    }

    fn take(&mut self, datagram: &[u8], is_early: bool) -> Verdict<Answer> {
        let (readings, awaited_info) = (self.options.readings, self.lists.awaits_info);
        match self
            .lists
            .take(datagram, is_early && !awaited_info, &self.options.limits)
        {
            // What is over the limits shows that the request has arrived.
            Err(error) if !matches!(error.kind, ParseErrorKind::Limit { .. }) => {
                Verdict::Rejected(error)
            }
            // What comes while the info is awaited is judged with it.
            _ if self.lists.awaits_info => Verdict::Earlier,
            _ if self.lists.info.is_none() => Verdict::Next,
            _ if awaited_info || self.lists.awaited().all(|list| list.has_all(readings)) => {
                self.lists
                    .awaited()
                    .for_each(|list| list.end_reading(readings));
                if self.next_command().is_some() {
                    Verdict::Next
                } else {
                    Verdict::Done(self.take_answer())
                }
            }
            _ if self.lists.awaited().all(|list| list.looks_complete()) => {
                Verdict::Partial(Wait::Grace)
            }
            _ if self.lists.awaited().all(|list| list.is_silent()) => Verdict::Partial(Wait::Reply),
            _ => Verdict::Partial(Wait::Quiet),
        }
    }

    fn take_answer(&mut self) -> Answer {
        Answer::new(std::mem::take(&mut self.lists), &self.options)
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        let command = self.next_command().unwrap_or(Command::RulesAndPlayers);
        self.lists.start_request(command);
        // Cannot fail: every request has a form on the wire.
        let _ = Request::new(command).encode(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        self.take(datagram, false)
    }

    fn receive_early(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        self.take(datagram, true)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        let (has_info, awaits_info) = (self.lists.info.is_some(), self.lists.awaits_info);
        let is_untouched = |list: &List| list.sections.is_empty() && list.state == State::Open;
        let has_nothing = is_untouched(&self.lists.rules) && is_untouched(&self.lists.players);
        let looks_complete = self.lists.awaited().all(|list| list.looks_complete());
        match remaining {
            Remaining::Retry if awaits_info => return OnTimeout::Retry,
            _ if !has_info && has_nothing => return OnTimeout::Retry,
            // The lists are here without the info.
            _ if !has_info => return OnTimeout::Done(self.take_answer()),
            // The count that should explain the players does not come.
            _ if awaits_info => self.lists.players.state = State::GivenUp,
            Remaining::Nothing => {}
            // Some servers and filters know only the requests for one list.
            _ if self.lists.awaited().all(|list| list.is_silent()) => {
                self.options.dialect = Dialect::SeparateLists;
            }
            _ => self
                .lists
                .awaited()
                .for_each(|list| list.end_reading(self.options.readings)),
        }
        if remaining == Remaining::Step && !looks_complete {
            self.lists
                .awaited()
                .for_each(|list| list.state = State::GivenUp);
        }
        match self
            .next_command()
            .filter(|_| remaining != Remaining::Nothing)
        {
            // Lists that look complete need no retry: requesting them again is a step of its own.
            Some(_) if looks_complete || remaining == Remaining::Step => OnTimeout::Next,
            Some(_) => OnTimeout::Retry,
            None => OnTimeout::Done(self.take_answer()),
        }
    }

    /// None: the game's server answers every request.
    fn retry_spacing(&self) -> Duration {
        Duration::ZERO
    }
}
