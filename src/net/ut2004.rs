//! Asking UT2004 servers in their own words.

use super::client::Client;
use super::error::Error;
use crate::protocol::Protocol;
use crate::session::Outcome;
use crate::ut2004;

impl Client {
    /// UT2004's info, rules and players, in its own words.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ut2004_status(&self, server: &str) -> Result<Outcome<ut2004::Answer>, Error> {
        let port = Protocol::Ut2004.default_query_port();
        let new = |_| ut2004::StatusQuery::new(self.limits).with_readings(self.readings);
        self.ask_host(server, port, new).await
    }

    /// UT2004's info alone, in its own words.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ut2004_info(&self, server: &str) -> Result<Outcome<ut2004::Answer>, Error> {
        let port = Protocol::Ut2004.default_query_port();
        self.ask_host(server, port, |_| ut2004::InfoQuery::new(self.limits)).await
    }
}
