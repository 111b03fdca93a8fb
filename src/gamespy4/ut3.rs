//! Unreal Tournament 3's settings and properties, by meaning.
//!
//! The server sends numbers in place of names. A setting is `s` and a number, and its value is a
//! position in a list. A property is `p` and a number, with a value of its own. The key `mapname`
//! is not the map but a list of all settings and properties, which may be cut. The server's name is
//! `hostname`.
//!
//! The lists are those of the game's scripts (UTGameSettingsCommon.uc). They agree with captures in
//! github.com/Austinb/GameQ: `UTDeathmatch` is 0, `UTOnslaughtGame` 2, `UTVehicleCTFGame` 3. A
//! widely copied list counts game modes from 1 and leaves one out, but the game's class,
//! `p1073741826`, shows that it is wrong.

use crate::model::{Rules, Style, TextRef};
use crate::text::number;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Boolean,
    /// Texts with a separator between them, or around each.
    Names,
    /// Bits of the game's own mutators.
    Mutators,
    /// The position of a name in this list.
    Choice(&'static str),
}

/// Game modes by number.
const MODES: &str = "Deathmatch|Capture the Flag|Warfare|Vehicle Capture the Flag|Team Deathmatch|Duel|custom|campaign|\
    Greed|Betrayal";
/// Skill levels by number, as in the game's list box. A dedicated server that was started with a
/// difficulty on its command line may send one less.
const SKILLS: &str = "automatic|Novice|Average|Experienced|Skilled|Adept|Masterful|Inhuman|Godlike";
/// Bots for each human in games of humans against bots.
const RATIOS: &str = "off|1:2|1:1|3:2|2:1|3:1|4:1";

/// A setting.
#[derive(Debug)]
pub(super) struct Setting {
    /// Its key on the wire.
    key: &'static str,
    /// Its name for people.
    name: &'static str,
    kind: Kind,
}

const fn setting(key: &'static str, name: &'static str, kind: Kind) -> Setting {
    Setting { key, name, kind }
}

const CUSTOM_CLASSES: &str = "p1073741829";

pub(super) const TABLE: [Setting; 34] = [
    setting("hostname", "name", Kind::Text),
    setting("OwningPlayerId", "owner's id", Kind::Number),
    // Usually the server's name again.
    setting("OwningPlayerName", "owner", Kind::Text),
    // `openplaying` if players may join a game in progress.
    setting("gamemode", "openness", Kind::Text),
    setting("bUsesStats", "statistics", Kind::Boolean),
    setting("bIsDedicated", "dedicated", Kind::Boolean),
    setting("AverageSkillRating", "average skill rating", Kind::Text),
    // Build of the engine: 3543–3815 are known.
    setting("EngineVersion", "engine version", Kind::Number),
    setting("MinNetVersion", "oldest version", Kind::Number),
    setting("s32779", "game mode", Kind::Choice(MODES)),
    setting("s0", "bot skill", Kind::Choice(SKILLS)),
    // The map's number in the game's own list, 1–63; 0 for custom maps.
    setting("s1", "map index", Kind::Number),
    // Whether changed content is refused; `any` is the value of search filters.
    setting("s6", "pure", Kind::Choice("no|yes|any")),
    setting("s7", "password", Kind::Boolean),
    setting("s8", "against bots", Kind::Choice(RATIOS)),
    setting("s9", "campaign", Kind::Boolean),
    setting("s10", "forced respawn", Kind::Boolean),
    // Whether keyboard and mouse are allowed on consoles.
    setting("s11", "keyboard allowed", Kind::Boolean),
    setting("s12", "full", Kind::Boolean),
    setting("s13", "empty", Kind::Boolean),
    setting("s14", "dedicated (setting)", Kind::Boolean),
    // The file name without its extension.
    setting("p1073741825", "map", Kind::Text),
    setting("p1073741826", "game class", Kind::Text),
    setting("p1073741827", "description", Kind::Text),
    setting("p1073741828", "custom mutators", Kind::Names),
    setting(CUSTOM_CLASSES, "classes of custom mutators", Kind::Names),
    setting("p268435703", "bots", Kind::Number),
    // Points or frags that end the game.
    setting("p268435704", "goal score", Kind::Number),
    // Minutes that end the game.
    setting("p268435705", "time limit", Kind::Number),
    setting("p268435706", "bots in instant action", Kind::Number),
    setting("p268435717", "mutators", Kind::Mutators),
    // The server's number on Steam, often 0 or without a value.
    setting("p268435968", "Steam id", Kind::Number),
    setting("p268435969", "Steam anti-cheat", Kind::Boolean),
    // Rare.
    setting("p536870916", "leaderboard rating", Kind::Text),
];

