//! The datagrams of one list over all readings of it, and what they prove.
//!
//! A list has no count, no order and no end mark. What can be known:
//! - Only the last datagram of a list has [`FLUSH_LENGTH`] bytes or less.
//! - The rules of the stock game begin with `ServerMode` (`Deaod/UT2004`, `Engine/GameInfo.uc`, `GetServerDetails`;
//!   every capture): one short datagram that begins so is all of the list.
//! - The info record counts players. The list has spectators too, so equality proves it complete and a longer list
//!   proves nothing.
//! - A list that stands still is cut into the same datagrams each time. A player or a rule in another datagram than
//!   before, or another end, shows that the list has changed.
//!
//! A datagram lost from the middle leaves no trace otherwise; that every reading brings the same is the only other
//! evidence. All readings together lack a datagram only if it was lost from each.

use std::cmp::Reverse;
use std::hash::{Hash, Hasher};

use crate::error::ParseError;
use crate::limits::Limits;
use crate::ut2004::wire::lists::{
    Entries, FLUSH_LENGTH, HEADER, PlayerList, PlayerRecord, RuleList, SERVER_MODE,
};
use crate::ut2004::wire::response::{Body, Response};

/// Most comparisons before a reading ends: each costs as much as all sections, and a server could bring one about with every
/// datagram.
const MAX_COMPARISONS: u8 = 4;

/// What any reading brought of a list: each section once, in its newest version, without those that a later reading
/// proved outdated.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sections {
    /// The datagrams, one after the other.
    bytes: Vec<u8>,
    /// By their identity.
    sections: Vec<Section>,
    entries: usize,
    /// Those that end the list.
    ends: usize,
    /// Those that are cut.
    cuts: usize,
    arrivals: u32,
    /// The bit of the current reading.
    reading: u16,
    /// How many sections the current reading has brought.
    seen: usize,
    /// How many there were before it.
    known: usize,
    /// How often the sections were compared since the reading began.
    comparisons: u8,
    /// The bits of the readings before the last change of the list: they prove nothing of its present state.
    outdated: u16,
    /// The current reading has brought a section twice: it may be two replies.
    has_copies: bool,
    /// There were more than the limits allow.
    over_limits: bool,
}

/// One datagram of a list.
#[derive(Debug, Clone, Copy)]
struct Section {
    identity: u64,
    range: DatagramRange,
    arrival: u32,
    /// One bit for each reading that brought it.
    readings: u16,
    /// Its last entry does not end.
    is_cut: bool,
    /// The lowest and the highest number of its players; the lowest is higher where there is none.
    numbers: (i32, i32),
}

/// Where a datagram lies in the buffer of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DatagramRange {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whole entries in it.
    pub(crate) entries: usize,
}

impl DatagramRange {
    const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether it is the last of its list.
    const fn is_last(self) -> bool {
        self.len() <= FLUSH_LENGTH
    }
}

impl Section {
    /// The latest reading that brought it.
    const fn last_reading(&self) -> u32 {
        u16::BITS.saturating_sub(self.readings.leading_zeros())
    }
}

/// The bits of these readings and of all before them.
fn up_to(readings: u16) -> u16 {
    u16::MAX.checked_shr(readings.leading_zeros()).unwrap_or(0)
}

impl Sections {
    /// What comes now belongs to a new reading.
    pub(super) fn start_reading(&mut self) {
        // Readings beyond the bits count as one: they prove less.
        self.reading = self.reading.checked_mul(2).unwrap_or(self.reading).max(1);
        (self.has_copies, self.comparisons) = (false, 0);
        self.seen = self.sections.iter().filter(|section| section.readings & self.reading != 0).count();
        self.known = self.sections.len();
    }

