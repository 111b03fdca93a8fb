//! The engines of the Quake 3 family: one row for each, with everything in which they differ.
//!
//! A row is a copy of one other row with its own differences, and takes nothing from a third. [`DEFAULT`] is for servers that no mark
//! identifies: it reads every key, and removes only the colour codes that all known engines have.

use Mark::{Begins, Has, Is, Lacks, Number, NumberWithLetters};

use super::keys::{Key, Known};
use super::wire::siblings::{Family, MAX_PART, MAX_PIECE, MAX_STATUS};
use crate::model::{Charset, Colours, Style};
use crate::options::Detail;
use crate::text::number;

/// The known properties of one engine.
#[derive(Debug)]
pub(crate) struct Profile {
    /// The engine's name, for people.
    #[allow(dead_code, reason = "it names the row in tests")]
    pub(crate) name: &'static str,
    /// A reply that fits one of these is the engine's.
    pub(crate) signatures: &'static [Signature],
    /// The id of the engine's own game; `None` if others run on it too.
    #[cfg_attr(not(feature = "games"), allow(dead_code, reason = "read by games"))]
    pub(crate) game: Option<&'static str>,
    /// The family of its replies.
    pub(crate) family: Family,
    /// The lengths at which a status has no space for another player line.
    pub(crate) limits: TextLimits,
    /// The character set of texts.
    pub(crate) charset: Charset,
    /// The colour codes of texts.
    pub(crate) colours: Colours,
    /// The name of the server.
    pub(crate) server_name: &'static [Key],
    pub(crate) map: &'static [Key],
    pub(crate) version: &'static [Key],
    /// The game and its modification.
    pub(crate) names: Names,
    /// The type of match in words.
    pub(crate) match_words: &'static [Key],
    /// The number of the type of match.
    pub(crate) match_number: &'static [Key],
    /// The number of player slots.
    pub(crate) slots: &'static [Key],
    /// The limit of points, for every type of match.
    pub(crate) score_limit: &'static [Key],
    /// The meaning of the key `clients`.
    pub(crate) clients: Clients,
    /// The number of bots.
    pub(crate) bots: &'static [Key],
    /// The replies that have no number of bots if it is 0.
    pub(crate) bots_left_out_if_none: Replies,
    /// Whether a password is needed.
    pub(crate) password: Password,
    /// Which slots an `infoResponse` counts as `sv_maxclients`.
    pub(crate) info_slots: InfoSlots,
    /// Whether a ping of 0 is a bot's, and only a bot's.
    pub(crate) bots_have_no_ping: bool,
    /// The prefix of bots' names, if their lines have no other mark.
    pub(crate) bot_prefix: Option<&'static str>,
    /// The numbered types of match.
    pub(crate) matches: &'static [Match],
    /// The values of `gamename` with which [`Self::matches`] are the game's own; empty if they
    /// always are.
    pub(crate) stock: &'static [&'static str],
    /// Folders of the game itself, which are not modifications.
    pub(crate) base_folders: &'static [&'static str],
    /// The sources of the row's facts.
    #[allow(dead_code, reason = "it is for readers")]
    pub(crate) source: &'static str,
}

impl PartialEq for Profile {
    /// Rows have names of their own.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
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
    const NONE: Self = Self {
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

/// A set of marks. A reply that has all of them is the engine's.
#[derive(Clone, Copy)]
pub(crate) struct Signature {
    marks: &'static [Mark],
    /// The traits of every reply that has these marks.
    traits: Traits,
}

/// Shows the marks. The traits follow from them.
impl std::fmt::Debug for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.marks.fmt(f)
    }
}

/// The signature of these marks.
const fn all(marks: &'static [Mark]) -> Signature {
    let mut traits = Traits::NONE;
    let mut rest = marks;
    while let [mark, others @ ..] = rest {
        traits = traits.with(Traits::of_mark(*mark));
        rest = others;
    }
    Signature { marks, traits }
}

impl Signature {
    /// Whether a reply with these values has all marks.
    #[inline(never)]
    fn fits(&self, known: &Known<'_>) -> bool {
        self.marks.iter().all(|mark| mark.fits(known))
    }
}

/// The traits of a reply that marks look at, as two filters. Different keys can share a bit, and so
/// can different letters: a trait that a filter lacks is not there, one that it has may be.
#[derive(Debug, Clone, Copy)]
struct Traits {
    /// The [`Key::filter_bit`]s of the keys.
    keys: u32,
    /// The [`letter_bit`]s of the values that marks compare with a text.
    letters: u32,
}

/// The keys whose values are compared with a text.
const TEXT_KEYS: [Key; 7] = [
    Key::Version,
    Key::Gamename,
    Key::ComGamename,
    Key::Game,
    Key::FsGame,
    Key::ShortVersion,
    Key::StarVersion,
];

impl Traits {
    const NONE: Self = Self {
        keys: 0,
        letters: 0,
    };

    fn of_reply(known: &Known<'_>) -> Self {
        let mut traits = Self {
            keys: known.filter(),
            letters: 0,
        };
        for key in TEXT_KEYS {
            if let Some(value) = known.get(key) {
                traits.letters |= letter_bit(key, value);
            }
        }
        traits
    }

    const fn of_mark(mark: Mark) -> Self {
        match mark {
            Has(key) => Self::of_key(key),
            Is(key, text) | Begins(key, text) => Self {
                letters: letter_bit(key, text.as_bytes()),
                ..Self::of_key(key)
            },
            Number(..) | NumberWithLetters => Self::of_key(Key::Protocol),
            Lacks(_) => Self::NONE,
        }
    }

    const fn of_key(key: Key) -> Self {
        Self {
            keys: key.filter_bit(),
            letters: 0,
        }
    }

    /// These traits and the others.
    const fn with(self, other: Self) -> Self {
        Self {
            keys: self.keys | other.keys,
            letters: self.letters | other.letters,
        }
    }

    /// Whether a reply with these traits can have all marks with those.
    #[inline]
    const fn include(self, marks: Self) -> bool {
        let missing_keys = marks.keys & !self.keys;
        let missing_letters = marks.letters & !self.letters;
        missing_keys == 0 && missing_letters == 0
    }
}

/// The bit of the first letter of a value, the same in both cases. A letter has another bit in the
/// value of another key.
const fn letter_bit(key: Key, value: &[u8]) -> u32 {
    let [first, ..] = value else {
        return 0;
    };
    let letter = *first & 0x1F;
    let shift = letter.wrapping_add(key as u8);
    // The shift counts modulo 32.
    1_u32.wrapping_shl(shift as u32)
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
    /// The protocol number is in this range.
    Number(u32, u32),
    /// Letters follow the protocol number.
    NumberWithLetters,
}

/// The meaning of the key `clients`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// Everyone on the server, bots included.
    Everyone,
    /// As [`Self::Everyone`], but an `infoResponse` of an empty server lacks the key. A complete
    /// `infoResponse` has all of these keys.
    LeftOutAtZero(&'static [Key]),
    /// In an `infoResponse`, only people: the reader adds the number of bots.
    People,
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

/// How a reply shows whether a password is needed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Password {
    pub(crate) keys: &'static [Key],
    /// The replies that have no such key if the server has no password.
    pub(crate) left_out_if_none: Replies,
    /// Whether bit 0 of the value shows that players need a password; other bits are for
    /// spectators.
    pub(crate) is_bit_field: bool,
}

impl Password {
    /// Whether players need a password, by the value of a key.
    pub(crate) fn is_needed(&self, value: &[u8]) -> Option<bool> {
        if self.is_bit_field {
            let bits: u32 = number::number(value)?;
            return Some(bits & 1 == 1);
        }
        number::boolean(value)
    }
}

/// How a reply names the game and its modification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// The game in `com_gamename` or `gamename`, and its modification.
    GameAndModification,
    /// The same, but `game` is always the folder of the modification.
    GameAndFolder,
    /// The modification only, in these keys.
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

