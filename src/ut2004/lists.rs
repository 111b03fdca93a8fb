//! The lists of one query: their replies, and the proof that they are complete.
//!
//! A list has no count, no numbers and no end mark. Three facts can confirm that it is complete:
//!
//! - Players: exactly as many are listed as the info counts, apart from rows with number and ping
//!   0, which can be team scores. Either all players are in a team, or none is. A list with more
//!   has spectators, and others may be missing.
//! - Rules: one datagram of at most 450 bytes begins with the stock game's first rule.
//! - Either: two replies have the same entries, and no other reply shows that both lack some: see
//!   [`List::is_repeated`]. Two replies without any datagram of players confirm nothing if the info
//!   counts players.
//!
//! One of these facts proves a list that has an end: a datagram of at most 450 bytes. A list
//! without it looks like one whose last datagrams never arrive. It needs both facts: the count of
//! players, and the second reply.
//!
//! A reply with fewer entries than an earlier one is never proved.
//!
//! The info does not count spectators. So if the info counts no players, an empty list still needs
//! a second reply in two cases: the rules are requested again anyway, or the first reply was
//! silence.
//!
//! The last reply is the list. Replies are never merged: a datagram of another moment can
//! contradict the rest. If a list is not proved, its largest reply is the answer, and the end of
//! the list counts as missing.

use std::cmp::Ordering;

use super::list_reply::{Datagram, ListReply, Size};
use super::wire::lists::{PLAYERS, RULES, TYPE_AT};
use super::wire::{Body, Response};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::MissingParts;

/// The error for a datagram that does not answer the request.
pub(super) const UNEXPECTED: ParseError =
    ParseError::new(ParseErrorKind::Unexpected("the reply asked for"), TYPE_AT);

/// The maximum number of replies to one list. Some real lists change with every reply.
const MAX_REPLIES: usize = 3;

/// The info record and both lists.
#[derive(Debug, Clone)]
pub(super) struct Lists {
    pub(super) info: Option<Datagram>,
    /// Players as the server counts them; `None` before the info, and for a negative number.
    pub(super) player_count: Option<usize>,
    pub(super) rules: List,
    pub(super) players: List,
}

/// The replies to the requests for one list.
#[derive(Debug, Clone)]
pub(super) struct List {
    kind: Kind,
    pub(super) state: State,
    /// The reply to the current request.
    reply: ListReply,
    /// The replies before it, oldest first.
    earlier: Vec<ListReply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rules,
    Players,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    NotAsked,
    Asked,
    Proved,
    /// Requested as often as allowed, and not proved.
    GivenUp,
    /// Longer than the limits allow.
    OverLimit,
}

/// The part of a list that an answer lacks.
enum Missing {
    Nothing,
    End,
    Part,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            info: None,
            player_count: None,
            rules: List::new(Kind::Rules),
            players: List::new(Kind::Players),
        }
    }
}

impl Lists {
    /// Takes a datagram of a requested list, or the info if it is awaited.
    ///
    /// # Errors
    /// The error of the datagram. After [`ParseErrorKind::Limit`], the list takes no more
    /// datagrams.
    pub(super) fn take(
        &mut self,
        datagram: &[u8],
        awaits_info: bool,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        match datagram.get(TYPE_AT) {
            Some(&RULES) if self.rules.state != State::NotAsked => {
                self.take_part(datagram, Kind::Rules, limits)
            }
            Some(&PLAYERS) if self.players.state != State::NotAsked => {
                self.take_part(datagram, Kind::Players, limits)
            }
            _ => self.take_info(datagram, awaits_info, limits),
        }
    }

    fn take_info(
        &mut self,
        datagram: &[u8],
        is_awaited: bool,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        let response = Response::parse(datagram, limits)?;
        match response.body {
            Body::Info(info) if is_awaited => {
                self.info = Some(Datagram::new(datagram, &response));
                self.player_count = usize::try_from(info.current_players).ok();
                Ok(())
            }
            _ => Err(UNEXPECTED),
        }
    }

    fn take_part(
        &mut self,
        datagram: &[u8],
        kind: Kind,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        let size = self.size();
        let list = match kind {
            Kind::Rules => &mut self.rules,
            Kind::Players => &mut self.players,
        };
        // A list that is over takes nothing more, and a copy adds nothing. Such a datagram is still
        // a reply, if it can be read.
        if list.state != State::Asked || list.reply.has(datagram) {
            return Response::parse(datagram, limits).map(drop);
        }
        let taken = list.take(datagram, size, limits);
        if let Err(error) = &taken
            && matches!(error.kind, ParseErrorKind::Limit { .. })
        {
            list.state = State::OverLimit;
        }
        taken
    }

