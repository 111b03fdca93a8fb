//! The datagrams of one list that answer one request, and what they prove.
//!
//! A list has no count, no order and no end mark. What can be known:
//! - Only the last datagram of a list has [`FLUSH_LENGTH`] bytes or less.
//! - The rules of the stock game begin with `ServerMode` (`Deaod/UT2004`, `Engine/GameInfo.uc`; every capture): one
//!   short datagram that begins so is all of the list.
//! - The info record counts players. The list has spectators too, so equality proves it complete and a longer list
//!   proves nothing.
//!
//! A datagram lost from the middle leaves no trace otherwise. Replies that agree are the only other evidence there is:
//! they all lack something only if the same datagram was lost from each.

use crate::error::ParseError;
use crate::limits::Limits;
use crate::ut2004::wire::lists::{Entries, FLUSH_LENGTH, HEADER, PlayerList, RuleList, SERVER_MODE};
use crate::ut2004::wire::response::{Body, Response};

/// The datagrams of one list that answer one request, copies left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListReply {
    /// The datagrams, one after the other.
    bytes: Vec<u8>,
    ranges: Vec<DatagramRange>,
    /// A datagram was cut.
    has_cut: bool,
    /// There were more than the limits allow.
    over_limits: bool,
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
    /// Whether it is the last of its list.
    const fn is_last(self) -> bool {
        self.end.saturating_sub(self.start) <= FLUSH_LENGTH
    }
}

