//! The server's side, pure: a request and a status in, the datagrams of a reply out.

use bytes::Bytes;

use super::family::Family;
use super::packets::{Packer, Piece};
use super::request::{Command, Request};
use super::response::FinalOrder;
use super::secure::{Enctype, GameKey};
use crate::model::{Charset, Player, Rules, ServerStatus, Text, TextRef};
use crate::reply::{Replies, Requester};

/// Longest text that is sent back for `\echo\`, in bytes; GameSpy's own code has the same limit.
pub const MAX_ECHO: usize = 50;

/// How a server answers.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Whose way.
    pub dialect: Dialect,
    /// Whether `\echo\` is answered: off unless asked for. Where it is on, up to [`MAX_ECHO`] bytes of printable
    /// ASCII come back.
    pub echo: bool,
    /// What `\level_property\`, `\game_property\` and `\player_property\` may tell: nothing unless given. Real
    /// servers tell passwords when asked this way.
    pub properties: Option<Properties>,
    /// The key that `\secure\` is answered with; without it, it is not answered.
    pub key: Option<GameKey>,
}

/// What may be asked for by name.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Properties {
    /// Properties of the level, by name.
    pub level: Rules,
    /// Properties of the game, by name.
    pub game: Rules,
    /// Whether each player's [`extra`](Player::extra) may be asked for.
    pub players: bool,
}

/// Whose way of cutting and ending replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// The Unreal engine's: answers in the order of the request, datagrams of at most 1,000 bytes, rows in one
    /// piece, `\queryid\N.M\final\`, N from 1 to 100 and again.
    #[default]
    Unreal,
    /// GameSpy's own code's: commands are found anywhere and answered in a fixed order, datagrams of at most 1,349
    /// bytes, `\final\\queryid\N.M`, N from 2 upwards.
    Qr1,
}

impl Dialect {
    /// Most bytes of a datagram.
    #[must_use]
    pub const fn max_datagram(self) -> usize {
        match self {
            Self::Unreal => 1000,
            Self::Qr1 => 1349,
        }
    }
}

/// Answers a request; not one without a known command. The `queryid` follows from [`Requester::number`].
///
/// What the format cannot carry, `\` and control bytes, is taken out of keys and values.
///
/// ```
/// use std::time::Instant;
/// use queryport::gamespy1::{Request, server};
/// use queryport::{Requester, Secret, ServerStatus};
///
/// let mut status = ServerStatus::default();
/// status.name = Some("Srv".into());
/// status.max_players = Some(8);
/// let request = Request::parse(br"\info\")?;
/// # #[allow(clippy::disallowed_methods)]
/// let mut requester = Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// requester.number = 7;
/// let reply = server::answer(&request, &status, &server::Options::default(), &requester);
/// assert_eq!(reply.iter().next().unwrap(), &br"\hostname\Srv\maxplayers\8\gamemode\openplaying\queryid\7.1\final\"[..]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn answer(
    request: &Request<'_>,
    status: &ServerStatus,
    options: &Options,
    requester: &Requester,
) -> Replies {
    let count = requester.number.saturating_sub(1);
    let teller = Teller { status, options, family: family(status) };
    let mut packer = Packer::new(options.dialect.max_datagram());
    let mut known = false;
    match options.dialect {
        Dialect::Unreal => {
            for command in request.commands() {
                known |= teller.tell(&command, &mut packer);
            }
        }
        Dialect::Qr1 => {
            for name in TABLE {
                if let Some(value) = request.find(name) {
                    known |= teller.tell(&Command::new(name.as_bytes(), value), &mut packer);
                }
            }
        }
    }
    if !known {
        return Replies::NONE;
    }
    let (number, order) = match options.dialect {
        Dialect::Unreal => {
            (count.checked_rem(100).map_or(1, |rest| rest.saturating_add(1)), FinalOrder::After)
        }
        Dialect::Qr1 => (count.saturating_add(2), FinalOrder::Before),
    };
    packer.finish(u32::try_from(number).unwrap_or(u32::MAX), order).into()
}

/// The order of GameSpy's own code; what it does not know stands where it does no harm.
const TABLE: [&str; 12] = [
    "basic",
    "info",
    "rules",
    "players",
    "status",
    "packets",
    "teams",
    "echo",
    "level_property",
    "game_property",
    "player_property",
    "secure",
];

fn family(status: &ServerStatus) -> Family {
    let game = status.game.as_ref().map(Text::raw);
    Family::of(|key| if key == "gamename" { game } else { status.rules.get(key).map(TextRef::raw) })
}

/// What is told, section by section.
struct Teller<'a> {
    status: &'a ServerStatus,
    options: &'a Options,
    family: Family,
}

/// Keys of the sections, in the order of the wire. All other rules belong to `\rules\`.
const BASIC: [&str; 4] = ["gamename", "gamever", "minnetver", "location"];
const INFO: [&str; 10] = [
    "hostname",
    "hostport",
    "maptitle",
    "mapname",
    "gametype",
    "numplayers",
    "maxplayers",
    "gamemode",
    "worldlog",
    "wantworldlog",
];

