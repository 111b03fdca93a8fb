//! The lists of one query over all readings of them, and when they are complete.
//!
//! A list has no count, no numbers and no end mark. What can be known:
//! - Only the last datagram of a list has [`FLUSH_LENGTH`](crate::ut2004::wire::lists::FLUSH_LENGTH) bytes or less.
//! - The rules of the stock game begin with `ServerMode` (`Deaod/UT2004`, `Engine/GameInfo.uc`, `GetServerDetails`;
//!   every capture): one short datagram that begins so is all of the list.
//! - The info record counts players, and the list has spectators too: a longer list proves nothing, and no more does an
//!   empty one.
//! - A list that stands still is cut into the same datagrams each time. A player or a rule in another datagram than
//!   before, or another end, shows that the list has changed.
//!
//! A reading is what one request for a list brings. A list is complete when the latest reading brought every datagram that is
//! known of it, and
//! - it is that one datagram of rules; or
//! - nothing but this reading brought any of it, and as many players as are counted, none of whom is known not to be; or
//! - as many readings as are wanted brought each datagram since the list last changed.

use super::section::{Entry, Section};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::Missing;
use crate::ut2004::wire::response::{Body, Response};

/// The bit of the reading after which a list is taken as it is, the eighth. Real lists that change with every reply exist.
const LAST_READING: u32 = 1 << 7;

/// The two lists of one query.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lists {
    pub(crate) rules: List,
    pub(crate) players: List,
    /// Datagrams of them arrived before the latest request.
    has_earlier: bool,
}

/// One list over all readings of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    /// In order of arrival, each in its newest version.
    pub(super) sections: Vec<Section>,
    /// Players as the server counts them.
    count: Option<usize>,
    /// The reading after which they were counted.
    counted_after: u32,
    /// The bit of the latest reading; 0 before the first.
    reading: u32,
    /// The readings before the last change of the list, and those that a late datagram came with: they prove nothing of its
    /// present state.
    outdated: u32,
    /// Of players: the readings whose request is known to have arrived, because rules of the same reply came.
    answered: u32,
    /// The latest request asked for it.
    is_awaited: bool,
    /// The latest reading brought parts of two replies.
    is_mixed: bool,
    /// There were more than the limits allow.
    is_over_limits: bool,
    state: State,
}

/// What is known of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// It may not be complete.
    #[default]
    Open,
    Complete,
    /// Requested often enough.
    GivenUp,
}

impl Lists {
    /// A request for these lists goes out: what comes now belongs to a new reading.
    pub(crate) fn start_request(&mut self, rules: bool, players: bool) {
        self.has_earlier = !self.rules.sections.is_empty() || !self.players.sections.is_empty();
        for (list, is_requested) in [(&mut self.rules, rules), (&mut self.players, players)] {
            list.is_awaited = is_requested && list.is_open();
            if list.is_awaited {
                // Readings beyond the bits count as one: they prove less.
                list.reading = list.reading.checked_mul(2).unwrap_or(list.reading).max(1);
                list.is_mixed = false;
            }
        }
    }

    /// Takes a datagram of rules or players; others change nothing. `is_early`: it came sooner after the request than a reply
    /// can, so that it is a late one where an earlier request brought any.
    pub(crate) fn add(
        &mut self,
        datagram: &[u8],
        response: &Response<'_>,
        is_early: bool,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        let is_late = is_early && self.has_earlier;
        let (list, entries, limit, what) = match response.body {
            Body::Rules(rules) => (&mut self.rules, rules.0.count, limits.max_rules(), "rules"),
            Body::Players(players) => (&mut self.players, players.0.count, limits.max_players(), "players"),
            Body::Info(_) | Body::SmallPing(_) => return Ok(()),
        };
        let section = Section::new(datagram, entries, response.is_cut());
        list.add(section, is_late);
        let sum = |of: fn(&Section) -> usize| list.sections.iter().map(of).fold(0, usize::saturating_add);
        let bounds = [
            (list.sections.len(), limits.max_fragments(), "datagrams"),
            (sum(|section| section.bytes.len()), limits.max_answer_bytes(), "bytes of one answer"),
            (sum(|section| section.entries), limit, what),
        ];
        if let Some((_, limit, what)) = bounds.into_iter().find(|(size, limit, _)| size > limit) {
            list.sections.pop();
            list.is_over_limits = true;
            return Err(ParseError::limit(what, limit, 0));
        }
        if is_late {
            self.rules.outdated |= self.rules.reading;
            self.players.outdated |= self.players.reading;
        } else if matches!(response.body, Body::Rules(_)) && self.players.is_awaited {
            self.players.answered |= self.players.reading;
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
            (list.is_over_limits, list.state) = (true, State::GivenUp);
        }
    }

