//! The servers that proved their address to a master, in a table of bounded size, and their games.
//! A game is identified by the heartbeat tag, the protocol number and the keys of the description.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::heartbeats::{HEARTBEATS, Heartbeat};
use crate::address::{Prefix, network};
use crate::error::AnnounceError;
use crate::model::ServerStatus;
use crate::model::serving::Occupancy;
use crate::quake3::server::from_status::info_pairs;
use crate::quake3::wire::infostring::{InfoString, MAX_INFO_STRING};
use crate::quake3::wire::request::{Command, Request};
use crate::service::Service;
use crate::text::number;
use crate::time::Instant;

/// The maximum memory of one listed server: at most 284 bytes for keys and entry, in tree nodes
/// that may be half empty.
pub(super) const BYTES_PER_SERVER: usize = 704;

/// A listed server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) expires: Instant,
    pub(super) occupancy: Occupancy,
    pub(super) game_type: Name,
}

/// The outcome for a server that proved its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    New,
    Renewed,
    /// The table is full, or its address has too many servers.
    NoRoom,
}

/// The game of a server. The servers of one list share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Game {
    pub(super) name: Name,
    pub(super) protocol: i32,
}

/// The key of a listed server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    game: Game,
    server: SocketAddr,
}

#[derive(Debug, Default)]
pub(super) struct Registry {
    /// The servers of one game are next to each other, so a list skips those of other games.
    entries: BTreeMap<Key, Entry>,
    games: BTreeMap<SocketAddr, Game>,
    max_servers: usize,
    max_per_address: usize,
}

impl Registry {
    pub(super) fn new(max_servers: usize, max_per_address: usize) -> Self {
        Self {
            max_servers,
            max_per_address,
            ..Self::default()
        }
    }

    pub(super) fn list(
        &mut self,
        server: SocketAddr,
        description: Description,
        expires: Instant,
    ) -> Listing {
        let listing = self.check(server);
        if listing == Listing::NoRoom {
            return listing;
        }
        let game = description.game;
        let entry = Entry {
            expires,
            occupancy: description.occupancy,
            game_type: description.game_type,
        };
        self.remove(server);
        self.games.insert(server, game);
        self.entries.insert(Key { game, server }, entry);
        listing
    }

    fn remove(&mut self, server: SocketAddr) {
        if let Some(game) = self.games.remove(&server) {
            self.entries.remove(&Key { game, server });
        }
    }

    /// The outcome for a server if it proved its address now.
    pub(super) fn check(&self, server: SocketAddr) -> Listing {
        if self.games.contains_key(&server) {
            return Listing::Renewed;
        }
        // One host counts as one owner.
        let theirs = self.games.range(network(server.ip(), Prefix::HOST));
        let is_full = self.entries.len() >= self.max_servers
            || theirs.take(self.max_per_address).count() >= self.max_per_address;
        if is_full {
            Listing::NoRoom
        } else {
            Listing::New
        }
    }

    /// Every server, sorted by address.
    pub(super) fn servers(&self) -> impl Iterator<Item = SocketAddr> {
        self.games.keys().copied()
    }

    /// The servers of a game from an address on, in sorted order.
    pub(super) fn of_game(
        &self,
        game: Game,
        from: SocketAddr,
    ) -> impl Iterator<Item = (SocketAddr, &Entry)> {
        let key = |server| Key { game, server };
        let entries = self.entries.range(key(from)..=key(HIGHEST));
        entries.map(|(key, entry)| (key.server, entry))
    }

    /// Removes the servers that have expired and returns them, sorted by address.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<SocketAddr> {
        let expired = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.expires <= now);
        let mut expired: Vec<SocketAddr> = expired.map(|(key, _)| key.server).collect();
        expired.sort_unstable();
        expired.iter().for_each(|&server| self.remove(server));
        expired
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// The first and the last address in sorted order.
pub(super) const LOWEST: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
pub(super) const HIGHEST: SocketAddr =
    SocketAddr::new(IpAddr::V6(Ipv6Addr::from_bits(u128::MAX)), u16::MAX);

/// A known tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag<'a> {
    pub(super) text: &'a str,
    /// Its number, which challenges are bound to.
    pub(super) index: u16,
    /// Its game. With one, the infostring need not name the game.
    pub(super) game: Option<&'a str>,
    /// The known heartbeat, unless the tag is the caller's own.
    pub(super) heartbeat: Option<&'static Heartbeat>,
}

impl<'a> Tag<'a> {
    const fn known(heartbeat: &'static Heartbeat) -> Self {
        Self {
            text: heartbeat.tag,
            index: 0,
            game: heartbeat.game,
            heartbeat: Some(heartbeat),
        }
    }

    fn own((tag, game): &'a (String, String)) -> Self {
        Self {
            text: tag,
            index: 0,
            game: Some(game),
            heartbeat: None,
        }
    }

