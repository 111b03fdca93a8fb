//! Players and teams in records.

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
    let mut extras = ExtrasBuilder::new(&Bytes::new(), Charset::Latin1, records.len());
    let mut players = Vec::with_capacity(records.len());
    for record in records {
        push_number(PLAYER_NUM, record.player_num.into(), &mut extras);
        // A stats id that is only a team's bit is left out, because the model has the team.
        if record.stats_id != PlayerRecord::with_team(0, record.team().map(i32::from)) {
            push_number(STATS_ID, record.stats_id.into(), &mut extras);
        }
        let ping = Some(record.ping).filter(|ping| *ping >= 0);
        if ping.is_none() {
            push_number("Ping", record.ping.into(), &mut extras);
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

/// Adds a number of 32 bits as a text.
fn push_number(key: &str, number: i64, extras: &mut ExtrasBuilder) {
    let mut text = [0; 11];
    let mut unused = text.as_mut_slice();
    number::put(number, &mut unused);
    let length = 11_usize.saturating_sub(unused.len());
    extras.push(key.as_bytes(), text.get(..length).unwrap_or_default());
}

/// Adds the second number and the pairs of a player that has them.
fn push_pairs(record: &PlayerRecord<'_>, extras: &mut ExtrasBuilder) {
    let Some(xmp) = record.xmp else {
        return;
    };
    push_number(PLAYER_ID, xmp.player_id.into(), extras);
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
