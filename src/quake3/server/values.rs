//! Texts as infostrings and player lines can carry them.

use std::borrow::Cow;

use crate::model::{Charset, ServerStatus, Text, TextRef};
use crate::quake3::wire::infostring::sanitise;
use crate::quake3::wire::siblings::Family;

/// Whether a text is written as this value of Quake 3's infostrings.
pub(super) fn is_written_as(text: &Text, value: &[u8]) -> bool {
    *value_of(Family::Quake3, text.as_ref()) == *value
}

/// A text as infostrings and player lines of this form can carry it.
pub(super) fn value_of(family: Family, text: TextRef<'_>) -> Cow<'_, [u8]> {
    match family {
        Family::Quake3 | Family::Quetoo => match text.encoded(Charset::Utf8OrWindows1252) {
            Cow::Borrowed(text) => sanitise(text),
            Cow::Owned(text) => sanitise(&text).into_owned().into(),
        },
        Family::Quake2 | Family::QuakeWorld => quake_text(text).into(),
    }
}

/// A field's text, if it has one.
pub(super) fn field_value(family: Family, field: &Option<Text>) -> Option<Vec<u8>> {
    let text = field.as_ref()?;
    Some(value_of(family, text.as_ref()).into_owned())
}

/// The value of a rule of the status.
pub(super) fn rule_value(family: Family, status: &ServerStatus, key: &str) -> Option<Vec<u8>> {
    let value = status.rules.get(key)?;
    Some(value_of(family, value).into_owned())
}

/// A text in Quake's character set, with look-alikes for `\` and `"`.
pub(super) fn quake_text(text: TextRef<'_>) -> Vec<u8> {
    let is_quake = text.style().charset == Charset::Quake;
    let bytes = if is_quake || text.raw().is_ascii() {
        text.raw().to_vec()
    } else {
        Charset::Quake.encode(&text.decoded())
    };
    let look_alike = |byte| match byte {
        b'\\' => Some(b'/'),
        b'"' => Some(b'\''),
        0 | b'\n' | b'\r' => None,
        other => Some(other),
    };
    bytes.into_iter().filter_map(look_alike).collect()
}
