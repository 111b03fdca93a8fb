//! Facts that differ between servers, as data: code reads these rows and names no game.

use crate::meaning::{Entry, Field, Form, Key, KeySet, Known, Row, Signature};
use crate::meaning::{all, begins, entries, has, is, key};
use crate::model::{Charset, Colours, Style};

/// An engine, or several whose servers use the same keys in the same way.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    /// The keys. The signatures are names of games, which outweigh any other key.
    pub(crate) row: Row,
    /// Keys that show the engine if no name of a game does.
    own_keys: &'static [Signature],
    /// Whether rows with `playername` and with `teamname`, without a `gamename`, show the engine.
    has_named_sides: bool,
    /// The score of a player whose row has none, in a complete reply.
    pub(crate) absent_score: Option<i64>,
    /// The meaning of `team_N` in a player's row.
    pub(crate) player_team: PlayerTeam,
    /// The number in `team_N` of a player without a team. If a team has this number too, it is that
    /// team's once some player is in another one.
    pub(crate) no_team: Option<i32>,
    /// Whether rows of players who left follow the rows that `numplayers` counts.
    pub(crate) has_stale_rows: bool,
    /// Whether `numplayers` can count players whom the server does not list. If not, a reply that
    /// counts players and has no rows has no list.
    pub(crate) may_be_unlisted: bool,
    /// Whether the players that `numplayers` counts and no row lists are bots: of those,
    /// `numplayers` counts at most one less than `maxplayers`, and none without a row.
    pub(crate) counts_unlisted_bots: bool,
    /// The number of the first team. Rows of teams always begin at 0.
    pub(crate) first_team: i32,
    /// Whether `location` is an index into [`REGIONS`].
    pub(crate) has_regions: bool,
}

/// The meaning of `team_N` in a player's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlayerTeam {
    Number,
    /// The name of a side.
    SideName,
}

/// Names of mutators, which commas separate. The key can be repeated.
pub(crate) const MUTATORS: Field = Field::Own(0);
/// The keys of [`MUTATORS`].
pub(crate) const MUTATOR_KEYS: KeySet = KeySet::EMPTY
    .with(Key::new("mutators"))
    .with(Key::new("active_mods"))
    .with(Key::new("mutator"));
/// The number of people and bots, which is 0 without bots.
pub(crate) const EVERYONE_IF_BOTS: Field = Field::Own(1);

