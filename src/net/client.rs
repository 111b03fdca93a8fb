//! The client: all calls, in the order in which programs need them, and its settings.

#[cfg(all(feature = "games", feature = "tokio"))]
use std::net::IpAddr;
use std::net::SocketAddr;
#[cfg(feature = "tokio")]
use std::sync::Arc;
#[cfg(feature = "tokio")]
use std::task::Poll;
use std::time::Duration;

#[cfg(feature = "tokio")]
use futures_core::Stream;

use super::error::Error;
use super::querier::{Family, MAX_DEADLINE, MIN_DEADLINE, Querier};
use crate::address::canonical;
use crate::options::QueryOptions;
use crate::secret::Secret;
use crate::session::Timing;
#[cfg(feature = "tokio")]
use {
    super::detect::Found,
    super::inquiry::Gathering,
    super::lists::Servers,
    super::query::{Query, Target},
    super::scan::Scan,
    super::server::Server,
    super::target::ScanTarget,
    super::tokio_io::Tokio,
    crate::lists::{ListRequest, ServerList},
    crate::model::{ServerStatus, ToStatus},
    crate::protocol::Protocol,
    crate::scan::options::ScanOptions,
    crate::session::{Conversation, Outcome},
    crate::status_query::Answer,
};
#[cfg(all(feature = "games", feature = "tokio"))]
use {
    super::inquiry::Listed, super::lan::LanGame, super::querier::ANY_PORT, crate::games::Game,
    crate::lists::Scope,
};

/// Queries game servers, finds them, and scans lists of them.
///
/// Its asynchronous calls need the feature `tokio`, and panic outside of its runtime. With the
/// feature `blocking`, `Self::blocking` makes a client whose calls block. A clone is cheap, and can
/// have its own timing and options.
///
/// ```no_run
/// use queryport::Client;
///
/// # async fn example() -> queryport::Result<()> {
/// let client = Client::new()?;
/// let found = client.query_game("openarena", "example.org").await?;
/// for player in found.outcome.answer.players {
///     println!("{:>5} {}", player.score.unwrap_or(0), player.name);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # After a failure
/// You can use a client again at once. Between calls it keeps only its nonce counter, which its
/// clones share: no sockets, names or lists.
#[doc(alias("gamedig", "GameQ"))]
#[derive(Debug, Clone)]
pub struct Client {
    pub(super) querier: Querier,
}

impl Client {
    /// A client with default timing and options, and a secret from the operating system.
    ///
    /// # Errors
    /// [`Error::Io`] if the system provides no random bytes.
    pub fn new() -> Result<Self, Error> {
        let secret = Secret::from_os().map_err(|source| Error::io("draw random bytes", source))?;
        Ok(Self::with_secret(secret))
    }
}

#[cfg(feature = "tokio")]
impl Client {
    /// Queries a server's status: the common [`ServerStatus`].
    ///
    /// `protocol` is a [`Protocol`] or its name. `server` is a host name or address, as a text, a
    /// [`SocketAddr`], or a pair of host and port, see [`Server`]. Without a port, the protocol's
    /// default query port is used.
    ///
    /// ```no_run
    /// # async fn example(client: queryport::Client) -> queryport::Result<()> {
    /// let status = client.query("quake3", "example.org:27960").await?.answer;
    /// println!("{}", status.name.as_deref().unwrap_or("(no name)"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind): each kind, and what to do.
    pub async fn query(
        &self,
        protocol: impl TryInto<Protocol, Error: Into<Error>>,
        server: impl Into<Server>,
    ) -> Result<Outcome<ServerStatus>, Error> {
        let outcome = self.answer(protocol, server).await?;
        Ok(outcome.map(|answer| answer.to_status()))
    }

