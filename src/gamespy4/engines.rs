//! The differences between engines: one row each, with its sources.
//!
//! A row lists the keys in the order in which the engine's server writes them. Of several keys of
//! one field, the first with a value counts; for yes and no, a single yes is enough.
//!
//! "Captures" are the replies in github.com/Austinb/GameQ, tests/Protocols/Providers.

use super::wire::form::Form;
use super::wire::minecraft;
use crate::model::Style;
use crate::text::keys::{keys, known};

keys! {
    AntiCheat = "anticheat",
    Bf2142AntiCheat = "bf2142_anticheat",
    Bf2142Bots = "bf2142_bots",
    Bf2142CoopBotCount = "bf2142_coopbotcount",
    Bf2142Dedicated = "bf2142_dedicated",
    Bf2142Ranked = "bf2142_ranked",
    Bf2142ReservedSlots = "bf2142_reservedslots",
    Bf2142ScoreLimit = "bf2142_scorelimit",
    Bf2142Team1 = "bf2142_team1",
    Bf2142Team2 = "bf2142_team2",
    Bf2AntiCheat = "bf2_anticheat",
    Bf2Bots = "bf2_bots",
    Bf2CoopBotCount = "bf2_coopbotcount",
    Bf2Dedicated = "bf2_dedicated",
    Bf2Ranked = "bf2_ranked",
    Bf2ReservedSlots = "bf2_reservedslots",
    Bf2ScoreLimit = "bf2_scorelimit",
    Bf2Team1 = "bf2_team1",
    Bf2Team2 = "bf2_team2",
    DamageBlockTime = "damageblocktime",
    Dedicated = "dedicated",
    Dx10 = "dx10",
    EngineVersion = "EngineVersion",
    EqualModRequired = "equalModRequired",
    FragLimit = "fraglimit",
    GameId = "game_id",
    GameName = "gamename",
    GameType = "gametype",
    GameVariant = "gamevariant",
    GameVer = "gamever",
    GsGameName = "gsgamename",
    HostName = "hostname",
    HostPort = "hostport",
    IsDedicated = "isdedicated",
    Map = "map",
    MapName = "mapname",
    MaxPlayers = "maxplayers",
    MinNetVersion = "MinNetVersion",
    Mod = "mod",
    ModName = "modname",
    NumPlayers = "numplayers",
    OwningPlayerName = "OwningPlayerName",
    Password = "password",
    Plugins = "plugins",
    Punkbuster = "punkbuster",
    ScoreLimit = "scorelimit",
    ServerEngine = "server_engine",
    SvBattleye = "sv_battleye",
    SvPunkbuster = "sv_punkbuster",
    TimeLeft = "timeleft",
    TimeLimit = "timelimit",
    UnrealBots = "p268435703",
    UnrealClass = "p1073741826",
    UnrealDedicated = "s14",
    UnrealGoalScore = "p268435704",
    UnrealIsDedicated = "bIsDedicated",
    UnrealMap = "p1073741825",
    UnrealMutatorBits = "p268435717",
    UnrealMutatorClasses = "p1073741829",
    UnrealMutators = "p1073741828",
    UnrealPassword = "s7",
    UnrealServer = "p1073741827",
    UnrealStats = "s32779",
    UnrealTimeLimit = "p268435705",
    UnrealVac = "p268435969",
    Version = "version",
}

known!();

/// An engine, or a family of engines with the same keys.
#[derive(Debug)]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "name and source are for readers")
)]
pub(super) struct Profile {
    /// The name, for the table of fields on the protocol's page.
    pub(super) name: &'static str,
    /// The marks of the engine: a reply with one of them was written by it.
    marks: &'static [Mark],
    /// The character set and the colour codes of its texts.
    pub(super) style: Style,
    /// The keys that most engines share. They precede the row's own keys.
    usual: &'static [Entry],
    /// The row's own keys.
    own: &'static [Entry],
    /// The columns of a player.
    pub(super) columns: &'static [Column],
    /// The number of the first team. Teams have no number on the wire: players name the position of
    /// the row.
    pub(super) first_team: i32,
    /// The column of the teams' scores.
    pub(super) team_score: &'static str,
    /// Values of the modification's key that are the game itself.
    pub(super) unmodified: &'static [&'static str],
    /// Whether bots are rows without a name, if there are as many of them as bots.
    pub(super) has_nameless_bots: bool,
    /// The sources of the facts.
    pub(super) source: &'static str,
}

