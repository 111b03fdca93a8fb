//! Properties of lists, masters and short replies, for any input and script.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use queryport::Secret;
use queryport::lists::{ListPart, Scope};
use queryport::quake3::master::{Master, MasterEvent, Options};
use queryport::quake3::{Command, Family, Reply, Request};
use queryport::session::Machine;

/// A datagram of a list agrees with a naive reader, and its servers are unchanged by encoding and
/// parsing.
pub fn list_part(data: &[u8]) {
    let Ok(part) = ListPart::parse(data) else {
        return;
    };
    let servers: Vec<SocketAddr> = part.iter().collect();
    assert!(servers.len() * 6 <= data.len());
    let expected = match part.family {
        Family::Quake3 => naive(data, part.extended),
        _ => Some(naive_packed(data)),
    };
    if let Some(expected) = expected {
        assert_eq!(servers, expected);
    }
    let parts = ListPart::encode(servers.iter().copied(), true);
    let again: Vec<SocketAddr> = parts
        .iter()
        .flat_map(|part| {
            ListPart::parse(part)
                .expect("ours")
                .iter()
                .collect::<Vec<_>>()
        })
        .collect();
    // An address with the bytes of the end mark ends a list. Its port is 0, so no server has it.
    if !servers.iter().any(|server| server.port() == 0) {
        assert_eq!(again, servers);
    }
    let last = ListPart::parse(parts.last().expect("at least one")).expect("ours");
    assert!(last.has_end && parts.iter().all(|part| part.len() <= 1400));
}

/// Reads binary lists byte by byte; `None` if the bytes could be hexadecimal digits.
fn naive(data: &[u8], extended: bool) -> Option<Vec<SocketAddr>> {
    let direction = usize::from(matches!(data.get(4), Some(1 | 2)));
    let mut rest = &data[4 + direction + if extended { 21 } else { 18 }..];
    while !rest.is_empty() && rest[0] != b'\\' && !(extended && rest[0] == b'/') {
        rest = &rest[1..];
    }
    if rest.len() >= 13 && rest[1..13].iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut servers = Vec::new();
    loop {
        let is_mark = rest.starts_with(b"\\EOT") || rest.starts_with(b"\\EOF");
        if is_mark && rest[4..].iter().take(3).all(|&byte| byte == 0) {
            return Some(servers);
        }
        if rest.len() >= 7 && rest[0] == b'\\' {
            let ip = Ipv4Addr::new(rest[1], rest[2], rest[3], rest[4]);
            servers.push(SocketAddr::new(
                IpAddr::V4(ip),
                u16::from_be_bytes([rest[5], rest[6]]),
            ));
            rest = &rest[7..];
        } else if extended && rest.len() >= 19 && rest[0] == b'/' {
            let ip = Ipv6Addr::from(<[u8; 16]>::try_from(&rest[1..17]).unwrap());
            servers.push(SocketAddr::new(
                IpAddr::V6(ip),
                u16::from_be_bytes([rest[17], rest[18]]),
            ));
            rest = &rest[19..];
        } else {
            return Some(servers);
        }
    }
}

/// Reads a list of Quake 2 or QuakeWorld: the addresses follow the separator of the word.
fn naive_packed(data: &[u8]) -> Vec<SocketAddr> {
    let mut after_word = data[4..].splitn(2, |&byte| byte == b' ' || byte == b'\n');
    let addresses = after_word.nth(1).expect("the word has a separator");
    let mut servers = Vec::new();
    for address in addresses.chunks_exact(6) {
        let ip = Ipv4Addr::new(address[0], address[1], address[2], address[3]);
        let port = u16::from_be_bytes([address[4], address[5]]);
        servers.push(SocketAddr::new(IpAddr::V4(ip), port));
    }
    servers
}

/// A parsed short reply is unchanged by encoding and parsing, and is not a request.
pub fn reply(data: &[u8]) {
    let Ok(reply) = Reply::parse(data) else {
        return;
    };
    let mut written = Vec::new();
    reply
        .encode(&mut written)
        .expect("what was read can be written");
    let again = Reply::parse(&written).expect("what was written parses");
    assert_eq!(again, reply);
    assert!(
        Request::parse(&written).is_err(),
        "a reply is never a request"
    );
}

/// Splits a script into steps: a time in units of 25 ms, a number, the length of a datagram, and
/// the datagram.
pub(super) fn script(data: &[u8]) -> impl Iterator<Item = (Duration, u8, &[u8])> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let (&[step, number, length], tail) = rest.split_first_chunk::<3>()?;
        let (datagram, tail) = tail.split_at(usize::from(length).min(tail.len()));
        rest = tail;
        Some((
            Duration::from_millis(25 * u64::from(step)),
            number,
            datagram,
        ))
    })
}

/// Datagrams from several addresses arrive at a master. It lists only servers that repeated its
/// challenge, and every list is well-formed and bounded.
pub fn master(data: &[u8]) {
    let mut now = Instant::now();
    let mut options = Options::default();
    options.scope = Scope::Any;
    options.max_servers = 4;
    // Derived from the input. Otherwise libFuzzer would copy challenges from comparisons into its
    // next input.
    let mut hasher = DefaultHasher::new();
    hasher.write(data);
    let secret = Secret::new(u128::from(hasher.finish()).to_le_bytes());
    let mut master = Master::new(secret, options, now);
    let mut asked: BTreeSet<(SocketAddr, Vec<u8>)> = BTreeSet::new();
    let mut proved: BTreeSet<SocketAddr> = BTreeSet::new();
    for (step, number, datagram) in script(data) {
        now += step;
        let from = SocketAddr::from(([192, 0, 2, number % 8], 27_960 + u16::from(number / 128)));
        // Act as a correct server: its description repeats the last challenge.
        let mut owned = datagram.to_vec();
        if datagram.ends_with(b"\\challenge\\")
            && let Some((_, challenge)) = asked.iter().rfind(|(server, _)| *server == from)
        {
            owned.extend_from_slice(challenge);
            proved.insert(from);
        }
        master.handle_datagram(now, from, &owned);
        master.handle_timeout(now);
        for _ in 0..300 {
            let mut out = Vec::new();
            let Some(transmit) = master.poll_transmit(now, &mut out) else {
                break;
            };
            assert_eq!(transmit.len, out.len());
            if let Ok(request) = Request::parse(&out) {
                let Command::GetInfo {
                    challenge: Some(challenge),
                } = request.command
                else {
                    panic!("{out:?}")
                };
                assert!(out.len() <= owned.len() + 4 && transmit.to == from);
                asked.insert((from, challenge.to_vec()));
            } else {
                let part = ListPart::parse(&out).expect("a list");
                assert!(out.len() <= 1400 && part.intact);
                assert!(part.iter().all(|server| proved.contains(&server)));
            }
        }
        while let Some(event) = master.poll_event() {
            if let MasterEvent::Listed(server) = event {
                assert!(proved.contains(&server), "{server} did not answer");
            }
        }
        assert!(master.servers().count() <= 4);
    }
}
