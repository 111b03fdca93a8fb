//! The model as JSON and other formats of serde, feature `serde`.

use std::time::Duration;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::rules::Rules;
use super::status::{Player, ServerStatus, Team};
use super::text::{Style, Text, TextRef};
use crate::text::charset::Charset;
use crate::text::colour::Colours;

/// Serializes a status with the raw bytes and colours of its texts.
///
/// A text is an object: `plain`, `raw` (hexadecimal), `charset`, `colours` and `spans`. A text in UTF-8 without colour codes is
/// a string. Deserializing gives the exact bytes.
///
/// ```
/// use queryport::model::{Charset, Colours, Detailed, Style};
/// use queryport::{ServerStatus, Text};
///
/// let mut status = ServerStatus::default();
/// status.name = Some(Text::new(&b"^1Red"[..], Style::new(Charset::Latin1, Colours::Caret)));
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
        As(self.0, Texts::Detailed).serialize(serializer)
    }
}

/// How texts are written.
#[derive(Clone, Copy)]
enum Texts {
    Plain,
    Detailed,
}

/// A part of the model, and how to write its texts.
struct As<'a, T: ?Sized>(&'a T, Texts);

impl Serialize for As<'_, ServerStatus> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(status, texts) = *self;
        let mut out = serializer.serialize_struct("ServerStatus", 24)?;
        out.serialize_field("name", &status.name.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("map", &status.map.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("game", &status.game.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("mod_name", &status.mod_name.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("game_type", &status.game_type.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("mutators", &status.mutators.as_deref().map(|list| As(list, texts)))?;
        out.serialize_field("version", &status.version.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("protocol_version", &status.protocol_version)?;
        out.serialize_field("game_port", &status.game_port)?;
        out.serialize_field("password", &status.password)?;
        out.serialize_field("dedicated", &status.dedicated)?;
        out.serialize_field("anti_cheat", &status.anti_cheat)?;
        out.serialize_field("player_count", &status.player_count)?;
        out.serialize_field("bot_count", &status.bot_count)?;
        out.serialize_field("max_players", &status.max_players)?;
        out.serialize_field("private_slots", &status.private_slots)?;
        out.serialize_field("time_limit", &status.time_limit.map(Seconds))?;
        out.serialize_field("time_left", &status.time_left.map(Seconds))?;
        out.serialize_field("score_limit", &status.score_limit)?;
        out.serialize_field("players", &status.players.as_deref().map(|players| As(players, texts)))?;
        out.serialize_field("teams", &As(&status.teams[..], texts))?;
        out.serialize_field("rules", &As(&status.rules, texts))?;
        out.serialize_field("completeness", &status.completeness)?;
        out.serialize_field("verification", &status.verification)?;
        out.end()
    }
}

/// A duration in seconds: an integer where it is whole.
struct Seconds(Duration);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.subsec_nanos() {
            0 => serializer.serialize_u64(self.0.as_secs()),
            _ => serializer.serialize_f64(self.0.as_secs_f64()),
        }
    }
}

/// Reads what [`Seconds`] writes.
pub(super) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let seconds = Option::<f64>::deserialize(deserializer)?;
    seconds.map(|seconds| Duration::try_from_secs_f64(seconds).map_err(de::Error::custom)).transpose()
}

impl Serialize for As<'_, Player> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(player, texts) = *self;
        let mut out = serializer.serialize_struct("Player", 7)?;
        out.serialize_field("name", &As(&player.name, texts))?;
        out.serialize_field("score", &player.score)?;
        out.serialize_field("ping", &player.ping)?;
        out.serialize_field("team", &player.team)?;
        out.serialize_field("bot", &player.bot)?;
        out.serialize_field("stale", &player.stale)?;
        out.serialize_field("extra", &As(&player.extra, texts))?;
        out.end()
    }
}

impl Serialize for As<'_, Team> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(team, texts) = *self;
        let mut out = serializer.serialize_struct("Team", 4)?;
        out.serialize_field("id", &team.id)?;
        out.serialize_field("name", &team.name.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("score", &team.score)?;
        out.serialize_field("extra", &As(&team.extra, texts))?;
        out.end()
    }
}

impl<'a, T> Serialize for As<'a, [T]>
where
    As<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|item| As(item, self.1)))
    }
}

impl Serialize for As<'_, Rules> {
    /// A list of `[key, value]` pairs: a map would lose order and repeated keys.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pairs = serializer.serialize_seq(Some(self.0.len()))?;
        for (key, value) in self.0 {
            pairs.serialize_element(&[Piece(key, self.1), Piece(value, self.1)])?;
        }
        pairs.end()
    }
}

impl Serialize for As<'_, Text> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Piece(self.0.as_ref(), self.1).serialize(serializer)
    }
}

/// A borrowed text, written in this way.
struct Piece<'a>(TextRef<'a>, Texts);

impl Serialize for Piece<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(text, texts) = *self;
        let plain = text.plain();
        if matches!(texts, Texts::Plain)
            || (plain.as_bytes() == text.raw() && text.style() == Style::default())
        {
            return serializer.serialize_str(&plain);
        }
        let raw: String = text.raw().iter().map(|byte| format!("{byte:02x}")).collect();
        let mut out = serializer.serialize_struct("Text", 5)?;
        out.serialize_field("plain", &plain)?;
        out.serialize_field("raw", &raw)?;
        out.serialize_field("charset", &text.style().charset)?;
        out.serialize_field("colours", &text.style().colours)?;
        out.serialize_field("spans", &text.spans().collect::<Vec<_>>())?;
        out.end()
    }
}

