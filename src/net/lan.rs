//! The servers of a local network, found by broadcast.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::task::{Context, Poll, ready};

use socket2::SockRef;
use tokio::net::UdpSocket;
use tokio::runtime::Handle;

use super::error::Error;
use super::io::{Fault, Io, Received, local_address};
use super::querier::Querier;
use super::scan::Scan;
use super::target::ScanTarget;
use super::tokio_io::Tokio;
use crate::error::QueryError;
use crate::games::{Game, UnknownGame};
use crate::lan::{Broadcast, Discovery};
use crate::limits::MAX_LAN_SERVERS;
use crate::protocol::Protocol;
use crate::scan::options::ScanOptions;

/// The multicast group of ioquake3's servers (ioquake/ioq3, `code/qcommon/net_ip.c`,
/// `NET_MULTICAST_IP6`).
const GROUP: Ipv6Addr = Ipv6Addr::new(0xff04, 0, 0, 0, 0x696f, 0x7175, 0x616b, 0x6533);

/// The game to search for with [`Client::lan`](crate::Client::lan), or all games.
///
/// The method takes `None`, a [`Game`], `Some` of one, or a text that [`Game::find`] finds.
#[derive(Debug, Clone, Copy)]
pub struct LanGame<'a>(pub(super) Option<&'a Game>);

impl<'a> From<&'a Game> for LanGame<'a> {
    fn from(game: &'a Game) -> Self {
        Self(Some(game))
    }
}

/// `None` is all games.
impl<'a> From<Option<&'a Game>> for LanGame<'a> {
    fn from(game: Option<&'a Game>) -> Self {
        Self(game)
    }
}

impl TryFrom<&str> for LanGame<'_> {
    type Error = UnknownGame;

    fn try_from(text: &str) -> Result<Self, Self::Error> {
        Game::find(text).map(Self::from)
    }
}

impl TryFrom<&String> for LanGame<'_> {
    type Error = UnknownGame;

    fn try_from(text: &String) -> Result<Self, Self::Error> {
        Game::find(text).map(Self::from)
    }
}

impl Querier {
    /// See `Client::lan`.
    pub(super) fn find_on_lan(
        &self,
        game: Option<&Game>,
        networks: &[IpAddr],
    ) -> Result<Scan<'static>, Error> {
        // Without a runtime, tokio's sockets would panic.
        Handle::try_current()
            .map_err(|error| Error::io("search the local network", io::Error::other(error)))?;
        // Some of the machine's own networks may be unreachable, but none that was chosen.
        let are_chosen = !networks.is_empty();
        let mut reachable = Vec::new();
        let mut sockets = Vec::new();
        let mut unreachable = None;
        for network in self.networks(networks) {
            if !self.family.admits(network) {
                continue;
            }
            match self.broadcaster(network) {
                Ok(socket) => {
                    reachable.push(network);
                    sockets.push(socket);
                }
                Err(error) => unreachable = Some(error),
            }
        }
        if let Some(error) = unreachable
            && (are_chosen || sockets.is_empty())
        {
            return Err(error);
        }
        // No server has this address. The client's counter makes each nonce different.
        let nonce = || self.nonce((Ipv4Addr::BROADCAST, 0).into());
        let search = Search {
            discovery: Discovery::new(game, self.options, self.timing, nonce, Tokio::now()),
            networks: reachable,
            sockets,
            late: 0,
        };
        let mut next = Box::pin(search.next());
        let source = move |cx: &mut Context<'_>| {
            let (search, target) = ready!(next.as_mut().poll(cx));
            next.set(search.next());
            Poll::Ready(target)
        };
        self.scan_targets(Box::new(source), ScanOptions::default())
    }

    /// The networks to search: the given ones, else that of the local address, else all.
    fn networks(&self, given: &[IpAddr]) -> Vec<SocketAddr> {
        if !given.is_empty() {
            let given = given.iter().map(IpAddr::to_canonical);
            return given.map(|ip| SocketAddr::new(ip, 0)).collect();
        }
        match self.local {
            Some(local) => vec![network_of(local)],
            None => networks_of_machine(),
        }
    }

    /// Opens a socket that reaches this network. Sends nothing.
    fn broadcaster(&self, mut network: SocketAddr) -> Result<UdpSocket, Error> {
        network.set_port(Protocol::Quake3.default_query_port());
        let mut local = local_address(self.local, network);
        // The scan of the servers found needs the caller's port.
        local.set_port(0);
        let cannot_open = |source| Error::io("open a UDP socket", source);
        // Connecting shows whether the network is reachable. A connected socket would receive only
        // from the broadcast address, so the search uses another one.
        let probe = open_broadcaster(local, network).map_err(cannot_open)?;
        if let Err(source) = probe.connect(network) {
            return Err(match Fault::of(&source) {
                Fault::Unreachable => Error::Query {
                    peer: network,
                    error: QueryError::Unreachable,
                },
                _ => Error::io("reach the local network", source),
            });
        }
        let socket = open_broadcaster(local, network).and_then(UdpSocket::from_std);
        socket.map_err(cannot_open)
    }
}

