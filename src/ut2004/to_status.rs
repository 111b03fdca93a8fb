//! Converts an answer into a [`ServerStatus`].

use std::ops::Range;

use bytes::Bytes;

use super::answer::Answer;
use super::engines::{Evidence, Profile};
use super::fields::{self, Rule, text};
use super::wire::info::{CURRENT_WAVE, FINAL_WAVE, FLAGS, Info, SKILL_LEVEL};
use super::wire::lists::{PLAYER_ID, PLAYER_NUM, PLAYERS, PlayerRecord, RULES, STATS_ID};
use super::wire::strings::FString;
use crate::model::{
    Charset, Colours, ExtrasBuilder, Player, Rules, RulesBuilder, ServerStatus, Team, ToStatus,
};
use crate::text::number;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes. Fields of
    /// the info record that the model lacks come after the rules, under the record's own names.
    fn to_status(&self) -> ServerStatus {
        let info = self.info();
        // Rules and players are read once and used three times.
        let mut pairs = Vec::with_capacity(self.entry_count(RULES));
        self.rules().for_each(|pair| pairs.push(pair));
        let mut records = Vec::with_capacity(self.entry_count(PLAYERS));
        self.players().for_each(|record| records.push(record));
        let keys = pairs.iter().map(|(key, _)| key.raw());
        let profile = Profile::find(evidence(self, info.as_ref()), keys);
        let players = if self.lists_players() {
            Some(player_list(&self.bytes, &records))
        } else {
            None
        };
        let mut status = ServerStatus {
            players: players.into(),
            teams: teams(&self.bytes, &records),
            rules: rules(&self.bytes, &pairs, info.as_ref()),
            completeness: self.completeness(),
            verification: self.verification(),
            ..ServerStatus::default()
        };
        // The fields of rules come first: flags fill only those that the rules lack.
        fields::read(&pairs, profile, &self.bytes, &mut status);
        if let Some(info) = &info {
            read_info(info, &self.bytes, &mut status);
            read_flags(info, profile, &mut status);
        }
        // Servers send the password's rule only if there is a password, and list all their
        // mutators.
        if profile.names_all && self.has_all_rules() {
            status.password.get_or_insert(false);
            status.mutators.get_or_insert_default();
        }
        status.in_charset(self.charset)
    }
}

/// The marks of the engine in the version and the info record.
fn evidence(answer: &Answer, info: Option<&Info<'_>>) -> Evidence {
    Evidence {
        version: answer.version(),
        info: info.map(Info::end),
    }
}

impl Answer {
    /// Whether all rules have arrived, as far as that is known. An empty list does not count.
    fn has_all_rules(&self) -> bool {
        self.entry_count(RULES) > 0 && !self.missing.rules && !self.missing.end
    }

    /// Whether the players are known. An empty server sends no datagram of players: then the rules
    /// show that it was asked.
    fn lists_players(&self) -> bool {
        let has_datagram_of = |kind| self.entries_of(kind).next().is_some();
        has_datagram_of(PLAYERS) || (has_datagram_of(RULES) && !self.missing.players)
    }
}

/// Fills the fields of the info record.
fn read_info(info: &Info<'_>, bytes: &Bytes, status: &mut ServerStatus) {
    let some_text = |string: FString<'_>| {
        if string.is_empty() {
            return None;
        }
        Some(text(bytes, string))
    };
    status.name = some_text(info.server_name);
    status.map = some_text(info.map_name);
    status.game_type = some_text(info.game_type);
    status.game_port = u16::try_from(info.port).ok().filter(|&port| port != 0);
    status.player_count = u32::try_from(info.current_players).ok();
    status.max_players = u32::try_from(info.max_players).ok();
}

/// Fills the fields that the rules lack from the flags of the info record. If no flag is set, the
/// record counts as one without flags.
fn read_flags(info: &Info<'_>, profile: &Profile, status: &mut ServerStatus) {
    let flags = info.flags.filter(|&flags| flags != 0);
    let (Some(flags), Some(bits)) = (flags, &profile.flags) else {
        return;
    };
    status.password.get_or_insert(flags & bits.password != 0);
    status.dedicated.get_or_insert(flags & bits.listen == 0);
    if let Some(bit) = bits.anti_cheat {
        status.anti_cheat.get_or_insert(flags & bit != 0);
    }
}

