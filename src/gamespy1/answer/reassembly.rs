//! Reassembly: from datagrams to whole replies.

use std::cmp::Reverse;

use bytes::Bytes;

use crate::error::{ParseError, ParseErrorKind};
use crate::gamespy1::wire::response::{Response, count, is_sectioned, split};
use crate::gamespy1::wire::{Fields, RowKey, token, tokens};
use crate::limits::Limits;
use crate::model::Completeness;
use crate::session::Fragments;
use crate::text::share;

/// The joined pairs of a reply.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) bytes: Bytes,
    /// See [`Fields::runs`].
    pub(crate) runs: Vec<(usize, usize)>,
    pub(crate) reply: Option<u64>,
    pub(crate) missing: Completeness,
    /// Whether numbers and an end mark prove that nothing follows or is missing in between.
    pub(crate) is_proven: bool,
}

impl Body {
    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields { raw: &self.bytes, runs: &self.runs }
    }
}

/// The replies to one query: several when its request was sent again.
#[derive(Debug, Clone)]
pub(crate) struct Reassembly {
    replies: Vec<Reply>,
    /// How many replies were asked for.
    expected: usize,
    /// Whether a datagram was refused for its size: it may be a part of the answer.
    exceeds: bool,
    limits: Limits,
}

/// How far the replies are after a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More must come.
    Partial,
    /// The end is here, as far as it can be known: nothing before it is numbered, every datagram has an end mark, or the
    /// reply has no number.
    Ended,
    /// Every fragment of a reply is here.
    Complete,
}

/// What the order of a reply's datagrams is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The M of `queryid` N.M. N is the number of the reply; some dialects have M alone.
    Numbers(Option<u64>),
    /// Their arrival, the one with the end mark last.
    Arrival,
    /// Their arrival: a text of numbered sections that is cut every 512 bytes, as 333networks' masters do
    /// (Masterserver-Perl).
    Sections,
}

/// Datagrams that may be of one reply.
#[derive(Debug, Clone)]
struct Reply {
    order: Order,
    /// Whether more datagrams may join. Where the reply has no number, those of a retry must not.
    is_open: bool,
    parts: Fragments,
    limits: Limits,
    zero_based: bool,
    /// Whether every datagram has an end mark.
    ends_each: bool,
    /// Whether this is Serious Sam's status, which begins with the server's description.
    is_described: bool,
    /// Pairs, and names of players in the datagrams that came after the pairs had exceeded the limit of players. Before, there
    /// cannot be more names than the limit.
    counts: (usize, usize),
}

/// The constant reply numbers of Serious Sam's status and players (Croteam-official/Serious-Engine, GameAgent.cpp). Only
/// the last datagram has one, always with fragment number 1; those before it have no number at all.
const SERIOUS_SAM: [Option<u64>; 2] = [SERIOUS_SAM_STATUS, Some(6)];
const SERIOUS_SAM_STATUS: Option<u64> = Some(333);

impl Reassembly {
    pub(crate) const fn new(limits: Limits) -> Self {
        Self { replies: Vec::new(), expected: 0, exceeds: false, limits }
    }

    /// The request is sent, for the first time or again: one more reply may come.
    pub(crate) fn expect_one_more(&mut self) {
        self.expected = self.expected.saturating_add(1);
        for reply in &mut self.replies {
            reply.is_open = matches!(reply.order, Order::Numbers(Some(_)));
        }
    }

    /// Takes a datagram.
    pub(crate) fn insert(&mut self, datagram: &Bytes) -> Result<Progress, ParseError> {
        if self.is_open(Order::Sections) {
            return self.insert_text(datagram);
        }
        let response = Response::parse(datagram, &self.limits)
            .inspect_err(|error| self.exceeds |= matches!(error.kind, ParseErrorKind::Limit { .. }))?;
        let trailer = response.trailer;
        let is_begun = self.is_open(Order::Arrival) || self.is_open(Order::Numbers(None));
        if !is_begun && is_sectioned(response.raw(), &trailer) {
            return self.insert_text(datagram);
        }
        let body = share(datagram, response.raw());
        let is_tail =
            trailer.final_first && trailer.fragment == Some(1) && SERIOUS_SAM.contains(&trailer.reply);
        let is_tail = is_tail && !body.is_empty() && !is_described(Fields::new(&body));
        let number = trailer.fragment.filter(|_| !is_tail);
        let order = if number.is_some() { Order::Numbers(trailer.reply) } else { Order::Arrival };
        let reply = self.reply(order).map_err(|kind| ParseError::new(kind, response.end()))?;
        reply.zero_based |= trailer.zero_based;
        reply.ends_each &= trailer.is_unclosed;
        reply.is_described |= is_tail && trailer.reply == SERIOUS_SAM_STATUS;
        reply.insert(number, body, trailer.is_final && !trailer.is_unclosed)
    }

