//! The fields of a status that rules fill, and how their values are read.

use std::time::Duration;

use bytes::Bytes;

use super::engines::{DEDICATED, Field, NON_DEDICATED, Profile, Words};
use super::wire::strings::FString;
use crate::model::{ServerStatus, Text};
use crate::text::number;

/// Passes a macro the fields of rules, each with its name in a status.
macro_rules! each_field {
    ($visit:ident) => {
        $visit! {
            Dedicated => dedicated
            Mutator => mutators
            Version => version
            Password => password
            ScoreLimit => score_limit
            TimeLimit => time_limit
            AntiCheat => anti_cheat
        }
    };
}

/// The key and the value of a rule.
pub(super) type Rule<'a> = (FString<'a>, FString<'a>);

/// Fills the fields of a status from these rules. The first value that can be read counts.
pub(super) fn read(
    rules: &[Rule<'_>],
    profile: &Profile,
    bytes: &Bytes,
    status: &mut ServerStatus,
) {
    for (key, value) in rules.iter().filter(|(_, value)| !value.is_empty()) {
        let Some(key) = profile.key(key.raw()) else {
            continue;
        };
        macro_rules! read {
            ($($field:ident => $member:ident)+) => {
                match key.field {
                    $(Field::$field => Value::read(*value, key.words, bytes, &mut status.$member),)+
                }
            };
        }
        each_field!(read);
    }
}

/// The value of a field.
trait Value: Sized {
    /// Fills the field from a rule, if it has no value yet and the rule's can be read.
    fn read(rule: FString<'_>, words: Words, bytes: &Bytes, field: &mut Option<Self>);
}

impl Value for Text {
    fn read(rule: FString<'_>, _: Words, bytes: &Bytes, field: &mut Option<Self>) {
        field.get_or_insert_with(|| text(bytes, rule));
    }
}

/// One rule for each text.
impl Value for Vec<Text> {
    fn read(rule: FString<'_>, _: Words, bytes: &Bytes, field: &mut Option<Self>) {
        field.get_or_insert_default().push(text(bytes, rule));
    }
}

impl Value for bool {
    fn read(rule: FString<'_>, words: Words, _: &Bytes, field: &mut Option<Self>) {
        let word = rule.shown();
        let one_of = |yes: &str, no: &str| {
            let is_yes = word.eq_ignore_ascii_case(yes.as_bytes());
            (is_yes || word.eq_ignore_ascii_case(no.as_bytes())).then_some(is_yes)
        };
        let value = match words {
            Words::Any => number::boolean(word),
            Words::Modes => one_of(DEDICATED, NON_DEDICATED),
            Words::Enabled => one_of("Enabled", "Disabled"),
            Words::Present => Some(true),
        };
        *field = field.or(value);
    }
}

/// Whole minutes.
impl Value for Duration {
    fn read(rule: FString<'_>, _: Words, _: &Bytes, field: &mut Option<Self>) {
        *field = field.or_else(|| number::whole_minutes(rule.shown()));
    }
}

impl Value for i64 {
    fn read(rule: FString<'_>, _: Words, _: &Bytes, field: &mut Option<Self>) {
        *field = field.or_else(|| number::number(rule.shown()));
    }
}

/// A string as text that shares the answer's bytes.
pub(super) fn text(bytes: &Bytes, string: FString<'_>) -> Text {
    Text::part(bytes, string.shown(), string.style())
}
