//! Errors of the network layer.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::ser::SerializeStruct;
use thiserror::Error;

use crate::error::{EncodeError, ErrorKind, ListError, ParseError, QueryError};
#[cfg(feature = "games")]
use crate::games::{Game, UnknownGame};
use crate::options::Dialect;
use crate::protocol::{Protocol, UnknownProtocol};
use crate::quake3::RconError;

/// The result of a call of the network layer: a value or an [`enum@Error`].
///
/// ```
/// fn count_up(answers: &[queryport::Result<u32>]) -> usize {
///     answers.iter().filter(|answer| answer.is_ok()).count()
/// }
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a query over the network has no answer.
///
/// The text begins with the address of the server, if a server was asked. [`Self::reason`] is the
/// text without the address, for `{server}: {reason}`. A cause from the operating system is in
/// [`source`](std::error::Error::source), not in the text.
///
/// ```
/// use queryport::{Client, Error};
/// use queryport::{ErrorKind, Protocol, Secret};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let client = Client::with_secret(Secret::new([7; 16]));
/// let error =
///     client.query(Protocol::Quake3, "example.org:27960:1").await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::BadAddress);
/// assert!(error.to_string().ends_with("write HOST, HOST:PORT or [IPV6]:PORT"));
/// assert!(!error.is_timeout());
/// # }
/// ```
///
/// With the feature `serde`, an error becomes an object: `kind` (see [`ErrorKind::as_str`]),
/// `message` (the text and its cause) and `address` (of the queried server, or `null`).
#[doc(alias = "GDError")]
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum Error {
    /// The query failed.
    #[error("{peer}: {error}")]
    Query {
        /// The server.
        peer: SocketAddr,
        /// The failure.
        error: QueryError,
    },
    /// A session of your own failed, and you passed the failure on with `?`.
    ///
    /// Calls of a client return [`Self::Query`], which names the server.
    #[error(transparent)]
    Session(#[from] QueryError),
    /// A datagram that you parsed was rejected, and you passed the error on with `?`.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The text names no protocol.
    #[error("{}", unknown_protocol(.0))]
    UnknownProtocol(UnknownProtocol),
    /// The text names no game.
    #[cfg(feature = "games")]
    #[error(transparent)]
    UnknownGame(#[from] UnknownGame),
    /// The options have a dialect of another protocol.
    #[error("{dialect:?} is not a dialect of {protocol}")]
    WrongDialect {
        /// The dialect.
        dialect: Dialect,
        /// The protocol that was asked for.
        protocol: Protocol,
    },
    /// The request cannot be written in the protocol.
    #[error("the request cannot be written: {0}")]
    Request(EncodeError),
    /// A list server sent no list.
    #[error("{peer}: {error}")]
    List {
        /// The list server.
        peer: SocketAddr,
        /// The failure.
        error: ListError,
    },
    /// The server did not run a console command, or did not answer it.
    #[error("{peer}: {error}")]
    Rcon {
        /// The server.
        peer: SocketAddr,
        /// The failure.
        error: RconError,
    },
    /// A game has no list server that can be queried.
    #[error("{game}: {}", no_master(*known))]
    NoMaster {
        /// The id of the game.
        game: &'static str,
        /// The number of known list servers that cannot be queried, because the game's row lacks
        /// the name, number or key that they need.
        known: usize,
    },
    /// A different server answered at a port where the wanted one could have been.
    #[error("{peer}: another server answered: {}", other_server(*game, *game_port))]
    OtherServer {
        /// The address.
        peer: SocketAddr,
        /// The id of its game, if the answer identifies it.
        game: Option<&'static str>,
        /// Its game port, if the answer contains it.
        game_port: Option<u16>,
    },
    /// The text is not a server's address.
    #[error("{text:?} is not a server: {why}; write HOST, HOST:PORT or [IPV6]:PORT")]
    BadAddress {
        /// The text.
        text: String,
        /// The reason.
        why: &'static str,
    },
    /// The host name has no address, or none could be looked up.
    #[error("no address for the host name {host:?}")]
    NameResolution {
        /// The name.
        host: String,
        /// The resolver's error, a [`std::io::Error`]. Shared, so that errors can be cloned.
        source: Arc<io::Error>,
    },
    /// The operating system refused an operation.
    #[error("cannot {doing}")]
    Io {
        /// The operation.
        doing: &'static str,
        /// The system's error, a [`std::io::Error`]. Shared, so that errors can be cloned.
        source: Arc<io::Error>,
    },
}

/// The text of the error, or that the text names a game.
fn unknown_protocol(error: &UnknownProtocol) -> String {
    #[cfg(feature = "games")]
    if let Ok(game) = Game::find(error.text()) {
        let text = error.text();
        return format!(
            "unknown protocol {text:?}: it is a game, {}; use query_game",
            game.name
        );
    }
    error.to_string()
}

fn no_master(known: usize) -> String {
    match known {
        0 => "no list server is known".to_owned(),
        _ => format!("the table lacks the name, number or key for its {known} list servers"),
    }
}

fn other_server(game: Option<&str>, game_port: Option<u16>) -> String {
    let game = match game {
        Some(game) => format!("game {game}"),
        None => "game not known".to_owned(),
    };
    match game_port {
        Some(port) => format!("{game}, game port {port}"),
        None => game,
    }
}

impl Error {
    /// An error of the operating system while doing this.
    pub(crate) fn io(doing: &'static str, source: io::Error) -> Self {
        Self::Io {
            doing,
            source: source.into(),
        }
    }

    /// The address of the server that was asked.
    pub const fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Query { peer, .. }
            | Self::List { peer, .. }
            | Self::Rcon { peer, .. }
            | Self::OtherServer { peer, .. } => Some(*peer),
            _ => None,
        }
    }

    /// The text without the address of the server.
    ///
    /// After [`Client::query_game`](crate::Client::query_game), the port of [`Self::peer`] can differ
    /// from the one that you gave: show it too.
    ///
    /// ```
    /// use queryport::{Error, QueryError};
    ///
    /// let peer = ([192, 0, 2, 1], 27960).into();
    /// let error = Error::Query { peer, error: QueryError::Duplicate };
    /// assert_eq!(error.to_string(), format!("{peer}: {}", error.reason()));
    /// ```
    pub fn reason(&self) -> String {
        let text = self.to_string();
        let Some(peer) = self.peer() else {
            return text;
        };
        match text.strip_prefix(&format!("{peer}: ")) {
            Some(reason) => reason.to_owned(),
            None => text,
        }
    }

    /// Whether the time passed without a reply, see [`ErrorKind::is_timeout`].
    pub const fn is_timeout(&self) -> bool {
        self.kind().is_timeout()
    }

    /// The kind of failure: [`ErrorKind`] has a table of what to do.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Query { error, .. } | Self::Session(error) => error.kind(),
            Self::Parse(error) => error.error_kind(),
            Self::BadAddress { .. } => ErrorKind::BadAddress,
            Self::Request(_)
            | Self::NoMaster { .. }
            | Self::UnknownProtocol(_)
            | Self::WrongDialect { .. } => ErrorKind::Request,
            #[cfg(feature = "games")]
            Self::UnknownGame(_) => ErrorKind::Request,
            Self::List { error, .. } => error.kind(),
            Self::Rcon { error, .. } => error.kind(),
            Self::OtherServer { .. } => ErrorKind::OtherServer,
            Self::NameResolution { .. } => ErrorKind::NameResolution,
            Self::Io { .. } => ErrorKind::Io,
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Error {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        let cause = std::error::Error::source(self).map(|cause| format!(": {cause}"));
        let mut out = serializer.serialize_struct("Error", 3)?;
        out.serialize_field("kind", &self.kind())?;
        out.serialize_field("message", &format!("{self}{}", cause.unwrap_or_default()))?;
        out.serialize_field("address", &self.peer())?;
        out.end()
    }
}

