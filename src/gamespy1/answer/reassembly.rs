//! Reassembly: from datagrams to whole replies.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::error::{ParseError, ParseErrorKind};
use crate::gamespy1::wire::fields::{Fields, Tokens, count_bound};
use crate::gamespy1::wire::response::{Response, check_counts, count_names};
use crate::gamespy1::wire::row_key::RowKey;
use crate::gamespy1::wire::trailer::{self, Trailer};
use crate::limits::Limits;
use crate::model::Missing;
use crate::session::Fragments;
use crate::text::small_bytes::{locate, share};

/// The joined pairs of a reply.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) bytes: Bytes,
    /// See [`Fields::runs`].
    pub(crate) runs: Vec<(usize, usize)>,
    pub(crate) reply: Option<u64>,
    pub(crate) missing: Missing,
    /// Whether numbers and an end mark prove that nothing follows or is missing in between.
    pub(crate) is_proven: bool,
}

impl Body {
    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields { raw: &self.bytes, runs: &self.runs }
    }
}

/// The replies to one request: several when it was sent again, kept apart by their numbers.
#[derive(Debug, Clone)]
pub(crate) struct Reassembly {
    numbered: Vec<Numbered>,
    unnumbered: Unnumbered,
    /// The parts of the reply without numbers, by their bytes: a copy of one that is here changes nothing.
    parts: BTreeSet<Bytes>,
    /// The longest reply without numbers to an earlier try.
    earlier: Unnumbered,
    /// How many replies were asked for.
    expected: usize,
    limits: Limits,
}

/// How far the replies are after a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More must come.
    Partial,
    /// The end is here, as far as it can be known: what came before it is not numbered, or every datagram has an end
    /// mark.
    Ended,
    /// Every fragment of a reply is here.
    Complete,
}

/// A reply whose fragments are numbered.
#[derive(Debug, Clone)]
struct Numbered {
    /// N of `queryid` N.M. Dialects without it have one reply at a time.
    reply: Option<u64>,
    /// Whether more fragments may join. Without a reply number, those of a retry must not.
    is_open: bool,
    fragments: Fragments,
    zero_based: bool,
    /// Whether an end mark came that ends the reply, and not only its datagram.
    has_end: bool,
    /// Whether the server cuts between any two tokens, and not only between pairs.
    splits_pairs: bool,
    pairs: usize,
    /// Names of players in the fragments that came after the pairs had exceeded the limit of players. Before, there
    /// cannot be more names than the limit.
    names: usize,
}

/// A reply without numbers.
#[derive(Debug, Clone)]
struct Unnumbered {
    /// In order of arrival, the one with the end mark last.
    parts: Fragments,
    /// Whether the sections are numbered and the text is cut every 512 bytes, as 333networks' masters do
    /// (Masterserver-Perl).
    splits_tokens: bool,
    /// Whether the last part says that this is Serious Sam's status, which begins with the server's description.
    is_described: bool,
    /// Whether the sections had their end when the latest part came.
    has_sections_end: bool,
    /// How often all parts were read for that.
    readings: u8,
}

/// Most readings of all parts of a reply of sections before its time is over: a server could bring one about with every
/// datagram.
const MAX_READINGS: u8 = 4;

/// The constant reply numbers of Serious Sam's status and players (Croteam-official/Serious-Engine, GameAgent.cpp). Only
/// the last datagram has one, always with fragment number 1; those before it have no number at all.
const SERIOUS_SAM: [Option<u64>; 2] = [SERIOUS_SAM_STATUS, Some(6)];
const SERIOUS_SAM_STATUS: Option<u64> = Some(333);

impl Reassembly {
    pub(crate) fn new(limits: Limits) -> Self {
        let (unnumbered, earlier) = (Unnumbered::new(&limits), Unnumbered::new(&limits));
        Self { numbered: Vec::new(), unnumbered, parts: BTreeSet::new(), earlier, expected: 0, limits }
    }

    /// The request is sent, for the first time or again: one more reply may come.
    pub(crate) fn expect_one_more(&mut self) {
        self.expected = self.expected.saturating_add(1);
        for reply in &mut self.numbered {
            reply.is_open = reply.reply.is_some();
        }
        self.parts.clear();
        let before = std::mem::replace(&mut self.unnumbered, Unnumbered::new(&self.limits));
        if before.rank() > self.earlier.rank() {
            self.earlier = before;
        }
    }

