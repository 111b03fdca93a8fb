//! Numbered fragments of one reply, collected in any order.

use bytes::Bytes;

use crate::error::ParseError;
use crate::limits::{Limits, to_u32};

/// The fragments of a reply. The first one with a number is kept.
#[derive(Debug, Clone)]
pub(crate) struct Fragments {
    /// Sorted by number.
    parts: Vec<Part>,
    bytes: usize,
    /// The end mark, once it has arrived.
    end_mark: Option<EndMark>,
    /// The datagrams that made this collection, in order of arrival.
    datagrams: Vec<Bytes>,
    /// Whether two fragments contradict each other.
    has_contradiction: bool,
    pub(crate) limits: Limits,
}

/// The end mark of a reply.
#[derive(Debug, Clone, Copy)]
struct EndMark {
    /// The number of its fragment.
    number: u32,
    /// Whether it came without text. Another datagram may then have the text of this number.
    is_alone: bool,
}

/// One fragment.
#[derive(Debug, Clone)]
struct Part {
    number: u32,
    body: Bytes,
}

impl Fragments {
    /// An empty collection, bounded by these limits.
    pub(crate) const fn new(limits: &Limits) -> Self {
        Self {
            parts: Vec::new(),
            bytes: 0,
            end_mark: None,
            datagrams: Vec::new(),
            has_contradiction: false,
            limits: *limits,
        }
    }

    /// Adds a fragment that is a whole datagram, see [`Self::insert_part`].
    pub(crate) fn insert(
        &mut self,
        number: u32,
        datagram: Bytes,
        is_last: bool,
    ) -> Result<(), ParseError> {
        self.insert_part(number, datagram.clone(), is_last, datagram)
    }

    /// Adds a fragment, which is a part of this datagram. `is_last`: it has the end mark of the
    /// reply.
    ///
    /// A fragment that exceeds the limits is an error and is not stored. An end mark alone may
    /// repeat the number of the fragment before it, as Unreal 227 sends it without players
    /// (UdpServerQuery).
    pub(crate) fn insert_part(
        &mut self,
        number: u32,
        body: Bytes,
        is_last: bool,
        datagram: Bytes,
    ) -> Result<(), ParseError> {
        let search = self.parts.binary_search_by_key(&number, |part| part.number);
        let is_kept = match search {
            Ok(position) => self.insert_again(position, body, is_last),
            Err(position) => {
                self.insert_new(position, Part { number, body }, is_last)?;
                true
            }
        };
        if is_kept {
            self.datagrams.push(datagram);
        }
        Ok(())
    }

    fn insert_new(&mut self, position: usize, part: Part, is_last: bool) -> Result<(), ParseError> {
        let bytes = self.bytes.saturating_add(part.body.len());
        let max_bytes = self.limits.max_answer_bytes();
        let max_fragments = self.limits.max_fragments();
        if self.parts.len() >= max_fragments {
            return Err(ParseError::limit("fragments", max_fragments, 0));
        }
        if bytes > max_bytes {
            return Err(ParseError::limit("bytes of one answer", max_bytes, 0));
        }
        if is_last {
            self.add_end_mark(EndMark {
                number: part.number,
                is_alone: part.body.is_empty(),
            });
        }
        self.parts.insert(position, part);
        self.bytes = bytes;
        Ok(())
    }

    /// Keeps an end mark. Two of them contradict each other, and the one with the higher number is
    /// kept.
    fn add_end_mark(&mut self, mark: EndMark) {
        let Some(known) = self.end_mark else {
            self.end_mark = Some(mark);
            return;
        };
        self.has_contradiction = true;
        if mark.number > known.number {
            self.end_mark = Some(mark);
        }
    }

    /// Adds a fragment with the number of a known one: a copy, a part of another reply, or the end
    /// mark or text that the known one lacks.
    ///
    /// If a text and an end mark alone have the same number, a copy of either can follow. Returns
    /// whether it adds something, or is the first to contradict.
    fn insert_again(&mut self, position: usize, body: Bytes, is_last: bool) -> bool {
        let Some(known) = self.parts.get_mut(position) else {
            return false;
        };
        let is_mark_alone = is_last && body.is_empty();
        if is_mark_alone && self.end_mark.is_none() {
            self.end_mark = Some(EndMark {
                number: known.number,
                is_alone: true,
            });
            return true;
        }

        let known_mark = self.end_mark.filter(|mark| mark.number == known.number);
        let bytes = self.bytes.saturating_add(body.len());
        let lacks_text = known_mark.is_some_and(|mark| mark.is_alone) && known.body.is_empty();
        let adds_text = lacks_text && !is_last && bytes <= self.limits.max_answer_bytes();
        if adds_text {
            known.body = body;
            self.bytes = bytes;
            return true;
        }

        let is_copy = match known_mark {
            // Text and mark came in two datagrams.
            Some(mark) if mark.is_alone => is_mark_alone || (!is_last && known.body == body),
            Some(_) => is_last && known.body == body,
            None => !is_last && known.body == body,
        };
        let is_first_to_contradict = !is_copy && !self.has_contradiction;
        self.has_contradiction |= !is_copy;
        is_first_to_contradict
    }

