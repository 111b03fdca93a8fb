//! A list of servers with their fields.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use nom::combinator::{cond, recognize};
use nom::error::{Error, ErrorKind};
use nom::number::complete::{be_u16, be_u32, u8 as byte};
use nom::sequence::terminated;
use nom::{Err, IResult, Parser};

use crate::model::ServerList;

/// Most bytes of a name or value. Replies of GameSpy v4 are at most this long.
const MAX_TEXT: usize = 4096;
/// Bits of a server that say which parts follow.
const HAS_PORT: u8 = 0x10;
const HAS_PRIVATE_ADDRESS: u8 = 0x02;
const HAS_PRIVATE_PORT: u8 = 0x20;
const HAS_PING_ADDRESS: u8 = 0x08;
const HAS_VALUES: u8 = 0x40;
const HAS_PAIRS: u8 = 0x80;

/// A list of servers, with the fields that were asked for.
///
/// ```
/// use queryport::gamespy4::list::{List, Value};
///
/// fn print(list: &List) {
///     for entry in list.entries() {
///         if let Some(Value::Text(name)) = entry.get("hostname") {
///             println!("{} {}", entry.query_address(), String::from_utf8_lossy(name));
///         }
///     }
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct List {
    /// The addresses with their query ports, each once, and whether the list is complete.
    pub servers: ServerList,
    /// The address that the list server saw the request come from.
    pub client: Ipv4Addr,
    /// The query port of servers that are listed without one.
    pub default_port: u16,
    /// Flags of the game that asked. 128: its servers answer queries only with a challenge.
    pub backend_flags: u16,
    pub(super) head: Head,
    /// The entries, as they came, up to the limit of servers.
    pub(super) entries: Vec<u8>,
}

/// What the entries refer to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Head {
    /// The types and names of the fields.
    pub(super) fields: Vec<(Type, Vec<u8>)>,
    /// The popular values.
    pub(super) popular: Vec<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Byte,
    Short,
}

/// What a list server knows of a server, borrowed from the list.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// The bits as they came: see the [module](super). 1: answers queries from anybody. 4: helps with address translation.
    pub flags: u8,
    /// The server's address.
    pub address: Ipv4Addr,
    /// The query port; [`List::default_port`] where the entry has none.
    pub query_port: u16,
    /// The server's address in its own network.
    pub private_address: Option<Ipv4Addr>,
    /// The query port in its own network.
    pub private_port: Option<u16>,
    /// The address to send pings to.
    pub ping_address: Option<Ipv4Addr>,
    head: &'a Head,
    values: &'a [u8],
    pairs: &'a [u8],
}

/// The value of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A text, in the character set of the game.
    Text(&'a [u8]),
    /// A number.
    Number(u16),
}

impl List {
    /// The entries in the order of the list. A server listed twice has two.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut rest = &self.entries[..];
        std::iter::from_fn(move || {
            let (after, entry) = Entry::parse(rest, &self.head, self.default_port, &mut 0).ok()?;
            rest = after;
            Some(entry)
        })
    }
}

impl<'a> Entry<'a> {
    /// The address that answers queries.
    #[must_use]
    pub fn query_address(&self) -> SocketAddr {
        (self.address, self.query_port).into()
    }

