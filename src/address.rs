//! Canonical addresses, and which of them may be queried, listed or answered.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::ops::RangeInclusive;

/// The canonical form of an address.
///
/// A v4-mapped IPv6 address becomes IPv4, because dual-stack sockets report IPv4 peers like this.
/// Flow labels are cleared, and only link-local addresses keep their scope.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V6(v6) if v6.ip().is_unicast_link_local() => {
            SocketAddrV6::new(*v6.ip(), v6.port(), 0, v6.scope_id()).into()
        }
        _ => SocketAddr::new(address.ip().to_canonical(), address.port()),
    }
}

/// How many of the first bits of an address identify its network.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prefix {
    pub(crate) v4: u8,
    pub(crate) v6: u8,
}

impl Prefix {
    /// One host: an IPv4 address, or a /64 of IPv6.
    pub(crate) const HOST: Self = Self { v4: 32, v6: 64 };
}

/// All addresses and ports of a network: those with the same prefix. A v4-mapped address counts as
/// IPv4.
pub(crate) fn network(ip: IpAddr, prefix: Prefix) -> RangeInclusive<SocketAddr> {
    let [first, last]: [IpAddr; 2] = match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let hosts = u32::MAX.checked_shr(prefix.v4.into()).unwrap_or(0);
            [ip.to_bits() & !hosts, ip.to_bits() | hosts]
                .map(|bits| Ipv4Addr::from_bits(bits).into())
        }
        IpAddr::V6(ip) => {
            let hosts = u128::MAX.checked_shr(prefix.v6.into()).unwrap_or(0);
            [ip.to_bits() & !hosts, ip.to_bits() | hosts]
                .map(|bits| Ipv6Addr::from_bits(bits).into())
        }
    };
    SocketAddr::new(first, 0)..=SocketAddr::new(last, u16::MAX)
}

/// Which addresses of a list to accept, by where they can be reached.
///
/// Port 0, 0.0.0.0/8, `::`, multicast and broadcast are never accepted. Only a search of the local
/// network sends datagrams to such addresses.
///
/// ```
/// use queryport::lists::Scope;
///
/// let at = |text: &str| text.parse().unwrap();
/// assert!(
///     Scope::Public.admits(at("8.8.8.8:27960"))
///         && !Scope::Public.admits(at("10.0.0.1:27960"))
/// );
/// assert!(
///     Scope::Lan.admits(at("10.0.0.1:27960"))
///         && !Scope::Lan.admits(at("127.0.0.1:27960"))
/// );
/// assert!(
///     Scope::Any.admits(at("127.0.0.1:27960"))
///         && !Scope::Any.admits(at("127.0.0.1:0"))
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Scope {
    /// Addresses on the Internet.
    Public,
    /// Also addresses in the local network: private, link-local and other special ranges. No
    /// loopback addresses.
    #[default]
    Lan,
    /// Also loopback addresses.
    Any,
}

impl Scope {
    /// Whether an address is in scope.
    pub fn admits(self, address: SocketAddr) -> bool {
        let ip = address.ip().to_canonical();
        let is_host = match ip {
            IpAddr::V4(ip) => ip.octets()[0] != 0 && !ip.is_broadcast(),
            IpAddr::V6(ip) => !ip.is_unspecified(),
        };
        let is_reachable = match (self, ip) {
            (Self::Public, IpAddr::V4(ip)) => is_public(ip),
            (Self::Public, IpAddr::V6(ip)) => is_public_v6(ip),
            (Self::Lan, ip) => !ip.is_loopback(),
            (Self::Any, _) => true,
        };
        address.port() != 0 && is_host && !ip.is_multicast() && is_reachable
    }
}

/// Whether an address is outside the special-purpose blocks of RFC 6890.
const fn is_public(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let is_special = matches!(
        (a, b, c),
        (240.., ..) | (100, 64..=127, _) | (192, 0, 0) | (198, 18 | 19, _)
    );
    !(is_special
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation())
}

