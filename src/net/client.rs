//! Asking servers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::Error;
use super::exchange;
use super::query::Target;
use super::resolve::resolve;
use super::scan::Scan;
use crate::limits::Limits;
use crate::model::ServerStatus;
use crate::protocol::{Protocol, StatusQuery};
use crate::secret::Secret;
use crate::session::{Conversation, Outcome, ScanOptions, Session, Timing};
use crate::ut2004;

/// Asks game servers. Cheap to clone; clones share their nonce counter.
///
/// ```no_run
/// use queryport::net::Client;
/// use queryport::protocol::Protocol;
///
/// # async fn example() -> Result<(), queryport::net::Error> {
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
    pub(super) limits: Limits,
    pub(super) readings: u8,
    counter: Arc<AtomicU64>,
}

impl Client {
    /// A client with default timing and limits, and a secret from the operating system.
    ///
    /// # Errors
    /// [`Error::Io`] when the system has no entropy to give.
    pub fn new() -> Result<Self, Error> {
        secret().map(Self::with_secret)
    }

    /// A client whose nonces follow from this secret: for tests, and for those who keep their own entropy.
    #[must_use]
    pub fn with_secret(secret: Secret) -> Self {
        let (timing, limits) = (Timing::default(), Limits::default());
        Self { secret, timing, limits, readings: ut2004::StatusQuery::READINGS, counter: Arc::default() }
    }

    /// Sets the waiting times of each query.
    #[must_use]
    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// Sets the bounds of each answer.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many readings of a list must agree where nothing on the wire proves it whole (UT2004 alone): 1–4, default
    /// 3. With 1 a scan sends half the requests, and one datagram lost from the middle of a list goes unnoticed; see
    /// [`ut2004::StatusQuery::with_readings`].
    #[must_use]
    pub fn with_readings(mut self, readings: u8) -> Self {
        self.readings = readings;
        self
    }

    /// Asks for everything and normalises it. `server` is a host name or address, with `:port` where it is not
    /// the protocol's default query port.
    ///
    /// # Errors
    /// See [`Error`]; `is_silent`, `is_unreachable` and `is_nonsense` tell the common ones apart.
    pub async fn query(&self, protocol: Protocol, server: &str) -> Result<Outcome<ServerStatus>, Error> {
        let new = |nonce| self.question(protocol, nonce);
        let outcome = self.ask_host(server, protocol.default_query_port(), new).await?;
        Ok(outcome.map(|answer| answer.to_status()))
    }

    /// The full question in this client's terms.
    fn question(&self, protocol: Protocol, nonce: u64) -> StatusQuery {
        StatusQuery::new(protocol, nonce, self.limits).with_readings(self.readings)
    }

    /// A session with an address, with this client's timing and limits.
    pub(super) fn session<C: Conversation>(&self, conversation: C, server: SocketAddr) -> Session<C> {
        Session::new(conversation, server, self.timing, &self.limits, exchange::now())
    }

    pub(super) const fn timing(&self) -> Timing {
        self.timing
    }

    pub(super) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A server bound to this client, which can stand in a list as `Box<dyn Query>`.
    #[must_use]
    pub fn target(&self, protocol: Protocol, server: impl Into<String>) -> Target {
        Target::new(self.clone(), protocol, server.into())
    }

    /// Leads any conversation with an address.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ask<C: Conversation>(
        &self,
        conversation: C,
        server: SocketAddr,
    ) -> Result<Outcome<C::Answer>, Error> {
        exchange::run(self.session(conversation, server)).await
    }

    /// Asks every server of a list for everything, many at a time. The waiting times are those of the options.
    ///
    /// # Errors
    /// See [`Scan::new`].
    pub fn scan<T>(&self, targets: T, options: ScanOptions) -> Result<Scan, Error>
    where
        T: IntoIterator<Item = (Protocol, SocketAddr), IntoIter: Send + 'static>,
    {
        Scan::new(self.questions(targets), options)
    }

    /// The full question for each server of a list, made when it is pulled: what a [`Scan`] takes.
    pub fn questions<T>(
        &self,
        targets: T,
    ) -> impl Iterator<Item = (SocketAddr, StatusQuery)> + Send + 'static + use<T>
    where
        T: IntoIterator<Item = (Protocol, SocketAddr), IntoIter: Send + 'static>,
    {
        let client = self.clone();
        targets
            .into_iter()
            .map(move |(protocol, server)| (server, client.question(protocol, client.nonce(server))))
    }

    /// A number for a new conversation that nobody else can guess.
    #[must_use]
    pub fn nonce(&self, server: SocketAddr) -> u64 {
        self.secret.number("client nonce", server, self.counter.fetch_add(1, Ordering::Relaxed))
    }

    /// Leads any conversation with a host. `conversation` is made from a nonce nobody else can guess. A name with
    /// several addresses (as `localhost`, `::1` and `127.0.0.1`) is tried address by address until one answers; each
    /// has the whole timeout.
    ///
    /// # Errors
    /// See [`Error`]; that of the last address.
    pub async fn ask_host<C: Conversation>(
        &self,
        server: &str,
        default_port: u16,
        conversation: impl Fn(u64) -> C,
    ) -> Result<Outcome<C::Answer>, Error> {
        let mut last = Err(Error::Address(server.to_owned()));
        for address in resolve(server, default_port).await? {
            last = self.ask(conversation(self.nonce(address)), address).await;
            if last.is_ok() {
                break;
            }
        }
        last
    }
}

/// A secret from the operating system.
pub(super) fn secret() -> Result<Secret, Error> {
    let mut secret = [0; 16];
    getrandom::fill(&mut secret)
        .map_err(|error| Error::Io { doing: "draw random bytes", source: error.into() })?;
    Ok(Secret::new(secret))
}
