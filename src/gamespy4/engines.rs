//! The differences between engines: one row each, with its sources.
//!
//! A row lists the keys in the order in which the engine's server writes them. Reading and writing
//! take the same row: see [`Access`]. Of several keys of one field, the first with a value counts;
//! for yes and no, a single yes is enough.
//!
//! "Captures" are the replies in github.com/Austinb/GameQ, tests/Protocols/Providers.

use super::wire::form::Form;
use super::wire::minecraft;
use super::wire::sections::Pair;
use crate::model::Style;
use crate::options::Engine;

/// An engine, or a family of engines with the same keys.
#[derive(Debug)]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "name and source are for readers")
)]
pub(super) struct Profile {
    /// The name, for the table of fields on the protocol's page.
    pub(super) name: &'static str,
    /// A reply with one of these is the engine's.
    marks: &'static [Mark],
    /// The character set and the colour codes of its texts.
    pub(super) style: Style,
    /// The server's keys.
    pub(super) keys: &'static [Key],
    /// The columns of a player.
    pub(super) columns: &'static [Column],
    /// The number of the first team. Teams have no number on the wire: players name the position of
    /// the row.
    pub(super) first_team: i32,
    /// Values of the modification's key that are the game itself.
    pub(super) unmodified: &'static [&'static str],
    /// Whether bots are rows without a name, where there are as many of them as bots.
    pub(super) has_nameless_bots: bool,
    /// The layout of its reply to a request for everything, where it is imitated.
    pub(super) layout: Layout,
    /// Its use of challenges, where it is imitated.
    pub(super) challenge: Challenge,
    /// The sources of the facts.
    pub(super) source: &'static str,
}

/// The layout of a reply to a request for everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Sections in numbered datagrams, for clients that know them, else tables row by row.
    Sections,
    /// Minecraft's: one datagram of any size.
    Minecraft,
    /// Tables row by row in one datagram, for any flags of the request.
    OneDatagram,
}

/// A server's use of challenges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Challenge {
    /// Data only for a valid challenge.
    Demanded,
    /// Data also without a challenge.
    Optional,
    /// Requests for a challenge get no reply.
    Unknown,
}

/// A property of a reply that shows its engine.
#[derive(Debug)]
enum Mark {
    /// The layout of the reply.
    Form(Form),
    /// A key.
    Key(&'static str),
    /// The first letters of a key.
    Prefix(&'static str),
    /// A key with this value.
    Value(&'static str, &'static str),
}

/// A key of the server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) field: Field,
    pub(super) access: Access,
    /// The value that is written where neither the status nor its rules have one.
    pub(super) default: Option<&'static str>,
}

/// Whether a key is read, written or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Both,
    /// Read only: other servers with these keys send it.
    Read,
    /// Written only: on the wire it means something else, or nothing to the model.
    Write,
}

/// The meaning of a key: a field of the status, and the form of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    /// The name, written in the character set of the server's version.
    Title,
    Map,
    Game,
    ModName,
    /// The software and its plugins, see [`minecraft::plugins`].
    Software,
    GameType,
    /// The official mutators as the bits of a number.
    MutatorBits,
    /// The names of custom mutators.
    MutatorNames,
    /// The classes of custom mutators: only newer versions have them.
    MutatorClasses,
    Version,
    ProtocolVersion,
    GamePort,
    Password,
    Dedicated,
    /// [`Self::Dedicated`], written as `True` or `False`.
    DedicatedWord,
    AntiCheat,
    /// Everyone, bots included.
    Players,
    /// Players without the bots.
    People,
    BotCount,
    /// Whether there are bots.
    HasBots,
    MaxPlayers,
    PrivateSlots,
    TimeLimitInMinutes,
    TimeLimitInSeconds,
    /// A time limit in an unknown unit: only 0, no limit, is read.
    TimeLimit,
    /// In seconds.
    TimeLeft,
    ScoreLimit,
    /// The name of the team with this number.
    TeamName(i32),
    /// No field: the value comes from the rules.
    Rule,
}

/// A column of the players.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) field: PlayerField,
    /// The value that is written where the player has none; `None` for a column that is only read.
    pub(super) default: Option<u8>,
}

/// The meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlayerField {
    Name,
    /// The score: of several such columns in a reply, the first in the row's order.
    Score,
    Ping,
    Team,
    /// Whether the player is a bot. Written where that is known of anybody.
    Bot,
    /// No field of the model.
    Extra,
}

