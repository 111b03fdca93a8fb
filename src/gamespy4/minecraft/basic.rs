//! The short answer.

use nom::bytes::complete::tag;
use nom::number::complete::le_u16;
use nom::{IResult, Parser};

use super::{MAX_TRIES, STYLE};
use crate::error::{ParseError, ParseErrorKind};
use crate::gamespy4::request::{DATA, RequestId, id};
use crate::gamespy4::response::text;
use crate::model::TextRef;
use crate::text::number;

/// The short answer, borrowed from its datagram.
///
/// ```
/// use queryport::gamespy4::minecraft::Basic;
///
/// let datagram = b"\0\x01\x02\x03\x04A Minecraft Server\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0";
/// let basic = Basic::parse(datagram)?;
/// assert_eq!(basic.title().plain(), "A Minecraft Server");
/// assert_eq!((basic.players(), basic.max_players(), basic.host_port()), (Some(2), Some(20), 25565));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Basic<'a> {
    id: RequestId,
    title: &'a [u8],
    tail: Tail<'a>,
}

/// What follows the title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tail<'a> {
    game_type: &'a [u8],
    map: &'a [u8],
    players: &'a [u8],
    max_players: &'a [u8],
    host_port: u16,
    host_ip: &'a [u8],
}

impl<'a> Basic<'a> {
    /// Reads the datagram. The title reaches to the first place after which everything else fits exactly.
    ///
    /// # Errors
    /// [`ParseErrorKind::CutShort`] when no such place is found, [`ParseErrorKind::NotThisProtocol`] for another
    /// type of reply.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let (body, id) = basic_head(datagram)
            .map_err(|_| ParseError::new(ParseErrorKind::NotThisProtocol("type 00 and a request id"), 0))?;
        let mut nuls = memchr::memchr_iter(0, body).take(MAX_TRIES);
        nuls.find_map(|end| {
            let (title, rest) = body.split_at_checked(end)?;
            let (_, tail) = tail(rest.get(1..)?).ok().filter(|(rest, _)| rest.is_empty())?;
            let counts = [tail.players, tail.max_players];
            counts.iter().all(|text| number::integer(text).is_some()).then_some(Self { id, title, tail })
        })
        .ok_or_else(|| ParseError::new(ParseErrorKind::CutShort("the short answer"), datagram.len()))
    }

    /// The id of the request it answers.
    #[must_use]
    pub const fn id(self) -> RequestId {
        self.id
    }

    /// The title of the server ("message of the day"), which may hold NUL.
    #[must_use]
    pub const fn title(self) -> TextRef<'a> {
        TextRef::new(self.title, STYLE)
    }

    /// `SMP`.
    #[must_use]
    pub const fn game_type(self) -> TextRef<'a> {
        TextRef::new(self.tail.game_type, STYLE)
    }

    /// The world's name.
    #[must_use]
    pub const fn map(self) -> TextRef<'a> {
        TextRef::new(self.tail.map, STYLE)
    }

    /// Players on the server.
    #[must_use]
    pub fn players(self) -> Option<u32> {
        number::number(self.tail.players)
    }

    /// Most players.
    #[must_use]
    pub fn max_players(self) -> Option<u32> {
        number::number(self.tail.max_players)
    }

    /// The port players connect to: the only little-endian number of the protocol.
    #[must_use]
    pub const fn host_port(self) -> u16 {
        self.tail.host_port
    }

    /// The address the server was told to listen at.
    #[must_use]
    pub const fn host_ip(self) -> TextRef<'a> {
        TextRef::new(self.tail.host_ip, STYLE)
    }

    /// Its fields under the names the long answer has for them, without the port, which is no text here.
    pub(in crate::gamespy4) const fn named(self) -> [(&'static str, &'a [u8]); 6] {
        let Tail { game_type, map, players, max_players, host_ip, .. } = self.tail;
        [
            ("hostname", self.title),
            ("gametype", game_type),
            ("map", map),
            ("numplayers", players),
            ("maxplayers", max_players),
            ("hostip", host_ip),
        ]
    }
}

fn basic_head(datagram: &[u8]) -> IResult<&[u8], RequestId> {
    let (rest, (_, id)) = (tag(&[DATA][..]), id).parse(datagram)?;
    Ok((rest, id))
}

fn tail(input: &[u8]) -> IResult<&[u8], Tail<'_>> {
    let (rest, (game_type, map, players, max_players, host_port, host_ip)) =
        (text, text, text, text, le_u16, text).parse(input)?;
    Ok((rest, Tail { game_type, map, players, max_players, host_port, host_ip }))
}
