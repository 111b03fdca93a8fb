//! Facts that differ between servers, as data: code reads these rows and names no game.

use crate::meaning::{Entry, Field, Form, Key, KeySet, Known, Row, Signature};
use crate::meaning::{all, begins, entries, has, is, key};
use crate::model::{Charset, Colours, Style};

/// An engine, or several whose servers use the same keys in the same way.
#[derive(Debug)]
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
    use super::*;
    use crate::gamespy1::wire::Fields;
    use crate::meaning::untested;

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
