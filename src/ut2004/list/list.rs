//! A list of servers with what the list server knows of each.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use nom::error::Error;
use nom::number::complete::{be_u32, le_i32, le_u16, u8 as byte};
use nom::{IResult, Parser};

use crate::model::ServerList;
use crate::ut2004::wire::info::Info;
use crate::ut2004::wire::strings::string;

/// A list of servers, with what the list server knows of each.
///
/// ```
/// use queryport::ut2004::list::List;
///
/// /// The servers that the list server believes not to be empty.
/// fn print(list: &List) {
///     for entry in list.entries().filter(|entry| entry.info.current_players > 0) {
///         println!("{:>3} {} {}", entry.info.current_players, entry.query_address(), entry.info.server_name.text());
///     }
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct List {
    /// The addresses with their query ports, each once, and whether the list is complete.
    pub servers: ServerList,
    /// How many servers the list server announced; `None` when the list was cut before.
    pub announced: Option<u32>,
    /// The entries with their lengths, as they came, up to the limit of servers.
    pub(super) entries: Vec<u8>,
    /// Whether the entries are in UT2004's form.
    pub(super) is_ut2004: bool,
}

/// What a list server knows of a server. Strings borrow from the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// The server's address.
    pub address: Ipv4Addr,
    /// Ports, name, map, players and, if the list has them, flags (see the [module](super)) and skill level. Fields that
    /// lists do not have are empty or 0.
    pub info: Info<'a>,
}

impl List {
    /// The entries in the order of the list. A server listed twice has two.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut rest = &self.entries[..];
        std::iter::from_fn(move || {
            let (body, after) = split_frame(rest)?;
            rest = after;
            Entry::parse(body, self.is_ut2004)
        })
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("List");
        f.field("servers", &self.servers).field("announced", &self.announced);
        f.field("entries", &self.entries().collect::<Vec<_>>()).finish()
    }
}

impl<'a> Entry<'a> {
    /// The address that answers queries. OpenSpy always gives the port after the game port.
    #[must_use]
    pub fn query_address(&self) -> SocketAddr {
        // A port has 16 bits on the wire.
        (self.address, u16::try_from(self.info.query_port).unwrap_or_default()).into()
    }

    pub(super) fn parse(body: &'a [u8], is_ut2004: bool) -> Option<Self> {
        let (rest, mut entry) = Self::common(body).ok()?;
        let info = &mut entry.info;
        (info.trailing, info.flags) = match is_ut2004 {
            true => optional(rest, le_i32),
            false => optional(rest, byte.map(i32::from)),
        };
        if is_ut2004 && info.flags.is_some() {
            (info.trailing, info.skill_level) = optional(info.trailing, string);
        }
        Some(entry)
    }

    /// The fields that every game has.
    fn common(body: &'a [u8]) -> IResult<&'a [u8], Self> {
        let (rest, (address, port, query_port)) = (be_u32, le_u16, le_u16).parse(body)?;
        let (rest, (server_name, map_name, game_type)) = (string, string, string).parse(rest)?;
        let (rest, (current_players, max_players)) = (byte, byte).parse(rest)?;
        let info = Info {
            port: port.into(),
            query_port: query_port.into(),
            server_name,
            map_name,
            game_type,
            current_players: current_players.into(),
            max_players: max_players.into(),
            ..Info::default()
        };
        Ok((rest, Self { address: Ipv4Addr::from_bits(address), info }))
    }
}

/// What `parser` reads, and the rest; the whole input if it reads nothing.
fn optional<'a, T>(
    input: &'a [u8],
    mut parser: impl Parser<&'a [u8], Output = T, Error = Error<&'a [u8]>>,
) -> (&'a [u8], Option<T>) {
    parser.parse(input).map_or((input, None), |(rest, value)| (rest, Some(value)))
}

/// The body of the first message, and what follows it; `None` while it is not whole.
pub(super) fn split_frame(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = input.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}
