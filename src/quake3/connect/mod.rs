//! `connect`: reserving a player slot.
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

pub mod huffman;

use bytes::{BufMut, Bytes};
use thiserror::Error;

use super::wire::infostring::{InfoStringBuilder, MAX_INFO_STRING};
use super::wire::line::next_word;
use super::wire::reply::{Reply, is_flag};
use super::wire::request::{Command, ConnectRequest, Request};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::model::{Charset, Colours, Style, Text, Verification};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};
use crate::text::{number, share};

/// Longest packet that servers read, in bytes (Quake3e, code/server/sv_main.c).
const MAX_PACKET: usize = 2048;
/// Longest message of the engines, in bytes (`MAX_MSGLEN`).
const MAX_MESSAGE: usize = 16_384;

/// Bytes of the userinfo that the query's own pairs need: `protocol` or `protocols`, `qport`, `challenge`.
const RESERVED: usize = 100;
/// Longest pair of `challenge`, in bytes: the longest known challenges have eleven bytes (DarkPlaces).
const MAX_CHALLENGE_PAIR: usize = 59;

/// Reserves a player slot: `getchallenge`, then `connect`.
///
/// The server keeps the slot until the client has been silent for some minutes: leaving needs the in-game protocol, which
/// is not part of this crate.
///
/// Medal of Honor's servers do not answer it: they skip the byte behind the mark as a direction, and the words lack it
/// (openmoh/openmohaa, code/server/sv_main.c).
///
/// ```
/// use queryport::quake3::ConnectQuery;
/// use queryport::session::{Conversation, Verdict};
///
/// let mut query =
///     ConnectQuery::new(7).with_game("Quake3Arena").with("name", "UnnamedPlayer")?;
/// let mut request = Vec::new();
/// query.request(&mut request);
/// assert_eq!(request, b"\xff\xff\xff\xffgetchallenge 7 Quake3Arena");
/// assert_eq!(
///     query.receive(b"\xff\xff\xff\xffchallengeResponse -99 7 71"),
///     Verdict::Next
/// );
///
/// request.clear();
/// query.request(&mut request);
/// assert!(request.starts_with(b"\xff\xff\xff\xffconnect "));
/// let Verdict::Done(Ok(connected)) =
///     query.receive(b"\xff\xff\xff\xffconnectResponse -99")
/// else {
///     panic!()
/// };
/// assert_eq!(&connected.challenge[..], b"-99");
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ConnectQuery {
    /// The client's own challenge, quoted by ioquake3; id's and DarkPlaces' servers ignore it.
    client: Vec<u8>,
    game: Option<Vec<u8>>,
    /// The server's, and whether it is a DarkPlaces server.
    challenge: Option<(Bytes, bool)>,
    userinfo: InfoStringBuilder,
    protocol: Option<u32>,
    qport: u16,
}

/// Result of a query for a player slot: the slot, or the server's refusal.
type Answered = Result<Connected, Refusal>;

impl ConnectQuery {
    /// `nonce`: a number the server cannot guess; the client's challenge and its `qport` are made from it.
    pub fn new(nonce: u64) -> Self {
        let [.., a, b] = nonce.to_le_bytes();
        // The engine reads a signed 32-bit number and quotes it as one.
        let number = nonce & 0x7FFF_FFFF;
        Self {
            client: number.to_string().into_bytes(),
            game: None,
            challenge: None,
            userinfo: InfoStringBuilder::new(MAX_INFO_STRING.saturating_sub(RESERVED)),
            protocol: None,
            qport: u16::from_le_bytes([a, b]),
        }
    }

    setters! {
        /// Names the game, which ioquake3's servers compare with their own (`Quake3Arena`). A name that is no single
        /// word is not sent.
        with_game(game: &str) game = Some(game.as_bytes().to_vec());

        /// The protocol number to ask for. Without it, the one in the server's challenge reply, else 68.
        with_protocol(protocol: u32) protocol = Some(protocol);
    }

