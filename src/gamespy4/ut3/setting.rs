//! The keys with a known meaning.

use std::fmt;

/// The map's file name without its extension.
pub(crate) const MAP: &str = "p1073741825";
/// The game's class.
pub(crate) const GAME_CLASS: &str = "p1073741826";
/// Whether a password is needed.
pub(crate) const PASSWORD: &str = "s7";
/// Number of bots.
pub(crate) const BOTS: &str = "p268435703";
/// Points or frags that end the game.
pub(crate) const GOAL_SCORE: &str = "p268435704";
/// Minutes that end the game.
pub(crate) const TIME_LIMIT: &str = "p268435705";
/// Bits of the game's own mutators.
pub(crate) const MUTATORS: &str = "p268435717";
/// Names of custom mutators.
pub(crate) const CUSTOM_MUTATORS: &str = "p1073741828";
/// Whether Steam's anti-cheat is on.
pub(crate) const STEAM_VAC: &str = "p268435969";

/// A key with a known meaning. `Display` is its name for people.
///
/// ```
/// use queryport::gamespy4::ut3::Setting;
///
/// assert_eq!(Setting::GoalScore.key(), "p268435704");
/// assert_eq!(Setting::from_key(b"P268435704"), Some(Setting::GoalScore));
/// assert_eq!(Setting::GoalScore.to_string(), "goal score");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// The server's name.
    Name,
    /// Account number of the owner.
    OwnerId,
    /// Usually the server's name again.
    OwnerName,
    /// `openplaying` where one may join a game in progress.
    Openness,
    /// Whether statistics are kept.
    UsesStats,
    /// Whether the server has no player of its own.
    IsDedicated,
    /// 1000.000000 by default.
    AverageSkillRating,
    /// Build of the engine: 3543–3815 are known.
    EngineVersion,
    /// Oldest build that may join.
    MinNetVersion,
    /// What is played: [`GameMode`](super::GameMode).
    GameMode,
    /// Skill of the bots, as the game's list box numbers it. A dedicated server that was started with a difficulty on its
    /// command line may send one less.
    BotSkill,
    /// Index of the map in the game's own list: 0 for custom maps, 1–63.
    MapIndex,
    /// Whether changed content is refused; `any` is the value of search filters.
    Pure,
    /// Whether a password is needed.
    Password,
    /// Bots for each human in games of humans against bots.
    VersusBots,
    /// Whether a campaign is played.
    Campaign,
    /// Whether killed players must respawn at once.
    ForcedRespawn,
    /// Whether keyboard and mouse are allowed on consoles.
    KeyboardAllowed,
    /// Whether the server counts itself full.
    IsFull,
    /// Whether the server counts itself empty.
    IsEmpty,
    /// The same as [`Self::IsDedicated`], as a setting.
    DedicatedSetting,
    /// The map's file name without its extension.
    Map,
    /// The game's class, the cross-check of [`Self::GameMode`].
    GameClass,
    /// A free text, often empty.
    Description,
    /// Names of custom mutators.
    CustomMutators,
    /// Class names of custom mutators; old builds do not send them.
    CustomMutatorClasses,
    /// Number of bots. They are in the list of players, without a name.
    Bots,
    /// Points or frags that end the game; 0: none.
    GoalScore,
    /// Minutes that end the game; 0: none.
    TimeLimit,
    /// Number of bots in games against bots only.
    InstantActionBots,
    /// The game's own mutators in force: [`Mutators`](super::Mutators).
    Mutators,
    /// The server's number on Steam, often 0 or without a value.
    SteamId,
    /// Whether Steam's anti-cheat is on.
    SteamVac,
    /// Rating on the leaderboard, rare.
    LeaderboardRating,
}

/// How a value is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Text,
    Number,
    Boolean,
    /// Texts with a separator between them, or around each.
    Names,
    GameMode,
    Mutators,
    /// A number that counts through these names.
    Choice(&'static str),
}

const SKILLS: Kind =
    Kind::Choice("automatic Novice Average Experienced Skilled Adept Masterful Inhuman Godlike");
const RATIOS: Kind = Kind::Choice("off 1:2 1:1 3:2 2:1 3:1 4:1");