    /// The datagrams that have arrived for the current requests, and their bytes.
    fn size(&self) -> Size {
        let info = self.info.as_ref().map(Datagram::size);
        let lists = self.rules.reply.size().plus(self.players.reply.size());
        lists.plus(info.unwrap_or_default())
    }

    /// The parts of the answer that are missing, except the info.
    pub(super) fn missing(&self) -> MissingParts {
        let rules = self.rules.missing(None);
        let players = self.players.missing(self.player_count);
        MissingParts {
            rules: matches!(rules, Missing::Part),
            players: matches!(players, Missing::Part),
            end: matches!(rules, Missing::End) || matches!(players, Missing::End),
            ..MissingParts::NOTHING
        }
    }

    /// Ends the only replies to an unknown request. Rules show that players were requested too.
    pub(super) fn end_only_replies(&mut self) {
        if !self.rules.is_silent() {
            self.players.set_answered();
        }
        self.rules.reply.keep_first_versions();
        self.players.reply.keep_first_versions();
        self.rules.end_reply(None);
        self.players.end_reply(self.player_count);
    }

    /// Whether a datagram of a list has arrived.
    pub(super) fn have_begun(&self) -> bool {
        self.rules.has_begun() || self.players.has_begun()
    }
}

fn check_size(size: Size, limits: &Limits) -> Result<(), ParseError> {
    bound(size.datagrams, limits.max_fragments(), "datagrams")?;
    bound(size.bytes, limits.max_answer_bytes(), "bytes of one answer")
}

/// An error if there is more of `what` than a limit allows.
fn bound(size: usize, max: usize, what: &'static str) -> Result<(), ParseError> {
    if size > max {
        Err(ParseError::limit(what, max, 0))
    } else {
        Ok(())
    }
}

