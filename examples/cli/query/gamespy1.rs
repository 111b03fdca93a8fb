//! Commands of GameSpy v1, and the pairs of the reply.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use queryport::GameKey;
use queryport::gamespy1::{Answer, Command, StatusQuery};
use queryport::{Client, Protocol, QueryOptions};

/// Sends commands in one datagram and prints the reply.
pub(crate) async fn ask(
    client: &Client,
    server: &str,
    commands: &[String],
    key: Option<&str>,
) -> Result<ExitCode, Box<dyn Error>> {
    let commands: Vec<Command<'_>> = commands.iter().map(|text| command(text)).collect();
    for command in &commands {
        if let Command::Other { name, .. } = command {
            super::command_line::complain(&format!(
                "{}: sent, but none of the usual commands: {}",
                name.escape_ascii(),
                NAMES.join(", ")
            ));
        }
    }
    let query = StatusQuery::commands(&commands, &QueryOptions::default())?;
    let port = Protocol::GameSpy1.default_query_port();
    let outcome = client
        .ask_host(server, port, |_nonce| query.clone())
        .await?;
    let (answer, mut out) = (&outcome.answer, io::stdout());
    for (key, value) in answer.pairs() {
        writeln!(out, "{} = {}", key.escape_ascii(), value.escape_ascii())?;
    }
    if let Some(region) = answer.region() {
        writeln!(out, "-- region: {region}")?;
    }
    if let Some((key, text)) = answer.echo() {
        let (key, text) = (key.escape_ascii(), text.escape_ascii());
        writeln!(out, "-- echo: \"{text}\" under the key \"{key}\"")?;
    }
    for command in &commands {
        match command {
            Command::Secure(challenge) => writeln!(out, "-- {}", proof(answer, challenge, key)?)?,
            Command::PlayerProperty(name) => {
                let name = String::from_utf8_lossy(name);
                for row in answer.players() {
                    let value = row.get(&name).unwrap_or_default();
                    writeln!(out, "-- player {}: {}", row.index(), value.escape_ascii())?;
                }
            }
            _ => {}
        }
    }
    writeln!(out, "-- {}", answer.completeness())?;
    let status = super::command_line::status_of_answer(answer.completeness().is_complete());
    Ok(ExitCode::from(status))
}

/// The usual commands.
const NAMES: [&str; 12] = [
    "basic",
    "info",
    "rules",
    "players",
    "status",
    "packets",
    "teams",
    "echo",
    "secure",
    "level_property",
    "game_property",
    "player_property",
];

/// `name` or `name=value`.
fn command(text: &str) -> Command<'_> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    match name {
        "basic" => Command::Basic,
        "info" => Command::Info,
        "rules" => Command::Rules,
        "players" => Command::Players,
        "status" => Command::Status,
        "packets" => Command::Packets,
        "teams" => Command::Teams,
        "echo" => Command::Echo(value.as_bytes()),
        "secure" => Command::Secure(value.as_bytes()),
        "level_property" => Command::LevelProperty(value.as_bytes()),
        "game_property" => Command::GameProperty(value.as_bytes()),
        "player_property" => Command::PlayerProperty(value.as_bytes()),
        _ => Command::Other {
            name: name.as_bytes(),
            value: value.as_bytes(),
        },
    }
}

/// The verdict on the answer to a challenge.
fn proof(answer: &Answer, challenge: &[u8], key: Option<&str>) -> Result<String, Box<dyn Error>> {
    let Some(given) = answer.get("validate") else {
        return Ok("no answer to the challenge".to_owned());
    };
    let given = given.escape_ascii();
    let Some(key) = key else {
        return Ok(format!("validate {given}, not checked: no --key"));
    };
    let expected = GameKey::new(key)?.validate(challenge)?;
    let verdict = if expected.as_bytes() == answer.get("validate").unwrap_or_default() {
        "right"
    } else {
        "wrong"
    };
    Ok(format!("validate {given} is {verdict} for this key"))
}
