//! Errors of the wire grammars: what is wrong, where, and in which production.
//!
//! A production is a nom function that returns [`Parsed`]. [`read`] runs it and converts its error
//! to the public [`ParseError`].
//!
//! ```text
//! /// `entry = name port`
//! fn entry(input: &[u8]) -> Parsed<'_, (&[u8], u16)> {
//!     context("an entry", (name, be_u16)).parse(input)
//! }
//!
//! let (rest, entry) = grammar::read(entry, datagram, 0)?;     // cut short inside an entry at byte 7
//! ```
//!
//! - `context` names a production. The innermost name counts, with the position where its part
//!   failed.
//! - Missing bytes give `CutShort`, all other errors `Malformed`.
//! - To give another kind, use [`expect`],
//!   `expect(ParseErrorKind::NotThisProtocol("four bytes 0xff"), tag(MARK))`, or `map_res` with a
//!   function that returns a [`ParseErrorKind`].
//! - nom's `eof` and `all_consuming` fail as if bytes were missing: wrap them in [`expect`].
//! - A leaf written by hand fails with [`cut_short`] or [`malformed`].
//! - `alt` keeps the error of the alternative that got furthest.

use nom::error::{ContextError, ErrorKind, FromExternalError};
use nom::{IResult, Parser};

use crate::error::{ParseError, ParseErrorKind};

/// The result of a production: the rest of the input, and the parsed value.
pub(crate) type Parsed<'a, T> = IResult<&'a [u8], T, GrammarError>;

/// The error of a production, at a position of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GrammarError {
    cause: Cause,
    /// The number of bytes from the error to the end of the input.
    left: usize,
    /// The innermost named production.
    production: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    CutShort,
    Malformed,
    Other(ParseErrorKind),
}

/// Runs a production at the start of `input`, which begins at byte `start` of its datagram.
///
/// # Errors
/// The error of the production. If bytes are missing, its position is the end of the input.
pub(crate) fn read<'a, T>(
    mut production: impl Parser<&'a [u8], Output = T, Error = GrammarError>,
    input: &'a [u8],
    start: usize,
) -> Result<(&'a [u8], T), ParseError> {
    production.parse(input).map_err(|error| match error {
        nom::Err::Error(error) | nom::Err::Failure(error) => error.in_datagram(start, input.len()),
        nom::Err::Incomplete(_) => {
            GrammarError::new(Cause::CutShort, &[]).in_datagram(start, input.len())
        }
    })
}

/// Changes the kind of a production's errors, unless a part of it has set one.
pub(crate) fn expect<'a, T>(
    kind: ParseErrorKind,
    mut production: impl Parser<&'a [u8], Output = T, Error = GrammarError>,
) -> impl Parser<&'a [u8], Output = T, Error = GrammarError> {
    move |input| {
        let result = production.parse(input);
        result.map_err(|error| error.map(|error| error.or_kind(kind)))
    }
}

/// The error of a leaf that lacks bytes.
pub(crate) const fn cut_short<'a, T>(input: &[u8]) -> Parsed<'a, T> {
    Err(nom::Err::Error(GrammarError::new(Cause::CutShort, input)))
}

/// The error of a leaf with wrong bytes.
pub(crate) const fn malformed<'a, T>(input: &[u8]) -> Parsed<'a, T> {
    Err(nom::Err::Error(GrammarError::new(Cause::Malformed, input)))
}

impl GrammarError {
    const fn new(cause: Cause, input: &[u8]) -> Self {
        Self {
            cause,
            left: input.len(),
            production: None,
        }
    }

    const fn or_kind(mut self, kind: ParseErrorKind) -> Self {
        if !matches!(self.cause, Cause::Other(_)) {
            self.cause = Cause::Other(kind);
        }
        self
    }

    /// Converts the error for an input of this length that begins at byte `start` of its datagram.
    fn in_datagram(self, start: usize, length: usize) -> ParseError {
        let end = start.saturating_add(length);
        let position = end.saturating_sub(self.left);
        let production = self.production.unwrap_or("the datagram");
        match self.cause {
            Cause::CutShort => ParseError::new(ParseErrorKind::CutShort(production), end),
            Cause::Malformed => ParseError::new(ParseErrorKind::Malformed(production), position),
            Cause::Other(kind) => ParseError::new(kind, position),
        }
    }
}

impl nom::error::ParseError<&[u8]> for GrammarError {
    fn from_error_kind(input: &[u8], code: ErrorKind) -> Self {
        let runs_out = input.is_empty() || matches!(code, ErrorKind::Eof | ErrorKind::Complete);
        let cause = if runs_out {
            Cause::CutShort
        } else {
            Cause::Malformed
        };
        Self::new(cause, input)
    }

