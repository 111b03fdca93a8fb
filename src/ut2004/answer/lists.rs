//! Whether the lists of a query are complete, over all requests for them.

use super::sections::Sections;
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::Missing;
use crate::ut2004::wire::response::{Body, Response};

/// Readings after which a list is taken as it is. Real lists that change with every reply exist.
const MAX_READINGS: u8 = 8;

/// The two lists of one query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lists {
    pub(crate) rules: List,
    pub(crate) players: List,
}

impl Lists {
    /// A request for these lists goes out: what comes now belongs to a new reading.
    pub(crate) fn start_request(&mut self, rules: bool, players: bool) {
        for (list, is_requested) in [(&mut self.rules, rules), (&mut self.players, players)] {
            list.is_awaited = is_requested;
            if is_requested {
                list.state = State::Open;
                list.readings = list.readings.saturating_add(1);
                list.sections.start_reading();
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
        if list.sections.add(datagram, response, limits)? {
            list.state = State::Open;
        }
        Ok(())
    }

    /// Notes a datagram that could not be read. One that alone exceeds the limits is missing from its list.
    pub(crate) fn refuse(&mut self, response: &[u8], because: ParseErrorKind) {
        let list = match (because, response.get(4)) {
            (ParseErrorKind::Limit { .. }, Some(1)) => &mut self.rules,
            (ParseErrorKind::Limit { .. }, Some(2)) => &mut self.players,
            _ => return,
        };
        if list.is_requested() {
            list.sections.exceed_limits();
            list.give_up_settled();
        }
    }

    /// Ends the readings of the latest request where their lists are still open. `wanted`: how many must agree where
    /// nothing proves a list complete.
    pub(crate) fn end_reading(&mut self, wanted: u8) {
        self.awaited().filter(|list| list.is_open()).for_each(|list| list.end_reading(wanted));
    }

    /// Ends the only reading there is.
    pub(crate) fn end_only_reading(&mut self) {
        // Of players, only later readings prove anything.
        self.rules.sections.compare();
        self.players.is_mixed = self.players.sections.repeats_players();
        for list in [&mut self.rules, &mut self.players] {
            list.state = if list.is_proven() { State::Proven } else { State::GivenUp };
        }
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

/// One list over all readings of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    /// Players as the server counts them.
    count: Option<usize>,
    /// How many readings there were when they were counted.
    counted_at: u8,
    /// Whether the latest request asked for it.
    pub(crate) is_awaited: bool,
    /// What any reading brought.
    sections: Sections,
    /// Whether what came is of two replies, see [`Sections::repeats_players`].
    is_mixed: bool,
    readings: u8,
    state: State,
}

/// What is known of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    NotRequested,
    /// It may not be complete.
    Open,
    /// As many readings as were wanted brought all of it.
    Agreed,
    /// Its own bytes or the server's count prove it complete.
    Proven,
    /// Requested often enough.
    GivenUp,
}

impl List {
    /// Players as the server counts them now. Where that is another count than before, somebody came or went: what was
    /// read is of another moment, and only new readings are evidence.
    pub(crate) fn set_count(&mut self, count: i32) {
        let before = std::mem::replace(&mut self.count, usize::try_from(count).ok());
        self.counted_at = self.readings;
        if before.is_some() && before != self.count {
            self.sections.forget_readings();
            self.state = self.open_or_given_up();
        }
    }

    fn end_reading(&mut self, wanted: u8) {
        if self.sections.needs_comparison() {
            self.sections.compare();
        }
        self.is_mixed = self.sections.repeats_players();
        let is_agreed = self.sections.agreeing() >= u32::from(wanted) && !self.sections.is_damaged();
        self.state = match () {
            () if self.is_proven() => State::Proven,
            () if is_agreed && self.is_whole() => State::Agreed,
            // Readings that agree and show no end: a filter may swallow the same datagrams each time.
            () if is_agreed => State::GivenUp,
            () => self.open_or_given_up(),
        };
    }

    fn open_or_given_up(&self) -> State {
        let is_enough = self.readings >= MAX_READINGS || self.sections.is_over_limits();
        if is_enough { State::GivenUp } else { State::Open }
    }

    /// No more requests for it.
    pub(crate) fn give_up(&mut self) {
        if !self.is_settled() {
            self.state = State::GivenUp;
        }
    }

    /// What was settled is not complete.
    fn give_up_settled(&mut self) {
        if self.is_settled() {
            self.state = State::GivenUp;
        }
    }

    /// The newer count that should explain it does not come.
    pub(crate) const fn give_up_count(&mut self) {
        self.state = State::GivenUp;
    }

    /// Whether the current reading brought all that any reading did, with an end, and as many players as the server
    /// counts.
    pub(crate) fn looks_complete(&self) -> bool {
        if self.sections.is_empty() {
            self.is_certainly_empty()
        } else {
            self.sections.has_all() && self.is_whole()
        }
    }

    /// Whether all that came has an end, and as many players as the server counts.
    fn is_whole(&self) -> bool {
        self.sections.has_end() && !self.sections.is_damaged() && !self.is_mixed && self.has_count()
    }

    /// Whether at least as many are listed as the server counts.
    pub(crate) fn has_count(&self) -> bool {
        self.count.is_none_or(|count| self.sections.entries() >= count)
    }

    /// Whether readings agree on more players than the server counted, in a count that is older than the latest
    /// reading: they may be spectators, or players who came since.
    pub(crate) fn needs_newer_count(&self) -> bool {
        let is_count = self.count.is_none_or(|count| self.sections.entries() == count);
        self.state == State::Agreed && !is_count && self.counted_at < self.readings
    }

    /// Whether a single reading proves all that came complete.
    pub(crate) fn is_proven(&self) -> bool {
        if self.sections.is_empty() {
            return self.is_certainly_empty();
        }
        let is_count = self.count == Some(self.sections.entries()) && self.is_whole();
        (is_count && self.sections.agreeing() > 0) || self.sections.begins_and_ends()
    }

    /// Whether nothing can follow what came: its own bytes prove it complete, or, where one reading is enough, the
    /// server's count.
    pub(crate) fn is_certain(&self, wanted: u8) -> bool {
        !self.sections.is_empty()
            && self.sections.has_all()
            && (self.sections.begins_and_ends() || (wanted == 1 && self.is_proven()))
    }

    /// Whether it may be complete and nothing confirms it: it looks so, or several readings agree and show no end.
    fn is_unconfirmed(&self) -> bool {
        let agreeing = self.sections.agreeing();
        let is_whole = agreeing > 0 && self.is_whole();
        let has_no_end = agreeing > 1 && !self.sections.is_damaged() && !self.sections.has_end();
        !self.is_settled() && (is_whole || has_no_end)
    }

    /// Whether the server counts no player, so that no datagram is expected.
    pub(crate) fn is_counted_empty(&self) -> bool {
        self.count == Some(0)
    }

    /// Whether that is all: nothing came and was refused.
    fn is_certainly_empty(&self) -> bool {
        self.is_counted_empty() && !self.sections.is_damaged()
    }

    /// Whether nothing came for the latest request.
    pub(crate) const fn is_silent(&self) -> bool {
        self.sections.is_silent()
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

    /// What to answer with.
    pub(super) fn into_sections(self) -> Sections {
        self.sections
    }
}
