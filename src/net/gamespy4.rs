//! Asking GameSpy v4 servers in their own words.

use super::client::Client;
use super::error::Error;
use crate::gamespy4;
use crate::protocol::Protocol;
use crate::session::Outcome;

impl Client {
    /// GameSpy v4's full answer, in its own words.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn gamespy4_status(
        &self,
        server: &str,
        dialect: gamespy4::Dialect,
    ) -> Result<Outcome<gamespy4::Answer>, Error> {
        let new = |nonce| gamespy4::StatusQuery::new(nonce, self.limits).with_dialect(dialect);
        self.ask_host(server, Protocol::GameSpy4.default_query_port(), new).await
    }

    /// A Minecraft server's short answer, in its own words. The port is 25565 where none is given.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn gamespy4_info(&self, server: &str) -> Result<Outcome<gamespy4::Answer>, Error> {
        self.ask_host(server, 25565, |nonce| gamespy4::InfoQuery::new(nonce, self.limits)).await
    }
}
