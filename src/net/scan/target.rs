//! What a scan queries: addresses as they are, host names looked up on the way.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::task::JoinSet;

use crate::net::client::Client;
use crate::net::error::Error;
use crate::options::QueryOptions;
use crate::protocol::Protocol;
use crate::session::Conversation;
use crate::status_query::StatusQuery;

/// Host names that are looked up at a time.
const MAX_LOOKUPS: usize = 32;

/// One server of a scan: a protocol, an address or host name, and options of its own where they differ from the client's.
///
/// ```
/// use queryport::net::ScanTarget;
/// use queryport::{Dialect, Protocol, QueryOptions, gamespy4};
///
/// let quake3 = ScanTarget::from((Protocol::Quake3, "example.org:27961"));
/// let minecraft = ScanTarget::from((Protocol::GameSpy4, "192.0.2.1:25565"))
///     .with_options(QueryOptions::default().with_dialect(Dialect::Minecraft));
/// ```
#[derive(Debug, Clone)]
pub struct ScanTarget {
    protocol: Protocol,
    server: Server,
    options: Option<QueryOptions>,
}

#[derive(Debug, Clone)]
enum Server {
    Address(SocketAddr),
    Name(String),
}

impl ScanTarget {
    /// Queries this server with these options in place of the client's.
    #[must_use]
    pub fn with_options(mut self, options: QueryOptions) -> Self {
        self.options = Some(options);
        self
    }
}

impl From<(Protocol, SocketAddr)> for ScanTarget {
    fn from((protocol, address): (Protocol, SocketAddr)) -> Self {
        Self { protocol, server: Server::Address(address), options: None }
    }
}

/// A host name or address, with `:port` where it is not the protocol's default query port.
impl From<(Protocol, String)> for ScanTarget {
    fn from((protocol, name): (Protocol, String)) -> Self {
        let server = name.parse().map_or_else(|_| Server::Name(name), Server::Address);
        Self { protocol, server, options: None }
    }
}

/// A host name or address, with `:port` where it is not the protocol's default query port.
impl From<(Protocol, &str)> for ScanTarget {
    fn from((protocol, name): (Protocol, &str)) -> Self {
        (protocol, name.to_owned()).into()
    }
}

/// A target on its way into the scanner.
pub(super) struct Pulled<C> {
    pub(super) index: u64,
    pub(super) target: Result<(SocketAddr, C), Error>,
}

/// The targets of a scan, numbered as they are pulled. Lookups overtake one another.
pub(super) struct Targets<C: Conversation> {
    source: Source,
    client: Client,
    pulled: u64,
    lookups: JoinSet<(u64, ScanTarget, Result<SocketAddr, Error>)>,
    convert: fn(StatusQuery) -> C,
}

enum Source {
    List(Box<dyn Iterator<Item = ScanTarget> + Send>),
    Stream(Pin<Box<dyn Stream<Item = ScanTarget> + Send>>),
    Ended,
}

impl Targets<StatusQuery> {
    pub(super) fn from_list(client: Client, list: impl Iterator<Item = ScanTarget> + Send + 'static) -> Self {
        Self::new(client, Source::List(Box::new(list)))
    }

    pub(super) fn from_stream(
        client: Client,
        stream: Pin<Box<dyn Stream<Item = ScanTarget> + Send>>,
    ) -> Self {
        Self::new(client, Source::Stream(stream))
    }

    fn new(client: Client, source: Source) -> Self {
        Self { source, client, pulled: 0, lookups: JoinSet::new(), convert: |query| query }
    }
}

impl<C: Conversation> Targets<C> {
    /// The next target; `None` when all were pulled.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Pulled<C>>> {
        while self.lookups.len() < MAX_LOOKUPS {
            let target = match &mut self.source {
                Source::List(list) => list.next(),
                Source::Stream(stream) => match stream.as_mut().poll_next(cx) {
                    Poll::Ready(target) => target,
                    Poll::Pending => break,
                },
                Source::Ended => break,
            };
            let Some(target) = target else {
                self.source = Source::Ended;
                break;
            };
            let index = self.pulled;
            self.pulled = self.pulled.saturating_add(1);
            match target.server {
                Server::Address(address) => {
                    return Poll::Ready(Some(self.query(index, &target, Ok(address))));
                }
                Server::Name(ref name) => {
                    let (client, name) = (self.client.clone(), name.clone());
                    self.lookups.spawn(async move {
                        let port = target.protocol.default_query_port();
                        let found = client.resolve(&name, port, client.deadline()).await;
                        let none = Error::BadAddress { text: name, why: "it has no address" };
                        let first = found.and_then(|found| found.first().copied().ok_or(none));
                        (index, target, first)
                    });
                }
            }
        }
        match self.lookups.poll_join_next(cx) {
            Poll::Ready(Some(Ok((index, target, address)))) => {
                Poll::Ready(Some(self.query(index, &target, address)))
            }
            // A lookup that was cancelled: the runtime is shutting down.
            Poll::Ready(Some(Err(_))) | Poll::Pending => Poll::Pending,
            Poll::Ready(None) if matches!(self.source, Source::Ended) => Poll::Ready(None),
            Poll::Ready(None) => Poll::Pending,
        }
    }

    fn query(&self, index: u64, target: &ScanTarget, address: Result<SocketAddr, Error>) -> Pulled<C> {
        let options = target.options.as_ref().unwrap_or(&self.client.options);
        let query = |address| StatusQuery::new(target.protocol, self.client.nonce(address), options);
        Pulled { index, target: address.map(|address| (address, (self.convert)(query(address)))) }
    }
}
