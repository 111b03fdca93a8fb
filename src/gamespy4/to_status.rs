//! Converts an answer to a status, by the fields in the engine's row.

use bytes::Bytes;

use super::answer::{Answer, Row, Table};
use super::engines::{Engine, PlayerField};
use super::mutators;
use super::wire::form::Form;
use super::wire::sections::JustCause2Player;
use crate::meaning::{Field, Key, Known, Reader};
use crate::model::{
    ExtrasBuilder, Player, RulesBuilder, ServerStatus, Style, Team, Text, ToStatus, listed_bots,
};
use crate::text::number;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        self.status_by(Engine::of)
    }
}

impl Answer {
    /// The status, read by the row of this engine.
    pub(super) fn status_by(
        &self,
        engine_of: impl FnOnce(Form, &Known<'_>) -> &'static Engine,
    ) -> ServerStatus {
        let basic = self.minecraft_basic();
        let port = basic.and_then(|basic| basic.port);
        let port_text = port.map(|port| port.to_string());
        let pairs = match &basic {
            Some(basic) => basic.pairs(port_text.as_deref()),
            None => self.rules().collect(),
        };
        let mut known = Known::default();
        for (key, value) in &pairs {
            known.insert(key, value);
        }
        let engine = engine_of(self.form(), &known);
        let reader = Reader::new(&engine.row, &known, self.raw());
        let mut rules = RulesBuilder::new(self.raw(), reader.style.charset, pairs.len());
        for (key, value) in &pairs {
            rules.push(key, value);
        }
        let rows = Rows::read(self, engine, &reader);
        let player_count = reader.player_count();
        let mut status = ServerStatus {
            bot_count: listed_bot_count(self, &reader, rows.players.as_deref())
                .or_else(|| reader.bot_count(player_count)),
            player_count,
            players: rows.players.into(),
            teams: rows.teams,
            rules: rules.build(reader.style.colours),
            completeness: self.completeness(),
            verification: self.verification(),
            ..ServerStatus::default()
        };
        reader.fill(&mut status);
        if let Some(name) = name_before_forged_key(&reader) {
            status.name = (!name.is_empty()).then(|| reader.text(name));
        }
        status.mutators = mutators::read(&reader);
        status.in_charset(self.charset).without_contradictions()
    }
}

/// The name, if its title contains a NUL with a key after it: the rest was meant to forge that key.
fn name_before_forged_key<'a>(reader: &Reader<'a>) -> Option<&'a [u8]> {
    let title = reader.value(Field::Name)?;
    let is_before_key = |end: &usize| {
        let after = title.get(end.saturating_add(1)..).unwrap_or_default();
        begins_with_key(after, reader)
    };
    let end = memchr::memchr_iter(0, title).find(is_before_key)?;
    title.get(..end)
}

fn begins_with_key(text: &[u8], reader: &Reader<'_>) -> bool {
    let word = text.split(|&byte| byte == 0).next();
    let key = word.and_then(Key::find);
    key.is_some_and(|key| reader.row.entry(key).is_some())
}

/// The players and teams of a reply. Their columns without a field are in `extra`.
struct Rows {
    players: Option<Vec<Player>>,
    teams: Vec<Team>,
}

impl Rows {
    fn read(answer: &Answer, engine: &'static Engine, reader: &Reader<'_>) -> Self {
        if let Some(players) = answer.just_cause_2() {
            return Self {
                players: Some(just_cause_2(players, answer.raw())),
                teams: Vec::new(),
            };
        }
        let style = reader.style;
        let mut extras = ExtrasBuilder::new(answer.raw(), style.charset, 0);
        let mut players = listed_players(answer, engine, reader, &mut extras);
        let mut teams = teams(answer, engine, reader, &mut extras);
        let of_players = players.iter_mut().flatten().map(|player| &mut player.extra);
        let of_teams = teams.iter_mut().map(|team| &mut team.extra);
        extras.complete(of_players.chain(of_teams), style.colours);
        Self { players, teams }
    }
}

/// The number of bots in a complete list.
fn listed_bot_count(
    answer: &Answer,
    reader: &Reader<'_>,
    players: Option<&[Player]>,
) -> Option<u32> {
    let listed = listed_bots(players?)?;
    lists_everyone(answer, reader).then_some(listed)
}

/// Whether the list of players is complete, and no shorter than the server's own count, if any.
fn lists_everyone(answer: &Answer, reader: &Reader<'_>) -> bool {
    let counted: Option<usize> = reader
        .number(Field::Players)
        .or_else(|| reader.number(Field::PlayersWithoutBots));
    let is_short = counted.is_some_and(|counted| counted > answer.players().len());
    answer.completeness().is_complete() && !is_short
}