    /// Adds a pair to the userinfo: `name`, `rate`, `snaps`, `model`, `password`…
    ///
    /// # Errors
    /// [`EncodeError::Reserved`] for `challenge`, `qport` and `protocol` in any case, which the query writes itself: id's engines
    /// take the first of several (id-Software/Quake-III-Arena, code/game/q_shared.c). [`EncodeError::Forbidden`] for `\`, `;`, `"`
    /// and control bytes, [`EncodeError::Empty`] for an empty key, [`EncodeError::TooLong`] when the userinfo would exceed 923 bytes.
    pub fn with(mut self, key: &str, value: &str) -> Result<Self, EncodeError> {
        let own = ["challenge", "qport", "protocol"]
            .into_iter()
            .find(|own| key.eq_ignore_ascii_case(own));
        own.map_or(Ok(()), |own| Err(EncodeError::Reserved(own)))?;
        self.userinfo.push(key.as_bytes(), value.as_bytes())?;
        Ok(self)
    }

    fn connect(
        &self,
        challenge: &[u8],
        dark_places: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let mut info = self.userinfo.clone();
        info.limit = MAX_INFO_STRING;
        let mut packed = Vec::new();
        let connect = if dark_places {
            info.push(b"protocol", b"darkplaces 3")?;
            info.push(b"protocols", b"DP7")?;
            info.push(b"challenge", challenge)?;
            ConnectRequest::Plain(&info.bytes)
        } else {
            info.push(
                b"protocol",
                self.protocol.unwrap_or(68).to_string().as_bytes(),
            )?;
            info.push(b"qport", self.qport.to_string().as_bytes())?;
            info.push(b"challenge", challenge)?;
            ConnectRequest::pack(&info.bytes, &mut packed)?;
            ConnectRequest::Compressed(&packed)
        };
        Request::new(Command::Connect(connect)).encode(out)
    }
}

impl Conversation for ConnectQuery {
    type Answer = Answered;

    fn request(&mut self, out: &mut Vec<u8>) {
        let written = match &self.challenge {
            Some((challenge, dark_places)) => self.connect(challenge, *dark_places, out),
            None => {
                let client = Some(&self.client[..]);
                let get = |game| Request::new(Command::GetChallenge { client, game });
                get(self.game.as_deref())
                    .encode(out)
                    .or_else(|_| get(None).encode(out))
            }
        };
        debug_assert!(
            written.is_ok(),
            "the pairs were checked when they came in, our challenge is a number"
        );
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        let rejected = |kind| Verdict::Rejected(ParseError::new(kind, 4));
        let reply = match Reply::parse(datagram) {
            Ok(reply) => reply,
            Err(error) => return Verdict::Rejected(error),
        };
        match (reply, &self.challenge) {
            (Reply::Print { text, .. } | Reply::Rejected { text } | Reply::Dropped { text }, _) => {
                Verdict::Done(Err(Refusal::new(Bytes::copy_from_slice(text))))
            }
            (
                Reply::Challenge {
                    client: Some(quoted),
                    protocol,
                    ..
                },
                None,
            ) if quoted != self.client && !(protocol.is_none() && is_flag(quoted)) => {
                rejected(ParseErrorKind::Mismatch("client challenge"))
            }
            (
                Reply::Challenge {
                    dark_places,
                    challenge,
                    protocol,
                    ..
                },
                None,
            ) => {
                // It goes into an infostring: what that cannot carry would change its meaning.
                if InfoStringBuilder::new(MAX_CHALLENGE_PAIR)
                    .push(b"challenge", challenge)
                    .is_err()
                {
                    return rejected(ParseErrorKind::Malformed("challenge"));
                }
                self.protocol = self.protocol.or_else(|| number::number(protocol?));
                self.challenge = Some((Bytes::copy_from_slice(challenge), dark_places));
                Verdict::Next
            }
            (
                Reply::Connected {
                    dark_places,
                    challenge: quoted,
                    ..
                },
                Some((challenge, _)),
            ) => {
                let verification = match quoted {
                    Some(quoted) if quoted == challenge => Verification::Verified,
                    Some(_) if !dark_places => {
                        return rejected(ParseErrorKind::Mismatch("challenge"));
                    }
                    _ => Verification::Unverified,
                };
                let (challenge, qport) = (challenge.clone(), self.qport);
                Verdict::Done(Ok(Connected {
                    challenge,
                    qport,
                    verification,
                }))
            }
            (_, None) => rejected(ParseErrorKind::Unexpected("challengeResponse")),
            (_, Some(_)) => rejected(ParseErrorKind::Unexpected("connectResponse")),
        }
    }

    fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<Self::Answer> {
        OnTimeout::Retry
    }
}

