//! The server's side, without a socket: makes a reply from a request and a status.

use bytes::{BufMut, Bytes};

use self::from_status::{info_pairs, put_rules, status_pairs};
use self::values::{is_written_as, value_of};
use self::wanted::Wanted;
use self::written_lines::write_quake3_lines;
use super::wire::infostring::{InfoStringBuilder, MAX_INFO_STRING, sanitise};
use super::wire::reply::Reply;
use super::wire::request::{Command, MAX_CHALLENGE, Request};
use super::wire::response::{Word, put_head};
use super::wire::siblings::Family;
use crate::limits::to_u32;
use crate::model::ServerStatus;
use crate::options::Detail;
use crate::reply::{Datagrams, Echo, EncodedReply, Requester, Stored};
use crate::service::{Format, Service};
use crate::text::number;

pub(super) mod from_status;
mod info_line;
mod sibling_status;
mod values;
mod wanted;
mod written_lines;

pub(crate) use self::sibling_status::quake2_heartbeat;

/// Longest pair of `clients`, in bytes.
const MAX_CLIENTS: usize = br"\clients\4294967295".len();
/// The key of the client's challenge.
const CHALLENGE: &[u8] = br"\challenge\";
/// Longest name of a game in a refusal, in bytes.
const MAX_GAME: usize = 64;
/// Purpose of the tokens of `getchallenge`.
const PURPOSE: u16 = 0x5133;

/// Answers `getinfo`, `getstatus` and `getchallenge`, and refuses `connect`: there are no player
/// slots here. As [`Format::Quake2`] it answers `status`, `info` and `ping`, as
/// [`Format::QuakeWorld`] `status` and `k`. Other requests get no reply, nor does a challenge of
/// more than 128 bytes. A game writes its reply to `connect` with [`Reply`], and its reply to
/// `rcon` with [`Reply::print`].
///
/// The names and counts are written first, then as many whole player lines as fit, then the
/// status's own rules. A rule that is empty or does not fit is left out; later rules that fit are
/// written. A status has the number of players under `clients`, which shows whether all are listed.
/// If that key does not fit, the reply ends after its other keys, without a line feed, so that
/// clients can see that it is cut. The characters `\ ; "` are replaced by look-alikes, and control
/// bytes are removed: the format cannot carry them.
///
/// A `getchallenge` that names another game than the status does is refused, as by ioquake3. Check
/// the challenge that comes back in a `connect` with [`verify_challenge`].
///
/// ```
/// use std::time::Instant;
/// use queryport::quake3::{self, Command, Request};
/// use queryport::{Player, Protocol, Requester, Secret, ServerStatus};
///
/// let mut status = ServerStatus::default();
/// status.name = Some("Srv".into());
/// status.players = [Player::new("Ann")].into();
/// let request = Request::new(Command::GetStatus { challenge: Some(b"8aJ2") });
/// # #[allow(clippy::disallowed_methods)]
/// let requester =
///     Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// let replies =
///     quake3::respond(&request, &status, &Protocol::Quake3.into(), &requester);
/// let reply = replies.iter().next().unwrap();
/// assert!(reply.starts_with(
///     b"\xff\xff\xff\xffstatusResponse\n\\challenge\\8aJ2\\sv_hostname\\Srv"
/// ));
/// assert!(reply.ends_with(b"\n0 0 \"Ann\"\n"));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
pub fn respond(
    request: &Request<'_>,
    status: &ServerStatus,
    service: &Service,
    requester: &Requester,
) -> Vec<Bytes> {
    let reply = match Asked::by(request, status, service, requester) {
        Some(Asked::Status { kind, echo }) => {
            EncodedReply::encoded(kind.encode(status, service), echo)
        }
        Some(Asked::Short(datagram)) => Some(EncodedReply::short(datagram)),
        None => None,
    };
    reply.map(EncodedReply::into_datagrams).unwrap_or_default()
}

/// The replies of one status.
#[derive(Debug, Clone)]
pub(crate) struct Replies(Stored<StatusKind>);