/// A property of a reply that shows its engine.
#[derive(Debug)]
enum Mark {
    /// The layout of the reply.
    Form(Form),
    /// One of these keys.
    Keys(&'static [Key]),
    /// A key whose value begins with this word, in any ASCII case.
    Prefix(Key, &'static str),
}

/// A key of the server and its meaning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) field: Field,
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
    /// The name of team 1.
    FirstTeam,
    /// The name of team 2.
    SecondTeam,
}

impl Field {
    pub(super) const COUNT: usize = Self::SecondTeam as usize + 1;
}

/// A column of the players.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) field: PlayerField,
}

/// The meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlayerField {
    Name,
    /// The score. If a reply has several such columns, the first one in the row's order counts.
    Score,
    Ping,
    Team,
    /// Whether the player is a bot.
    Bot,
    /// No field of the model.
    Extra,
}

const fn entry(key: Key, field: Field) -> Entry {
    Entry { key, field }
}

const fn column(name: &'static str, field: PlayerField) -> Column {
    Column { name, field }
}

impl Profile {
    /// The profile of a reply: the first with a mark that the reply has, else [`UNKNOWN`].
    pub(super) fn of(form: Form, known: &Known<'_>) -> &'static Self {
        let mut profiles = PROFILES.into_iter();
        let fits = |profile: &&Self| profile.marks.iter().any(|mark| mark.is_in(form, known));
        profiles.find(fits).unwrap_or(&UNKNOWN)
    }

    /// All keys: of two with one meaning, the first counts.
    pub(super) fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        self.usual.iter().chain(self.own)
    }

    /// Whether a key has this meaning.
    pub(super) fn has(&self, field: Field) -> bool {
        self.entries().any(|entry| entry.field == field)
    }

    /// Whether this key is read.
    pub(super) fn reads(&self, name: &[u8]) -> bool {
        Key::find(name).is_some_and(|key| self.field_of(key).is_some())
    }

    /// The field that is read from this key.
    pub(super) fn field_of(&self, key: Key) -> Option<Field> {
        let mut entries = self.entries();
        let entry = entries.find(|entry| entry.key == key);
        entry.map(|entry| entry.field)
    }

    /// The meaning of a column.
    pub(super) fn column(&self, name: &[u8]) -> Option<&Column> {
        let mut columns = self.columns.iter();
        columns.find(|column| column.name.as_bytes() == name)
    }
}

impl Mark {
    fn is_in(&self, form: Form, known: &Known<'_>) -> bool {
        match self {
            Self::Form(layout) => form == *layout,
            Self::Keys(keys) => keys.iter().any(|key| known.get(*key).is_some()),
            Self::Prefix(key, prefix) => {
                let start = known.get(*key).and_then(|value| value.get(..prefix.len()));
                start.is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
            }
        }
    }
}

/// All profiles with marks. The most specific come first.
static PROFILES: [&Profile; 12] = [
    &MINECRAFT,
    &JUST_CAUSE_2,
    &UNREAL_TOURNAMENT_3,
    &BATTLEFIELD_2142,
    &BATTLEFIELD_2,
    &CRYSIS,
    &ARMA,
    &STALKER,
    &BATTLEFIELD_VIETNAM,
    &SWAT_4,
    &FEAR,
    &GAMESPY_2,
];

/// The columns of GameSpy's own code.
const COLUMNS: [Column; 8] = [
    column("player_", PlayerField::Name),
    column("score_", PlayerField::Score),
    column("ping_", PlayerField::Ping),
    column("team_", PlayerField::Team),
    column("deaths_", PlayerField::Extra),
    column("pid_", PlayerField::Extra),
    column("kills_", PlayerField::Score),
    column("AIBot_", PlayerField::Bot),
];

/// The keys that most engines have with one meaning (QR2 SDK, qr2regkeys.c).
const USUAL: &[Entry] = &[
    entry(Key::HostName, Field::Name),
    entry(Key::GameName, Field::Game),
    entry(Key::GameVer, Field::Version),
    entry(Key::MapName, Field::Map),
    entry(Key::GameType, Field::GameType),
    entry(Key::HostPort, Field::GamePort),
    entry(Key::NumPlayers, Field::Players),
    entry(Key::MaxPlayers, Field::MaxPlayers),
    entry(Key::Password, Field::Password),
    entry(Key::Dedicated, Field::Dedicated),
    entry(Key::SvPunkbuster, Field::AntiCheat),
];

