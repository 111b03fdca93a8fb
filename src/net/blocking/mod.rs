//! The network layer on the standard library.

mod scan;
mod std_io;

use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

pub use self::scan::Scan;
use self::std_io::{Std, block};
#[cfg(feature = "games")]
use crate::games::Game;
use crate::lists::{ListRequest, Scope, ServerList};
use crate::model::{ServerStatus, ToStatus};
use crate::net::client;
use crate::net::detect::Found;
use crate::net::error::Error;
use crate::net::inquiry::{Event, Gathering, Listed, MasterReport, servers_options};
#[cfg(feature = "games")]
use crate::net::querier::ANY_PORT;
use crate::net::querier::Querier;
use crate::net::server::Server;
use crate::net::target::ScanTarget;
use crate::options::QueryOptions;
use crate::protocol::Protocol;
use crate::scan::options::ScanOptions;
use crate::session::{Conversation, Outcome, Timing};
use crate::status_query::Answer;

/// Queries game servers without a runtime. Cheap to clone; clones share their nonce counter.
///
/// After a failure, it can be used again at once, as
/// [`queryport::Client`](crate::Client#after-a-failure).
///
/// ```no_run
/// use queryport::Protocol;
/// use queryport::blocking::Client;
///
/// let client = Client::new()?;
/// let outcome = client.query(Protocol::Quake3, "example.org:27960")?;
/// for player in outcome.answer.players {
///     println!("{:>5} {}", player.score.unwrap_or(0), player.name);
/// }
/// # Ok::<(), queryport::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Client(Querier);

impl client::Client {
    /// A client with these settings whose calls block (feature `blocking`).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let client = queryport::Client::new()?
    ///     .with_deadline(Duration::from_secs(3))
    ///     .blocking();
    /// # Ok::<(), queryport::Error>(())
    /// ```
    #[must_use]
    pub fn blocking(self) -> Client {
        Client(self.querier)
    }
}

impl Client {
    /// A client with default settings.
    ///
    /// A deadline, an address family or a local address is set before
    /// [`blocking`](crate::Client::blocking):
    /// `queryport::Client::new()?.with_deadline(deadline).blocking()`.
    ///
    /// # Errors
    /// [`Error::Io`] if the system provides no random bytes.
    pub fn new() -> Result<Self, Error> {
        client::Client::new().map(client::Client::blocking)
    }

