//! Where servers and answers come from: list servers, files and queries, in tasks of the runtime.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use queryport::games::Game;
use queryport::lists::Scope;
use queryport::net::{ScanTarget, Servers};
use queryport::{Client, Dialect, Protocol, QueryOptions, ScanOptions, Timing};
use shared::masters;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::{JoinHandle, LocalSet, spawn_local};

use super::command_line::message;
use super::port::Port;
use super::state::{Event, QueryResult};
use super::target::{Identity, Target, What};
use crate::server_list::ServerList;

/// Events that wait to be taken. A slow screen slows the scan down.
const QUEUE: usize = 1024;

/// The list of servers to browse.
#[derive(Debug, Clone)]
pub(crate) enum List {
    /// A game, and the addresses to accept from its list servers.
    Game(&'static Game, Scope),
    /// A file with one server a line, and the protocol of lines that name neither protocol nor
    /// game.
    File(PathBuf, Protocol),
    Servers(Vec<Target>),
}

/// Work for the thread that queries.
#[derive(Debug)]
enum Work {
    /// The list is read, and each server queried; an earlier scan ends.
    Scan,
    Refresh(Vec<Target>),
}

/// The thread that queries, and the events that it reports. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Source {
    work: mpsc::UnboundedSender<Work>,
    pub(crate) events: Receiver<Event>,
}

impl Source {
    /// Starts a thread, because a `Scan` stays on the thread that made it: drawing does not
    /// lengthen round trips.
    pub(crate) fn new(list: List, client: Client, port: Port) -> io::Result<Self> {
        let (work, received) = mpsc::unbounded_channel();
        let (sender, events) = mpsc::channel(QUEUE);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let working = move || {
            LocalSet::new().block_on(&runtime, query_all(list, client, port, received, sender));
        };
        std::thread::Builder::new()
            .name("queries".to_owned())
            .spawn(working)?;
        Ok(Self { work, events })
    }

    /// Reads the list and queries each server; an earlier scan ends.
    pub(crate) fn scan(&self) {
        let _ = self.work.send(Work::Scan);
    }

    /// Queries these again.
    pub(crate) fn refresh(&self, targets: Vec<Target>) {
        let _ = self.work.send(Work::Refresh(targets));
    }
}

async fn query_all(
    list: List,
    client: Client,
    port: Port,
    mut received: mpsc::UnboundedReceiver<Work>,
    events: Sender<Event>,
) {
    let mut scan: Option<JoinHandle<()>> = None;
    let client = port.fixed(client);
    while let Some(work) = received.recv().await {
        let (client, port, events) = (client.clone(), port.clone(), events.clone());
        match work {
            Work::Scan => {
                if let Some(earlier) = scan.take() {
                    earlier.abort();
                    // No event of the earlier scan comes after this.
                    let _ = earlier.await;
                }
                let _ = events.send(Event::ScanStarted).await;
                let (sender, receiver) = mpsc::channel(QUEUE);
                let listing = Listing {
                    events: events.clone(),
                    targets: sender,
                    seen: BTreeSet::new(),
                };
                let reading = listing.read(list.clone(), port.any(client.clone()));
                scan = Some(spawn_local(async move {
                    let _turn = port.turn().await;
                    let querying = query(&client, receiver, &events, Event::Scanned);
                    let (queried, ()) = tokio::join!(querying, reading);
                    report(queried, Event::ScanEnded, &events).await;
                }));
            }
            Work::Refresh(targets) => {
                let (sender, receiver) = mpsc::channel(targets.len().max(1));
                for target in targets {
                    let _ = sender.try_send(target);
                }
                // The queue holds all targets, and ends after them.
                drop(sender);
                spawn_local(async move {
                    let _turn = port.turn().await;
                    let queried = query(&client, receiver, &events, Event::Refreshed).await;
                    report(queried, Event::RefreshEnded, &events).await;
                });
            }
        }
    }
}

async fn report(queried: Result<(), queryport::Error>, end: Event, events: &Sender<Event>) {
    if let Err(error) = queried {
        let _ = events.send(Event::Note(message(&error))).await;
    }
    let _ = events.send(end).await;
}

/// Queries targets as they come, and sends each result as such an event.
async fn query(
    client: &Client,
    targets: Receiver<Target>,
    events: &Sender<Event>,
    event: fn(Target, Box<QueryResult>) -> Event,
) -> Result<(), queryport::Error> {
    let (sender, mut order) = mpsc::unbounded_channel();
    let mut handed = Vec::new();
    let mut scan = client.scan_stream(
        Targets {
            targets,
            order: sender,
        },
        ScanOptions::default(),
    )?;
    while let Some(scanned) = scan.next().await {
        while let Ok(target) = order.try_recv() {
            handed.push(target);
        }
        let number = usize::try_from(scanned.index).unwrap_or(usize::MAX);
        let Some(target) = handed.get(number) else {
            continue;
        };
        if events
            .send(event(target.clone(), Box::new(scanned.result)))
            .await
            .is_err()
        {
            break;
        }
    }
    Ok(())
}

