//! The settings of one server.

use std::fmt;

use super::game_mode::GameMode;
use super::mutators::Mutators;
use super::setting::{Kind, Setting};
use crate::model::{Rules, Style, TextRef};
use crate::text::number;

/// Separates the names of custom mutators, and surrounds those of their classes.
pub(crate) const SEPARATOR: u8 = 0x1C;

/// The names in a list of custom mutators or of their classes.
pub(crate) fn names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == SEPARATOR).filter(|name| !name.is_empty())
}

/// The settings of one server, borrowed. `Display` is one line for people: what is played where, and what is unusual
/// about it.
///
/// ```
/// use queryport::gamespy4::ut3::{GameMode, Setting, Settings, Value};
///
/// let pairs: [(&[u8], &[u8]); 4] = [
///     (b"s32779", b"3"),
///     (b"p1073741825", b"VCTF-Suspense"),
///     (b"p268435705", b"20"),
///     (b"p268435717", b"17"),
/// ];
/// let settings = Settings::new(pairs);
/// assert_eq!(settings.get(Setting::GameMode), Some(Value::GameMode(GameMode::VehicleCaptureTheFlag)));
/// assert_eq!(settings.get(Setting::TimeLimit), Some(Value::Number(20)));
/// assert_eq!(
///     settings.to_string(),
///     "Vehicle Capture the Flag on VCTF-Suspense, 20 minutes, mutators: BigHead, LowGrav"
/// );
/// for (setting, value) in settings.iter() {
///     println!("{setting}: {value}");
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Settings<'a>(Vec<(Setting, &'a [u8])>);

/// The value of a setting. `Display` is for people.
///
/// ```
/// use queryport::gamespy4::ut3::{Setting, Settings, Value};
///
/// let pairs: [(&[u8], &[u8]); 2] = [(b"s0", b"5"), (b"p1073741828", b"NoTags\x1cBattle RPG")];
/// let settings = Settings::new(pairs);
/// assert_eq!(settings.get(Setting::BotSkill), Some(Value::Choice(5, Some("Adept"))));
/// let Some(Value::Names(names)) = settings.get(Setting::CustomMutators) else { panic!() };
/// assert_eq!(names, ["NoTags", "Battle RPG"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A text.
    Text(TextRef<'a>),
    /// Names of custom mutators or their classes.
    Names(Vec<TextRef<'a>>),
    /// A number.
    Number(i64),
    /// Yes or no.
    Boolean(bool),
    /// What is played.
    GameMode(GameMode),
    /// The game's own mutators in force.
    Mutators(Mutators),
    /// An entry of one of the game's lists: its number, and its name where it is known.
    Choice(u32, Option<&'static str>),
}

impl<'a> Settings<'a> {
    /// Takes the settings among these keys and values; the first of each key counts. With
    /// [`Answer::rules`](crate::gamespy4::Answer::rules) they are those of an answer.
    #[must_use]
    pub fn new(pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let mut settings = Self(Vec::new());
        for (key, value) in pairs {
            if let Some(setting) = Setting::from_key(key)
                && settings.raw(setting).is_none()
            {
                settings.0.push((setting, value));
            }
        }
        settings
    }

    /// The settings among the rules of a normalised status.
    #[must_use]
    pub fn from_rules(rules: &'a Rules) -> Self {
        Self::new(rules.iter().map(|(key, value)| (key.raw(), value.raw())))
    }

    /// The value of a setting; `None` where it is missing or cannot be read as its type.
    #[must_use]
    pub fn get(&self, setting: Setting) -> Option<Value<'a>> {
        let raw = self.raw(setting)?;
        Some(match setting.kind() {
            Kind::Text => Value::Text(TextRef::new(raw, Style::default())),
            Kind::Number => Value::Number(number::integer(raw)?),
            Kind::Boolean => Value::Boolean(number::boolean(raw)?),
            Kind::Names => {
                Value::Names(names(raw).map(|name| TextRef::new(name, Style::default())).collect())
            }
            Kind::GameMode => {
                let number = number::number(raw)?;
                GameMode::from_number(number).map_or(Value::Choice(number, None), Value::GameMode)
            }
            Kind::Mutators => {
                let engine_version = self.raw(Setting::EngineVersion).and_then(number::number);
                let lists_classes = self.raw(Setting::CustomMutatorClasses).is_some();
                Value::Mutators(Mutators::new(number::number(raw)?, engine_version, lists_classes))
            }
            Kind::Choice(names) => {
                let number: u32 = number::number(raw)?;
                Value::Choice(number, names.split(' ').nth(usize::try_from(number).ok()?))
            }
        })
    }

    /// What is played, by number; the server's class may contradict it, see [`GameMode::from_class`].
    #[must_use]
    pub fn game_mode(&self) -> Option<GameMode> {
        match self.get(Setting::GameMode) {
            Some(Value::GameMode(mode)) => Some(mode),
            _ => None,
        }
    }

    /// Every setting that can be read, in the order of the wire.
    pub fn iter(&self) -> impl Iterator<Item = (Setting, Value<'a>)> {
        self.0.iter().filter_map(|(setting, _)| Some((*setting, self.get(*setting)?)))
    }

    fn raw(&self, setting: Setting) -> Option<&'a [u8]> {
        self.0.iter().find(|(known, _)| *known == setting).map(|(_, raw)| *raw)
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text}"),
            Self::Names(names) => {
                let names: Vec<_> = names.iter().map(|name| name.plain()).collect();
                f.pad(&names.join(", "))
            }
            Self::Number(number) => write!(f, "{number}"),
            Self::Boolean(yes) => f.pad(if *yes { "yes" } else { "no" }),
            Self::GameMode(mode) => write!(f, "{mode}"),
            Self::Mutators(mutators) => write!(f, "{mutators}"),
            Self::Choice(_, Some(name)) => f.pad(name),
            Self::Choice(number, None) => write!(f, "number {number}"),
        }
    }
}

