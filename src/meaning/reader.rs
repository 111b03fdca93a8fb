//! Fills a status from the values of known keys, by the row of the engine.

use std::time::Duration;

use bytes::Bytes;

use super::key::Known;
use super::row::{Entry, Field, Form, Row};
use crate::model::{ServerStatus, Style, Text};
use crate::text::number;

/// The values of a reply, and the row that says what they mean.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) row: &'static Row,
    pub(crate) known: &'a Known<'a>,
    /// The bytes that long texts share.
    pub(crate) bytes: &'a Bytes,
    /// The row's style, or another character set if one is known.
    pub(crate) style: Style,
    /// The keys of the row that the reply has, with the values that count.
    values: Vec<(&'static Entry, &'a [u8])>,
}

/// Keys of a row that a usual reply has, rounded up.
const USUAL_VALUES: usize = 32;

impl<'a> Reader<'a> {
    /// A reader of these values, in the row's style.
    pub(crate) fn new(row: &'static Row, known: &'a Known<'a>, bytes: &'a Bytes) -> Self {
        let counted =
            |(entry, value): (&'static Entry, _)| Some((entry, entry.form.value(value, known)?));
        let mut values = Vec::with_capacity(USUAL_VALUES);
        let found = row.values(known).filter_map(counted);
        found.for_each(|value| values.push(value));
        Self {
            row,
            known,
            bytes,
            style: row.style,
            values,
        }
    }

    /// Fills the fields that one key alone decides. Of several keys of a field, the first value
    /// that can be read counts.
    pub(crate) fn fill(&self, status: &mut ServerStatus) {
        for &(entry, value) in &self.values {
            match entry.field {
                Field::Name => self.fill_text(&mut status.name, value),
                Field::Map => self.fill_trimmed(&mut status.map, value),
                Field::Game => self.fill_trimmed(&mut status.game, value),
                Field::ModName if !self.row.is_base(value.trim_ascii()) => {
                    self.fill_trimmed(&mut status.mod_name, value);
                }
                Field::GameType => self.fill_text(&mut status.game_type, value),
                Field::Version => self.fill_trimmed(&mut status.version, value),
                Field::ProtocolVersion => {
                    fill(&mut status.protocol_version, || number::leading(value));
                }
                Field::GamePort => fill(&mut status.game_port, || number::number(value)),
                Field::Password => fill(&mut status.password, || entry.form.boolean(value)),
                Field::Dedicated => fill(&mut status.dedicated, || entry.form.boolean(value)),
                Field::AntiCheat => {
                    // `None` is less than a no, and a no less than a yes.
                    status.anti_cheat = status.anti_cheat.max(entry.form.boolean(value));
                }
                Field::MaxPlayers => fill(&mut status.max_players, || number::number(value)),
                Field::PrivateSlots => fill(&mut status.private_slots, || number::number(value)),
                Field::TimeLimit => fill(&mut status.time_limit, || entry.form.time_limit(value)),
                Field::TimeLeft => fill(&mut status.time_left, || seconds(value)),
                Field::ScoreLimit => fill(&mut status.score_limit, || number::integer(value)),
                Field::ModName | Field::Ignored | Field::Own(_) => {}
                Field::SideName(_) | Field::SideScore(_) => {}
                Field::Players | Field::PlayersWithoutBots | Field::Humans | Field::BotCount => {}
            }
        }
        // Without a limit, the time that is left has no meaning.
        if status.time_limit == Some(Duration::ZERO) {
            status.time_left = None;
        }
    }

    /// Everyone on the server, bots included, as the server counts them.
    pub(crate) fn player_count(&self) -> Option<u32> {
        if let Some(everyone) = self.number(Field::Players) {
            return Some(everyone);
        }
        let people: u32 = self.number(Field::PlayersWithoutBots)?;
        let bots: u32 = self.number(Field::BotCount).unwrap_or_default();
        people.checked_add(bots)
    }

    /// The number of bots, as the server counts them or the people.
    pub(crate) fn bot_count(&self, player_count: Option<u32>) -> Option<u32> {
        if let Some(bots) = self.number(Field::BotCount) {
            return Some(bots);
        }
        let humans = self.number(Field::Humans)?;
        player_count?.checked_sub(humans)
    }

    /// The values of a field that count.
    fn values_of(&self, field: Field) -> impl Iterator<Item = &'a [u8]> {
        let of_field = self
            .values
            .iter()
            .filter(move |(entry, _)| entry.field == field);
        of_field.map(|(_, value)| *value)
    }

    /// The first value of a field that counts: one with a text, unless the form says otherwise.
    pub(crate) fn value(&self, field: Field) -> Option<&'a [u8]> {
        self.values_of(field).next()
    }

    /// The first value of a field that is a number.
    pub(crate) fn number<T: TryFrom<i64>>(&self, field: Field) -> Option<T> {
        self.values_of(field).find_map(number::number)
    }

    /// A text of the reply.
    pub(crate) fn text(&self, raw: &[u8]) -> Text {
        Text::part(self.bytes, raw, self.style)
    }

    /// Fills a text that servers pad with blanks.
    fn fill_trimmed(&self, field: &mut Option<Text>, value: &[u8]) {
        let value = value.trim_ascii();
        if !value.is_empty() {
            self.fill_text(field, value);
        }
    }

    fn fill_text(&self, field: &mut Option<Text>, value: &[u8]) {
        field.get_or_insert_with(|| self.text(value));
    }
}

/// Sets a field that has no value yet.
fn fill<T>(field: &mut Option<T>, read: impl FnOnce() -> Option<T>) {
    if field.is_none() {
        *field = read();
    }
}

