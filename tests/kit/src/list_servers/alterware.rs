//! AlterWare's master on a UDP socket, written after alterware/master-server at 1edf10e
//! (src/services) without this crate's parsers.
use std::net::{IpAddr, SocketAddr};

use tokio::net::UdpSocket;

/// The known games.
const GAMES: [&str; 6] = ["IW4", "IW5", "IW6", "IW7", "S1", "T7"];
const CHALLENGE: &str = "c7a1e5b2";
/// The maximum number of entries of a datagram: 200 have 1,400 bytes.
const ENTRIES: usize = 200;

/// A listed server: the game, the protocol number and the address.
pub type Registered = (String, i64, SocketAddr);

/// Answers until the task ends. Queries senders of heartbeats, and lists those with a valid answer.
pub async fn run(socket: UdpSocket, mut registered: Vec<Registered>) {
    let mut buffer = [0; 2048];
    while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
        let Some(text) = buffer[..length].strip_prefix(b"\xff\xff\xff\xff") else {
            continue;
        };
        let text = String::from_utf8_lossy(text).into_owned();
        let (word, rest) = text.split_once([' ', '\n', '\0']).unwrap_or((&text, ""));
        match word {
            "heartbeat" => {
                let request = format!("getinfo {CHALLENGE}");
                socket
                    .send_to(&[b"\xff\xff\xff\xff", request.as_bytes()].concat(), from)
                    .await
                    .unwrap();
            }
            "infoResponse" => registered.extend(described(rest, from)),
            "getservers" => {
                for datagram in list(rest, &registered) {
                    socket.send_to(&datagram, from).await.unwrap();
                }
            }
            _ => {}
        }
    }
}

fn described(infostring: &str, from: SocketAddr) -> Option<Registered> {
    let mut words = infostring.trim_start_matches('\\').split('\\');
    let (mut game, mut challenge, mut protocol) = (None, None, 0);
    while let (Some(key), Some(value)) = (words.next(), words.next()) {
        match key {
            "gamename" => game = Some(value),
            "challenge" => challenge = Some(value),
            "protocol" => protocol = value.parse().unwrap_or(0),
            _ => {}
        }
    }
    let game = game.filter(|game| GAMES.contains(game) && challenge == Some(CHALLENGE))?;
    Some((game.to_owned(), protocol, from))
}

/// The datagrams of a list. Empty for another request, or if no server has this game and number.
fn list(parameters: &str, registered: &[Registered]) -> Vec<Vec<u8>> {
    let mut words = parameters.split_ascii_whitespace();
    let (Some(game), Some(Ok(protocol))) = (words.next(), words.next().map(str::parse::<i64>))
    else {
        return Vec::new();
    };
    let fitting = registered
        .iter()
        .filter(|(of, number, _)| of == game && *number == protocol);
    let entries: Vec<Vec<u8>> = fitting
        .filter_map(|(_, _, server)| match server.ip() {
            IpAddr::V4(ip) => {
                Some([&b"\\"[..], &ip.octets(), &server.port().to_be_bytes()].concat())
            }
            IpAddr::V6(_) => None,
        })
        .collect();
    let mut datagrams: Vec<Vec<u8>> = entries
        .chunks(ENTRIES)
        .map(|entries| {
            [
                &b"\xff\xff\xff\xffgetserversResponse "[..],
                &entries.concat(),
            ]
            .concat()
        })
        .collect();
    if let Some(last) = datagrams.last_mut() {
        last.extend_from_slice(b"\\EOT\0\0\0");
    }
    datagrams
}
