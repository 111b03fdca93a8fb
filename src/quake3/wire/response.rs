//! `infoResponse` and `statusResponse`: a server's description and its players.

use bytes::BufMut;
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, tag_no_case, take_till};
use nom::combinator::{not, opt, peek, value};
use nom::sequence::{delimited, preceded, terminated};

use super::infostring::InfoString;
use super::line::{self, Marked, until};
use super::player::{self, PlayerLine, is_blank};
use super::siblings::{Family, stream_pair};
use crate::error::{ParseError, ParseErrorKind};
use crate::grammar::{self, Parsed, expect};
use crate::limits::Limits;
use crate::options::Detail;
use crate::text::{each, each_with_offset, take_up_to};

/// A reply, viewed without copying.
///
/// ```
/// use queryport::quake3::Response;
/// use queryport::{Detail, Limits};
///
/// let packet = b"\xff\xff\xff\xffstatusResponse\n\
///     \\mapname\\q3dm17\\sv_hostname\n12 50 \"You\"\n";
/// let response = Response::parse(packet, &Limits::default())?;
/// assert_eq!(response.detail(), Detail::Full);
/// assert_eq!(response.info().get("mapname"), Some(&b"q3dm17"[..]));
/// assert_eq!(response.players().next().unwrap().name(), b"You");
///
/// let problem = response.problems().next().unwrap();
/// assert_eq!(
///     problem.to_string(),
///     "cut short inside the infostring: a key without a value at byte 35"
/// );
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    pub(crate) datagram: &'a [u8],
    pub(crate) layout: Layout,
}

/// The offsets in a datagram that was read once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) family: Family,
    pub(crate) detail: Detail,
    /// The byte after the mark, which Medal of Honor's servers write.
    fifth_byte: Option<u8>,
    /// The infostring.
    info_start: usize,
    info_end: usize,
    /// The first byte after the infostring's line.
    players_start: usize,
    /// Whether a line feed ends the infostring; without it a status is cut there.
    pub(crate) info_closed: bool,
}

impl<'a> Response<'a> {
    /// Reads a reply. Parts that some servers leave out may be missing, see [`Self::problems`].
    ///
    /// # Errors
    /// - [`ParseErrorKind::NotThisProtocol`] without the mark, or for an unknown word.
    /// - [`ParseErrorKind::Unexpected`] for other messages.
    /// - [`ParseErrorKind::CutShort`] without an infostring.
    /// - [`ParseErrorKind::Limit`] for more keys or players than `limits` allow.
    pub fn parse(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        let Marked { fifth_byte, text } = line::marked(datagram)?;
        let Ok((after_word, Word { family, detail })) = word(text) else {
            let expected = "infoResponse or statusResponse";
            return Err(line::unexpected(text, expected));
        };
        let offset_of = |rest: &[u8]| datagram.len().saturating_sub(rest.len());
        let no_infostring = ParseErrorKind::CutShort("the reply: no infostring");
        let before_info = expect(no_infostring, |input| begin(family, input));
        let (body, has_quote) = grammar::read(before_info, after_word, offset_of(after_word))?;
        let info_start = offset_of(body);
        let (after_info, info) =
            grammar::read(|input| infostring(family, input), body, info_start)?;
        let info_closed = !after_info.is_empty();
        let framing = Framing {
            has_quote,
            is_closed: info_closed,
        };
        let info = framing.without_padding(info);
        let players = after_info.get(1..).unwrap_or_default();
        let layout = Layout {
            family,
            detail,
            fifth_byte,
            info_start,
            info_end: info_start.saturating_add(info.len()),
            players_start: offset_of(players),
            info_closed,
        };
        let response = Self { datagram, layout };
        response.check(limits)?;
        Ok(response)
    }

