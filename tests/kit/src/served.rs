//! Serves a status, and compares it with the one that is received.
//!
//! Only plain texts are compared, because every protocol carries them unchanged. [`CARRIED`] lists
//! what each format carries.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::serve::Responder;
use queryport::session::Machine;
use queryport::{
    Completeness, Dialect, Format, Part, Player, QueryOptions, Secret, ServerStatus, StatusQuery,
    Text, Timing, ToStatus,
};

use crate::link::Conditions;
use crate::pair::play;

/// The dialect of clients that query servers of this format.
fn dialect(format: Format) -> Dialect {
    match format {
        Format::Minecraft => Dialect::Minecraft,
        Format::GameSpy2 => Dialect::GameSpy2,
        Format::Quake2 => Dialect::Quake2,
        Format::QuakeWorld => Dialect::QuakeWorld,
        _ => Dialect::Standard,
    }
}

/// The replies of a responder to a request from this address.
pub fn replies(
    responder: &mut Responder,
    now: Instant,
    from: SocketAddr,
    request: &[u8],
) -> Vec<Bytes> {
    responder.handle_datagram(now, from, request);
    let (mut replies, mut out) = (Vec::new(), Vec::new());
    while responder.poll_datagram(now, &mut out).is_some() {
        replies.push(Bytes::copy_from_slice(&out));
    }
    replies
}

/// The status that our client receives from a responder with this one.
pub fn received(format: Format, status: &ServerStatus) -> ServerStatus {
    let secret = Secret::new([5; 16]);
    let mut responder = Responder::new(format, status.clone(), secret, Instant::now());
    let options = QueryOptions::default().with_dialect(dialect(format));
    let query = StatusQuery::new(format.protocol(), 3, &options);
    let link = (Conditions::perfect(Duration::ZERO), 0);
    let played = play(query, Timing::default(), link, |now, from, request| {
        replies(&mut responder, now, from, request)
    });
    match played.result {
        Ok(outcome) => outcome.answer.to_status(),
        Err(error) => panic!("no answer of {format:?} to our own client: {error}"),
    }
}

/// The parts of a status that a format carries.
struct Carried {
    format: Format,
    /// The fields of the status. `type` is there if it arrives as text, not as a number that
    /// clients look up.
    fields: &'static str,
    /// The fields of players besides the name.
    of_players: &'static str,
    /// The number of players, separate from the list of players.
    count: bool,
    /// Players are numbered keys among the rules, and keys are the end marks. A server omits a rule
    /// that looks like one. Bots can be added to a count that leaves out listed players.
    players_are_keys: bool,
    /// A reply is one datagram. If it lacks rules, only the end of its last list shows it.
    is_one_datagram: bool,
    /// All rules arrive if the texts of a status have at most this many bytes, and its player lines
    /// too. A longer reply may omit some rules.
    rule_bytes: usize,
}

impl Carried {
    const fn new(format: Format, fields: &'static str, of_players: &'static str) -> Self {
        Self {
            format,
            fields,
            of_players,
            count: true,
            players_are_keys: false,
            is_one_datagram: false,
            rule_bytes: usize::MAX,
        }
    }

    /// A status of Quake 3: the number of players is the number of lines. An infostring has 1,023
    /// bytes; keys and numbers of fields use the rest of them.
    const fn infostring(format: Format, fields: &'static str, of_players: &'static str) -> Self {
        Self {
            count: false,
            rule_bytes: 600,
            ..Self::new(format, fields, of_players)
        }
    }

    /// The same of Quake 2 and QuakeWorld, whose infostrings have 511 bytes.
    const fn short_infostring(
        format: Format,
        fields: &'static str,
        of_players: &'static str,
    ) -> Self {
        Self {
            rule_bytes: 200,
            ..Self::infostring(format, fields, of_players)
        }
    }

    fn of(format: Format) -> &'static Self {
        let mut rows = CARRIED.iter();
        let row = rows.find(|carried| carried.format == format);
        row.unwrap_or_else(|| panic!("no row for {format:?}"))
    }

    fn has(&self, field: &str) -> bool {
        self.fields.split(' ').any(|known| known == field)
    }

    fn has_of_players(&self, field: &str) -> bool {
        self.of_players.split(' ').any(|known| known == field)
    }
}

