//! The engines of the Quake 3 family: one row for each, with everything in which they differ.
//!
//! A row begins as a copy of another one and says what differs. [`DEFAULT`] is the row of a server that no mark
//! identifies: it reads every key and removes only colour codes that all known engines have.

use Mark::{Begins, Contains, Has, Is, Lacks, Number, NumberWithLetters};

use super::habits::{ConnectForm, Phrase, RconRule, RefusalReason};
use super::keys::{Key, Known};
use crate::model::Colours;
use crate::options::{Dialect, Engine};
use crate::text::number;

/// What the crate knows of one engine.
#[derive(Debug)]
pub(crate) struct Profile {
    /// The engine's name, for people.
    pub(crate) name: &'static str,
    /// What identifies a reply of the engine: all marks of one of the lists.
    pub(crate) marks: &'static [&'static [Mark]],
    /// The implementation that writes this engine's replies.
    pub(crate) engine: Engine,
    /// The colour codes of texts.
    pub(crate) colours: Colours,
    /// The meaning of the key `clients`.
    pub(crate) clients: Clients,
    /// Keys with the number of bots.
    pub(crate) bots: &'static [Key],
    /// Keys that say whether a password is needed, and the meaning of none.
    pub(crate) password: Password,
    /// Which slots an `infoResponse` counts as `sv_maxclients`.
    pub(crate) info_slots: InfoSlots,
    /// Whether a ping of 0 is a bot's, and only a bot's.
    pub(crate) bots_have_no_ping: bool,
    /// The numbered types of match.
    pub(crate) matches: &'static [Match],
    /// The values of `gamename` with which [`Self::matches`] are the game's own; empty if they always are.
    pub(crate) stock: &'static [&'static str],
    /// Folders of the game itself: such a name is no modification.
    pub(crate) base_folders: &'static [&'static str],
    /// The keys that the server side writes.
    pub(crate) written: Written,
    /// Words with which it refuses a client, in addition to those of [`DEFAULT`].
    pub(crate) refusals: &'static [Phrase],
    /// How it answers console commands.
    pub(crate) rcon: RconRule,
    /// The form of its `connect`; `None` if it cannot be sent.
    pub(crate) connect: Option<ConnectForm>,
    /// Where the facts of the row come from.
    pub(crate) source: &'static str,
}

impl PartialEq for Profile {
    /// Rows have names of their own.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A condition on the keys of a reply. Values are compared without regard to ASCII case.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mark {
    /// The reply has the key.
    Has(Key),
    /// The reply does not have the key.
    Lacks(Key),
    /// The value is this text.
    Is(Key, &'static str),
    /// The value begins with this text.
    Begins(Key, &'static str),
    /// The value contains this text.
    Contains(Key, &'static str),
    /// The protocol number is in this range.
    Number(u32, u32),
    /// Letters follow the protocol number.
    NumberWithLetters,
}

/// The meaning of the key `clients`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// Everyone who is on, bots included.
    Everyone,
    /// As [`Self::Everyone`]; an `infoResponse` leaves the key out where nobody is on. These are the keys of each.
    LeftOutAtZero(&'static [Key]),
    /// In an `infoResponse` people only: the number of bots comes on top.
    People,
}

/// How a reply says whether a password is needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Password {
    /// The keys.
    pub(crate) keys: &'static [Key],
    /// Whether an `infoResponse` without the keys is of a server without a password.
    pub(crate) is_left_out_without: bool,
}

/// Which slots an `infoResponse` counts as `sv_maxclients`. A status counts all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InfoSlots {
    /// Those that are not private.
    Public,
    /// All.
    All,
}

/// A numbered type of match.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Match {
    /// The value of `g_gametype` or `gametype`.
    pub(crate) number: u32,
    /// The game's own words for it.
    pub(crate) name: &'static str,
    /// The key of the limit that ends it.
    pub(crate) limit: Limit,
    /// Whether red and blue play against each other.
    pub(crate) has_teams: bool,
}

/// The key of the limit that ends a match.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// No limit of points is known.
    None,
    /// This key.
    Key(Key),
    /// This key, unless a modification runs.
    StockKey(Key),
}

/// The keys and lines that the server side writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    /// The name of the server in a status; an `infoResponse` has `hostname`.
    pub(crate) status_name: Key,
    /// The modification.
    pub(crate) modification: Modification,
    /// The game in an `infoResponse`.
    pub(crate) info_game: Key,
    /// Rules that an `infoResponse` repeats.
    pub(crate) info_rules: &'static [Key],
    /// The teams and their scores.
    pub(crate) teams: WrittenTeams,
    /// A key of the limit of points for any type of match.
    pub(crate) score_limit: Option<Key>,
    /// A player line.
    pub(crate) line: Line,
    /// Whether a status always has the key `clients`.
    pub(crate) counts_in_status: bool,
    /// Whether the reply has the keys of id's servers that the others lack: private slots, limits, anti-cheat.
    pub(crate) id_keys: bool,
}

/// How the server side names the modification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modification {
    /// `game` in an `infoResponse`; in a status `gamename`, and the game is `com_gamename`.
    Gamename,
    /// This key.
    Key(Key),
}

/// How the server side writes the scores of teams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WrittenTeams {
    /// Not at all.
    None,
    /// `qcstatus`, with the type of match.
    Qcstatus,
    /// `g_match_score`.
    MatchScore,
    /// `redscore` and `bluescore`.
    RedAndBlue,
}