impl Replies {
    pub(crate) fn new(status: &ServerStatus, service: &Service) -> Self {
        let kinds = match service.format {
            Format::Quake2 => QUAKE_2,
            Format::QuakeWorld => QUAKE_WORLD,
            _ => QUAKE_3,
        };
        Self(Stored::new(kinds, |kind| kind.encode(status, service)))
    }

    /// The reply to a request, if it gets one. A QuakeWorld client may ask for any parts of a
    /// status: unusual ones are encoded for it.
    pub(crate) fn reply(
        &self,
        request: &Request<'_>,
        status: &ServerStatus,
        service: &Service,
        requester: &Requester,
    ) -> Option<EncodedReply> {
        let (kind, echo) = match Asked::by(request, status, service, requester)? {
            Asked::Status { kind, echo } => (kind, echo),
            Asked::Short(datagram) => return Some(EncodedReply::short(datagram)),
        };
        match self.0.get(kind) {
            Some(datagrams) => EncodedReply::stored(datagrams, echo),
            None => EncodedReply::encoded(kind.encode(status, service), echo),
        }
    }
}

/// The kind of a status. Replies of the same kind differ in the challenge that they quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusKind {
    /// Of Quake 3, with space for a challenge.
    Quake3(Detail, ChallengeSpace),
    /// Of Quake 2 or QuakeWorld.
    Sibling(Wanted),
}

/// The space for the pair of a challenge in a status. The space for everything else depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChallengeSpace {
    /// The challenges of usual clients, or none.
    Usual,
    Long,
}

impl ChallengeSpace {
    /// Longest challenge of usual clients, in bytes.
    const USUAL: usize = 16;

    const fn of(challenge: &[u8]) -> Self {
        if challenge.len() <= Self::USUAL {
            Self::Usual
        } else {
            Self::Long
        }
    }

    /// The bytes of the pair.
    const fn bytes(self) -> usize {
        let challenge = match self {
            Self::Usual => Self::USUAL,
            Self::Long => MAX_CHALLENGE,
        };
        CHALLENGE.len().saturating_add(challenge)
    }
}

/// The kinds that are encoded when a status is set.
const QUAKE_3: &[StatusKind] = &[
    StatusKind::Quake3(Detail::Full, ChallengeSpace::Usual),
    StatusKind::Quake3(Detail::Full, ChallengeSpace::Long),
    StatusKind::Quake3(Detail::Short, ChallengeSpace::Usual),
    StatusKind::Quake3(Detail::Short, ChallengeSpace::Long),
];
const QUAKE_2: &[StatusKind] = &[StatusKind::Sibling(Wanted::USUAL)];
const QUAKE_WORLD: &[StatusKind] = &[
    StatusKind::Sibling(Wanted::USUAL),
    StatusKind::Sibling(Wanted::OF_CLIENTS),
];

impl StatusKind {
    fn encode(self, status: &ServerStatus, service: &Service) -> Datagrams {
        match self {
            Self::Quake3(detail, space) => encode_status(detail, space, status, service),
            Self::Sibling(wanted) => {
                let family = match service.format {
                    Format::QuakeWorld => Family::QuakeWorld,
                    _ => Family::Quake2,
                };
                sibling_status::encode(family, wanted, status, service)
            }
        }
    }
}

/// The reply that a request gets.
enum Asked {
    Status {
        kind: StatusKind,
        /// The pair of the challenge, or nothing.
        echo: Echo,
    },
    /// A short reply, which is written for each request.
    Short(Echo),
}

