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
#[derive(Debug)]
pub(super) struct Engine {
    /// The rules that have a field in the model.
    pub(super) row: Row,
    /// A reply of one of these versions is this engine's.
    versions: RangeInclusive<u32>,
    /// Whether a reply whose info record has waves is this engine's.
    is_marked_by_waves: bool,
    players: PlayerForm,
    /// The meaning of the info record's flags; `None` if it has none.
    pub(super) flags: Option<Flags>,
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
#[derive(Debug)]
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
        ENGINES.iter().find(fits).unwrap_or(&UNKNOWN)
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
    flags: Some(COMMON_FLAGS),
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
    flags: Some(STEAM_FLAGS),
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
    flags: Some(STEAM_FLAGS),
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
    flags: Some(STEAM_FLAGS),
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
    flags: None,
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
    flags: None,
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
    use super::*;

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
