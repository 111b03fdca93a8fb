//! The servers a master knows: only those that proved their address, in a table of bounded size; and their games, by heartbeat
//! tag, by protocol number, and by what a server says of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Bound;

use crate::address::network;
use crate::error::AnnounceError;
use crate::model::{Occupancy, ServerStatus};
use crate::options::Detail;
use crate::options::Service;
use crate::quake3::from_status::named;
use crate::quake3::wire::infostring::{InfoString, MAX_INFO_STRING};
use crate::quake3::wire::request::{Command, Request};
use crate::text::number;
use crate::time::Instant;

/// Most memory one listed server can take: its keys and its entry are 296 bytes at most, and a node of a tree may be half
/// empty. A test measures it.
pub(super) const BYTES_PER_SERVER: usize = 704;

/// A listed server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) expires: Instant,
    /// Its heartbeat named the game: clients of such games ask by protocol number alone.
    pub(super) anonymous: bool,
    pub(super) description: Description,
}

/// What became of a server that proved its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    New,
    Renewed,
    /// The table is full, or its address has too many servers.
    NoRoom,
}

/// A hash of game and protocol number. Entries of groups that share one differ in their keys.
type Group = u64;

#[derive(Debug, Default)]
pub(super) struct Registry {
    /// The servers of one game and protocol number stand together: no list walks over those of others.
    entries: BTreeMap<(Group, SocketAddr), Entry>,
    groups: BTreeMap<SocketAddr, Group>,
    /// The servers whose heartbeats name the game, by protocol number.
    anonymous: BTreeSet<(i32, SocketAddr)>,
    max_servers: usize,
    max_per_address: usize,
}

impl Registry {
    pub(super) fn new(max_servers: usize, max_per_address: usize) -> Self {
        Self { max_servers, max_per_address, ..Self::default() }
    }

    pub(super) fn list(&mut self, server: SocketAddr, entry: Entry) -> Listing {
        let listing = self.check(server);
        if listing != Listing::NoRoom {
            self.remove(server);
            let Description { game, protocol, .. } = entry.description;
            let group = group(&game, protocol);
            self.groups.insert(server, group);
            if entry.anonymous {
                self.anonymous.insert((protocol, server));
            }
            self.entries.insert((group, server), entry);
        }
        listing
    }

    fn remove(&mut self, server: SocketAddr) {
        let Some(group) = self.groups.remove(&server) else { return };
        if let Some(entry) = self.entries.remove(&(group, server)) {
            self.anonymous.remove(&(entry.description.protocol, server));
        }
    }

    /// What would become of a server if it proved its address now.
    pub(super) fn check(&self, server: SocketAddr) -> Listing {
        if self.groups.contains_key(&server) {
            return Listing::Renewed;
        }
        // Who has an address: one IPv4 address, or a /64 of IPv6.
        let theirs = self.groups.range(network(server.ip(), (32, 64)));
        let is_full = self.entries.len() >= self.max_servers
            || theirs.take(self.max_per_address).count() >= self.max_per_address;
        if is_full { Listing::NoRoom } else { Listing::New }
    }

    /// Every server, sorted by address.
    pub(super) fn servers(&self) -> impl Iterator<Item = SocketAddr> {
        self.groups.keys().copied()
    }

    /// The servers of a game and protocol number after an address, in sorted order; all of them without one. A few of other
    /// games may be among them.
    pub(super) fn of_game(
        &self,
        game: Name,
        protocol: i32,
        after: Option<SocketAddr>,
    ) -> impl Iterator<Item = (SocketAddr, &Entry)> {
        let group = group(&game, protocol);
        let start = after.map_or(Bound::Included((group, LOWEST)), |after| Bound::Excluded((group, after)));
        let entries = self.entries.range((start, Bound::Unbounded));
        entries
            .take_while(move |((other, _), _)| *other == group)
            .map(|((_, server), entry)| (*server, entry))
    }

    /// The game of the first server with this protocol number whose heartbeat named the game.
    pub(super) fn anonymous_game(&self, protocol: i32) -> Option<Name> {
        let (found, server) = self.anonymous.range((protocol, LOWEST)..).next()?;
        let entry = self.entries.get(&(*self.groups.get(server)?, *server))?;
        (*found == protocol).then_some(entry.description.game)
    }

