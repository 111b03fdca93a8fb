//! The server's side, pure: a request, a status and the asker's tokens in, datagrams out.
//!
//! Nothing but a number goes to an address that has not proven that it gets its mail: the data request must quote
//! the token of its own address and port. Tokens are not stored; they follow from a secret.

use bytes::Bytes;

use super::encode;
use super::request::{Command, Request, RequestId};
use super::response::encode_challenge;
use super::selection::Selection;
use super::telling;
use crate::model::ServerStatus;
use crate::reply::{Replies, Requester};

/// A token as the wire spells it: 1–2,147,483,647. 0 would say that no token is demanded, and some tools misread a sign.
fn token(number: u64) -> i32 {
    let most = i32::MAX.unsigned_abs();
    let number = u32::try_from(number & u64::from(most)).unwrap_or(1);
    i32::try_from(number.max(1)).unwrap_or(1)
}

/// Tells this protocol's tokens from those of others that follow from the same secret.
const PURPOSE: u16 = 4;

/// Which server is spoken for: it decides the names of keys and fields, and the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// Unreal Tournament 3: map and game class stand under numbers.
    #[default]
    UnrealTournament3,
    /// Battlefield 2 and its relatives.
    Battlefield2,
    /// Minecraft: one datagram of any size, names and nothing else of players.
    Minecraft,
}

/// How a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Options {
    /// Which server is spoken for.
    pub dialect: Dialect,
    /// Most bytes of a full reply, all datagrams together. When there is more to say, the status's own rules are
    /// left out first, then the last players. The default, 11,200, is what eight datagrams hold: the engine sends
    /// no more.
    pub max_reply: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { dialect: Dialect::default(), max_reply: 11_200 }
    }
}

impl Options {
    /// The default options of a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, ..Self::default() }
    }
}

/// Answers a request, or stays silent: for a wrong token, and for selections other than everything (any four
/// bytes) and Minecraft's short answer (none).
///
/// ```
/// use std::time::Instant;
/// use queryport::gamespy4::{Command, Request, RequestId, Selection, server};
/// use queryport::{Requester, Secret, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let requester = Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// let ask = |command| {
///     let request = Request { id: RequestId::new([1, 2, 3, 4]), command };
///     server::answer(&request, &ServerStatus::default(), &server::Options::default(), &requester)
/// };
/// let reply = ask(Command::Challenge).into_iter().next().unwrap();
/// let token: i32 = std::str::from_utf8(&reply[5..reply.len() - 1])?.parse()?;
/// let data = |challenge| ask(Command::Data { challenge: Some(challenge), selection: Selection::ALL });
/// assert!(data(token).into_iter().next().unwrap().starts_with(b"\0\x01\x02\x03\x04splitnum\0"));
/// assert!(data(token ^ 1).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn answer(
    request: &Request<'_>,
    status: &ServerStatus,
    options: &Options,
    requester: &Requester,
) -> Replies {
    let Requester { address, now, tokens, .. } = *requester;
    let accept = |quoted| tokens.verify_for(now, address, PURPOSE, |valid| token(valid) == quoted);
    match request.command {
        Command::Challenge => {
            let mut reply = Vec::new();
            let challenge = token(tokens.issue_for(now, address, PURPOSE));
            encode_challenge(request.id, challenge.to_string().as_bytes(), &mut reply);
            Bytes::from(reply).into()
        }
        Command::Data { challenge: Some(challenge), selection } if accept(challenge) => {
            match selection.bytes().len() {
                0 => telling::basic(request.id, status).into(),
                FULL => full(request.id, status, options).into(),
                _ => Replies::NONE,
            }
        }
        Command::Data { .. } => Replies::NONE,
    }
}

/// Length of a selection of everything. Minecraft's servers look at nothing else, and others send no flag.
const FULL: usize = Selection::ALL.bytes().len();

fn full(id: RequestId, status: &ServerStatus, options: &Options) -> Vec<Bytes> {
    let mut content = telling::content(status, options.dialect);
    let write = |content: &encode::Content| match options.dialect {
        Dialect::Minecraft => vec![encode::minecraft(id, content)],
        _ => encode::split(id, content),
    };
    let fits = |datagrams: &[Bytes]| {
        let bytes = datagrams.iter().map(Bytes::len).fold(0_usize, usize::saturating_add);
        bytes <= options.max_reply
    };
    let mut datagrams = write(&content);
    if !fits(&datagrams) {
        content.pairs.truncate(content.named);
        datagrams = write(&content);
    }
    while !fits(&datagrams) && content.drop_rows() {
        datagrams = write(&content);
    }
    if fits(&datagrams) { datagrams } else { Vec::new() }
}
