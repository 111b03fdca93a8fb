//! Datagrams that wait to be sent.

use std::net::SocketAddr;
use std::ops::Range;

/// Datagrams that wait to be sent, back to back in one buffer.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    datagrams: Vec<(SocketAddr, Range<usize>)>,
    /// How many of them went out.
    sent: usize,
}

impl Outgoing {
    pub(super) fn push(&mut self, to: SocketAddr, datagram: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(datagram);
        self.datagrams.push((to, start..self.bytes.len()));
    }

    /// What still waits, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SocketAddr, &[u8])> {
        let waiting = self.datagrams.get(self.sent..).unwrap_or_default();
        waiting.iter().map(|(to, range)| (*to, self.bytes.get(range.clone()).unwrap_or_default()))
    }

    pub(super) fn first(&self) -> Option<(SocketAddr, &[u8])> {
        self.iter().next()
    }

    pub(super) fn sent(&mut self, count: usize) {
        self.sent = self.sent.saturating_add(count);
        if self.sent >= self.datagrams.len() {
            self.bytes.clear();
            self.datagrams.clear();
            self.sent = 0;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.datagrams.len()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn unsent_datagrams_stay_in_order() {
        let at = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut outgoing = Outgoing::default();
        for port in 1..=3 {
            outgoing.push(at(port), format!("datagram {port}").as_bytes());
        }
        outgoing.sent(1);
        assert_eq!(outgoing.first(), Some((at(2), &b"datagram 2"[..])));
        outgoing.push(at(4), b"");
        outgoing.sent(2);
        assert_eq!(outgoing.iter().collect::<Vec<_>>(), [(at(4), &b""[..])]);
        outgoing.sent(1);
        assert_eq!((outgoing.len(), outgoing.bytes.len(), outgoing.first()), (0, 0, None));
    }
}
