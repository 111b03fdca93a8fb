//! From datagrams to whole replies.

use bytes::{Bytes, BytesMut};

use super::answer::Body;
use super::fields::{Tokens, count_bound};
use super::response::{Response, check_counts, count_names};
use super::row_key::RowKey;
use super::trailer;
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::Missing;
use crate::session::Fragments;

/// The replies to one question: several when the question was sent again, each kept apart by its number.
#[derive(Debug, Clone)]
pub(crate) struct Replies {
    numbered: Vec<Numbered>,
    loose: Loose,
    /// How many replies may have been asked for.
    expected: usize,
    limits: Limits,
}

/// What a datagram made of the replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More must come.
    More,
    /// The end is here, and nothing numbers what came before it.
    Unnumbered,
    /// A reply is whole.
    Whole,
}

/// A reply whose fragments carry numbers.
#[derive(Debug, Clone)]
struct Numbered {
    /// N of `queryid` N.M; dialects without it have one reply at a time.
    reply: Option<u64>,
    /// Whether more fragments may join. Without a reply number, those of a second try must not.
    open: bool,
    fragments: Fragments,
    zero_based: bool,
    /// Whether fragments are cut between any two tokens, and not between pairs.
    cut_anywhere: bool,
    pairs: usize,
    names: usize,
}

/// A reply without numbers: in order of arrival.
#[derive(Debug, Clone, Default)]
struct Loose {
    parts: Vec<Bytes>,
    /// Which part has the end mark.
    last: Option<usize>,
    /// 333networks' masters: sections are numbered, and the text is cut every 512 bytes whatever stands there.
    chopped: bool,
}

impl Replies {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { numbered: Vec::new(), loose: Loose::default(), expected: 0, limits }
    }

    /// The question goes out, for the first time or again: one more reply may come.
    pub(crate) fn expect_one_more(&mut self) {
        self.expected = self.expected.saturating_add(1);
        for reply in &mut self.numbered {
            reply.open = reply.reply.is_some();
        }
        if self.loose.last.is_none() {
            self.loose = Loose::default();
        }
    }

    /// Takes a datagram.
    pub(crate) fn insert(&mut self, datagram: &Bytes) -> Result<Progress, ParseError> {
        if self.loose.chopped && self.numbered.is_empty() {
            return self.loose.push(datagram.clone(), false, &self.limits);
        }
        let response = Response::parse(datagram, &self.limits)?;
        let trailer = response.trailer();
        let body = datagram.slice(response.body_range());
        if trailer::inner_fragments(&body).next().is_some() {
            self.loose.chopped = true;
            return self.loose.push(datagram.clone(), false, &self.limits);
        }
        let Some(fragment) = trailer.fragment else {
            if !self.numbered.is_empty() {
                return Err(ParseError::new(ParseErrorKind::Malformed("queryid"), response.body_range().end));
            }
            return self.loose.push(body, trailer.is_final, &self.limits);
        };
        let limits = self.limits;
        let cut_anywhere = trailer.zero_based && trailer.reply.is_none();
        let reply = self.reply(trailer.reply).ok_or_else(|| {
            ParseError::new(ParseErrorKind::Mismatch("reply number"), response.body_range().end)
        })?;
        reply.zero_based |= trailer.zero_based;
        reply.cut_anywhere |= cut_anywhere;
        reply.insert(fragment, body, trailer.is_final, &limits)?;
        Ok(if reply.is_whole() { Progress::Whole } else { Progress::More })
    }

    /// The reply with this number, a new one where another may come.
    fn reply(&mut self, number: Option<u64>) -> Option<&mut Numbered> {
        let found = self.numbered.iter().position(|reply| reply.reply == number && reply.open);
        let place = match found {
            Some(place) => place,
            None if self.numbered.len() < self.expected => {
                self.numbered.push(Numbered::new(number, &self.limits));
                self.numbered.len().checked_sub(1)?
            }
            None => return None,
        };
        self.numbered.get_mut(place)
    }

    /// The best of what has come: a whole reply, else the one with the most fragments.
    pub(crate) fn best(&self) -> Option<Body> {
        let whole = self.numbered.iter().find(|reply| reply.is_whole());
        let most = || self.numbered.iter().max_by_key(|reply| reply.fragments.len());
        match whole.or_else(most) {
            Some(reply) if !reply.fragments.is_empty() => Some(reply.body()),
            _ => self.loose.body(&self.limits),
        }
    }

    /// Whether two tries came to the same: every fragment up to the same number and never an end mark. UT99
    /// loses the mark when it lists fewer players than it counts; asking once more would change nothing.
    pub(crate) fn never_ends(&self) -> bool {
        let open_ended = |reply: &&Numbered| {
            let base = reply.base();
            reply.fragments.last().is_none()
                && reply.fragments.missing(base) == 0
                && !reply.fragments.is_empty()
        };
        let mut lengths = self.numbered.iter().filter(open_ended).map(|reply| reply.fragments.len());
        match (lengths.next(), lengths.next()) {
            (Some(first), Some(second)) => first == second,
            _ => false,
        }
    }
}