/// The order of a player line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// `score ping "name"`
    ScorePing,
    /// `score ping team "name"`
    ScorePingTeam,
    /// `score ping team "name"`, without the team if no player has one.
    ScorePingTeamIfAny,
    /// `score ping "name" team`
    ScorePingNameTeam,
    /// `ping "name"`
    Ping,
}

impl Profile {
    /// The engine of a reply with these keys.
    pub(crate) fn of_reply(known: &Known<'_>) -> &'static Self {
        let fits = |profile: &&Self| profile.marks.iter().any(|marks| all_fit(marks, known));
        ALL.iter().find(fits).unwrap_or(&DEFAULT)
    }

    /// The engine that the server side imitates.
    pub(crate) const fn of_engine(engine: Engine) -> &'static Self {
        match engine {
            Engine::DarkPlaces => &DARK_PLACES,
            Engine::Warsow => &WARSOW,
            Engine::SoldierOfFortune2 => &SOLDIER_OF_FORTUNE_2,
            Engine::MedalOfHonor => &MEDAL_OF_HONOR,
            _ => &IOQUAKE3,
        }
    }

    /// The engine of a server with habits that a client must know before it asks.
    pub(crate) const fn of_dialect(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::MedalOfHonor => &MEDAL_OF_HONOR,
            Dialect::OpenJk => &JEDI_ACADEMY,
            _ => &DEFAULT,
        }
    }
}

fn all_fit(marks: &[Mark], known: &Known<'_>) -> bool {
    marks.iter().all(|mark| mark.fits(known))
}

impl Mark {
    fn fits(self, known: &Known<'_>) -> bool {
        let number = || number::leading(known.get(Key::Protocol)?);
        match self {
            Self::Has(key) => known.has(key),
            Self::Lacks(key) => !known.has(key),
            Self::Is(key, text) => known
                .get(key)
                .is_some_and(|value| value.eq_ignore_ascii_case(text.as_bytes())),
            Self::Begins(key, text) => known
                .get(key)
                .and_then(|value| value.get(..text.len()))
                .is_some_and(|head| head.eq_ignore_ascii_case(text.as_bytes())),
            Self::Contains(key, text) => known.get(key).is_some_and(|value| {
                value
                    .windows(text.len())
                    .any(|part| part.eq_ignore_ascii_case(text.as_bytes()))
            }),
            Self::Number(first, last) => {
                number().is_some_and(|number| (first..=last).contains(&number))
            }
            Self::NumberWithLetters => {
                let last = known.get(Key::Protocol).and_then(<[u8]>::last);
                number().is_some() && last.is_some_and(u8::is_ascii_alphabetic)
            }
        }
    }
}

/// A server that no mark identifies.
pub(crate) const DEFAULT: Profile = Profile {
    name: "unknown",
    marks: &[],
    engine: Engine::Quake3,
    colours: Colours::Caret,
    clients: Clients::Everyone,
    bots: &[Key::Bots],
    password: Password {
        keys: &[
            Key::GNeedpass,
            Key::Needpass,
            Key::Pswrd,
            Key::Password,
            Key::IsPrivate,
        ],
        is_left_out_without: false,
    },
    info_slots: InfoSlots::Public,
    bots_have_no_ping: false,
    matches: &[],
    stock: &[],
    base_folders: &[
        "baseq3", "baseoa", "basewsw", "basewf", "data", "id1", "main", "etmain",
    ],
    written: Written {
        status_name: Key::SvHostname,
        modification: Modification::Gamename,
        info_game: Key::Gamename,
        info_rules: &[],
        teams: WrittenTeams::None,
        score_limit: None,
        line: Line::ScorePing,
        counts_in_status: false,
        id_keys: true,
    },
    refusals: &[
        Phrase::begin("server is full", RefusalReason::ServerFull),
        Phrase::begin("server full", RefusalReason::ServerFull),
        Phrase::begin("server uses protocol version", RefusalReason::WrongProtocol),
        Phrase::begin("no or bad challenge", RefusalReason::BadChallenge),
        Phrase::begin("invalid challenge", RefusalReason::BadChallenge),
        Phrase::begin("invalid password", RefusalReason::Password),
        Phrase::begin("password", RefusalReason::Password),
        Phrase::begin("banned", RefusalReason::Banned),
        Phrase::begin("you are banned", RefusalReason::Banned),
        Phrase::begin("you're banned", RefusalReason::Banned),
        Phrase::begin("server is for high pings only", RefusalReason::Ping),
        Phrase::begin("server is for low pings only", RefusalReason::Ping),
        // The server forgets the challenge (id-Software/Quake-III-Arena, code/server/sv_client.c).
        Phrase::begin("awaiting cd key authorization", RefusalReason::TryAgain),
    ],
    rcon: RconRule {
        wrong_password: &["bad rconpassword."],
        wrong_password_begins: &[],
        no_password: &["no rconpassword set on the server."],
        refused: &[],
        line_before: None,
        before_message: None,
        is_silent_on_wrong_password: false,
        is_silent_without_output: false,
    },
    connect: Some(ConnectForm::Compressed),
    source: "",
};

const fn free_for_all(number: u32, name: &'static str) -> Match {
    Match {
        number,
        name,
        limit: Limit::Key(Key::FragLimit),
        has_teams: false,
    }
}

