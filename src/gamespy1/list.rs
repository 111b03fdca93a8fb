//! Lists of servers from a master, over TCP: the part without a socket.
//!
//! ```text
//!  client                                                     list server (TCP 28900)
//!    │ ◄──  \basic\\secure\XXXXXX                                       │  on connect
//!    │ ──►  \gamename\G\gamever\V\location\0\validate\Y\final\\queryid\1.1\
//!    │      \list\[cmp]\gamename\G[\where\filter]\final\                │
//!    │ ◄──  \ip\a.b.c.d:port \ip\… \final\                              │  plain
//!    │ ◄──  6 bytes a server: address, query port, big-endian; \final\  │  cmp
//!    │ ◄──  closes                                                      │
//! ```
//!
//! The ports are query ports. Six bytes of `cmp` can look like the end mark (92.102.105.110:24940 is `\final`), so
//! the mark is believed only at a record's start, as the last bytes before the server closes or falls silent. No
//! *enctype* is announced: the list then comes unencrypted (OpenSpy and 333networks source).

use std::net::SocketAddr;

use thiserror::Error;

pub use super::list_session::ListSession;
use super::secure::{Enctype, GameKey};
use crate::error::{EncodeError, ErrorKind};

/// The TCP port of list servers.
pub const LIST_PORT: u16 = 28900;
/// Most bytes of a list: some 170,000 servers in plain text, 700,000 compressed.
pub(super) const MAX_LIST: usize = 4 * 1024 * 1024;

/// What to ask a list server.
///
/// ```
/// use queryport::gamespy1::list::{ListFormat, ListRequest};
/// use queryport::gamespy1::secure::GameKey;
///
/// let request = ListRequest::new("ut", GameKey::new("Z5Nfb0")?).with_format(ListFormat::Compressed);
/// assert_eq!(request.game(), "ut");
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ListRequest {
    game: String,
    key: GameKey,
    authenticate_as: Option<String>,
    version: String,
    format: ListFormat,
    filter: Option<String>,
}

/// How the list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ListFormat {
    /// As text.
    #[default]
    Plain,
    /// Six bytes a server.
    Compressed,
}

impl ListRequest {
    /// The list of a game's servers, asked for with the game's key.
    #[must_use]
    pub fn new(game: impl Into<String>, key: GameKey) -> Self {
        Self {
            game: game.into(),
            key,
            authenticate_as: None,
            version: "1".to_owned(),
            format: ListFormat::default(),
            filter: None,
        }
    }

    pub(super) const fn format(&self) -> ListFormat {
        self.format
    }

    /// The game whose servers are wanted.
    #[must_use]
    pub fn game(&self) -> &str {
        &self.game
    }

    /// Asks as another program, whose key was given: list tools had names of their own.
    #[must_use]
    pub fn with_authentication_as(mut self, game: impl Into<String>) -> Self {
        self.authenticate_as = Some(game.into());
        self
    }

    /// Sets the version that is told to the master; default `1`.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the format; default plain text.
    #[must_use]
    pub fn with_format(mut self, format: ListFormat) -> Self {
        self.format = format;
        self
    }

    /// Only servers this holds for, in the master's own SQL-like words: `hostport > 0 and numplayers > 0`.
    #[must_use]
    pub fn with_filter(mut self, filter: impl Into<String>) -> Self {
        self.filter = Some(filter.into());
        self
    }

    /// What is sent after the greeting.
    pub(super) fn encode(&self, challenge: &[u8]) -> Result<Vec<u8>, EncodeError> {
        let who = self.authenticate_as.as_ref().unwrap_or(&self.game);
        let filter = self.filter.as_deref().unwrap_or_default();
        for (field, text) in
            [("game", &self.game), ("game", who), ("version", &self.version), ("filter", &filter.to_owned())]
        {
            if let Some(byte) = text.bytes().find(|&byte| byte == b'\\' || !matches!(byte, b' '..=b'~')) {
                return Err(EncodeError::Forbidden { field, byte });
            }
        }
        if self.game.is_empty() || who.is_empty() {
            return Err(EncodeError::Empty("game"));
        }
        let answer = self.key.validate(challenge, Enctype::Plain)?;
        let format = match self.format {
            ListFormat::Plain => "",
            ListFormat::Compressed => "cmp",
        };
        let only = if filter.is_empty() { String::new() } else { format!("\\where\\{filter}") };
        let (game, version) = (&self.game, &self.version);
        Ok(format!(
            "\\gamename\\{who}\\gamever\\{version}\\location\\0\\validate\\{answer}\\final\\\\queryid\\1.1\\\
             \\list\\{format}\\gamename\\{game}{only}\\final\\"
        )
        .into_bytes())
    }
}

/// A list of servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ServerList {
    /// Addresses and query ports, in the master's order.
    pub servers: Vec<SocketAddr>,
    /// Whether the end mark came.
    pub is_complete: bool,
}

/// Why there is no list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListError {
    /// The server did not greet as a list server does.
    #[error("no list server: the greeting has no challenge")]
    NoGreeting,
    /// The server refused, in its own words.
    #[error("the list server refused: {0:?}")]
    Refused(String),
    /// What came is no list.
    #[error("what came is no list, from byte {0} on")]
    Malformed(usize),
    /// More than any list has.
    #[error("the list is longer than {MAX_LIST} bytes")]
    TooLong,
    /// The request cannot be written.
    #[error("the request cannot be written: {0}")]
    Request(EncodeError),
}

impl ListError {
    /// What kind of failure it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::NoGreeting => ErrorKind::NotThisProtocol,
            Self::Refused(_) => ErrorKind::Refused,
            Self::Malformed(_) => ErrorKind::Malformed,
            Self::TooLong => ErrorKind::Limit { what: "bytes of a list", limit: MAX_LIST as u32 },
            Self::Request(_) => ErrorKind::Request,
        }
    }
}

impl From<EncodeError> for ListError {
    fn from(error: EncodeError) -> Self {
        Self::Request(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent() {
        let request = ListRequest::new("ut", GameKey::new("Nm3aZ9").unwrap())
            .with_format(ListFormat::Compressed)
            .with_authentication_as("gspylite")
            .with_version("2")
            .with_filter("hostport > 0");
        let expected = br"\gamename\gspylite\gamever\2\location\0\validate\hMwdTNWS\final\\queryid\1.1\\list\cmp\gamename\ut\where\hostport > 0\final\";
        assert_eq!(request.encode(b"LRPOPQ").unwrap(), expected);
        assert!(ListRequest::new(r"u\t", GameKey::new("x").unwrap()).encode(b"LRPOPQ").is_err());
        assert!(ListRequest::new("", GameKey::new("x").unwrap()).encode(b"LRPOPQ").is_err());
    }
}
