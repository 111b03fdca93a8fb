//! The games of servers: by heartbeat tag, by protocol number, and by what a server says of itself to a master.

use crate::error::AnnounceError;
use crate::model::{Occupancy, ServerStatus};
use crate::options::Detail;
use crate::quake3::from_status::named;
use crate::quake3::wire::infostring::{InfoString, MAX_INFO_STRING};
use crate::quake3::wire::request::{Command, Request};
use crate::service::Service;
use crate::text::number;

/// Heartbeat tags and the games they name (dpmaster, src/games.c). With the first one the infostring must name the game.
const TAGS: [(&str, Option<&str>); 4] = [
    ("DarkPlaces", None),
    ("QuakeArena-1", Some("Quake3Arena")),
    ("Wolfenstein-1", Some("wolfmp")),
    ("EnemyTerritory-1", Some("et")),
];
/// Protocol numbers that `getservers` may name without a game (dpmaster, src/games.c).
const PROTOCOLS: [(&[i32], &str); 3] =
    [(&[66, 67, 68], "Quake3Arena"), (&[50, 59, 60], "wolfmp"), (&[72, 80, 83, 84], "et")];
/// Enemy Territory's clients expect every server, whatever they ask for (dpmaster, src/games.c).
pub(super) const ALWAYS_ALL: &[u8] = b"et";

/// A known tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    /// Its number, which challenges are bound to.
    pub(super) index: u16,
    /// The game it stands for. With one, the infostring need not name the game.
    pub(super) game: Option<&'a str>,
}

/// Every known tag with its number: the built-in ones and the caller's own.
pub(super) fn tags(own: &[(String, String)]) -> impl Iterator<Item = (&str, Tag<'_>)> {
    let own = own.iter().map(|(tag, game)| (tag.as_str(), Some(game.as_str())));
    let all = (0..=u16::MAX).zip(TAGS.into_iter().chain(own));
    all.map(|(index, (tag, game))| (tag, Tag { index, game }))
}

/// The game that a protocol number stands for where no game is named.
pub(super) fn by_protocol(protocol: i32) -> Option<&'static str> {
    PROTOCOLS.iter().find(|(protocols, _)| protocols.contains(&protocol)).map(|(_, game)| *game)
}

/// Longest value that is read, in bytes (dpmaster, src/messages.c).
const MAX_VALUE: usize = 255;
/// Longest game name and game type that are kept, in bytes (dpmaster, src/servers.h).
const MAX_NAME: usize = 63;
/// Bytes of an `infoResponse` before its infostring.
const HEAD: usize = 17;

/// A short word up to the first NUL, stored inline: no entry of a master's table owns memory of its own.
pub(super) type Name = [u8; MAX_NAME];

/// `None` for more than 63 bytes.
pub(super) fn name(text: &[u8]) -> Option<Name> {
    let mut name = [0; MAX_NAME];
    name.get_mut(..text.len())?.copy_from_slice(text);
    Some(name)
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
            let name = name(text).filter(|_| !text.iter().any(|&byte| byte <= b' '));
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
    Request::new(Command::Heartbeat { tag: tag.as_bytes() }).put(out);
}

/// How full a server with this status is, if masters list it at all.
pub(crate) fn check_status(
    tag: &str,
    status: &ServerStatus,
    options: &Service,
) -> Result<Occupancy, AnnounceError> {
    // The `infoResponse` that a master gets, with as long a challenge as dpmaster sends.
    let space = options.max_reply.saturating_sub(HEAD).min(MAX_INFO_STRING);
    let info = named((Detail::Short, true), b"0123456789A", status, options, space);
    let game = TAGS.iter().find(|(known, _)| *known == tag).and_then(|(_, game)| *game);
    Ok(Description::read(InfoString::new(&info.bytes), game)?.occupancy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_keep_their_numbers() {
        let own = [("Warsow".to_owned(), "Warsow".to_owned())];
        let all: Vec<_> = tags(&own).collect();
        assert_eq!(all.len(), 5);
        assert_eq!(all[0], ("DarkPlaces", Tag { index: 0, game: None }));
        assert_eq!(all[4], ("Warsow", Tag { index: 4, game: Some("Warsow") }));
    }

    #[test]
    fn protocol_numbers_name_a_game() {
        assert_eq!((by_protocol(84), by_protocol(71)), (Some("et"), None));
    }

    #[test]
    fn names_have_63_bytes_at_most() {
        let longest = [b'x'; MAX_NAME];
        assert_eq!(name(&longest), Some(longest));
        assert!(name(&[b'x'; MAX_NAME + 1]).is_none());
    }
}