/// A key that is read and written.
const fn key(name: &'static str, field: Field) -> Key {
    Key {
        name,
        field,
        access: Access::Both,
        default: None,
    }
}

/// A key that is only read.
const fn read(name: &'static str, field: Field) -> Key {
    Key {
        access: Access::Read,
        ..key(name, field)
    }
}

/// A key that is only written.
const fn written(name: &'static str, field: Field) -> Key {
    Key {
        access: Access::Write,
        ..key(name, field)
    }
}

impl Key {
    /// The key with a value that is written where there is no other.
    const fn or(self, default: &'static str) -> Self {
        Self {
            default: Some(default),
            ..self
        }
    }

    pub(super) fn is_read(&self) -> bool {
        self.access != Access::Write
    }

    pub(super) fn is_written(&self) -> bool {
        self.access != Access::Read
    }
}

/// A column that is read and written.
const fn column(name: &'static str, field: PlayerField, default: u8) -> Column {
    Column {
        name,
        field,
        default: Some(default),
    }
}

/// A column that is only read.
const fn read_column(name: &'static str, field: PlayerField) -> Column {
    Column {
        name,
        field,
        default: None,
    }
}

impl Profile {
    /// The profile of a reply: the first with a mark that the reply has, else [`UNKNOWN`].
    pub(super) fn of<'a>(
        form: Form,
        pairs: impl Iterator<Item = Pair<'a>> + Clone,
    ) -> &'static Self {
        let fits = |profile: &&&Self| {
            let mut marks = profile.marks.iter();
            marks.any(|mark| mark.is_in(form, pairs.clone()))
        };
        PROFILES.iter().find(fits).copied().unwrap_or(&UNKNOWN)
    }

    /// The profile that an imitated server writes by.
    pub(super) const fn of_engine(engine: Engine) -> &'static Self {
        match engine {
            Engine::UnrealTournament3 => &UNREAL_TOURNAMENT_3,
            Engine::Minecraft => &MINECRAFT,
            Engine::GameSpy2 => &GAMESPY_2,
            Engine::Battlefield2 => &BATTLEFIELD_2,
            _ => &QR2,
        }
    }

    /// Whether a key has this meaning.
    pub(super) fn has(&self, field: Field) -> bool {
        self.keys.iter().any(|key| key.field == field)
    }

    /// The position in [`Self::keys`] of a key that is read.
    pub(super) fn position(&self, name: &[u8]) -> Option<usize> {
        let is_it = |key: &Key| key.name.as_bytes().eq_ignore_ascii_case(name) && key.is_read();
        self.keys.iter().position(is_it)
    }

    /// The meaning of a column.
    pub(super) fn column(&self, name: &[u8]) -> Option<&Column> {
        let mut columns = self.columns.iter();
        columns.find(|column| column.name.as_bytes() == name)
    }
}

impl Mark {
    fn is_in<'a>(&self, form: Form, mut pairs: impl Iterator<Item = Pair<'a>>) -> bool {
        match self {
            Self::Form(known) => form == *known,
            Self::Key(known) => pairs.any(|(key, _)| key.eq_ignore_ascii_case(known.as_bytes())),
            Self::Prefix(start) => pairs.any(|(key, _)| {
                let first = key.get(..start.len());
                first.is_some_and(|first| first.eq_ignore_ascii_case(start.as_bytes()))
            }),
            Self::Value(known, wanted) => pairs.any(|(key, value)| {
                key.eq_ignore_ascii_case(known.as_bytes())
                    && value.eq_ignore_ascii_case(wanted.as_bytes())
            }),
        }
    }
}

/// All profiles with marks. The most specific come first.
pub(super) static PROFILES: [&Profile; 9] = [
    &MINECRAFT,
    &JUST_CAUSE_2,
    &UNREAL_TOURNAMENT_3,
    &BATTLEFIELD_2142,
    &BATTLEFIELD_2,
    &CRYSIS,
    &ARMA,
    &BATTLEFIELD_VIETNAM,
    &GAMESPY_2,
];

