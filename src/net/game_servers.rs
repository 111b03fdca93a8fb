//! The servers of a game, from all its list servers at once.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::client::Client;
use super::error::Error;
use super::exchange::now;
use crate::address::network;
use crate::error::EncodeError;
use crate::games::{Game, Master, MasterForm};
use crate::gamespy1::secure::GameKey;
use crate::model::{ListCompleteness, ServerList};
use crate::protocol::Protocol;
use crate::quake3::master::{ListQuery, ListRequest, Scope, cod4x_session};
use crate::{gamespy1, gamespy4, ut2004};

/// The public client that 333networks and OpenSpy let list any game, and its key (molycode/lookout-games,
/// protocols/gamespy1.lua; 333networks/Masterserver-Qt5, data/SupportedGames.json).
const LIST_CLIENT: (&str, &str) = ("gspylite", "mgNUaC");
/// OpenSpy has taken 30 s for a list, in pieces (openspy/openspy-core#12).
const LIST_TIMEOUT: Duration = Duration::from_secs(45);
/// A list server is asked for the same list no sooner.
const LEAST_INTERVAL: Duration = Duration::from_secs(60);
/// Most servers at one host, so that a list cannot direct a scan at a victim. dpmaster has 32 at most.
const MAX_PER_HOST: usize = 256;
/// The TCP port of `CoD4X`'s list server.
const COD4X_PORT: u16 = 20810;
/// Events of list servers that wait to be taken.
const QUEUE: usize = 256;

/// The servers of a game as its list servers name them: a `Stream`, each server once. See [`Client::servers`].
///
/// List servers are asked from the first call of [`Self::next`] on. Dropping it ends all connections.
#[derive(Debug)]
pub struct GameServers {
    client: Client,
    game: Game,
    scope: Scope,
    timeout: Duration,
    interval: Duration,
    masters: Vec<MasterReport>,
    seen: BTreeSet<SocketAddr>,
    /// How many of them are at each IPv4 address and each /64 of IPv6.
    at_host: BTreeMap<IpAddr, usize>,
    /// From the first call on.
    events: Option<mpsc::Receiver<(usize, Event)>>,
    tasks: JoinSet<()>,
}

/// A server that a list names. Its address is that of its query port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The address and query port.
    pub server: SocketAddr,
    /// The protocol to query it in.
    pub protocol: Protocol,
    /// The first list server that named it: the index in [`GameServers::masters`].
    pub origin: usize,
}

/// A list server, and what has come from it.
#[derive(Debug)]
#[non_exhaustive]
pub struct MasterReport {
    /// The list server.
    pub master: Master,
    /// The servers that it has named.
    pub servers: usize,
    /// Those among them that were left out because the lists name more than 256 ports at one host.
    pub left_out: usize,
    /// The bytes of a list over TCP so far.
    pub bytes: usize,
    /// Whether the list is from memory, because the list server was asked a short time ago.
    pub remembered: bool,
    /// The end: the list, or why there is none. `None` while it is awaited.
    pub list: Option<Result<ServerList, Error>>,
}

#[derive(Debug)]
enum Event {
    Server(SocketAddr),
    Bytes(usize),
    Remembered,
    End(Result<ServerList, Error>),
}

