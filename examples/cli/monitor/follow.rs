//! The queries of the watched servers, and the file of servers while it changes.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use tokio::task::{JoinHandle, spawn_local};

use super::target::Identity;
use super::watch::{self, Sender, Server, Shared};
use super::{Arguments, command_line, counts, servers};

/// The time between two looks at the file.
pub(crate) const PAUSE: Duration = Duration::from_secs(2);
/// The first servers are queried at once, so that a short list is complete soon. The others start
/// one after the other over one interval.
const AT_ONCE: usize = 10;

/// The queries of each watched server, in tasks.
pub(crate) struct Queries<'a> {
    arguments: &'a Arguments,
    sender: Sender,
    watched: Shared,
    tasks: BTreeMap<Identity, JoinHandle<()>>,
}

impl<'a> Queries<'a> {
    /// Begins the queries of all watched servers.
    pub(crate) fn new(arguments: &'a Arguments, sender: Sender, watched: Shared) -> Self {
        let mut queries = Self {
            arguments,
            sender,
            watched,
            tasks: BTreeMap::new(),
        };
        queries.begin();
        queries
    }

    /// Begins the queries of the servers that have none.
    fn begin(&mut self) {
        let interval = Duration::from_secs_f64(self.arguments.interval);
        let watched = self.watched.borrow();
        let identities = watched.servers.iter().map(|server| &server.identity);
        let new: Vec<&Identity> = identities
            .filter(|identity| !self.tasks.contains_key(identity))
            .collect();
        for (number, identity) in new.iter().enumerate() {
            let delay = match number {
                ..AT_ONCE => Duration::ZERO,
                number => interval.mul_f64(number as f64 / new.len() as f64),
            };
            let task = spawn_local(watch::watch_server(
                self.sender.clone(),
                Rc::clone(&self.watched),
                (*identity).clone(),
                (delay, interval),
                self.arguments.events,
            ));
            self.tasks.insert((*identity).clone(), task);
        }
    }

    /// Watches these servers from now on. Those that were watched before keep their history.
    fn change(&mut self, listed: Vec<Server>) {
        {
            let mut watched = self.watched.borrow_mut();
            watched.list = Some(Ok(()));
            let known = std::mem::take(&mut watched.servers).into_iter();
            let known = known.map(|server| (server.identity.clone(), server));
            let mut known: BTreeMap<Identity, Server> = known.collect();
            let listed = listed.into_iter();
            watched.servers = listed
                .map(|server| match known.remove(&server.identity) {
                    Some(mut known) => {
                        known.note = server.note;
                        known
                    }
                    None => server,
                })
                .collect();
            for identity in known.keys() {
                if let Some(task) = self.tasks.remove(identity) {
                    task.abort();
                }
            }
        }
        self.begin();
    }

    /// Reads the file of servers again whenever it changes. A file with a wrong line changes
    /// nothing.
    pub(crate) async fn follow(mut self, file: Option<&Path>, pause: Duration) {
        let Some(file) = file else {
            return std::future::pending().await;
        };
        let mut read = changed(file);
        if read.is_none() {
            return std::future::pending().await;
        }
        loop {
            tokio::time::sleep(pause).await;
            let latest = changed(file);
            if latest == read {
                continue;
            }
            read = latest;
            let listed = match read {
                Some(_) => servers(self.arguments).map_err(|why| why.to_string()),
                None => Err(format!("{} is gone", file.display())),
            };
            let line = match listed {
                Ok(servers) => {
                    let count = counts(servers.len() as u64, self.arguments.game.len() as u64);
                    self.change(servers);
                    format!("{} has changed: watching {count}", file.display())
                }
                Err(why) => {
                    let line = format!("{why}; the list stays as it was");
                    self.watched.borrow_mut().list = Some(Err(why));
                    line
                }
            };
            command_line::complain(&line);
        }
    }
}

/// When a file was changed, and its length; `None` for others, such as standard input.
fn changed(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(file).ok()?;
    let time = metadata.modified().ok()?;
    metadata.is_file().then_some((time, metadata.len()))
}
