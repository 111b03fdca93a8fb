//! The server's side, pure: a request and a status in, a reply out.

use std::borrow::Cow;

use bytes::Bytes;

use super::infostring::{InfoStringBuilder, MAX_INFO_STRING, sanitise};
use super::player::LineOrder;
use super::request::{Command, MAX_CHALLENGE, Request};
use super::response::{Kind, encode_head};
use crate::model::{Charset, Player, ServerStatus, Text, TextRef};
use crate::reply::{Replies, Requester};

/// Room for a usual reply, and for a usual player line, in bytes.
const USUAL_REPLY: usize = 2048;
const USUAL_LINE: usize = 32;

/// How a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The order of the numbers on its player lines.
    pub lines: LineOrder,
    /// The protocol number of the game, which masters filter by; 68 is Quake III Arena 1.32.
    pub protocol: u32,
    /// Most bytes of a reply. Players that do not fit are left out: the format has no second datagram. The
    /// default, 1,396, stays below the Internet's usual packet size.
    pub max_reply: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { lines: LineOrder::default(), protocol: 68, max_reply: 1396 }
    }
}

/// Answers `getinfo` and `getstatus`, or stays silent where servers do: for a challenge of more than
/// [`MAX_CHALLENGE`] bytes. Other requests are not answered from a status: [`Challenges`](super::Challenges)
/// answers `getchallenge`, [`Reply`](super::Reply) writes the others' replies.
///
/// The names and counts go in first, then the players, then as many of the status's own rules as still fit. What the
/// format cannot carry is replaced: `\ ; "` by look-alikes, control bytes by nothing.
///
/// ```
/// use std::time::Instant;
/// use queryport::quake3::{Command, Request, server};
/// use queryport::{Player, Requester, Secret, ServerStatus};
///
/// let mut status = ServerStatus::default();
/// status.name = Some("Srv".into());
/// status.players = Some(vec![Player::new("Ann")]);
/// let request = Request::new(Command::GetStatus { challenge: Some(b"8aJ2") });
/// # #[allow(clippy::disallowed_methods)]
/// let requester = Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// let replies = server::answer(&request, &status, &server::Options::default(), &requester);
/// let reply = replies.iter().next().unwrap();
/// assert!(reply.starts_with(b"\xff\xff\xff\xffstatusResponse\n\\challenge\\8aJ2\\sv_hostname\\Srv"));
/// assert!(reply.ends_with(b"\n0 0 \"Ann\"\n"));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn answer(
    request: &Request<'_>,
    status: &ServerStatus,
    options: &Options,
    _requester: &Requester,
) -> Replies {
    let (kind, challenge) = match request.command {
        Command::GetInfo { challenge } => (Kind::Info, challenge),
        Command::GetStatus { challenge } => (Kind::Status, challenge),
        _ => return Replies::NONE,
    };
    if challenge.is_some_and(|challenge| challenge.len() > MAX_CHALLENGE) {
        return Replies::NONE;
    }
    let mut reply = Vec::with_capacity(options.max_reply.min(USUAL_REPLY));
    encode_head(kind, request.direction_byte, &mut reply);
    let players = if kind == Kind::Status { status.listed_players() } else { &[] };
    let mut lines = Vec::with_capacity(players.len().saturating_mul(USUAL_LINE).min(options.max_reply));
    for player in players {
        line(player, options.lines, &mut lines);
        if lines.len() > options.max_reply {
            break;
        }
    }
    // An infostring that leaves every player its place, down to what the names and counts need.
    let left = options.max_reply.saturating_sub(reply.len());
    let room = left.min(MAX_INFO_STRING);
    let spare = left.saturating_sub(lines.len()).saturating_sub(1).min(MAX_INFO_STRING);
    let info = infostring(kind, challenge, status, options, (room, spare));
    if reply.len().saturating_add(info.as_bytes().len()) > options.max_reply {
        return Replies::NONE;
    }
    reply.extend_from_slice(info.as_bytes());
    let left = options.max_reply.saturating_sub(reply.len()).checked_sub(1);
    if let Some(left) = left.filter(|_| kind == Kind::Status) {
        reply.push(b'\n');
        reply.extend_from_slice(whole_lines(&lines, left));
    }
    Bytes::from(reply).into()
}

/// As many lines as fit; a name cannot hold a line feed.
fn whole_lines(lines: &[u8], room: usize) -> &[u8] {
    let Some((fits, _)) = lines.split_at_checked(room) else { return lines };
    let end = fits.iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed.saturating_add(1));
    lines.get(..end).unwrap_or_default()
}