const CARRIED: &[Carried] = &[
    Carried {
        players_are_keys: true,
        ..Carried::new(
            Format::GameSpy1,
            "name map game type mutators version protocol port password dedicated players max limit left score",
            "score ping team bot",
        )
    },
    Carried {
        is_one_datagram: true,
        ..Carried::new(
            Format::GameSpy2,
            "name map game type version port password dedicated anti-cheat players max score",
            "score ping team",
        )
    },
    Carried::new(
        Format::GameSpy4,
        "name map game type version port password dedicated anti-cheat players max score",
        "score ping team bot",
    ),
    Carried::new(
        Format::UnrealTournament3,
        "name map type mutators version protocol port password dedicated anti-cheat players bots max limit score",
        "score ping team",
    ),
    Carried::new(
        Format::Minecraft,
        "name map game type version port players max",
        "",
    ),
    Carried::infostring(
        Format::Quake3,
        "name map game type mod version protocol password anti-cheat players bots max private limit",
        "score ping",
    ),
    Carried::short_infostring(
        Format::Quake2,
        "name map mod version protocol password players max limit score",
        "score ping",
    ),
    Carried::short_infostring(
        Format::QuakeWorld,
        "name map type mod version password players max limit score",
        "score ping team bot",
    ),
    Carried::new(
        Format::Ut2004,
        "name map type mutators version port password dedicated players max limit score",
        "score ping",
    ),
];

/// All formats.
pub fn formats() -> impl Iterator<Item = Format> {
    CARRIED.iter().map(|carried| carried.format)
}

/// Whether a format carries this field of a status.
pub fn carries(format: Format, field: &str) -> bool {
    Carried::of(format).has(field)
}

/// Whether a format carries this field of players.
pub fn carries_of_players(format: Format, field: &str) -> bool {
    Carried::of(format).has_of_players(field)
}

/// The first difference between a served and a received status; `None` if everything that the
/// format carries has arrived or is marked as missing.
pub fn difference(format: Format, held: &ServerStatus, received: &ServerStatus) -> Option<String> {
    let carried = Carried::of(format);
    if !lacks(received.completeness, Part::Info) {
        let difference = field_difference(carried, held, received);
        if difference.is_some() {
            return difference;
        }
    }
    player_difference(carried, held, received).or_else(|| rule_difference(carried, held, received))
}

/// Whether a text is the key of a property of UT3, such as `p268435703`, and reads as one.
fn reads_as_property(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"p").unwrap_or_default();
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn field_difference(
    carried: &Carried,
    held: &ServerStatus,
    received: &ServerStatus,
) -> Option<String> {
    let texts = [
        ("name", true, &held.name, &received.name),
        ("map", true, &held.map, &received.map),
        (
            "game type",
            carried.has("type"),
            &held.game_type,
            &received.game_type,
        ),
        (
            "version",
            carried.has("version"),
            &held.version,
            &received.version,
        ),
    ];
    for (field, is_carried, held, received) in texts {
        let held = held
            .as_ref()
            .filter(|held| is_carried && is_plain(held.raw()) && !reads_as_property(held.raw()));
        let Some(held) = held else { continue };
        if received.as_ref().map(Text::plain) != Some(held.plain()) {
            return Some(format!("{field} {held:?} arrives as {received:?}"));
        }
    }
    let listed = held.players.len();
    let is_short = |count: u32| usize::try_from(count).is_ok_and(|count| count < listed);
    let count = held
        .player_count
        .filter(|count| carried.count && !(carried.players_are_keys && is_short(*count)));
    let counts = [
        ("player count", count, received.player_count),
        ("slots", held.max_players, received.max_players),
    ];
    counts
        .into_iter()
        .find(|(_, held, received)| held.is_some() && held != received)
        .map(|(field, held, received)| format!("{field} {held:?} arrives as {received:?}"))
}