    /// Checks the numbers of keys and players. A text that is too short to exceed a limit is not
    /// counted.
    fn check(&self, limits: &Limits) -> Result<(), ParseError> {
        let info = self.info();
        let player_text = self.player_text();
        let max_rules = limits.max_rules();
        let length = info.raw().len().saturating_add(player_text.len());
        let mut rules = info.iter().chain(self.streams());
        if length / 2 >= max_rules && rules.nth(max_rules).is_some() {
            return Err(ParseError::limit(
                "rules",
                max_rules,
                self.layout.info_start,
            ));
        }
        let max_players = limits.max_players();
        if player_text.len() / 2 >= max_players && self.players().nth(max_players).is_some() {
            return Err(ParseError::limit(
                "players",
                max_players,
                self.layout.players_start,
            ));
        }
        let has_many_pairs = |pairs: InfoString<'_>| pairs.iter().nth(max_rules).is_some();
        let mut pairs = self.players().filter_map(PlayerLine::pairs);
        if self.layout.family == Family::Quetoo && pairs.any(has_many_pairs) {
            return Err(ParseError::limit(
                "values of a player",
                max_rules,
                self.layout.players_start,
            ));
        }
        Ok(())
    }

    /// Which reply it is: an `infoResponse` is [`Detail::Short`], a `statusResponse`
    /// [`Detail::Full`].
    pub const fn detail(&self) -> Detail {
        self.layout.detail
    }

    /// The family of the reply.
    pub const fn family(&self) -> Family {
        self.layout.family
    }