impl ListReply {
    /// Takes a datagram of rules or players. `Ok(false)`: it is a copy of one that is here, or the same section of the
    /// list with newer numbers, and the first one stays.
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
        let new = DatagramRange {
            start: self.bytes.len(),
            end: self.bytes.len().saturating_add(datagram.len()),
            entries,
        };
        let is_cut = response.is_cut();
        if self.has_copy(datagram) || (!is_cut && self.has_section(new, response.body)) {
            return Ok(false);
        }
        let bounds = [
            (self.ranges.len().saturating_add(1), limits.max_fragments(), "datagrams"),
            (new.end, limits.max_answer_bytes(), "bytes of one answer"),
            (self.entries().saturating_add(entries), max_entries, what),
        ];
        if let Some((_, limit, what)) = bounds.into_iter().find(|(size, limit, _)| size > limit) {
            self.over_limits = true;
            return Err(ParseError::limit(what, limit, 0));
        }
        self.has_cut |= is_cut;
        self.ranges.push(new);
        self.bytes.extend_from_slice(datagram);
        Ok(true)
    }

    /// Whether nothing came.
    pub(super) const fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Entries of all datagrams.
    pub(super) fn entries(&self) -> usize {
        self.ranges.iter().map(|range| range.entries).fold(0, usize::saturating_add)
    }

    /// Whether a datagram was cut or refused for a limit: such a list is never complete.
    pub(super) const fn is_damaged(&self) -> bool {
        self.has_cut || self.over_limits
    }

    /// Whether a datagram was refused for a limit: asking again brings no more.
    pub(super) const fn is_over_limits(&self) -> bool {
        self.over_limits
    }

    /// Whether the last datagram is here: exactly one is short enough.
    pub(super) fn has_end(&self) -> bool {
        self.ranges.iter().filter(|range| range.is_last()).count() == 1
    }

    /// Whether these are all rules for certain: one datagram that begins and ends the list.
    pub(super) fn begins_and_ends(&self) -> bool {
        !self.is_damaged() && self.ranges.len() == 1 && self.has_end() && self.first().is_some()
    }

    /// Whether both replies brought the same sections of the list.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        self.ranges.len() == other.ranges.len() && self.is_within(other)
    }

    /// Whether the other reply has every section that this one has.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let is_there = |range: &DatagramRange| {
            other.has_copy(self.datagram(*range)) || other.has_section(*range, self.body(*range))
        };
        !self.is_damaged() && self.ranges.iter().all(is_there)
    }

    fn has_copy(&self, datagram: &[u8]) -> bool {
        self.ranges.iter().any(|range| self.datagram(*range) == datagram)
    }

    /// Whether the section of the list that is the body of this datagram is here.
    fn has_section(&self, datagram: DatagramRange, body: Body<'_>) -> bool {
        self.ranges.iter().filter(|range| range.entries == datagram.entries).any(|range| {
            let both_last = range.is_last() && datagram.is_last();
            is_same_section(self.body(*range), body, both_last)
        })
    }

    /// Puts the datagrams into the order of the list as far as it is known: the one with the first rule first, the
    /// short one last, the others by falling player numbers where those of each datagram fall (the newest player comes
    /// first in every capture), else as they came.
    pub(super) fn into_order(mut self) -> (Vec<u8>, Vec<DatagramRange>) {
        if let Some(head) = self.first().and_then(|first| self.ranges.get_mut(..=first)) {
            head.rotate_right(1);
        }
        let numbers = self.ranges.iter().map(|range| Some((self.falling_from(*range)?, *range)));
        if let Some(mut numbered) = numbers.collect::<Option<Vec<_>>>() {
            numbered.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
            self.ranges = numbered.into_iter().map(|(_, range)| range).collect();
        }
        let last = self.ranges.iter().position(|range| range.is_last()).filter(|_| self.has_end());
        if let Some(tail) = last.and_then(|last| self.ranges.get_mut(last..)) {
            tail.rotate_left(1);
        }
        (self.bytes, self.ranges)
    }

    /// The first player's number, where the numbers of a datagram fall from player to player.
    fn falling_from(&self, range: DatagramRange) -> Option<i32> {
        let Body::Players(players) = self.body(range) else { return None };
        let numbers = players.iter().map(|player| player.player_num);
        let first = numbers.clone().next();
        first.filter(|_| numbers.is_sorted_by(|a, b| a > b))
    }

    /// Which datagram begins with the first rule.
    fn first(&self) -> Option<usize> {
        self.ranges.iter().position(|range| match self.body(*range) {
            Body::Rules(rules) => rules
                .iter()
                .next()
                .is_some_and(|(key, _)| key.raw().eq_ignore_ascii_case(SERVER_MODE.as_bytes())),
            _ => false,
        })
    }

    fn body(&self, range: DatagramRange) -> Body<'_> {
        match self.datagram(range).split_first_chunk::<HEADER>() {
            Some(([.., 1], body)) => Body::Rules(RuleList(Entries::counted(body, range.entries))),
            Some((_, body)) => Body::Players(PlayerList(Entries::counted(body, range.entries))),
            None => Body::Players(PlayerList::default()),
        }
    }

    fn datagram(&self, range: DatagramRange) -> &[u8] {
        self.bytes.get(range.start..range.end).unwrap_or_default()
    }
}

