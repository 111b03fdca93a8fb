//! The servers of a local network, found by broadcast.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;
use tokio::runtime::Handle;
use tokio::time::Sleep;

use super::client::Client;
use super::error::Error;
use super::io::{BATCH, MAX_DATAGRAM, local_address};
use super::scan::Scan;
use super::target::ScanTarget;
use super::tokio_io::now;
use crate::games::Game;
use crate::lan::Discovery;
use crate::protocol::Protocol;
use crate::scan::options::ScanOptions;

/// The multicast group that ioquake3's servers join (ioquake/ioq3, `code/qcommon/net_ip.c`, `NET_MULTICAST_IP6`).
const GROUP: Ipv6Addr = Ipv6Addr::new(0xff04, 0, 0, 0, 0x696f, 0x7175, 0x616b, 0x6533);

impl Client {
    /// Finds the servers of a game, or of all games, on the local network, and queries each with this client's timing and
    /// options.
    ///
    /// `networks` are broadcast addresses, such as 192.0.2.255, or multicast groups. If there are none, the requests go to
    /// every network of the machine (on Linux: the broadcast address of each interface, and the multicast group of
    /// ioquake3's servers there; elsewhere 255.255.255.255, which is the network of the default route), or only to the network
    /// of [`Self::with_local_address`].
    ///
    /// Requests go out in two rounds, to the game's default query port, the three ports behind it, and the ports that the
    /// game's own client asks: Medal of Honor's, Bridge Commander's, the port that servers of UT2004 and Killing Floor
    /// share, and the beacon of Unreal, Unreal Tournament and SWAT 4, which names the query port. Over IPv6 only Quake 3's
    /// servers are asked. The search ends when no new address has answered for [`Timing::with_retry_after`] after the last request.
    ///
    /// Anybody can answer a broadcast. An address that sends an answer to what was asked is queried like any other, once, in
    /// the first protocol that it answered in; at most 4,096 addresses are, 128 of them at one host. Where the protocol can
    /// prove that the sender received the request, [`ServerStatus::verification`] says so. Games share ports:
    /// [`Game::of`] tells which game an answer comes from.
    ///
    /// ```no_run
    /// use queryport::games::Game;
    /// use queryport::{Client, ToStatus};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut servers = Client::new()?.lan(Some(Game::find("openarena")?), &[])?;
    /// while let Some(scanned) = servers.next_answer().await {
    ///     let Ok(outcome) = scanned.result else { continue };
    ///     let (protocol, status) =
    ///         (outcome.answer.protocol(), outcome.answer.to_status());
    ///     let game = Game::of(&status, protocol).map_or("unknown", |game| game.name);
    ///     println!("{} {game} {}", outcome.peer, status.name.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] if a given network, or every network of the machine, cannot be reached; see also [`Scan::new`].
    ///
    /// [`Timing::with_retry_after`]: crate::Timing::with_retry_after
    /// [`ServerStatus::verification`]: crate::ServerStatus::verification
    #[doc(alias = "broadcast")]
    pub fn lan(&self, game: Option<&Game>, networks: &[IpAddr]) -> Result<Scan, Error> {
        let given: Vec<SocketAddr> = networks.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
        let (mut networks, must_work) = match (given.is_empty(), self.local) {
            (false, _) => (given, true),
            (true, Some(local)) => (vec![network_of(local)], true),
            (true, None) => (interfaces(), false),
        };
        networks.retain(|network| self.family.admits(*network));
        let mut unreachable = None;
        let mut reachable = Vec::new();
        for network in networks {
            match self.reach(network) {
                Ok(()) => reachable.push(network),
                Err(error) => unreachable = Some(error),
            }
        }
        if let Some(source) = unreachable.filter(|_| must_work || reachable.is_empty()) {
            return Err(Error::io("reach the local network", source));
        }
        // Without a runtime, tokio's sockets would panic.
        Handle::try_current()
            .map_err(|error| Error::io("search the local network", io::Error::other(error)))?;
        let socket = |ipv4| {
            let is_needed = reachable.iter().any(|network| network.is_ipv4() == ipv4);
            let socket = is_needed.then(|| self.broadcaster(ipv4).and_then(UdpSocket::from_std)).transpose();
            socket.map_err(|source| Error::io("open a UDP socket", source))
        };
        // The client's secret and counter make each nonce another: the address is that of no server.
        let nonce = || self.nonce((Ipv4Addr::BROADCAST, 0).into());
        let mut servers = Servers {
            discovery: Discovery::new(game, self.options, self.timing, nonce, now()),
            sockets: [socket(true)?, socket(false)?],
            networks: reachable,
            sleep: Box::pin(tokio::time::sleep_until(now().into())),
            request: Vec::new(),
            buffer: vec![0; MAX_DATAGRAM],
        };
        self.scan_targets(Box::new(move |cx| servers.poll_next(cx)), ScanOptions::default())
    }

    /// A socket that may broadcast.
    fn broadcaster(&self, ipv4: bool) -> io::Result<std::net::UdpSocket> {
        let mut local = local_address(self.local, ipv4);
        // The scan has the caller's port.
        local.set_port(0);
        let socket = std::net::UdpSocket::bind(local)?;
        socket.set_nonblocking(true)?;
        if ipv4 {
            socket.set_broadcast(true)?;
        }
        Ok(socket)
    }