impl Asked {
    fn by(
        request: &Request<'_>,
        status: &ServerStatus,
        service: &Service,
        requester: &Requester,
    ) -> Option<Self> {
        if request.direction_byte {
            return None;
        }
        match (service.format, request.command) {
            (Format::Quake3, Command::GetInfo { challenge }) => {
                Self::status(Detail::Short, challenge.unwrap_or_default())
            }
            (Format::Quake3, Command::GetStatus { challenge }) => {
                Self::status(Detail::Full, challenge.unwrap_or_default())
            }
            (Format::Quake3, Command::GetChallenge { client, game }) => {
                Some(Self::challenge(client, game, status, service, requester))
            }
            (Format::Quake3, Command::Connect(_)) => Some(Self::print(
                b"This server takes no players, it answers queries.\n",
            )),
            // Quake 2's servers ignore flags.
            (Format::Quake2, Command::Status { .. }) => Some(Self::sibling(Wanted::USUAL)),
            (Format::QuakeWorld, Command::Status { flags }) => {
                Some(Self::sibling(flags.map_or(Wanted::USUAL, Wanted::parse)))
            }
            (Format::Quake2, Command::Info { protocol }) => {
                let own = status.protocol_version.unwrap_or(service.protocol_version);
                let is_known_version = number::number(protocol) == Some(own);
                let line = info_line::encode(is_known_version, status);
                Some(Self::Short(Echo::new(|out| out.put_slice(&line))))
            }
            // id-Software/Quake-2, server/sv_main.c, `SVC_Ping`.
            (Format::Quake2, Command::Ping) => Some(Self::short(&Reply::Ack { argument: b"" })),
            // It has no mark (QW-Group/mvdsv, src/sv_main.c, `SVC_Ping`).
            (Format::QuakeWorld, Command::ShortPing) => {
                Some(Self::Short(Echo::new(|out| out.put_u8(b'l'))))
            }
            _ => None,
        }
    }

    const fn sibling(wanted: Wanted) -> Self {
        Self::Status {
            kind: StatusKind::Sibling(wanted),
            echo: Echo::NONE,
        }
    }

    fn status(detail: Detail, challenge: &[u8]) -> Option<Self> {
        if challenge.len() > MAX_CHALLENGE {
            return None;
        }
        // A challenge that an infostring cannot carry is not quoted, as on id's servers.
        let can_be_quoted = *sanitise(challenge) == *challenge;
        let quoted: &[u8] = if can_be_quoted { challenge } else { b"" };
        Some(Self::Status {
            kind: StatusKind::Quake3(detail, ChallengeSpace::of(quoted)),
            echo: Echo::new(|out| {
                if !quoted.is_empty() {
                    out.put_slice(CHALLENGE);
                    out.put_slice(quoted);
                }
            }),
        })
    }

    fn short(reply: &Reply<'_>) -> Self {
        Self::Short(Echo::new(|out| reply.put(None, out)))
    }

    fn print(text: &[u8]) -> Self {
        Self::short(&Reply::Print {
            quake_world_word: false,
            text,
        })
    }

    /// The reply to `getchallenge`, as ioquake3 sends it: it refuses a client of another game, and
    /// quotes the client's own challenge with the protocol number, if it is a number.
    fn challenge(
        client: Option<&[u8]>,
        game: Option<&[u8]>,
        status: &ServerStatus,
        service: &Service,
        requester: &Requester,
    ) -> Self {
        if let (Some(own), Some(game)) = (&status.game, game)
            && !is_written_as(own, game)
        {
            let own = value_of(Family::Quake3, own.as_ref());
            let words = Echo::new(|out| {
                out.put_slice(b"Game mismatch: This is a ");
                out.put_slice(own.get(..MAX_GAME).unwrap_or(&own));
                out.put_slice(b" server\n");
            });
            return Self::print(words.bytes());
        }
        let protocol_version = status.protocol_version.unwrap_or(service.protocol_version);
        let protocol = decimal(protocol_version);
        let client: Option<i32> = client.and_then(number::number);
        let quoted = client.map(decimal);
        let tokens = requester.tokens;
        let token = tokens.issue(requester.now, requester.address, PURPOSE);
        Self::short(&Reply::Challenge {
            quake_world_word: false,
            challenge: challenge_text(token).bytes(),
            client: quoted.as_ref().map(Echo::bytes),
            protocol: Some(protocol.bytes()),
            extra: None,
        })
    }
}

/// A token as ioquake3 writes challenges: a signed number of 32 bits.
fn challenge_text(token: u64) -> Echo {
    let [a, b, c, d, ..] = token.to_le_bytes();
    decimal(i32::from_le_bytes([a, b, c, d]))
}