/// The values of a row that sets nothing itself: QR2's standard keys.
const DEFAULT: Profile = Profile {
    name: "",
    marks: &[],
    style: Style::new(
        crate::model::Charset::Utf8OrWindows1252,
        crate::model::Colours::None,
    ),
    usual: USUAL,
    own: &[],
    columns: &COLUMNS,
    first_team: 1,
    team_score: "score_t",
    unmodified: &[],
    has_nameless_bots: false,
    source: "",
};

/// Every key that has the same meaning wherever it is known, and no others. Colour codes stay in
/// the texts.
static UNKNOWN: Profile = Profile {
    name: "other engines",
    own: &[
        entry(Key::Map, Field::Map),
        entry(Key::GameId, Field::Game),
        entry(Key::ModName, Field::ModName),
        entry(Key::Mod, Field::ModName),
        entry(Key::Version, Field::Version),
        entry(Key::EngineVersion, Field::Version),
        entry(Key::MinNetVersion, Field::ProtocolVersion),
        entry(Key::UnrealIsDedicated, Field::Dedicated),
        entry(Key::AntiCheat, Field::AntiCheat),
        entry(Key::SvBattleye, Field::AntiCheat),
        entry(Key::TimeLimit, Field::TimeLimit),
        entry(Key::ScoreLimit, Field::ScoreLimit),
        entry(Key::FragLimit, Field::ScoreLimit),
    ],
    source: "the standard keys of GameSpy's own code (QR2 SDK, qr2regkeys.c)",
    ..DEFAULT
};

/// Unreal Tournament 3: numbered keys, see [`ut3`](super::ut3). `mapname` is a list of all
/// properties, and never the map.
static UNREAL_TOURNAMENT_3: Profile = Profile {
    name: "Unreal Tournament 3",
    marks: &[
        Mark::Keys(&[
            Key::UnrealMap,
            Key::UnrealClass,
            Key::UnrealServer,
            Key::UnrealMutators,
            Key::UnrealMutatorClasses,
            Key::UnrealBots,
            Key::UnrealGoalScore,
            Key::UnrealTimeLimit,
            Key::UnrealMutatorBits,
            Key::UnrealStats,
            Key::OwningPlayerName,
        ]),
        // The list of properties begins with this one (github.com/Austinb/GameQ,
        // tests/Protocols/Providers/Ut3).
        Mark::Prefix(Key::MapName, "OwningPlayerId="),
    ],
    usual: &[],
    own: &[
        entry(Key::HostName, Field::Name),
        entry(Key::HostPort, Field::GamePort),
        entry(Key::NumPlayers, Field::People),
        entry(Key::MaxPlayers, Field::MaxPlayers),
        entry(Key::OwningPlayerName, Field::Name),
        entry(Key::UnrealIsDedicated, Field::Dedicated),
        entry(Key::EngineVersion, Field::Version),
        entry(Key::MinNetVersion, Field::ProtocolVersion),
        entry(Key::UnrealPassword, Field::Password),
        entry(Key::UnrealDedicated, Field::Dedicated),
        entry(Key::UnrealMap, Field::Map),
        entry(Key::UnrealClass, Field::GameType),
        entry(Key::UnrealServer, Field::Name),
        entry(Key::UnrealBots, Field::BotCount),
        entry(Key::UnrealGoalScore, Field::ScoreLimit),
        entry(Key::UnrealTimeLimit, Field::TimeLimitInMinutes),
        entry(Key::UnrealVac, Field::AntiCheat),
        entry(Key::UnrealMutatorBits, Field::MutatorBits),
        entry(Key::UnrealMutators, Field::MutatorNames),
        entry(Key::UnrealMutatorClasses, Field::MutatorClasses),
    ],
    // Team 0 is red.
    first_team: 0,
    has_nameless_bots: true,
    source: "captures; UTGameSettingsCommon.uc; GameQ, issue 90",
    ..DEFAULT
};

/// Battlefield 2, Project Reality and other modifications. `bf2_bots` shows only whether there are
/// bots, not their number.
static BATTLEFIELD_2: Profile = BATTLEFIELD;

