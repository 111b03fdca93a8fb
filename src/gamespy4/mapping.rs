//! Between the wire view and the model: which key means what.

use bytes::Bytes;

use super::answer::{Answer, Form};
use super::just_cause_2;
use super::minecraft;
use super::tables::{Reply, Row};
use crate::model::{Charset, Colours, Player, RulesBuilder, ServerStatus, Style, Team, Text};
use crate::wire::number;
use crate::wire::share::share;

/// Unreal Tournament 3's map and game class. Its `mapname` is a list of all properties.
pub(super) const UT3_MAP: &str = "p1073741825";
pub(super) const UT3_GAME_TYPE: &str = "p1073741826";
pub(super) const UT3_PASSWORD: &str = "s7";
pub(super) const UT3_BOTS: &str = "p268435703";

const PLAIN: Style = Style::new(Charset::Utf8OrWindows1252, Colours::None);

/// See [`Answer::to_status`].
pub(super) fn to_status(answer: &Answer) -> ServerStatus {
    let mut status = match answer.form() {
        Form::Basic => from_basic(answer),
        Form::Minecraft => from_reply(answer, minecraft::STYLE),
        _ => from_reply(answer, PLAIN),
    };
    if let Some(players) = answer.just_cause_2() {
        status.players = Some(players.map(|player| just_cause_2_player(player, answer.raw())).collect());
    }
    status.completeness = answer.completeness();
    status
}

fn from_reply(answer: &Answer, style: Style) -> ServerStatus {
    let (reply, bytes) = (answer.reply(), answer.raw());
    let is_ut3 = reply.get(UT3_MAP).is_some();
    let text = |keys: &[&str]| first(reply, keys).map(|raw| Text::new(share(bytes, raw), style));
    let count = |key: &str| reply.get(key).and_then(number::number::<u32>);
    let mut rules = RulesBuilder::new(bytes, style, reply.server().len());
    for (key, value) in reply.server() {
        rules.push(key, value);
    }
    let has_players = reply.players().fields().len() > 0 || answer.completeness().is_complete();
    let players = reply.players().rows().map(|row| player(row, bytes, style));
    // Teams have no number on the wire; players refer to them by place, from 1 on, from 0 in UT3.
    let numbers = if is_ut3 { 0.. } else { 1.. };
    let teams = reply.teams().rows().zip(numbers).map(|(row, number)| team(row, number, bytes, style));
    ServerStatus {
        name: text(&["hostname"]),
        map: if is_ut3 { text(&[UT3_MAP]) } else { text(&["mapname", "map"]) },
        game: text(&["gamename", "game_id"]),
        game_type: if is_ut3 { text(&[UT3_GAME_TYPE]) } else { text(&["gametype"]) },
        version: text(&["gamever", "version", "EngineVersion"]),
        game_port: reply.get("hostport").and_then(number::number),
        password: first(reply, &["password", UT3_PASSWORD]).and_then(number::boolean),
        player_count: count("numplayers"),
        bot_count: count(UT3_BOTS).or_else(|| count("bf2_bots")),
        max_players: count("maxplayers"),
        players: has_players.then(|| players.collect()),
        teams: teams.collect(),
        rules: rules.build(),
        ..ServerStatus::default()
    }
}

fn from_basic(answer: &Answer) -> ServerStatus {
    let mut status = ServerStatus::default();
    let Some(basic) = answer.basic() else { return status };
    let bytes = answer.raw();
    let text = |text: crate::model::TextRef<'_>| {
        (!text.raw().is_empty()).then(|| Text::new(share(bytes, text.raw()), minecraft::STYLE))
    };
    status.name = text(basic.title());
    status.map = text(basic.map());
    status.game_type = text(basic.game_type());
    status.game_port = Some(basic.host_port());
    status.player_count = basic.players();
    status.max_players = basic.max_players();
    let mut rules = RulesBuilder::new(bytes, minecraft::STYLE, 7);
    for (key, value) in basic.named() {
        rules.push(key.as_bytes(), value);
    }
    rules.push(b"hostport", basic.host_port().to_string().as_bytes());
    status.rules = rules.build();
    status
}

/// The first of these keys that has something to say.
fn first<'a>(reply: Reply<'a>, keys: &[&str]) -> Option<&'a [u8]> {
    keys.iter().find_map(|key| reply.get(key).filter(|value| !value.is_empty()))
}

fn player(row: Row<'_>, bytes: &Bytes, style: Style) -> Player {
    let mut player = Player::default();
    let mut extra = RulesBuilder::new(bytes, style, 0);
    for (field, value) in row.fields() {
        let Some(value) = value else { continue };
        let read = match field {
            b"player_" => {
                player.name = Text::new(share(bytes, value), style);
                true
            }
            b"score_" => set(&mut player.score, number::number(value)),
            b"ping_" => set(&mut player.ping, number::number(value)),
            b"team_" => set(&mut player.team, number::number(value)),
            b"AIBot_" => set(&mut player.bot, number::boolean(value)),
            _ => false,
        };
        if !read {
            extra.push(field, value);
        }
    }
    player.extra = extra.build();
    player
}

fn just_cause_2_player(from: just_cause_2::Player<'_>, bytes: &Bytes) -> Player {
    let mut player = Player::new(Text::new(share(bytes, from.name), PLAIN));
    player.ping = Some(i32::from(from.ping));
    player.extra.push_raw(b"steamid", from.steam_id);
    player
}

fn team(row: Row<'_>, number: i32, bytes: &Bytes, style: Style) -> Team {
    let mut team = Team { id: Some(number), ..Team::default() };
    let mut extra = RulesBuilder::new(bytes, style, 0);
    for (field, value) in row.fields() {
        let Some(value) = value else { continue };
        let read = match field {
            b"team_t" => {
                team.name = Some(Text::new(share(bytes, value), style));
                true
            }
            b"score_t" => set(&mut team.score, number::number(value)),
            _ => false,
        };
        if !read {
            extra.push(field, value);
        }
    }
    team.extra = extra.build();
    team
}

/// What cannot be read as the field's type stays among the extras.
fn set<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    *field = value;
    field.is_some()
}
