//! The embedded server that is run, and the changes of its status by the arguments.

use std::path::Path;

use queryport::games::{Game, QueryPort};
use queryport::model::Detailed;
use queryport::{Dialect, Format, Player, Players, Protocol, ServerStatus, Service};
use serde_json::{Map, Value};
use shared::safe_text::{either, fit};

use super::{Arguments, Served, WrongArgument, command_line};
use crate::embedded;
use crate::target::What;

/// The embedded server at this port, with the status that the arguments ask for.
pub(crate) fn of(
    arguments: &Arguments,
    served: &Served,
    port: u16,
) -> Result<embedded::World, Box<dyn std::error::Error>> {
    let is_served = |world: &embedded::World| match served.game {
        Some(game) => world.game == game,
        None => world.protocol == served.protocol,
    };
    let world = embedded::worlds().into_iter().find(is_served);
    let mut world = world.ok_or("no server of this protocol is embedded")?;
    if world.status.game_port.is_some() {
        let game = served.asked.or_else(|| Game::find(world.game).ok());
        world.status.game_port = game.and_then(|game| game_port(game, port));
    }
    if let Some(game) = served.asked.filter(|game| !is_of(&world, game)) {
        world.status = in_place_of(game, world.status);
    }
    if let Some(file) = &arguments.status {
        world.status = with_fields_of(without_players(world.status), file)
            .map_err(|problem| format!("{}: {problem}", file.display()))?;
    }
    if let Some(players) = arguments.players {
        let invented = (1..=players).map(|number| (number, 0));
        world.status = with_players(&world.status, invented, players);
    }
    for (field, value) in &arguments.fields {
        world.status = with_field(&world.status, field, value).map_err(WrongArgument)?;
    }
    if !served.others.is_empty() {
        world.status = without_colours(&world.status)?;
    }
    Ok(world)
}

/// The status with the name and the number under which list servers have the game.
fn in_place_of(game: &Game, mut status: ServerStatus) -> ServerStatus {
    if let Some(name) = game.gamename {
        status.game = Some(name.into());
    }
    if let Some((number, _)) = game.numbers.first() {
        status.protocol_version = u32::try_from(*number).ok();
    }
    status
}

/// The port that players connect to, of a server with this query port.
fn game_port(game: &Game, query_port: u16) -> Option<u16> {
    match game.query_port {
        QueryPort::Offset(offset) => query_port.checked_add_signed(offset.checked_neg()?),
        QueryPort::Fixed(_) => game.game_port,
        _ => Some(query_port),
    }
}

/// The status without the players and bots of the embedded server.
fn without_players(mut status: ServerStatus) -> ServerStatus {
    status.players = Players::default();
    status.teams.clear();
    (status.player_count, status.bot_count) = (None, None);
    status
}

/// The status with plain texts: the colour codes of one protocol are noise in another.
fn without_colours(status: &ServerStatus) -> Result<ServerStatus, serde_json::Error> {
    serde_json::from_value(serde_json::to_value(status)?)
}

/// The status with invented players, each with a number and a score.
fn with_players(
    status: &ServerStatus,
    players: impl Iterator<Item = (u16, i64)>,
    most: u16,
) -> ServerStatus {
    let player = |(number, score): (u16, i64)| {
        let mut player = Player::new(format!("player {number:02}"));
        (player.score, player.ping) = (Some(score + i64::from(number)), Some(40));
        player
    };
    let players: Vec<Player> = players.map(player).collect();
    let mut status = status.clone();
    status.player_count = u32::try_from(players.len()).ok();
    status.bot_count = status.bot_count.map(|_| 0);
    status.players = players.into();
    status.max_players = Some(most.max(16).into());
    status
}

/// The status after this many seconds with a crowd. Each player has times of presence and absence.
pub(crate) fn with_crowd(status: &ServerStatus, most: u16, second: u64) -> ServerStatus {
    let players = (1..=most).filter_map(|number| {
        let period = 20 + u64::from(number) * 7 % 40;
        let phase = (second + u64::from(number) * 13) % period;
        (phase < period * 2 / 3).then(|| (number, i64::try_from(phase / 5).unwrap_or_default()))
    });
    with_players(status, players, most)
}

