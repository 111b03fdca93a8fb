//! The server's side: makes the datagrams of a reply from a request and a status.

use bytes::Bytes;

use super::engines::UT2004_VERSION;
use super::wire::lists::{FLUSH_LENGTH, PLAYERS, RULES};
use super::wire::{Body, Command, Request, Response, RuleList, put_header};
use crate::error::EncodeError;
use crate::model::ServerStatus;
use crate::reply::{Datagrams, Echo, EncodedReply, Requester, Stored};
use crate::service::Service;

mod from_status;

/// Answers a request as the game does. The info is one datagram. Rules and players take as many as
/// they need: a new datagram begins when the last one is longer than 450 bytes. A request for both
/// gets the rules first. An empty list of players has no datagram.
///
/// An empty rule list is sent as a header-only datagram, five bytes like a request. It is sent only
/// to clients whose version is lower than this server's, compared byte by byte. Otherwise two
/// servers could be made to answer each other forever.
///
/// The replies are those of UT2004, version 0x80. The rules `SkillLevel` and `Flags` go into the
/// info record. The list begins with the fields of the status: `ServerMode`, `ServerVersion`,
/// `GamePassword`, `GoalScore`, `TimeLimit` in whole minutes, and `Mutator`. The status's own rules
/// follow as they are, except those with the key of such a field. Other fields are not sent: for
/// the anti-cheat of Killing Floor, add the rule `IsVacSecured`.
///
/// Texts are cut at 400 characters. An entry is never split, and never left out because of its
/// length.
///
/// ```
/// use std::time::Instant;
/// use queryport::{Player, Protocol, Requester, Secret, ServerStatus};
/// use queryport::ut2004::{self, Command, Request};
///
/// let mut status = ServerStatus::default();
/// status.rules.push("ServerMode", "dedicated");
/// status.players = [Player::new("Жx")].into();
/// # #[allow(clippy::disallowed_methods)]
/// let requester =
///     Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// let request = Request::new(Command::RulesAndPlayers);
/// let replies =
///     ut2004::respond(&request, &status, &Protocol::Ut2004.into(), &requester);
/// let replies: Vec<_> = replies.into_iter().collect();
/// assert_eq!(&replies[0][..], b"\x80\0\0\0\x01\x0bServerMode\0\x0adedicated\0");
/// assert_eq!(replies[1][..12], [0x80, 0, 0, 0, 2, 1, 0, 0, 0, 0x83, 0x16, 0x04]);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
pub fn respond(
    request: &Request,
    status: &ServerStatus,
    service: &Service,
    _requester: &Requester,
) -> Vec<Bytes> {
    let datagrams = ReplyKind::of(request).encode(status, service);
    let reply = EncodedReply::encoded(datagrams, Echo::NONE);
    reply.map(EncodedReply::into_datagrams).unwrap_or_default()
}

/// The kind of a reply. Replies of the same kind are identical.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyKind {
    Info,
    SmallPing,
    Rules(EmptyList),
    Players,
    RulesAndPlayers(EmptyList),
}

/// What is sent for an empty list of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyList {
    Nothing,
    Header,
}

impl ReplyKind {
    const ALL: [Self; 7] = [
        Self::Info,
        Self::SmallPing,
        Self::Rules(EmptyList::Nothing),
        Self::Rules(EmptyList::Header),
        Self::Players,
        Self::RulesAndPlayers(EmptyList::Nothing),
        Self::RulesAndPlayers(EmptyList::Header),
    ];

    fn of(request: &Request) -> Self {
        // Another server may read a header-only datagram as a request. It replies only if its own
        // version bytes are higher, so two servers exchange at most one reply each.
        let empty_list = if request.version.to_le_bytes() < UT2004_VERSION.to_le_bytes() {
            EmptyList::Header
        } else {
            EmptyList::Nothing
        };
        match request.command {
            Command::Info => Self::Info,
            Command::SmallPing => Self::SmallPing,
            Command::Rules => Self::Rules(empty_list),
            Command::Players => Self::Players,
            Command::RulesAndPlayers => Self::RulesAndPlayers(empty_list),
        }
    }

    /// Encodes the reply.
    fn encode(self, status: &ServerStatus, service: &Service) -> Datagrams {
        let mut writer = Writer {
            max_datagrams: service.max_datagrams,
            datagrams: Datagrams::default(),
        };
        // This cannot fail: texts are cut far below the length that cannot be written.
        let _ = writer.write(self, status);
        writer.datagrams
    }
}

/// The replies of one status.
#[derive(Debug, Clone)]
pub(crate) struct Replies(Stored<ReplyKind>);

impl Replies {
    pub(crate) fn new(status: &ServerStatus, service: &Service) -> Self {
        let encode = |kind: ReplyKind| kind.encode(status, service);
        Self(Stored::new(&ReplyKind::ALL, encode))
    }

    /// The reply to a request.
    pub(crate) fn reply(&self, request: &Request) -> Option<EncodedReply> {
        EncodedReply::stored(self.0.get(ReplyKind::of(request))?, Echo::NONE)
    }
}

/// Writes the datagrams of a reply.
struct Writer {
    /// The maximum number of datagrams of a list.
    max_datagrams: usize,
    datagrams: Datagrams,
}

impl Writer {
    fn write(&mut self, kind: ReplyKind, status: &ServerStatus) -> Result<(), EncodeError> {
        match kind {
            ReplyKind::Info => {
                return from_status::info(status, |info| self.datagram(Body::Info(info)));
            }
            ReplyKind::SmallPing => return self.datagram(Body::SmallPing(b"P")),
            ReplyKind::Rules(_) | ReplyKind::Players | ReplyKind::RulesAndPlayers(_) => {}
        }
        if let ReplyKind::Rules(empty_list) | ReplyKind::RulesAndPlayers(empty_list) = kind {
            let rules = from_status::rules(status);
            if rules.is_empty() && empty_list == EmptyList::Header {
                self.datagram(Body::Rules(RuleList::default()))?;
            }
            self.list(RULES, rules, |rule, out| {
                rule.key.string().encode(out)?;
                rule.value.string().encode(out)
            })?;
        }
        if !matches!(kind, ReplyKind::Rules(_)) {
            self.list(PLAYERS, from_status::players(status), |player, out| {
                player.record().encode(out)
            })?;
        }
        Ok(())
    }

    fn datagram(&mut self, body: Body<'_>) -> Result<(), EncodeError> {
        self.datagrams.begin();
        Response::new(body).encode(&mut self.datagrams.bytes)
    }

    /// Writes entries into datagrams as the engine does: before each entry, it checks the length of
    /// the datagram.
    fn list<T>(
        &mut self,
        code: u8,
        entries: impl IntoIterator<Item = T>,
        write: impl Fn(T, &mut Vec<u8>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        let mut datagrams = 0_usize;
        // Of the current datagram.
        let mut start: Option<usize> = None;
        for entry in entries {
            let end = self.datagrams.bytes.len();
            let has_room = start.is_some_and(|start| end.saturating_sub(start) <= FLUSH_LENGTH);
            if !has_room {
                if datagrams >= self.max_datagrams {
                    break;
                }
                datagrams = datagrams.saturating_add(1);
                start = Some(end);
                self.datagrams.begin();
                put_header(UT2004_VERSION, code, &mut self.datagrams.bytes);
            }
            write(entry, &mut self.datagrams.bytes)?;
        }
        Ok(())
    }
}
