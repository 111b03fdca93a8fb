//! The short replies: challenges, acceptances, refusals and text.

use bytes::{BufMut, Bytes};
use nom::Parser;
use nom::bytes::complete::{tag, take_till, take_while, take_while1};
use nom::combinator::{opt, peek, rest, verify};
use nom::sequence::{preceded, terminated};

use super::line::{self, put_words};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::grammar::{GrammarError, Parsed};
use crate::text::{MAX_WORD, lower_case};

/// A short reply, viewed without copying.
///
/// ```
/// use queryport::quake3::Reply;
///
/// let reply =
///     Reply::parse(b"\xff\xff\xff\xffchallengeResponse -1532010236 12345 71")?;
/// let Reply::Challenge { challenge, client, protocol, .. } = reply else { panic!() };
/// assert_eq!((challenge, client), (&b"-1532010236"[..], Some(&b"12345"[..])));
/// assert_eq!(protocol, Some(&b"71"[..]));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// `challengeResponse`, or `challenge` on DarkPlaces and Warsow: the number to quote in
    /// `connect`.
    Challenge {
        /// Whether it begins with QuakeWorld's word, which DarkPlaces and Warsow kept.
        quake_world_word: bool,
        /// The server's challenge: decimal digits with a sign in Quake 3's family, eleven printable
        /// characters on DarkPlaces.
        challenge: &'a [u8],
        /// The client's own challenge, quoted (ioquake3; 0 if the client sent none). ET: Legacy
        /// writes its setting `sv_onlyVisibleClients` here, 0 or 1 (src/server/sv_client.c). iortcw
        /// writes that setting before both numbers; it is skipped.
        client: Option<&'a [u8]>,
        /// The server's protocol number (ioquake3).
        protocol: Option<&'a [u8]>,
        /// The bytes after a NUL: DarkPlaces' key exchange, or nothing. `None` without the NUL.
        extra: Option<&'a [u8]>,
    },
    /// `connectResponse`, or DarkPlaces' `accept`: the server reserves a player slot for the
    /// client.
    Connected {
        /// Whether it begins with QuakeWorld's word, which DarkPlaces and Warsow kept.
        quake_world_word: bool,
        /// The word after it. ioquake3 and Quake3e quote the challenge; `CoD4x` names the folder of
        /// its modification (callofduty4x/CoD4x_Server, src/sv_client.c).
        challenge: Option<&'a [u8]>,
        /// The protocol spoken from here on (Quake3e).
        protocol: Option<&'a [u8]>,
    },
    /// `reject`: DarkPlaces' and Warsow's servers refuse a `connect`.
    Rejected {
        /// The reason in the server's words.
        text: &'a [u8],
    },
    /// `error`: Call of Duty's servers refuse a `connect`, Daemon's a command of `rcon`
    /// (voron00/CoD2rev_Server, `sv_client_mp.cpp`; DaemonEngine/Daemon,
    /// src/engine/server/sv_main.cpp).
    Error {
        /// The reason: words, or the name of a text that the client has.
        text: &'a [u8],
    },
    /// `needcdkey`: Call of Duty's servers demand the CD key first (xtnded/codextended,
    /// `sv_client.c`).
    KeyNeeded,
    /// Text for the client's console: the output of `rcon`, and the reason why `connect` or
    /// `getchallenge` was refused.
    Print {
        /// Whether it begins with QuakeWorld's `n`, and not with `print` and a line feed.
        quake_world_word: bool,
        /// The text; it may begin and end in the middle of a line.
        text: &'a [u8],
    },
    /// The server received in-game packets of a client that it does not know, or ends a connection.
    Disconnect {
        /// The reason, on `CoD4x` (callofduty4x/CoD4x_Server, src/sv_main.c); empty on other
        /// servers.
        text: &'a [u8],
    },
    /// The answer to `ping` of DarkPlaces, Warsow and Unvanquished.
    Ack {
        /// The text after the word; may be empty.
        argument: &'a [u8],
    },
    /// `l`: the answer to QuakeWorld's `k` (QW-Group/mvdsv, src/sv_main.c).
    ShortAck,
    /// Quake 2's line about a server, for searches in the local network (yquake2/yquake2,
    /// src/server/sv_conless.c).
    InfoLine {
        /// Name, map, players and slots, or that the version is wrong.
        text: &'a [u8],
    },
}

