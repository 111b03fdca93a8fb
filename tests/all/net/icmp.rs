//! Servers that answer with an ICMP error.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage};

/// Loopback's address, and the type and code of an ICMP error (RFC 792 and RFC 4443).
pub const CODES: [(&str, u8, u8); 15] = [
    ("127.0.0.1", 3, 0),
    ("127.0.0.1", 3, 1),
    ("127.0.0.1", 3, 2),
    ("127.0.0.1", 3, 3),
    ("127.0.0.1", 3, 4),
    ("127.0.0.1", 3, 5),
    ("127.0.0.1", 3, 7),
    ("127.0.0.1", 3, 8),
    ("127.0.0.1", 3, 13),
    ("127.0.0.1", 11, 0),
    ("127.0.0.1", 12, 0),
    ("::1", 1, 0),
    ("::1", 1, 4),
    ("::1", 2, 0),
    ("::1", 4, 0),
];

/// A server that answers each request with an ICMP error. Its address may have port 0.
pub fn refusing(at: SocketAddr, icmp_type: u8, code: u8) -> SocketAddr {
    let server = UdpSocket::bind(at).unwrap();
    let (ip, at) = (at.ip(), server.local_addr().unwrap());
    let (family, protocol) = match ip {
        IpAddr::V4(_) => (AddressFamily::Inet, nix::sys::socket::SockProtocol::Icmp),
        IpAddr::V6(_) => (AddressFamily::Inet6, nix::sys::socket::SockProtocol::IcmpV6),
    };
    let raw = nix::sys::socket::socket(family, SockType::Raw, SockFlag::empty(), protocol).unwrap();
    std::thread::spawn(move || {
        loop {
            let (_, from) = server.recv_from(&mut [0; 2000]).unwrap();
            let error = icmp_error(icmp_type, code, from, at);
            let to = SockaddrStorage::from(SocketAddr::new(ip, 0));
            let flags = nix::sys::socket::MsgFlags::empty();
            let fd = std::os::fd::AsRawFd::as_raw_fd(&raw);
            nix::sys::socket::sendto(fd, &error, &to, flags).unwrap();
        }
    });
    at
}

/// An ICMP error about a datagram (RFC 792 and RFC 4443): the beginning of the datagram, after
/// eight bytes of header.
fn icmp_error(icmp_type: u8, code: u8, from: SocketAddr, to: SocketAddr) -> Vec<u8> {
    let mut error = vec![icmp_type, code, 0, 0, 0, 0, 0, 0];
    if (icmp_type, code) == (3, 4) {
        // The MTU of the next hop.
        error[6..8].copy_from_slice(&1400_u16.to_be_bytes());
    }
    match (from.ip(), to.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let mut header = vec![0x45, 0, 0, 40, 0, 1, 0, 0, 64, 17, 0, 0];
            header.extend(source.octets());
            header.extend(destination.octets());
            let sum = checksum(&header);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            error.extend(header);
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            if icmp_type == 2 {
                error[4..8].copy_from_slice(&1400_u32.to_be_bytes());
            }
            error.extend([0x60, 0, 0, 0, 0, 20, 17, 64]);
            error.extend(source.octets());
            error.extend(destination.octets());
        }
        _ => panic!("two families"),
    }
    error.extend(from.port().to_be_bytes());
    error.extend(to.port().to_be_bytes());
    error.extend([0, 20, 0, 0]);
    error.extend([0; 12]);
    if from.is_ipv4() {
        let sum = checksum(&error);
        error[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    error
}

fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
    let mut sum: u32 = words.sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}
