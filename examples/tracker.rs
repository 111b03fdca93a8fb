//! Tracks servers in a file of JSON lines: reads what it knew, queries every server of the list, prints what changed, and
//! writes the file anew.
//!
//! ```text
//! cargo run --features serde --example tracker -- servers.jsonl quake3 example.org ut2004 example.net
//! ```

use std::collections::BTreeMap;

use queryport::{Client, Outcome, Protocol, ScanOptions, ServerStatus, ToStatus};

type Known = BTreeMap<String, Outcome<ServerStatus>>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: tracker FILE PROTOCOL SERVER...")?;
    let mut targets = Vec::new();
    while let (Some(protocol), Some(server)) = (arguments.next(), arguments.next()) {
        targets.push((protocol.parse::<Protocol>()?, server));
    }
    let mut known = read(&file)?;
    let mut scan = Client::new()?.scan(targets.clone(), ScanOptions::default())?;
    while let Some(scanned) = scan.next().await {
        let (_, server) = targets.get(usize::try_from(scanned.index)?).ok_or("a result of no target")?;
        match scanned.result.map(|outcome| outcome.map(|answer| answer.to_status())) {
            Ok(now) => {
                let before = known.insert(server.clone(), now.clone()).and_then(|before| before.answer.map);
                if before != now.answer.map {
                    println!("{server} plays {} now", now.answer.map.unwrap_or_default());
                }
            }
            Err(error) => println!("{server}: {error}"),
        }
    }
    let line = |(server, outcome)| serde_json::to_string(&(server, outcome)).map(|line| line + "\n");
    std::fs::write(&file, known.iter().map(line).collect::<Result<String, _>>()?)?;
    Ok(())
}

/// What an earlier run wrote; nothing where there was none.
fn read(file: &str) -> Result<Known, Box<dyn std::error::Error>> {
    match std::fs::read_to_string(file) {
        Ok(text) => text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Known::new()),
        Err(error) => Err(error.into()),
    }
}
