//! One datagram of a reply, viewed in place, and its encoding.
//!
//! The page of [`gamespy1`](crate::gamespy1) lists the forms of its end:
//!
//! ```text
//! reply       = message [ trailer ] [ NUL ] / "\statusresponse\" M message [ part-end ] [ NUL ]
//! trailer     = mark-number / open-mark / number-mark / mark
//! mark-number = "\final\" id             ; GameSpy's own code
//! open-mark   = "\final" id              ; Descent 3
//! number-mark = id [ mark ]              ; the Unreal engine, SWAT 4
//! mark        = "\final" [ "\" ]         ; netPanzer
//! part-end    = [ id "\final\" ] "\eof" [ "\" ] / id [ mark ]
//! id          = "\queryid\" ( N "." M / M / word ) [ "\" ]
//! ```

use std::fmt;
use std::ops::Range;

use bytes::BufMut;
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::character::complete::{u32, u64};
use nom::combinator::{all_consuming, eof, map, opt, peek, value};
use nom::sequence::{preceded, terminated};

use super::{Fields, RowKey, count_bound, is_control, separator, text, tokens};
use crate::error::{ParseError, ParseErrorKind};
use crate::grammar::Parsed;
use crate::limits::Limits;
use crate::text::{locate, take_up_to};

/// One datagram of a reply, viewed without copying.
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
    /// Parses a datagram.
    ///
    /// # Errors
    /// - [`ParseErrorKind::NotThisProtocol`] if it begins neither with `\` nor with `gamename\`, as
    ///   netPanzer's replies do (InfoSocket.cpp).
    /// - [`ParseErrorKind::Limit`] for more pairs, players, teams or fragments than `limits` allow.
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
        let max_fragments = limits.max_fragments();
        let number = trailer.fragment();
        if number.is_some_and(|number| number as usize > max_fragments) {
            let offset = response.body_range().end;
            return Err(ParseError::limit("fragments", max_fragments, offset));
        }
        // Count only if the text is long enough to exceed a limit.
        if body.len() / 2 >= limits.max_rules().min(limits.max_players()) {
            Counts::default().add(body, std::iter::empty(), limits)?;
        }
        Ok(response)
    }

    /// Every key and value in wire order, without numbers and end mark.
    ///
    /// Rows of players and teams are included.
    ///
    /// A value that contains `\` ends at it, and the texts that follow change places. In a fragment
    /// from SWAT 4's AdminMod, the first token can be the value of a key in the fragment before. An
    /// [`Answer`](crate::gamespy1::Answer), also of this datagram alone, reads such values as a
    /// whole.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        self.fields().pairs()
    }

    /// The first value of this key that is not empty, else an empty one. ASCII case is ignored.
    pub fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.fields().get(key)
    }

    /// The pairs as received, without the trailer.
    pub const fn raw(&self) -> &'a [u8] {
        self.body
    }

    /// The problems that the parser skipped or repaired.
    ///
    /// These are values with a backslash, keys of the trailer among the pairs, and a last key
    /// without a value.
    ///
    /// ```
    /// use queryport::gamespy1::Response;
    /// use queryport::Limits;
    ///
    /// let datagram = br"\player_0\a\b\frags_0\7\queryid\1.1\final\";
    /// let response = Response::parse(datagram, &Limits::default())?;
    /// let problems: Vec<String> =
    ///     response.problems().map(|problem| problem.to_string()).collect();
    /// assert_eq!(problems, ["malformed value, which holds a backslash at byte 10"]);
    /// # Ok::<(), queryport::ParseError>(())
    /// ```
    pub fn problems(&self) -> impl Iterator<Item = ParseError> + use<> {
        let mut found = Vec::new();
        let fields = Fields::with_long_values(self.body);
        // Pairs are adjacent. Only the first may lack its separator.
        let first_separator = usize::from(self.body.first() == Some(&b'\\'));
        let mut key_at = self.body_range().start.saturating_add(first_separator);
        for (key, value) in fields.pairs() {
            let value_at = key_at.saturating_add(key.len()).saturating_add(1);
            if value.contains(&b'\\') {
                let kind = ParseErrorKind::Malformed("value, which holds a backslash");
                found.push(ParseError::new(kind, value_at));
            } else if is_control(key, value) {
                let kind = ParseErrorKind::Unexpected("a pair, not the end of a reply");
                found.push(ParseError::new(kind, key_at));
            }
            key_at = value_at.saturating_add(value.len()).saturating_add(1);
        }
        if fields.end_without_value() {
            let kind = ParseErrorKind::CutShort("a pair");
            found.push(ParseError::new(kind, key_at));
        }
        found.into_iter()
    }

    /// Appends the datagram, without additions of mods: `eof`, words for numbers, a NUL.
    pub fn encode(&self, out: &mut impl BufMut) {
        if let Trailer::StatusResponse {
            fragment: Some(fragment),
            ..
        } = self.trailer
        {
            out.put_slice(format!(r"\statusresponse\{fragment}").as_bytes());
        }
        out.put_slice(self.body);
        out.put_slice(self.trailer.text().as_bytes());
    }

    /// The range of the pairs in the datagram.
    pub(crate) fn body_range(&self) -> Range<usize> {
        locate(self.datagram, self.body).unwrap_or_default()
    }

    const fn fields(&self) -> Fields<'a> {
        Fields::new(self.body)
    }
}

