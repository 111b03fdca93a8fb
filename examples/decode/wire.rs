//! The wire's own view of an answer as JSON.

use queryport::gamespy4;
use queryport::protocol::Answer;
use queryport::quake3;
use serde_json::{Map, Value, json};

/// Adds what an answer holds to the output line.
pub(crate) fn describe(answer: &Answer, line: &mut Map<String, Value>) {
    match answer {
        Answer::Quake3(answer) => quake3(answer, line),
        Answer::GameSpy4(answer) => gamespy4(answer, line),
        other => {
            line.insert("note".to_owned(), json!(format!("no wire view for {other:?}")));
        }
    }
}

/// One code point a byte: exact, whatever the character set.
fn text(bytes: &[u8]) -> Value {
    bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into()
}

/// The wire has no names for the fields of a player line; these are the format's.
fn quake3(answer: &quake3::Answer, line: &mut Map<String, Value>) {
    let response = answer.response();
    line.insert("command".to_owned(), json!(response.kind().word()));
    let rules: Vec<Value> =
        response.info().iter().map(|(key, value)| json!([text(key), text(value)])).collect();
    line.insert("rules".to_owned(), rules.into());
    let player = |player: quake3::PlayerLine<'_>| {
        let mut row = Map::new();
        let fields =
            [("score", player.score_text()), ("ping", player.ping_text()), ("team", player.team_text())];
        for (field, value) in fields {
            if let Some(value) = value {
                row.insert(field.to_owned(), text(value));
            }
        }
        row.insert("name".to_owned(), text(player.name()));
        Value::Object(row)
    };
    if response.kind() == quake3::Kind::Status {
        line.insert("players".to_owned(), response.players().map(player).collect());
    }
}

fn gamespy4(answer: &gamespy4::Answer, line: &mut Map<String, Value>) {
    let reply = answer.reply();
    let mut rules: Vec<Value> = reply.server().map(|(key, value)| json!([text(key), text(value)])).collect();
    if let Some(basic) = answer.basic() {
        // No keys on the wire here: these are the long answer's for the same fields.
        let fields = [
            ("hostname", basic.title().raw()),
            ("gametype", basic.game_type().raw()),
            ("map", basic.map().raw()),
            ("hostip", basic.host_ip().raw()),
        ];
        rules.extend(fields.map(|(key, value)| json!([key, text(value)])));
        let counts = [
            ("numplayers", basic.players()),
            ("maxplayers", basic.max_players()),
            ("hostport", Some(basic.host_port().into())),
        ];
        let count = |(key, count): (&str, Option<u32>)| json!([key, count.unwrap_or_default().to_string()]);
        rules.extend(counts.map(count));
    }
    line.insert("rules".to_owned(), rules.into());
    let rows = |table: gamespy4::Table<'_>| -> Value {
        let row = |row: gamespy4::Row<'_>| -> Value {
            let here = row.fields().filter_map(|(field, value)| {
                let field = field.iter().map(|&byte| char::from(byte)).collect::<String>();
                value.map(|value| (field, text(value)))
            });
            Value::Object(here.collect())
        };
        table.rows().map(row).collect()
    };
    let players = match answer.just_cause_2() {
        Some(players) => players
            .map(|player| json!({"name": text(player.name), "steamid": text(player.steam_id), "ping": player.ping}))
            .collect(),
        None => rows(reply.players()),
    };
    line.insert("players".to_owned(), players);
    line.insert("teams".to_owned(), rows(reply.teams()));
}
