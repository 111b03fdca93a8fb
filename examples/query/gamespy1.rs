//! GameSpy v1's commands, one by one or together, in the server's own words.

use std::error::Error;
use std::process::ExitCode;

use queryport::gamespy1::secure::GameKey;
use queryport::gamespy1::{Answer, Command, StatusQuery};
use queryport::{Client, Limits, Protocol};

/// Asks commands in one datagram and prints what comes back.
pub(crate) async fn ask(
    client: &Client,
    server: &str,
    commands: &[String],
    key: Option<&str>,
) -> Result<ExitCode, Box<dyn Error>> {
    let commands: Vec<Command<'_>> = commands.iter().map(|text| command(text)).collect();
    let query = StatusQuery::commands(&commands, Limits::default())?;
    let port = Protocol::GameSpy1.default_query_port();
    let outcome = client.ask_host(server, port, |_nonce| query.clone()).await?;
    let answer = &outcome.answer;
    for (key, value) in answer.pairs() {
        println!("{} = {}", key.escape_ascii(), value.escape_ascii());
    }
    if let Some(region) = answer.region() {
        println!("-- region: {region}");
    }
    if let Some((key, text)) = answer.echo() {
        println!(
            "-- echo: {:?} under the key {:?}",
            text.escape_ascii().to_string(),
            key.escape_ascii().to_string()
        );
    }
    for command in &commands {
        match command {
            Command::Secure(challenge) => println!("-- {}", proof(answer, challenge, key)?),
            Command::PlayerProperty(name) => {
                let name = String::from_utf8_lossy(name);
                for row in answer.players() {
                    let value = row.get(&name).unwrap_or_default();
                    println!("-- player {}: {}", row.index(), value.escape_ascii());
                }
            }
            _ => {}
        }
    }
    println!("-- {}", answer.completeness());
    Ok(ExitCode::from(if answer.completeness().is_complete() { 0 } else { 3 }))
}

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
        _ => Command::Other { name: name.as_bytes(), value: value.as_bytes() },
    }
}

/// What the answer to a challenge proves.
fn proof(answer: &Answer, challenge: &[u8], key: Option<&str>) -> Result<String, Box<dyn Error>> {
    let Some(given) = answer.get("validate") else { return Ok("no answer to the challenge".to_owned()) };
    let given = given.escape_ascii();
    let Some(key) = key else { return Ok(format!("validate {given}, not checked: no --key")) };
    let expected = GameKey::new(key)?.validate(challenge)?;
    let verdict =
        if expected.as_bytes() == answer.get("validate").unwrap_or_default() { "right" } else { "WRONG" };
    Ok(format!("validate {given} is {verdict} for this key"))
}
