//! The list of a Quake 3 master, as it arrives.

use std::fmt;
use std::net::SocketAddr;

use super::client::Client;
use super::error::Error;
use super::exchange::Exchange;
use crate::model::ServerList;
use crate::quake3::master::ListQuery;
use crate::session::Outcome;

/// Port of id's masters and of dpmaster.
const MASTER_PORT: u16 = 27950;

/// The servers of a master, one by one while they arrive, and the whole list at the end. See
/// [`Client::quake3_servers`].
pub struct Servers {
    exchange: Exchange<ListQuery>,
    waiting: std::vec::IntoIter<SocketAddr>,
    list: Option<Outcome<ServerList>>,
}

impl Servers {
    /// The next server; each comes once. `None` at the end of the list.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn next(&mut self) -> Result<Option<SocketAddr>, Error> {
        loop {
            if let Some(server) = self.waiting.next() {
                return Ok(Some(server));
            }
            if self.list.is_some() {
                return Ok(None);
            }
            self.list = self.exchange.advance().await?;
            let new: Vec<SocketAddr> = self.exchange.conversation_mut().take_new().collect();
            self.waiting = new.into_iter();
        }
    }

    /// Waits for the end and returns the whole list.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn finish(mut self) -> Result<Outcome<ServerList>, Error> {
        loop {
            if let Some(list) = self.list.take() {
                return Ok(list);
            }
            self.list = self.exchange.advance().await?;
        }
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers").field("list", &self.list).finish_non_exhaustive()
    }
}

impl Client {
    /// Asks a master server for its list. `master` is a host name or address, with `:port` where it is not 27950.
    ///
    /// ```no_run
    /// use queryport::quake3::master::{ListQuery, ListRequest};
    /// use queryport::{Client, Limits};
    ///
    /// # async fn example() -> Result<(), queryport::Error> {
    /// let query = ListQuery::new(&ListRequest::extended(b"Nexuiz", 3), &Limits::default())?;
    /// let mut servers = Client::new()?.quake3_servers("master.example.org", query.with_passes(3)).await?;
    /// while let Some(server) = servers.next().await? {
    ///     println!("{server}");
    /// }
    /// println!("{}", servers.finish().await?.answer.completeness);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::BadAddress`] and [`Error::Resolve`]; later errors come with the servers.
    pub async fn quake3_servers(&self, master: &str, query: ListQuery) -> Result<Servers, Error> {
        let deadline = self.deadline();
        let mut last = None;
        for address in self.resolve(master, MASTER_PORT, deadline).await? {
            match self.exchange(query.clone(), address, self.timing).await {
                Ok(exchange) => return Ok(Servers { exchange, waiting: Vec::new().into_iter(), list: None }),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| Error::BadAddress { text: master.to_owned(), why: "it has no address" }))
    }
}
