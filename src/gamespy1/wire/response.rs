//! One datagram of a reply, viewed in place, and its encoding. What numbers and ends it has the dialects that the page of
//! [`gamespy1`](crate::gamespy1) lists:
//!
//! ```text
//! reply  = message [ end ] / "\statusresponse\" M message [ end-k ] [ NUL ]
//! end    = "\final\" id / "\final" id / id [ mark ] / mark
//! end-k  = [ id "\final\" ] "\eof" [ "\" ] / id [ mark ]
//! id     = "\queryid\" ( number / text ) [ "\" ]
//! number = [ N "." ] M                                ; or a word
//! mark   = "\final" [ "\" ]
//! ```

use std::fmt;

use bytes::BufMut;
use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::character::complete::{u32, u64};
use nom::combinator::{all_consuming, eof, map, opt, peek, value};
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

use super::{Fields, RowKey, count_bound, is_control, separator, text, tokens};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::text::locate;

/// One datagram of a reply, viewed without copying: a fragment, or all of it.
///
/// ```
/// use queryport::gamespy1::Response;
/// use queryport::Limits;
///
/// let response = Response::parse(
///     br"\hostname\Srv\numplayers\0\queryid\20.3\final\",
///     &Limits::default(),
/// )?;
/// assert_eq!(response.get("HostName"), Some(&b"Srv"[..]), "in any case");
/// assert_eq!(response.pairs().count(), 2);
/// assert_eq!(
///     response.raw(),
///     br"\hostname\Srv\numplayers\0",
///     "without what numbers and ends the reply"
/// );
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    datagram: &'a [u8],
    body: &'a [u8],
    pub(crate) trailer: Trailer,
}

