//! GameSpy v2's list of servers over TCP. The [module](super) describes its bytes.

use std::borrow::Cow;
use std::net::{Ipv4Addr, SocketAddr};

use bytes::BufMut;
use nom::branch::alt;
use nom::bytes::streaming::{tag, take};
use nom::combinator::{cond, fail, map_opt, value as constant, verify};
use nom::number::streaming::{be_u16, be_u32, u8 as byte};
use nom::{Err, Needed, Parser};

use super::cipher::{Cipher, Key, mix};
use super::server_list::{Collector, ListEnd, ListedServer};
use super::session::{Dialogue, Next, words};
use crate::error::{EncodeError, ListError};
use crate::game_key::GameKey;
use crate::grammar::Parsed;
use crate::limits::MAX_LIST_BYTES;
use crate::model::Rules;

/// The maximum length of a name or value with its NUL, in bytes. Replies of GameSpy v4 are not
/// longer.
const MAX_TEXT: usize = 4096;
/// The maximum memory for all names and values. One byte of a list can refer to a long popular
/// value, so the size of the list does not bound it.
const MAX_VALUES: usize = 2 * MAX_LIST_BYTES as usize;
/// Memory of an entry besides its texts.
const ENTRY_BYTES: usize = 24;
/// Types of fields; 0 is a text.
const BYTE: u8 = 1;
const NUMBER: u8 = 2;
/// Flags of a server, one for each part that follows.
const HAS_PORT: u8 = 0x10;
const HAS_PRIVATE_ADDRESS: u8 = 0x02;
const HAS_PRIVATE_PORT: u8 = 0x20;
const HAS_PING_ADDRESS: u8 = 0x08;
const HAS_VALUES: u8 = 0x40;
const HAS_PAIRS: u8 = 0x80;
/// The maximum length of the condition and of the list of fields, in bytes, as in the SDK
/// (`sb_internal.h`).
const MAX_FILTER: usize = 256;
/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 64;
/// Options: send the fields of all servers; a maximum follows.
const FIELDS_FOR_ALL: u32 = 1;
const LIMIT_RESULT_COUNT: u32 = 128;

/// A request for the servers of a game, and for fields of each.
///
/// ```
/// use queryport::GameKey;
/// use queryport::lists::GameSpy2List;
///
/// let mut request = GameSpy2List::new("swat4", GameKey::new("tG3j8c")?);
/// request.fields = vec!["hostname".to_owned(), "numplayers".to_owned()];
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GameSpy2List {
    /// The game whose servers to list.
    pub game: String,
    /// The game whose [`Self::key`] is used. Default: the listed game.
    pub login: String,
    /// The key of [`Self::login`].
    pub key: GameKey,
    /// The version of the game; default 0.
    pub version: u32,
    /// A condition that listed servers must meet, in the SQL-like language of the list server; at
    /// most 256 bytes. Default empty: all servers.
    pub filter: String,
    /// The fields to list for each server, at most 256 bytes with their separators.
    ///
    /// Default `hostname`, because some list servers do not answer requests without a field.
    pub fields: Vec<String>,
    /// The maximum number of servers to list; default no limit.
    pub maximum: Option<u32>,
}

impl GameSpy2List {
    /// Requests the list of a game's servers with the game's key.
    pub fn new(game: impl Into<String>, key: GameKey) -> Self {
        let game = game.into();
        Self {
            login: game.clone(),
            game,
            key,
            version: 0,
            filter: String::new(),
            fields: vec!["hostname".to_owned()],
            maximum: None,
        }
    }

    pub(super) const fn dialogue(self, challenge: Key) -> impl Dialogue {
        GameSpy2Dialogue {
            request: self,
            challenge,
            expected: Part::Blocks,
            default_port: 0,
            fields: Vec::new(),
            popular: Vec::new(),
            room: MAX_VALUES,
            server: None,
        }
    }

