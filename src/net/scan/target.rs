//! What a scan queries: addresses as they are, host names looked up on the way.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::task::{Id, JoinError, JoinSet};

use crate::net::client::Client;
use crate::net::error::Error;
use crate::net::server::Server;
use crate::net::target::ScanTarget;
use crate::net::tokio_io::Tokio;
use crate::status_query::StatusQuery;

/// Host names that are looked up at a time.
const MAX_LOOKUPS: usize = 32;

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
    lookups: JoinSet<(ScanTarget, Result<SocketAddr, Error>)>,
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
        Pulled { index, target: address.map(|address| (address, target.query(&self.client, address))) }
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
        Poll::Ready(Some(match ended {
            Ok((_, (target, found))) => self.query(index, &target, found),
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
    use crate::protocol::Protocol;
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
