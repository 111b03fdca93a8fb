//! What a scan queries: addresses as they are, host names looked up on the way.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

use tokio::task::{Id, JoinError, JoinSet};

use crate::net::client::Client;
use crate::net::error::Error;
use crate::net::server::Server;
use crate::net::target::ScanTarget;
use crate::net::tokio_io::Tokio;
use crate::status_query::StatusQuery;

/// Host names that are looked up at a time.
const MAX_LOOKUPS: usize = 32;

/// A target on its way into the scanner, with its number.
pub(super) type Pulled<C> = (u64, Result<(SocketAddr, C), Error>);

/// Brings one after the other, and `None` at its end.
pub(super) type Source<T> = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<T>> + Send>;

/// The targets of a scan, numbered as they are pulled. Lookups overtake one another.
pub(super) struct Targets {
    /// `None` at its end.
    source: Option<Source<ScanTarget>>,
    client: Client,
    pulled: u64,
    lookups: JoinSet<(ScanTarget, Result<SocketAddr, Error>)>,
    /// The numbers of the targets that are being looked up.
    running: HashMap<Id, u64>,
}

impl Targets {
    pub(super) fn new(client: Client, source: Source<ScanTarget>) -> Self {
        Self { source: Some(source), client, pulled: 0, lookups: JoinSet::new(), running: HashMap::new() }
    }

    fn query(&self, target: &ScanTarget, address: SocketAddr) -> (SocketAddr, StatusQuery) {
        (address, target.query(&self.client, address))
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Pulled<StatusQuery>>> {
        while self.lookups.len() < MAX_LOOKUPS
            && let Some(source) = &mut self.source
        {
            let target = match source(cx) {
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
                    return Poll::Ready(Some((index, Ok(self.query(&target, address)))));
                }
                Err(error) => return Poll::Ready(Some((index, Err(error)))),
                Ok(Server::Name(_)) => {
                    let client = self.client.clone();
                    let lookup = self.lookups.spawn(async move {
                        let found = target.address::<Tokio>(&client).await;
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
        let target = match ended {
            Ok((_, (target, found))) => found.map(|address| self.query(&target, address)),
            // It panicked, or the runtime is shutting down.
            Err(error) => Err(Error::io("look up a host name", std::io::Error::other(error))),
        };
        Poll::Ready(Some((index, target)))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;
    use crate::protocol::Protocol;
    use crate::secret::Secret;

    #[tokio::test]
    async fn a_lookup_that_is_lost_is_an_error() {
        let mut list = vec![ScanTarget::from((Protocol::Quake3, "localhost"))].into_iter();
        let source = Box::new(move |_: &mut Context<'_>| Poll::Ready(list.next()));
        let mut targets = Targets::new(Client::with_secret(Secret::new([7; 16])), source);
        let pulled = poll_fn(|cx| {
            let pulled = targets.poll_next(cx);
            targets.lookups.abort_all();
            pulled
        });
        assert!(matches!(pulled.await, Some((0, Err(Error::Io { .. })))));
        assert!(poll_fn(|cx| targets.poll_next(cx)).await.is_none());
    }
}