    /// The request, with the client's challenge.
    fn encode(&self, challenge: &Key) -> Result<Vec<u8>, EncodeError> {
        let Self {
            game,
            login,
            filter,
            ..
        } = self;
        for (field, name) in [("game", game), ("login", login)] {
            EncodeError::check(field, name.as_bytes(), 1..=MAX_NAME, |byte| byte == 0)?;
        }
        EncodeError::check("filter", filter.as_bytes(), 0..=MAX_FILTER, |byte| {
            byte == 0
        })?;
        for name in &self.fields {
            EncodeError::check("name of a field", name.as_bytes(), 0..=MAX_FILTER, |byte| {
                matches!(byte, 0 | b'\\')
            })?;
        }
        let fields: String = self.fields.iter().map(|name| format!("\\{name}")).collect();
        EncodeError::check("list of fields", fields.as_bytes(), 0..=MAX_FILTER, |_| {
            false
        })?;
        // The length is written last; the type of a list is 0, its versions are 1 and 3.
        let mut out = vec![0, 0, 0, 1, 3];
        out.put_u32_le(self.version);
        let condition = [challenge, filter.as_bytes()].concat();
        let texts = [
            game.as_bytes(),
            login.as_bytes(),
            &condition,
            fields.as_bytes(),
            b"",
        ];
        out.put_slice(&texts.join(&0));
        out.put_u32(FIELDS_FOR_ALL | self.maximum.map_or(0, |_| LIMIT_RESULT_COUNT));
        if let Some(maximum) = self.maximum {
            out.put_u32_le(maximum);
        }
        // Never above 65,535, because every text is bounded.
        let [low, high, ..] = out.len().to_le_bytes();
        if let Some(place) = out.first_chunk_mut() {
            *place = [high, low];
        }
        Ok(out)
    }
}

/// A challenge of visible characters.
///
/// The SDK's rule for their parities is not followed, because no known list server checks it.
pub(super) fn challenge(nonce: u64) -> Key {
    let bytes = nonce.to_le_bytes();
    bytes.map(|byte| 33_u8.saturating_add(byte % 93))
}

#[derive(Debug)]
struct GameSpy2Dialogue {
    request: GameSpy2List,
    challenge: Key,
    expected: Part,
    /// The query port of servers that are listed without one.
    default_port: u16,
    fields: Vec<FieldType>,
    /// Popular values, which servers name by their index.
    popular: Vec<Vec<u8>>,
    /// How much memory values may still use.
    room: usize,
    /// The server whose values and pairs are being received.
    server: Option<ListedServer>,
}

/// A field that the list contains for each server.
#[derive(Debug)]
struct FieldType {
    /// 0 for a text, [`BYTE`] or [`NUMBER`].
    kind: u8,
    name: Vec<u8>,
}

/// The next expected element of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The unenciphered blocks.
    Blocks,
    Head,
    FieldCount,
    /// Fields; this many are left.
    Fields(u8),
    /// Popular values; this many are left.
    Popular(u8),
    Server,
    /// The value of the field with this index.
    Value(usize),
    Pair,
}

impl Dialogue for GameSpy2Dialogue {
    fn begin(&self) -> Result<Vec<u8>, EncodeError> {
        self.request.encode(&self.challenge)
    }

    fn read<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> Parsed<'a, Next> {
        match self.part(input, servers) {
            // A wrong key nearly always shows here: noise does not parse as a list of fields.
            Err(Err::Error(_)) if servers.count == 0 => {
                Ok((input, Next::Fail(ListError::WrongKey)))
            }
            part => part,
        }
    }

    fn handle_end(&mut self, rest: &[u8], _servers: &mut Collector) -> Result<ListEnd, ListError> {
        match self.expected {
            Part::Blocks if is_refusal(rest) => Err(refused(rest)),
            Part::Blocks | Part::Head => Err(ListError::NoReply),
            _ => Ok(ListEnd::Cut),
        }
    }
}