    /// Takes a datagram of rules or players. `Ok(false)`: it is a copy of one that is here, or the same players with
    /// other numbers. The first version of a reading stays.
    pub(super) fn add(
        &mut self,
        datagram: &[u8],
        response: &Response<'_>,
        limits: &Limits,
    ) -> Result<bool, ParseError> {
        let (entries, max_entries, what) = match response.body {
            Body::Rules(rules) => (rules.0.count, limits.max_rules(), "rules"),
            Body::Players(players) => (players.0.count, limits.max_players(), "players"),
            Body::Info(_) | Body::SmallPing(_) => return Ok(false),
        };
        let is_cut = response.is_cut();
        let (identity, numbers) = identity(response.body, is_cut);
        let start = self.bytes.len();
        let range = DatagramRange { start, end: start.saturating_add(datagram.len()), entries };
        let place = match self.sections.binary_search_by_key(&identity, |section| section.identity) {
            Ok(found) => {
                self.see(found, datagram, range, limits);
                return Ok(false);
            }
            Err(place) => place,
        };
        let bounds = [
            (self.sections.len().saturating_add(1), limits.max_fragments(), "datagrams"),
            (range.end, limits.max_answer_bytes(), "bytes of one answer"),
            (self.entries.saturating_add(entries), max_entries, what),
        ];
        if let Some((_, limit, what)) = bounds.into_iter().find(|(size, limit, _)| size > limit) {
            self.over_limits = true;
            return Err(ParseError::limit(what, limit, 0));
        }
        self.bytes.extend_from_slice(datagram);
        let section =
            Section { identity, range, arrival: self.arrivals, readings: self.reading, is_cut, numbers };
        self.sections.insert(place, section);
        self.arrivals = self.arrivals.saturating_add(1);
        self.count(section);
        self.compare_at_known_size();
        Ok(true)
    }

    /// Notes that a datagram was refused for a limit.
    pub(super) const fn exceed_limits(&mut self) {
        self.over_limits = true;
    }

    /// Adds a section to the counts.
    fn count(&mut self, section: Section) {
        let add = |count: &mut usize, more| *count = count.saturating_add(more);
        add(&mut self.entries, section.range.entries);
        add(&mut self.ends, usize::from(section.range.is_last()));
        add(&mut self.cuts, usize::from(section.is_cut));
        add(&mut self.seen, usize::from(section.readings & self.reading != 0));
    }

    /// Notes that the current reading has brought a section that is here, and takes its newer version.
    fn see(&mut self, found: usize, datagram: &[u8], new: DatagramRange, limits: &Limits) {
        let Some(section) = self.sections.get_mut(found) else { return };
        if section.readings & self.reading != 0 {
            self.has_copies = true;
            return;
        }
        section.readings |= self.reading;
        self.seen = self.seen.saturating_add(1);
        if section.range.len() == new.len() {
            if let Some(old) = self.bytes.get_mut(section.range.start..section.range.end) {
                old.copy_from_slice(datagram);
            }
        } else if new.end <= limits.max_answer_bytes() && section.range.is_last() == new.is_last() {
            section.range = new;
            self.bytes.extend_from_slice(datagram);
        }
        self.compare_at_known_size();
    }

    /// Once a reading has brought as many sections as were known, those that it lacks may be outdated.
    fn compare_at_known_size(&mut self) {
        if self.seen == self.known && !self.has_all() && self.comparisons < MAX_COMPARISONS {
            self.comparisons = self.comparisons.saturating_add(1);
            self.compare();
        }
    }

    /// Whether [`Self::compare`] may find something: a section did not come again, there are two ends, or the current
    /// reading is two replies.
    pub(super) fn needs_comparison(&self) -> bool {
        !self.has_all() || self.has_copies || self.ends > 1
    }

    /// Joins the versions of one section of rules, and drops what later readings prove outdated: a section of which a
    /// player or a rule was in another one since, and an end that is not the end any more.
    pub(super) fn compare(&mut self) {
        if self.sections.len() < 2 {
            return;
        }
        self.sections.sort_unstable_by_key(|section| (Reverse(section.last_reading()), section.arrival));
        let newer = self.newer_sections();
        let count = self.sections.len();
        // The oldest first: what joins a newer section goes on with it.
        for (older, newer) in newer.into_iter().enumerate().rev() {
            let Some((newer, _)) = newer else { continue };
            let (Some(&old), Some(&new)) = (self.sections.get(older), self.sections.get(newer)) else {
                continue;
            };
            if self.is_version(old, new) {
                if let Some(new) = self.sections.get_mut(newer) {
                    new.readings |= old.readings;
                }
            } else if old.last_reading() < new.last_reading() {
                self.outdated |= up_to(old.readings);
            } else {
                continue;
            }
            if let Some(old) = self.sections.get_mut(older) {
                old.readings = 0;
            }
        }
        self.sections.retain(|section| section.readings != 0);
        if self.sections.len() < count {
            self.keep_bytes_of_sections();
        }
        self.sections.sort_unstable_by_key(|section| section.identity);
    }

