//! One reply to a request for a list: its datagrams, and the facts that they show.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::engines::SERVER_MODE;
use super::wire::lists::{
    Entries, FLUSH_LENGTH, PLAYERS, PlayerList, PlayerRecord, RULES, RuleList,
};
use super::wire::{Body, Response};
use crate::error::ParseError;
use crate::limits::Limits;
use crate::text::number;

/// The maximum length of a name in the stock game (`Deaod/UT2004`, `UnrealGame/DeathMatch.uc`,
/// `ChangeName`).
const MAX_NAME: usize = 20;

/// Rules of the stock game (`Deaod/UT2004`, `Engine/GameInfo.uc`, `UnrealGame/DeathMatch.uc`).
const MAX_SPECTATORS: &str = "MaxSpectators";
const MIN_PLAYERS: &str = "MinPlayers";

/// The datagrams of one reply, in order of arrival.
#[derive(Debug, Clone, Default)]
pub(super) struct ListReply {
    datagrams: Vec<Datagram>,
}

impl ListReply {
    pub(super) fn push(&mut self, datagram: Datagram) {
        self.datagrams.push(datagram);
    }

    pub(super) const fn datagram_count(&self) -> usize {
        self.datagrams.len()
    }

    pub(super) fn has(&self, datagram: &[u8]) -> bool {
        self.datagrams.iter().any(|part| part.bytes == datagram)
    }

    pub(super) fn size(&self) -> Size {
        Size {
            datagrams: self.datagrams.len(),
            bytes: self.datagrams.iter().map(|part| part.bytes.len()).sum(),
        }
    }

    /// The number of whole entries.
    pub(super) fn entry_count(&self) -> usize {
        self.datagrams.iter().map(|part| part.entry_count).sum()
    }

    /// Reads the facts that it shows.
    pub(super) fn facts(&self) -> Facts {
        let ends = self.datagrams.iter().filter(|part| part.is_end()).count();
        let starts = self.datagrams.iter().filter(|part| part.is_first()).count();
        let is_cut = self.datagrams.iter().any(|part| part.is_cut);
        let is_mixed = ends > 1 || starts > 1 || self.has_player_in_two_datagrams();
        let mut facts = Facts {
            datagrams: self.datagrams.len(),
            is_sound: !is_cut && !is_mixed,
            has_first_rule: starts > 0,
            has_end: ends > 0,
            ..Facts::default()
        };
        for part in &self.datagrams {
            part.rules().for_each(|rule| facts.read_rule(&rule));
            part.players().for_each(|player| facts.count(player));
        }
        facts
    }

    fn has_player_in_two_datagrams(&self) -> bool {
        let mut players = Vec::new();
        for (datagram, part) in self.datagrams.iter().enumerate() {
            players.extend(part.players().map(|row| (Entry::identity(row), datagram)));
        }
        players.sort_unstable();
        let is_in_two = |(one, next): (&(Entry<'_>, usize), &(Entry<'_>, usize))| {
            one.0 == next.0 && one.1 != next.1
        };
        players.iter().zip(players.iter().skip(1)).any(is_in_two)
    }