/// The embedded server of this game, by a word of the list, its name, or a name that
/// `queryport games` knows. A server of the same protocol stands in for other games.
pub(crate) fn of_game(text: &str) -> Result<embedded::World, String> {
    let known = Game::find(text).ok();
    let fits = |world: &embedded::World| {
        let words = [world.game, world.name].map(folded);
        words.contains(&folded(text)) || known.is_some_and(|game| is_of(world, game))
    };
    let worlds = embedded::worlds();
    let words: Vec<&str> = worlds.iter().map(|world| world.game).collect();
    let words = either(&words);
    let found = worlds.into_iter().find(fits);
    if let Some(world) = found.or_else(|| stand_in(known?)) {
        return Ok(world);
    }
    Err(match known {
        Some(game) => format!(
            "no server of {} is embedded: record one with `queryport query {} HOST --record FILE`, \
             and serve it with --replay; the games: {words}",
            game.name, game.id
        ),
        None => What::parse(text).err().unwrap_or_default(),
    })
}

/// An embedded server that answers in the dialect of a game.
fn stand_in(game: &Game) -> Option<embedded::World> {
    let format = match game.dialect {
        Dialect::Quake2 => Format::Quake2,
        Dialect::QuakeWorld => Format::QuakeWorld,
        Dialect::GameSpy2 if game.protocol == Protocol::GameSpy4 => Format::GameSpy2,
        Dialect::Minecraft => Format::Minecraft,
        Dialect::MedalOfHonor | Dialect::JustCause2 => return None,
        _ => Service::from(game.protocol).format(),
    };
    let mut worlds = embedded::worlds().into_iter();
    worlds.find(|world| world.service.format() == format)
}

/// Whether it is a server of this game.
pub(crate) fn is_of(world: &embedded::World, game: &Game) -> bool {
    Game::find(world.game).is_ok_and(|known| known.id == game.id)
}

