//! The lists of one query over all readings of them, and when they are complete.
//!
//! A reading is what one request for a list brings. Nothing on the wire counts or ends the datagrams of a list, but one of 450
//! bytes or less is its last.
//!
//! The promise: a complete list has every datagram that any reading of its present state brought, the last one among them, and
//! the latest reading brought them all. A lost datagram is missed in two cases only:
//! - each of three agreeing readings lost it;
//! - the first reading that brought players has as many as the info counts, none of them known not to be counted, because as
//!   many players were in the datagram as spectators are listed.
//!
//! One short datagram of rules that begins with `ServerMode`, as those of the stock game do, is the whole list.
//!
//! An entry in another datagram than before, another last one and another count show that the list has changed. Readings from
//! before prove nothing then, and no more does a reading with parts of two states or with a late datagram. Where readings agree
//! on more or fewer players than the info counts, the info is requested again: its count must be the same as before, or that of
//! the list. A list that never agrees is left incomplete after eight readings.
//!
//! Three pauses keep the promise, each for what is late of a reading: after the first the round trip of the info, after the last
//! [`Wait::Grace`](crate::session::Wait::Grace), and between them the round trip of the next, since what comes early in it counts
//! for none.

use super::wire::lists::{
    Entries, FLUSH_LENGTH, HEADER, PLAYERS, PlayerList, PlayerRecord, RULES, RuleList, SERVER_MODE,
};
use super::wire::{Body, Command, Request, Response};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::Completeness;

/// The bit of the eighth reading, the last of a list. Real lists that change with every reply exist.
const LAST_READING: u32 = 1 << 7;

/// The replies to one query.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    pub(super) info: Option<Vec<u8>>,
    pub(super) rules: List,
    pub(super) players: List,
    /// The latest command, except for the first request for the info, which comes while the first reading goes on.
    pub(super) asked: Option<Command>,
    /// An info that nobody asked for is of another query.
    pub(super) awaits_info: bool,
}

/// One list over all readings of it.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    /// In order of arrival, each in its newest version.
    pub(super) sections: Vec<Section>,
    /// Players as the server counts them.
    count: Option<usize>,
    /// The bit of the latest reading; 0 before the first.
    reading: u32,
    /// The readings that prove nothing of the present state of the list.
    outdated: u32,
    /// Of players: the readings whose request is known to have arrived, because rules of the same reply came.
    answered: u32,
    pub(super) state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum State {
    #[default]
    Open,
    /// Readings agree on other players than were counted: the count is requested again.
    Counting,
    Complete,
    /// Requested often enough, and not known to be complete.
    GivenUp,
}

impl Lists {
    /// A request goes out: what comes now belongs to a new reading.
    pub(super) fn start_request(&mut self, asked: Command) {
        self.awaits_info = asked == Command::Info;
        // The first info is requested while the first reading goes on.
        if self.awaits_info && self.info.is_none() {
            return;
        }
        self.asked = Some(asked);
        for list in self.awaited() {
            // Readings beyond the bits count as one: they prove less.
            list.reading = list.reading.checked_mul(2).unwrap_or(list.reading).max(1);
        }
    }

    /// Takes a datagram. `is_late`: perhaps of an earlier reading.
    pub(super) fn take(
        &mut self,
        datagram: &[u8],
        is_late: bool,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        // An echo of the request differs from a reply without entries in the version only.
        let is_echo = self
            .asked
            .is_some_and(|asked| Request::parse(datagram) == Ok(Request::new(asked)));
        let (list, other) = match datagram.get(4).filter(|_| !is_echo) {
            Some(&RULES) if self.rules.reading != 0 => (&mut self.rules, &self.players),
            Some(&PLAYERS) if self.players.reading != 0 => (&mut self.players, &self.rules),
            _ => return self.take_info(datagram, limits),
        };
        let taken = list.add(datagram, limits).and_then(|()| {
            let sections = list.sections.iter().chain(&other.sections);
            let sizes = sections
                .map(|section| section.bytes.len())
                .chain(self.info.as_ref().map(Vec::len));
            bound(sizes.clone().count(), limits.max_fragments(), "datagrams")?;
            bound(
                sizes.sum(),
                limits.max_answer_bytes(),
                "bytes of one answer",
            )
        });
        let is_over = matches!(
            taken,
            Err(ParseError {
                kind: ParseErrorKind::Limit { .. },
                ..
            })
        );
        if is_over {
            // A part of it is missing, and no reading can prove otherwise.
            (list.state, list.outdated) = (State::GivenUp, u32::MAX);
            list.sections.retain(|section| section.bytes != datagram);
        } else if taken.is_err() {
            return taken;
        }
        if self.asked == Some(Command::RulesAndPlayers) {
            self.players.answered |= self.players.reading;
        }
        if is_late {
            self.rules.outdated |= self.rules.reading;
            self.players.outdated |= self.players.reading;
        }
        taken
    }

