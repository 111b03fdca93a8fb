//! What a server says: borrowed views over one datagram, and their encoding.

use std::ops::Range;

use bytes::BufMut;
use nom::bytes::complete::{tag, take_till};
use nom::combinator::opt;
use nom::{IResult, Parser};

use super::infostring::{InfoString, Pairs};
use super::player::PlayerLines;
use super::request::MARK;
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Completeness, Missing};
use crate::text::number;

/// Medal of Honor's byte after the mark, in replies.
const TO_CLIENT: u8 = 0x01;

/// A reply, viewed without copying.
///
/// ```
/// use queryport::Limits;
/// use queryport::quake3::{Kind, Response};
///
/// let packet = b"\xff\xff\xff\xffstatusResponse\n\\mapname\\q3dm17\\sv_hostname\\Srv\n12 50 \"You\"\n";
/// let response = Response::parse(packet, &Limits::default())?;
/// assert_eq!(response.kind(), Kind::Status);
/// assert_eq!(response.info().get("mapname"), Some(&b"q3dm17"[..]));
/// assert_eq!(response.players().next().unwrap().name(), b"You");
/// assert!(response.completeness().is_complete());
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response<'a> {
    datagram: &'a [u8],
    layout: Layout,
}

/// What every engine says in an `infoResponse`.
const BASIC_KEYS: [&str; 5] = ["protocol", "hostname", "mapname", "clients", "sv_maxclients"];

/// Which reply it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `infoResponse`: an infostring and no players.
    Info,
    /// `statusResponse`: an infostring and player lines.
    Status,
}

impl Kind {
    /// The command word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Info => "infoResponse",
            Self::Status => "statusResponse",
        }
    }
}

/// Where things are in a datagram that was read once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    kind: Kind,
    direction_byte: bool,
    info: (usize, usize),
    players: (usize, usize),
    /// Whether a line feed ends the infostring; without it the datagram is cut there.
    info_closed: bool,
}

impl Layout {
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }
}