/// The settings of one server, with their values in words, borrowed from its keys.
///
/// ```
/// use queryport::gamespy4::ut3::Settings;
///
/// let pairs: [(&[u8], &[u8]); 4] = [
///     (b"s32779", b"3"),
///     (b"p1073741825", b"VCTF-Suspense"),
///     (b"p268435705", b"20"),
///     (b"p268435717", b"17"),
/// ];
/// let settings = Settings::new(pairs);
/// assert_eq!(settings.get("s32779").unwrap(), "Vehicle Capture the Flag");
/// assert_eq!(settings.get("p268435717").unwrap(), "BigHead, LowGrav");
/// for (name, value) in settings.iter() {
///     println!("{name}: {value}");
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Settings<'a>(Vec<SettingValue<'a>>);

/// A setting of a server, and its value on the wire.
#[derive(Debug, Clone, Copy)]
struct SettingValue<'a> {
    setting: &'static Setting,
    value: &'a [u8],
}

impl<'a> Settings<'a> {
    /// Takes the settings among these keys and values; the first of each key counts. Pass
    /// [`Answer::rules`](super::Answer::rules) for the settings of an answer.
    pub fn new(pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let mut settings = Self(Vec::new());
        for (key, value) in pairs {
            let mut table = TABLE.iter();
            let known = table.find(|known| key.eq_ignore_ascii_case(known.key.as_bytes()));
            if let Some(setting) = known
                && settings.find(setting.key).is_none()
            {
                settings.0.push(SettingValue { setting, value });
            }
        }
        settings
    }

    /// The settings among the rules of a normalised status.
    pub fn from_rules(rules: &'a Rules) -> Self {
        Self::new(rules.iter().map(|(key, value)| (key.raw(), value.raw())))
    }

    /// The value of a setting in words, by its key on the wire; `None` if it is missing or
    /// cannot be read as its type.
    pub fn get(&self, key: &str) -> Option<String> {
        self.words(self.find(key)?)
    }

    /// The name of each setting and its value in words, in the order of the wire. A value that
    /// cannot be read is left out.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, String)> {
        let named = |found: &SettingValue<'a>| Some((found.setting.name, self.words(*found)?));
        self.0.iter().filter_map(named)
    }

    fn find(&self, key: &str) -> Option<SettingValue<'a>> {
        let mut settings = self.0.iter().copied();
        settings.find(|found| found.setting.key.eq_ignore_ascii_case(key))
    }

    fn words(&self, found: SettingValue<'_>) -> Option<String> {
        let raw = found.value;
        let plain = |raw| TextRef::new(raw, Style::default()).plain().into_owned();
        Some(match found.setting.kind {
            Kind::Text => plain(raw),
            Kind::Names => names(raw).map(plain).collect::<Vec<_>>().join(", "),
            Kind::Number => number::integer(raw)?.to_string(),
            Kind::Boolean => if number::boolean(raw)? { "yes" } else { "no" }.to_owned(),
            Kind::Choice(names) => {
                let number: u32 = number::number(raw)?;
                let name = names.split('|').nth(usize::try_from(number).ok()?);
                name.map_or_else(|| format!("number {number}"), str::to_owned)
            }
            Kind::Mutators => {
                let engine_version = self.find("EngineVersion").map(|found| found.value);
                let classes = self.find(CUSTOM_CLASSES).map(|found| found.value);
                let mutators = mutators(raw, engine_version, classes)?;
                let names = mutators.map(|mutator| match mutator.name {
                    Some(name) => name.to_owned(),
                    None => format!("bit {}", mutator.bit),
                });
                let list = names.collect::<Vec<_>>().join(", ");
                if list.is_empty() {
                    "none".to_owned()
                } else {
                    list
                }
            }
        })
    }
}

