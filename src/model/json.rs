//! The model as JSON (or anything else serde writes), feature `serde`.

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::rules::Rules;
use super::status::{Player, ServerStatus, Team};
use super::text::{Style, Text, TextRef};
use crate::text::charset::Charset;
use crate::text::colour::Colours;

/// The model with every text in full: a text is an object of its plain text, its bytes in hexadecimal, how they are read,
/// and its coloured spans. One that is UTF-8 without colour codes stays a string. Reading it back gives the exact bytes.
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

/// A part of the model, with its texts written in this way.
struct As<'a, T: ?Sized>(&'a T, Texts);

impl Serialize for As<'_, ServerStatus> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(status, texts) = *self;
        let mut out = serializer.serialize_struct("ServerStatus", 15)?;
        out.serialize_field("name", &status.name.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("map", &status.map.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("game", &status.game.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("game_type", &status.game_type.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("version", &status.version.as_ref().map(|text| As(text, texts)))?;
        out.serialize_field("game_port", &status.game_port)?;
        out.serialize_field("password", &status.password)?;
        out.serialize_field("player_count", &status.player_count)?;
        out.serialize_field("bot_count", &status.bot_count)?;
        out.serialize_field("max_players", &status.max_players)?;
        out.serialize_field("players", &status.players.as_deref().map(|players| As(players, texts)))?;
        out.serialize_field("teams", &As(&status.teams[..], texts))?;
        out.serialize_field("rules", &As(&status.rules, texts))?;
        out.serialize_field("completeness", &status.completeness)?;
        out.serialize_field("verification", &status.verification)?;
        out.end()
    }
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
            rules.push_texts(&key, &value);
        }
        Ok(rules)
    }
}
