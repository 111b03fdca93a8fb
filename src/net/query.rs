//! Servers as objects.

use std::ops::Deref;

use async_trait::async_trait;

use super::error::Error;
use super::querier::Querier;
use super::server::Server;
use super::tokio_io::Tokio;
#[cfg(feature = "games")]
use crate::games::Game;
use crate::model::{ServerStatus, ToStatus};
use crate::protocol::Protocol;
use crate::session::{Conversation, Outcome};

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
/// A `Box`, an `Arc` or a reference of an implementation implements the trait too, so a cache can
/// wrap any of them:
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
    /// The server's display name, usually its host and port as given by the caller.
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

/// A server in one of the protocols.
pub(super) struct OfProtocol {
    querier: Querier,
    protocol: Result<Protocol, Error>,
    server: Server,
    name: String,
}

impl OfProtocol {
    pub(super) fn new(querier: Querier, protocol: Result<Protocol, Error>, server: Server) -> Self {
        let name = server.to_string();
        Self {
            querier,
            protocol,
            server,
            name,
        }
    }
}

#[async_trait]
impl Query for OfProtocol {
    fn name(&self) -> &str {
        &self.name
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        let protocol = self.protocol.clone()?;
        let answered = self.querier.answer_over::<Tokio>(protocol, &self.server);
        Ok(answered.await?.map(|answer| answer.to_status()))
    }
}

/// A server of a game.
#[cfg(feature = "games")]
pub(super) struct OfGame {
    querier: Querier,
    game: Result<Game, Error>,
    server: Server,
    name: String,
}

#[cfg(feature = "games")]
impl OfGame {
    pub(super) fn new(querier: Querier, game: Result<Game, Error>, server: Server) -> Self {
        let name = server.to_string();
        Self {
            querier,
            game,
            server,
            name,
        }
    }
}

#[cfg(feature = "games")]
#[async_trait]
impl Query for OfGame {
    fn name(&self) -> &str {
        &self.name
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        let game = self.game.as_ref().map_err(Error::clone)?;
        let found = self.querier.query_game_over::<Tokio>(game, &self.server);
        let found = found.await?;
        if let Some(other) = found.other_game {
            return Err(found.other_server(Some(other)));
        }
        Ok(found.outcome)
    }
}

/// A server in a protocol of the caller's.
pub(super) struct Custom<F> {
    querier: Querier,
    server: Server,
    name: String,
    default_port: u16,
    conversation: F,
}

impl<F> Custom<F> {
    pub(super) fn new(
        querier: Querier,
        server: Server,
        default_port: u16,
        conversation: F,
    ) -> Self {
        let name = server.to_string();
        Self {
            querier,
            server,
            name,
            default_port,
            conversation,
        }
    }
}

#[async_trait]
impl<C, F> Query for Custom<F>
where
    C: Conversation<Answer: ToStatus + Send> + Send + 'static,
    F: Fn(u64) -> C + Send + Sync,
{
    fn name(&self) -> &str {
        &self.name
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        let query = &self.conversation;
        let answered =
            self.querier
                .ask_host_over::<Tokio, _>(&self.server, self.default_port, query);
        Ok(answered.await?.map(|answer| answer.to_status()))
    }
}
