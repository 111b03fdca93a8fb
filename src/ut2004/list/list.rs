//! A list of servers with what the list server knows of each.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use nom::error::Error;
use nom::number::complete::{le_u16, le_u32, u8 as byte};
use nom::{IResult, Parser};

use crate::model::ServerList;
use crate::ut2004::wire::strings::{FString, string};

/// A list of servers, with what the list server knows of each.
///
/// ```
/// use queryport::ut2004::list::List;
///
/// /// The servers that the list server believes not to be empty.
/// fn print(list: &List) {
///     for entry in list.entries().filter(|entry| entry.current_players > 0) {
///         println!("{:>3} {} {}", entry.current_players, entry.query_address(), entry.server_name.text());
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

/// What a list server knows of a server. Strings borrow from the list. Names of fields are those of
/// [`Info`](crate::ut2004::Info).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// The server's address.
    pub address: Ipv4Addr,
    /// The port that players connect to.
    pub port: u16,
    /// The port that answers queries. OpenSpy always writes `port` plus one.
    pub query_port: u16,
    /// The server's name, which may hold colour codes and may be cut.
    pub server_name: FString<'a>,
    /// The map's file name without extension.
    pub map_name: FString<'a>,
    /// The class of the game, such as `xDeathMatch`.
    pub game_type: FString<'a>,
    /// Players.
    pub current_players: u8,
    /// Most players.
    pub max_players: u8,
    /// Bits, which differ between UT2004 and UT2003: see the [module](super). Unreal II XMP's lists may have none.
    pub flags: Option<u32>,
    /// UT2004: the bots' skill, a number as text.
    pub skill_level: Option<FString<'a>>,
    /// What follows the known fields; empty from all known list servers.
    pub trailing: &'a [u8],
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
    /// The address that answers queries.
    #[must_use]
    pub fn query_address(&self) -> SocketAddr {
        (self.address, self.query_port).into()
    }

    pub(super) fn parse(body: &'a [u8], is_ut2004: bool) -> Option<Self> {
        let (rest, mut entry) = Self::common(body).ok()?;
        let (rest, flags) =
            if is_ut2004 { optional(rest, le_u32) } else { optional(rest, byte.map(u32::from)) };
        entry.flags = flags;
        (entry.trailing, entry.skill_level) = match flags {
            Some(_) if is_ut2004 => optional(rest, string),
            _ => (rest, None),
        };
        Some(entry)
    }

    /// The fields that every game has.
    fn common(body: &'a [u8]) -> IResult<&'a [u8], Self> {
        let (rest, ((a, b, c, d), port, query_port)) =
            ((byte, byte, byte, byte), le_u16, le_u16).parse(body)?;
        let (rest, (server_name, map_name, game_type)) = (string, string, string).parse(rest)?;
        let (trailing, (current_players, max_players)) = (byte, byte).parse(rest)?;
        let entry = Self {
            address: Ipv4Addr::new(a, b, c, d),
            port,
            query_port,
            server_name,
            map_name,
            game_type,
            current_players,
            max_players,
            flags: None,
            skill_level: None,
            trailing,
        };
        Ok((trailing, entry))
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
