//! Which addresses a server list may hold.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// From where an address must be reachable. No scope admits what is no server's address anywhere: port 0, 0.0.0.0/8, `::`,
/// multicast and broadcast.
///
/// ```
/// use queryport::lists::Scope;
///
/// let at = |text: &str| text.parse().unwrap();
/// assert!(Scope::Public.admits(at("8.8.8.8:27960")) && !Scope::Public.admits(at("10.0.0.1:27960")));
/// assert!(Scope::Lan.admits(at("10.0.0.1:27960")) && !Scope::Lan.admits(at("127.0.0.1:27960")));
/// assert!(Scope::Any.admits(at("127.0.0.1:27960")) && !Scope::Any.admits(at("127.0.0.1:0")));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Scope {
    /// From the Internet.
    Public,
    /// From the Internet or the local network: private, link-local and other special ranges too, not the machine itself.
    #[default]
    Lan,
    /// From anywhere: the machine itself too.
    Any,
}

impl Scope {
    /// Whether an address is in scope.
    #[must_use]
    pub fn admits(self, address: SocketAddr) -> bool {
        let ip = address.ip().to_canonical();
        let is_host = match ip {
            IpAddr::V4(ip) => ip.octets()[0] != 0 && !ip.is_broadcast(),
            IpAddr::V6(ip) => !ip.is_unspecified(),
        };
        let reachable = match (self, ip) {
            (Self::Public, IpAddr::V4(ip)) => is_public(ip),
            (Self::Public, IpAddr::V6(ip)) => is_public_v6(ip),
            (Self::Lan, ip) => !ip.is_loopback(),
            (Self::Any, _) => true,
        };
        address.port() != 0 && is_host && !ip.is_multicast() && reachable
    }
}

/// Not one of the special-purpose blocks of RFC 6890.
const fn is_public(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let shared = a == 100 && b & 0xC0 == 64;
    let protocol = a == 192 && b == 0 && c == 0;
    let benchmark = a == 198 && b & 0xFE == 18;
    let reserved = a >= 240;
    !ip.is_private()
        && !ip.is_loopback()
        && !ip.is_link_local()
        && !ip.is_documentation()
        && !(shared || protocol || benchmark || reserved)
}

/// Global unicast, without the block for documentation.
const fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    a & 0xE000 == 0x2000 && !(a == 0x2001 && b == 0x0DB8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_special_block_is_kept_out_of_public_lists() {
        for address in [
            "10.1.2.3:1",
            "172.16.0.1:1",
            "192.168.0.1:1",
            "169.254.1.1:1",
            "100.64.0.1:1",
            "192.0.0.1:1",
            "192.0.2.1:1",
            "198.18.0.1:1",
            "203.0.113.1:1",
            "240.0.0.1:1",
            "[fe80::1]:1",
            "[fd00::1]:1",
            "[2001:db8::1]:1",
        ] {
            let address = address.parse().unwrap();
            assert!(!Scope::Public.admits(address) && Scope::Lan.admits(address), "{address}");
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
        ] {
            assert!(!Scope::Any.admits(address.parse().unwrap()), "{address}");
        }
        for address in ["69.79.84.5:27961", "92.92.92.92:23644", "[2001:4860::8888]:1", "[::ffff:8.8.8.8]:1"]
        {
            assert!(Scope::Public.admits(address.parse().unwrap()), "{address}");
        }
        assert!(
            !Scope::Lan.admits("[::1]:1".parse().unwrap()) && Scope::Any.admits("[::1]:1".parse().unwrap())
        );
    }
}