    fn append(_input: &[u8], _code: ErrorKind, inner: Self) -> Self {
        inner
    }

    /// The error that is further on; at the same position, the later one.
    fn or(self, later: Self) -> Self {
        if self.left < later.left { self } else { later }
    }
}

impl ContextError<&[u8]> for GrammarError {
    fn add_context(_input: &[u8], name: &'static str, mut inner: Self) -> Self {
        inner.production.get_or_insert(name);
        inner
    }
}

impl FromExternalError<&[u8], ParseErrorKind> for GrammarError {
    fn from_external_error(input: &[u8], _code: ErrorKind, kind: ParseErrorKind) -> Self {
        Self::new(Cause::Other(kind), input)
    }
}

#[cfg(test)]
mod tests {
    use nom::branch::alt;
    use nom::bytes::complete::tag;
    use nom::combinator::{eof, map_res, verify};
    use nom::error::context;
    use nom::number::complete::{be_u16, u8 as octet};

    use super::*;

    /// `message = "#" kind entry`, `kind = %x01-02`, `entry = 2OCTET octet`, where `octet` is below
    /// 9.
    fn message(input: &[u8]) -> Parsed<'_, (u8, u16, u8)> {
        let mark = expect(ParseErrorKind::NotThisProtocol("a mark"), tag("#"));
        let kind = map_res(octet, |kind| match kind {
            1 | 2 => Ok(kind),
            _ => Err(ParseErrorKind::Unexpected("kind 1 or 2")),
        });
        let digit = context("a digit", verify(octet, |digit| *digit < 9));
        let entry = context("an entry", (be_u16, digit));
        let (rest, (_, kind, (number, digit))) =
            context("the message", (mark, kind, entry)).parse(input)?;
        Ok((rest, (kind, number, digit)))
    }

    fn error(input: &[u8]) -> (ParseErrorKind, usize) {
        let error = read(message, input, 10).unwrap_err();
        (error.kind, error.offset)
    }

    #[test]
    fn an_error_has_kind_offset_and_the_innermost_production() {
        use ParseErrorKind::{CutShort, Malformed, NotThisProtocol, Unexpected};
        let rest: &[u8] = b"rest";
        assert_eq!(
            read(message, b"#\x01\0\x07\x08rest", 0),
            Ok((rest, (1, 7, 8)))
        );
        assert_eq!(error(b"!\x01\0\x07\x08"), (NotThisProtocol("a mark"), 10));
        assert_eq!(error(b""), (NotThisProtocol("a mark"), 10));
        assert_eq!(error(b"#"), (CutShort("the message"), 11));
        assert_eq!(error(b"#\x03"), (Unexpected("kind 1 or 2"), 11));
        assert_eq!(error(b"#\x01\0"), (CutShort("an entry"), 13));
        assert_eq!(error(b"#\x01\0\x07"), (CutShort("a digit"), 14));
        assert_eq!(error(b"#\x01\0\x07\x09"), (Malformed("a digit"), 14));
    }

    #[test]
    fn the_alternative_that_read_furthest_counts() {
        let pair = context("a pair", (tag("a"), tag("b")));
        let other = context("another", (tag("x"), tag("y")));
        let mut either = alt((pair, other));
        let mut error = |input| {
            let error = read(|input| either.parse(input), input, 0).unwrap_err();
            (error.kind, error.offset)
        };
        assert_eq!(error(b"ac"), (ParseErrorKind::Malformed("a pair"), 1));
        assert_eq!(error(b"z"), (ParseErrorKind::Malformed("another"), 0));
    }

    #[test]
    fn leaves_and_the_end_have_kinds_of_their_own() {
        let leaf = |fails: fn(&[u8]) -> Parsed<'_, ()>| {
            let error = read(context("a leaf", fails), b"abc", 2).unwrap_err();
            (error.kind, error.offset)
        };
        assert_eq!(leaf(cut_short), (ParseErrorKind::CutShort("a leaf"), 5));
        assert_eq!(leaf(malformed), (ParseErrorKind::Malformed("a leaf"), 2));
        let end = expect(ParseErrorKind::Malformed("end"), eof);
        let error = read((tag("ab"), end), b"abc", 0).unwrap_err();
        assert_eq!(
            (error.kind, error.offset),
            (ParseErrorKind::Malformed("end"), 2)
        );
    }
}