    /// The name under which the game is listed, from the `gamename` of an infostring.
    fn game<'b>(&self, named: Option<&'b [u8]>) -> Result<&'b [u8], AnnounceError>
    where
        'a: 'b,
    {
        let known = self.game.map(str::as_bytes);
        match (named, known) {
            (Some([]) | None, None) => Err(missing("gamename", "game")),
            (None, Some(known)) => Ok(known),
            (Some(named), None) => Ok(named),
            (Some(named), Some(known)) if named == known || self.is_named(named) => Ok(known),
            (Some(_), Some(_)) => Err(AnnounceError::OtherGame),
        }
    }

    /// Whether infostrings have this other name of the game.
    fn is_named(&self, name: &[u8]) -> bool {
        let names = self.heartbeat.map_or(&[][..], |known| known.info_names);
        names.iter().any(|known| known.as_bytes() == name)
    }
}

/// Every known tag with its number, and the caller's own.
pub(super) fn tags(own: &[(String, String)]) -> impl Iterator<Item = Tag<'_>> {
    let all = HEARTBEATS.iter().map(Tag::known);
    let all = (0..).zip(all.chain(own.iter().map(Tag::own)));
    all.map(|(index, tag)| Tag { index, ..tag })
}

/// Longest game name and game type that are kept, in bytes (dpmaster, src/servers.h).
const MAX_NAME: usize = 63;
/// Bytes of an `infoResponse` before its fields, with the space for a challenge of usual clients.
const HEAD: usize = 44;

/// A short word up to the first NUL, stored inline: no entry of a master's table owns memory of its
/// own.
pub(super) type Name = [u8; MAX_NAME];
/// The name that no server has.
pub(super) const NO_NAME: Name = [0; MAX_NAME];

/// A text as a name; `None` for more than 63 bytes.
pub(super) fn to_name(text: &[u8]) -> Option<Name> {
    let mut name = NO_NAME;
    name.get_mut(..text.len())?.copy_from_slice(text);
    Some(name)
}

/// `None` for more than 63 bytes, and for a text with spaces or control bytes.
fn one_word(text: &[u8]) -> Option<Name> {
    let is_word = text.iter().all(|&byte| byte > b' ');
    if !is_word {
        return None;
    }
    to_name(text)
}

/// The parts of an `infoResponse` that a master keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Description {
    pub(super) game: Game,
    pub(super) occupancy: Occupancy,
    pub(super) game_type: Name,
}

impl Description {
    /// Reads a description and checks that it has what masters demand (dpmaster, src/messages.c):
    /// protocol, player slots, players, and the game unless the heartbeat's tag named it. Where
    /// both name a game, it must be the same.
    pub(super) fn read(info: InfoString<'_>, tag: &Tag<'_>) -> Result<Self, AnnounceError> {
        let count = |key| {
            let text = info.get(key)?;
            Some(number::number::<u32>(text).unwrap_or(0))
        };
        let word = |text, key, field| {
            let word = one_word(text);
            word.ok_or(AnnounceError::NotOneWord { key, field })
        };
        let game = tag.game(info.get("gamename"))?;
        let may_lack_clients = tag
            .heartbeat
            .is_some_and(|known| known.lacks_clients_if_empty);
        let players = match count("clients") {
            Some(players) => players,
            None if may_lack_clients => 0,
            None => return Err(missing("clients", "player_count")),
        };
        let slots = count("sv_maxclients").unwrap_or(0);
        if slots == 0 {
            return Err(missing("sv_maxclients", "max_players"));
        }
        let protocol = info.get("protocol").and_then(number::number);
        let protocol = protocol.ok_or_else(|| missing("protocol", "protocol_version"))?;
        Ok(Self {
            game: Game {
                name: word(game, "gamename", "game")?,
                protocol,
            },
            occupancy: Occupancy::new(players, slots),
            game_type: word(
                info.get("gametype").unwrap_or(b"0"),
                "gametype",
                "game_type",
            )?,
        })
    }
}

const fn missing(key: &'static str, field: &'static str) -> AnnounceError {
    AnnounceError::Missing { key, field }
}

/// Checks that a heartbeat tag can be sent.
pub(crate) fn check_tag(tag: &str) -> Result<(), AnnounceError> {
    let heartbeat = Request::new(Command::Heartbeat {
        tag: tag.as_bytes(),
    });
    heartbeat
        .encode(&mut Vec::new())
        .map_err(AnnounceError::Tag)
}

/// Appends a heartbeat with a tag that was checked.
pub(crate) fn encode_heartbeat(tag: &str, out: &mut Vec<u8>) {
    Request::new(Command::Heartbeat {
        tag: tag.as_bytes(),
    })
    .put(out);
}

