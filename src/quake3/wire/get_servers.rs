//! `getservers` and `getserversExt` as they stand in a datagram.

use bytes::BufMut;

use super::words::{check_word, next_word};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::text::number;

/// What follows `getservers` or `getserversExt`: which game, which protocol, which servers.
///
/// ```
/// use queryport::quake3::master::ListRequest;
/// use queryport::quake3::{Command, Request};
///
/// let mut datagram = Vec::new();
/// let list = ListRequest { empty: true, full: true, ..ListRequest::new(68) };
/// Request::new(Command::GetServers(list)).encode(&mut datagram)?;
/// assert_eq!(datagram, b"\xff\xff\xff\xffgetservers 68 empty full");
/// assert_eq!(Request::parse(&datagram)?.command, Command::GetServers(list));
///
/// datagram.clear();
/// Request::new(Command::GetServers(ListRequest::extended(b"Nexuiz", 3))).encode(&mut datagram)?;
/// assert_eq!(datagram, b"\xff\xff\xff\xffgetserversExt Nexuiz 3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[allow(clippy::exhaustive_structs, reason = "struct update syntax is its builder")]
pub struct ListRequest<'a> {
    /// `getserversExt`: the reply may hold IPv6 addresses, and the game's name is not optional.
    pub extended: bool,
    /// The game's name. Without it the master goes by the protocol number (Quake III Arena, Return to Castle
    /// Wolfenstein, Enemy Territory).
    pub game: Option<&'a [u8]>,
    /// The game's protocol number.
    pub protocol: i32,
    /// `empty`: servers without players too.
    pub empty: bool,
    /// `full`: servers without a free player slot too.
    pub full: bool,
    /// `gametype=…`: only servers with this type of game; `ffa`, `tourney`, `team` and `ctf` are 0, 1, 3 and 4.
    pub game_type: Option<&'a [u8]>,
    /// `ipv4`: IPv4 servers, in an extended request; neither this nor the next one means both.
    pub ipv4: bool,
    /// `ipv6`: IPv6 servers, in an extended request.
    pub ipv6: bool,
}

impl<'a> ListRequest<'a> {
    /// `getservers` with a protocol number alone.
    #[must_use]
    pub fn new(protocol: i32) -> Self {
        Self { protocol, ..Self::default() }
    }

    /// `getserversExt` for a game.
    #[must_use]
    pub fn extended(game: &'a [u8], protocol: i32) -> Self {
        Self { extended: true, game: Some(game), ..Self::new(protocol) }
    }

    /// Whether IPv4 servers are asked for.
    pub(crate) const fn wants_ipv4(&self) -> bool {
        !self.extended || self.ipv4 || !self.ipv6
    }

    /// Whether IPv6 servers are asked for.
    pub(crate) const fn wants_ipv6(&self) -> bool {
        self.extended && (self.ipv6 || !self.ipv4)
    }

    /// Reads what follows the word. Words that are no known filter are passed over.
    pub(super) fn parse(line: &'a [u8], extended: bool, offset: usize) -> Result<Self, ParseError> {
        let mut rest = line;
        let missing = ParseError::new(ParseErrorKind::CutShort("the protocol number"), offset);
        let malformed = ParseError::new(ParseErrorKind::Malformed("protocol number"), offset);
        let first = next_word(&mut rest).ok_or(missing)?;
        let (game, protocol) = match number::number::<i32>(first) {
            Some(protocol) if !extended => (None, protocol),
            _ => {
                let second = next_word(&mut rest).ok_or(missing)?;
                (Some(first), number::number::<i32>(second).ok_or(malformed)?)
            }
        };
        let mut list = Self { extended, game, ..Self::new(protocol) };
        while let Some(word) = next_word(&mut rest) {
            match word {
                b"empty" => list.empty = true,
                b"full" => list.full = true,
                b"ipv4" => list.ipv4 = extended,
                b"ipv6" => list.ipv6 = extended,
                b"ffa" => list.game_type = Some(b"0"),
                b"tourney" => list.game_type = Some(b"1"),
                b"team" => list.game_type = Some(b"3"),
                b"ctf" => list.game_type = Some(b"4"),
                _ => list.game_type = word.strip_prefix(b"gametype=").or(list.game_type),
            }
        }
        Ok(list)
    }

