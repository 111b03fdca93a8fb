//! Queries of one server, and servers as objects.

use std::net::SocketAddr;
use std::ops::Deref;

use async_trait::async_trait;

use super::client::Client;
use super::detect::Detected;
use super::error::Error;
use super::server::Server;
use super::tokio_io::Tokio;
use crate::model::{ServerStatus, ToStatus};
use crate::protocol::Protocol;
use crate::session::{Conversation, Outcome};
use crate::status_query::{Answer, StatusQuery};
#[cfg(feature = "games")]
use {super::inquiry::Listed, crate::games::Game, crate::lists::Scope};

impl Client {
    /// Queries a server's status: the common [`ServerStatus`].
    ///
    /// `server` is a host name or address, as a text, a [`SocketAddr`], or a pair of host and port,
    /// see [`Server`]. Without a port, the protocol's default query port is used.
    ///
    /// # Errors
    /// See [`Error::kind`].
    pub async fn query(
        &self,
        protocol: Protocol,
        server: impl Into<Server>,
    ) -> Result<Outcome<ServerStatus>, Error> {
        Ok(self
            .answer(protocol, server)
            .await?
            .map(|answer| answer.to_status()))
    }

    /// Queries a server's status: the protocol's own [`Answer`], with all keys and datagrams.
    ///
    /// # Errors
    /// See [`Error::kind`].
    pub async fn answer(
        &self,
        protocol: Protocol,
        server: impl Into<Server>,
    ) -> Result<Outcome<Answer>, Error> {
        let new = |nonce| StatusQuery::new(protocol, nonce, &self.options);
        self.ask_host(server, protocol.default_query_port(), new)
            .await
    }

    /// Runs any [`Conversation`] with an address, for example one of your own.
    ///
    /// # Errors
    /// See [`Error::kind`].
    pub async fn ask<C: Conversation>(
        &self,
        server: SocketAddr,
        conversation: C,
    ) -> Result<Outcome<C::Answer>, Error> {
        self.ask_within::<Tokio, C>(server, conversation, self.timing)
            .await
    }

    /// Runs any [`Conversation`] with a host name or address.
    ///
    /// `conversation` is called with a nonce that nobody else can guess. If a name has several
    /// addresses (`localhost`: `::1` and `127.0.0.1`), they are tried one by one until one answers,
    /// all within [`Self::with_deadline`].
    ///
    /// # Errors
    /// See [`Error::kind`]. Returns the error of the last address.
    pub async fn ask_host<C: Conversation>(
        &self,
        server: impl Into<Server>,
        default_port: u16,
        conversation: impl Fn(u64) -> C,
    ) -> Result<Outcome<C::Answer>, Error> {
        self.ask_host_over::<Tokio, C>(&server.into(), default_port, conversation)
            .await
    }

    /// Tries all protocols at the likely ports of a host, and returns the answers, first one first.
    ///
    /// Without a port, these are the ports of well-known games, then (feature `games`) the default
    /// query ports of all games with living or listed masters. With `:port`, it is that port, and
    /// for GameSpy v1 and UT2004 also the ones after it, because their query port is the game port
    /// plus 1 or 10.
    ///
    /// Each port gets one request per protocol, 20 ms apart, and no retry within a second. The call
    /// ends half a second after the first answer, or at the client's deadline. If a name has
    /// several addresses, only the first is tried. If no server answers, the list is empty.
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
    pub async fn detect(&self, host: impl Into<Server>) -> Result<Vec<Detected>, Error> {
        self.detect_over::<Tokio>(&host.into()).await
    }

    /// Queries a server of a game, by the port that players connect to.
    ///
    /// `server` is a host name or address, with a port if it is not the game's default. The request
    /// goes to the query port that [`Game::query_port`] returns. If there is no answer within 0.6
    /// s, further ports are tried one by one, until the first answer:
    ///
    /// 1. the ports of [`Game::also_at`]
    /// 2. the given port itself, in case it is the query port
    /// 3. without a given port, the next three ports of a Quake 3 server
    ///
    /// An answer from one of these ports counts only if it shows no other game and no other game
    /// port. [`Outcome::peer`](crate::Outcome::peer) is the address that answered. List servers are
    /// not queried, see [`Self::query_listed`].
    ///
    /// SRV records (`_minecraft._tcp`) are not looked up: the system's resolver has no call for
    /// them. They contain the game port, which can differ from the query port.
    ///
    /// ```no_run
    /// use queryport::Client;
    /// use queryport::games::Game;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let found = Client::new()?
    ///     .query_game(Game::find("battlefield 2")?, "example.org:16568")
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
    /// See [`Error::kind`]. Returns the error of the first port. [`Error::BadAddress`] if neither
    /// the game has a default port nor `server` a port.
    #[cfg(feature = "games")]
    pub async fn query_game(
        &self,
        game: &Game,
        server: impl Into<Server>,
    ) -> Result<Detected, Error> {
        self.query_game_over::<Tokio>(game, &server.into()).await
    }