/// A reserved player slot.
///
/// ```
/// use queryport::Verification;
/// use queryport::quake3::Connected;
///
/// fn report(connected: &Connected) {
///     let verified = connected.verification == Verification::Verified;
///     println!("qport {}, verified: {verified}", connected.qport);
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connected {
    /// The server's challenge, which the `connect` request quoted.
    pub challenge: Bytes,
    /// The number that marks this client's in-game packets.
    pub qport: u16,
    /// Whether the reply quoted the challenge, as ioquake3's does.
    pub verification: Verification,
}

impl ConnectRequest<'_> {
    /// Appends a userinfo as it goes into [`ConnectRequest::Compressed`].
    ///
    /// # Errors
    /// [`EncodeError::Forbidden`] for a quote, NUL or line feed, [`EncodeError::TooLong`] when the packet would be
    /// longer than servers read (2,048 bytes). Nothing is written then.
    pub fn pack(userinfo: &[u8], out: &mut impl BufMut) -> Result<(), EncodeError> {
        let field = "userinfo";
        EncodeError::check(field, userinfo, 0..=usize::MAX, |byte| {
            matches!(byte, b'"' | 0 | b'\n')
        })?;
        let mut packed = Vec::new();
        huffman::compress(&[b"\"", userinfo, b"\""].concat(), &mut packed)?;
        if packed.len() > MAX_PACKET.saturating_sub(12) {
            return Err(EncodeError::TooLong {
                field,
                limit: MAX_PACKET,
            });
        }
        out.put_slice(&packed);
        Ok(())
    }

    /// The userinfo, without compression and quotes; see [`InfoString`](crate::quake3::InfoString) for its pairs.
    ///
    /// # Errors
    /// When it is compressed and the coding is broken or claims more than 16,384 bytes, the engines' own limit.
    /// Offsets count from the first byte after the command and its blank.
    pub fn userinfo(&self) -> Result<Bytes, ParseError> {
        let packed = match self {
            Self::Compressed(packed) => packed,
            Self::Plain(userinfo) => return Ok(Bytes::copy_from_slice(userinfo)),
        };
        let text = Bytes::from(huffman::decompress(packed, MAX_MESSAGE)?);
        // One argument, usually quoted.
        let argument = next_word(&mut &text[..]).unwrap_or_default();
        Ok(share(&text, argument))
    }
}

/// A server's refusal of `getchallenge` or `connect`.
///
/// ```
/// use queryport::quake3::{RefusalReason, Refusal};
///
/// let refusal = Refusal::new(&b"Server uses protocol version 71 (yours is 0).\n"[..]);
/// assert_eq!(refusal.reason(), RefusalReason::WrongProtocol);
/// assert_eq!(
///     refusal.to_string(),
///     "the server refused: Server uses protocol version 71 (yours is 0)."
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the server refused: {}", one_line(text))]
#[non_exhaustive]
pub struct Refusal {
    /// The server's words.
    pub text: Text,
}

/// Known meanings of a refusal. Servers of other games and languages have others.
///
/// ```
/// use queryport::quake3::{RefusalReason, Refusal};
///
/// match Refusal::new(&b"Server is full.\n"[..]).reason() {
///     RefusalReason::ServerFull => println!("try again later"),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalReason {
    /// No player slot is free.
    ServerFull,
    /// The `protocol` of the userinfo is not the server's.
    WrongProtocol,
    /// The server is one of another game (ioquake3's answer to `getchallenge`).
    WrongGame,
    /// The `challenge` of the userinfo was not issued to this address, or is too old.
    BadChallenge,
    /// A `password` is needed, or the one given is wrong.
    Password,
    /// The address is banned.
    Banned,
    /// The round-trip time is out of the range that the server takes.
    Ping,
    /// Other words.
    Other,
}

