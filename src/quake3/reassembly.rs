//! The datagrams of a QuakeWorld reply, which have neither numbers nor an end mark.

use bytes::Bytes;

use super::engines::QUAKE_WORLD;
use super::wire::line;
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;

/// The datagrams of one reply in order of arrival, without copies.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts(Vec<Part>);

/// The outcome of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    /// It is part of the reply, or a copy of a part.
    Part,
    /// It is not of QuakeWorld, and not kept.
    OtherMessage,
    /// It is of QuakeWorld, but not kept: it does not belong to the first datagram, or it would
    /// exceed a limit.
    Refused(ParseError),
}

impl Parts {
    /// Adds a datagram. A copy changes nothing.
    pub(super) fn add(&mut self, datagram: &Bytes, limits: &Limits) -> Added {
        let Some(part) = Part::read(datagram) else {
            return Added::OtherMessage;
        };
        let is_first = part.is_first();
        // A first datagram that only differs in its end is of a later reply.
        let is_copy = |known: &Part| {
            known.text == part.text && (!is_first || known.datagram == part.datagram)
        };
        if self.0.iter().any(is_copy) {
            return Added::Part;
        }
        let (max_bytes, max_fragments) = (limits.max_answer_bytes(), limits.max_fragments());
        let length = self.0.iter().map(Part::length).sum::<usize>();
        if length.saturating_add(part.text.len()) > max_bytes {
            return Added::Refused(ParseError::limit("bytes of one answer", max_bytes, 0));
        }
        if is_first {
            // Other datagrams belong to the reply only if they overtook its first datagram, and if
            // that had no space for them.
            if self.first().is_some() || part.is_whole_reply() {
                self.0.clear();
            }
        } else if self.first().is_some_and(Part::is_whole_reply) {
            let kind = ParseErrorKind::Unexpected("the infostring of a reply");
            return Added::Refused(ParseError::new(kind, line::MARK.len()));
        } else if self.further().count() >= max_fragments {
            return Added::Refused(ParseError::limit("fragments", max_fragments, 0));
        }
        self.0.push(part);
        Added::Part
    }

    /// The datagram that begins with the infostring.
    fn first(&self) -> Option<&Part> {
        self.0.iter().find(|part| part.is_first())
    }

    fn further(&self) -> impl Iterator<Item = &Part> {
        self.0.iter().filter(|part| !part.is_first())
    }

    /// The reply as one datagram; `None` before the first one has arrived.
    pub(super) fn join(&self) -> Option<Bytes> {
        let first = &self.first()?.datagram;
        if self.is_single() {
            return Some(first.clone());
        }
        let mut joined = first.strip_suffix(b"\0").unwrap_or(first).to_vec();
        for part in self.further() {
            joined.extend_from_slice(&part.text);
        }
        joined.push(0);
        Some(joined.into())
    }

    /// The datagrams.
    pub(super) fn into_datagrams(self) -> Vec<Bytes> {
        self.0.into_iter().map(|part| part.datagram).collect()
    }

    /// Whether all datagrams of the reply have arrived:
    /// - the first one has, and the latest one ends a reply
    /// - no text is lost between them: none is cut, unless it is the only one
    /// - they are of one reply: of those after the first one, only one had space for another line
    ///
    /// A single datagram that is cut may only lack its NUL, as its text ends with a line feed. If
    /// another one follows it, text between the two may be lost.
    pub(super) fn is_ended(&self) -> bool {
        let ends = self.0.last().is_some_and(|latest| ends_reply(&latest.text));
        let has_lost_text = !self.is_single() && self.0.iter().any(Part::is_cut);
        let ends_of_replies = self.further().filter(|part| !may_be_followed(&part.text));
        let are_of_two_replies = ends_of_replies.count() > 1;
        self.first().is_some() && ends && !has_lost_text && !are_of_two_replies
    }

    /// Whether the reply has one datagram only, so far.
    pub(super) fn is_single(&self) -> bool {
        self.0.len() == 1
    }
}

/// A datagram of QuakeWorld.
#[derive(Debug, Clone)]
struct Part {
    datagram: Bytes,
    /// The text after the mark and `n`, without the NUL at its end.
    text: Bytes,
}

