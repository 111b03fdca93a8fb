//! From the model to what this protocol can say of it: sections of keys and values.

use std::borrow::Cow;

use super::family::{Family, Known};
use super::wire::{RowKey, put_pair, put_row, token_of};
use crate::model::{Charset, Player, Rules, ServerStatus, Team, Text, TextRef, listed_bots};
use crate::reply::Template;
use crate::text::number;

/// Keys of the first two sections, in the order of the wire, with a blank between them. All other rules belong to
/// `\rules\`.
pub(super) const BASIC: &str = "gamename gamever minnetver location";
pub(super) const INFO: &str = "hostname hostport maptitle mapname gametype numplayers maxplayers gamemode worldlog wantworldlog";

/// The sections of a status.
pub(super) struct Sections<'a> {
    status: &'a ServerStatus,
    family: Family,
    /// Whether the names of teams follow the players.
    team_names: bool,
}

impl<'a> Sections<'a> {
    /// `is_qr1`: the server imitates GameSpy's own code, else the Unreal engine, whose keys it has then unless the game
    /// has others.
    pub(super) fn new(status: &'a ServerStatus, is_qr1: bool) -> Self {
        let mut known = Known::default();
        for (key, value) in &status.rules {
            if let Some(slot) = known.slot(key.raw()) {
                slot.get_or_insert(value.raw());
            }
        }
        known.gamename = status.game.as_ref().map(Text::raw);
        let family = match Family::of(&known, false) {
            Family::Other if !is_qr1 => Family::Unreal,
            family => family,
        };
        let has_sides = matches!(family, Family::Swat4 | Family::TribesVengeance);
        let team_names = family == Family::Battlefield1942 || (is_qr1 && !has_sides);
        Self {
            status,
            family,
            team_names,
        }
    }

    /// A text of these keys.
    pub(super) fn section(&self, keys: &str, out: &mut Template) {
        out.begin();
        for key in keys.split(' ') {
            if let Some(value) = self.value(key) {
                put_pair(key.as_bytes(), &value, &mut out.bytes);
            }
        }
    }

