//! Facts that differ between servers, as data: code reads these rows and names no game.
//!
//! There is a row for each family of games.

use crate::model::Colours;
use crate::text::keys::{keys, known};
use crate::text::number;

keys! {
    ActiveMod = "activemod",
    ActiveMods = "active_mods",
    Ded = "DED",
    Dedicated = "dedicated",
    FragLimit = "fraglimit",
    GameClass = "gameclass",
    GameId = "gameId",
    GameName = "gamename",
    GamePassword = "gamepassword",
    GameStyle = "gamestyle",
    GameType = "gametype",
    GameVariant = "gamevariant",
    GameVer = "gamever",
    GameVersion = "gameversion",
    GoalScore = "goalscore",
    GoalTeamScore = "goalteamscore",
    HostName = "hostname",
    HostPort = "hostport",
    ListenServer = "listenserver",
    Location = "location",
    MapFileName = "mapfilename",
    MapId = "mapid",
    MapName = "mapname",
    MaxPlayers = "maxplayers",
    MinGameVer = "mingamever",
    MinNetVer = "minnetver",
    MinPlayers = "minplayers",
    Mod = "mod",
    ModName = "modname",
    Mods = "mods",
    Mutator = "mutator",
    Mutators = "mutators",
    NeedPass = "needpass",
    NumBots = "numbots",
    NumPlayers = "numplayers",
    NumRounds = "numrounds",
    Password = "password",
    Protocol = "protocol",
    Pure = "pure",
    RankedServer = "rankedserver",
    Realism = "realism",
    RemainingTime = "remainingtime",
    ReservedSlots = "reservedslots",
    RoundTime = "roundTime",
    RoundTimeRemain = "roundTimeRemain",
    ScoreLimit = "scorelimit",
    SuspectsScore = "suspectsscore",
    SvPunkbuster = "sv_punkbuster",
    SwatScore = "swatscore",
    TeamOne = "teamone",
    TeamOneScore = "teamonescore",
    TeamTwo = "teamtwo",
    TeamTwoScore = "teamtwoscore",
    Tickets1 = "tickets1",
    Tickets2 = "tickets2",
    TimeLeft = "timeleft",
    TimeLimit = "timelimit",
    TimeLimitMinutes = "time_limit",
    Version = "version",
}

known!();

impl Key {
    /// Whether the key has the opposite meaning of its field: a listen server is not dedicated.
    pub(crate) const fn is_inverted(self) -> bool {
        matches!(self, Self::ListenServer)
    }

    /// Whether the duration under the key is in minutes, not in seconds.
    pub(crate) const fn is_in_minutes(self) -> bool {
        matches!(self, Self::TimeLimit | Self::TimeLimitMinutes)
    }

    /// Whether the key lists mutators. It can be repeated.
    pub(crate) const fn lists_mutators(self) -> bool {
        matches!(self, Self::Mutators | Self::ActiveMods | Self::Mutator)
    }
}

/// The keys of one field of the status.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    /// The keys, in the order in which they are read.
    pub(crate) all: &'static [Key],
    /// The values that mean something else than they say.
    special: Option<&'static Special>,
}

/// Values with a meaning of their own. Texts are compared in any ASCII case.
#[derive(Debug, Clone, Copy)]
enum Special {
    /// This text means "no value".
    NoValue(&'static str),
    /// This number means "no limit", which is 0 in a status.
    NoLimit(&'static str),
    /// A text that is neither a yes nor a no is a yes: the server sends the password itself.
    AnyText,
    /// No value counts while this key has one of these texts: the server sends a limit that is not
    /// in force.
    NoneIf(Key, &'static [&'static str]),
}

impl Keys {
    const fn read(all: &'static [Key]) -> Self {
        Self { all, special: None }
    }

    /// The same keys, with values that mean something else than they say.
    const fn with(self, special: &'static Special) -> Self {
        let special = Some(special);
        Self { special, ..self }
    }

