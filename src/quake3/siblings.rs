//! The server's side of `status`: replies as servers of Quake 2 and QuakeWorld write them.

use super::engines::Profile;
use super::from_status::{field_pairs, put_rules, value_of};
use super::wire::line::HEXEN_WORLD;
use super::wire::response::{Word, put_head};
use super::wire::siblings::{Form, MAX_PART, MAX_PIECE, MAX_STATUS};
use crate::model::{Player, ServerStatus, Text, TextRef};
use crate::options::{Detail, Engine};
use crate::reply::Template;
use crate::service::Service;
use crate::text::number;

/// Longest infostring of both families, in bytes (`MAX_INFO_STRING` and `MAX_SERVERINFO_STRING`
/// less the NUL).
const MAX_INFO: usize = 511;
/// The score of spectators if the request does not select `S`.
const SPECTATOR: i64 = -9999;

/// The parts of a status that a QuakeWorld client requests (QW-Group/mvdsv, src/sv_main.c,
/// `SVC_Status`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    flags: u32,
}

impl Wanted {
    const INFO: u32 = 1;
    const PLAYERS: u32 = 2;
    const SPECTATORS: u32 = 4;
    const SPECTATORS_AS_S: u32 = 8;
    const TEAMS: u32 = 16;
    const LOGINS: u32 = 64;
    const KINDS: u32 = 128;

    /// The parts of these flags, which Quake 2's servers ignore.
    pub(super) fn new(engine: Engine, flags: Option<&[u8]>) -> Self {
        let is_read = Profile::of_engine(engine).form == Form::QuakeWorld;
        let flags = flags.filter(|_| is_read);
        let flags = flags.and_then(number::number).unwrap_or(0_u32) & 0xFF;
        let usual = Self::INFO | Self::PLAYERS;
        Self {
            flags: if flags == 0 { usual } else { flags },
        }
    }

