//! One reading of a list: the datagrams that came for one request, and what they prove.
//!
//! A list has no count, no order and no end mark. What can be known:
//! - A server starts a new datagram only when the one it writes is longer than 450 bytes (every capture). So a
//!   list has at most one datagram of 450 bytes or less, and that one is its last.
//! - The rules of the stock game begin with `ServerMode` (script source, every capture): one short datagram that
//!   begins so is the whole list.
//! - The info record counts players. The list has spectators too, so equality proves it whole and a longer list
//!   proves nothing.
//!
//! A datagram lost from the middle leaves no trace otherwise. Readings that agree are the only other evidence there
//! is: they are all short only if the same datagram was lost from each.

use super::info::HEADER;
use super::lists::{PlayerList, RuleList};
use super::response::{Body, Response};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;

/// A server goes on with the datagram it writes until it is longer than this, in bytes.
pub(super) const FLUSH: usize = 450;

/// The key that the stock game's rules begin with.
const FIRST_RULE: &[u8] = b"ServerMode";

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rules,
    Players,
}

/// The datagrams of one list from one request, copies dropped.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    /// The datagrams, one after the other.
    bytes: Vec<u8>,
    parts: Vec<Part>,
    /// A datagram was cut.
    cut: bool,
    /// There were more than the limits allow.
    over_limits: bool,
}

/// One datagram of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whole entries in it.
    pub(super) entries: usize,
}

impl Part {
    const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether it is the last of its list.
    const fn is_last(self) -> bool {
        self.len() <= FLUSH
    }
}