    /// The server's keys and values.
    pub fn info(&self) -> InfoString<'a> {
        let Layout {
            info_start,
            info_end,
            ..
        } = self.layout;
        InfoString::new(self.datagram.get(info_start..info_end).unwrap_or_default())
    }

    /// Whether the infostring ends with a key without a value, as a cut one does.
    pub(crate) fn has_odd_key(&self) -> bool {
        let info = self.info();
        // Soldier of Fortune's servers write a separator after the last value
        // (Unity-Technologies/qstat, qstat.c).
        let may_have_separator = self.layout.family == Family::Quake2 && self.layout.info_closed;
        let has_separator = may_have_separator && info.raw().ends_with(b"\\");
        info.has_odd_key() && !has_separator
    }

    /// The value of the first pair with this key, and its offset in the datagram.
    pub(crate) fn find(&self, key: &str) -> Option<(usize, &'a [u8])> {
        let (offset, value) = self.info().find(key)?;
        Some((self.layout.info_start.saturating_add(offset), value))
    }

    /// The player lines, in the server's order; none in an `infoResponse`. Lines without a quoted
    /// name are skipped, see [`Self::problems`].
    pub fn players(&self) -> impl Iterator<Item = PlayerLine<'a>> + use<'a> {
        let family = self.layout.family;
        self.text_lines()
            .filter_map(move |line| PlayerLine::parse_in(family, line))
    }

    /// The streams that lines of QuakeWorld describe, which become rules.
    fn streams(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let is_quake_world = self.layout.family == Family::QuakeWorld;
        let lines = is_quake_world.then(|| self.text_lines());
        lines.into_iter().flatten().filter_map(stream_pair)
    }

    /// The text of the reply after the word that it begins with.
    pub(crate) fn text(&self) -> &'a [u8] {
        self.datagram
            .get(self.layout.info_start..)
            .unwrap_or_default()
    }

    /// Parts that the reader skipped or repaired, each with its offset.
    ///
    /// These are bytes that belong to no part of the reply, a key without a value, lines that are
    /// not player lines, and missing line feeds.
    pub fn problems(&self) -> impl Iterator<Item = ParseError> + use<'a> {
        use ParseErrorKind::{CutShort, Malformed};
        let (datagram, length) = (self.datagram, self.datagram.len());
        let Layout {
            detail,
            info_start,
            info_end,
            players_start,
            info_closed,
            ..
        } = self.layout;
        let text = line::marked(datagram).map_or(datagram, |marked| marked.text);
        let after_word = word(text).map_or(text, |(rest, _)| rest);
        let word_end = length.saturating_sub(after_word.len());
        // Between two parts there is nothing or one line feed.
        let has_other_bytes = |from: usize, to| !matches!(datagram.get(from..to), Some([] | b"\n"));
        // Elite Force's servers quote the infostring of an `infoResponse` (recorded from Lilium
        // Voyager).
        let before_info = datagram.get(word_end..info_start);
        let opens_quote = matches!(before_info, Some(b" \"" | b"\n\""));
        let after_info = datagram.get(info_end..players_start);
        let closes_quote = opens_quote && matches!(after_info, Some(b"\"" | b"\"\n"));
        let is_status = detail == Detail::Full;
        let has_odd_word_end = has_other_bytes(word_end, info_start) && !opens_quote;
        let has_odd_key = self.has_odd_key();
        let has_odd_info_end = has_other_bytes(info_end, players_start) && !closes_quote;
        let lacks_line_feed = is_status && !info_closed;
        let has_rest = !is_status && has_other_bytes(players_start, length);
        let is_cut = !self.closes_lines();
        let malformed = |what, at| ParseError::new(Malformed(what), at);
        let cut_short = |what, at| ParseError::new(CutShort(what), at);
        let framing = [
            has_odd_word_end.then(|| malformed("end of the command word", word_end)),
            has_odd_key
                .then(|| cut_short("the infostring: a key without a value", self.last_key())),
            has_odd_info_end.then(|| malformed("end of the infostring", info_end)),
            lacks_line_feed.then(|| cut_short("the infostring: no line feed ends it", length)),
            has_rest.then(|| malformed("end of the reply", players_start)),
            is_cut.then(|| cut_short("the last player line: no line feed ends it", length)),
        ];
        framing.into_iter().flatten().chain(self.skipped_lines())
    }

    /// The offset of the last key of the infostring.
    fn last_key(&self) -> usize {
        let start = self.layout.info_start;
        let separator = memchr::memrchr(b'\\', self.info().raw());
        separator.map_or(start, |at| start.saturating_add(at).saturating_add(1))
    }

    /// An error for each line that is not a player line.
    fn skipped_lines(&self) -> impl Iterator<Item = ParseError> + use<'a> {
        let Layout {
            family,
            players_start,
            ..
        } = self.layout;
        // NUL ends each datagram of QuakeWorld.
        let is_end = move |line: &[u8]| family == Family::QuakeWorld && line == b"\0";
        let is_skipped =
            move |line: &[u8]| !line.is_empty() && !is_whole_line(family, line) && !is_end(line);
        each_with_offset(self.player_text(), player::line)
            .filter(move |(_, line)| is_skipped(line))
            .map(move |(offset, _)| {
                let kind = ParseErrorKind::Malformed("player line");
                ParseError::new(kind, players_start.saturating_add(offset))
            })
    }

    /// Appends the reply again: the same keys, players and framing, without what [`Self::problems`]
    /// reports as malformed.
    pub fn encode(&self, out: &mut impl BufMut) {
        let Layout {
            family,
            detail,
            fifth_byte,
            ..
        } = self.layout;
        put_head(Word { family, detail }, fifth_byte, out);
        out.put_slice(self.info().raw());
        if self.layout.info_closed {
            out.put_u8(b'\n');
        }
        for line in self.text_lines().filter(|line| is_whole_line(family, line)) {
            out.put_slice(line);
            out.put_u8(b'\n');
        }
        if family == Family::QuakeWorld {
            out.put_u8(0);
        }
    }

    /// The lines after the infostring, including those that are not players.
    pub(crate) fn text_lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let text = self.player_text();
        let length = match self.layout.family {
            // Only the line feed ends a name of Quetoo: a cut name looks like a shorter one.
            Family::Quetoo => memchr::memrchr(b'\n', text).map_or(0, |at| at.saturating_add(1)),
            _ => text.len(),
        };
        each(text.get(..length).unwrap_or_default(), player::line)
    }

    /// Whether a line feed ends the last player line, if there is one.
    pub(crate) fn closes_lines(&self) -> bool {
        // NUL ends each datagram of QuakeWorld, and an empty server's status of FTE
        // (fte-team/fteqw).
        let last = self.player_text().iter().rfind(|byte| **byte != 0);
        last.is_none_or(|last| *last == b'\n')
    }

    /// The bytes after the infostring's line.
    pub(crate) fn player_text(&self) -> &'a [u8] {
        let text = self
            .datagram
            .get(self.layout.players_start..)
            .unwrap_or_default();
        if self.layout.detail == Detail::Full {
            text
        } else {
            b""
        }
    }
}