impl Client {
    /// Asks all list servers of a game at once for its servers, and merges their lists.
    ///
    /// Quake 3 masters are asked for each protocol number of the game in turn, `empty full`, GameSpy v1 list servers with the
    /// public key for lists, GameSpy v2's with [`Game::key`]. A list by protocol number alone may hold other games:
    /// [`Game::of`] tells when they have answered.
    ///
    /// The client and its clones ask a list server for the same list once a minute at most, and take it from memory before.
    ///
    /// ```no_run
    /// use queryport::Client;
    /// use queryport::games::Game;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut servers = Client::new()?.servers(Game::find("openarena")?)?;
    /// while let Some(listed) = servers.next().await {
    ///     println!("{} {}", listed.protocol, listed.server);
    /// }
    /// for report in servers.masters() {
    ///     match &report.list {
    ///         Some(Ok(list)) => println!("{}: {} servers, {}", report.master.address, report.servers, list.completeness),
    ///         Some(Err(error)) => println!("{}: {error}", report.master.address),
    ///         None => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoMaster`] if the game has no list server, or not the name, number or key that they need. Failures of list servers are in
    /// [`GameServers::masters`].
    pub fn servers(&self, game: &Game) -> Result<GameServers, Error> {
        let can_ask = |master: &&Master| match master.form {
            MasterForm::GameSpy1 => game.gamename.is_some(),
            MasterForm::GameSpy2 => game.gamename.is_some() && game.key.is_some(),
            MasterForm::Long => game.gamename.is_some() && !game.numbers.is_empty(),
            _ => !game.numbers.is_empty(),
        };
        let report = |master: &Master| MasterReport {
            master: *master,
            servers: 0,
            bytes: 0,
            remembered: false,
            left_out: 0,
            list: None,
        };
        let masters: Vec<MasterReport> = game.masters.iter().filter(can_ask).map(report).collect();
        if masters.is_empty() {
            return Err(Error::NoMaster { game: game.id, known: game.masters.len() });
        }
        Ok(GameServers {
            client: self.clone(),
            game: *game,
            scope: Scope::default(),
            timeout: LIST_TIMEOUT,
            interval: LEAST_INTERVAL,
            masters,
            seen: BTreeSet::new(),
            at_host: BTreeMap::new(),
            events: None,
            tasks: JoinSet::new(),
        })
    }
}

impl GameServers {
    /// Which addresses are taken; default [`Scope::Lan`].
    #[must_use]
    pub const fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets how long a list over TCP may take: 45 s by default, since long lists come slowly. Quake 3 masters are asked with
    /// the client's timing.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how old a list from memory may be, in place of asking again: 60 s by default.
    #[must_use]
    pub const fn with_least_interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// The next server; `None` after the last list has ended. Cancel-safe: race it with a timer and look at
    /// [`Self::masters`] to show progress.
    pub async fn next(&mut self) -> Option<Listed> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// The list servers that are asked, and how far each is.
    #[must_use]
    pub fn masters(&self) -> &[MasterReport] {
        &self.masters
    }

    /// Starts to ask all list servers.
    fn start(&mut self) -> mpsc::Receiver<(usize, Event)> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        for (index, report) in self.masters.iter().enumerate() {
            let inquiry = Inquiry {
                client: self.client.clone(),
                game: self.game,
                master: report.master,
                scope: self.scope,
                timeout: self.timeout,
                index,
                sender: sender.clone(),
            };
            let interval = self.interval;
            self.tasks.spawn(inquiry.run(interval));
        }
        receiver
    }
}

impl Stream for GameServers {
    type Item = Listed;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Listed>> {
        if self.events.is_none() {
            self.events = Some(self.start());
        }
        let this = &mut *self;
        let Some(events) = &mut this.events else { return Poll::Ready(None) };
        while let Some((origin, event)) = ready!(events.poll_recv(cx)) {
            let Some(report) = this.masters.get_mut(origin) else { continue };
            match event {
                Event::Server(server) => {
                    report.servers = report.servers.saturating_add(1);
                    if this.seen.contains(&server) {
                        continue;
                    }
                    let at_host = this.at_host.entry(network(server.ip(), 32, 64)).or_default();
                    if *at_host < MAX_PER_HOST {
                        *at_host = at_host.saturating_add(1);
                        this.seen.insert(server);
                        return Poll::Ready(Some(Listed { server, protocol: this.game.protocol, origin }));
                    }
                    report.left_out = report.left_out.saturating_add(1);
                }
                Event::Bytes(bytes) => report.bytes = bytes,
                Event::Remembered => report.remembered = true,
                Event::End(list) => report.list = Some(list),
            }
        }
        Poll::Ready(None)
    }
}

