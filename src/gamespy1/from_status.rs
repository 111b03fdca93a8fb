//! From the model to what this protocol can say of it: sections of keys and values.

use std::borrow::Cow;

use super::family::{Family, Known};
use super::wire::packer::Section;
use super::wire::row_key::RowKey;
use crate::model::{Charset, Player, ServerStatus, Team, Text, TextRef};

/// Keys of the first two sections, in the order of the wire, with a blank between them. All other rules belong to
/// `\rules\`.
const BASIC: &str = "gamename gamever minnetver location";
const INFO: &str =
    "hostname hostport maptitle mapname gametype numplayers maxplayers gamemode worldlog wantworldlog";

/// The sections of a status.
pub(super) struct Sections<'a> {
    pub(super) status: &'a ServerStatus,
    family: Family,
    /// Whether the names of teams follow the players.
    team_names: bool,
}

impl<'a> Sections<'a> {
    /// `team_names`: the names of teams follow the players. In Battlefield 1942 they always do.
    pub(super) fn new(status: &'a ServerStatus, team_names: bool) -> Self {
        let mut known = Known::default();
        for (key, value) in &status.rules {
            if let Some(slot) = known.slot(key.raw()) {
                slot.get_or_insert(value.raw());
            }
        }
        known.gamename = status.game.as_ref().map(Text::raw);
        let family = Family::of(&known);
        Self { status, family, team_names: team_names || family == Family::Battlefield1942 }
    }

    pub(super) fn basic(&self) -> Section {
        self.section(BASIC)
    }

    pub(super) fn info(&self) -> Section {
        self.section(INFO)
    }

    fn section(&self, keys: &str) -> Section {
        let mut section = Section::default();
        for key in keys.split(' ') {
            if let Some(value) = self.value(key) {
                section.push(key.as_bytes(), &value);
            }
        }
        section
    }

