//! The keys that mean something.

/// Keys that mean something, in the order of [`KEYS`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Key {
    Name,
    OwnerId,
    OwnerName,
    GameMode,
    UsesStats,
    IsDedicated,
    SkillRating,
    EngineVersion,
    MinNetVersion,
    Mode,
    BotSkill,
    MapIndex,
    Pure,
    Password,
    VersusBots,
    Campaign,
    ForcedRespawn,
    Keyboard,
    Full,
    Empty,
    Dedicated,
    Map,
    Class,
    Description,
    MutatorNames,
    MutatorClasses,
    Bots,
    GoalScore,
    TimeLimit,
    InstantActionBots,
    Mutators,
    SteamId,
    SteamVac,
    LeaderboardRating,
}

pub(super) const KEYS: [&str; 34] = [
    "hostname",
    "OwningPlayerId",
    "OwningPlayerName",
    "gamemode",
    "bUsesStats",
    "bIsDedicated",
    "AverageSkillRating",
    "EngineVersion",
    "MinNetVersion",
    "s32779",
    "s0",
    "s1",
    "s6",
    "s7",
    "s8",
    "s9",
    "s10",
    "s11",
    "s12",
    "s13",
    "s14",
    "p1073741825",
    "p1073741826",
    "p1073741827",
    "p1073741828",
    "p1073741829",
    "p268435703",
    "p268435704",
    "p268435705",
    "p268435706",
    "p268435717",
    "p268435968",
    "p268435969",
    "p536870916",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_in_the_order_of_their_enum() {
        let at = |key: Key| KEYS[key as usize];
        assert_eq!(
            [at(Key::Name), at(Key::Mode), at(Key::Dedicated), at(Key::Map), at(Key::Mutators)],
            ["hostname", "s32779", "s14", "p1073741825", "p268435717"]
        );
        assert_eq!(at(Key::LeaderboardRating), "p536870916");
    }
}