    /// Takes a datagram.
    pub(crate) fn insert(&mut self, datagram: &Bytes) -> Result<Progress, ParseError> {
        let limits = self.limits;
        if self.unnumbered.splits_tokens && self.numbered.is_empty() {
            return self.unnumbered.insert(datagram.clone(), false, &mut self.parts);
        }
        let response = Response::parse(datagram, &limits)?;
        let trailer = response.trailer();
        let body = share(datagram, response.raw());
        if trailer::inner_fragments(&body).next().is_some() {
            self.unnumbered.splits_tokens = true;
            return self.unnumbered.insert(datagram.clone(), false, &mut self.parts);
        }
        let end = || locate(datagram, response.raw()).unwrap_or_default().end;
        let is_tail =
            trailer.final_first && trailer.fragment == Some(1) && SERIOUS_SAM.contains(&trailer.reply);
        let is_tail = is_tail && !body.is_empty() && response.get("hostname").is_none();
        let Some(fragment) = trailer.fragment.filter(|_| !is_tail) else {
            if !self.numbered.is_empty() {
                return Err(ParseError::new(ParseErrorKind::Malformed("queryid"), end()));
            }
            self.unnumbered.is_described |= is_tail && trailer.reply == SERIOUS_SAM_STATUS;
            return self.unnumbered.insert(body, trailer.is_final, &mut self.parts);
        };
        let reply = self
            .reply(trailer.reply)
            .ok_or_else(|| ParseError::new(ParseErrorKind::Mismatch("reply number"), end()))?;
        reply.insert(fragment, body, trailer, &limits)?;
        Ok(match (reply.is_complete(), reply.has_end) {
            (true, true) => Progress::Complete,
            (true, false) => Progress::Ended,
            (false, _) => Progress::Partial,
        })
    }

    /// The reply with this number, a new one where another may come.
    fn reply(&mut self, number: Option<u64>) -> Option<&mut Numbered> {
        let found = self.numbered.iter().position(|reply| reply.reply == number && reply.is_open);
        let position = found.unwrap_or(self.numbered.len());
        if found.is_none() && self.numbered.len() < self.expected {
            self.numbered.push(Numbered::new(number, &self.limits));
        }
        self.numbered.get_mut(position)
    }

    /// The replies that may be the answer, the likelier one first: a complete one, else the one with the most fragments;
    /// without numbers the longer one of two.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = Body> {
        let complete = self.numbered.iter().find(|reply| reply.is_complete() && reply.has_end);
        let longest = || self.numbered.iter().max_by_key(|reply| reply.fragments.len());
        let numbered = complete.or_else(longest).filter(|reply| !reply.fragments.is_empty());
        let mut others = [&self.unnumbered, &self.earlier];
        others.sort_by_key(|reply| std::cmp::Reverse(reply.rank()));
        // Where the text is cut anywhere, a loss shows in nothing but the length.
        let count = if self.unnumbered.splits_tokens || self.earlier.splits_tokens { 1 } else { 2 };
        let others = others.into_iter().take(count).filter(move |_| numbered.is_none());
        numbered.map(Numbered::body).into_iter().chain(others.filter_map(|reply| reply.body(&self.limits)))
    }

    /// Whether two replies came to the same: every fragment up to the same number, and no end mark. UT99 omits the
    /// mark when it lists fewer players than it counts; asking once more would change nothing.
    pub(crate) fn lacks_end_mark(&self) -> bool {
        let without_end = |reply: &&Numbered| {
            let fragments = &reply.fragments;
            fragments.last().is_none() && fragments.missing(reply.base()) == 0 && !fragments.is_empty()
        };
        let mut lengths = self.numbered.iter().filter(without_end).map(|reply| reply.fragments.len());
        lengths.next().zip(lengths.next()).is_some_and(|(first, second)| first == second)
    }
}

impl Numbered {
    fn new(reply: Option<u64>, limits: &Limits) -> Self {
        Self {
            reply,
            is_open: true,
            fragments: Fragments::new(limits),
            zero_based: false,
            has_end: false,
            splits_pairs: false,
            pairs: 0,
            names: 0,
        }
    }

    /// The number of the first fragment.
    fn base(&self) -> u32 {
        u32::from(!self.zero_based)
    }

    fn insert(
        &mut self,
        number: u32,
        body: Bytes,
        trailer: Trailer,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        self.zero_based |= trailer.zero_based;
        self.has_end |= trailer.is_final && !trailer.is_unclosed;
        self.splits_pairs |= trailer.zero_based && trailer.reply.is_none();
        if self.fragments.get(number).is_some() {
            return Ok(());
        }
        let pairs = self.pairs.saturating_add(count_bound(&body));
        if pairs > limits.max_rules() {
            return Err(ParseError::limit("pairs", limits.max_rules(), 0));
        }
        let counts_names = pairs > limits.max_players();
        let names = self.names.saturating_add(if counts_names { count_names(&body) } else { 0 });
        if names > limits.max_players() {
            return Err(ParseError::limit("players", limits.max_players(), 0));
        }
        self.fragments.insert(number, body, trailer.is_final)?;
        (self.pairs, self.names) = (pairs, names);
        Ok(())
    }

    /// Every fragment is here, and none beyond the one with the end mark.
    fn is_complete(&self) -> bool {
        self.fragments.is_complete(self.base()) && !self.exceeds_its_end()
    }

    fn exceeds_its_end(&self) -> bool {
        self.fragments.last().is_some_and(|last| Some(last) != self.fragments.highest())
    }

