//! Reserves a player slot on a server: `getchallenge`, then `connect`.
//!
//! ```text
//!  client                                                     server
//!    │ getchallenge 12345 Quake3Arena                            │
//!    │ ────────────────────────────────────────────────────────► │
//!    │ challengeResponse -1532010236 12345 71                    │
//!    │ ◄──────────────────────────────────────────────────────── │
//!    │ connect "\challenge\-1532010236\qport\4711\protocol\71…"  │  from the space on: Huffman
//!    │ ────────────────────────────────────────────────────────► │
//!    │ connectResponse -1532010236   │   print 0A reason         │
//!    │ ◄──────────────────────────────────────────────────────── │
//! ```

pub mod huffman;

use bytes::{BufMut, Bytes};

use super::refusal::Refusal;
use super::wire::infostring::{InfoStringBuilder, MAX_INFO_STRING};
use super::wire::line::{MARK, next_word};
use super::wire::reply::{Reply, is_flag};
use super::wire::request::{Command, ConnectRequest, Request};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::model::Verification;
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};
use crate::text::number;

/// Longest packet that servers read, in bytes (Quake3e, code/server/sv_main.c).
const MAX_PACKET: usize = 2048;
/// Longest message of the engines, in bytes (`MAX_MSGLEN`).
const MAX_MESSAGE: usize = 16_384;

/// The default protocol number: that of Quake III Arena 1.32.
const DEFAULT_PROTOCOL: u32 = 68;

/// Bytes of the userinfo that the query's own pairs need: `protocol`, `qport`, `challenge`.
const RESERVED: usize = 100;
/// Longest pair of `challenge`, in bytes.
const MAX_CHALLENGE_PAIR: usize = 59;

/// Reserves a player slot: `getchallenge`, then `connect`.
///
/// The server keeps the slot until the client has been silent for some minutes. A client can leave
/// earlier only with the in-game protocol, which is not part of this crate.
///
/// This is the request of Quake III Arena and the games on its engine, such as OpenArena, Urban
/// Terror, Enemy Territory and Jedi Academy. DarkPlaces, Warsow, Medal of Honor, Elite Force,
/// Unvanquished and Call of Duty from the second on have other forms, which are not supported, nor
/// are those of Quake 2 and QuakeWorld.
///
/// A server of this crate has no player slots and refuses.
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
    userinfo: InfoStringBuilder,
    protocol: Option<u32>,
    qport: u16,
    state: State,
}

/// The step of a query for a player slot.
#[derive(Debug, Clone)]
enum State {
    /// A challenge is requested.
    Challenge,
    /// The slot is requested.
    Connect {
        /// The server's challenge.
        challenge: Bytes,
    },
}

/// Result of a query for a player slot: the slot, or the server's refusal.
type Answered = Result<Connected, Refusal>;

impl ConnectQuery {
    /// `nonce`: a number the server cannot guess; the client's challenge and its `qport` are made
    /// from it.
    pub fn new(nonce: u64) -> Self {
        let [.., a, b] = nonce.to_le_bytes();
        // The engine reads a signed 32-bit number and quotes it as one.
        let number = nonce & 0x7FFF_FFFF;
        Self {
            client: number.to_string().into_bytes(),
            game: None,
            userinfo: InfoStringBuilder::new(MAX_INFO_STRING.saturating_sub(RESERVED)),
            protocol: None,
            qport: u16::from_le_bytes([a, b]),
            state: State::Challenge,
        }
    }

    setters! {
        /// Names the game, which ioquake3's servers compare with their own (`Quake3Arena`). A name
        /// that is not a single word is not sent.
        with_game(game: &str) game = Some(game.as_bytes().to_vec());

        /// The protocol number to request. Default: the number in the server's challenge reply,
        /// else 68.
        with_protocol(protocol: u32) protocol = Some(protocol);
    }

    /// Adds a pair to the userinfo, such as `name`, `rate`, `snaps`, `model` or `password`.
    ///
    /// # Errors
    /// [`EncodeError::Reserved`] for `challenge`, `qport` and `protocol` in any case, which the
    /// query writes itself: of repeated keys, id's engines read the first
    /// (id-Software/Quake-III-Arena, code/game/q_shared.c). [`EncodeError::Forbidden`] for `\`,
    /// `;`, `"` and control bytes, [`EncodeError::Empty`] for an empty key,
    /// [`EncodeError::TooLong`] when the userinfo would exceed 923 bytes.
    pub fn with(mut self, key: &str, value: &str) -> Result<Self, EncodeError> {
        let own = ["challenge", "qport", "protocol"]
            .into_iter()
            .find(|own| key.eq_ignore_ascii_case(own));
        if let Some(own) = own {
            return Err(EncodeError::Reserved(own));
        }
        self.userinfo.push(key.as_bytes(), value.as_bytes())?;
        Ok(self)
    }

    fn put_getchallenge(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let client = Some(&self.client[..]);
        let request_for = |game| Request::new(Command::GetChallenge { client, game });
        let named = request_for(self.game.as_deref()).encode(out);
        // A name that is not a single word was not written.
        named.or_else(|_| request_for(None).encode(out))
    }

