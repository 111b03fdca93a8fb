//! Lists of servers: `getservers`, `getserversExt` and one datagram of the reply.

use std::iter::Peekable;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use bytes::{BufMut, Bytes};
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, tag_no_case, take_till, take_while, take_while_m_n};
use nom::character::complete::{alpha1, digit1, one_of};
use nom::combinator::{eof, map_opt, not, value};
use nom::number::complete::{be_u16, be_u32, be_u128};
use nom::sequence::{preceded, terminated};

use super::line::{self, check_optional_word, check_word, next_word};
use super::siblings::Family;
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::grammar::Parsed;
use crate::text::{each, number};

/// The maximum size of a datagram that this crate writes, in bytes, as dpmaster does.
pub(crate) const MAX_PART: usize = 1400;
/// The end mark of a list.
const END: &[u8] = b"\\EOT\0\0\0";
/// The words of the replies.
const PLAIN: &str = "getserversResponse";
const EXTENDED: &str = "getserversExtResponse";

/// Arguments of `getservers` and `getserversExt`: which game, which protocol, which servers.
///
/// ```
/// use queryport::quake3::GetServers;
/// use queryport::quake3::{Command, Request};
///
/// let mut datagram = Vec::new();
/// let list = GetServers { empty: true, full: true, ..GetServers::new(68) };
/// Request::new(Command::GetServers(list)).encode(&mut datagram)?;
/// assert_eq!(datagram, b"\xff\xff\xff\xffgetservers 68 empty full");
/// assert_eq!(Request::parse(&datagram)?.command, Command::GetServers(list));
///
/// datagram.clear();
/// Request::new(Command::GetServers(GetServers::extended(b"Nexuiz", 3)))
///     .encode(&mut datagram)?;
/// assert_eq!(datagram, b"\xff\xff\xff\xffgetserversExt Nexuiz 3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[allow(
    clippy::exhaustive_structs,
    reason = "struct update syntax is its builder"
)]
pub struct GetServers<'a> {
    /// `getserversExt`: the reply may hold IPv6 addresses, and the game's name is not optional.
    pub extended: bool,
    /// The game's name. Without it the protocol number decides (Quake III Arena, Return to Castle
    /// Wolfenstein, Enemy Territory).
    pub game: Option<&'a [u8]>,
    /// The game's protocol number.
    pub protocol: i32,
    /// `empty`: servers without players too.
    pub empty: bool,
    /// `full`: servers without a free player slot too.
    pub full: bool,
    /// `gametype=…`: only servers with this type of game; `ffa`, `tourney`, `team` and `ctf` are 0,
    /// 1, 3 and 4.
    pub game_type: Option<&'a [u8]>,
    /// `ipv4`: IPv4 servers, in an extended request. If neither this nor `ipv6` is set, both are
    /// meant.
    pub ipv4: bool,
    /// `ipv6`: IPv6 servers, in an extended request.
    pub ipv6: bool,
}

impl<'a> GetServers<'a> {
    /// `getservers` with a protocol number alone.
    pub fn new(protocol: i32) -> Self {
        Self {
            protocol,
            ..Self::default()
        }
    }

    /// `getserversExt` for a game.
    pub fn extended(game: &'a [u8], protocol: i32) -> Self {
        Self {
            extended: true,
            game: Some(game),
            ..Self::new(protocol)
        }
    }

    /// Reads the words after the command. Unknown filters are skipped.
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
        let mut list = Self {
            extended,
            game,
            ..Self::new(protocol)
        };
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

    pub(crate) fn check(&self) -> Result<(), EncodeError> {
        if self.extended && self.game.is_none() {
            return Err(EncodeError::Empty("game name"));
        }
        if let Some(game) = self.game {
            check_word("game name", game)?;
            // A name that is a number would be read as the protocol number.
            let is_ambiguous = !self.extended && number::integer(game).is_some();
            if is_ambiguous && let Some(&byte) = game.first() {
                return Err(EncodeError::Forbidden {
                    field: "game name",
                    byte,
                });
            }
        }
        check_optional_word("game type", self.game_type)
    }