impl Teller<'_> {
    /// Adds the answer to a command; `false` for an unknown one, or one that is switched off.
    fn tell(&self, command: &Command<'_>, packer: &mut Packer) -> bool {
        let name = command.name().to_ascii_lowercase();
        let value = command.value();
        let sections: &[fn(&Self) -> Vec<Piece>] = match name.as_slice() {
            b"basic" => &[Self::basic],
            b"info" => &[Self::info],
            b"rules" => &[Self::rules],
            b"players" => &[Self::players],
            b"teams" => &[Self::teams],
            b"status" | b"packets" => &[Self::basic, Self::info, Self::rules, Self::players],
            b"echo" => return self.echo(value, packer),
            b"secure" => return self.secure(value, packer),
            b"level_property" => return self.property(value, |properties| &properties.level, packer),
            b"game_property" => return self.property(value, |properties| &properties.game, packer),
            b"player_property" => return self.player_property(value, packer),
            _ => return false,
        };
        for section in sections {
            for piece in section(self) {
                packer.add(&piece);
            }
            if name == b"packets" {
                packer.flush();
            }
        }
        true
    }

    fn basic(&self) -> Vec<Piece> {
        self.section(&BASIC)
    }

    fn info(&self) -> Vec<Piece> {
        self.section(&INFO)
    }

    fn section(&self, keys: &[&str]) -> Vec<Piece> {
        let mut piece = Piece::default();
        for key in keys {
            if let Some(value) = self.value(key) {
                piece.push(key.as_bytes(), &value);
            }
        }
        vec![piece]
    }

    /// What the model or its rules say for a key of the first two sections.
    fn value(&self, key: &str) -> Option<Vec<u8>> {
        let status = self.status;
        let text = |text: &Option<Text>| text.as_ref().map(|text| wire(text.as_ref()));
        let number = |value: Option<u32>| value.map(|value| value.to_string().into_bytes());
        let listed = || status.players.as_ref().and_then(|players| u32::try_from(players.len()).ok());
        let own = match key {
            "gamename" => text(&status.game),
            "gamever" => text(&status.version),
            "hostname" => text(&status.name),
            "hostport" => number(status.game_port.map(u32::from)),
            "mapname" => text(&status.map),
            "gametype" => text(&status.game_type),
            "numplayers" => number(status.player_count.or_else(listed)),
            "maxplayers" => number(status.max_players),
            _ => None,
        };
        let rule = || status.rules.get(key).map(wire);
        own.or_else(rule).or_else(|| (key == "gamemode").then(|| b"openplaying".to_vec()))
    }

    fn rules(&self) -> Vec<Piece> {
        let mut piece = Piece::default();
        let mut password = self.status.password;
        for (key, value) in &self.status.rules {
            let is = |known: &&str| key.raw().eq_ignore_ascii_case(known.as_bytes());
            if is(&"password") {
                password = None;
            }
            if !BASIC.iter().any(&is) && !INFO.iter().any(is) {
                piece.push(&wire(key), &wire(value));
            }
        }
        if let Some(locked) = password {
            let spelling = match (self.family, locked) {
                (Family::Battlefield1942, true) => "1",
                (Family::Battlefield1942, false) => "0",
                (_, true) => "True",
                (_, false) => "False",
            };
            piece.push(b"password", spelling.as_bytes());
        }
        vec![piece]
    }

    /// One piece for each player; the names of teams follow where the game has them there.
    fn players(&self) -> Vec<Piece> {
        let rows = (0_usize..).zip(self.status.listed_players());
        let mut pieces: Vec<Piece> = rows.map(|(index, player)| self.player(index, player)).collect();
        if self.family == Family::Battlefield1942 || self.options.dialect == Dialect::Qr1 {
            let mut names = Piece::default();
            for (index, team) in (0_i32..).zip(&self.status.teams) {
                if let Some(name) = &team.name {
                    let key = format!("teamname_{}", team.id.unwrap_or(index));
                    names.push(key.as_bytes(), &wire(name.as_ref()));
                }
            }
            pieces.push(names);
        }
        pieces
    }

    fn player(&self, index: usize, player: &Player) -> Piece {
        let mut row = Piece::default();
        let mut push = |name: &str, value: &[u8]| row.push(format!("{name}_{index}").as_bytes(), value);
        let own_code = self.family == Family::Battlefield1942;
        push(if own_code { "playername" } else { "player" }, &wire(player.name.as_ref()));
        let numbers = [
            (if own_code { "score" } else { "frags" }, player.score),
            ("ping", player.ping.map(i64::from)),
            ("team", player.team.map(|team| i64::from(self.family.wire_team(team)))),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                push(name, value.to_string().as_bytes());
            }
        }
        let mut says_bot = false;
        for (key, value) in &player.extra {
            says_bot |= key.raw().eq_ignore_ascii_case(b"ngsecret");
            push(&key.decoded(), &wire(value));
        }
        if let (Some(bot), false) = (player.bot, says_bot) {
            push("ngsecret", if bot { b"bot" } else { b"false" });
        }
        row
    }

    fn teams(&self) -> Vec<Piece> {
        let team = |(index, team): (i32, &crate::model::Team)| {
            let index = team.id.unwrap_or(index);
            let mut row = Piece::default();
            let mut push = |name: &str, value: &[u8]| row.push(format!("{name}_{index}").as_bytes(), value);
            if let Some(name) = &team.name {
                push("team", &wire(name.as_ref()));
            }
            if let Some(score) = team.score {
                push("score", score.to_string().as_bytes());
            }
            let members = self.status.listed_players().iter().filter(|player| player.team == Some(index));
            push("size", members.count().to_string().as_bytes());
            row
        };
        (0..).zip(&self.status.teams).map(team).collect()
    }

    fn echo(&self, text: &[u8], packer: &mut Packer) -> bool {
        let harmless = text.len() <= MAX_ECHO && text.iter().all(|byte| matches!(byte, b' '..=b'~'));
        if !self.options.echo || !harmless {
            return false;
        }
        let mut piece = Piece::default();
        let key: &[u8] = match self.options.dialect {
            Dialect::Unreal => b"echo_replay",
            Dialect::Qr1 => b"echo",
        };
        piece.push(key, text);
        packer.add(&piece);
        true
    }

    /// Stock servers take a challenge of any length, and some fell over it.
    fn secure(&self, challenge: &[u8], packer: &mut Packer) -> bool {
        let fair = (6..=16).contains(&challenge.len()) && challenge.iter().all(u8::is_ascii_graphic);
        let answer = self.options.key.as_ref().filter(|_| fair);
        let Some(answer) = answer.and_then(|key| key.validate(challenge, Enctype::Plain).ok()) else {
            return false;
        };
        let mut piece = Piece::default();
        piece.push(b"validate", answer.as_bytes());
        packer.add(&piece);
        true
    }

    /// A property that is not there is empty, as on real servers.
    fn property(&self, name: &[u8], of: impl Fn(&Properties) -> &Rules, packer: &mut Packer) -> bool {
        let Some(properties) = &self.options.properties else { return false };
        let value = std::str::from_utf8(name).ok().and_then(|name| of(properties).get(name));
        let mut piece = Piece::default();
        piece.push(name, &value.map(wire).unwrap_or_default());
        packer.add(&piece);
        true
    }

    /// Rows begin at 1 here, and only here.
    fn player_property(&self, name: &[u8], packer: &mut Packer) -> bool {
        if !self.options.properties.as_ref().is_some_and(|properties| properties.players) {
            return false;
        }
        for (index, player) in (1_u32..).zip(self.status.listed_players()) {
            let value = std::str::from_utf8(name).ok().and_then(|name| player.extra.get(name));
            let mut piece = Piece::default();
            piece
                .push(&[name, format!("_{index}").as_bytes()].concat(), &value.map(wire).unwrap_or_default());
            packer.add(&piece);
        }
        true
    }
}