    /// For each section the newest one that has an entry of it, at the same place where there is such a one; for each
    /// end of the list the newest end.
    fn newer_sections(&self) -> Vec<Option<(usize, bool)>> {
        let mut places: Vec<(u64, usize, usize)> = Vec::with_capacity(self.entries);
        for (number, section) in self.sections.iter().enumerate() {
            for_each_entry(self.body(section.range), |place, hash| places.push((hash, number, place)));
        }
        places.sort_unstable();
        let mut newer = vec![None; self.sections.len()];
        for same in places.chunk_by(|a, b| a.0 == b.0) {
            let Some(((_, newest, place), others)) = same.split_first() else { continue };
            for (_, other, other_place) in others.iter().filter(|(_, other, _)| other != newest) {
                let Some(newer) = newer.get_mut(*other) else { continue };
                if !matches!(newer, Some((_, true))) && (newer.is_none() || place == other_place) {
                    *newer = Some((*newest, place == other_place));
                }
            }
        }
        let mut ends = self.sections.iter().enumerate().filter(|(_, section)| section.range.is_last());
        let newest = ends.next().map(|(newest, _)| (newest, true));
        for (other, _) in ends {
            if let Some(newer) = newer.get_mut(other) {
                *newer = newest;
            }
        }
        newer
    }

    /// Whether two sections are the same rules at two times: of as many rules more than half are equal at the same
    /// place; of those that end the list at least the keys.
    fn is_version(&self, old: Section, new: Section) -> bool {
        let (Body::Rules(a), Body::Rules(b)) = (self.body(old.range), self.body(new.range)) else {
            return false;
        };
        if old.range.entries != new.range.entries || old.is_cut || new.is_cut {
            return false;
        }
        let both_last = old.range.is_last() && new.range.is_last();
        let equal = a.iter().zip(b.iter()).filter(|(a, b)| a == b).count();
        equal > old.range.entries / 2 || (both_last && a.iter().zip(b.iter()).all(|((a, _), (b, _))| a == b))
    }

    /// After sections were dropped.
    fn keep_bytes_of_sections(&mut self) {
        let all = std::mem::take(&mut self.bytes);
        (self.entries, self.ends, self.cuts, self.seen) = (0, 0, 0, 0);
        for mut section in std::mem::take(&mut self.sections) {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(all.get(section.range.start..section.range.end).unwrap_or_default());
            section.range = DatagramRange { start, end: self.bytes.len(), ..section.range };
            self.count(section);
            self.sections.push(section);
        }
    }

    /// The list is known to have changed since: the readings so far prove nothing of its present state.
    pub(super) fn forget_readings(&mut self) {
        self.outdated |= up_to(self.reading);
    }

    /// Whether no reading brought anything.
    pub(super) const fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Whether the current reading has brought nothing.
    pub(super) const fn is_silent(&self) -> bool {
        self.seen == 0
    }

    /// Whether the current reading has brought all that any reading did.
    pub(super) const fn has_all(&self) -> bool {
        self.seen == self.sections.len()
    }

    /// Entries of all sections.
    pub(super) const fn entries(&self) -> usize {
        self.entries
    }

    /// Whether a datagram was cut or refused for a limit: such a list is never complete.
    pub(super) const fn is_damaged(&self) -> bool {
        self.over_limits || self.cuts > 0
    }

    /// Whether a datagram was refused for a limit: asking again brings no more.
    pub(super) const fn is_over_limits(&self) -> bool {
        self.over_limits
    }

    /// Whether the last datagram is here: exactly one is short enough.
    pub(super) const fn has_end(&self) -> bool {
        self.ends == 1
    }

    /// How many readings since the list last changed brought every section, at least; 0 where no single reading
    /// brought all of them: they may be of several moments.
    pub(super) fn agreeing(&self) -> u32 {
        let readings = self.sections.iter().map(|section| section.readings & !self.outdated);
        let with_all = readings.clone().fold(u16::MAX, |all, readings| all & readings);
        if with_all == 0 { 0 } else { readings.map(u16::count_ones).min().unwrap_or(0) }
    }

    /// Whether a player stands in two datagrams, which are then of two replies: real players have numbers of their own.
    pub(super) fn repeats_players(&self) -> bool {
        let ranges = self.sections.iter().map(|section| section.numbers).filter(|(low, high)| low <= high);
        let mut ranges: Vec<(i32, i32)> = ranges.collect();
        ranges.sort_unstable();
        if !ranges.windows(2).any(|pair| matches!(pair, [(_, high), (low, _)] if low <= high)) {
            return false;
        }
        let mut places: Vec<(u64, usize)> = Vec::with_capacity(self.entries);
        for (number, section) in self.sections.iter().enumerate() {
            let body = self.body(section.range);
            if matches!(body, Body::Players(_)) {
                for_each_entry(body, |_, player| places.push((player, number)));
            }
        }
        places.sort_unstable();
        places.windows(2).any(|pair| matches!(pair, [(a, first), (b, second)] if a == b && first != second))
    }