    /// The value of a key of the first two sections, from a field of the status or from its rules.
    fn value(&self, key: &str) -> Option<Cow<'a, [u8]>> {
        let status = self.status;
        let text = |text: &'a Option<Text>| text.as_ref().map(|text| encoded(text.as_ref()));
        let number = |value: Option<u32>| shown(value).map(Cow::Owned);
        let field = match key {
            "gamename" => text(&status.game),
            "gamever" => text(&status.version),
            "hostname" => text(&status.name),
            "hostport" => number(status.game_port.map(u32::from)),
            "mapname" => text(&status.map),
            "gametype" => text(&status.game_type),
            "minnetver" => number(
                status
                    .protocol_version
                    .filter(|_| self.family == Family::Unreal),
            ),
            "numplayers" => number(status.online().map(|all| match self.family {
                Family::MedalOfHonor => all.saturating_sub(status.bot_count.unwrap_or(0)),
                _ => all,
            })),
            "maxplayers" => number(status.max_players),
            _ => None,
        };
        let rule = || status.rules.get(key).map(encoded);
        field
            .or_else(rule)
            .or_else(|| (key == "gamemode").then(|| b"openplaying".into()))
    }

    /// A text for each rule, without those that a field of the status contradicts, and for the fields that no rule has.
    pub(super) fn rules(&self, out: &mut Template) {
        let elsewhere: Vec<&str> = BASIC.split(' ').chain(INFO.split(' ')).collect();
        let mut fields: Vec<_> = self
            .fields()
            .into_iter()
            .map(|(key, value)| (key, value, false))
            .collect();
        for (key, value) in &self.status.rules {
            // As clients read it, without what cannot be sent.
            let key = encoded(key);
            let key = token_of(&key);
            let is = |known: &str| key.eq_ignore_ascii_case(known.as_bytes());
            if elsewhere.iter().any(|known| is(known)) || self.is_row(&key) {
                continue;
            }
            let mut value = encoded(value);
            if let Some((_, field, is_said)) = fields.iter_mut().find(|(known, ..)| is(known)) {
                *is_said = true;
                if !means(&value, field) {
                    value = field.clone().into();
                }
            }
            put_text(&key, &value, out);
        }
        for (key, value, _) in fields.iter().filter(|(.., is_said)| !is_said) {
            put_text(key.as_bytes(), value, out);
        }
    }

    /// The fields that this family has keys for. Where it has several for one field, the key that is among the rules.
    fn fields(&self) -> Vec<(&'static str, Vec<u8>)> {
        let (status, family) = (self.status, self.family);
        let has = |key: &str| status.rules.get(key).is_some();
        let mut fields = Vec::new();
        let mut say = |usual: &'static str, others: &'static str, value: Option<Vec<u8>>| {
            let mut known = [usual]
                .into_iter()
                .chain(others.split(' '))
                .filter(|key| !key.is_empty());
            let key = known
                .find(|key| has(key))
                .or(Some(usual))
                .filter(|key| !key.is_empty());
            fields.extend(key.zip(value));
        };
        let [no, yes] = match family {
            Family::Unreal | Family::Swat4 | Family::Other => ["False", "True"],
            _ => ["0", "1"],
        };
        let truth = |value: bool| (if value { yes } else { no }).into();
        let bytes = |name: &Text| encoded(name.as_ref()).into_owned();
        // Where no key is usual, one that is among the rules counts. Sides are two keys.
        let [time_left, mutators, mod_name, names, scores] = match family {
            Family::Unreal => ["remainingtime", "mutators", "", "", ""],
            Family::Battlefield1942 => [
                "roundTimeRemain",
                "active_mods",
                "gameId",
                "",
                "tickets1 tickets2",
            ],
            Family::Swat4 => ["timeleft", "", "", "", "swatscore suspectsscore"],
            Family::SeriousSam => ["", "", "activemod", "", ""],
            Family::TribesVengeance => ["", "", "", "teamone teamtwo", "teamonescore teamtwoscore"],
            Family::MedalOfHonor | Family::Other => [""; 5],
        };
        let is_battlefield = family == Family::Battlefield1942;
        let battlefield = |key| if is_battlefield { key } else { "" };

        say(
            "password",
            "needpass gamepassword",
            status.password.map(truth),
        );
        if has("listenserver") || (family == Family::Unreal && !has("dedicated") && !has("ded")) {
            say(
                "listenserver",
                "",
                status.dedicated.map(|dedicated| truth(!dedicated)),
            );
        } else {
            say("dedicated", "ded", status.dedicated.map(truth));
        }
        say(
            battlefield("sv_punkbuster"),
            "sv_punkbuster",
            status.anti_cheat.map(truth),
        );
        say(
            battlefield("reservedslots"),
            "reservedslots",
            shown(status.private_slots),
        );
        let limit = status.time_limit.map(|limit| limit.as_secs());
        if is_battlefield {
            say("roundTime", "", shown(limit));
        } else if family.counts_minutes(status.game.as_ref().map_or(&[], Text::raw)) {
            let whole = limit.filter(|limit| limit.is_multiple_of(60));
            say("timelimit", "", shown(whole.map(|limit| limit / 60)));
        }
        say(
            time_left,
            "",
            shown(status.time_left.map(|time| time.as_secs())),
        );
        let usual = if is_battlefield || family == Family::Swat4 {
            ""
        } else {
            "fraglimit"
        };
        let mut limits = ["goalteamscore", "goalscore", "scorelimit", "fraglimit"].into_iter();
        say(
            limits.find(|key| has(key)).unwrap_or(usual),
            "",
            shown(status.score_limit),
        );
        let list = status.mutators.as_ref().filter(|_| !has("mutator"));
        let list = list.map(|list| list.iter().map(bytes).collect::<Vec<_>>().join(&b", "[..]));
        say(mutators, "mutators", list);
        say(
            mod_name,
            "activemod modname mod mods",
            status.mod_name.as_ref().map(bytes),
        );
        if family == Family::MedalOfHonor {
            let everyone = |bots| {
                if bots > 0 {
                    status.player_count.unwrap_or(bots)
                } else {
                    0
                }
            };
            say("minplayers", "", shown(status.bot_count.map(everyone)));
        } else {
            let are_marked = listed_bots(status.listed_players()).is_some();
            let usual = if family == Family::Unreal && !are_marked {
                "numbots"
            } else {
                ""
            };
            say(usual, "numbots", shown(status.bot_count));
        }
        for (id, team) in self.numbered_teams() {
            let side = usize::try_from(self.row_of(id)).unwrap_or(usize::MAX);
            let key = |keys: &'static str| keys.split(' ').nth(side).unwrap_or_default();
            say(key(names), "", team.name.as_ref().map(bytes));
            say(key(scores), "", shown(team.score));
        }
        fields
    }

    /// Whether clients would read a rule as a row: the name of a player, a field of a listed one, or a team.
    fn is_row(&self, key: &[u8]) -> bool {
        let listed = self.status.listed_players().len();
        RowKey::name_index(key).is_some()
            || RowKey::parse(key).is_some_and(|row| row.is_team || (row.index as usize) < listed)
    }

    /// A text for each player, and one for the names of teams where they follow.
    pub(super) fn players(&self, out: &mut Template) {
        for (index, player) in (0..).zip(self.status.listed_players()) {
            out.begin();
            self.player(index, player, &mut out.bytes);
        }
        if self.team_names {
            out.begin();
            let out = &mut out.bytes;
            for (id, team) in self.numbered_teams() {
                if let Some(name) = &team.name {
                    put_row("teamname", self.row_of(id), &encoded(name.as_ref()), out);
                }
                if let (Some(score), false) = (team.score, self.family == Family::Battlefield1942) {
                    put_pair(
                        format!("score_t{id}").as_bytes(),
                        score.to_string().as_bytes(),
                        out,
                    );
                }
            }
        }
    }

    fn player(&self, index: i32, player: &Player, out: &mut Vec<u8>) {
        let is_battlefield = self.family == Family::Battlefield1942;
        let (name, score) = if is_battlefield {
            ("playername", "score")
        } else {
            ("player", "frags")
        };
        put_row(name, index, &encoded(player.name.as_ref()), out);
        let side = |id| {
            self.numbered_teams()
                .find(|(known, _)| *known == id)?
                .1
                .name
                .as_ref()
        };
        let side = player
            .team
            .filter(|_| self.family == Family::TribesVengeance)
            .and_then(side);
        if let Some(name) = side {
            put_row("team", index, &encoded(name.as_ref()), out);
        }
        let team = player.team.filter(|_| side.is_none()).map(i64::from);
        for (name, value) in [
            (score, player.score),
            ("ping", player.ping.map(i64::from)),
            ("team", team),
        ] {
            if let Some(value) = value {
                put_row(name, index, value.to_string().as_bytes(), out);
            }
        }
        for (key, value) in &player.extra {
            put_row(key.decoded().as_bytes(), index, &encoded(value), out);
        }
        if let (Some(is_bot), None) = (player.bot, player.extra.get("ngsecret")) {
            put_row(
                "ngsecret",
                index,
                if is_bot { b"bot" } else { b"false" },
                out,
            );
        }
    }

    /// A text for each team, as `\teams\` is answered.
    pub(super) fn teams(&self, out: &mut Template) {
        for (id, team) in self.numbered_teams() {
            out.begin();
            let (row, out) = (self.row_of(id), &mut out.bytes);
            if let Some(name) = &team.name {
                put_row("team", row, &encoded(name.as_ref()), out);
            }
            if let Some(score) = team.score {
                put_row("score", row, score.to_string().as_bytes(), out);
            }
            let members = self
                .status
                .listed_players()
                .iter()
                .filter(|player| player.team == Some(id));
            put_row("size", row, members.count().to_string().as_bytes(), out);
        }
    }

    /// The teams with their ids, or by their positions where they have none. One whose row would be negative has no form on the
    /// wire.
    fn numbered_teams(&self) -> impl Iterator<Item = (i32, &'a Team)> {
        let first = self.family.team_offset();
        let numbered = (first..).zip(&self.status.teams);
        numbered
            .map(|(number, team)| (team.id.unwrap_or(number), team))
            .filter(move |(id, _)| *id >= first)
    }

    /// The number of a team's row.
    fn row_of(&self, id: i32) -> i32 {
        id.saturating_sub(self.family.team_offset())
    }
}