impl fmt::Debug for Response<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Response(\"{}\")", self.datagram.escape_ascii())
    }
}

/// The numbers of pairs, players and teams in a reply, for checking limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pairs: usize,
    /// Names of players.
    players: usize,
    /// Fields of teams.
    teams: usize,
    /// `team_N`, which names a team in the answer to `\teams\`.
    named_teams: usize,
}

impl Counts {
    /// The sums with those of a datagram, checked against the limits. `earlier`: the bodies of the
    /// datagrams that these counts already contain.
    ///
    /// Every token that looks like the key of a row counts as one, keys and values alike.
    ///
    /// As long as there are no more pairs than rows are allowed, no row is counted. The first
    /// datagram after that counts the rows of the earlier ones as well.
    pub(crate) fn add<'a>(
        mut self,
        body: &'a [u8],
        earlier: impl Iterator<Item = &'a [u8]>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let max_rows = limits.max_players();
        let has_counted_rows = self.pairs > max_rows;
        self.pairs = self.pairs.saturating_add(count_bound(body));
        if self.pairs > limits.max_rules() {
            return Err(ParseError::limit("pairs", limits.max_rules(), 0));
        }
        if self.pairs <= max_rows {
            return Ok(self);
        }
        if !has_counted_rows {
            for earlier_body in earlier {
                self.add_rows(earlier_body);
            }
        }
        self.add_rows(body);
        if self.players > max_rows {
            return Err(ParseError::limit("players", max_rows, 0));
        }
        if self.teams.max(self.named_teams) > max_rows {
            return Err(ParseError::limit("teams", max_rows, 0));
        }
        Ok(self)
    }

    fn add_rows(&mut self, body: &[u8]) {
        for key in tokens(body).filter_map(RowKey::parse) {
            if key.is_name() {
                self.players = self.players.saturating_add(1);
            }
            if key.is_team {
                self.teams = self.teams.saturating_add(1);
            }
            if key.field.eq_ignore_ascii_case(b"team") {
                self.named_teams = self.named_teams.saturating_add(1);
            }
        }
    }
}

