//! An accepted answer: the datagrams, and the views of them.

use std::ops::Range;

use bytes::Bytes;

use super::lists::{Lists, Reply};
use super::wire::info::Info;
use super::wire::lists::{Entries, PLAYERS, PlayerList, PlayerRecord, RULES, RuleList, TYPE_AT};
use super::wire::strings::FString;
use super::wire::{Body, INFO, Response};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Charset, Completeness, MissingParts, Verification};
use crate::options::{Detail, QueryOptions};

/// The replies of one query. It owns the datagrams, and the views borrow from it.
///
/// ```
/// use queryport::Limits;
/// use queryport::ut2004::Answer;
///
/// let packet =
///     b"\x80\0\0\0\x02\x05\0\0\0\x04abc\0\x1c\0\0\0\xfd\xff\xff\xff\0\0\0\x20";
/// let answer = Answer::from_datagrams([packet], &Limits::default())?;
/// let player = answer.players().next().unwrap();
/// assert_eq!((player.player_num, player.score, player.team()), (5, -3, Some(0)));
/// assert!(!answer.completeness().is_complete(), "no info, no rules");
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Answer {
    /// All datagrams, see [`Self::datagrams`].
    pub(super) bytes: Bytes,
    /// Each datagram.
    places: Vec<Place>,
    pub(super) missing: MissingParts,
    /// Whether no rule is missing.
    pub(super) has_all_rules: bool,
    limits: Limits,
    /// The character set of the texts, if the caller knows it.
    pub(super) charset: Option<Charset>,
}

/// The parts of an answer that are missing. A short one has no lists.
fn missing_parts(lists: &Lists, detail: Detail) -> MissingParts {
    let of_lists = match detail {
        Detail::Short => MissingParts::NOTHING,
        Detail::Full => lists.missing(),
    };
    MissingParts {
        info: lists.info.as_ref().is_none_or(|info| info.is_cut),
        ..of_lists
    }
}

/// The place of a datagram in an answer.
#[derive(Debug, Clone)]
struct Place {
    /// Its range in the answer's bytes.
    range: Range<usize>,
    /// The number of whole entries in it.
    entry_count: usize,
}

impl Answer {
    pub(super) fn new(lists: Lists, options: &QueryOptions) -> Self {
        let missing = missing_parts(&lists, options.detail);
        let has_all_rules = lists.has_all_rules();
        let mut datagrams = lists.rules.into_datagrams();
        let info_at = if missing == MissingParts::NOTHING {
            0
        } else {
            datagrams.len()
        };
        datagrams.splice(info_at..info_at, lists.info);
        datagrams.extend(lists.players.into_datagrams());
        let length = datagrams.iter().map(|datagram| datagram.bytes.len()).sum();
        let mut bytes = Vec::with_capacity(length);
        let mut places = Vec::with_capacity(datagrams.len());
        for datagram in &datagrams {
            let start = bytes.len();
            bytes.extend_from_slice(&datagram.bytes);
            places.push(Place {
                range: start..bytes.len(),
                entry_count: datagram.entry_count,
            });
        }
        Self {
            bytes: bytes.into(),
            places,
            missing,
            has_all_rules,
            limits: options.limits,
            charset: options.charset,
        }
    }

    /// Reads captured datagrams, in order of arrival, whose request is unknown. Datagrams that are
    /// not a reply are skipped; the first info record counts.
    ///
    /// The answer is complete only if one round of requests can prove it: see the table of the
    /// [module](super). In other answers, a datagram can be lost and nothing shows it: then
    /// [`Part::End`](crate::Part::End) is missing. Lists with the info between them are not of one
    /// round. Where several replies were captured, the first version of each datagram counts.
    ///
    /// # Errors
    /// The error of the last datagram, if no datagram is a reply.
    pub fn from_datagrams(
        datagrams: impl IntoIterator<Item: AsRef<[u8]>>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut lists = Lists::default();
        lists.rules.begin();
        lists.players.begin();
        let no_datagram = ParseErrorKind::CutShort("the answer: no datagram");
        let mut last_error = ParseError::new(no_datagram, 0);
        let mut has_reply = false;
        let mut before_info = 0;
        for datagram in datagrams {
            let datagram = datagram.as_ref();
            let awaits_info = lists.info.is_none();
            let taken = match lists.take(datagram, awaits_info, limits) {
                // A reply to another request.
                Err(error) if matches!(error.kind, ParseErrorKind::Unexpected(_)) => {
                    Response::parse(datagram, limits).map(drop)
                }
                Ok(Reply::Info) => {
                    before_info = lists.size_of_lists().datagrams;
                    Ok(())
                }
                taken => taken.map(drop),
            };
            match taken {
                Ok(()) => has_reply = true,
                Err(error) => last_error = error,
            }
        }
        if !has_reply {
            return Err(last_error);
        }
        let all = lists.size_of_lists().datagrams;
        lists.end_only_round(before_info == 0 || before_info == all);
        Ok(Self::new(
            lists,
            &QueryOptions::default().with_limits(*limits),
        ))
    }

    /// The info record.
    pub fn info(&self) -> Option<Info<'_>> {
        let datagram = self
            .datagrams()
            .find(|datagram| datagram.get(TYPE_AT) == Some(&INFO))?;
        let response = Response::parse(datagram, &self.limits).ok()?;
        match response.body {
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
    pub(super) fn entries_of(&self, kind: u8) -> impl Iterator<Item = Entries<'_>> {
        let datagrams = self.datagrams().zip(&self.places);
        datagrams
            .filter_map(move |(datagram, place)| Entries::of(datagram, kind, place.entry_count))
    }

    /// The number of entries in all datagrams of this type.
    pub(super) fn entry_count(&self, kind: u8) -> usize {
        self.entries_of(kind).map(|entries| entries.count).sum()
    }

    /// The rules of all datagrams. The datagram that begins with `ServerMode` is first and the
    /// short one last; those between are in order of arrival.
    pub fn rules(&self) -> impl Iterator<Item = (FString<'_>, FString<'_>)> {
        self.entries_of(RULES)
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
        self.entries_of(PLAYERS)
            .flat_map(|entries| PlayerList(entries).iter())
    }

    /// The datagrams of the answer, unchanged: info, rules, players. In an incomplete answer, the
    /// info is between the lists.
    ///
    /// [`Self::from_datagrams`] reads them as one round of requests, although several may have been
    /// needed to prove that the answer is complete. The order keeps an incomplete answer incomplete.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let ranges = self.places.iter().map(|place| place.range.clone());
        ranges.map(|range| self.bytes.get(range).unwrap_or_default())
    }

    /// The parts that are missing or not confirmed.
    ///
    /// - [`Part::Info`](crate::Part::Info): no info arrived, so name, map and counts are unknown.
    ///   Or the info of version 0x80 ends too early, or with bytes that no known layout has.
    /// - [`Part::Rules`](crate::Part::Rules) and [`Part::Players`](crate::Part::Players): that list
    ///   did not arrive, or part of it is known to be missing. For example, fewer players are
    ///   listed than the server counts.
    /// - [`Part::End`](crate::Part::End): a list looks complete and nothing confirms it, or further
    ///   datagrams could follow the last one of every reply.
    pub fn completeness(&self) -> Completeness {
        self.missing.into()
    }

    /// Always [`Verification::Unavailable`]: a request contains nothing that a reply could quote.
    pub const fn verification(&self) -> Verification {
        Verification::Unavailable
    }
}