/// Letters and digits in lower case.
fn folded(text: &str) -> String {
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// A line for each embedded server: the words that start it, and its name.
pub(crate) fn list(columns: Option<usize>) -> String {
    let mut list = String::new();
    let mut add = |line: &str| {
        list += &columns.map_or_else(|| line.into(), |columns| fit(line, columns));
        list.push('\n');
    };
    add("protocol  game          name");
    for world in embedded::worlds() {
        let (protocol, game) = (world.protocol, world.game);
        add(&format!("{protocol:<9} {game:<13} {}", world.name));
    }
    list
}

/// The status with the fields of a JSON file: those of an outcome's `answer`, or of the file itself.
fn with_fields_of(mut status: ServerStatus, file: &Path) -> Result<ServerStatus, String> {
    let text = std::fs::read_to_string(file).map_err(|error| command_line::message(&error))?;
    let mut fields: Map<String, Value> = serde_json::from_str(&text)
        .map_err(|error| format!("not JSON of `query --json`: {error}"))?;
    if let Some(Value::Object(answer)) = fields.remove("answer") {
        fields = answer;
    }
    for (field, value) in &fields {
        status = with_field(&status, field, &value.to_string())?;
    }
    Ok(status)
}

/// The status with another value of this field: JSON, or text without quotes.
fn with_field(status: &ServerStatus, field: &str, value: &str) -> Result<ServerStatus, String> {
    let json = serde_json::to_value(Detailed(status)).map_err(|error| error.to_string())?;
    if json.get(field).is_none() {
        let fields = json
            .as_object()
            .into_iter()
            .flat_map(|fields| fields.keys().map(String::as_str));
        let fields: Vec<&str> = fields.collect();
        return Err(format!(
            "a status has no field {field:?}; it has {}",
            fields.join(", ")
        ));
    }
    let with = |value: Value| {
        let mut json = json.clone();
        if let Some(stored) = json.get_mut(field) {
            *stored = value;
        }
        serde_json::from_value(json)
    };
    let given = serde_json::from_str(value)
        .ok()
        .and_then(|value| with(value).ok());
    given
        .map_or_else(|| with(value.into()), Ok)
        .map_err(|error| format!("{field}={value}: {}", reason(&error)))
}

/// An error of serde in the words of JSON.
fn reason(error: &serde_json::Error) -> String {
    let reason = error.to_string();
    let Some((_, expected)) = reason.rsplit_once("expected ") else {
        return reason;
    };
    let expected = match expected {
        "u16" | "u32" | "u64" => "a whole number, 0 or more",
        "i32" | "i64" => "a whole number",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list in brackets",
        other => other,
    };
    format!("expected {expected}")
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Instant;

    use clap::Parser;
    use queryport::games::MasterForm;
    use queryport::lists::{ListRequest, Scope};
    use queryport::quake3::master::{Master, Options};
    use queryport::serve::Responder;
    use queryport::session::{Conversation, Machine};
    use queryport::{Client, Limits, QueryOptions, Secret, StatusQuery};

    use super::*;

    #[test]
    fn invented_players_are_numbered_and_have_slots() {
        let players = |status: &ServerStatus| -> Vec<(String, Option<i64>, Option<i32>)> {
            let player = |player: &Player| (player.name.to_string(), player.score, player.ping);
            status.players.iter().map(player).collect()
        };
        let mut status = ServerStatus::default();
        status.bot_count = Some(3);
        let status = with_players(&status, [(1, 0), (12, 5)].into_iter(), 2);
        assert_eq!(status.bot_count, Some(0));
        let named = |name: &str, score| (name.to_owned(), Some(score), Some(40));
        assert_eq!(
            players(&status),
            [named("player 01", 1), named("player 12", 17)]
        );
        assert_eq!(
            (status.player_count, status.max_players),
            (Some(2), Some(16))
        );
        let many = with_players(&ServerStatus::default(), std::iter::empty(), 17);
        assert_eq!((many.player_count, many.max_players), (Some(0), Some(17)));
    }

    /// `serve` embeds a server for it or its protocol, or explains how to record one.
    #[tokio::test]
    async fn the_server_for_a_game_answers_its_queries() {
        let mut tried = Vec::new();
        for game in Game::all() {
            let kind = (game.protocol, game.dialect);
            if tried.contains(&kind) {
                continue;
            }
            tried.push(kind);
            let world = match of_game(game.id) {
                Ok(world) => world,
                Err(why) => {
                    assert!(why.contains("--replay"), "{why}");
                    continue;
                }
            };
            let server = world.start(0).await.unwrap();
            let options = QueryOptions::default().with_dialect(game.dialect);
            let query = |nonce| StatusQuery::new(game.protocol, nonce, &options);
            let client = Client::new().unwrap();
            let answer = client.ask_host(server.address, 0, query).await;
            assert!(answer.is_ok(), "{}: {answer:?}", game.id);
        }
        assert!(tried.len() >= 10, "{tried:?}");
    }

    /// `serve GAME --announce MASTER`, then `scan GAME --master MASTER`.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "virtual time in tests")]
    fn a_list_of_a_game_has_the_server_that_stands_in_for_it() {
        let now = Instant::now();
        let [at_server, at_master, at_client] =
            [1, 2, 3].map(|host| SocketAddr::from(([192, 0, 2, host], 27960)));
        // Games for each form of request, with one, several and no numbers.
        for game in ["quake3", "openarena", "xonotic", "codmw2", "iw6x"] {
            let game = Game::find(game).unwrap();
            let arguments = Arguments::try_parse_from(["serve", game.id]).unwrap();
            let served = arguments.served.as_ref().unwrap();
            let world = of(&arguments, served, at_server.port()).unwrap();
            let requests = game.masters.iter().find_map(|master| {
                let is_quake3 = matches!(
                    master.form,
                    MasterForm::Short | MasterForm::Named | MasterForm::Long
                );
                is_quake3.then(|| game.list_requests(master.form, &Limits::default()))
            });
            let (Format::Quake3, Some(requests)) = (world.service.format(), requests) else {
                panic!("{}", game.id);
            };
            let secret = || Secret::new([7; 16]);
            let mut options = Options::default();
            options.scope = Scope::Any;
            let mut master = Master::new(secret(), options, now);
            let service = world.service.clone();
            let announcer =
                crate::serve::announcer(service, 27960, &[at_master], &world.status, now);
            let responder = Responder::new(world.service, world.status, secret(), now);
            let mut server = (responder, announcer.unwrap());
            exchange((&mut server, at_server), (&mut master, at_master), now);
            let is_in = |request: ListRequest| {
                let ListRequest::Quake3(list) = request else {
                    return false;
                };
                let mut list = list.with_scope(Scope::Any);
                let mut datagram = Vec::new();
                list.request(&mut datagram);
                master.handle_datagram(now, at_client, &datagram);
                datagram.clear();
                while master.poll_datagram(now, &mut datagram).is_some() {
                    let _ = list.receive(&datagram);
                    datagram.clear();
                }
                list.take_new().any(|address| address == at_server)
            };
            assert!(requests.into_iter().any(is_in), "{}", game.id);
        }
    }

    /// Passes datagrams from one to the other until there are no more.
    fn exchange(
        (one, at_one): (&mut impl Machine, SocketAddr),
        (other, at_other): (&mut impl Machine, SocketAddr),
        now: Instant,
    ) {
        let mut datagram = Vec::new();
        loop {
            datagram.clear();
            if one.poll_datagram(now, &mut datagram).is_some() {
                other.handle_datagram(now, at_one, &datagram);
            } else if other.poll_datagram(now, &mut datagram).is_some() {
                one.handle_datagram(now, at_other, &datagram);
            } else {
                return;
            }
        }
    }
}
