//! The server's side, pure: a request and a status in, the datagrams of a reply out.

use super::from_status::{Sections, encoded};
use super::secure::GameKey;
use super::wire::packer::{Packer, Section};
use super::wire::request::{Command, Request};
use crate::model::{Rules, ServerStatus};
use crate::reply::{Replies, Requester};

/// Longest text that is sent back for `\echo\`, in bytes.
const MAX_ECHO: usize = 50;

/// How a server answers.
///
/// ```
/// use queryport::gamespy1::secure::GameKey;
/// use queryport::gamespy1::server::{Dialect, Options};
///
/// let mut options = Options::new(Dialect::Qr1);
/// options.key = Some(GameKey::new("Z5Nfb0")?);
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Which implementation to imitate.
    pub dialect: Dialect,
    /// Whether `\echo\` is answered, for up to 50 bytes of printable ASCII; default `false`.
    pub echo: bool,
    /// What `\level_property\`, `\game_property\` and `\player_property\` may read; `None`, the default, answers none
    /// of them. Stock UT99 servers reveal passwords this way.
    pub properties: Option<Properties>,
    /// The key that `\secure\` is answered with, for challenges of 6 to 16 bytes; without it, it is not answered.
    pub key: Option<GameKey>,
}

impl Options {
    /// The options of a server that imitates this implementation.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, ..Self::default() }
    }
}

/// Properties that clients may read by name.
///
/// ```
/// use queryport::gamespy1::server::{Options, Properties};
///
/// let mut properties = Properties::default();
/// properties.level.push("Title", "Facing Worlds");
/// let mut options = Options::default();
/// options.properties = Some(properties);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Properties {
    /// Properties of the level.
    pub level: Rules,
    /// Properties of the game.
    pub game: Rules,
    /// Whether each player's [`extra`](crate::Player::extra) may be read.
    pub players: bool,
}

/// Which implementation to imitate in cutting and ending replies.
///
/// ```
/// use queryport::gamespy1::server::{Dialect, Options};
///
/// let battlefield_1942 = Options::new(Dialect::Qr1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// The Unreal engine: answers in the order of the request, datagrams of at most 1,000 bytes, rows in one piece,
    /// `\queryid\N.M\final\`, N from 1 to 100 and again.
    #[default]
    Unreal,
    /// GameSpy's own code, QR1: commands are found anywhere in the request and answered in a fixed order, datagrams
    /// of at most 1,349 bytes, `\final\\queryid\N.M`, N from 2 upwards.
    Qr1,
}

/// Answers a request. One without a command that this server answers gets no reply. The `queryid` follows from
/// [`Requester::number`].
///
/// What the format cannot carry, `\` and control bytes, is taken out of keys and values. Rules that would be read as rows
/// of players or teams (`player_8`, `teamname_0`) are left out, and so is a rule that fits into no datagram.
///
/// A reply has at most 32 datagrams, as many as qstat puts together. Where that is not enough, rules are left out first,
/// one by one from the last, then players; and the reply then has no `final`. Clients that wait for it (node-gamedig,
/// rust-gamedig) report a failure, others (qstat, GameQ, this crate) what has come, this crate as incomplete: none shows
/// a part as the whole.
///
/// ```
/// use std::time::Instant;
/// use queryport::gamespy1::{Command, Request, server};
/// use queryport::{Requester, Secret, ServerStatus};
///
/// let mut status = ServerStatus::default();
/// status.name = Some("Srv".into());
/// status.max_players = Some(8);
/// # #[allow(clippy::disallowed_methods)]
/// let mut requester = Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// requester.number = 7;
/// let request = Request::new(&[Command::Info]);
/// let replies = server::answer(&request, &status, &server::Options::default(), &requester);
/// let reply = br"\hostname\Srv\maxplayers\8\gamemode\openplaying\queryid\7.1\final\";
/// assert_eq!(replies.iter().collect::<Vec<_>>(), [&reply[..]]);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn answer(
    request: &Request<'_>,
    status: &ServerStatus,
    options: &Options,
    requester: &Requester,
) -> Replies {
    let is_qr1 = options.dialect == Dialect::Qr1;
    let packer = Packer::new(if is_qr1 { 1349 } else { 1000 });
    let mut reply = Reply { sections: Sections::new(status, is_qr1), options, packer };
    let commands = if is_qr1 {
        let find =
            |command: Command<'static>| Some(Command::new(command.name(), request.find(command.name())?));
        Command::known(b"").into_iter().filter_map(find).collect()
    } else {
        request.commands().to_vec()
    };
    let answered = commands.iter().filter(|command| reply.add(command)).count();
    if answered == 0 {
        return Replies::NONE;
    }
    let before = if is_qr1 { requester.number } else { requester.number.saturating_sub(1) % 100 };
    let number = before.saturating_add(1).min(u64::from(u32::MAX));
    reply.packer.finish(number, is_qr1).into()
}