    /// Queries a server of a game at the ports that the game's list servers give for its host.
    ///
    /// Use it for servers that [`Self::query_game`] does not find: lists of GameSpy v1, GameSpy v2
    /// and UT2004 contain query ports. Lists are requested as in [`Self::servers`], and each may
    /// take until [`Self::with_deadline`]. Then up to ten ports of the host are queried, nearest to
    /// the given port first. An answer counts only if it shows no other game and no other game
    /// port. `None` if no list contains the host.
    ///
    /// ```no_run
    /// use queryport::Client;
    /// use queryport::games::Game;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let (client, game) = (Client::new()?, Game::find("mohaa")?);
    /// if client.query_game(game, "example.org:12210").await.is_err()
    ///     && let Some(found) = client.query_listed(game, "example.org:12210").await?
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
    pub async fn query_listed(
        &self,
        game: &Game,
        server: impl Into<Server>,
    ) -> Result<Option<Detected>, Error> {
        let server = server.into();
        let found = self.attempts::<Tokio>(&server, 1).await?;
        // The caller chose the host, so any scope is accepted.
        let mut servers = self
            .servers(game)?
            .with_scope(Scope::Any)
            .with_timeout(self.deadline);
        let mut listed = Vec::new();
        while let Some(Listed { server, .. }) = servers.next().await {
            listed.push(server);
        }
        self.query_listed_over::<Tokio>(game, &server, found, listed)
            .await
    }
}

/// A server that can be queried for its status: over the network, in a cache, or as a mock.
///
/// Declare implementations with `#[async_trait]`, like the trait:
///
/// ```
/// use queryport::{Client, Error, Query};
/// use queryport::{Outcome, Protocol, QueryError, Secret, ServerStatus};
///
/// /// A server that is up or down as a test wants it.
/// struct Mock {
///     name: String,
///     up: bool,
/// }
///
/// #[async_trait::async_trait]
/// impl Query for Mock {
///     fn name(&self) -> &str {
///         &self.name
///     }
///
///     async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
///         let peer = ([192, 0, 2, 1], 27960).into();
///         if !self.up {
///             return Err(Error::Query { peer, error: QueryError::Unreachable });
///         }
///         let mut status = ServerStatus::default();
///         status.name = Some("Mock".into());
///         Ok(Outcome::new(status, peer, None))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let client = Client::with_secret(Secret::new([7; 16]));
/// let servers: Vec<Box<dyn Query>> = vec![
///     Box::new(Mock { name: "mock".to_owned(), up: true }),
///     client.target(Protocol::Quake3, "192.0.2.2:27961"),
/// ];
/// assert_eq!(servers[1].name(), "192.0.2.2:27961");
/// assert_eq!(servers[0].query().await.unwrap().answer.name.unwrap(), "Mock");
/// # }
/// ```
///
/// `Box`, `Arc` and references of an implementation implement it too, so a cache can wrap any of
/// them:
///
/// ```
/// use std::sync::Mutex;
/// use queryport::{Error, Query};
/// use queryport::{Outcome, ServerStatus};
///
/// /// Queries once, and answers from memory after that.
/// struct Cache<Q> {
///     inner: Q,
///     answer: Mutex<Option<Outcome<ServerStatus>>>,
/// }
///
/// #[async_trait::async_trait]
/// impl<Q: Query> Query for Cache<Q> {
///     fn name(&self) -> &str {
///         self.inner.name()
///     }
///
///     async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
///         if let Some(answer) = self.answer.lock().unwrap().clone() {
///             return Ok(answer);
///         }
///         let answer = self.inner.query().await?;
///         *self.answer.lock().unwrap() = Some(answer.clone());
///         Ok(answer)
///     }
/// }
/// ```
#[async_trait]
pub trait Query: Send + Sync {
    /// The server's display name, usually the host and port it was given as.
    fn name(&self) -> &str;

    /// Queries the server and waits for the answer. Dropping the future cancels the query.
    async fn query(&self) -> Result<Outcome<ServerStatus>, Error>;
}

/// A `Box`, an `Arc` or a reference.
#[async_trait]
impl<P: Deref<Target: Query> + Send + Sync> Query for P {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        (**self).query().await
    }
}

impl Client {
    /// Makes a server object, for example for a `Vec<Box<dyn Query>>`.
    pub fn target(&self, protocol: Protocol, server: impl Into<Server>) -> Box<dyn Query> {
        let options = self.options;
        let query = move |nonce| StatusQuery::new(protocol, nonce, &options);
        self.target_with(server, protocol.default_query_port(), query)
    }

    /// Makes a server object for a protocol of your own.
    ///
    /// `conversation` is called with a nonce that nobody else can guess. The port is `default_port`
    /// if `server` has none.
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
        let server = server.into().to_string();
        Box::new(Custom {
            client: self.clone(),
            server,
            default_port,
            conversation,
        })
    }
}

/// A server in the caller's own protocol.
struct Custom<F> {
    client: Client,
    server: String,
    default_port: u16,
    conversation: F,
}

#[async_trait]
impl<C, F> Query for Custom<F>
where
    C: Conversation<Answer: ToStatus + Send> + Send + 'static,
    F: Fn(u64) -> C + Send + Sync,
{
    fn name(&self) -> &str {
        &self.server
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        let outcome = self
            .client
            .ask_host(&self.server, self.default_port, &self.conversation)
            .await?;
        Ok(outcome.map(|answer| answer.to_status()))
    }
}