    /// Whether fragments of two replies are mixed, and cannot be separated. The signs are different
    /// fragments with one number, two end marks, or a fragment after the end mark.
    pub(crate) fn is_mixed(&self) -> bool {
        self.has_contradiction || self.has_fragment_after_end()
    }

    fn has_fragment_after_end(&self) -> bool {
        let (Some(end), Some(highest)) = (self.end_number(), self.parts.last()) else {
            return false;
        };
        highest.number > end
    }

    /// Whether every fragment from `base` to the end mark has arrived, and nothing shows a second
    /// reply.
    pub(crate) fn is_complete(&self, base: u32) -> bool {
        self.end_mark.is_some() && self.missing(base) == 0 && !self.is_mixed()
    }

    /// How many fragments are missing between `base` and the highest number.
    pub(crate) fn missing(&self, base: u32) -> u32 {
        let Some(highest) = self.parts.last() else {
            return 0;
        };
        let expected = highest.number.saturating_sub(base).saturating_add(1);
        let counted = self.parts.iter().filter(|part| part.number >= base);
        expected.saturating_sub(to_u32(counted.count()))
    }

    /// Whether the fragment with this number has arrived. A datagram with only an end mark does not
    /// count.
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.parts
            .iter()
            .any(|part| part.number == number && !part.body.is_empty())
    }

    /// The number of the fragment with the end mark, once it has arrived.
    pub(crate) fn end_number(&self) -> Option<u32> {
        self.end_mark.map(|mark| mark.number)
    }

    /// The fragments in order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Bytes)> {
        self.parts.iter().map(|part| (part.number, &part.body))
    }

    /// The datagrams, in order of arrival, without copies. Read again, they give the same
    /// collection.
    pub(crate) fn datagrams(&self) -> &[Bytes] {
        &self.datagrams
    }

    /// All fragments in one buffer. A single one is not copied.
    pub(crate) fn join(&self) -> Bytes {
        match &self.parts[..] {
            [only] => only.body.clone(),
            parts => {
                let bodies: Vec<&[u8]> = parts.iter().map(|part| &part.body[..]).collect();
                bodies.concat().into()
            }
        }
    }

    /// Whether the fragment with the number 0 is the only one that has arrived.
    pub(crate) fn is_only_first(&self) -> bool {
        matches!(&self.parts[..], [only] if only.number == 0)
    }

    /// The number of fragments that have arrived.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether no fragment has arrived.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    #[test]
    fn gaps_are_counted_and_copies_dropped() {
        let mut fragments = Fragments::new(&Limits::default());
        assert_eq!(fragments.missing(1), 0);
        fragments.insert(4, body("d"), true).unwrap();
        fragments.insert(2, body("b"), false).unwrap();
        fragments.insert(2, body("b"), false).unwrap();
        assert_eq!(
            (
                fragments.missing(1),
                fragments.missing(2),
                fragments.end_number()
            ),
            (2, 1, Some(4))
        );
        assert!(!fragments.is_complete(1));
        fragments.insert(3, body("c"), false).unwrap();
        fragments.insert(1, body("a"), false).unwrap();
        assert!(fragments.is_complete(1));
        let joined: Vec<u8> = fragments
            .iter()
            .flat_map(|(_, body)| body.to_vec())
            .collect();
        assert_eq!(joined, b"abcd");
    }

    #[test]
    fn fragments_of_two_replies_are_never_complete() {
        let held = [(1, "a", false), (2, "b", true)];
        for (number, text, last, is_mixed) in [
            (1, "a", false, false),
            (2, "b", true, false),
            (1, "other", false, true),
            (1, "a", true, true),
            (2, "b", false, true),
            (3, "c", false, true),
            (3, "c", true, true),
        ] {
            for place in 0..=held.len() {
                let mut all = held.to_vec();
                all.insert(place, (number, text, last));
                let mut fragments = Fragments::new(&Limits::default());
                for (number, text, last) in all {
                    fragments.insert(number, body(text), last).unwrap();
                }
                assert_eq!(
                    fragments.is_mixed(),
                    is_mixed,
                    "{number} {text} {last} at {place}"
                );
                assert_eq!(fragments.is_complete(1), !is_mixed);
            }
        }
    }

    #[test]
    fn two_end_marks_contradict_and_the_later_one_is_kept() {
        for [first, second] in [[2, 3], [3, 2]] {
            let mut fragments = Fragments::new(&Limits::default());
            fragments.insert(first, body("a"), true).unwrap();
            fragments.insert(second, body("b"), true).unwrap();
            assert_eq!(
                (fragments.end_number(), fragments.is_mixed()),
                (Some(3), true)
            );
        }
        let mut fragments = Fragments::new(&Limits::default());
        fragments.insert(1, body(""), true).unwrap();
        fragments.insert(1, body("a"), true).unwrap();
        assert!(fragments.is_mixed());
    }

    #[test]
    fn an_end_mark_alone_may_repeat_a_number() {
        let all = [(1, "a", false), (2, "b", false), (2, "", true)];
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            for behind in [(3, "c", false), (3, "", true), (1, "", true)] {
                let mut fragments = Fragments::new(&Limits::default());
                let mut insert = |(number, text, last)| {
                    fragments.insert(number, body(text), last).unwrap();
                    (fragments.is_complete(1), fragments.join())
                };
                let last = order.into_iter().map(|place| insert(all[place])).last();
                assert_eq!(last, Some((true, body("ab"))), "{order:?}");
                assert!(!insert(behind).0, "{order:?}, then {behind:?}");
            }
        }
    }

    #[test]
    fn copies_of_a_text_and_of_its_end_mark_do_not_contradict() {
        let (text, mark) = ((2, "b", false), (2, "", true));
        for datagrams in [
            [text, mark, mark, text],
            [text, mark, text, mark],
            [text, text, mark, mark],
            [mark, text, text, mark],
            [mark, text, mark, text],
            [mark, mark, text, text],
        ] {
            let mut fragments = Fragments::new(&Limits::default());
            for (number, text, last) in datagrams.into_iter().chain([(1, "a", false)]) {
                fragments.insert(number, body(text), last).unwrap();
            }
            assert!(fragments.is_complete(1), "{datagrams:?}");
            assert_eq!(fragments.join(), body("ab"), "{datagrams:?}");
            for other in [(2, "c", false), (2, "b", true), (2, "c", true)] {
                let mut mixed = fragments.clone();
                mixed.insert(other.0, body(other.1), other.2).unwrap();
                assert!(mixed.is_mixed(), "{datagrams:?}, then {other:?}");
            }
        }
    }

    #[test]
    fn fragments_over_the_limits_are_refused() {
        let mut fragments = Fragments::new(&Limits::default().with_max_fragments(1));
        fragments.insert(u32::MAX, body("a"), false).unwrap();
        assert!(fragments.insert(2, body("b"), true).is_err());
        let mut fragments = Fragments::new(&Limits::default().with_max_answer_bytes(2048));
        fragments
            .insert(1, Bytes::from(vec![0; 2000]), false)
            .unwrap();
        assert!(fragments.insert(2, Bytes::from(vec![0; 49]), true).is_err());
        assert!(
            !fragments.is_complete(1),
            "a refused fragment is not stored"
        );
        assert_eq!(fragments.len(), 1);
        let mut with_mark = fragments.clone();
        with_mark.insert(2, body(""), true).unwrap();
        with_mark
            .insert(2, Bytes::from(vec![0; 49]), false)
            .unwrap();
        assert!(with_mark.is_mixed(), "nor is the text of an end mark");
        let just_fits = Bytes::from(vec![0; 48]);
        assert!(fragments.insert(2, just_fits, true).is_ok() && fragments.is_complete(1));
    }

    #[test]
    fn the_text_of_an_end_mark_counts_towards_the_bytes_of_an_answer() {
        let zeros = |length| Bytes::from(vec![0; length]);
        let mut fragments = Fragments::new(&Limits::default().with_max_answer_bytes(2048));
        fragments.insert(2, body(""), true).unwrap();
        fragments.insert(2, zeros(1000), false).unwrap();
        assert!(fragments.insert(1, zeros(1049), false).is_err());
        fragments.insert(1, zeros(1048), false).unwrap();
        assert!(fragments.is_complete(1));
    }

    #[test]
    fn a_number_below_the_first_fills_no_gap() {
        let mut fragments = Fragments::new(&Limits::default());
        fragments.insert(0, body("a"), false).unwrap();
        fragments.insert(2, body("c"), true).unwrap();
        assert_eq!((fragments.missing(0), fragments.missing(1)), (1, 1));
        assert!(!fragments.is_complete(1));
    }

    /// Otherwise a flood of contradictions would be kept without a bound.
    #[test]
    fn of_many_contradictions_the_first_is_kept() {
        let mut fragments = Fragments::new(&Limits::default());
        for text in ["a", "a", "b", "c", "d", "b"] {
            fragments.insert(1, body(text), false).unwrap();
        }
        assert_eq!(fragments.datagrams(), [body("a"), body("b")]);
    }
}
