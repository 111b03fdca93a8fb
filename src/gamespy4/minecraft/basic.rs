//! Minecraft's basic reply.

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
/// assert_eq!((basic.player_count, basic.max_players, basic.host_port), (Some(2), Some(20), 25565));
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
    /// The port players connect to: the only little-endian number of the protocol.
    pub host_port: u16,
    /// The address the server is configured to listen at.
    pub host_ip: TextRef<'a>,
    /// The two numbers as they came.
    counts: [&'a [u8]; 2],
}

/// Ends of the title that are tried; a real title has one or a few.
pub(super) const MAX_TITLE_ENDS: usize = 32;

impl<'a> Basic<'a> {
    /// Reads the datagram. The title reaches to the first NUL after which everything else fits exactly.
    ///
    /// # Errors
    /// [`ParseErrorKind::CutShort`] when there is no such NUL, [`ParseErrorKind::NotThisProtocol`] for another type of
    /// reply.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let body = datagram
            .get(HEAD..)
            .filter(|_| datagram.first() == Some(&DATA))
            .ok_or(ParseError::new(ParseErrorKind::NotThisProtocol("type 00 and a request id"), 0))?;
        memchr::memchr_iter(0, body)
            .take(MAX_TITLE_ENDS)
            .find_map(|end| {
                let (title, rest) = body.split_at_checked(end)?;
                Self::after_title(title, rest.get(1..)?)
            })
            .ok_or_else(|| ParseError::new(ParseErrorKind::CutShort("the basic reply"), datagram.len()))
    }

    /// Reads what follows the title.
    fn after_title(title: &'a [u8], rest: &'a [u8]) -> Option<Self> {
        let mut tail = (text, text, text, text, le_u16, text);
        let (rest, (game_type, map, players, max_players, host_port, host_ip)) = tail.parse(rest).ok()?;
        let counts = [players, max_players];
        let fits = rest.is_empty() && counts.iter().all(|text| number::integer(text).is_some());
        let styled = |raw| TextRef::new(raw, STYLE);
        fits.then(|| Self {
            title: styled(title),
            game_type: styled(game_type),
            map: styled(map),
            player_count: number::number(players),
            max_players: number::number(max_players),
            host_port,
            host_ip: styled(host_ip),
            counts,
        })
    }

    /// Its texts under the keys that the full reply has for them.
    pub(crate) const fn pairs(&self) -> [(&'static str, &'a [u8]); 6] {
        let [players, max_players] = self.counts;
        [
            ("hostname", self.title.raw()),
            ("gametype", self.game_type.raw()),
            ("map", self.map.raw()),
            ("numplayers", players),
            ("maxplayers", max_players),
            ("hostip", self.host_ip.raw()),
        ]
    }
}
