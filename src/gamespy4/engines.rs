//! The differences between engines: one row each, with its source.
//!
//! "Captures" are the replies in github.com/Austinb/GameQ, tests/Protocols/Providers.

use super::wire::form::Form as Layout;
use super::wire::minecraft;
use crate::meaning::{Entry, Field, Form, Key, Known, Row};
use crate::meaning::{all, begins, entries, has, is, key};
use crate::model::{Charset, Colours, Style};

/// An engine, or a family of engines with the same keys.
#[derive(Debug)]
pub(super) struct Engine {
    /// The keys.
    pub(super) row: Row,
    /// The layouts of replies that only this engine sends.
    layouts: &'static [Layout],
    /// The columns of a player that have a field of their own.
    pub(super) columns: &'static [Column],
    /// The number of the first team. Teams have no number on the wire: players name the position of
    /// the row.
    pub(super) first_team: i32,
    /// The column of the teams' scores.
    pub(super) team_score: &'static str,
    /// Whether bots are rows without a name, if there are as many of them as bots.
    pub(super) has_nameless_bots: bool,
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

impl Engine {
    /// The engine of a reply: the first whose layout or keys it has, else [`UNKNOWN`].
    pub(super) fn of(layout: Layout, known: &Known<'_>) -> &'static Self {
        let fits = |engine: &&Self| engine.layouts.contains(&layout) || engine.row.fits(known);
        let mut engines = ENGINES.iter().copied();
        engines.find(fits).unwrap_or(&UNKNOWN)
    }

    /// The meaning of a column.
    pub(super) fn column(&self, name: &[u8]) -> Option<&Column> {
        let mut columns = self.columns.iter();
        columns.find(|column| column.name.as_bytes() == name)
    }
}

/// The official mutators of UT3, as the bits of a number.
pub(super) const MUTATOR_BITS: Field = Field::Own(0);
/// The names of custom mutators.
pub(super) const MUTATOR_NAMES: Field = Field::Own(1);
/// The classes of custom mutators: only newer versions have them.
pub(super) const MUTATOR_CLASSES: Field = Field::Own(2);

/// The engines, the most specific first.
static ENGINES: &[&Engine] = &[
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
    &AMERICAS_ARMY,
    &GAMESPY_2,
];

const fn column(name: &'static str, field: PlayerField) -> Column {
    Column { name, field }
}

/// The columns of GameSpy's own code.
const COLUMNS: &[Column] = &[
    column("player_", PlayerField::Name),
    column("score_", PlayerField::Score),
    column("ping_", PlayerField::Ping),
    column("team_", PlayerField::Team),
    column("kills_", PlayerField::Score),
    column("AIBot_", PlayerField::Bot),
];

/// The keys that most engines have with one meaning (QR2 SDK, qr2regkeys.c).
const USUAL: &[Entry] = &[
    key("hostname", Field::Name),
    key("gamename", Field::Game),
    key("gamever", Field::Version),
    key("mapname", Field::Map),
    key("gametype", Field::GameType),
    key("hostport", Field::GamePort),
    key("numplayers", Field::Players),
    key("maxplayers", Field::MaxPlayers),
    key("password", Field::Password),
    key("dedicated", Field::Dedicated),
    key("sv_punkbuster", Field::AntiCheat),
];

/// Every key that has the same meaning wherever it is known, and no others. Colour codes stay in
/// the texts.
pub(super) static UNKNOWN: Engine = Engine {
    row: Row {
        name: "other engines",
        usual: entries(&[
            key("hostname", Field::Name),
            key("gamename", Field::Game),
            key("gamever", Field::Version),
            key("mapname", Field::Map),
            key("gametype", Field::GameType),
            key("hostport", Field::GamePort),
            key("numplayers", Field::Players),
            key("maxplayers", Field::MaxPlayers),
            key("password", Field::Password),
            key("dedicated", Field::Dedicated),
            key("sv_punkbuster", Field::AntiCheat),
            key("map", Field::Map),
            key("modname", Field::ModName),
            key("mod", Field::ModName),
            key("version", Field::Version),
            key("engineversion", Field::Version),
            key("minnetversion", Field::ProtocolVersion),
            key("bisdedicated", Field::Dedicated),
            key("anticheat", Field::AntiCheat),
            key("timelimit", Field::TimeLimit).with(Form::OnlyZero),
            key("scorelimit", Field::ScoreLimit),
            key("fraglimit", Field::ScoreLimit),
        ]),
        ..STANDARD.row
    },
    ..STANDARD
};

/// A row that sets nothing itself.
const STANDARD: Engine = Engine {
    row: Row {
        name: "standard keys",
        signatures: &[],
        style: Style::new(Charset::Utf8OrWindows1252, Colours::None),
        own: entries(&[]),
        usual: entries(USUAL),
        base: &[],
    },
    layouts: &[],
    columns: COLUMNS,
    first_team: 1,
    team_score: "score_t",
    has_nameless_bots: false,
};

/// Unreal Tournament 3: numbered keys, see [`ut3`](super::ut3). `mapname` is a list of all
/// properties, and never the map. Team 0 is red (captures; UTGameSettingsCommon.uc; GameQ, issue
/// 90).
static UNREAL_TOURNAMENT_3: Engine = Engine {
    row: Row {
        name: "Unreal Tournament 3",
        signatures: &[
            all(&[has("p1073741825")]),
            all(&[has("p1073741826")]),
            all(&[has("p1073741827")]),
            all(&[has("p1073741828")]),
            all(&[has("p1073741829")]),
            all(&[has("p268435703")]),
            all(&[has("p268435704")]),
            all(&[has("p268435705")]),
            all(&[has("p268435717")]),
            all(&[has("s32779")]),
            all(&[has("owningplayername")]),
            // The list of properties begins with this one (captures).
            all(&[begins("mapname", "OwningPlayerId=")]),
        ],
        own: entries(&[
            key("hostname", Field::Name),
            key("owningplayername", Field::Name),
            key("p1073741827", Field::Name),
            key("hostport", Field::GamePort),
            key("numplayers", Field::PlayersWithoutBots),
            key("maxplayers", Field::MaxPlayers),
            key("bisdedicated", Field::Dedicated),
            key("s14", Field::Dedicated),
            key("engineversion", Field::Version),
            key("minnetversion", Field::ProtocolVersion),
            key("s7", Field::Password),
            key("p1073741825", Field::Map),
            key("p1073741826", Field::GameType),
            key("p268435703", Field::BotCount),
            key("p268435704", Field::ScoreLimit),
            key("p268435705", Field::TimeLimit),
            key("p268435969", Field::AntiCheat),
            key("p268435717", MUTATOR_BITS),
            key("p1073741828", MUTATOR_NAMES).with(Form::OrEmpty),
            key("p1073741829", MUTATOR_CLASSES).with(Form::OrEmpty),
        ]),
        usual: entries(&[]),
        ..STANDARD.row
    },
    first_team: 0,
    has_nameless_bots: true,
    ..STANDARD
};

/// Battlefield 2, Project Reality and other modifications. `bf2_bots` shows only whether there are
/// bots, not their number (captures; realitymod/PRMasterServer, Data/GameServer.cs).
static BATTLEFIELD_2: Engine = Engine {
    row: Row {
        name: "Battlefield 2",
        signatures: &[
            all(&[has("bf2_dedicated")]),
            all(&[has("bf2_ranked")]),
            all(&[has("bf2_anticheat")]),
            all(&[has("bf2_team1")]),
            all(&[has("bf2_team2")]),
            all(&[has("bf2_scorelimit")]),
            all(&[has("bf2_bots")]),
        ],
        own: entries(&[
            key("gamevariant", Field::ModName),
            key("timelimit", Field::TimeLimit).with(Form::Seconds),
            key("bf2_dedicated", Field::Dedicated),
            key("dedicated", Field::Ignored),
            key("bf2_anticheat", Field::AntiCheat),
            key("bf2_scorelimit", Field::ScoreLimit),
            key("bf2_team1", Field::SideName(0)),
            key("bf2_team2", Field::SideName(1)),
            key("bf2_bots", Field::BotCount).with(Form::YesIs(Key::new("bf2_coopbotcount"))),
            key("bf2_reservedslots", Field::PrivateSlots),
        ]),
        base: &["bf2"],
        ..STANDARD.row
    },
    ..STANDARD
};

/// Battlefield 2142: Battlefield 2's keys under its own name (Dankr4d/BF2142Unlocker, gspy.nim).
static BATTLEFIELD_2142: Engine = Engine {
    row: Row {
        name: "Battlefield 2142",
        signatures: &[
            all(&[has("bf2142_dedicated")]),
            all(&[has("bf2142_ranked")]),
            all(&[has("bf2142_anticheat")]),
            all(&[has("bf2142_team1")]),
            all(&[has("bf2142_team2")]),
            all(&[has("bf2142_scorelimit")]),
            all(&[has("bf2142_bots")]),
        ],
        own: entries(&[
            key("gamevariant", Field::ModName),
            key("timelimit", Field::TimeLimit).with(Form::Seconds),
            key("bf2142_dedicated", Field::Dedicated),
            key("dedicated", Field::Ignored),
            key("bf2142_anticheat", Field::AntiCheat),
            key("bf2142_scorelimit", Field::ScoreLimit),
            key("bf2142_team1", Field::SideName(0)),
            key("bf2142_team2", Field::SideName(1)),
            key("bf2142_bots", Field::BotCount).with(Form::YesIs(Key::new("bf2142_coopbotcount"))),
            key("bf2142_reservedslots", Field::PrivateSlots),
        ]),
        base: &["bf2142"],
        ..STANDARD.row
    },
    ..STANDARD
};

/// Crysis, Crysis Wars and Crysis 2: the time limit is 75 with 1719 seconds left, so it is in
/// minutes (captures of Crysis, Crysiswars and Crysis2).
static CRYSIS: Engine = Engine {
    row: Row {
        name: "Crysis, Crysis Wars",
        signatures: &[all(&[has("dx10")])],
        own: entries(&[
            key("timelimit", Field::TimeLimit),
            key("anticheat", Field::AntiCheat),
            key("modname", Field::ModName),
            key("timeleft", Field::TimeLeft),
            key("fraglimit", Field::ScoreLimit),
        ]),
        ..STANDARD.row
    },
    ..STANDARD
};

/// Armed Assault, and Arma 2 and 3 of their first years: `mod` lists everything that is loaded;
/// only `CA` is the game itself (captures of Arma and Arma2oa).
static ARMA: Engine = Engine {
    row: Row {
        name: "Arma",
        signatures: &[all(&[has("sv_battleye")]), all(&[has("equalmodrequired")])],
        base: &["CA"],
        own: entries(&[
            key("timelimit", Field::TimeLimit).with(Form::OnlyZero),
            key("mod", Field::ModName),
            key("sv_battleye", Field::AntiCheat),
            key("fraglimit", Field::ScoreLimit),
        ]),
        ..STANDARD.row
    },
    ..STANDARD
};

/// S.T.A.L.K.E.R.: teams have a score and no name (OpenXRay/xray-16,
/// src/xrGameSpy/GameSpy_QR2.cpp, src/xrGame/gamespy/GameSpy_QR2_callbacks.cpp,
/// src/xrGame/game_sv_artefacthunt.cpp).
static STALKER: Engine = Engine {
    row: Row {
        name: "S.T.A.L.K.E.R.",
        signatures: &[all(&[has("damageblocktime")])],
        own: entries(&[
            key("fraglimit", Field::ScoreLimit),
            key("timelimit", Field::TimeLimit),
        ]),
        ..STANDARD.row
    },
    team_score: "t_score_t",
    ..STANDARD
};

/// Just Cause 2 Multiplayer: its players have a layout of their own (captures of Justcause2).
static JUST_CAUSE_2: Engine = Engine {
    row: Row {
        name: "Just Cause 2",
        own: entries(&[key("version", Field::Version)]),
        ..STANDARD.row
    },
    layouts: &[Layout::JustCause2],
    columns: &[],
    ..STANDARD
};

/// Minecraft's query port: Mojang's server, Bukkit's family, proxies, PocketMine's family. No
/// teams; of players only the names (captures; Krypton and Velocity, GS4QueryHandler;
/// PocketMine-MP, QueryInfo.php).
static MINECRAFT: Engine = Engine {
    row: Row {
        name: "Minecraft",
        signatures: &[all(&[begins("game_id", "MINECRAFT")])],
        style: minecraft::STYLE,
        own: entries(&[
            key("hostname", Field::Name),
            key("gametype", Field::GameType),
            key("game_id", Field::Game),
            key("version", Field::Version),
            key("plugins", Field::ModName).with(Form::Part(minecraft::software)),
            key("server_engine", Field::ModName),
            key("map", Field::Map),
            key("numplayers", Field::Players),
            key("maxplayers", Field::MaxPlayers),
            key("hostport", Field::GamePort),
        ]),
        usual: entries(&[]),
        ..STANDARD.row
    },
    layouts: &[Layout::MinecraftFull, Layout::MinecraftBasic],
    columns: &[column("player_", PlayerField::Name)],
    ..STANDARD
};

/// Battlefield Vietnam: as the other games of GameSpy v2, but its teams count from 1
/// (Unity-Technologies/qstat, gs2.c).
static BATTLEFIELD_VIETNAM: Engine = Engine {
    row: Row {
        name: "Battlefield Vietnam",
        signatures: &[
            all(&[begins("game_id", "bfvietnam")]),
            all(&[begins("gamename", "bfvietnam")]),
        ],
        ..LEGACY.row
    },
    layouts: &[],
    first_team: 1,
    ..LEGACY
};

/// SWAT 4 and its modifications, with colour codes in names (captures of Swat4;
/// sergeii/swat4master, pkg/gamespy/serverquery/gs1).
static SWAT_4: Engine = Engine {
    row: Row {
        name: "SWAT 4",
        signatures: &[
            all(&[begins("gamevariant", "swat")]),
            all(&[begins("gamevariant", "sef")]),
        ],
        style: Style::new(STANDARD.row.style.charset, Colours::Swat4),
        ..LEGACY.row
    },
    layouts: &[],
    ..LEGACY
};

/// F.E.A.R. and its expansions (jsj2008/lithtech, FEAR/ObjectDLL: GameServerShell.cpp,
/// ServerMissionMgr.cpp).
static FEAR: Engine = Engine {
    row: Row {
        name: "F.E.A.R.",
        signatures: &[
            all(&[begins("gsgamename", "fear")]),
            all(&[begins("gamename", "fear")]),
        ],
        own: entries(&[key("timelimit", Field::TimeLimit)]),
        ..LEGACY.row
    },
    layouts: &[],
    ..LEGACY
};

/// America's Army, a game of the Unreal engine with its colour codes in names: ESC and three bytes
/// (Unity-Technologies/qstat, CHANGES.txt; Deaod/UT2004, Engine/GameInfo.uc, `MakeColorCode`).
static AMERICAS_ARMY: Engine = Engine {
    row: Row {
        name: "America's Army",
        signatures: &[all(&[is("gamename", "armygame")])],
        style: Style::new(STANDARD.row.style.charset, Colours::UnrealEscape),
        ..LEGACY.row
    },
    layouts: &[],
    ..LEGACY
};

/// GameSpy v2, and every server that is queried in it: Halo, F.E.A.R., SWAT 4, Hidden & Dangerous
/// 2. Halo's players have the teams 0 and 1, so its rows, red and blue, count from 0 (captures of
/// Halo, Had2 and Swat4; F.E.A.R.'s replies).
static GAMESPY_2: Engine = LEGACY;

const LEGACY: Engine = Engine {
    row: Row {
        name: "GameSpy v2",
        usual: entries(&[
            key("hostname", Field::Name),
            key("gamename", Field::Game),
            key("gsgamename", Field::Game),
            key("game_id", Field::Game),
            key("gamever", Field::Version),
            key("hostport", Field::GamePort),
            key("maxplayers", Field::MaxPlayers),
            key("password", Field::Password),
            key("mapname", Field::Map),
            key("map", Field::Map),
            key("dedicated", Field::Dedicated),
            key("isdedicated", Field::Dedicated),
            key("numplayers", Field::Players),
            key("gametype", Field::GameType),
            key("modname", Field::ModName),
            key("mod", Field::ModName),
            key("timelimit", Field::TimeLimit).with(Form::OnlyZero),
            key("fraglimit", Field::ScoreLimit),
            key("punkbuster", Field::AntiCheat),
            key("sv_punkbuster", Field::AntiCheat),
        ]),
        ..STANDARD.row
    },
    layouts: &[Layout::Legacy],
    first_team: 0,
    ..STANDARD
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_has_the_first_row_with_a_mark() {
        let of = |layout, key: &'static str, value: &'static str| {
            let mut known = Known::default();
            known.insert(key.as_bytes(), value.as_bytes());
            Engine::of(layout, &known).row.name
        };
        let replies = [
            ("p1073741825", "DM-Deck", "Unreal Tournament 3"),
            ("p268435717", "0", "Unreal Tournament 3"),
            ("BF2_ranked", "1", "Battlefield 2"),
            ("bf2142_ranked", "1", "Battlefield 2142"),
            ("dx10", "0", "Crysis, Crysis Wars"),
            ("sv_battleye", "1", "Arma"),
            ("damageblocktime", "4", "S.T.A.L.K.E.R."),
            ("gsgamename", "fear", "F.E.A.R."),
            ("game_id", "bfvietnam", "Battlefield Vietnam"),
            ("gamename", "armygame", "America's Army"),
            ("gamevariant", "SWAT 4", "SWAT 4"),
            ("gamevariant", "SEF", "SWAT 4"),
            ("gamevariant", "bf2", "other engines"),
            ("hostname", "Srv", "other engines"),
        ];
        for (key, value, name) in replies {
            assert_eq!(of(Layout::Sections, key, value), name);
        }
        for engine in ENGINES.iter().filter(|engine| engine.layouts.is_empty()) {
            let name = engine.row.name;
            let is_tested = replies.iter().any(|(_, _, tested)| *tested == name);
            assert!(is_tested, "there is no reply of {name} above");
        }
        assert_eq!(of(Layout::Legacy, "hostname", "Srv"), "GameSpy v2");
        assert_eq!(of(Layout::Legacy, "bf2_ranked", "1"), "Battlefield 2");
        assert_eq!(of(Layout::MinecraftFull, "dx10", "0"), "Minecraft");
        assert_eq!(of(Layout::JustCause2, "hostname", "Srv"), "Just Cause 2");
    }
}
