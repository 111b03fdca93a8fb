//! Between the wire view and the model: which field means what.

use std::ops::Range;

use bytes::Bytes;

use super::answer::{Answer, Datagrams};
use super::info::Info;
use super::lists::PlayerRecord;
use super::strings::FString;
use crate::model::{
    Charset, Colours, Completeness, Missing, Player, Rules, RulesBuilder, ServerStatus, Style, Team, Text,
};
use crate::text::number;

/// The info record's fields that the model has no name for stand behind the rules, under the record's own names.
/// [`server`](super::server) takes them from there.
pub(super) const SKILL_LEVEL: &str = "SkillLevel";
pub(super) const FLAGS: &str = "Flags";
pub(super) const CURRENT_WAVE: &str = "CurrentWave";
pub(super) const FINAL_WAVE: &str = "FinalWave";
/// A player's fields that the model has no name for.
pub(super) const PLAYER_NUM: &str = "PlayerNum";
pub(super) const STATS_ID: &str = "StatsID";
/// Both behind each other, to be written once for all players.
const KEYS: &str = "PlayerNumStatsID";
/// Digits of a player's number and stats id on most servers.
const USUAL_NUMBER: usize = 12;
/// Rules that the model has a name for.
pub(super) const SERVER_VERSION: &str = "ServerVersion";
pub(super) const GAME_PASSWORD: &str = "GamePassword";

/// A modification's own spelling of [`GAME_PASSWORD`], in a capture.
const GAME_PASSWORD_SPACED: &str = "Game Password";
/// The flag for a password.
const PASSWORD_FLAG: i32 = 1;
/// For texts of the crate's own making.
const PLAIN: Style = Style::new(Charset::Latin1, Colours::None);

/// See [`Answer::to_status`].
pub(super) fn to_status(answer: &Answer) -> ServerStatus {
    let missing = match answer.completeness() {
        Completeness::Complete => Missing::NOTHING,
        Completeness::Incomplete(missing) => missing,
    };
    let rules = rules(answer);
    let (named, players) = (answer.player_datagrams(), answer.player_datagrams().bytes());
    // An empty server sends no players: then the rules show that it was asked.
    let listed = !named.is_empty() || (!missing.players && !answer.rule_datagrams().is_empty());
    let mut status = ServerStatus {
        version: rules.get(SERVER_VERSION).filter(|text| !text.raw().is_empty()).map(|text| text.to_text()),
        password: password(answer, &rules, missing),
        players: listed.then(|| player_list(answer, named)),
        teams: teams(answer, players),
        rules,
        completeness: answer.completeness(),
        ..ServerStatus::default()
    };
    if let (Some(info), Some(bytes)) = (answer.info(), answer.info_bytes()) {
        let some_text = |string: FString<'_>| (!string.is_empty()).then(|| text(bytes, string));
        status.name = some_text(info.server_name);
        status.map = some_text(info.map_name);
        status.game_type = some_text(info.game_type);
        status.game_port = u16::try_from(info.port).ok().filter(|&port| port != 0);
        status.player_count = u32::try_from(info.current_players).ok();
        status.max_players = u32::try_from(info.max_players).ok();
    }
    status
}

/// A string as text that shares the answer's bytes.
fn text(bytes: &Bytes, string: FString<'_>) -> Text {
    Text::part(bytes, string.shown(), string.style())
}

/// The rules, and behind them what is left of the info record.
fn rules(answer: &Answer) -> Rules {
    let wire = answer.rule_datagrams();
    let style = FString::default().style();
    let mut rules = RulesBuilder::new(wire.bytes(), style.charset, wire.entries().saturating_add(1));
    for (key, value) in answer.rules() {
        rules.push_with((key.shown(), key.charset()), (value.shown(), value.charset()));
    }
    if let Some(info) = answer.info() {
        push_info(&info, &mut rules);
    }
    rules.build(style.colours)
}

fn push_info(info: &Info<'_>, rules: &mut RulesBuilder) {
    let tail = &info.tail;
    if let Some(skill) = tail.skill_level {
        rules.push_with((SKILL_LEVEL.as_bytes(), Charset::Latin1), (skill.shown(), skill.charset()));
    }
    let (current, last) = tail.waves.unzip();
    let flags = tail.flags.filter(|&flags| flags != 0);
    for (key, number) in [(FLAGS, flags), (CURRENT_WAVE, current), (FINAL_WAVE, last)] {
        if let Some(number) = number {
            rules.push(key.as_bytes(), number.to_string().as_bytes());
        }
    }
    for (key, value) in tail.server_info.into_iter().flatten() {
        rules.push_with((key.shown(), key.charset()), (value.shown(), value.charset()));
    }
}