/// The targets of a scan, which are told apart by the order in which it takes them.
struct Targets {
    targets: Receiver<Target>,
    order: mpsc::UnboundedSender<Target>,
}

impl Stream for Targets {
    type Item = ScanTarget;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ScanTarget>> {
        let next = ready!(self.targets.poll_recv(cx));
        Poll::Ready(next.map(|target| {
            let _ = self.order.send(target.clone());
            target.0.target(&target.1)
        }))
    }
}

/// A list on its way to the scan, each server once.
struct Listing {
    events: Sender<Event>,
    targets: Sender<Target>,
    seen: BTreeSet<Identity>,
}

impl Listing {
    async fn read(mut self, list: List, client: Client) {
        match list {
            List::Servers(servers) => {
                for target in servers {
                    if !self.add(target).await {
                        return;
                    }
                }
            }
            List::Game(game, scope) => match client.servers(game) {
                Ok(servers) => {
                    let mut servers = servers.with_scope(scope);
                    while let Some(listed) = servers.next().await {
                        if !self.add(listed_target(game, listed.server)).await {
                            return;
                        }
                    }
                    for problem in problems(&servers) {
                        self.note(problem).await;
                    }
                }
                Err(error) => self.note(message(&error)).await,
            },
            List::File(path, protocol) => {
                let mut targets = read(path, protocol);
                while let Some(target) = targets.recv().await {
                    match target {
                        Ok(target) => {
                            if !self.add(target).await {
                                return;
                            }
                        }
                        Err(why) => drop(self.events.send(Event::Rejected(why)).await),
                    }
                }
            }
        }
        let _ = self.events.send(Event::ListEnded).await;
    }

    /// Hands a server on; `false` when nobody takes it.
    async fn add(&mut self, target: Target) -> bool {
        if !self.seen.insert(Identity::of(target.0, &target.1)) {
            return true;
        }
        self.events
            .send(Event::Listed(target.clone()))
            .await
            .is_ok()
            && self.targets.send(target).await.is_ok()
    }

    async fn note(&self, note: String) {
        let _ = self.events.send(Event::Note(note)).await;
    }
}

/// A server of a game's list. A list has query addresses, so the game is kept only if players connect
/// to the same port.
fn listed_target(game: &'static Game, server: SocketAddr) -> Target {
    let what = match game.query_port.of(server.port()) == Some(server.port()) {
        true => What::Game(game),
        false => What::Protocol(game.protocol),
    };
    (what, server.to_string())
}

/// The problems of the lists. If there is no list, they are one message.
fn problems(servers: &Servers) -> Vec<String> {
    let reports = servers.masters();
    let failures: Vec<String> = reports.iter().filter_map(masters::failure).collect();
    if failures.len() == reports.len() {
        return vec![masters::no_list(&failures)];
    }
    let cut = reports.iter().filter_map(|report| {
        let known = report.list.as_ref()?.as_ref().ok()?.completeness;
        let (address, count) = (&report.address, report.servers);
        (!known.is_settled()).then(|| format!("{address}: {count} servers, {known}"))
    });
    failures.into_iter().chain(cut).collect()
}

/// The servers of a file, or of standard input for `-`. A separate thread reads them, because a
/// read blocks and may never end.
fn read(path: PathBuf, protocol: Protocol) -> Receiver<Result<Target, String>> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    std::thread::spawn(move || {
        let list = match ServerList::open(&path, Some(protocol.into())) {
            Ok(list) => list,
            Err(error) => {
                let why = format!("{}: {}", path.display(), message(&error));
                let _ = sender.blocking_send(Err(why));
                return;
            }
        };
        for target in list {
            if sender.blocking_send(target).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A client for the list, with the dialect of its game.
pub(crate) fn client(
    list: &List,
    (timeout, retries): (Duration, u8),
) -> Result<Client, queryport::Error> {
    let dialect = if let List::Game(game, _) = list {
        game.dialect
    } else {
        Dialect::Standard
    };
    let options = QueryOptions::default().with_dialect(dialect);
    let timing = Timing::default()
        .with_timeout(timeout)
        .with_retries(retries);
    Ok(Client::new()?.with_timing(timing).with_options(options))
}