/// The columns of GameSpy's own code.
const COLUMNS: &[Column] = &[
    column("player_", PlayerField::Name, b' '),
    column("score_", PlayerField::Score, b'0'),
    column("ping_", PlayerField::Ping, b'0'),
    column("team_", PlayerField::Team, b'0'),
    column("deaths_", PlayerField::Extra, b'0'),
    column("pid_", PlayerField::Extra, b'0'),
    read_column("kills_", PlayerField::Score),
    read_column("AIBot_", PlayerField::Bot),
];

/// Every key that has the same meaning wherever it is known, and no others. Colour codes stay in
/// the texts.
pub(super) static UNKNOWN: Profile = Profile {
    name: "other engines",
    marks: &[],
    style: Style::new(
        crate::model::Charset::Utf8OrWindows1252,
        crate::model::Colours::None,
    ),
    keys: &[
        read("hostname", Field::Name),
        read("mapname", Field::Map),
        read("map", Field::Map),
        read("gamename", Field::Game),
        read("game_id", Field::Game),
        read("modname", Field::ModName),
        read("mod", Field::ModName),
        read("gametype", Field::GameType),
        read("gamever", Field::Version),
        read("version", Field::Version),
        read("EngineVersion", Field::Version),
        read("MinNetVersion", Field::ProtocolVersion),
        read("hostport", Field::GamePort),
        read("password", Field::Password),
        read("dedicated", Field::Dedicated),
        read("bIsDedicated", Field::Dedicated),
        read("anticheat", Field::AntiCheat),
        read("sv_punkbuster", Field::AntiCheat),
        read("sv_battleye", Field::AntiCheat),
        read("numplayers", Field::Players),
        read("maxplayers", Field::MaxPlayers),
        read("timelimit", Field::TimeLimit),
        read("scorelimit", Field::ScoreLimit),
        read("fraglimit", Field::ScoreLimit),
    ],
    columns: COLUMNS,
    first_team: 1,
    unmodified: &[],
    has_nameless_bots: false,
    layout: Layout::Sections,
    challenge: Challenge::Demanded,
    source: "the standard keys of GameSpy's own code (QR2 SDK, qr2regkeys.c)",
};

/// Unreal Tournament 3: numbered keys, see [`ut3`](super::ut3). `mapname` is a list of all
/// properties, and never the map.
static UNREAL_TOURNAMENT_3: Profile = Profile {
    name: "Unreal Tournament 3",
    marks: &[
        Mark::Prefix("p10737418"),
        Mark::Prefix("p2684357"),
        Mark::Key("s32779"),
        Mark::Key("OwningPlayerName"),
    ],
    style: UNKNOWN.style,
    keys: &[
        key("hostname", Field::Name).or(""),
        key("hostport", Field::GamePort),
        key("numplayers", Field::People).or("0"),
        key("maxplayers", Field::MaxPlayers).or("0"),
        written("gamemode", Field::Rule).or("openplaying"),
        written("mapname", Field::Map),
        read("OwningPlayerName", Field::Name),
        key("bIsDedicated", Field::DedicatedWord),
        key("EngineVersion", Field::Version),
        key("MinNetVersion", Field::ProtocolVersion),
        key("s7", Field::Password),
        read("s14", Field::Dedicated),
        key("p1073741825", Field::Map),
        key("p1073741826", Field::GameType),
        read("p1073741827", Field::Name),
        key("p268435703", Field::BotCount),
        key("p268435704", Field::ScoreLimit),
        key("p268435705", Field::TimeLimitInMinutes),
        key("p268435969", Field::AntiCheat),
        key("p268435717", Field::MutatorBits),
        key("p1073741828", Field::MutatorNames),
        read("p1073741829", Field::MutatorClasses),
    ],
    columns: COLUMNS,
    first_team: 0,
    unmodified: &[],
    has_nameless_bots: true,
    layout: Layout::Sections,
    challenge: Challenge::Demanded,
    source: "captures; UTGameSettingsCommon.uc; GameQ, issue 90",
};

/// Battlefield 2, Project Reality and other modifications. `bf2_bots` shows only whether there are
/// bots, not their number.
static BATTLEFIELD_2: Profile = Profile {
    challenge: Challenge::Optional,
    ..BATTLEFIELD
};

/// GameSpy's own code with the keys of Battlefield 2, which most tools read.
static QR2: Profile = BATTLEFIELD;