/// Whether two datagrams with as many entries are the same section of one list, read at two times: the same players in
/// the same order whatever their ping and score; or rules of which at least half are equal at the same index, and of
/// those that end the list at least the keys.
fn is_same_section(a: Body<'_>, b: Body<'_>, both_last: bool) -> bool {
    match (a, b) {
        (Body::Rules(a), Body::Rules(b)) => {
            let (most, mut differing) = (a.0.count / 2, 0_usize);
            let half = a.iter().zip(b.iter()).all(|(a, b)| {
                differing = differing.saturating_add(usize::from(a != b));
                differing <= most
            });
            half || (both_last && a.iter().zip(b.iter()).all(|((a, _), (b, _))| a == b))
        }
        (Body::Players(a), Body::Players(b)) => a
            .iter()
            .zip(b.iter())
            .all(|(a, b)| a.player_num == b.player_num && (a.player_num != 0 || a.name == b.name)),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use super::*;
    use crate::error::ParseErrorKind;
    use crate::ut2004::{FString, PlayerRecord};

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

    fn reply(datagrams: &[&Vec<u8>]) -> ListReply {
        let mut reply = ListReply::default();
        for datagram in datagrams {
            let response = Response::parse(datagram, &Limits::default()).unwrap();
            reply.add(datagram, &response, &Limits::default()).unwrap();
        }
        reply
    }

    #[test]
    fn copies_and_newer_versions_of_the_same_section_are_left_out() {
        let (long, last, newer) = (players(1..16, 28), players(16..20, 28), players(1..16, 32));
        assert!(long.len() > FLUSH_LENGTH && last.len() <= FLUSH_LENGTH);
        let twice = reply(&[&long, &last, &long, &newer, &last]);
        assert_eq!((twice.ranges.len(), twice.entries(), twice.has_end()), (2, 19, true));
        assert!(twice.agrees_with(&reply(&[&last, &newer])));
        assert!(!twice.agrees_with(&reply(&[&last])));
        assert!(!reply(&[&last]).agrees_with(&twice));
        let joined = reply(&[&long, &players(16..21, 28)]);
        assert!(!twice.agrees_with(&joined), "somebody joined");
    }

    #[test]
    fn rules_with_a_changing_value_agree_and_other_rules_do_not() {
        let at = |rate: &str| rules(&[("ServerMode", "dedicated"), ("Tick Rate", rate), ("Mutator", "A")]);
        assert!(reply(&[&at("44.8")]).agrees_with(&reply(&[&at("45")])));
        let mutators = |names: [&str; 3]| rules(&names.map(|name| ("Mutator", name)));
        let (a, b) = (mutators(["A", "B", "C"]), mutators(["D", "E", "F"]));
        assert!(reply(&[&a]).agrees_with(&reply(&[&b])), "both end a list, which has one end");
        let long = "x".repeat(240);
        let (a, b) = (mutators([&long, &long, "C"]), mutators(["D", &"y".repeat(240), &long]));
        assert!(!reply(&[&a]).agrees_with(&reply(&[&b])), "same keys, other rules");
    }

    #[test]
    fn the_first_rule_goes_first_and_the_short_datagram_last() {
        let value = "v".repeat(440);
        let first = rules(&[("ServerMode", "dedicated"), ("x", &value)]);
        let (middle, last) = (rules(&[("y", &value), ("z", "")]), rules(&[("Mutator", "A")]));
        let (bytes, ranges) = reply(&[&last, &middle, &first]).into_order();
        let order: Vec<&[u8]> = ranges.iter().map(|range| &bytes[range.start..range.end]).collect();
        assert_eq!(order, [&first[..], &middle, &last]);
        assert!(!reply(&[&first, &last]).begins_and_ends(), "what is between is unknown");
        let whole = rules(&[("servermode", "dedicated")]);
        assert!(reply(&[&whole]).begins_and_ends());
        assert!(!reply(&[&last]).begins_and_ends(), "what was before is unknown");
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
            let (bytes, ranges) = reply(&order).into_order();
            let numbers: Vec<u8> = ranges.iter().map(|range| bytes[range.start + HEADER]).collect();
            assert_eq!(numbers, [40, 9, 3]);
        }
    }

    #[test]
    fn a_cut_datagram_is_kept_and_never_complete() {
        let whole = rules(&[("ServerMode", "dedicated"), ("Mutator", "A")]);
        let cut = whole[..whole.len() - 1].to_vec();
        let reply = reply(&[&cut]);
        assert_eq!((reply.entries(), reply.is_damaged()), (1, true));
        assert!(!reply.begins_and_ends());
        assert!(!reply.agrees_with(&reply));
    }

    #[test]
    fn limits_hold_over_all_datagrams() {
        let limits = Limits::default().with_max_players(20);
        let mut reply = ListReply::default();
        let mut add = |datagram: &[u8]| {
            reply.add(datagram, &Response::parse(datagram, &limits).unwrap(), &limits).map_err(|e| e.kind)
        };
        assert_eq!(add(&players(1..15, 0)), Ok(true));
        assert_eq!(add(&players(15..22, 0)), Err(ParseErrorKind::Limit { what: "players", limit: 20 }));
        assert_eq!(add(&players(15..20, 0)), Ok(true));
        assert!(reply.is_damaged());
    }
}
