//! The engines that speak this protocol: one row each, with the differences between their replies.
//!
//! The first row with a mark of a reply determines how it is read.

use std::ops::RangeInclusive;

use super::wire::strings::FString;
use crate::meaning::{Entry, Field, Form, Known, Row, all, entries, has, key};

/// The versions that games send. The first is that of a demo of Pariah (`Unity-Technologies/qstat`,
/// `qstat.c`). Its commands have other numbers and its records shorter fields, so its replies are
/// not read (`Ch0wW/pariah-uscript-source`, `IpDrv/ServerQueryClient.uc`, `Engine/GameInfo.uc`).
pub(super) const VERSIONS: RangeInclusive<u32> = 0x77..=0x80;

/// The version of UT2004 and its relatives. Older ones have shorter info records.
pub(super) const UT2004_VERSION: u32 = 0x80;

/// The bits of the teams 0, red, and 1, blue, in a player's stats id (`Deaod/UT2004`,
/// `Engine/GameInfo.uc`, `GetServerPlayers`). Games without these bits leave the stats id at 0.
pub(super) const RED: u32 = 1 << 29;
pub(super) const BLUE: u32 = 1 << 30;

/// The names of the teams 0 and 1 in rows that hold their scores, in lower case.
pub(super) const TEAM_NAMES: [&str; 2] = ["red", "blue"];

/// The rule with which the list of every stock game begins, and its values (`Deaod/UT2004`,
/// `Engine/GameInfo.uc`, `GetServerDetails`).
pub(super) const SERVER_MODE: &str = "ServerMode";
pub(super) const DEDICATED: &str = "dedicated";
pub(super) const NON_DEDICATED: &str = "non-dedicated";

/// The rules directly before and after that of a password, if there is none (`Deaod/UT2004` and
/// `InsultingPros/KillingFloor`, `Engine/GameInfo.uc`, `GetServerDetails`).
pub(super) const PASSWORD_NEIGHBOURS: [(&str, &str); 3] = [
    ("ServerVersion", "GameStats"),
    ("IsVacSecured", "GameSpeed"),
    ("IsVacSecured", "MaxSpectators"),
];

/// The rules with one text each, or with texts in two character sets, which this module reads.
pub(super) const VERSION: Field = Field::Own(0);
pub(super) const MUTATOR: Field = Field::Own(1);

/// The facts about one engine.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    /// The rules that have a field in the model.
    pub(super) row: Row,
    /// A reply of one of these versions is this engine's.
    versions: RangeInclusive<u32>,
    /// Whether a reply whose info record has waves is this engine's.
    is_marked_by_waves: bool,
    players: PlayerForm,
    /// The meaning of the info record's flags, which records before UT2004's lack.
    pub(super) flags: Flags,
    /// Whether the rules name every mutator, and a password if there is one: then an absent rule
    /// means that there is none.
    pub(super) names_all: bool,
}

/// The fields of a player's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum PlayerForm {
    /// Number, name, ping, score and stats id.
    #[default]
    Standard,
    /// A player's record has a second number after the first, and pairs at the end.
    WithPairs,
}

impl PlayerForm {
    pub(super) fn of_version(version: u32) -> Self {
        let mut engines = ENGINES.iter();
        let engine = engines.find(|engine| engine.versions.contains(&version));
        engine.map_or(Self::Standard, |engine| engine.players)
    }
}

/// Bits of the info record's flags.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flags {
    pub(super) password: i32,
    pub(super) listen: i32,
    pub(super) anti_cheat: Option<i32>,
}

