//! Minecraft's query port: the short answer, the long one, and how to find one's way where a title holds NUL.
//!
//! ```text
//!  short   00 id, title NUL, game type NUL, map NUL, players NUL, most players NUL,
//!          game port in two bytes, LITTLE-endian, address NUL
//!  long    00 id, nine bytes of filler, 80, 00 key NUL value NUL … NUL, 01 player_ NUL 00 name NUL … NUL
//! ```
//!
//! The server writes the low byte of each character of its title (U+xx00 becomes NUL), its relatives write UTF-8.
//! A NUL inside the title shifts every key after it, and can be used to forge them. Here the title reaches to the
//! first place after which the known keys follow, each of them once.

use memchr::memmem;
use nom::bytes::complete::tag;
use nom::number::complete::le_u16;
use nom::{IResult, Parser};

use super::answer::{Answer, Form};
use super::cursor::Piece;
use super::reader::Reader;
use super::request::{DATA, RequestId, id};
use super::response::text;
use super::tables::{Cell, Reply};
use crate::error::{ParseError, ParseErrorKind};
use crate::model::{Charset, Colours, Style, TextRef};
use crate::wire::number;

/// How its texts are read: `§` codes, UTF-8 or Latin-1.
pub const STYLE: Style = Style { charset: Charset::Utf8OrLatin1, colours: Colours::SectionSign };

/// The keys that servers send.
const KEYS: [&str; 12] = [
    "hostname", "gametype", "game_id", "version", "plugins", "map", "numplayers", "maxplayers", "hostport",
    "hostip", "server_engine", "whitelist",
];
/// Those every server sends after its title.
const USUAL: usize = 7;
/// Places tried for a title's end; a real title has one or a few.
const MAX_TRIES: usize = 32;
/// Ends the server's keys and begins the players.
const PLAYERS: &[u8] = b"\0\0\x01player_\0\0";

/// The short answer, borrowed from its datagram.
///
/// ```
/// use queryport::gamespy4::minecraft::Basic;
///
/// let datagram = b"\0\x01\x02\x03\x04A Minecraft Server\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0";
/// let basic = Basic::parse(datagram)?;
/// assert_eq!(basic.title().plain(), "A Minecraft Server");
/// assert_eq!((basic.players(), basic.max_players(), basic.host_port()), (Some(2), Some(20), 25565));
/// # Ok::<(), queryport::error::ParseError>(())
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
        .ok_or(ParseError::new(ParseErrorKind::CutShort("the short answer"), datagram.len()))
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
    pub(super) const fn named(self) -> [(&'static str, &'a [u8]); 6] {
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

/// The long answer with its keys by meaning, borrowed from an [`Answer`].
#[derive(Debug, Clone, Copy)]
pub struct Full<'a> {
    reply: Reply<'a>,
}

impl<'a> Full<'a> {
    /// `None` when it is not a Minecraft server's long answer.
    #[must_use]
    pub fn new(answer: &'a Answer) -> Option<Self> {
        (answer.form() == Form::Minecraft).then(|| Self { reply: answer.reply() })
    }

    /// The title of the server ("message of the day"), which may hold NUL.
    #[must_use]
    pub fn title(self) -> Option<TextRef<'a>> {
        self.text("hostname")
    }

    /// The edition: `MINECRAFT`, or `MINECRAFTPE` from servers of the pocket edition.
    #[must_use]
    pub fn game_id(self) -> Option<TextRef<'a>> {
        self.text("game_id")
    }

    /// `SMP`.
    #[must_use]
    pub fn game_type(self) -> Option<TextRef<'a>> {
        self.text("gametype")
    }

    /// The game's version.
    #[must_use]
    pub fn version(self) -> Option<TextRef<'a>> {
        self.text("version")
    }

    /// The server's software and its plugins.
    #[must_use]
    pub fn plugins(self) -> Plugins<'a> {
        Plugins::new(self.reply.get("plugins").unwrap_or_default())
    }

    /// The world's name.
    #[must_use]
    pub fn map(self) -> Option<TextRef<'a>> {
        self.text("map")
    }

    /// Players on the server; the list may be shorter or empty, and its rows may be no players at all.
    #[must_use]
    pub fn player_count(self) -> Option<u32> {
        self.reply.get("numplayers").and_then(number::number)
    }

    /// Most players.
    #[must_use]
    pub fn max_players(self) -> Option<u32> {
        self.reply.get("maxplayers").and_then(number::number)
    }

    /// The port players connect to.
    #[must_use]
    pub fn host_port(self) -> Option<u16> {
        self.reply.get("hostport").and_then(number::number)
    }

    /// The address the server was told to listen at.
    #[must_use]
    pub fn host_ip(self) -> Option<TextRef<'a>> {
        self.text("hostip")
    }

    /// Whether only listed players may join; PocketMine says it.
    #[must_use]
    pub fn whitelist(self) -> Option<bool> {
        self.reply.get("whitelist").and_then(number::boolean)
    }

    /// The listed players' names.
    pub fn players(self) -> impl Iterator<Item = TextRef<'a>> {
        self.reply.players().rows().map(|row| TextRef::new(row.get("player_").unwrap_or_default(), STYLE))
    }

    fn text(self, key: &str) -> Option<TextRef<'a>> {
        self.reply.get(key).map(|raw| TextRef::new(raw, STYLE))
    }
}