    /// Whether it has the same datagrams as another reply.
    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        let has_as_many = self.datagrams.len() == other.datagrams.len();
        has_as_many && self.datagrams.iter().all(|part| other.has(&part.bytes))
    }

    /// Compares a reply with an earlier one.
    pub(super) fn relation_to(&self, earlier: &Self) -> Relation {
        let entries = self.sorted_entries();
        let known = earlier.sorted_entries();
        if entries == known {
            return Relation::Equal;
        }
        if entries.len() < known.len() && has_names(&known, &entries) {
            return Relation::Lacking;
        }
        Relation::Other
    }

    /// Whether the reply has every rule or player of another reply, by name and number.
    pub(super) fn has_names_of(&self, other: &Self) -> bool {
        self.is_copy_of(other) || has_names(&self.sorted_entries(), &other.sorted_entries())
    }

    /// The entries, in a form for comparing two replies. They are sorted, because datagrams can
    /// arrive in any order. They lack values, pings and scores, which can change at any time. Rules
    /// of one name, such as mutators, keep their values.
    fn sorted_entries(&self) -> Vec<Entry<'_>> {
        let rules = self.datagrams.iter().flat_map(Datagram::rules);
        let players = self.players().map(|player| Entry {
            number: player.player_num,
            name: player.name.raw(),
            value: &[],
        });
        let mut entries: Vec<_> = rules.chain(players).collect();
        entries.sort_unstable();
        for same in entries.chunk_by_mut(|a, b| a.key() == b.key()) {
            if let [only] = same {
                only.value = &[];
            }
        }
        entries
    }

    fn players(&self) -> impl Iterator<Item = PlayerRecord<'_>> {
        self.datagrams.iter().flat_map(Datagram::players)
    }

    /// Keeps the first version of each datagram, if several replies were captured. Two datagrams are
    /// versions of one if they begin with the same entry, or if both can be the last one and begin
    /// with a rule of the same name.
    pub(super) fn keep_first_versions(&mut self) {
        let mut starts = BTreeSet::new();
        self.datagrams.retain(|part| {
            let Some(Entry {
                number,
                name,
                value,
            }) = part.first_entry()
            else {
                return true;
            };
            let is_end = part.is_end();
            let value = if is_end { &[] } else { value };
            starts.insert((number, name.to_vec(), value.to_vec(), is_end))
        });
    }

    /// The datagrams in the order of the list, as far as that is known. The datagram with the first
    /// rule is first, and the short one is last. If the player numbers fall within each datagram,
    /// the others are sorted by falling numbers: the newest player is first in every capture.
    /// Otherwise they stay in order of arrival.
    pub(super) fn into_ordered(mut self) -> Vec<Datagram> {
        let is_falling = self.datagrams.iter().all(Datagram::has_falling_numbers);
        self.datagrams
            .sort_by_cached_key(|part| part.place(is_falling));
        self.datagrams
    }
}

/// Whether the wanted rules or players are among these, by name and number.
fn has_names(entries: &[Entry<'_>], wanted: &[Entry<'_>]) -> bool {
    let is_among = |wanted: &Entry<'_>| {
        let found = entries.binary_search_by_key(&wanted.key(), Entry::key);
        found.is_ok()
    };
    wanted.iter().all(is_among)
}

/// What a reply shows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    pub(super) datagrams: usize,
    /// Whether it is one reply and has no cut datagram. Signs of two replies: two datagrams that
    /// can only be the last, two that begin the rules, or one player in two datagrams.
    pub(super) is_sound: bool,
    /// Whether it has the rule with which the list of every stock game begins.
    pub(super) has_first_rule: bool,
    /// Whether it has a datagram that can only be the last.
    pub(super) has_end: bool,
    /// Rules that bound the lists.
    pub(super) max_spectators: Option<usize>,
    min_players: Option<usize>,
    /// The number of players and spectators, without team scores.
    pub(super) listed: usize,
    /// How many of them are in a team.
    in_teams: usize,
    /// How many of the others have a score. Spectators have none (`Deaod/UT2004`,
    /// `Engine/PlayerController.uc`, `BecomeSpectator`).
    scoring: usize,
    /// Whether a name is longer than the stock game allows, which counts colour codes too.
    pub(super) has_long_names: bool,
}

impl Facts {
    fn read_rule(&mut self, rule: &Entry<'_>) {
        let is_rule = |key: &str| rule.name.eq_ignore_ascii_case(key.as_bytes());
        let bound = if is_rule(MAX_SPECTATORS) {
            &mut self.max_spectators
        } else if is_rule(MIN_PLAYERS) {
            &mut self.min_players
        } else {
            return;
        };
        *bound = bound.or_else(|| number::number(rule.value));
    }

    fn count(&mut self, row: PlayerRecord<'_>) {
        if row.pseudo_team().is_some() {
            return;
        }
        self.listed = self.listed.saturating_add(1);
        if row.team().is_some() {
            self.in_teams = self.in_teams.saturating_add(1);
        } else if row.score != 0 {
            self.scoring = self.scoring.saturating_add(1);
        }
        self.has_long_names |= row.name.raw().len() > MAX_NAME || row.xmp.is_some();
    }

    /// Whether bots can be among the counted players.
    pub(super) fn has_bots(&self) -> bool {
        self.min_players > Some(0)
    }

    /// The number of players without spectators; `None` if nothing tells them apart. In games of
    /// teams, spectators are in none.
    pub(super) fn playing(&self) -> Option<usize> {
        if self.in_teams > 0 {
            Some(self.in_teams)
        } else {
            (self.scoring == self.listed).then_some(self.listed)
        }
    }
}

/// A reply compared with an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// The entries are the same. Values, pings and scores differ.
    Equal,
    /// It lacks entries of the earlier reply, and has no others.
    Lacking,
    Other,
}