    fn put_connect(&self, challenge: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let protocol = self.protocol.unwrap_or(DEFAULT_PROTOCOL).to_string();
        let qport = self.qport.to_string();
        let mut userinfo = self.userinfo.clone();
        userinfo.limit = MAX_INFO_STRING;
        userinfo.push(b"protocol", protocol.as_bytes())?;
        userinfo.push(b"qport", qport.as_bytes())?;
        userinfo.push(b"challenge", challenge)?;
        let mut packed = Vec::new();
        ConnectRequest::pack(&userinfo.bytes, &mut packed)?;
        let connect = ConnectRequest { packed: &packed };
        Request::new(Command::Connect(connect)).encode(out)
    }

    /// Handles a reply while the challenge is requested.
    fn take_challenge(&mut self, reply: &Reply<'_>) -> Result<Verdict<Answered>, ParseErrorKind> {
        let Reply::Challenge {
            quake_world_word: false,
            challenge,
            client,
            protocol,
            ..
        } = *reply
        else {
            return Err(ParseErrorKind::Unexpected("challengeResponse"));
        };
        if let Some(quoted) = client {
            let is_setting = protocol.is_none() && is_flag(quoted);
            if quoted != self.client && !is_setting {
                return Err(ParseErrorKind::Mismatch("client challenge"));
            }
        }
        // It goes into an infostring: bytes that this cannot carry would change its meaning.
        let mut pair = InfoStringBuilder::new(MAX_CHALLENGE_PAIR);
        if pair.push(b"challenge", challenge).is_err() {
            return Err(ParseErrorKind::Malformed("challenge"));
        }
        let named = protocol.and_then(number::number);
        self.protocol = self.protocol.or(named);
        self.state = State::Connect {
            challenge: Bytes::copy_from_slice(challenge),
        };
        Ok(Verdict::Next)
    }

    /// Handles a reply while the slot is requested.
    fn take_acceptance(
        &self,
        challenge: &Bytes,
        reply: &Reply<'_>,
    ) -> Result<Verdict<Answered>, ParseErrorKind> {
        let verification = match *reply {
            Reply::Connected {
                challenge: Some(quoted),
                ..
            } if quoted == challenge => Verification::Verified,
            Reply::Connected {
                challenge: Some(_), ..
            } => return Err(ParseErrorKind::Mismatch("challenge")),
            Reply::Connected { .. } => Verification::Unverified,
            _ => return Err(ParseErrorKind::Unexpected("connectResponse")),
        };
        Ok(Verdict::Done(Ok(Connected {
            challenge: challenge.clone(),
            qport: self.qport,
            verification,
        })))
    }
}

impl Conversation for ConnectQuery {
    type Answer = Answered;

