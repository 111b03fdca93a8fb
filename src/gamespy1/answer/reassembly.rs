//! Joins datagrams to whole replies.

use std::ops::Range;

use bytes::Bytes;

use crate::error::{ParseError, ParseErrorKind};
use crate::gamespy1::engines::ConstantReply;
use crate::gamespy1::wire::response::{Counts, Response, Trailer};
use crate::gamespy1::wire::{Fields, RowKey, are_pairs, token, tokens};
use crate::limits::{Limits, to_u32};
use crate::model::completeness::{MissingParts, Part};
use crate::session::Fragments;

/// The joined pairs of a reply.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) bytes: Bytes,
    /// The datagrams of the reply, in order of arrival.
    pub(super) datagrams: Vec<Bytes>,
    /// See [`Fields::in_runs`].
    runs: Vec<Range<usize>>,
    /// See [`Fields::with_long_values`].
    has_long_values: bool,
    /// The server's number of the reply.
    pub(crate) reply_number: Option<u64>,
    /// The missing parts that numbers and end marks show.
    pub(crate) missing: MissingParts,
    pub(crate) progress: Progress,
}

impl Body {
    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields::of_body(&self.bytes, &self.runs, self.has_long_values)
    }
}

/// The replies to one query; several if its request was sent again.
#[derive(Debug, Clone)]
pub(crate) struct Reassembly {
    replies: Vec<Reply>,
    /// The number of replies that were requested. It bounds those with numbers; of the others, a
    /// new one begins only after a request has closed the former.
    expected: usize,
    /// The first datagram that exceeded a limit. It may have been part of the answer.
    refused: Option<Bytes>,
    limits: Limits,
}

/// How the datagrams of a reply are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// By M of `queryid` N.M, where N is the number of the reply.
    NumbersOf(u64),
    /// By M of `queryid` M. The reply has no number.
    Numbers,
    /// By arrival, the one with the end mark last.
    Arrival,
}

/// What the numbers and end marks of a reply show, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Progress {
    /// Fragments or the end are missing.
    Partial,
    /// The end has arrived, but another datagram could follow: the fragments before it have no
    /// numbers, every datagram has an end mark, or the reply has no number.
    Ended,
    /// Every fragment has arrived.
    Whole,
}

/// Datagrams that seem to belong to one reply.
#[derive(Debug, Clone)]
struct Reply {
    order: Order,
    /// Whether more datagrams may join. If the reply has no number, datagrams after a retry must
    /// not join.
    is_open: bool,
    parts: Fragments,
    is_zero_based: bool,
    /// Whether every datagram so far has an end mark without a value, as in Descent 3.
    every_part_is_marked: bool,
    /// Whether this is Serious Sam's status, by its end. One of its datagrams must then have the
    /// description of the server.
    needs_description: bool,
    counts: Counts,
}

impl Reassembly {
    pub(crate) const fn new(limits: Limits) -> Self {
        Self {
            replies: Vec::new(),
            expected: 0,
            refused: None,
            limits,
        }
    }

    /// A request was sent, for the first time or again: expects one more reply.
    pub(crate) fn expect_one_more(&mut self) {
        self.expected = self.expected.saturating_add(1);
        for reply in &mut self.replies {
            reply.is_open &= matches!(reply.order, Order::NumbersOf(_));
        }
    }

    /// Closes all replies: a different request follows, whose reply must not join them.
    pub(crate) fn close(&mut self) {
        self.replies
            .iter_mut()
            .for_each(|reply| reply.is_open = false);
    }

    /// Takes a datagram. Returns the progress of its reply.
    pub(crate) fn insert(&mut self, datagram: &Bytes) -> Result<Progress, ParseError> {
        let response = Response::parse(datagram, &self.limits).inspect_err(|error| {
            if matches!(error.kind, ParseErrorKind::Limit { .. }) {
                self.refused.get_or_insert_with(|| datagram.clone());
            }
        })?;
        self.insert_response(datagram, &response)
    }

    fn insert_response(
        &mut self,
        datagram: &Bytes,
        response: &Response<'_>,
    ) -> Result<Progress, ParseError> {
        let trailer = response.trailer;
        let body = datagram.slice(response.body_range());
        let unnumbered = unnumbered_reply_ended_by(trailer, &body);
        let number = if unnumbered.is_some() {
            None
        } else {
            trailer.fragment()
        };
        let order = match (number, trailer.reply()) {
            (Some(_), Some(reply)) => Order::NumbersOf(reply),
            (Some(_), None) => Order::Numbers,
            (None, _) => Order::Arrival,
        };
        let reply = self.find_or_begin(order, response.body_range().end)?;
        reply.is_zero_based |= trailer.is_zero_based();
        reply.every_part_is_marked &= trailer.is_open_mark();
        reply.needs_description |= unnumbered == Some(ConstantReply::Status);
        reply.insert(number, body, trailer.is_last(), datagram)
    }

