//! An accepted answer: the datagrams, and the views of them.

use std::cmp::Reverse;

use bytes::Bytes;

use super::lists::{Datagram, List, Lists};
use super::wire::info::Info;
use super::wire::lists::{Entries, PLAYERS, PlayerList, PlayerRecord, RULES, RuleList};
use super::wire::strings::FString;
use super::wire::{Body, Response};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Charset, Completeness, MissingParts, Verification};
use crate::options::{Detail, QueryOptions};

/// The replies of one query. It owns the datagrams, and the views borrow from it.
///
/// ```
/// use bytes::Bytes;
/// use queryport::Limits;
/// use queryport::ut2004::Answer;
///
/// let packet =
///     b"\x80\0\0\0\x02\x05\0\0\0\x04abc\0\x1c\0\0\0\xfd\xff\xff\xff\0\0\0\x20";
/// let answer =
///     Answer::from_datagrams([Bytes::from_static(packet)], &Limits::default())?;
/// let player = answer.players().next().unwrap();
/// assert_eq!((player.player_num, player.score, player.team()), (5, -3, Some(0)));
/// assert!(!answer.completeness().is_complete(), "no info, no rules");
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Answer {
    /// All datagrams: the info, then each list in its order as far as that is known.
    pub(super) bytes: Bytes,
    /// Each datagram, a slice of these bytes, and its whole entries.
    parts: Vec<(Bytes, usize)>,
    pub(super) missing: MissingParts,
    limits: Limits,
    /// The character set of the texts, if the caller knows it.
    pub(super) charset: Option<Charset>,
}

/// The datagrams of a list in its order, as far as that is known. The datagram with the first rule
/// is first, and the short one is last. The others are sorted by falling player numbers where the
/// numbers of each datagram fall: the newest player is first in every capture. Otherwise they stay
/// in order of arrival.
fn in_order(list: List) -> Vec<Datagram> {
    let mut datagrams = list.into_datagrams();
    let is_falling = datagrams.iter().all(|part| {
        let numbers = part.player_numbers();
        numbers.is_sorted_by(|a, b| a > b)
    });
    let first_number = |part: &Datagram| part.player_numbers().next().filter(|_| is_falling);
    datagrams.sort_by_key(|part| (part.is_end(), !part.is_first(), Reverse(first_number(part))));
    datagrams
}

impl Answer {
    pub(super) fn new(lists: Lists, options: &QueryOptions) -> Self {
        let limits = options.limits;
        let is_cut =
            |info: &Vec<u8>| Response::parse(info, &limits).is_ok_and(|response| response.is_cut());
        let missing = if options.detail == Detail::Short {
            MissingParts::NOTHING
        } else {
            lists.missing()
        };
        let missing = MissingParts {
            info: lists.info.as_ref().is_none_or(is_cut),
            ..missing
        };
        let mut datagrams: Vec<(Vec<u8>, usize)> = Vec::new();
        datagrams.extend(lists.info.map(|info| (info, 0)));
        for list in [lists.rules, lists.players] {
            let parts = in_order(list).into_iter();
            datagrams.extend(parts.map(|part| (part.bytes, part.entries)));
        }
        let bytes = datagrams.iter().flat_map(|(datagram, _)| datagram);
        let bytes: Bytes = bytes.copied().collect();
        let mut rest = bytes.clone();
        let parts = datagrams
            .iter()
            .map(|(datagram, entries)| (rest.split_to(datagram.len()), *entries));
        Self {
            charset: options.charset,
            parts: parts.collect(),
            bytes,
            missing,
            limits,
        }
    }

