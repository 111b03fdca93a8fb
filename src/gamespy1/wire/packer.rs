//! Packing pairs into the numbered datagrams of a reply.

use std::borrow::Cow;

use crate::reply::Template;
use crate::text::number;

/// Most datagrams of a reply. qstat (Unity-Technologies/qstat, gps.c) puts no more together.
const MAX_FRAGMENTS: usize = 32;
/// Room for the longest trailer, `\queryid\4294967295.32\final\`.
const TRAILER: usize = 30;

/// What becomes of a part of a reply where it does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// What a reply must have: the description, a player, an answer to a command.
    Whole,
    /// Rules, which give way to everything else.
    Rules,
    /// A new datagram begins.
    Break,
}

/// A reply under construction: its parts in their order, cut into datagrams at the end.
///
/// Where the datagrams are too few for everything, rules are left out one by one, the last first, and only then what
/// follows them. A reply that was cut has no end mark: a client cannot take it for whole, and the count in `numplayers`
/// stays true. A rule too long for any datagram is left out alone and cuts nothing, because one text of an operator must
/// not make the server look broken to clients that wait for the mark; GameSpy's own servers lose such a pair too, and the
/// rest of its section (OpenMoHAA, code/gamespy/sv_gqueryreporting.c).
#[derive(Debug)]
pub(crate) struct Packer {
    /// The pairs of all parts.
    text: Vec<u8>,
    /// The parts, each with its end.
    parts: Vec<(Part, usize)>,
    limit: usize,
}

impl Packer {
    /// `max_datagram`: most bytes of a datagram, its trailer included.
    pub(crate) fn new(max_datagram: usize) -> Self {
        Self { text: Vec::new(), parts: Vec::new(), limit: max_datagram.saturating_sub(TRAILER) }
    }

