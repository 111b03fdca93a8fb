//! The server's side of `status`: replies as servers of Quake 2 and QuakeWorld write them.

use super::from_status::{put_rules, quake_world_pairs, quake2_pairs};
use super::wanted::Wanted;
use super::written_lines::{write_quake_world_line, write_quake2_line};
use crate::model::{Player, ServerStatus};
use crate::options::Detail;
use crate::quake3::wire::request::{Command, Request};
use crate::quake3::wire::response::{Word, put_head};
use crate::quake3::wire::siblings::{Family, MAX_PART, MAX_PIECE, MAX_STATUS};
use crate::reply::Datagrams;
use crate::service::{Format, Service};

/// Longest infostring of both families, in bytes (`MAX_INFO_STRING` and `MAX_SERVERINFO_STRING`
/// less the NUL).
const MAX_INFO: usize = 511;

/// Writes the reply to `status`; nothing if [`Service::max_reply`] leaves no space for one.
pub(super) fn encode(
    family: Family,
    wanted: Wanted,
    status: &ServerStatus,
    service: &Service,
) -> Datagrams {
    let mut datagrams = Datagrams::default();
    let Some(space) = service.max_reply.checked_sub(framing(family)) else {
        return datagrams;
    };
    // The line feed after the infostring.
    let space = space.saturating_sub(1).min(MAX_INFO);
    let mut text = Vec::new();
    if wanted.has(Wanted::INFO) {
        let Some(info) = infostring(family, status, service, space) else {
            return datagrams;
        };
        text = info;
    }
    text.push(b'\n');
    let lines = lines(status, family, wanted);
    if family == Family::QuakeWorld {
        put_parts(text, lines, service, &mut datagrams);
    } else {
        put_whole(text, lines, service, &mut datagrams);
    }
    datagrams
}

/// The bytes of a datagram in addition to its text.
fn framing(family: Family) -> usize {
    let mut head = Vec::new();
    put_status_head(family, &mut head);
    let has_nul = family == Family::QuakeWorld;
    head.len().saturating_add(has_nul.into())
}

/// Writes a reply of Quake 2: one datagram.
fn put_whole(text: Vec<u8>, lines: Vec<Vec<u8>>, service: &Service, datagrams: &mut Datagrams) {
    let space = service.max_reply.saturating_sub(framing(Family::Quake2));
    datagrams.begin();
    put_status_head(Family::Quake2, &mut datagrams.bytes);
    datagrams.bytes.extend(with_lines(text, lines, space));
}

/// A text of Quake 2 with its lines. Lines that do not fit are left out, and then also the last
/// line feed, so that clients can see that lines are missing.
fn with_lines(mut text: Vec<u8>, lines: Vec<Vec<u8>>, space: usize) -> Vec<u8> {
    let space = space.min(MAX_STATUS);
    for line in lines {
        if text.len().saturating_add(line.len()) > space {
            text.pop();
            break;
        }
        text.extend_from_slice(&line);
    }
    text
}

/// The heartbeat of Quake 2, which has the server's status (id-Software/Quake-2, server/sv_main.c,
/// `Master_Heartbeat`).
pub(crate) fn quake2_heartbeat(status: &ServerStatus) -> Vec<u8> {
    let family = Family::Quake2;
    let service = Service::new(Format::Quake2);
    let mut text = infostring(family, status, &service, MAX_INFO).unwrap_or_default();
    text.push(b'\n');
    let text = with_lines(text, lines(status, family, Wanted::USUAL), MAX_STATUS);
    let mut heartbeat = Vec::new();
    Request::new(Command::StatusHeartbeat { status: &text }).put(&mut heartbeat);
    heartbeat
}

/// Writes a reply of QuakeWorld: datagrams that end where the next piece does not fit. A line is
/// one piece, unless it is longer than the lines of other servers. The reason: clients count a
/// datagram as the last one if another piece would fit into it. Lines beyond the longest reply are
/// left out, and then also the last line feed.
fn put_parts(text: Vec<u8>, lines: Vec<Vec<u8>>, service: &Service, datagrams: &mut Datagrams) {
    let framing = framing(Family::QuakeWorld);
    let (mut whole, mut last) = (Vec::new(), text);
    for line in lines {
        let before = (whole.len(), last.clone());
        for piece in line.chunks(MAX_PIECE) {
            if last.len().saturating_add(piece.len()) > MAX_PART {
                whole.push(std::mem::take(&mut last));
            }
            last.extend_from_slice(piece);
        }
        let texts = whole.iter().chain([&last]);
        let length: usize = texts.map(|text| text.len().saturating_add(framing)).sum();
        if length > service.max_reply {
            whole.truncate(before.0);
            last = before.1;
            last.pop();
            break;
        }
    }
    for text in whole.iter().chain([&last]) {
        put_part(text, datagrams);
    }
}

/// Writes one datagram of a reply of QuakeWorld.
fn put_part(text: &[u8], datagrams: &mut Datagrams) {
    datagrams.begin();
    put_status_head(Family::QuakeWorld, &mut datagrams.bytes);
    datagrams.bytes.extend_from_slice(text);
    datagrams.bytes.push(0);
}

fn put_status_head(family: Family, out: &mut Vec<u8>) {
    let detail = Detail::Full;
    put_head(Word { family, detail }, None, out);
}

/// The infostring: the fields of the status, then its rules, in a bounded number of bytes.
///
/// It has at least one pair, because clients recognise a status by the first `\`, and take any
/// other text for the rest of a reply (QW-Group/ezquake-source, src/EX_browser_net.c;
/// Unity-Technologies/qstat, qstat.c). `None` without space for a pair.
fn infostring(
    family: Family,
    status: &ServerStatus,
    service: &Service,
    space: usize,
) -> Option<Vec<u8>> {
    let mut info = match family {
        Family::QuakeWorld => quake_world_pairs(status, space),
        _ => quake2_pairs(status, service, space),
    };
    put_rules(&mut info, status, family, space);
    if info.bytes.is_empty() {
        info.put(b"hostname", b"").ok()?;
    }
    Some(info.bytes)
}

/// The player lines, each with its line feed.
fn lines(status: &ServerStatus, family: Family, wanted: Wanted) -> Vec<Vec<u8>> {
    if family == Family::Quake2 {
        return status.players.iter().map(write_quake2_line).collect();
    }
    let is_wanted = |player: &Player| {
        let flag = if player.spectator == Some(true) {
            Wanted::SPECTATORS
        } else {
            Wanted::PLAYERS
        };
        wanted.has(flag)
    };
    let numbered = (1_i64..).zip(&status.players);
    numbered
        .filter(|(_, player)| is_wanted(player))
        .map(|(number, player)| write_quake_world_line(number, player, wanted))
        .collect()
}
