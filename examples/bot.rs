//! A chat bot's answer to "who is on?": one line per server, queried at the same time.
//!
//! ```text
//! cargo run --example bot -- quake3 example.org gamespy1 example.net:7778
//! ```

use queryport::{Client, Protocol};
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::new()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut queries = JoinSet::new();
    for [protocol, server] in arguments.as_chunks().0 {
        let (client, protocol, server) = (client.clone(), protocol.parse::<Protocol>()?, server.clone());
        queries.spawn(async move { (client.query(protocol, &server).await, server) });
    }
    while let Some(joined) = queries.join_next().await {
        println!("{}", reply(&joined?));
    }
    Ok(())
}

fn reply(
    (result, server): &(Result<queryport::Outcome<queryport::ServerStatus>, queryport::Error>, String),
) -> String {
    let status = match result {
        Ok(outcome) => &outcome.answer,
        Err(error) => return format!("{server} does not answer: {error}"),
    };
    let names: Vec<String> = status.listed_players().iter().map(|player| player.name.to_string()).collect();
    let count = status.player_count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let partial = if status.completeness.is_complete() { "" } else { " (and maybe more)" };
    format!(
        "{}: {count} on {}: {}{partial}",
        status.name.clone().unwrap_or_default(),
        status.map.clone().unwrap_or_default(),
        names.join(", ")
    )
}
