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

use super::engines;
use super::habits::ConnectForm;
use super::refusal::Refusal;
use super::wire::infostring::{InfoStringBuilder, MAX_INFO_STRING};
use super::wire::line::{MARK, next_word};
use super::wire::reply::{Reply, is_flag};
use super::wire::request::{Command, ConnectArguments, ConnectRequest, Request};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::model::Verification;
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};
use crate::text::number;

/// Longest packet that servers read, in bytes (Quake3e, code/server/sv_main.c).
const MAX_PACKET: usize = 2048;
/// Longest message of the engines, in bytes (`MAX_MSGLEN`).
const MAX_MESSAGE: usize = 16_384;

/// Bytes of the userinfo that the query's own pairs need: `protocol` or `protocols`, `qport`,
/// `challenge`.
const RESERVED: usize = 100;
/// Longest pair of `challenge`, in bytes: the longest known challenges have sixteen bytes (Daemon).
const MAX_CHALLENGE_PAIR: usize = 59;

/// Reserves a player slot: `getchallenge`, then `connect`.
///
/// The server keeps the slot until the client has been silent for some minutes. A client can leave
/// earlier only with the in-game protocol, which is not part of this crate.
///
/// The form of the request depends on the engine, see [`ConnectForm`]. For most engines the
/// server's challenge shows it; set it for the others with [`Self::with_form`].
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
    form: ConnectForm,
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
        /// The form of the request, never [`ConnectForm::Detect`].
        form: ConnectForm,
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
            form: ConnectForm::Detect,
            state: State::Challenge,
        }
    }

    setters! {
        /// Names the game, which ioquake3's servers compare with their own (`Quake3Arena`). A name
        /// that is not a single word is not sent.
        with_game(game: &str) game = Some(game.as_bytes().to_vec());

        /// The protocol number to request. Default: the number in the server's challenge reply,
        /// else 68, or 22 for Warsow.
        with_protocol(protocol: u32) protocol = Some(protocol);

        /// The form of the request; default [`ConnectForm::Detect`].
        with_form(form: ConnectForm) form = form;
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
        let request_for = |game| Request {
            direction_byte: self.form == ConnectForm::DirectionByte,
            ..Request::new(Command::GetChallenge { client, game })
        };
        let named = request_for(self.game.as_deref()).encode(out);
        // A name that is not a single word was not written.
        named.or_else(|_| request_for(None).encode(out))
    }

    fn put_connect(
        &self,
        challenge: &[u8],
        form: ConnectForm,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let protocol = self.protocol.unwrap_or_else(|| form.default_protocol());
        let protocol = protocol.to_string();
        let qport = self.qport.to_string();
        let userinfo = self.userinfo_for(form, challenge, &protocol, &qport)?;
        let mut packed = Vec::new();
        let connect = match form {
            ConnectForm::InfoString => ConnectRequest::InfoString(&userinfo),
            ConnectForm::Plain => ConnectRequest::Quoted(&userinfo),
            ConnectForm::Arguments => ConnectRequest::Arguments(ConnectArguments {
                version: protocol.as_bytes(),
                port: qport.as_bytes(),
                challenge,
                userinfo: &userinfo,
                further: b" 0",
            }),
            ConnectForm::Escaped => {
                ConnectRequest::pack(&escape(&userinfo), &mut packed)?;
                ConnectRequest::Compressed(&packed)
            }
            ConnectForm::Compressed | ConnectForm::DirectionByte | ConnectForm::Detect => {
                ConnectRequest::pack(&userinfo, &mut packed)?;
                ConnectRequest::Compressed(&packed)
            }
        };
        let request = Request {
            direction_byte: form == ConnectForm::DirectionByte,
            ..Request::new(Command::Connect(connect))
        };
        request.encode(out)
    }

    /// The userinfo with the query's own pairs.
    fn userinfo_for(
        &self,
        form: ConnectForm,
        challenge: &[u8],
        protocol: &str,
        qport: &str,
    ) -> Result<Vec<u8>, EncodeError> {
        let mut info = self.userinfo.clone();
        info.limit = MAX_INFO_STRING;
        match form {
            ConnectForm::InfoString => {
                for (key, value) in engines::INFO_STRING_PROTOCOL {
                    info.push(key.as_bytes(), value.as_bytes())?;
                }
                info.push(b"challenge", challenge)?;
            }
            // The arguments of the command contain these values.
            ConnectForm::Arguments => {}
            _ => {
                info.push(b"protocol", protocol.as_bytes())?;
                info.push(b"qport", qport.as_bytes())?;
                info.push(b"challenge", challenge)?;
            }
        }
        Ok(info.bytes)
    }

    /// Handles a reply while the challenge is requested.
    fn take_challenge(&mut self, reply: &Reply<'_>) -> Result<Verdict<Answered>, ParseErrorKind> {
        let Reply::Challenge {
            dark_places,
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
        // `CoD4x` has a 0 there (callofduty4x/CoD4x_Server, src/sv_client.c).
        let named = protocol
            .and_then(number::number)
            .filter(|number| *number > 0);
        self.protocol = self.protocol.or(named);
        let form = match self.form {
            ConnectForm::Detect => ConnectForm::of_challenge(challenge, dark_places),
            form => form,
        };
        self.state = State::Connect {
            challenge: Bytes::copy_from_slice(challenge),
            form,
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
                dark_places,
                challenge: Some(quoted),
                ..
            } => {
                // A word that is not a number is not a challenge, but the folder of a modification.
                let is_challenge = !dark_places && number::integer(quoted).is_some();
                if quoted == challenge {
                    Verification::Verified
                } else if is_challenge {
                    return Err(ParseErrorKind::Mismatch("challenge"));
                } else {
                    Verification::Unverified
                }
            }
            Reply::Connected { .. } | Reply::ClientConnect { .. } => Verification::Unverified,
            _ => return Err(ParseErrorKind::Unexpected("connectResponse")),
        };
        Ok(Verdict::Done(Ok(Connected {
            challenge: challenge.clone(),
            qport: self.qport,
            verification,
        })))
    }
}

