//! What the numbered settings count through.

use std::fmt;

/// What is played: setting `s32779`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GameMode {
    /// 0.
    Deathmatch,
    /// 1.
    CaptureTheFlag,
    /// 2.
    Warfare,
    /// 3.
    VehicleCaptureTheFlag,
    /// 4.
    TeamDeathmatch,
    /// 5.
    Duel,
    /// 6.
    Custom,
    /// 7.
    Campaign,
    /// 8, Titan pack.
    Greed,
    /// 9, Titan pack.
    Betrayal,
    /// A number without a known meaning.
    Other(u32),
}

impl GameMode {
    /// The mode of a number.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Deathmatch,
            1 => Self::CaptureTheFlag,
            2 => Self::Warfare,
            3 => Self::VehicleCaptureTheFlag,
            4 => Self::TeamDeathmatch,
            5 => Self::Duel,
            6 => Self::Custom,
            7 => Self::Campaign,
            8 => Self::Greed,
            9 => Self::Betrayal,
            other => Self::Other(other),
        }
    }

    /// The mode of a game class (`UTGame.UTDeathmatch`, with or without the package); `None` for a class that is
    /// not the game's own.
    #[must_use]
    pub fn from_class(class: &[u8]) -> Option<Self> {
        let name = class.rsplit(|&byte| byte == b'.').next()?;
        let name = name.strip_suffix(b"_Content").unwrap_or(name).to_ascii_lowercase();
        match &name[..] {
            b"utdeathmatch" => Some(Self::Deathmatch),
            b"utctfgame" => Some(Self::CaptureTheFlag),
            b"utonslaughtgame" => Some(Self::Warfare),
            b"utvehiclectfgame" => Some(Self::VehicleCaptureTheFlag),
            b"utteamgame" => Some(Self::TeamDeathmatch),
            b"utduelgame" => Some(Self::Duel),
            b"utgreedgame" => Some(Self::Greed),
            b"utbetrayalgame" => Some(Self::Betrayal),
            _ => None,
        }
    }
}

impl fmt::Display for GameMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Deathmatch => "Deathmatch",
            Self::CaptureTheFlag => "Capture the Flag",
            Self::Warfare => "Warfare",
            Self::VehicleCaptureTheFlag => "Vehicle Capture the Flag",
            Self::TeamDeathmatch => "Team Deathmatch",
            Self::Duel => "Duel",
            Self::Custom => "custom",
            Self::Campaign => "campaign",
            Self::Greed => "Greed",
            Self::Betrayal => "Betrayal",
            Self::Other(number) => return write!(f, "mode {number}"),
        })
    }
}

/// Skill of the bots: setting `s0`, as the game's list box numbers it. A dedicated server that was started with a
/// difficulty on its command line is said to send one less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BotSkill {
    /// 0: adjusted to the players.
    Automatic,
    /// 1.
    Novice,
    /// 2.
    Average,
    /// 3.
    Experienced,
    /// 4.
    Skilled,
    /// 5.
    Adept,
    /// 6.
    Masterful,
    /// 7.
    Inhuman,
    /// 8.
    Godlike,
    /// A number without a known meaning.
    Other(u32),
}

impl BotSkill {
    /// The skill of a number.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Automatic,
            1 => Self::Novice,
            2 => Self::Average,
            3 => Self::Experienced,
            4 => Self::Skilled,
            5 => Self::Adept,
            6 => Self::Masterful,
            7 => Self::Inhuman,
            8 => Self::Godlike,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for BotSkill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Automatic => "automatic",
            Self::Novice => "Novice",
            Self::Average => "Average",
            Self::Experienced => "Experienced",
            Self::Skilled => "Skilled",
            Self::Adept => "Adept",
            Self::Masterful => "Masterful",
            Self::Inhuman => "Inhuman",
            Self::Godlike => "Godlike",
            Self::Other(number) => return write!(f, "skill {number}"),
        })
    }
}

/// Bots for each human in games of humans against bots: setting `s8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VersusBots {
    /// 0: not such a game.
    Off,
    /// 1–6: this many bots for this many humans.
    Ratio(u8, u8),
    /// A number without a known meaning.
    Other(u32),
}

impl VersusBots {
    /// The ratio of a number.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Off,
            1 => Self::Ratio(1, 2),
            2 => Self::Ratio(1, 1),
            3 => Self::Ratio(3, 2),
            4 => Self::Ratio(2, 1),
            5 => Self::Ratio(3, 1),
            6 => Self::Ratio(4, 1),
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for VersusBots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.pad("off"),
            Self::Ratio(bots, humans) => write!(f, "{bots}:{humans}"),
            Self::Other(number) => write!(f, "ratio {number}"),
        }
    }
}

/// Whether changed content is allowed: setting `s6`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pure {
    /// 0: mutators and content of others are allowed.
    No,
    /// 1.
    Yes,
    /// 2: what a search filter says that does not care.
    Any,
    /// A number without a known meaning.
    Other(u32),
}

impl Pure {
    /// The meaning of a number.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        match number {
            0 => Self::No,
            1 => Self::Yes,
            2 => Self::Any,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for Pure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::No => f.pad("no"),
            Self::Yes => f.pad("yes"),
            Self::Any => f.pad("any"),
            Self::Other(number) => write!(f, "pure {number}"),
        }
    }
}