    /// Whether there is a way to this network. Nothing is sent.
    fn reach(&self, mut network: SocketAddr) -> io::Result<()> {
        network.set_port(Protocol::Quake3.default_query_port());
        let socket = self.broadcaster(network.is_ipv4())?;
        choose_interface(&SockRef::from(&socket), network)?;
        socket.connect(network)
    }
}

/// Sends multicast out of the interface of this network. The address alone does not: systems read the scope of link-local
/// addresses only.
fn choose_interface(socket: &SockRef<'_>, network: SocketAddr) -> io::Result<()> {
    match network {
        SocketAddr::V6(group) if group.scope_id() != 0 => socket.set_multicast_if_v6(group.scope_id()),
        _ => Ok(()),
    }
}

/// The network of a local address.
fn network_of(local: SocketAddr) -> SocketAddr {
    match local {
        SocketAddr::V4(_) => (Ipv4Addr::BROADCAST, 0).into(),
        SocketAddr::V6(local) => SocketAddrV6::new(GROUP, 0, 0, local.scope_id()).into(),
    }
}

/// The networks of the machine.
fn interfaces() -> Vec<SocketAddr> {
    let mut networks = Vec::new();
    #[cfg(target_os = "linux")]
    {
        use nix::net::if_::InterfaceFlags;

        let up = |flags: InterfaceFlags, able| flags.contains(InterfaceFlags::IFF_UP | able);
        for interface in nix::ifaddrs::getifaddrs().into_iter().flatten() {
            let broadcast = interface.broadcast.as_ref().and_then(|address| address.as_sockaddr_in());
            if let Some(broadcast) = broadcast.filter(|_| up(interface.flags, InterfaceFlags::IFF_BROADCAST))
            {
                networks.push((broadcast.ip(), 0).into());
            }
            // Every interface with IPv6 has a link-local address, whose scope is the interface.
            let local = interface.address.as_ref().and_then(|address| address.as_sockaddr_in6());
            if let Some(local) = local
                && local.ip().is_unicast_link_local()
                && up(interface.flags, InterfaceFlags::IFF_MULTICAST)
            {
                networks.push(SocketAddrV6::new(GROUP, 0, 0, local.scope_id()).into());
            }
        }
        networks.sort_unstable();
        networks.dedup();
    }
    if networks.is_empty() {
        networks.push((Ipv4Addr::BROADCAST, 0).into());
    }
    networks
}

/// Servers as they answer.
struct Servers {
    discovery: Discovery,
    /// For IPv4 and IPv6.
    sockets: [Option<UdpSocket>; 2],
    networks: Vec<SocketAddr>,
    sleep: Pin<Box<Sleep>>,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Servers {
    /// Takes what has arrived; `true` when more may be waiting.
    fn receive(&mut self, cx: &mut Context<'_>) -> bool {
        let mut is_full = false;
        for socket in self.sockets.iter().flatten() {
            is_full |= (0..BATCH).all(|_| {
                let mut buffer = ReadBuf::new(&mut self.buffer);
                match socket.poll_recv_from(cx, &mut buffer) {
                    Poll::Ready(Ok(from)) => self.discovery.handle_datagram(now(), from, buffer.filled()),
                    // An ICMP error about one of the requests, on some systems.
                    Poll::Ready(Err(_)) => {}
                    Poll::Pending => return false,
                }
                true
            });
        }
        is_full
    }

    /// Sends what may be sent now; pending while a socket is full. What a network does not take is lost, as any datagram can
    /// be.
    fn send(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let is_ready = |socket: &UdpSocket| socket.poll_send_ready(cx).is_ready();
        if !self.sockets.iter().flatten().map(is_ready).fold(true, |all, is_ready| all & is_ready) {
            return Poll::Pending;
        }
        let [v4, v6] = &self.sockets;
        while let Some((protocol, port)) = self.discovery.poll_transmit(now(), &mut self.request) {
            for network in &self.networks {
                let socket = if network.is_ipv4() { v4 } else { v6 };
                let mut to = *network;
                to.set_port(port);
                if let Some(socket) = socket.as_ref().filter(|_| to.is_ipv4() || protocol == Protocol::Quake3)
                {
                    let chosen = choose_interface(&SockRef::from(socket), to);
                    let _ = chosen.and_then(|()| socket.try_send_to(&self.request, to));
                }
            }
            self.request.clear();
        }
        Poll::Ready(())
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<ScanTarget>> {
        loop {
            let is_full = self.receive(cx);
            if let Some((protocol, server, options)) = self.discovery.poll_found() {
                return Poll::Ready(Some(ScanTarget::from((protocol, server)).with_options(options)));
            }
            if self.discovery.is_finished(now()) {
                return Poll::Ready(None);
            }
            if self.send(cx).is_pending() {
                return Poll::Pending;
            }
            if is_full {
                // A flood must not keep the scan from its own sockets.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let due = self.discovery.poll_timeout();
            self.sleep.as_mut().reset(due.into());
            if self.sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_is_a_group_or_a_broadcast_address_once() {
        let networks = interfaces();
        assert!(!networks.is_empty());
        for (place, network) in networks.iter().enumerate() {
            let is_group = match network {
                SocketAddr::V4(network) => !network.ip().is_loopback() && !network.ip().is_unspecified(),
                SocketAddr::V6(network) => *network.ip() == GROUP && network.scope_id() != 0,
            };
            assert!(is_group && network.port() == 0, "{network}");
            assert!(!networks.iter().take(place).any(|other| other == network), "{network} twice");
        }
        assert_eq!(network_of(([127, 0, 0, 1], 5).into()), (Ipv4Addr::BROADCAST, 0).into());
    }
}