const BATTLEFIELD: Profile = Profile {
    name: "Battlefield 2",
    marks: &[Mark::Prefix("bf2_")],
    style: UNKNOWN.style,
    keys: &[
        key("hostname", Field::Name).or(""),
        key("gamename", Field::Game),
        key("gamever", Field::Version),
        key("mapname", Field::Map),
        key("gametype", Field::GameType),
        key("gamevariant", Field::ModName),
        key("numplayers", Field::Players).or("0"),
        key("maxplayers", Field::MaxPlayers).or("0"),
        written("gamemode", Field::Rule).or("openplaying"),
        key("password", Field::Password),
        key("timelimit", Field::TimeLimitInSeconds),
        key("hostport", Field::GamePort),
        key("bf2_dedicated", Field::Dedicated),
        key("bf2_anticheat", Field::AntiCheat),
        key("bf2_scorelimit", Field::ScoreLimit),
        key("bf2_team1", Field::TeamName(1)),
        key("bf2_team2", Field::TeamName(2)),
        key("bf2_bots", Field::HasBots),
        key("bf2_reservedslots", Field::PrivateSlots),
        key("bf2_coopbotcount", Field::BotCount),
        read("sv_punkbuster", Field::AntiCheat),
    ],
    columns: &[
        column("player_", PlayerField::Name, b' '),
        column("score_", PlayerField::Score, b'0'),
        column("ping_", PlayerField::Ping, b'0'),
        column("team_", PlayerField::Team, b'0'),
        column("deaths_", PlayerField::Extra, b'0'),
        column("pid_", PlayerField::Extra, b'0'),
        column("skill_", PlayerField::Extra, b'0'),
        column("AIBot_", PlayerField::Bot, b'0'),
    ],
    first_team: 1,
    unmodified: &["bf2"],
    has_nameless_bots: false,
    layout: Layout::Sections,
    challenge: Challenge::Demanded,
    source: "captures; github.com/realitymod/PRMasterServer, Data/GameServer.cs",
};

/// Battlefield 2142: Battlefield 2's keys under its own name.
static BATTLEFIELD_2142: Profile = Profile {
    name: "Battlefield 2142",
    marks: &[Mark::Prefix("bf2142_")],
    style: UNKNOWN.style,
    keys: &[
        read("hostname", Field::Name),
        read("gamename", Field::Game),
        read("gamever", Field::Version),
        read("mapname", Field::Map),
        read("gametype", Field::GameType),
        read("gamevariant", Field::ModName),
        read("numplayers", Field::Players),
        read("maxplayers", Field::MaxPlayers),
        read("password", Field::Password),
        read("timelimit", Field::TimeLimitInSeconds),
        read("hostport", Field::GamePort),
        read("bf2142_dedicated", Field::Dedicated),
        read("bf2142_anticheat", Field::AntiCheat),
        read("bf2142_scorelimit", Field::ScoreLimit),
        read("bf2142_team1", Field::TeamName(1)),
        read("bf2142_team2", Field::TeamName(2)),
        read("bf2142_bots", Field::HasBots),
        read("bf2142_reservedslots", Field::PrivateSlots),
        read("bf2142_coopbotcount", Field::BotCount),
        read("sv_punkbuster", Field::AntiCheat),
    ],
    columns: BATTLEFIELD.columns,
    first_team: 1,
    unmodified: &["bf2142"],
    has_nameless_bots: false,
    layout: Layout::Sections,
    challenge: Challenge::Demanded,
    source: "github.com/Dankr4d/BF2142Unlocker, gspy.nim",
};

/// Crysis, Crysis Wars and Crysis 2: the time limit is 75 with 1719 seconds left, so it is in
/// minutes.
static CRYSIS: Profile = Profile {
    name: "Crysis, Crysis Wars",
    marks: &[Mark::Key("dx10")],
    style: UNKNOWN.style,
    keys: &[
        read("hostname", Field::Name),
        read("gamename", Field::Game),
        read("gamever", Field::Version),
        read("hostport", Field::GamePort),
        read("mapname", Field::Map),
        read("gametype", Field::GameType),
        read("numplayers", Field::Players),
        read("maxplayers", Field::MaxPlayers),
        read("timelimit", Field::TimeLimitInMinutes),
        read("password", Field::Password),
        read("anticheat", Field::AntiCheat),
        read("sv_punkbuster", Field::AntiCheat),
        read("dedicated", Field::Dedicated),
        read("modname", Field::ModName),
        read("timeleft", Field::TimeLeft),
        read("fraglimit", Field::ScoreLimit),
    ],
    columns: COLUMNS,
    first_team: 1,
    unmodified: &[],
    has_nameless_bots: false,
    layout: Layout::Sections,
    challenge: Challenge::Demanded,
    source: "captures of Crysis, Crysiswars and Crysis2",
};