impl<'a> Response<'a> {
    /// Reads a reply. What a server may leave out may be missing; see [`Self::completeness`].
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] without the mark, [`ParseErrorKind::Unexpected`] for another command,
    /// [`ParseErrorKind::CutShort`] without an infostring, [`ParseErrorKind::Limit`] for more keys or players
    /// than `limits` allow.
    pub fn parse(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        let error = |kind, rest: &[u8]| ParseError::new(kind, datagram.len().saturating_sub(rest.len()));
        let mark = head(datagram);
        let (body, (direction_byte, word)) =
            mark.map_err(|_| error(ParseErrorKind::NotThisProtocol("four bytes 0xff"), datagram))?;
        let kind = kind(word)
            .ok_or_else(|| error(ParseErrorKind::Unexpected("infoResponse or statusResponse"), body))?;
        if body.is_empty() {
            return Err(error(ParseErrorKind::CutShort("the reply: no infostring"), body));
        }
        let start = datagram.len().saturating_sub(body.strip_prefix(b"\n").unwrap_or(body).len());
        let text = datagram.get(start..).unwrap_or_default();
        let feed = memchr::memchr(b'\n', text);
        let line = text.get(..feed.unwrap_or(text.len())).unwrap_or_default();
        // What tools and servers leave at the end of an infostring: CR, and without a line feed NUL and a quote too.
        let is_left = |byte: &u8| *byte == b'\r' || (feed.is_none() && matches!(byte, 0 | b'"'));
        let end = line.iter().rposition(|byte| !is_left(byte)).map_or(0, |last| last.saturating_add(1));
        let trimmed = line.get(..end).unwrap_or_default();
        let info = (start, start.saturating_add(trimmed.len()));
        let after = feed.map_or(datagram.len(), |feed| start.saturating_add(feed).saturating_add(1));
        let layout = Layout {
            kind,
            direction_byte,
            info,
            players: (after, datagram.len()),
            info_closed: feed.is_some(),
        };
        let response = Self { datagram, layout };
        let info = response.info();
        // Nobody counts what is too short for so many.
        if info.raw().len() / 2 >= limits.max_rules() && info.count_bound() > limits.max_rules() {
            return Err(ParseError::limit("rules", usize::MAX, start));
        }
        let lines = response.player_text();
        if lines.len() / 2 >= limits.max_players() && response.players().count() > limits.max_players() {
            return Err(ParseError::limit("players", usize::MAX, after));
        }
        Ok(response)
    }

    /// The view of a datagram that was read before.
    pub(crate) const fn with_layout(datagram: &'a [u8], layout: Layout) -> Self {
        Self { datagram, layout }
    }

    pub(crate) const fn layout(&self) -> Layout {
        self.layout
    }

    /// Which reply it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.layout.kind
    }

    /// Whether byte 0x01 stands after the mark, as Medal of Honor's servers write it.
    #[must_use]
    pub const fn direction_byte(&self) -> bool {
        self.layout.direction_byte
    }

    /// The whole datagram.
    #[must_use]
    pub const fn raw(&self) -> &'a [u8] {
        self.datagram
    }

    /// The server's keys and values.
    #[must_use]
    pub fn info(&self) -> InfoString<'a> {
        InfoString::new(self.slice(self.layout.info))
    }

    /// The player lines, in the server's order; none in an `infoResponse`.
    #[must_use]
    pub fn players(&self) -> PlayerLines<'a> {
        PlayerLines::new(self.player_text())
    }

    /// Whether the reply is whole, as far as it can be told: nothing on this wire counts or ends.
    ///
    /// A cut `statusResponse` shows as a key without a value, a player line without its closing quote, a missing
    /// last line feed (every engine writes one after the infostring and after each player), or fewer players than
    /// the key `clients` says, where a server has it. A cut `infoResponse` shows as a key without a value, or as
    /// the lack of one of the five keys that every engine sends with a value: `protocol`, `hostname`, `mapname`, `clients`,
    /// `sv_maxclients`.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        let (mut lines, mut pairs) = (self.players(), self.info().iter());
        let listed = lines.by_ref().count();
        let claimed = pairs.by_ref().find(|(key, _)| key.eq_ignore_ascii_case(b"clients"));
        pairs.by_ref().for_each(drop);
        self.judge(&pairs, (listed, &lines), claimed.map(|(_, value)| value))
    }

    /// [`Self::completeness`] for those who have read all pairs and lines: how many players there are, and the first
    /// value of `clients`.
    pub(super) fn judge(
        &self,
        pairs: &Pairs<'_>,
        (listed, lines): (usize, &PlayerLines<'_>),
        claimed: Option<&[u8]>,
    ) -> Completeness {
        let (odd_key, odd_line) = (pairs.has_odd_key(), lines.passed_odd());
        let info = self.info();
        let missing = match self.layout.kind {
            Kind::Info => {
                let lacks_one = BASIC_KEYS.iter().any(|key| info.get(key).is_none_or(<[u8]>::is_empty));
                Missing { info: odd_key || lacks_one, ..Missing::NOTHING }
            }
            Kind::Status => {
                let cut = !self.layout.info_closed;
                let open = !self.player_text().is_empty() && !ends_line(self.player_text());
                let short = listed < claimed.and_then(number::number::<usize>).unwrap_or(0);
                Missing {
                    rules: odd_key || cut,
                    players: cut || short || odd_line,
                    end: cut || open,
                    ..Missing::NOTHING
                }
            }
        };
        missing.completeness()
    }

    /// Appends the reply again: the same keys, players and framing, without what stood between and after them.
    pub fn encode(&self, out: &mut impl BufMut) {
        encode_head(self.layout.kind, self.layout.direction_byte, out);
        out.put_slice(self.info().raw());
        if self.layout.info_closed {
            out.put_u8(b'\n');
        }
        for line in self.players() {
            line.encode(out);
            out.put_u8(b'\n');
        }
    }

    /// No more player lines than this.
    pub(crate) fn count_bound(&self) -> usize {
        memchr::memchr_iter(b'\n', self.player_text()).count().saturating_add(1)
    }

    /// The bytes after the infostring's line.
    fn player_text(&self) -> &'a [u8] {
        match self.layout.kind {
            Kind::Info => b"",
            Kind::Status => self.slice(self.layout.players),
        }
    }

    fn slice(&self, (start, end): (usize, usize)) -> &'a [u8] {
        self.datagram.get(Range { start, end }).unwrap_or_default()
    }
}

/// Appends the mark, the command word and its line feed.
pub(crate) fn encode_head(kind: Kind, direction_byte: bool, out: &mut impl BufMut) {
    out.put_slice(&MARK);
    if direction_byte {
        out.put_u8(TO_CLIENT);
    }
    out.put_slice(kind.word().as_bytes());
    out.put_u8(b'\n');
}

