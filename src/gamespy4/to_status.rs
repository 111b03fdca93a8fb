//! From an answer to the model: which key means what.

use bytes::Bytes;

use super::answer::answer::{Answer, Form};
use super::answer::tables::{Row, Table};
use super::just_cause_2;
use super::minecraft::style::STYLE as MINECRAFT;
use crate::model::{Player, RulesBuilder, ServerStatus, Style, Team, Text, TextRef, ToStatus};
use crate::text::known_keys::{first_filled, known_keys};
use crate::text::number;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        let mut status = match self.form() {
            Form::MinecraftBasic => from_basic(self),
            Form::MinecraftFull => from_pairs(self, MINECRAFT),
            _ => from_pairs(self, Style::default()),
        };
        if let Some(players) = self.just_cause_2() {
            status.players = Some(players.map(|player| just_cause_2_player(player, self.raw())).collect());
        }
        status.completeness = self.completeness();
        status.verification = self.verification();
        status
    }
}

known_keys! {
    /// Keys that mean something to the model.
    struct Known {
        bf2_bots = b"bf2_bots",
        engine_version = b"engineversion",
        game_id = b"game_id",
        gamename = b"gamename",
        gametype = b"gametype",
        gamever = b"gamever",
        hostname = b"hostname",
        hostport = b"hostport",
        map = b"map",
        mapname = b"mapname",
        maxplayers = b"maxplayers",
        numplayers = b"numplayers",
        password = b"password",
        ut3_bots = b"p268435703",
        ut3_game_class = b"p1073741826",
        ut3_map = b"p1073741825",
        ut3_password = b"s7",
        version = b"version",
    }
}

fn from_pairs(answer: &Answer, style: Style) -> ServerStatus {
    let bytes = answer.raw();
    let mut known = Known::default();
    let mut rules = RulesBuilder::new(bytes, style.charset, answer.rules().len());
    for (key, value) in answer.rules() {
        if let Some(slot) = known.slot(key) {
            slot.get_or_insert(value);
        }
        rules.push(key, value);
    }
    // Its `mapname` is a list of all properties.
    let is_ut3 = known.ut3_map.is_some();
    let text = |values: &[Option<&[u8]>]| first_filled(values).map(|raw| Text::part(bytes, raw, style));
    let count = |value: Option<&[u8]>| value.and_then(number::number::<u32>);
    let has_players = answer.players().fields().len() > 0 || answer.completeness().is_complete();
    let mut extras = RulesBuilder::new(bytes, style.charset, 0);
    let mut players = has_players.then(|| players(answer.players(), bytes, style, &mut extras));
    // Teams have no number on the wire; players refer to them by position, from 1 on, from 0 in UT3.
    let numbers = if is_ut3 { 0.. } else { 1.. };
    let teams = answer.teams().rows().zip(numbers);
    let mut teams: Vec<Team> =
        teams.map(|(row, number)| team(row, number, bytes, style, &mut extras)).collect();
    let of_players = players.iter_mut().flatten().map(|player| &mut player.extra);
    extras.complete(of_players.chain(teams.iter_mut().map(|team| &mut team.extra)), style.colours);
    ServerStatus {
        name: text(&[known.hostname]),
        map: if is_ut3 { text(&[known.ut3_map]) } else { text(&[known.mapname, known.map]) },
        game: text(&[known.gamename, known.game_id]),
        game_type: if is_ut3 { text(&[known.ut3_game_class]) } else { text(&[known.gametype]) },
        version: text(&[known.gamever, known.version, known.engine_version]),
        game_port: known.hostport.and_then(number::number),
        password: first_filled(&[known.password, known.ut3_password]).and_then(number::boolean),
        player_count: count(known.numplayers),
        bot_count: count(known.ut3_bots).or_else(|| count(known.bf2_bots)),
        max_players: count(known.maxplayers),
        players,
        teams,
        rules: rules.build(style.colours),
        ..ServerStatus::default()
    }
}

fn from_basic(answer: &Answer) -> ServerStatus {
    let Some(basic) = answer.minecraft_basic() else { return ServerStatus::default() };
    let bytes = answer.raw();
    let text = |text: TextRef<'_>| (!text.raw().is_empty()).then(|| Text::part(bytes, text.raw(), MINECRAFT));
    let mut rules = RulesBuilder::new(bytes, MINECRAFT.charset, 7);
    let port = basic.host_port.map(|port| port.to_string());
    for (key, value) in basic.pairs(port.as_deref().map(str::as_bytes)) {
        rules.push(key.as_bytes(), value);
    }
    ServerStatus {
        name: text(basic.title),
        map: text(basic.map),
        game_type: text(basic.game_type),
        game_port: basic.host_port,
        player_count: basic.player_count,
        max_players: basic.max_players,
        rules: rules.build(MINECRAFT.colours),
        ..ServerStatus::default()
    }
}

/// What a column of the players' table is to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlayerField {
    Name,
    Score,
    Ping,
    Team,
    Bot,
    Further,
}

impl PlayerField {
    fn of(name: &[u8]) -> Self {
        match name {
            b"player_" => Self::Name,
            b"score_" => Self::Score,
            b"ping_" => Self::Ping,
            b"team_" => Self::Team,
            b"AIBot_" => Self::Bot,
            _ => Self::Further,
        }
    }
}

fn players(table: Table<'_>, bytes: &Bytes, style: Style, extras: &mut RulesBuilder) -> Vec<Player> {
    let mut fields: Vec<PlayerField> = Vec::with_capacity(table.fields().len());
    fields.extend(table.fields().map(PlayerField::of));
    let mut players = Vec::with_capacity(table.len());
    for row in table.rows() {
        let mut player = Player::default();
        for ((name, value), field) in row.fields().zip(&fields) {
            let Some(value) = value else { continue };
            let read = match field {
                PlayerField::Name => {
                    player.name = Text::part(bytes, value, style);
                    true
                }
                PlayerField::Score => set(&mut player.score, number::number(value)),
                PlayerField::Ping => set(&mut player.ping, number::number(value)),
                PlayerField::Team => set(&mut player.team, number::number(value)),
                PlayerField::Bot => set(&mut player.bot, number::boolean(value)),
                PlayerField::Further => false,
            };
            if !read {
                extras.push(name, value);
            }
        }
        player.extra = extras.take_part();
        players.push(player);
    }
    players
}

fn just_cause_2_player(from: just_cause_2::Player<'_>, bytes: &Bytes) -> Player {
    let mut player = Player::new(Text::part(bytes, from.name, Style::default()));
    player.ping = Some(i32::from(from.ping));
    player.extra.push_raw(b"steamid", from.steam_id);
    player
}

fn team(row: Row<'_>, number: i32, bytes: &Bytes, style: Style, extras: &mut RulesBuilder) -> Team {
    let mut team = Team { id: Some(number), ..Team::default() };
    for (field, value) in row.fields() {
        let Some(value) = value else { continue };
        let read = match field {
            b"team_t" => {
                team.name = Some(Text::part(bytes, value, style));
                true
            }
            b"score_t" => set(&mut team.score, number::number(value)),
            _ => false,
        };
        if !read {
            extras.push(field, value);
        }
    }
    team.extra = extras.take_part();
    team
}

/// What cannot be read as the field's type stays among the extras.
fn set<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    *field = value;
    field.is_some()
}