impl fmt::Display for Settings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = self.raw(Setting::GameClass).and_then(GameMode::from_class);
        match (self.get(Setting::GameMode), class) {
            (Some(Value::GameMode(mode)), Some(class)) if mode != class => {
                write!(f, "{mode} (by its class {class})")?;
            }
            (Some(mode), _) => write!(f, "{mode}")?,
            (None, Some(class)) => write!(f, "{class}")?,
            (None, None) => f.write_str("unknown game")?,
        }
        // What is 0, off or empty is not unusual.
        let unusual = |setting| {
            self.get(setting).filter(|value| match value {
                Value::Text(text) => !text.raw().is_empty(),
                Value::Names(names) => !names.is_empty(),
                Value::Number(number) => *number > 0,
                Value::Boolean(yes) => *yes,
                Value::Mutators(mutators) => mutators.mask != 0,
                Value::Choice(number, _) => *number != 0,
                Value::GameMode(_) => true,
            })
        };
        for (setting, before, after) in [
            (Setting::Map, " on ", ""),
            (Setting::GoalScore, ", to ", ""),
            (Setting::TimeLimit, ", ", " minutes"),
            (Setting::Bots, ", ", " bots"),
            (Setting::VersusBots, ", against bots ", ""),
        ] {
            let Some(value) = unusual(setting) else { continue };
            write!(f, "{before}{value}{after}")?;
            if let (Setting::Bots, Some(skill)) = (setting, self.get(Setting::BotSkill)) {
                write!(f, " ({skill})")?;
            }
        }
        let is_pure = matches!(self.get(Setting::Pure), Some(Value::Choice(1, _)));
        for (setting, is_on) in [
            (Setting::Password, unusual(Setting::Password).is_some()),
            (Setting::Pure, is_pure),
            (Setting::ForcedRespawn, unusual(Setting::ForcedRespawn).is_some()),
        ] {
            if is_on {
                write!(f, ", {setting}")?;
            }
        }
        for setting in [Setting::Mutators, Setting::CustomMutators] {
            if let Some(value) = unusual(setting) {
                write!(f, ", {setting}: {value}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_named_in_the_order_of_the_game() {
        let names = |key: &str, count: u32| -> String {
            let name = |number: u32| {
                let number = number.to_string();
                let settings = Settings::new([(key.as_bytes(), number.as_bytes())]);
                settings.iter().next().unwrap().1.to_string()
            };
            (0..count).map(name).collect::<Vec<_>>().join("|")
        };
        assert_eq!(names("s8", 8), "off|1:2|1:1|3:2|2:1|3:1|4:1|number 7");
        assert_eq!(
            names("s0", 10),
            "automatic|Novice|Average|Experienced|Skilled|Adept|Masterful|Inhuman|Godlike|number 9"
        );
        assert_eq!(names("s6", 4), "no|yes|any|number 3");
    }

    #[test]
    fn custom_mutators_are_split_wherever_the_separators_are() {
        let pairs: [(&[u8], &[u8]); 2] =
            [(b"p1073741828", b"NoTags\x1cX Y"), (b"p1073741829", b"\x1cNoTagsMutator\x1cUTMutator_x\x1c")];
        let settings = Settings::new(pairs);
        assert_eq!(settings.get(Setting::CustomMutators).unwrap().to_string(), "NoTags, X Y");
        let Some(Value::Names(classes)) = settings.get(Setting::CustomMutatorClasses) else { panic!() };
        assert_eq!(classes, ["NoTagsMutator", "UTMutator_x"]);
        assert_eq!(settings.to_string(), "unknown game, custom mutators: NoTags, X Y");
    }

    #[test]
    fn a_class_that_contradicts_the_number_is_shown() {
        let pairs: [(&[u8], &[u8]); 2] = [(b"s32779", b"1"), (b"p1073741826", b"UTGame.UTDeathmatch")];
        assert_eq!(Settings::new(pairs).to_string(), "Capture the Flag (by its class Deathmatch)");
        assert_eq!(Settings::new(pairs).game_mode(), Some(GameMode::CaptureTheFlag));
        assert_eq!(Settings::new([(&b"s32779"[..], &b"10"[..])]).to_string(), "number 10");
        let by_class = Settings::new([pairs[1]]);
        assert_eq!((by_class.to_string().as_str(), by_class.game_mode()), ("Deathmatch", None));
    }
}