/// A number in decimal digits.
fn shown(number: Option<impl ToString>) -> Option<Vec<u8>> {
    number.map(|number| number.to_string().into_bytes())
}

/// A text for each player with one of the further fields. Rows begin at 1 here, and only here.
pub(super) fn player_property(status: &ServerStatus, name: &[u8], out: &mut Template) {
    let field = token_of(name);
    for (index, player) in (1..).zip(status.listed_players()) {
        out.begin();
        put_row(
            &field,
            index,
            &property(Some(&player.extra), name),
            &mut out.bytes,
        );
    }
}

/// A text of one pair.
pub(super) fn put_text(key: &[u8], value: &[u8], out: &mut Template) {
    out.begin();
    put_pair(key, value, &mut out.bytes);
}

/// The value of a property. One that does not exist is empty, as on real servers.
pub(super) fn property<'a>(properties: Option<&'a Rules>, name: &[u8]) -> Cow<'a, [u8]> {
    let value = std::str::from_utf8(name)
        .ok()
        .zip(properties)
        .and_then(|(name, known)| known.get(name));
    value.map(encoded).unwrap_or_default()
}

/// Whether two spellings are the same text, number or truth value.
fn means(one: &[u8], other: &[u8]) -> bool {
    let same_truth = || {
        number::boolean(one)
            .zip(number::boolean(other))
            .is_some_and(|(one, other)| one == other)
    };
    match (number::integer(one), number::integer(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other || same_truth(),
    }
}

/// A text in Windows-1252, which the games' own clients read, where the set has its characters and the result is not
/// valid UTF-8 of other characters; else in UTF-8. Colour codes that hold control bytes are left out.
pub(super) fn encoded(text: TextRef<'_>) -> Cow<'_, [u8]> {
    let has_codes = text.raw().contains(&0x1B) || text.style().charset == Charset::Utf16Le;
    if text.raw().is_ascii() && !has_codes {
        return text.raw().into();
    }
    let decoded = if has_codes {
        text.plain()
    } else {
        text.decoded()
    };
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
            encoded(Text::new(raw, Style::new(charset, Colours::UnrealEscape)).as_ref())
                .into_owned()
        };
        let auto = Charset::Utf8OrWindows1252;
        assert_eq!(with("Blauß".as_bytes(), auto), b"Blau\xdf");
        assert_eq!(with(b"Blau\xdf", auto), b"Blau\xdf");
        assert_eq!(
            with("Жук".as_bytes(), auto),
            "Жук".as_bytes(),
            "not in the set"
        );
        assert_eq!(
            with("Ã¶".as_bytes(), auto),
            "Ã¶".as_bytes(),
            "valid UTF-8 of an ö"
        );
        assert_eq!(with(b"G\x00r\x00\xfc\x00", Charset::Utf16Le), b"Gr\xfc");
        assert_eq!(with(b"a\x1b\xff\x01\x01b", auto), b"ab");
    }
}
