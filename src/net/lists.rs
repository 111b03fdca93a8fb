//! Lists of servers, from one list server or from all those of a game.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::client::Client;
use super::error::Error;
use super::exchange::{Exchange, now};
use super::server::Server;
use crate::address::network;
use crate::error::{EncodeError, ErrorKind};
#[cfg(feature = "games")]
use crate::games::Game;
use crate::lists::{ListCompleteness, ListRequest, ListSession, Quake3List, Scope, ServerList};
use crate::session::Outcome;

/// OpenSpy has taken 30 s for a list, in pieces (openspy/openspy-core#12).
const LIST_TIMEOUT: Duration = Duration::from_secs(45);
/// A list server of a game is asked for the same list no sooner.
#[cfg(feature = "games")]
const LEAST_INTERVAL: Duration = Duration::from_secs(60);
/// Most servers at one host, so that a list cannot direct a scan at a victim. dpmaster has 32 at most.
const MAX_PER_HOST: usize = 256;
/// Events of list servers that wait to be taken.
const QUEUE: usize = 256;

/// The servers that list servers name: a `Stream`, each server once. See [`Client::servers`] and [`Client::servers_at`].
///
/// List servers are asked from the first call of [`Self::next`] on. Dropping it ends all connections.
#[derive(Debug)]
pub struct Servers {
    options: Options,
    requests: Vec<Vec<ListRequest>>,
    masters: Vec<MasterReport>,
    seen: BTreeSet<SocketAddr>,
    /// How many of them are at each IPv4 address and each /64 of IPv6.
    at_host: BTreeMap<IpAddr, usize>,
    /// From the first call on.
    events: Option<mpsc::Receiver<(usize, Event)>>,
    tasks: JoinSet<()>,
}

/// A server that a list names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The address and query port.
    pub server: SocketAddr,
    /// The first list server that named it: the index in [`Servers::masters`].
    pub origin: usize,
}

/// A list server, and what has come from it.
#[derive(Debug)]
#[non_exhaustive]
pub struct MasterReport {
    /// The list server, as it was given: `HOST` or `HOST:PORT`.
    pub address: String,
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

/// How list servers are asked.
#[derive(Debug, Clone)]
struct Options {
    client: Client,
    scope: Scope,
    timeout: Duration,
    interval: Duration,
}

#[derive(Debug)]
enum Event {
    Server(SocketAddr),
    Bytes(usize),
    Remembered,
    End(Result<ServerList, Error>),
}

impl Client {
    /// The servers that one list server knows. `master` is a host name or address, with `:port` where it is not
    /// [`ListRequest::default_port`]. A list over TCP may take as long as [`Self::with_deadline`] says.
    ///
    /// ```no_run
    /// use queryport::Client;
    /// use queryport::lists::GameSpy2List;
    ///
    /// # async fn example() -> Result<(), queryport::Error> {
    /// let list = Client::new()?
    ///     .list("master.example.org", GameSpy2List::new("swat4", "tG3j8c"))
    ///     .await?;
    /// println!("{} servers, {}", list.servers.len(), list.completeness);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::List`] or [`Error::Query`] when it gave no list, [`Error::BadAddress`], [`Error::Resolve`] and [`Error::Io`] when it
    /// could not be reached.
    pub async fn list(&self, master: &str, request: impl Into<ListRequest>) -> Result<ServerList, Error> {
        let mut servers = self.servers_at(master, request);
        while servers.next().await.is_some() {}
        servers.into_list()
    }

    /// The servers that one list server knows, as they come. See [`Self::list`].
    pub fn servers_at(&self, master: &str, request: impl Into<ListRequest>) -> Servers {
        let servers = Servers::new(self, vec![(master.to_owned(), vec![request.into()])], Duration::ZERO);
        servers.with_timeout(self.deadline)
    }

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
    ///     println!("{}", listed.server);
    /// }
    /// for report in servers.masters() {
    ///     match &report.list {
    ///         Some(Ok(list)) => println!(
    ///             "{}: {} servers, {}",
    ///             report.address, report.servers, list.completeness
    ///         ),
    ///         Some(Err(error)) => println!("{}: {error}", report.address),
    ///         None => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoMaster`] if the game has no list server, or not the name, number or key that they need. Failures of list servers
    /// are in [`Servers::masters`].
    #[cfg(feature = "games")]
    #[cfg_attr(docsrs, doc(cfg(feature = "games")))]
    pub fn servers(&self, game: &Game) -> Result<Servers, Error> {
        let requests = |master| game.list_requests(master, &self.options.limits);
        let masters = game.masters.iter().map(|master| (master.address.to_owned(), requests(master)));
        let masters: Vec<_> = masters.filter(|(_, requests)| !requests.is_empty()).collect();
        if masters.is_empty() {
            return Err(Error::NoMaster { game: game.id, known: game.masters.len() });
        }
        Ok(Servers::new(self, masters, LEAST_INTERVAL))
    }
}

impl Servers {
    fn new(client: &Client, masters: Vec<(String, Vec<ListRequest>)>, interval: Duration) -> Self {
        let (addresses, requests): (Vec<_>, _) = masters.into_iter().unzip();
        let report = |address| MasterReport {
            address,
            servers: 0,
            left_out: 0,
            bytes: 0,
            remembered: false,
            list: None,
        };
        Self {
            options: Options {
                client: client.clone(),
                scope: Scope::default(),
                timeout: LIST_TIMEOUT,
                interval,
            },
            requests,
            masters: addresses.into_iter().map(report).collect(),
            seen: BTreeSet::new(),
            at_host: BTreeMap::new(),
            events: None,
            tasks: JoinSet::new(),
        }
    }