    /// The reply that a datagram of this order joins; a new reply if another is expected. `offset`
    /// is the position for an error.
    fn find_or_begin(&mut self, order: Order, offset: usize) -> Result<&mut Reply, ParseError> {
        let numbered = self
            .replies
            .iter()
            .filter(|reply| reply.is_numbered())
            .count();
        // A server numbers all its datagrams or none, so the number of this one was lost.
        if order == Order::Arrival && numbered > 0 {
            return Err(ParseError::new(
                ParseErrorKind::Malformed("queryid"),
                offset,
            ));
        }
        let mismatch = ParseError::new(ParseErrorKind::Mismatch("reply number"), offset);
        let open = self
            .replies
            .iter()
            .position(|reply| reply.is_open && reply.order == order);
        if let Some(position) = open {
            return self.replies.get_mut(position).ok_or(mismatch);
        }
        if numbered >= self.expected {
            return Err(mismatch);
        }
        self.replies.push(Reply::new(order, &self.limits));
        self.replies.last_mut().ok_or(mismatch)
    }

    /// The replies that may be the answer, newest first.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = Body> {
        let replies = self
            .replies
            .iter()
            .rev()
            .filter(|reply| !reply.parts.is_empty());
        replies.map(|reply| {
            let mut body = reply.body();
            body.missing.end |= self.refused.is_some();
            body.datagrams.extend(self.refused.clone());
            body
        })
    }

    /// Whether two replies had the same fragments and no end mark.
    ///
    /// UT99 omits the mark if it lists fewer players than it counts, so another request would not
    /// help.
    pub(crate) fn repeats_without_end_mark(&self) -> bool {
        // A reply whose datagrams were all refused has no parts.
        let lacks_only_mark = |reply: &&Reply| {
            reply.is_numbered() && !reply.is_ended() && reply.gaps() == 0 && !reply.parts.is_empty()
        };
        let without_mark = self.replies.iter().filter(lacks_only_mark);
        has_repeats(without_mark.map(|reply| reply.parts.len()))
    }
}

impl Reply {
    fn new(order: Order, limits: &Limits) -> Self {
        Self {
            order,
            is_open: true,
            parts: Fragments::new(limits),
            is_zero_based: false,
            every_part_is_marked: true,
            needs_description: false,
            counts: Counts::default(),
        }
    }

    fn is_numbered(&self) -> bool {
        matches!(self.order, Order::NumbersOf(_) | Order::Numbers)
    }

    /// Adds a fragment of this datagram, with this number or without one.
    fn insert(
        &mut self,
        number: Option<u32>,
        body: Bytes,
        is_last: bool,
        datagram: &Bytes,
    ) -> Result<Progress, ParseError> {
        let number = number.unwrap_or_else(|| self.own_number(&body, is_last));
        let mut counts = self.counts;
        if !self.parts.contains(number) {
            let earlier = self.parts.iter().map(|(_, part)| &part[..]);
            counts = counts.add(&body, earlier, &self.parts.limits)?;
        }
        self.parts
            .insert_part(number, body, is_last, datagram.clone())?;
        // A fragment that was refused is not counted.
        self.counts = counts;
        Ok(self.progress())
    }

    /// The number of a datagram that has none. The end comes last, and a copy has the number of its
    /// original. Others are numbered in order of arrival.
    fn own_number(&self, body: &Bytes, is_last: bool) -> u32 {
        if is_last {
            return u32::MAX;
        }
        let original = self.parts.iter().find(|(_, part)| *part == body);
        match original {
            Some((number, _)) => number,
            None => to_u32(self.parts.len()),
        }
    }

    /// What numbers and end marks show.
    fn progress(&self) -> Progress {
        // Two mixed replies each lack at least one fragment.
        let is_partial = !self.is_ended() || self.gaps() > 0 || self.parts.is_mixed();
        if is_partial {
            return Progress::Partial;
        }
        let shows_losses = self.is_numbered() && self.has_end_mark();
        // Without reply numbers, a fragment of another reply can still contradict these.
        let can_be_contradicted = self.order == Order::Numbers && self.parts.len() > 1;
        if shows_losses && !can_be_contradicted {
            Progress::Whole
        } else {
            Progress::Ended
        }
    }

    /// Whether a datagram has the end mark of the whole reply. A mark without a value does not
    /// count, because it is in every datagram.
    fn has_end_mark(&self) -> bool {
        self.parts.end_number().is_some()
    }

    /// Whether the last fragment has arrived, judging by end marks.
    fn is_ended(&self) -> bool {
        // If every fragment has a mark without a value, any of them may be the last.
        self.has_end_mark() || self.every_part_is_marked
    }

    /// The number of the first fragment.
    fn first_number(&self) -> u32 {
        if self.is_zero_based { 0 } else { 1 }
    }

    /// How many fragments are missing, judging by their numbers.
    fn gaps(&self) -> u32 {
        if self.is_numbered() {
            self.parts.missing(self.first_number())
        } else {
            0
        }
    }