impl List {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            state: State::NotAsked,
            reply: ListReply::default(),
            earlier: Vec::new(),
        }
    }

    /// Notes that a request for the list is sent.
    pub(super) fn set_asked(&mut self) {
        if self.state == State::NotAsked {
            self.state = State::Asked;
        }
    }

    /// Ends a reply without any datagram, where the server counts no players. An empty list has no
    /// datagram, but the first time the datagram may be lost.
    pub(super) fn end_empty_reply(&mut self) {
        self.set_answered();
        self.end_reply(Some(0));
        self.ask_again_if_empty();
    }

    pub(super) const fn give_up(&mut self) {
        self.state = State::GivenUp;
    }

    /// Whether a reply is awaited, or must still be requested.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::NotAsked | State::Asked)
    }

    /// Whether nothing has arrived for the current request.
    pub(super) const fn is_silent(&self) -> bool {
        self.reply.is_silent()
    }

    /// Whether no reply had an entry.
    pub(super) fn is_empty(&self) -> bool {
        self.replies().all(|reply| reply.entry_count() == 0)
    }

    fn has_begun(&self) -> bool {
        let is_over = self.state == State::OverLimit;
        is_over || self.replies().any(|reply| !reply.is_silent())
    }

    /// Datagrams of another list came in the same reply: this one may be empty.
    pub(super) const fn set_answered(&mut self) {
        self.reply.set_answered();
    }

    /// Whether the current reply looks whole, so that only a late datagram could follow.
    pub(super) fn looks_whole(&self, player_count: Option<usize>) -> bool {
        let entry_count = self.reply.entry_count();
        let has_as_many = |earlier: &ListReply| earlier.entry_count() == entry_count;
        self.confirms_itself(player_count) || self.earlier.iter().any(has_as_many)
    }

    /// Ends the current reply, if something has arrived. The list is then proved, is given up, or
    /// needs another reply.
    pub(super) fn end_reply(&mut self, player_count: Option<usize>) {
        if self.state != State::Asked || self.is_silent() {
            return;
        }
        let is_repeated = self.is_repeated(player_count);
        let is_confirmed = self.confirms_itself(player_count) && self.has_most_worth();
        let is_proved = if self.reply.is_ended() {
            is_confirmed || is_repeated
        } else {
            is_confirmed && is_repeated
        };
        // Another request would only get the same entries again.
        let needs_no_more = is_repeated || self.replies().count() >= MAX_REPLIES;
        if is_proved {
            self.state = State::Proved;
        } else if needs_no_more {
            self.state = State::GivenUp;
        } else {
            self.earlier.push(std::mem::take(&mut self.reply));
        }
    }

    /// Adds a datagram to the current reply. `size` is that of all datagrams that arrived before
    /// it.
    fn take(&mut self, datagram: &[u8], size: Size, limits: &Limits) -> Result<(), ParseError> {
        let datagram = Datagram::read(datagram, limits)?;
        check_size(size.plus(datagram.size()), limits)?;
        self.check_entry_count(datagram.entry_count, limits)?;
        self.reply.push(datagram);
        Ok(())
    }

    /// Requests an empty list again, once: a datagram of spectators may have been lost.
    pub(super) fn ask_again_if_empty(&mut self) {
        if self.state == State::Proved && self.earlier.is_empty() && self.is_empty() {
            self.earlier.push(std::mem::take(&mut self.reply));
            self.state = State::Asked;
        }
    }

    /// Whether the bytes of the current reply, or the server's count of players, show that nothing
    /// of it is missing.
    fn confirms_itself(&self, player_count: Option<usize>) -> bool {
        match self.kind {
            Kind::Rules => self.reply.is_stock_rules(),
            Kind::Players => {
                player_count.is_some_and(|player_count| self.reply.has_exactly(player_count))
            }
        }
    }

    /// Whether the server counts players and no datagram of them has arrived. Two such replies
    /// count as two losses, not as an empty list.
    fn lacks_counted_players(&self, player_count: Option<usize>) -> bool {
        let are_counted =
            self.kind == Kind::Players && player_count.is_some_and(|player_count| player_count > 0);
        are_counted && !self.reply.has_datagrams()
    }

    /// Whether the current reply repeats an earlier one: both have the same entries, and no other
    /// reply shows that both lack some. The age of the other reply decides what it shows:
    ///
    /// | other reply | may it have entries that the two lack? |
    /// |---|---|
    /// | between the two | no: the list was the same before and after it |
    /// | older than both, without an end | no: it lost datagrams, so the two may have lost others |
    /// | older than both, with an end | yes: the list may have changed after it |
    fn is_repeated(&self, player_count: Option<usize>) -> bool {
        let is_same = |earlier: &ListReply| earlier.has_same_entries(&self.reply);
        let Some(same_at) = self.earlier.iter().rposition(is_same) else {
            return false;
        };
        let may_be_whole = self.reply.is_sound()
            && self.has_most_worth()
            && !self.lacks_counted_players(player_count);
        if !may_be_whole {
            return false;
        }
        let mut earlier = self.earlier.iter().enumerate();
        earlier.all(|(at, other)| match at.cmp(&same_at) {
            Ordering::Less => other.is_ended() || self.reply.has_names_of(other),
            Ordering::Equal => true,
            Ordering::Greater => self.reply.has_names_of(other),
        })
    }

    /// Whether no earlier reply is worth more.
    fn has_most_worth(&self) -> bool {
        let mut earlier = self.earlier.iter();
        earlier.all(|earlier| earlier.worth() <= self.reply.worth())
    }

    fn replies(&self) -> impl Iterator<Item = &ListReply> {
        self.earlier.iter().chain([&self.reply])
    }

    /// An error if the current reply and `new` more entries exceed the limits.
    fn check_entry_count(&self, new: usize, limits: &Limits) -> Result<(), ParseError> {
        let count = self.reply.entry_count().saturating_add(new);
        match self.kind {
            Kind::Rules => bound(count, limits.max_rules(), "rules"),
            Kind::Players => bound(count, limits.max_players(), "players"),
        }
    }

    fn missing(&self, player_count: Option<usize>) -> Missing {
        match self.state {
            State::Proved => return Missing::Nothing,
            State::OverLimit => return Missing::Part,
            State::NotAsked | State::Asked | State::GivenUp => {}
        }
        let answered = self.replies().filter(|reply| !reply.is_silent());
        let Some(best) = answered.max_by_key(|reply| reply.worth()) else {
            return Missing::Part;
        };
        let has_all_known = match player_count {
            Some(player_count) => best.has_counted(player_count),
            None => best.has_datagrams(),
        };
        if has_all_known && best.is_uncut() {
            Missing::End
        } else {
            Missing::Part
        }
    }

    /// The datagrams of the answer: those of the last reply if it is proved, else those of the best
    /// reply.
    pub(super) fn into_datagrams(self) -> Vec<Datagram> {
        if self.state == State::Proved {
            return self.reply.into_ordered();
        }
        let replies = self.earlier.into_iter().chain([self.reply]);
        let best = replies.max_by_key(ListReply::worth);
        best.unwrap_or_default().into_ordered()
    }
}
