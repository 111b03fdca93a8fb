//! Asking Quake 3 servers in their own words.

use super::client::Client;
use super::error::Error;
use crate::protocol::Protocol;
use crate::quake3;
use crate::session::Outcome;

impl Client {
    /// Quake 3's `getstatus`, in its own words.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn quake3_status(&self, server: &str) -> Result<Outcome<quake3::Answer>, Error> {
        let port = Protocol::Quake3.default_query_port();
        self.ask_host(server, port, |nonce| quake3::StatusQuery::new(nonce, self.limits)).await
    }

    /// Quake 3's `getinfo`, in its own words. Some servers answer one query a second: do not ask for both.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn quake3_info(&self, server: &str) -> Result<Outcome<quake3::Answer>, Error> {
        let port = Protocol::Quake3.default_query_port();
        self.ask_host(server, port, |nonce| quake3::InfoQuery::new(nonce, self.limits)).await
    }
}