    const fn has(self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// Writes the reply to `status`; nothing if [`Service::max_reply`] leaves no space for one.
pub(super) fn encode(
    wanted: Wanted,
    status: &ServerStatus,
    service: &Service,
    template: &mut Template,
) {
    let profile = Profile::of_engine(service.engine);
    let is_quake_world = profile.form == Form::QuakeWorld;
    let Some(room) = service.max_reply.checked_sub(framing(service.engine)) else {
        return;
    };
    // The line feed after the infostring.
    let room = room.saturating_sub(1).min(MAX_INFO);
    let info = if is_quake_world && !wanted.has(Wanted::INFO) {
        Some(Vec::new())
    } else {
        infostring(profile.form, status, service, room)
    };
    let Some(mut text) = info else {
        return;
    };
    text.push(b'\n');
    let lines = lines(status, profile.form, wanted);
    if is_quake_world {
        put_parts(text, lines, service, template);
    } else {
        put_whole(text, lines, service, template);
    }
}

/// The bytes of a datagram in addition to its text.
fn framing(engine: Engine) -> usize {
    let mut head = Vec::new();
    put_status_head(engine, &mut head);
    let has_nul = Profile::of_engine(engine).form == Form::QuakeWorld;
    head.len().saturating_add(has_nul.into())
}

/// Writes the line about a server of Quake 2: its name, map, players and slots, or that the client
/// has another version (id-Software/Quake-2, server/sv_main.c, `SVC_Info`).
pub(super) fn encode_info_line(
    is_known_version: bool,
    status: &ServerStatus,
    template: &mut Template,
) {
    // The engine's line has 63 bytes.
    let name = cut_text(&status.name, 32);
    template.begin();
    let out = &mut template.bytes;
    out.extend_from_slice(b"\xff\xff\xff\xffinfo\n");
    if !is_known_version {
        out.extend_from_slice(&name);
        out.extend_from_slice(b": wrong version\n");
        return;
    }
    put_right(&name, 16, out);
    out.push(b' ');
    put_right(&cut_text(&status.map, 16), 8, out);
    out.push(b' ');
    let count = status.online().unwrap_or(0);
    put_right(count.to_string().as_bytes(), 2, out);
    out.push(b'/');
    let slots = status.max_players.unwrap_or(0);
    put_right(slots.to_string().as_bytes(), 2, out);
    out.push(b'\n');
}

/// The first bytes of a text; none if there is no text.
fn cut_text(text: &Option<Text>, max: usize) -> Vec<u8> {
    let Some(text) = text else {
        return Vec::new();
    };
    let mut text = wire(text.as_ref());
    text.truncate(max);
    text
}

/// Appends a text, after spaces up to this width.
fn put_right(text: &[u8], width: usize, out: &mut Vec<u8>) {
    let spaces = width.saturating_sub(text.len());
    out.extend(std::iter::repeat_n(b' ', spaces));
    out.extend_from_slice(text);
}

/// Writes a reply of Quake 2. Lines that do not fit are left out, and then also the last line feed,
/// so that clients can see that lines are missing.
fn put_whole(mut text: Vec<u8>, lines: Vec<Vec<u8>>, service: &Service, template: &mut Template) {
    let room = service.max_reply.saturating_sub(framing(service.engine));
    let room = room.min(MAX_STATUS);
    for line in lines {
        if text.len().saturating_add(line.len()) > room {
            text.pop();
            break;
        }
        text.extend_from_slice(&line);
    }
    template.begin();
    put_status_head(service.engine, &mut template.bytes);
    template.bytes.extend_from_slice(&text);
}

/// Writes a reply of QuakeWorld: datagrams that end where the next piece does not fit. A line is
/// one piece, unless it is longer than the lines of other servers. The reason: clients count a
/// datagram as the last one if another piece would fit into it. Lines beyond the longest reply are
/// left out, and then also the last line feed.
fn put_parts(mut text: Vec<u8>, lines: Vec<Vec<u8>>, service: &Service, template: &mut Template) {
    let engine = service.engine;
    let mut put = |text: &[u8]| {
        template.begin();
        put_status_head(engine, &mut template.bytes);
        template.bytes.extend_from_slice(text);
        template.bytes.push(0);
    };
    let framing = framing(engine);
    // The bytes of the datagrams that were put.
    let mut total = 0_usize;
    for line in lines {
        let next = text.len().saturating_add(line.len());
        // The line may begin another datagram.
        let length = next.saturating_add(framing.saturating_mul(2));
        if total.saturating_add(length) > service.max_reply {
            text.pop();
            break;
        }
        for piece in line.chunks(MAX_PIECE) {
            if text.len().saturating_add(piece.len()) > MAX_PART {
                put(&text);
                total = total.saturating_add(text.len()).saturating_add(framing);
                text.clear();
            }
            text.extend_from_slice(piece);
        }
    }
    put(&text);
}

fn put_status_head(engine: Engine, out: &mut Vec<u8>) {
    let extra = (engine == Engine::HexenWorld).then_some(HEXEN_WORLD);
    let form = Profile::of_engine(engine).form;
    let detail = Detail::Full;
    put_head(Word { form, detail }, extra, out);
}

/// The infostring: the fields of the status, then its rules, in a bounded number of bytes.
///
/// It has at least one pair, because clients recognise a status by the first `\`, and take any
/// other text for the rest of a reply (QW-Group/ezquake-source, src/EX_browser_net.c;
/// Unity-Technologies/qstat, qstat.c). `None` without space for a pair.
fn infostring(
    form: Form,
    status: &ServerStatus,
    service: &Service,
    room: usize,
) -> Option<Vec<u8>> {
    let mut fields = field_pairs(Detail::Full, status, service, room);
    put_rules(&mut fields, status, form, room);
    let mut info = fields.info;
    if info.bytes.is_empty() {
        info.put(b"hostname", b"").ok()?;
    }
    Some(info.bytes)
}

/// The player lines, each with its line feed.
fn lines(status: &ServerStatus, form: Form, wanted: Wanted) -> Vec<Vec<u8>> {
    let players = (1_i64..).zip(&status.players);
    if form == Form::Quake2 {
        return players.map(|(_, player)| quake2_line(player)).collect();
    }
    let is_wanted = |player: &Player| {
        let flag = if is_spectator(player) {
            Wanted::SPECTATORS
        } else {
            Wanted::PLAYERS
        };
        wanted.has(flag)
    };
    players
        .filter(|(_, player)| is_wanted(player))
        .map(|(number, player)| quake_world_line(number, player, wanted))
        .collect()
}

fn quake2_line(player: &Player) -> Vec<u8> {
    let mut line = Vec::new();
    put_word(player.score.unwrap_or(0), &mut line);
    put_word(player.ping.unwrap_or(0), &mut line);
    put_quoted(&wire(player.name.as_ref()), &mut line);
    line.push(b'\n');
    line
}

fn quake_world_line(number: i64, player: &Player, wanted: Wanted) -> Vec<u8> {
    let mut line = Vec::new();
    let read = |key| player.extra.get(key).map(wire);
    let read_number = |key| {
        let value = player.extra.get(key)?;
        number::integer(value.raw())
    };
    put_word(read_number("id").unwrap_or(number), &mut line);
    let ping = player.ping.unwrap_or(0);
    let mut name = wire(player.name.as_ref());
    let is_spectator = is_spectator(player);
    let is_marked = is_spectator && wanted.has(Wanted::SPECTATORS_AS_S);
    if is_marked {
        line.extend_from_slice(b"S ");
    } else if is_spectator {
        put_word(SPECTATOR, &mut line);
        name.splice(..0, *br"\s\");
    } else {
        put_word(player.score.unwrap_or(0), &mut line);
    }
    put_word(read_number("time").unwrap_or(0), &mut line);
    let is_negative = is_spectator && !is_marked;
    put_word(
        if is_negative {
            ping.saturating_neg()
        } else {
            ping
        },
        &mut line,
    );
    put_quoted(&name, &mut line);
    line.push(b' ');
    put_quoted(&read("skin").unwrap_or_default(), &mut line);
    line.push(b' ');
    put_word(read_number("top").unwrap_or(0), &mut line);
    number::put(read_number("bottom").unwrap_or(0), &mut line);
    let team = || player.team.map(|team| team.to_string().into_bytes());
    let kind = player
        .bot
        .map(|is_bot| if is_bot { b"b" } else { b"h" }.to_vec());
    let further = [
        wanted
            .has(Wanted::TEAMS)
            .then(|| read("team").or_else(team).unwrap_or_default()),
        wanted
            .has(Wanted::LOGINS)
            .then(|| read("login").unwrap_or_default()),
        kind.filter(|_| wanted.has(Wanted::KINDS)),
    ];
    for text in further.into_iter().flatten() {
        line.push(b' ');
        put_quoted(&text, &mut line);
    }
    line.push(b'\n');
    line
}

/// Whether a player that was read from QuakeWorld is a spectator.
fn is_spectator(player: &Player) -> bool {
    let score = player.extra.get("score").map(|score| score.raw());
    matches!(score, Some(b"S" | b"-9999")) || player.score == Some(SPECTATOR)
}

/// Appends a number and a space.
fn put_word(value: impl Into<i64>, line: &mut Vec<u8>) {
    number::put(value.into(), line);
    line.push(b' ');
}

fn put_quoted(text: &[u8], line: &mut Vec<u8>) {
    for part in [b"\"", text, b"\""] {
        line.extend_from_slice(part);
    }
}

/// A text as both families can carry it.
fn wire(text: TextRef<'_>) -> Vec<u8> {
    value_of(Form::QuakeWorld, text).into_owned()
}
