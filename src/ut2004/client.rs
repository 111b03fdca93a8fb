//! The client's conversation.

use super::answer::Answer;
use super::lists::{List, Lists, State, UNEXPECTED};
use super::wire::{Command, Request};
use crate::error::ParseErrorKind;
use crate::options::{Detail, Dialect, QueryOptions};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// Queries a server's status: rules and players, then the info.
///
/// The info's round trip leaves time for the rest of the lists.
///
/// A list is complete when its own bytes or the info's count of players prove it (see the
/// [module](super)). Otherwise it is requested again, at most twice, until two replies have the
/// same entries. Parts that stay unknown are in [`Answer::completeness`].
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
    /// The request whose reply is awaited; `None` before the first request and after its reply has
    /// ended.
    asked: Option<Command>,
    /// Whether each list has a request of its own.
    is_separate: bool,
}

impl StatusQuery {
    /// The protocol has nothing to quote, so the nonce is not used: only the sender's address ties
    /// a reply to its request.
    pub fn new(_nonce: u64, options: &QueryOptions) -> Self {
        Self {
            options: *options,
            lists: Lists::default(),
            asked: None,
            is_separate: options.dialect == Dialect::SeparateLists,
        }
    }

    /// The command of the next request; `None` when no further request is needed.
    fn next_command(&self) -> Option<Command> {
        let Lists {
            info,
            rules,
            players,
            ..
        } = &self.lists;
        if self.options.detail == Detail::Short {
            return info.is_none().then_some(Command::Info);
        }
        let were_lists_asked = rules.state != State::NotAsked || players.state != State::NotAsked;
        if info.is_none() && were_lists_asked {
            return Some(Command::Info);
        }
        let needs_players = players.is_open();
        // An empty list of players has no datagram. Only rules in the same reply show that the
        // request has arrived.
        let needs_sign_of_arrival = needs_players && players.is_empty() && !self.is_separate;
        let needs_rules = rules.is_open() || needs_sign_of_arrival;
        match (needs_rules, needs_players) {
            (true, true) if !self.is_separate => Some(Command::RulesAndPlayers),
            (true, _) => Some(Command::Rules),
            (false, true) => Some(Command::Players),
            (false, false) => None,
        }
    }

    /// The lists that the current request is for, and that can still receive datagrams.
    fn awaited(&mut self) -> impl Iterator<Item = &mut List> {
        // Datagrams of the lists that arrive before the info belong to the same reply.
        let asked_info = self.asked == Some(Command::Info);
        let awaits_rules = asked_info || self.asked.is_some_and(asks_for_rules);
        let awaits_players = asked_info || self.asked.is_some_and(asks_for_players);
        let rules = awaits_rules.then_some(&mut self.lists.rules);
        let players = awaits_players.then_some(&mut self.lists.players);
        let asked = rules.into_iter().chain(players);
        asked.filter(|list| list.state == State::Asked)
    }

    fn awaits_info(&self) -> bool {
        self.asked == Some(Command::Info) && self.lists.info.is_none()
    }

    /// The verdict after a datagram was taken.
    fn verdict(&mut self) -> Verdict<Answer> {
        let Some(asked) = self.asked else {
            // The reply has ended: this datagram is late.
            return Verdict::Next;
        };
        let has_info = self.lists.info.is_some();
        if asked == Command::Info {
            return if has_info {
                self.end_request().into()
            } else {
                Verdict::Partial(Wait::Reply)
            };
        }
        if !has_info {
            // The lists have begun. The rest arrives during the round trip of the info.
            return Verdict::Next;
        }
        let takes_no_more = self.awaited().next().is_none();
        if takes_no_more {
            return self.end_request().into();
        }
        Verdict::Partial(self.wait_for_lists())
    }

    /// How long to wait for further datagrams of the awaited lists.
    fn wait_for_lists(&mut self) -> Wait {
        let player_count = self.lists.player_count;
        if self.awaited().all(|list| list.is_silent()) {
            Wait::Reply
        } else if self.awaited().all(|list| list.looks_whole(player_count)) {
            Wait::Grace
        } else {
            Wait::Quiet
        }
    }

