//! Errors of the network layer.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;

use crate::error::{EncodeError, QueryError};
use crate::gamespy1::list::ListError;
use crate::quake3::RconError;

/// Why a query over the network has no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The conversation failed.
    #[error("{peer}: {error}")]
    Query {
        /// Who was asked.
        peer: SocketAddr,
        /// What happened.
        #[source]
        error: QueryError,
    },
    /// What is to be asked cannot be written in the protocol.
    #[error("the request cannot be written: {0}")]
    Request(#[from] EncodeError),
    /// A list server gave no list.
    #[error("{peer}: {error}")]
    List {
        /// Who was asked.
        peer: SocketAddr,
        /// What happened.
        #[source]
        error: ListError,
    },
    /// The server did not run a console command, or did not answer it.
    #[error("{peer}: {error}")]
    Rcon {
        /// Who was asked.
        peer: SocketAddr,
        /// What happened.
        #[source]
        error: RconError,
    },
    /// The text is no `HOST`, `HOST:PORT`, IP address or `[IPv6]:PORT`.
    #[error("{0:?} is no host or host:port")]
    Address(String),
    /// The host name could not be looked up, or has no address.
    #[error("no address for {host:?}: {source}")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The system refused a socket operation.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Nothing came back at all.
    #[must_use]
    pub const fn is_silent(&self) -> bool {
        matches!(self, Self::Query { error: QueryError::Silent { .. }, .. })
    }

    /// The network said that nobody is there.
    #[must_use]
    pub const fn is_unreachable(&self) -> bool {
        matches!(self, Self::Query { error: QueryError::Unreachable, .. })
    }

    /// Somebody answered, but not what was asked.
    #[must_use]
    pub const fn is_nonsense(&self) -> bool {
        matches!(self, Self::Query { error: QueryError::Nonsense { .. } | QueryError::TooManySteps(_), .. })
    }
}