/// The word that a reply begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) family: Family,
    pub(crate) detail: Detail,
}

/// Appends the mark, the byte after it, the word, and the line feed after the word.
pub(crate) fn put_head(word: Word, fifth_byte: Option<u8>, out: &mut impl BufMut) {
    let text = match word.family {
        Family::Quake3 => command_word(word.detail),
        Family::Quake2 => "print",
        Family::QuakeWorld => "n",
        Family::Quetoo => "status",
    };
    line::put(fifth_byte, text.as_bytes(), out);
    if word.family != Family::QuakeWorld {
        out.put_u8(b'\n');
    }
}

/// The word that a reply of Quake 3 begins with.
pub(crate) const fn command_word(detail: Detail) -> &'static str {
    match detail {
        Detail::Short => "infoResponse",
        Detail::Full => "statusResponse",
    }
}

/// `word = "statusResponse" / "infoResponse" / "infostringresponse" / ( %s"print" &text-lines ) /
/// ( %s"n" &"\" ) / ( %s"status" &( LF "\" ) )`.
/// qstat reads the third one as well; the last ones are Quake 2's, QuakeWorld's and Quetoo's
/// (id-Software/Quake-2, server/sv_main.c; id-Software/Quake, QW/server/sv_main.c; jdolan/quetoo,
/// src/server/sv_main.c).
fn word(text: &[u8]) -> Parsed<'_, Word> {
    let info = alt((
        tag_no_case(command_word(Detail::Short)),
        tag_no_case("infostringresponse"),
    ));
    let full = |family| Word {
        family,
        detail: Detail::Full,
    };
    let short = Word {
        family: Family::Quake3,
        detail: Detail::Short,
    };
    let quake2 = terminated(tag("print"), peek(text_lines));
    let quake_world = terminated(tag("n"), peek(tag("\\")));
    let quetoo = terminated(tag("status"), peek(tag("\n\\")));
    alt((
        value(
            full(Family::Quake3),
            tag_no_case(command_word(Detail::Full)),
        ),
        value(short, info),
        value(full(Family::Quake2), quake2),
        value(full(Family::QuakeWorld), quake_world),
        value(full(Family::Quetoo), quetoo),
    ))
    .parse(text)
}

/// Whether a line is a player's or, in QuakeWorld, that of a stream.
fn is_whole_line(family: Family, line: &[u8]) -> bool {
    PlayerLine::is_one(family, line)
        || (family == Family::QuakeWorld && stream_pair(line).is_some())
}

/// The bytes around an infostring, which decide which bytes at its end are padding.
struct Framing {
    /// Whether a quote precedes the infostring.
    has_quote: bool,
    /// Whether a line feed ends the infostring.
    is_closed: bool,
}

impl Framing {
    /// An infostring without the bytes that servers and tools leave at its end.
    fn without_padding<'a>(&self, info: &'a [u8]) -> &'a [u8] {
        let last = info.iter().rposition(|byte| !self.is_padding(*byte));
        let length = last.map_or(0, |last| last.saturating_add(1));
        info.get(..length).unwrap_or_default()
    }

    fn is_padding(&self, byte: u8) -> bool {
        match byte {
            b'\r' => true,
            b'"' => self.has_quote || !self.is_closed,
            0 => !self.is_closed,
            _ => false,
        }
    }
}

