//! From the wire view to the model: which key means what.

use bytes::Bytes;

use super::answer::{Answer, Form};
use super::just_cause_2;
use super::minecraft;
use super::tables::{Reply, Row};
use crate::model::{Charset, Colours, Player, RulesBuilder, ServerStatus, Style, Team, Text};
use crate::text::number;
use crate::text::words::{Named, Words, word, words};

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
    let mut named = Named::new(&WORDS);
    let mut rules = RulesBuilder::new(bytes, style.charset, reply.server().len());
    for (key, value) in reply.server() {
        named.note(key, value);
        rules.push(key, value);
    }
    let is_ut3 = named.get(word!(UT3_MAP)).is_some();
    let text = |places: &[usize]| named.first(places).map(|raw| Text::part(bytes, raw, style));
    let count = |place: usize| named.get(place).and_then(number::number::<u32>);
    let has_players = reply.players().fields().len() > 0 || answer.completeness().is_complete();
    let mut extras = RulesBuilder::new(bytes, style.charset, 0);
    let mut players = has_players.then(|| players(reply, bytes, style, &mut extras));
    // Teams have no number on the wire; players refer to them by place, from 1 on, from 0 in UT3.
    let numbers = if is_ut3 { 0.. } else { 1.. };
    let teams = reply.teams().rows().zip(numbers);
    let mut teams: Vec<Team> =
        teams.map(|(row, number)| team(row, number, bytes, style, &mut extras)).collect();
    let of_players = players.iter_mut().flatten().map(|player| &mut player.extra);
    extras.complete(of_players.chain(teams.iter_mut().map(|team| &mut team.extra)), style.colours);
    ServerStatus {
        name: text(words!("hostname")),
        map: if is_ut3 { text(words!(UT3_MAP)) } else { text(words!("mapname", "map")) },
        game: text(words!("gamename", "game_id")),
        game_type: if is_ut3 { text(words!(UT3_GAME_TYPE)) } else { text(words!("gametype")) },
        version: text(words!("gamever", "version", "EngineVersion")),
        game_port: named.get(word!("hostport")).and_then(number::number),
        password: named.first(words!("password", UT3_PASSWORD)).and_then(number::boolean),
        player_count: count(word!("numplayers")),
        bot_count: count(word!(UT3_BOTS)).or_else(|| count(word!("bf2_bots"))),
        max_players: count(word!("maxplayers")),
        players,
        teams,
        rules: rules.build(style.colours),
        ..ServerStatus::default()
    }
}

/// Keys that mean something to the model.
static WORDS: Words<18> = Words::new([
    UT3_PASSWORD,
    "map",
    "mapname",
    "game_id",
    "gamever",
    "version",
    "hostname",
    "gamename",
    "gametype",
    "hostport",
    "password",
    "bf2_bots",
    "numplayers",
    UT3_BOTS,
    "maxplayers",
    UT3_MAP,
    UT3_GAME_TYPE,
    "EngineVersion",
]);

fn from_basic(answer: &Answer) -> ServerStatus {
    let mut status = ServerStatus::default();
    let Some(basic) = answer.basic() else { return status };
    let bytes = answer.raw();
    let text = |text: crate::model::TextRef<'_>| {
        (!text.raw().is_empty()).then(|| Text::part(bytes, text.raw(), minecraft::STYLE))
    };
    status.name = text(basic.title());
    status.map = text(basic.map());
    status.game_type = text(basic.game_type());
    status.game_port = Some(basic.host_port());
    status.player_count = basic.players();
    status.max_players = basic.max_players();
    let mut rules = RulesBuilder::new(bytes, minecraft::STYLE.charset, 7);
    for (key, value) in basic.named() {
        rules.push(key.as_bytes(), value);
    }
    rules.push(b"hostport", basic.host_port().to_string().as_bytes());
    status.rules = rules.build(minecraft::STYLE.colours);
    status
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

fn players(reply: Reply<'_>, bytes: &Bytes, style: Style, extras: &mut RulesBuilder) -> Vec<Player> {
    let table = reply.players();
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
    let mut player = Player::new(Text::part(bytes, from.name, PLAIN));
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
