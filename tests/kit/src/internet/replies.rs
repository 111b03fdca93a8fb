//! The replies of simulated servers: from the crate's responder, encoded once and then patched.

use std::net::SocketAddr;
use std::time::Instant;

use queryport::serve::Responder;
use queryport::session::Machine;
use queryport::{Player, Protocol, Rules, Secret, ServerStatus};

/// The placeholder for a server's index in the templates.
const NUMBER: &[u8] = b"0000777";

/// A datagram with placeholders.
pub struct Template {
    bytes: Vec<u8>,
    number_at: Option<usize>,
    echo_at: Option<usize>,
}

impl Template {
    /// The datagram of the server with this index. `quoted` is the part of the request that it
    /// repeats.
    pub fn fill(&mut self, index: u32, quoted: &[u8]) -> &[u8] {
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

/// The part of a request that selects the reply, and the part that the reply repeats.
pub fn shape(protocol: Protocol, request: &[u8]) -> Option<(u8, &[u8])> {
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

/// Recognises the protocol of a request.
pub fn protocol(request: &[u8]) -> Option<Protocol> {
    match request {
        [0xFF, 0xFF, 0xFF, 0xFF, ..] => Some(Protocol::Quake3),
        [0xFE, 0xFD, ..] => Some(Protocol::GameSpy4),
        [_, 0, 0, 0, _] => Some(Protocol::Ut2004),
        [b'\\', ..] => Some(Protocol::GameSpy1),
        _ => None,
    }
}

/// The number of players and rules of a server; by default it is half full.
pub fn shape_of(protocol: Protocol, full: bool) -> (i64, usize) {
    match (protocol, full) {
        (Protocol::Quake3, false) => (10, 16),
        (Protocol::Quake3, true) => (32, 30),
        (Protocol::GameSpy1, false) => (22, 40),
        (Protocol::GameSpy4, false) => (40, 66),
        (Protocol::Ut2004, false) => (16, 25),
        _ => (64, 80),
    }
}

fn status(protocol: Protocol, full: bool) -> ServerStatus {
    let (players, rules) = shape_of(protocol, full);
    let mut status = ServerStatus::default();
    status.name = Some(format!("Server {}", String::from_utf8_lossy(NUMBER)).into());
    status.map = Some("q3dm17".into());
    status.game = Some("baseq3".into());
    status.game_type = Some("0".into());
    status.max_players = Some(32);
    // Other clients reject replies of GameSpy's protocols without these.
    status.version = Some("1.32".into());
    status.password = Some(false);
    let player = |number: i64| {
        let mut player = Player::new(format!("player number {number}"));
        player.score = Some(number * 7 - 10);
        player.ping = Some(20 + i32::try_from(number).unwrap());
        if protocol == Protocol::Ut2004 {
            // Newest first, as in every capture.
            player
                .extra
                .push("PlayerNum", &(players - number).to_string());
        }
        player
    };
    status.players = (0..players).map(player).collect();
    status.rules = (0..rules)
        .map(|n| (format!("sv_rule{n}"), format!("value number {n}")))
        .collect::<Rules>();
    status
}

/// Encodes the responder's replies to one request as templates.
pub fn templates(
    protocol: Protocol,
    full: bool,
    request: &[u8],
    from: SocketAddr,
) -> Vec<Template> {
    let mut responder = Responder::new(
        protocol,
        status(protocol, full),
        Secret::new([7; 16]),
        Instant::now(),
    );
    let mut bytes = Vec::new();
    let mut request = request.to_vec();
    if protocol == Protocol::GameSpy4 && request.len() > 7 {
        // A token that this responder accepts.
        responder.handle_datagram(
            Instant::now(),
            from,
            &[b"\xfe\xfd\x09", &request[3..7]].concat(),
        );
        responder
            .poll_transmit(Instant::now(), &mut bytes)
            .expect("a challenge");
        let token = String::from_utf8_lossy(&bytes[5..])
            .trim_end_matches('\0')
            .parse::<i32>()
            .unwrap();
        request[7..11].copy_from_slice(&token.to_be_bytes());
        bytes.clear();
    }
    responder.handle_datagram(Instant::now(), from, &request);
    let (_, quoted) = shape(protocol, &request).unwrap();
    let mut templates = Vec::new();
    while responder
        .poll_transmit(Instant::now(), &mut bytes)
        .is_some()
    {
        let find = |what: &[u8]| memchr::memmem::find(&bytes, what);
        let number_at = find(NUMBER);
        let echo_at = if quoted.is_empty() {
            None
        } else {
            find(quoted)
        };
        if std::env::var_os("SHOW").is_some() {
            eprintln!("{protocol}: {} bytes", bytes.len());
        }
        templates.push(Template {
            number_at,
            echo_at,
            bytes: std::mem::take(&mut bytes),
        });
    }
    templates
}