    /// The word of the request.
    pub(super) const fn word(&self) -> &'static [u8] {
        if self.extended {
            b"getserversExt"
        } else {
            b"getservers"
        }
    }

    /// Appends the words after the game's name.
    pub(super) fn put(&self, out: &mut impl BufMut) {
        out.put_u8(b' ');
        number::put(self.protocol.into(), out);
        if self.empty {
            out.put_slice(b" empty");
        }
        if self.full {
            out.put_slice(b" full");
        }
        if self.extended && self.ipv4 {
            out.put_slice(b" ipv4");
        }
        if self.extended && self.ipv6 {
            out.put_slice(b" ipv6");
        }
        if let Some(game_type) = self.game_type {
            out.put_slice(b" gametype=");
            out.put_slice(game_type);
        }
    }
}

/// One datagram of a list, viewed without copying.
///
/// Addresses have a fixed length and may hold the bytes of separators: a list is not split at them.
///
/// ```
/// use queryport::lists::ListPart;
///
/// let datagram = b"\xff\xff\xff\xffgetserversResponse\
///     \\\x01\x02\x03\x04\x6d\x38\\\\\\\\\\\\\\\\EOT\x05\x6d\x39\\EOT\0\0\0";
/// let part = ListPart::parse(datagram)?;
/// let servers: Vec<String> = part.iter().map(|address| address.to_string()).collect();
/// assert_eq!(servers, ["1.2.3.4:27960", "92.92.92.92:23644", "69.79.84.5:27961"]);
/// assert!(part.has_end && part.intact);
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListPart<'a> {
    /// The family of the master: Quake 2's and QuakeWorld's write neither separators nor an end
    /// mark.
    pub family: Family,
    /// Whether it is a `getserversExtResponse`, which may hold IPv6 addresses.
    pub extended: bool,
    /// Whether the end mark of the list is there: `\EOT` followed by NULs, or `\EOF`. dpmaster
    /// writes it into the last datagram of a list. Its versions before 2.0 write it into every
    /// datagram (doc/techinfo.txt). Some masters write none. `\EOT` without NULs ends a datagram,
    /// which may not be the last (Activision's masters; cetteup/pyq3serverlist, reader.py).
    pub has_end: bool,
    /// Whether the datagram ends after an address, a separator or an end mark.
    pub intact: bool,
    /// The datagram's place in the list, if the master numbers them.
    pub(crate) numbering: Option<Numbering>,
    entries: &'a [u8],
}

/// The place of a datagram in a list: the masters of Tremulous and Unvanquished write it into each
/// (GrangerHub/tremulous-master and Unvanquished/unvanquished-master, master.py).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbering {
    /// The number of this datagram, from 1 on.
    pub(crate) index: u16,
    /// The number of datagrams in the list.
    pub(crate) count: u16,
}

