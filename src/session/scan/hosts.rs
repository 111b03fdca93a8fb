//! Manners: how many queries one host gets at once.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A target that is waiting or about to be asked.
#[derive(Debug)]
pub(super) struct Waiting<C> {
    pub(super) index: u64,
    pub(super) peer: SocketAddr,
    pub(super) conversation: C,
}

/// Counts what is under way to each host, and keeps what has to wait. Both are bounded by the scan's window.
#[derive(Debug)]
pub(super) struct Hosts<C> {
    per_host: Option<u16>,
    prefix: (u8, u8),
    busy: HashMap<IpAddr, Host<C>>,
    /// Targets that wait for their host, over all hosts.
    waiting: usize,
    /// Targets whose turn has come; their host already counts them.
    ready: VecDeque<Waiting<C>>,
}

#[derive(Debug)]
struct Host<C> {
    under_way: u16,
    waiting: VecDeque<Waiting<C>>,
}

impl<C> Hosts<C> {
    pub(super) fn new(per_host: Option<u16>, prefix: (u8, u8), window: usize) -> Self {
        // Twice the room, as for the addresses: below half full, the map does not grow.
        let busy = HashMap::with_capacity(if per_host.is_some() { window.saturating_mul(2) } else { 0 });
        Self { per_host, prefix, busy, waiting: 0, ready: VecDeque::new() }
    }

    /// Takes a target in: gives it back when it may be asked now, keeps it otherwise.
    pub(super) fn admit(&mut self, target: Waiting<C>) -> Option<Waiting<C>> {
        let Some(most) = self.bound(target.peer) else { return Some(target) };
        let key = self.key(target.peer);
        let host = self.busy.entry(key).or_insert_with(|| Host { under_way: 0, waiting: VecDeque::new() });
        if host.under_way < most {
            host.under_way = host.under_way.saturating_add(1);
            return Some(target);
        }
        host.waiting.push_back(target);
        self.waiting = self.waiting.saturating_add(1);
        None
    }

    /// A query to this address has ended: the next in its host's line comes to [`Self::next`].
    pub(super) fn ended(&mut self, peer: SocketAddr) {
        if self.bound(peer).is_none() {
            return;
        }
        let key = self.key(peer);
        let Some(host) = self.busy.get_mut(&key) else { return };
        if let Some(next) = host.waiting.pop_front() {
            self.ready.push_back(next);
        } else {
            host.under_way = host.under_way.saturating_sub(1);
            if host.under_way == 0 {
                self.busy.remove(&key);
            }
        }
    }

    /// A target whose turn has come.
    pub(super) fn next(&mut self) -> Option<Waiting<C>> {
        let next = self.ready.pop_front()?;
        self.waiting = self.waiting.saturating_sub(1);
        Some(next)
    }

    pub(super) fn has_next(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Targets held here.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    fn bound(&self, peer: SocketAddr) -> Option<u16> {
        self.per_host.filter(|_| !peer.ip().is_loopback())
    }

    fn key(&self, peer: SocketAddr) -> IpAddr {
        match peer.ip() {
            IpAddr::V4(ip) => {
                let host_bits = 32_u32.saturating_sub(u32::from(self.prefix.0));
                let mask = u32::MAX.checked_shl(host_bits).unwrap_or(0);
                Ipv4Addr::from_bits(ip.to_bits() & mask).into()
            }
            IpAddr::V6(ip) => {
                let host_bits = 128_u32.saturating_sub(u32::from(self.prefix.1));
                let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
                Ipv6Addr::from_bits(ip.to_bits() & mask).into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(peer: &str) -> Waiting<()> {
        Waiting { index: 0, peer: peer.parse().unwrap(), conversation: () }
    }

    #[test]
    fn a_busy_host_makes_its_targets_wait_and_leaves_nothing_behind() {
        let mut hosts = Hosts::new(Some(2), (32, 64), 8);
        assert!(hosts.admit(target("192.0.2.1:1")).is_some());
        assert!(hosts.admit(target("192.0.2.1:2")).is_some());
        assert!(hosts.admit(target("192.0.2.1:3")).is_none());
        assert!(hosts.admit(target("192.0.2.2:1")).is_some(), "another host");
        assert!(!hosts.has_next());
        hosts.ended("192.0.2.1:1".parse().unwrap());
        assert_eq!(hosts.next().unwrap().peer.port(), 3);
        assert_eq!(hosts.waiting(), 0);
        for peer in ["192.0.2.1:2", "192.0.2.1:3", "192.0.2.2:1"] {
            hosts.ended(peer.parse().unwrap());
        }
        assert!(hosts.busy.is_empty());
    }

    #[test]
    fn prefixes_make_hosts_and_loopback_is_free() {
        let mut hosts = Hosts::new(Some(1), (24, 64), 8);
        assert!(hosts.admit(target("192.0.2.1:1")).is_some());
        assert!(hosts.admit(target("192.0.2.200:1")).is_none());
        assert!(hosts.admit(target("[2001:db8::1]:1")).is_some());
        assert!(hosts.admit(target("[2001:db8::ffff:1]:1")).is_none());
        assert!(hosts.admit(target("[2001:db8:0:1::1]:1")).is_some());
        for port in 1..100 {
            assert!(hosts.admit(target(&format!("127.0.0.1:{port}"))).is_some());
            assert!(hosts.admit(target(&format!("[::1]:{port}"))).is_some());
        }
        let mut free = Hosts::new(None, (32, 64), 8);
        assert!((0..100).all(|_| free.admit(target("192.0.2.1:1")).is_some()));
    }
}