impl Profile {
    /// The style of the engine's texts.
    pub(crate) const fn style(&self) -> Style {
        Style::new(self.charset, self.colours)
    }

    /// The engine of a reply in this form and with these keys.
    pub(crate) fn of_reply(family: Family, known: &Known<'_>) -> &'static Self {
        let fitting = match family {
            Family::Quake3 => first_fitting(ALL.iter(), known),
            Family::Quake2 | Family::QuakeWorld => {
                let profiles = SIBLINGS.iter().filter(|profile| profile.family == family);
                first_fitting(profiles, known)
            }
        };
        fitting.unwrap_or_else(|| Self::of_family(family))
    }

    /// The row for a server when only the family of its replies is known.
    pub(crate) const fn of_family(family: Family) -> &'static Self {
        match family {
            Family::Quake3 => &DEFAULT,
            Family::Quake2 => &QUAKE2,
            Family::QuakeWorld => &QUAKE_WORLD,
        }
    }

    /// The engine of a status whose form is unknown; `None` if no mark identifies it.
    #[cfg_attr(not(feature = "games"), allow(dead_code, reason = "read by games"))]
    pub(crate) fn of_unknown_family(known: &Known<'_>) -> Option<&'static Self> {
        first_fitting(Self::all(), known)
    }

    /// Every row except [`DEFAULT`].
    #[cfg_attr(not(feature = "games"), allow(dead_code, reason = "read by games"))]
    pub(crate) fn all() -> impl Iterator<Item = &'static Self> {
        ALL.iter().chain(&SIBLINGS)
    }

    /// The type of match with this number.
    pub(crate) fn match_of(&self, number: &[u8]) -> Option<&'static Match> {
        let number: u32 = number::number(number)?;
        self.matches.iter().find(|known| known.number == number)
    }

    /// Whether the number of slots in a reply counts private ones.
    pub(crate) fn counts_private_slots(&self, detail: Detail) -> bool {
        detail == Detail::Full || self.info_slots == InfoSlots::All
    }

    /// Whether a folder is the game's own, not a modification.
    pub(crate) fn is_base_folder(&self, folder: &[u8]) -> bool {
        let mut folders = self.base_folders.iter();
        folders.any(|base| base.as_bytes() == folder)
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

/// The first row with a signature that a reply with these values has. Traits are compared before
/// values, because most signatures already differ in them.
fn first_fitting(
    profiles: impl Iterator<Item = &'static Profile>,
    known: &Known<'_>,
) -> Option<&'static Profile> {
    let traits = Traits::of_reply(known);
    for profile in profiles {
        for signature in profile.signatures {
            if traits.include(signature.traits) && signature.fits(known) {
                return Some(profile);
            }
        }
    }
    None
}

impl Mark {
    fn fits(self, known: &Known<'_>) -> bool {
        let number = || number::leading(known.get(Key::Protocol)?);
        match self {
            Self::Has(key) => known.has(key),
            Self::Lacks(key) => !known.has(key),
            Self::Is(key, text) => known
                .get(key)
                .is_some_and(|value| value.len() == text.len() && begins_with(value, text)),
            Self::Begins(key, text) => known.get(key).is_some_and(|value| begins_with(value, text)),
            Self::Number(first, last) => {
                number().is_some_and(|number| (first..=last).contains(&number))
            }
            Self::NumberWithLetters => {
                let last = known.get(Key::Protocol).and_then(<[u8]>::last);
                last.is_some_and(u8::is_ascii_alphabetic) && number().is_some()
            }
        }
    }
}

/// Whether a value begins with a text, without regard to ASCII case. Texts with the same first
/// letter mostly differ at the end, so that is compared first.
fn begins_with(value: &[u8], text: &str) -> bool {
    let Some(begin) = value.get(..text.len()) else {
        return false;
    };
    let mut pairs = begin.iter().zip(text.as_bytes()).rev();
    pairs.all(|(byte, other)| byte.eq_ignore_ascii_case(other))
}

/// A server that no mark identifies.
pub(crate) const DEFAULT: Profile = Profile {
    name: "unknown",
    signatures: &[],
    game: None,
    family: Family::Quake3,
    limits: UNKNOWN_LIMITS,
    charset: Charset::Utf8OrWindows1252,
    colours: Colours::CaretBasic,
    server_name: &[Key::SvHostname, Key::Hostname],
    map: &[Key::Mapname],
    version: &[
        Key::Version,
        Key::ShortVersion,
        Key::GameVersion,
        Key::Gamever,
    ],
    names: Names::GameAndModification,
    match_words: &[Key::GGametypeString, Key::GametypeString],
    match_number: &[Key::GGametype, Key::Gametype],
    slots: &[Key::SvMaxclients],
    score_limit: &[Key::ScoreLimit],
    clients: Clients::Everyone,
    bots: &[Key::Bots],
    bots_left_out_if_none: Replies::None,
    password: Password {
        keys: &[
            Key::GNeedpass,
            Key::Needpass,
            Key::Pswrd,
            Key::Password,
            Key::IsPrivate,
        ],
        left_out_if_none: Replies::None,
        is_bit_field: false,
    },
    info_slots: InfoSlots::Public,
    bots_have_no_ping: false,
    bot_prefix: None,
    matches: &[],
    stock: &[],
    base_folders: &[
        "baseq3", "baseoa", "basewsw", "basewf", "data", "id1", "main", "etmain",
    ],
    source: "",
};

/// The length that a status of Quake3e does not reach: 1,396 bytes less those of the word (ec-/Quake3e,
/// code/server/sv_main.c, `SVC_Status`).
const QUAKE3E_STATUS: usize = 1381;
/// The length that player lines of id's engine do not reach (id-Software/Quake-III-Arena,
/// code/qcommon/qcommon.h).
const MAX_MSGLEN: usize = 16_384;
/// Longest player line of Quake 3's and Quake 2's engines with some bytes to spare: a name has at most
/// 31 (id-Software/Quake-III-Arena, code/game/q_shared.h; id-Software/Quake-2, server/server.h).
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
        scores: &[Key::Redscore, Key::ScoreRed],
        names: &[Key::TeamNameRed, Key::NameRed, Key::Redteam],
    },
    TeamKeys {
        id: 2,
        scores: &[Key::Bluescore, Key::ScoreBlue],
        names: &[Key::TeamNameBlue, Key::NameBlue, Key::Blueteam],
    },
];

const FRAGS: Limit = Limit::Key(Key::FragLimit);
const CAPTURES: Limit = Limit::Key(Key::CaptureLimit);
const STOCK_CAPTURES: Limit = Limit::StockKey(Key::CaptureLimit);
const STOCK_FRAGS: Limit = Limit::StockKey(Key::FragLimit);
const SCORE: Limit = Limit::Key(Key::ScoreLimit);

// Keys that are the same in every row.

/// The number of the network protocol.
pub(crate) const PROTOCOL: &[Key] = &[Key::Protocol, Key::ComProtocol];
pub(crate) const PRIVATE_SLOTS: &[Key] = &[Key::PrivateClients];
/// The number of people, which some servers write instead of the number of bots.
pub(crate) const PEOPLE: &[Key] = &[Key::GHumanPlayers, Key::Humans];
/// The limit of time, in minutes.
pub(crate) const TIME_LIMIT: &[Key] = &[Key::TimeLimit];
pub(crate) const DEDICATED: &[Key] = &[Key::Dedicated];
/// Any of them may be on.
pub(crate) const ANTI_CHEAT: &[Key] = &[Key::SvPunkbuster, Key::Punkbuster, Key::Pb, Key::NxAc];

