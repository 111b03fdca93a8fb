//! Identifies datagrams whose protocol and direction are not known: from captures, logs and
//! sniffers.

use std::cmp::Reverse;

use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::protocol::Protocol;
use crate::quake3::wire::list::ListPart;
use crate::{gamespy1, gamespy4, quake3, ut2004};

/// Every message that a datagram can be, the likeliest first.
///
/// Messages without problems come first, then unknown commands, then messages with problems, then
/// those whose parser failed, in order of how far it read. A protocol whose first bytes differ is in
/// the list only if no other candidate is left.
///
/// ```
/// use queryport::{Limits, Protocol, inspect};
///
/// let candidates = inspect(b"\xff\xff\xff\xffgetstatus 8aJ2", &Limits::default());
/// let likeliest = &candidates[0];
/// assert_eq!((likeliest.protocol, likeliest.from_server), (Protocol::Quake3, false));
/// assert!(likeliest.is_match());
///
/// // A truncated reply: what is wrong, and where.
/// let candidates =
///     inspect(b"\x80\0\0\0\x01\x0bServerMode\0\x0aded", &Limits::default());
/// assert_eq!(
///     (candidates[0].protocol, candidates[0].problems.len()),
///     (Protocol::Ut2004, 1)
/// );
/// assert_eq!(
///     candidates[0].problems[0].to_string(),
///     "cut short inside a rule at byte 5"
/// );
/// ```
pub fn inspect<'a>(datagram: &'a [u8], limits: &Limits) -> Vec<Candidate<'a>> {
    let mut candidates = Vec::from(requests(datagram));
    candidates.extend(replies(datagram, limits));
    if candidates.iter().any(Candidate::is_of_protocol) {
        candidates.retain(Candidate::is_of_protocol);
    }
    candidates.sort_by_key(Candidate::rank);
    candidates
}

/// Reads the datagram as each message of a client. The strictest grammar comes first, because the
/// first of two messages with the same rank is taken.
fn requests(datagram: &[u8]) -> [Candidate<'_>; 4] {
    let quake3 = quake3::Request::parse(datagram).map(Message::Quake3Request);
    let gamespy4 = gamespy4_request(datagram).map(Message::GameSpy4Request);
    let ut2004 = ut2004::Request::parse(datagram).map(Message::Ut2004Request);
    let gamespy1 = gamespy1::Request::parse(datagram).map(Message::GameSpy1Request);
    [
        Candidate::from_client(Protocol::Quake3, quake3),
        Candidate::from_client(Protocol::GameSpy4, gamespy4),
        Candidate::from_client(Protocol::Ut2004, ut2004),
        Candidate::from_client(Protocol::GameSpy1, gamespy1),
    ]
}

/// A request of GameSpy v4, with a challenge or, as in GameSpy v2, without one.
fn gamespy4_request(datagram: &[u8]) -> Result<gamespy4::Request<'_>, ParseError> {
    let challenged = gamespy4::Request::parse(datagram);
    match gamespy4::Request::parse_without_challenge(datagram) {
        Ok(request) if challenged.is_err() => Ok(request),
        _ => challenged,
    }
}

/// Reads the datagram as each message of a server or a master, in the order of [`requests`].
fn replies<'a>(datagram: &'a [u8], limits: &Limits) -> [Candidate<'a>; 6] {
    let quake3 = quake3::Response::parse(datagram, limits).map(Message::Quake3Response);
    let short_reply = quake3::Reply::parse(datagram).map(Message::Quake3Reply);
    let list = ListPart::parse(datagram).map(Message::Quake3List);
    let gamespy4 = gamespy4::Response::parse(datagram, limits).map(Message::GameSpy4Response);
    let ut2004 = ut2004::Response::parse(datagram, limits).map(Message::Ut2004Response);
    let gamespy1 = gamespy1::Response::parse(datagram, limits).map(Message::GameSpy1Response);
    [
        Candidate::from_server(Protocol::Quake3, quake3),
        Candidate::from_server(Protocol::Quake3, short_reply),
        Candidate::from_server(Protocol::Quake3, list),
        Candidate::from_server(Protocol::GameSpy4, gamespy4),
        Candidate::from_server(Protocol::Ut2004, ut2004),
        Candidate::from_server(Protocol::GameSpy1, gamespy1),
    ]
}

