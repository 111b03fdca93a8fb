//! The model as JSON and other formats of serde, feature `serde`.

use std::time::Duration;

use serde::de::{self, Deserializer};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::players::{Player, Players};
use super::rules::Rules;
use super::status::{ServerStatus, Team};
use super::text::{Style, Text, TextRef};
use crate::text::charset::Charset;
use crate::text::code::hex;
use crate::text::colour::Colours;

/// Serializes a status with the raw bytes and colours of its texts.
///
/// A text is an object: `plain`, `raw` (hexadecimal), `charset`, `colours` and `spans`. A text in
/// UTF-8 without colour codes is a string. Deserializing gives the exact bytes.
///
/// ```
/// use queryport::model::{Charset, Colours, Detailed, Style};
/// use queryport::{ServerStatus, Text};
///
/// let mut status = ServerStatus::default();
/// status.name =
///     Some(Text::new(&b"^1Red"[..], Style::new(Charset::Latin1, Colours::Caret)));
/// let json = serde_json::to_value(Detailed(&status)).unwrap();
/// assert_eq!(json["name"]["plain"], "Red");
/// assert_eq!(json["name"]["raw"], "5e31526564");
/// assert_eq!(json["name"]["spans"][0]["colour"]["palette"], 1);
/// assert_eq!(serde_json::from_value::<ServerStatus>(json).unwrap(), status);
/// ```
#[derive(Debug, Clone, Copy)]
#[allow(clippy::exhaustive_structs, reason = "a wrapper")]
pub struct Detailed<'a>(pub &'a ServerStatus);

impl Serialize for Detailed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        As::new(self.0, Form::Detailed).serialize(serializer)
    }
}

/// The form in which texts are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The plain text.
    Plain,
    /// An object, see [`Detailed`].
    Detailed,
}

/// A part of the model that is written with its texts in this form.
struct As<T> {
    part: T,
    form: Form,
}

impl<T> As<T> {
    const fn new(part: T, form: Form) -> Self {
        Self { part, form }
    }
}

/// Writes a part of the model with these fields, in this order. Those in parentheses hold texts or
/// durations.
macro_rules! serialize_fields {
    ($part:ident: $(($($texts:ident)*) $($values:ident)*)*) => {
        impl Serialize for As<&$part> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let Self { part, form } = *self;
                let count = [$($(stringify!($texts),)* $(stringify!($values),)*)*].len();
                let mut out = serializer.serialize_struct(stringify!($part), count)?;
                $(
                    $(out.serialize_field(stringify!($texts), &As::new(&part.$texts, form))?;)*
                    $(out.serialize_field(stringify!($values), &part.$values)?;)*
                )*
                out.end()
            }
        }
    };
}

serialize_fields! {
    ServerStatus: (name map game mod_name game_type mutators version) protocol_version game_port password dedicated
        anti_cheat player_count bot_count max_players private_slots (time_limit time_left) score_limit
        (players former_players teams rules) completeness verification
}
serialize_fields! { Player: (name) score ping team bot spectator (extra) }
serialize_fields! { Team: () id (name) score (extra) }

impl Serialize for As<&Players> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.part.known() {
            Some(players) => {
                serializer.collect_seq(players.iter().map(|player| As::new(player, self.form)))
            }
            None => serializer.serialize_none(),
        }
    }
}

impl Serialize for As<&Duration> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_seconds(self.part, serializer)
    }
}

/// Writes a duration in seconds, to the microsecond: an integer if it is whole.
pub(crate) fn write_seconds<S: Serializer>(
    time: &(impl Copy + Into<Option<Duration>>),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let Some(time) = (*time).into() else {
        return serializer.serialize_none();
    };
    match time.subsec_micros() {
        0 => serializer.serialize_u64(time.as_secs()),
        // The quotient of two integers is the float nearest to the decimal fraction, so it prints
        // as that fraction.
        _ => serializer.serialize_f64(time.as_micros() as f64 / 1e6),
    }
}

/// Reads the seconds of a duration.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    let seconds = Option::<f64>::deserialize(deserializer)?;
    seconds
        .map(|seconds| Duration::try_from_secs_f64(seconds).map_err(de::Error::custom))
        .transpose()
}