    fn body(&self) -> Body {
        let gaps = self.fragments.missing(self.base());
        let missing = Missing {
            fragments: u16::try_from(gaps).unwrap_or(u16::MAX),
            end: self.fragments.last().is_none() || self.exceeds_its_end(),
            ..Missing::NOTHING
        };
        let runs = if gaps > 0 { self.runs() } else { Vec::new() };
        Body { bytes: joined(&self.fragments), runs, reply: self.reply, missing, is_proven: self.has_end }
    }

    /// Start and end of the runs between the gaps.
    fn runs(&self) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        let (mut start, mut end, mut expected) = (0_usize, 0_usize, self.base());
        for (number, body) in self.fragments.iter() {
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
    /// key and its value, the keys are the tokens of which more are keys of rows.
    fn first_key(&self, body: &[u8]) -> usize {
        if !self.splits_pairs {
            return 0;
        }
        let mut tokens = Tokens::new(body);
        let (mut first_is_key, mut second_is_key) = (0_usize, 0_usize);
        let mut second = None;
        while let Some(token) = tokens.token() {
            first_is_key = first_is_key.saturating_add(usize::from(RowKey::parse(token).is_some()));
            let Some(token) = tokens.token() else { break };
            second_is_key = second_is_key.saturating_add(usize::from(RowKey::parse(token).is_some()));
            second.get_or_insert(token);
        }
        let second = second.filter(|_| second_is_key > first_is_key).and_then(|token| locate(body, token));
        // The separator before it belongs to it.
        second.map_or(0, |second| second.start.saturating_sub(1))
    }
}

impl Unnumbered {
    fn new(limits: &Limits) -> Self {
        Self {
            parts: Fragments::new(limits),
            splits_tokens: false,
            is_described: false,
            has_sections_end: false,
            readings: 0,
        }
    }

    /// Of two replies the one with its end, then the longer one.
    fn rank(&self) -> (bool, usize) {
        (self.parts.last().is_some(), self.parts.iter().map(|(_, part)| part.len()).sum())
    }

    fn insert(
        &mut self,
        part: Bytes,
        is_final: bool,
        known: &mut BTreeSet<Bytes>,
    ) -> Result<Progress, ParseError> {
        if !known.contains(&part) {
            let is_last = is_final && self.parts.last().is_none();
            let arrived = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
            self.parts.insert(if is_last { u32::MAX } else { arrived }, part.clone(), is_last)?;
            known.insert(part);
            self.has_sections_end = self.splits_tokens && self.ends_sections(arrived);
        }
        let is_ended = self.parts.last().is_some() || self.has_sections_end;
        Ok(if is_ended { Progress::Ended } else { Progress::Partial })
    }

    /// Whether the sections end with this part, the latest. Read only where it, or it and the one before, hold the end mark.
    fn ends_sections(&mut self, latest: u32) -> bool {
        let before = latest.checked_sub(1).and_then(|before| self.parts.get(before));
        let tail: Vec<&[u8]> = before.into_iter().chain(self.parts.get(latest)).map(AsRef::as_ref).collect();
        if memchr::memmem::rfind(&tail.concat(), br"\final").is_none() || self.readings >= MAX_READINGS {
            return false;
        }
        self.readings = self.readings.saturating_add(1);
        sections_end(&joined(&self.parts))
    }

    fn body(&self, limits: &Limits) -> Option<Body> {
        if self.parts.is_empty() {
            return None;
        }
        let mut bytes = joined(&self.parts);
        let mut is_ended = self.parts.last().is_some();
        if self.splits_tokens {
            is_ended = sections_end(&bytes);
            let (body, _) = trailer::split(&bytes);
            bytes = share(&bytes, body);
        }
        check_counts(&bytes, limits).ok()?;
        let missing = Missing { end: !is_ended, ..Missing::NOTHING };
        let mut body = Body { bytes, runs: Vec::new(), reply: None, missing, is_proven: false };
        if self.is_described && body.fields().get("hostname").is_none() {
            // The first part is lost, with the description, the count of players and some of these.
            (body.missing.info, body.missing.players) = (true, true);
        }
        Some(body)
    }
}

/// All fragments in one buffer; a single one is kept as it came.
fn joined(fragments: &Fragments) -> Bytes {
    let mut parts = fragments.iter().map(|(_, body)| body);
    match (parts.next(), parts.next()) {
        (Some(only), None) => only.clone(),
        _ => fragments.iter().map(|(_, body)| body.as_ref()).collect::<Vec<_>>().concat().into(),
    }
}

/// Whether a text of numbered sections ends with the end mark, and the sections are numbered 1, 2, 3….
fn sections_end(text: &[u8]) -> bool {
    let (body, trailer) = trailer::split(text);
    let numbers = trailer::inner_fragments(body).chain(trailer.fragment);
    trailer.is_final && numbers.zip(1_u32..).all(|(number, expected)| number == expected)
}
