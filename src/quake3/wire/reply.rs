//! The short replies: challenges, acceptances, refusals and text.

use bytes::BufMut;

use super::mark::{self, TO_CLIENT};
use super::words::put_words;
use crate::error::{EncodeError, ParseError, ParseErrorKind};

/// A short reply, viewed without copying.
///
/// ```
/// use queryport::quake3::Reply;
///
/// let reply = Reply::parse(b"\xff\xff\xff\xffchallengeResponse -1532010236 12345 71")?;
/// let Reply::Challenge { challenge, client, protocol, .. } = reply else { panic!() };
/// assert_eq!((challenge, client), (&b"-1532010236"[..], Some(&b"12345"[..])));
/// assert_eq!(protocol, Some(&b"71"[..]));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// `challengeResponse`, or `challenge` on DarkPlaces and Warsow: the number to quote in `connect`.
    Challenge {
        /// Which of the two words it begins with.
        form: ReplyForm,
        /// The server's challenge: decimal digits with a sign in Quake 3's family, eleven printable characters on
        /// DarkPlaces.
        challenge: &'a [u8],
        /// The client's own challenge, quoted (ioquake3; 0 where the client sent none).
        client: Option<&'a [u8]>,
        /// The server's protocol number (ioquake3).
        protocol: Option<&'a [u8]>,
        /// What follows a NUL: DarkPlaces' key exchange, or nothing. `None` without the NUL.
        extra: Option<&'a [u8]>,
    },
    /// `connectResponse`, or DarkPlaces' `accept`: the server reserves a player slot for the client.
    Connected {
        /// Which of the two words it begins with.
        form: ReplyForm,
        /// The challenge, quoted (ioquake3, Quake3e).
        challenge: Option<&'a [u8]>,
        /// The protocol spoken from here on (Quake3e).
        protocol: Option<&'a [u8]>,
    },
    /// DarkPlaces' and Warsow's `reject`: the server refuses a `connect`.
    Rejected {
        /// Why, in the server's words.
        text: &'a [u8],
    },
    /// Medal of Honor's `droperror`: the server refuses a `connect`, or ends a connection (openmohaa,
    /// code/server/sv_client.c).
    Dropped {
        /// Why, in the server's words.
        text: &'a [u8],
    },
    /// Text for the client's console: the output of `rcon`, and the reason why `connect` or `getchallenge` was refused.
    Print {
        /// `print` and a line feed, or DarkPlaces' `n`.
        form: ReplyForm,
        /// The text; it may begin and end in the middle of a line.
        text: &'a [u8],
    },
    /// The server received in-game packets of a client that it does not know.
    Disconnect,
    /// The answer to `ping` of DarkPlaces, Warsow and Unvanquished.
    Ack {
        /// What follows the word, where something does.
        argument: &'a [u8],
    },
}

/// Whose words a short reply uses.
///
/// ```
/// use queryport::quake3::{Reply, ReplyForm};
///
/// let reply = Reply::parse(b"\xff\xff\xff\xffnmap: dm1\n")?;
/// assert_eq!(reply, Reply::Print { form: ReplyForm::DarkPlaces, text: b"map: dm1\n" });
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplyForm {
    /// Quake 3's: `challengeResponse`, `connectResponse`, `print`.
    Quake3,
    /// QuakeWorld's, which DarkPlaces kept: `challenge` (Warsow too), `accept`, `n`.
    DarkPlaces,
}