impl<'a> ListPart<'a> {
    /// Reads one datagram of a list.
    ///
    /// # Errors
    /// [`NotThisProtocol`](crate::ParseErrorKind::NotThisProtocol) without the mark or for a word
    /// that is not of this protocol, [`Unexpected`](crate::ParseErrorKind::Unexpected) for another
    /// message. A cut or damaged datagram is read up to the damage, see [`Self::intact`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let text = line::marked(datagram)?.text;
        if let Ok((entries, family)) = sibling_word(text) {
            return Ok(Self::packed(family, entries));
        }
        let Ok((after_word, extended)) = word(text) else {
            return Err(line::unexpected(text, PLAIN));
        };
        let (body, numbering) = match numbering(after_word) {
            Ok((rest, numbering)) if extended => (rest, Some(numbering)),
            _ => (after_word, None),
        };
        // Some masters put a line feed and a NUL before the first separator.
        let is_separator = |byte: &u8| matches!(byte, b'\\' | b'/');
        let start = body.iter().position(is_separator).unwrap_or(body.len());
        let from_first = body.get(start..).unwrap_or_default();
        let read_address = address(extended, from_first);
        let mut rest = from_first;
        while end(rest).is_err()
            && let Ok((after, _)) = read_address(rest)
        {
            rest = after;
        }
        let has_end = end(rest).is_ok() && rest != b"\\EOT";
        // A lone separator after the last address, the mark that ends a datagram, or nothing.
        let intact = has_end || matches!(rest, [] | [b'\\' | b'/'] | [b'\n' | 0] | b"\\EOT");
        let length = from_first.len().saturating_sub(rest.len());
        Ok(Self {
            family: Family::Quake3,
            extended,
            has_end,
            intact,
            numbering,
            entries: from_first.get(..length).unwrap_or_default(),
        })
    }

    /// A list whose addresses follow each other without separators.
    fn packed(family: Family, entries: &'a [u8]) -> Self {
        let (whole, rest) = entries.as_chunks::<6>();
        let length = whole.as_flattened().len();
        Self {
            family,
            extended: false,
            has_end: false,
            intact: matches!(rest, [] | [b'\n' | 0]),
            numbering: None,
            entries: entries.get(..length).unwrap_or_default(),
        }
    }

    /// The datagrams of a complete list, each of 1,400 bytes at most, the last one with the end
    /// mark. IPv6 addresses need an `extended` list and are left out of others.
    ///
    /// ```
    /// use queryport::lists::ListPart;
    ///
    /// let parts = ListPart::encode(
    ///     ["192.0.2.1:27960".parse()?, "[2001:db8::1]:27960".parse()?],
    ///     true,
    /// );
    /// assert_eq!(ListPart::parse(&parts[0])?.iter().count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode(servers: impl IntoIterator<Item = SocketAddr>, extended: bool) -> Vec<Bytes> {
        let mut parts = Vec::new();
        let mut servers = servers
            .into_iter()
            .filter(|server| extended || server.is_ipv4())
            .peekable();
        let addresses = if extended {
            Addresses::Extended
        } else {
            Addresses::Plain
        };
        loop {
            let mut out = Vec::with_capacity(MAX_PART);
            let ends_list = put_part(addresses, &mut servers, &mut out);
            parts.push(out.into());
            if ends_list {
                return parts;
            }
        }
    }

    /// Every address in order, impossible and repeated ones included (see
    /// [`Scope`](crate::lists::Scope)).
    pub fn iter(&self) -> impl Iterator<Item = SocketAddr> + use<'a> {
        let is_packed = self.family != Family::Quake3;
        let separated = address(self.extended, self.entries);
        each(self.entries, move |input| {
            if is_packed {
                packed(input)
            } else {
                separated(input)
            }
        })
    }
}

/// `sibling-word = "servers" ( SP / LF ) / %s"d" LF`: of the masters of Quake 2 and QuakeWorld
/// (fte-team/fteqw, engine/client/net_master.c; captured).
fn sibling_word(text: &[u8]) -> Parsed<'_, Family> {
    let quake2 = (tag_no_case("servers"), alt((tag(" "), tag("\n"))));
    alt((
        value(Family::Quake2, quake2),
        value(Family::QuakeWorld, tag("d\n")),
    ))
    .parse(text)
}

/// `packed = 4OCTET 2OCTET`
fn packed(input: &[u8]) -> Parsed<'_, SocketAddr> {
    (be_u32, be_u16)
        .map(|(ip, port)| (Ipv4Addr::from_bits(ip), port).into())
        .parse(input)
}

/// `word = ( "getserversExtResponse" / "getserversResponse" ) !ALPHA`: whether it is the first one.
fn word(text: &[u8]) -> Parsed<'_, bool> {
    let word = alt((
        value(true, tag_no_case(EXTENDED)),
        value(false, tag_no_case(PLAIN)),
    ));
    // A list of links has a longer word.
    terminated(word, not(alpha1)).parse(text)
}