/// A reply under construction.
struct Reply<'a> {
    sections: Sections<'a>,
    options: &'a Options,
    packer: Packer,
}

impl Reply<'_> {
    /// Adds the answer to a command; `false` for an unknown one, or one that is switched off.
    fn add(&mut self, command: &Command<'_>) -> bool {
        let (name, value) = (command.name().to_ascii_lowercase(), command.value());
        let properties = self.options.properties.as_ref();
        match name.as_slice() {
            b"basic" => self.packer.add(self.sections.basic()),
            b"info" => self.packer.add(self.sections.info()),
            b"rules" => self.packer.add_rules(self.sections.rules()),
            b"players" => self.sections.players().into_iter().for_each(|row| self.packer.add(row)),
            b"teams" => self.sections.teams().into_iter().for_each(|row| self.packer.add(row)),
            b"status" | b"packets" => {
                for part in [Command::Basic, Command::Info, Command::Rules, Command::Players] {
                    self.add(&part);
                    if name == b"packets" {
                        self.packer.flush();
                    }
                }
            }
            b"echo" => return self.echo(value),
            b"secure" => return self.secure(value),
            b"level_property" => return self.property(value, properties.map(|known| &known.level)),
            b"game_property" => return self.property(value, properties.map(|known| &known.game)),
            b"player_property" => return self.player_property(value),
            _ => return false,
        }
        true
    }

    fn add_pair(&mut self, key: &[u8], value: &[u8]) -> bool {
        let mut section = Section::default();
        section.push(key, value);
        self.packer.add(section);
        true
    }

    fn echo(&mut self, text: &[u8]) -> bool {
        let is_harmless = text.len() <= MAX_ECHO && text.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let key: &[u8] = match self.options.dialect {
            Dialect::Unreal => b"echo_replay",
            Dialect::Qr1 => b"echo",
        };
        self.options.echo && is_harmless && self.add_pair(key, text)
    }

    /// Stock servers take a challenge of any length, and some crashed on long ones (CVE-2004-0608).
    fn secure(&mut self, challenge: &[u8]) -> bool {
        let is_usual = (6..=16).contains(&challenge.len()) && challenge.iter().all(u8::is_ascii_graphic);
        let key = self.options.key.as_ref().filter(|_| is_usual);
        let proof = key.and_then(|key| key.validate(challenge).ok());
        proof.is_some_and(|proof| self.add_pair(b"validate", proof.as_bytes()))
    }

    /// A property that does not exist is empty, as on real servers.
    fn property(&mut self, name: &[u8], properties: Option<&Rules>) -> bool {
        let Some(properties) = properties else { return false };
        let value = std::str::from_utf8(name).ok().and_then(|name| properties.get(name));
        self.add_pair(name, &value.map(encoded).unwrap_or_default())
    }

    /// Rows begin at 1 here, and only here.
    fn player_property(&mut self, name: &[u8]) -> bool {
        let is_allowed = self.options.properties.as_ref().is_some_and(|properties| properties.players);
        let players = if is_allowed { self.sections.status.listed_players() } else { &[] };
        for (index, player) in (1_u32..).zip(players) {
            let value = std::str::from_utf8(name).ok().and_then(|name| player.extra.get(name));
            let key = [name, format!("_{index}").as_bytes()].concat();
            self.add_pair(&key, &value.map(encoded).unwrap_or_default());
        }
        is_allowed
    }
}
