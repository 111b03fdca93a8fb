//! The engines of the Quake 3 family: one row for each, with everything in which they differ.
//!
//! A row is a copy of one other row with its own differences. [`DEFAULT`] is for servers that no
//! mark identifies: it reads every key, and removes only the colour codes that all known engines
//! have.

use std::fmt;

use super::wire::siblings::{Family, MAX_PART, MAX_PIECE, MAX_STATUS};
use crate::meaning::{Entry, Field, Form, Key, Known, Mark, Row};
use crate::meaning::{all, begins, entries, has, is, key, lacks, number};
use crate::model::{Charset, Colours, Style};
use crate::options::Detail;

/// The known properties of one engine.
#[derive(Clone)]
pub(crate) struct Engine {
    /// The keys, and the style of texts.
    pub(crate) row: Row,
    /// The family of its replies.
    pub(crate) family: Family,
    /// The lengths at which a status has no space for another player line.
    pub(crate) limits: TextLimits,
    /// The names of the game and its modification.
    pub(crate) names: Names,
    /// The meaning of the key `clients`.
    pub(crate) clients: Clients,
    /// The replies that have no number of bots if it is 0.
    pub(crate) bots_left_out_if_none: Replies,
    /// The replies that have no key of a password if the server has none.
    pub(crate) password_left_out: Replies,
    /// Which slots an `infoResponse` counts as `sv_maxclients`.
    pub(crate) info_slots: InfoSlots,
    /// Whether a ping of 0 is a bot's, and only a bot's.
    pub(crate) bots_have_no_ping: bool,
    /// The prefix of bots' names, if their lines have no other mark.
    pub(crate) bot_prefix: Option<&'static str>,
    /// How the lines of players show who only watches.
    pub(crate) spectators: SpectatorMark,
    /// The score that means that a player has none.
    pub(crate) no_score: Option<i64>,
    /// The ping that means that it is unknown. In every engine, a negative one means that.
    pub(crate) no_ping: Option<i32>,
    /// The numbered types of match.
    pub(crate) matches: &'static [Match],
    /// The values of `gamename` with which [`Self::matches`] are the game's own; empty if they
    /// always are.
    pub(crate) stock: &'static [&'static str],
}

/// Its name: a game, whose `Debug` users see, has an engine.
impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row.name)
    }
}

/// The type of match in words, and its number.
pub(crate) const MATCH_WORDS: Field = Field::Own(0);
pub(crate) const MATCH_NUMBER: Field = Field::Own(1);
/// A character for each client slot: `-` for a slot without a bot.
pub(crate) const BOT_SLOTS: Field = Field::Own(2);
/// The time that has passed in the match, and its limit.
pub(crate) const MATCH_TIME: Field = Field::Own(3);

impl PartialEq for Engine {
    fn eq(&self, other: &Self) -> bool {
        self.row == other.row
    }
}

/// The lengths at which servers leave out the rest of a text without a word. Where servers that
/// cannot be told apart have different ones, all are listed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextLimits {
    /// The limits of texts after the word of the reply, in bytes, in ascending order. No text
    /// exceeds the last one; none if a full server stays far below.
    lengths: &'static [usize],
    /// The maximum length of what is written at once, such as a player line, in bytes.
    piece: usize,
}

impl TextLimits {
    /// No reply reaches a limit.
    pub(crate) const NONE: Self = Self {
        lengths: &[],
        piece: 0,
    };

    /// Whether a server can have left out the rest of a text of this length: its limit is the first
    /// one that the text does not exceed.
    pub(crate) fn may_cut_after(&self, length: usize) -> bool {
        let [.., last] = self.lengths else {
            return false;
        };
        let mut limits = self.lengths.iter();
        let limit = limits.find(|limit| length <= **limit).unwrap_or(last);
        length > limit.saturating_sub(self.piece)
    }

    /// Whether a text of this length can be of several datagrams, if servers go on in another one.
    pub(crate) fn may_span_datagrams(&self, length: usize) -> bool {
        let shortest = self.lengths.first();
        shortest.is_some_and(|shortest| length > shortest.saturating_sub(self.piece))
    }
}

/// The meaning of the key `clients`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// Everyone on the server, bots included.
    Everyone,
    /// As [`Self::Everyone`], but an `infoResponse` of an empty server lacks the key. A complete
    /// `infoResponse` has all of these keys, next to those that identify the engine.
    LeftOutAtZero(&'static [Key]),
    /// In an `infoResponse`, only people: the reader adds the number of bots.
    People,
}

/// How the lines of players show who only watches. Lines of QuakeWorld have marks of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpectatorMark {
    None,
    /// By this score, or by a word at the end of a score in words.
    Score(i64, &'static str),
    /// By this team.
    Team(i32),
}

impl SpectatorMark {
    /// Whether a player with this score, which has this text, only watches.
    #[inline]
    pub(crate) fn in_score(self, score: Option<i64>, text: Option<&[u8]>) -> Option<bool> {
        match (self, text) {
            (Self::Score(_, word), Some(text)) if text.ends_with(word.as_bytes()) => Some(true),
            (Self::Score(mark, _), _) => score.map(|score| score == mark),
            _ => None,
        }
    }

    /// Whether a player in this team only watches.
    #[inline]
    pub(crate) fn in_team(self, team: Option<i32>) -> Option<bool> {
        match self {
            Self::Team(mark) => team.map(|team| team == mark),
            _ => None,
        }
    }
}

/// Some kinds of replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replies {
    None,
    /// Every `infoResponse`.
    Info,
    /// Every status.
    Status,
    All,
}

impl Replies {
    pub(crate) const fn include(self, detail: Detail) -> bool {
        match self {
            Self::None => false,
            Self::Info => matches!(detail, Detail::Short),
            Self::Status => matches!(detail, Detail::Full),
            Self::All => true,
        }
    }
}