    /// The meaning of a text: another text, or `None` for no value.
    #[inline]
    pub(crate) fn meaning<'v>(self, text: &'v [u8], known: &Known<'v>) -> Option<&'v [u8]> {
        match self.special {
            Some(special) => special.meaning(text, known),
            None => Some(text),
        }
    }
}

impl Special {
    fn meaning<'v>(&self, text: &'v [u8], known: &Known<'v>) -> Option<&'v [u8]> {
        let is = |word: &str, text: &[u8]| text.eq_ignore_ascii_case(word.as_bytes());
        match *self {
            Self::NoValue(word) if is(word, text) => None,
            Self::NoLimit(word) if is(word, text) => Some(b"0"),
            Self::AnyText if !text.is_empty() && number::boolean(text).is_none() => Some(b"1"),
            Self::NoneIf(key, words) => {
                let value = known.get(key).unwrap_or_default();
                let is_met = words.iter().any(|word| is(word, value));
                (!is_met).then_some(text)
            }
            _ => Some(text),
        }
    }
}

/// The meaning of `team_N` in a player's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlayerTeam {
    Number,
    /// The name of a side.
    SideName,
}

/// How players are listed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlayerRows {
    /// The score of a player whose row has none, in a complete reply.
    pub(crate) absent_score: Option<i64>,
    pub(crate) team: PlayerTeam,
    /// Whether rows of players who left follow the rows that `numplayers` counts.
    pub(crate) has_stale_rows: bool,
    /// Whether `numplayers` can count players whom the server does not list. If not, a reply that
    /// counts players and has no rows has no list.
    pub(crate) may_be_unlisted: bool,
}

/// A side in a game without rows for teams.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    pub(crate) name: Keys,
    pub(crate) score: Keys,
}