    /// Whether these are all rules for certain: one datagram that begins and ends the list.
    pub(super) fn begins_and_ends(&self) -> bool {
        let [only] = self.sections.as_slice() else { return false };
        !self.is_damaged() && only.range.is_last() && self.is_first(only.range)
    }

    /// Puts the datagrams into the order of the list as far as it is known: the one with the first rule first, the
    /// short one last, the others by falling player numbers where those of each datagram fall (the newest player comes
    /// first in every capture), else as they came.
    pub(super) fn into_order(mut self) -> (Vec<u8>, Vec<DatagramRange>) {
        self.sections.sort_unstable_by_key(|section| section.arrival);
        let mut ranges: Vec<DatagramRange> = self.sections.iter().map(|section| section.range).collect();
        let first = ranges.iter().position(|range| self.is_first(*range));
        if let Some(head) = first.and_then(|first| ranges.get_mut(..=first)) {
            head.rotate_right(1);
        }
        let numbers = ranges.iter().map(|range| Some((self.falling_from(*range)?, *range)));
        if let Some(mut numbered) = numbers.collect::<Option<Vec<_>>>() {
            numbered.sort_by_key(|(number, _)| Reverse(*number));
            ranges = numbered.into_iter().map(|(_, range)| range).collect();
        }
        let last = ranges.iter().position(|range| range.is_last()).filter(|_| self.has_end());
        if let Some(tail) = last.and_then(|last| ranges.get_mut(last..)) {
            tail.rotate_left(1);
        }
        (self.bytes, ranges)
    }

    /// The first player's number, where the numbers of a datagram fall from player to player.
    fn falling_from(&self, range: DatagramRange) -> Option<i32> {
        let Body::Players(players) = self.body(range) else { return None };
        let numbers = players.iter().map(|player| player.player_num);
        let first = numbers.clone().next();
        first.filter(|_| numbers.is_sorted_by(|a, b| a > b))
    }

    /// Whether a datagram begins with the first rule.
    fn is_first(&self, range: DatagramRange) -> bool {
        match self.body(range) {
            Body::Rules(rules) => rules
                .iter()
                .next()
                .is_some_and(|(key, _)| key.raw().eq_ignore_ascii_case(SERVER_MODE.as_bytes())),
            _ => false,
        }
    }

    fn body(&self, range: DatagramRange) -> Body<'_> {
        let datagram = self.bytes.get(range.start..range.end).unwrap_or_default();
        match datagram.split_first_chunk::<HEADER>() {
            Some(([.., 1], body)) => Body::Rules(RuleList(Entries::counted(body, range.entries))),
            Some((_, body)) => Body::Players(PlayerList(Entries::counted(body, range.entries))),
            None => Body::Players(PlayerList::default()),
        }
    }
}

/// Hashes eight bytes at once. A server that makes two of its datagrams collide loses one of them: no keyed hash is needed.
#[derive(Default)]
struct WordHasher(u64);