/// Whether an address is global unicast, and not for documentation.
const fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    a & 0xE000 == 0x2000 && !(a == 0x2001 && b == 0x0DB8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_canonical_form() {
        let same = |a: &str, b: &str| canonical(a.parse().unwrap()) == b.parse().unwrap();
        assert!(same("[::ffff:192.0.2.1]:5", "192.0.2.1:5"));
        assert!(same("[2001:db8::1%7]:5", "[2001:db8::1]:5"));
        assert!(
            same("[fe80::1%7]:5", "[fe80::1%7]:5"),
            "a link-local address needs its scope"
        );
        let with_flow = |flow| SocketAddrV6::new("fe80::1".parse().unwrap(), 5, flow, 7).into();
        assert_eq!(canonical(with_flow(9)), with_flow(0));
    }

    #[test]
    fn a_network_keeps_the_first_bits_of_an_address() {
        let network = |ip: &str, v4, v6| {
            let range = network(ip.parse().unwrap(), Prefix { v4, v6 });
            assert_eq!((range.start().port(), range.end().port()), (0, u16::MAX));
            (range.start().ip().to_string(), range.end().ip().to_string())
        };
        let is = |first: &str, last: &str| (first.to_owned(), last.to_owned());
        assert_eq!(
            network("192.0.2.200", 24, 64),
            is("192.0.2.0", "192.0.2.255")
        );
        assert_eq!(
            network("192.0.2.200", 32, 64),
            is("192.0.2.200", "192.0.2.200")
        );
        assert_eq!(
            network("192.0.2.200", 0, 64),
            is("0.0.0.0", "255.255.255.255")
        );
        assert_eq!(
            network("2001:db8::ffff:1", 24, 64),
            is("2001:db8::", "2001:db8::ffff:ffff:ffff:ffff")
        );
        assert_eq!(
            network("2001:db8::1", 24, 128),
            is("2001:db8::1", "2001:db8::1")
        );
        assert_eq!(
            network("::ffff:192.0.2.200", 24, 64),
            is("192.0.2.0", "192.0.2.255")
        );
    }
}

#[cfg(test)]
mod scope_tests {
    use super::*;

    #[test]
    fn every_special_block_is_kept_out_of_public_lists() {
        for address in [
            // The ends of each block.
            "10.0.0.0:1",
            "10.255.255.255:1",
            "100.64.0.0:1",
            "100.127.255.255:1",
            "169.254.0.0:1",
            "169.254.255.255:1",
            "172.16.0.0:1",
            "172.31.255.255:1",
            "192.0.0.0:1",
            "192.0.0.255:1",
            "192.0.2.0:1",
            "192.0.2.255:1",
            "192.168.0.0:1",
            "192.168.255.255:1",
            "198.18.0.0:1",
            "198.19.255.255:1",
            "198.51.100.1:1",
            "203.0.113.1:1",
            "240.0.0.0:1",
            "255.255.255.254:1",
            "[1fff::1]:1",
            "[2001:db8::]:1",
            "[2001:db8:ffff::1]:1",
            "[4000::1]:1",
            "[fd00::1]:1",
            "[fe80::1]:1",
        ] {
            let address = address.parse().unwrap();
            assert!(
                !Scope::Public.admits(address) && Scope::Lan.admits(address),
                "{address}"
            );
        }
        for address in [
            "0.0.0.0:1",
            "0.1.2.3:1",
            "224.0.0.1:1",
            "255.255.255.255:1",
            "8.8.8.8:0",
            "[::]:1",
            "[ff02::1]:1",
            "[::ffff:0.0.0.0]:1",
            "[::ffff:255.255.255.255]:9",
        ] {
            assert!(!Scope::Any.admits(address.parse().unwrap()), "{address}");
        }
        for address in [
            // The neighbours of the blocks.
            "1.0.0.0:1",
            "9.255.255.255:1",
            "11.0.0.0:1",
            "100.63.255.255:1",
            "100.128.0.0:1",
            "169.253.255.255:1",
            "169.255.0.0:1",
            "172.15.255.255:1",
            "172.32.0.0:1",
            "191.255.255.255:1",
            "192.0.1.0:1",
            "192.0.3.0:1",
            "192.167.255.255:1",
            "192.169.0.0:1",
            "198.17.255.255:1",
            "198.20.0.0:1",
            "223.255.255.255:1",
            "[2000::]:1",
            "[2001:db7::1]:1",
            "[2001:db9::1]:1",
            "[3fff::1]:1",
            "[::ffff:8.8.8.8]:1",
        ] {
            assert!(Scope::Public.admits(address.parse().unwrap()), "{address}");
        }
        for loopback in ["127.0.0.1:1", "127.255.255.255:1", "[::1]:1"] {
            let admitting = [Scope::Public, Scope::Lan, Scope::Any]
                .map(|scope| scope.admits(loopback.parse().unwrap()));
            assert_eq!(admitting, [false, false, true], "{loopback}");
        }
    }
}
