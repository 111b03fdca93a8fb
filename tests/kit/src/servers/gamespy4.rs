//! Servers of GameSpy v2 and v4.

use super::{Match, Pair, Wire, pair};
use crate::sender::{Columns, Content, send};

pub(super) fn answer(wire: Wire, secret: u32, held: &Match, request: &[u8]) -> Vec<Vec<u8>> {
    let token = secret & 0x3FFF_FFFF;
    match (wire, request) {
        (Wire::GameSpy2, [0xFE, 0xFD, 0, id @ .., 0xFF, 0xFF, 0xFF]) => {
            vec![with_id(&gamespy2(held), id)]
        }
        (Wire::GameSpy2, _) => Vec::new(),
        (_, [0xFE, 0xFD, 0x09, id @ ..]) if id.len() == 4 => {
            vec![[b"\x09", id, token.to_string().as_bytes(), b"\0"].concat()]
        }
        (_, [0xFE, 0xFD, 0, a, b, c, d, quoted @ ..]) if quoted.len() == 8 => {
            if quoted[..4] != token.to_be_bytes() {
                return Vec::new();
            }
            let datagrams = match wire {
                Wire::Minecraft => vec![minecraft(held)],
                _ => qr2(held),
            };
            let id = [*a, *b, *c, *d];
            datagrams.iter().map(|bytes| with_id(bytes, &id)).collect()
        }
        _ => Vec::new(),
    }
}

/// The datagram with this id in bytes 1 to 4.
fn with_id(datagram: &[u8], id: &[u8]) -> Vec<u8> {
    [&datagram[..1], id, &datagram[5..]].concat()
}

/// Every pair that is not part of a player or team.
pub(super) fn pairs(wire: Wire, held: &Match) -> Vec<Pair> {
    let game = match wire {
        Wire::Minecraft => [pair("game_id", "MINECRAFT"), pair("map", &held.map)],
        _ => [pair("gamename", "some"), pair("mapname", &held.map)],
    };
    let mut pairs = vec![
        pair("hostname", &held.name),
        pair("gametype", "SMP"),
        pair("gamever", "1.32"),
        pair("password", "0"),
        pair("numplayers", held.players.len().to_string()),
        pair("maxplayers", held.slots.to_string()),
    ];
    pairs.extend(game);
    if wire != Wire::Minecraft {
        pairs.extend(held.settings());
    }
    pairs
}

/// Each pair as two texts that end with NUL.
fn texts(pairs: &[Pair]) -> Vec<u8> {
    let texts = pairs.iter().flat_map(|(key, value)| [key, value]);
    texts.flat_map(|text| [&text[..], b"\0"].concat()).collect()
}

/// The reply of the QR2 SDK.
fn qr2(held: &Match) -> Vec<Vec<u8>> {
    let column = |text: &str| text.as_bytes().to_vec();
    let rows = held.players.iter().map(|person| {
        vec![
            person.name.clone(),
            column(&person.score.to_string()),
            column(&person.ping.to_string()),
            column(&person.team.to_string()),
        ]
    });
    let players = Columns {
        fields: ["player_", "score_", "ping_", "team_"].map(column).to_vec(),
        rows: rows.collect(),
    };
    let teams = Columns {
        fields: ["team_t", "score_t"].map(column).to_vec(),
        rows: vec![
            vec![column("Red"), column("1")],
            vec![column("Blue"), column("2")],
        ],
    };
    send(&Content {
        pairs: pairs(Wire::Qr2, held),
        players,
        teams,
    })
}

/// The full reply of Mojang's server.
fn minecraft(held: &Match) -> Vec<u8> {
    let mut reply = b"\0\0\0\0\0splitnum\0\x80\0".to_vec();
    reply.extend(texts(&pairs(Wire::Minecraft, held)));
    reply.extend_from_slice(b"\0\x01player_\0\0");
    for player in &held.players {
        reply.extend_from_slice(&player.name);
        reply.push(0);
    }
    reply.push(0);
    reply
}

/// One datagram, cut at 1,400 bytes (nitrocaster/GameSpy, qr2.c).
fn gamespy2(held: &Match) -> Vec<u8> {
    let mut reply = b"\0\0\0\0\0".to_vec();
    reply.extend(texts(&pairs(Wire::GameSpy2, held)));
    // After the pairs, two NULs: the second is the first byte of the count of players.
    reply.extend_from_slice(b"\0\0");
    reply.push(held.players.len() as u8);
    reply.extend_from_slice(b"player_\0score_\0\0");
    for player in &held.players {
        reply.extend_from_slice(&player.name);
        reply.extend_from_slice(format!("\0{}\0", player.score).as_bytes());
    }
    reply.extend_from_slice(b"\0\x01team_t\0\0Red\0");
    reply.truncate(1400);
    reply
}
