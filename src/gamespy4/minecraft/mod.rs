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

mod basic;
mod long;

pub use basic::Basic;
use memchr::memmem;

use super::answer::{Answer, Form};
use super::tables::Reply;
use crate::model::{Charset, Colours, Style, TextRef};
use crate::text::number;

pub(super) use long::{is_minecraft, read};

/// How its texts are read: `§` codes, UTF-8 or Latin-1.
pub const STYLE: Style = Style { charset: Charset::Utf8OrLatin1, colours: Colours::SectionSign };

/// Places tried for a title's end; a real title has one or a few.
const MAX_TRIES: usize = 32;
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