impl<'a> Response<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] when it begins neither with `\` nor with `gamename\`, as netPanzer's replies do
    /// (InfoSocket.cpp); [`ParseErrorKind::Limit`] for more pairs, players, teams or fragments than `limits`
    /// allow.
    pub fn parse(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        if datagram.first() != Some(&b'\\') && !datagram.starts_with(br"gamename\") {
            return Err(ParseError::new(
                ParseErrorKind::NotThisProtocol("a backslash"),
                0,
            ));
        }
        let (body, trailer) = split(datagram);
        let response = Self {
            datagram,
            body,
            trailer,
        };
        if trailer
            .fragment
            .is_some_and(|fragment| fragment as usize > limits.max_fragments())
        {
            return Err(ParseError::limit(
                "fragments",
                limits.max_fragments(),
                response.end(),
            ));
        }
        // A text too short for so many is not counted.
        if body.len() / 2 >= limits.max_rules().min(limits.max_players()) {
            count(body, std::iter::empty(), Counts::default(), limits)?;
        }
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
    pub fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.fields().get(key)
    }

    /// The pairs as they came, without the trailer.
    pub const fn raw(&self) -> &'a [u8] {
        self.body
    }

    /// Parts that the lenient reader skipped or repaired: names with a backslash, keys of the trailer among the pairs, a
    /// last key without a value.
    ///
    /// ```
    /// use queryport::gamespy1::Response;
    /// use queryport::Limits;
    ///
    /// let datagram = br"\player_0\a\b\frags_0\7\odd\queryid\1.1\final\";
    /// let response = Response::parse(datagram, &Limits::default())?;
    /// let problems: Vec<String> =
    ///     response.problems().map(|problem| problem.to_string()).collect();
    /// assert_eq!(
    ///     problems,
    ///     [
    ///         "malformed name, which holds a backslash at byte 10",
    ///         "cut short inside a pair at byte 24"
    ///     ]
    /// );
    /// # Ok::<(), queryport::ParseError>(())
    /// ```
    pub fn problems(&self) -> impl Iterator<Item = ParseError> + use<> {
        let error = |kind, part: &[u8]| ParseError::new(kind, self.offset(part));
        let (mut pairs, mut found) = (self.fields().pairs(), Vec::new());
        for (key, value) in pairs.by_ref() {
            if value.contains(&b'\\') {
                found.push(error(
                    ParseErrorKind::Malformed("name, which holds a backslash"),
                    value,
                ));
            } else if is_control(key, value) {
                found.push(error(
                    ParseErrorKind::Unexpected("a pair, not the end of a reply"),
                    key,
                ));
            }
        }
        found.extend(
            pairs
                .odd()
                .map(|(key, _)| error(ParseErrorKind::CutShort("a pair"), key)),
        );
        found.into_iter()
    }

    /// Appends the datagram. What mods add to the trailer is left out: `eof`, words for numbers, a NUL.
    ///
    /// # Errors
    /// None: what was parsed can be written.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let Trailer {
            reply,
            fragment,
            zero_based,
            is_final,
            final_first,
            is_unclosed,
        } = self.trailer;
        let (start, id) = match (reply, fragment) {
            (Some(n), Some(m)) => (String::new(), format!("\\queryid\\{n}.{m}")),
            (None, Some(m)) if zero_based => {
                (format!("\\statusresponse\\{m}"), format!("\\queryid\\{m}"))
            }
            (None, Some(m)) => (String::new(), format!("\\queryid\\{m}")),
            (_, None) => Default::default(),
        };
        let separator = if is_unclosed { "" } else { "\\" };
        let mark = if is_final {
            ["\\final", separator].concat()
        } else {
            String::new()
        };
        let (before, behind) = if final_first { (mark, id) } else { (id, mark) };
        for part in [
            start.as_bytes(),
            self.body,
            before.as_bytes(),
            behind.as_bytes(),
        ] {
            out.put_slice(part);
        }
        Ok(())
    }

    /// The start of the trailer.
    pub(crate) fn end(&self) -> usize {
        self.offset(self.body).saturating_add(self.body.len())
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

/// The number of pairs, and of players' names, fields of teams, and `team_N`, which names a team in the answer to `\teams\`.
pub(crate) type Counts = (usize, [usize; 3]);

/// Bounds the pairs, players and teams of a reply: adds a datagram to those before it. Rows are counted by tokens, keys or values,
/// and only where there are more pairs than rows may be: then in the datagrams before it too.
pub(crate) fn count<'a>(
    body: &'a [u8],
    before: impl Iterator<Item = &'a [u8]>,
    (known, mut rows): Counts,
    limits: &Limits,
) -> Result<Counts, ParseError> {
    let (pairs, most) = (
        known.saturating_add(count_bound(body)),
        limits.max_players(),
    );
    if pairs > limits.max_rules() {
        return Err(ParseError::limit("pairs", limits.max_rules(), 0));
    }
    let uncounted = before
        .filter(|_| known <= most)
        .chain([body])
        .filter(|_| pairs > most);
    for key in uncounted.flat_map(tokens).filter_map(RowKey::parse) {
        let is = |name: &[u8]| key.field.eq_ignore_ascii_case(name);
        let kinds = [is(b"player") || is(b"playername"), key.is_team, is(b"team")];
        rows.iter_mut()
            .zip(kinds)
            .for_each(|(count, is_kind)| *count = count.saturating_add(is_kind.into()));
    }
    let over = ["players", "teams", "teams"]
        .into_iter()
        .zip(rows)
        .find(|(_, count)| *count > most);
    over.map_or(Ok((pairs, rows)), |(what, _)| {
        Err(ParseError::limit(what, most, 0))
    })
}

/// The number and the end mark of one datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Trailer {
    /// The number of the reply (the N of `queryid` N.M), in the dialects that have one.
    pub(crate) reply: Option<u64>,
    /// The number of the fragment (the M of N.M, or a number alone).
    pub(crate) fragment: Option<u32>,
    /// Whether fragments are numbered from 0, as they are after `\statusresponse\`.
    pub(crate) zero_based: bool,
    /// Whether the end mark `final` is here.
    pub(crate) is_final: bool,
    /// Whether the end mark precedes the number, as GameSpy's own code writes it.
    pub(crate) final_first: bool,
    /// Whether the end mark before the number has no value. Descent 3 ends every datagram so, also those that others
    /// follow.
    pub(crate) is_unclosed: bool,
}

/// The value of a `queryid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Id {
    /// The number of the reply, where there is one, and that of the fragment.
    Number(Option<u64>, u32),
    /// A word (`AMv1`, `gs1`).
    Word,
    /// Nothing that a server writes: a number that was cut.
    Damaged,
}