fn seconds(value: &[u8]) -> Option<Duration> {
    let seconds: u32 = number::number(value)?;
    Some(Duration::from_secs(seconds.into()))
}

impl Form {
    /// The value as it counts: `None` if it does not.
    fn value<'v>(self, value: &'v [u8], known: &Known<'v>) -> Option<&'v [u8]> {
        if value.is_empty() && !matches!(self, Self::OrEmpty) {
            return None;
        }
        match self {
            Self::ZeroIs(word) if is_word(value, word) => Some(b"0"),
            Self::YesIs(key) => match number::boolean(value)? {
                true => known.get(key).filter(|other| !other.is_empty()),
                false => Some(b"0"),
            },
            Self::Part(part) => Some(part(value)).filter(|part| !part.is_empty()),
            Self::Unless(key, words) => {
                let other = known.get(key).unwrap_or_default();
                let is_met = words.iter().any(|word| is_word(other, word));
                (!is_met).then_some(value)
            }
            _ => Some(value),
        }
    }

    fn boolean(self, value: &[u8]) -> Option<bool> {
        match self {
            Self::Not => number::boolean(value).map(|yes| !yes),
            Self::Words(yes, _) if is_word(value, yes) => Some(true),
            Self::Words(_, no) if is_word(value, no) => Some(false),
            Self::Words(..) => None,
            Self::Present => Some(true),
            Self::TextIsYes => number::boolean(value).or(Some(true)),
            Self::LowestBit => number::number::<u32>(value).map(|bits| bits & 1 == 1),
            _ => number::boolean(value),
        }
    }

    fn time_limit(self, value: &[u8]) -> Option<Duration> {
        match self {
            Self::Seconds => seconds(value),
            Self::OnlyZero => number::minutes(value).filter(Duration::is_zero),
            _ => number::minutes(value),
        }
    }
}

fn is_word(value: &[u8], word: &str) -> bool {
    value.eq_ignore_ascii_case(word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::{entries, key};
    use crate::model::{Charset, Colours};

    static ROW: Row = Row {
        name: "",
        signatures: &[],
        style: Style::new(Charset::Latin1, Colours::None),
        own: entries(&[
            key("numplayers", Field::Players),
            key("clients", Field::PlayersWithoutBots),
            key("bots", Field::BotCount),
            key("humans", Field::Humans),
            key("hostname", Field::Name),
            key("mapname", Field::Map),
            key("gamename", Field::Game),
            key("modname", Field::ModName),
            key("gametype", Field::GameType),
            key("version", Field::Version),
        ]),
        usual: entries(&[]),
        base: &[],
    };

    /// The pairs of a text such as `key value, key value`.
    fn known(pairs: &'static str) -> Known<'static> {
        let pairs = pairs.split(", ").filter_map(|pair| pair.split_once(' '));
        pairs
            .map(|(key, value)| (key.as_bytes(), value.as_bytes()))
            .collect()
    }

    #[test]
    fn bots_are_counted_by_the_server_or_are_all_but_the_people() {
        for (pairs, players, bots) in [
            ("numplayers 5, bots 2", Some(5), Some(2)),
            ("numplayers 5, humans 5", Some(5), Some(0)),
            ("numplayers 5, humans 6", Some(5), None),
            ("clients 3, bots 2", Some(5), Some(2)),
            ("clients 3", Some(3), None),
            ("clients 4294967295, bots 1", None, Some(1)),
            ("humans 2", None, None),
        ] {
            let (known, bytes) = (known(pairs), Bytes::new());
            let reader = Reader::new(&ROW, &known, &bytes);
            let counted = reader.player_count();
            assert_eq!(
                (counted, reader.bot_count(counted)),
                (players, bots),
                "{pairs}"
            );
        }
    }

    #[test]
    fn each_form_of_a_yes_or_no_has_its_values() {
        let values = ["1", "yes", "0", "no", "2", "Enabled", "disabled", "secret"];
        for (form, yes, no) in [
            (Form::Usual, "1 yes 2", "0 no"),
            (Form::Not, "0 no", "1 yes 2"),
            (Form::Words("enabled", "disabled"), "Enabled", "disabled"),
            (Form::Present, "1 yes 0 no 2 Enabled disabled secret", ""),
            (Form::TextIsYes, "1 yes 2 Enabled disabled secret", "0 no"),
            (Form::LowestBit, "1", "0 2"),
        ] {
            let read_as = |expected| {
                let read = values.map(|value| (value, form.boolean(value.as_bytes())));
                let read = read.into_iter().filter(|(_, read)| *read == Some(expected));
                read.map(|(value, _)| value).collect::<Vec<_>>().join(" ")
            };
            assert_eq!(
                (read_as(true).as_str(), read_as(false).as_str()),
                (yes, no),
                "{form:?}"
            );
        }
    }

    #[test]
    fn names_that_programs_compare_have_no_spaces_at_their_ends() {
        let pairs =
            "hostname  x , mapname  x , gamename  x , modname  x , gametype  x , version  x ";
        let (known, bytes) = (known(pairs), Bytes::new());
        let mut status = ServerStatus::default();
        Reader::new(&ROW, &known, &bytes).fill(&mut status);
        let raw = |text: Option<Text>| text.unwrap().raw().to_vec();
        for trimmed in [status.map, status.game, status.mod_name, status.version] {
            assert_eq!(raw(trimmed), b"x");
        }
        for whole in [status.name, status.game_type] {
            assert_eq!(raw(whole), b" x ");
        }
    }
}