    /// The lists of the latest request that are open.
    pub(crate) fn awaited(&mut self) -> impl Iterator<Item = &mut List> {
        [&mut self.rules, &mut self.players].into_iter().filter(|list| list.is_awaited && list.is_open())
    }

    /// Ends the only reading there is, of which the first version of each datagram counts: any count that is reached proves it.
    pub(crate) fn end_only_reading(&mut self) {
        for list in [&mut self.rules, &mut self.players] {
            list.is_mixed = false;
            list.drop_outdated();
            let is_proven = list.is_only_section() || list.count == Some(list.entries());
            list.state = if is_proven && list.is_whole() { State::Complete } else { State::GivenUp };
        }
    }

    /// What is known to be missing.
    pub(crate) fn missing(&self) -> Missing {
        let (rules, players) = (&self.rules, &self.players);
        Missing {
            rules: !rules.is_complete() && !rules.is_unconfirmed(),
            players: !players.is_complete() && !players.is_unconfirmed(),
            end: rules.is_unconfirmed() || players.is_unconfirmed(),
            ..Missing::NOTHING
        }
    }
}

impl List {
    /// Takes a datagram of it. A late one is of no reading.
    fn add(&mut self, mut new: Section, is_late: bool) {
        new.readings = if is_late { 0 } else { self.reading };
        let known = self.sections.iter().position(|known| new.is_version_of(known));
        let Some((at, known)) = known.and_then(|at| Some((at, self.sections.get(at)?))) else {
            self.state = State::Open;
            return self.sections.push(new);
        };
        let is_same = known.bytes == new.bytes;
        if self.is_complete() && !is_same {
            self.state = State::Open;
        }
        if known.readings & new.readings != 0 {
            self.is_mixed |= !is_same;
        } else if self.is_awaited && !is_late {
            new.readings |= known.readings;
            self.sections.remove(at);
            self.sections.push(new);
        }
    }

    /// Ends a reading. `wanted`: how many must agree where nothing proves the list complete.
    pub(crate) fn end_reading(&mut self, wanted: u8) {
        self.drop_outdated();
        let is_agreed = self.agreeing() >= wanted.into();
        let is_enough = self.reading >= LAST_READING || self.is_over_limits;
        self.state = match () {
            () if self.is_whole() && (is_agreed || self.is_proven()) => State::Complete,
            // Readings that agree and show no end: a filter may swallow the same datagrams each time.
            () if is_enough || (is_agreed && self.has_all() && !self.is_mixed) => State::GivenUp,
            () => State::Open,
        };
    }

    /// Drops the sections that cannot be of one list with those of the latest reading. Where these cannot either, they are of
    /// two replies.
    fn drop_outdated(&mut self) {
        if self.sections.len() < 2 {
            return;
        }
        let mut entries: Vec<(Entry<'_>, usize, u32)> = Vec::with_capacity(self.entries().saturating_add(2));
        for (at, section) in self.sections.iter().enumerate() {
            let end = section.is_end().then_some(Entry::End);
            entries.extend(end.into_iter().chain(section.iter()).map(|entry| (entry, at, section.readings)));
        }
        entries.sort_unstable();
        entries.dedup();
        let is_latest = |readings: u32| readings & self.reading != 0;
        let (mut outdated, mut before, mut is_mixed) = (Vec::new(), 0, false);
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let latest = same.iter().find(|(.., readings)| is_latest(*readings));
            let Some((entry, first, latest)) = latest else { continue };
            for (_, at, readings) in same.iter().filter(|(_, at, _)| at != first) {
                match entry {
                    // One reading brought both.
                    Entry::Rule(..) if readings & latest != 0 => {}
                    _ if is_latest(*readings) => is_mixed = true,
                    _ => {
                        outdated.push(*at);
                        before |= readings;
                    }
                }
            }
        }
        self.is_mixed |= is_mixed;
        if before != 0 {
            self.outdated |= self.reading.saturating_sub(1);
        }
        let mut places = 0..;
        self.sections.retain(|_| places.next().is_none_or(|at| !outdated.contains(&at)));
    }

    /// Players as the server counts them now. Where that is another count than before, somebody came or went: what was
    /// read is of another moment, and only new readings are evidence.
    pub(crate) fn set_count(&mut self, count: i32) {
        let before = std::mem::replace(&mut self.count, usize::try_from(count).ok());
        self.counted_after = self.reading;
        if before.is_some() && before != self.count {
            self.outdated = self.reading | self.reading.saturating_sub(1);
            self.state = if self.reading >= LAST_READING { State::GivenUp } else { State::Open };
        }
    }