/// The number and end mark of one datagram in its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trailer {
    /// Neither number nor end mark.
    None,
    /// `\final\` alone: netPanzer.
    Mark,
    /// `\queryid\gs1`, a word for a number: some modifications of SWAT 4.
    Word { is_final: bool },
    /// `\queryid\N.M`, then the mark: the Unreal engine.
    Numbered {
        reply: u64,
        fragment: u32,
        is_final: bool,
    },
    /// `\queryid\M`, then the mark: SWAT 4's GS1 mod.
    Fragment { fragment: u32, is_final: bool },
    /// `\final\\queryid\N.M`: GameSpy's own code.
    MarkFirst { reply: u64, fragment: u32 },
    /// `\final\queryid\N.M`, a mark without a value: Descent 3, in every datagram of a reply.
    OpenMark { reply: u64, fragment: u32 },
    /// `\statusresponse\K` before the pairs: SWAT 4's AdminMod. The fragment counts from 0. `None`
    /// if its end was cut.
    StatusResponse {
        fragment: Option<u32>,
        is_final: bool,
    },
    /// A number that was cut. It must not make a fragment look like a whole reply.
    Damaged,
}

impl Trailer {
    /// The trailer of a part whose end was cut.
    const CUT_PART: Self = Self::StatusResponse {
        fragment: None,
        is_final: false,
    };

    /// The number of the reply, in the forms that have one.
    pub(crate) const fn reply(self) -> Option<u64> {
        match self {
            Self::Numbered { reply, .. }
            | Self::MarkFirst { reply, .. }
            | Self::OpenMark { reply, .. } => Some(reply),
            _ => None,
        }
    }

    /// The number of the fragment.
    pub(crate) const fn fragment(self) -> Option<u32> {
        match self {
            Self::Numbered { fragment, .. }
            | Self::Fragment { fragment, .. }
            | Self::MarkFirst { fragment, .. }
            | Self::OpenMark { fragment, .. } => Some(fragment),
            Self::StatusResponse { fragment, .. } => fragment,
            Self::None | Self::Mark | Self::Word { .. } | Self::Damaged => None,
        }
    }

    /// Whether no other fragment follows. An end mark without a value is in every datagram.
    pub(crate) const fn is_last(self) -> bool {
        match self {
            Self::Mark | Self::MarkFirst { .. } => true,
            Self::Word { is_final }
            | Self::Numbered { is_final, .. }
            | Self::Fragment { is_final, .. }
            | Self::StatusResponse { is_final, .. } => is_final,
            Self::None | Self::OpenMark { .. } | Self::Damaged => false,
        }
    }

    pub(crate) const fn is_open_mark(self) -> bool {
        matches!(self, Self::OpenMark { .. })
    }

    /// Whether fragments are numbered from 0.
    pub(crate) const fn is_zero_based(self) -> bool {
        matches!(self, Self::StatusResponse { .. }) || matches!(self.fragment(), Some(0))
    }

    /// The end of a datagram with this trailer, without additions of mods.
    fn text(self) -> String {
        let id = match self {
            Self::None | Self::Damaged => return String::new(),
            Self::MarkFirst { reply, fragment } => {
                return format!(r"\final\\queryid\{reply}.{fragment}");
            }
            Self::OpenMark { reply, fragment } => {
                return format!(r"\final\queryid\{reply}.{fragment}");
            }
            Self::Mark | Self::Word { .. } | Self::StatusResponse { fragment: None, .. } => {
                String::new()
            }
            Self::Numbered {
                reply, fragment, ..
            } => format!(r"\queryid\{reply}.{fragment}"),
            Self::Fragment { fragment, .. }
            | Self::StatusResponse {
                fragment: Some(fragment),
                ..
            } => format!(r"\queryid\{fragment}"),
        };
        let mark = if self.is_last() { r"\final\" } else { "" };
        id + mark
    }

    /// A number, then perhaps the mark.
    const fn number_then_mark(id: Id, is_final: bool) -> Self {
        match id {
            Id::Numbers { reply, fragment } => Self::Numbered {
                reply,
                fragment,
                is_final,
            },
            Id::Number(fragment) => Self::Fragment { fragment, is_final },
            Id::Word => Self::Word { is_final },
            Id::Damaged => Self::Damaged,
        }
    }

    /// The mark, then a number.
    const fn mark_then_number(id: Id) -> Self {
        match id {
            Id::Numbers { reply, fragment } => Self::MarkFirst { reply, fragment },
            Id::Word => Self::Word { is_final: true },
            // Servers write two numbers there, so a single one was cut.
            Id::Number(_) | Id::Damaged => Self::Damaged,
        }
    }

    /// The mark without a value, then a number.
    const fn open_mark(id: Id) -> Self {
        match id {
            Id::Numbers { reply, fragment } => Self::OpenMark { reply, fragment },
            Id::Number(_) | Id::Word | Id::Damaged => Self::Damaged,
        }
    }
}

/// The value of a `queryid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Id {
    /// `N.M`: the number of the reply and that of the fragment.
    Numbers { reply: u64, fragment: u32 },
    /// `M`: the number of the fragment.
    Number(u32),
    /// A word (`AMv1`, `gs1`).
    Word,
    /// Not something a server writes: a number that was cut.
    Damaged,
}