/// Mark, direction byte and command word; what is left begins with the line feed or the first `\`.
fn head(datagram: &[u8]) -> IResult<&[u8], (bool, &[u8])> {
    let direction = opt(tag(&[TO_CLIENT][..]).or(tag(&[0x02][..])));
    let word = take_till(|byte| matches!(byte, b'\n' | b'\\'));
    let (rest, (_, direction, word)) = (tag(&MARK[..]), direction, word).parse(datagram)?;
    Ok((rest, (direction == Some(&[TO_CLIENT]), word)))
}

/// Some servers put bytes between the word and the infostring; the word itself must be whole.
fn kind(word: &[u8]) -> Option<Kind> {
    let begins =
        |with: &str| word.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()));
    let infostring_response = begins("infostringresponse").then_some(Kind::Info);
    [Kind::Info, Kind::Status].into_iter().find(|kind| begins(kind.word())).or(infostring_response)
}

/// Whether the last line is ended: by a line feed, and after that only what some servers leave there.
fn ends_line(text: &[u8]) -> bool {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\r' | 0 | b'"' | b' '));
    end.and_then(|end| text.get(end)) == Some(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &[u8]) -> Result<Response<'_>, ParseError> {
        Response::parse(Vec::leak([&MARK[..], body].concat()), &Limits::default())
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
        ] {
            let response = parse(body).unwrap();
            assert_eq!(response.kind(), Kind::Info);
            assert_eq!(
                response.info().iter().collect::<Vec<_>>(),
                [(&b"hostname"[..], &b"Srv"[..])],
                "{body:?}"
            );
            assert_eq!(response.players().count(), 0);
        }
    }

    #[test]
    fn what_is_no_reply_is_rejected_with_its_place() {
        let kind = |body| parse(body).map(|_| ()).map_err(|error| (error.kind, error.offset));
        let unexpected = ParseErrorKind::Unexpected("infoResponse or statusResponse");
        assert_eq!(kind(b"print\nno"), Err((unexpected, 9)));
        assert_eq!(kind(b"infoRespons"), Err((unexpected, 15)));
        assert_eq!(kind(b""), Err((unexpected, 4)));
        assert_eq!(kind(b"infoResponse"), Err((ParseErrorKind::CutShort("the reply: no infostring"), 16)));
        assert_eq!(
            Response::parse(b"\\gamename\\ut", &Limits::default()).unwrap_err().kind,
            ParseErrorKind::NotThisProtocol("four bytes 0xff")
        );
    }

    #[test]
    fn a_cut_status_says_so() {
        let whole = b"statusResponse\n\\a\\1\\b\\2\n1 2 \"x y\"\n3 4 \"\"\n";
        assert!(parse(whole).unwrap().completeness().is_complete());
        for cut in 15..whole.len() {
            let response = parse(&whole[..cut]).unwrap();
            // A cut right behind a line feed leaves a well-formed shorter list: nothing on the wire tells.
            let undetectable = whole[cut - 1] == b'\n' && cut > 15;
            assert_eq!(response.completeness().is_complete(), undetectable, "cut at {cut}");
        }
        for tail in [&b"\n"[..], b"\0", b"\""] {
            assert!(parse(&[&whole[..], tail].concat()).unwrap().completeness().is_complete());
        }
    }

    #[test]
    fn a_short_info_or_list_says_so() {
        let complete = |body| parse(body).unwrap().completeness().is_complete();
        let whole = b"infoResponse\n\\clients\\0\\mapname\\a\\sv_maxclients\\8\\hostname\\b\\protocol\\68";
        assert!(complete(whole));
        for cut in 13..whole.len() {
            let undetectable = whole[..cut].ends_with(b"68") || whole[..cut].ends_with(b"l\\6");
            assert_eq!(complete(&whole[..cut]), undetectable, "cut at {cut}");
        }
        assert!(complete(b"statusResponse\n\\clients\\1\n1 2 \"x\"\n"));
        assert!(!complete(b"statusResponse\n\\clients\\2\n1 2 \"x\"\n"), "a list that the server itself cut");
    }

    #[test]
    fn limits_are_limits() {
        let packet = [&MARK[..], b"statusResponse\n\\a\\1\\b\\2\n1 2 \"x\"\n3 4 \"y\"\n"].concat();
        let with = |limits: Limits| Response::parse(&packet, &limits).map(|_| ()).map_err(|error| error.kind);
        assert_eq!(with(Limits::default().with_max_rules(1)), Err(ParseErrorKind::Limit("rules")));
        assert_eq!(with(Limits::default().with_max_players(1)), Err(ParseErrorKind::Limit("players")));
        assert_eq!(with(Limits::default().with_max_rules(2).with_max_players(2)), Ok(()));
    }
}