/// The named fields up to `room` bytes, then the rules up to `spare`. A key is written once.
fn infostring(
    kind: Kind,
    challenge: Option<&[u8]>,
    status: &ServerStatus,
    options: &Options,
    (room, spare): (usize, usize),
) -> InfoStringBuilder {
    let text = |text: &Option<Text>| text.as_ref().map(|text| sanitise(&wire(text.as_ref())).into_owned());
    let number = |value: Option<u32>| value.map(|value| value.to_string().into_bytes());
    let listed = status.players.as_ref().and_then(|players| u32::try_from(players.len()).ok());
    let (name_key, game_type_key) = match kind {
        Kind::Info => ("hostname", "gametype"),
        Kind::Status => ("sv_hostname", "g_gametype"),
    };
    let online = status.player_count.or(listed).filter(|_| kind == Kind::Info);
    let password = status.password.map(|locked| if locked { b"1".to_vec() } else { b"0".to_vec() });
    // A challenge the infostring cannot carry is not quoted, as on id's servers.
    let challenge = challenge.filter(|challenge| sanitise(challenge) == *challenge).map(<[u8]>::to_vec);
    let named = [
        ("challenge", challenge),
        (name_key, text(&status.name)),
        ("mapname", text(&status.map)),
        ("clients", online.map(|online| online.to_string().into_bytes())),
        ("sv_maxclients", number(status.max_players)),
        (game_type_key, text(&status.game_type)),
        ("gamename", text(&status.game)),
        ("protocol", Some(options.protocol.to_string().into_bytes())),
        ("g_needpass", password),
        ("bots", number(status.bot_count)),
        ("version", text(&status.version)),
    ];
    let mut info = InfoStringBuilder::new(room);
    for (key, value) in &named {
        if let Some(value) = value.as_ref().filter(|value| !value.is_empty()) {
            // What does not fit is left out: the next one may be shorter.
            let _ = info.push(key.as_bytes(), value);
        }
    }
    let mut info = info.with_limit(spare);
    let is_named = |key: &[u8]| {
        named.iter().any(|(named, value)| value.is_some() && key.eq_ignore_ascii_case(named.as_bytes()))
    };
    if kind == Kind::Status {
        for (key, value) in &status.rules {
            let (key, value) = (wire(key), wire(value));
            let key = sanitise(&key);
            if !is_named(&key) {
                let _ = info.push(&key, &sanitise(&value));
            }
        }
    }
    info
}

/// A text's bytes in this wire's character sets.
fn wire(text: TextRef<'_>) -> Cow<'_, [u8]> {
    text.encoded(Charset::Utf8OrWindows1252)
}

/// Appends a player's line and its line feed.
fn line(player: &Player, order: LineOrder, out: &mut Vec<u8>) {
    let numbers = (player.score.unwrap_or(0), player.ping.unwrap_or(0), player.team.unwrap_or(0));
    let name = wire(player.name.as_ref());
    let written = order.encode(numbers, &sanitise(&name), out);
    debug_assert!(written.is_ok(), "sanitised names can be written");
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::model::Rules;
    use crate::quake3::Response;
    use crate::reply::{Replies, Requester};

    fn status(players: usize) -> ServerStatus {
        ServerStatus {
            name: Some("^1Srv;".into()),
            map: Some("q3dm17".into()),
            max_players: Some(64),
            players: Some((0..players).map(|n| Player::new(format!("player number {n}"))).collect()),
            rules: (0..80).map(|n| (format!("rule_{n}"), "a value of some length")).collect::<Rules>(),
            ..ServerStatus::default()
        }
    }

    fn ask(challenge: Option<&[u8]>, players: usize) -> Option<Bytes> {
        let request = Request::new(Command::GetStatus { challenge });
        answer(&request, &status(players), &Options::default())
    }

    #[test]
    fn players_go_before_rules_when_room_is_short() {
        for players in [0, 1, 24, 40, 64] {
            let reply = ask(Some(b"x"), players).unwrap();
            assert!(reply.len() <= 1396);
            let response = Response::parse(&reply, &Limits::default()).unwrap();
            assert!(response.completeness().is_complete(), "no half line");
            assert_eq!(response.info().get("sv_hostname"), Some(&b"^1Srv,"[..]));
            assert!(response.info().raw().len() <= MAX_INFO_STRING);
            let listed = response.players().count();
            assert!(listed == players || (players == 64 && listed > 45), "{listed} of {players}");
        }
    }

    #[test]
    fn challenges_that_cannot_be_quoted_are_left_out() {
        let quoted = |challenge| {
            let reply = ask(Some(challenge), 1).unwrap();
            Response::parse(&reply, &Limits::default()).unwrap().info().get("challenge").map(<[u8]>::to_vec)
        };
        assert_eq!(quoted(b"8aJ2"), Some(b"8aJ2".to_vec()));
        for bad in [&br"a\b"[..], b"a;b", b"a\x01"] {
            assert_eq!(quoted(bad), None);
        }
        assert!(ask(Some(&[b'x'; 128]), 1).is_some());
        assert!(ask(Some(&[b'x'; 129]), 1).is_none());
    }

    #[test]
    fn an_info_response_has_counts_and_no_rules() {
        let request = Request { direction_byte: true, ..Request::new(Command::GetInfo { challenge: None }) };
        let reply = answer(&request, &status(3), &Options::default()).unwrap();
        assert_eq!(
            &reply[..],
            b"\xff\xff\xff\xff\x01infoResponse\n\\hostname\\^1Srv,\\mapname\\q3dm17\\clients\\3\\sv_maxclients\\64\
              \\protocol\\68"
        );
    }
}
