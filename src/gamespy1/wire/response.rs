//! One datagram of a reply, viewed in place, and its encoding.

use std::fmt;

use bytes::BufMut;

use super::fields::{Fields, Tokens, count_bound, is_control};
use super::row_key::RowKey;
use super::trailer::{self, Trailer};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::text::locate;

/// One datagram of a reply, viewed without copying: a fragment, or all of it.
///
/// ```
/// use queryport::gamespy1::Response;
/// use queryport::Limits;
///
/// let response = Response::parse(br"\hostname\Srv\numplayers\0\queryid\20.3\final\", &Limits::default())?;
/// assert_eq!(response.get("HostName"), Some(&b"Srv"[..]), "in any case");
/// assert_eq!(response.pairs().count(), 2);
/// let trailer = response.trailer();
/// assert_eq!((trailer.reply, trailer.fragment, trailer.is_final), (Some(20), Some(3), true));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    datagram: &'a [u8],
    body: &'a [u8],
    trailer: Trailer,
}

impl<'a> Response<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] when it does not begin with `\`, [`ParseErrorKind::Limit`] for more pairs,
    /// players or fragments than `limits` allow.
    pub fn parse(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        if datagram.first() != Some(&b'\\') {
            return Err(ParseError::new(ParseErrorKind::NotThisProtocol("a backslash"), 0));
        }
        let (body, trailer) = trailer::split(datagram);
        let response = Self { datagram, body, trailer };
        let fragment = trailer.fragment.and_then(|fragment| usize::try_from(fragment).ok());
        if fragment.is_some_and(|fragment| fragment > limits.max_fragments()) {
            let end = response.offset(body).saturating_add(body.len());
            return Err(ParseError::limit("fragments", limits.max_fragments(), end));
        }
        check_counts(body, limits)?;
        Ok(response)
    }

    /// Every key and value in the order of the wire, those of player and team rows included, without the keys that
    /// number and end the reply.
    ///
    /// In a fragment of SWAT 4's AdminMod the first token may be the value of the fragment before: only an
    /// [`Answer`](crate::gamespy1::Answer), which joins them, reads that.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        self.fields().pairs()
    }

    /// The first value of this key that is not empty, else an empty one. ASCII case is ignored.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.fields().get(key)
    }

    /// The number and the end mark.
    #[must_use]
    pub const fn trailer(&self) -> Trailer {
        self.trailer
    }

    /// The pairs as they came, without the trailer.
    #[must_use]
    pub const fn raw(&self) -> &'a [u8] {
        self.body
    }

    /// What the lenient reading passed over or repaired: names with a backslash, keys of the trailer among the pairs, a
    /// last key without a value.
    ///
    /// ```
    /// use queryport::gamespy1::Response;
    /// use queryport::Limits;
    ///
    /// let datagram = br"\player_0\a\b\frags_0\7\odd\queryid\1.1\final\";
    /// let response = Response::parse(datagram, &Limits::default())?;
    /// let problems: Vec<String> = response.problems().map(|problem| problem.to_string()).collect();
    /// assert_eq!(problems, ["malformed name, which holds a backslash at byte 10", "cut short inside a pair at byte 24"]);
    /// # Ok::<(), queryport::ParseError>(())
    /// ```
    pub fn problems(&self) -> impl Iterator<Item = ParseError> + use<> {
        let mut pairs = self.fields().pairs();
        let mut found: Vec<ParseError> = Vec::new();
        for (key, value) in pairs.by_ref() {
            let (kind, part) = if value.contains(&b'\\') {
                (ParseErrorKind::Malformed("name, which holds a backslash"), value)
            } else if is_control(key, value) {
                (ParseErrorKind::Unexpected("a pair, not the end of a reply"), key)
            } else {
                continue;
            };
            found.push(ParseError::new(kind, self.offset(part)));
        }
        let odd =
            pairs.odd_key().map(|key| ParseError::new(ParseErrorKind::CutShort("a pair"), self.offset(key)));
        found.into_iter().chain(odd)
    }

    /// Appends the datagram. What mods add to the trailer is left out: `eof`, words for numbers, a NUL.
    ///
    /// # Errors
    /// None: what was parsed can be written.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        self.trailer.encode_start(out);
        out.put_slice(self.body);
        self.trailer.encode_end(out);
        Ok(())
    }

    const fn fields(&self) -> Fields<'a> {
        Fields::new(self.body)
    }

    fn offset(&self, part: &[u8]) -> usize {
        locate(self.datagram, part).map_or(0, |range| range.start)
    }
}