/// Splits a datagram into its pairs and its trailer.
///
/// The keys are recognised only where a server writes them. A player called `final` is a value, and ends no reply.
pub(crate) fn split(datagram: &[u8]) -> (&[u8], Trailer) {
    let text = datagram.strip_suffix(b"\0").unwrap_or(datagram);
    match status_response(text) {
        Ok((text, number)) => split_numbered_first(number, text),
        Err(_) => split_numbered_last(text),
    }
}

fn split_numbered_last(text: &[u8]) -> (&[u8], Trailer) {
    // The mark is a key: an even number of tokens precedes it, and without a value it is the odd one.
    let is_key = |body: &[u8], (id, trailer): &(Option<Id>, Trailer)| match id {
        None => {
            let is_bare = body.first().is_some_and(|first| *first != b'\\');
            memchr::memchr_iter(b'\\', body).count().is_multiple_of(2) != is_bare
        }
        Some(_) => {
            !trailer.is_unclosed
                || ends_with_key(text.get(..body.len().saturating_add(6)).unwrap_or_default())
        }
    };
    let Some((body, (id, mut trailer))) = split_end(text, end, is_key) else {
        return (text, Trailer::default());
    };
    (trailer.reply, trailer.fragment) = match id {
        // After the mark, only a number of two parts is written: a single one was cut short.
        Some(Id::Number(reply, fragment)) if reply.is_some() || !trailer.final_first => {
            (reply, Some(fragment))
        }
        _ => (None, None),
    };
    trailer.is_final &= trailer.fragment.is_some() || matches!(id, Some(Id::Word) | None);
    trailer.final_first &= trailer.is_final && trailer.reply.is_some();
    trailer.is_unclosed &= trailer.is_final;
    trailer.zero_based = trailer.fragment == Some(0);
    (body, trailer)
}

/// After `\statusresponse\K`. These datagrams end with `\eof\`, with K again, or with both.
fn split_numbered_first(number: u32, text: &[u8]) -> (&[u8], Trailer) {
    let (body, (id, is_final, has_eof)) = split_end(text, eof_end, |_, _| true)
        .or_else(|| split_end(text, id_end, |_, _| true))
        .unwrap_or((text, (None, false, false)));
    let is_numbered = match id {
        Some(Id::Number(None, again)) => again == number,
        // A damaged number shows that the last datagram came in two versions, and ends no reply.
        Some(Id::Word | Id::Damaged) | None => has_eof,
        Some(_) => false,
    };
    let is_final = is_numbered && is_final && id != Some(Id::Damaged);
    let fragment = is_numbered.then_some(number);
    (
        body,
        Trailer {
            fragment,
            zero_based: true,
            is_final,
            ..Trailer::default()
        },
    )
}

/// Splits a text before its longest end, which has no more than seven separators, and parses that.
fn split_end<'a, T>(
    text: &'a [u8],
    end: impl Fn(&'a [u8]) -> IResult<&'a [u8], T>,
    is_end: impl Fn(&[u8], &T) -> bool,
) -> Option<(&'a [u8], T)> {
    let (mut before, mut longest) = (text, None);
    for _ in 0..7 {
        let Some(start) = memchr::memrchr(b'\\', before) else {
            break;
        };
        let (rest, body) = crate::text::split(text, start);
        before = body;
        let words = [&br"\queryid"[..], br"\final", br"\eof"];
        if words.iter().any(|word| rest.starts_with(word))
            && let Ok((_, found)) = all_consuming(&end).parse(rest)
            && is_end(body, &found)
        {
            longest = Some((body, found));
        }
    }
    longest
}