impl<T> Serialize for As<&Option<T>>
where
    for<'a> As<&'a T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.part.as_ref();
        value
            .map(|value| As::new(value, self.form))
            .serialize(serializer)
    }
}

impl<T> Serialize for As<&Vec<T>>
where
    for<'a> As<&'a T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.part.iter().map(|item| As::new(item, self.form)))
    }
}

impl Serialize for As<&Rules> {
    /// A list of `[key, value]` pairs: a map would lose order and repeated keys.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pairs = self.part.iter();
        serializer.collect_seq(
            pairs.map(|(key, value)| [As::new(key, self.form), As::new(value, self.form)]),
        )
    }
}

impl Serialize for As<&Text> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        As::new(self.part.as_ref(), self.form).serialize(serializer)
    }
}

impl Serialize for As<TextRef<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.part;
        let plain = text.plain();
        let is_plain = || plain.as_bytes() == text.raw() && text.style() == Style::default();
        if self.form == Form::Plain || is_plain() {
            return serializer.serialize_str(&plain);
        }
        let raw: String = text
            .raw()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let mut out = serializer.serialize_struct("Text", 5)?;
        out.serialize_field("plain", &plain)?;
        out.serialize_field("raw", &raw)?;
        out.serialize_field("charset", &text.style().charset)?;
        out.serialize_field("colours", &text.style().colours)?;
        out.serialize_field("spans", &text.spans().collect::<Vec<_>>())?;
        out.end()
    }
}

/// Writes these parts of the model with plain texts.
macro_rules! serialize_plain {
    ($($part:ty)*) => {
        $(impl Serialize for $part {
            /// With plain texts; see [`Detailed`] for more.
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                As::new(self, Form::Plain).serialize(serializer)
            }
        })*
    };
}

serialize_plain! { ServerStatus Players Player Team Rules Text }

