//! The server's side, pure: a request, a status and the asker's tokens in, datagrams out.
//!
//! Nothing but a number goes to an address that has not proven that it gets its mail: the data request must quote
//! the token of its own address and port. Tokens are not stored; they follow from a secret.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;

use super::encode;
use super::request::{Command, Request, RequestId};
use super::response::encode_challenge;
use super::selection::Selection;
use super::telling;
use crate::model::ServerStatus;
use crate::secret::Secret;

/// The tokens of one asker: of the current window of time, and of the one before.
///
/// ```
/// use queryport::gamespy4::server::Tokens;
/// use queryport::secret::Secret;
///
/// let (secret, asker) = (Secret::new([7; 16]), "192.0.2.1:5000".parse().unwrap());
/// let token = Tokens::new(&secret, asker, 10).current();
/// assert!(Tokens::new(&secret, asker, 11).accept(token));
/// assert!(!Tokens::new(&secret, asker, 12).accept(token), "too old");
/// assert!(!Tokens::new(&secret, "192.0.2.1:5001".parse().unwrap(), 10).accept(token), "another port");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    current: i32,
    previous: i32,
}

/// The usual length of a window: a token is good for at least this long, and for at most twice as long.
pub const WINDOW: Duration = Duration::from_secs(15);

impl Tokens {
    /// The tokens of this address and port in a window of time; windows are counted from any start.
    #[must_use]
    pub fn new(secret: &Secret, asker: SocketAddr, window: u64) -> Self {
        let token = |window| token(secret.number("gamespy4 token", asker, window));
        Self { current: token(window), previous: token(window.wrapping_sub(1)) }
    }

    /// What a challenge request is answered with: 1–2,147,483,647. 0 would say that no token is demanded, and some
    /// tools misread a sign.
    #[must_use]
    pub const fn current(self) -> i32 {
        self.current
    }

    /// Whether a data request that quotes this may be answered.
    #[must_use]
    pub const fn accept(self, token: i32) -> bool {
        token == self.current || token == self.previous
    }
}

fn token(number: u64) -> i32 {
    let most = i32::MAX.unsigned_abs();
    let number = u32::try_from(number & u64::from(most)).unwrap_or(1);
    i32::try_from(number.max(1)).unwrap_or(1)
}

/// Which server is spoken for: it decides the names of keys and fields, and the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Flavour {
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
    pub flavour: Flavour,
    /// Most bytes of a full reply, all datagrams together. When there is more to say, the status's own rules are
    /// left out first, then the last players. The default, 11,200, is what eight datagrams hold: the engine sends
    /// no more.
    pub max_reply: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { flavour: Flavour::default(), max_reply: 11_200 }
    }
}

impl Options {
    /// The default options of a flavour.
    #[must_use]
    pub fn new(flavour: Flavour) -> Self {
        Self { flavour, ..Self::default() }
    }
}

/// Answers a request, or stays silent: for a wrong token, and for selections other than everything (any four
/// bytes) and Minecraft's short answer (none).
///
/// ```
/// use queryport::gamespy4::server::{self, Options, Tokens};
/// use queryport::gamespy4::{Command, Request, RequestId, Selection};
/// use queryport::model::ServerStatus;
/// use queryport::secret::Secret;
///
/// let tokens = Tokens::new(&Secret::new([7; 16]), "192.0.2.1:5000".parse().unwrap(), 0);
/// let ask = |command| {
///     let request = Request { id: RequestId::new([1, 2, 3, 4]), command };
///     server::answer(&request, &ServerStatus::default(), tokens, &Options::default())
/// };
/// assert_eq!(ask(Command::Challenge)[0], format!("\t\x01\x02\x03\x04{}\0", tokens.current()));
/// let data = |challenge| ask(Command::Data { challenge: Some(challenge), selection: Selection::ALL });
/// assert!(data(tokens.current())[0].starts_with(b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0"));
/// assert!(data(tokens.current() ^ 1).is_empty());
/// ```
#[must_use]
pub fn answer(request: &Request<'_>, status: &ServerStatus, tokens: Tokens, options: &Options) -> Vec<Bytes> {
    match request.command {
        Command::Challenge => {
            let mut reply = Vec::new();
            encode_challenge(request.id, tokens.current().to_string().as_bytes(), &mut reply);
            vec![reply.into()]
        }
        Command::Data { challenge: Some(challenge), selection } if tokens.accept(challenge) => {
            match selection.bytes().len() {
                0 => vec![telling::basic(request.id, status)],
                FULL => full(request.id, status, options),
                _ => Vec::new(),
            }
        }
        Command::Data { .. } => Vec::new(),
    }
}

/// Length of a selection of everything. Minecraft's servers look at nothing else, and others send no flag.
const FULL: usize = Selection::ALL.bytes().len();

fn full(id: RequestId, status: &ServerStatus, options: &Options) -> Vec<Bytes> {
    let mut content = telling::content(status, options.flavour);
    let write = |content: &encode::Content| match options.flavour {
        Flavour::Minecraft => vec![encode::minecraft(id, content)],
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