    /// The value of a key of the first two sections, from a field of the status or from its rules.
    fn value(&self, key: &str) -> Option<Cow<'a, [u8]>> {
        let status = self.status;
        let text = |text: &'a Option<Text>| text.as_ref().map(|text| encoded(text.as_ref()));
        let number = |value: Option<u32>| value.map(|value| value.to_string().into_bytes().into());
        let listed = || status.players.as_ref().and_then(|players| u32::try_from(players.len()).ok());
        let field = match key {
            "gamename" => text(&status.game),
            "gamever" => text(&status.version),
            "hostname" => text(&status.name),
            "hostport" => number(status.game_port.map(u32::from)),
            "mapname" => text(&status.map),
            "gametype" => text(&status.game_type),
            "numplayers" => number(status.player_count.or_else(listed)),
            "maxplayers" => number(status.max_players),
            _ => None,
        };
        let rule = || status.rules.get(key).map(encoded);
        field.or_else(rule).or_else(|| (key == "gamemode").then(|| b"openplaying".into()))
    }

    pub(super) fn rules(&self) -> Section {
        let mut section = Section::default();
        let elsewhere: Vec<&str> = BASIC.split(' ').chain(INFO.split(' ')).collect();
        let mut password = self.status.password;
        for (key, value) in &self.status.rules {
            let is = |known: &&str| key.raw().eq_ignore_ascii_case(known.as_bytes());
            if is(&"password") {
                password = None;
            }
            if !elsewhere.iter().any(is) && !self.is_row(key.raw()) {
                section.push(&encoded(key), &encoded(value));
            }
        }
        if let Some(is_locked) = password {
            let spelling = match (self.family, is_locked) {
                (Family::Battlefield1942, true) => "1",
                (Family::Battlefield1942, false) => "0",
                (_, true) => "True",
                (_, false) => "False",
            };
            section.push(b"password", spelling.as_bytes());
        }
        section
    }

    /// Whether clients would read a rule as a row: the name of a player, a field of a listed one, or a team.
    fn is_row(&self, key: &[u8]) -> bool {
        let listed = self.status.listed_players().len();
        RowKey::name_index(key).is_some()
            || RowKey::parse(key).is_some_and(|row| {
                row.is_team || usize::try_from(row.index).is_ok_and(|index| index < listed)
            })
    }

    /// One section for each player, and one for the names of teams where they follow.
    pub(super) fn players(&self) -> Vec<Section> {
        let rows = (0_usize..).zip(self.status.listed_players());
        let mut sections: Vec<Section> = rows.map(|(index, player)| self.player(index, player)).collect();
        if self.team_names {
            let mut names = Section::default();
            for (id, team) in self.numbered_teams() {
                if let Some(name) = &team.name {
                    names.push(format!("teamname_{id}").as_bytes(), &encoded(name.as_ref()));
                }
            }
            sections.push(names);
        }
        sections
    }

    fn player(&self, index: usize, player: &Player) -> Section {
        let mut row = Section::default();
        let mut push = |name: &str, value: &[u8]| row.push(format!("{name}_{index}").as_bytes(), value);
        let is_battlefield = self.family == Family::Battlefield1942;
        push(if is_battlefield { "playername" } else { "player" }, &encoded(player.name.as_ref()));
        let numbers = [
            (if is_battlefield { "score" } else { "frags" }, player.score),
            ("ping", player.ping.map(i64::from)),
            ("team", player.team.map(|team| i64::from(team.saturating_add(self.family.team_offset())))),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                push(name, value.to_string().as_bytes());
            }
        }
        for (key, value) in &player.extra {
            push(&key.decoded(), &encoded(value));
        }
        if let (Some(is_bot), None) = (player.bot, player.extra.get("ngsecret")) {
            push("ngsecret", if is_bot { b"bot" } else { b"false" });
        }
        row
    }

    /// One section for each team, as `\teams\` is answered.
    pub(super) fn teams(&self) -> Vec<Section> {
        let team = |(id, team): (i32, &Team)| {
            let mut row = Section::default();
            let mut push = |name: &str, value: &[u8]| row.push(format!("{name}_{id}").as_bytes(), value);
            if let Some(name) = &team.name {
                push("team", &encoded(name.as_ref()));
            }
            if let Some(score) = team.score {
                push("score", score.to_string().as_bytes());
            }
            let members = self.status.listed_players().iter().filter(|player| player.team == Some(id));
            push("size", members.count().to_string().as_bytes());
            row
        };
        self.numbered_teams().map(team).collect()
    }

    /// The teams with their ids, or their positions where they have none.
    fn numbered_teams(&self) -> impl Iterator<Item = (i32, &'a Team)> {
        (0..).zip(&self.status.teams).map(|(position, team)| (team.id.unwrap_or(position), team))
    }
}

/// A text in Windows-1252, which the games' own clients read, where the set has its characters and the result is not
/// valid UTF-8 of other characters; else in UTF-8. Colour codes that hold control bytes are left out.
pub(super) fn encoded(text: TextRef<'_>) -> Cow<'_, [u8]> {
    let has_codes = text.raw().contains(&0x1B) || text.style().charset == Charset::Utf16Le;
    if text.raw().is_ascii() && !has_codes {
        return text.raw().into();
    }
    let decoded = if has_codes { text.plain() } else { text.decoded() };
    let narrow = Charset::Windows1252.encode(&decoded);
    if Charset::Utf8OrWindows1252.decode(&narrow) == decoded {
        narrow.into()
    } else {
        decoded.into_owned().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Colours, Style};

    #[test]
    fn texts_are_written_in_the_character_set_of_the_games_clients() {
        let with = |raw: &'static [u8], charset| {
            encoded(Text::new(raw, Style::new(charset, Colours::UnrealEscape)).as_ref()).into_owned()
        };
        let auto = Charset::Utf8OrWindows1252;
        assert_eq!(with("Blauß".as_bytes(), auto), b"Blau\xdf");
        assert_eq!(with(b"Blau\xdf", auto), b"Blau\xdf");
        assert_eq!(with("Жук".as_bytes(), auto), "Жук".as_bytes(), "not in the set");
        assert_eq!(with("Ã¶".as_bytes(), auto), "Ã¶".as_bytes(), "valid UTF-8 of an ö");
        assert_eq!(with(b"G\x00r\x00\xfc\x00", Charset::Utf16Le), b"Gr\xfc");
        assert_eq!(with(b"a\x1b\xff\x01\x01b", auto), b"ab");
    }
}
