//! The wire's own view of an answer as JSON.

use queryport::model::{Colours, Style, TextRef};
use queryport::protocol::Answer;
use queryport::quake3;
use queryport::ut2004::{self, FString};
use serde_json::{Map, Value, json};

/// Adds what an answer holds to the output line.
pub(crate) fn describe(answer: &Answer, line: &mut Map<String, Value>) {
    match answer {
        Answer::Quake3(answer) => quake3(answer, line),
        Answer::Ut2004(answer) => ut2004(answer, line),
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

/// The records' fields; a Killing Floor server's waves and what is odd about the info record stand beside it.
fn ut2004(answer: &ut2004::Answer, line: &mut Map<String, Value>) {
    if let Some(info) = answer.info() {
        let mut record = Map::new();
        let mut put = |field: &str, value: Value| record.insert(field.to_owned(), value);
        put("server_id", json!(info.server_id));
        put("ip", string(info.ip));
        put("game_port", json!(info.port));
        put("query_port", json!(info.query_port));
        put("name", string(info.server_name));
        put("map", string(info.map_name));
        put("game_type", string(info.game_type));
        put("num_players", json!(info.current_players));
        put("max_players", json!(info.max_players));
        if let Some(ping) = info.tail.ping {
            put("ping", json!(ping));
        }
        if let Some(flags) = info.tail.flags {
            put("flags", json!(flags));
        }
        if let Some(skill) = info.tail.skill_level {
            put("skill", string(skill));
        }
        line.insert("info".to_owned(), record.into());
        if let Some(waves) = info.tail.waves {
            line.insert("waves".to_owned(), json!(waves));
        }
        if !info.tail.trailing.is_empty() {
            line.insert("trailing".to_owned(), json!(hex::encode(info.tail.trailing)));
        }
        if info.repaired {
            line.insert("repaired".to_owned(), json!(true));
        }
    }
    let rules: Vec<Value> = answer.rules().map(|(key, value)| json!([string(key), string(value)])).collect();
    line.insert("rules".to_owned(), rules.into());
    let player = |record: ut2004::PlayerRecord<'_>| {
        json!({
            "id": record.player_num,
            "name": string(record.name),
            "ping": record.ping,
            "score": record.score,
            "stats_id": record.stats_id,
        })
    };
    line.insert("players".to_owned(), answer.players().map(player).collect());
}

/// 16-bit units decoded, others one code point a byte.
fn string(string: FString<'_>) -> Value {
    TextRef::new(string.raw(), Style::new(string.charset(), Colours::None)).decoded().into()
}
