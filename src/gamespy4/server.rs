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

use super::from_status::{MAX_VALUE, basic, write_content};
use super::served::{Challenge, Layout, Served};
use super::wire::request::{CHALLENGE, Command, Request, RequestId, Selection};
use super::wire::response::{MAX_DATAGRAM, MAX_DATAGRAMS};
use super::writer::{Content, Portion, put_head};
use crate::error::ParseError;
use crate::model::ServerStatus;
use crate::options::Engine;
use crate::reply::{Context, Encoded, Patch, Requester, Template, TemplateReply, datagrams};
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
    /// Whole lists in one datagram.
    Lists {
        server: bool,
        players: bool,
        teams: bool,
    },
    /// The lists that qstat requests, by the ids of their keys.
    ListsOfQstat,
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
/// These rules are left out:
///
/// - a rule that contradicts the mutators of the status, or a field that is false there;
/// - a rule that is the mark of another engine, because clients would read all keys as those of
///   that engine. Examples are `game_id` with `MINECRAFT`, and numbered keys of Unreal Tournament
///   3.
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
    let id = Patch::new(|out| out.put_slice(&request.id.0));
    match request.command {
        Command::Challenge => challenge_reply(request.id, context),
        Command::Data {
            challenge,
            selection,
        } if may_have_data(challenge, selection, context) => data_reply(selection, id, context),
        Command::Data { .. } => None,
    }
}

/// The reply to a request for a challenge, if the engine uses challenges.
fn challenge_reply(id: RequestId, context: &mut Context<'_, ReplyKind>) -> Option<TemplateReply> {
    if Served::of(context.service.engine).challenge == Challenge::Unknown {
        return None;
    }
    let requester = context.requester;
    let number = requester
        .tokens
        .issue(requester.now, requester.address, PURPOSE);
    let template = context.template(ReplyKind::Challenge, |_, template| {
        put_head(CHALLENGE, template);
        template.bytes.push(0);
    });
    let id_and_token = Patch::new(|out| {
        out.put_slice(&id.0);
        number::put(token(number), out);
    });
    TemplateReply::new(template, id_and_token)
}

/// Whether a client may have data: it quotes a valid token, or the engine demands none.
fn may_have_data(
    quoted: Option<i32>,
    selection: Selection<'_>,
    context: &Context<'_, ReplyKind>,
) -> bool {
    let challenge = Served::of(context.service.engine).challenge;
    let Some(quoted) = quoted else {
        return challenge != Challenge::Demanded && !selection.0.is_empty();
    };
    if challenge == Challenge::Unknown {
        return false;
    }
    let requester = context.requester;
    let mut valid = requester
        .tokens
        .valid(requester.now, requester.address, PURPOSE);
    valid.any(|number| token(number) == i64::from(quoted))
}

/// The reply to a data request.
fn data_reply(
    selection: Selection<'_>,
    id: Patch,
    context: &mut Context<'_, ReplyKind>,
) -> Option<TemplateReply> {
    let layout = Served::of(context.service.engine).layout;
    let is_minecraft = layout == Layout::Minecraft;
    if selection.0.is_empty() || (is_minecraft && selection.0.len() != FULL) {
        let template = context.template(ReplyKind::Basic, |context, template| {
            basic(context.status, template);
        });
        return TemplateReply::new(template, id);
    }
    if is_minecraft {
        return full_reply(id, context);
    }
    let keys = selection.keys()?;
    if layout == Layout::Sections && keys.split {
        return full_reply(id, context);
    }
    let template = context.template(kind_of_lists(selection), |context, template| {
        let encoded = content_for_lists(context);
        let content = Content::new(&encoded.template, layout);
        content.encode_legacy(&keys, context.service.max_reply, template);
    });
    TemplateReply::new(template, id)
}

/// The reply with everything.
fn full_reply(id: Patch, context: &mut Context<'_, ReplyKind>) -> Option<TemplateReply> {
    let template = context.template(ReplyKind::Full, |context, template| {
        put_full(context.status, context.service, template);
    });
    TemplateReply::new(template, id)
}

/// The kind of a reply with lists. Only lists that many clients request have one.
fn kind_of_lists(selection: Selection<'_>) -> Option<ReplyKind> {
    match *selection.0 {
        [
            server @ (0 | 0xFF),
            players @ (0 | 0xFF),
            teams @ (0 | 0xFF),
            ..,
        ] => Some(ReplyKind::Lists {
            server: server != 0,
            players: players != 0,
            teams: teams != 0,
        }),
        _ => (selection.0 == QSTAT).then_some(ReplyKind::ListsOfQstat),
    }
}