/// Splits a datagram into its pairs and its trailer.
///
/// Keys of a trailer are recognised only where a server writes them. A player called `final` does
/// not end a reply.
pub(crate) fn split(datagram: &[u8]) -> (&[u8], Trailer) {
    let text = datagram.strip_suffix(b"\0").unwrap_or(datagram);
    if let Ok((text, number)) = status_response(text) {
        return split_part(number, text);
    }
    let longest = ends(text, trailer).find(|(body, found)| begins_with_key(text, body, *found));
    longest.unwrap_or((text, Trailer::None))
}

/// Splits a datagram after `\statusresponse\K`. Its end shows whether it was cut:
///
/// ```text
/// \eof\                       whole, but not the last: AdminMod
/// \queryid\AMv1\final\\eof\   whole and the last: AdminMod
/// \queryid\K                  whole; with `\final\` the last
/// \queryid\L                  cut: a number other than K
/// \queryid\AMv1\final\        cut: no `\eof\` after a word
/// no end                      cut
/// \queryid\?\final\\eof\      whole, but not the last: no server ends a reply with such an id
/// ```
fn split_part(number: u32, text: &[u8]) -> (&[u8], Trailer) {
    let with_eof = ends(text, eof_end).next();
    let longest = with_eof.or_else(|| ends(text, id_end).next());
    let Some((body, end)) = longest else {
        return (text, Trailer::CUT_PART);
    };
    let is_whole = match end.id {
        Some(Id::Number(again)) => again == number,
        // Two numbers are of another form.
        Some(Id::Numbers { .. }) => false,
        // Without a number, only `eof` shows that nothing was cut.
        Some(Id::Word | Id::Damaged) | None => end.has_eof,
    };
    if !is_whole {
        return (body, Trailer::CUT_PART);
    }
    let has_valid_id = end.id != Some(Id::Damaged);
    let trailer = Trailer::StatusResponse {
        fragment: Some(number),
        is_final: end.is_final && has_valid_id,
    };
    (body, trailer)
}

/// How many separators from the end a trailer is searched. The longest one has six, and one more is
/// allowed: `\queryid\AMv1\final\\eof\`.
const MAX_SEPARATORS: usize = 7;

/// The ends of a text that `production` parses, each with the body before it. The longest end is
/// the first item.
fn ends<'a, T>(
    text: &'a [u8],
    production: impl Fn(&'a [u8]) -> Parsed<'a, T>,
) -> impl Iterator<Item = (&'a [u8], T)> {
    const WORDS: [&[u8]; 3] = [br"\queryid", br"\final", br"\eof"];
    let last_separators = memchr::memrchr_iter(b'\\', text).take(MAX_SEPARATORS);
    let searched_from = last_separators.last().unwrap_or(text.len());
    let (before, searched) = text.split_at_checked(searched_from).unwrap_or_default();
    memchr::memchr_iter(b'\\', searched).filter_map(move |start| {
        let (rest, body) = take_up_to(text, before.len().saturating_add(start)).ok()?;
        if !WORDS.iter().any(|word| rest.starts_with(word)) {
            return None;
        }
        let (_, end) = all_consuming(&production).parse(rest).ok()?;
        Some((body, end))
    })
}