/// One interpretation of a datagram, see [`inspect`].
///
/// ```
/// use queryport::{Limits, inspect};
///
/// // A GameSpy v4 challenge without the NUL at its end.
/// for candidate in inspect(b"\x09\0\0\0\0-1287574694", &Limits::default()) {
///     let direction = if candidate.from_server { "server" } else { "client" };
///     match &candidate.message {
///         Ok(message) => {
///             println!("{} {} from a {direction}", candidate.protocol, message.kind())
///         }
///         Err(error) => {
///             println!("{} from a {direction}? {error}", candidate.protocol)
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Candidate<'a> {
    /// The protocol.
    pub protocol: Protocol,
    /// Whether a server or a master sends this message; otherwise a client does.
    pub from_server: bool,
    /// The message, or why the datagram is not one.
    pub message: Result<Message<'a>, ParseError>,
    /// Parts that the lenient parser skipped or repaired, see the `problems` method of each
    /// `Response`.
    pub problems: Vec<ParseError>,
}

/// A parsed message of any protocol, see [`inspect`].
///
/// ```
/// use queryport::{Limits, Message, inspect};
///
/// let candidates = inspect(
///     b"\xff\xff\xff\xffstatusResponse\n\\mapname\\q3dm17\n",
///     &Limits::default(),
/// );
/// let Ok(Message::Quake3Response(response)) = &candidates[0].message else {
///     panic!()
/// };
/// assert_eq!(response.info().get("mapname"), Some(&b"q3dm17"[..]));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "views live for a moment, and few at a time"
)]
pub enum Message<'a> {
    /// The commands of a client.
    GameSpy1Request(gamespy1::Request<'a>),
    /// One datagram of a reply.
    GameSpy1Response(gamespy1::Response<'a>),
    /// A challenge request or a data request.
    GameSpy4Request(gamespy4::Request<'a>),
    /// A challenge, or one datagram of a data reply.
    GameSpy4Response(gamespy4::Response<'a>),
    /// Any out-of-band command of a client, a server or a master.
    Quake3Request(quake3::Request<'a>),
    /// `infoResponse` or `statusResponse`.
    Quake3Response(quake3::Response<'a>),
    /// A short reply: a challenge, a refusal, printed text.
    Quake3Reply(quake3::Reply<'a>),
    /// One datagram of a master's list.
    Quake3List(ListPart<'a>),
    /// A request for info, rules or players.
    Ut2004Request(ut2004::Request),
    /// One datagram of info, rules or players.
    Ut2004Response(ut2004::Response<'a>),
}

impl Message<'_> {
    /// Its kind in its protocol: `request`, `response`, `reply` or `list`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::GameSpy1Request(_) | Self::GameSpy4Request(_) => "request",
            Self::Quake3Request(_) | Self::Ut2004Request(_) => "request",
            Self::Quake3Reply(_) => "reply",
            Self::Quake3List(_) => "list",
            _ => "response",
        }
    }

    /// Problems of a message that could be read.
    fn problems(&self) -> Vec<ParseError> {
        match self {
            Self::GameSpy1Response(response) => response.problems().collect(),
            Self::GameSpy4Response(response) => response.problems().collect(),
            Self::Quake3Response(response) => response.problems().collect(),
            Self::Ut2004Response(response) => response.problems().collect(),
            _ => Vec::new(),
        }
    }
}

impl<'a> Candidate<'a> {
    fn from_client(protocol: Protocol, message: Result<Message<'a>, ParseError>) -> Self {
        let problems = message.as_ref().map(Message::problems).unwrap_or_default();
        Self {
            protocol,
            from_server: false,
            message,
            problems,
        }
    }

    fn from_server(protocol: Protocol, message: Result<Message<'a>, ParseError>) -> Self {
        Self {
            from_server: true,
            ..Self::from_client(protocol, message)
        }
    }

    /// Whether the datagram is this message. If no candidate matches, the datagram is unknown.
    pub const fn is_match(&self) -> bool {
        self.message.is_ok()
    }

    /// Whether the first bytes are those of this protocol.
    fn is_of_protocol(&self) -> bool {
        match &self.message {
            Ok(_) => true,
            Err(error) => !matches!(error.kind, ParseErrorKind::NotThisProtocol(_)),
        }
    }

    /// The sort key: the likeliest candidate has the lowest.
    fn rank(&self) -> Rank {
        match &self.message {
            Ok(Message::GameSpy1Request(request)) if !has_known_command(request) => {
                Rank::UnknownCommand
            }
            Ok(_) if self.problems.is_empty() => Rank::WithoutProblems,
            Ok(_) => Rank::WithProblems(self.problems.len()),
            Err(error) => Rank::Failed {
                offset: Reverse(error.offset),
            },
        }
    }
}

/// How likely a candidate is, the likeliest first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    WithoutProblems,
    /// Any pairs of keys and values parse as commands of GameSpy v1.
    UnknownCommand,
    /// The number of problems.
    WithProblems(usize),
    /// The parser that read farthest comes first.
    Failed {
        offset: Reverse<usize>,
    },
}

fn has_known_command(request: &gamespy1::Request<'_>) -> bool {
    let first = request.commands().next();
    first.is_some_and(|command| match command {
        gamespy1::Command::Other { name, .. } => name == b"status",
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeliest(datagram: &[u8]) -> (Protocol, bool, bool) {
        let candidate = inspect(datagram, &Limits::default()).remove(0);
        (
            candidate.protocol,
            candidate.from_server,
            candidate.message.is_ok(),
        )
    }

    #[test]
    fn every_kind_of_message_is_recognised() {
        use Protocol::{GameSpy1, GameSpy4, Quake3, Ut2004};
        let datagrams: [(&[u8], Protocol, bool); 15] = [
            (
                b"\xff\xff\xff\xffgetserversResponse\\\xc0\0\x02\x01m8\\EOT\0\0\0",
                Quake3,
                true,
            ),
            (br"\status\", GameSpy1, false),
            (br"\status\xserverquery", GameSpy1, false),
            (br"\basic\\info\", GameSpy1, false),
            (br"\hostname\Srv\gamever\400", GameSpy1, true),
            (
                br"\hostname\Srv\numplayers\0\final\\queryid\1.1",
                GameSpy1,
                true,
            ),
            (b"\xfe\xfd\x09\x01\x02\x03\x04", GameSpy4, false),
            (b"\xfe\xfd\0\x01\x02\x03\x04\xff\xff\xff", GameSpy4, false),
            (b"\x09\x01\x02\x03\x0412345\0", GameSpy4, true),
            (
                b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0",
                GameSpy4,
                true,
            ),
            (b"\xff\xff\xff\xffgetinfo xyz", Quake3, false),
            (
                b"\xff\xff\xff\xffstatusResponse\n\\mapname\\q3dm17\n",
                Quake3,
                true,
            ),
            (b"\xff\xff\xff\xffchallengeResponse 5", Quake3, true),
            (b"\x79\0\0\0\x03", Ut2004, false),
            (
                b"\x80\0\0\0\x02\x05\0\0\0\x04abc\0\x1c\0\0\0\xfd\xff\xff\xff\0\0\0\x20",
                Ut2004,
                true,
            ),
        ];
        for (datagram, protocol, from_server) in datagrams {
            assert_eq!(
                likeliest(datagram),
                (protocol, from_server, true),
                "{}",
                datagram.escape_ascii()
            );
            let message = inspect(datagram, &Limits::default())
                .remove(0)
                .message
                .unwrap();
            assert_eq!(
                message.kind() == "request",
                !from_server,
                "{}",
                message.kind()
            );
        }
        for (datagram, kind) in [
            (&b"\xff\xff\xff\xffgetinfo xyz"[..], "request"),
            (
                b"\xff\xff\xff\xffinfoResponse\n\\mapname\\q3dm17",
                "response",
            ),
            (b"\xff\xff\xff\xffchallengeResponse 5", "reply"),
            // Quake 2's search in the local network, and QuakeWorld's ping.
            (b"\xff\xff\xff\xffinfo 34", "request"),
            (b"\xff\xff\xff\xffinfo\n  Arena1    q2dm1  0/ 8\n", "reply"),
            (b"\xff\xff\xff\xffk\n", "request"),
            // Requests to their masters, most of them without a mark.
            (b"query", "request"),
            (b"c\n\0", "request"),
            (b"a\n1\n0\n", "request"),
            (b"\xff\xff\xff\xffshutdown", "request"),
            (b"\xff\xff\xff\xffl", "reply"),
            (
                b"\xff\xff\xff\xffgetserversResponse\\\xc0\0\x02\x01\x6d\x38\\EOT\0\0\0",
                "list",
            ),
        ] {
            let message = inspect(datagram, &Limits::default()).remove(0).message;
            assert_eq!(message.unwrap().kind(), kind);
        }
    }

    /// The strictest grammar first: of two messages that are as likely, callers take the first.
    #[test]
    fn candidates_as_likely_as_each_other_are_always_in_the_same_order() {
        use Protocol::{GameSpy1, GameSpy4, Quake3, Ut2004};
        let candidates = inspect(b"GET / HTTP/1.1", &Limits::default());
        let failed_at_0 = |candidate: &Candidate<'_>| match &candidate.message {
            Ok(_) => false,
            Err(error) => error.offset == 0,
        };
        assert!(candidates.iter().all(failed_at_0));
        let listed = |from_server| -> Vec<Protocol> {
            let listed = candidates.iter().skip(if from_server { 4 } else { 0 });
            let of_side = listed.take_while(|candidate| candidate.from_server == from_server);
            of_side.map(|candidate| candidate.protocol).collect()
        };
        assert_eq!(listed(false), [Quake3, GameSpy4, Ut2004, GameSpy1]);
        let of_servers = [Quake3, Quake3, Quake3, GameSpy4, Ut2004, GameSpy1];
        assert_eq!(listed(true), of_servers);
    }

    /// The first parser reads the four bytes of a mark, the others none or fewer.
    #[test]
    fn of_failed_candidates_the_one_that_read_farthest_comes_first() {
        for datagram in [
            &b"\xff\xff\xff\xffhello"[..],
            b"\x80\0\0\0\x07",
            b"\xfe\xfd\x05",
        ] {
            let candidates = inspect(datagram, &Limits::default());
            let errors = candidates.iter().map(|candidate| &candidate.message);
            let offsets: Vec<usize> = errors
                .filter_map(|it| Some(it.as_ref().err()?.offset))
                .collect();
            assert!(offsets.is_sorted_by(|one, next| one >= next), "{offsets:?}");
        }
    }

    #[test]
    fn a_challenge_is_not_read_as_a_part_of_the_selection() {
        let datagram = b"\xfe\xfd\0\x01\x02\x03\x04\0\0\x30\x39\xff\xff\xff\x01";
        let candidates = inspect(datagram, &Limits::default());
        let request = gamespy4::Request::parse(datagram).unwrap();
        let Ok(Message::GameSpy4Request(read)) = &candidates[0].message else {
            panic!("{candidates:?}");
        };
        assert_eq!(format!("{read:?}"), format!("{request:?}"));
    }

    #[test]
    fn a_datagram_of_no_protocol_has_only_errors() {
        for datagram in [&b""[..], b"GET / HTTP/1.1", &[0x17; 40]] {
            let candidates = inspect(datagram, &Limits::default());
            assert!(!candidates.is_empty() && !candidates.iter().any(Candidate::is_match));
        }
    }
}
