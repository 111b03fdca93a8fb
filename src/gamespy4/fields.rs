//! The fields of a status that keys fill, and how their values are read.

use std::time::Duration;

use bytes::Bytes;

use super::engines::{Field, Known, Profile};
use crate::model::Text;
use crate::text::number;

/// Passes a macro the simple fields of a status, each with the meanings of its keys. Of several
/// meanings, the first with a value counts.
///
/// The name, the modification, the mutators and the counts of players are not simple: they depend
/// on several keys.
macro_rules! each_field {
    ($visit:ident) => {
        $visit! {
            map: Map;
            game: Game;
            game_type: GameType;
            version: Version;
            protocol_version: ProtocolVersion;
            game_port: GamePort;
            password: Password;
            dedicated: Dedicated;
            anti_cheat: AntiCheat;
            max_players: MaxPlayers;
            private_slots: PrivateSlots;
            time_limit: TimeLimitInMinutes, TimeLimitInSeconds, TimeLimit;
            time_left: TimeLeft;
            score_limit: ScoreLimit;
        }
    };
}

pub(super) use each_field;

/// The values of the keys that a profile names.
pub(super) struct Fields<'a> {
    pub(super) profile: &'static Profile,
    /// The bytes that long texts share.
    bytes: &'a Bytes,
    known: &'a Known<'a>,
    /// The first value of each field that is not empty, else an empty one.
    values: [Option<&'a [u8]>; Field::COUNT],
}

impl<'a> Fields<'a> {
    pub(super) fn new(profile: &'static Profile, bytes: &'a Bytes, known: &'a Known<'a>) -> Self {
        let mut values: [Option<&[u8]>; Field::COUNT] = [None; Field::COUNT];
        for entry in profile.entries() {
            if let Some(value) = known.get(entry.key)
                && let Some(slot) = values.get_mut(entry.field as usize)
                && slot.is_none_or(<[u8]>::is_empty)
            {
                *slot = Some(value);
            }
        }
        Self {
            profile,
            bytes,
            known,
            values,
        }
    }

    /// The first value of a field that is not empty, else an empty one.
    #[inline]
    pub(super) fn get_or_empty(&self, field: Field) -> Option<&'a [u8]> {
        self.values.get(field as usize).copied().flatten()
    }

    /// The first value of a field that is not empty.
    #[inline]
    pub(super) fn get(&self, field: Field) -> Option<&'a [u8]> {
        self.get_or_empty(field).filter(|value| !value.is_empty())
    }

    /// The first of several fields that has a value.
    pub(super) fn first(&self, fields: &[Field]) -> Option<&'a [u8]> {
        fields.iter().find_map(|field| self.get(*field))
    }

    pub(super) fn number<T: TryFrom<i64>>(&self, field: Field) -> Option<T> {
        self.get(field).and_then(number::number)
    }

    pub(super) fn text(&self, raw: &[u8]) -> Text {
        Text::part(self.bytes, raw, self.profile.style)
    }
}

/// The value of a field.
pub(super) trait Value: Sized {
    /// The value of the keys with this meaning.
    fn read(field: Field, fields: &Fields<'_>) -> Option<Self>;
}

impl Value for Text {
    fn read(field: Field, fields: &Fields<'_>) -> Option<Self> {
        fields.get(field).map(|raw| fields.text(raw))
    }
}

/// Integers in decimal digits.
macro_rules! integers {
    ($($integer:ty),+) => {
        $(impl Value for $integer {
            fn read(field: Field, fields: &Fields<'_>) -> Option<Self> {
                fields.number(field)
            }
        })+
    };
}

integers!(u16, u32, i64);

impl Value for bool {
    /// Whether any value is true; `None` if none is a truth value.
    fn read(field: Field, fields: &Fields<'_>) -> Option<Self> {
        // Most servers have none of a field's keys, or one.
        fields.get(field)?;
        let entries = fields.profile.entries();
        let entries = entries.filter(|entry| entry.field == field);
        number::any(entries.filter_map(|entry| fields.known.get(entry.key)))
    }
}

impl Value for Duration {
    fn read(field: Field, fields: &Fields<'_>) -> Option<Self> {
        let value = fields.get(field)?;
        match field {
            Field::TimeLimitInMinutes => number::whole_minutes(value),
            Field::TimeLimit => number::whole_minutes(value).filter(Self::is_zero),
            _ => number::number(value).map(Self::from_secs),
        }
    }
}