impl Serialize for ServerStatus {
    /// With plain texts; see [`Detailed`] for more.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        As(self, Texts::Plain).serialize(serializer)
    }
}

impl Serialize for Player {
    /// With plain texts; see [`Detailed`] for more.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        As(self, Texts::Plain).serialize(serializer)
    }
}

impl Serialize for Team {
    /// With plain texts; see [`Detailed`] for more.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        As(self, Texts::Plain).serialize(serializer)
    }
}

impl Serialize for Rules {
    /// With plain texts; see [`Detailed`] for more.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        As(self, Texts::Plain).serialize(serializer)
    }
}

impl Serialize for Text {
    /// With plain texts; see [`Detailed`] for more.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        As(self, Texts::Plain).serialize(serializer)
    }
}

impl Serialize for TextRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Piece(*self, Texts::Plain).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Text {
    /// From a string, which is UTF-8 without colour codes, or from the object of a [`Detailed`] text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a string, or an object with raw, charset and colours")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
        Ok(text.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Text, A::Error> {
        #[derive(Deserialize)]
        struct Fields {
            raw: String,
            charset: Charset,
            colours: Colours,
        }
        let fields = Fields::deserialize(de::value::MapAccessDeserializer::new(map))?;
        let raw = from_hex(&fields.raw).ok_or_else(|| de::Error::custom("raw is not hexadecimal"))?;
        Ok(Text::new(raw, Style::new(fields.charset, fields.colours)))
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RulesVisitor)
    }
}

struct RulesVisitor;

impl<'de> Visitor<'de> for RulesVisitor {
    type Value = Rules;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of [key, value] pairs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Rules, A::Error> {
        let mut rules = Rules::default();
        while let Some((key, value)) = pairs.next_element::<(Text, Text)>()? {
            rules.push_texts(key.as_ref(), value.as_ref());
        }
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::super::completeness::{Completeness, Part, Verification};
    use super::*;

    /// A status in which every field is set.
    fn full() -> ServerStatus {
        let mut player = Player::new(Text::new(&b"^1\xe4"[..], Style::new(Charset::Latin1, Colours::Caret)));
        (player.score, player.ping, player.team) = (Some(-9999), Some(-1), Some(0));
        (player.bot, player.stale) = (Some(false), true);
        player.extra.push("skin", "");
        let mut team = Team { id: Some(0), name: Some("Red".into()), score: Some(3), ..Team::default() };
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
            players: Some(vec![player]),
            teams: vec![team],
            rules: [("sv_floodProtect", "1"), ("empty", ""), ("empty", "")].into_iter().collect(),
            completeness: Completeness::COMPLETE.without(Part::End).without_fragments(2),
            verification: Verification::Verified,
        }
    }

    #[test]
    fn a_full_status_is_read_back_from_its_json() {
        let status = full();
        let json = serde_json::to_value(Detailed(&status)).unwrap();
        assert!(json.as_object().unwrap().values().all(|value| !value.is_null()), "{json}");
        assert_eq!(serde_json::from_value::<ServerStatus>(json.clone()).unwrap(), status);
        assert_eq!((&json["time_limit"], &json["time_left"]), (&1200.into(), &1.5.into()));
        assert_eq!(json["completeness"]["incomplete"]["fragments"], 2);
        assert_eq!(json["rules"][1], serde_json::json!(["empty", ""]));

        let plain = serde_json::to_value(&status).unwrap();
        assert_eq!(plain["players"][0]["name"], "ä");
        assert_eq!(
            serde_json::from_value::<ServerStatus>(serde_json::json!({})).unwrap(),
            ServerStatus::default()
        );
    }

    #[test]
    fn invalid_json_is_an_error() {
        for json in
            [r#"{"time_left": -1}"#, r#"{"completeness": {"incomplete": {}}}"#, r#"{"rules": [["a"]]}"#]
        {
            assert!(serde_json::from_str::<ServerStatus>(json).is_err(), "{json}");
        }
        for (json, expected) in [
            (r#"{"name": 7}"#, "a string, or an object with raw, charset and colours"),
            (r#"{"rules": "a"}"#, "a list of [key, value] pairs"),
            (r#"{"name": {"raw": "0", "charset": "latin1", "colours": "none"}}"#, "raw is not hexadecimal"),
        ] {
            let error = serde_json::from_str::<ServerStatus>(json).unwrap_err().to_string();
            assert!(error.contains(expected), "{json}: {error}");
        }
    }

    /// What a caller writes on its own reads as in the status.
    #[test]
    fn parts_of_a_status_are_written_as_in_it() {
        let status = full();
        let whole = serde_json::to_value(&status).unwrap();
        let player = &status.listed_players()[0];
        assert_eq!(serde_json::to_value(player).unwrap(), whole["players"][0]);
        assert_eq!(serde_json::to_value(&status.teams[0]).unwrap(), whole["teams"][0]);
        assert_eq!(serde_json::to_value(&status.rules).unwrap(), whole["rules"]);
        assert_eq!(serde_json::to_value(&player.name).unwrap(), "ä");
        assert_eq!(serde_json::to_value(player.name.as_ref()).unwrap(), "ä");
    }
}