/// A number in decimal digits.
fn decimal(number: impl Into<i64>) -> Echo {
    Echo::new(|out| number::put(number.into(), out))
}

/// Encodes a status with space for a challenge.
fn encode_status(
    detail: Detail,
    challenge: ChallengeSpace,
    status: &ServerStatus,
    service: &Service,
) -> Datagrams {
    let mut datagrams = Datagrams::default();
    let mut head = Vec::new();
    let family = Family::Quake3;
    put_head(Word { family, detail }, None, &mut head);
    // A line feed ends the infostring of a status.
    let line_feed = usize::from(detail == Detail::Full);
    let framing = head
        .len()
        .saturating_add(challenge.bytes())
        .saturating_add(line_feed);
    let Some(left) = service.max_reply.checked_sub(framing) else {
        return datagrams;
    };
    let space = Space {
        left,
        info: MAX_INFO_STRING.saturating_sub(challenge.bytes()).min(left),
    };
    let body = match detail {
        Detail::Short => info_pairs(status, service, space.info).bytes,
        Detail::Full => status_body(space, status, service),
    };
    datagrams.begin();
    datagrams.bytes.extend_from_slice(&head);
    datagrams.gap_here();
    datagrams.bytes.extend_from_slice(&body);
    datagrams
}

/// The bytes that a reply may have.
#[derive(Clone, Copy)]
struct Space {
    /// Bytes after the challenge, without the line feed after the infostring.
    left: usize,
    /// The part of [`Self::left`] for the infostring.
    info: usize,
}

impl Space {
    /// The space for player lines after an infostring of this length.
    const fn for_lines(self, info_length: usize) -> usize {
        self.left.saturating_sub(info_length)
    }

    /// The space for an infostring before player lines of this length.
    fn for_info(self, lines_length: usize) -> usize {
        self.left.saturating_sub(lines_length).min(self.info)
    }
}

/// The body of a `statusResponse`. Each step takes its space from those after it:
/// 1. The fields, in a space that leaves room for `clients`.
/// 2. `clients`, so that a reader knows whether all players are listed.
/// 3. As many whole player lines as fit after `clients`.
/// 4. The rules that fit.
///
/// If `clients` is needed and does not fit, no line feed ends the infostring, so that the status
/// shows that it is cut.
fn status_body(space: Space, status: &ServerStatus, service: &Service) -> Vec<u8> {
    let mut lines = write_quake3_lines(&status.players);

    let space_for_fields = space.info.saturating_sub(MAX_CLIENTS);
    let mut info = status_pairs(status, service, space_for_fields);

    // The fields are written: `clients` may have the space that they left.
    info.limit = space.info;
    let length_of_fields = info.bytes.len();
    let mut has_needed_count = put_count(&mut info, status.online());
    if lines.len() > space.for_lines(info.bytes.len()) {
        info.bytes.truncate(length_of_fields);
        has_needed_count = put_count(&mut info, Some(count_of_cut_list(status)));
    }

    let fitting = length_of_whole_lines(&lines, space.for_lines(info.bytes.len()));
    lines.truncate(fitting);

    let space_with_rules = space.for_info(lines.len());
    put_rules(&mut info, status, Family::Quake3, space_with_rules);
    let mut body = info.bytes;
    if has_needed_count {
        body.push(b'\n');
        body.extend_from_slice(&lines);
    }
    body
}

/// Appends `clients`, if a count is known; whether it fits.
fn put_count(info: &mut InfoStringBuilder, clients: Option<u32>) -> bool {
    let mut put = |count: u32| info.push(b"clients", count.to_string().as_bytes());
    clients.is_none_or(|count| put(count).is_ok())
}

/// The key `clients` of a status that lists only some of the players. Only this key shows a reader
/// that the list is incomplete.
fn count_of_cut_list(status: &ServerStatus) -> u32 {
    to_u32(status.players.len()).max(status.online().unwrap_or(0))
}