/// One list server, asked in a task of its own.
struct Inquiry {
    client: Client,
    game: Game,
    master: Master,
    scope: Scope,
    timeout: Duration,
    index: usize,
    sender: mpsc::Sender<(usize, Event)>,
}

impl Inquiry {
    async fn run(self, interval: Duration) {
        let memory = Arc::clone(&self.client.lists);
        let (game, master) = (&self.game, self.master);
        let request = format!("{master:?} {:?} {:?} {:?}", game.gamename, game.numbers, self.scope);
        let list = match memory.get(&request, interval) {
            Some(list) => {
                self.tell(Event::Remembered).await;
                self.tell_all(&list).await;
                Ok(list)
            }
            None => self.ask().await.inspect(|list| memory.put(request, list)),
        };
        self.tell(Event::End(list)).await;
    }

    async fn ask(&self) -> Result<ServerList, Error> {
        let (game, address) = (&self.game, self.master.address);
        let gamename = game.gamename.unwrap_or_default();
        let mut received = 0;
        let progress = |bytes| {
            received = bytes;
            // What finds no place in the queue is told by the next one.
            let _ = self.sender.try_send((self.index, Event::Bytes(bytes)));
        };
        let client = self.client.clone().with_deadline(self.timeout);
        let client = client.with_timing(self.client.timing.with_timeout(self.timeout));
        let mut list = match self.master.form {
            MasterForm::GameSpy1 => {
                let (login, key) = LIST_CLIENT;
                let mut request = gamespy1::list::ListRequest::new(gamename, GameKey::new(key)?);
                login.clone_into(&mut request.login);
                let session = |_, timing| gamespy1::list::ListSession::new(request.clone(), timing, now());
                client.list(address, gamespy1::list::LIST_PORT, progress, session).await?
            }
            MasterForm::GameSpy2 => {
                let request = gamespy4::list::ListRequest::new(gamename, game.key.unwrap_or_default());
                let session = |peer, timing| {
                    gamespy4::list::ListSession::new(request.clone(), client.nonce(peer), timing, now())
                };
                client.list(address, gamespy4::list::LIST_PORT, progress, session).await?.servers
            }
            MasterForm::Ut2004 => {
                let version = self.number().try_into().unwrap_or_default();
                let request = ut2004::list::ListRequest { version, ..ut2004::list::ListRequest::ut2004() };
                let session = |_, timing| ut2004::list::ListSession::new(request.clone(), timing, now());
                client.list(address, ut2004::list::LIST_PORT, progress, session).await?.servers
            }
            MasterForm::Cod4x => {
                let session = |_, timing| cod4x_session(self.number(), timing, now());
                client.list(address, COD4X_PORT, progress, session).await?
            }
            MasterForm::Short | MasterForm::Unmarked | MasterForm::Hexadecimal | MasterForm::Long => {
                return self.quake3().await;
            }
        };
        self.tell(Event::Bytes(received)).await;
        let listed = list.servers.len();
        list.servers.retain(|server| self.scope.admits(*server));
        let left_out = listed.saturating_sub(list.servers.len());
        list.out_of_scope = u32::try_from(left_out).unwrap_or(u32::MAX);
        self.tell_all(&list).await;
        Ok(list)
    }

    /// The commonest number.
    fn number(&self) -> i32 {
        self.game.numbers.first().map_or(0, |(number, _)| *number)
    }

    /// Each number in turn; a master that does not answer the first is not asked for the others.
    async fn quake3(&self) -> Result<ServerList, Error> {
        let limits = &self.client.options.limits;
        let mut merged: Option<ServerList> = None;
        for (number, _) in self.game.numbers {
            let request = match (self.master.form, self.game.gamename) {
                (MasterForm::Long, Some(name)) => ListRequest::extended(name.as_bytes(), *number),
                _ => ListRequest::new(*number),
            };
            let request = ListRequest { empty: true, full: true, ..request };
            let query = ListQuery::new(&request, limits)?.with_scope(self.scope);
            match self.quake3_list(query).await {
                Ok(list) => merged = Some(merge(merged, list, limits.max_servers())),
                // One of several lists is missing.
                Err(error) => match &mut merged {
                    None => return Err(error),
                    Some(merged) => merged.completeness = ListCompleteness::Incomplete,
                },
            }
        }
        merged.ok_or(Error::Request(EncodeError::Empty("protocol number")))
    }