/// `numbering = NUL 1*DIGIT NUL 1*DIGIT NUL *label-byte`: a label ends before NUL or a separator.
fn numbering(input: &[u8]) -> Parsed<'_, Numbering> {
    let number = || preceded(tag("\0"), map_opt(digit1, number::number::<u16>));
    let label = preceded(
        tag("\0"),
        take_till(|byte| matches!(byte, 0 | b'\\' | b'/')),
    );
    (number(), number(), label)
        .map(|(index, count, _label)| Numbering { index, count })
        .parse(input)
}

/// `v4 = "\" 4OCTET 2OCTET`
#[inline]
fn v4(input: &[u8]) -> Parsed<'_, SocketAddr> {
    let address = |(ip, port)| SocketAddr::from((Ipv4Addr::from_bits(ip), port));
    preceded(tag("\\"), (be_u32, be_u16))
        .map(address)
        .parse(input)
}

/// `v6 = "/" 16OCTET 2OCTET`
fn v6(input: &[u8]) -> Parsed<'_, SocketAddr> {
    let address = |(ip, port)| SocketAddr::from((Ipv6Addr::from_bits(ip), port));
    preceded(tag("/"), (be_u128, be_u16))
        .map(address)
        .parse(input)
}

/// `hex = "\" 12HEXDIG`
fn hex(input: &[u8]) -> Parsed<'_, SocketAddr> {
    let digits = take_while_m_n(12, 12, |byte: u8| byte.is_ascii_hexdigit());
    let number = |digits| u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok();
    let (rest, number) = preceded(tag("\\"), map_opt(digits, number)).parse(input)?;
    let [_, _, a, b, c, d, high, low] = number.to_be_bytes();
    Ok((rest, ([a, b, c, d], u16::from_be_bytes([high, low])).into()))
}

/// `address = v4 / hex`, in an extended list `v4 / v6`. Hexadecimal lists are those of Star Trek:
/// Elite Force: the first entry is twelve such digits then, up to a separator or the end.
fn address(extended: bool, entries: &[u8]) -> impl Fn(&[u8]) -> Parsed<'_, SocketAddr> + use<> {
    let is_hex = matches!(hex(entries), Ok(([] | [b'\\' | b'\n' | 0, ..], _)));
    move |input| match (is_hex, extended) {
        (true, _) => hex(input),
        (false, true) => alt((v4, v6)).parse(input),
        (false, false) => v4(input),
    }
}

/// `end = "\EO" ( "T" / "F" ) ( 3NUL *OCTET / *NUL )`. Its first bytes alone do not make one:
/// 69.79.84.5:27961 is a server.
#[inline]
fn end(input: &[u8]) -> Parsed<'_, &[u8]> {
    let nuls = alt((
        tag(&[0; 3][..]),
        terminated(take_while(|byte| byte == 0), eof),
    ));
    preceded((tag("\\EO"), one_of("TF")), nuls).parse(input)
}

/// How a list writes its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Addresses {
    /// IPv4, in six bytes.
    Plain,
    /// IPv4 and IPv6.
    Extended,
    /// IPv4, in twelve hexadecimal digits.
    Hexadecimal,
}

impl Addresses {
    /// The bytes of an address with its separator.
    const fn length_of(self, server: SocketAddr) -> usize {
        match (self, server) {
            (Self::Hexadecimal, _) => 13,
            (_, SocketAddr::V4(_)) => 7,
            (_, SocketAddr::V6(_)) => 19,
        }
    }

    #[inline]
    fn put(self, server: SocketAddr, out: &mut Vec<u8>) {
        let port = server.port();
        let [high, low] = port.to_be_bytes();
        match server.ip() {
            IpAddr::V4(ip) if self == Self::Hexadecimal => put_hexadecimal(ip, port, out),
            IpAddr::V4(ip) => {
                let [a, b, c, d] = ip.octets();
                out.extend_from_slice(&[b'\\', a, b, c, d, high, low]);
            }
            IpAddr::V6(ip) => {
                out.push(b'/');
                out.extend_from_slice(&ip.octets());
                out.extend_from_slice(&[high, low]);
            }
        }
    }
}

