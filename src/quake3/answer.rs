//! An accepted reply to `getinfo` or `getstatus`.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::engines::{Engine, QUAKE_WORLD, TextLimits};
use super::reassembly::{Added, Parts};
use super::wire::player::{PlayerLine, is_other_line};
use super::wire::response::{Layout, Response};
use super::wire::siblings::Family;
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::meaning::{Field, Key, Known, Reader};
use crate::model::{Charset, Completeness, MissingParts, Verification};
use crate::options::Detail;
use crate::text::number::number;

/// An accepted reply. It owns the datagram, and the views borrow from it. The datagrams of a
/// QuakeWorld reply are joined to one.
///
/// ```
/// use queryport::quake3::Answer;
/// use queryport::{Limits, ToStatus, Verification};
///
/// let datagram =
///     b"\xff\xff\xff\xffstatusResponse\n\\mapname\\q3dm17\n12 50 \"You\"\n";
/// let answer = Answer::from_datagrams([datagram], &Limits::default())?;
/// assert_eq!(answer.get("MapName"), Some(&b"q3dm17"[..]));
/// assert_eq!(answer.players().next().unwrap().score(), Some(12));
/// assert!(answer.completeness().is_complete());
/// assert_eq!(answer.verification(), Verification::Unavailable);
/// assert_eq!(answer.to_status().map.unwrap(), "q3dm17");
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Answer {
    pub(super) datagram: Bytes,
    /// The datagrams of a QuakeWorld reply in order of arrival; none if `datagram` is the only one.
    pub(super) parts: Vec<Bytes>,
    pub(super) layout: Layout,
    pub(super) asked: Detail,
    pub(super) verification: Verification,
    /// The character set of the texts, if it is known.
    pub(super) charset: Option<Charset>,
    /// Whether another datagram could belong to the reply.
    pub(super) has_open_end: bool,
}

/// The length of a text that no engine takes for full, in bytes. Usual replies are shorter, and
/// need no look at their engine.
const NEVER_FULL: usize = 1300;

/// The number of players.
pub(super) const CLIENTS: Key = Key::new("clients");

/// The lines after the infostring, as far as they show whether the reply is complete.
#[derive(Debug, Clone, Copy, Default)]
struct LineCount {
    /// The number of player lines.
    players: usize,
    /// Whether some lines are neither players nor other parts of a reply.
    has_odd_line: bool,
}

/// Facts about the player lines of a status, from its keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineBounds {
    /// The server's count of players.
    counted: Option<usize>,
    /// All slots of the server. One whose slots are all taken has listed everybody.
    slots: Option<usize>,
    /// The lengths at which the server leaves out lines.
    limits: TextLimits,
}

impl LineBounds {
    /// The bounds of a reply with these keys.
    pub(super) fn new(engine: &Engine, keys: &Reader<'_>) -> Self {
        // No key of the siblings counts the players.
        let counts_players = engine.family == Family::Quake3;
        let clients = keys.known.get(CLIENTS).filter(|_| counts_players);
        Self {
            counted: clients.and_then(number),
            slots: keys.number(Field::MaxPlayers),
            limits: engine.limits,
        }
    }

    /// Whether the server can have left out lines after this number of players in a text of this
    /// length.
    fn may_lack_lines(self, listed: usize, length: usize) -> bool {
        let has_free_slot = self.slots.is_none_or(|slots| listed < slots);
        self.counted.is_none() && has_free_slot && self.limits.may_cut_after(length)
    }
}

impl Answer {
    /// Reads captured datagrams whose request is unknown. The first datagram that is a reply
    /// becomes the answer.
    ///
    /// # Errors
    /// If no datagram is a reply, the reason for the last one.
    pub fn from_datagrams(
        datagrams: impl IntoIterator<Item: AsRef<[u8]>>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut error = ParseError::new(ParseErrorKind::CutShort("the answer: no datagram"), 0);
        let mut parts = Parts::default();
        for datagram in datagrams {
            let datagram = Bytes::copy_from_slice(datagram.as_ref());
            match parts.add(&datagram, limits) {
                // A part may not be readable alone: all of them are joined below.
                Added::Part => {}
                Added::Refused(rejection) => error = rejection,
                Added::OtherMessage => match Self::read(datagram, limits) {
                    Ok(answer) => return Ok(answer),
                    Err(rejection) => error = rejection,
                },
            }
        }
        let joined = parts.join().ok_or(error)?;
        let has_open_end = !parts.is_ended();
        Ok(Self {
            has_open_end,
            parts: parts.into_datagrams(),
            ..Self::read(joined, limits)?
        })
    }

