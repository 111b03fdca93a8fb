//! The engines that speak this protocol: one row each, with the differences between their replies.
//!
//! The first row with a mark of a reply determines how it is read.

use std::ops::RangeInclusive;

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

/// The facts about one engine.
#[derive(Debug)]
pub(super) struct Profile {
    /// A reply with any of them is this engine's.
    marks: &'static [Mark],
    pub(super) info: InfoEnd,
    players: PlayerForm,
    /// The meaning of the info record's flags; `None` if it has none.
    pub(super) flags: Option<Flags>,
    /// Rules that have a field in the model, besides [`STOCK_KEYS`].
    own_keys: &'static [Key],
    /// Whether the rules name every mutator, and a password if there is one: then an absent rule
    /// means that there is none.
    pub(super) names_all: bool,
    #[cfg(test)]
    source: &'static str,
}

/// The evidence of an engine in a reply.
#[derive(Debug, PartialEq, Eq)]
enum Mark {
    Version(RangeInclusive<u32>),
    /// The info record ends with the fields of [`Profile::info`].
    InfoEnd,
    /// There is a rule with this key.
    Rule(&'static str),
}

/// The fields of an info record after `MaxPlayers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InfoEnd {
    /// Ping, flags, skill level and two lists.
    Standard,
    /// The current and the last wave, then the fields of the standard layout.
    Waves,
    /// Ping and two lists.
    Older,
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
        let row = ENGINES.iter().find(|row| row.has_version(version));
        row.map_or(Self::Standard, |row| row.players)
    }
}

/// The marks in the first datagram of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    pub(super) version: Option<u32>,
    /// Of the info record, if there is one.
    pub(super) info: Option<InfoEnd>,
}

/// Bits of the info record's flags.
#[derive(Debug)]
pub(super) struct Flags {
    pub(super) password: i32,
    pub(super) listen: i32,
    pub(super) anti_cheat: Option<i32>,
}

/// A rule and the field that it fills.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) field: Field,
    /// The words for true and false, if the field is one of both.
    pub(super) words: Words,
}

/// A field of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Version,
    Password,
    Dedicated,
    AntiCheat,
    /// Minutes; 0 means no limit.
    TimeLimit,
    ScoreLimit,
    /// One rule for each mutator.
    Mutator,
}

/// The words of a rule for true and false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// Any words for both.
    Any,
    /// [`DEDICATED`] and [`NON_DEDICATED`].
    Modes,
    /// `Enabled` and `Disabled`.
    Enabled,
    /// The rule is there only if the field is true.
    Present,
}

impl Profile {
    /// The row of the engine, by the evidence in the first datagram and by the keys of the rules.
    pub(super) fn find<'a>(
        evidence: Evidence,
        rules: impl Iterator<Item = &'a [u8]>,
    ) -> &'static Self {
        let by_rule = |key: &[u8]| ENGINES.iter().position(|row| row.has_rule_mark(key));
        let by_rules = rules.filter_map(by_rule).min();
        let by_record = ENGINES.iter().position(|row| row.has_mark(evidence));
        let row = by_rules.into_iter().chain(by_record).min();
        row.and_then(|row| ENGINES.get(row)).unwrap_or(&UNKNOWN)
    }

    /// Rules that have a field in the model.
    fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        STOCK_KEYS.iter().chain(self.own_keys)
    }

    /// The known key with this name, in any ASCII case.
    pub(super) fn key(&self, name: &[u8]) -> Option<&'static Key> {
        let mut keys = self.keys();
        keys.find(|known| known.name.as_bytes().eq_ignore_ascii_case(name))
    }

    fn has_rule_mark(&self, key: &[u8]) -> bool {
        self.marks.iter().any(|mark| match mark {
            Mark::Rule(name) => name.as_bytes().eq_ignore_ascii_case(key),
            Mark::Version(_) | Mark::InfoEnd => false,
        })
    }

    /// Whether the version or the info record is this engine's.
    fn has_mark(&self, evidence: Evidence) -> bool {
        let has_version = evidence
            .version
            .is_some_and(|version| self.has_version(version));
        let is_marked_by_info = self.marks.iter().any(|mark| matches!(mark, Mark::InfoEnd));
        let has_info = is_marked_by_info && evidence.info == Some(self.info);
        has_version || has_info
    }

    fn has_version(&self, version: u32) -> bool {
        self.marks.iter().any(|mark| match mark {
            Mark::Version(versions) => versions.contains(&version),
            Mark::InfoEnd | Mark::Rule(_) => false,
        })
    }
}