/// The content for lists, which is encoded once for all ids that are requested.
fn content_for_lists(context: &mut Context<'_, ReplyKind>) -> Encoded {
    context.template(ReplyKind::Content, |context, template| {
        *template = content_for_one_datagram(context.status, context.service);
    })
}

/// Reads a request as a server of this engine does.
pub(crate) fn parse(datagram: &[u8], engine: Engine) -> Result<Request<'_>, ParseError> {
    match Served::of(engine).challenge {
        Challenge::Demanded => Request::parse(datagram),
        Challenge::Unknown => Request::parse_without_challenge(datagram),
        Challenge::Optional => parse_either_form(datagram),
    }
}

/// Reads a request with or without a challenge. Nothing on the wire distinguishes the two forms, so
/// the form is that in which lists of keys can be read. If they can be read in both or in none, the
/// request has a challenge.
fn parse_either_form(datagram: &[u8]) -> Result<Request<'_>, ParseError> {
    let unchallenged = Request::parse_without_challenge(datagram)?;
    let Command::Data { selection, .. } = unchallenged.command else {
        return Ok(unchallenged);
    };
    let has_lists = selection.keys().is_some();
    let after_challenge = selection.0.get(4..).unwrap_or_default();
    let has_lists_after_challenge = Selection(after_challenge).keys().is_some();
    if has_lists && !has_lists_after_challenge {
        return Ok(unchallenged);
    }
    Request::parse(datagram)
}

/// Writes as many players as fit, then as many rules: a rule never displaces a player. Where even
/// the required keys do not fit, their values are shortened. Where empty lists do not fit either,
/// the first keys are written alone.
fn put_full(status: &ServerStatus, service: &Service, template: &mut Template) {
    let served = Served::of(service.engine);
    let max_bytes = match served.layout {
        Layout::Minecraft => service.max_reply.min(MAX_UDP_PAYLOAD),
        Layout::Sections | Layout::OneDatagram => service.max_reply,
    };
    let with_longer_values = LONGER_VALUES.into_iter().find_map(|max_value| {
        let written = write_content(status, &served, max_value);
        largest_fitting(&Content::new(&written, served.layout), max_bytes)
    });
    let reply = with_longer_values.or_else(|| {
        let written = write_content(status, &served, MIN_VALUE_LENGTH);
        let shortest = Content::new(&written, served.layout);
        largest_fitting(&shortest, max_bytes)
            .or_else(|| largest_without_lists(&shortest, max_bytes))
    });
    *template = reply.unwrap_or_default();
}

/// The reply with as many of the first keys as fit, without lists.
fn largest_without_lists(content: &Content<'_>, max_bytes: usize) -> Option<Template> {
    let reply_with = |keys| largest_fitting(&content.first_keys(keys), max_bytes);
    let keys = highest(content.key_count(), |keys| reply_with(keys).is_some());
    reply_with(keys)
}

/// Content whose required keys fit into one datagram, if shorter values achieve that.
fn content_for_one_datagram(status: &ServerStatus, service: &Service) -> Template {
    let served = Served::of(service.engine);
    let room = service.max_reply.min(MAX_DATAGRAM);
    for max_value in LONGER_VALUES {
        let written = write_content(status, &served, max_value);
        if Content::new(&written, served.layout).required_length() < room {
            return written;
        }
    }
    write_content(status, &served, MIN_VALUE_LENGTH)
}

/// The maximum lengths of the values of required keys, in bytes, in the order in which they are
/// tried before [`MIN_VALUE_LENGTH`].
const LONGER_VALUES: [usize; 5] = [MAX_VALUE, 600, 300, 150, 75];
/// No number is longer.
const MIN_VALUE_LENGTH: usize = 32;

/// The largest reply that fits.
fn largest_fitting(content: &Content<'_>, max_bytes: usize) -> Option<Template> {
    let encode = |portion| {
        let mut template = Template::default();
        content.encode(portion, &mut template);
        // Each datagram quotes the id of its request, which the template lacks.
        let ids = template.len().saturating_mul(4);
        let length = template.bytes.len().saturating_add(ids);
        let fits = template.len() <= MAX_DATAGRAMS && length <= max_bytes;
        fits.then_some(template)
    };
    let whole = content.whole();
    if let Some(reply) = encode(whole) {
        return Some(reply);
    }
    let mut portion = Portion {
        players: 0,
        rule_bytes: 0,
    };
    portion.players = highest(whole.players, |players| {
        encode(Portion { players, ..portion }).is_some()
    });
    portion.rule_bytes = highest(whole.rule_bytes.min(max_bytes), |rule_bytes| {
        encode(Portion {
            rule_bytes,
            ..portion
        })
        .is_some()
    });
    encode(portion)
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