/// The rules, and after them the fields of the info record that the model has no name for.
fn rules(bytes: &Bytes, pairs: &[Rule<'_>], info: Option<&Info<'_>>) -> Rules {
    let style = FString::default().style();
    let capacity = pairs.len().saturating_add(4);
    let mut rules = RulesBuilder::new(bytes, style.charset, capacity);
    for (key, value) in pairs {
        rules.push_with(key.raw_text(), value.raw_text());
    }
    if let Some(info) = info {
        push_info(info, &mut rules);
    }
    rules.build(style.colours)
}

fn push_info(info: &Info<'_>, rules: &mut RulesBuilder) {
    if let Some(skill) = info.skill_level {
        rules.push_with(
            FString::narrow(SKILL_LEVEL.as_bytes()).raw_text(),
            skill.raw_text(),
        );
    }
    let current = info.waves.map(|waves| waves.current);
    let last = info.waves.map(|waves| waves.last);
    let flags = info.flags.filter(|&flags| flags != 0);
    for (key, number) in [(FLAGS, flags), (CURRENT_WAVE, current), (FINAL_WAVE, last)] {
        if let Some(number) = number {
            rules.push(key.as_bytes(), number.to_string().as_bytes());
        }
    }
    let (pairs, _) = info.lists.unwrap_or_default();
    for (key, value) in pairs.iter() {
        rules.push_with(key.raw_text(), value.raw_text());
    }
}

fn player_list(bytes: &Bytes, records: &[PlayerRecord<'_>]) -> Vec<Player> {
    // All players share the keys and the texts of their numbers.
    let mut texts = NumberTexts::with_room_for(records.len());
    let player_num_key = texts.put_key(PLAYER_NUM);
    let stats_id_key = texts.put_key(STATS_ID);
    let mut numbers = Vec::with_capacity(records.len());
    for record in records {
        numbers.push(texts.put_numbers_of(record));
    }
    let texts = Bytes::from(texts.buffer);
    let text_in = |range: &Range<usize>| texts.get(range.clone()).unwrap_or_default();
    let mut extras = ExtrasBuilder::new(&texts, Charset::Latin1, records.len());
    let mut players = Vec::with_capacity(records.len());
    for (record, numbers) in records.iter().zip(&numbers) {
        extras.push(text_in(&player_num_key), text_in(&numbers.player_num));
        if let Some(stats_id) = &numbers.stats_id {
            extras.push(text_in(&stats_id_key), text_in(stats_id));
        }
        push_pairs(record, &mut extras);
        players.push(Player {
            name: text(bytes, record.name),
            score: Some(i64::from(record.score)),
            ping: Some(record.ping),
            team: record.team().map(i32::from),
            extra: extras.take_part(),
            ..Player::default()
        });
    }
    let extra_fields = players.iter_mut().map(|player| &mut player.extra);
    extras.complete(extra_fields, Colours::None);
    players
}

/// The numbers of players that have no field in the model, as texts in one buffer.
struct NumberTexts {
    buffer: Vec<u8>,
}

/// The numbers of one player, by their ranges in the buffer.
struct PlayerNumbers {
    player_num: Range<usize>,
    /// `None` if it is only a team's bit, because the model has the team.
    stats_id: Option<Range<usize>>,
}

impl NumberTexts {
    fn with_room_for(players: usize) -> Self {
        // The two keys have 16 bytes, and the numbers on most servers 14 bytes or less.
        let capacity = players.saturating_mul(14).saturating_add(16);
        Self {
            buffer: Vec::with_capacity(capacity),
        }
    }

    fn put_key(&mut self, key: &str) -> Range<usize> {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(key.as_bytes());
        start..self.buffer.len()
    }

    fn put_number(&mut self, number: i64) -> Range<usize> {
        let start = self.buffer.len();
        number::put(number, &mut self.buffer);
        start..self.buffer.len()
    }

    fn put_numbers_of(&mut self, record: &PlayerRecord<'_>) -> PlayerNumbers {
        let player_num = self.put_number(record.player_num.into());
        let is_only_team =
            record.stats_id == PlayerRecord::with_team(0, record.team().map(i32::from));
        let stats_id = if is_only_team {
            None
        } else {
            Some(self.put_number(record.stats_id.into()))
        };
        PlayerNumbers {
            player_num,
            stats_id,
        }
    }
}

/// Adds the second number and the pairs of a player that has them.
fn push_pairs(record: &PlayerRecord<'_>, extras: &mut ExtrasBuilder) {
    let Some(xmp) = record.xmp else {
        return;
    };
    extras.push(PLAYER_ID.as_bytes(), xmp.player_id.to_string().as_bytes());
    for (key, value) in xmp.player_info.iter() {
        extras.push_with(key.raw_text(), value.raw_text());
    }
}

/// The teams named by a player's bits or by a team score, with names and scores if the list has
/// team scores.
fn teams(bytes: &Bytes, records: &[PlayerRecord<'_>]) -> Vec<Team> {
    let mut teams = [None, None];
    for record in records {
        let pseudo = record.pseudo_team();
        let Some(id) = record.team().or(pseudo) else {
            continue;
        };
        let Some(team) = teams.get_mut(usize::from(id)) else {
            continue;
        };
        let team = team.get_or_insert_with(|| Team {
            id: Some(i32::from(id)),
            ..Team::default()
        });
        if pseudo.is_some() {
            team.name = Some(text(bytes, record.name));
            team.score = Some(i64::from(record.score));
        }
    }
    teams.into_iter().flatten().collect()
}