const fn team_match(number: u32, name: &'static str, limit: Limit) -> Match {
    Match {
        number,
        name,
        limit,
        has_teams: true,
    }
}

const fn solo_match(number: u32, name: &'static str) -> Match {
    Match {
        number,
        name,
        limit: Limit::None,
        has_teams: false,
    }
}

const fn duel(number: u32, name: &'static str) -> Match {
    Match {
        number,
        name,
        limit: Limit::Key(Key::DuelFragLimit),
        has_teams: false,
    }
}

const FRAGS: Limit = Limit::Key(Key::FragLimit);
const CAPTURES: Limit = Limit::Key(Key::CaptureLimit);
const STOCK_CAPTURES: Limit = Limit::StockKey(Key::CaptureLimit);

/// Every engine, the most specific marks first.
pub(crate) static ALL: [Profile; 37] = [
    URBAN_TERROR,
    IW4X,
    IW5,
    IW7,
    IW6X,
    S1X,
    H1,
    BOIII,
    FTE,
    DARK_PLACES,
    WARSOW,
    DAEMON,
    JEDI_OUTCAST_102,
    JEDI_OUTCAST,
    JEDI_ACADEMY,
    ELITE_FORCE,
    COD2,
    COD4X,
    COD4,
    COD1,
    MEDAL_OF_HONOR,
    SOLDIER_OF_FORTUNE_2,
    TREMULOUS_13,
    TREMULOUS,
    IORTCW,
    RTCW,
    ET_LEGACY,
    ENEMY_TERRITORY,
    SMOKIN_GUNS,
    WORLD_OF_PADMAN,
    SPEARMINT,
    OPEN_ARENA,
    QUAKE3E,
    QUAKE3,
    IOQUAKE3,
    UNNAMED_QUAKE3,
    COD_UNNAMED,
];

/// Types of match of Quake III Arena and its mission pack.
const QUAKE3_MATCHES: &[Match] = &[
    free_for_all(0, "Free For All"),
    free_for_all(1, "Tournament"),
    solo_match(2, "Single Player"),
    team_match(3, "Team Deathmatch", FRAGS),
    team_match(4, "Capture the Flag", CAPTURES),
    team_match(5, "One Flag CTF", STOCK_CAPTURES),
    team_match(6, "Overload", STOCK_CAPTURES),
    team_match(7, "Harvester", STOCK_CAPTURES),
];

/// id's Quake III Arena 1.32.
pub(crate) const QUAKE3: Profile = Profile {
    name: "Quake III Arena",
    marks: &[&[Begins(Key::Version, "Q3 1.")]],
    colours: Colours::Caret,
    matches: QUAKE3_MATCHES,
    stock: &["Quake3Arena", "baseq3", "missionpack", "baseoa"],
    base_folders: &["baseq3", "baseoa"],
    source: "id-Software/Quake-III-Arena code/server/sv_main.c, code/game/q_shared.h, g_cmds.c",
    ..DEFAULT
};

/// Quake3e.
pub(crate) const QUAKE3E: Profile = Profile {
    name: "Quake3e",
    marks: &[&[Begins(Key::Version, "Q3 1.32e")]],
    refusals: &[Phrase::begin(
        "reconnecting, please wait",
        RefusalReason::TryAgain,
    )],
    rcon: RconRule {
        is_silent_without_output: true,
        ..DEFAULT.rcon
    },
    source: "ec-/Quake3e code/server/sv_main.c, code/qcommon/q_shared.h",
    ..QUAKE3
};

/// An `infoResponse` of id's engine or of Quake3e, which name no game.
pub(crate) const UNNAMED_QUAKE3: Profile = Profile {
    name: "Quake III Arena or Quake3e",
    marks: &[&[
        Lacks(Key::Gamename),
        Lacks(Key::Version),
        Number(66, 68),
        Has(Key::Hostname),
    ]],
    source: "id-Software/Quake-III-Arena code/server/sv_main.c; ec-/Quake3e code/server/sv_main.c",
    ..QUAKE3
};

/// ioquake3, and games on it that have no row of their own.
pub(crate) const IOQUAKE3: Profile = Profile {
    name: "ioquake3",
    marks: &[
        &[Begins(Key::Version, "ioq3")],
        &[Is(Key::ComGamename, "Quake3Arena")],
        &[Is(Key::Gamename, "Quake3Arena")],
        &[Is(Key::Gamename, "baseq3")],
        &[Is(Key::Gamename, "missionpack")],
        &[Is(Key::Gamename, "baseoa")],
        &[Has(Key::Gamename), Has(Key::GHumanPlayers)],
    ],
    colours: Colours::CaretAlphanumeric,
    refusals: &[Phrase::begin("game mismatch", RefusalReason::WrongGame)],
    source: "ioquake/ioq3 code/server/sv_main.c, code/qcommon/q_shared.h",
    ..QUAKE3
};

/// OpenArena's own engine.
pub(crate) const OPEN_ARENA: Profile = Profile {
    name: "OpenArena",
    marks: &[
        &[Begins(Key::Version, "ioq3+oa")],
        &[Is(Key::Game, "baseoa")],
    ],
    source: "OpenArena/engine code/qcommon/q_shared.h",
    ..IOQUAKE3
};

