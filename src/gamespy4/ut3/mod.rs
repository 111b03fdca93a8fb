//! Unreal Tournament 3's settings and properties, by meaning.
//!
//! The server sends numbers for names: `s` and a number is a setting that counts through a list, `p` and a number a
//! property with a value of its own. `mapname` is a list of them all, cut where it gets too long, and never the map;
//! `hostname` is the server's name.
//!
//! The lists are those of the game's scripts, checked against captures (`UTDeathmatch` with 0, `UTOnslaughtGame` with
//! 2, `UTVehicleCTFGame` with 3). A widely copied document counts game modes from 1 and leaves one out;
//! [`Settings::game_class_mode`] is the cross-check.
//!
//! ```
//! use queryport::gamespy4::ut3::{GameMode, Settings};
//!
//! let pairs: [(&[u8], &[u8]); 4] = [
//!     (b"s32779", b"3"),
//!     (b"p1073741825", b"VCTF-Suspense"),
//!     (b"p1073741826", b"UTGameContent.UTVehicleCTFGame_Content"),
//!     (b"p268435717", b"17"),
//! ];
//! let settings = Settings::new(pairs);
//! assert_eq!(settings.game_mode(), Some(GameMode::VehicleCaptureTheFlag));
//! assert_eq!(settings.game_class_mode(), settings.game_mode());
//! assert_eq!(settings.map().unwrap().plain(), "VCTF-Suspense");
//! assert_eq!(settings.mutators().unwrap().to_string(), "BigHead, LowGrav");
//! ```

mod display;
mod keys;
mod kinds;
mod mutators;

use keys::{KEYS, Key};
pub use kinds::{BotSkill, GameMode, Pure, VersusBots};
pub use mutators::{MutatorTable, Mutators};

use super::answer::Answer;
use crate::model::{Charset, Colours, Rules, Style, TextRef};
use crate::text::number;

/// How its texts are read.
const STYLE: Style = Style::new(Charset::Utf8OrWindows1252, Colours::None);
/// Separates the names of custom mutators, and stands around those of their classes.
const SEPARATOR: u8 = 0x1C;

/// The settings of one server, borrowed. Every value may be missing; what is there and cannot be read as its type
/// is still reachable as text, with [`Settings::raw`].
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    values: [Option<&'a [u8]>; KEYS.len()],
}

impl<'a> Settings<'a> {
    /// Reads keys and values; the first of each key counts.
    #[must_use]
    pub fn new(pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let mut values = [None; KEYS.len()];
        for (key, value) in pairs {
            let slot =
                values.iter_mut().zip(KEYS).find(|(_, name)| key.eq_ignore_ascii_case(name.as_bytes()));
            if let Some((slot, _)) = slot {
                slot.get_or_insert(value);
            }
        }
        Self { values }
    }

    /// The settings of an answer; `None` when it is no such server's.
    #[must_use]
    pub fn of(answer: &'a Answer) -> Option<Self> {
        let settings = Self::new(answer.reply().server());
        let is_ut3 = settings.get(Key::Map).is_some() || settings.get(Key::Mode).is_some();
        is_ut3.then_some(settings)
    }

    /// The settings among the rules of a normalised status.
    #[must_use]
    pub fn from_rules(rules: &'a Rules) -> Self {
        Self::new(rules.iter().map(|(key, value)| (key.raw(), value.raw())))
    }

