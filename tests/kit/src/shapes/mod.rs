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

/// The keys of a Quake 2 server (yquake2/yquake2, src/server/sv_main.c, src/game/g_main.c).
const QUAKE_2: [(&str, &str); 14] = [
    ("cheats", "0"),
    ("deathmatch", "1"),
    ("dmflags", "16"),
    ("fraglimit", "40"),
    ("gamedate", "Nov 26 2026"),
    ("gamename", "baseq2"),
    ("hostname", "A server of usual length"),
    ("mapname", "q2dm1"),
    ("maxclients", "16"),
    ("maxspectators", "4"),
    ("needpass", "0"),
    ("protocol", "34"),
    ("timelimit", "15"),
    ("version", "8.71 x86_64 Nov 26 2026 Linux"),
];

/// The keys of a QuakeWorld server (QW-Group/mvdsv, src/sv_main.c; QW-Group/ktx).
const QUAKE_WORLD: [(&str, &str); 14] = [
    ("*gamedir", "ktx"),
    ("maxfps", "77"),
    ("maxspectators", "8"),
    ("deathmatch", "3"),
    ("*version", "MVDSV 1.20"),
    ("*z_ext", "511"),
    ("hostname", "A server of usual length"),
    ("maxclients", "16"),
    ("timelimit", "15"),
    ("fraglimit", "40"),
    ("ktxver", "1.48"),
    ("map", "dm3"),
    ("status", "Standby"),
    ("needpass", "0"),
];

/// The keys of a Halo server.
const HALO: [(&str, &str); 14] = [
    ("hostname", "A server of usual length"),
    ("gamever", "01.00.10.0621"),
    ("hostport", "2302"),
    ("maxplayers", "16"),
    ("password", "0"),
    ("mapname", "bloodgulch"),
    ("dedicated", "1"),
    ("gamemode", "openplaying"),
    ("game_classic", "0"),
    ("numplayers", "10"),
    ("gametype", "CTF"),
    ("teamplay", "1"),
    ("gamevariant", "CTF"),
    ("fraglimit", "3"),
];

fn infostring(pairs: &[(&str, &str)]) -> String {
    let pair = |(key, value): &(&str, &str)| format!("\\{key}\\{value}");
    pairs.iter().map(pair).collect()
}

/// A Quake 2 status with this many players.
pub fn quake2(players: usize) -> Bytes {
    let line = |player| format!("{player} {} \"player name {player:02}\"\n", 20 + player);
    let lines: String = (0..players).map(line).collect();
    let text = format!("print\n{}\n{lines}", infostring(&QUAKE_2));
    [b"\xff\xff\xff\xff", text.as_bytes()].concat().into()
}

/// A QuakeWorld status of one datagram with this many players.
pub fn quake_world(players: usize) -> Bytes {
    let line = |player| {
        let name = format!("player name {player:02}");
        format!("{player} 12 5 26 \"{name}\" \"base\" 13 4 \"red\" \"h\"\n")
    };
    let lines: String = (0..players).map(line).collect();
    let text = format!("n{}\n{lines}\0", infostring(&QUAKE_WORLD));
    [b"\xff\xff\xff\xff", text.as_bytes()].concat().into()
}

/// A GameSpy v2 reply with this many players and two teams. Its id is 0.
pub fn gamespy2(players: u8) -> Bytes {
    let pair = |(key, value): &(&str, &str)| format!("{key}\0{value}\0");
    let keys: String = HALO.iter().map(pair).collect();
    let row = |player| format!("player name {player:02}\0{player}\x0040\0{}\0", player % 2);
    let rows: String = (0..players).map(row).collect();
    let mut packet = [b"\0\0\0\0\0", keys.as_bytes(), b"\0\0", &[players]].concat();
    packet.extend_from_slice(b"player_\0score_\0ping_\0team_\0\0");
    packet.extend_from_slice(rows.as_bytes());
    packet.extend_from_slice(b"\0\x02team_t\0score_t\0\0Red\x002\0Blue\x001\0");
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
