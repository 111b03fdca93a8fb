//! UDP datagrams of a pcap or pcapng file, over IPv4 and IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use bytes::Bytes;
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

/// A UDP datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datagram {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub payload: Bytes,
}

/// Whether a file begins as a capture does.
pub fn is_capture(file: &[u8]) -> bool {
    const PCAPNG: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];
    // Seconds with micro- or nanoseconds, in both byte orders.
    const PCAP: [u32; 4] = [0xA1B2_C3D4, 0xD4C3_B2A1, 0xA1B2_3C4D, 0x4D3C_B2A1];
    let first = file.first_chunk::<4>();
    first.is_some_and(|first| *first == PCAPNG || PCAP.contains(&u32::from_be_bytes(*first)))
}

/// The UDP datagrams of a capture, in its order. Other protocols, fragments of IP packets, and
/// packets that the capture cut are skipped.
pub fn read(file: &[u8]) -> Result<Vec<Datagram>, String> {
    let mut reader = create_reader(file.len().max(1 << 16), file)
        .map_err(|error| format!("no capture: {error}"))?;
    let mut links = Vec::new();
    let mut datagrams = Vec::new();
    loop {
        let (length, block) = match reader.next() {
            Ok(next) => next,
            Err(PcapError::Eof) => return Ok(datagrams),
            Err(PcapError::Incomplete(_)) => {
                reader
                    .refill()
                    .map_err(|error| format!("the capture cannot be read: {error}"))?;
                if reader.reader_exhausted() {
                    return Ok(datagrams);
                }
                continue;
            }
            Err(error) => return Err(format!("the capture cannot be read: {error}")),
        };
        let packet = match &block {
            PcapBlockOwned::LegacyHeader(header) => {
                links = vec![header.network];
                None
            }
            PcapBlockOwned::Legacy(packet) => links.first().map(|link| (*link, packet.data)),
            PcapBlockOwned::NG(Block::SectionHeader(_)) => {
                links.clear();
                None
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                links.push(interface.linktype);
                None
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let interface = usize::try_from(packet.if_id).ok();
                interface
                    .and_then(|interface| links.get(interface))
                    .map(|link| (*link, packet.packet_data()))
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                links.first().map(|link| (*link, packet.packet_data()))
            }
            PcapBlockOwned::NG(_) => None,
        };
        datagrams.extend(packet.and_then(|(link, packet)| udp(network_layer(link, packet)?)));
        reader.consume(length);
    }
}

/// The IP packet inside a packet of this link type.
fn network_layer(link: Linktype, packet: &[u8]) -> Option<&[u8]> {
    const VLAN: [&[u8]; 2] = [&[0x81, 0x00], &[0x88, 0xA8]];
    const IP: [&[u8]; 2] = [&[0x08, 0x00], &[0x86, 0xDD]];
    let (mut kind, mut rest) = match link {
        Linktype::ETHERNET => (packet.get(12..14)?, packet.get(14..)?),
        // Linux "cooked" captures, of any interface.
        Linktype::LINUX_SLL => (packet.get(14..16)?, packet.get(16..)?),
        Linktype(276) => (packet.get(..2)?, packet.get(20..)?),
        // BSD's loopback: the family in four bytes.
        Linktype::NULL | Linktype::LOOP => return packet.get(4..),
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | Linktype(12 | 14) => return Some(packet),
        _ => return None,
    };
    while VLAN.contains(&kind) {
        (kind, rest) = (rest.get(2..4)?, rest.get(4..)?);
    }
    IP.contains(&kind).then_some(rest)
}

/// The UDP datagram of an IP packet.
fn udp(packet: &[u8]) -> Option<Datagram> {
    const UDP: u8 = 17;
    let (from, to, datagram): (IpAddr, IpAddr, &[u8]) = match packet.first()? >> 4 {
        4 => {
            let header = usize::from(packet.first()? & 0x0F) * 4;
            let fragment = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x3FFF;
            if *packet.get(9)? != UDP || fragment != 0 {
                return None;
            }
            let from: [u8; 4] = packet.get(12..16)?.try_into().ok()?;
            let to: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
            (
                Ipv4Addr::from(from).into(),
                Ipv4Addr::from(to).into(),
                packet.get(header..)?,
            )
        }
        6 if *packet.get(6)? == UDP => {
            let from: [u8; 16] = packet.get(8..24)?.try_into().ok()?;
            let to: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
            (
                Ipv6Addr::from(from).into(),
                Ipv6Addr::from(to).into(),
                packet.get(40..)?,
            )
        }
        _ => return None,
    };
    let number = |at: usize| Some(u16::from_be_bytes(*datagram.get(at..)?.first_chunk()?));
    let payload = datagram.get(8..usize::from(number(4)?))?;
    Some(Datagram {
        from: SocketAddr::new(from, number(0)?),
        to: SocketAddr::new(to, number(2)?),
        payload: Bytes::copy_from_slice(payload),
    })
}