/// How a reply names the game and its modification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// The game in `com_gamename` or `gamename`, and its modification.
    GameAndModification,
    /// The same, but `game` is always the folder of the modification.
    GameAndFolder,
    /// The game has this name. In a status, the key names the game module, which is the
    /// modification; in an `infoResponse`, it may name the game.
    GameModule { game: &'static str, module: Key },
    /// The game itself or a modification, in each of these keys.
    Modification(&'static [Key]),
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
    /// Its name in the game.
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

impl Engine {
    /// The engine of a reply in this form and with these keys.
    pub(crate) fn of_reply(family: Family, known: &Known<'_>) -> &'static Self {
        let mut engines = ALL.iter().chain(SIBLINGS);
        let fitting = engines.find(|engine| engine.family == family && engine.row.fits(known));
        fitting.unwrap_or_else(|| Self::of_family(family))
    }

    /// The row for a server when only the family of its replies is known.
    pub(crate) const fn of_family(family: Family) -> &'static Self {
        match family {
            Family::Quake3 => &DEFAULT,
            Family::Quake2 => &QUAKE2,
            Family::QuakeWorld => &QUAKE_WORLD,
            Family::Quetoo => &QUETOO,
        }
    }

    /// The type of match with this number.
    pub(crate) fn match_of(&self, number: &[u8]) -> Option<&'static Match> {
        let number: u32 = crate::text::number::number(number)?;
        self.matches.iter().find(|known| known.number == number)
    }

    /// Whether the number of slots in a reply counts private ones.
    pub(crate) fn counts_private_slots(&self, detail: Detail) -> bool {
        detail == Detail::Full || self.info_slots == InfoSlots::All
    }

    /// Whether [`Self::matches`] are those of a server with this `gamename`.
    pub(crate) fn is_stock(&self, name: Option<&[u8]>) -> bool {
        if self.stock.is_empty() {
            return true;
        }
        let mut names = self.stock.iter().map(|own| own.as_bytes());
        names.any(|own| name == Some(own))
    }
}

/// The keys of Quake 3, and of the games made from it or from its predecessors.
const USUAL: &[Entry] = &[
    key("sv_hostname", Field::Name),
    key("hostname", Field::Name),
    key("mapname", Field::Map),
    key("version", Field::Version),
    key("shortversion", Field::Version),
    key("gameversion", Field::Version),
    key("gamever", Field::Version),
    key("protocol", Field::ProtocolVersion),
    key("com_protocol", Field::ProtocolVersion),
    key("g_gametypestring", MATCH_WORDS),
    key("gametypestring", MATCH_WORDS),
    key("g_gametype", MATCH_NUMBER),
    key("gametype", MATCH_NUMBER),
    key("sv_maxclients", Field::MaxPlayers),
    key("sv_privateclients", Field::PrivateSlots),
    key("scorelimit", Field::ScoreLimit),
    key("timelimit", Field::TimeLimit),
    key("dedicated", Field::Dedicated),
    key("sv_punkbuster", Field::AntiCheat),
    key("punkbuster", Field::AntiCheat),
    key("pb", Field::AntiCheat),
    key("sv_nxac", Field::AntiCheat),
    key("bots", Field::BotCount),
    key("g_humanplayers", Field::Humans),
    key("humans", Field::Humans),
    key("g_needpass", Field::Password),
    key("needpass", Field::Password),
    key("pswrd", Field::Password),
    key("password", Field::Password),
    key("isprivate", Field::Password),
];

const fn style(colours: Colours) -> Style {
    Style::new(Charset::Utf8OrWindows1252, colours)
}

/// A server that no mark identifies.
pub(crate) const DEFAULT: Engine = Engine {
    row: Row {
        name: "unknown",
        signatures: &[],
        base: &[
            "baseq3", "baseoa", "basewsw", "basewf", "data", "id1", "main", "etmain",
        ],
        style: Style::new(Charset::Utf8OrWindows1252, Colours::CaretBasic),
        own: entries(&[]),
        usual: entries(USUAL),
    },
    family: Family::Quake3,
    limits: UNKNOWN_LIMITS,
    names: Names::GameAndModification,
    clients: Clients::Everyone,
    bots_left_out_if_none: Replies::None,
    password_left_out: Replies::None,
    info_slots: InfoSlots::Public,
    bots_have_no_ping: false,
    bot_prefix: None,
    spectators: SpectatorMark::None,
    no_score: None,
    no_ping: None,
    matches: &[],
    stock: &[],
};

/// The length that a status of Quake3e does not reach: 1,396 bytes less those of the word
/// (ec-/Quake3e, code/server/sv_main.c, `SVC_Status`).
const QUAKE3E_STATUS: usize = 1381;
/// The length that player lines of id's engine do not reach (id-Software/Quake-III-Arena,
/// code/qcommon/qcommon.h).
const MAX_MSGLEN: usize = 16_384;
/// Longest player line of Quake 3's and Quake 2's engines with some bytes to spare: a name has at
/// most 31 (id-Software/Quake-III-Arena, code/game/q_shared.h; id-Software/Quake-2,
/// server/server.h).
const QUAKE3_LINE: usize = 64;
/// The limits of an engine that may be Quake3e or id's: forks of Quake3e have versions of their own
/// (senposage/Quake3e-urt, code/qcommon/q_shared.h).
const UNKNOWN_LIMITS: TextLimits = TextLimits {
    lengths: &[QUAKE3E_STATUS, MAX_MSGLEN],
    piece: QUAKE3_LINE,
};
/// The limit of Quake3e and of engines made from it.
const QUAKE3E_LIMITS: TextLimits = TextLimits {
    lengths: &[QUAKE3E_STATUS],
    piece: QUAKE3_LINE,
};

const fn free_for_all(number: u32, name: &'static str) -> Match {
    Match {
        number,
        name,
        limit: Limit::Key(Key::new("fraglimit")),
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
        limit: Limit::Key(Key::new("duel_fraglimit")),
        has_teams: false,
    }
}

/// The numbers of teams in `qcstatus` (a colour and one more) by the team's number on player lines,
/// from 1: red, blue, yellow, pink (xonotic/darkplaces, netconn.c; recorded from Nexuiz).
pub(crate) const QCSTATUS_TEAMS: [i32; 4] = [5, 14, 13, 10];
/// The numbers on player lines of the two teams in `g_match_score` (captured).
pub(crate) const MATCH_SCORE_TEAMS: [i32; 2] = [2, 3];

/// A team that has keys of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TeamKeys {
    /// The team's number on player lines.
    pub(crate) id: i32,
    /// Keys of the score.
    pub(crate) scores: &'static [Key],
    /// Keys of the name.
    pub(crate) names: &'static [Key],
}