/// The occupancy of a server with this status, if masters list it at all.
pub(crate) fn check_status(
    tag: &str,
    status: &ServerStatus,
    service: &Service,
) -> Result<Occupancy, AnnounceError> {
    let space = service.max_reply.min(MAX_INFO_STRING).saturating_sub(HEAD);
    let info = info_pairs(status, service, space);
    let known = tags(&[]).find(|known| known.text == tag);
    let unknown = Tag {
        text: tag,
        index: 0,
        game: None,
        heartbeat: None,
    };
    let tag = known.unwrap_or(unknown);
    Ok(Description::read(InfoString::new(&info.bytes), &tag)?.occupancy)
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "tests start at the time of the clock"
)]
mod tests {
    use super::*;

    fn describe(game: &str, protocol: i32) -> Description {
        let info =
            format!("\\gamename\\{game}\\protocol\\{protocol}\\clients\\1\\sv_maxclients\\8");
        let dark_places = tags(&[]).next().unwrap();
        Description::read(InfoString::new(info.as_bytes()), &dark_places).unwrap()
    }

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_owner_has_a_bounded_number_of_servers() {
        let now = Instant::now();
        let mut registry = Registry::new(100, 2);
        for (server, listing) in [
            ("192.0.2.1:1", Listing::New),
            ("192.0.2.1:65535", Listing::New),
            ("192.0.2.1:2", Listing::NoRoom),
            ("192.0.2.1:1", Listing::Renewed),
            ("192.0.2.2:1", Listing::New),
            ("[2001:db8::1]:1", Listing::New),
            ("[2001:db8::ffff:1:2:3]:1", Listing::New),
            ("[2001:db8::2]:1", Listing::NoRoom),
            ("[2001:db8:0:1::2]:1", Listing::New),
        ] {
            assert_eq!(
                registry.list(at(server), describe("x", 1), now),
                listing,
                "{server}"
            );
        }
    }

    #[test]
    fn a_list_walks_over_the_servers_of_its_game_only() {
        let now = Instant::now();
        let mut registry = Registry::new(1000, 9);
        for number in 0..100_u8 {
            let server = SocketAddr::from(([192, 0, 2, number], 1));
            registry.list(
                server,
                describe(["a", "b"][usize::from(number % 2)], 3),
                now,
            );
        }
        // A server that changes its game is no longer found under the old one.
        registry.list(at("192.0.2.0:1"), describe("c", 9), now);
        let of = |game: &str, protocol, from| {
            let name = to_name(game.as_bytes()).unwrap();
            let servers = registry.of_game(Game { name, protocol }, from);
            servers.map(|(server, _)| server)
        };
        assert_eq!(
            [
                of("a", 3, LOWEST).count(),
                of("b", 3, LOWEST).count(),
                of("c", 9, LOWEST).count()
            ],
            [49, 50, 1]
        );
        assert_eq!(
            [of("a", 4, LOWEST).count(), of("d", 3, LOWEST).count()],
            [0, 0]
        );
        assert_eq!(
            of("b", 3, at("192.0.2.96:1")).collect::<Vec<_>>(),
            [at("192.0.2.97:1"), at("192.0.2.99:1")]
        );
        assert_eq!(registry.servers().count(), 100);
        assert_eq!(registry.expire(now).len(), 100);
        assert!(registry.len() == 0 && registry.games.is_empty());
    }

    /// A reply that quotes the eleven characters of a master's challenge.
    #[test]
    fn a_status_is_listed_if_its_reply_has_what_masters_demand() {
        use crate::quake3::{Response, respond};
        use crate::{Limits, Protocol, Requester, Secret};
        let mut status = ServerStatus::default();
        (status.name, status.game) = (Some("Srv".into()), Some("Test".into()));
        (status.player_count, status.max_players) = (Some(1), Some(8));
        let challenge = Some(&b"0123456789a"[..]);
        let request = Request::new(Command::GetInfo { challenge });
        let requester = Requester::new(at("192.0.2.1:5"), Instant::now(), Secret::new([7; 16]));
        let dark_places = tags(&[]).next().unwrap();
        let mut listed = 0;
        for max_reply in 30..200 {
            let service = Service::from(Protocol::Quake3).with_max_reply(max_reply);
            let reply = respond(&request, &status, &service, &requester).pop();
            let is_usable = reply.is_some_and(|reply| {
                let Ok(response) = Response::parse(&reply, &Limits::default()) else {
                    return false;
                };
                Description::read(response.info(), &dark_places).is_ok()
            });
            let is_accepted = check_status("DarkPlaces", &status, &service).is_ok();
            assert_eq!(is_accepted, is_usable, "{max_reply}");
            listed += usize::from(is_accepted);
        }
        assert!((1..170).contains(&listed));
    }

    #[test]
    fn names_have_63_bytes_at_most() {
        let longest = [b'x'; MAX_NAME];
        assert_eq!(to_name(&longest), Some(longest));
        assert!(to_name(&[b'x'; MAX_NAME + 1]).is_none());
    }
}
