//! `connect`: a place on the server.
//!
//! ```text
//!  client                                                     server
//!    │ getchallenge 12345 Quake3Arena                            │
//!    │ ────────────────────────────────────────────────────────► │
//!    │ challengeResponse -1532010236 12345 71                    │
//!    │ ◄──────────────────────────────────────────────────────── │
//!    │ connect "\challenge\-1532010236\qport\4711\protocol\71…"  │  from the blank on: Huffman
//!    │ ────────────────────────────────────────────────────────► │
//!    │ connectResponse -1532010236   │   print 0A reason         │
//!    │ ◄──────────────────────────────────────────────────────── │
//! ```

use bytes::{BufMut, Bytes};

use super::challenge::{Challenge, ChallengeQuery};
use super::huffman;
use super::infostring::{InfoStringBuilder, MAX_INFO_STRING};
use super::refusal::Refusal;
use super::reply::{ChallengeForm, Reply};
use super::request::{Command, Request};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};

/// The command word, which servers find by its place before they look at anything else.
const WORD: &[u8] = b"connect";
/// Longest packet that servers read, in bytes (Quake3e).
const MAX_PACKET: usize = 2048;

/// What stands after the word `connect`.
///
/// ```
/// use queryport::quake3::{Command, ConnectRequest, Request};
///
/// let mut packed = Vec::new();
/// ConnectRequest::pack(br"\challenge\1\qport\2\protocol\68", &mut packed)?;
/// let mut datagram = Vec::new();
/// Request::new(Command::Connect(ConnectRequest::Compressed(&packed))).encode(&mut datagram)?;
/// assert_eq!(datagram.len(), 50);
///
/// let Command::Connect(connect) = Request::parse(&datagram)?.command else { panic!() };
/// assert_eq!(&connect.userinfo()?[..], br"\challenge\1\qport\2\protocol\68");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectRequest<'a> {
    /// After one blank, in the coding of [`huffman`]: the quoted userinfo (Quake 3 and its family).
    Compressed(&'a [u8]),
    /// At once, as it is: the userinfo without quotes (DarkPlaces).
    Plain(&'a [u8]),
}

impl<'a> ConnectRequest<'a> {
    /// Reads what follows mark and direction byte; `None` when it is another command.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let rest = text.strip_prefix(WORD)?;
        match rest.first() {
            Some(b' ') => Some(Self::Compressed(rest.get(1..).unwrap_or_default())),
            Some(b'\\') => Some(Self::Plain(rest)),
            _ => None,
        }
    }

    /// Appends a userinfo as it goes into [`ConnectRequest::Compressed`].
    ///
    /// # Errors
    /// [`EncodeError::Forbidden`] for a quote, NUL or line feed, [`EncodeError::TooLong`] when the packet would be
    /// longer than servers read (2,048 bytes). Nothing is written then.
    pub fn pack(userinfo: &[u8], out: &mut impl BufMut) -> Result<(), EncodeError> {
        let field = "userinfo";
        if let Some(&byte) = userinfo.iter().find(|&&byte| matches!(byte, b'"' | 0 | b'\n')) {
            return Err(EncodeError::Forbidden { field, byte });
        }
        let too_long = EncodeError::TooLong { field, limit: MAX_PACKET };
        if userinfo.len() > MAX_PACKET {
            return Err(too_long);
        }
        let mut packed = Vec::new();
        huffman::compress(&[b"\"", userinfo, b"\""].concat(), &mut packed)?;
        if packed.len() > MAX_PACKET.saturating_sub(12) {
            return Err(too_long);
        }
        out.put_slice(&packed);
        Ok(())
    }

    /// The userinfo, without compression and quotes; see [`InfoString`](super::InfoString) for its pairs.
    ///
    /// # Errors
    /// When it is compressed and the coding is broken or says more than 16,384 bytes, the engines' own limit.
    /// Offsets count from the first byte after the command and its blank.
    pub fn userinfo(&self) -> Result<Bytes, ParseError> {
        const MAX_MESSAGE: usize = 16_384;
        match self {
            Self::Compressed(packed) => {
                let text = Bytes::from(huffman::decompress(packed, MAX_MESSAGE)?);
                // As the tokenizer reads one argument: from a quote to the next one.
                let argument = text.trim_ascii_start();
                let argument = match argument.strip_prefix(b"\"") {
                    Some(quoted) => quoted.split(|&byte| byte == b'"').next().unwrap_or_default(),
                    None => argument.split(|&byte| byte <= b' ').next().unwrap_or_default(),
                };
                Ok(crate::text::small_bytes::share(&text, argument))
            }
            Self::Plain(userinfo) => Ok(Bytes::copy_from_slice(userinfo)),
        }
    }

    pub(super) fn put(&self, out: &mut impl BufMut) {
        out.put_slice(WORD);
        match self {
            Self::Compressed(packed) => {
                out.put_u8(b' ');
                out.put_slice(packed);
            }
            Self::Plain(userinfo) => out.put_slice(userinfo),
        }
    }
}

/// Asks for a challenge, then for a place: `getchallenge`, then `connect`.
///
/// The server keeps a place for a client that it accepted until that client has been silent for some minutes:
/// leaving needs the in-game protocol, which is not part of this crate.
#[derive(Debug, Clone)]
pub struct ConnectQuery {
    ask: ChallengeQuery,
    challenge: Option<Challenge>,
    userinfo: InfoStringBuilder,
    protocol: Option<u32>,
    qport: u16,
}

