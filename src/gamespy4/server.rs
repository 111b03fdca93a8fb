//! The server's side: makes the datagrams of a reply from a request, a status and the requester's
//! tokens.
//!
//! A data request must quote the token of its own address and port. An address that has not proved
//! it can receive gets only that token. Tokens are derived from a secret and not stored.
//!
//! A token has 31 bits, and two tokens of an address are valid at a time. A guess succeeds with a
//! probability of 2⁻³⁰, and sends one reply to the forged address.
//!
//! A client whose reply was lost can quote a token again; GameSpy's own code accepts each token
//! once (QR2 SDK, qr2.c). Both replies then have one id. If the status changed between them, and a
//! client gets exactly those datagrams of one that it misses of the other, it joins parts of both.

use bytes::{BufMut, Bytes};

use super::from_status::{MAX_VALUE, basic, put_content};
use super::served::{Challenge, Layout, Served};
use super::wire::request::{CHALLENGE, Command, Request, Selection};
use super::wire::response::{MAX_DATAGRAM, MAX_DATAGRAMS};
use super::writer::{Content, Portion, put_head};
use crate::error::ParseError;
use crate::model::ServerStatus;
use crate::options::Engine;
use crate::reply::{Context, Patch, Requester, Template, TemplateReply, datagrams};
use crate::service::Service;
use crate::text::number;

/// Separates this protocol's tokens from those of others that derive from the same secret.
const PURPOSE: u16 = 4;

/// Length of a selection of everything. Minecraft's own server looks at nothing else, and answers
/// every other length with its basic reply (Krypton, which derives from it: `GS4QueryHandler`).
const FULL: usize = Selection::ALL.0.len();
/// The request of qstat (qstat.h): host name, game type, map, players, most players, port.
const QSTAT: &[u8] = &[6, 1, 6, 5, 8, 10, 4, 0, 0];
/// The kind of a reply. Replies of the same kind differ in the id of the request, and in the token
/// of a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ReplyKind {
    Challenge,
    /// Minecraft's short reply.
    Basic,
    Full,
    /// Lists without numbers: which sections are requested.
    Sections {
        server: bool,
        players: bool,
        teams: bool,
    },
    /// The lists that qstat requests.
    Qstat,
    /// The status's content for the lists.
    Content,
}
/// The maximum size of a datagram over IPv4, in bytes.
const MAX_UDP_PAYLOAD: usize = 65_507;

/// Answers a challenge request, and a data request that quotes a valid token:
///
/// | selection | reply |
/// |---|---|
/// | no bytes; to [`Engine::Minecraft`] any number of bytes except four | Minecraft's basic reply |
/// | four bytes, to [`Engine::Minecraft`] | everything, in one datagram |
/// | three lists with flag 01 | everything, in as many datagrams as it needs |
/// | three lists without it | the keys of the lists, by name or by id, in one datagram of fewer than 1,400 bytes |
///
/// Other requests get no reply.
///
/// [`Engine::Battlefield2`] also answers a request without a challenge, as Battlefield 2's servers
/// do: GameQ (Bf2.php) and qstat (`-gs3`) send only such requests. Such a request is read with
/// [`Request::parse_without_challenge`]. [`Engine::GameSpy2`] answers only such requests, always
/// with one datagram. These replies go to addresses that have not proved that they can receive.
///
/// ```
/// use std::time::Instant;
/// use queryport::gamespy4::{self, Command, Request, RequestId, Selection};
/// use queryport::{Protocol, Requester, Secret, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let requester =
///     Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// let ask = |command| {
///     let request = Request::new(RequestId([1, 2, 3, 4]), command);
///     gamespy4::respond(
///         &request,
///         &ServerStatus::default(),
///         &Protocol::GameSpy4.into(),
///         &requester,
///     )
/// };
/// let reply = ask(Command::Challenge).into_iter().next().unwrap();
/// let token: i32 = std::str::from_utf8(&reply[5..reply.len() - 1])?.parse()?;
/// let data = |challenge| {
///     ask(Command::Data { challenge: Some(challenge), selection: Selection::ALL })
/// };
/// assert!(
///     data(token)
///         .into_iter()
///         .next()
///         .unwrap()
///         .starts_with(b"\0\x01\x02\x03\x04splitnum\0")
/// );
/// assert!(data(token ^ 1).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn respond(
    request: &Request<'_>,
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
    request: &Request<'_>,
    context: &mut Context<'_, ReplyKind>,
) -> Option<TemplateReply> {
    let Context {
        service, requester, ..
    } = *context;
    let served = Served::of(service.engine);
    let id = Patch::new(|out| out.put_slice(&request.id.0));
    match request.command {
        Command::Challenge if served.challenge == Challenge::Unknown => None,
        Command::Challenge => {
            let number = requester
                .tokens
                .issue(requester.now, requester.address, PURPOSE);
            let template = context.template(ReplyKind::Challenge, |_, template| {
                put_head(CHALLENGE, template);
                template.bytes.push(0);
            });
            let id_and_token = Patch::new(|out| {
                out.put_slice(&request.id.0);
                number::put(token(number), out);
            });
            TemplateReply::new(template, id_and_token)
        }
        Command::Data {
            challenge,
            selection,
        } => {
            let is_answered = match challenge {
                None => served.challenge != Challenge::Demanded && !selection.0.is_empty(),
                Some(quoted) => {
                    let mut valid =
                        requester
                            .tokens
                            .valid(requester.now, requester.address, PURPOSE);
                    served.challenge != Challenge::Unknown
                        && valid.any(|number| token(number) == i64::from(quoted))
                }
            };
            is_answered.then(|| data(selection, id, context))?
        }
    }
}