/// How a reply shows its family.
#[derive(Debug, Clone, Copy)]
enum Mark {
    /// `gamename`, in lower case.
    Game(&'static str),
    /// The beginning of `gamename`, in lower case.
    GamePrefix(&'static str),
    /// The beginning of `gamevariant`, in lower case.
    VariantPrefix(&'static str),
    /// By these keys.
    Has(&'static [Key]),
    /// By rows with `playername` and with `teamname`, without a `gamename`.
    NamedSides,
}

impl Mark {
    /// Whether the mark is the name of a game, which outweighs any key.
    const fn is_game(self) -> bool {
        matches!(self, Self::Game(_) | Self::GamePrefix(_))
    }

    fn fits(self, known: &Known<'_>, has_named_sides: bool) -> bool {
        let text = |key| known.get(key).unwrap_or_default();
        match self {
            Self::Game(name) => text(Key::GameName).eq_ignore_ascii_case(name.as_bytes()),
            Self::GamePrefix(prefix) => begins_with(text(Key::GameName), prefix),
            Self::VariantPrefix(prefix) => begins_with(text(Key::GameVariant), prefix),
            Self::Has(keys) => keys.iter().all(|key| known.get(*key).is_some()),
            Self::NamedSides => text(Key::GameName).is_empty() && has_named_sides,
        }
    }
}

fn begins_with(text: &[u8], prefix: &str) -> bool {
    let start = text.get(..prefix.len()).unwrap_or_default();
    start.eq_ignore_ascii_case(prefix.as_bytes())
}

/// A family of games whose servers use the same keys in the same way.
#[derive(Debug)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "family and source document a row")
)]
pub(crate) struct Profile {
    pub(crate) family: &'static str,
    marks: &'static [Mark],
    pub(crate) colours: Colours,
    pub(crate) name: Keys,
    pub(crate) map: Keys,
    pub(crate) game: Keys,
    pub(crate) mod_name: Keys,
    pub(crate) game_type: Keys,
    pub(crate) mutators: Keys,
    pub(crate) version: Keys,
    pub(crate) protocol_version: Keys,
    pub(crate) game_port: Keys,
    pub(crate) password: Keys,
    pub(crate) dedicated: Keys,
    pub(crate) anti_cheat: Keys,
    pub(crate) player_count: Keys,
    /// The keys of the number of bots.
    pub(crate) bots: Keys,
    /// The key that counts people and bots, and is 0 without bots. If there is one,
    /// `player_count` counts people.
    pub(crate) everyone: Keys,
    pub(crate) max_players: Keys,
    pub(crate) private_slots: Keys,
    /// No keys if their unit is unknown.
    pub(crate) time_limit: Keys,
    pub(crate) time_left: Keys,
    pub(crate) score_limit: Keys,
    pub(crate) players: PlayerRows,
    /// The number of the first team. Rows of teams always begin at 0.
    pub(crate) first_team: i32,
    pub(crate) sides: [Side; 2],
    /// Whether `location` is an index into [`REGIONS`].
    pub(crate) has_regions: bool,
    pub(crate) source: &'static str,
}

impl Profile {
    /// The family of a server that sends these keys.
    ///
    /// `has_named_sides`: it also sends rows with `playername` and with `teamname`.
    pub(crate) fn of(known: &Known<'_>, has_named_sides: bool) -> &'static Self {
        let fits = |mark: &Mark| mark.fits(known, has_named_sides);
        let by_game = Self::with_mark(|mark| mark.is_game() && fits(mark));
        by_game
            .or_else(|| Self::with_mark(|mark| !mark.is_game() && fits(mark)))
            .unwrap_or(&UNKNOWN)
    }

    /// The first family with such a mark.
    fn with_mark(is_such: impl Fn(&Mark) -> bool) -> Option<&'static Self> {
        let mut families = FAMILIES.iter().copied();
        families.find(|row| row.marks.iter().any(&is_such))
    }
}

/// The only key of a field.
const fn one(all: &'static [Key; 1]) -> Keys {
    Keys::read(all)
}

const SCORE_LIMITS: &[Key] = &[
    Key::GoalTeamScore,
    Key::GoalScore,
    Key::ScoreLimit,
    Key::FragLimit,
];
const SIDE_ONE: &[Key] = &[Key::TeamOneScore, Key::Tickets1, Key::SwatScore];
const SIDE_TWO: &[Key] = &[Key::TeamTwoScore, Key::Tickets2, Key::SuspectsScore];

const SIDES: [Side; 2] = [
    Side {
        name: Keys::read(&[Key::TeamOne]),
        score: Keys::read(SIDE_ONE),
    },
    Side {
        name: Keys::read(&[Key::TeamTwo]),
        score: Keys::read(SIDE_TWO),
    },
];

/// Unknown games: reads every key that means the same in all known games, and removes no colours.
pub(crate) static UNKNOWN: Profile = DEFAULT;

/// The values of a row that sets nothing itself.
const DEFAULT: Profile = Profile {
    family: "unknown",
    marks: &[],
    colours: Colours::None,
    name: one(&[Key::HostName]),
    map: Keys::read(&[Key::MapFileName, Key::MapName, Key::MapId]),
    game: one(&[Key::GameName]),
    mod_name: Keys::read(&[Key::ActiveMod, Key::ModName, Key::Mod, Key::Mods]),
    game_type: Keys::read(&[Key::GameType, Key::GameClass]),
    mutators: Keys::read(&[Key::Mutators, Key::ActiveMods, Key::Mutator]),
    version: Keys::read(&[Key::GameVer, Key::Version]),
    protocol_version: Keys::read(&[Key::MinNetVer, Key::MinGameVer]),
    game_port: one(&[Key::HostPort]),
    password: Keys::read(&[Key::Password, Key::NeedPass, Key::GamePassword]),
    dedicated: Keys::read(&[Key::Dedicated, Key::Ded, Key::ListenServer]),
    anti_cheat: Keys::read(&[Key::SvPunkbuster]),
    player_count: one(&[Key::NumPlayers]),
    bots: Keys::read(&[Key::NumBots]),
    everyone: Keys::read(&[]),
    max_players: one(&[Key::MaxPlayers]),
    private_slots: Keys::read(&[Key::ReservedSlots]),
    time_limit: Keys::read(&[]),
    time_left: Keys::read(&[]),
    score_limit: Keys::read(SCORE_LIMITS),
    players: PlayerRows {
        absent_score: None,
        team: PlayerTeam::Number,
        has_stale_rows: false,
        may_be_unlisted: false,
    },
    first_team: 0,
    sides: SIDES,
    has_regions: true,
    source: "",
};

/// All rows, those with stronger marks first.
static FAMILIES: &[&Profile] = &[
    &BATTLEFIELD_1942,
    &MEDAL_OF_HONOR,
    &TRIBES_VENGEANCE,
    &SWAT_4,
    &SERIOUS_SAM,
    &NOLF_2,
    &DESCENT_3,
    &NETPANZER,
    &RENEGADE,
    &UNREAL,
    &NOLF,
    &BRIDGE_COMMANDER,
];

static BATTLEFIELD_1942: Profile = Profile {
    family: "Battlefield 1942",
    marks: &[Mark::GamePrefix("bfield1942"), Mark::NamedSides],
    mod_name: Keys::read(&[
        Key::GameId,
        Key::ActiveMod,
        Key::ModName,
        Key::Mod,
        Key::Mods,
    ])
    .with(&Special::NoValue("bf1942")),
    time_limit: Keys::read(&[Key::RoundTime, Key::TimeLimitMinutes]),
    time_left: one(&[Key::RoundTimeRemain]),
    score_limit: Keys::read(SCORE_LIMITS),
    players: PlayerRows {
        has_stale_rows: true,
        ..DEFAULT.players
    },
    first_team: 1,
    // `location` is a Windows language number.
    has_regions: false,
    source: "captures in Austinb/GameQ, tests/Protocols/Providers",
    ..DEFAULT
};

static MEDAL_OF_HONOR: Profile = Profile {
    family: "Medal of Honor",
    marks: &[
        Mark::GamePrefix("moh"),
        Mark::Has(&[Key::RankedServer]),
        Mark::Has(&[Key::Realism, Key::Pure]),
    ],
    colours: Colours::CaretAlphanumeric,
    time_limit: one(&[Key::TimeLimit]),
    everyone: one(&[Key::MinPlayers]),
    source: "openmoh/openmohaa, code/gamespy/sv_gamespy.c",
    ..DEFAULT
};

static TRIBES_VENGEANCE: Profile = Profile {
    family: "Tribes: Vengeance",
    marks: &[Mark::Game("tribesv"), Mark::Has(&[Key::TeamOne])],
    players: PlayerRows {
        team: PlayerTeam::SideName,
        ..DEFAULT.players
    },
    source: "replies that public tools quote",
    ..DEFAULT
};

static SWAT_4: Profile = Profile {
    family: "SWAT 4",
    marks: &[
        Mark::GamePrefix("swat4"),
        Mark::VariantPrefix("swat"),
        Mark::VariantPrefix("sef"),
        Mark::Has(&[Key::GameVariant, Key::NumRounds]),
    ],
    colours: Colours::Swat4,
    time_left: one(&[Key::TimeLeft]),
    score_limit: Keys::read(SCORE_LIMITS),
    // Counters of zero are left out.
    players: PlayerRows {
        absent_score: Some(0),
        ..DEFAULT.players
    },
    source: "sergeii/swat4master, pkg/gamespy/serverquery/gs1",
    ..DEFAULT
};

static SERIOUS_SAM: Profile = Profile {
    family: "Serious Sam",
    marks: &[Mark::GamePrefix("serioussam")],
    colours: Colours::SeriousSam,
    time_limit: one(&[Key::TimeLimit]),
    source: "Croteam-official/Serious-Engine, GameAgent.cpp and SessionProperties.h",
    ..DEFAULT
};

static NOLF: Profile = Profile {
    family: "No One Lives Forever",
    marks: &[Mark::Game("nolf")],
    password: DEFAULT.password.with(&Special::AnyText),
    source: "jsj2008/lithtech, NOLF/ObjectDLL/MyGameSpyMgr.cpp",
    ..DEFAULT
};

static NOLF_2: Profile = Profile {
    family: "No One Lives Forever 2",
    marks: &[Mark::Game("nolf2")],
    time_limit: one(&[Key::TimeLimit]),
    source: "replies that public tools quote",
    ..DEFAULT
};

static BRIDGE_COMMANDER: Profile = Profile {
    family: "Star Trek: Bridge Commander",
    marks: &[Mark::Game("bcommander")],
    time_limit: one(&[Key::TimeLimit]).with(&Special::NoLimit("-1")),
    score_limit: one(&[Key::FragLimit]).with(&Special::NoLimit("-2")),
    source: "SandboxServers/STBC-Dedicated-Server, docs/networking/gamespy-discovery.md",
    ..DEFAULT
};

/// Sends `fraglimit` 0 for a limit that is in force, and other limits as they are stored.
static DESCENT_3: Profile = Profile {
    family: "Descent 3",
    marks: &[Mark::Game("descent3")],
    score_limit: Keys::read(&[Key::GoalTeamScore, Key::GoalScore, Key::ScoreLimit]),
    source: "DescentDevelopers/Descent3, Descent3/gamespy.cpp",
    ..DEFAULT
};

/// Sends the game type as `gamestyle`, which elsewhere is a setting (UT99: `Hardcore`). It sends
/// `timelimit` and `fraglimit` even if the game type has none.
static NETPANZER: Profile = Profile {
    family: "netPanzer",
    marks: &[Mark::Game("netpanzer")],
    game_type: Keys::read(&[Key::GameStyle, Key::GameType]),
    version: Keys::read(&[Key::GameVersion, Key::GameVer]),
    protocol_version: one(&[Key::Protocol]),
    time_limit: one(&[Key::TimeLimit]).with(&Special::NoneIf(
        Key::GameStyle,
        &["Objective", "Frag Limit", "Obj.+Frags"],
    )),
    score_limit: DEFAULT.score_limit.with(&Special::NoneIf(
        Key::GameStyle,
        &["Objective", "Time Limit"],
    )),
    source: "netpanzer/netpanzer, InfoSocket.cpp, GameConfig.hpp, GameControlRulesDaemon.cpp",
    ..DEFAULT
};

/// Sends the modification, or `C&C`, as `gametype`. It lists no players.
static RENEGADE: Profile = Profile {
    family: "Command & Conquer: Renegade",
    marks: &[Mark::Game("ccrenegade")],
    source: "w3dhub/OpenW3D, Code/Commando/GameSpy_QnR.cpp",
    ..DEFAULT
};

/// Games of the Unreal engine, first and second generation.
static UNREAL: Profile = Profile {
    family: "Unreal engine",
    marks: &[
        Mark::Game("ut"),
        Mark::Game("ut2"),
        Mark::Game("ut2004"),
        Mark::Game("unreal"),
        Mark::Game("deusex"),
        Mark::Game("dnf"),
        Mark::Game("kiss"),
        Mark::Game("mobileforces"),
        Mark::Game("nerfarena"),
        Mark::Game("postal2"),
        Mark::Game("ravenshield"),
        Mark::Game("redorchestra"),
        Mark::Game("rune"),
        Mark::Game("tacticalops"),
        Mark::Game("undying"),
        Mark::Game("wot"),
        Mark::Has(&[Key::MinNetVer]),
        Mark::Has(&[Key::MinGameVer]),
    ],
    // UT99 has no codes, and no name contains ESC, so the codes of the later engine fit both.
    colours: Colours::UnrealEscape,
    time_limit: one(&[Key::TimeLimit]),
    time_left: one(&[Key::RemainingTime]),
    bots: one(&[Key::NumBots]),
    // UT2004 counts bots.
    players: PlayerRows {
        may_be_unlisted: true,
        ..DEFAULT.players
    },
    source: "UT99's script UdpServerQuery; Deaod/UT2004, IpDrv/UdpGamespyQuery.uc",
    ..DEFAULT
};

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
    use crate::text::listing::Listing;

    #[test]
    fn every_cell_is_the_listed_one() {
        let mut listing = Listing::default();
        listing.row(UNKNOWN.family, &UNKNOWN, None);
        for row in FAMILIES {
            listing.row(row.family, *row, Some(&DEFAULT));
        }
        listing.value("keys of an echo", &ECHO_KEYS);
        listing.value("regions", &REGIONS);
        listing.keys(Key::ALL.iter().map(|key| (key, key.as_str())));
        listing.check("gamespy1");
    }

    fn profile(raw: &[u8]) -> &'static str {
        let mut known = Known::new();
        for (key, value) in Fields::new(raw).pairs() {
            known.insert(key, value);
        }
        Profile::of(&known, false).family
    }