fn player_difference(
    carried: &Carried,
    held: &ServerStatus,
    received: &ServerStatus,
) -> Option<String> {
    let listed = held.players.known()?;
    if lacks(received.completeness, Part::Players) {
        return None;
    }
    let arrived = &received.players;
    if arrived.len() != listed.len() {
        return Some(format!(
            "{} of {} players arrive",
            arrived.len(),
            listed.len()
        ));
    }
    let has_scores = carried.has_of_players("score");
    let identity = |player: &Player| {
        let score = player.score.filter(|_| has_scores);
        (player.name.plain().into_owned(), score)
    };
    let mut others: Vec<_> = arrived.iter().map(identity).collect();
    for player in listed.iter().filter(|player| is_plain(player.name.raw())) {
        let player = identity(player);
        if !take(&mut others, &player) {
            return Some(format!("player {player:?} does not arrive"));
        }
    }
    None
}

fn rule_difference(
    carried: &Carried,
    held: &ServerStatus,
    received: &ServerStatus,
) -> Option<String> {
    let is_long = size(held) > carried.rule_bytes || line_bytes(held) > carried.rule_bytes;
    if lacks(received.completeness, Part::Rules) || is_long {
        return None;
    }
    if carried.is_one_datagram && !received.completeness.is_complete() {
        return None;
    }
    let mut repetitions: BTreeMap<String, usize> = BTreeMap::new();
    for (key, _) in &held.rules {
        *repetitions
            .entry(key.plain().to_ascii_lowercase())
            .or_default() += 1;
    }
    for (key, value) in &held.rules {
        let is_repeated = repetitions.get(&key.plain().to_ascii_lowercase()) != Some(&1);
        let is_left_out = carried.players_are_keys && is_reserved(&key.plain());
        if is_repeated || is_left_out || !is_plain(key.raw()) || !is_plain(value.raw()) {
            continue;
        }
        let arrived = received.rules.get(&key.plain());
        if arrived.map(|arrived| arrived.plain().into_owned()) != Some(value.plain().into_owned()) {
            return Some(format!("rule {key:?} {value:?} arrives as {arrived:?}"));
        }
    }
    None
}

/// Whether a key is one of a player's, such as `player_0`, or an end mark.
fn is_reserved(key: &str) -> bool {
    let number = key.rsplit_once('_').map(|(_, number)| number);
    let is_numbered = number.is_some_and(|number| number.parse::<u32>().is_ok());
    is_numbered || ["final", "queryid", "statusresponse", "eof"].contains(&key)
}

/// Whether a part may lack something: itself, datagrams or the end is missing.
fn lacks(completeness: Completeness, part: Part) -> bool {
    completeness.lacks(part)
        || completeness.lacks(Part::End)
        || completeness.missing_fragments() > 0
}

/// Takes one element out of a list, if it is there.
fn take<T: PartialEq>(list: &mut Vec<T>, element: &T) -> bool {
    let index = list.iter().position(|other| other == element);
    if let Some(index) = index {
        list.swap_remove(index);
    }
    index.is_some()
}

/// The bytes of a status's texts and rules, with two separators for each pair.
fn size(status: &ServerStatus) -> usize {
    let texts = [
        &status.name,
        &status.map,
        &status.game,
        &status.game_type,
        &status.version,
    ];
    let texts = texts.into_iter().flatten().map(|text| text.raw().len());
    let rules = status
        .rules
        .iter()
        .map(|(key, value)| key.raw().len() + value.raw().len() + 2);
    texts.chain(rules).sum()
}

/// The maximum length of the player lines of a status, in bytes: the names, and 40 bytes for the
/// numbers and the skin of each.
fn line_bytes(status: &ServerStatus) -> usize {
    let lines = status.players.iter();
    lines.map(|player| player.name.raw().len() + 40).sum()
}

/// Whether a text is short and plain: words of letters and digits, with one separator between them
/// that is special in no protocol.
fn is_plain(bytes: &[u8]) -> bool {
    let is_word = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_alphanumeric);
    (1..=24).contains(&bytes.len())
        && bytes
            .split(|byte| matches!(byte, b' ' | b'_' | b'.'))
            .all(is_word)
}