    /// The fields in the order of the list. A list server may send none for some servers.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], Value<'a>)> {
        let Self { head, mut values, mut pairs, .. } = *self;
        let listed = head.fields.iter().map_while(move |(kind, name)| {
            let (rest, value) = value(values, *kind, head).ok()?;
            values = rest;
            Some((&name[..], value))
        });
        let paired = std::iter::from_fn(move || {
            let (rest, (name, value)) = (text, text).parse(pairs).ok()?;
            pairs = rest;
            Some((name, Value::Text(value)))
        });
        listed.chain(paired)
    }

    /// The first field of this name, in any ASCII case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.fields().find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }

    /// Reads an entry: an error where it is not whole, a failure where it is none. `pairs_read`: the bytes of its whole pairs,
    /// which are not read again when more of the entry has come.
    pub(super) fn parse(
        input: &'a [u8],
        head: &'a Head,
        default_port: u16,
        pairs_read: &mut usize,
    ) -> IResult<&'a [u8], Self> {
        let (rest, (flags, address)) = (byte, address).parse(input)?;
        let has = |bit: u8| flags & bit != 0;
        let (rest, (query_port, private_address, private_port, ping_address)) = (
            cond(has(HAS_PORT), be_u16),
            cond(has(HAS_PRIVATE_ADDRESS), self::address),
            cond(has(HAS_PRIVATE_PORT), be_u16),
            cond(has(HAS_PING_ADDRESS), self::address),
        )
            .parse(rest)?;
        let (rest, values) = match has(HAS_VALUES) {
            true => recognize(|input| all_values(input, head)).parse(rest)?,
            false => (rest, &[][..]),
        };
        let (rest, pairs) = match has(HAS_PAIRS) {
            true => terminated(recognize(|input| all_pairs(input, pairs_read)), byte).parse(rest)?,
            false => (rest, &[][..]),
        };
        let query_port = query_port.unwrap_or(default_port);
        let entry = Self {
            flags,
            address,
            query_port,
            private_address,
            private_port,
            ping_address,
            head,
            values,
            pairs,
        };
        Ok((rest, entry))
    }
}

fn all_values<'a>(mut input: &'a [u8], head: &'a Head) -> IResult<&'a [u8], ()> {
    for (kind, _) in &head.fields {
        (input, _) = value(input, *kind, head)?;
    }
    Ok((input, ()))
}

/// Pairs of texts up to an empty name.
fn all_pairs<'a>(input: &'a [u8], read: &mut usize) -> IResult<&'a [u8], ()> {
    let mut rest = input.get(*read..).unwrap_or_default();
    while rest.first() != Some(&0) {
        (rest, _) = (text, text).parse(rest)?;
        *read = input.len().saturating_sub(rest.len());
    }
    Ok((rest, ()))
}

fn value<'a>(input: &'a [u8], kind: Type, head: &'a Head) -> IResult<&'a [u8], Value<'a>> {
    match kind {
        Type::Byte => byte.map(|number| Value::Number(number.into())).parse(input),
        Type::Short => be_u16.map(Value::Number).parse(input),
        Type::Text => match byte(input)? {
            (rest, 0xFF) => text.map(Value::Text).parse(rest),
            (rest, index) => match head.popular.get(usize::from(index)) {
                Some(popular) => Ok((rest, Value::Text(popular))),
                None => Err(Err::Failure(Error::new(input, ErrorKind::OneOf))),
            },
        },
    }
}

/// Bytes up to a NUL.
pub(super) fn text(input: &[u8]) -> IResult<&[u8], &[u8]> {
    let within = input.get(..MAX_TEXT).unwrap_or(input);
    match memchr::memchr(0, within).and_then(|end| input.split_at_checked(end)) {
        Some((text, rest)) => Ok((rest.get(1..).unwrap_or_default(), text)),
        None if within.len() < input.len() => Err(Err::Failure(Error::new(input, ErrorKind::TooLarge))),
        None => Err(Err::Error(Error::new(input, ErrorKind::Eof))),
    }
}

pub(super) fn address(input: &[u8]) -> IResult<&[u8], Ipv4Addr> {
    be_u32.map(Ipv4Addr::from_bits).parse(input)
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("List");
        f.field("servers", &self.servers).field("client", &self.client);
        f.field("default_port", &self.default_port).field("backend_flags", &self.backend_flags);
        f.field("entries", &self.entries().collect::<Vec<_>>()).finish()
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<_> = self.fields().map(|(name, value)| (Value::Text(name), value)).collect();
        let mut f = f.debug_struct("Entry");
        f.field("flags", &self.flags).field("query_address", &self.query_address());
        f.field("private_address", &self.private_address).field("private_port", &self.private_port);
        f.field("ping_address", &self.ping_address).field("fields", &fields).finish()
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{}\"", text.escape_ascii()),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}