    #[test]
    fn families_are_told_by_their_marks() {
        for (raw, name) in [
            (&br"\gamename\ut\minnetver\432"[..], "Unreal engine"),
            (br"\gamename\some\minnetver\432", "Unreal engine"),
            (br"\gamename\bfield1942", "Battlefield 1942"),
            (br"\gamename\bfield1942d", "Battlefield 1942"),
            (br"\gamename\mohaa", "Medal of Honor"),
            (br"\pure\0\realism\1", "Medal of Honor"),
            (br"\hostname\x\gamevariant\SWAT 4", "SWAT 4"),
            (br"\hostname\x\gamevariant\SEF 2", "SWAT 4"),
            (br"\hostname\x\gamevariant\Elite\numrounds\5", "SWAT 4"),
            (br"\gamevariant\CTF\teamone\Phoenix", "Tribes: Vengeance"),
            (br"\gamename\serioussamse", "Serious Sam"),
            (br"\gamename\nolf2", "No One Lives Forever 2"),
            (br"\gamename\descent3", "Descent 3"),
            (br"\gamename\netpanzer", "netPanzer"),
            (br"\gamename\ccrenegade", "Command & Conquer: Renegade"),
            (br"\gamevariant\CTF", "unknown"),
            (br"\gamename\opflash", "unknown"),
            (b"", "unknown"),
            // The name of a game takes precedence over a key.
            (br"\gamename\ut\rankedserver\0\teamone\x", "Unreal engine"),
        ] {
            assert_eq!(profile(raw), name, "{}", raw.escape_ascii());
        }
        assert_eq!(Profile::of(&Known::new(), true).family, "Battlefield 1942");
    }