/// The entries of a datagram.
#[derive(Debug, Clone, Copy)]
enum List<'a> {
    Rules(RuleList<'a>),
    Players(PlayerList<'a>),
}

impl<'a> List<'a> {
    fn of(response: &Response<'a>) -> Option<Self> {
        match response.body {
            Body::Rules(rules) => Some(Self::Rules(rules)),
            Body::Players(players) => Some(Self::Players(players)),
            Body::Info(_) | Body::SmallPing(_) => None,
        }
    }

    /// So many entries of a datagram that was read before.
    fn held(datagram: &'a [u8], entries: usize) -> Option<Self> {
        match datagram.split_first_chunk::<HEADER>()? {
            ([.., 1], body) => Some(Self::Rules(RuleList::counted(body, entries))),
            ([.., 2], body) => Some(Self::Players(PlayerList::counted(body, entries))),
            _ => None,
        }
    }

    const fn kind(self) -> Kind {
        match self {
            Self::Rules(_) => Kind::Rules,
            Self::Players(_) => Kind::Players,
        }
    }

    const fn len(self) -> usize {
        match self {
            Self::Rules(rules) => rules.len(),
            Self::Players(players) => players.len(),
        }
    }

    const fn is_cut(self) -> bool {
        match self {
            Self::Rules(rules) => !rules.trailing().is_empty(),
            Self::Players(players) => !players.trailing().is_empty(),
        }
    }

    /// Whether both are the same stretch of the same list, read at two times: the same players in the same order
    /// whatever their ping and score; or as many rules of which at least half are the same in the same place, and
    /// of those that end a list at least the keys.
    fn is_twin(self, other: Self, both_end: bool) -> bool {
        if self.len() != other.len() {
            return false;
        }
        match (self, other) {
            (Self::Rules(a), Self::Rules(b)) => {
                let (most, mut differing) = (a.len() / 2, 0_usize);
                let half = a.iter().zip(b).all(|(a, b)| {
                    differing = differing.saturating_add(usize::from(a != b));
                    differing <= most
                });
                half || (both_end && a.iter().zip(b).all(|((a, _), (b, _))| a == b))
            }
            (Self::Players(a), Self::Players(b)) => a
                .iter()
                .zip(b)
                .all(|(a, b)| a.player_num == b.player_num && (a.player_num != 0 || a.name == b.name)),
            _ => false,
        }
    }
}

impl Reading {
    /// Takes a reply. `Ok(false)`: it is a copy of one that is here, or the same stretch with newer numbers, and
    /// the first one stays.
    pub(super) fn add(
        &mut self,
        datagram: &[u8],
        response: &Response<'_>,
        limits: &Limits,
    ) -> Result<bool, ParseError> {
        let Some(list) = List::of(response) else { return Ok(false) };
        if self.has_copy(datagram) || (!list.is_cut() && self.has_twin(datagram, list)) {
            return Ok(false);
        }
        let most = match list.kind() {
            Kind::Rules => (limits.max_rules(), "rules"),
            Kind::Players => (limits.max_players(), "players"),
        };
        let end = self.bytes.len().saturating_add(datagram.len());
        let exceeded = if self.parts.len() >= limits.max_fragments() {
            Some("datagrams")
        } else if end > limits.max_answer_bytes() {
            Some("bytes of one answer")
        } else {
            (self.entries().saturating_add(list.len()) > most.0).then_some(most.1)
        };
        if let Some(what) = exceeded {
            self.over_limits = true;
            return Err(ParseError::limit(what, usize::MAX, 0));
        }
        self.cut |= list.is_cut();
        self.parts.push(Part { start: self.bytes.len(), end, entries: list.len() });
        self.bytes.extend_from_slice(datagram);
        Ok(true)
    }

    /// Whether nothing came.
    pub(super) const fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Entries of all datagrams.
    pub(super) fn entries(&self) -> usize {
        self.parts.iter().map(|part| part.entries).fold(0, usize::saturating_add)
    }

    /// Whether a datagram was cut or refused for a limit: such a list is never whole.
    pub(super) const fn is_flawed(&self) -> bool {
        self.cut || self.over_limits
    }

    /// Whether a datagram was refused for a limit: asking again brings no more.
    pub(super) const fn is_over_limits(&self) -> bool {
        self.over_limits
    }

    /// Whether the last datagram is here: exactly one is short enough.
    pub(super) fn has_end(&self) -> bool {
        self.parts.iter().filter(|part| part.is_last()).count() == 1
    }

    /// Whether these are the whole rules for certain: one datagram that begins and ends the list.
    pub(super) fn begins_and_ends(&self) -> bool {
        !self.is_flawed() && self.parts.len() == 1 && self.has_end() && self.begins().is_some()
    }

    /// Whether both readings brought the same stretches of the list.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        self.parts.len() == other.parts.len() && self.is_within(other)
    }

    /// Whether the other reading has every stretch that this one has.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let is_there = |part: &Part| {
            let datagram = self.datagram(*part);
            other.has_copy(datagram) || self.list(*part).is_some_and(|list| other.has_twin(datagram, list))
        };
        !self.is_flawed() && self.parts.iter().all(is_there)
    }

    fn has_copy(&self, datagram: &[u8]) -> bool {
        self.parts.iter().any(|part| self.datagram(*part) == datagram)
    }

    /// Whether the same stretch of the list is here.
    fn has_twin(&self, datagram: &[u8], list: List<'_>) -> bool {
        let ends = datagram.len() <= FLUSH;
        self.parts.iter().filter(|part| part.entries == list.len()).any(|part| {
            let both_end = ends && part.is_last();
            self.list(*part).is_some_and(|held| held.is_twin(list, both_end))
        })
    }

    /// Puts the datagrams into the order of the list as far as it can be told: the one with the first rule
    /// first, the short one last, the others by falling player numbers where those of each datagram fall (the
    /// newest player comes first in every capture), else as they came.
    pub(super) fn into_order(mut self) -> (Vec<u8>, Vec<Part>) {
        if let Some(head) = self.begins().and_then(|first| self.parts.get_mut(..=first)) {
            head.rotate_right(1);
        }
        let numbered = self.parts.iter().map(|part| self.falling(*part)).collect::<Option<Vec<_>>>();
        if let Some(mut numbered) = numbered {
            numbered.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
            self.parts = numbered.into_iter().map(|(_, part)| part).collect();
        }
        let last = self.parts.iter().position(|part| part.is_last()).filter(|_| self.has_end());
        if let Some(tail) = last.and_then(|last| self.parts.get_mut(last..)) {
            tail.rotate_left(1);
        }
        (self.bytes, self.parts)
    }

    /// The first player's number, where the numbers of a datagram fall from player to player.
    fn falling(&self, part: Part) -> Option<(i32, Part)> {
        let List::Players(players) = self.list(part)? else { return None };
        let numbers = players.iter().map(|player| player.player_num);
        let first = numbers.clone().next()?;
        numbers.is_sorted_by(|a, b| a > b).then_some((first, part))
    }

    /// Which datagram begins with the first rule.
    fn begins(&self) -> Option<usize> {
        self.parts.iter().position(|part| match self.list(*part) {
            Some(List::Rules(rules)) => {
                rules.iter().next().is_some_and(|(key, _)| key.raw().eq_ignore_ascii_case(FIRST_RULE))
            }
            _ => false,
        })
    }

    fn list(&self, part: Part) -> Option<List<'_>> {
        List::held(self.datagram(part), part.entries)
    }

    fn datagram(&self, part: Part) -> &[u8] {
        self.bytes.get(part.start..part.end).unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use super::*;
    use crate::ut2004::{FString, PlayerRecord};

    fn rules(pairs: &[(&str, &str)]) -> Vec<u8> {
        let mut out = vec![0x80, 0, 0, 0, 1];
        for (key, value) in pairs {
            FString::narrow(key.as_bytes()).encode(&mut out);
            FString::narrow(value.as_bytes()).encode(&mut out);
        }
        out
    }

    fn players(ids: std::ops::Range<i32>, ping: i32) -> Vec<u8> {
        let mut out = vec![0x80, 0, 0, 0, 2];
        for id in ids {
            PlayerRecord { ping, ..PlayerRecord::new(id, FString::narrow(b"a player's name")) }
                .encode(&mut out);
        }
        out
    }

    fn reading(datagrams: &[&Vec<u8>]) -> Reading {
        let mut reading = Reading::default();
        for datagram in datagrams {
            let response = Response::parse(datagram, &Limits::default()).unwrap();
            reading.add(datagram, &response, &Limits::default()).unwrap();
        }
        reading
    }

    #[test]
    fn copies_and_later_readings_of_the_same_stretch_are_dropped() {
        let (long, last, newer) = (players(1..16, 28), players(16..20, 28), players(1..16, 32));
        assert!(long.len() > FLUSH && last.len() <= FLUSH);
        let twice = reading(&[&long, &last, &long, &newer, &last]);
        assert_eq!((twice.parts.len(), twice.entries(), twice.has_end()), (2, 19, true));
        assert!(twice.agrees_with(&reading(&[&last, &newer])));
        assert!(!twice.agrees_with(&reading(&[&last])));
        assert!(!reading(&[&last]).agrees_with(&twice));
        let joined = reading(&[&long, &players(16..21, 28)]);
        assert!(!twice.agrees_with(&joined), "somebody joined");
    }

    #[test]
    fn rules_with_a_changing_value_agree_and_other_rules_do_not() {
        let at = |rate: &str| rules(&[("ServerMode", "dedicated"), ("Tick Rate", rate), ("Mutator", "A")]);
        assert!(reading(&[&at("44.8")]).agrees_with(&reading(&[&at("45")])));
        let mutators = |names: [&str; 3]| rules(&names.map(|name| ("Mutator", name)));
        let (a, b) = (mutators(["A", "B", "C"]), mutators(["D", "E", "F"]));
        assert!(reading(&[&a]).agrees_with(&reading(&[&b])), "both end a list, which has one end");
        let long = "x".repeat(240);
        let (a, b) = (mutators([&long, &long, "C"]), mutators(["D", &"y".repeat(240), &long]));
        assert!(!reading(&[&a]).agrees_with(&reading(&[&b])), "same keys, other rules");
    }

    #[test]
    fn the_first_rule_goes_first_and_the_short_datagram_last() {
        let value = "v".repeat(440);
        let first = rules(&[("ServerMode", "dedicated"), ("x", &value)]);
        let (middle, last) = (rules(&[("y", &value), ("z", "")]), rules(&[("Mutator", "A")]));
        let (bytes, parts) = reading(&[&last, &middle, &first]).into_order();
        let order: Vec<&[u8]> = parts.iter().map(|part| &bytes[part.start..part.end]).collect();
        assert_eq!(order, [&first[..], &middle, &last]);
        assert!(!reading(&[&first, &last]).begins_and_ends(), "what is between is unknown");
        let whole = rules(&[("servermode", "dedicated")]);
        assert!(reading(&[&whole]).begins_and_ends());
        assert!(!reading(&[&last]).begins_and_ends(), "what was before is unknown");
    }

    #[test]
    fn falling_player_numbers_give_the_order() {
        let list = |numbers: &[i32]| {
            let mut out = vec![0x80, 0, 0, 0, 2];
            for number in numbers {
                PlayerRecord::new(*number, FString::narrow(&[b'x'; 100])).encode(&mut out);
            }
            out
        };
        let (a, b, c) = (list(&[40, 39, 12, 10]), list(&[9, 8, 7, 6]), list(&[3]));
        for order in [[&a, &b, &c], [&c, &b, &a], [&b, &a, &c], [&b, &c, &a]] {
            let (bytes, parts) = reading(&order).into_order();
            let numbers: Vec<u8> = parts.iter().map(|part| bytes[part.start + HEADER]).collect();
            assert_eq!(numbers, [40, 9, 3]);
        }
    }

    #[test]
    fn a_cut_datagram_is_kept_and_never_whole() {
        let whole = rules(&[("ServerMode", "dedicated"), ("Mutator", "A")]);
        let cut = whole[..whole.len() - 1].to_vec();
        let reading = reading(&[&cut]);
        assert_eq!((reading.entries(), reading.is_flawed()), (1, true));
        assert!(!reading.begins_and_ends());
        assert!(!reading.agrees_with(&reading));
    }

    #[test]
    fn limits_hold_over_all_datagrams() {
        let limits = Limits::default().with_max_players(20);
        let mut reading = Reading::default();
        let mut add = |datagram: &[u8]| {
            reading.add(datagram, &Response::parse(datagram, &limits).unwrap(), &limits).map_err(|e| e.kind)
        };
        assert_eq!(add(&players(1..15, 0)), Ok(true));
        assert_eq!(add(&players(15..22, 0)), Err(ParseErrorKind::Limit("players")));
        assert_eq!(add(&players(15..20, 0)), Ok(true));
        assert!(reading.is_flawed());
    }
}
