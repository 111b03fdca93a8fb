//! What a scan queries: addresses as they are, host names looked up on the way.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::task::{Id, JoinError, JoinSet};

#[cfg(feature = "games")]
use crate::games::Game;
use crate::net::client::{Attempts, Client};
#[cfg(feature = "games")]
use crate::net::detect::query_port;
use crate::net::error::Error;
#[cfg(feature = "games")]
use crate::net::lists::Listed;
use crate::net::server::Server;
#[cfg(feature = "games")]
use crate::net::server::split;
use crate::options::{Dialect, QueryOptions};
use crate::protocol::Protocol;
use crate::status_query::StatusQuery;

/// Host names that are looked up at a time.
const MAX_LOOKUPS: usize = 32;

/// One server of a scan: a protocol or game, an address or host name, and options of its own where they differ from the
/// client's.
///
/// A scan queries the first address of a name; [`Client::query`](crate::Client::query) tries all.
///
/// ```
/// use queryport::net::ScanTarget;
/// use queryport::{Detail, Protocol, QueryOptions, games::Game};
///
/// let quake3 = ScanTarget::from((Protocol::Quake3, "example.org:27961"));
/// let minecraft = ScanTarget::from((Game::find("minecraft")?, "example.org"))
///     .with_options(QueryOptions::default().with_detail(Detail::Short));
/// # Ok::<(), queryport::games::UnknownGame>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScanTarget {
    protocol: Protocol,
    server: Result<Server, Error>,
    /// Of the game.
    dialect: Dialect,
    options: Option<QueryOptions>,
}

impl ScanTarget {
    /// Queries this server with these options in place of the client's.
    #[must_use]
    pub fn with_options(mut self, options: QueryOptions) -> Self {
        self.options = Some(options);
        self
    }
}

/// The port is the protocol's default query port where the server has none.
impl<S: Into<Server>> From<(Protocol, S)> for ScanTarget {
    fn from((protocol, server): (Protocol, S)) -> Self {
        Self { protocol, server: Ok(server.into()), dialect: Dialect::Standard, options: None }
    }
}

/// Of a list that stays the caller's.
impl<S: Into<Server> + Clone> From<&(Protocol, S)> for ScanTarget {
    fn from((protocol, server): &(Protocol, S)) -> Self {
        (*protocol, server.clone()).into()
    }
}

/// The port of the text is the one that players connect to, as in [`Client::query_game`](crate::Client::query_game), or the
/// game's default. The query port follows by the game's rule; the scan tries no other port.
#[cfg(feature = "games")]
impl<S: Into<String>> From<(&Game, S)> for ScanTarget {
    fn from((game, server): (&Game, S)) -> Self {
        let text = server.into();
        let server =
            split(&text, 0).and_then(|(host, given)| Ok((host, query_port(game, given, &text)?).into()));
        Self { protocol: game.protocol, server, dialect: game.dialect, options: None }
    }
}

/// At the query port, which is what lists name.
#[cfg(feature = "games")]
impl From<(&Game, Listed)> for ScanTarget {
    fn from((game, listed): (&Game, Listed)) -> Self {
        Self { dialect: game.dialect, ..(game.protocol, listed.server).into() }
    }
}

/// A target on its way into the scanner.
pub(super) struct Pulled<C> {
    pub(super) index: u64,
    pub(super) target: Result<(SocketAddr, C), Error>,
}

/// The targets of a list, each at once.
pub(super) struct List<I>(pub(super) I);

impl<I: Iterator + Unpin> Stream for List<I> {
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<I::Item>> {
        Poll::Ready(self.0.next())
    }
}

/// The targets of a scan, numbered as they are pulled. Lookups overtake one another.
pub(super) struct Targets {
    /// `None` at its end.
    source: Option<Pin<Box<dyn Stream<Item = ScanTarget> + Send>>>,
    client: Client,
    pulled: u64,
    lookups: JoinSet<(ScanTarget, Result<Attempts, Error>)>,
    /// The numbers of the targets that are being looked up.
    running: HashMap<Id, u64>,
}

impl Targets {
    pub(super) fn new(client: Client, source: impl Stream<Item = ScanTarget> + Send + 'static) -> Self {
        let source = Some(Box::pin(source) as _);
        Self { source, client, pulled: 0, lookups: JoinSet::new(), running: HashMap::new() }
    }

    fn query(
        &self,
        index: u64,
        target: &ScanTarget,
        address: Result<SocketAddr, Error>,
    ) -> Pulled<StatusQuery> {
        let options = target.options.unwrap_or(self.client.options).of_game(target.dialect);
        let query = |address| StatusQuery::new(target.protocol, self.client.nonce(address), &options);
        Pulled { index, target: address.map(|address| (address, query(address))) }
    }
}

impl Stream for Targets {
    type Item = Pulled<StatusQuery>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while self.lookups.len() < MAX_LOOKUPS
            && let Some(source) = &mut self.source
        {
            let target = match source.as_mut().poll_next(cx) {
                Poll::Ready(Some(target)) => target,
                Poll::Ready(None) => {
                    self.source = None;
                    break;
                }
                Poll::Pending => break,
            };
            let index = self.pulled;
            self.pulled = self.pulled.saturating_add(1);
            match target.server {
                Ok(Server::Address(address)) => {
                    return Poll::Ready(Some(self.query(index, &target, Ok(address))));
                }
                Err(error) => return Poll::Ready(Some(Pulled { index, target: Err(error) })),
                Ok(ref server @ Server::Name(_)) => {
                    let (client, server) = (self.client.clone(), server.clone());
                    let lookup = self.lookups.spawn(async move {
                        let found = client.attempts(&server, target.protocol.default_query_port()).await;
                        (target, found)
                    });
                    self.running.insert(lookup.id(), index);
                }
            }
        }
        let Some(ended) = ready!(self.lookups.poll_join_next_with_id(cx)) else {
            return if self.source.is_none() { Poll::Ready(None) } else { Poll::Pending };
        };
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let index = self.running.remove(&id).unwrap_or_default();
        Poll::Ready(Some(match ended {
            Ok((_, (target, found))) => self.query(index, &target, found.map(|found| found.address)),
            // It panicked, or the runtime is shutting down.
            Err(error) => {
                let source = std::io::Error::other(error);
                Pulled { index, target: Err(Error::io("look up a host name", source)) }
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;
    use crate::secret::Secret;

    #[tokio::test]
    async fn a_lookup_that_is_lost_is_an_error() {
        let list = List(vec![ScanTarget::from((Protocol::Quake3, "localhost"))].into_iter());
        let mut targets = Box::pin(Targets::new(Client::with_secret(Secret::new([7; 16])), list));
        let pulled = poll_fn(|cx| {
            let pulled = targets.as_mut().poll_next(cx);
            targets.lookups.abort_all();
            pulled
        });
        let pulled = pulled.await.unwrap();
        assert_eq!(pulled.index, 0);
        assert!(matches!(pulled.target, Err(Error::Io { .. })));
        assert!(poll_fn(|cx| targets.as_mut().poll_next(cx)).await.is_none());
    }
}
