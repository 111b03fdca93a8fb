//! Something that can be queried, as an object.

use async_trait::async_trait;

use super::client::Client;
use super::error::Error;
use crate::model::ServerStatus;
use crate::protocol::Protocol;
use crate::session::Outcome;

/// One server that can be asked for its status, whatever stands behind it: the network, a cache, a mock.
///
/// ```
/// use queryport::net::{Client, Query};
/// use queryport::protocol::Protocol;
/// use queryport::secret::Secret;
///
/// let client = Client::with_secret(Secret::new([7; 16]));
/// let servers: Vec<Box<dyn Query>> = vec![
///     Box::new(client.target(Protocol::Quake3, "192.0.2.1:27960")),
///     Box::new(client.target(Protocol::Quake3, "192.0.2.2:27961")),
/// ];
/// assert_eq!(servers[1].name(), "192.0.2.2:27961");
/// ```
#[async_trait]
pub trait Query: Send + Sync {
    /// What a person calls the server: usually the host and port it was given as.
    fn name(&self) -> &str;

    /// Asks, and waits for the answer. Dropping the future cancels the query.
    async fn query(&self) -> Result<Outcome<ServerStatus>, Error>;
}

/// A server on the network, bound to the [`Client`] that asks it. See [`Client::target`].
#[derive(Debug, Clone)]
pub struct Target {
    client: Client,
    protocol: Protocol,
    server: String,
}

impl Target {
    pub(super) const fn new(client: Client, protocol: Protocol, server: String) -> Self {
        Self { client, protocol, server }
    }

    /// The protocol it is asked in.
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