const fn key(name: &'static str, field: Field) -> Key {
    Key {
        name,
        field,
        words: Words::Any,
    }
}

impl Key {
    /// The same key, with these words for true and false.
    const fn in_words(self, words: Words) -> Self {
        Self { words, ..self }
    }
}

/// The rules of `GetServerDetails`, with which the list of every stock game begins (`Deaod/UT2004`,
/// `Engine/GameInfo.uc`, `Engine/Mutator.uc`, `UnrealGame/DeathMatch.uc`).
static STOCK_KEYS: [Key; 6] = [
    key(SERVER_MODE, Field::Dedicated).in_words(Words::Modes),
    key("ServerVersion", Field::Version),
    key("GamePassword", Field::Password),
    key("GoalScore", Field::ScoreLimit),
    key("TimeLimit", Field::TimeLimit),
    key("Mutator", Field::Mutator),
];

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
/// things in different games.
const UNKNOWN: Profile = Profile {
    marks: &[],
    info: InfoEnd::Standard,
    players: PlayerForm::Standard,
    flags: Some(COMMON_FLAGS),
    own_keys: &[],
    names_all: false,
    #[cfg(test)]
    source: "the bits that all games share: Deaod/UT2004, GUI2K4/UT2k4Browser_ServersList.uc",
};

const KILLING_FLOOR_TURBO: Profile = Profile {
    marks: &[Mark::Rule("Server Mode"), Mark::Rule("VAC Secured")],
    info: InfoEnd::Waves,
    players: PlayerForm::Standard,
    flags: Some(STEAM_FLAGS),
    own_keys: &[
        key("Server Mode", Field::Dedicated).in_words(Words::Modes),
        key("Server Version", Field::Version),
        key("Passworded", Field::Password),
        key("VAC Secured", Field::AntiCheat).in_words(Words::Enabled),
    ],
    names_all: false,
    #[cfg(test)]
    source: "KFPilot/KFTurbo, KFTurboServer/Classes/KFTurboMasterServerUplink.uc",
};

const KILLING_FLOOR: Profile = Profile {
    marks: &[Mark::InfoEnd],
    info: InfoEnd::Waves,
    players: PlayerForm::Standard,
    flags: Some(STEAM_FLAGS),
    own_keys: &[key("IsVacSecured", Field::AntiCheat)],
    names_all: true,
    #[cfg(test)]
    source: "InsultingPros/KillingFloor, Engine/Classes/GameInfo.uc",
};

/// Red Orchestra, Darkest Hour and Mare Nostrum. UT2004's replies have the same version and layout,
/// but not the rule.
const RED_ORCHESTRA: Profile = Profile {
    marks: &[Mark::Rule("IsVacSecured")],
    info: InfoEnd::Standard,
    players: PlayerForm::Standard,
    flags: Some(STEAM_FLAGS),
    own_keys: &[key("IsVacSecured", Field::AntiCheat)],
    names_all: true,
    #[cfg(test)]
    source: "Har99m/Red-Orchestra-Ostfront-41-45-Source-Code, Engine/Classes/GameInfo.uc; \
             DarklightGames/DarkestHour, DH_Interface/Classes/DHBrowser_ServersList.uc",
};

const UNREAL_II_XMP: Profile = Profile {
    marks: &[Mark::Version(0x7E..=0x7E)],
    info: InfoEnd::Older,
    players: PlayerForm::WithPairs,
    flags: None,
    own_keys: &[key("password", Field::Password)],
    names_all: true,
    #[cfg(test)]
    source: "jmarshall23/Unreal2XMP, Engine/Classes/GameInfo.uc; Unity-Technologies/qstat, qstat.c",
};