    /// Whether a newer count may explain why others are listed than are counted: spectators, or players who came since, where
    /// the readings agree on more; players who left, where the first reading has fewer.
    pub(crate) fn has_old_count(&self, wanted: u8) -> bool {
        let is_explained = match self.state {
            State::Complete => wanted == 1 || self.count.is_none_or(|count| count == self.entries()),
            _ => self.counted_after != 0 || self.is_silent() || self.has_count(),
        };
        !is_explained && self.counted_after < self.reading
    }

    /// The newer count does not come.
    pub(crate) fn give_up_count(&mut self) {
        self.counted_after = self.reading;
        if self.is_complete() {
            self.state = State::GivenUp;
        }
    }

    /// No more requests for it; it is not known to be complete.
    pub(crate) fn give_up(&mut self) {
        self.state = State::GivenUp;
    }

    /// The sections that the latest reading brought.
    fn latest(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| section.readings & self.reading != 0)
    }

    /// Whether the latest reading brought all that is known.
    fn has_all(&self) -> bool {
        self.latest().count() == self.sections.len()
    }

    fn entries(&self) -> usize {
        self.sections.iter().map(|section| section.entries).fold(0, usize::saturating_add)
    }

    /// Whether at least as many are listed as the server counts.
    fn has_count(&self) -> bool {
        self.count.is_none_or(|count| self.entries() >= count)
    }

    /// Whether the latest reading brought as many datagrams as were known before it, one of them the end, and as many players as
    /// the server counts.
    pub(crate) fn looks_complete(&self) -> bool {
        let known = self.sections.iter().filter(|section| section.readings != self.reading).count();
        let ends = self.latest().filter(|section| section.is_end()).count();
        let entries = self.latest().map(|section| section.entries).fold(0, usize::saturating_add);
        let has_count = self.count.is_none_or(|count| entries >= count);
        let is_empty = self.expects_nothing() && self.answered & self.reading != 0;
        is_empty || (ends == 1 && has_count && self.latest().count() >= known)
    }

    /// Whether the latest reading brought all that is known, and it looks complete.
    fn is_whole(&self) -> bool {
        self.looks_complete() && self.has_all() && !self.is_damaged()
    }

    fn is_damaged(&self) -> bool {
        self.is_over_limits || self.is_mixed || self.sections.iter().any(|section| section.is_cut)
    }

    /// How many readings since the list last changed brought every section, at least.
    fn agreeing(&self) -> u32 {
        let since = |readings: u32| (readings & !self.outdated).count_ones();
        let readings = self.sections.iter().map(|section| since(section.readings));
        readings.min().unwrap_or_else(|| since(self.answered))
    }

    /// Whether the latest reading alone proves the list complete, if it is whole.
    fn is_proven(&self) -> bool {
        self.is_only_section() || self.is_counted()
    }

    /// Whether these are all rules for certain: one datagram that begins the list, and ends it.
    fn is_only_section(&self) -> bool {
        matches!(self.sections.as_slice(), [only] if only.is_first())
    }

    /// Whether as many players are listed as are counted, and none of them is known not to be counted: a team's score, or one
    /// without a team where others have one. After another reading, parts of two can reach a count.
    fn is_counted(&self) -> bool {
        let players = || self.sections.iter().flat_map(|section| section.players().iter());
        let in_teams = players().filter(|player| player.team().is_some()).count();
        let is_only =
            self.outdated == 0 && self.sections.iter().all(|section| section.readings == self.reading);
        is_only
            && !self.sections.is_empty()
            && self.count == Some(self.entries())
            && (in_teams == 0 || in_teams == self.entries())
            && players().all(|player| player.pseudo_team().is_none())
    }

    /// Whether nothing can follow what came: its own bytes prove it complete, or, where one reading is enough, the count.
    pub(crate) fn is_certain(&self, wanted: u8) -> bool {
        self.is_whole() && (self.is_only_section() || (wanted == 1 && self.is_counted()))
    }

    /// Whether nothing is known to be missing, and nothing confirms it: the latest reading looks complete, or several agree and
    /// show no end.
    fn is_unconfirmed(&self) -> bool {
        let agreeing = self.agreeing();
        let is_possible = agreeing > 1 || (agreeing > 0 && self.looks_complete());
        is_possible && !self.is_complete() && self.has_all() && self.has_count() && !self.is_damaged()
    }

    /// Whether the server counts no player and none was seen, so that no datagram is expected.
    pub(crate) fn expects_nothing(&self) -> bool {
        self.count == Some(0) && self.sections.is_empty()
    }

    /// Whether nothing came for the latest request.
    pub(crate) fn is_silent(&self) -> bool {
        self.latest().next().is_none() && self.answered & self.reading == 0
    }

    /// Whether it was ever requested.
    pub(crate) const fn is_requested(&self) -> bool {
        self.reading != 0
    }

    /// Whether another request for it makes sense.
    pub(crate) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    fn is_complete(&self) -> bool {
        self.state == State::Complete
    }
}
