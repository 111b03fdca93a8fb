//! Packing pairs into the numbered datagrams of a reply.

use bytes::Bytes;

use super::trailer::Trailer;

/// Most datagrams of a reply. qstat (Unity-Technologies/qstat, gps.c) puts no more together.
const MAX_FRAGMENTS: usize = 32;
/// Room for the longest trailer, `\queryid\4294967295.32\final\`.
const TRAILER: usize = 30;

/// Pairs that stay in one datagram where they fit: a section of a reply, or one row of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Section(Vec<u8>);

impl Section {
    /// Appends a pair. Separators and control bytes, which nothing on this wire escapes, are taken out. A pair whose
    /// key is then empty, or is one that numbers or ends a reply, is left out.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) {
        let start = self.0.len();
        self.push_token(key);
        let key = self.0.get(start..).unwrap_or_default();
        if [&br"\"[..], br"\queryid", br"\final", br"\statusresponse", br"\eof"].contains(&key) {
            return self.0.truncate(start);
        }
        self.push_token(value);
    }

    fn push_token(&mut self, token: &[u8]) {
        self.0.push(b'\\');
        self.0.extend(token.iter().filter(|&&byte| byte != b'\\' && byte > 0x1F && byte != 0x7F));
    }

    fn pairs(&self) -> impl Iterator<Item = &[u8]> {
        let starts = memchr::memchr_iter(b'\\', &self.0).step_by(2);
        let ends = starts.clone().skip(1).chain([self.0.len()]);
        starts.zip(ends).map(|(start, end)| self.0.get(start..end).unwrap_or_default())
    }
}

/// A part of a reply.
#[derive(Debug)]
enum Part {
    /// What a reply must have: the description, a player, an answer to a command.
    Whole(Section),
    /// Rules, which give way to everything else.
    Rules(Section),
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
    parts: Vec<Part>,
    limit: usize,
}

impl Packer {
    /// `max_datagram`: most bytes of a datagram, its trailer included.
    pub(crate) fn new(max_datagram: usize) -> Self {
        Self { parts: Vec::new(), limit: max_datagram.saturating_sub(TRAILER) }
    }

    /// Adds a section: whole where it fits, in a datagram of its own where it does not, and cut between pairs where
    /// it fits into none.
    pub(crate) fn add(&mut self, section: Section) {
        self.parts.push(Part::Whole(section));
    }

    /// The same with rules.
    pub(crate) fn add_rules(&mut self, rules: Section) {
        self.parts.push(Part::Rules(rules));
    }

    /// Begins a new datagram.
    pub(crate) fn flush(&mut self) {
        self.parts.push(Part::Break);
    }

    /// The datagrams of the reply with this number. `final_first`: see [`Trailer::final_first`].
    pub(crate) fn finish(self, reply: u64, final_first: bool) -> Vec<Bytes> {
        let mut packed = self.pack(None);
        if packed.done.len() > MAX_FRAGMENTS {
            // Rules that begin as many datagrams push what follows by up to one more.
            let others = self.pack(Some(0)).done.len();
            packed = self.pack(Some(MAX_FRAGMENTS.saturating_sub(others).saturating_sub(1)));
            packed.is_cut = true;
        }
        packed.done.truncate(MAX_FRAGMENTS);
        let last = packed.done.len();
        let number = |(fragment, mut text): (usize, Vec<u8>)| {
            let is_final = fragment == last && !packed.is_cut;
            let fragment = u32::try_from(fragment).ok();
            let trailer =
                Trailer { reply: Some(reply), fragment, is_final, final_first, ..Trailer::default() };
            trailer.encode_end(&mut text);
            Bytes::from(text)
        };
        (1..).zip(packed.done).map(number).collect()
    }