/// A [`Protocol`] or game is known already.
impl From<Infallible> for Error {
    fn from(error: Infallible) -> Self {
        match error {}
    }
}

impl From<UnknownProtocol> for Error {
    fn from(error: UnknownProtocol) -> Self {
        Self::UnknownProtocol(error)
    }
}

impl From<EncodeError> for Error {
    fn from(error: EncodeError) -> Self {
        Self::Request(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ParseErrorKind;

    #[test]
    fn each_failure_has_a_kind_and_says_what_happened() {
        let peer: SocketAddr = ([192, 0, 2, 1], 27960).into();
        let other = |game, game_port| Error::OtherServer {
            peer,
            game,
            game_port,
        };
        for (error, kind, text) in [
            (
                Error::Request(EncodeError::Empty("rcon password")),
                ErrorKind::Request,
                "the request cannot be written: rcon password is empty",
            ),
            (
                Error::Rcon {
                    peer,
                    error: RconError::NoPassword,
                },
                ErrorKind::Refused,
                "192.0.2.1:27960: the server has no rcon password, so it accepts no commands",
            ),
            (
                Error::List {
                    peer,
                    error: ListError::NoReply,
                },
                ErrorKind::Timeout,
                "192.0.2.1:27960: the list server did not reply",
            ),
            (
                Error::NoMaster {
                    game: "rune",
                    known: 0,
                },
                ErrorKind::Request,
                "rune: no list server is known",
            ),
            (
                Error::NoMaster {
                    game: "rune",
                    known: 2,
                },
                ErrorKind::Request,
                "rune: the table lacks the name, number or key for its 2 list servers",
            ),
            (
                other(None, None),
                ErrorKind::OtherServer,
                "192.0.2.1:27960: another server answered: game not known",
            ),
            (
                other(Some("ut"), Some(7777)),
                ErrorKind::OtherServer,
                "192.0.2.1:27960: another server answered: game ut, game port 7777",
            ),
            (
                Error::NameResolution {
                    host: "example.org".to_owned(),
                    source: Arc::new(io::ErrorKind::NotFound.into()),
                },
                ErrorKind::NameResolution,
                "no address for the host name \"example.org\"",
            ),
        ] {
            assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
            let reason = text.strip_prefix("192.0.2.1:27960: ").unwrap_or(text);
            assert_eq!(error.reason(), reason);
        }
        let parse = ParseError::new(ParseErrorKind::NotThisProtocol("a word"), 0);
        assert_eq!(Error::from(parse).kind(), ErrorKind::NotThisProtocol);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn errors_in_json_have_kind_message_and_address() {
        let peer: SocketAddr = ([192, 0, 2, 1], 27960).into();
        let refused = io::Error::new(io::ErrorKind::PermissionDenied, "not permitted");
        for (error, json) in [
            (
                Error::Query {
                    peer,
                    error: QueryError::Unreachable,
                },
                r#"{"kind":"unreachable","message":"192.0.2.1:27960: unreachable: no program listens at the address, or there is no route to it","address":"192.0.2.1:27960"}"#,
            ),
            (
                Error::io("open a UDP socket", refused),
                r#"{"kind":"io","message":"cannot open a UDP socket: not permitted","address":null}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&error.clone()).unwrap(), json);
        }
    }
}
