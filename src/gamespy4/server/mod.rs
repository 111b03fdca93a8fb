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

use self::from_status::{MAX_VALUE, basic, content};
use self::selection::{KeyList, Keys};
use self::writer::{Content, Portion};
use super::wire::request::{CHALLENGE, Command, Request, RequestId, Selection};
use super::wire::response::{MAX_DATAGRAM, MAX_DATAGRAMS};
use crate::error::ParseError;
use crate::model::ServerStatus;
use crate::reply::{Datagrams, Echo, EncodedReply, Requester, Stored};
use crate::service::{Format, Service};
use crate::text::number;

mod from_status;
mod selection;
mod writer;

/// Separates this protocol's tokens from those of others that derive from the same secret.
const PURPOSE: u16 = 4;

/// Length of a selection of everything. Minecraft's own server looks at nothing else, and answers
/// every other length with its basic reply (Krypton, which derives from it: `GS4QueryHandler`).
const FULL: usize = Selection::ALL.0.len();

/// The maximum size of a datagram over IPv4, in bytes.
const MAX_UDP_PAYLOAD: usize = 65_507;

/// Answers a challenge request, and a data request that quotes a valid token:
///
/// | selection | reply |
/// |---|---|
/// | [`Format::Minecraft`]: four bytes | everything, in one datagram |
/// | [`Format::Minecraft`]: any other number of bytes | Minecraft's basic reply |
/// | three lists with flag 01 | everything, in as many datagrams as it needs |
/// | three lists without it | the keys of the lists, by name or by id, in one datagram of fewer than 1,400 bytes |
///
/// Other requests get no reply.
///
/// The fields of the status come first, under these keys:
///
/// | format | keys |
/// |---|---|
/// | [`Format::GameSpy4`] | `hostname`, `gamename`, `gamever`, `mapname`, `gametype`, `modname`, `numplayers`, `maxplayers`, `gamemode`, `password`, `hostport`, `dedicated`, `anticheat`, `fraglimit` |
/// | [`Format::GameSpy2`] | the same, with `punkbuster` for `anticheat` |
/// | [`Format::UnrealTournament3`] | its settings and properties, see [`ut3`](super::ut3) |
/// | [`Format::Minecraft`] | `hostname`, `gametype`, `game_id`, `version`, `plugins`, `map`, `numplayers`, `maxplayers`, `hostport`, `hostip` |
///
/// The rules follow as they are, except those with one of these keys. Fields without a key are not
/// sent. A rule that marks another engine, such as `bf2_ranked`, makes clients read all keys as
/// those of that engine. A player without a score, ping or team is sent with 0, because a table has
/// no empty values.
///
/// [`Format::GameSpy2`] answers only requests without a challenge, always with one datagram. Read
/// them with [`Request::parse_without_challenge`]. Its replies go to addresses that have not proved
/// that they can receive.
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
    let reply = match Asked::by(request, service.format, requester) {
        Some(Asked::Challenge) => Some(challenge(request.id, requester)),
        Some(Asked::Data(kind)) => {
            EncodedReply::encoded(kind.encode(status, service), echo(request.id))
        }
        None => None,
    };
    reply.map(EncodedReply::into_datagrams).unwrap_or_default()
}

/// Reads a request as a server of this format does.
pub(crate) fn parse(datagram: &[u8], format: Format) -> Result<Request<'_>, ParseError> {
    match format {
        Format::GameSpy2 => Request::parse_without_challenge(datagram),
        _ => Request::parse(datagram),
    }
}

/// The reply that a request gets.
enum Asked<'a> {
    Challenge,
    Data(ReplyKind<'a>),
}

/// The kind of a reply with data. Replies of the same kind differ in the id of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyKind<'a> {
    /// Minecraft's short reply.
    Basic,
    Full,
    /// Lists of keys in one datagram.
    Lists(Keys<'a>),
}

/// All keys of the three lists, in one datagram.
const ALL_LISTS: ReplyKind<'static> = ReplyKind::Lists(Keys {
    server: KeyList::All,
    players: KeyList::All,
    teams: KeyList::All,
});

impl<'a> Asked<'a> {
    fn by(request: &Request<'a>, format: Format, requester: &Requester) -> Option<Self> {
        match request.command {
            Command::Challenge if format == Format::GameSpy2 => None,
            Command::Challenge => Some(Self::Challenge),
            Command::Data {
                challenge,
                selection,
            } => {
                if !may_have_data(challenge, format, requester) {
                    return None;
                }
                ReplyKind::of_selection(selection, format).map(Self::Data)
            }
        }
    }
}

impl<'a> ReplyKind<'a> {
    fn of_selection(selection: Selection<'a>, format: Format) -> Option<Self> {
        if format == Format::Minecraft {
            let is_full = selection.0.len() == FULL;
            return Some(if is_full { Self::Full } else { Self::Basic });
        }
        let (keys, may_split) = selection.keys()?;
        if may_split && format != Format::GameSpy2 {
            return Some(Self::Full);
        }
        Some(Self::Lists(keys))
    }