/// The place of a datagram in the order of its list.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    is_end: bool,
    is_after_first: bool,
    /// The number of its first player, if player numbers fall within each datagram.
    number: Reverse<Option<i32>>,
}

/// Datagrams and their bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    pub(super) datagrams: usize,
    pub(super) bytes: usize,
}

impl Size {
    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            datagrams: self.datagrams.saturating_add(other.datagrams),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// A rule by its name and value, or a player by number and name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry<'a> {
    number: i32,
    name: &'a [u8],
    value: &'a [u8],
}

impl<'a> Entry<'a> {
    /// A player by number alone: a name can change during a match. Rows with the number 0 also by
    /// name: some servers give that number to every player, and modifications to scores of teams.
    fn identity(player: PlayerRecord<'a>) -> Self {
        let name = if player.player_num == 0 {
            player.name.raw()
        } else {
            &[]
        };
        Self {
            number: player.player_num,
            name,
            value: &[],
        }
    }

    /// The entry without its value: a rule by its name, or a player by number and name.
    const fn key(&self) -> (i32, &'a [u8]) {
        (self.number, self.name)
    }
}

/// One datagram of an answer: of a list, or the info record, which has no entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Datagram {
    pub(super) bytes: Vec<u8>,
    /// The number of whole entries in it.
    pub(super) entry_count: usize,
    pub(super) is_cut: bool,
}

impl Datagram {
    pub(super) fn read(datagram: &[u8], limits: &Limits) -> Result<Self, ParseError> {
        let response = Response::parse(datagram, limits)?;
        Ok(Self::new(datagram, &response))
    }

    /// Keeps a datagram that was read as this response.
    pub(super) fn new(datagram: &[u8], response: &Response<'_>) -> Self {
        let entry_count = match response.body {
            Body::Rules(RuleList(entries)) | Body::Players(PlayerList(entries)) => entries.count,
            Body::Info(_) | Body::SmallPing(_) => 0,
        };
        Self {
            bytes: datagram.to_vec(),
            entry_count,
            is_cut: response.is_cut(),
        }
    }

    pub(super) const fn size(&self) -> Size {
        Size {
            datagrams: 1,
            bytes: self.bytes.len(),
        }
    }

    /// Whether it is short enough to be the last of its list.
    const fn is_end(&self) -> bool {
        self.bytes.len() <= FLUSH_LENGTH
    }

    /// Whether it begins with the first rule of the stock game.
    fn is_first(&self) -> bool {
        let first = self.rules().next();
        first.is_some_and(|rule| rule.name.eq_ignore_ascii_case(SERVER_MODE.as_bytes()))
    }

    fn first_entry(&self) -> Option<Entry<'_>> {
        let first_player = self.players().next().map(Entry::identity);
        first_player.or_else(|| self.rules().next())
    }

    fn rules(&self) -> impl Iterator<Item = Entry<'_>> {
        let entries = Entries::of(&self.bytes, RULES, self.entry_count);
        let rules = RuleList(entries.unwrap_or_default());
        rules.iter().map(|(name, value)| Entry {
            number: 0,
            name: name.raw(),
            value: value.raw(),
        })
    }

    fn players(&self) -> impl Iterator<Item = PlayerRecord<'_>> {
        let entries = Entries::of(&self.bytes, PLAYERS, self.entry_count);
        PlayerList(entries.unwrap_or_default()).iter()
    }

    fn player_numbers(&self) -> impl Iterator<Item = i32> {
        self.players().map(|player| player.player_num)
    }

    /// `by_number`: player numbers fall within each datagram of the list.
    fn place(&self, by_number: bool) -> Place {
        let number = self.player_numbers().next().filter(|_| by_number);
        Place {
            is_end: self.is_end(),
            is_after_first: !self.is_first(),
            number: Reverse(number),
        }
    }

    fn has_falling_numbers(&self) -> bool {
        self.player_numbers().is_sorted_by(|a, b| a > b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mutators have rules of one name.
    #[test]
    fn a_reply_with_another_mutator_lacks_nothing() {
        let reply = |second: u8| {
            let rules = b"\x80\0\0\0\x01\x08Mutator\0\x02A\0\x08Mutator\0\x02";
            let datagram = [&rules[..], &[second, 0]].concat();
            let mut reply = ListReply::default();
            reply.push(Datagram::read(&datagram, &Limits::default()).unwrap());
            reply
        };
        assert_eq!(reply(b'B').relation_to(&reply(b'B')), Relation::Equal);
        assert_eq!(reply(b'C').relation_to(&reply(b'B')), Relation::Other);
    }
}
