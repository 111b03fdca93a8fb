//! The differences between engines: one row each, with its source.
//!
//! "Captures" are the replies in github.com/Austinb/GameQ, tests/Protocols/Providers.

use super::wire::form::Form as Layout;
use super::wire::minecraft;
use crate::meaning::{Entry, Field, Form, Key, Known, Row};
use crate::meaning::{all, begins, entries, has, is, key};
use crate::model::{Charset, Colours, Style};

/// An engine, or a family of engines with the same keys.
#[derive(Debug, Clone)]
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
    use std::collections::BTreeSet;

    use super::*;
    use crate::Limits;
    use crate::gamespy4::Answer;
    use crate::meaning::{
        facts, unneeded_parts, untested, with_cells_of, with_keys_in_capitals, with_rows,
    };

    /// The reply in sections with the pairs of a text such as `\key\value`.
    fn sections(text: &str) -> Vec<u8> {
        let pairs = text.trim_start_matches('\\').replace('\\', "\0");
        let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0";
        [head, pairs.as_bytes(), b"\0\0\x01\0\x02\0"].concat()
    }

    /// The same in the layout of GameSpy v2, with tables without rows.
    fn legacy(text: &str) -> Vec<u8> {
        let pairs = text.trim_start_matches('\\').replace('\\', "\0");
        let tables = b"\0\0\0\0player_\0\0\0\0team_t\0\0";
        [b"\0\x01\x02\x03\x04", pairs.as_bytes(), tables].concat()
    }

    const PLAYERS: [(&str, &str); 6] = [
        ("player_", "Ann|Bob"),
        ("score_", "5|6"),
        ("ping_", "10|20"),
        ("team_", "1|2"),
        ("kills_", "7|8"),
        ("AIBot_", "0|1"),
    ];
    const TEAMS: [(&str, &str); 3] = [
        ("team_t", "Red|Blue"),
        ("score_t", "3|4"),
        ("t_score_t", "8|9"),
    ];

    /// The reply in sections with these pairs and tables: columns with values between bars.
    fn tables(pairs: &str, players: &[(&str, &str)], teams: &[(&str, &str)]) -> Vec<u8> {
        let column =
            |(name, values): &(&str, &str)| format!("{name}\0\0{}\0\0", values.replace('|', "\0"));
        let pairs = pairs.trim_start_matches('\\').replace('\\', "\0");
        let tables = [players, teams].map(|table| table.iter().map(column).collect::<String>());
        let [players, teams] = tables;
        let rest = format!("\0{pairs}\0\0\x01{players}\0\x02{teams}\0");
        [b"\0\x01\x02\x03\x04splitnum\0\x80", rest.as_bytes()].concat()
    }

    fn with_tables(pairs: &str) -> Vec<u8> {
        tables(pairs, &PLAYERS, &TEAMS)
    }

    fn with_kills(pairs: &str) -> Vec<u8> {
        tables(pairs, &[("player_", "Ann"), ("kills_", "7")], &[])
    }

    fn with_a_nameless_player(pairs: &str) -> Vec<u8> {
        tables(pairs, &[("player_", "Ann|")], &[])
    }

    /// The reply of a server with a name in the colours of several engines.
    fn coloured(pairs: &str) -> Vec<u8> {
        let pairs = pairs.replace('\\', "\0");
        let name = b"a\x80b\xa74c[c=ff0000]d\x1bRGBe";
        let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0";
        [&head[..], name, pairs.as_bytes(), b"\0\0\x01\0\x02\0"].concat()
    }

    fn just_cause_2(pairs: &str) -> Vec<u8> {
        let pairs = pairs.replace('\\', "\0");
        let players = b"\0\0\0\x01Ann\0STEAM_0:1:2\0\0\x2a";
        [b"\0\x01\x02\x03\x04splitnum\0\0", pairs.as_bytes(), players].concat()
    }

    /// The form of a reply, its pairs, and the fields of its status.
    type Reply = (fn(&str) -> Vec<u8>, &'static str, &'static str);

    /// Replies with the keys of each row, in several where one key takes the place of another, and
    /// their fields. Invented values.
    const REPLIES: &[Reply] = &[
        // No known engine. A limit of time has no unit.
        (
            sections,
            r"\hostname\Srv\gamename\own\gamever\1.2\mapname\meadow\gametype\Tag\hostport\7001\numplayers\3\maxplayers\32\password\1\dedicated\1\sv_punkbuster\1\modname\Night\timelimit\0\scorelimit\40",
            "name Srv, map meadow, game own, type Tag, mod Night, version 1.2, port 7001, password true, dedicated true, anti-cheat true, players 3, max 32, limit 0 s, score 40, list []",
        ),
        (
            sections,
            r"\version\1.3\map\hill\mod\Day\minnetversion\71\bisdedicated\1\anticheat\1\timelimit\15\fraglimit\50",
            "map hill, mod Day, version 1.3, protocol 71, dedicated true, anti-cheat true, score 50",
        ),
        (sections, r"\engineversion\3815", "version 3815"),
        // Unreal Tournament 3.
        (
            sections,
            r"\hostname\Srv\hostport\7777\numplayers\1\maxplayers\16\bisdedicated\1\engineversion\3815\minnetversion\3467\s7\1\p1073741825\DM-Deck\p1073741826\UTDeathmatch\p268435703\2\p268435704\25\p268435705\20\p268435969\1",
            "name Srv, map DM-Deck, type UTDeathmatch, version 3815, protocol 3467, port 7777, password true, dedicated true, anti-cheat true, players 3, bots 2, max 16, limit 1200 s, score 25, list []",
        ),
        (
            sections,
            r"\owningplayername\Ann\s14\0\p1073741828\",
            "name Ann, mutators [], dedicated false",
        ),
        // A list of classes, even an empty one, shows the bits of the newer version.
        (
            sections,
            r"\p268435717\66\p1073741829\",
            "mutators [BigHead LowGrav]",
        ),
        // Battlefield 2 and 2142.
        (
            sections,
            r"\gamename\battlefield2\gamevariant\xpack\timelimit\1800\dedicated\0\bf2_dedicated\1\bf2_anticheat\1\bf2_scorelimit\250\bf2_team1\MEC\bf2_team2\US\numplayers\5\bf2_bots\1\bf2_coopbotcount\3\maxplayers\16\bf2_reservedslots\2",
            "game battlefield2, mod xpack, dedicated true, anti-cheat true, players 5, bots 3, max 16, private 2, limit 1800 s, score 250, teams 1 MEC:2 US, list []",
        ),
        (
            sections,
            r"\gamename\stella\gamevariant\northern\timelimit\1200\dedicated\0\bf2142_dedicated\1\bf2142_anticheat\1\bf2142_scorelimit\300\bf2142_team1\Pac\bf2142_team2\EU\numplayers\6\bf2142_bots\1\bf2142_coopbotcount\4\maxplayers\32\bf2142_reservedslots\1",
            "game stella, mod northern, dedicated true, anti-cheat true, players 6, bots 4, max 32, private 1, limit 1200 s, score 300, teams 1 Pac:2 EU, list []",
        ),
        // The game itself, with the other key of a server that is dedicated.
        (sections, r"\gamevariant\bf2\dedicated\1\bf2_ranked\1", ""),
        (
            sections,
            r"\gamevariant\bf2142\dedicated\1\bf2142_ranked\1",
            "",
        ),
        // Crysis.
        (
            sections,
            r"\dx10\0\timelimit\75\timeleft\1719\anticheat\1\modname\mwll\fraglimit\60",
            "mod mwll, anti-cheat true, limit 4500 s, left 1719 s, score 60",
        ),
        // Arma.
        (
            sections,
            r"\sv_battleye\1\timelimit\0\mod\CA;@ACE\fraglimit\70",
            "mod CA;@ACE, anti-cheat true, limit 0 s, score 70",
        ),
        (sections, r"\equalmodrequired\0\timelimit\15\mod\CA", ""),
        // S.T.A.L.K.E.R., and the keys of GameSpy's own code.
        (
            sections,
            r"\damageblocktime\4\hostname\Zone\gamename\stalkersc\gamever\1.6\mapname\mp_pool\gametype\deathmatch\hostport\5445\numplayers\4\maxplayers\31\password\1\dedicated\0\sv_punkbuster\1\fraglimit\10\timelimit\15",
            "name Zone, map mp_pool, game stalkersc, type deathmatch, version 1.6, port 5445, password true, dedicated false, anti-cheat true, players 4, max 31, limit 900 s, score 10, list []",
        ),
        // Minecraft.
        (
            sections,
            r"\hostname\Hub\gametype\SMP\game_id\MINECRAFT\version\1.21\plugins\Paper on 1.21: Essentials 2.0\map\world\numplayers\0\maxplayers\20\hostport\25565",
            "name Hub, map world, game MINECRAFT, type SMP, mod Paper on 1.21, version 1.21, port 25565, players 0, max 20",
        ),
        (
            sections,
            r"\game_id\MINECRAFTPE\server_engine\PowerNukkitX 2.0",
            "game MINECRAFTPE, mod PowerNukkitX 2.0",
        ),
        // GameSpy v2.
        (
            legacy,
            r"\hostname\Srv\gamename\halor\gamever\1.10\hostport\2302\maxplayers\16\password\1\mapname\bloodgulch\dedicated\1\numplayers\0\gametype\Oddball\modname\Night\timelimit\0\fraglimit\5\punkbuster\1",
            "name Srv, map bloodgulch, game halor, type Oddball, mod Night, version 1.10, port 2302, password true, dedicated true, anti-cheat true, players 0, max 16, limit 0 s, score 5",
        ),
        (
            legacy,
            r"\gsgamename\own\map\hill\isdedicated\1\mod\Day\timelimit\15\sv_punkbuster\1",
            "map hill, game own, mod Day, dedicated true, anti-cheat true",
        ),
        (legacy, r"\game_id\own", "game own"),
        // F.E.A.R.
        (
            legacy,
            r"\gamename\fear\timelimit\15",
            "game fear, limit 900 s",
        ),
        // Several keys of one field: the first in the row counts.
        (
            sections,
            r"\map\b\mapname\a\mod\d\modname\c\version\g\engineversion\f\gamever\e\bisdedicated\0\dedicated\1\fraglimit\2\scorelimit\1",
            "map a, mod c, version e, dedicated true, score 1",
        ),
        (sections, r"\engineversion\f\version\g", "version g"),
        (
            legacy,
            r"\game_id\c\gsgamename\b\gamename\a\map\b\mapname\a\mod\d\modname\c\isdedicated\0\dedicated\1",
            "map a, game a, mod c, dedicated true",
        ),
        (legacy, r"\game_id\c\gsgamename\b", "game b"),
        (
            sections,
            r"\p1073741827\c\owningplayername\b\hostname\a\s14\0\bisdedicated\1",
            "name a, dedicated true",
        ),
        (sections, r"\p1073741827\c\owningplayername\b", "name b"),
        (sections, r"\p1073741827\c", "name c"),
        (
            sections,
            r"\game_id\MINECRAFT\server_engine\b\plugins\a",
            "game MINECRAFT, mod a",
        ),
        // The columns of players and teams, and the number of the first team.
        (
            with_tables,
            r"\gamename\own",
            "game own, bots 1, teams 1 Red 3:2 Blue 4, list [Ann 5 10 ms in 1 human; Bob 6 20 ms in 2 bot]",
        ),
        (with_kills, r"\gamename\own", "game own, list [Ann 7]"),
        (
            with_tables,
            r"\damageblocktime\4",
            "bots 1, teams 1 Red 8:2 Blue 9, list [Ann 5 10 ms in 1 human; Bob 6 20 ms in 2 bot]",
        ),
        (
            with_tables,
            r"\s32779\0",
            "bots 1, teams 0 Red 3:1 Blue 4, list [Ann 5 10 ms in 1 human; Bob 6 20 ms in 2 bot]",
        ),
        // Bots are rows without a name in one engine only.
        (
            with_a_nameless_player,
            r"\s32779\0\p268435703\1",
            "bots 1, list [Ann human;  bot]",
        ),
        (
            with_a_nameless_player,
            r"\bf2_bots\1\bf2_coopbotcount\1",
            "bots 1, list [Ann; ]",
        ),
        // A name with the colour codes of all these engines, in its character set.
        (
            coloured,
            r"\gamename\own",
            "name a€b§4c[c=ff0000]dRGBe, game own",
        ),
        (
            coloured,
            r"\game_id\MINECRAFT",
            "name abc[c=ff0000]dRGBe, game MINECRAFT",
        ),
        (coloured, r"\gamevariant\swat", "name a€b§4cdRGBe"),
        (
            coloured,
            r"\gamename\armygame",
            "name a€b§4c[c=ff0000]de, game armygame",
        ),
        (
            just_cause_2,
            r"\hostname\Srv\version\0.2.2",
            "name Srv, version 0.2.2, list [Ann 42 ms]",
        ),
    ];

    /// A reply's fields and rows, read by its engine or by another one.
    fn read(reply: &[u8], engine: Option<&'static Engine>) -> String {
        let answer = Answer::from_datagrams([reply], &Limits::default()).unwrap();
        let status =
            answer.status_by(|layout, known| engine.unwrap_or_else(|| Engine::of(layout, known)));
        format!("{}\n{:?}", facts(&status), (&status.players, &status.teams))
    }

    fn engine_of(reply: &[u8]) -> &'static Engine {
        let answer = Answer::from_datagrams([reply], &Limits::default()).unwrap();
        let mut found = &UNKNOWN;
        answer.status_by(|layout, known| {
            found = Engine::of(layout, known);
            found
        });
        found
    }

    /// Each part of an engine's row, with the engine that lacks it or has another one's.
    fn parts(engine: &'static Engine) -> Vec<(String, Engine)> {
        let others = || ENGINES.iter().copied().chain([&UNKNOWN]);
        let other_rows = others().map(|other| &other.row);
        let rows = with_rows(&engine.row, other_rows, |row| Engine {
            row,
            ..engine.clone()
        });
        let cells = others().flat_map(|other| {
            with_cells_of!(
                engine,
                other,
                columns,
                first_team,
                team_score,
                has_nameless_bots
            )
        });
        let columns = engine.columns.iter().map(|column| {
            let others = engine
                .columns
                .iter()
                .filter(|other| other.name != column.name);
            let columns = others.copied().collect::<Vec<_>>().leak();
            let part = format!("{} of {:?}", column.name, engine.columns);
            (
                part,
                Engine {
                    columns,
                    ..engine.clone()
                },
            )
        });
        rows.chain(cells).chain(columns).collect()
    }

    #[test]
    fn keys_mean_the_same_in_any_case() {
        for (datagram, text, expected) in REPLIES {
            let capitals = with_keys_in_capitals(text.as_bytes());
            let capitals = String::from_utf8(capitals).unwrap();
            let read = read(&datagram(&capitals), None);
            let (fields, _) = read.split_once('\n').unwrap();
            assert_eq!(fields, *expected, "{text}");
        }
    }

    #[test]
    fn every_part_of_a_row_decides() {
        for (datagram, text, expected) in REPLIES {
            let read = read(&datagram(text), None);
            let (fields, _) = read.split_once('\n').unwrap();
            assert_eq!(fields, *expected, "{text}");
        }
        let unneeded = unneeded_parts(
            ENGINES.iter().copied().chain([&UNKNOWN]),
            REPLIES.iter().map(|(datagram, text, _)| datagram(text)),
            |reply| engine_of(reply),
            parts,
            |reply, engine| read(reply, engine),
        );
        assert_eq!(unneeded, BTreeSet::new(), "{unneeded:#?}");
    }

    /// Replies with one key: the key, its value, and the name of the row.
    const MARKS: [(&str, &str, &str); 40] = [
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
        ("p1073741826", "UTDeathmatch", "Unreal Tournament 3"),
        ("p1073741827", "A description", "Unreal Tournament 3"),
        ("p1073741828", "", "Unreal Tournament 3"),
        ("p1073741829", "", "Unreal Tournament 3"),
        ("p268435703", "0", "Unreal Tournament 3"),
        ("p268435704", "0", "Unreal Tournament 3"),
        ("p268435705", "0", "Unreal Tournament 3"),
        ("s32779", "0", "Unreal Tournament 3"),
        ("owningplayername", "Ann", "Unreal Tournament 3"),
        ("mapname", "OwningPlayerId=7,s0=1", "Unreal Tournament 3"),
        ("bf2_dedicated", "1", "Battlefield 2"),
        ("bf2_anticheat", "1", "Battlefield 2"),
        ("bf2_team1", "MEC", "Battlefield 2"),
        ("bf2_team2", "US", "Battlefield 2"),
        ("bf2_scorelimit", "1", "Battlefield 2"),
        ("bf2_bots", "1", "Battlefield 2"),
        ("bf2142_dedicated", "1", "Battlefield 2142"),
        ("bf2142_anticheat", "1", "Battlefield 2142"),
        ("bf2142_team1", "Pac", "Battlefield 2142"),
        ("bf2142_team2", "EU", "Battlefield 2142"),
        ("bf2142_scorelimit", "1", "Battlefield 2142"),
        ("bf2142_bots", "1", "Battlefield 2142"),
        ("equalmodrequired", "0", "Arma"),
        ("gamename", "fear", "F.E.A.R."),
        ("gamename", "bfvietnam", "Battlefield Vietnam"),
        ("game_id", "MINECRAFTPE", "Minecraft"),
    ];

    #[test]
    fn a_reply_has_the_first_row_with_a_mark() {
        let of = |layout, key: &'static str, value: &'static str| {
            let mut known = Known::default();
            known.insert(key.as_bytes(), value.as_bytes());
            Engine::of(layout, &known).row.name
        };
        for (key, value, name) in MARKS {
            assert_eq!(of(Layout::Sections, key, value), name);
        }
        let replies = MARKS.map(|(key, value, name)| {
            let known = [(key.as_bytes(), value.as_bytes())].into_iter().collect();
            (name, known)
        });
        for Engine { row, .. } in ENGINES {
            assert_eq!(untested(row.name, row.signatures, &replies), [""; 0]);
        }
        assert_eq!(of(Layout::Legacy, "hostname", "Srv"), "GameSpy v2");
        assert_eq!(of(Layout::Legacy, "bf2_ranked", "1"), "Battlefield 2");
        assert_eq!(of(Layout::MinecraftFull, "dx10", "0"), "Minecraft");
        assert_eq!(of(Layout::JustCause2, "hostname", "Srv"), "Just Cause 2");
    }
}