    pub(super) fn check(&self) -> Result<(), EncodeError> {
        if self.extended && self.game.is_none() {
            return Err(EncodeError::Empty("game name"));
        }
        if let Some(game) = self.game {
            check_word("game name", game)?;
            // It would be read as the protocol number.
            if let (false, Some(_), Some(&byte)) = (self.extended, number::integer(game), game.first()) {
                return Err(EncodeError::Forbidden { field: "game name", byte });
            }
        }
        self.game_type.map_or(Ok(()), |game_type| check_word("game type", game_type))
    }

    /// Appends what follows the game's name.
    pub(super) fn put(&self, out: &mut impl BufMut) {
        out.put_u8(b' ');
        number::put(self.protocol.into(), out);
        let words = [
            (self.empty, &b" empty"[..]),
            (self.full, b" full"),
            (self.extended && self.ipv4, b" ipv4"),
            (self.extended && self.ipv6, b" ipv6"),
            (self.game_type.is_some(), b" gametype="),
        ];
        for (_, word) in words.iter().filter(|(wanted, _)| *wanted) {
            out.put_slice(word);
        }
        out.put_slice(self.game_type.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<ListRequest<'_>, ParseErrorKind> {
        ListRequest::parse(line.as_bytes(), false, 0).map_err(|error| error.kind)
    }

    fn parse_ext(line: &str) -> Result<ListRequest<'_>, ParseErrorKind> {
        ListRequest::parse(line.as_bytes(), true, 0).map_err(|error| error.kind)
    }

    #[test]
    fn requests_of_real_clients() {
        let list = ListRequest { empty: true, full: true, ..ListRequest::new(68) };
        assert_eq!(parse(" 68 full empty"), Ok(list));
        assert_eq!(parse(" 68 empty full\n"), Ok(list));
        assert_eq!(parse(" 68 empty full demo\0"), Ok(list));
        let nexuiz = ListRequest { game: Some(b"Nexuiz"), ..ListRequest::new(3) };
        assert_eq!(parse("  Nexuiz 3 gametype=2"), Ok(ListRequest { game_type: Some(b"2"), ..nexuiz }));
        assert_eq!(parse(" Nexuiz 3 ctf"), Ok(ListRequest { game_type: Some(b"4"), ..nexuiz }));
        for (word, number) in [("ffa", "0"), ("tourney", "1"), ("team", "3"), ("gametype=7", "7")] {
            let line = format!(" Nexuiz 3 {word}");
            assert_eq!(parse(&line).unwrap().game_type, Some(number.as_bytes()), "as dpmaster's messages.c");
        }
        assert_eq!(parse(" 4TheFun -1").unwrap().game, Some(&b"4TheFun"[..]));
        let both = parse_ext(" Quake3Arena 68 ipv4 empty ipv6").unwrap();
        assert!(both.wants_ipv4() && both.wants_ipv6() && both.empty && !both.full);
        assert!(!parse_ext(" X 1 ipv6").unwrap().wants_ipv4());
        assert!(!parse(" X 1 ipv6").unwrap().wants_ipv6(), "a plain reply has no room for them");
    }

    #[test]
    fn without_a_protocol_number_there_is_no_request() {
        for line in ["", " ", " Nexuiz", " Nexuiz ", " Nexuiz x", " 4TheFun", " X 99999999999"] {
            assert!(parse(line).is_err(), "{line:?}");
        }
        assert!(parse_ext(" 68").is_err() && parse_ext(" 68 ipv4").is_err(), "a game is needed");
    }

    #[test]
    fn what_would_be_misread_is_not_written() {
        for game in [&b""[..], b"two words", b"68", b"a\"b"] {
            assert!(ListRequest { game: Some(game), ..ListRequest::new(1) }.check().is_err(), "{game:?}");
        }
        assert!(ListRequest { game: None, ..ListRequest::extended(b"x", 1) }.check().is_err());
        assert!(ListRequest { game_type: Some(b"a b"), ..ListRequest::new(1) }.check().is_err());
    }
}