/// Urban Terror.
pub(crate) const URBAN_TERROR: Profile = Profile {
    name: "Urban Terror",
    marks: &[
        &[
            Begins(Key::Version, "ioQ3"),
            Contains(Key::Version, " urt "),
        ],
        &[Begins(Key::Gamename, "q3ut")],
        &[Begins(Key::Gamename, "q3urt")],
        &[Begins(Key::Game, "q3ut")],
        &[Begins(Key::Game, "q3urt")],
    ],
    colours: Colours::CaretDigit,
    password: Password {
        is_left_out_without: true,
        ..DEFAULT.password
    },
    matches: &[
        free_for_all(0, "Free For All"),
        solo_match(1, "Last Man Standing"),
        team_match(3, "Team Deathmatch", FRAGS),
        team_match(4, "Team Survivor", Limit::None),
        team_match(5, "Follow the Leader", Limit::None),
        team_match(6, "Capture and Hold", Limit::None),
        team_match(7, "Capture the Flag", CAPTURES),
        team_match(8, "Bomb Mode", Limit::None),
        solo_match(9, "Jump Mode"),
        team_match(10, "Freeze Tag", Limit::None),
        solo_match(11, "Gun Game"),
    ],
    stock: &[],
    base_folders: &["q3ut4", "q3ut3", "q3ut2"],
    written: Written {
        info_game: Key::Game,
        info_rules: &[Key::Auth, Key::AuthEnable, Key::ModVersion],
        ..DEFAULT.written
    },
    source: "FrozenSand/ioq3-for-UrbanTerror-4 code/server/sv_main.c, code/qcommon/q_shared.h; \
             types of match as the plugin PowerAdmin of B3 names them",
    ..IOQUAKE3
};

/// Types of match of Return to Castle Wolfenstein.
const WOLFENSTEIN_MATCHES: &[Match] = &[
    team_match(5, "Objective", Limit::None),
    team_match(6, "Stopwatch", Limit::None),
    team_match(7, "Checkpoint", Limit::None),
    team_match(8, "Capture and Hold", Limit::None),
];

/// Return to Castle Wolfenstein 1.41.
pub(crate) const RTCW: Profile = Profile {
    name: "Return to Castle Wolfenstein",
    marks: &[
        &[Begins(Key::Version, "Wolf ")],
        &[Is(Key::Gamename, "wolfmp")],
    ],
    matches: WOLFENSTEIN_MATCHES,
    base_folders: &["main"],
    source: "id-Software/RTCW-MP src/server/sv_main.c, src/game/q_shared.h",
    ..DEFAULT
};

/// iortcw.
pub(crate) const IORTCW: Profile = Profile {
    name: "iortcw",
    marks: &[
        &[Begins(Key::Version, "iortcw")],
        &[Is(Key::ComGamename, "wolfmp")],
        &[Is(Key::Gamename, "wolfmp"), Has(Key::GHumanPlayers)],
    ],
    colours: Colours::CaretAlphanumeric,
    source: "iortcw/iortcw MP/code/server/sv_main.c, MP/code/qcommon/q_shared.c, bg_public.h",
    ..RTCW
};

/// Types of match of Enemy Territory.
const ENEMY_TERRITORY_MATCHES: &[Match] = &[
    team_match(2, "Objective", Limit::None),
    team_match(3, "Stopwatch", Limit::None),
    team_match(4, "Campaign", Limit::None),
    team_match(5, "Last Man Standing", Limit::None),
    team_match(6, "Map Voting", Limit::None),
];

/// Wolfenstein: Enemy Territory 2.60.
pub(crate) const ENEMY_TERRITORY: Profile = Profile {
    name: "Enemy Territory",
    marks: &[
        &[Begins(Key::Version, "ET ")],
        &[Is(Key::Gamename, "et")],
        &[Is(Key::Gamename, "etmain")],
    ],
    bots: &[Key::OmnibotPlaying],
    matches: ENEMY_TERRITORY_MATCHES,
    base_folders: &["etmain"],
    refusals: &[Phrase::begin(
        "protocol mismatch between client and server",
        RefusalReason::WrongProtocol,
    )],
    source: "id-Software/Enemy-Territory src/server/sv_main.c, src/game/q_shared.h, bg_public.h; \
             etlegacy/etlegacy src/game/g_etbot_interface.cpp",
    ..DEFAULT
};

/// ET: Legacy.
pub(crate) const ET_LEGACY: Profile = Profile {
    name: "ET: Legacy",
    marks: &[&[Begins(Key::Version, "ET Legacy")]],
    rcon: RconRule {
        wrong_password: &["bad rconpassword"],
        no_password: &["no rconpassword set on the server"],
        ..DEFAULT.rcon
    },
    source: "etlegacy/etlegacy src/server/sv_main.c, src/qcommon/q_shared.h, src/game/bg_public.h",
    ..ENEMY_TERRITORY
};

/// Smokin' Guns.
pub(crate) const SMOKIN_GUNS: Profile = Profile {
    name: "Smokin' Guns",
    marks: &[
        &[Begins(Key::Version, "Smokin' Guns")],
        &[Is(Key::Gamename, "smokinguns")],
        &[Is(Key::ComGamename, "smokinguns")],
    ],
    matches: &[
        solo_match(1, "Duel"),
        team_match(4, "Round Teamplay", Limit::None),
        team_match(5, "Bank Robbery", Limit::None),
    ],
    base_folders: &["smokinguns"],
    source: "smokin-guns/SmokinGuns code/qcommon/q_shared.h, code/game/bg_public.h",
    ..DEFAULT
};

