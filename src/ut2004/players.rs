//! Players and teams in records.

use std::ops::Range;

use bytes::Bytes;

use super::wire::lists::{PLAYER_ID, PLAYER_NUM, PlayerRecord, STATS_ID};
use crate::model::{Charset, Colours, ExtrasBuilder, Player, Team};
use crate::text::number;

/// The players of these records. `counted`: the number of players without spectators. `bytes`: the
/// memory that texts share.
pub(super) fn read_players(
    bytes: &Bytes,
    records: &[PlayerRecord<'_>],
    counted: Option<u32>,
) -> Vec<Player> {
    let players_are_in_teams = are_in_teams(records, counted);
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
        let ping = Some(record.ping).filter(|ping| *ping >= 0);
        if ping.is_none() {
            extras.push(b"Ping", record.ping.to_string().as_bytes());
        }
        push_pairs(record, &mut extras);
        let team = record.team().map(i32::from);
        let is_known = team.is_some() || players_are_in_teams;
        players.push(Player {
            name: record.name.shared(bytes),
            score: Some(i64::from(record.score)),
            ping,
            team,
            spectator: is_known.then_some(team.is_none()),
            extra: extras.take_part(),
            ..Player::default()
        });
    }
    let extra_fields = players.iter_mut().map(|player| &mut player.extra);
    extras.complete(extra_fields, Colours::None);
    players
}

/// Whether everyone who plays is in a team: then the others watch. In a match of teams only
/// spectators have no team (`Deaod/UT2004`, `Engine/GameInfo.uc`, `GetServerPlayers`), but
/// modifications add rows.
fn are_in_teams(records: &[PlayerRecord<'_>], counted: Option<u32>) -> bool {
    let in_teams = records.iter().filter(|record| record.team().is_some());
    let in_teams = u32::try_from(in_teams.count()).ok();
    counted != Some(0) && counted == in_teams
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
pub(super) fn read_teams(bytes: &Bytes, records: &[PlayerRecord<'_>]) -> Vec<Team> {
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
            team.name = Some(record.name.shared(bytes));
            team.score = Some(i64::from(record.score));
        }
    }
    teams.into_iter().flatten().collect()
}