    fn get(&self, key: Key) -> Option<&'a [u8]> {
        self.values.get(key as usize).copied().flatten()
    }

    fn text(&self, key: Key) -> Option<TextRef<'a>> {
        self.get(key).map(|raw| TextRef::new(raw, STYLE))
    }

    fn number<T: TryFrom<i64>>(&self, key: Key) -> Option<T> {
        self.get(key).and_then(number::number)
    }

    fn boolean(&self, key: Key) -> Option<bool> {
        self.get(key).and_then(number::boolean)
    }

    /// The value of a key of this list as it stands on the wire.
    #[must_use]
    pub fn raw(&self, key: &str) -> Option<&'a [u8]> {
        let place = KEYS.iter().position(|known| known.eq_ignore_ascii_case(key))?;
        self.values.get(place).copied().flatten()
    }

    /// The server's name (`hostname`).
    #[must_use]
    pub fn name(&self) -> Option<TextRef<'a>> {
        self.text(Key::Name)
    }

    /// Account number of who runs it (`OwningPlayerId`).
    #[must_use]
    pub fn owner_id(&self) -> Option<i64> {
        self.number(Key::OwnerId)
    }

    /// Usually the server's name again (`OwningPlayerName`).
    #[must_use]
    pub fn owner_name(&self) -> Option<TextRef<'a>> {
        self.text(Key::OwnerName)
    }

    /// Whether one may join a game in progress (`gamemode` is `openplaying`).
    #[must_use]
    pub fn is_open(&self) -> Option<bool> {
        self.get(Key::GameMode).map(|mode| mode.eq_ignore_ascii_case(b"openplaying"))
    }

    /// Whether statistics are kept (`bUsesStats`).
    #[must_use]
    pub fn uses_stats(&self) -> Option<bool> {
        self.boolean(Key::UsesStats)
    }

    /// Whether the server has no player of its own (`bIsDedicated`, or setting `s14`).
    #[must_use]
    pub fn is_dedicated(&self) -> Option<bool> {
        self.boolean(Key::IsDedicated).or_else(|| self.boolean(Key::Dedicated))
    }

    /// `AverageSkillRating`, 1000 by default.
    #[must_use]
    pub fn average_skill_rating(&self) -> Option<f64> {
        std::str::from_utf8(self.get(Key::SkillRating)?).ok()?.trim().parse().ok()
    }

    /// Build of the engine (`EngineVersion`): 3543–3815 are known.
    #[must_use]
    pub fn engine_version(&self) -> Option<u32> {
        self.number(Key::EngineVersion)
    }

    /// Oldest build that may join (`MinNetVersion`).
    #[must_use]
    pub fn min_net_version(&self) -> Option<u32> {
        self.number(Key::MinNetVersion)
    }

    /// What is played, by number (`s32779`).
    #[must_use]
    pub fn game_mode(&self) -> Option<GameMode> {
        self.number(Key::Mode).map(GameMode::from_number)
    }

    /// What is played, by the game's class (`p1073741826`): the cross-check.
    #[must_use]
    pub fn game_class_mode(&self) -> Option<GameMode> {
        self.get(Key::Class).and_then(GameMode::from_class)
    }

    /// The game's class (`p1073741826`).
    #[must_use]
    pub fn game_class(&self) -> Option<TextRef<'a>> {
        self.text(Key::Class)
    }

    /// Skill of the bots (`s0`).
    #[must_use]
    pub fn bot_skill(&self) -> Option<BotSkill> {
        self.number(Key::BotSkill).map(BotSkill::from_number)
    }

    /// Place of the map in the game's own list (`s1`): 0 for maps of others, 1–63.
    #[must_use]
    pub fn map_index(&self) -> Option<u32> {
        self.number(Key::MapIndex)
    }

    /// Whether changed content is allowed (`s6`).
    #[must_use]
    pub fn pure_server(&self) -> Option<Pure> {
        self.number(Key::Pure).map(Pure::from_number)
    }

    /// Whether a password is needed (`s7`).
    #[must_use]
    pub fn password(&self) -> Option<bool> {
        self.boolean(Key::Password)
    }

    /// Humans against bots (`s8`).
    #[must_use]
    pub fn versus_bots(&self) -> Option<VersusBots> {
        self.number(Key::VersusBots).map(VersusBots::from_number)
    }

    /// Whether a campaign is played (`s9`).
    #[must_use]
    pub fn campaign(&self) -> Option<bool> {
        self.boolean(Key::Campaign)
    }

    /// Whether the dead must come back at once (`s10`).
    #[must_use]
    pub fn forced_respawn(&self) -> Option<bool> {
        self.boolean(Key::ForcedRespawn)
    }

    /// Whether keyboard and mouse are allowed where consoles play (`s11`).
    #[must_use]
    pub fn keyboard_allowed(&self) -> Option<bool> {
        self.boolean(Key::Keyboard)
    }

    /// Whether the server counts itself full (`s12`).
    #[must_use]
    pub fn is_full(&self) -> Option<bool> {
        self.boolean(Key::Full)
    }

    /// Whether the server counts itself empty (`s13`).
    #[must_use]
    pub fn is_empty(&self) -> Option<bool> {
        self.boolean(Key::Empty)
    }

    /// The map's file name without its extension (`p1073741825`).
    #[must_use]
    pub fn map(&self) -> Option<TextRef<'a>> {
        self.text(Key::Map)
    }

    /// A free text, often empty (`p1073741827`).
    #[must_use]
    pub fn description(&self) -> Option<TextRef<'a>> {
        self.text(Key::Description)
    }

    /// Names of mutators that are not the game's own (`p1073741828`).
    pub fn custom_mutators(&self) -> impl Iterator<Item = TextRef<'a>> {
        list(self.get(Key::MutatorNames))
    }

    /// Class names of mutators that are not the game's own (`p1073741829`); old builds do not send them.
    pub fn custom_mutator_classes(&self) -> impl Iterator<Item = TextRef<'a>> {
        list(self.get(Key::MutatorClasses))
    }

    /// The game's own mutators in force (`p268435717`).
    #[must_use]
    pub fn mutators(&self) -> Option<Mutators> {
        let table = MutatorTable::of(self.engine_version(), self.get(Key::MutatorClasses).is_some());
        self.number(Key::Mutators).map(|mask| Mutators::new(mask, table))
    }

    /// Number of bots (`p268435703`). They stand in the list of players, without a name.
    #[must_use]
    pub fn bots(&self) -> Option<u32> {
        self.number(Key::Bots)
    }

    /// Points or frags that end the game (`p268435704`); 0: none.
    #[must_use]
    pub fn goal_score(&self) -> Option<u32> {
        self.number(Key::GoalScore)
    }

    /// Minutes that end the game (`p268435705`); 0: none.
    #[must_use]
    pub fn time_limit(&self) -> Option<u32> {
        self.number(Key::TimeLimit)
    }

    /// Number of bots in games against bots only (`p268435706`).
    #[must_use]
    pub fn instant_action_bots(&self) -> Option<u32> {
        self.number(Key::InstantActionBots)
    }

    /// The server's number on Steam (`p268435968`), often 0 or without a value.
    #[must_use]
    pub fn steam_id(&self) -> Option<i64> {
        self.number(Key::SteamId)
    }

    /// Whether Steam's anti-cheat is on (`p268435969`).
    #[must_use]
    pub fn steam_vac(&self) -> Option<bool> {
        self.boolean(Key::SteamVac)
    }

    /// Rating on the leaderboard (`p536870916`), rare.
    #[must_use]
    pub fn leaderboard_rating(&self) -> Option<TextRef<'a>> {
        self.text(Key::LeaderboardRating)
    }
}

fn list<'a>(value: Option<&'a [u8]>) -> impl Iterator<Item = TextRef<'a>> {
    let parts = value.unwrap_or_default().split(|&byte| byte == SEPARATOR).filter(|part| !part.is_empty());
    parts.map(|part| TextRef::new(part, STYLE))
}
