//! Helpers for benchmarks: datagrams, lower bounds, and a scan without a network.

pub mod passes;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use bytes::Bytes;
use queryport::quake3::{Response, StatusQuery};
use queryport::scan::Scanner;
use queryport::session::Machine;
use queryport::{Limits, QueryOptions, Requester, ScanOptions, Secret, Timing, ToStatus};

/// A `statusResponse` of realistic size: `rules` of 8 + 8 bytes, `players` of 25 bytes.
pub fn quake3(rules: usize, players: usize) -> Bytes {
    let mut packet = b"\xff\xff\xff\xffstatusResponse\n".to_vec();
    for rule in 0..rules {
        packet.extend_from_slice(format!("\\g_rule{rule:02}\\value_{rule:02}").as_bytes());
    }
    packet.push(b'\n');
    for player in 0..players {
        let name = format!("^{}player^7name {player:02}", player % 8);
        packet.extend_from_slice(format!("{player} {} \"{name}\"\n", 20 + player).as_bytes());
    }
    packet.into()
}

/// A lower bound: finds every separator of the format.
pub fn memchr_pass(bytes: &[u8]) -> usize {
    memchr::memchr2_iter(b'\\', b'\n', bytes).count()
}

/// Reads every value.
pub fn walk(packet: &[u8], limits: &Limits) -> (usize, i64) {
    let response = Response::parse(packet, limits).unwrap();
    let keys = response
        .info()
        .iter()
        .map(|(key, value)| key.len() + value.len())
        .sum::<usize>();
    let lines = response
        .players()
        .map(|line| line.score().unwrap_or(0) + line.name().len() as i64)
        .sum();
    (keys, lines)
}

/// A requester for the encoders.
pub fn requester() -> Requester {
    Requester::new(
        SocketAddr::from(([192, 0, 2, 1], 5000)),
        Instant::now(),
        Secret::new([7; 16]),
    )
}

/// Runs a scan of this many servers in memory, and returns the number of answers. Every server
/// answers immediately with the reply and the request's challenge. Each answer is read.
pub fn scan(count: u32, window: usize, reply: &[u8], model: bool) -> usize {
    let targets = (0..count).map(|index| {
        let address = SocketAddr::from((Ipv4Addr::from_bits(0x0A00_0000 + index), 27960));
        (
            address,
            StatusQuery::new(index.into(), &QueryOptions::default()),
        )
    });
    let now = Instant::now();
    let mut scanner = Scanner::new(
        targets,
        Timing::default(),
        ScanOptions::default().with_window(window),
        now,
    );
    // The reply, with a placeholder for the challenge at the end of its infostring.
    let head = reply
        .iter()
        .skip(20)
        .position(|&byte| byte == b'\n')
        .unwrap()
        + 20;
    let mut datagram = [&reply[..head], b"\\challenge\\01234567890", &reply[head..]].concat();
    let at = head + 11;
    let (mut out, mut asked, mut answered) = (Vec::new(), Vec::with_capacity(64), 0);
    while !scanner.is_finished() {
        out.clear();
        asked.clear();
        while asked.len() < 64
            && let Some(transmit) = scanner.poll_transmit(now, &mut out)
        {
            asked.push((transmit.to, out.len() - 11));
        }
        for &(peer, challenge) in &asked {
            datagram[at..at + 11].copy_from_slice(&out[challenge..challenge + 11]);
            scanner.handle_datagram(now, peer, &datagram);
        }
        while let Some(scanned) = scanner.poll_answer() {
            let answer = scanned.result.unwrap().answer;
            let good = answer.completeness().is_complete()
                && (!model || answer.to_status().player_count.is_some());
            answered += usize::from(good);
        }
    }
    answered
}