    /// Takes a part of a text of sections: from the first on, every datagram until the next request.
    fn insert_text(&mut self, datagram: &Bytes) -> Result<Progress, ParseError> {
        let text = self.reply(Order::Sections).map_err(|kind| ParseError::new(kind, 0))?;
        text.insert(None, datagram.clone(), datagram.ends_with(br"\final\"))
    }

    fn is_open(&self, order: Order) -> bool {
        self.replies.iter().any(|reply| reply.is_open && reply.order == order)
    }

    /// The reply that a datagram of this order joins, a new one where another may come.
    fn reply(&mut self, order: Order) -> Result<&mut Reply, ParseErrorKind> {
        let numbered = self.replies.iter().filter(|reply| matches!(reply.order, Order::Numbers(_))).count();
        if order == Order::Arrival && numbered > 0 {
            return Err(ParseErrorKind::Malformed("queryid"));
        }
        let found = self.replies.iter().position(|reply| reply.is_open && reply.order == order);
        let position = found.unwrap_or(self.replies.len());
        if found.is_none() && numbered < self.expected {
            self.replies.push(Reply::new(order, self.limits));
        }
        self.replies.get_mut(position).ok_or(ParseErrorKind::Mismatch("reply number"))
    }

    /// The replies that may be the answer, the likelier one first: those with all datagrams, then the longer ones. Where the
    /// text is cut anywhere, a loss shows in nothing but the length, and where datagrams are numbered, the first is the best.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = Body> {
        let mut replies: Vec<&Reply> = self.replies.iter().filter(|reply| !reply.parts.is_empty()).collect();
        replies.sort_by_key(|reply| Reverse(reply.rank()));
        let is_first_best = replies.first().is_some_and(|first| first.order != Order::Arrival);
        replies.truncate(if is_first_best { 1 } else { replies.len() });
        replies.into_iter().map(|reply| {
            let mut body = reply.body();
            body.missing.end |= self.exceeds;
            body
        })
    }

    /// Whether two replies came to the same: every fragment up to the same number, and no end mark. UT99 omits the
    /// mark when it lists fewer players than it counts; asking once more would change nothing.
    pub(crate) fn lacks_end_mark(&self) -> bool {
        let without_end = |reply: &&Reply| {
            let is_numbered = matches!(reply.order, Order::Numbers(_)) && !reply.ends_each;
            let parts = &reply.parts;
            is_numbered && parts.last().is_none() && parts.missing(reply.base()) == 0 && !parts.is_empty()
        };
        let mut lengths = self.replies.iter().filter(without_end).map(|reply| reply.parts.len());
        lengths.next().zip(lengths.next()).is_some_and(|(first, second)| first == second)
    }
}

impl Reply {
    fn new(order: Order, limits: Limits) -> Self {
        Self {
            order,
            is_open: true,
            parts: Fragments::new(&limits),
            limits,
            zero_based: false,
            ends_each: true,
            is_described: false,
            counts: (0, 0),
        }
    }

    /// The number of the first datagram.
    fn base(&self) -> u32 {
        u32::from(!self.zero_based)
    }

    /// Takes the body of a datagram with this number, or with none.
    fn insert(&mut self, number: Option<u32>, body: Bytes, is_last: bool) -> Result<Progress, ParseError> {
        let arrived = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        let number = match number {
            Some(number) => number,
            None if is_last && self.order == Order::Arrival => u32::MAX,
            None => self.parts.iter().find(|(_, part)| **part == body).map_or(arrived, |(number, _)| number),
        };
        let mut counts = self.counts;
        if !self.parts.contains(number) {
            counts = count(&body, counts, &self.limits)?;
        }
        self.parts.insert(number, body, is_last)?;
        self.counts = counts;
        Ok(self.progress())
    }

