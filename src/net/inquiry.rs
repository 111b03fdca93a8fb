//! Requests to list servers.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use super::error::Error;
use super::exchange::{Exchanges, ONLY_SESSION};
use super::io::{Fault, Io};
use super::querier::{MAX_DEADLINE, MIN_DEADLINE, Querier};
use super::server::Server;
use crate::address::{Prefix, network};
use crate::error::{EncodeError, ErrorKind, ListError, QueryError};
#[cfg(feature = "games")]
use crate::games::Game;
use crate::limits::to_u32;
use crate::lists::{ListCompleteness, ListRequest, ListSession, Quake3List, Scope, ServerList};
use crate::session::Timing;

/// How long a list may take. OpenSpy has taken 30 s for one (openspy/openspy-core#12).
#[cfg(feature = "games")]
const LIST_TIMEOUT: Duration = Duration::from_secs(45);
/// The maximum number of servers per host, so that a list cannot direct a scan at a victim.
/// dpmaster accepts 32.
const MAX_PER_HOST: usize = 256;

/// A server in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The address and query port.
    pub server: SocketAddr,
    /// The first list server that listed it: an index into `Servers::masters`.
    pub origin: usize,
}

/// The address of the server.
impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.server.fmt(f)
    }
}

/// A list server and its list so far.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct MasterReport {
    /// The list server's address, as given: `HOST` or `HOST:PORT`.
    pub address: String,
    /// How many servers it has listed.
    pub servers: usize,
    /// How many servers were left out because the lists contain more than 256 ports at one host.
    pub left_out: usize,
    /// Bytes of a list over TCP received so far.
    pub bytes: usize,
    /// The list, or why there is none. `None` until the conversation ends.
    pub list: Option<Result<ServerList, Error>>,
}

/// The requests to one list server.
#[derive(Debug)]
struct Requests {
    list: Vec<ListRequest>,
    /// Whether the list server sends no reply if its list is empty.
    is_silent_if_empty: bool,
}

/// Settings of the queries to list servers.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    client: Querier,
    pub(super) scope: Option<Scope>,
    pub(super) timeout: Duration,
}

/// Data from a list server.
#[derive(Debug)]
pub(super) enum Event {
    Server(SocketAddr),
    Bytes(usize),
    End(Result<ServerList, Error>),
}

/// Merges the lists of several list servers.
#[derive(Debug)]
pub(super) struct Gathering {
    pub(super) settings: Settings,
    pub(super) masters: Vec<MasterReport>,
    /// The requests to each of them, until they are sent.
    requests: Vec<Requests>,
    seen: BTreeSet<SocketAddr>,
}