/// `text-lines = LF *( !"\" *( %x00-09 / %x0B-FF ) LF ) &"\"`: the end of the word's line, and
/// lines of text that some servers of Quake 2 send before the infostring (Unity-Technologies/qstat,
/// qstat.c, `deal_with_qw_packet`).
fn text_lines(input: &[u8]) -> Parsed<'_, ()> {
    let (mut rest, _) = tag("\n").parse(input)?;
    while !rest.starts_with(b"\\") {
        (rest, _) = terminated(until::<b'\n'>, tag("\n")).parse(rest)?;
    }
    Ok((rest, ()))
}

/// `begin = text-lines / between ( LF [ DQUOTE &"\" ] / &"\" )`: the bytes between the word and the
/// infostring, and whether the last of them is a quote. The first form is Quake 2's.
///
/// `between = *( %x00-09 / %x0B-5B / %x5D-FF )`. Some servers put bytes there, or a quote, if they
/// quote the infostring (recorded from Lilium Voyager).
fn begin(family: Family, input: &[u8]) -> Parsed<'_, bool> {
    if family == Family::Quake2 {
        return value(false, text_lines).parse(input);
    }
    let (rest, between) = take_till(|byte| matches!(byte, b'\n' | b'\\')).parse(input)?;
    let quote = terminated(tag("\""), peek(tag("\\")));
    let next_line = preceded(tag("\n"), opt(quote)).map(|quote| quote.is_some());
    let same_line = value(between.ends_with(b"\""), peek(tag("\\")));
    alt((next_line, same_line)).parse(rest)
}

/// `infostring = *( %x00-09 / %x0B-FF ) *value-line`, up to a line feed or the end. A value may
/// hold line feeds, each followed by a space, and more pairs may follow (captured: `fs_manifest` of
/// Quake III servers with many paks). In Quetoo, whose player lines are pairs too, it is one line.
fn infostring(family: Family, text: &[u8]) -> Parsed<'_, &[u8]> {
    let (mut after_info, line) = until::<b'\n'>(text)?;
    if family == Family::Quetoo {
        return Ok((after_info, line));
    }
    let mut after_line = after_info;
    while let Ok((rest, has_text)) = value_line(after_line) {
        after_line = rest;
        // The next line shows whether a line of spaces belongs to a value.
        if has_text {
            after_info = after_line;
        }
    }
    let length = text.len().saturating_sub(after_info.len());
    take_up_to(text, length)
}

