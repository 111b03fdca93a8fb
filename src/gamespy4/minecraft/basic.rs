//! Minecraft's basic reply.

use std::net::IpAddr;

use nom::Parser;
use nom::number::complete::le_u16;

use super::style::STYLE;
use crate::error::{ParseError, ParseErrorKind};
use crate::gamespy4::wire::request::DATA;
use crate::gamespy4::wire::response::{HEAD, text};
use crate::model::TextRef;
use crate::text::number;

/// Minecraft's basic reply, borrowed from its datagram.
///
/// ```
/// use queryport::gamespy4::minecraft::Basic;
///
/// let datagram = b"\0\x01\x02\x03\x04A Minecraft Server\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0";
/// let basic = Basic::parse(datagram)?;
/// assert_eq!(basic.title, "A Minecraft Server");
/// assert_eq!((basic.player_count, basic.max_players, basic.host_port), (Some(2), Some(20), Some(25565)));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Basic<'a> {
    /// The title of the server ("message of the day"), which may hold NUL.
    pub title: TextRef<'a>,
    /// `SMP`.
    pub game_type: TextRef<'a>,
    /// The world's name.
    pub map: TextRef<'a>,
    /// Players on the server; `None` for a number out of range.
    pub player_count: Option<u32>,
    /// Most players; `None` for a number out of range.
    pub max_players: Option<u32>,
    /// The port players connect to: the only little-endian number of the protocol. `None` where no address follows it, so
    /// that nothing proves that the two bytes are the port.
    pub host_port: Option<u16>,
    /// The address the server is configured to listen at.
    pub host_ip: TextRef<'a>,
    /// The two numbers as they came.
    counts: [&'a [u8]; 2],
    /// Whether the reply has the layout of Minecraft's own server.
    pub(crate) is_regular: bool,
}

/// Ends of the title that are tried; a real title has one or a few.
pub(super) const MAX_TITLE_ENDS: usize = 32;

impl<'a> Basic<'a> {
    /// Reads the datagram. The title reaches to the first NUL after which everything else fits exactly: two numbers, a port
    /// of two bytes and an IP address. Some servers write the port as text, which shifts everything: there the port and
    /// the address must be readable as such. Where the last text is no address, the title is taken to hold no NUL.
    ///
    /// # Errors
    /// [`ParseErrorKind::CutShort`] when there is no such NUL, [`ParseErrorKind::NotThisProtocol`] for another type of
    /// reply.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let body = datagram
            .get(HEAD..)
            .filter(|_| datagram.first() == Some(&DATA))
            .ok_or(ParseError::new(ParseErrorKind::NotThisProtocol("type 00 and a request id"), 0))?;
        let after_title = |end: usize| Some((body.get(..end)?, body.get(end.checked_add(1)?..)?));
        let titles = || memchr::memchr_iter(0, body).take(MAX_TITLE_ENDS).filter_map(after_title);
        let proved = titles().find_map(|(title, rest)| {
            let regular = Self::with_port(title, rest).filter(|basic| basic.is_regular);
            regular.or_else(|| Self::with_port_as_text(title, rest))
        });
        let unproved = || titles().next().and_then(|(title, rest)| Self::with_port(title, rest));
        proved
            .or_else(unproved)
            .ok_or_else(|| ParseError::new(ParseErrorKind::CutShort("the basic reply"), datagram.len()))
    }

    /// Reads what follows the title, with the port in two bytes.
    fn with_port(title: &'a [u8], rest: &'a [u8]) -> Option<Self> {
        let mut tail = (text, text, text, text, le_u16, text);
        let (rest, (game_type, map, players, max_players, port, host_ip)) = tail.parse(rest).ok()?;
        let is_regular = is_address(host_ip);
        let texts = [title, game_type, map, host_ip];
        Self::new(texts, [players, max_players], is_regular.then_some(port), is_regular)
            .filter(|_| rest.is_empty())
    }

    /// The same with the port as decimal text.
    fn with_port_as_text(title: &'a [u8], rest: &'a [u8]) -> Option<Self> {
        let mut tail = (text, text, text, text, text, text);
        let (rest, (game_type, map, players, max_players, port, host_ip)) = tail.parse(rest).ok()?;
        let port = number::number(port)?;
        let texts = [title, game_type, map, host_ip];
        let is_whole = rest.is_empty() && is_address(host_ip);
        Self::new(texts, [players, max_players], Some(port), false).filter(|_| is_whole)
    }

    /// `None` where the counts are no numbers.
    fn new(
        texts: [&'a [u8]; 4],
        counts: [&'a [u8]; 2],
        host_port: Option<u16>,
        is_regular: bool,
    ) -> Option<Self> {
        let [title, game_type, map, host_ip] = texts.map(|raw| TextRef::new(raw, STYLE));
        let [players, max_players] = counts;
        counts.iter().all(|text| number::integer(text).is_some()).then(|| Self {
            title,
            game_type,
            map,
            player_count: number::number(players),
            max_players: number::number(max_players),
            host_port,
            host_ip,
            counts,
            is_regular,
        })
    }

    /// What it says under the keys that the full reply has for it, in the order of the wire; `port`: the port as text.
    pub(crate) fn pairs<'t>(&self, port: Option<&'t [u8]>) -> impl Iterator<Item = (&'static str, &'t [u8])>
    where
        'a: 't,
    {
        let [players, max_players] = self.counts;
        [
            ("hostname", Some(self.title.raw())),
            ("gametype", Some(self.game_type.raw())),
            ("map", Some(self.map.raw())),
            ("numplayers", Some(players)),
            ("maxplayers", Some(max_players)),
            ("hostport", port),
            ("hostip", Some(self.host_ip.raw())),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
    }
}

fn is_address(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<IpAddr>().is_ok())
}