impl Engine {
    /// The engine of a reply, by its version, the waves of its info record and its rules.
    pub(super) fn of(version: Option<u32>, has_waves: bool, known: &Known<'_>) -> &'static Self {
        let fits = |engine: &&Self| {
            let has_version = version.is_some_and(|version| engine.versions.contains(&version));
            let is_marked = has_waves && engine.is_marked_by_waves;
            has_version || is_marked || engine.row.fits(known)
        };
        ENGINES.iter().find(fits).unwrap_or(&OTHERS)
    }
}

/// The rules of `GetServerDetails`, with which the list of every stock game begins (`Deaod/UT2004`,
/// `Engine/GameInfo.uc`, `Engine/Mutator.uc`, `UnrealGame/DeathMatch.uc`).
const USUAL: &[Entry] = &[
    key("servermode", Field::Dedicated).with(MODES),
    key("serverversion", VERSION),
    key("gamepassword", Field::Password),
    key("goalscore", Field::ScoreLimit),
    key("timelimit", Field::TimeLimit),
    key("mutator", MUTATOR),
];

const MODES: Form = Form::Words(DEDICATED, NON_DEDICATED);

/// No version of the protocol.
#[allow(clippy::reversed_empty_ranges, reason = "an empty range")]
const NO_VERSION: RangeInclusive<u32> = 1..=0;

/// The flags that mean the same in all games.
const COMMON_FLAGS: Flags = Flags {
    password: 1,
    listen: 8,
    anti_cheat: None,
};

/// The flags of games on Steam. In UT2004, 16 means instagib (`Deaod/UT2004`,
/// `GUI2K4/UT2k4Browser_ServersList.uc`).
const STEAM_FLAGS: Flags = Flags {
    anti_cheat: Some(16),
    ..COMMON_FLAGS
};

/// An engine without a row. An absent rule has no meaning, nor has a flag that means different
/// things in different games (Deaod/UT2004, GUI2K4/UT2k4Browser_ServersList.uc).
const UNKNOWN: Engine = Engine {
    row: Row {
        name: "unknown",
        signatures: &[],
        style: FString::narrow(b"").style(),
        own: entries(&[]),
        usual: entries(USUAL),
        base: &[],
    },
    versions: NO_VERSION,
    is_marked_by_waves: false,
    players: PlayerForm::Standard,
    flags: COMMON_FLAGS,
    names_all: false,
};

/// KFTurbo, a modification of Killing Floor (KFPilot/KFTurbo,
/// KFTurboServer/Classes/KFTurboMasterServerUplink.uc).
const KILLING_FLOOR_TURBO: Engine = Engine {
    row: Row {
        name: "KFTurbo",
        signatures: &[all(&[has("server mode")]), all(&[has("vac secured")])],
        own: entries(&[
            key("server mode", Field::Dedicated).with(MODES),
            key("server version", VERSION),
            key("passworded", Field::Password),
            key("vac secured", Field::AntiCheat).with(Form::Words("Enabled", "Disabled")),
        ]),
        ..UNKNOWN.row
    },
    flags: STEAM_FLAGS,
    ..UNKNOWN
};

/// Killing Floor (InsultingPros/KillingFloor, Engine/Classes/GameInfo.uc).
const KILLING_FLOOR: Engine = Engine {
    row: Row {
        name: "Killing Floor",
        own: entries(&[key("isvacsecured", Field::AntiCheat)]),
        ..UNKNOWN.row
    },
    is_marked_by_waves: true,
    flags: STEAM_FLAGS,
    names_all: true,
    ..UNKNOWN
};

/// Red Orchestra, Darkest Hour and Mare Nostrum. UT2004's replies have the same version and layout,
/// but not the rule (Har99m/Red-Orchestra-Ostfront-41-45-Source-Code, Engine/Classes/GameInfo.uc;
/// DarklightGames/DarkestHour, DH_Interface/Classes/DHBrowser_ServersList.uc).
const RED_ORCHESTRA: Engine = Engine {
    row: Row {
        name: "Red Orchestra",
        signatures: &[all(&[has("isvacsecured")])],
        own: entries(&[key("isvacsecured", Field::AntiCheat)]),
        ..UNKNOWN.row
    },
    flags: STEAM_FLAGS,
    names_all: true,
    ..UNKNOWN
};

/// Unreal II XMP (jmarshall23/Unreal2XMP, Engine/Classes/GameInfo.uc; Unity-Technologies/qstat,
/// qstat.c).
const UNREAL_II_XMP: Engine = Engine {
    row: Row {
        name: "Unreal II XMP",
        own: entries(&[key("password", Field::Password)]),
        ..UNKNOWN.row
    },
    versions: 0x7E..=0x7E,
    players: PlayerForm::WithPairs,
    names_all: true,
    ..UNKNOWN
};

/// UT2003 with its demo, and Devastation (openspy/wireshark-dissectors, ut2004/main.c;
/// Unity-Technologies/qstat, qstat.c).
const UT2003: Engine = Engine {
    row: Row {
        name: "UT2003",
        ..UNKNOWN.row
    },
    versions: 0x78..=0x79,
    names_all: true,
    ..UNKNOWN
};

/// UT2004 and its demo. The mod AntiTCC adds rules (Deaod/UT2004, Engine/GameInfo.uc; a capture in
/// Austinb/GameQ).
const UT2004: Engine = Engine {
    row: Row {
        name: "UT2004",
        own: entries(&[
            key("game password", Field::Password),
            key("anti tcc version", Field::AntiCheat).with(Form::Present),
        ]),
        ..UNKNOWN.row
    },
    versions: 0x7F..=UT2004_VERSION,
    names_all: true,
    ..UNKNOWN
};

/// [`UNKNOWN`] as a static: the row of every other server.
static OTHERS: Engine = UNKNOWN;

/// The most specific first.
static ENGINES: &[Engine] = &[
    KILLING_FLOOR_TURBO,
    KILLING_FLOOR,
    RED_ORCHESTRA,
    UNREAL_II_XMP,
    UT2003,
    UT2004,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Limits;
    use crate::meaning::{
        facts, unneeded_parts, untested, with_cells_of, with_keys_in_capitals, with_rows,
    };
    use crate::ut2004::Answer;

    /// Replies of servers as they describe themselves, by the source of each row: the version, the
    /// waves of the info record, its flags, the rules; the engine, and the fields.
    const REPLIES: &[(u8, bool, u8, &str, &str)] = &[
        // No known engine: flags without a meaning say nothing about a password.
        (
            0x7A,
            false,
            0,
            r"\ServerMode\dedicated\ServerVersion\1\GameStats\False",
            "unknown: version 1, dedicated true, players 0, max 0",
        ),
        // UT2004 and its demo: flags count where their meaning is known.
        (
            0x80,
            false,
            0,
            r"\ServerMode\dedicated\ServerVersion\3369\GoalScore\25\TimeLimit\20\Mutator\MutA",
            "UT2004: mutators [MutA], version 3369, password false, dedicated true, players 0, max 0, limit 1200 s, score 25",
        ),
        (
            0x7F,
            false,
            0,
            r"\ServerMode\non-dedicated\GamePassword\True",
            "UT2004: mutators [], password true, dedicated false, players 0, max 0",
        ),
        (
            0x80,
            false,
            0,
            r"\ServerMode\dedicated\Game Password\true\GamePassword\false\Anti TCC version\2009R6",
            "UT2004: mutators [], password true, dedicated true, anti-cheat true, players 0, max 0",
        ),
        (
            0x80,
            false,
            16 | 8 | 4,
            "",
            "UT2004: password false, dedicated false, players 0, max 0",
        ),
        (
            0x80,
            false,
            1,
            "",
            "UT2004: password true, dedicated true, players 0, max 0",
        ),
        // UT2003 and its demo: no flags.
        (
            0x78,
            false,
            0,
            r"\ServerMode\dedicated\GamePassword\True\Mutator\MutA",
            "UT2003: mutators [MutA], password true, dedicated true, players 0, max 0",
        ),
        (
            0x79,
            false,
            0,
            r"\ServerMode\dedicated",
            "UT2003: mutators [], password false, dedicated true, players 0, max 0",
        ),
        // Unreal II XMP.
        (
            0x7E,
            false,
            0,
            r"\ServerMode\dedicated\GamePassword\false\password\true",
            "Unreal II XMP: mutators [], password true, dedicated true, players 0, max 0",
        ),
        (
            0x7E,
            false,
            0,
            r"\ServerMode\dedicated",
            "Unreal II XMP: mutators [], password false, dedicated true, players 0, max 0",
        ),
        // Red Orchestra and Darkest Hour.
        (
            0x80,
            false,
            0,
            r"\ServerMode\dedicated\IsVacSecured\true",
            "Red Orchestra: mutators [], password false, dedicated true, anti-cheat true, players 0, max 0",
        ),
        (
            0x80,
            false,
            16 | 1,
            r"\ServerMode\dedicated\IsVacSecured\",
            "Red Orchestra: mutators [], password true, dedicated true, anti-cheat true, players 0, max 0",
        ),
        (
            0x80,
            false,
            32,
            r"\ServerMode\dedicated\IsVacSecured\",
            "Red Orchestra: mutators [], password false, dedicated true, anti-cheat false, players 0, max 0",
        ),
        // Killing Floor.
        (
            0x80,
            true,
            0,
            r"\ServerMode\dedicated",
            "Killing Floor: mutators [], password false, dedicated true, players 0, max 0",
        ),
        (
            0x80,
            true,
            0,
            r"\ServerMode\dedicated\IsVacSecured\true",
            "Killing Floor: mutators [], password false, dedicated true, anti-cheat true, players 0, max 0",
        ),
        (
            0x80,
            true,
            16,
            r"\ServerMode\dedicated",
            "Killing Floor: mutators [], password false, dedicated true, anti-cheat true, players 0, max 0",
        ),
        (
            0x80,
            true,
            32,
            r"\ServerMode\dedicated",
            "Killing Floor: mutators [], password false, dedicated true, anti-cheat false, players 0, max 0",
        ),
        // KFTurbo: its rules need not name all mutators.
        (
            0x80,
            true,
            32,
            r"\ServerMode\dedicated\Server Mode\non-dedicated\Server Version\1065",
            "KFTurbo: version 1065, password false, dedicated false, anti-cheat false, players 0, max 0",
        ),
        (
            0x80,
            true,
            32,
            r"\Server Mode\dedicated\GamePassword\False\Passworded\True\VAC Secured\Disabled",
            "KFTurbo: password true, dedicated true, anti-cheat false, players 0, max 0",
        ),
        (
            0x80,
            false,
            0,
            r"\VAC Secured\Enabled",
            "KFTurbo: anti-cheat true, players 0, max 0",
        ),
        // No known engine.
        (
            0x81,
            false,
            32,
            r"\ServerMode\dedicated",
            "unknown: password false, dedicated true, players 0, max 0",
        ),
        (
            0x81,
            false,
            16 | 8,
            "",
            "unknown: password false, dedicated false, players 0, max 0",
        ),
        (
            0x81,
            false,
            1,
            "",
            "unknown: password true, dedicated true, players 0, max 0",
        ),
    ];

    fn string(text: &str) -> Vec<u8> {
        if text.is_empty() {
            return vec![0];
        }
        let length = u8::try_from(text.len().saturating_add(1)).unwrap();
        [&[length], text.as_bytes(), &[0]].concat()
    }

    /// The info record and the rules of a reply.
    fn answer((version, has_waves, flags, rules, _): &(u8, bool, u8, &str, &str)) -> Answer {
        let head = [&[*version, 0, 0, 0, 0][..], &[0; 13], &[0; 3], &[0; 8]].concat();
        let waves: &[u8] = if *has_waves {
            &[2, 0, 0, 0, 10, 0, 0, 0]
        } else {
            &[]
        };
        let standard = [0, 0, 0, 0, *flags, 0, 0, 0, 2, b'1', 0, 0, 0];
        let end: &[u8] = if *version < 0x7F { &[0; 6] } else { &standard };
        let info = [&head, waves, end].concat();
        let rules = rules.split('\\').skip(1).flat_map(string);
        let rules = [*version, 0, 0, 0, 1].into_iter().chain(rules).collect();
        Answer::from_datagrams([info, rules], &Limits::default()).unwrap()
    }

    fn engine_of(answer: &Answer) -> &'static Engine {
        let mut found = &OTHERS;
        answer.status_by(|version, has_waves, known| {
            found = Engine::of(version, has_waves, known);
            found
        });
        found
    }

