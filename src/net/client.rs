//! Querying servers: the client, host names, and servers as objects.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, timeout_at};

use super::error::Error;
use super::exchange::{self, Exchange};
use super::server::{Server, split};
use crate::address::is_unicast;
use crate::error::QueryError;
use crate::lists::ServerList;
use crate::model::{ServerStatus, ToStatus};
use crate::options::QueryOptions;
use crate::protocol::Protocol;
use crate::secret::Secret;
use crate::session::{Conversation, Outcome, Session, Timing};
use crate::status_query::{Answer, StatusQuery};

/// Queries game servers. Cheap to clone; clones share their nonce counter.
///
/// ```no_run
/// use queryport::{Client, Protocol};
///
/// # async fn example() -> Result<(), queryport::Error> {
/// let client = Client::new()?;
/// let outcome = client.query(Protocol::Quake3, "example.org:27960").await?;
/// for player in outcome.answer.listed_players() {
///     println!("{:>5} {}", player.score.unwrap_or(0), player.name);
/// }
/// # Ok(())
/// # }
/// ```
#[doc(alias("gamedig", "GameQ"))]
#[derive(Debug, Clone)]
pub struct Client {
    secret: Secret,
    pub(super) timing: Timing,
    pub(super) options: QueryOptions,
    pub(super) deadline: Duration,
    pub(super) family: Family,
    pub(super) local: Option<SocketAddr>,
    counter: Arc<AtomicU64>,
    /// Lists of servers that the client and its clones have read, with the time of each.
    pub(super) lists: Arc<Mutex<BTreeMap<String, (Instant, ServerList)>>>,
}

impl Client {
    /// A client with default timing and options, and a secret from the operating system.
    ///
    /// # Errors
    /// [`Error::Io`] when the system has no entropy to give.
    pub fn new() -> Result<Self, Error> {
        let secret = Secret::from_os().map_err(|source| Error::io("draw random bytes", source))?;
        Ok(Self::with_secret(secret))
    }

    /// A client whose nonces follow from this secret: for tests, and for callers with entropy of their own.
    #[must_use]
    pub fn with_secret(secret: Secret) -> Self {
        Self {
            secret,
            timing: Timing::default(),
            options: QueryOptions::default(),
            deadline: Duration::from_secs(10),
            family: Family::Any,
            local: None,
            counter: Arc::default(),
            lists: Arc::default(),
        }
    }

    /// Sets how long each query waits and how often it sends again.
    #[must_use]
    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// Sets how to ask: detail, limits, dialects.
    #[must_use]
    pub fn with_options(mut self, options: QueryOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the one deadline over name resolution, all addresses of a name, and all their retries: 10 ms–10 min, default
    /// 10 s. Where a name has several addresses, each gets an equal share of the time that is left, and never more than
    /// [`Timing::timeout`].
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline.clamp(Duration::from_millis(10), Duration::from_secs(600));
        self
    }

    /// Sets which addresses of a host name are tried.
    #[must_use]
    pub fn with_family(mut self, family: Family) -> Self {
        self.family = family;
        self
    }

    /// Sends from this address: an interface of the machine, and a port where it is not 0. A fixed port carries one query
    /// at a time.
    #[must_use]
    pub fn with_local_address(mut self, local: SocketAddr) -> Self {
        self.local = Some(local);
        self
    }

    /// Queries a server's status: the normalised [`ServerStatus`]. `server` is a host name or address, with a port where it is
    /// not the protocol's default query port: a text, a [`SocketAddr`], or a pair of host and port, see [`Server`].
    ///
    /// # Errors
    /// See [`Error::kind`].
    pub async fn query(
        &self,
        protocol: Protocol,
        server: impl Into<Server>,
    ) -> Result<Outcome<ServerStatus>, Error> {
        Ok(self.answer(protocol, server).await?.map(|answer| answer.to_status()))
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
        self.ask_host(server, protocol.default_query_port(), new).await
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
        self.ask_within(server, conversation, self.timing).await
    }

    /// Runs any [`Conversation`] with a host name or address. `conversation` is made from a nonce that nobody else can guess. A name with
    /// several addresses (as `localhost`, `::1` and `127.0.0.1`) is tried address by address until one answers, all within
    /// [`Self::with_deadline`].
    ///
    /// # Errors
    /// See [`Error::kind`]; the error of the last address.
    pub async fn ask_host<C: Conversation>(
        &self,
        server: impl Into<Server>,
        default_port: u16,
        conversation: impl Fn(u64) -> C,
    ) -> Result<Outcome<C::Answer>, Error> {
        let mut attempts = self.attempts(&server.into(), default_port).await?;
        loop {
            let conversation = conversation(self.nonce(attempts.address));
            let outcome = self.ask_within(attempts.address, conversation, attempts.timing()).await;
            if outcome.is_ok() || !attempts.advance() {
                return outcome;
            }
        }
    }

