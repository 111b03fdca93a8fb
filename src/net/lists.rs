//! Lists of servers, from one list server or from all list servers of a game.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::error::Error;
use super::inquiry::{Event, Gathering, Listed, MasterReport, servers_options};
use super::tokio_io::Tokio;
use crate::lists::{Scope, ServerList};

/// The servers in the lists of one or more list servers: a `Stream`, each server once.
///
/// [`Client::servers`](crate::Client::servers) and
/// [`Client::servers_at`](crate::Client::servers_at) return it.
///
/// The first call of [`Self::next`] sends the requests. Dropping it closes all connections.
///
/// # After a failure
/// The other list servers' lists continue. The failure is in [`Self::masters`]; requests are not
/// sent again. To request the lists again, make a new `Servers`.
#[derive(Debug)]
pub struct Servers {
    gathering: Gathering,
    /// `None` before the first call of [`Self::next`].
    events: Option<mpsc::UnboundedReceiver<(usize, Event)>>,
    tasks: JoinSet<()>,
}

impl Servers {
    pub(super) fn new(gathering: Gathering) -> Self {
        Self {
            gathering,
            events: None,
            tasks: JoinSet::new(),
        }
    }

    /// The list of the first list server.
    pub(super) fn into_list(self) -> Result<ServerList, Error> {
        self.gathering.into_list()
    }

    servers_options!();

    /// The next server; `None` after the last list has ended.
    ///
    /// Cancel-safe: you can race it with a timer, and show progress from [`Self::masters`].
    pub async fn next(&mut self) -> Option<Listed> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for Servers {
    type Item = Listed;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Listed>> {
        let this = &mut *self;
        let events = this.events.get_or_insert_with(|| {
            let (sender, receiver) = mpsc::unbounded_channel();
            let report = move |origin, event| _ = sender.send((origin, event));
            for inquiry in this.gathering.inquiries(report) {
                this.tasks.spawn(inquiry.run::<Tokio>());
            }
            receiver
        });
        while let Some((origin, event)) = ready!(events.poll_recv(cx)) {
            if let Some(listed) = this.gathering.take(origin, event) {
                return Poll::Ready(Some(listed));
            }
        }
        Poll::Ready(None)
    }
}