impl Serialize for TextRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        As::new(*self, Form::Plain).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Text {
    /// From a string, which is UTF-8 without colour codes, or from the object of a [`Detailed`]
    /// text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected a string, or an object with raw, charset and colours"
        )]
        enum Written {
            Plain(String),
            Detailed {
                raw: String,
                charset: Charset,
                colours: Colours,
            },
        }
        match Written::deserialize(deserializer)? {
            Written::Plain(text) => Ok(text.into()),
            Written::Detailed {
                raw,
                charset,
                colours,
            } => {
                let raw =
                    from_hex(&raw).ok_or_else(|| de::Error::custom("raw is not hexadecimal"))?;
                Ok(Self::new(raw, Style::new(charset, colours)))
            }
        }
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some(hex(*high)? << 4 | hex(*low)?);
    if rest.is_empty() {
        pairs.iter().map(byte).collect()
    } else {
        None
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pairs = Vec::<(Text, Text)>::deserialize(deserializer).map_err(|error| {
            de::Error::custom(format_args!("a list of [key, value] pairs: {error}"))
        })?;
        let mut rules = Self::default();
        for (key, value) in &pairs {
            rules.push_texts(key.as_ref(), value.as_ref());
        }
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::super::completeness::{MissingParts, Verification};
    use super::*;

    /// A status in which every field is set.
    fn full() -> ServerStatus {
        let mut player = Player::new(Text::new(
            &b"^1\xe4"[..],
            Style::new(Charset::Latin1, Colours::Caret),
        ));
        (player.score, player.ping, player.team) = (Some(-9999), Some(-1), Some(0));
        player.bot = Some(false);
        player.spectator = Some(true);
        player.extra.push("skin", "");
        let mut team = Team {
            id: Some(0),
            name: Some("Red".into()),
            score: Some(3),
            ..Team::default()
        };
        team.extra.push("size", "1");
        ServerStatus {
            name: Some("Example \"1\"".into()),
            map: Some("q3dm17".into()),
            game: Some("Quake3Arena".into()),
            mod_name: Some("cpma".into()),
            game_type: Some("4".into()),
            mutators: Some(vec!["Instagib".into()]),
            version: Some("1.32c".into()),
            protocol_version: Some(68),
            game_port: Some(27960),
            password: Some(false),
            dedicated: Some(true),
            anti_cheat: Some(true),
            player_count: Some(1),
            bot_count: Some(0),
            max_players: Some(16),
            private_slots: Some(2),
            time_limit: Some(Duration::from_secs(1200)),
            time_left: Some(Duration::from_millis(1500)),
            score_limit: Some(25),
            players: [player].into(),
            former_players: vec![Player::new("Gone")],
            teams: vec![team],
            rules: [("sv_floodProtect", "1"), ("empty", ""), ("empty", "")]
                .into_iter()
                .collect(),
            completeness: MissingParts {
                end: true,
                fragments: 2,
                ..MissingParts::NOTHING
            }
            .into(),
            verification: Verification::Verified,
        }
    }

    #[test]
    fn a_full_status_is_read_back_from_its_json() {
        let status = full();
        let json = serde_json::to_value(Detailed(&status)).unwrap();
        assert!(
            json.as_object()
                .unwrap()
                .values()
                .all(|value| !value.is_null()),
            "{json}"
        );
        assert_eq!(
            serde_json::from_value::<ServerStatus>(json.clone()).unwrap(),
            status
        );
        assert_eq!(
            (&json["time_limit"], &json["time_left"]),
            (&1200.into(), &1.5.into())
        );
        assert_eq!(json["completeness"]["incomplete"]["fragments"], 2);
        assert_eq!(json["rules"][1], serde_json::json!(["empty", ""]));

        let back: ServerStatus = serde_json::from_value(json).unwrap();
        let (name, written) = (&back.players[0].name, &status.players[0].name);
        assert_eq!((name.raw(), name.style()), (written.raw(), written.style()));

        let plain = serde_json::to_value(&status).unwrap();
        assert_eq!(plain["players"][0]["name"], "ä");
        let back: ServerStatus = serde_json::from_value(plain).unwrap();
        assert_eq!(back, status);
        let parts = serde_json::json!({"players": [{}], "teams": [{}]});
        let expected = ServerStatus {
            players: [Player::default()].into(),
            teams: vec![Team::default()],
            ..ServerStatus::default()
        };
        for (json, expected) in [
            (parts, expected),
            (serde_json::json!({}), ServerStatus::default()),
        ] {
            let read: ServerStatus = serde_json::from_value(json).unwrap();
            assert_eq!(read, expected);
            let again = serde_json::to_value(&read).unwrap();
            assert_eq!(again["players"].is_null(), !read.players.is_known());
        }
    }

    #[test]
    fn invalid_json_is_an_error() {
        for json in [r#"{"time_left": -1}"#, r#"{"rules": [["a"]]}"#] {
            assert!(
                serde_json::from_str::<ServerStatus>(json).is_err(),
                "{json}"
            );
        }
        for (json, expected) in [
            (
                r#"{"name": 7}"#,
                "a string, or an object with raw, charset and colours",
            ),
            (r#"{"rules": "a"}"#, "a list of [key, value] pairs"),
            (
                r#"{"completeness": {"incomplete": {}}}"#,
                "an incomplete answer lacks at least one part",
            ),
            (
                r#"{"name": {"raw": "0", "charset": "latin1", "colours": "none"}}"#,
                "raw is not hexadecimal",
            ),
        ] {
            let error = serde_json::from_str::<ServerStatus>(json)
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{json}: {error}");
        }
    }

    /// A part of a status that a caller writes alone has the same JSON as in the status.
    #[test]
    fn parts_of_a_status_are_written_as_in_it() {
        let status = full();
        let whole = serde_json::to_value(&status).unwrap();
        let player = &status.players[0];
        assert_eq!(serde_json::to_value(player).unwrap(), whole["players"][0]);
        assert_eq!(
            serde_json::to_value(&status.teams[0]).unwrap(),
            whole["teams"][0]
        );
        assert_eq!(serde_json::to_value(&status.rules).unwrap(), whole["rules"]);
        assert_eq!(serde_json::to_value(&player.name).unwrap(), "ä");
        assert_eq!(serde_json::to_value(player.name.as_ref()).unwrap(), "ä");
    }
}
