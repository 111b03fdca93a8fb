//! Replies that are encoded once and then patched, so that the farm does not limit a measurement.

use kit::servers::{Form, Match, Server, Wire};
use queryport::Protocol;

/// The placeholder for a server's index in its name.
const NUMBER: &str = "0000777";

/// A datagram with placeholders.
pub(crate) struct Template {
    bytes: Vec<u8>,
    number_at: Option<usize>,
    echo_at: Option<usize>,
}

impl Template {
    /// The datagram of the server with this index. `quoted` is the part of the request that it
    /// repeats.
    pub(crate) fn fill(&mut self, index: u32, quoted: &[u8]) -> &[u8] {
        if let Some(at) = self.number_at {
            let mut rest = index;
            for digit in self.bytes[at..at + NUMBER.len()].iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
        }
        if let Some(at) = self.echo_at {
            self.bytes[at..at + quoted.len()].copy_from_slice(quoted);
        }
        &self.bytes
    }
}

/// Recognises the protocol of a request.
pub(crate) fn protocol(request: &[u8]) -> Option<Protocol> {
    match request {
        [0xFF, 0xFF, 0xFF, 0xFF, ..] => Some(Protocol::Quake3),
        [0xFE, 0xFD, ..] => Some(Protocol::GameSpy4),
        [_, 0, 0, 0, _] => Some(Protocol::Ut2004),
        [b'\\', ..] => Some(Protocol::GameSpy1),
        _ => None,
    }
}

/// The part of a request that selects the reply, and the part that the reply repeats.
pub(crate) fn shape(protocol: Protocol, request: &[u8]) -> Option<(u8, &[u8])> {
    match protocol {
        Protocol::Quake3 => {
            let rest = request.strip_prefix(b"\xff\xff\xff\xffgetstatus")?;
            // Some clients send a line feed instead of a challenge, or nothing.
            Some((0, rest.trim_ascii()))
        }
        // A challenge request, or a data request, recognised by its length. It must have a token,
        // but any token is accepted.
        Protocol::GameSpy4 if matches!(request.len(), 7 | 15..) => {
            Some((request.len() as u8, &request[3..7]))
        }
        Protocol::GameSpy4 => None,
        Protocol::Ut2004 => Some((*request.get(4)?, b"")),
        _ => Some((0, b"")),
    }
}

/// How servers of a protocol write, and what they have: as usual, or full.
fn server(protocol: Protocol, full: bool) -> (Wire, Match) {
    let (wire, players, settings) = match (protocol, full) {
        (Protocol::Quake3, false) => (Wire::Quake3, 10, 16),
        (Protocol::Quake3, true) => (Wire::Quake3, 32, 20),
        (Protocol::GameSpy1, false) => (Wire::GameSpy1(Form::Qr1), 22, 40),
        (Protocol::GameSpy1, true) => (Wire::GameSpy1(Form::Qr1), 64, 80),
        (Protocol::GameSpy4, false) => (Wire::Qr2, 40, 66),
        (Protocol::GameSpy4, true) => (Wire::Qr2, 64, 80),
        // The settings are mutators: the scripts write another 17 rules.
        (_, false) => (Wire::Ut2004, 10, 5),
        (_, true) => (Wire::Ut2004, 32, 20),
    };
    (
        wire,
        Match::plain(format!("Server {NUMBER}"), players, settings),
    )
}

/// The replies to a request.
pub(crate) fn templates(protocol: Protocol, full: bool, request: &[u8]) -> Vec<Template> {
    let (wire, held) = server(protocol, full);
    let token = match request {
        [0xFE, 0xFD, 0, _, _, _, _, a, b, c, d, ..] => u32::from_be_bytes([*a, *b, *c, *d]),
        _ => 7,
    };
    let (_, quoted) = shape(protocol, request).unwrap();
    let datagrams = Server::new(wire, token).answer(&held, request);
    let template = |bytes: Vec<u8>| {
        let find = |what: &[u8]| memchr::memmem::find(&bytes, what);
        Template {
            number_at: find(NUMBER.as_bytes()),
            echo_at: find(quoted).filter(|_| !quoted.is_empty()),
            bytes,
        }
    };
    datagrams.into_iter().map(template).collect()
}
