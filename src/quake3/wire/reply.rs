//! The short replies: challenges, acceptances, refusals and text.

use bytes::BufMut;

use super::mark::{self, MARK, TO_CLIENT};
use super::words::put_words;
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::text::number;

/// A short reply, viewed without copying.
///
/// ```
/// use queryport::quake3::Reply;
///
/// let Reply::Challenge(reply) = Reply::parse(b"\xff\xff\xff\xffchallengeResponse -1532010236 12345 71")? else {
///     panic!()
/// };
/// assert_eq!((reply.challenge, reply.client), (&b"-1532010236"[..], Some(&b"12345"[..])));
/// assert_eq!(reply.protocol_number(), Some(71));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// `challengeResponse …`, or `challenge …` on DarkPlaces and Warsow: the number to quote in `connect`.
    Challenge(ChallengeReply<'a>),
    /// `connectResponse`, or DarkPlaces' `accept`: the server reserves a player slot for the client.
    Connected(ConnectReply<'a>),
    /// DarkPlaces' and Warsow's `reject`: the server refuses a `connect`.
    Rejected {
        /// Why, in the server's words.
        text: &'a [u8],
    },
    /// Text for the client's console: the output of `rcon`, and the reason why `connect` or `getchallenge` was refused.
    Print {
        /// The text; it may begin and end in the middle of a line.
        text: &'a [u8],
        /// How it is framed.
        form: PrintForm,
    },
    /// The server received in-game packets of a client that it does not know.
    Disconnect,
    /// The answer to `ping` of DarkPlaces, Warsow and Unvanquished.
    Ack {
        /// What follows the word, where something does.
        argument: &'a [u8],
    },
}

/// What a server answers to `getchallenge`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChallengeReply<'a> {
    /// Which of the two words it begins with.
    pub form: ChallengeForm,
    /// The server's challenge: decimal digits with a sign in Quake 3's family, eleven printable characters on
    /// DarkPlaces.
    pub challenge: &'a [u8],
    /// The client's own challenge, quoted (ioquake3; 0 where the client sent none).
    pub client: Option<&'a [u8]>,
    /// The server's protocol number (ioquake3).
    pub protocol: Option<&'a [u8]>,
    /// What follows a NUL: DarkPlaces' key exchange, or nothing. `None` without the NUL.
    pub extra: Option<&'a [u8]>,
}

/// The word of a [`ChallengeReply`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChallengeForm {
    /// `challengeResponse`: Quake 3 and its family.
    Quake3,
    /// `challenge`: DarkPlaces, Warsow.
    DarkPlaces,
}

impl<'a> ChallengeReply<'a> {
    /// Quake 3's form with the challenge alone.
    #[must_use]
    pub const fn new(challenge: &'a [u8]) -> Self {
        Self { form: ChallengeForm::Quake3, challenge, client: None, protocol: None, extra: None }
    }

    /// The server's protocol number, where it is one.
    #[must_use]
    pub fn protocol_number(&self) -> Option<u32> {
        number::number(self.protocol?)
    }
}

/// What a server answers to a `connect` that it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ConnectReply<'a> {
    /// Whether the word is DarkPlaces' `accept`.
    pub darkplaces: bool,
    /// The challenge, quoted (ioquake3, Quake3e).
    pub challenge: Option<&'a [u8]>,
    /// The protocol spoken from here on (Quake3e).
    pub protocol: Option<&'a [u8]>,
}

impl<'a> ConnectReply<'a> {
    /// `connectResponse`, with the challenge where the server quotes it.
    #[must_use]
    pub const fn new(challenge: Option<&'a [u8]>) -> Self {
        Self { darkplaces: false, challenge, protocol: None }
    }
}

/// How a text is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PrintForm {
    /// `print`, line feed, text.
    Quake3,
    /// `n` and the text at once: DarkPlaces and QuakeWorld.
    QuakeWorld,
}