    /// Whether everything is here and of one reply, as far as numbers and end marks tell.
    fn is_whole(&self) -> bool {
        match self.order {
            Order::Numbers(_) if self.ends_each => {
                self.parts.missing(self.base()) == 0 && !self.parts.is_mixed()
            }
            Order::Numbers(_) => self.parts.is_complete(self.base()),
            Order::Arrival | Order::Sections => self.parts.last().is_some() && !self.parts.is_mixed(),
        }
    }

    /// Whether numbers and an end mark prove that nothing follows or is missing in between.
    fn is_proven(&self) -> bool {
        matches!(self.order, Order::Numbers(_)) && self.parts.last().is_some()
    }

    fn progress(&self) -> Progress {
        // Several parts without a reply number: one of another reply, still on its way, can contradict them.
        let is_bound = self.order != Order::Numbers(None) || self.parts.len() == 1;
        match (self.is_whole(), self.is_proven() && is_bound) {
            (true, true) => Progress::Complete,
            (true, false) => Progress::Ended,
            (false, _) => Progress::Partial,
        }
    }

    /// How likely it is the answer, compared with another reply.
    fn rank(&self) -> (bool, bool, usize) {
        let is_whole = self.is_whole() && self.order != Order::Sections;
        let length = self.parts.iter().map(|(_, part)| part.len()).sum();
        (self.order != Order::Arrival, is_whole, length)
    }

    fn body(&self) -> Body {
        let mut bytes = self.parts.join();
        let (mut reply, mut gaps, mut is_ended) = (None, 0, self.parts.last().is_some());
        match self.order {
            Order::Numbers(number) => {
                (reply, gaps) = (number, self.parts.missing(self.base()));
                is_ended |= self.ends_each;
            }
            Order::Arrival => {}
            Order::Sections => {
                let (body, trailer) = split(&bytes);
                is_ended = trailer.is_final && trailer.reply.is_some() && is_sectioned(body, &trailer);
                bytes = share(&bytes, body);
            }
        }
        let runs = if gaps > 0 { self.runs() } else { Vec::new() };
        // Of two mixed replies each lacks one of the datagrams.
        let fragments = gaps.max(u32::from(self.parts.is_mixed()));
        let fragments = u16::try_from(fragments).unwrap_or(u16::MAX);
        let missing = Completeness { fragments, end: !is_ended, ..Completeness::COMPLETE };
        let mut body = Body { bytes, runs, reply, missing, is_proven: self.is_proven() };
        if self.is_described && !self.parts.iter().any(|(_, part)| is_described(Fields::new(part))) {
            // The first part is lost, with the description, the count of players and some of these.
            (body.missing.info, body.missing.players) = (true, true);
        }
        body
    }

    /// Start and end of the runs between the gaps.
    fn runs(&self) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        let (mut start, mut end, mut expected) = (0_usize, 0_usize, self.base());
        for (number, body) in self.parts.iter() {
            if number != expected {
                runs.push((start, end));
                start = end.saturating_add(self.first_key(body));
            }
            end = end.saturating_add(body.len());
            expected = number.saturating_add(1);
        }
        runs.push((start, end));
        runs.retain(|(start, end)| start < end);
        runs
    }

    /// Where the first key of a fragment begins when the fragment before it is missing. Where a server cuts between a
    /// key and its value, the keys are those tokens, odd or even, that have more keys of rows.
    fn first_key(&self, body: &[u8]) -> usize {
        if !self.zero_based || self.order != Order::Numbers(None) {
            return 0;
        }
        let Ok((rest, _)) = token(body) else { return 0 };
        let rows =
            |first| tokens(body).skip(first).step_by(2).filter(|key| RowKey::parse(key).is_some()).count();
        // The separator before a key belongs to it.
        if rows(1) > rows(0) { body.len().saturating_sub(rest.len()) } else { 0 }
    }
}

/// Whether a datagram has the server's description, before its first row: a player's text can hold any key.
fn is_described(fields: Fields<'_>) -> bool {
    let mut before_rows = fields.pairs().take_while(|(key, _)| RowKey::parse(key).is_none());
    before_rows.any(|(key, _)| key.eq_ignore_ascii_case(b"hostname"))
}
