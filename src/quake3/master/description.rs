//! What a server says of itself to a master, and what masters demand of it.

use super::games;
use crate::error::AnnounceError;
use crate::model::{Occupancy, ServerStatus};
use crate::quake3::from_status::named;
use crate::quake3::wire::infostring::{InfoString, MAX_INFO_STRING};
use crate::quake3::wire::request::{Command, Request};
use crate::quake3::wire::response::Kind;
use crate::service::Service;
use crate::text::number;

/// Longest value that is read, in bytes (dpmaster, src/messages.c).
const MAX_VALUE: usize = 255;
/// Longest game name and game type that are kept, in bytes (dpmaster, src/servers.h).
const MAX_NAME: usize = 63;
/// Bytes of an `infoResponse` before its infostring.
const HEAD: usize = 17;

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
        if most == 0 {
            return Err(missing("sv_maxclients", "max_players"));
        }
        let occupancy = Occupancy::new(clients, most);
        let protocol = value("protocol").and_then(number::number);
        Ok(Self {
            protocol: protocol.ok_or_else(|| missing("protocol", "protocol in the options"))?,
            occupancy,
            game: word(game, "gamename", "game")?,
            game_type: word(info.get("gametype").unwrap_or(b"0"), "gametype", "game_type")?,
        })
    }
}

/// Checks that a heartbeat tag can be sent.
pub(crate) fn check_tag(tag: &str) -> Result<(), AnnounceError> {
    let heartbeat = Request::new(Command::Heartbeat { tag: tag.as_bytes() });
    heartbeat.encode(&mut Vec::new()).map_err(AnnounceError::Tag)
}

/// Appends a heartbeat with a tag that was checked.
pub(crate) fn encode_heartbeat(tag: &str, out: &mut Vec<u8>) {
    let start = out.len();
    if Request::new(Command::Heartbeat { tag: tag.as_bytes() }).encode(out).is_err() {
        out.truncate(start);
    }
}

/// How full a server with this status is, if masters list it at all.
pub(crate) fn check_status(
    tag: &str,
    status: &ServerStatus,
    options: &Service,
) -> Result<Occupancy, AnnounceError> {
    // The `infoResponse` that a master gets, with as long a challenge as dpmaster sends.
    let space = options.max_reply.saturating_sub(HEAD).min(MAX_INFO_STRING);
    let info = named((Kind::Info, true), b"0123456789A", status, options, space);
    Ok(Description::read(InfoString::new(&info.bytes), games::by_tag(tag))?.occupancy)
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