/// A text as this wire carries it: Windows-1252, which is what the games' own clients read, where its characters
/// are in that set and would not be taken for UTF-8; else UTF-8. No codes that hold control bytes.
fn wire(text: TextRef<'_>) -> Vec<u8> {
    if text.raw().is_ascii() && !text.raw().contains(&0x1B) && text.style().charset != Charset::Utf16Le {
        return text.raw().to_vec();
    }
    let has_codes = text.raw().contains(&0x1B) || text.style().charset == Charset::Utf16Le;
    let decoded = if has_codes { text.plain() } else { text.decoded() };
    let narrow = Charset::Windows1252.encode(&decoded);
    if Charset::Utf8OrWindows1252.decode(&narrow) == decoded {
        narrow
    } else {
        decoded.into_owned().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Style;
    use crate::reply::{Replies, Requester};

    #[test]
    fn texts_go_out_in_the_clients_character_set() {
        let with = |raw: &'static [u8], charset| {
            wire(Text::new(raw, Style::new(charset, crate::model::Colours::UnrealEscape)).as_ref())
        };
        let auto = Charset::Utf8OrWindows1252;
        assert_eq!(with("Blauß".as_bytes(), auto), b"Blau\xdf");
        assert_eq!(with(b"Blau\xdf", auto), b"Blau\xdf");
        assert_eq!(with("Жук".as_bytes(), auto), "Жук".as_bytes(), "not in the set");
        assert_eq!(with("Ã¶".as_bytes(), auto), "Ã¶".as_bytes(), "would be taken for ö");
        assert_eq!(with(b"G\x00r\x00\xfc\x00", Charset::Utf16Le), b"Gr\xfc");
        assert_eq!(with(b"a\x1b\xff\x01\x01b", auto), b"ab");
    }
}
