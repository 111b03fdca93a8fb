//! The fields of a status that rules fill, and the form of their values on the wire.

use std::time::Duration;

use bytes::Bytes;

use super::engines::{DEDICATED, Field, NON_DEDICATED, Profile, Words};
use super::wire::strings::FString;
use super::wire::text::WireText;
use crate::model::{ServerStatus, Text};
use crate::text::number;

/// Passes a macro the fields of rules, each with its name in a status. A server adds them in this
/// order.
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

#[cfg(feature = "serve")]
pub(super) use each_field;

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
#[cfg_attr(
    not(feature = "serve"),
    allow(dead_code, reason = "only a server writes values")
)]
pub(super) trait Value: Sized {
    /// Fills the field from a rule, if it has no value yet and the rule's can be read.
    fn read(rule: FString<'_>, words: Words, bytes: &Bytes, field: &mut Option<Self>);

    /// The values of the rules for this one. There are none if a rule cannot hold it.
    fn write(&self, words: Words) -> Vec<WireText<'_>>;
}

impl Value for Text {
    fn read(rule: FString<'_>, _: Words, bytes: &Bytes, field: &mut Option<Self>) {
        field.get_or_insert_with(|| text(bytes, rule));
    }

    fn write(&self, _: Words) -> Vec<WireText<'_>> {
        vec![WireText::new(self.as_ref())]
    }
}

/// One rule for each text.
impl Value for Vec<Text> {
    fn read(rule: FString<'_>, _: Words, bytes: &Bytes, field: &mut Option<Self>) {
        field.get_or_insert_default().push(text(bytes, rule));
    }

    fn write(&self, _: Words) -> Vec<WireText<'_>> {
        self.iter()
            .map(|text| WireText::new(text.as_ref()))
            .collect()
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
            Words::Any | Words::AnyWithoutFalse => number::boolean(word),
            Words::Modes => one_of(DEDICATED, NON_DEDICATED),
            Words::Enabled => one_of("Enabled", "Disabled"),
            Words::Present => Some(true),
        };
        *field = field.or(value);
    }

    fn write(&self, words: Words) -> Vec<WireText<'_>> {
        let word = match (words, self) {
            (Words::Any | Words::AnyWithoutFalse, true) => "True",
            (Words::Any, false) => "False",
            (Words::Modes, true) => DEDICATED,
            (Words::Modes, false) => NON_DEDICATED,
            (Words::AnyWithoutFalse, false) | (Words::Enabled | Words::Present, _) => {
                return Vec::new();
            }
        };
        vec![WireText::ascii(word)]
    }
}

/// Whole minutes.
impl Value for Duration {
    fn read(rule: FString<'_>, _: Words, _: &Bytes, field: &mut Option<Self>) {
        *field = field.or_else(|| number::whole_minutes(rule.shown()));
    }

    fn write(&self, _: Words) -> Vec<WireText<'_>> {
        let is_whole = self.subsec_nanos() == 0 && self.as_secs().is_multiple_of(60);
        if !is_whole {
            return Vec::new();
        }
        let minutes = i64::try_from(self.as_secs() / 60).ok();
        minutes.map(WireText::number).into_iter().collect()
    }
}

impl Value for i64 {
    fn read(rule: FString<'_>, _: Words, _: &Bytes, field: &mut Option<Self>) {
        *field = field.or_else(|| number::number(rule.shown()));
    }

    fn write(&self, _: Words) -> Vec<WireText<'_>> {
        vec![WireText::number(*self)]
    }
}

/// A string as text that shares the answer's bytes.
pub(super) fn text(bytes: &Bytes, string: FString<'_>) -> Text {
    Text::part(bytes, string.shown(), string.style())
}