/// Every engine, the most specific marks first.
pub(crate) static ALL: [Profile; 43] = [
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
pub(crate) static SIBLINGS: [Profile; 6] = [
    ALIEN_ARENA,
    QUAKE2,
    QTV,
    QWFWD,
    FTE_QUAKE_WORLD,
    QUAKE_WORLD,
];

/// The bits of `needpass`, which servers of Quake 2 always send.
const NEEDPASS: Password = Password {
    keys: &[Key::Needpass],
    left_out_if_none: Replies::None,
    is_bit_field: true,
};
/// The same of servers that send it only if there is a password.
const NEEDPASS_IF_ANY: Password = Password {
    left_out_if_none: Replies::All,
    ..NEEDPASS
};

/// Quake II, Kingpin and others made from its source. Nothing in a reply names the game.
pub(crate) const QUAKE2: Profile = Profile {
    name: "Quake 2",
    family: Family::Quake2,
    limits: TextLimits {
        lengths: &[MAX_STATUS],
        piece: QUAKE3_LINE,
    },
    charset: Charset::Quake,
    colours: Colours::None,
    server_name: &[Key::Hostname],
    names: Names::Modification(&[Key::Gamename, Key::Game, Key::Gamedir]),
    slots: &[Key::Maxclients],
    score_limit: &[Key::FragLimit],
    password: NEEDPASS,
    base_folders: &["baseq2", "main"],
    source: "id-Software/Quake-2 server/sv_main.c; yquake2/yquake2 src/game/g_main.c; skullernet/q2pro src/server/main.c",
    ..DEFAULT
};

/// Alien Arena.
pub(crate) const ALIEN_ARENA: Profile = Profile {
    name: "Alien Arena",
    signatures: &[all(&[Has(Key::GTeamgame)])],
    game: Some("alienarena"),
    limits: TextLimits {
        lengths: &[2784],
        piece: QUAKE3_LINE,
    },
    colours: Colours::Caret,
    base_folders: &["arena", "data1", "baseq2"],
    source: "alienarena/alienarena source/server/sv_main.c",
    ..QUAKE2
};

/// QuakeWorld: MVDSV and id's own server.
pub(crate) const QUAKE_WORLD: Profile = Profile {
    name: "QuakeWorld",
    family: Family::QuakeWorld,
    // Of a datagram: the text goes on in the next one. id's server has the second limit
    // (id-Software/Quake, QW/server/sv_send.c).
    limits: TextLimits {
        lengths: &[MAX_PART, 8000],
        piece: MAX_PIECE,
    },
    charset: Charset::Quake,
    colours: Colours::None,
    server_name: &[Key::Hostname],
    map: &[Key::Map],
    version: &[Key::StarVersion],
    names: Names::Modification(&[Key::StarGamedir]),
    match_words: &[Key::Mode],
    slots: &[Key::Maxclients],
    score_limit: &[Key::FragLimit],
    password: NEEDPASS_IF_ANY,
    base_folders: &["qw", "id1"],
    source: "QW-Group/mvdsv src/sv_main.c; id-Software/Quake QW/server/sv_main.c; QW-Group/ktx src/match.c",
    ..DEFAULT
};

/// FTE's QuakeWorld server, which lists bots under a mark of their own.
pub(crate) const FTE_QUAKE_WORLD: Profile = Profile {
    name: "FTE as QuakeWorld",
    signatures: &[all(&[Begins(Key::StarVersion, "FTE")])],
    game: Some("quake"),
    colours: Colours::Fte,
    bot_prefix: Some("BOT:"),
    source: "fte-team/fteqw engine/server/sv_main.c, engine/client/m_master.c",
    ..QUAKE_WORLD
};

/// QTV, which shows games of other QuakeWorld servers.
pub(crate) const QTV: Profile = Profile {
    name: "QTV",
    signatures: &[all(&[Begins(Key::StarVersion, "QTV")])],
    game: Some("qtv"),
    password: NEEDPASS,
    source: "QW-Group/qtv src/qtv.h",
    ..QUAKE_WORLD
};

/// qwfwd, a proxy between clients and QuakeWorld servers.
pub(crate) const QWFWD: Profile = Profile {
    name: "qwfwd",
    signatures: &[all(&[Begins(Key::StarVersion, "qwfwd")])],
    game: Some("qwfwd"),
    password: NEEDPASS,
    source: "QW-Group/qwfwd src/qwfwd.h",
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
pub(crate) const QUAKE3: Profile = Profile {
    name: "Quake III Arena",
    signatures: &[all(&[Begins(Key::Version, "Q3 1.")])],
    game: Some("q3a"),
    limits: TextLimits::NONE,
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
    signatures: &[all(&[Begins(Key::Version, "Q3 1.32e")])],
    limits: QUAKE3E_LIMITS,
    colours: Colours::Caret,
    source: "ec-/Quake3e code/server/sv_main.c, code/qcommon/q_shared.h",
    ..QUAKE3
};

/// An `infoResponse` of id's engine or of Quake3e, which name no game.
pub(crate) const UNNAMED_QUAKE3: Profile = Profile {
    name: "Quake III Arena or Quake3e",
    signatures: &[all(&[
        Lacks(Key::Gamename),
        Lacks(Key::Version),
        Number(66, 68),
        Has(Key::Hostname),
    ])],
    game: None,
    limits: UNKNOWN_LIMITS,
    colours: Colours::Caret,
    source: "id-Software/Quake-III-Arena code/server/sv_main.c; ec-/Quake3e code/server/sv_main.c",
    ..QUAKE3
};

/// ioquake3, and games on it that have no row of their own.
pub(crate) const IOQUAKE3: Profile = Profile {
    name: "ioquake3",
    signatures: &[
        all(&[Begins(Key::Version, "ioq3")]),
        all(&[Is(Key::ComGamename, "Quake3Arena")]),
        all(&[Is(Key::Gamename, "Quake3Arena")]),
        all(&[Is(Key::Gamename, "baseq3")]),
        all(&[Is(Key::Gamename, "missionpack")]),
        all(&[Is(Key::Gamename, "baseoa")]),
        all(&[Has(Key::Gamename), Has(Key::GHumanPlayers)]),
    ],
    game: None,
    colours: Colours::CaretAlphanumeric,
    source: "ioquake/ioq3 code/server/sv_main.c, code/qcommon/q_shared.h",
    ..QUAKE3
};

/// OpenArena's own engine.
pub(crate) const OPEN_ARENA: Profile = Profile {
    name: "OpenArena",
    signatures: &[
        all(&[Begins(Key::Version, "ioq3+oa")]),
        all(&[Is(Key::Game, "baseoa")]),
    ],
    game: Some("openarena"),
    colours: Colours::OpenArena,
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
    source: "OpenArena/engine code/qcommon/q_shared.h; \
             OpenArena/gamecode code/game/bg_public.h, g_main.c",
    ..QUAKE3
};

/// Urban Terror.
pub(crate) const URBAN_TERROR: Profile = Profile {
    name: "Urban Terror",
    signatures: &[
        all(&[Begins(Key::Version, "ioQ3 1.35 urt")]),
        all(&[Begins(Key::Version, "ioq3 1.35urt")]),
    ],
    game: Some("urbanterror"),
    limits: TextLimits::NONE,
    colours: Colours::CaretDigit,
    password: Password {
        left_out_if_none: Replies::Info,
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
    base_folders: &["q3ut4", "q3ut3", "q3ut2"],
    source: "FrozenSand/ioq3-for-UrbanTerror-4 code/server/sv_main.c, code/qcommon/q_shared.h; \
             types of match as the plugin PowerAdmin of B3 names them",
    ..DEFAULT
};

/// Urban Terror on another engine, which may be Quake3e.
pub(crate) const URBAN_TERROR_ELSEWHERE: Profile = Profile {
    name: "Urban Terror on another engine",
    signatures: &[
        all(&[Begins(Key::Gamename, "q3ut")]),
        all(&[Begins(Key::Gamename, "q3urt")]),
        all(&[Begins(Key::Game, "q3ut")]),
        all(&[Begins(Key::Game, "q3urt")]),
    ],
    limits: UNKNOWN_LIMITS,
    source: "senposage/Quake3e-urt code/qcommon/q_shared.h",
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
pub(crate) const RTCW: Profile = Profile {
    name: "Return to Castle Wolfenstein",
    signatures: &[
        all(&[Begins(Key::Version, "Wolf ")]),
        all(&[Is(Key::Gamename, "wolfmp")]),
    ],
    game: Some("rtcw"),
    limits: TextLimits::NONE,
    colours: Colours::Caret,
    matches: WOLFENSTEIN_MATCHES,
    base_folders: &["main"],
    source: "id-Software/RTCW-MP src/server/sv_main.c, src/game/q_shared.h",
    ..DEFAULT
};

/// iortcw.
pub(crate) const IORTCW: Profile = Profile {
    name: "iortcw",
    signatures: &[
        all(&[Begins(Key::Version, "iortcw")]),
        all(&[Is(Key::ComGamename, "wolfmp")]),
        all(&[Is(Key::Gamename, "wolfmp"), Has(Key::GHumanPlayers)]),
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
    signatures: &[
        all(&[Begins(Key::Version, "ET ")]),
        all(&[Is(Key::Gamename, "et")]),
        all(&[Is(Key::Gamename, "etmain")]),
    ],
    game: Some("wet"),
    limits: TextLimits::NONE,
    colours: Colours::EnemyTerritory,
    bots: &[Key::OmnibotPlaying, Key::Bots],
    matches: ENEMY_TERRITORY_MATCHES,
    base_folders: &["etmain"],
    source: "id-Software/Enemy-Territory src/server/sv_main.c, src/game/q_shared.h, bg_public.h; \
             etlegacy/etlegacy src/game/g_etbot_interface.cpp",
    ..DEFAULT
};

/// ETe, made from Quake3e.
pub(crate) const ETE: Profile = Profile {
    name: "ETe",
    signatures: &[all(&[Begins(Key::Version, "ET 2.60e")])],
    limits: QUAKE3E_LIMITS,
    source: "etfdevs/ETe src/server/sv_main.c, src/qcommon/q_shared.h",
    ..ENEMY_TERRITORY
};

/// ET: Legacy.
pub(crate) const ET_LEGACY: Profile = Profile {
    name: "ET: Legacy",
    signatures: &[all(&[Begins(Key::Version, "ET Legacy")])],
    game: Some("etlegacy"),
    colours: Colours::EtLegacy,
    source: "etlegacy/etlegacy src/server/sv_main.c, src/qcommon/q_shared.h, src/game/bg_public.h",
    ..ENEMY_TERRITORY
};

/// Smokin' Guns.
pub(crate) const SMOKIN_GUNS: Profile = Profile {
    name: "Smokin' Guns",
    signatures: &[
        all(&[Begins(Key::Version, "Smokin' Guns")]),
        all(&[Is(Key::Gamename, "smokinguns")]),
        all(&[Is(Key::ComGamename, "smokinguns")]),
    ],
    game: Some("smokinguns"),
    limits: TextLimits::NONE,
    colours: Colours::EnemyTerritory,
    // Its servers send all limits, whatever the type of match (g_main.c).
    score_limit: &[],
    matches: &[
        free_for_all(0, "Free For All"),
        Match {
            limit: Limit::Key(Key::DuelLimit),
            ..solo_match(1, "Duel")
        },
        solo_match(2, "Single Player"),
        team_match(3, "Team Deathmatch", FRAGS),
        team_match(4, "Round Teamplay", SCORE),
        team_match(5, "Bank Robbery", SCORE),
    ],
    base_folders: &["smokinguns"],
    source: "smokin-guns/SmokinGuns code/qcommon/q_shared.h, code/game/bg_public.h, g_main.c",
    ..DEFAULT
};

/// World of Padman.
pub(crate) const WORLD_OF_PADMAN: Profile = Profile {
    name: "World of Padman",
    signatures: &[
        all(&[Begins(Key::Version, "wop")]),
        all(&[Is(Key::Gamename, "WorldofPadman")]),
        all(&[Is(Key::ComGamename, "WorldofPadman")]),
    ],
    game: Some("wop"),
    limits: TextLimits::NONE,
    colours: Colours::CaretAlphanumeric,
    score_limit: &[Key::PointLimit],
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
    base_folders: &["wop"],
    source: "PadWorld-Entertainment/worldofpadman code/qcommon/q_shared.c, code/game/bg_public.h, \
             g_main.c",
    ..DEFAULT
};

/// Spearmint.
pub(crate) const SPEARMINT: Profile = Profile {
    name: "Spearmint",
    signatures: &[
        all(&[Begins(Key::Version, "Spearmint")]),
        all(&[Is(Key::Gamename, "Spearmint")]),
        all(&[Is(Key::ComGamename, "Spearmint")]),
    ],
    game: Some("spearmint"),
    limits: TextLimits::NONE,
    source: "clover-moe/spearmint code/server/sv_main.c, code/qcommon/q_shared.h",
    ..DEFAULT
};

/// Jedi Outcast 1.04.
pub(crate) const JEDI_OUTCAST: Profile = Profile {
    name: "Jedi Outcast 1.04",
    signatures: &[
        all(&[Begins(Key::Version, "JK2MP")]),
        all(&[Has(Key::Jk2mv)]),
        all(&[Has(Key::TrueJedi), Number(16, 16)]),
        all(&[Has(Key::JediVmerc), Number(16, 16)]),
    ],
    game: Some("swjk2jo"),
    limits: TextLimits::NONE,
    colours: Colours::CaretBasic,
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
    source: "mvdevs/jk2mv src/qcommon/q_shared.h, src/server/sv_main.cpp",
    ..DEFAULT
};

/// Jedi Outcast 1.02 and 1.03.
pub(crate) const JEDI_OUTCAST_102: Profile = Profile {
    name: "Jedi Outcast 1.02",
    signatures: &[
        all(&[Begins(Key::Version, "JK2MP: v1.02")]),
        all(&[Begins(Key::Version, "JK2MP: v1.03")]),
        all(&[Has(Key::Jk2mv), Number(15, 15)]),
        all(&[Has(Key::TrueJedi), Number(15, 15)]),
        all(&[Has(Key::JediVmerc), Number(15, 15)]),
    ],
    colours: Colours::Caret,
    ..JEDI_OUTCAST
};

/// Jedi Academy.
pub(crate) const JEDI_ACADEMY: Profile = Profile {
    name: "Jedi Academy",
    signatures: &[
        all(&[Begins(Key::Version, "JAmp")]),
        all(&[Begins(Key::Version, "OpenJK")]),
        all(&[Has(Key::TrueJedi)]),
        all(&[Has(Key::JediVmerc)]),
    ],
    game: Some("swjkja"),
    limits: TextLimits::NONE,
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
    source: "JACoders/OpenJK shared/qcommon/q_color.h, codemp/server/sv_main.cpp",
    ..DEFAULT
};

/// Soldier of Fortune II.
pub(crate) const SOLDIER_OF_FORTUNE_2: Profile = Profile {
    name: "Soldier of Fortune II",
    signatures: &[
        all(&[Begins(Key::Version, "SOF2MP")]),
        all(&[Begins(Key::Gamename, "sof2")]),
        all(&[Number(2001, 2004)]),
    ],
    game: Some("sof2"),
    limits: TextLimits::NONE,
    colours: Colours::Caret,
    base_folders: &["base", "mp"],
    source: "ensiform/SOF2MPSDK code/game/q_shared.h; captured",
    ..DEFAULT
};

/// Star Trek: Voyager – Elite Force.
pub(crate) const ELITE_FORCE: Profile = Profile {
    name: "Elite Force",
    signatures: &[
        all(&[Begins(Key::Version, "ST:V HM")]),
        all(&[Begins(Key::Version, "ioST:V HM")]),
        all(&[Begins(Key::Version, "cMod HM")]),
        all(&[Begins(Key::Version, "Lilium Voyager HM")]),
        all(&[Is(Key::Gamename, "EliteForce")]),
        all(&[Is(Key::ComGamename, "EliteForce")]),
    ],
    game: Some("stvef"),
    limits: TextLimits::NONE,
    colours: Colours::CaretAlphanumeric,
    matches: &[
        free_for_all(0, "Free For All"),
        free_for_all(1, "Tournament"),
        solo_match(2, "Single Player"),
        team_match(3, "Team Deathmatch", FRAGS),
        team_match(4, "Capture the Flag", CAPTURES),
    ],
    base_folders: &["baseef"],
    source: "Chomenor/ioef-cmod code/server/sv_main.c, code/qcommon/q_shared.c; \
             UberGames/rpgxEF code/base_game/bg_public.h",
    ..DEFAULT
};

/// Medal of Honor: Allied Assault, Spearhead, Breakthrough.
pub(crate) const MEDAL_OF_HONOR: Profile = Profile {
    name: "Medal of Honor",
    signatures: &[
        all(&[Has(Key::GGametypeString)]),
        all(&[Has(Key::GametypeString)]),
    ],
    limits: TextLimits::NONE,
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
    source: "openmoh/openmohaa code/server/sv_main.c, code/gamespy/sv_gamespy.c, \
             code/qcommon/q_shared.h, bg_public.h",
    ..DEFAULT
};

/// Call of Duty.
pub(crate) const COD1: Profile = Profile {
    name: "Call of Duty",
    signatures: &[
        all(&[Has(Key::CodExtended)]),
        all(&[Has(Key::Hw), Number(1, 5)]),
        all(&[Begins(Key::Gamename, "Call of Duty")]),
        all(&[Begins(Key::ShortVersion, "1."), Lacks(Key::GGametypeString)]),
    ],
    game: Some("cod"),
    limits: TextLimits::NONE,
    names: Names::GameAndFolder,
    colours: Colours::CaretDigit,
    // Mods may set `g_needpass`; the engine sets `pswrd` (captured).
    password: Password {
        keys: &[Key::Pswrd, Key::GNeedpass],
        ..DEFAULT.password
    },
    base_folders: &["main", "uo"],
    source: "xtnded/codextended sv_main.c; captured",
    ..DEFAULT
};

/// United Offensive.
pub(crate) const UNITED_OFFENSIVE: Profile = Profile {
    name: "United Offensive",
    signatures: &[
        all(&[Has(Key::Hw), Number(21, 22)]),
        all(&[Begins(Key::Gamename, "CoD:")]),
    ],
    game: Some("coduo"),
    source: "captured",
    ..COD1
};

/// World at War.
pub(crate) const WORLD_AT_WAR: Profile = Profile {
    name: "World at War",
    signatures: &[all(&[Begins(Key::Gamename, "Call of Duty: World at War")])],
    game: Some("codwaw"),
    source: "captured",
    ..COD1
};

/// Call of Duty 2.
pub(crate) const COD2: Profile = Profile {
    name: "Call of Duty 2",
    signatures: &[
        all(&[Is(Key::Gamename, "Call of Duty 2")]),
        all(&[Has(Key::Hw), Number(115, 120)]),
    ],
    game: Some("cod2"),
    colours: Colours::CallOfDuty2,
    clients: Clients::LeftOutAtZero(&[Key::Protocol, Key::SvMaxclients, Key::Pure, Key::Hw]),
    password: Password {
        left_out_if_none: Replies::Info,
        ..COD1.password
    },
    base_folders: &["main"],
    source: "voron00/CoD2rev_Server src/server/sv_main_mp.cpp, src/universal/q_shared.cpp, src/qcommon/qcommon.h",
    ..COD1
};

/// Call of Duty 4.
pub(crate) const COD4: Profile = Profile {
    name: "Call of Duty 4",
    signatures: &[all(&[Is(Key::Gamename, "Call of Duty 4")])],
    game: Some("cod4mw"),
    source: "captured; callofduty4x/CoD4x_Server src/sv_main.c",
    ..COD1
};

/// CoD4x.
pub(crate) const COD4X: Profile = Profile {
    name: "CoD4x",
    signatures: &[
        all(&[Begins(Key::Version, "CoD4 X")]),
        all(&[Has(Key::Build), Begins(Key::ShortVersion, "x")]),
    ],
    game: Some("cod4mw"),
    password: Password {
        left_out_if_none: Replies::Status,
        ..COD1.password
    },
    source: "callofduty4x/CoD4x_Server src/sv_main.c",
    ..COD1
};

/// An `infoResponse` of a Call of Duty whose protocol number does not identify the game.
pub(crate) const COD_UNNAMED: Profile = Profile {
    name: "Call of Duty of an unknown number",
    signatures: &[all(&[Has(Key::Hw)])],
    game: None,
    clients: Clients::LeftOutAtZero(&[Key::Protocol, Key::SvMaxclients, Key::Pure, Key::Hw]),
    source: "captured",
    ..COD1
};

/// Modern Warfare 2 with IW4x.
pub(crate) const IW4X: Profile = Profile {
    name: "IW4x",
    signatures: &[all(&[Is(Key::Gamename, "IW4")])],
    game: Some("codmw2"),
    limits: TextLimits::NONE,
    colours: Colours::ModernWarfare2,
    clients: Clients::People,
    info_slots: InfoSlots::All,
    source: "iw4x/iw4x-client src/Components/Modules/Party.cpp, ServerInfo.cpp, TextRenderer.cpp, \
             Dedicated.cpp",
    ..DEFAULT
};

/// Modern Warfare 3: Plutonium, IW5M.
pub(crate) const IW5: Profile = Profile {
    name: "Modern Warfare 3",
    signatures: &[
        all(&[Is(Key::Gamename, "IW5")]),
        all(&[Is(Key::Gamename, "PIW5")]),
    ],
    game: Some("iw5"),
    limits: TextLimits::NONE,
    info_slots: InfoSlots::All,
    source: "ahmad009/IW5M-1.9 Steam/GSServer.cpp",
    ..DEFAULT
};

/// Ghosts with IW6x.
pub(crate) const IW6X: Profile = Profile {
    name: "IW6x",
    signatures: &[all(&[Is(Key::Gamename, "IW6")])],
    game: Some("iw6x"),
    limits: TextLimits::NONE,
    colours: Colours::Ghosts,
    info_slots: InfoSlots::All,
    source: "HeartbeatingForCenturies/iw6x-client src/client/component/party.cpp, colors.cpp; \
             Ezz-lol/boiii-free getinfo.cpp",
    ..DEFAULT
};

/// Advanced Warfare with S1x.
pub(crate) const S1X: Profile = Profile {
    name: "S1x",
    signatures: &[all(&[Is(Key::Gamename, "S1")])],
    game: Some("s1x"),
    colours: Colours::AdvancedWarfare,
    source: "HeartbeatingForCenturies/s1x-client src/client/component/party.cpp, rcon.cpp, colors.cpp",
    ..IW6X
};

/// Modern Warfare Remastered with H1-Mod.
pub(crate) const H1: Profile = Profile {
    name: "H1-Mod",
    signatures: &[all(&[Is(Key::Gamename, "H1")])],
    game: Some("h1"),
    colours: Colours::AdvancedWarfare,
    source: "auroramod/h1-mod src/client/component/party.cpp, rcon.cpp",
    ..IW6X
};

/// Black Ops III with BOIII or T7x.
pub(crate) const BOIII: Profile = Profile {
    name: "BOIII",
    signatures: &[all(&[Is(Key::Gamename, "T7")])],
    game: Some("t7x"),
    source: "Ezz-lol/boiii-free src/client/component/getinfo.cpp, rcon.cpp",
    ..IW6X
};

/// Infinite Warfare with iw7-mod.
pub(crate) const IW7: Profile = Profile {
    name: "iw7-mod",
    signatures: &[all(&[Is(Key::Gamename, "IW7")])],
    game: Some("iw7mod"),
    colours: Colours::InfiniteWarfare,
    source: "auroramod/iw7-mod src/client/component/party.cpp, colors.cpp",
    ..IW6X
};

/// Tremulous 1.1 and 1.2.
pub(crate) const TREMULOUS: Profile = Profile {
    name: "Tremulous 1.2",
    signatures: &[
        all(&[Begins(Key::Version, "tremulous")]),
        all(&[Is(Key::Gamename, "base"), Number(69, 70)]),
    ],
    game: Some("tremulous"),
    limits: TextLimits::NONE,
    colours: Colours::CaretAlphanumeric,
    base_folders: &["base"],
    source: "darklegion/tremulous src/qcommon/q_shared.h",
    ..DEFAULT
};

/// Tremulous 1.3.
pub(crate) const TREMULOUS_13: Profile = Profile {
    name: "Tremulous 1.3",
    signatures: &[
        all(&[Begins(Key::Version, "tremulous 1.3")]),
        all(&[Is(Key::Gamename, "Tremulous")]),
    ],
    colours: Colours::Tremulous13,
    source: "GrangerHub/tremulous src/server/sv_main.cpp, src/qcommon/q_shared.h",
    ..TREMULOUS
};

/// The Daemon engine of Unvanquished.
pub(crate) const DAEMON: Profile = Profile {
    name: "Daemon",
    signatures: &[
        all(&[Is(Key::Gamename, "unv")]),
        all(&[Begins(Key::Version, "Unvanquished")]),
        all(&[Has(Key::DaemonVersion)]),
    ],
    game: Some("unvanquished"),
    limits: TextLimits::NONE,
    colours: Colours::Daemon,
    clients: Clients::People,
    source: "DaemonEngine/Daemon src/engine/server/sv_main.cpp, src/common/Color.cpp",
    ..DEFAULT
};

/// DarkPlaces: Nexuiz, Xonotic and others.
pub(crate) const DARK_PLACES: Profile = Profile {
    name: "DarkPlaces",
    signatures: &[
        all(&[Has(Key::Qcstatus)]),
        // Mods of Soldier of Fortune II have `modname` too.
        all(&[Has(Key::Modname), Number(3, 3)]),
    ],
    limits: TextLimits::NONE,
    colours: Colours::DarkPlaces,
    info_slots: InfoSlots::All,
    bots_have_no_ping: true,
    base_folders: &["data", "id1"],
    source: "xonotic/darkplaces netconn.c, gl_draw.c, common.c",
    ..DEFAULT
};

/// FTE.
pub(crate) const FTE: Profile = Profile {
    name: "FTE",
    signatures: &[all(&[NumberWithLetters])],
    game: Some("fteqw"),
    limits: TextLimits::NONE,
    info_slots: InfoSlots::All,
    colours: Colours::Fte,
    version: &[Key::StarVersion],
    score_limit: &[Key::FragLimit],
    password: NEEDPASS_IF_ANY,
    base_folders: &["id1", "qw", "fte"],
    source: "fte-team/fteqw engine/server/sv_main.c, engine/common/common.c",
    ..DEFAULT
};

/// Warsow, whose engine is qfusion.
pub(crate) const WARSOW: Profile = Profile {
    name: "Warsow",
    signatures: &[
        all(&[Is(Key::Gamename, "Warsow")]),
        all(&[Is(Key::FsGame, "basewsw")]),
    ],
    game: Some("warsow"),
    limits: TextLimits::NONE,
    colours: Colours::Warsow,
    info_slots: InfoSlots::All,
    bots_left_out_if_none: Replies::All,
    base_folders: &["basewsw", "basewf"],
    source: "Warsow/qfusion source/server/sv_main.cpp; viciious/qfusion source/gameshared/q_shared.c",
    ..DEFAULT
};

/// Warfork, made from Warsow.
pub(crate) const WARFORK: Profile = Profile {
    name: "Warfork",
    signatures: &[all(&[Is(Key::Gamename, "Warfork")])],
    game: Some("warfork"),
    source: "TeamForbiddenLLC/warfork-qfusion source/server/sv_oob.c",
    ..WARSOW
};

/// A server of qfusion that does not name its game.
pub(crate) const QFUSION: Profile = Profile {
    name: "qfusion",
    signatures: &[
        all(&[Begins(Key::FsGame, "basew")]),
        all(&[Has(Key::SvMmEnable)]),
    ],
    game: None,
    ..WARSOW
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quake3::wire::InfoString;
    use crate::text::listing::Listing;

    #[test]
    fn every_cell_is_the_listed_one() {
        let mut listing = Listing::default();
        listing.row(DEFAULT.name, &DEFAULT, None);
        for row in ALL.iter().chain(&SIBLINGS) {
            listing.row(row.name, row, Some(&DEFAULT));
        }
        listing.value("teams of qcstatus", &QCSTATUS_TEAMS);
        listing.value("teams of a match score", &MATCH_SCORE_TEAMS);
        listing.value("red and blue", &RED_AND_BLUE);
        listing.keys(Key::ALL.iter().map(|key| (key, key.as_str())));
        listing.check("quake3");
    }

    fn name_of(info: &str) -> &'static str {
        let known = InfoString::new(info.as_bytes()).iter().collect();
        Profile::of_reply(Family::Quake3, &known).name
    }

    /// Keys as each engine writes them, from its own format strings.
    const REPLIES: &[(&str, &str)] = &[
        (
            "Quake III Arena",
            r"\version\Q3 1.32c linux-i386 May  8 2006\gamename\freeze",
        ),
        (
            "Quake3e",
            r"\version\Q3 1.32e linux-x86_64 Aug 26 2026\gamename\baseq3",
        ),
        (
            "Quake III Arena or Quake3e",
            r"\gametype\0\sv_maxclients\8\clients\1\mapname\q3dm17\hostname\x\protocol\68",
        ),
        ("ioquake3", r"\version\ioq3 1.36\gamename\baseoa"),
        (
            "ioquake3",
            r"\g_humanplayers\0\hostname\x\protocol\71\gamename\Quake3Arena",
        ),
        ("ioquake3", r"\com_gamename\Quake3Arena\gamename\cpma"),
        (
            "OpenArena",
            r"\version\ioq3+oa 1.36_SVN1910M linux-x86_64\gamename\baseoa",
        ),
        (
            "OpenArena",
            r"\game\baseoa\gamename\Quake3Arena\g_humanplayers\0\protocol\71",
        ),
        (
            "Urban Terror",
            r"\version\ioQ3 1.35 urt 4.3.4 linux-x86_64\protocol\68",
        ),
        (
            "Urban Terror",
            r"\version\ioq3 1.35urt linux-i386\gamename\q3ut4",
        ),
        (
            "Urban Terror on another engine",
            r"\version\Q3 1.32e linux-x86_64\gamename\q3urt43",
        ),
        (
            "Urban Terror on another engine",
            r"\game\q3ut4\pure\1\gametype\8\hostname\x\protocol\68",
        ),
        (
            "Return to Castle Wolfenstein",
            r"\version\Wolf 1.41 linux-i386",
        ),
        (
            "Return to Castle Wolfenstein",
            r"\gamename\wolfmp\gameskill\2\protocol\60",
        ),
        (
            "iortcw",
            r"\version\iortcw 1.51d-MP linux-x86_64\com_gamename\wolfmp\gamename\main",
        ),
        ("iortcw", r"\gamename\wolfmp\g_humanplayers\0\protocol\60"),
        (
            "Enemy Territory",
            r"\version\ET 2.60b linux-i386\gamename\nitmod",
        ),
        ("Enemy Territory", r"\gamename\et\serverload\0\protocol\84"),
        (
            "ETe",
            r"\version\ET 2.60e linux-x86_64 Jun 19 2026\gamename\legacy",
        ),
        (
            "ET: Legacy",
            r"\version\ET Legacy v2.82\gamename\et\protocol\84",
        ),
        (
            "Smokin' Guns",
            r"\version\Smokin' Guns 1.1\com_gamename\smokinguns",
        ),
        (
            "Smokin' Guns",
            r"\gamename\smokinguns\g_humanplayers\0\protocol\71",
        ),
        ("World of Padman", r"\version\wop 1.7.0 linux-x86_64"),
        (
            "World of Padman",
            r"\gamename\WorldofPadman\g_humanplayers\0\protocol\72",
        ),
        (
            "Spearmint",
            r"\version\Spearmint 1.0.3\com_gamename\Spearmint",
        ),
        (
            "Spearmint",
            r"\gamename\Spearmint\cheats\0\g_humanplayers\0\protocol\12",
        ),
        (
            "Jedi Outcast 1.04",
            r"\version\JK2MP: v1.04mv linux-amd64\JK2MV\UNKNOWN\protocol\16",
        ),
        (
            "Jedi Outcast 1.04",
            r"\fdisable\0\wdisable\0\truejedi\0\protocol\16",
        ),
        (
            "Jedi Outcast 1.02",
            r"\version\JK2MP: v1.02mv linux-amd64\protocol\15",
        ),
        ("Jedi Outcast 1.02", r"\g_jediVmerc\0\protocol\15"),
        (
            "Jedi Academy",
            r"\version\JAmp: v1.0.1.0 linux-i386\gamename\JA+ Mod",
        ),
        (
            "Jedi Academy",
            r"\version\OpenJK-MP: v1.0.1.0 linux-x86_64\protocol\26",
        ),
        (
            "Jedi Academy",
            r"\fdisable\0\wdisable\0\truejedi\0\protocol\26",
        ),
        (
            "Soldier of Fortune II",
            r"\version\SOF2MP GOLD V1.03 win-x86\modname\ROCmod",
        ),
        ("Soldier of Fortune II", r"\modname\RPM\protocol\2004"),
        (
            "Elite Force",
            r"\version\cMod HM v1.20 compatible\protocol\24",
        ),
        (
            "Elite Force",
            r"\version\Lilium Voyager HM 1.40 linux-x86_64",
        ),
        ("Elite Force", r"\version\ioST:V HM 1.37\protocol\24"),
        (
            "Elite Force",
            r"\gamename\EliteForce\g_humanplayers\0\protocol\24",
        ),
        (
            "Medal of Honor",
            r"\g_gametypestring\Free-For-All\shortversion\0.83.0\protocol\8",
        ),
        (
            "Medal of Honor",
            r"\gamever\1.12\gametypestring\Team-Match\gametype\2\protocol\8",
        ),
        (
            "Call of Duty",
            r"\gamename\main\shortversion\1.1\protocol\1",
        ),
        (
            "United Offensive",
            r"\gamename\CoD:United Offensive\shortversion\1.51",
        ),
        ("United Offensive", r"\gametype\sd\pure\1\hw\1\protocol\22"),
        (
            "World at War",
            r"\gamename\Call of Duty: World at War\shortversion\1.7",
        ),
        ("Call of Duty", r"\codextended\v20\gametype\dm\protocol\1"),
        (
            "Call of Duty 2",
            r"\gamename\Call of Duty 2\shortversion\1.3\protocol\118",
        ),
        ("Call of Duty 2", r"\gametype\sd\pure\1\hw\1\protocol\118"),
        (
            "Call of Duty 4",
            r"\gamename\Call of Duty 4\shortversion\1.7\protocol\6",
        ),
        (
            "CoD4x",
            r"\version\CoD4 X 1.7a win_mingw-x86\gamename\Call of Duty 4",
        ),
        (
            "CoD4x",
            r"\build\1100\shortversion\x21\gametype\war\hw\1\protocol\6",
        ),
        (
            "Call of Duty of an unknown number",
            r"\gametype\war\hw\1\protocol\6",
        ),
        (
            "IW4x",
            r"\gamename\IW4\securityLevel\0\matchtype\1\shortversion\0.7.2",
        ),
        (
            "Modern Warfare 3",
            r"\gamename\PIW5\hw\1\shortversion\1.9\protocol\20601",
        ),
        ("IW6x", r"\gamename\IW6\isPrivate\0\bots\4\protocol\1"),
        (
            "BOIII",
            r"\gamename\T7\isPrivate\0\shortversion\1.0\protocol\8",
        ),
        ("S1x", r"\gamename\S1\isPrivate\0\protocol\1"),
        ("H1-Mod", r"\gamename\H1\isPrivate\0\protocol\2"),
        ("iw7-mod", r"\gamename\IW7\isPrivate\0\protocol\2"),
        (
            "Tremulous 1.2",
            r"\version\tremulous 1.1.0 linux-i386\gamename\base",
        ),
        (
            "Tremulous 1.3",
            r"\version\tremulous 1.3.0 alpha linux-x86_64",
        ),
        ("Tremulous 1.3", r"\gamename\Tremulous\protocol\71"),
        ("Daemon", r"\version\Unvanquished 0.56.2 Linux amd64"),
        ("Daemon", r"\daemonver\0.56.2\gamename\unv\protocol\86"),
        (
            "DarkPlaces",
            r"\gamename\Xonotic\modname\data\gameversion\806\protocol\3",
        ),
        ("DarkPlaces", r"\gamename\Nexuiz\qcstatus\dm:2.5.2::score!!"),
        ("FTE", r"\gamename\FTE-Quake\protocol\3wnd\modname\ctf"),
        ("Warsow", r"\gamename\Warsow\gametype\ca\protocol\22"),
        (
            "Warsow",
            r"\challenge\abc\fs_game\basewsw\sv_mm_enable\0\gametype\ctf",
        ),
        ("Warfork", r"\gamename\Warfork\gametype\ca\protocol\27"),
        (
            "qfusion",
            r"\challenge\abc\fs_game\basewf\sv_mm_enable\0\gametype\ctf",
        ),
        ("unknown", r"\sv_hostname\x\gamename\other"),
    ];

    /// Keys of Quake 2's and QuakeWorld's servers, from their own format strings.
    const SIBLING_REPLIES: &[(Family, &str, &str)] = &[
        (
            Family::Quake2,
            "Quake 2",
            r"\mapname\q2dm1\maxclients\8\hostname\x\version\3.21 Linux",
        ),
        (
            Family::Quake2,
            "Alien Arena",
            r"\mapname\dm-x\maxclients\8\g_teamgame\0\version\7.71",
        ),
        (
            Family::QuakeWorld,
            "QuakeWorld",
            r"\*version\MVDSV 0.36\map\dm4\maxclients\8",
        ),
        (
            Family::QuakeWorld,
            "FTE as QuakeWorld",
            r"\*version\FTE v1.07\map\dm4\maxclients\8",
        ),
        (
            Family::QuakeWorld,
            "QTV",
            r"\*version\QTV 1.15\maxclients\100\hostname\x",
        ),
        (
            Family::QuakeWorld,
            "qwfwd",
            r"\*version\qwfwd 1.30\maxclients\128\hostname\x",
        ),
    ];

    #[test]
    fn every_sibling_is_recognised_by_its_own_keys() {
        for (family, name, info) in SIBLING_REPLIES {
            let known = InfoString::new(info.as_bytes()).iter().collect();
            assert_eq!(Profile::of_reply(*family, &known).name, *name, "{info}");
        }
        for profile in &SIBLINGS {
            let is_tested = SIBLING_REPLIES
                .iter()
                .any(|(_, name, _)| *name == profile.name);
            let name = profile.name;
            assert!(is_tested, "SIBLING_REPLIES has no reply of {name}");
            assert!(
                !profile.source.is_empty(),
                "the row of {name} has no source"
            );
        }
    }

    #[test]
    fn every_engine_is_recognised_by_its_own_keys() {
        for (name, info) in REPLIES {
            assert_eq!(name_of(info), *name, "{info}");
        }
        for profile in ALL.iter().chain([&DEFAULT]) {
            let is_tested = REPLIES.iter().any(|(name, _)| *name == profile.name);
            assert!(is_tested, "REPLIES has no reply of {}", profile.name);
            let has_source = !profile.source.is_empty() || profile.name == "unknown";
            assert!(has_source, "the row of {} has no source", profile.name);
        }
    }

    #[test]
    fn the_first_letters_of_all_texts_are_compared() {
        for signature in Profile::all().flat_map(|profile| profile.signatures) {
            for mark in signature.marks {
                if let Is(key, _) | Begins(key, _) = mark {
                    assert!(TEXT_KEYS.contains(key), "TEXT_KEYS lacks {key:?}");
                }
            }
        }
    }

    #[test]
    fn an_unknown_engine_loses_only_codes_that_all_known_engines_have() {
        use crate::model::{Charset, Style, TextRef};
        let plain = |text: &str, colours| {
            let style = Style::new(Charset::default(), colours);
            TextRef::new(text.as_bytes(), style).plain().into_owned()
        };
        for code in 0..=0x7F_u8 {
            let text = format!("a^{}b", char::from(code));
            let is_removed = |profile: &Profile| plain(&text, profile.colours) == "ab";
            if is_removed(&DEFAULT) {
                assert!(ALL.iter().all(is_removed), "{text:?}");
            }
        }
        assert_eq!(plain("<^_^> ^1x", DEFAULT.colours), "<^_^> x");
    }

    /// The numbers of `g_gametype`: `bg_public.h` of the games.
    #[test]
    fn the_same_number_is_a_game_of_teams_in_some_games_only() {
        let teams = |profile: &Profile| -> Vec<u32> {
            let with_teams = profile.matches.iter().filter(|each| each.has_teams);
            with_teams.map(|each| each.number).collect()
        };
        assert_eq!(teams(&JEDI_OUTCAST), [5, 7, 8]);
        assert_eq!(teams(&JEDI_ACADEMY), [6, 7, 8, 9]);
        assert_eq!(teams(&URBAN_TERROR), [3, 4, 5, 6, 7, 8, 10]);
        assert_eq!(teams(&QUAKE3), [3, 4, 5, 6, 7]);
        assert!(teams(&WARSOW).is_empty() && teams(&DEFAULT).is_empty());
    }

    #[test]
    fn the_page_of_the_module_agrees_with_the_rows() {
        const PAGE: &str = include_str!("mod.rs");
        for profile in ALL.iter().chain([&DEFAULT]).chain(&SIBLINGS) {
            let has_info = profile.family == Family::Quake3;
            let clients = match profile.clients {
                _ if !has_info => "–",
                Clients::Everyone => "everyone",
                Clients::LeftOutAtZero(_) => "everyone, left out at 0",
                Clients::People => "people",
            };
            let slots = match profile.info_slots {
                _ if !has_info => "–",
                InfoSlots::Public => "public",
                InfoSlots::All => "all",
            };
            let Profile { name, colours, .. } = profile;
            let row = format!("//! | {name} | `{colours:?}` | {clients} | {slots} |\n");
            assert!(
                PAGE.contains(&row),
                "the table of engines in mod.rs lacks {row}"
            );
            let row_of = |field: &str| {
                let mut lines = PAGE.lines();
                lines.find(|line| line.starts_with(&format!("//! | `{field}` |")))
            };
            let mod_keys = match profile.names {
                Names::GameAndModification | Names::GameAndFolder => &[],
                Names::Modification(keys) => keys,
            };
            for (field, keys) in [
                ("name", profile.server_name),
                ("map", profile.map),
                ("mod_name", mod_keys),
                ("game_type", profile.match_words),
                ("game_type", profile.match_number),
                ("version", profile.version),
                ("protocol_version", PROTOCOL),
                ("max_players", profile.slots),
                ("private_slots", PRIVATE_SLOTS),
                ("score_limit", profile.score_limit),
                ("time_limit", TIME_LIMIT),
                ("dedicated", DEDICATED),
                ("anti_cheat", ANTI_CHEAT),
                ("bot_count", profile.bots),
                ("bot_count", PEOPLE),
                ("password", profile.password.keys),
            ] {
                let row = row_of(field).unwrap();
                for key in keys {
                    let key = format!("`{}`", key.as_str());
                    assert!(
                        row.contains(&key),
                        "the row of {field} in mod.rs lacks {key}"
                    );
                }
            }
        }
    }

    /// The numbers of `g_gametype`, each with its name in the game; `+` marks those with teams. A
    /// type of match that changes in a row changes here too.
    #[test]
    fn types_of_match_have_their_numbers_and_teams() {
        for (row, expected) in [
            (
                &QUAKE3,
                "0 Free For All, 1 Tournament, 2 Single Player, 3 Team Deathmatch+, \
                 4 Capture the Flag+, 5 One Flag CTF+, 6 Overload+, 7 Harvester+",
            ),
            (
                &URBAN_TERROR,
                "0 Free For All, 1 Last Man Standing, 3 Team Deathmatch+, \
                 4 Team Survivor+, 5 Follow the Leader+, 6 Capture and Hold+, \
                 7 Capture the Flag+, 8 Bomb Mode+, 9 Jump Mode, 10 Freeze Tag+, \
                 11 Gun Game",
            ),
            (
                &RTCW,
                "5 Objective+, 6 Stopwatch+, 7 Checkpoint+, 8 Capture and Hold+",
            ),
            (
                &ENEMY_TERRITORY,
                "2 Objective+, 3 Stopwatch+, 4 Campaign+, 5 Last Man Standing+, \
                 6 Map Voting+",
            ),
            (
                &OPEN_ARENA,
                "0 Free For All, 1 Tournament, 2 Single Player, 3 Team Deathmatch+, \
                 4 Capture the Flag+, 5 One Flag CTF+, 6 Overload+, 7 Harvester+, \
                 8 Elimination+, 9 CTF Elimination+, 10 Last Man Standing, \
                 11 Double Domination+, 12 Domination+, 13 Possession",
            ),
            (
                &ELITE_FORCE,
                "0 Free For All, 1 Tournament, 2 Single Player, 3 Team Deathmatch+, \
                 4 Capture the Flag+",
            ),
            (
                &SMOKIN_GUNS,
                "0 Free For All, 1 Duel, 2 Single Player, 3 Team Deathmatch+, \
                 4 Round Teamplay+, 5 Bank Robbery+",
            ),
            (
                &WORLD_OF_PADMAN,
                "0 Free For All, 1 Tournament, 2 Single Player, 3 Spray, 4 Last Pad Standing, \
                 5 Killerduck, 6 Team Deathmatch+, \
                 7 Freeze Tag+, 8 Capture the Flag+, 9 One Flag CTF+, 10 Team Spray+, \
                 11 Balloon+",
            ),
            (
                &JEDI_OUTCAST,
                "0 Free For All, 1 Holocron FFA, 2 Jedi Master, 3 Duel, 4 Single Player, \
                 5 Team FFA+, 7 Capture the Flag+, 8 Capture the Ysalamiri+",
            ),
            (
                &JEDI_ACADEMY,
                "0 Free For All, 1 Holocron FFA, 2 Jedi Master, 3 Duel, 4 Power Duel, \
                 5 Single Player, 6 Team FFA+, 7 Siege+, 8 Capture the Flag+, \
                 9 Capture the Ysalamiri+",
            ),
            (
                &MEDAL_OF_HONOR,
                "1 Free For All, 2 Team Deathmatch+, 3 Round Based+, 4 Objective+, \
                 5 Tug of War+, 6 Liberation+",
            ),
        ] {
            let words = row.matches.iter().map(|kind| {
                let teams = if kind.has_teams { "+" } else { "" };
                format!("{} {}{teams}", kind.number, kind.name)
            });
            assert_eq!(
                words.collect::<Vec<_>>().join(", "),
                expected,
                "{}",
                row.name
            );
        }
    }
}