/// World of Padman.
pub(crate) const WORLD_OF_PADMAN: Profile = Profile {
    name: "World of Padman",
    marks: &[
        &[Begins(Key::Version, "wop")],
        &[Is(Key::Gamename, "WorldofPadman")],
        &[Is(Key::ComGamename, "WorldofPadman")],
    ],
    colours: Colours::CaretAlphanumeric,
    matches: &[
        solo_match(3, "Spray"),
        solo_match(4, "Last Pad Standing"),
        solo_match(5, "Killerduck"),
        team_match(6, "Team Deathmatch", Limit::None),
        team_match(7, "Freeze Tag", Limit::None),
        team_match(8, "Capture the Flag", Limit::None),
        team_match(9, "One Flag CTF", Limit::None),
        team_match(10, "Team Spray", Limit::None),
        team_match(11, "Balloon", Limit::None),
    ],
    base_folders: &["wop"],
    source: "PadWorld-Entertainment/worldofpadman code/qcommon/q_shared.c, code/game/bg_public.h",
    ..DEFAULT
};

/// Spearmint.
pub(crate) const SPEARMINT: Profile = Profile {
    name: "Spearmint",
    marks: &[
        &[Begins(Key::Version, "Spearmint")],
        &[Is(Key::Gamename, "Spearmint")],
        &[Is(Key::ComGamename, "Spearmint")],
    ],
    source: "clover-moe/spearmint code/server/sv_main.c, code/qcommon/q_shared.h",
    ..DEFAULT
};

/// Jedi Outcast 1.04.
pub(crate) const JEDI_OUTCAST: Profile = Profile {
    name: "Jedi Outcast 1.04",
    marks: &[
        &[Begins(Key::Version, "JK2MP")],
        &[Has(Key::Jk2mv)],
        &[Has(Key::TrueJedi), Number(16, 16)],
        &[Has(Key::JediVmerc), Number(16, 16)],
    ],
    colours: Colours::CaretDigit,
    matches: &[
        free_for_all(0, "Free For All"),
        free_for_all(1, "Holocron FFA"),
        free_for_all(2, "Jedi Master"),
        duel(3, "Duel"),
        solo_match(4, "Single Player"),
        team_match(5, "Team FFA", FRAGS),
        team_match(7, "Capture the Flag", CAPTURES),
        team_match(8, "Capture the Ysalamiri", CAPTURES),
    ],
    base_folders: &["base", "basejk"],
    refusals: &[
        Phrase::begin("please wait...", RefusalReason::TryAgain),
        Phrase::begin("incorrect challenge", RefusalReason::BadChallenge),
        // Names of texts that the client has.
        Phrase::begin("@@@server_is_full", RefusalReason::ServerFull),
        Phrase::begin("@@@invalid_escape", RefusalReason::Password),
    ],
    rcon: RconRule {
        no_password: &["no rconpassword set."],
        ..DEFAULT.rcon
    },
    source: "mvdevs/jk2mv src/qcommon/q_shared.h, src/server/sv_main.cpp",
    ..DEFAULT
};

/// Jedi Outcast 1.02 and 1.03.
pub(crate) const JEDI_OUTCAST_102: Profile = Profile {
    name: "Jedi Outcast 1.02",
    marks: &[
        &[Begins(Key::Version, "JK2MP: v1.02")],
        &[Begins(Key::Version, "JK2MP: v1.03")],
        &[Has(Key::Jk2mv), Number(15, 15)],
        &[Has(Key::TrueJedi), Number(15, 15)],
        &[Has(Key::JediVmerc), Number(15, 15)],
    ],
    ..JEDI_OUTCAST
};

/// Jedi Academy.
pub(crate) const JEDI_ACADEMY: Profile = Profile {
    name: "Jedi Academy",
    marks: &[
        &[Begins(Key::Version, "JAmp")],
        &[Begins(Key::Version, "OpenJK")],
        &[Has(Key::TrueJedi)],
        &[Has(Key::JediVmerc)],
    ],
    colours: Colours::CaretDigit,
    matches: &[
        free_for_all(0, "Free For All"),
        free_for_all(1, "Holocron FFA"),
        free_for_all(2, "Jedi Master"),
        duel(3, "Duel"),
        duel(4, "Power Duel"),
        solo_match(5, "Single Player"),
        team_match(6, "Team FFA", FRAGS),
        team_match(7, "Siege", Limit::None),
        team_match(8, "Capture the Flag", CAPTURES),
        team_match(9, "Capture the Ysalamiri", CAPTURES),
    ],
    base_folders: &["base", "basejka"],
    refusals: JEDI_OUTCAST.refusals,
    rcon: JEDI_OUTCAST.rcon,
    source: "JACoders/OpenJK shared/qcommon/q_color.h, codemp/server/sv_main.cpp",
    ..DEFAULT
};