fn open_broadcaster(local: SocketAddr, network: SocketAddr) -> io::Result<std::net::UdpSocket> {
    let socket = std::net::UdpSocket::bind(local)?;
    socket.set_nonblocking(true)?;
    match network {
        SocketAddr::V4(_) => socket.set_broadcast(true)?,
        // The address does not choose the interface: systems read only the scope of link-local
        // addresses. With scope 0 they choose one themselves (RFC 3493, section 5.2).
        SocketAddr::V6(group) => SockRef::from(&socket).set_multicast_if_v6(group.scope_id())?,
    }
    Ok(socket)
}

/// The network of a local address.
fn network_of(local: SocketAddr) -> SocketAddr {
    match local {
        SocketAddr::V4(_) => (Ipv4Addr::BROADCAST, 0).into(),
        SocketAddr::V6(local) => SocketAddrV6::new(GROUP, 0, 0, local.scope_id()).into(),
    }
}

/// The networks of all interfaces of the machine.
fn networks_of_machine() -> Vec<SocketAddr> {
    let mut networks = BTreeSet::new();
    #[cfg(target_os = "linux")]
    for interface in nix::ifaddrs::getifaddrs().into_iter().flatten() {
        networks.extend(network_of_interface(&interface));
    }
    if networks.is_empty() {
        networks.insert((Ipv4Addr::BROADCAST, 0).into());
    }
    networks.into_iter().collect()
}

/// The broadcast address or multicast group of an interface address.
#[cfg(target_os = "linux")]
fn network_of_interface(interface: &nix::ifaddrs::InterfaceAddress) -> Option<SocketAddr> {
    use nix::net::if_::InterfaceFlags;
    use nix::sys::socket::SockaddrStorage;

    if !interface.flags.contains(InterfaceFlags::IFF_UP) {
        return None;
    }
    let ipv4 = |address: &Option<SockaddrStorage>| {
        let address = address.as_ref()?.as_sockaddr_in()?;
        Some(address.ip())
    };
    if let Some(ip) = ipv4(&interface.address) {
        let has_broadcast = interface.flags.contains(InterfaceFlags::IFF_BROADCAST);
        let broadcast = ipv4(&interface.broadcast).filter(|_| has_broadcast);
        let broadcast = broadcast_address(ip, ipv4(&interface.netmask)?, broadcast)?;
        return Some((broadcast, 0).into());
    }
    // Every interface with IPv6 has a link-local address, whose scope identifies it.
    let local = interface.address.as_ref()?.as_sockaddr_in6()?;
    let has_groups = interface.flags.contains(InterfaceFlags::IFF_MULTICAST);
    let is_local = local.ip().is_unicast_link_local();
    let network = network_of(SocketAddrV6::from(*local).into());
    (is_local && has_groups).then_some(network)
}

/// The broadcast address of an interface: the one that was set, else the last address of its
/// network. `None` for loopback, and for a network without a broadcast address: a host or a pair.
///
/// Without one that was set, glibc returns the interface's own address.
#[cfg(target_os = "linux")]
fn broadcast_address(ip: Ipv4Addr, mask: Ipv4Addr, set: Option<Ipv4Addr>) -> Option<Ipv4Addr> {
    let set = set.filter(|set| *set != ip && !set.is_unspecified());
    let hosts = !mask.to_bits();
    let last = Ipv4Addr::from_bits(ip.to_bits() | hosts);
    let has_last = hosts > 1 && !ip.is_loopback();
    set.or_else(|| has_last.then_some(last))
}

/// A search with one socket per network.
struct Search {
    discovery: Discovery,
    networks: Vec<SocketAddr>,
    sockets: Vec<UdpSocket>,
    /// The number of datagrams that were read after the end.
    late: usize,
}

impl Search {
    /// The next server that answers; `None` when the search has ended. The future owns the search,
    /// and returns it.
    async fn next(mut self) -> (Self, Option<ScanTarget>) {
        let mut buffer = Vec::new();
        loop {
            if let Some(found) = self.discovery.poll_found() {
                let target = ScanTarget::from((found.protocol, found.server));
                return (self, Some(target.with_options(found.options)));
            }
            self.send();
            let due = self.discovery.poll_timeout();
            let received = Tokio::receive(&self.sockets, due, &mut buffer).await;
            // If the caller was busy, datagrams that arrived in time are read late. Their number is
            // bounded, so that a flood cannot keep the search open.
            if self.discovery.is_finished(Tokio::now()) {
                self.late = self.late.saturating_add(1);
                if received.is_none() || self.late > MAX_LAN_SERVERS {
                    return (self, None);
                }
            }
            // On some systems, an error is an ICMP error about one of the requests.
            if let Some(Received {
                datagram: Ok((length, from)),
                ..
            }) = received
            {
                let datagram = buffer.get(..length).unwrap_or_default();
                self.discovery.handle_datagram(Tokio::now(), from, datagram);
            }
        }
    }

