//! The servers of a game, from its list servers or from the file with their last answer.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use queryport::games::Game;
use queryport::lists::Scope;
use queryport::net::Servers;
use queryport::{Client, Error, Timing};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::command_line;
use super::output::{Output, Shared};
use super::safe_text::counted;
use super::target::{Target, What};

/// The game that `list` names; a file of that name comes first.
pub(crate) fn named(list: &Path) -> Option<&'static Game> {
    let is_file = list == Path::new("-") || list.exists();
    if is_file {
        return None;
    }
    Game::find(list.to_str()?).ok()
}

/// The message for a list that is not a file.
pub(crate) fn advice(list: &Path) -> String {
    let list = list.to_string_lossy();
    if list.contains('.') && command_line::server(&list).is_ok() {
        return format!("; a single server: queryport query {list}");
    }
    command_line::game(&list)
        .err()
        .map(|error| format!("; as a game: {error}"))
        .unwrap_or_default()
}

/// How the list servers of a game are asked.
#[derive(Debug, Clone)]
pub(crate) struct Lists {
    /// The greatest age at which the last answers of the known list servers are used again.
    pub(crate) least_interval: Duration,
    /// The time for a list over TCP.
    pub(crate) timeout: Duration,
    pub(crate) scope: Scope,
    /// Whether the list servers are those of the table.
    pub(crate) is_known: bool,
}

/// Servers as the list servers name them.
pub(crate) fn servers(
    client: &Client,
    game: &Game,
    lists: &Lists,
    output: Shared,
) -> Result<mpsc::Receiver<Target>, Error> {
    let (sender, receiver) = mpsc::channel(1024);
    let what = What::Protocol(game.protocol);
    let file = cache_file(game, lists.scope).filter(|_| lists.is_known);
    if let Some(known) = file.as_ref().and_then(|file| remembered(file, lists)) {
        output.lock().complain(&format!(
            "{} of {} from the last answers of its list servers",
            counted(known.len() as u64, "server"),
            game.name
        ));
        tokio::spawn(send_known(known, what, sender));
        return Ok(receiver);
    }
    // The timeout of a query is too short for many lists.
    let client = client.clone().with_timing(Timing::default());
    let servers = client
        .servers(game)?
        .with_timeout(lists.timeout)
        .with_scope(lists.scope);
    tokio::spawn(send_listed(servers, what, sender, output, file));
    Ok(receiver)
}

async fn send_known(known: Vec<SocketAddr>, what: What, sender: mpsc::Sender<Target>) {
    for address in known {
        if sender.send((what, address.to_string())).await.is_err() {
            return;
        }
    }
}

/// Sends the servers as they are listed, reports the lists, and keeps the servers in a file.
async fn send_listed(
    mut servers: Servers,
    what: What,
    sender: mpsc::Sender<Target>,
    output: Shared,
    file: Option<PathBuf>,
) {
    let mut listed = Vec::new();
    loop {
        output.lock().lists = progress(&servers, listed.len());
        match timeout(Duration::from_millis(200), servers.next()).await {
            Ok(Some(server)) => {
                let address = server.server;
                listed.push(address);
                if sender.send((what, address.to_string())).await.is_err() {
                    return;
                }
            }
            Ok(None) => break,
            Err(_still_waiting) => {}
        }
    }
    let mut output = output.lock();
    output.lists.clear();
    report(&servers, &mut output);
    if let Some(file) = file.filter(|_| !listed.is_empty())
        && let Err(error) = remember(&file, &listed)
    {
        let why = command_line::message(&error);
        output.complain(&format!("{}: {why}", file.display()));
    }
}

/// How far the lists are.
fn progress(servers: &Servers, listed: usize) -> String {
    let masters = servers.masters();
    let ended = masters
        .iter()
        .filter(|report| report.list.is_some())
        .count();
    let bytes: usize = masters.iter().map(|report| report.bytes).sum();
    progress_text(ended, masters.len(), listed, bytes)
}

fn progress_text(ended: usize, all: usize, listed: usize, bytes: usize) -> String {
    let bytes = if bytes > 0 {
        format!(", {} KiB", bytes / 1024)
    } else {
        String::new()
    };
    format!("{ended} of {all} lists, {listed} servers listed{bytes}; ")
}