    /// Which addresses are taken; default [`Scope::Lan`].
    #[must_use]
    pub const fn with_scope(mut self, scope: Scope) -> Self {
        self.options.scope = scope;
        self
    }

    /// Sets how long a list over TCP may take. For the list servers of a game 45 s by default, since long lists come slowly; for one
    /// that was given by its address, the client's deadline. Quake 3 masters are asked with the client's timing.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = timeout;
        self
    }

    /// Sets how old a list from memory may be, in place of asking again: 60 s by default for the list servers of a game, 0 for one
    /// that was given by its address.
    #[must_use]
    pub const fn with_least_interval(mut self, interval: Duration) -> Self {
        self.options.interval = interval;
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

    /// The list of the first list server, after the last server.
    ///
    /// # Errors
    /// Why there is none. [`Error::BadAddress`] before the end.
    pub fn into_list(self) -> Result<ServerList, Error> {
        let first = self.masters.into_iter().next();
        let (address, list) = first.map(|report| (report.address, report.list)).unwrap_or_default();
        list.unwrap_or_else(|| Err(Error::BadAddress { text: address, why: "its list has not ended" }))
    }
}

impl Stream for Servers {
    type Item = Listed;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Listed>> {
        let this = &mut *self;
        let events = this.events.get_or_insert_with(|| {
            let (sender, receiver) = mpsc::channel(QUEUE);
            let requests = std::mem::take(&mut this.requests);
            for (index, (report, requests)) in this.masters.iter().zip(requests).enumerate() {
                let (options, master, sender) =
                    (this.options.clone(), report.address.clone(), sender.clone());
                this.tasks.spawn(Inquiry { options, master, requests, index, sender }.run());
            }
            receiver
        });
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
                        return Poll::Ready(Some(Listed { server, origin }));
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
    options: Options,
    master: String,
    requests: Vec<ListRequest>,
    index: usize,
    sender: mpsc::Sender<(usize, Event)>,
}

impl Inquiry {
    async fn run(self) {
        let Options { client, scope, interval, .. } = &self.options;
        let key = format!("{} {:?} {scope:?}", self.master, self.requests);
        let lists = || client.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            lists().get(&key).filter(|(read, _)| read.elapsed() < *interval).map(|(_, list)| list.clone());
        let list = match known {
            Some(list) => {
                self.tell(Event::Remembered).await;
                self.tell_all(&list.servers).await;
                Ok(list)
            }
            None => self.ask_all().await.inspect(|list| {
                if *interval > Duration::ZERO {
                    lists().insert(key, (Instant::now(), list.clone()));
                }
            }),
        };
        self.tell(Event::End(list)).await;
    }

    /// Sends each request in turn. A list server that cannot be reached is not asked for the other numbers; one that is silent is,
    /// since AlterWare's sends nothing where it has no server of a number.
    async fn ask_all(&self) -> Result<ServerList, Error> {
        let (mut merged, mut failed): (Option<ServerList>, Option<Error>) = (None, None);
        let max_servers = self.options.client.options.limits.max_servers();
        for request in &self.requests {
            match self.ask(request).await {
                Ok(list) => merged = Some(merge(merged, list, max_servers)),
                Err(error) => {
                    let is_silent = error.kind() == ErrorKind::Offline;
                    failed.get_or_insert(error);
                    if merged.is_none() && !is_silent {
                        break;
                    }
                }
            }
        }
        match (merged, failed) {
            (Some(list), None) => Ok(list),
            // One of several lists is missing.
            (Some(list), Some(_)) => Ok(ServerList { completeness: ListCompleteness::Incomplete, ..list }),
            (None, error) => Err(error.unwrap_or(Error::Request(EncodeError::Empty("protocol number")))),
        }
    }