    #[test]
    fn each_row_has_marks_a_source_and_a_name_of_its_own() {
        for (index, row) in FAMILIES.iter().enumerate() {
            assert!(
                !row.marks.is_empty() && !row.source.is_empty(),
                "{}",
                row.family
            );
            let others = FAMILIES.iter().skip(index.saturating_add(1));
            assert!(others.into_iter().all(|other| other.family != row.family));
        }
    }

    /// The fields of the status with the keys of a row.
    fn fields(row: &Profile) -> Vec<(&'static str, Keys)> {
        let [one, two] = row.sides;
        vec![
            ("name", row.name),
            ("map", row.map),
            ("game", row.game),
            ("mod_name", row.mod_name),
            ("game_type", row.game_type),
            ("mutators", row.mutators),
            ("version", row.version),
            ("protocol_version", row.protocol_version),
            ("game_port", row.game_port),
            ("password", row.password),
            ("dedicated", row.dedicated),
            ("anti_cheat", row.anti_cheat),
            ("player_count", row.player_count),
            ("bot_count", row.bots),
            ("bot_count", row.everyone),
            ("max_players", row.max_players),
            ("private_slots", row.private_slots),
            ("time_limit", row.time_limit),
            ("time_left", row.time_left),
            ("score_limit", row.score_limit),
            ("teams", one.name),
            ("teams", one.score),
            ("teams", two.name),
            ("teams", two.score),
        ]
    }