/// A line for each list server.
fn report(servers: &Servers, output: &mut Output) {
    for report in servers.masters() {
        let address = report.address.as_str();
        match &report.list {
            Some(Ok(list)) => {
                let count = counted(report.servers as u64, "server");
                let completeness = list.completeness;
                let left_out = left_out(
                    list.out_of_scope as usize,
                    list.over_limit as usize,
                    report.left_out,
                );
                output.complain(&format!("{address}: {count}, {completeness}{left_out}"));
            }
            Some(Err(error)) => {
                let words = command_line::message(error);
                let words = words
                    .strip_prefix(address)
                    .and_then(|words| words.strip_prefix(": "))
                    .unwrap_or(&words);
                output.complain(&format!("{address}: {words}"));
            }
            None => {}
        }
    }
}

/// How many servers of a list are not queried, and why.
fn left_out(out_of_scope: usize, over_list: usize, over_host: usize) -> String {
    let counts = [
        (out_of_scope, "out of scope, see --scope any"),
        (over_list, "over the limit of a list"),
        (over_host, "over the limit of a host"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts
        .map(|(count, why)| format!(", {count} left out: {why}"))
        .collect()
}

/// `queryport/GAME-SCOPE.list` in the user's cache: a list of public servers lacks those of a wider
/// scope.
fn cache_file(game: &Game, scope: Scope) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let name = format!("{}-{}.list", game.id, super::scope_name(scope));
    Some(cache.join("queryport").join(name))
}

/// The servers of a file that is young enough. An empty file does not count as a list.
fn remembered(file: &Path, lists: &Lists) -> Option<Vec<SocketAddr>> {
    let age = std::fs::metadata(file)
        .ok()?
        .modified()
        .ok()?
        .elapsed()
        .ok()?;
    if age >= lists.least_interval {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let servers: Option<Vec<SocketAddr>> = text.lines().map(|line| line.parse().ok()).collect();
    let mut servers = servers?;
    servers.retain(|server| lists.scope.admits(*server));
    (!servers.is_empty()).then_some(servers)
}

/// Writes the whole list or leaves the file as it was.
fn remember(file: &Path, servers: &[SocketAddr]) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let unfinished = file.with_extension(std::process::id().to_string());
    let written =
        write_list(&unfinished, servers).and_then(|()| std::fs::rename(&unfinished, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    written
}

fn write_list(file: &Path, servers: &[SocketAddr]) -> io::Result<()> {
    let mut out = io::BufWriter::new(std::fs::File::create(file)?);
    for server in servers {
        writeln!(out, "{server}")?;
    }
    out.into_inner()?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(scope: Scope) -> Lists {
        Lists {
            least_interval: Duration::from_secs(300),
            timeout: Duration::from_secs(1),
            scope,
            is_known: true,
        }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the age of a file")]
    fn a_remembered_list_is_whole_young_and_within_its_scope() {
        let folder = std::env::temp_dir().join(format!("queryport-lists-{}", std::process::id()));
        let file = folder.join("openarena-any.list");
        let servers = ["127.0.0.1:27960", "8.8.8.8:27960"].map(|server| server.parse().unwrap());
        remember(&file, &servers).unwrap();
        assert_eq!(
            remembered(&file, &lists(Scope::Any)),
            Some(servers.to_vec())
        );
        assert_eq!(
            remembered(&file, &lists(Scope::Public)),
            Some(servers[1..].to_vec())
        );
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "one file");
        let aged = |seconds| {
            let written = std::time::SystemTime::now() - Duration::from_secs(seconds);
            let file = std::fs::File::options().write(true).open(&file).unwrap();
            file.set_modified(written).unwrap();
        };
        aged(290);
        assert!(remembered(&file, &lists(Scope::Any)).is_some());
        aged(300);
        assert_eq!(remembered(&file, &lists(Scope::Any)), None, "too old");
        aged(0);
        // A full disk left this part of an earlier version.
        std::fs::write(&file, "").unwrap();
        assert_eq!(remembered(&file, &lists(Scope::Any)), None);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_list_that_cannot_be_written_leaves_the_file_as_it_was() {
        let full = Path::new("/dev/full/openarena.list");
        assert!(remember(full, &[]).is_err());
    }
}