/// Separates the names of custom mutators, and surrounds those of their classes.
pub(super) const SEPARATOR: u8 = 0x1C;

/// The names in a list of custom mutators or of their classes.
pub(super) fn names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == SEPARATOR)
        .filter(|name| !name.is_empty())
}

/// Official mutators by bit in the game as sold and its patches 1.x; `-` is a bit without a
/// mutator.
const VERSION_1: &str = "BigHead FriendlyFire Handicap Instagib LowGrav NoOrbs NoPowerups NoTranslocator Slomo \
    SlowTimeKills SpeedFreak SuperBerserk - WeaponReplacement WeaponsRespawn";

/// Official mutators by bit in version 2 and the Titan pack, which have another order.
const VERSION_2: &str = "SlowTimeKills BigHead NoOrbs FriendlyFire Handicap Instagib LowGrav NoPowerups NoTranslocator \
    Slomo SpeedFreak SuperBerserk WeaponReplacement WeaponsRespawn Survival Hero Arena";

/// A mutator of the game itself, by its bit.
pub(super) struct OfficialMutator {
    /// The bit's number, from 0.
    pub(super) bit: u32,
    /// `None` for a bit without a known name.
    pub(super) name: Option<&'static str>,
}

/// The official mutators in force, from the bits of this number. For the other parameters see
/// [`official_mutators`].
pub(super) fn mutators(
    mask: &[u8],
    engine_version: Option<&[u8]>,
    classes: Option<&[u8]>,
) -> Option<impl Iterator<Item = OfficialMutator> + use<>> {
    let mask: u32 = number::number(mask)?;
    let is_set = move |bit| mask.checked_shr(bit).is_some_and(|rest| rest & 1 == 1);
    let all = official_mutators(engine_version, classes);
    Some(all.filter(move |mutator| is_set(mutator.bit)))
}