    fn body(&self) -> Body {
        let bytes = self.parts.join();
        let gaps = self.gaps();
        let has_long_values = gaps == 0 && !are_pairs(&bytes);
        let fragments = gaps.max(u32::from(self.parts.is_mixed()));
        let lacks_first = self.needs_description && !self.has_description();
        Body {
            bytes,
            datagrams: self.parts.datagrams().to_vec(),
            runs: if gaps > 0 { self.runs() } else { Vec::new() },
            has_long_values,
            reply_number: match self.order {
                Order::NumbersOf(reply) => Some(reply),
                Order::Numbers | Order::Arrival => None,
            },
            missing: MissingParts {
                fragments: u16::try_from(fragments).unwrap_or(u16::MAX),
                end: !self.is_ended(),
                // The first fragment has the description, the count of players and some players.
                info: lacks_first,
                players: lacks_first || self.lost_pair_of(Part::Players),
                rules: self.lost_pair_of(Part::Rules),
                ..MissingParts::NOTHING
            },
            progress: self.progress(),
        }
    }

    /// Whether the server lost a pair at the end of this part. Descent 3 begins a datagram only
    /// where a pair does not fit, and loses that pair (DescentDevelopers/Descent3,
    /// Descent3/gamespy.cpp, `gspy_AddToBuffer`).
    fn lost_pair_of(&self, part: Part) -> bool {
        if !self.every_part_is_marked {
            return false;
        }
        let full = self.parts.len().saturating_sub(1);
        let mut full_parts = self.parts.iter().take(full);
        full_parts.any(|(_, body)| last_part(Fields::new(body)) == part)
    }

    /// Whether a fragment has the server's description.
    fn has_description(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|(_, part)| begins_with_description(Fields::new(part)))
    }

    /// Start and end of each run of joined bytes without a gap. A value whose key is in a missing
    /// fragment is in no run.
    fn runs(&self) -> Vec<Range<usize>> {
        let mut runs = Vec::new();
        let mut start = 0_usize;
        let mut end = 0_usize;
        let mut expected = self.first_number();
        for (number, body) in self.parts.iter() {
            if number != expected {
                runs.push(start..end);
                start = end.saturating_add(self.first_key_start(body));
            }
            end = end.saturating_add(body.len());
            expected = number.saturating_add(1);
        }
        runs.push(start..end);
        runs
    }

    /// The start of the first key in a fragment whose predecessor is missing.
    ///
    /// SWAT 4's AdminMod cuts between a key and its value. No other form numbers fragments with
    /// M alone, from 0. The keys are then the odd or the even tokens, whichever contain more keys
    /// of rows.
    fn first_key_start(&self, body: &[u8]) -> usize {
        let cuts_pairs = self.is_zero_based && self.order == Order::Numbers;
        if !cuts_pairs {
            return 0;
        }
        let Ok((after_first, _)) = token(body) else {
            return 0;
        };
        let begins_with_value = row_keys_from(1, body) > row_keys_from(0, body);
        if !begins_with_value {
            return 0;
        }
        // The separator before a key belongs to the key.
        body.len().saturating_sub(after_first.len())
    }
}

/// The number of keys of rows among every other token, from the one at this position on.
fn row_keys_from(first: usize, body: &[u8]) -> usize {
    let keys = tokens(body).skip(first).step_by(2);
    keys.filter(|key| RowKey::parse(key).is_some()).count()
}

/// The reply that a datagram ends, if the datagrams before it have no numbers.
///
/// Serious Sam ends each status with 333.1, and each list of players with 6.1. Over 2,048 bytes,
/// only the last datagram has them:
///
/// ```text
/// \gamename\serioussam\hostname\…\player_0\…\ping_8\40
/// \player_9\…\final\\queryid\333.1
/// ```
///
/// There 333.1 does not number a fragment, and the datagrams are ordered by arrival. `None` for any
/// other number, which orders as usual. Also `None` if this datagram is the whole reply, because it
/// is empty or has the description: then "fragment 1, and the last" is true.
fn unnumbered_reply_ended_by(trailer: Trailer, body: &[u8]) -> Option<ConstantReply> {
    let Trailer::MarkFirst { reply, fragment } = trailer else {
        return None;
    };
    let constant = ConstantReply::of(reply, fragment)?;
    let is_whole_reply = body.is_empty() || begins_with_description(Fields::new(body));
    if is_whole_reply {
        return None;
    }
    Some(constant)
}

/// Whether a datagram has the server's description before its first row. Later it does not count:
/// in a player's text any key can occur.
fn begins_with_description(fields: Fields<'_>) -> bool {
    let mut before_rows = fields
        .pairs()
        .take_while(|(key, _)| RowKey::parse(key).is_none());
    before_rows.any(|(key, _)| key.eq_ignore_ascii_case(b"hostname"))
}

/// The part of the answer that the last pair belongs to.
pub(super) fn last_part(fields: Fields<'_>) -> Part {
    let last_row = fields
        .pairs()
        .last()
        .and_then(|(key, _)| RowKey::parse(key));
    match last_row {
        Some(row) if row.is_team => Part::Teams,
        Some(_) => Part::Players,
        None => Part::Rules,
    }
}

/// Whether two items are equal.
pub(super) fn has_repeats<T: Ord>(items: impl Iterator<Item = T>) -> bool {
    let mut items: Vec<_> = items.collect();
    items.sort_unstable();
    !items.is_sorted_by(|a, b| a < b)
}
