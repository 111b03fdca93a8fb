//! Servers of the Quake 3 family.

use super::{Match, Pair, Person, Wire, pair};

/// Longest reply of id's engine, in bytes (code/qcommon/qcommon.h, `MAX_MSGLEN`).
const QUAKE3_MOST: usize = 16_384;
/// Longest reply of Quake3e: lines up to 1,396 bytes, after a head of another three (ec-/Quake3e
/// code/server/sv_main.c, `SVC_Status`).
const QUAKE3E_MOST: usize = 1399;
/// Longest text of Quake 2, in bytes (id-Software/Quake-2, server/sv_main.c).
const QUAKE2_MOST: usize = 1384;
/// Longest text of a datagram of QuakeWorld (QW-Group/mvdsv, src/sv_send.c).
const QUAKE_WORLD_MOST: usize = 1340;

pub(super) fn answer(wire: Wire, held: &Match, request: &[u8]) -> Vec<Vec<u8>> {
    let Some(line) = request.strip_prefix(b"\xff\xff\xff\xff") else {
        return Vec::new();
    };
    match wire {
        Wire::Quake3 | Wire::Quake3e => {
            let Some(challenge) = line.strip_prefix(b"getstatus") else {
                return Vec::new();
            };
            let most = if wire == Wire::Quake3 {
                QUAKE3_MOST
            } else {
                QUAKE3E_MOST
            };
            vec![quake3(held, wire, challenge.trim_ascii(), most)]
        }
        Wire::Quake2 => vec![quake2(held)],
        _ => quake_world(held),
    }
}

/// The pairs of the infostring, without the challenge.
pub(super) fn pairs(wire: Wire, held: &Match) -> Vec<Pair> {
    let mut pairs = match wire {
        Wire::Quake3 | Wire::Quake3e => vec![
            pair("sv_hostname", &held.name),
            pair("mapname", &held.map),
            pair("sv_maxclients", held.slots.to_string()),
            pair("gamename", "baseq3"),
        ],
        Wire::QuakeWorld => vec![pair("hostname", &held.name), pair("map", &held.map)],
        _ => vec![pair("hostname", &held.name), pair("mapname", &held.map)],
    };
    let version = match wire {
        Wire::Quake3 => Some("Q3 1.32c linux-i386 May  8 2006"),
        Wire::Quake3e => Some("Q3 1.32e linux-x86_64 Jan 20 2025"),
        Wire::Quake2 => None,
        _ => Some("MVDSV 0.36"),
    };
    let version_key = if wire == Wire::QuakeWorld {
        "*version"
    } else {
        "version"
    };
    pairs.extend(version.map(|version| pair(version_key, version)));
    // An infostring has 1,023 bytes, in Quake 2 and QuakeWorld 511.
    let many = if matches!(wire, Wire::Quake3 | Wire::Quake3e) {
        20
    } else {
        12
    };
    pairs.extend(held.settings().into_iter().take(many));
    pairs
}

fn infostring(pairs: &[Pair]) -> Vec<u8> {
    let texts = pairs.iter().flat_map(|(key, value)| [key, value]);
    texts.flat_map(|text| [b"\\", &text[..]].concat()).collect()
}

/// Quotes end a name, so servers take them out.
fn line(person: &Person) -> Vec<u8> {
    let numbers = format!("{} {} \"", person.score, person.ping);
    [numbers.as_bytes(), &person.name, b"\"\n"].concat()
}

/// A line that does not fit, and those after it, are left out.
fn add_lines(text: &mut Vec<u8>, people: &[Person], most: usize) {
    for line in people.iter().map(line) {
        if text.len() + line.len() > most {
            return;
        }
        text.extend(line);
    }
}

fn quake3(held: &Match, wire: Wire, challenge: &[u8], most: usize) -> Vec<u8> {
    let mut reply = b"\xff\xff\xff\xffstatusResponse\n".to_vec();
    if !challenge.is_empty() {
        reply.extend(infostring(&[pair("challenge", challenge)]));
    }
    reply.extend(infostring(&pairs(wire, held)));
    reply.push(b'\n');
    add_lines(&mut reply, &held.players, most);
    reply
}

fn quake2(held: &Match) -> Vec<u8> {
    let mut text = infostring(&pairs(Wire::Quake2, held));
    text.push(b'\n');
    add_lines(&mut text, &held.players, QUAKE2_MOST - 1);
    [b"\xff\xff\xff\xffprint\n", &text[..]].concat()
}

/// A line is written in pieces, and a datagram can end after each (QW-Group/mvdsv, src/sv_send.c,
/// src/sv_main.c).
fn quake_world(held: &Match) -> Vec<Vec<u8>> {
    let info = [&infostring(&pairs(Wire::QuakeWorld, held))[..], b"\n"].concat();
    let mut pieces = vec![info];
    for person in &held.players {
        let Person {
            id, score, ping, ..
        } = person;
        let numbers = format!("{id} {score} 5 {ping} \"");
        pieces.push([numbers.as_bytes(), &person.name, b"\" \"base\" 13 4"].concat());
        pieces.push(br#" "red""#.to_vec());
        pieces.push(b"\n".to_vec());
    }
    let texts = super::packed(pieces, QUAKE_WORLD_MOST);
    let datagrams = texts.iter();
    datagrams
        .map(|text| [b"\xff\xff\xff\xffn", &text[..], b"\0"].concat())
        .collect()
}
