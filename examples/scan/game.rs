//! The servers of a game, from its list servers or from the file with their last answer.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use queryport::games::Game;
use queryport::net::GameServers;
use queryport::{Client, Error};
use tokio::sync::mpsc;

use super::list::Target;

/// The game that `list` names; a file of that name comes first.
pub(crate) fn named(list: &str) -> Option<&'static Game> {
    let is_file = list == "-" || std::path::Path::new(list).exists();
    if is_file { None } else { Game::find(list).ok() }
}

/// What to say of a list that is no file.
pub(crate) fn advice(list: &str) -> String {
    Game::find(list).err().map(|error| format!("; as a game: {error}")).unwrap_or_default()
}

/// Servers as the list servers name them. List servers are asked again when their last answer is older than `interval`.
pub(crate) fn servers(
    client: &Client,
    game: &'static Game,
    interval: Duration,
) -> Result<mpsc::Receiver<Target>, Error> {
    let (sender, receiver) = mpsc::channel(1024);
    let file = file(game);
    if let Some(known) = file.as_ref().and_then(|file| remembered(file, interval)) {
        eprintln!("scan: {} servers of {} from the last answers of its list servers", known.len(), game.name);
        tokio::spawn(async move {
            for address in known {
                if sender.send((game.protocol, address.to_string())).await.is_err() {
                    break;
                }
            }
        });
        return Ok(receiver);
    }
    let mut servers = client.servers(game)?;
    tokio::spawn(async move {
        let mut listed = Vec::new();
        while let Some(server) = servers.next().await {
            listed.push(server.server);
            if sender.send((server.protocol, server.server.to_string())).await.is_err() {
                return;
            }
        }
        report(&servers);
        if let (Some(file), false) = (file, listed.is_empty())
            && let Err(error) = remember(&file, &listed)
        {
            eprintln!("scan: {}: {error}", file.display());
        }
    });
    Ok(receiver)
}

/// A line for each list server.
fn report(servers: &GameServers) {
    for report in servers.masters() {
        let address = report.master.address;
        match &report.list {
            Some(Ok(list)) => {
                let (count, completeness, end) = (report.servers, list.completeness, list.ended_by);
                eprintln!("scan: {address}: {count} servers, {completeness}, {end}");
            }
            Some(Err(error)) => eprintln!("scan: {address}: {error}"),
            None => {}
        }
    }
}

/// `queryport/GAME.list` in the user's cache.
fn file(game: &Game) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("queryport").join(format!("{}.list", game.id)))
}

fn remembered(file: &PathBuf, interval: Duration) -> Option<Vec<SocketAddr>> {
    let age = std::fs::metadata(file).ok()?.modified().ok()?.elapsed().ok()?;
    let text = (age < interval).then(|| std::fs::read_to_string(file).ok()).flatten()?;
    text.lines().map(|line| line.parse().ok()).collect()
}

fn remember(file: &PathBuf, servers: &[SocketAddr]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
    for server in servers {
        writeln!(out, "{server}")?;
    }
    out.flush()
}