/// Every setting with its key on the wire, its name for people, and how it is read.
const TABLE: [(Setting, &str, &str, Kind); 34] = [
    (Setting::Name, "hostname", "name", Kind::Text),
    (Setting::OwnerId, "OwningPlayerId", "owner's id", Kind::Number),
    (Setting::OwnerName, "OwningPlayerName", "owner", Kind::Text),
    (Setting::Openness, "gamemode", "openness", Kind::Text),
    (Setting::UsesStats, "bUsesStats", "statistics", Kind::Boolean),
    (Setting::IsDedicated, "bIsDedicated", "dedicated", Kind::Boolean),
    (Setting::AverageSkillRating, "AverageSkillRating", "average skill rating", Kind::Text),
    (Setting::EngineVersion, "EngineVersion", "engine version", Kind::Number),
    (Setting::MinNetVersion, "MinNetVersion", "oldest version", Kind::Number),
    (Setting::GameMode, "s32779", "game mode", Kind::GameMode),
    (Setting::BotSkill, "s0", "bot skill", SKILLS),
    (Setting::MapIndex, "s1", "map index", Kind::Number),
    (Setting::Pure, "s6", "pure", Kind::Choice("no yes any")),
    (Setting::Password, PASSWORD, "password", Kind::Boolean),
    (Setting::VersusBots, "s8", "against bots", RATIOS),
    (Setting::Campaign, "s9", "campaign", Kind::Boolean),
    (Setting::ForcedRespawn, "s10", "forced respawn", Kind::Boolean),
    (Setting::KeyboardAllowed, "s11", "keyboard allowed", Kind::Boolean),
    (Setting::IsFull, "s12", "full", Kind::Boolean),
    (Setting::IsEmpty, "s13", "empty", Kind::Boolean),
    (Setting::DedicatedSetting, "s14", "dedicated (setting)", Kind::Boolean),
    (Setting::Map, MAP, "map", Kind::Text),
    (Setting::GameClass, GAME_CLASS, "game class", Kind::Text),
    (Setting::Description, "p1073741827", "description", Kind::Text),
    (Setting::CustomMutators, CUSTOM_MUTATORS, "custom mutators", Kind::Names),
    (Setting::CustomMutatorClasses, "p1073741829", "classes of custom mutators", Kind::Names),
    (Setting::Bots, BOTS, "bots", Kind::Number),
    (Setting::GoalScore, GOAL_SCORE, "goal score", Kind::Number),
    (Setting::TimeLimit, TIME_LIMIT, "time limit", Kind::Number),
    (Setting::InstantActionBots, "p268435706", "bots in instant action", Kind::Number),
    (Setting::Mutators, MUTATORS, "mutators", Kind::Mutators),
    (Setting::SteamId, "p268435968", "Steam id", Kind::Number),
    (Setting::SteamVac, STEAM_VAC, "Steam anti-cheat", Kind::Boolean),
    (Setting::LeaderboardRating, "p536870916", "leaderboard rating", Kind::Text),
];

impl Setting {
    /// The setting of a key on the wire, in any ASCII case.
    #[must_use]
    pub fn from_key(key: &[u8]) -> Option<Self> {
        let found = TABLE.iter().find(|(_, known, ..)| key.eq_ignore_ascii_case(known.as_bytes()));
        found.map(|(setting, ..)| *setting)
    }

    /// The key on the wire.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.entry().0
    }

    pub(super) fn kind(self) -> Kind {
        self.entry().2
    }

    fn entry(self) -> (&'static str, &'static str, Kind) {
        let found = TABLE.iter().find(|(setting, ..)| *setting == self);
        found.map_or(("", "", Kind::Text), |(_, key, name, kind)| (key, name, *kind))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.entry().1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_in_the_table_once() {
        for (index, (setting, key, name, _)) in TABLE.iter().enumerate() {
            assert_eq!(*setting as usize, index, "{name}");
            assert_eq!(Setting::from_key(key.as_bytes()), Some(*setting));
            assert_eq!((setting.key(), setting.to_string()), (*key, (*name).to_owned()));
        }
        assert_eq!(Setting::LeaderboardRating as usize + 1, TABLE.len());
    }
}
