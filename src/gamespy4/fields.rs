//! The fields of a status that keys fill, and the form of their values on the wire.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;

use super::engines::{Entry, Field, Known, Profile};
#[cfg(feature = "serve")]
use crate::model::ServerStatus;
use crate::model::{Charset, Text, TextRef};
use crate::text::number;

/// Passes a macro the simple fields of a status, each with the meanings of its keys. They are read
/// from one key and written as one key. Of several meanings, the first with a value counts.
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

/// The value of a simple field as it is written under this key; `None` if the status has none, or
/// the field is not simple.
#[cfg(feature = "serve")]
pub(super) fn write<'a>(entry: &Entry, status: &'a ServerStatus) -> Option<Cow<'a, [u8]>> {
    macro_rules! write_field {
        ($($name:ident: $($field:ident),+;)+) => {
            match entry.field {
                $($(Field::$field)|+ => status.$name.as_ref()?.write(entry),)+
                _ => None,
            }
        };
    }
    each_field!(write_field)
}

/// Whether one more key of a simple field, with this value, would change what clients read.
#[cfg(feature = "serve")]
pub(super) fn is_contradicted(field: Field, status: &ServerStatus, value: &[u8]) -> bool {
    macro_rules! is_field_contradicted {
        ($($name:ident: $($field:ident),+;)+) => {
            match field {
                $($(Field::$field)|+ => {
                    let known = status.$name.as_ref();
                    known.is_some_and(|known| known.is_contradicted(value))
                })+
                _ => false,
            }
        };
    }
    each_field!(is_field_contradicted)
}

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
        for entry in profile.entries().filter(|entry| entry.is_read()) {
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
#[cfg_attr(
    not(feature = "serve"),
    allow(dead_code, reason = "only a server writes values")
)]
pub(super) trait Value: Sized {
    /// The value of the keys with this meaning.
    fn read(field: Field, fields: &Fields<'_>) -> Option<Self>;

    /// The value as it is written under a key; `None` if it cannot be.
    fn write(&self, entry: &Entry) -> Option<Cow<'_, [u8]>>;

    /// Whether one more key with this value changes what clients read. Usually the first key
    /// counts.
    fn is_contradicted(&self, _value: &[u8]) -> bool {
        false
    }
}

impl Value for Text {
    fn read(field: Field, fields: &Fields<'_>) -> Option<Self> {
        fields.get(field).map(|raw| fields.text(raw))
    }

    fn write(&self, _: &Entry) -> Option<Cow<'_, [u8]>> {
        Some(wire(self.as_ref()))
    }
}

/// Integers in decimal digits.
macro_rules! integers {
    ($($integer:ty),+) => {
        $(impl Value for $integer {
            fn read(field: Field, fields: &Fields<'_>) -> Option<Self> {
                fields.number(field)
            }

            fn write(&self, _: &Entry) -> Option<Cow<'_, [u8]>> {
                Some(decimal(*self))
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
        let entries = entries.filter(|entry| entry.field == field && entry.is_read());
        number::any(entries.filter_map(|entry| fields.known.get(entry.key)))
    }

    fn write(&self, entry: &Entry) -> Option<Cow<'_, [u8]>> {
        let word: &[u8] = match (entry.is_word, self) {
            (true, true) => b"True",
            (true, false) => b"False",
            (false, true) => b"1",
            (false, false) => b"0",
        };
        Some(word.into())
    }

    /// One key with a yes is enough.
    fn is_contradicted(&self, value: &[u8]) -> bool {
        !self && number::boolean(value) == Some(true)
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

    fn write(&self, entry: &Entry) -> Option<Cow<'_, [u8]>> {
        let seconds = i64::try_from(self.as_secs()).ok()?;
        let number = match entry.field {
            Field::TimeLimitInMinutes => (seconds % 60 == 0).then_some(seconds / 60),
            Field::TimeLimit => (seconds == 0).then_some(0),
            _ => Some(seconds),
        };
        number.map(decimal)
    }
}

/// A number in decimal digits.
pub(super) fn decimal<'a>(number: impl Into<i64>) -> Cow<'a, [u8]> {
    number.into().to_string().into_bytes().into()
}

/// A text's bytes without NUL.
pub(super) fn wire(text: TextRef<'_>) -> Cow<'_, [u8]> {
    let bytes = text.encoded(Charset::Utf8OrWindows1252);
    if memchr::memchr(0, &bytes).is_none() {
        return bytes;
    }
    bytes.iter().copied().filter(|&byte| byte != 0).collect()
}
