//! The server's side: makes the datagrams of a reply from a request and a status.

use bytes::Bytes;

use super::engines::{InfoEnd, PlayerForm, Profile};
use super::from_status::{self, InfoRules};
use super::players::write_players;
use super::wire::lists::{FLUSH_LENGTH, PLAYERS, PlayerRecord, RULES, RuleList, XmpFields};
use super::wire::{Body, Command, Request, Response, put_header};
use crate::error::EncodeError;
use crate::model::ServerStatus;
use crate::reply::{Context, Patch, Requester, Template, TemplateReply, datagrams};
use crate::service::Service;

/// Answers a request as the game does. The info is one datagram. Rules and players take as many as
/// they need: a new datagram begins when the last one is longer than 450 bytes. A request for both
/// gets the rules first. An empty list of players has no datagram.
///
/// An empty rule list is sent as a header-only datagram, five bytes like a request. It is sent only
/// to clients whose version is lower than this server's, compared byte by byte. Otherwise two
/// servers could be made to answer each other forever.
///
/// The rules `SkillLevel` and `Flags` go into the info record instead of the list, the last of each
/// name, if the engine's record has these fields. So do `CurrentWave` and `FinalWave` together.
/// Where the rules lack them, fields of the status are added: `ServerMode`, `ServerVersion`,
/// `GamePassword`, `Mutator`, `GoalScore`, `TimeLimit` in whole minutes, and for Killing Floor
/// `IsVacSecured`. If rules contradict a field, the field wins, and the rules are left out.
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
    requester: &Requester,
) -> Vec<Bytes> {
    datagrams(status, service, requester, |context| {
        respond_from_templates(request, context)
    })
}

/// Does the same as [`respond`], with the templates of earlier replies.
pub(crate) fn respond_from_templates(
    request: &Request,
    context: &mut Context<'_, ReplyKind>,
) -> Option<TemplateReply> {
    let kind = ReplyKind {
        command: request.command,
        takes_header: takes_header(request, context.service),
    };
    let template = context.template(kind, |context, template| {
        // This cannot fail: texts are cut far below the length that cannot be written.
        let _ = Writer {
            service: context.service,
            template,
        }
        .write(request, context.status);
    });
    TemplateReply::new(template, Patch::NONE)
}

/// The kind of a reply. Replies of the same kind are identical.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ReplyKind {
    command: Command,
    takes_header: bool,
}

/// Whether a header-only datagram may answer this request. Another server may read that datagram as
/// a request. It replies only if its own version bytes are higher, so two servers exchange at most
/// one reply each.
fn takes_header(request: &Request, service: &Service) -> bool {
    request.version.to_le_bytes() < service.protocol_version.to_le_bytes()
}

/// Writes the datagrams of a reply.
struct Writer<'o> {
    service: &'o Service,
    template: &'o mut Template,
}

impl Writer<'_> {
    fn write(mut self, request: &Request, status: &ServerStatus) -> Result<(), EncodeError> {
        let profile = Profile::of_engine(self.service.engine);
        let in_info = match profile.info {
            InfoEnd::Older => InfoRules::default(),
            InfoEnd::Standard | InfoEnd::Waves => InfoRules::new(status),
        };
        match request.command {
            Command::Info => {
                return from_status::info(status, &in_info, profile, |info| {
                    self.datagram(Body::Info(info))
                });
            }
            Command::SmallPing => return self.datagram(Body::SmallPing(b"P")),
            Command::Rules | Command::Players | Command::RulesAndPlayers => {}
        }
        if request.command != Command::Players {
            let mut rules = from_status::rules(status, &in_info, profile).peekable();
            let is_empty = rules.peek().is_none();
            self.list(RULES, rules, |rule, out| {
                rule.key.string().encode(out)?;
                rule.value.string().encode(out)
            })?;
            if is_empty && takes_header(request, self.service) {
                self.datagram(Body::Rules(RuleList::default()))?;
            }
        }
        if request.command != Command::Rules {
            let form = PlayerForm::of_version(self.service.protocol_version);
            let xmp = (form == PlayerForm::WithPairs).then(XmpFields::default);
            self.list(PLAYERS, write_players(status), |player, out| {
                let record = PlayerRecord {
                    name: player.name.string(),
                    xmp,
                    ..player.record
                };
                record.encode(out)
            })?;
        }
        Ok(())
    }

    fn datagram(&mut self, body: Body<'_>) -> Result<(), EncodeError> {
        self.template.begin();
        let mut response = Response::new(body);
        response.version = self.service.protocol_version;
        response.encode(&mut self.template.bytes)
    }

    /// Writes entries into datagrams as the engine does: before each entry, it checks the length of
    /// the datagram.
    fn list<T>(
        &mut self,
        code: u8,
        entries: impl Iterator<Item = T>,
        write: impl Fn(T, &mut Vec<u8>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        let mut datagrams = 0_usize;
        // Of the current datagram.
        let mut start: Option<usize> = None;
        for entry in entries {
            let end = self.template.bytes.len();
            let has_room = start.is_some_and(|start| end.saturating_sub(start) <= FLUSH_LENGTH);
            if !has_room {
                if datagrams >= self.service.max_datagrams {
                    break;
                }
                datagrams = datagrams.saturating_add(1);
                start = Some(end);
                self.template.begin();
                put_header(
                    self.service.protocol_version,
                    code,
                    &mut self.template.bytes,
                );
            }
            write(entry, &mut self.template.bytes)?;
        }
        Ok(())
    }
}