impl<'a> Reply<'a> {
    /// Reads a short reply.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] without the mark or for a word that is none of this protocol,
    /// [`ParseErrorKind::Unexpected`] for other messages, [`ParseErrorKind::CutShort`] for a challenge that is missing.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        use ReplyForm::{DarkPlaces, Quake3};
        let (_, text) = mark::text(datagram)?;
        let end = text.iter().position(|&byte| byte <= b' ').unwrap_or(text.len());
        let (word, rest) = text.split_at_checked(end).unwrap_or((text, b""));
        let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
        // NUL or a line feed ends the line of words.
        let line = rest.get(..memchr::memchr2(0, b'\n', rest).unwrap_or(rest.len())).unwrap_or_default();
        let mut words = line.split(|&byte| byte <= b' ').filter(|word| !word.is_empty());
        let after_blank = rest.get(1..).unwrap_or_default();
        Ok(if is("challengeResponse") || is("challenge") {
            let offset = datagram.len().saturating_sub(rest.len());
            let missing = ParseError::new(ParseErrorKind::CutShort("the challenge"), offset);
            Self::Challenge {
                form: if is("challenge") { DarkPlaces } else { Quake3 },
                challenge: words.next().ok_or(missing)?,
                client: words.next(),
                protocol: words.next(),
                extra: memchr::memchr(0, rest).and_then(|nul| rest.get(nul.saturating_add(1)..)),
            }
        } else if is("connectResponse") || is("accept") {
            let form = if is("accept") { DarkPlaces } else { Quake3 };
            Self::Connected { form, challenge: words.next(), protocol: words.next() }
        } else if is("print") {
            let text = rest.strip_prefix(b"\n").or_else(|| rest.strip_prefix(b" ")).unwrap_or(rest);
            Self::Print { form: Quake3, text }
        } else if is("reject") {
            Self::Rejected { text: after_blank }
        } else if is("droperror") {
            Self::Dropped { text: after_blank }
        } else if is("disconnect") {
            Self::Disconnect
        } else if is("ack") {
            Self::Ack { argument: after_blank }
        } else if let Some(text) = text.strip_prefix(b"n") {
            Self::Print { form: DarkPlaces, text }
        } else {
            return Err(mark::unexpected(text, "a challenge, an acceptance, a refusal or text"));
        })
    }

    /// Appends the reply.
    ///
    /// # Errors
    /// [`EncodeError::Empty`] and [`EncodeError::Forbidden`] for a challenge or number that is no single word. Nothing is
    /// written then.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let words = match *self {
            Self::Challenge { challenge, client, protocol, .. } => [Some(challenge), client, protocol],
            Self::Connected { challenge, protocol, .. } => [challenge, protocol, None],
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
        use ReplyForm::{DarkPlaces, Quake3};
        let (word, text): (&[u8], &[u8]) = match *self {
            Self::Challenge { form: Quake3, .. } => (b"challengeResponse", b""),
            Self::Challenge { form: DarkPlaces, .. } => (b"challenge", b""),
            Self::Connected { form: Quake3, .. } => (b"connectResponse", b""),
            Self::Connected { form: DarkPlaces, .. } => (b"accept", b""),
            Self::Rejected { text } => (b"reject ", text),
            Self::Dropped { text } => (b"droperror\n", text),
            Self::Print { form: Quake3, text } => (b"print\n", text),
            Self::Print { form: DarkPlaces, text } => (b"n", text),
            Self::Disconnect => (b"disconnect", b""),
            Self::Ack { argument: b"" } => (b"ack", b""),
            Self::Ack { argument } => (b"ack ", argument),
        };
        mark::put(direction_byte.then_some(TO_CLIENT), word, out);
        out.put_slice(text);
        match *self {
            Self::Challenge { challenge, client, protocol, extra, .. } => {
                put_words(&[Some(challenge), client, protocol], out);
                if let Some(extra) = extra {
                    out.put_u8(0);
                    out.put_slice(extra);
                }
            }
            Self::Connected { challenge, protocol, .. } => put_words(&[challenge, protocol], out),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &[u8]) -> Result<Reply<'static>, ParseError> {
        Reply::parse(Vec::leak([b"\xff\xff\xff\xff", body].concat()))
    }

    fn challenge(body: &[u8]) -> (&'static [u8], Option<&'static [u8]>, Option<&'static [u8]>) {
        let Ok(Reply::Challenge { challenge, client, protocol, .. }) = parse(body) else {
            panic!("{body:?}")
        };
        (challenge, client, protocol)
    }

    #[test]
    fn challenges_in_every_form() {
        assert_eq!(challenge(b"challengeResponse 2042553331"), (&b"2042553331"[..], None, None));
        assert_eq!(challenge(b"challengeResponse -1 0 71"), (&b"-1"[..], Some(&b"0"[..]), Some(&b"71"[..])));
        assert_eq!(challenge(b"\x01challengeresponse 5\n"), (&b"5"[..], None, None));
        assert_eq!(challenge(b"challenge r.!!yTQ-5Q_\0"), (&b"r.!!yTQ-5Q_"[..], None, None));
        let Ok(Reply::Challenge { form, extra, .. }) = parse(b"challenge abcdefghijk\0vlen\0\0\0\0") else {
            panic!()
        };
        assert_eq!((form, extra), (ReplyForm::DarkPlaces, Some(&b"vlen\0\0\0\0"[..])));
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
            assert_eq!(parse(body), Ok(Reply::Connected { form: ReplyForm::Quake3, challenge, protocol }));
        }
        assert!(matches!(parse(b"accept"), Ok(Reply::Connected { form: ReplyForm::DarkPlaces, .. })));
        assert_eq!(parse(b"reject Server is full."), Ok(Reply::Rejected { text: b"Server is full." }));
        assert_eq!(parse(b"disconnect"), Ok(Reply::Disconnect));
        assert_eq!(parse(b"ack"), Ok(Reply::Ack { argument: b"" }));
    }

    #[test]
    fn text_is_kept_as_it_is() {
        let print = |text: &'static [u8], form| Ok(Reply::Print { form, text });
        assert_eq!(parse(b"print\n"), print(b"", ReplyForm::Quake3));
        assert_eq!(parse(b"print\n\nmap: a\n"), print(b"\nmap: a\n", ReplyForm::Quake3));
        assert_eq!(parse(b"n"), print(b"", ReplyForm::DarkPlaces));
        assert_eq!(parse(b"nhost: x\n"), print(b"host: x\n", ReplyForm::DarkPlaces));
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
            b"droperror\nno",
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
        let form = ReplyForm::Quake3;
        for challenge in [&b""[..], b"two words", b"a\0b"] {
            let reply = Reply::Challenge { form, challenge, client: None, protocol: None, extra: None };
            assert!(reply.encode(&mut Vec::new()).is_err(), "{challenge:?}");
            let reply = Reply::Connected { form, challenge: Some(challenge), protocol: None };
            assert!(reply.encode(&mut Vec::new()).is_err(), "{challenge:?}");
        }
    }
}
