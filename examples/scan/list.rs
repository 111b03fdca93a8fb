//! Where the addresses come from.

use std::io::Read;
use std::net::SocketAddr;

use queryport::quake3::master::{ListQuery, ListRequest};
use queryport::{Client, Error, Limits, Protocol};

pub(crate) type Target = (Protocol, SocketAddr);

/// The lines of a file, or of standard input for `-`. Lines that are no address are told and passed over.
pub(crate) fn from_file(path: &str, protocol: Protocol) -> std::io::Result<Vec<Target>> {
    let mut text = String::new();
    if path == "-" {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(path)
            .map_err(|error| std::io::Error::new(error.kind(), format!("{path}: {error}")))?;
    }
    let mut targets = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        match target(line, protocol) {
            Some(target) => targets.push(target),
            None => eprintln!("scan: {path}:{number}: {line:?} is no IP:PORT or PROTOCOL IP:PORT"),
        }
    }
    Ok(targets)
}

fn target(line: &str, protocol: Protocol) -> Option<Target> {
    let (protocol, address) = match line.split_once(char::is_whitespace) {
        Some((name, address)) => (name.parse().ok()?, address.trim()),
        None => (protocol, line),
    };
    Some((protocol, address.parse().ok()?))
}

/// What a Quake 3 master knows.
pub(crate) async fn from_master(
    client: &Client,
    master: &str,
    game: &str,
    protocol: i32,
) -> Result<Vec<Target>, Box<dyn std::error::Error>> {
    let query = ListQuery::new(&ListRequest::extended(game.as_bytes(), protocol), &Limits::default())?;
    let mut servers = client.quake3_servers(master, query).await?;
    let mut targets = Vec::new();
    loop {
        match servers.next().await {
            Ok(Some(server)) => targets.push((Protocol::Quake3, server)),
            Ok(None) => break,
            // Half a list is worth a scan.
            Err(error @ Error::Query { .. }) if !targets.is_empty() => {
                eprintln!("scan: the list is incomplete: {error}");
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(targets)
}