impl<'a> Reply<'a> {
    /// Reads a short reply.
    ///
    /// # Errors
    /// - [`ParseErrorKind::NotThisProtocol`] without the mark, or for an unknown word.
    /// - [`ParseErrorKind::Unexpected`] for other messages.
    /// - [`ParseErrorKind::CutShort`] for a missing challenge.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let text = line::marked(datagram)?.text;
        // Any text begins with a word, which may be empty.
        let (rest, first) = word(text).unwrap_or((text, b""));
        let offset = datagram.len().saturating_sub(rest.len());
        let text_after_word = after_separator(rest);
        match lower_case(first, &mut [0; MAX_WORD]) {
            word @ (b"challengeresponse" | b"challenge") => {
                Self::challenge(word == b"challenge", rest, offset)
            }
            word @ (b"connectresponse" | b"accept") => Ok(Self::connected(word == b"accept", rest)),
            b"reject" => Ok(Self::Rejected {
                text: text_after_word,
            }),
            b"error" => Ok(Self::Error {
                text: text_after_word,
            }),
            b"needcdkey" => Ok(Self::KeyNeeded),
            b"print" => Ok(Self::Print {
                quake_world_word: false,
                text: text_after_word,
            }),
            b"disconnect" => Ok(Self::Disconnect {
                text: text_after_word,
            }),
            b"ack" => Ok(Self::Ack {
                argument: rest.get(1..).unwrap_or_default(),
            }),
            b"l" => Ok(Self::ShortAck),
            // With a space it is the request for this line.
            b"info" if rest.starts_with(b"\n") => Ok(Self::InfoLine {
                text: text_after_word,
            }),
            // The short form has no separator, so the words with this letter come before it.
            _ => Self::short_print(text),
        }
    }

    fn challenge(
        quake_world_word: bool,
        rest: &'a [u8],
        offset: usize,
    ) -> Result<Self, ParseError> {
        match challenge(quake_world_word).parse(rest) {
            Ok((_, challenge)) => Ok(challenge),
            Err(_) => {
                let missing = ParseErrorKind::CutShort("the challenge");
                Err(ParseError::new(missing, offset))
            }
        }
    }

    /// The words of an acceptance.
    fn connected(quake_world_word: bool, arguments: &'a [u8]) -> Self {
        let (_, (challenge, protocol)) = (opt(argument), opt(argument))
            .parse(arguments)
            .unwrap_or_default();
        Self::Connected {
            quake_world_word,
            challenge,
            protocol,
        }
    }

    /// `n` and a text.
    fn short_print(text: &'a [u8]) -> Result<Self, ParseError> {
        let Some(text) = text.strip_prefix(b"n") else {
            let expected = "a challenge, an acceptance, a refusal or text";
            return Err(line::unexpected(text, expected));
        };
        Ok(Self::Print {
            quake_world_word: true,
            text,
        })
    }

    /// The datagrams of a server's answer to `rcon`: [`Self::Print`] with the text in pieces. An
    /// empty text is one empty piece. Medal of Honor's byte 0x01 after the mark is not written.
    ///
    /// ```
    /// use queryport::quake3::Reply;
    ///
    /// let datagrams = Reply::print(b"map: q3dm17\n", false);
    /// assert_eq!(datagrams, [&b"\xff\xff\xff\xffprint\nmap: q3dm17\n"[..]]);
    /// ```
    pub fn print(text: &[u8], quake_world_word: bool) -> Vec<Bytes> {
        let piece_length = if quake_world_word { 1394 } else { 1007 };
        let pieces = text
            .chunks(piece_length)
            .chain(text.is_empty().then_some(text));
        let datagram = |text: &[u8]| {
            let mut datagram = Vec::with_capacity(text.len().saturating_add(10));
            Reply::Print {
                quake_world_word,
                text,
            }
            .put(None, &mut datagram);
            datagram.into()
        };
        pieces.map(datagram).collect()
    }

    /// Appends the reply, without Medal of Honor's byte 0x01 after the mark.
    ///
    /// # Errors
    /// [`EncodeError::Empty`] and [`EncodeError::Forbidden`] for a challenge or number that is not
    /// a single word. Nothing is written then.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        for word in self.words().into_iter().flatten() {
            EncodeError::check("challenge", word, 1..=usize::MAX, |byte| byte <= b' ')?;
        }
        self.put(None, out);
        Ok(())
    }

    /// The words after the first.
    const fn words(&self) -> [Option<&'a [u8]>; 3] {
        match *self {
            Self::Challenge {
                challenge,
                client,
                protocol,
                ..
            } => [Some(challenge), client, protocol],
            Self::Connected {
                challenge,
                protocol,
                ..
            } => [challenge, protocol, None],
            _ => [None; 3],
        }
    }

    /// [`Self::encode`] without its checks, and with this byte after the mark.
    pub(crate) fn put(&self, fifth_byte: Option<u8>, out: &mut impl BufMut) {
        let (word, text): (&[u8], &[u8]) = match *self {
            Self::Challenge {
                quake_world_word: false,
                ..
            } => (b"challengeResponse", b""),
            Self::Challenge { .. } => (b"challenge", b""),
            Self::Connected {
                quake_world_word: false,
                ..
            } => (b"connectResponse", b""),
            Self::Connected { .. } => (b"accept", b""),
            Self::Rejected { text } => (b"reject ", text),
            Self::Error { text } => (b"error\n", text),
            Self::KeyNeeded => (b"needcdkey", b""),
            Self::Print {
                quake_world_word: false,
                text,
            } => (b"print\n", text),
            Self::Print { text, .. } => (b"n", text),
            Self::Disconnect { text: b"" } => (b"disconnect", b""),
            Self::Disconnect { text } => (b"disconnect ", text),
            Self::Ack { argument: b"" } => (b"ack", b""),
            Self::Ack { argument } => (b"ack ", argument),
            Self::ShortAck => (b"l", b""),
            Self::InfoLine { text } => (b"info\n", text),
        };
        line::put(fifth_byte, word, out);
        out.put_slice(text);
        put_words(&self.words(), out);
        if let Self::Challenge {
            extra: Some(extra), ..
        } = *self
        {
            out.put_u8(0);
            out.put_slice(extra);
        }
    }
}