    /// Removes the servers that have expired and reports each, sorted by address.
    pub(super) fn expire(&mut self, now: Instant, gone: impl FnMut(SocketAddr)) {
        let expired = self.entries.iter().filter(|(_, entry)| entry.expires <= now);
        let mut expired: Vec<SocketAddr> = expired.map(|((_, server), _)| *server).collect();
        expired.sort_unstable();
        expired.iter().for_each(|&server| self.remove(server));
        expired.into_iter().for_each(gone);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// The first address in sorted order.
const LOWEST: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

fn group(game: &Name, protocol: i32) -> Group {
    let mut hasher = DefaultHasher::new();
    (game, protocol).hash(&mut hasher);
    hasher.finish()
}

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
    pub(super) text: &'a str,
    /// Its number, which challenges are bound to.
    pub(super) index: u16,
    /// Its game. With one, the infostring need not name the game.
    pub(super) game: Option<&'a str>,
}

/// Every known tag with its number: the built-in ones and the caller's own.
pub(super) fn tags(own: &[(String, String)]) -> impl Iterator<Item = Tag<'_>> {
    let own = own.iter().map(|(tag, game)| (tag.as_str(), Some(game.as_str())));
    (0..=u16::MAX).zip(TAGS.into_iter().chain(own)).map(|(index, (text, game))| Tag { text, index, game })
}

/// The game of a protocol number where no game is named.
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
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use super::*;
    use std::time::Duration;

    fn entry(expires: Instant) -> Entry {
        let info = InfoString::new(br"\gamename\x\protocol\1\clients\1\sv_maxclients\8");
        let description = Description::read(info, None).unwrap();
        Entry { expires, anonymous: false, description }
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
            assert_eq!(registry.list(at(server), entry(now)), listing, "{server}");
        }
    }

    #[test]
    fn a_full_table_keeps_its_servers() {
        let now = Instant::now();
        let mut registry = Registry::new(1, 9);
        assert_eq!(registry.list(at("192.0.2.1:1"), entry(now)), Listing::New);
        assert_eq!(registry.list(at("192.0.2.2:1"), entry(now)), Listing::NoRoom);
        assert_eq!(registry.list(at("192.0.2.1:1"), entry(now + Duration::from_secs(1))), Listing::Renewed);
        let mut gone = Vec::new();
        registry.expire(now, |server| gone.push(server));
        assert!(gone.is_empty() && registry.len() == 1);
        registry.expire(now + Duration::from_secs(1), |server| gone.push(server));
        assert_eq!((gone, registry.len()), (vec![at("192.0.2.1:1")], 0));
        assert_eq!(registry.list(at("192.0.2.2:1"), entry(now)), Listing::New);
    }

    #[test]
    fn an_entry_is_as_small_as_stated() {
        assert!(std::mem::size_of::<((Group, SocketAddr), Entry)>() <= 216);
    }

    #[test]
    fn a_list_walks_over_the_servers_of_its_game_only() {
        let now = Instant::now();
        let described = |game: &str, protocol: i32, anonymous| {
            let info = format!("\\gamename\\{game}\\protocol\\{protocol}\\clients\\1\\sv_maxclients\\8");
            let description = Description::read(InfoString::new(info.as_bytes()), None).unwrap();
            Entry { expires: now, anonymous, description }
        };
        let mut registry = Registry::new(1000, 9);
        for number in 0..100_u8 {
            let server = SocketAddr::from(([192, 0, 2, number], 1));
            registry.list(server, described(["a", "b"][usize::from(number % 2)], 3, number == 7));
        }
        // A server that changes its game is no longer found under the old one.
        registry.list(at("192.0.2.0:1"), described("c", 9, true));
        let name = |game: &str| name(game.as_bytes()).unwrap();
        let of =
            |game, protocol, after| registry.of_game(name(game), protocol, after).map(|(server, _)| server);
        assert_eq!(
            [of("a", 3, None).count(), of("b", 3, None).count(), of("c", 9, None).count()],
            [49, 50, 1]
        );
        assert_eq!([of("a", 4, None).count(), of("d", 3, None).count()], [0, 0]);
        assert_eq!(
            of("b", 3, Some(at("192.0.2.95:1"))).collect::<Vec<_>>(),
            [at("192.0.2.97:1"), at("192.0.2.99:1")]
        );
        assert_eq!(
            [3, 4, 9].map(|protocol| registry.anonymous_game(protocol)),
            [Some(name("b")), None, Some(name("c"))]
        );
        assert_eq!(registry.servers().count(), 100);
        registry.expire(now, |_| ());
        assert!(registry.len() == 0 && registry.groups.is_empty() && registry.anonymous.is_empty());
    }

    #[test]
    fn tags_keep_their_numbers() {
        let own = [("Warsow".to_owned(), "Warsow".to_owned())];
        let all: Vec<_> = tags(&own).collect();
        assert_eq!(all.len(), 5);
        assert_eq!(all[0], Tag { text: "DarkPlaces", index: 0, game: None });
        assert_eq!(all[4], Tag { text: "Warsow", index: 4, game: Some("Warsow") });
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