    /// Appends a pair to the current part. Separators and control bytes, which nothing on this wire escapes, are taken
    /// out. A pair whose key is then empty, or is one that numbers or ends a reply, is left out.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) {
        let start = self.text.len();
        self.push_token(key);
        let key = self.text.get(start..).unwrap_or_default();
        if [&br"\"[..], br"\queryid", br"\final", br"\statusresponse", br"\eof"].contains(&key) {
            return self.text.truncate(start);
        }
        self.push_token(value);
    }

    /// The same with the key of a row.
    pub(crate) fn push_row(&mut self, name: &[u8], index: i64, value: &[u8]) {
        self.push_token(name);
        self.text.push(b'_');
        number::put(index, &mut self.text);
        self.push_token(value);
    }

    /// The same with a number.
    pub(crate) fn push_row_number(&mut self, name: &[u8], index: i64, value: i64) {
        self.push_row(name, index, b"");
        number::put(value, &mut self.text);
    }

    fn push_token(&mut self, token: &[u8]) {
        self.text.push(b'\\');
        self.text.extend_from_slice(&token_of(token));
    }

    /// Ends the current part: whole where it fits, in a datagram of its own where it does not, and cut between pairs where
    /// it fits into none.
    pub(crate) fn end_part(&mut self) {
        self.parts.push((Part::Whole, self.text.len()));
    }

    /// The same with rules.
    pub(crate) fn end_rules(&mut self) {
        self.parts.push((Part::Rules, self.text.len()));
    }

    /// Begins a new datagram.
    pub(crate) fn flush(&mut self) {
        self.parts.push((Part::Break, self.text.len()));
    }

    /// Writes the datagrams of the reply; its number in `queryid` is the patch. `final_first`: see
    /// [`Trailer::final_first`](super::trailer::Trailer::final_first).
    pub(crate) fn finish(&self, final_first: bool, template: &mut Template) {
        let mut packed = self.pack(None);
        if packed.ends.len() > MAX_FRAGMENTS {
            // Rules that begin as many datagrams push what follows by up to one more.
            let others = self.pack(Some(0)).ends.len();
            packed = self.pack(Some(MAX_FRAGMENTS.saturating_sub(others).saturating_sub(1)));
            packed.is_cut = true;
        }
        packed.ends.truncate(MAX_FRAGMENTS);
        let (last, mut start) = (packed.ends.len(), 0);
        for (fragment, &end) in (1..).zip(&packed.ends) {
            let mark: &[u8] = if fragment == last && !packed.is_cut { br"\final\" } else { b"" };
            template.begin();
            template.bytes.extend_from_slice(packed.text.get(start..end).unwrap_or_default());
            template.bytes.extend_from_slice(if final_first { mark } else { b"" });
            template.bytes.extend_from_slice(br"\queryid\");
            template.patch_here();
            template.bytes.push(b'.');
            number::put(i64::try_from(fragment).unwrap_or(i64::MAX), &mut template.bytes);
            template.bytes.extend_from_slice(if final_first { b"" } else { mark });
            start = end;
        }
    }

    /// Packs all parts; rules only as long as they begin no more than these many datagrams.
    fn pack(&self, mut room: Option<usize>) -> Packed {
        let text = Vec::with_capacity(self.text.len());
        let mut packed = Packed { text, ends: Vec::new(), limit: self.limit, is_cut: false };
        let mut start = 0;
        for &(part, end) in &self.parts {
            let section = self.text.get(start..end).unwrap_or_default();
            let is_short = section.len() <= self.limit;
            start = end;
            match part {
                Part::Break => packed.flush(),
                Part::Whole if is_short => packed.push(section),
                Part::Whole => pairs(section).for_each(|pair| packed.push(pair)),
                Part::Rules if room.is_none() && is_short => packed.push(section),
                Part::Rules => {
                    for pair in pairs(section).filter(|pair| pair.len() <= self.limit) {
                        if !packed.fits(pair)
                            && let Some(room) = &mut room
                        {
                            let Some(less) = room.checked_sub(1) else { break };
                            *room = less;
                        }
                        packed.push(pair);
                    }
                }
            }
        }
        if packed.current() > 0 || packed.ends.is_empty() {
            packed.ends.push(packed.text.len());
        }
        packed
    }
}

/// The pairs of a part.
fn pairs(section: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts = memchr::memchr_iter(b'\\', section).step_by(2);
    let ends = starts.clone().skip(1).chain([section.len()]);
    starts.zip(ends).map(|(start, end)| section.get(start..end).unwrap_or_default())
}

/// Parts in datagrams, still without trailers.
struct Packed {
    /// The datagrams, one behind the other.
    text: Vec<u8>,
    /// The ends of the finished ones.
    ends: Vec<usize>,
    limit: usize,
    /// Something that is no rule fits into no datagram, or all of it into too few.
    is_cut: bool,
}

impl Packed {
    /// Bytes of the current datagram.
    fn current(&self) -> usize {
        self.text.len().saturating_sub(self.ends.last().copied().unwrap_or_default())
    }

    fn fits(&self, part: &[u8]) -> bool {
        self.current().saturating_add(part.len()) <= self.limit
    }

    fn push(&mut self, part: &[u8]) {
        if part.len() > self.limit {
            self.is_cut = true;
            return;
        }
        if !self.fits(part) {
            self.flush();
        }
        self.text.extend_from_slice(part);
    }

    fn flush(&mut self) {
        if self.current() > 0 {
            self.ends.push(self.text.len());
        }
    }
}

/// What of a text goes on the wire: see [`Packer::push`].
pub(crate) fn token_of(text: &[u8]) -> Cow<'_, [u8]> {
    let is_allowed = |byte: u8| byte != b'\\' && byte > 0x1F && byte != 0x7F;
    // Without an early return, so that the compiler compares many bytes at once.
    if text.iter().fold(true, |all, &byte| all & is_allowed(byte)) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.iter().copied().filter(|&byte| is_allowed(byte)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::reply::{Patch, Patched};

    fn add(packer: &mut Packer, pairs: &[(&str, &str)]) {
        pairs.iter().for_each(|(key, value)| packer.push(key.as_bytes(), value.as_bytes()));
        packer.end_part();
    }

    fn add_rules(packer: &mut Packer, pairs: &[(&str, &str)]) {
        pairs.iter().for_each(|(key, value)| packer.push(key.as_bytes(), value.as_bytes()));
        packer.end_rules();
    }

    fn finish(packer: &Packer, reply: u8, final_first: bool) -> Vec<Vec<u8>> {
        let mut template = Template::default();
        packer.finish(final_first, &mut template);
        let number = Patch::new(|out| number::put(reply.into(), out));
        let reply = Patched::new((Arc::new(template), true), number).unwrap();
        let datagram = |index| {
            let mut out = Vec::new();
            reply.put(index, &mut out);
            out
        };
        (0..reply.len()).map(datagram).collect()
    }

    #[test]
    fn sections_stay_in_one_datagram_and_pairs_are_never_cut() {
        let mut packer = Packer::new(TRAILER + 10);
        add(&mut packer, &[("a", "1")]);
        add(&mut packer, &[("b", "12345"), ("c", "")]);
        add(&mut packer, &[("d", "1"), ("e", "2"), ("f", "3")]);
        let datagrams = finish(&packer, 7, false);
        assert_eq!(
            datagrams,
            [
                &br"\a\1\queryid\7.1"[..],
                br"\b\12345\queryid\7.2",
                br"\c\\d\1\queryid\7.3",
                br"\e\2\f\3\queryid\7.4\final\",
            ]
        );
    }

    #[test]
    fn an_empty_reply_has_its_end_mark() {
        assert_eq!(finish(&Packer::new(1000), 2, true), [&br"\final\\queryid\2.1"[..]]);
    }

    #[test]
    fn keys_that_would_end_the_reply_are_left_out() {
        let mut packer = Packer::new(1000);
        add(&mut packer, &[("final", ""), ("queryid", "1.1"), ("\\", "x")]);
        assert!(packer.text.is_empty());
        add(&mut packer, &[("a\\b", "c\\\n\x7fd")]);
        assert_eq!(packer.text, br"\ab\cd");
    }

    #[test]
    fn a_reply_that_was_cut_has_no_end_mark() {
        let mut packer = Packer::new(TRAILER + 10);
        for _ in 0..100 {
            add(&mut packer, &[("key", "value")]);
        }
        let datagrams = finish(&packer, 1, true);
        assert_eq!(datagrams.len(), MAX_FRAGMENTS);
        assert_eq!(datagrams[31], br"\key\value\queryid\1.32"[..]);
    }

    #[test]
    fn rules_give_way_one_by_one() {
        let rules: Vec<(String, &str)> = (0..100).map(|rule| (format!("r{rule:02}"), "value")).collect();
        let rules: Vec<(&str, &str)> = rules.iter().map(|(key, value)| (&**key, *value)).collect();
        for breaks in [false, true] {
            let mut packer = Packer::new(TRAILER + 10);
            add(&mut packer, &[("name", "a")]);
            add_rules(&mut packer, &rules);
            if breaks {
                packer.flush();
            }
            for _ in 0..10 {
                add(&mut packer, &[("row", "value")]);
            }
            let datagrams = finish(&packer, 1, false);
            let count = |text: &[u8]| datagrams.iter().filter(|datagram| datagram.starts_with(text)).count();
            assert_eq!((count(br"\row"), count(br"\r00"), count(br"\r99")), (10, 1, 0), "{datagrams:?}");
            assert!((30..=MAX_FRAGMENTS).contains(&datagrams.len()), "{}", datagrams.len());
            assert!(!datagrams.iter().any(|datagram| datagram.ends_with(br"\final\")));
        }
    }

    #[test]
    fn a_rule_too_long_for_a_datagram_is_left_out_alone() {
        let mut packer = Packer::new(TRAILER + 10);
        add_rules(&mut packer, &[("a", "1"), ("b", "too long a value"), ("c", "3")]);
        assert_eq!(finish(&packer, 1, false), [&br"\a\1\c\3\queryid\1.1\final\"[..]]);
        let mut packer = Packer::new(TRAILER + 10);
        add(&mut packer, &[("player_0", "too long a name")]);
        assert_eq!(finish(&packer, 1, false), [&br"\queryid\1.1"[..]], "but a player is a loss");
    }
}