/// `start = "\statusresponse\" M`; the separator after it stays.
fn status_response(input: &[u8]) -> IResult<&[u8], u32> {
    terminated(preceded(tag(&br"\statusresponse\"[..]), u32), border).parse(input)
}

/// `end = "\final\" id / "\final" id / id [ mark ] / mark`
fn end(input: &[u8]) -> IResult<&[u8], (Option<Id>, Trailer)> {
    let last = |is_final| Trailer {
        is_final,
        ..Trailer::default()
    };
    let first = |is_unclosed| Trailer {
        final_first: true,
        is_unclosed,
        ..last(true)
    };
    alt((
        map(preceded(tag(&br"\final\"[..]), id), |id| {
            (Some(id), first(false))
        }),
        map(preceded(tag(&br"\final"[..]), id), |id| {
            (Some(id), first(true))
        }),
        map((id, opt(mark)), |(id, mark)| {
            (Some(id), last(mark.is_some()))
        }),
        map(mark, |_| (None, last(true))),
    ))
    .parse(input)
}

/// `eof-end = [ id "\final\" ] "\eof" [ "\" ]`: the number, whether the mark is there, and whether `eof` is. AdminMod cuts between
/// any two tokens, so a fragment can end with any words. Its end mark is always closed.
fn eof_end(input: &[u8]) -> IResult<&[u8], (Option<Id>, bool, bool)> {
    let last = opt(terminated(id, tag(&br"\final\"[..])));
    let eof = (tag(&br"\eof"[..]), opt(separator));
    map(terminated(last, eof), |id| (id, id.is_some(), true)).parse(input)
}

/// `id-end = id [ mark ]`, as [`eof_end`]. Only where no `eof` is: any word may precede that.
fn id_end(input: &[u8]) -> IResult<&[u8], (Option<Id>, bool, bool)> {
    map((id, opt(mark)), |(id, mark)| {
        (Some(id), mark.is_some(), false)
    })
    .parse(input)
}

/// `mark = "\final" [ "\" ]`
fn mark(input: &[u8]) -> IResult<&[u8], ()> {
    value((), (tag(&br"\final"[..]), opt(separator))).parse(input)
}

/// `id = "\queryid\" ( number / text ) [ "\" ]`, where the last separator begins nothing else.
fn id(input: &[u8]) -> IResult<&[u8], Id> {
    let closed = opt(terminated(separator, border));
    let (rest, value) = terminated(preceded(tag(&br"\queryid\"[..]), text), closed).parse(input)?;
    let id = match all_consuming(number).parse(value) {
        Ok((_, (reply, fragment))) => Id::Number(reply, fragment),
        Err(_) if value.first().is_some_and(u8::is_ascii_alphabetic) => Id::Word,
        Err(_) => Id::Damaged,
    };
    Ok((rest, id))
}

/// A separator or the end follows; takes nothing.
fn border(input: &[u8]) -> IResult<&[u8], &[u8]> {
    peek(alt((separator, eof))).parse(input)
}

/// `number = [ N "." ] M`: two integers, never a fraction. 20.1 and 20.10 are two fragments.
fn number(input: &[u8]) -> IResult<&[u8], (Option<u64>, u32)> {
    (opt(terminated(u64, tag(&b"."[..]))), u32).parse(input)
}

/// Whether the last word of some pairs is a key: an end mark there has no value, and is not the name of a player.
fn ends_with_key(text: &[u8]) -> bool {
    let mut pairs = Fields::new(text).pairs();
    pairs.by_ref().for_each(drop);
    pairs.odd().is_some()
}

/// Whether these are sections of 333networks' masters, numbered N.1, N.2… from the first pair to the trailer. They cut the
/// text at any byte, so the last number can be missing. No row of a player is in it: a player's text can hold any number.
pub(crate) fn is_sectioned(body: &[u8], trailer: &Trailer) -> bool {
    let ids =
        memchr::memmem::find_iter(body, br"\q").filter_map(|start| id(body.get(start..)?).ok());
    let numbers = ids.filter_map(|(_, id)| match id {
        Id::Number(reply, section) => Some((reply?, section)),
        _ => None,
    });
    let mut numbers = numbers.peekable();
    let Some(&(first, _)) = numbers.peek() else {
        return false;
    };
    let numbers = numbers.chain(trailer.reply.zip(trailer.fragment));
    (trailer.reply.is_some() || trailer.fragment.is_none())
        && (1..)
            .zip(numbers)
            .all(|(section, number)| number == (first, section))
        && Fields::new(body)
            .pairs()
            .all(|(key, _)| RowKey::parse(key).is_none())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::put_pair;
    use super::*;

    /// The result of a production for each cut of an input, where it takes all of it.
    fn cuts<'a, T>(
        input: &'a [u8],
        production: impl Fn(&'a [u8]) -> IResult<&'a [u8], T>,
    ) -> Vec<Option<T>> {
        let whole = |cut| {
            all_consuming(&production)
                .parse(&input[..cut])
                .ok()
                .map(|(_, found)| found)
        };
        (0..=input.len()).map(whole).collect()
    }

    /// The last of these cuts, all before which are errors.
    fn only_last<T: Copy>(cuts: &[Option<T>], count: usize) -> &[Option<T>] {
        let (errors, found) = cuts.split_at(cuts.len().saturating_sub(count));
        assert!(errors.iter().all(Option::is_none));
        found
    }

    #[test]
    fn a_cut_production_is_an_error_or_another_number() {
        assert_eq!(
            only_last(&cuts(br"\statusresponse\13", status_response), 2),
            [Some(1), Some(13)]
        );
        assert_eq!(only_last(&cuts(br"\final\", mark), 2), [Some(()); 2]);
        let (two, one) = ((Some(20), 3), |number| Some((None, number)));
        assert_eq!(
            cuts(b"20.3", number),
            [None, one(2), one(20), None, Some(two)]
        );
        let alone = |number| Some(Id::Number(None, number));
        let (damaged, whole) = (Some(Id::Damaged), Some(Id::Number(Some(20), 3)));
        let expected = [damaged, alone(2), alone(20), damaged, whole, whole];
        assert_eq!(only_last(&cuts(br"\queryid\20.3\", id), 6), expected);
        assert_eq!(
            only_last(&cuts(br"\queryid\AMv1", id), 5),
            [
                damaged,
                Some(Id::Word),
                Some(Id::Word),
                Some(Id::Word),
                Some(Id::Word)
            ]
        );
    }

    #[test]
    fn a_cut_end_has_no_number_or_another() {
        let last = |is_final| Trailer {
            is_final,
            ..Trailer::default()
        };
        let id = Some(Id::Number(Some(2), 1));
        let found = cuts(br"\queryid\2.1\final\", end);
        assert_eq!(
            found[12..],
            [
                Some((id, last(false))),
                Some((id, last(false))),
                None,
                None,
                None,
                None,
                Some((id, last(true))),
                Some((id, last(true)))
            ]
        );
        for (input, is_unclosed) in [
            (&br"\final\\queryid\2.1"[..], false),
            (br"\final\queryid\2.1", true),
        ] {
            let first = Trailer {
                final_first: true,
                is_unclosed,
                ..last(true)
            };
            let found = cuts(input, end);
            assert_eq!(found.last(), Some(&Some((id, first))));
            let is_cut =
                |found: &Option<(Option<Id>, Trailer)>| found.is_none_or(|(found, _)| found != id);
            assert!(found.iter().rev().skip(1).all(is_cut));
        }
        let word = Some(Id::Word);
        let found = cuts(br"\queryid\AMv1\final\\eof\", eof_end);
        assert_eq!(only_last(&found, 2), [Some((word, true, true)); 2]);
        assert_eq!(
            only_last(&cuts(br"\eof\", eof_end), 2),
            [Some((None, false, true)); 2]
        );
        let found = cuts(br"\queryid\3\final\", id_end);
        let number = Some(Id::Number(None, 3));
        assert_eq!(
            (found[10], found[17]),
            (Some((number, false, false)), Some((number, true, false)))
        );
        assert_eq!(border(br"\a"), Ok((&br"\a"[..], &br"\"[..])));
        assert!(border(b"").is_ok() && border(b"a").is_err());
    }

    proptest! {
        #[test]
        fn a_trailer_that_was_written_is_read(
            pairs in vec(("[a-d]{1,8}", "[a-d0-9]{0,8}"), 0..4),
            (reply, fragment) in any::<(Option<u64>, u32)>(),
            (is_final, final_first, is_unclosed, after_status) in any::<(bool, bool, bool, bool)>(),
        ) {
            let mut body = Vec::new();
            pairs.iter().for_each(|(key, value)| put_pair(key.as_bytes(), value.as_bytes(), &mut body));
            let final_first = is_final && final_first && reply.is_some();
            let is_unclosed = final_first && is_unclosed;
            let zero_based = fragment == 0 || (after_status && reply.is_none());
            let fragment = Some(fragment);
            let trailer = Trailer { reply, fragment, zero_based, is_final, final_first, is_unclosed };
            let mut out = Vec::new();
            Response { datagram: b"", body: &body, trailer }.encode(&mut out).unwrap();
            prop_assert_eq!(split(&out), (&body[..], trailer));
        }
    }

    #[test]
    fn a_datagram_without_a_leading_backslash_is_rejected() {
        for datagram in [
            &b""[..],
            b"\0",
            b"\xff\xff\xff\xff\\a",
            b"hostname\\x",
            b"; \\a\\b",
        ] {
            let error = Response::parse(datagram, &Limits::default()).unwrap_err();
            assert_eq!(error.kind, ParseErrorKind::NotThisProtocol("a backslash"));
        }
    }

    #[test]
    fn limits_are_named_with_their_values() {
        let with = |datagram: &[u8], limits: Limits| {
            Response::parse(datagram, &limits)
                .map(|_| ())
                .map_err(|error| (error.kind, error.offset))
        };
        let limit = |what, limit, offset| Err((ParseErrorKind::Limit { what, limit }, offset));
        let datagram = br"\player_0\a\player_1\b\queryid\1.1";
        assert_eq!(
            with(datagram, Limits::default().with_max_players(1)),
            limit("players", 1, 0)
        );
        assert_eq!(
            with(
                datagram,
                Limits::default().with_max_players(2).with_max_rules(2)
            ),
            Ok(())
        );
        assert_eq!(
            with(datagram, Limits::default().with_max_rules(1)),
            limit("pairs", 1, 0)
        );
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
            response
                .problems()
                .map(|problem| (problem.kind, problem.offset))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            problems(br"\hostname\Srv\player_0\a\frags_0\7\queryid\1.1\final\"),
            []
        );
        let section = ParseErrorKind::Unexpected("a pair, not the end of a reply");
        assert_eq!(
            problems(br"\a\1\queryid\2.1\b\2\queryid\2.2\final\"),
            [(section, 5)]
        );
        let cut = ParseErrorKind::CutShort("a pair");
        assert_eq!(problems(br"\statusresponse\0\a\1\b\queryid\0"), [(cut, 22)]);
    }

    #[test]
    fn debug_output_has_the_datagram() {
        let response = Response::parse(b"\\a\\\xffb\\final\\", &Limits::default()).unwrap();
        assert_eq!(
            format!("{response:?}"),
            r#"Response("\\a\\\xffb\\final\\")"#
        );
    }

    fn trailer(reply: Option<u64>, fragment: Option<u32>, is_final: bool) -> Trailer {
        Trailer {
            reply,
            fragment,
            is_final,
            ..Trailer::default()
        }
    }

    #[test]
    fn every_dialect_of_the_end_is_recognised() {
        let end = trailer(Some(20), Some(3), true);
        let end_first = Trailer {
            final_first: true,
            ..end
        };
        let not_end = trailer(Some(20), Some(3), false);
        let unclosed = Trailer {
            is_unclosed: true,
            ..end_first
        };
        for (datagram, body, expected) in [
            (
                &br"\face_9\\queryid\20.3\final\"[..],
                &br"\face_9\"[..],
                end,
            ),
            (br"\a\1\queryid\20.3\final", br"\a\1", end),
            (br"\a\1\final\\queryid\20.3", br"\a\1", end_first),
            (br"\a\1\final\\queryid\20.3\", br"\a\1", end_first),
            (b"\\a\\1\\final\\\\queryid\\20.3\0", br"\a\1", end_first),
            (br"\a\\final\\queryid\20.3", br"\a\", end_first),
            (br"\final\\queryid\20.3", b"", end_first),
            (b"\\a\\1\\final\\queryid\\20.3\0", br"\a\1", unclosed),
            (br"\a\\final\queryid\20.3", br"\a\", unclosed),
            (br"\final\queryid\20.3", b"", unclosed),
            (
                br"\player_0\a\b\frags_0\1\final\queryid\20.3",
                br"\player_0\a\b\frags_0\1",
                unclosed,
            ),
            (br"\a\1\queryid\20.3", br"\a\1", not_end),
            (br"\a\1\queryid\20.3\", br"\a\1", not_end),
            (
                br"\a\1\queryid\3\final\",
                br"\a\1",
                trailer(None, Some(3), true),
            ),
            (br"\a\1\queryid\3", br"\a\1", trailer(None, Some(3), false)),
            (
                br"\a\1\queryid\gs1\final\",
                br"\a\1",
                trailer(None, None, true),
            ),
            (br"\a\1\final\", br"\a\1", trailer(None, None, true)),
            (br"\a\1\final", br"\a\1", trailer(None, None, true)),
            (br"\a\\final\", br"\a\", trailer(None, None, true)),
            (br"\a\1", br"\a\1", trailer(None, None, false)),
            (
                br"\a\1\queryid\20.10",
                br"\a\1",
                trailer(Some(20), Some(10), false),
            ),
        ] {
            assert_eq!(
                split(datagram),
                (body, expected),
                "{}",
                String::from_utf8_lossy(datagram)
            );
        }
    }

    #[test]
    fn numbers_in_front_count_from_zero() {
        let zero = |fragment, is_final| Trailer {
            zero_based: true,
            ..trailer(None, Some(fragment), is_final)
        };
        for (datagram, body, expected) in [
            (
                &br"\statusresponse\0\hostname\Srv\score_0\eof\"[..],
                &br"\hostname\Srv\score_0"[..],
                zero(0, false),
            ),
            (
                br"\statusresponse\1\7\queryid\AMv1\final\\eof\",
                br"\7",
                zero(1, true),
            ),
            (
                br"\statusresponse\1\a\b\queryid\1\final\",
                br"\a\b",
                zero(1, true),
            ),
            (
                br"\statusresponse\0\a\b\queryid\0",
                br"\a\b",
                zero(0, false),
            ),
            // Cut between a key and its value, and the value is the end mark's word.
            (
                br"\statusresponse\0\player_0\final\eof\",
                br"\player_0\final",
                zero(0, false),
            ),
            (
                br"\statusresponse\0\player_0\queryid\eof\",
                br"\player_0\queryid",
                zero(0, false),
            ),
            // Cut short.
            (
                br"\statusresponse\0\player_0\Ann",
                br"\player_0\Ann",
                Trailer {
                    zero_based: true,
                    ..Trailer::default()
                },
            ),
            (
                br"\statusresponse\13\a\b\queryid\1",
                br"\a\b",
                Trailer {
                    zero_based: true,
                    ..Trailer::default()
                },
            ),
        ] {
            assert_eq!(
                split(datagram),
                (body, expected),
                "{}",
                String::from_utf8_lossy(datagram)
            );
        }
        assert!(split(br"\a\b\queryid\7.0").1.zero_based);
    }

    #[test]
    fn a_player_called_final_ends_no_reply() {
        for datagram in [
            &br"\frags_3\1\player_3\final\queryid\7.1"[..],
            br"\player_3\final",
            br"\player_3\final\",
        ] {
            assert!(
                !split(datagram).1.is_final,
                "{}",
                String::from_utf8_lossy(datagram)
            );
        }
    }

    /// A cut number must not turn a fragment into a whole reply.
    #[test]
    fn a_number_that_was_cut_is_ignored() {
        for cut in [
            &br"\a\1\final\\queryid\11"[..],
            br"\a\1\final\\queryid\1",
            br"\a\1\final\\queryid\0",
            br"\a\1\final\\queryid\7.",
            br"\a\1\final\\queryid\",
            br"\a\1\final\queryid\7.",
            br"\a\1\final\queryid\7",
            br"\a\1\final\queryid\0",
            br"\a\1\final\queryid\",
            br"\a\1\queryid\7.\final\",
            br"\a\1\queryid\99999999999999999999.1\final\",
        ] {
            let (_, found) = split(cut);
            assert!(
                !found.is_final && found.fragment.is_none(),
                "{}",
                String::from_utf8_lossy(cut)
            );
        }
    }
}