impl Engine {
    /// The engine of a server that sends these keys.
    ///
    /// `has_named_sides`: it also sends rows with `playername` and with `teamname`.
    pub(crate) fn of(known: &Known<'_>, has_named_sides: bool) -> &'static Self {
        let mut by_name = ENGINES.iter().copied();
        if let Some(engine) = by_name.find(|engine| engine.row.fits(known)) {
            return engine;
        }
        let game = known
            .get(const { Key::new("gamename") })
            .unwrap_or_default();
        let has_named_sides = has_named_sides && game.is_empty();
        let mut by_keys = ENGINES.iter().copied();
        let engine = by_keys.find(|engine| {
            let has_keys = engine.own_keys.iter().any(|keys| keys.fits(known));
            has_keys || (engine.has_named_sides && has_named_sides)
        });
        engine.unwrap_or(&UNKNOWN)
    }
}

/// Every key with a meaning in some engine, and the marks.
const KEYS: KeySet = {
    let mut keys = UNKNOWN.row.keys();
    let mut rest = ENGINES;
    while let [engine, others @ ..] = rest {
        keys = keys.and(engine.row.keys());
        rest = others;
    }
    keys.with(Key::new("gamevariant"))
        .with(Key::new("location"))
        .with(Key::new("numrounds"))
        .with(Key::new("pure"))
        .with(Key::new("rankedserver"))
        .with(Key::new("realism"))
};

/// Whether some engine has this key, in any ASCII case.
pub(crate) fn is_known_key(name: &[u8]) -> bool {
    Key::find(name).is_some_and(|key| KEYS.has(key))
}

/// The engines, the most specific first.
static ENGINES: &[&Engine] = &[
    &BATTLEFIELD_1942,
    &MEDAL_OF_HONOR,
    &TRIBES_VENGEANCE,
    &SWAT_4,
    &SERIOUS_SAM,
    &NOLF_2,
    &DESCENT_3,
    &NETPANZER,
    &RENEGADE,
    &VIETCONG,
    &UNREAL_ENGINE_2,
    &UNREAL,
    &NOLF,
    &BRIDGE_COMMANDER,
];

/// Keys that mean the same in all known games.
const USUAL: &[Entry] = &[
    key("hostname", Field::Name),
    key("mapfilename", Field::Map),
    key("mapname", Field::Map),
    key("mapid", Field::Map),
    key("gamename", Field::Game),
    key("activemod", Field::ModName),
    key("modname", Field::ModName),
    key("mod", Field::ModName),
    key("mods", Field::ModName),
    key("gametype", Field::GameType),
    key("gameclass", Field::GameType),
    key("mutators", MUTATORS),
    key("active_mods", MUTATORS),
    key("mutator", MUTATORS),
    key("gamever", Field::Version),
    key("version", Field::Version),
    key("minnetver", Field::ProtocolVersion),
    key("mingamever", Field::ProtocolVersion),
    key("hostport", Field::GamePort),
    key("password", Field::Password),
    key("needpass", Field::Password),
    key("gamepassword", Field::Password),
    key("dedicated", Field::Dedicated),
    key("ded", Field::Dedicated),
    key("listenserver", Field::Dedicated).with(Form::Not),
    key("sv_punkbuster", Field::AntiCheat),
    key("numplayers", Field::Players),
    key("numbots", Field::BotCount),
    key("maxplayers", Field::MaxPlayers),
    key("reservedslots", Field::PrivateSlots),
    key("goalteamscore", Field::ScoreLimit),
    key("goalscore", Field::ScoreLimit),
    key("scorelimit", Field::ScoreLimit),
    key("fraglimit", Field::ScoreLimit),
    key("teamone", Field::SideName(0)),
    key("teamtwo", Field::SideName(1)),
    key("teamonescore", Field::SideScore(0)),
    key("tickets1", Field::SideScore(0)),
    key("swatscore", Field::SideScore(0)),
    key("teamtwoscore", Field::SideScore(1)),
    key("tickets2", Field::SideScore(1)),
    key("suspectsscore", Field::SideScore(1)),
];

/// The limit of time, in minutes.
const MINUTES: Entry = key("timelimit", Field::TimeLimit);

/// Unknown games: reads every key that means the same in all known games, and removes no colours.
static UNKNOWN: Engine = USUAL_ENGINE;

/// The values of a row that sets nothing itself.
const USUAL_ENGINE: Engine = Engine {
    row: Row {
        name: "unknown",
        signatures: &[],
        style: Style::new(Charset::Utf8OrWindows1252, Colours::None),
        own: entries(&[]),
        usual: entries(USUAL),
        base: &[],
    },
    own_keys: &[],
    has_named_sides: false,
    absent_score: None,
    player_team: PlayerTeam::Number,
    no_team: None,
    has_stale_rows: false,
    may_be_unlisted: false,
    counts_unlisted_bots: false,
    first_team: 0,
    has_regions: true,
};

/// Battlefield 1942. `location` is a Windows language number (captures in Austinb/GameQ,
/// tests/Protocols/Providers).
static BATTLEFIELD_1942: Engine = Engine {
    row: Row {
        name: "Battlefield 1942",
        signatures: &[all(&[begins("gamename", "bfield1942")])],
        own: entries(&[
            key("gameid", Field::ModName),
            key("roundtime", Field::TimeLimit).with(Form::Seconds),
            key("time_limit", Field::TimeLimit),
            key("roundtimeremain", Field::TimeLeft),
        ]),
        base: &["bf1942"],
        ..USUAL_ENGINE.row
    },
    has_named_sides: true,
    has_stale_rows: true,
    first_team: 1,
    has_regions: false,
    ..USUAL_ENGINE
};

/// Medal of Honor (openmoh/openmohaa, code/gamespy/sv_gamespy.c).
static MEDAL_OF_HONOR: Engine = Engine {
    row: Row {
        name: "Medal of Honor",
        signatures: &[all(&[begins("gamename", "moh")])],
        style: style(Colours::CaretAlphanumeric),
        own: entries(&[MINUTES, key("minplayers", EVERYONE_IF_BOTS)]),
        ..USUAL_ENGINE.row
    },
    own_keys: &[
        all(&[has("rankedserver")]),
        all(&[has("realism"), has("pure")]),
    ],
    ..USUAL_ENGINE
};

/// Tribes: Vengeance (replies that public tools quote). Names have the colour codes of SWAT 4,
/// which is of the same studio (jkelin/Tribes-Revengeance-stats, src/helpers.ts, `stripFormating`).
static TRIBES_VENGEANCE: Engine = Engine {
    row: Row {
        name: "Tribes: Vengeance",
        signatures: &[all(&[is("gamename", "tribesv")])],
        style: style(Colours::Swat4),
        ..USUAL_ENGINE.row
    },
    own_keys: &[all(&[has("teamone")])],
    player_team: PlayerTeam::SideName,
    ..USUAL_ENGINE
};

/// SWAT 4. Counters of zero are left out (sergeii/swat4master, pkg/gamespy/serverquery/gs1).
static SWAT_4: Engine = Engine {
    row: Row {
        name: "SWAT 4",
        signatures: &[all(&[begins("gamename", "swat4")])],
        style: style(Colours::Swat4),
        own: entries(&[key("timeleft", Field::TimeLeft)]),
        ..USUAL_ENGINE.row
    },
    own_keys: &[
        all(&[begins("gamevariant", "swat")]),
        all(&[begins("gamevariant", "sef")]),
        all(&[has("gamevariant"), has("numrounds")]),
    ],
    absent_score: Some(0),
    ..USUAL_ENGINE
};

/// Serious Sam (Croteam-official/Serious-Engine, GameAgent.cpp and SessionProperties.h).
static SERIOUS_SAM: Engine = Engine {
    row: Row {
        name: "Serious Sam",
        signatures: &[all(&[begins("gamename", "serioussam")])],
        style: style(Colours::SeriousSam),
        own: entries(&[MINUTES]),
        ..USUAL_ENGINE.row
    },
    ..USUAL_ENGINE
};

/// No One Lives Forever: the server sends the password itself (jsj2008/lithtech,
/// NOLF/ObjectDLL/MyGameSpyMgr.cpp).
static NOLF: Engine = Engine {
    row: Row {
        name: "No One Lives Forever",
        signatures: &[all(&[is("gamename", "nolf")])],
        own: entries(&[key("password", Field::Password).with(Form::TextIsYes)]),
        ..USUAL_ENGINE.row
    },
    ..USUAL_ENGINE
};

/// No One Lives Forever 2 (replies that public tools quote).
static NOLF_2: Engine = Engine {
    row: Row {
        name: "No One Lives Forever 2",
        signatures: &[all(&[is("gamename", "nolf2")])],
        own: entries(&[MINUTES]),
        ..USUAL_ENGINE.row
    },
    ..USUAL_ENGINE
};

/// Star Trek: Bridge Commander (SandboxServers/STBC-Dedicated-Server,
/// docs/networking/gamespy-discovery.md).
static BRIDGE_COMMANDER: Engine = Engine {
    row: Row {
        name: "Star Trek: Bridge Commander",
        signatures: &[all(&[is("gamename", "bcommander")])],
        own: entries(&[
            MINUTES.with(Form::ZeroIs("-1")),
            key("fraglimit", Field::ScoreLimit).with(Form::ZeroIs("-2")),
        ]),
        ..USUAL_ENGINE.row
    },
    ..USUAL_ENGINE
};

/// Descent 3 (DescentDevelopers/Descent3, Descent3/gamespy.cpp).
static DESCENT_3: Engine = Engine {
    row: Row {
        name: "Descent 3",
        signatures: &[all(&[is("gamename", "descent3")])],
        own: entries(&[key("fraglimit", Field::Ignored)]),
        ..USUAL_ENGINE.row
    },
    ..USUAL_ENGINE
};

/// netPanzer sends limits that are not in force (netpanzer/netpanzer, InfoSocket.cpp,
/// GameConfig.hpp, GameControlRulesDaemon.cpp).
static NETPANZER: Engine = Engine {
    row: Row {
        name: "netPanzer",
        signatures: &[all(&[is("gamename", "netpanzer")])],
        own: entries(&[
            key("gamestyle", Field::GameType),
            key("gameversion", Field::Version),
            key("protocol", Field::ProtocolVersion),
            MINUTES.with(Form::Unless(
                Key::new("gamestyle"),
                &["Objective", "Frag Limit", "Obj.+Frags"],
            )),
            key("fraglimit", Field::ScoreLimit).with(Form::Unless(
                Key::new("gamestyle"),
                &["Objective", "Time Limit"],
            )),
        ]),
        ..USUAL_ENGINE.row
    },
    ..USUAL_ENGINE
};

/// Command & Conquer: Renegade (w3dhub/OpenW3D, Code/Commando/GameSpy_QnR.cpp).
static RENEGADE: Engine = Engine {
    row: Row {
        name: "Command & Conquer: Renegade",
        signatures: &[all(&[is("gamename", "ccrenegade")])],
        ..USUAL_ENGINE.row
    },
    ..USUAL_ENGINE
};

/// Vietcong (Austinb/GameQ, src/GameQ/Protocol.php, the names of `dedicated`).
static VIETCONG: Engine = Engine {
    row: Row {
        name: "Vietcong",
        signatures: &[all(&[begins("gamename", "vietcong")])],
        own: entries(&[key("dedic", Field::Dedicated)]),
        ..USUAL_ENGINE.row
    },
    ..USUAL_ENGINE
};

/// The Unreal engine. UT99 has no colour codes, and no name contains ESC, so the codes of the later
/// engine fit both. Every player of a match without teams has team 255 (UT99's scripts
/// UdpServerQuery and PlayerReplicationInfo, line 11).
static UNREAL: Engine = UNREAL_ENGINE;

const UNREAL_ENGINE: Engine = Engine {
    row: Row {
        name: "Unreal engine",
        signatures: &[
            all(&[is("gamename", "ut")]),
            all(&[is("gamename", "unreal")]),
            all(&[is("gamename", "armygame")]),
            all(&[is("gamename", "deusex")]),
            all(&[is("gamename", "dnf")]),
            all(&[is("gamename", "kiss")]),
            all(&[is("gamename", "mobileforces")]),
            all(&[is("gamename", "nerfarena")]),
            all(&[is("gamename", "postal2")]),
            all(&[is("gamename", "ravenshield")]),
            all(&[is("gamename", "redorchestra")]),
            all(&[is("gamename", "rune")]),
            all(&[is("gamename", "tacticalops")]),
            all(&[is("gamename", "undying")]),
            all(&[is("gamename", "wot")]),
        ],
        style: style(Colours::UnrealEscape),
        own: entries(&[MINUTES, key("remainingtime", Field::TimeLeft)]),
        ..USUAL_ENGINE.row
    },
    own_keys: &[all(&[has("minnetver")]), all(&[has("mingamever")])],
    no_team: Some(255),
    may_be_unlisted: true,
    ..USUAL_ENGINE
};

/// UT2003 and UT2004. The count has bots, the list does not, and a player without a team has team 0
/// (Deaod/UT2004, IpDrv/UdpGamespyQuery.uc, lines 398 and 467; UnrealGame/UnrealMPGameInfo.uc,
/// `GetNumPlayers`).
static UNREAL_ENGINE_2: Engine = Engine {
    row: Row {
        name: "UT2003 and UT2004",
        signatures: &[
            all(&[is("gamename", "ut2")]),
            all(&[is("gamename", "ut2004")]),
        ],
        ..UNREAL_ENGINE.row
    },
    own_keys: &[],
    no_team: Some(0),
    counts_unlisted_bots: true,
    ..UNREAL_ENGINE
};

const fn style(colours: Colours) -> Style {
    Style::new(Charset::Utf8OrWindows1252, colours)
}

/// The keys of echoes. UT2004 refuses with `ignoring`.
pub(crate) const ECHO_KEYS: [&str; 5] = [
    "echo",
    "echo_replay",
    "echo_reply",
    "echoresponse",
    "ignoring",
];

/// The values of `location` as the engine numbers them (333networks/Masterserver-Qt5).
pub(crate) const REGIONS: [&str; 13] = [
    "no region",
    "south-eastern US",
    "western US",
    "midwestern US",
    "north-western US, western Canada",
    "north-eastern US, eastern Canada",
    "United Kingdom",
    "continental Europe",
    "Central Asia, Middle East",
    "south-east Asia, Pacific",
    "Africa",
    "Australia, New Zealand, Pacific",
    "Central and South America",
];

/// A reply in which only the last datagram has a number, and always the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConstantReply {
    Status,
    Players,
}