    /// Ends the current request: the awaited lists get no more datagrams from it.
    fn end_request(&mut self) -> NextStep {
        self.end_awaited_lists();
        let are_rules_asked_again = self.lists.rules.is_open();
        if are_rules_asked_again && !self.is_separate {
            // The same request can confirm that there are no players.
            self.lists.players.ask_again_if_empty();
        }
        self.asked = None;
        match self.next_command() {
            Some(_) => NextStep::Request,
            None => NextStep::Done(self.take_answer()),
        }
    }

    fn end_awaited_lists(&mut self) {
        let player_count = self.lists.player_count;
        self.awaited().for_each(|list| list.end_reply(player_count));
    }

    /// Handles a timeout before the info has arrived.
    fn handle_missing_info(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        let has_answer = self.lists.have_begun();
        let may_ask_again = self.awaits_info() && remaining == Remaining::Retry;
        if !has_answer || may_ask_again {
            return OnTimeout::Retry;
        }
        OnTimeout::Done(self.end())
    }

    /// Handles the silence of a server that has sent its info.
    fn handle_silence(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        let asked_players = self.asked == Some(Command::Players);
        if asked_players && self.lists.player_count == Some(0) {
            self.lists.players.end_empty_reply();
            return self.end_request().into();
        }
        if remaining == Remaining::Retry {
            if !self.lists.have_begun() {
                // Some servers and filters know only the requests for one list.
                self.is_separate = true;
            }
            return OnTimeout::Retry;
        }
        self.awaited().for_each(List::give_up);
        self.end_request().into()
    }

    /// Ends the query with the parts that have arrived.
    fn end(&mut self) -> Answer {
        self.end_awaited_lists();
        self.take_answer()
    }

    fn take_answer(&mut self) -> Answer {
        Answer::new(std::mem::take(&mut self.lists), &self.options)
    }
}

/// The step after the end of a request.
enum NextStep {
    /// The next request.
    Request,
    /// Nothing: this is the answer.
    Done(Answer),
}

impl From<NextStep> for Verdict<Answer> {
    fn from(step: NextStep) -> Self {
        match step {
            NextStep::Request => Self::Next,
            NextStep::Done(answer) => Self::Done(answer),
        }
    }
}

impl From<NextStep> for OnTimeout<Answer> {
    fn from(step: NextStep) -> Self {
        match step {
            NextStep::Request => Self::Next,
            NextStep::Done(answer) => Self::Done(answer),
        }
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
        // After the answer, the query begins anew.
        let command = self.next_command().unwrap_or(Command::RulesAndPlayers);
        self.asked = Some(command);
        if asks_for_rules(command) {
            self.lists.rules.set_asked();
        }
        if asks_for_players(command) {
            self.lists.players.set_asked();
        }
        // Cannot fail: every request has a form on the wire.
        Request::new(command).encode(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        // An echo of the request differs from a reply without entries only in the version.
        let request = self.asked.map(Request::new);
        if request.is_some() && Request::parse(datagram).ok() == request {
            return Verdict::Rejected(UNEXPECTED);
        }
        let awaits_info = self.awaits_info();
        let taken = self.lists.take(datagram, awaits_info, &self.options.limits);
        // A datagram over the limits shows that the request has arrived.
        if let Err(error) = taken
            && !matches!(error.kind, ParseErrorKind::Limit { .. })
        {
            return Verdict::Rejected(error);
        }
        if self.asked == Some(Command::RulesAndPlayers) {
            // The request has arrived. If no datagram of players follows, the list is empty.
            self.lists.players.set_answered();
        }
        self.verdict()
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        if self.lists.info.is_none() {
            return self.handle_missing_info(remaining);
        }
        if remaining == Remaining::Nothing {
            return OnTimeout::Done(self.end());
        }
        let is_silent = self.awaited().all(|list| list.is_silent());
        if is_silent {
            return self.handle_silence(remaining);
        }
        self.end_request().into()
    }
}
