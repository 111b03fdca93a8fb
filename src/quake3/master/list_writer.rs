//! Lists of addresses as datagrams.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;

use crate::quake3::wire::mark;

/// Most bytes of a datagram that this crate writes, as dpmaster does.
const MAX_PART: usize = 1400;
/// The mark behind the last address.
const END: &[u8] = b"\\EOT\0\0\0";

/// Writes one datagram of a list.
#[derive(Debug)]
pub(super) struct PartWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> PartWriter<'a> {
    pub(super) fn new(extended: bool, out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        mark::put(None, if extended { b"getserversExtResponse" } else { b"getserversResponse" }, out);
        Self { out, start }
    }

    /// Appends an address; `false` when it does not fit.
    pub(super) fn push(&mut self, address: SocketAddr) -> bool {
        match address.ip() {
            IpAddr::V4(ip) => self.put(b"\\", &ip.octets(), address.port()),
            IpAddr::V6(ip) => self.put(b"/", &ip.octets(), address.port()),
        }
    }

    fn put(&mut self, separator: &[u8], ip: &[u8], port: u16) -> bool {
        // The two bytes of the port, the separator, and one byte that is kept for the closing separator.
        let fits = self.has_room(ip.len().saturating_add(4));
        if fits {
            [separator, ip, &port.to_be_bytes()].iter().for_each(|part| self.out.extend_from_slice(part));
        }
        fits
    }

    /// Ends the list; `false` when the end mark does not fit and needs a datagram of its own.
    pub(super) fn end(&mut self) -> bool {
        let fits = self.has_room(END.len());
        if fits {
            self.out.extend_from_slice(END);
        }
        fits
    }

    /// Closes a datagram that is not the last: id's and ioquake3's clients read an address only when a separator
    /// follows it.
    pub(super) fn close(self) {
        self.out.push(b'\\');
    }

    fn has_room(&self, length: usize) -> bool {
        self.out.len().saturating_sub(self.start).saturating_add(length) <= MAX_PART
    }
}

/// The datagrams of a complete list, each of 1,400 bytes at most, the last one with the end mark. IPv6 addresses need
/// an `extended` list and are left out of others.
///
/// ```
/// use queryport::lists::ListPart;
/// use queryport::quake3::master::list;
///
/// let parts = list(["192.0.2.1:27960".parse()?, "[2001:db8::1]:27960".parse()?], true);
/// assert_eq!(ListPart::parse(&parts[0])?.iter().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn list(servers: impl IntoIterator<Item = SocketAddr>, extended: bool) -> Vec<Bytes> {
    let mut parts = Vec::new();
    let mut servers = servers.into_iter().filter(|server| extended || server.is_ipv4()).peekable();
    loop {
        let mut out = Vec::with_capacity(MAX_PART);
        let mut writer = PartWriter::new(extended, &mut out);
        while servers.next_if(|&server| writer.push(server)).is_some() {}
        let ended = servers.peek().is_none() && writer.end();
        if !ended {
            writer.close();
        }
        parts.push(out.into());
        if ended {
            return parts;
        }
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;
    use crate::quake3::wire::list_part::ListPart;

    #[test]
    fn datagrams_are_packed_and_ended_as_clients_need() {
        let v4 = |n: u32| SocketAddr::from((Ipv4Addr::from_bits(0x0102_0000 + n), 27960));
        let v6 = |n: u128| SocketAddr::from((Ipv6Addr::from_bits((0x2001_0DB8 << 96) + n), 27960));
        let parts = list((0..196).map(v4), false);
        assert_eq!(parts.iter().map(Bytes::len).collect::<Vec<_>>(), [22 + 196 * 7 + 1, 22 + 7]);
        assert!(parts[0].ends_with(b"\\") && !ListPart::parse(&parts[0]).unwrap().has_end);
        assert_eq!(list((0..195).map(v4), false).len(), 1);
        let parts = list((0..73).map(v6), true);
        assert_eq!(ListPart::parse(&parts[0]).unwrap().iter().count(), 72);
        assert_eq!(list((0..5).map(v6), false), [&b"\xff\xff\xff\xffgetserversResponse\\EOT\0\0\0"[..]]);
        assert!(list((0..9000).map(v4), true).iter().all(|part| part.len() <= MAX_PART));
    }
}