/// The teams of Soldier of Fortune II, OSP, Urban Terror and Jedi Outcast (captured).
pub(crate) const RED_AND_BLUE: [TeamKeys; 2] = [
    TeamKeys {
        id: 1,
        scores: &[Key::new("redscore"), Key::new("score_red")],
        names: &[
            Key::new("g_teamnamered"),
            Key::new("g_namered"),
            Key::new("g_redteam"),
        ],
    },
    TeamKeys {
        id: 2,
        scores: &[Key::new("bluescore"), Key::new("score_blue")],
        names: &[
            Key::new("g_teamnameblue"),
            Key::new("g_nameblue"),
            Key::new("g_blueteam"),
        ],
    },
];

const FRAGS: Limit = Limit::Key(Key::new("fraglimit"));
const CAPTURES: Limit = Limit::Key(Key::new("capturelimit"));
const STOCK_CAPTURES: Limit = Limit::StockKey(Key::new("capturelimit"));
const STOCK_FRAGS: Limit = Limit::StockKey(Key::new("fraglimit"));
const SCORE: Limit = Limit::Key(Key::new("scorelimit"));

/// Every engine, the most specific marks first.
pub(crate) static ALL: &[Engine] = &[
    URBAN_TERROR,
    URBAN_TERROR_ELSEWHERE,
    IW4X,
    IW5,
    IW7,
    IW6X,
    S1X,
    H1,
    BOIII,
    FTE,
    DARK_PLACES,
    WARFORK,
    WARSOW,
    QFUSION,
    DAEMON,
    JEDI_OUTCAST_102,
    JEDI_OUTCAST,
    JEDI_ACADEMY,
    ELITE_FORCE,
    COD2,
    COD4X,
    COD4,
    WORLD_AT_WAR,
    UNITED_OFFENSIVE,
    COD1,
    MEDAL_OF_HONOR,
    SOLDIER_OF_FORTUNE_2,
    TREMULOUS_13,
    TREMULOUS,
    IORTCW,
    RTCW,
    ET_LEGACY,
    ETE,
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

/// Quake 2, QuakeWorld and the games made from them. The form of a reply identifies the family, its
/// keys the engine.
pub(crate) static SIBLINGS: &[Engine] = &[
    ALIEN_ARENA,
    KINGPIN,
    QUAKE2,
    QUETOO,
    QTV,
    QWFWD,
    FTE_QUAKE_WORLD,
    QUAKE_WORLD,
];

/// Quake II, Kingpin and others made from its source. Nothing in a reply names the game.
/// (id-Software/Quake-2 server/sv_main.c; yquake2/yquake2 src/game/g_main.c; skullernet/q2pro
/// src/server/main.c).
pub(crate) const QUAKE2: Engine = Engine {
    row: Row {
        name: "Quake 2",
        base: &["baseq2", "main"],
        style: Style::new(Charset::Quake, Colours::None),
        own: entries(&[
            key("maxclients", Field::MaxPlayers),
            key("fraglimit", Field::ScoreLimit),
            key("needpass", Field::Password).with(Form::LowestBit),
        ]),
        ..DEFAULT.row
    },
    family: Family::Quake2,
    limits: TextLimits {
        lengths: &[MAX_STATUS],
        piece: QUAKE3_LINE,
    },
    names: Names::Modification(&[Key::new("gamename"), Key::new("game"), Key::new("gamedir")]),
    ..DEFAULT
};

/// Kingpin with its later servers.
pub(crate) const KINGPIN: Engine = Engine {
    row: Row {
        name: "Kingpin",
        signatures: &[all(&[begins("version", "kpded")])],
        base: &["main"],
        ..QUAKE2.row
    },
    ..QUAKE2
};

/// Alien Arena.
/// (alienarena/alienarena source/server/sv_main.c).
pub(crate) const ALIEN_ARENA: Engine = Engine {
    row: Row {
        name: "Alien Arena",
        signatures: &[all(&[has("g_teamgame")])],
        base: &["arena", "data1", "baseq2"],
        style: Style::new(Charset::Quake, Colours::Caret),
        ..QUAKE2.row
    },
    limits: TextLimits {
        lengths: &[2784],
        piece: QUAKE3_LINE,
    },
    ..QUAKE2
};

/// Quetoo. Servers remove colour codes from all texts. The limits of points and time in its keys do
/// not count where a map has its own, so they stay rules.
/// (jdolan/quetoo src/server/sv_main.c, src/common/cvar.c, src/game/common/g_main.c, g_entity.c).
pub(crate) const QUETOO: Engine = Engine {
    row: Row {
        name: "Quetoo",
        signatures: &[all(&[has("sv_map"), has("sv_max_clients")])],
        base: &["default"],
        style: style(Colours::None),
        own: entries(&[
            key("sv_hostname", Field::Name),
            key("sv_map", Field::Map),
            key("version", Field::Version),
            key("sv_protocol", Field::ProtocolVersion),
            key("g_gameplay_mode", MATCH_WORDS),
            key("g_gameplay", MATCH_WORDS),
            key("sv_max_clients", Field::MaxPlayers),
        ]),
        usual: entries(&[]),
    },
    family: Family::Quetoo,
    limits: TextLimits::NONE,
    names: Names::GameModule {
        game: "Quetoo",
        module: Key::new("game_name"),
    },
    ..DEFAULT
};

/// QuakeWorld: MVDSV and id's own server. A ping of 9999 is unknown (`SV_CalcPing`).
/// (QW-Group/mvdsv src/sv_main.c; id-Software/Quake QW/server/sv_main.c; QW-Group/ktx src/match.c).
pub(crate) const QUAKE_WORLD: Engine = Engine {
    row: Row {
        name: "QuakeWorld",
        base: &["qw", "id1"],
        style: Style::new(Charset::Quake, Colours::None),
        own: entries(&[
            key("map", Field::Map),
            key("*version", Field::Version),
            key("mode", MATCH_WORDS),
            key("maxclients", Field::MaxPlayers),
            key("fraglimit", Field::ScoreLimit),
            key("needpass", Field::Password).with(Form::LowestBit),
        ]),
        ..DEFAULT.row
    },
    family: Family::QuakeWorld,
    // Of a datagram: the text goes on in the next one. id's server has the second limit
    // (id-Software/Quake, QW/server/sv_send.c).
    limits: TextLimits {
        lengths: &[MAX_PART, 8000],
        piece: MAX_PIECE,
    },
    names: Names::Modification(&[Key::new("*gamedir")]),
    password_left_out: Replies::All,
    no_ping: Some(9999),
    ..DEFAULT
};

/// FTE's QuakeWorld server, which lists bots under a mark of their own.
/// (fte-team/fteqw engine/server/sv_main.c, engine/client/m_master.c).
pub(crate) const FTE_QUAKE_WORLD: Engine = Engine {
    row: Row {
        name: "FTE as QuakeWorld",
        signatures: &[all(&[begins("*version", "FTE")])],
        style: Style::new(Charset::Quake, Colours::Fte),
        ..QUAKE_WORLD.row
    },
    bot_prefix: Some("BOT:"),
    ..QUAKE_WORLD
};

/// QTV, which shows games of other QuakeWorld servers.
/// (QW-Group/qtv src/qtv.h).
pub(crate) const QTV: Engine = Engine {
    row: Row {
        name: "QTV",
        signatures: &[all(&[begins("*version", "QTV")])],
        ..QUAKE_WORLD.row
    },
    password_left_out: Replies::None,
    ..QUAKE_WORLD
};

/// qwfwd, a proxy between clients and QuakeWorld servers.
/// (QW-Group/qwfwd src/qwfwd.h).
pub(crate) const QWFWD: Engine = Engine {
    row: Row {
        name: "qwfwd",
        signatures: &[all(&[begins("*version", "qwfwd")])],
        ..QUAKE_WORLD.row
    },
    password_left_out: Replies::None,
    ..QUAKE_WORLD
};

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
/// (id-Software/Quake-III-Arena code/server/sv_main.c, code/game/q_shared.h, g_cmds.c).
pub(crate) const QUAKE3: Engine = Engine {
    row: Row {
        name: "Quake III Arena",
        signatures: &[all(&[begins("version", "Q3 1.")])],
        base: &["baseq3", "baseoa"],
        style: style(Colours::Caret),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    matches: QUAKE3_MATCHES,
    stock: &["Quake3Arena", "baseq3", "missionpack", "baseoa"],
    ..DEFAULT
};

/// Quake3e.
/// (ec-/Quake3e code/server/sv_main.c, code/qcommon/q_shared.h).
pub(crate) const QUAKE3E: Engine = Engine {
    row: Row {
        name: "Quake3e",
        signatures: &[all(&[begins("version", "Q3 1.32e")])],
        ..QUAKE3.row
    },
    limits: QUAKE3E_LIMITS,
    ..QUAKE3
};

/// An `infoResponse` of id's engine or of Quake3e, which name no game.
/// (id-Software/Quake-III-Arena code/server/sv_main.c; ec-/Quake3e code/server/sv_main.c).
pub(crate) const UNNAMED_QUAKE3: Engine = Engine {
    row: Row {
        name: "Quake III Arena or Quake3e",
        signatures: &[all(&[
            has("hostname"),
            lacks("gamename"),
            lacks("version"),
            number("protocol", 66, 68),
        ])],
        ..QUAKE3.row
    },
    limits: UNKNOWN_LIMITS,
    ..QUAKE3
};

/// ioquake3, and games on it that have no row of their own.
/// (ioquake/ioq3 code/server/sv_main.c, code/qcommon/q_shared.h).
pub(crate) const IOQUAKE3: Engine = Engine {
    row: Row {
        name: "ioquake3",
        signatures: &[
            all(&[begins("version", "ioq3")]),
            all(&[is("com_gamename", "Quake3Arena")]),
            all(&[is("gamename", "Quake3Arena")]),
            all(&[is("gamename", "baseq3")]),
            all(&[is("gamename", "missionpack")]),
            all(&[is("gamename", "baseoa")]),
            all(&[has("gamename"), has("g_humanplayers")]),
        ],
        style: style(Colours::CaretAlphanumeric),
        ..QUAKE3.row
    },
    ..QUAKE3
};

/// OpenArena's own engine.
/// (OpenArena/engine code/qcommon/q_shared.h; OpenArena/gamecode code/game/bg_public.h, g_main.c).
pub(crate) const OPEN_ARENA: Engine = Engine {
    row: Row {
        name: "OpenArena",
        signatures: &[
            all(&[begins("version", "ioq3+oa")]),
            all(&[is("game", "baseoa")]),
        ],
        style: style(Colours::OpenArena),
        ..QUAKE3.row
    },
    matches: &[
        free_for_all(0, "Free For All"),
        free_for_all(1, "Tournament"),
        solo_match(2, "Single Player"),
        team_match(3, "Team Deathmatch", FRAGS),
        team_match(4, "Capture the Flag", CAPTURES),
        team_match(5, "One Flag CTF", STOCK_CAPTURES),
        team_match(6, "Overload", STOCK_CAPTURES),
        team_match(7, "Harvester", STOCK_CAPTURES),
        team_match(8, "Elimination", STOCK_CAPTURES),
        team_match(9, "CTF Elimination", STOCK_CAPTURES),
        Match {
            limit: STOCK_FRAGS,
            ..solo_match(10, "Last Man Standing")
        },
        team_match(11, "Double Domination", STOCK_CAPTURES),
        team_match(12, "Domination", STOCK_CAPTURES),
        Match {
            limit: STOCK_FRAGS,
            ..solo_match(13, "Possession")
        },
    ],
    ..QUAKE3
};

/// Urban Terror.
/// (FrozenSand/ioq3-for-UrbanTerror-4 code/server/sv_main.c, code/qcommon/q_shared.h; types of
/// match as the plugin PowerAdmin of B3 names them).
pub(crate) const URBAN_TERROR: Engine = Engine {
    row: Row {
        name: "Urban Terror",
        signatures: &[
            all(&[begins("version", "ioQ3 1.35 urt")]),
            all(&[begins("version", "ioq3 1.35urt")]),
        ],
        base: &["q3ut4", "q3ut3", "q3ut2"],
        style: style(Colours::CaretDigit),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    password_left_out: Replies::Info,
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
    ..DEFAULT
};

/// Urban Terror on another engine, which may be Quake3e.
/// (senposage/Quake3e-urt code/qcommon/q_shared.h).
pub(crate) const URBAN_TERROR_ELSEWHERE: Engine = Engine {
    row: Row {
        name: "Urban Terror on another engine",
        signatures: &[
            all(&[begins("gamename", "q3ut")]),
            all(&[begins("gamename", "q3urt")]),
            all(&[begins("game", "q3ut")]),
            all(&[begins("game", "q3urt")]),
        ],
        ..URBAN_TERROR.row
    },
    limits: UNKNOWN_LIMITS,
    ..URBAN_TERROR
};

/// Types of match of Return to Castle Wolfenstein.
const WOLFENSTEIN_MATCHES: &[Match] = &[
    team_match(5, "Objective", Limit::None),
    team_match(6, "Stopwatch", Limit::None),
    team_match(7, "Checkpoint", Limit::None),
    team_match(8, "Capture and Hold", Limit::None),
];

/// Return to Castle Wolfenstein 1.41.
/// (id-Software/RTCW-MP src/server/sv_main.c, src/game/q_shared.h).
pub(crate) const RTCW: Engine = Engine {
    row: Row {
        name: "Return to Castle Wolfenstein",
        signatures: &[
            all(&[begins("version", "Wolf ")]),
            all(&[is("gamename", "wolfmp")]),
        ],
        base: &["main"],
        style: style(Colours::Caret),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    matches: WOLFENSTEIN_MATCHES,
    ..DEFAULT
};

/// iortcw.
/// (iortcw/iortcw MP/code/server/sv_main.c, MP/code/qcommon/q_shared.c, bg_public.h).
pub(crate) const IORTCW: Engine = Engine {
    row: Row {
        name: "iortcw",
        signatures: &[
            all(&[begins("version", "iortcw")]),
            all(&[is("com_gamename", "wolfmp")]),
            all(&[is("gamename", "wolfmp"), has("g_humanplayers")]),
        ],
        style: style(Colours::CaretAlphanumeric),
        ..RTCW.row
    },
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
/// (id-Software/Enemy-Territory src/server/sv_main.c, src/game/q_shared.h, bg_public.h;
/// etlegacy/etlegacy src/game/g_etbot_interface.cpp, g_cvars.c).
pub(crate) const ENEMY_TERRITORY: Engine = Engine {
    row: Row {
        name: "Enemy Territory",
        signatures: &[
            all(&[begins("version", "ET ")]),
            all(&[is("gamename", "et")]),
            all(&[is("gamename", "etmain")]),
        ],
        base: &["etmain"],
        style: style(Colours::EnemyTerritory),
        own: entries(&[key("omnibot_playing", Field::BotCount)]),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    names: Names::GameModule {
        game: "et",
        module: Key::new("gamename"),
    },
    spectators: SpectatorMark::Team(3),
    matches: ENEMY_TERRITORY_MATCHES,
    ..DEFAULT
};

/// ETe, made from Quake3e.
/// (etfdevs/ETe src/server/sv_main.c, src/qcommon/q_shared.h).
pub(crate) const ETE: Engine = Engine {
    row: Row {
        name: "ETe",
        signatures: &[all(&[begins("version", "ET 2.60e")])],
        ..ENEMY_TERRITORY.row
    },
    limits: QUAKE3E_LIMITS,
    ..ENEMY_TERRITORY
};

/// ET: Legacy.
/// (etlegacy/etlegacy src/server/sv_main.c, src/qcommon/q_shared.h, src/game/bg_public.h).
pub(crate) const ET_LEGACY: Engine = Engine {
    row: Row {
        name: "ET: Legacy",
        signatures: &[all(&[begins("version", "ET Legacy")])],
        style: style(Colours::EtLegacy),
        ..ENEMY_TERRITORY.row
    },
    ..ENEMY_TERRITORY
};

/// Smokin' Guns.
/// (smokin-guns/SmokinGuns code/qcommon/q_shared.h, code/game/bg_public.h, g_main.c).
pub(crate) const SMOKIN_GUNS: Engine = Engine {
    row: Row {
        name: "Smokin' Guns",
        signatures: &[
            all(&[begins("version", "Smokin' Guns")]),
            all(&[is("gamename", "smokinguns")]),
            all(&[is("com_gamename", "smokinguns")]),
        ],
        base: &["smokinguns"],
        style: style(Colours::EnemyTerritory),
        own: entries(&[
            // Its servers send all limits, whatever the type of match (g_main.c).
            key("scorelimit", Field::Ignored),
        ]),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    matches: &[
        free_for_all(0, "Free For All"),
        Match {
            limit: Limit::Key(Key::new("duellimit")),
            ..solo_match(1, "Duel")
        },
        solo_match(2, "Single Player"),
        team_match(3, "Team Deathmatch", FRAGS),
        team_match(4, "Round Teamplay", SCORE),
        team_match(5, "Bank Robbery", SCORE),
    ],
    ..DEFAULT
};

/// World of Padman.
/// (PadWorld-Entertainment/worldofpadman code/qcommon/q_shared.c, code/game/bg_public.h, g_main.c).
pub(crate) const WORLD_OF_PADMAN: Engine = Engine {
    row: Row {
        name: "World of Padman",
        signatures: &[
            all(&[begins("version", "wop")]),
            all(&[is("gamename", "WorldofPadman")]),
            all(&[is("com_gamename", "WorldofPadman")]),
        ],
        base: &["wop"],
        style: style(Colours::CaretAlphanumeric),
        own: entries(&[key("pointlimit", Field::ScoreLimit)]),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    matches: &[
        solo_match(0, "Free For All"),
        solo_match(1, "Tournament"),
        solo_match(2, "Single Player"),
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
    ..DEFAULT
};

/// Spearmint.
/// (clover-moe/spearmint code/server/sv_main.c, code/server/sv_init.c, code/qcommon/q_shared.h).
pub(crate) const SPEARMINT: Engine = Engine {
    row: Row {
        name: "Spearmint",
        signatures: &[
            all(&[begins("version", "Spearmint")]),
            all(&[is("gamename", "Spearmint")]),
            all(&[is("com_gamename", "Spearmint")]),
        ],
        own: entries(&[
            key("sv_gametypename", MATCH_WORDS),
            key("sv_gametypenetname", MATCH_WORDS),
        ]),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    ..DEFAULT
};

/// In a status, `gamename` is the game module, such as that of JA+; in an info, `game` is its
/// folder (JACoders/OpenJK, codemp/game/g_xcvar.h, codemp/server/sv_main.cpp).
const JEDI_NAMES: Names = Names::Modification(&[Key::new("gamename"), Key::new("game")]);

/// Jedi Outcast 1.04.
/// (mvdevs/jk2mv src/qcommon/q_shared.h, src/server/sv_main.cpp).
pub(crate) const JEDI_OUTCAST: Engine = Engine {
    row: Row {
        name: "Jedi Outcast 1.04",
        signatures: &[
            all(&[begins("version", "JK2MP")]),
            all(&[has("jk2mv")]),
            all(&[has("truejedi"), number("protocol", 16, 16)]),
            all(&[has("g_jedivmerc"), number("protocol", 16, 16)]),
        ],
        base: &["base", "basejk"],
        style: style(Colours::CaretBasic),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    names: JEDI_NAMES,
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
    ..DEFAULT
};

/// Jedi Outcast 1.02 and 1.03.
pub(crate) const JEDI_OUTCAST_102: Engine = Engine {
    row: Row {
        name: "Jedi Outcast 1.02",
        signatures: &[
            all(&[begins("version", "JK2MP: v1.02")]),
            all(&[begins("version", "JK2MP: v1.03")]),
            all(&[has("jk2mv"), number("protocol", 15, 15)]),
            all(&[has("truejedi"), number("protocol", 15, 15)]),
            all(&[has("g_jedivmerc"), number("protocol", 15, 15)]),
        ],
        style: style(Colours::Caret),
        ..JEDI_OUTCAST.row
    },
    ..JEDI_OUTCAST
};

/// Jedi Academy.
/// (JACoders/OpenJK shared/qcommon/q_color.h, codemp/server/sv_main.cpp, codemp/game/g_main.c).
pub(crate) const JEDI_ACADEMY: Engine = Engine {
    row: Row {
        name: "Jedi Academy",
        signatures: &[
            all(&[begins("version", "JAmp")]),
            all(&[begins("version", "OpenJK")]),
            all(&[has("truejedi")]),
            all(&[has("g_jedivmerc")]),
        ],
        base: &["base", "basejka"],
        style: style(Colours::CaretDigit),
        own: entries(&[
            // Siege ends with its last objective (g_main.c).
            key("timelimit", Field::TimeLimit).with(Form::Unless(Key::new("g_gametype"), &["7"])),
        ]),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    names: JEDI_NAMES,
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
    ..DEFAULT
};

/// Soldier of Fortune II.
/// (ensiform/SOF2MPSDK code/game/q_shared.h; captured).
pub(crate) const SOLDIER_OF_FORTUNE_2: Engine = Engine {
    row: Row {
        name: "Soldier of Fortune II",
        signatures: &[
            all(&[begins("version", "SOF2MP")]),
            all(&[begins("gamename", "sof2")]),
            all(&[number("protocol", 2001, 2004)]),
        ],
        base: &["base", "mp"],
        style: style(Colours::Caret),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    spectators: SpectatorMark::Team(3),
    ..DEFAULT
};

/// Star Trek: Voyager – Elite Force.
/// (Chomenor/ioef-cmod code/server/sv_main.c, code/qcommon/q_shared.c; UberGames/rpgxEF
/// code/base_game/bg_public.h).
pub(crate) const ELITE_FORCE: Engine = Engine {
    row: Row {
        name: "Elite Force",
        signatures: &[
            all(&[begins("version", "ST:V HM")]),
            all(&[begins("version", "ioST:V HM")]),
            all(&[begins("version", "cMod HM")]),
            all(&[begins("version", "Lilium Voyager HM")]),
            all(&[is("gamename", "EliteForce")]),
            all(&[is("com_gamename", "EliteForce")]),
        ],
        base: &["baseef"],
        style: style(Colours::CaretAlphanumeric),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    matches: &[
        free_for_all(0, "Free For All"),
        free_for_all(1, "Tournament"),
        solo_match(2, "Single Player"),
        team_match(3, "Team Deathmatch", FRAGS),
        team_match(4, "Capture the Flag", CAPTURES),
    ],
    ..DEFAULT
};

/// Medal of Honor: Allied Assault, Spearhead, Breakthrough.
/// (openmoh/openmohaa code/server/sv_main.c, code/gamespy/sv_gamespy.c, code/qcommon/q_shared.h,
/// bg_public.h; code/fgame/dm_manager.cpp: the rounds that a team wins count for the limit).
pub(crate) const MEDAL_OF_HONOR: Engine = Engine {
    row: Row {
        name: "Medal of Honor",
        signatures: &[
            all(&[has("g_gametypestring")]),
            all(&[has("gametypestring")]),
        ],
        base: &["main", "mainta", "maintt"],
        style: style(Colours::CaretAlphanumeric),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    matches: &[
        free_for_all(1, "Free For All"),
        team_match(2, "Team Deathmatch", FRAGS),
        team_match(3, "Round Based", FRAGS),
        team_match(4, "Objective", FRAGS),
        team_match(5, "Tug of War", FRAGS),
        team_match(6, "Liberation", FRAGS),
    ],
    ..DEFAULT
};

/// Call of Duty.
/// (xtnded/codextended sv_main.c; captured).
pub(crate) const COD1: Engine = Engine {
    row: Row {
        name: "Call of Duty",
        signatures: &[
            all(&[has("codextended")]),
            all(&[has("hw"), number("protocol", 1, 5)]),
            all(&[begins("gamename", "Call of Duty")]),
            all(&[begins("shortversion", "1."), lacks("g_gametypestring")]),
        ],
        base: &["main", "uo"],
        style: style(Colours::CaretDigit),
        own: entries(&[
            // Mods may set `g_needpass`; the engine sets `pswrd` (captured).
            key("pswrd", Field::Password),
        ]),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    names: Names::GameAndFolder,
    ..DEFAULT
};

/// United Offensive.
/// (captured).
pub(crate) const UNITED_OFFENSIVE: Engine = Engine {
    row: Row {
        name: "United Offensive",
        signatures: &[
            all(&[has("hw"), number("protocol", 21, 22)]),
            all(&[begins("gamename", "CoD:")]),
        ],
        ..COD1.row
    },
    ..COD1
};

/// World at War.
/// (captured).
pub(crate) const WORLD_AT_WAR: Engine = Engine {
    row: Row {
        name: "World at War",
        signatures: &[all(&[begins("gamename", "Call of Duty: World at War")])],
        ..COD1.row
    },
    ..COD1
};

/// Call of Duty 2.
/// (voron00/CoD2rev_Server src/server/sv_main_mp.cpp, src/universal/q_shared.cpp,
/// src/qcommon/qcommon.h).
pub(crate) const COD2: Engine = Engine {
    row: Row {
        name: "Call of Duty 2",
        signatures: &[
            all(&[is("gamename", "Call of Duty 2")]),
            all(&[has("hw"), number("protocol", 115, 120)]),
        ],
        base: &["main"],
        style: style(Colours::CallOfDuty2),
        ..COD1.row
    },
    clients: Clients::LeftOutAtZero(&[Key::new("sv_maxclients")]),
    password_left_out: Replies::Info,
    ..COD1
};

/// Call of Duty 4.
/// (captured; callofduty4x/CoD4x_Server src/sv_main.c).
pub(crate) const COD4: Engine = Engine {
    row: Row {
        name: "Call of Duty 4",
        signatures: &[all(&[is("gamename", "Call of Duty 4")])],
        ..COD1.row
    },
    ..COD1
};

/// CoD4x.
/// (callofduty4x/CoD4x_Server src/sv_main.c).
pub(crate) const COD4X: Engine = Engine {
    row: Row {
        name: "CoD4x",
        signatures: &[
            all(&[begins("version", "CoD4 X")]),
            all(&[has("build"), begins("shortversion", "x")]),
        ],
        ..COD1.row
    },
    password_left_out: Replies::Status,
    ..COD1
};

/// An `infoResponse` of a Call of Duty whose protocol number does not identify the game.
/// (captured).
pub(crate) const COD_UNNAMED: Engine = Engine {
    row: Row {
        name: "Call of Duty of an unknown number",
        signatures: &[all(&[has("hw")])],
        ..COD1.row
    },
    clients: Clients::LeftOutAtZero(&[Key::new("protocol"), Key::new("sv_maxclients")]),
    ..COD1
};

/// Modern Warfare 2 with IW4x.
/// (iw4x/iw4x-client src/Components/Modules/Party.cpp, ServerInfo.cpp, TextRenderer.cpp,
/// Dedicated.cpp).
pub(crate) const IW4X: Engine = Engine {
    row: Row {
        name: "IW4x",
        signatures: &[all(&[is("gamename", "IW4")])],
        style: style(Colours::ModernWarfare2),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    clients: Clients::People,
    info_slots: InfoSlots::All,
    ..DEFAULT
};

/// Modern Warfare 3: Plutonium, IW5M.
/// (ahmad009/IW5M-1.9 Steam/GSServer.cpp).
pub(crate) const IW5: Engine = Engine {
    row: Row {
        name: "Modern Warfare 3",
        signatures: &[
            all(&[is("gamename", "IW5")]),
            all(&[is("gamename", "PIW5")]),
        ],
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    info_slots: InfoSlots::All,
    ..DEFAULT
};

/// Ghosts with IW6x.
/// (HeartbeatingForCenturies/iw6x-client src/client/component/party.cpp, colors.cpp; Ezz-lol/boiii-
/// free getinfo.cpp).
pub(crate) const IW6X: Engine = Engine {
    row: Row {
        name: "IW6x",
        signatures: &[all(&[is("gamename", "IW6")])],
        style: style(Colours::Ghosts),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    info_slots: InfoSlots::All,
    ..DEFAULT
};

/// Advanced Warfare with S1x.
/// (HeartbeatingForCenturies/s1x-client src/client/component/party.cpp, rcon.cpp, colors.cpp).
pub(crate) const S1X: Engine = Engine {
    row: Row {
        name: "S1x",
        signatures: &[all(&[is("gamename", "S1")])],
        style: style(Colours::AdvancedWarfare),
        ..IW6X.row
    },
    ..IW6X
};

/// Modern Warfare Remastered with H1-Mod.
/// (auroramod/h1-mod src/client/component/party.cpp, rcon.cpp).
pub(crate) const H1: Engine = Engine {
    row: Row {
        name: "H1-Mod",
        signatures: &[all(&[is("gamename", "H1")])],
        style: style(Colours::AdvancedWarfare),
        ..IW6X.row
    },
    ..IW6X
};

/// Black Ops III with BOIII or T7x.
/// (Ezz-lol/boiii-free src/client/component/getinfo.cpp, rcon.cpp).
pub(crate) const BOIII: Engine = Engine {
    row: Row {
        name: "BOIII",
        signatures: &[all(&[is("gamename", "T7")])],
        ..IW6X.row
    },
    ..IW6X
};

/// Infinite Warfare with iw7-mod.
/// (auroramod/iw7-mod src/client/component/party.cpp, colors.cpp).
pub(crate) const IW7: Engine = Engine {
    row: Row {
        name: "iw7-mod",
        signatures: &[all(&[is("gamename", "IW7")])],
        style: style(Colours::InfiniteWarfare),
        ..IW6X.row
    },
    ..IW6X
};

/// Tremulous 1.1 and 1.2.
/// (darklegion/tremulous src/qcommon/q_shared.h).
pub(crate) const TREMULOUS: Engine = Engine {
    row: Row {
        name: "Tremulous 1.2",
        signatures: &[
            all(&[begins("version", "tremulous")]),
            all(&[is("gamename", "base"), number("protocol", 69, 70)]),
        ],
        base: &["base"],
        style: style(Colours::CaretAlphanumeric),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    spectators: SpectatorMark::Team(0),
    ..DEFAULT
};

/// Tremulous 1.3.
/// (GrangerHub/tremulous src/server/sv_main.cpp, src/qcommon/q_shared.h).
pub(crate) const TREMULOUS_13: Engine = Engine {
    row: Row {
        name: "Tremulous 1.3",
        signatures: &[
            all(&[begins("version", "tremulous 1.3")]),
            all(&[is("gamename", "Tremulous")]),
        ],
        style: style(Colours::Tremulous13),
        ..TREMULOUS.row
    },
    ..TREMULOUS
};

/// The Daemon engine of Unvanquished.
/// (DaemonEngine/Daemon src/engine/server/sv_main.cpp, src/common/Color.cpp;
/// Unvanquished/Unvanquished src/sgame/sg_main.cpp).
pub(crate) const DAEMON: Engine = Engine {
    row: Row {
        name: "Daemon",
        signatures: &[
            all(&[is("gamename", "unv")]),
            all(&[begins("version", "Unvanquished")]),
            all(&[has("daemonver")]),
        ],
        style: style(Colours::Daemon),
        own: entries(&[key("daemonver", Field::Version), key("b", BOT_SLOTS)]),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    clients: Clients::People,
    spectators: SpectatorMark::Team(0),
    ..DEFAULT
};

/// DarkPlaces: Nexuiz, Xonotic and others. The score −666 is that of a spectator. With
/// `g_full_getstatus_responses`, a score of Xonotic is `5,3:human` or `5,3:human:spectator`.
/// (xonotic/darkplaces netconn.c, gl_draw.c, common.c; xonotic/xonotic-data.pk3dir
/// qcsrc/server/scores.qc).
pub(crate) const DARK_PLACES: Engine = Engine {
    row: Row {
        name: "DarkPlaces",
        signatures: &[
            all(&[has("qcstatus")]),
            // Mods of Soldier of Fortune II have `modname` too.
            all(&[has("modname"), number("protocol", 3, 3)]),
        ],
        base: &["data", "id1"],
        style: style(Colours::DarkPlaces),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    info_slots: InfoSlots::All,
    bots_have_no_ping: true,
    spectators: SpectatorMark::Score(-666, ":spectator"),
    no_score: Some(-666),
    ..DEFAULT
};

/// FTE. A ping of 9999 is unknown (`SV_CalcPing`).
/// (fte-team/fteqw engine/server/sv_main.c, engine/common/common.c).
pub(crate) const FTE: Engine = Engine {
    row: Row {
        name: "FTE",
        signatures: &[all(&[Mark::NumberWithLetters(Key::new("protocol"))])],
        base: &["id1", "qw", "fte"],
        style: style(Colours::Fte),
        own: entries(&[
            key("*version", Field::Version),
            key("fraglimit", Field::ScoreLimit),
            key("needpass", Field::Password).with(Form::LowestBit),
        ]),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    info_slots: InfoSlots::All,
    password_left_out: Replies::All,
    no_ping: Some(9999),
    ..DEFAULT
};

/// Warsow, whose engine is qfusion. Team 0 is that of spectators. −9999 means that there is no
/// score. (Warsow/qfusion source/server/sv_main.cpp, source/server/game/g_frame.cpp,
/// source/common/facilities/gs_public.h; viciious/qfusion source/gameshared/q_shared.c).
pub(crate) const WARSOW: Engine = Engine {
    row: Row {
        name: "Warsow",
        signatures: &[
            all(&[is("gamename", "Warsow")]),
            all(&[is("fs_game", "basewsw")]),
        ],
        base: &["basewsw", "basewf"],
        style: style(Colours::Warsow),
        own: entries(&[key("g_match_time", MATCH_TIME)]),
        ..DEFAULT.row
    },
    limits: TextLimits::NONE,
    info_slots: InfoSlots::All,
    bots_left_out_if_none: Replies::All,
    spectators: SpectatorMark::Team(0),
    no_score: Some(-9999),
    ..DEFAULT
};

/// Warfork, made from Warsow.
/// (TeamForbiddenLLC/warfork-qfusion source/server/sv_oob.c).
pub(crate) const WARFORK: Engine = Engine {
    row: Row {
        name: "Warfork",
        signatures: &[all(&[is("gamename", "Warfork")])],
        ..WARSOW.row
    },
    ..WARSOW
};

/// A server of qfusion that does not name its game.
pub(crate) const QFUSION: Engine = Engine {
    row: Row {
        name: "qfusion",
        signatures: &[
            all(&[begins("fs_game", "basew")]),
            all(&[has("sv_mm_enable")]),
        ],
        ..WARSOW.row
    },
    ..WARSOW
};

#[cfg(test)]
mod tests;
