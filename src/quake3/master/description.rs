//! What a server says of itself to a master, and what masters demand of it.

use thiserror::Error;

use crate::error::EncodeError;
use crate::quake3::wire::infostring::InfoString;
use crate::text::number;

/// Longest value that is read, in bytes (dpmaster, src/messages.c).
const MAX_VALUE: usize = 255;
/// Longest game name and game type that are kept, in bytes (dpmaster, src/servers.h).
const MAX_NAME: usize = 63;

/// A short word, stored inline: no entry of a master's table owns memory of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    length: u8,
    bytes: [u8; MAX_NAME],
}

impl Name {
    /// `None` for more than 63 bytes.
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_NAME];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        Some(Self { length: u8::try_from(text.len()).ok()?, bytes })
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

/// How many players are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occupancy {
    Empty,
    Some,
    Full,
}

/// The parts of an `infoResponse` that a master keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Description {
    pub(super) protocol: i32,
    pub(super) occupancy: Occupancy,
    pub(super) game: Name,
    pub(super) game_type: Name,
}

impl Description {
    /// Reads a description and checks that it has what masters demand (dpmaster, src/messages.c): protocol, player slots,
    /// players, and the game unless the heartbeat's tag named it. Where both name a game, it must be the same.
    pub(super) fn read(info: InfoString<'_>, tag_game: Option<&str>) -> Result<Self, AnnounceError> {
        let missing = |key, field| AnnounceError::Missing { key, field };
        let value = |key| info.get(key).filter(|value| value.len() <= MAX_VALUE);
        let count = |key, field| match value(key) {
            Some(text) => Ok(number::number::<u32>(text).unwrap_or(0)),
            None => Err(missing(key, field)),
        };
        let word = |text: &[u8], key, field| {
            let name = Name::new(text).filter(|_| !text.iter().any(|&byte| byte <= b' '));
            name.ok_or(AnnounceError::NotOneWord { key, field })
        };
        let game = match (info.get("gamename"), tag_game) {
            (Some(named), Some(known)) if named != known.as_bytes() => return Err(AnnounceError::OtherGame),
            (Some([]) | None, None) => return Err(missing("gamename", "game")),
            (Some(named), _) => named,
            (None, Some(known)) => known.as_bytes(),
        };
        let (clients, most) = (count("clients", "player_count")?, count("sv_maxclients", "max_players")?);
        let occupancy = match clients {
            _ if most == 0 => return Err(missing("sv_maxclients", "max_players")),
            0 => Occupancy::Empty,
            clients if clients >= most => Occupancy::Full,
            _ => Occupancy::Some,
        };
        let protocol = value("protocol").and_then(number::number);
        Ok(Self {
            protocol: protocol.ok_or_else(|| missing("protocol", "protocol in the options"))?,
            occupancy,
            game: word(game, "gamename", "game")?,
            game_type: word(info.get("gametype").unwrap_or(b"0"), "gametype", "game_type")?,
        })
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_63_bytes_at_most() {
        let longest = [b'x'; MAX_NAME];
        assert_eq!(Name::new(&longest).unwrap().as_bytes(), longest);
        assert!(Name::new(&[b'x'; MAX_NAME + 1]).is_none());
    }
}