/// Arma 2 and 3 of their first years: `mod` is all that is loaded.
static ARMA: Profile = Profile {
    name: "Arma",
    marks: &[Mark::Key("sv_battleye"), Mark::Key("equalModRequired")],
    style: UNKNOWN.style,
    keys: &[
        read("gamever", Field::Version),
        read("hostname", Field::Name),
        read("mapname", Field::Map),
        read("gametype", Field::GameType),
        read("numplayers", Field::Players),
        read("maxplayers", Field::MaxPlayers),
        read("timelimit", Field::TimeLimit),
        read("password", Field::Password),
        read("mod", Field::ModName),
        read("dedicated", Field::Dedicated),
        read("gamename", Field::Game),
        read("hostport", Field::GamePort),
        read("sv_battleye", Field::AntiCheat),
        read("sv_punkbuster", Field::AntiCheat),
        read("fraglimit", Field::ScoreLimit),
    ],
    columns: COLUMNS,
    first_team: 1,
    unmodified: &[],
    has_nameless_bots: false,
    layout: Layout::Sections,
    challenge: Challenge::Demanded,
    source: "captures of Arma and Arma2oa",
};

/// Just Cause 2 Multiplayer: UTF-8; its players have a layout of their own.
static JUST_CAUSE_2: Profile = Profile {
    name: "Just Cause 2",
    marks: &[Mark::Form(Form::JustCause2)],
    style: UNKNOWN.style,
    keys: &[
        read("hostname", Field::Name),
        read("version", Field::Version),
        read("numplayers", Field::Players),
        read("maxplayers", Field::MaxPlayers),
        read("hostport", Field::GamePort),
        read("mapname", Field::Map),
        read("gametype", Field::GameType),
        read("gamename", Field::Game),
        read("password", Field::Password),
        read("dedicated", Field::Dedicated),
    ],
    columns: &[],
    first_team: 1,
    unmodified: &[],
    has_nameless_bots: false,
    layout: Layout::Sections,
    challenge: Challenge::Demanded,
    source: "captures of Justcause2",
};

/// Minecraft's query port: Mojang's server, Bukkit's family, proxies, PocketMine's family. No
/// teams; of players only the names.
static MINECRAFT: Profile = Profile {
    name: "Minecraft",
    marks: &[
        Mark::Form(Form::MinecraftFull),
        Mark::Form(Form::MinecraftBasic),
    ],
    style: minecraft::STYLE,
    keys: &[
        key("hostname", Field::Title).or(""),
        key("gametype", Field::GameType).or("SMP"),
        key("game_id", Field::Game).or("MINECRAFT"),
        key("version", Field::Version).or(""),
        key("plugins", Field::Software).or(""),
        key("map", Field::Map).or("world"),
        key("numplayers", Field::Players).or("0"),
        key("maxplayers", Field::MaxPlayers).or("0"),
        key("hostport", Field::GamePort).or("25565"),
        written("hostip", Field::Rule).or("0.0.0.0"),
        read("server_engine", Field::ModName),
    ],
    columns: &[column("player_", PlayerField::Name, b' ')],
    first_team: 1,
    unmodified: &[],
    has_nameless_bots: false,
    layout: Layout::Minecraft,
    challenge: Challenge::Demanded,
    source: "captures; Krypton and Velocity (GS4QueryHandler); PocketMine-MP (QueryInfo.php)",
};

/// Battlefield Vietnam: as the other games of GameSpy v2, but its teams count from 1.
static BATTLEFIELD_VIETNAM: Profile = Profile {
    name: "Battlefield Vietnam",
    marks: &[
        Mark::Value("game_id", "bfvietnam"),
        Mark::Value("gamename", "bfvietnam"),
    ],
    style: UNKNOWN.style,
    keys: GAMESPY_2_KEYS,
    columns: COLUMNS,
    first_team: 1,
    unmodified: &[],
    has_nameless_bots: false,
    layout: Layout::Sections,
    challenge: Challenge::Demanded,
    source: "github.com/Unity-Technologies/qstat, gs2.c",
};