/// Beginnings of known refusals, in lower case (ioquake3, Quake III Arena and DarkPlaces sources; the protocol
/// and game lines also recorded from OpenArena; the names of texts that the client has, with `@@@`, recorded from OpenJK).
const KNOWN: [(&[&str], RefusalReason); 7] = [
    (
        &["server is full", "server full", "@@@server_is_full"],
        RefusalReason::ServerFull,
    ),
    (
        &[
            "server uses protocol version",
            "error: protocol mismatch",
            "wrong game version",
        ],
        RefusalReason::WrongProtocol,
    ),
    (&["game mismatch"], RefusalReason::WrongGame),
    (
        &[
            "no or bad challenge",
            "invalid challenge",
            "incorrect challenge",
        ],
        RefusalReason::BadChallenge,
    ),
    (
        &["invalid password", "password", "@@@invalid_escape"],
        RefusalReason::Password,
    ),
    (
        &["you are banned", "you're banned", "banned"],
        RefusalReason::Banned,
    ),
    (
        &[
            "server is for high pings only",
            "server is for low pings only",
        ],
        RefusalReason::Ping,
    ),
];

impl Refusal {
    /// A refusal in the server's words, the bytes after `print` and its line feed.
    pub fn new(text: impl Into<Bytes>) -> Self {
        let style = Style::new(Charset::Utf8OrWindows1252, Colours::Caret);
        Self {
            text: Text::new(text, style),
        }
    }

    /// The known meaning of the words.
    pub fn reason(&self) -> RefusalReason {
        // Some servers print colour codes, a mark for the client's dialog or blank lines first.
        let plain = self.text.plain().to_lowercase();
        let plain = without_mark(&plain);
        let known = KNOWN
            .iter()
            .find(|(texts, _)| texts.iter().any(|text| plain.starts_with(text)));
        known.map_or(RefusalReason::Other, |(_, reason)| *reason)
    }
}

/// The words without what tells the client how to show them: `[err_dialog]`, `[err_update]`, `[err_prot]` (etlegacy,
/// src/server/sv_client.c).
fn without_mark(words: &str) -> &str {
    let words = words.trim();
    let rest = words
        .strip_prefix("[err_")
        .and_then(|mark| mark.split_once(']'));
    rest.map_or(words, |(_, rest)| rest.trim_start())
}

