//! Socket addresses: canonical form, validity as a peer, and network prefixes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// The canonical form of an address: a v4-mapped IPv6 address becomes IPv4, flow labels are cleared, and the scope is kept
/// for link-local addresses only. Dual-stack sockets report IPv4 peers as v4-mapped.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    match SocketAddr::new(address.ip().to_canonical(), address.port()) {
        SocketAddr::V6(v6) if v6.ip().is_unicast_link_local() => {
            let scope = if let SocketAddr::V6(given) = address { given.scope_id() } else { 0 };
            SocketAddr::V6(SocketAddrV6::new(*v6.ip(), v6.port(), 0, scope))
        }
        other => other,
    }
}

/// Whether a single host can use this address: port 0 and unspecified, multicast and broadcast addresses belong to none.
/// The crate sends no datagram to such an address.
pub(crate) fn is_unicast(address: SocketAddr) -> bool {
    let address = canonical(address);
    let special = match address.ip() {
        IpAddr::V4(ip) => ip.is_multicast() || ip.is_broadcast() || ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_multicast() || ip.is_unspecified(),
    };
    address.port() != 0 && !special
}

/// The network prefix of an address: its first `v4` or `v6` bits, the others 0. A v4-mapped address is one of IPv4.
pub(crate) fn network(ip: IpAddr, v4: u8, v6: u8) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let host_bits = 32_u32.saturating_sub(u32::from(v4));
            Ipv4Addr::from_bits(ip.to_bits() & u32::MAX.checked_shl(host_bits).unwrap_or(0)).into()
        }
        IpAddr::V6(ip) => {
            let host_bits = 128_u32.saturating_sub(u32::from(v6));
            Ipv6Addr::from_bits(ip.to_bits() & u128::MAX.checked_shl(host_bits).unwrap_or(0)).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_canonical_form() {
        let same = |a: &str, b: &str| canonical(a.parse().unwrap()) == b.parse().unwrap();
        assert!(same("[::ffff:192.0.2.1]:5", "192.0.2.1:5"));
        assert!(same("[2001:db8::1%7]:5", "[2001:db8::1]:5"));
        assert!(same("[fe80::1%7]:5", "[fe80::1%7]:5"), "a link-local address needs its scope");
    }

    #[test]
    fn special_addresses_and_port_0_are_not_unicast() {
        for none in ["192.0.2.1:0", "224.0.0.1:9", "255.255.255.255:9", "0.0.0.0:9", "[ff02::1]:9", "[::]:9"]
        {
            assert!(!is_unicast(none.parse().unwrap()), "{none}");
        }
        assert!(!is_unicast("[::ffff:255.255.255.255]:9".parse().unwrap()));
        assert!(is_unicast("192.0.2.1:9".parse().unwrap()) && is_unicast("[::1]:9".parse().unwrap()));
    }

    #[test]
    fn a_network_keeps_the_first_bits_of_an_address() {
        let network = |ip: &str, v4, v6| network(ip.parse().unwrap(), v4, v6).to_string();
        assert_eq!(network("192.0.2.200", 24, 64), "192.0.2.0");
        assert_eq!(network("192.0.2.200", 32, 64), "192.0.2.200");
        assert_eq!(network("192.0.2.200", 0, 64), "0.0.0.0");
        assert_eq!(network("2001:db8::ffff:1", 24, 64), "2001:db8::");
        assert_eq!(network("2001:db8::1", 24, 128), "2001:db8::1");
        assert_eq!(network("::ffff:192.0.2.200", 24, 64), "192.0.2.0");
    }
}
