//! A table of fixed size with an entry for each source of requests.

use std::net::{IpAddr, SocketAddr};

use crate::address::network;
use crate::secret::Secret;

/// Entries for sources: networks of this many bits of an IPv4 or IPv6 address. A source belongs to one set of the table; which
/// one follows from a keyed hash, so nobody can choose sources that share a set.
#[derive(Debug, Clone)]
pub(crate) struct SourceTable<E> {
    slots: Vec<Slot<E>>,
    ways: usize,
    prefix: (u8, u8),
    secret: Secret,
    purpose: &'static str,
}

/// An entry and the source that it belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slot<E> {
    /// The source by its hash.
    pub(crate) source: u32,
    pub(crate) entry: E,
}

impl<E: Copy + Default> SourceTable<E> {
    /// A table of `sets` sets with `ways` entries each, for networks of `prefix` bits (IPv4, IPv6).
    pub(crate) fn new(
        (sets, ways): (usize, usize),
        prefix: (u8, u8),
        secret: Secret,
        purpose: &'static str,
    ) -> Self {
        Self { slots: vec![Slot::default(); sets.saturating_mul(ways)], ways, prefix, secret, purpose }
    }

    /// The hash of an address's source, and the set that its entry belongs to.
    pub(crate) fn set(&mut self, address: IpAddr) -> (u32, &mut [Slot<E>]) {
        let owner = SocketAddr::new(network(address, self.prefix.0, self.prefix.1), 0);
        let [a, b, c, d, rest @ ..] = self.secret.number(self.purpose, owner, 0).to_le_bytes();
        let sets = self.slots.len().checked_div(self.ways).unwrap_or_default();
        let set = usize::try_from(u32::from_le_bytes(rest)).unwrap_or_default().checked_rem(sets);
        let start = set.unwrap_or_default().saturating_mul(self.ways);
        let end = start.saturating_add(self.ways);
        (u32::from_le_bytes([a, b, c, d]), self.slots.get_mut(start..end).unwrap_or_default())
    }

    /// Memory of the entries, in bytes.
    pub(crate) const fn bytes((sets, ways): (usize, usize)) -> usize {
        sets.saturating_mul(ways).saturating_mul(size_of::<Slot<E>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_share_an_entry() {
        let mut table = SourceTable::<u8>::new((64, 2), (24, 48), Secret::new([1; 16]), "test");
        let mut source = |ip: &str| table.set(ip.parse().unwrap()).0;
        assert_eq!(source("192.0.2.1"), source("192.0.2.200"));
        assert_ne!(source("192.0.2.1"), source("192.0.3.1"));
        assert_eq!(source("2001:db8:1::1"), source("2001:db8:1:ff::1"));
        assert_eq!(table.set("192.0.2.1".parse().unwrap()).1.len(), 2);
    }

    #[test]
    fn sources_spread_over_all_sets() {
        let mut table = SourceTable::<u32>::new((64, 1), (32, 64), Secret::new([1; 16]), "test");
        for n in 0..1000_u32 {
            let (_, set) = table.set(std::net::Ipv4Addr::from_bits(n).into());
            set[0].entry += 1;
        }
        assert!(table.slots.iter().all(|slot| slot.entry > 0 && slot.entry < 50));
        assert_eq!(SourceTable::<u32>::bytes((64, 1)), size_of_val(&table.slots[..]), "as stated");
    }
}