    /// Packs all parts; rules only as long as they begin no more than these many datagrams.
    fn pack(&self, mut room: Option<usize>) -> Packed {
        let mut packed = Packed { done: Vec::new(), current: Vec::new(), limit: self.limit, is_cut: false };
        for part in &self.parts {
            match part {
                Part::Break => packed.flush(),
                Part::Whole(section) if section.0.len() <= self.limit => packed.push(&section.0),
                Part::Whole(section) => {
                    for pair in section.pairs() {
                        packed.push(pair);
                    }
                }
                Part::Rules(section) if room.is_none() && section.0.len() <= self.limit => {
                    packed.push(&section.0);
                }
                Part::Rules(section) => {
                    for pair in section.pairs().filter(|pair| pair.len() <= self.limit) {
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
        if !packed.current.is_empty() || packed.done.is_empty() {
            packed.done.push(std::mem::take(&mut packed.current));
        }
        packed
    }
}

/// Parts in datagrams, still without trailers.
struct Packed {
    done: Vec<Vec<u8>>,
    current: Vec<u8>,
    limit: usize,
    /// Something that is no rule fits into no datagram, or all of it into too few.
    is_cut: bool,
}

impl Packed {
    fn fits(&self, part: &[u8]) -> bool {
        self.current.len().saturating_add(part.len()) <= self.limit
    }

    fn push(&mut self, part: &[u8]) {
        if part.len() > self.limit {
            self.is_cut = true;
            return;
        }
        if !self.fits(part) {
            self.flush();
        }
        self.current.extend_from_slice(part);
    }

    fn flush(&mut self) {
        if !self.current.is_empty() {
            self.done.push(std::mem::take(&mut self.current));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(pairs: &[(&str, &str)]) -> Section {
        let mut section = Section::default();
        for (key, value) in pairs {
            section.push(key.as_bytes(), value.as_bytes());
        }
        section
    }

    #[test]
    fn sections_stay_in_one_datagram_and_pairs_are_never_cut() {
        let mut packer = Packer::new(TRAILER + 10);
        packer.add(section(&[("a", "1")]));
        packer.add(section(&[("b", "12345"), ("c", "")]));
        packer.add(section(&[("d", "1"), ("e", "2"), ("f", "3")]));
        let datagrams = packer.finish(7, false);
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
        assert_eq!(Packer::new(1000).finish(2, true), [&br"\final\\queryid\2.1"[..]]);
    }

    #[test]
    fn keys_that_would_end_the_reply_are_left_out() {
        assert!(section(&[("final", ""), ("queryid", "1.1"), ("\\", "x")]).0.is_empty());
        assert_eq!(section(&[("a\\b", "c\\\n\x7fd")]).0, br"\ab\cd");
    }

    #[test]
    fn a_reply_that_was_cut_has_no_end_mark() {
        let mut packer = Packer::new(TRAILER + 10);
        for _ in 0..100 {
            packer.add(section(&[("key", "value")]));
        }
        let datagrams = packer.finish(1, true);
        assert_eq!(datagrams.len(), MAX_FRAGMENTS);
        assert_eq!(datagrams[31], br"\key\value\queryid\1.32"[..]);
    }

    #[test]
    fn rules_give_way_one_by_one() {
        let rules: Vec<(String, &str)> = (0..100).map(|rule| (format!("r{rule:02}"), "value")).collect();
        let rules: Vec<(&str, &str)> = rules.iter().map(|(key, value)| (&**key, *value)).collect();
        for breaks in [false, true] {
            let mut packer = Packer::new(TRAILER + 10);
            packer.add(section(&[("name", "a")]));
            packer.add_rules(section(&rules));
            if breaks {
                packer.flush();
            }
            for _ in 0..10 {
                packer.add(section(&[("row", "value")]));
            }
            let datagrams = packer.finish(1, false);
            let count = |text: &[u8]| datagrams.iter().filter(|datagram| datagram.starts_with(text)).count();
            assert_eq!((count(br"\row"), count(br"\r00"), count(br"\r99")), (10, 1, 0), "{datagrams:?}");
            assert!((30..=MAX_FRAGMENTS).contains(&datagrams.len()), "{}", datagrams.len());
            assert!(!datagrams.iter().any(|datagram| datagram.ends_with(br"\final\")));
        }
    }

    #[test]
    fn a_rule_too_long_for_a_datagram_is_left_out_alone() {
        let mut packer = Packer::new(TRAILER + 10);
        packer.add_rules(section(&[("a", "1"), ("b", "too long a value"), ("c", "3")]));
        assert_eq!(packer.finish(1, false), [&br"\a\1\c\3\queryid\1.1\final\"[..]]);
        let mut packer = Packer::new(TRAILER + 10);
        packer.add(section(&[("player_0", "too long a name")]));
        assert_eq!(packer.finish(1, false), [&br"\queryid\1.1"[..]], "but a player is a loss");
    }
}