impl Numbered {
    fn new(reply: Option<u64>, limits: &Limits) -> Self {
        Self {
            reply,
            open: true,
            fragments: Fragments::new(limits),
            zero_based: false,
            cut_anywhere: false,
            pairs: 0,
            names: 0,
        }
    }

    fn base(&self) -> u32 {
        u32::from(!self.zero_based)
    }

    fn insert(&mut self, number: u32, body: Bytes, last: bool, limits: &Limits) -> Result<(), ParseError> {
        let pairs = self.pairs.saturating_add(count_bound(&body));
        let names =
            if pairs > limits.max_players() { self.names.saturating_add(count_names(&body)) } else { 0 };
        if self.fragments.iter().any(|(held, _)| held == number) {
            return Ok(());
        }
        if pairs > limits.max_rules() {
            return Err(ParseError::limit("pairs", usize::MAX, 0));
        }
        if names > limits.max_players() {
            return Err(ParseError::limit("players", usize::MAX, 0));
        }
        self.fragments.insert(number, body, last)?;
        (self.pairs, self.names) = (pairs, names);
        Ok(())
    }

    /// Every fragment is here, and none is known beyond the one with the end mark.
    fn is_whole(&self) -> bool {
        self.fragments.is_complete(self.base()) && !self.reaches_past_its_end()
    }

    fn reaches_past_its_end(&self) -> bool {
        let highest = self.fragments.iter().map(|(number, _)| number).last();
        self.fragments.last().is_some_and(|last| Some(last) != highest)
    }

    fn missing(&self) -> Missing {
        let gaps = self.fragments.missing(self.base());
        Missing {
            fragments: u16::try_from(gaps).unwrap_or(u16::MAX),
            end: self.fragments.last().is_none() || self.reaches_past_its_end(),
            ..Missing::NOTHING
        }
    }

    fn body(&self) -> Body {
        let missing = self.missing();
        let mut parts = self.fragments.iter();
        let (Some((number, only)), None) = (parts.next(), parts.next()) else {
            return self.joined(missing);
        };
        if number != self.base() {
            return self.joined(missing);
        }
        Body { bytes: only.clone(), runs: Vec::new(), reply: self.reply, missing }
    }

    /// All fragments in one buffer; where some are missing, each run between the gaps on its own.
    fn joined(&self, missing: Missing) -> Body {
        let mut bytes = BytesMut::with_capacity(self.fragments.iter().map(|(_, body)| body.len()).sum());
        let mut runs: Vec<(usize, usize)> = Vec::new();
        let mut expected = self.base();
        let mut start = 0;
        for (number, body) in self.fragments.iter() {
            if number != expected {
                runs.push((start, bytes.len()));
                start = bytes.len().saturating_add(self.first_key(body));
            }
            bytes.extend_from_slice(body);
            expected = number.saturating_add(1);
        }
        if missing.fragments > 0 {
            runs.push((start, bytes.len()));
            runs.retain(|(start, end)| start < end);
        } else {
            runs.clear();
        }
        Body { bytes: bytes.freeze(), runs, reply: self.reply, missing }
    }