/// Whether the trailer after this body of a text begins with a key. Two trailers could begin with a
/// value, such as a player's name: the mark alone, and the one without a value.
///
/// ```text
/// \player_0\final
/// \player_0\final\queryid\2.1
/// ```
fn begins_with_key(text: &[u8], body: &[u8], trailer: Trailer) -> bool {
    let end = text.get(body.len()..).unwrap_or_default();
    let may_be_value = trailer == Trailer::Mark || end.starts_with(br"\final\queryid");
    if !may_be_value {
        return true;
    }
    !Fields::with_long_values(body).end_without_value()
}

/// `start = "\statusresponse\" M`; the separator after it stays.
fn status_response(input: &[u8]) -> Parsed<'_, u32> {
    terminated(preceded(tag(&br"\statusresponse\"[..]), u32), border).parse(input)
}

/// `trailer = mark-number / open-mark / number-mark / mark`
fn trailer(input: &[u8]) -> Parsed<'_, Trailer> {
    alt((
        map(
            preceded(tag(&br"\final\"[..]), id),
            Trailer::mark_then_number,
        ),
        map(preceded(tag(&br"\final"[..]), id), Trailer::open_mark),
        map((id, opt(mark)), |(id, mark)| {
            Trailer::number_then_mark(id, mark.is_some())
        }),
        value(Trailer::Mark, mark),
    ))
    .parse(input)
}

/// The end of a datagram that begins with the number of its fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PartEnd {
    id: Option<Id>,
    is_final: bool,
    has_eof: bool,
}

/// `eof-end = [ id "\final\" ] "\eof" [ "\" ]`. AdminMod cuts between any two tokens, so any words
/// can precede the end. Its end mark always has a closing separator.
fn eof_end(input: &[u8]) -> Parsed<'_, PartEnd> {
    let last = opt(terminated(id, tag(&br"\final\"[..])));
    let eof = (tag(&br"\eof"[..]), opt(separator));
    let end = |id: Option<Id>| PartEnd {
        id,
        is_final: id.is_some(),
        has_eof: true,
    };
    map(terminated(last, eof), end).parse(input)
}

/// `id-end = id [ mark ]`: the alternative to [`eof_end`] in a datagram without `eof`.
fn id_end(input: &[u8]) -> Parsed<'_, PartEnd> {
    let end = |(id, mark): (Id, Option<()>)| PartEnd {
        id: Some(id),
        is_final: mark.is_some(),
        has_eof: false,
    };
    map((id, opt(mark)), end).parse(input)
}

/// `mark = "\final" [ "\" ]`
fn mark(input: &[u8]) -> Parsed<'_, ()> {
    value((), (tag(&br"\final"[..]), opt(separator))).parse(input)
}

/// `id = "\queryid\" ( number / text ) [ "\" ]`. The last separator is part of it only if no key
/// begins there: in `\queryid\2.1\` and `\queryid\2.1\\eof`, but not in `\queryid\2.1\final`.
fn id(input: &[u8]) -> Parsed<'_, Id> {
    let closing_separator = opt(terminated(separator, border));
    let prefixed = preceded(tag(&br"\queryid\"[..]), text);
    let (rest, value) = terminated(prefixed, closing_separator).parse(input)?;
    let id = match all_consuming(number).parse(value) {
        Ok((_, id)) => id,
        Err(_) if value.first().is_some_and(u8::is_ascii_alphabetic) => Id::Word,
        Err(_) => Id::Damaged,
    };
    Ok((rest, id))
}

/// Succeeds before a separator or at the end; consumes nothing.
fn border(input: &[u8]) -> Parsed<'_, &[u8]> {
    peek(alt((separator, eof))).parse(input)
}

/// `number = N "." M / M`: two integers, never a fraction. 20.1 and 20.10 are different fragments.
fn number(input: &[u8]) -> Parsed<'_, Id> {
    let (rest, (reply, fragment)) = (opt(terminated(u64, tag(&b"."[..]))), u32).parse(input)?;
    let id = reply.map_or(Id::Number(fragment), |reply| Id::Numbers {
        reply,
        fragment,
    });
    Ok((rest, id))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::put::put_pair;
    use super::*;

    fn any_trailer() -> impl Strategy<Value = Trailer> {
        let numbers = (any::<u64>(), any::<u32>(), any::<bool>());
        prop_oneof![
            numbers.prop_map(|(reply, fragment, is_final)| Trailer::Numbered {
                reply,
                fragment,
                is_final
            }),
            numbers.prop_map(|(reply, fragment, _)| Trailer::MarkFirst { reply, fragment }),
            numbers.prop_map(|(reply, fragment, _)| Trailer::OpenMark { reply, fragment }),
            numbers.prop_map(|(_, fragment, is_final)| Trailer::Fragment { fragment, is_final }),
            numbers.prop_map(|(_, fragment, is_final)| Trailer::StatusResponse {
                fragment: Some(fragment),
                is_final
            }),
            Just(Trailer::Mark),
            Just(Trailer::None),
        ]
    }

    proptest! {
        #[test]
        fn a_trailer_that_was_written_is_read(
            pairs in vec(("[a-d]{1,8}", "[a-d0-9]{0,8}"), 0..4),
            trailer in any_trailer(),
        ) {
            let mut body = Vec::new();
            for (key, value) in &pairs {
                put_pair(key.as_bytes(), value.as_bytes(), &mut body);
            }
            let mut out = Vec::new();
            Response { datagram: b"", body: &body, trailer }.encode(&mut out);
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
        let last = br"\a\b\queryid\1.256\final\";
        assert_eq!(with(last, Limits::default()), Ok(()));
        let far = br"\a\b\queryid\1.257\final\";
        assert_eq!(with(far, Limits::default()), limit("fragments", 256, 4));
    }

    #[test]
    fn skipped_and_repaired_parts_are_listed() {
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
        let backslash = ParseErrorKind::Malformed("value, which holds a backslash");
        assert_eq!(
            problems(br"\player_0\a\b\frags_0\7\queryid\1.1\final\"),
            [(backslash, 10)]
        );
        let cut = ParseErrorKind::CutShort("a pair");
        assert_eq!(problems(br"\statusresponse\0\a\1\b\queryid\0"), [(cut, 22)]);
    }

    #[track_caller]
    fn assert_split(datagram: &[u8], body: &[u8], trailer: Trailer) {
        assert_eq!(
            split(datagram),
            (body, trailer),
            "{}",
            datagram.escape_ascii()
        );
    }

    #[test]
    fn every_form_of_the_end_is_recognised() {
        let (reply, fragment) = (20, 3);
        let end = Trailer::Numbered {
            reply,
            fragment,
            is_final: true,
        };
        let not_end = Trailer::Numbered {
            reply,
            fragment,
            is_final: false,
        };
        let first = Trailer::MarkFirst { reply, fragment };
        let open = Trailer::OpenMark { reply, fragment };
        assert_split(br"\face_9\\queryid\20.3\final\", br"\face_9\", end);
        assert_split(br"\a\1\queryid\20.3\final", br"\a\1", end);
        assert_split(br"\a\1\queryid\20.3", br"\a\1", not_end);
        assert_split(br"\a\1\queryid\20.3\", br"\a\1", not_end);
        let tenth = Trailer::Numbered {
            reply,
            fragment: 10,
            is_final: false,
        };
        assert_split(br"\a\1\queryid\20.10", br"\a\1", tenth);

        assert_split(br"\a\1\final\\queryid\20.3", br"\a\1", first);
        assert_split(br"\a\1\final\\queryid\20.3\", br"\a\1", first);
        assert_split(b"\\a\\1\\final\\\\queryid\\20.3\0", br"\a\1", first);
        assert_split(br"\a\\final\\queryid\20.3", br"\a\", first);
        assert_split(br"\final\\queryid\20.3", b"", first);

        assert_split(b"\\a\\1\\final\\queryid\\20.3\0", br"\a\1", open);
        assert_split(br"\a\\final\queryid\20.3", br"\a\", open);
        assert_split(br"\final\queryid\20.3", b"", open);
        let rows = br"\player_0\a\b\frags_0\1";
        assert_split(br"\player_0\a\b\frags_0\1\final\queryid\20.3", rows, open);

        let fragment = |is_final| Trailer::Fragment {
            fragment: 3,
            is_final,
        };
        assert_split(br"\a\1\queryid\3\final\", br"\a\1", fragment(true));
        assert_split(br"\a\1\queryid\3", br"\a\1", fragment(false));
        assert_split(
            br"\a\1\queryid\gs1\final\",
            br"\a\1",
            Trailer::Word { is_final: true },
        );
        assert_split(br"\a\1\final\", br"\a\1", Trailer::Mark);
        assert_split(br"\a\1\final", br"\a\1", Trailer::Mark);
        assert_split(br"\a\\final\", br"\a\", Trailer::Mark);
        assert_split(br"\a\1", br"\a\1", Trailer::None);
    }

    #[test]
    fn numbers_in_front_count_from_zero() {
        let part = |fragment, is_final| Trailer::StatusResponse { fragment, is_final };
        let first = part(Some(0), false);
        assert_split(
            br"\statusresponse\0\hostname\Srv\score_0\eof\",
            br"\hostname\Srv\score_0",
            first,
        );
        let last = part(Some(1), true);
        assert_split(
            br"\statusresponse\1\7\queryid\AMv1\final\\eof\",
            br"\7",
            last,
        );
        assert_split(br"\statusresponse\1\a\b\queryid\1\final\", br"\a\b", last);
        assert_split(br"\statusresponse\0\a\b\queryid\0", br"\a\b", first);
        // Cut between a key and its value, and the value is a word of the trailer.
        assert_split(
            br"\statusresponse\0\player_0\final\eof\",
            br"\player_0\final",
            first,
        );
        assert_split(
            br"\statusresponse\0\player_0\queryid\eof\",
            br"\player_0\queryid",
            first,
        );
        // Cut short.
        let cut = part(None, false);
        assert_split(br"\statusresponse\0\player_0\Ann", br"\player_0\Ann", cut);
        assert_split(br"\statusresponse\13\a\b\queryid\1", br"\a\b", cut);
        assert_split(br"\statusresponse\1\a\b\queryid\1.1", br"\a\b", cut);
        assert_split(br"\statusresponse\1\a\b\queryid\AMv1\final\", br"\a\b", cut);
        assert!(split(br"\a\b\queryid\7.0").1.is_zero_based());
    }

    #[test]
    fn a_player_called_final_ends_no_reply() {
        for datagram in [
            &br"\frags_3\1\player_3\final\queryid\7.1"[..],
            br"\player_3\final",
            br"\player_3\final\",
        ] {
            assert!(
                !split(datagram).1.is_last(),
                "{}",
                String::from_utf8_lossy(datagram)
            );
        }
    }

    /// A cut number must not make a fragment look like a whole reply.
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
                !found.is_last() && found.fragment().is_none(),
                "{}",
                String::from_utf8_lossy(cut)
            );
        }
    }
}
