//! Whether the lists of a query are complete, over all requests for them.

use super::list_reply::ListReply;
use crate::error::ParseError;
use crate::limits::Limits;
use crate::model::Missing;
use crate::ut2004::wire::response::{Body, Response};

/// Replies after which a list is taken as it is. Real lists that change with every reply exist.
const MAX_REPLIES: u8 = 8;

/// The two lists of one query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lists {
    pub(crate) rules: List,
    pub(crate) players: List,
}

impl Lists {
    /// Players as the server counts them.
    pub(crate) fn set_player_count(&mut self, count: i32) {
        self.players.count = usize::try_from(count).ok();
    }

    /// A request for these lists goes out: what comes now belongs to a new reply.
    pub(crate) fn start_request(&mut self, rules: bool, players: bool) {
        for (list, is_requested) in [(&mut self.rules, rules), (&mut self.players, players)] {
            list.is_awaited = is_requested;
            if is_requested {
                list.start_reply();
            }
        }
    }

    /// Takes a datagram of rules or players; others change nothing. One that a settled list lacks opens it again.
    pub(crate) fn add(
        &mut self,
        datagram: &[u8],
        response: &Response<'_>,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        let list = if matches!(response.body, Body::Rules(_)) { &mut self.rules } else { &mut self.players };
        if list.reply.add(datagram, response, limits)? {
            list.state = State::Open;
        }
        Ok(())
    }

    /// Ends the replies to the latest request where their lists are still open. `wanted`: how many must agree where
    /// nothing proves a list complete.
    pub(crate) fn end_reply(&mut self, wanted: u8) {
        self.awaited().filter(|list| list.is_open()).for_each(|list| list.end_reply(wanted));
    }

    /// The lists of the latest request.
    pub(crate) fn awaited(&mut self) -> impl Iterator<Item = &mut List> {
        [&mut self.rules, &mut self.players].into_iter().filter(|list| list.is_awaited)
    }

    /// What is known to be missing.
    pub(crate) fn missing(&self) -> Missing {
        let (rules, players) = (&self.rules, &self.players);
        Missing {
            rules: !rules.is_settled() && !rules.is_unconfirmed(),
            players: !players.has_count() || (!players.is_settled() && !players.is_unconfirmed()),
            end: rules.is_unconfirmed() || players.is_unconfirmed(),
            ..Missing::NOTHING
        }
    }
}

/// One list over all replies with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    /// Players as the server counts them.
    count: Option<usize>,
    /// Whether the latest request asked for it.
    pub(crate) is_awaited: bool,
    /// What came for the latest request.
    reply: ListReply,
    /// The reply before it.
    previous: Option<ListReply>,
    /// An earlier reply with more in it.
    fullest: Option<ListReply>,
    /// How many replies in a row brought the same.
    agreeing: u8,
    replies: u8,
    state: State,
}

/// What is known of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    NotRequested,
    /// It may not be complete.
    Open,
    /// As many replies as were wanted brought the same.
    Agreed,
    /// Its own bytes or the server's count prove it complete.
    Proven,
    /// Requested often enough.
    GivenUp,
}

impl List {
    fn start_reply(&mut self) {
        self.state = State::Open;
        if self.reply.is_empty() {
            return;
        }
        let before = self.previous.replace(std::mem::take(&mut self.reply));
        let entries = |reply: &Option<ListReply>| reply.as_ref().map_or(0, ListReply::entries);
        if entries(&before) > entries(&self.fullest) {
            self.fullest = before;
        }
    }

    fn end_reply(&mut self, wanted: u8) {
        self.replies = self.replies.saturating_add(1);
        if self.is_proven() {
            self.state = State::Proven;
            return;
        }
        let agrees = |earlier: &ListReply| self.reply.agrees_with(earlier);
        let lacks_some =
            |fullest: &ListReply| self.reply.entries() < fullest.entries() && self.reply.is_within(fullest);
        self.agreeing =
            if self.previous.as_ref().is_some_and(agrees) { self.agreeing.saturating_add(1) } else { 1 };
        let agreed = self.agreeing >= wanted
            && !self.reply.is_damaged()
            && !self.fullest.as_ref().is_some_and(lacks_some);
        if agreed && self.looks_complete() {
            self.state = State::Agreed;
        } else if agreed || self.replies >= MAX_REPLIES || self.reply.is_over_limits() {
            // Replies that agree and show no end: a filter may swallow the same datagrams each time.
            self.state = State::GivenUp;
        }
    }

    /// No more requests for it.
    pub(crate) fn give_up(&mut self) {
        if !self.is_settled() {
            self.state = State::GivenUp;
        }
    }

    /// Whether the latest reply shows an end, and as many players as the server counts.
    pub(crate) fn looks_complete(&self) -> bool {
        if self.is_silent() {
            return self.count == Some(0);
        }
        self.reply.has_end() && !self.reply.is_damaged() && self.has_count()
    }

    /// Whether at least as many are listed as the server counts.
    pub(crate) fn has_count(&self) -> bool {
        self.count.is_none_or(|count| self.reply.entries() >= count)
    }

    /// Whether the latest reply proves itself complete.
    pub(crate) fn is_proven(&self) -> bool {
        self.looks_complete() && (self.count == Some(self.reply.entries()) || self.reply.begins_and_ends())
    }

    /// Whether the latest reply proved itself complete with datagrams: nothing can follow them.
    pub(crate) fn is_proven_by_datagrams(&self) -> bool {
        self.state == State::Proven && !self.is_silent()
    }

    /// Whether it may be complete and nothing confirms it: it looks so, or several replies agree and show no end.
    fn is_unconfirmed(&self) -> bool {
        let is_whole = !self.is_silent() && !self.reply.is_damaged();
        let agrees_without_end = self.agreeing > 1 && is_whole && !self.reply.has_end();
        !self.is_settled() && (self.looks_complete() || agrees_without_end)
    }

    /// Whether the server counts no player, so that no datagram is expected.
    pub(crate) fn is_counted_empty(&self) -> bool {
        self.count == Some(0)
    }

    /// Whether nothing came for the latest request.
    pub(crate) const fn is_silent(&self) -> bool {
        self.reply.is_empty()
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.state != State::NotRequested
    }

    /// Whether another request for it makes sense.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.state, State::NotRequested | State::Open)
    }

    /// Whether it is known to be complete, as far as that can be known.
    const fn is_settled(&self) -> bool {
        matches!(self.state, State::Agreed | State::Proven)
    }

    /// The reply to answer with: the settled one, else the one with the most in it.
    pub(super) fn into_reply(self) -> ListReply {
        let is_settled = self.is_settled();
        let earlier = [self.previous, self.fullest].into_iter().flatten().filter(|_| !is_settled);
        earlier.fold(self.reply, |best, reply| if reply.entries() > best.entries() { reply } else { best })
    }
}
