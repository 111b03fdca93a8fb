//! What is played.

use std::fmt;

/// What is played: setting `s32779`, counted from 0 in this order.
///
/// ```
/// use queryport::gamespy4::ut3::GameMode;
///
/// assert_eq!(GameMode::from_number(3), Some(GameMode::VehicleCaptureTheFlag));
/// assert_eq!(GameMode::from_class(b"UTGame.UTDeathmatch"), Some(GameMode::Deathmatch));
/// assert_eq!(GameMode::CaptureTheFlag.to_string(), "Capture the Flag");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GameMode {
    /// `UTDeathmatch`.
    Deathmatch,
    /// `UTCTFGame`.
    CaptureTheFlag,
    /// `UTOnslaughtGame`.
    Warfare,
    /// `UTVehicleCTFGame`.
    VehicleCaptureTheFlag,
    /// `UTTeamGame`.
    TeamDeathmatch,
    /// `UTDuelGame`.
    Duel,
    /// A game class that is not the game's own.
    Custom,
    /// A campaign.
    Campaign,
    /// `UTGreedGame` of the Titan pack.
    Greed,
    /// `UTBetrayalGame` of the Titan pack.
    Betrayal,
}

/// Modes by number, their names, and their classes.
const MODES: [(GameMode, &str, Option<&str>); 10] = [
    (GameMode::Deathmatch, "Deathmatch", Some("UTDeathmatch")),
    (GameMode::CaptureTheFlag, "Capture the Flag", Some("UTCTFGame")),
    (GameMode::Warfare, "Warfare", Some("UTOnslaughtGame")),
    (GameMode::VehicleCaptureTheFlag, "Vehicle Capture the Flag", Some("UTVehicleCTFGame")),
    (GameMode::TeamDeathmatch, "Team Deathmatch", Some("UTTeamGame")),
    (GameMode::Duel, "Duel", Some("UTDuelGame")),
    (GameMode::Custom, "custom", None),
    (GameMode::Campaign, "campaign", None),
    (GameMode::Greed, "Greed", Some("UTGreedGame")),
    (GameMode::Betrayal, "Betrayal", Some("UTBetrayalGame")),
];

impl GameMode {
    /// The mode of a number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Some(MODES.get(usize::try_from(number).ok()?)?.0)
    }

    /// The mode of a game class (`UTGame.UTDeathmatch`, with or without the package); `None` for a class that is not the
    /// game's own.
    #[must_use]
    pub fn from_class(class: &[u8]) -> Option<Self> {
        let name = class.rsplit(|&byte| byte == b'.').next()?;
        let name = name.strip_suffix(b"_Content").unwrap_or(name);
        let is_name = |class: &str| name.eq_ignore_ascii_case(class.as_bytes());
        let found = MODES.iter().find(|(.., class)| class.is_some_and(is_name));
        found.map(|(mode, ..)| *mode)
    }
}

impl fmt::Display for GameMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = MODES.iter().find(|(mode, ..)| mode == self);
        f.pad(found.map_or("", |(_, name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_by_number_and_by_class() {
        let modes: Vec<_> = (0..11).map_while(GameMode::from_number).map(|mode| mode.to_string()).collect();
        assert_eq!(
            modes.join("|"),
            "Deathmatch|Capture the Flag|Warfare|Vehicle Capture the Flag|Team Deathmatch|Duel|custom|campaign|Greed|\
             Betrayal"
        );
        for (class, mode) in [
            ("UTGame.UTDeathmatch", GameMode::Deathmatch),
            ("UTGame.UTTeamGame", GameMode::TeamDeathmatch),
            ("UTGameContent.UTCTFGame_Content", GameMode::CaptureTheFlag),
            ("UTGameContent.UTVehicleCTFGame_Content", GameMode::VehicleCaptureTheFlag),
            ("UTGameContent.UTOnslaughtGame_Content", GameMode::Warfare),
            ("UTGame.UTDuelGame", GameMode::Duel),
        ] {
            assert_eq!(GameMode::from_class(class.as_bytes()), Some(mode), "{class}");
        }
        for class in ["BattleRPG.Game", "", "UTGame.", "_Content"] {
            assert_eq!(GameMode::from_class(class.as_bytes()), None, "{class}");
        }
    }
}