    /// Queries a server of a game, by the port that players connect to.
    ///
    /// `game` is a [`Game`] or a text that [`Game::find`] finds. `server` is a host name or
    /// address, with a port if it is not the game's default. The request goes to the query port
    /// that [`Game::query_port`] returns. If there is no answer within 0.6 s, further ports are
    /// tried one by one, until the first answer:
    ///
    /// 1. the ports of [`Game::also_at`]
    /// 2. the given port itself, in case it is the query port
    /// 3. without a given port, those of further servers on a host; of Quake 3 the next three
    ///
    /// The call takes at most [`Self::with_deadline`], 10 s by default.
    ///
    /// An answer from one of these ports is ignored if it names another game or another game port.
    /// At the query port, another game is an answer too:
    /// [`other_game`](crate::net::Found::other_game) names it.
    /// [`Outcome::peer`](crate::Outcome::peer) is the address that answered. List servers are not
    /// queried, see [`Self::query_listed`].
    ///
    /// SRV records (`_minecraft._tcp`) are not looked up: the system's resolver has no call for
    /// them. They contain the game port, which can differ from the query port.
    ///
    /// ```no_run
    /// # async fn example() -> queryport::Result<()> {
    /// let found = queryport::Client::new()?
    ///     .query_game("battlefield 2", "example.org:16568")
    ///     .await?;
    /// println!(
    ///     "{} at {}",
    ///     found.outcome.answer.name.unwrap_or_default(),
    ///     found.outcome.peer
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind). Returns the error of the first port: its address is the
    /// queried one, so its port can differ from the given port. [`Error::BadAddress`] if `server`
    /// has no port and the game has no default port; [`Error::UnknownGame`] suggests similar names.
    #[cfg(feature = "games")]
    pub async fn query_game<'g>(
        &self,
        game: impl TryInto<&'g Game, Error: Into<Error>>,
        server: impl Into<Server>,
    ) -> Result<Found, Error> {
        let game = game.try_into().map_err(Into::into)?;
        self.querier
            .query_game_over::<Tokio>(game, &server.into())
            .await
    }

    /// Queries a server of a game at the ports that the game's list servers give for its host.
    ///
    /// Use it for servers that [`Self::query_game`] does not find: lists of GameSpy v1, GameSpy v2
    /// and UT2004 contain query ports. Lists are requested as in [`Self::servers`], and each may
    /// take as long as [`Self::with_deadline`] allows. Then up to 32 ports of the host are queried,
    /// nearest to the given port first. An answer is ignored if it names another game or another
    /// game port. `None` if no list contains the host.
    ///
    /// ```no_run
    /// # async fn example() -> queryport::Result<()> {
    /// let client = queryport::Client::new()?;
    /// if client.query_game("mohaa", "example.org:12210").await.is_err()
    ///     && let Some(found) = client.query_listed("mohaa", "example.org:12210").await?
    /// {
    ///     println!("the query port is {}", found.outcome.peer.port());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Self::query_game`] and [`Self::servers`].
    #[cfg(feature = "games")]
    pub async fn query_listed<'g>(
        &self,
        game: impl TryInto<&'g Game, Error: Into<Error>>,
        server: impl Into<Server>,
    ) -> Result<Option<Found>, Error> {
        let game = game.try_into().map_err(Into::into)?;
        let server = server.into();
        let host = self.querier.look_up::<Tokio>(&server, ANY_PORT).await?;
        // The caller chose the host, so any scope is accepted.
        let mut servers = self
            .servers(game)?
            .with_scope(Scope::Any)
            .with_timeout(self.querier.deadline);
        let mut listed = Vec::new();
        while let Some(Listed { server, .. }) = servers.next().await {
            listed.push(server);
        }
        self.querier
            .query_listed_over::<Tokio>(game, &server, host, listed)
            .await
    }

    /// Queries every server of a list, many at a time, with this client's timing and options.
    ///
    /// A target is a protocol or game with an address or host name, such as `("quake3", address)`;
    /// see [`ScanTarget`]. Names are looked up during the scan, 32 at a time; later targets wait
    /// for them. A query takes at most [`Timing::timeout`](crate::Timing::timeout), or four times
    /// that if the server has sent part of its answer.
    ///
    /// The scan can borrow the list: `client.scan(&list, options)`. To move a scan to another task,
    /// give it the list.
    ///
    /// # Errors
    /// See [`Scan::new`].
    pub fn scan<'a, T>(&self, targets: T, options: ScanOptions) -> Result<Scan<'a>, Error>
    where
        T: IntoIterator<Item: Into<ScanTarget> + 'a, IntoIter: Send + 'a>,
    {
        let mut targets = targets.into_iter();
        self.querier.scan_targets(
            Box::new(move |_| Poll::Ready(targets.next().map(Into::into))),
            options,
        )
    }

    /// Queries servers from a stream, see [`Self::scan`].
    ///
    /// # Errors
    /// See [`Scan::new`].
    pub fn scan_stream<'a, S>(&self, targets: S, options: ScanOptions) -> Result<Scan<'a>, Error>
    where
        S: Stream<Item = ScanTarget> + Send + 'a,
    {
        let mut targets = Box::pin(targets);
        self.querier
            .scan_targets(Box::new(move |cx| targets.as_mut().poll_next(cx)), options)
    }

    /// Requests the lists of all list servers of a game, and merges them.
    ///
    /// `game` is a [`Game`] or a text that [`Game::find`] finds.
    ///
    /// Quake 3 masters get a request for each protocol number of the game, with `empty full`.
    /// GameSpy v1 list servers get the public key for lists, GameSpy v2 list servers [`Game::key`].
    /// A list by protocol number alone can contain other games: use [`Game::of`] on the answers.
    ///
    /// Nothing is cached: every call sends the requests again. If you need lists often, keep them,
    /// and request them at most once every few minutes.
    ///
    /// ```no_run
    /// # async fn example() -> queryport::Result<()> {
    /// let mut servers = queryport::Client::new()?.servers("openarena")?;
    /// while let Some(listed) = servers.next().await {
    ///     println!("{listed}");
    /// }
    /// for report in servers.masters() {
    ///     match &report.list {
    ///         Some(Ok(list)) => println!(
    ///             "{}: {} servers, {}",
    ///             report.address, report.servers, list.completeness
    ///         ),
    ///         Some(Err(error)) => println!("{}: {}", report.address, error.reason()),
    ///         None => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
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
        Ok(Servers::new(Gathering::of_game(&self.querier, game)?))
    }

    /// Fetches the list of one list server.
    ///
    /// `master` is a host name or address, with `:port` if it is not [`ListRequest::default_port`].
    /// A list over TCP may take as long as [`Self::with_deadline`] allows.
    ///
    /// ```no_run
    /// use queryport::lists::GameSpy2List;
    /// use queryport::{Client, GameKey};
    ///
    /// # async fn example() -> Result<(), queryport::Error> {
    /// let request = GameSpy2List::new("swat4", GameKey::new("tG3j8c")?);
    /// let list = Client::new()?.list("master.example.org", request).await?;
    /// println!("{} servers, {}", list.servers.len(), list.completeness);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::List`] or [`Error::Query`] if it sent no list; [`Error::BadAddress`],
    /// [`Error::NameResolution`] and [`Error::Io`] if it was not reached.
    pub async fn list(
        &self,
        master: impl Into<Server>,
        request: impl Into<ListRequest>,
    ) -> Result<ServerList, Error> {
        let mut servers = self.servers_at(master, request);
        while servers.next().await.is_some() {}
        servers.into_list()
    }

    /// Streams the list of one list server while it arrives. See [`Self::list`].
    ///
    /// `Game::list_requests` has the requests for the servers of a game.
    pub fn servers_at(
        &self,
        master: impl Into<Server>,
        request: impl Into<ListRequest>,
    ) -> Servers {
        Servers::new(Gathering::at(&self.querier, &master.into(), request.into()))
    }

    /// Tries all protocols at the likely ports of a host, and returns the answers in order of
    /// arrival.
    ///
    /// Without a port, these are the ports of well-known games, then (feature `games`) the default
    /// query ports of all games with living or listed masters. With `:port`, it is that port, and
    /// for GameSpy v1 and UT2004 also the ones after it, because their query port is the game port
    /// plus 1 or 10.
    ///
    /// Each port gets one request per protocol, 20 ms apart, and the retries of the client's
    /// timing. The call ends half a second after the first answer, or at the client's deadline. If
    /// a name has several addresses, only the first is tried. If no server answers, the list is
    /// empty.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), queryport::Error> {
    /// for detected in queryport::Client::new()?.detect("example.org").await? {
    ///     println!("{} at {}", detected.protocol, detected.outcome.peer);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the host has no address, or the text is not a host.
    pub async fn detect(&self, host: impl Into<Server>) -> Result<Vec<Found>, Error> {
        self.querier.detect_over::<Tokio>(&host.into()).await
    }

    /// Finds servers of one or all games on the local network, and queries them.
    ///
    /// The queries use this client's timing and options.
    ///
    /// `game` is a [`Game`] or a text that [`Game::find`] finds, or `None` for all games.
    /// `networks` are broadcast addresses, such as 192.0.2.255, or multicast groups. Without any,
    /// the search covers the network of [`Self::with_local_address`] if it is set. Otherwise it
    /// covers all networks of the machine. On Linux these are the broadcast address of each
    /// interface, or the last address of its network if none is set, and ioquake3's multicast
    /// group; elsewhere it is 255.255.255.255, which reaches only the network of the default route.
    ///
    /// Requests are sent in two rounds to:
    ///
    /// - the game's default query port and the three after it
    /// - ports that the game's own client uses: those of Medal of Honor and Bridge Commander, and
    ///   the common port of UT2004 and Killing Floor
    /// - the beacon of Unreal, Unreal Tournament and SWAT 4, which reports the query port
    ///
    /// Over IPv6, only servers of Quake 3 are found. The search ends when no new address has
    /// answered for [`Timing::with_retry_after`] after the last request.
    ///
    /// Anybody can answer a broadcast. An address with a valid answer is queried once, in the
    /// protocol of its first answer. At most 4,096 addresses are queried, 128 per host. If the
    /// protocol can prove that the sender received the request, [`ServerStatus::verification`]
    /// shows it. Games share ports: use [`Game::of`] to find the game of an answer.
    ///
    /// ```no_run
    /// use queryport::games::Game;
    /// use queryport::{Client, ToStatus};
    ///
    /// # async fn example() -> queryport::Result<()> {
    /// let mut servers = Client::new()?.lan("openarena", &[])?;
    /// while let Some(scanned) = servers.next_answer().await {
    ///     let Ok(outcome) = scanned.result else { continue };
    ///     let (protocol, status) =
    ///         (outcome.answer.protocol(), outcome.answer.to_status());
    ///     let game = Game::of(&status, protocol).map_or("unknown", |game| game.name);
    ///     println!("{} {game} {}", outcome.peer, status.name.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Unreachable`](crate::ErrorKind::Unreachable) if a given network, or every
    /// network of the machine, is unreachable; [`Error::Io`] if no socket can be opened there. See
    /// also [`Scan::new`].
    ///
    /// [`Timing::with_retry_after`]: crate::Timing::with_retry_after
    /// [`ServerStatus::verification`]: crate::ServerStatus::verification
    #[cfg(feature = "games")]
    #[doc(alias = "broadcast")]
    pub fn lan<'g>(
        &self,
        game: impl TryInto<LanGame<'g>, Error: Into<Error>>,
        networks: &[IpAddr],
    ) -> Result<Scan<'static>, Error> {
        let LanGame(game) = game.try_into().map_err(Into::into)?;
        self.querier.find_on_lan(game, networks)
    }

    /// Queries a server's status: the protocol's own [`Answer`], with all keys and datagrams.
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind): each kind, and what to do.
    pub async fn answer(
        &self,
        protocol: impl TryInto<Protocol, Error: Into<Error>>,
        server: impl Into<Server>,
    ) -> Result<Outcome<Answer>, Error> {
        let protocol = protocol.try_into().map_err(Into::into)?;
        let server = server.into();
        self.querier.answer_over::<Tokio>(protocol, &server).await
    }

    /// Makes a server object, a `Box<dyn Query>`.
    ///
    /// This call cannot fail. An unknown protocol fails each query, with
    /// [`Error::UnknownProtocol`], and so does a malformed address, with [`Error::BadAddress`].
    pub fn target(
        &self,
        protocol: impl TryInto<Protocol, Error: Into<Error>>,
        server: impl Into<Server>,
    ) -> Box<dyn Query> {
        let protocol = protocol.try_into().map_err(Into::into);
        let (client, server) = (self.clone(), server.into());
        let name = server.clone();
        Box::new(Target::new(&name, move || {
            let (client, protocol, server) = (client.clone(), protocol.clone(), server.clone());
            async move { client.query(protocol?, server).await }
        }))
    }

    /// Makes a server object for a server of a game, a `Box<dyn Query>`.
    ///
    /// The server is queried as in [`Self::query_game`]. An answer of another game is
    /// [`Error::OtherServer`]. Give the port: without one, a second server of the same host can
    /// answer the next query.
    ///
    /// This call cannot fail. An unknown game fails each query, with [`Error::UnknownGame`], and so
    /// does a malformed address, with [`Error::BadAddress`].
    ///
    /// ```
    /// use queryport::{Client, Query};
    ///
    /// let client = Client::new()?;
    /// let servers: Vec<Box<dyn Query>> = vec![
    ///     client.target_game("openarena", "192.0.2.1:27960"),
    ///     client.target("ut2004", "192.0.2.2:7778"),
    /// ];
    /// assert_eq!(servers[0].name(), "192.0.2.1:27960");
    /// # Ok::<(), queryport::Error>(())
    /// ```
    #[cfg(feature = "games")]
    pub fn target_game<'g>(
        &self,
        game: impl TryInto<&'g Game, Error: Into<Error>>,
        server: impl Into<Server>,
    ) -> Box<dyn Query> {
        let game: Result<Game, Error> = game.try_into().copied().map_err(Into::into);
        let (client, server) = (self.clone(), server.into());
        let name = server.clone();
        Box::new(Target::new(&name, move || {
            let (client, game, server) = (client.clone(), game.clone(), server.clone());
            async move {
                let found = client.query_game(&game?, server).await?;
                match found.other_game() {
                    Some(_) => Err(found.other_server()),
                    None => Ok(found.outcome),
                }
            }
        }))
    }

    /// Makes a server object for a protocol of your own, a `Box<dyn Query>`.
    ///
    /// `conversation` is called with a nonce that nobody else can guess. The port is `default_port`
    /// if `server` has none.
    ///
    /// This call cannot fail. A malformed address fails each query, with [`Error::BadAddress`].
    pub fn target_with<C, F>(
        &self,
        server: impl Into<Server>,
        default_port: u16,
        conversation: F,
    ) -> Box<dyn Query>
    where
        C: Conversation<Answer: ToStatus + Send> + Send + 'static,
        F: Fn(u64) -> C + Send + Sync + 'static,
    {
        let (client, server) = (self.clone(), server.into());
        let conversation = Arc::new(conversation);
        let name = server.clone();
        Box::new(Target::new(&name, move || {
            let (client, server) = (client.clone(), server.clone());
            let conversation = Arc::clone(&conversation);
            async move {
                let new = |nonce| conversation(nonce);
                let answered = client.ask_host(server, default_port, new).await?;
                Ok(answered.map(|answer| answer.to_status()))
            }
        }))
    }

    /// Runs any [`Conversation`] with a host name or address.
    ///
    /// `conversation` is called with a nonce that nobody else can guess. If a name has several
    /// addresses (`localhost`: `::1` and `127.0.0.1`), they are tried one by one until one answers,
    /// all within [`Self::with_deadline`].
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind). Returns the error of the last address.
    pub async fn ask_host<C: Conversation>(
        &self,
        server: impl Into<Server>,
        default_port: u16,
        conversation: impl Fn(u64) -> C,
    ) -> Result<Outcome<C::Answer>, Error> {
        self.querier
            .ask_host_over::<Tokio, C>(&server.into(), default_port, conversation)
            .await
    }

    /// Runs any [`Conversation`] with an address, for example one of your own.
    ///
    /// # Errors
    /// See [`ErrorKind`](crate::ErrorKind): each kind, and what to do.
    pub async fn ask<C: Conversation>(
        &self,
        server: SocketAddr,
        conversation: C,
    ) -> Result<Outcome<C::Answer>, Error> {
        self.querier
            .ask_within::<Tokio, C>(server, conversation, self.querier.timing)
            .await
    }
}