/// A userinfo with each `\` doubled, for quotes in which `\` is an escape.
fn escape(userinfo: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(userinfo.len().saturating_mul(2));
    for &byte in userinfo {
        if byte == b'\\' {
            escaped.push(byte);
        }
        escaped.push(byte);
    }
    escaped
}

impl Conversation for ConnectQuery {
    type Answer = Answered;

    fn request(&mut self, out: &mut Vec<u8>) {
        let written = match &self.state {
            State::Challenge => self.put_getchallenge(out),
            State::Connect { challenge, form } => self.put_connect(challenge, *form, out),
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
            State::Connect { challenge, .. } => self.take_acceptance(challenge, &reply),
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
    /// Appends a userinfo in the form for [`ConnectRequest::Compressed`].
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
    /// When it is compressed and the coding is broken or claims more than 16,384 bytes, the
    /// engines' own limit. Offsets count from the first byte after the command and its space.
    pub fn userinfo(&self) -> Result<Bytes, ParseError> {
        let packed = match self {
            Self::Compressed(packed) => packed,
            Self::InfoString(userinfo)
            | Self::Quoted(userinfo)
            | Self::Arguments(ConnectArguments { userinfo, .. }) => {
                return Ok(Bytes::copy_from_slice(userinfo));
            }
        };
        let text = Bytes::from(huffman::decompress(packed, MAX_MESSAGE)?);
        // One argument, usually quoted.
        let argument = next_word(&mut &text[..]).unwrap_or_default();
        // A key is never empty: if the first one begins with `\`, each `\` was doubled.
        if argument.starts_with(br"\\") {
            return Ok(unescape(argument).into());
        }
        Ok(text.slice_ref(argument))
    }
}

/// A userinfo in which each `\` was doubled.
fn unescape(escaped: &[u8]) -> Vec<u8> {
    let mut userinfo = Vec::with_capacity(escaped.len());
    let mut bytes = escaped.iter();
    while let Some(&byte) = bytes.next() {
        userinfo.push(byte);
        if byte == b'\\' {
            bytes.next();
        }
    }
    userinfo
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

    /// 0 is not a protocol number.
    #[test]
    fn the_protocol_number_of_the_challenge_is_used() {
        for (named, used) in [(" 7 71", 71), (" 7 1", 1), (" 7 0", 68), ("", 68)] {
            let mut query = ConnectQuery::new(7).with_form(ConnectForm::Plain);
            hear(&mut query, &format!("challengeResponse 5{named}"));
            let sent = String::from_utf8(sent(&mut query)).unwrap();
            assert!(sent.contains(&format!(r"\protocol\{used}\")), "{sent}");
        }
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

    /// Warsow/qfusion, server/sv_main.cpp; the challenge is recorded from viciious/qfusion
    /// e6c46002.
    #[test]
    fn a_number_after_the_word_challenge_gets_arguments() {
        let mut query = ConnectQuery::new(7)
            .with_protocol(23)
            .with("name", "Ann")
            .unwrap();
        hear(&mut query, "challenge 28672");
        assert_eq!(sent(&mut query), br#"connect 23 0 28672 "\name\Ann" 0"#);
        let accepted = hear(&mut query, "client_connect\n17");
        assert!(matches!(accepted, Verdict::Done(Ok(_))), "{accepted:?}");
    }

    /// Recorded from Lilium Voyager (clover-moe/lilium-voyager 9c77b657), which takes a plain
    /// `connect`.
    #[test]
    fn a_plain_connect_is_not_compressed() {
        let mut query = ConnectQuery::new(12345)
            .with_form(ConnectForm::Plain)
            .with_protocol(24)
            .with("name", "Ann")
            .unwrap();
        hear(&mut query, "challengeResponse 292593645 12345 26");
        assert_eq!(
            sent(&mut query),
            br#"connect "\name\Ann\protocol\24\qport\0\challenge\292593645""#
        );
        let accepted = hear(&mut query, "connectResponse 292593645");
        let Verdict::Done(Ok(connected)) = accepted else {
            panic!("{accepted:?}")
        };
        assert_eq!(connected.verification, Verification::Verified);
    }

    fn packed_text(query: &mut ConnectQuery) -> Vec<u8> {
        let sent = sent(query);
        let packed = sent.strip_prefix(b"connect ").unwrap();
        huffman::decompress(packed, MAX_MESSAGE).unwrap()
    }

    /// The challenge is recorded from Daemon (b276137b).
    #[test]
    fn a_hexadecimal_challenge_gets_doubled_backslashes() {
        let mut query = ConnectQuery::new(7).with("name", "Ann").unwrap();
        hear(&mut query, "challengeResponse ba9a259615a6febc");
        let text = br#""\\name\\Ann\\protocol\\68\\qport\\0\\challenge\\ba9a259615a6febc""#;
        assert_eq!(packed_text(&mut query), text);
        let sent = sent(&mut query);
        let datagram = [b"\xff\xff\xff\xff", &sent[..]].concat();
        let Command::Connect(connect) = Request::parse(&datagram).unwrap().command else {
            panic!()
        };
        assert_eq!(
            connect.userinfo().unwrap(),
            &br"\name\Ann\protocol\68\qport\0\challenge\ba9a259615a6febc"[..]
        );
    }

    /// The challenge is recorded from OpenMoHAA (44ce0595).
    #[test]
    fn a_direction_byte_precedes_both_words() {
        let mut query = ConnectQuery::new(7).with_form(ConnectForm::DirectionByte);
        assert_eq!(sent(&mut query), b"\x02getchallenge 7");
        hear(&mut query, "\u{1}challengeResponse 1183438166");
        let sent = sent(&mut query);
        let packed = sent.strip_prefix(b"\x02connect ").unwrap();
        let text = huffman::decompress(packed, MAX_MESSAGE).unwrap();
        assert_eq!(text, br#""\protocol\68\qport\0\challenge\1183438166""#);
    }

    /// callofduty4x/CoD4x_Server, src/sv_client.c.
    #[test]
    fn the_folder_of_a_modification_is_no_challenge() {
        let mut query = ConnectQuery::new(7).with_form(ConnectForm::Plain);
        hear(&mut query, "challengeResponse 5 7 0 xproto 18");
        assert!(sent(&mut query).starts_with(br#"connect "\protocol\68\"#));
        let Verdict::Done(Ok(connected)) = hear(&mut query, "connectResponse mods/x") else {
            panic!()
        };
        assert_eq!(connected.verification, Verification::Unverified);
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