const BATTLEFIELD: Profile = Profile {
    name: "Battlefield 2",
    marks: &[Mark::Keys(&[
        Key::Bf2Dedicated,
        Key::Bf2Ranked,
        Key::Bf2AntiCheat,
        Key::Bf2Team1,
        Key::Bf2Team2,
        Key::Bf2ScoreLimit,
        Key::Bf2Bots,
    ])],
    usual: &[],
    own: &battlefield(BattlefieldKeys {
        dedicated: Key::Bf2Dedicated,
        anti_cheat: Key::Bf2AntiCheat,
        score_limit: Key::Bf2ScoreLimit,
        first_team: Key::Bf2Team1,
        second_team: Key::Bf2Team2,
        has_bots: Key::Bf2Bots,
        private_slots: Key::Bf2ReservedSlots,
        bot_count: Key::Bf2CoopBotCount,
    }),
    columns: &[
        column("player_", PlayerField::Name),
        column("score_", PlayerField::Score),
        column("ping_", PlayerField::Ping),
        column("team_", PlayerField::Team),
        column("deaths_", PlayerField::Extra),
        column("pid_", PlayerField::Extra),
        column("skill_", PlayerField::Extra),
        column("AIBot_", PlayerField::Bot),
    ],
    unmodified: &["bf2"],
    source: "captures; github.com/realitymod/PRMasterServer, Data/GameServer.cs",
    ..DEFAULT
};

/// Battlefield 2142: Battlefield 2's keys under its own name.
static BATTLEFIELD_2142: Profile = Profile {
    name: "Battlefield 2142",
    marks: &[Mark::Keys(&[
        Key::Bf2142Dedicated,
        Key::Bf2142Ranked,
        Key::Bf2142AntiCheat,
        Key::Bf2142Team1,
        Key::Bf2142Team2,
        Key::Bf2142ScoreLimit,
        Key::Bf2142Bots,
    ])],
    own: &battlefield(BattlefieldKeys {
        dedicated: Key::Bf2142Dedicated,
        anti_cheat: Key::Bf2142AntiCheat,
        score_limit: Key::Bf2142ScoreLimit,
        first_team: Key::Bf2142Team1,
        second_team: Key::Bf2142Team2,
        has_bots: Key::Bf2142Bots,
        private_slots: Key::Bf2142ReservedSlots,
        bot_count: Key::Bf2142CoopBotCount,
    }),
    unmodified: &["bf2142"],
    source: "github.com/Dankr4d/BF2142Unlocker, gspy.nim",
    ..BATTLEFIELD
};

/// The keys of Battlefield 2 and 2142 that begin with the name of the game.
struct BattlefieldKeys {
    dedicated: Key,
    anti_cheat: Key,
    score_limit: Key,
    first_team: Key,
    second_team: Key,
    has_bots: Key,
    private_slots: Key,
    bot_count: Key,
}

/// The keys of Battlefield 2 and 2142, in the order of the wire.
const fn battlefield(own: BattlefieldKeys) -> [Entry; 20] {
    [
        entry(Key::HostName, Field::Name),
        entry(Key::GameName, Field::Game),
        entry(Key::GameVer, Field::Version),
        entry(Key::MapName, Field::Map),
        entry(Key::GameType, Field::GameType),
        entry(Key::GameVariant, Field::ModName),
        entry(Key::NumPlayers, Field::Players),
        entry(Key::MaxPlayers, Field::MaxPlayers),
        entry(Key::Password, Field::Password),
        entry(Key::TimeLimit, Field::TimeLimitInSeconds),
        entry(Key::HostPort, Field::GamePort),
        entry(own.dedicated, Field::Dedicated),
        entry(own.anti_cheat, Field::AntiCheat),
        entry(own.score_limit, Field::ScoreLimit),
        entry(own.first_team, Field::FirstTeam),
        entry(own.second_team, Field::SecondTeam),
        entry(own.has_bots, Field::HasBots),
        entry(own.private_slots, Field::PrivateSlots),
        entry(own.bot_count, Field::BotCount),
        entry(Key::SvPunkbuster, Field::AntiCheat),
    ]
}

/// Crysis, Crysis Wars and Crysis 2: the time limit is 75 with 1719 seconds left, so it is in
/// minutes.
static CRYSIS: Profile = Profile {
    name: "Crysis, Crysis Wars",
    marks: &[Mark::Keys(&[Key::Dx10])],
    own: &[
        entry(Key::TimeLimit, Field::TimeLimitInMinutes),
        entry(Key::AntiCheat, Field::AntiCheat),
        entry(Key::ModName, Field::ModName),
        entry(Key::TimeLeft, Field::TimeLeft),
        entry(Key::FragLimit, Field::ScoreLimit),
    ],
    source: "captures of Crysis, Crysiswars and Crysis2",
    ..DEFAULT
};

