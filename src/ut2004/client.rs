//! The client's conversation.

use super::answer::Answer;
use super::lists::{Decision, List, Lists, Reply, UNEXPECTED};
use super::wire::{Command, Request};
use crate::error::ParseErrorKind;
use crate::options::{Detail, Dialect, QueryOptions};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// Queries a server's status: rules and players, then the info.
///
/// The info's round trip leaves time for the rest of the lists.
///
/// If these replies do not prove that the answer is complete, the lists are requested again, at
/// most four times, and the info when it is needed: see the table of the [module](super). Parts
/// that stay unknown are in [`Answer::completeness`].
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
/// let rules = b"\x80\0\0\0\x01\x0bServerMode\0\x0adedicated\0\x0eMaxSpectators\0\x022\0";
/// assert!(matches!(query.receive(rules), Verdict::Next));
/// query.request(&mut request);
/// assert_eq!(request[5..], [0x79, 0, 0, 0, 0]);
///
/// let players =
///     b"\x80\0\0\0\x02\x05\0\0\0\x04abc\0\x1c\0\0\0\xfd\xff\xff\xff\0\0\0\x20";
/// assert!(matches!(query.receive(players), Verdict::Partial(_)));
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
    /// The request of the current step.
    command: Command,
    /// Whether it was sent. Datagrams that arrive before that are late ones.
    is_sent: bool,
}

impl StatusQuery {
    /// The protocol has nothing to quote, so the nonce is not used: only the sender's address ties
    /// a reply to its request.
    pub fn new(_nonce: u64, options: &QueryOptions) -> Self {
        let mut query = Self {
            options: *options,
            lists: Lists::default(),
            command: Command::Info,
            is_sent: false,
        };
        query.lists.is_separate = options.dialect == Dialect::SeparateLists;
        if options.detail == Detail::Full {
            query.ask_for_lists();
        }
        query
    }

    /// Begins the step of this command.
    fn ask(&mut self, command: Command) {
        self.command = command;
        self.is_sent = false;
        if asks_for_rules(command) {
            self.lists.rules.begin();
        }
        if asks_for_players(command) {
            self.lists.players.begin();
        }
    }

    fn ask_for_lists(&mut self) {
        self.lists.begin_round();
        self.ask_for_next_list();
    }

    /// Requests both lists, or one that this round has not requested.
    fn ask_for_next_list(&mut self) {
        self.ask(if !self.lists.is_separate {
            Command::RulesAndPlayers
        } else if self.lists.are_rules_next() {
            Command::Rules
        } else {
            Command::Players
        });
    }

    /// Ends the current step. Without an answer, a request follows.
    fn end_step(&mut self) -> Option<Answer> {
        let is_first_round = self.lists.info.is_none() && self.command != Command::Info;
        if !is_first_round {
            return self.decide();
        }
        if self.lists.is_round_open() {
            self.ask_for_next_list();
        } else {
            // The rest of the lists arrives during the round trip of the info.
            self.ask(Command::Info);
        }
        None
    }

    /// Ends the awaited replies and decides.
    fn decide(&mut self) -> Option<Answer> {
        if self.options.detail == Detail::Short {
            return Some(self.take_answer());
        }
        let ended = match self.command {
            Command::Info => Reply::Info,
            _ => Reply::Lists,
        };
        match self.lists.end(ended) {
            Decision::Complete => return Some(self.take_answer()),
            _ if self.lists.is_round_open() => self.ask_for_next_list(),
            Decision::AskInfo => self.ask(Command::Info),
            Decision::AskLists => self.ask_for_lists(),
            Decision::End => return Some(self.take_answer()),
        }
        None
    }

    /// The same at a timeout.
    fn end_step_at_timeout(&mut self) -> OnTimeout<Answer> {
        self.end_step().map_or(OnTimeout::Next, OnTimeout::Done)
    }

    /// The lists of the current request that can take further datagrams.
    fn awaited(&self) -> impl Iterator<Item = &List> {
        let rules = asks_for_rules(self.command).then_some(&self.lists.rules);
        let players = asks_for_players(self.command).then_some(&self.lists.players);
        let asked = rules.into_iter().chain(players);
        asked.filter(|list| !list.is_over)
    }

    /// Whether nothing has arrived for the current request for lists.
    fn is_silent(&self) -> bool {
        self.awaited().all(List::is_silent)
    }

    /// The verdict after a datagram of a list was taken.
    fn verdict(&mut self) -> Verdict<Answer> {
        if !self.is_sent {
            return Verdict::Next;
        }
        let takes_no_more = self.awaited().next().is_none();
        if self.command == Command::Info || (self.is_silent() && !takes_no_more) {
            return Verdict::Partial(Wait::Reply);
        }
        if self.lists.info.is_none() || takes_no_more {
            return self.end_step().map_or(Verdict::Next, Verdict::Done);
        }
        Verdict::Partial(if self.lists.look_whole() {
            Wait::Grace
        } else {
            Wait::Quiet
        })
    }

    /// Handles a timeout for a request for lists without a reply.
    fn handle_silence(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        let has_begun = self.lists.have_begun();
        if self.command == Command::Players {
            // An empty list has no datagram.
            self.lists.players.set_answered();
            return self.end_step_at_timeout();
        }
        if self.lists.info.is_none() {
            self.command = Command::Info;
            return OnTimeout::Retry;
        }
        if remaining == Remaining::Retry {
            if !has_begun && !self.lists.is_separate {
                // Some servers and filters know only the requests for one list.
                self.lists.is_separate = true;
                self.ask_for_lists();
            }
            return OnTimeout::Retry;
        }
        self.lists.rules.is_over = true;
        if self.lists.is_round_open() {
            self.ask_for_next_list();
            return OnTimeout::Next;
        }
        OnTimeout::Done(self.take_answer())
    }

    fn take_answer(&mut self) -> Answer {
        self.lists.end_lists();
        Answer::new(std::mem::take(&mut self.lists), &self.options)
    }
}

const fn asks_for_rules(command: Command) -> bool {
    matches!(command, Command::Rules | Command::RulesAndPlayers)
}

const fn asks_for_players(command: Command) -> bool {
    matches!(command, Command::Players | Command::RulesAndPlayers)
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        self.is_sent = true;
        // Cannot fail: every request has a form on the wire.
        Request::new(self.command).encode(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        // An echo of the request differs from a reply without entries only in the version.
        let request = Request::new(self.command);
        if Request::parse(datagram) == Ok(request) {
            return Verdict::Rejected(UNEXPECTED);
        }
        let awaits_info = self.is_sent && self.command == Command::Info;
        match self.lists.take(datagram, awaits_info, &self.options.limits) {
            Ok(Reply::Info) => self.end_step().map_or(Verdict::Next, Verdict::Done),
            Ok(Reply::Lists) => self.verdict(),
            // A datagram over the limits shows that the request has arrived.
            Err(error) if matches!(error.kind, ParseErrorKind::Limit { .. }) => self.verdict(),
            Err(error) => Verdict::Rejected(error),
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        let has_begun = self.lists.info.is_some() || self.lists.have_begun();
        if remaining == Remaining::Nothing && has_begun {
            return OnTimeout::Done(self.take_answer());
        }
        if self.command == Command::Info {
            return if remaining == Remaining::Retry || !has_begun {
                OnTimeout::Retry
            } else {
                OnTimeout::Done(self.take_answer())
            };
        }
        if self.is_silent() {
            return self.handle_silence(remaining);
        }
        self.end_step_at_timeout()
    }
}