impl Gathering {
    fn new(client: &Querier, timeout: Duration) -> Self {
        Self {
            settings: Settings {
                client: client.clone(),
                scope: None,
                timeout,
            },
            masters: Vec::new(),
            requests: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    fn add(&mut self, address: String, requests: Requests) {
        self.masters.push(MasterReport {
            address,
            ..MasterReport::default()
        });
        self.requests.push(requests);
    }

    /// A single list server, by its address.
    pub(super) fn at(client: &Querier, master: &Server, request: ListRequest) -> Self {
        let mut gathering = Self::new(client, client.deadline);
        let requests = Requests {
            list: vec![request],
            is_silent_if_empty: false,
        };
        gathering.add(master.to_string(), requests);
        gathering
    }

    /// All list servers of a game.
    #[cfg(feature = "games")]
    pub(super) fn of_game(client: &Querier, game: &Game) -> Result<Self, Error> {
        let mut gathering = Self::new(client, LIST_TIMEOUT);
        for master in game.masters {
            let requests = Requests {
                list: game.list_requests(master.form, &client.options.limits),
                is_silent_if_empty: master.is_silent_if_empty,
            };
            if !requests.list.is_empty() {
                gathering.add(master.address.to_owned(), requests);
            }
        }
        if gathering.masters.is_empty() {
            return Err(Error::NoMaster {
                game: game.id,
                known: game.masters.len(),
            });
        }
        Ok(gathering)
    }

    /// The inquiries to run, returned once. Each calls `report` with the index of its list server.
    pub(super) fn inquiries(
        &mut self,
        report: impl Fn(usize, Event) + Clone + Send + Sync + 'static,
    ) -> Vec<Inquiry> {
        let mut inquiries = Vec::with_capacity(self.masters.len());
        let requests = self.requests.drain(..);
        for (index, (master, requests)) in self.masters.iter().zip(requests).enumerate() {
            let report = report.clone();
            let report_of_master = move |event| report(index, event);
            inquiries.push(Inquiry {
                settings: self.settings.clone(),
                master: master.address.clone(),
                requests,
                report: Box::new(report_of_master),
            });
        }
        inquiries
    }

    /// Counts an event of a list server. Returns a server that is new.
    pub(super) fn take(&mut self, origin: usize, event: Event) -> Option<Listed> {
        let report = self.masters.get_mut(origin)?;
        match event {
            Event::Server(server) => {
                report.servers = report.servers.saturating_add(1);
                return self.take_server(origin, server);
            }
            Event::Bytes(bytes) => report.bytes = bytes,
            Event::End(list) => {
                // A server listed under two numbers was counted twice.
                report.servers = list
                    .as_ref()
                    .map_or(report.servers, |list| list.servers.len());
                report.list = Some(list);
            }
        }
        None
    }

    /// Returns the server if it is new and its host has not too many.
    fn take_server(&mut self, origin: usize, server: SocketAddr) -> Option<Listed> {
        if self.seen.contains(&server) {
            return None;
        }
        // Addresses in lists are canonical.
        let at_host = self.seen.range(network(server.ip(), Prefix::HOST));
        if at_host.take(MAX_PER_HOST).count() >= MAX_PER_HOST {
            let report = self.masters.get_mut(origin)?;
            report.left_out = report.left_out.saturating_add(1);
            return None;
        }
        self.seen.insert(server);
        Some(Listed { server, origin })
    }

    /// The list of the first list server.
    pub(super) fn into_list(self) -> Result<ServerList, Error> {
        let report = self.masters.into_iter().next().unwrap_or_default();
        match report.list {
            Some(list) => list,
            None => Err(Error::BadAddress {
                text: report.address,
                why: "its list has not ended",
            }),
        }
    }
}

/// The methods that both kinds of `Servers` have.
macro_rules! servers_options {
    () => {
        setters! {
            /// Sets which addresses to accept; default [`Scope::Lan`].
            with_scope(scope: Scope) gathering.settings.scope = Some(scope);

            /// Sets how long a list over TCP may take.
            ///
            /// Default: 45 s for the list servers of a game, because long lists come slowly; the
            /// client's deadline for a list server given by its address. Quake 3 masters use the
            /// client's timing.
            with_timeout(timeout: Duration) gathering.settings.timeout = timeout;
        }

        /// The queried list servers and their progress.
        pub fn masters(&self) -> &[MasterReport] {
            &self.gathering.masters
        }
    };
}
pub(super) use servers_options;

/// The queries to one list server, in a task or thread of their own.
pub(super) struct Inquiry {
    settings: Settings,
    master: String,
    requests: Requests,
    report: Box<dyn Fn(Event) + Send + Sync>,
}

impl Inquiry {
    /// Queries the list server.
    pub(super) async fn run<I: Io>(self) {
        let list = self.ask_all::<I>().await;
        (self.report)(Event::End(list));
    }

    fn report_all(&self, servers: &[SocketAddr]) {
        for server in servers {
            (self.report)(Event::Server(*server));
        }
    }

    /// Sends the requests one by one. An unreachable list server gets no further request. A silent
    /// one does: it may have no server for a number.
    async fn ask_all<I: Io>(&self) -> Result<ServerList, Error> {
        let mut merged: Option<ServerList> = None;
        let mut failed: Option<Error> = None;
        let limits = self.settings.client.options.limits;
        for request in &self.requests.list {
            match self.ask::<I>(request).await {
                Ok(list) => match &mut merged {
                    Some(merged) => merged.merge(list, limits.max_servers()),
                    None => merged = Some(list),
                },
                Err(error) => {
                    let is_silent = error.kind() == ErrorKind::Timeout;
                    failed.get_or_insert(error);
                    if merged.is_none() && !is_silent {
                        break;
                    }
                }
            }
        }
        match (merged, failed) {
            (Some(list), None) => Ok(list),
            // One of several lists is missing, so the result is incomplete.
            (Some(list), Some(_)) => Ok(ServerList {
                completeness: ListCompleteness::Incomplete,
                ..list
            }),
            (None, Some(error)) => Err(self.explained(error)),
            (None, None) => Err(Error::Request(EncodeError::Empty("protocol number"))),
        }
    }

    /// The error, which names an empty list as a possible reason of silence.
    fn explained(&self, error: Error) -> Error {
        match error {
            Error::Query {
                peer,
                error: QueryError::Timeout { .. },
            } if self.requests.is_silent_if_empty => Error::List {
                peer,
                error: ListError::NoReplyOrEmpty,
            },
            error => error,
        }
    }

    /// Queries the addresses of the list server one by one until one sends a list.
    async fn ask<I: Io>(&self, request: &ListRequest) -> Result<ServerList, Error> {
        let client = self.client(request);
        let master = Server::from(&self.master);
        let mut host = client.look_up::<I>(&master, request.default_port()).await?;
        loop {
            let timing = host.timing(I::now());
            let list = self
                .ask_address::<I>(request.clone(), host.address, timing)
                .await;
            if list.is_ok() || !host.advance(I::now()) {
                return list;
            }
        }
    }

    /// The client for a request: lists over TCP have their own deadline.
    fn client(&self, request: &ListRequest) -> Querier {
        let mut client = self.settings.client.clone();
        let is_over_udp = matches!(request, ListRequest::Quake3(_));
        if !is_over_udp {
            let timeout = self.settings.timeout;
            client.deadline = timeout.clamp(MIN_DEADLINE, MAX_DEADLINE);
            client.timing = client.timing.with_timeout(timeout);
        }
        client
    }

    async fn ask_address<I: Io>(
        &self,
        request: ListRequest,
        peer: SocketAddr,
        timing: Timing,
    ) -> Result<ServerList, Error> {
        if let ListRequest::Quake3(mut query) = request {
            if let Some(scope) = self.settings.scope {
                query = query.with_scope(scope);
            }
            return self.over_udp::<I>(query, peer, timing).await;
        }
        let client = &self.settings.client;
        let session = request
            .session(client.nonce(peer), timing, I::now())
            .ok_or(Error::Request(EncodeError::Empty("list request")))?;
        let session = session.with_limits(client.options.limits);
        self.over_tcp::<I>(peer, session).await
    }

    /// Fetches a list over UDP.
    async fn over_udp<I: Io>(
        &self,
        query: Quake3List,
        peer: SocketAddr,
        timing: Timing,
    ) -> Result<ServerList, Error> {
        let client = &self.settings.client;
        let mut exchanges = Exchanges::<I, _>::new(client.local, client.late_replies.clone());
        exchanges.start(ONLY_SESSION, peer, query, timing).await?;
        let mut reported = 0_usize;
        loop {
            let ended = exchanges.step().await;
            let conversations = exchanges.conversations();
            let new: Vec<SocketAddr> = conversations.flat_map(Quake3List::take_new).collect();
            reported = reported.saturating_add(new.len());
            self.report_all(&new);
            if let Some(ended) = ended {
                let list = ended.result?.answer;
                // The conversation that ended is not among `conversations` any more. Its list has
                // all servers, first those that were taken.
                let not_reported = list.servers.get(reported..).unwrap_or_default();
                self.report_all(not_reported);
                return Ok(list);
            }
        }
    }

    /// Fetches a list over TCP. At the deadline, the part received so far is returned as
    /// incomplete.
    async fn over_tcp<I: Io>(
        &self,
        peer: SocketAddr,
        session: ListSession,
    ) -> Result<ServerList, Error> {
        let mut list = self.read_stream::<I>(peer, session).await?;
        let listed = list.servers.len();
        let scope = self.settings.scope.unwrap_or_default();
        list.servers.retain(|server| scope.admits(*server));
        list.entries.retain(|entry| scope.admits(entry.server));
        let left_out = listed.saturating_sub(list.servers.len());
        list.out_of_scope = to_u32(left_out);
        self.report_all(&list.servers);
        Ok(list)
    }

    /// Runs the session on a stream.
    async fn read_stream<I: Io>(
        &self,
        peer: SocketAddr,
        mut session: ListSession,
    ) -> Result<ServerList, Error> {
        let started = I::now();
        let deadline = session.deadline();
        let connected = I::connect(peer, deadline).await;
        let mut stream = connected.map_err(|source| {
            let waited = I::now().saturating_duration_since(started);
            not_connected(peer, source, waited)
        })?;
        let mut out = Vec::new();
        let mut buffer = [0; 4096];
        let mut received = 0_usize;
        loop {
            if let Some(result) = session.poll_answer() {
                return result.map_err(|error| Error::List { peer, error });
            }
            out.clear();
            if session.poll_transmit(I::now(), &mut out).is_some() {
                let sent = I::write(&mut stream, &out, deadline).await;
                sent.map_err(|source| Error::io("send the request to the list server", source))?;
            }
            let timer = session.poll_timeout().unwrap_or(deadline);
            match I::read(&mut stream, &mut buffer, timer).await {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    session.handle_timeout(I::now());
                }
                // The connection ended, in whatever manner: nothing else will arrive.
                Ok(0) | Err(_) => session.handle_end(I::now()),
                Ok(length) => {
                    received = received.saturating_add(length);
                    (self.report)(Event::Bytes(received));
                    session.handle_bytes(I::now(), buffer.get(..length).unwrap_or_default());
                }
            }
        }
    }
}

/// The error for a list server that accepts no connection: the same as over UDP.
fn not_connected(peer: SocketAddr, source: io::Error, waited: Duration) -> Error {
    let error = match Fault::of(&source) {
        Fault::Unreachable => QueryError::Unreachable,
        Fault::Passing => QueryError::Timeout {
            requests: 1,
            waited,
        },
        Fault::Socket => return Error::io("connect to the list server", source),
    };
    Error::Query { peer, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::lists::Cod4xList;

    #[test]
    fn servers_are_counted_while_they_arrive() {
        let querier = Querier::new(crate::secret::Secret::new([7; 16]));
        let request = Cod4xList::new(6).into();
        let mut gathering = Gathering::at(&querier, &Server::from("192.0.2.1:28900"), request);
        for (port, count) in [(28960, 1), (28961, 2)] {
            let server = ([192, 0, 2, 2], port).into();
            assert!(gathering.take(0, Event::Server(server)).is_some());
            let report = gathering.masters.first().unwrap();
            assert_eq!(report.servers, count);
        }
        let failed = Error::Request(EncodeError::Empty("protocol number"));
        gathering.take(0, Event::End(Err(failed)));
        assert_eq!(gathering.masters.first().unwrap().servers, 2);
    }

    #[test]
    fn only_lists_over_tcp_have_a_time_of_their_own() {
        let querier = Querier::new(crate::secret::Secret::new([7; 16]));
        let usual = (querier.deadline, querier.timing.timeout());
        let over_udp = ListRequest::from(Quake3List::quake2(&Limits::default()));
        let over_tcp = ListRequest::from(Cod4xList::new(6));
        let long = Duration::from_secs(20);
        let longest = querier.timing.with_timeout(Duration::MAX).timeout();
        for (request, timeout, expected) in [
            (&over_udp, long, usual),
            (&over_tcp, long, (long, long)),
            (&over_tcp, Duration::MAX, (MAX_DEADLINE, longest)),
        ] {
            let master = Server::from("192.0.2.1:28900");
            let mut gathering = Gathering::at(&querier, &master, request.clone());
            gathering.settings.timeout = timeout;
            let inquiries = gathering.inquiries(|_, _| {});
            let client = inquiries.first().unwrap().client(request);
            assert_eq!((client.deadline, client.timing.timeout()), expected);
        }
    }

    #[cfg(feature = "games")]
    #[test]
    fn the_list_servers_of_a_game_have_45_seconds() {
        let querier = Querier::new(crate::secret::Secret::new([7; 16]));
        let gathering = Gathering::of_game(&querier, Game::find("openarena").unwrap()).unwrap();
        assert_eq!(gathering.settings.timeout, Duration::from_secs(45));
    }
}