    fn request(&mut self, out: &mut Vec<u8>) {
        let written = match &self.state {
            State::Challenge => self.put_getchallenge(out),
            State::Connect { challenge } => self.put_connect(challenge, out),
        };
        debug_assert!(
            written.is_ok(),
            "the pairs were checked when they came in, our challenge is a number"
        );
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        let reply = match Reply::parse(datagram) {
            Ok(reply) => reply,
            Err(error) => return Verdict::Rejected(error),
        };
        if let Some(refusal) = Refusal::of(&reply) {
            return Verdict::Done(Err(refusal));
        }
        let verdict = match &self.state {
            State::Challenge => self.take_challenge(&reply),
            State::Connect { challenge } => self.take_acceptance(challenge, &reply),
        };
        verdict.unwrap_or_else(|kind| Verdict::Rejected(ParseError::new(kind, MARK.len())))
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
    /// Appends a userinfo in the form of [`ConnectRequest::packed`].
    ///
    /// # Errors
    /// [`EncodeError::Forbidden`] for a quote, NUL or line feed, [`EncodeError::TooLong`] when the
    /// packet would be longer than servers read (2,048 bytes). Nothing is written then.
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

    /// The userinfo, without compression and quotes; see [`InfoString`](crate::quake3::InfoString)
    /// for its pairs.
    ///
    /// # Errors
    /// When the coding is broken or claims more than 16,384 bytes, the engines' own limit. Offsets
    /// count from the first byte after the command and its space.
    pub fn userinfo(&self) -> Result<Bytes, ParseError> {
        let text = Bytes::from(huffman::decompress(self.packed, MAX_MESSAGE)?);
        // One argument, usually quoted.
        let argument = next_word(&mut &text[..]).unwrap_or_default();
        Ok(text.slice_ref(argument))
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

    fn rejected(kind: ParseErrorKind) -> Verdict<Answered> {
        Verdict::Rejected(ParseError::new(kind, 4))
    }

    #[test]
    fn the_challenge_reply_must_quote_our_own_challenge_where_it_quotes_one() {
        let after = |body: &str| hear(&mut ConnectQuery::new(7), body);
        for ours in ["challengeResponse 5 7 71", "challengeResponse 5"] {
            assert_eq!(after(ours), Verdict::Next, "{ours}");
        }
        // iortcw writes `sv_onlyVisibleClients` before the client's number, ET: Legacy in place of
        // it.
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
            let of_another = rejected(ParseErrorKind::Mismatch("client challenge"));
            assert_eq!(after(&reply), of_another, "{reply}");
        }
        let bad = rejected(ParseErrorKind::Malformed("challenge"));
        let expected = "no infostring can carry it";
        assert_eq!(after("challengeResponse 5;6"), bad, "{expected}");
        let other = || rejected(ParseErrorKind::Unexpected("challengeResponse"));
        assert_eq!(after("connectResponse"), other());
        let refused = after("print\nGame mismatch: This is a Quake3Arena server\n");
        let Verdict::Done(Err(refusal)) = refused else {
            panic!()
        };
        assert_eq!(
            refusal.text.raw(),
            b"Game mismatch: This is a Quake3Arena server\n"
        );
        // The form of DarkPlaces' `connect` is another one.
        assert_eq!(after("challenge !onNZ-PKot&\0d0"), other());
    }

    #[test]
    fn the_reply_to_connect_must_quote_the_challenge_where_it_quotes_one() {
        let mut query = ConnectQuery::new(7);
        hear(&mut query, "challengeResponse 5 7 71");
        for (body, kind) in [
            ("connectResponse 6", ParseErrorKind::Mismatch("challenge")),
            (
                "challengeResponse 5 7 71",
                ParseErrorKind::Unexpected("connectResponse"),
            ),
        ] {
            assert_eq!(hear(&mut query, body), rejected(kind));
        }
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
        let mut query = ConnectQuery::new(u64::MAX - 0xFFFF_FFF8)
            .with("k", &"v".repeat(920))
            .unwrap();
        assert!(query.clone().with("l", "").is_err(), "full");
        let longer = ConnectQuery::new(7).with("k", &"v".repeat(921));
        assert!(longer.is_err(), "one byte more");
        let reply = format!("challengeResponse {longest} 7 4294967295");
        assert_eq!(hear(&mut query, &reply), Verdict::Next);
        assert!(!sent(&mut query).is_empty());
        let mut query = ConnectQuery::new(7);
        assert!(matches!(
            hear(&mut query, &format!("challengeResponse {longest}x")),
            Verdict::Rejected(_)
        ));
    }

    /// The longest datagram that servers read has 2,048 bytes, 12 of them before the userinfo.
    #[test]
    fn the_longest_packet_is_as_long_as_servers_read() {
        let userinfo = "the quick brown fox jumps over a lazy dog ".repeat(120);
        let pack = |length: usize| {
            let mut out = Vec::new();
            let packed = ConnectRequest::pack(&userinfo.as_bytes()[..length], &mut out);
            packed.map(|()| out)
        };
        let lengths: Vec<usize> = (0..userinfo.len()).collect();
        let longest = lengths.partition_point(|length| pack(*length).is_ok()) - 1;
        assert_eq!(pack(longest).unwrap().len(), 2036);
    }

    #[test]
    fn a_userinfo_is_one_word_of_16_384_bytes_at_most() {
        for byte in [b'"', 0, b'\n'] {
            let mut out = Vec::new();
            let error = ConnectRequest::pack(&[b'a', byte], &mut out).unwrap_err();
            let field = "userinfo";
            assert_eq!(error, EncodeError::Forbidden { field, byte });
            assert!(out.is_empty());
        }
        for (length, is_read) in [(16_384, true), (16_385, false)] {
            let mut packed = Vec::new();
            huffman::compress(&vec![b'x'; length], &mut packed).unwrap();
            let packed = &packed[..];
            assert_eq!(ConnectRequest { packed }.userinfo().is_ok(), is_read);
        }
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
    fn the_protocol_number_of_the_challenge_is_used() {
        let (any, of_caller) = (ConnectQuery::new(7), ConnectQuery::new(7).with_protocol(9));
        for (query, named, used) in [
            (&any, " 7 71", 71),
            (&any, " 7 1", 1),
            (&any, "", 68),
            (&of_caller, " 7 71", 9),
        ] {
            let mut query = query.clone();
            hear(&mut query, &format!("challengeResponse 5{named}"));
            let sent = sent(&mut query);
            let packed = sent.strip_prefix(b"connect ").unwrap();
            let userinfo = ConnectRequest { packed }.userinfo().unwrap();
            let expected = format!(r"\protocol\{used}\qport\0\challenge\5");
            assert_eq!(userinfo, expected);
        }
    }

    #[test]
    fn a_refusal_ends_both_steps() {
        for refused in [
            "needcdkey",
            "error\nEXE_SERVERISFULL",
            "print\nServer is full\n",
        ] {
            let mut query = ConnectQuery::new(7);
            let before = hear(&mut query, refused);
            assert!(matches!(before, Verdict::Done(Err(_))), "{before:?}");
            hear(&mut query, "challengeResponse 5");
            let after = hear(&mut query, refused);
            assert!(matches!(after, Verdict::Done(Err(_))), "{after:?}");
        }
        // A word of another protocol that begins with the letter of the short form.
        let other = hear(&mut ConnectQuery::new(7), "nothing");
        assert!(matches!(other, Verdict::Rejected(_)), "{other:?}");
    }
}