/// Arma 2 and 3 of their first years: `mod` lists everything that is loaded.
static ARMA: Profile = Profile {
    name: "Arma",
    marks: &[Mark::Keys(&[Key::SvBattleye, Key::EqualModRequired])],
    own: &[
        entry(Key::TimeLimit, Field::TimeLimit),
        entry(Key::Mod, Field::ModName),
        entry(Key::SvBattleye, Field::AntiCheat),
        entry(Key::FragLimit, Field::ScoreLimit),
    ],
    source: "captures of Arma and Arma2oa",
    ..DEFAULT
};

/// S.T.A.L.K.E.R.: teams have a score and no name.
static STALKER: Profile = Profile {
    name: "S.T.A.L.K.E.R.",
    marks: &[Mark::Keys(&[Key::DamageBlockTime])],
    own: &[
        entry(Key::FragLimit, Field::ScoreLimit),
        entry(Key::TimeLimit, Field::TimeLimitInMinutes),
    ],
    team_score: "t_score_t",
    source: "github.com/OpenXRay/xray-16, src/xrGameSpy/GameSpy_QR2.cpp, \
             src/xrGame/gamespy/GameSpy_QR2_callbacks.cpp, src/xrGame/game_sv_artefacthunt.cpp",
    ..DEFAULT
};

/// Just Cause 2 Multiplayer: UTF-8; its players have a layout of their own.
static JUST_CAUSE_2: Profile = Profile {
    name: "Just Cause 2",
    marks: &[Mark::Form(Form::JustCause2)],
    own: &[entry(Key::Version, Field::Version)],
    columns: &[],
    source: "captures of Justcause2",
    ..DEFAULT
};

/// Minecraft's query port: Mojang's server, Bukkit's family, proxies, PocketMine's family. No
/// teams; of players only the names.
static MINECRAFT: Profile = Profile {
    name: "Minecraft",
    marks: &[
        Mark::Form(Form::MinecraftFull),
        Mark::Form(Form::MinecraftBasic),
        Mark::Prefix(Key::GameId, "MINECRAFT"),
    ],
    style: minecraft::STYLE,
    usual: &[],
    own: &[
        entry(Key::HostName, Field::Title),
        entry(Key::GameType, Field::GameType),
        entry(Key::GameId, Field::Game),
        entry(Key::Version, Field::Version),
        entry(Key::Plugins, Field::Software),
        entry(Key::Map, Field::Map),
        entry(Key::NumPlayers, Field::Players),
        entry(Key::MaxPlayers, Field::MaxPlayers),
        entry(Key::HostPort, Field::GamePort),
        entry(Key::ServerEngine, Field::ModName),
    ],
    columns: &[column("player_", PlayerField::Name)],
    source: "captures; Krypton and Velocity (GS4QueryHandler); PocketMine-MP (QueryInfo.php)",
    ..DEFAULT
};

/// Battlefield Vietnam: as the other games of GameSpy v2, but its teams count from 1.
static BATTLEFIELD_VIETNAM: Profile = Profile {
    name: "Battlefield Vietnam",
    marks: &[
        Mark::Prefix(Key::GameId, "bfvietnam"),
        Mark::Prefix(Key::GameName, "bfvietnam"),
    ],
    first_team: 1,
    source: "github.com/Unity-Technologies/qstat, gs2.c",
    ..GAMESPY
};

/// SWAT 4 and its modifications, with colour codes in names.
static SWAT_4: Profile = Profile {
    name: "SWAT 4",
    marks: &[
        Mark::Prefix(Key::GameVariant, "swat"),
        Mark::Prefix(Key::GameVariant, "sef"),
    ],
    style: Style::new(DEFAULT.style.charset, crate::model::Colours::Swat4),
    source: "captures of Swat4; sergeii/swat4master, pkg/gamespy/serverquery/gs1",
    ..GAMESPY
};

