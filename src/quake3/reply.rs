//! The short replies: challenges, admissions, refusals and text. (`infoResponse` and `statusResponse` are
//! [`Response`](super::Response).)

use bytes::BufMut;
use nom::bytes::complete::{tag, take_till};
use nom::combinator::opt;
use nom::{IResult, Parser};

use super::request::MARK;
use crate::error::{ParseError, ParseErrorKind};
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
    /// `connectResponse`, or DarkPlaces' `accept`: the server keeps a place for the client.
    Connected(ConnectReply<'a>),
    /// DarkPlaces' and Warsow's `reject`: it does not.
    Rejected {
        /// Why, in the server's words.
        text: &'a [u8],
    },
    /// Text for the client's console: what `rcon` prints, and why `connect` or `getchallenge` was refused.
    Print {
        /// The text; it may begin and end in the middle of a line.
        text: &'a [u8],
        /// How it is framed.
        form: PrintForm,
    },
    /// The server does not know the client that it gets in-game packets from.
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
    /// Which of the two words it came with.
    pub form: ChallengeForm,
    /// The server's challenge: decimal digits with a sign in Quake 3's family, eleven printable characters on
    /// DarkPlaces.
    pub challenge: &'a [u8],
    /// The client's own challenge, quoted (ioquake3; 0 where the client sent none).
    pub client: Option<&'a [u8]>,
    /// The server's protocol number (ioquake3).
    pub protocol: Option<&'a [u8]>,
    /// What follows a NUL: DarkPlaces' key exchange.
    pub extra: &'a [u8],
}

/// The words of a [`ChallengeReply`].
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
        Self { form: ChallengeForm::Quake3, challenge, client: None, protocol: None, extra: b"" }
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
    /// [`ParseErrorKind::NotThisProtocol`] without the mark, [`ParseErrorKind::Unexpected`] for other words,
    /// [`ParseErrorKind::CutShort`] for a challenge that is missing.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let error = |kind, rest: &[u8]| ParseError::new(kind, datagram.len().saturating_sub(rest.len()));
        let (body, _) = head(datagram)
            .map_err(|_| error(ParseErrorKind::NotThisProtocol("four bytes 0xff"), datagram))?;
        let (rest, word) = word(body);
        let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
        if is("challengeResponse") || is("challenge") {
            let form = if is("challenge") { ChallengeForm::DarkPlaces } else { ChallengeForm::Quake3 };
            let end = memchr::memchr(0, rest).unwrap_or(rest.len());
            let (line, extra) = rest.split_at_checked(end).unwrap_or((rest, b""));
            let mut words = words(line);
            let challenge =
                words.next().ok_or_else(|| error(ParseErrorKind::CutShort("the challenge"), rest))?;
            let extra = extra.strip_prefix(b"\0").unwrap_or(extra);
            Ok(Self::Challenge(ChallengeReply {
                form,
                challenge,
                client: words.next(),
                protocol: words.next(),
                extra,
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
            Ok(Self::Rejected { text: rest.get(1..).unwrap_or_default() })
        } else if is("disconnect") {
            Ok(Self::Disconnect)
        } else if is("ack") {
            Ok(Self::Ack { argument: rest.get(1..).unwrap_or_default() })
        } else if let Some(text) = body.strip_prefix(b"n") {
            Ok(Self::Print { text, form: PrintForm::QuakeWorld })
        } else {
            Err(error(ParseErrorKind::Unexpected("a challenge, an admission, a refusal or text"), body))
        }
    }

    /// Appends the reply.
    pub fn encode(&self, out: &mut impl BufMut) {
        out.put_slice(&MARK);
        match self {
            Self::Challenge(reply) => {
                out.put_slice(match reply.form {
                    ChallengeForm::Quake3 => b"challengeResponse",
                    ChallengeForm::DarkPlaces => b"challenge",
                });
                put_words(&[Some(reply.challenge), reply.client, reply.protocol], out);
                if !reply.extra.is_empty() || reply.form == ChallengeForm::DarkPlaces {
                    out.put_u8(0);
                    out.put_slice(reply.extra);
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

/// Mark and Medal of Honor's direction byte.
fn head(datagram: &[u8]) -> IResult<&[u8], Option<&[u8]>> {
    let direction = opt(tag(&[0x01_u8][..]).or(tag(&[0x02_u8][..])));
    let (rest, (_, direction)) = (tag(&MARK[..]), direction).parse(datagram)?;
    Ok((rest, direction))
}

/// What comes before the first blank or control byte, after it, in this order: rest, word.
fn word(body: &[u8]) -> (&[u8], &[u8]) {
    let end = body.iter().position(|&byte| byte <= b' ').unwrap_or(body.len());
    let (word, rest) = body.split_at_checked(end).unwrap_or((body, b""));
    (rest, word)
}

/// The words of a line, which NUL or a line feed after the first word ends.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line =
        take_till::<_, _, ()>(|byte| matches!(byte, 0 | b'\n')).parse(text).map_or(text, |(_, line)| line);
    line.split(|&byte| byte <= b' ').filter(|word| !word.is_empty())
}

fn put_words(words: &[Option<&[u8]>], out: &mut impl BufMut) {
    for word in words.iter().map_while(|word| *word) {
        out.put_u8(b' ');
        out.put_slice(word);
    }
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
        assert_eq!((reply.form, reply.extra), (ChallengeForm::DarkPlaces, &b"vlen\0\0\0\0"[..]));
        assert_eq!(
            parse(b"challengeResponse \0").unwrap_err(),
            ParseError::new(ParseErrorKind::CutShort("the challenge"), 21)
        );
    }

    #[test]
    fn admissions_and_refusals() {
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
            reply.encode(&mut out);
            assert_eq!(&out[4..], body);
        }
    }
}