/// GameSpy v2, and every server that is asked as one: Halo, F.E.A.R., SWAT 4, Hidden & Dangerous 2.
/// Halo's players have the teams 0 and 1, so its rows, red and blue, count from 0.
static GAMESPY_2: Profile = Profile {
    name: "GameSpy v2",
    marks: &[Mark::Form(Form::Legacy)],
    style: UNKNOWN.style,
    keys: GAMESPY_2_KEYS,
    columns: COLUMNS,
    first_team: 0,
    unmodified: &[],
    has_nameless_bots: false,
    layout: Layout::OneDatagram,
    challenge: Challenge::Unknown,
    source: "captures of Halo, Had2 and Swat4; F.E.A.R.'s replies",
};

const GAMESPY_2_KEYS: &[Key] = &[
    key("hostname", Field::Name).or(""),
    key("gamename", Field::Game),
    read("gsgamename", Field::Game),
    read("game_id", Field::Game),
    key("gamever", Field::Version),
    key("hostport", Field::GamePort),
    key("maxplayers", Field::MaxPlayers).or("0"),
    key("password", Field::Password),
    key("mapname", Field::Map),
    read("map", Field::Map),
    key("dedicated", Field::Dedicated),
    read("isdedicated", Field::Dedicated),
    written("gamemode", Field::Rule).or("openplaying"),
    key("numplayers", Field::Players).or("0"),
    key("gametype", Field::GameType),
    read("modname", Field::ModName),
    read("mod", Field::ModName),
    read("timelimit", Field::TimeLimit),
    key("fraglimit", Field::ScoreLimit),
    key("punkbuster", Field::AntiCheat),
    read("sv_punkbuster", Field::AntiCheat),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> impl Iterator<Item = &'static Profile> {
        PROFILES.into_iter().chain([&UNKNOWN])
    }

    #[test]
    fn every_row_names_its_engine_and_its_source() {
        for row in rows() {
            assert!(!row.source.is_empty(), "{}", row.name);
            assert_eq!(rows().filter(|other| other.name == row.name).count(), 1);
        }
    }

    #[test]
    fn every_key_of_a_row_is_on_the_page_and_in_the_row_once() {
        let page = include_str!("mod.rs");
        let fields = page.split_once("# Fields of the status").unwrap().1;
        for row in rows() {
            for key in row.keys {
                let listed = fields.contains(&format!("`{}`", key.name));
                assert!(listed, "{} of {}", key.name, row.name);
                let same = |other: &&Key| other.name == key.name;
                assert_eq!(row.keys.iter().filter(same).count(), 1, "{}", key.name);
            }
        }
    }

    #[test]
    fn minecrafts_row_has_the_keys_that_end_a_value() {
        let is_known = |key: &&str| {
            let is_in_row = MINECRAFT.keys.iter().any(|other| other.name == *key);
            is_in_row || *key == "whitelist"
        };
        assert!(minecraft::KEYS.iter().all(is_known));
    }

    #[test]
    fn a_reply_has_the_first_row_with_a_mark() {
        let of = |form, key: &'static str, value: &'static str| {
            let pairs = [(key.as_bytes(), value.as_bytes())];
            Profile::of(form, pairs.into_iter()).name
        };
        for (key, value, name) in [
            ("p1073741825", "DM-Deck", "Unreal Tournament 3"),
            ("p268435717", "0", "Unreal Tournament 3"),
            ("BF2_ranked", "1", "Battlefield 2"),
            ("bf2142_ranked", "1", "Battlefield 2142"),
            ("dx10", "0", "Crysis, Crysis Wars"),
            ("sv_battleye", "1", "Arma"),
            ("game_id", "bfvietnam", "Battlefield Vietnam"),
            ("hostname", "Srv", "other engines"),
        ] {
            assert_eq!(of(Form::Sections, key, value), name);
        }
        assert_eq!(of(Form::Legacy, "hostname", "Srv"), "GameSpy v2");
        assert_eq!(of(Form::Legacy, "bf2_ranked", "1"), "Battlefield 2");
        assert_eq!(of(Form::MinecraftFull, "dx10", "0"), "Minecraft");
        assert_eq!(of(Form::JustCause2, "hostname", "Srv"), "Just Cause 2");
    }
}
