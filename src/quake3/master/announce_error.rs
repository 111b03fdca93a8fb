//! Why masters would not list a server.

use thiserror::Error;

use crate::error::EncodeError;

/// Why masters would not list a server, however often it sends heartbeats.
///
/// ```
/// use std::time::Instant;
/// use queryport::quake3::master::{AnnounceError, Announcer};
/// use queryport::quake3::server::Options;
/// use queryport::ServerStatus;
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let mut status = ServerStatus::default();
/// status.game = Some("Nexuiz".into());
/// let error = Announcer::new("DarkPlaces", [], &status, &Options::default(), now).unwrap_err();
/// assert_eq!(error, AnnounceError::Missing { key: "clients", field: "player_count" });
/// assert_eq!(error.to_string(), "masters list no server without `clients`: set the status's player_count");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum AnnounceError {
    /// The heartbeat tag is no single word.
    #[error("the heartbeat tag cannot be sent")]
    Tag(#[source] EncodeError),
    /// The description lacks something that masters demand, or it is 0 or no number.
    #[error("masters list no server without `{key}`: set the status's {field}")]
    Missing {
        /// The key of the `infoResponse`.
        key: &'static str,
        /// The field of the status that it is made from.
        field: &'static str,
    },
    /// A name that masters take as one word of at most 63 bytes only.
    #[error("masters take only one word of at most 63 bytes for `{key}`: change the status's {field}")]
    NotOneWord {
        /// The key of the `infoResponse`.
        key: &'static str,
        /// The field of the status that it is made from.
        field: &'static str,
    },
    /// The heartbeat tag stands for another game than the status names.
    #[error("the heartbeat tag stands for another game than the status's game")]
    OtherGame,
}