    fn take_info(&mut self, datagram: &[u8], limits: &Limits) -> Result<(), ParseError> {
        match Response::parse(datagram, limits)?.body {
            Body::Info(info) if self.awaits_info => {
                (self.awaits_info, self.info) = (false, Some(datagram.to_vec()));
                self.players.set_count(info.current_players);
                Ok(())
            }
            _ => Err(ParseError::new(
                ParseErrorKind::Unexpected("the reply asked for"),
                4,
            )),
        }
    }

    /// The lists of the latest request that are open.
    pub(super) fn awaited(&mut self) -> impl Iterator<Item = &mut List> {
        let asked = self.asked;
        let lists = [
            (&mut self.rules, Command::Rules),
            (&mut self.players, Command::Players),
        ];
        lists.into_iter().filter_map(move |(list, command)| {
            let is_asked = asked == Some(command) || asked == Some(Command::RulesAndPlayers);
            (is_asked && list.state == State::Open).then_some(list)
        })
    }

    /// Ends the only reading there is. The first version of each datagram counts, and any count that is reached proves it.
    pub(super) fn end_only_reading(&mut self) {
        for list in self.awaited() {
            list.outdated = 0;
            list.end_reading(u8::MAX);
            if list.looks_complete() && list.agreeing() > 0 && list.count == Some(list.entries()) {
                list.state = State::Complete;
            }
        }
    }

    /// The parts that are known to be missing.
    pub(super) fn missing(&self) -> Completeness {
        let [rules, players] = [&self.rules, &self.players].map(List::is_unconfirmed);
        Completeness {
            rules: !rules && self.rules.state != State::Complete,
            players: !players && self.players.state != State::Complete,
            end: rules || players,
            ..Completeness::COMPLETE
        }
    }
}

impl List {
    /// Takes a datagram of it. One that is cut is of no reading.
    fn add(&mut self, datagram: &[u8], limits: &Limits) -> Result<(), ParseError> {
        let (entries, is_cut) = match self.sections.iter().find(|old| old.bytes == datagram) {
            Some(same) => (same.entries, same.readings == 0),
            None => {
                let response = Response::parse(datagram, limits)?;
                let (Body::Rules(RuleList(entries)) | Body::Players(PlayerList(entries))) =
                    response.body
                else {
                    return Ok(());
                };
                (entries.count, response.is_cut())
            }
        };
        let (readings, cut_in) = if is_cut {
            (0, self.reading)
        } else {
            (self.reading, 0)
        };
        let mut new = Section {
            bytes: datagram.to_vec(),
            entries,
            readings,
            cut_in,
        };
        // The first key with its length, or the low bytes of the first number: most other datagrams differ in it.
        let key = datagram
            .iter()
            .skip(HEADER)
            .take_while(|byte| **byte != 0)
            .count();
        let head = datagram
            .get(..HEADER.saturating_add(key))
            .unwrap_or_default();
        match self
            .sections
            .iter_mut()
            .find(|old| old.bytes.starts_with(head) && new.is_version_of(old))
        {
            None => {
                self.state = if self.state == State::GivenUp {
                    self.state
                } else {
                    State::Open
                };
                self.sections.push(new);
            }
            // Two replies to one request. Of 167,000 simulated sessions, 7 more would have parts of two moments without this.
            Some(known) if known.readings & new.readings != 0 => {
                self.outdated |= if known.bytes == new.bytes {
                    0
                } else {
                    self.reading
                };
            }
            Some(known) if new.readings != 0 => {
                new.readings |= known.readings;
                *known = new;
            }
            Some(_) => {}
        }
        match datagram.get(4) {
            Some(&RULES) => bound(self.entries(), limits.max_rules(), "rules"),
            _ => bound(self.entries(), limits.max_players(), "players"),
        }
    }

    /// Ends a reading. `wanted`: how many must agree where nothing proves the list complete.
    pub(super) fn end_reading(&mut self, wanted: u8) {
        self.drop_outdated();
        let is_agreed = self.agreeing() >= wanted.into();
        let is_counted = self
            .count
            .is_none_or(|count| count == self.entries() || (wanted == 1 && self.has_count()));
        self.state = match () {
            () if self.is_certain(1) => State::Complete,
            () if is_agreed && !is_counted => State::Counting,
            () if is_agreed && self.looks_complete() => State::Complete,
            // Readings that agree and show no end: a filter may swallow the same datagrams each time.
            () if is_agreed || self.reading >= LAST_READING => State::GivenUp,
            () => State::Open,
        };
    }

