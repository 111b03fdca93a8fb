//! Lists of servers, from one list server or from all those of a game.

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

/// The servers that list servers name: a `Stream`, each server once. See [`Client::servers`] and
/// [`Client::servers_at`].
///
/// List servers are asked from the first call of [`Self::next`] on. Dropping it ends all
/// connections.
#[derive(Debug)]
pub struct Servers {
    gathering: Gathering,
    /// From the first call on.
    events: Option<mpsc::UnboundedReceiver<(usize, Event)>>,
    tasks: JoinSet<()>,
}

impl Client {
    /// The servers that one list server knows. `master` is a host name or address, with `:port`
    /// where it is not [`ListRequest::default_port`]. A list over TCP may take as long as
    /// [`Self::with_deadline`] says.
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
    /// [`Error::List`] or [`Error::Query`] when it gave no list, [`Error::BadAddress`],
    /// [`Error::Resolve`] and [`Error::Io`] when it could not be reached.
    pub async fn list(
        &self,
        master: &str,
        request: impl Into<ListRequest>,
    ) -> Result<ServerList, Error> {
        let mut servers = self.servers_at(master, request);
        while servers.next().await.is_some() {}
        servers.gathering.into_list()
    }

    /// The servers that one list server knows, as they come. See [`Self::list`].
    pub fn servers_at(&self, master: &str, request: impl Into<ListRequest>) -> Servers {
        Servers::new(Gathering::at(self, master, request.into()))
    }

    /// Asks all list servers of a game at once for its servers, and merges their lists.
    ///
    /// Quake 3 masters are asked for each protocol number of the game in turn, `empty full`,
    /// GameSpy v1 list servers with the public key for lists, GameSpy v2's with [`Game::key`]. A
    /// list by protocol number alone may hold other games: [`Game::of`] tells when they have
    /// answered.
    ///
    /// Every call asks the list servers again. A caller that wants lists often should keep them:
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
    /// [`Error::NoMaster`] if the game has no list server, or not the name, number or key that they
    /// need. Failures of list servers are in [`Servers::masters`].
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

    /// The next server; `None` after the last list has ended. Cancel-safe: race it with a timer and
    /// look at [`Self::masters`] to show progress.
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