/// Soldier of Fortune II.
pub(crate) const SOLDIER_OF_FORTUNE_2: Profile = Profile {
    name: "Soldier of Fortune II",
    marks: &[
        &[Begins(Key::Version, "SOF2MP")],
        &[Begins(Key::Gamename, "sof2")],
        &[Number(2001, 2004)],
    ],
    engine: Engine::SoldierOfFortune2,
    base_folders: &["base", "mp"],
    written: Written {
        teams: WrittenTeams::RedAndBlue,
        score_limit: Some(Key::ScoreLimit),
        line: Line::ScorePingTeam,
        ..DEFAULT.written
    },
    source: "ensiform/SOF2MPSDK code/game/q_shared.h; captured",
    ..DEFAULT
};

/// Star Trek: Voyager – Elite Force.
pub(crate) const ELITE_FORCE: Profile = Profile {
    name: "Elite Force",
    marks: &[
        &[Contains(Key::Version, "ST:V HM")],
        &[Begins(Key::Version, "cMod HM")],
        &[Begins(Key::Version, "Lilium Voyager HM")],
        &[Is(Key::Gamename, "EliteForce")],
        &[Is(Key::ComGamename, "EliteForce")],
    ],
    colours: Colours::CaretAlphanumeric,
    base_folders: &["baseef"],
    connect: Some(ConnectForm::Plain),
    source: "Chomenor/ioef-cmod code/server/sv_main.c, code/qcommon/q_shared.c",
    ..DEFAULT
};

/// Medal of Honor: Allied Assault, Spearhead, Breakthrough.
pub(crate) const MEDAL_OF_HONOR: Profile = Profile {
    name: "Medal of Honor",
    marks: &[&[Has(Key::GGametypeString)], &[Has(Key::GametypeString)]],
    engine: Engine::MedalOfHonor,
    colours: Colours::CaretAlphanumeric,
    matches: &[
        free_for_all(1, "Free For All"),
        team_match(2, "Team Deathmatch", FRAGS),
        team_match(3, "Round Based", Limit::None),
        team_match(4, "Objective", Limit::None),
        team_match(5, "Tug of War", Limit::None),
        team_match(6, "Liberation", Limit::None),
    ],
    base_folders: &["main", "mainta", "maintt"],
    written: Written {
        line: Line::Ping,
        ..DEFAULT.written
    },
    connect: Some(ConnectForm::DirectionByte),
    source: "openmoh/openmohaa code/server/sv_main.c, code/qcommon/q_shared.h, bg_public.h",
    ..DEFAULT
};

/// Call of Duty and United Offensive.
pub(crate) const COD1: Profile = Profile {
    name: "Call of Duty",
    marks: &[
        &[Has(Key::CodExtended)],
        &[Has(Key::Hw), Number(1, 5)],
        &[Has(Key::Hw), Number(21, 22)],
        &[Begins(Key::Gamename, "CoD:")],
        &[Begins(Key::Gamename, "Call of Duty")],
        &[Begins(Key::ShortVersion, "1."), Lacks(Key::GGametypeString)],
    ],
    colours: Colours::CaretDigit,
    base_folders: &["main", "uo"],
    // Names of texts that the client has.
    refusals: &[
        Phrase::begin("exe_serverisfull", RefusalReason::ServerFull),
        Phrase::begin("exe_bad_challenge", RefusalReason::BadChallenge),
        Phrase::begin("exe_err_high_ping_only", RefusalReason::Ping),
        Phrase::begin("exe_err_low_ping_only", RefusalReason::Ping),
        Phrase::begin("exe_err_bad_cdkey", RefusalReason::CdKey),
        Phrase::begin("exe_err_cdkey_in_use", RefusalReason::CdKey),
        Phrase::begin("exe_server_is_different_ver", RefusalReason::WrongProtocol),
        Phrase::begin("exe_err_banned", RefusalReason::Banned),
        Phrase::within("permanently banned", RefusalReason::Banned),
        Phrase::within("temporarily banned", RefusalReason::Banned),
    ],
    source: "xtnded/codextended sv_main.c; captured",
    ..DEFAULT
};

/// Call of Duty 2.
pub(crate) const COD2: Profile = Profile {
    name: "Call of Duty 2",
    marks: &[
        &[Is(Key::Gamename, "Call of Duty 2")],
        &[Has(Key::Hw), Number(115, 120)],
    ],
    clients: Clients::LeftOutAtZero(&[Key::Protocol, Key::SvMaxclients, Key::Pure, Key::Hw]),
    password: Password {
        is_left_out_without: true,
        ..DEFAULT.password
    },
    base_folders: &["main"],
    rcon: RconRule {
        wrong_password: &["invalid password."],
        no_password: &["the server must set 'rcon_password'"],
        ..DEFAULT.rcon
    },
    connect: Some(ConnectForm::Plain),
    source: "voron00/CoD2rev_Server src/server/sv_main_mp.cpp, src/universal/q_shared.cpp",
    ..COD1
};

/// Call of Duty 4.
pub(crate) const COD4: Profile = Profile {
    name: "Call of Duty 4",
    marks: &[&[Is(Key::Gamename, "Call of Duty 4")]],
    connect: Some(ConnectForm::Plain),
    source: "captured",
    ..COD1
};

/// CoD4x.
pub(crate) const COD4X: Profile = Profile {
    name: "CoD4x",
    marks: &[
        &[Begins(Key::Version, "CoD4 X")],
        &[Has(Key::Build), Begins(Key::ShortVersion, "x")],
    ],
    refusals: &[Phrase::within(
        "players wait before you",
        RefusalReason::Queued,
    )],
    rcon: RconRule {
        wrong_password: &["bad rcon"],
        no_password: &["no rconpassword set on server or password is shorter"],
        ..DEFAULT.rcon
    },
    source: "callofduty4x/CoD4x_Server src/sv_main.c",
    ..COD4
};