/// The reply to a data request.
fn data(
    selection: Selection<'_>,
    id: Patch,
    context: &mut Context<'_, ReplyKind>,
) -> Option<TemplateReply> {
    let Context {
        status, service, ..
    } = *context;
    let served = Served::of(service.engine);
    let is_minecraft = served.layout == Layout::Minecraft;
    if selection.0.is_empty() || (is_minecraft && selection.0.len() != FULL) {
        let template = context.template(ReplyKind::Basic, |_, template| basic(status, template));
        return TemplateReply::new(template, id);
    }
    let keys = selection.keys().filter(|_| !is_minecraft);
    let allows_several = served.layout == Layout::Sections && keys.is_some_and(|keys| keys.split);
    if is_minecraft || allows_several {
        let template = context.template(ReplyKind::Full, |_, template| {
            full(status, service, template);
        });
        return TemplateReply::new(template, id);
    }
    let keys = keys?;
    // Lists by name are few.
    let kind = match *selection.0 {
        [
            server @ (0 | 0xFF),
            players @ (0 | 0xFF),
            teams @ (0 | 0xFF),
            ..,
        ] => Some(ReplyKind::Sections {
            server: server != 0,
            players: players != 0,
            teams: teams != 0,
        }),
        _ => (selection.0 == QSTAT).then_some(ReplyKind::Qstat),
    };
    let template = context.template(kind, |context, template| {
        // Encode the content once for all requested ids.
        let content = context.template(ReplyKind::Content, |_, content| {
            put_fitting_content(status, service, content);
        });
        Content::new(&content.template, is_minecraft).encode_legacy(
            &keys,
            service.max_reply,
            template,
        );
    });
    TemplateReply::new(template, id)
}

/// Reads a request as a server of this engine does. Where data needs no challenge, a selection can
/// follow the id at once. Nothing on the wire distinguishes the two forms. If lists of keys follow
/// the four bytes, these are a challenge.
pub(crate) fn parse(datagram: &[u8], engine: Engine) -> Result<Request<'_>, ParseError> {
    let challenge = Served::of(engine).challenge;
    if challenge == Challenge::Demanded {
        return Request::parse(datagram);
    }
    let request = Request::parse_without_challenge(datagram)?;
    let Command::Data { selection, .. } = request.command else {
        return Ok(request);
    };
    let after_four = selection.0.get(4..).unwrap_or_default();
    let is_challenged = Selection(after_four).keys().is_some();
    if challenge == Challenge::Unknown || selection.keys().is_some() && !is_challenged {
        return Ok(request);
    }
    Request::parse(datagram)
}

/// As many players as fit, then as many rules: a rule never displaces a player. Where even the
/// required keys do not fit, their values are shortened.
fn full(status: &ServerStatus, service: &Service, template: &mut Template) {
    let served = Served::of(service.engine);
    let is_minecraft = served.layout == Layout::Minecraft;
    let max_bytes = if is_minecraft {
        service.max_reply.min(MAX_UDP_PAYLOAD)
    } else {
        service.max_reply
    };
    for max_value in value_lengths() {
        let mut written = Template::default();
        put_content(status, &served, max_value, &mut written);
        let content = Content::new(&written, is_minecraft);
        if let Some(reply) = fitting(&content, max_bytes) {
            *template = reply;
            return;
        }
    }
}

/// Writes content whose required keys fit into one datagram, if shorter values achieve that.
fn put_fitting_content(status: &ServerStatus, service: &Service, content: &mut Template) {
    let served = Served::of(service.engine);
    let room = service.max_reply.min(MAX_DATAGRAM);
    for max_value in value_lengths() {
        *content = Template::default();
        put_content(status, &served, max_value, content);
        let is_minecraft = served.layout == Layout::Minecraft;
        if Content::new(content, is_minecraft).required_length() < room {
            return;
        }
    }
}

/// Bounds on the values of required keys, from the longest to one byte.
fn value_lengths() -> impl Iterator<Item = usize> {
    let shorter = std::iter::successors(Some(MAX_VALUE), |length| length.checked_div(2));
    shorter.take_while(|&length| length > 0)
}

/// The largest reply that fits.
fn fitting(content: &Content<'_>, max_bytes: usize) -> Option<Template> {
    let encode = |portion| {
        let mut template = Template::default();
        content.encode(portion, &mut template);
        let ids = template.len().saturating_mul(4);
        let length = template.bytes.len().saturating_add(ids);
        let fits = template.len() <= MAX_DATAGRAMS && length <= max_bytes;
        fits.then_some(template)
    };
    let whole = content.whole();
    if let Some(reply) = encode(whole) {
        return Some(reply);
    }
    let portion = |players, rule_bytes| Portion {
        players,
        rule_bytes,
    };
    let players = highest(whole.players, |players| {
        encode(portion(players, 0)).is_some()
    });
    let rule_bytes = highest(whole.rule_bytes.min(max_bytes), |rule_bytes| {
        encode(portion(players, rule_bytes)).is_some()
    });
    encode(portion(players, rule_bytes))
}

/// The highest number up to `bound` that fits, or 0. Every number below one that fits must fit too.
fn highest(bound: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, bound);
    while low < high {
        let middle = high.saturating_sub(high.saturating_sub(low) / 2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle.saturating_sub(1);
        }
    }
    low
}

/// The token as a number from 1 to 2,147,483,647. 0 would mean that no token is demanded, and some
/// tools misread a sign.
fn token(number: u64) -> i64 {
    (number.cast_signed() & 0x7FFF_FFFF).max(1)
}