/// `value-line = LF ( *plain "\" *( %x00-09 / %x0B-FF ) / SP *plain )`: a line after the first one
/// of an infostring. The result is whether it has text: the rest of a value, and perhaps further
/// pairs. Otherwise it has only spaces, or bytes that tools leave at the end.
///
/// On a player line a quote comes before any `\`; no value holds a quote.
#[inline(always)]
fn value_line(input: &[u8]) -> Parsed<'_, bool> {
    let plain = || take_till(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
    let pair = value(true, (plain(), tag("\\"), until::<b'\n'>));
    let after_space = delimited(peek(tag(" ")), plain(), not(tag("\"")));
    let text = after_space.map(|line| !is_blank(line));
    preceded(tag("\n"), alt((pair, text))).parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &[u8]) -> Result<Response<'_>, ParseError> {
        Response::parse(
            Vec::leak([b"\xff\xff\xff\xff", body].concat()),
            &Limits::default(),
        )
    }

    /// Clients of id Software's games compare the word without case.
    #[test]
    fn the_words_of_quake_3_are_read_in_any_case() {
        for body in [&b"STATUSRESPONSE\n\\a\\b\n"[..], b"inforesponse\n\\a\\b"] {
            let response = parse(body).unwrap();
            assert_eq!(response.info().get("a"), Some(&b"b"[..]));
        }
    }

    #[test]
    fn quotes_around_an_info_are_no_damage() {
        for body in [
            &b"infoResponse \"\\hostname\\Srv\""[..],
            b"infoResponse \"\\hostname\\Srv\"\n",
            b"infoResponse\n\"\\hostname\\Srv\"",
            b"infoResponse\n\"\\hostname\\Srv\"\n",
        ] {
            assert_eq!(parse(body).unwrap().problems().next(), None);
        }
        let cut = b"infoResponse \"\\hostname\\Srv";
        assert_eq!(parse(cut).unwrap().problems().next(), None);
        let open = b"infoResponse\n\\hostname\\Srv\"";
        assert_eq!(parse(open).unwrap().problems().count(), 1);
    }

    #[test]
    fn framing_is_tolerant_where_servers_differ() {
        for body in [
            &b"infoResponse\n\\hostname\\Srv"[..],
            b"\x01infoResponse\n\\hostname\\Srv",
            b"INFORESPONSE\n\\hostname\\Srv\0",
            b"infoResponse\r\n\\hostname\\Srv\r\n",
            b"infoResponse \\hostname\\Srv\"",
            b"infostringresponse\n\\hostname\\Srv",
            b"infoResponse\nhostname\\Srv",
            b"infoResponse \"\\hostname\\Srv\"",
            b"infoResponse \"\\hostname\\Srv\"\n",
            b"infoResponse\n\"\\hostname\\Srv\"",
            b"infoResponse\n\"\\hostname\\Srv\"\n",
        ] {
            let response = parse(body).unwrap();
            assert_eq!(response.detail(), Detail::Short);
            assert_eq!(
                response.info().iter().collect::<Vec<_>>(),
                [(&b"hostname"[..], &b"Srv"[..])],
                "{body:?}"
            );
            assert_eq!(response.players().count(), 0);
        }
    }

    /// In other places, these bytes are padding.
    #[test]
    fn a_quote_or_nul_before_the_line_feed_is_part_of_a_value() {
        for value in [&b"1\""[..], b"1\0"] {
            let body = [b"statusResponse\n\\a\\", value, b"\n"].concat();
            assert_eq!(parse(&body).unwrap().info().get("a"), Some(value));
        }
    }

    #[test]
    fn other_datagrams_are_rejected_with_their_offset() {
        let kind = |body| {
            parse(body)
                .map(|_| ())
                .map_err(|error| (error.kind, error.offset))
        };
        let expected = "infoResponse or statusResponse";
        assert_eq!(
            kind(b"print\nno"),
            Err((ParseErrorKind::Unexpected(expected), 4))
        );
        assert_eq!(
            kind(b"getstatus x"),
            Err((ParseErrorKind::Unexpected(expected), 4))
        );
        assert_eq!(
            kind(b"infoRespons"),
            Err((ParseErrorKind::NotThisProtocol(expected), 4))
        );
        assert_eq!(
            kind(b"Iprotocol\0"),
            Err((ParseErrorKind::NotThisProtocol(expected), 4))
        );
        assert_eq!(
            kind(b""),
            Err((ParseErrorKind::NotThisProtocol(expected), 4))
        );
        assert_eq!(
            kind(b"infoResponse"),
            Err((ParseErrorKind::CutShort("the reply: no infostring"), 16))
        );
        assert_eq!(
            kind(b"infoResponse and"),
            Err((ParseErrorKind::CutShort("the reply: no infostring"), 20))
        );
        assert_eq!(
            Response::parse(b"\\gamename\\ut", &Limits::default())
                .unwrap_err()
                .kind,
            ParseErrorKind::NotThisProtocol("four bytes 0xff")
        );
    }

    /// The word, its end if that is fixed, and the infostring's first mark.
    #[test]
    fn each_byte_before_the_infostring_is_needed() {
        let infostring = br"a\b\c\d";
        for (begin, length, text) in [
            (&b"print\n\\"[..], 7, 0..0),
            (b"print\ntext\n\\", 12, 6..10),
            (b"n\\", 2, 0..0),
            (b"status\n\\", 8, 0..0),
            (b"statusResponse\n\\", 14, 0..0),
            (b"infoResponse\n\\", 12, 0..0),
            (b"infostringresponse\n\\", 18, 0..0),
        ] {
            let whole = [begin, infostring].concat();
            assert!(parse(&whole).is_ok(), "{}", whole.escape_ascii());
            for left_out in (0..length).filter(|place| !text.contains(place)) {
                let mut cut = whole.clone();
                cut.remove(left_out);
                assert!(parse(&cut).is_err(), "{}", cut.escape_ascii());
            }
        }
    }

    #[test]
    fn problems_are_listed_with_their_offsets() {
        let problems = |body| -> Vec<_> {
            parse(body)
                .unwrap()
                .problems()
                .map(|problem| (problem.kind, problem.offset))
                .collect()
        };
        let (malformed, cut) = (ParseErrorKind::Malformed, ParseErrorKind::CutShort);
        assert_eq!(problems(b"statusResponse\n\\a\\1\n1 2 \"x\"\n"), []);
        assert_eq!(problems(b"\x01infoResponse\n\\a\\1"), []);
        assert_eq!(
            problems(b"infoResponse \\a\\1"),
            [(malformed("end of the command word"), 16)]
        );
        assert_eq!(
            problems(b"infoResponse\n\\a\\1\0"),
            [(malformed("end of the infostring"), 21)]
        );
        assert_eq!(
            problems(b"infoResponse\n\\a\\1\nmore"),
            [(malformed("end of the reply"), 22)]
        );
        let odd_key = cut("the infostring: a key without a value");
        assert_eq!(problems(b"infoResponse\n\\a\\1\\bc"), [(odd_key, 22)]);
        assert_eq!(problems(b"infoResponse\n\\a\\1\\"), [(odd_key, 22)]);
        assert_eq!(problems(b"infoResponse\nabc"), [(odd_key, 17)]);
        assert_eq!(problems(b"print\n\\a\\1\\\n"), []);
        assert_eq!(problems(b"print\n\\a\\1\\bc\n"), [(odd_key, 15)]);
        let line = (malformed("player line"), 10);
        assert_eq!(problems(b"n\\a\\1\nbc\n\0"), [line]);
        let open = cut("the infostring: no line feed ends it");
        assert_eq!(problems(b"statusResponse\n\\a\\1"), [(open, 23)]);
        let both = [(odd_key, 15), (open, 15)];
        assert_eq!(problems(b"print\n\\a\\1\\"), both);
        assert_eq!(
            problems(b"statusResponse\n\\a\\1\n1 2 \"x\"\n\n3 4 \"y\n\0\n5 6 \"z\""),
            [
                (cut("the last player line: no line feed ends it"), 49),
                (malformed("player line"), 33),
                (malformed("player line"), 40)
            ]
        );
    }

    #[test]
    fn an_infostring_ends_where_player_lines_begin() {
        fn read(body: &[u8]) -> (&[u8], usize, bool) {
            let response = parse(body).unwrap();
            (
                response.info().raw(),
                response.players().count(),
                response.problems().next().is_none(),
            )
        }
        let info = b"\\a\\1\\fs_manifest\\q3/pak0.pk3@1\n q3/pak1.pk3@2\n \n q3/pak2.pk3@3\\b\\2";
        let status = |end: &[u8]| [b"statusResponse\n", &info[..], end].concat();
        assert_eq!(read(&status(b"\n")), (&info[..], 0, true));
        assert_eq!(read(&status(b"\n1 2 \"x\"\n")), (&info[..], 1, true));
        assert_eq!(read(&status(b"\n 1 2 \"x\\y\"\n")), (&info[..], 1, true));
        assert_eq!(
            read(&status(b"\n\n")),
            (&info[..], 0, true),
            "an empty line, as of Modern Warfare 2"
        );
        assert_eq!(
            read(&status(b"\n12 5")),
            (&info[..], 0, false),
            "a cut player line"
        );
        assert_eq!(
            read(&[b"infoResponse\n", &info[..]].concat()),
            (&info[..], 0, true)
        );
        let last = b"statusResponse\n\\a\\1\n 2\n1 2 \"x\"\n";
        assert_eq!(
            read(last),
            (&b"\\a\\1\n 2"[..], 1, true),
            "in the last value"
        );
        assert_eq!(
            read(b"statusResponse\n\\a\\1\n 2"),
            (&b"\\a\\1\n 2"[..], 0, false),
            "cut"
        );
        assert_eq!(
            read(b"statusResponse\n\\a\\1\n \n\0"),
            (&b"\\a\\1"[..], 0, false),
            "blanks at the end"
        );
    }

    /// The separator at the end of a line makes it a part of the infostring.
    #[test]
    fn an_infostring_of_several_lines_is_written_as_it_is_read() {
        for body in [
            &b"print\n\\a\\b\ngetinfo\\\n"[..],
            b"print\n\\a\\b\n\\\n3 5 \"Ann\"\n",
            b"statusResponse\n\\a\\1\n 2\n1 2 \"x\"\n",
            b"statusResponse\n\\a\\1\n  \\\n1 2 \"x\"\n",
            b"print\n\\a\\b\r\\\n3 5 \"Ann\"\n",
        ] {
            let response = parse(body).unwrap();
            let mut written = Vec::new();
            response.encode(&mut written);
            let again = Response::parse(&written, &Limits::default()).unwrap();
            let pairs = |response: &Response<'_>| {
                let pairs = response
                    .info()
                    .iter()
                    .map(|(key, value)| (key.to_vec(), value.to_vec()));
                pairs.collect::<Vec<_>>()
            };
            assert_eq!(pairs(&again), pairs(&response), "{}", body.escape_ascii());
            assert_eq!(again.players().count(), response.players().count());
        }
    }

    #[test]
    fn only_a_line_feed_ends_the_last_line() {
        let ends = |rest: &[u8]| {
            let body = [b"statusResponse\n\\a\\1\n1 2 \"x\"\n", rest].concat();
            parse(&body).unwrap().closes_lines()
        };
        for end in [&b""[..], b"\0", b"3 4 \"y\"\n", b"3 4 \"y\"\n\0\0"] {
            assert!(ends(end), "{}", end.escape_ascii());
        }
        for cut in [&b" "[..], b"\"", b"\r", b"3 4 \"y\""] {
            assert!(!ends(cut), "{}", cut.escape_ascii());
        }
        // A cut line of Quetoo looks like a shorter one.
        for (lines, players) in [("\\name\\Ann\n\\name\\Bo", 1), ("\\name\\An", 0)] {
            let body = format!("status\n\\a\\1\n{lines}");
            let response = parse(body.as_bytes()).unwrap();
            assert_eq!(response.players().count(), players, "{lines:?}");
        }
    }

    #[test]
    fn the_byte_after_the_mark_is_written_again() {
        let body = b"\x01infoResponse\n\\a\\1";
        let mut written = Vec::new();
        parse(body).unwrap().encode(&mut written);
        assert_eq!(written[4..], body[..]);
    }

    #[test]
    fn limits_are_limits() {
        let packet = [
            &b"\xff\xff\xff\xff"[..],
            b"statusResponse\n\\a\\1\\b\\2\n1 2 \"x\"\n3 4 \"y\"\n",
        ]
        .concat();
        let with = |limits: Limits| Response::parse(&packet, &limits).map(|_| ());
        let info_start = b"\xff\xff\xff\xffstatusResponse\n".len();
        let players_start = info_start + b"\\a\\1\\b\\2\n".len();
        assert_eq!(
            with(Limits::default().with_max_rules(1)),
            Err(ParseError::limit("rules", 1, info_start))
        );
        assert_eq!(
            with(Limits::default().with_max_players(1)),
            Err(ParseError::limit("players", 1, players_start))
        );
        assert_eq!(
            with(Limits::default().with_max_rules(2).with_max_players(2)),
            Ok(())
        );
    }
}
