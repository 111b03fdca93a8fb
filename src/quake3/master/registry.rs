//! The servers a master knows: only those that proved their address, in a table with a ceiling.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::ops::Bound;
use std::time::Instant;

/// Longest game name and game type that are kept, in bytes (dpmaster keeps 63).
pub(super) const MAX_NAME: usize = 63;

/// Most memory one listed server can take: key and entry are 208 bytes at most, and a node of the tree may be half
/// empty. A test measures it.
pub(super) const BYTES_PER_SERVER: usize = 512;

/// A short word, kept in place: no entry owns memory of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    length: u8,
    bytes: [u8; MAX_NAME],
}

impl Name {
    /// `None` for more than [`MAX_NAME`] bytes.
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_NAME];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        Some(Self { length: u8::try_from(text.len()).ok()?, bytes })
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&String::from_utf8_lossy(self.as_bytes()), f)
    }
}

/// How many players are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occupancy {
    Empty,
    Some,
    Full,
}

/// What a server said of itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) expires: Instant,
    pub(super) protocol: i32,
    pub(super) occupancy: Occupancy,
    /// Its heartbeat named the game: clients of such games ask by protocol number alone.
    pub(super) anonymous: bool,
    pub(super) game: Name,
    pub(super) game_type: Name,
}

/// What became of a server that proved its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    New,
    Renewed,
    /// The table is full.
    Full,
    /// Its address has too many servers.
    TooMany,
}

#[derive(Debug)]
pub(super) struct Registry {
    entries: BTreeMap<SocketAddr, Entry>,
    max_servers: usize,
    max_per_address: usize,
}

impl Registry {
    pub(super) const fn new(max_servers: usize, max_per_address: usize) -> Self {
        Self { entries: BTreeMap::new(), max_servers, max_per_address }
    }

    pub(super) fn list(&mut self, server: SocketAddr, entry: Entry) -> Listing {
        if let Some(known) = self.entries.get_mut(&server) {
            *known = entry;
            return Listing::Renewed;
        }
        let place = self.place(server);
        if place == Listing::New {
            self.entries.insert(server, entry);
        }
        place
    }

    /// What would become of a server if it proved its address now.
    pub(super) fn place(&self, server: SocketAddr) -> Listing {
        if self.entries.contains_key(&server) {
            return Listing::Renewed;
        }
        if self.entries.len() >= self.max_servers {
            return Listing::Full;
        }
        let (first, last) = neighbours(server.ip());
        if self.entries.range(first..=last).take(self.max_per_address).count() >= self.max_per_address {
            return Listing::TooMany;
        }
        Listing::New
    }

    /// The servers behind an address in sorted order, from the first one without it.
    pub(super) fn after(&self, server: Option<SocketAddr>) -> impl Iterator<Item = (SocketAddr, &Entry)> {
        let start = server.map_or(Bound::Unbounded, Bound::Excluded);
        self.entries.range((start, Bound::Unbounded)).map(|(server, entry)| (*server, entry))
    }

    /// Takes out what has expired and gives it to the caller, one by one.
    pub(super) fn expire(&mut self, now: Instant, mut gone: impl FnMut(SocketAddr)) {
        self.entries.retain(|server, entry| {
            let lives = entry.expires > now;
            if !lives {
                gone(*server);
            }
            lives
        });
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// The first and the last socket address of one owner: an IPv4 address, or a /64 of IPv6.
fn neighbours(ip: IpAddr) -> (SocketAddr, SocketAddr) {
    match ip {
        IpAddr::V4(_) => (SocketAddr::new(ip, 0), SocketAddr::new(ip, u16::MAX)),
        IpAddr::V6(v6) => {
            let prefix = v6.to_bits() & !u128::from(u64::MAX);
            let last = Ipv6Addr::from_bits(prefix | u128::from(u64::MAX));
            (
                SocketAddr::new(Ipv6Addr::from_bits(prefix).into(), 0),
                // Flow label and scope count in the order of addresses.
                std::net::SocketAddrV6::new(last, u16::MAX, u32::MAX, u32::MAX).into(),
            )
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use std::time::Duration;

    use super::*;

    fn entry(expires: Instant) -> Entry {
        let name = Name::new(b"x").unwrap();
        Entry {
            expires,
            protocol: 1,
            occupancy: Occupancy::Some,
            anonymous: false,
            game: name,
            game_type: name,
        }
    }

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_owner_has_so_many_places() {
        let now = Instant::now();
        let mut registry = Registry::new(100, 2);
        for (server, listing) in [
            ("192.0.2.1:1", Listing::New),
            ("192.0.2.1:65535", Listing::New),
            ("192.0.2.1:2", Listing::TooMany),
            ("192.0.2.1:1", Listing::Renewed),
            ("192.0.2.2:1", Listing::New),
            ("[2001:db8::1]:1", Listing::New),
            ("[2001:db8::ffff:1:2:3]:1", Listing::New),
            ("[2001:db8::2]:1", Listing::TooMany),
            ("[2001:db8:0:1::2]:1", Listing::New),
        ] {
            assert_eq!(registry.list(at(server), entry(now)), listing, "{server}");
        }
    }

    #[test]
    fn a_full_table_keeps_whom_it_has() {
        let now = Instant::now();
        let mut registry = Registry::new(1, 9);
        assert_eq!(registry.list(at("192.0.2.1:1"), entry(now)), Listing::New);
        assert_eq!(registry.list(at("192.0.2.2:1"), entry(now)), Listing::Full);
        assert_eq!(registry.list(at("192.0.2.1:1"), entry(now + Duration::from_secs(1))), Listing::Renewed);
        let mut gone = Vec::new();
        registry.expire(now, |server| gone.push(server));
        assert!(gone.is_empty() && registry.len() == 1);
        registry.expire(now + Duration::from_secs(1), |server| gone.push(server));
        assert_eq!((gone, registry.len()), (vec![at("192.0.2.1:1")], 0));
        assert_eq!(registry.list(at("192.0.2.2:1"), entry(now)), Listing::New);
    }

    #[test]
    fn an_entry_is_as_small_as_is_said() {
        assert!(std::mem::size_of::<(SocketAddr, Entry)>() <= 208);
        assert!(Name::new(&[b'x'; MAX_NAME]).is_some() && Name::new(&[b'x'; MAX_NAME + 1]).is_none());
    }
}