    /// Sends the requests that are due, each on every network.
    fn send(&mut self) {
        let mut request = Vec::new();
        while let Some(Broadcast { protocol, port }) =
            self.discovery.poll_transmit(Tokio::now(), &mut request)
        {
            for (socket, network) in self.sockets.iter().zip(&self.networks) {
                if network.is_ipv4() || protocol == Protocol::Quake3 {
                    let mut to = *network;
                    to.set_port(port);
                    // A request that cannot be sent counts as a lost datagram.
                    let _ = SockRef::from(socket).send_to(&request, &to.into());
                }
            }
            request.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn an_interface_without_a_broadcast_address_has_that_of_its_network() {
        let address = |text: &str| text.parse::<Ipv4Addr>().unwrap();
        for (ip, mask, set, expected) in [
            (
                "192.0.2.9",
                "255.255.255.0",
                Some("192.0.2.255"),
                Some("192.0.2.255"),
            ),
            (
                "192.0.2.9",
                "255.255.255.0",
                Some("255.255.255.255"),
                Some("255.255.255.255"),
            ),
            ("192.0.2.9", "255.255.255.0", None, Some("192.0.2.255")),
            (
                "192.0.2.9",
                "255.255.255.0",
                Some("192.0.2.9"),
                Some("192.0.2.255"),
            ),
            (
                "192.0.2.9",
                "255.255.255.240",
                Some("0.0.0.0"),
                Some("192.0.2.15"),
            ),
            ("192.0.2.9", "255.255.255.254", None, None),
            ("192.0.2.9", "255.255.255.255", None, None),
            (
                "192.0.2.9",
                "255.255.255.255",
                Some("192.0.2.255"),
                Some("192.0.2.255"),
            ),
            ("127.0.0.1", "255.0.0.0", None, None),
        ] {
            let found = broadcast_address(address(ip), address(mask), set.map(address));
            assert_eq!(found, expected.map(address), "{ip} {mask} {set:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_interface_has_one_network_if_it_is_up_and_reaches_several_hosts() {
        use nix::net::if_::InterfaceFlags as Flags;
        const UP: Flags = Flags::IFF_UP;
        let network = |flags, ip: &str, broadcast: Option<&str>| {
            let address = |text: &str| text.parse::<SocketAddr>().unwrap().into();
            let found = network_of_interface(&nix::ifaddrs::InterfaceAddress {
                interface_name: String::new(),
                flags,
                address: Some(address(ip)),
                netmask: Some(address("255.255.255.0:0")),
                broadcast: broadcast.map(address),
                destination: None,
            });
            found.map(|network| network.to_string())
        };
        let (broadcast, groups) = (Flags::IFF_BROADCAST, Flags::IFF_MULTICAST);
        for (flags, ip, expected) in [
            (UP | broadcast, "192.0.2.9:0", Some("192.0.2.99:0")),
            // Without the flag, it is the address at the other end.
            (UP | groups, "192.0.2.9:0", Some("192.0.2.255:0")),
            (broadcast | groups, "192.0.2.9:0", None),
            (
                UP | groups,
                "[fe80::1%7]:0",
                Some("[ff04::696f:7175:616b:6533%7]:0"),
            ),
            (UP | broadcast, "[fe80::1%7]:0", None),
            (broadcast | groups, "[fe80::1%7]:0", None),
            (UP | groups, "[2001:db8::1]:0", None),
        ] {
            let found = network(flags, ip, Some("192.0.2.99:0"));
            assert_eq!(found.as_deref(), expected, "{flags:?} {ip}");
        }
    }

    #[test]
    fn every_network_is_a_group_or_a_broadcast_address_once() {
        let networks = networks_of_machine();
        assert!(!networks.is_empty());
        for (place, network) in networks.iter().enumerate() {
            let is_group = match network {
                SocketAddr::V4(network) => {
                    !network.ip().is_loopback() && !network.ip().is_unspecified()
                }
                SocketAddr::V6(network) => *network.ip() == GROUP && network.scope_id() != 0,
            };
            assert!(is_group && network.port() == 0, "{network}");
            assert!(
                !networks.iter().take(place).any(|other| other == network),
                "{network} twice"
            );
        }
        assert_eq!(
            network_of(([127, 0, 0, 1], 5).into()),
            (Ipv4Addr::BROADCAST, 0).into()
        );
    }
}