    async fn quake3_list(&self, query: ListQuery) -> Result<ServerList, Error> {
        let mut servers = self.client.quake3_servers(self.master.address, query).await?;
        while let Some(server) = servers.next().await? {
            self.tell(Event::Server(server)).await;
        }
        Ok(servers.finish().await?.answer)
    }

    async fn tell_all(&self, list: &ServerList) {
        for server in &list.servers {
            self.tell(Event::Server(*server)).await;
        }
    }

    /// Nobody listens any more after the stream was dropped, which ends the task as well.
    async fn tell(&self, event: Event) {
        let _ = self.sender.send((self.index, event)).await;
    }
}

/// The lists of two protocol numbers as one, both over UDP.
fn merge(before: Option<ServerList>, mut list: ServerList, max_servers: usize) -> ServerList {
    use ListCompleteness::Passes;
    let Some(mut merged) = before else { return list };
    let known: BTreeSet<SocketAddr> = merged.servers.iter().copied().collect();
    list.servers.retain(|server| !known.contains(server));
    let room = max_servers.saturating_sub(merged.servers.len());
    let over = u32::try_from(list.servers.len().saturating_sub(room)).unwrap_or(u32::MAX);
    merged.servers.extend(list.servers.into_iter().take(room));
    merged.over_limit = merged.over_limit.saturating_add(list.over_limit).saturating_add(over);
    merged.out_of_scope = merged.out_of_scope.saturating_add(list.out_of_scope);
    merged.completeness = match (merged.completeness, list.completeness) {
        (Passes { count, once }, Passes { count: other_count, once: other_once }) if over == 0 => {
            Passes { count: count.min(other_count), once: once.saturating_add(other_once) }
        }
        _ => ListCompleteness::Incomplete,
    };
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTLED: ListCompleteness = ListCompleteness::Passes { count: 2, once: 0 };

    fn list(hosts: std::ops::Range<u8>, completeness: ListCompleteness) -> ServerList {
        let servers = hosts.map(|host| ([192, 0, 2, host], 27960).into()).collect();
        ServerList { servers, completeness, over_limit: 1, out_of_scope: 2 }
    }

    #[test]
    fn lists_of_two_numbers_are_one_with_each_server_once() {
        let merged = merge(None, list(1..4, SETTLED), 100);
        let merged = merge(Some(merged), list(3..6, SETTLED), 100);
        let hosts: Vec<SocketAddr> = (1..6).map(|host| ([192, 0, 2, host], 27960).into()).collect();
        assert_eq!(merged.servers, hosts);
        assert_eq!((merged.over_limit, merged.out_of_scope), (2, 4));
        assert_eq!(merged.completeness, SETTLED);
    }

    #[test]
    fn a_merged_list_is_settled_only_if_both_are_and_all_fit() {
        let lossy = ListCompleteness::Passes { count: 3, once: 7 };
        let incomplete = ListCompleteness::Incomplete;
        for (first, second, most, expected) in [
            (SETTLED, SETTLED, 5, SETTLED),
            (SETTLED, lossy, 5, ListCompleteness::Passes { count: 2, once: 7 }),
            (lossy, lossy, 5, ListCompleteness::Passes { count: 3, once: 14 }),
            (incomplete, SETTLED, 5, incomplete),
            (SETTLED, incomplete, 5, incomplete),
            (SETTLED, SETTLED, 3, incomplete),
        ] {
            let merged = merge(Some(list(1..4, first)), list(3..6, second), most);
            assert_eq!(merged.servers.len(), 5.min(most));
            assert_eq!(merged.over_limit, 2 + u32::from(most < 5) * 2);
            assert_eq!(merged.completeness, expected, "{first} and {second}");
        }
    }
}