    /// Where the first key stands in a fragment whose forerunner is missing. Where a server cuts between a key
    /// and its value, the place with more keys of rows behind it is the right one.
    fn first_key(&self, body: &[u8]) -> usize {
        if !self.cut_anywhere {
            return 0;
        }
        let mut tokens = Tokens::new(body);
        let mut rows = [0_usize; 2];
        let mut second = None;
        let mut place = 0_usize;
        while let Some(token) = tokens.token() {
            if place == 1 {
                second = Some(token);
            }
            if let Some(count) = rows.get_mut(place & 1) {
                *count = count.saturating_add(usize::from(RowKey::parse(token).is_some()));
            }
            place = place.saturating_add(1);
        }
        let [first_is_key, first_is_value] = rows;
        let second = second.and_then(|token| crate::text::small_bytes::locate(body, token));
        match second {
            // The separator before it belongs to it.
            Some(second) if first_is_value > first_is_key => second.start.saturating_sub(1),
            _ => 0,
        }
    }
}

impl Loose {
    fn push(&mut self, part: Bytes, last: bool, limits: &Limits) -> Result<Progress, ParseError> {
        let held: usize = self.parts.iter().map(Bytes::len).fold(part.len(), usize::saturating_add);
        if self.parts.len() >= limits.max_fragments() {
            return Err(ParseError::limit("fragments", usize::MAX, 0));
        }
        if held > limits.max_answer_bytes() {
            return Err(ParseError::limit("bytes of one answer", usize::MAX, 0));
        }
        if !self.parts.contains(&part) {
            if last && self.last.is_none() {
                self.last = Some(self.parts.len());
            }
            self.parts.push(part);
        }
        Ok(if self.last.is_some() || (self.chopped && self.sections_end()) {
            Progress::Unnumbered
        } else {
            Progress::More
        })
    }

    /// In order of arrival, the one with the end mark last.
    fn joined(&self) -> Bytes {
        if let [only] = self.parts.as_slice() {
            return only.clone();
        }
        let mut bytes = BytesMut::with_capacity(self.parts.iter().map(Bytes::len).sum());
        let others = self.parts.iter().enumerate().filter(|(place, _)| Some(*place) != self.last);
        for (_, part) in others {
            bytes.extend_from_slice(part);
        }
        if let Some(last) = self.last.and_then(|last| self.parts.get(last)) {
            bytes.extend_from_slice(last);
        }
        bytes.freeze()
    }

    /// Whether the chopped text ends with the end mark and its sections are numbered 1, 2, 3….
    fn sections_end(&self) -> bool {
        let text = self.joined();
        let (body, trailer) = trailer::split(&text);
        let numbers = trailer::inner_fragments(body).chain(trailer.fragment);
        trailer.is_final && numbers.zip(1_u32..).all(|(number, expected)| number == expected)
    }

    fn body(&self, limits: &Limits) -> Option<Body> {
        if self.parts.is_empty() {
            return None;
        }
        let mut bytes = self.joined();
        let mut ended = self.last.is_some();
        if self.chopped {
            ended = self.sections_end();
            let (body, _) = trailer::split(&bytes);
            let range = crate::text::small_bytes::locate(&bytes, body).unwrap_or_default();
            bytes = bytes.slice(range);
        }
        check_counts(&bytes, limits).ok()?;
        let missing = Missing { end: !ended, ..Missing::NOTHING };
        Some(Body { bytes, runs: Vec::new(), reply: None, missing })
    }
}