/// With its demo and Devastation.
const UT2003: Profile = Profile {
    marks: &[Mark::Version(0x78..=0x79)],
    info: InfoEnd::Older,
    players: PlayerForm::Standard,
    flags: None,
    own_keys: &[],
    names_all: true,
    #[cfg(test)]
    source: "openspy/wireshark-dissectors, ut2004/main.c; Unity-Technologies/qstat, qstat.c",
};

/// UT2004 and its demo. The mod AntiTCC adds rules.
const UT2004: Profile = Profile {
    marks: &[Mark::Version(0x7F..=UT2004_VERSION)],
    info: InfoEnd::Standard,
    players: PlayerForm::Standard,
    flags: Some(COMMON_FLAGS),
    own_keys: &[
        key("Game Password", Field::Password),
        key("Anti TCC version", Field::AntiCheat).in_words(Words::Present),
    ],
    names_all: true,
    #[cfg(test)]
    source: "Deaod/UT2004, Engine/GameInfo.uc; Austinb/GameQ, \
             tests/Protocols/Providers/Ut2004/1_response.txt",
};

/// The most specific first.
static ENGINES: [Profile; 6] = [
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
    use crate::text::listing::Listing;

    #[test]
    fn every_cell_is_the_listed_one() {
        let mut listing = Listing::default();
        listing.row("unknown engine", &UNKNOWN, None);
        for (place, row) in (1..).zip(&ENGINES) {
            listing.row(&format!("row {place}"), row, Some(&UNKNOWN));
        }
        listing.value("versions", &VERSIONS);
        listing.value("bits of the teams", &[RED, BLUE]);
        listing.value("rules of every stock game", &STOCK_KEYS);
        listing.check("ut2004");
    }

    #[test]
    fn each_row_has_a_source_and_a_mark() {
        for row in &ENGINES {
            assert!(row.source.contains('/') && !row.marks.is_empty(), "{row:?}");
        }
        assert!(UNKNOWN.marks.is_empty());
    }

    #[test]
    fn the_version_tells_the_form_of_a_player() {
        let with_pairs = |version: &u32| PlayerForm::of_version(*version) == PlayerForm::WithPairs;
        assert!((0..=0xFF).filter(with_pairs).eq([0x7E]));
        let versions = ENGINES.iter().flat_map(|row| row.marks);
        let known = versions.filter(|mark| match mark {
            Mark::Version(versions) => {
                VERSIONS.contains(versions.start()) && VERSIONS.contains(versions.end())
            }
            _ => false,
        });
        assert_eq!(known.count(), 3);
    }

    /// The table of fields on the protocol's page has exactly the keys of the rows, each in the
    /// line of its field.
    #[test]
    fn the_page_has_the_keys_of_the_rows_in_the_lines_of_their_fields() {
        let page = include_str!("mod.rs");
        let fields = [
            ("version", Field::Version),
            ("password", Field::Password),
            ("dedicated", Field::Dedicated),
            ("anti_cheat", Field::AntiCheat),
            ("time_limit", Field::TimeLimit),
            ("score_limit", Field::ScoreLimit),
            ("mutators", Field::Mutator),
        ];
        for (name, field) in fields {
            let head = format!("//! | `{name}` | ");
            let line = page.lines().find_map(|line| line.strip_prefix(&head));
            let cell = line.unwrap().split(" | ").next().unwrap();
            // A code span is a key, a source, or a word of a value.
            let spans: BTreeSet<&str> = cell.split('`').skip(1).step_by(2).collect();
            let is_key = |span: &&str| !span.contains('/') && !NOT_KEYS.contains(span);
            let on_page: BTreeSet<&str> = spans.into_iter().filter(is_key).collect();
            let rows = ENGINES.iter().flat_map(Profile::keys);
            let keys = rows.filter(|key| key.field == field);
            let in_rows: BTreeSet<&str> = keys.map(|key| key.name).collect();
            assert_eq!(on_page, in_rows, "{name}");
        }
    }

    /// Words of values in the cells of the table.
    const NOT_KEYS: [&str; 4] = [DEDICATED, NON_DEDICATED, "Enabled", "Disabled"];
}