/// `word = *%x21-FF`
fn word(text: &[u8]) -> Parsed<'_, &[u8]> {
    take_till(|byte| byte <= b' ')(text)
}

/// `argument = *( %x01-09 / %x0B-20 ) 1*%x21-FF`: NUL or a line feed ends the arguments.
fn argument(input: &[u8]) -> Parsed<'_, &[u8]> {
    let blanks = take_while(|byte| byte <= b' ' && byte != 0 && byte != b'\n');
    preceded(blanks, take_while1(|byte| byte > b' ')).parse(input)
}

/// The text after one line feed or space.
fn after_separator(rest: &[u8]) -> &[u8] {
    rest.strip_prefix(b"\n")
        .or_else(|| rest.strip_prefix(b" "))
        .unwrap_or(rest)
}

/// `challenge = argument [flag] [ argument [ argument ] ] *%x01-FF [ NUL *OCTET ]`
fn challenge<'a>(
    quake_world_word: bool,
) -> impl Parser<&'a [u8], Output = Reply<'a>, Error = GrammarError> {
    let extra = preceded((take_till(|byte| byte == 0), tag("\0")), rest);
    let words = (
        terminated(argument, opt(flag)),
        opt(argument),
        opt(argument),
        opt(extra),
    );
    words.map(
        move |(challenge, client, protocol, extra)| Reply::Challenge {
            quake_world_word,
            challenge,
            client,
            protocol,
            extra,
        },
    )
}

/// `flag = ( "0" / "1" ) &( argument argument )`: iortcw's `sv_onlyVisibleClients`
/// (MP/code/server/sv_client.c).
fn flag(input: &[u8]) -> Parsed<'_, &[u8]> {
    terminated(verify(argument, is_flag), peek((argument, argument))).parse(input)
}