    #[test]
    fn keys_are_found_in_any_case() {
        for key in Key::ALL {
            let name = key.as_str();
            assert_eq!(Key::find(name.as_bytes()), Some(*key));
            assert_eq!(Key::find(name.to_ascii_uppercase().as_bytes()), Some(*key));
        }
        assert_eq!(Key::find(b"nothing"), None);
    }

    /// Every game of the table that has a name in this protocol has a row, or needs none.
    #[cfg(feature = "games")]
    #[test]
    fn the_games_of_the_unreal_engine_have_its_row() {
        use crate::games::Game;
        use crate::protocol::Protocol;

        let names = Game::all().filter(|game| game.protocol == Protocol::GameSpy1);
        let mut unknown = Vec::new();
        for name in names.filter_map(|game| game.gamename) {
            let raw = format!(r"\gamename\{name}");
            if profile(raw.as_bytes()) == UNKNOWN.family {
                unknown.push(name);
            }
        }
        // No server of these games was captured or read, so they use the default.
        let expected = [
            "avp2",
            "bgate",
            "commandos3",
            "cneagle",
            "contractjack",
            "ddozenpt",
            "drakan",
            "dtr2",
            "giants",
            "globalops",
            "heretic2",
            "hd2",
            "homeworld2",
            "projectigi2r",
            "il2sturmovik",
            "ironstorm",
            "jbnightfire",
            "nfs6",
            "nitrofamily",
            "opflash",
            "opflashr",
            "rb6",
            "rally",
            "redline",
            "riseofnations",
            "roguespear",
            "sfc2op",
            "sfc3",
            "shogo",
            "sin",
            "sof",
            "teamfactor",
            "terminus",
            "turok2",
            "vietcong",
        ];
        assert_eq!(unknown, expected);
    }