    /// Encodes the reply.
    fn encode(self, status: &ServerStatus, service: &Service) -> Datagrams {
        match self {
            Self::Basic => basic(status),
            Self::Full => full(status, service),
            Self::Lists(keys) => {
                let content = content_for_one_datagram(status, service);
                content.encode_legacy(&keys, max_reply(service))
            }
        }
    }
}

/// The id of the request.
fn echo(id: RequestId) -> Echo {
    Echo::new(|out| out.put_slice(&id.0))
}

/// The reply to a request for a challenge.
fn challenge(id: RequestId, requester: &Requester) -> EncodedReply {
    let tokens = requester.tokens;
    let number = tokens.issue(requester.now, requester.address, PURPOSE);
    EncodedReply::short(Echo::new(|out| {
        out.put_u8(CHALLENGE);
        out.put_slice(&id.0);
        number::put(token(number), out);
        out.put_u8(0);
    }))
}

/// Whether a client may have data: it quotes a valid token, or the format has none.
fn may_have_data(quoted: Option<i32>, format: Format, requester: &Requester) -> bool {
    if format == Format::GameSpy2 {
        return quoted.is_none();
    }
    let tokens = requester.tokens;
    let mut valid = tokens.valid(requester.now, requester.address, PURPOSE);
    quoted.is_some_and(|quoted| valid.any(|number| token(number) == i64::from(quoted)))
}

/// The replies of one status.
#[derive(Debug, Clone)]
pub(crate) struct Replies {
    stored: Stored<ReplyKind<'static>>,
    /// The content for other lists of keys, which are encoded for each request.
    content: Content,
}

impl Replies {
    pub(crate) fn new(status: &ServerStatus, service: &Service) -> Self {
        let kinds: &[ReplyKind<'_>] = match service.format {
            Format::Minecraft => &[ReplyKind::Basic, ReplyKind::Full],
            Format::GameSpy2 => &[ALL_LISTS],
            _ => &[ReplyKind::Full, ALL_LISTS],
        };
        Self {
            stored: Stored::new(kinds, |kind| kind.encode(status, service)),
            content: content_for_one_datagram(status, service),
        }
    }

    /// The reply to a request, if it gets one.
    pub(crate) fn reply<'a>(
        &'a self,
        request: &Request<'a>,
        service: &Service,
        requester: &Requester,
    ) -> Option<EncodedReply> {
        let kind = match Asked::by(request, service.format, requester)? {
            Asked::Challenge => return Some(challenge(request.id, requester)),
            Asked::Data(kind) => kind,
        };
        let echo = echo(request.id);
        let stored: &Stored<ReplyKind<'a>> = &self.stored;
        match (stored.get(kind), kind) {
            (Some(datagrams), _) => EncodedReply::stored(datagrams, echo),
            (None, ReplyKind::Lists(keys)) => {
                let datagrams = self.content.encode_legacy(&keys, max_reply(service));
                EncodedReply::encoded(datagrams, echo)
            }
            (None, _) => None,
        }
    }
}

/// The reply with everything: as many players as fit, then as many rules, so a rule never displaces
/// a player. Where even the required keys do not fit, their values are shortened.
fn full(status: &ServerStatus, service: &Service) -> Datagrams {
    let format = service.format;
    let max_bytes = match format {
        Format::Minecraft => max_reply(service).min(MAX_UDP_PAYLOAD),
        _ => max_reply(service),
    };
    // The shortest content fits into the shortest reply.
    let reply = contents(status, format).find_map(|content| largest_fitting(&content, max_bytes));
    reply.unwrap_or_default()
}

/// The maximum size of a reply, in bytes.
fn max_reply(service: &Service) -> usize {
    /// Enough for all required keys with their shortest values, and empty lists.
    const MIN_REPLY: usize = 1024;
    service.max_reply.max(MIN_REPLY)
}

/// Content whose required keys fit into one datagram.
fn content_for_one_datagram(status: &ServerStatus, service: &Service) -> Content {
    let room = max_reply(service).min(MAX_DATAGRAM);
    let mut contents = contents(status, service.format);
    let fitting = contents.find(|content| content.required_length() < room);
    // The shortest content fits into the shortest reply.
    fitting.unwrap_or_default()
}

/// The content of a reply, with ever shorter values of the required keys.
fn contents(status: &ServerStatus, format: Format) -> impl Iterator<Item = Content> {
    let lengths = [MAX_VALUE, 600, 300, 150, 75].into_iter();
    lengths.map(move |max_value| content(status, format, max_value))
}

/// The largest reply that fits.
fn largest_fitting(content: &Content, max_bytes: usize) -> Option<Datagrams> {
    let encode = |portion| {
        let datagrams = content.encode(portion);
        // Each datagram quotes the id of its request, which the datagrams lacks.
        let ids = datagrams.len().saturating_mul(4);
        let length = datagrams.bytes.len().saturating_add(ids);
        let fits = datagrams.len() <= MAX_DATAGRAMS && length <= max_bytes;
        fits.then_some(datagrams)
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
    portion.rule_bytes = highest(whole.rule_bytes, |rule_bytes| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_a_positive_number_of_31_bits() {
        let greatest = i64::from(i32::MAX);
        for (number, expected) in [(0, 1), (1, 1), (1 << 31, 1), (u64::MAX, greatest)] {
            assert_eq!(token(number), expected);
        }
    }
}