    /// Drops the sections that cannot be of one list with those of the latest reading. Where these cannot either, they are of
    /// two replies.
    fn drop_outdated(&mut self) {
        // An earlier reading of the same sections has been through this.
        if self.sections.len() < 2 || self.agreeing() > 1 {
            return;
        }
        // Entries, and `None` for the end: two datagrams of one list can both have a rule, and nothing else.
        let mut marks = Vec::with_capacity(self.entries().saturating_add(2));
        let is_older = |section: &Section| section.readings & self.reading == 0;
        let may_differ = self.sections.iter().any(is_older);
        for (at, section) in self.sections.iter().enumerate() {
            let is_older = is_older(section);
            // Of one reading, only players and ends tell: a list can have a rule twice.
            let entries = section
                .iter()
                .take_while(|(number, ..)| may_differ || number.is_some());
            let found = entries.map(Some).chain(section.is_end().then_some(None));
            // What a cut datagram of this reading holds is nowhere else.
            let found = found.filter(|_| section.cut_in != self.reading);
            marks.extend(found.map(|mark| (mark, is_older, at, section.readings)));
        }
        marks.sort_unstable();
        let mut older = Vec::new();
        for same in marks.chunk_by(|a, b| a.0 == b.0) {
            let [(mark, false, first, latest), others @ ..] = same else {
                continue;
            };
            // A list can have a rule twice: one reading brought both.
            let may_repeat = |readings| matches!(mark, Some((None, ..))) && readings & latest != 0;
            let others = others
                .iter()
                .filter(|(_, _, at, readings)| at != first && !may_repeat(readings));
            for (_, is_older, at, _) in others {
                self.outdated |= if *is_older {
                    self.reading.saturating_sub(1)
                } else {
                    self.reading
                };
                if *is_older && !older.contains(at) {
                    older.push(*at);
                }
            }
        }
        let mut at = 0..;
        self.sections
            .retain(|_| at.next().is_none_or(|at| !older.contains(&at)));
    }

    /// Players as the server counts them now. Another count than before, and than that of the list, shows that the list has
    /// changed.
    fn set_count(&mut self, count: i32) {
        let before = std::mem::replace(&mut self.count, usize::try_from(count).ok());
        if before.is_some() && ![before, Some(self.entries())].contains(&self.count) {
            (self.state, self.outdated) =
                (State::Open, self.reading | self.reading.saturating_sub(1));
        } else if self.state == State::Counting {
            self.state = if self.looks_complete() {
                State::Complete
            } else {
                State::GivenUp
            };
        }
    }

    /// The sections that the latest reading brought.
    fn latest(&self) -> impl Iterator<Item = &Section> {
        self.sections
            .iter()
            .filter(|section| section.readings & self.reading != 0)
    }

    fn entries(&self) -> usize {
        self.sections.iter().map(|section| section.entries).sum()
    }

    /// Whether at least as many are listed as the server counts.
    fn has_count(&self) -> bool {
        self.count.is_none_or(|count| self.entries() >= count)
    }

    /// Whether the latest reading brought as many datagrams as were known before it, one of them the end, and as many players as
    /// the server counts.
    pub(super) fn looks_complete(&self) -> bool {
        let known = self
            .sections
            .iter()
            .filter(|section| section.readings != self.reading)
            .count();
        let ends = self.latest().filter(|section| section.is_end()).count();
        let is_empty = self.expects_nothing() && self.answered & self.reading != 0;
        is_empty || (ends == 1 && self.has_count() && self.latest().count() >= known)
    }

    /// The number of readings of the present state that brought every section, at least; none if the latest is not one of them.
    fn agreeing(&self) -> u32 {
        let agreeing = |readings: u32| (readings & !self.outdated).count_ones();
        let is_one =
            self.outdated & self.reading == 0 && self.latest().count() == self.sections.len();
        let least = self
            .sections
            .iter()
            .map(|section| agreeing(section.readings))
            .min();
        if is_one {
            least.unwrap_or_else(|| agreeing(self.answered))
        } else {
            0
        }
    }