    /// The addresses of a server, in the resolver's order. The client's deadline begins here.
    pub(super) async fn attempts(&self, server: &Server, default_port: u16) -> Result<Attempts, Error> {
        let deadline = Instant::now().checked_add(self.deadline).unwrap_or_else(Instant::now);
        let mut addresses: Vec<SocketAddr> = Vec::new();
        let (host, port) = match server {
            Server::Address(address) => {
                let others = addresses.into_iter();
                return Ok(Attempts { address: *address, others, deadline, timing: self.timing });
            }
            Server::Name(name) => split(name, default_port)?,
        };
        let failed = |source: io::Error| Error::Resolve { host: host.to_owned(), source: source.into() };
        if let Ok(ip) = host.parse::<IpAddr>() {
            addresses.push(SocketAddr::new(ip, port));
        } else {
            let late = |_| failed(io::Error::new(io::ErrorKind::TimedOut, "the resolver took too long"));
            let found = timeout_at(deadline, tokio::net::lookup_host((host, port))).await.map_err(late)?;
            for address in found.map_err(failed)?.filter(|address| self.family.admits(*address)) {
                if !addresses.contains(&address) && addresses.len() < MAX_ADDRESSES {
                    addresses.push(address);
                }
            }
        }
        let mut others = addresses.into_iter();
        let none = || io::Error::new(io::ErrorKind::NotFound, "the name has no address of the wanted family");
        let address = others.next().ok_or_else(|| failed(none()))?;
        Ok(Attempts { address, others, deadline, timing: self.timing })
    }

    /// A number for a new conversation that nobody else can guess.
    #[must_use]
    pub fn nonce(&self, server: SocketAddr) -> u64 {
        self.secret.number("client nonce", server, self.counter.fetch_add(1, Ordering::Relaxed))
    }

    /// Runs a conversation on a socket of its own.
    pub(super) async fn ask_within<C: Conversation>(
        &self,
        server: SocketAddr,
        conversation: C,
        timing: Timing,
    ) -> Result<Outcome<C::Answer>, Error> {
        self.exchange(conversation, server, timing).await?.finish().await
    }

    /// A conversation on a socket of its own.
    pub(super) async fn exchange<C: Conversation>(
        &self,
        conversation: C,
        server: SocketAddr,
        timing: Timing,
    ) -> Result<Exchange<C>, Error> {
        if !is_unicast(server) {
            return Err(Error::Query { peer: server, error: QueryError::NotOneServer });
        }
        Exchange::new(Session::new(conversation, server, timing, exchange::now()), self.local).await
    }
}

/// The addresses of a host: they are tried one after the other, each with an equal share of the time that is left.
#[derive(Debug)]
pub(super) struct Attempts {
    pub(super) address: SocketAddr,
    others: std::vec::IntoIter<SocketAddr>,
    pub(super) deadline: Instant,
    timing: Timing,
}

impl Attempts {
    /// This address and the others, without ports.
    #[cfg(feature = "games")]
    pub(super) fn hosts(&self) -> impl Iterator<Item = IpAddr> {
        std::iter::once(self.address).chain(self.others.clone()).map(|address| address.ip())
    }

    /// The timing for the address.
    pub(super) fn timing(&self) -> Timing {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let addresses = u32::try_from(self.others.len()).unwrap_or(u32::MAX).saturating_add(1);
        let share = left.checked_div(addresses).unwrap_or(left);
        self.timing.with_timeout(share.min(self.timing.timeout()))
    }

    /// Goes on to the next address; `false` if there is none.
    pub(super) fn advance(&mut self) -> bool {
        self.others.next().map(|next| self.address = next).is_some()
    }
}

/// Addresses of one name that are worth trying: one or two per family. More would only add up timeouts.
const MAX_ADDRESSES: usize = 4;

/// Which addresses of a host name are tried.
///
/// ```
/// use queryport::net::Family;
/// use queryport::{Client, Secret};
///
/// let client = Client::with_secret(Secret::new([7; 16])).with_family(Family::Ipv4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Family {
    /// All, in the resolver's order.
    #[default]
    Any,
    /// IPv4 only.
    Ipv4,
    /// IPv6 only.
    Ipv6,
}

impl Family {
    /// Whether an address is of the family.
    pub(super) const fn admits(self, address: SocketAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Ipv4 => address.is_ipv4(),
            Self::Ipv6 => address.is_ipv6(),
        }
    }
}

/// One server that can be asked for its status, whatever is behind it: the network, a cache, a mock.
///
/// The trait is declared with `#[async_trait]`, and so are its implementations:
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
/// Both `Box` and `Arc` of an implementation are implementations, so a cache can wrap any of them:
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

impl Client {
    /// A server bound to this client, which can be an element of a `Vec<Box<dyn Query>>`.
    #[must_use]
    pub fn target(&self, protocol: Protocol, server: impl Into<Server>) -> Box<dyn Query> {
        let options = self.options;
        let query = move |nonce| StatusQuery::new(protocol, nonce, &options);
        self.target_with(server, protocol.default_query_port(), query)
    }

    /// A server of a protocol of your own: `conversation` is made from a nonce that nobody else can guess. The port is
    /// `default_port` where `server` has none.
    #[must_use]
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
        Box::new(Custom { client: self.clone(), server, default_port, conversation })
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