    /// Asks the addresses of the list server one after the other until one gives a list.
    async fn ask(&self, request: &ListRequest) -> Result<ServerList, Error> {
        let Options { client, scope, timeout, .. } = &self.options;
        let mut client = client.clone();
        if !matches!(request, ListRequest::Quake3(_)) {
            client = client.with_deadline(*timeout);
            client.timing = client.timing.with_timeout(*timeout);
        }
        let mut attempts = client.attempts(&Server::from(&self.master), request.default_port()).await?;
        loop {
            let mut told = 0;
            let (peer, timing) = (attempts.address, attempts.timing());
            let list = match request.clone() {
                ListRequest::Quake3(query) => {
                    match client.exchange(query.with_scope(*scope), peer, timing).await {
                        Ok(exchange) => self.over_udp(exchange, &mut told).await,
                        Err(error) => Err(error),
                    }
                }
                request => {
                    let session = request.session(client.nonce(peer), timing, now());
                    let session = session.ok_or(Error::Request(EncodeError::Empty("list request")))?;
                    self.over_tcp(peer, session.with_limits(client.options.limits)).await
                }
            };
            // Another address would name the same servers again.
            if list.is_ok() || told > 0 || !attempts.advance() {
                return list;
            }
        }
    }

    /// Fetches a list over UDP, and counts the servers that were handed over.
    async fn over_udp(
        &self,
        mut exchange: Exchange<Quake3List>,
        told: &mut usize,
    ) -> Result<ServerList, Error> {
        loop {
            let outcome = exchange.advance().await?;
            let new: Vec<SocketAddr> = exchange.conversation_mut().take_new().collect();
            *told = told.saturating_add(new.len());
            self.tell_all(&new).await;
            if let Some(Outcome { answer: list, .. }) = outcome {
                self.tell_all(list.servers.get(*told..).unwrap_or_default()).await;
                return Ok(list);
            }
        }
    }

    /// Fetches a list over TCP. What has arrived when the time is over is returned as incomplete.
    async fn over_tcp(&self, peer: SocketAddr, mut session: ListSession) -> Result<ServerList, Error> {
        let end = Instant::from(session.deadline());
        let mut stream = until(end, "connect to the list server", TcpStream::connect(peer)).await?;
        let (mut out, mut buffer, mut received) = (Vec::new(), [0; 4096], 0_usize);
        let mut list = loop {
            if let Some(result) = session.poll_answer() {
                self.tell(Event::Bytes(received)).await;
                break result.map_err(|error| Error::List { peer, error })?;
            }
            out.clear();
            if session.poll_transmit(now(), &mut out).is_some() {
                until(end, "send the request to the list server", stream.write_all(&out)).await?;
            }
            let timer = session.poll_timeout().map_or(end, Instant::from);
            match timeout_at(timer, stream.read(&mut buffer)).await {
                Err(_elapsed) => session.handle_timeout(now()),
                // The server closed, in whatever manner: what is here is all.
                Ok(Ok(0) | Err(_)) => session.handle_end(now()),
                Ok(Ok(length)) => {
                    received = received.saturating_add(length);
                    // What finds no room in the queue is replaced by the next one.
                    let _ = self.sender.try_send((self.index, Event::Bytes(received)));
                    session.handle_bytes(now(), buffer.get(..length).unwrap_or_default());
                }
            }
        };
        let listed = list.servers.len();
        list.servers.retain(|server| self.options.scope.admits(*server));
        let left_out = listed.saturating_sub(list.servers.len());
        list.out_of_scope = u32::try_from(left_out).unwrap_or(u32::MAX);
        self.tell_all(&list.servers).await;
        Ok(list)
    }

    async fn tell_all(&self, servers: &[SocketAddr]) {
        for server in servers {
            self.tell(Event::Server(*server)).await;
        }
    }

    /// Nobody listens any more after the stream was dropped, which ends the task as well.
    async fn tell(&self, event: Event) {
        let _ = self.sender.send((self.index, event)).await;
    }
}

/// A step of a stream, before this time.
async fn until<T>(
    end: Instant,
    doing: &'static str,
    step: impl Future<Output = io::Result<T>>,
) -> Result<T, Error> {
    let late = |_| Err(io::Error::new(io::ErrorKind::TimedOut, "the list server took too long"));
    timeout_at(end, step).await.unwrap_or_else(late).map_err(|source| Error::io(doing, source))
}

/// The lists of two requests as one, both over UDP.
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
        ServerList { servers, completeness, over_limit: 1, out_of_scope: 2, ..ServerList::default() }
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
