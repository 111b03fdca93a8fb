//! Lists of servers, from one list server or from all list servers of a game.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::client::Client;
use super::error::Error;
use super::inquiry::{Event, Gathering, Listed, MasterReport, servers_options};
use super::tokio_io::Tokio;
#[cfg(feature = "games")]
use crate::games::Game;
use crate::lists::{ListRequest, Scope, ServerList};

/// The servers in the lists of one or more list servers: a `Stream`, each server once.
///
/// See [`Client::servers`] and [`Client::servers_at`].
///
/// The first call of [`Self::next`] sends the requests. Dropping it closes all connections.
#[derive(Debug)]
pub struct Servers {
    gathering: Gathering,
    /// `None` before the first call of [`Self::next`].
    events: Option<mpsc::UnboundedReceiver<(usize, Event)>>,
    tasks: JoinSet<()>,
}

impl Client {
    /// Fetches the list of one list server.
    ///
    /// `master` is a host name or address, with `:port` if it is not [`ListRequest::default_port`].
    /// A list over TCP may take until [`Self::with_deadline`].
    ///
    /// ```no_run
    /// use queryport::Client;
    /// use queryport::lists::GameSpy2List;
    ///
    /// # async fn example() -> Result<(), queryport::Error> {
    /// let list = Client::new()?
    ///     .list("master.example.org", GameSpy2List::new("swat4", "tG3j8c"))
    ///     .await?;
    /// println!("{} servers, {}", list.servers.len(), list.completeness);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::List`] or [`Error::Query`] if it sent no list; [`Error::BadAddress`],
    /// [`Error::Resolve`] and [`Error::Io`] if it was not reached.
    pub async fn list(
        &self,
        master: &str,
        request: impl Into<ListRequest>,
    ) -> Result<ServerList, Error> {
        let mut servers = self.servers_at(master, request);
        while servers.next().await.is_some() {}
        servers.gathering.into_list()
    }

    /// Streams the list of one list server while it arrives. See [`Self::list`].
    pub fn servers_at(&self, master: &str, request: impl Into<ListRequest>) -> Servers {
        Servers::new(Gathering::at(self, master, request.into()))
    }

    /// Requests the lists of all list servers of a game, and merges them.
    ///
    /// Quake 3 masters get a request for each protocol number of the game, with `empty full`.
    /// GameSpy v1 list servers get the public key for lists, GameSpy v2 list servers [`Game::key`].
    /// A list by protocol number alone can contain other games: use [`Game::of`] on the answers.
    ///
    /// Nothing is cached: every call sends the requests again. If you need lists often, keep them;
    /// once a minute is enough.
    ///
    /// ```no_run
    /// use queryport::Client;
    /// use queryport::games::Game;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut servers = Client::new()?.servers(Game::find("openarena")?)?;
    /// while let Some(listed) = servers.next().await {
    ///     println!("{}", listed.server);
    /// }
    /// for report in servers.masters() {
    ///     match &report.list {
    ///         Some(Ok(list)) => println!(
    ///             "{}: {} servers, {}",
    ///             report.address, report.servers, list.completeness
    ///         ),
    ///         Some(Err(error)) => println!("{}: {error}", report.address),
    ///         None => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoMaster`] if the game has no list server, or lacks the name, number or key that
    /// they need. Failures of list servers are in [`Servers::masters`].
    #[cfg(feature = "games")]
    pub fn servers(&self, game: &Game) -> Result<Servers, Error> {
        Ok(Servers::new(Gathering::of_game(self, game)?))
    }
}

impl Servers {
    fn new(gathering: Gathering) -> Self {
        Self {
            gathering,
            events: None,
            tasks: JoinSet::new(),
        }
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
