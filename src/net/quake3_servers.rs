//! The list of a Quake 3 master, as it arrives.

use std::fmt;
use std::net::SocketAddr;

use tokio::time::Instant;

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
    client: Client,
    query: ListQuery,
    deadline: Instant,
    /// The addresses of the master that have not been asked.
    addresses: std::vec::IntoIter<SocketAddr>,
    exchange: Exchange<ListQuery>,
    waiting: std::vec::IntoIter<SocketAddr>,
    /// Whether servers have come.
    has_begun: bool,
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
            self.advance().await?;
            let new: Vec<SocketAddr> = self.exchange.conversation_mut().take_new().collect();
            self.has_begun |= !new.is_empty();
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
            self.advance().await?;
        }
    }

    /// One step; with the next address of the master where one did not answer.
    async fn advance(&mut self) -> Result<(), Error> {
        match self.exchange.advance().await {
            Ok(list) => self.list = list,
            Err(error) if self.has_begun => return Err(error),
            Err(error) => {
                let next = self.client.master_exchange(&self.query, &mut self.addresses, self.deadline).await;
                self.exchange = next.ok_or(error)??;
            }
        }
        Ok(())
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
        let addresses = self.resolve(master, MASTER_PORT, deadline).await?;
        let no_address = || Error::BadAddress { text: master.to_owned(), why: "it has no address" };
        self.servers_at(addresses, query, deadline).await.unwrap_or_else(|| Err(no_address()))
    }

    /// The list of a master with these addresses; `None` without any.
    async fn servers_at(
        &self,
        addresses: Vec<SocketAddr>,
        query: ListQuery,
        deadline: Instant,
    ) -> Option<Result<Servers, Error>> {
        let mut addresses = addresses.into_iter();
        let exchange = self.master_exchange(&query, &mut addresses, deadline).await?;
        Some(exchange.map(|exchange| Servers {
            client: self.clone(),
            query,
            deadline,
            addresses,
            exchange,
            waiting: Vec::new().into_iter(),
            has_begun: false,
            list: None,
        }))
    }

    /// Asks the next of these addresses that a socket can be opened for.
    async fn master_exchange(
        &self,
        query: &ListQuery,
        addresses: &mut std::vec::IntoIter<SocketAddr>,
        deadline: Instant,
    ) -> Option<Result<Exchange<ListQuery>, Error>> {
        let mut last = None;
        while let Some(address) = addresses.next() {
            let timing = self.share_of(deadline, addresses.len().saturating_add(1));
            match self.exchange(query.clone(), address, timing).await {
                Ok(exchange) => return Some(Ok(exchange)),
                Err(error) => last = Some(Err(error)),
            }
        }
        last
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests")]
mod tests {
    use std::time::Duration;

    use tokio::net::UdpSocket;

    use super::*;
    use crate::quake3::master::{ListRequest, Scope, list};
    use crate::{Limits, Secret, Timing};

    #[tokio::test]
    async fn the_next_address_of_a_master_is_asked_where_one_is_silent() {
        let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let closed = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let master = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let addresses = vec![silent.local_addr().unwrap(), closed, master.local_addr().unwrap()];
        let server = SocketAddr::from(([192, 0, 2, 1], 27960));
        tokio::spawn(async move {
            let mut buffer = [0; 99];
            while let Ok((_, from)) = master.recv_from(&mut buffer).await {
                for part in list([server], false) {
                    master.send_to(&part, from).await.unwrap();
                }
            }
        });
        let timing = Timing::default().with_timeout(Duration::from_millis(500));
        let client = Client::with_secret(Secret::new([1; 16])).with_timing(timing);
        let query = ListQuery::new(&ListRequest::new(68), &Limits::default()).unwrap().with_scope(Scope::Any);
        let ask = async |addresses: Vec<SocketAddr>| {
            let mut servers =
                client.servers_at(addresses, query.clone(), client.deadline()).await.unwrap()?;
            let mut found = Vec::new();
            while let Some(server) = servers.next().await? {
                found.push(server);
            }
            Ok::<_, Error>((found, servers.finish().await?.peer))
        };
        assert_eq!(ask(addresses.clone()).await.unwrap(), (vec![server], addresses[2]));
        let error = ask(addresses[..2].to_vec()).await.unwrap_err();
        assert!(matches!(error, Error::Query { peer, .. } if peer == closed), "{error}");
    }
}