/// An `infoResponse` of a Call of Duty that its protocol number does not tell.
pub(crate) const COD_UNNAMED: Profile = Profile {
    name: "Call of Duty of an unknown number",
    marks: &[&[Has(Key::Hw)]],
    clients: Clients::LeftOutAtZero(&[Key::Protocol, Key::SvMaxclients, Key::Pure, Key::Hw]),
    source: "captured",
    ..COD1
};

/// Modern Warfare 2 with IW4x.
pub(crate) const IW4X: Profile = Profile {
    name: "IW4x",
    marks: &[&[Is(Key::Gamename, "IW4")]],
    colours: Colours::ModernWarfare2,
    clients: Clients::People,
    info_slots: InfoSlots::All,
    rcon: RconRule {
        is_silent_on_wrong_password: true,
        ..DEFAULT.rcon
    },
    connect: None,
    source: "iw4x/iw4x-client src/Components/Modules/Party.cpp, ServerInfo.cpp, TextRenderer.cpp",
    ..DEFAULT
};

/// Modern Warfare 3: Plutonium, IW5M.
pub(crate) const IW5: Profile = Profile {
    name: "Modern Warfare 3",
    marks: &[&[Is(Key::Gamename, "IW5")], &[Is(Key::Gamename, "PIW5")]],
    info_slots: InfoSlots::All,
    connect: None,
    source: "ahmad009/IW5M-1.9 Steam/GSServer.cpp",
    ..DEFAULT
};

/// Ghosts with IW6x.
pub(crate) const IW6X: Profile = Profile {
    name: "IW6x",
    marks: &[&[Is(Key::Gamename, "IW6")]],
    colours: Colours::ModernWarfare2,
    info_slots: InfoSlots::All,
    rcon: RconRule {
        wrong_password: &["invalid rcon password"],
        before_message: Some(b' '),
        ..DEFAULT.rcon
    },
    connect: None,
    source: "HeartbeatingForCenturies/iw6x-client src/client/component/party.cpp, colors.cpp; \
             s1x-client; auroramod/h1-mod; Ezz-lol/boiii-free getinfo.cpp",
    ..DEFAULT
};

/// Advanced Warfare with S1x.
pub(crate) const S1X: Profile = Profile {
    name: "S1x",
    marks: &[&[Is(Key::Gamename, "S1")]],
    rcon: RconRule {
        before_message: None,
        ..IW6X.rcon
    },
    source: "HeartbeatingForCenturies/s1x-client src/client/component/party.cpp, rcon.cpp, colors.cpp",
    ..IW6X
};

/// Modern Warfare Remastered with H1-Mod.
pub(crate) const H1: Profile = Profile {
    name: "H1-Mod",
    marks: &[&[Is(Key::Gamename, "H1")]],
    rcon: IW7.rcon,
    source: "auroramod/h1-mod src/client/component/party.cpp, rcon.cpp",
    ..IW6X
};

/// Black Ops III with BOIII or T7x.
pub(crate) const BOIII: Profile = Profile {
    name: "BOIII",
    marks: &[&[Is(Key::Gamename, "T7")]],
    rcon: RconRule {
        is_silent_on_wrong_password: true,
        ..DEFAULT.rcon
    },
    source: "Ezz-lol/boiii-free src/client/component/getinfo.cpp, rcon.cpp",
    ..IW6X
};

/// Infinite Warfare with iw7-mod.
pub(crate) const IW7: Profile = Profile {
    name: "iw7-mod",
    marks: &[&[Is(Key::Gamename, "IW7")]],
    rcon: RconRule {
        wrong_password: &["invalid rcon password"],
        refused: &["invalid rcon request"],
        ..DEFAULT.rcon
    },
    source: "auroramod/iw7-mod src/client/component/party.cpp, colors.cpp",
    ..IW6X
};

/// Tremulous 1.1 and 1.2.
pub(crate) const TREMULOUS: Profile = Profile {
    name: "Tremulous 1.2",
    marks: &[
        &[Begins(Key::Version, "tremulous")],
        &[Number(69, 70), Is(Key::Gamename, "base")],
    ],
    colours: Colours::CaretAlphanumeric,
    base_folders: &["base"],
    source: "darklegion/tremulous src/qcommon/q_shared.h",
    ..DEFAULT
};

/// Tremulous 1.3.
pub(crate) const TREMULOUS_13: Profile = Profile {
    name: "Tremulous 1.3",
    marks: &[
        &[Begins(Key::Version, "tremulous 1.3")],
        &[Is(Key::Gamename, "Tremulous")],
    ],
    source: "GrangerHub/tremulous src/server/sv_main.cpp, src/qcommon/q_shared.h",
    ..TREMULOUS
};