/// The official mutator of each bit. The bits of version 2 differ. A server has version 2 if its
/// reply lists the classes of custom mutators, or if its engine is 3786 or newer.
pub(super) fn official_mutators(
    engine_version: Option<&[u8]>,
    classes: Option<&[u8]>,
) -> impl Iterator<Item = OfficialMutator> + use<> {
    let version: Option<u32> = engine_version.and_then(number::number);
    let is_version_2 = classes.is_some() || version.is_some_and(|version| version >= 3786);
    let names = if is_version_2 { VERSION_2 } else { VERSION_1 }.split(' ');
    let names = names
        .map(|name| (name != "-").then_some(name))
        .chain(std::iter::repeat(None));
    (0..u32::BITS)
        .zip(names)
        .map(|(bit, name)| OfficialMutator { bit, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutators_in_words(mask: u32, engine_version: &str, lists_classes: bool) -> String {
        let mask = mask.to_string();
        let mut pairs: Vec<(&[u8], &[u8])> = vec![
            (b"P268435717", mask.as_bytes()),
            (b"EngineVersion", engine_version.as_bytes()),
        ];
        if lists_classes {
            pairs.push((b"p1073741829", b""));
        }
        Settings::new(pairs).get("p268435717").unwrap()
    }

    #[test]
    fn every_setting_is_in_the_table_once() {
        for Setting { key, name, .. } in &TABLE {
            let of_key = |known: &&Setting| known.key.eq_ignore_ascii_case(key);
            assert_eq!(TABLE.iter().filter(of_key).count(), 1, "{name}");
            let of_name = |known: &&Setting| known.name == *name;
            assert_eq!(TABLE.iter().filter(of_name).count(), 1, "{name}");
        }
    }

    /// A text keeps its zero, a number has none.
    #[test]
    fn each_setting_is_read_as_its_type() {
        let pairs = TABLE
            .iter()
            .map(|setting| (setting.key.as_bytes(), &b"01"[..]));
        let words: Vec<_> = Settings::new(pairs).iter().map(|(_, word)| word).collect();
        assert_eq!(
            words.join("|"),
            "01|1|01|01|yes|yes|01|1|1|Capture the Flag|Novice|1|yes|yes|1:2|yes|yes|yes|yes|yes|yes|\
             01|01|01|01|01|1|1|1|1|SlowTimeKills|1|yes|01"
        );
    }

    #[test]
    fn choices_are_named_in_the_order_of_the_game() {
        let names = |key: &str, count: u32| -> String {
            let name = |number: u32| {
                let number = number.to_string();
                Settings::new([(key.as_bytes(), number.as_bytes())])
                    .get(key)
                    .unwrap()
            };
            (0..count).map(name).collect::<Vec<_>>().join("|")
        };
        assert_eq!(names("s8", 8), "off|1:2|1:1|3:2|2:1|3:1|4:1|number 7");
        assert_eq!(
            names("s0", 10),
            "automatic|Novice|Average|Experienced|Skilled|Adept|Masterful|Inhuman|Godlike|number 9"
        );
        assert_eq!(names("s6", 4), "no|yes|any|number 3");
        assert_eq!(
            names("s32779", 11),
            "Deathmatch|Capture the Flag|Warfare|Vehicle Capture the Flag|Team Deathmatch|Duel|custom|campaign|Greed|\
             Betrayal|number 10"
        );
    }

    #[test]
    fn every_bit_of_both_tables_has_its_name() {
        assert_eq!(
            mutators_in_words(0x3_FFFF, "3614", false).replace(", ", " "),
            "BigHead FriendlyFire Handicap Instagib LowGrav NoOrbs NoPowerups NoTranslocator Slomo SlowTimeKills \
             SpeedFreak SuperBerserk bit 12 WeaponReplacement WeaponsRespawn bit 15 bit 16 bit 17"
        );
        assert_eq!(
            mutators_in_words(0x3_FFFF, "3786", false).replace(", ", " "),
            "SlowTimeKills BigHead NoOrbs FriendlyFire Handicap Instagib LowGrav NoPowerups NoTranslocator Slomo \
             SpeedFreak SuperBerserk WeaponReplacement WeaponsRespawn Survival Hero Arena bit 17"
        );
        assert_eq!(mutators_in_words(0, "", true), "none");
        assert_eq!(mutators_in_words(1 << 31, "", true), "bit 31");
    }

    #[test]
    fn the_table_of_mutators_follows_from_version_and_keys() {
        assert_eq!(mutators_in_words(1, "3614", false), "BigHead");
        assert_eq!(mutators_in_words(1, "", false), "BigHead");
        assert_eq!(mutators_in_words(1, "3785", false), "BigHead");
        assert_eq!(mutators_in_words(1, "3786", false), "SlowTimeKills");
        assert_eq!(mutators_in_words(1, "3614", true), "SlowTimeKills");
    }

    #[test]
    fn custom_mutators_can_have_separators_between_or_around_them() {
        let pairs: [(&[u8], &[u8]); 2] = [
            (b"p1073741828", b"NoTags\x1cX Y"),
            (b"p1073741829", b"\x1cNoTagsMutator\x1cUTMutator_x\x1c"),
        ];
        let settings = Settings::new(pairs);
        assert_eq!(settings.get("p1073741828").unwrap(), "NoTags, X Y");
        assert_eq!(
            settings.get("p1073741829").unwrap(),
            "NoTagsMutator, UTMutator_x"
        );
    }
}