impl<'a> Reply<'a> {
    /// Reads a short reply.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] without the mark or for a word that is none of this protocol,
    /// [`ParseErrorKind::Unexpected`] for other messages, [`ParseErrorKind::CutShort`] for a challenge that is missing.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let (_, text) = mark::text(datagram)?;
        let end = text.iter().position(|&byte| byte <= b' ').unwrap_or(text.len());
        let (word, rest) = text.split_at_checked(end).unwrap_or((text, b""));
        let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
        let after_blank = rest.get(1..).unwrap_or_default();
        if is("challengeResponse") || is("challenge") {
            let form = if is("challenge") { ChallengeForm::DarkPlaces } else { ChallengeForm::Quake3 };
            let mut words = words(rest);
            let offset = datagram.len().saturating_sub(rest.len());
            let missing = ParseError::new(ParseErrorKind::CutShort("the challenge"), offset);
            Ok(Self::Challenge(ChallengeReply {
                form,
                challenge: words.next().ok_or(missing)?,
                client: words.next(),
                protocol: words.next(),
                extra: memchr::memchr(0, rest).and_then(|nul| rest.get(nul.saturating_add(1)..)),
            }))
        } else if is("connectResponse") || is("accept") {
            let mut words = words(rest);
            Ok(Self::Connected(ConnectReply {
                darkplaces: is("accept"),
                challenge: words.next(),
                protocol: words.next(),
            }))
        } else if is("print") {
            let text = rest.strip_prefix(b"\n").or_else(|| rest.strip_prefix(b" ")).unwrap_or(rest);
            Ok(Self::Print { text, form: PrintForm::Quake3 })
        } else if is("reject") {
            Ok(Self::Rejected { text: after_blank })
        } else if is("disconnect") {
            Ok(Self::Disconnect)
        } else if is("ack") {
            Ok(Self::Ack { argument: after_blank })
        } else if let Some(text) = text.strip_prefix(b"n") {
            Ok(Self::Print { text, form: PrintForm::QuakeWorld })
        } else {
            Err(mark::unexpected(text, "a challenge, an acceptance, a refusal or text"))
        }
    }

    /// Appends the reply.
    ///
    /// # Errors
    /// [`EncodeError::Empty`] and [`EncodeError::Forbidden`] for a challenge or number that is no single word. Nothing is
    /// written then.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let words = match self {
            Self::Challenge(reply) => [Some(reply.challenge), reply.client, reply.protocol],
            Self::Connected(reply) => [reply.challenge, reply.protocol, None],
            _ => [None; 3],
        };
        for word in words.into_iter().flatten() {
            if word.is_empty() {
                return Err(EncodeError::Empty("challenge"));
            }
            if let Some(&byte) = word.iter().find(|&&byte| byte <= b' ') {
                return Err(EncodeError::Forbidden { field: "challenge", byte });
            }
        }
        self.put(false, out);
        Ok(())
    }

    /// [`Self::encode`] without its checks, and with Medal of Honor's direction byte where it is wanted.
    pub(crate) fn put(&self, direction_byte: bool, out: &mut impl BufMut) {
        out.put_slice(&MARK);
        if direction_byte {
            out.put_u8(TO_CLIENT);
        }
        match self {
            Self::Challenge(reply) => {
                out.put_slice(match reply.form {
                    ChallengeForm::Quake3 => b"challengeResponse",
                    ChallengeForm::DarkPlaces => b"challenge",
                });
                put_words(&[Some(reply.challenge), reply.client, reply.protocol], out);
                if let Some(extra) = reply.extra {
                    out.put_u8(0);
                    out.put_slice(extra);
                }
            }
            Self::Connected(reply) => {
                out.put_slice(if reply.darkplaces { b"accept" } else { b"connectResponse" });
                put_words(&[reply.challenge, reply.protocol], out);
            }
            Self::Rejected { text } => {
                out.put_slice(b"reject ");
                out.put_slice(text);
            }
            Self::Print { text, form } => {
                out.put_slice(match form {
                    PrintForm::Quake3 => b"print\n",
                    PrintForm::QuakeWorld => b"n",
                });
                out.put_slice(text);
            }
            Self::Disconnect => out.put_slice(b"disconnect"),
            Self::Ack { argument } => {
                out.put_slice(b"ack");
                if !argument.is_empty() {
                    out.put_u8(b' ');
                    out.put_slice(argument);
                }
            }
        }
    }
}