/// Whether a word of a challenge reply may be a setting in place of the client's number.
pub(crate) fn is_flag(word: &[u8]) -> bool {
    matches!(word, b"0" | b"1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &[u8]) -> Result<Reply<'static>, ParseError> {
        Reply::parse(Vec::leak([b"\xff\xff\xff\xff", body].concat()))
    }

    fn challenge(body: &[u8]) -> (&'static [u8], Option<&'static [u8]>, Option<&'static [u8]>) {
        let Ok(Reply::Challenge {
            challenge,
            client,
            protocol,
            ..
        }) = parse(body)
        else {
            panic!("{body:?}")
        };
        (challenge, client, protocol)
    }

    #[test]
    fn challenges_in_every_form() {
        assert_eq!(
            challenge(b"challengeResponse 2042553331"),
            (&b"2042553331"[..], None, None)
        );
        assert_eq!(
            challenge(b"challengeResponse -1 0 71"),
            (&b"-1"[..], Some(&b"0"[..]), Some(&b"71"[..]))
        );
        assert_eq!(
            challenge(b"\x01challengeresponse 5\n"),
            (&b"5"[..], None, None)
        );
        // Recorded from iortcw (a4e6f501) and from ET: Legacy (a8e5f856).
        assert_eq!(
            challenge(b"challengeResponse 1419747009 0 -1234567 61"),
            (&b"1419747009"[..], Some(&b"-1234567"[..]), Some(&b"61"[..]))
        );
        assert_eq!(
            challenge(b"challengeResponse -1654392210 1"),
            (&b"-1654392210"[..], Some(&b"1"[..]), None)
        );
        assert_eq!(
            challenge(b"challenge r.!!yTQ-5Q_\0"),
            (&b"r.!!yTQ-5Q_"[..], None, None)
        );
        for end in [b'\n', b'\0'] {
            let body = [b"challengeResponse 5", &[end][..], b"6"].concat();
            assert_eq!(challenge(&body), (&b"5"[..], None, None), "{end}");
        }
        let Ok(Reply::Challenge {
            quake_world_word,
            extra,
            ..
        }) = parse(b"challenge abcdefghijk\0vlen\0\0\0\0")
        else {
            panic!()
        };
        assert_eq!(
            (quake_world_word, extra),
            (true, Some(&b"vlen\0\0\0\0"[..]))
        );
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
            assert_eq!(
                parse(body),
                Ok(Reply::Connected {
                    quake_world_word: false,
                    challenge,
                    protocol
                })
            );
        }
        assert!(matches!(
            parse(b"accept"),
            Ok(Reply::Connected {
                quake_world_word: true,
                ..
            })
        ));
        assert_eq!(
            parse(b"reject Server is full."),
            Ok(Reply::Rejected {
                text: b"Server is full."
            })
        );
        assert_eq!(parse(b"disconnect"), Ok(Reply::Disconnect { text: b"" }));
        // callofduty4x/CoD4x_Server, src/sv_main.c and src/sv_client.c.
        assert_eq!(
            parse(b"disconnect EXE_ERR_BANNED"),
            Ok(Reply::Disconnect {
                text: b"EXE_ERR_BANNED"
            })
        );
        assert!(matches!(
            parse(b"connectResponse mods/x"),
            Ok(Reply::Connected {
                challenge: Some(b"mods/x"),
                ..
            })
        ));
        assert_eq!(parse(b"ack"), Ok(Reply::Ack { argument: b"" }));
        assert_eq!(parse(b"l"), Ok(Reply::ShortAck));
        let text = b"          Arena1    q2dm1  0/ 8\n";
        assert_eq!(
            parse(b"info\n          Arena1    q2dm1  0/ 8\n"),
            Ok(Reply::InfoLine { text })
        );
        assert!(parse(b"info 34").is_err(), "the request for this line");
    }

    /// Call of Duty (xtnded/codextended, `sv_client.c`), Daemon (b276137b, recorded), Black Ops
    /// III.
    #[test]
    fn errors_have_a_line_feed_or_a_space() {
        for (body, text) in [
            (&b"error\nEXE_SERVERISFULL"[..], &b"EXE_SERVERISFULL"[..]),
            (b"error\nBad password", b"Bad password"),
            (b"error Bad signature", b"Bad signature"),
            (b"error", b""),
        ] {
            assert_eq!(parse(body), Ok(Reply::Error { text }));
        }
        assert!(parse(b"errors\n").is_err());
    }

    #[test]
    fn the_short_form_swallows_no_other_word() {
        for body in [&b"needcdkey"[..], b"needcdkey\0", b"NeedCdKey\n"] {
            assert_eq!(parse(body), Ok(Reply::KeyNeeded), "{body:?}");
        }
    }

    #[test]
    fn text_is_kept_as_it_is() {
        let print = |text: &'static [u8], quake_world_word| {
            Ok(Reply::Print {
                quake_world_word,
                text,
            })
        };
        assert_eq!(parse(b"print\n"), print(b"", false));
        assert_eq!(parse(b"print\n\nmap: a\n"), print(b"\nmap: a\n", false));
        assert_eq!(parse(b"n"), print(b"", true));
        assert_eq!(parse(b"nhost: x\n"), print(b"host: x\n", true));
        for body in [
            &b""[..],
            b"getchallenge",
            b"infoResponse\n\\a\\b",
            b"printx\n",
            b"\\n",
        ] {
            assert!(parse(body).is_err(), "{body:?}");
        }
    }

    #[test]
    fn a_written_reply_parses_to_the_same_reply() {
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
            b"disconnect EXE_ERR",
            b"error\nno",
            b"needcdkey",
            b"ack 1",
            b"l",
            b"info\nName, map, 3 of 8 players\n",
        ] {
            let reply = parse(body).unwrap();
            let mut out = Vec::new();
            reply.encode(&mut out).unwrap();
            assert_eq!(&out[4..], body);
            // Its word is in `WORDS`, except words of one letter, which also begin other texts.
            let is_letter = matches!(body, b"ntext" | b"l");
            let expected = ParseErrorKind::Unexpected("");
            let error = line::unexpected(body, "");
            assert_eq!(
                error.kind == expected,
                !is_letter,
                "WORDS in line.rs: {error}"
            );
        }
    }

    #[test]
    fn replies_with_an_argument_that_is_not_one_word_are_not_written() {
        let quake_world_word = false;
        let challenge = |challenge, client, protocol| Reply::Challenge {
            quake_world_word,
            challenge,
            client,
            protocol,
            extra: None,
        };
        let connected = |challenge, protocol| Reply::Connected {
            quake_world_word,
            challenge,
            protocol,
        };
        let forbidden = |byte| EncodeError::Forbidden {
            field: "challenge",
            byte,
        };
        for (word, error) in [
            (&b""[..], EncodeError::Empty("challenge")),
            (b"two words", forbidden(b' ')),
            (b"a\0b", forbidden(0)),
        ] {
            for reply in [
                challenge(word, None, None),
                challenge(b"1", Some(word), None),
                challenge(b"1", Some(b"2"), Some(word)),
                connected(Some(word), None),
                connected(Some(b"1"), Some(word)),
            ] {
                let mut out = Vec::new();
                assert_eq!(reply.encode(&mut out), Err(error), "{reply:?}");
                assert!(out.is_empty());
            }
        }
    }

    #[test]
    fn long_texts_go_out_in_pieces() {
        let text: Vec<u8> = (0..2500_u32).map(|n| (n % 95) as u8 + 32).collect();
        for (quake_world_word, head, longest) in [(false, 10, 1017), (true, 5, 1399)] {
            let datagrams = Reply::print(&text, quake_world_word);
            assert_eq!(datagrams.iter().map(Bytes::len).max(), Some(longest));
            let joined: Vec<u8> = datagrams
                .iter()
                .flat_map(|datagram| datagram[head..].to_vec())
                .collect();
            assert_eq!(joined, text);
        }
        assert_eq!(Reply::print(b"", false), [&b"\xff\xff\xff\xffprint\n"[..]]);
    }
}