    /// Reads a datagram as the answer to an unknown request.
    pub(super) fn read(datagram: Bytes, limits: &Limits) -> Result<Self, ParseError> {
        let layout = Response::parse(&datagram, limits)?.layout;
        Ok(Self::new(datagram, layout))
    }

    /// The answer to an unknown request.
    pub(super) const fn new(datagram: Bytes, layout: Layout) -> Self {
        Self {
            datagram,
            parts: Vec::new(),
            layout,
            asked: layout.detail,
            verification: Verification::Unavailable,
            charset: None,
            has_open_end: false,
        }
    }

    /// The family of the reply.
    pub const fn family(&self) -> Family {
        self.layout.family
    }

    /// Which reply it is: an `infoResponse` is [`Detail::Short`], a `statusResponse`
    /// [`Detail::Full`]. DarkPlaces answers `getstatus` with an `infoResponse` when its status does
    /// not fit into a datagram.
    pub const fn detail(&self) -> Detail {
        self.layout.detail
    }

    /// The server's keys and values, in the order on the wire, repeated keys included.
    pub fn rules(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.response().info().iter()
    }

    /// The value of the first pair with this key, compared without regard to ASCII case.
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.response().info().get(key)
    }

    /// The player lines, in the server's order; none in an `infoResponse`.
    pub fn players(&self) -> impl Iterator<Item = PlayerLine<'_>> {
        self.response().players()
    }

    /// The datagram.
    pub const fn raw(&self) -> &Bytes {
        &self.datagram
    }

    /// The datagrams that the answer was made of, unchanged, in order of arrival and without
    /// copies. [`Self::from_datagrams`] makes the same answer of them, to an unknown request.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let only = self.parts.is_empty().then_some(&self.datagram);
        let all = only.into_iter().chain(&self.parts);
        all.map(|datagram| &datagram[..])
    }

    /// Whether the reply quotes the challenge of the request.
    pub const fn verification(&self) -> Verification {
        self.verification
    }

    /// The parts that are known to be missing. The wire has neither counts nor an end mark.
    ///
    /// A cut `statusResponse` is recognised by one of these signs:
    /// - a key without a value
    /// - a player line without its closing quote
    /// - no line feed at the end: servers write one after the infostring and after each player
    /// - fewer players than the key `clients` counts, if a server has it
    ///
    /// A cut `infoResponse` is recognised only by a key without a value, because no key is in every
    /// server's reply. Call of Duty leaves out `clients` when it is 0, and ioquake3 every key with
    /// an empty value. An `infoResponse` to `getstatus` lacks rules and players.
    ///
    /// Some engines leave out player lines without a word where a status would be too long: Quake
    /// 2, Alien Arena, Quake3e, and those made from it. The end of a status that is nearly as long
    /// counts as missing, unless a player is listed for each slot, or for each client that the
    /// server counts. The end of a QuakeWorld reply counts as missing if another datagram could
    /// follow the last one.
    pub fn completeness(&self) -> Completeness {
        let bounds = self.line_bounds();
        self.completeness_with(bounds, |line| PlayerLine::is_one(self.family(), line))
    }

    /// The completeness. `read_player` is called with each line, and returns whether it is a
    /// player's.
    pub(super) fn completeness_with<'a>(
        &'a self,
        bounds: LineBounds,
        mut read_player: impl FnMut(&'a [u8]) -> bool,
    ) -> Completeness {
        let mut lines = LineCount::default();
        for line in self.response().text_lines() {
            if read_player(line) {
                lines.players = lines.players.saturating_add(1);
            } else {
                lines.has_odd_line |= !is_other_line(self.family(), line);
            }
        }
        let missing = match self.layout.detail {
            Detail::Short => self.missing_of_info(),
            Detail::Full => self.missing_of_status(lines, bounds),
        };
        missing.into()
    }

    /// The missing parts of an `infoResponse`.
    fn missing_of_info(&self) -> MissingParts {
        let info = self.response().info();
        let lacks_status = self.asked == Detail::Full;
        MissingParts {
            info: info.has_odd_key() || info.iter().next().is_none(),
            rules: lacks_status,
            players: lacks_status,
            ..MissingParts::NOTHING
        }
    }

    /// The missing parts of a status.
    fn missing_of_status(&self, lines: LineCount, bounds: LineBounds) -> MissingParts {
        let response = self.response();
        let is_cut_in_info = !self.layout.info_closed;
        let lacks_counted = bounds
            .counted
            .is_some_and(|counted| lines.players < counted);
        let has_cut_line = !response.closes_lines();
        // A longer reply of QuakeWorld goes on in the next datagram.
        let may_lack_lines = self.family() != Family::QuakeWorld
            && bounds.may_lack_lines(lines.players, response.text().len());
        MissingParts {
            rules: is_cut_in_info || response.has_odd_key(),
            players: is_cut_in_info || lacks_counted || lines.has_odd_line,
            end: is_cut_in_info || has_cut_line || may_lack_lines || self.may_go_on(),
            ..MissingParts::NOTHING
        }
    }

    /// The bounds of the player lines, for a reply whose keys have not been read.
    fn line_bounds(&self) -> LineBounds {
        if self.response().text().len() <= NEVER_FULL {
            return LineBounds {
                counted: self.counted_players(),
                slots: None,
                limits: TextLimits::NONE,
            };
        }
        let known: Known<'_> = self.rules().collect();
        let engine = Engine::of_reply(self.family(), &known);
        let keys = Reader::new(&engine.row, &known, self.raw());
        LineBounds::new(engine, &keys)
    }

    /// The server's count of players in a status.
    fn counted_players(&self) -> Option<usize> {
        // No key of the siblings counts the players.
        if self.family() != Family::Quake3 {
            return None;
        }
        let is_count = |(key, value): &(&[u8], &[u8])| {
            key.eq_ignore_ascii_case(b"clients") && !value.is_empty()
        };
        let (_, count) = self.rules().find(is_count)?;
        number(count)
    }

    /// Whether another datagram can belong to the reply, or a part of it belongs to another one.
    fn may_go_on(&self) -> bool {
        self.family() == Family::QuakeWorld && (self.has_open_end || self.has_client_twice())
    }

    /// Whether two lines of a joined QuakeWorld reply have the number of one client: the datagrams
    /// are of two replies.
    fn has_client_twice(&self) -> bool {
        let response = self.response();
        if !QUAKE_WORLD.limits.may_span_datagrams(response.text().len()) {
            return false;
        }
        let lines = response.players().filter_map(PlayerLine::quake_world);
        let clients: Vec<&[u8]> = lines.map(|line| line.id).collect();
        let different: BTreeSet<_> = clients.iter().collect();
        different.len() < clients.len()
    }

    pub(super) fn response(&self) -> Response<'_> {
        Response {
            datagram: &self.datagram,
            layout: self.layout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ToStatus;
    use crate::model::completeness::Part;

    fn completeness(body: &[u8]) -> Completeness {
        let datagram = Bytes::from([b"\xff\xff\xff\xff", body].concat());
        let answer = Answer::from_datagrams([datagram], &Limits::default()).unwrap();
        let completeness = answer.completeness();
        assert_eq!(answer.to_status().completeness, completeness);
        completeness
    }

    fn is_complete(body: &[u8]) -> bool {
        completeness(body).is_complete()
    }

    #[test]
    fn a_cut_status_lacks_the_parts_from_the_cut_on() {
        let complete = Completeness::COMPLETE;
        let (lacks_rules, lacks_end) = (complete.without(Part::Rules), complete.without(Part::End));
        for (end, expected) in [
            ("", lacks_rules.without(Part::Players).without(Part::End)),
            ("\\b\n", lacks_rules),
            ("\n1 2\n3 4 \"x\"\n", complete.without(Part::Players)),
            ("\n1 2 \"x\"", lacks_end),
            ("\n1 2 \"x", lacks_end.without(Part::Players)),
        ] {
            let body = format!("statusResponse\n\\a\\1{end}");
            assert_eq!(completeness(body.as_bytes()), expected, "{body:?}");
        }
    }

    #[test]
    fn a_cut_status_is_incomplete() {
        let complete = b"statusResponse\n\\a\\1\\b\\2\n1 2 \"x y\"\n3 4 \"\"\n";
        assert!(is_complete(complete));
        for cut in 15..complete.len() {
            // A cut right after a line feed leaves a well-formed shorter list. Nothing on the wire
            // shows it.
            let undetectable = complete[cut - 1] == b'\n' && cut > 15;
            assert_eq!(is_complete(&complete[..cut]), undetectable, "cut at {cut}");
        }
        for tail in [&b"\n"[..], b"\0"] {
            assert!(is_complete(&[&complete[..], tail].concat()));
        }
    }

    #[test]
    fn without_a_reply_the_last_datagram_says_why() {
        let read = |datagrams: &[&[u8]]| {
            let answer = Answer::from_datagrams(datagrams, &Limits::default());
            answer.unwrap_err().kind
        };
        let info = &b"\xff\xff\xff\xffinfoResponse"[..];
        let cut = ParseErrorKind::CutShort("the reply: no infostring");
        assert_eq!(read(&[b"x", info]), cut);
        assert_ne!(read(&[info, b"x"]), cut);
    }

    #[test]
    fn a_line_of_a_stream_is_damage_outside_quake_world() {
        let body = b"\xff\xff\xff\xffstatus\n\\sv_map\\edge\nqtv 1 \"\" \"\" 0\n";
        let limits = Limits::default().with_max_rules(1);
        let answer = Answer::from_datagrams([body], &limits).unwrap();
        assert!(answer.completeness().lacks(Part::Players));
        assert_eq!(answer.to_status().rules.len(), 1);
        assert_eq!(answer.response().problems().count(), 1);
    }

    #[test]
    fn a_line_that_is_no_players_and_not_blank_makes_a_status_incomplete() {
        let status =
            |end: &[u8]| is_complete(&[b"statusResponse\n\\a\\1\n1 2 \"a\"\n", end].concat());
        assert!(!status(b"\n3 4\n5 6 \"b\"\n"));
        for end in [
            &b""[..],
            b"\n",
            b"\r\n",
            b"\0",
            b" \n",
            b"\"\n",
            b"\n5 6 \"b\"\n",
        ] {
            assert!(status(end), "{end:?}");
        }
    }

    /// Replies of FTE at commit 93257c1a (fte-team/fteqw), without and with a player.
    #[test]
    fn a_nul_instead_of_player_lines_ends_a_status() {
        assert!(is_complete(b"statusResponse\n\\a\\1\n\0"));
        assert!(is_complete(b"statusResponse\n\\a\\1\n0 0 \"A b\"\n\0"));
        assert!(
            !is_complete(b"statusResponse\n\\a\\1\n0 0 \"A b\"\0"),
            "no line feed"
        );
        assert!(
            !is_complete(b"statusResponse\n\\a\\1\\b\n\0"),
            "a key without a value"
        );
        assert!(
            !is_complete(b"statusResponse\n\\a\\1\\clients\\1\n\0"),
            "a player is missing"
        );
    }

    #[test]
    fn a_client_who_is_listed_twice_shows_datagrams_of_two_replies() {
        let datagram =
            |text: &str| Bytes::from([b"\xff\xff\xff\xffn", text.as_bytes(), b"\0"].concat());
        let first = datagram(&format!(
            "\\k\\{}\n1 0 0 0 \"a\" \"\" 0 0\n",
            "v".repeat(1300)
        ));
        let is_complete = |id: &str| {
            let second = datagram(&format!("{id} 0 0 0 \"b\" \"\" 0 0\n"));
            let answer = Answer::from_datagrams([first.clone(), second], &Limits::default());
            answer.unwrap().completeness().is_complete()
        };
        assert!(is_complete("2"));
        assert!(!is_complete("1"));
        let alone = Answer::from_datagrams([first.clone()], &Limits::default()).unwrap();
        assert!(alone.completeness().lacks(Part::End), "more may follow");
        // A datagram that is short is a whole reply.
        let lines = "1 0 0 0 \"a\" \"\" 0 0\n".repeat(2);
        let short = datagram(&format!("\\k\\v\n{lines}"));
        let answer = Answer::from_datagrams([short], &Limits::default());
        assert!(answer.unwrap().completeness().is_complete());
    }

    #[test]
    fn servers_of_quake_2_and_quakeworld_do_not_count_their_clients() {
        assert!(is_complete(b"print\n\\clients\\2\n1 2 \"a\"\n"));
        assert!(is_complete(b"n\\clients\\2\n1 2 3 4 \"a\" \"\" 0 0\n\0"));
    }

    #[test]
    fn a_short_info_or_list_is_incomplete() {
        let complete =
            b"infoResponse\n\\clients\\0\\mapname\\a\\sv_maxclients\\8\\hostname\\b\\protocol\\68";
        assert!(is_complete(complete));
        for cut in 14..complete.len() {
            // A cut inside or after a value leaves a well-formed shorter infostring.
            let separators = complete[13..cut]
                .iter()
                .filter(|&&byte| byte == b'\\')
                .count();
            let undetectable = separators > 0 && separators % 2 == 0;
            assert_eq!(is_complete(&complete[..cut]), undetectable, "cut at {cut}");
        }
        // An empty server as Call of Duty 2 describes it (voron00/CoD2rev_Server,
        // src/server/sv_main_mp.cpp).
        assert!(is_complete(
            b"infoResponse\n\\protocol\\118\\hostname\\CoD2Host\\mapname\\mp_toujane\\hw\\1"
        ));
        assert!(is_complete(b"statusResponse\n\\clients\\1\n1 2 \"x\"\n"));
        assert!(
            !is_complete(b"statusResponse\n\\clients\\2\n1 2 \"x\"\n"),
            "a list that the server itself cut"
        );
        assert!(
            !is_complete(b"statusResponse\n\\clients\\\\clients\\2\n1 2 \"x\"\n"),
            "the first count is empty"
        );
    }
}