    /// The lines of the page whose first cell is this field: the texts between backticks in the
    /// second.
    fn page_keys(field: &str) -> Vec<String> {
        let page = include_str!("mod.rs");
        let cell = format!("`{field}`");
        let rows = page.lines().filter_map(|line| line.strip_prefix("//! | "));
        let mut cells = rows.map(|row| row.split(" | "));
        let mut row = cells
            .find(|row| {
                row.clone()
                    .next()
                    .is_some_and(|fields| fields.contains(&cell))
            })
            .unwrap_or_else(|| panic!("no line for {field}"));
        let keys = row.nth(1).unwrap_or_default();
        let quoted = keys.split('`').skip(1).step_by(2);
        quoted.map(str::to_ascii_lowercase).collect()
    }

    #[test]
    fn the_page_has_the_keys_of_every_row() {
        for row in FAMILIES.iter().copied().chain([&UNKNOWN]) {
            for (field, keys) in fields(row) {
                let page = page_keys(field);
                for key in keys.all {
                    let key = key.as_str().to_ascii_lowercase();
                    assert!(page.contains(&key), "{}: {field} lacks {key}", row.family);
                }
            }
        }
    }

    #[test]
    fn the_page_has_every_row_with_its_source() {
        let page = include_str!("mod.rs");
        for row in FAMILIES {
            let start = format!("//! | {} | ", row.family);
            let mut lines = page.lines().filter(|line| line.starts_with(&start));
            assert!(
                lines.any(|line| line.contains(row.source)),
                "{}",
                row.family
            );
        }
    }
}