    /// Sets how long to wait for a server, retries included, as
    /// [`Client::with_timeout`](crate::Client::with_timeout).
    ///
    /// ```
    /// use std::time::Duration;
    /// use queryport::blocking::Client;
    ///
    /// let client = Client::new()?.with_timeout(Duration::from_secs(2));
    /// # Ok::<(), queryport::Error>(())
    /// ```
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        let client = client::Client { querier: self.0 };
        client.with_timeout(timeout).blocking()
    }

    /// Sets how often a request is sent again, as
    /// [`Client::with_retries`](crate::Client::with_retries).
    #[must_use]
    pub fn with_retries(mut self, retries: u8) -> Self {
        self.0.timing = self.0.timing.with_retries(retries);
        self
    }

    /// Sets timeouts and the number of retries.
    #[must_use]
    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.0.timing = timing;
        self
    }

    /// Sets what to request: detail, limits, dialects.
    #[must_use]
    pub fn with_options(mut self, options: QueryOptions) -> Self {
        self.0.options = options;
        self
    }

    /// Queries a server's status: the common [`ServerStatus`].
    ///
    /// `protocol` is a [`Protocol`] or its name. `server` is a host name or address, as a text, a
    /// [`SocketAddr`](std::net::SocketAddr), or a pair of host and port, see [`Server`]. Without a
    /// port, the protocol's default query port is used.
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind): each kind, and what to do.
    pub fn query(
        &self,
        protocol: impl TryInto<Protocol, Error: Into<Error>>,
        server: impl Into<Server>,
    ) -> Result<Outcome<ServerStatus>, Error> {
        let outcome = self.answer(protocol, server)?;
        Ok(outcome.map(|answer| answer.to_status()))
    }

    /// Queries a server's status: the protocol's own [`Answer`], with all keys and datagrams.
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind): each kind, and what to do.
    pub fn answer(
        &self,
        protocol: impl TryInto<Protocol, Error: Into<Error>>,
        server: impl Into<Server>,
    ) -> Result<Outcome<Answer>, Error> {
        let protocol = protocol.try_into().map_err(Into::into)?;
        block(self.0.answer_over::<Std>(protocol, &server.into()))
    }

    /// Runs any [`Conversation`] with a host name or address.
    ///
    /// `conversation` is called with a nonce that nobody else can guess.
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind). Returns the error of the last address.
    pub fn ask_host<C: Conversation>(
        &self,
        server: impl Into<Server>,
        default_port: u16,
        conversation: impl Fn(u64) -> C,
    ) -> Result<Outcome<C::Answer>, Error> {
        block(
            self.0
                .ask_host_over::<Std, C>(&server.into(), default_port, conversation),
        )
    }

    /// Tries all protocols at the likely ports of a host, and returns the answers in order of
    /// arrival.
    ///
    /// It ends half a second after the first answer, or at the client's deadline. With `:port`,
    /// only that port and the ones after it are tried. If no server answers, the list is empty.
    ///
    /// # Errors
    /// If the host has no address, or the text is not a host.
    pub fn detect(&self, host: impl Into<Server>) -> Result<Vec<Found>, Error> {
        block(self.0.detect_over::<Std>(&host.into()))
    }

    /// Queries a server of a game, by the port that players connect to.
    ///
    /// `game` is a [`Game`] or a text that [`Game::find`] finds. `server` is a host name or
    /// address, with a port if it is not the game's default. Further ports on which servers of the
    /// game answer are tried, 0.6 s apart. The call takes at most 10 s; [`Self::new`] shows how to
    /// set another deadline.
    ///
    /// ```no_run
    /// use queryport::blocking::Client;
    ///
    /// let found = Client::new()?.query_game("battlefield 2", "example.org:16568")?;
    /// println!("{:?} at {}", found.outcome.answer.name, found.outcome.peer);
    /// # Ok::<(), queryport::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind). Returns the error of the first port.
    /// [`Error::BadAddress`] if `server` has no port and the game has no default port;
    /// [`Error::UnknownGame`] suggests similar names.
    #[cfg(feature = "games")]
    pub fn query_game<'g>(
        &self,
        game: impl TryInto<&'g Game, Error: Into<Error>>,
        server: impl Into<Server>,
    ) -> Result<Found, Error> {
        let game = game.try_into().map_err(Into::into)?;
        block(self.0.query_game_over::<Std>(game, &server.into()))
    }

    /// Queries a server of a game at the ports that the game's list servers give for its host.
    ///
    /// `None` if no list contains the host.
    ///
    /// # Errors
    /// Those of [`Self::query_game`] and [`Self::servers`].
    #[cfg(feature = "games")]
    pub fn query_listed<'g>(
        &self,
        game: impl TryInto<&'g Game, Error: Into<Error>>,
        server: impl Into<Server>,
    ) -> Result<Option<Found>, Error> {
        let game = game.try_into().map_err(Into::into)?;
        let server = server.into();
        let host = block(self.0.look_up::<Std>(&server, ANY_PORT))?;
        let servers = self
            .servers(game)?
            .with_scope(Scope::Any)
            .with_timeout(self.0.deadline);
        let listed = servers.map(|listed| listed.server).collect();
        block(self.0.query_listed_over::<Std>(game, &server, host, listed))
    }

    /// Fetches the list of one list server.
    ///
    /// `master` is a host name or address, with `:port` if it is not [`ListRequest::default_port`].
    /// A list over TCP may take as long as the client's deadline, see [`Self::new`].
    ///
    /// # Errors
    /// [`Error::List`] or [`Error::Query`] if it sent no list; [`Error::BadAddress`],
    /// [`Error::NameResolution`] and [`Error::Io`] if it was not reached.
    pub fn list(
        &self,
        master: impl Into<Server>,
        request: impl Into<ListRequest>,
    ) -> Result<ServerList, Error> {
        let mut servers = self.servers_at(master, request);
        servers.by_ref().for_each(drop);
        servers.gathering.into_list()
    }

    /// Iterates over the list of one list server while it arrives. See [`Self::list`].
    pub fn servers_at(
        &self,
        master: impl Into<Server>,
        request: impl Into<ListRequest>,
    ) -> Servers {
        Servers::new(Gathering::at(&self.0, &master.into(), request.into()))
    }

    /// Requests the lists of all list servers of a game, and merges them. Nothing is cached.
    ///
    /// ```no_run
    /// use queryport::blocking::Client;
    ///
    /// for listed in Client::new()?.servers("openarena")? {
    ///     println!("{}", listed.server);
    /// }
    /// # Ok::<(), queryport::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoMaster`] if the game has no list server, or lacks the name, number or key for a
    /// request; [`Error::UnknownGame`]. Failures of list servers are in [`Servers::masters`].
    #[cfg(feature = "games")]
    pub fn servers<'g>(
        &self,
        game: impl TryInto<&'g Game, Error: Into<Error>>,
    ) -> Result<Servers, Error> {
        let game = game.try_into().map_err(Into::into)?;
        Gathering::of_game(&self.0, game).map(Servers::new)
    }

    /// Queries every server of a list, many at a time, with this client's timing and options.
    ///
    /// A target is a protocol or game with an address or host name, see [`ScanTarget`].
    ///
    /// ```no_run
    /// use queryport::blocking::Client;
    /// use queryport::{Protocol, ScanOptions};
    ///
    /// let servers = ["192.0.2.1:27960", "192.0.2.2:27960"];
    /// let targets = servers.map(|server| (Protocol::Quake3, server));
    /// for scanned in Client::new()?.scan(targets, ScanOptions::default()) {
    ///     match scanned.result {
    ///         Ok(outcome) => println!("{} {:?}", outcome.peer, outcome.answer.player_count),
    ///         Err(error) => println!("target {}: {error}", scanned.index),
    ///     }
    /// }
    /// # Ok::<(), queryport::Error>(())
    /// ```
    pub fn scan<'a, T>(&self, targets: T, options: ScanOptions) -> Scan<'a>
    where
        T: IntoIterator<Item: Into<ScanTarget> + 'a, IntoIter: Send + 'a>,
    {
        Scan::new(self.0.clone(), targets.into_iter().map(Into::into), options)
    }
}

