//! Servers as objects.

use std::ops::Deref;

use async_trait::async_trait;

use super::error::Error;
use super::server::Server;
use crate::model::ServerStatus;
use crate::session::Outcome;

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
///         let name = Some("Mock".into());
///         let status = ServerStatus { name, ..ServerStatus::default() };
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

/// A server object: its name, and its query.
pub(super) struct Target<F> {
    name: String,
    query: F,
}

impl<F> Target<F> {
    pub(super) fn new(server: &Server, query: F) -> Self {
        let name = server.to_string();
        Self { name, query }
    }
}

#[async_trait]
impl<F, T> Query for Target<F>
where
    F: Fn() -> T + Send + Sync,
    T: Future<Output = Result<Outcome<ServerStatus>, Error>> + Send,
{
    fn name(&self) -> &str {
        &self.name
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        (self.query)().await
    }
}