/// F.E.A.R. and its expansions.
static FEAR: Profile = Profile {
    name: "F.E.A.R.",
    marks: &[
        Mark::Prefix(Key::GsGameName, "fear"),
        Mark::Prefix(Key::GameName, "fear"),
    ],
    own: &gamespy_2(Field::TimeLimitInMinutes),
    source: "github.com/jsj2008/lithtech, FEAR/ObjectDLL: GameServerShell.cpp, ServerMissionMgr.cpp",
    ..GAMESPY
};

/// GameSpy v2, and every server that is queried in it: Halo, F.E.A.R., SWAT 4, Hidden & Dangerous
/// 2. Halo's players have the teams 0 and 1, so its rows, red and blue, count from 0.
static GAMESPY_2: Profile = GAMESPY;

const GAMESPY: Profile = Profile {
    name: "GameSpy v2",
    marks: &[Mark::Form(Form::Legacy)],
    usual: &[],
    own: &gamespy_2(Field::TimeLimit),
    first_team: 0,
    source: "captures of Halo, Had2 and Swat4; F.E.A.R.'s replies",
    ..DEFAULT
};

/// The keys of GameSpy v2, with this meaning of the time limit.
const fn gamespy_2(time_limit: Field) -> [Entry; 20] {
    [
        entry(Key::HostName, Field::Name),
        entry(Key::GameName, Field::Game),
        entry(Key::GsGameName, Field::Game),
        entry(Key::GameId, Field::Game),
        entry(Key::GameVer, Field::Version),
        entry(Key::HostPort, Field::GamePort),
        entry(Key::MaxPlayers, Field::MaxPlayers),
        entry(Key::Password, Field::Password),
        entry(Key::MapName, Field::Map),
        entry(Key::Map, Field::Map),
        entry(Key::Dedicated, Field::Dedicated),
        entry(Key::IsDedicated, Field::Dedicated),
        entry(Key::NumPlayers, Field::Players),
        entry(Key::GameType, Field::GameType),
        entry(Key::ModName, Field::ModName),
        entry(Key::Mod, Field::ModName),
        entry(Key::TimeLimit, time_limit),
        entry(Key::FragLimit, Field::ScoreLimit),
        entry(Key::Punkbuster, Field::AntiCheat),
        entry(Key::SvPunkbuster, Field::AntiCheat),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::listing::Listing;

    #[test]
    fn every_cell_is_the_listed_one() {
        let mut listing = Listing::default();
        listing.row(UNKNOWN.name, &UNKNOWN, None);
        for row in PROFILES {
            listing.row(row.name, row, Some(&UNKNOWN));
        }
        listing.keys(Key::ALL.iter().map(|key| (key, key.as_str())));
        for setting in &super::super::ut3::TABLE {
            listing.value("setting of UT3", setting);
        }
        listing.check("gamespy4");
    }

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
            for entry in row.entries() {
                let name = entry.key.as_str();
                let is_listed = fields.contains(&format!("`{name}`"));
                assert!(is_listed, "{name} of {}", row.name);
                let same = row.entries().filter(|other| other.key == entry.key);
                assert_eq!(same.count(), 1, "{name} of {}", row.name);
            }
        }
    }

    #[test]
    fn minecrafts_row_has_the_keys_that_end_a_value() {
        let is_known = |key: &&str| {
            let is_in_row = MINECRAFT.entries().any(|other| other.key.as_str() == *key);
            is_in_row || ["hostip", "whitelist"].contains(key)
        };
        assert!(minecraft::KEYS.iter().all(is_known));
    }

    #[test]
    fn a_reply_has_the_first_row_with_a_mark() {
        let of = |form, key: &'static str, value: &'static str| {
            let mut known = Known::new();
            known.insert(key.as_bytes(), value.as_bytes());
            Profile::of(form, &known).name
        };
        for (key, value, name) in [
            ("p1073741825", "DM-Deck", "Unreal Tournament 3"),
            ("p268435717", "0", "Unreal Tournament 3"),
            ("BF2_ranked", "1", "Battlefield 2"),
            ("bf2142_ranked", "1", "Battlefield 2142"),
            ("dx10", "0", "Crysis, Crysis Wars"),
            ("sv_battleye", "1", "Arma"),
            ("damageblocktime", "4", "S.T.A.L.K.E.R."),
            ("gsgamename", "fear", "F.E.A.R."),
            ("game_id", "bfvietnam", "Battlefield Vietnam"),
            ("gamevariant", "SWAT 4", "SWAT 4"),
            ("gamevariant", "SEF", "SWAT 4"),
            ("gamevariant", "bf2", "other engines"),
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
