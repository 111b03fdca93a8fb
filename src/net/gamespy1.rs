//! Asking GameSpy v1 servers in their own words, and the masters that list them.

use super::client::Client;
use super::error::Error;
use super::list_server;
use super::resolve::resolve;
use crate::gamespy1::{self, Command};
use crate::protocol::Protocol;
use crate::session::Outcome;

impl Client {
    /// GameSpy v1's commands, one or several in a datagram, in its own words.
    ///
    /// # Errors
    /// [`Error::Request`] for commands that cannot be written, else see [`Error`].
    pub async fn gamespy1(
        &self,
        server: &str,
        commands: &[Command<'_>],
    ) -> Result<Outcome<gamespy1::Answer>, Error> {
        let query = gamespy1::CommandsQuery::new(commands, self.limits)?;
        self.ask_host(server, Protocol::GameSpy1.default_query_port(), |_| query.clone()).await
    }

    /// The servers that a GameSpy v1 list server knows, over TCP. Its port is
    /// [`LIST_PORT`](gamespy1::list::LIST_PORT) if left out, its time the whole timeout.
    ///
    /// # Errors
    /// [`Error::List`] when it gave no list, [`Error::Io`] when it could not be reached or took too long.
    pub async fn gamespy1_list(
        &self,
        master: &str,
        request: &gamespy1::list::ListRequest,
    ) -> Result<gamespy1::list::ServerList, Error> {
        let mut last = Err(Error::Address(master.to_owned()));
        for address in resolve(master, gamespy1::list::LIST_PORT).await? {
            last = list_server::run(address, request.clone(), self.timing.timeout()).await;
            if last.is_ok() {
                break;
            }
        }
        last
    }
}
