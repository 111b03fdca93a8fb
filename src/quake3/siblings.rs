//! The server's side of `status`: replies as servers of Quake 2 and QuakeWorld write them.

use super::engines::{Names, Profile};
use super::keys::Key;
use super::wire::infostring::InfoString;
use super::wire::line::HEXEN_WORLD;
use super::wire::response::{Word, put_head};
use super::wire::siblings::{Form, MAX_PART, MAX_PIECE, MAX_STATUS};
use crate::model::{Charset, Player, ServerStatus, Text, TextRef};
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

/// Writes the reply to `status`.
pub(super) fn encode(
    wanted: Wanted,
    status: &ServerStatus,
    service: &Service,
    template: &mut Template,
) {
    let profile = Profile::of_engine(service.engine);
    let is_quake_world = profile.form == Form::QuakeWorld;
    let mut text = if is_quake_world && !wanted.has(Wanted::INFO) {
        Vec::new()
    } else {
        infostring(status, service.protocol_version, profile)
    };
    text.push(b'\n');
    let lines = lines(status, profile.form, wanted);
    if is_quake_world {
        put_parts(text, lines, service, template);
    } else {
        put_whole(text, lines, service, template);
    }
}

/// Writes the line about a server of Quake 2: its name, map, players and slots, or that the client
/// has another version (id-Software/Quake-2, server/sv_main.c, `SVC_Info`).
pub(super) fn encode_info_line(
    is_known_version: bool,
    status: &ServerStatus,
    template: &mut Template,
) {
    // The engine's line has 63 bytes.
    let text = |text: &Option<Text>, longest: usize| {
        let text = text.as_ref().map(|text| wire(text.as_ref()));
        let mut text = text.unwrap_or_default();
        text.truncate(longest);
        text
    };
    let name = text(&status.name, 32);
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
    put_right(&text(&status.map, 16), 8, out);
    out.push(b' ');
    let count = status.online().unwrap_or(0);
    put_right(count.to_string().as_bytes(), 2, out);
    out.push(b'/');
    let slots = status.max_players.unwrap_or(0);
    put_right(slots.to_string().as_bytes(), 2, out);
    out.push(b'\n');
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
    let mut head = Vec::new();
    put_status_head(service.engine, &mut head);
    let room = service.max_reply.saturating_sub(head.len());
    let room = room.min(MAX_STATUS);
    for line in lines {
        if text.len().saturating_add(line.len()) > room {
            text.pop();
            break;
        }
        text.extend_from_slice(&line);
    }
    template.begin();
    template.bytes.extend_from_slice(&head);
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
    let mut total = 0_usize;
    for line in lines {
        let next = text.len().saturating_add(line.len());
        if total.saturating_add(next) > service.max_reply {
            text.pop();
            break;
        }
        for piece in line.chunks(MAX_PIECE) {
            if text.len().saturating_add(piece.len()) > MAX_PART {
                put(&text);
                total = total.saturating_add(text.len());
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

/// The infostring: the fields of the status, then each of its rules that fits and has a new key.
///
/// It has at least one pair, because clients recognise a status by the first `\`, and take any
/// other text for the rest of a reply (QW-Group/ezquake-source, src/EX_browser_net.c;
/// Unity-Technologies/qstat, qstat.c).
fn infostring(status: &ServerStatus, protocol_version: u32, profile: &Profile) -> Vec<u8> {
    let mut info = Info::default();
    let first = |keys: &[Key]| keys.first().copied();
    info.put_text(Some(Key::Hostname), &status.name);
    info.put_text(first(profile.map), &status.map);
    info.put_number(Some(profile.slots), status.max_players);
    info.put_number(Some(Key::Needpass), needpass(status));
    info.put_text(first(profile.version), &status.version);
    if let Names::Modification(keys) = profile.names {
        info.put_text(first(keys), name(status, profile));
    }
    if profile.form == Form::Quake2 {
        let version = status.protocol_version.unwrap_or(protocol_version);
        info.put_number(Some(Key::Protocol), Some(version));
    } else {
        info.put_text(first(profile.match_words), &status.game_type);
    }
    let minutes = status.time_limit.map(|limit| limit.as_secs_f64() / 60.0);
    info.put_number(Some(Key::TimeLimit), minutes);
    info.put_number(first(profile.score_limits), status.score_limit);
    let named = info.bytes.clone();
    for (key, value) in &status.rules {
        let (key, value) = (wire(key), wire(value));
        let mut known = InfoString::new(&named).iter();
        if !known.any(|(known, _)| known.eq_ignore_ascii_case(&key)) {
            info.put(&key, &value);
        }
    }
    if info.bytes.is_empty() {
        info.bytes.extend_from_slice(br"\hostname\");
    }
    info.bytes
}

/// The name in a reply: the modification, or the game if it is named by its own folder.
fn name<'a>(status: &'a ServerStatus, profile: &Profile) -> &'a Option<Text> {
    let is_folder = |name: &Text| profile.base_folders.iter().any(|base| name == base);
    match &status.game {
        Some(game) if status.mod_name.is_none() && is_folder(game) => &status.game,
        _ => &status.mod_name,
    }
}

/// The bits of `needpass`: those in the rules, if the bit for players agrees with the status.
fn needpass(status: &ServerStatus) -> Option<u32> {
    let password = u32::from(status.password?);
    let read = status.rules.get(Key::Needpass.as_str());
    let read = read.and_then(|value| number::number::<u32>(value.raw()));
    Some(read.filter(|bits| bits & 1 == password).unwrap_or(password))
}

/// An infostring that is being written.
#[derive(Debug, Default)]
struct Info {
    bytes: Vec<u8>,
}

impl Info {
    fn put_text(&mut self, key: Option<Key>, text: &Option<Text>) {
        if let (Some(key), Some(text)) = (key, text) {
            self.put(key.as_str().as_bytes(), &wire(text.as_ref()));
        }
    }

    fn put_number(&mut self, key: Option<Key>, number: Option<impl ToString>) {
        if let (Some(key), Some(number)) = (key, number) {
            self.put(key.as_str().as_bytes(), number.to_string().as_bytes());
        }
    }

    /// Appends a pair, unless it is too long or has no value: no engine writes such a pair.
    fn put(&mut self, key: &[u8], value: &[u8]) {
        let added = key.len().saturating_add(value.len()).saturating_add(2);
        let fits = self.bytes.len().saturating_add(added) <= MAX_INFO;
        if fits && !key.is_empty() && !value.is_empty() {
            for part in [b"\\", key, b"\\", value] {
                self.bytes.extend_from_slice(part);
            }
        }
    }
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
        player
            .extra
            .get(key)
            .and_then(|value| number::integer(value.raw()))
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
    let is_marked = player
        .extra
        .get("score")
        .is_some_and(|score| score.raw() == b"S");
    is_marked || player.score == Some(SPECTATOR)
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

/// A text as both families can carry it: in Quake's character set, with look-alikes for `\` and
/// `"`.
fn wire(text: TextRef<'_>) -> Vec<u8> {
    let is_quake = text.style().charset == Charset::Quake;
    let bytes = if is_quake || text.raw().is_ascii() {
        text.raw().to_vec()
    } else {
        Charset::Quake.encode(&text.decoded())
    };
    let look_alike = |byte| match byte {
        b'\\' => Some(b'/'),
        b'"' => Some(b'\''),
        0 | b'\n' | b'\r' => None,
        other => Some(other),
    };
    bytes.into_iter().filter_map(look_alike).collect()
}
