//! The servers a master knows: only those that proved their address, in a table of bounded size.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::ops::Bound;
use std::time::Instant;

use super::description::Description;
use crate::address::network;

/// Most memory one listed server can take: key and entry are 208 bytes at most, and a node of the tree may be half
/// empty. A test measures it.
pub(super) const BYTES_PER_SERVER: usize = 512;

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
        let listing = self.check(server);
        if matches!(listing, Listing::New | Listing::Renewed) {
            self.entries.insert(server, entry);
        }
        listing
    }

    /// What would become of a server if it proved its address now.
    pub(super) fn check(&self, server: SocketAddr) -> Listing {
        if self.entries.contains_key(&server) {
            return Listing::Renewed;
        }
        if self.entries.len() >= self.max_servers {
            return Listing::Full;
        }
        let owner = owner(server.ip());
        let neighbours = self.entries.range(SocketAddr::new(owner, 0)..);
        let theirs = neighbours.take_while(|(other, _)| self::owner(other.ip()) == owner);
        if theirs.take(self.max_per_address).count() >= self.max_per_address {
            return Listing::TooMany;
        }
        Listing::New
    }

    /// The servers after an address in sorted order; all of them without one.
    pub(super) fn after(&self, server: Option<SocketAddr>) -> impl Iterator<Item = (SocketAddr, &Entry)> {
        let start = server.map_or(Bound::Unbounded, Bound::Excluded);
        self.entries.range((start, Bound::Unbounded)).map(|(server, entry)| (*server, entry))
    }

    /// Removes the servers that have expired and reports each.
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

/// Who has an address: one IPv4 address, or a /64 of IPv6.
fn owner(ip: IpAddr) -> IpAddr {
    network(ip, 32, 64)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::quake3::wire::infostring::InfoString;

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
    fn a_full_table_keeps_its_servers() {
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
    fn an_entry_is_as_small_as_stated() {
        assert!(std::mem::size_of::<(SocketAddr, Entry)>() <= 208);
    }
}