    /// Whether nothing can follow what came or is missing from it: its own bytes prove it or, where one reading is enough, the
    /// count. Neither a team's score is counted nor a player of no team where others have one. After another reading, parts
    /// of two can reach a count.
    pub(super) fn is_certain(&self, wanted: u8) -> bool {
        let mut players = self
            .sections
            .iter()
            .flat_map(|section| section.players().iter());
        let has_teams = players
            .clone()
            .next()
            .is_some_and(|player| player.team().is_some());
        let is_counted = |player: PlayerRecord<'_>| {
            player.pseudo_team().is_none() && player.team().is_some() == has_teams
        };
        let is_only = matches!(self.sections.as_slice(), [only] if only.is_first());
        let is_first = self.outdated == 0
            && self
                .sections
                .iter()
                .all(|section| section.readings == self.reading);
        let has_count = !self.sections.is_empty() && self.count == Some(self.entries());
        self.looks_complete()
            && (is_only || (wanted == 1 && is_first && has_count && players.all(is_counted)))
    }

    /// Whether it is certain, or the latest reading brought what the earlier ones did and another is wanted anyway: what is late
    /// of this one comes before that.
    pub(super) fn has_all(&self, wanted: u8) -> bool {
        let is_confirmed = self.outdated == 0 && self.looks_complete() && !self.expects_nothing();
        self.is_certain(wanted) || (is_confirmed && (2..wanted.into()).contains(&self.agreeing()))
    }

    /// Whether nothing is known to be missing, and nothing confirms it: the latest reading looks complete, or several agree and
    /// show no end.
    fn is_unconfirmed(&self) -> bool {
        let is_possible = self.agreeing() > 1 || (self.agreeing() > 0 && self.looks_complete());
        is_possible && self.state != State::Complete && self.has_count()
    }

    /// Whether the server counts no player and none was seen, so that no datagram is expected.
    pub(super) fn expects_nothing(&self) -> bool {
        self.count == Some(0) && self.sections.is_empty()
    }

    /// Whether nothing came for the latest request.
    pub(super) fn is_silent(&self) -> bool {
        self.latest().next().is_none() && self.answered & self.reading == 0
    }
}

/// An error where there is more of `what` than a limit allows.
fn bound(size: usize, most: usize, what: &'static str) -> Result<(), ParseError> {
    if size > most {
        Err(ParseError::limit(what, most, 0))
    } else {
        Ok(())
    }
}

/// One datagram of a list, and the readings that brought it.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub(super) bytes: Vec<u8>,
    /// Whole entries in it.
    pub(super) entries: usize,
    /// One bit for each reading that brought it whole.
    readings: u32,
    /// The bit of the reading that brought it cut, or 0.
    cut_in: u32,
}

/// A player's number, and the name where that is 0; or the key and the value of a rule.
type Entry<'a> = (Option<i32>, &'a [u8], &'a [u8]);

impl Section {
    /// Whether it is the last of its list.
    pub(super) fn is_end(&self) -> bool {
        self.bytes.len() <= FLUSH_LENGTH
    }

    /// Whether it begins with the first rule of the stock game.
    pub(super) fn is_first(&self) -> bool {
        matches!(self.iter().next(), Some((None, key, _)) if key.eq_ignore_ascii_case(SERVER_MODE.as_bytes()))
    }

    pub(super) fn players(&self) -> PlayerList<'_> {
        PlayerList(Entries::of(&self.bytes, PLAYERS, self.entries))
    }

    fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let rules = RuleList(Entries::of(&self.bytes, RULES, self.entries)).iter();
        let rules = rules.map(|(key, value)| (None, key.raw(), value.raw()));
        let players = self.players().iter().map(
            |PlayerRecord {
                 player_num, name, ..
             }| {
                let key = if player_num == 0 { name.raw() } else { &[] };
                (Some(player_num), key, &[][..])
            },
        );
        rules.chain(players)
    }

    /// Whether both are the same part of a list at two times: the same players, whatever their pings and scores; as many rules,
    /// more than half of them equal (many are mutators), or of the same keys where they end the list.
    fn is_version_of(&self, other: &Self) -> bool {
        let pairs = || self.iter().zip(other.iter());
        let is_same_key = |(a, b): (Entry<'_>, Entry<'_>)| (a.0, a.1) == (b.0, b.1);
        let most_others = if self.players().0.count > 0 {
            0
        } else {
            self.entries.saturating_sub(1) / 2
        };
        self.bytes == other.bytes
            || (self.entries, self.is_end()) == (other.entries, other.is_end())
                && (pairs().filter(|(a, b)| a != b).nth(most_others).is_none()
                    || (self.is_end() && pairs().all(is_same_key)))
    }
}