impl ConnectQuery {
    /// `nonce`: a number the server cannot guess; the client's challenge and its `qport` are made from it.
    ///
    /// ```
    /// use queryport::quake3::ConnectQuery;
    ///
    /// let query = ConnectQuery::new(42).with("name", "UnnamedPlayer")?.with("rate", "25000")?;
    /// # Ok::<(), queryport::EncodeError>(())
    /// ```
    #[must_use]
    pub fn new(nonce: u64) -> Self {
        let [.., a, b] = nonce.to_le_bytes();
        Self {
            ask: ChallengeQuery::new(nonce),
            challenge: None,
            // Room for the three pairs that come last.
            userinfo: InfoStringBuilder::new(MAX_INFO_STRING.saturating_sub(100)),
            protocol: None,
            qport: u16::from_le_bytes([a, b]),
        }
    }

    /// Names the game in `getchallenge`; see [`ChallengeQuery::with_game`].
    #[must_use]
    pub fn with_game(mut self, game: &str) -> Self {
        self.ask = self.ask.with_game(game);
        self
    }

    /// Adds a pair to the userinfo: `name`, `rate`, `snaps`, `model`, `password`… The keys `challenge`, `qport` and
    /// `protocol` are the query's own.
    ///
    /// # Errors
    /// Those of [`InfoStringBuilder::push`].
    pub fn with(mut self, key: &str, value: &str) -> Result<Self, EncodeError> {
        self.userinfo.push(key.as_bytes(), value.as_bytes())?;
        Ok(self)
    }

    /// The protocol number to ask for. Without it, the one in the server's challenge reply, else 68.
    #[must_use]
    pub const fn with_protocol(mut self, protocol: u32) -> Self {
        self.protocol = Some(protocol);
        self
    }

    fn connect(&self, challenge: &Challenge, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let mut info = self.userinfo.clone().with_limit(MAX_INFO_STRING);
        let protocol = self.protocol.or_else(|| challenge.protocol()).unwrap_or(68).to_string();
        let darkplaces = challenge.form() == ChallengeForm::DarkPlaces;
        if darkplaces {
            info.push(b"protocol", b"darkplaces 3")?;
            info.push(b"protocols", b"DP7")?;
        } else {
            info.push(b"protocol", protocol.as_bytes())?;
            info.push(b"qport", self.qport.to_string().as_bytes())?;
        }
        info.push(b"challenge", challenge.text())?;
        let mut packed = Vec::new();
        let connect = if darkplaces {
            ConnectRequest::Plain(info.as_bytes())
        } else {
            ConnectRequest::pack(info.as_bytes(), &mut packed)?;
            ConnectRequest::Compressed(&packed)
        };
        Request::new(Command::Connect(connect)).encode(out)
    }
}

impl Conversation for ConnectQuery {
    type Answer = Result<Connected, Refusal>;

    fn request(&mut self, out: &mut Vec<u8>) {
        match &self.challenge {
            None => self.ask.request(out),
            Some(challenge) => {
                let written = self.connect(challenge, out);
                debug_assert!(written.is_ok(), "the pairs were checked when they came in");
            }
        }
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        let Some(challenge) = &self.challenge else {
            return match self.ask.accept(datagram) {
                Ok(Ok(challenge)) if usable(&challenge) => {
                    self.challenge = Some(challenge);
                    Verdict::Next
                }
                Ok(Ok(_)) => Verdict::Rejected(ParseError::new(ParseErrorKind::Malformed("challenge"), 4)),
                Ok(Err(refusal)) => Verdict::Done(Err(refusal)),
                Err(error) => Verdict::Rejected(error),
            };
        };
        match Reply::parse(datagram) {
            Ok(Reply::Connected(reply)) => match reply.challenge {
                // ioquake3 quotes the challenge: another one is somebody else's.
                Some(quoted) if !reply.darkplaces && quoted != challenge.text() => {
                    Verdict::Rejected(ParseError::new(ParseErrorKind::Mismatch("challenge"), 4))
                }
                quoted => Verdict::Done(Ok(Connected {
                    challenge: challenge.clone(),
                    qport: self.qport,
                    quoted: quoted.is_some(),
                })),
            },
            Ok(Reply::Print { text, .. } | Reply::Rejected { text }) => {
                Verdict::Done(Err(Refusal::new(Bytes::copy_from_slice(text))))
            }
            Ok(_) => Verdict::Rejected(ParseError::new(ParseErrorKind::Unexpected("connectResponse"), 4)),
            Err(error) => Verdict::Rejected(error),
        }
    }

    fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<Self::Answer> {
        OnTimeout::Retry
    }
}

/// A challenge goes into an infostring: what that cannot carry would change its meaning.
fn usable(challenge: &Challenge) -> bool {
    InfoStringBuilder::new(MAX_INFO_STRING).push(b"challenge", challenge.text()).is_ok()
        && challenge.text().len() <= super::request::MAX_CHALLENGE / 2
}

/// A place on a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    challenge: Challenge,
    qport: u16,
    quoted: bool,
}

impl Connected {
    /// The challenge it was got with.
    #[must_use]
    pub const fn challenge(&self) -> &Challenge {
        &self.challenge
    }

    /// The number that marks this client's in-game packets.
    #[must_use]
    pub const fn qport(&self) -> u16 {
        self.qport
    }

    /// Whether the reply quoted the challenge, as ioquake3's does.
    #[must_use]
    pub const fn quoted(&self) -> bool {
        self.quoted
    }
}