/// The length of the whole lines that fit into `space` bytes. A name cannot hold a line feed.
fn length_of_whole_lines(lines: &[u8], space: usize) -> usize {
    let Some(fits) = lines.get(..space) else {
        return lines.len();
    };
    memchr::memrchr(b'\n', fits).map_or(0, |feed| feed.saturating_add(1))
}

/// Whether a challenge was issued to this requester's address, 15–30 s ago at most: for a game
/// server that handles `connect` or a signed `rcon`. It stays valid for that time, so the caller
/// must refuse copies of a signed command, see
/// [`SecureRconRequest`](crate::quake3::SecureRconRequest).
///
/// ```
/// use std::time::Instant;
/// use queryport::quake3::{self, verify_challenge};
/// use queryport::quake3::{Command, Reply, Request};
/// use queryport::{Format, Requester, Secret, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let client =
///     Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// let request = Request::new(Command::GetChallenge { client: None, game: None });
/// let replies = quake3::respond(
///     &request,
///     &ServerStatus::default(),
///     &Format::Quake3.into(),
///     &client,
/// );
/// let Reply::Challenge { challenge, .. } =
///     Reply::parse(replies.iter().next().unwrap())?
/// else {
///     panic!()
/// };
///
/// assert!(verify_challenge(challenge, &client));
/// let mut stranger = client;
/// stranger.address.set_port(5001);
/// assert!(!verify_challenge(challenge, &stranger));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify_challenge(challenge: &[u8], requester: &Requester) -> bool {
    let matches = |token| challenge_text(token).bytes() == challenge;
    requester
        .tokens
        .valid(requester.now, requester.address, PURPOSE)
        .any(matches)
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "an Instant has to come from somewhere"
)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::limits::Limits;
    use crate::model::{Player, Rules};
    use crate::quake3::wire::response::Response;
    use crate::secret::Secret;
    use crate::service::Format;

    fn requester() -> Requester {
        Requester::new(
            "192.0.2.1:5000".parse().unwrap(),
            Instant::now(),
            Secret::new([7; 16]),
        )
    }

    fn status(players: usize) -> ServerStatus {
        ServerStatus {
            name: Some("^1Srv;".into()),
            map: Some("q3dm17".into()),
            max_players: Some(64),
            players: (0..players)
                .map(|n| Player::new(format!("player number {n}")))
                .collect(),
            rules: (0..80)
                .map(|n| (format!("rule_{n}"), "a value of some length"))
                .collect::<Rules>(),
            ..ServerStatus::default()
        }
    }

    fn reply(
        command: Command<'_>,
        status: &ServerStatus,
        service: &Service,
    ) -> Option<bytes::Bytes> {
        respond(&Request::new(command), status, service, &requester())
            .into_iter()
            .next()
    }

    fn ask(challenge: Option<&[u8]>, players: usize) -> Option<bytes::Bytes> {
        reply(
            Command::GetStatus { challenge },
            &status(players),
            &Service::new(Format::Quake3),
        )
    }

    #[test]
    fn a_cut_list_has_the_number_of_its_players_or_the_count_if_that_is_higher() {
        // Spectators are listed and not counted.
        for (count, written) in [(30, b"64"), (90, b"90")] {
            let status = ServerStatus {
                player_count: Some(count),
                ..status(64)
            };
            let service = Service::new(Format::Quake3);
            let command = Command::GetStatus { challenge: None };
            let reply = reply(command, &status, &service).unwrap();
            let answer = Response::parse(&reply, &Limits::default()).unwrap();
            let lines = answer.players().count();
            assert!((30..64).contains(&lines), "{lines} lines");
            assert_eq!(answer.info().get("clients"), Some(&written[..]));
        }
    }

    #[test]
    fn a_list_of_all_players_has_their_count_and_a_cut_one_that_of_its_lines() {
        let status = ServerStatus {
            player_count: Some(2),
            rules: Rules::default(),
            ..status(12)
        };
        let mut whole = 0;
        for max_reply in 150..700 {
            let service = Service::new(Format::Quake3).with_max_reply(max_reply);
            let command = Command::GetStatus { challenge: None };
            let reply = reply(command, &status, &service).unwrap();
            let response = Response::parse(&reply, &Limits::default()).unwrap();
            let lists_all = response.players().count() == 12;
            let count = if lists_all { &b"2"[..] } else { b"12" };
            assert_eq!(response.info().get("clients"), Some(count), "{max_reply}");
            whole += usize::from(lists_all);
        }
        assert!((1..550).contains(&whole));
    }

    #[test]
    fn players_go_before_rules_when_room_is_short() {
        for players in [0, 1, 24, 40, 64] {
            let reply = ask(Some(b"x"), players).unwrap();
            assert!(reply.len() <= 1396);
            let response = Response::parse(&reply, &Limits::default()).unwrap();
            assert_eq!(response.problems().next(), None, "no half line");
            assert_eq!(response.info().get("sv_hostname"), Some(&b"^1Srv,"[..]));
            assert!(response.info().raw().len() <= MAX_INFO_STRING);
            let listed = response.players().count();
            assert!(
                listed == players || (players == 64 && listed > 45),
                "{listed} of {players}"
            );
        }
    }

    #[test]
    fn challenges_that_cannot_be_quoted_are_left_out() {
        let quoted = |challenge| {
            let reply = ask(Some(challenge), 1).unwrap();
            Response::parse(&reply, &Limits::default())
                .unwrap()
                .info()
                .get("challenge")
                .map(<[u8]>::to_vec)
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
        let request = Request::new(Command::GetInfo { challenge: None });
        let replies = respond(
            &request,
            &status(3),
            &Service::new(Format::Quake3),
            &requester(),
        );
        assert_eq!(
            &replies.into_iter().next().unwrap()[..],
            b"\xff\xff\xff\xffinfoResponse\n\\hostname\\^1Srv,\\mapname\\q3dm17\\clients\\3\\sv_maxclients\\64\
              \\protocol\\68"
        );
    }

    /// Fields that no reply of a form has are those that its clients do not read.
    #[test]
    fn every_field_is_written_under_the_keys_of_the_form() {
        let text = |text: &str| Some(text.into());
        let mut status = ServerStatus {
            name: text("Srv"),
            map: text("q3dm17"),
            game: text("baseq3"),
            mod_name: text("ctf"),
            game_type: text("Capture the Flag"),
            version: text("ioq3 1.36"),
            protocol_version: Some(71),
            password: Some(true),
            anti_cheat: Some(true),
            player_count: Some(9),
            bot_count: Some(2),
            max_players: Some(16),
            private_slots: Some(3),
            time_limit: Some(Duration::from_secs(1200)),
            score_limit: Some(8),
            ..ServerStatus::default()
        };
        status.rules.push("sv_pure", "1");
        let (get_info, get_status) = (
            Command::GetInfo { challenge: None },
            Command::GetStatus { challenge: None },
        );
        let sibling = Command::Status { flags: None };
        for (format, command, written) in [
            (
                Format::Quake3,
                get_info,
                "infoResponse\n\\hostname\\Srv\\mapname\\q3dm17\\clients\\9\\sv_maxclients\\16\\gametype\\Capture the Flag\
                 \\gamename\\baseq3\\game\\ctf\\protocol\\71\\g_needpass\\1\\needpass\\1\\g_humanplayers\\7\\humans\\7\
                 \\version\\ioq3 1.36\\pure\\1",
            ),
            (
                Format::Quake3,
                get_status,
                "statusResponse\n\\sv_hostname\\Srv\\mapname\\q3dm17\\sv_maxclients\\16\\sv_privateClients\\3\
                 \\g_gametype\\Capture the Flag\\com_gamename\\baseq3\\gamename\\ctf\\protocol\\71\\g_needpass\\1\
                 \\bots\\2\\version\\ioq3 1.36\\timelimit\\20\\sv_punkbuster\\1\\clients\\9\\sv_pure\\1\n",
            ),
            (
                Format::Quake2,
                sibling,
                "print\n\\hostname\\Srv\\mapname\\q3dm17\\maxclients\\16\\gamename\\ctf\\protocol\\71\\needpass\\1\
                 \\version\\ioq3 1.36\\timelimit\\20\\fraglimit\\8\\sv_pure\\1\n",
            ),
            (
                Format::QuakeWorld,
                sibling,
                "n\\hostname\\Srv\\map\\q3dm17\\maxclients\\16\\mode\\Capture the Flag\\*gamedir\\ctf\\needpass\\1\
                 \\*version\\ioq3 1.36\\timelimit\\20\\fraglimit\\8\\sv_pure\\1\n\0",
            ),
        ] {
            let reply = reply(command, &status, &Service::new(format)).unwrap();
            assert_eq!(String::from_utf8_lossy(&reply[4..]), written);
        }
        // A rule with another key of an anti-cheat is enough.
        status.rules.push("sv_NxAC", "1");
        let reply = reply(get_status, &status, &Service::new(Format::Quake3)).unwrap();
        assert!(!String::from_utf8_lossy(&reply).contains("sv_punkbuster"));
    }

    #[test]
    fn a_challenge_is_a_signed_number_of_32_bits() {
        for (token, text) in [
            (0xFFFF_FFFF, &b"-1"[..]),
            (0x1_7FFF_FFFF, b"2147483647"),
            (0x8000_0000, b"-2147483648"),
        ] {
            assert_eq!(challenge_text(token).bytes(), text);
        }
    }

    #[test]
    fn a_challenge_quotes_the_number_of_the_client() {
        let get_of = |own: &str, client, game| {
            let status = ServerStatus {
                game: Some(own.into()),
                ..ServerStatus::default()
            };
            let reply = reply(
                Command::GetChallenge { client, game },
                &status,
                &Service::new(Format::Quake3),
            )
            .unwrap();
            String::from_utf8(reply[4..].to_vec()).unwrap()
        };
        let get = |client, game| get_of("Quake3Arena", client, game);
        let token = requester()
            .tokens
            .issue(Instant::now(), requester().address, PURPOSE);
        let number = String::from_utf8(challenge_text(token).bytes().to_vec()).unwrap();
        let ours = Some(&b"12345"[..]);
        assert_eq!(get(None, None), format!("challengeResponse {number}"));
        assert_eq!(
            get(ours, None),
            format!("challengeResponse {number} 12345 68")
        );
        assert_eq!(
            get(ours, Some(b"Quake3Arena")),
            format!("challengeResponse {number} 12345 68")
        );
        assert_eq!(
            get(Some(b"\\x"), None),
            format!("challengeResponse {number}"),
            "no number"
        );
        assert_eq!(
            get(ours, Some(b"Other")),
            "print\nGame mismatch: This is a Quake3Arena server\n"
        );
        assert_eq!(
            get_of(&"x".repeat(99), ours, Some(b"Other")),
            format!(
                "print\nGame mismatch: This is a {} server\n",
                "x".repeat(64)
            )
        );
    }

    #[test]
    fn a_line_of_quake_2_has_no_slots_where_their_number_is_unknown() {
        let (info, service) = (
            Command::Info { protocol: b"34" },
            Service::new(Format::Quake2),
        );
        let status = ServerStatus {
            protocol_version: Some(34),
            ..ServerStatus::default()
        };
        let line = reply(info, &status, &service).unwrap();
        assert!(line.ends_with(b"  0/ 0\n"), "{}", line.escape_ascii());
    }

    #[test]
    fn a_request_of_medal_of_honor_is_not_answered() {
        let request = Request {
            direction_byte: true,
            ..Request::new(Command::GetInfo { challenge: None })
        };
        let service = Service::new(Format::Quake3);
        assert!(respond(&request, &status(1), &service, &requester()).is_empty());
    }

    #[test]
    fn a_challenge_is_valid_for_its_address_and_some_seconds() {
        let (client, service) = (requester(), Service::new(Format::Quake3));
        let request = Request::new(Command::GetChallenge {
            client: None,
            game: None,
        });
        let reply = respond(&request, &ServerStatus::default(), &service, &client)
            .into_iter()
            .next()
            .unwrap();
        let Ok(Reply::Challenge { challenge, .. }) = Reply::parse(&reply) else {
            panic!("{reply:?}")
        };
        let valid_after = |seconds| {
            let now = client
                .now
                .checked_add(Duration::from_secs(seconds))
                .unwrap();
            verify_challenge(challenge, &Requester { now, ..client })
        };
        assert!(valid_after(0) && valid_after(15) && !valid_after(30));
        assert!(!verify_challenge(b"0", &client) && !verify_challenge(b"", &client));
        let address = "192.0.2.2:5000".parse().unwrap();
        assert!(!verify_challenge(
            challenge,
            &Requester { address, ..client }
        ));
    }

    #[test]
    fn rules_decide_under_which_keys_fields_are_written() {
        let text = |text: &str| Some(text.into());
        let status = ServerStatus {
            game: text("game"),
            mod_name: text("mod"),
            anti_cheat: Some(true),
            score_limit: Some(5),
            ..ServerStatus::default()
        };
        let (info, full) = (
            Command::GetInfo { challenge: None },
            Command::GetStatus { challenge: None },
        );
        type Pairs = &'static [(&'static str, &'static str)];
        let cases: [(_, Pairs, &str, &str); 7] = [
            (info, &[("pure", "1")], r"\pure\1", r"\sv_pure"),
            (
                info,
                &[("pure", ""), ("sv_pure", "0")],
                r"\pure\0",
                r"\sv_pure",
            ),
            (
                full,
                &[("pb", "0"), ("sv_NxAC", "1")],
                r"\pb\0",
                r"\sv_punkbuster",
            ),
            (
                full,
                &[("scorelimit", "7")],
                r"\scorelimit\5",
                r"\scorelimit\7",
            ),
            (
                full,
                &[("modname", "mod")],
                r"\gamename\game",
                r"\com_gamename",
            ),
            (full, &[("empty", "")], r"\com_gamename\game", r"\empty"),
            (
                full,
                &[("Challenge", "x")],
                r"\com_gamename\game",
                r"\Challenge",
            ),
        ];
        for (command, rules, written, left_out) in cases {
            let status = ServerStatus {
                rules: rules.iter().copied().collect::<Rules>(),
                ..status.clone()
            };
            let reply = reply(command, &status, &Service::new(Format::Quake3)).unwrap();
            let reply = String::from_utf8_lossy(&reply);
            assert!(
                reply.contains(written) && !reply.contains(left_out),
                "{rules:?}: {reply}"
            );
        }
    }

    #[test]
    fn the_protocol_number_of_a_status_outweighs_that_of_its_service() {
        let status = ServerStatus {
            protocol_version: Some(71),
            ..ServerStatus::default()
        };
        let client = Some(&b"1"[..]);
        let challenge = Command::GetChallenge { client, game: None };
        let challenge = reply(challenge, &status, &Service::new(Format::Quake3)).unwrap();
        assert!(
            challenge.ends_with(b" 1 71"),
            "{}",
            challenge.escape_ascii()
        );
        let info = Command::Info { protocol: b"71" };
        let line = reply(info, &status, &Service::new(Format::Quake2)).unwrap();
        assert!(line.ends_with(b"  0/ 0\n"), "{}", line.escape_ascii());
    }

    #[test]
    fn a_line_of_quake_world_has_both_colours_and_a_team_by_its_number() {
        let mut player = Player::new("Ann");
        player.team = Some(2);
        player.extra.push("top", "3");
        player.extra.push("bottom", "7");
        let status = ServerStatus {
            players: [player].into(),
            ..ServerStatus::default()
        };
        let flags = Some(&b"255"[..]);
        let command = Command::Status { flags };
        let reply = reply(command, &status, &Service::new(Format::QuakeWorld)).unwrap();
        let line = br#""Ann" "" 3 7 "2" """#;
        let has_line = reply.windows(line.len()).any(|bytes| bytes == line);
        assert!(has_line, "{}", reply.escape_ascii());
    }
}