impl fmt::Debug for Response<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Response(\"{}\")", self.datagram.escape_ascii())
    }
}

/// Bounds the pairs and the named rows of some data. Rows are counted only where the pairs could exceed their bound.
pub(crate) fn check_counts(body: &[u8], limits: &Limits) -> Result<(), ParseError> {
    // A text too short for so many is not counted.
    if body.len().div_ceil(2) <= limits.max_rules().min(limits.max_players()) {
        return Ok(());
    }
    let pairs = count_bound(body);
    if pairs > limits.max_rules() {
        return Err(ParseError::limit("pairs", limits.max_rules(), 0));
    }
    if pairs > limits.max_players() && count_names(body) > limits.max_players() {
        return Err(ParseError::limit("players", limits.max_players(), 0));
    }
    Ok(())
}

/// Tokens that are keys of a player's name, as keys or as values.
pub(crate) fn count_names(body: &[u8]) -> usize {
    let mut tokens = Tokens::new(body);
    std::iter::from_fn(|| tokens.token()).filter(|token| RowKey::name_index(token).is_some()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_without_a_leading_backslash_is_rejected() {
        for datagram in [&b""[..], b"\0", b"\xff\xff\xff\xff\\a", b"hostname\\x", b"; \\a\\b"] {
            let error = Response::parse(datagram, &Limits::default()).unwrap_err();
            assert_eq!(error.kind, ParseErrorKind::NotThisProtocol("a backslash"));
        }
    }

    #[test]
    fn limits_are_named_with_their_values() {
        let with = |datagram: &[u8], limits: Limits| {
            Response::parse(datagram, &limits).map(|_| ()).map_err(|error| (error.kind, error.offset))
        };
        let limit = |what, limit, offset| Err((ParseErrorKind::Limit { what, limit }, offset));
        let datagram = br"\player_0\a\player_1\b\queryid\1.1";
        assert_eq!(with(datagram, Limits::default().with_max_players(1)), limit("players", 1, 0));
        assert_eq!(with(datagram, Limits::default().with_max_players(2).with_max_rules(2)), Ok(()));
        assert_eq!(with(datagram, Limits::default().with_max_rules(1)), limit("pairs", 1, 0));
        let far = br"\a\b\queryid\1.257\final\";
        assert_eq!(with(far, Limits::default()), limit("fragments", 256, 4));
    }

    #[test]
    fn a_datagram_is_written_as_it_was_read() {
        for datagram in [
            &br"\a\1\queryid\20.3\final\"[..],
            br"\a\\final\\queryid\20.3",
            br"\a\1\queryid\20.1",
            br"\a\1\queryid\3\final\",
            br"\statusresponse\1\7\a\b\queryid\1\final\",
            br"\a\1\final\",
            br"\a\1",
        ] {
            let response = Response::parse(datagram, &Limits::default()).unwrap();
            let mut out = Vec::new();
            response.encode(&mut out).unwrap();
            assert_eq!(out, datagram);
        }
    }

    #[test]
    fn what_was_passed_over_is_listed() {
        let problems = |datagram: &[u8]| {
            let response = Response::parse(datagram, &Limits::default()).unwrap();
            response.problems().map(|problem| (problem.kind, problem.offset)).collect::<Vec<_>>()
        };
        assert_eq!(problems(br"\hostname\Srv\player_0\a\frags_0\7\queryid\1.1\final\"), []);
        let section = ParseErrorKind::Unexpected("a pair, not the end of a reply");
        assert_eq!(problems(br"\a\1\queryid\2.1\b\2\queryid\2.2\final\"), [(section, 5)]);
        let cut = ParseErrorKind::CutShort("a pair");
        assert_eq!(problems(br"\statusresponse\0\a\1\b\queryid\0"), [(cut, 22)]);
    }

    #[test]
    fn debug_output_has_the_datagram() {
        let response = Response::parse(b"\\a\\\xffb\\final\\", &Limits::default()).unwrap();
        assert_eq!(format!("{response:?}"), r#"Response("\\a\\\xffb\\final\\")"#);
    }
}