fn one_line(text: &Text) -> String {
    let plain = text.plain();
    let words = without_mark(&plain);
    if words.is_empty() {
        "no reason given".to_owned()
    } else {
        words.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(query: &mut ConnectQuery, body: &str) -> Verdict<Answered> {
        query.receive(&[b"\xff\xff\xff\xff", body.as_bytes()].concat())
    }

    fn sent(query: &mut ConnectQuery) -> Vec<u8> {
        let mut out = Vec::new();
        query.request(&mut out);
        out.split_off(4)
    }

    #[test]
    fn the_challenge_reply_must_quote_our_own_challenge_where_it_quotes_one() {
        let after = |body: &str| hear(&mut ConnectQuery::new(7), body);
        for ours in [
            "challengeResponse 5 7 71",
            "challengeResponse 5",
            "challenge !onNZ-PKot&\0d0",
        ] {
            assert_eq!(after(ours), Verdict::Next, "{ours}");
        }
        // iortcw and ET: Legacy say `sv_onlyVisibleClients` before or instead of the client's number.
        for flagged in [
            "challengeResponse 5 0 7 61",
            "challengeResponse 5 1 7 61",
            "challengeResponse 5 1",
        ] {
            assert_eq!(after(flagged), Verdict::Next, "{flagged}");
        }
        for other in [
            "challengeResponse 5 8 71",
            "5 0 71",
            "5 0 8 61",
            "5 8",
            "5 2 7 61",
        ] {
            let reply = format!(
                "challengeResponse {}",
                other.trim_start_matches("challengeResponse ")
            );
            assert!(
                matches!(after(&reply), Verdict::Rejected(_)),
                "another client's: {reply}"
            );
        }
        assert!(
            matches!(after("challengeResponse 5;6"), Verdict::Rejected(_)),
            "no infostring can carry it"
        );
        assert!(matches!(after("connectResponse"), Verdict::Rejected(_)));
        let refused = after("print\nGame mismatch: This is a Quake3Arena server\n");
        let Verdict::Done(Err(refusal)) = refused else {
            panic!()
        };
        assert_eq!(
            refusal.text.raw(),
            b"Game mismatch: This is a Quake3Arena server\n"
        );
        // openmohaa, code/server/sv_client.c.
        let Verdict::Done(Err(refusal)) = after("droperror\nServer is full\n") else {
            panic!()
        };
        assert_eq!(refusal.text.raw(), b"Server is full\n");
    }

    #[test]
    fn the_reply_to_connect_must_quote_the_challenge_where_it_quotes_one() {
        let mut query = ConnectQuery::new(7);
        hear(&mut query, "challengeResponse 5 7 71");
        assert!(matches!(
            hear(&mut query, "connectResponse 6"),
            Verdict::Rejected(_)
        ));
        assert!(matches!(
            hear(&mut query, "challengeResponse 5 7 71"),
            Verdict::Rejected(_)
        ));
        for (body, verification) in [
            ("connectResponse 5", Verification::Verified),
            ("connectResponse", Verification::Unverified),
        ] {
            let Verdict::Done(Ok(connected)) = hear(&mut query, body) else {
                panic!("{body}")
            };
            assert_eq!(connected.verification, verification);
        }
    }

    #[test]
    fn the_longest_challenge_fits_beside_the_longest_userinfo() {
        let longest = "x".repeat(48);
        for reply in [
            format!("challengeResponse {longest} 7 4294967295"),
            format!("challenge {longest}\0"),
        ] {
            let mut query = ConnectQuery::new(u64::MAX - 0xFFFF_FFF8)
                .with("k", &"v".repeat(920))
                .unwrap();
            assert!(query.clone().with("l", "").is_err(), "full");
            assert!(
                matches!(hear(&mut query, &reply), Verdict::Rejected(_))
                    || !sent(&mut query).is_empty()
            );
        }
        let mut query = ConnectQuery::new(7);
        assert!(matches!(
            hear(&mut query, &format!("challengeResponse {longest}x")),
            Verdict::Rejected(_)
        ));
    }

    #[test]
    fn a_game_of_two_words_is_not_sent() {
        assert_eq!(
            sent(&mut ConnectQuery::new(u64::MAX)),
            b"getchallenge 2147483647"
        );
        assert_eq!(
            sent(&mut ConnectQuery::new(1).with_game("two words")),
            b"getchallenge 1"
        );
    }

    #[test]
    fn darkplaces_gets_a_plain_connect() {
        let mut query = ConnectQuery::new(7).with("name", "Ann").unwrap();
        hear(&mut query, "challenge !onNZ-PKot&\0");
        assert_eq!(
            sent(&mut query),
            br"connect\name\Ann\protocol\darkplaces 3\protocols\DP7\challenge\!onNZ-PKot&"
        );
    }

    #[test]
    fn known_words_have_a_meaning() {
        for (text, reason) in [
            ("Server is full.\n", RefusalReason::ServerFull),
            ("^1Server is full.\n", RefusalReason::ServerFull),
            // etlegacy, src/server/sv_client.c.
            (
                "[err_dialog]No or bad challenge for address.\n",
                RefusalReason::BadChallenge,
            ),
            (
                "[err_dialog]Server is for high pings only\n",
                RefusalReason::Ping,
            ),
            ("[err_dialog", RefusalReason::Other),
            // Recorded from OpenJK (8cce3ea2), and codemp/server/sv_client.cpp.
            ("@@@SERVER_IS_FULL\n", RefusalReason::ServerFull),
            ("@@@INVALID_ESCAPE_TO_MAIN\n", RefusalReason::Password),
            (
                "Incorrect challenge for your address.\n",
                RefusalReason::BadChallenge,
            ),
            (
                "Game mismatch: This is a Quake3Arena server\n",
                RefusalReason::WrongGame,
            ),
            (
                "No or bad challenge for your address.\n",
                RefusalReason::BadChallenge,
            ),
            ("Invalid password\n", RefusalReason::Password),
            ("You are banned from this server.\n", RefusalReason::Banned),
            ("Server is for high pings only\n", RefusalReason::Ping),
            ("Reconnect rejected by game", RefusalReason::Other),
            ("", RefusalReason::Other),
        ] {
            assert_eq!(Refusal::new(text.as_bytes()).reason(), reason, "{text:?}");
        }
    }

    #[test]
    fn a_refusal_is_safe_to_print() {
        let refusal = Refusal::new(&b"\x1b[31mno\n"[..]);
        assert!(!refusal.to_string().contains('\x1b'));
        assert_eq!(
            Refusal::new(&b"[err_dialog]Banned.\n"[..]).to_string(),
            "the server refused: Banned."
        );
        assert_eq!(
            Refusal::new(&b""[..]).to_string(),
            "the server refused: no reason given"
        );
    }
}
