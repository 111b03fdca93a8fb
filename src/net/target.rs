//! What a scan queries, and its results.

use std::net::SocketAddr;

use super::client::Client;
#[cfg(feature = "games")]
use super::detect::query_port;
use super::error::Error;
#[cfg(feature = "games")]
use super::inquiry::Listed;
use super::io::{Io, local_address};
use super::server::Server;
#[cfg(feature = "games")]
use super::server::split;
#[cfg(feature = "games")]
use crate::games::Game;
use crate::model::{ServerStatus, ToStatus};
use crate::options::{Dialect, QueryOptions};
use crate::protocol::Protocol;
use crate::scan::Scanned;
use crate::status_query::StatusQuery;

/// One server of a scan: a protocol or game, an address or host name, and options of its own where they differ from the
/// client's.
///
/// A scan queries the first address of a name; [`Client::query`](crate::Client::query) tries all.
///
/// ```
/// use queryport::net::ScanTarget;
/// use queryport::{Detail, Protocol, QueryOptions, games::Game};
///
/// let quake3 = ScanTarget::from((Protocol::Quake3, "example.org:27961"));
/// let minecraft = ScanTarget::from((Game::find("minecraft")?, "example.org"))
///     .with_options(QueryOptions::default().with_detail(Detail::Short));
/// # Ok::<(), queryport::games::UnknownGame>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScanTarget {
    protocol: Protocol,
    pub(super) server: Result<Server, Error>,
    /// Of the game.
    dialect: Dialect,
    options: Option<QueryOptions>,
}

impl ScanTarget {
    setters! {
        /// Queries this server with these options in place of the client's. The dialect of a game stays.
        with_options(options: QueryOptions) options = Some(options);
    }

    /// Its address, or the first one of its name.
    pub(super) async fn address<I: Io>(&self, client: &Client) -> Result<SocketAddr, Error> {
        let server = self.server.as_ref().map_err(Error::clone)?;
        Ok(client.attempts::<I>(server, self.protocol.default_query_port()).await?.address)
    }

    pub(super) fn query(&self, client: &Client, address: SocketAddr) -> StatusQuery {
        let options = self.options.unwrap_or(client.options).of_game(self.dialect);
        StatusQuery::new(self.protocol, client.nonce(address), &options)
    }
}

/// The port is the protocol's default query port where the server has none.
impl<S: Into<Server>> From<(Protocol, S)> for ScanTarget {
    fn from((protocol, server): (Protocol, S)) -> Self {
        Self { protocol, server: Ok(server.into()), dialect: Dialect::Standard, options: None }
    }
}

/// Of a list that stays the caller's.
impl<S: Into<Server> + Clone> From<&(Protocol, S)> for ScanTarget {
    fn from((protocol, server): &(Protocol, S)) -> Self {
        (*protocol, server.clone()).into()
    }
}

/// The port of the server is the one that players connect to, as in [`Client::query_game`](crate::Client::query_game), or the
/// game's default. The query port follows by the game's rule; the scan tries no other port.
#[cfg(feature = "games")]
impl<S: Into<Server>> From<(&Game, S)> for ScanTarget {
    fn from((game, server): (&Game, S)) -> Self {
        let text = server.into().to_string();
        let server =
            split(&text, 0).and_then(|(host, given)| Ok((host, query_port(game, given, &text)?).into()));
        Self { protocol: game.protocol, server, dialect: game.dialect, options: None }
    }
}

/// At the query port, which is what lists name.
#[cfg(feature = "games")]
impl From<(&Game, Listed)> for ScanTarget {
    fn from((game, listed): (&Game, Listed)) -> Self {
        Self { dialect: game.dialect, ..(game.protocol, listed.server).into() }
    }
}

/// A result with the errors of the network layer.
pub(super) fn scanned<A>(scanned: Scanned<A>) -> Scanned<A, Error> {
    let Scanned { index, peer, result } = scanned;
    let server = peer.unwrap_or_else(|| local_address(None, true));
    Scanned { index, peer, result: result.map_err(|error| Error::Query { peer: server, error }) }
}

pub(super) fn with_status<A: ToStatus>(scanned: Scanned<A, Error>) -> Scanned<ServerStatus, Error> {
    let Scanned { index, peer, result } = scanned;
    Scanned { index, peer, result: result.map(|outcome| outcome.map(|answer| answer.to_status())) }
}