fn put_hexadecimal(ip: Ipv4Addr, port: u16, out: &mut Vec<u8>) {
    let digits = format!("\\{:08x}{port:04x}", ip.to_bits());
    out.extend_from_slice(digits.as_bytes());
}

/// Appends a datagram with as many of the servers as fit, and ends the list after the last one
/// where the end mark fits. Otherwise the mark needs a datagram of its own. Returns whether the
/// list ends.
pub(crate) fn put_part(
    addresses: Addresses,
    servers: &mut Peekable<impl Iterator<Item = SocketAddr>>,
    out: &mut Vec<u8>,
) -> bool {
    let max_length = out.len().saturating_add(MAX_PART);
    let word = if addresses == Addresses::Extended {
        EXTENDED
    } else {
        PLAIN
    };
    line::put(None, word.as_bytes(), out);
    let fits = |out: &Vec<u8>, length: usize| out.len().saturating_add(length) <= max_length;
    // A separator follows the address.
    while let Some(server) =
        servers.next_if(|server| fits(out, addresses.length_of(*server).saturating_add(1)))
    {
        addresses.put(server, out);
    }
    let ends_list = servers.peek().is_none() && fits(out, END.len());
    if ends_list {
        out.put_slice(END);
    } else {
        // id's and ioquake3's clients read an address only when a separator follows it.
        out.put_u8(b'\\');
    }
    ends_list
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use super::*;

    /// A reply with both separators, cut at each byte.
    #[test]
    fn lists_of_quake_2_and_quake_world() {
        for (head, family) in [
            (&b"servers "[..], Family::Quake2),
            (b"servers\n", Family::Quake2),
            (b"d\n", Family::QuakeWorld),
        ] {
            let entries = b"\x0a\0\0\x01\x6d\x06\\\\\\\\\x6d\x07";
            let datagram = [b"\xff\xff\xff\xff", head, entries].concat();
            for cut in 0..=entries.len() {
                let length = datagram.len() - entries.len() + cut;
                let part = ListPart::parse(&datagram[..length]).unwrap();
                assert_eq!((part.family, part.iter().count()), (family, cut / 6));
                // The first byte alone is a line feed, which may follow the last entry.
                let is_whole = cut % 6 == 0 || cut == 1;
                assert_eq!(part.intact, is_whole, "cut at {cut}");
            }
            let part = ListPart::parse(&datagram).unwrap();
            let servers: Vec<String> = part.iter().map(|server| server.to_string()).collect();
            assert_eq!(servers, ["10.0.0.1:27910", "92.92.92.92:27911"]);
            for end in [b"\n", b"\0"] {
                let datagram = [&datagram[..], end].concat();
                assert!(ListPart::parse(&datagram).unwrap().intact, "{end:?}");
            }
        }
    }

    fn parse(line: &str) -> Result<GetServers<'_>, ParseErrorKind> {
        GetServers::parse(line.as_bytes(), false, 0).map_err(|error| error.kind)
    }

    fn parse_ext(line: &str) -> Result<GetServers<'_>, ParseErrorKind> {
        GetServers::parse(line.as_bytes(), true, 0).map_err(|error| error.kind)
    }

    #[test]
    fn requests_of_real_clients() {
        let list = GetServers {
            empty: true,
            full: true,
            ..GetServers::new(68)
        };
        assert_eq!(parse(" 68 full empty"), Ok(list));
        assert_eq!(parse(" 68 empty full\n"), Ok(list));
        assert_eq!(parse(" 68 empty full demo\0"), Ok(list));
        let nexuiz = GetServers {
            game: Some(b"Nexuiz"),
            ..GetServers::new(3)
        };
        assert_eq!(
            parse("  Nexuiz 3 gametype=2"),
            Ok(GetServers {
                game_type: Some(b"2"),
                ..nexuiz
            })
        );
        assert_eq!(
            parse(" Nexuiz 3 ctf"),
            Ok(GetServers {
                game_type: Some(b"4"),
                ..nexuiz
            })
        );
        for (word, number) in [
            ("ffa", "0"),
            ("tourney", "1"),
            ("team", "3"),
            ("gametype=7", "7"),
        ] {
            let line = format!(" Nexuiz 3 {word}");
            assert_eq!(
                parse(&line).unwrap().game_type,
                Some(number.as_bytes()),
                "as dpmaster's messages.c"
            );
        }
        for number in [0, -1] {
            assert_eq!(parse(&format!(" {number}")), Ok(GetServers::new(number)));
        }
        assert_eq!(parse(" 4TheFun -1").unwrap().game, Some(&b"4TheFun"[..]));
        let both = parse_ext(" Quake3Arena 68 ipv4 empty ipv6").unwrap();
        assert!(both.ipv4 && both.ipv6 && both.empty && !both.full);
        let plain = parse(" X 1 ipv4 ipv6").unwrap();
        assert!(!plain.ipv4 && !plain.ipv6, "no words of a plain request");
    }

    #[test]
    fn without_a_protocol_number_there_is_no_request() {
        for line in [
            "",
            " ",
            " Nexuiz",
            " Nexuiz ",
            " Nexuiz x",
            " 4TheFun",
            " X 99999999999",
        ] {
            assert!(parse(line).is_err(), "{line:?}");
        }
        assert!(
            parse_ext(" 68").is_err() && parse_ext(" 68 ipv4").is_err(),
            "a game is needed"
        );
    }

    #[test]
    fn names_that_would_be_misread_are_not_written_and_the_error_says_why() {
        let forbidden = |field, byte| EncodeError::Forbidden { field, byte };
        let too_long = |field| EncodeError::TooLong { field, limit: 255 };
        let long = [b'x'; 256];
        let empty = EncodeError::Empty("game name");
        for (game, error, is_written_if_extended) in [
            (&b""[..], empty, false),
            (b"two words", forbidden("game name", b' '), false),
            (b"68", forbidden("game name", b'6'), true),
            (b"-1", forbidden("game name", b'-'), true),
            (b"a\"b", forbidden("game name", b'"'), false),
            (b"//", forbidden("game name", b'/'), false),
            (b"/*", forbidden("game name", b'/'), false),
            (b"a\x7f", forbidden("game name", 0x7F), false),
            (&long, too_long("game name"), false),
        ] {
            let plain = GetServers {
                game: Some(game),
                ..GetServers::new(1)
            };
            let of_extended = (!is_written_if_extended).then_some(error);
            let extended = GetServers::extended(game, 1).check().err();
            assert_eq!(extended, of_extended, "extended, {game:?}");
            assert_eq!(plain.check().err(), Some(error), "{game:?}");
        }
        let nameless = GetServers {
            game: None,
            ..GetServers::extended(b"x", 1)
        };
        assert_eq!(nameless.check(), Err(EncodeError::Empty("game name")));
        let game_type = |game_type| {
            let list = GetServers {
                game_type: Some(game_type),
                ..GetServers::new(1)
            };
            list.check()
        };
        assert_eq!(game_type(b"a b"), Err(forbidden("game type", b' ')));
        assert_eq!(game_type(b""), Err(EncodeError::Empty("game type")));
        assert_eq!(game_type(&long), Err(too_long("game type")));
        assert_eq!(game_type(b"68"), Ok(()));
        assert_eq!(GetServers::new(1).check(), Ok(()));
    }

    fn part(body: &[u8]) -> ListPart<'static> {
        ListPart::parse(Vec::leak([b"\xff\xff\xff\xff", body].concat())).unwrap()
    }

    fn servers(body: &[u8]) -> Vec<String> {
        part(body)
            .iter()
            .map(|address| address.to_string())
            .collect()
    }

    #[test]
    fn every_end_mark_and_none() {
        let one = b"getserversResponse\\\x01\x02\x03\x04\x6d\x38";
        for end in [
            &b"\\EOT\0\0\0"[..],
            b"\\EOF",
            b"\\EOF\0\0\0",
            b"\\EOT\0",
            b"\\EOT\0\0\0more",
        ] {
            let part = part(&[&one[..], end].concat());
            assert_eq!(
                (part.iter().count(), part.has_end, part.intact),
                (1, true, true),
                "{end:?}"
            );
        }
        for end in [&b""[..], b"\\", b"\n", b"\0", b"\\EOT"] {
            let part = part(&[&one[..], end].concat());
            assert_eq!(
                (part.iter().count(), part.has_end, part.intact),
                (1, false, true),
                "{end:?}"
            );
        }
        for end in [
            &b"\\EO"[..],
            b"\\EOT\x05",
            b"x",
            b"\\\x01\x02\x03\x04\x05",
            b"/",
        ] {
            let part = part(&[&one[..], end].concat());
            assert_eq!((part.iter().count(), part.has_end), (1, false), "{end:?}");
        }
        assert_eq!(
            servers(b"getserversResponse\\EOT\x05\x6d\x39\\EOT\0\0\0"),
            ["69.79.84.5:27961"]
        );
        assert!(servers(b"getserversResponse\\EOT\0\0\0").is_empty());
        assert!(servers(b"getserversResponse").is_empty());
        assert_eq!(
            servers(b"getserversResponse\n\0\\\x01\x02\x03\x04\x00\x01").len(),
            1
        );
    }

    #[test]
    fn both_families_in_one_reply() {
        let mut body = b"getserversExtResponse\\\x01\x02\x03\x04\x6d\x38/\x20\x01\x0d\xb8".to_vec();
        body.extend_from_slice(&[0; 11]);
        body.extend_from_slice(b"\x01\x6d\x38\\EOT\0\0\0");
        assert_eq!(servers(&body), ["1.2.3.4:27960", "[2001:db8::1]:27960"]);
        assert!(part(&body).extended);
        assert!(part(b"getserversExtResponse\\\x01\x02\x03\x04\x6d\x38/").intact);
        // In a plain reply a slash is not a separator.
        assert!(servers(b"getserversResponse/0123456789abcdefgh").is_empty());
    }

    #[test]
    fn hexadecimal_lists_are_recognised_by_their_stride() {
        assert_eq!(
            servers(b"getserversResponse\\0102030A6d38\\c0a800016d39\\EOT"),
            ["1.2.3.10:27960", "192.168.0.1:27961"]
        );
        for end in [&b"\\"[..], b"\n", b"\0", b""] {
            let list = [b"getserversResponse\\0102030A6d38", end].concat();
            assert_eq!(servers(&list), ["1.2.3.10:27960"], "{}", end.escape_ascii());
        }
        // Two binary addresses that look like digits.
        assert_eq!(servers(b"getserversResponse\\0102030\\102030").len(), 1);
        assert_eq!(
            servers(b"getserversResponse\\010203\\010203"),
            ["48.49.48.50:12339", "48.49.48.50:12339"]
        );
    }

    /// The layout of GrangerHub/tremulous-master and Unvanquished/unvanquished-master (master.py).
    #[test]
    fn a_numbered_datagram_has_its_place_in_the_list() {
        let entries = b"\\\xc0\x00\x02\x01m8\\";
        for (head, index, count) in [
            (&b"\x001\x003\x00"[..], 1, 3),
            (b"\x0012\x00300\x00Featured", 12, 300),
        ] {
            let body = [b"getserversExtResponse", head, entries].concat();
            let part = part(&body);
            let numbering = Numbering { index, count };
            assert_eq!((part.numbering, part.intact), (Some(numbering), true));
            assert_eq!(servers(&body), ["192.0.2.1:27960"]);
            for cut in 0..head.len() {
                let body = [b"getserversExtResponse", &head[..cut]].concat();
                assert_eq!(
                    ListPart::parse(&[b"\xff\xff\xff\xff", &body[..]].concat())
                        .map(|part| part.iter().count()),
                    Ok(0)
                );
            }
        }
        for plain in [
            &b"getserversResponse\x001\x003\x00\\\xc0\x00\x02\x01m8\\"[..],
            b"getserversExtResponse\x001\x00\\\xc0\x00\x02\x01m8\\",
            b"getserversExtResponse\x001\x003\\\xc0\x00\x02\x01m8\\",
            b"getserversExtResponse\x001\x0070000\x00\\\xc0\x00\x02\x01m8\\",
        ] {
            assert_eq!(part(plain).numbering, None);
            assert_eq!(servers(plain), ["192.0.2.1:27960"]);
        }
    }

    #[test]
    fn a_list_of_links_is_no_list_of_servers() {
        let links = b"\xff\xff\xff\xffgetserversExtResponseLinks\0\\\xc0\0\x02\x01m8";
        let error = ListPart::parse(links).unwrap_err();
        assert!(
            matches!(error.kind, ParseErrorKind::Unexpected(_)),
            "{error}"
        );
    }

    #[test]
    fn other_messages_are_no_lists() {
        assert!(ListPart::parse(b"\xff\xff\xff\xffgetservers 68").is_err());
        assert!(ListPart::parse(b"getserversResponse\\EOT").is_err());
        assert!(ListPart::parse(b"").is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn datagrams_are_packed_and_ended_as_clients_need() {
        let v4 = |n: u32| SocketAddr::from((Ipv4Addr::from_bits(0x0102_0000 + n), 27960));
        let v6 = |n: u128| SocketAddr::from((Ipv6Addr::from_bits((0x2001_0DB8 << 96) + n), 27960));
        let parts = ListPart::encode((0..196).map(v4), false);
        assert_eq!(
            parts.iter().map(Bytes::len).collect::<Vec<_>>(),
            [22 + 196 * 7 + 1, 22 + 7]
        );
        assert!(parts[0].ends_with(b"\\") && !ListPart::parse(&parts[0]).unwrap().has_end);
        assert_eq!(ListPart::encode((0..195).map(v4), false).len(), 1);
        let parts = ListPart::encode((0..73).map(v6), true);
        assert_eq!(ListPart::parse(&parts[0]).unwrap().iter().count(), 72);
        assert_eq!(
            ListPart::encode((0..5).map(v6), false),
            [&b"\xff\xff\xff\xffgetserversResponse\\EOT\0\0\0"[..]]
        );
        assert!(
            ListPart::encode((0..9000).map(v4), true)
                .iter()
                .all(|part| part.len() <= MAX_PART)
        );
    }

    #[test]
    fn no_mix_of_addresses_makes_a_datagram_longer_than_its_maximum() {
        let v4 = SocketAddr::from(([192, 0, 2, 1], 27960));
        let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, 27960));
        for first in 0..7 {
            let servers = std::iter::repeat_n(v6, first).chain(std::iter::repeat_n(v4, 300));
            for part in ListPart::encode(servers, true) {
                assert!(part.len() <= MAX_PART, "{first}: {}", part.len());
            }
        }
        let (mut servers, mut out) = (std::iter::repeat_n(v4, 300).peekable(), Vec::new());
        put_part(Addresses::Hexadecimal, &mut servers, &mut out);
        assert!(out.len() <= MAX_PART, "{}", out.len());
    }

    #[test]
    fn a_plain_request_has_no_words_for_families() {
        for (extended, expected) in [(false, &b" 68"[..]), (true, b" 68 ipv4 ipv6")] {
            let list = GetServers {
                extended,
                ipv4: true,
                ipv6: true,
                ..GetServers::new(68)
            };
            let mut written = Vec::new();
            list.put(&mut written);
            assert_eq!(written, expected);
        }
    }

    #[test]
    fn unknown_words_leave_the_type_of_game() {
        let list = parse(" 68 gametype=7 demo").unwrap();
        assert_eq!(list.game_type, Some(&b"7"[..]));
    }
}
