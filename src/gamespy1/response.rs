//! What a server says: one datagram, viewed in place, and its encoding.

use std::ops::Range;

use bytes::BufMut;

use super::fields::{Fields, Tokens, count_bound};
use super::row_key::RowKey;
use super::trailer::{self, Trailer};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;

/// One datagram of a reply, viewed without copying: a fragment, or the whole.
///
/// ```
/// use queryport::gamespy1::Response;
/// use queryport::Limits;
///
/// let response = Response::parse(br"\hostname\Srv\numplayers\0\queryid\20.3\final\", &Limits::default())?;
/// assert_eq!(response.fields().get("hostname"), Some(&b"Srv"[..]));
/// assert_eq!(response.trailer().reply, Some(20));
/// assert_eq!(response.trailer().fragment, Some(3));
/// assert!(response.trailer().is_final);
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    datagram: &'a [u8],
    body: &'a [u8],
    trailer: Trailer,
}

impl<'a> Response<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] when it does not begin with `\`, [`ParseErrorKind::Limit`] for more
    /// pairs, players or fragments than `limits` allow.
    pub fn parse(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        if datagram.first() != Some(&b'\\') {
            return Err(ParseError::new(ParseErrorKind::NotThisProtocol("a backslash"), 0));
        }
        let (body, trailer) = trailer::split(datagram);
        let response = Self { datagram, body, trailer };
        let fragment = trailer.fragment.and_then(|fragment| usize::try_from(fragment).ok());
        if fragment.is_some_and(|fragment| fragment > limits.max_fragments()) {
            return Err(ParseError::limit("fragments", usize::MAX, response.body_range().end));
        }
        check_counts(body, limits)?;
        Ok(response)
    }

    /// The datagram.
    #[must_use]
    pub const fn raw(&self) -> &'a [u8] {
        self.datagram
    }

    /// The keys and values, without those that number and end the reply. In a fragment of SWAT 4's AdminMod the
    /// first token may be the value of the fragment before: only the joined reply, an
    /// [`Answer`](super::Answer), knows.
    #[must_use]
    pub const fn fields(&self) -> Fields<'a> {
        Fields::new(self.body)
    }

    /// The number and the end mark.
    #[must_use]
    pub const fn trailer(&self) -> Trailer {
        self.trailer
    }

    /// Where the keys and values stand in the datagram.
    pub(crate) fn body_range(&self) -> Range<usize> {
        crate::text::small_bytes::locate(self.datagram, self.body).unwrap_or_default()
    }

    /// Appends the datagram again: its data and an equal trailer, the end mark behind the number as UT99 writes
    /// it, or in front as GameSpy's own code does.
    pub fn encode(&self, order: FinalOrder, out: &mut impl BufMut) {
        let Trailer { reply, fragment, zero_based, is_final } = self.trailer;
        let in_front = zero_based && reply.is_none();
        if let (true, Some(fragment)) = (in_front, fragment) {
            out.put_slice(format!("\\statusresponse\\{fragment}").as_bytes());
        }
        out.put_slice(self.body);
        let id = match (reply, fragment) {
            (Some(reply), Some(fragment)) => format!("\\queryid\\{reply}.{fragment}"),
            (None, Some(fragment)) => format!("\\queryid\\{fragment}"),
            _ => String::new(),
        };
        // A lone number is only written with the end mark behind it.
        match (is_final, order) {
            (true, FinalOrder::Before) if reply.is_some() => {
                out.put_slice(br"\final\");
                out.put_slice(id.as_bytes());
            }
            (true, _) => {
                out.put_slice(id.as_bytes());
                out.put_slice(br"\final\");
            }
            (false, _) => out.put_slice(id.as_bytes()),
        }
    }
}

/// On which side of `queryid` the mark `final` stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum FinalOrder {
    /// `\queryid\20.3\final\`: the Unreal engine.
    #[default]
    After,
    /// `\final\\queryid\20.3`: GameSpy's own code, in most other games.
    Before,
}

/// Bounds the pairs and the named rows of some data. Nothing is counted twice that need not be.
pub(crate) fn check_counts(body: &[u8], limits: &Limits) -> Result<(), ParseError> {
    let pairs = count_bound(body);
    if pairs > limits.max_rules() {
        return Err(ParseError::limit("pairs", usize::MAX, 0));
    }
    if pairs > limits.max_players() && count_names(body) > limits.max_players() {
        return Err(ParseError::limit("players", usize::MAX, 0));
    }
    Ok(())
}

/// Tokens that name a player, at whatever place.
pub(crate) fn count_names(body: &[u8]) -> usize {
    let mut tokens = Tokens::new(body);
    std::iter::from_fn(|| tokens.token()).filter(|token| RowKey::name_index(token).is_some()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_begin_as_it_should_is_rejected() {
        for datagram in [&b""[..], b"\0", b"\xff\xff\xff\xff\\a", b"hostname\\x", b"; \\a\\b"] {
            let error = Response::parse(datagram, &Limits::default()).unwrap_err();
            assert_eq!(error.kind, ParseErrorKind::NotThisProtocol("a backslash"));
        }
    }

    #[test]
    fn limits_are_limits() {
        let with = |datagram: &[u8], limits: Limits| {
            Response::parse(datagram, &limits).map(|_| ()).map_err(|e| e.kind)
        };
        let datagram = br"\player_0\a\player_1\b\queryid\1.1";
        assert_eq!(
            with(datagram, Limits::default().with_max_players(1)),
            Err(ParseErrorKind::Limit("players"))
        );
        assert_eq!(with(datagram, Limits::default().with_max_players(2).with_max_rules(2)), Ok(()));
        assert_eq!(with(datagram, Limits::default().with_max_rules(1)), Err(ParseErrorKind::Limit("pairs")));
        let far = br"\a\b\queryid\1.257\final\";
        assert_eq!(with(far, Limits::default()), Err(ParseErrorKind::Limit("fragments")));
    }

    #[test]
    fn a_datagram_is_written_as_it_was_read() {
        for (datagram, order) in [
            (&br"\a\1\queryid\20.3\final\"[..], FinalOrder::After),
            (br"\a\\final\\queryid\20.3", FinalOrder::Before),
            (br"\a\1\queryid\20.1", FinalOrder::Before),
            (br"\a\1\queryid\3\final\", FinalOrder::Before),
            (br"\statusresponse\1\7\a\b\queryid\1\final\", FinalOrder::After),
            (br"\a\1\final\", FinalOrder::After),
            (br"\a\1", FinalOrder::After),
        ] {
            let response = Response::parse(datagram, &Limits::default()).unwrap();
            let mut out = Vec::new();
            response.encode(order, &mut out);
            assert_eq!(out, datagram);
        }
    }
}
