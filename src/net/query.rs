//! Something that can be queried, as an object.

use std::sync::Arc;

use async_trait::async_trait;

use super::client::Client;
use super::error::Error;
use crate::model::{ServerStatus, ToStatus};
use crate::protocol::Protocol;
use crate::session::{Conversation, Outcome};

/// One server that can be asked for its status, whatever is behind it: the network, a cache, a mock.
///
/// The trait is declared with `#[async_trait]`, and so are its implementations:
///
/// ```
/// use queryport::{Client, Error, Query};
/// use queryport::{Outcome, Protocol, QueryError, Secret, ServerStatus};
///
/// /// A server that is up or down as a test wants it.
/// struct Mock { name: String, up: bool }
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
///     Box::new(client.target(Protocol::Quake3, "192.0.2.2:27961")),
/// ];
/// assert_eq!(servers[1].name(), "192.0.2.2:27961");
/// assert_eq!(servers[0].query().await.unwrap().answer.name.unwrap(), "Mock");
/// # }
/// ```
///
/// Both `Box` and `Arc` of an implementation are implementations, so a cache can wrap any of them:
///
/// ```
/// use std::sync::Mutex;
/// use queryport::{Error, Query};
/// use queryport::{Outcome, ServerStatus};
///
/// /// Queries once, and answers from memory after that.
/// struct Cache<Q> { inner: Q, answer: Mutex<Option<Outcome<ServerStatus>>> }
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
    /// What a person calls the server: usually the host and port it was given as.
    fn name(&self) -> &str;

    /// Queries the server and waits for the answer. Dropping the future cancels the query.
    async fn query(&self) -> Result<Outcome<ServerStatus>, Error>;
}

#[async_trait]
impl<Q: Query + ?Sized> Query for Box<Q> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        (**self).query().await
    }
}

#[async_trait]
impl<Q: Query + ?Sized> Query for Arc<Q> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        (**self).query().await
    }
}

/// A server on the network, bound to the [`Client`] that queries it. See [`Client::target`].
#[derive(Debug, Clone)]
pub struct Target {
    client: Client,
    protocol: Protocol,
    server: String,
}

impl Client {
    /// A server bound to this client, which can be an element of a `Vec<Box<dyn Query>>`.
    #[must_use]
    pub fn target(&self, protocol: Protocol, server: impl Into<String>) -> Target {
        Target { client: self.clone(), protocol, server: server.into() }
    }

    /// The same for a protocol of your own: `conversation` is made from a nonce that nobody else can guess. The port is
    /// `default_port` where `server` has none.
    #[must_use]
    pub fn target_with<C, F>(
        &self,
        server: String,
        default_port: u16,
        conversation: F,
    ) -> impl Query + use<C, F>
    where
        C: Conversation<Answer: ToStatus + Send> + Send + 'static,
        F: Fn(u64) -> C + Send + Sync + 'static,
    {
        Custom { client: self.clone(), server, default_port, conversation }
    }
}

/// A server in a protocol of the caller's.
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
        let outcome = self.client.ask_host(&self.server, self.default_port, &self.conversation).await?;
        Ok(outcome.map(|answer| answer.to_status()))
    }
}

impl Target {
    /// The protocol it is queried in.
    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        self.protocol
    }
}

#[async_trait]
impl Query for Target {
    fn name(&self) -> &str {
        &self.server
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        self.client.query(self.protocol, &self.server).await
    }
}