impl ConstantReply {
    /// The reply that ends with this number and fragment (Croteam-official/Serious-Engine,
    /// GameAgent.cpp).
    pub(crate) const fn of(reply: u64, fragment: u32) -> Option<Self> {
        match (reply, fragment) {
            (333, 1) => Some(Self::Status),
            (6, 1) => Some(Self::Players),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::gamespy1::wire::Fields;
    use crate::gamespy1::{Answer, StatusQuery};
    use crate::meaning::{
        facts, unneeded_parts, untested, with_cells_of, with_keys_in_capitals, with_rows,
    };
    use crate::session::{Conversation, Verdict};
    use crate::{Limits, QueryOptions};

    /// Replies of each family, with the keys that its row names as the source of the row writes
    /// them, and their fields.
    const REPLIES: &[(&[u8], &str)] = &[
        (
            br"\gamename\bfield1942\tickets1\320\tickets2\180\teamname_0\axis\teamname_1\allied\final\\queryid\1.1",
            "game bfield1942, teams 1 axis 320:2 allied 180",
        ),
        (
            br"\gamename\ut\hostname\Srv\gamever\451\minnetver\432\hostport\7777\mapname\CTF-Coret\gametype\CTFGame\numplayers\0\maxplayers\16\listenserver\False\password\True\timelimit\20\remainingtime\600\goalteamscore\3\mutators\LowGrav\queryid\1.1\final\",
            "name Srv, map CTF-Coret, game ut, type CTFGame, mutators [LowGrav], version 451, protocol 432, port 7777, password true, dedicated true, players 0, max 16, limit 1200 s, left 600 s, score 3",
        ),
        (
            br"\gamename\ut2004\mingamever\3186\timelimit\15\remainingtime\60\goalscore\4\queryid\1.1\final\",
            "game ut2004, protocol 3186, limit 900 s, left 60 s, score 4",
        ),
        (
            br"\gamename\bfield1942\gameId\xpack1\mapname\husky\gametype\conquest\password\0\dedicated\1\sv_punkbuster\1\maxplayers\32\reservedslots\2\roundTime\1200\roundTimeRemain\600\tickets1\100\tickets2\90\final\\queryid\1.1",
            "map husky, game bfield1942, type conquest, mod xpack1, password false, dedicated true, anti-cheat true, max 32, private 2, limit 1200 s, left 600 s, teams 1 100:2 90",
        ),
        (
            br"\gamename\bfield1942\gameId\bf1942\mapname\husky\time_limit\20\final\\queryid\1.1",
            "map husky, game bfield1942, limit 1200 s",
        ),
        (
            br"\gamename\mohaa\minplayers\3\numplayers\1\dedicated\1\mapname\dm/mohdm1\gametype\Free-For-All\timelimit\15\fraglimit\40\final\\queryid\1.1",
            "map dm/mohdm1, game mohaa, type Free-For-All, dedicated true, players 3, bots 2, limit 900 s, score 40, list unknown",
        ),
        (
            br"\gamename\tribesv\mapname\Emerald\gametype\CTF\teamone\Imperial\teamonescore\2\teamtwo\Phoenix\teamtwoscore\1\timelimit\20\final\\queryid\1.1",
            "map Emerald, game tribesv, type CTF, teams 0 Imperial 2:1 Phoenix 1",
        ),
        (
            br"\gamename\swat4\gamevariant\SWAT 4\mapname\Food Wall\gametype\Barricaded Suspects\timeleft\77\swatscore\10\suspectsscore\4\queryid\1.1\final\",
            "map Food Wall, game swat4, type Barricaded Suspects, left 77 s, teams 0 10:1 4",
        ),
        (
            br"\gamename\serioussamse\mapname\Hatshepsut\gametype\Cooperative\activemod\Warped\timelimit\10\fraglimit\20\final\\queryid\1.1",
            "map Hatshepsut, game serioussamse, type Cooperative, mod Warped, limit 600 s, score 20",
        ),
        (
            br"\gamename\nolf2\mapname\dm_base\gametype\DeathMatch\timelimit\20\fraglimit\25\final\\queryid\1.1",
            "map dm_base, game nolf2, type DeathMatch, limit 1200 s, score 25",
        ),
        (
            br"\gamename\descent3\mapname\Polaris\gametype\Anarchy\fraglimit\0\timelimit\20\queryid\1.1\final\",
            "map Polaris, game descent3, type Anarchy",
        ),
        (
            br"gamename\netpanzer\gameversion\0.8.7\protocol\3\mapname\Bullet Hole\gamestyle\Frag Limit\fraglimit\50\timelimit\30\final\",
            "map Bullet Hole, game netpanzer, type Frag Limit, version 0.8.7, protocol 3, score 50",
        ),
        (
            br"\gamename\ccrenegade\mapname\C&C_Field\gametype\C&C\DED\1\password\0\final\\queryid\1.1",
            "map C&C_Field, game ccrenegade, type C&C, password false, dedicated true",
        ),
        (
            br"\gamename\vietcong\mapname\Highway\gametype\atg\dedic\1\password\0\final\\queryid\1.1",
            "map Highway, game vietcong, type atg, password false, dedicated true",
        ),
        // No known family: a limit has no unit, and `gamestyle` is a setting.
        (
            br"\gamename\opflash\version\1.96\mapname\eden\mod\Res\gamestyle\Hardcore\timelimit\20\fraglimit\5\final\\queryid\1.1",
            "map eden, game opflash, mod Res, version 1.96, score 5",
        ),
        (
            br"\gamename\own\mapid\hill\mods\@ace\gameclass\Tag\active_mods\Fog\needpass\1\numplayers\3\numbots\2\scorelimit\6\final\\queryid\1.1",
            "map hill, game own, type Tag, mod @ace, mutators [Fog], password true, players 3, bots 2, score 6, list unknown",
        ),
        (
            br"\gamename\own\mapfilename\a.map\modname\Night\mutator\Rain\gamepassword\1\final\\queryid\1.1",
            "map a.map, game own, mod Night, mutators [Rain], password true",
        ),
        // Limits that are not in force are none: netPanzer's InfoSocket.cpp writes both for every
        // type of game, its GameControlRulesDaemon.cpp checks them by the type.
        (
            br"gamename\netpanzer\gamestyle\Objective\timelimit\30\fraglimit\300\final\",
            "game netpanzer, type Objective",
        ),
        (
            br"gamename\netpanzer\gamestyle\Time Limit\timelimit\30\fraglimit\300\final\",
            "game netpanzer, type Time Limit, limit 1800 s",
        ),
        (
            br"gamename\netpanzer\gamestyle\Frag Limit\timelimit\30\fraglimit\300\final\",
            "game netpanzer, type Frag Limit, score 300",
        ),
        (
            br"gamename\netpanzer\gamestyle\Obj.+Frags\timelimit\30\fraglimit\300\final\",
            "game netpanzer, type Obj.+Frags, score 300",
        ),
        (
            br"gamename\netpanzer\gamestyle\Frags+Time\timelimit\30\fraglimit\300\final\",
            "game netpanzer, type Frags+Time, limit 1800 s, score 300",
        ),
        (
            br"\gamename\bcommander\timelimit\-1\fraglimit\-2\final\\queryid\2.1",
            "game bcommander, limit 0 s, score 0",
        ),
        (
            br"\gamename\bcommander\timelimit\15\fraglimit\10\final\\queryid\2.1",
            "game bcommander, limit 900 s, score 10",
        ),
        // The password as it is, if there is one.
        (br"\gamename\nolf\Password\secret\final\\queryid\2.1", "game nolf, password true"),
        (br"\gamename\nolf\Password\0\final\\queryid\2.1", "game nolf, password false"),
        (br"\gamename\nolf\Password\\final\\queryid\2.1", "game nolf"),
        (br"\gamename\other\Password\secret\final\\queryid\2.1", "game other"),
        // Without a limit of time, no time is left. Rows beyond the count are of former players.
        (
            br"\gamename\bfield1942\gameId\bf1942\roundTime\0\roundTimeRemain\100\final\",
            "game bfield1942, limit 0 s",
        ),
        (
            br"\gamename\bfield1942\roundTime\300\time_limit\20\numplayers\1\teamname_0\Axis\playername_1\Bob\playername_0\Ann\final\\queryid\1.1",
            "game bfield1942, players 1, limit 300 s, teams 1 Axis, list [Ann], former [Bob]",
        ),
        (
            br"\gamename\own\numplayers\1\teamname_0\Axis\player_0\Ann\player_1\Bob\final\\queryid\1.1",
            "game own, players 1, teams 0 Axis, list [Ann; Bob]",
        ),
        // Several keys of one field: the first in the row counts.
        (
            br"\gamename\own\mapid\c\mapname\b\mapfilename\a\mods\g\mod\f\modname\e\activemod\d\gameclass\i\gametype\h\mutator\l\active_mods\k\mutators\j\version\n\gamever\m\mingamever\2\minnetver\1\gamepassword\0\needpass\0\password\1\listenserver\1\ded\0\dedicated\1\fraglimit\4\scorelimit\3\goalscore\2\goalteamscore\1\swatscore\3\tickets1\2\teamonescore\1\suspectsscore\6\tickets2\5\teamtwoscore\4\final\\queryid\1.1",
            "map a, game own, type h, mod d, mutators [j], version m, protocol 1, password true, dedicated true, score 1, teams 0 1:1 4",
        ),
        (
            br"\gamename\own\mapid\c\mapname\b\mods\g\mod\f\modname\e\mutator\l\active_mods\k\gamepassword\0\needpass\1\listenserver\1\ded\1\fraglimit\4\scorelimit\3\goalscore\2\swatscore\3\tickets1\2\suspectsscore\6\tickets2\5\final\\queryid\1.1",
            "map b, game own, mod e, mutators [k], password true, dedicated true, score 2, teams 0 2:1 5",
        ),
        (
            br"\gamename\own\mods\g\mod\f\fraglimit\4\scorelimit\3\final\\queryid\1.1",
            "game own, mod f, score 3",
        ),
        // Rows with both names show an engine whose teams count from 1.
        (
            br"\hostname\Srv\teamname_0\Axis\playername_0\Ann\final\\queryid\1.1",
            "name Srv, teams 1 Axis, list [Ann]",
        ),
        (
            br"\hostname\Srv\teamname_0\Axis\player_0\Ann\final\\queryid\1.1",
            "name Srv, teams 0 Axis, list [Ann]",
        ),
        // A score of zero is left out.
        (
            br"\gamename\swat4\player_0\Ann\score_0\5\player_1\Bob\final\\queryid\1.1",
            "game swat4, list [Ann 5; Bob 0]",
        ),
        (
            br"\gamename\own\player_0\Ann\score_0\5\player_1\Bob\final\\queryid\1.1",
            "game own, list [Ann 5; Bob]",
        ),
        // The team of a player is a number, or the name of a side.
        (
            br"\gamename\tribesv\teamone\Red\teamtwo\Blue\player_0\Ann\team_0\Blue\final\\queryid\1.1",
            "game tribesv, teams 0 Red:1 Blue, list [Ann in 1]",
        ),
        (
            br"\gamename\tribesv\player_0\Ann\team_0\1\final\\queryid\1.1",
            "game tribesv, list [Ann in 1]",
        ),
        (
            br"\gamename\ut\teamone\Red\teamtwo\Blue\player_0\Ann\team_0\Blue\final\\queryid\1.1",
            "game ut, teams 0 Red:1 Blue, list [Ann]",
        ),
        // The team of those without one.
        (
            br"\gamename\own\player_0\Ann\team_0\0\final\\queryid\1.1",
            "game own, list [Ann in 0]",
        ),
        (
            br"\gamename\own\player_0\Ann\team_0\255\final\\queryid\1.1",
            "game own, list [Ann in 255]",
        ),
        (
            br"\gamename\ut\player_0\Ann\team_0\0\final\\queryid\1.1",
            "game ut, list [Ann in 0]",
        ),
        (
            br"\gamename\ut\player_0\Ann\team_0\255\final\\queryid\1.1",
            "game ut, list [Ann]",
        ),
        (
            br"\gamename\ut2\player_0\Ann\team_0\0\final\\queryid\1.1",
            "game ut2, list [Ann]",
        ),
        (
            br"\gamename\ut2\player_0\Ann\team_0\255\final\\queryid\1.1",
            "game ut2, list [Ann in 255]",
        ),
        // Players who are counted and not listed.
        (
            br"\gamename\own\hostname\Srv\numplayers\2\maxplayers\8\final\\queryid\1.1",
            "name Srv, game own, players 2, max 8, list unknown",
        ),
        (
            br"\gamename\ut\hostname\Srv\numplayers\2\maxplayers\8\queryid\1.1\final\",
            "name Srv, game ut, players 2, max 8, list []",
        ),
        (
            br"\gamename\ut\numplayers\3\maxplayers\8\player_0\Ann\final\\queryid\1.1",
            "game ut, players 3, max 8, list [Ann]",
        ),
        (
            br"\gamename\ut2\numplayers\3\maxplayers\8\player_0\Ann\final\\queryid\1.1",
            "game ut2, players 3, bots 2, max 8, list [Ann]",
        ),
        // A name with the colour codes of all these engines.
        (
            b"\\gamename\\own\\hostname\\a^1b[c=ff0000]c[b]d^cff0000e\x1bRGBf\\final\\\\queryid\\1.1",
            "name a^1b[c=ff0000]c[b]d^cff0000eRGBf, game own",
        ),
        (
            b"\\gamename\\mohaa\\hostname\\a^1b[c=ff0000]c[b]d^cff0000e\x1bRGBf\\final\\\\queryid\\1.1",
            "name ab[c=ff0000]c[b]dff0000eRGBf, game mohaa",
        ),
        (
            b"\\gamename\\swat4\\hostname\\a^1b[c=ff0000]c[b]d^cff0000e\x1bRGBf\\final\\\\queryid\\1.1",
            "name a^1bcd^cff0000eRGBf, game swat4",
        ),
        (
            b"\\gamename\\tribesv\\hostname\\a^1b[c=ff0000]c[b]d^cff0000e\x1bRGBf\\final\\\\queryid\\1.1",
            "name a^1bcd^cff0000eRGBf, game tribesv",
        ),
        (
            b"\\gamename\\serioussamse\\hostname\\a^1b[c=ff0000]c[b]d^cff0000e\x1bRGBf\\final\\\\queryid\\1.1",
            "name a^1b[c=ff0000]c[b]deRGBf, game serioussamse",
        ),
        (
            b"\\gamename\\ut\\hostname\\a^1b[c=ff0000]c[b]d^cff0000e\x1bRGBf\\final\\\\queryid\\1.1",
            "name a^1b[c=ff0000]c[b]d^cff0000ef, game ut",
        ),
    ];

    /// The answer to a request for everything, if this is a whole one.
    fn answer(reply: &[u8]) -> Answer {
        let mut query = StatusQuery::new(0, &QueryOptions::default());
        query.request(&mut Vec::new());
        match query.receive(reply) {
            Verdict::Done(answer) => answer,
            _ => Answer::from_datagrams([reply], &Limits::default()).unwrap(),
        }
    }

    /// A reply's fields and rows, read by its engine or by another one.
    fn read(reply: &[u8], engine: Option<&'static Engine>) -> String {
        let status = answer(reply).status_by(|known, has_named_sides| {
            engine.unwrap_or_else(|| Engine::of(known, has_named_sides))
        });
        let rows = (&status.players, &status.former_players, &status.teams);
        format!("{}\n{rows:?}", facts(&status))
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
                absent_score,
                player_team,
                no_team,
                has_stale_rows,
                may_be_unlisted,
                counts_unlisted_bots,
                first_team
            )
        });
        rows.chain(cells).collect()
    }

    #[test]
    fn keys_mean_the_same_in_any_case() {
        // A reply without a backslash before its first key is told by this key.
        let replies = REPLIES.iter().filter(|(reply, _)| reply.starts_with(b"\\"));
        for (reply, expected) in replies {
            let capitals = String::from_utf8(with_keys_in_capitals(reply)).unwrap();
            // The keys of the protocol itself have one case.
            let capitals = capitals
                .replace("QUERYID", "queryid")
                .replace("FINAL", "final");
            let read = read(capitals.as_bytes(), None);
            let (fields, _) = read.split_once('\n').unwrap();
            assert_eq!(fields, *expected, "{}", reply.escape_ascii());
        }
    }

    #[test]
    fn every_part_of_a_row_decides() {
        for (reply, expected) in REPLIES {
            let read = read(reply, None);
            let (fields, _) = read.split_once('\n').unwrap();
            assert_eq!(fields, *expected, "{}", reply.escape_ascii());
        }
        let engine_of = |reply: &&[u8]| {
            let mut found = &UNKNOWN;
            answer(reply).status_by(|known, has_named_sides| {
                found = Engine::of(known, has_named_sides);
                found
            });
            found
        };
        let unneeded = unneeded_parts(
            ENGINES.iter().copied().chain([&UNKNOWN]),
            REPLIES.iter().map(|(reply, _)| *reply),
            engine_of,
            parts,
            |reply, engine| read(reply, engine),
        );
        assert_eq!(unneeded, BTreeSet::new(), "{unneeded:#?}");
    }

    fn engine(raw: &[u8], has_named_sides: bool) -> &'static str {
        let known: Known<'_> = Fields::new(raw).pairs().collect();
        Engine::of(&known, has_named_sides).row.name
    }

    #[test]
    fn engines_are_told_by_their_marks() {
        let replies = [
            (&br"\gamename\ut\minnetver\432"[..], "Unreal engine"),
            (br"\gamename\some\minnetver\432", "Unreal engine"),
            (br"\gamename\some\mingamever\432", "Unreal engine"),
            (br"\gamename\unreal", "Unreal engine"),
            (br"\gamename\armygame", "Unreal engine"),
            (br"\gamename\deusex", "Unreal engine"),
            (br"\gamename\dnf", "Unreal engine"),
            (br"\gamename\kiss", "Unreal engine"),
            (br"\gamename\mobileforces", "Unreal engine"),
            (br"\gamename\nerfarena", "Unreal engine"),
            (br"\gamename\postal2", "Unreal engine"),
            (br"\gamename\ravenshield", "Unreal engine"),
            (br"\gamename\redorchestra", "Unreal engine"),
            (br"\gamename\rune", "Unreal engine"),
            (br"\gamename\tacticalops", "Unreal engine"),
            (br"\gamename\undying", "Unreal engine"),
            (br"\gamename\wot", "Unreal engine"),
            (br"\gamename\bfield1942", "Battlefield 1942"),
            (br"\gamename\bfield1942d", "Battlefield 1942"),
            (br"\gamename\mohaa", "Medal of Honor"),
            (br"\pure\0\realism\1", "Medal of Honor"),
            (br"\rankedserver\0", "Medal of Honor"),
            (br"\hostname\x\gamevariant\SWAT 4", "SWAT 4"),
            (br"\hostname\x\gamevariant\SEF 2", "SWAT 4"),
            (br"\hostname\x\gamevariant\Elite\numrounds\5", "SWAT 4"),
            (br"\gamevariant\CTF\teamone\Phoenix", "Tribes: Vengeance"),
            (br"\gamename\tribesv", "Tribes: Vengeance"),
            (br"\gamename\swat4", "SWAT 4"),
            (br"\gamename\serioussamse", "Serious Sam"),
            (br"\gamename\nolf", "No One Lives Forever"),
            (br"\gamename\nolf2", "No One Lives Forever 2"),
            (br"\gamename\ut2", "UT2003 and UT2004"),
            (br"\gamename\ut2004", "UT2003 and UT2004"),
            (br"\gamename\vietcong", "Vietcong"),
            (br"\gamename\bcommander", "Star Trek: Bridge Commander"),
            (br"\gamename\descent3", "Descent 3"),
            (br"\gamename\netpanzer", "netPanzer"),
            (br"\gamename\ccrenegade", "Command & Conquer: Renegade"),
            (br"\gamevariant\CTF", "unknown"),
            (br"\gamename\opflash", "unknown"),
            (br"\pure\0", "unknown"),
            (br"\realism\1", "unknown"),
            (br"\numrounds\5", "unknown"),
            (b"", "unknown"),
            // The name of a game takes precedence over a key.
            (br"\gamename\ut\rankedserver\0\teamone\x", "Unreal engine"),
        ];
        for (raw, name) in replies {
            assert_eq!(engine(raw, false), name, "{}", raw.escape_ascii());
        }
        let replies = replies.map(|(raw, name)| (name, Fields::new(raw).pairs().collect()));
        for Engine { row, own_keys, .. } in ENGINES {
            assert_eq!(untested(row.name, row.signatures, &replies), [""; 0]);
            assert_eq!(untested(row.name, own_keys, &replies), [""; 0]);
        }
        assert_eq!(engine(b"", true), "Battlefield 1942");
    }
}
