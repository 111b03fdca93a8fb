//! The fields of a status that keys fill, and how their values are read.

use std::time::Duration;

use bytes::Bytes;

use super::answer::rows::Field;
use super::engines::{Key, Keys, Known, Profile};
use crate::model::{Charset, Player, Style, Text, listed_bots};
use crate::text::number;

pub(super) const CHARSET: Charset = Charset::Utf8OrWindows1252;

/// Passes a macro the fields of a status that are read from keys. A
/// [`Profile`](super::engines::Profile) has the keys of a field under the field's name.
///
/// The counts of players and bots are not among them, because the meaning of one count depends on
/// the others, see [`PlayerCounts`].
macro_rules! each_field {
    ($visit:ident) => {
        $visit! {
            game version protocol_version name game_port map game_type max_players
            password dedicated anti_cheat private_slots time_limit time_left score_limit
            mutators mod_name
        }
    };
}

pub(super) use each_field;

/// The values of known keys, in a reply or among the rules to write.
pub(super) struct Values<'a> {
    pub(super) known: Known<'a>,
    /// Every value of a key of mutators, because some servers repeat these keys.
    mutators: Vec<MutatorList<'a>>,
}

/// A value of a key of mutators.
struct MutatorList<'a> {
    key: Key,
    /// Names between commas.
    names: &'a [u8],
}

impl<'a> Values<'a> {
    pub(super) const fn new() -> Self {
        Self {
            known: Known::new(),
            mutators: Vec::new(),
        }
    }

    /// Takes a pair, if its key is known.
    #[inline]
    pub(super) fn insert(&mut self, name: &[u8], value: &'a [u8]) {
        if let Some(key) = self.known.insert(name, value)
            && key.lists_mutators()
        {
            self.mutators.push(MutatorList { key, names: value });
        }
    }

    /// The first text that counts.
    pub(super) fn text(&self, keys: Keys) -> Option<&'a [u8]> {
        self.find(keys, |_, value| (!value.is_empty()).then_some(value))
    }

    /// The first value that is a number and fits the type.
    pub(super) fn number<T: TryFrom<i64>>(&self, keys: Keys) -> Option<T> {
        self.find(keys, |_, value| number::number(value))
    }

    /// The names of the mutators under a key.
    fn mutators_of(&self, key: Key) -> impl Iterator<Item = &'a [u8]> {
        let lists = self.mutators.iter().filter(move |list| list.key == key);
        lists.flat_map(|list| mutator_names(list.names))
    }

    fn find<T>(&self, keys: Keys, read: impl Fn(Key, &'a [u8]) -> Option<T>) -> Option<T> {
        keys.all.iter().find_map(|key| {
            let value = self.known.get(*key)?;
            read(*key, keys.meaning(value, &self.known)?)
        })
    }
}

/// Reads fields from the values of their keys.
#[derive(Clone, Copy)]
pub(super) struct FieldReader<'a> {
    pub(super) values: &'a Values<'a>,
    /// The bytes that long texts share.
    pub(super) bytes: &'a Bytes,
    pub(super) style: Style,
}

impl FieldReader<'_> {
    pub(super) fn text(&self, raw: &[u8]) -> Text {
        Text::part(self.bytes, raw, self.style)
    }
}

/// The value of a field.
pub(super) trait Value: Sized {
    /// The value of the first of these keys that has one.
    fn read(keys: Keys, fields: &FieldReader<'_>) -> Option<Self>;
}

impl Value for Text {
    fn read(keys: Keys, fields: &FieldReader<'_>) -> Option<Self> {
        let raw = fields.values.text(keys)?;
        Some(fields.text(raw))
    }
}

/// Names between commas.
impl Value for Vec<Text> {
    /// The names under the first key that has any. No names are an empty list.
    fn read(keys: Keys, fields: &FieldReader<'_>) -> Option<Self> {
        let values = fields.values;
        if values.mutators.is_empty() {
            return None;
        }
        for key in keys.all {
            let names = values.mutators_of(*key).map(|name| fields.text(name));
            let names: Self = names.collect();
            if !names.is_empty() {
                return Some(names);
            }
        }
        Some(Self::new())
    }
}

/// The names in a list with commas. UT99 writes `None` for an empty list.
fn mutator_names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"none"))
}

/// Integers in decimal digits.
macro_rules! decimal {
    ($($integer:ty),+) => {
        $(impl Value for $integer {
            fn read(keys: Keys, fields: &FieldReader<'_>) -> Option<Self> {
                fields.values.number(keys)
            }
        })+
    };
}

decimal!(u16, u32, i64);

impl Value for bool {
    fn read(keys: Keys, fields: &FieldReader<'_>) -> Option<Self> {
        fields.values.find(keys, read_flag)
    }
}

fn read_flag(key: Key, value: &[u8]) -> Option<bool> {
    let flag = number::boolean(value)?;
    Some(flag != key.is_inverted())
}

/// Whole seconds, or whole minutes.
impl Value for Duration {
    fn read(keys: Keys, fields: &FieldReader<'_>) -> Option<Self> {
        fields.values.find(keys, read_duration)
    }
}

fn read_duration(key: Key, value: &[u8]) -> Option<Duration> {
    if key.is_in_minutes() {
        return number::whole_minutes(value);
    }
    let seconds: u32 = number::number(value)?;
    Some(Duration::from_secs(seconds.into()))
}

/// The numbers of players and of bots.
///
/// If the family's row has a key for `everyone`, the key for `player_count` counts people only.
pub(super) struct PlayerCounts {
    /// Everyone, bots included.
    pub(super) players: Option<u32>,
    pub(super) bots: Option<u32>,
}

impl PlayerCounts {
    /// The counts in a reply with these keys and rows of players.
    ///
    /// Bots are known if a key counts them, or if every row is marked as a bot or a person.
    pub(super) fn read(values: &Values<'_>, profile: &Profile, listed: &[Player]) -> Self {
        let counted: Option<u32> = values.number(profile.player_count);
        let everyone: Option<u32> = values.number(profile.everyone);
        if let (Some(people), Some(everyone)) = (counted, everyone) {
            let bots = everyone.saturating_sub(people);
            return Self {
                players: people.checked_add(bots),
                bots: Some(bots),
            };
        }
        let rows = u32::try_from(listed.len()).unwrap_or(u32::MAX);
        let has_all_rows = counted.is_none_or(|counted| rows >= counted);
        let marked = if has_all_rows {
            listed_bots(listed)
        } else {
            None
        };
        let bot_rows = marked.unwrap_or_default();
        let people_rows = rows.saturating_sub(bot_rows);
        // UT99 counts people only, but can list bots as well.
        let counts_people = bot_rows > 0 && counted == Some(people_rows);
        Self {
            players: if counts_people { Some(rows) } else { counted },
            bots: values.number(profile.bots).or(marked),
        }
    }
}

/// The field of players that shows whether a player is a bot.
const BOT_MARK: &str = "ngsecret";

/// Whether a player is a bot, by the last mark in its row; `None` without a mark.
pub(super) fn read_bot_mark(row: &[Field<'_>]) -> Option<bool> {
    let mut fields = row.iter().rev();
    let (_, mark) = fields.find(|(field, _)| field.eq_ignore_ascii_case(BOT_MARK.as_bytes()))?;
    Some(mark.eq_ignore_ascii_case(b"bot"))
}