/// The players; `None` if the reply has no list.
fn listed_players(
    answer: &Answer,
    engine: &Engine,
    reader: &Reader<'_>,
    extras: &mut ExtrasBuilder,
) -> Option<Vec<Player>> {
    let table = answer.players();
    let is_whole_list =
        answer.form() != Form::MinecraftBasic && answer.completeness().is_complete();
    if table.fields().len() == 0 && !is_whole_list {
        return None;
    }
    let meanings = meanings(table, engine);
    let rows = table.rows();
    let mut players: Vec<_> = rows
        .map(|row| player(row, &meanings, reader, extras))
        .collect();
    if engine.has_nameless_bots {
        mark_nameless_bots(&mut players, reader.number(Field::BotCount));
    }
    Some(players)
}

/// The meaning of each column of the players. Of several columns with scores, one is read.
fn meanings(table: Table<'_>, engine: &Engine) -> Vec<PlayerField> {
    let columns = engine.columns.iter();
    let scores = columns.filter(|column| column.field == PlayerField::Score);
    let mut scores = scores.map(|column| column.name.as_bytes());
    let score = scores.find(|name| has_column(table, name));
    let meaning = |name: &[u8]| match engine.column(name) {
        Some(column) if column.field != PlayerField::Score || score == Some(name) => column.field,
        _ => PlayerField::Extra,
    };
    table.fields().map(meaning).collect()
}

fn has_column(table: Table<'_>, name: &[u8]) -> bool {
    table.fields().any(|field| field == name)
}

fn player(
    row: Row<'_>,
    meanings: &[PlayerField],
    reader: &Reader<'_>,
    extras: &mut ExtrasBuilder,
) -> Player {
    let mut player = Player::default();
    for ((column, value), meaning) in row.fields().zip(meanings) {
        let Some(value) = value else { continue };
        let is_read = match meaning {
            PlayerField::Name if player.name.is_empty() => {
                player.name = reader.text(value);
                true
            }
            PlayerField::Score => set(&mut player.score, number::number(value)),
            PlayerField::Ping => set(&mut player.ping, number::ping(value)),
            PlayerField::Team => set(&mut player.team, number::number(value)),
            PlayerField::Bot => set(&mut player.bot, number::boolean(value)),
            PlayerField::Name | PlayerField::Extra => false,
        };
        if !is_read {
            extras.push(column, value);
        }
    }
    player.extra = extras.take_part();
    player
}

/// Bots are the rows without a name, if there are as many of these as bots.
fn mark_nameless_bots(players: &mut [Player], bots: Option<u32>) {
    let is_nameless = |player: &Player| player.name.raw().trim_ascii().is_empty();
    let nameless = players.iter().filter(|player| is_nameless(player)).count();
    if u32::try_from(nameless).ok() != bots {
        return;
    }
    for player in players {
        player.bot = Some(is_nameless(player));
    }
}

fn just_cause_2(players: Vec<JustCause2Player<'_>>, bytes: &Bytes) -> Vec<Player> {
    let to_player = |listed: JustCause2Player<'_>| {
        let mut player = Player::new(Text::part(bytes, listed.name, Style::default()));
        player.ping = Some(listed.ping.into());
        player.extra.push_raw(b"steamid", listed.steam_id);
        player
    };
    players.into_iter().map(to_player).collect()
}

/// The teams: the rows of their table, or those that keys name.
fn teams(
    answer: &Answer,
    engine: &Engine,
    reader: &Reader<'_>,
    extras: &mut ExtrasBuilder,
) -> Vec<Team> {
    let rows = (engine.first_team..).zip(answer.teams().rows());
    let teams: Vec<_> = rows
        .map(|(number, row)| team(row, number, engine, reader, extras))
        .collect();
    if !teams.is_empty() {
        return teams;
    }
    let named = (1..).zip([Field::SideName(0), Field::SideName(1)]);
    let named = named.filter_map(|(number, field)| {
        let name = reader.value(field)?;
        Some(Team {
            id: Some(number),
            name: Some(reader.text(name)),
            ..Team::default()
        })
    });
    named.collect()
}

fn team(
    row: Row<'_>,
    number: i32,
    engine: &Engine,
    reader: &Reader<'_>,
    extras: &mut ExtrasBuilder,
) -> Team {
    let mut team = Team {
        id: Some(number),
        ..Team::default()
    };
    for (column, value) in row.fields() {
        let Some(value) = value else { continue };
        let is_score = column == engine.team_score.as_bytes();
        let is_read = match column {
            b"team_t" => set(&mut team.name, Some(reader.text(value))),
            _ => is_score && set(&mut team.score, number::number(value)),
        };
        if !is_read {
            extras.push(column, value);
        }
    }
    team.extra = extras.take_part();
    team
}

/// Sets a field that has no value yet: of a column that is there twice, the first counts. Returns
/// whether it was set: a value that cannot be read as its type stays among the extras.
fn set<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    let is_set = field.is_none() && value.is_some();
    if is_set {
        *field = value;
    }
    is_set
}