impl Client {
    /// Sets how long to wait for a server, retries included: [`Timing::with_timeout`].
    ///
    /// A timeout that is longer than the deadline of [`Self::with_deadline`] raises the deadline.
    /// The first retry comes after 1.2 s, so a shorter timeout leaves none: one lost datagram then
    /// fails the query. [`Timing::with_retry_after`] lets it come earlier.
    ///
    /// ```
    /// use std::time::Duration;
    /// use queryport::Client;
    ///
    /// let client = Client::new()?.with_timeout(Duration::from_secs(2));
    /// # Ok::<(), queryport::Error>(())
    /// ```
    #[doc(alias = "timeout")]
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        let timing = self.querier.timing.with_timeout(timeout);
        let deadline = self.querier.deadline.max(timing.timeout());
        self.with_timing(timing).with_deadline(deadline)
    }

    /// Sets how often a request is sent again, within the timeout: [`Timing::with_retries`].
    #[doc(alias = "attempts")]
    #[must_use]
    pub fn with_retries(self, retries: u8) -> Self {
        let timing = self.querier.timing.with_retries(retries);
        self.with_timing(timing)
    }

    setters! {
        /// Sets timeouts and the number of retries.
        with_timing(timing: Timing) querier.timing = timing;

        /// Sets what to request: detail, limits, dialects.
        with_options(options: QueryOptions) querier.options = options;

        /// Sets the deadline of a call, over name resolution, all addresses of a name and all
        /// retries: 10 ms–10 min, default 10 s.
        ///
        /// If a name has several addresses, the first 32 are tried. Each gets an equal share of the
        /// remaining time: at least half a second, at most [`Timing::timeout`].
        with_deadline(deadline: Duration) querier.deadline =
            deadline.clamp(MIN_DEADLINE, MAX_DEADLINE);

        /// Sets which addresses of a host name to try.
        with_family(family: Family) querier.family = family;

        /// Sends datagrams from this local address, and from its port if it is not 0.
        ///
        /// A link-local address needs the scope of its interface. A server with a link-local
        /// address without a scope then gets that scope; otherwise it is
        /// [`Error::BadAddress`].
        ///
        /// A fixed port carries one query at a time: another one fails with [`Error::Io`]. If one
        /// call runs several queries at once, as `detect` does, one of them uses the port. Lists
        /// over TCP use any local address.
        ///
        /// Most protocols cannot tell a late reply from the next answer. With a fixed port, a query
        /// of the same server therefore starts as long after the previous one as that took, in
        /// addition to its own time. Clones of a client share this rule, other clients and programs
        /// do not know of it, and scans do not wait. With any port, no late reply arrives.
        with_local_address(local: SocketAddr) querier.local = Some(canonical(local));
    }

    /// A client whose nonces are derived from this secret: for tests, or if you have your own
    /// entropy.
    pub fn with_secret(secret: Secret) -> Self {
        Self {
            querier: Querier::new(secret),
        }
    }

    /// Returns a nonce for a new conversation, which nobody else can guess.
    pub fn nonce(&self, server: SocketAddr) -> u64 {
        self.querier.nonce(server)
    }
}