    /// Each part of an engine's row, with the engine that lacks it or has another one's.
    fn parts(engine: &'static Engine) -> Vec<(String, Engine)> {
        let rows = with_rows(&engine.row, [], |row| Engine {
            row,
            ..engine.clone()
        });
        let cells = ENGINES.iter().chain([&OTHERS]);
        let cells = cells.flat_map(|other| with_cells_of!(engine, other, flags, names_all));
        rows.chain(cells).collect()
    }

    #[test]
    fn keys_mean_the_same_in_any_case() {
        for (version, has_waves, flags, rules, expected) in REPLIES {
            let capitals = with_keys_in_capitals(rules.as_bytes());
            let capitals = str::from_utf8(&capitals).unwrap();
            let answer = answer(&(*version, *has_waves, *flags, capitals, expected));
            let name = engine_of(&answer).row.name;
            let fields = facts(&answer.status_by(Engine::of));
            assert_eq!(format!("{name}: {fields}"), *expected, "{rules}");
        }
    }

    #[test]
    fn every_part_of_a_row_decides() {
        let mut replies: Vec<(&str, Known<'_>)> = Vec::new();
        for reply in REPLIES {
            let answer = answer(reply);
            let name = engine_of(&answer).row.name;
            let fields = facts(&answer.status_by(Engine::of));
            let read = format!("{name}: {fields}");
            assert_eq!(read, reply.4, "{reply:?}");
            let texts: Vec<&[u8]> = reply.3.split('\\').skip(1).map(str::as_bytes).collect();
            let pairs = texts.as_chunks::<2>().0.iter();
            replies.push((name, pairs.map(|[key, value]| (*key, *value)).collect()));
        }
        let named: BTreeSet<&str> = replies.iter().map(|(name, _)| *name).collect();
        let rows = ENGINES.iter().chain([&OTHERS]).map(|engine| engine.row);
        assert_eq!(named, rows.map(|row| row.name).collect());
        for Engine { row, .. } in ENGINES {
            assert_eq!(untested(row.name, row.signatures, &replies), [""; 0]);
        }
        let unneeded = unneeded_parts(
            ENGINES.iter().chain([&OTHERS]),
            REPLIES.iter().map(answer),
            engine_of,
            parts,
            |answer, engine| {
                let status = answer.status_by(|version, has_waves, known| {
                    engine.unwrap_or_else(|| Engine::of(version, has_waves, known))
                });
                facts(&status)
            },
        );
        assert_eq!(unneeded, BTreeSet::new(), "{unneeded:#?}");
    }

    #[test]
    fn the_version_tells_the_form_of_a_player() {
        let with_pairs = |version: &u32| PlayerForm::of_version(*version) == PlayerForm::WithPairs;
        assert!((0..=0xFF).filter(with_pairs).eq([0x7E]));
        for engine in ENGINES {
            assert!(
                engine
                    .versions
                    .clone()
                    .all(|version| VERSIONS.contains(&version))
            );
        }
    }
}