/// The servers in the lists of one or more list servers: an iterator, each server once.
///
/// See [`Client::servers`].
///
/// The first call of `next` starts a thread for each list server, which ends with its list. If the
/// system refuses a thread, the list server's report has [`Error::Io`].
///
/// # Time
/// `next` waits until a list server sends something, or all lists have ended. These limits bound
/// the whole call:
///
/// - [`Self::with_timeout`] for each list over TCP; default 45 s
/// - [`with_deadline`](crate::Client::with_deadline) of the client for each request to a Quake 3
///   master, which gets one request per protocol number of the game; default 10 s
///
/// Dropping the iterator ends the call early, between two servers.
///
/// # After a failure
/// The other list servers' lists continue. The failure is in [`Self::masters`]; requests are not
/// sent again. To request the lists again, make a new `Servers`.
#[derive(Debug)]
pub struct Servers {
    gathering: Gathering,
    /// `None` before the first call of `next`.
    events: Option<Receiver<(usize, Event)>>,
}

impl Servers {
    pub(super) const fn new(gathering: Gathering) -> Self {
        Self {
            gathering,
            events: None,
        }
    }

    servers_options!();
}

impl Iterator for Servers {
    type Item = Listed;

    fn next(&mut self) -> Option<Listed> {
        let Self { gathering, events } = self;
        let events = events.get_or_insert_with(|| start_threads(gathering));
        events
            .iter()
            .find_map(|(origin, event)| gathering.take(origin, event))
    }
}

/// Starts a thread for each list server.
fn start_threads(gathering: &mut Gathering) -> Receiver<(usize, Event)> {
    let (sender, receiver) = channel();
    let report = move |origin, event| _ = sender.send((origin, event));
    for (origin, inquiry) in gathering.inquiries(report.clone()).into_iter().enumerate() {
        let thread = thread::Builder::new().spawn(|| block(inquiry.run::<Std>()));
        if let Err(source) = thread {
            let error = Error::io("start a thread for a list server", source);
            report(origin, Event::End(Err(error)));
        }
    }
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Detail;
    use crate::secret::Secret;

    #[test]
    fn both_clients_have_the_same_settings() {
        let new = || client::Client::with_secret(Secret::new([7; 16]));
        let settings = |querier: &Querier| (querier.timing, querier.options, querier.deadline);
        let secs = Duration::from_secs;
        let (timing, options) = (Timing::default(), QueryOptions::default());
        let (fewer, short) = (timing.with_max_steps(3), options.with_detail(Detail::Short));
        let blocking = || new().blocking();
        for (client, blocking, expected) in [
            (
                new().with_timeout(secs(2)),
                blocking().with_timeout(secs(2)),
                (timing.with_timeout(secs(2)), options, secs(10)),
            ),
            (
                new().with_timeout(secs(20)),
                blocking().with_timeout(secs(20)),
                (timing.with_timeout(secs(20)), options, secs(20)),
            ),
            (
                new().with_retries(7),
                blocking().with_retries(7),
                (timing.with_retries(7), options, secs(10)),
            ),
            (
                new().with_timing(fewer),
                blocking().with_timing(fewer),
                (fewer, options, secs(10)),
            ),
            (
                new().with_options(short),
                blocking().with_options(short),
                (timing, short, secs(10)),
            ),
        ] {
            assert_eq!(settings(&client.querier), expected);
            assert_eq!(settings(&blocking.0), expected);
        }
        for (given, deadline) in [(secs(0), secs(1) / 100), (Duration::MAX, secs(600))] {
            assert_eq!(new().with_deadline(given).querier.deadline, deadline);
        }
    }
}