/// The words of a line, which NUL or a line feed ends.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memchr::memchr2(0, b'\n', text).unwrap_or(text.len());
    let line = text.get(..end).unwrap_or_default();
    line.split(|&byte| byte <= b' ').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &[u8]) -> Result<Reply<'static>, ParseError> {
        Reply::parse(Vec::leak([&MARK[..], body].concat()))
    }

    fn challenge(body: &[u8]) -> (&'static [u8], Option<&'static [u8]>, Option<u32>) {
        let Ok(Reply::Challenge(reply)) = parse(body) else { panic!("{body:?}") };
        (reply.challenge, reply.client, reply.protocol_number())
    }

    #[test]
    fn challenges_in_every_form() {
        assert_eq!(challenge(b"challengeResponse 2042553331"), (&b"2042553331"[..], None, None));
        assert_eq!(challenge(b"challengeResponse -1 0 71"), (&b"-1"[..], Some(&b"0"[..]), Some(71)));
        assert_eq!(challenge(b"\x01challengeresponse 5\n"), (&b"5"[..], None, None));
        assert_eq!(challenge(b"challenge r.!!yTQ-5Q_\0"), (&b"r.!!yTQ-5Q_"[..], None, None));
        let Ok(Reply::Challenge(reply)) = parse(b"challenge abcdefghijk\0vlen\0\0\0\0") else { panic!() };
        assert_eq!((reply.form, reply.extra), (ChallengeForm::DarkPlaces, Some(&b"vlen\0\0\0\0"[..])));
        assert_eq!(
            parse(b"challengeResponse \0").unwrap_err(),
            ParseError::new(ParseErrorKind::CutShort("the challenge"), 21)
        );
    }

    #[test]
    fn acceptances_and_refusals() {
        for (body, challenge, protocol) in [
            (&b"connectResponse"[..], None, None),
            (b"connectResponse 77", Some(&b"77"[..]), None),
            (b"connectResponse 77 71", Some(&b"77"[..]), Some(&b"71"[..])),
        ] {
            let expected = ConnectReply { darkplaces: false, challenge, protocol };
            assert_eq!(parse(body), Ok(Reply::Connected(expected)));
        }
        assert!(matches!(parse(b"accept"), Ok(Reply::Connected(ConnectReply { darkplaces: true, .. }))));
        assert_eq!(parse(b"reject Server is full."), Ok(Reply::Rejected { text: b"Server is full." }));
        assert_eq!(parse(b"disconnect"), Ok(Reply::Disconnect));
        assert_eq!(parse(b"ack"), Ok(Reply::Ack { argument: b"" }));
    }

    #[test]
    fn text_is_kept_as_it_is() {
        let print = |text: &'static [u8], form| Ok(Reply::Print { text, form });
        assert_eq!(parse(b"print\n"), print(b"", PrintForm::Quake3));
        assert_eq!(parse(b"print\n\nmap: a\n"), print(b"\nmap: a\n", PrintForm::Quake3));
        assert_eq!(parse(b"n"), print(b"", PrintForm::QuakeWorld));
        assert_eq!(parse(b"nhost: x\n"), print(b"host: x\n", PrintForm::QuakeWorld));
        for body in [&b""[..], b"getchallenge", b"infoResponse\n\\a\\b", b"printx\n", b"\\n"] {
            assert!(parse(body).is_err(), "{body:?}");
        }
    }

    #[test]
    fn what_is_written_reads_the_same() {
        for body in [
            &b"challengeResponse 1 2 3"[..],
            b"challenge abc\0d0pk",
            b"challenge abc\0",
            b"challenge 12345",
            b"connectResponse 5 71",
            b"accept",
            b"reject no",
            b"print\ntext\n",
            b"ntext",
            b"disconnect",
            b"ack 1",
        ] {
            let reply = parse(body).unwrap();
            let mut out = Vec::new();
            reply.encode(&mut out).unwrap();
            assert_eq!(&out[4..], body);
        }
    }

    #[test]
    fn what_is_no_single_word_is_not_written() {
        for challenge in [&b""[..], b"two words", b"a\0b"] {
            let reply = Reply::Challenge(ChallengeReply::new(challenge));
            assert!(reply.encode(&mut Vec::new()).is_err(), "{challenge:?}");
            assert!(Reply::Connected(ConnectReply::new(Some(challenge))).encode(&mut Vec::new()).is_err());
        }
    }
}