/// The Daemon engine of Unvanquished.
pub(crate) const DAEMON: Profile = Profile {
    name: "Daemon",
    marks: &[
        &[Is(Key::Gamename, "unv")],
        &[Begins(Key::Version, "Unvanquished")],
        &[Has(Key::DaemonVersion)],
    ],
    colours: Colours::Daemon,
    clients: Clients::People,
    refusals: ENEMY_TERRITORY.refusals,
    rcon: RconRule {
        wrong_password: &["bad password"],
        no_password: &[
            "no rcon.server.password set on the server",
            "rcon.server.password not set",
        ],
        is_silent_without_output: true,
        ..DEFAULT.rcon
    },
    connect: Some(ConnectForm::Escaped),
    source: "DaemonEngine/Daemon src/engine/server/sv_main.cpp, src/common/Color.cpp",
    ..DEFAULT
};

/// DarkPlaces: Nexuiz, Xonotic and others.
pub(crate) const DARK_PLACES: Profile = Profile {
    name: "DarkPlaces",
    marks: &[
        &[Has(Key::Qcstatus)],
        // Mods of Soldier of Fortune II have `modname` too.
        &[Has(Key::Modname), Number(3, 3)],
    ],
    engine: Engine::DarkPlaces,
    colours: Colours::DarkPlaces,
    info_slots: InfoSlots::All,
    bots_have_no_ping: true,
    base_folders: &["data", "id1"],
    written: Written {
        status_name: Key::Hostname,
        modification: Modification::Key(Key::Modname),
        teams: WrittenTeams::Qcstatus,
        line: Line::ScorePingTeamIfAny,
        counts_in_status: true,
        id_keys: false,
        ..DEFAULT.written
    },
    refusals: &[
        Phrase::begin("wrong game version", RefusalReason::WrongProtocol),
        Phrase::begin("error: protocol mismatch", RefusalReason::WrongProtocol),
    ],
    rcon: RconRule {
        wrong_password_begins: &["server denied rcon access to"],
        ..DEFAULT.rcon
    },
    connect: Some(ConnectForm::InfoString),
    source: "xonotic/darkplaces netconn.c, gl_draw.c, common.c",
    ..DEFAULT
};

/// FTE.
pub(crate) const FTE: Profile = Profile {
    name: "FTE",
    marks: &[&[NumberWithLetters]],
    bots_have_no_ping: false,
    base_folders: &["id1", "qw", "fte"],
    rcon: RconRule {
        is_silent_on_wrong_password: true,
        is_silent_without_output: true,
        ..DEFAULT.rcon
    },
    connect: None,
    source: "fte-team/fteqw engine/server/sv_main.c, engine/common/common.c",
    ..DARK_PLACES
};

/// qfusion: Warsow and Warfork.
pub(crate) const WARSOW: Profile = Profile {
    name: "qfusion",
    marks: &[
        &[Is(Key::Gamename, "Warsow")],
        &[Is(Key::Gamename, "Warfork")],
        &[Begins(Key::FsGame, "basew")],
        &[Has(Key::SvMmEnable)],
    ],
    engine: Engine::Warsow,
    colours: Colours::DarkPlaces,
    info_slots: InfoSlots::All,
    base_folders: &["basewsw", "basewf"],
    written: Written {
        modification: Modification::Key(Key::FsGame),
        teams: WrittenTeams::MatchScore,
        line: Line::ScorePingNameTeam,
        counts_in_status: true,
        id_keys: false,
        ..DEFAULT.written
    },
    refusals: &[Phrase::begin(
        "server and client don't have the same version",
        RefusalReason::WrongProtocol,
    )],
    rcon: RconRule {
        wrong_password: &["bad rcon_password."],
        line_before: Some("rcon packet "),
        ..DEFAULT.rcon
    },
    connect: Some(ConnectForm::Arguments),
    source: "Warsow/qfusion source/server/sv_main.cpp; viciious/qfusion source/gameshared/q_shared.c",
    ..DEFAULT
};

/// How servers announce themselves to a master.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heartbeat {
    /// The word after `heartbeat`.
    pub(crate) tag: &'static str,
    /// The game. Without one, the infostring must name it.
    pub(crate) game: Option<&'static str>,
    /// The list of the servers.
    pub(crate) list: ListRule,
}

/// The form of a list of servers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ListRule {
    /// Whether clients expect empty and full servers, even if they do not ask for them.
    pub(crate) has_all: bool,
    /// Whether the addresses of a short list are in hexadecimal digits.
    pub(crate) is_hexadecimal: bool,
}

const fn heartbeat(tag: &'static str, game: Option<&'static str>) -> Heartbeat {
    Heartbeat {
        tag,
        game,
        list: ListRule {
            has_all: false,
            is_hexadecimal: false,
        },
    }
}

/// The heartbeats of each engine (dpmaster, src/games.c). Those of Elite Force are pairs, and its clients read lists in
/// hexadecimal digits only (Chomenor/ioef-cmod, code/server/sv_main.c, code/client/cl_main.c).
pub(crate) const HEARTBEATS: [Heartbeat; 5] = [
    heartbeat("DarkPlaces", None),
    heartbeat("QuakeArena-1", Some("Quake3Arena")),
    heartbeat("Wolfenstein-1", Some("wolfmp")),
    Heartbeat {
        list: ListRule {
            has_all: true,
            is_hexadecimal: false,
        },
        ..heartbeat("EnemyTerritory-1", Some("et"))
    },
    Heartbeat {
        list: ListRule {
            has_all: false,
            is_hexadecimal: true,
        },
        ..heartbeat("STEF1", Some("EliteForce"))
    },
];