impl WordHasher {
    fn add(&mut self, word: u64) {
        // The multiplier of Knuth's hashing by multiplication: 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.add(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What stays the same when a section is read again: all of its rules; the players in their order, whatever their ping
/// and score. And the lowest and highest number of its players.
fn identity(body: Body<'_>, is_cut: bool) -> (u64, (i32, i32)) {
    let mut hasher = WordHasher::default();
    let (mut low, mut high) = (i32::MAX, i32::MIN);
    is_cut.hash(&mut hasher);
    match body {
        Body::Rules(rules) => rules.0.hash(&mut hasher),
        Body::Players(players) => players.iter().for_each(|player| {
            hash_player(&player, &mut hasher);
            if player.player_num != 0 {
                (low, high) = (low.min(player.player_num), high.max(player.player_num));
            }
        }),
        Body::Info(_) | Body::SmallPing(_) => {}
    }
    (hasher.finish(), (low, high))
}

/// A player's number; of those that share the number 0, the name.
fn hash_player(player: &PlayerRecord<'_>, hasher: &mut WordHasher) {
    player.player_num.hash(hasher);
    if player.player_num == 0 {
        player.name.hash(hasher);
    }
}

/// Calls `take` with the place and a hash of each entry of which a list has one: a rule, a player with a number.
fn for_each_entry(body: Body<'_>, mut take: impl FnMut(usize, u64)) {
    match body {
        Body::Rules(rules) => rules.iter().enumerate().for_each(|(place, rule)| {
            let mut hasher = WordHasher::default();
            rule.hash(&mut hasher);
            take(place, hasher.finish());
        }),
        Body::Players(players) => players.iter().enumerate().for_each(|(place, player)| {
            if let Some(number) = u64::try_from(player.player_num).ok().filter(|number| *number != 0) {
                take(place, number);
            }
        }),
        Body::Info(_) | Body::SmallPing(_) => {}
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use super::*;
    use crate::error::ParseErrorKind;
    use crate::ut2004::FString;

    fn rules(pairs: &[(&str, &str)]) -> Vec<u8> {
        let mut out = vec![0x80, 0, 0, 0, 1];
        for text in pairs.iter().flat_map(|(key, value)| [key, value]) {
            FString::narrow(text.as_bytes()).encode(&mut out).unwrap();
        }
        out
    }

    fn players(ids: std::ops::Range<i32>, ping: i32) -> Vec<u8> {
        let mut out = vec![0x80, 0, 0, 0, 2];
        for id in ids {
            let record = PlayerRecord::new(id, FString::narrow(b"a player's name"));
            PlayerRecord { ping, ..record }.encode(&mut out).unwrap();
        }
        out
    }

    /// Reads a list, one slice of datagrams a reading, and compares after each.
    fn read(readings: &[&[&Vec<u8>]]) -> Sections {
        let mut sections = Sections::default();
        for datagrams in readings {
            sections.start_reading();
            for datagram in *datagrams {
                let response = Response::parse(datagram, &Limits::default()).unwrap();
                sections.add(datagram, &response, &Limits::default()).unwrap();
            }
            sections.compare();
        }
        sections
    }

    fn pings(sections: &Sections) -> Vec<i32> {
        let bodies = sections.sections.iter().map(|section| sections.body(section.range));
        let lists = bodies.filter_map(|body| if let Body::Players(list) = body { Some(list) } else { None });
        lists.flat_map(PlayerList::iter).map(|player| player.ping).collect()
    }

    #[test]
    fn copies_and_newer_versions_of_the_same_players_are_one_section() {
        let (long, last, newer) = (players(1..16, 28), players(16..20, 28), players(1..16, 32));
        assert!(long.len() > FLUSH_LENGTH && last.len() <= FLUSH_LENGTH);
        let twice = read(&[&[&long, &last, &long, &newer, &last]]);
        assert_eq!((twice.sections.len(), twice.entries(), twice.has_end()), (2, 19, true));
        assert_eq!(pings(&twice), [28; 19], "the first of a reading stays");
        let again = read(&[&[&long, &last], &[&last, &newer]]);
        assert_eq!((again.sections.len(), again.agreeing(), again.has_all()), (2, 2, true));
        assert_eq!(pings(&again).iter().filter(|ping| **ping == 32).count(), 15, "the newest reading's");
    }

    #[test]
    fn readings_agree_on_what_each_of_them_brought() {
        let (a, b) = (players(1..16, 0), players(16..20, 0));
        assert_eq!(read(&[&[&a, &b], &[&a], &[&b, &a]]).agreeing(), 2);
        assert_eq!(read(&[&[&a], &[&b]]).agreeing(), 0, "no reading had both");
        assert_eq!(read(&[&[&a, &b], &[]]).agreeing(), 1);
        let mut changed = read(&[&[&a, &b], &[&a, &b]]);
        changed.forget_readings();
        assert_eq!(changed.agreeing(), 0);
    }

    #[test]
    fn a_player_in_another_section_makes_the_older_one_outdated() {
        let (a, b) = (players(1..16, 0), players(16..20, 0));
        let (joined_a, joined_b) = (players(0..15, 0), players(15..20, 0));
        let joined = read(&[&[&a, &b], &[&joined_a, &joined_b]]);
        assert_eq!((joined.sections.len(), joined.entries(), joined.agreeing()), (2, 20, 1));
        let late = read(&[&[&a, &b], &[&joined_a, &b, &joined_b]]);
        assert_eq!((late.sections.len(), late.has_end()), (3, false), "both ends came in one reading");
        let next = read(&[&[&a, &b], &[&joined_a, &b, &joined_b], &[&joined_a, &joined_b]]);
        assert_eq!((next.sections.len(), next.agreeing()), (2, 1), "readings since the change count");
        let replaced = read(&[&[&b], &[&players(30..32, 0)]]);
        assert_eq!((replaced.sections.len(), replaced.entries()), (1, 2), "a list has one end");
    }

    #[test]
    fn rules_with_a_changing_value_are_one_section_and_other_rules_are_not() {
        let at = |rate: &str| rules(&[("ServerMode", "dedicated"), ("Tick Rate", rate), ("Mutator", "A")]);
        let sections = read(&[&[&at("44.8")], &[&at("45")], &[&at("44.8")]]);
        assert_eq!((sections.sections.len(), sections.agreeing()), (1, 3));
        assert_eq!(read(&[&[&at("44.8"), &at("45")]]).entries(), 3, "also within one reading");
        let long = "x".repeat(240);
        let mutators = |names: [&str; 3]| rules(&names.map(|name| ("Mutator", name)));
        let (a, b) = (mutators([&long, &long, "C"]), mutators(["D", &"y".repeat(240), &"z".repeat(240)]));
        assert_eq!(read(&[&[&a], &[&b]]).sections.len(), 2, "same keys, other rules");
    }

    #[test]
    fn the_first_rule_goes_first_and_the_short_datagram_last() {
        let value = "v".repeat(440);
        let first = rules(&[("ServerMode", "dedicated"), ("x", &value)]);
        let (middle, last) = (rules(&[("y", &value), ("z", "")]), rules(&[("Mutator", "A")]));
        let (bytes, ranges) = read(&[&[&last, &middle, &first]]).into_order();
        let order: Vec<&[u8]> = ranges.iter().map(|range| &bytes[range.start..range.end]).collect();
        assert_eq!(order, [&first[..], &middle, &last]);
        assert!(!read(&[&[&first, &last]]).begins_and_ends(), "what is between is unknown");
        let whole = rules(&[("servermode", "dedicated")]);
        assert!(read(&[&[&whole]]).begins_and_ends());
        assert!(!read(&[&[&last]]).begins_and_ends(), "what was before is unknown");
    }

    #[test]
    fn falling_player_numbers_give_the_order() {
        let list = |numbers: &[i32]| {
            let mut out = vec![0x80, 0, 0, 0, 2];
            for number in numbers {
                PlayerRecord::new(*number, FString::narrow(&[b'x'; 100])).encode(&mut out).unwrap();
            }
            out
        };
        let (a, b, c) = (list(&[40, 39, 12, 10]), list(&[9, 8, 7, 6]), list(&[3]));
        for order in [[&a, &b, &c], [&c, &b, &a], [&b, &a, &c], [&b, &c, &a]] {
            let (bytes, ranges) = read(&[&order]).into_order();
            let numbers: Vec<u8> = ranges.iter().map(|range| bytes[range.start + HEADER]).collect();
            assert_eq!(numbers, [40, 9, 3]);
        }
    }

    #[test]
    fn a_cut_datagram_is_kept_until_it_comes_whole() {
        let whole = rules(&[("ServerMode", "dedicated"), ("Mutator", "A")]);
        let cut = whole[..whole.len() - 1].to_vec();
        let damaged = read(&[&[&cut]]);
        assert_eq!((damaged.entries(), damaged.is_damaged()), (1, true));
        assert!(!damaged.begins_and_ends());
        let repaired = read(&[&[&cut], &[&whole]]);
        assert_eq!((repaired.entries(), repaired.is_damaged()), (2, false));
    }

    #[test]
    fn limits_hold_over_all_datagrams() {
        let limits = Limits::default().with_max_players(20);
        let mut sections = Sections::default();
        sections.start_reading();
        let mut add = |datagram: &[u8]| {
            sections.add(datagram, &Response::parse(datagram, &limits).unwrap(), &limits).map_err(|e| e.kind)
        };
        assert_eq!(add(&players(1..15, 0)), Ok(true));
        assert_eq!(add(&players(15..22, 0)), Err(ParseErrorKind::Limit { what: "players", limit: 20 }));
        assert_eq!(add(&players(15..20, 0)), Ok(true));
        assert!(sections.is_damaged());
    }

    #[test]
    fn readings_beyond_the_bits_are_no_error() {
        let list = players(1..4, 0);
        assert_eq!(read(&[&[&list][..]; 40]).agreeing(), 16);
    }
}
