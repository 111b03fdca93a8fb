//! Querying servers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use super::error::Error;
use super::exchange::{self, Exchange};
use super::resolve::{Family, resolve};
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
        let secret = Secret::from_os().map_err(|source| Error::Io { doing: "draw random bytes", source })?;
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

    /// Queries a server's status: the normalised [`ServerStatus`]. `server` is a host name or address, with `:port` where it is not the
    /// protocol's default query port.
    ///
    /// # Errors
    /// See [`Error::kind`].
    pub async fn query(&self, protocol: Protocol, server: &str) -> Result<Outcome<ServerStatus>, Error> {
        Ok(self.answer(protocol, server).await?.map(|answer| answer.to_status()))
    }

    /// Queries a server's status: the protocol's own [`Answer`], with all keys and datagrams.
    ///
    /// # Errors
    /// See [`Error::kind`].
    pub async fn answer(&self, protocol: Protocol, server: &str) -> Result<Outcome<Answer>, Error> {
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
        self.exchange(conversation, server, self.timing).await?.finish().await
    }

    /// Runs any [`Conversation`] with a host name or address. `conversation` is made from a nonce that nobody else can guess. A name with
    /// several addresses (as `localhost`, `::1` and `127.0.0.1`) is tried address by address until one answers, all within
    /// [`Self::with_deadline`].
    ///
    /// # Errors
    /// See [`Error::kind`]; the error of the last address.
    pub async fn ask_host<C: Conversation>(
        &self,
        server: &str,
        default_port: u16,
        conversation: impl Fn(u64) -> C,
    ) -> Result<Outcome<C::Answer>, Error> {
        let mut attempts = self.attempts(server, default_port).await?;
        loop {
            let conversation = conversation(self.nonce(attempts.address));
            let outcome = match self.exchange(conversation, attempts.address, attempts.timing()).await {
                Ok(exchange) => exchange.finish().await,
                Err(error) => Err(error),
            };
            if outcome.is_ok() || !attempts.advance() {
                return outcome;
            }
        }
    }

    /// Looks a host up.
    pub(super) async fn attempts(&self, server: &str, default_port: u16) -> Result<Attempts, Error> {
        let deadline = self.deadline();
        let (address, others) = self.resolve(server, default_port, deadline).await?;
        Ok(Attempts { address, others: others.into_iter(), deadline, timing: self.timing })
    }

    /// A number for a new conversation that nobody else can guess.
    #[must_use]
    pub fn nonce(&self, server: SocketAddr) -> u64 {
        self.secret.number("client nonce", server, self.counter.fetch_add(1, Ordering::Relaxed))
    }

    /// When a call that begins now must end.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now().checked_add(self.deadline).unwrap_or_else(Instant::now)
    }

    pub(super) async fn resolve(
        &self,
        server: &str,
        default_port: u16,
        deadline: Instant,
    ) -> Result<(SocketAddr, Vec<SocketAddr>), Error> {
        resolve(server, default_port, self.family, deadline).await
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
    deadline: Instant,
    timing: Timing,
}

impl Attempts {
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