/// A password is a rule, and a rule only where there is one: complete rules without it say that there is none.
/// The flag means something only where any flag is set: UT2004's direct replies have none.
fn password(answer: &Answer, rules: &Rules, missing: Missing) -> Option<bool> {
    let rule = rules.get(GAME_PASSWORD).or_else(|| rules.get(GAME_PASSWORD_SPACED));
    let flags = answer.info().and_then(|info| info.tail.flags).filter(|&flags| flags != 0);
    let whole = !answer.rule_datagrams().is_empty() && !missing.rules && !missing.end;
    rule.and_then(|value| number::boolean(value.plain().as_bytes()))
        .or_else(|| flags.map(|flags| flags & PASSWORD_FLAG != 0))
        .or_else(|| whole.then_some(false))
}

fn player_list(answer: &Answer, wire: &Datagrams) -> Vec<Player> {
    let numbers = Numbers::new(answer, wire.entries());
    let mut extras = RulesBuilder::new(&numbers.text, PLAIN.charset, wire.entries());
    let mut players = Vec::with_capacity(wire.entries());
    for (record, ranges) in answer.players().zip(&numbers.ranges) {
        numbers.push(ranges, &mut extras);
        players.push(Player {
            name: text(wire.bytes(), record.name),
            score: Some(i64::from(record.score)),
            ping: Some(record.ping),
            team: record.team().map(i32::from),
            extra: extras.take_part(),
            ..Player::default()
        });
    }
    extras.complete(players.iter_mut().map(|player| &mut player.extra), PLAIN.colours);
    players
}

/// The numbers of all players that the model has no field for, as text in one buffer.
struct Numbers {
    text: Bytes,
    ranges: Vec<(Range<usize>, Range<usize>)>,
}

impl Numbers {
    fn new(answer: &Answer, players: usize) -> Self {
        let mut text = Vec::with_capacity(players.saturating_mul(USUAL_NUMBER).saturating_add(KEYS.len()));
        text.extend_from_slice(KEYS.as_bytes());
        let mut ranges = Vec::with_capacity(players);
        for record in answer.players() {
            let number = append(&mut text, record.player_num.into());
            // A stats id that is only a team's bit is told by the team.
            let told = record.stats_id == PlayerRecord::team_bits(record.team().map(i32::from));
            let stats = if told { 0..0 } else { append(&mut text, record.stats_id.into()) };
            ranges.push((number, stats));
        }
        Self { text: text.into(), ranges }
    }

    /// Adds a player's.
    fn push(&self, (number, stats): &(Range<usize>, Range<usize>), extras: &mut RulesBuilder) {
        let slice = |range: Range<usize>| self.text.get(range).unwrap_or_default();
        extras.push(slice(0..PLAYER_NUM.len()), slice(number.clone()));
        if !stats.is_empty() {
            extras.push(slice(PLAYER_NUM.len()..KEYS.len()), slice(stats.clone()));
        }
    }
}

/// Writes a number behind the text and says where it stands.
fn append(text: &mut Vec<u8>, value: i64) -> Range<usize> {
    let start = text.len();
    number::put(value, text);
    start..text.len()
}

/// The teams that a player's bits or a pseudo player's name speak of; names and scores where a pseudo player has
/// them.
fn teams(answer: &Answer, bytes: &Bytes) -> Vec<Team> {
    let mut teams = [None, None];
    for record in answer.players() {
        let pseudo = record.pseudo_team();
        let Some(id) = record.team().or(pseudo) else { continue };
        let Some(team) = teams.get_mut(usize::from(id)) else { continue };
        let team = team.get_or_insert_with(|| Team { id: Some(i32::from(id)), ..Team::default() });
        if pseudo.is_some() {
            team.name = Some(text(bytes, record.name));
            team.score = Some(i64::from(record.score));
        }
    }
    teams.into_iter().flatten().collect()
}

/// The player as a record; `place` is its place in the list. `name` is its name in wire form.
pub(super) fn to_record<'a>(player: &Player, place: usize, name: FString<'a>) -> PlayerRecord<'a> {
    let number = |key: &str| player.extra.get(key).and_then(|text| number::integer(text.raw()));
    let place = i32::try_from(place).unwrap_or(i32::MAX).saturating_add(1);
    let bits = PlayerRecord::team_bits(player.team);
    let stats = number(STATS_ID).and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
    let score = player.score.unwrap_or(0);
    PlayerRecord {
        player_num: number(PLAYER_NUM).and_then(|number| i32::try_from(number).ok()).unwrap_or(place),
        name,
        ping: player.ping.unwrap_or(0),
        score: i32::try_from(score).unwrap_or(if score < 0 { i32::MIN } else { i32::MAX }),
        stats_id: PlayerRecord { stats_id: stats, ..PlayerRecord::default() }.bare_stats_id() | bits,
    }
}