    /// Reads captured datagrams, in order of arrival, whose request is unknown. Datagrams that are
    /// not a reply are skipped; the first info record counts.
    ///
    /// The answer is complete only where one reply can prove it. The rules must be one short
    /// datagram that begins as the stock game's does, and as many players must be listed as the
    /// info record counts. A datagram of another list may have been lost without a trace: then
    /// [`Part::End`](crate::Part::End) is missing. Where several replies were captured, the first
    /// version of each datagram counts.
    ///
    /// # Errors
    /// That of the last datagram, if no datagram is a reply.
    pub fn from_datagrams(
        datagrams: impl IntoIterator<Item = Bytes>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut lists = Lists::default();
        lists.rules.ask();
        lists.players.ask();
        let none = ParseErrorKind::CutShort("the answer: no datagram");
        let mut result = Err(ParseError::new(none, 0));
        for datagram in datagrams {
            let awaits_info = lists.info.is_none();
            let taken = match lists.take(&datagram, awaits_info, limits) {
                // A reply to another request.
                Err(error) if matches!(error.kind, ParseErrorKind::Unexpected(_)) => {
                    Response::parse(&datagram, limits).map(drop)
                }
                taken => taken,
            };
            result = result.or(taken);
        }
        result?;
        lists.end_only_replies();
        Ok(Self::new(
            lists,
            &QueryOptions::default().with_limits(*limits),
        ))
    }

    /// The info record.
    pub fn info(&self) -> Option<Info<'_>> {
        match Response::parse(self.datagrams().next()?, &self.limits)
            .ok()?
            .body
        {
            Body::Info(info) => Some(info),
            _ => None,
        }
    }

    /// The server's version of the protocol.
    pub(super) fn version(&self) -> Option<u32> {
        let version = self.datagrams().next()?.first_chunk()?;
        Some(u32::from_le_bytes(*version))
    }

    /// The entries of each datagram of this type.
    pub(super) fn entries(&self, kind: u8) -> impl Iterator<Item = Entries<'_>> {
        let parts = self
            .parts
            .iter()
            .filter(move |(datagram, _)| datagram.get(4) == Some(&kind));
        parts.map(move |(datagram, count)| Entries::of(datagram, kind, *count))
    }

    /// The number of their entries.
    pub(super) fn count(&self, kind: u8) -> usize {
        self.entries(kind).map(|entries| entries.count).sum()
    }

    /// The rules of all datagrams. The datagram that begins with `ServerMode` is first and the
    /// short one last; those between are in order of arrival.
    pub fn rules(&self) -> impl Iterator<Item = (FString<'_>, FString<'_>)> {
        self.entries(RULES)
            .flat_map(|entries| RuleList(entries).iter())
    }

    /// The first value of a rule, by its key in any ASCII case.
    pub fn get(&self, key: &str) -> Option<FString<'_>> {
        self.rules()
            .find(|(found, _)| found.raw().eq_ignore_ascii_case(key.as_bytes()))
            .map(|(_, value)| value)
    }

    /// The players of all datagrams, spectators and [team scores](PlayerRecord::pseudo_team)
    /// included; the short datagram is last.
    pub fn players(&self) -> impl Iterator<Item = PlayerRecord<'_>> {
        self.entries(PLAYERS)
            .flat_map(|entries| PlayerList(entries).iter())
    }

    /// The accepted datagrams, unchanged: info, rules, players.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(|(datagram, _)| &datagram[..])
    }

    /// The parts that are missing or not confirmed.
    ///
    /// - [`Part::Info`](crate::Part::Info): no info arrived, so name, map and counts are unknown.
    ///   Or the info of version 0x80 ends too soon, or with bytes that no known layout has.
    /// - [`Part::Rules`](crate::Part::Rules) and [`Part::Players`](crate::Part::Players): that list
    ///   did not arrive, or part of it is known to be missing. For example, fewer players are
    ///   listed than the server counts.
    /// - [`Part::End`](crate::Part::End): a list looks complete and nothing confirms it, or every
    ///   reply ended with a datagram that others could follow.
    pub fn completeness(&self) -> Completeness {
        self.missing.into()
    }

    /// Always [`Verification::Unavailable`]: a request holds nothing that a server could quote.
    pub const fn verification(&self) -> Verification {
        Verification::Unavailable
    }
}