impl GameSpy2Dialogue {
    /// Parses the next part of the list.
    fn part<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> Parsed<'a, Next> {
        let (rest, next) = match self.expected {
            Part::Blocks => return self.blocks(input, servers),
            Part::Head => return self.head(input, servers),
            Part::FieldCount => byte.map(Part::Fields).parse(input)?,
            Part::Fields(0) => byte.map(Part::Popular).parse(input)?,
            Part::Fields(left) => self.field(input, left)?,
            Part::Popular(left @ 1..) => self.popular_value(input, left)?,
            Part::Popular(0) | Part::Server => {
                let (rest, server) = server(input, self.default_port)?;
                if server.is_none() {
                    return Ok((rest, Next::End));
                }
                self.server = server;
                (rest, Part::Value(0))
            }
            Part::Value(index) => self.value(input, index)?,
            Part::Pair => self.pair(input, servers)?,
        };
        self.expected = next;
        Ok((rest, Next::Read))
    }

    fn blocks<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> Parsed<'a, Next> {
        if is_refusal(input) {
            return Err(Err::Incomplete(Needed::Unknown));
        }
        let (rest, (random, server_challenge)) = blocks(input)?;
        servers.list.backend_flags = random.first_chunk().copied().map(u16::from_be_bytes);
        self.expected = Part::Head;
        let cipher = Cipher::new(mix(
            self.challenge,
            self.request.key.bytes(),
            server_challenge,
        ));
        Ok((rest, Next::Decipher(Box::new(cipher))))
    }

    fn head<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> Parsed<'a, Next> {
        let (rest, (client, port)) = (address, be_u16).parse(input)?;
        if port == u16::MAX {
            return text.map(|words| Next::Fail(refused(words))).parse(rest);
        }
        servers.list.client = Some(client);
        self.default_port = port;
        self.expected = Part::FieldCount;
        Ok((rest, Next::Read))
    }

    /// Parses a field. `left` counts this one and those after it.
    fn field<'a>(&mut self, input: &'a [u8], left: u8) -> Parsed<'a, Part> {
        let kind = verify(byte, |kind| *kind <= NUMBER);
        let (rest, (kind, name)) = (kind, text).parse(input)?;
        let name = name.to_vec();
        self.fields.push(FieldType { kind, name });
        Ok((rest, Part::Fields(left.saturating_sub(1))))
    }

    /// Parses a popular value. `left` counts this one and those after it.
    fn popular_value<'a>(&mut self, input: &'a [u8], left: u8) -> Parsed<'a, Part> {
        let (rest, value) = text(input)?;
        self.popular.push(value.to_vec());
        Ok((rest, Part::Popular(left.saturating_sub(1))))
    }

    /// The value of the field with this index, if the server has values.
    fn value<'a>(&mut self, input: &'a [u8], index: usize) -> Parsed<'a, Part> {
        let (Some(server), Some(field)) = (&mut self.server, self.fields.get(index)) else {
            return Ok((input, Part::Pair));
        };
        if !has(server, HAS_VALUES) {
            return Ok((input, Part::Pair));
        }
        let (rest, value) = value(input, field.kind, &self.popular)?;
        let texts = field.name.len().saturating_add(value.len());
        let Some(room) = self.room.checked_sub(texts.saturating_add(ENTRY_BYTES)) else {
            return fail().parse(input);
        };
        self.room = room;
        server.fields.push_raw(&field.name, &value);
        Ok((rest, Part::Value(index.saturating_add(1))))
    }

    /// A pair of the server, or the end of its pairs.
    fn pair<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> Parsed<'a, Part> {
        let mut rest = input;
        if let Some(server) = &mut self.server
            && has(server, HAS_PAIRS)
        {
            let end = constant(None, tag(&b"\0"[..]));
            let (after, pair) = alt((end, (text, text).map(Some))).parse(input)?;
            if let Some((name, value)) = pair {
                server.fields.push_raw(name, value);
                return Ok((after, Part::Pair));
            }
            rest = after;
        }
        if let Some(server) = self.server.take() {
            servers.add_entry(server);
        }
        Ok((rest, Part::Server))
    }
}

/// Whether the reply is an unenciphered refusal. The first byte of a list is 0x80 or more, because
/// its first block is shorter than 128 bytes.
fn is_refusal(reply: &[u8]) -> bool {
    reply.first().is_some_and(u8::is_ascii)
}

fn has(server: &ListedServer, bit: u8) -> bool {
    server
        .flags
        .is_some_and(|flags| flags & i32::from(bit) != 0)
}

/// The unenciphered blocks: `blocks = block(EC) block(EA)`, `block(mask) = length *OCTET`, where
/// the length is masked.
fn blocks(input: &[u8]) -> Parsed<'_, (&[u8], &[u8])> {
    let block = |mask: u8| byte.flat_map(move |length| take(length ^ mask));
    (block(0xEC), block(0xEA)).parse(input)
}

/// `server = bits address [port] [address] [port] [address]`, or the end mark `%x00.FF.FF.FF.FF`.
/// Like the SDK, it checks only the address of the end mark.
fn server(input: &[u8], default_port: u16) -> Parsed<'_, Option<ListedServer>> {
    let (rest, (bits, ip)) = (byte, address).parse(input)?;
    if ip.is_broadcast() {
        return Ok((rest, None));
    }
    let has = |bit| bits & bit != 0;
    let (rest, (port, private_address, private_port, ping_address)) = (
        cond(has(HAS_PORT), be_u16),
        cond(has(HAS_PRIVATE_ADDRESS), address),
        cond(has(HAS_PRIVATE_PORT), be_u16),
        cond(has(HAS_PING_ADDRESS), address),
    )
        .parse(rest)?;
    let server = SocketAddr::from((ip, port.unwrap_or(default_port)));
    let listed = ListedServer::new(server, Rules::default());
    let flags = Some(bits.into());
    Ok((
        rest,
        Some(ListedServer {
            private_address,
            private_port,
            ping_address,
            flags,
            ..listed
        }),
    ))
}