/// `CraftBukkit on Bukkit 1.8: WorldEdit 6.0; Vault 1.5`: the server's software, then its plugins. Any part may be
/// missing.
///
/// ```
/// use queryport::gamespy4::minecraft::Plugins;
///
/// let plugins = Plugins::new(b"CraftBukkit on Bukkit 1.8: WorldEdit 6.0; Vault 1.5");
/// assert_eq!(plugins.software().unwrap().plain(), "CraftBukkit on Bukkit 1.8");
/// let list: Vec<_> = plugins.list().map(|(name, version)| format!("{name}|{version}")).collect();
/// assert_eq!(list, ["WorldEdit|6.0", "Vault|1.5"]);
/// assert!(Plugins::new(b"").software().is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plugins<'a> {
    software: &'a [u8],
    list: &'a [u8],
}

impl<'a> Plugins<'a> {
    /// Reads the value of the key `plugins`.
    #[must_use]
    pub fn new(value: &'a [u8]) -> Self {
        match memmem::find(value, b": ") {
            Some(colon) => {
                let list = value.get(colon.saturating_add(2)..).unwrap_or_default();
                Self { software: value.get(..colon).unwrap_or_default(), list }
            }
            None => Self { software: value, list: b"" },
        }
    }

    /// The software with its version, in its own words; `None` where the server hides it.
    #[must_use]
    pub fn software(self) -> Option<TextRef<'a>> {
        (!self.software.is_empty()).then(|| TextRef::new(self.software, STYLE))
    }

    /// Name and version of each plugin; the version is what follows the first blank and may be empty.
    pub fn list(self) -> impl Iterator<Item = (TextRef<'a>, TextRef<'a>)> {
        let plugins = self.list.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        plugins.filter(|plugin| !plugin.is_empty()).map(|plugin| {
            let blank = memchr::memchr(b' ', plugin).unwrap_or(plugin.len());
            let (name, version) = plugin.split_at_checked(blank).unwrap_or_default();
            (TextRef::new(name, STYLE), TextRef::new(version.trim_ascii_start(), STYLE))
        })
    }
}

/// Whether a body of sections is a Minecraft server's: no other has this key.
pub(super) fn is_minecraft(body: &[u8]) -> bool {
    memmem::find(body, b"\0game_id\0MINECRAFT").is_some()
}

/// Reads a long answer.
pub(super) fn read<'a>(reader: &mut Reader<'a>, piece: &Piece<'a>) -> Result<(), ParseError> {
    let body = piece.body;
    // The last place: an earlier one can stand in a title, none can stand in a player's name.
    let players = memmem::rfind(body, PLAYERS);
    let end = players.map_or(body.len(), |at| at.saturating_add(1));
    let region = body.get(1..end).unwrap_or_default();
    read_pairs(reader, region, piece.base.saturating_add(1))?;
    let start = players.map_or(body.len(), |at| at.saturating_add(2));
    let rest = body.get(start..).unwrap_or_default();
    let piece = Piece { body: rest, base: piece.base.saturating_add(start), ..*piece };
    if players.is_none() {
        reader.lose_server_and_players();
    }
    reader.read(&piece, None)
}

fn read_pairs(reader: &mut Reader<'_>, region: &[u8], base: usize) -> Result<(), ParseError> {
    let cell = |start: usize, end: usize| Cell::new(base.saturating_add(start)..base.saturating_add(end));
    let mut at = 0_usize;
    while let Some((key, key_end)) = token(region, at).filter(|(key, _)| !key.is_empty()) {
        let value_at = key_end.saturating_add(1);
        let Some((value, mut value_end)) = token(region, value_at) else { break };
        if key == b"hostname" {
            value_end = title_end(region, value_at).unwrap_or(value_end);
        } else if !is_known(key) && is_known(value) {
            // The rest of a value that held NUL.
            reader.extend_last(base.saturating_add(key_end));
            at = value_at;
            continue;
        }
        reader.push_pair(cell(at, key_end), cell(value_at, value_end))?;
        at = value_end.saturating_add(1);
    }
    Ok(())
}

/// The text from here to its NUL, and where that is.
fn token(region: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = region.get(at..)?;
    let length = memchr::memchr(0, rest)?;
    Some((rest.get(..length)?, at.saturating_add(length)))
}

fn is_known(key: &[u8]) -> bool {
    KEYS.iter().any(|known| known.as_bytes() == key)
}

/// Where a title that begins here ends: at the first NUL after which most known keys follow, none of them twice.
fn title_end(region: &[u8], start: usize) -> Option<usize> {
    let rest = region.get(start..)?;
    let ends = memchr::memchr_iter(0, rest).map(|nul| start.saturating_add(nul));
    let follows = |&end: &usize| match token(region, end.saturating_add(1)) {
        Some((key, _)) => is_known(key),
        None => true,
    };
    let mut best = None;
    for end in ends.filter(follows).take(MAX_TRIES) {
        let Some(keys) = distinct_keys(region, end.saturating_add(1)) else { continue };
        if keys >= USUAL {
            return Some(end);
        }
        if best.is_none_or(|(most, _)| keys > most) {
            best = Some((keys, end));
        }
    }
    best.map(|(_, end)| end)
}

/// How many known keys stand where keys stand from here on; `None` when one of them stands there twice.
fn distinct_keys(region: &[u8], start: usize) -> Option<usize> {
    let mut seen = [false; KEYS.len()];
    // Only one pair has this key, and the one that asks is it.
    *seen.first_mut()? = true;
    let mut at = start;
    let mut count = 0_usize;
    while let Some((key, key_end)) = token(region, at) {
        if let Some(known) = KEYS.iter().position(|known| known.as_bytes() == key) {
            if std::mem::replace(seen.get_mut(known)?, true) {
                return None;
            }
            count = count.saturating_add(1);
        }
        let Some((_, value_end)) = token(region, key_end.saturating_add(1)) else { break };
        at = value_end.saturating_add(1);
    }
    Some(count)
}