impl Part {
    /// `None` for any other datagram.
    fn read(datagram: &Bytes) -> Option<Self> {
        let text = line::marked(datagram).ok()?.text.strip_prefix(b"n")?;
        Some(Self {
            datagram: datagram.clone(),
            text: datagram.slice_ref(text.strip_suffix(b"\0").unwrap_or(text)),
        })
    }

    /// Whether it begins with the infostring.
    fn is_first(&self) -> bool {
        self.text.starts_with(b"\\")
    }

    /// The bytes that it has in the joined reply. The mark is kept once.
    fn length(&self) -> usize {
        if self.is_first() {
            self.datagram.len()
        } else {
            self.text.len()
        }
    }

    /// Whether the NUL at the end is missing.
    fn is_cut(&self) -> bool {
        !self.datagram.ends_with(b"\0")
    }

    /// Whether no other datagram can belong to a reply that begins with this one.
    ///
    /// After a datagram that is cut, the rest may follow, so others are kept with it.
    fn is_whole_reply(&self) -> bool {
        ends_reply(&self.text) && !self.is_cut()
    }
}

/// Whether a datagram with this text can be followed by another one.
fn may_be_followed(text: &[u8]) -> bool {
    QUAKE_WORLD.limits.may_cut_after(text.len())
}

/// Whether a datagram with this text is the last one of its reply: it ends with a whole line, and
/// another line would have fitted into it.
fn ends_reply(text: &[u8]) -> bool {
    text.ends_with(b"\n") && !may_be_followed(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quake3::wire::siblings::MAX_PART;

    fn part(text: &str) -> Bytes {
        Bytes::from([b"\xff\xff\xff\xffn", text.as_bytes(), b"\0"].concat())
    }

    fn parts(texts: &[&str]) -> Parts {
        let mut parts = Parts::default();
        for text in texts {
            assert_eq!(parts.add(&part(text), &Limits::default()), Added::Part);
        }
        parts
    }

    #[test]
    fn the_longest_first_datagram_can_have_a_rest() {
        let limits = Limits::default();
        for length in MAX_PART - 8..=MAX_PART {
            let first = part(&format!("\\k\\{}\n", "v".repeat(length - 4)));
            let mut parts = Parts::default();
            parts.add(&first, &limits);
            let second = part("1 0 0 20 \"Ann\" \"\" 0 0\n");
            assert_eq!(parts.add(&second, &limits), Added::Part);
            assert!(!parts.is_single());
            assert!(parts.is_ended());
        }
    }

    #[test]
    fn datagrams_are_joined_inside_a_line() {
        let first = format!("\\map\\{}\n1 2 3 4 \"Ann\" \"\" 0 0", "m".repeat(1300));
        let parts = parts(&[&first, " \"red\"\n", &first]);
        assert!(parts.is_ended());
        assert_eq!(parts.join().unwrap(), part(&format!("{first} \"red\"\n")));
    }

    #[test]
    fn a_first_datagram_that_arrives_late_is_put_first() {
        let (first, second) = (long_first(), "2 0 0 0 \"b\" \"\" 0 0\n");
        let parts = parts(&[second, &first]);
        assert_eq!(parts.join().unwrap(), part(&format!("{first}{second}")));
    }

    #[test]
    fn the_end_is_known_where_another_line_would_have_fitted() {
        let with = |length: usize| format!("\\k\\{}\n", "v".repeat(length - 4));
        assert!(parts(&[&with(1212)]).is_ended());
        assert!(!parts(&[&with(1213)]).is_ended());
        // Some servers have longer datagrams.
        assert!(parts(&[&with(1341)]).is_ended());
        assert!(parts(&[&with(7872)]).is_ended());
        assert!(!parts(&[&with(7873)]).is_ended());
        assert!(!parts(&["\\map\\dm3\n1 2"]).is_ended());
        assert!(!parts(&["1 2\n"]).is_ended());
    }

    #[test]
    fn a_datagram_that_was_cut_leaves_the_end_open() {
        let second = part("5 2 0 0 \"b\" \"\" 0 0\n");
        let cut = Bytes::from_static(b"\xff\xff\xff\xffn\\map\\dm3\n1 2 0 0 \"a\" \"\" 0 0\n2");
        let mut parts = Parts::default();
        for datagram in [cut, second] {
            assert_eq!(parts.add(&datagram, &Limits::default()), Added::Part);
        }
        assert!(!parts.is_ended());
    }

    #[test]
    fn a_datagram_without_its_nul_is_whole_only_alone() {
        let limits = Limits::default();
        let without_nul = |text: &str| part(text).slice(..5 + text.len());
        let second = part("1 0 0 0 \"a\" \"\" 0 0\n");
        let mut cut_first = Parts::default();
        cut_first.add(&without_nul("\\map\\dm3\n"), &limits);
        assert!(cut_first.is_ended());
        assert_eq!(cut_first.add(&second, &limits), Added::Part);
        assert!(!cut_first.is_ended());
        let mut cut_second = parts(&[&long_first()]);
        let long = format!("{}\n", "x".repeat(1300));
        for datagram in [without_nul(&long), second] {
            assert_eq!(cut_second.add(&datagram, &limits), Added::Part);
        }
        assert!(!cut_second.is_ended());
    }

    #[test]
    fn a_later_reply_replaces_an_earlier_one() {
        let replaced = parts(&[&long_first(), "1\n", "\\map\\dm4\n"]);
        let only = part("\\map\\dm4\n");
        assert_eq!(replaced.join().unwrap(), only);
        assert_eq!(replaced.into_datagrams(), [only]);
        let cut = part(&long_first());
        let cut = cut.slice(..cut.len() - 1);
        for later in [long_first(), long_first().replace('m', "n")] {
            let mut parts = Parts::default();
            for datagram in [cut.clone(), part("1\n"), part(&later), part("2\n")] {
                assert_eq!(parts.add(&datagram, &Limits::default()), Added::Part);
            }
            assert!(parts.is_ended());
            assert_eq!(parts.join().unwrap(), part(&format!("{later}2\n")));
        }
    }

    #[test]
    fn nothing_belongs_to_a_first_datagram_with_space_for_another_line() {
        let (short, stray) = ("\\map\\dm3\n", "9 0 0 0 \"b\" \"\" 0 0\n");
        let mut parts = parts(&[stray, short]);
        let refused = ParseError::new(ParseErrorKind::Unexpected("the infostring of a reply"), 4);
        assert_eq!(
            parts.add(&part(stray), &Limits::default()),
            Added::Refused(refused)
        );
        assert_eq!(
            (parts.is_ended(), parts.join().unwrap()),
            (true, part(short))
        );
    }

    #[test]
    fn a_reply_can_have_as_many_bytes_as_the_limit() {
        let limits = Limits::default().with_max_answer_bytes(2048);
        let first = part(&long_first());
        let further = "x".repeat(2048 - first.len());
        let mut parts = parts(&[&long_first()]);
        let too_long = parts.add(&part(&format!("{further}x")), &limits);
        assert!(matches!(too_long, Added::Refused(_)), "{too_long:?}");
        assert_eq!(parts.add(&part(&further), &limits), Added::Part);
    }

    #[test]
    fn a_reply_can_have_as_many_further_parts_as_the_limit() {
        let limits = Limits::default().with_max_fragments(2);
        let mut parts = parts(&[&long_first(), "1", "2"]);
        let too_many = parts.add(&part("3"), &limits);
        assert!(matches!(too_many, Added::Refused(_)), "{too_many:?}");
        let limits = limits.with_max_fragments(3);
        assert_eq!(parts.add(&part("3"), &limits), Added::Part);
    }

    #[test]
    fn two_last_datagrams_are_of_two_replies() {
        let (one, other) = ("2 0 0 0 \"b\" \"\" 0 0\n", "2 5 0 0 \"b\" \"\" 0 0\n");
        assert!(parts(&[&long_first(), one]).is_ended());
        assert!(!parts(&[&long_first(), one, other]).is_ended());
    }

    /// A first datagram with no space for another line.
    fn long_first() -> String {
        format!("\\map\\{}\n", "m".repeat(1300))
    }

    #[test]
    fn other_datagrams_are_no_parts() {
        let mut parts = Parts::default();
        for other in [
            &b"n\\a\\b"[..],
            b"\xff\xff\xff\xffprint\n\\a",
            b"\xff\xff\xff\xff",
        ] {
            let added = parts.add(&Bytes::from_static(other), &Limits::default());
            assert_eq!(added, Added::OtherMessage);
        }
    }
}