/// `value = %xFF text / index / OCTET / 2OCTET`, depending on the field's type. Numbers become
/// decimal text.
fn value<'a: 'p, 'p>(
    input: &'a [u8],
    kind: u8,
    popular: &'p [Vec<u8>],
) -> Parsed<'a, Cow<'p, [u8]>> {
    let number = |number: u16| Cow::Owned(number.to_string().into_bytes());
    let popular = |index| popular.get(usize::from(index));
    match kind {
        BYTE => byte.map(|byte| number(byte.into())).parse(input),
        NUMBER => be_u16.map(number).parse(input),
        _ => match byte(input)? {
            (rest, 0xFF) => text.map(Cow::Borrowed).parse(rest),
            _ => map_opt(byte, popular).map(Cow::from).parse(input),
        },
    }
}

/// `text = *4095OCTET %x00`
fn text(input: &[u8]) -> Parsed<'_, &[u8]> {
    let within = input.get(..MAX_TEXT).unwrap_or(input);
    match memchr::memchr(0, within).and_then(|end| input.split_at_checked(end)) {
        Some((text, rest)) => Ok((rest.get(1..).unwrap_or_default(), text)),
        None if within.len() < input.len() => fail().parse(input),
        None => Err(Err::Incomplete(Needed::Unknown)),
    }
}

fn address(input: &[u8]) -> Parsed<'_, Ipv4Addr> {
    be_u32.map(Ipv4Addr::from_bits).parse(input)
}

fn refused(text: &[u8]) -> ListError {
    ListError::Refused(words(text.strip_prefix(b"Query Error: ").unwrap_or(text)))
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "tests start at the time of the clock"
)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::lists::{ListSession, ServerList};
    use crate::session::Timing;

    /// A reply built by hand and enciphered with the SDK's own `sb_crypt.c`, for the challenge
    /// `ABCDEFGH` and SWAT 4's key. The SDK's own client accepted it.
    const REPLY: &str = "e40000111213141516e45345525645524348414c31323334\
        95cd95bb6814d472a0d2dbc9a15c8c0b9cd60f806b854813a92bfdd71067beaed80faf439e674ebfa665207afa3c574fd2dfb8";

    fn session() -> ListSession {
        let request = GameSpy2List::new("swat4", GameKey::new("tG3j8c").unwrap());
        ListSession::start(
            Box::new(request.dialogue(*b"ABCDEFGH")),
            Timing::default(),
            Instant::now(),
        )
    }

    /// Parses a reply received in pieces of this length.
    fn read(reply: &[u8], piece: usize) -> Result<ServerList, ListError> {
        let (mut session, now) = (session(), Instant::now());
        for piece in reply.chunks(piece) {
            session.handle_bytes(now, piece);
        }
        session.handle_end(now);
        session.poll_answer().unwrap()
    }

    #[test]
    fn the_request_is_the_one_that_openspy_reads() {
        let mut out = Vec::new();
        assert_eq!(session().poll_transmit(Instant::now(), &mut out), Some(44));
        let expected = "002c000103000000007377617434007377617434004142434445464748005c686f73746e616d650000000001";
        assert_eq!(hex::encode(&out), expected);
    }

    #[test]
    fn a_reply_is_read_whole_and_in_pieces_of_any_length() {
        let reply = hex::decode(REPLY).unwrap();
        let whole = read(&reply, reply.len()).unwrap();
        let servers = ["192.0.2.10:10481", "198.51.100.7:6500"].map(|text| text.parse().unwrap());
        assert_eq!(whole.servers, servers);
        assert!(whole.completeness.is_complete());
        assert_eq!(whole.client, Some(Ipv4Addr::new(203, 0, 113, 9)));
        let entries = &whole.entries;
        assert_eq!(entries[0].fields.get("hostname").unwrap(), "Alpha");
        assert_eq!(entries[1].fields.get("HostName").unwrap(), "Popular");
        assert_eq!(
            (entries[0].flags, entries[1].flags),
            (Some(0x51), Some(0x41))
        );
        for piece in 1..reply.len() {
            assert_eq!(read(&reply, piece).as_ref(), Ok(&whole), "{piece}");
        }
    }
}
